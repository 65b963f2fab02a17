//! Privacy-free half gates: S. Zahur, M. Rosulek, D. Evans, "Two halves make a whole", Eurocrypt
//! 2015, the section on privacy-free garbling; one ciphertext an AND.
//!
//! **Functionality.** The evaluator knows the value of every wire, and ends with labels that prove
//! outputs to the garbler: what proofs of statements about a private input need, for one. XOR and
//! NOT are free; an AND costs 128 bits.
//! **Deviations.** The hash is the multi-instance one (ePrint 2019/1168), gate `g` has tweak g; its
//! bit 0 is cleared, so that bit 0 of every label is the wire's value, and 127 bits of a label are
//! secret.
//! **Security.** Authenticity, semi-honest, κ = 127, in the ideal-cipher model: without Δ nobody
//! makes the label of the value that a wire does not have. No privacy: signals are values.
//! **Notation.** A0, B0: labels of truth value 0, bit 0 clear; Δ: bit 0 is 1; H: the hash with bit
//! 0 cleared.
//!
//! ```text
//! garble     T  = H(A0) ⊕ H(A1) ⊕ B0        C0 = H(A0)
//! evaluate   C  = H(A) ⊕ a (T ⊕ B)          a: bit 0 of A, the value
//! ```
//!
//! **Inputs.** Bit 0 of what the evaluator holds must be the value: it takes the public block of
//! [`crate::Garble::own`] with its bit 0 replaced, and correlated OTs whose q has bit 0 clear.
//!
//! **Constant time.** Labels and Δ are secret, values too (the garbler does not know them, and no
//! time shows them).

mod ends;
mod kernel;
#[cfg(test)]
mod tests;

use crate::free::{End, Evaluating, Garbling};

/// Makes privacy-free half gates.
pub type Garbler = End<Garbling, ends::OneBlock>;
/// Uses privacy-free half gates.
pub type Evaluator = End<Evaluating, ends::OneBlock>;

/// Privacy-free half gates.
pub enum PrivacyFree {}

impl crate::Family for PrivacyFree {
    type Garbler = Garbler;
    type Evaluator = Evaluator;
}
