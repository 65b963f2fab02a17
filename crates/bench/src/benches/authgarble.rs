//! `bench authgarble`: authenticated garbling in its four phases, with all parties in this process
//! on one thread each. `bench table6` is the VASA paper's Table 6.
//!
//! | `phase` | from, to |
//! |---|---|
//! | `setup` | connected, to OTs with every peer under one Δ |
//! | `function-independent` | to the triples and masks that the circuit takes |
//! | `function-dependent` | to the garbled circuit at the evaluator |
//! | `online` | inputs to outputs, which all parties learn |
//!
//! `implementation` is `ref` (AES-NI, block by block), `vaes` (the widest VAES, block by block) or
//! `batched` (the widest VAES, with all available blocks at once). `circuit` may begin with a
//! number of copies, which run in parallel. `threads` share the work of each party in all phases
//! except the last. A run goes through all phases. All parties begin a phase at once, and it ends
//! with the last party. The rows of the phases share a run. Every party's outputs are compared with
//! plain evaluation in every run.
//!
//! The metric is `time` in ms. Bytes are what the party that sends most sends for an AND, or in all
//! for a set-up. Rounds are the number of times that parties wait. The limit is the tightest of
//! three: the AES of all parties on the available cores, their bytes on the link, and the delay of
//! their rounds.

mod grid;
mod limit;
mod paper;
mod parties;
#[cfg(test)]
mod tests;

use std::{cell::RefCell, collections::BTreeMap, rc::Rc};

use hushwire_aes::Backend;
use hushwire_wire::Shape;

use crate::{
    Bench, BenchAsked, BenchRow, BoxError, Case, CaseContext, Paper, Timer, bounds::count, link,
    net::Transport, papers::VASA_6,
};
use grid::{AuthPhase, Point};
use parties::Measured;

/// The runs so far, by [`Point::run_name`]. Each has a row for every phase.
type Seen = Rc<RefCell<BTreeMap<String, Rc<Measured>>>>;

/// LOCAL: the runs of every point, as in the paper, if time allows.
const RUNS: u32 = 11;

pub(super) const BENCHES: &[Bench] = &[
    Bench {
        name: "authgarble",
        about: "Authenticated garbling among n parties of which all but one may cheat: every phase, 2 to 8 parties, every transport",
        examples: "Example:\n  hushwire bench authgarble --only circuit=aes128,parties=3,transport=inproc --json authgarble.json",
        // Over plain TCP: batched, one circuit with 2 to 8 parties, both variants with three and
        // more, and batches of circuits with three. Also every implementation on SHA-256 with
        // three, and AES-128 over networks.
        core: &[
            "transport=tcp-insecure threads=$least implementation=batched net=$near parties=2 variant=krrw18",
            "transport=tcp-insecure threads=$least implementation=batched net=$near parties=3 variant=wrk17",
            "transport=tcp-insecure threads=$least implementation=batched net=$near parties!=2 variant=wrk17 circuit=aes128|sha256",
            "transport=tcp-insecure threads=$least implementation=batched net=none parties!=2 circuit=aes128|sha256",
            "transport=tcp-insecure threads=$least net=$near parties=3 variant=wrk17 circuit=sha256",
            "transport=tcp-insecure threads=$least implementation=batched circuit=aes128 parties=2 variant=krrw18",
            "transport=tcp-insecure threads=$least implementation=batched circuit=aes128 parties=3 variant=wrk17",
        ],
        quick: &[
            "transport=tcp-insecure threads=$least implementation=batched net=none circuit=aes128 parties=2 variant=krrw18",
            "transport=tcp-insecure threads=$least implementation=batched net=none circuit=aes128 parties=3 variant=wrk17",
        ],
        cases: |asked| Ok(cases(Point::all(asked), asked)),
        ..Bench::EMPTY
    },
    // Table 6 over plain TCP, or over the network that is given. Other transports and networks are
    // measured on request.
    Bench {
        name: "table6",
        about: "Table 6 of the VASA paper: SHA-256 among three parties of which two may cheat, phase by phase",
        examples: "Example:\n  hushwire bench table6 --only phase=online,transport=tcp-tls --net lan --json table6.json",
        core: &["*"],
        quick: &["*"],
        cases: |asked| Ok(cases(table6(asked), asked)),
        below: |_, report| paper::print(report),
        ..Bench::EMPTY
    },
];

/// The points of Table 6 over plain TCP without a simulated network, as in the paper. Other links
/// are points only if a selection or `--net` names a transport or a network.
fn table6(asked: &BenchAsked) -> Vec<Point> {
    let named = |key: &str| asked.options.only.iter().any(|s| s.key == key);
    let (any_transport, any_net) = (named("transport"), named("net") || asked.net.is_some());
    let mut points = Point::table6(asked);
    points.retain(|p| {
        (any_transport || p.transport == Transport::TcpInsecure) && (any_net || p.net == Shape::NONE)
    });
    points
}

fn cases(points: Vec<Point>, asked: &BenchAsked) -> Vec<Case<'static>> {
    let (seen, backend) = (Seen::default(), asked.backend());
    let case = |point: Point| {
        let seen = seen.clone();
        Case::new("authgarble", point.params(), move |ctx| measure(ctx, &point, backend, &seen))
    };
    points.into_iter().filter(|p| p.implementation.backend(backend).is_some()).map(case).collect()
}

/// The row of a point's phase. The first phase of a point runs all phases, and the others take
/// their rows from that run.
fn measure(
    ctx: &mut CaseContext<'_>,
    point: &Point,
    backend: Backend,
    seen: &Seen,
) -> Result<BenchRow, BoxError> {
    let backend = point.implementation.backend(backend).ok_or("this CPU has no such AES")?;
    let key = point.run_name();
    let known = seen.borrow().get(&key).cloned();
    let timer = ctx.timer();
    // The rows of a run's phases share their time.
    let timer = Timer { budget: AuthPhase::ALL.len() as u32 * timer.budget, runs: RUNS };
    let message = known.as_ref().map_or(1 << 18, |run| run.message(point.phase));
    let (run, taken) = link::around(ctx, point.link(message), || match known {
        Some(run) => Ok(run),
        None => Measured::of(point, backend, timer).map(Rc::new),
    })?;
    seen.borrow_mut().insert(key, run.clone());
    let spent = run.phase(point.phase);
    let limit = limit::of(ctx, point, backend, &run, taken.as_ref())?;
    let units = if point.phase == AuthPhase::Setup { 1 } else { run.ands };
    let row = BenchRow::time("time", &spent.seconds)?;
    let params = point.params();
    let paper =
        if point.is_the_papers() { VASA_6.stated(&params, point.phase.name()) } else { Paper::default() };
    let rate = (1e3 * count(run.ands) / row.median).round();
    Ok(row
        .bytes_per_unit(count(spent.bytes) / count(units))
        .rounds(spent.rounds)
        .bound(&limit)
        .paper(paper)
        .with("ands", run.ands)
        .with("ands_per_s", rate))
}
