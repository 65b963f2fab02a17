//! Privacy-free half gates at both endpoints.

use super::kernel::{EvaluateAnds, GarbleAnds, Gates as Operands};
use crate::half::forms::{KernelGates, forms};
use crate::half::hash::Mi;
use crate::{
    Format, Scheme, SessionNonce,
    free::{Ands, At, Evaluating, Garbling, Gates},
    gates::{EVALUATED, GARBLED},
};
use hushwire_aes::Backend;
use hushwire_block::{as_bytes, as_bytes_mut, registry};
use hushwire_prg::Seed;

/// The hash of a session's gates.
pub struct OneBlock(Mi);

impl OneBlock {
    fn of(scheme: Scheme, public: SessionNonce) -> Self {
        assert!(scheme == Scheme::PrivacyFree, "{scheme} is not privacy-free");
        OneBlock(Mi(public.0))
    }
}

/// Runs gates by kernel width: `$kernel` in groups of 1, 2 or 4 vectors.
macro_rules! run {
    ($self:ident, $what:expr, $at:ident, $gates:ident, $part:ident => $kernel:ident { $($field:ident: $value:expr),* }) => {{
        let Gates { wires, pairs, out } = $gates;
        let (wires, out, hash) = (as_bytes(wires).as_chunks().0, as_bytes_mut(out), &$self.0);
        registry::used($what, &hash.0.0, $at.first.into(), pairs.len());
        for KernelGates { backend, vectors, gates: $part } in forms::<1>($at.backend, pairs.len(), 4) {
            if $part.is_empty() {
                continue;
            }
            let (first, out) = ($at.first + $part.start as u64, &mut out[16 * $part.start..16 * $part.end]);
            let gates = Operands { hash, first, wires, pairs: &pairs[$part.clone()], out };
            match vectors {
                1 => backend.run($kernel::<1> { gates, $($field: $value),* }),
                2 => backend.run($kernel::<2> { gates, $($field: $value),* }),
                _ => backend.run($kernel::<4> { gates, $($field: $value),* }),
            }
        }
    }};
}

impl Ands<Garbling> for OneBlock {
    const FORMAT: Format = Format::PRIVACY_FREE;
    const VALUES: bool = true;

    fn new(_: Backend, scheme: Scheme, public: SessionNonce, _: Option<&Seed>) -> Self {
        OneBlock::of(scheme, public)
    }

    fn run(&mut self, at: &At<'_, Garbling>, gates: Gates<'_>, bytes: &mut [u8], _: &mut [u8]) {
        let delta = at.part.delta.0;
        run!(self, GARBLED, at, gates, part => GarbleAnds {
            delta: delta,
            tables: &mut bytes[16 * part.start..16 * part.end]
        });
    }
}

impl Ands<Evaluating> for OneBlock {
    const FORMAT: Format = Format::PRIVACY_FREE;
    const VALUES: bool = true;

    fn new(_: Backend, scheme: Scheme, public: SessionNonce, _: Option<&Seed>) -> Self {
        OneBlock::of(scheme, public)
    }

    fn run(&mut self, at: &At<'_, Evaluating>, gates: Gates<'_>, bytes: &[u8], _: &[u8]) {
        run!(self, EVALUATED, at, gates, part => EvaluateAnds {
            tables: &bytes[16 * part.start..16 * part.end]
        });
    }
}
