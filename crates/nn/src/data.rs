//! A network on data: its accuracy in floating point and in fixed point, the errors of its layers,
//! and the smallest ring that suffices.

use crate::{
    Array, Fault, Floats, LayerReport, Members, Network, Numbers, Samples, Secure, Wanted, error::shape,
    samples::batches, secure::decode,
};
use hushwire_compute::{Computation, Tensor, evaluate};
use std::collections::BTreeMap;

/// The rings that are tried, the smallest first.
const RINGS: [u8; 9] = [16, 20, 24, 28, 32, 40, 48, 56, 64];
/// The part of decisions, or of the output's range, that a sufficient ring may lose.
const LOST: f64 = 0.001;
/// LOCAL: the number of products for which rings are tried. Large networks try fewer samples.
const WORK: u64 = 1 << 31;

/// A network's results on data.
#[derive(Clone, Debug, PartialEq)]
pub struct DataReport {
    /// The number of samples.
    pub samples: usize,
    /// Results in fixed point.
    pub fixed: DataResult,
    /// The number of decisions in floating point that are right, if there are labels.
    pub right: Option<usize>,
    /// The range of the output's elements in floating point.
    pub range: f32,
    /// Every layer, on all samples.
    pub layers: Vec<LayerReport>,
    /// The samples on which rings were tried, and their results, the smallest ring first; the last
    /// is enough if one is.
    pub tried: (usize, Vec<(Numbers, Option<DataResult>)>),
    /// The smallest ring that loses at most a thousandth of the decisions, or of the
    /// range if there are no decisions.
    pub enough: Option<Numbers>,
}

/// Results in one ring.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct DataResult {
    /// The number of decisions: one for the class of each sample. 0 if samples have one output that
    /// is not a class.
    pub decisions: usize,
    /// The number of decisions that differ from those in floating point.
    pub differ: usize,
    /// The number of decisions that are right, if there are labels.
    pub right: Option<usize>,
    /// The greatest error of an output.
    pub error: f32,
}

/// Data, cut into batches of the network's size, with the expected results.
struct Data<'a> {
    network: &'a Network,
    batches: &'a [Vec<Array>],
    labels: Option<&'a [f32]>,
    /// The number of samples.
    count: usize,
    /// The first output of each batch in floating point.
    floats: Vec<Array>,
}

impl Data<'_> {
    /// The number of samples in a batch.
    fn each(&self) -> usize {
        self.network.input_lengths().first().copied().unwrap_or(1).max(1)
    }

    /// The decisions of a batch: the places that the network finds, or the place of the greatest of
    /// several outputs.
    fn decisions(&self, of: &Array, batch: usize) -> Vec<f32> {
        let samples = self.each();
        let real = samples.min(self.count - batch * samples);
        let each = of.data.len() / samples;
        let mut decisions = if self.network.places(self.network.outputs[0].1).is_some() {
            of.data.clone()
        } else if each < 2 {
            vec![]
        } else {
            let best =
                |row: &[f32]| (0..row.len()).fold(0, |best, i| if row[i] > row[best] { i } else { best });
            of.data.chunks(each).map(|row| best(row) as f32).collect()
        };
        decisions.truncate(decisions.len() / samples * real);
        decisions
    }

    /// Adds a batch's outputs to a result.
    fn add(&self, result: &mut DataResult, batch: usize, fixed: &Array) {
        let [own, expected] = [fixed, &self.floats[batch]].map(|of| self.decisions(of, batch));
        result.decisions += own.len();
        result.differ += own.iter().zip(&expected).filter(|(x, y)| x != y).count();
        if let Some(labels) = self.labels {
            *result.right.get_or_insert(0) += right(&own, &labels[batch * self.each()..]);
        }
        let errors = fixed.data.iter().zip(&self.floats[batch].data).map(|(x, y)| (x - y).abs());
        result.error = errors.fold(result.error, f32::max);
    }

    /// The results in a ring on the first batches.
    fn result(&self, numbers: Numbers, samples: &Samples, most: usize) -> Result<DataResult, Fault> {
        let secure = Secure::new(self.network, numbers, &Members::default())?;
        let greatest = samples.greatest(self.network, &secure);
        let weights = secure.weights(self.network, greatest, samples.headroom())?;
        let output = &secure.computation().outputs()[0].name;
        let mut result = DataResult::default();
        for (k, batch) in self.batches.iter().enumerate().take(most) {
            let values = values(&secure, secure.computation(), self.network, &weights, batch)?;
            self.add(&mut result, k, &decode(&values[output]));
        }
        Ok(result)
    }
}

/// The number of decisions that agree with the labels.
fn right(decisions: &[f32], labels: &[f32]) -> usize {
    decisions.iter().zip(labels).filter(|(x, y)| x == y).count()
}

/// The outputs of a computation on a batch.
fn values(
    secure: &Secure,
    computation: &Computation,
    network: &Network,
    weights: &BTreeMap<String, Tensor>,
    batch: &[Array],
) -> Result<BTreeMap<String, Tensor>, Fault> {
    let mut inputs = weights.clone();
    inputs.extend(secure.inputs(network, batch)?);
    Ok(evaluate(computation, &inputs)?)
}

impl DataReport {
    /// Evaluates a network on data, an array for each input with samples along the first axis, and
    /// tries rings. Labels are a class for each sample.
    ///
    /// # Errors
    /// The network does not accept the data, a label is missing, or the numbers leave values no
    /// room.
    pub fn new(
        network: &Network,
        numbers: Numbers,
        wanted: &Wanted,
        samples: &Samples,
        data: &[Array],
        labels: Option<&Array>,
    ) -> Result<Self, Fault> {
        let batches = batches(network, data, "data")?;
        let count = data.iter().filter_map(|array| array.lengths.first()).copied().max().unwrap_or(0);
        if let Some(labels) = labels.filter(|labels| labels.data.len() != count) {
            let shapes = (format!("{:?}", labels.lengths), format!("[{count}]"));
            return Err(shape(shapes, "bring one label for each sample").at("the labels"));
        }
        let labels = labels.map(|labels| &labels.data[..]);
        let mut data = Data { network, batches: &batches, labels, count, floats: vec![] };
        let secure = Secure::probed(network, numbers)?;
        let greatest = samples.greatest(network, &secure);
        let scales = secure.scales(network, greatest, samples.headroom())?;
        let weights = secure.weights(network, greatest, samples.headroom())?;
        let (mut layers, mut squares): (Vec<LayerReport>, Vec<f64>) =
            (vec![], vec![0.0; network.layers.len()]);
        let (mut fixed, mut clear) = (DataResult::default(), labels.map(|_| 0));
        let (mut low, mut high) = (f32::INFINITY, f32::NEG_INFINITY);
        for (k, batch) in batches.iter().enumerate() {
            let floats = Floats::new(network, &batch[..], true)?;
            let rooms = secure.rooms_at(network, &scales, &floats);
            let values = values(&secure, secure.computation(), network, &weights, batch)?;
            for (at, layer) in network.layers.iter().enumerate() {
                let Some(value) = values.get(&format!("l{at}")) else { continue };
                let (own, float) = (secure.decoded(at, &scales, value), floats.value(at));
                let errors = own.data.iter().zip(&float.data).map(|(x, y)| f64::from((x - y).abs()));
                squares[at] += errors.clone().map(|e| e * e).sum::<f64>() / own.data.len().max(1) as f64;
                let error = errors.fold(0.0, f64::max) as f32;
                if k == 0 {
                    layers.push(LayerReport {
                        name: layer.name.clone(),
                        op: layer.kind.name(),
                        lengths: layer.lengths.clone(),
                        greatest: float.greatest(),
                        error,
                        deviation: 0.0,
                        room: rooms[at],
                        width: secure.widths()[at],
                    });
                } else {
                    let report = &mut layers[at];
                    report.greatest = report.greatest.max(float.greatest());
                    report.error = report.error.max(error);
                    report.room = report.room.min(rooms[at]);
                }
            }
            let output = network.outputs[0].1;
            let float = floats.value(output);
            (low, high) = float.data.iter().fold((low, high), |(low, high), x| (low.min(*x), high.max(*x)));
            data.floats.push(float.clone());
            if let (Some(clear), Some(labels)) = (&mut clear, labels) {
                *clear += right(&data.decisions(float, k), &labels[k * data.each()..]);
            }
            let own = values.get(&format!("l{output}")).map(|value| secure.decoded(output, &scales, value));
            data.add(&mut fixed, k, &own.unwrap_or_default());
        }
        for (report, squares) in layers.iter_mut().zip(&squares) {
            report.deviation = (squares / batches.len() as f64).sqrt() as f32;
        }
        let most =
            usize::try_from(WORK / network.work().max(1)).unwrap_or(usize::MAX).clamp(1, batches.len());
        let tested = (most * data.each()).min(count);
        let range = high - low;
        let (mut tried, mut enough) = (vec![], None);
        let free = Wanted { bits: None, ..*wanted };
        let rings = RINGS.map(|bits| free.within(bits, 0)).into_iter();
        let rings = rings.filter(|numbers| numbers.check().is_ok()).collect();
        for numbers in free.with_mixed(network, rings)? {
            // A ring without room for the values is too small.
            let result = data.result(numbers, samples, most).ok();
            tried.push((numbers, result));
            if result.is_some_and(|result| result.is_enough(range)) {
                enough = Some(numbers);
                break;
            }
        }
        Ok(DataReport { samples: count, fixed, right: clear, range, layers, tried: (tested, tried), enough })
    }
}

impl DataResult {
    /// Whether at most a thousandth of the decisions differ, or the output is off by at most a
    /// thousandth of its range.
    fn is_enough(&self, range: f32) -> bool {
        if self.decisions > 0 {
            return self.differ as f64 <= LOST * self.decisions as f64;
        }
        f64::from(self.error) <= LOST * f64::from(range)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{onnx::Model, zoo::Writer};

    /// A network of one layer whose classes are known.
    #[test]
    fn accuracy_and_the_smallest_ring() {
        let mut w = Writer::new("line", 1, &[1, 2]);
        let weights = w.weights(&[2, 3], vec![1.0, -1.0, 0.0, 0.5, 0.5, -1.0]);
        let y = w.op("Gemm", &["input", &weights], &[]);
        let model = Model::read(&w.finish(&y).to_bytes()).unwrap();
        let network = Network::new(model, Some(&[4, 2])).unwrap();
        let input = crate::zoo::sample(&[10, 2], 3);
        let class = |x: &[f32]| {
            let y = [x[0] + 0.5 * x[1], 0.5 * x[1] - x[0], -x[1]];
            (0..3).fold(0, |best, i| if y[i] > y[best] { i } else { best }) as f32
        };
        let mut labels: Vec<f32> = input.data.chunks(2).map(class).collect();
        labels[9] = 7.0;
        let samples = Samples::given(&network, &input).unwrap();
        let labels = Array::new(&[10], labels);
        let data = std::slice::from_ref(&input);
        let report =
            DataReport::new(&network, Numbers::of(32), &Wanted::default(), &samples, data, Some(&labels))
                .unwrap();
        // Two more samples fill the last batch of four and do not count.
        assert_eq!((report.samples, report.fixed.decisions, report.right), (10, 10, Some(9)));
        assert_eq!((report.fixed.differ, report.fixed.right), (0, Some(9)));
        assert!(report.fixed.error > 0.0 && report.fixed.error < 0.01 * report.range);
        let enough = report.enough.expect("a ring is enough");
        assert_eq!(report.tried.1.last().map(|(numbers, _)| *numbers), Some(enough));
        assert!(
            report.tried.1[..report.tried.1.len() - 1]
                .iter()
                .all(|(_, result)| { result.is_none_or(|result| result.differ > 0) })
        );
        assert_eq!(report.layers.len(), network.layers.len());
        let few = Array::new(&[9], vec![0.0; 9]);
        let told = DataReport::new(&network, Numbers::of(32), &Wanted::default(), &samples, data, Some(&few));
        assert!(told.unwrap_err().to_string().contains("one label for each sample"));
    }
}
