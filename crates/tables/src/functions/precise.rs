//! Sines and cosines with all the bits that are computed, for functions that need them.
//!
//! Near 1, an arc cosine turns a step of 2^-32 into 2^-16, and so does a root near 0. The distance
//! of two points on a sphere is an arc cosine of products of sines and cosines, or twice the arc
//! sine of a root of such products. For points that are near each other it would have few correct
//! digits. Numbers below 1 leave room for more bits: their sums and products with 60 fractional
//! bits fit in 128 bits. The types express this, so evaluation and lowering are the same as for all
//! DOUBLEs.
//!
//! For a distance of θ radians, the result differs by at most 2^-30 + min(2^-52 / θ, 2^-26) from
//! the distance for the angles as they are represented. Floating point itself errs by min(2^-52 /
//! θ, 2^-26).

use super::{
    acos::ACOS, asin::ASIN, coalesce::COALESCE, cos::COS, greatest::GREATEST, least::LEAST, sin::SIN,
    sqrt::SQRT,
};
use crate::{
    algebra::{Arithmetic, Call, Expr, Schema},
    fixed,
};

/// The expression in which ACOS, ASIN and SQRT of sums and products of sines and cosines take these
/// with all their bits. It differs from `expr` only if its type, and the ranges of the schema's
/// columns, leave room for them.
#[must_use]
pub fn precise(expr: &Expr, schema: &Schema) -> Expr {
    let made = expr.with_operands(&mut |e| precise(e, schema));
    let Expr::Call(call) = &made else { return made };
    let public = match call.primitive {
        of if *of == ACOS || *of == ASIN => fixed::INSIDE,
        of if *of == SQRT => fixed::FRAC,
        _ => return made,
    };
    if !call.public.is_empty() {
        return made;
    }
    let Some(operands) = any_raised(&call.operands) else { return made };
    let raised = call.primitive.call(operands, vec![public.into()]);
    if raised.check(schema).is_ok() { raised } else { made }
}

/// The expression with all bits of its sines and cosines; `None` if it has no sines or cosines.
fn raised(expr: &Expr) -> Option<Expr> {
    match expr {
        Expr::Call(call) => called(call),
        Expr::Arithmetic(op @ (Arithmetic::Add | Arithmetic::Subtract | Arithmetic::Multiply), a, b) => {
            let [a, b] = any_raised(&[(**a).clone(), (**b).clone()])?.try_into().ok()?;
            Some(a.arithmetic(*op, b))
        }
        Expr::Arithmetic(Arithmetic::Divide, a, b) if matches!(**b, Expr::Literal(..)) => {
            Some(raised(a)?.arithmetic(Arithmetic::Divide, (**b).clone()))
        }
        Expr::Negate(of) => Some(Expr::Negate(Box::new(raised(of)?))),
        // Conditions are not changed.
        Expr::Case { branches, otherwise } => {
            let values = branches.iter().map(|(_, value)| value).chain(otherwise.as_deref());
            let mut values = any_raised(&values.cloned().collect::<Vec<_>>())?.into_iter();
            let branches = branches.iter().zip(&mut values).map(|((when, _), then)| (when.clone(), then));
            let branches = branches.collect();
            Some(Expr::Case { branches, otherwise: values.next().map(Box::new) })
        }
        _ => None,
    }
}

fn called(call: &Call) -> Option<Expr> {
    let of = call.primitive;
    let inside = vec![fixed::INSIDE.into()];
    if *of == SIN || *of == COS || *of == SQRT && !call.public.is_empty() {
        Some(of.call(call.operands.clone(), inside))
    } else if *of == LEAST || *of == GREATEST || *of == COALESCE {
        Some(of.call(any_raised(&call.operands)?, vec![]))
    } else {
        None
    }
}

/// The expressions with all bits; `None` if no expression has sines or cosines.
fn any_raised(all: &[Expr]) -> Option<Vec<Expr>> {
    let made: Vec<Option<Expr>> = all.iter().map(raised).collect();
    let some = made.iter().any(Option::is_some);
    some.then(|| made.into_iter().zip(all).map(|(made, own)| made.unwrap_or_else(|| own.clone())).collect())
}

#[cfg(test)]
pub(crate) mod tests;
