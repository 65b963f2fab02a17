//! Pieces that back ends stand on, so that each of them keeps to the evaluator.
//!
//! ```text
//! apply      one operation on values that all know
//! Picks      an operation that only moves elements, as places
//! Rectifiers maxima with 0 that are read without their lowest bits
//! planes     values as bit planes, the form in which they are brought and learnt
//! ```

use crate::{ComputeError, Op, Scalar, Tensor, eval::compute};
pub use crate::{
    rectify::Rectifiers,
    windows::{Convolution, pooled},
};
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
    let count = |lengths: &[usize]| lengths.iter().product::<usize>();
    let from = operands.first()?;
    // From an element to the next along each axis of the first operand.
    let strides: Vec<usize> = (0..from.len()).map(|axis| count(&from[axis + 1..])).collect();
    let axes = lengths.iter().copied();
    Some(match op {
        Op::Reshape(_) | Op::Reveal(_) | Op::Wrapping => (0..count(lengths)).collect(),
        Op::Broadcast(_) => {
            // Axes of length 1 have one element, which every place along them has.
            let one = |axis: usize| if from.get(axis).is_none_or(|n| *n == 1) { 0 } else { strides[axis] };
            strided(0, axes.enumerate().map(|(axis, n)| (n, one(axis))))
        }
        Op::Transpose(order) => strided(0, axes.zip(order.iter().map(|axis| strides[usize::from(*axis)]))),
        Op::Slice { axis, from, .. } => {
            strided(usize::try_from(*from).ok()? * strides[usize::from(*axis)], axes.zip(strides))
        }
        Op::Concat(axis) => {
            let axis = usize::from(*axis);
            let mut places = Vec::with_capacity(count(lengths));
            for outer in 0..count(&lengths[..axis]) {
                let mut before = 0;
                for part in operands {
                    let run = count(&part[axis..]);
                    places.extend(before + outer * run..before + (outer + 1) * run);
                    before += count(part);
                }
            }
            places
        }
        _ => return None,
    })
}

/// The places of elements along axes of so many elements, each so far from the next, the outermost axis first.
fn strided(first: usize, axes: impl Iterator<Item = (usize, usize)>) -> Vec<usize> {
    axes.fold(vec![first], |places, (n, stride)| {
        let mut next = Vec::with_capacity(places.len() * n);
        places.iter().for_each(|place| next.extend((0..n).map(|i| place + i * stride)));
        next
    })
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

    /// Places are those from which the evaluator takes elements.
    #[test]
    fn moves_are_the_evaluators() {
        let shape = |to: &[usize]| crate::Shape(to.iter().map(|n| (*n as u64).into()).collect());
        type Case<'a> = (Op, &'a [&'a [usize]], &'a [usize]);
        let cases: [Case<'_>; 12] = [
            (Op::Transpose(vec![2, 0, 3, 1]), &[&[2, 3, 4, 5]], &[4, 2, 5, 3]),
            (Op::Transpose(vec![0, 2, 1]), &[&[2, 3, 4]], &[2, 4, 3]),
            (Op::Concat(1), &[&[2, 3, 4], &[2, 1, 4], &[2, 5, 4]], &[2, 9, 4]),
            (Op::Concat(2), &[&[2, 3, 4], &[2, 3, 1]], &[2, 3, 5]),
            (Op::Concat(0), &[&[2, 3], &[0, 3], &[4, 3]], &[6, 3]),
            (Op::Slice { axis: 1, from: 2, to: 5 }, &[&[3, 6, 2]], &[3, 3, 2]),
            (Op::Slice { axis: 2, from: 0, to: 1 }, &[&[3, 2, 2]], &[3, 2, 1]),
            (Op::Broadcast(shape(&[2, 3, 4])), &[&[1, 3, 1]], &[2, 3, 4]),
            (Op::Broadcast(shape(&[5, 2])), &[&[5, 1]], &[5, 2]),
            (Op::Broadcast(shape(&[2, 3])), &[&[]], &[2, 3]),
            (Op::Reshape(shape(&[6])), &[&[2, 3]], &[6]),
            (Op::Wrapping, &[&[2, 3]], &[2, 3]),
        ];
        for (op, operands, to) in cases {
            let mut first = 0;
            let number = Scalar::unsigned(64);
            let numbers = operands.iter().map(|lengths| {
                let n = lengths.iter().product::<usize>();
                first += n;
                Tensor::from_words(number, lengths, (first - n..first).map(|i| i as u128))
            });
            let numbers: Vec<Tensor> = numbers.collect();
            let moved = compute(&op, &numbers.iter().collect::<Vec<_>>(), number, to).expect("it moves");
            let expected: Vec<usize> = (0..moved.len()).map(|i| moved.get(i) as usize).collect();
            assert_eq!(picks(&op, operands, to), Some(expected), "{op:?} of {operands:?}");
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
