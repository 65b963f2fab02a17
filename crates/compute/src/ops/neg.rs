//! `-x`.

use super::*;
use hushwire_circuit::words;

pub(super) struct Neg;

impl OpDef for Neg {
    fn syntax() -> Syntax {
        Syntax::Before("-", Op::Neg)
    }

    fn facts(&self) -> Facts {
        facts("-", 1, Role::Sums)
    }

    fn infer(&self, of: Operands<'_>) -> Typed {
        of.each(of.alike(Scalar::is_number, "a number")?)
    }

    fn range(&self, of: &Ranges<'_>) -> Reach {
        of.one(0, |x| x.map(i128::checked_neg))
    }

    fn evaluate(&self, of: Evaluation<'_>) -> Result<Tensor, ComputeError> {
        Ok(of.each(u128::wrapping_neg))
    }

    fn lowering(&self) -> Lowering<'_> {
        Lowering::each(|b, e| words::negate(b, e.x()))
    }

    fn print(&self, w: Writing<'_>) -> Printed {
        w.before()
    }
}
