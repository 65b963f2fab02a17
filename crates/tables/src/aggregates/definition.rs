//! The parts of an aggregate's definition.

use super::{Figure, MAX, MIN};
use crate::{
    Fault,
    algebra::{Arithmetic, ColumnType, Expr, Frame, Value, WindowFunction, counted, when},
    functions::{self, Arguments, Reader},
};
use core::{fmt::Display, ops::RangeInclusive};
use hushwire_compute::Comparison;
use hushwire_fault::code;

/// An aggregate of SQL.
pub struct AggregateDef {
    /// The names by which queries call it, in lower case. Documents list the first name.
    pub names: &'static [&'static str],
    /// The number of arguments, without those of WITHIN GROUP.
    pub arity: RangeInclusive<usize>,
    /// A call, as documents show it.
    pub usage: &'static str,
    /// The type of its result, for documents.
    pub gives: &'static str,
    /// The value, in one line for documents.
    pub doc: &'static str,
    /// A call on the rows of examples in documents; empty if no such call is possible.
    pub example: &'static str,
    /// Whether DISTINCT may precede its argument.
    pub distinct: bool,
    /// The expression of a call.
    pub meaning: AggregateMeaning,
}

/// The ways to define an aggregate.
pub enum AggregateMeaning {
    /// A figure of the algebra.
    Native(&'static Figure),
    /// An expression of other figures.
    Rewritten(fn(&mut AggregateArguments<'_>) -> Result<Expr, Fault>),
}

/// Figures that a front end offers to aggregates that are built from others.
pub trait Figures {
    /// The rules for types, over all columns.
    fn reader(&self) -> Reader<'_>;

    /// The column with a figure of each group.
    ///
    /// # Errors
    /// If the figure does not take its argument.
    fn figure(
        &mut self,
        figure: &'static Figure,
        argument: Option<Expr>,
        distinct: bool,
    ) -> Result<Expr, Fault>;

    /// The column with a window function of each row. The groups, split further by `partition`, are
    /// the partitions. The flag of a key tells whether it is descending.
    ///
    /// # Errors
    /// If the function does not take its argument.
    fn within(
        &mut self,
        partition: Vec<Expr>,
        order: Vec<(Expr, bool)>,
        call: WindowFunction,
    ) -> Result<Expr, Fault>;
}

/// The place of NULLs in an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Nulls {
    /// There are no NULLs.
    None,
    /// NULLs come before all values.
    First,
    /// NULLs come after all values.
    Last,
}

/// A key of an aggregate's ORDER BY.
#[derive(Clone, Debug)]
pub struct AggregateOrder {
    /// The key.
    pub by: Expr,
    /// Whether the greatest value comes first.
    pub descending: bool,
    /// The place of rows whose key is NULL.
    pub nulls: Nulls,
}

/// The arguments of an aggregate, bound and in order.
pub struct AggregateArguments<'a> {
    /// The aggregate, by the name that the query calls.
    pub name: &'a str,
    /// The arguments.
    pub all: Vec<Expr>,
    /// The keys of ORDER BY within the call or of WITHIN GROUP.
    pub order: Vec<AggregateOrder>,
    /// Whether DISTINCT precedes its argument.
    pub distinct: bool,
    /// The bytes that an enclosing CAST allows for a text.
    pub room: Option<u16>,
    /// The maker of figures.
    pub figures: &'a mut dyn Figures,
}

impl AggregateArguments<'_> {
    /// The error for a wrong number of arguments.
    pub(crate) fn wrong_count(&self, expected: impl Display) -> Fault {
        let places: [(_, &dyn Display); 3] =
            [("function", &self.name), ("found", &self.all.len()), ("expected", &expected)];
        Fault::filled(code::ARGUMENTS, &places)
    }

    /// The error for a form that queries do not support.
    pub(crate) fn unsupported(clause: &str, remedy: &str) -> Fault {
        Fault::filled(code::SQL_UNSUPPORTED, &[("clause", &clause), ("remedy", &remedy)])
    }

    /// The arguments, if there are exactly `N`.
    pub(crate) fn exactly<const N: usize>(&self) -> Result<[Expr; N], Fault> {
        self.all.clone().try_into().map_err(|_| self.wrong_count(N))
    }

    pub(crate) fn ty(&self, expr: &Expr) -> Result<ColumnType, Fault> {
        self.figures.reader().ty(expr)
    }

    /// A figure of all rows of a group.
    pub(crate) fn figure(&mut self, figure: &'static Figure, argument: Expr) -> Result<Expr, Fault> {
        self.figures.figure(figure, Some(argument), false)
    }

    pub(crate) fn arithmetic(&self, op: Arithmetic, a: Expr, b: Expr) -> Result<Expr, Fault> {
        self.figures.reader().arithmetic(op, a, b)
    }

    pub(crate) fn compared(&self, op: Comparison, a: Expr, b: Expr) -> Result<Expr, Fault> {
        self.figures.reader().compared(op, a, b)
    }

    /// A call of a scalar function.
    pub(crate) fn call(&self, name: &str, all: Vec<Expr>) -> Result<Expr, Fault> {
        let function = functions::find(name);
        let function =
            function.ok_or_else(|| Fault::internal("the query", format_args!("{name} is no function")))?;
        function.bind(&Arguments { name, all, reader: self.figures.reader() })
    }

    /// For each row, the number of the group's values that are not above the row's value in an
    /// order, and the number of all values.
    pub(crate) fn places(&mut self, of: &Expr, descending: bool) -> Result<(Expr, Expr), Fault> {
        let counted = counted(of);
        let sum = WindowFunction::RunningSum(counted, Frame::Peers);
        let place = self.figures.within(vec![], vec![(of.clone(), descending)], sum.clone())?;
        Ok((place, self.figures.within(vec![], vec![], sum)?))
    }

    /// The value at a place of the group's order, given the places from [`Self::places`].
    pub(crate) fn at_place(
        &mut self,
        of: &Expr,
        descending: bool,
        place: &Expr,
        wanted: Expr,
    ) -> Result<Expr, Fault> {
        let reached = self.compared(Comparison::GreaterOrEqual, place.clone(), wanted)?;
        let figure = if descending { &MAX } else { &MIN };
        self.figure(figure, when(reached, of.clone()))
    }

    /// The value by which to order, its direction, and the share, which is the last argument.
    pub(crate) fn percentile(&self) -> Result<(Expr, bool, (i128, i128)), Fault> {
        let (argument, share) = match &self.all[..] {
            [share] => (None, share),
            [of, share] => (Some(of), share),
            _ => return Err(self.wrong_count("1 or 2")),
        };
        let (of, descending) = self.ordered(argument)?;
        Ok((of, descending, self.share(share)?))
    }

    /// A fraction between 0 and 1, given as a literal, in lowest terms.
    pub(crate) fn share(&self, of: &Expr) -> Result<(i128, i128), Fault> {
        let Expr::Literal(Value::Number(n), ty) = of else {
            let remedy = "write it as a number, for example 0.9";
            return Err(Self::unsupported(&format!("{} of a share that is no literal", self.name), remedy));
        };
        let unit = match ty {
            ColumnType::Double { frac } => 1i128 << frac,
            ty => 10i128.pow(ty.scale().into()),
        };
        if !(0..=unit).contains(n) {
            let cause = format!("{} of a share outside of 0 to 1", self.name);
            return Err(Self::unsupported(&cause, "write a number from 0 to 1, for example 0.9"));
        }
        let (mut a, mut b) = (*n, unit);
        while b != 0 {
            (a, b) = (b, a % b);
        }
        Ok((n / a, unit / a))
    }

    /// The value by which to order, and its direction: from WITHIN GROUP, or from an argument.
    pub(crate) fn ordered(&self, argument: Option<&Expr>) -> Result<(Expr, bool), Fault> {
        match (&self.order[..], argument) {
            ([AggregateOrder { by, descending, .. }], None) => Ok((by.clone(), *descending)),
            ([], Some(of)) => Ok((of.clone(), false)),
            _ => {
                let remedy = "write PERCENTILE_CONT(0.9) WITHIN GROUP (ORDER BY x), or QUANTILE_CONT(x, 0.9)";
                Err(Self::unsupported(&format!("{} of such arguments", self.name), remedy))
            }
        }
    }
}
