//! Operators on what is known: shapes, and weights in other forms.

use super::{Import, Known, operator::Operator};
use crate::{
    Array, NnError,
    onnx::{Attribute, Data, kind_name},
};
use std::sync::Arc;

impl Operator<'_> {
    /// The value of a constant.
    pub(super) fn constant(&self) -> Result<Known, NnError> {
        let attributes: Vec<_> = self.node.attributes.iter().map(|(name, of)| (&name[..], of)).collect();
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
            _ => return Err(self.error("it has no value, or several", "save the model anew")),
        })
    }

    /// Lengths of a value, some of them where so said.
    pub(super) fn shape(&self, import: &Import) -> Result<Known, NnError> {
        let of = self.input(import, 0)?;
        let lengths = self.lengths_of(import, &of);
        // Counted from the end below 0, and held to the axes that there are.
        let rank = lengths.len() as i64;
        let at = |n: i64| (if n < 0 { n.saturating_add(rank) } else { n }).clamp(0, rank) as usize;
        let (start, end) = (at(self.int("start", 0)?), at(self.int("end", rank)?));
        let some: Vec<i64> = lengths[start..end.max(start)].iter().map(|n| *n as i64).collect();
        Ok(Known::Ints(vec![some.len()], some))
    }

    /// A known value in another type.
    pub(super) fn cast(&self, of: Known) -> Result<Known, NnError> {
        let to = self.int("to", 0)?;
        let range = match to {
            // Smaller floats would round, and larger ones hold no more than what is known.
            1 | 11 => None,
            2 => Some(0..=255),
            3 => Some(-128..=127),
            4 => Some(0..=65_535),
            5 => Some(-32_768..=32_767),
            6 => Some(i64::from(i32::MIN)..=i64::from(i32::MAX)),
            7 => Some(i64::MIN..=i64::MAX),
            9 => Some(0..=1),
            12 => Some(0..=i64::from(u32::MAX)),
            _ => {
                let cause = format!("it casts to {}", kind_name(to));
                return Err(self.error(cause, "cast to float32, or to integers"));
            }
        };
        let fits = |n: i64| match &range {
            Some(range) if !range.contains(&n) => {
                Err(self.error(format!("{n} does not fit {}", kind_name(to)), "cast to int64"))
            }
            _ => Ok(n),
        };
        Ok(match (of, &range) {
            (Known::Layer(_), _) => {
                return Err(self.error("it casts a value", "values are floating-point numbers throughout"));
            }
            (Known::Floats(array), Some(_)) => {
                let whole = |x: &f32| match to {
                    9 => Ok(i64::from(*x != 0.0)),
                    // Towards 0, as ONNX says; a float of 2^63 is the first that does not fit.
                    _ if x.is_finite() && x.abs() < 2f32.powi(63) => fits(*x as i64),
                    _ => Err(self.error(format!("{x} is no integer of 64 bits"), "save the model anew")),
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

    /// Integers at places along the first axis.
    pub(super) fn gather(&self, of: Known, places: Known) -> Result<Known, NnError> {
        let (Known::Ints(from, all), Known::Ints(lengths, places)) = (of, places) else {
            return Err(self.error("it gathers values", "it is supported on shapes alone"));
        };
        if from.len() != 1 {
            return Err(self.error("it gathers rows", "it is supported on lists alone"));
        }
        self.axis(self.int("axis", 0)?, 1)?;
        let one = |place: &i64| {
            let place = if *place < 0 { place + all.len() as i64 } else { *place };
            let found = usize::try_from(place).ok().and_then(|place| all.get(place).copied());
            found.ok_or_else(|| {
                self.error(format!("place {place} is none of {}", all.len()), "save the model anew")
            })
        };
        Ok(Known::Ints(lengths, places.iter().map(one).collect::<Result<_, _>>()?))
    }

    /// Lists of integers one behind the other.
    pub(super) fn joined(&self, all: Vec<Known>) -> Result<Known, NnError> {
        self.axis(self.concat_axis()?, 1)?;
        let mut joined = vec![];
        for known in all {
            match known {
                Known::Ints(lengths, some) if lengths.len() == 1 => joined.extend(some),
                _ => return Err(self.error("it joins weights", "it joins values, or shapes")),
            }
        }
        Ok(Known::Ints(vec![joined.len()], joined))
    }

    /// A known value along other axes.
    pub(super) fn known_reshaped(&self, of: Known, lengths: &[usize]) -> Result<Known, NnError> {
        let count: usize = lengths.iter().product();
        Ok(match of {
            Known::Floats(array) if array.data.len() == count => {
                Known::Floats(Arc::new(Array::clone(&array).reshaped(lengths)))
            }
            Known::Ints(_, all) if all.len() == count => Known::Ints(lengths.to_vec(), all),
            _ => return Err(self.error("it changes how many elements there are", "save the model anew")),
        })
    }
}
