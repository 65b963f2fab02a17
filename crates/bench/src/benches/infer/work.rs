//! Three parties with shares of a network and its input.

use std::{collections::BTreeMap, time::Duration};

use hushwire_aes::Backend;
use hushwire_compute::{Computation, Tensor};
use hushwire_nn::{
    Array, Floats, INPUT, Members, Network, Numbers, Secure, decode,
    onnx::{Attribute, Model},
    zoo::{self, Writer},
};
use hushwire_rep3::Shares;

use super::{grid::Point, models};
use crate::{BoxError, bounds::count, plans::Parties};

/// The rows, columns and channels of layers that are measured alone.
const SIDE: usize = 56;
const CHANNELS: usize = 64;

/// A network or a layer with weights and an input, and its output in floating point.
pub(super) struct NetworkWork {
    pub(super) computation: Computation,
    pub(super) inputs: BTreeMap<String, Tensor>,
    expected: Array,
    /// The units of work of a run, and the unit's name.
    pub(super) units: f64,
    pub(super) unit: &'static str,
}

/// Three parties, connected anew for each repetition.
pub(super) struct Trio {
    pub(super) work: NetworkWork,
    parties: Parties,
    shares: [Vec<Shares>; 3],
}

/// The name of a network that has every column of the paper's tables, and runs quickly.
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
        // A product with one number for each channel, truncated where the next layer needs it.
        _ => {
            let x = w.batch_norm("input", CHANNELS);
            w.op("AveragePool", &[&x], &[("kernel_shape", Attribute::Ints(vec![1; 2]))])
        }
    };
    w.finish(&y)
}

impl NetworkWork {
    pub(super) fn new(network: &str, op: &str, bits: u8) -> Result<Self, BoxError> {
        let (model, lengths) = match network {
            "layer" => (layer(op), None),
            SMALL => (small(), None),
            other => match models::made(other) {
                Some((model, lengths)) => (model, Some(lengths)),
                None => (zoo::make(other, 1)?, None),
            },
        };
        let network = Network::new(model, lengths.as_deref())?;
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

    /// Compares an output with floating point. It may differ by accumulated rounding errors, but
    /// not by as much as a wrong bit.
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
        let mut work = NetworkWork::new(point.network, point.op, point.bits)?;
        let over = (point.transport, point.net);
        let parties = Parties::new(&work.computation, over, backend, point.threads)?;
        let shares = parties.shares(&std::mem::take(&mut work.inputs))?;
        Ok(Self { work, parties, shares })
    }

    /// The bytes of the party that sends most and of all parties, and the rounds, in one
    /// repetition.
    pub(super) fn sent(&self) -> ([f64; 2], u64) {
        let moved = self.parties.moved();
        ([count(moved.busiest), count(moved.all)], moved.rounds)
    }

    /// Runs this many repetitions, each from the first party's start to the last one's end.
    pub(super) fn time(&mut self, repetitions: u64) -> Result<Duration, BoxError> {
        let mut took = Duration::ZERO;
        for _ in 0..repetitions {
            self.parties.connect()?;
            let (time, outputs) = self.parties.run(self.shares.clone())?;
            took += time;
            self.work.check(outputs.values().next().ok_or("a network has an output")?)?;
        }
        Ok(took)
    }
}
