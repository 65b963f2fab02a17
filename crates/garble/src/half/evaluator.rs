//! The evaluator of half gates.

use super::forms::filled;
use super::hash::{Hash, Hashes};
use super::{free_xors_on, kernel::EvaluateAnds, served_layers, work::Work};
use crate::{
    Correlated, Evaluate, Format, GateBackend, Role, Scheme, SessionNonce,
    gates::{ActiveLabel, EVALUATED, one_by_one},
};
use hushwire_aes::Backend;
use hushwire_block::{Block, TripleSums};
use hushwire_circuit::{Slot, Woven};
use std::ops::Range;

/// Uses half gates.
pub struct Evaluator {
    backend: Backend,
    hash: Hash,
    gate: u64,
}

impl Evaluator {
    /// `n` gates under one key.
    fn run(&mut self, backend: Backend, n: usize, work: Work<'_>, tables: &[u8]) {
        let Evaluator { hash, gate, .. } = self;
        let gates = Gates { first: *gate, work, tables };
        hash.used(EVALUATED, *gate, n);
        match hash {
            Hash::Prp { key, .. } => gates.run(backend, key),
            Hash::Mi(start) => gates.run(backend, start),
            Hash::Mi4(keys) => gates.run(backend, &**keys),
            Hash::Circ(circ) => gates.run(backend, circ),
        }
        *gate += n as u64;
    }
}

/// Gates under one key.
struct Gates<'a> {
    first: u64,
    work: Work<'a>,
    tables: &'a [u8],
}

impl Gates<'_> {
    fn run<H: Hashes>(self, backend: Backend, hash: &H) {
        let Gates { first, work, tables } = self;
        backend.run(EvaluateAnds::<H, 8> { hash, first, work, tables });
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
        let (wires, mut pairs) = (ActiveLabel::blocks(wires), pairs);
        let (mut out, mut tables, alone) = (ActiveLabel::blocks_mut(out), bytes, !self.backend.is_batched());
        while !pairs.is_empty() {
            let n = self.hash.serve(self.backend, self.gate).min(pairs.len());
            let (now, later) = pairs.split_at(n);
            let (now_out, later_out) = out.split_at_mut(n);
            let (now_tables, later_tables) = tables.split_at(32 * n);
            self.run(filled(self.backend, n), n, Work::gates(wires, now, now_out, alone), now_tables);
            (pairs, out, tables) = (later, later_out, later_tables);
        }
    }

    fn layers(&mut self, wires: &mut [ActiveLabel], woven: &Woven, layers: Range<usize>, bytes: &[u8]) {
        let (mut layers, mut bytes) = (layers, bytes);
        while !layers.is_empty() {
            let served = self.hash.serve(self.backend, self.gate);
            let (now, n) = served_layers(woven, &layers, served);
            let (tables, later) = bytes.split_at(32 * n);
            layers.start = now.end;
            if n > served || !self.backend.is_batched() {
                one_by_one(self, wires, woven, now, tables);
            } else {
                let wires = ActiveLabel::blocks_mut(wires);
                self.run(self.backend, n, Work::Layers { wires, woven, layers: now }, tables);
            }
            bytes = later;
        }
    }

    fn xors(&mut self, wires: &mut [ActiveLabel], strip: usize, gates: &[[Slot; 3]], _: &[u8]) {
        free_xors_on(self.backend, wires, strip, gates);
    }

    const SUMS: bool = true;

    fn sums(&mut self, wires: &mut [ActiveLabel], strip: usize, sums: &TripleSums, range: Range<usize>) {
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
