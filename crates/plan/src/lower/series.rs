//! Lowers reductions and scans along an axis, in as many rounds as a tree has levels.
//!
//! Neighbours in all series are joined at once, level by level. So the number of rounds follows
//! from the length of a series, and not from the number of series.

use super::{Forms, Lowered, PlanLowering};
use crate::{Axis, Backend, Local, PickRun, Picks, Size, Slot, Talk};
use hushwire_compute::{Comparison, Node, Op, Reduction, Scalar, Scan, Tensor};

/// Places of elements that are compared with each other or joined, as many in each series.
pub(super) struct Series {
    /// The number of elements of each series.
    pub(super) n: usize,
    /// The first of all series, then the second of all, and so on: `n` times as many.
    pub(super) places: Vec<usize>,
}

impl Series {
    /// The series whose first elements come first: `n` elements each.
    pub(super) fn of(n: usize, places: Vec<usize>) -> Self {
        Series { n, places }
    }

    /// The number of series.
    fn count(&self) -> usize {
        self.places.len() / self.n
    }
}

/// The elements of several columns of `count` elements.
fn columns_of(count: usize, all: impl Iterator<Item = usize>) -> Picks {
    if count < 3 {
        return Picks::of(&all.flat_map(|i| i * count..(i + 1) * count).collect::<Vec<_>>());
    }
    // The runs that a list would have.
    Picks::of_runs(all.map(|i| PickRun::Steps { from: i * count, step: 1, len: count }))
}

impl<B: Backend> PlanLowering<'_, B> {
    pub(super) fn reduce(
        &mut self,
        reduction: Reduction,
        axis: usize,
        node: &Node,
        from: usize,
        to: &[usize],
    ) -> Lowered<Forms> {
        let (scalar, axis) = (self.scalar(from), Axis::of(&self.lengths(from)?, axis));
        let series = || {
            let places = (0..axis.n).flat_map(|i| (0..axis.series()).map(move |k| axis.place(k, i)));
            Series::of(axis.n, places.collect())
        };
        let op = match (reduction, self.ring(node.ty.scalar)) {
            _ if axis.n == 0 || axis.series() == 0 => return self.flat(node, &[from], to),
            (Reduction::Sum | Reduction::Count, Some(ring)) => {
                let slot = self.words(from, ring)?;
                return Ok(Forms::words(self.step(Local::Fold { axis, prefix: false }, vec![slot])));
            }
            (Reduction::Mean, Some(ring)) if self.divides(from, axis.n) => {
                let slot = self.words(from, ring)?;
                let sum = self.step(Local::Fold { axis, prefix: false }, vec![slot]);
                return Ok(self.quotient(sum, from, axis.n));
            }
            (Reduction::Min | Reduction::ArgMin, _) => {
                return self.extreme(from, &series(), true, reduction == Reduction::ArgMin);
            }
            (Reduction::Max | Reduction::ArgMax, _) => {
                return self.extreme(from, &series(), false, reduction == Reduction::ArgMax);
            }
            // These numbers are wider than any ring.
            (Reduction::Sum, None) if scalar.is_number() && node.ty.scalar == scalar => Op::Add,
            (Reduction::All | Reduction::Any, _) if B::joins_at_once(axis.series() * axis.n) => {
                return self.flat(node, &[from], to);
            }
            (Reduction::All, _) => Op::And,
            (Reduction::Any, _) => Op::Or,
            (Reduction::Sum | Reduction::Count | Reduction::Mean, _) => return self.flat(node, &[from], to),
        };
        let all = self.bits(from)?;
        let slots = self.tree(&series(), vec![all], |lower, low, high| {
            vec![lower.on_bits(&op, &[scalar; 2], scalar, vec![low[0], high[0]])]
        });
        Ok(Forms::bits(slots[0]))
    }

    /// Joins neighbours in all series at once, level by level, until one element of each series is
    /// left. An odd element waits for the next level. A value may consist of several slots. The
    /// first slot has its elements in their places; the others have them column by column, element
    /// i of all series together.
    fn tree(
        &mut self,
        series: &Series,
        mut slots: Vec<Slot>,
        mut join: impl FnMut(&mut Self, &[Slot], &[Slot]) -> Vec<Slot>,
    ) -> Vec<Slot> {
        let (count, mut n) = (series.count(), series.n);
        slots[0] = self.picked(&slots[..1], &series.places)[0];
        while n > 1 {
            // Only neighbours are joined, so that the first one stays first.
            let columns = |first: usize| -> Vec<usize> {
                (0..n / 2).flat_map(|p| (2 * p + first) * count..(2 * p + first + 1) * count).collect()
            };
            let [low, high] = [columns(0), columns(1)].map(|places| self.picked(&slots, &places));
            let joined = join(self, &low, &high);
            slots = if n % 2 == 1 {
                let rest = self.picked(&slots, &((n - 1) * count..n * count).collect::<Vec<_>>());
                let all: Vec<usize> = (0..n.div_ceil(2) * count).collect();
                let both = joined.iter().zip(&rest);
                both.map(|(joined, rest)| self.pick(Picks::of(&all), vec![*joined, *rest])).collect()
            } else {
                joined
            };
            n = n.div_ceil(2);
        }
        slots
    }

    /// Joins three neighbours in all series at once, until one element of each series is left.
    /// Pairs are joined if that takes no more levels.
    pub(super) fn by_threes(
        &mut self,
        series: &Series,
        slot: Slot,
        join: &mut impl FnMut(&mut Self, Vec<Slot>) -> Slot,
    ) -> Slot {
        let (count, mut n) = (series.count(), series.n);
        let mut slot = self.pick(Picks::of(&series.places), vec![slot]);
        while n > 1 {
            let width = if n == 2 || n == 4 { 2 } else { 3 };
            let (groups, rest) = (n / width, n % width);
            let mut columns =
                |all: &mut dyn Iterator<Item = usize>| self.pick(columns_of(count, all), vec![slot]);
            let whole: Vec<Slot> =
                (0..width).map(|k| columns(&mut (0..groups).map(|group| width * group + k))).collect();
            let left: Vec<Slot> = (n - rest..n).map(|i| columns(&mut std::iter::once(i))).collect();
            let mut made = vec![join(self, whole)];
            match left[..] {
                [] => {}
                [one] => made.push(one),
                _ => made.push(join(self, left)),
            }
            n = made.len() + groups - 1;
            slot = match made[..] {
                [all] => all,
                _ => self.pick(columns_of(n * count, std::iter::once(0)), made),
            };
        }
        slot
    }

    /// The least or the greatest of each series of a node's elements, or its place: the first where
    /// several are.
    fn extreme(&mut self, of: usize, series: &Series, least: bool, is_place: bool) -> Lowered<Forms> {
        let words = B::comparable(self, of)?;
        let all = match words {
            Some(slot) => slot,
            None => self.bits(of)?,
        };
        let slot = self.best(of, all, series, least, is_place);
        Ok(match self.size(slot) {
            Size::Bits(..) if is_place => Forms::narrow(slot),
            Size::Words(..) if is_place => Forms::words(slot),
            _ => self.narrowed(slot, of),
        })
    }

    /// The same for a value with the range of node `of`, in the form that it has: comparable words,
    /// or bits.
    pub(super) fn best(
        &mut self,
        of: usize,
        all: Slot,
        series: &Series,
        least: bool,
        is_place: bool,
    ) -> Slot {
        let is_words = matches!(self.size(all), Size::Words(..));
        let (n, count) = (series.n, series.count());
        // Places have no more bits than they need.
        let bits = if is_words { 64 } else { n.next_power_of_two().ilog2().max(1) };
        let index = Scalar::unsigned(bits as u8);
        let mut slots = vec![all];
        if is_place {
            let numbers = (0..n).flat_map(|i| std::iter::repeat_n(i as u128, count));
            let places = self.known(Tensor::from_words(index, &[n * count], numbers));
            let prim = if is_words { Local::AsWords(64) } else { Local::AsBits };
            slots.push(self.step(prim, vec![places]));
        }
        let slots = if is_words {
            let is_bounded = self.size(all).width() != self.scalar(of).bits();
            self.tree(series, slots, |lower, low, high| {
                // The later element wins only if it is strictly better.
                let reads = if least { [high[0], low[0]] } else { [low[0], high[0]] };
                let better = if is_bounded {
                    lower.step(Talk::LessBounded, reads.to_vec())
                } else {
                    lower.less([of, of], reads)
                };
                let one = |(low, high): (&Slot, &Slot)| lower.step(Talk::Choose, vec![better, *high, *low]);
                low.iter().zip(high).map(one).collect()
            })
        } else {
            let scalar = self.scalar(of);
            let op = if least { Op::Min } else { Op::Max };
            let better = Op::Compare(if least { Comparison::Less } else { Comparison::Greater });
            self.tree(series, slots, |lower, low, high| {
                if !is_place {
                    return vec![lower.on_bits(&op, &[scalar; 2], scalar, vec![low[0], high[0]])];
                }
                // Neighbours keep their order, so the first of equal ones stays.
                let better = lower.on_bits(&better, &[scalar; 2], Scalar::Bool, vec![high[0], low[0]]);
                let mut one = |k: usize, of: Scalar| {
                    lower.on_bits(&Op::Select, &[Scalar::Bool, of, of], of, vec![better, high[k], low[k]])
                };
                vec![one(0, scalar), one(1, index)]
            })
        };
        slots[usize::from(is_place)]
    }

    /// A scan of rows that restarts at marked rows. Pairs of rows are joined, and their results
    /// scanned. The rows between are then joined with those results. A scan takes two joins for
    /// each row, and 2 log n levels.
    pub(super) fn scan(&mut self, kind: Scan, starts: usize, of: usize, to: &[usize]) -> Lowered<Forms> {
        let scalar = self.scalar(of);
        let (n, inner) = (to[0], to[1..].iter().product::<usize>());
        let numbers = self.ring(scalar).filter(|_| kind == Scan::Sum || self.has_words(of));
        let numbers = numbers.filter(|_| match kind {
            Scan::Sum => true,
            Scan::First => B::copies_words(self, of, n * inner),
            Scan::Min | Scan::Max => false,
        });
        let value = match numbers {
            Some(ring) => self.words(of, ring)?,
            None => self.bits(of)?,
        };
        let flags = self.bits(starts)?;
        let spread: Vec<usize> = (0..n).flat_map(|row| std::iter::repeat_n(row, inner)).collect();
        let flags = self.picked(&[flags], &spread)[0];
        let slot = self.scanned(Scanned { kind, scalar, words: numbers.is_some(), inner }, flags, value, n);
        Ok(self.forms_of(slot))
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
        let starts = self.on_bits(&Op::Or, &[Scalar::Bool; 2], Scalar::Bool, vec![low[0], high[0]]);
        let ends = self.scanned(on, starts, joined, half);
        // Rows 2, 4, and so on, each after the end of the pair before it.
        let between = (n - 1) / 2;
        let before = self.picked(&[ends], &rows(&mut (0..between)))[0];
        let later = self.picked(&[flags, values], &rows(&mut (1..=between).map(|k| 2 * k)));
        let later = self.joined(on, before, later[0], later[1]);
        // Row 0 stays; then the ends of pairs alternate with the rows between.
        let place = |row: usize| match (row, row % 2) {
            (0, _) => 0,
            (_, 1) => n + row / 2,
            _ => n + half + row / 2 - 1,
        };
        let picks = rows(&mut (0..n).map(place));
        self.pick(Picks::of(&picks), vec![values, ends, later])
    }

    /// The later value if it starts a segment, else both values joined by the scan.
    fn joined(&mut self, on: Scanned, before: Slot, starts: Slot, value: Slot) -> Slot {
        let scalar = on.scalar;
        let both = match on.kind {
            Scan::First => before,
            Scan::Sum if on.words => self.step(Local::Sum { minus: false }, vec![before, value]),
            kind => {
                let op = match kind {
                    Scan::Min => Op::Min,
                    Scan::Max => Op::Max,
                    _ => Op::Add,
                };
                self.on_bits(&op, &[scalar; 2], scalar, vec![before, value])
            }
        };
        if on.words {
            return self.step(Talk::Choose, vec![starts, value, both]);
        }
        self.on_bits(&Op::Select, &[Scalar::Bool, scalar, scalar], scalar, vec![starts, value, both])
    }
}

/// The values of a scan.
#[derive(Clone, Copy)]
struct Scanned {
    kind: Scan,
    scalar: Scalar,
    words: bool,
    /// The number of elements of a row.
    inner: usize,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_of_columns_are_those_of_their_list() {
        for count in 1..9 {
            for all in [vec![0], vec![0, 3, 6], vec![1, 2, 3, 7], vec![4, 0], vec![2, 5]] {
                let list: Vec<usize> = all.iter().flat_map(|i| i * count..(i + 1) * count).collect();
                assert_eq!(columns_of(count, all.iter().copied()), Picks::of(&list), "{count} {all:?}");
            }
        }
    }
}
