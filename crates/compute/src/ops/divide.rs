//! `x / y` and `x % y`, with edge cases for operands without a quotient.

use super::*;
use crate::Range;
use crate::{circuits::arith, range::doubled, tensor::number};

pub(super) struct Div;

impl Div {
    pub(super) const DEF: OpDef<Self> = OpDef {
        syntax: Syntax::Between(&[("/", Op::Div)], 6),
        facts: |_| facts("/", 2, OpRole::Works),
        infer: |_, of| {
            let scalar = of.numbers()?;
            if scalar.frac() > 0 && scalar.bits() + usize::from(scalar.frac()) > 128 {
                let cause = format!("`/` of {} needs more than 128 bits on the way", of.told());
                return Err(ComputeError::ty(cause, "cast both to fewer bits, or rescale them"));
            }
            of.each(scalar)
        },
        range: |_, of| {
            let frac = of.ty.scalar.frac().into();
            // The range is unknown if the divisor may be 0: that quotient has all bits set.
            of.two(0, 1, |x, y| match y.low > 0 || y.high < 0 {
                true => x.corners(y, |x, y| doubled(x, frac)?.checked_div(y)),
                false => Reach::Unknown,
            })
        },
        evaluate: |_, of| Ok(of.two(|x, y| divide(of.scalar, x, y))),
        lowering: |_| Lowering::each(|b, e| arith::divide(b, e.x(), e.y(), e.to).0),
        print: |_, w| w.between(6),
    };
}

fn divide(scalar: Scalar, x: u128, y: u128) -> u128 {
    if y == 0 {
        return u128::MAX;
    }
    if !scalar.is_signed() {
        return x / y;
    }
    let signed = |bits| number(scalar, bits).expect("it has a sign");
    // The checker leaves space for the fractional bits.
    (signed(x) << scalar.frac()).wrapping_div(signed(y)).cast_unsigned()
}

pub(super) struct Rem;

impl Rem {
    pub(super) const DEF: OpDef<Self> = OpDef {
        syntax: Syntax::Between(&[("%", Op::Rem)], 6),
        facts: |_| facts("%", 2, OpRole::Works),
        infer: |_, of| of.each(of.numbers()?),
        range: |_, of| {
            of.two(0, 1, |x, y| {
                // The remainder of a division by 0 is the dividend.
                let (low, high) = (x.low.min(0), x.high.max(0));
                match [y.low, y.high].map(i128::checked_abs) {
                    [Some(a), Some(b)] if y.low > 0 || y.high < 0 => {
                        let most = a.max(b) - 1;
                        Reach::To(Range { low: low.max(-most), high: high.min(most) })
                    }
                    _ => Reach::To(Range { low, high }),
                }
            })
        },
        evaluate: |_, of| Ok(of.two(|x, y| remainder(of.scalar, x, y))),
        lowering: |_| {
            // The numbers of steps are divided, whatever a step is.
            Lowering::each(|b, e| {
                let steps = Scalar::Int { signed: e.is_signed(), bits: e.to.bits() as u8 };
                arith::divide(b, e.x(), e.y(), steps).1
            })
        },
        print: |_, w| w.between(6),
    };
}

fn remainder(scalar: Scalar, x: u128, y: u128) -> u128 {
    if y == 0 {
        return x;
    }
    if !scalar.is_signed() {
        return x % y;
    }
    let signed = |bits| number(scalar, bits).expect("it has a sign");
    signed(x).wrapping_rem(signed(y)).cast_unsigned()
}
