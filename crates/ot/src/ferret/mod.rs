//! Ferret: correlated OTs from learning parity with noise. Each OT costs a fraction of a bit to a
//! few bits on the wire, depending on the set.
//!
//! **Functionality.** Random COT as in the crate's documentation: the sender gets q, the receiver t
//! = q ⊕ bΔ with b as bit 0, one chunk at a time ([`Extension`](crate::Extension)). The sender
//! speaks: it sends one message for each chunk, and the receiver sends messages only in checks.
//!
//! **Paper.** Yang, Weng, Lan, Zhang, Wang, ePrint 2020/924, Fig. 3 (one-time set-up and
//! iterations), with regular noise. The trees are from Guo et al., ePrint 2022/1431, Fig. 3 and
//! section 4 (correlated GGM, the half tree). The check is that of 2020/924, Fig. 7, with a
//! challenge for each chunk of trees.
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
//! **Deviations.**
//!
//! - Half trees replace GGM trees with two sums for each level, so that a tree takes h blocks and
//!   no message of choices.
//! - The refill is spread over all chunks of a round, not made with the last one. Its trees are
//!   weighed by challenges of their own. The OTs that come from a base stay unverified until the
//!   check that covers the base has passed.
//! - The 128 COTs that hide a check's sum of places are outputs of the segment's first chunk (in
//!   the set-up: of the last one). They are used for nothing else, and are not a part of the base,
//!   so that there can be any number of checks at any time. Their choice bits, which the sender
//!   never sees, hide the sum of places; that sum is a public linear map of the round's noise. The
//!   sender's view is therefore LPN with as many equations as without a check, of which 128 have
//!   dense rows for noise. COTs of an earlier round, as in the paper, would not need this extension
//!   of the assumption. If a corrupted sender makes the spent COTs inconsistent, its errors are
//!   fixed, like those of leaves, before the challenges that weigh leaves are drawn, and the digest
//!   compares the sum of both.
//! - The equality test is a digest from the sender, since only the receiver has secrets that it
//!   could lose.
//!
//! **Security.** Computational, 128 bits. The assumptions are LPN over GF(2) with regular noise and
//! a 10-local code, and a circular correlation robust hash for trees: fixed-key AES with σ, and a
//! public key for each round. All inputs under one key can be attacked together. A receiver gets
//! the hash of Δ ⊕ y, for a y that it knows, from every level but the first, so that T calls of AES
//! find Δ with probability T t (h − 1) / 2^128. For b13 this takes 2^114 calls. Malicious parties
//! are caught by the check. A wrong c passes only if the sender has guessed the bits of α on which
//! its effect depends, so that a cheat that learns j bits of α passes with probability 2^−j. The
//! LPN assumption includes this leakage. No OT may be used before its check. A wrong tree without a
//! guess passes with probability 2^−123 for each attempt at a challenge.
//!
//! Sets are SECURITY constants. The table has estimates in bits for each attack: Gaussian
//! elimination on regular noise; the better one of Briaud and Øygarden (2023) and the hybrid attack
//! of ePrint 2025/1284; and the attack on the sparse rows of the 10-local code, where the rows
//! among few secrets determine these secrets alone. The last has two estimates: for secrets chosen
//! by their degree, and for the smallest set of secrets that may exist. Both allow up to p wrong
//! guesses (Stern).
//!
//! | set | n | k | t | h | Gauss | algebraic | sparse | bits per OT |
//! |---|---|---|---|---|---|---|---|---|
//! | b13 | 2^23 | 2^20 | 1024 | 13 | 253 | 245 | 155 / 148 | 0.23 |
//! | b12 | 2^22 | 2^19 | 1024 | 12 | 250 | 238 | 153 / 146 | 0.43 |
//! | b11 | 2^21 | 2^18 | 1024 | 11 | 247 | 232 | 151 / 144 | 0.79 |
//! | b10 | 2^20 | 2^17 | 1024 | 10 | 244 | 225 | 148 / 141 | 1.44 |
//! | b9 | 2^19 | 2^16 | 1024 | 9 | 242 | 218 | 145 / 138 | 2.62 |
//!
//! If elimination cost no more than a pass over the secrets, the estimates for sparse rows would
//! still be at least 130. `scripts/lpn-parameters` computes all of them, and fails if they are
//! below 138 and 130. The attack on sparse rows and this table are our own analysis, which nobody
//! has reviewed (docs/adr/0018). k = 128 · 2^h, where the published sets have half of that or less:
//! the cost of a guess is k / 2^h. More trees at the same k lower the security. The attack of
//! ePrint 2025/1476 was not estimated. Users who want an older assumption than these estimates of
//! LPN can take a row-based extension.
//!
//! **Notation.** Δ, s, leaves, K (the sender's COTs), M (the receiver's COTs): blocks; χ: elements
//! of GF(2^128), one for each leaf; α: a leaf's place, h bits; table: k blocks.
//!
//! **Rounds and bytes.** A chunk has as many trees as the requested OTs need, at most 8192 OTs, and
//! 16 h bytes from the sender for each tree. Its share of the R trees of the refill comes before
//! them. There is no refill if the round is enough for all OTs that will be taken, by the number
//! given to [`Extension::limit`](crate::Extension::limit). A check takes 16 bytes from the
//! receiver, 32 from the sender, and 128 OTs. The set-up takes `Set::rows` COTs of a row-based
//! extension. For all sets but b9 it then takes one message for every 64 trees of the smallest set
//! of which a round is enough (b9; b10 for b12, b11 for b13).
//!
//! **Constant time.** Secret: Δ, all COTs and leaves, α. The accesses to every node of a level do
//! not depend on α; χ at α is computed by an AES call on α and products. Public: the code, and with
//! it the entries of the table that an output reads.

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

/// The endpoint that holds Δ.
pub type Sender<S> = Ferret<S, tree::SpcotSender>;
/// The endpoint that holds choice bits.
pub type Receiver<S> = Ferret<S, tree::SpcotReceiver>;
/// The sender's set-up.
pub type SenderBoot<S> = Boot<S, tree::SpcotSender>;
/// The receiver's set-up.
pub type ReceiverBoot<S> = Boot<S, tree::SpcotReceiver>;
