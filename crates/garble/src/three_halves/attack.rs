//! A passive evaluator that tries to learn Δ: it removes all that it knows from a table entry, and
//! checks whether Δ has cancelled.
//!
//! A table entry, less the hashes and labels that the evaluator holds, is h(X ⊕ Δ) ⊕ c Δ_L ⊕ c'
//! Δ_R. With σ(X)_L added, it is AES_{S⊕t}(σ(X ⊕ Δ))_L ⊕ M Δ, with [`super`]'s M. If M is 0, the
//! evaluator has half a ciphertext under a key that it knows, and finds Δ by guessing the other
//! half.

use super::{plain, sigma, tests::Gates};
use crate::rig::oracle::{aes, aes_inverse};
use hushwire_aes::Backend;
use hushwire_block::Block;
use hushwire_simd::{Kernel, Lanes};

/// The σ of the kernels.
struct Sigma(Block);

impl Kernel for Sigma {
    type Out = Block;
    fn run<L: Lanes>(self, l: L) -> Block {
        let mut bytes = [0; 64];
        l.store(sigma::sigma(l, l.splat(&self.0.0)), &mut bytes);
        Block(*bytes.first_chunk().expect("64 bytes"))
    }
}

fn sigma_of(x: Block) -> Block {
    Backend::best().run(Sigma(x))
}

fn left(x: Block) -> u64 {
    plain::halves(x)[0]
}

/// c Δ_L ⊕ c' Δ_R of (c, c').
fn partial(c: [bool; 2], delta: Block) -> u64 {
    plain::product([c[0], c[1], false, false], delta, Block::ZERO)
}

/// M Δ.
fn masking(c: [bool; 2], delta: Block) -> u64 {
    left(sigma_of(delta)) ^ partial(c, delta)
}

/// The images of the unit vectors under a linear map of blocks, each with its preimage, in echelon
/// form.
fn echelon(map: impl Fn(Block) -> u128) -> Vec<[u128; 2]> {
    let mut rows = vec![];
    for k in 0..128 {
        let row = reduced(&rows, [map(Block::from_u128(1 << k)), 1 << k]);
        if row[0] != 0 {
            rows.push(row);
        }
    }
    rows
}

/// Reduces a row by the leading bits of all images.
fn reduced(rows: &[[u128; 2]], row: [u128; 2]) -> [u128; 2] {
    rows.iter().fold(row, |[x, y], [image, of]| if x ^ image < x { [x ^ image, y ^ of] } else { [x, y] })
}

/// The rank over GF(2) of a linear map of 128 bits.
fn rank(map: impl Fn(Block) -> u128) -> usize {
    echelon(map).len()
}

const COMBINATIONS: [[bool; 2]; 4] = [[false; 2], [false, true], [true, false], [true; 2]];

#[test]
fn sigma_is_the_same_everywhere() {
    for (k, backend) in Backend::all().into_iter().enumerate() {
        for i in 0..128 {
            let x = Block::from_u128((1 << i | (1 << ((i + k) % 128))) ^ (i as u128) << 60);
            assert_eq!(backend.run(Sigma(x)), plain::sigma(x), "{backend:?}: {x:?}");
        }
    }
    // x times x^63 is x^4 + x^3 + x + 1, in both halves.
    assert_eq!(plain::sigma(Block::from_u128(1 << 63 | 1 << 127)), Block::from_u128(0x1b << 64 | 0x1b));
}

#[test]
fn nothing_that_the_tables_add_cancels_sigma() {
    let (halves, all) = (plain::halves, |[l, r]: [u64; 2]| u128::from(r) << 64 | u128::from(l));
    for c in COMBINATIONS {
        for half in 0..2 {
            let of_half = |x| halves(sigma_of(x))[half] ^ partial(c, x);
            assert_eq!(rank(|x| of_half(x).into()), 64, "half {half} with {c:?}");
        }
        // The control bit m is bit 0 of the right half.
        let with_m = |x| all([masking(c, x), halves(sigma_of(x))[1] & 1]);
        assert_eq!(rank(with_m), 65, "{c:?}");
        for d in COMBINATIONS {
            let both = |x| {
                let [l, r] = halves(sigma_of(x));
                all([l ^ partial(c, x), r ^ partial(d, x)])
            };
            assert_eq!(rank(both), 128, "{c:?}, {d:?}");
        }
    }
}

/// The rest of a table entry after the evaluator's knowledge is removed.
struct Left {
    /// The evaluator's label X, whose counterpart X ⊕ Δ is the input of the unknown hash.
    own: Block,
    tweak: u128,
    /// (c, c').
    c: [bool; 2],
    /// AES_{S⊕t}(σ(X ⊕ Δ))_L ⊕ M Δ.
    word: u64,
}

/// H(x) with the σ of the kernels.
fn hash(gates: &Gates, tweak: u128, x: Block) -> plain::Hash {
    (aes(gates.public.0 ^ Block::from_u128(tweak), sigma_of(x)) ^ sigma_of(x)).into()
}

/// The entries of a gate, under a guess of (a, b). The guess is right for one gate in four, or
/// known for an evaluator's own inputs.
fn strip(gates: &Gates, g: usize, table: &[u8], z: u8, ab: [bool; 2]) -> [Left; 3] {
    let [a, b] = gates.pairs[g].map(|s| gates.held[s as usize].block());
    let (i, j) = (a.lsb(), b.lsb());
    let labels = [a, b, a ^ b];
    let tweaks = [0, 1, 2].map(|k| 3 * g as u128 + k);
    let hashes = [0, 1, 2].map(|k| hash(gates, tweaks[k], labels[k]));
    // The shift from (r, r')_00 to (r, r')_ij is its own inverse.
    let drawn = plain::coins(ab, plain::opened(z, hashes.map(|h| h.m), i, j), i, j);
    // Each entry sums one row of one half in two cases, 00 and another, and lacks one hash.
    [(0, 0, [true, true]), (1, 1, [true, true]), (2, 0, [false, true])].map(|(k, row, other)| {
        let entry = u64::from_le_bytes(table[8 * k..][..8].try_into().expect("a word"));
        let mut word = entry ^ hashes[k].h ^ left(sigma_of(labels[k]));
        let mut c = [false; 2];
        for [i2, j2] in [[false; 2], other] {
            let coefficients = plain::control(plain::coins(ab, drawn, i2, j2), i2, j2)[row];
            word ^= plain::product(coefficients, a, b);
            for half in 0..2 {
                c[half] ^= (coefficients[half] & (i ^ i2)) ^ (coefficients[2 + half] & (j ^ j2));
            }
            // t_ij Δ.
            c[row] ^= [i2, j2] == ab;
        }
        Left { own: labels[k], tweak: tweaks[k], c, word }
    })
}

/// An evaluator's view of 1024 gates, together with Δ for the tests.
fn view() -> (Gates, Vec<Left>) {
    let mut gates = Gates::new(Backend::best(), 1024);
    let (_, tables, bits) = gates.garble();
    let left = (0..gates.pairs.len()).flat_map(|g| {
        let ab = gates.pairs[g].map(|s| !gates.zeros[s as usize].block().lsb());
        strip(&gates, g, &tables[24 * g..][..24], bits[g], ab)
    });
    let left = left.collect();
    (gates, left)
}

#[test]
fn delta_cancels_out_of_no_table_entry() {
    let (gates, entries) = view();
    let mut seen = [0; 4];
    let ranks = COMBINATIONS.map(|c| rank(|x| masking(c, x).into()));
    let mut bare = 0;
    for Left { own, tweak, c, word } in &entries {
        let key = gates.public.0 ^ Block::from_u128(*tweak);
        let ciphertext = aes(key, sigma_of(*own ^ gates.delta));
        assert_eq!(word ^ masking(*c, gates.delta), left(ciphertext), "the equation is the kernel's");
        let combination = 2 * usize::from(c[0]) + usize::from(c[1]);
        seen[combination] += 1;
        bare += usize::from(ranks[combination] < 64);
    }
    assert!(seen.iter().all(|n| *n > entries.len() / 8), "all combinations occur: {seen:?}");
    assert_eq!(bare, 0, "of {} entries: part of a ciphertext under a known key stands bare", entries.len());
}

#[test]
fn a_search_for_delta_finds_nothing() {
    // All but ten bits of the half that is not sent are given away, so that 2^10 decryptions
    // represent 2^64.
    let (gates, entries) = view();
    let key = |tweak| gates.public.0 ^ Block::from_u128(tweak);
    let rows = echelon(|x| sigma_of(x).to_u128());
    let inverse = |y: Block| Block::from_u128(reduced(&rows, [y.to_u128(), 0])[1]);
    for Left { own, tweak, word, .. } in &entries[..24] {
        let ciphertext = aes(key(*tweak), sigma_of(*own ^ gates.delta)).to_u128();
        for low in 0..1u128 << 10 {
            let guess = (ciphertext >> 74 << 10 | low) << 64 | u128::from(*word);
            let delta = inverse(aes_inverse(key(*tweak), Block::from_u128(guess))) ^ *own;
            assert_ne!(delta, gates.delta, "tweak {tweak} gives Δ away");
        }
    }
}
