//! `x & y`, `x | y`, `x ^ y` and `!x`, bit by bit.

use super::*;
use crate::{Range, tensor::mask};
use hushwire_circuit::words;

fn bits(of: Operands<'_>) -> Typed {
    of.each(of.alike(|s| s != Scalar::Place, "truth values, bits or numbers")?)
}

pub(super) struct And;

impl OpDef for And {
    fn syntax() -> Syntax {
        Syntax::Between(const { &[("&", Op::And)] }, 2)
    }

    fn facts(&self) -> Facts {
        facts("&", 2, Role::Works)
    }

    fn infer(&self, of: Operands<'_>) -> Typed {
        bits(of)
    }

    fn range(&self, of: &Ranges<'_>) -> Reach {
        of.two(0, 1, |x, y| match x.low >= 0 && y.low >= 0 {
            true => Reach::To(Range { low: 0, high: x.high.min(y.high) }),
            false => Reach::Unknown,
        })
    }

    fn evaluate(&self, of: Evaluation<'_>) -> Result<Tensor, ComputeError> {
        Ok(of.bitwise(|x, y| x & y))
    }

    fn lowering(&self) -> Lowering<'_> {
        Lowering::each(|b, e| e.x().iter().zip(e.y()).map(|(x, y)| b.and(*x, *y)).collect())
    }

    fn print(&self, w: Writing<'_>) -> Printed {
        w.between(2)
    }
}

/// All up to the smallest mask that covers both.
fn filled(x: Range, y: Range) -> Reach {
    if x.low < 0 || y.low < 0 {
        return Reach::Unknown;
    }
    let high = x.high.max(y.high);
    let high = if high == 0 { 0 } else { i128::MAX >> (high.leading_zeros() - 1) };
    Reach::To(Range { low: 0, high })
}

pub(super) struct Or;

impl OpDef for Or {
    fn syntax() -> Syntax {
        Syntax::Between(const { &[("|", Op::Or)] }, 0)
    }

    fn facts(&self) -> Facts {
        facts("|", 2, Role::Works)
    }

    fn infer(&self, of: Operands<'_>) -> Typed {
        bits(of)
    }

    fn range(&self, of: &Ranges<'_>) -> Reach {
        of.two(0, 1, filled)
    }

    fn evaluate(&self, of: Evaluation<'_>) -> Result<Tensor, ComputeError> {
        Ok(of.bitwise(|x, y| x | y))
    }

    fn lowering(&self) -> Lowering<'_> {
        Lowering::each(|b, e| {
            let either = |(x, y): (&Bit, &Bit)| {
                let (both, differ) = (b.and(*x, *y), b.xor(*x, *y));
                b.xor(both, differ)
            };
            e.x().iter().zip(e.y()).map(either).collect()
        })
    }

    fn print(&self, w: Writing<'_>) -> Printed {
        w.between(0)
    }
}

pub(super) struct Xor;

impl OpDef for Xor {
    fn syntax() -> Syntax {
        Syntax::Between(const { &[("^", Op::Xor)] }, 1)
    }

    fn facts(&self) -> Facts {
        facts("^", 2, Role::Works)
    }

    fn infer(&self, of: Operands<'_>) -> Typed {
        bits(of)
    }

    fn range(&self, of: &Ranges<'_>) -> Reach {
        of.two(0, 1, filled)
    }

    fn evaluate(&self, of: Evaluation<'_>) -> Result<Tensor, ComputeError> {
        Ok(of.bitwise(|x, y| x ^ y))
    }

    fn lowering(&self) -> Lowering<'_> {
        Lowering::each(|b, e| words::xor(b, e.x(), e.y()))
    }

    fn print(&self, w: Writing<'_>) -> Printed {
        w.between(1)
    }
}

pub(super) struct Not;

impl OpDef for Not {
    fn syntax() -> Syntax {
        Syntax::Before("!", Op::Not)
    }

    fn facts(&self) -> Facts {
        facts("!", 1, Role::Works)
    }

    fn infer(&self, of: Operands<'_>) -> Typed {
        bits(of)
    }

    fn range(&self, of: &Ranges<'_>) -> Reach {
        let scalar = of.types[0].scalar;
        of.one(0, |x| match Range::of(scalar) {
            _ if scalar.is_signed() => x.map(|x| Some(!x)),
            Some(whole) => x.map(|x| Some(whole.high - x)),
            None => Reach::Unknown,
        })
    }

    fn evaluate(&self, of: Evaluation<'_>) -> Result<Tensor, ComputeError> {
        let mut out = of.x().clone();
        for i in 0..out.len() {
            let mut rest = out.scalar().bits();
            for word in out.element_mut(i) {
                *word ^= mask(rest.min(64)) as u64;
                rest = rest.saturating_sub(64);
            }
        }
        Ok(out)
    }

    fn lowering(&self) -> Lowering<'_> {
        Lowering::each(|b, e| words::not(b, e.x()))
    }

    fn print(&self, w: Writing<'_>) -> Printed {
        w.before()
    }
}
