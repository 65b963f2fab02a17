//! Jobs.
#![forbid(unsafe_code)]

mod error;
mod job_file;
mod member;
mod party_file;
mod plan;
mod suggest;
mod toml_file;

pub use error::{JobError, Kind};
pub use job_file::{
    BitOrderChoice, CircuitSource, Input, Job, MOST_INSTANCES, Output, PROTOCOLS, Parameters,
};
pub use member::{Member, PARTIES};
pub use party_file::{ClientFile, InputPlace, MemberFile, OutputPlace, PartyFile, Peer};
pub use plan::{FIELDS, Plan};
pub use suggest::nearest;
