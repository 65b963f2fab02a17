//! Converts shared bits to shared numbers.
//!
//! ```text
//! x_1, x_2     from the parties' keys: x_1 is known to parties 0 and 1, x_2 to parties 1 and 2
//! v            −(x_1 + x_2); party 1 deals its bits, masked by the key that it shares with
//!              party 0: 1 round
//! x_0          b + v by one adder on bits: k − 1 ANDs, and the adder's rounds
//! open         x_0 to parties 0 and 2, but not to party 1, which would learn b: 1 round
//! ```
//!
//! **Bytes.** Each party sends ⌈rows/8⌉ per AND; party 1 also sends k planes twice (v, and its
//! share of x_0), party 2 once. **Source.** P. Mohassel, P. Rindal, "ABY3", CCS 2018, Sec. 5.3 (bit
//! composition).
//! **Security.** Semi-honest, one corrupted party: x_0 is b minus two numbers. Parties 0 and 2 each
//! lack one of these, so x_0 is uniform to each.

use super::{
    column::{Bits, Column},
    deal::{Deal, Dealt},
    parts::{self, Parts, PhasePart, phased},
    planes::{fits, to_words},
    summand::planes,
    word::Word,
};
use crate::{
    Addition, Batch, CircuitBatch, Context, Output, Reveal, Role, ShareError, Shares, circuit_cost,
    kept::Function, pool::Scratch,
};
use hushwire_aes::Backend;
use hushwire_circuit::{Adder, Bit, Builder, Circuit, Program, planes::plane_bytes};
use hushwire_machine::Cost;
use std::sync::Arc;

/// The party that knows x_1 and x_2, and the two that learn x_0.
const DEALER: Role = Role::ALL[1];
const LEARN: [bool; 3] = [true, false, true];

/// One party's endpoint of the conversion of bits to numbers.
pub struct ToNumbers<W: Word> {
    role: Role,
    backend: Backend,
    program: Arc<Program>,
    cx: Option<Context>,
    bits: Option<Arc<Shares>>,
    /// The numbers x_1 and x_2 if this party has them; the other parts are not shares of the result
    /// yet.
    out: Column<W>,
    parts: Parts<Self, W>,
    cost: Cost,
    done: bool,
}

impl<W: Word> ToNumbers<W> {
    /// Converts to the numbers whose bits these are, unsigned: missing bits are 0. (For signed
    /// numbers of fewer bits, the caller repeats the highest plane.)
    ///
    /// # Errors
    /// [`ShareError::Operand`] if a row has more bits than a word.
    pub fn new(batch: &mut Batch, bits: &Bits, adder: Adder) -> Result<Self, ShareError> {
        fits::<W>(bits)?;
        let rows = bits.rows();
        let [random, dealing, cx] = [0; 3].map(|_: u8| batch.context());
        let (role, backend) = (cx.role, cx.backend);
        let program = program::<W>(&cx, adder, bits.width());
        let mut out = random.random_column::<W>(0, rows);
        let mut cost = Cost::default();
        let mut parts = Parts::new();
        if rows > 0 {
            cost = Self::cost_by(role, &program, rows);
            let mut v = Scratch::<W>::zeros(rows);
            if role == DEALER {
                let sums = out.own.iter().zip(&out.next);
                v.iter_mut().zip(sums).for_each(|(v, (x_1, x_2))| *v = W::default().minus(*x_1).minus(*x_2));
            }
            let dealt = Dealt { bits: planes(&cx, &[v.as_slice()]), numbers: Scratch::default() };
            parts.add(PhasePart::Deal(Deal::new(&dealing, DEALER, &dealt), Self::dealt));
        }
        // No party knows x_0 of the random column; the opened value replaces it.
        match role.index() {
            0 => out.own.fill(W::default()),
            1 => {}
            _ => out.next.fill(W::default()),
        }
        let bits = Some(bits.held().clone());
        Ok(ToNumbers { role, backend, program, cx: Some(cx), bits, out, parts, cost, done: rows == 0 })
    }

    /// The cost of strings of `width` bits.
    pub(super) fn cost_of(batch: &mut Batch, width: usize, rows: usize, adder: Adder) -> Cost {
        let cx = batch.context();
        let program = program::<W>(&cx, adder, width);
        if rows > 0 { Self::cost_by(cx.role, &program, rows) } else { Cost::default() }
    }

    fn cost_by(role: Role, program: &Program, rows: usize) -> Cost {
        let bytes = W::BITS * plane_bytes(rows);
        // A share of x_0 goes to the right neighbour if it learns x_0.
        let opens = if LEARN[role.right().index()] { bytes } else { 0 };
        let (deal, circuit) = (Deal::<W>::cost(role, DEALER, bytes, 0), circuit_cost(program, rows));
        Cost {
            rounds: deal.rounds + circuit.rounds + 1,
            bytes_sent: deal.bytes_sent + circuit.bytes_sent + opens as u64,
        }
    }

    fn dealt(&mut self, deal: Deal<W>) {
        let bits = self.bits.take().expect("one dealing");
        let cx = self.cx.take().expect("one circuit");
        let inputs = vec![bits, Arc::new(deal.finish().0)];
        let batch = parts::circuit(&self.program, cx, inputs, self.out.rows());
        self.parts.add(PhasePart::Circuit(batch, Self::computed));
    }

    fn computed(&mut self, batch: CircuitBatch) {
        let sums = Bits::new(W::BITS, self.out.rows(), batch.into_output());
        // Past the last row v is 0, so the bits there would be opened unmasked.
        let shares = sums.expect("a plane for each bit of a word").trimmed().into_shares();
        let output = Output { learns: LEARN, bytes: shares.len(), addition: Addition::Xor };
        let reveal = Reveal::new(self.role, &[output], &shares);
        self.parts.add(PhasePart::Open(reveal, Self::opened));
    }

    fn opened(&mut self, reveal: Reveal) {
        let planes = reveal.finish();
        match self.role.index() {
            0 => to_words(self.backend, &planes, &mut self.out.own),
            1 => {}
            _ => to_words(self.backend, &planes, &mut self.out.next),
        }
        self.done = true;
    }

    /// Shares of the numbers, after the run.
    ///
    /// # Panics
    /// If it has not run (the caller's bug).
    #[must_use]
    pub fn finish(self) -> Column<W> {
        assert!(self.done, "finish comes after the last round");
        self.out
    }
}

phased!([W: Word] ToNumbers<W>);

fn program<W: Word>(cx: &Context, adder: Adder, width: usize) -> Arc<Program> {
    cx.kept.program(Function::Onto(adder, width), W::BITS, || circuit(adder, width, W::BITS))
}

/// The circuit of b + v modulo 2^bits, with b of `width` bits.
fn circuit(adder: Adder, width: usize, bits: usize) -> Circuit {
    let mut b = Builder::new();
    let (mut x, v) = (b.input(width), b.input(bits));
    x.resize(bits, Bit::ZERO);
    let sum = adder.sum(&mut b, &x, &v);
    b.finish(&[sum])
}
