//! Compares the kernels of oblivious transfer on every backend with direct definitions over another
//! AES.

use aes::cipher::{BlockCipherEncrypt, KeyInit};
use hushwire_aes::{Aes128, Backend};
use hushwire_block::{Block, as_bytes_mut};

/// A fixed, public pseudo-random stream of blocks.
fn noise(seed: u64, n: usize) -> Vec<Block> {
    let mut s = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut out = vec![Block::ZERO; n];
    for b in as_bytes_mut(&mut out) {
        s ^= s << 13;
        s ^= s >> 7;
        s ^= s << 17;
        *b = (s >> 24) as u8;
    }
    out
}

/// AES-128 under `key`, by another implementation.
fn naive(key: Block) -> impl Fn(Block) -> Block {
    let cipher = aes::Aes128::new(&key.0.into());
    move |x| {
        let mut b = x.0.into();
        cipher.encrypt_block(&mut b);
        Block(b.into())
    }
}

fn number(first: u128, i: usize) -> Block {
    Block::from_u128(first.wrapping_add(i as u128))
}

/// Lengths around every body and tail.
const LENGTHS: [usize; 19] = [0, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 100];
const FIRSTS: [u128; 4] = [0, 0x1234_5678_9abc_def0_1122_3344, (7 << 64) - 6, u128::MAX - 4];

/// `u` and the rows of `v`, each `n` blocks, leaving out leaf `without`.
fn sums(leaves: &[Block], without: Option<usize>, first: u128, n: usize) -> (Vec<Block>, Vec<Vec<Block>>) {
    let mut u = vec![Block::ZERO; n];
    let mut v = vec![u.clone(); leaves.len().ilog2() as usize];
    for (y, leaf) in leaves.iter().enumerate().filter(|(y, _)| Some(*y) != without) {
        let f = naive(*leaf);
        for i in 0..n {
            let r = f(number(first, i));
            u[i] ^= r;
            for (_, row) in v.iter_mut().enumerate().filter(|(b, _)| y >> b & 1 == 1) {
                row[i] ^= r;
            }
        }
    }
    (u, v)
}

fn leaf_sums(k: usize) {
    let leaves = noise(20 + k as u64, 1 << k);
    for first in FIRSTS {
        let (u, v) = sums(&leaves, None, first, 100);
        for backend in Backend::all() {
            let keys: Vec<Aes128> = leaves.iter().map(|leaf| Aes128::on(backend, &leaf.0)).collect();
            let mut punctured = keys.clone();
            punctured[0] = Aes128::on(backend, &[9; 16]);
            for n in LENGTHS {
                let rows: Vec<Block> = v.iter().flat_map(|row| &row[..n]).copied().collect();
                let (mut got_u, mut got_v) = (vec![Block::ONES; n], vec![Block::ONES; k * n]);
                backend.leaf_sums(&keys, first, &mut got_u, &mut got_v);
                assert_eq!(got_u, u[..n], "{backend:?} k = {k} {first:x} {n} blocks");
                assert_eq!(got_v, rows, "{backend:?} k = {k} {first:x} {n} blocks");
                got_v.fill(Block::ONES);
                backend.leaf_sums_punctured(&punctured, first, &mut got_v);
                assert_eq!(got_v, rows, "{backend:?} k = {k} {first:x} {n} blocks, punctured");
            }
        }
    }
}

#[test]
fn sums_over_two_and_four_leaves() {
    leaf_sums(1);
    leaf_sums(2);
}

#[test]
fn sums_over_sixteen_leaves() {
    leaf_sums(4);
}

#[test]
fn sums_over_256_leaves() {
    leaf_sums(8);
}

/// The kernels' invariant: with leaf α missing and place y holding leaf α ⊕ y, the rows differ by u
/// times the bits of α.
#[test]
fn punctured_sums_are_correlated_with_full_ones() {
    let leaves: Vec<Aes128> = noise(30, 16).iter().map(|leaf| Aes128::new(&leaf.0)).collect();
    let backend = Backend::best();
    let n = 37;
    let (mut u, mut v) = (vec![Block::ZERO; n], vec![Block::ZERO; 4 * n]);
    backend.leaf_sums(&leaves, 5, &mut u, &mut v);
    for alpha in 0..16 {
        let mut moved: Vec<Aes128> = (0..16).map(|y| leaves[alpha ^ y].clone()).collect();
        moved[0] = Aes128::new(&[0; 16]);
        let mut w = vec![Block::ZERO; 4 * n];
        backend.leaf_sums_punctured(&moved, 5, &mut w);
        for (i, w) in w.iter().enumerate() {
            assert_eq!(*w, v[i] ^ u[i % n].and_bit(alpha >> (i / n) & 1 == 1), "α = {alpha}, {i}");
        }
    }
}

#[test]
#[should_panic(expected = "8 leaves")]
fn other_numbers_of_leaves_are_refused() {
    let leaves = vec![Aes128::new(&[0; 16]); 8];
    Backend::best().leaf_sums(&leaves, 0, &mut [], &mut []);
}

#[test]
#[should_panic(expected = "a row for every bit")]
fn leaves_need_as_many_rows_as_bits() {
    let leaves = vec![Aes128::new(&[0; 16]); 4];
    Backend::best().leaf_sums(&leaves, 0, &mut [Block::ZERO; 2], &mut [Block::ZERO; 3]);
}

#[test]
fn pads_are_pairs_of_hashes() {
    let (key, delta) = (noise(31, 2)[0], noise(31, 2)[1]);
    let pi = naive(key);
    let q = noise(32, 100);
    let messages: Vec<[Block; 2]> = noise(33, 200).chunks(2).map(|m| [m[0], m[1]]).collect();
    let ccr = |x: Block| pi(x.sigma()) ^ x.sigma();
    let one: Vec<[Block; 2]> = q.iter().map(|q| [ccr(*q), ccr(*q ^ delta)]).collect();
    for first in FIRSTS {
        let tccr = |i: usize, x: Block| pi(pi(x) ^ number(first, i)) ^ pi(x);
        let two: Vec<[Block; 2]> =
            q.iter().enumerate().map(|(i, q)| [tccr(i, *q), tccr(i, *q ^ delta)]).collect();
        for b in Backend::all() {
            let key = Aes128::on(b, &key.0);
            for n in LENGTHS {
                let (q, m) = (&q[..n], &messages[..n]);
                let under = |pads: &[[Block; 2]]| -> Vec<[Block; 2]> {
                    pads.iter().zip(m).map(|(p, m)| [p[0] ^ m[0], p[1] ^ m[1]]).collect()
                };
                let mut got = vec![[Block::ONES; 2]; n];
                b.pads_ccr(&key, delta, q, &mut got);
                assert_eq!(got, one[..n], "{b:?} {n} OTs");
                b.pads_ccr_xor(&key, delta, q, m, &mut got);
                assert_eq!(got, under(&one[..n]), "{b:?} {n} OTs");
                b.pads_tccr(&key, first, delta, q, &mut got);
                assert_eq!(got, two[..n], "{b:?} {first:x} {n} OTs");
                b.pads_tccr_xor(&key, first, delta, q, m, &mut got);
                assert_eq!(got, under(&two[..n]), "{b:?} {first:x} {n} OTs");
            }
        }
    }
}

#[test]
fn lpn_adds_ten_entries_to_every_output() {
    let key = noise(34, 1)[0];
    let pi = naive(key);
    let back = noise(35, 100);
    for size in [2, 16, 1 << 10] {
        let table = noise(36, size);
        for first in FIRSTS {
            let words: Vec<usize> = (0..250)
                .flat_map(|i| (0..4).map(move |j| (i, j)))
                .map(|(i, j)| (pi(number(first, i)).to_u128() >> (32 * j)) as u32 as usize)
                .collect();
            let want: Vec<Block> = (0..100)
                .map(|j| words[10 * j..10 * j + 10].iter().fold(back[j], |sum, w| sum ^ table[w % size]))
                .collect();
            for b in Backend::all() {
                let key = Aes128::on(b, &key.0);
                for n in LENGTHS {
                    let mut got = back[..n].to_vec();
                    b.lpn_accumulate(&key, first, &table, &mut got);
                    assert_eq!(got, want[..n], "{b:?} {first:x} {size} entries, {n} outputs");
                }
                // Calls of even lengths continue each other.
                let mut got = back.clone();
                let (head, tail) = got.split_at_mut(34);
                b.lpn_accumulate(&key, first, &table, head);
                b.lpn_accumulate(&key, first.wrapping_add(85), &table, tail);
                assert_eq!(got, want, "{b:?} {first:x} {size} entries, in two calls");
            }
        }
    }
}

#[test]
#[should_panic(expected = "3 entries")]
fn lpn_refuses_other_tables() {
    Backend::best().lpn_accumulate(&Aes128::new(&[0; 16]), 0, &[Block::ZERO; 3], &mut []);
}
