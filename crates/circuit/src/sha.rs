//! The compression functions of SHA-1 and SHA-256 (FIPS 180-4).
//!
//! Wires are those of the published Bristol Fashion `sha256`: input 0 is the 512-bit block, input 1
//! the chaining value. Each is one big-endian number, so that bit `b` of the 32-bit word `k` of `n`
//! is on wire `32 (n−1−k) + b`. The caller pads the message.
//!
//! ```text
//!                 ANDs     AND-depth
//! sha1            11 215   2 165
//! sha256          22 573   1 607
//! sha256, fast    46 344   561
//! ```

use crate::{Bit, Builder, words};

/// The adder of the sums.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Adder {
    /// Carries ripple: the fewest ANDs.
    Small,
    /// Carries are saved until the last sum of a chain, which is a prefix sum: the fewest layers.
    Fast,
}

type ShaWord = Vec<Bit>;

/// The initial hash value of FIPS 180-4, Sec. 5.3.1.
pub const SHA1_START: [u32; 5] = [0x6745_2301, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476, 0xc3d2_e1f0];

/// The initial hash value of FIPS 180-4, Sec. 5.3.3.
pub const SHA256_START: [u32; 8] =
    [0x6a09_e667, 0xbb67_ae85, 0x3c6e_f372, 0xa54f_f53a, 0x510e_527f, 0x9b05_688c, 0x1f83_d9ab, 0x5be0_cd19];

/// The constants of FIPS 180-4, Sec. 4.2.2.
#[rustfmt::skip]
const SHA256_K: [u32; 64] = [
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
];

/// A chaining value as a constant.
#[must_use]
pub fn constant(words: &[u32]) -> Vec<Bit> {
    words.iter().rev().flat_map(|w| words::constant(u128::from(*w), 32)).collect()
}

/// The chaining value after `block`, SHA-1 (Sec. 6.1.2).
///
/// # Panics
/// If `block` does not have 512 bits or `chaining` 160 (the caller's bug).
#[must_use]
pub fn sha1(b: &mut Builder, block: &[Bit], chaining: &[Bit]) -> Vec<Bit> {
    let mut w = split::<16>(block).to_vec();
    for t in 16..80 {
        let x = words::xor(b, &w[t - 3], &w[t - 8]);
        let y = words::xor(b, &w[t - 14], &w[t - 16]);
        w.push(right(&words::xor(b, &x, &y), 31));
    }
    let start = split::<5>(chaining);
    let mut s = start.clone();
    for (t, w) in w.into_iter().enumerate() {
        let [x, y, z] = [&s[1], &s[2], &s[3]];
        let (f, k) = match t / 20 {
            0 => (choose(b, x, y, z), 0x5a82_7999),
            1 => (xor3(b, x, y, z), 0x6ed9_eba1),
            2 => (majority(b, x, y, z), 0x8f1b_bcdc),
            _ => (xor3(b, x, y, z), 0xca62_c1d6),
        };
        // The constant comes first, since its low bits make no carries.
        let a = sum(b, Adder::Small, vec![w, words::constant(k, 32), s[4].clone(), f, right(&s[0], 27)]);
        let [v0, v1, v2, v3, _] = s;
        s = [a, v0, right(&v1, 2), v2, v3];
    }
    let words: Vec<ShaWord> = start.iter().zip(&s).map(|(x, y)| words::add_mod(b, x, y)).collect();
    join(&words)
}

/// The chaining value after `block`, SHA-256 (Sec. 6.2.2). Panics if `block` does not have 512 bits
/// or `chaining` 256.
#[must_use]
pub fn sha256(b: &mut Builder, adder: Adder, block: &[Bit], chaining: &[Bit]) -> Vec<Bit> {
    let mut w = split::<16>(block).to_vec();
    for t in 16..64 {
        let s1 = sigma(b, &w[t - 2], [17, 19], 10);
        let s0 = sigma(b, &w[t - 15], [7, 18], 3);
        w.push(sum(b, adder, vec![s1, w[t - 7].clone(), s0, w[t - 16].clone()]));
    }
    let start = split::<8>(chaining);
    let mut s = start.clone();
    for (w, k) in w.into_iter().zip(SHA256_K) {
        let sum1 = rotations(b, &s[4], [6, 11, 25]);
        let ch = choose(b, &s[4], &s[5], &s[6]);
        let sum0 = rotations(b, &s[0], [2, 13, 22]);
        let maj = majority(b, &s[0], &s[1], &s[2]);
        let t1 = vec![w, words::constant(u128::from(k), 32), s[7].clone(), ch, sum1];
        let [v0, v1, v2, v3, v4, v5, v6, _] = s;
        let (new_e, new_a) = match adder {
            Adder::Small => {
                let t1 = sum(b, adder, t1);
                (sum(b, adder, vec![v3, t1.clone()]), sum(b, adder, vec![t1, maj, sum0]))
            }
            // T1 stays in two words for both sums.
            Adder::Fast => {
                let t1 = save(b, t1, 2);
                let with = |more: Vec<ShaWord>| t1.iter().cloned().chain(more).collect();
                (sum(b, adder, with(vec![v3])), sum(b, adder, with(vec![maj, sum0])))
            }
        };
        s = [new_a, v0, v1, v2, new_e, v4, v5, v6];
    }
    let words: Vec<ShaWord> =
        start.iter().zip(&s).map(|(x, y)| sum(b, adder, vec![x.clone(), y.clone()])).collect();
    join(&words)
}

/// The 32-bit words of a big-endian number.
fn split<const N: usize>(bits: &[Bit]) -> [ShaWord; N] {
    assert_eq!(bits.len(), 32 * N);
    std::array::from_fn(|k| bits[32 * (N - 1 - k)..][..32].to_vec())
}

fn join(words: &[ShaWord]) -> Vec<Bit> {
    words.iter().rev().flatten().copied().collect()
}

/// A word, rotated right.
fn right(x: &[Bit], by: usize) -> ShaWord {
    let mut x = x.to_vec();
    x.rotate_left(by);
    x
}

fn xor3(b: &mut Builder, x: &[Bit], y: &[Bit], z: &[Bit]) -> ShaWord {
    let xy = words::xor(b, x, y);
    words::xor(b, &xy, z)
}

fn rotations(b: &mut Builder, x: &[Bit], by: [usize; 3]) -> ShaWord {
    let [r0, r1, r2] = by.map(|by| right(x, by));
    xor3(b, &r0, &r1, &r2)
}

fn sigma(b: &mut Builder, x: &[Bit], by: [usize; 2], shift: usize) -> ShaWord {
    let [r0, r1] = by.map(|by| right(x, by));
    let mut shifted = x[shift..].to_vec();
    shifted.resize(32, Bit::ZERO);
    xor3(b, &r0, &r1, &shifted)
}

/// Ch: `y` if `x` is 1, otherwise `z`, for each bit.
fn choose(b: &mut Builder, x: &[Bit], y: &[Bit], z: &[Bit]) -> ShaWord {
    (0..32).map(|i| words::mux(b, x[i], &y[i..=i], &z[i..=i])[0]).collect()
}

/// Maj, with one AND for each bit: `x ⊕ (x ⊕ y)(x ⊕ z)`.
fn majority(b: &mut Builder, x: &[Bit], y: &[Bit], z: &[Bit]) -> ShaWord {
    let majority = |b: &mut Builder, x, y, z| {
        let (xy, xz) = (b.xor(x, y), b.xor(x, z));
        let differ = b.and(xy, xz);
        b.xor(x, differ)
    };
    (0..x.len()).map(|i| majority(b, x[i], y[i], z[i])).collect()
}

/// The sum of words modulo 2^32.
fn sum(b: &mut Builder, adder: Adder, terms: Vec<ShaWord>) -> ShaWord {
    match adder {
        Adder::Small => {
            let mut terms = terms.into_iter();
            let first = terms.next().expect("a sum has terms");
            terms.fold(first, |sum, term| words::add_mod(b, &sum, &term))
        }
        Adder::Fast => {
            let [x, y] = <[ShaWord; 2]>::try_from(save(b, terms, 2)).expect("two words are left");
            words::add_fast(b, &x, &y).0
        }
    }
}

/// Carry-save addition: the oldest three words become two words of the same sum, until `left` words
/// remain.
fn save(b: &mut Builder, terms: Vec<ShaWord>, left: usize) -> Vec<ShaWord> {
    let mut terms: std::collections::VecDeque<ShaWord> = terms.into();
    while terms.len() > left {
        let [x, y, z] = std::array::from_fn(|_| terms.pop_front().expect("more than two are left"));
        let mut carry = majority(b, &x, &y, &z);
        carry.insert(0, Bit::ZERO);
        carry.truncate(32);
        terms.push_back(xor3(b, &x, &y, &z));
        terms.push_back(carry);
    }
    terms.into()
}
