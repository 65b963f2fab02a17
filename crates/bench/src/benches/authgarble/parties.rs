//! Runs all parties through all phases, on one thread each.

use std::{sync::Barrier, time::Instant};

use hushwire_aes::Backend;
use hushwire_authgarble::{AuthError, Garbled, Roles, Script, Setup, Stock, Task};
use hushwire_circuit::{Planes, Program, eval, named};
use hushwire_machine::{Channel, Meter, Net, PartyId, SessionId, drive::Driver};
use hushwire_ot::{Context, Protocol, Sid};
use hushwire_prg::{Prg, Seed};

use super::grid::{AuthPhase, Point};
use crate::{
    BoxError, Timer,
    net::{each, mesh, span},
};

/// The default extension of jobs.
pub(super) const OT: Protocol = Protocol::SoftSpoken4;

/// The figures of one phase in all runs.
#[derive(Default)]
pub(super) struct Spent {
    /// The seconds of each run.
    pub(super) seconds: Vec<f64>,
    /// The bytes that the busier party sends.
    pub(super) bytes: u64,
    /// The bytes that all parties send.
    pub(super) total: u64,
    pub(super) rounds: u64,
}

/// The runs of one point, by phase.
pub(super) struct Measured {
    pub(super) ands: u64,
    phases: [Spent; 4],
}

impl Measured {
    /// Measures as many runs as the timer has, but at least one, and no more than fit in its
    /// budget.
    pub(super) fn of(point: &Point, backend: Backend, timer: Timer) -> Result<Self, BoxError> {
        let program = named::program(point.circuit.name)?;
        let ands = program.ands() * point.circuit.copies as u64;
        let mut parties = Parties::open(point, backend, program)?;
        let mut phases: [Spent; 4] = Default::default();
        let begin = Instant::now();
        for run in 0..timer.runs.max(1) {
            let took = begin.elapsed();
            // The next run is expected to take as long as those before.
            if run > 0 && took + took / run > timer.budget {
                break;
            }
            parties.run(&mut phases)?;
        }
        Ok(Measured { ands, phases })
    }

    pub(super) fn phase(&self, phase: AuthPhase) -> &Spent {
        &self.phases[phase as usize]
    }

    /// The mean number of bytes of a message in a phase.
    pub(super) fn message(&self, phase: AuthPhase) -> u64 {
        let spent = self.phase(phase);
        spent.bytes / spent.rounds.max(1)
    }
}

struct Parties {
    program: Program,
    roles: Roles,
    copies: usize,
    task: Task,
    context: Context,
    ends: Vec<Links>,
    runs: u64,
    prg: Prg,
}

/// One party's channels, one meter for all of them, and buffers that are reused.
struct Links {
    channels: Vec<Channel>,
    meter: Meter,
    driver: Driver,
    threads: usize,
}

/// The state of a party between two phases.
enum PhaseState {
    Begin,
    Setup(Box<Setup>),
    Stock(Box<Stock>),
    Garbled(Box<Garbled>),
    Outputs(Planes),
}

/// One phase of one party: its start and end, and the bytes and rounds in it.
struct Figure {
    begin: Instant,
    end: Instant,
    bytes: u64,
    rounds: u64,
}

impl Parties {
    fn open(point: &Point, backend: Backend, program: Program) -> Result<Self, BoxError> {
        let (n, copies) = (point.parties, point.circuit.copies);
        let session = SessionId::fresh()?;
        let nets = mesh(n, point.transport, point.net, session, 1)?;
        let ends = nets.into_iter().enumerate().map(|(me, net)| Links::open(net, me, n, point.threads));
        let ends = ends.collect::<Result<_, _>>()?;
        let owners = (0..program.inputs().len()).map(|i| i % n).collect();
        let roles = Roles::new(&program, n, owners, vec![vec![true; n]; program.outputs().len()]);
        let task = Task::new(&program, roles.clone(), copies, point.variant);
        let sid = Sid([0; 32]).child("bench authgarble", u64::from_le_bytes(session.0[..8].try_into()?));
        let context = Context { sid, backend };
        let prg = Prg::new(backend, &Seed::random(), "bench authgarble");
        Ok(Self { program, roles, copies, task, context, ends, runs: 0, prg })
    }

    /// Makes one run, and adds its figures.
    fn run(&mut self, phases: &mut [Spent; 4]) -> Result<(), BoxError> {
        self.runs += 1;
        let context = self.context.child("run", self.runs);
        let mut all = Planes::zeros(self.program.input_bits(), self.copies);
        self.prg.fill(&mut all);
        let all = all.trimmed();
        let wanted = eval::eval(&self.program, &all)?;
        let barrier = Barrier::new(self.ends.len());
        let (program, roles, task) = (&self.program, &self.roles, &self.task);
        let ran = each(&mut self.ends, |me, end| {
            let inputs = all.select(program.inputs(), |i| roles.owners[i] == me);
            end.run(me, &context, task, &inputs, &barrier)
        })?;
        for (phase, spent) in phases.iter_mut().enumerate() {
            let of = || ran.iter().map(|(figures, _)| &figures[phase]);
            let took = span(of().map(|f| (f.begin, f.end)));
            spent.seconds.push(took.as_secs_f64());
            spent.bytes = of().map(|f| f.bytes).max().unwrap_or(0);
            spent.total = of().map(|f| f.bytes).sum();
            spent.rounds = of().map(|f| f.rounds).max().unwrap_or(0);
        }
        if ran.iter().all(|(_, outputs)| *outputs == wanted) {
            Ok(())
        } else {
            Err("outputs differ from plain evaluation".into())
        }
    }
}

impl Links {
    fn open(mut net: Net, me: usize, n: usize, threads: usize) -> Result<Self, BoxError> {
        let meter = Meter::new();
        let peers = (0..n).filter(|p| *p != me).map(|p| Some(PartyId(p as u8)));
        let channel = |peer| -> Result<Channel, BoxError> {
            let mut channel = net.channel(0, peer, peer)?;
            channel.tap(meter.tap());
            Ok(channel)
        };
        let channels = peers.map(channel).collect::<Result<_, _>>()?;
        Ok(Self { channels, meter, driver: Driver::new(), threads })
    }

    /// Runs all phases. A party that fails closes its channels and still waits at the other
    /// barriers, so that no party waits for ever.
    fn run(
        &mut self,
        me: usize,
        context: &Context,
        task: &Task,
        inputs: &Planes,
        barrier: &Barrier,
    ) -> Result<([Figure; 4], Planes), BoxError> {
        let seed = Seed::random();
        let mut state = Ok(PhaseState::Begin);
        let figures = AuthPhase::ALL.map(|_| {
            drop(self.meter.take());
            barrier.wait();
            let begin = Instant::now();
            let mut rounds = 0;
            let now = std::mem::replace(&mut state, Err(AuthError::from(lost())));
            state = now.and_then(|state| self.next(state, me, context, task, inputs, &seed, &mut rounds));
            if state.is_err() {
                self.channels.clear();
            }
            let end = Instant::now();
            Figure { begin, end, bytes: self.meter.reading().bytes_sent(), rounds }
        });
        match state? {
            PhaseState::Outputs(outputs) => Ok((figures, outputs)),
            _ => Err("a phase is missing".into()),
        }
    }

    #[expect(clippy::too_many_arguments, reason = "one call")]
    fn next(
        &mut self,
        state: PhaseState,
        me: usize,
        context: &Context,
        task: &Task,
        inputs: &Planes,
        seed: &Seed,
        rounds: &mut u64,
    ) -> Result<PhaseState, AuthError> {
        Ok(match state {
            PhaseState::Begin => {
                let n = self.channels.len() + 1;
                let open = Setup::open(context, [me, n], self.threads, OT, seed);
                PhaseState::Setup(Box::new(self.drive(open, rounds)?))
            }
            PhaseState::Setup(setup) => {
                PhaseState::Stock(Box::new(self.drive(setup.preprocess(task.need()), rounds)?))
            }
            PhaseState::Stock(mut stock) => {
                PhaseState::Garbled(Box::new(self.drive(stock.garble(task), rounds)?))
            }
            PhaseState::Garbled(garbled) => {
                PhaseState::Outputs(self.drive(garbled.evaluate(inputs), rounds)?)
            }
            done @ PhaseState::Outputs(_) => done,
        })
    }

    fn drive<T>(&mut self, mut script: Script<'_, T>, rounds: &mut u64) -> Result<T, AuthError> {
        let mut run = self.driver.begin(&mut script);
        while run.step(&mut self.channels)? {
            *rounds += 1;
        }
        Ok(script.finish())
    }
}

/// The error of a party that has already failed.
fn lost() -> hushwire_ot::OtError {
    hushwire_ot::OtError::Lost { step: "a phase before" }
}
