//! Observations of missing members by a joining party, for its reports and for its final error.

use std::{
    collections::BTreeMap,
    io::{self, ErrorKind},
    time::Instant,
};

use hushwire_fault::Text;
use hushwire_machine::{NetError, PartyId};

use crate::TransportKind;

/// The kind of reason why a member could not be reached. A change of kind causes a new report.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Sort {
    /// The host answers, but no process listens there.
    NoListener,
    /// No answer comes, or the name has no address.
    Unreached,
    /// A process accepts connections, but sends no hello.
    Mute,
    /// A process answers, but does not prove to be that member.
    Stranger,
    /// The member had joined, and its links have closed.
    Gone,
    /// A connection to this party was refused.
    Refused,
}

/// The last attempt to dial a member.
#[derive(Clone, Debug)]
pub(crate) struct Dialled {
    pub(crate) address: String,
    pub(crate) sort: Sort,
    /// The failure, as a clause.
    pub(crate) last: String,
}

/// The observations of members so far.
#[derive(Default)]
pub(crate) struct Sights {
    /// The last failed attempt at each member that was dialled.
    pub(crate) dialled: BTreeMap<PartyId, Dialled>,
    /// Errors of handshakes with a process that did not prove to be that member. Strangers may
    /// cause them, so they end nothing, but they are more informative than later errors.
    pub(crate) telling: BTreeMap<PartyId, NetError>,
    /// The members that had joined and are gone, with the time at which they went.
    pub(crate) gone: BTreeMap<PartyId, Instant>,
}

impl Sights {
    /// Forgets failures, since `peer` is connected.
    pub(crate) fn met(&mut self, peer: PartyId) {
        self.dialled.remove(&peer);
        self.telling.remove(&peer);
        self.gone.remove(&peer);
    }

    /// Whether there is an explanation of why `peer` is missing.
    pub(crate) fn explains(&self, peer: PartyId) -> bool {
        let dialled = self.dialled.get(&peer).is_some_and(|dialled| dialled.sort != Sort::Unreached);
        dialled || self.telling.contains_key(&peer) || self.gone.contains_key(&peer)
    }

    /// The observations of `peer`, as a clause that names it.
    pub(crate) fn of(&self, peer: PartyId) -> Option<Text> {
        let named = || Text::from(peer);
        let gone = self.gone.get(&peer).map(|at| {
            named().words(format_args!(": had joined, and its links closed {} s ago", at.elapsed().as_secs()))
        });
        let dialled = match (self.telling.get(&peer), self.dialled.get(&peer)) {
            (Some(e), _) => Some(e.fault().cause_text()),
            (None, Some(Dialled { address, last, .. })) => {
                Some(named().words(format_args!(" at {address}: {last}")))
            }
            (None, None) => None,
        };
        gone.into_iter().chain(dialled).reduce(|all, more| all.words("; ").text(more))
    }

    /// The kinds of failure that were observed of `peer`.
    pub(crate) fn sorts(&self, peer: PartyId) -> impl Iterator<Item = (PartyId, Sort)> {
        let dialled = self.dialled.get(&peer).map(|dialled| dialled.sort);
        let stranger = self.telling.contains_key(&peer).then_some(Sort::Stranger);
        let gone = self.gone.contains_key(&peer).then_some(Sort::Gone);
        [dialled, stranger, gone].into_iter().flatten().map(move |sort| (peer, sort))
    }
}

/// The kind of a failure to connect.
pub(crate) fn sort_of(e: &io::Error) -> Sort {
    match e.kind() {
        // A Unix socket without a listener has no file, or a file where no process answers.
        ErrorKind::ConnectionRefused | ErrorKind::NotFound => Sort::NoListener,
        _ => Sort::Unreached,
    }
}

/// Whether this error of dialling may be caused by a process other than `peer` that did not prove
/// an identity. Such an error ends nothing.
pub(crate) fn is_unproven(e: &NetError, peer: PartyId, transport: TransportKind) -> bool {
    match e {
        NetError::UnknownPeer { .. } | NetError::OtherUser { .. } => true,
        NetError::Tls { step, .. } => step == "handshake",
        NetError::Expired { peer: of, .. } => *of == Some(peer),
        NetError::Malformed { .. } => transport != TransportKind::TcpTls,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hushwire_machine::Presented;

    fn io(kind: ErrorKind) -> io::Error {
        kind.into()
    }

    #[test]
    fn what_was_seen_is_said_and_what_explains_nothing_does_not_count() {
        let (peer, mut sights) = (PartyId(1), Sights::default());
        assert!(sights.of(peer).is_none() && !sights.explains(peer));
        let mut dial = |kind| {
            let (sort, last) = (sort_of(&io(kind)), io(kind).to_string());
            sights.dialled.insert(peer, Dialled { address: "h:1".to_owned(), sort, last });
            (sights.explains(peer), sights.of(peer).unwrap_or_default().written())
        };
        assert_eq!(dial(ErrorKind::TimedOut), (false, "party 1 at h:1: timed out".to_owned()));
        assert_eq!(
            dial(ErrorKind::ConnectionRefused),
            (true, "party 1 at h:1: connection refused".to_owned())
        );
        let presented = Presented::Pin("sha256:ab".to_owned());
        let wrong = NetError::UnknownPeer { peer: Some(peer), step: "handshake".to_owned(), presented };
        assert!(is_unproven(&wrong, peer, TransportKind::TcpTls));
        sights.telling.insert(peer, wrong);
        // This error is more informative than the fact that no process listens now.
        let said = sights.of(peer).unwrap_or_default().written();
        assert!(said.contains("presents another key") && !said.contains("refused"), "{said}");
        assert_eq!(
            sights.sorts(peer).collect::<Vec<_>>(),
            [(peer, Sort::NoListener), (peer, Sort::Stranger)]
        );
        sights.met(peer);
        assert!(sights.of(peer).is_none());
    }

    /// Errors about this party's own certificate end a session, and so do errors of a peer that
    /// proved its identity.
    #[test]
    fn proven_errors_end_a_session() {
        let (me, one) = (PartyId(0), PartyId(1));
        let expired = |peer| NetError::Expired { peer: Some(peer), what: Text::new() };
        assert!(is_unproven(&expired(one), one, TransportKind::TcpTls));
        assert!(!is_unproven(&expired(me), one, TransportKind::TcpTls));
        let hello = || NetError::Malformed { peer: Some(one), msg: "hello", what: String::new() };
        assert!(!is_unproven(&hello(), one, TransportKind::TcpTls));
        assert!(is_unproven(&hello(), one, TransportKind::Unix));
    }
}
