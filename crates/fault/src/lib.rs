//! Errors of every part of Hushwire.
//!
//! A [`Fault`] says which member failed, during which step, why, and what to do about it. Its
//! [`Code`] is stable: programs match on it, and people look it up with `hushwire explain` or in
//! `docs/troubleshooting.md`. The texts are in one table, [`TABLE`], with named places for what
//! differs from case to case.
//!
//! Members stay typed until an error is written: a [`Text`] holds words and members ([`Who`]). Code
//! that knows the names of a session adds them with [`Fault::with_names`]. No code looks for
//! members in a finished sentence.
#![forbid(unsafe_code)]

mod entry;
mod excuse;
mod fault;
mod party;
mod place;
mod printable;
mod table;
mod text;

pub use entry::{Code, Entry, Kind};
pub use excuse::Excuse;
pub use fault::{Fault, io_remedy, out_of_descriptors};
pub use party::{PartyId, Who};
pub use place::TextPlace;
pub use printable::printable;
pub use table::{TABLE, code, page};
pub use text::{IntoText, Text};
