//! Oblivious transfer between two parties.
//!
//! ```text
//! base OTs (base)          a few, from public-key cryptography
//! set-up                   GGM trees from base OTs (rows), bootstrapped COTs (ferret)
//! extension (Extension)    random correlated OTs, a chunk at a time, from AES alone
//! functionality (Pipeline) random COT, COT, ROT, chosen OT, from chunks
//! driver (drive)           moves the messages over a channel
//! ```
//!
//! Correlation: the sender holds Δ and q, the receiver its choice bit b and t = q ⊕ bΔ, all blocks
//! of 128 bits. Bit 0 of Δ is 1 and bit 0 of every q is 0, so that bit 0 of t is b.
//!
//! Everything is sans-IO: a protocol is a [`Machine`] that writes messages into buffers and reads
//! them from buffers; only [`drive`] uses a channel. A caller that moves messages in another way
//! may pass on whatever arrives: a machine refuses messages whose length differs from its
//! [`Round`], and does nothing after an error.
#![forbid(unsafe_code)]

pub mod base;
mod bits;
mod context;
mod cost;
mod drive;
mod end;
mod ends;
mod error;
mod extension;
pub mod ferret;
#[cfg(test)]
mod formulas;
mod hasher;
#[cfg(any(test, feature = "ideal"))]
pub mod ideal;
pub mod lines;
mod machine;
mod pipeline;
mod protocol;
pub mod rows;
mod secret;
mod security;
mod steps;
mod strength;
mod transcript;
mod transfer;
mod triples;
mod verified;
pub mod vole;
mod work;

pub use context::{Context, Sid};
pub use cost::{Chunks, Functionality};
pub use drive::{Driver, drive};
pub use ends::{Receiver, Sender, Verify};
pub use error::{Check, OtError};
pub use extension::{CheckStep, Extension, Role};
pub use hushwire_machine::drive::{Exchanged, Machine, Round};
pub use pipeline::Pipeline;
pub use protocol::{Opening, Protocol, open_receiver, open_sender};
pub use security::{Level, Malicious, Security, SemiHonest};
pub use steps::{Duplex, lockstep};
pub use strength::{AtLeast, BaseSecurity, Full, Passive, SelectiveFailure};
pub use transcript::Transcript;
pub use transfer::Transfer;
pub use triples::{BitTriples, Triples};
pub use verified::{Unverified, Verified};
pub use work::{Receiving, Sending};
