//! Computations on numbers, columns and tensors as jobs: [`hushwire_compute`] on members' CSV
//! columns and records.
//!
//! ```text
//! file     ComputeJob    the keys of a job file of this kind
//! plan     ComputeTask   the computation, which member of the job each of its members is; the
//!                        agreement
//! public   values that all members know
//! bound    Bound         with lengths: what each member does alone, and the form of the rest
//! lengths  what owners know of symbols, gathered once all are connected
//! form     OutputForm    an output's file by its name: an array of NumPy, or records
//! part     ComputePart   reads inputs, computes, writes outputs
//! engine   Engine        a member's links, set up once; computations run on them one after the
//!                        other: three, pair, circuits, client
//! shards   rows of values at the shards of a member
//! stored   inputs as columns of data sets, which parties keep as shares; data_set: all of a member
//! served   ServedComputation   runs for one client after another, on inputs of an owner that stay
//! session  ComputeSession   the same for programs, parties and clients
//! ```
//!
//! **Lengths.** Symbols that the job leaves open are bound by the members whose inputs have them.
//! Every member learns them. The run ends if two parties come to different ones.
//!
//! **Alone.** A value that depends only on one owner's inputs and on public values is computed by
//! that owner in the clear, before anything is shared ([`hushwire_compute::Cut`]). Members agree on
//! the whole computation, and derive the same cut.
//!
//! **Values.** An input is packed into bit planes, one for each bit of an element, and the planes
//! are shared. The outputs have the same form.

mod bound;
mod circuits;
mod client;
mod data_set;
mod delay;
mod engine;
pub(crate) mod file;
mod form;
mod lengths;
mod outputs;
#[cfg(feature = "two")]
mod pair;
mod part;
mod plan;
mod public;
mod run;
#[cfg(feature = "nn")]
pub(crate) mod served;
mod session;
mod shards;
mod stored;
mod task;
mod threads;
mod three;
mod values;
mod words;

pub(crate) use bound::Extent;
pub use bound::{BoundComputation, fits};
pub use file::{ComputationSource, ComputeJob};
pub use form::OutputForm;
#[cfg(feature = "nn")]
pub(crate) use form::is_foreign;
pub use outputs::{Computed, Shown};
pub use part::ComputePart;
pub use plan::ComputeTask;
pub use public::PublicPlace;
#[cfg(feature = "sql")]
pub(crate) use session::Instead;
pub use session::{ComputeSession, Value};
pub use shards::ShardPrice;
#[cfg(feature = "sql")]
pub(crate) use shards::is_first;
#[cfg(feature = "nn")]
pub(crate) use stored::column;
pub use stored::{ColumnInParts, stored_input};
pub use values::{is_table, read_input};
