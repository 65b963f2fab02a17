//! Inputs that determine scales and the number of bits. They come from the model's owner, or are
//! made up.
//!
//! Made-up inputs are independent numbers, normally distributed or from a range. Columns of the
//! first layer's weights may differ by orders of magnitude, as in a network on raw features. Then a
//! second group has inputs whose products with every column are about equally large. Without it, a
//! column of small weights would seem irrelevant. If decision trees compare the input, the second
//! group has elements around the trees' bounds, most of them near a bound, where rounding changes
//! results.

use crate::error::{shape, shown};
use crate::{
    Array, Fault, Floats, Inputs, Kind, Network, Secure,
    distance::judged_step,
    operators::{Add, Affine, Dense, Input},
    zoo::{self, Random},
};

/// LOCAL: the number of bits left free above values of given inputs.
const GIVEN_HEADROOM: u8 = 2;
/// LOCAL: the number of bits left free above values of made-up inputs.
const MADE_UP_HEADROOM: u8 = 3;
/// LOCAL: the number of made-up inputs.
const MADE_UP: u64 = 4;
/// LOCAL: a network with more products than this gets [`MADE_UP_FOR_LARGE`] made-up inputs.
const LARGE: u64 = 1 << 28;
const MADE_UP_FOR_LARGE: u64 = 2;
/// LOCAL: the number of additional made-up inputs if columns have different magnitudes.
const BALANCED: u64 = 2;
/// LOCAL: the number of additional made-up inputs if decision trees compare inputs.
const COMPARED: u64 = 8;
/// LOCAL: an element's distance from a bound is at least the range of its bounds, halved this many
/// times.
const HALVES: usize = 10;
/// LOCAL: the range of made-up integers.
const WHOLE: SampleRange = SampleRange { low: 0.0, high: 2.0 };
/// LOCAL: columns have different magnitudes if one's greatest weight is more than this many times
/// another's.
const DIFFER: f32 = 16.0;
/// LOCAL: a column whose weights are smaller than the greatest by this factor counts as unused.
const UNUSED: f32 = (1u32 << 20) as f32;

/// LOCAL: no ring has room for a value above this, in 64 bits of which 8 are fractional.
const ROOM: f32 = (1u64 << 55) as f32;
/// LOCAL: the greatest power of e for which the scales of such a network have room. On shares
/// larger powers are the greatest number that the ring holds, which is enough for 1 / (1 + e^x).
const LIMITED: f32 = 65536.0;

/// The range of made-up inputs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SampleRange {
    low: f32,
    high: f32,
}

impl std::fmt::Display for SampleRange {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{},{}", self.low, self.high)
    }
}

impl std::str::FromStr for SampleRange {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let bound = |text: &str| text.trim().parse::<f32>().ok().filter(|x| x.is_finite());
        let bounds = text.split_once(',').and_then(|(low, high)| Some((bound(low)?, bound(high)?)));
        match bounds {
            Some((low, high)) if low < high && (high - low).is_finite() => Ok(SampleRange { low, high }),
            _ => Err(format!("{text:?} is no range; write two numbers, the lower one first, as in -1,1")),
        }
    }
}

/// The greatest absolute values of a network's layers, from which scales come, and the number of
/// bits that are left free above them. They are secret, since they depend on the weights. As text
/// they go from one process of the model's owner to another, which then need not evaluate the
/// network again.
#[derive(Clone, PartialEq)]
pub struct ValueSizes {
    greatest: Vec<f32>,
    headroom: u8,
}

impl ValueSizes {
    /// The greatest absolute value of an element, for each layer.
    #[must_use]
    pub fn greatest(&self) -> &[f32] {
        &self.greatest
    }

    /// The number of bits to leave free above the sizes.
    #[must_use]
    pub fn headroom(&self) -> u8 {
        self.headroom
    }

    /// The same sizes, if there is one for each layer of `network`.
    ///
    /// # Errors
    /// There are more or fewer sizes than layers, so that they belong to another network.
    pub fn of(self, network: &Network) -> Result<Self, Fault> {
        if self.greatest.len() == network.layers.len() {
            return Ok(self);
        }
        let shapes = (self.greatest.len().to_string(), network.layers.len().to_string());
        Err(shape(shapes, "take the sizes of this network's values").at("sizes of values"))
    }
}

impl std::fmt::Display for ValueSizes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.headroom)?;
        self.greatest.iter().try_for_each(|size| write!(f, ",{size}"))
    }
}

impl std::str::FromStr for ValueSizes {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut numbers = text.split(',');
        let headroom = numbers.next().and_then(|headroom| headroom.parse().ok()).filter(|bits| *bits < 16);
        let size = |text: &str| text.parse().ok().filter(|size: &f32| size.is_finite() && *size >= 0.0);
        match (headroom, numbers.map(size).collect()) {
            (Some(headroom), Some(greatest)) => Ok(ValueSizes { greatest, headroom }),
            _ => Err("they are no bits to leave free and no sizes behind these".to_owned()),
        }
    }
}

/// Sample inputs of a network, and the sizes of its values on them.
#[derive(Clone, Debug)]
pub struct Samples {
    /// The samples of each group. A sample has an array for every input of the network.
    groups: Vec<Vec<Vec<Array>>>,
    /// The greatest absolute value of each layer, on all samples.
    greatest: Vec<f32>,
    /// The same on the first group alone.
    plain: Vec<f32>,
    headroom: u8,
    made_up: bool,
    /// The results in floating point that are compared with those in fixed point, for each group;
    /// empty for a network that is not compared.
    results: Vec<Vec<SampleResult>>,
}

/// The number of a sample in its group, and the values of the judged network's outputs on it.
pub(crate) type SampleResult = (usize, Vec<Array>);

impl Samples {
    /// Given inputs, with an array for each input of the network. Any number of samples lie one
    /// after the other along the first axes.
    ///
    /// # Errors
    /// They do not have the network's shape, or an element is not finite.
    pub fn given(network: &Network, arrays: &(impl Inputs + ?Sized)) -> Result<Self, Fault> {
        let batches = batches(network, arrays.arrays(), "calibration inputs")?;
        Self::of(network, vec![batches], GIVEN_HEADROOM, false)
    }

    /// Made-up inputs: normally distributed with mean 0 and deviation 1, or uniform over a range.
    ///
    /// # Errors
    /// The network's values on them are not finite.
    pub fn made_up(network: &Network, range: Option<SampleRange>) -> Result<Self, Fault> {
        // Integers of few bits cover their type's whole range, unless they name rows of weights.
        let names_rows =
            network.layers.iter().any(|layer| matches!(layer.kind, Kind::Lookup(_) | Kind::OneHot(_)));
        let sample = |seed: u64| {
            let input = |(k, (_, at)): (usize, &(String, usize))| {
                let (layer, seed) = (&network.layers[*at], seed + 1000 * k as u64);
                let (whole, of_type) = match layer.kind {
                    Kind::Input(Input { whole, range }) => (whole, range.filter(|_| !names_rows)),
                    _ => (false, None),
                };
                let of_type =
                    of_type.map(|[low, high]| SampleRange { low: low as f32, high: high as f32 + 1.0 });
                let mut input = match range.or(of_type).or(whole.then_some(WHOLE)) {
                    Some(range) => uniform(&layer.lengths, seed, range),
                    None => zoo::sample(&layer.lengths, seed),
                };
                if whole {
                    input.data.iter_mut().for_each(|x| *x = x.floor());
                }
                input
            };
            network.inputs.iter().enumerate().map(input).collect::<Vec<Array>>()
        };
        let count = if network.work() > LARGE { MADE_UP_FOR_LARGE } else { MADE_UP };
        let mut groups: Vec<Vec<Vec<Array>>> = vec![(0..count).map(sample).collect()];
        if let Some(columns) = columns(network) {
            // Without a range, inputs with small weights are larger; within a range, inputs with
            // large weights are smaller.
            let least = columns.iter().copied().fold(f32::INFINITY, f32::min);
            let most = columns.iter().copied().fold(0.0, f32::max);
            let factor = if range.is_some() { least } else { most };
            let whole = takes_integers(network, network.inputs[0].1);
            let balanced = |seed| {
                let mut input = sample(seed);
                for (x, column) in input[0].data.iter_mut().zip(columns.iter().cycle()) {
                    *x *= factor / column;
                    *x = if whole { x.round() } else { *x };
                }
                input
            };
            groups.push((MADE_UP..MADE_UP + BALANCED).map(balanced).collect());
        } else if let Some(bounds) = bounds(network) {
            let between = |seed| {
                let (mut input, mut random) = (sample(seed), Random::new(seed));
                for (x, bounds) in input[0].data.iter_mut().zip(bounds.iter().cycle()) {
                    let least = bounds.iter().copied().fold(f32::INFINITY, f32::min);
                    let most = bounds.iter().copied().fold(f32::NEG_INFINITY, f32::max);
                    if least <= most {
                        let range = (most - least).max(most.abs() / 16.0);
                        // Bounds may be on a grid. A distance of a whole fraction of the range
                        // would come near another bound.
                        let distance = range * (1.0 + random.unit()) / (4 << random.below(HALVES)) as f32;
                        let distance = if random.below(2) == 0 { distance } else { -distance };
                        *x = bounds[random.below(bounds.len())] + distance;
                    }
                }
                input
            };
            groups.push((MADE_UP..MADE_UP + COMPARED).map(between).collect());
        }
        Self::of(network, groups, MADE_UP_HEADROOM, true)
    }

    fn of(
        network: &Network,
        groups: Vec<Vec<Vec<Array>>>,
        headroom: u8,
        made_up: bool,
    ) -> Result<Self, Fault> {
        // The judged network has the same layers, of which others may be outputs.
        let (judged, _) = network.judged();
        let (mut greatest, mut plain) = (vec![0f32; network.layers.len()], vec![]);
        let mut results = vec![];
        for (k, group) in groups.iter().enumerate() {
            let (step, mut of_group) = (judged_step(&judged, group.len()), vec![]);
            for (i, input) in group.iter().enumerate() {
                let floats = Floats::new(&judged, input, false)?;
                let fits = |at: &usize| floats.greatest()[*at] <= ROOM;
                let outputs_fit = judged.outputs.iter().all(|(_, at)| fits(at));
                if outputs_fit && !(0..judged.layers.len()).all(|at| fits(&at)) {
                    let limited = Floats::limited(&judged, input, false, LIMITED)?;
                    raise(&mut greatest, limited.greatest());
                } else {
                    raise(&mut greatest, floats.greatest());
                }
                if step.is_some_and(|step| i.is_multiple_of(step)) {
                    of_group.push((i, judged.results(&floats)));
                }
            }
            results.push(of_group);
            if k == 0 {
                plain.clone_from(&greatest);
            }
        }
        Ok(Samples { groups, greatest, plain, headroom, made_up, results })
    }

    /// The greatest sizes of all layers' values. The second group is ignored if its sizes leave
    /// numbers no room.
    #[must_use]
    pub fn greatest(&self, network: &Network, secure: &Secure) -> &[f32] {
        let fits = self.groups.len() < 2 || secure.scales(network, &self.greatest, self.headroom).is_ok();
        if fits { &self.greatest } else { &self.plain }
    }

    /// The sizes from which scales come, and the bits that are left free.
    #[must_use]
    pub fn sizes(&self, network: &Network, secure: &Secure) -> ValueSizes {
        ValueSizes { greatest: self.greatest(network, secure).to_vec(), headroom: self.headroom }
    }

    /// The first input's arrays.
    #[must_use]
    pub fn first(&self) -> &[Array] {
        &self.groups[0][0]
    }

    /// The number of bits to leave free above the sizes.
    #[must_use]
    pub fn headroom(&self) -> u8 {
        self.headroom
    }

    /// Whether the inputs are made up.
    #[must_use]
    pub fn are_made_up(&self) -> bool {
        self.made_up
    }

    /// The inputs of each group that are judged together, with the results on them in floating
    /// point.
    pub(crate) fn judged(&self) -> impl Iterator<Item = impl Iterator<Item = (&[Array], &[Array])>> {
        self.groups
            .iter()
            .zip(&self.results)
            .map(|(group, results)| results.iter().map(|(i, result)| (&group[*i][..], &result[..])))
    }
}

/// Raises each of `greatest` to the value at its place, if that is greater.
fn raise(greatest: &mut [f32], values: &[f32]) {
    greatest.iter_mut().zip(values).for_each(|(most, value)| *most = most.max(*value));
}

/// Splits inputs, which follow one another along the arrays' first axes, into batches of the
/// network's size; `what` describes them in errors.
///
/// # Errors
/// The number of arrays or the shape of one is not the network's, or an array is empty.
pub(crate) fn batches(network: &Network, arrays: &[Array], what: &str) -> Result<Vec<Vec<Array>>, Fault> {
    crate::float::check_count(network, arrays)?;
    let mut columns: Vec<Vec<Array>> = vec![];
    for (array, (name, at)) in arrays.iter().zip(&network.inputs) {
        let lengths = &network.layers[*at].lengths;
        let alike = array.lengths.get(1..) == lengths.get(1..) && array.lengths.len() == lengths.len();
        if !alike || array.data.is_empty() {
            let shapes = (format!("{:?}", array.lengths), format!("{lengths:?}"));
            let remedy = "bring any number of inputs of that shape";
            let place = match network.inputs.len() {
                1 => what.to_owned(),
                _ => format!("{what} {}", shown(name)),
            };
            return Err(shape(shapes, remedy).at(place));
        }
        // Takes as many inputs at once as the network does; repeats the first ones if the last
        // batch is short.
        let whole: usize = lengths.iter().product();
        let parts = array.data.chunks(whole).map(|part| {
            let data = part.iter().chain(array.data.iter().cycle()).take(whole).copied().collect();
            Array::new(lengths, data)
        });
        columns.push(parts.collect());
    }
    // An input that is given once is used with all others.
    let count = columns.iter().map(Vec::len).max().unwrap_or(0);
    let batch = |k: usize| columns.iter().map(|column| column[k % column.len()].clone()).collect();
    Ok((0..count).map(batch).collect())
}

/// Independent numbers from a range, uniformly distributed.
fn uniform(lengths: &[usize], seed: u64, SampleRange { low, high }: SampleRange) -> Array {
    let mut random = Random::new(seed);
    let data = (0..lengths.iter().product()).map(|_| low + (high - low) * random.unit());
    Array::new(lengths, data.collect())
}

/// Whether a layer is an input of integers.
fn takes_integers(network: &Network, layer: usize) -> bool {
    matches!(network.layers[layer].kind, Kind::Input(Input { whole: true, .. }))
}

/// The greatest weight for each element of one input, if these differ by more than [`DIFFER`], and
/// the input's type does not set its range. Elements that the network does not use count like those
/// with the greatest weights.
fn columns(network: &Network) -> Option<Vec<f32>> {
    let [(_, input)] = network.inputs[..] else { return None };
    if let Kind::Input(Input { range: Some(_), .. }) = network.layers[input].kind {
        return None;
    }
    let (mut at, readers) = (input, network.readers());
    let whole: usize = network.input_lengths().get(1..)?.iter().product();
    let mut columns = loop {
        // The only layer that reads the input.
        if readers[at] != 1 {
            return None;
        }
        let next = (at + 1..network.layers.len()).find(|next| network.layers[*next].reads.contains(&at))?;
        let lengths = &network.layers[at].lengths;
        match &network.layers[next].kind {
            Kind::Reshape(_) | Kind::Add(Add { weights: Some(_) }) => at = next,
            Kind::Dense(Dense { weights, .. }) => {
                let rows = weights.data.chunks(weights.lengths[1].max(1));
                break rows.map(greatest).collect::<Vec<_>>();
            }
            Kind::Affine(Affine { scale, .. }) => break spread(scale, lengths),
            Kind::Conv(conv) => {
                let [outputs, inner, height, width] = conv.weights.lengths[..] else { return None };
                let mut channels = vec![0f32; inner * conv.groups];
                for (i, filter) in conv.weights.data.chunks(height * width).enumerate() {
                    let group = i / inner / (outputs / conv.groups);
                    let channel = &mut channels[group * inner + i % inner];
                    *channel = channel.max(greatest(filter));
                }
                break spread(&channels, lengths);
            }
            _ => return None,
        }
    };
    let most = greatest(&columns);
    columns.iter_mut().filter(|x| **x < most / UNUSED).for_each(|x| *x = most);
    let least = columns.iter().copied().fold(f32::INFINITY, f32::min);
    (most > 0.0 && most / least > DIFFER && whole.is_multiple_of(columns.len())).then_some(columns)
}

/// The bounds with which trees compare each element of a row of one input, if trees compare any.
fn bounds(network: &Network) -> Option<Vec<Vec<f32>>> {
    let [(_, input)] = network.inputs[..] else { return None };
    if takes_integers(network, input) {
        return None;
    }
    let width = *network.input_lengths().last()?;
    // For each layer, the columns of the input that its rows hold.
    let mut columns: Vec<Option<Vec<usize>>> = vec![None; network.layers.len()];
    let mut all: Vec<Vec<f32>> = vec![vec![]; width];
    for (at, layer) in network.layers.iter().enumerate() {
        let before = layer.reads.first().and_then(|read| columns[*read].clone());
        let last = layer.lengths.len().wrapping_sub(1);
        columns[at] = match (&layer.kind, before) {
            (Kind::Input(_), _) if at == input => Some((0..width).collect()),
            (Kind::Reshape(_), Some(of)) => Some(of).filter(|of| layer.lengths.last() == Some(&of.len())),
            (Kind::Pick(pick), Some(of)) if pick.axis == last => {
                Some(pick.places.iter().map(|place| of[*place]).collect())
            }
            (Kind::Pick(_), of) => of,
            (Kind::Trees(trees), Some(of)) => {
                for (feature, bound) in trees.compared() {
                    all[of[feature]].push(bound);
                }
                None
            }
            _ => None,
        };
    }
    // The number in place of an infinite bound is far from all elements.
    let far = 1e6 * all.iter().flatten().map(|x| x.abs()).filter(|x| *x < 1e30).fold(0.0, f32::max);
    all.iter_mut().for_each(|bounds| bounds.retain(|x| x.abs() < far));
    all.iter().any(|bounds| !bounds.is_empty()).then_some(all)
}

fn greatest(of: &[f32]) -> f32 {
    of.iter().fold(0.0, |most, x| most.max(x.abs()))
}

/// Expands numbers of channels to each element of one image.
fn spread(channels: &[f32], lengths: &[usize]) -> Vec<f32> {
    let inner: usize = lengths[2..].iter().product();
    channels.iter().flat_map(|x| std::iter::repeat_n(x.abs(), inner)).collect()
}

impl Network {
    /// The lengths of the first input.
    #[must_use]
    pub fn input_lengths(&self) -> &[usize] {
        &self.layers[self.inputs[0].1].lengths
    }

    /// The greatest absolute value of each layer on all of `inputs`.
    ///
    /// # Errors
    /// The errors of [`Floats::new`].
    pub fn calibrated<'a, I: Inputs + ?Sized + 'a>(
        &self,
        inputs: impl IntoIterator<Item = &'a I>,
    ) -> Result<Vec<f32>, Fault> {
        let mut greatest = vec![0f32; self.layers.len()];
        for input in inputs {
            let floats = Floats::new(self, input, false)?;
            raise(&mut greatest, floats.greatest());
        }
        Ok(greatest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Wanted, distance::Judge, onnx::Attribute, onnx::Model, zoo::Writer};

    /// 1 / (1 + e^x) of a large x is 0, and a choice leaves out the logarithm of 0: values on the
    /// way may be infinite. An output may not.
    #[test]
    fn values_on_the_way_may_be_infinite() {
        let input = Array::new(&[1, 6], vec![-300.0, -60.0, -1.0, 0.0, 2.0, 300.0]);
        let chosen = |w: Writer, y: &str| {
            let model = Model::read(&w.finish(y).to_bytes()).expect("a model");
            let network = Network::new(model, None).expect("a network");
            let samples = Samples::given(&network, &input).expect("samples");
            Wanted::default().chosen(&network, &samples)
        };
        let mut w = Writer::new("logistic", 1, &[1, 6]);
        let (e, one) = (w.op("Exp", &["input"], &[]), w.weights(&[], vec![1.0]));
        let sum = w.op("Add", &[&e, &one], &[]);
        let y = w.op("Reciprocal", &[&sum], &[]);
        let choice = chosen(w, &y).expect("numbers");
        assert!(choice.finding.is_none() && choice.numbers.bits <= 40, "{choice:?}");
        let mut w = Writer::new("choice", 1, &[1, 6]);
        let (log, half) = (w.op("Log", &["input"], &[]), w.weights(&[], vec![0.5]));
        let above = w.op("Greater", &["input", &half], &[]);
        let y = w.op("Where", &[&above, &log, &half], &[]);
        let choice = chosen(w, &y).expect("numbers");
        assert!(choice.finding.is_none() && choice.numbers.bits <= 40, "{choice:?}");
        let mut w = Writer::new("exp", 1, &[1, 6]);
        let y = w.op("Exp", &["input"], &[]);
        let e = chosen(w, &y).expect_err("an output is infinite");
        assert_eq!(e.code(), hushwire_fault::code::LAYER_NOT_FINITE);
    }

    /// Stumps that compare elements of about 0.05 with bounds a thousandth apart.
    fn stumps() -> Network {
        const TREES: usize = 24;
        let ints = |each: [i64; 3]| Attribute::Ints(each.repeat(TREES));
        let trees = (0..TREES as i64).flat_map(|tree| [tree; 3]).collect();
        let features = (0..TREES as i64).flat_map(|tree| [tree % 4, 0, 0]).collect();
        let bounds = (0..TREES).flat_map(|tree| [0.05 + 0.001 * (tree as f32 - 12.0), 0.0, 0.0]).collect();
        let modes = ["BRANCH_LEQ", "LEAF", "LEAF"].repeat(TREES).into_iter().map(str::to_owned).collect();
        let leaves = (0..TREES as i64).flat_map(|tree| [tree; 2]).collect();
        let attributes = [
            ("nodes_treeids", Attribute::Ints(trees)),
            ("nodes_nodeids", ints([0, 1, 2])),
            ("nodes_featureids", Attribute::Ints(features)),
            ("nodes_truenodeids", ints([1, 0, 0])),
            ("nodes_falsenodeids", ints([2, 0, 0])),
            ("nodes_values", Attribute::Floats(bounds)),
            ("nodes_modes", Attribute::Texts(modes)),
            ("target_treeids", Attribute::Ints(leaves)),
            ("target_nodeids", Attribute::Ints([1, 2].repeat(TREES))),
            ("target_ids", Attribute::Ints(vec![0; 2 * TREES])),
            ("target_weights", Attribute::Floats([-1.0, 1.0].repeat(TREES))),
            ("n_targets", Attribute::Int(1)),
        ];
        let mut w = Writer::new("stumps", 1, &[8, 4]);
        let y = w.op("TreeEnsembleRegressor", &["input"], &attributes);
        let mut model = w.finish(&y);
        model.ml = 3;
        model.graph.nodes.iter_mut().for_each(|node| node.domain = "ai.onnx.ml".into());
        Network::new(Model::read(&model.to_bytes()).expect("it was written"), Some(&[8, 4]))
            .expect("it is a network")
    }

    /// The second group has integers for an input of integers, too. There is none if the type has
    /// few bits, since the first group covers its range.
    #[test]
    fn inputs_of_integers_are_balanced_by_integers() {
        let mut w = Writer::new("columns", 1, &[2, 2]);
        let x = w.op("Cast", &["input"], &[("to", Attribute::Int(1))]);
        let weights = w.weights(&[2, 1], vec![1.0, 0.003]);
        let y = w.op("Gemm", &[&x, &weights], &[]);
        let model = w.finish(&y);
        for (kind, groups) in [(7, 2), (2, 1), (1, 2)] {
            let mut model = model.clone();
            model.graph.kinds.insert("input".into(), kind);
            let network = Network::new(model, Some(&[2, 2])).expect("it is a network");
            let samples = Samples::made_up(&network, None).unwrap_or_else(|e| panic!("{kind}: {e}"));
            assert_eq!(samples.groups.len(), groups, "{kind}");
            let mut numbers = samples.groups.iter().flatten().flatten().flat_map(|array| &array.data);
            assert_eq!(numbers.all(|x| x.fract() == 0.0), kind != 1, "{kind}");
        }
    }

    /// Sizes are the same when they are read from their text, to the last bit. The sizes of another
    /// network are refused.
    #[test]
    fn sizes_survive_as_text() {
        let network = stumps();
        let samples = Samples::made_up(&network, None).expect("samples");
        let secure = Secure::new(&network, Wanted::default().usual(), &crate::Members::default());
        let secure = secure.expect("a computation");
        let sizes = samples.sizes(&network, &secure);
        let same: ValueSizes = sizes.to_string().parse().expect("sizes");
        assert!(same == sizes && sizes.greatest() == samples.greatest(&network, &secure));
        assert_eq!(sizes.headroom(), MADE_UP_HEADROOM);
        assert!(same.clone().of(&network).is_ok());
        for odd in ["", "3,", "x,1", "3,-1", "3,NaN", "3,inf", "99,1", "-1,1"] {
            assert!(odd.parse::<ValueSizes>().is_err(), "{odd}");
        }
        let other: ValueSizes = format!("{same},1").parse().expect("sizes");
        let error = other.of(&network).err().map(|e| e.to_string()).unwrap_or_default();
        assert!(error.contains("take the sizes of this network's values"), "{error}");
    }

    /// The results that are kept with the sizes equal the results of separate evaluations.
    #[test]
    fn results_are_kept_of_the_inputs_that_are_judged() {
        let network = stumps();
        let samples = Samples::made_up(&network, None).expect("samples");
        let groups: Vec<Vec<&[Array]>> =
            samples.groups.iter().map(|group| group.iter().map(Vec::as_slice).collect()).collect();
        let kept = Judge::new(&network, &samples).expect("values").expect("small");
        let anew = Judge::of(&network, &samples, groups).expect("values").expect("small");
        assert!(kept.inputs().eq(anew.inputs()) && kept.inputs().count() > 4);
        let numbers = Wanted::default().usual();
        let distance = |judge: &Judge<'_>| judge.distance(numbers).expect("it has room");
        assert_eq!(distance(&kept), distance(&anew));
        let greatest = network.calibrated(samples.groups.iter().flatten()).expect("sizes");
        assert_eq!(greatest, samples.greatest);
    }

    /// Normally distributed inputs alone would take the usual numbers, in which bounds a thousandth
    /// apart are one.
    #[test]
    fn bounds_of_trees_give_fractional_bits() {
        let network = stumps();
        let samples = Samples::made_up(&network, None).expect("samples");
        let chosen = Wanted::default().chosen(&network, &samples).expect("a choice");
        assert!(chosen.finding.is_none() && chosen.numbers.frac > 10, "{chosen:?}");
        let rows = [uniform(&[8, 4], 5, SampleRange { low: 0.035, high: 0.065 })];
        let judge = Judge::of(&network, &samples, vec![vec![&rows[..]]]).expect("values").expect("small");
        assert!(judge.distance(chosen.numbers).expect("it has room").is_near(), "{chosen:?}");
        let usual = Wanted::default().usual();
        assert!(!judge.distance(usual).expect("it has room").is_near(), "the usual numbers would not do");
    }
}
