//! The first message of both ends of a connection. Each end compares it with its own.
//!
//! ```text
//!  byte  0        8      10     11     12        28        60        92
//!        +--------+------+------+------+---------+---------+---------+
//!        | magic  | ver  | from | to   | session | job     | params  |
//!        | 8      | 2    | 1    | 1    | 16      | 32      | 32      |
//!        +--------+------+------+------+---------+---------+---------+
//!        92     94      96     97     98    99     100    101  102    112     128
//!        +------+-------+------+------+-----+------+------+----+------+-------+
//!        | lane | lanes | flow | role | shm | full | ends | of | zero | nonce |
//!        | 2    | 2     | 1    | 1    | 1   | 1    | 1    | 1  | 10   | 16    |
//!        +------+-------+------+------+-----+------+------+----+------+-------+
//! ```
//! Numbers are little endian. The first 28 bytes have the same layout in every version, so that
//! releases that disagree can still name each other and recognize a probe ([`SessionId::PROBE`]). A
//! listener answers a hello that it disagrees with, so that a mismatch is an error at both ends.
//! The nonce tells processes with one key apart (see [`roster`](crate::roster)). The listener
//! answers a second process with `full` and closes. A member that ends before it joins sends the
//! reason in `ends`, one of a closed set (see [`excuse`](crate::excuse)). If another member is the
//! reason, `of` names that member.

use hushwire_fault::{IntoText, Text};
use hushwire_machine::{NetError, PartyId, Reason, SessionId};

use crate::{
    notice::{code_of, reason_of},
    roster::Nonce,
    slot::CONTROL_LANE,
};

/// AGREEMENT: the size of a hello in bytes.
pub(crate) const HELLO_BYTES: usize = 128;
/// AGREEMENT: the first bytes of every hello.
const MAGIC: [u8; 8] = *b"hushwire";
/// AGREEMENT: the version of the bytes on the wire.
pub(crate) const WIRE_VERSION: u16 = 9;
/// Bytes that must be zero.
const RESERVED: core::ops::Range<usize> = 102..112;

/// The direction of data on a connection.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) enum Flow {
    /// From the endpoint that dialled to the one that listened.
    FromDialer,
    /// From the listener to the dialler: a client does not listen and dials for both directions.
    FromListener,
}

/// An endpoint's role in making the connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum GreetingRole {
    Dialer,
    Listener,
}

/// One endpoint's view of a connection.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Hello {
    /// [`WIRE_VERSION`] of the sender's release.
    pub(crate) version: u16,
    /// The member that sends this hello.
    pub(crate) from: PartyId,
    /// The member that it is for.
    pub(crate) to: PartyId,
    pub(crate) session: SessionId,
    /// The digest of the job's plan.
    pub(crate) job_digest: [u8; 32],
    /// The digest of all other agreement-class parameters.
    pub(crate) params: [u8; 32],
    /// The lane of this connection, below `lanes` or [`CONTROL_LANE`].
    pub(crate) lane: u16,
    /// The number of lanes for data.
    pub(crate) lanes: u16,
    pub(crate) flow: Flow,
    pub(crate) role: GreetingRole,
    /// Whether data moves in shared memory after the hellos; otherwise it moves on this connection.
    pub(crate) shm: bool,
    /// In a listener's answer: whether another process of the dialler's member is in the session.
    pub(crate) full: bool,
    /// The reason why this member ends before it joins.
    pub(crate) ends: Option<Reason>,
    /// The member that gave this reason, if it is not the sender.
    pub(crate) of: Option<PartyId>,
    /// The process's random number.
    pub(crate) nonce: Nonce,
}

/// The reason why bytes are not a valid hello of this version.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum BadHello {
    /// The bytes are not a hello of Hushwire.
    Magic,
    /// The hello of another release; it names its sender.
    Version { version: u16, from: PartyId },
    /// A field has an invalid value.
    Field(&'static str),
}

impl Hello {
    pub(crate) fn encode(&self) -> [u8; HELLO_BYTES] {
        let mut bytes = [0; HELLO_BYTES];
        bytes[..8].copy_from_slice(&MAGIC);
        bytes[8..10].copy_from_slice(&self.version.to_le_bytes());
        bytes[10] = self.from.0;
        bytes[11] = self.to.0;
        bytes[12..28].copy_from_slice(&self.session.0);
        bytes[28..60].copy_from_slice(&self.job_digest);
        bytes[60..92].copy_from_slice(&self.params);
        bytes[92..94].copy_from_slice(&self.lane.to_le_bytes());
        bytes[94..96].copy_from_slice(&self.lanes.to_le_bytes());
        bytes[96] = match self.flow {
            Flow::FromDialer => 0,
            Flow::FromListener => 1,
        };
        bytes[97] = match self.role {
            GreetingRole::Dialer => 0,
            GreetingRole::Listener => 1,
        };
        bytes[98] = self.shm.into();
        bytes[99] = self.full.into();
        bytes[100] = self.ends.map_or(0, |why| code_of(why) + 1);
        bytes[101] = self.of.map_or(0, |member| member.0.saturating_add(1));
        bytes[RESERVED.end..].copy_from_slice(&self.nonce.0);
        bytes
    }

    pub(crate) fn decode(bytes: &[u8; HELLO_BYTES]) -> Result<Self, BadHello> {
        if bytes[..8] != MAGIC {
            return Err(BadHello::Magic);
        }
        let from = PartyId(bytes[10]);
        let version = u16::from_le_bytes([bytes[8], bytes[9]]);
        if version != WIRE_VERSION {
            return Err(BadHello::Version { version, from });
        }
        let flow = match bytes[96] {
            0 => Flow::FromDialer,
            1 => Flow::FromListener,
            _ => return Err(BadHello::Field("direction")),
        };
        let role = match bytes[97] {
            0 => GreetingRole::Dialer,
            1 => GreetingRole::Listener,
            _ => return Err(BadHello::Field("role")),
        };
        let shm = match bytes[98] {
            0 => false,
            1 => true,
            _ => return Err(BadHello::Field("transport")),
        };
        let full = match (bytes[99], role) {
            (0, _) => false,
            (1, GreetingRole::Listener) => true,
            _ => return Err(BadHello::Field("answer")),
        };
        let ends = match bytes[100].checked_sub(1).map(reason_of) {
            None => None,
            Some(Some(why)) if why.is_excuse() => Some(why),
            Some(_) => return Err(BadHello::Field("reason to end")),
        };
        let of = bytes[101].checked_sub(1).map(PartyId);
        if of.is_some() && (ends.is_none() || of == Some(from)) {
            return Err(BadHello::Field("member that ends"));
        }
        let lane = u16::from_le_bytes([bytes[92], bytes[93]]);
        let lanes = u16::from_le_bytes([bytes[94], bytes[95]]);
        if lane >= lanes && lane != CONTROL_LANE {
            return Err(BadHello::Field("lane"));
        }
        if bytes[RESERVED].iter().any(|&b| b != 0) {
            return Err(BadHello::Field("reserved"));
        }
        Ok(Self {
            version,
            from,
            to: PartyId(bytes[11]),
            session: SessionId(array(bytes, 12)),
            job_digest: array(bytes, 28),
            params: array(bytes, 60),
            lane,
            lanes,
            flow,
            role,
            shm,
            full,
            ends,
            of,
            nonce: Nonce(array(bytes, RESERVED.end)),
        })
    }

    /// Whether bytes that may be a hello of any version come from a probe.
    pub(crate) fn is_probe(bytes: &[u8; HELLO_BYTES]) -> bool {
        bytes[..8] == MAGIC && bytes[12..28] == SessionId::PROBE.0
    }

    /// Compares this endpoint's hello with the one from `peer`. Both ends name the same field.
    pub(crate) fn judge(&self, theirs: &Self, peer: PartyId) -> Result<(), NetError> {
        let hex32 = |digest: &[u8; 32]| Text::from(hex::encode(digest));
        let place = |shm| Text::from(if shm { "shared memory" } else { "the connection" });
        let pair = |one: PartyId, other: PartyId| Text::all(&[one, other]);
        let fields = [
            ("wire version", self.version.into_text(), theirs.version.into_text()),
            ("party ids", pair(self.from, self.to), pair(theirs.to, theirs.from)),
            ("transport", place(self.shm), place(theirs.shm)),
            ("session id", self.session.into_text(), theirs.session.into_text()),
            ("job digest", hex32(&self.job_digest), hex32(&theirs.job_digest)),
            ("parameters digest", hex32(&self.params), hex32(&theirs.params)),
            ("number of lanes", self.lanes.into_text(), theirs.lanes.into_text()),
            ("lane", self.lane.into_text(), theirs.lane.into_text()),
            ("direction", format!("{:?}", self.flow).into(), format!("{:?}", theirs.flow).into()),
        ];
        for (field, ours, theirs) in fields {
            if ours != theirs {
                return Err(NetError::HandshakeMismatch { peer: Some(peer), field, ours, theirs });
            }
        }
        if self.role == theirs.role {
            let role = Text::from(format!("{:?}", self.role));
            let (ours, theirs) = (role.clone(), role);
            return Err(NetError::HandshakeMismatch { peer: Some(peer), field: "role", ours, theirs });
        }
        Ok(())
    }
}

fn array<const N: usize>(bytes: &[u8; HELLO_BYTES], at: usize) -> [u8; N] {
    let mut out = [0; N];
    out.copy_from_slice(&bytes[at..at + N]);
    out
}

#[cfg(test)]
#[path = "hello_tests.rs"]
pub(crate) mod tests;
