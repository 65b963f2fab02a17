//! Half gates: S. Zahur, M. Rosulek, D. Evans, "Two halves make a whole", Eurocrypt 2015, figure 2, two ciphertexts an AND.
//!
//! **Functionality.** XOR and NOT are free; an AND costs 256 bits.
//! **Deviations.** The hash is one of four (below) instead of a doubling; gate `g` has tweaks 2g and 2g + 1.
//! **Security.** Semi-honest garbling privacy, κ = 128: PRP in the ideal-permutation model with a key per 2^20 gates
//! (SECURITY), MI in the ideal-cipher model with a fresh start point per session (ePrint 2019/1168), MI4 with
//! eight times its bound (`shared.rs`), CIRC if AES is
//! circularly correlation robust with the label as its key.
//! **Notation.** A0, B0: labels of truth value 0; pa, pb their bit 0; Δ: bit 0 is 1; H_t: the hash with tweak t.
//!
//! ```text
//! garble     T_G = H(A0) ⊕ H(A1) ⊕ pb Δ        T_E = H(B0) ⊕ H(B1) ⊕ A0
//!            C0  = H(A0) ⊕ pa T_G ⊕ H(B0) ⊕ pb (T_E ⊕ A0)
//! evaluate   C   = H(A) ⊕ sa T_G ⊕ H(B) ⊕ sb (T_E ⊕ A)
//! ```
//!
//! **Constant time.** Labels, Δ and permute bits are secret; wires' places and gate numbers are public.

mod evaluator;
pub(crate) mod forms;
#[cfg(test)]
pub(crate) mod formulas;
mod garbler;
pub(crate) mod hash;
mod kernel;
mod shared;
#[cfg(test)]
mod tests;
mod work;

pub use evaluator::Evaluator;
pub use garbler::Garbler;

use hushwire_aes::Backend;
use hushwire_block::{Tagged, gates::xor_gates};
use hushwire_circuit::{Slot, Woven};
use std::ops::Range;

/// Half gates under any of their hashes.
pub enum HalfGates {}

impl crate::Family for HalfGates {
    type Garbler = Garbler;
    type Evaluator = Evaluator;
}

/// Free XORs, on any labels: see [`crate::GateBackend::xors`].
#[cfg(test)]
pub(crate) fn free_xors<K>(wires: &mut [Tagged<K>], strip: usize, gates: &[[Slot; 3]]) {
    free_xors_on(Backend::best(), wires, strip, gates);
}

/// The same on the vectors of a tier, single blocks where it is unbatched.
pub(crate) fn free_xors_on<K>(backend: Backend, wires: &mut [Tagged<K>], strip: usize, gates: &[[Slot; 3]]) {
    let tier = if backend.is_batched() { backend.tier() } else { backend.narrowed(1).tier() };
    xor_gates(tier, Tagged::blocks_mut(wires), strip, gates);
}

/// Of `layers`, those whose gates the present key serves, or the first, and their gates.
fn served_layers(woven: &Woven, layers: &Range<usize>, served: usize) -> (Range<usize>, usize) {
    let all = &woven.layers()[layers.clone()];
    let start = all.first().map_or(0, |layer| layer.ands.start);
    let now = all.partition_point(|layer| layer.ands.end - start <= served).max(1);
    let gates = all.get(now - 1).map_or(0, |layer| layer.ands.end - start);
    (layers.start..layers.start + now, gates)
}
