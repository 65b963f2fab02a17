//! The scalar functions of SQL. Each is one file with its [`FnDef`], and one line of [`FUNCTIONS`].
//!
//! ```text
//! FnDef      names, arity, result, one line of documentation, its leakage, and its meaning
//! Meaning    other expressions, or a Primitive
//! Primitive  an operation: types and ranges, value in the clear, lowering, text in plans
//! ```
//!
//! A front end finds a function by its name and passes bound [`Arguments`]. Everything else follows
//! from the definition. `docs/adr/0026-functions-as-a-table.md` gives the reasons.

mod arguments;
mod calendar;
mod dates;
mod definition;
mod interval_text;
pub(crate) mod precise;
mod real;
mod regexp;
mod slice;
mod text;

pub use arguments::{Arguments, Reader};
pub(crate) use definition::{ComputedBy, Operands, Typed, by_owners};
pub use definition::{FnDef, Leaks, Letters, Meaning, Primitive};

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
    acos
    add_months
    age
    asin
    atan
    atan2
    ceil
    century
    chr
    coalesce
    code_point
    concat
    concat_op
    concat_ws
    contains
    cos
    cot
    date_diff
    date_part
    date_sub
    date_trunc
    day
    dayname
    decade
    degrees
    dow
    doy
    ends_with
    epoch
    exp
    floor
    greatest
    hour
    iif
    initcap
    isodow
    isoyear
    last_day
    least
    left
    length
    ln
    log10
    log2
    lower
    ltrim
    make_date
    md5
    minute
    modulo
    month
    monthname
    nullif
    nvl2
    octet_length
    pad
    pi
    position
    power
    quarter
    radians
    random
    regexp_extract
    regexp_full_match
    regexp_matches
    regexp_replace
    repeat
    replace
    reverse
    right
    round
    rtrim
    second
    sign
    sin
    split_part
    sqrt
    starts_with
    strftime
    strptime
    substring
    tan
    to_number
    to_text
    to_timestamp
    translate
    trim
    trunc
    upper
    week
    width_bucket
    year
}

pub(crate) use coalesce::COALESCE;
pub use coalesce::coalesce;
pub use precise::precise;
pub use substring::with_room;

use crate::{Fault, algebra::Expr};

/// A call of a function, given its name.
pub(crate) fn call(name: &str, all: Vec<Expr>, reader: Reader<'_>) -> Result<Expr, Fault> {
    let unknown = || Fault::internal("the query", format_args!("{name} is no function"));
    find(name).ok_or_else(unknown)?.bind(&Arguments { name, all, reader })
}

/// The function with this name, in lower case.
#[must_use]
pub fn find(name: &str) -> Option<&'static FnDef> {
    FUNCTIONS.iter().copied().find(|function| function.names.contains(&name))
}
