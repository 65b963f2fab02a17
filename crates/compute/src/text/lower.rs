//! Statements to a computation: names to values, numbers to the types that they stand beside.

use super::{
    arguments::{Arguments, numbers},
    literal::{literal, range, whole, wide},
    parse::{Argument, Expr, From, Named, Statement, What},
    wrong,
};
use crate::{
    Comparison, Computation, ComputeError, Member, Netlist, Op, Reduction, Scalar, Scan, Tensor, TextPlace,
    Type, Value, Visibility, derive, draft::Draft, infer::pool_name,
};
use hushwire_circuit::bristol;
use std::collections::BTreeMap;

pub(super) type Lowered<T> = Result<T, ComputeError>;

struct Lower {
    draft: Draft,
    members: BTreeMap<String, Member>,
    values: BTreeMap<String, Value>,
    circuits: BTreeMap<String, Netlist>,
}

/// The computation of all statements.
pub(super) fn computation(statements: &[Statement]) -> Lowered<Computation> {
    let start = TextPlace { line: 1, column: 1 };
    let [Statement::Computation((name, place)), rest @ ..] = statements else {
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

    fn member(&self, (name, place): &Named) -> Lowered<Member> {
        self.members.get(name).copied().ok_or_else(|| {
            wrong(
                *place,
                format!("there is no member {name}"),
                format!("write `members {name}` before, or mend the name"),
            )
        })
    }

    fn push(&mut self, place: TextPlace, op: Op, operands: Vec<Value>) -> Lowered<Value> {
        self.draft.push(op, operands).map_err(|e| e.at(place))
    }

    fn scalar_of(&self, value: Value) -> Scalar {
        self.draft.so_far().node(value).ty.scalar
    }

    /// A value; `beside` is the type of a bare number.
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
                self.push(place, if *sign == "-" { Op::Neg } else { Op::Not }, vec![inner])
            }
            What::Binary(sign, sides) => {
                let op = binary(sign);
                // The type of a result says that of its operands, but for comparisons.
                let outer = beside.filter(|_| !matches!(op, Op::Compare(_)));
                let operands = self.pair(&sides[0], &sides[1], outer)?;
                self.push(place, op, operands)
            }
            What::Shift(sign, inner, by) => {
                let inner = self.value(inner, beside)?;
                let by = u16::try_from(*by)
                    .map_err(|_| wrong(place, format!("a shift by {by} bits"), "shift by fewer"))?;
                self.push(
                    place,
                    if *sign == "<<" { Op::ShiftLeft(by) } else { Op::ShiftRight(by) },
                    vec![inner],
                )
            }
            What::Call(name, arguments) => self.call(place, name, arguments, beside),
        }
    }

    /// Two operands of one type, either of which may be a bare number.
    fn pair(&mut self, left: &Expr, right: &Expr, outer: Option<Scalar>) -> Lowered<Vec<Value>> {
        if bare(left) && !bare(right) {
            let right = self.value(right, outer)?;
            return Ok(vec![self.value(left, Some(self.scalar_of(right)))?, right]);
        }
        let left = self.value(left, outer)?;
        Ok(vec![left, self.value(right, Some(self.scalar_of(left)))?])
    }

    fn call(
        &mut self,
        place: TextPlace,
        name: &str,
        arguments: &[Argument],
        beside: Option<Scalar>,
    ) -> Lowered<Value> {
        let mut a = Arguments { place, name, all: arguments };
        let op = match name {
            "abs" => Op::Abs,
            "matmul" => Op::MatMul,
            "gather" => Op::Gather,
            "permute" => Op::Permute,
            "invert" => Op::Invert,
            "min" | "max" => {
                let (left, right) = (a.value()?, a.value()?);
                a.done()?;
                let operands = self.pair(left, right, beside)?;
                return self.push(place, if name == "min" { Op::Min } else { Op::Max }, operands);
            }
            "select" => {
                let (condition, yes, no) = (a.value()?, a.value()?, a.value()?);
                a.done()?;
                let mut operands = vec![self.value(condition, Some(Scalar::Bool))?];
                operands.extend(self.pair(yes, no, beside)?);
                return self.push(place, Op::Select, operands);
            }
            "wrapping" => {
                let value = a.value()?;
                a.done()?;
                let value = self.value(value, beside)?;
                return self.push(place, Op::Wrapping, vec![value]);
            }
            "circuit" => {
                let Expr { place: at, what: What::Name(name) } = a.value()? else {
                    return Err(a.wrong("its first argument is a circuit's name"));
                };
                let circuit = self.circuits.get(name).cloned().ok_or_else(|| {
                    wrong(
                        *at,
                        format!("there is no circuit {name}"),
                        format!("write `circuit {name} […]` before"),
                    )
                })?;
                Op::Circuit(circuit)
            }
            "part" => {
                let value = a.value()?;
                let (from, to) = a.range()?;
                let [from, to] = [from, to].map(|n| u16::try_from(n).unwrap_or(u16::MAX));
                return self.one(a, value, Op::Part { from, to });
            }
            "join" => Op::Join,
            "conv2d" => {
                let (steps, groups) = a.steps()?;
                Op::Conv2d { steps, groups }
            }
            "const" => return self.constant(a),
            "order" => return self.order(a),
            "cast" => {
                let value = a.value()?;
                let (to, shape) = a.ty()?;
                if shape.rank() > 0 {
                    return Err(wrong(place, "`cast` to a type with axes", "write the elements' type alone"));
                }
                return self.one(a, value, Op::Cast(to));
            }
            "rescale" => {
                let value = a.value()?;
                let by = a.number()?;
                return self.one(a, value, Op::Rescale(by));
            }
            "broadcast" | "reshape" => {
                let (value, shape) = (a.value()?, a.shape()?);
                return self.one(
                    a,
                    value,
                    if name == "broadcast" { Op::Broadcast(shape) } else { Op::Reshape(shape) },
                );
            }
            "transpose" => {
                let (value, axes) = (a.value()?, a.list()?);
                let axes =
                    axes.iter().map(|item| item.text.parse().map_err(|_| a.wrong("axes are numbers from 0")));
                let axes = axes.collect::<Lowered<_>>()?;
                return self.one(a, value, Op::Transpose(axes));
            }
            "slice" => {
                let value = a.value()?;
                let (from, to) = a.range()?;
                let axis = a.axis()?;
                return self.one(a, value, Op::Slice { axis, from, to });
            }
            "compact" => {
                let rows = a.named("rows")?.ok_or_else(|| a.wrong("say how many rows stay: rows=10"))?;
                Op::Compact { rows: whole(rows)? }
            }
            "meet" => {
                let first = a
                    .named("first")?
                    .ok_or_else(|| a.wrong("say how many rows the first side has: first=10"))?;
                Op::Meet { first: whole(first)? }
            }
            "concat" => Op::Concat(a.axis()?),
            "prefix_sum" => Op::PrefixSum(a.axis()?),
            "reveal" => match a.named("to")? {
                None => Op::Reveal(None),
                Some(Expr { place, what: What::Name(member) }) => {
                    Op::Reveal(Some(self.member(&(member.clone(), *place))?))
                }
                Some(other) => return Err(wrong(other.place, "no member stands here", "write to=MEMBER")),
            },
            _ => {
                let all = Reduction::ALL.into_iter();
                let (reduction, pool) =
                    (all.clone().find(|r| r.name() == name), all.clone().find(|r| pool_name(*r) == name));
                if let Some(reduction) = reduction {
                    Op::Reduce(reduction, a.axis()?)
                } else if let Some(reduction) = pool {
                    let (steps, _) = a.steps()?;
                    let value = a.value()?;
                    let size = numbers(a.list()?, &a)?;
                    return self.one(a, value, Op::Pool { reduction, size, steps });
                } else if let Some(scan) = Scan::ALL.into_iter().find(|s| s.name() == name) {
                    Op::Scan(scan)
                } else if let Some(form) = derive::form_of(name) {
                    return self.derived(a, form);
                } else {
                    let remedy = "see `hushwire_compute::text` for all operations";
                    return Err(wrong(place, format!("there is no operation {name}"), remedy));
                }
            }
        };
        let mut operands = vec![];
        while !a.all.is_empty() {
            operands.push(self.value(a.value()?, beside)?);
        }
        self.push(place, op, operands)
    }

    /// An operation on one value.
    fn one(&mut self, a: Arguments<'_>, value: &Expr, op: Op) -> Lowered<Value> {
        a.done()?;
        let value = self.value(value, None)?;
        self.push(a.place, op, vec![value])
    }

    /// A form that is written with other operations. Bare numbers have the first operand's type.
    fn derived(&mut self, mut a: Arguments<'_>, form: &derive::Form) -> Lowered<Value> {
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

    fn order(&mut self, mut a: Arguments<'_>) -> Lowered<Value> {
        let (mut keys, mut descending) = (vec![], vec![]);
        while let Some((argument, rest)) = a.all.split_first() {
            let Argument::Value { desc, value } = argument else {
                return Err(a.wrong("its arguments are keys"));
            };
            keys.push(self.value(value, None)?);
            descending.push(*desc);
            a.all = rest;
        }
        self.push(a.place, Op::Order { descending }, keys)
    }

    /// `const(u64, 3)`, `const(u64[2], [1, 2])`: elements row after row.
    fn constant(&mut self, mut a: Arguments<'_>) -> Lowered<Value> {
        let place = a.place;
        let (scalar, shape) = a.ty()?;
        let items = match a.all {
            [Argument::List(items)] => items.iter().map(|item| (item.place, item.text.clone())).collect(),
            [Argument::Value { desc: false, value }] => match &value.what {
                What::Number(digits, negative) => {
                    vec![(value.place, format!("{}{digits}", if *negative { "-" } else { "" }))]
                }
                What::Truth(truth) => vec![(value.place, truth.to_string())],
                _ => return Err(a.wrong("its second argument is a number or a list of numbers")),
            },
            _ => return Err(a.wrong("its second argument is a number or a list of numbers")),
        };
        let lengths = shape.lengths().ok_or_else(|| a.wrong("a constant's lengths are numbers"))?;
        if shape.elements() != Some(items.len()) {
            let cause = format!("{} elements stand for {scalar}{shape}", items.len());
            return Err(wrong(place, cause, "write as many as the shape has"));
        }
        let mut tensor = Tensor::zeros(scalar, &lengths);
        for (i, (place, text)) in items.iter().enumerate() {
            if scalar.bits() > 128 {
                wide(tensor.element_mut(i), scalar, text, *place)?;
            } else {
                tensor.set(i, literal(scalar, text, *place)?);
            }
        }
        self.push(place, Op::Constant(tensor), vec![])
    }
}

/// Whether an expression is a number without a type of its own.
fn bare(expr: &Expr) -> bool {
    match &expr.what {
        What::Number(..) => true,
        What::Unary(_, inner) | What::Shift(_, inner, _) => bare(inner),
        What::Binary(sign, sides) => !matches!(binary(sign), Op::Compare(_)) && sides.iter().all(bare),
        What::Name(_) | What::Truth(_) | What::Call(..) => false,
    }
}

fn binary(sign: &str) -> Op {
    match sign {
        "|" => Op::Or,
        "^" => Op::Xor,
        "&" => Op::And,
        "+" => Op::Add,
        "-" => Op::Sub,
        "*" => Op::Mul,
        "/" => Op::Div,
        "%" => Op::Rem,
        sign => Op::Compare(
            Comparison::ALL.into_iter().find(|c| c.sign() == sign).expect("the parser knows these signs"),
        ),
    }
}
