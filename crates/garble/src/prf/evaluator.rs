//! The evaluator of PRF garbling.

use super::end::{End, Gates};
use super::kernel::{EvaluateAnds, PADDING};
use super::linear::EvaluateXors;
use super::queue::Queue;
use super::{BATCH, CONSTANT, assert_scheme, signal, with_signal};
use crate::half::forms::{KernelGates, forms};
use crate::{Evaluate, Pairs, Role, Scheme, SessionNonce, gates::ActiveLabel};
use hushwire_aes::Backend;
use hushwire_block::{Block, Tagged, as_bytes, as_bytes_mut};
use hushwire_circuit::Slot;

/// Uses PRF-only gates.
pub type Evaluator = End<Evaluating>;

/// The evaluator's gates.
pub struct Evaluating {
    backend: Backend,
    gate: u64,
    /// The rows' bits of a batch.
    rows: Vec<u8>,
}

impl Gates for Evaluating {
    type Wire = ActiveLabel;
    type Bytes<'t> = &'t [u8];
    const ROLE: Role = Role::Evaluator;

    fn constants(&self) -> [ActiveLabel; 2] {
        [ActiveLabel::new(CONSTANT); 2]
    }

    fn and(
        &mut self,
        wires: &[ActiveLabel],
        pairs: &[[Slot; 2]],
        out: &mut [ActiveLabel],
        tables: &[u8],
        bits: &[u8],
    ) {
        self.rows[..bits.len()].copy_from_slice(bits);
        let (wires, out) =
            (as_bytes(Tagged::blocks(wires)).as_chunks().0, as_bytes_mut(Tagged::blocks_mut(out)));
        for KernelGates { backend, vectors, gates } in forms::<2>(self.backend, pairs.len(), 8) {
            let first = self.gate + gates.start as u64;
            let (made, tables) =
                (&mut out[16 * gates.start..16 * gates.end], &tables[32 * gates.start..32 * gates.end]);
            let (pairs, bits) = (&pairs[gates.clone()], &self.rows[gates.start..]);
            match vectors {
                8 => backend.run(EvaluateAnds::<4> { first, wires, pairs, made, tables, bits }),
                4 => backend.run(EvaluateAnds::<2> { first, wires, pairs, made, tables, bits }),
                _ => backend.run(EvaluateAnds::<1> { first, wires, pairs, made, tables, bits }),
            }
        }
        self.gate += pairs.len() as u64;
    }

    fn not(wire: ActiveLabel) -> ActiveLabel {
        wire
    }

    fn xor(&mut self, left: &[ActiveLabel], right: &[ActiveLabel], made: &mut [ActiveLabel], tables: &[u8]) {
        let [left, right] = [left, right].map(|x| as_bytes(Tagged::blocks(x)));
        let made = as_bytes_mut(Tagged::blocks_mut(made));
        for KernelGates { backend, vectors, gates } in forms::<2>(self.backend, left.len() / 16, 8) {
            let first = self.gate + gates.start as u64;
            let at = 16 * gates.start..16 * gates.end;
            let [left, right, tables] = [left, right, tables].map(|x| &x[at.clone()]);
            let made = &mut made[at];
            match vectors {
                8 => backend.run(EvaluateXors::<4> { first, left, right, made, tables }),
                4 => backend.run(EvaluateXors::<2> { first, left, right, made, tables }),
                _ => backend.run(EvaluateXors::<1> { first, left, right, made, tables }),
            }
        }
        self.gate += (left.len() / 16) as u64;
    }

    fn next(&self) -> u64 {
        self.gate
    }
}

impl Evaluate for Evaluator {
    type Transfer = Pairs;

    /// `public` is not used.
    fn new(backend: Backend, scheme: Scheme, _: SessionNonce) -> Self {
        assert_scheme(scheme);
        let gates = Evaluating { backend, gate: 0, rows: vec![0; BATCH + PADDING] };
        End { gates, xors: Queue::new(backend) }
    }

    fn label(&self, label: Block) -> ActiveLabel {
        ActiveLabel::new(label)
    }

    fn own(&self, message: Block, bit: u8) -> ActiveLabel {
        ActiveLabel::new(with_signal(message, bit))
    }

    fn signal(&self, wire: ActiveLabel) -> u8 {
        signal(wire.block())
    }
}
