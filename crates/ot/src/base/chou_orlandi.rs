//! Chou–Orlandi: random OT in two messages, for semi-honest parties.
//!
//! Functionality: n OTs; S gets keys (m_{i,0}, m_{i,1}), R has bits b_i and gets m_{i,b_i}.
//!
//! Paper: Chou, Orlandi, "The Simplest Protocol for Oblivious Transfer", Latincrypt 2015, figure 1,
//! without the final encryption: the keys are the result.
//!
//! ```text
//! S → R   A = a G
//! R → S   B_i = β_i G + b_i A                     i < n
//! S       m_{i,0} = H(i, A, B_i, a B_i), m_{i,1} = H(i, A, B_i, a B_i − a A)
//! R       m_{i,b_i} = H(i, A, B_i, β_i A)
//! ```
//!
//! Deviations: every hash takes the session's name and i.
//!
//! Security: semi-honest; CDH in ristretto255, H a random oracle (BLAKE3 keyed for the session); κ
//! = 128. The protocol is not UC: a corrupted receiver's choices cannot be extracted in time.
//!
//! Constant time: a, β, b, m and the points that are hashed to m.

use curve25519_dalek::RistrettoPoint;
use hushwire_block::Block;
use hushwire_prg::Prg;

use super::group::{self, Oracle, POINT};
use super::passive::TwoMessages;
use crate::Sid;

/// The base OTs of Chou and Orlandi.
pub struct ChouOrlandi;

/// Both S and T are A.
impl TwoMessages for ChouOrlandi {
    const NAME: &'static str = "chou-orlandi";
    const FIRST: &'static str = "base OT point";
    const POINTS: usize = 1;

    fn half_t(_: &mut Prg, _: &Sid) -> Option<RistrettoPoint> {
        None
    }

    fn blind(half: RistrettoPoint, half_t: &RistrettoPoint, choice: bool) -> RistrettoPoint {
        group::blind(half, half_t, choice)
    }

    fn other(half: &RistrettoPoint, half_st: &RistrettoPoint) -> RistrettoPoint {
        half - half_st
    }

    fn key(hash: &Oracle, (i, _): (usize, u8), [a, b]: [&[u8; POINT]; 2], secret: &[u8; POINT]) -> Block {
        hash.block(i, [a, b, secret])
    }
}
