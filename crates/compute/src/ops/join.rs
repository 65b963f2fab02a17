//! `join(s, t)`.

use super::*;
use crate::{
    MAX_STRING,
    evaluation::{place, put},
};

pub(super) struct Join;

impl OpDef for Join {
    fn syntax() -> Syntax {
        Syntax::Call(&["join"], "join(s, t)", |c| Ok((Op::Join, c.operands()?)))
    }

    fn facts(&self) -> Facts {
        Facts { name: "join", arity: None, role: Role::Works }
    }

    fn infer(&self, of: Operands<'_>) -> Typed {
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
    }

    fn range(&self, _: &Ranges<'_>) -> Reach {
        Reach::Unknown
    }

    fn evaluate(&self, of: Evaluation<'_>) -> Result<Tensor, ComputeError> {
        let mut out = of.zeros();
        for i in 0..out.len() {
            let mut at = 0;
            for part in of.operands {
                put(out.element_mut(i), at, part.element(place(part, i)), 0, part.scalar().bits());
                at += part.scalar().bits();
            }
        }
        Ok(out)
    }

    fn lowering(&self) -> Lowering<'_> {
        Lowering::each(|_, e| e.operands.concat())
    }

    fn print(&self, w: Writing<'_>) -> Printed {
        w.call("")
    }
}
