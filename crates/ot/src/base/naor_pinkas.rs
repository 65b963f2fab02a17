//! Naor–Pinkas: random OT in two messages, for semi-honest parties.
//!
//! Functionality: n OTs; S gets keys (m_{i,0}, m_{i,1}), R has bits b_i and gets m_{i,b_i}.
//!
//! Paper: Naor, Pinkas, "Efficient Oblivious Transfer Protocols", SODA 2001, with one r and one C
//! for all OTs, and without the final encryption: the keys are the result.
//!
//! ```text
//! S → R   C of unknown discrete logarithm, R = r G
//! R → S   P_{i,0}, where P_{i,b_i} = k_i G and P_{i,0} + P_{i,1} = C          i < n
//! S       m_{i,0} = H(i, 0, R, r P_{i,0}), m_{i,1} = H(i, 1, R, r C − r P_{i,0})
//! R       m_{i,b_i} = H(i, b_i, R, k_i R)
//! ```
//!
//! Deviations: every hash takes the session's name and i. S makes C by hashing to the group, and
//! does not prove this.
//!
//! Security: semi-honest; CDH in ristretto255, H a random oracle (BLAKE3 keyed for the session);
//! κ = 128.
//!
//! Constant time: r, k, b, m and the points that are hashed to m.

use curve25519_dalek::RistrettoPoint;
use hushwire_block::Block;
use hushwire_prg::Prg;
use subtle::{Choice, ConditionallySelectable};

use super::group::{Oracle, POINT};
use super::passive::TwoMessages;
use crate::Sid;

/// The base OTs of Naor and Pinkas.
pub struct NaorPinkas;

/// The trait's S is R, its T is C, and its β is k.
impl TwoMessages for NaorPinkas {
    const NAME: &'static str = "naor-pinkas";
    const FIRST: &'static str = "base OT parameters";
    const POINTS: usize = 2;

    fn half_t(prg: &mut Prg, sid: &Sid) -> Option<RistrettoPoint> {
        let mut random = [0; 32];
        prg.fill(&mut random);
        Some(Oracle::new("hushwire 2026 ot naor-pinkas C v1", sid).point(&random))
    }

    fn blind(half: RistrettoPoint, half_t: &RistrettoPoint, choice: bool) -> RistrettoPoint {
        RistrettoPoint::conditional_select(&half, &(half_t - half), Choice::from(u8::from(choice)))
    }

    fn other(half: &RistrettoPoint, half_st: &RistrettoPoint) -> RistrettoPoint {
        half_st - half
    }

    fn key(hash: &Oracle, (i, j): (usize, u8), [r, _]: [&[u8; POINT]; 2], secret: &[u8; POINT]) -> Block {
        hash.block(i, [&[j], r, secret])
    }
}
