//! Garbling from a pseudorandom function alone: S. Gueron, Y. Lindell, A. Nof, B. Pinkas, "Fast
//! garbling of circuits under standard assumptions", CCS 2015. XOR has one ciphertext, and AND has
//! two (4-to-2 row reduction).
//!
//! **Functionality.** An AND costs 260 bits, an XOR 128; NOT, and XOR with a constant, are free.
//!
//! **Deviations.** A label is 127 bits and its signal. The pad of a row's signal bit is the bit of
//! F that labels do not use. The input of F names the side, so that both operands of a gate may be
//! the same wire.
//!
//! **Security.** Semi-honest garbling privacy, κ = 127, without Δ, ideal cipher or public start
//! point. For ANDs, AES has to be a pseudorandom function under keys of which one bit is public.
//! The three calls of an XOR require more if its right operand has other uses. With b = 1, the
//! label of the result that the evaluator lacks is R\[0\] ⊕ F_{L\[a\]}(g, 0), so that AES runs
//! under two unknown keys with a known difference. If L is R, or was made from R by XORs, T hides
//! R\[0\] under AES with that key or such a related one.
//!
//! **Notation.** L, R: operands; L\[a\]: the label with signal a; πl, πr: the signal of truth value
//! 0; `g`: the gate's number; F_X(g, r): AES under X of LE64(g) ‖ LE64(r + 4 side). x' is x without
//! its bit 0, and x° is that bit. r = 2a + b.
//!
//! ```text
//! AND        K_r = F_{L[a]}(g, r) ⊕ F_{R[b]}(g, r)
//!            s = 2(1 − πl) + 1 − πr, the row of truth value 1
//! garble     T1 = πl ? K_2' ⊕ K_3' : K_0' ⊕ K_1'            T2 = πr ? K_1' ⊕ K_3' : K_0' ⊕ K_2'
//!            C^0 = K_0', C^1 = K_1' ⊕ K_2' ⊕ K_3', the other way round if s = 0
//!            π drawn; c_r = K_r° ⊕ π ⊕ [r = s]
//! evaluate   C = K_r' ⊕ b T1 ⊕ a T2, its signal K_r° ⊕ c_r
//!
//! XOR        D = F_{L[0]}(g, 0) ⊕ F_{L[1]}(g, 0)
//! garble     T = (F_{R[1]}(g, 0) ⊕ R[0] ⊕ D)'               π = πl ⊕ πr
//!            C^v = (F_{L^v}(g, 0) ⊕ R[0] ⊕ πr D)'           L^v: the label of truth value v
//! evaluate   C = b ? (F_L ⊕ F_R ⊕ T)' : (F_L ⊕ R)', its signal a ⊕ b
//! ```
//!
//! An evaluator computes F_R of every XOR although it needs only half of them: branches would cost
//! more.
//!
//! **Constant time.** Labels and permute bits are secret; the places of wires and the numbers of
//! gates are public.

mod end;
mod evaluator;
#[cfg(test)]
pub(crate) mod formulas;
mod garbler;
mod kernel;
mod linear;
mod queue;
#[cfg(test)]
mod tests;

pub use evaluator::Evaluator;
pub use garbler::Garbler;

use crate::Scheme;
use hushwire_block::{Block, Tagged};

/// The family of GLNP15.
pub enum PrfOnly {}

impl crate::Family for PrfOnly {
    type Garbler = Garbler;
    type Evaluator = Evaluator;
}

/// The kind of a label whose truth value is its place in a [`LabelPair`]. Bit 0 is its signal.
pub enum OfTruth {}

/// The garbler's wire: the labels of truth values 0 and 1. Their signals differ; they are otherwise
/// independent.
pub type LabelPair = [Tagged<OfTruth>; 2];

/// LOCAL: the largest number of gates in a call of a kernel.
const BATCH: usize = 1024;
/// The label that the evaluator holds for either constant.
const CONSTANT: Block = Block::ZERO;
/// The mask of all bits but the signal.
const LABEL: Block = Block::from_u128(!1);

/// The operand to which a label belongs.
#[derive(Clone, Copy)]
enum Operand {
    Left,
    Right,
}

/// The input of F. It is unique for each key, as gates' numbers are for each endpoint.
#[inline(always)]
const fn tweak(gate: u64, row: u8, side: Operand) -> Block {
    Block::from_u128(gate as u128 | ((row + 4 * side as u8) as u128) << 64)
}

fn signal(label: Block) -> u8 {
    label.0[0] & 1
}

/// `label` with the signal `bit`.
fn with_signal(label: Block, bit: u8) -> Block {
    let mut label = label & LABEL;
    label.0[0] |= bit & 1;
    label
}

/// # Panics
/// If the scheme is another one (the caller's bug).
fn assert_scheme(scheme: Scheme) {
    assert!(scheme == Scheme::Prf, "{scheme} is not PRF garbling");
}
