//! Figures: aggregates that are operations of the algebra.

use crate::{
    Fault,
    algebra::{ColumnType, Expr, ExprType, Range, Value},
    error::Refused,
    functions::{Reader, coalesce},
    lower::cell::Cell,
};
use core::{
    fmt,
    hash::{Hash, Hasher},
};
use hushwire_compute::Val;

/// A figure of a group's rows. Rows whose argument is NULL are not counted.
pub struct Figure {
    /// The name in plans, which identifies it.
    pub(crate) name: &'static str,
    /// Its form, which determines how rows are prepared.
    pub(crate) form: FigureForm,
    /// Converts the argument to the type in which rows are taken.
    pub(crate) argument: fn(&Reader<'_>, Expr) -> Result<Expr, Fault>,
    /// The type, NULLs and range of the figure.
    pub(crate) check: fn(&Checked) -> Result<ExprType, Refused>,
    /// The figure in the clear, of at least one value. It is NULL if it is too large.
    pub(crate) plain: fn(&FigureValues<'_>) -> Value,
    /// The figure as operations of a computation.
    pub(crate) lower: for<'b> fn(&dyn FigureRows<'b>) -> Cell<'b>,
    /// The figure over a frame of a window.
    pub(crate) over: fn(&mut dyn OverFrame, &Expr) -> Result<Expr, Fault>,
}

/// The properties of a figure that determine how rows are prepared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FigureForm {
    /// A count, which is 0 for no rows. Any other figure is NULL for no rows.
    Count,
    /// Computed from sums of the rows alone.
    Sums,
    /// Computed from sums of values that are computed for each row.
    SumsOfMore,
    /// The least or the greatest value. It is the same if equal values count once.
    Extreme {
        /// Whether it is the greatest.
        greatest: bool,
    },
}

/// The argument of a figure, for the check of types.
pub(crate) struct Checked {
    pub(crate) of: ExprType,
    /// The most rows of all groups.
    pub(crate) rows: u64,
    /// Whether a group may have no row that counts.
    pub(crate) nullable: bool,
}

impl Checked {
    /// The error for an argument that is not a number.
    pub(crate) fn number(&self) -> Result<(), Refused> {
        if self.of.ty.is_numeric() {
            return Ok(());
        }
        let remedy = "give it numbers, or take MIN or MAX of values with an order, or COUNT of any values";
        Err(Refused::operands(&[self.of], remedy))
    }
}

/// The values of a group that count, in order; there is at least one.
pub(crate) struct FigureValues<'a> {
    pub(crate) all: &'a [Value],
    pub(crate) of: ExprType,
    /// The most rows of all groups.
    pub(crate) most: u64,
}

impl FigureValues<'_> {
    /// The values as numbers.
    pub(crate) fn numbers(&self) -> impl Iterator<Item = i128> + Clone {
        self.all.iter().map(|value| value.number().unwrap_or(0))
    }

    /// The number of values.
    pub(crate) fn count(&self) -> i128 {
        self.all.len() as i128
    }
}

/// The rows of groups for which a figure is computed.
pub(crate) trait FigureRows<'b> {
    /// The argument.
    fn argument(&self) -> Cell<'b>;

    /// The figure, from its values and NULLs.
    fn cell(&self, val: Val<'b>, null: Option<Val<'b>>) -> Cell<'b>;

    /// The type of the argument.
    fn argument_type(&self) -> ExprType;

    /// A bound on the number of valid rows of all groups.
    fn most(&self) -> u64;

    /// The number of rows that count in each group.
    fn count(&self) -> Val<'b>;

    /// The range of that number.
    fn counts(&self) -> Range;

    /// The groups that have no row that counts, if there may be any.
    fn none(&self) -> Option<Val<'b>>;

    /// The argument in this many bits, with 0 in rows that do not count.
    fn chosen(&self, bits: u8) -> Val<'b>;

    /// The sums of the argument, and flags for sums that are NULL because of their size. The sums
    /// are wide enough to be multiplied by `times`.
    fn sum(&self, times: i128) -> (Val<'b>, Option<Val<'b>>);

    /// As [`FigureRows::sum`], for numbers in a range.
    fn sum_of(
        &self,
        numbers: &dyn Fn(u8) -> Val<'b>,
        range: Range,
        times: i128,
    ) -> (Val<'b>, Option<Val<'b>>);

    /// The sums of numbers, which wrap around.
    fn wrapping_sum(&self, x: Val<'b>) -> Val<'b>;

    /// The least or the greatest value.
    fn extreme(&self, greatest: bool) -> Cell<'b>;
}

/// Sums and extremes over a window's frame, from which a front end computes figures.
pub trait OverFrame {
    /// The rules for types, over all columns.
    fn rules(&self) -> Reader<'_>;

    /// The sum of values.
    ///
    /// # Errors
    /// If the frame has no sums.
    fn sum(&mut self, of: &Expr) -> Result<Expr, Fault>;

    /// The least or the greatest value.
    ///
    /// # Errors
    /// If the frame has no such value, or values have no order.
    fn extreme(&mut self, of: &Expr, greatest: bool) -> Result<Expr, Fault>;
}

impl Figure {
    /// Whether the figure is a count, which is 0 for no rows.
    #[must_use]
    pub const fn counts(&self) -> bool {
        matches!(self.form, FigureForm::Count)
    }

    /// Whether the figure changes if equal values count once.
    #[must_use]
    pub const fn repeats(&self) -> bool {
        !matches!(self.form, FigureForm::Extreme { .. })
    }

    /// Converts the argument to the type in which rows are taken.
    ///
    /// # Errors
    /// As [`Expr::check`].
    pub fn taken(&self, reader: &Reader<'_>, argument: Expr) -> Result<Expr, Fault> {
        (self.argument)(reader, argument)
    }

    /// The figure over a frame of a window.
    ///
    /// # Errors
    /// If the frame has no such figure.
    pub fn over_frame(&self, frame: &mut dyn OverFrame, of: &Expr) -> Result<Expr, Fault> {
        (self.over)(frame, of)
    }
}

/// The argument, unchanged.
pub(crate) fn as_it_is(_: &Reader<'_>, of: Expr) -> Result<Expr, Fault> {
    Ok(of)
}

/// Converts truth values to 1 and 0, so that they can be added.
pub(crate) fn counted_truths(reader: &Reader<'_>, of: Expr) -> Result<Expr, Fault> {
    reader.counted(of)
}

/// Converts numbers exactly to a type of 32 fractional bits. Unlike a CAST, this never gives NULL
/// for a large number.
pub(crate) fn as_double(of: Expr) -> Expr {
    coalesce(vec![of, Expr::Literal(Value::Null, ColumnType::Double { frac: 32 })])
}

/// The figure's name in SQL.
impl fmt::Display for Figure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

impl fmt::Debug for Figure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

impl PartialEq for Figure {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for Figure {}

impl Hash for Figure {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.name.hash(state);
    }
}
