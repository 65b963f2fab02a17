//! The course of a run beforehand: the operations that are under way when so many steps are done.

use crate::{
    Plan,
    plan::{Prim, Slot},
};
use hushwire_compute::Value;

/// A wave of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Leg {
    /// Steps that are done when it begins, as [`run`](crate::run) tells them.
    pub done: usize,
    /// The node of the computation on which most of it goes.
    pub node: Value,
}

impl Plan {
    /// The waves of a run in turn. They follow from the plan alone, so that who hears how many steps are done knows which operation is under
    /// way.
    #[must_use]
    pub fn course(&self) -> Vec<Leg> {
        let mut ran: Vec<bool> = self.steps.iter().map(|step| matches!(step.prim, Prim::Input)).collect();
        let (sizes, mut legs) = (self.sizes(), vec![]);
        let is_ready =
            |ran: &[bool], at: Slot| !ran[at] && self.steps[at].reads.iter().all(|slot| ran[*slot]);
        loop {
            for at in 0..self.steps.len() {
                ran[at] |= !self.steps[at].talks() && is_ready(&ran, at);
            }
            let wave: Vec<Slot> = (0..self.steps.len()).filter(|at| is_ready(&ran, *at)).collect();
            let weight = |at: &&Slot| {
                let step = &self.steps[**at];
                let rows = step.reads.iter().map(|slot| sizes[*slot].rows()).max().unwrap_or(0) as u64;
                let each = match &step.prim {
                    // About as many comparisons of a row.
                    Prim::Sort { .. } => 20 * step.reads.iter().map(|slot| sizes[*slot].width()).sum::<u64>(),
                    // An encryption.
                    Prim::Meet { .. } => 5000,
                    Prim::Block(program) | Prim::Flat(program, _) => program.ands(),
                    _ => sizes[**at].width(),
                };
                rows.saturating_mul(each.max(1))
            };
            let Some(heaviest) = wave.iter().max_by_key(weight) else { return legs };
            let done = ran.iter().filter(|ran| **ran).count();
            legs.push(Leg { done, node: Value(self.steps[*heaviest].node as u32) });
            wave.iter().for_each(|at| ran[*at] = true);
        }
    }
}
