//! Chooses the ring of a network, and warns if a given ring does not suit it.
//!
//! ```text
//! Wanted     bits, fractional bits, cut: each a number, or to be chosen
//!    │ chosen: the smallest ring whose results on sample inputs are near those in floating point
//!    ▼
//! Choice     the numbers, their distance, and a finding where that is too far: layer, cause,
//!            remedy
//! ```

use crate::{
    Array, Fault, Floats, Inputs, Members, Network, NetworkReport, Numbers, Secure,
    distance::{Distance, Judge},
    numbers::{WideLayers, WideRing},
    report::LayerReport,
    samples::Samples,
};
use std::fmt;

/// The rings to choose from. There are few, since the choice reveals something about the weights.
const RINGS: [u8; 5] = [32, 40, 48, 56, 64];
/// The numbers that are tried before these for a quantized network: its sums are rounded to whole
/// numbers of 8 bits, which need no fractional bits.
const NARROW: [Numbers; 2] =
    [Numbers { bits: 24, frac: 8, cut: 11, wide: None }, Numbers { bits: 28, frac: 10, cut: 14, wide: None }];
/// The bits that a quantized network's values leave free above those of the samples.
const NARROW_ROOM: f32 = 1.0;
/// LOCAL: the rings for a network whose evaluation takes long.
const FEW_RINGS: [u8; 3] = [32, 48, 64];
/// The narrower ring of a network whose layers differ, and the wider ones with their fractional
/// bits. Layers of up to 48 bits run under encryption between two parties; 64 bits hold all else.
const NARROWER: u8 = 32;
const WIDER: [(u8, u8); 2] = [(48, 12), (64, 16)];
/// The largest number of fractional bits, tried in the last ring if the usual ones do not suffice.
const MOST_FRAC: u8 = 28;
/// Fewer fractional bits than usual, tried in the last ring if values have no room.
const FEWER_FRAC: [u8; 3] = [16, 12, 8];
/// The bits that values leave free above those of the samples, if another ring leaves more.
const ROOM: f32 = 1.0;
/// The error, as a part of the output's range, that rounding the inputs alone may cause.
const INPUTS_PART: f64 = 0.005;
/// Rounding changes a number of fewer steps than this by more than about a hundredth.
const FEW_STEPS: f64 = 64.0;

/// The numbers that are asked for; a `None` is chosen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wanted {
    /// The width of every value, in bits.
    pub bits: Option<u8>,
    /// The number of fractional bits of inputs and outputs.
    pub frac: Option<u8>,
    /// The number of bits that are cut after each layer with weights.
    pub cut: Option<u8>,
}

/// The reason why results are off, and a remedy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The layer's name.
    pub layer: String,
    /// The fault, as a clause.
    pub cause: String,
    /// The remedy, as a clause.
    pub remedy: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "layer {}: {}; {}", self.layer, self.cause, self.remedy)
    }
}

/// The numbers of a network, and how close they come to floating point.
#[derive(Clone, Debug, PartialEq)]
pub struct Choice {
    /// The ring and its numbers.
    pub numbers: Numbers,
    /// The distance of results on the sample inputs. `None` if the network is too large to be
    /// evaluated before a run, or if the numbers leave its values no room.
    pub distance: Option<Distance>,
    /// The fault, if results are not near.
    pub finding: Option<Finding>,
}

impl Wanted {
    /// The numbers in a ring, with at least `least_frac` fractional bits unless they are given.
    #[must_use]
    pub fn within(&self, bits: u8, least_frac: u8) -> Numbers {
        let frac = self.frac.unwrap_or(Numbers::of(bits).frac.max(least_frac));
        let usual = Numbers::with_frac(bits, frac);
        Numbers { cut: self.cut.unwrap_or(usual.cut), ..usual }
    }

    /// The numbers before anything is known about a network: in the given ring, or in the smallest
    /// one.
    #[must_use]
    pub fn usual(&self) -> Numbers {
        self.bits.map_or_else(
            || {
                let rings = RINGS.map(|bits| self.within(bits, 0));
                *rings.iter().find(|numbers| numbers.check().is_ok()).unwrap_or(&rings[0])
            },
            |bits| self.within(bits, 0),
        )
    }

    /// The numbers of a network: the given ones, or the smallest ring in which its results on the
    /// sample inputs are near those in floating point. They follow from the network, the samples
    /// and the request alone, on every machine.
    ///
    /// # Errors
    /// No ring accepts the given numbers, or none has room for the network's values.
    pub fn chosen(&self, network: &Network, samples: &Samples) -> Result<Choice, Fault> {
        let usual = self.usual();
        usual.check()?;
        let Some(judge) = Judge::new(network, samples)? else {
            return Ok(Choice { numbers: usual, distance: None, finding: None });
        };
        if *self == Wanted::default() && network.is_quantized() {
            for numbers in NARROW {
                let distance = judge.distance(numbers);
                if let Ok(distance) = distance
                    && distance.is_near()
                    && judge.room(numbers)? >= NARROW_ROOM
                {
                    return Ok(Choice { numbers, distance: Some(distance), finding: None });
                }
            }
        }
        let first = judge.distance(usual);
        if first.as_ref().is_ok_and(Distance::is_near) {
            return Ok(Choice { numbers: usual, distance: first.ok(), finding: None });
        }
        let rest = self.rings(&judge, usual)?;
        let mut rest = self.with_mixed(&judge.network, rest)?;
        if judge.is_slow() {
            rest.retain(|numbers| numbers.wide.is_none_or(|wide| wide.layers == WideLayers::Known));
        }
        if self.bits.is_some() {
            let mends = rest.into_iter().find(|numbers| judge.distance(*numbers).is_ok_and(|d| d.is_near()));
            let first = first.ok();
            let finding = Some(finding(&judge, usual, first, mends));
            return Ok(Choice { numbers: usual, distance: first, finding });
        }
        let mut best = first.map(|distance| (usual, distance));
        let mut tight = None;
        for numbers in rest {
            let found = judge.distance(numbers).map(|distance| (numbers, distance));
            let Ok((_, distance)) = &found else { continue };
            if distance.is_near() {
                let choice = Choice { numbers, distance: Some(*distance), finding: None };
                if judge.is_slow() || judge.room(numbers)? >= ROOM {
                    return Ok(choice);
                }
                tight.get_or_insert(choice);
                continue;
            }
            // Results that are off because fractional bits are missing are no better than an error.
            let is_coarse = numbers.frac < Numbers::of(numbers.bits).frac;
            if is_coarse || best.as_ref().is_ok_and(|(_, other)| other.part() <= distance.part()) {
                continue;
            }
            best = found;
        }
        if let Some(choice) = tight {
            return Ok(choice);
        }
        let (numbers, distance) = best?;
        let finding = Some(finding(&judge, numbers, Some(distance), None));
        Ok(Choice { numbers, distance: Some(distance), finding })
    }

    /// The networks of two rings that `auto` tries where 32 bits are not enough, fewer wide layers
    /// first. Empty if numbers are given, or if moves between rings cost more than they save.
    ///
    /// # Errors
    /// A layer does not support its value's shape.
    pub fn mixed(&self, network: &Network) -> Result<Vec<Secure>, Fault> {
        if *self != Wanted::default() || network.is_quantized() {
            return Ok(vec![]);
        }
        let of = |numbers| Secure::new(network, numbers, &Members::default());
        let mut mixed: Vec<Secure> = vec![];
        for (bits, frac) in WIDER {
            let most = of(Numbers::of(bits))?.price();
            for layers in WideLayers::ALL {
                let secure = of(Numbers::mixed(NARROWER, frac, WideRing { bits, layers }))?;
                let is_new = mixed.iter().all(|other| other.widths() != secure.widths());
                if secure.is_mixed() && secure.price() < most && is_new {
                    mixed.push(secure);
                }
            }
        }
        Ok(mixed)
    }

    /// The same rings, and pairs of rings where they cost less than the rings that come after them.
    pub(crate) fn with_mixed(
        &self,
        network: &Network,
        mut rings: Vec<Numbers>,
    ) -> Result<Vec<Numbers>, Fault> {
        for secure in self.mixed(network)? {
            let is_less = |numbers: &Numbers| {
                let other = Secure::new(network, *numbers, &Members::default());
                other.is_ok_and(|other| other.price() <= secure.price())
            };
            let at = rings.iter().position(|numbers| !is_less(numbers)).unwrap_or(rings.len());
            rings.insert(at, secure.numbers());
        }
        Ok(rings)
    }

    /// The rings to try after the first one, in order of size, with enough fractional bits for the
    /// inputs.
    fn rings(&self, judge: &Judge<'_>, first: Numbers) -> Result<Vec<Numbers>, Fault> {
        let mut frac = first.frac;
        // Rounding the inputs may use half of the allowed error.
        while self.frac.is_none() && frac < MOST_FRAC && judge.of_rounded(frac)?.part() > INPUTS_PART {
            frac = (frac + 3).min(MOST_FRAC);
        }
        let rings: &[u8] = if judge.is_slow() { &FEW_RINGS } else { &RINGS };
        let free = Wanted { bits: None, ..*self };
        let mut all: Vec<Numbers> = rings.iter().map(|bits| free.within(*bits, frac)).collect();
        all.push(free.within(64, MOST_FRAC));
        // These fractional bits may leave values no room, or be more than are needed.
        all.extend(rings.iter().map(|bits| free.within(*bits, 0)));
        // Values of millions, such as prices, have no room beside the usual fractional bits.
        if self.frac.is_none() {
            let cut = |numbers: Numbers| Numbers { cut: self.cut.unwrap_or(numbers.cut), ..numbers };
            all.extend(FEWER_FRAC.map(|frac| cut(Numbers::with_frac(64, frac))));
        }
        let mut seen = vec![first];
        all.retain(|numbers| {
            let is_new = !seen.contains(numbers) && numbers.check().is_ok();
            seen.push(*numbers);
            is_new
        });
        Ok(all)
    }
}

/// The fault if results are not near in a ring, and the numbers that mend it, if there are any.
fn finding(
    judge: &Judge<'_>,
    numbers: Numbers,
    distance: Option<Distance>,
    mends: Option<Numbers>,
) -> Finding {
    let (layer, cause) = fault(judge, numbers);
    let cause = cause + &distance.map_or(String::new(), off);
    let like = "inputs like the client's (--calibrate FILE)";
    let remedy = match mends {
        Some(Numbers { bits, frac, .. }) => {
            let usual = Numbers::of(bits).frac;
            let frac = if frac == usual { String::new() } else { format!(" --frac {frac}") };
            let real = if judge.samples.are_made_up() { format!(", and scales from {like}") } else { String::new() };
            format!("take --bits {bits}{frac}, or --bits auto{real}")
        }
        None if judge.samples.are_made_up() => {
            format!("take --bits auto and scales from {like}, or give the inputs' range (--range LOW,HIGH)")
        }
        None => "no --bits mends it with these inputs (--calibrate): train the network on inputs and values of about 1".into(),
    };
    Finding { layer, cause, remedy }
}

/// A number with three digits.
fn short(x: f32) -> String {
    let rounded = format!("{x:.2e}").parse().unwrap_or(x);
    if (1e-3..1e6).contains(&rounded.abs()) || rounded == 0.0 {
        format!("{rounded}")
    } else {
        format!("{rounded:e}")
    }
}

/// How far the output is off, in words.
fn off(distance: Distance) -> String {
    let Distance { error, range, classes, differ } = distance;
    if differ > 0 {
        return format!(", so that {differ} of {classes} classes are others");
    }
    format!(", so that the output is off by up to {} where its range is {}", short(error), short(range))
}

/// The layer at which results become wrong, and the cause.
fn fault(judge: &Judge<'_>, numbers: Numbers) -> (String, String) {
    let mut worst: Option<(f32, (String, String))> = None;
    for input in judge.inputs() {
        match faulty(judge, numbers, input) {
            Ok((part, told)) if worst.as_ref().is_none_or(|(other, _)| part > *other) => {
                worst = Some((part, told));
            }
            Ok(_) => {}
            Err(e) => return (e.field("layer").unwrap_or_else(|| e.step()), e.cause()),
        }
        if judge.is_slow() {
            break;
        }
    }
    worst.map_or_else(|| ("the output".to_owned(), "it is off".to_owned()), |(_, told)| told)
}

/// The error of the output as a part of its greatest element, and the layer at which results of one
/// input become wrong, with the cause.
fn faulty(judge: &Judge<'_>, numbers: Numbers, input: &[Array]) -> Result<(f32, (String, String)), Fault> {
    let network = &judge.network;
    let secure = Secure::new(network, numbers, &Members::default())?;
    let greatest = judge.samples.greatest(network, &secure);
    let report = NetworkReport::new(network, numbers, greatest, judge.samples.headroom(), input)?;
    let part = |layer: &LayerReport| layer.error / layer.greatest.max(f32::MIN_POSITIVE);
    let parts: Vec<f32> = report.layers.iter().map(part).collect();
    let goes_off = |at: &usize| {
        let before = network.layers[*at].reads.iter().map(|read| parts[*read]).fold(0.0, f32::max);
        parts[*at] > 0.005 && parts[*at] > 3.0 * before
    };
    let most = |best: usize, at: usize| if parts[at] > parts[best] { at } else { best };
    let at = (0..parts.len()).find(goes_off).unwrap_or_else(|| (0..parts.len()).fold(0, most));
    let (layer, output) = (&report.layers[at], parts[network.outputs[0].1]);
    let wrapped = report.layers[..=at].iter().find(|layer| layer.room <= 0.0);
    if let Some(layer) = wrapped {
        let cause = format!("its values are {:.1} bits too large and wrap", -layer.room);
        return Ok((output, (layer.name.clone(), cause)));
    }
    let least = secure.least_weight(network, greatest, judge.samples.headroom(), at)?;
    let cause = match least.filter(|(_, steps)| *steps < FEW_STEPS) {
        Some((weight, steps)) => {
            let bits = secure.widths()[at].bits;
            format!(
                "its weights of about {} are {steps:.2} steps of numbers of {bits} bits, and are rounded to whole ones",
                short(weight)
            )
        }
        None => match least_input(input, numbers).filter(|(_, steps)| *steps < FEW_STEPS) {
            Some((x, steps)) => {
                let frac = numbers.frac;
                format!(
                    "inputs of about {} are {steps:.2} steps of numbers with {frac} fractional bits, and are rounded to whole ones",
                    short(x)
                )
            }
            None => {
                format!(
                    "its values, of at most {}, are off by up to {}",
                    short(layer.greatest),
                    short(layer.error)
                )
            }
        },
    };
    Ok((output, (layer.name.clone(), cause)))
}

/// For the place along the samples' first axis whose elements are least: the greatest of these
/// elements, and its number of steps.
fn least_input(inputs: &[Array], numbers: Numbers) -> Option<(f32, f64)> {
    let input = inputs.first()?;
    let each = input.data.len() / input.lengths.first().copied().unwrap_or(1).max(1);
    let column = |k: usize| input.data.iter().skip(k).step_by(each).fold(0f32, |most, x| most.max(x.abs()));
    let least = (0..each).map(column).filter(|x| *x > 0.0).fold(f32::INFINITY, f32::min);
    least.is_finite().then(|| (least, f64::from(least) * 2f64.powi(numbers.frac.into())))
}

/// Checks whether a run's result is near the result in floating point. The process must have the
/// model, the input and the output.
///
/// # Errors
/// The network's values are not finite, or an array has another shape.
pub fn judged(
    network: &Network,
    numbers: Numbers,
    samples: &Samples,
    input: &(impl Inputs + ?Sized),
    found: &(impl Inputs + ?Sized),
) -> Result<Option<Finding>, Fault> {
    judged_by(network, numbers, samples, input, found, None)
}

/// As [`judged`], with the network's values on the input where they are known.
///
/// # Errors
/// As [`judged`].
pub fn judged_by(
    network: &Network,
    numbers: Numbers,
    samples: &Samples,
    input: &(impl Inputs + ?Sized),
    found: &(impl Inputs + ?Sized),
    floats: Option<&Floats>,
) -> Result<Option<Finding>, Fault> {
    let (input, found) = (input.arrays(), found.arrays());
    let distance = Distance::of_run(network, input, found, floats)?;
    if distance.is_near() {
        return Ok(None);
    }
    let Some(judge) = Judge::of(network, samples, vec![vec![input]])? else {
        let cause = format!("it is the output{}", off(distance));
        let remedy = "take more bits (--bits), or scales from inputs like these (--calibrate FILE)".into();
        return Ok(Some(Finding { layer: network.outputs[0].0.clone(), cause, remedy }));
    };
    let (layer, cause) = fault(&judge, numbers);
    let cause = cause + &off(distance);
    let free = Wanted::default();
    let near = |judge: &Judge<'_>, numbers: &Numbers| judge.distance(*numbers).is_ok_and(|d| d.is_near());
    let by_bits = free.rings(&judge, numbers)?.into_iter().find(|numbers| near(&judge, numbers));
    let remedy = match by_bits {
        Some(Numbers { bits, frac, .. }) if frac == Numbers::of(bits).frac => {
            format!("take --bits {bits}, or scales from inputs like these (--calibrate FILE)")
        }
        Some(Numbers { bits, frac, .. }) => {
            format!("take --bits {bits} --frac {frac}, or scales from inputs like these (--calibrate FILE)")
        }
        None => "take --bits auto and scales from inputs like these (--calibrate FILE)".into(),
    };
    Ok(Some(Finding { layer, cause, remedy }))
}
