//! `wrapping(x)`.

use super::*;

pub(super) struct Wrapping;

impl Wrapping {
    pub(super) const DEF: OpDef<Self> = OpDef {
        syntax: Syntax::Call(&["wrapping"], "wrapping(x)", |c| {
            let x = c.arguments.value()?;
            c.arguments.done()?;
            Ok((Op::Wrapping, vec![c.scope.value(x, c.beside)?]))
        }),
        facts: |_| facts("wrapping", 1, OpRole::Moves),
        infer: |_, of| of.each(of.numbers()?),
        range: |_, _| Reach::Unknown,
        evaluate: |_, of| Ok(of.x().clone()),
        lowering: |_| Lowering::moves(|_, lengths| (0..lengths.iter().product()).collect()),
        print: |_, w| w.call(""),
    };
}
