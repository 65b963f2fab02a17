//! The garbler of three halves.

use super::{TWEAKS, plain};
use crate::{Encode, End, Format, GarbleError, Public, Role, Scheme, Tables, end::Zero, half::free_xors};
use hushwire_aes::Backend;
use hushwire_block::{Block, as_bytes};
use hushwire_circuit::Slot;
use hushwire_prg::{Prg, Seed};
use zeroize::{Zeroize, Zeroizing};

/// Gates that are hashed at a time.
const BATCH: usize = 64;

/// Makes three halves.
pub struct Garbler {
    backend: Backend,
    public: Public,
    delta: Block,
    /// (r, r'): bits 0 and 1 of a byte a gate.
    coins: Prg,
    gate: u64,
    drawn: Zeroizing<Vec<u8>>,
    labels: Zeroizing<Vec<Block>>,
    hashes: Zeroizing<Vec<Block>>,
}

impl Drop for Garbler {
    fn drop(&mut self) {
        self.delta.zeroize();
    }
}

impl End for Garbler {
    type Wire = Zero;
    const ROLE: Role = Role::Garbler;
    const FORMAT: Format = Format::THREE_HALVES;

    fn constants(&self) -> [Zero; 2] {
        // The evaluator holds all zeros for both.
        [Zero::new(Block::ZERO), Zero::new(self.delta)]
    }

    fn ands(
        &mut self,
        wires: &[Zero],
        pairs: &[[Slot; 2]],
        out: &mut [Zero],
        bytes: &mut [u8],
        bits: &mut [u8],
    ) {
        let n = pairs.len();
        assert!(out.len() == n && bytes.len() == 24 * n && bits.len() == n, "room for every gate");
        for first in (0..n).step_by(BATCH) {
            let pairs = &pairs[first..n.min(first + BATCH)];
            for ([a, b], x) in pairs.iter().zip(self.labels.as_chunks_mut::<6>().0) {
                let [a, b] = [a, b].map(|s| plain::at_zero(self.delta, wires[*s as usize]).block());
                *x = [a, a ^ self.delta, b, b ^ self.delta, a ^ b, a ^ b ^ self.delta];
            }
            let labels = 6 * pairs.len();
            let tweak = u128::from(TWEAKS) * u128::from(self.gate);
            let (x, y) = (&self.labels[..labels], &mut self.hashes[..labels]);
            self.backend.cr_multi_instance::<2>(self.public.0, tweak, x, y);
            self.coins.fill(&mut self.drawn[..pairs.len()]);
            for (k, [a, b]) in pairs.iter().enumerate() {
                let zeros = [a, b].map(|s| wires[*s as usize]);
                let hashes = self.hashes.as_chunks::<6>().0[k].map(plain::Hash::from);
                let coin = self.drawn[k];
                let gate = plain::garble(self.delta, zeros, &hashes, [coin & 1 == 1, coin & 2 == 2]);
                out[first + k] = gate.zero;
                let words = bytes[24 * (first + k)..].as_chunks_mut::<8>().0;
                for (word, g) in words.iter_mut().zip(gate.g) {
                    *word = g.to_le_bytes();
                }
                bits[first + k] = gate.z;
            }
            self.gate += pairs.len() as u64;
        }
    }

    fn xors(
        &mut self,
        wires: &mut [Zero],
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

impl Encode for Garbler {
    fn new(backend: Backend, scheme: Scheme, public: Public, seed: &Seed, delta: Option<Block>) -> Self {
        assert!(scheme == Scheme::ThreeHalves, "{scheme} is not three halves");
        let drawn = || Prg::new(backend, seed, "garble delta").next_block();
        let mut delta = delta.unwrap_or_else(drawn);
        delta.0[0] |= 1;
        let coins = Prg::new(backend, seed, "three halves coins");
        let room = || Zeroizing::new(vec![Block::ZERO; 6 * BATCH]);
        let drawn = Zeroizing::new(vec![0; BATCH]);
        Garbler { backend, public, delta, coins, gate: 0, drawn, labels: room(), hashes: room() }
    }

    fn correlated(&mut self, q: Block) -> Zero {
        Zero::new(q)
    }

    fn pair(&mut self, _: [Block; 2]) -> Zero {
        panic!("three halves take correlated OTs")
    }

    fn own(&mut self, active: Block, bit: u8) -> Zero {
        Zero::new(active ^ self.delta.and_bit(bit & 1 == 1))
    }

    fn permute_bit(&self, wire: Zero) -> u8 {
        as_bytes(&[wire.block()])[0] & 1
    }
}
