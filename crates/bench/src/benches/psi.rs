//! `bench psi`: private set intersection (PSI) of items in memory, with both parties in this
//! process on one thread each.
//!
//! | `method` | `reveal` | `security` |
//! |---|---|---|
//! | `vole` | `items`: the receiver learns which of its items are common | both |
//! | `vole` | `columns`: the same, and 16 bytes of the sender for each (`payload`) | both |
//! | `circuit` | `size`, `flags`, `sum` of the receiver's numbers; to 5.5 million | semi-honest |
//! | `phasing`, `scs` | `items`: circuits of the seed's paper, by Yao, few keys | semi-honest |
//!
//! `store` is `clustered` or `band`, if the method has a store.
//!
//! Each party has n items of eight bytes, half of them common. A repetition goes from items to the
//! result: digests, the set-up of OTs, and the protocol. For `columns` it includes filling and
//! comparing them. Connecting is not part of it. Every result is compared with the expected one. A
//! wrong result fails the run. The metrics are `time` in ms, and `rate` in items of one party per
//! second. Bytes are those of both parties for an item, and memory is that of both. The limit is
//! the time for the digests of all items (BLAKE3), or that of the busier party's bytes on the link.

#[cfg(test)]
mod tests;
mod work;

use hushwire_aes::Backend;
use hushwire_ot::Level;
use hushwire_psi::Store;
use hushwire_wire::Shape;

use crate::timing::{peak_memory_bytes, reset_peak_memory};
use crate::{
    Bench, BenchAsked, BenchRow, BoxError, Case, CaseContext, Result, Unit,
    axes::{every, params},
    bench::network,
    bounds::count,
    link::{self, RowLink},
    net::Transport,
};
use work::{METHODS, Method, Parties};

/// One point of the grid.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Point {
    method: Method,
    security: Level,
    store: Option<Store>,
    n: usize,
    transport: Transport,
    net: Shape,
}

pub(super) const BENCHES: &[Bench] = &[Bench {
    name: "psi",
    about: "Private set intersection of items in memory: methods, results and sizes from 2^12 to 10^7",
    examples: "Example:\n  hushwire bench psi --only method=vole,n=1048576,net=none --json psi.json",
    // Plain TCP: every size of plain intersections, 2^20 for the others and for band stores. The
    // modelled network: plain intersections of 2^20.
    core: &[
        "net=$near transport=tcp-insecure method=phasing|scs",
        "net=$near transport=tcp-insecure n=1048576",
        "net=$near transport=tcp-insecure method=vole payload=0 store=clustered security=semi-honest",
        "transport=tcp-insecure n=1048576 method=vole payload=0",
    ],
    quick: &["net=none transport=tcp-insecure n=1024|4096"],
    cases,
    ..Bench::EMPTY
}];

impl Point {
    fn all(links: &[(Transport, Shape)]) -> Vec<Self> {
        every!(
            line in &METHODS,
            &security in line.levels,
            &n in line.sizes,
            &store in line.stores,
            &(transport, net) in links =>
                Self { method: line.method, security, store, n, transport, net }
        )
    }
}

fn cases(asked: &BenchAsked) -> Result<Vec<Case<'static>>> {
    asked.options.one_thread()?;
    let slow = network("100Mbps,20ms")?;
    let backend = asked.backend();
    let case = |point: Point| {
        let line = point.method.line();
        let params = params!(point; method = line.name, reveal = line.reveal, payload = line.payload,
            security, store = point.store.map_or("none", Store::name), n, transport, net);
        Case::new("psi", params, move |ctx| measure(ctx, &point, backend))
    };
    Ok(Point::all(&asked.links_over(&[Shape::NONE, slow])).into_iter().map(case).collect())
}

fn measure(ctx: &mut CaseContext<'_>, point: &Point, backend: Backend) -> Result<Vec<BenchRow>, BoxError> {
    let mut parties = Parties::new(point, backend);
    let timer = ctx.timer();
    reset_peak_memory();
    let link = RowLink::one_flow(point.transport, 1 << 19);
    let (seconds, taken) = link.around(ctx, || timer.durations(|n| parties.time(n)))?;
    let peak = peak_memory_bytes();
    let [busier, both] = parties.bytes();
    let n = count(point.n as u64);
    let digests = ctx.bound(&format!("BLAKE3 of {} items", point.n), Unit::MS, |timer| {
        Ok(timer.time_ms(|| work::digest_all(point.n)).median)
    })?;
    let name = format!("{:.1} bytes an item over", busier / n);
    let limit = link::lengthened(ctx, digests, (Some(&taken), point.net), &name, [busier; 2])?;
    let items = Unit::per_second("items");
    let name = format!("{}, as a rate of {}", limit.name, point.n);
    let rate_limit = ctx.bound(&name, items.clone(), |_| Ok(1e3 * n / limit.value))?;
    let row = |row: BenchRow, limit| {
        let row = row.bytes_per_unit(both / n).rounds(parties.rounds()).bound(limit);
        peak.into_iter().fold(row, BenchRow::peak_memory_bytes)
    };
    let time = row(BenchRow::time("time", &seconds)?, &limit);
    let each = (1e6 * time.median / n).round();
    Ok(vec![time.with("ns_an_item", each), row(BenchRow::rate("rate", items, n, &seconds)?, &rate_limit)])
}
