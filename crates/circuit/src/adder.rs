//! Adders in two forms, and the circuits that need their carries. [`Adder`] chooses between fewest
//! ANDs and fewest layers.
//!
//! ```text
//!            ripple: ANDs, AND-depth      prefix: ANDs, AND-depth
//! sum        n − 1, n − 1                 about (n − 1)(1 + log n), 1 + ⌈log n⌉
//! sign       n − 1, n − 1                 about 3 n, 1 + ⌈log n⌉
//! carries    n, n                         about 3 n, at most 2 + ⌈log n⌉
//! less       n, n                         about 3 n, 1 + ⌈log n⌉
//! ```

use crate::{Bit, Builder, words};

/// The form of a circuit that adds or compares.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Adder {
    /// Each carry follows from the one before it: the fewest ANDs, one layer for each bit. It suits
    /// wide batches.
    Ripple,
    /// Carries come from a tree: logarithmic depth. It suits networks on which rounds dominate.
    Prefix,
}

impl Adder {
    /// Both forms.
    pub const ALL: [Adder; 2] = [Adder::Ripple, Adder::Prefix];

    /// `x + y` modulo 2^n.
    ///
    /// # Panics
    /// If the words differ in width (the caller's bug).
    #[must_use]
    pub fn sum(self, b: &mut Builder, x: &[Bit], y: &[Bit]) -> Vec<Bit> {
        match self {
            Adder::Ripple => words::add_mod(b, x, y),
            Adder::Prefix => words::add_fast(b, x, y).0,
        }
    }

    /// The highest bit of `x + y` modulo 2^n; the other bits are not computed.
    ///
    /// # Panics
    /// If the words are empty or differ in width (the caller's bug).
    #[must_use]
    pub fn sign(self, b: &mut Builder, x: &[Bit], y: &[Bit]) -> Bit {
        let top = x.len().checked_sub(1).expect("a word of one bit at least");
        let (_, carry) = self.carries(b, &x[..top], &y[..top], 0);
        let half = b.xor(x[top], y[top]);
        b.xor(half, carry)
    }

    /// The carry of `x + y` into bit `at`, and the carry out of the highest bit.
    ///
    /// # Panics
    /// If `at` exceeds the width, or the words differ in width (the caller's bug).
    #[must_use]
    pub fn carries(self, b: &mut Builder, x: &[Bit], y: &[Bit], at: usize) -> (Bit, Bit) {
        let ((low_x, high_x), (low_y, high_y)) = (x.split_at(at), y.split_at(at));
        match self {
            Adder::Ripple => {
                let (_, into) = words::add(b, low_x, low_y, Bit::ZERO);
                let (_, out) = words::add(b, high_x, high_y, into);
                (into, out)
            }
            Adder::Prefix => {
                let (into, _) = words::span_fast(b, low_x, low_y);
                let (makes, passes) = words::span_fast(b, high_x, high_y);
                let passed = b.and(passes, into);
                (into, b.xor(makes, passed))
            }
        }
    }

    /// Whether `x < y`, as unsigned numbers or, if `signed`, in two's complement. Panics if the
    /// words differ in width.
    #[must_use]
    pub fn less(self, b: &mut Builder, signed: bool, x: &[Bit], y: &[Bit]) -> Bit {
        let (x, y) =
            if signed { (words::offset(b, x), words::offset(b, y)) } else { (x.to_vec(), y.to_vec()) };
        match self {
            Adder::Ripple => words::less(b, &x, &y),
            Adder::Prefix => words::less_fast(b, &x, &y),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Layered, Program, eval};

    /// Runs a circuit of two words on pairs of numbers in the clear. Returns the resulting numbers
    /// and the circuit.
    fn run(
        width: usize,
        pairs: &[(u64, u64)],
        make: impl Fn(&mut Builder, &[Bit], &[Bit]) -> Vec<Bit>,
    ) -> (Vec<u64>, Layered) {
        let mut b = Builder::new();
        let (x, y) = (b.input(width), b.input(width));
        let out = make(&mut b, &x, &y);
        let bytes = out.len().div_ceil(8);
        let circuit = b.finish(&[out]);
        let values = |of: &dyn Fn(&(u64, u64)) -> u64| {
            pairs.iter().flat_map(|p| of(p).to_le_bytes()[..width.div_ceil(8)].to_vec()).collect()
        };
        let inputs = [values(&|p| p.0), values(&|p| p.1)];
        let out = eval::eval_values(&Program::flat("test", &circuit), &inputs, pairs.len()).unwrap();
        let number = |bytes: &[u8]| bytes.iter().rev().fold(0, |n, byte| n << 8 | u64::from(*byte));
        (out[0].chunks(bytes).map(number).collect(), Layered::new(&circuit))
    }

    fn log(n: usize) -> usize {
        n.next_power_of_two().ilog2() as usize
    }

    fn all(width: usize, pairs: &[(u64, u64)]) {
        let (mask, half) = (u64::MAX >> (64 - width), 1u64 << (width - 1));
        let expected =
            |of: &dyn Fn(u64, u64) -> u64| pairs.iter().map(|(x, y)| of(*x, *y)).collect::<Vec<_>>();
        for adder in Adder::ALL {
            let ripple = adder == Adder::Ripple;
            let (sums, c) = run(width, pairs, |b, x, y| adder.sum(b, x, y));
            assert_eq!(sums, expected(&|x, y| x.wrapping_add(y) & mask));
            let depth = if width == 1 { 0 } else { 1 + log(width - 1) };
            assert_eq!(c.depth(), if ripple { width - 1 } else { depth }, "{adder:?} {width}");
            assert!(!ripple || c.ands() == width - 1);
            let (signs, c) = run(width, pairs, |b, x, y| vec![adder.sign(b, x, y)]);
            assert_eq!(signs, expected(&|x, y| (x.wrapping_add(y) & half) / half));
            assert_eq!(c.depth(), if ripple { width - 1 } else { depth });
            assert!(if ripple { c.ands() == width - 1 } else { c.ands() < 3 * width });
            for at in 0..=width {
                let (carries, c) = run(width, pairs, |b, x, y| {
                    let (into, out) = adder.carries(b, x, y, at);
                    vec![into, out]
                });
                let low = |x: u64| u128::from(x) & ((1 << at) - 1);
                let carry = |x: u64, y: u64| {
                    let out = (u128::from(x) + u128::from(y)) >> width;
                    (out << 1 | (low(x) + low(y)) >> at) as u64
                };
                assert_eq!(carries, expected(&carry), "{adder:?} {width} {at}");
                assert!(if ripple { c.ands() <= width } else { c.ands() < 3 * width + 1 });
                assert!(c.depth() <= if ripple { width } else { 2 + log(width) });
            }
            for signed in [false, true] {
                let (less, c) = run(width, pairs, |b, x, y| vec![adder.less(b, signed, x, y)]);
                let order = |x: u64| if signed { (x + half) & mask } else { x };
                assert_eq!(less, expected(&|x, y| u64::from(order(x) < order(y))));
                assert!(c.depth() == if ripple { width } else { 1 + log(width) });
            }
        }
    }

    #[test]
    fn every_form_adds_and_compares() {
        for width in 1..=6 {
            let pairs: Vec<_> = (0..1 << width).flat_map(|x| (0..1 << width).map(move |y| (x, y))).collect();
            all(width, &pairs);
        }
        let edges = [0, 1, 2, u64::MAX >> 1, 1 << 63, u64::MAX - 1, u64::MAX, 0x0123_4567_89ab_cdef];
        for width in [8, 16, 23, 32, 63] {
            let edges = edges.map(|e| (e ^ e >> (64 - width)) & (u64::MAX >> (64 - width)));
            let pairs: Vec<_> = edges.iter().flat_map(|x| edges.map(|y| (*x, y))).collect();
            all(width, &pairs);
        }
    }

    #[test]
    fn the_widest_word_adds() {
        let pairs = [(u64::MAX, 1), (1 << 63, 1 << 63), (5, 7), (u64::MAX, u64::MAX)];
        for adder in Adder::ALL {
            let (sums, c) = run(64, &pairs, |b, x, y| adder.sum(b, x, y));
            assert_eq!(sums, pairs.map(|(x, y)| x.wrapping_add(y)));
            assert_eq!(c.depth(), if adder == Adder::Ripple { 63 } else { 7 });
            let (carries, _) = run(64, &pairs, |b, x, y| vec![adder.carries(b, x, y, 13).1]);
            assert_eq!(carries, pairs.map(|(x, y)| u64::from(x.checked_add(y).is_none())));
        }
    }
}
