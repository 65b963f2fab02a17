//! What a session tells the program while it waits.

use core::fmt;
use std::{sync::Arc, time::Duration};

use crate::{PartyId, Validity, printable};

/// LOCAL: how often a wait is reported.
pub(crate) const REPORT: Duration = Duration::from_secs(3);

/// Hears [`Event`]s, from threads of the session; it should return soon.
pub type Observer = Arc<dyn Fn(&Event) + Send + Sync>;

/// Something a person may want to know; none of it ends the session. Reads as one line.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Event {
    /// [`crate::connect_observed`] still waits; said every few seconds.
    Joining {
        /// Who is not yet there.
        missing: Vec<PartyId>,
        /// Since when.
        waited: Duration,
        /// What last went wrong with a connection, where something did.
        last: Option<String>,
    },
    /// A channel waits for a peer that is alive; said every few seconds.
    Waiting {
        /// For whom.
        peer: PartyId,
        /// In which step of ours.
        step: String,
        /// Since when no byte has moved.
        waited: Duration,
        /// For whom that peer waits in turn, and in which step, as it says itself.
        behind: Option<(PartyId, String)>,
    },
    /// A certificate ends soon; said once, when the session begins.
    Expiring {
        /// Whose: this party's or a peer's.
        party: PartyId,
        /// From when to when it holds.
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
            Self::Waiting { peer, step, waited, behind } => {
                write!(f, "still waiting for {peer} during {step}, for {} s; it is alive", waited.as_secs())?;
                match behind {
                    Some((other, step)) => write!(f, " and waits for {other} during {step}"),
                    None => Ok(()),
                }
            }
            Self::Expiring { party, validity } => write!(
                f,
                "the certificate of {party} ends soon, it holds {validity}; run `hushwire keys rotate` there and give \
                 the others the new pin"
            ),
        }
    }
}
