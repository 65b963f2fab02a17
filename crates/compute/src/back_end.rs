//! Pieces that back ends stand on, so that each of them keeps to the evaluator.
//!
//! ```text
//! apply      one operation on values that all know
//! Picks      an operation that only moves elements, as places
//! planes     values as bit planes, the form in which they are brought and learnt
//! ```

pub use crate::windows::{Convolution, pooled};
use crate::{ComputeError, Op, Scalar, Tensor, eval::compute};
use hushwire_circuit::{Planes, planes::value_bytes};

/// One operation on values that all members know. `scalar` and `lengths` are its result's.
///
/// # Errors
/// A place of a `gather` that does not exist.
///
/// # Panics
/// If the operands are not those that the checker saw (the caller's bug).
pub fn apply(
    op: &Op,
    operands: &[&Tensor],
    scalar: Scalar,
    lengths: &[usize],
) -> Result<Tensor, ComputeError> {
    compute(op, operands, scalar, lengths)
}

/// Of an operation that only moves elements, where each element of its result comes from: a number counts the elements of all
/// operands, one operand behind the other. `None` where the operation does more.
#[must_use]
pub fn picks(op: &Op, operands: &[&[usize]], lengths: &[usize]) -> Option<Vec<usize>> {
    let moves = matches!(
        op,
        Op::Broadcast(_)
            | Op::Reshape(_)
            | Op::Transpose(_)
            | Op::Slice { .. }
            | Op::Concat(_)
            | Op::Reveal(_)
            | Op::Wrapping
    );
    if !moves {
        return None;
    }
    let number = Scalar::unsigned(64);
    let mut first = 0;
    let numbers: Vec<Tensor> = operands
        .iter()
        .map(|lengths| {
            let n = lengths.iter().product::<usize>();
            first += n;
            Tensor::from_words(number, lengths, (first - n..first).map(|i| i as u128))
        })
        .collect();
    let moved = compute(op, &numbers.iter().collect::<Vec<_>>(), number, lengths).ok()?;
    Some((0..moved.len()).map(|i| moved.element(i)[0] as usize).collect())
}

impl Tensor {
    /// Bit planes: plane `i` has bit `i` of every element.
    #[must_use]
    pub fn to_planes(&self) -> Planes {
        let (width, bytes) = (self.scalar().bits(), value_bytes(self.scalar().bits()));
        let mut values = Vec::with_capacity(self.len() * bytes);
        for i in 0..self.len() {
            let words = self.element(i).iter().flat_map(|word| word.to_le_bytes());
            values.extend(words.take(bytes));
        }
        Planes::pack(&values, width, self.len())
    }

    /// Elements from their bit planes.
    ///
    /// # Panics
    /// If there are not as many planes as the scalar has bits, or not as many instances as elements (the caller's bug).
    #[must_use]
    pub fn from_planes(scalar: Scalar, lengths: &[usize], planes: &Planes) -> Self {
        let mut tensor = Tensor::zeros(scalar, lengths);
        assert_eq!((planes.width(), planes.instances()), (scalar.bits(), tensor.len()), "planes of {scalar}");
        for (i, value) in planes.unpack().chunks_exact(value_bytes(scalar.bits())).enumerate() {
            for (word, bytes) in tensor.element_mut(i).iter_mut().zip(value.chunks(8)) {
                let mut whole = [0; 8];
                whole[..bytes.len()].copy_from_slice(bytes);
                *word = u64::from_le_bytes(whole);
            }
        }
        tensor
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn moves_are_places() {
        let picked = |op: Op, operands: &[&[usize]], to: &[usize]| picks(&op, operands, to);
        assert_eq!(picked(Op::Transpose(vec![1, 0]), &[&[2, 3]], &[3, 2]), Some(vec![0, 3, 1, 4, 2, 5]));
        assert_eq!(picked(Op::Concat(0), &[&[1], &[2]], &[3]), Some(vec![0, 1, 2]));
        assert_eq!(picked(Op::Slice { axis: 0, from: 1, to: 3 }, &[&[4]], &[2]), Some(vec![1, 2]));
        assert_eq!(picked(Op::Broadcast(crate::Shape::vector(3)), &[&[]], &[3]), Some(vec![0; 3]));
        assert_eq!(picked(Op::Neg, &[&[3]], &[3]), None);
    }

    proptest! {
        #[test]
        fn planes_hold_all_bits(bits in 1u8..=128, wide in 1u16..300, elements in prop::collection::vec(any::<u128>(), 0..30)) {
            for scalar in [Scalar::unsigned(bits), Scalar::Bits(wide)] {
                let mut tensor = Tensor::zeros(scalar, &[elements.len()]);
                for (i, e) in elements.iter().enumerate() {
                    let mut left = scalar.bits();
                    for word in tensor.element_mut(i) {
                        *word = (*e as u64).rotate_left(left as u32) & crate::tensor::mask(left.min(64)) as u64;
                        left = left.saturating_sub(64);
                    }
                }
                prop_assert_eq!(&Tensor::from_planes(scalar, &[elements.len()], &tensor.to_planes()), &tensor);
            }
        }
    }
}
