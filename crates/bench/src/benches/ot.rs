//! `bench ot`: oblivious transfers (OTs) between two parties, by protocol, security and kind.
//!
//! The kind `rcot` is correlated OT with choices that the extension draws, written to memory. `cot`
//! is the same with choices of the receiver. `rot` and `ot` are random and chosen OT of 128-bit
//! messages with choices of the receiver. Buffers are reused from run to run, because fresh pages
//! cost more than the socket. More than 16 M OTs are streamed through buffers of 1 M.
//!
//! A row times whole repetitions of all OTs, ten million by default (`--count`), from the first
//! thread's start to the last one's end. That is the time of the slower party. It includes the
//! checks of malicious modes. It does not include base OTs and the extension's set-up. These have
//! rows of their own with the metric `setup`, one for each protocol, security, tier and transport.
//! A row takes three times as long as a row of other benchmarks. Afterwards every OT of the last
//! repetition is checked. A wrong OT fails the run. Rows on the portable tier and over networks
//! below 1 Gb/s make a 64th of the OTs, and rows that encrypt block by block an eighth.
//!
//! Both parties are in this process and each of them has `threads` threads, each with a lane and an
//! extension of its own.

mod ends;
mod grid;
mod limits;
mod parties;
mod table;
#[cfg(test)]
mod tests;

use std::{cell::RefCell, collections::BTreeSet, rc::Rc, time::Duration};

use hushwire_ot::{Level, Malicious, Security, SemiHonest};

use crate::{
    Bench, BenchAsked, BenchRow, BoxError, Case, CaseContext, OwnOption, Timer, Unit, axes::params,
    bounds::count, link::RowLink,
};
use grid::Point;
use parties::Parties;

pub(super) const BENCHES: &[Bench] = &[Bench {
    name: "ot",
    about: "Oblivious transfers between two parties: protocols, security, kinds and transports, beside the VASA paper's",
    examples: "Examples:\n  hushwire bench ot --only protocol=softspoken4,net=none,threads=1 --json ot.json\n  hushwire bench ot --paper                          Table 5 of the VASA paper, ours beside",
    own: &[
        OwnOption {
            name: "count",
            value: Some("N"),
            help: "OTs of a row; portable rows make a 64th of them, rows that encrypt block by block an eighth [default: 10000000, with --quick 1000000]",
            check: Some(|text| number(text).map(drop)),
        },
        OwnOption {
            name: "paper",
            value: None,
            help: "Measure what stands in the VASA paper's Table 5, and print that table with ours beside",
            check: None,
        },
    ],
    // The core set has all rows for which others have published figures, added by `cases`, and the
    // rows of one protocol on every transport and tier.
    core: &[
        "net=none threads=$least protocol=softspoken4 tier=$widest batched=true transport=tcp-insecure",
        "net=none threads=$least protocol=softspoken4 tier=$widest batched=true kind=rcot",
        "net=none threads=$least protocol=softspoken4 tier=portable batched=true kind=rcot security=semi-honest",
        "net=none threads=$least protocol=softspoken4 tier=$widest batched=false kind=rcot|rot security=semi-honest",
        "net=none threads=$least protocol=iknp tier=$widest batched=false kind=rcot",
        "net=none threads=$least protocol=iknp|kos tier=$widest batched=true kind=rcot transport=tcp-insecure|shm",
        "net=none threads=$least protocol=softspoken2|softspoken8|ferret-b11 tier=$widest batched=true kind=rcot transport=tcp-insecure",
    ],
    quick: &[
        "net=none threads=$least protocol=softspoken4 kind=rcot security=semi-honest tier=portable batched=true",
        "net=none threads=$least protocol=softspoken4 kind=rcot security=semi-honest tier=$widest batched=true transport=tcp-insecure|inproc|shm",
        "net=none threads=$least protocol=softspoken4 kind=rcot security=malicious tier=$widest batched=true transport=tcp-insecure|tcp-tls",
        "net=none threads=$least protocol=softspoken4 kind=ot tier=$widest batched=true transport=tcp-insecure",
        "net=none threads=$least protocol=iknp|kos|alsz|ferret-b11 kind=rcot tier=$widest batched=true transport=tcp-insecure",
    ],
    cases: |asked| Ok(cases(asked)),
    // Table 5 of the VASA paper, if its rows were measured.
    below: |asked, report| {
        let is_wanted = asked.own("paper").is_some() || table::is_whole(report);
        if is_wanted { table::print(report, ots(asked)) } else { String::new() }
    },
    ..Bench::EMPTY
}];

/// The OTs of a row.
const OTS: usize = 10_000_000;
/// The OTs of a row with `--quick`.
const QUICK_OTS: usize = 1_000_000;
/// The number of times that a set-up is timed.
const SETUPS: u32 = 5;

/// The OTs of a row that the options request.
fn ots(asked: &BenchAsked) -> usize {
    let given = asked.own("count").and_then(|count| number(count.to_str()?).ok());
    given.unwrap_or(if asked.options.quick { QUICK_OTS } else { OTS })
}

/// A number of OTs, such as 10_000_000.
fn number(text: &str) -> Result<usize, String> {
    match text.replace('_', "").parse() {
        Ok(n) if (1..=1 << 32).contains(&n) => Ok(n),
        _ => Err("expected a number of OTs, at least 1 and at most 2^32".to_owned()),
    }
}

/// The set-ups that have a row, by everything on which they depend.
type Seen = Rc<RefCell<BTreeSet<String>>>;

fn cases(asked: &BenchAsked) -> Vec<Case<'static>> {
    let (ots, seen, paper) = (ots(asked), Seen::default(), asked.own("paper").is_some());
    let (widest, least) = (asked.tiers().last().copied(), asked.threads()[0]);
    let cases = Point::all(asked).into_iter().filter_map(|point| {
        let in_table = point.is_in_table(widest) && point.threads == least;
        let (seen, count) = (seen.clone(), point.count(ots));
        let work = move |ctx: &mut CaseContext<'_>| measure(ctx, &point, count, &seen);
        let params = params!(point; protocol, security = point.level, kind, tier = point.backend,
            batched = point.backend.is_batched(), transport, net, threads);
        // With --paper there are no other rows, and every set is the table.
        (in_table || !paper).then(|| Case::new("ot", params, work).core(in_table).quick(paper))
    });
    cases.collect()
}

/// Ten million OTs take up to half a second, so a row of one second would have only two runs.
fn timer(ctx: &CaseContext<'_>) -> Timer {
    let (timer, options) = (ctx.timer(), ctx.options());
    let longer = if options.quick || options.row_seconds.is_some() { 1 } else { 3 };
    Timer { budget: timer.budget * longer, ..timer }
}

fn measure(
    ctx: &mut CaseContext<'_>,
    point: &Point,
    count: usize,
    seen: &Seen,
) -> Result<Vec<BenchRow>, BoxError> {
    match point.level {
        Level::SemiHonest => measure_at::<SemiHonest>(ctx, point, count, seen),
        Level::Malicious => measure_at::<Malicious>(ctx, point, count, seen),
    }
}

fn measure_at<S: Security>(
    ctx: &mut CaseContext<'_>,
    point: &Point,
    ots: usize,
    seen: &Seen,
) -> Result<Vec<BenchRow>, BoxError> {
    let Point { protocol, level, backend, transport, net, .. } = *point;
    let new = seen.borrow_mut().insert(format!("{protocol} {level:?} {backend:?} {transport} {net}"));
    let mut parties = Parties::<S>::new(point, ots, if new { SETUPS } else { 1 })?;
    // A first repetition determines the length of the messages.
    parties.time(1)?;
    let link = RowLink::one_flow(point.transport, parties.message());
    let timer = timer(ctx);
    let (seconds, taken) = link.around(ctx, || timer.durations(|n| parties.time(n)))?;
    parties.check(ctx.spoiled())?;
    let (bytes, rounds) = parties.spent();
    let limit = limits::of(ctx, point, bytes, &taken)?;
    let throughput = BenchRow::rate("throughput", Unit::OT_PER_S, count(ots as u64), &seconds)?
        .bytes_per_unit(bytes)
        .rounds(rounds)
        .bound(&limit)
        .paper(table::stated(point.protocol, point.level, point.kind));
    let mut rows = vec![throughput];
    if new {
        let setups: Vec<f64> = parties.setup.iter().map(Duration::as_secs_f64).collect();
        let spent = parties.setup_spent;
        let setup = BenchRow::time("setup", &setups)?;
        rows.push(setup.bytes_per_unit(count(spent.bytes)).rounds(spent.rounds));
    }
    Ok(rows)
}
