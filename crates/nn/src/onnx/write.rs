//! Writes messages as bytes that other programs can read.

use super::{Attribute, Data, Dim, Graph, Model, Node, Tensor, ValueInfo, proto::Message};

/// The version of the format.
const IR: i64 = 8;

impl Model {
    /// The file's bytes.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = Message::default();
        out.int(1, IR);
        out.bytes(2, self.producer.as_bytes());
        out.message(7, &graph(&self.graph));
        let mut opset = Message::default();
        opset.bytes(1, b"");
        opset.int(2, self.opset);
        out.message(8, &opset);
        if self.ml > 0 {
            let mut opset = Message::default();
            opset.bytes(1, b"ai.onnx.ml");
            opset.int(2, self.ml);
            out.message(8, &opset);
        }
        out.0
    }
}

fn graph(graph: &Graph) -> Message {
    let mut out = Message::default();
    graph.nodes.iter().for_each(|n| out.message(1, &node(n)));
    out.bytes(2, graph.name.as_bytes());
    graph.weights.iter().for_each(|t| out.message(5, &tensor(t)));
    graph.inputs.iter().for_each(|v| out.message(11, &value_info(v, graph.kinds.get(&v.name).copied())));
    graph.outputs.iter().for_each(|v| out.message(12, &value_info(v, None)));
    out
}

fn node(node: &Node) -> Message {
    let mut out = Message::default();
    node.inputs.iter().for_each(|name| out.bytes(1, name.as_bytes()));
    node.outputs.iter().for_each(|name| out.bytes(2, name.as_bytes()));
    out.bytes(3, node.name.as_bytes());
    out.bytes(4, node.op.as_bytes());
    for (name, value) in &node.attributes {
        let mut one = Message::default();
        one.bytes(1, name.as_bytes());
        let kind = match value {
            Attribute::Float(x) => {
                one.float(2, *x);
                1
            }
            Attribute::Int(n) => {
                one.int(3, *n);
                2
            }
            Attribute::Text(text) => {
                one.bytes(4, text.as_bytes());
                3
            }
            Attribute::Tensor(t) => {
                one.message(5, &tensor(t));
                4
            }
            Attribute::Floats(all) => {
                all.iter().for_each(|x| one.float(7, *x));
                6
            }
            Attribute::Ints(all) => {
                all.iter().for_each(|n| one.int(8, *n));
                7
            }
            Attribute::Texts(all) => {
                all.iter().for_each(|text| one.bytes(9, text.as_bytes()));
                8
            }
            Attribute::Graph(inner) => {
                one.message(6, &graph(inner));
                5
            }
            Attribute::Outer(_) | Attribute::Other => continue,
        };
        one.int(20, kind);
        out.message(5, &one);
    }
    if !node.domain.is_empty() {
        out.bytes(7, node.domain.as_bytes());
    }
    out
}

fn tensor(tensor: &Tensor) -> Message {
    let mut out = Message::default();
    tensor.lengths.iter().for_each(|n| out.int(1, *n as i64));
    if let (Data::Ints(all), 2..=5 | 9) = (&tensor.data, tensor.kind) {
        out.int(2, tensor.kind);
        all.iter().for_each(|n| out.int(5, *n));
        out.bytes(8, tensor.name.as_bytes());
        return out;
    }
    let (kind, raw): (i64, Vec<u8>) = match &tensor.data {
        Data::Floats(all) => (1, all.iter().flat_map(|x| x.to_le_bytes()).collect()),
        Data::Ints(all) => (7, all.iter().flat_map(|n| n.to_le_bytes()).collect()),
    };
    out.int(2, kind);
    out.bytes(8, tensor.name.as_bytes());
    out.bytes(9, &raw);
    out
}

fn value_info(value: &ValueInfo, kind: Option<i64>) -> Message {
    let mut tensor = Message::default();
    tensor.int(1, kind.unwrap_or(1));
    if let Some(lengths) = &value.lengths {
        let mut shape = Message::default();
        for length in lengths {
            let mut dim = Message::default();
            match length {
                Dim::Known(n) => dim.int(1, n.cast_signed()),
                Dim::Named(name) => dim.bytes(2, name.as_bytes()),
            }
            shape.message(1, &dim);
        }
        tensor.message(2, &shape);
    }
    let (mut ty, mut out) = (Message::default(), Message::default());
    ty.message(1, &tensor);
    out.bytes(1, value.name.as_bytes());
    out.message(2, &ty);
    out
}
