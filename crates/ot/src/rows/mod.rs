//! OT extension by rows: IKNP, ALSZ15, KOS and SoftSpoken over one core.
//!
//! # Functionality
//! Random correlated OTs, see [`crate::Extension`]: the sender gets q, the receiver t = q ⊕ bΔ with
//! its random choice b as bit 0. A set-up ([`SetupSender`], [`SetupReceiver`]) makes keys from a
//! few base OTs; [`RootSender::fork`] and [`RootReceiver::fork`] make any number of extensions from
//! them, one a lane.
//!
//! ```text
//! receiver, tree i, leaves x   u_i = ⊕ r_x, v_{i,b} = ⊕ of those r_x where bit b of x is 1,
//!                              r_x = AES_leaf x(counter)
//! message                      d_i = u_i ⊕ u_0, for i ≥ 1; the choices are u_0
//! sender, all leaves but α_i   w_{i,b} = ⊕ of those r_x where bit b of x ⊕ α_i is 1, then ⊕
//!                              α_{i,b} d_i
//! so                           w_{i,b} = v_{i,b} ⊕ α_{i,b} u_0: 128 rows, turned into a block an
//!                              OT
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
//! - Bit 0 of Δ is 1 by definition, so that row 0 need not be made: q is 0 there and t the choice.
//!   With k = 1 the receiver makes u_0 from a key of its own, and one base OT less is needed. Δ has
//!   127 secret bits.
//! - The sender keeps leaf y ⊕ α_i at place y, so that the leaf that it lacks is at 0 and no access
//!   depends on α.
//! - The first level of a tree is the two keys of a base OT; inner levels are corrected, as in any
//!   punctured PRF.
//! - Challenges are drawn chunk by chunk, right after the chunk's message, so that folding finds
//!   rows in the cache; that of the last column too; the reason is below.
//! - KOS's own check is not used: its Lemma 1 does not hold (Roy, appendix D).
//! - ALSZ15 has 190 base OTs and 380 pairs at κ = 128, ρ = 40; here 192 rows make whole words, 191
//!   of them are compared with 4 others each, hashes are over folds of rows instead of rows, and a
//!   fixed linear code compresses 192 bits to 128 where ALSZ15 hashes.
//!
//! # Security
//! κ = 128, ρ = 40. Semi-honest: AES as a PRG (counter mode under every leaf), and for trees the
//! ideal cipher (`ggm_level`). Malicious, base OTs that allow selective failure, BLAKE3 as a random
//! oracle:
//!
//! *Trees (k ≥ 2).* Every node of the last level becomes a leaf and two check blocks. A digest of
//! all check blocks binds the receiver to all leaves (256 bits a leaf, no useful collisions); their
//! sum per tree lets the sender fill in what it lacks. A wrong correction is a guess of the bit
//! that would make the sender use it.
//!
//! *Rows.* Say the receiver sends d_i ⊕ e_i. The sender's row then is v ⊕ α (u_0 ⊕ e_i), and the
//! check passes only if the receiver knows α_{i,b} (û_0 ⊕ ê_i ⊕ x) for every row, x being what it
//! sent and ^ the fold. Trees with ê_i = û_0 ⊕ x cost it nothing; any other costs it all k bits of
//! its α_i: 2^-c for c bits, and nothing is learnt about the others. That trees with different e_i
//! have different ê_i: let chunk c be the last in which e_i ≠ e_j. Its χ are drawn from a hash that
//! binds these e, all earlier ones and the set-up, and what the fold gets from other chunks does
//! not depend on them, so ê_i = ê_j with probability 2^-128 a query. This holds for a sum over
//! chunks each with its own challenge, in any number, and is why the last column, which hides x,
//! has a χ of its own drawn after its message: with coefficient 1 the receiver would choose e there
//! when it knows all else, and cancel everything.
//!
//! *Pairs.* In `pairs`; the sender draws the challenge, because 2^-48 must not be tried offline.
//!
//! Between lanes and sessions: counters are (lane, column), a lane is forked once, challenges bind
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
//! [`RowKind::cost`] declares, a test measures. Set-up: the base OTs', then for k ≥ 2 one message
//! of the receiver. Chunk: one message of the receiver, trees − 1 bits an OT; a full chunk is 8192
//! OTs, a shorter one rounds up to 512 and keeps the rest for the next calls. Check: one message of
//! the receiver (rows); one of the sender and one back (pairs).
//!
//! # Constant time
//! Secret are Δ, all nodes and leaves, u, v, w. Nothing branches on or indexes by them; what is
//! conditional on bits of Δ is masked or selected, and an abort does not say where it differed.

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
