//! Carry-less multiplication of 64-bit polynomials, with instructions if the CPU has them.
//!
//! No AES tier implies or needs this capability. Sums of 128-bit products stay unreduced and in
//! parts, so that a long sum costs only its products.

#[cfg(target_arch = "aarch64")]
mod arm;
#[cfg(target_arch = "x86_64")]
mod x86;

use crate::cpu;

/// The CPU's form of carry-less multiplication. It is a token: the choice is made once, outside
/// loops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Clmul {
    form: Instructions,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Instructions {
    Portable,
    /// PCLMULQDQ or PMULL: an instruction makes one product.
    Narrow,
    /// VPCLMULQDQ: an instruction makes four products; single products are made as in `Narrow`.
    Wide,
}

/// Products of words in one form, for code that is compiled once for each form. Only [`Clmul::run`]
/// makes a value.
pub trait ClmulWords: Copy {
    /// The 127-bit carry-less product of `a` and `b`.
    fn mul(self, a: u64, b: u64) -> u128;
}

/// Work that multiplies words in its innermost loop. `run` is `#[inline(always)]`, so that every
/// form is compiled with its instructions.
pub trait WordKernel {
    /// The result.
    type Out;
    /// Does the work.
    fn run<W: ClmulWords>(self, words: W) -> Self::Out;
}

/// Products by [`mul_soft`].
#[derive(Clone, Copy)]
struct Soft;

impl ClmulWords for Soft {
    fn mul(self, a: u64, b: u64) -> u128 {
        mul_soft(a, b)
    }
}

/// A sum of products of 128-bit polynomials, kept in four lanes.
///
/// With halves `a = a0 + a1 x^64`, the rows are the sums of `a0 b0`, of `a0 b1 + a1 b0` and of `a1
/// b1`.
#[derive(Clone, Copy, Default)]
#[repr(C, align(64))]
pub struct ClmulSum(pub [[u128; 4]; 3]);

impl ClmulSum {
    /// The empty sum.
    pub const ZERO: ClmulSum = ClmulSum([[0; 4]; 3]);

    /// The 255-bit sum, as low and high 128 bits.
    #[must_use]
    pub fn total(&self) -> [u128; 2] {
        let [lo, mid, hi] = self.0.map(|[a, b, c, d]| a ^ b ^ c ^ d);
        combine(lo, mid, hi)
    }

    /// Adds a product that is given as Karatsuba's `a0 b0`, `(a0 + a1) (b0 + b1)` and `a1 b1`.
    #[inline(always)]
    fn add_karatsuba(&mut self, lo: u128, mid: u128, hi: u128) {
        for (sum, part) in self.0.iter_mut().zip([lo, mid ^ lo ^ hi, hi]) {
            sum[0] ^= part;
        }
    }
}

impl Clmul {
    /// The fastest form that this CPU has.
    #[must_use]
    pub fn best() -> Self {
        let features = cpu().features();
        let form = match (features.clmul, features.vpclmul) {
            (true, true) => Instructions::Wide,
            (true, false) => Instructions::Narrow,
            (false, _) => Instructions::Portable,
        };
        Clmul { form }
    }

    /// The portable form. It is constant time if the CPU's integer multiplication is.
    #[must_use]
    pub fn portable() -> Self {
        Clmul { form: Instructions::Portable }
    }

    /// Every form that this CPU has, slowest first.
    #[must_use]
    pub fn all() -> Vec<Self> {
        let best = Clmul::best().form as u8;
        let forms = [Instructions::Portable, Instructions::Narrow, Instructions::Wide];
        forms.into_iter().filter(|&f| f as u8 <= best).map(|form| Clmul { form }).collect()
    }

    /// Whether products use an instruction.
    #[must_use]
    pub fn is_hardware(self) -> bool {
        self.form != Instructions::Portable
    }

    /// The 127-bit carry-less product of `a` and `b`.
    #[inline]
    #[must_use]
    pub fn mul(self, a: u64, b: u64) -> u128 {
        #[cfg(target_arch = "x86_64")]
        if self.is_hardware() {
            // SAFETY: the form is not portable only after PCLMULQDQ was detected.
            return unsafe { x86::mul(a, b) };
        }
        #[cfg(target_arch = "aarch64")]
        if self.is_hardware() {
            // SAFETY: the form is not portable only after the AES (and with it PMULL) feature was
            // detected.
            return unsafe { arm::mul(a, b) };
        }
        mul_soft(a, b)
    }

    /// Runs `kernel` compiled for this form.
    pub fn run<K: WordKernel>(self, kernel: K) -> K::Out {
        #[cfg(target_arch = "x86_64")]
        if self.is_hardware() {
            // SAFETY: the form is not portable only after PCLMULQDQ was detected.
            return unsafe { x86::run(kernel) };
        }
        #[cfg(target_arch = "aarch64")]
        if self.is_hardware() {
            // SAFETY: the form is not portable only after the AES (and with it PMULL) feature was
            // detected.
            return unsafe { arm::run(kernel) };
        }
        kernel.run(Soft)
    }

    /// The sum of the 255-bit products `a[i] b[i]`, as low and high 128 bits; slices of one element
    /// give a product.
    ///
    /// # Panics
    /// If the lengths differ.
    #[must_use]
    pub fn dot(self, a: &[u128], b: &[u128]) -> [u128; 2] {
        assert_eq!(a.len(), b.len(), "an inner product needs equal lengths");
        #[cfg(target_arch = "x86_64")]
        if self.is_hardware() {
            // SAFETY: the form is not portable only after PCLMULQDQ was detected.
            return unsafe { x86::dot(a, b) };
        }
        let [mut lo, mut mid, mut hi] = [0; 3];
        for (&a, &b) in a.iter().zip(b) {
            let ([a0, a1], [b0, b1]) = (halves(a), halves(b));
            lo ^= self.mul(a0, b0);
            hi ^= self.mul(a1, b1);
            mid ^= self.mul(a0 ^ a1, b0 ^ b1);
        }
        combine(lo, mid ^ lo ^ hi, hi)
    }

    /// Adds `Σ_j a[j] · x[r][j]` to `sums[r]`. `x` holds `sums.len()` rows of `a.len()`
    /// little-endian 128-bit polynomials.
    ///
    /// # Panics
    /// If `x` is not `16 · a.len() · sums.len()` bytes long.
    pub fn fold(self, a: &[u128], x: &[u8], sums: &mut [ClmulSum]) {
        let bytes = a.len().checked_mul(16 * sums.len()).expect("the rows fit in memory");
        assert_eq!(x.len(), bytes, "{} rows of {} blocks", sums.len(), a.len());
        if a.is_empty() {
            return;
        }
        #[cfg(target_arch = "x86_64")]
        match self.form {
            // SAFETY: the form is wide only after VPCLMULQDQ, AVX-512F and PCLMULQDQ were detected.
            Instructions::Wide => return unsafe { x86::fold_wide(a, x, sums) },
            // SAFETY: the form is narrow only after PCLMULQDQ was detected.
            Instructions::Narrow => return unsafe { x86::fold(a, x, sums) },
            Instructions::Portable => {}
        }
        #[cfg(target_arch = "aarch64")]
        if self.is_hardware() {
            // SAFETY: the form is not portable only after the AES (and with it PMULL) feature was
            // detected.
            return unsafe { arm::fold(a, x, sums) };
        }
        fold_with(mul_soft, a, x, sums);
    }

    /// Adds `c · e[i]` modulo `x^128 + tail(x)` to `q[i]`. The degrees of `e[i]` and `tail` are
    /// below 64; `q` holds `e.len()` little-endian 128-bit polynomials.
    ///
    /// # Panics
    /// If `q` is not `16 · e.len()` bytes long.
    pub fn scale_add(self, c: u128, tail: u64, e: &[u64], q: &mut [u8]) {
        assert_eq!(q.len(), 16 * e.len(), "a block of 16 bytes for every word");
        #[cfg(target_arch = "x86_64")]
        match self.form {
            // SAFETY: the form is wide only after VPCLMULQDQ, AVX-512F and PCLMULQDQ were detected.
            Instructions::Wide => return unsafe { x86::scale_add_wide(c, tail, e, q) },
            // SAFETY: the form is narrow only after PCLMULQDQ was detected.
            Instructions::Narrow => return unsafe { x86::scale_add(c, tail, e, q) },
            Instructions::Portable => {}
        }
        #[cfg(target_arch = "aarch64")]
        if self.is_hardware() {
            // SAFETY: the form is not portable only after the AES (and with it PMULL) feature was
            // detected.
            return unsafe { arm::scale_add(c, tail, e, q) };
        }
        scale_add_with(mul_soft, c, tail, e, q);
    }
}

#[inline(always)]
fn halves(x: u128) -> [u64; 2] {
    [x as u64, (x >> 64) as u64]
}

#[inline(always)]
fn combine(lo: u128, mid: u128, hi: u128) -> [u128; 2] {
    [lo ^ mid << 64, hi ^ mid >> 64]
}

/// The block of 16 bytes at `x`.
#[inline(always)]
fn block(x: &[u8]) -> u128 {
    u128::from_le_bytes(x[..16].try_into().expect("16 bytes"))
}

/// [`Clmul::fold`] by any product of words.
#[inline(always)]
fn fold_with(mul: impl Fn(u64, u64) -> u128, a: &[u128], x: &[u8], sums: &mut [ClmulSum]) {
    for (row, sum) in x.chunks_exact(16 * a.len()).zip(sums) {
        let [mut lo, mut mid, mut hi] = [0; 3];
        for (&a, b) in a.iter().zip(row.chunks_exact(16)) {
            let ([a0, a1], [b0, b1]) = (halves(a), halves(block(b)));
            lo ^= mul(a0, b0);
            mid ^= mul(a0 ^ a1, b0 ^ b1);
            hi ^= mul(a1, b1);
        }
        sum.add_karatsuba(lo, mid, hi);
    }
}

/// [`Clmul::scale_add`] by any product of words.
#[inline(always)]
fn scale_add_with(mul: impl Fn(u64, u64) -> u128, c: u128, tail: u64, e: &[u64], q: &mut [u8]) {
    let [c0, c1] = halves(c);
    for (&e, q) in e.iter().zip(q.chunks_exact_mut(16)) {
        let high = mul(c1, e);
        let product = mul(c0, e) ^ high << 64 ^ mul((high >> 64) as u64, tail);
        q.copy_from_slice(&(block(q) ^ product).to_le_bytes());
    }
}

/// The carry-less product, computed from integer products of every fourth bit. One factor has 32
/// bits, so that a sum of bits is at most eight and does not reach the next relevant bit.
fn mul_soft(a: u64, b: u64) -> u128 {
    const FOURTH: u128 = 0x1111_1111_1111_1111_1111_1111_1111_1111;
    let part = |x: u64, i: usize| u128::from(x & ((FOURTH as u64) << i));
    let short = |a: u64| {
        (0..4).fold(0, |r, i| {
            // Part j of a and part i - j of b give the bits that are i modulo 4.
            let sum = (0..4).fold(0, |sum, j| sum ^ (part(a, j) * part(b, (i + 4 - j) % 4)));
            r | (sum & (FOURTH << i))
        })
    };
    short(a & 0xffff_ffff) ^ (short(a >> 32) << 32)
}
