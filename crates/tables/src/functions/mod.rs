//! Scalar functions of SQL. Each is one file with its [`FnDef`], and one line of [`FUNCTIONS`].
//!
//! ```text
//! FnDef      names, arity, result, one line of documentation, what it leaks, and its meaning
//! Meaning    other expressions, or a Primitive
//! Primitive  an operation of its own: types and ranges, value in the open, lowering, text in plans
//! ```
//!
//! A front end finds a function by its name and passes bound [`Arguments`]. Everything else follows
//! from the definition. `docs/adr/0026-functions-as-a-table.md` gives the reasons.

mod arguments;
mod dates;
mod definition;

pub use arguments::{Arguments, Reader};
pub use definition::{FnDef, Leaks, Meaning, Primitive};
pub(crate) use definition::{Operands, Typed};

#[cfg(test)]
pub(crate) mod tests;

/// Declares the files of functions, and the table of their definitions.
macro_rules! functions {
    ($($file:ident)*) => {
        $(mod $file;)*
        /// All scalar functions.
        pub static FUNCTIONS: &[&FnDef] = &[$(&$file::DEFINITION),*];
    };
}

functions! {
    abs
    ceil
    coalesce
    day
    floor
    greatest
    least
    modulo
    month
    nullif
    round
    sign
    substring
    year
}

pub use coalesce::coalesce;

/// The function with this name, in small letters.
#[must_use]
pub fn find(name: &str) -> Option<&'static FnDef> {
    FUNCTIONS.iter().copied().find(|function| function.names.contains(&name))
}
