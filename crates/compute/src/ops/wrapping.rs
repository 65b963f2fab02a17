//! `wrapping(x)`.

use super::*;

pub(super) struct Wrapping;

impl OpDef for Wrapping {
    fn syntax() -> Syntax {
        Syntax::Call(&["wrapping"], "wrapping(x)", |c| {
            let x = c.arguments.value()?;
            c.arguments.done()?;
            Ok((Op::Wrapping, vec![c.scope.value(x, c.beside)?]))
        })
    }

    fn facts(&self) -> Facts {
        facts("wrapping", 1, Role::Moves)
    }

    fn infer(&self, of: Operands<'_>) -> Typed {
        of.each(of.numbers()?)
    }

    fn range(&self, _: &Ranges<'_>) -> Reach {
        Reach::Unknown
    }

    fn evaluate(&self, of: Evaluation<'_>) -> Result<Tensor, ComputeError> {
        Ok(of.x().clone())
    }

    fn lowering(&self) -> Lowering<'_> {
        Lowering::moves(|_, lengths| (0..lengths.iter().product()).collect())
    }

    fn print(&self, w: Writing<'_>) -> Printed {
        w.call("")
    }
}
