//! Operators that have graphs of their own: branches and loops whose conditions and counts are
//! known before the run, and functions that the model defines.

use super::{
    merged,
    operator::{Import, Known, Reading, ValueType},
};
use crate::{
    Fault,
    error::shown,
    onnx::{Attribute, Graph, ModelFunction, Node},
};

/// The operators that this module reads.
pub(super) const NAMES: &[&str] = &["If", "Loop", "Scan"];

/// LOCAL: the largest number of steps of all loops of a model.
const STEPS: usize = 1 << 14;

impl Import {
    /// The outputs of a graph within the model, for these values of its inputs.
    fn inner(&mut self, graph: &Graph, inputs: Vec<Known>) -> Result<Vec<Known>, Fault> {
        let weights = graph.weights.iter().map(|weights| (weights.name.clone(), Known::of(weights.clone())));
        let names = graph.inputs.iter().map(|value| value.name.clone());
        let bound: Vec<(String, Known)> = weights.chain(names.zip(inputs)).collect();
        let bound = bound.into_iter().map(|(name, known)| (name, known, (false, None))).collect();
        let outputs: Vec<&str> = graph.outputs.iter().map(|value| &value.name[..]).collect();
        self.scope(&graph.nodes, bound, &outputs)
    }

    /// The values of names after operators that run with values of their own around them.
    fn scope(
        &mut self,
        nodes: &[Node],
        bound: Vec<(String, Known, ValueType)>,
        outputs: &[&str],
    ) -> Result<Vec<Known>, Fault> {
        let mut before = vec![];
        for (name, known, of) in bound {
            let old = (self.type_of(&name), self.values.insert(name.clone(), known));
            self.set_type(&name, of);
            before.push((name, old));
        }
        for name in nodes.iter().flat_map(|node| &node.outputs) {
            before.push((name.clone(), (self.type_of(name), self.values.remove(name))));
        }
        let made = self.run(nodes, outputs).map_err(merged).and_then(|()| {
            let one = |name: &&str| {
                self.values.get(*name).cloned().ok_or_else(|| {
                    let cause = format!("its graph makes no {}", shown(name));
                    Fault::new(
                        hushwire_fault::code::MODEL_FILE,
                        "the model's graph",
                        cause,
                        "save the model anew",
                    )
                })
            };
            outputs.iter().map(one).collect()
        });
        let types = outputs.iter().map(|name| self.type_of(name)).collect();
        for (name, (of, old)) in before.into_iter().rev() {
            self.set_type(&name, of);
            match old {
                Some(known) => self.values.insert(name, known),
                None => self.values.remove(&name),
            };
        }
        self.typed_outputs = Some(types);
        made
    }

    pub(super) fn type_of(&self, name: &str) -> ValueType {
        (self.whole.contains(name), self.kinds.get(name).copied())
    }

    fn set_type(&mut self, name: &str, (whole, kind): ValueType) {
        match kind {
            Some(kind) => self.kinds.insert(name.to_owned(), kind),
            None => self.kinds.remove(name),
        };
        if whole {
            self.whole.insert(name.to_owned());
        } else {
            self.whole.remove(name);
        }
    }
}

impl Reading<'_> {
    /// The values of a branch or a loop, if it is one.
    pub(super) fn controlled(&self, import: &mut Import) -> Option<Result<Vec<Known>, Fault>> {
        if !super::operator::domain(self.node).is_empty() {
            return None;
        }
        match &self.node.op[..] {
            "If" => Some(self.branch(import)),
            "Loop" => Some(self.repeated(import)),
            "Scan" => Some(self.scanned(import)),
            _ => None,
        }
    }

    fn graph(&self, name: &str) -> Result<&Graph, Fault> {
        match self.node.attributes.get(name) {
            Some(Attribute::Graph(graph)) => Ok(graph),
            _ => Err(self.error(format!("it has no graph {name}"), "save the model anew")),
        }
    }

    /// One known integer or truth value.
    fn one(&self, known: &Known, what: &str) -> Result<i64, Fault> {
        match known {
            Known::Ints(_, all) if all.len() == 1 => Ok(all[0]),
            Known::Layer(_) => {
                let cause = format!("its {what} depends on secret values");
                Err(self.error(cause, "export the model without it, or give its public inputs (--public)"))
            }
            Known::Floats(_) => {
                let cause = format!("its {what} depends on weights, and would tell of them");
                Err(self.error(cause, "make it a constant integer or truth value"))
            }
            Known::Ints(..) => {
                Err(self.error(format!("its {what} is not one integer"), "save the model anew"))
            }
        }
    }

    fn branch(&self, import: &mut Import) -> Result<Vec<Known>, Fault> {
        let condition = self.input(import, 0)?;
        if let Known::Layer(_) = condition {
            return self.both(import, &condition);
        }
        let yes = self.one(&condition, "condition")? != 0;
        let graph = self.graph(if yes { "then_branch" } else { "else_branch" })?;
        import.inner(graph, vec![])
    }

    /// The values of both branches, one of which a secret condition chooses.
    fn both(&self, import: &mut Import, condition: &Known) -> Result<Vec<Known>, Fault> {
        let [yes, no] = ["then_branch", "else_branch"].map(|name| self.graph(name));
        let yes = import.inner(yes?, vec![])?;
        let types = import.typed_outputs.take();
        let no = import.inner(no?, vec![])?;
        let others = import.typed_outputs.take();
        let mut made = vec![];
        for (yes, no) in yes.iter().zip(&no) {
            if import.lengths_of(yes) != import.lengths_of(no) {
                let cause = "its condition depends on secret values, and its branches make unlike lengths";
                return Err(
                    self.error(cause, "give its public inputs (--public), or export it without branches")
                );
            }
            // Values that are known and equal in both, such as a length, stay known.
            made.push(match (yes, no) {
                (Known::Ints(_, a), Known::Ints(_, b)) if a == b => yes.clone(),
                _ => self.call(import, "Where", &[condition, yes, no], &[])?,
            });
        }
        let pairs = types.into_iter().flatten().zip(others.into_iter().flatten());
        let both = |(a, b): (ValueType, ValueType)| (a.0 && b.0, a.1.filter(|kind| b.1 == Some(*kind)));
        import.typed_outputs = Some(pairs.map(both).collect());
        Ok(made)
    }

    /// Counts a step of a loop.
    fn step(&self, import: &mut Import) -> Result<(), Fault> {
        import.steps += 1;
        if import.steps > STEPS {
            let cause = format!("loops take more than {STEPS} steps");
            return Err(self.error(cause, "export the model for shorter inputs"));
        }
        Ok(())
    }

    /// Values along a new axis.
    fn stacked(&self, import: &mut Import, parts: &[Known], axis: i64) -> Result<Known, Fault> {
        let axes = Known::list(&[axis]);
        let one = |part: &Known| self.call(import, "Unsqueeze", &[part, &axes], &[]);
        let parts = parts.iter().map(one).collect::<Result<Vec<_>, _>>()?;
        let parts: Vec<&Known> = parts.iter().collect();
        if parts.is_empty() {
            return Err(self.error("it takes no step", "export the model for longer inputs"));
        }
        self.call(import, "Concat", &parts, &[("axis", Attribute::Int(axis))])
    }

    fn repeated(&self, import: &mut Import) -> Result<Vec<Known>, Fault> {
        let graph = self.graph("body")?;
        let count = self.maybe(import, 0)?.map(|known| self.one(&known, "count")).transpose()?;
        let mut goes = match self.maybe(import, 1)? {
            Some(known) => self.one(&known, "condition")? != 0,
            None => true,
        };
        let carried = self.node.inputs.len().saturating_sub(2);
        let mut state = (0..carried).map(|k| self.input(import, k + 2)).collect::<Result<Vec<_>, _>>()?;
        let mut scans: Vec<Vec<Known>> = vec![vec![]; graph.outputs.len().saturating_sub(1 + carried)];
        let mut at = 0;
        while goes && count.is_none_or(|count| at < count) {
            self.step(import)?;
            let inputs =
                [Known::Ints(vec![], vec![at]), Known::Ints(vec![], vec![1])].into_iter().chain(state);
            let mut made = import.inner(graph, inputs.collect())?;
            if made.len() < 1 + carried {
                return Err(self.error("its body makes too few values", "save the model anew"));
            }
            scans.iter_mut().zip(made.split_off(1 + carried)).for_each(|(all, one)| all.push(one));
            state = made.split_off(1);
            goes = self.one(&made[0], "condition")? != 0;
            at += 1;
        }
        // The first output of the body is the condition.
        let types = import.typed_outputs.take().filter(|_| at > 0);
        for parts in &scans {
            state.push(self.stacked(import, parts, 0)?);
        }
        import.typed_outputs = types.map(|types| types.into_iter().skip(1).collect());
        Ok(state)
    }

    fn scanned(&self, import: &mut Import) -> Result<Vec<Known>, Fault> {
        let graph = self.graph("body")?;
        let inputs = (0..self.node.inputs.len()).map(|k| self.input(import, k));
        let mut inputs = inputs.collect::<Result<Vec<_>, _>>()?;
        let count = usize::try_from(self.int("num_scan_inputs", 0)?).unwrap_or(0);
        let states = inputs.len().checked_sub(count).filter(|_| count > 0);
        let states = states.ok_or_else(|| self.error("it has too few inputs", "save the model anew"))?;
        let across = inputs.split_off(states);
        let (mut state, mut scans) = (inputs, vec![vec![]; graph.outputs.len().saturating_sub(states)]);
        let list = |name: &str, n: usize| Ok::<_, Fault>(self.ints(name)?.unwrap_or_else(|| vec![0; n]));
        let (axes, turned) = (list("scan_input_axes", count)?, list("scan_input_directions", count)?);
        let (to, back) =
            (list("scan_output_axes", scans.len())?, list("scan_output_directions", scans.len())?);
        if axes.len() != count
            || turned.len() != count
            || to.len() != scans.len()
            || back.len() != scans.len()
        {
            return Err(self.error("its axes are too few", "save the model anew"));
        }
        let mut length = None;
        for (known, axis) in across.iter().zip(&axes) {
            let lengths = import.lengths_of(known);
            let own = lengths[self.axis(*axis, lengths.len())?];
            if length.is_some_and(|length| length != own) {
                return Err(self.error("its inputs have unlike lengths", "save the model anew"));
            }
            length = Some(own);
        }
        let length = length.unwrap_or(0);
        for i in 0..length {
            self.step(import)?;
            let mut given = state;
            for (k, known) in across.iter().enumerate() {
                let at = if turned[k] == 1 { length - 1 - i } else { i };
                let at = Known::Ints(vec![], vec![at as i64]);
                let axis = [("axis", Attribute::Int(axes[k]))];
                given.push(self.call(import, "Gather", &[known, &at], &axis)?);
            }
            let mut made = import.inner(graph, given)?;
            scans.iter_mut().zip(made.split_off(states.min(made.len()))).for_each(|(all, one)| all.push(one));
            state = made;
        }
        let types = import.typed_outputs.take();
        for (k, mut parts) in scans.into_iter().enumerate() {
            if back[k] == 1 {
                parts.reverse();
            }
            state.push(self.stacked(import, &parts, to[k])?);
        }
        import.typed_outputs = types;
        Ok(state)
    }

    /// The values of a function of the model's own.
    pub(super) fn expanded(&self, import: &mut Import, function: ModelFunction) -> Result<Vec<Known>, Fault> {
        let ModelFunction { inputs, outputs, defaults, mut nodes, .. } = function;
        let (mut bound, mut absent) = (vec![], vec![]);
        for (k, name) in inputs.into_iter().enumerate() {
            match self.maybe(import, k)? {
                Some(known) => {
                    let of = self.node.inputs.get(k).map_or((false, None), |of| import.type_of(of));
                    bound.push((name, known, of));
                }
                None => absent.push(name),
            }
        }
        for node in &mut nodes {
            node.inputs.iter_mut().filter(|name| absent.contains(name)).for_each(String::clear);
            let given = |of: &Attribute| match of {
                Attribute::Outer(name) => {
                    self.node.attributes.get(name).or_else(|| defaults.get(name)).cloned()
                }
                of => Some(of.clone()),
            };
            let attributes = node.attributes.iter().filter_map(|(name, of)| Some((name.clone(), given(of)?)));
            node.attributes = attributes.collect();
        }
        let wanted: Vec<&str> = outputs.iter().zip(&self.node.outputs).map(|(name, _)| &name[..]).collect();
        import.scope(&nodes, bound, &wanted)
    }
}

#[cfg(test)]
mod tests {
    use crate::{
        Array, Floats, Members, Network, Secure, Wanted,
        onnx::{Attribute, Model, ModelFunction, Node},
        zoo::Writer,
    };

    fn node(op: &str, inputs: &[&str], output: &str, attributes: &[(&str, Attribute)]) -> Node {
        Node {
            name: output.to_owned(),
            op: op.to_owned(),
            inputs: inputs.iter().map(|name| (*name).to_owned()).collect(),
            outputs: vec![output.to_owned()],
            attributes: attributes.iter().map(|(name, of)| ((*name).to_owned(), of.clone())).collect(),
            ..Node::default()
        }
    }

    fn to(kind: i64) -> Vec<(&'static str, Attribute)> {
        vec![("to", Attribute::Int(kind))]
    }

    fn function(name: &str, nodes: Vec<Node>) -> ModelFunction {
        ModelFunction {
            name: name.to_owned(),
            domain: "own".into(),
            inputs: vec!["t".into()],
            outputs: vec!["y".into()],
            nodes,
            ..ModelFunction::default()
        }
    }

    fn value(mut model: Model, functions: Vec<ModelFunction>, x: &[f32]) -> Vec<f32> {
        for node in &mut model.graph.nodes {
            if functions.iter().any(|function| function.name == node.op) {
                node.domain = "own".into();
            }
        }
        model.functions = functions;
        let network = Network::new(model, Some(&[x.len(), 1])).unwrap_or_else(|e| panic!("{e}"));
        let floats = Floats::new(&network, &Array::new(&[x.len(), 1], x.to_vec()), true).expect("it fits");
        floats.value(network.outputs[0].1).data.clone()
    }

    /// A function's value has the same name as integers outside of it, and is not integers.
    #[test]
    fn names_within_functions_are_their_own() {
        let truncated = vec![node("Cast", &["t"], "c", &to(7)), node("Cast", &["c"], "y", &to(1))];
        let mut w = Writer::new("names", 1, &[1, 1]);
        let t = w.op("Cast", &["input"], &to(7));
        let y = w.op("Truncated", &["input"], &[]);
        let t2 = w.op("Cast", &[&t], &to(1));
        let y = w.op("Add", &[&y, &t2], &[]);
        let mut model = w.finish(&y);
        for node in &mut model.graph.nodes {
            node.inputs.iter_mut().chain(&mut node.outputs).filter(|name| **name == t).for_each(|name| {
                "t".clone_into(name);
            });
        }
        let made = value(model, vec![function("Truncated", truncated)], &[1.75, -2.5]);
        assert_eq!(made, [2.0, -4.0]);
    }

    /// Integers go into a function, and floats come out.
    #[test]
    fn values_of_functions_have_types_of_their_own() {
        let half = ("value_float", Attribute::Float(0.5));
        let halved = vec![
            node("Cast", &["t"], "c", &to(1)),
            node("Constant", &[], "half", &[half]),
            node("Mul", &["c", "half"], "y", &[]),
        ];
        let mut w = Writer::new("types", 1, &[1, 1]);
        let whole = w.op("Cast", &["input"], &to(7));
        let y = w.op("Halved", &[&whole], &[]);
        let y = w.op("Cast", &[&y], &to(7));
        let y = w.op("Cast", &[&y], &to(1));
        let made = value(w.finish(&y), vec![function("Halved", halved)], &[3.75, -5.5]);
        assert_eq!(made, [1.0, -2.0]);
        // A function of integers with an integer result: their quotient is whole, too.
        let doubled = vec![node("Add", &["t", "t"], "y", &[])];
        let mut w = Writer::new("types", 1, &[1, 1]);
        let whole = w.op("Cast", &["input"], &to(7));
        let y = w.op("Doubled", &[&whole], &[]);
        let four = w.integers(7, &[], vec![4]);
        let y = w.op("Div", &[&y, &four], &[]);
        let y = w.op("Cast", &[&y], &to(1));
        let made = value(w.finish(&y), vec![function("Doubled", doubled)], &[3.75, -7.5]);
        assert_eq!(made, [1.0, -3.0]);
    }

    /// An output that follows from no input, such as a list of anchors, comes out beside others.
    #[test]
    fn known_values_are_outputs_beside_others() {
        let mut w = Writer::new("known", 1, &[1, 2]);
        let anchors = w.weights(&[2, 2], vec![0.5, 1.0, -2.0, 4.0]);
        let known = w.op("Identity", &[&anchors], &[]);
        let y = w.op("Relu", &["input"], &[]);
        let mut model = w.finish(&y);
        let mut of = model.graph.outputs[0].clone();
        of.name = known;
        model.graph.outputs.push(of);
        let network = Network::new(model, None).expect("a network");
        let x = Array::new(&[1, 2], vec![3.0, -1.0]);
        let floats = Floats::new(&network, &x, true).expect("it fits");
        let made: Vec<&[f32]> = network.outputs.iter().map(|(_, at)| &floats.value(*at).data[..]).collect();
        assert_eq!(made, [&[3.0, 0.0][..], &[0.5, 1.0, -2.0, 4.0]]);
    }

    /// The owner of a network without weights takes part as any other.
    #[test]
    fn an_owner_without_weights_brings_an_input_all_the_same() {
        let mut w = Writer::new("bare", 1, &[1, 2]);
        let y = w.op("Relu", &["input"], &[]);
        let network = Network::new(w.finish(&y), None).expect("a network");
        let secure =
            Secure::new(&network, Wanted::default().usual(), &Members::default()).expect("it is lowered");
        let owners: Vec<&str> = secure.computation().inputs().map(|(name, _)| name).collect();
        assert_eq!(owners, ["input", "nothing0"]);
    }
}
