//! Inputs, which members bring and no operation computes.

use super::*;
use crate::text::print::WHOLE;

pub(super) struct Input<'a> {
    pub(super) name: &'a String,
}

impl<'a> Input<'a> {
    pub(super) const DEF: OpDef<Self> = OpDef {
        syntax: Syntax::Named("input x: u64[n] from shop"),
        facts: |_| facts("input", 0, OpRole::Works),
        infer: |_, _| Err(ComputeError::ty("an input has the type that is declared", "declare it")),
        range: |_, _| Reach::Unknown,
        evaluate: |p, _| p.refused(),
        lowering: |p| Lowering::stages(|_, _| p.refused()),
        print: |p, _| (p.name.clone(), WHOLE),
    };
}

impl Input<'_> {
    fn refused<T>(&self) -> Result<T, ComputeError> {
        Err(ComputeError::ty(format!("input {} is computed", self.name), "bring it"))
    }
}
