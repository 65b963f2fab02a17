//! `permute(x, p)` and `invert(p)`.

use super::*;

pub(super) struct Permute;

impl OpDef for Permute {
    fn syntax() -> Syntax {
        Syntax::Call(&["permute"], "permute(x, p)", |c| Ok((Op::Permute, c.operands()?)))
    }

    fn facts(&self) -> Facts {
        facts("permute", 2, Role::Works)
    }

    fn infer(&self, of: Operands<'_>) -> Typed {
        if of.scalar(1) != Scalar::Place {
            return Err(of.from(1).wrong_by("its second operand is a permutation, such as order(…) makes"));
        }
        if of.shape(0).0.first() != of.shape(1).0.first() {
            return Err(of.wrong("both have as many rows"));
        }
        of.result(of.scalar(0), of.shape(0).clone())
    }

    fn range(&self, of: &Ranges<'_>) -> Reach {
        of.same(0)
    }

    fn evaluate(&self, of: Evaluation<'_>) -> Result<Tensor, ComputeError> {
        Ok(of.rows(of.x(), |i| of.y().get(i) as usize))
    }

    fn lowering(&self) -> Lowering<'_> {
        Lowering::stages(|values, site| {
            let order = values.order(site.args[1]);
            if site.scalar == Scalar::Place {
                return Ok(Lowered::Order(values.order(site.args[0]).then(&order)));
            }
            let rows = values.bits(site.args[0])?;
            let width = rows.len().checked_div(order.rows).unwrap_or(0);
            order.apply(&mut values.stages, width, &rows).map(Lowered::Bits)
        })
    }

    fn print(&self, w: Writing<'_>) -> Printed {
        w.call("")
    }
}

pub(super) struct Invert;

impl OpDef for Invert {
    fn syntax() -> Syntax {
        Syntax::Call(&["invert"], "invert(p)", |c| Ok((Op::Invert, c.operands()?)))
    }

    fn facts(&self) -> Facts {
        facts("invert", 1, Role::Works)
    }

    fn infer(&self, of: Operands<'_>) -> Typed {
        if of.scalar(0) != Scalar::Place {
            return Err(of.wrong("it takes a permutation, such as order(…) makes"));
        }
        of.result(Scalar::Place, of.shape(0).clone())
    }

    fn range(&self, _: &Ranges<'_>) -> Reach {
        Reach::Unknown
    }

    fn evaluate(&self, of: Evaluation<'_>) -> Result<Tensor, ComputeError> {
        let mut out = of.zeros();
        (0..out.len()).for_each(|i| out.set(of.x().get(i) as usize, i as u128));
        Ok(out)
    }

    fn lowering(&self) -> Lowering<'_> {
        Lowering::stages(|values, site| Ok(Lowered::Order(values.order(site.args[0]).inverted())))
    }

    fn print(&self, w: Writing<'_>) -> Printed {
        w.call("")
    }
}
