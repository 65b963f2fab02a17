//! The evaluator of three halves.

use super::{TWEAKS, plain};
use crate::{End, Format, GarbleError, Observe, Public, Role, Scheme, Tables, end::Held, half::free_xors};
use hushwire_aes::Backend;
use hushwire_block::Block;
use hushwire_circuit::Slot;
use zeroize::Zeroizing;

/// Gates that are hashed at a time.
const BATCH: usize = 64;

/// Uses three halves.
pub struct Evaluator {
    backend: Backend,
    public: Public,
    gate: u64,
    labels: Zeroizing<Vec<Block>>,
    hashes: Zeroizing<Vec<Block>>,
}

impl End for Evaluator {
    type Wire = Held;
    const ROLE: Role = Role::Evaluator;
    const FORMAT: Format = Format::THREE_HALVES;

    fn constants(&self) -> [Held; 2] {
        [Held::new(Block::ZERO); 2]
    }

    fn ands(
        &mut self,
        wires: &[Held],
        pairs: &[[Slot; 2]],
        out: &mut [Held],
        bytes: &mut [u8],
        bits: &mut [u8],
    ) {
        let n = pairs.len();
        assert!(out.len() == n && bytes.len() == 24 * n && bits.len() == n, "a table for every gate");
        for first in (0..n).step_by(BATCH) {
            let pairs = &pairs[first..n.min(first + BATCH)];
            for ([a, b], x) in pairs.iter().zip(self.labels.as_chunks_mut::<3>().0) {
                let [a, b] = [a, b].map(|s| wires[*s as usize].block());
                *x = [a, b, a ^ b];
            }
            let labels = 3 * pairs.len();
            let tweak = u128::from(TWEAKS) * u128::from(self.gate);
            let (x, y) = (&self.labels[..labels], &mut self.hashes[..labels]);
            self.backend.cr_multi_instance::<1>(self.public.0, tweak, x, y);
            for (k, pair) in pairs.iter().enumerate() {
                let held = pair.map(|s| wires[s as usize]);
                let hashes = self.hashes.as_chunks::<3>().0[k].map(plain::Hash::from);
                let words = bytes[24 * (first + k)..].as_chunks::<8>().0;
                let g = [0, 1, 2].map(|w| u64::from_le_bytes(words[w]));
                out[first + k] = plain::evaluate(held, &hashes, g, bits[first + k]);
            }
            self.gate += pairs.len() as u64;
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
        assert!(scheme == Scheme::ThreeHalves, "{scheme} is not three halves");
        let room = || Zeroizing::new(vec![Block::ZERO; 3 * BATCH]);
        Evaluator { backend, public, gate: 0, labels: room(), hashes: room() }
    }

    fn label(&self, label: Block) -> Held {
        Held::new(label)
    }

    fn message(&self, _: Block, _: u8) -> Held {
        panic!("three halves take correlated OTs")
    }

    fn signal(&self, wire: Held) -> u8 {
        wire.block().0[0] & 1
    }
}
