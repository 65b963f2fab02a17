//! ConvTranspose: a convolution of the value, with zeros in between, by reversed weights.

use super::prelude::*;
use crate::onnx::Attribute;

pub(super) const ALL: &[Operator] = &[Operator {
    inputs: 3,
    attributes: &[
        "auto_pad",
        "dilations",
        "group",
        "kernel_shape",
        "output_padding",
        "output_shape",
        "pads",
        "strides",
    ],
    error: Bound::ROUNDED,
    ..Operator::new("ConvTranspose", "A transposed convolution over one to three axes, with weights.", read)
}];

/// The numbers of an attribute, one for each axis.
fn sizes(op: &Reading<'_>, name: &str, n: usize, default: usize) -> Result<Vec<usize>, Fault> {
    let all = op.ints(name)?.unwrap_or_else(|| vec![default as i64; n]);
    let all: Option<Vec<usize>> =
        all.iter().map(|n| usize::try_from(*n).ok().filter(|n| *n < 1 << 12)).collect();
    let all = all.filter(|all| all.len() == n);
    all.ok_or_else(|| op.error(format!("its {name} do not fit its axes"), "check how the model was exported"))
}

fn read(op: &Reading<'_>, import: &mut Import) -> Result<Known, Fault> {
    let mut x = op.input(import, 0)?;
    let lengths = import.lengths_of(&x);
    if !(3..=5).contains(&lengths.len()) {
        let cause = format!("its value has the lengths {lengths:?}");
        return Err(op.error(cause, "it takes [n, channels, …] with one to three axes"));
    }
    let n = lengths.len() - 2;
    let (channels, plane) = (lengths[1], &lengths[2..]);
    let weights = op.weights(import, 1)?;
    let groups = usize::try_from(op.int("group", 1)?).unwrap_or(0);
    if weights.lengths.len() != lengths.len() {
        let cause = format!("its weights have the lengths {:?}", weights.lengths);
        return Err(op.error(cause, "give them the shape [in, out / groups, …]"));
    }
    let inputs = weights.lengths[0];
    if groups == 0 || inputs != channels || !inputs.is_multiple_of(groups) {
        let cause = format!("{inputs} filters in {groups} groups meet {channels} channels");
        return Err(op.error(cause, "give each channel its filter"));
    }
    let kernel = &weights.lengths[2..];
    let (strides, dilations) = (sizes(op, "strides", n, 1)?, sizes(op, "dilations", n, 1)?);
    let (mut pads, mut more) = (sizes(op, "pads", 2 * n, 0)?, sizes(op, "output_padding", n, 0)?);
    if strides.iter().chain(&dilations).chain(kernel).any(|n| *n == 0) {
        return Err(op.error(format!("its strides are {strides:?}"), "check how the model was exported"));
    }
    let dilated: Vec<usize> = (0..n).map(|k| (kernel[k] - 1) * dilations[k] + 1).collect();
    let auto = op.text("auto_pad", "NOTSET")?;
    let to = match op.ints("output_shape")? {
        Some(to) => {
            let last = to.len().checked_sub(n).map(|first| &to[first..]);
            let last: Option<Vec<usize>> =
                last.and_then(|to| to.iter().map(|n| usize::try_from(*n).ok()).collect());
            Some(last.ok_or_else(|| op.error(format!("its output_shape is {to:?}"), "save the model anew"))?)
        }
        None if auto.starts_with("SAME") => Some((0..n).map(|k| plane[k] * strides[k]).collect()),
        None => None,
    };
    if auto == "VALID" {
        pads = vec![0; 2 * n];
    }
    if let Some(to) = to {
        // The padding that follows from the lengths.
        for k in 0..n {
            let full = (plane[k] - 1) * strides[k] + dilated[k];
            let all = (full + more[k]).saturating_sub(to[k]);
            more[k] += to[k].saturating_sub(full + more[k]);
            let (less, rest) = (all / 2, all - all / 2);
            (pads[k], pads[n + k]) = if auto == "SAME_UPPER" { (less, rest) } else { (rest, less) };
        }
    }
    // Zeros between the elements.
    for k in (0..n).filter(|k| strides[*k] > 1) {
        x = apart(op, import, &x, k + 2, strides[k])?;
    }
    // Negative padding cuts the sums.
    let mut around: Vec<i64> = (0..2 * n).map(|k| (dilated[k % n] - 1) as i64 - pads[k] as i64).collect();
    (0..n).for_each(|k| around[n + k] += more[k] as i64);
    let turned = turned(&weights, groups);
    let bias = op.maybe(import, 2)?;
    let attributes = [
        ("pads", Attribute::Ints(around.iter().map(|n| (*n).max(0)).collect())),
        ("dilations", Attribute::Ints(dilations.iter().map(|n| *n as i64).collect())),
        ("group", Attribute::Int(groups as i64)),
    ];
    let made = op.call_all(import, "Conv", &[Some(&x), Some(&turned), bias.as_ref()], 1, &attributes)?;
    let made =
        made.into_iter().next().ok_or_else(|| op.error("it makes no value", "report this as a bug"))?;
    if around.iter().all(|n| *n >= 0) {
        return Ok(made);
    }
    let lengths = import.lengths_of(&made);
    let cut = |k: usize| around[k].min(0);
    let starts: Vec<i64> = (0..n).map(|k| -cut(k)).collect();
    let ends: Vec<i64> = (0..n).map(|k| lengths[k + 2] as i64 + cut(n + k)).collect();
    let axes: Vec<i64> = (0..n).map(|k| k as i64 + 2).collect();
    let [starts, ends, axes] = [starts, ends, axes].map(|all| Known::list(&all));
    op.call(import, "Slice", &[&made, &starts, &ends, &axes], &[])
}

/// The value's elements along an axis, with zeros between them, and none after the last one.
fn apart(
    op: &Reading<'_>,
    import: &mut Import,
    x: &Known,
    axis: usize,
    stride: usize,
) -> Result<Known, Fault> {
    let mut lengths: Vec<i64> = import.lengths_of(x).iter().map(|n| *n as i64).collect();
    lengths.insert(axis + 1, 1);
    let x = op.call(import, "Reshape", &[x, &Known::list(&lengths)], &[])?;
    let mut around = vec![0; 2 * lengths.len()];
    around[lengths.len() + axis + 1] = stride as i64 - 1;
    let x = op.call(import, "Pad", &[&x, &Known::list(&around)], &[])?;
    lengths.remove(axis + 1);
    lengths[axis] *= stride as i64;
    let x = op.call(import, "Reshape", &[&x, &Known::list(&lengths)], &[])?;
    let [start, end, axes] = [0, lengths[axis] - stride as i64 + 1, axis as i64].map(|n| Known::list(&[n]));
    op.call(import, "Slice", &[&x, &start, &end, &axes], &[])
}

/// The filters from inputs to outputs, reversed along all axes.
fn turned(weights: &Array, groups: usize) -> Known {
    let [inputs, outer] = [weights.lengths[0], weights.lengths[1]];
    let (inner, each) = (inputs / groups, weights.lengths[2..].iter().product::<usize>());
    let mut turned = Array::zeros(&[&[groups * outer, inner], &weights.lengths[2..]].concat());
    for (i, w) in weights.data.iter().enumerate() {
        let (input, output, place) = (i / (outer * each), i / each % outer, i % each);
        let filter = (input / inner * outer + output) * inner + input % inner;
        turned.data[filter * each + each - 1 - place] = *w;
    }
    Known::Floats(Arc::new(turned))
}
