//! The graph: operations on whole vectors, each value computed once.

use crate::{Member, Netlist, Range, Scalar, Shape, Steps, Tensor, Type};
use crate::{derive::Written, infer::name, range::Known};
use std::collections::BTreeMap;

/// A value's number: that of the node that computes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Value(pub u32);

/// How two elements are compared. Strings of bits and truth values are only equal or not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Comparison {
    /// Equal.
    Equal,
    /// Not equal.
    NotEqual,
    /// Less.
    Less,
    /// Less or equal.
    LessOrEqual,
    /// Greater.
    Greater,
    /// Greater or equal.
    GreaterOrEqual,
}

impl Comparison {
    /// All.
    pub const ALL: [Comparison; 6] = [
        Comparison::Equal,
        Comparison::NotEqual,
        Comparison::Less,
        Comparison::LessOrEqual,
        Comparison::Greater,
        Comparison::GreaterOrEqual,
    ];

    /// As people write it between two values.
    #[must_use]
    pub const fn sign(self) -> &'static str {
        match self {
            Comparison::Equal => "==",
            Comparison::NotEqual => "!=",
            Comparison::Less => "<",
            Comparison::LessOrEqual => "<=",
            Comparison::Greater => ">",
            Comparison::GreaterOrEqual => ">=",
        }
    }

    /// Whether it needs an order.
    #[must_use]
    pub const fn orders(self) -> bool {
        !matches!(self, Comparison::Equal | Comparison::NotEqual)
    }
}

/// A reduction of one axis to nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reduction {
    /// The sum, modulo the width; 0 of nothing.
    Sum,
    /// The least; the greatest number there is of nothing.
    Min,
    /// The greatest; the least number there is of nothing.
    Max,
    /// Whether all are true; true of nothing.
    All,
    /// Whether any is true; false of nothing.
    Any,
    /// How many are true, as u64.
    Count,
    /// The wrapping sum divided by the count, towards 0; all bits set of nothing.
    Mean,
    /// The first place of the least, as u64; 0 of nothing.
    ArgMin,
    /// The first place of the greatest, as u64; 0 of nothing.
    ArgMax,
}

impl Reduction {
    /// All.
    pub const ALL: [Reduction; 9] = [
        Reduction::Sum,
        Reduction::Min,
        Reduction::Max,
        Reduction::All,
        Reduction::Any,
        Reduction::Count,
        Reduction::Mean,
        Reduction::ArgMin,
        Reduction::ArgMax,
    ];

    /// Its name in text.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Reduction::Sum => "sum",
            Reduction::Min => "min_of",
            Reduction::Max => "max_of",
            Reduction::All => "all",
            Reduction::Any => "any",
            Reduction::Count => "count",
            Reduction::Mean => "mean",
            Reduction::ArgMin => "argmin",
            Reduction::ArgMax => "argmax",
        }
    }
}

/// A scan of rows: what was seen from the last start on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scan {
    /// The sum, wrapping.
    Sum,
    /// The least.
    Min,
    /// The greatest.
    Max,
    /// The row that started: it is copied down to the next start.
    First,
}

impl Scan {
    /// All.
    pub const ALL: [Scan; 4] = [Scan::Sum, Scan::Min, Scan::Max, Scan::First];

    /// Its name in text.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Scan::Sum => "scan_sum",
            Scan::Min => "scan_min",
            Scan::Max => "scan_max",
            Scan::First => "copy_down",
        }
    }
}

/// An operation.
///
/// Element-wise operations take operands of one shape; a single element stands for as many as the others have.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Op {
    /// The input of a name. No arguments.
    Input(String),
    /// Public elements. No arguments.
    Constant(Tensor),
    /// a + b, wrapping.
    Add,
    /// a − b, wrapping.
    Sub,
    /// a b, wrapping; of fixed numbers with f and g fractional bits a number with f + g.
    Mul,
    /// The quotient, towards 0, of fixed numbers with as many fractional bits. x / 0 is all bits set; MIN / −1 is MIN.
    Div,
    /// The remainder, with the dividend's sign. x % 0 is x; MIN % −1 is 0.
    Rem,
    /// −a, wrapping.
    Neg,
    /// |a|, wrapping: that of MIN is MIN.
    Abs,
    /// The lesser of two.
    Min,
    /// The greater of two.
    Max,
    /// Bitwise and.
    And,
    /// Bitwise or.
    Or,
    /// Bitwise exclusive or.
    Xor,
    /// Bitwise complement.
    Not,
    /// A comparison.
    Compare(Comparison),
    /// Where the first is true the second, else the third.
    Select,
    /// Towards the high end by so many bits; zeros follow.
    ShiftLeft(u16),
    /// Towards the low end by so many bits; copies of the sign follow where there is one, else zeros.
    ShiftRight(u16),
    /// A fixed number with so many fractional bits less, rounded towards −∞; the width stays.
    Rescale(u8),
    /// The same number in another type, modulo its width; fractions are rounded towards −∞. Strings of bits become what is
    /// as wide, bit for bit.
    Cast(Scalar),
    /// One axis reduced.
    Reduce(Reduction, u8),
    /// Sums of all before and with each element along an axis, wrapping.
    PrefixSum(u8),
    /// The product of two matrices, or of a matrix and a vector, or of two vectors; types as of [`Op::Mul`].
    MatMul,
    /// A single element as many times as the shape has elements; or, of a value with as many axes as the shape, every axis of
    /// length 1 as long as there.
    Broadcast(Shape),
    /// The same elements along other axes.
    Reshape(Shape),
    /// Axes in this order.
    Transpose(Vec<u8>),
    /// Elements `from..to` of an axis.
    Slice {
        /// The axis.
        axis: u8,
        /// The first.
        from: u64,
        /// The first that is not taken.
        to: u64,
    },
    /// One behind the other along an axis.
    Concat(u8),
    /// Rows at public places, which are the second argument.
    Gather,
    /// The order of rows by keys, the first key most significant, each descending or not; equal rows stay as they came. A
    /// permutation p: row p(i) comes i-th.
    Order {
        /// Which of the keys count down.
        descending: Vec<bool>,
    },
    /// An order of rows in which those of one key, by all operands, come one after the other, and of each key those of the first `first` rows
    /// before others. Which key comes when is open: the plain evaluator and circuits sort, three parties have the keys in an order that
    /// is random. What is computed with it must not depend on that.
    Meet {
        /// Rows of the first side.
        first: u64,
    },
    /// Rows in the order of a permutation.
    Permute,
    /// The permutation that undoes one.
    Invert,
    /// Of the rows whose flag, the first argument, is true, the first `rows`, in order; zeros behind them.
    Compact {
        /// Rows of the result.
        rows: u64,
    },
    /// Opened to a member, or to all.
    Reveal(Option<Member>),
    /// Scans along the first axis, of the second operand's rows, element by element: each row sees those from the last start
    /// up to itself. The first operand's truth values say where a start is; the first row is one.
    Scan(Scan),
    /// Images `[n, channels, rows, columns]` by kernels `[out, channels / groups, rows, columns]`: sums of products of each
    /// window, which is not turned, as learning has it; types as of [`Op::Mul`]. Padding counts as 0.
    Conv2d {
        /// The windows' way.
        steps: Steps,
        /// Channels and kernels fall in so many groups, which know nothing of each other; 1 for none.
        groups: u32,
    },
    /// The reduction of each window over the last two axes: the sum, the mean, the least or the greatest of what lies within
    /// the plane. Padding is no element: a mean is divided by the count of elements.
    Pool {
        /// [`Reduction::Sum`], [`Reduction::Mean`], [`Reduction::Min`] or [`Reduction::Max`].
        reduction: Reduction,
        /// Rows and columns of a window.
        size: [u32; 2],
        /// The windows' way.
        steps: Steps,
    },
    /// A circuit on strings of bits, one for each of its inputs: its outputs one behind the other, the first lowest.
    Circuit(Netlist),
    /// Bits `from..to` of a string of bits.
    Part {
        /// The first.
        from: u16,
        /// The first that is not taken.
        to: u16,
    },
    /// Strings of bits one behind the other, the first lowest.
    Join,
    /// The same value, of which no range is known: what is computed of it may wrap.
    Wrapping,
}

impl Op {
    /// Whether results depend on the operands' elements in the same place alone.
    #[must_use]
    pub const fn is_element_wise(&self) -> bool {
        matches!(
            self,
            Op::Add
                | Op::Sub
                | Op::Mul
                | Op::Div
                | Op::Rem
                | Op::Neg
                | Op::Abs
                | Op::Min
                | Op::Max
                | Op::And
                | Op::Or
                | Op::Xor
                | Op::Not
                | Op::Compare(_)
                | Op::Select
                | Op::ShiftLeft(_)
                | Op::ShiftRight(_)
                | Op::Rescale(_)
                | Op::Cast(_)
                | Op::Circuit(_)
                | Op::Part { .. }
                | Op::Join
        )
    }

    /// The values that three parties see of it beside lengths, in words that follow its name. Circuits show nothing.
    #[must_use]
    pub const fn leaks(&self) -> Option<&'static str> {
        match self {
            Op::Order { .. } => {
                Some("opens comparisons of rows that were shuffled: a random order, whatever the rows are")
            }
            Op::Meet { .. } => Some(
                "opens to parties 1 and 2 names of keys, new in every run, in a random order: how many rows of each side have one key, and which counts go together",
            ),
            Op::Compact { .. } => Some("opens a random permutation, whatever the flags are"),
            _ => None,
        }
    }
}

/// One operation on values.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Node {
    /// The operation.
    pub op: Op,
    /// The values that it reads, all computed before.
    pub arguments: Vec<Value>,
    /// The type of what it computes.
    pub ty: Type,
}

/// A result.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Output {
    /// Its name.
    pub name: String,
    /// The value.
    pub value: Value,
    /// Who learns it.
    pub to: Vec<Member>,
}

/// A checked computation: what members bring, what is computed of it, and who learns what.
///
/// Data, not code: built by [`Builder`](crate::Builder), read from [text](crate::text) or from its [binary form](crate::binary), and
/// checked whichever way it came. Two computations are the same where their binary forms are; names of intermediate
/// values are no part of it.
#[derive(Clone, Debug)]
pub struct Computation {
    pub(crate) name: String,
    pub(crate) members: Vec<String>,
    pub(crate) symbols: Vec<String>,
    pub(crate) nodes: Vec<Node>,
    pub(crate) outputs: Vec<Output>,
    /// Names of intermediate values, for people.
    pub(crate) names: BTreeMap<Value, String>,
    /// Forms that text called by name, for people: the graph has what they stand for.
    pub(crate) forms: BTreeMap<Value, Written>,
    /// Ranges that inputs were declared with.
    pub(crate) promised: BTreeMap<Value, Range>,
    /// Of each node.
    pub(crate) ranges: Vec<Known>,
}

impl Computation {
    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Those who bring inputs or learn outputs.
    #[must_use]
    pub fn members(&self) -> &[String] {
        &self.members
    }

    /// Names of lengths that are bound before a run.
    #[must_use]
    pub fn symbols(&self) -> &[String] {
        &self.symbols
    }

    /// All nodes, each behind those whose values it reads.
    #[must_use]
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// The node that computes a value.
    #[must_use]
    pub fn node(&self, value: Value) -> &Node {
        &self.nodes[value.0 as usize]
    }

    /// Inputs with their names, in order.
    pub fn inputs(&self) -> impl Iterator<Item = (&str, &Type)> {
        self.nodes.iter().filter_map(|node| match &node.op {
            Op::Input(name) => Some((name.as_str(), &node.ty)),
            _ => None,
        })
    }

    /// Outputs, in order.
    #[must_use]
    pub fn outputs(&self) -> &[Output] {
        &self.outputs
    }

    /// The range that an input was declared with: who brings it keeps to it.
    #[must_use]
    pub fn promised(&self, value: Value) -> Option<Range> {
        self.promised.get(&value).copied()
    }

    /// A range in which all elements of a value lie, from types, constants and promised ranges; `None` of what is no number,
    /// and of unsigned numbers that may need all 128 bits. While a symbol has no number it may be wider than it must.
    #[must_use]
    pub fn range(&self, value: Value) -> Option<Range> {
        self.ranges[value.0 as usize].range
    }

    /// The name of an intermediate value, where it has one.
    #[must_use]
    pub fn value_name(&self, value: Value) -> Option<&str> {
        self.names.get(&value).map(String::as_str)
    }

    /// A value's name, or its operation.
    pub(crate) fn shown_as(&self, value: Value) -> String {
        match self.value_name(value) {
            Some(name) => name.to_owned(),
            None => format!("({})", name(&self.node(value).op)),
        }
    }
}

/// Equal where the binary forms are: names of intermediate values do not count.
impl PartialEq for Computation {
    fn eq(&self, other: &Self) -> bool {
        let Computation { name, members, symbols, nodes, outputs, promised, names: _, forms: _, ranges: _ } =
            self;
        (name, members, symbols) == (&other.name, &other.members, &other.symbols)
            && (nodes, outputs, promised) == (&other.nodes, &other.outputs, &other.promised)
    }
}

impl Eq for Computation {}
