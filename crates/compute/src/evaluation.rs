//! Operands in the clear, as operations see them, and computations that several operations share.

use crate::{
    Scalar, Tensor,
    tensor::{mask, number},
};

/// An operation to compute: its operands, and the scalar and lengths of its result.
#[derive(Clone, Copy)]
pub(crate) struct Evaluation<'a> {
    pub(crate) operands: &'a [&'a Tensor],
    pub(crate) scalar: Scalar,
    pub(crate) lengths: &'a [usize],
}

impl<'a> Evaluation<'a> {
    /// The first operand.
    pub(crate) fn x(self) -> &'a Tensor {
        self.operands[0]
    }

    /// The second operand.
    pub(crate) fn y(self) -> &'a Tensor {
        self.operands[1]
    }

    /// The number of elements of the result.
    pub(crate) fn count(self) -> usize {
        self.lengths.iter().product()
    }

    /// A result of at most 128 bits for each element, element by element.
    pub(crate) fn made(self, element: impl FnMut(usize) -> u128) -> Tensor {
        Tensor::from_words(self.scalar, self.lengths, (0..self.count()).map(element))
    }

    /// A result of zeros, to be overwritten.
    pub(crate) fn zeros(self) -> Tensor {
        Tensor::zeros(self.scalar, self.lengths)
    }

    /// Applies a function to each element.
    pub(crate) fn each(self, f: impl Fn(u128) -> u128) -> Tensor {
        let x = self.x();
        if x.scalar().bits() <= 64 {
            let words = x.words().iter().map(|word| f(u128::from(*word)));
            return Tensor::from_words(self.scalar, self.lengths, words);
        }
        Tensor::from_words(self.scalar, self.lengths, (0..x.len()).map(|i| f(x.get(i))))
    }

    /// Applies a function to the elements of two operands.
    pub(crate) fn two(self, f: impl Fn(u128, u128) -> u128) -> Tensor {
        let (x, y) = (self.x(), self.y());
        if [x, y].iter().all(|of| of.scalar().bits() <= 64) {
            // A step of 0 where a single element serves all places.
            let (of, [dx, dy]) = ([x.words(), y.words()], [x, y].map(|of| place(of, 1)));
            return self.made(|i| f(of[0][i * dx].into(), of[1][i * dy].into()));
        }
        self.made(|i| f(x.get(place(x, i)), y.get(place(y, i))))
    }

    /// Applies a function to the 64-bit words of two operands.
    pub(crate) fn bitwise(self, f: impl Fn(u64, u64) -> u64) -> Tensor {
        let mut out = self.zeros();
        for i in 0..out.len() {
            let [x, y] = [self.x(), self.y()].map(|t| t.element(place(t, i)));
            out.element_mut(i).iter_mut().zip(x.iter().zip(y)).for_each(|(o, (x, y))| *o = f(*x, *y));
        }
        out
    }

    /// The first operand's elements at these places.
    pub(crate) fn picked(self, places: &[usize]) -> Tensor {
        self.x().picked(self.lengths, |i| places[i])
    }

    /// The first operand's whole rows, that is, everything after the first axis.
    pub(crate) fn rows(self, of: &Tensor, from: impl Fn(usize) -> usize) -> Tensor {
        let inner: usize = self.lengths[1..].iter().product();
        of.picked(self.lengths, |i| from(i / inner) * inner + i % inner)
    }
}

/// The place in an operand for element `i` of a result: a single element is used for all.
pub(crate) fn place(operand: &Tensor, i: usize) -> usize {
    if operand.lengths().is_empty() { 0 } else { i }
}

/// Whether one of two elements is less. They have one scalar of at most 128 bits; truth values and
/// bit strings are unsigned.
pub(crate) fn less(scalar: Scalar, x: u128, y: u128) -> bool {
    if scalar.is_signed() { number(scalar, x) < number(scalar, y) } else { x < y }
}

/// The least and the greatest element of a scalar.
pub(crate) fn ends(scalar: Scalar) -> (u128, u128) {
    match scalar.is_signed() {
        true => (1u128 << (scalar.bits() - 1), mask(scalar.bits() - 1)),
        false => (0, mask(scalar.bits().min(128))),
    }
}

/// The order of rows by keys, each descending or not; rows with equal keys keep their order.
pub(crate) fn order(keys: &[&Tensor], descending: &[bool]) -> Tensor {
    let n = keys[0].len();
    let mut places: Vec<usize> = (0..n).collect();
    places.sort_by(|x, y| {
        let mut sides = keys.iter().zip(descending).map(|(key, down)| {
            let [x, y] = [*x, *y].map(|i| key.get(i));
            let (x, y) = if *down { (y, x) } else { (x, y) };
            less(key.scalar(), y, x).cmp(&less(key.scalar(), x, y))
        });
        sides.find(|side| side.is_ne()).unwrap_or(std::cmp::Ordering::Equal)
    });
    Tensor::from_words(Scalar::Place, &[n], places.into_iter().map(|p| p as u128))
}

/// The products of the lengths before, at and after an axis.
pub(crate) fn around(lengths: &[usize], axis: usize) -> [usize; 3] {
    [lengths[..axis].iter().product(), lengths[axis], lengths[axis + 1..].iter().product()]
}

/// Copies `n` bits of words from bit `from` to bit `at` of others, which must be 0 there.
pub(crate) fn put(to: &mut [u64], at: usize, words: &[u64], from: u16, n: usize) {
    for i in 0..n {
        let k = usize::from(from) + i;
        to[(at + i) / 64] |= (words[k / 64] >> (k % 64) & 1) << ((at + i) % 64);
    }
}

/// The places of elements along axes, each of which has a length and a stride, the outermost axis
/// first.
pub(crate) fn strided(first: usize, axes: impl Iterator<Item = (usize, usize)>) -> Vec<usize> {
    axes.fold(vec![first], |places, (n, stride)| {
        let mut next = Vec::with_capacity(places.len() * n);
        places.iter().for_each(|place| next.extend((0..n).map(|i| place + i * stride)));
        next
    })
}

/// The distance from an element to the next along each axis.
pub(crate) fn strides(lengths: &[usize]) -> Vec<usize> {
    (0..lengths.len()).map(|axis| lengths[axis + 1..].iter().product()).collect()
}
