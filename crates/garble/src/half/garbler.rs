//! The garbler of half gates.

use super::{free_xors, hash::Hash};
use crate::{Encode, End, Format, GarbleError, Public, Role, Scheme, Tables, end::Zero};
use hushwire_aes::Backend;
use hushwire_block::{Block, as_bytes, from_bytes_mut};
use hushwire_circuit::Slot;
use hushwire_prg::{Prg, Seed};
use zeroize::{Zeroize, Zeroizing};

/// Gates that are hashed at a time.
const BATCH: usize = 64;

/// Makes half gates.
pub struct Garbler {
    hash: Hash,
    delta: Block,
    gate: u64,
    labels: Zeroizing<Vec<Block>>,
    hashes: Zeroizing<Vec<Block>>,
}

impl Drop for Garbler {
    fn drop(&mut self) {
        self.delta.zeroize();
    }
}

#[cfg(test)]
impl Garbler {
    /// Goes on with another gate.
    pub(super) fn start_at(&mut self, gate: u64) {
        self.gate = gate;
    }
}

impl End for Garbler {
    type Wire = Zero;
    const ROLE: Role = Role::Garbler;
    const FORMAT: Format = Format::HALF_GATES;

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
        _: &mut [u8],
    ) {
        let tables = from_bytes_mut(bytes);
        assert!(out.len() == pairs.len() && tables.len() == 2 * pairs.len(), "room for every gate");
        for ((pairs, out), tables) in
            pairs.chunks(BATCH).zip(out.chunks_mut(BATCH)).zip(tables.chunks_mut(2 * BATCH))
        {
            let n = 4 * pairs.len();
            for ([a, b], x) in pairs.iter().zip(self.labels.as_chunks_mut::<4>().0) {
                let (a, b) = (wires[*a as usize].block(), wires[*b as usize].block());
                *x = [a, a ^ self.delta, b, b ^ self.delta];
            }
            self.hash.run::<2>(self.gate, &self.labels[..n], &mut self.hashes[..n]);
            self.gate += pairs.len() as u64;
            for (k, out) in out.iter_mut().enumerate() {
                let [a0, _, b0, _] = self.labels.as_chunks::<4>().0[k];
                let [ha0, ha1, hb0, hb1] = self.hashes.as_chunks::<4>().0[k];
                let (pa, pb) = (a0.lsb(), b0.lsb());
                let tg = ha0 ^ ha1 ^ self.delta.and_bit(pb);
                let te = hb0 ^ hb1 ^ a0;
                *out = Zero::new(ha0 ^ tg.and_bit(pa) ^ hb0 ^ (te ^ a0).and_bit(pb));
                tables[2 * k] = tg;
                tables[2 * k + 1] = te;
            }
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
        let drawn = || Prg::new(backend, seed, "garble delta").next_block();
        let mut delta = delta.unwrap_or_else(drawn);
        delta.0[0] |= 1;
        let room = || Zeroizing::new(vec![Block::ZERO; 4 * BATCH]);
        Garbler { hash: Hash::new(backend, scheme, public), delta, gate: 0, labels: room(), hashes: room() }
    }

    fn correlated(&mut self, q: Block) -> Zero {
        Zero::new(q)
    }

    fn pair(&mut self, _: [Block; 2]) -> Zero {
        panic!("half gates take correlated OTs")
    }

    fn own(&mut self, active: Block, bit: u8) -> Zero {
        Zero::new(active ^ self.delta.and_bit(bit & 1 == 1))
    }

    fn permute_bit(&self, wire: Zero) -> u8 {
        as_bytes(&[wire.block()])[0] & 1
    }
}
