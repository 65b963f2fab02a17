//! Events of a session, for the program that waits for it.

use core::fmt;
use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use crate::{PartyId, Validity, printable};

/// LOCAL: when a wait is reported first, and the longest time between two reports of it. Each takes twice as long as the one
/// before: who waits for hours has not a screen full of it.
const REPORT: (Duration, Duration) = (Duration::from_secs(3), Duration::from_secs(300));

/// The times at which a wait is reported.
pub(crate) struct Notices {
    /// The time since which somebody waits, as it was last asked.
    since: Option<Instant>,
    last: Option<Instant>,
    /// From the last report of this wait to the next.
    gap: Duration,
    /// The members that were missing, as it was last asked.
    missing: Vec<PartyId>,
}

impl Notices {
    pub(crate) const fn new() -> Self {
        Self { since: None, last: None, gap: REPORT.0, missing: Vec::new() }
    }

    /// As [`Notices::due`], of a wait for all of `missing`: others than before are something new to say.
    pub(crate) fn due_for(&mut self, now: Instant, since: Instant, missing: &[PartyId]) -> bool {
        if self.missing != missing {
            self.gap = REPORT.0;
            self.missing.clear();
            self.missing.extend_from_slice(missing);
        }
        self.due(now, since)
    }

    /// Whether to report at `now` a wait that began at `since`. Another wait than before is reported as a first one, but no two
    /// reports come sooner than a first one does.
    pub(crate) fn due(&mut self, now: Instant, since: Instant) -> bool {
        if self.since != Some(since) {
            (self.since, self.gap) = (Some(since), REPORT.0);
        }
        let from = self.last.map_or(since, |last| last.max(since));
        let due = now.saturating_duration_since(from) >= self.gap;
        if due {
            (self.last, self.gap) = (Some(now), REPORT.1.min(2 * self.gap));
        }
        due
    }
}

/// Hears [`Event`]s, from threads of the session; it should return soon.
pub type Observer = Arc<dyn Fn(&Event) + Send + Sync>;

/// Something a person may want to know; none of it ends the session. Reads as one line.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Event {
    /// [`crate::connect_observed`] still waits; said after a few seconds, then more and more seldom.
    Joining {
        /// The members that are not yet there.
        missing: Vec<PartyId>,
        /// The time of the wait so far.
        waited: Duration,
        /// The last failure of a connection, where there was one.
        last: Option<String>,
    },
    /// A channel waits for a peer; said after a few seconds, then more and more seldom.
    Waiting {
        /// The peer that is awaited.
        peer: PartyId,
        /// In which step of ours.
        step: String,
        /// The time since which no byte has moved.
        waited: Duration,
        /// The time for which nothing was heard of the peer, where it missed its heartbeats: it may have been stopped.
        silent: Option<Duration>,
        /// The party that this peer awaits in turn, and the step, as it says itself.
        behind: Option<(PartyId, String)>,
    },
    /// How far a party is, as it says itself: a client hears it about once a second while parties compute.
    Comes {
        /// The party.
        peer: PartyId,
        /// Steps that are done.
        done: u64,
        /// All steps.
        of: u64,
    },
    /// A certificate ends soon; said once, when the session begins.
    Expiring {
        /// The holder of the certificate: this party or a peer.
        party: PartyId,
        /// The dates between which it holds.
        validity: Validity,
    },
}

impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Joining { missing, waited, last } => {
                f.write_str("still waiting for ")?;
                for (i, party) in missing.iter().enumerate() {
                    write!(f, "{}{party}", if i == 0 { "" } else { ", " })?;
                }
                write!(f, " to join, for {} s", waited.as_secs())?;
                last.as_ref().map_or(Ok(()), |last| write!(f, "; last: {}", printable(last)))
            }
            Self::Waiting { peer, step, waited, silent, behind } => {
                write!(f, "still waiting for {peer} during {step}, for {} s; ", waited.as_secs())?;
                match (silent, behind) {
                    (Some(silent), _) => write!(f, "nothing was heard of it for {} s", silent.as_secs()),
                    (None, Some((other, step))) => {
                        write!(f, "it is alive and waits for {other} during {step}")
                    }
                    (None, None) => f.write_str("it is alive"),
                }
            }
            Self::Comes { peer, done, of } => write!(f, "{peer} has done {done} of {of} steps"),
            Self::Expiring { party, validity } => write!(
                f,
                "the certificate of {party} ends soon, it holds {validity}; run `hushwire keys rotate` there and give \
                 the others the new pin"
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reports_of_a_wait_become_rare() {
        let start = Instant::now();
        let second = |s: u64| start + Duration::from_secs(s);
        let mut notices = Notices::new();
        let said: Vec<u64> = (0..1500).filter(|s| notices.due(second(*s), start)).collect();
        assert_eq!(said, [3, 9, 21, 45, 93, 189, 381, 681, 981, 1281]);
        // Another wait begins: soon again, and no sooner than after a first report.
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
        assert!(
            !notices.due_for(second(1531), newer, &missing) && notices.due_for(second(1532), newer, &missing)
        );
        assert!(
            !notices.due_for(second(1535), newer, &missing) && notices.due_for(second(1538), newer, &missing)
        );
    }
}
