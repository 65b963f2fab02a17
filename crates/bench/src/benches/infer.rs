//! `bench infer`: whole networks, and single layers of them, with secret weights and input.
//!
//! | `network` | what |
//! |---|---|
//! | `squeezenet`, `squeezenet-cifar`, `resnet50`, `densenet121` | on one image, `op` = `all` |
//! | `squeezenet-cifar-8` | on eight images at once |
//! | `trees` | 100 trees of depth 6 on 1,000 rows of 16 numbers |
//! | `logistic` | a logistic regression on 1,000,000 rows of 20 numbers |
//! | `bert-tiny` | two layers of a transformer, 128 wide, on 128 tokens |
//! | `layer` | one layer: `conv`, `relu`, `trunc`, `maxpool`, `batchnorm`, `matmul` |
//!
//! The networks are those of `hushwire_nn::zoo`. A layer has 64 channels of 56 × 56 pixels;
//! `matmul` is 512 × 1000.
//!
//! Three parties (`protocol` = `rep3`) are threads of this process. Weights and input are shared
//! before, and the output is opened afterwards. With two parties (`protocol` = `two`), the owner
//! brings the weights and the client the input. `linear` is `he`, under encryption, or `ot`; the
//! parameter `ot` is the extension. Keys and base OTs are part of a run. Every output is compared
//! with floating point. An output that is far from it fails the run. The metric `time` is in ms,
//! from the first party's start to the last one's end, without connecting. For single layers
//! between two parties, it is the time of that operation at the owner. The metric `throughput` is
//! in multiplications of the network per second. For a layer without multiplications, it is in
//! elements per second. Its limit is the time of all parties' bytes on the link; without a link
//! there is no limit. `table9` and `table7` are the VASA paper's.

mod grid;
mod models;
mod pair;
mod tables;
#[cfg(test)]
mod tests;
mod work;

use hushwire_aes::Backend;
use std::time::Duration;

use crate::{
    Bench, BenchAsked, BenchRow, BoxError, Case, CaseContext, Unit,
    link::{self, RowLink},
    net::Transport,
    timing::{peak_memory_bytes, reset_peak_memory},
};
use grid::{InferProtocol, Point};
use pair::{PairTerms, TwoParties};
use work::{NetworkWork, Trio};

pub(super) const BENCHES: &[Bench] = &[
    Bench {
        name: "infer",
        about: "Neural networks with secret weights and inputs, whole and layer by layer",
        examples: "Example:\n  hushwire bench infer --only network=squeezenet,ring=32,net=none --json infer.json",
        // Rings of 32 bits over plain TCP, and the smaller networks also over modelled links. By
        // OT, all networks except the smallest take minutes or longer.
        core: &[
            "ring=32 transport=tcp-insecure threads=$least net=$near protocol=rep3",
            "ring=32 transport=tcp-insecure threads=$least net=$near linear=he ot=softspoken2 implementation=batched network!=squeezenet-cifar-8|resnet50|densenet121|trees|logistic|bert-tiny",
            "ring=32 transport=tcp-insecure threads=$least net=$near linear=ot ot=softspoken2 implementation=batched network=layer|squeezenet-cifar",
            "ring=32 transport=tcp-insecure threads=$least protocol=rep3 network=squeezenet|squeezenet-cifar",
            "ring=32 transport=tcp-insecure threads=$least linear=he ot=softspoken2 implementation=batched network=squeezenet-cifar",
        ],
        quick: &[
            "ring=32 transport=inproc threads=$least protocol=rep3 network=squeezenet-cifar",
            "ring=32 transport=inproc threads=$least protocol=rep3 op=relu",
            "ring=32 transport=inproc threads=$least linear=he ot=softspoken2 implementation=batched op=matmul",
        ],
        cases: |asked| Ok(cases(asked)),
        ..Bench::EMPTY
    },
    Bench {
        name: "table9",
        about: "Table 9 of the VASA paper: networks between two parties, operation by operation, with batching and wider AES or without",
        examples: "Example:\n  hushwire bench table9 --only network=squeezenet-cifar,linear=he,ot=softspoken4,ring=37,net=lan --json table9.json",
        core: &[
            "ring=32 transport=tcp-insecure ot=softspoken2 net=$near network=squeezenet-cifar",
            "ring=32 transport=tcp-insecure ot=softspoken2 net=$near network=squeezenet linear=he implementation=batched",
        ],
        quick: &[
            "ring=32 transport=tcp-insecure ot=softspoken2 net=$near network=small implementation=batched",
        ],
        cases: |asked| tables::cases(asked, true),
        below: |_, report| tables::print(report, true),
        ..Bench::EMPTY
    },
    // Every cell is the geometric mean over networks.
    Bench {
        name: "table7",
        about: "Table 7 of the VASA paper: geometric means of Table 9",
        examples: "Example:\n  hushwire bench table7 --only networks=squeezenets,linear=he,ring=32,transport=tcp-tls --net 1Gbps,5ms --json table7.json",
        core: &[
            "ring=32 transport=tcp-insecure ot=softspoken2 net=$near networks=squeezenets linear=he implementation=batched",
        ],
        quick: &[
            "ring=32 transport=tcp-insecure ot=softspoken2 net=$near networks=small implementation=batched",
        ],
        cases: |asked| tables::cases(asked, false),
        below: |_, report| tables::print(report, false),
        ..Bench::EMPTY
    },
];

fn cases(asked: &BenchAsked) -> Vec<Case<'static>> {
    let backend = asked.backend();
    let case = |point: Point| {
        let params = point.params("network", point.network, point.op).with("threads", point.threads);
        Case::new("inference", params, move |ctx| measure(ctx, &point, backend))
    };
    Point::all(&asked.threads(), &asked.links()).into_iter().map(case).collect()
}

/// Two or three parties.
enum Parties {
    Three(Box<Trio>),
    Two(Box<TwoParties>),
}

impl Parties {
    fn new(point: &Point, backend: Backend) -> Result<Self, BoxError> {
        if point.way == InferProtocol::Three {
            return Ok(Parties::Three(Box::new(Trio::new(point, backend)?)));
        }
        let backend = point.way.implementation().backend(backend).ok_or("this CPU has no such AES")?;
        let work = NetworkWork::new(point.network, point.op, point.bits)?;
        Ok(Parties::Two(Box::new(TwoParties::new(work, PairTerms::of(point)?, backend)?)))
    }

    fn work(&self) -> &NetworkWork {
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

    /// The bytes of the party that sends most and of all parties, and the rounds.
    fn sent(&self) -> ([f64; 2], u64) {
        match self {
            Parties::Three(trio) => trio.sent(),
            Parties::Two(pair) => (pair.bytes(), pair.rounds()),
        }
    }

    /// The seconds of the row's operation in each of the last repetitions; `None` if they are those
    /// of the whole run.
    fn of_operation(&self, op: &str, last: usize) -> Option<Vec<f64>> {
        let Parties::Two(pair) = self else { return None };
        let from = pair.spent.len().checked_sub(last)?;
        let op = if op == "matmul" { "conv" } else { op };
        pair.spent[from..].iter().map(|spent| spent.get(op).map(|ms| ms / 1e3)).collect()
    }
}

fn measure(ctx: &mut CaseContext<'_>, point: &Point, backend: Backend) -> Result<Vec<BenchRow>, BoxError> {
    let mut parties = Parties::new(point, backend)?;
    reset_peak_memory();
    // The first repetition checks the output. Every run sends as much as it.
    parties.time(1)?;
    let ([busier, all], rounds) = parties.sent();
    let timer = ctx.timer();
    let message = (busier as u64) / rounds.max(1);
    let (link, flows) = match point.way {
        InferProtocol::Three => (RowLink::three_flows(point.transport, message), 3.0),
        InferProtocol::Two { .. } => {
            let link =
                (point.transport != Transport::Inproc).then(|| RowLink::one_flow(point.transport, message));
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
    let time = BenchRow::time("time", &seconds)?.rounds(rounds).bytes_per_unit(all);
    let time = peak.into_iter().fold(time, BenchRow::peak_memory_bytes);
    let rate =
        BenchRow::rate("throughput", unit, units, &seconds)?.rounds(rounds).bytes_per_unit(all / units);
    Ok(vec![time, bound.iter().fold(rate, BenchRow::bound)])
}
