//! Aggregates of SQL. Each is one file with its [`AggregateDef`], and one line of [`AGGREGATES`].
//!
//! ```text
//! AggregateDef      names, arity, result, one line of documentation, and its meaning
//! AggregateMeaning  a Function of the algebra, or an expression of figures and of windows
//! ```
//!
//! A front end finds an aggregate by its name, and offers figures and windows by [`Figures`]. An
//! aggregate that is written by others needs no lowering of its own.

mod definition;
mod moments;

pub use definition::{AggregateArguments, AggregateDef, AggregateMeaning, Figures};

/// Declares the files of aggregates, and the table of their definitions.
macro_rules! aggregates {
    ($($file:ident)*) => {
        $(mod $file;)*
        /// All aggregates.
        pub static AGGREGATES: &[&AggregateDef] = &[$(&$file::DEFINITION),*];
    };
}

aggregates! {
    any_value
    approx_count_distinct
    arg_max
    arg_min
    array_agg
    avg
    bool_and
    bool_or
    corr
    count
    count_if
    covar_pop
    covar_samp
    first
    last
    max
    median
    min
    mode
    percentile_cont
    percentile_disc
    regr_intercept
    regr_slope
    stddev_pop
    stddev_samp
    string_agg
    sum
    var_pop
    var_samp
}

/// The aggregate with this name, in small letters.
#[must_use]
pub fn find(name: &str) -> Option<&'static AggregateDef> {
    AGGREGATES.iter().copied().find(|aggregate| aggregate.names.contains(&name))
}

#[cfg(test)]
mod tests;
