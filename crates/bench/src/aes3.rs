//! `bench aes3`: three parties encrypt counter blocks on shares with AES-128.
//!
//! A row times whole batches of `blocks` blocks, one after the other: from the first compute thread's start to the last
//! one's end. The result's shares are then with the parties; opening them is not timed. Connecting, session keys and
//! what the owner deals beforehand are not timed either. After timing, the shares of the last batch are opened and
//! compared with another implementation of AES: a wrong result fails the run.
//!
//! Over TCP each party has `threads` compute threads that keep several chunks in flight, all in this process and on this
//! machine. `inproc` has no transport: a thread computes for all three parties in lockstep, `threads` of them on chunks
//! of their own. Throughput in blocks/s; of one block, the time in ms.

mod deal;
mod grid;
mod limits;
mod papers;
mod part;
#[cfg(test)]
mod tests;

use hushwire_aes::Backend;
use hushwire_machine::{Cost, Meter};
use hushwire_rep3::{KeySize, cost, expansion_cost};
use hushwire_wire::Shape;

use crate::{
    BenchOptions, BoxError, Case, Context, Measurement, Report, Result, Row, Unit,
    bounds::count,
    link,
    net::NETS,
    three::{self, Links3, Thread},
    workers,
};
use deal::{Deal, check};
use grid::{Cut, KeyMode, Point};
use part::Part;

/// Measures what the options ask for, on this backend; given a network, over that one alone.
///
/// # Errors
/// As [`crate::run`]; a case fails when the parties cannot connect, when one of them fails, and when the result is wrong.
pub fn run(options: &BenchOptions, backend: Backend, net: Option<Shape>) -> Result<Report> {
    crate::run_with("aes3", cases(options, backend, net, false), options, papers::tables)
}

/// The case's name.
const CASE: &str = "aes128-ctr";

/// The grid. `spoiled` makes every check fail, for a test.
fn cases(options: &BenchOptions, backend: Backend, net: Option<Shape>, spoiled: bool) -> Vec<Case<'static>> {
    let nets = net.map_or(NETS.to_vec(), |net| vec![net]);
    let threads = options.threads.map_or(vec![1, 2], |threads| vec![threads]);
    let points = Point::all(&threads, &nets).into_iter();
    let case = |point: Point| {
        let work = move |ctx: &mut Context<'_>| measure(ctx, backend, &point, spoiled);
        Case::new(CASE, point.params(), work)
            .core(point.is_core(threads[0]))
            .quick(point.is_quick(threads[0]))
    };
    points.map(case).collect()
}

fn measure(ctx: &mut Context<'_>, backend: Backend, point: &Point, spoiled: bool) -> Result<Row, BoxError> {
    let cut = Cut::of(point);
    let spent = declared(point, &cut);
    let deal = Deal::new(backend, point.key, &cut)?;
    let mut threads = connected(backend, point, &cut, &deal, None)?;
    let timer = ctx.timer();
    let (seconds, taken) =
        link::around(ctx, limits::link(point, &cut), || timer.durations(|n| workers::time(&mut threads, n)))?;
    let limit = limits::of(ctx, backend, point, spent.rounds, taken.as_ref())?;
    let mut own = [(); 3].map(|()| vec![0; 16 * point.blocks]);
    three::parts(&threads).for_each(|part| part.collect(&mut own));
    let mut expected = deal.expected(point.blocks);
    expected[0] ^= u8::from(spoiled);
    check([&own[0], &own[1], &own[2]], &expected)?;

    let blocks = count(point.blocks as u64);
    let (metric, unit, figures): (_, _, Vec<f64>) = if point.blocks == 1 {
        ("latency", Unit::MS, seconds.iter().map(|s| 1e3 * s).collect())
    } else {
        ("throughput", Unit::BLOCKS_PER_S, seconds.iter().map(|s| blocks / s).collect())
    };
    let measured = Measurement::of(&figures).ok_or("nothing was timed")?;
    Ok(Row::new(metric, unit, measured)
        .bytes_per_unit(count(spent.bytes_sent) / blocks)
        .rounds(spent.rounds)
        .bound(&limit)
        .paper(papers::stated(point)))
}

/// The compute threads of all parties, with their keys: all that is not timed.
fn connected(
    backend: Backend,
    point: &Point,
    cut: &Cut,
    deal: &Deal,
    meters: Option<&[Meter; 3]>,
) -> Result<Vec<Thread<Part>>, BoxError> {
    let links = Links3 { transport: point.transport, net: point.net, lanes: cut.lanes, threads: cut.threads };
    links.threads(backend, meters, |party| {
        let keys = &deal.parties[party.role().index()];
        Part::all(party, point.sbox, cut, keys)
    })
}

/// The declared cost of a batch for each party: the bytes of all chunks, and the rounds of those that follow each other on a
/// lane.
fn declared(point: &Point, cut: &Cut) -> Cost {
    let chunks = (0..cut.chunks()).map(|c| cost(KeySize::Aes128, point.sbox, cut.range(c).len()));
    let mut spent = chunks.fold(Cost::default(), |all, one| Cost {
        rounds: one.rounds * cut.waves() as u64,
        bytes_sent: all.bytes_sent + one.bytes_sent,
    });
    if point.key == KeyMode::Expand {
        let key = expansion_cost(KeySize::Aes128, point.sbox, 1);
        spent = Cost { rounds: spent.rounds + key.rounds, bytes_sent: spent.bytes_sent + key.bytes_sent };
    }
    spent
}
