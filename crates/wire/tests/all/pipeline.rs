//! The ends of a pipeline: no more work, an error of a step, an error of the network.

use std::{cell::Cell, rc::Rc};

use crate::common::{Over, STALL, each, ok, ring};
use hushwire_machine::{
    NetError,
    drive::{Exchanged, Lane, Machine, Round, Work, pipeline},
};

const ROUNDS: usize = 5;

/// Counts the steps of all runs, and fails at one of them, as a device would.
struct Steps {
    steps: Rc<Cell<usize>>,
    breaks_at: usize,
    round: usize,
}

impl Steps {
    fn step(&self) -> Result<(), Ended> {
        self.steps.set(self.steps.get() + 1);
        if self.steps.get() >= self.breaks_at { Err(Ended::Broken) } else { Ok(()) }
    }

    fn at(round: usize) -> Option<Round> {
        (round < ROUNDS).then(|| Round::even("a step", 8))
    }
}

impl Machine for Steps {
    type Error = Ended;

    fn round(&self, _: usize) -> Option<Round> {
        Self::at(self.round)
    }
    fn write(&mut self, _: usize, out: &mut [u8]) -> Result<(), Ended> {
        out.fill(1);
        self.step()
    }
    fn upcoming(&self) -> Option<Round> {
        Self::at(self.round + 1)
    }
    fn turn(&mut self, _: &[Exchanged<'_>], out: &mut [u8]) -> Result<(), Ended> {
        self.round += 1;
        self.write(0, out)
    }
    fn read(&mut self, _: &[Exchanged<'_>]) -> Result<(), Ended> {
        self.round += 1;
        self.step()
    }
}

#[derive(Debug)]
enum Ended {
    Net,
    Broken,
}

impl From<NetError> for Ended {
    fn from(_: NetError) -> Self {
        Ended::Net
    }
}

struct Fragile {
    steps: Rc<Cell<usize>>,
    breaks_at: usize,
    left: usize,
    done: usize,
}

impl Work<Steps> for Fragile {
    type Error = Ended;

    fn next(&mut self) -> Result<Option<Steps>, Ended> {
        let more = self.left > 0;
        self.left = self.left.saturating_sub(1);
        Ok(more.then(|| Steps { steps: self.steps.clone(), breaks_at: self.breaks_at, round: 0 }))
    }

    fn done(&mut self, _: Steps) -> Result<(), Ended> {
        self.done += 1;
        Ok(())
    }
}

/// Runs three parties, of which the first fails at a step. Returns how each ended, with its numbers
/// of steps and finished runs.
fn run(breaks_at: usize) -> Vec<(Result<(), Ended>, usize, usize)> {
    each(Over::ALL[0].nets(3, 2, STALL, None), |mut net| {
        let (next, previous) = ring(net.me());
        let mut lanes: Vec<_> =
            (0..2).map(|lane| Lane::new(ok(net.channel(lane, Some(next), Some(previous))))).collect();
        let breaks_at = if net.me().0 == 0 { breaks_at } else { usize::MAX };
        let mut work = Fragile { steps: Rc::default(), breaks_at, left: 3, done: 0 };
        let ended = pipeline(&mut lanes, &mut work);
        (ended, work.steps.get(), work.done)
    })
}

#[test]
fn a_step_that_fails_ends_it_there() {
    for breaks_at in [1, 2, 3, 7] {
        let ended = run(breaks_at);
        let (result, steps, _) = &ended[0];
        assert!(matches!(result, Err(Ended::Broken)), "{result:?}");
        assert_eq!(*steps, breaks_at, "no step after it");
        assert!(ended[1..].iter().all(|(result, ..)| matches!(result, Err(Ended::Net))), "{ended:?}");
    }
    let all: Vec<_> =
        run(usize::MAX).into_iter().map(|(result, steps, done)| (result.is_ok(), steps, done)).collect();
    assert_eq!(all, [(true, 3 * (ROUNDS + 1), 3); 3]);
}
