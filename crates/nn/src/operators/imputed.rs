//! Numbers in place of elements that are not finite, such as the power of a number below 0.

use super::prelude::*;

/// Another number in place of an element that is not finite. On shares every element is finite: the
/// value of a function outside of its range is arbitrary, and models multiply it by 0.
#[derive(Clone, Debug, PartialEq)]
pub struct Imputed {
    /// The number that is replaced: NaN or an infinity.
    pub(crate) replaced: f32,
    /// A number for each column, or one for all.
    pub(crate) by: Vec<f32>,
}

impl Definition for Imputed {
    fn name(&self) -> &'static str {
        "Imputer"
    }

    fn role(&self) -> ScaleRole {
        ScaleRole::Keeps
    }

    fn value(&self, reads: &[Arc<Array>], to: &[usize]) -> Array {
        let is = |x: f32| x == self.replaced || (x.is_nan() && self.replaced.is_nan());
        let one = |(i, x): (usize, &f32)| if is(*x) { self.by[i % self.by.len()] } else { *x };
        Array::new(to, reads[0].data.iter().enumerate().map(one).collect())
    }

    fn lower<'b>(&self, lower: &mut Lower<'b>, site: Site<'_>) -> Result<Held<'b>, Fault> {
        Ok(lower.held(site.reads[0]))
    }
}
