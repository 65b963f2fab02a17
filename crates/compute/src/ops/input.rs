//! Inputs, which are brought: nothing computes them.

use super::*;
use crate::text::print::WHOLE;

pub(super) struct Input<'a> {
    pub(super) name: &'a String,
}

impl OpDef for Input<'_> {
    fn syntax() -> Syntax {
        Syntax::Named("input x: u64[n] from shop")
    }

    fn facts(&self) -> Facts {
        facts("input", 0, Role::Works)
    }

    fn infer(&self, _: Operands<'_>) -> Typed {
        Err(ComputeError::ty("an input has the type that is declared", "declare it"))
    }

    fn range(&self, _: &Ranges<'_>) -> Reach {
        Reach::Unknown
    }

    fn evaluate(&self, _: Evaluation<'_>) -> Result<Tensor, ComputeError> {
        self.refused()
    }

    fn lowering(&self) -> Lowering<'_> {
        Lowering::stages(|_, _| self.refused())
    }

    fn print(&self, _: Writing<'_>) -> Printed {
        (self.name.clone(), WHOLE)
    }
}

impl Input<'_> {
    fn refused<T>(&self) -> Result<T, ComputeError> {
        Err(ComputeError::ty(format!("input {} is computed", self.name), "bring it"))
    }
}
