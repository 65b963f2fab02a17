//! OT extension by rows: IKNP, ALSZ15, KOS and SoftSpoken over one core.
//!
//! # Functionality
//! Random correlated OTs, see [`crate::Extension`]: the sender gets q, the receiver t = q ⊕ bΔ with
//! its random choice b as bit 0. A set-up ([`SetupSender`], [`SetupReceiver`]) makes keys from a
//! few base OTs. [`RootSender::fork`] and [`RootReceiver::fork`] make any number of extensions from
//! these keys, one for each lane.
//!
//! ```text
//! receiver, tree i, leaves x   u_i = ⊕ r_x, v_{i,b} = ⊕ of those r_x where bit b of x is 1,
//!                              r_x = AES_leaf x(counter)
//! message                      d_i = u_i ⊕ u_0, for i ≥ 1; the choices are u_0
//! sender, all leaves but α_i   w_{i,b} = ⊕ of those r_x where bit b of x ⊕ α_i is 1, then ⊕
//!                              α_{i,b} d_i
//! so                           w_{i,b} = v_{i,b} ⊕ α_{i,b} u_0: rows of all OTs. Columns of
//!                              128 rows are the blocks q and t; 192 are compressed first
//! ```
//!
//! # Paper
//! | kind | rows of Δ | k | trees | source |
//! |---|---|---|---|---|
//! | `iknp` | 128 | 1 | 127 | IKNP (CRYPTO 2003), with streams from seeds as ALSZ (CCS 2013) |
//! | `kos` | 128 | 1 | 127 | KOS (CRYPTO 2015), with the check of Roy (ePrint 2022/192) |
//! | `alsz` | 192 | 1 | 191 | ALSZ (EUROCRYPT 2015) |
//! | `softspoken2`, `4`, `8` | 128 | 2, 4, 8 | 64, 32, 16 | Roy, ePrint 2022/192 |
//!
//! # Deviations
//! - Bit 0 of Δ is 1 by definition, so that row 0 need not be made: its q is 0, and its t is the
//!   choice. With k = 1 the receiver makes u_0 from a key of its own, which saves one base OT. Δ
//!   has 127 secret bits.
//! - The sender stores leaf y ⊕ α_i at place y, so that the leaf that it lacks is at place 0, and
//!   no access depends on α.
//! - The first level of a tree is the two keys of a base OT; inner levels are corrected, as in any
//!   punctured PRF.
//! - Challenges are drawn for each chunk, right after the chunk's message, so that folding finds
//!   the rows in the cache. The challenge of the last column is drawn in the same way; the reason
//!   is below.
//! - KOS's own check is not used, since its Lemma 1 does not hold (Roy, appendix D).
//! - ALSZ15 has 190 base OTs and 380 pairs at κ = 128, ρ = 40. Here 192 rows make whole words, and
//!   191 of them are compared with 4 others each. Hashes are over folds of rows instead of rows. A
//!   fixed linear code compresses 192 bits to 128, where ALSZ15 hashes.
//!
//! # Security
//! κ = 128, ρ = 40. Semi-honest: AES as a PRG (counter mode under every leaf), and for trees the
//! ideal cipher (`ggm_level`). Malicious: base OTs that allow selective failure, and BLAKE3 as a
//! random oracle, with these arguments:
//!
//! *Trees (k ≥ 2).* Every node of the last level becomes a leaf and two check blocks. A digest of
//! all check blocks binds the receiver to all leaves (256 bits for each leaf, so that collisions do
//! not help). The sum of the check blocks of a tree lets the sender compute those that it lacks. A
//! wrong correction is a guess of the bit that would make the sender use it.
//!
//! *Rows.* Suppose that the receiver sends d_i ⊕ e_i. The sender's row is then v ⊕ α (u_0 ⊕ e_i),
//! and the check passes only if the receiver knows α_{i,b} (û_0 ⊕ ê_i ⊕ x) for every row, where x
//! is what it sent and ^ is the fold. Trees with ê_i = û_0 ⊕ x cost it nothing. Any other tree
//! costs it all k bits of its α_i: the check passes with probability 2^-c for c bits, and nothing
//! is learnt about the others. Trees with different e_i have different ê_i, for the following
//! reason. Let chunk c be the last in which e_i ≠ e_j. Its χ are drawn from a hash that binds these
//! e, all earlier ones and the set-up. The fold's terms from other chunks do not depend on these χ,
//! so that ê_i = ê_j with probability 2^-128 for each query. This argument holds for a sum over any
//! number of chunks, each with its own challenge. It is why the last column, which hides x, has a χ
//! of its own that is drawn after its message. With coefficient 1 the receiver would choose e in
//! that column when it knows everything else, and cancel all deviations.
//!
//! *Pairs.* See `pairs`. The sender draws the challenge, because the receiver must not be able to
//! try a probability of 2^-48 offline.
//!
//! *Lanes and sessions.* Counters are (lane, column), a lane is forked once, and challenges bind
//! sid, lane and set-up.
//!
//! # Notation
//! | here | paper | what |
//! |---|---|---|
//! | k, tree i, α_i | k, i, Δ_i | bits k·i to k·i + k − 1 of Δ, lowest first |
//! | u_i, v, w, d_i | u, v, w, c | rows of a chunk: W columns of 128 OTs, a bit each |
//! | χ, ^ | R | fold coefficients in GF(2^128), one a column; a row's fold |
//!
//! # Rounds and bytes
//! [`RowKind::cost`] declares the costs, and a test measures them. The set-up has the messages of
//! the base OTs, then for k ≥ 2 one message of the receiver. A chunk is one message of the
//! receiver, with trees − 1 bits for each OT. A full chunk has 8192 OTs; a shorter one rounds up to
//! a multiple of 512 and keeps the rest for the next calls. A check is one message of the receiver
//! (rows), or one of the sender and one back (pairs).
//!
//! # Constant time
//! Δ, all nodes and leaves, u, v and w are secret. No branch or index depends on them. Operations
//! that depend on bits of Δ are masked or selected, and an abort does not tell where values
//! differed.

mod base;
mod compress;
mod delta;
mod kind;
mod mask;
mod pairs;
mod receiver;
mod root;
mod segment;
mod sender;
mod setup;
mod stock;
mod tree;

#[cfg(test)]
mod tests;

pub use kind::{Cost, RowKind};
pub use root::{RootReceiver, RootSender};
pub use setup::{SetupReceiver, SetupSender};

#[cfg(test)]
pub(crate) use delta::{Delta, Path};
#[cfg(test)]
pub(crate) use segment::Closed;
#[cfg(test)]
pub(crate) use stock::Stock;
