//! The graph: operations on whole vectors, each value computed once.

use crate::{Member, Op, Range, Type, Value, range::Known};
use std::collections::BTreeMap;

/// One operation on values.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Node {
    /// The operation.
    pub op: Op,
    /// The values that it reads, all computed before.
    pub arguments: Vec<Value>,
    /// The type of what it computes.
    pub ty: Type,
}

/// A result.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Output {
    /// Its name.
    pub name: String,
    /// The value.
    pub value: Value,
    /// Who learns it.
    pub to: Vec<Member>,
}

/// A form as text had it.
#[derive(Clone, Debug)]
pub(crate) struct Written {
    pub(crate) name: &'static str,
    pub(crate) operands: Vec<Value>,
    /// Its argument `rows`.
    pub(crate) rows: Option<u64>,
}

/// A checked computation: what members bring, what is computed of it, and who learns what.
///
/// Data, not code: built by [`Builder`](crate::Builder), read from [text](crate::text) or from its [binary form](crate::binary), and
/// checked whichever way it came. Two computations are the same where their binary forms are; names of intermediate
/// values are no part of it.
#[derive(Clone, Debug)]
pub struct Computation {
    pub(crate) name: String,
    pub(crate) members: Vec<String>,
    pub(crate) symbols: Vec<String>,
    pub(crate) nodes: Vec<Node>,
    pub(crate) outputs: Vec<Output>,
    /// Names of intermediate values, for people.
    pub(crate) names: BTreeMap<Value, String>,
    /// Forms that text called by name, for people: the graph has what they stand for.
    pub(crate) forms: BTreeMap<Value, Written>,
    /// Ranges that inputs were declared with.
    pub(crate) promised: BTreeMap<Value, Range>,
    /// Of each node.
    pub(crate) ranges: Vec<Known>,
}

impl Computation {
    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Those who bring inputs or learn outputs.
    #[must_use]
    pub fn members(&self) -> &[String] {
        &self.members
    }

    /// Names of lengths that are bound before a run.
    #[must_use]
    pub fn symbols(&self) -> &[String] {
        &self.symbols
    }

    /// All nodes, each behind those whose values it reads.
    #[must_use]
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// The node that computes a value.
    #[must_use]
    pub fn node(&self, value: Value) -> &Node {
        &self.nodes[value.0 as usize]
    }

    /// Inputs with their names, in order.
    pub fn inputs(&self) -> impl Iterator<Item = (&str, &Type)> {
        self.nodes.iter().filter_map(|node| match &node.op {
            Op::Input(name) => Some((name.as_str(), &node.ty)),
            _ => None,
        })
    }

    /// Outputs, in order.
    #[must_use]
    pub fn outputs(&self) -> &[Output] {
        &self.outputs
    }

    /// The range that an input was declared with: who brings it keeps to it.
    #[must_use]
    pub fn promised(&self, value: Value) -> Option<Range> {
        self.promised.get(&value).copied()
    }

    /// A range in which all elements of a value lie, from types, constants and promised ranges; `None` of what is no number,
    /// and of unsigned numbers that may need all 128 bits. While a symbol has no number it may be wider than it must.
    #[must_use]
    pub fn range(&self, value: Value) -> Option<Range> {
        self.ranges[value.0 as usize].range
    }

    /// The name of an intermediate value, where it has one.
    #[must_use]
    pub fn value_name(&self, value: Value) -> Option<&str> {
        self.names.get(&value).map(String::as_str)
    }

    /// A value's name, or its operation.
    pub(crate) fn shown_as(&self, value: Value) -> String {
        match self.value_name(value) {
            Some(name) => name.to_owned(),
            None => format!("({})", self.node(value).op.name()),
        }
    }
}

/// Equal where the binary forms are: names of intermediate values do not count.
impl PartialEq for Computation {
    fn eq(&self, other: &Self) -> bool {
        let Computation { name, members, symbols, nodes, outputs, promised, names: _, forms: _, ranges: _ } =
            self;
        (name, members, symbols) == (&other.name, &other.members, &other.symbols)
            && (nodes, outputs, promised) == (&other.nodes, &other.outputs, &other.promised)
    }
}

impl Eq for Computation {}
