//! The sealed formats of the service: data that a party stores, and data that it gives out.
//!
//! ```text
//! keys      SignKey, OpenKey   Ed25519 and X-Wing keys, and their public halves
//! person    Person, Card       the file of keys of a person, and its public half
//! master    MasterKey          a party's own keys at rest
//! canon     canonical          JSON with one text for each value, which signatures cover
//! manifest  Manifest           the description of a data set, signed by its owner
//! dataset   Dealer, OpenedData  shares of a data set, sealed to three parties
//! result    seal, open         a party's share of an output, sealed to its recipient
//! challenge challenge, answer  the proof that a client that fetches a result has its key
//! statement SignedStatement    a party's statement about itself, signed
//! vouch     vouch, promise     a party's word for the worker that it runs, and party 0's promises
//! audit     Log, verify        a chain of entries
//! ```
//!
//! **Security.** A content key is drawn for each data set and party, and for each result. A nonce
//! is thus never used twice under a key: the nonce of a part is its number. Associated data binds
//! every ciphertext to its place. Secrets have no `Debug` and are wiped.
#![forbid(unsafe_code)]

mod aead;
pub mod audit;
mod canon;
pub mod challenge;
pub mod dataset;
mod envelope;
mod error;
mod hexed;
mod keys;
mod manifest;
mod master;
mod name;
mod person;
pub mod result;
mod statement;
pub mod vouch;

pub use canon::{canonical, from_canonical};
pub use error::SealError;
pub use keys::{KeyId, OpenKey, SealTo, SignKey, Signature, VerifyKey};
pub use manifest::{Manifest, PART_ROWS, SchemaColumn, SignedManifest, StoredColumn};
pub use master::MasterKey;
pub use name::BlakeName;
pub use person::{Card, Person};
pub use statement::{SignedStatement, Statement};

/// The domains of Ed25519 signatures. A signature for one use is invalid for any other.
pub mod domain {
    /// Manifests of data sets.
    pub const DATA: &str = "hushwire data v1";
    /// Policy files.
    pub const POLICY: &str = "hushwire policy v1";
    /// An operator's verdict on a proposal.
    pub const VERDICT: &str = "hushwire verdict v1";
    /// A party's statement about itself.
    pub const GROUP: &str = "hushwire group v1";
    /// A party's word for its worker.
    pub const WORKER: &str = "hushwire worker v1";
    /// Party 0's decision on an attempt.
    pub const DECISION: &str = "hushwire decision v1";
    /// Party 0's promise about the start of an attempt.
    pub const ATTEMPT: &str = "hushwire attempt v1";
}
