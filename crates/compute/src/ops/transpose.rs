//! `transpose(x, [1, 0])`.

use super::*;
use crate::evaluation::{strided, strides};

pub(super) struct Transpose<'a> {
    pub(super) axes: &'a Vec<u8>,
}

impl OpDef for Transpose<'_> {
    fn syntax() -> Syntax {
        Syntax::Call(&["transpose"], "transpose(x, [1, 0])", |c| {
            let a = &mut c.arguments;
            let (x, items) = (a.value()?, a.list()?);
            let axes =
                items.iter().map(|item| item.text.parse().map_err(|_| a.wrong("axes are numbers from 0")));
            let axes = axes.collect::<Result<_, _>>()?;
            Ok((Op::Transpose(axes), c.only(x)?))
        })
    }

    fn facts(&self) -> Facts {
        facts("transpose", 1, Role::Moves)
    }

    fn infer(&self, of: Operands<'_>) -> Typed {
        let (axes, from) = (self.axes, of.shape(0));
        let mut sorted = axes.clone();
        sorted.sort_unstable();
        if !sorted.iter().map(|a| usize::from(*a)).eq(0..from.rank()) {
            let cause = format!("`transpose` of {} by axes {axes:?}", of.told());
            return Err(ComputeError::ty(cause, "it takes every axis once, counted from 0"));
        }
        let shape = Shape(axes.iter().map(|a| from.0[usize::from(*a)].clone()).collect());
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
        w.call(&format!(", {:?}", self.axes))
    }
}

impl Transpose<'_> {
    fn places(&self, from: &[usize], lengths: &[usize]) -> Vec<usize> {
        let own = strides(from);
        strided(0, lengths.iter().zip(self.axes).map(|(n, axis)| (*n, own[usize::from(*axis)])))
    }
}
