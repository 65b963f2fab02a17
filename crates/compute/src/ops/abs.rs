//! `abs(x)`.

use super::*;
use crate::{Range, circuits::arith::absolute, tensor::number};

pub(super) struct Abs;

impl OpDef for Abs {
    fn syntax() -> Syntax {
        Syntax::Call(&["abs"], "abs(x)", |c| Ok((Op::Abs, c.operands()?)))
    }

    fn facts(&self) -> Facts {
        facts("abs", 1, Role::Works)
    }

    fn infer(&self, of: Operands<'_>) -> Typed {
        of.each(of.alike(Scalar::is_number, "a number")?)
    }

    fn range(&self, of: &Ranges<'_>) -> Reach {
        of.one(0, |x| match x.low >= 0 {
            true => Reach::To(x),
            false => Range::around([
                Some(if x.high >= 0 { 0 } else { x.high.saturating_neg() }),
                x.low.checked_neg(),
                x.high.checked_abs(),
            ]),
        })
    }

    fn evaluate(&self, of: Evaluation<'_>) -> Result<Tensor, ComputeError> {
        Ok(of.each(|x| number(of.scalar, x).map_or(x, i128::unsigned_abs)))
    }

    fn lowering(&self) -> Lowering<'_> {
        Lowering::each(|b, e| if e.is_signed() { absolute(b, e.x()).0 } else { e.x().to_vec() })
    }

    fn print(&self, w: Writing<'_>) -> Printed {
        w.call("")
    }
}
