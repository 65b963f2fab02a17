//! The ready steps of a run, updated as values arrive. To look at every step for each wave would
//! take longer than the waves of long plans.

use crate::size::Slot;
use std::collections::BTreeSet;

/// The steps that have run, and those that are ready.
#[derive(Clone)]
pub(crate) struct ReadySteps {
    /// The steps that read each value. A step is listed as often as it reads the value.
    readers: Vec<Vec<Slot>>,
    /// The number of missing operands of each step.
    missing: Vec<usize>,
    talks: Vec<bool>,
    /// The ready steps: those without messages, and those with messages.
    ready: [BTreeSet<Slot>; 2],
    done: usize,
}

impl ReadySteps {
    /// Starts without any step done. `steps` has each step's operands, and whether it has messages.
    pub(crate) fn new<'s>(steps: impl Iterator<Item = (&'s [Slot], bool)>) -> Self {
        let (reads, talks): (Vec<&[Slot]>, Vec<bool>) = steps.unzip();
        let mut readers = vec![vec![]; reads.len()];
        for (at, reads) in reads.iter().enumerate() {
            reads.iter().for_each(|slot| readers[*slot].push(at));
        }
        let missing = reads.iter().map(|reads| reads.len()).collect();
        let mut all = ReadySteps { readers, missing, talks, ready: Default::default(), done: 0 };
        (0..reads.len()).for_each(|at| all.add_if_ready(at));
        all
    }

    fn add_if_ready(&mut self, at: Slot) {
        if self.missing[at] == 0 {
            self.ready[usize::from(self.talks[at])].insert(at);
        }
    }

    /// The number of steps that have run.
    pub(crate) fn done(&self) -> usize {
        self.done
    }

    /// The first ready step without messages for which `runs` has a result.
    pub(crate) fn local<T>(&self, runs: impl Fn(Slot) -> Option<T>) -> Option<T> {
        self.ready[0].iter().find_map(|at| runs(*at))
    }

    /// All ready steps with messages, in order.
    pub(crate) fn talking(&self) -> Vec<Slot> {
        self.ready[1].iter().copied().collect()
    }

    /// Records that a ready step has run.
    pub(crate) fn ran(&mut self, at: Slot) {
        self.ready[usize::from(self.talks[at])].remove(&at);
        self.done += 1;
        for reader in std::mem::take(&mut self.readers[at]) {
            self.missing[reader] -= 1;
            self.add_if_ready(reader);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Step 2 reads step 0 twice and step 1; step 3, which has messages, reads step 2.
    #[test]
    fn a_step_is_ready_once_all_that_it_reads_has_run() {
        let reads: [(&[Slot], bool); 4] = [(&[], false), (&[], false), (&[0, 0, 1], false), (&[2], true)];
        let mut steps = ReadySteps::new(reads.into_iter());
        assert_eq!(steps.local(|at| (at > 0).then_some(at)), Some(1), "the first that runs");
        for (ran, local, talking) in [(0, Some(1), vec![]), (1, Some(2), vec![]), (2, None, vec![3])] {
            steps.ran(ran);
            assert_eq!((steps.local(Some), steps.talking()), (local, talking), "after step {ran}");
        }
        steps.ran(3);
        assert_eq!((steps.done(), steps.talking()), (4, vec![]));
    }
}
