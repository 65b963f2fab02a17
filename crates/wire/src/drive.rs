//! Runs sans-IO executors: one party over a [`Channel`], or all parties in lockstep on one thread.

use crate::{Channel, NetError};
use hushwire_block::Buffer;

/// The messages of one layer's exchange: equal lengths, both empty before the first layer.
#[derive(Clone, Copy)]
pub struct Exchanged<'a> {
    /// The message this party sent.
    pub own: &'a [u8],
    /// The message that came from the right-hand neighbour.
    pub next: &'a [u8],
}

impl Exchanged<'_> {
    /// Nothing has been exchanged yet.
    pub const NOTHING: Exchanged<'static> = Exchanged { own: &[], next: &[] };
}

/// One party's side of a layered protocol on a ring, as pure steps: every party sends one message to its left
/// neighbour in each layer and hears one of the same length from its right neighbour.
///
/// Absorbing a layer's messages and the local step of the next are one call, so that an implementation may fuse
/// them. A software party, a hardware party and a plain evaluator can all stand behind this trait.
pub trait Executor {
    /// Layers, each of which exchanges one message.
    fn layers(&self) -> usize;
    /// Bytes of the message of `layer`; the same for every party, known from agreed parameters alone.
    fn message_bytes(&self, layer: usize) -> usize;
    /// The step's name in errors.
    fn step_name(&self, layer: usize) -> &'static str;
    /// Absorbs the messages of layer `layer - 1` and writes all of this layer's `message` (its old contents are arbitrary).
    fn local(&mut self, layer: usize, arrived: Exchanged<'_>, message: &mut [u8]);
    /// Absorbs the messages of the last layer.
    fn finish(&mut self, arrived: Exchanged<'_>);

    /// Bytes that one run sends.
    fn bytes_sent(&self) -> u64 {
        (0..self.layers()).map(|k| self.message_bytes(k) as u64).sum()
    }
}

impl<E: Executor + ?Sized> Executor for Box<E> {
    fn layers(&self) -> usize {
        (**self).layers()
    }
    fn message_bytes(&self, layer: usize) -> usize {
        (**self).message_bytes(layer)
    }
    fn step_name(&self, layer: usize) -> &'static str {
        (**self).step_name(layer)
    }
    fn local(&mut self, layer: usize, arrived: Exchanged<'_>, message: &mut [u8]) {
        (**self).local(layer, arrived, message);
    }
    fn finish(&mut self, arrived: Exchanged<'_>) {
        (**self).finish(arrived);
    }
}

/// One channel and the executor in flight on it. Buffers are kept from run to run.
///
/// Several lanes of one thread hide rounds: `begin` all of them, then `advance` each in turn, in an order that all
/// parties share.
pub struct Lane<E> {
    channel: Channel,
    flight: Option<(E, usize)>,
    own: Buffer,
    next: Buffer,
    out: Buffer,
}

impl<E: Executor> Lane<E> {
    /// An idle lane on `channel`, which must lead to the left neighbour and from the right one.
    pub fn new(channel: Channel) -> Self {
        Lane { channel, flight: None, own: Buffer::new(), next: Buffer::new(), out: Buffer::new() }
    }

    /// Whether a run is in flight.
    pub fn is_busy(&self) -> bool {
        self.flight.is_some()
    }

    /// Takes the first local step and starts its exchange; does not wait for a peer.
    ///
    /// # Errors
    /// As [`Channel::start`].
    ///
    /// # Panics
    /// If a run is in flight already (the caller's bug).
    pub fn begin(&mut self, mut executor: E) -> Result<(), NetError> {
        assert!(self.flight.is_none(), "a run is in flight on this lane");
        let len = executor.message_bytes(0);
        self.own.reserve_len(len);
        executor.local(0, Exchanged::NOTHING, &mut self.own[..len]);
        self.channel.start(executor.step_name(0), &self.own[..len])?;
        self.flight = Some((executor, 0));
        Ok(())
    }

    /// Finishes the exchange in flight, then starts the next, or gives the executor back when it was the last.
    ///
    /// # Errors
    /// As [`Channel::finish`] and [`Channel::start`]; the run is lost.
    ///
    /// # Panics
    /// If no run is in flight (the caller's bug).
    pub fn advance(&mut self) -> Result<Option<E>, NetError> {
        let (mut executor, layer) = self.flight.take().expect("a run is in flight on this lane");
        let len = executor.message_bytes(layer);
        self.next.reserve_len(len);
        self.channel.finish(executor.step_name(layer), &self.own[..len], &mut self.next[..len])?;
        let arrived = Exchanged { own: &self.own[..len], next: &self.next[..len] };
        let layer = layer + 1;
        if layer == executor.layers() {
            executor.finish(arrived);
            return Ok(Some(executor));
        }
        let len = executor.message_bytes(layer);
        self.out.reserve_len(len);
        executor.local(layer, arrived, &mut self.out[..len]);
        std::mem::swap(&mut self.own, &mut self.out);
        self.channel.start(executor.step_name(layer), &self.own[..len])?;
        self.flight = Some((executor, layer));
        Ok(None)
    }

    /// Runs `executor` to its end, blocking.
    ///
    /// # Errors
    /// As [`Lane::advance`].
    pub fn run(&mut self, executor: E) -> Result<E, NetError> {
        if executor.layers() == 0 {
            return Ok(executor);
        }
        self.begin(executor)?;
        loop {
            if let Some(done) = self.advance()? {
                return Ok(done);
            }
        }
    }

    /// The channel, for another use; a run in flight is lost.
    pub fn into_channel(self) -> Channel {
        self.channel
    }
}

/// Where a [`pipeline`] takes its runs from and brings them to.
pub trait Work<E> {
    /// An error of the network, or of the source of runs.
    type Error: From<NetError>;

    /// The next run, or `None` when there is no more.
    ///
    /// # Errors
    /// Ends the pipeline.
    fn next(&mut self) -> Result<Option<E>, Self::Error>;

    /// Takes a finished run; runs finish in the order in which they were given, if all have equally many layers.
    ///
    /// # Errors
    /// Ends the pipeline.
    fn done(&mut self, executor: E) -> Result<(), Self::Error>;

    /// Asked after every step of every run: an executor's steps cannot fail, but what stands behind one may (a device).
    ///
    /// # Errors
    /// Ends the pipeline.
    fn check(&mut self) -> Result<(), Self::Error> {
        Ok(())
    }
}

/// Keeps every lane in flight on this thread until `work` is used up. All parties must offer the same work in the same order.
///
/// # Errors
/// The first error of a lane or of `work`; runs in flight are lost.
pub fn pipeline<E: Executor, W: Work<E>>(lanes: &mut [Lane<E>], work: &mut W) -> Result<(), W::Error> {
    for lane in lanes.iter_mut() {
        match work.next()? {
            Some(executor) => lane.begin(executor)?,
            None => break,
        }
        work.check()?;
    }
    while lanes.iter().any(Lane::is_busy) {
        for lane in lanes.iter_mut().filter(|lane| lane.is_busy()) {
            if let Some(executor) = lane.advance()? {
                work.done(executor)?;
                if let Some(executor) = work.next()? {
                    lane.begin(executor)?;
                }
            }
            work.check()?;
        }
    }
    Ok(())
}

/// Advances all parties of a ring on one thread: no queue, no copy; each reads its neighbour's message where it lies.
#[derive(Default)]
pub struct Lockstep {
    sent: Vec<Buffer>,
    out: Vec<Buffer>,
}

impl Lockstep {
    /// With no buffers yet; they are kept from run to run.
    #[must_use]
    pub fn new() -> Self {
        Lockstep::default()
    }

    /// Runs every party to its end. Party `i` hears from party `i + 1`, the last one from the first.
    ///
    /// # Panics
    /// If the parties disagree on the number of layers or on a message's length (the caller's bug).
    pub fn run<E: Executor>(&mut self, parties: &mut [E]) {
        let n = parties.len();
        self.sent.resize_with(n, Buffer::new);
        self.out.resize_with(n, Buffer::new);
        let layers = parties.first().map_or(0, Executor::layers);
        assert!(parties.iter().all(|p| p.layers() == layers), "parties disagree on the number of layers");
        let mut arrived_len = 0;
        for layer in 0..layers {
            let len = parties[0].message_bytes(layer);
            for (i, party) in parties.iter_mut().enumerate() {
                assert_eq!(party.message_bytes(layer), len, "parties disagree on a message's length");
                self.out[i].reserve_len(len);
                let arrived = arrived(&self.sent, i, arrived_len);
                party.local(layer, arrived, &mut self.out[i][..len]);
            }
            std::mem::swap(&mut self.sent, &mut self.out);
            arrived_len = len;
        }
        for (i, party) in parties.iter_mut().enumerate() {
            party.finish(arrived(&self.sent, i, arrived_len));
        }
    }
}

fn arrived(sent: &[Buffer], i: usize, len: usize) -> Exchanged<'_> {
    if len == 0 {
        return Exchanged::NOTHING;
    }
    Exchanged { own: &sent[i][..len], next: &sent[(i + 1) % sent.len()][..len] }
}
