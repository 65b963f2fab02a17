//! Normalizations that are composed of other operators.

use super::{pick, prelude::*};
use crate::onnx::Attribute;

/// Distances from the mean, divided by the deviation, times weights.
pub(super) const NORMAL: Bound = Bound::share(4.0, 1.0).over("deviations from 1 on, and weights up to 2");

/// The operators.
pub(super) const ALL: &[Operator] = &[
    Operator {
        inputs: 3,
        attributes: &["epsilon"],
        error: NORMAL,
        ..Operator::new(
            "InstanceNormalization",
            "Each channel of each sample minus its mean, divided by its standard deviation, times weights, plus weights.",
            instance,
        )
    },
    Operator {
        inputs: 3,
        attributes: &["epsilon", "num_groups", "stash_type"],
        error: NORMAL,
        ..Operator::new(
            "GroupNormalization",
            "Each group of channels minus its mean, divided by its standard deviation; channels times weights, plus weights.",
            group,
        )
    },
    Operator {
        inputs: 2,
        attributes: &["axis", "epsilon", "stash_type"],
        error: NORMAL,
        ..Operator::new(
            "RMSNormalization",
            "Along all axes from `axis` on: divided by the root of the mean square, times weights.",
            root,
        )
    },
    Operator {
        attributes: &["axes"],
        error: NORMAL,
        ..Operator::new(
            "MeanVarianceNormalization",
            "Along axes: minus the mean, divided by the standard deviation.",
            mean_variance,
        )
    },
    Operator {
        attributes: &["axis", "p"],
        error: Bound::share(2.0, 1.0).over("norms from 1 on"),
        ..Operator::new("LpNormalization", "Divided by the L1 or L2 norm along an axis.", norm)
    },
    Operator {
        attributes: &["alpha", "beta", "bias", "size"],
        error: Bound::operand(2.0, 2.0).over("operands up to 4"),
        ..Operator::new(
            "LRN",
            "Divided by a power of the sum of squares of neighbouring channels, times `alpha` / `size`, plus `bias`.",
            local,
        )
    },
];

/// Rows minus their means, divided by their deviations.
fn normal(
    op: &Reading<'_>,
    import: &mut Import,
    x: Known,
    rows: &[usize],
    epsilon: f32,
) -> Result<Known, Fault> {
    let x = pick::reshaped(op, import, x, rows.to_vec())?;
    let ones = Known::floats(&rows[1..], vec![1.0; rows[1]]);
    let attributes = [("axis", Attribute::Int(-1)), ("epsilon", Attribute::Float(epsilon))];
    op.call(import, "LayerNormalization", &[&x, &ones], &attributes)
}

/// Values times weights of channels, plus weights of channels.
fn by_channels(
    op: &Reading<'_>,
    import: &mut Import,
    x: &Known,
    [scale, shift]: [Vec<f32>; 2],
) -> Result<Known, Fault> {
    let mut along = vec![1; import.lengths_of(x).len() - 1];
    along[0] = scale.len();
    let made = op.call(import, "Mul", &[x, &Known::floats(&along, scale)], &[])?;
    op.call(import, "Add", &[&made, &Known::floats(&along, shift)], &[])
}

/// The value with its samples and channels.
fn channels(op: &Reading<'_>, import: &Import) -> Result<(Known, Vec<usize>), Fault> {
    let x = op.input(import, 0)?;
    let lengths = import.lengths_of(&x);
    match lengths[..] {
        [_, _, ..] => Ok((x, lengths)),
        _ => Err(op.error(format!("its value has the lengths {lengths:?}"), "give it [n, channels, …]")),
    }
}

fn instance(op: &Reading<'_>, import: &mut Import) -> Result<Known, Fault> {
    let (x, lengths) = channels(op, import)?;
    let count: usize = lengths.iter().product();
    let rows = [lengths[0] * lengths[1], count / (lengths[0] * lengths[1])];
    let weights = [op.weights(import, 1)?.data.clone(), op.weights(import, 2)?.data.clone()];
    if weights.iter().any(|of| of.len() != lengths[1]) {
        return Err(op.error("its weights are not one for each channel", "save the model anew"));
    }
    let made = normal(op, import, x, &rows, op.float("epsilon", 1e-5)?)?;
    let made = pick::reshaped(op, import, made, lengths)?;
    by_channels(op, import, &made, weights)
}

fn group(op: &Reading<'_>, import: &mut Import) -> Result<Known, Fault> {
    let (x, lengths) = channels(op, import)?;
    let channels = lengths[1];
    let groups =
        usize::try_from(op.int("num_groups", 0)?).ok().filter(|n| *n > 0 && channels.is_multiple_of(*n));
    let groups = groups.ok_or_else(|| {
        op.error(format!("its groups do not fit {channels} channels"), "save the model anew")
    })?;
    let count: usize = lengths.iter().product();
    let rows = [lengths[0] * groups, count / (lengths[0] * groups)];
    // Before set 21 there is one weight for each group.
    let spread = |of: &Array| match of.data.len() {
        n if n == channels => Ok(of.data.clone()),
        n if n == groups => {
            Ok(of.data.iter().flat_map(|w| std::iter::repeat_n(*w, channels / groups)).collect())
        }
        n => Err(op.error(format!("it has {n} weights for {channels} channels"), "save the model anew")),
    };
    let [scale, shift] = [op.weights(import, 1)?, op.weights(import, 2)?];
    let weights = [spread(&scale)?, spread(&shift)?];
    let made = normal(op, import, x, &rows, op.float("epsilon", 1e-5)?)?;
    let made = pick::reshaped(op, import, made, lengths)?;
    by_channels(op, import, &made, weights)
}

/// A reduction of axes, which keep the length 1.
pub(super) fn reduced(
    op: &Reading<'_>,
    import: &mut Import,
    reduction: &str,
    x: &Known,
    axes: std::ops::Range<usize>,
) -> Result<Known, Fault> {
    let axes = axes.map(|axis| axis as i64).collect();
    op.call(import, reduction, &[x], &[("axes", Attribute::Ints(axes))])
}

fn root(op: &Reading<'_>, import: &mut Import) -> Result<Known, Fault> {
    let x = op.input(import, 0)?;
    let rank = import.lengths_of(&x).len();
    let axis = op.axis(op.int("axis", -1)?, rank)?;
    let square = op.call(import, "Mul", &[&x, &x], &[])?;
    let reduced = reduced(op, import, "ReduceMean", &square, axis..rank)?;
    let epsilon = Known::floats(&[], vec![op.float("epsilon", 1e-5)?]);
    let sum = op.call(import, "Add", &[&reduced, &epsilon], &[])?;
    let root = op.call(import, "Sqrt", &[&sum], &[])?;
    let made = op.call(import, "Div", &[&x, &root], &[])?;
    let scale = Known::Floats(op.weights(import, 1)?);
    op.call(import, "Mul", &[&made, &scale], &[])
}

/// x e^(−β log(bias + α mean)), with the mean of `size` squares.
fn local(op: &Reading<'_>, import: &mut Import) -> Result<Known, Fault> {
    let (x, lengths) = channels(op, import)?;
    let size = usize::try_from(op.int("size", 0)?).ok().filter(|n| (1..1 << 12).contains(n));
    let size = size.ok_or_else(|| op.error("it has no size", "save the model anew"))?;
    let (bias, alpha) = (op.float("bias", 1.0)?, op.float("alpha", 1e-4)?);
    let number = |x: f32| Known::floats(&[], vec![x]);
    let square = op.call(import, "Mul", &[&x, &x], &[])?;
    // Channels as rows of a plane.
    let plane = vec![lengths[0], 1, lengths[1], lengths[2..].iter().product()];
    let square = pick::reshaped(op, import, square, plane)?;
    let (before, after) = ((size - 1) / 2, size / 2);
    let mut pads = vec![0; 8];
    (pads[2], pads[6]) = (before as i64, after as i64);
    let square = op.call(import, "Pad", &[&square, &Known::list(&pads)], &[])?;
    let attributes = [("kernel_shape", Attribute::Ints(vec![size as i64, 1]))];
    let mean = op.call(import, "AveragePool", &[&square], &attributes)?;
    let mean = pick::reshaped(op, import, mean, lengths)?;
    let mean = op.call(import, "Mul", &[&mean, &number(alpha)], &[])?;
    let sum = op.call(import, "Add", &[&mean, &number(bias)], &[])?;
    let power = op.call(import, "Log", &[&sum], &[])?;
    let power = op.call(import, "Mul", &[&power, &number(-op.float("beta", 0.75)?)], &[])?;
    let factor = op.call(import, "Exp", &[&power], &[])?;
    op.call(import, "Mul", &[&x, &factor], &[])
}

/// The axes in an order with some of them last, and the lengths in that order.
fn last(lengths: &[usize], axes: &[usize]) -> (Vec<usize>, Vec<usize>) {
    let order: Vec<usize> =
        (0..lengths.len()).filter(|axis| !axes.contains(axis)).chain(axes.iter().copied()).collect();
    let turned = order.iter().map(|axis| lengths[*axis]).collect();
    (order, turned)
}

/// The inverse of an order.
fn inverse(order: &[usize]) -> Vec<usize> {
    let mut back = vec![0; order.len()];
    order.iter().enumerate().for_each(|(to, from)| back[*from] = to);
    back
}

fn mean_variance(op: &Reading<'_>, import: &mut Import) -> Result<Known, Fault> {
    let x = op.input(import, 0)?;
    let lengths = import.lengths_of(&x);
    let axes = op.ints("axes")?.unwrap_or_else(|| vec![0, 2, 3]);
    let axes = axes.iter().map(|axis| op.axis(*axis, lengths.len())).collect::<Result<Vec<_>, _>>()?;
    let (order, turned) = last(&lengths, &axes);
    let each: usize = axes.iter().map(|axis| lengths[*axis]).product();
    let rows = [lengths.iter().product::<usize>() / each, each];
    let x = pick::turned(op, import, &x, &order)?;
    let made = normal(op, import, x, &rows, 1e-9)?;
    let made = pick::reshaped(op, import, made, turned)?;
    pick::turned(op, import, &made, &inverse(&order))
}

fn norm(op: &Reading<'_>, import: &mut Import) -> Result<Known, Fault> {
    let x = op.input(import, 0)?;
    let lengths = import.lengths_of(&x);
    let axis = op.axis(op.int("axis", -1)?, lengths.len())?;
    let norm = match op.int("p", 2)? {
        1 => "L1",
        2 => "L2",
        p => return Err(op.error(format!("its p is {p}"), "take 1 or 2")),
    };
    let (order, _) = last(&lengths, &[axis]);
    let x = pick::turned(op, import, &x, &order)?;
    let made = super::normalizer::by(op, import, &x, norm)?;
    pick::turned(op, import, &made, &inverse(&order))
}
