//! Operators on values that are known before the run: shapes, and computations on weights. The
//! values of weights never decide lengths, since all members learn lengths.

use super::operator::{ELEMENTS, Import, Known, Reading};
use crate::{
    Array, Fault,
    array::{lines, places, steps, together},
    onnx::Attribute,
};
use std::sync::Arc;

/// The operators that this module computes.
pub(super) const NAMES: &[&str] = &[
    "Abs",
    "Add",
    "And",
    "Ceil",
    "Concat",
    "ConstantOfShape",
    "Cos",
    "CumSum",
    "DequantizeLinear",
    "Div",
    "Equal",
    "Erf",
    "Exp",
    "EyeLike",
    "Floor",
    "Greater",
    "GreaterOrEqual",
    "IsInf",
    "IsNaN",
    "Less",
    "LessOrEqual",
    "Log",
    "Max",
    "Mean",
    "Min",
    "Mod",
    "Mul",
    "Neg",
    "NonZero",
    "Not",
    "Or",
    "Pow",
    "Range",
    "Reciprocal",
    "ReduceMax",
    "ReduceMean",
    "ReduceMin",
    "ReduceProd",
    "ReduceSum",
    "Round",
    "Sign",
    "Sin",
    "Size",
    "Sqrt",
    "Sub",
    "Sum",
    "Transpose",
    "Trilu",
    "Where",
    "Xor",
];

/// A known value. Floats and integers up to 2^53 are exact.
struct Tensor {
    lengths: Vec<usize>,
    data: Vec<f64>,
    whole: bool,
}

impl Tensor {
    fn of(known: &Known) -> Option<Self> {
        match known {
            Known::Layer(_) => None,
            Known::Floats(array) => Some(Tensor {
                lengths: array.lengths.clone(),
                data: array.data.iter().map(|x| f64::from(*x)).collect(),
                whole: false,
            }),
            Known::Ints(lengths, all) => Some(Tensor {
                lengths: lengths.clone(),
                data: all.iter().map(|n| *n as f64).collect(),
                whole: true,
            }),
        }
    }

    fn known(self) -> Known {
        if self.whole {
            return Known::Ints(self.lengths, self.data.iter().map(|x| *x as i64).collect());
        }
        let data = self.data.iter().map(|x| *x as f32).collect();
        Known::Floats(Arc::new(Array { lengths: self.lengths, data }))
    }

    /// The elements repeated along axes of length 1.
    fn along(&self, to: &[usize]) -> Vec<f64> {
        if self.lengths == to {
            return self.data.clone();
        }
        let (own, missing) = (steps(&self.lengths), to.len() - self.lengths.len());
        let step = |axis: usize| match axis.checked_sub(missing) {
            Some(axis) if self.lengths[axis] != 1 => own[axis],
            _ => 0,
        };
        let step: Vec<usize> = (0..to.len()).map(step).collect();
        places(to, &step).map(|i| self.data[i]).collect()
    }

    fn each(mut self, f: impl Fn(f64) -> f64) -> Self {
        self.data.iter_mut().for_each(|x| *x = f(*x));
        self
    }
}

/// An operator that is a function of one number.
fn one(op: &str) -> Option<fn(f64) -> f64> {
    Some(match op {
        "Abs" => f64::abs,
        "Ceil" => f64::ceil,
        "Cos" => f64::cos,
        "Erf" => erf,
        "Exp" => f64::exp,
        "Floor" => f64::floor,
        "Log" => f64::ln,
        "Neg" => |x| -x,
        "Reciprocal" => f64::recip,
        "Round" => f64::round_ties_even,
        "Sign" => |x| if x == 0.0 { 0.0 } else { x.signum() },
        "Sin" => f64::sin,
        "Sqrt" => f64::sqrt,
        _ => return None,
    })
}

/// An operator that is a truth value of one number.
fn truth(op: &str) -> Option<fn(f64) -> bool> {
    Some(match op {
        "IsInf" => f64::is_infinite,
        "IsNaN" => f64::is_nan,
        "Not" => |x| x == 0.0,
        _ => return None,
    })
}

/// An operator that is a truth value of two numbers.
fn truth_of_two(op: &str) -> Option<fn(f64, f64) -> bool> {
    Some(match op {
        "And" => |x, y| x != 0.0 && y != 0.0,
        "Equal" => |x, y| x == y,
        "Greater" => |x, y| x > y,
        "GreaterOrEqual" => |x, y| x >= y,
        "Less" => |x, y| x < y,
        "LessOrEqual" => |x, y| x <= y,
        "Or" => |x, y| x != 0.0 || y != 0.0,
        "Xor" => |x, y| (x != 0.0) != (y != 0.0),
        _ => return None,
    })
}

/// The error function, by its series with only positive terms; beyond 6 it is ±1 in a float.
pub(crate) fn erf(x: f64) -> f64 {
    if x.abs() > 6.0 {
        return x.signum();
    }
    let (mut term, mut sum, mut k) = (x, x, 1.0);
    while term.abs() > 1e-18 * sum.abs() {
        term *= 2.0 * x * x / (2.0 * k + 1.0);
        sum += term;
        k += 1.0;
    }
    std::f64::consts::FRAC_2_SQRT_PI * (-x * x).exp() * sum
}

impl Reading<'_> {
    /// The values of an operator on known values; `None` if this module does not compute it.
    pub(super) fn folded(
        &self,
        import: &Import,
        inputs: &[Option<Known>],
    ) -> Option<Result<Vec<Known>, Fault>> {
        let op = &self.node.op[..];
        if !NAMES.contains(&op) || inputs.is_empty() {
            return None;
        }
        // Integers in another order need no other form.
        if op == "Transpose" && matches!(inputs.first(), Some(Some(Known::Floats(_)))) {
            return None;
        }
        let all: Vec<Option<Tensor>> =
            inputs.iter().map(|known| known.as_ref().and_then(Tensor::of)).collect();
        Some(self.value(import, op, all).map(|tensor| vec![tensor.known()]))
    }

    fn value(&self, import: &Import, op: &str, all: Vec<Option<Tensor>>) -> Result<Tensor, Fault> {
        if let Some(f) = one(op) {
            let x = self.nth(all, 0)?;
            // Other functions of integers do not make integers.
            let whole = x.whole && ["Abs", "Ceil", "Floor", "Neg", "Round", "Sign"].contains(&op);
            return Ok(Tensor { whole, ..x.each(f) });
        }
        if let Some(f) = truth(op) {
            return Ok(self.nth(all, 0)?.each(|x| f64::from(u8::from(f(x)))));
        }
        if let Some(f) = truth_of_two(op) {
            // Truth values of weights count as weights.
            return self.together(all, |x, y, _| f64::from(u8::from(f(x, y))));
        }
        match op {
            "Add" | "Sum" => self.together(all, |x, y, _| x + y),
            "Sub" => self.together(all, |x, y, _| x - y),
            "Mul" => self.together(all, |x, y, _| x * y),
            "Max" => self.together(all, |x, y, _| x.max(y)),
            "Min" => self.together(all, |x, y, _| x.min(y)),
            "Mean" => {
                let n = all.len() as f64;
                Ok(self.together(all, |x, y, _| x + y)?.each(|x| x / n))
            }
            "Pow" => self.together(all, |x, y, _| x.powf(y)),
            "Div" => self.together(all, |x, y, whole| match whole {
                true if y == 0.0 => 0.0,
                true => (x / y).trunc(),
                false => x / y,
            }),
            "Mod" => {
                let of_divisor = !self.flag("fmod", false)?;
                self.together(all, move |x, y, _| if of_divisor { x - y * (x / y).floor() } else { x % y })
            }
            "Where" => self.chosen(all),
            "Concat" => self.joined(all),
            "ConstantOfShape" => {
                let lengths = self.lengths(&self.nth(all, 0)?.data)?;
                let value = match self.node.attributes.get("value") {
                    Some(Attribute::Tensor(tensor)) => Tensor::of(&Known::of(tensor.clone())),
                    _ => Some(Tensor { lengths: vec![1], data: vec![0.0], whole: false }),
                };
                let value = value.filter(|value| !value.data.is_empty());
                let value = value.ok_or_else(|| self.error("its value is empty", "save the model anew"))?;
                let count = lengths.iter().product();
                Ok(Tensor { lengths, data: vec![value.data[0]; count], whole: value.whole })
            }
            "CumSum" => self.sums(all),
            "DequantizeLinear" => self.dequantized(all),
            "EyeLike" => {
                let x = self.nth(all, 0)?;
                let [_, columns] = x.lengths[..] else {
                    return Err(self.error("its value is no matrix", "save the model anew"));
                };
                let k = self.int("k", 0)?;
                let whole = !matches!(self.int("dtype", 1)?, 1 | 10 | 11 | 16);
                let is = |i: usize| (i % columns) as i64 - (i / columns) as i64 == k;
                let data = (0..x.data.len()).map(|i| f64::from(u8::from(is(i)))).collect();
                Ok(Tensor { lengths: x.lengths, data, whole })
            }
            "NonZero" => {
                let x = self.nth(all, 0)?;
                if !x.whole {
                    let cause = "the number of places would tell of weights";
                    return Err(self.error(cause, "export the model without it"));
                }
                let step = steps(&x.lengths);
                let found: Vec<usize> = (0..x.data.len()).filter(|i| x.data[*i] != 0.0).collect();
                let rank = x.lengths.len();
                let place = |axis: usize, i: usize| (i / step[axis] % x.lengths[axis]) as f64;
                let data = (0..rank)
                    .flat_map(|axis| found.iter().map(move |i| (axis, *i)))
                    .map(|(axis, i)| place(axis, i));
                Ok(Tensor { lengths: vec![rank, found.len()], data: data.collect(), whole: true })
            }
            "Range" => self.range(all),
            "Size" => {
                let count = self.nth(all, 0)?.data.len();
                Ok(Tensor { lengths: vec![], data: vec![count as f64], whole: true })
            }
            "Transpose" => {
                let x = self.nth(all, 0)?;
                let rank = x.lengths.len();
                let axes = match self.ints("perm")? {
                    Some(axes) => {
                        axes.iter().map(|axis| self.axis(*axis, rank)).collect::<Result<Vec<_>, _>>()?
                    }
                    None => (0..rank).rev().collect(),
                };
                let own = steps(&x.lengths);
                let lengths: Vec<usize> = axes.iter().map(|axis| x.lengths[*axis]).collect();
                let step: Vec<usize> = axes.iter().map(|axis| own[*axis]).collect();
                let data = places(&lengths, &step).map(|i| x.data[i]).collect();
                Ok(Tensor { lengths, data, whole: x.whole })
            }
            "Trilu" => self.triangle(all),
            _ => self.reduced(import, op, all),
        }
    }

    fn nth(&self, all: Vec<Option<Tensor>>, k: usize) -> Result<Tensor, Fault> {
        let missing = || self.error(format!("it has no input {k}"), "save the model anew");
        all.into_iter().nth(k).flatten().ok_or_else(missing)
    }

    /// Lengths from numbers.
    fn lengths(&self, all: &[f64]) -> Result<Vec<usize>, Fault> {
        let lengths: Vec<usize> = all.iter().map(|n| *n as usize).collect();
        let count = lengths.iter().try_fold(1usize, |n, l| n.checked_mul(*l));
        if all.iter().any(|n| *n < 0.0) || count.is_none_or(|n| n > ELEMENTS) {
            let cause = format!("its value has the lengths {all:?}");
            return Err(self.error(cause, "give it at most 2^27 elements"));
        }
        Ok(lengths)
    }

    /// Combines the elements of all operands, two by two. The function learns whether both are
    /// integers.
    fn together(&self, all: Vec<Option<Tensor>>, f: impl Fn(f64, f64, bool) -> f64) -> Result<Tensor, Fault> {
        let mut all = all.into_iter().flatten();
        let first = all.next().ok_or_else(|| self.error("it has no operands", "save the model anew"))?;
        all.try_fold(first, |x, y| {
            let lengths = together(&x.lengths, &y.lengths).ok_or_else(|| {
                let cause = format!("its operands have the lengths {:?} and {:?}", x.lengths, y.lengths);
                self.error(cause, "give axes of equal lengths, or of length 1")
            })?;
            let whole = x.whole && y.whole;
            let (a, b) = (x.along(&lengths), y.along(&lengths));
            let data = a.iter().zip(&b).map(|(x, y)| f(*x, *y, whole)).collect();
            Ok(Tensor { lengths, data, whole })
        })
    }

    fn chosen(&self, all: Vec<Option<Tensor>>) -> Result<Tensor, Fault> {
        let mut all = all.into_iter().flatten();
        let (Some(which), Some(x), Some(y)) = (all.next(), all.next(), all.next()) else {
            return Err(self.error("it has too few operands", "save the model anew"));
        };
        let lengths = together(&x.lengths, &y.lengths).and_then(|both| together(&both, &which.lengths));
        let lengths =
            lengths.ok_or_else(|| self.error("its operands do not fit each other", "save the model anew"))?;
        let which_whole = which.whole;
        let (which, a, b) = (which.along(&lengths), x.along(&lengths), y.along(&lengths));
        let one = |i: usize| if which[i] != 0.0 { a[i] } else { b[i] };
        Ok(Tensor {
            data: (0..which.len()).map(one).collect(),
            lengths,
            whole: which_whole && x.whole && y.whole,
        })
    }

    fn joined(&self, all: Vec<Option<Tensor>>) -> Result<Tensor, Fault> {
        let all: Vec<Tensor> = all.into_iter().flatten().collect();
        let first = all.first().ok_or_else(|| self.error("it has no operands", "save the model anew"))?;
        if !self.has("axis") {
            return Err(self.error("it has no axis", "save the model anew"));
        }
        let axis = self.axis(self.int("axis", 0)?, first.lengths.len())?;
        let mut lengths = first.lengths.clone();
        lengths[axis] = 0;
        for part in &all {
            let fits = part.lengths.len() == lengths.len()
                && (0..lengths.len()).all(|k| k == axis || part.lengths[k] == lengths[k]);
            if !fits {
                let cause =
                    format!("it joins values of the lengths {:?} and {:?}", first.lengths, part.lengths);
                return Err(self.error(cause, "give all other axes one length"));
            }
            lengths[axis] += part.lengths[axis];
        }
        let outer: usize = lengths[..axis].iter().product();
        let mut data = vec![];
        for k in 0..outer {
            for part in &all {
                let each: usize = part.lengths[axis..].iter().product();
                data.extend_from_slice(&part.data[k * each..][..each]);
            }
        }
        let whole = all.iter().all(|part| part.whole);
        Ok(Tensor { lengths, data, whole })
    }

    fn range(&self, all: Vec<Option<Tensor>>) -> Result<Tensor, Fault> {
        let all: Vec<Tensor> = all.into_iter().flatten().collect();
        let [start, end, by] = &all[..] else {
            return Err(self.error("it has not three inputs", "save the model anew"));
        };
        if !(start.whole && end.whole && by.whole) {
            return Err(self.error("the number of elements would tell of weights", "export it with integers"));
        }
        let [start, end, by] = [start, end, by].map(|of| (of.data.first().copied().unwrap_or(0.0), of.whole));
        let count = ((end.0 - start.0) / by.0).ceil().max(0.0);
        if !count.is_finite() || count > ELEMENTS as f64 {
            return Err(self.error(format!("it makes {count} elements"), "give it at most 2^27"));
        }
        let data: Vec<f64> = (0..count as usize).map(|i| start.0 + i as f64 * by.0).collect();
        Ok(Tensor { lengths: vec![data.len()], data, whole: start.1 && end.1 && by.1 })
    }

    fn sums(&self, all: Vec<Option<Tensor>>) -> Result<Tensor, Fault> {
        let mut all = all.into_iter().flatten();
        let (Some(mut x), Some(axis)) = (all.next(), all.next()) else {
            return Err(self.error("it has too few inputs", "save the model anew"));
        };
        let axis = self.axis(axis.data.first().copied().unwrap_or(0.0) as i64, x.lengths.len())?;
        let (without, back) = (self.flag("exclusive", false)?, self.flag("reverse", false)?);
        let (firsts, step) = lines(&x.lengths, axis);
        let n = x.lengths[axis];
        for first in firsts {
            let mut sum = 0.0;
            for i in 0..n {
                let at = first + step * if back { n - 1 - i } else { i };
                let own = x.data[at];
                x.data[at] = if without { sum } else { sum + own };
                sum += own;
            }
        }
        Ok(x)
    }

    /// Integers minus zero points, times scales.
    fn dequantized(&self, all: Vec<Option<Tensor>>) -> Result<Tensor, Fault> {
        let mut all = all.into_iter();
        let (Some(Some(x)), Some(Some(scale)), zero) = (all.next(), all.next(), all.next().flatten()) else {
            return Err(self.error("it has too few inputs", "save the model anew"));
        };
        if self.int("block_size", 0)? != 0 {
            return Err(self.error("its scales are for blocks", "quantize the model by axis"));
        }
        let rank = x.lengths.len();
        let (inner, n) = if scale.data.len() == 1 {
            (1, 1)
        } else {
            let axis = self.axis(self.int("axis", 1)?, rank)?;
            (x.lengths[axis + 1..].iter().product(), x.lengths[axis])
        };
        let zero = zero.map_or_else(|| vec![0.0; n], |zero| zero.data);
        if scale.data.len() != n || zero.len() != n {
            let cause = format!("it has {} scales and {} zero points for {n}", scale.data.len(), zero.len());
            return Err(self.error(cause, "save the model anew"));
        }
        let one = |(i, x): (usize, &f64)| (x - zero[i / inner % n]) * scale.data[i / inner % n];
        let data = x.data.iter().enumerate().map(one).collect();
        Ok(Tensor { lengths: x.lengths, data, whole: false })
    }

    fn triangle(&self, all: Vec<Option<Tensor>>) -> Result<Tensor, Fault> {
        let mut all = all.into_iter();
        let (Some(Some(mut x)), k) = (all.next(), all.next().flatten()) else {
            return Err(self.error("it has no input", "save the model anew"));
        };
        let [.., rows, columns] = x.lengths[..] else {
            return Err(self.error("its value is no matrix", "save the model anew"));
        };
        let (upper, k) = (self.flag("upper", true)?, k.map_or(0, |k| k.data[0] as i64));
        for (i, x) in x.data.iter_mut().enumerate() {
            let (row, column) = (i / columns % rows, i % columns);
            let above = column as i64 - row as i64;
            if (upper && above < k) || (!upper && above > k) {
                *x = 0.0;
            }
        }
        Ok(x)
    }

    fn reduced(&self, import: &Import, op: &str, all: Vec<Option<Tensor>>) -> Result<Tensor, Fault> {
        let mut all = all.into_iter();
        let (Some(Some(x)), axes) = (all.next(), all.next().flatten()) else {
            return Err(self.error("it has no input", "save the model anew"));
        };
        let rank = x.lengths.len();
        let axes = match axes {
            Some(axes) => Some(axes.data.iter().map(|axis| *axis as i64).collect()),
            None => self.ints("axes")?,
        };
        let axes: Vec<usize> = match axes {
            Some(axes) if !axes.is_empty() => {
                axes.iter().map(|axis| self.axis(*axis, rank)).collect::<Result<_, _>>()?
            }
            _ if self.flag("noop_with_empty_axes", false)? && import.opset >= 13 => return Ok(x),
            _ => (0..rank).collect(),
        };
        let keep = self.flag("keepdims", true)?;
        let to: Vec<usize> =
            (0..rank).map(|axis| if axes.contains(&axis) { 1 } else { x.lengths[axis] }).collect();
        let own = steps(&to);
        let step: Vec<usize> =
            (0..rank).map(|axis| if axes.contains(&axis) { 0 } else { own[axis] }).collect();
        let start = match op {
            "ReduceMax" => f64::NEG_INFINITY,
            "ReduceMin" => f64::INFINITY,
            "ReduceProd" => 1.0,
            _ => 0.0,
        };
        let mut data = vec![start; to.iter().product()];
        for (x, at) in x.data.iter().zip(places(&x.lengths, &step)) {
            data[at] = match op {
                "ReduceMax" => data[at].max(*x),
                "ReduceMin" => data[at].min(*x),
                "ReduceProd" => data[at] * x,
                _ => data[at] + x,
            };
        }
        if op == "ReduceMean" {
            let n = x.data.len() as f64 / data.len().max(1) as f64;
            data.iter_mut().for_each(|x| *x /= n);
        }
        let lengths = (0..rank).filter(|axis| keep || !axes.contains(axis)).map(|axis| to[axis]).collect();
        Ok(Tensor { lengths, data, whole: x.whole })
    }
}

#[cfg(test)]
mod tests {
    use crate::{Array, Floats, Network, zoo::Writer};

    /// EyeLike reads the lengths of a value, which are known where its elements are secret.
    #[test]
    fn the_identity_like_a_secret_matrix() {
        let mut w = Writer::new("eye", 1, &[1, 3]);
        let eye = w.op("EyeLike", &["input"], &[]);
        let y = w.op("Add", &["input", &eye], &[]);
        let network = Network::new(w.finish(&y), None).expect("a network");
        let floats = Floats::new(&network, &Array::new(&[1, 3], vec![0.5; 3]), true).expect("it fits");
        let made = &floats.value(network.outputs[0].1).data;
        assert_eq!(*made, [1.5, 0.5, 0.5]);
    }
}
