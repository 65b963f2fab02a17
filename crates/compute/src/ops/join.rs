//! `join(s, t)`.

use super::*;
use crate::{
    MAX_STRING,
    evaluation::{place, put},
};

pub(super) struct Join;

impl Join {
    pub(super) const DEF: OpDef<Self> = OpDef {
        syntax: Syntax::Call(&["join"], "join(s, t)", |c| Ok((Op::Join, c.operands()?))),
        facts: |_| OpFacts { name: "join", arity: None, role: OpRole::Works },
        infer: |_, of| {
            let mut bits = 0usize;
            for (_, operand) in of.all {
                let Scalar::Bits(n) = operand.scalar else {
                    return Err(of.wrong("it takes strings of bits; cast what is as wide to bits(n)"));
                };
                bits += usize::from(n);
            }
            match u16::try_from(bits).ok().filter(|n| *n <= MAX_STRING) {
                Some(n) => of.each(Scalar::Bits(n)),
                None => Err(ComputeError::ty(
                    format!("`join` of {} has {bits} bits", of.told()),
                    format!("a string has at most {MAX_STRING}"),
                )),
            }
        },
        range: |_, _| Reach::Unknown,
        evaluate: |_, of| {
            let mut out = of.zeros();
            for i in 0..out.len() {
                let mut at = 0;
                for part in of.operands {
                    put(out.element_mut(i), at, part.element(place(part, i)), 0, part.scalar().bits());
                    at += part.scalar().bits();
                }
            }
            Ok(out)
        },
        lowering: |_| Lowering::each(|_, e| e.operands.concat()),
        print: |_, w| w.call(""),
    };
}
