//! Stores whose rows are bands. They have fewer entries than a clustered store, but each entry
//! takes more work.
//!
//! **Functionality.** As [`super`]: the value of a digest is the exclusive or of those entries,
//! among w consecutive ones, that the bits of its band select.
//!
//! **Paper.** Bienstock, Patel, Seo and Yeo, "Near-Optimal Oblivious Key-Value Stores for Efficient
//! PSI, PSU and Volume-Hiding Multi-Maps", USENIX Security 2023: random band matrices
//! (Dietzfelbinger and Walzer, ESA 2019).
//!
//! ```text
//! digest    bin 4 │ start 4 │ … │ seed 16 │ value 8              bytes; start to 8, seed from 8 on
//! band      the first w bits of AES(seed), AES(seed ⊕ 1), AES(seed ⊕ 2), …, under one public key
//! value     = ⊕ P[start + i] over the bits i of the band
//! solve     rows in the order of their starts; each is reduced from the left by the rows that lead
//!           with its leading bit, until it leads with a bit that no row leads with; then entries
//!           from the last one to the first
//! ```
//!
//! **Deviations.** Clusters: there are bins as in a clustered store, so that the first part of a
//! store is on its way while the next is solved. Rows are words of a ring of 512 columns, which no
//! shift moves. A row is reduced until it leads with a free column, not until it has no column that
//! another row leads with. AES makes the bits: a generator that is linear over GF(2), such as a
//! shift register, would make rows dependent.
//!
//! **Failure.** The probability is below 2^−λ' for a bin of n rows, λ' = 41 + log2 bins as in a
//! clustered store, with m = n + ⌈ε n⌉ + 48 entries and w = 448 or all of them. Go through the
//! columns, and give each to the row with the nearest end among the rows that have its bit; add
//! that row to the others. Their bits stay independent and uniform, since it ends first. Rows thus
//! wait in a queue in which each column serves one row, unless no waiting row has its bit. The
//! system is singular iff a row waits for w columns. Apart from that exception, it is an M/D/1
//! queue of rate 1/(1 + ε); arrivals are less scattered than Poisson's. Kingman bounds the
//! probability of a wait of w by e^(−η w), e^η − 1 = (1 + ε) η. ε is chosen such that n e^(−η (w −
//! 8)) = 2^−λ': 0.050 for bins of 2^18. The 8 columns allow for those whose bit no row has. If few
//! rows remain, they form a matrix of random bits, for which 48 additional columns leave 2^−48.
//! Replacing the matrix by the ideal queue is an assumption, not a proof. Experiments support it
//! (ADR 20): in 32 settings with n = 256 … 16 384, w = 32 … 64, ε = 0.05 … 0.15 and up to 2·10^6
//! systems each, fewer failed than n e^(−η w) predicts, by factors of 2 to 130, and of at least 10
//! at 0.05. Tests repeat such counts.
//!
//! **Constant time.** As for [`super`]: the start determines which entries are read. When values
//! are read, a table indexed by a byte of the band's bits turns these into masks, without branches.
//! Solving branches on the bits. Both depend only on the party's own digests.

mod decode;
mod rows;
mod solve;
#[cfg(test)]
mod tests;

pub(super) use decode::decode;
pub(super) use rows::Band;
pub(super) use solve::Solver;
