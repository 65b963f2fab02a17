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

impl<'a> Slice<'a> {
    pub(super) const DEF: OpDef<Self> = OpDef {
        syntax: Syntax::Call(&["slice"], "slice(x, 0..5, axis=1)", |c| {
            let x = c.arguments.value()?;
            let (from, to) = c.arguments.range()?;
            let axis = c.arguments.axis()?;
            Ok((Op::Slice { axis, from, to }, c.only(x)?))
        }),
        facts: |_| facts("slice", 1, OpRole::Moves),
        infer: |p, of| {
            let (axis, from, to) = (*p.axis, *p.from, *p.to);
            let dim = of.axis(axis)?;
            let fits = match dim {
                Dim::Known(n) => to <= *n,
                // This is checked when the length is bound.
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
        },
        range: |_, of| of.same(0),
        evaluate: |p, of| Ok(of.picked(&p.places(of.x().lengths(), of.lengths))),
        lowering: |p| Lowering::moves(|operands, lengths| p.places(operands[0], lengths)),
        print: |p, w| w.call(&format!(", {}..{}{}", p.from, p.to, print::axis(*p.axis))),
    };
}

impl Slice<'_> {
    fn places(&self, from: &[usize], lengths: &[usize]) -> Vec<usize> {
        let own = strides(from);
        let first = usize::try_from(*self.from).expect("the checker holds it to the length");
        strided(first * own[usize::from(*self.axis)], lengths.iter().copied().zip(own))
    }
}
