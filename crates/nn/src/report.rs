//! Compares the fixed-point result with floating point, layer by layer and at the end.

use crate::{Array, Fault, Inputs, LayerWidth, Network, Numbers, Secure, float::Floats};
use hushwire_compute::evaluate;

/// One layer's values on sample inputs.
#[derive(Clone, Debug, PartialEq)]
pub struct LayerReport {
    /// Its name in the file.
    pub name: String,
    /// Its operator.
    pub op: &'static str,
    /// The lengths of its value.
    pub lengths: Vec<usize>,
    /// The greatest absolute value of an element in floating point.
    pub greatest: f32,
    /// The greatest error of an element.
    pub error: f32,
    /// The root of the mean squared error.
    pub deviation: f32,
    /// The bits above the greatest element in the ring. Negative if the element wrapped, so that
    /// the output is wrong.
    pub room: f32,
    /// Its ring, and the reason for it.
    pub width: LayerWidth,
}

/// A network's fixed-point values against floating point.
#[derive(Clone, Debug, PartialEq)]
pub struct NetworkReport {
    /// The first output in fixed point.
    pub output: Array,
    /// All outputs in fixed point.
    pub outputs: Vec<Array>,
    /// Every layer.
    pub layers: Vec<LayerReport>,
    /// The number of places that are compared. They are the place of the greatest output of each
    /// sample along the first axis, or all places that the network itself finds. 0 if samples have
    /// one output each.
    pub places: usize,
    /// The number of places that agree.
    pub agree: usize,
}

impl NetworkReport {
    /// Evaluates a network on a sample input in fixed point and in floating point. Scales come from
    /// the sizes `greatest`, with `headroom` bits left free.
    ///
    /// # Errors
    /// The network does not accept the input or the numbers.
    pub fn new(
        network: &Network,
        numbers: Numbers,
        greatest: &[f32],
        headroom: u8,
        input: &(impl Inputs + ?Sized),
    ) -> Result<Self, Fault> {
        let floats = Floats::new(network, input, true)?;
        let secure = Secure::probed(network, numbers)?;
        let scales = secure.scales(network, greatest, headroom)?;
        let mut inputs = secure.weights(network, greatest, headroom)?;
        inputs.extend(secure.inputs(network, input)?);
        let values = evaluate(secure.computation(), &inputs)?;
        drop(inputs);
        let rooms = secure.rooms_at(network, &scales, &floats);
        let mut layers = vec![];
        let (mut outcome, mut output) = ((0, 0), Array::default());
        for (at, layer) in network.layers.iter().enumerate() {
            let Some(value) = values.get(&format!("l{at}")) else { continue };
            let (fixed, float) = (secure.decoded(at, &scales, value), floats.value(at));
            let errors = fixed.data.iter().zip(&float.data).map(|(x, y)| f64::from((x - y).abs()));
            let squares: f64 = errors.clone().map(|e| e * e).sum();
            layers.push(LayerReport {
                name: layer.name.clone(),
                op: layer.kind.name(),
                lengths: layer.lengths.clone(),
                greatest: float.greatest(),
                error: errors.fold(0.0, f64::max) as f32,
                deviation: (squares / fixed.data.len().max(1) as f64).sqrt() as f32,
                room: rooms[at],
                width: secure.widths()[at],
            });
            if at == network.outputs[0].1 {
                let found = network.places(at).is_some();
                let whole = fixed.clone();
                let [fixed, float] = [&fixed, float].map(|of| if found { of.data.clone() } else { best(of) });
                outcome = (fixed.iter().zip(&float).filter(|(a, b)| a == b).count(), fixed.len());
                output = whole;
            }
        }
        let fixed = |(_, at): &(String, usize)| {
            let value = values.get(&format!("l{at}"));
            value.map_or_else(Array::default, |value| secure.decoded(*at, &scales, value))
        };
        let outputs = network.outputs.iter().map(fixed).collect();
        Ok(NetworkReport { output, outputs, layers, places: outcome.1, agree: outcome.0 })
    }
}

/// The place of the greatest output of each sample, if samples have more than one output.
fn best(of: &Array) -> Vec<f32> {
    let samples = of.lengths.first().copied().unwrap_or(1).max(1);
    let each = of.data.len() / samples;
    if each < 2 {
        return vec![];
    }
    let best = |row: &[f32]| (0..row.len()).fold(0, |best, i| if row[i] > row[best] { i } else { best });
    of.data.chunks(each).map(|row| best(row) as f32).collect()
}
