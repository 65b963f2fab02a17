//! The operands' types as operations see them, and the rules that several operations share.

use crate::{ComputeError, Dim, Scalar, Shape, Type, Visibility};

/// An operand: its name for messages, and its type.
pub(crate) type Operand<'a> = (&'a str, &'a Type);

/// The type of a result, or the reason why the operands are refused.
pub(crate) type Typed = Result<Type, ComputeError>;

/// The largest number of axes of a value.
pub const MAX_RANK: usize = 8;

/// The operands of an operation whose type is inferred. Their number has been checked.
#[derive(Clone, Copy)]
pub(crate) struct Operands<'a> {
    /// The operation's name.
    pub(crate) name: &'static str,
    pub(crate) all: &'a [Operand<'a>],
}

fn err(cause: impl Into<String>, remedy: impl Into<String>) -> ComputeError {
    ComputeError::ty(cause, remedy)
}

/// `price: i64[n] and rate: u8`.
pub(crate) fn told(operands: &[Operand<'_>]) -> String {
    let one = |(name, ty): &Operand<'_>| format!("{name}: {ty}");
    operands.iter().map(one).collect::<Vec<_>>().join(" and ")
}

/// Whether elements of one scalar can be cast to the other: both are numbers, or bits.
pub(crate) fn castable(from: Scalar, to: Scalar) -> bool {
    match (from, to) {
        (Scalar::Place, _) | (_, Scalar::Place) => false,
        (a, b) if a == b => true,
        (Scalar::Bits(a), b) | (b, Scalar::Bits(a)) => b.bits() == usize::from(a),
        (a, b) => b.is_number() && (a.is_number() || a == Scalar::Bool),
    }
}

/// A shape within the limit on axes.
pub(crate) fn ranked(shape: &Shape) -> Result<Shape, ComputeError> {
    if shape.rank() > MAX_RANK {
        return Err(err(format!("a value with {} axes", shape.rank()), format!("it has at most {MAX_RANK}")));
    }
    Ok(shape.clone())
}

impl<'a> Operands<'a> {
    /// The operation's operands from the `k`-th on.
    pub(crate) fn from(self, k: usize) -> Self {
        Operands { all: &self.all[k..], ..self }
    }

    pub(crate) fn scalar(self, k: usize) -> Scalar {
        self.all[k].1.scalar
    }

    pub(crate) fn shape(self, k: usize) -> &'a Shape {
        &self.all[k].1.shape
    }

    /// The operands with their types, for messages.
    pub(crate) fn told(self) -> String {
        told(self.all)
    }

    /// The error for operands that the operation does not take.
    pub(crate) fn wrong(self, remedy: impl Into<String>) -> ComputeError {
        err(format!("`{}` of {}", self.name, self.told()), remedy)
    }

    /// The error for a first operand, or for keys, with which the operation would do nothing.
    pub(crate) fn wrong_by(self, remedy: impl Into<String>) -> ComputeError {
        err(format!("`{}` by {}", self.name, self.told()), remedy)
    }

    /// A result that is visible to the members that may see every operand.
    pub(crate) fn result(self, scalar: Scalar, shape: Shape) -> Typed {
        let visibility = self.all.iter().fold(Visibility::Public, |v, (_, ty)| v.with(ty.visibility));
        Ok(Type { scalar, shape, visibility })
    }

    /// An element-wise result, with the operands' shape.
    pub(crate) fn each(self, scalar: Scalar) -> Typed {
        self.result(scalar, self.together()?)
    }

    /// The common scalar of all operands.
    pub(crate) fn alike(self, ok: impl Fn(Scalar) -> bool, wants: &str) -> Result<Scalar, ComputeError> {
        let scalar = self.scalar(0);
        if self.all.iter().any(|(_, ty)| !ok(ty.scalar)) {
            return Err(self.wrong(format!("it takes {wants}")));
        }
        if let Some((name, other)) = self.all.iter().find(|(_, ty)| ty.scalar != scalar) {
            let remedy = if castable(other.scalar, scalar) {
                format!("operands have one type: write cast({name}, {scalar}), or cast the other")
            } else {
                "operands have one type".to_owned()
            };
            return Err(self.wrong(remedy));
        }
        Ok(scalar)
    }

    /// The common scalar of operands that are numbers.
    pub(crate) fn numbers(self) -> Result<Scalar, ComputeError> {
        self.alike(Scalar::is_number, "numbers")
    }

    /// The scalar of a product: fractional bits add up, the width stays.
    pub(crate) fn product(self) -> Result<Scalar, ComputeError> {
        match [self.scalar(0), self.scalar(1)] {
            [Scalar::Fixed { bits, frac: f }, Scalar::Fixed { bits: other, frac: g }] if bits == other => {
                let frac = f.checked_add(g).filter(|frac| *frac <= bits);
                let cause = || {
                    let sum = u16::from(f) + u16::from(g);
                    format!("`{}` of {} has {sum} fractional bits", self.name, self.told())
                };
                let frac = frac.ok_or_else(|| {
                    err(cause(), format!("rescale a factor, or cast both to more than {bits} bits"))
                })?;
                Ok(Scalar::Fixed { bits, frac })
            }
            _ => self.numbers(),
        }
    }

    /// The first operand's scalar, unless it is a permutation.
    pub(crate) fn not_place(self) -> Result<Scalar, ComputeError> {
        match self.scalar(0) {
            Scalar::Place => Err(self.wrong("a permutation stays whole: permute, invert or reveal it")),
            scalar => Ok(scalar),
        }
    }

    /// The common shape of all operands that are not single elements.
    fn together(self) -> Result<Shape, ComputeError> {
        let mut shapes = self.all.iter().map(|(_, ty)| &ty.shape).filter(|s| s.rank() > 0);
        let Some(first) = shapes.next() else { return Ok(Shape::scalar()) };
        if shapes.any(|shape| shape != first) {
            return Err(self.wrong("operands have one shape, or are single elements"));
        }
        Ok(first.clone())
    }

    /// The length of an axis of the first operand.
    pub(crate) fn axis(self, at: u8) -> Result<&'a Dim, ComputeError> {
        let shape = self.shape(0);
        shape.0.get(usize::from(at)).ok_or_else(|| {
            err(
                format!("`{}` along axis {at} of {}", self.name, self.told()),
                format!("it has {} axes, counted from 0", shape.rank()),
            )
        })
    }

    /// The first operand's shape without an axis.
    pub(crate) fn without(self, at: u8) -> Result<Shape, ComputeError> {
        self.axis(at)?;
        let mut shape = self.shape(0).clone();
        shape.0.remove(usize::from(at));
        Ok(shape)
    }

    /// Refuses a first operand that is not a vector of truth values, and a second operand with
    /// another number of rows.
    pub(crate) fn flagged(self) -> Result<(), ComputeError> {
        let [(_, flags), (_, rows)] = [self.all[0], self.all[1]];
        if flags.scalar != Scalar::Bool || flags.shape.rank() != 1 {
            let first = Operands { all: &self.all[..1], ..self };
            return Err(first.wrong_by("its first operand is a vector of truth values"));
        }
        if rows.shape.0.first() != flags.shape.0.first() {
            return Err(self.wrong("both have as many rows"));
        }
        Ok(())
    }
}
