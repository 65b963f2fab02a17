//! The parts of an aggregate's definition.

use super::{Figure, MAX, MIN};
use crate::{
    Fault,
    algebra::{Arithmetic, ColumnType, Expr, Frame, Value, WindowFunction},
    functions::{self, Arguments, Reader},
};
use core::{fmt::Display, ops::RangeInclusive};
use hushwire_compute::Comparison;
use hushwire_fault::code;

/// An aggregate of SQL.
pub struct AggregateDef {
    /// The names by which queries call it, in small letters. Documents list the first name.
    pub names: &'static [&'static str],
    /// The number of arguments, without those of WITHIN GROUP.
    pub arity: RangeInclusive<usize>,
    /// A call, as documents show it.
    pub usage: &'static str,
    /// The type of its result, for documents.
    pub gives: &'static str,
    /// The value, in one line for documents.
    pub doc: &'static str,
    /// A call on the rows of examples in documents; empty where it is refused.
    pub example: &'static str,
    /// Whether DISTINCT may precede its argument.
    pub distinct: bool,
    /// The expression of a call.
    pub meaning: AggregateMeaning,
}

/// The expression of a call.
pub enum AggregateMeaning {
    /// A figure of the algebra.
    Native(&'static Figure),
    /// An expression of other figures.
    Rewritten(fn(&mut AggregateArguments<'_>) -> Result<Expr, Fault>),
}

/// Figures that a front end offers to aggregates that are written by others.
pub trait Figures {
    /// The rules for types, over all columns.
    fn reader(&self) -> Reader<'_>;

    /// The column of a figure of each group.
    ///
    /// # Errors
    /// The figure does not take its argument.
    fn figure(
        &mut self,
        figure: &'static Figure,
        argument: Option<Expr>,
        distinct: bool,
    ) -> Result<Expr, Fault>;

    /// The column of a window function of each row. Partitions are the groups, parted further by
    /// `partition`; the flag of a key says whether it is descending.
    ///
    /// # Errors
    /// The function does not take its argument.
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
    /// There are none.
    None,
    /// Before all values.
    First,
    /// Behind all values.
    Last,
}

/// A key of an aggregate's ORDER BY.
#[derive(Clone, Debug)]
pub struct AggregateOrder {
    /// The key.
    pub by: Expr,
    /// Whether the greatest comes first.
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
    /// The bytes that a CAST around leaves for a text.
    pub room: Option<u16>,
    /// The maker of figures.
    pub figures: &'a mut dyn Figures,
}

impl AggregateArguments<'_> {
    /// The error of a number of arguments.
    pub(crate) fn wrong_count(&self, expected: impl Display) -> Fault {
        let places: [(_, &dyn Display); 3] =
            [("function", &self.name), ("found", &self.all.len()), ("expected", &expected)];
        Fault::filled(code::ARGUMENTS, &places)
    }

    /// The error of a form that queries do not support.
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

    /// How many values of the group are not above the value of a row in an order, and how many
    /// there are.
    pub(crate) fn places(&mut self, of: &Expr, descending: bool) -> Result<(Expr, Expr), Fault> {
        let counted = counted(of);
        let sum = WindowFunction::RunningSum(counted, Frame::Peers);
        let place = self.figures.within(vec![], vec![(of.clone(), descending)], sum.clone())?;
        Ok((place, self.figures.within(vec![], vec![], sum)?))
    }

    /// The value in a place of the group's order, from the places of [`Self::places`].
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

    /// A share between 0 and 1, which a literal names, as a fraction in lowest terms.
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

    /// The value to order by, and its direction: of WITHIN GROUP, or an argument.
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

/// A whole number.
pub(crate) fn whole(n: i128) -> Expr {
    Expr::Literal(Value::Number(n), ColumnType::BigInt)
}

/// A value where a condition is true, else NULL.
pub(crate) fn when(condition: Expr, value: Expr) -> Expr {
    Expr::Case { branches: vec![(condition, value)], otherwise: None }
}

/// 1 for a value that is not NULL, else 0.
pub(crate) fn counted(of: &Expr) -> Expr {
    let branches = vec![(of.clone().is_null(), whole(0))];
    Expr::Case { branches, otherwise: Some(Box::new(whole(1))) }
}
