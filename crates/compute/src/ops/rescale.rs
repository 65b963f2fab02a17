//! `rescale(x, 16)`.

use super::*;
use crate::{circuits::arith::resized, tensor::number};

pub(super) struct Rescale<'a> {
    pub(super) by: &'a u8,
}

impl OpDef for Rescale<'_> {
    fn syntax() -> Syntax {
        Syntax::Call(&["rescale"], "rescale(x, 16)", |c| {
            let x = c.arguments.value()?;
            let by = c.arguments.number()?;
            Ok((Op::Rescale(by), c.only(x)?))
        })
    }

    fn facts(&self) -> Facts {
        facts("rescale", 1, Role::Works)
    }

    fn infer(&self, of: Operands<'_>) -> Typed {
        match of.scalar(0) {
            Scalar::Fixed { bits, frac } if *self.by <= frac => {
                of.each(Scalar::Fixed { bits, frac: frac - self.by })
            }
            Scalar::Fixed { frac, .. } => Err(ComputeError::ty(
                format!("`rescale` drops {} fractional bits of {}", self.by, of.told()),
                format!("it has {frac}"),
            )),
            _ => Err(of.wrong("it takes fixed numbers")),
        }
    }

    fn range(&self, of: &Ranges<'_>) -> Reach {
        of.one(0, |x| x.map(|x| Some(x >> self.by.min(&127))))
    }

    fn evaluate(&self, of: Evaluation<'_>) -> Result<Tensor, ComputeError> {
        let from = of.x().scalar();
        let steps = |x| number(from, x).expect("fixed numbers have a sign");
        Ok(of.each(|x| (steps(x) >> self.by.min(&127)).cast_unsigned()))
    }

    fn lowering(&self) -> Lowering<'_> {
        Lowering::each(|_, e| {
            let x = e.x();
            resized(&x[usize::from(*self.by).min(x.len() - 1)..], true, x.len())
        })
    }

    fn print(&self, w: Writing<'_>) -> Printed {
        w.call(&format!(", {}", self.by))
    }
}
