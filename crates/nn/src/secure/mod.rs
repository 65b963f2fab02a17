//! A network as a computation, and its weights as the owner's inputs.
//!
//! ```text
//! a layer with weights     Σ w x + b      scale s' 2^cut, wide
//! rectifier, greatest      of the wide value: one comparison
//! cut                      the cut lowest bits go: scale s'
//! ```
//!
//! A layer with weights takes values of scale s to scale s' 2^cut. Its weights are `w s' 2^cut /
//! s`, rounded; its bias is `b s' 2^cut` plus half a step of the cut value, so that cutting rounds
//! to the nearest. The wide value is cut where the next layer with weights, or a sum, takes it.
//! That is after the rectifier, whose comparison thus sees the exact value. A wide value that only
//! the client gets is never cut and has no half step, which after a rectifier would turn 0 into a
//! negative number.
//!
//! Sums wrap modulo 2^bits if the network's values exceed those of the calibration by more than the
//! headroom. No run can detect that, since nobody has both model and input: [`Secure::rooms`] and
//! the report on sample inputs ([`NetworkReport`](crate::NetworkReport)) tell how much room is
//! left.

pub(crate) mod context;
mod lower;
mod price;
pub(crate) mod recipe;
pub(crate) mod room;
mod rooms;
mod weights;
pub(crate) mod widths;

use crate::error::{of_layer, shape};
use crate::{
    Array, Fault, Inputs, Layer, Members, Network, Numbers,
    numbers::INPUT,
    operators::ScaleRole,
    scale::{Classes, Scales, ValueBound},
};
use context::Placed;
use hushwire_compute::{Computation, Scalar, Tensor};
use hushwire_fault::code;
use recipe::{Recipe, WeightPart};
use room::Limits;
use std::collections::BTreeMap;
use std::fmt::Display;
use widths::LayerWidth;

/// A network as a computation. It follows from operators, shapes and numbers; it contains none of
/// the network's weights.
#[derive(Clone, Debug)]
pub struct Secure {
    computation: Computation,
    numbers: Numbers,
    recipes: Vec<(String, Recipe)>,
    classes: Classes,
    placed: Vec<Placed>,
    /// The ring of each layer, and the reason.
    rings: Vec<Numbers>,
    widths: Vec<LayerWidth>,
    /// Layers whose values lose upper bits in a narrower ring, with its bits.
    narrowed: Vec<(usize, u8)>,
}

impl Secure {
    /// The computation of a network.
    ///
    /// # Errors
    /// The numbers are invalid, or a layer does not support its value's shape.
    pub fn new(network: &Network, numbers: Numbers, members: &Members) -> Result<Self, Fault> {
        lower::lowered(network, numbers, members, false)
    }

    /// The computation whose outputs are the values of all layers, only for the plain evaluator.
    pub(crate) fn probed(network: &Network, numbers: Numbers) -> Result<Self, Fault> {
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

    /// Whether layers have different rings.
    #[must_use]
    pub fn is_mixed(&self) -> bool {
        self.widths.iter().any(|width| width.bits != self.widths[0].bits)
    }

    /// About the bits that each of three parties sends for a run. It follows from the computation.
    pub(crate) fn price(&self) -> u64 {
        price::price(&self.computation)
    }

    /// The ring of each layer, and the reason for it.
    #[must_use]
    pub fn widths(&self) -> &[LayerWidth] {
        &self.widths
    }

    /// The scales for values of these greatest sizes, with `headroom` bits left free.
    pub(crate) fn scales(&self, network: &Network, greatest: &[f32], headroom: u8) -> Result<Scales, Fault> {
        let mut bounds = vec![];
        let free = 2f64.powi(headroom.into());
        for (at, (layer, placed)) in network.layers.iter().zip(&self.placed).enumerate() {
            let Numbers { bits, cut, .. } = self.rings[at];
            let size = f64::from(greatest[at]);
            if !size.is_finite() {
                return Err(of_layer(code::LAYER_NOT_FINITE, &layer.name, &[]));
            }
            let room = |wide: u8| 2f64.powi(i32::from(bits - 1) - i32::from(wide));
            let whole = room(if placed.wide { cut } else { 0 });
            let bound = |node, greatest, most, whole| ValueBound {
                node,
                greatest,
                most,
                whole,
                name: layer.name.clone(),
            };
            if matches!(layer.kind.def().role(), ScaleRole::Places(_)) {
                continue;
            }
            bounds.push(bound(placed.node, size, room(cut) / free, whole));
            for (_, less) in self.narrowed.iter().filter(|(narrowed, _)| *narrowed == at) {
                // As if it came from a layer there: weights there are then as fine as usual.
                let whole = 2f64.powi(i32::from(*less) - 1);
                let cut = 2f64.powi(self.numbers.cut.into());
                bounds.push(bound(placed.node, size, whole / cut / free, whole));
            }
            if let Some(most) = self.balanced(at, layer, greatest) {
                bounds.push(bound(self.placed[layer.reads[0]].node, 1.0, most, f64::INFINITY));
            }
            let reads: Vec<f64> = layer.reads.iter().map(|read| f64::from(greatest[*read])).collect();
            let limits = Limits { numbers: self.rings[at], own: size, reads: &reads, free };
            for limit in layer.kind.def().limits(&limits) {
                let node = self.placed[layer.reads[limit.read]].node;
                bounds.push(bound(node, limit.greatest, limit.most, limit.whole));
            }
        }
        Scales::new(&self.classes, self.numbers.frac, &bounds)
    }

    /// The scale of a layer's operand above which its weights would be rounded more than the
    /// operand, if the scale of its value is given.
    fn balanced(&self, at: usize, layer: &Layer, greatest: &[f32]) -> Option<f64> {
        if layer.kind.def().role() != ScaleRole::Weights {
            return None;
        }
        let weights =
            layer.kind.def().part(WeightPart::Factors).iter().fold(0.0, |most: f32, x| most.max(x.abs()));
        let (class, times) = self.classes.find(self.placed[at].node);
        let operand = greatest[layer.reads[0]];
        if class != Classes::NOMINAL || weights == 0.0 || operand == 0.0 {
            return None;
        }
        let wide = times * 2f64.powi(i32::from(self.numbers.frac) + i32::from(self.rings[at].cut));
        // Both then have equally many steps at most.
        Some((f64::from(weights) / f64::from(operand) * wide).sqrt())
    }

    /// The owner's inputs: weights for values of these greatest sizes, with `headroom` bits left
    /// free.
    ///
    /// # Errors
    /// A value does not fit the nominal scale, or a weight does not fit the ring.
    pub fn weights(
        &self,
        network: &Network,
        greatest: &[f32],
        headroom: u8,
    ) -> Result<BTreeMap<String, Tensor>, Fault> {
        let scales = self.scales(network, greatest, headroom)?;
        let one = |(name, recipe): &(String, Recipe)| Ok((name.clone(), recipe.tensor(network, &scales)?));
        self.recipes.iter().map(one).collect()
    }

    /// The client's input, of a network with a single one.
    ///
    /// # Errors
    /// An element is too large for the ring.
    pub fn input(&self, array: &Array) -> Result<Tensor, Fault> {
        encode(&self.computation, array)
    }

    /// The client's inputs by name.
    ///
    /// # Errors
    /// An element is too large for the ring.
    pub fn inputs(
        &self,
        network: &Network,
        inputs: &(impl Inputs + ?Sized),
    ) -> Result<BTreeMap<String, Tensor>, Fault> {
        let named = network.input_names().into_iter().zip(inputs.arrays());
        named
            .map(|(name, array)| Ok((name.clone(), encode_input(&self.computation, &name, array)?)))
            .collect()
    }

    /// A layer's value in the probed computation, converted to the network's.
    pub(crate) fn decoded(&self, layer: usize, scales: &Scales, value: &Tensor) -> Array {
        let (Placed { node, wide, half }, cut) = (self.placed[layer], self.rings[layer].cut);
        if matches!(value.scalar(), Scalar::Int { .. }) {
            return whole(value);
        }
        let scale = scales.of(node) * if wide { 2f64.powi(cut.into()) } else { 1.0 };
        let half = if half { 2f64.powi(i32::from(cut) - 1) } else { 0.0 };
        let one = |i| ((value.number(i).unwrap_or_default() as f64 - half) / scale) as f32;
        Array::new(value.lengths(), (0..value.len()).map(one).collect())
    }
}

/// Whole numbers. Places are numbers without a sign, and those below 0 that they stand for are kept
/// modulo 2^64.
fn whole(value: &Tensor) -> Array {
    let without = matches!(value.scalar(), Scalar::Int { bits: 64, signed: false });
    let one = |i| match value.number(i).unwrap_or_default() {
        n if without && n >= 1 << 63 => (n - (1 << 64)) as f32,
        n => n as f32,
    };
    Array::new(value.lengths(), (0..value.len()).map(one).collect())
}

/// An array as the client's input of a network's computation.
///
/// # Errors
/// It is not a network's computation, the array has another shape, or an element is not finite or
/// too large for the ring.
pub fn encode(computation: &Computation, array: &Array) -> Result<Tensor, Fault> {
    encode_input(computation, INPUT, array)
}

/// An array as an input of the client's, by name.
///
/// # Errors
/// As [`encode`].
pub fn encode_input(computation: &Computation, input: &str, array: &Array) -> Result<Tensor, Fault> {
    let place = format!("input {input}");
    let found = computation.inputs().find(|(name, _)| *name == input);
    let (Some((_, ty)), remedy) = (found, "bring a network's computation") else {
        return Err(Fault::new(
            code::MODEL_FILE,
            place,
            "the computation has none",
            "bring a network's computation",
        ));
    };
    let Scalar::Fixed { bits, frac } = ty.scalar else {
        return Err(Fault::new(code::MODEL_FILE, place, format!("it is {ty}"), remedy));
    };
    if ty.shape.lengths().as_deref() != Some(&array.lengths[..]) {
        let shapes = (format!("{:?}", array.lengths), ty.shape.to_string());
        let given = array.lengths.iter().map(usize::to_string).collect::<Vec<_>>().join(",");
        let remedy = format!(
            "bring an array of that shape, or agree on a network for this one (`hushwire model plan --shape {given}`)"
        );
        return Err(shape(shapes, &remedy).at(place));
    }
    array.check_finite(&place)?;
    let most = 2f64.powi(i32::from(bits) - 1);
    let mut numbers = Vec::with_capacity(array.data.len());
    for (i, x) in array.data.iter().enumerate() {
        let steps = (f64::from(*x) * 2f64.powi(frac.into())).round();
        if steps.abs() >= most {
            let fields: [(_, &dyn Display); 2] = [("element", &i), ("type", &ty.scalar)];
            return Err(Fault::filled(code::ELEMENT_TOO_LARGE, &fields).at(place));
        }
        numbers.push(steps as i128);
    }
    Ok(Tensor::from_numbers(ty.scalar, &array.lengths, numbers))
}

/// An output of a network's computation, converted to the network's.
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
