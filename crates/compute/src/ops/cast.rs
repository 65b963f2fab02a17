//! `cast(x, i64)`.

use super::*;
use crate::{
    Range, circuits::arith::resized, error::wrong, range::doubled, tensor::number, typing::castable,
};

pub(super) struct Cast<'a> {
    pub(super) to: &'a Scalar,
}

impl<'a> Cast<'a> {
    pub(super) const DEF: OpDef<Self> = OpDef {
        syntax: Syntax::Call(&["cast"], "cast(x, i64)", |c| {
            let x = c.arguments.value()?;
            let (to, shape) = c.arguments.ty()?;
            if shape.rank() > 0 {
                let remedy = "write the elements' type alone";
                return Err(wrong(c.arguments.place, "`cast` to a type with axes", remedy));
            }
            Ok((Op::Cast(to), c.only(x)?))
        }),
        facts: |_| facts("cast", 1, OpRole::Works),
        infer: |p, of| {
            let to = *p.to;
            if !to.is_valid() {
                return Err(ComputeError::ty(format!("there is no type {to}"), "numbers have 1 to 128 bits"));
            }
            if !castable(of.scalar(0), to) {
                let remedy = "numbers are cast to numbers, truth values to numbers, bits to what is as wide; compare a number with 0 for its truth";
                return Err(ComputeError::ty(format!("`cast` of {} to {to}", of.told()), remedy));
            }
            of.each(to)
        },
        range: |p, of| {
            let (from, to) = (of.types[0].scalar, p.to.frac());
            match from {
                Scalar::Bool => Range::around([Some(0), doubled(1, to.into())]),
                _ if from.is_number() => of.one(0, |x| {
                    let f = from.frac();
                    x.map(|x| doubled(x >> f.saturating_sub(to).min(127), to.saturating_sub(f).into()))
                }),
                _ => Reach::Unknown,
            }
        },
        evaluate: |p, of| {
            let (from, to) = (of.x().scalar(), *p.to);
            if from == to || matches!(from, Scalar::Bits(_)) || matches!(to, Scalar::Bits(_)) {
                let mut out = of.zeros();
                (0..out.len()).for_each(|i| out.element_mut(i).copy_from_slice(of.x().element(i)));
                return Ok(out);
            }
            let (more, fewer) =
                (to.frac().saturating_sub(from.frac()), from.frac().saturating_sub(to.frac()));
            Ok(of.each(|bits| {
                // An unsigned number of 2^127 or more has no fractional bits to drop.
                let n = number(from, bits).unwrap_or(bits.cast_signed());
                (n >> fewer.min(127)).checked_shl(more.into()).unwrap_or(0).cast_unsigned()
            }))
        },
        lowering: |_| {
            Lowering::each(|_, e| {
                let (x, from, to) = (e.x(), e.scalars[0], e.to);
                if matches!(from, Scalar::Bits(_)) || matches!(to, Scalar::Bits(_)) {
                    return x.to_vec();
                }
                let (f, t) = (usize::from(from.frac()), usize::from(to.frac()));
                let signed = from.is_signed();
                // If all bits are fractional and dropped, the sign remains: the result is -1 or 0.
                let whole =
                    resized(&x[f.saturating_sub(t).min(x.len() - 1)..], signed, x.len().max(to.bits()));
                let mut out = vec![Bit::ZERO; t.saturating_sub(f)];
                out.extend(whole);
                resized(&out, signed, to.bits())
            })
        },
        print: |p, w| w.call(&format!(", {}", p.to)),
    };
}
