//! Jobs: what several members compute together, from the files that describe it to outputs on disk.
//!
//! ```text
//! job file ─► Job ─► circuit, Plan ──────────────┐
//! party or client file ─► identity, peers, places ┴─► MemberConfig ─► run ─► outputs
//! ```
//!
//! A [`Job`] is the same at every member: circuit, owners of inputs, recipients of outputs. A [`PartyFile`] or
//! [`ClientFile`] is a member's own: key, peers and their pins, where values lie. [`Prepared`] is a job with its circuit
//! read; its [`Plan`] is what the handshake compares. [`run()`] is one member's side, from inputs to outputs.
//!
//! Files are read strictly: an unknown key is an error that names its line and the near one. docs/jobs.md has every key.
#![forbid(unsafe_code)]

pub mod aes_ctr;
mod agreement;
mod as_text;
mod batches;
mod circuit;
mod client;
mod compute;
mod confirm;
mod doors;
mod error;
mod flow;
mod forecast;
mod infer;
mod job_file;
mod kind;
mod link;
mod member;
mod member_config;
mod n_party;
mod party;
mod party_file;
mod place;
mod plan;
mod prepare;
mod protocol;
mod psi;
mod query;
mod run;
mod run_files;
mod shelves;
mod suggest;
mod terms;
mod threads;
mod toml_file;
mod two_party;
mod two_party_engine;
mod value;

pub use agreement::{Agreement, Field};
pub use circuit::{FromDisk, Outputs};
pub use compute::{
    Bound, Cancel, ComputationSource, ComputeJob, ComputePart, ComputeSession, ComputeTask, Computed,
    PublicPlace, Shown, Value, fits, read_input,
};
pub use error::{Fault, Kind, Warning, io_remedy};
pub use forecast::Forecast;
pub use hushwire_files::{NewFile, open_input, panic_is_caught, read_once, read_private_key, refuse_once};
pub use infer::InferJob;
#[cfg(feature = "nn")]
pub use infer::{
    InferPart, InferTask, Inferred, array_in, model, network_in, network_of, read_array, samples,
};
pub use job_file::{BitOrderChoice, CircuitJob, CircuitSource, Input, MOST_INSTANCES, Output, Parameters};
pub use kind::Job;
pub use link::Link;
pub use member::Member;
pub use member_config::{Event, MemberConfig, Observer, session_of};
pub use party_file::{ClientFile, InputPlace, MemberFile, OutputPlace, PartyFile, Peer, address};
pub use plan::{FIELDS, Plan};
pub use prepare::{Found, Prepared};
pub use protocol::{
    Chosen, Linear, MOST_PARTIES, Protocol, ahead_or_auto, extension, extension_or_auto, extensions,
    private_scheme,
};
pub use psi::{
    Common, Intersection, PsiJob, PsiMethod, PsiPart, PsiReveal, PsiSecurity, PsiTask, PsiTries, Stamp,
};
#[cfg(feature = "sql")]
pub use query::{Answer, InferredTable, Pad, QueryPart, QueryTask, check_output, count, declaration, infer};
pub use query::{QueryJob, QueryPartOf, QueryTable};
pub use run::{Outcome, Part, Stats, Task, excuse, first_error, open, run, run_part};
pub use run_files::RunFiles;
pub use shelves::{Phase, Preparable, Preparation, PreparationPart, Wants};
pub use suggest::nearest;
pub use terms::{Allowed, Terms, TermsDigest};
