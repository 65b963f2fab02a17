//! The AES S-box as circuits: those of Boyar and Peralta, and a table lookup by the characteristic
//! vector of a byte.
//!
//! A batch of `n` bytes (a multiple of 8) is eight segments of `p = n/8` bytes. Bit `j` of byte `i`
//! of plane `b` is bit `b` of byte `j·p + i` of the batch, so that nothing depends on a vector's
//! width. The message of a layer is the output planes of its ANDs, one after the other, in the
//! circuit's order.

use crate::Sbox;
use crate::slots::{Slots, load_part, store_part};
use hushwire_circuit::{Bit, Builder, Layered, Slot};
use hushwire_simd::sbox::{self, Gates};
use hushwire_simd::{Kernel, Lanes};
use std::sync::LazyLock;

/// Records the S-box without its NOTs: their constant 0x63 is part of the round key.
struct WithoutNot(Builder);

impl Gates for WithoutNot {
    type W = Bit;
    fn xor(&mut self, a: Bit, b: Bit) -> Bit {
        self.0.xor(a, b)
    }
    fn and(&mut self, a: Bit, b: Bit) -> Bit {
        self.0.and(a, b)
    }
    fn not(&mut self, a: Bit) -> Bit {
        a
    }
}

fn byte(builder: &mut Builder) -> [Bit; 8] {
    builder.input(8).try_into().expect("eight bits")
}

static BP32: LazyLock<Layered> = LazyLock::new(|| {
    let mut g = WithoutNot(Builder::new());
    let input = byte(&mut g.0);
    let output = sbox::forward(&mut g, input);
    Layered::new(&g.0.finish(&[output.to_vec()]))
});

static DEPTH4: LazyLock<Layered> = LazyLock::new(|| {
    let mut g = WithoutNot(Builder::new());
    let input = byte(&mut g.0);
    let output = sbox::forward_depth4(&mut g, input);
    Layered::new(&g.0.finish(&[output.to_vec()]))
});

/// The circuit of a Boolean S-box; `None` for the others.
pub(crate) fn circuit(sbox: Sbox) -> Option<&'static Layered> {
    match sbox {
        Sbox::Bp32 => Some(&BP32),
        Sbox::Depth4 => Some(&DEPTH4),
        Sbox::Tower | Sbox::Gf256 | Sbox::Lut256 => None,
    }
}

/// Maps eight bits to their characteristic vector: output `j` is 1 if the byte is `j`. 247 ANDs,
/// AND depth 3.
pub(crate) static ONE_HOT: LazyLock<Layered> = LazyLock::new(|| {
    let mut g = Builder::new();
    let input = byte(&mut g);
    let pairs: Vec<Vec<Bit>> = input.chunks(2).map(|b| of_pair(&mut g, b[0], b[1])).collect();
    let low = outer(&mut g, &pairs[0], &pairs[1]);
    let high = outer(&mut g, &pairs[2], &pairs[3]);
    let all = outer(&mut g, &low, &high);
    Layered::new(&g.finish(&[all]))
});

fn of_pair(g: &mut Builder, b0: Bit, b1: Bit) -> Vec<Bit> {
    let both = g.and(b0, b1);
    let (one, two) = (g.xor(b0, both), g.xor(b1, both));
    let any = g.xor(b0, two);
    vec![g.not(any), one, two, both]
}

/// The characteristic vector of `(u, v)`, where `u` has the lower digits: entry `v·|u| + u`. The
/// entries of each vector sum to 1, which saves a row and a column of products.
fn outer(g: &mut Builder, u: &[Bit], v: &[Bit]) -> Vec<Bit> {
    let (m, k) = (u.len() - 1, v.len() - 1);
    let mut out = vec![Bit::ZERO; u.len() * v.len()];
    for j in 0..k {
        for i in 0..m {
            out[j * u.len() + i] = g.and(u[i], v[j]);
        }
        // The last entry of the row is v_j minus all others.
        let row = (0..m).fold(v[j], |sum, i| g.xor(sum, out[j * u.len() + i]));
        out[j * u.len() + m] = row;
    }
    for i in 0..=m {
        let column = (0..k).fold(u[i], |sum, j| g.xor(sum, out[j * u.len() + i]));
        out[k * u.len() + i] = column;
    }
    out
}

/// For each output bit, the bytes for which the S-box (without 0x63) sets it.
static ONES: LazyLock<[Vec<u8>; 8]> = LazyLock::new(|| {
    struct Plain;
    impl Gates for Plain {
        type W = bool;
        fn xor(&mut self, a: bool, b: bool) -> bool {
            a ^ b
        }
        fn and(&mut self, a: bool, b: bool) -> bool {
            a & b
        }
        fn not(&mut self, a: bool) -> bool {
            a
        }
    }
    let of = |x: u8| sbox::forward(&mut Plain, std::array::from_fn(|b| x >> b & 1 == 1));
    std::array::from_fn(|b| (0..=255).filter(|x| of(*x)[b]).collect())
});

/// Computes S-box outputs from shared characteristic vectors of random bytes `r` and the public
/// bytes `d = x ⊕ r`: `S(x) = Σ_k S(k)·e_{k ⊕ d}`. This is local.
pub(crate) struct Lookup<'a> {
    /// The vectors, after a run of [`ONE_HOT`].
    pub vectors: &'a Slots,
    /// The public bytes `d`.
    pub opened: &'a [u8],
    pub output: [&'a mut [u8]; 2],
}

impl Kernel for Lookup<'_> {
    type Out = ();
    #[inline(always)]
    fn run<L: Lanes>(self, l: L) {
        let (plane, slots): (usize, &[Slot]) = (self.opened.len() / 8, ONE_HOT.output_slots());
        let mut e = [l.zero(); 256];
        for at in (0..plane).step_by(L::BYTES) {
            let mut d = [l.zero(); 8];
            for j in 0..8 {
                d[j] = load_part(l, &self.opened[j * plane + at..(j + 1) * plane]);
            }
            l.slice(&mut d);
            for h in 0..2 {
                for k in 0..256 {
                    e[k] = self.vectors.vector(l, slots[k], h, at);
                }
                shift(l, &mut e, &d);
                let mut y = [l.zero(); 8];
                for (y, ones) in y.iter_mut().zip(ONES.iter()) {
                    for &k in ones {
                        *y = l.xor(*y, e[usize::from(k)]);
                    }
                }
                l.slice(&mut y);
                for j in 0..8 {
                    store_part(l, y[j], &mut self.output[h][j * plane + at..(j + 1) * plane]);
                }
            }
        }
    }
}

/// Turns `e_k` into `e_{k ⊕ d}`: each bit of the public `d` decides whether pairs of entries are
/// swapped.
#[inline(always)]
fn shift<L: Lanes>(l: L, e: &mut [L::V; 256], d: &[L::V; 8]) {
    for (b, d) in d.iter().enumerate() {
        for k in 0..256 {
            if k >> b & 1 == 0 {
                let other = k | 1 << b;
                let swap = l.and(l.xor(e[k], e[other]), *d);
                e[k] = l.xor(e[k], swap);
                e[other] = l.xor(e[other], swap);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn circuits_have_the_published_sizes() {
        let layers = |c: &Layered| -> Vec<usize> { c.layers().iter().map(|l| l.ands.len()).collect() };
        assert_eq!((BP32.ands(), BP32.depth()), (32, 6));
        assert_eq!((DEPTH4.ands(), DEPTH4.depth()), (34, 4));
        assert_eq!(layers(&ONE_HOT), [4, 18, 225, 0]);
    }
}
