//! Keys of a table's rows: of one column or several, each in a normal form that both parties agree
//! on.
//!
//! ```text
//! normal        Normal   the form of a field
//! email, phone           forms that know what a field is
//! written                the same for dates, numbers and bank accounts
//! spec          KeySpec  the columns of a key, each with its form
//! arena         Keys     the keys of all rows, in blocks that are wiped
//! set           Set      different keys as digests, and which of them each row has
//! ```
//!
//! A row has a key if every key column has text left in its normal form: an empty field, or a
//! malformed e-mail address, leaves the row out of the set. Such rows are counted.

mod arena;
mod email;
mod normal;
#[cfg(feature = "phone")]
mod phone;
mod set;
mod spec;
mod written;

pub use arena::{LeftOut, Sample, TableKeys};
pub use normal::{Formed, Normal};
pub use set::Set;
pub use spec::{KeyColumn, KeySpec};
