//! Types with special arithmetic: integers of few bits or without a sign, which wrap, and floats of
//! 4 or 8 bits, which round.

use super::operator::{Import, Known, Reading};
use crate::{
    Fault,
    onnx::{Attribute, kind_name},
    operators::{self, Operator},
};

/// Whether a type has special arithmetic, which wraps or rounds: integers of few bits or without a
/// sign, and floats of 4 or 8 bits.
pub(super) fn is_narrow(kind: i64) -> bool {
    matches!(kind, 2..=5 | 12 | 13 | 17..=26)
}

/// The operators whose result has their operands' type.
const KEEP_KINDS: &[&str] = &[
    "Abs",
    "Add",
    "Clip",
    "Concat",
    "DepthToSpace",
    "Div",
    "Dropout",
    "Expand",
    "Flatten",
    "Gather",
    "GatherElements",
    "GatherND",
    "Identity",
    "Max",
    "MaxPool",
    "Min",
    "Mod",
    "Mul",
    "Neg",
    "Pad",
    "ReduceMax",
    "ReduceMin",
    "Relu",
    "Reshape",
    "Resize",
    "ReverseSequence",
    "Scatter",
    "ScatterElements",
    "ScatterND",
    "Sign",
    "Slice",
    "SpaceToDepth",
    "Split",
    "Squeeze",
    "Sub",
    "Tile",
    "TopK",
    "Transpose",
    "Trilu",
    "Unsqueeze",
    "Upsample",
    "Where",
];

/// The operators that take integers of few bits and make values of other types.
const TAKE_KINDS: &[&str] = &[
    "And",
    "ArgMax",
    "ArgMin",
    "Cast",
    "CastLike",
    "ConvInteger",
    "DequantizeLinear",
    "Equal",
    "Greater",
    "GreaterOrEqual",
    "Less",
    "LessOrEqual",
    "MatMulInteger",
    "OneHot",
    "QLinearConv",
    "QLinearMatMul",
    "QuantizeLinear",
    "Shape",
    "Size",
];

/// The operators on integers of 8 and 16 bits whose result wraps.
const WRAP: &[&str] = &["Abs", "Add", "Div", "Mul", "Neg", "Sub"];

impl Reading<'_> {
    /// The value of an operator that wraps, if it is one.
    pub(super) fn wrapping(&self, operator: &Operator, import: &mut Import) -> Option<Result<Known, Fault>> {
        match self.makes(import) {
            Some(kind @ 2..=5) if operator.set.is_empty() && WRAP.contains(&operator.name) => {
                Some(self.wrapped(operator, import, kind))
            }
            _ => None,
        }
    }

    /// Refuses values of such types if an operator would compute with them as with numbers.
    pub(super) fn takes_kinds(&self, operator: &Operator, import: &Import) -> Result<(), Fault> {
        let name = &operator.name;
        if !WRAP.contains(name) && (KEEP_KINDS.contains(name) || TAKE_KINDS.contains(name)) {
            return Ok(());
        }
        for (k, name) in self.node.inputs.iter().enumerate() {
            let layer = matches!(import.values.get(name), Some(Known::Layer(_)));
            if let (true, Some(kind)) = (layer, import.kinds.get(name)) {
                let kind = kind_name(*kind);
                let cause = format!("its input {k} has elements of {kind}, whose arithmetic wraps or rounds");
                return Err(self.error(cause, "cast it to float32 or int64 before"));
            }
        }
        Ok(())
    }

    /// The value of an operator on integers of 8 or 16 bits, which wraps.
    fn wrapped(&self, operator: &Operator, import: &mut Import, kind: i64) -> Result<Known, Fault> {
        let signed = kind % 2 == 1;
        let count = if matches!(operator.name, "Abs" | "Neg") { 1 } else { 2 };
        let inputs = (0..count).map(|k| self.input(import, k)).collect::<Result<Vec<_>, _>>()?;
        let made = match (operator.name, &inputs[..]) {
            ("Abs", [x]) if !signed => return Ok(x.clone()),
            ("Div", [x, y]) => operators::whole_quotient(self, import, x, y)?,
            (name, all) => self.call(import, name, &all.iter().collect::<Vec<_>>(), &[])?,
        };
        let count: i64 = if kind <= 3 { 1 << 8 } else { 1 << 16 };
        self.modulo(import, made, count, signed)
    }

    /// Whole numbers modulo `count`. Half of them are below 0 for a type with a sign.
    pub(crate) fn modulo(
        &self,
        import: &mut Import,
        made: Known,
        count: i64,
        signed: bool,
    ) -> Result<Known, Fault> {
        let number = |n: i64| Known::Ints(vec![], vec![n]);
        let made = if signed { self.call(import, "Add", &[&made, &number(count / 2)], &[])? } else { made };
        let made = self.call(import, "Mod", &[&made, &number(count)], &[])?;
        if signed { self.call(import, "Sub", &[&made, &number(count / 2)], &[]) } else { Ok(made) }
    }

    /// ONNX's type of an operator's result, if it is integers of few bits or without a sign.
    pub(crate) fn makes(&self, import: &Import) -> Option<i64> {
        let of = |k: usize| self.node.inputs.get(k).and_then(|name| import.kinds.get(name)).copied();
        let kind = match &self.node.op[..] {
            "Cast" => self.int("to", 0).ok(),
            "Constant" => match self.node.attributes.get("value") {
                Some(Attribute::Tensor(tensor)) => Some(tensor.kind),
                _ => None,
            },
            "QuantizeLinear" => {
                let told = self.int("output_dtype", 0).ok().filter(|kind| *kind != 0);
                of(2).or(told).or(Some(2))
            }
            "QLinearConv" | "QLinearMatMul" => of(7).or(Some(2)),
            "DynamicQuantizeLinear" => Some(2),
            "CastLike" => of(1),
            op if KEEP_KINDS.contains(&op) => (0..self.node.inputs.len()).find_map(of),
            _ => None,
        };
        kind.filter(|kind| is_narrow(*kind))
    }
}
