//! Errors between two parties; every message names the party, the step, the cause and a remedy.

use core::fmt;
use std::{borrow::Cow, io, sync::Arc, time::Duration};

use rustix::io::Errno;
use thiserror::Error;

use crate::{PartyId, Reason, misstep::Misstep, printable};

/// A failed step between this party and a peer. After it the channel is closed and the session ends.
///
/// Reads as `party 1: <what> during <step>: <why>; <remedy>`: [`cause`](Self::cause), then [`remedy`](Self::remedy).
#[derive(Debug)]
#[non_exhaustive]
pub enum NetError {
    /// The peer's end of the link is gone.
    Closed {
        /// The peer whose end is gone.
        peer: Option<PartyId>,
        /// The step under way.
        step: String,
    },
    /// A peer is gone without a goodbye, or nothing was heard of it for the liveness limit.
    Dead {
        /// The peer that died.
        peer: Option<PartyId>,
        /// The step under way here.
        step: String,
        /// The time for which it was silent; `None` when its links closed.
        silent_for: Option<Duration>,
    },
    /// A party ended the session for all, and said because of whom.
    Aborted {
        /// The party to blame.
        peer: Option<PartyId>,
        /// The party that says so; this one when it ended the session itself.
        by: PartyId,
        /// The step under way there.
        step: String,
        /// The reason it gives.
        why: Reason,
    },
    /// Another party ended the session because of this one.
    Blamed {
        /// The party that says so.
        by: PartyId,
        /// The step under way there.
        step: String,
        /// The reason it gives, about this party.
        why: Reason,
    },
    /// Not one byte moved for the whole stall limit.
    Stalled {
        /// The peer that this party waited for.
        peer: Option<PartyId>,
        /// The step under way.
        step: String,
        /// The stall limit.
        after: Duration,
    },
    /// Bytes moved, never the stall limit apart, and so few that the message took longer than any link in use needs.
    Slow {
        /// The peer that this party waited for.
        peer: Option<PartyId>,
        /// The step under way.
        step: String,
        /// Bytes of the message that moved, both ways.
        moved: u64,
        /// All bytes of the message, both ways.
        bytes: u64,
        /// The limit of such a message.
        after: Duration,
    },
    /// The operating system refused to send or receive.
    Io {
        /// The other end of the link.
        peer: Option<PartyId>,
        /// The step under way.
        step: String,
        /// The operating system's error.
        source: io::Error,
    },
    /// TLS refused the peer, or a record did not decrypt.
    Tls {
        /// The other end, where it is known.
        peer: Option<PartyId>,
        /// The step under way.
        step: String,
        /// The error of TLS.
        source: TlsError,
    },
    /// The other side does not list this party's certificate.
    Unlisted {
        /// The peer that refuses it.
        peer: Option<PartyId>,
        /// This party's pin, as it is written.
        own: String,
    },
    /// A certificate is not valid today, by the clock of the side that refused it.
    Expired {
        /// The holder of the certificate; this party where it is its own.
        peer: Option<PartyId>,
        /// Its dates, or who refused it.
        what: String,
    },
    /// Both sides are alive and disagree about what to run.
    HandshakeMismatch {
        /// The peer that disagrees.
        peer: Option<PartyId>,
        /// The field of the hello.
        field: &'static str,
        /// This party's value.
        ours: String,
        /// The peer's value.
        theirs: String,
    },
    /// More than one process with the key of one member takes part.
    Duplicate {
        /// The party with two processes; this party itself where it is the second.
        peer: Option<PartyId>,
        /// The witness, or the way it showed.
        what: String,
    },
    /// Somebody presented a certificate, or an id, that this session does not list.
    UnknownPeer {
        /// The party that it claims to be, if it said so.
        peer: Option<PartyId>,
        /// The step under way.
        step: String,
        /// The pin or id that came.
        presented: String,
    },
    /// A process of another user is at the other end of a Unix socket.
    OtherUser {
        /// The other end, where it is known.
        peer: Option<PartyId>,
        /// The step under way.
        step: String,
        /// The users of both processes.
        source: OtherUser,
    },
    /// A message of the right length holds something that no honest peer sends.
    Malformed {
        /// The peer that sent it.
        peer: Option<PartyId>,
        /// The name of the message.
        msg: &'static str,
        /// The fault of the message.
        what: String,
    },
    /// A party does not follow the protocol: no network and no other release explains what it sent.
    Deviated {
        /// The party that sent it; `None` where it may be any of them.
        peer: Option<PartyId>,
        /// The step under way.
        step: String,
        /// What it did, as a clause about "it".
        what: &'static str,
    },
    /// This process is a fork of the one that opened the session. Both would hide different values
    /// under the same masks.
    Forked {
        /// The step that was asked for.
        step: String,
        /// The number of the process that opened the session.
        opened_by: u32,
    },
    /// This party's own port or socket cannot be had.
    Listen {
        /// The address on which it was to listen.
        address: String,
        /// The operating system's error.
        source: io::Error,
    },
    /// This process may not open another file or connection.
    Descriptors {
        /// The step under way.
        step: String,
        /// The operating system's error.
        source: io::Error,
    },
    /// No connection came about within the connect time-out.
    Connect {
        /// The peer that this party waited for.
        peer: Option<PartyId>,
        /// The peer's address, or ours if the peer was to dial.
        address: String,
        /// The last thing that went wrong.
        cause: String,
        /// Whether that tells why: no network is to be suspected then.
        seen: bool,
    },
    /// Members did not come within the connect time-out.
    Absent {
        /// The members that did not come.
        peers: Vec<PartyId>,
        /// The connect time-out.
        after: Duration,
        /// The last known state of each, in words.
        cause: String,
        /// Whether that tells why of all of them: no network is to be suspected then.
        seen: bool,
    },
    /// The lane to or from this peer was already handed out, or does not exist.
    LaneTaken {
        /// The peer of the lane.
        peer: Option<PartyId>,
        /// The number of the lane.
        lane: u16,
        /// Taken, or not in this session.
        cause: &'static str,
    },
    /// The channel failed earlier and stays closed.
    Dropped {
        /// The peer of the channel.
        peer: Option<PartyId>,
        /// The step that was asked of it now.
        step: String,
    },
    /// The gate before a machine refused a call, or the run behind it is lost.
    Misstep(Misstep),
    /// The session's own configuration cannot work.
    Config {
        /// The peer that it is about.
        peer: Option<PartyId>,
        /// The fault of the configuration.
        what: String,
    },
}

impl fmt::Display for NetError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}; {}", self.cause(), self.remedy())
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
    /// The party, the step and the cause, as one clause.
    #[must_use]
    pub fn cause(&self) -> String {
        let who = match self {
            Self::Absent { peers, .. } => Everybody(peers).to_string(),
            Self::Blamed { by, .. } => by.to_string(),
            _ => self.peer().map_or("unknown peer".to_owned(), |peer| peer.to_string()),
        };
        match self {
            Self::Closed { step, .. } => {
                format!("{who}: closed the link during {step}: its process ended or dropped the session")
            }
            Self::Dead { step, silent_for, .. } => {
                format!("{who}: died during {step}: {}", Death(*silent_for))
            }
            Self::Aborted { by, step, why: Reason::Local(cause), .. } => {
                format!("{who}: failed during {step}, as {by} says: {cause}")
            }
            Self::Aborted { by, step, why, .. } => format!("{who}: {why} during {step}, as {by} says"),
            Self::Blamed { step, why, .. } => {
                format!("{who}: ended the session during {step}: it says that this party {why}")
            }
            Self::Stalled { step, after, .. } => {
                format!("{who}: stalled during {step}: no byte moved for {after:?}")
            }
            Self::Slow { step, moved, bytes, after, .. } => {
                format!("{who}: too slow during {step}: {moved} of {bytes} bytes moved in {after:?}")
            }
            Self::Io { step, source, .. } => format!("{who}: link failed during {step}: {source}"),
            Self::Tls { step, source, .. } => format!("{who}: TLS failed during {step}: {source}"),
            Self::Unlisted { .. } => {
                format!(
                    "{who}: refuses our certificate during handshake: it lists another pin for this party"
                )
            }
            Self::Expired { what, .. } => format!("{who}: certificate refused during handshake: {what}"),
            Self::HandshakeMismatch { field, ours, theirs, .. } => {
                format!("{who}: {field} differs during handshake: ours is {ours}, theirs is {theirs}")
            }
            Self::Duplicate { what, .. } => format!("{who}: refused during handshake: {what}"),
            Self::UnknownPeer { peer, step, presented } => {
                if shows_another(*peer, presented).is_some() {
                    format!(
                        "{who}: presents another key than the pinned one during {step}: its pin is {presented}"
                    )
                } else {
                    format!("{who}: unknown during {step}: {presented} is not listed")
                }
            }
            Self::OtherUser { step, source, .. } => format!("{who}: refused during {step}: {source}"),
            Self::Malformed { msg, what, .. } => {
                format!("{who}: sent a malformed message during {msg}: {what}")
            }
            Self::Deviated { peer, step, what } => {
                let who = peer.map_or("a party".to_owned(), |peer| peer.to_string());
                format!("{who}: left the protocol during {step}: {what}")
            }
            Self::Forked { step, opened_by } => format!(
                "this process is a fork of process {opened_by}, which opened the session, during {step}: the same masks would \
                 hide different values in both"
            ),
            Self::Listen { address, source } => format!("cannot listen on {}: {source}", printable(address)),
            Self::Descriptors { step, source } => {
                format!("this process has too many open files during {step}: {source}")
            }
            Self::Connect { address, cause, .. } => {
                let (address, cause) = (printable(address), printable(cause));
                format!("{who}: unreachable at {address} during connect: {cause}")
            }
            Self::Absent { after, cause, .. } => {
                format!("{who}: did not come within {after:?} during connect: {}", printable(cause))
            }
            Self::LaneTaken { lane, cause, .. } => {
                format!("{who}: no free lane {lane} during channel set-up: {cause}")
            }
            Self::Dropped { step, .. } => {
                format!("{who}: channel is closed during {step}: an earlier step on it failed")
            }
            Self::Misstep(misstep) => misstep.to_string(),
            Self::Config { what, .. } => {
                format!("{who}: bad configuration during connect: {}", printable(what))
            }
        }
    }

    /// The next thing to do about it, as one clause.
    #[must_use]
    pub fn remedy(&self) -> Cow<'static, str> {
        let text = match self {
            Self::Closed { .. } => "read its own error",
            Self::Dead { .. } => "see its own log and its host, then start again",
            Self::Aborted { why, .. } => others_remedy(*why),
            Self::Blamed { why, .. } => own_remedy(*why),
            Self::Stalled { .. } => "see whether it still runs, or raise the stall limit",
            Self::Slow { .. } => "see the network between the hosts, or raise the stall limit",
            Self::Io { .. } => "see the network between the hosts and start again",
            Self::Tls { .. } => "see that both sides run the same release and transport",
            Self::Unlisted { own, .. } => return format!("let it list our pin, {own}").into(),
            Self::Expired { .. } => {
                "run `hushwire keys rotate` there and give the others the new pin, or set the clocks right"
            }
            Self::HandshakeMismatch { .. } => "give both parties the same job and release",
            Self::Duplicate { .. } => "end all of its processes but one and start again",
            Self::UnknownPeer { peer, presented, .. } => match shows_another(*peer, presented) {
                Some(peer) => {
                    let pins = "was its key rotated? ask there, over another channel, whether that is what `hushwire \
                                keys pin` prints";
                    return format!("{pins}, and correct the pin of {peer} if it is").into();
                }
                None if presented.starts_with("sha256:") => {
                    "if a member's key was rotated and it confirms this pin, list it for that member"
                }
                None => "add its pin if it belongs here",
            },
            Self::OtherUser { .. } => "run the parties of one host as one user, or use tcp-tls",
            Self::Malformed { .. } => "run the same release everywhere",
            Self::Deviated { .. } => "nothing of this run may be used; find out why before another",
            Self::Forked { .. } => {
                "open a new session in this process, and go on with the old one in the other"
            }
            Self::Listen { source, .. } => listen_remedy(source),
            Self::Descriptors { .. } => "allow it more (`ulimit -n` in the shell that starts it)",
            Self::Connect { seen: true, .. } => {
                "start it, or see its own output for why it ended, and correct the address if it listens elsewhere"
            }
            Self::Absent { seen: true, .. } => {
                "start the members that do not run, or see their own output for why they ended"
            }
            Self::Connect { .. } => {
                "see that it runs, that the address is right and that no firewall is between"
            }
            Self::Absent { .. } => {
                "start the members that do not run, and see that addresses are right and no firewall is between"
            }
            Self::LaneTaken { .. } => "take each lane once, below the agreed number",
            Self::Dropped { .. } | Self::Misstep(Misstep::Lost { .. }) => "read the first error",
            Self::Misstep(_) => "bring a machine the buffers that its round declares",
            Self::Config { .. } => "correct the configuration",
        };
        Cow::Borrowed(text)
    }

    /// The party that this error is about, where it is known: the one to blame, if the session ended because of one.
    #[must_use]
    pub fn peer(&self) -> Option<PartyId> {
        match self {
            Self::Listen { .. } | Self::Descriptors { .. } | Self::Misstep(_) | Self::Forked { .. } => None,
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

    /// The party that `me`, which failed with this, names to the others.
    #[must_use]
    pub fn culprit(&self, me: PartyId) -> PartyId {
        match self {
            // They see the same where the peer refuses it.
            Self::Unlisted { .. } | Self::Blamed { .. } => me,
            _ => self.peer().unwrap_or(me),
        }
    }

    /// Whether this only says that the session ended, and the cause lies with another party, whose own error tells
    /// more.
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
        )
    }

    /// Sorts what a link answered into `Closed`, `Tls` and `Io`.
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

/// An error of TLS as the link that speaks it found it, inside an [`io::Error`] of that link. What it is in detail, only that link knows.
#[derive(Clone, Debug)]
pub struct TlsError {
    alert: bool,
    source: Arc<dyn std::error::Error + Send + Sync>,
}

impl TlsError {
    /// The `source` as the library of TLS gives it; `alert` says that it is what the peer told, and not what this side found.
    pub fn new(alert: bool, source: impl std::error::Error + Send + Sync + 'static) -> Self {
        Self { alert, source: Arc::new(source) }
    }

    /// The error of the library, where it is of this type.
    #[must_use]
    pub fn get<E: std::error::Error + 'static>(&self) -> Option<&E> {
        self.source.downcast_ref()
    }
}

/// As the library says it.
impl fmt::Display for TlsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.source.fmt(f)
    }
}

impl std::error::Error for TlsError {}

/// The user who runs this party, and the one at the other end of a Unix socket.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
#[error("user {theirs} runs it and user {ours} this party")]
pub struct OtherUser {
    /// This process's user id.
    pub ours: u32,
    /// The other's.
    pub theirs: u32,
}

impl Reason {
    /// The reason that this error gives about the party that it is about.
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
            // Another program or release, perhaps; a certificate that the peer refuses is this party's own.
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
            // This party says so of itself, as it cannot tell which of the others it was.
            | NetError::Deviated { peer: None, .. }
            | NetError::Config { .. } => Self::Failed,
            NetError::Tls { .. } | NetError::Malformed { .. } | NetError::Deviated { .. } => Self::Cheated,
        }
    }
}

/// The remedy when a port cannot be had.
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

/// The listed peer whose pin is another than the one `presented`, if this is what an unknown peer showed.
fn shows_another(peer: Option<PartyId>, presented: &str) -> Option<PartyId> {
    peer.filter(|_| presented.starts_with("sha256:"))
}

/// The remedy about a party of which others say this. A party that died has left no error.
fn others_remedy(why: Reason) -> &'static str {
    match why {
        Reason::Died | Reason::Silent => "see its own log and its host, then start again",
        Reason::Absent => "start it, and see that its address is right and no firewall is between",
        Reason::Refused => {
            "read the error of the first; if its key was rotated, all others must list its new pin"
        }
        Reason::Declined => {
            "ask its operator to allow this job, by the digest that `hushwire job digest` prints"
        }
        Reason::Local(_) => "see its own output, which says more, or ask its operator",
        _ => "read the error of the first",
    }
}

/// The remedy of a party of which others say this.
fn own_remedy(why: Reason) -> &'static str {
    match why {
        Reason::Died | Reason::Silent | Reason::Stalled | Reason::Absent => {
            "see whether this process was stopped, its host overloaded or the network between them cut"
        }
        Reason::Refused => {
            "read its error, and compare pins, keys and jobs of both: after `hushwire keys rotate` all others must list the new pin"
        }
        Reason::Duplicate => "end all processes of this party but one and start again",
        Reason::Cheated => "read its error, and run the same release everywhere",
        Reason::Failed | Reason::Local(_) | Reason::Interrupted | Reason::Left | Reason::Declined => {
            "read its error"
        }
    }
}

/// Whether this process, or the host, has no descriptors left.
#[must_use]
pub fn out_of_descriptors(e: &io::Error) -> bool {
    [Errno::MFILE, Errno::NFILE].iter().any(|errno| e.raw_os_error() == Some(errno.raw_os_error()))
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

struct Everybody<'a>(&'a [PartyId]);

impl fmt::Display for Everybody<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, peer) in self.0.iter().enumerate() {
            let before = match i {
                0 => "",
                _ if i + 1 == self.0.len() => " and ",
                _ => ", ",
            };
            write!(f, "{before}{peer}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
#[path = "error_tests.rs"]
mod tests;
