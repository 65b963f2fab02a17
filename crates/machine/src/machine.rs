//! The trait of protocol machines: a party's part of a protocol, a round at a time, without input
//! or output.
//!
//! In each round, a [`Machine`] writes a message to each of its slots, then reads the messages of
//! all slots. Drivers move the messages, so one machine runs over a network, in lockstep with its
//! peers, or alone from a recording. The lengths of messages follow from agreed parameters only.

use crate::Cost;
use hushwire_block::Buffer;

/// One round of a machine on one slot.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Round {
    /// The step's name in errors.
    pub name: &'static str,
    /// The number of bytes that this party sends.
    pub out: usize,
    /// The number of bytes that this party receives.
    pub into: usize,
}

impl Round {
    /// A round in which as many bytes are received as sent.
    #[must_use]
    pub const fn even(name: &'static str, bytes: usize) -> Round {
        Round { name, out: bytes, into: bytes }
    }
}

/// The messages of one round on one slot.
#[derive(Clone, Copy, Default, Debug)]
pub struct Exchanged<'a> {
    /// The message that this party sent.
    pub own: &'a [u8],
    /// The message that this party received.
    pub heard: &'a [u8],
}

impl<'a> Exchanged<'a> {
    /// Empty messages in both directions.
    pub const NOTHING: Exchanged<'static> = Exchanged { own: &[], heard: &[] };

    /// A received message, for a machine that does not read its own messages again.
    #[must_use]
    pub const fn heard(heard: &'a [u8]) -> Exchanged<'a> {
        Exchanged { own: &[], heard }
    }
}

/// One slot's message, in a buffer that is reused.
#[derive(Default)]
pub struct Message {
    pub(crate) bytes: Buffer,
    pub(crate) round: Option<Round>,
}

impl Message {
    /// The message that this party sent.
    #[must_use]
    pub fn sent(&self) -> &[u8] {
        &self.bytes[..self.round.map_or(0, |round| round.out)]
    }

    /// The number of bytes that this party receives in the round.
    #[must_use]
    pub fn comes(&self) -> usize {
        self.round.map_or(0, |round| round.into)
    }

    pub(crate) fn name(&self) -> &'static str {
        self.round.map_or("", |round| round.name)
    }

    pub(crate) fn make(&mut self, len: usize) -> &mut [u8] {
        self.bytes.reserve_len(len);
        &mut self.bytes[..len]
    }
}

/// The number of slots whose messages are gathered without an allocation.
const FEW: usize = 8;

/// The messages of a round, one for each slot.
pub(crate) struct Gathered<'a> {
    few: [Exchanged<'a>; FEW],
    many: Vec<Exchanged<'a>>,
    slots: usize,
}

impl<'a> Gathered<'a> {
    pub(crate) fn new(slots: usize, of: &dyn Fn(usize) -> Exchanged<'a>) -> Self {
        let (mut few, mut many) = ([Exchanged::NOTHING; FEW], vec![]);
        if slots > FEW {
            many.extend((0..slots).map(of));
        } else {
            few.iter_mut().take(slots).enumerate().for_each(|(slot, message)| *message = of(slot));
        }
        Gathered { few, many, slots }
    }

    /// Gathers messages that are in buffers.
    pub(crate) fn of(own: &'a [Message], heard: &'a [Buffer]) -> Self {
        Self::new(own.len(), &|slot| Exchanged {
            own: own[slot].sent(),
            heard: &heard[slot][..own[slot].comes()],
        })
    }

    pub(crate) fn all(&self) -> &[Exchanged<'a>] {
        if self.slots > FEW { &self.many } else { &self.few[..self.slots] }
    }
}

/// One party's part of a protocol without input or output. In each round it writes a message to
/// each of its slots, then reads the messages of all slots. A message does not depend on messages
/// that are received in the same round.
///
/// A slot is a direction of communication, like a [`Channel`](crate::Channel): out to one peer and
/// in from another, which may be the same. Two parties need one slot, and so does a ring of three.
/// `n` parties that all communicate with each other need `n - 1` slots, in the order of peers.
///
/// ```text
/// round ─► write(0) … write(s-1) ─► exchange
///    upcoming is None   ─► read ─► round, until there is none
///    upcoming is known  ─► turn, then write(1) … write(s-1) ─► exchange
/// ```
///
/// Lengths follow from agreed parameters only. Drivers pass on messages of exactly these lengths,
/// or end the run. After an error the machine cannot be used any more. Software, hardware and test
/// parties all have this trait, and one set of drivers runs them: see [`drive`](crate::drive).
pub trait Machine {
    /// The error of a step. A machine whose steps cannot fail has [`NetError`](crate::NetError),
    /// the error of the channels under it.
    type Error;

    /// The number of slots, the same in every round.
    fn slots(&self) -> usize {
        1
    }

    /// The round in progress on a slot; `None` on all slots when the protocol is done.
    fn round(&self, slot: usize) -> Option<Round>;

    /// Writes the whole message of the round to `slot`. The old contents of `out` are arbitrary.
    /// Slots come in order, once each.
    ///
    /// # Errors
    /// The errors of the protocol. Nothing may be sent after one.
    fn write(&mut self, slot: usize, out: &mut [u8]) -> Result<(), Self::Error>;

    /// As [`Machine::write`], into the first `bytes` of a buffer, which may be swapped for another.
    /// A machine that has already made the message in a buffer passes that on, and need not copy
    /// it.
    ///
    /// # Errors
    /// The errors of [`Machine::write`].
    fn hand(&mut self, slot: usize, out: &mut Buffer, bytes: usize) -> Result<(), Self::Error> {
        out.reserve_len(bytes);
        self.write(slot, &mut out[..bytes])
    }

    /// Takes the messages of the round, one for each slot, and proceeds to the next round.
    ///
    /// # Errors
    /// A message is malformed, or a check failed.
    fn read(&mut self, messages: &[Exchanged<'_>]) -> Result<(), Self::Error>;

    /// As [`Machine::read`], for messages in buffers, one of each for every slot. Buffers may be
    /// swapped for others, so that a machine that keeps a message need not copy it.
    ///
    /// # Errors
    /// The errors of [`Machine::read`].
    fn take(&mut self, own: &mut [Message], heard: &mut [Buffer]) -> Result<(), Self::Error> {
        self.read(Gathered::of(own, heard).all())
    }

    /// The next round on slot 0, if [`Machine::turn`] can take these messages and make the message
    /// of that round. A driver then calls `turn`; it calls `read` if this is `None`.
    fn upcoming(&self) -> Option<Round> {
        None
    }

    /// As [`Machine::read`] and [`Machine::write`] to slot 0 in one call. It serves machines whose
    /// kernels take a round's messages and make the next message in one pass over memory. Other
    /// slots follow through `write`.
    ///
    /// # Errors
    /// The errors of both.
    fn turn(&mut self, messages: &[Exchanged<'_>], out: &mut [u8]) -> Result<(), Self::Error> {
        self.read(messages)?;
        self.write(0, out)
    }

    /// The declared cost of a whole run, derived from the protocol's parameters. `None` if it
    /// depends on a state that runs share. Its rounds are either all rounds, or those in which this
    /// party sends or receives something. [`Lockstep`](crate::drive::Lockstep) checks it.
    fn cost(&self) -> Option<Cost> {
        None
    }
}

/// A machine with data that belongs to it and takes no part in the protocol.
pub struct With<M, T> {
    /// The machine.
    pub machine: M,
    /// The data.
    pub with: T,
}
