//! Private set intersection as a job: two parties with a table each, as CSV or Parquet files.
//!
//! ```text
//! file   PsiJob    the keys of a job file of this kind
//! plan   PsiTask   which party is side A, what is revealed in which form; the agreement
//! rows   Table     a party's rows, read twice; the stamp of a file that is
//! part   PsiPart   reads keys, writes the result
//! reveal PsiReveal the part that is learnt
//! tried  PsiTries  the keys that a party which deviates can try
//! found  Find      the intersection by a circuit of whole sets, or by an oblivious PRF of digests,
//!                  with a circuit of its outputs or without
//! ```
//!
//! [`hushwire_psi`] describes the protocols, and what they hide and reveal. A party's one input is
//! called `csv`, and its one output `result`.

mod chosen;
#[cfg(test)]
mod damaged;
mod file;
mod found;
mod part;
mod plan;
mod reveal;
mod rows;
mod tried;
mod words;

pub use file::{PsiJob, PsiMethod, PsiSecurity};
pub use part::PsiPart;
pub(crate) use part::of_file;
pub use plan::{Common, Intersection, PsiTask};
pub use reveal::PsiReveal;
pub use rows::Stamp;
pub use tried::PsiTries;
pub use words::PsiReport;

/// The input's name in member files.
const CSV: &str = "csv";
/// The output's name in member files.
const RESULT: &str = "result";
