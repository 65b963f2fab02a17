//! The kinds of jobs: what several members compute together, from the files that describe it to
//! outputs on disk.
//!
//! A kind is a folder: its table in a job file, its plan, the files that each member reads and
//! writes, its part of a run ([`Task`](hushwire_session::Task), [`Part`](hushwire_session::Part)).
//! A [`Job`] is one of any kind, the same at every member. [`Prepared`] is a circuit's job with its
//! circuit read; its [`CircuitPlan`] is what the handshake compares.
//!
//! Files are read strictly: an unknown key is an error that names its line and the near one.
//! docs/jobs.md has every key.
#![forbid(unsafe_code)]

mod ahead;
mod circuit;
mod compute;
pub mod encrypt;
mod infer;
mod job;
mod kind;
mod psi;
mod query;

pub use circuit::{
    BitOrderChoice, CircuitInput, CircuitJob, CircuitOutput, CircuitPlan, CircuitSource, Found,
    MOST_INSTANCES, Outputs, Parameters, Prepared,
};
pub use compute::{
    BoundComputation, Cancel, ComputationSource, ComputeJob, ComputePart, ComputeSession, ComputeTask,
    Computed, PublicPlace, Shown, Value, fits, read_input,
};
pub use infer::InferJob;
#[cfg(feature = "nn")]
pub use infer::{
    InferPart, InferTask, Inferred, array_in, inferred_lines, model, network_in, network_of, read_array,
    samples,
};
pub use job::{Job, Visitor};
pub use kind::{JobKind, Runs, Words};
pub use psi::{
    Common, Intersection, PsiJob, PsiMethod, PsiPart, PsiReport, PsiReveal, PsiSecurity, PsiTask, PsiTries,
    Stamp,
};
#[cfg(feature = "sql")]
pub use query::{
    Answer, InferredTable, Pad, QueryPart, QueryTask, aligned, check_output, count, declaration, infer,
};
pub use query::{QueryJob, QueryPartOf, QueryTable};
