//! The ends of a pipeline: no more work, an error of a step, an error of the network.

mod common;

use std::{cell::Cell, rc::Rc};

use common::{Over, STALL, each, ok, ring};
use hushwire_wire::{
    NetError,
    drive::{Exchanged, Executor, Lane, Work, pipeline},
};

const LAYERS: usize = 5;

/// Counts the steps of all runs.
struct Steps(Rc<Cell<usize>>);

impl Executor for Steps {
    fn layers(&self) -> usize {
        LAYERS
    }
    fn message_bytes(&self, _layer: usize) -> usize {
        8
    }
    fn step_name(&self, _layer: usize) -> &'static str {
        "a step"
    }
    fn local(&mut self, _layer: usize, _arrived: Exchanged<'_>, message: &mut [u8]) {
        message.fill(1);
        self.0.set(self.0.get() + 1);
    }
    fn finish(&mut self, _arrived: Exchanged<'_>) {
        self.0.set(self.0.get() + 1);
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

/// Work that breaks at one of its steps.
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
        Ok(more.then(|| Steps(self.steps.clone())))
    }

    fn done(&mut self, _: Steps) -> Result<(), Ended> {
        self.done += 1;
        Ok(())
    }

    fn check(&mut self) -> Result<(), Ended> {
        if self.steps.get() >= self.breaks_at { Err(Ended::Broken) } else { Ok(()) }
    }
}

/// How each of three parties ends, the first of which breaks at a step; with its steps and finished runs.
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
fn a_check_that_fails_ends_it_at_that_step() {
    for breaks_at in [1, 2, 3, 7] {
        let ended = run(breaks_at);
        let (result, steps, _) = &ended[0];
        assert!(matches!(result, Err(Ended::Broken)), "{result:?}");
        assert_eq!(*steps, breaks_at, "no step after it");
        assert!(ended[1..].iter().all(|(result, ..)| matches!(result, Err(Ended::Net))), "{ended:?}");
    }
    let all: Vec<_> =
        run(usize::MAX).into_iter().map(|(result, steps, done)| (result.is_ok(), steps, done)).collect();
    assert_eq!(all, [(true, 3 * (LAYERS + 1), 3); 3]);
}
