//! `bench rep3`: AND gates on shares of three parties: plain products, and the SHA-256 and AES-128
//! circuits.
//!
//! A row times whole repetitions of at least ten million ANDs, from the first compute thread's
//! start to the last one's end. Connections, keys and the sharing of inputs are not timed.
//! Afterwards the result is opened and compared with plain evaluation. A wrong result fails the
//! run.
//!
//! With a transport each party has `threads` compute threads that keep several batches in flight,
//! all in this process. `inproc` has no transport: a thread computes for all three parties in
//! lockstep. The metric is the throughput in AND/s.

mod part;
#[cfg(test)]
mod tests;
mod work;

use hushwire_aes::Backend;
use hushwire_wire::Shape;

use crate::{
    Bench, BenchAsked, BenchRow, BoxError, Case, CaseContext, LimitBound, Paper, Unit,
    axes::{axis, every, params},
    bounds::{self, count},
    link::{self, RowLink, Taken},
    net::Transport,
    three::Links3,
    workers,
};
use part::{BatchRuns, check};
use work::WorkloadProgram;

pub(super) const BENCHES: &[Bench] = &[Bench {
    name: "rep3",
    about: "AND gates among three parties on shares: bare products and circuits, over every transport and modelled networks",
    examples: "Example:\n  hushwire bench rep3 --only workload=aes128,net=none --json rep3.json",
    // All rows on this host's own links, and plain products over networks.
    core: &["net=none", "workload=and threads=$least transport=tcp-tls|tcp-insecure"],
    quick: &["workload=and net=none threads=$least", "transport=inproc threads=$least"],
    cases: |asked| Ok(cases(asked)),
    ..Bench::EMPTY
}];

axis! {
    /// The computation of a row.
    pub(super) enum Workload {
        /// Products of vectors. Each product is a factor of the next.
        And = "and",
        /// The SHA-256 compression function's circuit.
        Sha256 = "sha256",
        /// The AES-128 circuit, key schedule included.
        Aes128 = "aes128",
    }
}

/// One point of the grid.
#[derive(Clone, Copy)]
pub(super) struct Point {
    workload: Workload,
    transport: Transport,
    net: Shape,
    threads: usize,
}

fn cases(asked: &BenchAsked) -> Vec<Case<'static>> {
    let backend = asked.backend();
    let points = every!(workload in Workload::ALL, (transport, net) in asked.links(), threads in asked.threads() =>
        Point { workload, transport, net, threads });
    let case = |point: Point| {
        let params = params!(point; workload, transport, net, threads);
        Case::new("and-gates", params, move |ctx| measure(ctx, backend, &point))
    };
    points.into_iter().map(case).collect()
}

fn measure(ctx: &mut CaseContext<'_>, backend: Backend, point: &Point) -> Result<BenchRow, BoxError> {
    let program = WorkloadProgram::new(point.workload)?;
    let cut = BatchCut::of(point, &program);
    let links = Links3 { transport: point.transport, net: point.net, lanes: cut.lanes, threads: cut.threads };
    let mut threads = links.threads(backend, None, |party| BatchRuns::all(party, &program, &cut))?;
    let (timer, cost) = (ctx.timer(), program.cost(cut.instances));
    let link = RowLink::three_flows(point.transport, cost.bytes_sent / cost.rounds.max(1));
    let (seconds, taken) = link::around(ctx, link, || timer.durations(|n| workers::time(&mut threads, n)))?;
    check(&threads, &program, &cut, ctx.spoiled())?;
    let limit = limit(ctx, backend, point, taken.as_ref())?;
    let ands = count(program.ands(cut.instances) * cut.batches as u64 * cut.threads as u64);
    Ok(BenchRow::rate("throughput", Unit::AND_PER_S, ands, &seconds)?
        .bytes_per_unit(count(cost.bytes_sent) / count(program.ands(cut.instances)))
        .rounds(cost.rounds * cut.waves() as u64)
        .bound(&limit)
        .paper(stated()))
}

/// The figure that Araki et al. give for their servers with twenty cores.
fn stated() -> Paper {
    Paper::new(7e9, &Unit::AND_PER_S, "Araki et al., CCS 2016, three servers with 20 cores each and 10 Gb/s")
}

/// The PRF calls of all parties for an AND. Each party makes two calls for 128 ANDs.
const PRF_CALLS: f64 = 3.0 * 2.0 / 128.0;
/// The bytes that each party sends for an AND.
const BYTES: f64 = 1.0 / 8.0;

/// The tightest bound of a point, given the measured limit of its link.
fn limit(
    ctx: &mut CaseContext<'_>,
    backend: Backend,
    point: &Point,
    taken: Option<&Taken>,
) -> Result<LimitBound, BoxError> {
    let unit = Unit::AND_PER_S;
    let least = bounds::prf(ctx, backend, "ANDs", (point.transport, point.threads), (&unit, PRF_CALLS))?;
    link::tightened(ctx, least, (taken, point.net), "ANDs over", &unit, (3.0, BYTES))
}

/// The amount of work at a time. It is LOCAL for the cost, and AGREEMENT for the addresses of
/// zero-shares.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct BatchCut {
    /// The instances of a batch. For products, the ANDs of a batch.
    pub(super) instances: usize,
    /// The batches of each thread in one repetition.
    pub(super) batches: usize,
    /// The threads of a party.
    pub(super) threads: usize,
    /// The number of batches that a thread has in flight.
    pub(super) lanes: usize,
}

/// The fewest ANDs of a repetition. Over a modelled network, a repetition lasts at least this many
/// seconds, so that the delay at its end does not matter.
const LEAST_ANDS: u64 = 10_000_000;
const FAR_SECONDS: f64 = 0.02;
/// The bits of a message of products. In lockstep, all three parties' vectors stay in a
/// second-level cache of 1 MiB. Over a link, messages are long enough for sockets and TLS.
const LOCKSTEP_BITS: usize = 1 << 17;
const LINK_BITS: usize = 1 << 21;
/// The instances of a circuit.
const LOCKSTEP_INSTANCES: usize = 2048;
const LINK_INSTANCES: usize = 8192;
/// The batches in flight over a link, and over a link with a delay.
const LINK_LANES: usize = 2;
const FAR_LANES: usize = 4;

impl BatchCut {
    pub(super) fn of(point: &Point, workload: &WorkloadProgram) -> Self {
        let lockstep = point.transport == Transport::Inproc;
        let instances = match (point.workload, lockstep) {
            (Workload::And, true) => LOCKSTEP_BITS,
            (Workload::And, false) => LINK_BITS,
            (_, true) => LOCKSTEP_INSTANCES,
            (_, false) => LINK_INSTANCES,
        };
        let lanes = match lockstep {
            true => 1,
            false if point.net != Shape::NONE => FAR_LANES,
            false => LINK_LANES,
        };
        let at_once = workload.ands(instances) * (lanes * point.threads) as u64;
        let far = point.net.bits_per_second.map_or(0.0, |rate| rate as f64 * FAR_SECONDS);
        let batches = LEAST_ANDS.max(far as u64).div_ceil(at_once) as usize * lanes;
        Self { instances, batches, threads: point.threads, lanes }
    }

    /// The number of consecutive batches on a lane.
    pub(super) fn waves(&self) -> usize {
        self.batches / self.lanes
    }
}
