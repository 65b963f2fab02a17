//! `min(x, y)` and `max(x, y)`.

use super::*;
use crate::{Range, circuits::arith, evaluation::less, text::print::WHOLE};
use hushwire_circuit::words;

pub(super) struct Min;

impl Min {
    pub(super) const DEF: OpDef<Self> = OpDef {
        syntax: Syntax::Call(&["min"], "min(x, y)", |c| Ok((Op::Min, c.two()?))),
        facts: |_| facts("min", 2, OpRole::Works),
        infer: |_, of| of.each(of.numbers()?),
        range: |_, of| {
            of.two(0, 1, |x, y| Reach::To(Range { low: x.low.min(y.low), high: x.high.min(y.high) }))
        },
        evaluate: |_, of| Ok(of.two(|x, y| if less(of.scalar, y, x) { y } else { x })),
        lowering: |_| Lowering::each(|b, e| extreme(b, e.is_signed(), [e.x(), e.y()], true)),
        print: |_, w| pair(w),
    };
}

pub(super) struct Max;

impl Max {
    pub(super) const DEF: OpDef<Self> = OpDef {
        syntax: Syntax::Call(&["max"], "max(x, y)", |c| Ok((Op::Max, c.two()?))),
        facts: |_| facts("max", 2, OpRole::Works),
        infer: |_, of| of.each(of.numbers()?),
        range: |_, of| {
            of.two(0, 1, |x, y| Reach::To(Range { low: x.low.max(y.low), high: x.high.max(y.high) }))
        },
        evaluate: |_, of| Ok(of.two(|x, y| if less(of.scalar, x, y) { y } else { x })),
        lowering: |_| Lowering::each(|b, e| extreme(b, e.is_signed(), [e.y(), e.x()], false)),
        print: |_, w| pair(w),
    };
}

/// The smaller or the greater operand; for equal operands either one is right. A comparison with a
/// known number may borrow nothing from its lowest bits, if the operands are in the right order. A
/// comparison with 0 is then only the sign.
fn extreme(b: &mut Builder, signed: bool, [mut one, mut other]: [&[Bit]; 2], least: bool) -> Vec<Bit> {
    if one.first() == Some(&Bit::ZERO) || other.first() == Some(&Bit::ONE) {
        (one, other) = (other, one);
    }
    let choose = arith::less(b, signed, one, other);
    if least { words::mux(b, choose, one, other) } else { words::mux(b, choose, other, one) }
}

fn pair(w: Writing<'_>) -> Printed {
    let [x, y] = w.names.pair(w.arguments[0], w.arguments[1], 0, 0);
    (format!("{}({x}, {y})", w.name), WHOLE)
}
