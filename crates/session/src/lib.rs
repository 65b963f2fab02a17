//! Sessions: everything that jobs of all kinds have in common.
//!
//! ```text
//! job file ─► a kind's Task ─► Agreement ────────┐
//! party or client file ─► identity, peers, places ┴─► MemberConfig ─► run ─► outputs
//! ```
//!
//! A [`Task`] is a job of some kind that was read and planned. The handshake compares the
//! [`Agreement`] of the task, and an operator allows its [`Terms`]. A [`PartyFile`] or a
//! [`ClientFile`] is a member's own file, with the member's key, the peers with their pins, and the
//! places of values. [`run()`] runs one member's part, from inputs to outputs. In between, the
//! [`Part`] of the kind computes.
//!
//! | module | content |
//! |---|---|
//! | [`mod@run`] | the traits of a kind, and one member's run |
//! | [`protocol`] | the protocols by name |
//! | [`engine`] | one interface for Yao's protocol, GMW and authenticated garbling |
//! | [`doors`] | input and output of values at a party of three |
//! | [`threads`] | the threads of a computing member |
//! | [`stored`], [`sealed`] | inputs and outputs that parties keep as shares |
//! | [`shards`] | the shards of one member, and the data that they exchange |
//! | [`shelves`] | preprocessing that is kept on disk |
//! | [`toml_file`] | strict reading of TOML files |
//! | [`suggest`] | the known word that is nearest to an unknown one |
//! | [`as_text`], [`size`] | values and sizes as text |
//!
//! This crate knows no kind of job. The kinds are in `hushwire-kinds`.
#![forbid(unsafe_code)]

mod agreement;
pub mod as_text;
mod cancel;
mod card;
mod confirm;
pub mod doors;
pub mod engine;
mod error;
mod forecast;
mod kept;
mod keys;
mod link;
mod material;
mod member;
mod member_config;
mod party_file;
pub mod protocol;
pub mod run;
mod run_files;
pub mod sealed;
mod seats;
pub mod shards;
pub mod shelves;
pub mod size;
pub mod stored;
pub mod suggest;
mod terms;
pub mod threads;
mod ticker;
pub mod toml_file;

pub use agreement::{AgreedField, Agreement};
pub use cancel::Cancel;
pub use card::{MemberCard, file_name, group_code};
pub use confirm::{Decider, Decision};
pub use error::{Fault, Kind, Warning, io_remedy};
pub use forecast::{Batching, Forecast};
pub use hushwire_files::{
    DIALECT_OPTIONS, Dialect, NewFile, open_input, panic_is_caught, read_once, read_private_key, refuse_once,
};
pub use kept::KeptLinks;
pub use keys::{Iv, KeyPlaces, Said, draw, share_path};
pub use link::Link;
pub use material::{Material, ShelfOwner};
pub use member::{Member, check_name};
pub use member_config::{Event, MemberConfig, Observer, explain, session_of};
pub use party_file::{
    ClientFile, InputPlace, MemberFile, OutputPlace, PartyFile, Peer, address, dialect, input_place,
};
pub use protocol::{
    Chosen, Linear, MOST_PARTIES, Protocol, ahead_or_auto, by_name, extension, extension_or_auto, extensions,
    private_scheme, words,
};
pub use run::{Outcome, Part, Stats, Task, excuse, first_error, open, run, run_part, run_part_until};
pub use run_files::{RunFiles, resolve};
pub use sealed::{SealedOutput, SealedShare, SealedSink, open_shares};
pub use seats::Seats;
pub use shards::{Hosts, MOST_SHARDS, ShardPlace, Shards};
pub use shelves::{FromDisk, Phase, Preparable, Preparation, PreparationPart, Wants};
pub use stored::{StoredData, StoredInput, StoredParts};
pub use suggest::nearest;
pub use terms::{Allowed, Terms, TermsDigest};
