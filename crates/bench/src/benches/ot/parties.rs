//! Connects the two parties, times their set-up, and returns their threads.

use std::time::{Duration, Instant};

use hushwire_machine::{Channel, Meter, MeterReading, Net, PartyId, SessionId};
use hushwire_ot::{Context, Driver, OtError, Role, Security, Sid, open_receiver, open_sender};
use hushwire_prg::Seed;

use super::{
    ends::{OpenedEnd, PartyThread, compare},
    grid::Point,
};
use crate::{BoxError, net, workers};

/// The threads of both parties, alternating between sender and receiver.
pub(super) struct Parties<S: Security> {
    ends: Vec<PartyThread<S>>,
    meters: [Meter; 2],
    /// The OTs of all threads.
    count: usize,
    /// The time of each set-up of the first thread.
    pub(super) setup: Vec<Duration>,
    /// The cost of one set-up.
    pub(super) setup_spent: Spent,
}

/// The payload bytes that the busier party sent, and the number of consecutive exchanges.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Spent {
    pub(super) bytes: u64,
    pub(super) rounds: u64,
}

impl Spent {
    fn of(readings: &[MeterReading; 2]) -> Self {
        let most = |of: fn(&MeterReading) -> u64| readings.iter().map(of).max().unwrap_or(0);
        Self { bytes: most(MeterReading::bytes_sent), rounds: most(MeterReading::rounds) }
    }
}

/// One party after set-up.
struct SetUpParty<S: Security> {
    ends: Vec<PartyThread<S>>,
    /// The start and the end of each set-up.
    spans: Vec<(Instant, Instant)>,
    setup: MeterReading,
}

impl<S: Security> Parties<S> {
    /// Connects the parties. Set-up runs `setups` times, and is complete before other work is
    /// timed.
    pub(super) fn new(point: &Point, count: usize, setups: u32) -> Result<Self, BoxError> {
        let id = SessionId::fresh()?;
        let nets = net::nets::<2>(point.transport, point.net, id, u16::try_from(point.threads)?)?;
        let meters = [(); 2].map(|()| Meter::new());
        let each = count / point.threads;
        let parties = net::each(nets, |i, net| {
            party([Role::Sender, Role::Receiver][i], net, id, point, each, setups, &meters[i])
        })?;
        let parties: [SetUpParty<S>; 2] = parties.try_into().map_err(|_| "not two parties")?;
        let [sender, receiver] = parties;
        let spans = sender.spans.iter().zip(&receiver.spans);
        let setup = spans.map(|(a, b)| a.1.max(b.1) - a.0.min(b.0)).collect();
        let setup_spent = Spent::of(&[sender.setup, receiver.setup]);
        let pairs = sender.ends.into_iter().zip(receiver.ends);
        let ends = pairs.flat_map(|(s, r)| [s, r]).collect();
        Ok(Self { ends, meters, count: each * point.threads, setup, setup_spent })
    }

    /// The time of `n` repetitions of all OTs, from the first thread's start to the last one's end.
    pub(super) fn time(&mut self, n: u64) -> Result<Duration, BoxError> {
        workers::time(&mut self.ends, n)
    }

    /// The bytes for an OT in the busier direction, and the rounds for all OTs: means over all
    /// repetitions.
    pub(super) fn spent(&self) -> (f64, u64) {
        let repetitions = self.ends.first().map_or(1, |end| end.repetitions).max(1);
        let spent = Spent::of(&[self.meters[0].reading(), self.meters[1].reading()]);
        let ots = self.count as f64 * repetitions as f64;
        (spent.bytes as f64 / ots, spent.rounds.div_ceil(repetitions))
    }

    /// The mean bytes of a message in the busier direction so far. Exchanges in which the party
    /// only receives count too.
    pub(super) fn message(&self) -> u64 {
        let spent = Spent::of(&[self.meters[0].reading(), self.meters[1].reading()]);
        // Each thread has a lane, and the rounds are those of one lane.
        spent.bytes / (spent.rounds * (self.ends.len() as u64 / 2)).max(1)
    }

    /// Compares all OTs of the last repetition.
    pub(super) fn check(&mut self, spoiled: bool) -> Result<(), BoxError> {
        for pair in self.ends.chunks_exact_mut(2) {
            let [sender, receiver] = pair else { return Err("an end has no other".into()) };
            compare(sender, receiver, spoiled)?;
        }
        Ok(())
    }
}

fn party<S: Security>(
    role: Role,
    mut net: Net,
    id: SessionId,
    point: &Point,
    each: usize,
    setups: u32,
    meter: &Meter,
) -> Result<SetUpParty<S>, BoxError> {
    let peer = match role {
        Role::Sender => PartyId(1),
        Role::Receiver => PartyId(0),
    };
    let mut sid = [0; 32];
    sid[..16].copy_from_slice(&id.0);
    let session = Context { sid: Sid(sid), backend: point.backend };
    let (mut ends, mut spans, mut setup) = (Vec::new(), Vec::new(), MeterReading::default());
    for thread in 0..point.threads {
        let mut channel = net.channel(u16::try_from(thread)?, Some(peer), Some(peer))?;
        let mut driver = Driver::new();
        let mut last = None;
        for time in 0..if thread == 0 { setups.max(1) } else { 1 } {
            // Both parties begin together.
            channel.exchange("start", &[0], &mut [0])?;
            match (thread, time) {
                (0, 0) => channel.tap(meter.tap()),
                (0, _) => drop(meter.take()),
                _ => {}
            }
            let context = session.child("bench lane", thread as u64).child("bench set-up", time.into());
            let begin = Instant::now();
            let opened = open(role, &mut driver, &mut channel, &context, point)?;
            if thread == 0 {
                spans.push((begin, Instant::now()));
                setup = meter.take();
            }
            last = Some(opened);
        }
        if thread > 0 {
            channel.tap(meter.tap());
        }
        let opened = last.ok_or("nothing was set up")?;
        ends.push(PartyThread::new(opened, point.kind, each, driver, channel));
    }
    Ok(SetUpParty { ends, spans, setup })
}

fn open<S: Security>(
    role: Role,
    driver: &mut Driver,
    channel: &mut Channel,
    context: &Context,
    point: &Point,
) -> Result<OpenedEnd<S>, OtError> {
    let seed = Seed::random();
    Ok(match role {
        Role::Sender => {
            OpenedEnd::Sender(Box::new(open_sender(driver, channel, context, point.protocol, &seed)?))
        }
        Role::Receiver => {
            OpenedEnd::Receiver(Box::new(open_receiver(driver, channel, context, point.protocol, &seed)?))
        }
    })
}
