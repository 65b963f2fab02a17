//! Lowers statements to a computation: resolves names to values, and gives bare numbers the types
//! of their neighbours.

use super::{
    arguments::{Arguments, Call, Lowered, Scope},
    lex,
    literal::{literal, range, whole},
    parse::{self, Argument, Expr, From, Named, Statement, What},
};
use crate::{
    Computation, ComputeError, Member, Netlist, Op, Scalar, Tensor, TextPlace, Type, Value, Visibility,
    derive, draft::Draft, error::wrong, ops,
};
use hushwire_circuit::bristol;
use std::collections::BTreeMap;

struct Lower {
    draft: Draft,
    members: BTreeMap<String, Member>,
    values: BTreeMap<String, Value>,
    circuits: BTreeMap<String, Netlist>,
}

/// Makes the computation of a text.
pub(super) fn computation(text: &str) -> Lowered<Computation> {
    let start = TextPlace { line: 1, column: 1 };
    let statements = parse::statements(&lex::tokens(text)?, ops::precedence)?;
    let [Statement::Computation((name, place)), rest @ ..] = &statements[..] else {
        return Err(wrong(start, "the text does not begin with a name", "write `computation NAME` first"));
    };
    let draft = Draft::new(name).map_err(|e| e.at(*place))?;
    let mut lower =
        Lower { draft, members: BTreeMap::new(), values: BTreeMap::new(), circuits: BTreeMap::new() };
    rest.iter().try_for_each(|statement| lower.statement(statement))?;
    lower.draft.finish().map_err(|e| e.at(start))
}

impl Lower {
    fn statement(&mut self, statement: &Statement) -> Lowered<()> {
        match statement {
            Statement::Computation((_, place)) => {
                return Err(wrong(*place, "a second computation begins", "write one computation to a file"));
            }
            Statement::Members(names) => {
                for (name, place) in names {
                    let member = self.draft.member(name).map_err(|e| e.at(*place))?;
                    self.members.insert(name.clone(), member);
                }
            }
            Statement::Symbols(names) => {
                for (name, place) in names {
                    self.draft.symbol(name).map_err(|e| e.at(*place))?;
                }
            }
            Statement::Circuit((name, place), file) => {
                let (circuit, _) = bristol::read(file.as_bytes()).map_err(|e| {
                    wrong(
                        *place,
                        format!("circuit {name} is no Bristol Fashion file: {e}"),
                        "mend that line of it",
                    )
                })?;
                let circuit = Netlist::new(circuit).map_err(|e| e.at(*place))?;
                if self.circuits.insert(name.clone(), circuit).is_some() {
                    let cause = format!("there is a circuit {name} already");
                    return Err(wrong(*place, cause, "give each a name of its own"));
                }
            }
            Statement::Input { name: (name, place), scalar, shape, within, from } => {
                let within = within.as_ref().map(|ends| range(*scalar, ends)).transpose()?;
                let visibility = match from {
                    From::Public => Visibility::Public,
                    From::Secret => Visibility::Secret,
                    From::Member(member) => Visibility::Private(self.member(member)?),
                };
                let ty = Type::new(*scalar, shape.clone(), visibility);
                let value = self.draft.input_within(name, ty, within).map_err(|e| e.at(*place))?;
                self.values.insert(name.clone(), value);
            }
            Statement::Let { name: (name, place), value } => {
                let value = self.value(value, None)?;
                self.draft.name(value, name).map_err(|e| e.at(*place))?;
                self.values.insert(name.clone(), value);
            }
            Statement::Output { name: (name, place), value, to } => {
                let value = self.value(value, None)?;
                let to = to.iter().map(|m| self.member(m)).collect::<Lowered<_>>()?;
                self.draft.output(name, value, to).map_err(|e| e.at(*place))?;
            }
        }
        Ok(())
    }

    fn push(&mut self, place: TextPlace, op: Op, operands: Vec<Value>) -> Lowered<Value> {
        self.draft.push(op, operands).map_err(|e| e.at(place))
    }

    fn scalar_of(&self, value: Value) -> Scalar {
        self.draft.so_far().node(value).ty.scalar
    }

    fn call(
        &mut self,
        place: TextPlace,
        name: &str,
        arguments: &[Argument],
        beside: Option<Scalar>,
    ) -> Lowered<Value> {
        let arguments = Arguments { place, name, all: arguments };
        if let Some(read) = ops::call(name) {
            let (op, operands) = read(&mut Call { arguments, scope: self, beside })?;
            return self.push(place, op, operands);
        }
        match derive::form_of(name) {
            Some(form) => self.derived(arguments, form),
            None => Err(wrong(place, format!("there is no operation {name}"), ALL_OPERATIONS)),
        }
    }

    /// Expands a derived form. Bare numbers have the first operand's type.
    fn derived(&mut self, mut a: Arguments<'_>, form: &derive::DerivedForm) -> Lowered<Value> {
        let rows = match form.rows {
            true => whole(a.named("rows")?.ok_or_else(|| a.wrong("say how many rows: rows=10"))?)?,
            false => 0,
        };
        let mut operands = vec![];
        while !a.all.is_empty() {
            let beside = operands.first().map(|v| self.scalar_of(*v));
            operands.push(self.value(a.value()?, beside)?);
        }
        if !form.operands.contains(&operands.len()) {
            let [least, most] = [form.operands.start(), form.operands.end()];
            return Err(a.wrong(&if least == most {
                format!("it takes {least}")
            } else {
                format!("it takes at least {least}")
            }));
        }
        derive::apply(&mut self.draft, form, &operands, rows).map_err(|e| e.at(a.place))
    }
}

impl Scope for Lower {
    fn value(&mut self, expr: &Expr, beside: Option<Scalar>) -> Lowered<Value> {
        let place = expr.place;
        match &expr.what {
            What::Name(name) => self.values.get(name).copied().ok_or_else(|| {
                wrong(
                    place,
                    format!("there is no value {name}"),
                    "declare it as an input, or compute it in a line before",
                )
            }),
            What::Truth(truth) => {
                self.push(place, Op::Constant(Tensor::single(Scalar::Bool, u128::from(*truth))), vec![])
            }
            What::Number(digits, negative) => {
                let text = format!("{}{digits}", if *negative { "-" } else { "" });
                let scalar = beside.ok_or_else(|| {
                    wrong(
                        place,
                        format!("the type of {text} is not known"),
                        format!("write const(u64, {text}), say"),
                    )
                })?;
                let element = literal(scalar, &text, place)?;
                self.push(place, Op::Constant(Tensor::single(scalar, element)), vec![])
            }
            What::Unary(sign, inner) => {
                let inner = self.value(inner, beside)?;
                self.push(place, ops::before(sign).ok_or_else(|| unknown(place, sign))?, vec![inner])
            }
            What::Binary(sign, sides) => {
                let op = ops::between(sign).ok_or_else(|| unknown(place, sign))?;
                // A result has the type of its operands, except that of a comparison.
                let outer = beside.filter(|_| !matches!(op, Op::Compare(_)));
                let operands = self.pair(&sides[0], &sides[1], outer)?;
                self.push(place, op, operands)
            }
            What::Shift(sign, inner, by) => {
                let inner = self.value(inner, beside)?;
                let by = u16::try_from(*by)
                    .map_err(|_| wrong(place, format!("a shift by {by} bits"), "shift by fewer"))?;
                let shift = ops::shift(sign).ok_or_else(|| unknown(place, sign))?;
                self.push(place, shift(by), vec![inner])
            }
            What::Call(name, arguments) => self.call(place, name, arguments, beside),
        }
    }

    fn pair(&mut self, left: &Expr, right: &Expr, outer: Option<Scalar>) -> Lowered<Vec<Value>> {
        if bare(left) && !bare(right) {
            let right = self.value(right, outer)?;
            return Ok(vec![self.value(left, Some(self.scalar_of(right)))?, right]);
        }
        let left = self.value(left, outer)?;
        Ok(vec![left, self.value(right, Some(self.scalar_of(left)))?])
    }

    fn member(&self, (name, place): &Named) -> Lowered<Member> {
        self.members.get(name).copied().ok_or_else(|| {
            wrong(
                *place,
                format!("there is no member {name}"),
                format!("write `members {name}` before, or mend the name"),
            )
        })
    }

    fn circuit(&self, name: &str) -> Option<Netlist> {
        self.circuits.get(name).cloned()
    }
}

/// Whether an expression is a number without a type of its own.
fn bare(expr: &Expr) -> bool {
    match &expr.what {
        What::Number(..) => true,
        What::Unary(_, inner) | What::Shift(_, inner, _) => bare(inner),
        What::Binary(sign, sides) => {
            !matches!(ops::between(sign), Some(Op::Compare(_))) && sides.iter().all(bare)
        }
        What::Name(_) | What::Truth(_) | What::Call(..) => false,
    }
}

/// The remedy for the name of an unknown operation.
const ALL_OPERATIONS: &str = "docs/jobs.md and docs/reference/operations.md list all";

/// The error for a sign that no operation has.
fn unknown(place: TextPlace, sign: &str) -> ComputeError {
    wrong(place, format!("there is no operation {sign}"), ALL_OPERATIONS)
}
