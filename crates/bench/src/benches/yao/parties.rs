//! Both parties, set up and run together.

use std::time::{Duration, Instant};

use hushwire_aes::Backend;
use hushwire_circuit::{Planes, Program, TwoParty, eval};
use hushwire_garble::{
    Role, Scheme,
    yao::{Terms, YaoParty},
};
use hushwire_machine::{Channel, Meter, MeterReading, SessionId, Turns};
use hushwire_ot::{Context, Sid};
use hushwire_prg::{Prg, Seed};
use hushwire_wire::Shape;

use crate::{
    BoxError,
    net::{Transport, channels, each},
    workers::{self, Worker},
};

/// The number of times that a set-up is timed.
const SETUPS: usize = 5;

/// The bytes of a message of tables in a long stream.
pub(crate) const STREAM: u64 = 1 << 19;

pub(super) struct Parties {
    ends: Vec<PartyThread>,
    meters: [Meter; 2],
    /// The turns of the evaluator.
    turns: Turns,
    /// The expected outputs.
    wanted: Planes,
    message: u64,
}

struct PartyThread {
    party: YaoParty,
    channel: Option<Channel>,
    program: Program,
    roles: TwoParty,
    inputs: Planes,
    /// The outputs that it learned last.
    learned: Planes,
    repetitions: u64,
}

impl Worker for PartyThread {
    fn repeat(&mut self) -> Result<(), BoxError> {
        let channel = self.channel.as_mut().ok_or("the channel is closed")?;
        self.learned = self.party.run(channel, &self.program, &self.roles, &self.inputs)?;
        self.repetitions += 1;
        Ok(())
    }

    fn abandon(&mut self) {
        self.channel = None;
    }
}

/// Opens both parties of a session, on one thread each. Returns the parties, and the time of the
/// slower one.
fn set_up(
    channels: &mut [Channel; 2],
    scheme: Scheme,
    backend: Backend,
) -> Result<([YaoParty; 2], Duration), BoxError> {
    let context = Context { sid: Sid([0; 32]).child("bench yao", rand()?), backend };
    let terms = Terms { scheme, ..Terms::default() };
    let begin = Instant::now();
    let parties = each(channels, |i, channel| {
        let role = [Role::Garbler, Role::Evaluator][i];
        Ok(YaoParty::open(channel, role, &context, terms, &Seed::random())?)
    })?;
    let took = begin.elapsed();
    Ok((parties.try_into().map_err(|_| "not two parties")?, took))
}

/// A number that differs for every set-up.
fn rand() -> Result<u64, BoxError> {
    Ok(u64::from_le_bytes(SessionId::fresh()?.0[..8].try_into()?))
}

impl Parties {
    pub(super) fn open(
        program: &Program,
        instances: usize,
        scheme: Scheme,
        backend: Backend,
        transport: Transport,
        net: Shape,
    ) -> Result<Self, BoxError> {
        let mut links = channels(transport, net)?;
        let (parties, _) = set_up(&mut links, scheme, backend)?;
        let mut prg = Prg::new(backend, &Seed::random(), "bench yao");
        let owners: Vec<usize> = (0..program.inputs().len()).map(|i| usize::from(i > 0)).collect();
        let roles = TwoParty::new(program, owners, vec![[false, true]; program.outputs().len()]);
        let mut all = Planes::zeros(program.input_bits(), instances);
        prg.fill(&mut all);
        let all = all.trimmed();
        let inputs = [0, 1].map(|party| all.select(program.inputs(), |i| roles.owners[i] == party));
        let wanted = eval::eval(program, &all)?;
        let (meters, turns) = ([Meter::new(), Meter::new()], Turns::default());
        let mut ends = vec![];
        for (((party, mut channel), inputs), meter) in parties.into_iter().zip(links).zip(inputs).zip(&meters)
        {
            channel.tap(meter.tap());
            if !ends.is_empty() {
                channel.tap(turns.tap());
            }
            let (program, roles) = (program.clone(), roles.clone());
            ends.push(PartyThread {
                party,
                channel: Some(channel),
                program,
                roles,
                inputs,
                learned: Planes::zeros(0, instances),
                repetitions: 0,
            });
        }
        let mut parties = Self { ends, meters, turns, wanted, message: STREAM };
        // The first run agrees on the circuit. Only the others are timed.
        if program.ands() * (instances as u64) < 1 << 25 {
            parties.time(1)?;
            let garbler = parties.meters[0].reading();
            parties.message = garbler.bytes_sent() / garbler.rounds().max(1);
            parties.meters.iter().for_each(|m| drop(m.take()));
            parties.turns.reset();
            parties.ends.iter_mut().for_each(|end| end.repetitions = 0);
        }
        Ok(parties)
    }

    /// The time of `n` runs.
    pub(super) fn time(&mut self, n: u64) -> Result<Duration, BoxError> {
        workers::time(&mut self.ends, n)
    }

    /// The mean number of bytes of the garbler's messages over its exchanges.
    pub(super) fn message(&self) -> u64 {
        self.message
    }

    /// Checks the outputs that the evaluator learned last.
    pub(super) fn check(&self) -> Result<(), BoxError> {
        let [_, evaluator] = &self.ends[..] else { return Err("not two parties".into()) };
        if evaluator.learned == self.wanted { Ok(()) } else { Err("the outputs are wrong".into()) }
    }

    /// The bytes of the busier party in one run, and the number of times that the evaluator waits
    /// for the garbler.
    pub(super) fn spent(&self) -> (f64, u64) {
        let runs = self.ends.first().map_or(1, |end| end.repetitions).max(1);
        let readings = self.meters.each_ref().map(Meter::reading);
        let bytes = readings.iter().map(MeterReading::bytes_sent).max().unwrap_or(0);
        (bytes as f64 / runs as f64, self.turns.rounds().div_ceil(runs))
    }

    /// The time from the start of the evaluator's last run to its first table.
    pub(super) fn first_gate(&self) -> Duration {
        self.ends.last().map_or(Duration::ZERO, |end| end.party.stats().first_gate)
    }
}

/// The seconds of several set-ups on fresh connections, and the bytes that the busier party sends
/// in one of them.
pub(super) fn setups(
    scheme: Scheme,
    backend: Backend,
    transport: Transport,
    net: Shape,
) -> Result<(Vec<f64>, f64), BoxError> {
    let meters = [Meter::new(), Meter::new()];
    let mut times = vec![];
    for _ in 0..SETUPS {
        let mut links = channels(transport, net)?;
        links.iter_mut().zip(&meters).for_each(|(link, meter)| link.tap(meter.tap()));
        times.push(set_up(&mut links, scheme, backend)?.1.as_secs_f64());
    }
    let bytes = meters.iter().map(|m| m.reading().bytes_sent()).max().unwrap_or(0);
    Ok((times, bytes as f64 / SETUPS as f64))
}
