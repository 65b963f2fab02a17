//! `x & y`, `x | y`, `x ^ y` and `!x`, bit by bit.

use super::*;
use crate::{Range, tensor::mask};
use hushwire_circuit::words;

fn bits(of: Operands<'_>) -> Typed {
    of.each(of.alike(|s| s != Scalar::Place, "truth values, bits or numbers")?)
}

pub(super) struct And;

impl And {
    pub(super) const DEF: OpDef<Self> = OpDef {
        syntax: Syntax::Between(&[("&", Op::And)], 2),
        facts: |_| facts("&", 2, OpRole::Works),
        infer: |_, of| bits(of),
        range: |_, of| {
            of.two(0, 1, |x, y| match x.low >= 0 && y.low >= 0 {
                true => Reach::To(Range { low: 0, high: x.high.min(y.high) }),
                false => Reach::Unknown,
            })
        },
        evaluate: |_, of| Ok(of.bitwise(|x, y| x & y)),
        lowering: |_| Lowering::each(|b, e| e.x().iter().zip(e.y()).map(|(x, y)| b.and(*x, *y)).collect()),
        print: |_, w| w.between(2),
    };
}

/// All numbers up to the smallest mask that covers both ranges.
fn filled(x: Range, y: Range) -> Reach {
    if x.low < 0 || y.low < 0 {
        return Reach::Unknown;
    }
    let high = x.high.max(y.high);
    let high = if high == 0 { 0 } else { i128::MAX >> (high.leading_zeros() - 1) };
    Reach::To(Range { low: 0, high })
}

pub(super) struct Or;

impl Or {
    pub(super) const DEF: OpDef<Self> = OpDef {
        syntax: Syntax::Between(&[("|", Op::Or)], 0),
        facts: |_| facts("|", 2, OpRole::Works),
        infer: |_, of| bits(of),
        range: |_, of| of.two(0, 1, filled),
        evaluate: |_, of| Ok(of.bitwise(|x, y| x | y)),
        lowering: |_| {
            Lowering::each(|b, e| {
                let either = |(x, y): (&Bit, &Bit)| {
                    let (both, differ) = (b.and(*x, *y), b.xor(*x, *y));
                    b.xor(both, differ)
                };
                e.x().iter().zip(e.y()).map(either).collect()
            })
        },
        print: |_, w| w.between(0),
    };
}

pub(super) struct Xor;

impl Xor {
    pub(super) const DEF: OpDef<Self> = OpDef {
        syntax: Syntax::Between(&[("^", Op::Xor)], 1),
        facts: |_| facts("^", 2, OpRole::Works),
        infer: |_, of| bits(of),
        range: |_, of| of.two(0, 1, filled),
        evaluate: |_, of| Ok(of.bitwise(|x, y| x ^ y)),
        lowering: |_| Lowering::each(|b, e| words::xor(b, e.x(), e.y())),
        print: |_, w| w.between(1),
    };
}

pub(super) struct Not;

impl Not {
    pub(super) const DEF: OpDef<Self> = OpDef {
        syntax: Syntax::Before("!", &Op::Not),
        facts: |_| facts("!", 1, OpRole::Works),
        infer: |_, of| bits(of),
        range: |_, of| {
            let scalar = of.types[0].scalar;
            of.one(0, |x| match Range::of(scalar) {
                _ if scalar.is_signed() => x.map(|x| Some(!x)),
                Some(whole) => x.map(|x| Some(whole.high - x)),
                None => Reach::Unknown,
            })
        },
        evaluate: |_, of| {
            let mut out = of.x().clone();
            for i in 0..out.len() {
                let mut rest = out.scalar().bits();
                for word in out.element_mut(i) {
                    *word ^= mask(rest.min(64)) as u64;
                    rest = rest.saturating_sub(64);
                }
            }
            Ok(out)
        },
        lowering: |_| Lowering::each(|b, e| words::not(b, e.x())),
        print: |_, w| w.before(),
    };
}
