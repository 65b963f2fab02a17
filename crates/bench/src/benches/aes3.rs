//! `bench aes3`: three parties encrypt counter blocks on shares with AES-128.
//!
//! A row times whole batches of `blocks` blocks, one after the other, from the first compute
//! thread's start to the last one's end. The parties then have the result's shares; the opening is
//! not timed. Connections, session keys and the owner's dealing are not timed either. After timing,
//! the shares of the last batch are opened and compared with another implementation of AES: a wrong
//! result fails the run.
//!
//! Over TCP each party has `threads` compute threads that keep several chunks in flight, all in
//! this process and on this machine. `inproc` has no transport: each of `threads` threads computes
//! for all three parties in lockstep, on its own chunks. The metric is the throughput in blocks/s,
//! or for one block the time in ms.

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

use crate::{
    Bench, BenchAsked, BenchRow, BoxError, Case, CaseContext, Unit,
    axes::params,
    bounds::count,
    link,
    three::{self, Links3, Thread},
    workers,
};
use deal::{Deal, check};
use grid::{ChunkCut, KeyMode, Point};
use part::AesRuns;

pub(super) const BENCHES: &[Bench] = &[Bench {
    name: "aes3",
    about: "AES-128 among three parties on shares: S-boxes, keys, batches and transports, beside the papers' figures",
    examples: "Example:\n  hushwire bench aes3 --only sbox=tower,blocks=100000 --json aes3.json",
    core: &[
        "sbox=tower key=pre-expanded net=none threads=$least blocks=1|10000|100000",
        "sbox=tower key=pre-expanded net=none threads=$least blocks=1000000 transport=inproc",
        // The lines of the Sharemind slides. The first one has no pre-expanded key.
        "sbox=tower key=pre-expanded net=none threads=$least blocks=10|100|550|1000|5000 transport=tcp-tls",
        "sbox=tower key=expand net=none threads=$least blocks=10 transport=tcp-tls",
        // Other keys and S-boxes.
        "sbox=tower net=none threads=$least blocks=10000 transport=inproc|tcp-tls",
        "key=pre-expanded net=none threads=$least blocks=10000 transport=inproc|tcp-tls",
        "sbox!=lut256 key=pre-expanded net=none threads=$least blocks=100000 transport=inproc|tcp-tls",
        // More threads and networks, only for the rows for which they were expected to help.
        "sbox=tower key=pre-expanded net!=wan threads!=$least blocks=100000",
        "sbox=tower key=pre-expanded net!=none|wan blocks=100000",
        "sbox=tower key=pre-expanded net=wan threads=$least blocks=1|10000 transport=tcp-tls",
    ],
    quick: &[
        "sbox=tower key=pre-expanded net=none threads=$least blocks=10000",
        "sbox=tower key=pre-expanded net=none threads=$least blocks=1|1000 transport=tcp-tls",
    ],
    cases: |asked| Ok(cases(asked)),
    below: |_, report| papers::tables(report),
    ..Bench::EMPTY
}];

fn cases(asked: &BenchAsked) -> Vec<Case<'static>> {
    let backend = asked.backend();
    let case = |point: Point| {
        let params = params!(point; sbox, key, blocks, transport, net, threads);
        Case::new("aes128-ctr", params, move |ctx| measure(ctx, backend, &point))
    };
    Point::all(asked).into_iter().map(case).collect()
}

fn measure(ctx: &mut CaseContext<'_>, backend: Backend, point: &Point) -> Result<BenchRow, BoxError> {
    let cut = ChunkCut::of(point);
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
    expected[0] ^= u8::from(ctx.spoiled());
    check([&own[0], &own[1], &own[2]], &expected)?;

    let blocks = count(point.blocks as u64);
    let row = if point.blocks == 1 {
        BenchRow::time("latency", &seconds)?
    } else {
        BenchRow::rate("throughput", Unit::BLOCKS_PER_S, blocks, &seconds)?
    };
    Ok(row
        .bytes_per_unit(count(spent.bytes_sent) / blocks)
        .rounds(spent.rounds)
        .bound(&limit)
        .paper(papers::stated(point)))
}

/// Connects the compute threads of all parties, with their keys. Nothing here is timed.
fn connected(
    backend: Backend,
    point: &Point,
    cut: &ChunkCut,
    deal: &Deal,
    meters: Option<&[Meter; 3]>,
) -> Result<Vec<Thread<AesRuns>>, BoxError> {
    let links = Links3 { transport: point.transport, net: point.net, lanes: cut.lanes, threads: cut.threads };
    links.threads(backend, meters, |party| {
        let keys = &deal.parties[party.role().index()];
        AesRuns::all(party, point.sbox, cut, keys)
    })
}

/// The declared cost of a batch for each party: the bytes of all chunks, and the rounds of
/// consecutive chunks on a lane.
fn declared(point: &Point, cut: &ChunkCut) -> Cost {
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
