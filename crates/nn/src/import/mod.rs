//! Imports a model's operators as layers. Known values are computed here, shapes are inferred, and
//! every unsupported operator is refused by name before anything runs.

mod assumed;
mod control;
pub(crate) mod fold;
mod fused;
mod kinds;
pub(crate) mod operator;
mod sequences;

use crate::error::shape;
use crate::{
    Array, Fault, Kind, Network,
    error::shown,
    onnx::{Attribute, Dim, Model, Node, ValueInfo},
    operators::{self, Input},
    passes,
};
pub use assumed::Assumed;
use hushwire_fault::code;
use operator::{Import, Known, Reading};
use std::fmt::Display;
use std::{
    collections::{BTreeMap, HashMap, HashSet},
    sync::Arc,
};

/// LOCAL: the largest number of faults of a model that are shown.
const MOST_FAULTS: usize = 64;

/// Shapes and values of a model's inputs that are given before the model is read.
#[derive(Clone, Debug, Default)]
pub struct Given {
    /// The lengths of inputs by name; the empty name is the first input.
    pub shapes: BTreeMap<String, Vec<usize>>,
    /// The values of inputs that all members know, by name.
    pub public: BTreeMap<String, Array>,
    /// The length of axes that the model leaves open. `None` refuses them, except for the first
    /// axis, whose length is then 1.
    pub open: Option<usize>,
}

impl Given {
    /// The lengths of the first input alone.
    #[must_use]
    pub fn first(input: Option<&[usize]>) -> Self {
        let shapes = input.map(|lengths| (String::new(), lengths.to_vec())).into_iter().collect();
        Given { shapes, ..Given::default() }
    }
}

impl Network {
    /// The network of a model, for an input with the given lengths or, by default, with those of
    /// the model. If the model is for another number of images than the input has, lengths along
    /// the first axis are adapted.
    ///
    /// # Errors
    /// An operator is not supported, a value is missing, or shapes do not fit.
    pub fn new(model: Model, input: Option<&[usize]>) -> Result<Self, Fault> {
        Self::with(model, &Given::first(input)).map_err(merged)
    }

    /// The network of a model with the given facts about its inputs.
    ///
    /// # Errors
    /// All faults of the model.
    pub fn with(model: Model, given: &Given) -> Result<Self, Vec<Fault>> {
        let network = network(model, given)?;
        Ok(passes::rectified_last(&passes::folded(&passes::unscaled(&network))))
    }
}

/// Merges several faults into one.
///
/// # Panics
/// If there is none.
#[must_use]
pub fn merged(mut faults: Vec<Fault>) -> Fault {
    if faults.len() == 1 {
        return faults.remove(0);
    }
    let all: Vec<String> = faults.iter().map(ToString::to_string).collect();
    let cause = format!("{} things are in its way: {}", all.len(), all.join(" | "));
    Fault::new(code::OPERATOR, "the model", cause, "change each, or export the model with other operators")
}

/// The layers of a model.
fn network(model: Model, given: &Given) -> Result<Network, Vec<Fault>> {
    let Model { graph, opset, ml, functions, .. } = model;
    let one = |fault: Fault| vec![fault];
    let is_old = opset == 0 && ml > 0;
    if !is_old && !(7..=30).contains(&opset) {
        let fields: [(_, &dyn Display); 3] = [("opset", &opset), ("least", &7), ("most", &30)];
        return Err(one(Fault::filled(code::OPSET, &fields).at("the model")));
    }
    let mut import = Import::new(opset, functions);
    for weights in graph.weights {
        let name = weights.name.clone();
        import.typed(&name, weights.kind);
        if import.values.insert(name.clone(), Known::of(weights)).is_some() {
            let place = format!("weights {}", shown(&name));
            let cause = "there are two of this name";
            return Err(one(Fault::new(code::MODEL_FILE, place, cause, "save the model anew")));
        }
    }
    let odd = |name: &&String| !name.is_empty() && graph.inputs.iter().all(|input| input.name != **name);
    if let Some(name) = given.shapes.keys().chain(given.public.keys()).find(odd) {
        let names: Vec<String> = graph.inputs.iter().map(|input| shown(&input.name)).collect();
        let cause = format!("it has no input {}", shown(name));
        let remedy = format!("take one of {}", names.join(", "));
        return Err(one(Fault::new(code::MODEL_FILE, "the model", cause, remedy)));
    }
    let mut inputs = vec![];
    let real = graph.inputs.iter().filter(|value| !import.values.contains_key(&value.name));
    for value in real.cloned().collect::<Vec<_>>() {
        let kind = graph.kinds.get(&value.name).copied().unwrap_or(1);
        let whole = matches!(kind, 2..=7 | 9 | 12 | 13 | 21 | 22 | 25 | 26);
        let range = match kind {
            2 => Some([0, 255]),
            3 => Some([-128, 127]),
            4 => Some([0, 65_535]),
            5 => Some([-32_768, 32_767]),
            _ => None,
        };
        import.typed(&value.name, kind);
        if let Some(array) = given.public.get(&value.name) {
            let array = fitted(array, &value);
            let known = if whole {
                Known::Ints(array.lengths.clone(), array.data.iter().map(|x| *x as i64).collect())
            } else {
                Known::Floats(Arc::new(array))
            };
            import.values.insert(value.name.clone(), known);
            continue;
        }
        let own =
            given.shapes.get(&value.name).or_else(|| given.shapes.get("").filter(|_| inputs.is_empty()));
        let lengths = import
            .input_lengths(&value, own.map(|own| &own[..]), given.open, inputs.is_empty())
            .map_err(one)?;
        let place = format!("input {}", shown(&value.name));
        let at = import
            .layer(&place, &value.name, Kind::Input(Input { whole, range }), vec![], lengths)
            .map_err(one)?;
        import.values.insert(value.name.clone(), Known::Layer(at));
        if whole {
            import.whole.insert(value.name.clone());
        }
        inputs.push((value.name.clone(), at));
    }
    let names: Vec<&str> = graph.outputs.iter().map(|value| &value.name[..]).collect();
    if names.is_empty() {
        return Err(one(Fault::new(code::MODEL_FILE, "the model", "it has no output", "export it with one")));
    }
    import.undone = undone(&graph.nodes, &names);
    import.run(&graph.nodes, &names)?;
    let mut outputs = vec![];
    for name in &names {
        // A sequence is as many outputs.
        if let Some(parts) = import.sequences.get(*name) {
            let layers = parts.iter().enumerate().filter_map(|(k, (known, _))| match known {
                Known::Layer(at) => Some((format!("{name}_{k}"), *at)),
                _ => None,
            });
            outputs.extend(layers.collect::<Vec<_>>());
            continue;
        }
        match import.values.get(*name) {
            Some(Known::Layer(at)) => outputs.push(((*name).to_owned(), *at)),
            // A known value beside others, such as a list of anchors.
            Some(known) if outputs_secret(&import, &names) && !import.lengths_of(known).contains(&0) => {
                let (known, node) = (known.clone(), Node { name: (*name).to_owned(), ..Node::default() });
                let at = Reading::new(&node, 0).valued(&mut import, &known, 0).map_err(one)?;
                outputs.push(((*name).to_owned(), at));
            }
            Some(_) if names.len() > 1 => {}
            known => {
                let is = |(_, node): &(usize, &Node)| node.outputs.iter().any(|of| of == *name);
                if let (None, Some((at, node))) = (known, graph.nodes.iter().enumerate().find(is)) {
                    let op = Reading::new(node, at);
                    let k = node.outputs.iter().position(|output| output == *name).unwrap_or(0);
                    let cause = format!("its output {k} is not supported");
                    return Err(one(op.error(cause, "export the model without this output")));
                }
                let (cause, remedy) = match known {
                    Some(_) => ("it does not depend on the input", "leave it out"),
                    None => ("no operator makes it", "save the model anew"),
                };
                return Err(one(Fault::new(
                    code::MODEL_FILE,
                    format!("output {}", shown(name)),
                    cause,
                    remedy,
                )));
            }
        }
    }
    if inputs.is_empty() || outputs.is_empty() {
        let cause = "no output depends on a secret input";
        return Err(one(Fault::new(code::MODEL_FILE, "the model", cause, "compute it without others")));
    }
    Ok(needed(Network { name: graph.name, layers: import.layers, inputs, outputs }))
}

/// Whether one of these values is not known before the run.
fn outputs_secret(import: &Import, names: &[&str]) -> bool {
    names.iter().any(|name| matches!(import.values.get(*name), Some(Known::Layer(_))))
}

/// The outputs of dynamic quantizations whose values are read, with their zero points, by products
/// of integers alone, and whose scales are read by factors alone: a value itself, with the scale 1
/// and the zero point 0, gives the same but for roundings.
fn undone(nodes: &[Node], outputs: &[&str]) -> HashSet<String> {
    let mut all = HashSet::new();
    for node in nodes.iter().filter(|node| node.op == "DynamicQuantizeLinear") {
        let [value, scale, zero] = &node.outputs[..] else { continue };
        // Without its zero point a value is another number than the steps that the node makes.
        let is_product = |node: &Node| {
            let input = |k: usize| node.inputs.get(k);
            match &node.op[..] {
                "ConvInteger" | "MatMulInteger" => {
                    (0..2).all(|k| (input(k) == Some(value)) == (input(k + 2) == Some(zero)))
                }
                "DequantizeLinear" => [0, 1, 2].map(input) == [value, scale, zero].map(Some),
                _ => false,
            }
        };
        let read_by = |name: &String, is_allowed: &dyn Fn(&Node) -> bool| {
            let mut readers = nodes.iter().filter(|node| reads(node).contains(&&name[..]));
            !outputs.contains(&&name[..]) && readers.all(is_allowed)
        };
        let is_factor = |node: &Node| node.op == "Mul" || is_product(node);
        if read_by(value, &is_product) && read_by(scale, &is_factor) && read_by(zero, &is_product) {
            all.extend([value.clone(), scale.clone(), zero.clone()]);
        }
    }
    all
}

/// A public input along the model's axes, if these have the same number of elements.
fn fitted(array: &Array, value: &ValueInfo) -> Array {
    let known = |dim: &Dim| match dim {
        Dim::Known(n) => usize::try_from(*n).ok(),
        Dim::Named(_) => None,
    };
    let lengths: Option<Vec<usize>> = value.lengths.iter().flatten().map(known).collect();
    match lengths.filter(|lengths| lengths.iter().product::<usize>() == array.data.len()) {
        Some(lengths) if value.lengths.is_some() => array.clone().reshaped(&lengths),
        _ => array.clone(),
    }
}

/// The names that an operator reads, including those that its subgraphs read from outside.
pub(super) fn reads(node: &Node) -> Vec<&str> {
    let mut all: Vec<&str> = node.inputs.iter().map(String::as_str).filter(|name| !name.is_empty()).collect();
    for attribute in node.attributes.values() {
        let Attribute::Graph(graph) = attribute else { continue };
        let own = graph.nodes.iter().flat_map(|node| &node.outputs);
        let inputs = graph.inputs.iter().map(|value| &value.name);
        let own: HashSet<&String> =
            own.chain(inputs).chain(graph.weights.iter().map(|weights| &weights.name)).collect();
        let outputs = graph.outputs.iter().map(|value| &value.name[..]);
        let free = graph.nodes.iter().flat_map(reads).chain(outputs);
        all.extend(free.filter(|name| !own.iter().any(|own| own == name)));
    }
    all
}

/// The operators on which names depend, each after its operands, in whatever order the file has
/// them.
fn in_order(nodes: &[Node], known: &HashMap<String, Known>, wanted: &[&str]) -> Result<Vec<usize>, Fault> {
    let mut made: HashMap<&str, usize> = HashMap::new();
    for (at, node) in nodes.iter().enumerate() {
        for name in node.outputs.iter().filter(|name| !name.is_empty()) {
            if made.insert(name, at).is_some() || known.contains_key(name) {
                let place = format!("value {}", shown(name));
                return Err(Fault::new(
                    code::MODEL_FILE,
                    place,
                    "two operators make it",
                    "save the model anew",
                ));
            }
        }
    }
    let all: Vec<Vec<&str>> = nodes.iter().map(reads).collect();
    let mut needed = vec![false; nodes.len()];
    let mut names = wanted.to_vec();
    while let Some(name) = names.pop() {
        if let Some(at) = made.get(name).filter(|at| !needed[**at]) {
            needed[*at] = true;
            names.extend(&all[*at]);
        }
    }
    let (mut done, mut begun) = (vec![false; nodes.len()], HashSet::new());
    let (mut order, mut stack) = (vec![], vec![]);
    for first in (0..nodes.len()).filter(|at| needed[*at]) {
        stack.push((first, 0));
        while let Some((at, next)) = stack.pop() {
            if done[at] {
                continue;
            }
            let Some(name) = all[at].get(next) else {
                done[at] = true;
                order.push(at);
                continue;
            };
            begun.insert(at);
            stack.push((at, next + 1));
            if known.contains_key(*name) {
                continue;
            }
            let place = Reading::new(&nodes[at], at).place;
            let Some(from) = made.get(name) else {
                let cause = format!("its input {} is neither weights nor made by an operator", shown(name));
                return Err(Fault::new(code::MODEL_FILE, place, cause, "save the model with its weights"));
            };
            if !done[*from] {
                if begun.contains(from) {
                    let cause = format!("its input {} depends on its own output", shown(name));
                    return Err(Fault::new(code::MODEL_FILE, place, cause, "export it without cycles"));
                }
                stack.push((*from, 0));
            }
        }
    }
    Ok(order)
}

impl Import {
    /// Reads the operators on which names depend.
    ///
    /// # Errors
    /// All their faults. An operator that reads the result of a refused one is left out.
    pub(super) fn run(&mut self, nodes: &[Node], wanted: &[&str]) -> Result<(), Vec<Fault>> {
        let order = in_order(nodes, &self.values, wanted).map_err(|fault| vec![fault])?;
        let unknown = self.unsupported(order.iter().map(|at| &nodes[*at]));
        let mut faults = vec![];
        if !unknown.is_empty() {
            let (operators, known) = (unknown.join(", "), operators::supported().join(", "));
            let fields: [(_, &dyn Display); 2] = [("operators", &operators), ("known", &known)];
            faults.push(Fault::filled(code::OPERATORS_UNSUPPORTED, &fields).at("the model"));
        }
        let mut broken: HashSet<&str> = HashSet::new();
        for at in order {
            let node = &nodes[at];
            let reading = Reading::new(node, at);
            let names = node.outputs.iter().map(|name| &name[..]);
            if reads(node).iter().any(|name| broken.contains(name)) || !self.has(node) {
                broken.extend(names);
                continue;
            }
            match reading.all(self) {
                Ok(made) => {
                    let says = self.says_types(node);
                    let typed = self.typed_outputs.take().filter(|_| says);
                    let whole = reading.is_whole(self);
                    let kind = reading.makes(self).unwrap_or(0);
                    for (k, (name, known)) in
                        names.zip(made).enumerate().filter(|(_, (name, _))| !name.is_empty())
                    {
                        // The scale of a dynamic quantization is a float.
                        if !(self.undone.contains(name) || (node.op == "DynamicQuantizeLinear" && k == 1)) {
                            self.typed(name, kind);
                        }
                        // A function's values may have the same names as others.
                        let (whole, kind) = typed
                            .as_ref()
                            .map_or((whole, None), |typed| typed.get(k).copied().unwrap_or_default());
                        self.kinds.extend(kind.map(|kind| (name.to_owned(), kind)));
                        if whole {
                            self.whole.insert(name.to_owned());
                        } else {
                            self.whole.remove(name);
                        }
                        self.values.insert(name.to_owned(), known);
                    }
                }
                Err(fault) => {
                    broken.extend(names);
                    // The same fault of many nodes is shown once.
                    if faults.len() < MOST_FAULTS {
                        faults.push(fault);
                    }
                }
            }
        }
        if faults.is_empty() { Ok(()) } else { Err(faults) }
    }

    /// Records a value's type, if it is integers of few bits or without a sign.
    fn typed(&mut self, name: &str, kind: i64) {
        if kinds::is_narrow(kind) {
            self.kinds.insert(name.to_owned(), kind);
        } else {
            self.kinds.remove(name);
        }
    }

    /// Whether an operator is known: it has a file, can be computed on known values, or the model
    /// defines it.
    fn has(&self, node: &Node) -> bool {
        let domain = operator::domain(node);
        operators::operator(domain, &node.op).is_some()
            || (domain.is_empty()
                && (fold::NAMES.contains(&&node.op[..]) || control::NAMES.contains(&&node.op[..])))
            || fused::has(node)
            || sequences::has(node)
            || self.function(node).is_some()
    }

    /// Whether an operator says the types of its outputs, as one with graphs of its own does.
    fn says_types(&self, node: &Node) -> bool {
        if sequences::has(node) {
            return self.typed_outputs.is_some();
        }
        let of_set = operator::domain(node).is_empty() && control::NAMES.contains(&&node.op[..]);
        of_set || self.function(node).is_some()
    }

    /// The unknown operators with their nodes, each once, in order.
    fn unsupported<'n>(&self, nodes: impl Iterator<Item = &'n Node>) -> Vec<String> {
        let mut names: Vec<(String, Vec<String>)> = vec![];
        for (at, node) in nodes.enumerate().filter(|(_, node)| !self.has(node)) {
            let (name, place) = (operator::shown_name(node), shown(&Reading::new(node, at).name));
            match names.iter_mut().find(|(own, _)| *own == name) {
                Some((_, places)) => places.push(place),
                None => names.push((name, vec![place])),
            }
        }
        let told = |(name, places): (String, Vec<String>)| match &places[..] {
            [one] => format!("{name} (node {one})"),
            [first, rest @ ..] => format!("{name} (node {first} and {} more)", rest.len()),
            [] => name,
        };
        names.into_iter().map(told).collect()
    }
}

/// Drops layers that outputs do not need, except inputs.
fn needed(from: Network) -> Network {
    let mut wanted = vec![false; from.layers.len()];
    from.outputs.iter().chain(&from.inputs).for_each(|(_, at)| wanted[*at] = true);
    for at in (0..from.layers.len()).rev() {
        if wanted[at] {
            from.layers[at].reads.iter().for_each(|read| wanted[*read] = true);
        }
    }
    let mut places = vec![0; from.layers.len()];
    let mut layers = vec![];
    for (at, mut layer) in from.layers.into_iter().enumerate().filter(|(at, _)| wanted[*at]) {
        layer.reads.iter_mut().for_each(|read| *read = places[*read]);
        places[at] = layers.len();
        layers.push(layer);
    }
    let new = |all: Vec<(String, usize)>| all.into_iter().map(|(name, at)| (name, places[at])).collect();
    Network { name: from.name, layers, inputs: new(from.inputs), outputs: new(from.outputs) }
}

impl Import {
    /// The lengths of an input: the given ones, if they fit, or the model's.
    fn input_lengths(
        &mut self,
        value: &ValueInfo,
        given: Option<&[usize]>,
        open: Option<usize>,
        is_first: bool,
    ) -> Result<Vec<usize>, Fault> {
        let place = format!("input {}", shown(&value.name));
        let said = value.lengths.clone().unwrap_or_default();
        if let Some(Dim::Known(n)) = said.first().filter(|_| is_first) {
            self.images = Some((*n as i64, *n as i64));
        }
        let Some(given) = given else {
            let length = |(axis, dim): (usize, &Dim)| match dim {
                // Some exporters write −1 for an open length.
                Dim::Known(n) if axis == 0 && (*n as i64) < 0 => Ok(1),
                Dim::Known(n) => usize::try_from(*n as i64).map_err(|_| {
                    let cause = format!("its length along axis {axis} is {}", *n as i64);
                    Fault::new(
                        code::MODEL_FILE,
                        &place,
                        cause,
                        "export the model with lengths that are no less than 1",
                    )
                }),
                // One image, if the model leaves the number open.
                Dim::Named(_) if axis == 0 => Ok(1),
                // Images have three channels.
                Dim::Named(_) if open.is_some() && axis == 1 && said.len() == 4 => Ok(3),
                Dim::Named(name) if open.is_some() && is_number_of_samples(name) => Ok(1),
                Dim::Named(name) => {
                    if let Some(open) = open {
                        return Ok(open);
                    }
                    Err(Fault::filled(code::INPUT_OPEN, &[("length", &shown(name))]).at(&place))
                }
            };
            if value.lengths.is_none() {
                return Err(Fault::new(
                    code::MODEL_FILE,
                    &place,
                    "the model does not say its shape",
                    "give an input",
                ));
            }
            return said.iter().enumerate().map(length).collect();
        };
        let fits = |(axis, (dim, n)): (usize, (&Dim, &usize))| match dim {
            Dim::Known(m) => axis == 0 || *m == *n as u64 || (*m as i64) < 0,
            Dim::Named(_) => true,
        };
        if value.lengths.is_some()
            && (said.len() != given.len() || !said.iter().zip(given).enumerate().all(fits))
        {
            let said: Vec<String> = said
                .iter()
                .map(|dim| match dim {
                    Dim::Known(n) => (*n as i64).to_string(),
                    Dim::Named(name) => shown(name),
                })
                .collect();
            let shapes = (format!("{given:?}"), format!("[{}]", said.join(", ")));
            return Err(shape(shapes, "bring these lengths along every axis but the first").at(place));
        }
        if let (Some((_, images)), Some(n), true) = (&mut self.images, given.first(), is_first) {
            *images = *n as i64;
        }
        Ok(given.to_vec())
    }
}

/// Whether an axis counts samples, by its name.
fn is_number_of_samples(name: &str) -> bool {
    let name = name.to_lowercase();
    name.contains("batch")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::zoo::Writer;

    /// A product or a dequantization that lacks the zero point, or takes another one, would get
    /// another number from the value than from its steps.
    #[test]
    fn a_quantization_is_undone_only_if_its_zero_point_goes_with_its_value() {
        for (op, inputs, expected) in [
            ("MatMulInteger", &["value", "weights", "zero"][..], true),
            ("MatMulInteger", &["weights", "value", "", "zero"], true),
            ("MatMulInteger", &["value", "weights"], false),
            ("MatMulInteger", &["value", "weights", "other"], false),
            ("MatMulInteger", &["value", "weights", "", "zero"], false),
            ("DequantizeLinear", &["value", "scale", "zero"], true),
            ("DequantizeLinear", &["value", "scale"], false),
            ("DequantizeLinear", &["value", "weights", "zero"], false),
        ] {
            let mut w = Writer::new("q", 1, &[3, 3]);
            let weights = w.integers(3, &[3, 3], vec![1; 9]);
            let other = w.integers(2, &[], vec![7]);
            let value = w.op("DynamicQuantizeLinear", &["input"], &[]);
            let (scale, zero) = (format!("{value}_scale"), format!("{value}_zero"));
            w.outputs_of_last(&[&scale, &zero]);
            let named = |name: &&str| match *name {
                "value" => value.clone(),
                "weights" => weights.clone(),
                "zero" => zero.clone(),
                "other" => other.clone(),
                "scale" => scale.clone(),
                _ => String::new(),
            };
            let inputs: Vec<String> = inputs.iter().map(named).collect();
            let product = w.op(op, &inputs.iter().map(String::as_str).collect::<Vec<_>>(), &[]);
            let y = w.op("Mul", &[&product, &scale], &[]);
            let found = undone(&w.finish(&y).graph.nodes, &[&y]);
            assert_eq!(found.contains(&value), expected, "{op} {inputs:?}");
        }
    }
}
