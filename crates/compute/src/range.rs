//! Ranges of values, from types, constants and what inputs promise: intervals, one operation at a time (R. E. Moore, "Interval
//! analysis", 1966).
//!
//! A range always holds: where a result may wrap it is its type's whole range. Where all that an operation reads follows from
//! constants and promised ranges, a result that may wrap is refused; [`Op::Wrapping`] forgets the range, and the check with it.

use crate::{ComputeError, Dim, Op, Reduction, Scalar, Scan, Tensor, Type, infer, tensor::Decimal, windows};

/// From the least to the greatest, both included; of fixed numbers in steps of 2^-frac.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Range {
    /// The least.
    pub low: i128,
    /// The greatest.
    pub high: i128,
}

impl Range {
    /// All elements of a scalar; `None` where it is no number, or has 128 bits and no sign.
    #[must_use]
    pub const fn of(scalar: Scalar) -> Option<Range> {
        match scalar {
            Scalar::Int { signed: false, bits: 128.. } => None,
            Scalar::Int { signed: false, bits } => {
                Some(Range { low: 0, high: ((1u128 << bits) - 1).cast_signed() })
            }
            Scalar::Int { bits, .. } | Scalar::Fixed { bits, .. } if bits >= 1 && bits <= 128 => {
                Some(Range { low: i128::MIN >> (128 - bits), high: i128::MAX >> (128 - bits) })
            }
            _ => None,
        }
    }

    /// Whether all of another range lies in it.
    #[must_use]
    pub const fn holds(self, other: Range) -> bool {
        self.low <= other.low && other.high <= self.high
    }

    /// The least range that holds both.
    #[must_use]
    pub fn with(self, other: Range) -> Range {
        Range { low: self.low.min(other.low), high: self.high.max(other.high) }
    }

    fn around(ends: impl IntoIterator<Item = Option<i128>>) -> Reach {
        let mut all: Option<Range> = None;
        for end in ends {
            let Some(end) = end else { return Reach::Beyond };
            let one = Range { low: end, high: end };
            all = Some(all.map_or(one, |r| r.with(one)));
        }
        all.map_or(Reach::Unknown, Reach::To)
    }

    /// Ends by a function that grows, or falls, from one to the other.
    fn map(self, f: impl Fn(i128) -> Option<i128>) -> Reach {
        Range::around([f(self.low), f(self.high)])
    }

    fn corners(self, other: Range, f: impl Fn(i128, i128) -> Option<i128>) -> Reach {
        let of = |x| [f(x, other.low), f(x, other.high)];
        Range::around(of(self.low).into_iter().chain(of(self.high)))
    }
}

/// The ground that a range stands on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Ground {
    /// Constants and counts alone.
    Constant,
    /// A promise too.
    Promise,
    /// A type somewhere.
    Type,
}

/// A value's range, as far as it is known.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Known {
    pub(crate) range: Option<Range>,
    ground: Ground,
}

impl Known {
    /// An input.
    pub(crate) fn input(ty: &Type, promised: Option<Range>) -> Self {
        match promised {
            Some(range) => Known { range: Some(range), ground: Ground::Promise },
            None => Known::free(ty),
        }
    }

    fn free(ty: &Type) -> Self {
        Known { range: Range::of(ty.scalar), ground: Ground::Type }
    }
}

/// The results of an operation, were there no end to its type.
enum Reach {
    /// Of these.
    To(Range),
    /// Of more than 128 bits.
    Beyond,
    /// Nothing is known but the type, which they fit.
    Unknown,
}

impl Reach {
    fn then(self, f: impl FnOnce(Range) -> Reach) -> Reach {
        match self {
            Reach::To(range) => f(range),
            other => other,
        }
    }
}

/// The range of an operation's result, as far as it is known.
///
/// # Errors
/// A promise stands behind all of it, and it may wrap.
pub(crate) fn of(
    op: &Op,
    operands: &[(infer::Operand<'_>, Known)],
    ty: &Type,
) -> Result<Known, ComputeError> {
    if !ty.scalar.is_number() {
        return Ok(Known { range: None, ground: Ground::Type });
    }
    // Flags and places say nothing of sizes.
    let numbers: Vec<_> = match op {
        Op::Select | Op::Compact { .. } | Op::Scan(_) => &operands[1..],
        Op::Gather | Op::Permute => &operands[..1],
        _ => operands,
    }
    .iter()
    .collect();
    let ground = match op {
        Op::Wrapping => Ground::Type,
        Op::Reduce(Reduction::Count | Reduction::ArgMin | Reduction::ArgMax, _) => Ground::Constant,
        _ => {
            let grounds = numbers.iter().map(|(_, known)| known.ground);
            grounds.max().unwrap_or(Ground::Constant)
        }
    };
    let ground = match op {
        Op::Cast(_) if numbers[0].0.1.scalar == Scalar::Bool => Ground::Constant,
        _ => ground,
    };
    let ranges: Vec<Option<Range>> = numbers.iter().map(|(_, known)| known.range).collect();
    let types: Vec<&Type> = operands.iter().map(|((_, ty), _)| *ty).collect();
    let reach = match reach(op, &ranges, &types, ty) {
        Reach::To(range) => Some(range),
        Reach::Beyond => None,
        Reach::Unknown => return Ok(Known::free(ty)),
    };
    let fits = |range: &Range| Range::of(ty.scalar).map_or(range.low >= 0, |whole| whole.holds(*range));
    match reach.filter(fits) {
        Some(range) => Ok(Known { range: Some(range), ground }),
        None if ground == Ground::Promise => {
            let told: Vec<_> = operands.iter().map(|(operand, _)| *operand).collect();
            let frac = ty.scalar.frac();
            let shown = |r: Range| format!("{} to {}", Decimal(r.low, frac), Decimal(r.high, frac));
            let reached = reach.map_or("numbers of more than 128 bits".into(), shown);
            let holds = Range::of(ty.scalar).map_or("numbers from 0".into(), shown);
            Err(ComputeError::ty(
                format!("`{}` of {} may reach {reached}", infer::name(op), infer::told(&told)),
                format!(
                    "{} holds {holds}: cast to a wider type before, promise less, or write wrapping(…) around an operand",
                    ty.scalar
                ),
            ))
        }
        None => Ok(Known::free(ty)),
    }
}

/// A length, if it is known.
fn length(ty: &Type, axis: usize) -> Option<i128> {
    match ty.shape.0.get(axis)? {
        Dim::Known(n) => Some((*n).into()),
        Dim::Symbol(_) => None,
    }
}

/// Sums of from `least` to `most` elements.
fn sums(of: Range, least: i128, most: i128) -> Reach {
    let times = |x: i128| [x.checked_mul(least), x.checked_mul(most)];
    Range::around(times(of.low).into_iter().chain(times(of.high)))
}

/// Means divide a sum, which must not wrap.
fn mean(of: Range, most: i128, ty: &Type) -> Reach {
    sums(of, most, most).then(|sum| {
        if Range::of(ty.scalar).is_none_or(|whole| whole.holds(sum)) { Reach::To(of) } else { Reach::To(sum) }
    })
}

fn doubled(x: i128, times: u32) -> Option<i128> {
    if times < 127 { x.checked_mul(1 << times) } else { (x == 0).then_some(0) }
}

/// The smallest mask that covers all up to `high`.
fn filled(high: i128) -> i128 {
    if high == 0 { 0 } else { i128::MAX >> (high.leading_zeros() - 1) }
}

fn reach(op: &Op, ranges: &[Option<Range>], types: &[&Type], ty: &Type) -> Reach {
    let known: Option<Vec<Range>> = ranges.iter().copied().collect();
    match (op, known.as_deref()) {
        (Op::Constant(tensor), _) => constant(tensor),
        (Op::Reduce(Reduction::Count, at), _) => match length(types[0], usize::from(*at)) {
            Some(n) => Reach::To(Range { low: 0, high: n }),
            None => Reach::Unknown,
        },
        (Op::Reduce(Reduction::ArgMin | Reduction::ArgMax, at), _) => {
            match length(types[0], usize::from(*at)) {
                Some(n) => Reach::To(Range { low: 0, high: (n - 1).max(0) }),
                None => Reach::Unknown,
            }
        }
        (Op::Cast(to), _) if types[0].scalar == Scalar::Bool => {
            Range::around([Some(0), doubled(1, to.frac().into())])
        }
        (_, Some([x])) => one(op, *x, types[0], ty),
        (Op::Concat(_), Some(all)) => {
            Reach::To(all.iter().copied().reduce(Range::with).expect("one operand at least"))
        }
        (_, Some([x, y])) => two(op, *x, *y, types, ty),
        _ => Reach::Unknown,
    }
}

fn constant(tensor: &Tensor) -> Reach {
    let mut all: Option<Range> = None;
    for i in 0..tensor.len() {
        let Some(n) = tensor.number(i) else { return Reach::Unknown };
        let one = Range { low: n, high: n };
        all = Some(all.map_or(one, |r| r.with(one)));
    }
    all.map_or(Reach::Unknown, Reach::To)
}

fn one(op: &Op, x: Range, from: &Type, ty: &Type) -> Reach {
    let zero = Range { low: 0, high: 0 };
    match op {
        Op::Neg => x.map(i128::checked_neg),
        Op::Abs if x.low >= 0 => Reach::To(x),
        Op::Abs => Range::around([
            Some(if x.high >= 0 { 0 } else { x.high.saturating_neg() }),
            x.low.checked_neg(),
            x.high.checked_abs(),
        ]),
        Op::Not if from.scalar.is_signed() => x.map(|x| Some(!x)),
        Op::Not => match Range::of(from.scalar) {
            Some(whole) => x.map(|x| Some(whole.high - x)),
            None => Reach::Unknown,
        },
        Op::ShiftLeft(by) => x.map(|x| doubled(x, u32::from(*by))),
        Op::ShiftRight(by) => x.map(|x| Some(x >> by.min(&127))),
        Op::Rescale(by) => x.map(|x| Some(x >> by.min(&127))),
        Op::Cast(to) if from.scalar.is_number() => {
            let (f, t) = (from.scalar.frac(), to.frac());
            x.map(|x| doubled(x >> f.saturating_sub(t).min(127), t.saturating_sub(f).into()))
        }
        Op::Reduce(reduction, at) => match (reduction, length(from, usize::from(*at))) {
            (Reduction::Sum, Some(n)) => sums(x, n, n),
            (Reduction::Min | Reduction::Max, Some(1..)) => Reach::To(x),
            (Reduction::Mean, Some(n @ 1..)) => mean(x, n, ty),
            _ => Reach::Unknown,
        },
        Op::PrefixSum(at) => match length(from, usize::from(*at)) {
            Some(n) => sums(x, 1, n.max(1)),
            None => Reach::Unknown,
        },
        Op::Pool { reduction, size, .. } => {
            let most = i128::from(size[0]) * i128::from(size[1]);
            match reduction {
                Reduction::Sum => sums(x, 1, most),
                Reduction::Mean => mean(x, most, ty),
                _ => Reach::To(x),
            }
        }
        Op::Scan(Scan::Sum) => match length(from, 0) {
            _ if x == zero => Reach::To(zero),
            Some(n) => sums(x, 1, n.max(1)),
            None => Reach::Unknown,
        },
        Op::Compact { .. } => Reach::To(x.with(zero)),
        Op::Broadcast(_)
        | Op::Reshape(_)
        | Op::Transpose(_)
        | Op::Slice { .. }
        | Op::Concat(_)
        | Op::Gather
        | Op::Permute
        | Op::Reveal(_)
        | Op::Scan(_) => Reach::To(x),
        _ => Reach::Unknown,
    }
}

fn two(op: &Op, x: Range, y: Range, types: &[&Type], ty: &Type) -> Reach {
    let product = || x.corners(y, i128::checked_mul);
    match op {
        Op::Add => Range::around([x.low.checked_add(y.low), x.high.checked_add(y.high)]),
        Op::Sub => Range::around([x.low.checked_sub(y.high), x.high.checked_sub(y.low)]),
        Op::Mul => product(),
        // Nothing is said of a quotient by 0, which is all bits set.
        Op::Div if y.low > 0 || y.high < 0 => {
            x.corners(y, |x, y| doubled(x, ty.scalar.frac().into())?.checked_div(y))
        }
        Op::Rem => {
            // By 0 the remainder is the dividend.
            let (low, high) = (x.low.min(0), x.high.max(0));
            match [y.low, y.high].map(i128::checked_abs) {
                [Some(a), Some(b)] if y.low > 0 || y.high < 0 => {
                    let most = a.max(b) - 1;
                    Reach::To(Range { low: low.max(-most), high: high.min(most) })
                }
                _ => Reach::To(Range { low, high }),
            }
        }
        Op::Min => Reach::To(Range { low: x.low.min(y.low), high: x.high.min(y.high) }),
        Op::Max => Reach::To(Range { low: x.low.max(y.low), high: x.high.max(y.high) }),
        Op::And if x.low >= 0 && y.low >= 0 => Reach::To(Range { low: 0, high: x.high.min(y.high) }),
        Op::Or | Op::Xor if x.low >= 0 && y.low >= 0 => {
            Reach::To(Range { low: 0, high: filled(x.high.max(y.high)) })
        }
        Op::Select => Reach::To(x.with(y)),
        Op::MatMul => match length(types[0], types[0].shape.rank() - 1) {
            Some(n) => product().then(|one| sums(one, n, n)),
            None => Reach::Unknown,
        },
        Op::Conv2d { steps, groups } => {
            let lengths = |ty: &Type| {
                let known = |dim: &Dim| match dim {
                    Dim::Known(n) => *n as usize,
                    // Images alone may be so many, and they do not meet.
                    Dim::Symbol(_) => 0,
                };
                ty.shape.0.iter().map(known).collect::<Vec<_>>()
            };
            let most =
                windows::Convolution::new(&lengths(types[0]), &lengths(types[1]), *steps, *groups).terms();
            // Windows at an edge have fewer factors.
            product().then(|one| sums(one, 0, most as i128))
        }
        _ => Reach::Unknown,
    }
}
