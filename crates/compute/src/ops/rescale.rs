//! `rescale(x, 16)`.

use super::*;
use crate::{circuits::arith::resized, tensor::number};

pub(super) struct Rescale<'a> {
    pub(super) by: &'a u8,
}

impl<'a> Rescale<'a> {
    pub(super) const DEF: OpDef<Self> = OpDef {
        syntax: Syntax::Call(&["rescale"], "rescale(x, 16)", |c| {
            let x = c.arguments.value()?;
            let by = c.arguments.number()?;
            Ok((Op::Rescale(by), c.only(x)?))
        }),
        facts: |_| facts("rescale", 1, OpRole::Works),
        infer: |p, of| match of.scalar(0) {
            Scalar::Fixed { bits, frac } if *p.by <= frac => {
                of.each(Scalar::Fixed { bits, frac: frac - p.by })
            }
            Scalar::Fixed { frac, .. } => Err(ComputeError::ty(
                format!("`rescale` drops {} fractional bits of {}", p.by, of.told()),
                format!("it has {frac}"),
            )),
            _ => Err(of.wrong("it takes fixed numbers")),
        },
        range: |p, of| of.one(0, |x| x.map(|x| Some(x >> p.by.min(&127)))),
        evaluate: |p, of| {
            let from = of.x().scalar();
            let steps = |x| number(from, x).expect("fixed numbers have a sign");
            Ok(of.each(|x| (steps(x) >> p.by.min(&127)).cast_unsigned()))
        },
        lowering: |p| {
            Lowering::each(|_, e| {
                let x = e.x();
                resized(&x[usize::from(*p.by).min(x.len() - 1)..], true, x.len())
            })
        },
        print: |p, w| w.call(&format!(", {}", p.by)),
    };
}
