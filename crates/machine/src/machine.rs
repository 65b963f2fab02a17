//! One kind of protocol machine: a party's half of a protocol, a round at a time, without input or
//! output.

use crate::Cost;
use hushwire_block::Buffer;

/// One round of a machine on one slot.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Round {
    /// The step's name in errors.
    pub name: &'static str,
    /// Bytes that this party sends.
    pub out: usize,
    /// Bytes that this party hears.
    pub into: usize,
}

impl Round {
    /// A round in which as much is heard as is sent.
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
    /// The message that came.
    pub heard: &'a [u8],
}

impl<'a> Exchanged<'a> {
    /// No message either way.
    pub const NOTHING: Exchanged<'static> = Exchanged { own: &[], heard: &[] };

    /// A message that came, for a machine that does not look at its own again.
    #[must_use]
    pub const fn heard(heard: &'a [u8]) -> Exchanged<'a> {
        Exchanged { own: &[], heard }
    }
}

/// One slot's message, in a buffer that is kept.
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

    /// Bytes that the round brings.
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

/// Slots whose messages are gathered without an allocation.
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

    /// Messages that are in buffers.
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

/// One party's half of a protocol without input or output: round by round it writes a message to
/// each of its slots, then reads the messages of all of them. What is sent in a round does not
/// depend on what is heard in it.
///
/// A slot is a direction of talk as a [`Channel`](crate::Channel) is one: out to one peer and in
/// from another, which may be the same. Two parties need one slot, a ring of three needs one, `n`
/// parties that all talk to each other need `n - 1`, in the order of peers.
///
/// ```text
/// round ─► write(0) … write(s-1) ─► exchange
///    upcoming is None   ─► read ─► round, until there is none
///    upcoming is known  ─► turn, then write(1) … write(s-1) ─► exchange
/// ```
///
/// Lengths come from agreed parameters alone; drivers hand on exactly these, or end the run. After
/// an error the machine is of no more use. Software, hardware and test parties all have this trait,
/// and one set of drivers runs them: see [`drive`](crate::drive).
pub trait Machine {
    /// The reasons for which a step may fail. A machine whose steps cannot fail has
    /// [`NetError`](crate::NetError), the error of the channels under it.
    type Error;

    /// Slots that it talks on, the same in every round.
    fn slots(&self) -> usize {
        1
    }

    /// The round under way on a slot; `None` on all of them when the protocol is done.
    fn round(&self, slot: usize) -> Option<Round>;

    /// Writes all of the round's message to `slot`; the old contents of `out` are arbitrary. Slots
    /// come in order, once each.
    ///
    /// # Errors
    /// As the protocol says; nothing may be sent then.
    fn write(&mut self, slot: usize, out: &mut [u8]) -> Result<(), Self::Error>;

    /// [`Machine::write`] into the first `bytes` of a buffer, which may be exchanged for another:
    /// whoever has made the message in a buffer already hands it over, and need not copy it.
    ///
    /// # Errors
    /// As there.
    fn hand(&mut self, slot: usize, out: &mut Buffer, bytes: usize) -> Result<(), Self::Error> {
        out.reserve_len(bytes);
        self.write(slot, &mut out[..bytes])
    }

    /// Takes the messages of the round, one for each slot, and goes on to the next round.
    ///
    /// # Errors
    /// A message is malformed, or a check failed.
    fn read(&mut self, messages: &[Exchanged<'_>]) -> Result<(), Self::Error>;

    /// [`Machine::read`] of messages in buffers, one of each for every slot. Buffers may be
    /// exchanged for others: whoever keeps a message need not copy it.
    ///
    /// # Errors
    /// As there.
    fn take(&mut self, own: &mut [Message], heard: &mut [Buffer]) -> Result<(), Self::Error> {
        self.read(Gathered::of(own, heard).all())
    }

    /// The round after the one under way on slot 0, where [`Machine::turn`] takes these messages
    /// and makes that one's. A driver calls `turn` then, and `read` where this is `None`.
    fn upcoming(&self) -> Option<Round> {
        None
    }

    /// [`Machine::read`] and [`Machine::write`] to slot 0 in one, for machines whose kernels take a
    /// round's messages and make the next one's in one pass over memory. Other slots follow through
    /// `write`.
    ///
    /// # Errors
    /// As of both.
    fn turn(&mut self, messages: &[Exchanged<'_>], out: &mut [u8]) -> Result<(), Self::Error> {
        self.read(messages)?;
        self.write(0, out)
    }

    /// The declared cost of a whole run, derived from the protocol's parameters; `None` where it
    /// depends on a state that runs share. Its rounds are those that pass, or those in which this
    /// party says or hears something. [`Lockstep`](crate::drive::Lockstep) holds a machine to it.
    fn cost(&self) -> Option<Cost> {
        None
    }
}

/// A machine, and what belongs to it and takes no part.
pub struct With<M, T> {
    /// The machine.
    pub machine: M,
    /// All else.
    pub with: T,
}
