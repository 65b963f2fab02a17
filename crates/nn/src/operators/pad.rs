//! Pad.

use super::{pick::pick, prelude::*};
use crate::{
    array::{places, steps},
    import::operator::ELEMENTS,
};

pub(super) const PAD: Operator = Operator {
    inputs: 4,
    attributes: &["mode", "pads", "value"],
    twice: &[(1, "pads"), (2, "value")],
    error: Bound::EXACT,
    ..Operator::new(
        "Pad",
        "Zeros, another number, or copies of elements added before and after along each axis.",
        read,
    )
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
    let of = op.input(import, 0)?;
    let from = import.lengths_of(&of);
    let mode = op.text("mode", "constant")?;
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
    if pads.len() != 2 * axes.len() || pads.iter().any(|n| n.unsigned_abs() >= 1 << 24) {
        return Err(op.error(format!("its pads are {pads:?}"), "give two for each axis"));
    }
    let mut around = vec![[0; 2]; from.len()];
    for (k, axis) in axes.iter().enumerate() {
        around[*axis] = [pads[k], pads[k + axes.len()]];
    }
    if mode != "constant" {
        return copied(op, import, of, &around, &mode);
    }
    // Negative padding cuts elements off.
    let mut of = of;
    for (axis, [before, after]) in around.iter_mut().enumerate() {
        let n = from[axis] as i64;
        let (first, end) = ((-*before).max(0), n + (*after).min(0));
        if first >= end {
            return Err(op.error(format!("its pads are {pads:?}"), "leave an element of each axis"));
        }
        of = pick(op, import, of, axis, (first as usize..end as usize).collect())?;
        (*before, *after) = ((*before).max(0), (*after).max(0));
    }
    let around: Vec<[usize; 2]> = around.iter().map(|pads| pads.map(|n| n as usize)).collect();
    let Known::Layer(at) = of else { return known(op, import, of, &around) };
    let cut = import.lengths(at).to_vec();
    let lengths: Vec<usize> =
        cut.iter().zip(&around).map(|(n, [before, after])| n + before + after).collect();
    let filler = match op.maybe(import, 2)? {
        Some(known) => Some(
            known
                .as_floats()
                .ok_or_else(|| op.error("it pads with a secret number", "let the model give the number"))?,
        ),
        None => op.maybe_float("value")?.map(|x| Arc::new(Array::new(&[], vec![x]))),
    };
    let padded = Pad { around };
    let Some(filler) = filler else { return op.made(import, Kind::Pad(padded), vec![at], lengths) };
    let [x] = filler.data[..] else {
        return Err(op.error("it pads with several numbers", "pad with one"));
    };
    if !x.is_finite() {
        return Err(op.error("it pads with a number that is not finite", "pad with a finite one"));
    }
    // The fact that the number is 0 is part of the architecture; another number is the owner's
    // secret.
    if x == 0.0 {
        return op.made(import, Kind::Pad(padded), vec![at], lengths);
    }
    let mut terms = Array::new(&lengths, vec![x; lengths.iter().product()]);
    let steps = steps(&lengths);
    let first: usize = padded.around.iter().zip(&steps).map(|([before, _], step)| before * step).sum();
    places(&cut, &steps).for_each(|place| terms.data[first + place] = 0.0);
    let made = op.made(import, Kind::Pad(padded), vec![at], lengths)?;
    op.call(import, "Add", &[&made, &Known::Floats(Arc::new(terms))], &[])
}

/// A known value with numbers around it.
fn known(op: &Reading<'_>, import: &Import, of: Known, around: &[[usize; 2]]) -> Result<Known, Fault> {
    let number = match op.maybe(import, 2)? {
        Some(known) => known.as_floats().and_then(|array| array.data.first().copied()),
        None => Some(op.maybe_float("value")?.unwrap_or(0.0)),
    };
    let number = number.ok_or_else(|| op.error("it pads with a secret number", "let the model give it"))?;
    let cut = import.lengths_of(&of);
    let lengths: Vec<usize> = cut.iter().zip(around).map(|(n, [before, after])| n + before + after).collect();
    let steps = steps(&lengths);
    let first: usize = around.iter().zip(&steps).map(|([before, _], step)| before * step).sum();
    let count = lengths.iter().try_fold(1usize, |n, l| n.checked_mul(*l)).filter(|n| *n <= ELEMENTS);
    let count = count.ok_or_else(|| op.error(format!("it makes {lengths:?} elements"), "pad less"))?;
    Ok(match of {
        Known::Ints(_, all) => {
            let mut made = vec![number as i64; count];
            places(&cut, &steps).zip(&all).for_each(|(place, n)| made[first + place] = *n);
            Known::Ints(lengths, made)
        }
        of => {
            let array = of.as_floats().unwrap_or_default();
            let mut made = vec![number; count];
            places(&cut, &steps).zip(&array.data).for_each(|(place, x)| made[first + place] = *x);
            Known::floats(&lengths, made)
        }
    })
}

/// Padding by copies of the value's elements.
fn copied(
    op: &Reading<'_>,
    import: &mut Import,
    mut of: Known,
    around: &[[i64; 2]],
    mode: &str,
) -> Result<Known, Fault> {
    for (axis, [before, after]) in around.iter().enumerate() {
        let n = import.lengths_of(&of)[axis] as i64;
        let one = |i: i64| match mode {
            "edge" => Some(i.clamp(0, n - 1)),
            "wrap" => Some(i.rem_euclid(n)),
            "reflect" if n == 1 => Some(0),
            "reflect" => {
                let i = i.rem_euclid(2 * n - 2);
                Some(i.min(2 * n - 2 - i))
            }
            _ => None,
        };
        let places: Option<Vec<usize>> = (-before..n + after).map(|i| one(i).map(|i| i as usize)).collect();
        let places = places.filter(|places| !places.is_empty());
        let odd = || op.error(format!("its mode is {}", shown(mode)), "take constant, edge, reflect or wrap");
        of = pick(op, import, of, axis, places.ok_or_else(odd)?)?;
    }
    Ok(of)
}
