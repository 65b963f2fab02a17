//! Rules for scalars and shapes that several operations share.

use super::{MAX_RANK, Operand, err, told};
use crate::{ComputeError, Dim, Scalar, Shape, Visibility};

/// The one scalar of all operands.
pub(super) fn alike(
    symbol: &str,
    operands: &[Operand<'_>],
    ok: impl Fn(Scalar) -> bool,
    wants: &str,
) -> Result<Scalar, ComputeError> {
    let scalar = operands[0].1.scalar;
    if operands.iter().any(|(_, ty)| !ok(ty.scalar)) {
        return Err(err(format!("`{symbol}` of {}", told(operands)), format!("it takes {wants}")));
    }
    if let Some((name, other)) = operands.iter().find(|(_, ty)| ty.scalar != scalar) {
        let remedy = if castable(other.scalar, scalar) {
            format!("operands have one type: write cast({name}, {scalar}), or cast the other")
        } else {
            "operands have one type".to_owned()
        };
        return Err(err(format!("`{symbol}` of {}", told(operands)), remedy));
    }
    Ok(scalar)
}

/// The scalar of a product: fractional bits add up, the width stays.
pub(super) fn product(symbol: &str, operands: &[Operand<'_>]) -> Result<Scalar, ComputeError> {
    match [operands[0].1.scalar, operands[1].1.scalar] {
        [Scalar::Fixed { bits, frac: f }, Scalar::Fixed { bits: other, frac: g }] if bits == other => {
            let frac = f.checked_add(g).filter(|frac| *frac <= bits);
            let cause = || {
                format!(
                    "`{symbol}` of {} has {} fractional bits",
                    told(operands),
                    u16::from(f) + u16::from(g)
                )
            };
            let frac = frac.ok_or_else(|| {
                err(cause(), format!("rescale a factor, or cast both to more than {bits} bits"))
            })?;
            Ok(Scalar::Fixed { bits, frac })
        }
        _ => alike(symbol, operands, Scalar::is_number, "numbers"),
    }
}

pub(super) fn castable(from: Scalar, to: Scalar) -> bool {
    match (from, to) {
        (Scalar::Place, _) | (_, Scalar::Place) => false,
        (a, b) if a == b => true,
        (Scalar::Bits(a), b) | (b, Scalar::Bits(a)) => b.bits() == usize::from(a),
        (a, b) => b.is_number() && (a.is_number() || a == Scalar::Bool),
    }
}

pub(super) fn not_place(symbol: &str, operands: &[Operand<'_>]) -> Result<Scalar, ComputeError> {
    match operands[0].1.scalar {
        Scalar::Place => Err(err(
            format!("`{symbol}` of {}", told(operands)),
            "a permutation stays whole: permute, invert or reveal it",
        )),
        scalar => Ok(scalar),
    }
}

pub(super) fn broadcast(symbol: &str, operands: &[Operand<'_>]) -> Result<Shape, ComputeError> {
    let mut shapes = operands.iter().map(|(_, ty)| &ty.shape).filter(|s| s.rank() > 0);
    let Some(first) = shapes.next() else { return Ok(Shape::scalar()) };
    if shapes.any(|shape| shape != first) {
        let remedy = "operands have one shape, or are single elements";
        return Err(err(format!("`{symbol}` of {}", told(operands)), remedy));
    }
    Ok(first.clone())
}

pub(super) fn rank(shape: Shape) -> Result<Shape, ComputeError> {
    if shape.rank() > MAX_RANK {
        return Err(err(format!("a value with {} axes", shape.rank()), format!("it has at most {MAX_RANK}")));
    }
    Ok(shape)
}

pub(super) fn axis<'a>(symbol: &str, operands: &[Operand<'a>], at: u8) -> Result<&'a Dim, ComputeError> {
    let dim = operands[0].1.shape.0.get(usize::from(at));
    let rank = operands[0].1.shape.rank();
    dim.ok_or_else(|| {
        err(
            format!("`{symbol}` along axis {at} of {}", told(operands)),
            format!("it has {rank} axes, counted from 0"),
        )
    })
}

pub(super) fn without(symbol: &str, operands: &[Operand<'_>], at: u8) -> Result<Shape, ComputeError> {
    axis(symbol, operands, at)?;
    let mut shape = operands[0].1.shape.clone();
    shape.0.remove(usize::from(at));
    Ok(shape)
}

pub(super) fn matrices(operands: &[Operand<'_>]) -> Result<Shape, ComputeError> {
    let [a, b] = [0, 1].map(|k: usize| &operands[k].1.shape.0[..]);
    let (inner, outer) = match (a, b) {
        ([k], [l]) => ((k, l), vec![]),
        ([m, k], [l]) => ((k, l), vec![m]),
        ([k], [l, n]) => ((k, l), vec![n]),
        ([m, k], [l, n]) => ((k, l), vec![m, n]),
        _ => return Err(err(format!("`matmul` of {}", told(operands)), "it takes vectors and matrices")),
    };
    if inner.0 != inner.1 {
        let remedy = "the last axis of the first is as long as the first of the second";
        return Err(err(format!("`matmul` of {}", told(operands)), remedy));
    }
    Ok(Shape(outer.into_iter().cloned().collect()))
}

/// A single element goes anywhere; of values with axes, those of length 1 are repeated and the others stay.
pub(super) fn repeated(operands: &[Operand<'_>], to: Shape) -> Result<Shape, ComputeError> {
    let from = &operands[0].1.shape;
    let one = |(from, to): (&Dim, &Dim)| *from == Dim::Known(1) || from == to;
    if from.rank() == 0 || (from.rank() == to.rank() && from.0.iter().zip(&to.0).all(one)) {
        return Ok(to);
    }
    let remedy = "it takes a single element, or as many axes, each as long as before or of length 1";
    Err(err(format!("`broadcast` of {} to {to}", told(operands)), remedy))
}

/// Symbols must be the same, as often, on both sides; what is known must come to the same product.
pub(super) fn reshaped(operands: &[Operand<'_>], to: Shape) -> Result<Shape, ComputeError> {
    let parts = |shape: &Shape| {
        let mut symbols: Vec<_> = shape.0.iter().filter(|d| matches!(d, Dim::Symbol(_))).cloned().collect();
        symbols.sort_unstable();
        let known = Shape(shape.0.iter().filter(|d| matches!(d, Dim::Known(_))).cloned().collect());
        (symbols, known.elements())
    };
    let (from, into) = (parts(&operands[0].1.shape), parts(&to));
    if from != into || from.1.is_none() {
        return Err(err(
            format!("`reshape` of {} to {to}", told(operands)),
            "both shapes have as many elements",
        ));
    }
    Ok(to)
}

pub(super) fn concat(at: u8, operands: &[Operand<'_>]) -> Result<(Scalar, Shape), ComputeError> {
    let scalar = alike("concat", operands, |s| s != Scalar::Place, "values")?;
    let mut sum = 0u64;
    for k in 0..operands.len() {
        let rest = |k| without("concat", &operands[k..], at);
        let dim = axis("concat", &operands[k..], at)?;
        let Dim::Known(n) = dim else {
            let cause = format!("`concat` along an axis of length {dim}");
            return Err(err(cause, "the lengths along that axis are numbers"));
        };
        if rest(k)? != rest(0)? {
            let remedy = "all other axes are of one length";
            return Err(err(format!("`concat` along axis {at} of {}", told(operands)), remedy));
        }
        sum = sum.checked_add(*n).ok_or_else(|| err("`concat` of too many rows", "take fewer"))?;
    }
    let mut shape = operands[0].1.shape.clone();
    shape.0[usize::from(at)] = Dim::Known(sum);
    Ok((scalar, shape))
}

pub(super) fn gather(operands: &[Operand<'_>]) -> Result<(Scalar, Shape), ComputeError> {
    let [(_, rows), (_, places)] = [operands[0], operands[1]];
    if places.visibility != Visibility::Public
        || !matches!(places.scalar, Scalar::Int { .. })
        || places.shape.rank() != 1
    {
        let remedy = "places are a public vector of integers";
        return Err(err(format!("`gather` of {}", told(operands)), remedy));
    }
    axis("gather", operands, 0)?;
    let mut shape = rows.shape.clone();
    shape.0[0] = places.shape.0[0].clone();
    Ok((not_place("gather", operands)?, shape))
}
