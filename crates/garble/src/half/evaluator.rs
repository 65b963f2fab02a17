//! The evaluator of half gates.

use super::{free_xors, hash::Hash};
use crate::{End, Format, GarbleError, Observe, Public, Role, Scheme, Tables, end::Held};
use hushwire_aes::Backend;
use hushwire_block::{Block, from_bytes_mut};
use hushwire_circuit::Slot;
use zeroize::Zeroizing;

/// Gates that are hashed at a time.
const BATCH: usize = 64;

/// Uses half gates.
pub struct Evaluator {
    hash: Hash,
    gate: u64,
    labels: Zeroizing<Vec<Block>>,
    hashes: Zeroizing<Vec<Block>>,
}

#[cfg(test)]
impl Evaluator {
    /// Goes on with another gate.
    pub(super) fn start_at(&mut self, gate: u64) {
        self.gate = gate;
    }
}

impl End for Evaluator {
    type Wire = Held;
    const ROLE: Role = Role::Evaluator;
    const FORMAT: Format = Format::HALF_GATES;

    fn constants(&self) -> [Held; 2] {
        [Held::new(Block::ZERO); 2]
    }

    fn ands(
        &mut self,
        wires: &[Held],
        pairs: &[[Slot; 2]],
        out: &mut [Held],
        bytes: &mut [u8],
        _: &mut [u8],
    ) {
        let tables = from_bytes_mut(bytes);
        assert!(out.len() == pairs.len() && tables.len() == 2 * pairs.len(), "a table for every gate");
        for ((pairs, out), tables) in
            pairs.chunks(BATCH).zip(out.chunks_mut(BATCH)).zip(tables.chunks(2 * BATCH))
        {
            let n = 2 * pairs.len();
            for ([a, b], x) in pairs.iter().zip(self.labels.as_chunks_mut::<2>().0) {
                *x = [wires[*a as usize].block(), wires[*b as usize].block()];
            }
            self.hash.run::<1>(self.gate, &self.labels[..n], &mut self.hashes[..n]);
            self.gate += pairs.len() as u64;
            for (k, out) in out.iter_mut().enumerate() {
                let ([a, b], [ha, hb]) =
                    (self.labels.as_chunks::<2>().0[k], self.hashes.as_chunks::<2>().0[k]);
                let [tg, te] = [tables[2 * k], tables[2 * k + 1]];
                *out = Held::new(ha ^ tg.and_bit(a.lsb()) ^ hb ^ (te ^ a).and_bit(b.lsb()));
            }
        }
    }

    fn xors(
        &mut self,
        wires: &mut [Held],
        strip: usize,
        gates: &[[Slot; 3]],
        _: &mut dyn Tables,
    ) -> Result<(), GarbleError> {
        free_xors(wires, strip, gates);
        Ok(())
    }

    fn gates(&self) -> u64 {
        self.gate
    }
}

impl Observe for Evaluator {
    fn new(backend: Backend, scheme: Scheme, public: Public) -> Self {
        let room = || Zeroizing::new(vec![Block::ZERO; 2 * BATCH]);
        Evaluator { hash: Hash::new(backend, scheme, public), gate: 0, labels: room(), hashes: room() }
    }

    fn label(&self, label: Block) -> Held {
        Held::new(label)
    }

    fn message(&self, _: Block, _: u8) -> Held {
        panic!("half gates take correlated OTs")
    }

    fn signal(&self, wire: Held) -> u8 {
        wire.block().0[0] & 1
    }
}
