//! Operators on what is known: shapes, and weights in other forms.

use super::{Known, operator::Operator};
use crate::{
    Array, NnError,
    onnx::{Attribute, Data},
};
use std::sync::Arc;

impl Operator<'_> {
    /// The value of a constant.
    pub(super) fn constant(&self) -> Result<Known, NnError> {
        let attributes = &self.node.attributes;
        Ok(match attributes.values().next() {
            Some(Attribute::Tensor(tensor)) if attributes.contains_key("value") => match &tensor.data {
                Data::Floats(data) => {
                    Known::Floats(Arc::new(Array { lengths: tensor.lengths.clone(), data: data.clone() }))
                }
                Data::Ints(all) => Known::Ints(tensor.lengths.clone(), all.clone()),
            },
            Some(Attribute::Float(x)) => Known::Floats(Arc::new(Array { lengths: vec![], data: vec![*x] })),
            Some(Attribute::Floats(all)) => {
                Known::Floats(Arc::new(Array { lengths: vec![all.len()], data: all.clone() }))
            }
            Some(Attribute::Int(n)) => Known::Ints(vec![], vec![*n]),
            Some(Attribute::Ints(all)) => Known::Ints(vec![all.len()], all.clone()),
            _ => return Err(self.error("it has no value", "save the model anew")),
        })
    }

    /// A known value in another type.
    pub(super) fn cast(&self, of: Known) -> Result<Known, NnError> {
        let whole = matches!(self.int("to", 0)?, 2..=7 | 9 | 12 | 13);
        Ok(match of {
            Known::Layer(_) => {
                return Err(self.error("it casts a value", "values are floating-point numbers throughout"));
            }
            Known::Floats(array) if whole => {
                Known::Ints(array.lengths.clone(), array.data.iter().map(|x| *x as i64).collect())
            }
            Known::Ints(lengths, all) if !whole => {
                Known::Floats(Arc::new(Array { lengths, data: all.iter().map(|n| *n as f32).collect() }))
            }
            known => known,
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
        let mut joined = vec![];
        for known in all {
            match known {
                Known::Ints(_, some) => joined.extend(some),
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
