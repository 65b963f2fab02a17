//! The graph of a computation: operations on whole vectors. Each value is computed once.

use crate::{Member, Op, Range, Type, Value, range::Known};
use std::collections::BTreeMap;

/// An operation on values.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Node {
    /// The operation.
    pub op: Op,
    /// The values that it reads, all computed before.
    pub arguments: Vec<Value>,
    /// The type of its result.
    pub ty: Type,
}

/// An output.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Output {
    /// Its name.
    pub name: String,
    /// The value.
    pub value: Value,
    /// The members that learn it.
    pub to: Vec<Member>,
}

/// A derived form as it was written in the text.
#[derive(Clone, Debug)]
pub(crate) struct Written {
    pub(crate) name: &'static str,
    pub(crate) operands: Vec<Value>,
    /// Its argument `rows`.
    pub(crate) rows: Option<u64>,
}

/// A checked computation: the inputs of members, the operations on them, and the members that learn
/// each output.
///
/// It is data, not code. A [`Builder`](crate::Builder) makes it, or it is read from
/// [text](crate::text) or from its [binary form](crate::binary), and it is always checked. Two
/// computations are equal if their binary forms are; names of intermediate values do not count.
#[derive(Clone, Debug)]
pub struct Computation {
    pub(crate) name: String,
    pub(crate) members: Vec<String>,
    pub(crate) symbols: Vec<String>,
    pub(crate) nodes: Vec<Node>,
    pub(crate) outputs: Vec<Output>,
    /// Names of intermediate values, for people.
    pub(crate) names: BTreeMap<Value, String>,
    /// The forms that a text called by name, for people: the graph has their expansions.
    pub(crate) forms: BTreeMap<Value, Written>,
    /// The ranges with which inputs were declared.
    pub(crate) promised: BTreeMap<Value, Range>,
    /// The range of each node.
    pub(crate) ranges: Vec<Known>,
}

impl Computation {
    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The members, which bring inputs or learn outputs.
    #[must_use]
    pub fn members(&self) -> &[String] {
        &self.members
    }

    /// The names of lengths that are bound before a run.
    #[must_use]
    pub fn symbols(&self) -> &[String] {
        &self.symbols
    }

    /// All nodes, each after its operands.
    #[must_use]
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// The node that computes a value.
    #[must_use]
    pub fn node(&self, value: Value) -> &Node {
        &self.nodes[value.0 as usize]
    }

    /// The inputs with their names, in order.
    pub fn inputs(&self) -> impl Iterator<Item = (&str, &Type)> {
        self.nodes.iter().filter_map(|node| match &node.op {
            Op::Input(name) => Some((name.as_str(), &node.ty)),
            _ => None,
        })
    }

    /// The outputs, in order.
    #[must_use]
    pub fn outputs(&self) -> &[Output] {
        &self.outputs
    }

    /// The range with which an input was declared. Its owner must keep to it.
    #[must_use]
    pub fn promised(&self, value: Value) -> Option<Range> {
        self.promised.get(&value).copied()
    }

    /// A range of all elements of a value, from types, constants and promised ranges. `None` if the
    /// value is not a number, or an unsigned number that may need all 128 bits. As long as a symbol
    /// has no number, the range may be wider than necessary.
    #[must_use]
    pub fn range(&self, value: Value) -> Option<Range> {
        self.ranges[value.0 as usize].range
    }

    /// The name of an intermediate value, if it has one.
    #[must_use]
    pub fn value_name(&self, value: Value) -> Option<&str> {
        self.names.get(&value).map(String::as_str)
    }

    /// The operation of a value, in words.
    #[must_use]
    pub fn operation_of(&self, value: Value) -> String {
        self.node(value).op.name().to_owned()
    }

    /// A value's name, or its operation.
    pub(crate) fn shown_as(&self, value: Value) -> String {
        match self.value_name(value) {
            Some(name) => name.to_owned(),
            None => format!("({})", self.node(value).op.name()),
        }
    }
}

/// Equal if the binary forms are: names of intermediate values do not count.
impl PartialEq for Computation {
    fn eq(&self, other: &Self) -> bool {
        let Computation { name, members, symbols, nodes, outputs, promised, names: _, forms: _, ranges: _ } =
            self;
        (name, members, symbols) == (&other.name, &other.members, &other.symbols)
            && (nodes, outputs, promised) == (&other.nodes, &other.outputs, &other.promised)
    }
}

impl Eq for Computation {}
