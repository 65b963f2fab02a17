//! Convolutions in the clear: a party's own share times its own weights.

use crate::Conv;
use hushwire_aes::Backend;
use hushwire_block::{Flat, Wiped, abreast};
use hushwire_simd::{Kernel, Lanes};
use std::ops::Range;

/// A word of a ring.
trait Word: Flat + Default + Send + Sync {
    fn of(x: u64) -> Self;
    fn whole(self) -> u64;
    /// self + a b.
    fn plus(self, a: Self, b: Self) -> Self;
}

macro_rules! word {
    ($($word:ty),+) => {$(
        impl Word for $word {
            fn of(x: u64) -> Self {
                x as $word
            }
            fn whole(self) -> u64 {
                u64::from(self)
            }
            #[inline(always)]
            fn plus(self, a: Self, b: Self) -> Self {
                self.wrapping_add(a.wrapping_mul(b))
            }
        }
    )+};
}

word!(u32, u64);

/// Some outputs of one image.
struct Outputs<'a, T> {
    conv: Conv,
    image: &'a [T],
    weights: &'a [T],
    outputs: Range<usize>,
    out: &'a mut [T],
}

impl<T: Word> Kernel for Outputs<'_, T> {
    type Out = ();
    #[inline(always)]
    fn run<L: Lanes>(self, _: L) {
        let Outputs { conv, image, weights, outputs, out } = self;
        let ([rows, columns], [h, w], [down, right]) = (conv.results(), conv.kernel, conv.strides);
        let planes = out.chunks_exact_mut((rows * columns).max(1));
        for (m, out) in outputs.zip(planes) {
            for at in 0..conv.channels * h * w {
                let (c, k, l) = (at / (h * w), at / w % h, at % w);
                let weight = weights[m * conv.channels * h * w + at];
                for (i, out) in out.chunks_exact_mut(columns).enumerate() {
                    let from = ((c * conv.image[0]) + i * down + k) * conv.image[1] + l;
                    if right == 1 {
                        let row = &image[from..from + columns];
                        out.iter_mut().zip(row).for_each(|(out, x)| *out = out.plus(*x, weight));
                    } else {
                        let row = image[from..].iter().step_by(right);
                        out.iter_mut().zip(row).for_each(|(out, x)| *out = out.plus(*x, weight));
                    }
                }
            }
        }
    }
}

fn on<T: Word>(conv: Conv, backend: Backend, images: &[u64], weights: &[u64], threads: usize) -> Vec<u64> {
    let cut = |of: &[u64]| Wiped::new(of.iter().map(|x| T::of(*x)).collect::<Vec<T>>());
    let (images, weights) = (cut(images), cut(weights));
    let plane: usize = conv.results().iter().product();
    let each = conv.outputs.div_ceil(threads.max(1));
    let pixels = conv.channels * conv.image[0] * conv.image[1];
    let parts = images.chunks_exact(pixels.max(1)).flat_map(|image| {
        (0..conv.outputs).step_by(each).map(move |from| (image, from..conv.outputs.min(from + each)))
    });
    let made = abreast(threads, parts.collect(), |(image, outputs)| {
        let mut out = Wiped::new(vec![T::default(); outputs.len() * plane]);
        backend.run(Outputs { conv, image, weights: &weights, outputs, out: &mut out });
        out
    });
    made.iter().flat_map(|part| part.iter().map(|x| x.whole())).collect()
}

/// The results of images, one after the other, exact in their lowest `ring` bits.
pub(crate) fn plain(
    conv: Conv,
    ring: u32,
    backend: Backend,
    [images, weights]: [&[u64]; 2],
    threads: usize,
) -> Vec<u64> {
    let of = if ring <= 32 { on::<u32> } else { on::<u64> };
    of(conv, backend, images, weights, threads)
}
