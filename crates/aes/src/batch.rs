//! The loops that all batch functions share: a fast body of `M` vectors, and a tail in a buffer of
//! the same size.

use hushwire_simd::{Kernel, Lanes};

/// An upper bound on the bytes of `M <= 8` vectors.
const BUFFER: usize = 8 * 64;

/// An operation on `M` vectors at a time.
pub(crate) trait BatchOp<const M: usize> {
    /// Vectors that stay in registers from step to step: round keys and counters.
    type InRegisters<L: Lanes>;
    /// Loads keys and counters into registers.
    fn ready<L: Lanes>(&self, l: L) -> Self::InRegisters<L>;
    /// Turns the next `M` vectors of input into output. It must be marked `#[inline(always)]`.
    fn step<L: Lanes>(l: L, ready: &mut Self::InRegisters<L>, v: &mut [L::V; M]);
}

/// Maps bytes in place. If the operation ignores its input, the result is a stream.
pub(crate) struct InPlace<'a, O, const M: usize>(pub(crate) O, pub(crate) &'a mut [u8]);

/// Maps bytes from one slice to another of the same length; the flag is whether the result is
/// written past the caches.
pub(crate) struct Across<'a, O, const M: usize>(
    pub(crate) O,
    pub(crate) &'a [u8],
    pub(crate) &'a mut [u8],
    pub(crate) bool,
);

#[inline(always)]
fn load<L: Lanes, const M: usize>(l: L, src: &[u8]) -> [L::V; M] {
    let mut v = [l.zero(); M];
    for (v, src) in v.iter_mut().zip(src.chunks_exact(L::BYTES)) {
        *v = l.load(src);
    }
    v
}

#[inline(always)]
fn store<L: Lanes, const M: usize>(l: L, v: [L::V; M], dst: &mut [u8]) {
    for (v, dst) in v.into_iter().zip(dst.chunks_exact_mut(L::BYTES)) {
        l.store(v, dst);
    }
}

impl<O: BatchOp<M>, const M: usize> Kernel for InPlace<'_, O, M> {
    type Out = ();
    #[inline(always)]
    fn run<L: Lanes>(self, l: L) {
        let mut ready = self.0.ready(l);
        let mut chunks = self.1.chunks_exact_mut(M * L::BYTES);
        for chunk in &mut chunks {
            let mut v = load::<L, M>(l, chunk);
            O::step(l, &mut ready, &mut v);
            store(l, v, chunk);
        }
        let rest = chunks.into_remainder();
        if !rest.is_empty() {
            let mut buffer = [0; BUFFER];
            buffer[..rest.len()].copy_from_slice(rest);
            let mut v = load::<L, M>(l, &buffer);
            O::step(l, &mut ready, &mut v);
            store(l, v, &mut buffer);
            rest.copy_from_slice(&buffer[..rest.len()]);
        }
    }
}

impl<O: BatchOp<M>, const M: usize> Kernel for Across<'_, O, M> {
    type Out = ();
    #[inline(always)]
    fn run<L: Lanes>(self, l: L) {
        let mut ready = self.0.ready(l);
        let mut from = self.1.chunks_exact(M * L::BYTES);
        let mut to = self.2.chunks_exact_mut(M * L::BYTES);
        for (src, dst) in (&mut from).zip(&mut to) {
            let mut v = load::<L, M>(l, src);
            O::step(l, &mut ready, &mut v);
            for (v, dst) in v.into_iter().zip(dst.chunks_exact_mut(L::BYTES)) {
                l.put(v, dst, self.3);
            }
        }
        if self.3 {
            l.fence();
        }
        let (src, dst) = (from.remainder(), to.into_remainder());
        if !dst.is_empty() {
            let mut buffer = [0; BUFFER];
            buffer[..src.len()].copy_from_slice(src);
            let mut v = load::<L, M>(l, &buffer);
            O::step(l, &mut ready, &mut v);
            store(l, v, &mut buffer);
            dst.copy_from_slice(&buffer[..dst.len()]);
        }
    }
}

/// Consecutive 128-bit numbers, little-endian, each repeated `shared` times.
pub(crate) struct Counter<L: Lanes, const M: usize> {
    base: L::V,
    offsets: [L::V; M],
    step: L::V,
}

impl<L: Lanes, const M: usize> Counter<L, M> {
    /// Counts from `first` on; the caller splits its range ([`runs`]) so that the lower 64 bits do
    /// not wrap. `shared` divides `M * N`.
    #[inline(always)]
    pub(crate) fn new(l: L, first: u128, shared: usize) -> Self {
        let number = |n: usize| ((n / shared) as u128).to_le_bytes();
        let mut offsets = [l.zero(); M];
        for (j, v) in offsets.iter_mut().enumerate() {
            let mut bytes = [0; 64];
            for (i, lane) in bytes.chunks_exact_mut(16).enumerate() {
                lane.copy_from_slice(&number(j * L::N + i));
            }
            *v = l.load(&bytes);
        }
        Counter { base: l.splat(&first.to_le_bytes()), offsets, step: l.splat(&number(M * L::N)) }
    }

    /// The next `M` vectors.
    #[inline(always)]
    pub(crate) fn next(&mut self, l: L) -> [L::V; M] {
        let mut v = self.offsets;
        for v in &mut v {
            *v = l.add64(*v, self.base);
        }
        self.base = l.add64(self.base, self.step);
        v
    }
}

/// Splits `count` numbers from `first` on where their lower 64 bits wrap: `(first, start, end)` of
/// each run.
pub(crate) fn runs(first: u128, count: usize) -> impl Iterator<Item = (u128, usize, usize)> {
    let left = (1u128 << 64) - (first & u128::from(u64::MAX));
    let cut = usize::try_from(left).unwrap_or(usize::MAX).min(count);
    let second = first.wrapping_add(cut as u128);
    [(first, 0, cut), (second, cut, count)].into_iter().filter(|(_, start, end)| start < end)
}

/// σ(hi‖lo) = (hi⊕lo)‖hi in every lane.
#[inline(always)]
pub fn sigma<L: Lanes>(l: L, x: L::V) -> L::V {
    // The halves swapped, then hi added to the upper one.
    let swap = l.splat(&[8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7]);
    let upper = l.splat(&((u128::from(u64::MAX)) << 64).to_le_bytes());
    l.xor(l.shuffle(x, swap), l.and(x, upper))
}
