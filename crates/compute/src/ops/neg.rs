//! `-x`.

use super::*;
use hushwire_circuit::words;

pub(super) struct Neg;

impl Neg {
    pub(super) const DEF: OpDef<Self> = OpDef {
        syntax: Syntax::Before("-", &Op::Neg),
        facts: |_| facts("-", 1, OpRole::Sums),
        infer: |_, of| of.each(of.alike(Scalar::is_number, "a number")?),
        range: |_, of| of.one(0, |x| x.map(i128::checked_neg)),
        evaluate: |_, of| Ok(of.each(u128::wrapping_neg)),
        lowering: |_| Lowering::each(|b, e| words::negate(b, e.x())),
        print: |_, w| w.before(),
    };
}
