//! Private set intersection of two parties' keys: which keys are in both sets, or how many, and
//! nothing else.
//!
//! ```text
//! keys     Keys, Set   keys of a table's rows in an agreed form, and the different ones among them
//! columns  Carried     columns that one party brings for the other, as payloads of its keys
//! salt     Salt        keys as values of 40 + log a + log b bits, values as bins
//! tables   cuckoo, …   values in A's cuckoo table, in B's simple table
//! plan     PsiTerms, …  the terms that both agree on, and the plan from the sets' sizes
//! session  intersect   one party's endpoint of a run
//!
//! plain    Receiver, …  intersection of digests by an oblivious PRF: the method that scales
//! circuit  receive, …   its size, or sums over it, by a programmable oblivious PRF and GMW
//! okvs     Encoder, …   the stores of both
//! oprf     publish, ask a few items against a large list that is published once
//! ```
//!
//! **Results.** [`Reveal`] names the result. The number of different keys of both sets, the terms,
//! and the number of tried salts are public. The time in which a party fills its tables and sorts
//! depends on its values.
//!
//! **Security.** Semi-honest parties, as in [`hushwire_garble::yao`]. Neither party can check that
//! the other one brings its true set.
#![forbid(unsafe_code)]

mod amounts;
pub mod circuit;
mod columns;
mod engine;
mod error;
mod hashes;
mod keys;
mod most;
mod okvs;
pub mod oprf;
pub mod plain;
mod plan;
mod random;
mod salt;
mod session;
mod tables;
#[cfg(test)]
mod wire_tests;

pub use amounts::amounts;
pub use columns::{Beside, Carried, MOST_PAYLOAD_BYTES};
pub use error::PsiError;
pub use keys::{Formed, KeyColumn, KeySpec, LeftOut, Normal, Sample, Set, TableKeys};
pub use most::Most;
pub use okvs::Store;
pub use plan::{CircuitProtocol, Method, PsiSide, PsiTerms, Reveal};
pub use salt::value_width;
pub use session::{Found, Observer, Outcome, intersect};
