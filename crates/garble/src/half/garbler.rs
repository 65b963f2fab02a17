//! The garbler of half gates.

use super::forms::filled;
use super::hash::{Hash, Hashes};
use super::{free_xors_on, kernel::GarbleAnds, served_layers, work::Work};
use crate::{
    Correlated, Format, Garble, GateBackend, Role, Scheme, SessionNonce,
    gates::{GARBLED, ZeroLabel, correlation, one_by_one},
};
use hushwire_aes::Backend;
use hushwire_block::{Block, TripleSums, as_bytes};
use hushwire_circuit::{Slot, Woven};
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

impl Drop for Garbler {
    fn drop(&mut self) {
        self.delta.zeroize();
    }
}

impl Garbler {
    /// `n` gates under one key.
    fn run(&mut self, backend: Backend, n: usize, work: Work<'_>, tables: &mut [u8]) {
        let Garbler { hash, delta, gate, .. } = self;
        let gates = Gates { delta: delta.0, first: *gate, work, tables };
        hash.used(GARBLED, *gate, n);
        match hash {
            Hash::Prp { key, .. } => gates.run::<_, 4>(backend, key),
            Hash::Mi4(keys) => gates.run::<_, 4>(backend, &**keys),
            // Two groups of keys fill the time in which one waits for its schedule; a label of CIRC's has two keys.
            Hash::Mi(start) => gates.run::<_, 8>(backend, start),
            Hash::Circ(circ) => gates.run::<_, 4>(backend, circ),
        }
        *gate += n as u64;
    }
}

/// Gates under one key.
struct Gates<'a> {
    delta: [u8; 16],
    first: u64,
    work: Work<'a>,
    tables: &'a mut [u8],
}

impl Gates<'_> {
    /// In groups of at most `M` vectors of labels.
    fn run<H: Hashes, const M: usize>(self, backend: Backend, hash: &H) {
        let Gates { delta, first, work, tables } = self;
        backend.run(GarbleAnds::<H, M> { hash, delta, first, work, tables });
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
        let (wires, mut pairs) = (ZeroLabel::blocks(wires), pairs);
        let (mut out, mut tables, alone) = (ZeroLabel::blocks_mut(out), bytes, !self.backend.is_batched());
        while !pairs.is_empty() {
            let n = self.hash.serve(self.backend, self.gate).min(pairs.len());
            let (now, later) = pairs.split_at(n);
            let (now_out, later_out) = out.split_at_mut(n);
            let (now_tables, later_tables) = tables.split_at_mut(32 * n);
            self.run(filled(self.backend, n), n, Work::gates(wires, now, now_out, alone), now_tables);
            (pairs, out, tables) = (later, later_out, later_tables);
        }
    }

    fn layers(&mut self, wires: &mut [ZeroLabel], woven: &Woven, layers: Range<usize>, bytes: &mut [u8]) {
        let (mut layers, mut bytes) = (layers, bytes);
        while !layers.is_empty() {
            let served = self.hash.serve(self.backend, self.gate);
            let (now, n) = served_layers(woven, &layers, served);
            let (tables, later) = std::mem::take(&mut bytes).split_at_mut(32 * n);
            layers.start = now.end;
            if n > served || !self.backend.is_batched() {
                one_by_one(self, wires, woven, now, tables);
            } else {
                let wires = ZeroLabel::blocks_mut(wires);
                self.run(self.backend, n, Work::Layers { wires, woven, layers: now }, tables);
            }
            bytes = later;
        }
    }

    fn xors(&mut self, wires: &mut [ZeroLabel], strip: usize, gates: &[[Slot; 3]], _: &mut [u8]) {
        free_xors_on(self.backend, wires, strip, gates);
    }

    const SUMS: bool = true;

    fn sums(&mut self, wires: &mut [ZeroLabel], strip: usize, sums: &TripleSums, range: Range<usize>) {
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
