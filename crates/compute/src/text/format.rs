//! The canonical text of a computation.

use super::print::{Names, Printed, WHOLE, Writing};
use crate::{
    Computation, Member, Netlist, Op, Range, Scalar, Value, Visibility,
    graph::Written,
    tensor::{Decimal, Literal},
};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt::Write;

/// The deepest nesting of values in one line.
const MAX_DEPTH: usize = 8;

struct Formatter<'a> {
    computation: &'a Computation,
    /// The names of inputs, and of values with a line of their own.
    names: BTreeMap<Value, String>,
    /// The circuits' numbers.
    circuits: HashMap<&'a Netlist, usize>,
}

/// The text.
pub(super) fn text(computation: &Computation) -> String {
    let mut out = String::new();
    let c = computation;
    let _ = writeln!(out, "computation {}", c.name());
    for (keyword, names) in [("members", c.members()), ("symbols", c.symbols())] {
        if !names.is_empty() {
            let _ = writeln!(out, "{keyword} {}", names.join(", "));
        }
    }
    out.push('\n');
    for (at, (name, ty)) in c.inputs().enumerate() {
        // Inputs come first.
        let within = c.promised(Value(at as u32));
        let from = match ty.visibility {
            Visibility::Public => "public".into(),
            Visibility::Secret => "secret".into(),
            Visibility::Private(member) => format!("from {}", member_name(c, member)),
        };
        let promised = within.map_or(String::new(), |range| format!("{} ", promise(range, ty.scalar)));
        let _ = writeln!(out, "input {name}: {ty} {promised}{from}");
    }
    out.push('\n');
    let uses = uses(c);
    let is_shown = |circuit: &&Netlist| {
        let mut of_text = (0..)
            .zip(c.nodes())
            .filter(|(at, _)| uses[*at as usize] > 0 && !c.forms.contains_key(&Value(*at)));
        of_text.any(|(_, node)| matches!(&node.op, Op::Circuit(of) if of == *circuit))
    };
    // Circuits within forms that are called by name are hidden with them.
    let circuits: Vec<&Netlist> = c.circuits().into_iter().filter(is_shown).collect();
    for (k, circuit) in circuits.iter().enumerate() {
        let _ = writeln!(out, "circuit c{} [\n{}]\n", k + 1, circuit.text());
    }
    let circuits = circuits.into_iter().zip(1..).collect();
    let formatter = Formatter { computation, names: lines(computation, &uses), circuits };
    for (at, node) in c.nodes().iter().enumerate() {
        let value = Value(at as u32);
        if let (Some(name), false) = (formatter.names.get(&value), matches!(node.op, Op::Input(_))) {
            let _ = writeln!(out, "{name} = {}", formatter.expr(value).0);
        }
    }
    for output in c.outputs() {
        let to: Vec<_> = output.to.iter().map(|m| member_name(c, *m)).collect();
        let shown = formatter.operand(output.value, 0);
        let value = if shown == output.name { String::new() } else { format!(" = {shown}") };
        let _ = writeln!(out, "output {}{value} to {}", output.name, to.join(", "));
    }
    out
}

/// `in 0..10`: the least number, and the one after the greatest.
pub(crate) fn promise(range: Range, scalar: Scalar) -> String {
    let [low, end] = [range.low, range.high + 1].map(|n| Decimal(n, scalar.frac()));
    format!("in {low}..{end}")
}

fn member_name(computation: &Computation, member: Member) -> &str {
    &computation.members()[usize::from(member.0)]
}

/// The number of times that the text shows each value: a form called by name shows its operands and
/// hides its expansion.
fn uses(computation: &Computation) -> Vec<usize> {
    let mut uses = vec![0usize; computation.nodes().len()];
    computation.outputs().iter().for_each(|output| uses[output.value.0 as usize] += 1);
    for at in (0..uses.len()).rev() {
        if uses[at] > 0 {
            operands(computation, Value(at as u32)).iter().for_each(|v| uses[v.0 as usize] += 1);
        }
    }
    uses
}

/// The values with a line of their own: those with a name, those with several readers, and those
/// that would nest too deep.
fn lines(computation: &Computation, uses: &[usize]) -> BTreeMap<Value, String> {
    let nodes = computation.nodes();
    // Names of hidden values disappear when the text is read again.
    let shown = |v: &Value| uses[v.0 as usize] > 0 || matches!(computation.node(*v).op, Op::Input(_));
    let taken: BTreeSet<&str> =
        computation.names.iter().filter(|(v, _)| shown(v)).map(|(_, name)| name.as_str()).collect();
    let mut fresh = (1..).map(|k| format!("t{k}")).filter(|name| !taken.contains(name.as_str()));
    let mut names = BTreeMap::new();
    let mut depth = vec![0usize; nodes.len()];
    for (at, node) in nodes.iter().enumerate() {
        let value = Value(at as u32);
        if uses[at] == 0 && !matches!(node.op, Op::Input(_)) {
            continue;
        }
        let reads = operands(computation, value).iter();
        depth[at] = reads.map(|v| depth[v.0 as usize] + 1).max().unwrap_or(0);
        let name = match &node.op {
            Op::Input(name) => Some(name.clone()),
            _ => computation.value_name(value).map(str::to_owned),
        };
        if name.is_some() || uses[at] > 1 || depth[at] >= MAX_DEPTH {
            depth[at] = 0;
            names.insert(value, name.unwrap_or_else(|| fresh.next().expect("numbers do not end")));
        }
    }
    names
}

/// The values that a value's expression shows.
fn operands(computation: &Computation, value: Value) -> &[Value] {
    match computation.forms.get(&value) {
        Some(form) => &form.operands,
        None => &computation.node(value).arguments,
    }
}

impl Formatter<'_> {
    /// The expression that computes a value, and its precedence.
    fn expr(&self, value: Value) -> Printed {
        if let Some(form) = self.computation.forms.get(&value) {
            return (self.form(form), WHOLE);
        }
        let node = self.computation.node(value);
        node.op.def().print(Writing { name: node.op.name(), arguments: &node.arguments, names: self })
    }

    /// A form as a call; numbers of the first operand's type are bare.
    fn form(&self, form: &Written) -> String {
        let first = form.operands[0];
        let rest = form.operands[1..].iter().map(|v| self.pair(first, *v, 0, 0)[1].clone());
        let mut all: Vec<String> = std::iter::once(self.operand(first, 0)).chain(rest).collect();
        all.extend(form.rows.map(|rows| format!("rows={rows}")));
        format!("{}({})", form.name, all.join(", "))
    }
}

impl Names for Formatter<'_> {
    fn operand(&self, value: Value, least: u8) -> String {
        if let Some(name) = self.names.get(&value) {
            return name.clone();
        }
        let (text, strength) = self.expr(value);
        if strength < least { format!("({text})") } else { text }
    }

    fn pair(&self, a: Value, b: Value, left: u8, right: u8) -> [String; 2] {
        let number = |v: Value| match &self.computation.node(v).op {
            Op::Constant(tensor) if !self.names.contains_key(&v) => {
                let bare = tensor.lengths().is_empty() && tensor.scalar().is_number();
                bare.then(|| Literal(tensor.scalar(), tensor.get(0)).to_string())
            }
            _ => None,
        };
        let scalar = |v: Value| self.computation.node(v).ty.scalar;
        let alike = scalar(a) == scalar(b);
        match (number(a), number(b)) {
            (Some(n), None) if alike => [n, self.operand(b, right)],
            (_, Some(n)) if alike => [self.operand(a, left), n],
            _ => [self.operand(a, left), self.operand(b, right)],
        }
    }

    fn member(&self, member: Member) -> &str {
        member_name(self.computation, member)
    }

    fn circuit(&self, circuit: &Netlist) -> usize {
        self.circuits[circuit]
    }
}
