//! Reductions of some axes, or of all.
//!
//! ```text
//! Sum, Max, Min          at the operand's scale: exact
//! Mean                   a sum, shifted by the bits of its count; the scale takes the rest
//! LogSumExp, Prod        at the nominal scale
//! L1, L2, LogSum, SumSquare   composed of others
//! ```

use super::{div::whole_quotient, prelude::*};
use crate::array::lines;
use hushwire_compute::{Op, Reduction, Val};

macro_rules! reductions {
    ($($operator:ident $name:literal $of:ident $error:expr, $doc:literal;)+) => {
        $(pub(super) const $operator: Operator = Operator {
            inputs: 2,
            attributes: &["axes", "keepdims", "noop_with_empty_axes"],
            twice: &[(1, "axes")],
            error: $error,
            ..Operator::new($name, $doc, |op, import| read(op, import, Reducing::$of))
        };)+

        /// A reduction.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum Reducing {
            $($of,)+
        }

        impl Reducing {
            fn name(self) -> &'static str {
                match self {
                    $(Reducing::$of => $name,)+
                }
            }
        }
    };
}

const ROOT: Bound = Bound::share(1.0, 1.0 / 32.0);

reductions! {
    REDUCE_L1 "ReduceL1" L1 Bound::EXACT, "The sum of absolute values along axes.";
    REDUCE_L2 "ReduceL2" L2 Bound::NORM, "The root of the sum of squares along axes.";
    REDUCE_LOG_SUM "ReduceLogSum" LogSum ROOT, "The logarithm of the sum along axes.";
    REDUCE_LOG_SUM_EXP "ReduceLogSumExp" LogSumExp Bound::ROW, "The logarithm of the sum of e^x along axes.";
    REDUCE_MAX "ReduceMax" Max Bound::EXACT, "The greatest element along axes.";
    REDUCE_MEAN "ReduceMean" Mean Bound::ROUNDED, "The mean along axes.";
    REDUCE_MIN "ReduceMin" Min Bound::EXACT, "The least element along axes.";
    REDUCE_PROD "ReduceProd" Prod Bound { element: 1.0, ..Bound::EXACT }.over("factors up to 1.5"), "The product along axes, of two elements at a time.";
    REDUCE_SUM "ReduceSum" Sum Bound::EXACT, "The sum along axes.";
    REDUCE_SUM_SQUARE "ReduceSumSquare" SumSquare Bound { element: 0.5, ..Bound::steps(0.5) }, "The sum of squares along axes.";
}

/// A reduction of axes.
#[derive(Clone, Debug, PartialEq)]
pub struct Reduce {
    of: Reducing,
    /// The reduced axes, in order.
    axes: Vec<usize>,
    /// The number of elements from which each result is computed.
    count: usize,
}

/// The axes with the reduced ones last, the number of rows, and the number of elements of a row.
fn rows(lengths: &[usize], axes: &[usize]) -> (Vec<usize>, [usize; 2]) {
    let kept: Vec<usize> = (0..lengths.len()).filter(|axis| !axes.contains(axis)).collect();
    let count = |axes: &[usize]| axes.iter().map(|axis| lengths[*axis]).product();
    ([&kept[..], axes].concat(), [count(&kept), count(axes)])
}

impl Definition for Reduce {
    fn name(&self) -> &'static str {
        self.of.name()
    }

    fn role(&self) -> ScaleRole {
        match self.of {
            Reducing::Max | Reducing::Min => ScaleRole::Keeps,
            Reducing::LogSumExp => ScaleRole::Function,
            _ => ScaleRole::Other,
        }
    }

    fn value(&self, reads: &[Arc<Array>], to: &[usize]) -> Array {
        let (order, [rows, n]) = rows(&reads[0].lengths, &self.axes);
        let turned = reads[0].transposed(&order);
        let (firsts, step) = lines(&[rows, n], 1);
        let one = |first: usize| {
            let all = (0..n).map(|i| f64::from(turned.data[first + i * step]));
            let made = match self.of {
                Reducing::Max => all.fold(f64::NEG_INFINITY, f64::max),
                Reducing::Min => all.fold(f64::INFINITY, f64::min),
                Reducing::Prod => all.product(),
                Reducing::LogSumExp => {
                    let most = all.clone().fold(f64::NEG_INFINITY, f64::max);
                    most + all.map(|x| (x - most).exp()).sum::<f64>().ln()
                }
                Reducing::Mean => all.sum::<f64>() / n as f64,
                _ => all.sum(),
            };
            made as f32
        };
        Array { lengths: to.to_vec(), data: firsts.into_iter().map(one).collect() }
    }

    fn lower<'b>(&self, lower: &mut Lower<'b>, site: Site<'_>) -> Result<Held<'b>, Fault> {
        let from = site.reads[0];
        let lengths = lower.lengths(from).to_vec();
        let (order, sizes) = rows(&lengths, &self.axes);
        let turned = |x: Val<'b>| {
            let axes = order.iter().map(|axis| *axis as u8).collect();
            let in_order = order.iter().enumerate().all(|(k, axis)| k == *axis);
            let x = if in_order { x } else { x.builder().apply(Op::Transpose(axes), &[x]) };
            x.reshape(shape(&sizes))
        };
        let to = shape(site.lengths);
        Ok(match self.of {
            Reducing::Max | Reducing::Min => {
                let held = lower.held(from);
                let of = if self.of == Reducing::Max { Reduction::Max } else { Reduction::Min };
                held.with(turned(held.val).reduce(of, 1).reshape(to))
            }
            Reducing::LogSumExp => {
                let x = lower.at_nominal(from, site.at);
                Held::nominal(turned(x).log_sum_exp().reshape(to))
            }
            Reducing::Prod => {
                let x = lower.at_nominal(from, site.at);
                Held::nominal(product(lower, turned(x), sizes).reshape(to))
            }
            Reducing::Mean => {
                let bits = self.count.ilog2() as u16;
                let x = lower.value(from);
                let mut sums = turned(x).reduce(Reduction::Sum, 1).reshape(to);
                if bits > 0 {
                    sums = (sums + lower.b.number(lower.nominal(), 1 << (bits - 1))) >> bits;
                }
                let node = lower.classes.fresh();
                let times = self.count as f64 / f64::from(1u32 << bits);
                let tied = lower.classes.tie(node, lower.node(from), times);
                assert!(tied, "what is fresh is tied to nothing");
                Held::cut_already(sums, node)
            }
            _ => {
                let x = lower.value(from);
                Held::cut_already(turned(x).reduce(Reduction::Sum, 1).reshape(to), lower.node(from))
            }
        })
    }

    /// A bound for the sum that is divided to a mean, at the scale of its elements.
    fn limits(&self, limits: &Limits<'_>) -> Vec<Limit> {
        if self.of != Reducing::Mean {
            return vec![];
        }
        let [free, whole] = [limits.room(0) / limits.free, limits.room(0)];
        vec![Limit { read: 0, greatest: limits.own * self.count as f64, most: free, whole }]
    }

    fn room(&self, room: &Room<'_>) -> f64 {
        match self.of {
            Reducing::Mean => room.left(room.own * self.count as f64, room.reads[0].node, 0.0),
            Reducing::Prod => room.own(room.frac()),
            _ => room.own(room.wide()),
        }
    }
}

/// Multiplies a row's first half by its second half, until one element is left.
fn product<'b>(lower: &Lower<'b>, x: Val<'b>, [rows, mut n]: [usize; 2]) -> Val<'b> {
    let frac = lower.numbers.frac;
    let half = lower.b.number(lower.fixed(2 * frac), 1 << (frac - 1));
    let mut x = x;
    while n > 1 {
        let part = |from: usize, to: usize| {
            x.builder().apply(Op::Slice { axis: 1, from: from as u64, to: to as u64 }, &[x])
        };
        let (middle, odd) = (n / 2, n % 2);
        let made = (part(0, middle) * part(middle, 2 * middle) + half).rescale(frac);
        x = if odd == 1 { lower.b.concat(1, &[made, part(n - 1, n)]) } else { made };
        n = middle + odd;
    }
    x.reshape(shape(&[rows]))
}

/// The axes of a reduction: given, or all. `None` if it reduces nothing.
fn axes(op: &Reading<'_>, import: &Import, rank: usize) -> Result<Option<Vec<usize>>, Fault> {
    let given = match op.integers(import, 1)? {
        Some(axes) => axes,
        None => op.ints("axes")?.unwrap_or_default(),
    };
    if given.is_empty() && op.flag("noop_with_empty_axes", false)? {
        return Ok(None);
    }
    let mut axes: Vec<usize> = given.iter().map(|axis| op.axis(*axis, rank)).collect::<Result<_, _>>()?;
    axes.sort_unstable();
    axes.dedup();
    Ok(Some(if axes.is_empty() { (0..rank).collect() } else { axes }))
}

/// The mean of integers, towards 0.
fn whole_mean(op: &Reading<'_>, import: &mut Import, at: usize) -> Result<Known, Fault> {
    let sum = read_as(op, import, Reducing::Sum)?;
    let count = |lengths: Vec<usize>| lengths.iter().product::<usize>().max(1);
    let each = count(import.lengths(at).to_vec()) / count(import.lengths_of(&sum));
    whole_quotient(op, import, &sum, &Known::Ints(vec![], vec![each as i64]))
}

fn read(op: &Reading<'_>, import: &mut Import, of: Reducing) -> Result<Known, Fault> {
    let at = op.layer(import, 0)?;
    match of {
        Reducing::Mean if op.reads_whole(import, 0) => whole_mean(op, import, at),
        Reducing::L2 | Reducing::LogSum | Reducing::LogSumExp if op.reads_whole(import, 0) => {
            Err(op.error("it reduces integers, and its result is none", "cast them to float32 before"))
        }
        _ => read_as(op, import, of),
    }
}

fn read_as(op: &Reading<'_>, import: &mut Import, of: Reducing) -> Result<Known, Fault> {
    let at = op.layer(import, 0)?;
    let first = match of {
        Reducing::L1 => op.call(import, "Abs", &[&Known::Layer(at)], &[])?,
        Reducing::L2 | Reducing::SumSquare => op.call(import, "Mul", &[&Known::Layer(at); 2], &[])?,
        _ => Known::Layer(at),
    };
    let Known::Layer(at) = first else { return Ok(first) };
    let from = import.lengths(at).to_vec();
    let keep = op.flag("keepdims", true)?;
    let mut made = first;
    if let Some(axes) = axes(op, import, from.len())? {
        let to: Vec<usize> = (0..from.len())
            .filter(|axis| keep || !axes.contains(axis))
            .map(|axis| if axes.contains(&axis) { 1 } else { from[axis] })
            .collect();
        let count: usize = axes.iter().map(|axis| from[*axis]).product();
        let one = matches!(
            of,
            Reducing::LogSumExp | Reducing::Mean | Reducing::Prod | Reducing::Max | Reducing::Min
        );
        let of = if one { of } else { Reducing::Sum };
        made = op.made(import, Kind::Reduce(Reduce { of, axes, count }), vec![at], to)?;
    }
    match of {
        Reducing::L2 => op.call(import, "Sqrt", &[&made], &[]),
        Reducing::LogSum => op.call(import, "Log", &[&made], &[]),
        _ => Ok(made),
    }
}

#[cfg(test)]
mod tests {
    use super::super::checks::check;
    use crate::{Array, Floats, Network, onnx::Attribute, zoo::Writer};

    /// Along the last axis, along the first one, and along all.
    #[test]
    fn along_some_axes() {
        type Row = fn(&[f32]) -> f32;
        let all: [(&str, Row, f32); 9] = [
            ("ReduceSum", |x| x.iter().sum(), 4.0),
            ("ReduceMean", |x| x.iter().sum::<f32>() / x.len() as f32, 2.0),
            ("ReduceMax", |x| x.iter().copied().fold(f32::MIN, f32::max), 1.0),
            ("ReduceMin", |x| x.iter().copied().fold(f32::MAX, f32::min), 1.0),
            ("ReduceProd", |x| x.iter().product(), 8.0),
            ("ReduceL1", |x| x.iter().map(|x| x.abs()).sum(), 4.0),
            ("ReduceL2", |x| x.iter().map(|x| x * x).sum::<f32>().sqrt(), 8.0),
            ("ReduceSumSquare", |x| x.iter().map(|x| x * x).sum(), 12.0),
            ("ReduceLogSumExp", |x| x.iter().map(|x| x.exp()).sum::<f32>().ln(), 2.0),
        ];
        for (at, (op, formula, steps)) in all.into_iter().enumerate() {
            let (axes, keep) = [(vec![3], 0), (vec![-3], 1), (vec![1, 3], 0), (vec![], 1)][at % 4].clone();
            let mut w = Writer::new("r", 1, &[1, 2, 3, 2]);
            let attributes = [("axes", Attribute::Ints(axes.clone())), ("keepdims", Attribute::Int(keep))];
            let y = w.op(op, &["input"], &attributes);
            check(&w.finish(&y), steps, |x| {
                let at = |i: usize, j: usize, k: usize| x.data[(i * 3 + j) * 2 + k];
                match &axes[..] {
                    [3] => (0..6).map(|r| formula(&x.data[2 * r..2 * r + 2])).collect(),
                    [-3] => (0..6).map(|r| formula(&[x.data[r], x.data[6 + r]])).collect(),
                    [] => vec![formula(&x.data)],
                    _ => (0..3)
                        .map(|j| formula(&[at(0, j, 0), at(0, j, 1), at(1, j, 0), at(1, j, 1)]))
                        .collect(),
                }
            });
        }
        let mut w = Writer::new("r", 1, &[2, 3]);
        let y = w.op("Abs", &["input"], &[]);
        let y = w.op("ReduceLogSum", &[&y], &[("axes", Attribute::Ints(vec![1]))]);
        check(&w.finish(&y), 3.0, |x| {
            x.data.chunks(3).map(|x| x.iter().map(|x| x.abs()).sum::<f32>().ln()).collect()
        });
    }

    /// The mean of integers is an integer; a root of integers would not be one.
    #[test]
    fn integers_stay_integers() {
        let mut w = Writer::new("r", 1, &[2, 3]);
        let scaled = w.weights(&[], vec![5.0]);
        let x = w.op("Mul", &["input", &scaled], &[]);
        let whole = w.op("Cast", &[&x], &[("to", Attribute::Int(7))]);
        let axes = [("axes", Attribute::Ints(vec![1]))];
        let y = w.op("ReduceMean", &[&whole], &axes);
        let y = w.op("Cast", &[&y], &[("to", Attribute::Int(1))]);
        let network = Network::new(w.finish(&y), Some(&[2, 3])).expect("a network");
        let x = Array::new(&[2, 3], vec![-0.5, -1.9, 1.1, 0.3, 3.3, 1.3]);
        let floats = Floats::new(&network, &x, true).expect("it fits");
        // -2, -9 and 5 have the mean -2, and 1, 16 and 6 have 7⅔.
        assert_eq!(floats.value(network.outputs[0].1).data, [-2.0, 7.0]);
        for op in ["ReduceL2", "ReduceLogSum", "ReduceLogSumExp"] {
            let mut w = Writer::new("r", 1, &[2, 3]);
            let whole = w.op("Cast", &["input"], &[("to", Attribute::Int(7))]);
            let y = w.op(op, &[&whole], &axes);
            let refused = Network::new(w.finish(&y), None).err().map(|fault| fault.to_string());
            assert!(refused.is_some_and(|fault| fault.contains("it reduces integers")), "{op}");
        }
    }
}
