//! The owner's inputs: weights at the scales of a network's values.

use super::{
    Secure,
    recipe::{Recipe, Squares, WeightPart},
};
use crate::error::of_layer;
use crate::{Fault, Kind, Network, operators::Factors, scale::Scales};
use hushwire_compute::Tensor;
use hushwire_fault::code;
use std::borrow::Cow;
use std::fmt::Display;

/// The greatest weight of each row and column of a layer's factors; rows and columns without
/// weights are left out.
fn lines(kind: &Kind) -> Vec<f32> {
    let Some(Factors { rows, inner }) = kind.def().factors() else { return vec![] };
    let data = kind.def().part(WeightPart::Factors);
    let across = (data.len() / rows.max(1)).max(1);
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
    /// its number of steps in the ring.
    pub(crate) fn least_weight(
        &self,
        network: &Network,
        greatest: &[f32],
        headroom: u8,
        layer: usize,
    ) -> Result<Option<(f32, f64)>, Fault> {
        let scales = self.scales(network, greatest, headroom)?;
        let of = |node: Option<usize>| node.map_or(1.0, |node| scales.of(node));
        let factors = self.recipes.iter().find(|(_, r)| r.layer == layer && r.part == WeightPart::Factors);
        let least = lines(&network.layers[layer].kind).into_iter().fold(f32::INFINITY, f32::min);
        Ok(factors.filter(|_| least.is_finite()).map(|(_, recipe)| {
            let times = of(recipe.to) / of(recipe.from) * 2f64.powi(recipe.shift.into());
            (least, f64::from(least) * times)
        }))
    }
}

impl Recipe {
    pub(super) fn tensor(&self, network: &Network, scales: &Scales) -> Result<Tensor, Fault> {
        let layer = &network.layers[self.layer];
        let scalar = self.scalar();
        let data = match self.part {
            WeightPart::One => Cow::Borrowed(&[1.0][..]),
            part => layer.kind.def().part(part),
        };
        let place = format!("layer {}", layer.name);
        if data.len() != self.lengths.iter().product::<usize>() {
            let cause =
                format!("it has {} weights where the agreed network has {:?}", data.len(), self.lengths);
            return Err(Fault::new(
                code::MODEL_FILE,
                place,
                cause,
                "agree on the network's computation again",
            ));
        }
        let of = |node: Option<usize>| node.map_or(1.0, |node| scales.of(node));
        let times = match self.squares {
            Some(Squares { count, guard }) => {
                let scale = of(self.from) * 2f64.powi(guard.into());
                count as f64 * scale * scale
            }
            None => of(self.to) / of(self.from) * 2f64.powi(self.shift.into()),
        };
        let half = if self.half { 2f64.powi(i32::from(self.numbers.cut) - 1) } else { 0.0 };
        let most = 2f64.powi(scalar.bits() as i32 - 1);
        let strict = match self.part {
            WeightPart::Bounds => layer.kind.def().part(WeightPart::Strict),
            _ => Cow::Borrowed(&[][..]),
        };
        // Clip bounds beyond the ring have no effect.
        let clips = matches!(self.part, WeightPart::Low | WeightPart::High | WeightPart::Bounds);
        if !clips && self.part != WeightPart::Least {
            let steps = data.iter().map(|x| f64::from(*x) * times + half);
            // A number nearer to the bound than a step is rounded to it, or is refused.
            if steps.clone().fold(true, |fits, steps| fits & (steps.abs() < most - 1.0)) {
                let numbers = steps.map(|steps| i128::from(rounded(steps)));
                return Ok(Tensor::from_numbers(scalar, &self.lengths, numbers));
            }
        }
        let mut all = Vec::with_capacity(data.len());
        for (k, x) in data.iter().enumerate() {
            let steps = f64::from(*x) * times + half;
            let steps = steps.round() - strict.get(k).map_or(0.0, |strict| f64::from(*strict));
            let steps = if clips { steps.clamp(1.0 - most / 2.0, most / 2.0 - 1.0) } else { steps };
            let steps = if self.part == WeightPart::Least && steps < 1.0 { 1.0 } else { steps };
            if steps.abs() >= most || steps.is_nan() {
                let fields: [(_, &dyn Display); 2] = [("weight", x), ("bits", &scalar.bits())];
                return Err(of_layer(code::WEIGHT_TOO_LARGE, &layer.name, &fields));
            }
            all.push(steps as i128);
        }
        Ok(Tensor::from_numbers(scalar, &self.lengths, all))
    }
}

/// The nearest whole number, of two the one that is farther from 0, as [`f64::round`] has it, of a
/// number below 2^63: without a call for each.
fn rounded(x: f64) -> i64 {
    let whole = x as i64;
    let rest = x - whole as f64;
    whole + i64::from(rest >= 0.5) - i64::from(rest <= -0.5)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_rounded_as_floats_are() {
        let half = 0.5f64;
        let odd = [half.next_down(), half, half.next_up(), 1.5, 2.5, 4503599627370495.5, 4503599627370497.0];
        let large = (0..63).flat_map(|k| [2f64.powi(k), 2f64.powi(k).next_down(), 2f64.powi(k).next_up()]);
        let some = (0..4000).map(|k| f64::from(k) / 7.0);
        for x in odd.into_iter().chain(large).chain(some).chain([0.0, 2f64.powi(63).next_down()]) {
            assert_eq!([rounded(x), rounded(-x)], [x.round() as i64, -x.round() as i64], "{x}");
        }
    }
}
