//! Builds a model operator by operator.

use super::Random;
use crate::onnx::{Attribute, Data, Dim, Graph, Model, Node, Tensor, ValueInfo};

/// The opset version of the models.
const OPSET: i64 = 13;

/// A model under construction with random weights, scaled so that values keep their size from layer
/// to layer (K. He et al., "Delving deep into rectifiers", 2015).
pub struct Writer {
    graph: Graph,
    random: Random,
}

impl Writer {
    /// A model with one input, whose first axis counts the images.
    #[must_use]
    pub fn new(name: &str, seed: u64, input: &[usize]) -> Self {
        let lengths = input.iter().enumerate().map(|(axis, n)| match axis {
            0 => Dim::Named("images".into()),
            _ => Dim::Known(*n as u64),
        });
        let inputs = vec![ValueInfo { name: "input".into(), lengths: Some(lengths.collect()) }];
        let graph = Graph { name: name.to_owned(), inputs, ..Graph::default() };
        Writer { graph, random: Random::new(seed) }
    }

    /// Appends an operator on named values. Its value is named after the operator, with a number.
    pub fn op(&mut self, op: &str, inputs: &[&str], attributes: &[(&str, Attribute)]) -> String {
        let name = format!("{}_{}", op.to_lowercase(), self.graph.nodes.len());
        self.graph.nodes.push(Node {
            name: name.clone(),
            op: op.to_owned(),
            inputs: inputs.iter().map(|name| (*name).to_owned()).collect(),
            outputs: vec![name.clone()],
            attributes: attributes.iter().map(|(name, a)| ((*name).to_owned(), a.clone())).collect(),
            ..Node::default()
        });
        name
    }

    /// Appends weights with these elements.
    pub fn weights(&mut self, lengths: &[usize], data: Vec<f32>) -> String {
        let name = format!("weights_{}", self.graph.weights.len());
        let tensor =
            Tensor { name: name.clone(), lengths: lengths.to_vec(), data: Data::Floats(data), kind: 0 };
        self.graph.weights.push(tensor);
        name
    }

    /// Appends integers of one of ONNX's types: 2 is uint8, 3 is int8, 6 is int32, 7 is int64.
    pub fn integers(&mut self, kind: i64, lengths: &[usize], all: Vec<i64>) -> String {
        let name = format!("weights_{}", self.graph.weights.len());
        let tensor = Tensor { name: name.clone(), lengths: lengths.to_vec(), data: Data::Ints(all), kind };
        self.graph.weights.push(tensor);
        name
    }

    /// Names further outputs of the last operator.
    pub fn outputs_of_last(&mut self, names: &[&str]) {
        if let Some(node) = self.graph.nodes.last_mut() {
            node.outputs.extend(names.iter().map(|name| (*name).to_owned()));
        }
    }

    /// Appends normally distributed weights with mean 0.
    pub fn random(&mut self, lengths: &[usize], deviation: f32) -> String {
        let n = lengths.iter().product();
        let data = (0..n).map(|_| deviation * self.random.normal()).collect();
        self.weights(lengths, data)
    }

    /// Appends a convolution with a square window, with or without a bias.
    pub fn conv(
        &mut self,
        x: &str,
        [from, to]: [usize; 2],
        size: usize,
        stride: i64,
        pad: i64,
        bias: bool,
    ) -> String {
        let deviation = (2.0 / (from * size * size) as f32).sqrt();
        let w = self.random(&[to, from, size, size], deviation);
        let mut inputs = vec![x.to_owned(), w];
        if bias {
            inputs.push(self.random(&[to], 0.05));
        }
        let inputs: Vec<&str> = inputs.iter().map(String::as_str).collect();
        self.op(
            "Conv",
            &inputs,
            &[
                ("kernel_shape", Attribute::Ints(vec![size as i64; 2])),
                ("strides", Attribute::Ints(vec![stride; 2])),
                ("pads", Attribute::Ints(vec![pad; 4])),
            ],
        )
    }

    /// Appends a batch normalization of `channels` channels.
    pub fn batch_norm(&mut self, x: &str, channels: usize) -> String {
        self.batch_norm_by(x, channels, 1.0)
    }

    /// Appends a batch normalization that scales to a standard deviation of about `by`.
    pub fn batch_norm_by(&mut self, x: &str, channels: usize, by: f32) -> String {
        let random = &mut self.random;
        let mut around =
            |middle: f32, by: f32| (0..channels).map(|_| middle + by * random.unit()).collect::<Vec<_>>();
        let of = [around(0.75 * by, 0.5 * by), around(-0.1, 0.2), around(-0.1, 0.2), around(0.75, 0.5)];
        let names: Vec<String> = of.into_iter().map(|data| self.weights(&[channels], data)).collect();
        let inputs: Vec<&str> = std::iter::once(x).chain(names.iter().map(String::as_str)).collect();
        self.op("BatchNormalization", &inputs, &[("epsilon", Attribute::Float(1e-5))])
    }

    /// Appends a ReLU.
    pub fn relu(&mut self, x: &str) -> String {
        self.op("Relu", &[x], &[])
    }

    /// Appends a pooling operator with a square window.
    pub fn pool(&mut self, op: &str, x: &str, size: i64, stride: i64, pad: i64, ceil: bool) -> String {
        self.op(
            op,
            &[x],
            &[
                ("kernel_shape", Attribute::Ints(vec![size; 2])),
                ("strides", Attribute::Ints(vec![stride; 2])),
                ("pads", Attribute::Ints(vec![pad; 4])),
                ("ceil_mode", Attribute::Int(ceil.into())),
            ],
        )
    }

    /// Appends a product with a matrix of random weights, with a bias.
    pub fn gemm(&mut self, x: &str, [from, to]: [usize; 2]) -> String {
        let w = self.random(&[to, from], (1.0 / from as f32).sqrt());
        let bias = self.random(&[to], 0.05);
        self.op("Gemm", &[x, &w, &bias], &[("transB", Attribute::Int(1))])
    }

    /// The finished model, whose output is the value `output`.
    #[must_use]
    pub fn finish(mut self, output: &str) -> Model {
        self.graph.outputs = vec![ValueInfo { name: output.to_owned(), lengths: None }];
        Model { opset: OPSET, producer: "hushwire".into(), graph: self.graph, ..Model::default() }
    }
}
