//! The numbers that places stand for, such as the labels of classes.

use super::prelude::*;
use hushwire_compute::Tensor;

/// The number that each place stands for. All members know the numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct Labels {
    names: Vec<i64>,
}

impl Definition for Labels {
    fn name(&self) -> &'static str {
        "LabelEncoder"
    }

    fn role(&self) -> ScaleRole {
        ScaleRole::Moves
    }

    fn names(&self) -> Option<Vec<f32>> {
        Some(self.names.iter().map(|name| *name as f32).collect())
    }

    fn value(&self, reads: &[Arc<Array>], _: &[usize]) -> Array {
        reads[0].each(|place| self.names.get(place as usize).copied().unwrap_or(0) as f32)
    }

    /// Makes one choice after another.
    fn lower<'b>(&self, lower: &mut Lower<'b>, site: Site<'_>) -> Result<Held<'b>, Fault> {
        let held = lower.held(site.reads[0]);
        let scalar = held.val.ty().map_or(lower.nominal(), |ty| ty.scalar);
        let whole = shape(site.lengths);
        let all = |n: i64| {
            lower.b.constant(Tensor::from_numbers(scalar, &[], [i128::from(n)])).broadcast(whole.clone())
        };
        let first = all(self.names.first().copied().unwrap_or(0));
        let rest = self.names.iter().enumerate().skip(1);
        let named = rest.fold(first, |named, (place, name)| {
            lower.b.select(held.val.equals(all(place as i64)), all(*name), named)
        });
        Ok(held.with(named))
    }
}

/// The labels that places have, or the places themselves if each is its own label.
pub(super) fn named(
    op: &Reading<'_>,
    import: &mut Import,
    of: Known,
    names: Vec<i64>,
) -> Result<Known, Fault> {
    let Known::Layer(at) = of else { return Err(op.error("its places are known", "leave it out")) };
    if names.iter().copied().eq(0..names.len() as i64) {
        return Ok(of);
    }
    if names.iter().any(|name| i32::try_from(*name).is_err()) || names.len() > 1 << 12 {
        return Err(op.error("its labels are too large, or too many", "label classes with small numbers"));
    }
    let lengths = import.lengths(at).to_vec();
    op.made(import, Kind::Labels(Labels { names }), vec![at], lengths)
}
