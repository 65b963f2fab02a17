//! Imports a model's operators as layers: known values are computed here, shapes are inferred, and
//! every unsupported operator is refused by name before anything runs.

pub(crate) mod operator;

use crate::error::shape;
use crate::{
    Array, Fault, Kind, Network,
    error::shown,
    onnx::{Data, Dim, Model, Node, ValueInfo},
    operators::{self, Input},
    passes,
};
use hushwire_fault::code;
use operator::{Import, Known, Reading};
use std::fmt::Display;
use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
};

/// The unsupported operators of a model, each once, in order.
pub(crate) fn unsupported(nodes: &[Node]) -> Vec<String> {
    let mut names: Vec<String> = vec![];
    for node in nodes {
        let standard = node.domain.is_empty() || node.domain == "ai.onnx";
        let name =
            if standard { shown(&node.op) } else { format!("{}.{}", shown(&node.domain), shown(&node.op)) };
        let supported = standard && operators::operator(&node.op).is_some();
        if !supported && !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

impl Network {
    /// The network of a model, for an input with the given lengths or, by default, with those of
    /// the model. If the model is for another number of images than the input has, lengths along
    /// the first axis are adapted.
    ///
    /// # Errors
    /// An operator is not supported, a value is missing, or shapes do not fit.
    pub fn new(model: Model, input: Option<&[usize]>) -> Result<Self, Fault> {
        let network = network(model, input)?;
        Ok(passes::rectified_last(&passes::folded(&network)))
    }
}

/// The layers of a model.
fn network(model: Model, input: Option<&[usize]>) -> Result<Network, Fault> {
    let graph = model.graph;
    if !(7..=30).contains(&model.opset) {
        let fields: [(_, &dyn Display); 3] = [("opset", &model.opset), ("least", &7), ("most", &30)];
        return Err(Fault::filled(code::OPSET, &fields).at("the model"));
    }
    let unsupported = unsupported(&graph.nodes);
    if !unsupported.is_empty() {
        let (operators, known) = (unsupported.join(", "), operators::supported().join(", "));
        let fields: [(_, &dyn Display); 2] = [("operators", &operators), ("known", &known)];
        return Err(Fault::filled(code::OPERATORS_UNSUPPORTED, &fields).at("the model"));
    }
    let mut import = Import { layers: vec![], values: HashMap::new(), images: None, opset: model.opset };
    for weights in graph.weights {
        let known = match weights.data {
            Data::Floats(data) => Known::Floats(Arc::new(Array { lengths: weights.lengths, data })),
            Data::Ints(all) => Known::Ints(weights.lengths, all),
        };
        if import.values.insert(weights.name.clone(), known).is_some() {
            let place = format!("weights {}", shown(&weights.name));
            return Err(Fault::new(
                code::MODEL_FILE,
                place,
                "there are two of this name",
                "save the model anew",
            ));
        }
    }
    let mut inputs = vec![];
    let real = graph.inputs.iter().filter(|value| !import.values.contains_key(&value.name));
    for (k, value) in real.cloned().collect::<Vec<_>>().iter().enumerate() {
        let lengths = import.input_lengths(value, input.filter(|_| k == 0))?;
        let at = import.layer(
            &format!("input {}", shown(&value.name)),
            &value.name,
            Kind::Input(Input),
            vec![],
            lengths,
        )?;
        import.values.insert(value.name.clone(), Known::Layer(at));
        inputs.push((value.name.clone(), at));
    }
    if inputs.len() != 1 {
        let cause = format!("it has {} inputs", inputs.len());
        return Err(Fault::new(code::MODEL_FILE, "the model", cause, "export it with one input"));
    }
    for at in in_order(&graph.nodes, &import.values)? {
        let node = &graph.nodes[at];
        let reading = Reading::new(node, at);
        let operator = operators::operator(&node.op)
            .ok_or_else(|| reading.error("it is not supported", "write the network with other operators"))?;
        let made = reading.layers(operator, &mut import)?;
        let Some(name) = node.outputs.first() else { continue };
        if import.values.insert(name.clone(), made).is_some() {
            let place = format!("value {}", shown(name));
            return Err(Fault::new(code::MODEL_FILE, place, "two operators make it", "save the model anew"));
        }
    }
    let mut outputs = vec![];
    for value in &graph.outputs {
        let place = format!("output {}", shown(&value.name));
        match import.values.get(&value.name) {
            Some(Known::Layer(at)) => outputs.push((value.name.clone(), *at)),
            Some(_) => {
                return Err(Fault::new(
                    code::MODEL_FILE,
                    place,
                    "it does not depend on the input",
                    "leave it out",
                ));
            }
            None => {
                return Err(Fault::new(
                    code::MODEL_FILE,
                    place,
                    "no operator makes it",
                    "save the model anew",
                ));
            }
        }
    }
    if outputs.is_empty() {
        return Err(Fault::new(code::MODEL_FILE, "the model", "it has no output", "export it with one"));
    }
    Ok(needed(Network { name: graph.name, layers: import.layers, inputs, outputs }))
}

/// Sorts operators so that each comes after its operands, whatever their order in the file.
fn in_order(nodes: &[Node], known: &HashMap<String, Known>) -> Result<Vec<usize>, Fault> {
    let mut made: HashMap<&str, usize> = HashMap::new();
    for (at, node) in nodes.iter().enumerate() {
        made.extend(node.outputs.iter().filter(|name| !name.is_empty()).map(|name| (&name[..], at)));
    }
    let (mut done, mut begun) = (vec![false; nodes.len()], HashSet::new());
    let (mut order, mut stack) = (vec![], vec![]);
    for first in 0..nodes.len() {
        stack.push((first, 0));
        while let Some((at, next)) = stack.pop() {
            if done[at] {
                continue;
            }
            let Some(name) = nodes[at].inputs.get(next) else {
                done[at] = true;
                order.push(at);
                continue;
            };
            begun.insert(at);
            stack.push((at, next + 1));
            if name.is_empty() || known.contains_key(name) {
                continue;
            }
            let place = Reading::new(&nodes[at], at).place;
            let Some(from) = made.get(&name[..]) else {
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
    fn input_lengths(&mut self, value: &ValueInfo, given: Option<&[usize]>) -> Result<Vec<usize>, Fault> {
        let place = format!("input {}", shown(&value.name));
        let said = value.lengths.clone().unwrap_or_default();
        if let Some(Dim::Known(n)) = said.first() {
            self.images = Some((*n as i64, *n as i64));
        }
        let Some(given) = given else {
            let length = |(axis, dim): (usize, &Dim)| match dim {
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
                Dim::Named(name) => {
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
            Dim::Known(m) => axis == 0 || *m == *n as u64,
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
        if let (Some((_, images)), Some(n)) = (&mut self.images, given.first()) {
            *images = *n as i64;
        }
        Ok(given.to_vec())
    }
}
