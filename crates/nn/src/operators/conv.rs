//! Conv.

use super::{prelude::*, volumes};
use crate::{convolved::convolved, import::operator::ELEMENTS, onnx::Attribute};
use hushwire_compute::Steps;

pub(super) const CONV: Operator = Operator {
    inputs: 3,
    attributes: &["auto_pad", "dilations", "group", "kernel_shape", "pads", "strides"],
    error: Bound::ROUNDED,
    ..Operator::new("Conv", "A convolution over one to three axes, with weights.", read)
};
/// A convolution: windows and weights.
#[derive(Clone, Debug, PartialEq)]
pub struct Conv {
    /// `[out, in / groups, rows, columns]`.
    pub weights: Arc<Array>,
    /// One for each output channel.
    pub bias: Arc<Vec<f32>>,
    /// The strides and padding of the windows.
    pub steps: Steps,
    /// The number of independent groups of channels.
    pub groups: usize,
}

impl Definition for Conv {
    fn name(&self) -> &'static str {
        "Conv"
    }

    fn role(&self) -> ScaleRole {
        ScaleRole::Weights
    }

    fn part(&self, part: WeightPart) -> Cow<'_, [f32]> {
        part.of(&[(WeightPart::Factors, &self.weights.data), (WeightPart::Terms, &self.bias)])
    }

    /// Rows are filters, columns are channels.
    fn factors(&self) -> Option<Factors> {
        let [rows, inner] = [self.weights.lengths[0], self.weights.lengths[2..].iter().product()];
        Some(Factors { rows, inner })
    }

    fn products(&self, made: u64, _: &[&[usize]]) -> u64 {
        made * self.weights.lengths[1..].iter().product::<usize>() as u64
    }

    fn value(&self, reads: &[Arc<Array>], to: &[usize]) -> Array {
        convolved(self, &reads[0], to)
    }

    fn lower<'b>(&self, lower: &mut Lower<'b>, site: Site<'_>) -> Result<Held<'b>, Fault> {
        let (at, from) = (site.at, site.reads[0]);
        let x = lower.value(from);
        let node = lower.classes.fresh();
        let w = lower.factors(at, self.weights.lengths.clone(), from, node);
        let bias = lower.terms(at, vec![1, site.lengths[1], 1, 1], node);
        let sums = x.conv2d(w, self.steps, self.groups as u32);
        Ok(Held::wide(sums + bias.broadcast(shape(site.lengths)), node, lower.halved(at)))
    }
}

/// The attributes of windows over one axis as those of windows over rows and columns, which leave
/// rows unchanged.
pub(super) fn of_rows(op: &Reading<'_>) -> Vec<(String, Attribute)> {
    let row = |name: &str, all: &[i64]| match (name, all) {
        ("pads", [before, after]) => vec![0, *before, 0, *after],
        ("output_padding", [n]) => vec![0, *n],
        (_, [n]) => vec![1, *n],
        (_, all) => all.to_vec(),
    };
    let of = |(name, of): (&String, &Attribute)| match of {
        Attribute::Ints(all) => (name.clone(), Attribute::Ints(row(name, all))),
        of => (name.clone(), of.clone()),
    };
    op.node.attributes.iter().map(of).collect()
}

/// Replaces an operator over one axis by one over rows and columns, with a single row.
fn flat(op: &Reading<'_>, import: &mut Import, of: &Known) -> Result<Known, Fault> {
    let axes = Known::list(&[2]);
    let x = op.call(import, "Unsqueeze", &[of, &axes], &[])?;
    let weights = op.weights(import, 1)?;
    let [outputs, inner, size] = weights.lengths[..] else {
        let cause = format!("its weights have the lengths {:?}", weights.lengths);
        return Err(op.error(cause, "give them the shape [out, in / groups, elements]"));
    };
    let weights = Known::Floats(Arc::new(Array::clone(&weights).reshaped(&[outputs, inner, 1, size])));
    let bias = op.maybe(import, 2)?;
    let attributes = of_rows(op);
    let attributes: Vec<(&str, Attribute)> =
        attributes.iter().map(|(name, of)| (&name[..], of.clone())).collect();
    let inputs = [Some(&x), Some(&weights), bias.as_ref()];
    let made = op.call_all(import, &op.node.op, &inputs, 1, &attributes)?;
    op.call(import, "Squeeze", &[&made[0], &axes], &[])
}

fn read(op: &Reading<'_>, import: &mut Import) -> Result<Known, Fault> {
    let x = op.input(import, 0)?;
    if import.lengths_of(&x).len() == 3 {
        return flat(op, import, &x);
    }
    if import.lengths_of(&x).len() == 5 {
        return volumes::convolution(op, import, &x);
    }
    let (at, [n, channels, rows, columns]) = op.images(import)?;
    let weights = op.weights(import, 1)?;
    let groups = usize::try_from(op.int("group", 1)?).unwrap_or(0);
    let [outputs, inner, height, width] = weights.lengths[..] else {
        let cause = format!("its weights have the lengths {:?}", weights.lengths);
        return Err(op.error(cause, "give them the shape [out, in / groups, rows, columns]"));
    };
    if groups == 0 || inner.checked_mul(groups) != Some(channels) || outputs % groups != 0 {
        let cause =
            format!("{outputs} filters of {inner} channels in {groups} groups meet {channels} channels");
        return Err(op.error(cause, "give each filter the channels of its group"));
    }
    if op.sizes("kernel_shape", [height, width])? != [height, width] {
        let cause = format!("its kernel_shape is another than that of its weights, {:?}", weights.lengths);
        return Err(op.error(cause, "save the model anew"));
    }
    let said = op.said([height, width])?;
    let (steps, [down, across]) = said.over(&op.place, [rows, columns])?;
    let dilated = (0..2).map(|k| (said.size[k] - 1) * said.dilations[k] + 1).product::<usize>();
    if (outputs * inner).checked_mul(dilated).is_none_or(|n| n > ELEMENTS) {
        return Err(op.error("its dilated weights are too many", "give a tensor at most 2^27 elements"));
    }
    let weights = spread(weights, said.dilations);
    let bias = match op.maybe_weights(import, 2)? {
        Some(bias) if bias.data.len() == outputs => bias.data.clone(),
        Some(bias) => {
            let cause = format!("its bias has {} elements for {outputs} channels", bias.data.len());
            return Err(op.error(cause, "save the model anew"));
        }
        None => vec![0.0; outputs],
    };
    let conv = Conv { weights, bias: Arc::new(bias), steps, groups };
    op.made(import, Kind::Conv(conv), vec![at], vec![n, outputs, down, across])
}

/// Weights with zeros in between, for dilated windows.
fn spread(weights: Arc<Array>, dilations: [usize; 2]) -> Arc<Array> {
    if dilations == [1; 2] {
        return weights;
    }
    let [outputs, inner, rows, columns] = weights.lengths[..] else { return weights };
    let [height, width] = [(rows - 1) * dilations[0] + 1, (columns - 1) * dilations[1] + 1];
    let mut wide = Array::zeros(&[outputs, inner, height, width]);
    for (i, w) in weights.data.iter().enumerate() {
        let (filter, row, column) = (i / (rows * columns), i / columns % rows, i % columns);
        wide.data[(filter * height + row * dilations[0]) * width + column * dilations[1]] = *w;
    }
    Arc::new(wide)
}
