//! `x + y` and `x - y`.

use super::*;
use crate::Range;
use hushwire_circuit::words;

pub(super) struct Add;

impl OpDef for Add {
    fn syntax() -> Syntax {
        Syntax::Between(const { &[("+", Op::Add)] }, 5)
    }

    fn facts(&self) -> Facts {
        facts("+", 2, Role::Sums)
    }

    fn infer(&self, of: Operands<'_>) -> Typed {
        of.each(of.numbers()?)
    }

    fn range(&self, of: &Ranges<'_>) -> Reach {
        of.two(0, 1, |x, y| Range::around([x.low.checked_add(y.low), x.high.checked_add(y.high)]))
    }

    fn evaluate(&self, of: Evaluation<'_>) -> Result<Tensor, ComputeError> {
        Ok(of.two(u128::wrapping_add))
    }

    fn lowering(&self) -> Lowering<'_> {
        Lowering::each(|b, e| words::add_mod(b, e.x(), e.y()))
    }

    fn print(&self, w: Writing<'_>) -> Printed {
        w.between(5)
    }
}

pub(super) struct Sub;

impl OpDef for Sub {
    fn syntax() -> Syntax {
        Syntax::Between(const { &[("-", Op::Sub)] }, 5)
    }

    fn facts(&self) -> Facts {
        facts("-", 2, Role::Sums)
    }

    fn infer(&self, of: Operands<'_>) -> Typed {
        of.each(of.numbers()?)
    }

    fn range(&self, of: &Ranges<'_>) -> Reach {
        of.two(0, 1, |x, y| Range::around([x.low.checked_sub(y.high), x.high.checked_sub(y.low)]))
    }

    fn evaluate(&self, of: Evaluation<'_>) -> Result<Tensor, ComputeError> {
        Ok(of.two(u128::wrapping_sub))
    }

    fn lowering(&self) -> Lowering<'_> {
        Lowering::each(|b, e| words::sub(b, e.x(), e.y()).0)
    }

    fn print(&self, w: Writing<'_>) -> Printed {
        w.between(5)
    }
}
