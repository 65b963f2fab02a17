//! Computations on numbers, columns and tensors as jobs: [`hushwire_compute`] on members' CSV columns and records.
//!
//! ```text
//! file     ComputeJob    the keys of a job file of this kind
//! plan     ComputeTask   the computation, which member of the job each of its members is; the agreement
//! lengths  what owners know of symbols, gathered once all are connected
//! part     ComputePart   reads inputs, computes, writes outputs
//! three, two, client     a member's links, set up once; computations run on them one after the other
//! session  ComputeSession   the same for programs
//! ```
//!
//! **Lengths.** Symbols that the job does not bind are bound by those who bring inputs that have them. Every member learns
//! them; parties that came to different ones end.
//!
//! **Values.** An input is packed into bit planes, a plane for each bit of an element, and shared as they are; the outputs come
//! out of the computation in the same form.

mod client;
mod file;
mod lengths;
mod outputs;
mod part;
mod plan;
mod session;
mod three;
mod two;
mod values;

pub use file::{ComputationSource, ComputeJob};
pub use outputs::{Computed, Shown};
pub use part::ComputePart;
pub use plan::{Bound, ComputeTask, fits};
pub use session::{Cancel, ComputeSession, Value};
pub use values::read_input;
