//! At party 0: jobs that some parties may not have yet, and the calls of the parties that have
//! them.

use hushwire_fault::Fault;
use serde::{Deserialize, Serialize};
use std::{
    collections::{BTreeMap, HashMap},
    time::{Duration, Instant},
};

/// LOCAL: how long party 0 waits before it asks again about a job that the others lack.
const ASK_OTHERS: Duration = Duration::from_millis(200);
/// LOCAL: how long a party's call about a job counts. Each party decides again when it reserves.
const RECENT: Duration = Duration::from_secs(2);
/// LOCAL: the number of remembered jobs at which old ones are forgotten.
const MOST: usize = 1024;
/// LOCAL: the most calls of one party that are remembered about jobs that party 0 does not have.
const MOST_UNKNOWN: usize = 256;

/// The status of a job at one party, for the others.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Status {
    /// Its state; `None` if the party does not have the job.
    pub(crate) state: Option<String>,
    /// The hash of its body.
    pub(crate) body_hash: Option<String>,
    /// Why this party does not take part, or why the job ended.
    pub(crate) cause: Option<Fault>,
}

/// The jobs on their way, by name.
#[derive(Default)]
pub(crate) struct Calls(HashMap<String, OnItsWay>);

/// A job that may not be at all parties yet.
#[derive(Default)]
struct OnItsWay {
    /// When the others are asked about it, if they do not call before; `None` while they are being
    /// asked.
    again: Option<Instant>,
    /// The parties that have called, the status that each gave, and when.
    called: BTreeMap<u8, (Status, Instant)>,
    /// Whether party 0 has the job.
    known: bool,
}

impl Calls {
    fn of(&mut self, job: &str) -> &mut OnItsWay {
        self.0.entry(job.to_owned()).or_default()
    }

    /// Keeps the call of party `from` about a job; `known` says whether party 0 has the job. A
    /// party that calls about too many unknown jobs pushes out only its own calls. Returns whether
    /// the job waits for calls of more of the `others`: it is tried once the last one has called.
    pub(crate) fn take(&mut self, job: &str, from: u8, status: Status, known: bool, others: usize) -> bool {
        let all = &mut self.0;
        if all.len() >= MOST {
            let recent = |way: &OnItsWay| way.called.values().any(|(_, at)| at.elapsed() < RECENT);
            all.retain(|_, way| way.again.is_some() || recent(way));
        }
        let waited = all.contains_key(job);
        if !known && !waited {
            let unknown = all.iter().filter(|(_, way)| !way.known);
            let own = unknown.filter_map(|(job, way)| Some((way.called.get(&from)?.1, job)));
            let own: Vec<_> = own.collect();
            let oldest = own.iter().min().filter(|_| own.len() >= MOST_UNKNOWN);
            if let Some(oldest) = oldest.map(|(_, job)| (*job).clone())
                && let Some(way) = all.get_mut(&oldest)
            {
                way.called.remove(&from);
                if way.called.is_empty() {
                    all.remove(&oldest);
                }
            }
        }
        let way = self.of(job);
        way.known |= known;
        way.called.insert(from, (status, Instant::now()));
        let all_called = way.called.len() == others;
        if all_called {
            way.again = None;
        }
        waited && !all_called
    }

    /// Takes the statuses that the others gave of a job in recent calls.
    pub(crate) fn recent(&mut self, job: &str) -> BTreeMap<u8, Status> {
        let called = self.0.get_mut(job).map(|way| std::mem::take(&mut way.called)).unwrap_or_default();
        let recent = called.into_iter().filter(|(_, (_, at))| at.elapsed() < RECENT);
        recent.map(|(party, (status, _))| (party, status)).collect()
    }

    /// Notes that the others are being asked whether they have a new job.
    pub(crate) fn ask(&mut self, job: &str) {
        let way = self.of(job);
        (way.again, way.known) = (None, true);
    }

    /// Some of the `others` lack a job: they are asked again in a moment, or the job is tried when
    /// the last one calls. The parties in `have` have the job.
    pub(crate) fn lack(&mut self, job: &str, have: BTreeMap<u8, Status>, others: usize) {
        let (now, way) = (Instant::now(), self.of(job));
        way.known = true;
        for (party, status) in have {
            way.called.entry(party).or_insert((status, now));
        }
        // The last party may have called meanwhile.
        let all_called = way.called.len() == others;
        way.again = (!all_called).then(|| now + ASK_OTHERS);
    }

    /// Stops waiting for a job.
    pub(crate) fn end(&mut self, job: &str) {
        self.0.remove(job);
    }

    /// Whether a job waits until the others are asked again.
    pub(crate) fn waits(&self, job: &str) -> bool {
        let again = self.0.get(job).and_then(|way| way.again);
        again.is_some_and(|again| Instant::now() < again)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A party that deviates could otherwise fill party 0's memory with calls about jobs that
    /// nobody has submitted.
    #[test]
    fn calls_about_unknown_jobs_are_bounded_for_each_party() {
        let mut all = Calls::default();
        let take = |all: &mut Calls, job: &str, from, known| all.take(job, from, Status::default(), known, 2);
        take(&mut all, "both", 1, false);
        take(&mut all, "both", 2, false);
        take(&mut all, "known", 1, true);
        take(&mut all, "honest", 2, false);
        for n in 0..10 * MOST_UNKNOWN {
            take(&mut all, &format!("made up {n}"), 1, false);
        }
        let by = |party: u8| all.0.values().filter(|way| way.called.contains_key(&party)).count();
        assert_eq!((by(1), by(2)), (MOST_UNKNOWN + 1, 2), "of party 1: the known job, too");
        assert!(all.0["known"].called.contains_key(&1) && all.0["honest"].called.contains_key(&2));
        let newest = format!("made up {}", 10 * MOST_UNKNOWN - 1);
        assert!(all.0.contains_key(&newest) && !all.0["both"].called.contains_key(&1));
    }
}
