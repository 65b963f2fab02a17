//! Operations. Each has a row of [`OPS`] and a file here, which define it completely.
//!
//! ```text
//! a row     binary code · operation · parameters · file · what it leaks · documentation
//! a file    text · name, arity and cost · type · range · value in the clear · circuit · printing
//! ```
//!
//! A new operation is a file with an [`OpDef`], and a row; a missing part does not compile. Back
//! ends run an operation that they do not implement by its circuit. The types of parameters define
//! how parameters are written and read; see [`Parameter`].

mod apply;
mod reference;

mod abs;
mod add;
mod broadcast;
mod cast;
mod circuit;
mod compact;
mod compare;
mod concat;
mod constant;
mod conv2d;
mod divide;
mod extremes;
mod gather;
mod input;
mod join;
mod logic;
mod matmul;
mod mul;
mod neg;
mod order;
mod part;
mod permute;
mod pool;
mod prefix_sum;
mod reduce;
mod rescale;
mod reshape;
mod reveal;
mod scan;
mod select;
mod shift;
mod slice;
mod transpose;
mod wrapping;

use crate::{
    Comparison, ComputeError, Member, Netlist, Reduction, Scalar, Scan, Shape, Steps, Tensor,
    binary::{
        parameter::{Bind, Parameter},
        read::Reader,
        write::Writer,
    },
    circuits::values::{Block, Element, Lowered, Site, Values},
    evaluation::Evaluation,
    range::{Ranges, Reach},
    text::{
        arguments::Call,
        print::{Printed, Writing},
    },
    types::Value,
    typing::{Operands, Typed},
};
use hushwire_circuit::{Bit, Builder};

pub use reference::reference;

/// The definition of an operation, for its parameters as the graph holds them.
#[derive(Clone, Copy)]
pub(crate) struct OpDef<P> {
    /// The form in text.
    syntax: Syntax,
    /// Its name, its arity, and its cost on shares.
    facts: fn(&P) -> OpFacts,
    /// The type of the result, or the reason why the operands are refused.
    infer: fn(&P, Operands<'_>) -> Typed,
    /// The range of the result, as if its type had no bounds.
    range: fn(&P, &Ranges<'_>) -> Reach,
    /// The value in the clear: the oracle of every back end. It fails if a place does not exist.
    evaluate: fn(&P, Evaluation<'_>) -> Result<Tensor, ComputeError>,
    /// The circuit.
    lowering: for<'p> fn(&'p P) -> Lowering<'p>,
    /// The printer. Reading its text gives the same operation.
    print: fn(&P, Writing<'_>) -> Printed,
}

/// An operation's definition together with its parameters.
struct BoundOp<P>(OpDef<P>, P);

/// The functions of an operation; see [`OpDef`].
pub(crate) trait Definition {
    fn facts(&self) -> OpFacts;
    fn infer(&self, of: Operands<'_>) -> Typed;
    fn range(&self, of: &Ranges<'_>) -> Reach;
    fn evaluate(&self, of: Evaluation<'_>) -> Result<Tensor, ComputeError>;
    fn lowering(&self) -> Lowering<'_>;
    fn print(&self, w: Writing<'_>) -> Printed;
}

impl<P> Definition for BoundOp<P> {
    fn facts(&self) -> OpFacts {
        (self.0.facts)(&self.1)
    }

    fn infer(&self, of: Operands<'_>) -> Typed {
        (self.0.infer)(&self.1, of)
    }

    fn range(&self, of: &Ranges<'_>) -> Reach {
        (self.0.range)(&self.1, of)
    }

    fn evaluate(&self, of: Evaluation<'_>) -> Result<Tensor, ComputeError> {
        (self.0.evaluate)(&self.1, of)
    }

    fn lowering(&self) -> Lowering<'_> {
        (self.0.lowering)(&self.1)
    }

    fn print(&self, w: Writing<'_>) -> Printed {
        (self.0.print)(&self.1, w)
    }
}

/// Facts about an operation that are known without its operands.
#[derive(Clone, Copy)]
pub(crate) struct OpFacts {
    /// The name in messages and text.
    pub(crate) name: &'static str,
    /// The number of operands; `None` for any number from 1.
    pub(crate) arity: Option<usize>,
    /// Its cost on shares, which is saved if an owner computes it alone.
    pub(crate) role: OpRole,
}

/// The kind of an operation's cost on shares.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum OpRole {
    /// It adds or multiplies its operands as numbers.
    Sums,
    /// It is another form of its first operand, and costs nothing.
    Moves,
    /// It works on bits, or joins several values.
    Works,
}

/// Reads a call in text, and returns the operation and its operands.
pub(crate) type Parse = fn(&mut Call<'_>) -> Result<(Op, Vec<Value>), ComputeError>;

/// The form of an operation in text, with an example for the reference page.
#[derive(Clone, Copy)]
pub(crate) enum Syntax {
    /// A form of its own, such as that of an input.
    Named(&'static str),
    /// Signs between two operands; the number is the precedence of the signs.
    Between(&'static [(&'static str, Op)], u8),
    /// A sign before its operand.
    Before(&'static str, &'static Op),
    /// A sign between its operand and a number of bits.
    Shift(&'static str, fn(u16) -> Op),
    /// Names before arguments in parentheses.
    Call(&'static [&'static str], &'static str, Parse),
}

/// The circuit of an operation.
pub(crate) enum Lowering<'a> {
    /// A block for each element: an element of the result depends only on the operands' elements in
    /// the same place.
    Elements(Box<Block<'a>>),
    /// Moves of elements. The function maps the lengths of operands and result to the places of the
    /// elements. Places count the elements of all operands, one operand after another.
    Moves(Box<Places<'a>>),
    /// Stages of its own.
    Stages(Box<Make<'a>>),
}

/// The places from which an operation takes elements.
pub(crate) type Places<'a> = dyn Fn(&[&[usize]], &[usize]) -> Vec<usize> + 'a;

/// An operation's own stages.
pub(crate) type Make<'a> = dyn Fn(&mut Values, Site<'_>) -> Result<Lowered, ComputeError> + 'a;

impl<'a> Lowering<'a> {
    fn each(block: impl Fn(&mut Builder, Element<'_>) -> Vec<Bit> + 'a) -> Self {
        Lowering::Elements(Box::new(block))
    }

    fn moves(places: impl Fn(&[&[usize]], &[usize]) -> Vec<usize> + 'a) -> Self {
        Lowering::Moves(Box::new(places))
    }

    fn stages(make: impl Fn(&mut Values, Site<'_>) -> Result<Lowered, ComputeError> + 'a) -> Self {
        Lowering::Stages(Box::new(make))
    }
}

/// A row of [`OPS`].
pub(crate) struct Row {
    /// The name in Rust.
    op: &'static str,
    leaks: Option<&'static str>,
    /// The documentation.
    doc: &'static str,
    syntax: Syntax,
}

macro_rules! operations {
    ($($code:literal $op:ident $(($($at:ident: $of:ty),+))? $({ $($field:ident: $ty:ty = $about:literal),+ })? = $file:ident, $leaks:expr, $doc:literal;)+) => {
        /// An operation.
        ///
        /// Element-wise operations take operands of one shape; a single element is repeated to that
        /// shape.
        #[derive(Clone, Debug, PartialEq, Eq, Hash)]
        pub enum Op {
            $(#[doc = $doc] $op $(($($of),+))? $({ $(#[doc = $about] $field: $ty),+ })?,)+
        }

        /// All operations.
        pub(crate) const OPS: &[Row] = &[$(Row {
            op: stringify!($op),
            leaks: $leaks,
            doc: $doc,
            syntax: $file::$op::DEF.syntax,
        },)+];

        impl Op {
            /// The operation's definition.
            pub(crate) fn def(&self) -> Box<dyn Definition + '_> {
                match self {
                    $(Op::$op $(($($at),+))? $({ $($field),+ })? => {
                        Box::new(BoundOp($file::$op::DEF, $file::$op { $($($at),+)? $($($field),+)? }))
                    })+
                }
            }

            /// The values, except lengths, that three parties see, in words that follow its name.
            /// Circuits reveal nothing.
            #[must_use]
            pub const fn leaks(&self) -> Option<&'static str> {
                match self {
                    $(Op::$op { .. } => $leaks,)+
                }
            }

            /// Writes its code and its parameters.
            pub(crate) fn write(&self, w: &mut Writer<'_>) {
                match self {
                    $(Op::$op $(($($at),+))? $({ $($field),+ })? => {
                        w.byte($code);
                        $($($at.write(w);)+)?
                        $($($field.write(w);)+)?
                    })+
                }
            }

            /// Reads a code and its parameters.
            pub(crate) fn read(r: &mut Reader<'_>) -> Result<Op, ComputeError> {
                Ok(match r.byte()? {
                    $($code => Op::$op $(($(<$of as Parameter>::read(r)?),+))? $({ $($field: <$ty as Parameter>::read(r)?),+ })?,)+
                    _ => return r.err("an unknown operation"),
                })
            }

            /// The operation with symbols replaced by numbers.
            pub(crate) fn bound(&self, bind: &Bind<'_>) -> Result<Op, ComputeError> {
                Ok(match self {
                    $(Op::$op $(($($at),+))? $({ $($field),+ })? => {
                        Op::$op $(($($at.bound(bind)?),+))? $({ $($field: $field.bound(bind)?),+ })?
                    })+
                })
            }
        }
    };
}

operations! {
    0 Input(name: String) = input, None, "The input of a name. No arguments.";
    1 Constant(tensor: Tensor) = constant, None, "Public elements. No arguments.";
    2 Compare(comparison: Comparison) = compare, None, "A comparison. Strings of bits and truth values are only equal or not.";
    3 ShiftLeft(by: u16) = shift, None, "Shifted towards the high end by a public number of bits; zeros follow.";
    4 ShiftRight(by: u16) = shift, None, "Shifted towards the low end by a public number of bits; copies of the sign follow if the type is signed, else zeros.";
    5 Rescale(by: u8) = rescale, None, "A fixed number with fewer fractional bits, rounded towards −∞; the width stays.";
    6 Cast(to: Scalar) = cast, None, "The same number in another type, modulo its width; fractions are rounded towards −∞. A string of bits becomes a type of the same width, bit for bit.";
    7 Reduce(reduction: Reduction, axis: u8) = reduce, None, "A reduction along one axis.";
    8 PrefixSum(axis: u8) = prefix_sum, None, "Along an axis, the sum of each element and all before it, wrapping.";
    9 Broadcast(to: Shape) = broadcast, None, "A single element repeated to the shape; or a value with as many axes as the shape, of which each axis of length 1 is repeated.";
    10 Reshape(to: Shape) = reshape, None, "The same elements along other axes.";
    11 Transpose(axes: Vec<u8>) = transpose, None, "Axes in this order.";
    12 Slice { axis: u8 = "The axis.", from: u64 = "The first.", to: u64 = "The first that is not taken." } = slice, None, "Elements `from..to` of an axis.";
    13 Concat(axis: u8) = concat, None, "Values joined along an axis.";
    14 Order { descending: Vec<bool> = "Which of the keys count down." } = order, Some("opens comparisons of rows that were shuffled: a random order, whatever the rows are"), "The order of rows by keys, the first key most significant, each descending or not; equal rows stay as they came. A permutation p: row p(i) comes i-th.";
    15 Compact { rows: u64 = "Rows of the result." } = compact, Some("opens a random permutation, whatever the flags are"), "The first `rows` rows whose flag (the first argument) is true, in order, then zeros.";
    16 Reveal(to: Option<Member>) = reveal, None, "Opens the value to one member, or to all.";
    17 Scan(scan: Scan) = scan, None, "Scans of the second operand's rows along the first axis, element by element. Each row's result covers the rows from the last start up to itself. The first operand's truth values mark the starts; the first row is always one.";
    18 Conv2d { steps: Steps = "Strides and padding.", groups: u32 = "The number of groups of channels and kernels; groups are independent; 1 for none." } = conv2d, None, "Images `[n, channels, rows, columns]` by kernels `[out, channels / groups, rows, columns]`: sums of products over each window. The kernel is not flipped (cross-correlation, as in machine learning); types as of [`Op::Mul`]. Padding counts as 0.";
    19 Pool { reduction: Reduction = "[`Reduction::Sum`], [`Reduction::Mean`], [`Reduction::Min`] or [`Reduction::Max`].", size: [u32; 2] = "Rows and columns of a window.", steps: Steps = "Strides and padding." } = pool, None, "The reduction of each window over the last two axes: the sum, the mean, the least or the greatest of what lies within the plane. Padding is not counted: a mean divides by the number of elements inside the plane.";
    20 Circuit(circuit: Netlist) = circuit, None, "A circuit on strings of bits, one for each input. Its outputs are joined, the first in the lowest bits.";
    21 Part { from: u16 = "The first.", to: u16 = "The first that is not taken." } = part, None, "Bits `from..to` of a string of bits.";
    22 Meet { first: u64 = "Rows of the first side." } = order, Some("opens to parties 1 and 2 names of keys, new in every run, in a random order: how many rows of each side have one key, and which counts go together"), "An order that puts rows with equal keys (all operands) next to each other; within a key, rows of the first `first` rows come before others. The order of the keys is unspecified: the plain evaluator and circuits sort, three parties get a random order, and results must not depend on it.";
    32 Add = add, None, "a + b, wrapping.";
    33 Sub = add, None, "a − b, wrapping.";
    34 Mul = mul, None, "a b, wrapping; of fixed numbers with f and g fractional bits a number with f + g.";
    35 Div = divide, None, "The quotient, towards 0, of fixed numbers with as many fractional bits. x / 0 is all bits set; MIN / −1 is MIN.";
    36 Rem = divide, None, "The remainder, with the dividend's sign. x % 0 is x; MIN % −1 is 0.";
    37 Neg = neg, None, "−a, wrapping.";
    38 Abs = abs, None, "|a|, wrapping: that of MIN is MIN.";
    39 Min = extremes, None, "The smaller of two.";
    40 Max = extremes, None, "The larger of two.";
    41 And = logic, None, "Bitwise and.";
    42 Or = logic, None, "Bitwise or.";
    43 Xor = logic, None, "Bitwise exclusive or.";
    44 Not = logic, None, "Bitwise complement.";
    45 Select = select, None, "Where the first is true the second, else the third.";
    46 MatMul = matmul, None, "The product of two matrices, or of a matrix and a vector, or of two vectors; types as of [`Op::Mul`].";
    47 Gather = gather, None, "The rows at public places, which are the second argument.";
    48 Permute = permute, None, "Rows in the order of a permutation.";
    49 Invert = permute, None, "The inverse of a permutation.";
    50 Join = join, None, "Strings of bits one behind the other, the first lowest.";
    51 Wrapping = wrapping, None, "The same value, without a known range: what is computed from it may wrap.";
}

/// The precedence of a sign between two operands.
pub(crate) fn precedence(sign: &str) -> Option<u8> {
    OPS.iter().find_map(|row| match row.syntax {
        Syntax::Between(signs, precedence) if signs.iter().any(|(s, _)| *s == sign) => Some(precedence),
        Syntax::Shift(s, _) if s == sign => Some(crate::text::print::SHIFT),
        _ => None,
    })
}

/// The operation of a sign between two operands.
pub(crate) fn between(sign: &str) -> Option<Op> {
    OPS.iter().find_map(|row| match row.syntax {
        Syntax::Between(signs, _) => signs.iter().find(|(s, _)| *s == sign).map(|(_, op)| op.clone()),
        _ => None,
    })
}

/// The operation of a sign before its operand.
pub(crate) fn before(sign: &str) -> Option<Op> {
    OPS.iter().find_map(|row| match row.syntax {
        Syntax::Before(s, op) if s == sign => Some(op.clone()),
        _ => None,
    })
}

/// The operation of a shift.
pub(crate) fn shift(sign: &str) -> Option<fn(u16) -> Op> {
    OPS.iter().find_map(|row| match row.syntax {
        Syntax::Shift(s, op) if s == sign => Some(op),
        _ => None,
    })
}

/// The reader of a call by name.
pub(crate) fn call(name: &str) -> Option<Parse> {
    OPS.iter().find_map(|row| match row.syntax {
        Syntax::Call(names, _, parse) if names.contains(&name) => Some(parse),
        _ => None,
    })
}

/// The facts of an operation with this number of operands.
const fn facts(name: &'static str, arity: usize, role: OpRole) -> OpFacts {
    OpFacts { name, arity: Some(arity), role }
}
