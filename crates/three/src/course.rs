//! The course of a run, before it begins: the current operation for each number of completed steps.
//! It is for progress messages, and follows from the plan alone.

use crate::{
    Plan,
    prim::{OwnTalk, Three},
};
use hushwire_compute::Value;
use hushwire_plan::{Reorder, Slot, Talk, Watch};

/// A wave of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Leg {
    /// The number of steps that are done when it begins, as [`run`](crate::run) reports them.
    pub done: usize,
    /// The node of the computation that has most of its work.
    pub node: Value,
}

struct Legs<'p>(&'p Plan, Vec<Leg>);

impl Legs<'_> {
    /// An estimate of the work of a step.
    fn weight(&self, at: Slot) -> u64 {
        let (steps, width) = (&self.0.steps, self.0.steps[at].size.width() as u64);
        let each = |talk: &Talk<Three>| match talk {
            // The approximate number of comparisons of a row.
            Talk::Reorder(Reorder::Sort { .. }) => {
                20 * steps.sizes_read(at).iter().map(|size| size.width() as u64).sum::<u64>()
            }
            Talk::Block(program) | Talk::Flat(program, _) => program.ands(),
            Talk::Own(own) => match own {
                // The weight of an encryption.
                OwnTalk::Meet { .. } => 5000,
                OwnTalk::Better(better) => better.ripple.ands(),
                OwnTalk::ToBits { .. }
                | OwnTalk::Rectify { .. }
                | OwnTalk::Greatest { .. }
                | OwnTalk::Conv2d(_)
                | OwnTalk::Compact { .. }
                | OwnTalk::Places { .. } => width,
            },
            Talk::ToWords(_)
            | Talk::Product(())
            | Talk::MatMul(..)
            | Talk::Choose
            | Talk::Less { .. }
            | Talk::LessBounded
            | Talk::Equal
            | Talk::Truncate { .. }
            | Talk::Reorder(Reorder::ToOrder | Reorder::Permute { .. })
            | Talk::Open { .. } => width,
        };
        (steps.rows_read(at) as u64).saturating_mul(steps[at].talk().map_or(1, each).max(1))
    }
}

impl Watch for Legs<'_> {
    fn local(&mut self, _: Slot) {}

    fn wave(&mut self, wave: &[Slot], done: usize) {
        let heaviest = wave.iter().max_by_key(|at| self.weight(**at));
        let node = |at: &Slot| Value(self.0.steps[*at].node as u32);
        let leg = heaviest.map(|at| Leg { done, node: node(at) });
        self.1.extend(leg);
    }

    fn goes(&mut self, _: Slot) {}
}

impl Plan {
    /// Returns the waves of a run in order. They follow from the plan alone. So a reader of the
    /// number of completed steps knows the current operation.
    #[must_use]
    pub fn course(&self) -> Vec<Leg> {
        let mut legs = Legs(self, vec![]);
        self.steps.walk(&mut legs);
        legs.1
    }
}
