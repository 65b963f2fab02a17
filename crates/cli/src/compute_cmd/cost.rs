//! The price of a computation with each protocol.

use super::CostArgs;
use crate::{error::Error, local_compute::in_turn, member_cmd::has_aes, places::symbols, price::LOOPBACK};
use hushwire::job::{ComputationSource, ComputeJob, ComputeTask, Forecast, Kind, Member, Protocol};
use hushwire_aes::Backend;
use hushwire_compute::{Computation, Visibility};
use hushwire_wire::Shape;
use serde::Serialize;
use std::collections::BTreeMap;

/// LOCAL: the assumed number of rows of a table whose length is not given.
const ROWS: u64 = 1000;
/// LOCAL: the most bytes that the bits of a circuit may take. A larger circuit is not made for its
/// cost. This is four times a run's default limit; making a circuit of this size takes less than
/// half of it.
const MOST: u64 = 8 << 30;

/// The cost of a computation with one protocol.
#[derive(Serialize)]
pub(super) struct Figures {
    pub(super) protocol: String,
    #[serde(skip)]
    pub(super) parties: u8,
    /// The form of the run: one circuit, or steps on numbers and bits.
    pub(super) form: &'static str,
    /// The number of ANDs of a circuit, or of two parties' steps on bits.
    pub(super) ands: Option<u64>,
    /// The number of rounds one after the other, on one machine and across a continent.
    pub(super) rounds: u64,
    pub(super) wan_rounds: u64,
    /// The payload in bytes of the party that sends most, without set-ups and TLS.
    pub(super) bytes_sent: u64,
    /// The most bytes that values and the work on them take at each party, if it runs in steps.
    pub(super) memory_bytes: Option<u64>,
    /// Seconds on one machine, in one room, and across a continent.
    pub(super) loopback_seconds: f64,
    pub(super) lan_seconds: f64,
    pub(super) wan_seconds: f64,
}

impl Figures {
    fn new(protocol: Protocol, forecast: &Forecast, ands: Option<u64>, memory_bytes: Option<u64>) -> Self {
        Self {
            protocol: protocol.to_string(),
            parties: protocol.parties(),
            form: match protocol {
                Protocol::Two => "steps",
                _ if ands.is_some() => "circuit",
                _ => "steps",
            },
            ands,
            rounds: forecast.rounds,
            wan_rounds: forecast.over(Shape::wan()).rounds,
            bytes_sent: forecast.bytes_sent,
            memory_bytes,
            loopback_seconds: forecast.seconds(LOOPBACK),
            lan_seconds: forecast.seconds(Shape::lan()),
            wan_seconds: forecast.seconds(Shape::wan()),
        }
    }
}

/// The content of `cost --json`.
#[derive(Serialize)]
pub(super) struct Costs {
    pub(super) computation: String,
    pub(super) symbols: BTreeMap<String, u64>,
    pub(super) protocols: Vec<Figures>,
    /// The requested protocols that cannot run the computation.
    pub(super) refused: Vec<Refusal>,
}

/// A protocol that cannot run a computation.
#[derive(Serialize)]
pub(super) struct Refusal {
    pub(super) protocol: String,
    pub(super) cause: String,
    pub(super) remedy: String,
}

pub(super) fn costs(args: &CostArgs, c: &Computation) -> Result<Costs, Error> {
    let mut lengths = symbols(&args.of.symbol, Some(c))?;
    for name in c.symbols() {
        lengths.entry(name.clone()).or_insert(ROWS);
    }
    let (mut protocols, mut refused) = (vec![], vec![]);
    let mut first = None;
    let asked = if args.protocol.is_empty() { &Protocol::ALL[..] } else { &args.protocol };
    for protocol in asked.iter().copied() {
        let mut job = ComputeJob::new(protocol, ComputationSource::Text(c.to_string()));
        in_turn(&mut job, c);
        // Any owner will do: the forecast is that of the party that sends most.
        let secret = c.inputs().filter(|(_, ty)| ty.visibility == Visibility::Secret);
        job.owners = secret.map(|(name, _)| (name.to_owned(), Member::Party(0))).collect();
        let task = ComputeTask::new(&job)?;
        let bound = task.bound(&lengths)?;
        match bound.price(task.chosen(), has_aes(Backend::best()), task.threads(), MOST) {
            Ok((forecast, ands, memory)) => protocols.push(Figures::new(protocol, &forecast, ands, memory)),
            // A protocol that cannot run the computation says nothing about the other protocols.
            Err(e) if e.kind() == Kind::Usage => {
                let (protocol, cause, remedy) = (protocol.to_string(), e.cause(), e.remedy());
                refused.push(Refusal { protocol, cause, remedy });
                first = first.or(Some(e));
            }
            Err(e) => return Err(e.into()),
        }
    }
    match first {
        Some(e) if protocols.is_empty() => Err(e.into()),
        _ => Ok(Costs { computation: c.name().to_owned(), symbols: lengths, protocols, refused }),
    }
}
