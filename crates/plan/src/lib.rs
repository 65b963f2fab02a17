//! Plans of typed computations: one lowering and one schedule for all back ends that run on shares.
//!
//! ```text
//! Computation ── PlanLowering ──► PlanSteps ── LiveValues ──► waves: all ready local steps, then
//!                                                             all ready steps with messages, at
//!                                                             the same time and in pieces
//!
//! a value's forms     known   all parties have the value
//!                     words   shares of numbers modulo a power of two
//!                     bits    shares of bit planes
//!                     order   a permutation of rows
//! ```
//!
//! All steps, and the form and size of every value, are fixed before anything runs. They depend on
//! the computation and its lengths alone.
//!
//! A back end implements four traits. [`Sharing`] has the types of a party's shares. [`Primitives`]
//! has the primitives that only this back end has. [`Backend`] chooses forms and steps while a
//! computation is lowered. [`Runtime`] computes [`Local`] primitives, begins [`Talk`] primitives as
//! machines, and prices steps.
#![forbid(unsafe_code)]

mod backend;
mod form;
mod local;
mod lower;
mod picks;
mod prim;
mod ready;
mod route;
mod run;
mod runtime;
mod share;
mod size;
mod steps;
mod wave;

pub use backend::Backend;
pub use form::{StepValue, misplaced};
pub use local::{local, local_of};
pub use lower::{Forms, Lowered, PlanLowering};
pub use picks::{Moves, PickRun, Picks};
pub use prim::{KeyOrder, Local, Prim, Primitives, Reorder, Sign, StepRows, Talk, gathered, wires};
pub use route::Route;
pub use run::{KeptValues, LiveValues};
pub use runtime::Runtime;
pub use share::{Residue, Sharing, WordMap, flattened, gathered_bits, picked, piece, some_planes, stacked};
pub use size::{Axis, Pooling, Size, Slot};
pub use steps::{Extent, PlanStep, PlanSteps, StepPiece, Watch};
pub use wave::{Flight, Group, PiecePlace, StepTask, Wave, home, land};
