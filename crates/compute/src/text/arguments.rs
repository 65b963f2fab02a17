//! The arguments of a call, taken one after another.

use super::{
    literal::whole,
    parse::{Argument, Expr, Item, Named},
};
use crate::{ComputeError, Dim, Member, Netlist, Scalar, Shape, Steps, TextPlace, Value, error::wrong};

/// The result of lowering a text.
pub(crate) type Lowered<T> = Result<T, ComputeError>;

/// The values, members and circuits that a text has declared so far.
pub(crate) trait Scope {
    /// A value; a bare number has the type `beside`.
    fn value(&mut self, expr: &Expr, beside: Option<Scalar>) -> Lowered<Value>;
    /// Two operands of one type; either may be a bare number.
    fn pair(&mut self, left: &Expr, right: &Expr, outer: Option<Scalar>) -> Lowered<Vec<Value>>;
    /// The member with this name.
    fn member(&self, named: &Named) -> Lowered<Member>;
    /// The circuit with this name.
    fn circuit(&self, name: &str) -> Option<Netlist>;
}

/// A call under way: its arguments and its context.
pub(crate) struct Call<'a> {
    pub(crate) arguments: Arguments<'a>,
    pub(crate) scope: &'a mut dyn Scope,
    /// The type of a bare number.
    pub(crate) beside: Option<Scalar>,
}

impl<'a> Call<'a> {
    /// All remaining arguments, as operands.
    pub(crate) fn operands(&mut self) -> Lowered<Vec<Value>> {
        let mut operands = vec![];
        while !self.arguments.all.is_empty() {
            operands.push(self.scope.value(self.arguments.value()?, self.beside)?);
        }
        Ok(operands)
    }

    /// The only operand, which was taken before the other arguments.
    pub(crate) fn only(&mut self, operand: &Expr) -> Lowered<Vec<Value>> {
        self.arguments.done()?;
        Ok(vec![self.scope.value(operand, None)?])
    }

    /// Two operands of one type, and no other argument.
    pub(crate) fn two(&mut self) -> Lowered<Vec<Value>> {
        let (left, right) = (self.arguments.value()?, self.arguments.value()?);
        self.arguments.done()?;
        self.scope.pair(left, right, self.beside)
    }
}

/// A list of `N` numbers.
pub(crate) fn numbers<const N: usize>(items: &[Item], a: &Arguments<'_>) -> Lowered<[u32; N]> {
    let all: Option<Vec<u32>> = items.iter().map(|item| item.text.parse().ok()).collect();
    let all: Option<[u32; N]> = all.and_then(|all| all.try_into().ok());
    all.ok_or_else(|| a.wrong(&format!("{N} numbers from 0 are expected in brackets")))
}

/// The arguments of a call that are not taken yet.
#[derive(Clone, Copy)]
pub(crate) struct Arguments<'a> {
    pub(crate) place: TextPlace,
    pub(crate) name: &'a str,
    pub(crate) all: &'a [Argument],
}

impl<'a> Arguments<'a> {
    pub(crate) fn wrong(&self, remedy: &str) -> ComputeError {
        wrong(self.place, format!("`{}` has other arguments than it takes", self.name), remedy)
    }

    pub(crate) fn first(&mut self, remedy: &str) -> Lowered<&'a Argument> {
        let (first, rest) = self.all.split_first().ok_or_else(|| self.wrong(remedy))?;
        self.all = rest;
        Ok(first)
    }

    pub(crate) fn value(&mut self) -> Lowered<&'a Expr> {
        let missing = match self.name {
            "min" | "max" => format!("it compares two, and of one column it is {}_of(x)", self.name),
            _ => "a value is missing".to_owned(),
        };
        match self.first(&missing)? {
            Argument::Value { desc: false, value } => Ok(value),
            Argument::List(_) => Err(self.wrong("write a list with its type, as in const(u8[3], [1, 2, 4])")),
            _ => Err(self.wrong("a value is expected")),
        }
    }

    pub(crate) fn ty(&mut self) -> Lowered<(Scalar, Shape)> {
        match self.first("a type is missing")? {
            Argument::Type(scalar, shape) => Ok((*scalar, shape.clone())),
            _ => Err(self.wrong("a type is expected")),
        }
    }

    pub(crate) fn number<T: TryFrom<u64>>(&mut self) -> Lowered<T> {
        let n = whole(self.value()?)?;
        T::try_from(n).map_err(|_| self.wrong("a smaller number is expected"))
    }

    pub(crate) fn list(&mut self) -> Lowered<&'a [Item]> {
        match self.first("a list is missing")? {
            Argument::List(items) => Ok(items),
            _ => Err(self.wrong("a list in brackets is expected")),
        }
    }

    pub(crate) fn shape(&mut self) -> Lowered<Shape> {
        let dim = |item: &Item| match item.text.parse() {
            Ok(n) => Ok(Dim::Known(n)),
            Err(_) if crate::types::is_name(&item.text) => Ok(Dim::from(item.text.as_str())),
            Err(_) => {
                Err(wrong(item.place, format!("{} is no length", item.text), "write a number or a symbol"))
            }
        };
        Ok(Shape(self.list()?.iter().map(dim).collect::<Lowered<_>>()?))
    }

    pub(crate) fn range(&mut self) -> Lowered<(u64, u64)> {
        match self.first("a range is missing: 0..5")? {
            Argument::Range(from, to) => Ok((*from, *to)),
            _ => Err(self.wrong("a range such as 0..5 is expected")),
        }
    }

    /// A named argument at the end.
    pub(crate) fn named(&mut self, name: &str) -> Lowered<Option<&'a Expr>> {
        match self.all {
            [rest @ .., Argument::Named((found, place), value)] => {
                if found != name {
                    return Err(wrong(
                        *place,
                        format!("`{}` has no argument {found}", self.name),
                        format!("it has {name}"),
                    ));
                }
                self.all = rest;
                Ok(Some(value))
            }
            _ => Ok(None),
        }
    }

    /// `stride=[2, 2], pad=[1, 1, 1, 1], groups=3`; each is optional.
    pub(crate) fn steps(&mut self) -> Lowered<(Steps, u32)> {
        let (mut steps, mut groups) = (Steps::default(), 1);
        let (mut seen, here) = (vec![], *self);
        while let [rest @ .., last] = self.all {
            let (name, place) = match last {
                Argument::NamedList((name, place), items) => {
                    match name.as_str() {
                        "stride" => steps.strides = numbers(items, &here)?,
                        "pad" => steps.padding = numbers(items, &here)?,
                        _ => {
                            return Err(wrong(
                                *place,
                                format!("`{}` has no argument {name}", self.name),
                                "it has stride and pad",
                            ));
                        }
                    }
                    (name, place)
                }
                Argument::Named((name, place), value) if name == "groups" && self.name == "conv2d" => {
                    groups = u32::try_from(whole(value)?)
                        .map_err(|_| self.wrong("a smaller number is expected"))?;
                    (name, place)
                }
                _ => break,
            };
            if seen.contains(&name) {
                return Err(wrong(*place, format!("{name} stands twice"), "write it once"));
            }
            seen.push(name);
            self.all = rest;
        }
        Ok((steps, groups))
    }

    pub(crate) fn axis(&mut self) -> Lowered<u8> {
        let Some(value) = self.named("axis")? else { return Ok(0) };
        u8::try_from(whole(value)?).map_err(|_| self.wrong("axes are numbers from 0"))
    }

    pub(crate) fn done(&self) -> Lowered<()> {
        if self.all.is_empty() { Ok(()) } else { Err(self.wrong("it takes fewer")) }
    }
}
