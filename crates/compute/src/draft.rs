//! A computation under construction. Builder, text and binary form all add nodes here, and each
//! node is checked when it is added.

use crate::{
    Computation, ComputeError, Dim, Member, Node, Op, Output, Scalar, Type, Value, Visibility,
    graph::Written,
    range::{Known, Range},
    tensor::Decimal,
    types::is_name,
    typing::MAX_RANK,
};
use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    hash::{BuildHasher, BuildHasherDefault, DefaultHasher},
};

/// The largest number of nodes of a computation.
pub const MAX_NODES: usize = 1 << 20;
/// The largest number of members.
pub const MAX_MEMBERS: usize = 1 << 10;

/// The nodes so far, all checked; the names of values, all different; and the nodes by hash, for
/// common-subexpression elimination.
pub(crate) struct Draft(Computation, BTreeSet<String>, HashMap<u64, Vec<Value>>);

fn named(kind: &str, name: &str) -> Result<(), ComputeError> {
    if is_name(name) {
        return Ok(());
    }
    let shown: String = name.chars().take(64).flat_map(char::escape_default).collect();
    Err(ComputeError::ty(
        format!("\"{shown}\" is no name of {kind}"),
        "names are a letter, then letters, digits and _, at most 64 of them, and no type's",
    ))
}

fn fresh<'a>(kind: &str, name: &str, mut taken: impl Iterator<Item = &'a str>) -> Result<(), ComputeError> {
    named(kind, name)?;
    if taken.any(|other| other == name) {
        return Err(ComputeError::ty(
            format!("there is {kind} {name} already"),
            "give each a name of its own",
        ));
    }
    Ok(())
}

impl Draft {
    pub(crate) fn new(name: &str) -> Result<Self, ComputeError> {
        named("a computation", name)?;
        let computation = Computation {
            name: name.to_owned(),
            members: vec![],
            symbols: vec![],
            nodes: vec![],
            outputs: vec![],
            names: BTreeMap::new(),
            forms: BTreeMap::new(),
            promised: BTreeMap::new(),
            ranges: vec![],
        };
        Ok(Draft(computation, BTreeSet::new(), HashMap::new()))
    }

    pub(crate) fn so_far(&self) -> &Computation {
        &self.0
    }

    pub(crate) fn member(&mut self, name: &str) -> Result<Member, ComputeError> {
        fresh("a member", name, self.0.members.iter().map(String::as_str))?;
        if self.0.members.len() == MAX_MEMBERS {
            return Err(ComputeError::ty(
                "there are too many members",
                format!("at most {MAX_MEMBERS} take part"),
            ));
        }
        self.0.members.push(name.to_owned());
        Ok(Member(self.0.members.len() as u16 - 1))
    }

    pub(crate) fn symbol(&mut self, name: &str) -> Result<Dim, ComputeError> {
        fresh("a symbol", name, self.0.symbols.iter().map(String::as_str))?;
        self.0.symbols.push(name.to_owned());
        Ok(Dim::from(name))
    }

    pub(crate) fn input(&mut self, name: &str, ty: Type) -> Result<Value, ComputeError> {
        self.input_within(name, ty, None)
    }

    /// Adds an input, with the range that its owner promises.
    pub(crate) fn input_within(
        &mut self,
        name: &str,
        ty: Type,
        promised: Option<Range>,
    ) -> Result<Value, ComputeError> {
        self.fresh_value(name)?;
        if let Some(range) = promised {
            let whole = ty.scalar.is_number().then(|| Range::of(ty.scalar));
            let fits = whole.is_some_and(|whole| whole.map_or(range.low >= 0, |whole| whole.holds(range)));
            // The text form contains the number after the greatest one, which must exist.
            if range.low > range.high || range.high == i128::MAX || !fits {
                let shown = [range.low, range.high].map(|n| Decimal(n, ty.scalar.frac()).to_string());
                let cause = format!("{name}: {ty} cannot be within {} to {}", shown[0], shown[1]);
                return Err(ComputeError::ty(cause, "a range is of numbers of the type, the least first"));
            }
        }
        if ty.scalar == Scalar::Place || !ty.scalar.is_valid() {
            return Err(ComputeError::ty(
                format!("{name}: {ty} cannot be brought"),
                "bring the keys, and order them here",
            ));
        }
        if ty.shape.rank() > MAX_RANK {
            let cause = format!("{name} has {} axes", ty.shape.rank());
            return Err(ComputeError::ty(cause, format!("a value has at most {MAX_RANK}")));
        }
        self.known_symbols(&ty)?;
        if let Visibility::Private(member) = ty.visibility {
            self.known_member(member)?;
        }
        let known = Known::input(&ty, promised);
        let value = self.node(Node { op: Op::Input(name.to_owned()), arguments: vec![], ty }, known)?;
        self.0.promised.extend(promised.map(|range| (value, range)));
        self.0.names.insert(value, name.to_owned());
        Ok(value)
    }

    pub(crate) fn push(&mut self, op: Op, arguments: Vec<Value>) -> Result<Value, ComputeError> {
        if let Some(missing) = arguments.iter().find(|v| v.0 as usize >= self.0.nodes.len()) {
            let cause = format!("`{}` reads value {} before it is computed", op.name(), missing.0);
            return Err(ComputeError::ty(cause, "values are computed in order"));
        }
        if let Op::Reveal(Some(member)) = &op {
            self.known_member(*member)?;
        }
        let hash = BuildHasherDefault::<DefaultHasher>::new().hash_one((&op, &arguments));
        let same = |v: &&Value| (&self.0.node(**v).op, &self.0.node(**v).arguments) == (&op, &arguments);
        if let Some(value) = self.2.get(&hash).and_then(|all| all.iter().find(same)) {
            return Ok(*value);
        }
        let shown: Vec<String> = arguments.iter().map(|v| self.show(*v)).collect();
        let operands: Vec<_> =
            shown.iter().map(String::as_str).zip(arguments.iter().map(|v| &self.0.node(*v).ty)).collect();
        let ty = op.infer(&operands)?;
        self.known_symbols(&ty)?;
        let ranges: Vec<Known> = arguments.iter().map(|v| self.0.ranges[v.0 as usize]).collect();
        let known = op.range(&operands, &ranges, &ty)?;
        let value = self.node(Node { op, arguments, ty }, known)?;
        self.2.entry(hash).or_default().push(value);
        Ok(value)
    }

    fn fresh_value(&mut self, name: &str) -> Result<(), ComputeError> {
        fresh("a value", name, self.1.get(name).map(String::as_str).into_iter())?;
        self.1.insert(name.to_owned());
        Ok(())
    }

    fn node(&mut self, node: Node, known: Known) -> Result<Value, ComputeError> {
        if self.0.nodes.len() == MAX_NODES {
            return Err(ComputeError::ty(
                "there are too many operations",
                format!("at most {MAX_NODES} make a computation"),
            ));
        }
        self.0.nodes.push(node);
        self.0.ranges.push(known);
        Ok(Value(self.0.nodes.len() as u32 - 1))
    }

    /// Names a value for people.
    pub(crate) fn name(&mut self, value: Value, name: &str) -> Result<(), ComputeError> {
        self.fresh_value(name)?;
        self.0.names.entry(value).or_insert_with(|| name.to_owned());
        Ok(())
    }

    /// Records for people how a value was written.
    pub(crate) fn written(&mut self, value: Value, form: Written) {
        // A value that already existed keeps its first form.
        if form.operands.iter().all(|operand| *operand < value) {
            self.0.forms.entry(value).or_insert(form);
        }
    }

    pub(crate) fn output(&mut self, name: &str, value: Value, to: Vec<Member>) -> Result<(), ComputeError> {
        fresh("an output", name, self.0.outputs.iter().map(|o| o.name.as_str()))?;
        if to.is_empty() || to.iter().collect::<BTreeSet<_>>().len() < to.len() {
            return Err(ComputeError::ty(
                format!("output {name} goes to nobody, or to one twice"),
                "name each once",
            ));
        }
        to.iter().try_for_each(|m| self.known_member(*m))?;
        if value.0 as usize >= self.0.nodes.len() {
            return Err(ComputeError::ty(format!("output {name} is never computed"), "compute it before"));
        }
        let mut to = to;
        to.sort_unstable();
        self.0.outputs.push(Output { name: name.to_owned(), value, to });
        Ok(())
    }

    pub(crate) fn finish(self) -> Result<Computation, ComputeError> {
        if self.0.outputs.is_empty() {
            let cause = format!("computation {} has no output", self.0.name);
            return Err(ComputeError::ty(cause, "say who learns what"));
        }
        Ok(in_order(self.0))
    }

    /// A value as messages show it.
    pub(crate) fn show(&self, value: Value) -> String {
        self.0.shown_as(value)
    }

    fn known_member(&self, member: Member) -> Result<(), ComputeError> {
        if usize::from(member.0) < self.0.members.len() {
            return Ok(());
        }
        Err(ComputeError::ty(format!("there is no member {}", member.0), "name the member first"))
    }

    fn known_symbols(&self, ty: &Type) -> Result<(), ComputeError> {
        let unknown = ty.shape.0.iter().find_map(|dim| match dim {
            Dim::Symbol(name) => (!self.0.symbols.iter().any(|s| s == name)).then_some(name),
            Dim::Known(_) => None,
        });
        unknown.map_or(Ok(()), |name| {
            Err(ComputeError::ty(
                format!("{name} in {ty} is no symbol"),
                format!("write `symbols {name}` before"),
            ))
        })
    }
}

/// Sorts nodes into the canonical order: inputs as declared, then the values that outputs need,
/// operands first, output after output. The digest therefore does not depend on how a computation
/// was written. Values that no output needs are dropped.
fn in_order(from: Computation) -> Computation {
    let mut place: Vec<Option<Value>> = vec![None; from.nodes.len()];
    let mut order: Vec<usize> = vec![];
    let take = |at: usize, place: &mut Vec<Option<Value>>, order: &mut Vec<usize>| {
        place[at] = Some(Value(order.len() as u32));
        order.push(at);
    };
    for (at, node) in from.nodes.iter().enumerate() {
        if matches!(node.op, Op::Input(_)) {
            take(at, &mut place, &mut order);
        }
    }
    // A stack of nodes with the number of their visited operands: a graph can be deeper than the
    // call stack.
    let mut stack: Vec<(usize, usize)> = vec![];
    for output in &from.outputs {
        stack.push((output.value.0 as usize, 0));
        while let Some((at, next)) = stack.pop() {
            if place[at].is_some() {
                continue;
            }
            match from.nodes[at].arguments.get(next) {
                Some(argument) => stack.extend([(at, next + 1), (argument.0 as usize, 0)]),
                None => take(at, &mut place, &mut order),
            }
        }
    }
    let new = |v: &Value| place[v.0 as usize].expect("what is needed has a place");
    let nodes = order.iter().map(|at| {
        let node = &from.nodes[*at];
        Node { arguments: node.arguments.iter().map(new).collect(), ..node.clone() }
    });
    let nodes = nodes.collect();
    let names =
        from.names.iter().filter_map(|(v, name)| Some((place[v.0 as usize]?, name.clone()))).collect();
    let outputs = from.outputs.iter().map(|o| Output { value: new(&o.value), ..o.clone() }).collect();
    let ranges = order.iter().map(|at| from.ranges[*at]).collect();
    let promised = from.promised.iter().map(|(v, range)| (new(v), *range)).collect();
    let forms = from.forms.iter().filter_map(|(v, form)| {
        let value = place[v.0 as usize]?;
        let operands: Option<Vec<Value>> = form.operands.iter().map(|v| place[v.0 as usize]).collect();
        // An operand that the form does not read may be anywhere.
        let operands = operands.filter(|all| all.iter().all(|operand| *operand < value))?;
        Some((value, Written { operands, ..form.clone() }))
    });
    let forms = forms.collect();
    Computation { nodes, names, forms, outputs, ranges, promised, ..from }
}
