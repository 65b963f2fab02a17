//! The type of what an operation computes, from its operands' types alone.

mod names;
mod shapes;

use crate::{
    ComputeError, Dim, MAX_STRING, Op, Reduction, Scalar, Scan, Shape, Type, Visibility,
    windows::{convolved, pooled_shape},
};

pub(crate) use names::{arity, name, pool_name};
use shapes::{
    alike, axis, broadcast, castable, concat, gather, matrices, not_place, product, rank, repeated, reshaped,
    without,
};

/// An operand: its name for messages, and its type.
pub(crate) type Operand<'a> = (&'a str, &'a Type);

type Inferred = Result<Type, ComputeError>;

/// Axes that a value may have.
pub const MAX_RANK: usize = 8;

fn err(cause: impl Into<String>, remedy: impl Into<String>) -> ComputeError {
    ComputeError::ty(cause, remedy)
}

/// `price: i64[n] and rate: u8`.
pub(crate) fn told(operands: &[Operand<'_>]) -> String {
    let one = |(name, ty): &Operand<'_>| format!("{name}: {ty}");
    operands.iter().map(one).collect::<Vec<_>>().join(" and ")
}

/// The type of `op` on `operands`. Inputs have theirs already.
///
/// # Errors
/// Operands that the operation does not take.
pub(crate) fn infer(op: &Op, operands: &[Operand<'_>]) -> Inferred {
    let symbol = name(op);
    match arity(op) {
        Some(n) if n != operands.len() => {
            return Err(err(format!("`{symbol}` has {} operands", operands.len()), format!("it takes {n}")));
        }
        None if operands.is_empty() => {
            return Err(err(format!("`{symbol}` has no operand"), "it takes at least one"));
        }
        _ => {}
    }
    let visibility = operands.iter().fold(Visibility::Public, |v, (_, ty)| v.with(ty.visibility));
    let of = |scalar, shape| Ok(Type { scalar, shape, visibility });
    let shape = || broadcast(symbol, operands);
    match op {
        Op::Input(_) => Err(err("an input has the type that is declared", "declare it")),
        Op::Constant(tensor) => {
            let dims = tensor.lengths().iter().map(|n| Dim::Known(*n as u64)).collect();
            of(tensor.scalar(), Shape(dims))
        }
        Op::Add | Op::Sub | Op::Rem | Op::Min | Op::Max => {
            of(alike(symbol, operands, Scalar::is_number, "numbers")?, shape()?)
        }
        Op::Div => {
            let scalar = alike(symbol, operands, Scalar::is_number, "numbers")?;
            if scalar.frac() > 0 && scalar.bits() + usize::from(scalar.frac()) > 128 {
                let cause = format!("`/` of {} needs more than 128 bits on the way", told(operands));
                return Err(err(cause, "cast both to fewer bits, or rescale them"));
            }
            of(scalar, shape()?)
        }
        Op::Neg | Op::Abs => of(alike(symbol, operands, Scalar::is_number, "a number")?, shape()?),
        Op::Mul => of(product(symbol, operands)?, shape()?),
        Op::And | Op::Or | Op::Xor | Op::Not => {
            of(alike(symbol, operands, |s| s != Scalar::Place, "truth values, bits or numbers")?, shape()?)
        }
        Op::Compare(c) if c.orders() => {
            alike(symbol, operands, Scalar::is_number, "numbers")?;
            of(Scalar::Bool, shape()?)
        }
        Op::Compare(_) => {
            alike(symbol, operands, |s| s != Scalar::Place, "values")?;
            of(Scalar::Bool, shape()?)
        }
        Op::Select => {
            if operands[0].1.scalar != Scalar::Bool {
                let remedy = "its first operand is a truth value, such as a comparison";
                return Err(err(format!("`select` chooses by {}", told(&operands[..1])), remedy));
            }
            of(alike(symbol, &operands[1..], |s| s != Scalar::Place, "values")?, shape()?)
        }
        Op::ShiftLeft(n) | Op::ShiftRight(n) => {
            let ok = |s: Scalar| s.is_number() || matches!(s, Scalar::Bits(_));
            let scalar = alike(symbol, operands, ok, "numbers or bits")?;
            if usize::from(*n) >= scalar.bits() {
                let cause = format!("`{symbol}` by {n} leaves nothing of {}", told(operands));
                return Err(err(cause, format!("it shifts by 0 to {} bits", scalar.bits() - 1)));
            }
            of(scalar, shape()?)
        }
        Op::Rescale(by) => match operands[0].1.scalar {
            Scalar::Fixed { bits, frac } if *by <= frac => {
                of(Scalar::Fixed { bits, frac: frac - by }, shape()?)
            }
            Scalar::Fixed { frac, .. } => Err(err(
                format!("`rescale` drops {by} fractional bits of {}", told(operands)),
                format!("it has {frac}"),
            )),
            _ => Err(err(format!("`rescale` of {}", told(operands)), "it takes fixed numbers")),
        },
        Op::Cast(to) => {
            let from = operands[0].1.scalar;
            if !castable(from, *to) {
                let remedy = "numbers are cast to numbers, truth values to numbers, bits to what is as wide; compare a number with 0 for its truth";
                return Err(err(format!("`cast` of {} to {to}", told(operands)), remedy));
            }
            of(*to, shape()?)
        }
        Op::Reduce(reduction, at) => {
            let (scalar, shape) = (operands[0].1.scalar, without(symbol, operands, *at)?);
            let ok = match reduction {
                Reduction::All | Reduction::Any | Reduction::Count => scalar == Scalar::Bool,
                _ => scalar.is_number(),
            };
            if !ok {
                let wants = if scalar == Scalar::Bool { "numbers" } else { "truth values" };
                return Err(err(format!("`{symbol}` of {}", told(operands)), format!("it takes {wants}")));
            }
            let place = matches!(reduction, Reduction::Count | Reduction::ArgMin | Reduction::ArgMax);
            of(if place { Scalar::unsigned(64) } else { scalar }, shape)
        }
        Op::PrefixSum(at) => {
            without(symbol, operands, *at)?;
            of(alike(symbol, operands, Scalar::is_number, "numbers")?, operands[0].1.shape.clone())
        }
        Op::MatMul => of(product(symbol, operands)?, matrices(operands)?),
        Op::Broadcast(to) => of(not_place(symbol, operands)?, repeated(operands, rank(to.clone())?)?),
        Op::Reshape(to) => of(not_place(symbol, operands)?, reshaped(operands, rank(to.clone())?)?),
        Op::Transpose(axes) => {
            let from = &operands[0].1.shape;
            let mut sorted = axes.clone();
            sorted.sort_unstable();
            if !sorted.iter().map(|a| usize::from(*a)).eq(0..from.rank()) {
                let remedy = "it takes every axis once, counted from 0";
                return Err(err(format!("`transpose` of {} by axes {axes:?}", told(operands)), remedy));
            }
            of(
                not_place(symbol, operands)?,
                Shape(axes.iter().map(|a| from.0[usize::from(*a)].clone()).collect()),
            )
        }
        Op::Slice { axis: at, from, to } => {
            let mut shape = operands[0].1.shape.clone();
            let dim = axis(symbol, operands, *at)?;
            let fits = match dim {
                Dim::Known(n) => to <= n,
                // It is looked at again when the length is bound.
                Dim::Symbol(_) => true,
            };
            if from > to || !fits {
                let cause = format!("`slice` takes {from}..{to} of axis {at} of {}", told(operands));
                return Err(err(cause, format!("it takes from the lower to the higher, up to {dim}")));
            }
            shape.0[usize::from(*at)] = Dim::Known(to - from);
            of(not_place(symbol, operands)?, shape)
        }
        Op::Concat(at) => concat(*at, operands).and_then(|(scalar, shape)| of(scalar, shape)),
        Op::Gather => gather(operands).and_then(|(scalar, shape)| of(scalar, shape)),
        Op::Order { .. } | Op::Meet { .. } => {
            if let Op::Order { descending } = op
                && descending.len() != operands.len()
            {
                let cause =
                    format!("`order` has {} keys and {} directions", operands.len(), descending.len());
                return Err(err(cause, "give each key one"));
            }
            let rows = &operands[0].1.shape;
            if rows.rank() != 1 || operands.iter().any(|(_, ty)| ty.shape != *rows) {
                return Err(err(
                    format!("`{symbol}` by {}", told(operands)),
                    "keys are vectors of one length",
                ));
            }
            if let Some(key) =
                operands.iter().find(|(_, ty)| ty.scalar == Scalar::Place || ty.scalar.bits() > 128)
            {
                return Err(err(format!("`{symbol}` by {}", told(&[*key])), "keys have at most 128 bits"));
            }
            if let (Op::Meet { first }, Some(Dim::Known(rows))) = (op, rows.0.first())
                && first > rows
            {
                let cause = format!("`meet` of {rows} rows, {first} of which are the first side");
                return Err(err(cause, "a side has no more rows than there are"));
            }
            of(Scalar::Place, rows.clone())
        }
        Op::Permute => {
            let [(_, rows), (_, order)] = [operands[0], operands[1]];
            if order.scalar != Scalar::Place {
                let remedy = "its second operand is a permutation, such as order(…) makes";
                return Err(err(format!("`permute` by {}", told(&operands[1..])), remedy));
            }
            if rows.shape.0.first() != order.shape.0.first() {
                let remedy = "both have as many rows";
                return Err(err(format!("`permute` of {}", told(operands)), remedy));
            }
            of(rows.scalar, rows.shape.clone())
        }
        Op::Invert => {
            if operands[0].1.scalar != Scalar::Place {
                let remedy = "it takes a permutation, such as order(…) makes";
                return Err(err(format!("`invert` of {}", told(operands)), remedy));
            }
            of(Scalar::Place, operands[0].1.shape.clone())
        }
        Op::Compact { rows } => {
            let [(_, flags), (_, of_rows)] = [operands[0], operands[1]];
            if flags.scalar != Scalar::Bool || flags.shape.rank() != 1 {
                let remedy = "its first operand is a vector of truth values";
                return Err(err(format!("`compact` by {}", told(&operands[..1])), remedy));
            }
            if of_rows.shape.0.first() != flags.shape.0.first() {
                return Err(err(format!("`compact` of {}", told(operands)), "both have as many rows"));
            }
            let mut shape = of_rows.shape.clone();
            shape.0[0] = Dim::Known(*rows);
            of(not_place(symbol, &operands[1..])?, shape)
        }
        Op::Reveal(to) => {
            let (_, ty) = operands[0];
            let visibility = match to {
                None => Visibility::Public,
                // What all know stays known.
                Some(_) if ty.visibility == Visibility::Public => Visibility::Public,
                Some(member) => Visibility::Private(*member),
            };
            Ok(Type { visibility, ..ty.clone() })
        }
        Op::Scan(scan) => {
            let [(_, starts), (_, rows)] = [operands[0], operands[1]];
            if starts.scalar != Scalar::Bool || starts.shape.rank() != 1 {
                let remedy = "its first operand is a vector of truth values";
                return Err(err(format!("`{symbol}` by {}", told(&operands[..1])), remedy));
            }
            if rows.shape.0.first() != starts.shape.0.first() {
                return Err(err(format!("`{symbol}` of {}", told(operands)), "both have as many rows"));
            }
            if *scan != Scan::First && !rows.scalar.is_number() {
                return Err(err(format!("`{symbol}` of {}", told(&operands[1..])), "it takes numbers"));
            }
            of(not_place(symbol, &operands[1..])?, rows.shape.clone())
        }
        Op::Conv2d { steps, groups } => of(product(symbol, operands)?, convolved(operands, *steps, *groups)?),
        Op::Pool { reduction, size, steps } => of(
            alike(symbol, operands, Scalar::is_number, "numbers")?,
            pooled_shape(symbol, operands, *reduction, *size, *steps)?,
        ),
        Op::Circuit(circuit) => {
            for (i, (width, operand)) in circuit.inputs().iter().zip(operands).enumerate() {
                if operand.1.scalar != Scalar::Bits(*width as u16) {
                    let cause = format!("input {i} of a `circuit` is {}", told(&[*operand]));
                    return Err(err(cause, format!("it has bits({width}); cast what is as wide to it")));
                }
            }
            of(Scalar::Bits(circuit.output_bits() as u16), shape()?)
        }
        Op::Part { from, to } => match operands[0].1.scalar {
            Scalar::Bits(n) if from < to && *to <= n => of(Scalar::Bits(to - from), shape()?),
            Scalar::Bits(n) => {
                let cause = format!("`part` takes bits {from}..{to} of {}", told(operands));
                Err(err(cause, format!("it takes a bit or more, up to {n}")))
            }
            _ => Err(err(
                format!("`part` of {}", told(operands)),
                "it takes strings of bits; cast what is as wide to bits(n)",
            )),
        },
        Op::Join => {
            let mut bits = 0usize;
            for operand in operands {
                let Scalar::Bits(n) = operand.1.scalar else {
                    let remedy = "it takes strings of bits; cast what is as wide to bits(n)";
                    return Err(err(format!("`join` of {}", told(operands)), remedy));
                };
                bits += usize::from(n);
            }
            match u16::try_from(bits).ok().filter(|n| *n <= MAX_STRING) {
                Some(n) => of(Scalar::Bits(n), shape()?),
                None => Err(err(
                    format!("`join` of {} has {bits} bits", told(operands)),
                    format!("a string has at most {MAX_STRING}"),
                )),
            }
        }
        Op::Wrapping => of(alike(symbol, operands, Scalar::is_number, "numbers")?, shape()?),
    }
}
