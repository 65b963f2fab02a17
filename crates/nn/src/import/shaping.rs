//! Operators that move elements and compute nothing.

use super::{Import, Known, operator::Operator};
use crate::{Array, Kind, NnError};
use std::sync::Arc;

impl Operator<'_> {
    pub(super) fn lengths_of(&self, import: &Import, known: &Known) -> Vec<usize> {
        match known {
            Known::Layer(at) => import.lengths(*at).to_vec(),
            Known::Floats(array) => array.lengths.clone(),
            Known::Ints(lengths, _) => lengths.clone(),
        }
    }

    /// The same elements along other axes.
    pub(super) fn to_lengths(
        &self,
        import: &mut Import,
        of: Known,
        lengths: Vec<usize>,
    ) -> Result<Known, NnError> {
        let Known::Layer(at) = of else { return self.known_reshaped(of, &lengths) };
        let from = import.lengths(at);
        if from == lengths {
            return Ok(of);
        }
        if lengths.iter().product::<usize>() != from.iter().product::<usize>() {
            let cause = format!("its value has the lengths {from:?}, and becomes {lengths:?}");
            return Err(self.error(cause, "the model may be for another number of images"));
        }
        self.made(import, Kind::Reshape, vec![at], lengths)
    }

    pub(super) fn reshape(&self, import: &mut Import) -> Result<Known, NnError> {
        let of = self.input(import, 0)?;
        let from = self.lengths_of(import, &of);
        let to = match self.integers(import, 1)? {
            Some(to) => to,
            None => self.ints("shape")?.unwrap_or_default(),
        };
        let zero_is_zero = self.flag("allowzero", false)?;
        let mut lengths = vec![];
        for (axis, n) in to.iter().enumerate() {
            lengths.push(match (n, import.images) {
                (0, _) if !zero_is_zero => match from.get(axis) {
                    Some(n) => Some(*n),
                    None => {
                        return Err(self.error(format!("it keeps axis {axis} of {from:?}"), "save it anew"));
                    }
                },
                (-1, _) => None,
                // A model for one image says so in its shapes; there are as many as are brought.
                (n, Some((said, images))) if axis == 0 && *n == said && matches!(of, Known::Layer(_)) => {
                    usize::try_from(images).ok()
                }
                (n, _) => match usize::try_from(*n) {
                    Ok(n) => Some(n),
                    Err(_) => return Err(self.error(format!("it becomes {to:?}"), "save the model anew")),
                },
            });
        }
        let open = lengths.iter().filter(|n| n.is_none()).count();
        let known = lengths.iter().flatten().try_fold(1usize, |all, n| all.checked_mul(*n)).unwrap_or(0);
        let count: usize = from.iter().product();
        if open > 1 || (open == 1 && (known == 0 || !count.is_multiple_of(known))) {
            let cause = format!("its value has the lengths {from:?}, and becomes {to:?}");
            return Err(self.error(cause, "the model may be for another number of images"));
        }
        let lengths = lengths.iter().map(|n| n.unwrap_or_else(|| count / known)).collect();
        self.to_lengths(import, of, lengths)
    }

    pub(super) fn flatten(&self, import: &mut Import) -> Result<Known, NnError> {
        let of = self.input(import, 0)?;
        let from = self.lengths_of(import, &of);
        let axis = match self.int("axis", 1)? {
            axis if axis == from.len() as i64 => from.len(),
            axis => self.axis(axis, from.len())?,
        };
        let lengths = vec![from[..axis].iter().product(), from[axis..].iter().product()];
        self.to_lengths(import, of, lengths)
    }

    fn axes(&self, import: &Import) -> Result<Option<Vec<i64>>, NnError> {
        match self.integers(import, 1)? {
            Some(axes) => Ok(Some(axes)),
            None => self.ints("axes"),
        }
    }

    pub(super) fn squeeze(&self, import: &mut Import) -> Result<Known, NnError> {
        let of = self.input(import, 0)?;
        let from = self.lengths_of(import, &of);
        let gone: Vec<usize> = match self.axes(import)? {
            Some(axes) => axes.iter().map(|axis| self.axis(*axis, from.len())).collect::<Result<_, _>>()?,
            None => (0..from.len()).filter(|axis| from[*axis] == 1).collect(),
        };
        if let Some(axis) = gone.iter().find(|axis| from[**axis] != 1) {
            let cause = format!("axis {axis} of {from:?} is not of length 1");
            return Err(self.error(cause, "save the model anew"));
        }
        let left = from.iter().enumerate().filter(|(axis, _)| !gone.contains(axis));
        let lengths = left.map(|(_, n)| *n).collect();
        self.to_lengths(import, of, lengths)
    }

    pub(super) fn unsqueeze(&self, import: &mut Import) -> Result<Known, NnError> {
        let of = self.input(import, 0)?;
        let from = self.lengths_of(import, &of);
        let axes = self.axes(import)?.unwrap_or_default();
        let rank = from.len() + axes.len();
        let new: Vec<usize> = axes.iter().map(|axis| self.axis(*axis, rank)).collect::<Result<_, _>>()?;
        let mut old = from.iter();
        let lengths: Vec<usize> = (0..rank)
            .map(|axis| if new.contains(&axis) { 1 } else { old.next().copied().unwrap_or(1) })
            .collect();
        if old.next().is_some() {
            return Err(self.error(format!("its axes are {axes:?}"), "name each axis once"));
        }
        self.to_lengths(import, of, lengths)
    }

    pub(super) fn transpose(&self, import: &mut Import) -> Result<Known, NnError> {
        let of = self.input(import, 0)?;
        let from = self.lengths_of(import, &of);
        let axes = match self.ints("perm")? {
            Some(all) => {
                all.iter().map(|axis| self.axis(*axis, from.len())).collect::<Result<Vec<_>, _>>()?
            }
            None => (0..from.len()).rev().collect(),
        };
        let mut sorted = axes.clone();
        sorted.sort_unstable();
        if !sorted.iter().copied().eq(0..from.len()) {
            return Err(self.error(format!("its axes are {axes:?}"), "name each axis once"));
        }
        let lengths = axes.iter().map(|axis| from[*axis]).collect();
        match of {
            Known::Layer(at) => self.made(import, Kind::Transpose(axes), vec![at], lengths),
            Known::Floats(array) => Ok(Known::Floats(Arc::new(array.transposed(&axes)))),
            Known::Ints(..) => Err(self.error("it turns integers", "save the model anew")),
        }
    }

    /// It has no axis by default.
    pub(super) fn concat_axis(&self) -> Result<i64, NnError> {
        if self.node.attributes.contains_key("axis") {
            return self.int("axis", 0);
        }
        Err(self.error("it has no axis", "save the model anew"))
    }

    pub(super) fn concat(&self, import: &mut Import) -> Result<Known, NnError> {
        let all = (0..self.node.inputs.len()).map(|k| self.input(import, k));
        let all = all.collect::<Result<Vec<_>, _>>()?;
        if !all.iter().any(|known| matches!(known, Known::Layer(_))) {
            return self.joined(all);
        }
        let reads = (0..all.len()).map(|k| self.layer(import, k)).collect::<Result<Vec<_>, _>>()?;
        let mut lengths = import.lengths(reads[0]).to_vec();
        let axis = self.axis(self.concat_axis()?, lengths.len())?;
        for at in &reads[1..] {
            let other = import.lengths(*at);
            let same = (0..lengths.len()).all(|k| k == axis || other.get(k) == Some(&lengths[k]));
            if other.len() != lengths.len() || !same {
                let cause =
                    format!("it joins values of the lengths {lengths:?} and {other:?} along axis {axis}");
                return Err(self.error(cause, "all other axes are of one length"));
            }
            lengths[axis] += other[axis];
        }
        self.made(import, Kind::Concat(axis), reads, lengths)
    }

    pub(super) fn pad(&self, import: &mut Import) -> Result<Known, NnError> {
        let at = self.layer(import, 0)?;
        let from = import.lengths(at).to_vec();
        let mode = self.text("mode", "constant")?;
        let filled = match self.maybe_weights(import, 2)? {
            Some(array) => array.data.iter().any(|x| *x != 0.0),
            None => self.float("value", 0.0)? != 0.0,
        };
        if mode != "constant" || filled {
            return Err(self.error("it pads with something else than zeros", "pad with zeros"));
        }
        let pads = match self.integers(import, 1)? {
            Some(pads) => pads,
            None => self.ints("pads")?.unwrap_or_default(),
        };
        let axes: Vec<usize> = match self.integers(import, 3)? {
            Some(axes) => axes.iter().map(|axis| self.axis(*axis, from.len())).collect::<Result<_, _>>()?,
            None => (0..from.len()).collect(),
        };
        if (0..axes.len()).any(|k| axes[..k].contains(&axes[k])) {
            return Err(self.error(format!("its axes are {axes:?}"), "name each axis once"));
        }
        let sizes: Option<Vec<usize>> =
            pads.iter().map(|n| usize::try_from(*n).ok().filter(|n| *n < 1 << 16)).collect();
        let sizes = sizes.filter(|sizes| sizes.len() == 2 * axes.len());
        let sizes =
            sizes.ok_or_else(|| self.error(format!("its pads are {pads:?}"), "pad with 0 or more"))?;
        let mut around = vec![[0; 2]; from.len()];
        for (k, axis) in axes.iter().enumerate() {
            around[*axis] = [sizes[k], sizes[k + axes.len()]];
        }
        let lengths = from.iter().zip(&around).map(|(n, [before, after])| n + before + after).collect();
        self.made(import, Kind::Pad(around), vec![at], lengths)
    }

    pub(super) fn made(
        &self,
        import: &mut Import,
        kind: Kind,
        reads: Vec<usize>,
        lengths: Vec<usize>,
    ) -> Result<Known, NnError> {
        import.layer(&self.place, &self.name, kind, reads, lengths).map(Known::Layer)
    }

    /// A value, or weights that all operations of it would be weights of.
    pub(super) fn single(array: &Array) -> Option<f32> {
        match array.data[..] {
            [x] => Some(x),
            _ => None,
        }
    }
}
