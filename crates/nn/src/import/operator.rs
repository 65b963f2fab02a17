//! A network under construction, and one operator of a model: its inputs and attributes, with
//! errors that name it.

use crate::{
    Array, Fault,
    array::together,
    error::shown,
    network::Layer,
    onnx::{Attribute, Data, ModelFunction, Node, Tensor},
    operators::{self, Kind, Operator, Read, ScaleRole},
    windows::Said,
};
use hushwire_fault::{IntoText, code};
use std::fmt::Display;
use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
};

/// LOCAL: the deepest nesting of functions, subgraphs and operators made of others.
const DEPTH: usize = 32;
/// LOCAL: the largest number of elements of a value.
pub(crate) const ELEMENTS: usize = 1 << 27;

/// A named value.
#[derive(Clone, Debug)]
pub(crate) enum Known {
    /// The value of a layer.
    Layer(usize),
    /// Weights.
    Floats(Arc<Array>),
    /// Integers, such as shapes.
    Ints(Vec<usize>, Vec<i64>),
}

impl Known {
    /// A tensor of the file.
    pub(crate) fn of(tensor: Tensor) -> Self {
        match tensor.data {
            Data::Floats(data) => Known::Floats(Arc::new(Array { lengths: tensor.lengths, data })),
            Data::Ints(all) => Known::Ints(tensor.lengths, all),
        }
    }

    /// Weights.
    pub(crate) fn floats(lengths: &[usize], data: Vec<f32>) -> Self {
        Known::Floats(Arc::new(Array::new(lengths, data)))
    }

    /// A list of integers.
    pub(crate) fn list(all: &[i64]) -> Self {
        Known::Ints(vec![all.len()], all.to_vec())
    }

    /// Whether it is known before the run.
    pub(crate) fn is_known(&self) -> bool {
        !matches!(self, Known::Layer(_))
    }

    /// A known value as floats.
    pub(crate) fn as_floats(&self) -> Option<Arc<Array>> {
        match self {
            Known::Layer(_) => None,
            Known::Floats(array) => Some(array.clone()),
            Known::Ints(lengths, all) => {
                let data = all.iter().map(|n| *n as f32).collect();
                Some(Arc::new(Array { lengths: lengths.clone(), data }))
            }
        }
    }
}

/// The operator set of a node; empty for the standard one.
pub(crate) fn domain(node: &Node) -> &str {
    if node.domain == "ai.onnx" { "" } else { &node.domain }
}

/// An operator's name with its set, for messages.
pub(crate) fn shown_name(node: &Node) -> String {
    match domain(node) {
        "" => shown(&node.op),
        set => format!("{}.{}", shown(set), shown(&node.op)),
    }
}

/// Whether a value is integers or truth values, and its type if it is of few bits or without a
/// sign.
pub(super) type ValueType = (bool, Option<i64>);

/// A network under construction.
pub(crate) struct Import {
    pub(crate) layers: Vec<Layer>,
    pub(super) values: HashMap<String, Known>,
    /// The number of images in the model, if it is fixed, and the actual one.
    pub(crate) images: Option<(i64, i64)>,
    /// The version of the operator set.
    pub(crate) opset: i64,
    /// The names of values that are integers or truth values.
    pub(super) whole: HashSet<String>,
    /// The types of outputs of the graph that was read last.
    pub(super) typed_outputs: Option<Vec<ValueType>>,
    /// ONNX's types of values that are integers of few bits or without a sign.
    pub(crate) kinds: HashMap<String, i64>,
    /// Values whose dynamic quantization is undone.
    pub(crate) undone: HashSet<String>,
    /// Functions of the model's own.
    pub(super) functions: Arc<[ModelFunction]>,
    /// The nesting depth of the operator that is being read.
    pub(super) depth: usize,
    /// The number of steps of loops so far.
    pub(super) steps: usize,
    /// Sequences of values, by name.
    pub(super) sequences: HashMap<String, Vec<(Known, ValueType)>>,
}

impl Import {
    pub(super) fn new(opset: i64, functions: Vec<ModelFunction>) -> Self {
        Import {
            layers: vec![],
            values: HashMap::new(),
            images: None,
            // A model with only the set `ai.onnx.ml` gets the standard operators of its time.
            opset: if opset == 0 { 13 } else { opset },
            whole: HashSet::new(),
            typed_outputs: None,
            kinds: HashMap::new(),
            undone: HashSet::new(),
            functions: functions.into(),
            depth: 0,
            steps: 0,
            sequences: HashMap::new(),
        }
    }

    /// The function of the model's own that an operator names.
    pub(super) fn function(&self, node: &Node) -> Option<&ModelFunction> {
        let is = |of: &&ModelFunction| of.name == node.op && of.domain == node.domain;
        self.functions.iter().find(is)
    }

    pub(crate) fn layer(
        &mut self,
        place: &str,
        name: &str,
        kind: Kind,
        reads: Vec<usize>,
        lengths: Vec<usize>,
    ) -> Result<usize, Fault> {
        let count = lengths.iter().try_fold(1usize, |n, l| n.checked_mul(*l));
        if count.is_none_or(|n| n > ELEMENTS) || lengths.len() > 8 {
            let cause = format!("its value has the lengths {lengths:?}");
            return Err(Fault::new(
                code::MODEL_FILE,
                place,
                cause,
                "give it at most 2^27 elements along 8 axes",
            ));
        }
        if count == Some(0) {
            let cause = format!("its value has the lengths {lengths:?}");
            let remedy = "give it at least one element; leave out steps for missing values, such as imputers: inputs have none";
            return Err(Fault::new(code::MODEL_FILE, place, cause, remedy));
        }
        self.layers.push(Layer { name: shown(name), kind, reads, lengths });
        Ok(self.layers.len() - 1)
    }

    /// Whether a layer's elements are places, such as those from ArgMax.
    pub(crate) fn is_places(&self, layer: usize) -> bool {
        match self.layers[layer].kind.def().role() {
            ScaleRole::Places(_) => true,
            ScaleRole::Moves => self.is_places(self.layers[layer].reads[0]),
            _ => false,
        }
    }

    pub(crate) fn lengths(&self, layer: usize) -> &[usize] {
        &self.layers[layer].lengths
    }

    /// The lengths of a named value.
    pub(crate) fn lengths_of(&self, known: &Known) -> Vec<usize> {
        match known {
            Known::Layer(at) => self.lengths(*at).to_vec(),
            Known::Floats(array) => array.lengths.clone(),
            Known::Ints(lengths, _) => lengths.clone(),
        }
    }
}

/// The operands of an element-wise operator: the layers that it reads, the weights if one operand
/// is weights, and the common lengths.
pub(crate) type Two = (Vec<usize>, Option<Arc<Array>>, Vec<usize>);

/// An operator and its name in messages.
pub(crate) struct Reading<'a> {
    pub(crate) node: &'a Node,
    pub(crate) place: String,
    pub(crate) name: String,
}

impl<'a> Reading<'a> {
    pub(crate) fn new(node: &'a Node, at: usize) -> Self {
        let name = match (&node.name[..], node.outputs.first()) {
            ("", Some(output)) => output.clone(),
            ("", None) => format!("{at}"),
            (name, _) => name.to_owned(),
        };
        Reading { node, place: format!("node {} ({})", shown(&name), shown(&node.op)), name }
    }

    pub(crate) fn error(&self, cause: impl IntoText, remedy: &str) -> Fault {
        Fault::new(code::OPERATOR, &self.place, cause, remedy)
    }

    /// An optional input.
    pub(crate) fn maybe(&self, import: &Import, k: usize) -> Result<Option<Known>, Fault> {
        match self.node.inputs.get(k).map(String::as_str) {
            None | Some("") => Ok(None),
            Some(name) => match import.values.get(name) {
                Some(known) => Ok(Some(known.clone())),
                None => Err(self.error(
                    format!("its input {} is an output that is not supported", shown(name)),
                    "use the first output of each operator alone",
                )),
            },
        }
    }

    pub(crate) fn input(&self, import: &Import, k: usize) -> Result<Known, Fault> {
        let missing = || self.error(format!("it has no input {k}"), "save the model anew");
        self.maybe(import, k)?.ok_or_else(missing)
    }

    /// An input that is a layer's value.
    pub(crate) fn layer(&self, import: &Import, k: usize) -> Result<usize, Fault> {
        match self.input(import, k)? {
            Known::Layer(at) => Ok(at),
            _ => Err(self.error(
                format!("its input {k} is known, and a value is wanted"),
                "write the network so that the input comes first",
            )),
        }
    }

    /// An input that is weights.
    pub(crate) fn weights(&self, import: &Import, k: usize) -> Result<Arc<Array>, Fault> {
        let known = self.input(import, k)?;
        self.as_weights(known, k)
    }

    pub(crate) fn maybe_weights(&self, import: &Import, k: usize) -> Result<Option<Arc<Array>>, Fault> {
        self.maybe(import, k)?.map(|known| self.as_weights(known, k)).transpose()
    }

    /// A known value as weights.
    pub(crate) fn known_weights(&self, known: &Known) -> Result<Arc<Array>, Fault> {
        self.as_weights(known.clone(), 0)
    }

    fn as_weights(&self, known: Known, k: usize) -> Result<Arc<Array>, Fault> {
        match known {
            Known::Floats(array) => {
                if array.data.iter().any(|x| !x.is_finite()) {
                    let cause = format!("its weights, input {k}, are not all finite");
                    return Err(self.error(cause, "train the model again"));
                }
                Ok(array)
            }
            Known::Ints(lengths, all) => {
                Ok(Arc::new(Array { lengths, data: all.iter().map(|n| *n as f32).collect() }))
            }
            Known::Layer(_) => Err(self.error(
                format!("its input {k} is a value, and weights are wanted"),
                "weights stand in the model; they do not depend on the input",
            )),
        }
    }

    /// An input of known integers.
    pub(crate) fn integers(&self, import: &Import, k: usize) -> Result<Option<Vec<i64>>, Fault> {
        Ok(match self.maybe(import, k)? {
            None => None,
            Some(Known::Ints(_, all)) => Some(all),
            Some(_) => {
                let cause = format!("its input {k} is not known before the run");
                let remedy = "export the model with shapes and axes that do not depend on values, or give its public inputs (--public)";
                return Err(self.error(cause, remedy));
            }
        })
    }

    fn wrong(&self, name: &str) -> Fault {
        self.error(format!("its attribute {name} is of another kind"), "save the model anew")
    }

    pub(crate) fn int(&self, name: &str, default: i64) -> Result<i64, Fault> {
        match self.node.attributes.get(name) {
            None => Ok(default),
            Some(Attribute::Int(n)) => Ok(*n),
            Some(_) => Err(self.wrong(name)),
        }
    }

    pub(crate) fn flag(&self, name: &str, default: bool) -> Result<bool, Fault> {
        Ok(self.int(name, default.into())? != 0)
    }

    pub(crate) fn float(&self, name: &str, default: f32) -> Result<f32, Fault> {
        match self.node.attributes.get(name) {
            None => Ok(default),
            Some(Attribute::Float(x)) => Ok(*x),
            Some(_) => Err(self.wrong(name)),
        }
    }

    pub(crate) fn maybe_float(&self, name: &str) -> Result<Option<f32>, Fault> {
        match self.node.attributes.get(name) {
            None => Ok(None),
            Some(_) => self.float(name, 0.0).map(Some),
        }
    }

    pub(crate) fn ints(&self, name: &str) -> Result<Option<Vec<i64>>, Fault> {
        match self.node.attributes.get(name) {
            None => Ok(None),
            Some(Attribute::Ints(all)) => Ok(Some(all.clone())),
            Some(_) => Err(self.wrong(name)),
        }
    }

    pub(crate) fn text(&self, name: &str, default: &str) -> Result<String, Fault> {
        match self.node.attributes.get(name) {
            None => Ok(default.to_owned()),
            Some(Attribute::Text(text)) => Ok(text.clone()),
            Some(_) => Err(self.wrong(name)),
        }
    }

    /// A list of floats from an attribute, or from the tensor that replaces it.
    pub(crate) fn floats(&self, name: &str) -> Result<Vec<f32>, Fault> {
        let tensor = format!("{name}_as_tensor");
        match (self.node.attributes.get(name), self.node.attributes.get(&tensor)) {
            (Some(Attribute::Floats(all)), _)
            | (None, Some(Attribute::Tensor(Tensor { data: Data::Floats(all), .. }))) => Ok(all.clone()),
            (None, None) => Ok(vec![]),
            _ => Err(self.wrong(name)),
        }
    }

    pub(crate) fn texts(&self, name: &str) -> Result<Vec<String>, Fault> {
        match self.node.attributes.get(name) {
            None => Ok(vec![]),
            Some(Attribute::Texts(all)) => Ok(all.clone()),
            Some(_) => Err(self.wrong(name)),
        }
    }

    /// A list of numbers that are not negative.
    pub(crate) fn sizes<const N: usize>(&self, name: &str, default: [usize; N]) -> Result<[usize; N], Fault> {
        let Some(all) = self.ints(name)? else { return Ok(default) };
        let sizes: Option<Vec<usize>> = all.iter().map(|n| usize::try_from(*n).ok()).collect();
        let sizes = sizes.and_then(|sizes| <[usize; N]>::try_from(sizes).ok());
        sizes.ok_or_else(|| {
            self.error(format!("its {name} are {all:?}"), "take windows over rows and columns")
        })
    }

    /// An axis counted from the front; negative ones count from the end.
    pub(crate) fn axis(&self, axis: i64, rank: usize) -> Result<usize, Fault> {
        let found = if axis < 0 { axis + rank as i64 } else { axis };
        let found = usize::try_from(found).ok().filter(|axis| *axis < rank);
        found.ok_or_else(|| self.error(format!("its axis is {axis} of {rank}"), "save the model anew"))
    }

    /// Whether an attribute is present.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.node.attributes.contains_key(name)
    }

    /// The values that an operator makes: layers, or values that are known before the run.
    pub(crate) fn all(&self, import: &mut Import) -> Result<Vec<Known>, Fault> {
        if import.depth == DEPTH {
            return Err(self.error(format!("it is nested more than {DEPTH} deep"), "export a flat model"));
        }
        import.depth += 1;
        let made = self.made_of(import);
        import.depth -= 1;
        made
    }

    fn made_of(&self, import: &mut Import) -> Result<Vec<Known>, Fault> {
        let set = domain(self.node);
        if let Some(made) = self.controlled(import) {
            return made;
        }
        if let Some(function) = import.function(self.node).cloned() {
            return self.expanded(import, function);
        }
        if let Some(made) = self.fused(import) {
            return made;
        }
        if let Some(made) = self.sequence(import) {
            return made;
        }
        let mut inputs =
            (0..self.node.inputs.len()).map(|k| self.maybe(import, k)).collect::<Result<Vec<_>, _>>()?;
        if let ("EyeLike", [Some(x)]) = (&self.node.op[..], &mut inputs[..])
            && !x.is_known()
        {
            // It reads the lengths alone.
            let lengths = import.lengths_of(x);
            let zeros = vec![0.0; lengths.iter().product()];
            *x = Known::Floats(Arc::new(Array::new(&lengths, zeros)));
        }
        let known = inputs.iter().flatten().all(Known::is_known);
        if known
            && set.is_empty()
            && let Some(made) = self.folded(import, &inputs)
        {
            return made;
        }
        let Some(operator) = operators::operator(set, &self.node.op) else {
            let cause = "it reads secret values, and is supported on what is known before the run alone";
            let remedy =
                "export the model with fixed shapes or without it, or give its public inputs (--public)";
            return Err(self.error(cause, remedy));
        };
        let made = self.layers(operator, import);
        match inputs.first() {
            // A cast that is refused must not be computed as if its operand were secret.
            Some(Some(first)) if known && made.is_err() && operator.name != "Cast" => {
                self.by_layer(operator, import, first).map_or(made, Ok)
            }
            _ => made,
        }
    }

    fn layers(&self, operator: &Operator, import: &mut Import) -> Result<Vec<Known>, Fault> {
        if !operator.moves {
            let before = self.places_as_numbers(import)?;
            if !before.is_empty() {
                let made = self.layers(operator, import);
                import.values.extend(before);
                return made;
            }
        }
        if let Some(made) = self.wrapping(operator, import) {
            return made.map(|made| vec![made]);
        }
        self.check(operator, import)?;
        match operator.read {
            Read::One(read) => Ok(vec![read(self, import)?]),
            Read::All(read) => read(self, import),
        }
    }

    /// Replaces operands that are places, such as those from ArgMax, by numbers. Returns the places
    /// with their names.
    fn places_as_numbers(&self, import: &mut Import) -> Result<Vec<(String, Known)>, Fault> {
        let mut before = vec![];
        for (k, name) in self.node.inputs.iter().enumerate() {
            if let Some(Known::Layer(at)) = self.maybe(import, k)?
                && import.is_places(at)
            {
                let numbers = operators::numbers(self, import, at)?;
                before.extend(import.values.insert(name.clone(), numbers).map(|old| (name.clone(), old)));
            }
        }
        Ok(before)
    }

    /// The values of an operator on known values, computed in floating point by its layer.
    fn by_layer(&self, operator: &Operator, import: &Import, first: &Known) -> Option<Vec<Known>> {
        let array = first.as_floats()?;
        let mut alone = Import::new(import.opset, vec![]);
        let input = Kind::Input(operators::Input { whole: false, range: None });
        let at = alone.layer(&self.place, "x", input, vec![], array.lengths.clone()).ok()?;
        for name in &self.node.inputs {
            let known = import.values.get(name).cloned();
            alone.values.extend(known.map(|known| (name.clone(), known)));
        }
        alone.values.insert(self.node.inputs[0].clone(), Known::Layer(at));
        let made = self.layers(operator, &mut alone).ok()?;
        let mut values: Vec<Arc<Array>> = vec![];
        for layer in &alone.layers {
            let reads: Vec<Arc<Array>> = layer.reads.iter().map(|at| values[*at].clone()).collect();
            values.push(match layer.kind {
                Kind::Input(_) => array.clone(),
                _ => Arc::new(layer.kind.def().value(&reads, &layer.lengths)),
            });
        }
        let one = |known: Known| match known {
            Known::Layer(at) if alone.is_places(at) => {
                Known::Ints(values[at].lengths.clone(), values[at].data.iter().map(|x| *x as i64).collect())
            }
            Known::Layer(at) => Known::Floats(values[at].clone()),
            known => known,
        };
        Some(made.into_iter().map(one).collect())
    }

    /// The values of another operator, which replaces this one.
    pub(crate) fn call_all(
        &self,
        import: &mut Import,
        op: &str,
        inputs: &[Option<&Known>],
        outputs: usize,
        attributes: &[(&str, Attribute)],
    ) -> Result<Vec<Known>, Fault> {
        let mut node = Node { name: self.name.clone(), op: op.to_owned(), ..Node::default() };
        let mut before = vec![];
        for (k, known) in inputs.iter().enumerate() {
            let name = known.map_or(String::new(), |_| format!("\u{0}{}.{k}", import.depth));
            if let Some(known) = known {
                before.push((name.clone(), import.values.insert(name.clone(), (*known).clone())));
            }
            node.inputs.push(name);
        }
        node.outputs = (0..outputs).map(|k| format!("\u{0}{k}")).collect();
        node.attributes = attributes.iter().map(|(name, of)| ((*name).to_owned(), of.clone())).collect();
        let inner = Reading { node: &node, place: self.place.clone(), name: self.name.clone() };
        let made = inner.all(import);
        for (name, known) in before {
            match known {
                Some(known) => import.values.insert(name, known),
                None => import.values.remove(&name),
            };
        }
        made
    }

    /// The value of another operator, which replaces this one.
    pub(crate) fn call(
        &self,
        import: &mut Import,
        op: &str,
        inputs: &[&Known],
        attributes: &[(&str, Attribute)],
    ) -> Result<Known, Fault> {
        let inputs: Vec<Option<&Known>> = inputs.iter().map(|known| Some(*known)).collect();
        let made = self.call_all(import, op, &inputs, 1, attributes)?;
        made.into_iter()
            .next()
            .ok_or_else(|| self.error(format!("{op} makes no value"), "report this as a bug"))
    }

    /// Whether an operator makes integers or truth values.
    pub(super) fn is_whole(&self, import: &Import) -> bool {
        match &self.node.op[..] {
            "Cast" => matches!(self.node.attributes.get("to"), Some(Attribute::Int(2..=7 | 9 | 12 | 13))),
            "QuantizeLinear" | "QLinearConv" | "QLinearMatMul" | "Equal" | "Less" | "LessOrEqual"
            | "Greater" | "GreaterOrEqual" | "Not" | "And" | "Or" | "Xor" | "ArgMax" | "ArgMin" | "Shape"
            | "Size" => true,
            "If" | "Loop" | "Scan" => false,
            _ => {
                let names = self.node.inputs.iter().filter(|name| !name.is_empty());
                let mut all = names.map(|name| (import.whole.contains(name), import.values.get(name)));
                !self.node.inputs.is_empty()
                    && all.all(|(whole, known)| whole || matches!(known, Some(Known::Ints(..))))
            }
        }
    }

    /// Whether an input is integers or truth values.
    pub(crate) fn reads_whole(&self, import: &Import, k: usize) -> bool {
        self.node.inputs.get(k).is_some_and(|name| import.whole.contains(name))
    }

    /// Checks that all inputs, outputs and attributes are supported, and that values are of an
    /// accepted kind. An ignored attribute would give a wrong result, so an unsupported attribute
    /// is refused, whatever its value.
    fn check(&self, operator: &Operator, import: &Import) -> Result<(), Fault> {
        let Operator { inputs, outputs, fewer, attributes, twice, .. } = operator;
        if let Some(odd) = self.node.attributes.keys().find(|name| !attributes.contains(&&name[..])) {
            let remedy = match attributes {
                [] => "leave it out".to_owned(),
                _ => format!("leave it out, or take one of {}", attributes.join(", ")),
            };
            let fields: [(_, &dyn Display); 2] = [("attribute", &shown(odd)), ("remedy", &remedy)];
            return Err(Fault::filled(code::ATTRIBUTE_UNSUPPORTED, &fields).at(&self.place));
        }
        let named = |all: &[String]| all.iter().rposition(|name| !name.is_empty()).map_or(0, |at| at + 1);
        if named(&self.node.inputs) > *inputs {
            let cause = format!("it has {} inputs", named(&self.node.inputs));
            return Err(self.error(cause, &format!("give it at most {inputs}")));
        }
        if named(&self.node.outputs) > *outputs {
            let cause = format!("it has {} outputs", named(&self.node.outputs));
            return Err(self.error(cause, fewer));
        }
        for (k, attribute) in *twice {
            let input = self.node.inputs.get(*k).is_some_and(|input| !input.is_empty());
            if input && self.has(attribute) {
                let cause = format!("its {attribute} stand in an attribute and in an input");
                return Err(self.error(cause, "save the model anew"));
            }
        }
        self.takes_kinds(operator, import)?;
        Ok(())
    }

    /// Refuses an operator in training mode.
    pub(crate) fn not_training(&self, trains: bool) -> Result<(), Fault> {
        let remedy = "export the model for inference (model.eval() in PyTorch, training=False in Keras)";
        if trains { Err(self.error("it is in training mode", remedy)) } else { Ok(()) }
    }

    pub(crate) fn made(
        &self,
        import: &mut Import,
        kind: Kind,
        reads: Vec<usize>,
        lengths: Vec<usize>,
    ) -> Result<Known, Fault> {
        import.layer(&self.place, &self.name, kind, reads, lengths).map(Known::Layer)
    }

    /// A layer whose value is known: another layer's value times 0, plus weights.
    pub(crate) fn valued(&self, import: &mut Import, known: &Known, like: usize) -> Result<usize, Fault> {
        let lengths = import.lengths_of(known);
        let mut one = Known::Layer(like);
        for axis in 0..import.lengths(like).len() {
            let place = Known::Ints(vec![1], vec![0]);
            one = self.call(import, "Gather", &[&one, &place], &[("axis", Attribute::Int(axis as i64))])?;
        }
        let to = Known::list(&vec![1; lengths.len()]);
        let one = self.call(import, "Reshape", &[&one, &to], &[])?;
        let zero = self.call(import, "Mul", &[&one, &Known::floats(&[], vec![0.0])], &[])?;
        let weights = Known::Floats(self.known_weights(known)?);
        match self.call(import, "Add", &[&zero, &weights], &[])? {
            Known::Layer(at) => Ok(at),
            _ => Err(self.error("its value is known", "leave it out")),
        }
    }

    /// Adds a layer with its operand's shape.
    pub(crate) fn alike(&self, import: &mut Import, kind: Kind) -> Result<Known, Fault> {
        let at = self.layer(import, 0)?;
        let lengths = import.lengths(at).to_vec();
        self.made(import, kind, vec![at], lengths)
    }

    /// A layer's value, if it has images, channels, rows and columns.
    pub(crate) fn images(&self, import: &Import) -> Result<(usize, [usize; 4]), Fault> {
        let at = self.layer(import, 0)?;
        let lengths = import.lengths(at);
        let four = <[usize; 4]>::try_from(lengths);
        let four = four.map_err(|_| {
            let remedy = "it takes images: [n, channels, rows, columns]";
            self.error(format!("its value has the lengths {lengths:?}"), remedy)
        })?;
        Ok((at, four))
    }

    /// The windows that the attributes describe.
    pub(crate) fn said(&self, size: [usize; 2]) -> Result<Said, Fault> {
        Ok(Said {
            size,
            strides: self.sizes("strides", [1; 2])?,
            pads: self.sizes("pads", [0; 4])?,
            dilations: self.sizes("dilations", [1; 2])?,
            auto: self.text("auto_pad", "NOTSET")?,
            ceil: self.flag("ceil_mode", false)?,
        })
    }

    /// The two operands of an element-wise operator, whose axes of length 1 are repeated. `known`
    /// is the cause of the error if both are weights.
    pub(crate) fn two(&self, import: &Import, known: &str) -> Result<Two, Fault> {
        let (reads, weights) = match (self.input(import, 0)?, self.input(import, 1)?) {
            (Known::Layer(a), Known::Layer(b)) => (vec![a, b], None),
            (Known::Layer(at), _) => (vec![at], Some(self.weights(import, 1)?)),
            (_, Known::Layer(at)) => (vec![at], Some(self.weights(import, 0)?)),
            _ => return Err(self.error(known, "fold what is known before the export")),
        };
        let a = import.lengths(reads[0]);
        let b = weights.as_ref().map_or_else(|| import.lengths(reads[1]), |weights| &weights.lengths);
        let lengths = together(a, b).ok_or_else(|| {
            let cause = format!("its operands have the lengths {a:?} and {b:?}");
            self.error(cause, "give axes of equal lengths, or of length 1")
        })?;
        Ok((reads, weights, lengths))
    }
}
