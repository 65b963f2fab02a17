//! The roles, and the terms on which both sides must agree before anything moves.

use hushwire::job::Fault;
use hushwire_machine::{NetError, PartyId};
use hushwire_ot::{Level, OtError, Protocol};
use std::{fmt, io::ErrorKind};

/// A side of the transfer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum OtParty {
    Sender,
    Receiver,
}

impl OtParty {
    pub(super) fn id(self) -> PartyId {
        PartyId(self as u8)
    }

    pub(super) fn other(self) -> Self {
        match self {
            Self::Sender => Self::Receiver,
            Self::Receiver => Self::Sender,
        }
    }

    fn command(self) -> &'static str {
        match self {
            Self::Sender => "hushwire ot send",
            Self::Receiver => "hushwire ot recv",
        }
    }
}

impl fmt::Display for OtParty {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Sender => "the sender",
            Self::Receiver => "the receiver",
        })
    }
}

/// The terms that must be the same at both sides.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct OtTerms {
    pub(super) count: u64,
    pub(super) protocol: Protocol,
    pub(super) level: Level,
}

/// AGREEMENT: the version of the exchange that this file and its neighbours describe.
const RELEASE: &[u8; 7] = b"hw-ot/1";

impl OtTerms {
    /// The terms as the handshake compares them. They are in the clear, so that each side can say
    /// which terms differ.
    ///
    /// ```text
    /// byte  0        8        9                  25        32
    ///       | count  | level  | protocol, zeros  | release |
    /// ```
    pub(super) fn tags(&self) -> [u8; 32] {
        let mut tags = [0; 32];
        let (name, release) = (self.protocol.to_string(), 25);
        tags[..8].copy_from_slice(&self.count.to_le_bytes());
        tags[8] = u8::from(self.level == Level::Malicious);
        tags[9..][..name.len()].copy_from_slice(name.as_bytes());
        tags[release..].copy_from_slice(RELEASE);
        tags
    }

    /// Describes the terms in which the other side's tags differ.
    fn differences(&self, theirs: &[u8; 32]) -> String {
        let ours = self.tags();
        if ours[25..] != theirs[25..] {
            return "the release".to_owned();
        }
        let mut differ = vec![];
        let mut field = |name: &str, range: std::ops::Range<usize>, show: fn(&[u8]) -> String| {
            if ours[range.clone()] != theirs[range.clone()] {
                differ.push(format!(
                    "{name} ({} here, {} there)",
                    show(&ours[range.clone()]),
                    show(&theirs[range])
                ));
            }
        };
        field("the number of OTs", 0..8, |b| {
            b.iter().rev().fold(0u64, |n, byte| n << 8 | u64::from(*byte)).to_string()
        });
        field("the security", 8..9, |b| {
            let level = if b == [0] { Level::SemiHonest } else { Level::Malicious };
            level.name().to_owned()
        });
        field("the protocol", 9..25, |b| {
            let letters = b.iter().filter(|c| c.is_ascii_alphanumeric() || **c == b'-');
            letters.map(|c| char::from(*c)).collect()
        });
        differ.join(", ")
    }

    /// Describes a network error in the words of this command.
    pub(super) fn explain(&self, me: OtParty, step: &str, e: NetError) -> Fault {
        let known = match &e {
            NetError::HandshakeMismatch { field: "job digest", theirs, .. } => {
                let mut tags = [0; 32];
                hex::decode_to_slice(theirs.written(), &mut tags).ok().map(|()| {
                    (
                        format!("both sides differ in {}", self.differences(&tags)),
                        "give files of as many lines, and the same --protocol and --security",
                    )
                })
            }
            NetError::HandshakeMismatch { field: "party ids", .. } => {
                Some((format!("both sides run `{}`", me.command()), "send at one side and recv at the other"))
            }
            NetError::HandshakeMismatch { field: "session id", .. } => {
                Some((format!("{} runs another command", me.other()), "run `hushwire ot` at both sides"))
            }
            _ => None,
        };
        let remedy = remedy(&e);
        let mut error = Fault::from(e);
        if let Some(remedy) = remedy {
            error = error.remedied(remedy);
        }
        if let Some((cause, remedy)) = known {
            error = error.because(cause).remedied(remedy);
        }
        me.says(error.during(step))
    }

    /// Describes any error of the protocol.
    pub(super) fn failed(&self, me: OtParty, e: OtError) -> Fault {
        match e {
            OtError::Net(e) => self.explain(me, "oblivious transfer", e),
            e => me.says(e.fault().during("oblivious transfer")),
        }
    }
}

impl OtParty {
    /// Returns the name of a side by its number on the wire.
    pub(super) fn name(id: PartyId) -> Option<String> {
        [OtParty::Sender, OtParty::Receiver]
            .into_iter()
            .find(|side| side.id() == id)
            .map(|side| side.to_string())
    }

    /// Completes an error of this side with the names of both sides.
    fn says(self, error: Fault) -> Fault {
        error.by(self.id()).with_names(&OtParty::name)
    }
}

/// The remedy in the words of this command, if that of [`NetError`] names files that this command
/// does not have.
fn remedy(e: &NetError) -> Option<&'static str> {
    match e {
        NetError::Tls { .. } => Some("compare --pin and --transport of both sides"),
        NetError::UnknownPeer { .. } => Some("compare --pin with what `hushwire keys pin` prints there"),
        NetError::Config { .. } => Some("correct --listen, --connect and --transport"),
        NetError::HandshakeMismatch { .. } => Some("run the same release at both sides"),
        NetError::Listen { source, .. } => match source.kind() {
            ErrorKind::AddrInUse | ErrorKind::PermissionDenied => None,
            ErrorKind::AddrNotAvailable => {
                Some("no interface of this host has that address: correct --listen")
            }
            _ => Some("correct the address behind --listen"),
        },
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hushwire_fault::{Text, code};
    use hushwire_machine::Presented;

    #[test]
    fn tags_tell_what_differs() {
        let ours = OtTerms { count: 1000, protocol: Protocol::SoftSpoken4, level: Level::Malicious };
        let said = |theirs: OtTerms| ours.differences(&theirs.tags());
        assert_eq!(said(ours), "");
        assert_eq!(said(OtTerms { count: 999, ..ours }), "the number of OTs (1000 here, 999 there)");
        let level = Level::SemiHonest;
        let both = said(OtTerms { level, protocol: Protocol::FerretB13, ..ours });
        let wanted = "the security (malicious here, semi-honest there), \
                      the protocol (softspoken4 here, ferret-b13 there)";
        assert_eq!(both, wanted);
        let mut other = ours.tags();
        other[31] ^= 3;
        assert_eq!(ours.differences(&other), "the release");
        for protocol in Protocol::ALL {
            assert!(protocol.to_string().len() <= 16, "{protocol} has no room");
        }
    }

    #[test]
    fn errors_name_sides_and_remedies() {
        let terms = OtTerms { count: 1, protocol: Protocol::Kos, level: Level::Malicious };
        let (me, peer) = (OtParty::Receiver, Some(OtParty::Sender.id()));
        let abort = OtError::abort(hushwire_ot::Check::Rows).of(peer);
        let error = terms.failed(me, abort);
        assert_eq!(error.code(), code::OT_CHECK);
        let names = |error: &Fault| [error.who(), error.peer()].map(|who| who.map(ToString::to_string));
        let sides = || ["the receiver", "the sender"].map(|side| Some(side.to_owned()));
        assert_eq!(names(&error), sides(), "{error}");
        let (step, after) = ("x".to_owned(), std::time::Duration::from_secs(2));
        let error = terms.failed(me, NetError::Stalled { peer, step, after }.into());
        assert_eq!((error.code(), names(&error)), (code::STALLED, sides()), "{error}");
    }

    /// This command has no party files and no jobs.
    #[test]
    fn remedies_are_those_of_this_command() {
        let terms = OtTerms { count: 1, protocol: Protocol::Kos, level: Level::Malicious };
        let (peer, text) = (Some(OtParty::Sender.id()), || "x".to_owned());
        let listen = |kind: ErrorKind| NetError::Listen { address: text(), source: kind.into() };
        for (e, words) in [
            (NetError::UnknownPeer { peer, step: text(), presented: Presented::Other(Text::new()) }, "--pin"),
            (NetError::Config { peer, what: text() }, "--listen"),
            (
                NetError::HandshakeMismatch { peer, field: "params", ours: Text::new(), theirs: Text::new() },
                "release",
            ),
            (listen(ErrorKind::AddrInUse), "ss -ltnp"),
            (listen(ErrorKind::AddrNotAvailable), "correct --listen"),
            (listen(ErrorKind::InvalidInput), "--listen"),
        ] {
            let error = terms.explain(OtParty::Receiver, "connect", e).to_string();
            assert!(
                error.contains(words) && !error.contains("party file") && !error.contains("job"),
                "{error}"
            );
        }
    }
}
