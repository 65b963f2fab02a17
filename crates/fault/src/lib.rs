//! The errors of all parts of Hushwire.
//!
//! A [`Fault`] gives the member that failed, the step, the cause and the remedy. Its [`Code`] is
//! stable: programs match on it, and people look it up with `hushwire explain` or in
//! `docs/troubleshooting.md`. All texts are in one table, [`TABLE`]. They have named placeholders,
//! for which each error gives its own words.
//!
//! A [`Text`] holds words and members, and a member is a value ([`Who`]) until the error is
//! written. Code that knows the names of a session's members adds them with [`Fault::with_names`].
//! No code searches for members in a finished sentence.
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
