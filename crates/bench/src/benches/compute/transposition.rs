//! Conversion of words to planes of bits and back, as in conversions, comparisons of words and
//! sorts. It uses one party's memory and no message.

use std::{hint::black_box, sync::Arc};

use hushwire_aes::Backend;
use hushwire_rep3::{
    Rep3Party,
    ring::{Bits, Column, Word},
};

use super::{grid::Type, ops::deal};
use crate::{
    BenchRow, BoxError, Case, CaseContext, Unit,
    axes::{every, params},
    bounds::count,
    human::memory,
    net::Transport,
    workers,
};

/// The words of a column: in the second-level cache, and in memory.
const SIZES: [usize; 2] = [1 << 14, 1 << 20];

/// One case for every word and size. Each thread has columns of its own.
pub(super) fn cases(threads: &[usize], backend: Backend) -> Vec<Case<'static>> {
    let points = every!(kind in Type::WORDS, n in SIZES, &threads in threads => (kind, n, threads));
    let case = |(kind, n, threads): (Type, usize, usize)| {
        let params = params!(n; op = "transpose", type = kind, n = n, columns = 1usize, protocol = "rep3",
            transport = Transport::Inproc, net = "none", threads = threads);
        let work = move |ctx: &mut CaseContext<'_>| match kind {
            Type::U8 => measure::<u8>(ctx, backend, (n, threads)),
            Type::U16 => measure::<u16>(ctx, backend, (n, threads)),
            Type::U32 => measure::<u32>(ctx, backend, (n, threads)),
            _ => measure::<u64>(ctx, backend, (n, threads)),
        };
        let first = threads == 1 && kind == Type::U64;
        Case::new("operation", params, work).core(first).quick(first && n == SIZES[0])
    };
    points.into_iter().map(case).collect()
}

/// Both shares of a column, converted to planes and back.
struct Turns<W: Word> {
    backend: Backend,
    column: Arc<Column<W>>,
}

impl<W: Word> Turns<W> {
    fn turn(&self) -> Result<Column<W>, BoxError> {
        let planes = black_box(Bits::of_words(self.backend, black_box(&self.column))?);
        Ok(black_box(planes.to_words(self.backend)?))
    }
}

impl<W: Word> workers::Worker for Turns<W> {
    fn repeat(&mut self) -> Result<(), BoxError> {
        self.turn().map(drop)
    }
    fn abandon(&mut self) {}
}

fn measure<W: Word>(
    ctx: &mut CaseContext<'_>,
    backend: Backend,
    (n, threads): (usize, usize),
) -> Result<Vec<BenchRow>, BoxError> {
    // A session, whose memory is reused.
    let _parties = Rep3Party::three(backend);
    let (_, [column, ..]) = deal::<W>(1, n);
    let mut workers: Vec<_> =
        (0..threads).map(|_| Turns { backend, column: Arc::new((*column).clone()) }).collect();
    for turns in &workers {
        let back = turns.turn()?;
        let same = back.own.iter().zip(&column.own).chain(back.next.iter().zip(&column.next));
        if ctx.spoiled() || back.rows() != n || same.into_iter().any(|(a, b)| a.number() != b.number()) {
            return Err(
                "words differ from those that were turned, where plain arithmetic changes none".into()
            );
        }
    }
    // The words that are read in each direction. The same number of bytes is written.
    let one_way = 2 * n * W::BYTES;
    let bytes = count((2 * one_way * threads) as u64);
    let seconds = ctx.timer().durations(|n| workers::time(&mut workers, n))?;
    let touched = memory(2 * one_way as u64);
    let copied = crate::bounds::copies(ctx, &format!("copies of {touched}"), 2 * one_way)?;
    let cores = count(threads.min(std::thread::available_parallelism()?.get()) as u64);
    let name = format!("copies of {touched}, transpose, on {cores} threads");
    let bound = ctx.bound(&name, Unit::BYTES_PER_S, |_| Ok(copied * cores))?;
    Ok(vec![
        BenchRow::rate("throughput", Unit::BYTES_PER_S, bytes, &seconds)?.bound(&bound),
        BenchRow::time("time", &seconds)?,
    ])
}
