//! `transpose(x, [1, 0])`.

use super::*;
use crate::evaluation::{strided, strides};

pub(super) struct Transpose<'a> {
    pub(super) axes: &'a Vec<u8>,
}

impl<'a> Transpose<'a> {
    pub(super) const DEF: OpDef<Self> = OpDef {
        syntax: Syntax::Call(&["transpose"], "transpose(x, [1, 0])", |c| {
            let a = &mut c.arguments;
            let (x, items) = (a.value()?, a.list()?);
            let axes =
                items.iter().map(|item| item.text.parse().map_err(|_| a.wrong("axes are numbers from 0")));
            let axes = axes.collect::<Result<_, _>>()?;
            Ok((Op::Transpose(axes), c.only(x)?))
        }),
        facts: |_| facts("transpose", 1, OpRole::Moves),
        infer: |p, of| {
            let (axes, from) = (p.axes, of.shape(0));
            let mut sorted = axes.clone();
            sorted.sort_unstable();
            if !sorted.iter().map(|a| usize::from(*a)).eq(0..from.rank()) {
                let cause = format!("`transpose` of {} by axes {axes:?}", of.told());
                return Err(ComputeError::ty(cause, "it takes every axis once, counted from 0"));
            }
            let shape = Shape(axes.iter().map(|a| from.0[usize::from(*a)].clone()).collect());
            of.result(of.not_place()?, shape)
        },
        range: |_, of| of.same(0),
        evaluate: |p, of| Ok(of.picked(&p.places(of.x().lengths(), of.lengths))),
        lowering: |p| Lowering::moves(|operands, lengths| p.places(operands[0], lengths)),
        print: |p, w| w.call(&format!(", {:?}", p.axes)),
    };
}

impl Transpose<'_> {
    fn places(&self, from: &[usize], lengths: &[usize]) -> Vec<usize> {
        let own = strides(from);
        strided(0, lengths.iter().zip(self.axes).map(|(n, axis)| (*n, own[usize::from(*axis)])))
    }
}
