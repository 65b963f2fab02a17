//! Lowers windows over rows and columns.
//!
//! ```text
//! pool_sum              no message
//! pool_mean             of 2^f nonnegative elements: a truncation;
//!                       else a division by a public number, once for all windows of a size
//! pool_min, pool_max    along one axis, then along the other: for each axis, one comparison less
//!                       than a window has elements along it
//! ```

use super::{Forms, Lowered, PlanLowering, series::Series};
use crate::{Backend, Local, Picks, Pooling, Prim, Sign, Size, Slot, Talk};
use hushwire_compute::{Node, Op, Reduction, Scalar, Steps, back_end::pooled};
use std::cmp::Ordering;

/// Splits the windows of a plane into passes, each over the result of the one before. `None` if
/// there is no window, or one has no element. If windows overlap or touch, a pass over their rows
/// in every column comes first. That takes fewer comparisons if they overlap, and the same number
/// if they touch.
fn passes(lengths: &[usize], size: [u32; 2], steps: Steps) -> Option<Vec<Series>> {
    let [above, left, below, right] = steps.padding;
    let [down, aside] = steps.strides;
    let tall = ([size[0], 1], Steps { strides: [down, 1], padding: [above, 0, below, 0] });
    let wide = ([1, size[1]], Steps { strides: [1, aside], padding: [0, left, 0, right] });
    let is_apart = steps.strides.iter().zip(size).any(|(stride, n)| *stride > n);
    let (mut now, mut all) = (lengths.to_vec(), vec![]);
    for (size, steps) in if is_apart { vec![(size, steps)] } else { vec![tall, wide] } {
        let (mut next, planar) = (now.clone(), now.len() - 2);
        for (k, length) in next[planar..].iter_mut().enumerate() {
            let around = (steps.padding[k] + steps.padding[k + 2]) as usize;
            *length = (*length + around - size[k] as usize) / steps.strides[k] as usize + 1;
        }
        let [plane, count] = [&now, &next].map(|lengths| lengths[planar..].iter().product::<usize>());
        if next.contains(&0) {
            return None;
        }
        // Windows are the same in all planes.
        let mut windows: Vec<Vec<usize>> = (0..count).map(|at| pooled(&now, size, steps, at)).collect();
        let most = windows.iter().map(Vec::len).max()?;
        if windows.iter().any(Vec::is_empty) {
            return None;
        }
        // A repeated element changes neither the minimum nor the maximum.
        windows.iter_mut().for_each(|w| w.resize(most, w[0]));
        let planes = next[..planar].iter().product::<usize>();
        let mut places = Vec::with_capacity(most * planes * count);
        for i in 0..most {
            let column: Vec<usize> = windows.iter().map(|window| window[i]).collect();
            (0..planes).for_each(|k| places.extend(column.iter().map(|place| k * plane + place)));
        }
        all.push(Series::of(most, places));
        now = next;
    }
    Some(all)
}

impl<B: Backend> PlanLowering<'_, B> {
    /// Lowers a pool: the reduction of each window of the node `from` to the lengths `to`.
    pub(super) fn pool(
        &mut self,
        node: &Node,
        reduction: Reduction,
        from: usize,
        (size, steps): ([u32; 2], Steps),
        to: &[usize],
    ) -> Lowered<Forms> {
        let lengths = self.lengths(from)?;
        let pooling = Pooling::new(&lengths, to, size, steps);
        match (reduction, self.ring(node.ty.scalar)) {
            _ if pooling.windows() == 0 => self.flat(node, &[from], to),
            (Reduction::Sum, Some(ring)) => {
                let slot = self.words(from, ring)?;
                Ok(Forms::words(self.step(Local::PoolSum(pooling), vec![slot])))
            }
            (Reduction::Mean, Some(ring)) if pooling.counts().all(|count| self.divides(from, count)) => {
                let slot = self.words(from, ring)?;
                Ok(self.means(slot, from, pooling))
            }
            (Reduction::Min | Reduction::Max, _) => {
                if reduction == Reduction::Max
                    && let Some(forms) = B::greatest_of_windows(self, from, (size, steps))?
                {
                    return Ok(forms);
                }
                let least = reduction == Reduction::Min;
                if self.has_words(from)
                    && let Some(passes) = passes(&lengths, size, steps)
                    && let Some(slot) = B::comparable(self, from)?
                {
                    return Ok(self.best_of_windows(from, slot, passes, least));
                }
                self.extremes(from, pooling, least)
            }
            _ => self.flat(node, &[from], to),
        }
    }

    /// The mean of each window, from the words of the elements.
    fn means(&mut self, words: Slot, from: usize, pooling: Pooling) -> Forms {
        let scalar = self.scalar(from);
        let counts: Vec<usize> = pooling.counts().collect();
        let mut different = counts.clone();
        different.sort_unstable();
        different.dedup();
        let sums = self.step(Local::PoolSum(pooling), vec![words]);
        if let [count] = different[..] {
            return self.quotient(sums, from, count);
        }
        // Divides the windows of one size at a time, then puts all in their places.
        let all = self.some_bits(sums, 0..scalar.bits());
        let mut quotients = vec![];
        let mut places = vec![0; pooling.windows()];
        let mut behind = 0;
        for count in different {
            let has_count = |window: &usize| counts[window % counts.len()] == count;
            let windows: Vec<usize> = (0..pooling.windows()).filter(has_count).collect();
            windows.iter().enumerate().for_each(|(i, window)| places[*window] = behind + i);
            behind += windows.len();
            let some = self.pick(Picks::of(&windows), vec![all]);
            quotients.push(self.divided(some, scalar, count));
        }
        Forms::bits(self.pick(Picks::of(&places), quotients))
    }

    /// Whether a count fits a node's width, so that a number of that width can be the divisor.
    pub(super) fn divides(&self, at: usize, count: usize) -> bool {
        let room = self.scalar(at).bits() - usize::from(self.scalar(at).is_signed());
        room >= 64 || count as u64 >> room == 0
    }

    /// Divides sums of `count` elements by `count`.
    pub(super) fn quotient(&mut self, sums: Slot, from: usize, count: usize) -> Forms {
        let (scalar, bits) = (self.scalar(from), self.scalar(from).bits());
        // For nonnegative numbers, rounding towards 0 equals rounding towards −∞.
        let below_top = self.range(from).is_some_and(|r| {
            let most = r.high.checked_mul(count as i128);
            r.low >= 0 && most.is_some_and(|most| most >> (bits - 1) == 0)
        });
        let (signed, is_full) = (scalar.is_signed(), self.size(sums).width() == bits);
        if count == 1 {
            return Forms::words(sums);
        }
        if count.is_power_of_two() && (!signed || below_top) && is_full && (count.ilog2() as usize) < bits {
            let sign = if below_top { Sign::Positive } else { Sign::None };
            return Forms::words(self.step(Talk::Truncate { by: count.ilog2(), signed, sign }, vec![sums]));
        }
        let sums = self.some_bits(sums, 0..bits);
        Forms::bits(self.divided(sums, scalar, count))
    }

    /// Some bits of words.
    fn some_bits(&mut self, slot: Slot, bits: std::ops::Range<usize>) -> Slot {
        let rows = self.size(slot).rows();
        let prim = B::to_bits(self, bits, rows);
        self.step(prim, vec![slot])
    }

    /// Divides numbers by a public number, rounding towards 0. The result has bits.
    fn divided(&mut self, of: Slot, scalar: Scalar, count: usize) -> Slot {
        if count == 1 {
            return of;
        }
        let whole = Scalar::Int { signed: scalar.is_signed(), bits: scalar.bits() as u8 };
        self.block(&Op::Div, &[whole; 2], vec![None, Some(count as u128)], whole, vec![of])
    }

    /// The best element of each window of a node's elements, pass by pass. `slot` has the elements
    /// as comparable words.
    fn best_of_windows(&mut self, of: usize, mut slot: Slot, passes: Vec<Series>, least: bool) -> Forms {
        for series in passes {
            slot = self.best(of, slot, &series, least, false);
        }
        self.narrowed(slot, of)
    }

    /// The greatest element of each window of `pool` over a node's elements. `slot` has the
    /// elements as comparable words.
    ///
    /// # Errors
    /// A length has no number yet.
    ///
    /// # Panics
    /// If a window is empty (the caller's bug).
    pub fn greatest_of_windows(&mut self, of: usize, pool: usize, slot: Slot) -> Lowered<Forms> {
        let (size, steps) = self.windows_of(pool).expect("a pool");
        let passes = passes(&self.lengths(of)?, size, steps).expect("no window is empty");
        Ok(self.best_of_windows(of, slot, passes, false))
    }

    /// The best element of each window of a node's elements, whose values `slot` has. `best` joins
    /// two or three elements of each window at once. The result is `None` if a window is empty.
    ///
    /// # Errors
    /// A length has no number yet.
    pub fn windows_by_threes(
        &mut self,
        of: usize,
        (size, steps): ([u32; 2], Steps),
        slot: Slot,
        mut best: impl FnMut(&mut Self, Vec<Slot>) -> Slot,
    ) -> Lowered<Option<Slot>> {
        let passes = passes(&self.lengths(of)?, size, steps);
        let join = |slot: Slot, series: &Series| self.by_threes(series, slot, &mut best);
        Ok(passes.map(|passes| passes.iter().fold(slot, join)))
    }

    /// The windows of a pool.
    #[must_use]
    pub fn windows_of(&self, pool: usize) -> Option<([u32; 2], Steps)> {
        match &self.computation.nodes()[pool].op {
            Op::Pool { size, steps, .. } => Some((*size, *steps)),
            _ => None,
        }
    }

    /// Converts comparable words, or bits, to a value of a node's type.
    pub(super) fn narrowed(&mut self, slot: Slot, of: usize) -> Forms {
        let Size::Words(ring, _) = self.size(slot) else { return Forms::bits(slot) };
        let Some(own) = self.ring(self.scalar(of)) else { return Forms::words(slot) };
        match ring.cmp(&own) {
            Ordering::Less => Forms::narrow(slot),
            Ordering::Equal => Forms::words(slot),
            Ordering::Greater => Forms::words(self.step(Local::Narrow(own), vec![slot])),
        }
    }

    /// The least or the greatest element of every window, computed on bits. Nonnegative numbers
    /// need fewer bits.
    fn extremes(&mut self, from: usize, pooling: Pooling, least: bool) -> Lowered<Forms> {
        let (forms, scalar) = (self.forms(from), self.scalar(from));
        let op = if least { Op::Min } else { Op::Max };
        Ok(match (forms.narrow, forms.words, forms.bits) {
            (Some(slot), None, _) => {
                let scalar = Scalar::unsigned(self.size(slot).width() as u8);
                Forms::narrow(self.extremes_of_bits(&op, scalar, slot, None, pooling))
            }
            (_, Some(slot), None) if pooling.columns.stride > 1 => {
                let to_bits = B::to_bits(self, 0..scalar.bits(), self.size(slot).rows());
                Forms::bits(self.extremes_of_bits(&op, scalar, slot, Some(to_bits.into()), pooling))
            }
            _ => {
                let slot = self.bits(from)?;
                Forms::bits(self.extremes_of_bits(&op, scalar, slot, None, pooling))
            }
        })
    }

    /// The least or the greatest element of every window. The elements are bits of a scalar, or
    /// words that a step converts to such bits. A window that extends beyond its plane repeats the
    /// element at the edge.
    pub fn extremes_of_bits(
        &mut self,
        op: &Op,
        scalar: Scalar,
        mut slot: Slot,
        to_bits: Option<Prim<B>>,
        pooling: Pooling,
    ) -> Slot {
        let Pooling { planes, rows, columns } = pooling;
        // Columns a stride apart are put next to each other, so that a window's elements are runs
        // of bits.
        let turn = |column: usize| {
            let (phase, turns) = (column % columns.stride, columns.n % columns.stride);
            phase * (columns.n / columns.stride) + phase.min(turns) + column / columns.stride
        };
        if columns.stride > 1 {
            let turned: Vec<usize> = (0..columns.n).map(turn).collect();
            let mut line = vec![0; columns.n];
            turned.iter().enumerate().for_each(|(c, to)| line[*to] = c);
            slot = self.pick(Picks::of_each(planes * rows.n, columns.n, &line), vec![slot]);
        }
        // Words move faster than bits. They are moved first, to the order of comparisons, and then
        // converted.
        if let Some(to_bits) = to_bits {
            slot = self.step(to_bits, vec![slot]);
        }
        let lines = planes * rows.n;
        let across = (0..columns.size).map(|i| {
            let line: Vec<usize> = (0..columns.windows).map(|c| turn(columns.nearest(c, i))).collect();
            Picks::of_each(lines, columns.n, &line)
        });
        let slot = self.best_of_bits(op, scalar, slot, across.collect());
        let down = (0..rows.size).map(|i| {
            let each = |r: usize| {
                let first = rows.nearest(r, i) * columns.windows;
                first..first + columns.windows
            };
            let plane: Vec<usize> = (0..rows.windows).flat_map(each).collect();
            Picks::of_each(planes, rows.n * columns.windows, &plane)
        });
        self.best_of_bits(op, scalar, slot, down.collect())
    }

    /// The least or the greatest elements of bits. The elements that the lists have in the same
    /// place are compared.
    fn best_of_bits(&mut self, op: &Op, scalar: Scalar, slot: Slot, lists: Vec<Picks>) -> Slot {
        let mut slots: Vec<Slot> = lists.into_iter().map(|picks| self.pick(picks, vec![slot])).collect();
        while slots.len() > 1 {
            let join = |pair: &[Slot]| match *pair {
                [one, other] => B::better(self, op, scalar, [one, other]),
                _ => pair[0],
            };
            slots = slots.chunks(2).map(join).collect();
        }
        slots[0]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The windows of all planes one by one, in columns.
    fn defined(lengths: &[usize], to: &[usize], size: [u32; 2], steps: Steps) -> Option<(usize, Vec<usize>)> {
        let mut windows: Vec<Vec<usize>> =
            (0..to.iter().product()).map(|at| pooled(lengths, size, steps, at)).collect();
        let most = windows.iter().map(Vec::len).max()?;
        windows.iter_mut().for_each(|w| w.resize(most, w[0]));
        Some((most, (0..most).flat_map(|i| windows.iter().map(move |w| w[i])).collect()))
    }

    #[test]
    fn windows_of_all_planes_are_those_of_each() {
        for (lengths, size, strides, padding) in [
            (vec![2, 3, 7, 9], [3, 3], [2, 2], [0, 0, 0, 0]),
            (vec![3, 6, 5], [2, 3], [1, 2], [1, 0, 0, 1]),
            (vec![5, 4], [1, 4], [1, 1], [0; 4]),
            (vec![2, 2, 8, 8], [2, 2], [3, 3], [0; 4]),
        ] {
            let steps = Steps { strides, padding };
            let mut now = lengths.clone();
            let all = passes(&lengths, size, steps).expect("no window is empty");
            let is_apart = strides[0] > size[0];
            assert_eq!(all.len(), if is_apart { 1 } else { 2 });
            let axes = if is_apart { vec![[0, 1]] } else { vec![[0, 0], [1, 1]] };
            for (pass, axes) in all.iter().zip(axes) {
                let (mut some, mut to) = (([1; 2], Steps { strides: [1; 2], padding: [0; 4] }), now.clone());
                for k in axes {
                    let at = now.len() - 2 + k;
                    let around = (padding[k] + padding[k + 2]) as usize;
                    to[at] = (now[at] + around - size[k] as usize) / strides[k] as usize + 1;
                    (some.0[k], some.1.strides[k]) = (size[k], strides[k]);
                    (some.1.padding[k], some.1.padding[k + 2]) = (padding[k], padding[k + 2]);
                }
                let (n, places) = defined(&now, &to, some.0, some.1).expect("windows");
                assert!((pass.n, &pass.places) == (n, &places), "{lengths:?} {size:?} {strides:?}");
                now = to;
            }
        }
        let far = Steps { strides: [1; 2], padding: [2, 0, 2, 0] };
        assert!(passes(&[1, 3, 3], [2, 1], far).is_none(), "a window in the padding alone");
        assert!(passes(&[0, 3, 3], [2, 1], Steps { strides: [1; 2], padding: [0; 4] }).is_none());
    }
}
