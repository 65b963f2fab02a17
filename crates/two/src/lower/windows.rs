//! Reductions in trees, convolutions as products of matrices, and pooling.

use super::{Forms, Lower, Lowered, bits, narrow, words};
use crate::plan::{Axis, Prim, Size, Slot};
use hushwire_compute::{
    Node, Op, Reduction, Scalar, Shape, Steps, Tensor,
    back_end::{Convolution, pooled},
};
use std::{cmp::Ordering, sync::Arc};

/// Columns of which the rows are compared: the values, and the places that go with them.
struct Columns {
    value: Slot,
    place: Option<Slot>,
}

/// Places of elements that are compared with each other, as many in each series.
pub(super) type Series = Vec<Vec<usize>>;

/// The windows of a plane in passes, each over what the one before leaves; nothing where a window has no element. Where windows overlap or touch, those of
/// their rows in every column come first: that takes fewer comparisons where they overlap, and as many where they touch.
pub(super) fn passes(lengths: &[usize], size: [u32; 2], steps: Steps) -> Option<Vec<Series>> {
    let [above, left, below, right] = steps.padding;
    let [down, aside] = steps.strides;
    let tall = ([size[0], 1], Steps { strides: [down, 1], padding: [above, 0, below, 0] });
    let wide = ([1, size[1]], Steps { strides: [1, aside], padding: [0, left, 0, right] });
    let is_apart = steps.strides.iter().zip(size).any(|(stride, n)| *stride > n);
    let (mut now, mut all) = (lengths.to_vec(), vec![]);
    for (size, steps) in if is_apart { vec![(size, steps)] } else { vec![tall, wide] } {
        let mut next = now.clone();
        for (k, to) in next.iter_mut().rev().take(2).rev().enumerate() {
            let around = (steps.padding[k] + steps.padding[k + 2]) as usize;
            *to = (*to + around - size[k] as usize) / steps.strides[k] as usize + 1;
        }
        let mut windows: Series =
            (0..next.iter().product()).map(|at| pooled(&now, size, steps, at)).collect();
        let most = windows.iter().map(Vec::len).max()?;
        if windows.iter().any(Vec::is_empty) {
            return None;
        }
        // An element twice changes neither.
        windows.iter_mut().for_each(|w| w.resize(most, w[0]));
        all.push(windows);
        now = next;
    }
    Some(all)
}

impl Lower<'_> {
    /// The least or the greatest along an axis, or its place.
    pub(crate) fn reduce(&mut self, node: &Node, of: usize) -> Lowered<Forms> {
        let Op::Reduce(reduction, axis) = &node.op else { unreachable!("a reduction") };
        let axis = Axis::of(&self.lengths(of)?, usize::from(*axis));
        let series: Vec<Vec<usize>> =
            (0..axis.series()).map(|k| (0..axis.n).map(|i| axis.place(k, i)).collect()).collect();
        let places = matches!(reduction, Reduction::ArgMin | Reduction::ArgMax);
        let least = matches!(reduction, Reduction::Min | Reduction::ArgMin);
        if places && axis.n == 0 || series.is_empty() {
            let scalar = node.ty.scalar;
            let zeros = Arc::new(Tensor::zeros(scalar, &[series.len()]));
            let slot = self.step(Prim::Known(zeros), vec![], Size::Known(series.len()));
            return Ok(bits(self.step(Prim::AsBits, vec![slot], Size::Bits(scalar.bits(), series.len()))));
        }
        let all = self.comparable(of)?;
        let best = self.tree(of, all, &series, least, places);
        Ok(if places { words(best) } else { self.narrowed(best, of) })
    }

    /// The best of each series of elements of `all`, which have the range of node `of`, all of one length of 1 or more, or its place as words of
    /// 64 bits: the first where several are best.
    fn tree(&mut self, of: usize, all: Slot, series: &[Vec<usize>], least: bool, places: bool) -> Slot {
        let (ring, count) = (self.scalar(of).bits() as u32, series.len());
        let is_bounded = self.steps[all].size.ring() != ring;
        let mut n = series[0].len();
        // Column after column: element i of all series.
        let at = |i: usize| series.iter().map(move |s| s[i]);
        let value = self.pick(vec![all], (0..n).flat_map(at).collect());
        let place = places.then(|| {
            let numbers = (0..n).flat_map(|i| std::iter::repeat_n(i as u128, count));
            let tensor = Tensor::from_words(Scalar::unsigned(64), &[n * count], numbers);
            let slot = self.step(Prim::Known(Arc::new(tensor)), vec![], Size::Known(n * count));
            self.step(Prim::AsWords, vec![slot], Size::Words(64, n * count))
        });
        let mut now = Columns { value, place };
        while n > 1 {
            let pairs = n / 2;
            // Neighbours, so that the first stays first.
            let half = |k: usize| -> Vec<usize> {
                (0..pairs).flat_map(|p| (2 * p + k) * count..(2 * p + k + 1) * count).collect()
            };
            let odd: Vec<usize> = if n % 2 == 1 { ((n - 1) * count..n * count).collect() } else { vec![] };
            let [x, y] = [0, 1].map(|k| self.pick(vec![now.value], half(k)));
            // The later one only if it is strictly better.
            let reads = if least { [y, x] } else { [x, y] };
            let better = if is_bounded {
                let rows = self.steps[x].size.rows();
                self.step(Prim::LessBounded, reads.to_vec(), Size::Bits(1, rows))
            } else {
                self.less(of, of, reads, ring)
            };
            now.value = self.joined(now.value, [better, y, x], &odd);
            if let Some(place) = now.place {
                let [p, q] = [0, 1].map(|k| self.pick(vec![place], half(k)));
                now.place = Some(self.joined(place, [better, q, p], &odd));
            }
            n = n.div_ceil(2);
        }
        now.place.unwrap_or(now.value)
    }

    /// A node's value as words whose differences are signed numbers of their ring: the narrow ones that there are, and with a bit more where they are of the
    /// whole ring, which takes a comparison each, and leaves one of three to each comparison after.
    fn comparable(&mut self, of: usize) -> Lowered<Slot> {
        if let Some(slot) = self.forms[of].narrow {
            return Ok(slot);
        }
        let ring = self.scalar(of).bits() as u32;
        let slot = self.words(of, ring)?;
        if ring >= 64 || !self.scalar(of).is_signed() || self.is_bounded(of, of, ring) {
            return Ok(slot);
        }
        let rows = self.steps[slot].size.rows();
        Ok(self.step(Prim::Widen, vec![slot], Size::Words(ring + 1, rows)))
    }

    /// Words of [`Self::comparable`] as a value of the node's type.
    fn narrowed(&mut self, slot: Slot, of: usize) -> Forms {
        let (own, size) = (self.scalar(of).bits() as u32, self.steps[slot].size);
        match size.ring().cmp(&own) {
            Ordering::Less => narrow(slot),
            Ordering::Equal => words(slot),
            Ordering::Greater => words(self.step(Prim::Narrow, vec![slot], Size::Words(own, size.rows()))),
        }
    }

    fn joined(&mut self, of: Slot, reads: [Slot; 3], odd: &[usize]) -> Slot {
        let size = self.steps[reads[1]].size;
        let made = self.step(Prim::Choose, reads.to_vec(), size);
        if odd.is_empty() {
            return made;
        }
        let rest = self.pick(vec![of], odd.to_vec());
        self.pick(vec![made, rest], (0..size.rows() + odd.len()).collect())
    }

    /// A convolution: of each group, kernels in rows times windows in columns.
    pub(crate) fn conv2d(
        &mut self,
        args: &[usize],
        steps: Steps,
        groups: u32,
        to: &[usize],
        ring: u32,
    ) -> Lowered<Slot> {
        let [of, kernels] = [self.lengths(args[0])?, self.lengths(args[1])?];
        let convolution = Convolution::new(&of, &kernels, steps, groups);
        let (images, outputs, plane) = (to[0], to[1], to[2] * to[3]);
        let (groups, taps) = (groups as usize, kernels[1..].iter().product::<usize>());
        let each = outputs / groups;
        let shape = [each, taps, images * plane];
        let x = self.words(args[0], ring)?;
        let zero = self.zeros(ring, 1);
        let nothing = of.iter().product::<usize>();
        let factor = self.known_of(args[1]);
        let weights = if factor.is_none() { Some(self.words(args[1], ring)?) } else { None };
        if let Some(weights) = weights
            && let Some(slot) = self.encrypted_conv([x, weights], [&of, &kernels], steps, groups, to)
        {
            return Ok(slot);
        }
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
            let windows = self.pick(vec![x, zero], picks);
            let rows = group * each * taps..(group + 1) * each * taps;
            parts.push(match (factor, weights) {
                (Some(known), _) => {
                    let scalar = self.scalar(args[1]);
                    let mut apply = |op, of, n| {
                        self.step(Prim::Apply { op, scalar, lengths: vec![n] }, vec![of], Size::Known(n))
                    };
                    let flat =
                        apply(Op::Reshape(Shape::vector((outputs * taps) as u64)), known, outputs * taps);
                    let (from, to) = (rows.start as u64, rows.end as u64);
                    let part = apply(Op::Slice { axis: 0, from, to }, flat, rows.len());
                    self.matmul_known(part, windows, shape, true)
                }
                (None, Some(weights)) => {
                    let part = self.pick(vec![weights], rows.collect());
                    self.matmul_words([part, windows], shape)
                }
                (None, None) => unreachable!("kernels have a form"),
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
        Ok(self.pick(parts, picks))
    }

    /// The best of each window of a node's elements, of which `slot` has comparable words: a pass after the other.
    pub(super) fn best_of_windows(
        &mut self,
        of: usize,
        mut slot: Slot,
        passes: &[Series],
        least: bool,
    ) -> Forms {
        for series in passes {
            slot = self.tree(of, slot, series, least, false);
        }
        self.narrowed(slot, of)
    }

    /// Windows of sums, the least and the greatest; nothing where it is done by a circuit.
    pub(crate) fn pool(
        &mut self,
        of: usize,
        reduction: Reduction,
        (size, steps): ([u32; 2], Steps),
        ring: u32,
        rows: usize,
    ) -> Lowered<Option<Forms>> {
        match reduction {
            Reduction::Sum => {
                let lengths = self.lengths(of)?;
                let mut windows: Vec<Vec<usize>> =
                    (0..rows).map(|at| pooled(&lengths, size, steps, at)).collect();
                let most = windows.iter().map(Vec::len).max().unwrap_or(0);
                let slot = self.words(of, ring)?;
                let zero = self.zeros(ring, 1);
                let nothing = lengths.iter().product();
                windows.iter_mut().for_each(|w| w.resize(most, nothing));
                let each = self.pick(vec![slot, zero], windows.concat());
                Ok(Some(words(self.step(Prim::SumEach(most), vec![each], Size::Words(ring, rows)))))
            }
            Reduction::Min | Reduction::Max if self.has_words(of) => {
                let Some(passes) = passes(&self.lengths(of)?, size, steps) else { return Ok(None) };
                let slot = self.comparable(of)?;
                Ok(Some(self.best_of_windows(of, slot, &passes, reduction == Reduction::Min)))
            }
            _ => Ok(None),
        }
    }
}
