//! Privacy-free half gates: S. Zahur, M. Rosulek, D. Evans, "Two halves make a whole", Eurocrypt
//! 2015, the section on privacy-free garbling, with one ciphertext for each AND.
//!
//! **Functionality.** The evaluator knows the value of every wire, and obtains labels that prove
//! the outputs to the garbler. Proofs of statements about a private input are one use. XOR and NOT
//! are free; an AND costs 128 bits.
//!
//! **Deviations.** The hash is the multi-instance one (ePrint 2019/1168), and gate `g` has tweak g.
//! Bit 0 of the hash is cleared, so that bit 0 of every label is the wire's value, and 127 bits of
//! a label are secret.
//!
//! **Security.** Authenticity, semi-honest, κ = 127, in the ideal-cipher model: without Δ nobody
//! can make the label of the value that a wire does not have. There is no privacy: signals are
//! values.
//!
//! **Notation.** A0, B0: the labels of truth value 0, with bit 0 clear; Δ: bit 0 is 1; H: the hash
//! with bit 0 cleared.
//!
//! ```text
//! garble     T  = H(A0) ⊕ H(A1) ⊕ B0        C0 = H(A0)
//! evaluate   C  = H(A) ⊕ a (T ⊕ B)          a: bit 0 of A, the value
//! ```
//!
//! **Inputs.** Bit 0 of the evaluator's label must be the value. For the garbler's inputs, the
//! evaluator takes the public block of [`crate::Garble::own`] with its bit 0 replaced. For its own
//! inputs, the correlated OTs must give q with bit 0 clear.
//!
//! **Constant time.** Labels and Δ are secret. Values are secret, too: the garbler does not know
//! them, and no time depends on them.

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
