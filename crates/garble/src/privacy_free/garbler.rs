//! The garbler of privacy-free half gates.

use super::kernel::{GarbleAnds, Gates};
use crate::half::forms::{Form, forms};
use crate::half::{free_xors_on, hash::Mi};
use crate::{
    Correlated, Format, Garble, GateBackend, Role, Scheme, SessionNonce,
    gates::{GARBLED, ZeroLabel, correlation},
};
use hushwire_aes::Backend;
use hushwire_block::{Block, as_bytes, as_bytes_mut, registry};
use hushwire_circuit::Slot;
use hushwire_prg::Seed;
use zeroize::Zeroize;

/// Makes privacy-free half gates.
pub struct Garbler {
    backend: Backend,
    hash: Mi,
    delta: Block,
    gate: u64,
}

impl Drop for Garbler {
    fn drop(&mut self) {
        self.delta.zeroize();
    }
}

/// A label of truth value 0: its bit 0 is the value.
fn zero(mut label: Block) -> ZeroLabel {
    label.0[0] &= 0xfe;
    ZeroLabel::new(label)
}

impl GateBackend for Garbler {
    type Wire = ZeroLabel;
    type Bytes<'t> = &'t mut [u8];
    const ROLE: Role = Role::Garbler;
    const FORMAT: Format = Format::PRIVACY_FREE;

    fn constants(&self) -> [ZeroLabel; 2] {
        // The evaluator holds 0 and 1, and both are the labels of their values.
        let mut one = self.delta;
        one.0[0] ^= 1;
        [ZeroLabel::new(Block::ZERO), ZeroLabel::new(one)]
    }

    fn ands(
        &mut self,
        wires: &[ZeroLabel],
        pairs: &[[Slot; 2]],
        out: &mut [ZeroLabel],
        bytes: &mut [u8],
        _: &mut [u8],
    ) {
        assert!(out.len() == pairs.len() && bytes.len() == 16 * pairs.len(), "room for every gate");
        let wires = as_bytes(ZeroLabel::blocks(wires)).as_chunks().0;
        registry::used(GARBLED, &self.hash.0.0, self.gate.into(), pairs.len());
        for Form { backend, vectors, gates: part } in forms::<1>(self.backend, pairs.len(), 4) {
            if part.is_empty() {
                continue;
            }
            let out = as_bytes_mut(ZeroLabel::blocks_mut(&mut out[part.clone()]));
            let tables = &mut bytes[16 * part.start..16 * part.end];
            let first = self.gate + part.start as u64;
            let (pairs, delta) = (&pairs[part], self.delta.0);
            let gates = Gates { hash: &self.hash, first, wires, pairs, out };
            match vectors {
                1 => backend.run(GarbleAnds::<1> { gates, delta, tables }),
                2 => backend.run(GarbleAnds::<2> { gates, delta, tables }),
                _ => backend.run(GarbleAnds::<4> { gates, delta, tables }),
            }
        }
        self.gate += pairs.len() as u64;
    }

    fn xors(&mut self, wires: &mut [ZeroLabel], strip: usize, gates: &[[Slot; 3]], _: &mut [u8]) {
        free_xors_on(self.backend, wires, strip, gates);
    }

    fn gates(&self) -> u64 {
        self.gate
    }
}

impl Garble for Garbler {
    type Transfer = Correlated;

    /// # Panics
    /// If the scheme is another one (the caller's bug).
    fn new(
        backend: Backend,
        scheme: Scheme,
        public: SessionNonce,
        seed: &Seed,
        delta: Option<Block>,
    ) -> Self {
        assert!(scheme == Scheme::PrivacyFree, "{scheme} is not privacy-free");
        let delta = correlation(backend, seed, delta);
        Garbler { backend, hash: Mi(public.0), delta, gate: 0 }
    }

    /// Bit 0 of q must be 0, as it is where bit 0 of what the other end holds is its choice.
    fn theirs(&mut self, q: Block) -> ZeroLabel {
        assert!(!q.lsb(), "bit 0 of the evaluator's label is its choice");
        ZeroLabel::new(q)
    }

    fn own(&mut self, active: Block, bit: u8) -> ZeroLabel {
        zero(active ^ self.delta.and_bit(bit & 1 == 1))
    }

    fn permute_bit(&self, _: ZeroLabel) -> u8 {
        0
    }
}
