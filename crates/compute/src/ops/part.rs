//! `part(s, 0..8)`.

use super::*;
use crate::evaluation::put;

pub(super) struct Part<'a> {
    pub(super) from: &'a u16,
    pub(super) to: &'a u16,
}

impl OpDef for Part<'_> {
    fn syntax() -> Syntax {
        Syntax::Call(&["part"], "part(s, 0..8)", |c| {
            let s = c.arguments.value()?;
            let (from, to) = c.arguments.range()?;
            let [from, to] = [from, to].map(|n| u16::try_from(n).unwrap_or(u16::MAX));
            Ok((Op::Part { from, to }, c.only(s)?))
        })
    }

    fn facts(&self) -> Facts {
        facts("part", 1, Role::Works)
    }

    fn infer(&self, of: Operands<'_>) -> Typed {
        let (from, to) = (*self.from, *self.to);
        match of.scalar(0) {
            Scalar::Bits(n) if from < to && to <= n => of.each(Scalar::Bits(to - from)),
            Scalar::Bits(n) => {
                let cause = format!("`part` takes bits {from}..{to} of {}", of.told());
                Err(ComputeError::ty(cause, format!("it takes a bit or more, up to {n}")))
            }
            _ => Err(of.wrong("it takes strings of bits; cast what is as wide to bits(n)")),
        }
    }

    fn range(&self, _: &Ranges<'_>) -> Reach {
        Reach::Unknown
    }

    fn evaluate(&self, of: Evaluation<'_>) -> Result<Tensor, ComputeError> {
        let mut out = of.zeros();
        let bits = of.scalar.bits();
        (0..out.len()).for_each(|i| put(out.element_mut(i), 0, of.x().element(i), *self.from, bits));
        Ok(out)
    }

    fn lowering(&self) -> Lowering<'_> {
        Lowering::each(|_, e| e.x()[usize::from(*self.from)..usize::from(*self.to)].to_vec())
    }

    fn print(&self, w: Writing<'_>) -> Printed {
        w.call(&format!(", {}..{}", self.from, self.to))
    }
}
