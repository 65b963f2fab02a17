//! Reads bytes to messages. Lists grow with the file's bytes, so that claimed sizes are never
//! trusted.

use super::{
    Attribute, Data, Dim, Graph, Model, ModelFunction, Node, Tensor, ValueInfo,
    proto::{Fields, ProtoField},
};
use crate::{Fault, error::shown};
use hushwire_fault::code;
use hushwire_files::{half, zip};
use std::collections::BTreeMap;

/// LOCAL: the largest number of operators of a graph.
const NODES: usize = 1 << 16;
/// LOCAL: the largest number of axes of a tensor.
const AXES: usize = 8;

/// LOCAL: the deepest nesting of subgraphs.
const DEPTH: usize = 16;

/// Reads a file of weights in the model's folder, by its name.
pub type Beside<'a> = &'a dyn Fn(&str) -> Result<Vec<u8>, Fault>;

/// The context of reading tensors: the files in the model's folder, and the depth of nested graphs.
#[derive(Clone, Copy)]
struct TensorReader<'a> {
    beside: Beside<'a>,
    depth: usize,
}

impl Model {
    /// Reads a file.
    ///
    /// # Errors
    /// The bytes are not a model, or have unsupported parts, such as weights in other files.
    pub fn read(bytes: &[u8]) -> Result<Self, Fault> {
        Self::read_beside(bytes, &|_| {
            let remedy = "save the model as one file (onnx.save_model with save_as_external_data=False)";
            Err(Fault::new(code::MODEL_FILE, "weights", "its elements are in another file", remedy))
        })
    }

    /// Reads a file whose weights may be in other files in its folder.
    ///
    /// # Errors
    /// The same as [`read`](Self::read), or a file of weights cannot be read.
    pub fn read_beside(bytes: &[u8], beside: Beside<'_>) -> Result<Self, Fault> {
        if let Some((cause, remedy)) = other_format(bytes) {
            return Err(Fault::new(code::MODEL_FILE, "the model's file", cause, remedy));
        }
        let (mut model, mut fields, mut has_graph) = (Model::default(), Fields::new(bytes), false);
        let reader = TensorReader { beside, depth: 0 };
        while let Some((number, field)) = fields.next()? {
            match number {
                2 => model.producer = field.text()?,
                7 => (model.graph, has_graph) = (reader.graph(field.bytes()?)?, true),
                8 => {
                    let (domain, version) = opset(field.bytes()?)?;
                    match &domain[..] {
                        "" | "ai.onnx" => model.opset = version,
                        "ai.onnx.ml" => model.ml = version,
                        _ => {}
                    }
                }
                25 => model.functions.push(reader.function(field.bytes()?)?),
                _ => {}
            }
        }
        if !has_graph {
            return Err(Fault::filled(code::ONNX, &[("cause", &"it has no graph")]).at("the model's file"));
        }
        inputs_fit(&model.graph)?;
        Ok(model)
    }
}

/// The format of a file that is not ONNX, and the remedy, if its first bytes show the format.
fn other_format(bytes: &[u8]) -> Option<(&'static str, &'static str)> {
    let begins = |with: &[u8]| bytes.starts_with(with);
    let keras = "export it with tf2onnx: python -m tf2onnx.convert --keras FILE --output model.onnx";
    match () {
        () if begins(b"PK\x03\x04") => Some(match zip::first_name(bytes) {
            Some(name) if name.ends_with(b"data.pkl") || name.ends_with(b".format_version") => {
                ("it is a file of PyTorch", "export the model with torch.onnx.export")
            }
            Some(name) if name.ends_with(b".npy") => {
                ("it is an archive of NumPy arrays", "name an ONNX file; arrays are inputs of one")
            }
            Some(b"metadata.json" | b"config.json") => ("it is a model of Keras", keras),
            _ => ("it is a ZIP archive", "unpack it, and name the ONNX file that is in it"),
        }),
        () if begins(b"\x93NUMPY") => {
            Some(("it is an array of NumPy", "name an ONNX file; an array is an input of one"))
        }
        () if begins(b"\x89HDF\r\n\x1a\n") => Some(("it is a model of Keras or another HDF5 file", keras)),
        () if begins(&[0x80, 2]) || begins(&[0x80, 3]) || begins(&[0x80, 4]) || begins(&[0x80, 5]) => Some((
            "it is a Python pickle, which nobody should load",
            "export the model as ONNX, with torch.onnx.export or skl2onnx",
        )),
        () if bytes.get(4..8) == Some(b"TFL3") => Some((
            "it is a model of TensorFlow Lite",
            "convert it with tf2onnx: --tflite FILE --output model.onnx",
        )),
        // The length of a JSON header comes first.
        () if bytes.get(5..10) == Some(b"\0\0\0{\"") => Some((
            "it is a file of safetensors, which has weights without a model",
            "export the model as ONNX",
        )),
        () if begins(&[0x1f, 0x8b]) => Some(("it is compressed", "unpack it")),
        () => None,
    }
}

/// Checks that the model's inputs are numbers of a supported kind.
fn inputs_fit(graph: &Graph) -> Result<(), Fault> {
    // Older files list weights among the inputs; these may be of any kind.
    let real = |name: &str| graph.weights.iter().all(|weights| weights.name != *name);
    let inputs = graph.inputs.iter().filter(|input| real(&input.name));
    for input in inputs {
        let kind = graph.kinds.get(&input.name).copied().unwrap_or(1);
        // Floats of any width, integers, and truth values. Operators whose result would wrap refuse
        // integers of few bits.
        if !matches!(kind, 1..=7 | 9..=13 | 16..=23 | 25 | 26) {
            let cause =
                format!("its elements are {}, and a network computes with real numbers", kind_name(kind));
            let remedy = "export the model with an input of floats or integers";
            return Err(Fault::new(code::MODEL_FILE, format!("input {}", shown(&input.name)), cause, remedy));
        }
    }
    Ok(())
}

fn opset(bytes: &[u8]) -> Result<(String, i64), Fault> {
    let (mut domain, mut version, mut fields) = (String::new(), 0, Fields::new(bytes));
    while let Some((number, field)) = fields.next()? {
        match number {
            1 => domain = field.text()?,
            2 => version = field.int()?,
            _ => {}
        }
    }
    Ok((domain, version))
}

impl TensorReader<'_> {
    fn graph(self, bytes: &[u8]) -> Result<Graph, Fault> {
        let (mut graph, mut fields) = (Graph::default(), Fields::new(bytes));
        while let Some((number, field)) = fields.next()? {
            match number {
                1 => self.push(&mut graph.nodes, field.bytes()?)?,
                2 => graph.name = field.text()?,
                5 => graph.weights.push(self.tensor(field.bytes()?)?),
                11 => {
                    let (value, kind) = value_info(field.bytes()?)?;
                    // Floats are the usual kind.
                    graph.kinds.extend(kind.filter(|kind| *kind != 1).map(|kind| (value.name.clone(), kind)));
                    graph.inputs.push(value);
                }
                12 => graph.outputs.push(value_info(field.bytes()?)?.0),
                15 => {
                    let remedy = "export the model with dense ones";
                    return Err(Fault::new(
                        code::MODEL_FILE,
                        "the model's graph",
                        "it has sparse weights",
                        remedy,
                    ));
                }
                _ => {}
            }
        }
        Ok(graph)
    }

    fn push(self, nodes: &mut Vec<Node>, bytes: &[u8]) -> Result<(), Fault> {
        if nodes.len() == NODES {
            let cause = format!("it has more than {NODES} operators");
            return Err(Fault::new(code::MODEL_FILE, "the model's graph", cause, "take a smaller one"));
        }
        nodes.push(self.node(bytes)?);
        Ok(())
    }

    fn function(self, bytes: &[u8]) -> Result<ModelFunction, Fault> {
        let (mut function, mut fields) = (ModelFunction::default(), Fields::new(bytes));
        while let Some((number, field)) = fields.next()? {
            match number {
                1 => function.name = field.text()?,
                4 => function.inputs.push(field.text()?),
                5 => function.outputs.push(field.text()?),
                7 => self.push(&mut function.nodes, field.bytes()?)?,
                10 => function.domain = field.text()?,
                11 => function.defaults.extend([self.attribute(field.bytes()?)?]),
                _ => {}
            }
        }
        Ok(function)
    }

    fn node(self, bytes: &[u8]) -> Result<Node, Fault> {
        let (mut node, mut fields) = (Node::default(), Fields::new(bytes));
        while let Some((number, field)) = fields.next()? {
            match number {
                1 => node.inputs.push(field.text()?),
                2 => node.outputs.push(field.text()?),
                3 => node.name = field.text()?,
                4 => node.op = field.text()?,
                5 => {
                    let (name, attribute) = self.attribute(field.bytes()?)?;
                    if node.attributes.contains_key(&name) {
                        let place = format!("node {} ({})", shown(&node.name), shown(&node.op));
                        let cause = format!("it has two attributes {}", shown(&name));
                        return Err(Fault::new(code::MODEL_FILE, place, cause, "save the model anew"));
                    }
                    node.attributes.insert(name, attribute);
                }
                7 => node.domain = field.text()?,
                _ => {}
            }
        }
        Ok(node)
    }

    fn attribute(self, bytes: &[u8]) -> Result<(String, Attribute), Fault> {
        let (mut name, mut kind) = (String::new(), None);
        let (mut float, mut int, mut text, mut one) = (0.0, 0, None, None);
        let (mut floats, mut ints, mut texts) = (vec![], vec![], vec![]);
        let (mut inner, mut outer) = (None, None);
        let mut fields = Fields::new(bytes);
        while let Some((number, field)) = fields.next()? {
            match number {
                1 => name = field.text()?,
                2 => float = field.float()?,
                3 => int = field.int()?,
                // No supported operator has an attribute that is not text.
                4 => text = std::str::from_utf8(field.bytes()?).ok().map(str::to_owned),
                5 => one = Some(self.tensor(field.bytes()?)?),
                6 => inner = Some(self.deeper()?.graph(field.bytes()?)?),
                7 => field.floats(&mut floats)?,
                8 => field.ints(&mut ints)?,
                // Texts that are not UTF-8 are labels that are never printed.
                9 => texts.push(String::from_utf8_lossy(field.bytes()?).into_owned()),
                21 => outer = Some(field.text()?),
                20 => kind = Some(field.int()?),
                _ => {}
            }
        }
        if let Some(outer) = outer.filter(|outer| !outer.is_empty()) {
            return Ok((name, Attribute::Outer(outer)));
        }
        let attribute = match kind {
            Some(1) => Attribute::Float(float),
            Some(2) => Attribute::Int(int),
            Some(3) => text.map_or(Attribute::Other, Attribute::Text),
            Some(4) => one.map_or(Attribute::Other, Attribute::Tensor),
            Some(5) => inner.map_or(Attribute::Other, |graph| Attribute::Graph(Box::new(graph))),
            Some(6) => Attribute::Floats(floats),
            Some(7) => Attribute::Ints(ints),
            Some(8) => Attribute::Texts(texts),
            _ => Attribute::Other,
        };
        Ok((name, attribute))
    }

    fn tensor(self, bytes: &[u8]) -> Result<Tensor, Fault> {
        let (mut name, mut dims, mut kind) = (String::new(), vec![], 0);
        let (mut elements, mut external, mut elsewhere) = (Elements::default(), false, BTreeMap::new());
        let mut fields = Fields::new(bytes);
        while let Some((number, field)) = fields.next()? {
            match number {
                1 => field.ints(&mut dims)?,
                2 => kind = field.int()?,
                4 => field.floats(&mut elements.floats)?,
                5 | 7 | 11 => field.ints(&mut elements.ints)?,
                8 => name = field.text()?,
                9 => elements.raw = Some(field.bytes()?),
                10 => field.doubles(&mut elements.floats)?,
                13 => elsewhere.extend([entry(field.bytes()?)?]),
                14 => external |= field.int()? != 0,
                _ => {}
            }
        }
        let place = format!("weights {}", shown(&name));
        let found;
        if external || !elsewhere.is_empty() {
            found = self.elsewhere(&place, &elsewhere)?;
            elements.raw = Some(&found);
        }
        if dims.len() > AXES {
            let cause = format!("it has {} axes", dims.len());
            return Err(Fault::new(code::MODEL_FILE, place, cause, format!("give it at most {AXES}")));
        }
        let lengths: Option<Vec<usize>> = dims.iter().map(|d| usize::try_from(*d).ok()).collect();
        let count = lengths.as_ref().and_then(|l| l.iter().try_fold(1usize, |n, l| n.checked_mul(*l)));
        let (Some(lengths), Some(count)) = (lengths, count) else {
            return Err(Fault::new(
                code::MODEL_FILE,
                place,
                format!("it has the lengths {dims:?}"),
                "save the model anew",
            ));
        };
        let data = data(&place, kind, count, elements)?;
        let found = match &data {
            Data::Floats(all) => all.len(),
            Data::Ints(all) => all.len(),
        };
        if found != count {
            let cause = format!("it has {found} elements, and its lengths {lengths:?} make {count}");
            return Err(Fault::new(code::MODEL_FILE, place, cause, "save the model anew"));
        }
        // Floats and 64-bit integers are the usual kinds.
        let kind = if matches!(kind, 1 | 7) { 0 } else { kind };
        Ok(Tensor { name, lengths, data, kind })
    }

    /// The elements of a tensor in another file in the model's folder.
    fn elsewhere(self, place: &str, of: &BTreeMap<String, String>) -> Result<Vec<u8>, Fault> {
        let odd = |cause: String| Fault::new(code::MODEL_FILE, place, cause, "save the model anew");
        let file = of.get("location").map_or("", String::as_str);
        let bytes = (self.beside)(file).map_err(|e| e.at(place))?;
        let number = |name: &str, default: usize| match of.get(name) {
            None => Ok(default),
            Some(text) => text.parse().map_err(|_| odd(format!("its {name} is {}", shown(text)))),
        };
        let start = number("offset", 0)?;
        let length = number("length", bytes.len().saturating_sub(start))?;
        let part = start.checked_add(length).and_then(|end| bytes.get(start..end));
        let short = || odd(format!("its elements lie beyond the end of {}", shown(file)));
        part.map(<[u8]>::to_vec).ok_or_else(short)
    }

    fn deeper(self) -> Result<Self, Fault> {
        if self.depth == DEPTH {
            let cause = format!("its subgraphs are nested more than {DEPTH} deep");
            return Err(Fault::new(code::MODEL_FILE, "the model's graph", cause, "export a flat one"));
        }
        Ok(TensorReader { depth: self.depth + 1, ..self })
    }
}

/// A key with its value.
fn entry(bytes: &[u8]) -> Result<(String, String), Fault> {
    let (mut key, mut value, mut fields) = (String::new(), String::new(), Fields::new(bytes));
    while let Some((number, field)) = fields.next()? {
        match number {
            1 => key = field.text()?,
            2 => value = field.text()?,
            _ => {}
        }
    }
    Ok((key, value))
}

/// Elements in the forms of a file.
#[derive(Default)]
struct Elements<'a> {
    raw: Option<&'a [u8]>,
    floats: Vec<f32>,
    ints: Vec<i64>,
}

fn raw<const N: usize, T>(place: &str, bytes: &[u8], each: impl Fn([u8; N]) -> T) -> Result<Vec<T>, Fault> {
    let (whole, rest) = bytes.as_chunks::<N>();
    if !rest.is_empty() {
        let cause = format!("its {} bytes are no multiple of {N}", bytes.len());
        return Err(Fault::new(code::MODEL_FILE, place, cause, "save the model anew"));
    }
    Ok(whole.iter().map(|bytes| each(*bytes)).collect())
}

/// The 16-bit number that is the upper half of a 32-bit one (bfloat16).
fn upper(bits: u16) -> f32 {
    f32::from_bits(u32::from(bits) << 16)
}

/// Integers of few bits, the lowest bits of a byte first.
fn packed(bytes: &[u8], bits: u32, signed: bool, count: usize) -> Vec<i64> {
    let one = |i: usize| {
        let each = 8 / bits as usize;
        let byte = bytes.get(i / each).copied().unwrap_or(0);
        let n = i64::from(byte >> (i % each * bits as usize) & ((1 << bits) - 1));
        if signed && n >= 1 << (bits - 1) { n - (1 << bits) } else { n }
    };
    let held = bytes.len().saturating_mul(8 / bits as usize);
    (0..count.min(held)).map(one).collect()
}

fn data(place: &str, kind: i64, count: usize, elements: Elements<'_>) -> Result<Data, Fault> {
    let Elements { raw: bytes, floats, ints } = elements;
    if let Some((bits, signed)) = match kind {
        21 => Some((4, false)),
        22 => Some((4, true)),
        25 => Some((2, false)),
        26 => Some((2, true)),
        _ => None,
    } {
        let own: Vec<u8> = ints.iter().map(|n| *n as u8).collect();
        return Ok(Data::Ints(packed(bytes.unwrap_or(&own), bits, signed, count)));
    }
    let Some(bytes) = bytes else {
        // Half-precision floats are stored as integers, unless they are raw.
        return Ok(match kind {
            1 | 11 => Data::Floats(floats),
            10 => Data::Floats(ints.iter().map(|n| half(*n as u16)).collect()),
            16 => Data::Floats(ints.iter().map(|n| upper(*n as u16)).collect()),
            2..=7 | 9 | 12 | 13 => Data::Ints(ints),
            _ => return Err(kind_refused(place, kind)),
        });
    };
    Ok(match kind {
        1 => Data::Floats(raw(place, bytes, f32::from_le_bytes)?),
        10 => Data::Floats(raw(place, bytes, |b| half(u16::from_le_bytes(b)))?),
        16 => Data::Floats(raw(place, bytes, |b| upper(u16::from_le_bytes(b)))?),
        11 => Data::Floats(raw(place, bytes, |b| f64::from_le_bytes(b) as f32)?),
        2 | 9 => Data::Ints(bytes.iter().map(|b| i64::from(*b)).collect()),
        3 => Data::Ints(bytes.iter().map(|b| i64::from(b.cast_signed())).collect()),
        4 => Data::Ints(raw(place, bytes, |b| i64::from(u16::from_le_bytes(b)))?),
        5 => Data::Ints(raw(place, bytes, |b| i64::from(i16::from_le_bytes(b)))?),
        6 => Data::Ints(raw(place, bytes, |b| i64::from(i32::from_le_bytes(b)))?),
        7 => Data::Ints(raw(place, bytes, i64::from_le_bytes)?),
        13 => {
            let all = raw(place, bytes, |b| i64::try_from(u64::from_le_bytes(b)))?;
            let all = all.into_iter().collect::<Result<Vec<_>, _>>();
            Data::Ints(all.map_err(|_| {
                Fault::new(code::MODEL_FILE, place, "an element is 2^63 or more", "save it as int64")
            })?)
        }
        12 => Data::Ints(raw(place, bytes, |b| i64::from(u32::from_le_bytes(b)))?),
        _ => return Err(kind_refused(place, kind)),
    })
}

/// The name of a type of elements.
pub(crate) fn kind_name(kind: i64) -> String {
    const NAMES: [&str; 27] = [
        "of no type",
        "float32",
        "uint8",
        "int8",
        "uint16",
        "int16",
        "int32",
        "int64",
        "text",
        "truth values",
        "float16",
        "float64",
        "uint32",
        "uint64",
        "complex64",
        "complex128",
        "bfloat16",
        "float8e4m3fn",
        "float8e4m3fnuz",
        "float8e5m2",
        "float8e5m2fnuz",
        "uint4",
        "int4",
        "float4e2m1",
        "float8e8m0",
        "uint2",
        "int2",
    ];
    let name = usize::try_from(kind).ok().and_then(|kind| NAMES.get(kind));
    name.map_or_else(|| format!("of ONNX's type {kind}"), |name| (*name).to_owned())
}

fn kind_refused(place: &str, kind: i64) -> Fault {
    let cause = format!("its elements are of ONNX's type {kind}: {}", kind_name(kind));
    Fault::new(code::MODEL_FILE, place, cause, "save the model with float32 weights")
}

/// A value, and the type of its elements if the file gives one: 0 if it is not a tensor.
fn value_info(bytes: &[u8]) -> Result<(ValueInfo, Option<i64>), Fault> {
    let (mut value, mut kind, mut fields) = (ValueInfo::default(), None, Fields::new(bytes));
    while let Some((number, field)) = fields.next()? {
        match number {
            1 => value.name = field.text()?,
            2 => {
                let bytes = field.bytes()?;
                value.lengths = lengths(bytes)?;
                kind = kind_of(bytes)?;
            }
            _ => {}
        }
    }
    Ok((value, kind))
}

/// The type of a tensor's elements; `None` for an empty type.
fn kind_of(bytes: &[u8]) -> Result<Option<i64>, Fault> {
    let Some(tensor) = within(bytes, 1)? else { return Ok((!bytes.is_empty()).then_some(0)) };
    let (mut kind, mut fields) = (None, Fields::new(tensor));
    while let Some((number, field)) = fields.next()? {
        if number == 1 {
            kind = Some(field.int()?);
        }
    }
    Ok(kind)
}

/// The message in a field, if the field is present.
fn within(bytes: &[u8], wanted: u64) -> Result<Option<&[u8]>, Fault> {
    let (mut found, mut fields) = (None, Fields::new(bytes));
    while let Some((number, field)) = fields.next()? {
        if number == wanted {
            found = Some(field.bytes()?);
        }
    }
    Ok(found)
}

/// The lengths of a type; `None` if it is not a tensor's, or has no lengths.
fn lengths(bytes: &[u8]) -> Result<Option<Vec<Dim>>, Fault> {
    let Some(tensor) = within(bytes, 1)? else { return Ok(None) };
    let Some(shape) = within(tensor, 2)? else { return Ok(None) };
    let (mut dims, mut fields) = (vec![], Fields::new(shape));
    while let Some((number, field)) = fields.next()? {
        if number == 1 {
            dims.push(dim(field.bytes()?)?);
        }
    }
    Ok(Some(dims))
}

fn dim(bytes: &[u8]) -> Result<Dim, Fault> {
    let (mut dim, mut fields) = (Dim::Named(String::new()), Fields::new(bytes));
    while let Some((number, field)) = fields.next()? {
        match (number, &field) {
            (1, ProtoField::Varint(n)) => dim = Dim::Known(*n),
            (2, _) => dim = Dim::Named(field.text()?),
            _ => {}
        }
    }
    Ok(dim)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_other_formats_are_named() {
        let named: [(&[u8], &str); 5] = [
            (b"\x93NUMPY\x01\x00", "an array of NumPy"),
            (b"\x89HDF\r\n\x1a\n....", "HDF5"),
            (&[0x80, 4, 0x95], "pickle"),
            (b"\x1c\0\0\0TFL3", "TensorFlow Lite"),
            (b"PK\x03\x04", "ZIP"),
        ];
        for (bytes, words) in named {
            let (cause, _) = other_format(bytes).expect(words);
            assert!(cause.contains(words), "{cause}");
        }
        assert_eq!(other_format(&[8, 7, 18, 7]), None);
    }
}
