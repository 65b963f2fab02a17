//! Inputs, outputs and attributes of operators. An ignored attribute would give a wrong result, so
//! an unsupported attribute is refused, whatever its value.

use super::{Import, Known, operator::Operator};
use crate::{NnError, error::shown};

/// The supported operators, each with its most inputs, most outputs, and attributes.
type Signature = (&'static str, usize, usize, &'static [&'static str]);

const SIGNATURES: [Signature; 29] = [
    ("Add", 2, 1, &[]),
    ("ArgMax", 1, 1, &["axis", "keepdims", "select_last_index"]),
    (
        "AveragePool",
        1,
        1,
        &["auto_pad", "ceil_mode", "count_include_pad", "dilations", "kernel_shape", "pads", "strides"],
    ),
    // The momentum is for training alone; a second output makes it training.
    ("BatchNormalization", 5, 1, &["epsilon", "momentum", "spatial", "training_mode"]),
    // Saturation and rounding are of types of 8 bits, which are refused.
    ("Cast", 1, 1, &["round_mode", "saturate", "to"]),
    ("Clip", 3, 1, &["max", "min"]),
    ("Concat", usize::MAX, 1, &["axis"]),
    ("Constant", 0, 1, &["value", "value_float", "value_floats", "value_int", "value_ints"]),
    ("Conv", 3, 1, &["auto_pad", "dilations", "group", "kernel_shape", "pads", "strides"]),
    // Ratio and seed are for training alone.
    ("Dropout", 3, 2, &["ratio", "seed"]),
    ("Flatten", 1, 1, &["axis"]),
    ("Gather", 2, 1, &["axis"]),
    ("Gelu", 1, 1, &["approximate"]),
    ("Gemm", 3, 1, &["alpha", "beta", "transA", "transB"]),
    ("GlobalAveragePool", 1, 1, &[]),
    ("Identity", 1, 1, &[]),
    ("LayerNormalization", 3, 3, &["axis", "epsilon", "stash_type"]),
    ("MatMul", 2, 1, &[]),
    (
        "MaxPool",
        1,
        2,
        &["auto_pad", "ceil_mode", "dilations", "kernel_shape", "pads", "storage_order", "strides"],
    ),
    ("Pad", 4, 1, &["mode", "pads", "value"]),
    ("Relu", 1, 1, &[]),
    ("Reshape", 2, 1, &["allowzero", "shape"]),
    ("Shape", 1, 1, &["end", "start"]),
    ("Sigmoid", 1, 1, &[]),
    ("Softmax", 1, 1, &["axis"]),
    ("Squeeze", 2, 1, &["axes"]),
    ("Tanh", 1, 1, &[]),
    ("Transpose", 1, 1, &["perm"]),
    ("Unsqueeze", 2, 1, &["axes"]),
];

/// What an input may say in the place of an attribute.
const TWICE: [(&str, usize, &str); 6] = [
    ("Clip", 1, "min"),
    ("Clip", 2, "max"),
    ("Pad", 1, "pads"),
    ("Pad", 2, "value"),
    ("Squeeze", 1, "axes"),
    ("Unsqueeze", 1, "axes"),
];

/// Operators that move elements of any kind.
const MOVES: [&str; 8] =
    ["Dropout", "Flatten", "Identity", "Reshape", "Shape", "Squeeze", "Transpose", "Unsqueeze"];

/// Names of the operators that are supported.
pub(super) fn supported() -> impl Iterator<Item = &'static str> {
    SIGNATURES.iter().map(|(op, ..)| *op)
}

impl Operator<'_> {
    /// Checks that all its inputs, outputs and attributes are supported, and that its values are of
    /// a kind that it takes.
    pub(super) fn check(&self, import: &Import) -> Result<(), NnError> {
        let op = &self.node.op[..];
        let found = SIGNATURES.iter().find(|(name, ..)| *name == op);
        let Some((_, inputs, outputs, attributes)) = found else {
            return Err(self.error("it is not supported", "write the network with other operators"));
        };
        if let Some(odd) = self.node.attributes.keys().find(|name| !attributes.contains(&&name[..])) {
            let cause = format!("its attribute {} is not supported", shown(odd));
            let remedy = match attributes {
                [] => "it has none here; leave it out".to_owned(),
                _ => format!("it has {} here; leave it out", attributes.join(", ")),
            };
            return Err(self.error(cause, &remedy));
        }
        let named = |all: &[String]| all.iter().rposition(|name| !name.is_empty()).map_or(0, |at| at + 1);
        if named(&self.node.inputs) > *inputs {
            let cause = format!("it has {} inputs", named(&self.node.inputs));
            return Err(self.error(cause, &format!("it has at most {inputs}")));
        }
        if named(&self.node.outputs) > *outputs {
            let cause = format!("it has {} outputs", named(&self.node.outputs));
            let remedy = match op {
                "BatchNormalization" => "that is training mode; export the model for inference",
                _ => "use its first output alone",
            };
            return Err(self.error(cause, remedy));
        }
        for (name, k, attribute) in TWICE {
            let input = self.node.inputs.get(k).is_some_and(|input| !input.is_empty());
            if op == name && input && self.node.attributes.contains_key(attribute) {
                let cause = format!("its {attribute} stand in an attribute and in an input");
                return Err(self.error(cause, "save the model anew"));
            }
        }
        for k in 0..self.node.inputs.len() {
            if !MOVES.contains(&op)
                && let Some(Known::Layer(at)) = self.maybe(import, k)?
                && import.is_places(at)
            {
                let cause = format!("its input {k} has whole numbers, as ArgMax makes them");
                return Err(self.error(cause, "let the places be the model's output"));
            }
        }
        Ok(())
    }

    /// Refuses an operator in training mode.
    pub(super) fn not_training(&self, import: &Import) -> Result<(), NnError> {
        let trains = match &self.node.op[..] {
            "BatchNormalization" => self.flag("training_mode", false)?,
            "Dropout" => match self.maybe(import, 2)? {
                None => false,
                Some(Known::Ints(_, all)) => all != [0],
                Some(_) => true,
            },
            _ => false,
        };
        if trains {
            let remedy = "export the model for inference (model.eval() in PyTorch, training=False in Keras)";
            return Err(self.error("it is in training mode", remedy));
        }
        Ok(())
    }
}
