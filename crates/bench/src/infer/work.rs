//! Three parties with shares of a network and its input.

use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};

use hushwire_aes::Backend;
use hushwire_compute::{Computation, Tensor};
use hushwire_machine::{Meter, SessionId};
use hushwire_nn::{
    Array, Floats, INPUT, Members, Network, Numbers, Secure, decode,
    onnx::{Attribute, Model},
    zoo::{self, Writer},
};
use hushwire_prg::{Prg, Seed};
use hushwire_rep3::{Party, Role, Shares};
use hushwire_three::{
    Cut, Plan,
    test_support::{opened, shared},
};

use super::grid::Point;
use crate::{BoxError, bounds::count, net};

/// Rows, columns and channels of layers that are measured alone.
const SIDE: usize = 56;
const CHANNELS: usize = 64;

/// A network, or a layer, with weights and an input, and what its output is in floating point.
pub(super) struct Work {
    pub(super) computation: Computation,
    pub(super) inputs: BTreeMap<String, Tensor>,
    expected: Array,
    /// Units of work of a run, and their name.
    pub(super) units: f64,
    pub(super) unit: &'static str,
}

/// Three parties, connected anew for each repetition.
pub(super) struct Trio {
    point: Point,
    backend: Backend,
    pub(super) work: Work,
    plan: Plan,
    cut: Cut,
    shares: [Vec<Shares>; 3],
    runs: u64,
    meters: [Meter; 3],
}

/// The name of a network that has every column of the paper's tables, and takes a moment.
pub(super) const SMALL: &str = "small";

fn small() -> Model {
    let mut w = Writer::new(SMALL, 1, &[1, 3, 16, 16]);
    let x = w.conv("input", [3, 8], 3, 1, 1, true);
    let x = w.relu(&x);
    let x = w.pool("MaxPool", &x, 3, 2, 1, false);
    let x = w.batch_norm(&x, 8);
    let x = w.relu(&x);
    let x = w.op("GlobalAveragePool", &[&x], &[]);
    let x = w.op("Flatten", &[&x], &[]);
    let x = w.gemm(&x, [8, 10]);
    w.finish(&x)
}

/// A model of one layer.
fn layer(op: &str) -> Model {
    let images = [1, CHANNELS, SIDE, SIDE];
    let mut w = Writer::new("layer", 1, if op == "matmul" { &[1, 512] } else { &images });
    let y = match op {
        "conv" => w.conv("input", [CHANNELS, CHANNELS], 3, 1, 1, true),
        "relu" => w.relu("input"),
        "maxpool" => w.pool("MaxPool", "input", 3, 2, 1, false),
        "batchnorm" => w.batch_norm("input", CHANNELS),
        "matmul" => w.gemm("input", [512, 1000]),
        // A product with a number a channel, which is cut where the next one takes it.
        _ => {
            let x = w.batch_norm("input", CHANNELS);
            w.op("AveragePool", &[&x], &[("kernel_shape", Attribute::Ints(vec![1; 2]))])
        }
    };
    w.finish(&y)
}

impl Work {
    pub(super) fn new(network: &str, op: &str, bits: u8) -> Result<Self, BoxError> {
        let model = match network {
            "layer" => layer(op),
            SMALL => small(),
            _ => zoo::make(network, 1)?,
        };
        let network = Network::new(model, None)?;
        let input = zoo::sample(&network.layers[network.inputs[0].1].lengths, 7);
        let floats = Floats::new(&network, &input, true)?;
        let expected = floats.value(network.outputs[0].1).clone();
        let secure = Secure::new(&network, Numbers::of(bits), &Members::default())?;
        let mut inputs = secure.weights(&network, floats.greatest(), 2)?;
        inputs.insert(INPUT.to_owned(), secure.input(&input)?);
        let computation = secure.computation().clone();
        let products: u64 = (0..network.layers.len()).map(|at| network.products(at)).sum();
        let (units, unit) = match products {
            0 => (count(expected.data.len() as u64), "element"),
            products => (count(products), "MAC"),
        };
        Ok(Self { computation, inputs, expected, units, unit })
    }

    /// Compares an output with floating point: it may be off by what rounding adds up to, not by what a wrong bit makes.
    pub(super) fn check(&self, output: &Tensor) -> Result<(), BoxError> {
        let found = decode(output);
        let errors = found.data.iter().zip(&self.expected.data).map(|(x, y)| f64::from(x - y).powi(2));
        let deviation = (errors.sum::<f64>() / count(found.data.len().max(1) as u64)).sqrt();
        let greatest = f64::from(self.expected.greatest());
        if found.lengths == self.expected.lengths && deviation < 0.1 * greatest.max(0.1) {
            return Ok(());
        }
        Err(format!("the output is off by {deviation} where its greatest element is {greatest}").into())
    }
}

impl Trio {
    pub(super) fn new(point: &Point, backend: Backend) -> Result<Self, BoxError> {
        let mut work = Work::new(point.network, point.op, point.bits)?;
        let plan = Plan::new(&work.computation)?;
        let mut prg = Prg::new(backend, &Seed::random(), "bench infer shares");
        let mut shares: [Vec<Shares>; 3] = Default::default();
        let inputs = std::mem::take(&mut work.inputs);
        for ((name, _), door) in work.computation.inputs().zip(plan.inputs()) {
            let value = inputs.get(name).ok_or("an input is missing")?;
            shares.iter_mut().zip(shared(&mut prg, value, *door)).for_each(|(to, share)| to.push(share));
        }
        let cut = Cut::new(u16::try_from(point.threads)?, point.net.rtt / 2);
        let meters = [Meter::new(), Meter::new(), Meter::new()];
        Ok(Self { point: *point, backend, work, plan, cut, shares, runs: 0, meters })
    }

    /// Bytes of the party that sends most and of all, of one repetition.
    pub(super) fn bytes(&self) -> [f64; 2] {
        let runs = count(self.runs.max(1));
        let sent = self.meters.each_ref().map(|meter| count(meter.reading().bytes_sent()) / runs);
        [sent.into_iter().fold(0.0, f64::max), sent.into_iter().sum()]
    }

    pub(super) fn rounds(&self) -> u64 {
        let rounds = self.meters.iter().map(|meter| meter.reading().rounds()).max().unwrap_or(0);
        rounds.div_ceil(self.runs.max(1))
    }

    /// So many repetitions, each from the first party's start to the last one's end.
    pub(super) fn time(&mut self, repetitions: u64) -> Result<Duration, BoxError> {
        let mut took = Duration::ZERO;
        for _ in 0..repetitions {
            let lanes = u16::try_from(self.cut.lanes())?;
            let id = SessionId::fresh()?;
            // One lane more, for session keys.
            let nets = net::nets::<3>(self.point.transport, self.point.net, id, lanes + 1)?;
            let parties = net::each(nets, |i, mut net| {
                let role = Role::ALL[i];
                let (left, right) = (Some(role.left().id()), Some(role.right().id()));
                let mut keys = net.channel(lanes, right, left)?;
                let party = Party::open(role, self.backend, id, Seed::random(), &mut keys)?;
                let mut channels = vec![];
                for lane in 0..lanes {
                    let mut pair = [net.channel(lane, left, right)?, net.channel(lane, right, left)?];
                    pair.iter_mut().for_each(|channel| channel.tap(self.meters[i].tap()));
                    channels.push(pair);
                }
                Ok((party, channels, self.shares[i].clone(), net))
            })?;
            let (plan, cut) = (&self.plan, self.cut);
            let ran = net::each(parties, |_, (mut party, channels, inputs, _net)| {
                let begin = Instant::now();
                let made = hushwire_three::run(&mut party, channels, plan, cut, inputs, &mut |_, _| true)?;
                Ok((begin, Instant::now(), made))
            })?;
            let begin = ran.iter().map(|ran| ran.0).min();
            let end = ran.iter().map(|ran| ran.1).max();
            took += begin.zip(end).map_or(Duration::ZERO, |(begin, end)| end - begin);
            self.runs += 1;
            let [a, b, c] = &ran[..] else { return Err("a party has no result".into()) };
            self.check([&a.2[0], &b.2[0], &c.2[0]])?;
        }
        Ok(took)
    }

    fn check(&self, shares: [&Shares; 3]) -> Result<(), BoxError> {
        let door = self.plan.outputs().next().ok_or("a network has an output")?;
        let computation = &self.work.computation;
        let ty = &computation.node(computation.outputs()[0].value).ty;
        self.work.check(&opened(shares, door, ty))
    }
}
