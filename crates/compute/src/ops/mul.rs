//! `x * y`.

use super::*;
use crate::circuits::arith::multiply;

pub(super) struct Mul;

impl Mul {
    pub(super) const DEF: OpDef<Self> = OpDef {
        syntax: Syntax::Between(&[("*", Op::Mul)], 6),
        facts: |_| facts("*", 2, OpRole::Sums),
        infer: |_, of| of.each(of.product()?),
        range: |_, of| of.two(0, 1, |x, y| x.corners(y, i128::checked_mul)),
        evaluate: |_, of| Ok(of.two(u128::wrapping_mul)),
        lowering: |_| Lowering::each(|b, e| multiply(b, e.x(), e.y())),
        print: |_, w| w.between(6),
    };
}
