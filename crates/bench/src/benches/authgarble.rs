//! `bench authgarble`: authenticated garbling in its four phases, all parties in this process on a
//! thread each; and `bench table6`, the VASA paper's Table 6.
//!
//! | `phase` | from, to |
//! |---|---|
//! | `setup` | connected, to OTs with every peer under one Δ |
//! | `function-independent` | to triples and masks, as many as the circuit takes |
//! | `function-dependent` | to the garbled circuit at the evaluator |
//! | `online` | inputs to outputs, which all parties learn |
//!
//! `implementation` is `ref` (AES-NI, one block after the other), `vaes` (the widest VAES, one
//! block after the other) and `batched` (the widest VAES, as many blocks at once as there are).
//! `circuit` may have a number of copies before it, which run side by side. `threads` share the
//! work of each party in all phases but the last.
//! A run goes through all phases, each begun by all parties at once and over with the last; rows of
//! one run's phases share it. Every party's outputs are compared with plain evaluation in every
//! run.
//!
//! Metric `time` in ms; bytes are those that the busier party sends for an AND (in a set-up, in
//! all), rounds how often parties wait. The limit is what binds first: AES of all parties on the
//! cores there are, their bytes on the link, rounds of its delay.

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

/// Runs that were made, of which every phase has a row.
type Seen = Rc<RefCell<BTreeMap<String, Rc<Measured>>>>;

/// LOCAL: runs of every point, as in the paper, where time allows.
const RUNS: u32 = 11;

pub(super) const BENCHES: &[Bench] = &[
    Bench {
        name: "authgarble",
        about: "Authenticated garbling among n parties of which all but one may cheat: every phase, 2 to 8 parties, every transport",
        examples: "Example:\n  hushwire bench authgarble --only circuit=aes128,parties=3,transport=inproc --json authgarble.json",
        // Over plain TCP: batched, one circuit among 2 to 8, both variants among three and more,
        // and batches of circuits among three; every implementation on SHA-256 among three; AES-128
        // over networks.
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
    // Table 6 over plain TCP, given a network over that one. Other transports and networks are
    // there to be asked for.
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

/// The points of Table 6. Where nothing is named, these are the paper's: whoever chooses a phase
/// does not ask for every link.
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
    // The rows of a run's phases have their time together.
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
