//! A model's operators to layers: what is known is computed here, shapes are inferred, and every operator that is not supported is
//! refused by name before anything runs.

mod constants;
mod operator;
mod operators;
mod shaping;
mod signature;

use crate::{
    Array, Kind, Layer, Network, NnError,
    error::shown,
    onnx::{Data, Dim, Model, Node, ValueInfo},
};
use operator::Operator;
use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
};

/// LOCAL: no value of a network has more elements.
pub(crate) const ELEMENTS: usize = 1 << 27;

/// A named value.
#[derive(Clone)]
pub(crate) enum Known {
    /// A layer's.
    Layer(usize),
    /// Weights.
    Floats(Arc<Array>),
    /// Integers, such as shapes.
    Ints(Vec<usize>, Vec<i64>),
}

/// A network under construction.
pub(crate) struct Import {
    layers: Vec<Layer>,
    values: HashMap<String, Known>,
    /// The number of images that the model says, where it is a number, and that there are.
    images: Option<(i64, i64)>,
    /// The version of the operators.
    opset: i64,
}

/// The operators of a model that are not supported, each once, in order.
pub(crate) fn unsupported(nodes: &[Node]) -> Vec<String> {
    let mut names: Vec<String> = vec![];
    for node in nodes {
        let standard = node.domain.is_empty() || node.domain == "ai.onnx";
        let name =
            if standard { shown(&node.op) } else { format!("{}.{}", shown(&node.domain), shown(&node.op)) };
        let supported = standard && signature::supported().any(|op| op == node.op);
        if !supported && !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

/// A model's layers.
pub(crate) fn network(model: Model, input: Option<&[usize]>) -> Result<Network, NnError> {
    let graph = model.graph;
    if !(7..=30).contains(&model.opset) {
        let cause = format!("its operators are of set {}", model.opset);
        return Err(NnError::new("the model", cause, "export it with an opset from 7 to 30"));
    }
    let unsupported = unsupported(&graph.nodes);
    if !unsupported.is_empty() {
        let cause = format!("it has operators that are not supported: {}", unsupported.join(", "));
        let remedy = format!("write it with {}", signature::supported().collect::<Vec<_>>().join(", "));
        return Err(NnError::new("the model", cause, remedy));
    }
    let mut import = Import { layers: vec![], values: HashMap::new(), images: None, opset: model.opset };
    for weights in graph.weights {
        let known = match weights.data {
            Data::Floats(data) => Known::Floats(Arc::new(Array { lengths: weights.lengths, data })),
            Data::Ints(all) => Known::Ints(weights.lengths, all),
        };
        if import.values.insert(weights.name.clone(), known).is_some() {
            let place = format!("weights {}", shown(&weights.name));
            return Err(NnError::new(place, "there are two of this name", "save the model anew"));
        }
    }
    let mut inputs = vec![];
    let real = graph.inputs.iter().filter(|value| !import.values.contains_key(&value.name));
    for (k, value) in real.cloned().collect::<Vec<_>>().iter().enumerate() {
        let lengths = import.input_lengths(value, input.filter(|_| k == 0))?;
        let at = import.layer(
            &format!("input {}", shown(&value.name)),
            &value.name,
            Kind::Input,
            vec![],
            lengths,
        )?;
        import.values.insert(value.name.clone(), Known::Layer(at));
        inputs.push((value.name.clone(), at));
    }
    if inputs.len() != 1 {
        let cause = format!("it has {} inputs", inputs.len());
        return Err(NnError::new("the model", cause, "a network has one input"));
    }
    for at in in_order(&graph.nodes, &import.values)? {
        let node = &graph.nodes[at];
        let made = Operator::new(node, at).layers(&mut import)?;
        let Some(name) = node.outputs.first() else { continue };
        if import.values.insert(name.clone(), made).is_some() {
            let place = format!("value {}", shown(name));
            return Err(NnError::new(place, "two operators make it", "save the model anew"));
        }
    }
    let mut outputs = vec![];
    for value in &graph.outputs {
        let place = format!("output {}", shown(&value.name));
        match import.values.get(&value.name) {
            Some(Known::Layer(at)) => outputs.push((value.name.clone(), *at)),
            Some(_) => return Err(NnError::new(place, "it does not depend on the input", "leave it out")),
            None => return Err(NnError::new(place, "no operator makes it", "save the model anew")),
        }
    }
    if outputs.is_empty() {
        return Err(NnError::new("the model", "it has no output", "export it with one"));
    }
    Ok(needed(Network { name: graph.name, layers: import.layers, inputs, outputs }))
}

/// Operators, each behind those whose values it reads, whatever the order in the file.
fn in_order(nodes: &[Node], known: &HashMap<String, Known>) -> Result<Vec<usize>, NnError> {
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
            let place = Operator::new(&nodes[at], at).place;
            let Some(from) = made.get(&name[..]) else {
                let cause = format!("its input {} is neither weights nor made by an operator", shown(name));
                return Err(NnError::new(place, cause, "save the model with its weights"));
            };
            if !done[*from] {
                if begun.contains(from) {
                    let cause = format!("its input {} depends on its own output", shown(name));
                    return Err(NnError::new(place, cause, "a network has no cycles"));
                }
                stack.push((*from, 0));
            }
        }
    }
    Ok(order)
}

/// The layers that outputs need, and the inputs.
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
    /// Lengths of an input: those that are given, where they are, and fit.
    fn input_lengths(&mut self, value: &ValueInfo, given: Option<&[usize]>) -> Result<Vec<usize>, NnError> {
        let place = format!("input {}", shown(&value.name));
        let said = value.lengths.clone().unwrap_or_default();
        if let Some(Dim::Known(n)) = said.first() {
            self.images = Some((*n as i64, *n as i64));
        }
        let Some(given) = given else {
            let length = |(axis, dim): (usize, &Dim)| match dim {
                Dim::Known(n) => usize::try_from(*n as i64).map_err(|_| {
                    let cause = format!("its length along axis {axis} is {}", *n as i64);
                    NnError::new(&place, cause, "export the model with lengths that are no less than 1")
                }),
                // One image, where the model leaves open how many.
                Dim::Named(_) if axis == 0 => Ok(1),
                Dim::Named(name) => {
                    let cause = format!("its length {} is open", shown(name));
                    Err(NnError::new(&place, cause, "give an input, or the shape with --shape"))
                }
            };
            if value.lengths.is_none() {
                return Err(NnError::new(&place, "the model does not say its shape", "give an input"));
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
            let cause = format!("it has the shape {given:?}, and the model takes [{}]", said.join(", "));
            return Err(NnError::new(place, cause, "bring as many along every axis but the first"));
        }
        if let (Some((_, images)), Some(n)) = (&mut self.images, given.first()) {
            *images = *n as i64;
        }
        Ok(given.to_vec())
    }

    pub(crate) fn layer(
        &mut self,
        place: &str,
        name: &str,
        kind: Kind,
        reads: Vec<usize>,
        lengths: Vec<usize>,
    ) -> Result<usize, NnError> {
        let count = lengths.iter().try_fold(1usize, |n, l| n.checked_mul(*l));
        if count.is_none_or(|n| n > ELEMENTS) || lengths.len() > 8 {
            let cause = format!("its value has the lengths {lengths:?}");
            return Err(NnError::new(place, cause, "a value has at most 2^27 elements along 8 axes"));
        }
        if count == Some(0) {
            let cause = format!("its value has the lengths {lengths:?}");
            return Err(NnError::new(place, cause, "a value has an element at least"));
        }
        self.layers.push(Layer { name: shown(name), kind, reads, lengths });
        Ok(self.layers.len() - 1)
    }

    /// Whether a layer's elements are places, as ArgMax makes them.
    pub(crate) fn is_places(&self, layer: usize) -> bool {
        match self.layers[layer].kind {
            Kind::ArgMax(_) => true,
            Kind::Reshape | Kind::Transpose(_) => self.is_places(self.layers[layer].reads[0]),
            _ => false,
        }
    }

    pub(crate) fn lengths(&self, layer: usize) -> &[usize] {
        &self.layers[layer].lengths
    }
}
