//! The evaluator.

use super::queue::{Linear, Queue};
use super::{BATCH, CONSTANT, Side, assert_scheme, tweak, with_signal};
use crate::{Batches, End, Format, GarbleError, Observe, Public, Role, Scheme, Tables, end::Held};
use hushwire_aes::Backend;
use hushwire_block::{Block, from_bytes, from_bytes_mut};
use hushwire_circuit::Slot;
use zeroize::Zeroizing;

/// Uses PRF-only gates.
pub struct Evaluator {
    gates: Gates,
    xors: Queue<Held>,
}

/// What evaluates gates.
struct Gates {
    backend: Backend,
    gate: u64,
    /// By gates of a batch: keys, and F's inputs and values.
    keys: Zeroizing<Vec<Block>>,
    values: Zeroizing<Vec<Block>>,
}

impl Gates {
    /// F of the labels in `keys`, two a gate.
    fn hash(&mut self, n: usize) {
        self.gate += n as u64;
        self.backend.rekeyed::<1>(&self.keys[..2 * n], &mut self.values[..2 * n]);
    }

    fn and(&mut self, wires: &[Held], pairs: &[[Slot; 2]], out: &mut [Held], tables: &[Block], bits: &[u8]) {
        for (k, [a, b]) in pairs.iter().enumerate() {
            let [a, b] = [wires[*a as usize].block(), wires[*b as usize].block()];
            let (gate, row) = (self.gate + k as u64, 2 * signal(a) + signal(b));
            self.keys.as_chunks_mut::<2>().0[k] = [a, b];
            self.values.as_chunks_mut::<2>().0[k] =
                [tweak(gate, row, Side::Left), tweak(gate, row, Side::Right)];
        }
        self.hash(pairs.len());
        for (k, out) in out.iter_mut().enumerate() {
            let ([a, b], [x, y]) = (self.keys.as_chunks::<2>().0[k], self.values.as_chunks::<2>().0[k]);
            let (row, value) = (2 * signal(a) + signal(b), x ^ y);
            let label = value ^ tables[2 * k].and_bit(b.lsb()) ^ tables[2 * k + 1].and_bit(a.lsb());
            *out = Held::new(with_signal(label, signal(value) ^ bits[k] >> row));
        }
    }
}

fn signal(label: Block) -> u8 {
    label.0[0] & 1
}

impl Linear for Gates {
    type Wire = Held;

    fn not(wire: Held) -> Held {
        wire
    }

    fn xor(&mut self, left: &[Held], right: &[Held], made: &mut [Held], tables: &mut [u8]) {
        let tables = from_bytes(tables);
        for (((left, right), made), tables) in
            left.chunks(BATCH).zip(right.chunks(BATCH)).zip(made.chunks_mut(BATCH)).zip(tables.chunks(BATCH))
        {
            for (k, (left, right)) in left.iter().zip(right).enumerate() {
                let gate = self.gate + k as u64;
                self.keys.as_chunks_mut::<2>().0[k] = [left.block(), right.block()];
                self.values.as_chunks_mut::<2>().0[k] =
                    [tweak(gate, 0, Side::Left), tweak(gate, 0, Side::Right)];
            }
            self.hash(left.len());
            for (k, made) in made.iter_mut().enumerate() {
                let ([a, b], [x, y]) = (self.keys.as_chunks::<2>().0[k], self.values.as_chunks::<2>().0[k]);
                let label = x ^ b ^ (y ^ b ^ tables[k]).and_bit(b.lsb());
                *made = Held::new(with_signal(label, signal(a ^ b)));
            }
        }
    }
}

impl Evaluator {
    /// Batches of XORs so far; their gates are those with tables, copy by copy.
    #[must_use]
    pub fn xor_batches(&self) -> Batches {
        self.xors.batches()
    }
}

impl End for Evaluator {
    type Wire = Held;
    const ROLE: Role = Role::Evaluator;
    const FORMAT: Format = Format::PRF;

    fn constants(&self) -> [Held; 2] {
        [Held::new(CONSTANT); 2]
    }

    fn ands(
        &mut self,
        wires: &[Held],
        pairs: &[[Slot; 2]],
        out: &mut [Held],
        bytes: &mut [u8],
        bits: &mut [u8],
    ) {
        let tables = from_bytes_mut(bytes);
        let fits = [out.len(), bits.len(), tables.len() / 2].map(|n| n == pairs.len());
        assert!(fits == [true; 3] && tables.len().is_multiple_of(2), "a table for every gate");
        for (((pairs, out), tables), bits) in pairs
            .chunks(BATCH)
            .zip(out.chunks_mut(BATCH))
            .zip(tables.chunks(2 * BATCH))
            .zip(bits.chunks(BATCH))
        {
            self.gates.and(wires, pairs, out, tables, bits);
        }
    }

    fn xors(
        &mut self,
        wires: &mut [Held],
        strip: usize,
        gates: &[[Slot; 3]],
        tables: &mut dyn Tables,
    ) -> Result<(), GarbleError> {
        self.xors.run(&mut self.gates, wires, strip, gates, tables)
    }

    fn gates(&self) -> u64 {
        self.gates.gate
    }
}

impl Observe for Evaluator {
    /// `public` has no use here.
    fn new(backend: Backend, scheme: Scheme, _: Public) -> Self {
        assert_scheme(scheme);
        let blocks = || Zeroizing::new(vec![Block::ZERO; 2 * BATCH]);
        Evaluator { gates: Gates { backend, gate: 0, keys: blocks(), values: blocks() }, xors: Queue::new() }
    }

    fn label(&self, label: Block) -> Held {
        Held::new(label)
    }

    fn message(&self, message: Block, bit: u8) -> Held {
        Held::new(with_signal(message, bit))
    }

    fn signal(&self, wire: Held) -> u8 {
        signal(wire.block())
    }
}
