//! The kinds of job. A job is what several members compute together, from the files that describe
//! it to the outputs on disk.
//!
//! A kind is a folder with three types: the job as its file describes it ([`JobKind`]), the planned
//! job ([`Task`](hushwire_session::Task)), and one member's part of a run
//! ([`Part`](hushwire_session::Part)). The trait [`Runs`] makes the task of a job, and the trait
//! [`Words`] has the texts about the task. A [`Job`] is a job of any kind, the same at every
//! member. A [`Prepared`] is a circuit job whose circuit is read. The handshake compares the
//! agreement that follows from its [`CircuitPlan`].
//!
//! Files are read strictly: an unknown key is an error that names the line and the nearest known
//! key. `docs/jobs.md` has every key.
#![forbid(unsafe_code)]

mod ahead;
mod circuit;
mod compute;
mod draw;
pub mod encrypt;
mod infer;
mod job;
mod kind;
mod parameter;
mod psi;
mod query;
mod sealed;

pub use circuit::{
    BitOrderChoice, CircuitInput, CircuitJob, CircuitOutput, CircuitPlan, CircuitSource, Found,
    MOST_INSTANCES, Outputs, Parameters, Prepared,
};
pub use compute::{
    BoundComputation, ColumnInParts, ComputationSource, ComputeJob, ComputePart, ComputeSession, ComputeTask,
    Computed, OutputForm, PublicPlace, ShardPrice, Shown, Value, fits, is_table, read_input, stored_input,
};
pub use draw::{DrawJob, DrawPart, DrawReport, DrawTask, Drawn};
pub use infer::InferJob;
#[cfg(feature = "nn")]
pub use infer::{
    AHEAD, Answered, InferPart, InferTask, Inferred, Requests, SIZES, ServeEvent, ServeObserver, ServeReport,
    ServeTerms, array_in, ask_model, inferred_lines, model, model_in, network_given, network_in, network_of,
    public_values, read_array, samples, serve_model, stored_inference,
};
pub use job::{Job, Visitor};
pub use kind::{JobKind, Opened, Runs, Words};
pub use parameter::{JobParameters, Parameter, ParameterRange, RunValues};
pub use psi::{
    Common, Intersection, PsiJob, PsiMethod, PsiPart, PsiReport, PsiReveal, PsiSecurity, PsiTask, PsiTries,
    Stamp,
};
#[cfg(feature = "sql")]
pub use query::{
    Answer, Column, ColumnSurvey, Depth, Doubt, Family, FoundForm, InferredTable, Misfit, OpenPivot, Pad,
    Partners, QueryPart, QueryTask, Spelling, StoredTable, aligned, check_output, column_of, column_values,
    count, declaration, infer, is_plain_name, open_pivots, query_now, survey, with_values,
};
pub use query::{QueryJob, QueryPartOf, QueryTable};
pub use sealed::OpenedResult;
