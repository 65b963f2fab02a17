//! `bench authgarble`: authenticated garbling in its four phases, all parties in this process on a thread each; and
//! `bench table6`, the VASA paper's Table 6.
//!
//! | `phase` | from, to |
//! |---|---|
//! | `setup` | connected, to OTs with every peer under one Δ |
//! | `function-independent` | to triples and masks, as many as the circuit takes |
//! | `function-dependent` | to the garbled circuit at the evaluator |
//! | `online` | inputs to outputs, which all parties learn |
//!
//! `implementation` is `ref` (AES-NI, one block after the other), `vaes` (the widest VAES, one block after the other) and `batched`
//! (the widest VAES, as many blocks at once as there are). `circuit` may have a number of copies before it: so many side by side.
//! `threads` share the work of each party in all phases but the last.
//! A run goes through all phases, each begun by all parties at once and over with the last; rows of one run's phases share it.
//! Every party's outputs are compared with plain evaluation in every run.
//!
//! Metric `time` in ms; bytes are those that the busier party sends for an AND (in a set-up, in all), rounds how often parties wait.
//! The limit is what binds first: AES of all parties on the cores there are, their bytes on the link, rounds of its delay.

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
    BenchOptions, BoxError, Case, Context, Measurement, Report, Result, Row, Timer, Unit,
    bounds::count,
    link,
    net::{NETS, Transport},
};
use grid::{Phase, Point};
use parties::Measured;

/// Runs that were made, of which every phase has a row.
type Seen = Rc<RefCell<BTreeMap<String, Rc<Measured>>>>;

/// LOCAL: runs of every point, as in the paper, where time allows.
const RUNS: u32 = 11;

/// Measures what the options ask for: on this backend where AES is batched, given a network over that one alone.
///
/// # Errors
/// As [`crate::run`]; a case fails when the parties cannot connect, when one of them fails, and when an output is wrong.
pub fn run(options: &BenchOptions, backend: Backend, net: Option<Shape>) -> Result<Report> {
    crate::run("authgarble", cases(options, backend, net)?, options)
}

/// Measures Table 6 and prints it below for each link, ours beside the paper's: over plain TCP, given a network over that one. Other
/// transports and networks are there to be asked for.
///
/// # Errors
/// As [`run`].
pub fn table6(options: &BenchOptions, backend: Backend, net: Option<Shape>) -> Result<Report> {
    crate::run_with("table6", table6_cases(options, backend, net)?, options, paper::print)
}

fn cases(options: &BenchOptions, backend: Backend, net: Option<Shape>) -> Result<Vec<Case<'static>>> {
    let nets = net.map_or(NETS.to_vec(), |net| vec![net]);
    let threads = options.threads.map_or(vec![1, 2], |threads| vec![threads]);
    let points = Point::all(&threads, &nets);
    let sets = move |point: &Point| [point.is_core(net.is_some(), threads[0]), point.is_quick(threads[0])];
    made(points, backend, sets)
}

fn table6_cases(options: &BenchOptions, backend: Backend, net: Option<Shape>) -> Result<Vec<Case<'static>>> {
    let nets = net.map_or(NETS.to_vec(), |net| vec![net]);
    // Of what is not named, the paper's: whoever chooses a phase does not ask for every link.
    let named = |key: &str| options.only.iter().any(|s| s.key == key);
    let (any_transport, any_net) = (named("transport"), named("net") || net.is_some());
    let wanted = |p: &Point| {
        (any_transport || p.transport == Transport::TcpInsecure) && (any_net || p.net == Shape::NONE)
    };
    let points = Point::table6(options.threads.unwrap_or(1), &nets).into_iter().filter(wanted).collect();
    made(points, backend, |_| [true, true])
}

fn made(
    points: Vec<Point>,
    backend: Backend,
    sets: impl Fn(&Point) -> [bool; 2],
) -> Result<Vec<Case<'static>>> {
    let seen = Seen::default();
    let case = |point: Point| {
        let (seen, [core, quick]) = (seen.clone(), sets(&point));
        let work = move |ctx: &mut Context<'_>| measure(ctx, &point, backend, &seen);
        Case::new("authgarble", point.params(), work).core(core).quick(quick)
    };
    Ok(points.into_iter().filter(|p| p.implementation.backend(backend).is_some()).map(case).collect())
}

fn measure(ctx: &mut Context<'_>, point: &Point, backend: Backend, seen: &Seen) -> Result<Row, BoxError> {
    let backend = point.implementation.backend(backend).ok_or("this CPU has no such AES")?;
    let key = point.run_name();
    let known = seen.borrow().get(&key).cloned();
    let timer = ctx.timer();
    // The rows of a run's phases have their time together.
    let timer = Timer { budget: Phase::ALL.len() as u32 * timer.budget, runs: RUNS };
    let message = known.as_ref().map_or(1 << 18, |run| run.message(point.phase));
    let (run, taken) = link::around(ctx, point.link(message), || match known {
        Some(run) => Ok(run),
        None => Measured::of(point, backend, timer).map(Rc::new),
    })?;
    seen.borrow_mut().insert(key, run.clone());
    let spent = run.phase(point.phase);
    let time = Measurement::of(&spent.ms).ok_or("nothing was timed")?;
    let limit = limit::of(ctx, point, backend, &run, taken.as_ref())?;
    let units = if point.phase == Phase::Setup { 1 } else { run.ands };
    let row = Row::new("time", Unit::MS, time)
        .bytes_per_unit(count(spent.bytes) / count(units))
        .rounds(spent.rounds)
        .bound(&limit)
        .paper(paper::stated(point))
        .with("ands", run.ands)
        .with("ands_per_s", (1e3 * count(run.ands) / time.median).round());
    Ok(row)
}
