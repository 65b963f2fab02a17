//! The distance between a network's results in fixed point and in floating point.

use crate::{
    Array, Fault, Floats, Kind, Network, Numbers, Secure,
    array::{lines, places, steps},
    numbers::Members,
    operators::{ScaleRole, Transpose},
    samples::Samples,
    secure::decode,
};
use hushwire_compute::evaluate;
use hushwire_fault::code;
use std::borrow::Cow;

/// The error that a near result may have, as a part of the output's range.
const NEAR: f64 = 0.01;
/// Two classes whose outputs differ by less than this part of the range count as equal.
const TIED: f64 = 0.001;
/// LOCAL: if all outputs are alike, the range counts as this part of the greatest output.
const ALIKE: f64 = 0.01;
/// LOCAL: above the first number of products fewer inputs are evaluated, above the second none.
const SOME: u64 = 1 << 28;
const NONE: u64 = 1 << 33;
/// LOCAL: the largest number of a group's inputs that are evaluated.
const INPUTS: usize = 16;
/// The number of products that take as long as one element of a function such as the sigmoid.
const FUNCTION: u64 = 1 << 12;

/// The distance between results in fixed point and in floating point.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Distance {
    /// The greatest error of an element.
    pub error: f32,
    /// The range of the output's elements in floating point.
    pub range: f32,
    /// The number of classes that were compared.
    pub classes: usize,
    /// The number of them that differ, except for ties.
    pub differ: usize,
}

impl Distance {
    /// Whether no element is off by more than 1 % of the range, and no class differs.
    #[must_use]
    pub fn is_near(&self) -> bool {
        self.part() <= NEAR && self.differ == 0
    }

    /// The greatest error as a part of the range.
    pub(crate) fn part(&self) -> f64 {
        f64::from(self.error) / f64::from(self.range).max(f64::MIN_POSITIVE)
    }

    /// The greater of two distances.
    fn further(self, other: Self) -> Self {
        let key = |of: &Self| (of.is_near(), of.part());
        let (a, b) = (key(&self), key(&other));
        if !a.0 && (b.0 || a.1 >= b.1) || (a.0 && b.0 && a.1 >= b.1) { self } else { other }
    }

    /// The distance of a run's results on inputs: the greatest of all outputs.
    pub(crate) fn of_run(
        network: &Network,
        inputs: &[Array],
        found: &[Array],
        floats: Option<&Floats>,
    ) -> Result<Self, Fault> {
        let (judged, axes) = network.judged();
        // The values behind places are no outputs.
        let floats = match floats.filter(|_| axes.iter().all(Option::is_none)) {
            Some(floats) => Cow::Borrowed(floats),
            None => Cow::Owned(Floats::new(&judged, inputs, false)?),
        };
        let mut all: Option<Distance> = None;
        for (k, found) in found.iter().enumerate().take(axes.len()) {
            let float = floats.value(judged.outputs[k].1);
            let of = match axes[k] {
                None => Self::between(std::iter::once((found, float)), None),
                Some(axis) => Self::of_places(network, k, found, float, axis),
            };
            all = Some(all.map_or(of, |other| other.further(of)));
        }
        Ok(all.unwrap_or_default())
    }

    /// The distance of places that a run found among values.
    fn of_places(network: &Network, k: usize, found: &Array, float: &Array, axis: usize) -> Self {
        // Instead of values among which places are found, a run outputs only the places.
        let (lines, order) = (classes(&float.lengths, Some(axis)), network.order_of_places(k));
        let names = network.names_of_places(k);
        let (low, high) = (float.data.iter())
            .fold((f32::INFINITY, f32::NEG_INFINITY), |(low, high), x| (low.min(*x), high.max(*x)));
        let range = (f64::from(high) - f64::from(low)).max(f64::from(float.greatest()) * ALIKE);
        let place = |x: f32| match &names {
            Some(names) => names.iter().position(|name| name.total_cmp(&x).is_eq()).unwrap_or(usize::MAX),
            None => x as usize,
        };
        let differs = |(x, line): (&f32, &usize)| {
            let line = &lines[*line];
            let best = line.iter().map(|at| float.data[*at]).fold(f32::NEG_INFINITY, f32::max);
            let own = line.get(place(*x)).map_or(f32::NEG_INFINITY, |at| float.data[*at]);
            f64::from(best) - f64::from(own) > TIED * range
        };
        let differ = found.data.iter().zip(&order).filter(|pair| differs(*pair)).count();
        Distance { error: 0.0, range: range as f32, classes: found.data.len(), differ }
    }

    /// The distance between an array in fixed point and one in floating point. Classes lie along
    /// `axis`; by default they are all elements of each sample along the first axis.
    pub(crate) fn between<'a>(
        pairs: impl Iterator<Item = (&'a Array, &'a Array)> + Clone,
        axis: Option<usize>,
    ) -> Self {
        let elements = pairs.clone().flat_map(|(fixed, float)| fixed.data.iter().zip(&float.data));
        let (mut error, mut low, mut high) = (0f32, f32::INFINITY, f32::NEG_INFINITY);
        for (x, y) in elements {
            (error, low, high) = (error.max((x - y).abs()), low.min(*y), high.max(*y));
        }
        let most = f64::from(low.abs().max(high.abs()));
        let range = (f64::from(high) - f64::from(low)).max(most * ALIKE);
        let mut distance = Distance { error, range: range as f32, ..Distance::default() };
        for (fixed, float) in pairs {
            for line in classes(&float.lengths, axis) {
                let best = |of: &Array| {
                    let better = |best: usize, at: usize| if of.data[at] > of.data[best] { at } else { best };
                    line.iter().copied().fold(line[0], better)
                };
                let (x, y) = (best(fixed), best(float));
                distance.classes += 1;
                distance.differ +=
                    usize::from(f64::from(float.data[y]) - f64::from(float.data[x]) > TIED * range);
            }
        }
        distance
    }
}

/// The places of the elements among which a sample's class is.
fn classes(lengths: &[usize], axis: Option<usize>) -> Vec<Vec<usize>> {
    let count: usize = lengths.iter().product();
    match axis {
        Some(axis) => {
            let (firsts, step) = lines(lengths, axis);
            firsts.iter().map(|first| (0..lengths[axis]).map(|i| first + i * step).collect()).collect()
        }
        None => {
            let each = count / lengths.first().copied().unwrap_or(1).max(1);
            let samples = if lengths.len() < 2 || each < 2 { 0 } else { count / each };
            (0..samples).map(|k| (k * each..(k + 1) * each).collect()).collect()
        }
    }
}

impl Network {
    /// The network whose results are compared. If the network itself ends in places of greatest
    /// values, these are the values, with their axis.
    pub(crate) fn judged(&self) -> (Network, Vec<Option<usize>>) {
        let mut judged = self.clone();
        let one = |(_, at): &mut (String, usize)| {
            let mut from = *at;
            loop {
                let layer = &self.layers[from];
                match layer.kind.def().role() {
                    ScaleRole::Places(axis) => {
                        *at = layer.reads[0];
                        return Some(axis);
                    }
                    ScaleRole::Moves => from = layer.reads[0],
                    _ => return None,
                }
            }
        };
        let axes = judged.outputs.iter_mut().map(one).collect();
        (judged, axes)
    }

    /// The names of the places of an output of places, if they have names.
    fn names_of_places(&self, k: usize) -> Option<Vec<f32>> {
        let mut at = self.outputs[k].1;
        loop {
            let layer = &self.layers[at];
            match layer.kind.def().role() {
                ScaleRole::Moves => match layer.kind.def().names() {
                    Some(names) => return Some(names),
                    None => at = layer.reads[0],
                },
                _ => return None,
            }
        }
    }

    /// For each element of an output of places, the line of values in which it is the place of the
    /// greatest.
    fn order_of_places(&self, k: usize) -> Vec<usize> {
        let (mut at, mut behind) = (self.outputs[k].1, vec![]);
        while !matches!(self.layers[at].kind.def().role(), ScaleRole::Places(_)) {
            behind.push(at);
            at = self.layers[at].reads[0];
        }
        let lengths = &self.layers[at].lengths;
        let mut order: Vec<usize> = (0..lengths.iter().product()).collect();
        let mut now = lengths.clone();
        for at in behind.iter().rev() {
            if let Kind::Transpose(Transpose { axes }) = &self.layers[*at].kind {
                let from = steps(&now);
                let steps: Vec<usize> = axes.iter().map(|axis| from[*axis]).collect();
                order = places(&self.layers[*at].lengths, &steps).map(|i| order[i]).collect();
            }
            now.clone_from(&self.layers[*at].lengths);
        }
        order
    }

    /// The values of all outputs.
    pub(crate) fn results(&self, floats: &Floats) -> Vec<Array> {
        self.outputs.iter().map(|(_, at)| floats.value(*at).clone()).collect()
    }

    /// The approximate number of products of an evaluation.
    pub(crate) fn work(&self) -> u64 {
        let function = |at: usize| match self.layers[at].kind.def().role() {
            ScaleRole::Function => self.layers[at].lengths.iter().product::<usize>() as u64 * FUNCTION,
            _ => 0,
        };
        (0..self.layers.len()).map(|at| self.products(at) + function(at)).sum()
    }
}

/// A sample input's arrays, with the results in floating point.
type Judged<'a> = (&'a [Array], Cow<'a, [Array]>);

/// The distance between two inputs of a group that are evaluated, from the first to the last, where
/// the group has `count`; `None` if the network is too large to be evaluated before a run.
pub(crate) fn judged_step(network: &Network, count: usize) -> Option<usize> {
    let work = network.work();
    let most = usize::try_from(SOME / work.max(1)).unwrap_or(INPUTS).clamp(1, INPUTS);
    (work <= NONE).then(|| count.div_ceil(most).max(1))
}

/// A network with sample inputs, and its results on them in floating point.
pub(crate) struct Judge<'a> {
    pub(crate) network: Network,
    axes: Vec<Option<usize>>,
    pub(crate) samples: &'a Samples,
    /// Groups of inputs with results.
    groups: Vec<Vec<Judged<'a>>>,
    work: u64,
}

impl<'a> Judge<'a> {
    /// `None` if the network is too large to be evaluated before a run.
    pub(crate) fn new(network: &Network, samples: &'a Samples) -> Result<Option<Self>, Fault> {
        let (network, axes) = network.judged();
        let work = network.work();
        if work > NONE {
            return Ok(None);
        }
        // The samples' sizes come from the same evaluations.
        let groups = samples.judged();
        let groups = groups.map(|group| group.map(|(input, result)| (input, result.into())).collect());
        Ok(Some(Judge { network, axes, samples, groups: groups.collect(), work }))
    }

    /// The same for other inputs than those from which scales come.
    pub(crate) fn of(
        network: &Network,
        samples: &'a Samples,
        inputs: Vec<Vec<&'a [Array]>>,
    ) -> Result<Option<Self>, Fault> {
        let (network, axes) = network.judged();
        let work = network.work();
        if work > NONE {
            return Ok(None);
        }
        let mut groups = vec![];
        for group in inputs {
            let step = judged_step(&network, group.len()).unwrap_or(1);
            let one = |input: &'a [Array]| {
                Ok((input, network.results(&Floats::new(&network, input, false)?).into()))
            };
            groups.push(group.into_iter().step_by(step).map(one).collect::<Result<Vec<_>, Fault>>()?);
        }
        Ok(Some(Judge { network, axes, samples, groups, work }))
    }

    /// Whether evaluations take so long that only a few are made.
    pub(crate) fn is_slow(&self) -> bool {
        self.work > SOME
    }

    /// The evaluated inputs of all groups.
    pub(crate) fn inputs(&self) -> impl Iterator<Item = &'a [Array]> {
        self.groups.iter().flatten().map(|(input, _)| *input)
    }

    /// The largest distance of any group of samples, in a ring.
    pub(crate) fn distance(&self, numbers: Numbers) -> Result<Distance, Fault> {
        let secure = Secure::new(&self.network, numbers, &Members::default())?;
        let greatest = self.samples.greatest(&self.network, &secure);
        let mut inputs = secure.weights(&self.network, greatest, self.samples.headroom())?;
        let names = self.network.output_names();
        self.of_all(|input| {
            inputs.extend(secure.inputs(&self.network, input)?);
            let outputs = evaluate(secure.computation(), &inputs)?;
            let one = |name: &String| {
                let missing = || {
                    let cause = "its computation has no output";
                    Fault::new(code::MODEL_FILE, "the network", cause, "report this as a bug")
                };
                outputs.get(name).map(decode).ok_or_else(missing)
            };
            names.iter().map(one).collect()
        })
    }

    /// The least number of bits above a value, on all samples.
    pub(crate) fn room(&self, numbers: Numbers) -> Result<f32, Fault> {
        let secure = Secure::new(&self.network, numbers, &Members::default())?;
        let greatest = self.samples.greatest(&self.network, &secure);
        let mut least = f32::INFINITY;
        for input in self.inputs() {
            let floats = Floats::new(&self.network, input, true)?;
            let rooms = secure.rooms(&self.network, greatest, self.samples.headroom(), &floats)?;
            least = rooms.into_iter().fold(least, f32::min);
        }
        Ok(least)
    }

    /// The distance if only inputs are rounded, to this many fractional bits.
    pub(crate) fn of_rounded(&self, frac: u8) -> Result<Distance, Fault> {
        let step = 2f64.powi(frac.into());
        self.of_all(|input| {
            let rounded = |x: &f32| ((f64::from(*x) * step).round() / step) as f32;
            let one = |of: &Array| Array::new(&of.lengths, of.data.iter().map(rounded).collect());
            let input: Vec<Array> = input.iter().map(one).collect();
            Ok(self.network.results(&Floats::new(&self.network, &input, false)?))
        })
    }

    fn of_all(
        &self,
        mut result: impl FnMut(&[Array]) -> Result<Vec<Array>, Fault>,
    ) -> Result<Distance, Fault> {
        let mut distance: Option<Distance> = None;
        for group in &self.groups {
            let fixed = group.iter().map(|(input, _)| result(input)).collect::<Result<Vec<_>, _>>()?;
            for (k, axis) in self.axes.iter().enumerate() {
                let pairs = fixed.iter().map(|all| &all[k]).zip(group.iter().map(|(_, float)| &float[k]));
                let of = Distance::between(pairs, *axis);
                distance = Some(distance.map_or(of, |other| other.further(of)));
            }
        }
        Ok(distance.unwrap_or_default())
    }
}
