//! `bench infer`: whole networks, and single layers of them, with weights and input secret.
//!
//! | `network` | what |
//! |---|---|
//! | `squeezenet`, `squeezenet-cifar`, `resnet50`, `densenet121` | `hushwire_nn::zoo`'s networks on one image, `op` = `all` |
//! | `layer` | one layer of 64 channels of 56 × 56 pixels: `conv`, `relu`, `trunc`, `maxpool`, `batchnorm`, or a `matmul` of 512 × 1000 |
//!
//! Among three parties (`protocol` = `rep3`) as threads of this process: weights and input are shared before, the output is opened
//! afterwards and compared with floating point: one that is far from it fails the run. Metric `time` in ms from the first party's
//! start to the last one's end; connecting is not part of it. `linear` and `ot` are those of two parties. The limit is what the bytes
//! of all three take on the link.

mod grid;
#[cfg(test)]
mod tests;
mod work;

use hushwire_aes::Backend;
use hushwire_wire::Shape;

use crate::{
    BenchOptions, Bound, BoxError, Case, Context, Measurement, Report, Result, Row, Unit,
    link::{self, Link},
    timing::{peak_memory_bytes, reset_peak_memory},
};
use grid::Point;
use work::Parties;

/// Measures what the options ask for, on this backend; given a network, over that one alone.
///
/// # Errors
/// As [`crate::run`]; a case fails when the parties cannot connect, when one of them fails, and when an output is wrong.
pub fn run(options: &BenchOptions, backend: Backend, net: Option<Shape>) -> Result<Report> {
    crate::run("infer", cases(options, backend, net), options)
}

fn cases(options: &BenchOptions, backend: Backend, net: Option<Shape>) -> Vec<Case<'static>> {
    let nets = net.map_or(crate::net::NETS.to_vec(), |net| vec![net]);
    let threads = options.threads.map_or(vec![1, 2], |threads| vec![threads]);
    let least = threads[0];
    let case = |point: Point| {
        let work = move |ctx: &mut Context<'_>| measure(ctx, &point, backend);
        let given = net.is_some();
        Case::new("inference", point.params(), work)
            .core(point.is_core(least, given))
            .quick(point.is_quick(least))
    };
    Point::all(&threads, &nets).into_iter().map(case).collect()
}

fn measure(ctx: &mut Context<'_>, point: &Point, backend: Backend) -> Result<Vec<Row>, BoxError> {
    let mut parties = Parties::new(point, backend)?;
    reset_peak_memory();
    // Once, so that the output is looked at; what it sends is what every run sends.
    parties.time(1)?;
    let [busier, all] = parties.bytes();
    let rounds = parties.rounds();
    let timer = ctx.timer();
    let link = Link::three_flows(point.transport, (busier as u64) / rounds.max(1));
    let (seconds, taken) = link::around(ctx, link, || timer.durations(|n| parties.time(n)))?;
    let peak = peak_memory_bytes();
    let name = format!("the bytes of {} {} over", point.network, point.op);
    let unit = Unit::per_second("run");
    let least = ctx.bound(&format!("a run of {} {}", point.network, point.op), unit.clone(), |_| Ok(1e9))?;
    let bound: Bound = link::tightened(ctx, least, (taken.as_ref(), point.net), &name, &unit, (3.0, busier))?;
    let of = |figures: Vec<f64>| Measurement::of(&figures).ok_or("nothing was timed");
    let times = of(seconds.iter().map(|s| 1e3 * s).collect())?;
    let rates = of(seconds.iter().map(|s| 1.0 / s).collect())?;
    let median = rates.median;
    let time = Row::new("time", Unit::MS, times).rounds(rounds).bytes_per_unit(all);
    let time = peak.into_iter().fold(time, Row::peak_memory_bytes);
    let rate = Row::new("throughput", unit, rates).rounds(rounds).bytes_per_unit(all).bound(&bound);
    let work = parties.units * median;
    Ok(vec![time, rate.with(parties.unit, work.round())])
}
