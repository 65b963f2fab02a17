//! `broadcast(x, [n])`.

use super::*;
use crate::{
    Dim,
    evaluation::{strided, strides},
    typing::ranked,
};

pub(super) struct Broadcast<'a> {
    pub(super) to: &'a Shape,
}

impl OpDef for Broadcast<'_> {
    fn syntax() -> Syntax {
        Syntax::Call(&["broadcast"], "broadcast(x, [n, 3])", |c| {
            let (x, to) = (c.arguments.value()?, c.arguments.shape()?);
            Ok((Op::Broadcast(to), c.only(x)?))
        })
    }

    fn facts(&self) -> Facts {
        facts("broadcast", 1, Role::Moves)
    }

    fn infer(&self, of: Operands<'_>) -> Typed {
        let (scalar, to, from) = (of.not_place()?, ranked(self.to)?, of.shape(0));
        // A single element goes anywhere; of values with axes, those of length 1 are repeated and the others stay.
        let one = |(from, to): (&Dim, &Dim)| *from == Dim::Known(1) || from == to;
        if from.rank() == 0 || (from.rank() == to.rank() && from.0.iter().zip(&to.0).all(one)) {
            return of.result(scalar, to);
        }
        let remedy = "it takes a single element, or as many axes, each as long as before or of length 1";
        Err(ComputeError::ty(format!("`broadcast` of {} to {to}", of.told()), remedy))
    }

    fn range(&self, of: &Ranges<'_>) -> Reach {
        of.same(0)
    }

    fn evaluate(&self, of: Evaluation<'_>) -> Result<Tensor, ComputeError> {
        Ok(of.picked(&places(of.x().lengths(), of.lengths)))
    }

    fn lowering(&self) -> Lowering<'_> {
        Lowering::moves(|operands, lengths| places(operands[0], lengths))
    }

    fn print(&self, w: Writing<'_>) -> Printed {
        w.call(&format!(", {}", self.to.list()))
    }
}

/// Axes of length 1 have one element, which every place along them has.
fn places(from: &[usize], lengths: &[usize]) -> Vec<usize> {
    let own = strides(from);
    let stride = |axis: usize| if from.get(axis).is_none_or(|n| *n == 1) { 0 } else { own[axis] };
    strided(0, lengths.iter().enumerate().map(|(axis, n)| (*n, stride(axis))))
}
