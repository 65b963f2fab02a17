//! Lowers orders of rows, and values that they permute.
//!
//! A sort by a single bit is a partition, and any other sort compares bits of keys. Rows that a
//! known order permutes are gathered by a local step. All other permutations of rows are steps with
//! messages.

use super::{Forms, Lowered, PlanLowering};
use crate::{Backend, KeyOrder, Local, Reorder, Slot};
use hushwire_compute::{Node, Op, Scalar};

impl<B: Backend> PlanLowering<'_, B> {
    /// The step of an operation on orders; `None` for other operations.
    pub(super) fn ordering(&mut self, node: &Node, args: &[usize], to: &[usize]) -> Lowered<Option<Forms>> {
        Ok(Some(match &node.op {
            Op::Order { descending } if to[0] > 1 && self.is_bit(args) => {
                let flags = self.bits(args[0])?;
                Forms::order(B::partition(self, flags, descending[0] ^ self.scalar(args[0]).is_signed()))
            }
            Op::Order { descending } => Forms::order(self.sort(args, descending)?),
            Op::Meet { first } => {
                let first = usize::try_from(*first).expect("a length that was counted");
                Forms::order(B::meet(self, args, first)?)
            }
            Op::Invert => {
                let slot = self.order(args[0])?;
                Forms::order(self.step(Local::Invert, vec![slot]))
            }
            Op::Permute if node.ty.scalar == Scalar::Place => Forms::order(B::composed(self, args)?),
            Op::Permute => {
                let (inner, slot) = (to[1..].iter().product(), self.either(args[0])?);
                let slot = if let Some(places) = self.forms[args[1]].known {
                    self.step(Local::Gather { rows: to[0], inner }, vec![slot, places])
                } else {
                    let by = self.order(args[1])?;
                    self.step(Reorder::Permute { inner }, vec![slot, by])
                };
                self.forms_of(slot)
            }
            Op::Compact { rows } if self.lengths(args[0])?[0] > 0 => {
                let kept = usize::try_from(*rows).expect("a length that was counted");
                return B::compact(self, args, kept);
            }
            _ => return Ok(None),
        }))
    }

    /// Whether the only key is a single bit, and a word can count the rows.
    fn is_bit(&self, args: &[usize]) -> bool {
        let counts = self.ring(Scalar::unsigned(32)).is_some();
        counts && matches!(args, [key] if self.scalar(*key).bits() == 1)
    }

    /// The order of rows by keys.
    ///
    /// # Errors
    /// As [`Self::bits`].
    pub fn sort(&mut self, args: &[usize], descending: &[bool]) -> Lowered<Slot> {
        let reads = args.iter().map(|a| self.bits(*a)).collect::<Lowered<Vec<Slot>>>()?;
        let key = |(a, descending): (&usize, &bool)| KeyOrder {
            signed: self.scalar(*a).is_signed(),
            descending: *descending,
        };
        let keys = args.iter().zip(descending).map(key).collect();
        Ok(self.step(Reorder::Sort { rows: self.lengths(args[0])?[0], keys }, reads))
    }

    /// A node's value as an order.
    ///
    /// # Errors
    /// The value is not an order.
    pub fn order(&mut self, at: usize) -> Lowered<Slot> {
        let slot = match self.forms[at] {
            Forms { order: Some(slot), .. } => slot,
            Forms { known: Some(slot), .. } => B::known_order(self, slot),
            _ => return Err(self.unsupported(at)),
        };
        self.forms[at].order = Some(slot);
        Ok(slot)
    }
}
