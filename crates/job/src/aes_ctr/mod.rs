//! Encryption of a file with AES in counter mode, under a key that exists only as shares.
//!
//! ```text
//! key, ledger, key_dir   the owner's: a key that was given, the counters that were used, and where both are kept
//! share_file             a party's: its share of a key that is kept
//! cut                    how a file is cut into chunks, threads and lanes, from agreed numbers alone
//! keystream              a party's shares of the keystream of a chunk: AES's kernels, its circuit, or a device
//! ```

mod cut;
mod key;
mod key_dir;
mod keystream;
mod ledger;
pub mod share_file;

pub use cut::{Cut, DRAW_SHARD, EXPAND_SHARD, KeyMode, Terms, Unfit};
pub use key::{Iv, Key, draw};
pub use key_dir::{Holds, KeyDir, Locked};
pub use keystream::{Batch, Engine, Spare};
pub use ledger::{GIVEN, Ledger, NoIv, Range, Wanted, now};
pub use share_file::KeyId;
