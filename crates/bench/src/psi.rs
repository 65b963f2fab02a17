//! `bench psi`: private set intersection of items in memory, both parties in this process on a thread each.
//!
//! | `method` | `reveal` | `security` |
//! |---|---|---|
//! | `vole` | `items`: the receiver learns which of its items are common | both |
//! | `vole` | `columns`: the same, and 16 bytes that the sender has for each (`payload`) | both |
//! | `circuit` | `size`, `flags`, `sum` of the receiver's numbers; to 5.5 M items | semi-honest |
//! | `phasing`, `scs` | `items`: circuits by Yao's protocol, of a few keys | semi-honest |
//!
//! `store` is `clustered` or `band` where a method has one.
//!
//! Each party has n items of eight bytes, half of them common. A repetition goes from items to the result: digests, the
//! set-up of OTs, the protocol, for `columns` also filling and comparing them; connecting is not part of it. Every result is compared with what it must be: a wrong one fails
//! the run. Metrics `time` in ms and `rate` in items of a party a second; bytes are those of both parties for an item, and memory is of both. The
//! limit is what digests of all items take (BLAKE3), or what the bytes of the busier party take on the link.

#[cfg(test)]
mod tests;
mod work;

use hushwire_aes::Backend;
use hushwire_ot::Level;
use hushwire_psi::Store;
use hushwire_wire::Shape;

use crate::timing::{peak_memory_bytes, reset_peak_memory};
use crate::{
    BenchOptions, Bound, BoxError, Case, Context, Error, Measurement, Params, Report, Result, Row, Unit,
    bounds::count, link::Link, net::Transport,
};
use work::{Method, Parties};

/// Sizes that are swept.
const SIZES: [usize; 5] = [1 << 12, 1 << 14, 1 << 17, 1 << 20, 10_000_000];
/// The size that issues name figures for.
const NAMED: usize = 1 << 20;
/// Keys of the circuits that compare all with all, or nearly.
const FEW: usize = 1 << 10;

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

impl Point {
    fn all(nets: &[Shape]) -> Vec<Self> {
        let mut points = vec![];
        for (method, security) in Method::ALL {
            let sizes = if method.is_small() { &[FEW][..] } else { &SIZES[..] };
            for &n in sizes.iter().filter(|n| **n <= method.most()) {
                for &store in method.stores() {
                    for transport in Transport::ALL {
                        for &net in nets {
                            // Queues in memory are no link that could be shaped.
                            if net == Shape::NONE || transport != Transport::Inproc {
                                points.push(Self { method, security, store, n, transport, net });
                            }
                        }
                    }
                }
            }
        }
        points
    }

    fn params(&self) -> Params {
        let security = match self.security {
            Level::SemiHonest => "semi-honest",
            Level::Malicious => "malicious",
        };
        Params::new()
            .with("method", self.method.name())
            .with("reveal", self.method.reveal())
            .with("payload", self.method.payload())
            .with("security", security)
            .with("store", self.store.map_or("none", Store::name))
            .with("n", self.n)
            .with("transport", self.transport.name())
            .with("net", self.net.to_string())
    }

    /// Whether a run without options measures it: plain TCP, every size of plain intersections, 2^20 of the others and of band
    /// stores; over the modelled network plain intersections of 2^20.
    fn is_core(&self, given: bool) -> bool {
        let plain = self.transport == Transport::TcpInsecure;
        let vole = self.method == Method::Vole;
        if self.net != Shape::NONE && !given {
            return plain && vole && self.n == NAMED;
        }
        let band = self.store == Some(Store::Band);
        let every_size = vole && !band && self.security == Level::SemiHonest;
        plain && (self.method.is_small() || self.n == NAMED || every_size)
    }

    fn is_quick(&self) -> bool {
        self.transport == Transport::TcpInsecure && self.net == Shape::NONE && self.n <= SIZES[0]
    }
}

/// Measures what the options ask for.
///
/// # Errors
/// As [`crate::run`]; a case fails when the parties cannot connect, when one of them fails, and when a result is wrong.
pub fn run(options: &BenchOptions, backend: Backend, net: Option<Shape>) -> Result<Report> {
    crate::run("psi", cases(options, backend, net)?, options)
}

fn cases(options: &BenchOptions, backend: Backend, net: Option<Shape>) -> Result<Vec<Case<'static>>> {
    options.one_thread()?;
    let slow = "100Mbps,20ms".parse().map_err(|e: hushwire_machine::NetError| Error::Case {
        case: "psi".into(),
        params: String::new(),
        source: e.into(),
    })?;
    let nets = net.map_or(vec![Shape::NONE, slow], |net| vec![net]);
    let given = net.is_some();
    let case = |point: Point| {
        let work = move |ctx: &mut Context<'_>| measure(ctx, &point, backend);
        Case::new("psi", point.params(), work).core(point.is_core(given)).quick(point.is_quick())
    };
    Ok(Point::all(&nets).into_iter().map(case).collect())
}

fn measure(ctx: &mut Context<'_>, point: &Point, backend: Backend) -> Result<Vec<Row>, BoxError> {
    let mut parties = Parties::new(point, backend);
    let timer = ctx.timer();
    reset_peak_memory();
    let link = Link::one_flow(point.transport, 1 << 19);
    let (seconds, taken) = link.around(ctx, || timer.durations(|n| parties.time(n)))?;
    let peak = peak_memory_bytes();
    let [busier, both] = parties.bytes();
    let n = count(point.n as u64);
    let digests = ctx.bound(&format!("BLAKE3 of {} items", point.n), Unit::MS, |timer| {
        Ok(timer.time_ms(|| work::digest_all(point.n)).median)
    })?;
    let name = format!("{:.1} bytes an item over", busier / n);
    let mut limit: Bound = digests;
    limit = limit.tighter(taken.bound(ctx, &name, &Unit::MS, |rate| 1e3 * busier / rate)?, &Unit::MS);
    if let Some(rate) = point.net.bits_per_second {
        let wire =
            ctx.bound(&format!("{name} {}", point.net), Unit::MS, |_| Ok(8e3 * busier / count(rate)))?;
        limit = limit.tighter(wire, &Unit::MS);
    }
    let figures: Vec<f64> = seconds.iter().map(|s| 1e3 * s).collect();
    let time = Measurement::of(&figures).ok_or("nothing was timed")?;
    let rates: Vec<f64> = seconds.iter().map(|s| n / s).collect();
    let (rate, items) = (Measurement::of(&rates).ok_or("nothing was timed")?, Unit::per_second("items"));
    let name = format!("{}, as a rate of {}", limit.name, point.n);
    let rate_limit = ctx.bound(&name, items.clone(), |_| Ok(1e3 * n / limit.value))?;
    let row = |row: Row, limit| {
        let row = row.bytes_per_unit(both / n).rounds(parties.rounds()).bound(limit);
        if let Some(bytes) = peak { row.peak_memory_bytes(bytes) } else { row }
    };
    Ok(vec![
        row(Row::new("time", Unit::MS, time), &limit).with("ns_an_item", (1e6 * time.median / n).round()),
        row(Row::new("rate", items, rate), &rate_limit),
    ])
}
