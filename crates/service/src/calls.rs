//! At party 0: jobs that some parties may not have yet, and the calls of those that have them.

use hushwire_fault::Fault;
use serde::{Deserialize, Serialize};
use std::{
    collections::{BTreeMap, HashMap},
    time::{Duration, Instant},
};

/// LOCAL: how soon party 0 asks again for a job that is on its way to the others.
const ASK_OTHERS: Duration = Duration::from_millis(200);
/// LOCAL: how long party 0 believes a party's call about a job. Each party decides when it
/// reserves.
const RECENT: Duration = Duration::from_secs(2);
/// LOCAL: jobs that are remembered before old ones are forgotten.
const MOST: usize = 1024;
/// LOCAL: calls of one party about jobs that party 0 does not know that are remembered.
const MOST_UNKNOWN: usize = 256;

/// How a party sees a job, for another.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Status {
    /// Its state; none where it is not known.
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
    /// When the others are asked about it, if they do not call before; none while they are asked.
    again: Option<Instant>,
    /// The parties that have called, with what they answer about the job, and when.
    called: BTreeMap<u8, (Status, Instant)>,
    /// Whether party 0 has it.
    known: bool,
}

impl Calls {
    fn of(&mut self, job: &str) -> &mut OnItsWay {
        self.0.entry(job.to_owned()).or_default()
    }

    /// Keeps a party's call about a job, which party 0 has or has not. A party that calls about
    /// many jobs that party 0 does not have pushes out its own calls alone. Whether more of the
    /// `others` may call: the job is tried once the last one has.
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

    /// The reports of the others on a job when it came to them, if that was a moment ago.
    pub(crate) fn recent(&mut self, job: &str) -> BTreeMap<u8, Status> {
        let called = self.0.get_mut(job).map(|way| std::mem::take(&mut way.called)).unwrap_or_default();
        let recent = called.into_iter().filter(|(_, (_, at))| at.elapsed() < RECENT);
        recent.map(|(party, (status, _))| (party, status)).collect()
    }

    /// The others are asked whether they have a new job.
    pub(crate) fn ask(&mut self, job: &str) {
        let way = self.of(job);
        (way.again, way.known) = (None, true);
    }

    /// Some of the `others` lack a job: they are asked again in a moment, or when one of them
    /// calls. The parties in `have` have it.
    pub(crate) fn lack(&mut self, job: &str, have: BTreeMap<u8, Status>, others: usize) {
        let (now, way) = (Instant::now(), self.of(job));
        way.known = true;
        for (party, status) in have {
            way.called.entry(party).or_insert((status, now));
        }
        // The last one may have called meanwhile.
        let all_called = way.called.len() == others;
        way.again = (!all_called).then(|| now + ASK_OTHERS);
    }

    /// A job is not waited for any more.
    pub(crate) fn end(&mut self, job: &str) {
        self.0.remove(job);
    }

    /// Whether the others lacked a job a moment ago.
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
