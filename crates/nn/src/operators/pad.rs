//! Pad.

use super::prelude::*;
use crate::array::{places, steps};

pub(super) const PAD: Operator = Operator {
    inputs: 4,
    attributes: &["mode", "pads", "value"],
    twice: &[(1, "pads"), (2, "value")],
    error: Bound::Exact,
    ..Operator::new("Pad", "Zeros added before and after along each axis.", read)
};

/// Zeros added before and after along each axis.
#[derive(Clone, Debug, PartialEq)]
pub struct Pad {
    pub(crate) around: Vec<[usize; 2]>,
}

impl Definition for Pad {
    fn name(&self) -> &'static str {
        "Pad"
    }

    fn role(&self) -> ScaleRole {
        ScaleRole::Other
    }

    fn value(&self, reads: &[Arc<Array>], to: &[usize]) -> Array {
        let x = &reads[0];
        let mut out = Array::zeros(to);
        let steps = steps(to);
        let first: usize = self.around.iter().zip(&steps).map(|([before, _], step)| before * step).sum();
        places(&x.lengths, &steps).zip(&x.data).for_each(|(place, x)| out.data[first + place] = *x);
        out
    }

    fn lower<'b>(&self, lower: &mut Lower<'b>, site: Site<'_>) -> Result<Held<'b>, Fault> {
        let from = site.reads[0];
        let (mut x, mut lengths) = (lower.value(from), lower.lengths(from).to_vec());
        for (axis, [before, after]) in self.around.iter().enumerate() {
            let zeros = |n: usize| {
                let mut lengths = lengths.clone();
                lengths[axis] = n;
                lower.zero(x).broadcast(shape(&lengths))
            };
            let mut parts = vec![x];
            if *before > 0 {
                parts.insert(0, zeros(*before));
            }
            if *after > 0 {
                parts.push(zeros(*after));
            }
            if parts.len() > 1 {
                x = lower.b.concat(axis as u8, &parts);
                lengths[axis] += before + after;
            }
        }
        Ok(Held::cut_already(x, lower.node(from)))
    }
}

fn read(op: &Reading<'_>, import: &mut Import) -> Result<Known, Fault> {
    let at = op.layer(import, 0)?;
    let from = import.lengths(at).to_vec();
    let mode = op.text("mode", "constant")?;
    let filled = match op.maybe_weights(import, 2)? {
        Some(array) => array.data.iter().any(|x| *x != 0.0),
        None => op.float("value", 0.0)? != 0.0,
    };
    if mode != "constant" || filled {
        return Err(op.error("it pads with something else than zeros", "pad with zeros"));
    }
    let pads = match op.integers(import, 1)? {
        Some(pads) => pads,
        None => op.ints("pads")?.unwrap_or_default(),
    };
    let axes: Vec<usize> = match op.integers(import, 3)? {
        Some(axes) => axes.iter().map(|axis| op.axis(*axis, from.len())).collect::<Result<_, _>>()?,
        None => (0..from.len()).collect(),
    };
    if (0..axes.len()).any(|k| axes[..k].contains(&axes[k])) {
        return Err(op.error(format!("its axes are {axes:?}"), "name each axis once"));
    }
    let sizes: Option<Vec<usize>> =
        pads.iter().map(|n| usize::try_from(*n).ok().filter(|n| *n < 1 << 16)).collect();
    let sizes = sizes.filter(|sizes| sizes.len() == 2 * axes.len());
    let sizes = sizes.ok_or_else(|| op.error(format!("its pads are {pads:?}"), "pad with 0 or more"))?;
    let mut around = vec![[0; 2]; from.len()];
    for (k, axis) in axes.iter().enumerate() {
        around[*axis] = [sizes[k], sizes[k + axes.len()]];
    }
    let lengths = from.iter().zip(&around).map(|(n, [before, after])| n + before + after).collect();
    op.made(import, Kind::Pad(Pad { around }), vec![at], lengths)
}
