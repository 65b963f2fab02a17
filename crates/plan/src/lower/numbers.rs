//! Lowers operations on numbers of a ring.
//!
//! Sums, negations and left shifts are local steps on words. Products, comparisons, choices and
//! right shifts are steps with messages. The range of a node's numbers decides which comparison or
//! truncation is used. Operations that are better on bits are left to a circuit.

use super::{Forms, Lowered, PlanLowering};
use crate::{Backend, Local, Sign, Slot, Talk};
use hushwire_compute::{Comparison, Node, Op, Scalar, Tensor};
use std::sync::Arc;

impl<B: Backend> PlanLowering<'_, B> {
    /// The step for an operation on numbers of a ring; `None` if another lowering is better.
    pub(super) fn number(
        &mut self,
        node: &Node,
        args: &[usize],
        to: &[usize],
        ring: u32,
    ) -> Lowered<Option<Forms>> {
        let slot = match &node.op {
            Op::PrefixSum(axis) => {
                let axis = crate::Axis::of(to, usize::from(*axis));
                let slot = self.words(args[0], ring)?;
                self.step(Local::Fold { axis, prefix: true }, vec![slot])
            }
            Op::MatMul => {
                let [a, b] = [self.lengths(args[0])?, self.lengths(args[1])?];
                let k = a[a.len() - 1];
                let shape = [if a.len() == 2 { a[0] } else { 1 }, k, if b.len() == 2 { b[1] } else { 1 }];
                match self.factors(args, ring)? {
                    (reads, Some(left)) => self.step(Local::MatMulKnown { shape, left }, reads.to_vec()),
                    (reads, None) => B::matmul(self, reads, shape),
                }
            }
            Op::Conv2d { steps, groups } => {
                return B::conv2d(self, args, (*steps, *groups), to, ring).map(Some);
            }
            Op::Mul => match self.factors(args, ring)? {
                (reads, Some(left)) => {
                    let (k, factor) = (usize::from(left), reads[usize::from(!left)]);
                    let slot = self.spread(reads[k], &self.lengths(args[k])?, to);
                    self.step(Local::Scale, vec![slot, factor])
                }
                (reads, None) => {
                    let [x, y] =
                        [0, 1].map(|k| self.lengths(args[k]).map(|of| self.spread(reads[k], &of, to)));
                    B::product(self, [x?, y?])
                }
            },
            Op::Cast(to) if self.widens(args[0], *to) => {
                // The same steps serve both rings.
                return match self.forms(args[0]).narrow {
                    Some(narrow) => Ok(Some(Forms::narrow(narrow))),
                    None => B::widened(self, args[0], *to),
                };
            }
            Op::Cast(to) if self.has_words(args[0]) => {
                let from = self.scalar(args[0]);
                if from.frac() != to.frac() || to.bits() > from.bits() {
                    return Ok(None);
                }
                self.words(args[0], ring)?
            }
            op if !B::on_words(self, op, args) => return Ok(None),
            Op::ShiftRight(_) | Op::Rescale(_) if self.is_read_as_bits() => return Ok(None),
            Op::Add | Op::Sub => {
                let reads = self.aligned(args, ring, to)?;
                self.step(Local::Sum { minus: node.op == Op::Sub }, reads)
            }
            Op::Neg => {
                let slot = self.words(args[0], ring)?;
                self.negated(slot)
            }
            Op::Abs if !self.scalar(args[0]).is_signed() => self.words(args[0], ring)?,
            Op::Abs => {
                let slot = self.words(args[0], ring)?;
                let (zero, minus) = (self.zeros(ring, to.iter().product()), self.negated(slot));
                let is_below = self.step(Talk::LessBounded, vec![slot, zero]);
                self.step(Talk::Choose, vec![is_below, minus, slot])
            }
            Op::Min | Op::Max => {
                let reads = self.aligned(args, ring, to)?;
                let less = self.less([args[0], args[1]], [reads[0], reads[1]]);
                let [first, second] = if node.op == Op::Min { [0, 1] } else { [1, 0] };
                self.step(Talk::Choose, vec![less, reads[first], reads[second]])
            }
            Op::Select => {
                let choose = self.bits(args[0])?;
                let choose = self.spread(choose, &self.lengths(args[0])?, to);
                let branches = self.aligned(&args[1..], ring, to)?;
                self.step(Talk::Choose, [vec![choose], branches].concat())
            }
            Op::ShiftLeft(by) if usize::from(*by) < node.ty.scalar.bits() => {
                let slot = self.words(args[0], ring)?;
                self.step(Local::Shift(u32::from(*by)), vec![slot])
            }
            Op::ShiftRight(by) if usize::from(*by) < node.ty.scalar.bits() => {
                self.shifted(args[0], u32::from(*by), ring)?
            }
            Op::Rescale(by) if usize::from(*by) < node.ty.scalar.bits() => {
                self.shifted(args[0], u32::from(*by), ring)?
            }
            _ => return Ok(None),
        };
        Ok(Some(Forms::words(slot)))
    }

    /// Both factors of a bilinear operation. Both are words, or one is known; the flag then tells
    /// whether the known one is the left factor.
    ///
    /// # Errors
    /// As [`Self::words`].
    pub fn factors(&mut self, args: &[usize], ring: u32) -> Lowered<([Slot; 2], Option<bool>)> {
        Ok(match [0, 1].map(|k| self.forms[args[k]].known) {
            [Some(known), _] => ([known, self.words(args[1], ring)?], Some(true)),
            [_, Some(known)] => ([self.words(args[0], ring)?, known], Some(false)),
            _ => ([self.words(args[0], ring)?, self.words(args[1], ring)?], None),
        })
    }

    /// Whether a number of this type is a signed one that comes in a wider ring, and has no bits
    /// yet.
    fn widens(&self, at: usize, to: Scalar) -> bool {
        let (from, forms) = (self.scalar(at), self.forms(at));
        let is_wider = from.frac() == to.frac() && to.bits() > from.bits();
        let has_form = forms.narrow.is_some() || self.has_words(at);
        from.is_number() && from.is_signed() && to.is_number() && is_wider && forms.bits.is_none() && has_form
    }

    /// Zeros as words.
    pub fn zeros(&mut self, ring: u32, rows: usize) -> Slot {
        let slot = self.known(Tensor::zeros(Scalar::unsigned(ring as u8), &[rows]));
        self.step(Local::AsWords(ring), vec![slot])
    }

    fn negated(&mut self, slot: Slot) -> Slot {
        let size = self.size(slot);
        let zero = self.zeros(size.ring(), size.rows());
        self.step(Local::Sum { minus: true }, vec![zero, slot])
    }

    /// Whether the only reader of this node takes its bits: dropping some of them is then free.
    fn is_read_as_bits(&self) -> bool {
        let mut at = self.now;
        while let Some(reader) = self.rectifiers.only_reader(at) {
            match self.computation.nodes()[reader].op {
                Op::Cast(Scalar::Bits(_)) => return true,
                Op::Reshape(_) | Op::Wrapping => at = reader,
                _ => return false,
            }
        }
        false
    }

    fn shifted(&mut self, at: usize, by: u32, ring: u32) -> Lowered<Slot> {
        let slot = self.words(at, ring)?;
        if by == 0 {
            return Ok(slot);
        }
        let within = |low: i128, high: i128| self.range(at).is_some_and(|r| r.low >= low && r.high < high);
        let (half, quarter) = (1i128 << (ring - 1), (1i128 << ring) >> 2);
        let signed = self.scalar(at).is_signed();
        let sign = if within(0, half) {
            Sign::Positive
        } else if within(-quarter, quarter) && by + 2 <= ring {
            Sign::Short
        } else if signed {
            Sign::Any
        } else {
            Sign::None
        };
        Ok(self.step(Talk::Truncate { by, signed, sign }, vec![slot]))
    }

    /// Whether every difference x − y of two nodes' elements is a signed number of the ring,
    /// according to their ranges.
    pub fn is_bounded(&self, x: usize, y: usize, ring: u32) -> bool {
        let Some((x, y)) = self.range(x).zip(self.range(y)) else { return false };
        let half = 1i128 << (ring - 1);
        let least = x.low.checked_sub(y.high).is_some_and(|least| least >= -half);
        least && x.high.checked_sub(y.low).is_some_and(|most| most < half)
    }

    /// The comparison x < y of two nodes' elements, which `reads` has as words.
    pub(super) fn less(&mut self, [x, y]: [usize; 2], reads: [Slot; 2]) -> Slot {
        let signed = self.scalar(x).is_signed();
        let is_bounded = self.is_bounded(x, y, self.size(reads[0]).ring());
        let prim = if is_bounded { Talk::LessBounded } else { Talk::Less { signed } };
        self.step(prim, reads.to_vec())
    }

    pub(super) fn compare(&mut self, comparison: Comparison, args: &[usize], to: &[usize]) -> Lowered<Forms> {
        let ring = self.ring(self.scalar(args[0])).unwrap_or(64);
        let reads = self.aligned(args, ring, to)?;
        let (nodes, slots) = ([args[0], args[1]], [reads[0], reads[1]]);
        let [turned_nodes, turned] = [[args[1], args[0]], [reads[1], reads[0]]];
        let (slot, is_not) = match comparison {
            Comparison::Equal => (self.step(Talk::Equal, reads), false),
            Comparison::NotEqual => (self.step(Talk::Equal, reads), true),
            Comparison::Less => (self.less(nodes, slots), false),
            Comparison::GreaterOrEqual => (self.less(nodes, slots), true),
            Comparison::Greater => (self.less(turned_nodes, turned), false),
            Comparison::LessOrEqual => (self.less(turned_nodes, turned), true),
        };
        if !is_not {
            return Ok(Forms::bits(slot));
        }
        Ok(Forms::bits(self.on_bits(&Op::Not, &[Scalar::Bool], Scalar::Bool, vec![slot])))
    }

    /// The numbers 0, 1, 2 and so on, as words.
    pub fn numbers(&mut self, rows: usize, ring: u32) -> Slot {
        let numbers = Tensor::from_words(Scalar::unsigned(64), &[rows], (0..rows).map(|i| i as u128));
        let slot = self.step(Local::Known(Arc::new(numbers)), vec![]);
        self.step(Local::AsWords(ring), vec![slot])
    }
}
