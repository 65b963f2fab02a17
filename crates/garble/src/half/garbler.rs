//! The garbler of half gates.

use super::forms::filled;
use super::hash::{Hash, Hashes};
use super::{free_xors_on, kernel::GarbleAnds};
use crate::{
    Correlated, Format, Garble, GateBackend, Role, Scheme, SessionNonce,
    gates::{ZeroLabel, correlation},
};
use hushwire_aes::Backend;
use hushwire_block::{Block, Sums, as_bytes, as_bytes_mut};
use hushwire_circuit::Slot;
use hushwire_prg::Seed;
use std::ops::Range;
use zeroize::Zeroize;

/// Makes half gates.
pub struct Garbler {
    backend: Backend,
    hash: Hash,
    delta: Block,
    gate: u64,
}

/// Gates under one key.
struct Gates<'a> {
    delta: [u8; 16],
    first: u64,
    wires: &'a [[u8; 16]],
    pairs: &'a [[Slot; 2]],
    out: &'a mut [u8],
    tables: &'a mut [u8],
}

impl Gates<'_> {
    /// In groups of at most `MOST` vectors of labels.
    fn run<H: Hashes, const MOST: usize>(self, backend: Backend, hash: &H) {
        let (backend, vectors) = filled(backend, self.pairs.len(), MOST);
        match vectors {
            2 => self.on::<H, 2>(backend, hash),
            4 => self.on::<H, 4>(backend, hash),
            _ => self.on::<H, MOST>(backend, hash),
        }
    }

    fn on<H: Hashes, const M: usize>(self, backend: Backend, hash: &H) {
        let Gates { delta, first, wires, pairs, out, tables } = self;
        backend.run(GarbleAnds::<H, M> { hash, delta, first, wires, pairs, out, tables });
    }
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

impl GateBackend for Garbler {
    type Wire = ZeroLabel;
    type Bytes<'t> = &'t mut [u8];
    const ROLE: Role = Role::Garbler;
    const FORMAT: Format = Format::HALF_GATES;

    fn constants(&self) -> [ZeroLabel; 2] {
        // The evaluator holds all zeros for both.
        [ZeroLabel::new(Block::ZERO), ZeroLabel::new(self.delta)]
    }

    fn ands(
        &mut self,
        wires: &[ZeroLabel],
        pairs: &[[Slot; 2]],
        out: &mut [ZeroLabel],
        bytes: &mut [u8],
        _: &mut [u8],
    ) {
        assert!(out.len() == pairs.len() && bytes.len() == 32 * pairs.len(), "room for every gate");
        let (delta, wires) = (self.delta.0, as_bytes(ZeroLabel::blocks(wires)).as_chunks().0);
        let (mut pairs, mut out, mut tables) = (pairs, as_bytes_mut(ZeroLabel::blocks_mut(out)), bytes);
        while !pairs.is_empty() {
            let n = self.hash.serve(self.backend, self.gate).min(pairs.len());
            let (now, later) = pairs.split_at(n);
            let (now_out, later_out) = out.split_at_mut(16 * n);
            let (now_tables, later_tables) = tables.split_at_mut(32 * n);
            let gates =
                Gates { delta, first: self.gate, wires, pairs: now, out: now_out, tables: now_tables };
            match &self.hash {
                Hash::Prp { key, .. } => gates.run::<_, 4>(self.backend, key),
                Hash::Mi4(keys) => gates.run::<_, 4>(self.backend, &**keys),
                // Two groups of keys fill the time in which one waits for its schedule; a label of CIRC's has two keys.
                Hash::Mi(start) => gates.run::<_, 8>(self.backend, start),
                Hash::Circ(circ) => gates.run::<_, 4>(self.backend, circ),
            }
            self.gate += n as u64;
            (pairs, out, tables) = (later, later_out, later_tables);
        }
    }

    fn xors(&mut self, wires: &mut [ZeroLabel], strip: usize, gates: &[[Slot; 3]], _: &mut [u8]) {
        free_xors_on(self.backend, wires, strip, gates);
    }

    const SUMS: bool = true;

    fn sums(&mut self, wires: &mut [ZeroLabel], strip: usize, sums: &Sums, range: Range<usize>) {
        sums.run(self.backend.tier(), range, ZeroLabel::blocks_mut(wires), strip);
    }

    fn gates(&self) -> u64 {
        self.gate
    }
}

impl Garble for Garbler {
    type Transfer = Correlated;

    fn new(
        backend: Backend,
        scheme: Scheme,
        public: SessionNonce,
        seed: &Seed,
        delta: Option<Block>,
    ) -> Self {
        let delta = correlation(backend, seed, delta);
        Garbler { backend, hash: Hash::new(backend, scheme, public), delta, gate: 0 }
    }

    fn theirs(&mut self, q: Block) -> ZeroLabel {
        ZeroLabel::new(q)
    }

    fn own(&mut self, active: Block, bit: u8) -> ZeroLabel {
        ZeroLabel::new(active ^ self.delta.and_bit(bit & 1 == 1))
    }

    fn permute_bit(&self, wire: ZeroLabel) -> u8 {
        as_bytes(&[wire.block()])[0] & 1
    }
}
