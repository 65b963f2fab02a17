//! A registry of key uses, in builds for tests. If a party uses a key, a tweak or a position of a
//! stream twice, results stay right, so that no other test detects it.
//!
//! ```text
//! watch            begins a record and, when dropped, ends it: around one run of all parties
//! as_end, Here     sets the party to which uses belong: parties in one process hold the same keys
//!                  and may each use them once
//! used             records tweaks or stream positions of a key; panics if this party has used one
//!                  of them
//! once             records secrets for a single use, such as OT blocks; panics if this party has
//!                  used one of them
//! strand           runs code that hashes a declared relative of an input: the same key and tweak
//!                  serve x and x ⊕ Δ
//! note, silent     run code that records in a loop; run code whose uses the caller has recorded
//! named            names a derived key, for messages
//! ```
//!
//! Without the feature `registry`, every function here is empty and compiles to nothing. Crates
//! enable the feature only in their dev-dependencies. Outside a [`watch`] nothing is recorded,
//! since tests repeat seeded sessions on purpose.

#[cfg(not(feature = "registry"))]
mod off;
#[cfg(feature = "registry")]
mod on;
#[cfg(all(test, feature = "registry"))]
mod tests;

#[cfg(not(feature = "registry"))]
pub use off::{Entered, Here, Watch, as_end, here, named, note, once, silent, strand, used, watch};
#[cfg(feature = "registry")]
pub use on::{Entered, Here, Watch, as_end, here, named, note, once, silent, strand, used, watch};

/// The kind of use of a key in counter mode: the numbers are positions of its stream.
pub const STREAM: &str = "place of the stream";
/// The kind of use of a hash's key: the numbers are tweaks.
pub const HASH: &str = "tweak of the hash";
