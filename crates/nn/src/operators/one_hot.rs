//! OneHot.

use super::prelude::*;
use hushwire_compute::{Scalar, Tensor};

pub(super) const ONE_HOT: Operator = Operator {
    inputs: 3,
    attributes: &["axis"],
    moves: true,
    error: Bound::EXACT,
    ..Operator::new(
        "OneHot",
        "One of two known numbers along a new axis, by whether its place is the element.",
        read,
    )
};

/// 1 along a new axis at the place that the element names, else 0.
#[derive(Clone, Debug, PartialEq)]
pub struct OneHot {
    axis: usize,
}

impl OneHot {
    /// The operand's lengths with 1 along the new axis.
    fn lengths(&self, to: &[usize]) -> Vec<usize> {
        (0..to.len()).map(|axis| if axis == self.axis { 1 } else { to[axis] }).collect()
    }
}

impl Definition for OneHot {
    fn name(&self) -> &'static str {
        "OneHot"
    }

    fn role(&self) -> ScaleRole {
        ScaleRole::Other
    }

    fn value(&self, reads: &[Arc<Array>], to: &[usize]) -> Array {
        let x = Array::clone(&reads[0]).reshaped(&self.lengths(to)).broadcast(to);
        let (inner, n) = (to[self.axis + 1..].iter().product::<usize>(), to[self.axis]);
        let one = |(i, x): (usize, &f32)| {
            let place = (i / inner % n) as f32;
            f32::from(u8::from(*x == place || *x + n as f32 == place))
        };
        Array { lengths: to.to_vec(), data: x.data.iter().enumerate().map(one).collect() }
    }

    /// Places below 0 count from the end. Only numbers can be negative, unlike places from an
    /// ArgMax.
    fn lower<'b>(&self, lower: &mut Lower<'b>, site: Site<'_>) -> Result<Held<'b>, Fault> {
        let (from, to) = (site.reads[0], site.lengths);
        let held = lower.held(from);
        let is_whole = held.val.ty().is_some_and(|ty| matches!(ty.scalar, Scalar::Int { .. }));
        let x = if is_whole { held.val } else { lower.at_nominal(from, site.at) };
        let scalar = x.ty().map_or(lower.nominal(), |ty| ty.scalar);
        let x = x.reshape(shape(&self.lengths(to))).broadcast(shape(to));
        let n = to[self.axis] as i128;
        let mut along = vec![1; to.len()];
        along[self.axis] = to[self.axis];
        let place = |below: i128| {
            let all = (0..n).map(|k| (k - below) << scalar.frac());
            lower.b.constant(Tensor::from_numbers(scalar, &along, all)).broadcast(shape(to))
        };
        let mut is = x.equals(place(0));
        if !is_whole {
            is = is | x.equals(place(n));
        }
        Ok(lower.of_truth(is))
    }
}

fn read(op: &Reading<'_>, import: &mut Import) -> Result<Known, Fault> {
    let at = op.layer(import, 0)?;
    let mut lengths = import.lengths(at).to_vec();
    let depth = match op.input(import, 1)? {
        Known::Ints(_, all) if all.len() == 1 => usize::try_from(all[0]).ok().filter(|n| *n > 0),
        // A float that is used as a length is part of the architecture.
        Known::Floats(array) if matches!(array.data[..], [n] if (1.0..1e6).contains(&n)) => {
            Some(array.data[0] as usize)
        }
        _ => None,
    };
    let Some(depth) = depth else {
        return Err(op.error("its depth is not known before the run", "export it with a constant depth"));
    };
    let axis = op.int("axis", -1)?;
    let axis = if axis == lengths.len() as i64 { lengths.len() } else { op.axis(axis, lengths.len() + 1)? };
    lengths.insert(axis, depth);
    let made = op.made(import, Kind::OneHot(OneHot { axis }), vec![at], lengths)?;
    let values = op.input(import, 2)?;
    if matches!(&values, Known::Ints(_, all) if all[..] == [0, 1]) {
        return Ok(made);
    }
    let values = op.weights(import, 2)?;
    let [no, yes] = values.data[..] else {
        return Err(op.error("its values are not two numbers", "save the model anew"));
    };
    let [no, yes] = [no, yes].map(|x| Known::Floats(Arc::new(Array::new(&[1], vec![x]))));
    op.call(import, "Where", &[&made, &yes, &no], &[])
}

#[cfg(test)]
mod tests {
    use super::super::checks::check;
    use crate::{onnx::Attribute, zoo::Writer};

    #[test]
    fn of_places_and_of_whole_numbers() {
        for places in [true, false] {
            let mut w = Writer::new("o", 1, &[1, 4]);
            let x = if places {
                w.op("ArgMax", &["input"], &[("axis", Attribute::Int(1))])
            } else {
                w.op("Sign", &["input"], &[])
            };
            let depth = w.op("Constant", &[], &[("value_int", Attribute::Int(4))]);
            let values = w.weights(&[2], vec![-0.5, 2.0]);
            let y = w.op("OneHot", &[&x, &depth, &values], &[]);
            check(&w.finish(&y), 0.5, |x| {
                let best = (0..4).fold(0, |best, i| if x.data[i] > x.data[best] { i } else { best });
                let place = |x: &f32| if *x > 0.0 { 1 } else { 3 };
                let all: Vec<usize> = if places { vec![best] } else { x.data.iter().map(place).collect() };
                all.iter().flat_map(|at| (0..4).map(move |k| if k == *at { 2.0 } else { -0.5 })).collect()
            });
        }
    }
}
