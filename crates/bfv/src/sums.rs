//! Sums of products of transformed uploads and weights, over all uploads of a tile.
//!
//! The value of weights at a point z is Σ_l z^(w − 1 − l) Q_l(z^W), and Q_l(z^W) is the same at W points side by side. Values of uploads
//! stand in the order in which they are read: at eight points, of all uploads, of both halves.

use crate::{
    BfvError,
    cipher::{Ground, Poly},
    conv::{LEAST, Layout},
    ntt::{Doubles, Prime, double, reduced, times},
};
use hushwire_simd::{Kernel, Lanes};
use zeroize::Zeroizing;

/// Points of a vector.
const WIDE: usize = LEAST;
/// LOCAL: vectors of which uploads stay in the cache while all answers' weights pass.
const STRIP: usize = 64;
/// Products that are summed before a sum is reduced: each is below p, so that the sum stays below 2^53.
const FEW: usize = 6;

/// Transformed uploads of a tile, of each prime.
pub(crate) struct Uploads(Vec<Vec<f64>>);

/// Transformed weights of an answer, of each prime: at each run of points and of each upload, those of all columns. Runs of one point have eight values side by
/// side.
pub(crate) struct Factors(Vec<Zeroizing<Vec<f64>>>);

impl Uploads {
    /// Of a tile's pairs as they were sent, one behind the other.
    pub(crate) fn read(ground: &Ground, layout: &Layout, sent: &[u8]) -> Result<Self, BfvError> {
        let pairs = sent.chunks_exact(ground.pair_bytes());
        let blocks = pairs.len();
        let mut all = vec![vec![0.0; 2 * blocks * layout.n]; ground.primes.len()];
        for (b, pair) in pairs.enumerate() {
            for (half, polys) in ground.read("an upload", pair)?.iter().enumerate() {
                for (of, poly) in all.iter_mut().zip(polys) {
                    let places =
                        of.as_chunks_mut::<WIDE>().0.iter_mut().skip(2 * b + half).step_by(2 * blocks);
                    for (to, values) in places.zip(poly.as_chunks::<WIDE>().0) {
                        *to = values.map(double);
                    }
                }
            }
        }
        Ok(Uploads(all))
    }
}

impl Factors {
    pub(crate) fn bytes(&self) -> usize {
        self.0.iter().map(|of| size_of_val(&of[..])).sum()
    }

    pub(crate) fn new(ground: &Ground, layout: &Layout, weights: &[i64], group: usize) -> Self {
        let (blocks, taps) = (layout.blocks(), layout.taps());
        let zeros = || Zeroizing::new(vec![0.0; layout.n / layout.width * blocks * taps]);
        let mut of: Vec<_> = ground.primes.iter().map(|_| zeros()).collect();
        for block in 0..blocks {
            for (l, column) in Zeroizing::new(layout.weights(weights, block, group)).iter().enumerate() {
                for (of, values) in of.iter_mut().zip(&*Zeroizing::new(ground.transformed(column))) {
                    if layout.width == 1 {
                        for (j, values) in values.chunks_exact(WIDE).enumerate() {
                            let to = &mut of[(j * blocks + block) * WIDE..][..WIDE];
                            to.iter_mut().zip(values).for_each(|(to, x)| *to = double(*x));
                        }
                        continue;
                    }
                    for (run, x) in values.iter().enumerate() {
                        of[(run * blocks + block) * taps + l] = double(*x);
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
    for (k, prime) in ground.primes.iter().enumerate() {
        for from in (0..layout.n / WIDE).step_by(STRIP) {
            for (answer, [a, b]) in answers.iter().zip(&mut all) {
                ground.backend.run(Strip {
                    prime,
                    uploads: &uploads.0[k],
                    factors: &answer.0[k],
                    blocks: layout.blocks(),
                    taps: layout.taps(),
                    width: layout.width,
                    vectors: from..(from + STRIP).min(layout.n / WIDE),
                    out: [&mut a[k], &mut b[k]],
                });
            }
        }
    }
    all
}

struct Strip<'a> {
    prime: &'a Prime,
    uploads: &'a [f64],
    factors: &'a [f64],
    blocks: usize,
    taps: usize,
    width: usize,
    vectors: std::ops::Range<usize>,
    out: [&'a mut Vec<u64>; 2],
}

impl Kernel for Strip<'_> {
    type Out = ();
    #[inline(always)]
    fn run<L: Lanes>(self, _: L) {
        if L::BYTES == 64 && !L::SOFT { wide(self) } else { narrow(self) }
    }
}

type Vector = [f64; WIDE];

#[inline(always)]
fn add(of: Doubles, sums: &mut [Vector; 2], pair: &[f64], v: &Vector) {
    for (sum, x) in sums.iter_mut().zip(pair.as_chunks::<WIDE>().0) {
        for i in 0..WIDE {
            sum[i] += of.times(v[i], x[i]);
        }
    }
}

#[inline(always)]
fn reduce(of: Doubles, sums: &mut [Vector; 2]) {
    for sum in sums {
        for i in 0..WIDE {
            sum[i] = of.small(sum[i]);
        }
    }
}

#[inline(always)]
fn wide(strip: Strip<'_>) {
    let Strip { prime, uploads, factors, blocks, taps, width, vectors, out: [a, b] } = strip;
    let of = Doubles::new(prime.p);
    for j in vectors {
        let z: &Vector = prime.points[j * WIDE..].first_chunk().expect("a vector of points");
        let uploads = &uploads[j * blocks * 2 * WIDE..][..blocks * 2 * WIDE];
        let mut sums = [[0.0; WIDE]; 2];
        if width == 1 {
            let factors = factors[j * blocks * WIDE..][..blocks * WIDE].as_chunks::<WIDE>().0;
            for (pairs, factors) in uploads.chunks(FEW * 2 * WIDE).zip(factors.chunks(FEW)) {
                for (pair, v) in pairs.chunks_exact(2 * WIDE).zip(factors) {
                    add(of, &mut sums, pair, v);
                }
                reduce(of, &mut sums);
            }
        } else {
            let factors = &factors[j * WIDE / width * blocks * taps..][..blocks * taps];
            for (pairs, factors) in uploads.chunks(FEW * 2 * WIDE).zip(factors.chunks(FEW * taps)) {
                for (pair, q) in pairs.chunks_exact(2 * WIDE).zip(factors.chunks_exact(taps)) {
                    let mut v = [q[0]; WIDE];
                    for q in &q[1..] {
                        for i in 0..WIDE {
                            v[i] = of.times(v[i], z[i]) + q;
                        }
                    }
                    add(of, &mut sums, pair, &v);
                }
                reduce(of, &mut sums);
            }
        }
        for (out, sum) in [&mut *a, &mut *b].into_iter().zip(&sums) {
            let out = &mut out[j * WIDE..][..WIDE];
            for i in 0..WIDE {
                out[i] = of.residue(sum[i]);
            }
        }
    }
}

fn narrow(strip: Strip<'_>) {
    let Strip { prime, uploads, factors, blocks, taps, width, vectors, out } = strip;
    let p = prime.p;
    for at in vectors.start * WIDE..vectors.end * WIDE {
        let (j, i) = (at / WIDE, at % WIDE);
        let z = prime.points[at] as u64;
        let mut sums = [0; 2];
        for block in 0..blocks {
            let v = if width == 1 {
                factors[(j * blocks + block) * WIDE + i] as u64
            } else {
                let q = &factors[(at / width * blocks + block) * taps..][..taps];
                q.iter().fold(0, |v, q| reduced(times(v, z, p) + *q as u64, p))
            };
            for (half, sum) in sums.iter_mut().enumerate() {
                let x = uploads[((j * blocks + block) * 2 + half) * WIDE + i] as u64;
                *sum = reduced(*sum + times(v, x, p), p);
            }
        }
        for k in 0..2 {
            out[k][at] = sums[k];
        }
    }
}
