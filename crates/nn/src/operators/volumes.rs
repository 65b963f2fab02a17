//! Windows over any number of axes, by moves of elements: convolutions of volumes, dilated pools,
//! and the pools of ONNX that other files do not cover.
//!
//! A convolution of volumes is a convolution of images whose channels are the channels of all
//! planes of a window. A pool handles one axis after another: the elements of each window are
//! placed side by side, and then reduced.

use super::{pick, prelude::*};
use crate::onnx::Attribute;

pub(super) const ALL: &[Operator] = &[
    Operator {
        attributes: &["auto_pad", "ceil_mode", "dilations", "kernel_shape", "p", "pads", "strides"],
        error: Bound::NORM,
        ..Operator::new("LpPool", "The Lp norm of each window.", |op, import| {
            let x = op.input(import, 0)?;
            let windows = windows(op, &import.lengths_of(&x), None)?;
            norm(op, import, &x, |op, import, x| reduced(op, import, x, &windows, Pooling::Sum))
        })
    },
    Operator {
        attributes: &["p"],
        error: Bound::NORM,
        ..Operator::new("GlobalLpPool", "The Lp norm of all rows and columns.", |op, import| {
            let x = op.input(import, 0)?;
            let rank = import.lengths_of(&x).len();
            norm(op, import, &x, |op, import, x| super::norms::reduced(op, import, "ReduceSum", x, 2..rank))
        })
    },
];

/// LOCAL: the largest extent of a window.
const MOST: usize = 1 << 12;

/// The windows along one axis.
#[derive(Clone, Copy, Debug)]
pub(super) struct Windows {
    pub(super) size: usize,
    pub(super) stride: usize,
    pub(super) dilation: usize,
    pub(super) before: usize,
    pub(super) after: usize,
    /// The number of windows.
    pub(super) count: usize,
}

impl Windows {
    /// The place of an element of a window; `None` beyond `n` elements.
    fn place(self, window: usize, k: usize, n: usize) -> Option<usize> {
        (window * self.stride + k * self.dilation).checked_sub(self.before).filter(|at| *at < n)
    }

    /// The number of a window's elements among `n`, or among these and the padding.
    fn elements(self, window: usize, n: usize, around: bool) -> usize {
        let within = |k: &usize| {
            if around {
                window * self.stride + k * self.dilation < self.before + n + self.after
            } else {
                self.place(window, *k, n).is_some()
            }
        };
        (0..self.size).filter(within).count()
    }
}

/// The windows that attributes describe, along all axes after the channels. `size` replaces the
/// attribute.
pub(super) fn windows(
    op: &Reading<'_>,
    lengths: &[usize],
    size: Option<&[usize]>,
) -> Result<Vec<Windows>, Fault> {
    let n = lengths.len().saturating_sub(2);
    let list = |name: &str, count: usize, default: usize| {
        let all = op.ints(name)?.unwrap_or_else(|| vec![default as i64; count]);
        let all: Option<Vec<usize>> =
            all.iter().map(|n| usize::try_from(*n).ok().filter(|n| *n <= MOST)).collect();
        let all = all.filter(|all| all.len() == count);
        all.ok_or_else(|| op.error(format!("its {name} do not fit {n} axes"), "save the model anew"))
    };
    let size = match size {
        Some(size) => size.to_vec(),
        None => list("kernel_shape", n, 0)?,
    };
    let (strides, dilations, pads) =
        (list("strides", n, 1)?, list("dilations", n, 1)?, list("pads", 2 * n, 0)?);
    let auto = op.text("auto_pad", "NOTSET")?;
    let ceil = op.flag("ceil_mode", false)?;
    let mut all = vec![];
    for k in 0..n {
        let (of, size, stride, dilation) = (lengths[k + 2], size[k], strides[k], dilations[k]);
        if n == 0 || size == 0 || stride == 0 || dilation == 0 {
            return Err(op.error("its windows make no sense", "check how the model was exported"));
        }
        let reach = (size - 1) * dilation + 1;
        let (before, after) = match &auto[..] {
            "" | "NOTSET" => (pads[k], pads[n + k]),
            "VALID" => (0, 0),
            "SAME_UPPER" | "SAME_LOWER" => {
                let around = ((of.div_ceil(stride).max(1) - 1) * stride + reach).saturating_sub(of);
                let (less, more) = (around / 2, around - around / 2);
                if auto == "SAME_UPPER" { (less, more) } else { (more, less) }
            }
            other => return Err(op.error(format!("its auto_pad is {}", shown(other)), "give pads")),
        };
        let room = (of + before + after).checked_sub(reach).ok_or_else(|| {
            op.error(format!("its windows of {reach} do not fit {of} elements"), "check how it was exported")
        })?;
        let mut count = room / stride + 1;
        // Implementations disagree on the place of windows that do not cover all elements.
        if auto.starts_with("SAME") && (count - 1) * stride + reach + 1 < of {
            let cause = format!("its windows with auto_pad {auto} leave out more than an element of a side");
            return Err(op.error(cause, "give pads in place of auto_pad"));
        }
        // One more window, which begins within the elements or before them.
        if ceil && room % stride != 0 && count * stride < of + before {
            count += 1;
        }
        all.push(Windows { size, stride, dilation, before, after, count });
    }
    Ok(all)
}

/// The operation on a window's elements.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Pooling {
    Max,
    Sum,
    /// The mean; the flag tells whether padding counts.
    Mean(bool),
}

/// Reduces the windows of a value along one axis after another.
pub(super) fn reduced(
    op: &Reading<'_>,
    import: &mut Import,
    x: &Known,
    windows: &[Windows],
    pooling: Pooling,
) -> Result<Known, Fault> {
    let from = import.lengths_of(x);
    let mut made = x.clone();
    for (k, one) in windows.iter().enumerate() {
        let (at, n) = (k + 2, from[k + 2]);
        if one.size == 1 && one.stride == 1 && one.before == 0 && one.count == n {
            continue;
        }
        let mut places = vec![];
        let mut lacks = false;
        for window in 0..one.count {
            let first = (0..one.size).find_map(|k| one.place(window, k, n));
            if first.is_none() && pooling == Pooling::Max {
                let remedy = "there is less around than a window is wide";
                return Err(op.error("a window lies beyond all elements", remedy));
            }
            for k in 0..one.size {
                let place = one.place(window, k, n);
                lacks |= place.is_none();
                // Padding is replaced by another element of the window for a maximum, else by the
                // zero after all elements.
                places.push(place.or(first.filter(|_| pooling == Pooling::Max)).unwrap_or(n));
            }
        }
        if lacks && pooling != Pooling::Max {
            let rank = from.len();
            let mut pads = vec![0; 2 * rank];
            pads[rank + at] = 1;
            made = op.call(import, "Pad", &[&made, &Known::list(&pads)], &[])?;
        }
        made = pick::pick(op, import, made, at, places)?;
        let mut lengths = import.lengths_of(&made);
        lengths[at] = one.count;
        lengths.insert(at + 1, one.size);
        made = pick::reshaped(op, import, made, lengths)?;
        let reduction = if pooling == Pooling::Max { "ReduceMax" } else { "ReduceSum" };
        let axes = Known::list(&[at as i64 + 1]);
        made = op.call(import, reduction, &[&made, &axes], &[("keepdims", Attribute::Int(0))])?;
    }
    let Pooling::Mean(around) = pooling else { return Ok(made) };
    let counts = windows.iter().zip(&from[2..]).map(|(one, n)| {
        (0..one.count).map(|window| one.elements(window, *n, around).max(1)).collect::<Vec<_>>()
    });
    let mut all = vec![1.0f32];
    for along in counts {
        all = all.iter().flat_map(|x| along.iter().map(move |n| x / *n as f32)).collect();
    }
    let lengths: Vec<usize> = windows.iter().map(|one| one.count).collect();
    op.call(import, "Mul", &[&made, &Known::floats(&lengths, all)], &[])
}

/// The p-th root of sums of p-th powers of absolute values.
fn norm(
    op: &Reading<'_>,
    import: &mut Import,
    x: &Known,
    sums: impl Fn(&Reading<'_>, &mut Import, &Known) -> Result<Known, Fault>,
) -> Result<Known, Fault> {
    let p = op.int("p", 2)?;
    if !(1..=16).contains(&p) {
        return Err(op.error(format!("its p is {p}"), "take 1 to 16"));
    }
    let power = |import: &mut Import, of: &Known, by: f32| {
        op.call(import, "Pow", &[of, &Known::floats(&[], vec![by])], &[])
    };
    let mut made = x.clone();
    if p % 2 == 1 {
        made = op.call(import, "Abs", &[&made], &[])?;
    }
    if p > 1 {
        made = power(import, &made, p as f32)?;
    }
    made = sums(op, import, &made)?;
    if p == 1 { Ok(made) } else { power(import, &made, 1.0 / p as f32) }
}

/// A convolution of volumes as a convolution of images: the planes of a window are channels.
pub(super) fn convolution(op: &Reading<'_>, import: &mut Import, x: &Known) -> Result<Known, Fault> {
    let lengths = import.lengths_of(x);
    let weights = op.weights(import, 1)?;
    let [outputs, inner, depth, height, width] = weights.lengths[..] else {
        let cause = format!("its weights have the lengths {:?}", weights.lengths);
        return Err(op.error(cause, "give them the shape [out, in / groups, planes, rows, columns]"));
    };
    let all = windows(op, &lengths, Some(&[depth, height, width]))?;
    let [planes, rows, columns] = all[..] else {
        return Err(op.error("it has not three axes", "save the model anew"));
    };
    let mut pads = vec![0; 10];
    (pads[2], pads[7]) = (planes.before as i64, planes.after as i64);
    let x = op.call(import, "Pad", &[x, &Known::list(&pads)], &[])?;
    let place = |plane: usize, k: usize| plane * planes.stride + k * planes.dilation;
    let places = (0..planes.count).flat_map(|plane| (0..depth).map(move |k| place(plane, k))).collect();
    let x = pick::pick(op, import, x, 2, places)?;
    let [n, channels, _, down, across] = lengths[..] else {
        return Err(op.error("its value is no volume", "save the model anew"));
    };
    let x = pick::reshaped(op, import, x, vec![n, channels, planes.count, depth, down, across])?;
    let x = pick::turned(op, import, &x, &[0, 2, 1, 3, 4, 5])?;
    let x = pick::reshaped(op, import, x, vec![n * planes.count, channels * depth, down, across])?;
    let flat = [outputs, inner * depth, height, width];
    let weights = Known::Floats(Arc::new(Array::clone(&weights).reshaped(&flat)));
    let list = |of: [usize; 2]| Attribute::Ints(of.map(|n| n as i64).to_vec());
    let around = [rows.before, columns.before, rows.after, columns.after].map(|n| n as i64);
    let attributes = [
        ("pads", Attribute::Ints(around.to_vec())),
        ("strides", list([rows.stride, columns.stride])),
        ("dilations", list([rows.dilation, columns.dilation])),
        ("group", Attribute::Int(op.int("group", 1)?)),
    ];
    let bias = op.maybe(import, 2)?;
    let made = op.call_all(import, "Conv", &[Some(&x), Some(&weights), bias.as_ref()], 1, &attributes)?;
    let made =
        made.into_iter().next().ok_or_else(|| op.error("it makes no value", "report this as a bug"))?;
    let to = vec![n, planes.count, outputs, rows.count, columns.count];
    let made = pick::reshaped(op, import, made, to)?;
    pick::turned(op, import, &made, &[0, 2, 1, 3, 4])
}

#[cfg(test)]
mod tests {
    use super::super::checks::check;
    use crate::{onnx::Attribute, zoo::Writer};

    fn ints(all: &[i64]) -> Attribute {
        Attribute::Ints(all.to_vec())
    }

    /// Windows of two planes and two columns, with strides and a plane of zeros before.
    #[test]
    fn volumes() {
        let by = [0.5, -1.0, 0.25, 2.0];
        let mut w = Writer::new("v", 1, &[1, 1, 2, 1, 3]);
        let kernel = w.weights(&[1, 1, 2, 1, 2], by.to_vec());
        let attributes = [("pads", ints(&[1, 0, 0, 0, 0, 0]))];
        let y = w.op("Conv", &["input", &kernel], &attributes);
        check(&w.finish(&y), 4.0, |x| {
            let at = |p: i64, c: i64| if p < 0 { 0.0 } else { x.data[(p * 3 + c) as usize] };
            let one = |p: i64, c: i64| {
                by[0] * at(p - 1, c) + by[1] * at(p - 1, c + 1) + by[2] * at(p, c) + by[3] * at(p, c + 1)
            };
            vec![one(0, 0), one(0, 1), one(1, 0), one(1, 1)]
        });
    }

    #[test]
    fn dilated_pools_and_norms() {
        let rest = [("kernel_shape", ints(&[2])), ("dilations", ints(&[2])), ("pads", ints(&[1, 0]))];
        type Pair = fn(Option<f32>, f32) -> f32;
        let all: [(&str, Pair); 3] = [
            ("MaxPool", |a, b| a.unwrap_or(b).max(b)),
            ("AveragePool", |a, b| a.map_or(b, |a| (a + b) / 2.0)),
            ("LpPool", |a, b| (a.unwrap_or(0.0).powi(2) + b * b).sqrt()),
        ];
        for (op, pair) in all {
            let mut w = Writer::new("p", 1, &[1, 2, 4]);
            let y = w.op(op, &["input"], &rest);
            check(&w.finish(&y), 8.0, |x| {
                let row = |x: &[f32]| [pair(None, x[1]), pair(Some(x[0]), x[2]), pair(Some(x[1]), x[3])];
                x.data.chunks(4).flat_map(row).collect()
            });
        }
    }
}
