//! Drivers, which move a machine's messages over channels, and the buffers of these messages.
//!
//! A [`Driver`] runs machines one after the other on borrowed channels. A [`Lane`] has channels of
//! its own and one machine in flight. [`pipeline`] keeps several lanes of a thread in flight, which
//! hides the latency of rounds. The lengths of all messages are those that the machine's rounds
//! declare.

use crate::{
    Channel, NetError,
    machine::{Exchanged, Gathered, Machine, Message, Round},
};
use core::borrow::BorrowMut;
use hushwire_block::Buffer;

/// Passes on the messages of the last round, if there was one, and writes those of the next.
/// Returns false if there is no next round.
pub(crate) fn advance<M: Machine + ?Sized>(
    machine: &mut M,
    last: Option<&[Exchanged<'_>]>,
    out: &mut [Message],
) -> Result<bool, M::Error> {
    let written = match (last, machine.upcoming()) {
        (None, _) => 0,
        (Some(last), Some(round)) => turn(machine, last, round, out)?,
        (Some(last), None) => {
            machine.read(last)?;
            0
        }
    };
    speak(machine, written, out)
}

/// Passes on a round's messages and writes the next message to slot 0. Returns the number of slots
/// that are written.
fn turn<M: Machine + ?Sized>(
    machine: &mut M,
    last: &[Exchanged<'_>],
    round: Round,
    out: &mut [Message],
) -> Result<usize, M::Error> {
    machine.turn(last, out[0].make(round.out))?;
    debug_assert_eq!(machine.round(0), Some(round), "the round that was announced");
    Ok(1)
}

/// Writes the next round's messages to all slots but the first `written`. Returns false if there is
/// no next round.
fn speak<M: Machine + ?Sized>(
    machine: &mut M,
    written: usize,
    out: &mut [Message],
) -> Result<bool, M::Error> {
    for (slot, out) in out.iter_mut().enumerate() {
        out.round = machine.round(slot);
        let Some(round) = out.round else { return Ok(false) };
        if slot >= written {
            machine.hand(slot, &mut out.bytes, round.out)?;
        }
    }
    Ok(true)
}

/// Message buffers for a machine's slots. They are kept between runs, since fresh pages cost more
/// time than the socket.
#[derive(Default)]
pub(crate) struct Buffers {
    own: Vec<Message>,
    out: Vec<Message>,
    heard: Vec<Buffer>,
    /// Whether this round's own messages are lent out until the messages of the peers come.
    lent: bool,
}

impl Buffers {
    /// Makes buffers for a machine's slots.
    ///
    /// # Panics
    /// If the number of channels is not that of the machine's slots (the caller's bug).
    pub(crate) fn fit<M: Machine + ?Sized>(&mut self, machine: &M, channels: usize) {
        assert_eq!(machine.slots(), channels, "a channel for each slot");
        self.own.resize_with(channels, Message::default);
        self.out.resize_with(channels, Message::default);
        self.heard.resize_with(channels, Buffer::new);
    }

    /// Passes on the messages of the last round, if there was one, and writes those of the next.
    /// Returns false if there is no next round.
    pub(crate) fn advance<M: Machine + ?Sized>(
        &mut self,
        machine: &mut M,
        absorb: bool,
    ) -> Result<bool, M::Error> {
        let Buffers { own, out, heard, .. } = self;
        let written = match (absorb, machine.upcoming()) {
            (false, _) => 0,
            (true, Some(round)) => turn(machine, Gathered::of(own, heard).all(), round, out)?,
            (true, None) => {
                machine.take(own, heard)?;
                0
            }
        };
        let more = speak(machine, written, out)?;
        std::mem::swap(own, out);
        Ok(more)
    }

    /// The round whose messages are written.
    pub(crate) fn round(&self, slot: usize) -> Round {
        self.own[slot].round.unwrap_or(Round::even("", 0))
    }

    /// This party's message in that round.
    pub(crate) fn said(&self, slot: usize) -> &[u8] {
        self.own[slot].sent()
    }

    /// Gives away this party's message on a slot, and takes another buffer for it.
    pub(crate) fn lend(&mut self, slot: usize, other: &mut Buffer) {
        std::mem::swap(&mut self.own[slot].bytes, other);
        self.lent = true;
    }

    /// Takes a slot's messages, including the own one if it is lent out.
    pub(crate) fn hear(&mut self, slot: usize, message: &Exchanged<'_>) {
        let put = |to: &mut Buffer, from: &[u8]| {
            to.reserve_len(from.len());
            to[..from.len()].copy_from_slice(from);
        };
        put(&mut self.heard[slot], message.heard);
        if self.lent {
            let own = &mut self.own[slot];
            own.bytes.reserve_len(own.round.map_or(0, |round| round.out));
            put(&mut own.bytes, message.own);
        }
    }

    /// The same for messages in buffers, which are swapped.
    pub(crate) fn keep(&mut self, slot: usize, own: &mut Message, heard: &mut Buffer) {
        std::mem::swap(&mut self.heard[slot], heard);
        if self.lent {
            std::mem::swap(&mut self.own[slot].bytes, &mut own.bytes);
        }
    }

    #[cfg(test)]
    pub(crate) fn heard_at(&self, slot: usize) -> usize {
        self.heard[slot].as_ptr() as usize
    }

    /// Marks all messages as returned.
    pub(crate) fn returned(&mut self) {
        self.lent = false;
    }

    /// Starts to send on all channels, without waiting.
    fn start<C: BorrowMut<Channel>>(&self, channels: &mut [C]) -> Result<(), NetError> {
        channels
            .iter_mut()
            .zip(&self.own)
            .try_for_each(|(channel, own)| channel.borrow_mut().start(own.name(), own.sent()))
    }

    /// Finishes the exchange on all channels.
    fn finish<C: BorrowMut<Channel>>(&mut self, channels: &mut [C]) -> Result<(), NetError> {
        for ((channel, own), heard) in channels.iter_mut().zip(&self.own).zip(&mut self.heard) {
            heard.reserve_len(own.comes());
            channel.borrow_mut().finish(own.name(), own.sent(), &mut heard[..own.comes()])?;
        }
        Ok(())
    }
}

/// Message buffers for machines that run one after the other on borrowed channels.
#[derive(Default)]
pub struct Driver(Buffers);

impl Driver {
    /// Makes a driver without buffers.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Runs `machine` to its end on `channel`.
    ///
    /// # Errors
    /// The errors of the machine and the channel.
    ///
    /// # Panics
    /// If the machine has more than one slot (the caller's bug).
    pub fn run<M>(&mut self, channel: &mut Channel, machine: &mut M) -> Result<(), M::Error>
    where
        M: Machine + ?Sized,
        M::Error: From<NetError>,
    {
        let mut run = self.begin(machine);
        while run.step(std::slice::from_mut(channel))? {}
        Ok(())
    }

    /// Begins a run whose caller has work between rounds.
    pub fn begin<'d, M: Machine + ?Sized>(&'d mut self, machine: &'d mut M) -> DriverRun<'d, M> {
        DriverRun { buffers: &mut self.0, machine, absorb: false }
    }
}

/// A machine's run, round by round.
#[must_use = "take its steps until there is none"]
pub struct DriverRun<'d, M: Machine + ?Sized> {
    buffers: &'d mut Buffers,
    machine: &'d mut M,
    /// Whether a round was exchanged that the machine has not read.
    absorb: bool,
}

impl<M: Machine + ?Sized> DriverRun<'_, M>
where
    M::Error: From<NetError>,
{
    /// Passes on the messages of the previous round, then writes and exchanges those of the next,
    /// on one channel for each slot. Returns false when the protocol is done. Between two steps the
    /// channels are idle.
    ///
    /// # Errors
    /// The machine or a channel failed; the run is lost.
    ///
    /// # Panics
    /// If the number of channels is not that of the slots (the caller's bug).
    pub fn step<C: BorrowMut<Channel>>(&mut self, channels: &mut [C]) -> Result<bool, M::Error> {
        self.buffers.fit(&*self.machine, channels.len());
        self.absorb = self.buffers.advance(self.machine, self.absorb)?;
        if self.absorb {
            self.buffers.start(channels)?;
            self.buffers.finish(channels)?;
        }
        Ok(self.absorb)
    }

    /// The machine, for work between rounds.
    pub fn machine(&mut self) -> &mut M {
        self.machine
    }
}

/// One channel for each slot, owned or borrowed, and the machine in flight on them. Buffers are
/// kept between runs.
///
/// Several lanes of one thread hide the latency of rounds: `begin` all of them, then `advance` each
/// in turn, in an order that all parties share.
pub struct Lane<M, C = Channel> {
    channels: Vec<C>,
    buffers: Buffers,
    flight: Option<M>,
}

impl<M: Machine, C: BorrowMut<Channel>> Lane<M, C> {
    /// An idle lane on `channel`, for machines with one slot.
    pub fn new(channel: C) -> Self {
        Self::over(vec![channel])
    }

    /// An idle lane with a channel for each slot. All parties must keep the same order of channels:
    /// slot by slot on a ring, peers by number otherwise.
    pub fn over(channels: Vec<C>) -> Self {
        Lane { channels, buffers: Buffers::default(), flight: None }
    }

    /// Whether a run is in flight.
    pub fn is_busy(&self) -> bool {
        self.flight.is_some()
    }

    /// Writes the first messages and starts to exchange them, without waiting for a peer. A machine
    /// without rounds is returned at once.
    ///
    /// # Errors
    /// The errors of the machine and of [`Channel::start`].
    ///
    /// # Panics
    /// If a run is already in flight, or the number of channels is not that of the slots (the
    /// caller's bug).
    pub fn begin<E>(&mut self, mut machine: M) -> Result<Option<M>, E>
    where
        E: From<NetError> + From<M::Error>,
    {
        assert!(self.flight.is_none(), "a run is in flight on this lane");
        self.buffers.fit(&machine, self.channels.len());
        self.next(&mut machine, false).map(|more| self.keep(machine, more))
    }

    /// Finishes the exchange in flight. Then starts the next one, or returns the machine if that
    /// was the last.
    ///
    /// # Errors
    /// The errors of the machine, [`Channel::finish`] and [`Channel::start`]; the run is lost.
    ///
    /// # Panics
    /// If no run is in flight (the caller's bug).
    pub fn advance<E>(&mut self) -> Result<Option<M>, E>
    where
        E: From<NetError> + From<M::Error>,
    {
        let Some(mut machine) = self.flight.take() else { panic!("no run is in flight on this lane") };
        self.buffers.finish(&mut self.channels)?;
        self.next(&mut machine, true).map(|more| self.keep(machine, more))
    }

    fn next<E>(&mut self, machine: &mut M, absorb: bool) -> Result<bool, E>
    where
        E: From<NetError> + From<M::Error>,
    {
        let more = self.buffers.advance(machine, absorb)?;
        if more {
            self.buffers.start(&mut self.channels)?;
        }
        Ok(more)
    }

    fn keep(&mut self, machine: M, more: bool) -> Option<M> {
        if !more {
            return Some(machine);
        }
        self.flight = Some(machine);
        None
    }

    /// Runs `machine` to its end, blocking.
    ///
    /// # Errors
    /// The errors of [`Lane::advance`].
    pub fn run(&mut self, machine: M) -> Result<M, M::Error>
    where
        M::Error: From<NetError>,
    {
        let mut done = self.begin::<M::Error>(machine)?;
        loop {
            match done {
                Some(machine) => return Ok(machine),
                None => done = self.advance::<M::Error>()?,
            }
        }
    }

    /// The channels, for another use. A run in flight is lost.
    pub fn into_channels(self) -> Vec<C> {
        self.channels
    }
}

/// The source and the sink of a [`pipeline`]'s runs.
pub trait Work<M: Machine> {
    /// The error of the work. It includes errors of its machines and of the network.
    type Error: From<NetError> + From<M::Error>;

    /// The next run, or `None` if there are no more.
    ///
    /// # Errors
    /// An error ends the pipeline.
    fn next(&mut self) -> Result<Option<M>, Self::Error>;

    /// Takes a finished run. Runs finish in the order in which they were given, if all have the
    /// same number of rounds.
    ///
    /// # Errors
    /// An error ends the pipeline.
    fn done(&mut self, machine: M) -> Result<(), Self::Error>;
}

/// Keeps every lane in flight on this thread until `work` has no more runs. All parties must offer
/// the same work in the same order.
///
/// # Errors
/// The first error of a lane, a machine or `work`. Runs in flight are lost.
pub fn pipeline<M: Machine, W: Work<M>>(lanes: &mut [Lane<M>], work: &mut W) -> Result<(), W::Error> {
    for lane in lanes.iter_mut() {
        if !fill(lane, work)? {
            break;
        }
    }
    while lanes.iter().any(Lane::is_busy) {
        for lane in lanes.iter_mut().filter(|lane| lane.is_busy()) {
            if let Some(machine) = lane.advance::<W::Error>()? {
                work.done(machine)?;
                fill(lane, work)?;
            }
        }
    }
    Ok(())
}

/// Begins the next run on an idle lane. Returns false if there are no more. Runs without rounds are
/// done at once.
fn fill<M: Machine, W: Work<M>>(lane: &mut Lane<M>, work: &mut W) -> Result<bool, W::Error> {
    while let Some(machine) = work.next()? {
        match lane.begin::<W::Error>(machine)? {
            None => return Ok(true),
            Some(machine) => work.done(machine)?,
        }
    }
    Ok(false)
}
