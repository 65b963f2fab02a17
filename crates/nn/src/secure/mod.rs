//! A network as a computation, and its weights as the owner's inputs.
//!
//! ```text
//! a layer with weights     Σ w x + b      scale s' 2^cut, wide
//! rectifier, greatest      of the wide value: one comparison
//! cut                      the cut lowest bits go: scale s'
//! ```
//!
//! A layer with weights takes values of scale s to scale s' 2^cut: its weights are `w s' 2^cut / s`, rounded; its bias is
//! `b s' 2^cut`, and half of what one step of the cut value is, so that cutting rounds to the nearest. The wide value is cut where
//! the next layer with weights, or a sum, takes it: behind the rectifier, whose comparison then sees what it is asked for. A wide value that
//! only the client gets is never cut and has no half step, which behind a rectifier would turn 0 into a number below 0.
//!
//! Sums wrap modulo 2^bits where the network's values are larger than calibration saw by more than the headroom. Nothing tells in a run, where
//! nobody has both model and input: [`Secure::rooms`] and the report on sample inputs ([`Report`](crate::Report)) say how much room is left.

mod functions;
mod lower;
mod recipe;
mod rooms;

use crate::{
    Array, Kind, Layer, Network, NnError,
    scale::{Bound, Classes, Scales},
};
use functions::Normalization;
use hushwire_compute::{Computation, Scalar, Tensor};
use recipe::Recipe;
use std::collections::BTreeMap;

/// The ring and its numbers: what all members know of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Numbers {
    /// Bits of every value.
    pub bits: u8,
    /// Fractional bits of inputs, outputs, and operands of sigmoids and such.
    pub frac: u8,
    /// Bits that go behind each layer with weights.
    pub cut: u8,
}

impl Numbers {
    /// Numbers of so many bits, 16 to 64, divided as networks want them.
    #[must_use]
    pub fn of(bits: u8) -> Self {
        let frac = (bits / 3).clamp(4, 20);
        Numbers { bits, frac, cut: (bits.saturating_sub(6) / 2).min(24) }
    }

    /// The same with so many fractional bits: of the others as large a part is cut, so that fewer of them leave fewer to cut.
    #[must_use]
    pub fn with_frac(bits: u8, frac: u8) -> Self {
        let usual = Numbers::of(bits);
        let [others, before, cut] =
            [bits.saturating_sub(frac), bits.saturating_sub(usual.frac), usual.cut].map(u32::from);
        let cut = (others * cut / before.max(1)).clamp(1, 24) as u8;
        Numbers { bits, frac, cut }
    }

    /// The numbers of a network's computation.
    ///
    /// # Errors
    /// The computation is no network's, as one with several outputs.
    pub fn of_computation(computation: &Computation) -> Result<Self, NnError> {
        let (mut input, mut cut) = (None, None);
        for (name, ty) in computation.inputs() {
            match ty.scalar {
                Scalar::Fixed { bits, frac } if name == INPUT => input = Some((bits, frac)),
                Scalar::Fixed { frac, .. } if name.starts_with("weights") => cut = Some(frac),
                _ => {}
            }
        }
        let remedy = "write it with `hushwire model plan`";
        let (bits, frac) =
            input.ok_or_else(|| NnError::new("the network", "it has no fixed-point input", remedy))?;
        let names: Vec<&str> = computation.outputs().iter().map(|output| output.name.as_str()).collect();
        if names.len() != 1 {
            let cause = format!("it has {} outputs: {}", names.len(), names.join(", "));
            return Err(NnError::new("the network", cause, remedy));
        }
        let usual = Numbers::with_frac(bits, frac);
        let numbers = Numbers { cut: cut.unwrap_or(usual.cut), ..usual };
        numbers.check()?;
        Ok(numbers)
    }

    /// Looks whether the numbers are ones that networks can have.
    ///
    /// # Errors
    /// One of them is out of its bounds, which the error names.
    pub fn check(self) -> Result<(), NnError> {
        let Numbers { bits, frac, cut } = self;
        let within = |what: &str, option: &str, number: u8, least: u8, most: u8| {
            if (least..=most).contains(&number) {
                return Ok(());
            }
            let remedy = format!("take {least} to {most} ({option})");
            Err(NnError::new("the numbers", format!("{number} {what}"), remedy))
        };
        within("bits", "--bits", bits, 16, 64)?;
        let (of, most) = (format!("fractional bits of {bits}"), (bits - 8).min(32));
        within(&of, "--frac", frac, 4, most)?;
        // What is cut stands behind the fractional bits, and two bits stand before them.
        let of = format!("bits to cut of {bits} with {frac} fractional ones");
        within(&of, "--cut", cut, 1, bits - frac - 2)
    }
}

impl Default for Numbers {
    /// In a ring of 32 bits.
    fn default() -> Self {
        Numbers::of(32)
    }
}

/// The names of those who take part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Members {
    /// The model's owner.
    pub owner: String,
    /// The one who brings the input and learns the output.
    pub client: String,
}

impl Default for Members {
    fn default() -> Self {
        Members { owner: "owner".into(), client: "client".into() }
    }
}

/// A layer's value in the computation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Placed {
    /// The node of its scale.
    pub(crate) node: usize,
    /// Whether it is larger by a factor of 2^cut.
    pub(crate) wide: bool,
    /// Whether it is half a step too large, so that cutting rounds to the nearest.
    pub(crate) half: bool,
}

/// A network as a computation. It follows from operators, shapes and numbers: of the network's weights it has none.
#[derive(Clone, Debug)]
pub struct Secure {
    computation: Computation,
    numbers: Numbers,
    recipes: Vec<(String, Recipe)>,
    classes: Classes,
    placed: Vec<Placed>,
}

/// The name of the client's input.
pub const INPUT: &str = "input";

impl Secure {
    /// The computation of a network.
    ///
    /// # Errors
    /// The numbers make no sense, the network has several outputs, or a layer is not supported on values of its shape.
    pub fn new(network: &Network, numbers: Numbers, members: &Members) -> Result<Self, NnError> {
        lower::lowered(network, numbers, members, false)
    }

    /// The same whose outputs are the values of all layers, for the plain evaluator alone.
    pub(crate) fn probed(network: &Network, numbers: Numbers) -> Result<Self, NnError> {
        lower::lowered(network, numbers, &Members::default(), true)
    }

    /// The computation.
    #[must_use]
    pub fn computation(&self) -> &Computation {
        &self.computation
    }

    /// The ring and its numbers.
    #[must_use]
    pub fn numbers(&self) -> Numbers {
        self.numbers
    }

    /// The scales of values of these greatest sizes, with `headroom` bits left free.
    pub(crate) fn scales(
        &self,
        network: &Network,
        greatest: &[f32],
        headroom: u8,
    ) -> Result<Scales, NnError> {
        let Numbers { bits, frac, cut } = self.numbers;
        let mut bounds = vec![];
        for (at, (layer, placed)) in network.layers.iter().zip(&self.placed).enumerate() {
            let size = f64::from(greatest[at]);
            if !size.is_finite() {
                let cause = "its values are not finite on the calibration inputs";
                return Err(NnError::new(format!("layer {}", layer.name), cause, "train the model again"));
            }
            let room = |wide: u8| 2f64.powi(i32::from(bits - 1) - i32::from(wide));
            let free = 2f64.powi(headroom.into());
            let whole = room(if placed.wide { cut } else { 0 });
            let bound =
                |node, greatest, most, whole| Bound { node, greatest, most, whole, name: layer.name.clone() };
            if matches!(layer.kind, Kind::ArgMax(_)) {
                continue;
            }
            bounds.push(bound(placed.node, size, room(cut) / free, whole));
            if let Some(most) = self.balanced(layer, placed.node, greatest) {
                bounds.push(bound(self.placed[layer.reads[0]].node, 1.0, most, f64::INFINITY));
            }
            if let Kind::LayerNorm(axis, ..) = &layer.kind {
                // The root of a sum of squares: of distances of all elements that are twice as large at most, or of one alone.
                let n = layer.lengths[*axis..].iter().product::<usize>();
                let sizes = Normalization::new(self.numbers, n);
                let (from, most) = (layer.reads[0], sizes.most / 2f64.powi(sizes.guard.into()));
                let all = most / (2.0 * free * (n as f64).sqrt());
                bounds.push(bound(self.placed[from].node, f64::from(greatest[from]), all, most));
            }
            if let Kind::AveragePool(pool, _) = &layer.kind {
                // Sums of a window, at the scale of what is summed.
                let count = (pool.size[0] * pool.size[1]) as f64;
                let from = self.placed[layer.reads[0]].node;
                bounds.push(bound(from, size * count, room(0) / free, room(0)));
            }
        }
        Scales::new(&self.classes, frac, &bounds)
    }

    /// The scale of a layer's operand above which its weights would be rounded more than the operand, where the scale of its value
    /// is given.
    fn balanced(&self, layer: &Layer, node: usize, greatest: &[f32]) -> Option<f64> {
        let weights = match &layer.kind {
            Kind::Conv(conv) => conv.weights.greatest(),
            Kind::Dense(weights, _) => weights.greatest(),
            Kind::Affine(scale, _) => scale.iter().fold(0.0, |most: f32, x| most.max(x.abs())),
            _ => return None,
        };
        let (class, times) = self.classes.find(node);
        let operand = greatest[layer.reads[0]];
        if class != Classes::NOMINAL || weights == 0.0 || operand == 0.0 {
            return None;
        }
        let wide = times * 2f64.powi(i32::from(self.numbers.frac) + i32::from(self.numbers.cut));
        // Both are as many steps at most.
        Some((f64::from(weights) / f64::from(operand) * wide).sqrt())
    }

    /// The owner's inputs: weights for values of these greatest sizes, with `headroom` bits left free.
    ///
    /// # Errors
    /// A value does not fit the nominal scale, or a weight the ring.
    pub fn weights(
        &self,
        network: &Network,
        greatest: &[f32],
        headroom: u8,
    ) -> Result<BTreeMap<String, Tensor>, NnError> {
        let scales = self.scales(network, greatest, headroom)?;
        let one = |(name, recipe): &(String, Recipe)| {
            Ok((name.clone(), recipe.tensor(network, self.numbers, &scales)?))
        };
        self.recipes.iter().map(one).collect()
    }

    /// The client's input.
    ///
    /// # Errors
    /// An element is too large for the ring.
    pub fn input(&self, array: &Array) -> Result<Tensor, NnError> {
        encode(&self.computation, array)
    }

    /// A layer's value in the probed computation, as the network has it.
    pub(crate) fn decoded(&self, layer: usize, scales: &Scales, value: &Tensor) -> Array {
        let (Placed { node, wide, half }, cut) = (self.placed[layer], self.numbers.cut);
        if matches!(value.scalar(), Scalar::Int { .. }) {
            return whole(value);
        }
        let scale = scales.of(node) * if wide { 2f64.powi(cut.into()) } else { 1.0 };
        let half = if half { 2f64.powi(i32::from(cut) - 1) } else { 0.0 };
        let one = |i| ((value.number(i).unwrap_or_default() as f64 - half) / scale) as f32;
        Array::new(value.lengths(), (0..value.len()).map(one).collect())
    }
}

fn whole(value: &Tensor) -> Array {
    let one = |i| value.number(i).unwrap_or_default() as f32;
    Array::new(value.lengths(), (0..value.len()).map(one).collect())
}

/// An array as the client's input of a network's computation.
///
/// # Errors
/// The computation is no network's, the array has another shape, or an element is not finite or too large for the ring.
pub fn encode(computation: &Computation, array: &Array) -> Result<Tensor, NnError> {
    let place = format!("input {INPUT}");
    let found = computation.inputs().find(|(name, _)| *name == INPUT);
    let (Some((_, ty)), remedy) = (found, "is it a network's computation?") else {
        return Err(NnError::new(place, "the computation has none", "is it a network's computation?"));
    };
    let Scalar::Fixed { bits, frac } = ty.scalar else {
        return Err(NnError::new(place, format!("it is {ty}"), remedy));
    };
    if ty.shape.lengths().as_deref() != Some(&array.lengths[..]) {
        let cause = format!("it has the shape {:?}, and the network takes {}", array.lengths, ty.shape);
        let shape = array.lengths.iter().map(usize::to_string).collect::<Vec<_>>().join(",");
        let remedy = format!(
            "bring an array of that shape, or agree on a network for this one (`hushwire model plan --shape {shape}`)"
        );
        return Err(NnError::new(place, cause, remedy));
    }
    array.check_finite(&place)?;
    let most = 2f64.powi(i32::from(bits) - 1);
    let mut numbers = Vec::with_capacity(array.data.len());
    for (i, x) in array.data.iter().enumerate() {
        let steps = (f64::from(*x) * 2f64.powi(frac.into())).round();
        if steps.abs() >= most {
            let cause = format!("element {i} does not fit {}", ty.scalar);
            return Err(NnError::new(place, cause, "prepare inputs as the network was trained with"));
        }
        numbers.push(steps as i128);
    }
    Ok(Tensor::from_numbers(ty.scalar, &array.lengths, numbers))
}

/// An output of a network's computation as the network has it.
#[must_use]
pub fn decode(value: &Tensor) -> Array {
    let Scalar::Fixed { frac, .. } = value.scalar() else { return whole(value) };
    let one = |i| (value.number(i).unwrap_or_default() as f64 / 2f64.powi(frac.into())) as f32;
    Array::new(value.lengths(), (0..value.len()).map(one).collect())
}

/// A layer's name in the computation.
pub(crate) fn value_name(at: usize, layer: &Layer) -> String {
    format!("layer{at}_{}", layer.kind.name().to_lowercase())
}
