//! A draw: numbers that all parties learn and none of them can choose, for a lottery or the sample
//! of an audit.
//!
//! ```text
//! all    commit to 32 fresh bytes each, then open them ─► a seed that is uniform for everybody
//! each   draws different numbers of the range from that seed, and writes them, one a line
//! ```
//!
//! The seed is the name of the run, which [`Seat::take`](hushwire_session::engine::Seat::take)
//! makes. All but one party may deviate. A party that receives all openings first can still end the
//! run, and every other party sees that it did.

mod file;
mod part;
mod plan;
mod words;

pub use file::DrawJob;
pub use part::{DrawPart, Drawn};
pub use plan::DrawTask;
pub use words::DrawReport;

/// The output's name in member files.
const RESULT: &str = "result";
