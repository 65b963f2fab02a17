//! Plans of typed computations: one lowering and one schedule for all back ends that run on shares.
//!
//! ```text
//! Computation ── Lower ──► Steps ── Values ──► waves: what is local, then what is ready, abreast
//!
//! a value's forms     known   all parties have it
//!                     words   shares of numbers modulo a power of two
//!                     bits    shares of bit planes
//!                     order   a permutation of rows
//! ```
//!
//! All steps, with the form and size of every value, are fixed before anything runs, from the
//! computation and its lengths alone. A [`Backend`] says which forms are cheap for it, and makes
//! values of [`Local`] primitives and machines of [`Talk`] ones.
#![forbid(unsafe_code)]

mod backend;
mod lower;
mod picks;
mod prim;
mod run;
mod size;
mod steps;

pub use backend::Backend;
pub use lower::{Forms, Lower, Lowered};
pub use picks::{Moves, Picks, Run};
pub use prim::{Key, Local, Prim, Primitives, Sign, Talk, gathered, misplaced, wires};
pub use run::Values;
pub use size::{Axis, Pooling, Size, Slot};
pub use steps::{Step, Steps, Watch};
