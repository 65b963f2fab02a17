//! `bench yao`: Yao's protocol from inputs to outputs, both parties in this process on a thread each.
//!
//! The garbler brings the first input, the evaluator the others and learns every output. `instances` 1 is a circuit at a
//! time, one run after the other over parties that are set up; more of them are one run, streamed. `chain` is a long
//! program: AES blocks in stages, each on what the one before made, 10^9 ANDs in all (a 64th with `--quick` and over modelled networks below
//! 10 Gb/s); its peak memory, of both parties together, shows that memory stays constant.
//!
//! Metrics: `throughput` in AND/s; `per_circuit` and `first_gate` in ms, the latter from the start of a run to the
//! evaluator's first table; `setup` in ms, once for each scheme, transport and network: terms, base OTs, OT extension and
//! start point. Bytes are those of the busier party for an AND; rounds how often the evaluator waits in a run, a
//! stream of tables being one. After the last repetition every
//! output is compared with plain evaluation: a wrong one fails the run.
//!
//! The limit is what binds first: the garbler's AES, or the tables on the link.

mod chain;
mod parties;
#[cfg(test)]
mod tests;

use std::{cell::RefCell, collections::BTreeSet, rc::Rc};

use hushwire_aes::Backend;
use hushwire_circuit::{Program, named};
use hushwire_garble::Scheme;
use hushwire_wire::Shape;

use crate::{
    BenchOptions, Bound, BoxError, Case, Context, Error, Measurement, Params, Report, Result, Row, Timer,
    Unit,
    bounds::count,
    garble::{grid::Op, limits, xors},
    link::{self, Link, Taken},
    net::{NETS, Transport},
};
use parties::Parties;
pub(crate) use parties::STREAM;

/// The choices of this bench beside [`BenchOptions`].
#[derive(Clone, Copy, Debug, Default)]
pub struct Wanted {
    /// This backend instead of the best.
    pub backend: Option<Backend>,
    /// This network alone.
    pub net: Option<Shape>,
}

/// A circuit and how many run side by side.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Workload {
    circuit: &'static str,
    instances: usize,
}

const WORKLOADS: [Workload; 5] = [
    Workload { circuit: "aes128", instances: 1 },
    Workload { circuit: "aes128", instances: 1024 },
    Workload { circuit: "sha256", instances: 1 },
    Workload { circuit: "sha256", instances: 256 },
    Workload { circuit: "chain", instances: 1 },
];

/// One point of the grid.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Point {
    work: Workload,
    scheme: Scheme,
    transport: Transport,
    net: Shape,
}

impl Point {
    fn all(nets: &[Shape]) -> Vec<Self> {
        let mut points = vec![];
        for scheme in Scheme::PRIVATE {
            for transport in Transport::ALL {
                for &net in nets {
                    if net != Shape::NONE && transport == Transport::Inproc {
                        continue;
                    }
                    points.extend(WORKLOADS.map(|work| Self { work, scheme, transport, net }));
                }
            }
        }
        points
    }

    fn params(&self) -> Params {
        Params::new()
            .with("circuit", self.work.circuit)
            .with("scheme", self.scheme.name())
            .with("transport", self.transport.name())
            .with("net", self.net.to_string())
            .with("instances", self.work.instances)
    }

    /// Whether a run without options measures it: MI over every transport; every scheme over plain TCP; three halves
    /// and half gates over 1 Gb/s.
    fn is_core(&self, given: bool) -> bool {
        let stream = self.work.instances > 1;
        if self.net != Shape::NONE && !given {
            let compared = matches!(self.scheme, Scheme::Mi | Scheme::ThreeHalves);
            let slow = self.net.bits_per_second == Some(1_000_000_000);
            return slow && compared && stream && self.transport == Transport::TcpInsecure;
        }
        let plain = self.transport == Transport::TcpInsecure;
        match self.scheme {
            Scheme::Mi => plain || stream,
            _ => plain && stream && self.work.circuit == "aes128",
        }
    }

    fn is_quick(&self) -> bool {
        let mi = self.scheme == Scheme::Mi && self.net == Shape::NONE;
        let streams = self.work.circuit == "aes128" && self.transport != Transport::Unix;
        mi && ((self.transport == Transport::TcpInsecure) || streams && self.work.instances > 1)
    }
}

/// Measures what the options ask for.
///
/// # Errors
/// As [`crate::run`]; a case fails when the parties cannot connect, when one of them fails, and when an output is wrong.
pub fn run(options: &BenchOptions, wanted: &Wanted) -> Result<Report> {
    crate::run("yao", cases(options, wanted)?, options)
}

/// Set-ups that have a row.
type Seen = Rc<RefCell<BTreeSet<String>>>;

fn cases(options: &BenchOptions, wanted: &Wanted) -> Result<Vec<Case<'static>>> {
    options.one_thread()?;
    let mut nets = NETS.to_vec();
    // What three halves save shows where the link binds.
    nets.retain(|net| *net != Shape::lan());
    nets.insert(1, "1Gbps,1ms".parse().map_err(|e: hushwire_machine::NetError| failed(e.into()))?);
    let nets = wanted.net.map_or(nets, |net| vec![net]);
    let (seen, backend) = (Seen::default(), wanted.backend.unwrap_or_default());
    let (given, quick) = (wanted.net.is_some(), options.quick);
    let case = |point: Point| {
        let seen = seen.clone();
        let work = move |ctx: &mut Context<'_>| measure(ctx, &point, backend, quick, &seen);
        Case::new("yao", point.params(), work).core(point.is_core(given)).quick(point.is_quick())
    };
    Ok(Point::all(&nets).into_iter().map(case).collect())
}

fn failed(source: BoxError) -> Error {
    Error::Case { case: "yao".into(), params: String::new(), source }
}

/// ANDs of the chain.
const CHAIN: u64 = 1_000_000_000;

impl Point {
    fn program(&self, quick: bool) -> Result<Program, BoxError> {
        if self.work.circuit != "chain" {
            return Ok(named::program(self.work.circuit)?);
        }
        let slow = self.net.bits_per_second.is_some_and(|rate| rate < 10_000_000_000);
        chain::program(if quick || slow { CHAIN / 64 } else { CHAIN })
    }
}

fn measure(
    ctx: &mut Context<'_>,
    point: &Point,
    backend: Backend,
    quick: bool,
    seen: &Seen,
) -> Result<Vec<Row>, BoxError> {
    let Point { work, scheme, transport, net } = *point;
    let program = point.program(quick)?;
    let ands = program.ands() * work.instances as u64;
    let mut parties = Parties::open(&program, work.instances, scheme, backend, transport, net)?;
    let timer = ctx.timer();
    // A run of a second and more is timed once or twice.
    let timer = Timer { budget: if quick { timer.budget } else { 2 * timer.budget }, ..timer };
    let link = Link::one_flow(transport, parties.message());
    let (seconds, taken) = link.around(ctx, || timer.durations(|n| parties.time(n)))?;
    parties.check()?;
    let (bytes, rounds) = parties.spent();
    let per_and = bytes / count(ands);
    let limit = bound(ctx, point, backend, &program, per_and, &taken)?;
    let of = |each: &dyn Fn(f64) -> f64| -> Result<Measurement, BoxError> {
        let figures: Vec<f64> = seconds.iter().map(|s| each(*s)).collect();
        Ok(Measurement::of(&figures).ok_or("nothing was timed")?)
    };
    let throughput = Row::new("throughput", Unit::AND_PER_S, of(&|s| count(ands) / s)?)
        .bytes_per_unit(per_and)
        .rounds(rounds)
        .bound(&limit)
        .with("ands", ands);
    let each = count(work.instances as u64);
    let per_circuit = Row::new("per_circuit", Unit::MS, of(&|s| 1e3 * s / each)?)
        .bytes_per_unit(bytes / each)
        .rounds(rounds)
        .with("ands", program.ands());
    let first = Measurement::of(&[1e3 * parties.first_gate().as_secs_f64()]).ok_or("nothing was timed")?;
    let mut rows = vec![throughput, per_circuit, Row::new("first_gate", Unit::MS, first).with("ands", ands)];
    if seen.borrow_mut().insert(format!("{scheme} {transport} {net}")) {
        let (times, spent) = parties::setups(scheme, backend, transport, net)?;
        let measured = Measurement::of(&times).ok_or("no set-up was timed")?;
        rows.push(Row::new("setup", Unit::MS, measured).bytes_per_unit(spent).with("ands", 0));
    }
    Ok(rows)
}

/// The bound that binds first, of tables with so many bytes an AND.
fn bound(
    ctx: &mut Context<'_>,
    point: &Point,
    backend: Backend,
    program: &Program,
    per_and: f64,
    taken: &Taken,
) -> Result<Bound, BoxError> {
    let unit = Unit::AND_PER_S;
    let calls = limits::per_and(point.scheme, Op::Garble, program.ands(), xors(program));
    let (value, name) = limits::ands_per_s(ctx, backend, calls)?;
    let over = format!("{per_and:.1} bytes an AND over");
    let least = Bound { name, value, spread: None };
    link::tightened(ctx, least, (Some(taken), point.net), &over, &unit, (1.0, per_and))
}
