//! A record of each use of keys, in builds for tests. If one party uses a key, a tweak or a place
//! in a stream twice, no result changes, so no other test notices it.
//!
//! ```text
//! watch            begins a record, and ends it: around one run of all parties
//! as_end, Here     whose uses follow: parties that share a process hold the same keys, and each may use them once
//! used             a key's tweaks, or its places in a stream: panics where the end has used one of them
//! once             secrets that serve once, such as blocks of oblivious transfers: panics where the end has used one of them
//! strand           what follows hashes a declared relative of an input: the same key and tweak serve x and x ⊕ Δ
//! note, silent     records in a loop; and nothing where the caller has recorded it
//! named            where a key comes from, for messages
//! ```
//!
//! Without the feature `registry` every function here is empty and compiles to nothing. Crates turn
//! the feature on for their tests alone, in their dev-dependencies. Outside a [`watch`] nothing is
//! recorded, since tests repeat seeded sessions on purpose.

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

/// Uses of a key by number: places of a stream in counter mode.
pub const STREAM: &str = "place of the stream";
/// Uses of a key by number: tweaks of a hash.
pub const HASH: &str = "tweak of the hash";
