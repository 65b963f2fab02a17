//! Operations on numbers of a ring.

use super::{Forms, Lower, Lowered, bits, words};
use crate::{
    Sign,
    plan::{Axis, PIECE, Prim, Size, Slot},
};
use hushwire_compute::{Comparison, Node, Op, Reduction, Scalar, Tensor};
use std::sync::Arc;

/// AGREEMENT: the fewest numbers of a row that OTs of one factor serve.
const ROW: usize = 8;

impl Lower<'_> {
    /// The step on numbers of a ring, or nothing where it is better done otherwise.
    pub(super) fn number(
        &mut self,
        node: &Node,
        args: &[usize],
        to: &[usize],
        ring: u32,
    ) -> Lowered<Option<Forms>> {
        let rows: usize = to.iter().product();
        let size = Size::Words(ring, rows);
        Ok(Some(match &node.op {
            Op::Reduce(reduction, axis) if *reduction == Reduction::Sum => {
                let axis = Axis::of(&self.lengths(args[0])?, usize::from(*axis));
                let slot = self.words(args[0], ring)?;
                words(self.step(Prim::Fold { axis, prefix: false }, vec![slot], size))
            }
            Op::Reduce(Reduction::Count, axis) => {
                let axis = Axis::of(&self.lengths(args[0])?, usize::from(*axis));
                let slot = self.words(args[0], ring)?;
                words(self.step(Prim::Fold { axis, prefix: false }, vec![slot], size))
            }
            Op::Reduce(Reduction::Min | Reduction::Max, axis) if self.has_words(args[0]) => {
                if self.lengths(args[0])?[usize::from(*axis)] == 0 {
                    return Ok(None);
                }
                self.reduce(node, args[0])?
            }
            Op::PrefixSum(axis) => {
                let axis = Axis::of(to, usize::from(*axis));
                let slot = self.words(args[0], ring)?;
                words(self.step(Prim::Fold { axis, prefix: true }, vec![slot], size))
            }
            Op::MatMul => {
                let [a, b] = [self.lengths(args[0])?, self.lengths(args[1])?];
                let k = a[a.len() - 1];
                let shape = [if a.len() == 2 { a[0] } else { 1 }, k, if b.len() == 2 { b[1] } else { 1 }];
                words(self.matmul(args, shape, ring)?)
            }
            Op::Conv2d { steps, groups } => words(self.conv2d(args, *steps, *groups, to, ring)?),
            Op::Pool { reduction, size, steps } => {
                return self.pool(args[0], *reduction, (*size, *steps), ring, rows);
            }
            Op::Mul => {
                if let Some(k) = args.iter().position(|a| self.forms[*a].known.is_some()) {
                    let slot = self.words(args[1 - k], ring)?;
                    let slot = self.spread(slot, &self.lengths(args[1 - k])?, to);
                    let factor = self.forms[args[k]].known.expect("it was found");
                    words(self.step(Prim::Scale, vec![slot, factor], size))
                } else {
                    let reads = self.aligned(args, ring, to)?;
                    if let Some(slot) = self.by_rows([reads[0], reads[1]], size) {
                        return Ok(Some(words(slot)));
                    }
                    let holders = [self.holders[reads[0]], self.holders[reads[1]]];
                    words(self.step(Prim::Product(holders), reads, size))
                }
            }
            Op::Add | Op::Sub => {
                let reads = self.aligned(args, ring, to)?;
                words(self.step(Prim::Sum { minus: node.op == Op::Sub }, reads, size))
            }
            Op::Neg => {
                let slot = self.words(args[0], ring)?;
                words(self.negated(slot))
            }
            Op::Abs if self.any_words(args) && self.scalar(args[0]).is_signed() => {
                let x = self.words(args[0], ring)?;
                let (zero, minus) = (self.zeros(ring, rows), self.negated(x));
                let sign = self.step(Prim::LessBounded, vec![x, zero], Size::Bits(1, rows));
                words(self.step(Prim::Choose, vec![sign, minus, x], size))
            }
            Op::Min | Op::Max if self.on_words(args) => {
                let reads = self.aligned(args, ring, to)?;
                let less = self.less(args[0], args[1], [reads[0], reads[1]], ring);
                let [first, second] = if node.op == Op::Min { [0, 1] } else { [1, 0] };
                words(self.step(Prim::Choose, vec![less, reads[first], reads[second]], size))
            }
            Op::Select if self.any_words(&args[1..]) => {
                let choose = self.bits(args[0])?;
                let choose = self.spread(choose, &self.lengths(args[0])?, to);
                let branches = self.aligned(&args[1..], ring, to)?;
                words(self.step(Prim::Choose, [vec![choose], branches].concat(), size))
            }
            Op::ShiftLeft(by) if self.any_words(args) && u32::from(*by) < ring => {
                let slot = self.words(args[0], ring)?;
                words(self.step(Prim::Shift(u32::from(*by)), vec![slot], size))
            }
            Op::Rescale(by) if self.any_words(args) && u32::from(*by) < ring => {
                words(self.shifted(args[0], u32::from(*by), ring)?)
            }
            Op::ShiftRight(by) if self.any_words(args) && u32::from(*by) < ring => {
                words(self.shifted(args[0], u32::from(*by), ring)?)
            }
            Op::Cast(to) if self.has_words(args[0]) => {
                let from = self.scalar(args[0]);
                if from.frac() != to.frac() || to.bits() > from.bits() {
                    return Ok(None);
                }
                words(self.words(args[0], ring)?)
            }
            _ => return Ok(None),
        }))
    }

    /// A product of which one factor is private to a party and the same all along each row of the other: OTs for the bits of a factor serve its whole row.
    /// Nothing where rows are short, or too many for a piece.
    fn by_rows(&mut self, [a, b]: [Slot; 2], size: Size) -> Option<Slot> {
        let (x, factors) = [(a, b), (b, a)].into_iter().find_map(|(x, of)| {
            let Prim::Pick(picks) = &self.steps[of].prim else { return None };
            let first = picks.first()?;
            let each = picks.iter().take_while(|place| *place == first).count();
            let rows = picks.chunks(each);
            let are_alike = rows.clone().all(|row| row.len() == each && row.iter().all(|p| *p == row[0]));
            let fits = each >= ROW && rows.len() * size.ring() as usize <= PIECE;
            let own = rows.map(|row| row[0]).collect::<Vec<_>>();
            (are_alike && fits && self.holder(of).is_some()).then_some((x, (of, own)))
        })?;
        let factors = self.pick(self.steps[factors.0].reads.clone(), factors.1);
        let holders = [self.holders[x], self.holders[factors]];
        Some(self.step(Prim::Rows(holders), vec![x, factors], size))
    }

    pub(crate) fn zeros(&mut self, ring: u32, rows: usize) -> Slot {
        let zeros = Arc::new(Tensor::zeros(Scalar::unsigned(ring as u8), &[rows]));
        let slot = self.step(Prim::Known(zeros), vec![], Size::Known(rows));
        self.step(Prim::AsWords, vec![slot], Size::Words(ring, rows))
    }

    fn negated(&mut self, slot: Slot) -> Slot {
        let size = self.steps[slot].size;
        let zero = self.zeros(size.ring(), size.rows());
        self.step(Prim::Sum { minus: true }, vec![zero, slot], size)
    }

    fn shifted(&mut self, at: usize, by: u32, ring: u32) -> Lowered<Slot> {
        let slot = self.words(at, ring)?;
        let within = |low: i128, high: i128| self.range(at).is_some_and(|r| r.low >= low && r.high < high);
        let (half, quarter) = (1i128 << (ring - 1), (1i128 << ring) >> 2);
        let sign = if within(0, half) {
            Sign::Positive
        } else if within(-quarter, quarter) && by + 2 <= ring {
            Sign::Short
        } else if self.scalar(at).is_signed() {
            Sign::Any
        } else {
            Sign::None
        };
        Ok(self.step(Prim::Truncate { by, sign }, vec![slot], self.steps[slot].size))
    }

    /// Whether every difference x − y is a signed number of the ring, by what is known of their ranges.
    pub(super) fn is_bounded(&self, x: usize, y: usize, ring: u32) -> bool {
        let Some((x, y)) = self.range(x).zip(self.range(y)) else { return false };
        let half = 1i128 << (ring - 1);
        let least = x.low.checked_sub(y.high).is_some_and(|least| least >= -half);
        least && x.high.checked_sub(y.low).is_some_and(|most| most < half)
    }

    /// x < y of words.
    pub(crate) fn less(&mut self, x: usize, y: usize, reads: [Slot; 2], ring: u32) -> Slot {
        let rows = self.steps[reads[0]].size.rows();
        let signed = self.scalar(x).is_signed();
        let prim = if self.is_bounded(x, y, ring) { Prim::LessBounded } else { Prim::Less { signed } };
        self.step(prim, reads.to_vec(), Size::Bits(1, rows))
    }

    pub(super) fn compare(
        &mut self,
        comparison: Comparison,
        args: &[usize],
        ring: u32,
        to: &[usize],
    ) -> Lowered<Forms> {
        let reads = self.aligned(args, ring, to)?;
        let size = Size::Bits(1, to.iter().product());
        let (x, y) = (reads[0], reads[1]);
        let (slot, turned) = match comparison {
            Comparison::Equal => (self.step(Prim::Equal, reads, size), false),
            Comparison::NotEqual => (self.step(Prim::Equal, reads, size), true),
            Comparison::Less => (self.less(args[0], args[1], [x, y], ring), false),
            Comparison::GreaterOrEqual => (self.less(args[0], args[1], [x, y], ring), true),
            Comparison::Greater => (self.less(args[1], args[0], [y, x], ring), false),
            Comparison::LessOrEqual => (self.less(args[1], args[0], [y, x], ring), true),
        };
        if !turned {
            return Ok(bits(slot));
        }
        let block = self.block(&Op::Not, vec![Scalar::Bool], vec![None], Scalar::Bool);
        Ok(bits(self.step(Prim::Block(block), vec![slot], size)))
    }
}
