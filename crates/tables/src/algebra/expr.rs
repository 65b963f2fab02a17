//! Expressions of a row's columns.

use super::{
    arithmetic::Arithmetic,
    types::{ColumnType, Schema, Value},
};
use crate::functions::{ComputedBy, Primitive};
use core::fmt;
use hushwire_compute::Comparison;

/// A value of a row. If an operand is NULL, the result is NULL, except where documented: logic has
/// three values.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Expr {
    /// The column with this index, from 0.
    Column(usize),
    /// A public value.
    Literal(Value, ColumnType),
    /// Arithmetic.
    Arithmetic(Arithmetic, Box<Expr>, Box<Expr>),
    /// The negated number.
    Negate(Box<Expr>),
    /// A comparison in the [common type](super::common_type); digests can only be compared for
    /// equality.
    Compare(Comparison, Box<Expr>, Box<Expr>),
    /// Logical and: false if one operand is false, even if the other is NULL.
    And(Box<Expr>, Box<Expr>),
    /// Logical or: true if one operand is true, even if the other is NULL.
    Or(Box<Expr>, Box<Expr>),
    /// Logical not.
    Not(Box<Expr>),
    /// Whether the operand is NULL; never NULL itself.
    IsNull(Box<Expr>),
    /// The value of the first branch whose condition is true, else `otherwise`, else NULL.
    Case {
        /// Conditions and values.
        branches: Vec<(Expr, Expr)>,
        /// The value if no condition is true.
        otherwise: Option<Box<Expr>>,
    },
    /// A conversion to another type. Dropped digits and fractions are rounded, halves away from 0;
    /// a number that does not fit becomes NULL; strings are cut.
    Cast(Box<Expr>, ColumnType),
    /// Whether the operand equals a value of a public list, as SQL's IN: NULL if it equals none of
    /// them and one of them is NULL.
    InList(Box<Expr>, Vec<Value>),
    /// Whether a string matches a public pattern, in which `%` matches any bytes and `_` one
    /// character.
    Like {
        /// The string.
        of: Box<Expr>,
        /// The pattern.
        pattern: String,
        /// The character after which `%` and `_` match themselves.
        escape: Option<char>,
    },
    /// A call of a function with an operation of its own: see [`functions`](crate::functions).
    Call(Call),
}

/// A call of a function with an operation of its own.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Call {
    pub(crate) primitive: &'static Primitive,
    pub(crate) operands: Vec<Expr>,
    /// Public arguments.
    pub(crate) public: Vec<i128>,
}

/// The members that compute a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallPlace {
    /// The parties.
    Parties,
    /// The owner of its columns if one owner has all of them, else the parties.
    OwnerFirst,
    /// The owner of its columns alone.
    Owner,
}

impl Call {
    /// Whether the call is NULL if an argument is.
    #[must_use]
    pub fn is_strict(&self) -> bool {
        self.primitive.strict
    }
}

/// A literal whole number.
#[must_use]
pub fn whole(n: i128) -> Expr {
    Expr::Literal(Value::Number(n), ColumnType::BigInt)
}

/// A value if a condition is true, else NULL.
#[must_use]
pub fn when(condition: Expr, value: Expr) -> Expr {
    Expr::Case { branches: vec![(condition, value)], otherwise: None }
}

/// 1 for a value that is not NULL, else 0, so that the sum is a count.
#[must_use]
pub fn counted(of: &Expr) -> Expr {
    let branches = vec![(of.clone().is_null(), whole(0))];
    Expr::Case { branches, otherwise: Some(Box::new(whole(1))) }
}

impl Expr {
    /// The members that compute this expression, not counting its operands.
    #[must_use]
    pub fn place(&self) -> CallPlace {
        match self {
            Expr::Call(call) => match call.primitive.by {
                ComputedBy::Parties => CallPlace::Parties,
                ComputedBy::OwnerFirst(_) => CallPlace::OwnerFirst,
                ComputedBy::OwnerOnly => CallPlace::Owner,
            },
            _ => CallPlace::Parties,
        }
    }

    /// A public value of a type.
    #[must_use]
    pub fn literal(value: Value, ty: ColumnType) -> Expr {
        Expr::Literal(value, ty)
    }

    /// Arithmetic with another operand.
    #[must_use]
    pub fn arithmetic(self, arithmetic: Arithmetic, other: Expr) -> Expr {
        Expr::Arithmetic(arithmetic, Box::new(self), Box::new(other))
    }

    /// A comparison with another operand.
    #[must_use]
    pub fn compare(self, comparison: Comparison, other: Expr) -> Expr {
        Expr::Compare(comparison, Box::new(self), Box::new(other))
    }

    /// Whether this equals another operand.
    #[must_use]
    pub fn equals(self, other: Expr) -> Expr {
        self.compare(Comparison::Equal, other)
    }

    /// Logical and.
    #[must_use]
    pub fn and(self, other: Expr) -> Expr {
        Expr::And(Box::new(self), Box::new(other))
    }

    /// Logical or.
    #[must_use]
    pub fn or(self, other: Expr) -> Expr {
        Expr::Or(Box::new(self), Box::new(other))
    }

    /// Logical not.
    #[must_use]
    #[expect(clippy::should_implement_trait, reason = "SQL's NOT of a tree, not of a value")]
    pub fn not(self) -> Expr {
        Expr::Not(Box::new(self))
    }

    /// Whether this is NULL.
    #[must_use]
    pub fn is_null(self) -> Expr {
        Expr::IsNull(Box::new(self))
    }

    /// Whether this is between two others, both included.
    #[must_use]
    pub fn between(self, low: Expr, high: Expr) -> Expr {
        let least = self.clone().compare(Comparison::GreaterOrEqual, low);
        least.and(self.compare(Comparison::LessOrEqual, high))
    }

    /// A conversion to another type.
    #[must_use]
    pub fn cast(self, to: ColumnType) -> Expr {
        Expr::Cast(Box::new(self), to)
    }

    /// Whether this matches a pattern without an escape.
    #[must_use]
    pub fn like(self, pattern: &str) -> Expr {
        Expr::Like { of: Box::new(self), pattern: pattern.to_owned(), escape: None }
    }

    /// The operands.
    #[must_use]
    pub fn operands(&self) -> Vec<&Expr> {
        match self {
            Expr::Column(_) | Expr::Literal(..) => vec![],
            Expr::Arithmetic(_, a, b) | Expr::Compare(_, a, b) | Expr::And(a, b) | Expr::Or(a, b) => {
                vec![a, b]
            }
            Expr::Negate(a)
            | Expr::Not(a)
            | Expr::IsNull(a)
            | Expr::Cast(a, _)
            | Expr::InList(a, _)
            | Expr::Like { of: a, .. } => vec![a],
            Expr::Case { branches, otherwise } => {
                let all = branches.iter().flat_map(|(when, then)| [when, then]);
                all.chain(otherwise.as_deref()).collect()
            }
            Expr::Call(call) => call.operands.iter().collect(),
        }
    }

    /// The indices of all columns that it reads, each once, ascending.
    #[must_use]
    pub fn columns(&self) -> Vec<usize> {
        let mut all = match self {
            Expr::Column(at) => vec![*at],
            _ => self.operands().into_iter().flat_map(Expr::columns).collect(),
        };
        all.sort_unstable();
        all.dedup();
        all
    }

    /// The expression with renumbered columns.
    #[must_use]
    pub fn mapped(&self, to: &dyn Fn(usize) -> usize) -> Expr {
        self.replaced(&|at| Expr::Column(to(at)))
    }

    /// The expression with columns replaced by expressions.
    pub(crate) fn replaced(&self, to: &dyn Fn(usize) -> Expr) -> Expr {
        match self {
            Expr::Column(at) => to(*at),
            _ => self.with_operands(&mut |e| e.replaced(to)),
        }
    }

    /// The expression with its operands replaced.
    #[must_use]
    pub fn with_operands(&self, to: &mut dyn FnMut(&Expr) -> Expr) -> Expr {
        let mut one = |e: &Expr| Box::new(to(e));
        match self {
            Expr::Column(_) | Expr::Literal(..) => self.clone(),
            Expr::Arithmetic(op, a, b) => Expr::Arithmetic(*op, one(a), one(b)),
            Expr::Negate(a) => Expr::Negate(one(a)),
            Expr::Compare(c, a, b) => Expr::Compare(*c, one(a), one(b)),
            Expr::And(a, b) => Expr::And(one(a), one(b)),
            Expr::Or(a, b) => Expr::Or(one(a), one(b)),
            Expr::Not(a) => Expr::Not(one(a)),
            Expr::IsNull(a) => Expr::IsNull(one(a)),
            Expr::Case { branches, otherwise } => Expr::Case {
                branches: branches.iter().map(|(when, then)| (to(when), to(then))).collect(),
                otherwise: otherwise.as_deref().map(|e| Box::new(to(e))),
            },
            Expr::Cast(a, ty) => Expr::Cast(one(a), *ty),
            Expr::InList(a, list) => Expr::InList(one(a), list.clone()),
            Expr::Like { of, pattern, escape } => {
                Expr::Like { of: one(of), pattern: pattern.clone(), escape: *escape }
            }
            Expr::Call(call) => {
                Expr::Call(Call { operands: call.operands.iter().map(to).collect(), ..call.clone() })
            }
        }
    }

    /// The expression as text, with the names of a schema.
    #[must_use]
    pub fn shown<'a>(&'a self, schema: &'a Schema) -> impl fmt::Display + 'a {
        Shown(self, schema)
    }
}

struct Shown<'a>(&'a Expr, &'a Schema);

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Shown(expr, schema) = *self;
        let of = |e: &'_ Expr| Shown(e, schema).to_string();
        match expr {
            Expr::Column(at) => match schema.columns().get(*at) {
                Some(column) => f.write_str(&column.name),
                None => write!(f, "#{at}"),
            },
            Expr::Literal(value, ty) => literal(value, *ty, f),
            Expr::Arithmetic(op, a, b) => write!(f, "({} {} {})", of(a), op.sign(), of(b)),
            Expr::Negate(a) => write!(f, "-{}", of(a)),
            Expr::Compare(Comparison::Equal, a, b) => write!(f, "{} = {}", of(a), of(b)),
            Expr::Compare(Comparison::NotEqual, a, b) => write!(f, "{} <> {}", of(a), of(b)),
            Expr::Compare(c, a, b) => write!(f, "{} {} {}", of(a), c.sign(), of(b)),
            Expr::And(a, b) => write!(f, "({} AND {})", of(a), of(b)),
            Expr::Or(a, b) => write!(f, "({} OR {})", of(a), of(b)),
            Expr::Not(a) => write!(f, "NOT ({})", of(a)),
            Expr::IsNull(a) => write!(f, "{} IS NULL", of(a)),
            Expr::Case { branches, otherwise } => {
                f.write_str("CASE")?;
                for (when, then) in branches {
                    write!(f, " WHEN {} THEN {}", of(when), of(then))?;
                }
                if let Some(e) = otherwise {
                    write!(f, " ELSE {}", of(e))?;
                }
                f.write_str(" END")
            }
            Expr::Cast(a, ty) => write!(f, "CAST({} AS {ty})", of(a)),
            Expr::InList(a, list) => write!(f, "{} IN ({} values)", of(a), list.len()),
            Expr::Like { of: a, pattern, .. } => write!(f, "{} LIKE '{pattern}'", of(a)),
            Expr::Call(call) => {
                let operands: Vec<String> = call.operands.iter().map(of).collect();
                f.write_str(&(call.primitive.shown)(call.primitive, &operands, &call.public))
            }
        }
    }
}

fn literal(value: &Value, ty: ColumnType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    match value {
        Value::Null => f.write_str("NULL"),
        Value::Boolean(truth) => write!(f, "{truth}"),
        Value::Text(bytes) => write!(f, "'{}'", String::from_utf8_lossy(bytes)),
        Value::Number(n) => match ty {
            ColumnType::Decimal { scale: scale @ 1.., .. } => {
                let (size, unit) = (n.unsigned_abs(), 10u128.pow(scale.into()));
                let sign = if *n < 0 { "-" } else { "" };
                write!(f, "{sign}{}.{:0width$}", size / unit, size % unit, width = usize::from(scale))
            }
            ColumnType::Double { frac } => write!(f, "{}", *n as f64 / f64::from(2u32).powi(frac.into())),
            ColumnType::Date => write!(f, "DATE {n}"),
            ColumnType::Timestamp => write!(f, "TIMESTAMP {n}"),
            ColumnType::Interval => write!(f, "INTERVAL {n}"),
            _ => write!(f, "{n}"),
        },
    }
}
