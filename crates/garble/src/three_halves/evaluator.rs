//! The evaluator of three halves.

use super::kernel::{EvaluateAnds, Grouped};
use crate::half::forms::{Form, forms};
use crate::half::free_xors_on;
use crate::{
    Correlated, Evaluate, Format, GateBackend, Role, Scheme, SessionNonce,
    gates::{ActiveLabel, EVALUATED},
};
use hushwire_aes::Backend;
use hushwire_block::{Block, as_bytes, as_bytes_mut, registry};
use hushwire_circuit::Slot;
use std::ops::Range;

/// Uses three halves.
pub struct Evaluator {
    backend: Backend,
    public: SessionNonce,
    gate: u64,
}

impl GateBackend for Evaluator {
    type Wire = ActiveLabel;
    type Bytes<'t> = &'t [u8];
    const ROLE: Role = Role::Evaluator;
    const FORMAT: Format = Format::THREE_HALVES;

    fn constants(&self) -> [ActiveLabel; 2] {
        [ActiveLabel::new(Block::ZERO); 2]
    }

    fn ands(
        &mut self,
        wires: &[ActiveLabel],
        pairs: &[[Slot; 2]],
        out: &mut [ActiveLabel],
        bytes: &[u8],
        bits: &[u8],
    ) {
        let n = pairs.len();
        assert!(out.len() == n && bytes.len() == 24 * n && bits.len() == n, "a table for every gate");
        let wires = as_bytes(ActiveLabel::blocks(wires)).as_chunks().0;
        let out = as_bytes_mut(ActiveLabel::blocks_mut(out));
        for Form { backend, vectors, gates } in forms::<3>(self.backend, n, 12) {
            let Range { start, end } = gates.clone();
            let kernel = EvaluateAnds {
                start: self.public.0.0,
                first: self.gate,
                wires,
                pairs: &pairs[start..end],
                out: &mut out[16 * start..16 * end],
                tables: &bytes[24 * start..24 * end],
                bits: &bits[start..end],
            };
            registry::used(EVALUATED, &self.public.0.0, self.gate.into(), gates.len());
            match vectors {
                _ if gates.is_empty() => {}
                12 => backend.run(Grouped::<_, 12>(kernel)),
                _ => backend.run(Grouped::<_, 3>(kernel)),
            }
            self.gate += gates.len() as u64;
        }
    }

    fn xors(&mut self, wires: &mut [ActiveLabel], strip: usize, gates: &[[Slot; 3]], _: &[u8]) {
        free_xors_on(self.backend, wires, strip, gates);
    }

    fn gates(&self) -> u64 {
        self.gate
    }
}

impl Evaluate for Evaluator {
    type Transfer = Correlated;

    fn new(backend: Backend, scheme: Scheme, public: SessionNonce) -> Self {
        assert!(scheme == Scheme::ThreeHalves, "{scheme} is not three halves");
        Evaluator { backend, public, gate: 0 }
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
