//! The points of the grid, and the sets to which they belong.

use hushwire_wire::Shape;

use crate::{
    BenchAsked,
    axes::{axis, every},
    net::{NETS, Transport},
};

axis! {
    /// An operation.
    pub(crate) enum ColumnOp {
        /// Products of rows.
        Mul = "mul",
        /// Inner products.
        Dot = "dot",
        /// A product of matrices.
        MatMul = "matmul",
        /// A convolution.
        Conv2d = "conv2d",
        /// A column, opened to all parties.
        Reveal = "reveal",
        /// Numbers to their bits.
        ToBits = "a2b",
        /// Bits to numbers.
        ToNumbers = "b2a",
        /// One bit for each row to numbers 0 and 1.
        Inject = "inject",
        /// The order of strings of bits.
        Less = "less",
        /// The order of numbers.
        LessArith = "less-arith",
        /// Equality.
        Equal = "equal",
        /// Exact truncation by half of the bits.
        Trunc = "trunc",
        /// A choice of two numbers by a shared bit.
        Select = "select",
        /// Columns in an order that no party knows.
        Shuffle = "shuffle",
        /// Columns sorted by a key.
        Sort = "sort",
        /// Columns permuted by the shared places of their rows.
        Permute = "permute",
    }
}

/// A line of the table of operations: the operation's name, and its measured sizes `n` and
/// `columns`. The first size is that of quick runs.
pub(crate) struct OpLine {
    pub(crate) op: ColumnOp,
    sizes: &'static [(usize, usize)],
    /// The sizes for which a figure is required.
    named: &'static [(usize, usize)],
    types: &'static [Type],
    /// Whether it is measured for all lengths of a column.
    curve: bool,
}

/// The rows for operations on bits: many rows, and few rows, for which rounds matter.
const MANY: &[(usize, usize)] = &[(1 << 17, 1), (1 << 10, 1)];
/// The rows of deep and narrow circuits, whose cost is between the layers.
const NARROW: &[(usize, usize)] = &[(1 << 16, 1)];
const SHUFFLED: &[(usize, usize)] = &[(1 << 20, 1), (1 << 20, 6)];
const SORTED: &[(usize, usize)] = &[(100_000, 1), (1 << 20, 1)];
/// The lengths of a curve.
const CURVE: [usize; 6] = [100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000];

const LINE: OpLine = OpLine { op: ColumnOp::Mul, sizes: MANY, named: &[], types: Type::WIDE, curve: false };

/// All operations. A new one needs a line here, its arm in `operation`, and a function in
/// [`ops`](super::ops) or next to it.
pub(crate) const TABLE: [OpLine; 16] = [
    OpLine {
        op: ColumnOp::Mul,
        sizes: &[(1 << 20, 1), (1 << 12, 1)],
        types: &Type::WORDS,
        curve: true,
        ..LINE
    },
    OpLine { op: ColumnOp::Dot, sizes: &[(1 << 10, 1 << 10), (1 << 16, 4)], ..LINE },
    OpLine { op: ColumnOp::MatMul, sizes: &[(256, 256), (1024, 1024), (1024, 1)], ..LINE },
    OpLine { op: ColumnOp::Conv2d, sizes: &[(32, 32), (112, 64)], ..LINE },
    OpLine { op: ColumnOp::Reveal, sizes: &[(1 << 20, 1)], types: &Type::WORDS, ..LINE },
    OpLine { op: ColumnOp::ToBits, ..LINE },
    OpLine { op: ColumnOp::ToNumbers, ..LINE },
    OpLine { op: ColumnOp::Inject, ..LINE },
    OpLine { op: ColumnOp::Less, named: NARROW, curve: true, ..LINE },
    OpLine { op: ColumnOp::LessArith, types: Type::HALVED, curve: true, ..LINE },
    OpLine { op: ColumnOp::Equal, named: NARROW, types: Type::STRINGS, ..LINE },
    OpLine { op: ColumnOp::Trunc, ..LINE },
    OpLine { op: ColumnOp::Select, named: NARROW, types: Type::STRINGS, ..LINE },
    OpLine { op: ColumnOp::Shuffle, named: SHUFFLED, ..LINE },
    OpLine { op: ColumnOp::Sort, sizes: &[(1 << 14, 1)], named: SORTED, curve: true, ..LINE },
    OpLine { op: ColumnOp::Permute, ..LINE },
];

impl ColumnOp {
    fn line(self) -> &'static OpLine {
        TABLE.iter().find(|line| line.op == self).unwrap_or(&TABLE[0])
    }

    /// Whether it has work for this many threads of a party.
    fn serves(self, threads: usize) -> bool {
        threads == 1 || self.splits() != Splits::Never
    }

    /// The way in which its work is split.
    pub(crate) fn splits(self) -> Splits {
        match self {
            ColumnOp::Dot | ColumnOp::MatMul | ColumnOp::Conv2d => Splits::Results,
            ColumnOp::Shuffle | ColumnOp::Sort | ColumnOp::Permute => Splits::Never,
            _ => Splits::Rows,
        }
    }
}

/// The way in which an operation is split into pieces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Splits {
    /// Row by row.
    Rows,
    /// By results: inner products, rows of the left matrix, or filters.
    Results,
    /// Not at all: one machine runs on one thread.
    Never,
}

axis! {
    /// The type of a column's elements.
    pub(crate) enum Type {
        U8 = "u8",
        U16 = "u16",
        U32 = "u32",
        U64 = "u64",
        /// Numbers below half of the modulus of 64 bits, whose differences fit a signed number.
        U63 = "u63",
        /// Strings of bits, which do not represent numbers.
        Bits64 = "bits64",
    }
}

impl Type {
    /// The words of all rings.
    pub(crate) const WORDS: [Self; 4] = [Self::U8, Self::U16, Self::U32, Self::U64];
    /// The words of models and of sums.
    pub(crate) const WIDE: &'static [Self] = &[Self::U32, Self::U64];
    /// The same, and numbers for comparisons that know a bound on their operands.
    const HALVED: &'static [Self] = &[Self::U32, Self::U64, Self::U63];
    /// The same, and strings for operations on bits only.
    const STRINGS: &'static [Self] = &[Self::U32, Self::U64, Self::Bits64];
}

/// One point of the grid.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Point {
    pub(crate) op: ColumnOp,
    pub(crate) kind: Type,
    pub(crate) n: usize,
    pub(crate) columns: usize,
    pub(crate) transport: Transport,
    pub(crate) net: Shape,
    pub(crate) threads: usize,
}

impl Point {
    /// The whole grid. Curves are measured only over plain TCP.
    pub(crate) fn all(asked: &BenchAsked) -> Vec<Self> {
        let (links, counts) = (asked.links(), asked.threads());
        let mut points: Vec<Self> = Vec::new();
        let mut add = |point: Self| {
            if point.op.serves(point.threads) && !points.contains(&point) {
                points.push(point);
            }
        };
        for &OpLine { op, sizes, named, types, curve } in &TABLE {
            let grid = every!(
                &kind in types,
                &(n, columns) in sizes.iter().chain(named),
                &(transport, net) in &links,
                &threads in &counts => Self { op, kind, n, columns, transport, net, threads }
            );
            grid.into_iter().for_each(&mut add);
            if curve && asked.nets(&NETS).contains(&Shape::NONE) {
                let (kind, transport, net) = (Type::U64, Transport::TcpInsecure, Shape::NONE);
                let point = |n| Self { op, kind, n, columns: 1, transport, net, threads: counts[0] };
                CURVE.into_iter().map(point).for_each(&mut add);
            }
        }
        points
    }

    /// The number of results that are divided among the threads.
    pub(crate) fn results(&self) -> usize {
        if self.op == ColumnOp::Conv2d { self.columns } else { self.n }
    }

    /// Whether it has 64 bits, or 32 for matrices.
    fn is_usual(&self) -> bool {
        let kind = if matches!(self.op, ColumnOp::MatMul | ColumnOp::Conv2d) { Type::U32 } else { Type::U64 };
        self.kind == kind
    }

    /// Whether it is the first size of an operation, with its usual type.
    fn is_first(&self) -> bool {
        (self.n, self.columns) == self.op.line().sizes[0] && self.is_usual()
    }

    /// Whether it is a size for which a figure is required, with 64 bits.
    fn is_named(&self) -> bool {
        let of_64 = matches!(self.kind, Type::U64 | Type::Bits64);
        self.op.line().named.contains(&(self.n, self.columns)) && of_64
    }

    /// Whether a run without options measures it. These are every type and usual size in lockstep,
    /// and first sizes over every transport and over networks with TLS. They also include sizes
    /// with required figures over TCP, and the longest sort over the slowest network.
    pub(crate) fn is_core(&self, least_threads: usize) -> bool {
        let line = self.op.line();
        if self.threads != least_threads {
            return false;
        }
        let near = self.net == Shape::NONE;
        match self.transport {
            Transport::Inproc => line.sizes.contains(&(self.n, self.columns)),
            Transport::TcpInsecure if near && self.is_named() => true,
            Transport::TcpTls if self.is_named() => {
                near || self.op == ColumnOp::Sort && self.net == Shape::wan() && self.n == SORTED[1].0
            }
            Transport::TcpTls => self.is_first(),
            _ => self.is_first() && near,
        }
    }

    /// Whether its runs are so long that they are measured one at a time.
    pub(crate) fn is_long(&self) -> bool {
        self.n * self.columns >= 1 << 19
            && !matches!(self.op, ColumnOp::Mul | ColumnOp::Dot | ColumnOp::Reveal)
    }

    /// Whether `--quick` measures it.
    pub(crate) fn is_quick(&self, least_threads: usize) -> bool {
        self.threads == least_threads
            && self.net == Shape::NONE
            && self.is_first()
            && match self.op {
                ColumnOp::Mul | ColumnOp::MatMul | ColumnOp::Reveal => {
                    matches!(self.transport, Transport::Inproc | Transport::Unix)
                }
                _ => self.transport == Transport::Inproc,
            }
    }
}
