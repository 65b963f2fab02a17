//! `hushwire psi answer`: answers queries to a list, several at the same time, under one common
//! budget.

use super::{
    link::{Link, LinkArgs, OprfSide, Prepared},
    secret::Secret,
};
use crate::{error::Error, log};
use clap::Args;
use hushwire::job::Fault;
use hushwire_machine::lock;
use hushwire_psi::oprf::{Budget, ListRefusal, ListTerms, answer};
use hushwire_wire::Listener;
use std::{
    path::PathBuf,
    sync::{Condvar, Mutex, PoisonError},
    thread,
    time::{Duration, Instant},
};

/// LOCAL: the default limit of keys in a query.
const AT_ONCE: u64 = 1000;
/// LOCAL: the default limit of keys that are answered in an hour.
const PER_HOUR: u64 = 10_000;
/// LOCAL: the time for which an owner waits after a failed query, so that a failure costs the asker
/// more than the owner.
const PAUSE: Duration = Duration::from_millis(200);
/// LOCAL: the most queries at the same time, one thread for each.
const TOGETHER: u64 = 16;

#[derive(Args)]
pub(super) struct AnswerArgs {
    /// The file of the secret key
    #[arg(long, value_name = "FILE")]
    secret: PathBuf,
    /// The address on which queries are waited for, HOST:PORT
    #[arg(long, value_name = "ADDRESS", value_parser = hushwire::job::address)]
    listen: String,
    #[command(flatten)]
    link: LinkArgs,
    /// The most keys of one query
    #[arg(long, value_name = "KEYS", default_value_t = AT_ONCE, value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    most: u64,
    /// The most keys that are answered in an hour
    #[arg(long, value_name = "KEYS", default_value_t = PER_HOUR)]
    per_hour: u64,
    /// End after this many queries [default: never]
    #[arg(long, value_name = "N")]
    queries: Option<u64>,
}

/// The number of keys that may still be answered. It is at most the limit of an hour, and grows at
/// a constant rate.
struct Hourly {
    left: f64,
    at: Instant,
    per_hour: f64,
}

impl Hourly {
    fn new(keys: u64) -> Self {
        let per_hour = keys as f64;
        Self { left: per_hour, at: Instant::now(), per_hour }
    }

    fn now(&mut self) -> u64 {
        let back = self.at.elapsed().as_secs_f64() * self.per_hour / 3600.0;
        (self.left, self.at) = ((self.left + back).min(self.per_hour), Instant::now());
        self.left as u64
    }
}

/// The budget that all queries share.
struct Shared(Mutex<Hourly>);

impl Budget for Shared {
    fn take(&self, count: u64) -> Result<(), u64> {
        let mut hourly = lock(&self.0);
        let left = hourly.now();
        if count > left {
            return Err(left);
        }
        hourly.left -= count as f64;
        Ok(())
    }

    fn give_back(&self, count: u64) {
        lock(&self.0).left += count as f64;
    }
}

/// The number of queries under way, and of those that were answered.
#[derive(Default)]
struct Count {
    running: u64,
    answered: u64,
}

/// Decides when a query may begin.
struct QueryGate {
    count: Mutex<Count>,
    moved: Condvar,
    /// The number of queries after which the owner ends.
    wanted: Option<u64>,
}

impl QueryGate {
    /// Waits until one more query may begin. Returns false if all wanted queries have been
    /// answered.
    fn enter(&self) -> bool {
        let mut count = lock(&self.count);
        loop {
            if self.wanted == Some(count.answered) {
                return false;
            }
            // A query under way may be the last. The owner must not wait for another asker then,
            // because none may come.
            let is_enough = self.wanted.is_some_and(|wanted| count.answered + count.running >= wanted);
            if !is_enough && count.running < TOGETHER {
                count.running += 1;
                return true;
            }
            count = self.moved.wait(count).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn leave(&self, is_answered: bool) {
        let mut count = lock(&self.count);
        count.running -= 1;
        count.answered += u64::from(is_answered);
        self.moved.notify_all();
    }
}

/// The permission of a query to run. Dropping it returns it, however the query ends.
struct Leave<'a> {
    gate: &'a QueryGate,
    is_answered: bool,
}

impl Leave<'_> {
    /// Marks the query as answered. It takes the whole permission, so that a closure that calls it
    /// captures the whole.
    fn answered(mut self) {
        self.is_answered = true;
    }
}

impl Drop for Leave<'_> {
    fn drop(&mut self) {
        self.gate.leave(self.is_answered);
    }
}

pub(super) fn run(args: &AnswerArgs) -> Result<(), Error> {
    let secret = Secret::read(&args.secret)?;
    let terms = ListTerms { public: secret.key.public(), forms: secret.forms.clone() };
    let listener = Listener::bind(&args.listen).map_err(|e| Fault::from(e).during("listening"))?;
    let link = args.link.prepare(OprfSide::Owner(listener), &terms)?;
    let budget = Shared(Mutex::new(Hourly::new(args.per_hour)));
    let gate = QueryGate { count: Mutex::default(), moved: Condvar::new(), wanted: args.queries };
    thread::scope(|scope| {
        while gate.enter() {
            let leave = Leave { gate: &gate, is_answered: false };
            let Some(open) = met(&link) else { continue };
            let (secret, budget) = (&secret, &budget);
            let work = move || match one(open, secret, args.most, budget) {
                Ok(told) => {
                    log::note!("{told}");
                    leave.answered();
                }
                Err(e) => {
                    log::failed(&e);
                    thread::sleep(PAUSE);
                }
            };
            // If the system has no thread for an asker, the asker tries again.
            if let Err(e) = thread::Builder::new().name("query".to_owned()).spawn_scoped(scope, work) {
                log::warn(format_args!("no thread could be started for a query: {e}"));
                thread::sleep(PAUSE);
            }
        }
    });
    Ok(())
}

/// Waits for the next asker; `None` if nobody came, or the two do not agree.
fn met(link: &Prepared) -> Option<Link<'_>> {
    match link.open() {
        Ok(open) => open,
        Err(e) => {
            log::failed(&e);
            thread::sleep(PAUSE);
            None
        }
    }
}

/// Answers one query.
fn one(mut open: Link<'_>, secret: &Secret, most: u64, budget: &impl Budget) -> Result<String, Error> {
    let answered = answer(&mut open.channel, &secret.key, most, budget).map_err(|e| open.failed(e))?;
    let told = match answered {
        Ok(count) => format!("answered {count} keys"),
        Err(ListRefusal::AtOnce(_)) => "refused a query: more keys than --most".to_owned(),
        Err(ListRefusal::ForNow(left)) => format!("refused a query: {left} keys are left of --per-hour"),
    };
    open.confirm()?;
    Ok(told)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn budgets_come_back_evenly() {
        let mut budget = Hourly { left: 10.0, at: Instant::now(), per_hour: 3600.0 };
        budget.left -= 10.0;
        assert_eq!(budget.now(), 0);
        budget.at -= Duration::from_secs(7);
        assert_eq!(budget.now(), 7);
        budget.at -= Duration::from_secs(36_000);
        assert_eq!(budget.now(), 3600);
    }

    #[test]
    fn a_budget_is_never_overdrawn_by_queries_at_the_same_time() {
        let budget = Shared(Mutex::new(Hourly::new(100)));
        let taken: u64 = thread::scope(|scope| {
            let all: Vec<_> = (0..8)
                .map(|_| {
                    scope.spawn(|| (0..30).map(|_| if budget.take(3).is_ok() { 3 } else { 0 }).sum::<u64>())
                })
                .collect();
            all.into_iter().map(|taken| taken.join().unwrap_or_else(|_| panic!("a thread"))).sum()
        });
        assert_eq!((taken, budget.take(3)), (99, Err(1)));
        budget.give_back(3);
        assert_eq!(budget.take(4), Ok(()));
    }

    /// The asker keeps the part of the answer that it has read. If this part cost nothing, it could
    /// try out keys at any rate.
    #[test]
    fn an_asker_that_goes_mid_answer_is_charged() {
        let key = hushwire_psi::oprf::ListKey::draw().unwrap_or_else(|e| panic!("{e}"));
        let ids = [0, 1].map(hushwire_machine::PartyId);
        // The channel holds only a part of the answer at a time, like a network.
        let mut nets = hushwire_machine::inproc::mesh_capped(&ids, 1, Duration::from_secs(60), 64);
        let [mut asker, mut owner] =
            [0, 1].map(|i: usize| nets[i].channel(0, Some(ids[1 - i]), Some(ids[1 - i])).expect("a lane"));
        let blinded = key.public().repeat(10);
        let asks = thread::spawn(move || {
            asker.send("items asked", &10u64.to_le_bytes()).expect("it goes");
            asker.recv("verdict", &mut [0; 9]).expect("it comes");
            asker.send("blinded items", &blinded).expect("it goes");
            asker.recv("evaluated items", &mut [0; 5 * 32]).expect("half of it comes");
        });
        let budget = Shared(Mutex::new(Hourly::new(12)));
        let answered = answer(&mut owner, &key, 100, &budget);
        asks.join().expect("it ends");
        assert!(answered.is_err(), "{answered:?}");
        assert_eq!(lock(&budget.0).now(), 2);
    }

    #[test]
    fn no_more_queries_begin_than_are_wanted() {
        let gate = QueryGate { count: Mutex::default(), moved: Condvar::new(), wanted: Some(2) };
        assert!(gate.enter() && gate.enter());
        // The third query waits until the first has failed, and then until the second has ended. It
        // ends after its own answer.
        thread::scope(|scope| {
            let third = scope.spawn(|| gate.enter());
            gate.leave(false);
            assert!(third.join().unwrap_or_else(|_| panic!("a thread")));
            let fourth = scope.spawn(|| gate.enter());
            gate.leave(true);
            gate.leave(true);
            assert!(!fourth.join().unwrap_or_else(|_| panic!("a thread")));
        });
    }
}
