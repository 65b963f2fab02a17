//! Sums of the halves of products of numbers below 2^52, with instructions if the CPU has them
//! (AVX-512 IFMA).
//!
//! The `vaes512` tier does not imply this capability. Every form works on eight numbers at a time,
//! and all forms give the same numbers.

#[cfg(target_arch = "x86_64")]
mod x86;

use crate::cpu;

/// The CPU's form of 52-bit products. It is a token: the choice is made once, outside loops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Madd52 {
    is_wide: bool,
}

/// Eight numbers.
pub type Eight = [u64; 8];

/// Operations on eight numbers in one form, for code that is compiled once for each form. Only
/// [`Madd52::run`] makes a value.
pub trait Numbers: Copy {
    /// Eight numbers, in the form's representation.
    type V: Copy;
    /// Loads eight numbers.
    fn load(self, from: &Eight) -> Self::V;
    /// Stores eight numbers.
    fn store(self, v: Self::V, to: &mut Eight);
    /// Eight times the number `x`.
    fn splat(self, x: u64) -> Self::V;
    /// `sum` plus bits 0 to 51 of the product `a b`; only the lowest 52 bits of `a` and `b` count.
    fn low(self, sum: Self::V, a: Self::V, b: Self::V) -> Self::V;
    /// `sum` plus bits 52 to 103 of the product `a b`; only the lowest 52 bits of `a` and `b`
    /// count.
    fn high(self, sum: Self::V, a: Self::V, b: Self::V) -> Self::V;
    /// Wrapping addition.
    fn add(self, a: Self::V, b: Self::V) -> Self::V;
    /// Bitwise AND.
    fn and(self, a: Self::V, b: Self::V) -> Self::V;
    /// Logical shift right by `S` bits.
    fn shr<const S: u32>(self, a: Self::V) -> Self::V;
    /// `a − b` if `b ≤ a`, otherwise `a`; without a branch.
    fn less(self, a: Self::V, b: Self::V) -> Self::V;
}

/// Work that multiplies in its innermost loop. `run` is `#[inline(always)]`, so that every form is
/// compiled with its instructions.
pub trait NumberKernel {
    /// The result.
    type Out;
    /// Does the work.
    fn run<M: Numbers>(self, numbers: M) -> Self::Out;
}

/// 128-bit integer products.
#[derive(Clone, Copy)]
struct Portable;

const LOW: u64 = (1 << 52) - 1;

#[inline(always)]
fn product(a: u64, b: u64) -> u128 {
    u128::from(a & LOW) * u128::from(b & LOW)
}

#[inline(always)]
fn each(f: impl Fn(usize) -> u64) -> Eight {
    std::array::from_fn(f)
}

impl Numbers for Portable {
    type V = Eight;
    #[inline(always)]
    fn load(self, from: &Eight) -> Eight {
        *from
    }
    #[inline(always)]
    fn store(self, v: Eight, to: &mut Eight) {
        *to = v;
    }
    #[inline(always)]
    fn splat(self, x: u64) -> Eight {
        [x; 8]
    }
    #[inline(always)]
    fn low(self, sum: Eight, a: Eight, b: Eight) -> Eight {
        each(|i| sum[i].wrapping_add(product(a[i], b[i]) as u64 & LOW))
    }
    #[inline(always)]
    fn high(self, sum: Eight, a: Eight, b: Eight) -> Eight {
        each(|i| sum[i].wrapping_add((product(a[i], b[i]) >> 52) as u64))
    }
    #[inline(always)]
    fn add(self, a: Eight, b: Eight) -> Eight {
        each(|i| a[i].wrapping_add(b[i]))
    }
    #[inline(always)]
    fn and(self, a: Eight, b: Eight) -> Eight {
        each(|i| a[i] & b[i])
    }
    #[inline(always)]
    fn shr<const S: u32>(self, a: Eight) -> Eight {
        a.map(|a| a >> S)
    }
    #[inline(always)]
    fn less(self, a: Eight, b: Eight) -> Eight {
        each(|i| {
            let (difference, is_below) = a[i].overflowing_sub(b[i]);
            difference.wrapping_add(b[i] & u64::from(is_below).wrapping_neg())
        })
    }
}

impl Madd52 {
    /// The fastest form that this CPU has.
    #[must_use]
    pub fn best() -> Self {
        Madd52 { is_wide: cpu().features().ifma }
    }

    /// The form for any CPU. It is constant time if the CPU's integer multiplication is.
    #[must_use]
    pub fn portable() -> Self {
        Madd52 { is_wide: false }
    }

    /// Runs `kernel` compiled for this form.
    pub fn run<K: NumberKernel>(self, kernel: K) -> K::Out {
        #[cfg(target_arch = "x86_64")]
        if self.is_wide {
            // SAFETY: the form is wide only after AVX-512 with IFMA was detected.
            return unsafe { x86::run(kernel) };
        }
        kernel.run(Portable)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every operation on the same numbers, in a fixed order.
    struct All([Eight; 3]);

    impl NumberKernel for All {
        type Out = Vec<Eight>;
        #[inline(always)]
        fn run<M: Numbers>(self, m: M) -> Vec<Eight> {
            let [sum, a, b] = self.0.each_ref().map(|of| m.load(of));
            let made = [
                m.low(sum, a, b),
                m.high(sum, a, b),
                m.add(a, b),
                m.and(a, b),
                m.shr::<50>(a),
                m.less(a, b),
                m.splat(7),
            ];
            made.map(|v| {
                let mut out = [0; 8];
                m.store(v, &mut out);
                out
            })
            .to_vec()
        }
    }

    #[test]
    fn forms_give_the_same_numbers() {
        let edges = [0, 1, LOW, LOW - 1, u64::MAX, 1 << 52, (1 << 50) - 1, 0x0123_4567_89ab_cdef];
        for turn in 0..8 {
            let stepped = |by: usize| each(|i| edges[(i * by + turn) % 8]);
            let numbers = [stepped(3), stepped(1), stepped(5)];
            let (found, [sum, a, b]) = (Madd52::portable().run(All(numbers)), numbers);
            for i in 0..8 {
                let whole = u128::from(a[i] % (1 << 52)) * u128::from(b[i] % (1 << 52));
                assert_eq!(found[0][i], sum[i].wrapping_add((whole % (1 << 52)) as u64));
                assert_eq!(found[1][i], sum[i].wrapping_add((whole >> 52) as u64));
                assert_eq!([found[2][i], found[3][i]], [a[i].wrapping_add(b[i]), a[i] & b[i]]);
                assert_eq!([found[4][i], found[6][i]], [a[i] >> 50, 7]);
                assert_eq!(found[5][i], a[i].checked_sub(b[i]).unwrap_or(a[i]));
            }
            assert_eq!(Madd52::best().run(All(numbers)), found);
        }
    }
}
