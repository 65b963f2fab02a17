//! Operators on known values: shapes, and weights in other forms. They make no layers.

use super::{Operator, compare, function, prelude::*};
use crate::onnx::{Attribute, Data, kind_name};
use std::ops::RangeInclusive;

pub(super) const ALL: &[Operator] = &[
    // Saturation and rounding only concern 8-bit types, which are refused.
    Operator {
        attributes: &["round_mode", "saturate", "to"],
        moves: true,
        error: Bound::EXACT,
        ..Operator::new(
            "Cast",
            "The value in another type: to integers towards 0, to truth values whether it is not 0. Integers that do not fit 16 bits or fewer wrap.",
            cast,
        )
    },
    Operator {
        inputs: 0,
        attributes: &["value", "value_float", "value_floats", "value_int", "value_ints"],
        error: Bound::EXACT,
        ..Operator::new("Constant", "A known value.", constant)
    },
    Operator {
        inputs: 2,
        attributes: &["round_mode", "saturate"],
        moves: true,
        error: Bound::EXACT,
        ..Operator::new("CastLike", "The first value in the second one's type.", |op, import| {
            let to = match op.input(import, 1)? {
                // Integers of fewer than 8 bits wrap, and floats of 8 bits are refused.
                _ if op.makes(import).is_some_and(|kind| kind >= 17) => op.makes(import).unwrap_or(7),
                Known::Ints(..) => 7,
                Known::Layer(_) if op.reads_whole(import, 1) => 7,
                _ => 1,
            };
            let x = op.input(import, 0)?;
            op.call(import, "Cast", &[&x], &[("to", Attribute::Int(to))])
        })
    },
    // The ratio and the seed are only for training.
    Operator {
        inputs: 3,
        outputs: 2,
        attributes: &["ratio", "seed"],
        moves: true,
        error: Bound::EXACT,
        ..Operator::several("Dropout", "The value itself; for inference alone.", dropout)
    },
    Operator {
        moves: true,
        error: Bound::EXACT,
        ..Operator::new("Identity", "The value itself.", |op, import| op.input(import, 0))
    },
    Operator {
        moves: true,
        error: Bound::EXACT,
        ..Operator::new("Size", "The number of a value's elements, which all members know.", |op, import| {
            let of = op.input(import, 0)?;
            let count: usize = import.lengths_of(&of).iter().product();
            Ok(Known::Ints(vec![], vec![count as i64]))
        })
    },
    Operator { error: Bound::EXACT, ..Operator::new("IsNaN", "False: values are finite numbers.", never) },
    Operator {
        attributes: &["detect_negative", "detect_positive"],
        error: Bound::EXACT,
        ..Operator::new("IsInf", "False: values are finite numbers.", never)
    },
    Operator {
        attributes: &["end", "start"],
        moves: true,
        error: Bound::EXACT,
        ..Operator::new("Shape", "The lengths of a value, which all members know.", sizes)
    },
];

/// Tells which elements have a property that no element has here: all are false.
fn never(op: &Reading<'_>, import: &mut Import) -> Result<Known, Fault> {
    let lengths = import.lengths(op.layer(import, 0)?).to_vec();
    let count = lengths.iter().product();
    Ok(Known::Ints(lengths, vec![0; count]))
}

/// The value itself, and a mask that keeps all elements. Training that drops none is like
/// inference.
fn dropout(op: &Reading<'_>, import: &mut Import) -> Result<Vec<Known>, Fault> {
    let trains = match op.maybe(import, 2)? {
        None => false,
        Some(Known::Ints(_, all)) => all != [0],
        Some(_) => true,
    };
    let drops = match op.maybe(import, 1)?.and_then(|ratio| ratio.as_floats()) {
        Some(ratio) => ratio.data != [0.0],
        None => true,
    };
    op.not_training(trains && drops)?;
    let x = op.input(import, 0)?;
    let lengths = import.lengths_of(&x);
    let count = lengths.iter().product();
    // Before set 10 the mask has the value's type.
    let mask = match import.opset {
        ..10 => Known::floats(&lengths, vec![1.0; count]),
        _ => Known::Ints(lengths, vec![1; count]),
    };
    Ok(vec![x, mask])
}

/// The value of a constant.
fn constant(op: &Reading<'_>, _: &mut Import) -> Result<Known, Fault> {
    let attributes: Vec<_> = op.node.attributes.iter().map(|(name, of)| (&name[..], of)).collect();
    Ok(match attributes[..] {
        [("value", Attribute::Tensor(tensor))] => match &tensor.data {
            Data::Floats(data) => {
                Known::Floats(Arc::new(Array { lengths: tensor.lengths.clone(), data: data.clone() }))
            }
            Data::Ints(all) => Known::Ints(tensor.lengths.clone(), all.clone()),
        },
        [("value_float", Attribute::Float(x))] => {
            Known::Floats(Arc::new(Array { lengths: vec![], data: vec![*x] }))
        }
        [("value_floats", Attribute::Floats(all))] => {
            Known::Floats(Arc::new(Array { lengths: vec![all.len()], data: all.clone() }))
        }
        [("value_int", Attribute::Int(n))] => Known::Ints(vec![], vec![*n]),
        [("value_ints", Attribute::Ints(all))] => Known::Ints(vec![all.len()], all.clone()),
        _ => return Err(op.error("it has no value, or several", "save the model anew")),
    })
}

/// The lengths of a value, or those of some axes if attributes say so.
fn sizes(op: &Reading<'_>, import: &mut Import) -> Result<Known, Fault> {
    let of = op.input(import, 0)?;
    let lengths = import.lengths_of(&of);
    // Negative axes count from the end; axes are clamped to those that exist.
    let rank = lengths.len() as i64;
    let at = |n: i64| (if n < 0 { n.saturating_add(rank) } else { n }).clamp(0, rank) as usize;
    let (start, end) = (at(op.int("start", 0)?), at(op.int("end", rank)?));
    let some: Vec<i64> = lengths[start..end.max(start)].iter().map(|n| *n as i64).collect();
    Ok(Known::Ints(vec![some.len()], some))
}

/// The range of integers of one of ONNX's types.
fn whole_range(kind: i64) -> Option<RangeInclusive<i64>> {
    Some(match kind {
        2 => 0..=255,
        3 => -128..=127,
        4 => 0..=65_535,
        5 => -32_768..=32_767,
        6 => i64::from(i32::MIN)..=i64::from(i32::MAX),
        7 => i64::MIN..=i64::MAX,
        9 => 0..=1,
        12 => 0..=i64::from(u32::MAX),
        13 => 0..=i64::MAX,
        21 => 0..=15,
        22 => -8..=7,
        25 => 0..=3,
        26 => -2..=1,
        _ => return None,
    })
}

/// Whether a layer makes truth values, 0 and 1.
fn is_truth(import: &Import, at: usize) -> bool {
    let layer = &import.layers[at];
    match layer.kind.def().role() {
        ScaleRole::Moves => is_truth(import, layer.reads[0]),
        _ => matches!(layer.kind, Kind::Compare(_) | Kind::Logic(_)),
    }
}

/// A value in another type. Whole numbers and truth values become numbers without a fraction.
fn cast(op: &Reading<'_>, import: &mut Import) -> Result<Known, Fault> {
    let of = op.input(import, 0)?;
    let to = op.int("to", 0)?;
    let range = whole_range(to);
    // Smaller floats would round, and larger ones add nothing.
    if range.is_none() && !matches!(to, 1 | 10 | 11 | 16) {
        let cause = format!("it casts to {}", kind_name(to));
        return Err(op.error(cause, "cast to float32, or to integers"));
    }
    let fits = |n: i64| match &range {
        Some(range) if !range.contains(&n) => {
            Err(op.error(format!("{n} does not fit {}", kind_name(to)), "cast to int64"))
        }
        _ => Ok(n),
    };
    // An integer that does not fit keeps its lowest bits, as the standard says.
    let wrapped = |n: i64| match &range {
        Some(range) if !range.contains(&n) && to != 13 => {
            let (low, high) = (i128::from(*range.start()), i128::from(*range.end()));
            Ok(((i128::from(n) - low).rem_euclid(high - low + 1) + low) as i64)
        }
        _ => fits(n),
    };
    Ok(match (of, &range) {
        // Here whole numbers and truth values are numbers like floats.
        (Known::Layer(at), None) => function::numbers(op, import, at)?,
        (Known::Layer(at), Some(_)) if to == 9 && !import.is_places(at) => compare::not_zero(op, import, at)?,
        (Known::Layer(at), Some(_)) if import.is_places(at) => Known::Layer(at),
        (Known::Layer(at), Some(range)) if op.reads_whole(import, 0) => {
            let from = op.node.inputs.first().and_then(|name| import.kinds.get(name)).copied();
            let fits = is_truth(import, at)
                || from
                    .and_then(whole_range)
                    .is_some_and(|own| range.start() <= own.start() && own.end() <= range.end());
            // Integers of 32 bits and more do not wrap here in any type.
            if fits || !matches!(to, 2..=5 | 21 | 22 | 25 | 26) {
                Known::Layer(at)
            } else {
                op.modulo(import, Known::Layer(at), range.end() - range.start() + 1, *range.start() < 0)?
            }
        }
        (Known::Layer(at), Some(range)) => {
            let whole = function::truncated(op, import, at)?;
            // A number that does not fit wraps in types of fewer than 8 bits. For wider types ONNX
            // does not define the result.
            match to {
                21 | 22 | 25 | 26 => {
                    op.modulo(import, whole, range.end() - range.start() + 1, *range.start() < 0)?
                }
                _ => whole,
            }
        }
        (Known::Floats(array), Some(_)) => {
            let whole = |x: &f32| match to {
                9 => Ok(i64::from(*x != 0.0)),
                // Rounded towards 0, as in ONNX; 2^63 is the first float that does not fit.
                _ if x.is_finite() && x.abs() < 2f32.powi(63) => fits(*x as i64),
                _ => Err(op.error(format!("{x} is no integer of 64 bits"), "save the model anew")),
            };
            let all = array.data.iter().map(whole).collect::<Result<_, _>>()?;
            Known::Ints(array.lengths.clone(), all)
        }
        (Known::Ints(lengths, all), Some(_)) => {
            let whole = |n: &i64| if to == 9 { Ok(i64::from(*n != 0)) } else { wrapped(*n) };
            Known::Ints(lengths, all.iter().map(whole).collect::<Result<_, _>>()?)
        }
        (Known::Ints(lengths, all), None) => {
            Known::Floats(Arc::new(Array { lengths, data: all.iter().map(|n| *n as f32).collect() }))
        }
        (known, None) => known,
    })
}

#[cfg(test)]
mod tests {
    use super::super::checks::check;
    use crate::{onnx::Attribute, zoo::Writer};

    fn cast(w: &mut Writer, x: &str, to: i64) -> String {
        w.op("Cast", &[x], &[("to", Attribute::Int(to))])
    }

    /// −1, 0 or 1 as integers of 64 bits, times a number.
    fn integers(w: &mut Writer, times: i64) -> String {
        let sign = w.op("Sign", &["input"], &[]);
        let sign = cast(w, &sign, 7);
        let by = w.integers(7, &[1], vec![times]);
        w.op("Mul", &[&sign, &by], &[])
    }

    #[test]
    fn integers_that_do_not_fit_keep_their_lowest_bits() {
        let all: [(i64, f32, f32); 4] =
            [(2, 56.0, 200.0), (3, 56.0, -56.0), (4, 65336.0, 200.0), (5, -200.0, 200.0)];
        for (to, below, above) in all {
            let mut w = Writer::new("cast", 1, &[2, 3]);
            let x = integers(&mut w, 200);
            let x = cast(&mut w, &x, to);
            let y = cast(&mut w, &x, 1);
            check(&w.finish(&y), 0.5, |x| {
                x.data.iter().map(|x| if *x < 0.0 { below } else { above }).collect()
            });
        }
        // Integers of 8 bits with a sign, as integers without a sign.
        let mut w = Writer::new("cast", 1, &[2, 3]);
        let x = integers(&mut w, 100);
        let x = cast(&mut w, &x, 3);
        let x = cast(&mut w, &x, 2);
        let y = cast(&mut w, &x, 1);
        check(&w.finish(&y), 0.5, |x| x.data.iter().map(|x| if *x < 0.0 { 156.0 } else { 100.0 }).collect());
    }

    #[test]
    fn casts_that_cannot_wrap_cost_nothing() {
        let mut w = Writer::new("cast", 1, &[2, 3]);
        let zero = w.weights(&[1], vec![0.0]);
        let truth = w.op("Greater", &["input", &zero], &[]);
        let x = cast(&mut w, &truth, 2);
        let x = cast(&mut w, &x, 4);
        let y = cast(&mut w, &x, 1);
        let model = w.finish(&y);
        let network = crate::Network::new(model.clone(), None).expect("it is supported");
        assert_eq!(network.layers.len(), 2, "{network:?}");
        check(&model, 0.0, |x| x.data.iter().map(|x| f32::from(u8::from(*x > 0.0))).collect());
    }

    #[test]
    fn negatives_and_sizes_of_integers_of_8_bits_wrap() {
        for (op, made) in [("Neg", [-128.0, -127.0]), ("Abs", [-128.0, 127.0])] {
            let mut w = Writer::new("wrap", 1, &[2, 3]);
            let x = integers(&mut w, -127);
            // −128 where the input is above 0.
            let one = w.integers(7, &[1], vec![1]);
            let x = w.op("Sub", &[&x, &one], &[]);
            let x = cast(&mut w, &x, 3);
            let x = w.op(op, &[&x], &[]);
            let y = cast(&mut w, &x, 1);
            let [above, below] = if op == "Neg" { [made[0], -126.0] } else { [made[0], 126.0] };
            check(&w.finish(&y), 0.5, |x| {
                x.data.iter().map(|x| if *x > 0.0 { above } else { below }).collect()
            });
        }
    }

    #[test]
    fn dropout_that_drops_none_is_no_training_and_keeps_all() {
        let mut w = Writer::new("dropout", 1, &[2, 3]);
        let (ratio, trains) = (w.weights(&[], vec![0.0]), w.integers(9, &[], vec![1]));
        let y = w.op("Dropout", &["input", &ratio, &trains], &[]);
        w.outputs_of_last(&["mask"]);
        let mask = cast(&mut w, "mask", 1);
        let y = w.op("Add", &[&y, &mask], &[]);
        check(&w.finish(&y), 0.5, |x| x.data.iter().map(|x| x + 1.0).collect());
    }
}
