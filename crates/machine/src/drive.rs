//! Drivers of [`Machine`]s: over channels, several in flight on a thread, or all parties in
//! lockstep.
//!
//! ```text
//! Driver    one machine on borrowed channels, blocking; round by round where a caller has work
//!           between rounds
//! Lane      one machine in flight on channels of its own; pipeline keeps several lanes of a thread
//!           in flight
//! Lockstep  all parties on one thread without channels; a test may edit messages on their way
//! Line      a machine made of an `async` function, which sends and receives through a Talk
//! ```
//!
//! Taps of a channel do the rest. [`Record`](crate::Record) and [`Replay`](crate::Replay) run one
//! party again alone, [`Tamper`](crate::Tamper) changes its messages, and [`Meter`](crate::Meter)
//! counts them.

pub use crate::abreast::Abreast;
pub use crate::driver::{Driver, DriverRun, Lane, Work, pipeline};
pub use crate::gate::Latch;
pub use crate::line::{Line, Talk};
pub use crate::lockstep::{Lockstep, Place, Wiring};
pub use crate::machine::{Exchanged, Machine, Message, Round, With};
pub use crate::misstep::Misstep;
pub use hushwire_block::Buffer;
