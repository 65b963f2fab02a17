//! Lowers products of matrices and convolutions. Those with kernels or matrices of a single party
//! may use encryption.

use super::{PlanLowering, holder};
use crate::{
    COEFFICIENTS,
    encrypted::EncryptedLayer,
    prim::{OwnTalk, Products, Two},
};
use hushwire_bfv::{Conv, Linear};
use hushwire_compute::{Op, Shape, Steps, back_end::Convolution};
use hushwire_plan::{Backend, Local, Lowered, PickRun, Picks, Slot, Talk};

/// AGREEMENT: the most groups of channels for a convolution under encryption. Each group has at
/// least one upload and one answer, so beyond this OTs send less.
const GROUPS: usize = 8;

/// The layer of a convolution in a ring, for the largest weights that its noise allows.
fn fitting(conv: Conv, ring: u32, images: usize) -> Option<Linear> {
    (8..ring).rev().find_map(|bits| Linear::batch(conv, images, ring, 1 << bits, COEFFICIENTS).ok())
}

/// The kernels of a group, which have `numbers` numbers in all.
fn taps_of(group: usize, numbers: usize) -> Picks {
    Picks::of_runs([PickRun::Steps { from: group * numbers, step: 1, len: numbers }])
}

/// A product of matrices by OT.
pub(super) fn matmul(lower: &mut PlanLowering<'_>, reads: [Slot; 2], shape: [usize; 3]) -> Slot {
    let holders = Two::factors(lower, reads);
    lower.step(Talk::MatMul(shape, holders), reads.to_vec())
}

/// A convolution. For each group it is the product of kernels in rows and windows in columns.
pub(super) fn conv2d(
    lower: &mut PlanLowering<'_>,
    args: &[usize],
    (steps, groups): (Steps, u32),
    to: &[usize],
    ring: u32,
) -> Lowered<Slot> {
    let [of, kernels] = [lower.lengths(args[0])?, lower.lengths(args[1])?];
    let convolution = Convolution::new(&of, &kernels, steps, groups);
    let (images, outputs, plane) = (to[0], to[1], to[2] * to[3]);
    let (groups, taps) = (groups as usize, kernels[1..].iter().product::<usize>());
    let each = outputs / groups;
    let shape = [each, taps, images * plane];
    let x = lower.words(args[0], ring)?;
    let zero = lower.zeros(ring, 1);
    let nothing = of.iter().product::<usize>();
    let known = lower.forms(args[1]).known;
    let weights = if known.is_none() { Some(lower.words(args[1], ring)?) } else { None };
    if let Some(weights) = weights
        && let Some(slot) = encrypted_conv(lower, [x, weights], [&of, &kernels], steps, groups, to)
    {
        return Ok(slot);
    }
    // The kernels in rows, if both parties know them.
    let scalar = lower.scalar(args[1]);
    let apply = |lower: &mut PlanLowering<'_>, op, of: Slot, n: usize| {
        lower.step(Local::Apply { op, scalar, lengths: vec![n] }, vec![of])
    };
    let flat = known.map(|known| {
        apply(lower, Op::Reshape(Shape::vector((outputs * taps) as u64)), known, outputs * taps)
    });
    let mut parts = vec![];
    for group in 0..groups {
        let mut picks = vec![nothing; taps * images * plane];
        for image in 0..images {
            for window in 0..plane {
                let column = image * plane + window;
                for (x, k) in convolution.factors((image * outputs + group * each) * plane + window) {
                    picks[(k - group * each * taps) * images * plane + column] = x;
                }
            }
        }
        let windows = lower.pick(Picks::of(&picks), vec![x, zero]);
        let rows = each * taps;
        parts.push(match (flat, weights) {
            (Some(flat), _) => {
                let [from, to] = [group, group + 1].map(|group| (group * rows) as u64);
                let part = apply(lower, Op::Slice { axis: 0, from, to }, flat, rows);
                lower.step(Local::MatMulKnown { shape, left: true }, vec![part, windows])
            }
            (None, weights) => {
                let part = lower.pick(taps_of(group, rows), weights.into_iter().collect());
                matmul(lower, [part, windows], shape)
            }
        });
    }
    let mut picks = Vec::with_capacity(images * outputs * plane);
    for image in 0..images {
        for output in 0..outputs {
            let (group, row) = (output / each, output % each);
            let first = (group * each + row) * images * plane + image * plane;
            picks.extend(first..first + plane);
        }
    }
    Ok(lower.pick(Picks::of(&picks), parts))
}

fn layer(lower: &mut PlanLowering<'_>, linear: Linear, evaluator: usize, reads: [Slot; 2]) -> Slot {
    let layer = EncryptedLayer { linear, evaluator, first: false };
    lower.step(Talk::Own(OwnTalk::Encrypted(Box::new(layer))), reads.to_vec())
}

/// A convolution of images by kernels under encryption; `None` if it uses OTs.
fn encrypted_conv(
    lower: &mut PlanLowering<'_>,
    [x, weights]: [Slot; 2],
    [of, kernels]: [&[usize]; 2],
    steps: Steps,
    groups: usize,
    to: &[usize],
) -> Option<Slot> {
    let (evaluator, ring) = (holder(lower, weights)?, lower.size(x).ring());
    let [images, outputs, rows, columns] = *to else { return None };
    let ([channels, height, width], [h, w]) = ([of[1], of[2], of[3]], [kernels[2], kernels[3]]);
    if lower.backend.products != Products::He || groups > GROUPS || to.contains(&0) || kernels.contains(&0) {
        return None;
    }
    // Kernels of one pixel skip the pixels between their places.
    let strides = steps.strides.map(|s| s as usize);
    let single = [h, w] == [1; 2];
    let apart = if single { [1; 2] } else { strides };
    let image =
        if single { [rows, columns] } else { [(rows - 1) * strides[0] + h, (columns - 1) * strides[1] + w] };
    let (inner, each) = (channels / groups, outputs / groups);
    let conv = Conv { channels: inner, image, outputs: each, kernel: [h, w], strides: apart };
    let linear = fitting(conv, ring, images)?;
    let nothing = of.iter().product::<usize>();
    let [above, left] = [steps.padding[0], steps.padding[1]].map(|n| n as usize);
    let zero = lower.zeros(ring, 1);
    let between = if single { strides } else { [1; 2] };
    let mut parts = vec![];
    for group in 0..groups {
        let mut picks = Vec::with_capacity(images * inner * image[0] * image[1]);
        for plane in (0..images).flat_map(|i| (0..inner).map(move |c| i * channels + group * inner + c)) {
            for (row, column) in (0..image[0]).flat_map(|r| (0..image[1]).map(move |c| (r, c))) {
                let place = |at: usize, step: usize, before: usize, n: usize| {
                    (at * step).checked_sub(before).filter(|at| *at < n)
                };
                let at = place(row, between[0], above, height).zip(place(column, between[1], left, width));
                picks.push(at.map_or(nothing, |(r, c)| (plane * height + r) * width + c));
            }
        }
        let images = lower.pick(Picks::of(&picks), vec![x, zero]);
        let taps = inner * h * w;
        let own = lower.pick(taps_of(group, each * taps), vec![weights]);
        parts.push(layer(lower, linear.clone(), evaluator, [own, images]));
    }
    if groups == 1 {
        return parts.pop();
    }
    // Moves the results part by part and image by image to images of all outputs.
    let plane = rows * columns;
    let picks = (0..images * outputs * plane).map(|at| {
        let (image, output, pixel) = (at / (outputs * plane), at / plane % outputs, at % plane);
        ((output / each * images + image) * each + output % each) * plane + pixel
    });
    Some(lower.pick(Picks::of(&picks.collect::<Vec<_>>()), parts))
}

/// A product of matrices under encryption; `None` if it uses OTs.
pub(super) fn encrypted_matmul(
    lower: &mut PlanLowering<'_>,
    reads: [Slot; 2],
    [rows, inner, columns]: [usize; 3],
) -> Option<Slot> {
    let ring = lower.size(reads[0]).ring();
    if lower.backend.products != Products::He || [rows, inner, columns].contains(&0) {
        return None;
    }
    let fits = |outputs: usize, n: usize| {
        let conv = Conv { channels: inner, image: [1, n], outputs, kernel: [1; 2], strides: [1; 2] };
        fitting(conv, ring, 1)
    };
    let turned = |r: usize, c: usize| (0..c).flat_map(|j| (0..r).map(move |i| i * c + j)).collect::<Vec<_>>();
    // If each party has one of the matrices, the larger one becomes the weights, so that fewer
    // numbers are encrypted. Weights beyond a layer's bound are refused. A model's weights may be
    // refused, but an input must not be. So the first matrix is chosen only if its layer has room
    // for all numbers.
    let whole = |linear: Linear| linear.weight() >= 1 << (ring - 1);
    let larger = || rows > columns && fits(rows, columns).is_some_and(whole);
    let first = holder(lower, reads[0]).filter(|_| holder(lower, reads[1]).is_none() || larger());
    if let Some(evaluator) = first {
        return Some(layer(lower, fits(rows, columns)?, evaluator, reads));
    }
    // (A B)ᵀ = Bᵀ Aᵀ.
    let (evaluator, linear) = (holder(lower, reads[1])?, fits(columns, rows)?);
    let weights = lower.pick(Picks::of(&turned(inner, columns)), vec![reads[1]]);
    let x = lower.pick(Picks::of(&turned(rows, inner)), vec![reads[0]]);
    let made = layer(lower, linear, evaluator, [weights, x]);
    Some(lower.pick(Picks::of(&turned(columns, rows)), vec![made]))
}
