//! `x + y` and `x - y`.

use super::*;
use crate::Range;
use hushwire_circuit::words;

pub(super) struct Add;

impl Add {
    pub(super) const DEF: OpDef<Self> = OpDef {
        syntax: Syntax::Between(&[("+", Op::Add)], 5),
        facts: |_| facts("+", 2, OpRole::Sums),
        infer: |_, of| of.each(of.numbers()?),
        range: |_, of| {
            of.two(0, 1, |x, y| Range::around([x.low.checked_add(y.low), x.high.checked_add(y.high)]))
        },
        evaluate: |_, of| Ok(of.two(u128::wrapping_add)),
        lowering: |_| Lowering::each(|b, e| words::add_mod(b, e.x(), e.y())),
        print: |_, w| w.between(5),
    };
}

pub(super) struct Sub;

impl Sub {
    pub(super) const DEF: OpDef<Self> = OpDef {
        syntax: Syntax::Between(&[("-", Op::Sub)], 5),
        facts: |_| facts("-", 2, OpRole::Sums),
        infer: |_, of| of.each(of.numbers()?),
        range: |_, of| {
            of.two(0, 1, |x, y| Range::around([x.low.checked_sub(y.high), x.high.checked_sub(y.low)]))
        },
        evaluate: |_, of| Ok(of.two(u128::wrapping_sub)),
        lowering: |_| Lowering::each(|b, e| words::sub(b, e.x(), e.y()).0),
        print: |_, w| w.between(5),
    };
}
