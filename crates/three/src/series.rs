//! Reductions and scans along an axis, in as few rounds as a tree has levels.

use crate::{
    form::Ring,
    lower::{Forms, Lower, Lowered, bits, words},
    picks::Picks,
    plan::{Axis, Prim, Slot},
    windows::divides,
};
use hushwire_compute::{Comparison, Node, Op, Reduction, Scalar, Scan, Tensor};
use std::sync::Arc;

impl Lower<'_> {
    pub(crate) fn reduce(
        &mut self,
        reduction: Reduction,
        axis: Axis,
        node: &Node,
        from: usize,
        to: &[usize],
    ) -> Lowered<Forms> {
        let scalar = self.scalar(from);
        let op = match (reduction, self.ring(node.ty.scalar)) {
            _ if axis.n == 0 || axis.series() == 0 => return self.flat(node, &[from], to),
            (Reduction::Sum | Reduction::Count, Some(ring)) => {
                let slot = self.words(from, ring)?;
                return Ok(words(self.step(Prim::Fold { axis, prefix: false }, vec![slot])));
            }
            (Reduction::Mean, Some(ring)) => return self.mean(axis, node, from, to, ring),
            // Numbers wider than any ring.
            (Reduction::Sum, None) if scalar.is_number() && node.ty.scalar == scalar => Op::Add,
            (Reduction::Min, _) => Op::Min,
            (Reduction::Max, _) => Op::Max,
            (Reduction::All, _) => Op::And,
            (Reduction::Any, _) => Op::Or,
            (Reduction::ArgMin | Reduction::ArgMax, _) => {
                return self.first(reduction == Reduction::ArgMax, axis, from);
            }
            _ => return self.flat(node, &[from], to),
        };
        let all = vec![self.bits(from)?];
        let block = self.block(&op, vec![scalar; 2], vec![None; 2], scalar);
        let slots = self.tree(axis, all, |lower, low, high| {
            vec![lower.step(Prim::Block(block.clone()), vec![low[0], high[0]])]
        });
        Ok(bits(slots[0]))
    }

    /// Neighbours against each other, all series abreast, until one is left; an odd element waits. Values that belong together are
    /// in several slots.
    fn tree(
        &mut self,
        axis: Axis,
        mut slots: Vec<Slot>,
        mut join: impl FnMut(&mut Self, &[Slot], &[Slot]) -> Vec<Slot>,
    ) -> Vec<Slot> {
        let (series, mut n) = (axis.series(), axis.n);
        // Series stand one behind the other from here on.
        let places: Vec<usize> = (0..series).flat_map(|k| (0..n).map(move |i| axis.place(k, i))).collect();
        slots = self.picked(&slots, &places);
        while n > 1 {
            let (half, odd) = (n / 2, n % 2);
            let every = |first: usize| -> Vec<usize> {
                (0..series).flat_map(|k| (0..half).map(move |i| k * n + 2 * i + first)).collect()
            };
            let [low, high] = [every(0), every(1)].map(|places| self.picked(&slots, &places));
            let joined = join(self, &low, &high);
            if odd == 1 {
                // Behind the joined ones of all series stand those that wait.
                let last: Vec<usize> = (0..series).map(|k| k * n + n - 1).collect();
                let rest = self.picked(&slots, &last);
                let place = |k: usize, i: usize| if i < half { k * half + i } else { series * half + k };
                let picks: Vec<usize> =
                    (0..series).flat_map(|k| (0..=half).map(move |i| place(k, i))).collect();
                let picks = Arc::new(Picks::of(&picks));
                let both = joined.iter().zip(&rest);
                slots = both.map(|(j, r)| self.step(Prim::Pick(picks.clone()), vec![*j, *r])).collect();
            } else {
                slots = joined;
            }
            n = half + odd;
        }
        slots
    }

    fn picked(&mut self, slots: &[Slot], places: &[usize]) -> Vec<Slot> {
        let picks = Arc::new(Picks::of(places));
        slots.iter().map(|slot| self.step(Prim::Pick(picks.clone()), vec![*slot])).collect()
    }

    /// The first place of the greatest, or of the least.
    fn first(&mut self, greatest: bool, axis: Axis, from: usize) -> Lowered<Forms> {
        let (scalar, index) = (self.scalar(from), Scalar::unsigned(64));
        let elements = axis.series() * axis.n;
        let place = |e: usize| (e / axis.inner % axis.n) as u128;
        let places = Tensor::from_words(index, &[elements], (0..elements).map(place));
        let places = self.step(Prim::Known(Arc::new(places)), vec![]);
        let all = vec![self.bits(from)?, self.step(Prim::AsBits, vec![places])];
        let comparison = if greatest { Comparison::Greater } else { Comparison::Less };
        let better = self.block(&Op::Compare(comparison), vec![scalar; 2], vec![None; 2], Scalar::Bool);
        let chosen =
            [scalar, index].map(|s| self.block(&Op::Select, vec![Scalar::Bool, s, s], vec![None; 3], s));
        // Neighbours keep their order: of equal ones the first stays.
        let slots = self.tree(axis, all, |lower, low, high| {
            let better = lower.step(Prim::Block(better.clone()), vec![high[0], low[0]]);
            let one = |k: usize| (Prim::Block(chosen[k].clone()), vec![better, high[k], low[k]]);
            [0, 1].map(one).map(|(prim, reads)| lower.step(prim, reads)).to_vec()
        });
        Ok(bits(slots[1]))
    }

    /// The sum, and one division by a number that all know.
    fn mean(&mut self, axis: Axis, node: &Node, from: usize, to: &[usize], ring: Ring) -> Lowered<Forms> {
        // A count that the numbers' width does not hold: wider numbers divide.
        if !divides(self.scalar(from), axis.n) {
            return self.flat(node, &[from], to);
        }
        let slot = self.words(from, ring)?;
        let sum = self.step(Prim::Fold { axis, prefix: false }, vec![slot]);
        Ok(self.quotient(sum, from, axis.n))
    }

    /// A scan of rows from start to start. Pairs of rows are joined, their results scanned, and the rows between joined to those:
    /// two joins a row and 2 log n levels.
    pub(crate) fn scan(&mut self, kind: Scan, starts: usize, of: usize, to: &[usize]) -> Lowered<Forms> {
        let scalar = self.scalar(of);
        let (n, inner) = (to[0], to[1..].iter().product::<usize>());
        let numbers = self.ring(scalar).filter(|_| kind == Scan::Sum || self.forms[of].words.is_some());
        let numbers = numbers.filter(|_| matches!(kind, Scan::Sum | Scan::First));
        let value = match numbers {
            Some(ring) => self.words(of, ring)?,
            None => self.bits(of)?,
        };
        let flags = self.bits(starts)?;
        let spread: Vec<usize> = (0..n).flat_map(|row| std::iter::repeat_n(row, inner)).collect();
        let flags = self.picked(&[flags], &spread)[0];
        let on = Scanned { kind, scalar, words: numbers.is_some(), inner };
        let slot = self.scanned(on, flags, value, n);
        Ok(if on.words { words(slot) } else { bits(slot) })
    }

    fn scanned(&mut self, on: Scanned, flags: Slot, values: Slot, n: usize) -> Slot {
        if n < 2 || on.inner == 0 {
            return values;
        }
        let half = n / 2;
        let rows = |all: &mut dyn Iterator<Item = usize>| -> Vec<usize> {
            all.flat_map(|row| row * on.inner..(row + 1) * on.inner).collect()
        };
        let (even, odd) = (rows(&mut (0..half).map(|k| 2 * k)), rows(&mut (0..half).map(|k| 2 * k + 1)));
        let low = self.picked(&[flags, values], &even);
        let high = self.picked(&[flags, values], &odd);
        let joined = self.joined(on, low[1], high[0], high[1]);
        let either = self.block(&Op::Or, vec![Scalar::Bool; 2], vec![None; 2], Scalar::Bool);
        let starts = self.step(Prim::Block(either), vec![low[0], high[0]]);
        let ends = self.scanned(on, starts, joined, half);
        // Rows 2, 4, …, each behind the end before it.
        let between = (n - 1) / 2;
        let before = self.picked(&[ends], &rows(&mut (0..between)))[0];
        let later = self.picked(&[flags, values], &rows(&mut (1..=between).map(|k| 2 * k)));
        let later = self.joined(on, before, later[0], later[1]);
        // Row 0 stays; then ends and rows between in turn.
        let place = |row: usize| match (row, row % 2) {
            (0, _) => 0,
            (_, 1) => n + row / 2,
            _ => n + half + row / 2 - 1,
        };
        let picks = rows(&mut (0..n).map(place));
        self.pick(Picks::of(&picks), vec![values, ends, later])
    }

    /// The later value where it starts, else both as the scan has them.
    fn joined(&mut self, on: Scanned, before: Slot, starts: Slot, value: Slot) -> Slot {
        let both = match on.kind {
            Scan::First => before,
            Scan::Sum if on.words => self.step(Prim::Sum { minus: false }, vec![before, value]),
            kind => {
                let op = match kind {
                    Scan::Min => Op::Min,
                    Scan::Max => Op::Max,
                    _ => Op::Add,
                };
                let block = self.block(&op, vec![on.scalar; 2], vec![None; 2], on.scalar);
                self.step(Prim::Block(block), vec![before, value])
            }
        };
        if on.words {
            return self.step(Prim::Choose, vec![starts, value, both]);
        }
        let scalars = vec![Scalar::Bool, on.scalar, on.scalar];
        let block = self.block(&Op::Select, scalars, vec![None; 3], on.scalar);
        self.step(Prim::Block(block), vec![starts, value, both])
    }
}

/// The values of a scan.
#[derive(Clone, Copy)]
struct Scanned {
    kind: Scan,
    scalar: Scalar,
    words: bool,
    /// Elements of a row.
    inner: usize,
}
