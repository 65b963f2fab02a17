//! The points of the grid, and which sets they belong to.

use hushwire_wire::Shape;

use crate::{Params, net::Transport};

/// An operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Op {
    /// Products of rows.
    Mul,
    /// Inner products.
    Dot,
    /// A product of matrices.
    MatMul,
    /// A convolution.
    Conv2d,
    /// A column to all.
    Reveal,
    /// Numbers to their bits.
    ToBits,
    /// Bits to numbers.
    ToNumbers,
    /// One bit a row to numbers 0 and 1.
    Inject,
    /// Order, exact over the full range.
    Less,
    /// Order of numbers below half the modulus, by the sign of their difference.
    LessArith,
    /// Equality.
    Equal,
    /// Exact truncation by half of the bits.
    Trunc,
    /// One of two numbers by a shared bit.
    Select,
    /// A column in an order that nobody knows.
    Shuffle,
    /// A column in order by its own bits.
    Sort,
}

/// A line of the table of operations: what it is called, and the sizes that are measured of it, `n` and `columns`. The first is
/// that of quick runs.
pub(crate) struct Line {
    pub(crate) op: Op,
    name: &'static str,
    sizes: &'static [(usize, usize)],
    types: &'static [Type],
}

/// Rows of what is made of bits: many, and few where rounds count.
const MANY: &[(usize, usize)] = &[(1 << 17, 1), (1 << 10, 1)];

/// All operations. A new one needs a line here, its arm in `operation`, and a function in [`ops`](super::ops) or beside it.
pub(crate) const TABLE: [Line; 15] = [
    Line { op: Op::Mul, name: "mul", sizes: &[(1 << 20, 1), (1 << 12, 1)], types: &Type::ALL },
    Line { op: Op::Dot, name: "dot", sizes: &[(1 << 10, 1 << 10), (1 << 16, 4)], types: Type::WIDE },
    Line { op: Op::MatMul, name: "matmul", sizes: &[(256, 256), (1024, 1024), (1024, 1)], types: Type::WIDE },
    Line { op: Op::Conv2d, name: "conv2d", sizes: &[(32, 32), (112, 64)], types: Type::WIDE },
    Line { op: Op::Reveal, name: "reveal", sizes: &[(1 << 20, 1)], types: &Type::ALL },
    Line { op: Op::ToBits, name: "a2b", sizes: MANY, types: Type::WIDE },
    Line { op: Op::ToNumbers, name: "b2a", sizes: MANY, types: Type::WIDE },
    Line { op: Op::Inject, name: "inject", sizes: MANY, types: Type::WIDE },
    Line { op: Op::Less, name: "less", sizes: MANY, types: Type::WIDE },
    Line { op: Op::LessArith, name: "less-arith", sizes: MANY, types: Type::WIDE },
    Line { op: Op::Equal, name: "equal", sizes: MANY, types: Type::WIDE },
    Line { op: Op::Trunc, name: "trunc", sizes: MANY, types: Type::WIDE },
    Line { op: Op::Select, name: "select", sizes: MANY, types: Type::WIDE },
    Line { op: Op::Shuffle, name: "shuffle", sizes: MANY, types: Type::WIDE },
    Line { op: Op::Sort, name: "sort", sizes: &[(1 << 14, 1)], types: Type::WIDE },
];

impl Op {
    fn line(self) -> &'static Line {
        TABLE.iter().find(|line| line.op == self).unwrap_or(&TABLE[0])
    }

    pub(crate) fn name(self) -> &'static str {
        self.line().name
    }
}

/// The words of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Type {
    U8,
    U16,
    U32,
    U64,
}

impl Type {
    pub(crate) const ALL: [Self; 4] = [Self::U8, Self::U16, Self::U32, Self::U64];
    /// Those of models and of sums.
    pub(crate) const WIDE: &'static [Self] = &[Self::U32, Self::U64];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::U8 => "u8",
            Self::U16 => "u16",
            Self::U32 => "u32",
            Self::U64 => "u64",
        }
    }
}

/// One point of the grid.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Point {
    pub(crate) op: Op,
    pub(crate) kind: Type,
    pub(crate) n: usize,
    pub(crate) columns: usize,
    pub(crate) transport: Transport,
    pub(crate) net: Shape,
    pub(crate) threads: usize,
}

impl Point {
    /// The whole grid, for these numbers of threads. In lockstep there is no network.
    pub(crate) fn all(threads: &[usize], nets: &[Shape]) -> Vec<Self> {
        let mut points = Vec::new();
        for Line { op, sizes, types, .. } in &TABLE {
            for (kind, (n, columns)) in
                types.iter().flat_map(|kind| sizes.iter().map(move |size| (kind, *size)))
            {
                for transport in Transport::ALL {
                    let far = |net: &Shape| transport != Transport::Inproc || *net == Shape::NONE;
                    for net in nets.iter().copied().filter(far) {
                        let point =
                            |&threads| Self { op: *op, kind: *kind, n, columns, transport, net, threads };
                        points.extend(threads.iter().map(point));
                    }
                }
            }
        }
        points
    }

    pub(crate) fn params(&self) -> Params {
        Params::new()
            .with("op", self.op.name())
            .with("type", self.kind.name())
            .with("n", self.n)
            .with("columns", self.columns)
            .with("protocol", "rep3")
            .with("transport", self.transport.name())
            .with("net", self.net.to_string())
            .with("threads", self.threads)
    }

    /// The first size of an operation, in 64 bits, or in 32 where it is of matrices.
    fn is_first(&self) -> bool {
        let kind = if matches!(self.op, Op::MatMul | Op::Conv2d) { Type::U32 } else { Type::U64 };
        (self.n, self.columns) == self.op.line().sizes[0] && self.kind == kind
    }

    /// Whether a run without options measures it: every size and type in lockstep, first sizes over every transport, and over
    /// networks with TLS.
    pub(crate) fn is_core(&self, least_threads: usize) -> bool {
        self.threads == least_threads
            && match self.transport {
                Transport::Inproc => true,
                Transport::TcpTls => self.is_first(),
                _ => self.is_first() && self.net == Shape::NONE,
            }
    }

    /// Whether `--quick` measures it.
    pub(crate) fn is_quick(&self, least_threads: usize) -> bool {
        self.threads == least_threads
            && self.net == Shape::NONE
            && self.is_first()
            && match self.op {
                Op::Mul | Op::MatMul | Op::Reveal => {
                    matches!(self.transport, Transport::Inproc | Transport::Unix)
                }
                _ => self.transport == Transport::Inproc,
            }
    }
}
