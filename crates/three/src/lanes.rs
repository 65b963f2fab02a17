//! Runs the groups of a wave on lanes: on each lane one after the other, with several lanes of a
//! thread in flight. The calling thread drives the first lanes, and asks between its rounds whether
//! to go on. If one thread fails, the others end at their next round.

use crate::{Cut, ThreeError, prim::Three};
use hushwire_block::registry;
use hushwire_machine::{Channel, drive::Lane};
use hushwire_plan::land;
use std::{
    borrow::BorrowMut,
    sync::atomic::{AtomicBool, Ordering},
    thread,
};

type Group<'p> = hushwire_plan::Group<'p, Three>;
type Flight<'p> = hushwire_plan::Flight<'p, Three>;

/// Whether a thread of a wave has failed. The others then end at their next round.
#[derive(Default)]
pub(crate) struct Stop(AtomicBool);

pub(crate) struct Lanes<'p, C> {
    cut: Cut,
    lanes: Vec<Lane<Flight<'p>, C>>,
}

impl<'p, C: BorrowMut<Channel> + Send> Lanes<'p, C> {
    pub(crate) fn new(cut: Cut, lanes: Vec<[C; 2]>) -> Self {
        assert_eq!(lanes.len(), cut.lanes(), "as many lanes as the cut has");
        Lanes { cut, lanes: lanes.into_iter().map(|lane| Lane::over(lane.into())).collect() }
    }

    /// Runs all groups of a wave. `go_on` is called between this thread's rounds.
    pub(crate) fn run(
        &mut self,
        groups: Vec<Group<'p>>,
        stop: &Stop,
        go_on: &mut dyn FnMut() -> bool,
    ) -> Result<(), ThreeError> {
        let mut queues: Vec<Vec<Group<'p>>> = self.lanes.iter().map(|_| vec![]).collect();
        for (i, group) in groups.into_iter().enumerate().filter(|(_, group)| !group.is_empty()) {
            queues[self.cut.lane(i)].push(group);
        }
        let each = self.cut.lanes_of_thread();
        let mut parts: Vec<_> = self.lanes.chunks_mut(each).collect();
        let mut queues: Vec<Vec<_>> = {
            let mut queues = queues.into_iter();
            parts.iter().map(|lanes| queues.by_ref().take(lanes.len()).collect()).collect()
        };
        // The work of a single thread runs on this one.
        let (first, own) = (parts.remove(0), queues.remove(0));
        let here = &registry::here();
        thread::scope(|scope| {
            let others: Vec<_> = parts
                .into_iter()
                .zip(queues)
                .filter(|(_, queues)| queues.iter().any(|queue| !queue.is_empty()))
                .map(|(lanes, queues)| {
                    scope.spawn(move || {
                        let _here = here.enter();
                        on_thread(lanes, queues, stop, &mut || true)
                    })
                })
                .collect();
            let mut results = vec![on_thread(first, own, stop, go_on)];
            for other in others {
                results.push(other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
            }
            // A thread that another one stopped has no error of its own.
            results.into_iter().collect::<Result<Vec<()>, _>>().map(drop)
        })
    }
}

/// Keeps this thread's lanes in flight until their queues are empty or another thread has failed.
fn on_thread<'p, C: BorrowMut<Channel>>(
    lanes: &mut [Lane<Flight<'p>, C>],
    queues: Vec<Vec<Group<'p>>>,
    stop: &Stop,
    go_on: &mut dyn FnMut() -> bool,
) -> Result<(), ThreeError> {
    let ran = rounds(lanes, queues, stop, go_on);
    if ran.is_err() {
        stop.0.store(true, Ordering::SeqCst);
    }
    ran
}

fn rounds<'p, C: BorrowMut<Channel>>(
    lanes: &mut [Lane<Flight<'p>, C>],
    queues: Vec<Vec<Group<'p>>>,
    stop: &Stop,
    go_on: &mut dyn FnMut() -> bool,
) -> Result<(), ThreeError> {
    let mut queues: Vec<_> = queues.into_iter().map(Vec::into_iter).collect();
    let mut busy = true;
    for (lane, queue) in lanes.iter_mut().zip(&mut queues) {
        fill(lane, queue)?;
    }
    while std::mem::take(&mut busy) {
        for (lane, queue) in lanes.iter_mut().zip(&mut queues) {
            if !lane.is_busy() {
                continue;
            }
            if stop.0.load(Ordering::SeqCst) {
                return Ok(());
            }
            if !go_on() {
                return Err(ThreeError::Cancelled);
            }
            if let Some(flight) = lane.advance::<ThreeError>()? {
                land(flight)?;
                fill(lane, queue)?;
            }
            busy |= lane.is_busy();
        }
    }
    Ok(())
}

/// Begins the next group of a lane. Groups without a round end at once.
fn fill<'p, C: BorrowMut<Channel>>(
    lane: &mut Lane<Flight<'p>, C>,
    queue: &mut impl Iterator<Item = Group<'p>>,
) -> Result<(), ThreeError> {
    for group in queue {
        match lane.begin::<ThreeError>(group.begin()?)? {
            Some(flight) => land(flight)?,
            None => return Ok(()),
        }
    }
    Ok(())
}
