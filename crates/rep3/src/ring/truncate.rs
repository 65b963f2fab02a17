//! Exact truncation: ⌊x / 2^f⌋ of numbers, toward −∞.
//!
//! ```text
//! x = u + x_2 − 2^k w             u = x_0 + x_1 reduced, w the carry out of the sum
//! ⌊x / 2^f⌋ = (u ≫ f) + (x_2 ≫ f) + c − 2^(k−f) w       c the carry into bit f
//!
//! party 0 deals u as bits, and u ≫ f as a number under a separate mask     1 round
//! c and w from one adder without its sum: k ANDs              ripple k, prefix 2 + ⌈log k⌉ at most
//! both as numbers                                                          2 rounds
//! signed: u + 2^(k−1) in place of u, and minus 2^(k−1−f) at the end
//! ```
//!
//! **Bytes.** Each party sends ⌈rows/8⌉ per AND and two words a row; party 0 also sends k planes
//! and three words a row. **Source.** The plan is this module's own. It follows O. Catrina, S. de
//! Hoogh, "Improved primitives for secure multiparty integer computation", SCN 2010 (truncation by
//! carries), but both carries are exact, so there is neither a large nor a small error.
//! **Security.** Semi-honest, one corrupted party. SECURITY: u and u ≫ f are dealt under different
//! words of the masks; under the same words, party 1 would learn their ⊕ (or difference).

use super::{
    column::{Bits, Column},
    deal::{Deal, Dealt},
    inject::{Inject, zip},
    parts::{self, Parts, PhasePart, phased},
    summand::{FIRST, of_numbers, planes, rows, third},
    word::Word,
};
use crate::{
    Batch, CircuitBatch, Context, ShareError, Shares, circuit_cost,
    kept::Function,
    pool::{self, Scratch},
};
use hushwire_circuit::{Adder, Builder, Circuit, Program};
use hushwire_machine::Cost;
use std::sync::Arc;

/// One party's endpoint of a truncation.
pub struct Truncate<W: Word> {
    program: Arc<Program>,
    bits: u32,
    cx: Option<Context>,
    /// The contexts of the injection.
    later: Option<[Context; 2]>,
    free: Option<Shares>,
    /// The part of the result that is known so far.
    out: Column<W>,
    parts: Parts<Self, W>,
    cost: Cost,
    done: bool,
}

impl<W: Word> Truncate<W> {
    /// ⌊x / 2^bits⌋, row by row, of unsigned numbers, or in two's complement. If `bits` is at least
    /// the number of a word's bits, the result is 0, or −1 for a negative number.
    ///
    /// # Errors
    /// [`ShareError::Operand`] unless both shares have the same number of rows.
    pub fn new(
        batch: &mut Batch,
        x: &Column<W>,
        bits: u32,
        signed: bool,
        adder: Adder,
    ) -> Result<Self, ShareError> {
        let rows = rows(&[x])?;
        let [dealing, cx, first, second] = [0; 4].map(|_: u8| batch.context());
        let role = cx.role;
        let k = W::BITS as u32;
        let nothing_left = bits >= k && !signed;
        let bits = bits.min(k - 1);
        let at = bits as usize;
        let program = cx.kept.program(Function::Carries(adder, at), W::BITS, || circuit(adder, W::BITS, at));
        let mut machine = Truncate {
            program,
            bits,
            cx: None,
            later: None,
            free: None,
            out: Column::zeros(rows),
            parts: Parts::new(),
            cost: Cost::default(),
            done: true,
        };
        if rows == 0 || nothing_left {
            return Ok(machine);
        }
        if bits == 0 {
            machine.out = x.clone();
            return Ok(machine);
        }
        let mut known = of_numbers(role, x);
        let half = W::of(1 << (k - 1));
        if signed && role == FIRST {
            known.iter_mut().for_each(|u| *u = u.plus(half));
        }
        let planes = planes(&cx, &[known.as_slice()]);
        let mut shifted = Scratch::new(pool::collect(known.iter().map(|x| W::of(x.number() >> bits))));
        machine.out = third(role, &shifted);
        if signed && role == FIRST {
            let back = W::of(1 << (k - 1 - bits));
            shifted.iter_mut().for_each(|u| *u = u.minus(back));
        }
        machine.free = Some(third(role, &planes));
        let dealt = Dealt { bits: planes, numbers: shifted };
        let (deal, circuit) =
            (Deal::<W>::cost(role, FIRST, dealt.bits.len(), rows), circuit_cost(&machine.program, rows));
        let inject = Inject::<W>::cost_of(role, 2 * rows);
        machine.cost = Cost {
            rounds: deal.rounds + circuit.rounds + inject.rounds,
            bytes_sent: deal.bytes_sent + circuit.bytes_sent + inject.bytes_sent,
        };
        machine.parts.add(PhasePart::Deal(Deal::new(&dealing, FIRST, &dealt), Self::dealt));
        (machine.cx, machine.later) = (Some(cx), Some([first, second]));
        machine.done = false;
        Ok(machine)
    }

    fn dealt(&mut self, deal: Deal<W>) {
        let (bits, numbers) = deal.finish();
        self.out = zip(&self.out, &numbers, W::plus);
        let free = self.free.take().expect("one dealing");
        let cx = self.cx.take().expect("one circuit");
        let inputs = vec![Arc::new(bits), Arc::new(free)];
        let batch = parts::circuit(&self.program, cx, inputs, self.out.rows());
        self.parts.add(PhasePart::Circuit(batch, Self::carried));
    }

    fn carried(&mut self, batch: CircuitBatch) {
        let carries = Bits::new(2, self.out.rows(), batch.into_output());
        let carries = carries.expect("planes of the program's outputs");
        let contexts = self.later.take().expect("one injection");
        let inject = Box::new(Inject::of(contexts, &carries));
        self.parts.add(PhasePart::Inject(inject, Self::injected));
    }

    fn injected(&mut self, inject: Inject<W>) {
        let carries = inject.finish();
        let (rows, wrap) = (self.out.rows(), W::of(1 << (W::BITS as u32 - self.bits)));
        for (out, carries) in [(&mut self.out.own, &carries.own), (&mut self.out.next, &carries.next)] {
            let (into, over) = carries.split_at(rows);
            for (out, (c, w)) in out.iter_mut().zip(into.iter().zip(over)) {
                *out = out.plus(*c).minus(wrap.times(*w));
            }
        }
        self.done = true;
    }

    /// Shares of the truncated numbers, after the run.
    ///
    /// # Panics
    /// If it has not run (the caller's bug).
    #[must_use]
    pub fn finish(self) -> Column<W> {
        assert!(self.done, "finish comes after the last round");
        self.out
    }
}

phased!([W: Word] Truncate<W>);

/// The carries of a sum into bit `at`, and out of it.
fn circuit(adder: Adder, bits: usize, at: usize) -> Circuit {
    let mut b = Builder::new();
    let (u, x_2) = (b.input(bits), b.input(bits));
    let (into, out) = adder.carries(&mut b, &u, &x_2, at);
    b.finish(&[vec![into], vec![out]])
}
