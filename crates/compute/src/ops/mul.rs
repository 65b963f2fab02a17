//! `x * y`.

use super::*;
use crate::circuits::arith::multiply;

pub(super) struct Mul;

impl OpDef for Mul {
    fn syntax() -> Syntax {
        Syntax::Between(const { &[("*", Op::Mul)] }, 6)
    }

    fn facts(&self) -> Facts {
        facts("*", 2, Role::Sums)
    }

    fn infer(&self, of: Operands<'_>) -> Typed {
        of.each(of.product()?)
    }

    fn range(&self, of: &Ranges<'_>) -> Reach {
        of.two(0, 1, |x, y| x.corners(y, i128::checked_mul))
    }

    fn evaluate(&self, of: Evaluation<'_>) -> Result<Tensor, ComputeError> {
        Ok(of.two(u128::wrapping_mul))
    }

    fn lowering(&self) -> Lowering<'_> {
        Lowering::each(|b, e| multiply(b, e.x(), e.y()))
    }

    fn print(&self, w: Writing<'_>) -> Printed {
        w.between(6)
    }
}
