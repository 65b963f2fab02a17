//! Three halves: M. Rosulek, L. Roy, "Three halves make a whole? Beating the half-gates lower bound
//! for garbled circuits", Crypto 2021 (ePrint 2021/749).
//!
//! **Functionality.** XOR and NOT are free. An AND costs 197 bits: three half ciphertexts G0, G1,
//! G2 and five control bits z.
//!
//! **Deviations.** The hash is the multi-instance one, AES_{S⊕t}(σ(X)) ⊕ σ(X), in place of a random
//! oracle. Gate g has the tweaks t = 3g for A, 3g + 1 for B and 3g + 2 for A ⊕ B. The pair (r, r')
//! that hides the control matrices is pseudo-random.
//!
//! **Security.** Semi-honest garbling privacy, κ = 128, in the ideal-cipher model, with a fresh
//! start point S for each session (ePrint 2019/1168), and with σ as below.
//!
//! **Notation.** A block is (X_L, X_R): X_L is bytes 0 to 7, with the signal as bit 0; X_R is bytes
//! 8 to 15. H(X) = (h, m): h is bytes 0 to 7 of the hash, m is its bit 64, and the rest is unused.
//! Bit 0 of Δ is 1. A0, B0 are the labels of **signal** 0, and A1 = A0 ⊕ Δ. Wires hold labels of
//! truth value 0, so that A0 = truth-0 ⊕ pa Δ, where pa is bit 0 of that label. The output is 1 at
//! signals (a, b) = (¬pa, ¬pb); t_ij = [(i, j) = (a, b)].
//!
//! ```text
//! control    R_ij = r_ij S1 ⊕ r'_ij S2 ⊕ P_ij, rows (out_L, out_R), columns (A_L, A_R, B_L, B_R)
//!            S1 = 1110   S2 = 1001   P00 = 0010   P01 = 0010   P10 = 0000   P11 = 0
//!                 1001        0111         0100         0000         0100
//!            (r, r')_00 = (r, r')                  (r, r')_01 = (r ⊕ a ⊕ b, r' ⊕ a)
//!            (r, r')_10 = (r ⊕ b, r' ⊕ a ⊕ b)      (r, r')_11 = (r ⊕ a, r' ⊕ b)
//! garble     base_ij = (h(A_i), h(B_j)) ⊕ (1, 1) h(A_i ⊕ B_j) ⊕ R_ij(A_i, B_j)
//!            C0 = base_00 ⊕ t00 Δ: the output's truth value 0
//!            (G0, G1) = base_11 ⊕ t11 Δ ⊕ C0       G2 = (base_01 ⊕ t01 Δ ⊕ C0)_L
//!            z0 = r ⊕ m(A0) ⊕ m(A0 ⊕ B0)           z1 = r' ⊕ m(B0) ⊕ m(A0 ⊕ B0)
//!            z2 = a ⊕ m(A0) ⊕ m(A1)                z3 = b ⊕ m(B0) ⊕ m(B1)
//!            z4 = a ⊕ b ⊕ m(A0 ⊕ B0) ⊕ m(A0 ⊕ B1)
//! evaluate   r_ij = z0 ⊕ i z2 ⊕ (i ⊕ j) z4 ⊕ m(A) ⊕ m(A ⊕ B)
//!            r'_ij = z1 ⊕ j z3 ⊕ (i ⊕ j) z4 ⊕ m(B) ⊕ m(A ⊕ B)
//!            C = (h(A), h(B)) ⊕ (1, 1) h(A ⊕ B) ⊕ (i G0, j G1) ⊕ (1, 1) (i ⊕ j) G2 ⊕ R_ij(A, B)
//! ```
//!
//! **σ.** The scheme requires that H is randomised tweakable circular correlation robust for the
//! functions L(Δ) = c Δ_L ⊕ c' Δ_R, with c, c' ∈ GF(2). In each of G0, G1 and G2, all hashes but
//! one, h(X ⊕ Δ) with a tweak t of its own, belong to labels that the evaluator holds. The other
//! part that it does not know is such an L(Δ); all four occur. As σ is linear, the evaluator holds
//!
//! ```text
//! AES_{S⊕t}(σ(X) ⊕ σ(Δ))_L ⊕ M Δ        M Δ = σ(Δ)_L ⊕ c Δ_L ⊕ c' Δ_R
//! ```
//!
//! The choice σ(X_L, X_R) = (α X_L, α X_R) with α = x in GF(2^64) gives M Δ = (α ⊕ c) Δ_L ⊕ c' Δ_R.
//! M has rank 64 for every c and c', because α is neither 0 nor 1. With the control bit m, which z
//! may reveal as well, the rank is 65. The evaluator's part of the ciphertext is therefore masked
//! by the part of Δ that it does not know, and the other half of the ciphertext is never sent.
//! Under the key of a tweak two blocks are encrypted, those of X and X ⊕ Δ. A call to the ideal
//! cipher with this key tests one guess of Δ. An encryption tests its argument. A decryption
//! succeeds if its argument is the ciphertext, all of whose bits are unknown. Either succeeds with
//! probability 2^−127 (bit 0 of Δ is public). α also lies outside GF(4), which keeps both halves of
//! H together at rank 128 for every matrix of the paper's form. The σ of half gates, (X_R, X_L ⊕
//! X_R) in this notation, gives M Δ = 0 for L(Δ) = Δ_R: half a ciphertext is then known, and
//! finding Δ costs 2^64 decryptions.
//!
//! **Revisions.** [`Scheme::agreed`](crate::Scheme::agreed) names the revision. The first revision
//! had the σ of half gates, and is refused.
//!
//! **Bytes.** A gate has G0, G1, G2, little-endian, and a byte of bits with z0 in bit 0 to z4 in
//! bit 4.
//!
//! **Constant time.** Labels, Δ, permute bits, (r, r') and hashes are secret; the places of wires,
//! the numbers of gates and z are public.

#[cfg(test)]
mod attack;
mod ends;
#[cfg(test)]
pub(crate) mod formulas;
mod kernel;
#[cfg(test)]
mod plain;
mod sigma;
#[cfg(test)]
mod tests;

use crate::free::{End, Evaluating, Garbling};

/// Makes three halves.
pub type Garbler = End<Garbling, ends::ThreeHalvesAnds>;
/// Uses three halves.
pub type Evaluator = End<Evaluating, ends::Used>;

/// Three halves.
pub enum ThreeHalves {}

impl crate::Family for ThreeHalves {
    type Garbler = Garbler;
    type Evaluator = Evaluator;
}
