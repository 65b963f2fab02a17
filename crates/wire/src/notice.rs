//! The notices that parties send each other besides the data: liveness, the end, and blame.
//!
//! ```text
//!  byte  0      1       2      3        4                 64
//!        +------+-------+------+--------+------------------+
//!        | kind | party | why  | length | step, then zeros |
//!        | 1    | 1     | 1    | 1      | 60               |
//!        +------+-------+------+--------+------------------+
//! ```
//! Every notice has this length, so a peer cannot make this party allocate memory. The step is
//! printable ASCII. A notice that its sender has joined carries the session's id in place of the
//! step. A notice of progress carries two numbers of eight bytes each, least significant byte
//! first.

use hushwire_machine::{Excuse, PartyId, Reason, SessionId};

/// AGREEMENT: the number of bytes of a notice.
pub(crate) const NOTICE_BYTES: usize = 64;
const HEAD_BYTES: usize = 4;
const STEP_BYTES: usize = NOTICE_BYTES - HEAD_BYTES;
/// The number of bytes of a session's id.
const ID_BYTES: usize = 16;
/// The kind of notice whose text is an id.
const JOINED: u8 = 4;
/// The kind of notice whose text is two numbers.
const COMES: u8 = 5;
/// The number of bytes of the two numbers.
const COMES_BYTES: usize = 16;
/// The number that means no party.
const NOBODY: u8 = 0xff;

/// AGREEMENT: a reason's index is its code.
const REASONS: [Reason; 18] = [
    Reason::Failed,
    Reason::Interrupted,
    Reason::Died,
    Reason::Silent,
    Reason::Stalled,
    Reason::Left,
    Reason::Absent,
    Reason::Refused,
    Reason::Cheated,
    Reason::Duplicate,
    Reason::Declined,
    Reason::Local(Excuse::Inputs),
    Reason::Local(Excuse::Reading),
    Reason::Local(Excuse::Writing),
    Reason::Local(Excuse::Job),
    Reason::Local(Excuse::Unsafe),
    Reason::Local(Excuse::Other),
    Reason::Local(Excuse::Shard),
];

/// The code of a reason.
pub(crate) fn code_of(why: Reason) -> u8 {
    let code = REASONS.iter().position(|&reason| reason == why).unwrap_or_default();
    u8::try_from(code).unwrap_or_default()
}

/// The reason of a code.
pub(crate) fn reason_of(code: u8) -> Option<Reason> {
    REASONS.get(usize::from(code)).copied()
}

/// A step's name on the wire. It is short and printable, and the same in every notice and message.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct StepName {
    text: [u8; STEP_BYTES],
    len: u8,
}

impl StepName {
    pub(crate) fn new(name: &str) -> Self {
        let mut text = [0; STEP_BYTES];
        let mut len = 0;
        for (to, c) in text.iter_mut().zip(name.chars()) {
            *to = u8::try_from(c).ok().filter(|&b| printable(b)).unwrap_or(b'?');
            len += 1;
        }
        Self { text, len }
    }

    pub(crate) fn as_str(&self) -> &str {
        core::str::from_utf8(&self.text[..usize::from(self.len)]).unwrap_or_default()
    }
}

fn printable(byte: u8) -> bool {
    (b' '..=b'~').contains(&byte)
}

/// A message of a control link.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Notice {
    /// The sender is alive. If it waits, the notice names the party that it waits for, and its
    /// step.
    Alive(Option<(PartyId, StepName)>),
    /// The sender has what it needs and closes its links.
    Goodbye,
    /// The sender ends the session because of `culprit`.
    Abort { culprit: PartyId, why: Reason, step: StepName },
    /// The sender has all its connections, in the session with this id.
    Joined(SessionId),
    /// The sender, a party, has computed `done` of `of` steps. For clients.
    Comes { done: u64, of: u64 },
}

impl Notice {
    pub(crate) fn encode(&self) -> [u8; NOTICE_BYTES] {
        let (kind, party, why, step) = match *self {
            Self::Alive(None) => (1, NOBODY, 0, StepName::new("")),
            Self::Alive(Some((party, step))) => (1, party.0, 0, step),
            Self::Goodbye => (2, NOBODY, 0, StepName::new("")),
            Self::Abort { culprit, why, step } => (3, culprit.0, code_of(why), step),
            Self::Joined(session) => {
                let mut step = StepName { text: [0; STEP_BYTES], len: ID_BYTES as u8 };
                step.text[..ID_BYTES].copy_from_slice(&session.0);
                (JOINED, NOBODY, 0, step)
            }
            Self::Comes { done, of } => {
                let mut step = StepName { text: [0; STEP_BYTES], len: COMES_BYTES as u8 };
                step.text[..8].copy_from_slice(&done.to_le_bytes());
                step.text[8..COMES_BYTES].copy_from_slice(&of.to_le_bytes());
                (COMES, NOBODY, 0, step)
            }
        };
        let mut bytes = [0; NOTICE_BYTES];
        bytes[..HEAD_BYTES].copy_from_slice(&[kind, party, why, step.len]);
        bytes[HEAD_BYTES..].copy_from_slice(&step.text);
        bytes
    }

    /// Decodes exactly the bytes that [`Notice::encode`] writes. Otherwise returns what is wrong.
    pub(crate) fn decode(bytes: &[u8; NOTICE_BYTES]) -> Result<Self, &'static str> {
        let [kind, party, code, len] = [bytes[0], bytes[1], bytes[2], bytes[3]];
        let mut step = StepName { text: [0; STEP_BYTES], len };
        step.text.copy_from_slice(&bytes[HEAD_BYTES..]);
        let (name, zeros) =
            step.text.split_at_checked(usize::from(len)).ok_or("its step is longer than a notice")?;
        if (kind != JOINED && kind != COMES && !name.iter().all(|&b| printable(b)))
            || zeros.iter().any(|&b| b != 0)
        {
            return Err("its step is not printable text");
        }
        let culprit = (party != NOBODY).then_some(PartyId(party));
        let why = reason_of(code).ok_or("its reason does not exist")?;
        let notice = match (kind, culprit) {
            (1, None) => Self::Alive(None),
            (1, Some(peer)) => Self::Alive(Some((peer, step))),
            (2, None) => Self::Goodbye,
            (3, Some(culprit)) => Self::Abort { culprit, why, step },
            (JOINED, None) => {
                let mut id = [0; ID_BYTES];
                id.copy_from_slice(&step.text[..ID_BYTES]);
                Self::Joined(SessionId(id))
            }
            (COMES, None) => {
                let number = |at: usize| {
                    let mut bytes = [0; 8];
                    bytes.copy_from_slice(&step.text[at..at + 8]);
                    u64::from_le_bytes(bytes)
                };
                let (done, of) = (number(0), number(8));
                if done > of {
                    return Err("it says that more is done than there is");
                }
                Self::Comes { done, of }
            }
            (1..=COMES, _) => return Err("it names a party where none belongs, or none where one does"),
            _ => return Err("its kind does not exist"),
        };
        // Unused fields of a kind must have the value that `encode` writes.
        if notice.encode() == *bytes { Ok(notice) } else { Err("a field holds a value that none may hold") }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn abort() -> Notice {
        Notice::Abort { culprit: PartyId(2), why: Reason::Silent, step: StepName::new("layer 3") }
    }

    #[test]
    fn bytes_are_pinned() {
        let bytes = abort().encode();
        assert_eq!(&bytes[..12], b"\x03\x02\x03\x07layer 3\0");
        assert_eq!(Notice::Alive(None).encode()[..4], [1, 255, 0, 0]);
        assert_eq!(Notice::Goodbye.encode()[..4], [2, 255, 0, 0]);
        let waits = Notice::Alive(Some((PartyId(1), StepName::new("x"))));
        let joined = Notice::Joined(SessionId([0x9b; 16]));
        assert_eq!(joined.encode()[..5], [4, 255, 0, 16, 0x9b]);
        let comes = Notice::Comes { done: 3, of: 0x0102 };
        let bytes = comes.encode();
        assert_eq!((&bytes[..5], &bytes[12..15]), (&[5, 255, 0, 16, 3][..], &[2, 1, 0][..]));
        for notice in [abort(), Notice::Alive(None), Notice::Goodbye, waits, joined, comes] {
            assert!(Notice::decode(&notice.encode()) == Ok(notice));
        }
        for (code, &why) in REASONS.iter().enumerate() {
            let bytes = Notice::Abort { culprit: PartyId(0), why, step: StepName::new("") }.encode();
            assert_eq!(usize::from(bytes[2]), code);
            assert!(Notice::decode(&bytes).is_ok());
        }
    }

    #[test]
    fn steps_are_short_and_printable() {
        assert_eq!(StepName::new("läyer\x1b[2J\n").as_str(), "l?yer?[2J?");
        assert_eq!(StepName::new(&"x".repeat(500)).as_str(), "x".repeat(STEP_BYTES));
    }

    #[test]
    fn each_bad_field_is_refused() {
        for (at, value) in [
            (0, 0),
            (0, 4),
            (0, 5),
            (0, 6),
            (0, 2),
            (1, NOBODY),
            (2, 18),
            (3, 6),
            (3, 8),
            (3, 61),
            (4, 0x1b),
            (4, 0),
            (63, 1),
        ] {
            let mut bytes = abort().encode();
            bytes[at] = value;
            assert!(Notice::decode(&bytes).is_err(), "byte {at} = {value}");
        }
        for (at, value) in [(1, 0), (2, 1), (3, 15), (3, 17), (20, 1)] {
            let mut bytes = Notice::Joined(SessionId([5; 16])).encode();
            bytes[at] = value;
            assert!(Notice::decode(&bytes).is_err(), "byte {at} = {value}");
        }
    }

    #[test]
    fn no_more_is_done_than_there_is() {
        let comes = |done, of| Notice::Comes { done, of }.encode();
        for (done, of) in [(0, 0), (3, 3), (0, u64::MAX)] {
            assert!(Notice::decode(&comes(done, of)) == Ok(Notice::Comes { done, of }));
        }
        assert!(Notice::decode(&comes(4, 3)).is_err());
        for (at, value) in [(1, 0), (2, 1), (3, 15), (3, 17), (20, 1)] {
            let mut bytes = comes(3, 300);
            bytes[at] = value;
            assert!(Notice::decode(&bytes).is_err(), "byte {at} = {value}");
        }
    }

    proptest! {
        #[test]
        fn decode_never_panics_and_is_exact(
            head in any::<[u8; 4]>(),
            step in proptest::collection::vec(any::<u8>(), STEP_BYTES),
            plain in any::<bool>(),
        ) {
            let mut bytes = [0; NOTICE_BYTES];
            for (byte, small) in bytes.iter_mut().zip(head) {
                *byte = if plain { small % 6 } else { small };
            }
            for (byte, c) in bytes[HEAD_BYTES..].iter_mut().zip(step) {
                *byte = if plain { 0 } else { c };
            }
            if let Ok(notice) = Notice::decode(&bytes) {
                prop_assert_eq!(notice.encode(), bytes);
            }
        }
    }
}
