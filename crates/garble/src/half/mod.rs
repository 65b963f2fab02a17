//! Half gates: S. Zahur, M. Rosulek, D. Evans, "Two halves make a whole", Eurocrypt 2015, figure 2,
//! with two ciphertexts for each AND.
//!
//! **Functionality.** XOR and NOT are free; an AND costs 256 bits.
//!
//! **Deviations.** The hash is one of the four below, in place of the paper's doubling. Gate `g`
//! has the tweaks 2g and 2g + 1.
//!
//! **Security.** Semi-honest garbling privacy, κ = 128. The assumptions depend on the hash: PRP is
//! in the ideal-permutation model, with one key for 2^20 gates (SECURITY). MI is in the
//! ideal-cipher model, with a fresh start point for each session (ePrint 2019/1168). MI4 is in the
//! same model, with eight times the bound (`shared.rs`). CIRC assumes that AES is circularly
//! correlation robust with the label as its key.
//!
//! **Notation.** A0, B0: the labels of truth value 0; pa, pb: their bit 0; Δ: bit 0 is 1; H_t: the
//! hash with tweak t.
//!
//! ```text
//! garble     T_G = H(A0) ⊕ H(A1) ⊕ pb Δ        T_E = H(B0) ⊕ H(B1) ⊕ A0
//!            C0  = H(A0) ⊕ pa T_G ⊕ H(B0) ⊕ pb (T_E ⊕ A0)
//! evaluate   C   = H(A) ⊕ sa T_G ⊕ H(B) ⊕ sb (T_E ⊕ A)
//! ```
//!
//! **Constant time.** Labels, Δ and permute bits are secret; the places of wires and the numbers of
//! gates are public.

mod ends;
pub(crate) mod forms;
#[cfg(test)]
pub(crate) mod formulas;
pub(crate) mod hash;
mod kernel;
mod shared;
#[cfg(test)]
mod tests;
mod work;

use crate::free::{End, Evaluating, Garbling};
use hushwire_aes::Backend;
use hushwire_block::{Tagged, gates::xor_gates};
use hushwire_circuit::Slot;

/// Makes half gates.
pub type Garbler = End<Garbling, ends::HalfAnds>;
/// Uses half gates.
pub type Evaluator = End<Evaluating, ends::HalfAnds>;

/// Half gates with any of their hashes.
pub enum HalfGates {}

impl crate::Family for HalfGates {
    type Garbler = Garbler;
    type Evaluator = Evaluator;
}

/// Free XORs, on the vectors of a tier, or on single blocks without batching; see
/// [`crate::GateBackend::xors`].
pub(crate) fn free_xors_on<K>(backend: Backend, wires: &mut [Tagged<K>], strip: usize, gates: &[[Slot; 3]]) {
    let tier = if backend.is_batched() { backend.tier() } else { backend.narrowed(1).tier() };
    xor_gates(tier, Tagged::blocks_mut(wires), strip, gates);
}
