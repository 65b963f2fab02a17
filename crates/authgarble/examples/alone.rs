//! Measures the time of one party's own work, phase by phase. The messages of its peers are
//! recorded beforehand, so that no other party takes time. Parties 0 and 1, the evaluator and a
//! garbler, are measured with each number of threads.
//!
//! ```text
//! cargo run --release -p hushwire-authgarble --example alone -- PARTIES CIRCUIT RUNS THREADS…
//! ```

use hushwire_aes::Backend;
use hushwire_authgarble::{Form, Roles, Script, Setup, Task};
use hushwire_circuit::{Planes, Program, named};
use hushwire_machine::drive::{Exchanged, Lockstep, Machine, Place, Wiring};
use hushwire_ot::{Context, Protocol, Sid};
use hushwire_prg::{Prg, Seed};
use rustix::time::{ClockId, clock_gettime};
use std::time::{Duration, Instant};

type Failed = Box<dyn std::error::Error>;

const PHASES: [&str; 4] = ["set-up", "function-independent", "function-dependent", "online"];
const OT: Protocol = Protocol::SoftSpoken4;

/// The messages of a phase, indexed by round, sending party and its slot. Slots are the peers in
/// order.
type Said = Vec<Vec<Vec<Vec<u8>>>>;

fn main() -> Result<(), Failed> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [n, circuit, runs, threads @ ..] = &args[..] else {
        return Err("give the number of parties, a circuit, runs and numbers of threads".into());
    };
    let (n, runs): (usize, usize) = (n.parse()?, runs.parse()?);
    let threads: Vec<usize> = threads.iter().map(|t| t.parse()).collect::<Result<_, _>>()?;
    let program = named::program(circuit)?;
    let owners = (0..program.inputs().len()).map(|i| i % n).collect();
    let roles = Roles::new(&program, n, owners, vec![vec![true; n]; program.outputs().len()]);
    let context = Context { sid: Sid([7; 32]), backend: Backend::best() };
    let mut prg = Prg::new(context.backend, &Seed::from_bytes([1; 16]), "inputs");
    let mut inputs = Planes::zeros(program.input_bits(), 1);
    prg.fill(&mut inputs);
    let inputs = inputs.trimmed();
    let task = Task::new(&program, roles, 1, Form::best(n));
    let world = World { n, context, program, task, inputs };
    let said = world.record()?;
    for party in [0, 1] {
        // The first run of each is not counted.
        for threads in &threads {
            world.alone(party, *threads, &said)?;
        }
        let mut spans = vec![[const { vec![] }; 4]; threads.len()];
        for _ in 0..runs {
            for (threads, spans) in threads.iter().zip(&mut spans) {
                for (list, span) in spans.iter_mut().zip(world.alone(party, *threads, &said)?) {
                    list.push(span);
                }
            }
        }
        for (threads, spans) in threads.iter().zip(spans) {
            let median = |spans: &[Span], clock: usize| {
                let mut times: Vec<f64> = spans.iter().map(|span| span[clock]).collect();
                times.sort_by(f64::total_cmp);
                times[times.len() / 2]
            };
            let phases = PHASES.iter().zip(&spans).map(|(phase, spans)| {
                format!("{phase} {:.2} (of all threads {:.2})", median(spans, 0), median(spans, 1))
            });
            println!("party {party}, {threads} threads, ms: {}", phases.collect::<Vec<_>>().join(", "));
        }
    }
    Ok(())
}

/// The parameters of all runs.
struct World {
    /// The number of parties.
    n: usize,
    context: Context,
    program: Program,
    task: Task,
    /// The inputs of all parties; party `i % n` owns input `i`.
    inputs: Planes,
}

impl World {
    fn seed(&self, party: usize) -> Seed {
        Seed::from_bytes([3; 16]).derive("party", &[party as u8])
    }

    fn inputs(&self, party: usize) -> Planes {
        self.inputs.select(self.program.inputs(), |i| i % self.n == party)
    }

    /// Runs all parties through all phases on one thread, and records their messages.
    fn record(&self) -> Result<[Said; 4], Failed> {
        let open = |me| Setup::open(&self.context, [me, self.n], 1, OT, &self.seed(me));
        let (setups, one) = recorded((0..self.n).map(open).collect())?;
        let need = self.task.need();
        let (mut stocks, two) = recorded(setups.into_iter().map(|s| s.preprocess(need)).collect())?;
        let (garbled, three) = recorded(stocks.iter_mut().map(|s| s.garble(&self.task)).collect())?;
        let evaluations = garbled.into_iter().enumerate().map(|(me, g)| g.evaluate(&self.inputs(me)));
        let (_, four) = recorded(evaluations.collect())?;
        Ok([one, two, three, four])
    }

    /// Runs one party through all phases, and returns the time of each.
    fn alone(&self, me: usize, threads: usize, said: &[Said; 4]) -> Result<[Span; 4], Failed> {
        let [one, two, three, four] = said;
        let inputs = self.inputs(me);
        let (setup, one) =
            timed(|| play(Setup::open(&self.context, [me, self.n], threads, OT, &self.seed(me)), me, one))?;
        let (mut stock, two) = timed(|| play(setup.preprocess(self.task.need()), me, two))?;
        let (garbled, three) = timed(|| play(stock.garble(&self.task), me, three))?;
        let (_, four) = timed(|| play(garbled.evaluate(&inputs), me, four))?;
        Ok([one, two, three, four])
    }
}

/// Wall-clock milliseconds, and the CPU milliseconds of all threads.
type Span = [f64; 2];

/// Does the work, and measures its time.
fn timed<T>(work: impl FnOnce() -> Result<T, Failed>) -> Result<(T, Span), Failed> {
    let cpu = || Duration::try_from(clock_gettime(ClockId::ProcessCPUTime));
    let (begin, cpu_begin) = (Instant::now(), cpu()?);
    let done = work()?;
    Ok((done, [begin.elapsed(), cpu()? - cpu_begin].map(|span| 1e3 * span.as_secs_f64())))
}

/// Runs the scripts of all parties in lockstep, and records their messages.
fn recorded<T>(mut scripts: Vec<Script<'_, T>>) -> Result<(Vec<T>, Said), Failed> {
    let (n, mut said) = (scripts.len(), Said::new());
    let hear = |Place { round, party, slot }: Place, message: &mut Vec<u8>| {
        said.resize_with((round + 1).max(said.len()), || vec![vec![vec![]; n - 1]; n]);
        said[round][party][slot] = message.clone();
    };
    Lockstep::wired(Wiring::Mesh).run_edited(&mut scripts, hear)?;
    Ok((scripts.into_iter().map(Script::finish).collect(), said))
}

/// Runs a party's script on the recorded messages of its peers; its own messages must equal the
/// recorded ones.
fn play<T>(mut script: Script<'_, T>, me: usize, said: &Said) -> Result<T, Failed> {
    let mut out: Vec<Vec<u8>> = vec![vec![]; script.slots()];
    for round in said {
        for (slot, out) in out.iter_mut().enumerate() {
            out.resize(script.round(slot).ok_or("fewer rounds")?.out, 0);
            script.write(slot, out)?;
            if *out != round[me][slot] {
                return Err("another message than before".into());
            }
        }
        // The peer's slot for this party skips the peer itself, as this party's slots skip it.
        let heard = |(slot, own)| {
            let peer: usize = slot + usize::from(slot >= me);
            Exchanged { own, heard: &round[peer][me - usize::from(peer < me)] }
        };
        let messages: Vec<Exchanged<'_>> = out.iter().map(|out| &out[..]).enumerate().map(heard).collect();
        script.read(&messages)?;
    }
    Ok(script.finish())
}
