//! A network: layers with their weights, each behind those that it reads.

use crate::{Array, NnError, import, onnx::Model, passes};
use hushwire_compute::Steps;
use std::sync::Arc;

/// A convolution's windows and weights.
#[derive(Clone, Debug, PartialEq)]
pub struct Conv {
    /// `[out, in / groups, rows, columns]`.
    pub weights: Arc<Array>,
    /// One for each output channel.
    pub bias: Arc<Vec<f32>>,
    /// The windows' way.
    pub steps: Steps,
    /// Groups of channels that know nothing of each other.
    pub groups: usize,
}

/// Windows of pooling.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pool {
    /// Rows and columns.
    pub size: [usize; 2],
    /// Their way.
    pub steps: Steps,
}

/// The operation of a layer.
#[derive(Clone, Debug, PartialEq)]
pub enum Kind {
    /// A value from outside.
    Input,
    /// A convolution over rows and columns.
    Conv(Conv),
    /// A product with a matrix along the last axis, `[in, out]`, and a bias.
    Dense(Arc<Array>, Arc<Vec<f32>>),
    /// Every channel, which is axis 1, times a number plus a number.
    Affine(Arc<Vec<f32>>, Arc<Vec<f32>>),
    /// The sum of two values; axes of length 1 are repeated.
    Add,
    /// The sum with weights; axes of length 1 are repeated.
    AddWeights(Arc<Array>),
    /// The greater of 0 and the element.
    Relu,
    /// The element within bounds.
    Clip(Option<f32>, Option<f32>),
    /// The greatest of each window; what is around counts for nothing.
    MaxPool(Pool),
    /// The mean of each window; whether zeros around count as elements.
    AveragePool(Pool, bool),
    /// Values one behind the other along an axis.
    Concat(usize),
    /// The same elements along other axes.
    Reshape,
    /// Axes in another order.
    Transpose(Vec<usize>),
    /// Zeros before and behind along each axis.
    Pad(Vec<[usize; 2]>),
    /// 1 / (1 + e^−x).
    Sigmoid,
    /// The hyperbolic tangent.
    Tanh,
    /// x Φ(x), by the tangent that is near Φ if so said.
    Gelu(bool),
    /// e^x over the sum of those along an axis.
    Softmax(usize),
    /// The first place of the greatest along an axis.
    ArgMax(usize),
    /// Along all axes from one on: less the mean, over the deviation, times weights plus weights; the variance's least.
    LayerNorm(usize, Arc<Vec<f32>>, Arc<Vec<f32>>, f32),
    /// The product of two matrices of values.
    MatMul,
}

impl Kind {
    /// Its operator's name in ONNX.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Kind::Input => "Input",
            Kind::Conv(_) => "Conv",
            Kind::Dense(..) => "Gemm",
            Kind::Affine(..) => "BatchNormalization",
            Kind::Add | Kind::AddWeights(_) => "Add",
            Kind::Relu => "Relu",
            Kind::Clip(..) => "Clip",
            Kind::MaxPool(_) => "MaxPool",
            Kind::AveragePool(..) => "AveragePool",
            Kind::Concat(_) => "Concat",
            Kind::Reshape => "Reshape",
            Kind::Transpose(_) => "Transpose",
            Kind::Pad(_) => "Pad",
            Kind::Sigmoid => "Sigmoid",
            Kind::Tanh => "Tanh",
            Kind::Gelu(_) => "Gelu",
            Kind::Softmax(_) => "Softmax",
            Kind::ArgMax(_) => "ArgMax",
            Kind::LayerNorm(..) => "LayerNormalization",
            Kind::MatMul => "MatMul",
        }
    }

    /// Weights of its own.
    #[must_use]
    pub fn weights(&self) -> usize {
        match self {
            Kind::Conv(conv) => conv.weights.data.len() + conv.bias.len(),
            Kind::Dense(weights, bias) => weights.data.len() + bias.len(),
            Kind::Affine(scale, shift) | Kind::LayerNorm(_, scale, shift, _) => scale.len() + shift.len(),
            Kind::AddWeights(weights) => weights.data.len(),
            Kind::Clip(low, high) => usize::from(low.is_some()) + usize::from(high.is_some()),
            _ => 0,
        }
    }
}

/// One layer.
#[derive(Clone, Debug, PartialEq)]
pub struct Layer {
    /// Its name in the file.
    pub name: String,
    /// Its operation.
    pub kind: Kind,
    /// The layers that it reads, all before it.
    pub reads: Vec<usize>,
    /// Lengths of its value.
    pub lengths: Vec<usize>,
}

/// A network of checked shapes.
#[derive(Clone, Debug, PartialEq)]
pub struct Network {
    /// Its name.
    pub name: String,
    /// Layers in order.
    pub layers: Vec<Layer>,
    /// Names and layers of inputs.
    pub inputs: Vec<(String, usize)>,
    /// Names and layers of outputs.
    pub outputs: Vec<(String, usize)>,
}

impl Network {
    /// A model's network for an input of given lengths, where they are given, else of those that the model says. Of a model for
    /// another number of images than the input has, lengths along the first axis follow.
    ///
    /// # Errors
    /// An operator is not supported, a value is missing, or shapes do not fit.
    pub fn new(model: Model, input: Option<&[usize]>) -> Result<Self, NnError> {
        let network = import::network(model, input)?;
        Ok(passes::rectified_last(&passes::folded(&network)))
    }

    /// Weights of all layers.
    #[must_use]
    pub fn weights(&self) -> usize {
        self.layers.iter().map(|layer| layer.kind.weights()).sum()
    }

    /// Products of a layer, with weights or of values.
    #[must_use]
    pub fn products(&self, layer: usize) -> u64 {
        let Layer { kind, reads, lengths, .. } = &self.layers[layer];
        let made = lengths.iter().product::<usize>() as u64;
        match kind {
            Kind::Conv(conv) => made * conv.weights.lengths[1..].iter().product::<usize>() as u64,
            Kind::Dense(weights, _) => made * weights.lengths[0] as u64,
            Kind::Affine(..) => made,
            Kind::MatMul => made * self.layers[reads[0]].lengths.last().copied().unwrap_or_default() as u64,
            _ => 0,
        }
    }

    /// The number of places among which a layer's elements are the first of the greatest, where they come from an ArgMax.
    #[must_use]
    pub fn places(&self, layer: usize) -> Option<usize> {
        let Layer { kind, reads, .. } = &self.layers[layer];
        match kind {
            Kind::ArgMax(axis) => Some(self.layers[reads[0]].lengths[*axis]),
            Kind::Reshape | Kind::Transpose(_) => self.places(reads[0]),
            _ => None,
        }
    }

    /// The classes that the output is about: those that it is places of, or else the elements of each sample along its first axis.
    /// None of an output of one axis, which says nothing of what is along it.
    #[must_use]
    pub fn classes(&self) -> Option<usize> {
        let (_, at) = self.outputs.first()?;
        let lengths = &self.layers[*at].lengths;
        self.places(*at).or_else(|| (lengths.len() >= 2).then(|| lengths[1..].iter().product()))
    }

    /// How many layers, or outputs, read each layer.
    pub(crate) fn readers(&self) -> Vec<usize> {
        let mut readers = vec![0; self.layers.len()];
        let reads = self.layers.iter().flat_map(|layer| &layer.reads);
        reads.chain(self.outputs.iter().map(|(_, at)| at)).for_each(|at| readers[*at] += 1);
        readers
    }
}
