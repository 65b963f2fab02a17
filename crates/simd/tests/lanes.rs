//! Every token agrees with the portable form on every operation, and the portable form agrees with
//! FIPS-197.

use hushwire_simd::bytes::{ByteField, ByteKernel, Gfni, Sliced, dispatch_bytes};
use hushwire_simd::clmul::Clmul;
use hushwire_simd::{Kernel, Lanes, Portable, Tier, cpu, dispatch};

/// A fixed, public pseudo-random byte stream.
fn noise(seed: u64, n: usize) -> Vec<u8> {
    let mut s = seed | 1;
    (0..n)
        .map(|_| {
            s ^= s << 13;
            s ^= s >> 7;
            s ^= s << 17;
            (s >> 24) as u8
        })
        .collect()
}

/// Reverses the bytes of each word, through memory of words.
#[inline(always)]
fn words<L: Lanes>(l: L, v: L::V) -> L::V {
    let mut words = [0; 8];
    l.store64(v, &mut words);
    words.iter_mut().for_each(|word| *word = word.swap_bytes());
    l.load64(&words)
}

/// All operations on 64 bytes, as bytes, in a fixed order.
struct Every<'a>(&'a [u8], &'a [u8]);

impl Kernel for Every<'_> {
    const GFNI: bool = true;
    type Out = Vec<Vec<u8>>;
    #[inline(always)]
    fn run<L: Lanes>(self, l: L) -> Vec<Vec<u8>> {
        let mut out = vec![vec![0; 64]; 35];
        for o in (0..64).step_by(L::BYTES) {
            let (a, b) = (l.load(&self.0[o..]), l.load(&self.1[o..]));
            let k = l.splat(self.1[..16].try_into().unwrap());
            let mut two = [a, b];
            let keys = [k, a, b, k, a, b, k, a, b, k, a];
            l.encrypt(&keys, &mut two);
            let mut masked = [a, b];
            l.encrypt_xor(&keys, &[b, k], &mut masked);
            let mut sum = [a, b];
            l.encrypt_sum(&keys, &[b, k, a, b, k, a, b, k, a, b, k], &mut sum);
            let (u8s, u16s, u32s, u64s) =
                (l.unpack::<8>(a, b), l.unpack::<16>(a, b), l.unpack::<32>(a, b), l.unpack::<64>(a, b));
            let mut apart = [0; 256];
            l.store_strided(a, &mut apart, 48);
            assert_eq!(self.0[o + L::BYTES - 16..o + L::BYTES], apart[48 * (L::N - 1)..][..16]);
            let all = [
                l.xor(a, b),
                l.and(a, b),
                l.or(a, b),
                l.andnot(a, b),
                l.shr64::<5>(a),
                l.shl64::<9>(a),
                l.shr64_by(a, 5),
                l.shl64_by(a, 63),
                l.or(l.shr64_by(a, 0), l.shl64_by(a, 64)),
                l.shr64_by(a, 64),
                words(l, a),
                l.add64(a, b),
                l.shuffle(a, b),
                l.enc(a, b),
                l.enc_last(a, b),
                l.gf8_mul(a, b),
                l.gf8_affine(a, 0x8f1e_3c78_f0e1_c387),
                l.zero(),
                k,
                two[0],
                two[1],
                masked[0],
                masked[1],
                sum[0],
                sum[1],
                u8s.0,
                u8s.1,
                u16s.0,
                u16s.1,
                u32s.0,
                u32s.1,
                u64s.0,
                u64s.1,
                l.load_strided(&apart, 48),
                l.gf8_affine_each(a, b),
            ];
            for (dst, v) in out.iter_mut().zip(all) {
                l.store(v, &mut dst[o..]);
            }
        }
        out
    }
}

#[test]
fn every_tier_and_capability_agrees_with_portable() {
    for seed in 0..50 {
        let (a, b) = (noise(seed, 64), noise(seed + 1000, 64));
        let want = Every(&a, &b).run(Portable);
        for &tier in cpu().tiers() {
            for gfni in [false, true] {
                let got = dispatch(tier, gfni, Every(&a, &b));
                assert_eq!(got, want, "{tier} gfni={gfni}");
            }
        }
    }
}

/// Exchanges of bytes and words between two vectors.
struct Traded<'a>(&'a [u8]);

impl Kernel for Traded<'_> {
    const GFNI: bool = true;
    type Out = ();
    #[inline(always)]
    fn run<L: Lanes>(self, l: L) {
        let (a, b) = (l.load(self.0), l.load(&self.0[64..]));
        let ((x, y), (even, odd)) = (l.trade8(a, b), l.unzip_turned(a, b));
        let halves = l.load_halves(&self.0[..7 * 9 + 31 + L::BYTES / 2], 9, 31);
        let mut out = [0; 768];
        for (v, out) in [x, y, even, odd].into_iter().chain(halves).zip(out.chunks_exact_mut(64)) {
            l.store(v, out);
        }
        for i in 0..L::BYTES {
            let from = 64 * (i % 2) + (i & !1);
            assert_eq!((out[i], out[64 + i]), (self.0[from], self.0[from + 1]));
            for k in 0..8 {
                let half = if i < L::BYTES / 2 { i } else { 31 + i - L::BYTES / 2 };
                assert_eq!(out[256 + 64 * k + i], self.0[9 * k + half]);
            }
        }
        for i in 0..L::N {
            for j in 0..4 {
                let to = 4 * (L::N * j + i);
                for odd in 0..2 {
                    // A single lane has no odd neighbour: the second vector's lane takes that
                    // place.
                    let lane = 2 * i + odd;
                    let from = match L::N {
                        1 => 64 * odd,
                        n => 64 * (lane / n) + 16 * (lane % n),
                    };
                    assert_eq!(out[128 + 64 * odd + to..][..4], self.0[from + 4 * j..][..4]);
                }
            }
        }
    }
}

#[test]
fn trades_and_turns() {
    for &tier in cpu().tiers() {
        dispatch(tier, false, Traded(&noise(23, 128)));
    }
}

/// Halves whose last byte is missing, and halves far outside the slice.
struct TooShort<'a>(&'a [u8], usize, usize);

impl Kernel for TooShort<'_> {
    const GFNI: bool = true;
    type Out = ();
    #[inline(always)]
    fn run<L: Lanes>(self, l: L) {
        let end = (7 * 9 + 31 + L::BYTES / 2 - 1).min(self.0.len());
        let _ = l.load_halves(&self.0[..end], self.1, self.2);
    }
}

#[test]
fn halves_outside_the_slice_are_refused() {
    for &tier in cpu().tiers() {
        for (stride, apart) in [(9, 31), (usize::MAX / 4, 31), (9, usize::MAX - 70), (0, 200)] {
            let bytes = noise(25, 128);
            let load = || dispatch(tier, false, TooShort(&bytes, stride, apart));
            assert!(std::panic::catch_unwind(load).is_err(), "{tier}, {stride}, {apart}");
        }
    }
}

/// 128-bit lanes of two vectors, zipped and back.
struct Zipped<'a>(&'a [u8]);

impl Kernel for Zipped<'_> {
    const GFNI: bool = true;
    type Out = ();
    #[inline(always)]
    fn run<L: Lanes>(self, l: L) {
        let (a, b) = (l.load(self.0), l.load(&self.0[64..]));
        let (x, y) = l.zip(a, b);
        let (back_a, back_b) = l.unzip(x, y);
        let mut out = [0; 256];
        for (v, out) in [x, y, back_a, back_b].into_iter().zip(out.chunks_exact_mut(64)) {
            l.store(v, out);
        }
        for i in 0..2 * L::N {
            let (from, at) = (64 * (i % 2) + 16 * (i / 2), 64 * (i / L::N) + 16 * (i % L::N));
            assert_eq!(out[at..at + 16], self.0[from..from + 16]);
        }
        assert_eq!(out[128..128 + L::BYTES], self.0[..L::BYTES]);
        assert_eq!(out[192..192 + L::BYTES], self.0[64..64 + L::BYTES]);
    }
}

#[test]
fn zipping_takes_lanes_in_turns_and_unzipping_undoes_it() {
    for &tier in cpu().tiers() {
        dispatch(tier, false, Zipped(&noise(21, 128)));
    }
}

#[test]
fn unpack_interleaves_inside_each_lane() {
    let a: Vec<u8> = (0..64).collect();
    let b: Vec<u8> = (64..128).collect();
    let (lo, hi) = Portable.unpack::<8>(Portable.load(&a), Portable.load(&b));
    let mut out = [0; 64];
    Portable.store(lo, &mut out);
    assert_eq!(out[..4], [0, 64, 1, 65]);
    assert_eq!(out[16..20], [16, 80, 17, 81]);
    Portable.store(hi, &mut out);
    assert_eq!(out[..4], [8, 72, 9, 73]);
}

#[test]
fn fips_197_appendix_b_round_by_round() {
    // The start of round 1, its round key, and the start of round 2.
    let start: [u8; 16] = hex("193de3bea0f4e22b9ac68d2ae9f84808");
    let key: [u8; 16] = hex("a0fafe1788542cb123a339392a6c7605");
    let next: [u8; 16] = hex("a49c7ff2689f352b6b5bea43026a5049");
    struct Round([u8; 16], [u8; 16]);
    impl Kernel for Round {
        const GFNI: bool = true;
        type Out = [u8; 16];
        #[inline(always)]
        fn run<L: Lanes>(self, l: L) -> [u8; 16] {
            let mut out = [0; 64];
            l.store(l.enc(l.splat(&self.0), l.splat(&self.1)), &mut out);
            out[..16].try_into().unwrap()
        }
    }
    for &tier in cpu().tiers() {
        assert_eq!(dispatch(tier, true, Round(start, key)), next, "{tier}");
    }
}

fn hex(s: &str) -> [u8; 16] {
    std::array::from_fn(|i| u8::from_str_radix(&s[2 * i..2 * i + 2], 16).unwrap())
}

/// x^254, then the affine map: the S-box as FIPS-197 defines it, and a permuted copy.
struct ByDefinition<'a>(&'a [u8]);

impl ByteKernel for ByDefinition<'_> {
    type Out = Vec<u8>;
    #[inline(always)]
    fn run<F: ByteField>(self, f: F) -> Vec<u8> {
        let mut out = vec![0; 2 * self.0.len()];
        let (sbox, turned) = out.split_at_mut(self.0.len());
        let idx = std::array::from_fn(|i| (i as u8 + 5) & 15);
        for o in (0..self.0.len()).step_by(F::BYTES) {
            let x = f.load(&self.0[o..]);
            let inv = (0..6).fold(f.mul(x, x), |acc, _| f.mul(f.mul(acc, x), f.mul(acc, x)));
            f.store(f.xor(f.linear(inv, 0xf1e3_c78f_1f3e_7cf8), f.splat(&[0x63; 16])), &mut sbox[o..]);
            f.store(f.permute(x, &idx), &mut turned[o..]);
        }
        out
    }
}

#[test]
fn byte_fields_agree_and_give_the_sbox() {
    let bytes: Vec<u8> = (0..1024).map(|i| i as u8).collect();
    let want = ByDefinition(&bytes).run(Gfni(Portable));
    assert_eq!(want[..4], [0x63, 0x7c, 0x77, 0x7b], "FIPS-197 figure 7");
    assert_eq!(want[0x53], 0xed, "FIPS-197 section 5.1.1");
    assert_eq!(ByDefinition(&bytes).run(Sliced(Portable)), want);
    for &tier in cpu().tiers() {
        for gfni in [false, true] {
            assert_eq!(dispatch_bytes(tier, gfni, ByDefinition(&bytes)), want, "{tier} gfni={gfni}");
        }
    }
}

#[test]
fn clmul_forms_agree() {
    let n = noise(9, 16 * 200);
    for c in n.chunks_exact(16) {
        let (a, b) =
            (u64::from_le_bytes(c[..8].try_into().unwrap()), u64::from_le_bytes(c[8..].try_into().unwrap()));
        for form in Clmul::all() {
            assert_eq!(form.mul(a, b), Clmul::portable().mul(a, b), "{form:?}");
        }
    }
    assert_eq!(Clmul::all().first(), Some(&Clmul::portable()));
    assert_eq!(Clmul::all().last(), Some(&Clmul::best()));
    assert_eq!(Clmul::portable().mul(3, 3), 5);
}

#[test]
fn clmul_inner_products_agree() {
    let n = noise(11, 32 * 40);
    let words: Vec<u128> = n.chunks_exact(16).map(|c| u128::from_le_bytes(c.try_into().unwrap())).collect();
    for len in 0..=40 {
        let (a, b) = (&words[..len], &words[40..40 + len]);
        for form in Clmul::all() {
            assert_eq!(form.dot(a, b), Clmul::portable().dot(a, b), "{form:?}");
        }
    }
    assert_eq!(Clmul::best().dot(&[1 << 127], &[1 << 127]), [0, 1 << 126]);
    assert_eq!(Clmul::portable().dot(&[3 << 63, 1], &[1 << 64, 0]), [1 << 127, 1]);
}

#[test]
fn tier_names_round_trip_and_unknown_ones_are_explained() {
    for t in Tier::ALL {
        assert_eq!(t.name().parse(), Ok(t));
    }
    let e = "avx9".parse::<Tier>().unwrap_err();
    assert!(e.to_string().contains("vaes512"), "{e}");
}

/// Blocks at pairs of indices, one vector after the other.
struct Pairs<'a>(&'a [[u8; 16]], &'a [[u32; 2]]);

impl Kernel for Pairs<'_> {
    const GFNI: bool = true;
    type Out = Vec<[[u8; 16]; 2]>;
    fn run<L: Lanes>(self, l: L) -> Self::Out {
        let mut out = vec![];
        for at in self.1.chunks_exact(L::N) {
            let (a, b) = l.load_pairs(self.0, at);
            let (mut x, mut y) = ([0; 64], [0; 64]);
            l.store(a, &mut x);
            l.store(b, &mut y);
            let blocks = |bytes: [u8; 64]| bytes.as_chunks::<16>().0[..L::N].to_vec();
            out.extend(blocks(x).into_iter().zip(blocks(y)).map(|(a, b)| [a, b]));
        }
        out
    }
}

#[test]
fn pairs_of_blocks_come_from_where_their_numbers_say() {
    let blocks: Vec<[u8; 16]> = (0..9u8).map(|i| std::array::from_fn(|j| 16 * i + j as u8)).collect();
    let at: Vec<[u32; 2]> = (0..16).map(|i| [i * 5 % 9, i * i % 9]).collect();
    let expected: Vec<_> = at.iter().map(|at| at.map(|i| blocks[i as usize])).collect();
    for tier in cpu().tiers() {
        assert_eq!(dispatch(*tier, true, Pairs(&blocks, &at)), expected, "{tier}");
        for (place, bad) in [(0, 9), (3, u32::MAX)] {
            let mut at = at.clone();
            at[place][1] = bad;
            let run = || dispatch(*tier, true, Pairs(&blocks, &at));
            assert!(std::panic::catch_unwind(run).is_err(), "{tier}: block {bad} of 9");
        }
    }
}
