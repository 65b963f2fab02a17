//! Errors between two parties. Every message names the party, the step, the cause and a remedy.
//!
//! The codes and texts are those of the table in `hushwire-fault`. A [`NetError`] also determines
//! the [`Reason`] that other members are told.

use core::fmt;
use std::{io, sync::Arc, time::Duration};

use hushwire_fault::{Code, Fault, IntoText, Text, code, out_of_descriptors};
use thiserror::Error;

use crate::{PartyId, Reason, misstep::Misstep};

/// A failed step between this party and a peer. The channel is then closed and the session ends.
///
/// The text is `party 1: <what> during <step>: <why>; <remedy>`: the [`cause`](Self::cause), then
/// the [`remedy`](Self::remedy).
#[derive(Debug)]
#[non_exhaustive]
pub enum NetError {
    /// The peer's end of the link is gone.
    Closed {
        /// The peer whose end is gone.
        peer: Option<PartyId>,
        /// The step in progress.
        step: String,
    },
    /// A peer is gone without a goodbye, or was silent for the liveness limit.
    Dead {
        /// The peer that died.
        peer: Option<PartyId>,
        /// The step in progress at this party.
        step: String,
        /// The time for which it was silent; `None` if its links closed.
        silent_for: Option<Duration>,
    },
    /// A party ended the session for all, and told which party it blames.
    Aborted {
        /// The party to blame.
        peer: Option<PartyId>,
        /// The party that ended it, which may be this one.
        by: PartyId,
        /// The step in progress at that party.
        step: String,
        /// The reason it gives.
        why: Reason,
    },
    /// Another party ended the session because of this one.
    Blamed {
        /// The party that ended it.
        by: PartyId,
        /// The step in progress at that party.
        step: String,
        /// The reason it gives, about this party.
        why: Reason,
    },
    /// No byte moved for the whole stall limit.
    Stalled {
        /// The peer that this party waited for.
        peer: Option<PartyId>,
        /// The step in progress.
        step: String,
        /// The stall limit.
        after: Duration,
    },
    /// Bytes moved within every stall limit, but so few that the message took longer than any link
    /// in use needs.
    Slow {
        /// The peer that this party waited for.
        peer: Option<PartyId>,
        /// The step in progress.
        step: String,
        /// The bytes of the message that moved, in both directions.
        moved: u64,
        /// All bytes of the message, in both directions.
        bytes: u64,
        /// The time limit for such a message.
        after: Duration,
    },
    /// The operating system refused to send or receive.
    Io {
        /// The other end of the link.
        peer: Option<PartyId>,
        /// The step in progress.
        step: String,
        /// The operating system's error.
        source: io::Error,
    },
    /// TLS refused the peer, or a record did not decrypt.
    Tls {
        /// The other end, if it is known.
        peer: Option<PartyId>,
        /// The step in progress.
        step: String,
        /// The error of TLS.
        source: TlsError,
    },
    /// The peer does not list this party's certificate.
    Unlisted {
        /// The peer that refuses the certificate.
        peer: Option<PartyId>,
        /// This party's pin, as text.
        own: String,
    },
    /// A certificate is not valid today, by the clock of the party that refused it.
    Expired {
        /// The holder of the certificate, which may be this party.
        peer: Option<PartyId>,
        /// The dates of the certificate, or the party that refused it.
        what: Text,
    },
    /// Both parties are alive and disagree about what to run.
    HandshakeMismatch {
        /// The peer that disagrees.
        peer: Option<PartyId>,
        /// The field of the hello.
        field: &'static str,
        /// This party's value.
        ours: Text,
        /// The peer's value.
        theirs: Text,
    },
    /// More than one process with the key of one member takes part.
    Duplicate {
        /// The party with two processes; this party itself if it is the second.
        peer: Option<PartyId>,
        /// The witness, or the way in which it was detected.
        what: String,
    },
    /// A process presented a certificate, or an id, that this session does not list.
    UnknownPeer {
        /// The party that it claims to be, if it named one.
        peer: Option<PartyId>,
        /// The step in progress.
        step: String,
        /// The certificate or id that it presented.
        presented: Presented,
    },
    /// A process of another user is at the other end of a Unix socket.
    OtherUser {
        /// The other end, if it is known.
        peer: Option<PartyId>,
        /// The step in progress.
        step: String,
        /// The users of both processes.
        source: OtherUser,
    },
    /// A message of the right length contains something that no honest peer sends.
    Malformed {
        /// The peer that sent it.
        peer: Option<PartyId>,
        /// The name of the message.
        msg: &'static str,
        /// The fault of the message.
        what: String,
    },
    /// A party deviates from the protocol: neither the network nor another release explains what it
    /// sent.
    Deviated {
        /// The party that sent it; `None` if it may be any of them.
        peer: Option<PartyId>,
        /// The step in progress.
        step: String,
        /// The deviation, as a clause about "it".
        what: &'static str,
    },
    /// This process is a fork of the one that opened the session. Both would hide different values
    /// under the same masks.
    Forked {
        /// The step that was requested.
        step: String,
        /// The number of the process that opened the session.
        opened_by: u32,
    },
    /// This party's own port or socket is not available.
    Listen {
        /// The address at which it was to listen.
        address: String,
        /// The operating system's error.
        source: io::Error,
    },
    /// This process may not open another file or connection.
    Descriptors {
        /// The step in progress.
        step: String,
        /// The operating system's error.
        source: io::Error,
    },
    /// No connection was established within the connect time-out.
    Connect {
        /// The peer that this party waited for.
        peer: Option<PartyId>,
        /// The peer's address, or this party's if the peer was to dial.
        address: String,
        /// The last failure.
        cause: Text,
        /// Whether that explains it, so that the network is not to be suspected.
        seen: bool,
    },
    /// Some members did not come within the connect time-out.
    Absent {
        /// The members that did not come.
        peers: Vec<PartyId>,
        /// The connect time-out.
        after: Duration,
        /// The last known state of each, in words.
        cause: Text,
        /// Whether that explains the absence of all of them, so that the network is not to be
        /// suspected.
        seen: bool,
    },
    /// The lane to or from this peer was already handed out, or does not exist.
    LaneTaken {
        /// The peer of the lane.
        peer: Option<PartyId>,
        /// The number of the lane.
        lane: u16,
        /// Either taken, or not in this session.
        cause: &'static str,
    },
    /// The channel failed earlier and stays closed.
    Dropped {
        /// The peer of the channel.
        peer: Option<PartyId>,
        /// The step that was requested of it now.
        step: String,
    },
    /// The gate before a machine refused a call, or the run behind the gate is lost.
    Misstep(Misstep),
    /// Another shard of this party is gone, or sent something that is not from a shard.
    Shard {
        /// The number of that shard.
        shard: usize,
        /// The step in progress at this shard.
        step: String,
        /// The cause, as a clause about "it".
        cause: Text,
    },
    /// The session's own configuration cannot work.
    Config {
        /// The peer that the fault is about.
        peer: Option<PartyId>,
        /// The fault of the configuration.
        what: String,
    },
}

impl fmt::Display for NetError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.fault().clauses())
    }
}

impl From<NetError> for Fault {
    fn from(e: NetError) -> Self {
        e.fault()
    }
}

impl std::error::Error for NetError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Io { source, .. } | Self::Listen { source, .. } | Self::Descriptors { source, .. } => {
                Some(source)
            }
            Self::Tls { source, .. } => Some(source),
            Self::OtherUser { source, .. } => Some(source),
            _ => None,
        }
    }
}

impl NetError {
    /// The code, the member to blame, and the texts of the table with their placeholders filled in.
    #[must_use]
    pub fn fault(&self) -> Fault {
        let peer = || Text::peer(self.peer(), "unknown peer");
        let of = |code, places: &[(&'static str, Text)]| {
            let mut all = vec![("peer", peer())];
            all.extend_from_slice(places);
            Fault::of(code, &all)
        };
        let during = |code, step: &String| of(code, &[("step", step.into())]);
        let failed = |code, step: &String, source: &dyn fmt::Display| {
            of(code, &[("step", step.into()), ("cause", source.into_text())])
        };
        let fault = match self {
            Self::Closed { step, .. } => during(code::CLOSED, step),
            Self::Dead { step, silent_for, .. } => {
                of(code::DIED, &[("step", step.into()), ("how", Death(*silent_for).into_text())])
            }
            Self::Aborted { by, step, why, .. } => {
                let (code, why) = told(*why);
                of(code, &[("by", (*by).into()), ("step", step.into()), ("why", why)])
            }
            Self::Blamed { step, why, .. } => {
                of(blamed(*why), &[("step", step.into()), ("why", why.into_text())])
            }
            Self::Stalled { step, after, .. } => {
                of(code::STALLED, &[("step", step.into()), ("after", format!("{after:?}").into())])
            }
            Self::Slow { step, moved, bytes, after, .. } => of(
                code::SLOW,
                &[
                    ("step", step.into()),
                    ("moved", moved.into_text()),
                    ("bytes", bytes.into_text()),
                    ("after", format!("{after:?}").into()),
                ],
            ),
            Self::Io { step, source, .. } => failed(code::LINK, step, source),
            Self::Tls { step, source, .. } => failed(code::TLS, step, source),
            Self::Unlisted { own, .. } => of(code::UNLISTED, &[("own", own.into())]),
            Self::Expired { what, .. } => of(code::EXPIRED, &[("what", what.clone())]),
            Self::HandshakeMismatch { field, ours, theirs, .. } => of(
                code::DIFFERS,
                &[("field", (*field).into()), ("ours", ours.clone()), ("theirs", theirs.clone())],
            ),
            Self::Duplicate { what, .. } => of(code::DUPLICATE, &[("what", what.into())]),
            Self::UnknownPeer { peer, step, presented } => {
                let (code, presented) = match (presented, peer) {
                    (Presented::Pin(pin), Some(_)) => (code::ANOTHER_KEY, pin.into()),
                    (Presented::Pin(pin), None) => (code::UNKNOWN_KEY, pin.into()),
                    (Presented::Other(text), _) => (code::UNKNOWN, text.clone()),
                };
                of(code, &[("step", step.into()), ("presented", presented)])
            }
            Self::OtherUser { step, source, .. } => failed(code::OTHER_USER, step, source),
            Self::Malformed { msg, what, .. } => {
                of(code::MALFORMED, &[("msg", (*msg).into()), ("what", what.into())])
            }
            Self::Deviated { peer, step, what } => Fault::of(
                code::DEVIATED,
                &[("peer", Text::peer(*peer, "a party")), ("step", step.into()), ("what", (*what).into())],
            ),
            Self::Forked { step, opened_by } => {
                of(code::FORKED, &[("step", step.into()), ("opened_by", opened_by.into_text())])
            }
            Self::Listen { address, source } => of(
                code::LISTEN,
                &[
                    ("address", address.into()),
                    ("cause", source.into_text()),
                    ("remedy", listen_remedy(source).into()),
                ],
            ),
            Self::Descriptors { step, source } => failed(code::DESCRIPTORS, step, source),
            Self::Connect { address, cause, seen, .. } => of(
                if *seen { code::REFUSES_CONNECTIONS } else { code::UNREACHABLE },
                &[("address", address.into()), ("cause", cause.clone())],
            ),
            Self::Absent { peers, after, cause, seen } => of(
                if *seen { code::ABSENT_SEEN } else { code::ABSENT },
                &[
                    ("peers", Text::all(peers)),
                    ("after", format!("{after:?}").into()),
                    ("cause", cause.clone()),
                ],
            ),
            Self::LaneTaken { lane, cause, .. } => {
                of(code::LANE, &[("lane", lane.into_text()), ("cause", (*cause).into())])
            }
            Self::Dropped { step, .. } => during(code::DROPPED, step),
            Self::Shard { shard, step, cause } => of(
                code::SHARD,
                &[("shard", shard.into_text()), ("step", step.into()), ("cause", cause.clone())],
            ),
            Self::Misstep(misstep @ Misstep::Lost { .. }) => of(code::LOST, &[("what", misstep.into_text())]),
            Self::Misstep(misstep) => of(code::MISSTEP, &[("what", misstep.into_text())]),
            Self::Config { what, .. } => of(code::SESSION, &[("what", what.into())]),
        };
        let fault = fault.blaming(self.peer());
        if self.is_consequence() { fault.following() } else { fault }
    }

    /// The party, the step and the cause, as one clause.
    #[must_use]
    pub fn cause(&self) -> String {
        self.fault().cause()
    }

    /// The remedy, as one clause.
    #[must_use]
    pub fn remedy(&self) -> String {
        self.fault().remedy()
    }

    /// The party that this error is about, if it is known. It is the party to blame, if the session
    /// ended because of one.
    #[must_use]
    pub fn peer(&self) -> Option<PartyId> {
        match self {
            Self::Listen { .. }
            | Self::Descriptors { .. }
            | Self::Misstep(_)
            | Self::Forked { .. }
            | Self::Shard { .. } => None,
            Self::Blamed { by, .. } => Some(*by),
            Self::Absent { peers, .. } => peers.first().copied(),
            Self::Closed { peer, .. }
            | Self::Dead { peer, .. }
            | Self::Aborted { peer, .. }
            | Self::Expired { peer, .. }
            | Self::Stalled { peer, .. }
            | Self::Slow { peer, .. }
            | Self::Io { peer, .. }
            | Self::Tls { peer, .. }
            | Self::HandshakeMismatch { peer, .. }
            | Self::Duplicate { peer, .. }
            | Self::Unlisted { peer, .. }
            | Self::UnknownPeer { peer, .. }
            | Self::OtherUser { peer, .. }
            | Self::Malformed { peer, .. }
            | Self::Deviated { peer, .. }
            | Self::Connect { peer, .. }
            | Self::LaneTaken { peer, .. }
            | Self::Dropped { peer, .. }
            | Self::Config { peer, .. } => *peer,
        }
    }

    /// The party that `me`, which failed with this error, names to the others.
    #[must_use]
    pub fn culprit(&self, me: PartyId) -> PartyId {
        match self {
            // The others see the same if the peer refuses it.
            Self::Unlisted { .. } | Self::Blamed { .. } => me,
            _ => self.peer().unwrap_or(me),
        }
    }

    /// Whether this only reports that the session ended. The cause lies with another party, whose
    /// own error is more informative.
    #[must_use]
    pub fn is_consequence(&self) -> bool {
        matches!(
            self,
            Self::Closed { .. }
                | Self::Dead { .. }
                | Self::Aborted { .. }
                | Self::Blamed { .. }
                | Self::Dropped { .. }
                | Self::Stalled { .. }
                | Self::Slow { .. }
                | Self::Shard { .. }
        )
    }

    /// Classifies the error of a link as `Closed`, `Tls` or `Io`.
    #[must_use]
    pub fn from_link(peer: Option<PartyId>, step: &str, source: io::Error) -> Self {
        use io::ErrorKind::{BrokenPipe, ConnectionAborted, ConnectionReset, NotConnected, UnexpectedEof};
        let step = step.to_owned();
        if out_of_descriptors(&source) {
            return Self::Descriptors { step, source };
        }
        match source.kind() {
            UnexpectedEof | BrokenPipe | ConnectionReset | ConnectionAborted | NotConnected => {
                Self::Closed { peer, step }
            }
            _ => match source.get_ref() {
                Some(e) if let Some(tls) = e.downcast_ref::<TlsError>() => {
                    Self::Tls { peer, step, source: tls.clone() }
                }
                Some(e) if let Some(&users) = e.downcast_ref::<OtherUser>() => {
                    Self::OtherUser { peer, step, source: users }
                }
                _ => Self::Io { peer, step, source },
            },
        }
    }
}

impl From<Misstep> for NetError {
    fn from(misstep: Misstep) -> Self {
        match misstep {
            Misstep::Message { step, found, expected } => {
                let what = format!("{found} bytes instead of {expected}");
                Self::Malformed { peer: None, msg: step, what }
            }
            misstep => Self::Misstep(misstep),
        }
    }
}

/// An error of TLS as the link that uses it found it, inside an [`io::Error`] of that link. Only
/// that link knows its details.
#[derive(Clone, Debug)]
pub struct TlsError {
    alert: bool,
    source: Arc<dyn std::error::Error + Send + Sync>,
}

impl TlsError {
    /// Wraps the error `source` of the TLS library. `alert` is true if the peer reported it, and
    /// false if this party found it.
    pub fn new(alert: bool, source: impl std::error::Error + Send + Sync + 'static) -> Self {
        Self { alert, source: Arc::new(source) }
    }

    /// The library's error, if it has this type.
    #[must_use]
    pub fn get<E: std::error::Error + 'static>(&self) -> Option<&E> {
        self.source.downcast_ref()
    }
}

/// The text is the library's.
impl fmt::Display for TlsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.source.fmt(f)
    }
}

impl std::error::Error for TlsError {}

/// The key that an unlisted process showed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Presented {
    /// The pin of the key, as text.
    Pin(String),
    /// A number, or a greeting.
    Other(Text),
}

/// The user who runs this party, and the user at the other end of a Unix socket.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
#[error("user {theirs} runs it and user {ours} this party")]
pub struct OtherUser {
    /// This process's user id.
    pub ours: u32,
    /// The other process's user id.
    pub theirs: u32,
}

impl Reason {
    /// The reason in this error, about the party that the error names.
    #[must_use]
    pub fn of(e: &NetError) -> Self {
        match e {
            NetError::Aborted { why, .. } | NetError::Blamed { why, .. } => *why,
            NetError::Closed { .. } | NetError::Io { .. } | NetError::Dead { silent_for: None, .. } => {
                Self::Died
            }
            NetError::Dead { .. } => Self::Silent,
            NetError::Stalled { .. } | NetError::Slow { .. } => Self::Stalled,
            NetError::Connect { .. } | NetError::Absent { .. } => Self::Absent,
            NetError::Duplicate { .. } => Self::Duplicate,
            // It may be another program or release. A certificate that the peer refuses is this
            // party's own.
            NetError::Tls { step, .. } if step == "handshake" => Self::Refused,
            NetError::Malformed { msg: "hello", .. }
            | NetError::Unlisted { .. }
            | NetError::HandshakeMismatch { .. }
            | NetError::UnknownPeer { .. }
            | NetError::OtherUser { .. }
            | NetError::Expired { .. } => Self::Refused,
            NetError::Tls { source: TlsError { alert: true, .. }, .. }
            | NetError::Listen { .. }
            | NetError::Descriptors { .. }
            | NetError::LaneTaken { .. }
            | NetError::Dropped { .. }
            | NetError::Misstep(_)
            | NetError::Forked { .. }
            | NetError::Shard { .. }
            // This party gives the reason for itself, since it cannot tell which of the others it
            // was.
            | NetError::Deviated { peer: None, .. }
            | NetError::Config { .. } => Self::Failed,
            NetError::Tls { .. } | NetError::Malformed { .. } | NetError::Deviated { .. } => Self::Cheated,
        }
    }
}

/// The remedy if a port is not available.
fn listen_remedy(e: &io::Error) -> &'static str {
    match e.kind() {
        _ if out_of_descriptors(e) => {
            "allow this process more open files (`ulimit -n` in the shell that starts it)"
        }
        io::ErrorKind::AddrInUse => {
            "another program or session holds it: end that one (`ss -ltnp` names it), or choose another port"
        }
        io::ErrorKind::AddrNotAvailable => "no interface of this host has that address: correct it",
        io::ErrorKind::PermissionDenied => "choose a port above 1023, or a path that this user may write",
        _ => "correct the address",
    }
}

/// The code for what others report about a party, and their reason. A party that died has left no
/// error.
fn told(why: Reason) -> (Code, Text) {
    let code = match why {
        Reason::Died | Reason::Silent => code::TOLD_DIED,
        Reason::Absent => code::TOLD_ABSENT,
        Reason::Refused => code::TOLD_REFUSED,
        Reason::Declined => code::TOLD_DECLINED,
        Reason::Local(excuse) => return (code::TOLD_EXCUSE, excuse.into_text()),
        Reason::Failed
        | Reason::Interrupted
        | Reason::Stalled
        | Reason::Left
        | Reason::Cheated
        | Reason::Duplicate => code::TOLD_FAILED,
    };
    (code, why.into_text())
}

/// The code for what others report about this party.
fn blamed(why: Reason) -> Code {
    match why {
        Reason::Died | Reason::Silent | Reason::Stalled | Reason::Absent => code::BLAMED_UNHEARD,
        Reason::Refused => code::BLAMED_REFUSED,
        Reason::Duplicate => code::BLAMED_DUPLICATE,
        Reason::Cheated => code::BLAMED_CHEATED,
        Reason::Failed | Reason::Local(_) | Reason::Interrupted | Reason::Left | Reason::Declined => {
            code::BLAMED_FAILED
        }
    }
}

struct Death(Option<Duration>);

impl fmt::Display for Death {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(silent_for) => write!(f, "nothing was heard of it for {silent_for:?}"),
            None => f.write_str("its links closed and it said no goodbye"),
        }
    }
}

#[cfg(test)]
#[path = "error_tests.rs"]
mod tests;
