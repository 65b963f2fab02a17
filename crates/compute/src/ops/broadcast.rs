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

impl<'a> Broadcast<'a> {
    pub(super) const DEF: OpDef<Self> = OpDef {
        syntax: Syntax::Call(&["broadcast"], "broadcast(x, [n, 3])", |c| {
            let (x, to) = (c.arguments.value()?, c.arguments.shape()?);
            Ok((Op::Broadcast(to), c.only(x)?))
        }),
        facts: |_| facts("broadcast", 1, OpRole::Moves),
        infer: |p, of| {
            let (scalar, to, from) = (of.not_place()?, ranked(p.to)?, of.shape(0));
            // A single element fits any shape. A value with axes repeats those of length 1 and
            // keeps the others.
            let one = |(from, to): (&Dim, &Dim)| *from == Dim::Known(1) || from == to;
            if from.rank() == 0 || (from.rank() == to.rank() && from.0.iter().zip(&to.0).all(one)) {
                return of.result(scalar, to);
            }
            let remedy = "it takes a single element, or as many axes, each as long as before or of length 1";
            Err(ComputeError::ty(format!("`broadcast` of {} to {to}", of.told()), remedy))
        },
        range: |_, of| of.same(0),
        evaluate: |_, of| Ok(of.picked(&places(of.x().lengths(), of.lengths))),
        lowering: |_| Lowering::moves(|operands, lengths| places(operands[0], lengths)),
        print: |p, w| w.call(&format!(", {}", p.to.list())),
    };
}

/// Maps places of the result to places of the operand. An axis of length 1 has one element, which
/// all places along it share.
fn places(from: &[usize], lengths: &[usize]) -> Vec<usize> {
    let own = strides(from);
    let stride = |axis: usize| if from.get(axis).is_none_or(|n| *n == 1) { 0 } else { own[axis] };
    strided(0, lengths.iter().enumerate().map(|(axis, n)| (*n, stride(axis))))
}
