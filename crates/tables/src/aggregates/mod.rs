//! The aggregates of SQL. Each is one file with its [`AggregateDef`], and one line of
//! [`AGGREGATES`].
//!
//! ```text
//! AggregateDef      names, arity, result, one line of documentation, and its meaning
//! AggregateMeaning  a Figure, or an expression of figures and of windows
//! Figure            an operation of the algebra: types and ranges, value in the clear, lowering,
//!                   and the same over a frame of a window
//! ```
//!
//! A front end finds an aggregate by its name, and offers figures and windows through [`Figures`].
//! An aggregate that is built from others needs no lowering of its own.

mod definition;
mod figure;
mod moments;

pub use avg::AVG;
pub use count::COUNT;
pub use definition::{AggregateArguments, AggregateDef, AggregateMeaning, AggregateOrder, Figures, Nulls};
pub(crate) use figure::{Checked, FigureForm, FigureRows, FigureValues};
pub use figure::{Figure, OverFrame};
pub use max::MAX;
pub use min::MIN;
pub use sum::SUM;
pub use var_pop::VAR_POP;
pub use var_samp::VAR_SAMP;

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
    regr_avgx
    regr_avgy
    regr_count
    regr_intercept
    regr_r2
    regr_slope
    regr_sxx
    regr_sxy
    regr_syy
    stddev_pop
    stddev_samp
    string_agg
    sum
    var_pop
    var_samp
}

/// The aggregate with this name, in lower case.
#[must_use]
pub fn find(name: &str) -> Option<&'static AggregateDef> {
    AGGREGATES.iter().copied().find(|aggregate| aggregate.names.contains(&name))
}

#[cfg(test)]
mod tests;
