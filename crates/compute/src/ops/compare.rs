//! `x == y`, `x < y` and the like.

use super::*;
use crate::{
    circuits::arith,
    evaluation::{less, place},
    text::print::COMPARISON,
};
use hushwire_circuit::words;

pub(super) struct Compare<'a> {
    pub(super) comparison: &'a Comparison,
}

impl OpDef for Compare<'_> {
    fn syntax() -> Syntax {
        let signs = const {
            &[
                ("==", Op::Compare(Comparison::Equal)),
                ("!=", Op::Compare(Comparison::NotEqual)),
                ("<", Op::Compare(Comparison::Less)),
                ("<=", Op::Compare(Comparison::LessOrEqual)),
                (">", Op::Compare(Comparison::Greater)),
                (">=", Op::Compare(Comparison::GreaterOrEqual)),
            ]
        };
        Syntax::Between(signs, COMPARISON)
    }

    fn facts(&self) -> Facts {
        facts(self.comparison.sign(), 2, Role::Works)
    }

    fn infer(&self, of: Operands<'_>) -> Typed {
        if self.comparison.orders() {
            of.numbers()?;
        } else {
            of.alike(|s| s != Scalar::Place, "values")?;
        }
        of.each(Scalar::Bool)
    }

    fn range(&self, _: &Ranges<'_>) -> Reach {
        Reach::Unknown
    }

    fn evaluate(&self, of: Evaluation<'_>) -> Result<Tensor, ComputeError> {
        let scalar = of.x().scalar();
        let truth = |i: usize| {
            let [x, y] = [of.x(), of.y()].map(|t| (t, place(t, i)));
            if !self.comparison.orders() {
                let equal = x.0.element(x.1) == y.0.element(y.1);
                return equal == (*self.comparison == Comparison::Equal);
            }
            let [x, y] = [x, y].map(|(t, i)| t.get(i));
            match self.comparison {
                Comparison::Less => less(scalar, x, y),
                Comparison::Greater => less(scalar, y, x),
                Comparison::LessOrEqual => !less(scalar, y, x),
                _ => !less(scalar, x, y),
            }
        };
        Ok(of.made(|i| truth(i).into()))
    }

    fn lowering(&self) -> Lowering<'_> {
        Lowering::each(|b, e| {
            let truth = match self.comparison {
                Comparison::Equal | Comparison::NotEqual => words::equal(b, e.x(), e.y()),
                Comparison::Less | Comparison::GreaterOrEqual => arith::less(b, e.is_signed(), e.x(), e.y()),
                Comparison::Greater | Comparison::LessOrEqual => arith::less(b, e.is_signed(), e.y(), e.x()),
            };
            vec![match self.comparison {
                Comparison::Equal | Comparison::Less | Comparison::Greater => truth,
                _ => b.not(truth),
            }]
        })
    }

    fn print(&self, w: Writing<'_>) -> Printed {
        w.between(COMPARISON)
    }
}
