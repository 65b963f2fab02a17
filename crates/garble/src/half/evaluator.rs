//! The evaluator of half gates.

use super::forms::filled;
use super::hash::{Hash, Hashes};
use super::{free_xors_on, kernel::EvaluateAnds};
use crate::{Correlated, Evaluate, Format, GateBackend, Role, Scheme, SessionNonce, gates::ActiveLabel};
use hushwire_aes::Backend;
use hushwire_block::{Block, Sums, as_bytes, as_bytes_mut};
use hushwire_circuit::Slot;
use std::ops::Range;

/// Uses half gates.
pub struct Evaluator {
    backend: Backend,
    hash: Hash,
    gate: u64,
}

/// Gates under one key.
struct Gates<'a> {
    first: u64,
    wires: &'a [[u8; 16]],
    pairs: &'a [[Slot; 2]],
    out: &'a mut [u8],
    tables: &'a [u8],
}

impl Gates<'_> {
    fn run<H: Hashes>(self, backend: Backend, hash: &H) {
        let (backend, vectors) = filled(backend, self.pairs.len(), 8);
        match vectors {
            2 => self.on::<H, 2>(backend, hash),
            4 => self.on::<H, 4>(backend, hash),
            _ => self.on::<H, 8>(backend, hash),
        }
    }

    fn on<H: Hashes, const M: usize>(self, backend: Backend, hash: &H) {
        let Gates { first, wires, pairs, out, tables } = self;
        backend.run(EvaluateAnds::<H, M> { hash, first, wires, pairs, out, tables });
    }
}

#[cfg(test)]
impl Evaluator {
    /// Goes on with another gate.
    pub(super) fn start_at(&mut self, gate: u64) {
        self.gate = gate;
    }
}

impl GateBackend for Evaluator {
    type Wire = ActiveLabel;
    type Bytes<'t> = &'t [u8];
    const ROLE: Role = Role::Evaluator;
    const FORMAT: Format = Format::HALF_GATES;

    fn constants(&self) -> [ActiveLabel; 2] {
        [ActiveLabel::new(Block::ZERO); 2]
    }

    fn ands(
        &mut self,
        wires: &[ActiveLabel],
        pairs: &[[Slot; 2]],
        out: &mut [ActiveLabel],
        bytes: &[u8],
        _: &[u8],
    ) {
        assert!(out.len() == pairs.len() && bytes.len() == 32 * pairs.len(), "a table for every gate");
        let wires = as_bytes(ActiveLabel::blocks(wires)).as_chunks().0;
        let (mut pairs, mut out, mut tables) = (pairs, as_bytes_mut(ActiveLabel::blocks_mut(out)), bytes);
        while !pairs.is_empty() {
            let n = self.hash.serve(self.backend, self.gate).min(pairs.len());
            let (now, later) = pairs.split_at(n);
            let (now_out, later_out) = out.split_at_mut(16 * n);
            let (now_tables, later_tables) = tables.split_at(32 * n);
            let gates = Gates { first: self.gate, wires, pairs: now, out: now_out, tables: now_tables };
            match &self.hash {
                Hash::Prp { key, .. } => gates.run(self.backend, key),
                Hash::Mi(start) => gates.run(self.backend, start),
                Hash::Mi4(keys) => gates.run(self.backend, &**keys),
                Hash::Circ(circ) => gates.run(self.backend, circ),
            }
            self.gate += n as u64;
            (pairs, out, tables) = (later, later_out, later_tables);
        }
    }

    fn xors(&mut self, wires: &mut [ActiveLabel], strip: usize, gates: &[[Slot; 3]], _: &[u8]) {
        free_xors_on(self.backend, wires, strip, gates);
    }

    const SUMS: bool = true;

    fn sums(&mut self, wires: &mut [ActiveLabel], strip: usize, sums: &Sums, range: Range<usize>) {
        sums.run(self.backend.tier(), range, ActiveLabel::blocks_mut(wires), strip);
    }

    fn gates(&self) -> u64 {
        self.gate
    }
}

impl Evaluate for Evaluator {
    type Transfer = Correlated;

    fn new(backend: Backend, scheme: Scheme, public: SessionNonce) -> Self {
        Evaluator { backend, hash: Hash::new(backend, scheme, public), gate: 0 }
    }

    fn label(&self, label: Block) -> ActiveLabel {
        ActiveLabel::new(label)
    }

    fn own(&self, t: Block, _: u8) -> ActiveLabel {
        ActiveLabel::new(t)
    }

    fn signal(&self, wire: ActiveLabel) -> u8 {
        wire.block().0[0] & 1
    }
}
