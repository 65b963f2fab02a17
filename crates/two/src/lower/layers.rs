//! Kernels and matrices that one party alone has, by shared images and vectors, under encryption.

use super::Lower;
use crate::{
    encrypted::Layer,
    plan::{COEFFICIENTS, Prim, Products, Size, Slot},
};
use hushwire_bfv::{Conv, Linear};
use hushwire_compute::Steps;
use std::sync::Arc;

/// AGREEMENT: groups of channels of a convolution, each an upload and an answer at least, beyond which OTs are less.
const GROUPS: usize = 8;

/// The layer of a convolution in a ring, for the greatest weights that leave its noise room.
fn fitting(conv: Conv, ring: u32, images: usize) -> Option<Linear> {
    let linear = |bits: u32| Linear::new(conv, ring, 1 << bits, COEFFICIENTS).ok();
    (8..ring).rev().find_map(linear).map(|linear| linear.images(images))
}

impl Lower<'_> {
    /// The party that alone has a value.
    pub(super) fn holder(&self, slot: Slot) -> Option<usize> {
        match self.holders[slot] {
            [true, false] => Some(0),
            [false, true] => Some(1),
            _ => None,
        }
    }

    fn layer(&mut self, linear: Linear, evaluator: usize, reads: [Slot; 2]) -> Slot {
        let mut layer = Layer { linear, evaluator, first: false };
        layer.first = self.keys.insert(layer.name());
        let size = Size::Words(layer.linear.ring(), layer.linear.coefficients() as usize);
        self.step(Prim::Encrypted(Arc::new(layer)), reads.to_vec(), size)
    }

    /// A convolution of images by kernels; nothing where OTs make it.
    pub(super) fn encrypted_conv(
        &mut self,
        [x, weights]: [Slot; 2],
        [of, kernels]: [&[usize]; 2],
        steps: Steps,
        groups: usize,
        to: &[usize],
    ) -> Option<Slot> {
        let (evaluator, ring) = (self.holder(weights)?, self.steps[x].size.ring());
        let [images, outputs, rows, columns] = *to else { return None };
        let ([channels, height, width], [h, w]) = ([of[1], of[2], of[3]], [kernels[2], kernels[3]]);
        if self.products != Products::He || groups > GROUPS || to.contains(&0) || kernels.contains(&0) {
            return None;
        }
        // Kernels of one pixel leave pixels between their places out.
        let strides = steps.strides.map(|s| s as usize);
        let single = [h, w] == [1; 2];
        let apart = if single { [1; 2] } else { strides };
        let image = if single {
            [rows, columns]
        } else {
            [(rows - 1) * strides[0] + h, (columns - 1) * strides[1] + w]
        };
        let (inner, each) = (channels / groups, outputs / groups);
        let conv = Conv { channels: inner, image, outputs: each, kernel: [h, w], strides: apart };
        let linear = fitting(conv, ring, images)?;
        let nothing = of.iter().product::<usize>();
        let [above, left] = [steps.padding[0], steps.padding[1]].map(|n| n as usize);
        let zero = self.zeros(ring, 1);
        let between = if single { strides } else { [1; 2] };
        let mut parts = vec![];
        for group in 0..groups {
            let mut picks = Vec::with_capacity(images * inner * image[0] * image[1]);
            for plane in (0..images).flat_map(|i| (0..inner).map(move |c| i * channels + group * inner + c)) {
                for (row, column) in (0..image[0]).flat_map(|r| (0..image[1]).map(move |c| (r, c))) {
                    let place = |at: usize, step: usize, before: usize, n: usize| {
                        (at * step).checked_sub(before).filter(|at| *at < n)
                    };
                    let at =
                        place(row, between[0], above, height).zip(place(column, between[1], left, width));
                    picks.push(at.map_or(nothing, |(r, c)| (plane * height + r) * width + c));
                }
            }
            let images = self.pick(vec![x, zero], picks);
            let taps = inner * h * w;
            let own = self.pick(vec![weights], (group * each * taps..(group + 1) * each * taps).collect());
            parts.push(self.layer(linear.clone(), evaluator, [own, images]));
        }
        if groups == 1 {
            return parts.pop();
        }
        // Part after part, image after image, to images of all outputs.
        let plane = rows * columns;
        let picks = (0..images * outputs * plane).map(|at| {
            let (image, output, pixel) = (at / (outputs * plane), at / plane % outputs, at % plane);
            ((output / each * images + image) * each + output % each) * plane + pixel
        });
        let picks = picks.collect();
        Some(self.pick(parts, picks))
    }

    /// A product of matrices; nothing where OTs make it.
    pub(super) fn encrypted_matmul(
        &mut self,
        reads: [Slot; 2],
        [rows, inner, columns]: [usize; 3],
    ) -> Option<Slot> {
        let ring = self.steps[reads[0]].size.ring();
        if self.products != Products::He || [rows, inner, columns].contains(&0) {
            return None;
        }
        let layer = |outputs: usize, n: usize| {
            let conv = Conv { channels: inner, image: [1, n], outputs, kernel: [1; 2], strides: [1; 2] };
            fitting(conv, ring, 1)
        };
        let turned =
            |r: usize, c: usize| (0..c).flat_map(|j| (0..r).map(move |i| i * c + j)).collect::<Vec<_>>();
        // Where each party has one of them, the larger one is the weights: fewer numbers are encrypted. Weights that a layer has no room for are
        // refused, which is the fate of a model's weights and must not be that of an input: the first one then needs room for all numbers.
        let whole = |linear: Linear| linear.weight() >= 1 << (ring - 1);
        let larger = || rows > columns && layer(rows, columns).is_some_and(whole);
        let first = self.holder(reads[0]).filter(|_| self.holder(reads[1]).is_none() || larger());
        if let Some(evaluator) = first {
            return Some(self.layer(layer(rows, columns)?, evaluator, reads));
        }
        // (A B)ᵀ = Bᵀ Aᵀ.
        let (evaluator, linear) = (self.holder(reads[1])?, layer(columns, rows)?);
        let weights = self.pick(vec![reads[1]], turned(inner, columns));
        let x = self.pick(vec![reads[0]], turned(rows, inner));
        let made = self.layer(linear, evaluator, [weights, x]);
        Some(self.pick(vec![made], turned(columns, rows)))
    }
}
