//! `bench rep3`: AND gates among three parties on shares: bare products, and the SHA-256 and AES-128 circuits.
//!
//! A row times whole repetitions of at least ten million ANDs, from the first compute thread's start to the last one's
//! end; connecting, keys and sharing the inputs are not timed. Afterwards the result is opened and compared with plain
//! evaluation: a wrong one fails the run.
//!
//! With a transport each party has `threads` compute threads that keep several batches in flight, all in this process;
//! `inproc` has none: a thread computes for all three parties in lockstep. Throughput in AND/s.

mod grid;
mod part;
#[cfg(test)]
mod tests;
mod work;

use hushwire_aes::Backend;
use hushwire_wire::Shape;

use crate::{
    BenchOptions, Bound, BoxError, Case, Context, Measurement, Paper, Report, Result, Row, Unit,
    bounds::{self, count},
    link::{self, Link, Taken},
    net::NETS,
    three::Links3,
    workers,
};
use grid::{Cut, Point};
use part::{Part, check};
use work::WorkloadProgram;

/// Measures what the options ask for, on this backend; given a network, over that one alone.
///
/// # Errors
/// As [`crate::run`]; a case fails when the parties cannot connect, when one of them fails, and when the result is wrong.
pub fn run(options: &BenchOptions, backend: Backend, net: Option<Shape>) -> Result<Report> {
    crate::run("rep3", cases(options, backend, net, false), options)
}

/// The grid. `spoiled` makes every check fail, for a test.
fn cases(options: &BenchOptions, backend: Backend, net: Option<Shape>, spoiled: bool) -> Vec<Case<'static>> {
    let nets = net.map_or(NETS.to_vec(), |net| vec![net]);
    let threads = options.threads.map_or(vec![1, 2], |threads| vec![threads]);
    let least = threads[0];
    let case = |point: Point| {
        let work = move |ctx: &mut Context<'_>| measure(ctx, backend, &point, spoiled);
        Case::new("and-gates", point.params(), work).core(point.is_core(least)).quick(point.is_quick(least))
    };
    Point::all(&threads, &nets).into_iter().map(case).collect()
}

fn measure(ctx: &mut Context<'_>, backend: Backend, point: &Point, spoiled: bool) -> Result<Row, BoxError> {
    let program = WorkloadProgram::new(point.workload)?;
    let cut = Cut::of(point, &program);
    let links = Links3 { transport: point.transport, net: point.net, lanes: cut.lanes, threads: cut.threads };
    let mut threads = links.threads(backend, None, |party| Part::all(party, &program, &cut))?;
    let (timer, cost) = (ctx.timer(), program.cost(cut.instances));
    let link = Link::three_flows(point.transport, cost.bytes_sent / cost.rounds.max(1));
    let (seconds, taken) = link::around(ctx, link, || timer.durations(|n| workers::time(&mut threads, n)))?;
    check(&threads, &program, &cut, spoiled)?;
    let limit = limit(ctx, backend, point, taken.as_ref())?;
    let ands = count(program.ands(cut.instances) * cut.batches as u64 * cut.threads as u64);
    let figures: Vec<f64> = seconds.iter().map(|s| ands / s).collect();
    let measured = Measurement::of(&figures).ok_or("nothing was timed")?;
    Ok(Row::new("throughput", Unit::AND_PER_S, measured)
        .bytes_per_unit(count(cost.bytes_sent) / count(program.ands(cut.instances)))
        .rounds(cost.rounds * cut.waves() as u64)
        .bound(&limit)
        .paper(stated()))
}

/// Araki et al.'s own figure for their twenty-core servers.
fn stated() -> Paper {
    Paper::new(7e9, &Unit::AND_PER_S, "Araki et al., CCS 2016, three servers with 20 cores each and 10 Gb/s")
}

/// PRF calls of all parties for an AND: 128 ANDs take two of each.
const PRF_CALLS: f64 = 3.0 * 2.0 / 128.0;
/// Bytes that each party sends for an AND.
const BYTES: f64 = 1.0 / 8.0;

/// The bound that binds a point first, by its link as it was taken.
fn limit(
    ctx: &mut Context<'_>,
    backend: Backend,
    point: &Point,
    taken: Option<&Taken>,
) -> Result<Bound, BoxError> {
    let unit = Unit::AND_PER_S;
    let least = bounds::prf(ctx, backend, "ANDs", (point.transport, point.threads), (&unit, PRF_CALLS))?;
    link::tightened(ctx, least, (taken, point.net), "ANDs over", &unit, (3.0, BYTES))
}
