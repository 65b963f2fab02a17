//! Operators that move elements to places that all members know: Slice, Split, Gather, Expand,
//! Tile, DepthToSpace and others.

use super::{Bound, lookup, prelude::*};
use crate::{
    array::{lines, steps, together},
    import::operator::ELEMENTS,
    onnx::Attribute,
};
use hushwire_compute::{Op, Scalar, Tensor};

pub(super) const SLICE: Operator = Operator {
    inputs: 5,
    attributes: &["axes", "ends", "starts"],
    twice: &[(1, "starts"), (2, "ends"), (3, "axes")],
    moves: true,
    error: Bound::EXACT,
    ..Operator::new("Slice", "Elements of axes from one place to another, by steps.", slice)
};
pub(super) const SPLIT: Operator = Operator {
    inputs: 2,
    outputs: usize::MAX,
    attributes: &["axis", "num_outputs", "split"],
    twice: &[(1, "split")],
    moves: true,
    error: Bound::EXACT,
    ..Operator::several("Split", "Parts along an axis.", split)
};
pub(super) const GATHER: Operator = Operator {
    inputs: 2,
    attributes: &["axis"],
    moves: true,
    error: Bound::steps(0.5).over("none but of weights"),
    ..Operator::new(
        "Gather",
        "Elements at known places along an axis; of weights, also at secret places along the first axis (an embedding).",
        gather,
    )
};
pub(super) const EXPAND: Operator = Operator {
    inputs: 2,
    moves: true,
    error: Bound::EXACT,
    ..Operator::new("Expand", "Axes of length 1 and new first axes are repeated.", expand)
};
pub(super) const TILE: Operator = Operator {
    inputs: 2,
    moves: true,
    error: Bound::EXACT,
    ..Operator::new("Tile", "The value repeated along axes.", tile)
};
pub(super) const DEPTH_TO_SPACE: Operator = Operator {
    attributes: &["blocksize", "mode"],
    error: Bound::EXACT,
    ..Operator::new("DepthToSpace", "Blocks of channels as blocks of rows and columns.", depth_to_space)
};
pub(super) const SPACE_TO_DEPTH: Operator = Operator {
    attributes: &["blocksize", "mode"],
    error: Bound::EXACT,
    ..Operator::new("SpaceToDepth", "Blocks of rows and columns as channels.", space_to_depth)
};
pub(super) const GATHER_ELEMENTS: Operator = Operator {
    inputs: 2,
    attributes: &["axis"],
    moves: true,
    error: Bound::EXACT,
    ..Operator::new(
        "GatherElements",
        "For each element of known or secret places, the value's there.",
        gather_elements,
    )
};
pub(super) const GATHER_ND: Operator = Operator {
    inputs: 2,
    attributes: &["batch_dims"],
    error: Bound::EXACT,
    ..Operator::new("GatherND", "Parts at known places along the first axes.", gather_nd)
};
pub(super) const COMPRESS: Operator = Operator {
    inputs: 2,
    attributes: &["axis"],
    moves: true,
    error: Bound::EXACT,
    ..Operator::new(
        "Compress",
        "The parts along an axis, or the elements, of which known truth values are true.",
        compress,
    )
};
pub(super) const REVERSE_SEQUENCE: Operator = Operator {
    inputs: 2,
    attributes: &["batch_axis", "time_axis"],
    error: Bound::EXACT,
    ..Operator::new(
        "ReverseSequence",
        "The first elements of each line in reverse, as many as known.",
        reverse,
    )
};

/// Elements at known places along an axis.
#[derive(Clone, Debug, PartialEq)]
pub struct Pick {
    pub(crate) axis: usize,
    pub(crate) places: Vec<usize>,
}

/// The elements at places along an axis.
fn picked<T: Clone>(data: &[T], lengths: &[usize], axis: usize, places: &[usize]) -> Vec<T> {
    let inner: usize = lengths[axis + 1..].iter().product();
    let outer: usize = lengths[..axis].iter().product();
    let mut out = Vec::with_capacity(outer * places.len() * inner);
    for k in 0..outer {
        for place in places {
            out.extend_from_slice(&data[(k * lengths[axis] + place) * inner..][..inner]);
        }
    }
    out
}

impl Definition for Pick {
    fn name(&self) -> &'static str {
        "Gather"
    }

    fn role(&self) -> ScaleRole {
        ScaleRole::Keeps
    }

    fn value(&self, reads: &[Arc<Array>], to: &[usize]) -> Array {
        Array::new(to, picked(&reads[0].data, &reads[0].lengths, self.axis, &self.places))
    }

    fn lower<'b>(&self, lower: &mut Lower<'b>, site: Site<'_>) -> Result<Held<'b>, Fault> {
        let held = lower.held(site.reads[0]);
        let (axis, places) = (self.axis, &self.places);
        let (from, rank) = (lower.lengths(site.reads[0])[axis], site.lengths.len());
        if from == 1 {
            return Ok(held.with(held.val.broadcast(shape(site.lengths))));
        }
        let first = places.first().copied().unwrap_or(0);
        if places.iter().enumerate().all(|(i, place)| *place == first + i) {
            let (from, to) = (first as u64, (first + places.len()) as u64);
            return Ok(held.with(lower.b.apply(Op::Slice { axis: axis as u8, from, to }, &[held.val])));
        }
        // Gathering works on rows, so the axis is moved to the front and back.
        let whole = Scalar::Int { signed: false, bits: 32 };
        let numbers = places.iter().map(|place| *place as i128);
        let places = lower.b.constant(Tensor::from_numbers(whole, &[places.len()], numbers));
        if axis == 0 {
            return Ok(held.with(held.val.gather(places)));
        }
        let front: Vec<u8> =
            std::iter::once(axis).chain((0..rank).filter(|k| *k != axis)).map(|k| k as u8).collect();
        let back = (0..rank).map(|k| match k {
            _ if k == axis => 0,
            _ if k < axis => k as u8 + 1,
            _ => k as u8,
        });
        let turned = lower.b.apply(Op::Transpose(front), &[held.val]).gather(places);
        Ok(held.with(lower.b.apply(Op::Transpose(back.collect()), &[turned])))
    }
}

/// A value's elements at places along an axis.
pub(super) fn pick(
    op: &Reading<'_>,
    import: &mut Import,
    of: Known,
    axis: usize,
    places: Vec<usize>,
) -> Result<Known, Fault> {
    let mut lengths = import.lengths_of(&of);
    if places.iter().copied().eq(0..lengths[axis]) {
        return Ok(of);
    }
    let from = lengths.clone();
    lengths[axis] = places.len();
    if lengths.iter().try_fold(1usize, |n, l| n.checked_mul(*l)).is_none_or(|n| n > ELEMENTS) {
        let cause = format!("its value has the lengths {lengths:?}");
        return Err(op.error(cause, "give it at most 2^27 elements along 8 axes"));
    }
    match of {
        Known::Layer(at) => op.made(import, Kind::Pick(Pick { axis, places }), vec![at], lengths),
        Known::Floats(array) => Ok(Known::floats(&lengths, picked(&array.data, &from, axis, &places))),
        Known::Ints(_, all) => Ok(Known::Ints(lengths, picked(&all, &from, axis, &places))),
    }
}

/// A value along other axes.
pub(super) fn reshaped(
    op: &Reading<'_>,
    import: &mut Import,
    of: Known,
    lengths: Vec<usize>,
) -> Result<Known, Fault> {
    super::reshape::to_lengths(op, import, of, lengths)
}

/// A value with its axes in another order.
pub(super) fn turned(
    op: &Reading<'_>,
    import: &mut Import,
    of: &Known,
    axes: &[usize],
) -> Result<Known, Fault> {
    if axes.iter().copied().eq(0..axes.len()) {
        return Ok(of.clone());
    }
    let axes = axes.iter().map(|axis| *axis as i64).collect();
    op.call(import, "Transpose", &[of], &[("perm", Attribute::Ints(axes))])
}

/// A list of integers from an input or an attribute.
fn list(op: &Reading<'_>, import: &Import, k: usize, name: &str) -> Result<Option<Vec<i64>>, Fault> {
    match op.integers(import, k)? {
        Some(all) => Ok(Some(all)),
        None => op.ints(name),
    }
}

fn slice(op: &Reading<'_>, import: &mut Import) -> Result<Known, Fault> {
    let mut of = op.input(import, 0)?;
    let lengths = import.lengths_of(&of);
    let missing = || op.error("it has no bounds", "save the model anew");
    let starts = list(op, import, 1, "starts")?.ok_or_else(missing)?;
    let ends = list(op, import, 2, "ends")?.ok_or_else(missing)?;
    let axes = list(op, import, 3, "axes")?.unwrap_or_else(|| (0..starts.len() as i64).collect());
    let by = op.integers(import, 4)?.unwrap_or_else(|| vec![1; starts.len()]);
    if [ends.len(), axes.len(), by.len()].iter().any(|n| *n != starts.len()) {
        return Err(op.error("its bounds are not equally many", "save the model anew"));
    }
    for (k, axis) in axes.iter().enumerate() {
        let axis = op.axis(*axis, lengths.len())?;
        let n = lengths[axis] as i64;
        let (by, from_end) = (by[k], |n: i64, at: i64| if at < 0 { at.saturating_add(n) } else { at });
        let [start, end] = [starts[k], ends[k]].map(|at| from_end(n, at));
        let places: Vec<usize> = match by {
            0 => return Err(op.error("its step is 0", "save the model anew")),
            1.. => (start.clamp(0, n)..end.clamp(0, n)).step_by(by as usize).map(|i| i as usize).collect(),
            _ => {
                let (first, last) = (start.clamp(0, n - 1), end.clamp(-1, n - 1));
                let count = (first - last).max(0) as u64;
                let by = by.unsigned_abs();
                (0..count.div_ceil(by)).map(|i| (first - (i * by) as i64) as usize).collect()
            }
        };
        of = pick(op, import, of, axis, places)?;
    }
    Ok(of)
}

fn split(op: &Reading<'_>, import: &mut Import) -> Result<Vec<Known>, Fault> {
    let of = op.input(import, 0)?;
    let lengths = import.lengths_of(&of);
    let axis = op.axis(op.int("axis", 0)?, lengths.len())?;
    let (n, parts) = (lengths[axis], op.node.outputs.len());
    let sizes: Vec<usize> = match list(op, import, 1, "split")? {
        Some(sizes) => sizes.iter().map(|n| usize::try_from(*n).unwrap_or(usize::MAX)).collect(),
        None => {
            let each = n.div_ceil(parts.max(1));
            (0..parts).map(|k| each.min(n.saturating_sub(k * each))).collect()
        }
    };
    if sizes.len() != parts || sizes.iter().try_fold(0usize, |n, size| n.checked_add(*size)) != Some(n) {
        let cause = format!("it splits {n} elements into {sizes:?}");
        return Err(op.error(cause, "save the model anew"));
    }
    let mut first = 0;
    let mut made = vec![];
    for size in sizes {
        made.push(pick(op, import, of.clone(), axis, (first..first + size).collect())?);
        first += size;
    }
    Ok(made)
}

/// Places among `n`; negative ones count from the end.
pub(super) fn among(op: &Reading<'_>, places: &[i64], n: usize) -> Result<Vec<usize>, Fault> {
    let one = |place: &i64| {
        let at = if *place < 0 { place + n as i64 } else { *place };
        let found = usize::try_from(at).ok().filter(|at| *at < n);
        found.ok_or_else(|| op.error(format!("place {place} is none of {n}"), "save the model anew"))
    };
    places.iter().map(one).collect()
}

fn gather(op: &Reading<'_>, import: &mut Import) -> Result<Known, Fault> {
    let of = op.input(import, 0)?;
    let lengths = import.lengths_of(&of);
    let axis = op.axis(op.int("axis", 0)?, lengths.len())?;
    match op.input(import, 1)? {
        Known::Ints(shape, places) => {
            let places = among(op, &places, lengths[axis])?;
            let picked = pick(op, import, of, axis, places)?;
            let to = [&lengths[..axis], &shape, &lengths[axis + 1..]].concat();
            reshaped(op, import, picked, to)
        }
        Known::Layer(at) => lookup::read(op, import, &of, at, axis),
        Known::Floats(_) => Err(op.error("its places are floats", "save the model anew")),
    }
}

/// The known integers of the second input.
fn needed(op: &Reading<'_>, import: &Import) -> Result<Vec<i64>, Fault> {
    op.integers(import, 1)?.ok_or_else(|| op.error("it has no input 1", "save the model anew"))
}

fn expand(op: &Reading<'_>, import: &mut Import) -> Result<Known, Fault> {
    let of = op.input(import, 0)?;
    let to = needed(op, import)?;
    let to: Option<Vec<usize>> = to.iter().map(|n| usize::try_from(*n).ok()).collect();
    let from = import.lengths_of(&of);
    let lengths = to.and_then(|to| together(&from, &to));
    let lengths =
        lengths.ok_or_else(|| op.error("its lengths do not fit its value", "save the model anew"))?;
    repeated(op, import, of, &lengths)
}

/// A value repeated along axes of length 1, and along new first axes.
pub(super) fn repeated(
    op: &Reading<'_>,
    import: &mut Import,
    of: Known,
    to: &[usize],
) -> Result<Known, Fault> {
    let from = import.lengths_of(&of);
    let full = [vec![1; to.len() - from.len()], from].concat();
    let mut of = reshaped(op, import, of, full.clone())?;
    for (axis, n) in to.iter().enumerate().filter(|(axis, n)| full[*axis] != **n) {
        of = pick(op, import, of, axis, vec![0; *n])?;
    }
    Ok(of)
}

fn tile(op: &Reading<'_>, import: &mut Import) -> Result<Known, Fault> {
    let mut of = op.input(import, 0)?;
    let lengths = import.lengths_of(&of);
    let times = needed(op, import)?;
    if times.len() != lengths.len() || times.iter().any(|n| *n < 1) {
        return Err(op.error(format!("it repeats {lengths:?} {times:?} times"), "save the model anew"));
    }
    for (axis, n) in times.iter().enumerate() {
        if (*n as usize).checked_mul(lengths[axis]).is_none_or(|n| n > ELEMENTS) {
            return Err(op.error(format!("it repeats {n} times"), "give it at most 2^27 elements"));
        }
        let places = (0..*n as usize).flat_map(|_| 0..lengths[axis]).collect();
        of = pick(op, import, of, axis, places)?;
    }
    Ok(of)
}

/// The lengths of images, and the length of blocks.
fn blocks(op: &Reading<'_>, import: &Import) -> Result<(Known, [usize; 4], usize), Fault> {
    let of = op.input(import, 0)?;
    let lengths = import.lengths_of(&of);
    let four = <[usize; 4]>::try_from(&lengths[..]).map_err(|_| {
        op.error(
            format!("its value has the lengths {lengths:?}"),
            "it takes images: [n, channels, rows, columns]",
        )
    })?;
    let block = usize::try_from(op.int("blocksize", 0)?).ok().filter(|n| (1..1 << 15).contains(n));
    let block = block.ok_or_else(|| op.error("it has no blocksize", "save the model anew"))?;
    Ok((of, four, block))
}

fn depth_to_space(op: &Reading<'_>, import: &mut Import) -> Result<Known, Fault> {
    let (of, [n, channels, rows, columns], b) = blocks(op, import)?;
    if !channels.is_multiple_of(b * b) {
        return Err(op.error(format!("{channels} channels make no blocks of {b}"), "save the model anew"));
    }
    let c = channels / (b * b);
    let (parts, axes) = match &op.text("mode", "DCR")?[..] {
        "DCR" => (vec![n, b, b, c, rows, columns], [0, 3, 4, 1, 5, 2]),
        "CRD" => (vec![n, c, b, b, rows, columns], [0, 1, 4, 2, 5, 3]),
        other => return Err(op.error(format!("its mode is {}", shown(other)), "take DCR or CRD")),
    };
    let of = reshaped(op, import, of, parts)?;
    let of = turned(op, import, &of, &axes)?;
    reshaped(op, import, of, vec![n, c, rows * b, columns * b])
}

fn space_to_depth(op: &Reading<'_>, import: &mut Import) -> Result<Known, Fault> {
    let (of, [n, channels, rows, columns], b) = blocks(op, import)?;
    if !rows.is_multiple_of(b) || !columns.is_multiple_of(b) {
        return Err(op.error(format!("{rows} × {columns} make no blocks of {b}"), "save the model anew"));
    }
    let of = reshaped(op, import, of, vec![n, channels, rows / b, b, columns / b, b])?;
    let axes = match &op.text("mode", "DCR")?[..] {
        "DCR" => [0, 3, 5, 1, 2, 4],
        "CRD" => [0, 1, 3, 5, 2, 4],
        other => return Err(op.error(format!("its mode is {}", shown(other)), "take DCR or CRD")),
    };
    let of = turned(op, import, &of, &axes)?;
    reshaped(op, import, of, vec![n, channels * b * b, rows / b, columns / b])
}

/// The elements of a value at places that count all its elements in order.
pub(super) fn at_places(
    op: &Reading<'_>,
    import: &mut Import,
    of: Known,
    places: Vec<usize>,
    lengths: Vec<usize>,
) -> Result<Known, Fault> {
    let count = import.lengths_of(&of).iter().product();
    let flat = reshaped(op, import, of, vec![count])?;
    let flat = pick(op, import, flat, 0, places)?;
    reshaped(op, import, flat, lengths)
}

/// Known places, with their lengths.
fn known_places(op: &Reading<'_>, import: &Import) -> Result<(Vec<usize>, Vec<i64>), Fault> {
    match op.input(import, 1)? {
        Known::Ints(lengths, all) => Ok((lengths, all)),
        _ => Err(op.error("its places are not known before the run", "export it with known places")),
    }
}

fn gather_elements(op: &Reading<'_>, import: &mut Import) -> Result<Known, Fault> {
    let of = op.input(import, 0)?;
    let from = import.lengths_of(&of);
    let axis = op.axis(op.int("axis", 0)?, from.len())?;
    if let Known::Layer(at) = op.input(import, 1)? {
        return at_secret_places(op, import, of, at, axis);
    }
    let (lengths, places) = known_places(op, import)?;
    let fits = lengths.len() == from.len() && (0..from.len()).all(|k| k == axis || lengths[k] <= from[k]);
    if !fits {
        return Err(op.error(format!("it takes {lengths:?} of {from:?}"), "save the model anew"));
    }
    let places = along_axis(op, &from, axis, &lengths, &places)?;
    at_places(op, import, of, places, lengths)
}

/// For each of the `places` along an axis, which have `lengths`, its place among all elements.
pub(super) fn along_axis(
    op: &Reading<'_>,
    from: &[usize],
    axis: usize,
    lengths: &[usize],
    places: &[i64],
) -> Result<Vec<usize>, Fault> {
    let (own, across) = (steps(from), steps(lengths));
    let one = |(i, place): (usize, usize)| {
        let along = |k: usize| if k == axis { place } else { i / across[k] % lengths[k] };
        (0..from.len()).map(|k| along(k) * own[k]).sum()
    };
    Ok(among(op, places, from[axis])?.into_iter().enumerate().map(one).collect())
}

/// The elements at secret places along an axis. For each place, every element of the axis is either
/// chosen or replaced by 0, and the results are summed.
fn at_secret_places(
    op: &Reading<'_>,
    import: &mut Import,
    of: Known,
    at: usize,
    axis: usize,
) -> Result<Known, Fault> {
    let (from, lengths) = (import.lengths_of(&of), import.lengths(at).to_vec());
    let rank = from.len();
    let fits = lengths.len() == rank && (0..rank).all(|k| k == axis || lengths[k] <= from[k]);
    if !fits {
        return Err(op.error(format!("it takes {lengths:?} of {from:?}"), "save the model anew"));
    }
    let mut of = match of {
        Known::Layer(at) => super::function::numbers(op, import, at)?,
        known => Known::Floats(op.known_weights(&known)?),
    };
    for k in (0..rank).filter(|k| *k != axis && lengths[*k] < from[*k]) {
        of = pick(op, import, of, k, (0..lengths[k]).collect())?;
    }
    // The axis becomes the last one, and an axis of length 1 takes its place.
    let mut turn: Vec<usize> = (0..rank).filter(|k| *k != axis).collect();
    turn.push(axis);
    let of = turned(op, import, &of, &turn)?;
    let mut wide = lengths.clone();
    wide[axis] = 1;
    wide.push(from[axis]);
    let of = reshaped(op, import, of, wide)?;
    let inputs = [&Known::Layer(at), &Known::Ints(vec![], vec![from[axis] as i64]), &Known::list(&[0, 1])];
    let is = op.call(import, "OneHot", &inputs, &[("axis", Attribute::Int(-1))])?;
    let chosen = op.call(import, "Where", &[&is, &of, &Known::floats(&[], vec![0.0])], &[])?;
    let last = Known::list(&[rank as i64]);
    op.call(import, "ReduceSum", &[&chosen, &last], &[("keepdims", Attribute::Int(0))])
}

fn gather_nd(op: &Reading<'_>, import: &mut Import) -> Result<Known, Fault> {
    let of = op.input(import, 0)?;
    let from = import.lengths_of(&of);
    let batch = usize::try_from(op.int("batch_dims", 0)?).unwrap_or(usize::MAX);
    let (lengths, places) = known_places(op, import)?;
    let depth = lengths.last().copied().unwrap_or(0);
    let fits = batch < lengths.len().min(from.len())
        && lengths[..batch] == from[..batch]
        && (1..=from.len() - batch).contains(&depth);
    if !fits {
        let cause = format!("it takes {lengths:?} of {from:?}, whose first {batch} axes are shared");
        return Err(op.error(cause, "save the model anew"));
    }
    let own = steps(&from);
    let inner: usize = from[batch + depth..].iter().product();
    let each: usize = from[batch..].iter().product();
    let tuples: usize = lengths[batch..lengths.len() - 1].iter().product();
    let mut all = vec![];
    for (t, tuple) in places.chunks(depth).enumerate() {
        let mut first = t / tuples.max(1) * each;
        for (k, place) in tuple.iter().enumerate() {
            first += among(op, &[*place], from[batch + k])?[0] * own[batch + k];
        }
        all.extend(first..first + inner);
    }
    at_places(op, import, of, all, [&lengths[..lengths.len() - 1], &from[batch + depth..]].concat())
}

/// There may be fewer truth values than parts: the last parts are then left out.
fn compress(op: &Reading<'_>, import: &mut Import) -> Result<Known, Fault> {
    let mut x = op.input(import, 0)?;
    let truths = needed(op, import)?;
    let lengths = import.lengths_of(&x);
    let axis = if op.node.attributes.contains_key("axis") {
        op.axis(op.int("axis", 0)?, lengths.len())?
    } else {
        x = reshaped(op, import, x, vec![lengths.iter().product()])?;
        0
    };
    let count = import.lengths_of(&x)[axis];
    let places: Vec<usize> =
        truths.iter().enumerate().filter(|(_, truth)| **truth != 0).map(|(at, _)| at).collect();
    if places.is_empty() || truths.len() > count {
        let cause = format!("it keeps {} parts, by {} truth values, of {count}", places.len(), truths.len());
        return Err(op.error(cause, "export the model with the parts that it keeps"));
    }
    pick(op, import, x, axis, places)
}

fn reverse(op: &Reading<'_>, import: &mut Import) -> Result<Known, Fault> {
    let of = op.input(import, 0)?;
    let from = import.lengths_of(&of);
    let [batch, time] = [("batch_axis", 1), ("time_axis", 0)].map(|(name, default)| op.int(name, default));
    let [batch, time] = [op.axis(batch?, from.len())?, op.axis(time?, from.len())?];
    let (_, counts) = known_places(op, import)?;
    if counts.len() != from[batch] || counts.iter().any(|n| *n < 1 || *n > from[time] as i64) {
        return Err(op.error(format!("it turns {counts:?} of {from:?}"), "save the model anew"));
    }
    let own = steps(&from);
    let (firsts, step) = lines(&from, time);
    let mut places: Vec<usize> = (0..from.iter().product()).collect();
    for first in firsts {
        let count = counts[first / own[batch] % from[batch]] as usize;
        (0..count).for_each(|i| places[first + i * step] = first + (count - 1 - i) * step);
    }
    at_places(op, import, of, places, from)
}

#[cfg(test)]
mod tests {
    use super::super::checks::{check, refused};
    use crate::{Array, onnx::Attribute, zoo::Writer};
    use hushwire_fault::code;

    fn ints(all: &[i64]) -> Attribute {
        Attribute::Ints(all.to_vec())
    }

    fn constant(w: &mut Writer, all: &[i64]) -> String {
        w.op("Constant", &[], &[("value_ints", ints(all))])
    }

    /// Compares with the elements at these places of the input.
    fn moves(w: Writer, y: &str, places: impl Fn(&Array) -> Vec<usize>) {
        check(&w.finish(y), 0.5, |x| places(x).iter().map(|i| x.data[*i]).collect());
    }

    /// Forward, with steps, and from the end.
    #[test]
    fn slices() {
        let mut w = Writer::new("slice", 1, &[2, 3, 4]);
        let [starts, ends, axes, by] = [[1, -1], [3, -5], [1, 2], [1, -2]].map(|all| constant(&mut w, &all));
        let y = w.op("Slice", &["input", &starts, &ends, &axes, &by], &[]);
        moves(w, &y, |_| (1..3).flat_map(|k| [3, 1].map(|i| k * 4 + i)).collect());
    }

    #[test]
    fn parts_and_places() {
        let mut w = Writer::new("gather", 1, &[2, 3, 4]);
        let places = constant(&mut w, &[2, 0, -1]);
        let y = w.op("Gather", &["input", &places], &[("axis", Attribute::Int(1))]);
        moves(w, &y, |_| [2, 0, 2].into_iter().flat_map(|k| (0..4).map(move |i| k * 4 + i)).collect());
        let mut w = Writer::new("gather", 1, &[2, 3]);
        let places = constant(&mut w, &[5]);
        let y = w.op("Gather", &["input", &places], &[("axis", Attribute::Int(1))]);
        assert_eq!(refused(&w.finish(&y)), code::OPERATOR);
    }

    #[test]
    fn repeated_values() {
        let mut w = Writer::new("tile", 1, &[2, 3]);
        let times = constant(&mut w, &[1, 2]);
        let y = w.op("Tile", &["input", &times], &[]);
        moves(w, &y, |_| (0..6).map(|i| i % 3).collect());
        let mut w = Writer::new("expand", 1, &[2, 1, 3]);
        let to = constant(&mut w, &[1, 2, 1]);
        let y = w.op("Expand", &["input", &to], &[]);
        moves(w, &y, |_| (0..6).map(|i| i % 3).collect());
    }

    /// The greatest element of each row by its secret place, for all rows and for fewer.
    #[test]
    fn elements_at_secret_places() {
        for rows in [3, 2] {
            let mut w = Writer::new("elements", 1, &[3, 4]);
            let places = w.op("ArgMax", &["input"], &[("axis", Attribute::Int(1))]);
            let starts = constant(&mut w, &[0]);
            let ends = constant(&mut w, &[rows]);
            let places = w.op("Slice", &[&places, &starts, &ends], &[]);
            let y = w.op("GatherElements", &["input", &places], &[("axis", Attribute::Int(1))]);
            check(&w.finish(&y), 0.5, |x| {
                let greatest = |row: &[f32]| row.iter().copied().fold(f32::NEG_INFINITY, f32::max);
                x.data.chunks(4).take(rows as usize).map(greatest).collect()
            });
        }
    }
}
