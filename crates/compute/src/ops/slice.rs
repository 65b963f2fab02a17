//! `slice(x, 0..5)`.

use super::*;
use crate::{
    Dim,
    evaluation::{strided, strides},
    text::print,
};

pub(super) struct Slice<'a> {
    pub(super) axis: &'a u8,
    pub(super) from: &'a u64,
    pub(super) to: &'a u64,
}

impl OpDef for Slice<'_> {
    fn syntax() -> Syntax {
        Syntax::Call(&["slice"], "slice(x, 0..5, axis=1)", |c| {
            let x = c.arguments.value()?;
            let (from, to) = c.arguments.range()?;
            let axis = c.arguments.axis()?;
            Ok((Op::Slice { axis, from, to }, c.only(x)?))
        })
    }

    fn facts(&self) -> Facts {
        facts("slice", 1, Role::Moves)
    }

    fn infer(&self, of: Operands<'_>) -> Typed {
        let (axis, from, to) = (*self.axis, *self.from, *self.to);
        let dim = of.axis(axis)?;
        let fits = match dim {
            Dim::Known(n) => to <= *n,
            // It is looked at again when the length is bound.
            Dim::Symbol(_) => true,
        };
        if from > to || !fits {
            let cause = format!("`slice` takes {from}..{to} of axis {axis} of {}", of.told());
            return Err(ComputeError::ty(
                cause,
                format!("it takes from the lower to the higher, up to {dim}"),
            ));
        }
        let mut shape = of.shape(0).clone();
        shape.0[usize::from(axis)] = Dim::Known(to - from);
        of.result(of.not_place()?, shape)
    }

    fn range(&self, of: &Ranges<'_>) -> Reach {
        of.same(0)
    }

    fn evaluate(&self, of: Evaluation<'_>) -> Result<Tensor, ComputeError> {
        Ok(of.picked(&self.places(of.x().lengths(), of.lengths)))
    }

    fn lowering(&self) -> Lowering<'_> {
        Lowering::moves(|operands, lengths| self.places(operands[0], lengths))
    }

    fn print(&self, w: Writing<'_>) -> Printed {
        w.call(&format!(", {}..{}{}", self.from, self.to, print::axis(*self.axis)))
    }
}

impl Slice<'_> {
    fn places(&self, from: &[usize], lengths: &[usize]) -> Vec<usize> {
        let own = strides(from);
        let first = usize::try_from(*self.from).expect("the checker holds it to the length");
        strided(first * own[usize::from(*self.axis)], lengths.iter().copied().zip(own))
    }
}
