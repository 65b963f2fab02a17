//! Recipes of the owner's inputs: from which weights, and at which scale.

use super::{Numbers, Secure, functions::Normalization};
use crate::{Kind, Network, NnError, scale::Scales};
use hushwire_compute::{Scalar, Tensor};

/// A part of a layer's weights.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// The factor of values.
    Factors,
    /// The summand.
    Terms,
    /// The lower bound of a clip.
    Low,
    /// The upper bound of a clip.
    High,
    /// A normalization's epsilon, added to its sum of squares at the square of its operand's scale: a step at least, so that no root is 0.
    Least,
    /// The number 1.
    One,
}

/// One input of the owner: weights times the scale of a value over that of another and a power of two, rounded.
#[derive(Clone, Debug)]
pub(super) struct Recipe {
    pub(super) layer: usize,
    pub(super) part: Part,
    pub(super) lengths: Vec<usize>,
    pub(super) frac: u8,
    pub(super) to: Option<usize>,
    pub(super) from: Option<usize>,
    pub(super) shift: u8,
    /// Whether half of what one step is behind the cut comes on top.
    pub(super) half: bool,
}

/// The greatest weights of the rows and columns of a layer's factors; rows and columns without
/// weights are left out.
fn lines(kind: &Kind) -> Vec<f32> {
    let (data, rows): (&[f32], usize) = match kind {
        // Filters, and their channels.
        Kind::Conv(conv) => (&conv.weights.data, conv.weights.lengths[0]),
        Kind::Dense(weights, _) => (&weights.data, weights.lengths[0]),
        Kind::Affine(scale, _) | Kind::LayerNorm(_, scale, ..) => (scale, scale.len()),
        _ => return vec![],
    };
    let across = (data.len() / rows.max(1)).max(1);
    let inner = if let Kind::Conv(conv) = kind { conv.weights.lengths[2..].iter().product() } else { 1 };
    let (mut lines, mut columns) = (vec![0f32; rows], vec![0f32; across.div_ceil(inner)]);
    for (i, w) in data.iter().enumerate() {
        let (row, column) = (i / across, i % across / inner);
        lines[row] = lines[row].max(w.abs());
        columns[column] = columns[column].max(w.abs());
    }
    lines.extend(columns);
    lines.retain(|w| *w > 0.0);
    lines
}

impl Secure {
    /// The greatest weight of the row or column of a layer's factors whose weights are least, and
    /// its steps in the ring.
    pub(crate) fn least_weight(
        &self,
        network: &Network,
        greatest: &[f32],
        headroom: u8,
        layer: usize,
    ) -> Result<Option<(f32, f64)>, NnError> {
        let scales = self.scales(network, greatest, headroom)?;
        let of = |node: Option<usize>| node.map_or(1.0, |node| scales.of(node));
        let factors = self.recipes.iter().find(|(_, r)| r.layer == layer && r.part == Part::Factors);
        let least = lines(&network.layers[layer].kind).into_iter().fold(f32::INFINITY, f32::min);
        Ok(factors.filter(|_| least.is_finite()).map(|(_, recipe)| {
            let times = of(recipe.to) / of(recipe.from) * 2f64.powi(recipe.shift.into());
            (least, f64::from(least) * times)
        }))
    }
}

impl Recipe {
    /// Sums of squares have words of 64 bits.
    pub(super) fn scalar(&self, numbers: Numbers) -> Scalar {
        let bits = if self.part == Part::Least { 64 } else { numbers.bits };
        Scalar::Fixed { bits, frac: self.frac }
    }

    pub(super) fn tensor(
        &self,
        network: &Network,
        numbers: Numbers,
        scales: &Scales,
    ) -> Result<Tensor, NnError> {
        let layer = &network.layers[self.layer];
        let scalar = self.scalar(numbers);
        let one = [1.0];
        let (low, high, least);
        let data: &[f32] = match (&layer.kind, self.part) {
            (_, Part::One) => &one,
            (Kind::LayerNorm(.., epsilon), Part::Least) => {
                least = [*epsilon];
                &least
            }
            (Kind::Conv(conv), Part::Factors) => &conv.weights.data,
            (Kind::Conv(conv), Part::Terms) => &conv.bias,
            (Kind::Dense(weights, _), Part::Factors) | (Kind::AddWeights(weights), _) => &weights.data,
            (Kind::Dense(_, bias), Part::Terms) => bias,
            (Kind::Affine(scale, _) | Kind::LayerNorm(_, scale, ..), Part::Factors) => scale,
            (Kind::Affine(_, shift) | Kind::LayerNorm(_, _, shift, _), Part::Terms) => shift,
            (Kind::Clip(Some(bound), _), Part::Low) => {
                low = [*bound];
                &low
            }
            (Kind::Clip(_, Some(bound)), Part::High) => {
                high = [*bound];
                &high
            }
            _ => &[],
        };
        let place = format!("layer {}", layer.name);
        if data.len() != self.lengths.iter().product::<usize>() {
            let cause =
                format!("it has {} weights where the agreed network has {:?}", data.len(), self.lengths);
            return Err(NnError::new(place, cause, "agree on the network's computation again"));
        }
        let of = |node: Option<usize>| node.map_or(1.0, |node| scales.of(node));
        let times = match &layer.kind {
            Kind::LayerNorm(axis, ..) if self.part == Part::Least => {
                let n = layer.lengths[*axis..].iter().product::<usize>();
                let scale = of(self.from) * 2f64.powi(Normalization::new(numbers, n).guard.into());
                n as f64 * scale * scale
            }
            _ => of(self.to) / of(self.from) * 2f64.powi(self.shift.into()),
        };
        let half = if self.half { 2f64.powi(i32::from(numbers.cut) - 1) } else { 0.0 };
        let most = 2f64.powi(scalar.bits() as i32 - 1);
        let mut all = Vec::with_capacity(data.len());
        for x in data {
            // Bounds beyond the ring bound nothing.
            let clips = matches!(self.part, Part::Low | Part::High);
            let steps = (f64::from(*x) * times + half).round();
            let steps = if clips { steps.clamp(1.0 - most / 2.0, most / 2.0 - 1.0) } else { steps };
            let steps = if self.part == Part::Least && steps < 1.0 { 1.0 } else { steps };
            if steps.abs() >= most || steps.is_nan() {
                let remedy = "take more bits (--bits), or calibrate with inputs that the network sees";
                return Err(NnError::new(
                    place,
                    format!("a weight, {x}, does not fit {} bits", scalar.bits()),
                    remedy,
                ));
            }
            all.push(steps as i128);
        }
        Ok(Tensor::from_numbers(scalar, &self.lengths, all))
    }
}
