//! Resize and Upsample. Each element is the nearest element of the value, or a sum of some with
//! weights that depend on its place.
//!
//! Along a short axis, interpolation is a product with a matrix. Along a longer one it is a sum
//! with one product for each neighbour.

use super::{pick, prelude::*};
use crate::{import::operator::ELEMENTS, onnx::Attribute};

pub(super) const ALL: &[Operator] = &[
    Operator {
        inputs: 4,
        attributes: &[
            "antialias",
            "axes",
            "coordinate_transformation_mode",
            "cubic_coeff_a",
            "exclude_outside",
            "extrapolation_value",
            "keep_aspect_ratio_policy",
            "mode",
            "nearest_mode",
        ],
        error: Bound::ROUNDED,
        ..Operator::new(
            "Resize",
            "Axes of other lengths: each element the nearest of the value's, or between two or four of an axis (linear, cubic).",
            resize,
        )
    },
    Operator {
        inputs: 2,
        attributes: &["mode", "scales"],
        twice: &[(1, "scales")],
        error: Bound::ROUNDED,
        ..Operator::new(
            "Upsample",
            "Longer axes, each element the nearest of the value's, or between two of an axis.",
            upsample,
        )
    },
];

/// LOCAL: the longest axis that is multiplied by a matrix.
const SHORT: usize = 64;

/// One axis: its lengths before and after, the factor, and the part of it that is used.
struct Axis {
    from: usize,
    to: usize,
    scale: f64,
    part: [f64; 2],
}

/// The weight of a neighbour as a function of its distance.
#[derive(Clone, Copy)]
enum Weights {
    Linear,
    Cubic(f64),
}

impl Weights {
    fn reach(self) -> f64 {
        match self {
            Weights::Linear => 1.0,
            Weights::Cubic(_) => 2.0,
        }
    }

    fn at(self, distance: f64) -> f64 {
        let x = distance.abs();
        match self {
            Weights::Linear => (1.0 - x).max(0.0),
            Weights::Cubic(a) if x <= 1.0 => ((a + 2.0) * x - (a + 3.0)) * x * x + 1.0,
            Weights::Cubic(a) if x < 2.0 => ((a * x - 5.0 * a) * x + 8.0 * a) * x - 4.0 * a,
            Weights::Cubic(_) => 0.0,
        }
    }
}

/// The rules that map places of the new axis to places of the old one.
struct Coordinates<'a> {
    coordinates: &'a str,
    rounding: &'a str,
    /// Whether neighbours are farther apart if an axis gets shorter.
    filters: bool,
    /// Whether neighbours beyond the ends are left out, rather than replaced by the last element.
    excludes: bool,
}

impl Coordinates<'_> {
    /// The place on the old axis of an element of the new one.
    fn of(&self, op: &Reading<'_>, axis: &Axis, i: usize) -> Result<f64, Fault> {
        let (i, n, m, scale) = (i as f64, axis.from as f64, axis.to as f64, axis.scale);
        Ok(match self.coordinates {
            "asymmetric" => i / scale,
            "half_pixel_symmetric" => {
                let adjusted = m / (scale * n);
                n / 2.0 * (1.0 - adjusted) + (i + 0.5) / scale - 0.5
            }
            // A single element is at the place of the first one, by either definition.
            "pytorch_half_pixel" | "align_corners" if axis.to == 1 => 0.0,
            "half_pixel" | "pytorch_half_pixel" => (i + 0.5) / scale - 0.5,
            "align_corners" => i * (n - 1.0) / (m - 1.0),
            "tf_crop_and_resize" => {
                let [start, end] = axis.part;
                let inner = if axis.to == 1 { 0.5 * (end - start) } else { i * (end - start) / (m - 1.0) };
                (start + inner) * (n - 1.0)
            }
            other => {
                let cause = format!("its coordinates are {}", shown(other));
                return Err(
                    op.error(cause, "export the model with coordinate_transformation_mode=\"asymmetric\"")
                );
            }
        })
    }

    fn nearest(&self, op: &Reading<'_>, axis: &Axis) -> Result<Vec<usize>, Fault> {
        let one = |i: usize| {
            let x = self.of(op, axis, i)?;
            let x = match self.rounding {
                "round_prefer_floor" => (x - 0.5).ceil(),
                "round_prefer_ceil" => (x + 0.5).floor(),
                "floor" => x.floor(),
                "ceil" => x.ceil(),
                other => {
                    let cause = format!("its nearest_mode is {}", shown(other));
                    return Err(op.error(cause, "export the model with nearest_mode=\"floor\""));
                }
            };
            Ok(x.clamp(0.0, axis.from as f64 - 1.0) as usize)
        };
        (0..axis.to).map(one).collect()
    }

    /// The neighbours of each element and their weights, the same number for all. `None` for
    /// elements beyond the ends.
    #[expect(clippy::type_complexity, reason = "a list of neighbours for each element")]
    fn neighbours(
        &self,
        op: &Reading<'_>,
        axis: &Axis,
        weights: Weights,
    ) -> Result<Vec<Option<Vec<(usize, f64)>>>, Fault> {
        let last = axis.from as f64 - 1.0;
        let narrow = if self.filters { axis.scale.min(1.0) } else { 1.0 };
        let one = |i: usize| {
            let x = self.of(op, axis, i)?;
            if self.coordinates == "tf_crop_and_resize" && !(0.0..=last).contains(&x) {
                return Ok(None);
            }
            let reach = weights.reach() / narrow;
            let (first, end) = ((x - reach).floor() as i64, (x + reach).ceil() as i64);
            let mut all: Vec<(usize, f64)> = vec![];
            for k in first..=end {
                let weight = weights.at((k as f64 - x) * narrow);
                let outside = k < 0 || k as f64 > last;
                if weight == 0.0 || (outside && self.excludes) {
                    continue;
                }
                let place = k.clamp(0, axis.from as i64 - 1) as usize;
                match all.iter_mut().find(|(own, _)| *own == place) {
                    Some((_, sum)) => *sum += weight,
                    None => all.push((place, weight)),
                }
            }
            let sum: f64 = all.iter().map(|(_, weight)| weight).sum();
            all.iter_mut().for_each(|(_, weight)| *weight /= sum);
            Ok(Some(all))
        };
        (0..axis.to).map(one).collect()
    }
}

/// Interpolates one axis of a value.
fn interpolated(
    op: &Reading<'_>,
    import: &mut Import,
    of: &Known,
    at: usize,
    all: &[Option<Vec<(usize, f64)>>],
    beyond: f32,
) -> Result<Known, Fault> {
    let lengths = import.lengths_of(of);
    let (rank, from, to) = (lengths.len(), lengths[at], all.len());
    let mut made = if from <= SHORT {
        let mut matrix = vec![0.0; from * to];
        for (i, one) in all.iter().enumerate() {
            one.iter().flatten().for_each(|(place, weight)| matrix[place * to + i] = *weight as f32);
        }
        let matrix = Known::floats(&[from, to], matrix);
        let order: Vec<usize> = (0..rank).filter(|k| *k != at).chain([at]).collect();
        let back: Vec<usize> =
            (0..rank).map(|k| if k == at { rank - 1 } else { k - usize::from(k > at) }).collect();
        let turned = pick::turned(op, import, of, &order)?;
        let made = op.call(import, "MatMul", &[&turned, &matrix], &[])?;
        pick::turned(op, import, &made, &back)?
    } else {
        let count = all.iter().flatten().map(Vec::len).max().unwrap_or(0);
        let along = [vec![to], vec![1; rank - 1 - at]].concat();
        let mut sum: Option<Known> = None;
        for k in 0..count {
            let of_tap = |one: &Option<Vec<(usize, f64)>>| {
                one.as_ref().and_then(|one| one.get(k)).copied().unwrap_or((0, 0.0))
            };
            let (places, weights): (Vec<usize>, Vec<f64>) = all.iter().map(of_tap).unzip();
            let weights = Known::floats(&along, weights.iter().map(|w| *w as f32).collect());
            let taken = pick::pick(op, import, of.clone(), at, places)?;
            let own = op.call(import, "Mul", &[&taken, &weights], &[])?;
            sum = Some(match &sum {
                Some(sum) => op.call(import, "Add", &[sum, &own], &[])?,
                None => own,
            });
        }
        sum.ok_or_else(|| {
            op.error("its elements all lie beyond the value", "check how the model was exported")
        })?
    };
    if beyond != 0.0 && all.iter().any(Option::is_none) {
        let along = [vec![to], vec![1; rank - 1 - at]].concat();
        let more = all.iter().map(|one| if one.is_none() { beyond } else { 0.0 }).collect();
        made = op.call(import, "Add", &[&made, &Known::floats(&along, more)], &[])?;
    }
    Ok(made)
}

fn resize(op: &Reading<'_>, import: &mut Import) -> Result<Known, Fault> {
    let of = op.input(import, 0)?;
    let lengths = import.lengths_of(&of);
    let rank = lengths.len();
    let weights = match &op.text("mode", "nearest")?[..] {
        "nearest" => None,
        "linear" => Some(Weights::Linear),
        "cubic" => Some(Weights::Cubic(op.float("cubic_coeff_a", -0.75)?.into())),
        other => {
            return Err(op.error(format!("its mode is {}", shown(other)), "take nearest, linear or cubic"));
        }
    };
    let axes: Vec<usize> = match op.ints("axes")? {
        Some(axes) => axes.iter().map(|axis| op.axis(*axis, rank)).collect::<Result<_, _>>()?,
        None => (0..rank).collect(),
    };
    // Scales are part of the architecture, because lengths depend on them. Before set 11 they are
    // the second input.
    let before = import.opset < 11;
    let scales = match op.maybe(import, if before { 1 } else { 2 })? {
        Some(Known::Floats(array)) if !array.data.is_empty() => Some(array.data.clone()),
        _ => None,
    };
    let sizes = if before { None } else { op.integers(import, 3)? };
    let coordinates =
        op.text("coordinate_transformation_mode", if before { "asymmetric" } else { "half_pixel" })?;
    let part = match op.maybe(import, 1)? {
        Some(Known::Floats(array)) if !before && array.data.len() == 2 * axes.len() => array.data.clone(),
        _ if coordinates == "tf_crop_and_resize" => {
            return Err(
                op.error("its part (roi) is not known before the run", "export it with a constant one")
            );
        }
        _ => vec![],
    };
    let unknown = || op.error("its lengths are not known", "export it with fixed scales");
    let mut all = vec![];
    for (k, axis) in axes.iter().enumerate() {
        let n = lengths[*axis];
        let (to, scale) = match (&sizes, &scales) {
            (Some(sizes), _) => {
                let to = sizes.get(k).and_then(|n| usize::try_from(*n).ok()).ok_or_else(unknown)?;
                (to, to as f64 / n as f64)
            }
            (None, Some(scales)) => {
                let scale = f64::from(*scales.get(k).ok_or_else(unknown)?);
                ((n as f64 * scale).floor() as usize, scale)
            }
            _ => return Err(unknown()),
        };
        let part = [k, axes.len() + k].map(|k| part.get(k).copied().map_or(0.0, f64::from));
        all.push(Axis { from: n, to, scale, part });
    }
    kept_ratio(op, sizes.is_some(), &mut all)?;
    if all.iter().any(|axis| axis.to == 0 || axis.to > ELEMENTS || axis.scale <= 0.0) {
        return Err(unknown());
    }
    let rounding = op.text("nearest_mode", if before { "floor" } else { "round_prefer_floor" })?;
    let places = Coordinates {
        coordinates: &coordinates,
        rounding: &rounding,
        filters: op.flag("antialias", false)?,
        excludes: op.flag("exclude_outside", false)?,
    };
    let mut made = of;
    for (at, axis) in axes.into_iter().zip(&all) {
        let whole = (axis.from as f64 * axis.scale).fract() == 0.0;
        let part_of = coordinates == "tf_crop_and_resize" && axis.part != [0.0, 1.0];
        made = match weights {
            _ if axis.from == axis.to && whole && !part_of => continue,
            None if places.filters || coordinates == "tf_crop_and_resize" => {
                return Err(
                    op.error("it filters, or takes a part of its value", "export it with mode=\"linear\"")
                );
            }
            None => {
                let places = places.nearest(op, axis)?;
                pick::pick(op, import, made, at, places)?
            }
            // Implementations disagree on the place of the last element.
            Some(_) if coordinates == "align_corners" && sizes.is_none() && !whole => {
                let cause = format!("{} elements times {} make no whole number", axis.from, axis.scale);
                return Err(op.error(cause, "export the model with lengths, in place of scales"));
            }
            Some(weights) => {
                let all = places.neighbours(op, axis, weights)?;
                interpolated(op, import, &made, at, &all, op.float("extrapolation_value", 0.0)?)?
            }
        };
    }
    Ok(made)
}

/// One scale for all axes, the least or the greatest one, if the ratio of lengths is kept.
fn kept_ratio(op: &Reading<'_>, has_sizes: bool, all: &mut [Axis]) -> Result<(), Fault> {
    let scales = all.iter().map(|axis| axis.scale);
    let scale = match &op.text("keep_aspect_ratio_policy", "stretch")?[..] {
        "stretch" => return Ok(()),
        _ if !has_sizes => return Ok(()),
        "not_larger" => scales.fold(f64::INFINITY, f64::min),
        "not_smaller" => scales.fold(0.0, f64::max),
        other => {
            let cause = format!("its keep_aspect_ratio_policy is {}", shown(other));
            return Err(op.error(cause, "take stretch, not_larger or not_smaller"));
        }
    };
    for axis in all {
        axis.scale = scale;
        axis.to = (scale * axis.from as f64 + 0.5).floor() as usize;
    }
    Ok(())
}

fn upsample(op: &Reading<'_>, import: &mut Import) -> Result<Known, Fault> {
    let mut of = op.input(import, 0)?;
    let lengths = import.lengths_of(&of);
    let is_nearest = match &op.text("mode", "nearest")?[..] {
        "nearest" => true,
        "linear" | "bilinear" => false,
        other => return Err(op.error(format!("its mode is {}", shown(other)), "take nearest or linear")),
    };
    let scales = match (op.maybe_weights(import, 1)?, op.node.attributes.get("scales")) {
        (Some(array), _) => array.data.clone(),
        (None, Some(Attribute::Floats(all))) => all.clone(),
        _ => vec![],
    };
    if scales.len() != lengths.len() || scales.iter().any(|scale| !(1.0..65536.0).contains(scale)) {
        return Err(op.error(format!("its scales are {scales:?}"), "give one of 1 or more for each axis"));
    }
    let places =
        Coordinates { coordinates: "asymmetric", rounding: "floor", filters: false, excludes: false };
    for (at, scale) in scales.iter().enumerate() {
        let (from, scale) = (lengths[at], f64::from(*scale));
        let axis = Axis { from, to: (from as f64 * scale).floor() as usize, scale, part: [0.0, 1.0] };
        of = if is_nearest || axis.from == axis.to {
            pick::pick(op, import, of, at, places.nearest(op, &axis)?)?
        } else {
            interpolated(op, import, &of, at, &places.neighbours(op, &axis, Weights::Linear)?, 0.0)?
        };
    }
    Ok(of)
}

#[cfg(test)]
mod tests {
    use super::super::checks::check;
    use crate::{onnx::Attribute, zoo::Writer};

    fn text(name: &'static str, of: &str) -> (&'static str, Attribute) {
        (name, Attribute::Text(of.into()))
    }

    #[test]
    fn nearest_elements() {
        let mut w = Writer::new("resize", 1, &[1, 1, 2, 2]);
        let scales = w.weights(&[4], vec![1.0, 1.0, 2.0, 2.0]);
        let y = w.op("Resize", &["input", "", &scales], &[text("mode", "nearest")]);
        check(&w.finish(&y), 0.5, |x| (0..16).map(|i| x.data[i / 8 * 2 + i % 4 / 2]).collect());
    }

    /// Short axes by a matrix, and long ones by sums: both give the mean of two neighbours.
    #[test]
    fn between_two_elements() {
        for n in [2, 70] {
            let mut w = Writer::new("resize", 1, &[1, 2, n]);
            let scales = w.weights(&[3], vec![1.0, 1.0, 2.0]);
            let y = w.op("Resize", &["input", "", &scales], &[text("mode", "linear")]);
            check(&w.finish(&y), 2.0, |x| {
                let row = |x: &[f32]| {
                    let one = |i: usize| {
                        let at = (i as f32 + 0.5) / 2.0 - 0.5;
                        let (low, part) = (at.floor(), at - at.floor());
                        let near = |k: f32| x[k.clamp(0.0, n as f32 - 1.0) as usize];
                        near(low) * (1.0 - part) + near(low + 1.0) * part
                    };
                    (0..2 * n).map(one).collect::<Vec<f32>>()
                };
                x.data.chunks(n).flat_map(row).collect()
            });
        }
    }
}
