//! Code that back ends share, so that each of them agrees with the evaluator.
//!
//! ```text
//! apply      one operation on values that all know
//! Picks      an operation that only moves elements, as places
//! Rectifiers maxima with 0 that are read without their lowest bits
//! planes     values as bit planes, the form of inputs and outputs
//! ```

use crate::{ComputeError, Op, Scalar, Tensor, ops::Lowering};
pub use crate::{
    rectify::Rectifiers,
    windows::{Convolution, pooled},
};
use hushwire_circuit::{Planes, planes::value_bytes};

/// Computes one operation on values that all members know. `scalar` and `lengths` describe its
/// result.
///
/// # Errors
/// A `gather` names a place that does not exist.
///
/// # Panics
/// If the checker has not accepted the operands.
pub fn apply(
    op: &Op,
    operands: &[&Tensor],
    scalar: Scalar,
    lengths: &[usize],
) -> Result<Tensor, ComputeError> {
    op.compute(operands, scalar, lengths)
}

/// For an operation that only moves elements: the place in the operands of each element of its
/// result. Places count the elements of all operands, one operand after another. `None` if the
/// operation does more.
#[must_use]
pub fn picks(op: &Op, operands: &[&[usize]], lengths: &[usize]) -> Option<Vec<usize>> {
    match op.def().lowering() {
        Lowering::Moves(places) => Some(places(operands, lengths)),
        Lowering::Elements(_) | Lowering::Stages(_) => None,
    }
}

impl Tensor {
    /// The bit planes: plane `i` has bit `i` of every element.
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
    /// If the number of planes is not the scalar's width, or the number of instances is not the
    /// number of elements.
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

    /// Maps the index of an element of the result along each axis to its operand, and to its index
    /// there.
    type From = fn(&[usize]) -> (usize, Vec<usize>);

    /// Places agree with indices along each axis, and with the places from which the evaluator
    /// takes elements.
    #[test]
    fn moves_are_indices() {
        let shape = |to: &[usize]| crate::Shape(to.iter().map(|n| (*n as u64).into()).collect());
        type Case<'a> = (Op, &'a [&'a [usize]], &'a [usize], From);
        let cases: [Case<'_>; 10] = [
            (Op::Transpose(vec![2, 0, 3, 1]), &[&[2, 3, 4, 5]], &[4, 2, 5, 3], |i| {
                (0, vec![i[1], i[3], i[0], i[2]])
            }),
            (Op::Transpose(vec![0, 2, 1]), &[&[2, 3, 4]], &[2, 4, 3], |i| (0, vec![i[0], i[2], i[1]])),
            (Op::Concat(1), &[&[2, 3, 4], &[2, 1, 4], &[2, 5, 4]], &[2, 9, 4], |i| match i[1] {
                k @ ..3 => (0, vec![i[0], k, i[2]]),
                3 => (1, vec![i[0], 0, i[2]]),
                k => (2, vec![i[0], k - 4, i[2]]),
            }),
            (Op::Concat(0), &[&[2, 3], &[0, 3], &[4, 3]], &[6, 3], |i| match i[0] {
                k @ ..2 => (0, vec![k, i[1]]),
                k => (2, vec![k - 2, i[1]]),
            }),
            (Op::Slice { axis: 1, from: 2, to: 5 }, &[&[3, 6, 2]], &[3, 3, 2], |i| {
                (0, vec![i[0], i[1] + 2, i[2]])
            }),
            (Op::Slice { axis: 2, from: 0, to: 1 }, &[&[3, 2, 2]], &[3, 2, 1], |i| (0, i.to_vec())),
            (Op::Broadcast(shape(&[2, 3, 4])), &[&[1, 3, 1]], &[2, 3, 4], |i| (0, vec![0, i[1], 0])),
            (Op::Broadcast(shape(&[2, 3])), &[&[]], &[2, 3], |_| (0, vec![])),
            (Op::Reshape(shape(&[6])), &[&[2, 3]], &[6], |i| (0, vec![i[0] / 3, i[0] % 3])),
            (Op::Wrapping, &[&[2, 3]], &[2, 3], |i| (0, i.to_vec())),
        ];
        let count = |lengths: &[usize]| lengths.iter().product::<usize>();
        for (op, operands, to, from) in cases {
            let index = |mut at: usize| {
                let mut index = vec![0; to.len()];
                for (i, n) in index.iter_mut().zip(to).rev() {
                    (*i, at) = (at % n, at / n);
                }
                index
            };
            let place = |at: usize| {
                let (k, index) = from(&index(at));
                let within = index.iter().zip(operands[k]).fold(0, |place, (i, n)| place * n + i);
                operands[..k].iter().map(|lengths| count(lengths)).sum::<usize>() + within
            };
            let expected: Vec<usize> = (0..count(to)).map(place).collect();
            assert_eq!(picks(&op, operands, to), Some(expected.clone()), "{op:?} of {operands:?}");
            let (number, mut first) = (Scalar::unsigned(64), 0);
            let numbers = operands.iter().map(|lengths| {
                first += count(lengths);
                Tensor::from_words(number, lengths, (first - count(lengths)..first).map(|i| i as u128))
            });
            let numbers: Vec<Tensor> = numbers.collect();
            let moved = op.compute(&numbers.iter().collect::<Vec<_>>(), number, to).expect("it moves");
            let found: Vec<usize> = (0..moved.len()).map(|i| moved.get(i) as usize).collect();
            assert_eq!(found, expected, "{op:?} of {operands:?}");
        }
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
