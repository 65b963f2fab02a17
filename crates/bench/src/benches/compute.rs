//! `bench compute`: operations on columns of numbers among three parties.
//!
//! A row is one operation on `n` elements of a type, in a shape that `n` and `columns` name: see
//! `ops`. Each row has two figures: the throughput of consecutive runs, several of them in flight
//! over a link, and the time of a single run. Inputs are shared before. Every row's result is
//! opened afterwards and compared with plain arithmetic. A wrong result fails the run.
//!
//! Independent rows run in pieces, and by trees or ripples, as in a computation with the network's
//! delay ([`Cut`]). With a transport each party has `threads` compute threads, all in this process,
//! which share the pieces. `inproc` has no transport: a thread computes for all three parties in
//! lockstep. The limits are measured in the same run: the PRF of zero-shares, the link, and memory
//! copies of the bytes that an operation touches.

mod bits;
mod grid;
pub(crate) mod ops;
mod orders;
mod part;
#[cfg(test)]
mod tests;
mod transposition;

use hushwire_aes::Backend;
use hushwire_circuit::Adder;
use hushwire_rep3::{Rep3Party, ring::Word};
use hushwire_three::Cut;
use hushwire_wire::Shape;
use std::thread;

use crate::{
    Bench, BenchAsked, BenchRow, BoxError, Case, CaseContext, LimitBound, Unit,
    axes::params,
    bounds::{self, count},
    human::memory,
    link::{self, RowLink, Taken},
    net::Transport,
    three::{self, Links3},
    workers,
};
use grid::{ColumnOp, Point, Splits, Type};
use ops::OpSetup;
use part::OpRuns;

pub(super) const BENCHES: &[Bench] = &[Bench {
    name: "compute",
    about: "Operations on columns of numbers among three parties: products, matrices, convolutions and what else there is",
    examples: "Example:\n  hushwire bench compute --only op=matmul,type=u32,net=none --json compute.json",
    cases: |asked| Ok(cases(asked)),
    ..Bench::EMPTY
}];

fn cases(asked: &BenchAsked) -> Vec<Case<'static>> {
    let (backend, threads) = (asked.backend(), asked.threads());
    let least = threads[0];
    let case = |point: Point| {
        let params =
            params!(point; op, type = point.kind, n, columns, protocol = "rep3", transport, net, threads);
        let work = move |ctx: &mut CaseContext<'_>| measure(ctx, backend, &point, &pieces(&point));
        Case::new("operation", params, work).core(point.is_core(least)).quick(point.is_quick(least))
    };
    let transposed = transposition::cases(&threads, backend);
    Point::all(asked).into_iter().map(case).chain(transposed).collect()
}

/// The pieces of an operation, as in a computation. Independent rows are cut into pieces that stay
/// in the caches. Products of vectors, of matrices and with filters are cut into one part of the
/// results for each thread. All other operations run whole.
fn pieces(point: &Point) -> Vec<OpSetup> {
    let cut = Cut::new(u16::try_from(point.threads).unwrap_or(u16::MAX), point.net.one_way());
    let parts: Vec<usize> = match point.op.splits() {
        Splits::Rows => cut.pieces_of(point.n).into_iter().map(|rows| rows.len()).collect(),
        Splits::Results => {
            let of = point.results();
            (0..point.threads).map(|t| of * (t + 1) / point.threads - of * t / point.threads).collect()
        }
        Splits::Never => vec![point.n],
    };
    parts.into_iter().map(|part| piece(point, part, cut.few())).collect()
}

/// A piece with `part` rows or results of an operation.
fn piece(point: &Point, part: usize, few: usize) -> OpSetup {
    match point.kind {
        Type::U8 => small::<u8>(point, part),
        Type::U16 => small::<u16>(point, part),
        Type::U32 => wide::<u32>(point, part, few),
        Type::U64 | Type::U63 | Type::Bits64 => wide::<u64>(point, part, few),
    }
}

/// An operation of the table, on words of 32 or 64 bits.
fn wide<W: Word>(Point { op, kind, n, columns, .. }: &Point, part: usize, few: usize) -> OpSetup {
    let adder = if *n <= few { Adder::Prefix } else { Adder::Ripple };
    let (side, n, columns) = (*n, part, *columns);
    match (op, kind) {
        (ColumnOp::Mul, _) => ops::mul::<W>(n),
        (ColumnOp::Dot, _) => ops::dot::<W>(n, columns),
        (ColumnOp::MatMul, _) => ops::matmul::<W>([n, side, columns]),
        (ColumnOp::Conv2d, _) => ops::conv2d::<W>(side, columns, n),
        (ColumnOp::Reveal, _) => ops::reveal::<W>(n),
        (ColumnOp::ToBits, _) => bits::to_bits::<W>(n, adder),
        (ColumnOp::ToNumbers, _) => bits::to_numbers::<W>(n, adder),
        (ColumnOp::Inject, _) => bits::inject::<W>(n),
        (ColumnOp::Less, _) => bits::less(W::BITS, n, adder),
        (ColumnOp::LessArith, Type::U63) => bits::less_bounded::<W>(n, adder),
        (ColumnOp::LessArith, _) => bits::less_arith::<W>(n, adder),
        (ColumnOp::Equal, Type::Bits64) => bits::equal_strings(W::BITS, n),
        (ColumnOp::Equal, _) => bits::equal::<W>(n),
        (ColumnOp::Trunc, _) => bits::trunc::<W>(n, adder),
        (ColumnOp::Select, Type::Bits64) => bits::select_strings(W::BITS, n),
        (ColumnOp::Select, _) => bits::select::<W>(n),
        (ColumnOp::Shuffle, _) => orders::shuffle::<W>(n, columns),
        (ColumnOp::Sort, _) => orders::sort::<W>(n, columns, few),
        (ColumnOp::Permute, _) => orders::permute::<W>(n, columns),
    }
}

/// An operation that the table also has for 8 and 16 bits.
fn small<W: Word>(point: &Point, part: usize) -> OpSetup {
    match point.op {
        ColumnOp::Reveal => ops::reveal::<W>(part),
        _ => ops::mul::<W>(part),
    }
}

/// LOCAL: the runs that a thread has in flight over a link, and over a link with a delay. The last
/// constant is the number of runs in a repetition for each of them.
const LANES: usize = 2;
const FAR_LANES: usize = 4;
const RUNS: usize = 2;

fn measure(
    ctx: &mut CaseContext<'_>,
    backend: Backend,
    point: &Point,
    pieces: &[OpSetup],
) -> Result<Vec<BenchRow>, BoxError> {
    let lanes = match (point.transport, point.net) {
        (Transport::Inproc, _) => 1,
        _ if point.is_long() && pieces.len() < LANES => 1,
        (_, Shape::NONE) => LANES,
        _ => FAR_LANES,
    };
    let moved = part::moved(Rep3Party::three(backend), pieces, lanes * point.threads)?;
    let links = Links3 { transport: point.transport, net: point.net, lanes, threads: point.threads };
    let mut threads = links.threads(backend, None, |party| OpRuns::all(party, pieces, point.threads))?;
    // The results of a run that is not timed. The session has allocated its memory by then.
    three::parts_mut(&mut threads).for_each(|part| part.keep = true);
    workers::time(&mut threads, 1)?;
    part::check(&threads, pieces, ctx.spoiled())?;
    three::parts_mut(&mut threads).for_each(|part| part.keep = false);
    let timer = ctx.timer();
    let timer = crate::Timer { budget: timer.budget / 2, ..timer };
    let runs = if lanes == 1 || point.is_long() { 1 } else { RUNS * lanes };
    // With one run at a time, the run alone is not timed twice.
    let alone = if runs == 1 { None } else { Some(timer.durations(|n| workers::time(&mut threads, n))?) };
    three::parts_mut(&mut threads).for_each(|part| part.runs = runs);
    let link = RowLink::three_flows(point.transport, moved.bytes / moved.messages.max(1));
    let (seconds, taken) = link::around(ctx, link, || timer.durations(|n| workers::time(&mut threads, n)))?;
    let alone = alone.unwrap_or_else(|| seconds.clone());
    let all = All::of(pieces);
    let limit = limit(ctx, backend, point, &all, &moved, taken.as_ref())?;
    let units = all.units * count(runs as u64);
    Ok(vec![
        BenchRow::rate("throughput", Unit::per_second(all.unit), units, &seconds)?
            .bytes_per_unit(count(moved.bytes) / all.units)
            .rounds(moved.rounds)
            .bound(&limit),
        BenchRow::time("time", &alone)?.rounds(moved.rounds),
    ])
}

/// All pieces of an operation together.
struct All {
    units: f64,
    unit: &'static str,
    masked: bool,
    touched: usize,
}

impl All {
    fn of(pieces: &[OpSetup]) -> Self {
        let units = pieces.iter().map(|made| made.units).sum();
        let touched = pieces.iter().map(|made| made.touched).sum();
        Self { units, unit: pieces[0].unit, masked: pieces[0].masked, touched }
    }
}

/// The tightest bound of a point.
fn limit(
    ctx: &mut CaseContext<'_>,
    backend: Backend,
    point: &Point,
    made: &All,
    moved: &part::Moved,
    taken: Option<&Taken>,
) -> Result<LimitBound, BoxError> {
    let unit = Unit::per_second(made.unit);
    let threads = if point.transport == Transport::Inproc { point.threads } else { 3 * point.threads };
    let cores = count(threads.min(thread::available_parallelism()?.get()) as u64);
    // A copy reads and writes every byte that it counts.
    let touched = memory(made.touched as u64);
    let copied = bounds::copies(ctx, &format!("copies of {touched}"), made.touched)?;
    let (op, what) = (point.op.name(), format!("{} {}", point.n, point.kind.name()));
    let name = format!("copies of {touched}, {op} of {what}");
    let per_run = 3.0 * count(made.touched as u64);
    let mut least = ctx.bound(&name, unit.clone(), |_| Ok(2.0 * copied * cores * made.units / per_run))?;
    if made.masked {
        // Two parties draw each word of a mask: each of the three words of a zero-share is drawn by
        // two parties.
        let calls = 2.0 * count(moved.total) / 16.0 / made.units;
        let what = format!("{op} of {what}");
        let prf = bounds::prf(ctx, backend, &what, (point.transport, point.threads), (&unit, calls))?;
        least = least.tighter(prf, &unit);
    }
    let bytes = count(moved.bytes) / made.units;
    let name = format!("{op} of {what} over");
    link::tightened(ctx, least, (taken, point.net), &name, &unit, (3.0, bytes))
}
