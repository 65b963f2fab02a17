//! Plans of typed computations: one lowering and one schedule for all back ends that run on shares.
//!
//! ```text
//! Computation ── Lower ──► Steps ── Values ──► waves: local steps, then all ready steps abreast
//!
//! a value's forms     known   all parties have it
//!                     words   shares of numbers modulo a power of two
//!                     bits    shares of bit planes
//!                     order   a permutation of rows
//! ```
//!
//! All steps, with the form and size of every value, are fixed before anything runs. They depend on
//! the computation and its lengths alone. A [`Backend`] says which forms are cheap for it. It
//! computes the values of [`Local`] primitives, and runs [`Talk`] primitives as machines.
#![forbid(unsafe_code)]

mod backend;
mod engine;
mod form;
mod local;
mod lower;
mod picks;
mod prim;
mod run;
mod share;
mod size;
mod steps;
mod wave;

pub use backend::Backend;
pub use engine::Engine;
pub use form::{Form, misplaced};
pub use local::local;
pub use lower::{Forms, Lower, Lowered};
pub use picks::{Moves, Picks, Run};
pub use prim::{Key, Local, Prim, Primitives, Reorder, Sign, Talk, gathered, wires};
pub use run::Values;
pub use share::{Residue, Sharing, WordMap, flattened, gathered_bits, picked, piece, some_planes, stacked};
pub use size::{Axis, Pooling, Size, Slot};
pub use steps::{Extent, Piece, Step, Steps, Watch};
pub use wave::{Flight, Group, Place, Task, Wave, home, land};
