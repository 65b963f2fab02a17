//! The model's owner and the client, who compute with each other.

use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};

use hushwire_aes::Backend;
use hushwire_compute::{Op, Tensor};
use hushwire_machine::{Cost, Meter, PartyId, SessionId};
use hushwire_nn::INPUT;
use hushwire_ot::{Context, Protocol, Sid};
use hushwire_prg::Seed;
use hushwire_two::{ArithmeticParty, Costs, Distance, Plan, Products};
use hushwire_wire::Shape;

use super::{
    grid::{InferProtocol, Point},
    work::NetworkWork,
};
use crate::{
    BoxError,
    bounds::count,
    net::{self, Transport},
};

/// The link between both parties, and the protocol that they run on it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct PairTerms {
    pub(super) products: Products,
    pub(super) ot: Protocol,
    pub(super) transport: Transport,
    pub(super) net: Shape,
    pub(super) threads: usize,
}

impl PairTerms {
    /// The terms of a point between two parties.
    pub(super) fn of(point: &Point) -> Result<Self, BoxError> {
        let Point { transport, net, threads, .. } = *point;
        match point.way {
            InferProtocol::Two { products, ot, .. } => Ok(Self { products, ot, transport, net, threads }),
            InferProtocol::Three => Err("three parties are no pair".into()),
        }
    }
}

/// Two parties, connected anew for each repetition.
pub(super) struct TwoParties {
    terms: PairTerms,
    backend: Backend,
    pub(super) work: NetworkWork,
    plan: Plan,
    owners: Vec<usize>,
    declared: Costs,
    runs: u64,
    meters: [Meter; 2],
    /// The rounds of each operation in the last repetition, and the bytes that both parties sent
    /// for it.
    pub(super) costs: BTreeMap<&'static str, Cost>,
    /// The milliseconds of each operation at the owner, in each repetition.
    pub(super) spent: Vec<BTreeMap<&'static str, f64>>,
}

/// The column of the paper's tables to which a node belongs.
const fn column(op: &Op) -> &'static str {
    match op {
        Op::Conv2d { .. } | Op::MatMul => "conv",
        Op::Max | Op::Min => "relu",
        Op::Pool { .. } => "maxpool",
        Op::Rescale(_) => "trunc",
        Op::Mul => "batchnorm",
        _ => "others",
    }
}

impl TwoParties {
    pub(super) fn new(work: NetworkWork, terms: PairTerms, backend: Backend) -> Result<Self, BoxError> {
        let owners: Vec<usize> =
            work.computation.inputs().map(|(name, _)| usize::from(name == INPUT)).collect();
        let learns = vec![[false, true]; work.computation.outputs().len()];
        let plan = Plan::with(&work.computation, &owners, &learns, terms.products)?;
        let meters = [Meter::new(), Meter::new()];
        let declared = plan.costs(terms.ot, Distance::of(terms.net.rtt));
        let (costs, spent) = Default::default();
        Ok(Self { terms, backend, work, plan, owners, declared, runs: 0, meters, costs, spent })
    }

    /// The bytes of the party that sends more and of both parties, in one repetition.
    pub(super) fn bytes(&self) -> [f64; 2] {
        let runs = count(self.runs.max(1));
        let sent = self.meters.each_ref().map(|meter| count(meter.reading().bytes_sent()) / runs);
        [sent[0].max(sent[1]), sent[0] + sent[1]]
    }

    pub(super) fn rounds(&self) -> u64 {
        let rounds = self.meters.iter().map(|meter| meter.reading().rounds()).max().unwrap_or(0);
        rounds.div_ceil(self.runs.max(1))
    }

    fn own(&self, party: usize) -> Vec<Tensor> {
        let all = self.work.computation.inputs().zip(&self.owners).filter(|(_, owner)| **owner == party);
        all.filter_map(|((name, _), _)| self.work.inputs.get(name).cloned()).collect()
    }

    /// Runs this many repetitions, each from the first party's start to the last one's end. Keys,
    /// base OTs and extensions are included.
    pub(super) fn time(&mut self, repetitions: u64) -> Result<Duration, BoxError> {
        let mut took = Duration::ZERO;
        for _ in 0..repetitions {
            let nets = net::nets::<2>(self.terms.transport, self.terms.net, SessionId::fresh()?, 2)?;
            let own = [0, 1].map(|i| self.own(i));
            let sid = Sid(*Seed::random()
                .derive("bench pair", &[])
                .expose()
                .repeat(2)
                .first_chunk()
                .ok_or("a name")?);
            let ends = nets.into_iter().zip(own);
            let ran = net::each(ends, |i, (mut net, own)| {
                let peer = Some(PartyId(1 - i as u8));
                let (mut channel, mut ots) = (net.channel(0, peer, peer)?, net.channel(1, peer, peer)?);
                [&mut channel, &mut ots].into_iter().for_each(|channel| channel.tap(self.meters[i].tap()));
                let context = Context { sid, backend: self.backend };
                let begin = Instant::now();
                let party = ArithmeticParty::open(ots, i, &context, self.terms.ot, &Seed::random())?;
                let party = party.threads(self.terms.threads).distance(Distance::of(self.terms.net.rtt));
                let meter = Meter::new();
                channel.tap(meter.tap());
                let mut party = party.metered(&meter);
                let made = party.run(&mut channel, &self.plan, own, &mut |_, _| true)?;
                let end = Instant::now();
                let (cost, declared) = (meter.reading().cost(), self.declared.all.cost(i));
                if cost != declared {
                    return Err(format!("party {i} spent {cost:?} where {declared:?} was declared").into());
                }
                Ok((begin, end, made, party.spent().clone()))
            })?;
            let whole = net::span(ran.iter().map(|ran| (ran.0, ran.1)));
            took += whole;
            self.runs += 1;
            let mut spent = BTreeMap::from([("total", 1e3 * whole.as_secs_f64())]);
            self.costs = BTreeMap::new();
            for (node, of) in &ran[0].3 {
                let op = &self.work.computation.nodes()[*node].op;
                let cost = self.costs.entry(column(op)).or_default();
                cost.rounds += of.cost.rounds;
                cost.bytes_sent += of.cost.bytes_sent + ran[1].3.get(node).map_or(0, |of| of.cost.bytes_sent);
                *spent.entry(column(op)).or_default() += 1e3 * of.all.as_secs_f64();
                *spent.entry("matmul").or_default() += 1e3 * of.products.as_secs_f64();
            }
            self.spent.push(spent);
            let output = ran[1].2.first().ok_or("the client learns an output")?;
            self.work.check(output)?;
        }
        Ok(took)
    }
}
