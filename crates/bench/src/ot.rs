//! `bench ot`: oblivious transfers between two parties, by protocol, security and kind.
//!
//! Kinds: `rcot` is correlated OT of choices that the extension draws, written to memory; `cot` the same for choices that
//! the receiver brings; `rot` and `ot` are random and chosen OT of 128-bit messages for such choices. Buffers are used
//! again from run to run: fresh pages cost more than the socket. More than 16 M OTs are streamed through buffers of 1 M.
//!
//! A row times whole repetitions of all OTs, ten million unless `--count` says otherwise, from the first thread's start
//! to the last one's end: that is the slower party. In malicious modes the checks are part of it. Base OTs and the
//! extension's set-up are not; they stand in rows of their own, metric `setup`, once for each protocol, security, tier
//! and transport. A row takes three times as long as other benches' do. Afterwards every OT of the last repetition is compared: a wrong one fails the run. Rows on the portable
//! tier and over networks below 1 Gb/s make a 64th of the OTs, rows that encrypt block by block an eighth.
//!
//! Both parties are in this process and each of them has `threads` threads, each with a lane and an extension of its own.

mod ends;
mod grid;
mod limits;
mod parties;
mod table;
#[cfg(test)]
mod tests;

use std::{cell::RefCell, collections::BTreeSet, rc::Rc};

use hushwire_aes::Backend;
use hushwire_ot::{Level, Malicious, Security, SemiHonest};
use hushwire_wire::Shape;

use crate::{
    BenchOptions, BoxError, Case, Context, Measurement, Report, Result, Row, Timer, Unit, bounds::count,
    link::Link, net::NETS,
};
use grid::{Point, level_name, tiers};
use parties::Parties;

/// The choices of this bench beside [`BenchOptions`].
#[derive(Clone, Copy, Debug, Default)]
pub struct Wanted {
    /// This backend alone.
    pub backend: Option<Backend>,
    /// This network alone.
    pub net: Option<Shape>,
    /// OTs of a row.
    pub count: Option<usize>,
    /// Only what stands in the VASA paper's Table 5.
    pub paper: bool,
}

/// OTs of a row.
const OTS: usize = 10_000_000;
/// The same with `--quick`.
const QUICK_OTS: usize = 1_000_000;
/// The number of times that a set-up is timed.
const SETUPS: u32 = 5;

impl Wanted {
    fn count(&self, options: &BenchOptions) -> usize {
        self.count.unwrap_or(if options.quick { QUICK_OTS } else { OTS })
    }
}

/// Measures what the options ask for, and prints Table 5 of the VASA paper below where its rows were measured.
///
/// # Errors
/// As [`crate::run`]; a case fails when the parties cannot connect, when one of them fails, and when an OT is wrong.
pub fn run(options: &BenchOptions, wanted: &Wanted) -> Result<Report> {
    let below = |report: &Report| {
        if wanted.paper || table::is_whole(report) {
            table::print(report, wanted.count(options))
        } else {
            String::new()
        }
    };
    crate::run_with("ot", cases(options, wanted, false), options, below)
}

/// Set-ups that have a row, by everything that they depend on.
type Seen = Rc<RefCell<BTreeSet<String>>>;

/// The grid. `spoiled` makes every check fail, for a test.
fn cases(options: &BenchOptions, wanted: &Wanted, spoiled: bool) -> Vec<Case<'static>> {
    let nets = wanted.net.map_or(NETS.to_vec(), |net| vec![net]);
    let threads = options.threads.map_or(vec![1, 2], |threads| vec![threads]);
    let (tiers, least) = (tiers(wanted.backend), threads[0]);
    let widest = tiers.last().copied();
    let (wanted, ots, seen) = (*wanted, wanted.count(options), Seen::default());
    let case = |point: Point| {
        let (seen, count) = (seen.clone(), point.count(ots));
        let work = move |ctx: &mut Context<'_>| measure(ctx, &point, count, &seen, spoiled);
        // With --paper every other set is the table's.
        let core = if wanted.paper { true } else { point.is_core(widest, least) };
        let quick = if wanted.paper { true } else { point.is_quick(widest, least) };
        Case::new("ot", point.params(), work).core(core).quick(quick)
    };
    let points = Point::all(&tiers, &threads, &nets).into_iter();
    points.filter(|p| !wanted.paper || (p.is_in_table(widest) && p.threads == least)).map(case).collect()
}

/// Ten million OTs take up to half a second: a row of a second would be of two runs.
fn timer(ctx: &Context<'_>) -> Timer {
    let (timer, options) = (ctx.timer(), ctx.options());
    let longer = if options.quick || options.row_seconds.is_some() { 1 } else { 3 };
    Timer { budget: timer.budget * longer, ..timer }
}

fn measure(
    ctx: &mut Context<'_>,
    point: &Point,
    count: usize,
    seen: &Seen,
    spoiled: bool,
) -> Result<Vec<Row>, BoxError> {
    match point.level {
        Level::SemiHonest => measure_at::<SemiHonest>(ctx, point, count, seen, spoiled),
        Level::Malicious => measure_at::<Malicious>(ctx, point, count, seen, spoiled),
    }
}

fn measure_at<S: Security>(
    ctx: &mut Context<'_>,
    point: &Point,
    ots: usize,
    seen: &Seen,
    spoiled: bool,
) -> Result<Vec<Row>, BoxError> {
    let of = [
        point.protocol.to_string(),
        level_name(point.level).to_owned(),
        format!("{:?}", point.backend),
        point.transport.to_string(),
        point.net.to_string(),
    ];
    let new = seen.borrow_mut().insert(of.join(" "));
    let mut parties = Parties::<S>::new(point, ots, if new { SETUPS } else { 1 })?;
    // A first repetition tells the length of the messages.
    parties.time(1)?;
    let link = Link::one_flow(point.transport, parties.message());
    let timer = timer(ctx);
    let (seconds, taken) = link.around(ctx, || timer.durations(|n| parties.time(n)))?;
    parties.check(spoiled)?;
    let (bytes, rounds) = parties.spent();
    let limit = limits::of(ctx, point, bytes, &taken)?;
    let figures: Vec<f64> = seconds.iter().map(|s| count(ots as u64) / s).collect();
    let measured = Measurement::of(&figures).ok_or("nothing was timed")?;
    let throughput = Row::new("throughput", Unit::OT_PER_S, measured)
        .bytes_per_unit(bytes)
        .rounds(rounds)
        .bound(&limit)
        .paper(table::stated(point.protocol, point.level, point.kind));
    let mut rows = vec![throughput];
    if new {
        let figures: Vec<f64> = parties.setup.iter().map(|time| 1e3 * time.as_secs_f64()).collect();
        let measured = Measurement::of(&figures).ok_or("no set-up was timed")?;
        let spent = parties.setup_spent;
        rows.push(
            Row::new("setup", Unit::MS, measured).bytes_per_unit(count(spent.bytes)).rounds(spent.rounds),
        );
    }
    Ok(rows)
}
