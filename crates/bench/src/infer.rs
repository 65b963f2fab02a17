//! `bench infer`: whole networks, and single layers of them, with weights and input secret.
//!
//! | `network` | what |
//! |---|---|
//! | `squeezenet`, `squeezenet-cifar`, `resnet50`, `densenet121` | on one image, `op` = `all` |
//! | `layer` | one layer: `conv`, `relu`, `trunc`, `maxpool`, `batchnorm`, `matmul` |
//!
//! Networks are those of `hushwire_nn::zoo`. A layer has 64 channels of 56 × 56 pixels; `matmul` is
//! 512 × 1000.
//!
//! Among three parties (`protocol` = `rep3`) as threads of this process: weights and input are shared before, the output is opened
//! afterwards. Between two (`protocol` = `two`) owner and client bring theirs; `linear` is `he`, under encryption, or `ot`, and `ot` the extension; keys
//! and base OTs are part of a run. Every output is compared with floating point: one that is far from it fails the run. Metric `time` in ms from the
//! first party's start to the last one's end, connecting not included; of single layers between two, the time of that operation at the owner.
//! Metric `throughput` in multiplications of the network, or of a layer without any in its elements, per second; its limit is what the bytes of
//! all parties take on the link, and without a link there is none. [`table9`] and [`table7`] are the VASA paper's.

mod grid;
mod pair;
mod paper;
mod tables;
#[cfg(test)]
mod tests;
mod work;

pub use tables::{table7, table9};

use hushwire_aes::Backend;
use hushwire_wire::Shape;
use std::time::Duration;

use crate::{
    BenchOptions, BoxError, Case, Context, Measurement, Report, Result, Row, Unit,
    link::{self, Link},
    net::Transport,
    timing::{peak_memory_bytes, reset_peak_memory},
};
use grid::{Point, Way};
use pair::{Pair, Terms};
use work::{Trio, Work};

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

/// Parties of either number.
enum Parties {
    Three(Box<Trio>),
    Two(Box<Pair>),
}

impl Parties {
    fn new(point: &Point, backend: Backend) -> Result<Self, BoxError> {
        if point.way == Way::Three {
            return Ok(Parties::Three(Box::new(Trio::new(point, backend)?)));
        }
        let backend = point.way.implementation().backend(backend).ok_or("this CPU has no such AES")?;
        let work = Work::new(point.network, point.op, point.bits)?;
        Ok(Parties::Two(Box::new(Pair::new(work, Terms::of(point)?, backend)?)))
    }

    fn work(&self) -> &Work {
        match self {
            Parties::Three(trio) => &trio.work,
            Parties::Two(pair) => &pair.work,
        }
    }

    fn time(&mut self, repetitions: u64) -> Result<Duration, BoxError> {
        match self {
            Parties::Three(trio) => trio.time(repetitions),
            Parties::Two(pair) => pair.time(repetitions),
        }
    }

    /// Bytes of the party that sends most and of all, and rounds.
    fn sent(&self) -> ([f64; 2], u64) {
        match self {
            Parties::Three(trio) => (trio.bytes(), trio.rounds()),
            Parties::Two(pair) => (pair.bytes(), pair.rounds()),
        }
    }

    /// Seconds of the operation that a row is about, of each of so many repetitions, where they were not those of the whole.
    fn of_operation(&self, op: &str, last: usize) -> Option<Vec<f64>> {
        let Parties::Two(pair) = self else { return None };
        let from = pair.spent.len().checked_sub(last)?;
        let op = if op == "matmul" { "conv" } else { op };
        pair.spent[from..].iter().map(|spent| spent.get(op).map(|ms| ms / 1e3)).collect()
    }
}

fn measure(ctx: &mut Context<'_>, point: &Point, backend: Backend) -> Result<Vec<Row>, BoxError> {
    let mut parties = Parties::new(point, backend)?;
    reset_peak_memory();
    // Once, so that the output is looked at; what it sends is what every run sends.
    parties.time(1)?;
    let ([busier, all], rounds) = parties.sent();
    let timer = ctx.timer();
    let message = (busier as u64) / rounds.max(1);
    let (link, flows) = match point.way {
        Way::Three => (Link::three_flows(point.transport, message), 3.0),
        Way::Two { .. } => {
            let link =
                (point.transport != Transport::Inproc).then(|| Link::one_flow(point.transport, message));
            (link, 2.0)
        }
    };
    let (seconds, taken) = link::around(ctx, link, || timer.durations(|n| parties.time(n)))?;
    let seconds = match parties.of_operation(point.op, seconds.len()) {
        Some(own) if point.network == "layer" => own,
        _ => seconds,
    };
    let peak = peak_memory_bytes();
    let name = format!("the bytes of {} {} over", point.network, point.op);
    let (units, unit) = (parties.work().units, Unit::per_second(parties.work().unit));
    let bound = link::of_links(ctx, (taken.as_ref(), point.net), &name, &unit, (flows, busier / units))?;
    let of = |figures: Vec<f64>| Measurement::of(&figures).ok_or("nothing was timed");
    let times = of(seconds.iter().map(|s| 1e3 * s).collect())?;
    let rates = of(seconds.iter().map(|s| units / s).collect())?;
    let time = Row::new("time", Unit::MS, times).rounds(rounds).bytes_per_unit(all);
    let time = peak.into_iter().fold(time, Row::peak_memory_bytes);
    let rate = Row::new("throughput", unit, rates).rounds(rounds).bytes_per_unit(all / units);
    Ok(vec![time, bound.iter().fold(rate, Row::bound)])
}
