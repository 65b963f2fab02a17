//! The evaluator of privacy-free half gates.

use super::kernel::{EvaluateAnds, Gates};
use crate::half::forms::{Form, forms};
use crate::half::{free_xors_on, hash::Mi};
use crate::{
    Correlated, Evaluate, Format, GateBackend, Role, Scheme, SessionNonce,
    gates::{ActiveLabel, EVALUATED},
};
use hushwire_aes::Backend;
use hushwire_block::{Block, as_bytes, as_bytes_mut, registry};
use hushwire_circuit::Slot;

/// Uses privacy-free half gates.
pub struct Evaluator {
    backend: Backend,
    hash: Mi,
    gate: u64,
}

impl GateBackend for Evaluator {
    type Wire = ActiveLabel;
    type Bytes<'t> = &'t [u8];
    const ROLE: Role = Role::Evaluator;
    const FORMAT: Format = Format::PRIVACY_FREE;

    fn constants(&self) -> [ActiveLabel; 2] {
        [0u128, 1].map(|x| ActiveLabel::new(x.into()))
    }

    fn ands(
        &mut self,
        wires: &[ActiveLabel],
        pairs: &[[Slot; 2]],
        out: &mut [ActiveLabel],
        bytes: &[u8],
        _: &[u8],
    ) {
        assert!(out.len() == pairs.len() && bytes.len() == 16 * pairs.len(), "a table for every gate");
        let wires = as_bytes(ActiveLabel::blocks(wires)).as_chunks().0;
        registry::used(EVALUATED, &self.hash.0.0, self.gate.into(), pairs.len());
        for Form { backend, vectors, gates: part } in forms::<1>(self.backend, pairs.len(), 4) {
            if part.is_empty() {
                continue;
            }
            let out = as_bytes_mut(ActiveLabel::blocks_mut(&mut out[part.clone()]));
            let tables = &bytes[16 * part.start..16 * part.end];
            let first = self.gate + part.start as u64;
            let gates = Gates { hash: &self.hash, first, wires, pairs: &pairs[part], out };
            match vectors {
                1 => backend.run(EvaluateAnds::<1> { gates, tables }),
                2 => backend.run(EvaluateAnds::<2> { gates, tables }),
                _ => backend.run(EvaluateAnds::<4> { gates, tables }),
            }
        }
        self.gate += pairs.len() as u64;
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

    /// # Panics
    /// If the scheme is another one (the caller's bug).
    fn new(backend: Backend, scheme: Scheme, public: SessionNonce) -> Self {
        assert!(scheme == Scheme::PrivacyFree, "{scheme} is not privacy-free");
        Evaluator { backend, hash: Mi(public.0), gate: 0 }
    }

    /// Bit 0 of `label` is the wire's value.
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
