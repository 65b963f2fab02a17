//! Operators on known values: shapes, and weights in other forms. They make no layer.

use super::{Operator, compare, function, prelude::*};
use crate::onnx::{Attribute, Data, kind_name};

pub(super) const ALL: &[Operator] = &[
    // Saturation and rounding only concern 8-bit types, which are refused.
    Operator {
        attributes: &["round_mode", "saturate", "to"],
        moves: true,
        error: Bound::EXACT,
        ..Operator::new(
            "Cast",
            "The value in another type: to integers towards 0, to truth values whether it is not 0.",
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
        ..Operator::new("Dropout", "The value itself; for inference alone.", dropout)
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

/// Whether elements have a property that no element has here: all false.
fn never(op: &Reading<'_>, import: &mut Import) -> Result<Known, Fault> {
    let lengths = import.lengths(op.layer(import, 0)?).to_vec();
    let count = lengths.iter().product();
    Ok(Known::Ints(lengths, vec![0; count]))
}

fn dropout(op: &Reading<'_>, import: &mut Import) -> Result<Known, Fault> {
    op.not_training(match op.maybe(import, 2)? {
        None => false,
        Some(Known::Ints(_, all)) => all != [0],
        Some(_) => true,
    })?;
    op.input(import, 0)
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

/// The lengths of a value, or some of them if attributes say so.
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

/// A value in another type. Whole numbers and truth values are numbers without a fraction.
fn cast(op: &Reading<'_>, import: &mut Import) -> Result<Known, Fault> {
    let of = op.input(import, 0)?;
    let to = op.int("to", 0)?;
    let range = match to {
        // Smaller floats would round, and larger ones add nothing.
        1 | 10 | 11 | 16 => None,
        2 => Some(0..=255),
        3 => Some(-128..=127),
        4 => Some(0..=65_535),
        5 => Some(-32_768..=32_767),
        6 => Some(i64::from(i32::MIN)..=i64::from(i32::MAX)),
        7 => Some(i64::MIN..=i64::MAX),
        9 => Some(0..=1),
        12 => Some(0..=i64::from(u32::MAX)),
        13 => Some(0..=i64::MAX),
        21 => Some(0..=15),
        22 => Some(-8..=7),
        25 => Some(0..=3),
        26 => Some(-2..=1),
        _ => {
            let cause = format!("it casts to {}", kind_name(to));
            return Err(op.error(cause, "cast to float32, or to integers"));
        }
    };
    let fits = |n: i64| match &range {
        Some(range) if !range.contains(&n) => {
            Err(op.error(format!("{n} does not fit {}", kind_name(to)), "cast to int64"))
        }
        _ => Ok(n),
    };
    Ok(match (of, &range) {
        // Whole numbers and truth values are numbers as floats are.
        (Known::Layer(at), None) => function::numbers(op, import, at)?,
        (Known::Layer(at), Some(_)) if to == 9 && !import.is_places(at) => compare::not_zero(op, import, at)?,
        (Known::Layer(at), Some(_)) if op.reads_whole(import, 0) || import.is_places(at) => Known::Layer(at),
        (Known::Layer(at), Some(range)) => {
            let whole = function::truncated(op, import, at)?;
            // A number that does not fit fewer than 8 bits wraps; for more bits ONNX does not
            // define it.
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
                // Rounded towards 0, as in ONNX; a float of 2^63 is the first that does not fit.
                _ if x.is_finite() && x.abs() < 2f32.powi(63) => fits(*x as i64),
                _ => Err(op.error(format!("{x} is no integer of 64 bits"), "save the model anew")),
            };
            let all = array.data.iter().map(whole).collect::<Result<_, _>>()?;
            Known::Ints(array.lengths.clone(), all)
        }
        (Known::Ints(lengths, all), Some(_)) => {
            let whole = |n: &i64| if to == 9 { Ok(i64::from(*n != 0)) } else { fits(*n) };
            Known::Ints(lengths, all.iter().map(whole).collect::<Result<_, _>>()?)
        }
        (Known::Ints(lengths, all), None) => {
            Known::Floats(Arc::new(Array { lengths, data: all.iter().map(|n| *n as f32).collect() }))
        }
        (known, None) => known,
    })
}
