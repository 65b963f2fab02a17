//! Policies: which runs an operator allows.
//!
//! ```text
//! file      PolicyFile   signed blocks of rules in TOML, read strictly
//! rules     verdict      a run against blocks: allowed by one, or denied with every reason
//! explain   explain      a block in words
//! moment                 dates, times and durations as texts and seconds
//! draft     draft        the block that allows a proposal, for the operator to narrow
//! ```
//!
//! This crate reads no files and no clock. Terms are named by their digest, which the operator gets
//! from `hushwire job digest`.
#![forbid(unsafe_code)]

mod draft;
mod explain;
mod file;
mod moment;
mod rules;

pub use draft::{PolicyDraft, draft};
pub use explain::explain;
pub use file::{AllowRule, DataRule, ParameterRule, PolicyFile};
pub use moment::{moment_text, read_moment};
pub use rules::{Denial, PastRun, PolicyLimits, RunData, RunHistory, RunRequest, Verdict, verdict};
