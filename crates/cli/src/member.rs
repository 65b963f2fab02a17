//! A member of a local run: a process that receives its part on stdin, and runs as `party` and
//! `client` do.

use crate::{
    control::{Ended, FromMember, Ready, ToMember, orders, peak_memory, tell},
    error::Error,
};
use hushwire::LocalMember;
use hushwire::job::{Event, Fault, Observer, Outcome, Runs, Visitor};
use std::{
    process,
    sync::{Arc, Mutex, PoisonError, mpsc::Receiver},
    time::{Duration, Instant},
};

/// The hidden subcommand; its last argument names the member, for people who look at processes.
pub(crate) const COMMAND: &str = "__member";
/// LOCAL: the time between two reports of progress.
const REPORT: Duration = Duration::from_millis(100);

/// Runs the member to its end.
pub(crate) fn main() -> ! {
    let orders = orders();
    match member(&orders) {
        Ok(ended) => {
            tell(&FromMember::Done(Box::new(ended)));
            // The supervisor closes stdin, or sends a message to end.
            drop(orders.recv());
            process::exit(0)
        }
        Err(e) => {
            let code = Error::Job(e.clone()).code();
            tell(&FromMember::Failed(e));
            process::exit(code.into())
        }
    }
}

fn unexpected() -> Fault {
    Fault::internal("following the supervisor", "an order was missing or out of turn")
}

fn member(orders: &Receiver<ToMember>) -> Result<Ended, Fault> {
    let Ok(ToMember::Job(order)) = orders.recv() else { return Err(unexpected()) };
    let (job, own) = *order;
    let me = own.name().clone();
    let ended = job.visit(Joins { orders, own }).and_then(|ended| ended);
    ended.map_err(|e| e.by(&me))
}

/// Opens this member's files, meets the others, and runs its part.
struct Joins<'a> {
    orders: &'a Receiver<ToMember>,
    own: LocalMember,
}

impl Visitor for Joins<'_> {
    type Out = Result<Ended, Fault>;

    fn visit<K: Runs>(self, job: &K) -> Self::Out {
        let Self { orders, own } = self;
        let ended = || {
            let opened = own.start()?.observer(observer()).open(&job.task()?)?;
            tell(&FromMember::Ready(Ready { peer: opened.peer(), key_id: K::key_id(opened.part()) }));
            let Ok(ToMember::Meet(all)) = orders.recv() else { return Err(unexpected()) };
            let Outcome { learnt, stats } = opened.run(&all)?;
            let learnt = serde_json::to_value(learnt);
            let learnt = learnt.map_err(|e| Fault::internal("telling the supervisor", e))?;
            Ok(Ended { outcome: Outcome { learnt, stats }, peak_memory_bytes: peak_memory() })
        };
        ended().map_err(|e: Fault| e.with_names(&K::local_name))
    }
}

/// Passes on events for a person, progress only from time to time.
fn observer() -> Observer {
    let last = Mutex::new(None::<Instant>);
    Arc::new(move |event| match event {
        Event::Progress(done, of) => {
            let mut last = last.lock().unwrap_or_else(PoisonError::into_inner);
            if done == of || last.is_none_or(|at| at.elapsed() >= REPORT) {
                *last = Some(Instant::now());
                tell(&FromMember::Progress(done, of));
            }
        }
        Event::Connected => tell(&FromMember::Joined),
        Event::Note(note) => tell(&FromMember::Note(note)),
        _ => {}
    })
}

/// The arguments of a member's process: its number is its place among all members.
pub(crate) fn arguments(index: usize, member: &LocalMember) -> [String; 3] {
    let shard = member.shard().map_or_else(String::new, |shard| format!(".{shard}"));
    [COMMAND.to_owned(), index.to_string(), member.name().key() + &shard]
}
