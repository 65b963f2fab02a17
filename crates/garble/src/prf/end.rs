//! Both endpoints of PRF garbling, without their kernels: batches of ANDs, and the queue of XORs.

use super::BATCH;
use super::queue::Queue;
use crate::{Batches, Format, GateBackend, Role, tables::Stretch};
use hushwire_circuit::Slot;
use zeroize::Zeroize;

/// The gates of an endpoint.
pub trait Gates {
    /// See [`GateBackend::Wire`].
    type Wire: Copy + Default + Zeroize + Send;
    /// Tables in the hands of this endpoint.
    type Bytes<'t>: Stretch<'t>;
    /// The role of this endpoint.
    const ROLE: Role;

    /// The wires of the constants 0 and 1.
    fn constants(&self) -> [Self::Wire; 2];
    /// The wire of the complementary value.
    fn not(wire: Self::Wire) -> Self::Wire;
    /// Runs at most [`BATCH`] ANDs.
    fn and(
        &mut self,
        wires: &[Self::Wire],
        pairs: &[[Slot; 2]],
        out: &mut [Self::Wire],
        tables: Self::Bytes<'_>,
        bits: Self::Bytes<'_>,
    );
    /// Computes the results of units of XORs, with [`TABLE`](super::queue::TABLE) bytes for each.
    fn xor(
        &mut self,
        left: &[Self::Wire],
        right: &[Self::Wire],
        made: &mut [Self::Wire],
        tables: Self::Bytes<'_>,
    );
    /// The number of the next gate.
    fn next(&self) -> u64;
}

/// One endpoint of PRF garbling.
pub struct End<G: Gates> {
    pub(super) gates: G,
    pub(super) xors: Queue<G::Wire>,
}

impl<G: Gates> End<G> {
    /// The batches of XORs so far. Their gates are units with tables, copy by copy.
    #[must_use]
    pub fn xor_batches(&self) -> Batches {
        self.xors.batches()
    }
}

impl<G: Gates> GateBackend for End<G> {
    type Wire = G::Wire;
    type Bytes<'t> = G::Bytes<'t>;
    const ROLE: Role = G::ROLE;
    const FORMAT: Format = Format::PRF;

    fn constants(&self) -> [G::Wire; 2] {
        self.gates.constants()
    }

    fn ands(
        &mut self,
        wires: &[G::Wire],
        pairs: &[[Slot; 2]],
        out: &mut [G::Wire],
        mut bytes: G::Bytes<'_>,
        mut bits: G::Bytes<'_>,
    ) {
        let n = pairs.len();
        assert!((out.len(), bits.bytes(), bytes.bytes()) == (n, n, 32 * n), "a table for every gate");
        for (pairs, out) in pairs.chunks(BATCH).zip(out.chunks_mut(BATCH)) {
            let n = pairs.len();
            self.gates.and(wires, pairs, out, bytes.take(32 * n), bits.take(n));
        }
    }

    fn xors(&mut self, wires: &mut [G::Wire], strip: usize, gates: &[[Slot; 3]], tables: G::Bytes<'_>) {
        self.xors.run(&mut self.gates, wires, strip, gates, tables);
    }

    fn gates(&self) -> u64 {
        self.gates.next()
    }
}
