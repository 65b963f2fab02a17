//! Orders of rows, and values moved by them.

use super::{Forms, Lower, Lowered, bits, order, words};
use crate::{
    order::{Key, sorts},
    plan::{Axis, Prim, Size, Slot},
};
use hushwire_compute::{Node, Op, Scalar, Tensor};
use std::sync::Arc;

/// Bits of a place.
const PLACE: u32 = 32;

/// AGREEMENT: the most rows whose compaction is a circuit.
const FEW: usize = 16;

impl Lower<'_> {
    /// The step of an operation on orders; `None` for other operations.
    pub(super) fn ordering(&mut self, node: &Node, args: &[usize], to: &[usize]) -> Lowered<Option<Forms>> {
        Ok(Some(match &node.op {
            Op::Order { descending } if to[0] > 1 && self.is_bit(args) => {
                let flags = self.bits(args[0])?;
                order(self.partition(flags, to[0], descending[0] ^ self.scalar(args[0]).is_signed()))
            }
            Op::Order { descending } => order(self.sort(args, descending, to[0])?),
            Op::Meet { .. } => order(self.sort(args, &vec![false; args.len()], to[0])?),
            Op::Invert => {
                let slot = self.order(args[0])?;
                order(self.step(Prim::Invert, vec![slot], self.steps[slot].size))
            }
            Op::Permute if node.ty.scalar == Scalar::Place => {
                let reads = [self.order(args[0])?, self.order(args[1])?];
                let [a, b] = reads.map(|slot| self.steps[slot].size.stages());
                order(self.step(Prim::Then, reads.to_vec(), Size::Order(to[0], a + b)))
            }
            Op::Permute => {
                let inner = to[1..].iter().product();
                if let Some(places) = self.forms[args[1]].known {
                    let prim = Prim::Gather { rows: to[0], inner };
                    return self.moved_by(args[0], prim, places).map(Some);
                }
                let by = self.order(args[1])?;
                self.moved_by(args[0], Prim::Permute { inner }, by)?
            }
            Op::Compact { rows } if self.lengths(args[0])?[0] > FEW => {
                let kept = usize::try_from(*rows).expect("a length that was counted");
                self.compact(args, kept)?
            }
            _ => return Ok(None),
        }))
    }

    /// Whether a key is a single bit.
    fn is_bit(&self, args: &[usize]) -> bool {
        matches!(args, [key] if self.scalar(*key).bits() == 1)
    }

    /// Rows of a value in another order, in the value's form.
    fn moved_by(&mut self, at: usize, prim: Prim, by: Slot) -> Lowered<Forms> {
        self.either(at, |lower, slot| {
            let size = lower.steps[slot].size;
            lower.step(prim, vec![slot, by], size)
        })
    }

    fn sort(&mut self, args: &[usize], descending: &[bool], rows: usize) -> Lowered<Slot> {
        let reads = args.iter().map(|a| self.bits(*a)).collect::<Lowered<Vec<Slot>>>()?;
        let key = |(a, descending): (&usize, &bool)| Key {
            signed: self.scalar(*a).is_signed(),
            descending: *descending,
        };
        let keys = args.iter().zip(descending).map(key).collect();
        let width = reads.iter().map(|slot| self.steps[*slot].size.width()).sum();
        Ok(self.step(Prim::Sort { keys }, reads, Size::Order(rows, sorts(rows, width).count())))
    }

    /// A node's value as an order.
    fn order(&mut self, at: usize) -> Lowered<Slot> {
        let rows = self.lengths(at)?[0];
        match self.forms[at] {
            Forms { order: Some(slot), .. } => Ok(slot),
            Forms { known: Some(slot), .. } => {
                let slot = self.step(Prim::AsOrder, vec![slot], Size::Order(rows, 0));
                self.forms[at].order = Some(slot);
                Ok(slot)
            }
            _ => unreachable!("places are known, or an order"),
        }
    }

    /// The row that comes to each place, as words of 64 bits.
    pub(super) fn places(&mut self, at: usize, slot: Slot) -> Lowered<Slot> {
        let rows = self.lengths(at)?[0];
        let all = self.numbers(rows, 64);
        Ok(self.step(Prim::Permute { inner: 1 }, vec![all, slot], Size::Words(64, rows)))
    }

    /// The numbers from 0 on.
    fn numbers(&mut self, rows: usize, ring: u32) -> Slot {
        let tensor = Tensor::from_words(Scalar::unsigned(64), &[rows], (0..rows as u128).collect::<Vec<_>>());
        let slot = self.step(Prim::Known(Arc::new(tensor)), vec![], Size::Known(rows));
        self.step(Prim::AsWords, vec![slot], Size::Words(ring, rows))
    }

    fn sum(&mut self, reads: [Slot; 2], minus: bool) -> Slot {
        let size = self.steps[reads[0]].size;
        self.step(Prim::Sum { minus }, reads.to_vec(), size)
    }

    /// The order that brings rows with one value of their flag before those with the other, each in
    /// the order in which they came.
    fn partition(&mut self, flags: Slot, rows: usize, ones_first: bool) -> Slot {
        let size = Size::Words(PLACE, rows);
        let ones = self.step(Prim::ToWords, vec![flags], size);
        let axis = Axis::of(&[rows], 0);
        // Of each row how many ones there are up to it, and how many zeros before it, if it is none.
        let up_to = self.step(Prim::Fold { axis, prefix: true }, vec![ones], size);
        let numbers = self.numbers(rows, PLACE);
        let zeros = self.sum([numbers, up_to], true);
        let known = Tensor::from_words(Scalar::unsigned(64), &[1], [1]);
        let known = self.step(Prim::Known(Arc::new(known)), vec![], Size::Known(1));
        let one = self.step(Prim::AsWords, vec![known], Size::Words(PLACE, 1));
        let one = self.pick(vec![one], vec![0; rows]);
        let before = self.sum([up_to, one], true);
        let all = self.pick(vec![up_to], vec![rows - 1; rows]);
        let (of_ones, of_zeros) = if ones_first {
            (before, self.sum([all, zeros], false))
        } else {
            // All zeros come before: as many as there are rows less ones.
            let known = Tensor::from_words(Scalar::unsigned(64), &[1], [rows as u128]);
            let known = self.step(Prim::Known(Arc::new(known)), vec![], Size::Known(1));
            let count = self.step(Prim::AsWords, vec![known], Size::Words(PLACE, 1));
            let count = self.pick(vec![count], vec![0; rows]);
            let count = self.sum([count, all], true);
            (self.sum([count, before], false), zeros)
        };
        let places = self.step(Prim::Choose, vec![flags, of_ones, of_zeros], size);
        self.step(Prim::ToPlaces, vec![places], Size::Order(rows, usize::from(rows > 1)))
    }

    /// The flagged rows in front, and zeros behind them.
    fn compact(&mut self, args: &[usize], kept: usize) -> Lowered<Forms> {
        let of = self.lengths(args[1])?;
        let (rows, inner) = (of[0], of[1..].iter().product::<usize>());
        let flags = self.bits(args[0])?;
        let by = self.partition(flags, rows, true);
        let each = self.pick(vec![flags], (0..rows * inner).map(|i| i / inner.max(1)).collect());
        let scalar = self.scalar(args[1]);
        let is_words = self.has_words(args[1]);
        let x = if is_words { self.words(args[1], scalar.bits() as u32)? } else { self.bits(args[1])? };
        let size = self.steps[x].size;
        let zeros = Arc::new(Tensor::zeros(scalar, &[rows * inner]));
        let zeros = self.step(Prim::Known(zeros), vec![], Size::Known(rows * inner));
        let (masked, zeros) = if is_words {
            let zeros = self.step(Prim::AsWords, vec![zeros], size);
            (self.step(Prim::Choose, vec![each, x, zeros], size), zeros)
        } else {
            let zeros = self.step(Prim::AsBits, vec![zeros], size);
            let block = self.block(&Op::Select, vec![Scalar::Bool, scalar, scalar], vec![None; 3], scalar);
            (self.step(Prim::Block(block), vec![each, x, zeros], size), zeros)
        };
        let moved = self.step(Prim::Permute { inner }, vec![masked, by], size);
        let from = |i: usize| if i < rows * inner { i } else { rows * inner };
        let out = self.pick(vec![moved, zeros], (0..kept * inner).map(from).collect());
        Ok(if is_words { words(out) } else { bits(out) })
    }
}
