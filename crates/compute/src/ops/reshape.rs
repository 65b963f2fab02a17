//! `reshape(x, [2, n])`.

use super::*;
use crate::{Dim, typing::ranked};

pub(super) struct Reshape<'a> {
    pub(super) to: &'a Shape,
}

impl<'a> Reshape<'a> {
    pub(super) const DEF: OpDef<Self> = OpDef {
        syntax: Syntax::Call(&["reshape"], "reshape(x, [2, n])", |c| {
            let (x, to) = (c.arguments.value()?, c.arguments.shape()?);
            Ok((Op::Reshape(to), c.only(x)?))
        }),
        facts: |_| facts("reshape", 1, OpRole::Moves),
        // Each symbol must occur equally often on both sides, and the known lengths must have the
        // same product.
        infer: |p, of| {
            let (scalar, to) = (of.not_place()?, ranked(p.to)?);
            let parts = |shape: &Shape| {
                let mut symbols: Vec<_> =
                    shape.0.iter().filter(|d| matches!(d, Dim::Symbol(_))).cloned().collect();
                symbols.sort_unstable();
                let known = Shape(shape.0.iter().filter(|d| matches!(d, Dim::Known(_))).cloned().collect());
                (symbols, known.elements())
            };
            let (from, into) = (parts(of.shape(0)), parts(&to));
            if from != into || from.1.is_none() {
                let cause = format!("`reshape` of {} to {to}", of.told());
                return Err(ComputeError::ty(cause, "both shapes have as many elements"));
            }
            of.result(scalar, to)
        },
        range: |_, of| of.same(0),
        evaluate: |_, of| Ok(of.x().clone().reshaped(of.lengths)),
        lowering: |_| Lowering::moves(|_, lengths| (0..lengths.iter().product()).collect()),
        print: |p, w| w.call(&format!(", {}", p.to.list())),
    };
}
