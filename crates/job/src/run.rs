//! Runs one member's side of a job, from its inputs to its outputs.
//!
//! ```text
//! owner      value = x_0 ⊕ x_1 ⊕ x_2 as bit planes, batch by batch; shares go to the parties or grow from seeds
//! parties    batch by batch on threads × lanes: circuit on shares, one message a layer
//! recipient  hears the share that it lacks; nobody else hears anything
//! everybody  writes its outputs to disk without a name; says so to all; names them when all have said so
//! ```
//!
//! Two parties give their values to the ends of their protocol, and learn from them what they may: see `duet.rs`.
//!
//! **Security.** Semi-honest, one corrupted party, and any clients with it. With three parties, a party's own input costs
//! one message: of its shares one is zero, one is expanded from a key that it shares with its left neighbour, and the rest
//! goes to the right one. A client's input is shared afresh. What a client recipient hears is masked with a fresh
//! zero-share first, since shares of linear outputs would tell more than their sum.

use crate::{
    JobError, Kind, Member, Plan, Prepared, Protocol, Seat, client, confirm, duet, party, place,
    seat::{Observer, explain},
};
use hushwire_wire::{Channel, Meter, Net, PartyId, Reason, SessionId, Turns};
use std::{sync::Arc, time::Instant};

/// What a member has in the end.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// Outputs that went to no file: place in the circuit, and hexadecimal digits.
    pub shown: Vec<(usize, String)>,
    /// What it measured.
    pub stats: Stats,
}

/// What a member measured of itself.
#[derive(Clone, Debug, Default)]
pub struct Stats {
    /// From the first connection to the last confirmation.
    pub seconds: f64,
    /// Payload bytes to all peers.
    pub bytes_sent: u64,
    /// Payload bytes from all peers.
    pub bytes_received: u64,
    /// Exchanges among the parties one after the other; a stream of messages is one of two parties. 0 for clients.
    pub rounds: u64,
}

/// Runs `seat`'s side of a job to its end: outputs are in place when it returns.
///
/// # Errors
/// Something failed here or elsewhere; no output is in place.
pub fn run(prepared: &Prepared, seat: Seat, observer: &Observer) -> Result<Outcome, JobError> {
    let me = seat.me.clone();
    Joined::new(prepared, seat, observer).and_then(Joined::run).map_err(|e| e.of(&me))
}

/// A member's channels once its own part is done. They stay open until the last word: closing one could overtake data
/// on it.
pub(crate) struct Links {
    /// Between them, one to and one from every peer.
    pub(crate) word: Vec<Channel>,
    /// All others.
    #[allow(dead_code, reason = "kept open, and not used")]
    pub(crate) kept: Vec<Channel>,
}

/// A member with its links.
pub(crate) struct Joined {
    pub(crate) prepared: Prepared,
    pub(crate) seat: Seat,
    pub(crate) net: Net,
    pub(crate) observer: Observer,
    pub(crate) sources: Arc<Vec<Option<place::Source>>>,
    pub(crate) sinks: Arc<Vec<Option<place::Sink>>>,
    /// Of the circuit's lanes, and of everything else.
    pub(crate) meters: [Meter; 2],
    /// Of the circuit's lanes.
    turns: Turns,
    begun: Instant,
}

impl Joined {
    /// The id of this session and of no other, the same for all members.
    pub(crate) fn session(&self) -> SessionId {
        self.net.session().unwrap_or(self.seat.session)
    }

    fn new(prepared: &Prepared, mut seat: Seat, observer: &Observer) -> Result<Self, JobError> {
        let plan = &prepared.plan;
        plan.protocol.admits(&seat.me).map_err(|(cause, _)| {
            JobError::usage("taking part", cause, "take part with the file of a party that the protocol has")
        })?;
        // Files that do not do show before anybody is dialled.
        let sources = Arc::new(place::sources(plan, &seat.me, &seat.inputs)?);
        seat.protect_inputs();
        let sinks = Arc::new(place::sinks(plan, &seat.me, &seat.outputs, &mut seat.files)?);
        let net = seat.join(plan, observer)?;
        let (prepared, observer) = (prepared.clone(), observer.clone());
        let (meters, begun) = ([Meter::new(), Meter::new()], Instant::now());
        let turns = Turns::default();
        Ok(Self { prepared, seat, net, observer, sources, sinks, meters, turns, begun })
    }

    fn run(mut self) -> Result<Outcome, JobError> {
        let (watch, me) = (self.net.watch(), self.net.me());
        let finished = self.compute_and_confirm();
        if let (Err(e), Some(watch)) = (&finished, watch) {
            // Others learn at once who failed, and not only that links closed.
            if e.kind != Kind::Network {
                // How files are called here is nobody else's business.
                let step = if e.kind == Kind::File { "the use of a file" } else { &e.step };
                watch.abort(me, Reason::Failed, step);
            }
        }
        finished?;
        let Ok(sinks) = Arc::try_unwrap(self.sinks) else {
            return Err(JobError::internal("writing outputs", "a thread still holds them"));
        };
        let mut shown = vec![];
        for (j, sink) in sinks.into_iter().enumerate() {
            if let Some(digits) = sink.map(place::Sink::commit).transpose()?.flatten() {
                shown.push((j, digits));
            }
        }
        let [ring, other] = self.meters.map(|m| m.reading());
        let rounds = match self.prepared.plan.protocol {
            Protocol::Rep3 => ring.rounds(),
            Protocol::Yao | Protocol::Gmw => self.turns.rounds(),
        };
        let stats = Stats {
            seconds: self.begun.elapsed().as_secs_f64(),
            bytes_sent: ring.bytes_sent() + other.bytes_sent(),
            bytes_received: ring.bytes_received() + other.bytes_received(),
            rounds,
        };
        Ok(Outcome { shown, stats })
    }

    fn compute_and_confirm(&mut self) -> Result<(), JobError> {
        let mut links = match (&self.seat.me, self.plan().protocol) {
            (Member::Client(_), _) => client::stream(self)?,
            (Member::Party(_), Protocol::Rep3) => party::compute(self)?,
            (Member::Party(index), Protocol::Yao | Protocol::Gmw) => duet::compute(self, (*index).into())?,
        };
        for sink in self.sinks.iter().flatten() {
            sink.prepare()?;
        }
        confirm::all_done(&self.prepared.plan, &mut links.word)
    }

    /// A channel that counts.
    pub(crate) fn channel(
        &mut self,
        meter: usize,
        lane: u16,
        to: Option<PartyId>,
        from: Option<PartyId>,
    ) -> Result<Channel, JobError> {
        let channel = self.net.channel(lane, to, from);
        let mut channel = channel.map_err(|e| explain(&self.prepared.plan, e).during("channel set-up"))?;
        channel.tap(self.meters[meter].tap());
        if meter == 0 && self.plan().protocol != Protocol::Rep3 {
            channel.tap(self.turns.tap());
        }
        Ok(channel)
    }

    pub(crate) fn plan(&self) -> &Arc<Plan> {
        &self.prepared.plan
    }
}

/// The first error that says more than that others ended.
pub(crate) fn first_error(errors: Vec<JobError>) -> Result<(), JobError> {
    let mut errors: Vec<_> = errors.into_iter().enumerate().collect();
    // Least of all says a thread that ended because another one of this process did.
    errors.sort_by_key(|(i, e)| (e.consequence, e.consequence && e.kind == Kind::Internal, *i));
    errors.into_iter().next().map_or(Ok(()), |(_, e)| Err(e))
}
