//! Sums of products of transformed uploads and weights, over all uploads of a tile.
//!
//! The value of weights at a point z is Σ_l z^(w − 1 − l) Q_l(z^W), and Q_l(z^W) is equal at W
//! neighbouring points. Therefore uploads are multiplied by Q_l and summed for each column l, and
//! these sums are multiplied by powers of z. Products are added in halves of 52 bits, and reduced
//! when a sum is complete. Values of uploads are stored in the order in which they are read: for
//! eight points, all uploads, both halves.

use crate::{
    BfvError,
    cipher::{Ground, Poly},
    conv::{LEAST, Layout},
    ntt::{BITS, Prime},
};
use hushwire_simd::{
    Tier,
    madd52::{Eight, Madd52, NumberKernel, Numbers},
};
use zeroize::Zeroizing;

/// The number of points of a vector.
const WIDE: usize = LEAST;
/// LOCAL: the number of vectors whose uploads stay in the nearest cache while the weights of all
/// answers pass.
const GROUP: usize = 4;
/// The number of products of residues that are summed before a reduction: the low halves of 52 bits
/// stay below 2^63, the high halves of 48 bits below 2^59. In tests the number is so small that
/// layers have more products.
const MANY: usize = if cfg!(test) { 3 } else { 1 << 11 };

/// The transformed uploads of a tile, modulo each prime.
pub(crate) struct Uploads(Vec<Vec<u64>>);

/// The transformed weights of an answer, modulo each prime: for each run of points and each upload,
/// those of all columns. Runs of one point have eight values side by side.
pub(crate) struct Factors(Vec<Zeroizing<Vec<u64>>>);

impl Uploads {
    /// Reads a tile's pairs as they were sent, one after the other.
    pub(crate) fn read(ground: &Ground, layout: &Layout, sent: &[u8]) -> Result<Self, BfvError> {
        let pairs = sent.chunks_exact(ground.pair_bytes());
        let stride = 2 * pairs.len();
        let mut all = vec![vec![0; stride * layout.n]; ground.primes.len()];
        for (b, pair) in pairs.enumerate() {
            for (half, polys) in ground.read("an upload", pair)?.iter().enumerate() {
                for (of, poly) in all.iter_mut().zip(polys) {
                    let places = of.as_chunks_mut::<WIDE>().0.iter_mut().skip(2 * b + half).step_by(stride);
                    places.zip(poly.as_chunks::<WIDE>().0).for_each(|(to, values)| *to = *values);
                }
            }
        }
        Ok(Uploads(all))
    }
}

impl Factors {
    #[cfg(test)]
    pub(crate) fn bytes(&self) -> usize {
        self.0.iter().map(|of| size_of_val(&of[..])).sum()
    }

    pub(crate) fn new(ground: &Ground, layout: &Layout, weights: &[i64], group: usize) -> Self {
        let (blocks, taps) = (layout.blocks(), layout.taps());
        let zeros = || Zeroizing::new(vec![0; layout.n / layout.width * blocks * taps]);
        let mut of: Vec<_> = ground.primes.iter().map(|_| zeros()).collect();
        for block in 0..blocks {
            for (l, column) in Zeroizing::new(layout.weights(weights, block, group)).iter().enumerate() {
                for (of, values) in of.iter_mut().zip(&*Zeroizing::new(ground.transformed(column))) {
                    if layout.width == 1 {
                        for (j, values) in values.chunks_exact(WIDE).enumerate() {
                            of[(j * blocks + block) * WIDE..][..WIDE].copy_from_slice(values);
                        }
                        continue;
                    }
                    for (run, x) in values.iter().enumerate() {
                        of[(run * blocks + block) * taps + l] = *x;
                    }
                }
            }
        }
        Factors(of)
    }
}

/// The sums of answers over the same uploads: two halves of each.
pub(crate) fn sums(
    ground: &Ground,
    layout: &Layout,
    uploads: &Uploads,
    answers: &[Factors],
) -> Vec<[Poly; 2]> {
    let mut all: Vec<[Poly; 2]> = answers.iter().map(|_| [ground.zero(), ground.zero()]).collect();
    let form = if ground.backend.tier() == Tier::Vaes512 { Madd52::best() } else { Madd52::portable() };
    for (k, prime) in ground.primes.iter().enumerate() {
        form.run(Tile {
            prime,
            uploads: uploads.0[k].as_chunks().0,
            factors: answers.iter().map(|answer| &answer.0[k][..]).collect(),
            blocks: layout.blocks(),
            taps: layout.taps(),
            width: layout.width,
            out: all.iter_mut().map(|[a, b]| [&mut a[k], &mut b[k]].map(|of| of.as_chunks_mut().0)).collect(),
        });
    }
    all
}

struct Tile<'a> {
    prime: &'a Prime,
    uploads: &'a [Eight],
    /// The factors of each answer.
    factors: Vec<&'a [u64]>,
    blocks: usize,
    taps: usize,
    width: usize,
    out: Vec<[&'a mut [Eight]; 2]>,
}

impl NumberKernel for Tile<'_> {
    type Out = ();
    #[inline(always)]
    fn run<M: Numbers>(self, m: M) {
        match self.width {
            1 => grouped::<M, GROUP, true>(self, m),
            // The vectors of a group share their weights.
            8 => grouped::<M, 1, false>(self, m),
            16 => grouped::<M, 2, false>(self, m),
            _ => grouped::<M, GROUP, false>(self, m),
        }
    }
}

/// A sum of products in two halves.
type SumHalves<V> = [V; 2];

/// The arithmetic modulo p = 2^50 − c.
#[derive(Clone, Copy)]
struct Modulus<M: Numbers> {
    m: M,
    p: M::V,
    /// c; 2^52 modulo p, which is 4 c; and bit masks.
    c: M::V,
    k: M::V,
    bits: M::V,
    low: M::V,
}

impl<M: Numbers> Modulus<M> {
    #[inline(always)]
    fn new(m: M, p: u64) -> Self {
        let c = (1 << BITS) - p;
        let [p, c, k, bits, low] = [p, c, 4 * c, (1 << BITS) - 1, (1 << 52) - 1].map(|x| m.splat(x));
        Modulus { m, p, c, k, bits, low }
    }

    #[inline(always)]
    fn add(self, [low, high]: SumHalves<M::V>, a: M::V, b: M::V) -> SumHalves<M::V> {
        [self.m.low(low, a, b), self.m.high(high, a, b)]
    }

    /// The residue of low + 2^52 high, below p; low < 2^64, high < 2^60.
    #[inline(always)]
    fn residue(self, [low, high]: SumHalves<M::V>) -> M::V {
        let m = self.m;
        let high = m.add(high, m.shr::<52>(low));
        // 2^50 is c: the bits above 50 of the high half, below 2^11, are multiplied by c.
        let high = m.low(m.and(high, self.bits), m.shr::<50>(high), self.c);
        // The bits above 52 of the sum, below 2^50 + 2^32, times 2^52, in two steps: 75 bits, then
        // 46.
        let up = m.high(m.splat(0), high, self.k);
        let sum = m.low(m.low(m.and(low, self.low), high, self.k), up, self.k);
        // Below 2^54, and below 2p after this fold.
        m.less(m.low(m.and(sum, self.bits), m.shr::<50>(sum), self.c), self.p)
    }
}

/// The sums at `G` adjacent vectors; uploads are read once for all answers. `EACH` is whether every
/// point has weights of its own.
#[inline(always)]
fn grouped<M: Numbers, const G: usize, const EACH: bool>(tile: Tile<'_>, m: M) {
    let Tile { prime, uploads, factors, blocks, taps, width, mut out } = tile;
    let (modulus, stride) = (Modulus::new(m, prime.p), 2 * blocks);
    let points = prime.points.as_chunks::<WIDE>().0;
    for from in (0..points.len()).step_by(G) {
        let uploads = &uploads[from * stride..][..G * stride];
        for (of, out) in factors.iter().zip(&mut out) {
            let mut sums = [[m.splat(0); 2]; G];
            for l in 0..taps {
                let mut now = [[m.splat(0); 2]; G];
                for first in (0..blocks).step_by(MANY) {
                    let mut held = [[[m.splat(0); 2]; 2]; G];
                    for b in first..blocks.min(first + MANY) {
                        let shared = if EACH {
                            m.splat(0)
                        } else {
                            m.splat(of[(from * WIDE / width * blocks + b) * taps + l])
                        };
                        for g in 0..G {
                            let own = if EACH {
                                let at = ((from + g) * blocks + b) * WIDE;
                                m.load(of[at..].first_chunk().expect("eight weights"))
                            } else {
                                shared
                            };
                            for half in 0..2 {
                                let x = m.load(&uploads[g * stride + 2 * b + half]);
                                held[g][half] = modulus.add(held[g][half], x, own);
                            }
                        }
                    }
                    for g in 0..G {
                        for half in 0..2 {
                            let [low, high] = held[g][half];
                            now[g][half] = modulus.residue([m.add(low, now[g][half]), high]);
                        }
                    }
                }
                for g in 0..G {
                    let z = m.load(&points[from + g]);
                    for half in 0..2 {
                        sums[g][half] = if l == 0 {
                            now[g][half]
                        } else {
                            modulus.residue(modulus.add([now[g][half], m.splat(0)], sums[g][half], z))
                        };
                    }
                }
            }
            for g in 0..G {
                for half in 0..2 {
                    m.store(sums[g][half], &mut out[half][from + g]);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Residue(u64, SumHalves<Eight>);

    impl NumberKernel for Residue {
        type Out = Eight;
        #[inline(always)]
        fn run<M: Numbers>(self, m: M) -> Eight {
            let Residue(p, halves) = self;
            let mut out = [0; 8];
            m.store(Modulus::new(m, p).residue(halves.map(|half| m.load(&half))), &mut out);
            out
        }
    }

    #[test]
    fn greatest_sums_have_residues_in_every_form() {
        let high = (1 << 60) - 1;
        for k in 0..3 {
            let p = Prime::new(k, 64).p;
            let halves = [
                [u64::MAX, 0, u64::MAX, 0, p, p - 1, (1 << 52) - 1, 1 << 52],
                [high, high, 0, 0, 0, 1, (1 << 50) - 1, 1 << 50],
            ];
            for form in [Madd52::portable(), Madd52::best()] {
                let found = form.run(Residue(p, halves));
                for i in 0..8 {
                    let whole = u128::from(halves[0][i]) + (u128::from(halves[1][i]) << 52);
                    assert_eq!(u128::from(found[i]), whole % u128::from(p), "{i} of {form:?}");
                }
            }
        }
    }
}
