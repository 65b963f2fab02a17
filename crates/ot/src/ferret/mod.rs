//! Ferret: correlated OTs from learning parity with noise, a fraction of a bit on the wire for
//! each.
//!
//! **Functionality.** Random COT as in the crate's head: the sender gets q, the receiver t = q ⊕ bΔ
//! with b as bit 0, a chunk at a time ([`Extension`](crate::Extension)). The sender speaks: one
//! message a chunk, nothing comes back but in checks.
//!
//! **Paper.** Yang, Weng, Lan, Zhang, Wang, ePrint 2020/924, Fig. 3 (one-time set-up and
//! iterations), on regular noise; trees from Guo et al., ePrint 2022/1431, Fig. 3 and section 4
//! (correlated GGM, the half tree). The check is that of 2020/924, Fig. 7, with a challenge for
//! each chunk of trees.
//!
//! ```text
//! base     M = k + t h COTs: a table of k, then h for each tree (row-based, or the last round's
//!          refill)
//! tree     level 1 = (s, s ⊕ Δ); left = H(parent), right = left ⊕ parent; leaves sum to Δ
//!          the receiver knows all leaves but α, whose bits are ¬b of the tree's h COTs: nothing is
//!          chosen anew
//!          c_i = K_i ⊕ (⊕ left nodes of level i); at α the receiver holds leaf ⊕ Δ, with bit 0 set
//! output   leaf ⊕ ten entries of the table
//! round    R = ⌈M / 2^h⌉ trees become the next base, t − R come out
//! ```
//!
//! **Deviations.** Half trees instead of GGM with two sums a level, so h blocks a tree and no
//! message of choices. The refill is made with all of a round's chunks, a share with each, not with
//! its last: its trees are weighed by a challenge of their own, and what a base gives before the
//! check that covers it stays unverified until then. The 128 COTs that hide a check's place sum are
//! outputs of the segment's first chunk (set-up: last) that go nowhere else, not a part of the
//! base: any number of checks, whenever the caller wants one. Their choice bits, which nobody else
//! sees, hide the place sum, itself a public linear map of the round's noise: what the sender sees
//! is LPN with as many equations as without a check, 128 of which have dense rows for noise. COTs
//! of an earlier round, as in the paper, would need no such reading of the assumption. If a corrupt
//! sender made the spent ones inconsistent, then by errors that were fixed, as those of leaves,
//! before the challenges that weigh leaves were drawn, and the digest compares the sum of both. The
//! equality test is a digest from the sender: only the receiver has something to lose.
//!
//! **Security.** Computational, by LPN over GF(2) with regular noise and a 10-local code, 128 bits,
//! and a circular correlation robust hash for trees: fixed-key AES with σ, a public key for each
//! round. Inputs under one key are targets together: a receiver gets the hash of Δ ⊕ y, for y it
//! knows, from every level but the first, so that T calls of AES find Δ with probability T t (h
//! − 1) / 2^128: 2^114 calls for b13. Malicious parties are caught by the check: a wrong c passes
//! only where the sender has guessed the bits of α that its effect depends on, so a cheat that
//! learns j bits of α goes unseen with probability 2^−j; the LPN assumption is taken with that
//! leakage. Nothing may be used before its check. A wrong tree that nobody guessed at passes with
//! probability 2^−123 for each try at a challenge.
//!
//! Sets are SECURITY constants. Estimates in bits, by attack: Gaussian elimination on regular
//! noise; the better one of Briaud and Øygarden (2023) and the hybrid attack of ePrint 2025/1284;
//! the sparse rows of the 10-local code, of which those among few secrets determine these alone.
//! The last stand for secrets chosen by their degree / for the smallest set of secrets that may
//! exist, each with up to p wrong guesses (Stern).
//!
//! | set | n | k | t | h | Gauss | algebraic | sparse | bits per OT |
//! |---|---|---|---|---|---|---|---|---|
//! | b13 | 2^23 | 2^20 | 1024 | 13 | 253 | 245 | 155 / 148 | 0.23 |
//! | b12 | 2^22 | 2^19 | 1024 | 12 | 250 | 238 | 153 / 146 | 0.43 |
//! | b11 | 2^21 | 2^18 | 1024 | 11 | 247 | 232 | 151 / 144 | 0.79 |
//! | b10 | 2^20 | 2^17 | 1024 | 10 | 244 | 225 | 148 / 141 | 1.44 |
//! | b9 | 2^19 | 2^16 | 1024 | 9 | 242 | 218 | 145 / 138 | 2.62 |
//!
//! With elimination for nothing but a pass over the secrets the last column would still be 130 at
//! least. `scripts/lpn-parameters` computes all of them and fails below 138, and 130. The attack on
//! sparse rows and this table are our own analysis, which nobody has reviewed (docs/adr/0018). k =
//! 128 · 2^h, where the published sets have half of that or less: what a guess costs is k / 2^h.
//! More trees at the same k lower security. The attack of ePrint 2025/1476 was not estimated.
//! Whoever wants an assumption that is older than LPN's estimates takes a row-based extension.
//!
//! **Notation.** Δ, s, leaves, K (sender's COT), M (receiver's): blocks; χ: GF(2^128), one for each
//! leaf; α: leaf's place, h bits; table: k blocks.
//!
//! **Rounds and bytes.** A chunk has as many trees as the OTs that are wanted take, 8192 OTs at
//! most: 16 h bytes a tree from the sender. It has its share of the R trees of the refill before
//! them, but not where the round is enough for all OTs that will be taken, by the number given to
//! [`Extension::limit`](crate::Extension::limit). A check: 16 bytes from the receiver, 32 from
//! the sender, and 128 OTs. Set-up: `Set::rows` COTs of a row-based extension, then for all but b9
//! one message for each 64 trees of the smallest set of which a round is enough (b9; b10 for b12,
//! b11 for b13).
//!
//! **Constant time.** Secret: Δ, all COTs and leaves, α. Every node of a level is touched alike,
//! whatever α; χ at α is an AES call on α and products. Public: the code and with it the table's
//! entries that an output reads.

mod boot;
#[cfg(test)]
mod cheats;
mod check;
pub(crate) mod end;
pub(crate) mod nodes;
mod params;
#[cfg(test)]
pub(crate) mod rig;
#[cfg(test)]
mod tests;
pub(crate) mod tree;
mod weights;

pub use boot::Boot;
pub use end::Ferret;
pub(crate) use params::{B4, B5, B7};
pub use params::{B9, B10, B11, B12, B13, Set};
pub(crate) use weights::Weights;

/// The end that holds Δ.
pub type Sender<S> = Ferret<S, tree::SpcotSender>;
/// The end that holds choice bits.
pub type Receiver<S> = Ferret<S, tree::SpcotReceiver>;
/// The sender's set-up.
pub type SenderBoot<S> = Boot<S, tree::SpcotSender>;
/// The receiver's set-up.
pub type ReceiverBoot<S> = Boot<S, tree::SpcotReceiver>;
