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
    /// Order of strings of bits.
    Less,
    /// Order of numbers.
    LessArith,
    /// Equality.
    Equal,
    /// Exact truncation by half of the bits.
    Trunc,
    /// One of two numbers by a shared bit.
    Select,
    /// Columns in an order that nobody knows.
    Shuffle,
    /// Columns in order by a key.
    Sort,
    /// Columns by the shared places of their rows.
    Permute,
}

/// A line of the table of operations: what it is called, and the sizes that are measured of it, `n` and `columns`. The first is
/// that of quick runs.
pub(crate) struct Line {
    pub(crate) op: Op,
    name: &'static str,
    sizes: &'static [(usize, usize)],
    /// Sizes of which a figure is asked.
    named: &'static [(usize, usize)],
    types: &'static [Type],
    /// Whether it is measured over all lengths that a column may have.
    curve: bool,
}

/// Rows of what is made of bits: many, and few where rounds count.
const MANY: &[(usize, usize)] = &[(1 << 17, 1), (1 << 10, 1)];
/// Rows of circuits that are deep and narrow, where what goes between the layers counts.
const NARROW: &[(usize, usize)] = &[(1 << 16, 1)];
const SHUFFLED: &[(usize, usize)] = &[(1 << 20, 1), (1 << 20, 6)];
const SORTED: &[(usize, usize)] = &[(100_000, 1), (1 << 20, 1)];
/// Lengths of a curve.
const CURVE: [usize; 6] = [100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000];

const LINE: Line = Line { op: Op::Mul, name: "", sizes: MANY, named: &[], types: Type::WIDE, curve: false };

/// All operations. A new one needs a line here, its arm in `operation`, and a function in [`ops`](super::ops) or beside it.
pub(crate) const TABLE: [Line; 16] = [
    Line {
        op: Op::Mul,
        name: "mul",
        sizes: &[(1 << 20, 1), (1 << 12, 1)],
        types: &Type::WORDS,
        curve: true,
        ..LINE
    },
    Line { op: Op::Dot, name: "dot", sizes: &[(1 << 10, 1 << 10), (1 << 16, 4)], ..LINE },
    Line { op: Op::MatMul, name: "matmul", sizes: &[(256, 256), (1024, 1024), (1024, 1)], ..LINE },
    Line { op: Op::Conv2d, name: "conv2d", sizes: &[(32, 32), (112, 64)], ..LINE },
    Line { op: Op::Reveal, name: "reveal", sizes: &[(1 << 20, 1)], types: &Type::WORDS, ..LINE },
    Line { op: Op::ToBits, name: "a2b", ..LINE },
    Line { op: Op::ToNumbers, name: "b2a", ..LINE },
    Line { op: Op::Inject, name: "inject", ..LINE },
    Line { op: Op::Less, name: "less", named: NARROW, curve: true, ..LINE },
    Line { op: Op::LessArith, name: "less-arith", types: Type::HALVED, curve: true, ..LINE },
    Line { op: Op::Equal, name: "equal", named: NARROW, types: Type::STRINGS, ..LINE },
    Line { op: Op::Trunc, name: "trunc", ..LINE },
    Line { op: Op::Select, name: "select", named: NARROW, types: Type::STRINGS, ..LINE },
    Line { op: Op::Shuffle, name: "shuffle", named: SHUFFLED, ..LINE },
    Line { op: Op::Sort, name: "sort", sizes: &[(1 << 14, 1)], named: SORTED, curve: true, ..LINE },
    Line { op: Op::Permute, name: "permute", ..LINE },
];

impl Op {
    fn line(self) -> &'static Line {
        TABLE.iter().find(|line| line.op == self).unwrap_or(&TABLE[0])
    }

    pub(crate) fn name(self) -> &'static str {
        self.line().name
    }

    /// Whether so many threads of a party have work.
    fn serves(self, threads: usize) -> bool {
        threads == 1 || self.splits() != Splits::Never
    }

    /// How its work is split.
    pub(crate) fn splits(self) -> Splits {
        match self {
            Op::Dot | Op::MatMul | Op::Conv2d => Splits::Results,
            Op::Shuffle | Op::Sort | Op::Permute => Splits::Never,
            _ => Splits::Rows,
        }
    }
}

/// The way in which an operation is split into pieces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Splits {
    /// Row by row.
    Rows,
    /// By results: inner products, rows of the left matrix, filters.
    Results,
    /// One machine, on one thread.
    Never,
}

/// The elements of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Type {
    U8,
    U16,
    U32,
    U64,
    /// Numbers below half of the modulus of 64 bits, of which a difference has a sign.
    U63,
    /// Strings of bits, of no use as numbers.
    Bits64,
}

impl Type {
    /// Words of every ring.
    pub(crate) const WORDS: [Self; 4] = [Self::U8, Self::U16, Self::U32, Self::U64];
    /// Those of models and of sums.
    pub(crate) const WIDE: &'static [Self] = &[Self::U32, Self::U64];
    /// And of comparisons that know more of their operands.
    const HALVED: &'static [Self] = &[Self::U32, Self::U64, Self::U63];
    /// And of what goes on bits without numbers.
    const STRINGS: &'static [Self] = &[Self::U32, Self::U64, Self::Bits64];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::U8 => "u8",
            Self::U16 => "u16",
            Self::U32 => "u32",
            Self::U64 => "u64",
            Self::U63 => "u63",
            Self::Bits64 => "bits64",
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
    /// The whole grid, for these numbers of threads. In lockstep there is no network; curves are over plain TCP alone.
    pub(crate) fn all(threads: &[usize], nets: &[Shape]) -> Vec<Self> {
        let mut points: Vec<Self> = Vec::new();
        let mut add = |point: Self| {
            if !points.contains(&point) {
                points.push(point);
            }
        };
        for Line { op, sizes, named, types, curve, .. } in &TABLE {
            let shapes =
                types.iter().flat_map(|kind| sizes.iter().chain(*named).map(move |size| (*kind, *size)));
            for (kind, (n, columns)) in shapes {
                for transport in Transport::ALL {
                    let far = |net: &Shape| transport != Transport::Inproc || *net == Shape::NONE;
                    for net in nets.iter().copied().filter(far) {
                        let point = |&threads| Self { op: *op, kind, n, columns, transport, net, threads };
                        let serves = |threads: &&usize| op.serves(**threads);
                        threads.iter().filter(serves).map(point).for_each(&mut add);
                    }
                }
            }
            if *curve && nets.contains(&Shape::NONE) && op.serves(threads[0]) {
                let (kind, transport, net) = (Type::U64, Transport::TcpInsecure, Shape::NONE);
                let point = |n| Self { op: *op, kind, n, columns: 1, transport, net, threads: threads[0] };
                CURVE.into_iter().map(point).for_each(&mut add);
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

    /// The results that threads share among each other.
    pub(crate) fn results(&self) -> usize {
        if self.op == Op::Conv2d { self.columns } else { self.n }
    }

    /// In 64 bits, or in 32 where it is of matrices.
    fn is_usual(&self) -> bool {
        let kind = if matches!(self.op, Op::MatMul | Op::Conv2d) { Type::U32 } else { Type::U64 };
        self.kind == kind
    }

    /// The first size of an operation, of its usual type.
    fn is_first(&self) -> bool {
        (self.n, self.columns) == self.op.line().sizes[0] && self.is_usual()
    }

    /// A size of which a figure is asked, in 64 bits.
    fn is_named(&self) -> bool {
        let of_64 = matches!(self.kind, Type::U64 | Type::Bits64);
        self.op.line().named.contains(&(self.n, self.columns)) && of_64
    }

    /// Whether a run without options measures it: every type and usual size in lockstep, first sizes over every transport, and over
    /// networks with TLS; sizes of which figures are asked over TCP, and the longest sort over the slowest network.
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
                near || self.op == Op::Sort && self.net == Shape::wan() && self.n == SORTED[1].0
            }
            Transport::TcpTls => self.is_first(),
            _ => self.is_first() && near,
        }
    }

    /// Whether a run of it is so long that one after the other is measured, and none beside it.
    pub(crate) fn is_long(&self) -> bool {
        self.n * self.columns >= 1 << 19 && !matches!(self.op, Op::Mul | Op::Dot | Op::Reveal)
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
