//! `abs(x)`.

use super::*;
use crate::{Range, circuits::arith::absolute, tensor::number};

pub(super) struct Abs;

impl Abs {
    pub(super) const DEF: OpDef<Self> = OpDef {
        syntax: Syntax::Call(&["abs"], "abs(x)", |c| Ok((Op::Abs, c.operands()?))),
        facts: |_| facts("abs", 1, OpRole::Works),
        infer: |_, of| of.each(of.alike(Scalar::is_number, "a number")?),
        range: |_, of| {
            of.one(0, |x| match x.low >= 0 {
                true => Reach::To(x),
                false => Range::around([
                    Some(if x.high >= 0 { 0 } else { x.high.saturating_neg() }),
                    x.low.checked_neg(),
                    x.high.checked_abs(),
                ]),
            })
        },
        evaluate: |_, of| Ok(of.each(|x| number(of.scalar, x).map_or(x, i128::unsigned_abs))),
        lowering: |_| {
            Lowering::each(|b, e| if e.is_signed() { absolute(b, e.x()).0 } else { e.x().to_vec() })
        },
        print: |_, w| w.call(""),
    };
}
