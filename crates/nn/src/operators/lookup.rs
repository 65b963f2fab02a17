//! Rows of weights at secret places: an embedding.

use super::prelude::*;
use hushwire_compute::{Scalar, Tensor};

/// For each element of the value, the row of weights that it names.
#[derive(Clone, Debug, PartialEq)]
pub struct Lookup {
    /// `[rows, elements of a row]`.
    table: Arc<Array>,
}

impl Lookup {
    fn rows(&self) -> usize {
        self.table.lengths[0]
    }
}

impl Definition for Lookup {
    fn name(&self) -> &'static str {
        "Gather"
    }

    fn role(&self) -> ScaleRole {
        ScaleRole::Weights
    }

    fn part(&self, part: WeightPart) -> Cow<'_, [f32]> {
        part.of(&[(WeightPart::Factors, &self.table.data)])
    }

    fn products(&self, made: u64, _: &[&[usize]]) -> u64 {
        made * self.rows() as u64
    }

    /// A place that is not a row gives zeros.
    fn value(&self, reads: &[Arc<Array>], to: &[usize]) -> Array {
        let inner = self.table.lengths[1];
        let mut out = Array::zeros(to);
        for (x, row) in reads[0].data.iter().zip(out.data.chunks_mut(inner)) {
            let place = if *x < 0.0 { *x + self.rows() as f32 } else { *x };
            if place >= 0.0 && place < self.rows() as f32 {
                row.copy_from_slice(&self.table.data[place as usize * inner..][..inner]);
            }
        }
        out
    }

    /// Compares the place with each row's number, and multiplies the results by the weights. Only
    /// one product can differ from 0, so the sum is exact.
    fn lower<'b>(&self, lower: &mut Lower<'b>, site: Site<'_>) -> Result<Held<'b>, Fault> {
        let (at, from, rows) = (site.at, site.reads[0], self.rows());
        let x = lower.at_nominal(from, at);
        let count: usize = lower.lengths(from).iter().product();
        // The integers have one bit more than the number of rows needs, so that negative places
        // differ from all rows.
        let bits = (usize::BITS - rows.leading_zeros() + 1) as u8;
        let whole = Scalar::Int { signed: true, bits };
        let place = x.cast(whole).reshape(shape(&[count, 1]));
        let zero = lower.b.number(whole, 0);
        let wrapped = lower.b.select(place.less(zero), place + lower.b.number(whole, rows as i128), place);
        let of = shape(&[count, rows]);
        let numbers = Tensor::from_numbers(whole, &[1, rows], (0..rows).map(|row| row as i128));
        let numbers = lower.b.constant(numbers).broadcast(of.clone());
        let is = wrapped.broadcast(of).equals(numbers).cast(lower.fixed(0));
        let node = lower.classes.fresh();
        let (frac, shift) = (lower.wide_frac(), lower.numbers.cut);
        let lengths = self.table.lengths.clone();
        let recipe = Recipe { frac, to: Some(node), shift, ..Recipe::of(at, WeightPart::Factors, lengths) };
        let sums = is.matmul(lower.weights("rows", recipe)).reshape(shape(site.lengths));
        if !lower.halved(at) {
            return Ok(Held::wide(sums, node, false));
        }
        let half = lower.b.number(lower.fixed(frac), 1 << (shift - 1));
        Ok(Held::wide(sums + half, node, true))
    }
}

/// The rows of known values at the places in a layer's value.
pub(super) fn read(
    op: &Reading<'_>,
    import: &mut Import,
    of: &Known,
    places: usize,
    axis: usize,
) -> Result<Known, Fault> {
    let table = of.as_floats().filter(|_| axis == 0);
    let table = table.ok_or_else(|| {
        let cause = "its places are secret, and it does not take rows of weights along the first axis";
        op.error(cause, "gather from weights, along axis 0")
    })?;
    if table.data.iter().any(|x| !x.is_finite()) {
        return Err(op.error("its weights are not all finite", "train the model again"));
    }
    let lengths = [import.lengths(places), &table.lengths[1..]].concat();
    let inner = table.lengths[1..].iter().product();
    let table = Arc::new(Array::clone(&table).reshaped(&[table.lengths[0], inner]));
    op.made(import, Kind::Lookup(Lookup { table }), vec![places], lengths)
}
