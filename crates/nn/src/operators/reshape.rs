//! Reshape, Flatten, Squeeze and Unsqueeze.

use super::prelude::*;

pub(super) const RESHAPE: Operator = Operator {
    inputs: 2,
    attributes: &["allowzero", "shape"],
    moves: true,
    error: Bound::EXACT,
    ..Operator::new("Reshape", "The same elements along other axes.", reshape)
};
pub(super) const FLATTEN: Operator = Operator {
    attributes: &["axis"],
    moves: true,
    error: Bound::EXACT,
    ..Operator::new("Flatten", "The same elements along two axes.", flatten)
};
pub(super) const SQUEEZE: Operator = Operator {
    inputs: 2,
    attributes: &["axes"],
    twice: &[(1, "axes")],
    moves: true,
    error: Bound::EXACT,
    ..Operator::new("Squeeze", "The same elements without axes of length 1.", squeeze)
};
pub(super) const UNSQUEEZE: Operator = Operator {
    inputs: 2,
    attributes: &["axes"],
    twice: &[(1, "axes")],
    moves: true,
    error: Bound::EXACT,
    ..Operator::new("Unsqueeze", "The same elements with more axes of length 1.", unsqueeze)
};

/// The same elements along other axes.
#[derive(Clone, Debug, PartialEq)]
pub struct Reshape;

impl Definition for Reshape {
    fn name(&self) -> &'static str {
        "Reshape"
    }

    fn role(&self) -> ScaleRole {
        ScaleRole::Moves
    }

    fn value(&self, reads: &[Arc<Array>], to: &[usize]) -> Array {
        Array::clone(&reads[0]).reshaped(to)
    }

    fn lower<'b>(&self, lower: &mut Lower<'b>, site: Site<'_>) -> Result<Held<'b>, Fault> {
        let held = lower.held(site.reads[0]);
        Ok(held.with(held.val.reshape(shape(site.lengths))))
    }
}

/// The same elements along other axes.
pub(super) fn to_lengths(
    op: &Reading<'_>,
    import: &mut Import,
    of: Known,
    lengths: Vec<usize>,
) -> Result<Known, Fault> {
    let count: usize = lengths.iter().product();
    match of {
        Known::Floats(array) if array.data.len() == count => {
            Ok(Known::Floats(Arc::new(Array::clone(&array).reshaped(&lengths))))
        }
        Known::Ints(_, all) if all.len() == count => Ok(Known::Ints(lengths, all)),
        Known::Floats(_) | Known::Ints(..) => {
            Err(op.error("it changes how many elements there are", "save the model anew"))
        }
        Known::Layer(at) if import.lengths(at) == lengths => Ok(of),
        Known::Layer(at) if import.lengths(at).iter().product::<usize>() != count => {
            let from = import.lengths(at);
            let cause = format!("its value has the lengths {from:?}, and becomes {lengths:?}");
            Err(op.error(cause, "check that the model is for this number of images"))
        }
        Known::Layer(at) => op.made(import, Kind::Reshape(Reshape), vec![at], lengths),
    }
}

fn reshape(op: &Reading<'_>, import: &mut Import) -> Result<Known, Fault> {
    let of = op.input(import, 0)?;
    let from = import.lengths_of(&of);
    let to = match op.integers(import, 1)? {
        Some(to) => to,
        None => op.ints("shape")?.unwrap_or_default(),
    };
    let zero_is_zero = op.flag("allowzero", false)?;
    let mut lengths = vec![];
    for (axis, n) in to.iter().enumerate() {
        lengths.push(match (n, import.images) {
            (0, _) if !zero_is_zero => match from.get(axis) {
                Some(n) => Some(*n),
                None => return Err(op.error(format!("it keeps axis {axis} of {from:?}"), "save it anew")),
            },
            (-1, _) => None,
            // A model for one image has 1 in its shapes; the input's number of images replaces it.
            (n, Some((said, images))) if axis == 0 && *n == said && matches!(of, Known::Layer(_)) => {
                usize::try_from(images).ok()
            }
            (n, _) => match usize::try_from(*n) {
                Ok(n) => Some(n),
                Err(_) => return Err(op.error(format!("it becomes {to:?}"), "save the model anew")),
            },
        });
    }
    let open = lengths.iter().filter(|n| n.is_none()).count();
    let known = lengths.iter().flatten().try_fold(1usize, |all, n| all.checked_mul(*n)).unwrap_or(0);
    let count: usize = from.iter().product();
    if open > 1 || (open == 1 && (known == 0 || !count.is_multiple_of(known))) {
        let cause = format!("its value has the lengths {from:?}, and becomes {to:?}");
        return Err(op.error(cause, "check that the model is for this number of images"));
    }
    let lengths = lengths.iter().map(|n| n.unwrap_or_else(|| count / known)).collect();
    to_lengths(op, import, of, lengths)
}

fn flatten(op: &Reading<'_>, import: &mut Import) -> Result<Known, Fault> {
    let of = op.input(import, 0)?;
    let from = import.lengths_of(&of);
    let axis = match op.int("axis", 1)? {
        axis if axis == from.len() as i64 => from.len(),
        axis => op.axis(axis, from.len())?,
    };
    let lengths = vec![from[..axis].iter().product(), from[axis..].iter().product()];
    to_lengths(op, import, of, lengths)
}

fn axes(op: &Reading<'_>, import: &Import) -> Result<Option<Vec<i64>>, Fault> {
    match op.integers(import, 1)? {
        Some(axes) => Ok(Some(axes)),
        None => op.ints("axes"),
    }
}

fn squeeze(op: &Reading<'_>, import: &mut Import) -> Result<Known, Fault> {
    let of = op.input(import, 0)?;
    let from = import.lengths_of(&of);
    let gone: Vec<usize> = match axes(op, import)? {
        Some(axes) => axes.iter().map(|axis| op.axis(*axis, from.len())).collect::<Result<_, _>>()?,
        None => (0..from.len()).filter(|axis| from[*axis] == 1).collect(),
    };
    if let Some(axis) = gone.iter().find(|axis| from[**axis] != 1) {
        let cause = format!("axis {axis} of {from:?} is not of length 1");
        return Err(op.error(cause, "save the model anew"));
    }
    let left = from.iter().enumerate().filter(|(axis, _)| !gone.contains(axis));
    let lengths = left.map(|(_, n)| *n).collect();
    to_lengths(op, import, of, lengths)
}

fn unsqueeze(op: &Reading<'_>, import: &mut Import) -> Result<Known, Fault> {
    let of = op.input(import, 0)?;
    let from = import.lengths_of(&of);
    let axes = axes(op, import)?.unwrap_or_default();
    let rank = from.len() + axes.len();
    let new: Vec<usize> = axes.iter().map(|axis| op.axis(*axis, rank)).collect::<Result<_, _>>()?;
    let mut old = from.iter();
    let lengths: Vec<usize> = (0..rank)
        .map(|axis| if new.contains(&axis) { 1 } else { old.next().copied().unwrap_or(1) })
        .collect();
    if old.next().is_some() {
        return Err(op.error(format!("its axes are {axes:?}"), "name each axis once"));
    }
    to_lengths(op, import, of, lengths)
}
