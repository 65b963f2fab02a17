//! A value that a member brings.

use super::prelude::*;

/// A value that a member brings.
#[derive(Clone, Debug, PartialEq)]
pub struct Input {
    /// Whether it is integers or truth values.
    pub(crate) whole: bool,
    /// The least and the greatest integer of its type, if the type has 8 or 16 bits.
    pub(crate) range: Option<[i32; 2]>,
}

impl Definition for Input {
    fn name(&self) -> &'static str {
        "Input"
    }

    fn role(&self) -> ScaleRole {
        ScaleRole::Other
    }

    /// The evaluator passes the input's value.
    fn value(&self, reads: &[Arc<Array>], _: &[usize]) -> Array {
        reads.first().map_or_else(Array::default, |x| Array::clone(x))
    }

    fn lower<'b>(&self, lower: &mut Lower<'b>, site: Site<'_>) -> Result<Held<'b>, Fault> {
        Ok(lower.input(site.at, site.lengths))
    }
}
