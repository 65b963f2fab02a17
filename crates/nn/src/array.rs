//! Arrays of floating-point numbers.

use crate::Fault;
use hushwire_fault::code;

/// Numbers along axes, the last axis fastest.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Array {
    /// The lengths of the axes, the outermost first.
    pub lengths: Vec<usize>,
    /// The elements.
    pub data: Vec<f32>,
}

impl Array {
    /// Zeros.
    #[must_use]
    pub fn zeros(lengths: &[usize]) -> Self {
        Array { lengths: lengths.to_vec(), data: vec![0.0; lengths.iter().product()] }
    }

    /// Elements along axes.
    ///
    /// # Panics
    /// If their number does not fit the lengths.
    #[must_use]
    pub fn new(lengths: &[usize], data: Vec<f32>) -> Self {
        assert_eq!(lengths.iter().product::<usize>(), data.len(), "as many elements as the lengths say");
        Array { lengths: lengths.to_vec(), data }
    }

    /// The greatest absolute value of an element.
    #[must_use]
    pub fn greatest(&self) -> f32 {
        self.data.iter().fold(0.0, |most: f32, x| most.max(x.abs()))
    }

    /// The greatest absolute value of the elements that are finite.
    pub(crate) fn greatest_finite(&self) -> f32 {
        self.data.iter().filter(|x| x.is_finite()).fold(0.0, |most: f32, x| most.max(x.abs()))
    }

    /// Checks that all elements are finite. `place` names the place in the error.
    ///
    /// # Errors
    /// An element is not finite.
    pub fn check_finite(&self, place: &str) -> Result<(), Fault> {
        let odd = self.data.iter().position(|x| !x.is_finite());
        odd.map_or(Ok(()), |i| Err(Fault::filled(code::NOT_FINITE, &[("element", &i)]).at(place)))
    }

    /// Applies a function to each element.
    #[must_use]
    pub(crate) fn each(&self, f: impl Fn(f32) -> f32) -> Self {
        Array { lengths: self.lengths.clone(), data: self.data.iter().map(|x| f(*x)).collect() }
    }

    /// The same elements along other axes.
    #[must_use]
    pub(crate) fn reshaped(mut self, lengths: &[usize]) -> Self {
        assert_eq!(lengths.iter().product::<usize>(), self.data.len());
        self.lengths = lengths.to_vec();
        self
    }

    /// The elements with the axes in another order.
    #[must_use]
    pub(crate) fn transposed(&self, axes: &[usize]) -> Self {
        let lengths: Vec<usize> = axes.iter().map(|a| self.lengths[*a]).collect();
        let steps = steps(&self.lengths);
        let steps: Vec<usize> = axes.iter().map(|a| steps[*a]).collect();
        let data = places(&lengths, &steps).map(|i| self.data[i]).collect();
        Array { lengths, data }
    }

    /// The elements repeated along axes of length 1 and along new first axes.
    #[must_use]
    pub(crate) fn broadcast(&self, lengths: &[usize]) -> Self {
        if self.lengths == lengths {
            return self.clone();
        }
        let missing = lengths.len() - self.lengths.len();
        let own = steps(&self.lengths);
        let one = |axis: usize| match axis.checked_sub(missing) {
            Some(axis) if self.lengths[axis] != 1 => own[axis],
            _ => 0,
        };
        let steps: Vec<usize> = (0..lengths.len()).map(one).collect();
        Array { lengths: lengths.to_vec(), data: places(lengths, &steps).map(|i| self.data[i]).collect() }
    }
}

/// The distance between neighbouring elements along each axis.
pub(crate) fn steps(lengths: &[usize]) -> Vec<usize> {
    let mut steps = vec![1; lengths.len()];
    for axis in (1..lengths.len()).rev() {
        steps[axis - 1] = steps[axis] * lengths[axis];
    }
    steps
}

/// For each element, in order, the sum of its indices times the steps of its axes.
pub(crate) fn places<'a>(lengths: &'a [usize], steps: &'a [usize]) -> impl Iterator<Item = usize> + 'a {
    (0..lengths.iter().product::<usize>()).map(move |mut i| {
        let mut place = 0;
        for (length, step) in lengths.iter().zip(steps).rev() {
            place += i % length * step;
            i /= length;
        }
        place
    })
}

/// The lines along an axis: where each begins, and the distance between its elements.
pub(crate) fn lines(lengths: &[usize], axis: usize) -> (Vec<usize>, usize) {
    let step: usize = lengths[axis + 1..].iter().product();
    let outer: usize = lengths[..axis].iter().product();
    ((0..outer).flat_map(|o| (0..step).map(move |i| o * step * lengths[axis] + i)).collect(), step)
}

/// The common lengths of an element-wise operation's operands: axes of length 1 are repeated.
pub(crate) fn together(a: &[usize], b: &[usize]) -> Option<Vec<usize>> {
    let rank = a.len().max(b.len());
    let at = |of: &[usize], axis: usize| (axis + of.len()).checked_sub(rank).map_or(1, |i| of[i]);
    (0..rank)
        .map(|axis| match (at(a, axis), at(b, axis)) {
            (m, n) if m == n || n == 1 => Some(m),
            (1, n) => Some(n),
            _ => None,
        })
        .collect()
}
