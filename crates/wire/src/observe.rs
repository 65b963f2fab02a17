//! The events of a session, for the program that waits for it.
//!
//! An [`Observer`] is called with each [`Event`]. Waits are reported soon at first, and then at
//! growing intervals.

use core::fmt;
use std::{
    collections::BTreeSet,
    sync::Arc,
    time::{Duration, Instant},
};

use hushwire_fault::Text;
use hushwire_machine::PartyId;

use crate::{Validity, sight::Sort};

/// LOCAL: the longest time between two reports of a wait. Each interval is twice the previous one,
/// so that a wait of hours does not fill the screen.
const RARELY: Duration = Duration::from_secs(300);

/// The times at which a wait is reported.
pub(crate) struct Notices {
    /// The start of the wait that was last asked about.
    since: Option<Instant>,
    last: Option<Instant>,
    /// The time from the start of a wait to its first report, and the shortest time between two
    /// reports.
    first: Duration,
    /// The time from the last report of this wait to the next.
    gap: Duration,
    /// The missing members that were last asked about.
    missing: Vec<PartyId>,
    /// The kinds of failure that are known of them so far.
    known: BTreeSet<(PartyId, Sort)>,
}

impl Notices {
    pub(crate) fn new(first: Duration) -> Self {
        let (missing, known) = (Vec::new(), BTreeSet::new());
        Self { since: None, last: None, first, gap: first, missing, known }
    }

    /// As [`Notices::due`], for a wait for all of `missing`. A change of members is reported soon,
    /// and so is a new kind of failure.
    pub(crate) fn due_for(
        &mut self,
        now: Instant,
        since: Instant,
        missing: &[PartyId],
        seen: impl Iterator<Item = (PartyId, Sort)>,
    ) -> bool {
        if self.missing != missing {
            self.gap = self.first;
            self.missing.clear();
            self.missing.extend_from_slice(missing);
        }
        let before = self.known.len();
        self.known.extend(seen);
        if self.known.len() > before {
            self.gap = self.first;
        }
        self.due(now, since)
    }

    /// Whether to report at `now` a wait that began at `since`. A new wait is reported like a first
    /// one, but the time between reports is never shorter than that before a first report.
    pub(crate) fn due(&mut self, now: Instant, since: Instant) -> bool {
        if self.since != Some(since) {
            (self.since, self.gap) = (Some(since), self.first);
        }
        let from = self.last.map_or(since, |last| last.max(since));
        let due = now.saturating_duration_since(from) >= self.gap;
        if due {
            (self.last, self.gap) = (Some(now), RARELY.min(2 * self.gap));
        }
        due
    }
}

/// A callback for [`Event`]s, which threads of the session call. It should return soon.
pub type Observer = Arc<dyn Fn(&Event) + Send + Sync>;

/// An event that does not end the session, for people. Its text is one line.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Event {
    /// [`crate::connect_observed`] still waits. Reported within two seconds, then when something
    /// changes, and at growing intervals.
    Joining {
        /// The missing members.
        missing: Vec<PartyId>,
        /// The time waited so far.
        waited: Duration,
        /// The last failure of a connection, if there was one.
        last: Option<Text>,
    },
    /// A channel waits for a peer. Reported when no byte has moved on any link for ten seconds,
    /// then at growing intervals.
    Waiting {
        /// The awaited peer.
        peer: PartyId,
        /// This party's step.
        step: String,
        /// The time since which no byte has moved.
        waited: Duration,
        /// The time for which the peer has been silent, if it missed its heartbeats. It may have
        /// been stopped.
        silent: Option<Duration>,
        /// The party that the peer awaits in turn, and its step, according to the peer.
        behind: Option<(PartyId, String)>,
    },
    /// A party's progress, according to the party. Clients are told about once a second while
    /// parties compute.
    Comes {
        /// The party.
        peer: PartyId,
        /// The number of finished steps.
        done: u64,
        /// The number of all steps.
        of: u64,
    },
    /// A certificate expires soon. Reported once, when the session begins.
    Expiring {
        /// The holder of the certificate: this party or a peer.
        party: PartyId,
        /// The certificate's dates.
        validity: Validity,
    },
}

impl Event {
    /// The event as one line.
    #[must_use]
    pub fn text(&self) -> Text {
        let waiting = Text::new().words("still waiting for ");
        match self {
            Self::Joining { missing, waited, last } => {
                let all = missing
                    .iter()
                    .enumerate()
                    .fold(waiting, |text, (i, party)| text.words(if i == 0 { "" } else { ", " }).who(*party));
                let text = all.words(format_args!(" to join, for {} s", waited.as_secs()));
                last.iter().fold(text, |text, last| text.words("; last: ").text(last.clone()))
            }
            Self::Waiting { peer, step, waited, silent, behind } => {
                let text = waiting.who(*peer);
                let text = text.words(format_args!(" during {step}, for {} s; ", waited.as_secs()));
                match (silent, behind) {
                    (Some(silent), _) => {
                        text.words(format_args!("nothing was heard of it for {} s", silent.as_secs()))
                    }
                    (None, Some((other, step))) => text
                        .words("it is alive and waits for ")
                        .who(*other)
                        .words(format_args!(" during {step}")),
                    (None, None) => text.words("it is alive"),
                }
            }
            Self::Comes { peer, done, of } => {
                Text::new().who(*peer).words(format_args!(" has done {done} of {of} steps"))
            }
            Self::Expiring { party, validity } => {
                let text = Text::new().words("the certificate of ").who(*party);
                text.words(format_args!(
                    " ends soon, it holds {validity}; run `hushwire keys rotate` there and give the others the new pin"
                ))
            }
        }
    }
}

impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text().written())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reports_of_a_wait_become_rare() {
        let start = Instant::now();
        let second = |s: u64| start + Duration::from_secs(s);
        let mut notices = Notices::new(Duration::from_secs(3));
        let said: Vec<u64> = (0..1500).filter(|s| notices.due(second(*s), start)).collect();
        assert_eq!(said, [3, 9, 21, 45, 93, 189, 381, 681, 981, 1281]);
        // A new wait begins. Its first report comes soon, but no sooner than a first report.
        let other = second(1499);
        let said: Vec<u64> = (1500..1520).filter(|s| notices.due(second(*s), other)).collect();
        assert_eq!(said, [1502, 1508]);
        let older = second(1400);
        let said: Vec<u64> = (1520..1530).filter(|s| notices.due(second(*s), older)).collect();
        assert_eq!(said, [1520, 1526]);
        let newer = second(1500);
        assert!(
            !notices.due(second(1527), newer) && notices.due(second(1529), newer),
            "not at once after another"
        );
        let missing = [PartyId(2)];
        let mut due = |at: u64, sort: Option<Sort>| {
            notices.due_for(second(at), newer, &missing, sort.map(|sort| (PartyId(2), sort)).into_iter())
        };
        assert!(!due(1531, None) && due(1532, None));
        assert!(!due(1535, None) && due(1538, None));
        // A new kind of failure is reported soon, and once.
        assert!(!due(1540, Some(Sort::Stranger)) && due(1541, Some(Sort::Stranger)));
        assert!(!due(1544, Some(Sort::Stranger)) && due(1547, Some(Sort::Stranger)));
    }
}
