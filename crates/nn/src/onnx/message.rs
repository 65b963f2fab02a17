//! The messages of the ONNX format that networks need.

use std::collections::BTreeMap;

/// A file's model.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Model {
    /// The version of the standard operator set.
    pub opset: i64,
    /// The version of the operator set `ai.onnx.ml`; 0 if the model has none.
    pub ml: i64,
    /// The program that wrote the file.
    pub producer: String,
    /// The model's own functions, which its operators may name.
    pub functions: Vec<ModelFunction>,
    /// The network.
    pub graph: Graph,
}

/// An operator that the model itself defines by other operators.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ModelFunction {
    /// Its name.
    pub name: String,
    /// Its operator set.
    pub domain: String,
    /// The names of its inputs.
    pub inputs: Vec<String>,
    /// The names of its outputs.
    pub outputs: Vec<String>,
    /// Attributes with default values.
    pub defaults: BTreeMap<String, Attribute>,
    /// Operators.
    pub nodes: Vec<Node>,
}

/// A graph of operators.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Graph {
    /// Its name.
    pub name: String,
    /// Operators.
    pub nodes: Vec<Node>,
    /// Weights by name.
    pub weights: Vec<Tensor>,
    /// Inputs; older files list weights here as well.
    pub inputs: Vec<ValueInfo>,
    /// Outputs.
    pub outputs: Vec<ValueInfo>,
    /// ONNX's types of the elements of inputs, if the file gives them.
    pub kinds: BTreeMap<String, i64>,
}

/// One operator on named values.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Node {
    /// Its name, which may be empty.
    pub name: String,
    /// The operator.
    pub op: String,
    /// The operator's set; empty for the standard set.
    pub domain: String,
    /// The values that it reads; an empty name means that there is none.
    pub inputs: Vec<String>,
    /// The values that it makes.
    pub outputs: Vec<String>,
    /// Attributes by name.
    pub attributes: BTreeMap<String, Attribute>,
}

/// An operator's attribute.
#[derive(Clone, Debug, PartialEq)]
pub enum Attribute {
    /// A number.
    Float(f32),
    /// An integer.
    Int(i64),
    /// Text.
    Text(String),
    /// Numbers.
    Floats(Vec<f32>),
    /// Integers.
    Ints(Vec<i64>),
    /// A tensor.
    Tensor(Tensor),
    /// Texts.
    Texts(Vec<String>),
    /// A subgraph.
    Graph(Box<Graph>),
    /// The value of an attribute of the enclosing function.
    Outer(String),
    /// A kind that no supported operator has, such as a sparse tensor.
    Other,
}

/// A tensor with its elements.
#[derive(Clone, Debug, PartialEq)]
pub struct Tensor {
    /// Its name.
    pub name: String,
    /// The lengths of the axes, the outermost first.
    pub lengths: Vec<usize>,
    /// Elements, the last axis fastest.
    pub data: Data,
    /// ONNX's type of the elements in the file; 0 is float32 or int64, according to the elements.
    pub kind: i64,
}

/// Elements of a tensor.
#[derive(Clone, Debug, PartialEq)]
pub enum Data {
    /// Floats of 16, 32 or 64 bits in the file.
    Floats(Vec<f32>),
    /// Integers and truth values of any width in the file.
    Ints(Vec<i64>),
}

/// The type of an input or an output.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ValueInfo {
    /// Its name.
    pub name: String,
    /// The lengths, if the file gives them.
    pub lengths: Option<Vec<Dim>>,
}

/// A length.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Dim {
    /// A number.
    Known(u64),
    /// A name, or nothing.
    Named(String),
}
