//! `bench yao`: Yao's protocol from inputs to outputs, with both parties in this process on one
//! thread each.
//!
//! The garbler brings the first input. The evaluator brings the others, and learns every output.
//! With `instances` 1, circuits run one at a time, over parties that are already set up. More
//! instances are one streamed run. `chain` is a long program of AES blocks in stages, each on the
//! results of the stage before. It has 10^9 ANDs in all (a 64th with `--quick` and over modelled
//! networks below 10 Gb/s). Its peak memory, of both parties together, shows that memory stays
//! constant.
//!
//! The metrics are `throughput` in AND/s, and `per_circuit`, `first_gate` and `setup` in ms.
//! `first_gate` is the time from the start of a run to the evaluator's first table. `setup` is
//! measured once for each scheme, transport and network: agreement, base OTs, OT extension and
//! start point. Bytes are those of the busier party for an AND. Rounds are the number of times that
//! the evaluator waits in a run; a stream of tables counts as one. After the last repetition every
//! output is compared with plain evaluation. A wrong output fails the run.
//!
//! The limit is the tighter one of two: the garbler's AES, or the tables on the link.

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
    Bench, BenchAsked, BenchRow, BoxError, Case, CaseContext, LimitBound, Result, Timer, Unit,
    axes::{every, params},
    bench::network,
    benches::garble::{GarbleOp, limits, xors},
    bounds::count,
    link::{self, RowLink, Taken},
    net::Transport,
};
use parties::Parties;
pub(crate) use parties::STREAM;

pub(super) const BENCHES: &[Bench] = &[Bench {
    name: "yao",
    about: "Yao's protocol end to end: circuits one at a time and streamed, over every transport and modelled networks",
    examples: "Example:\n  hushwire bench yao --only circuit=aes128,transport=tcp-insecure --json yao.json",
    // MI over every transport; every scheme over plain TCP; three halves and half gates over 1
    // Gb/s.
    core: &[
        "net=$near scheme=mi transport=tcp-insecure",
        "net=$near scheme=mi instances!=1",
        "net=$near transport=tcp-insecure circuit=aes128 instances!=1",
        "net=1Gbps,1ms scheme=mi|three-halves transport=tcp-insecure instances!=1",
    ],
    quick: &[
        "net=none scheme=mi transport=tcp-insecure",
        "net=none scheme=mi circuit=aes128 instances!=1 transport!=unix",
    ],
    cases,
    ..Bench::EMPTY
}];

/// A circuit, and the number of copies that run in parallel.
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

/// The set-ups that have a row.
type Seen = Rc<RefCell<BTreeSet<String>>>;

fn cases(asked: &BenchAsked) -> Result<Vec<Case<'static>>> {
    asked.options.one_thread()?;
    // Three halves send fewer bytes, which matters if the link is the bound.
    let slow = network("1Gbps,1ms")?;
    let links = asked.links_over(&[Shape::NONE, slow, Shape::wan()]);
    let points = every!(scheme in Scheme::PRIVATE, &(transport, net) in &links, work in WORKLOADS =>
        Point { work, scheme, transport, net });
    let (seen, backend, quick) = (Seen::default(), asked.backend(), asked.options.quick);
    let case = |point: Point| {
        let seen = seen.clone();
        let params = params!(point; circuit = point.work.circuit, scheme, transport, net,
            instances = point.work.instances);
        Case::new("yao", params, move |ctx| measure(ctx, &point, backend, quick, &seen))
    };
    Ok(points.into_iter().map(case).collect())
}

/// The ANDs of the chain.
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
    ctx: &mut CaseContext<'_>,
    point: &Point,
    backend: Backend,
    quick: bool,
    seen: &Seen,
) -> Result<Vec<BenchRow>, BoxError> {
    let Point { work, scheme, transport, net } = *point;
    let program = point.program(quick)?;
    let ands = program.ands() * work.instances as u64;
    let mut parties = Parties::open(&program, work.instances, scheme, backend, transport, net)?;
    let timer = ctx.timer();
    // A run that takes more than a second is timed once or twice.
    let timer = Timer { budget: if quick { timer.budget } else { 2 * timer.budget }, ..timer };
    let link = RowLink::one_flow(transport, parties.message());
    let (seconds, taken) = link.around(ctx, || timer.durations(|n| parties.time(n)))?;
    parties.check()?;
    let (bytes, rounds) = parties.spent();
    let per_and = bytes / count(ands);
    let limit = bound(ctx, point, backend, &program, per_and, &taken)?;
    let throughput = BenchRow::rate("throughput", Unit::AND_PER_S, count(ands), &seconds)?
        .bytes_per_unit(per_and)
        .rounds(rounds)
        .bound(&limit)
        .with("ands", ands);
    let each = count(work.instances as u64);
    let seconds: Vec<f64> = seconds.iter().map(|s| s / each).collect();
    let per_circuit = BenchRow::time("per_circuit", &seconds)?
        .bytes_per_unit(bytes / each)
        .rounds(rounds)
        .with("ands", program.ands());
    let first = BenchRow::time("first_gate", &[parties.first_gate().as_secs_f64()])?.with("ands", ands);
    let mut rows = vec![throughput, per_circuit, first];
    if seen.borrow_mut().insert(format!("{scheme} {transport} {net}")) {
        let (times, spent) = parties::setups(scheme, backend, transport, net)?;
        rows.push(BenchRow::time("setup", &times)?.bytes_per_unit(spent).with("ands", 0));
    }
    Ok(rows)
}

/// The tightest bound, for tables with this many bytes for an AND.
fn bound(
    ctx: &mut CaseContext<'_>,
    point: &Point,
    backend: Backend,
    program: &Program,
    per_and: f64,
    taken: &Taken,
) -> Result<LimitBound, BoxError> {
    let unit = Unit::AND_PER_S;
    let calls = limits::per_and(point.scheme, GarbleOp::Garble, program.ands(), xors(program));
    let (value, name) = limits::ands_per_s(ctx, backend, calls)?;
    let over = format!("{per_and:.1} bytes an AND over");
    let least = LimitBound { name, value, spread: None };
    link::tightened(ctx, least, (Some(taken), point.net), &over, &unit, (1.0, per_and))
}
