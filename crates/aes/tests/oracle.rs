//! Compares every function on every backend with naive forms over RustCrypto's `aes`, and with
//! published vectors.

use aes::cipher::{BlockCipherEncrypt, KeyInit};
use hushwire_aes::{Aes128, Aes192, Aes256, Backend, BackendError, GgmKeys, RoundKeys};
use hushwire_block::{Block, as_bytes, as_bytes_mut};
use hushwire_simd::Tier;

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

fn bytes<const N: usize>(hex: &str) -> [u8; N] {
    let mut out = [0; N];
    hex::decode_to_slice(hex.replace(' ', ""), &mut out).unwrap();
    out
}

/// AES-128 of one block, by another implementation.
fn naive(key: Block, x: Block) -> Block {
    let mut b = x.0.into();
    aes::Aes128::new(&key.0.into()).encrypt_block(&mut b);
    Block(b.into())
}

fn sigma(x: Block) -> Block {
    let mut out = [0; 16];
    for i in 0..8 {
        out[i] = x.0[i + 8];
        out[i + 8] = x.0[i] ^ x.0[i + 8];
    }
    Block(out)
}

/// Lengths around every body and tail; all lengths if the tier is fast enough.
fn lengths(backend: Backend) -> Vec<usize> {
    if backend.tier() == Tier::Portable {
        return (0..70).chain([400, 511, 512, 513, 640, 777, 999, 1000]).collect();
    }
    (0..=1000).collect()
}

const FIRSTS: [u128; 4] = [0, 0x1234_5678_9abc_def0_1122_3344, (7 << 64) - 3, u128::MAX - 4];

#[test]
fn fips_197_appendix_a_schedules() {
    let k128 = bytes::<16>("2b7e151628aed2a6abf7158809cf4f3c");
    let k192 = bytes::<24>("8e73b0f7da0e6452c810f32b809079e562f8ead2522c6b7b");
    let k256 = bytes::<32>("603deb1015ca71be2b73aef0857d77811f352c073b6108d72d9810a30914dff4");
    for b in Backend::all() {
        let key = Aes128::on(b, &k128);
        assert_eq!(key.round_keys()[1], bytes("a0fafe1788542cb123a339392a6c7605"), "{b:?}");
        assert_eq!(key.round_keys()[10], bytes("d014f9a8c9ee2589e13f0cc8b6630ca6"), "{b:?}");
        let key = Aes192::on(b, &k192);
        assert_eq!(key.round_keys()[1], bytes("62f8ead2522c6b7bfe0c91f72402f5a5"), "{b:?}");
        assert_eq!(key.round_keys()[12], bytes("e98ba06f448c773c8ecc720401002202"), "{b:?}");
        let key = Aes256::on(b, &k256);
        assert_eq!(key.round_keys()[2], bytes("9ba354118e6925afa51a8b5f2067fcde"), "{b:?}");
        assert_eq!(key.round_keys()[14], bytes("fe4890d1e6188d0b046df344706c631e"), "{b:?}");
    }
    assert_eq!(Aes128::new(&k128).round_keys()[0], k128);
}

#[test]
fn fips_197_appendix_a_1_among_other_keys() {
    // Every round key of the appendix, words as it prints them.
    let expected =
        "2b7e151628aed2a6abf7158809cf4f3c a0fafe1788542cb123a339392a6c7605 f2c295f27a96b9435935807a7359f67f
        3d80477d4716fe3e1e237e446d7a883b ef44a541a8525b7fb671253bdb0bad00 d4d1c6f87c839d87caf2b8bc11f915bc
        6d88a37a110b3efddbf98641ca0093fd 4e54f70e5f5fc9f384a64fb24ea6dc4f ead27321b58dbad2312bf5607f8d292f
        ac7766f319fadc2128d12941575c006e d014f9a8c9ee2589e13f0cc8b6630ca6";
    let expected: Vec<[u8; 16]> = expected.split_whitespace().map(bytes).collect();
    for b in Backend::all() {
        for place in 0..32 {
            let mut keys: [Block; 32] = noise(place, 32).try_into().unwrap_or_else(|_| panic!("32 keys"));
            keys[place as usize] = Block(expected[0]);
            let mut all = [[Block::ZERO; 32]; 11];
            b.schedules(&keys, &mut all);
            for (round, expected) in expected.iter().enumerate() {
                assert_eq!(all[round][place as usize].0, *expected, "{b:?}: round {round}, place {place}");
            }
        }
    }
}

#[test]
fn fips_197_appendix_c() {
    let key: [u8; 32] = std::array::from_fn(|i| i as u8);
    let plain = Block(bytes("00112233445566778899aabbccddeeff"));
    for b in Backend::all() {
        let (mut x, mut y, mut z) = ([plain], [plain], [plain]);
        b.ecb_encrypt(&Aes128::on(b, key[..16].try_into().unwrap()), &mut x);
        b.ecb_encrypt(&Aes192::on(b, key[..24].try_into().unwrap()), &mut y);
        b.ecb_encrypt(&Aes256::on(b, &key), &mut z);
        assert_eq!(x[0].0, bytes("69c4e0d86a7b0430d8cdb78070b4c55a"), "{b:?} C.1");
        assert_eq!(y[0].0, bytes("dda97ca4864cdfe06eaf70a0ec0d7191"), "{b:?} C.2");
        assert_eq!(z[0].0, bytes("8ea2b7ca516745bfeafc49904b496089"), "{b:?} C.3");
    }
}

const PLAIN: &str = "6bc1bee22e409f96e93d7e117393172a ae2d8a571e03ac9c9eb76fac45af8e51
    30c81c46a35ce411e5fbc1191a0a52ef f69f2445df4f9b17ad2b417be66c3710";

fn mode_vector<const R: usize>(b: Backend, key: &RoundKeys<R>, ecb: &str, ctr: &str) {
    let plain: [u8; 64] = bytes(&PLAIN.replace('\n', ""));
    let mut blocks = vec![Block::ZERO; 4];
    as_bytes_mut(&mut blocks).copy_from_slice(&plain);
    b.ecb_encrypt(key, &mut blocks);
    assert_eq!(as_bytes(&blocks), bytes::<64>(&ecb.replace('\n', "")), "{b:?} ECB");
    let mut data = plain;
    b.ctr_xor(key, bytes("f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff"), &mut data);
    assert_eq!(data, bytes::<64>(&ctr.replace('\n', "")), "{b:?} CTR");
}

#[test]
fn sp_800_38a_ecb_and_ctr() {
    for b in Backend::all() {
        mode_vector(
            b,
            &Aes128::on(b, &bytes("2b7e151628aed2a6abf7158809cf4f3c")),
            "3ad77bb40d7a3660a89ecaf32466ef97 f5d3d58503b9699de785895a96fdbaaf
             43b1cd7f598ece23881b00e3ed030688 7b0c785e27e8ad3f8223207104725dd4",
            "874d6191b620e3261bef6864990db6ce 9806f66b7970fdff8617187bb9fffdff
             5ae4df3edbd5d35e5b4f09020db03eab 1e031dda2fbe03d1792170a0f3009cee",
        );
        mode_vector(
            b,
            &Aes192::on(b, &bytes("8e73b0f7da0e6452c810f32b809079e562f8ead2522c6b7b")),
            "bd334f1d6e45f25ff712a214571fa5cc 974104846d0ad3ad7734ecb3ecee4eef
             ef7afd2270e2e60adce0ba2face6444e 9a4b41ba738d6c72fb16691603c18e0e",
            "1abc932417521ca24f2b0459fe7e6e0b 090339ec0aa6faefd5ccc2c6f4ce8e94
             1e36b26bd1ebc670d1bd1d665620abf7 4f78a7f6d29809585a97daec58c6b050",
        );
        mode_vector(
            b,
            &Aes256::on(b, &bytes("603deb1015ca71be2b73aef0857d77811f352c073b6108d72d9810a30914dff4")),
            "f3eed1bdb5d2a03c064b5a7e3db181f8 591ccb10d410ed26dc5ba74a31362870
             b6ed21b99ca6f4f9f153e7b1beafed1d 23304b7a39f9f3ff067d8d8f9e24ecc7",
            "601ec313775789a5b7a7f504bbf3d228 f443e3ca4d62b59aca84e990cacaf5c5
             2b0930daa23de94ce87017ba2d84988d dfc9c58db67aada613c2dd08457941a6",
        );
    }
}

#[test]
fn ctr_agrees_with_another_implementation_at_every_length_and_wraps() {
    let key = noise(1, 1)[0];
    let data: Vec<u8> = as_bytes(&noise(2, 63)).to_vec();
    for counter in FIRSTS {
        let mut want = data.clone();
        for (i, chunk) in want.chunks_mut(16).enumerate() {
            let stream = naive(key, Block(counter.wrapping_add(i as u128).to_be_bytes()));
            chunk.iter_mut().zip(stream.0).for_each(|(x, s)| *x ^= s);
        }
        for b in Backend::all() {
            let schedule = Aes128::on(b, &key.0);
            for n in lengths(b) {
                let mut got = data[..n].to_vec();
                b.ctr_xor(&schedule, counter.to_be_bytes(), &mut got);
                assert_eq!(got, want[..n], "{b:?} {counter:x} {n} bytes");
            }
        }
    }
}

#[test]
fn counter_streams_at_every_length_and_wrap() {
    let keys = noise(3, 2);
    let n = 1000;
    for first in FIRSTS {
        let at = |k: Block, i: usize| naive(k, Block::from_u128(first.wrapping_add(i as u128)));
        let one: Vec<Block> = (0..n).map(|i| at(keys[0], i)).collect();
        let both: Vec<Block> = (0..n).map(|i| one[i] ^ at(keys[1], i)).collect();
        for b in Backend::all() {
            let [k0, k1] = [0, 1].map(|i| Aes128::on(b, &keys[i].0));
            for n in lengths(b) {
                let mut got = vec![Block::ONES; n];
                b.counter_blocks(&k0, first, &mut got);
                assert_eq!(got, one[..n], "{b:?} {first:x} {n} blocks");
                // `n` counts bytes here, so that the last block may be incomplete.
                let mut got = vec![0xff; n];
                b.counter_xor2(&k0, &k1, first, &mut got);
                assert_eq!(got, as_bytes(&both)[..n], "{b:?} {first:x} {n} bytes");
                let mut got = vec![0xff; n];
                b.counter_bytes(&k0, first, &mut got);
                assert_eq!(got, as_bytes(&one)[..n], "{b:?} {first:x} {n} bytes");
            }
        }
    }
}

#[test]
fn ecb_and_fixed_key_hashes_at_every_length() {
    let key = noise(5, 1)[0];
    let x = noise(6, 1000);
    let pi = |x: Block| naive(key, x);
    for first in FIRSTS {
        let tweak = |n: usize, h: usize| Block::from_u128(first.wrapping_add((n / h) as u128));
        let each = |f: &dyn Fn(usize, Block) -> Block| -> Vec<Block> {
            x.iter().enumerate().map(|(n, x)| f(n, *x)).collect()
        };
        let ecb = each(&|_, x| pi(x));
        let ccr = each(&|_, x| pi(sigma(x)) ^ sigma(x));
        let tmmo = |h: usize| each(&|n, x| pi(pi(x) ^ tweak(n, h)) ^ pi(x));
        let prp = |h: usize| {
            each(&|n, x| {
                let y = sigma(x) ^ tweak(n, h);
                pi(y) ^ y
            })
        };
        let (tccr1, tccr2, prp1, prp4) = (tmmo(1), tmmo(2), prp(1), prp(4));
        for b in Backend::all() {
            let k = Aes128::on(b, &key.0);
            for n in lengths(b) {
                let check = |name: &str, want: &[Block], f: &dyn Fn(&[Block], &mut [Block])| {
                    let mut got = x[..n].to_vec();
                    f(&x[..n], &mut got);
                    assert_eq!(got, want[..n], "{name} {b:?} {first:x} {n} blocks");
                };
                check("tccr 1", &tccr1, &|x, out| b.tccr::<1>(&k, first, x, out));
                check("prp 1", &prp1, &|x, out| b.prp::<1>(&k, first, x, out));
                check("prp 4", &prp4, &|x, out| b.prp::<4>(&k, first, x, out));
                check("tccr 2", &tccr2, &|x, out| b.tccr::<2>(&k, first, x, out));
                if first == 0 {
                    check("ecb", &ecb, &|_, out| b.ecb_encrypt(&k, out));
                    check("ccr", &ccr, &|x, out| b.ccr(&k, x, out));
                }
            }
        }
    }
}

/// `rekeyed` with `H` blocks for each key.
fn keyed<const H: usize>() {
    let keys = noise(7, 1000 / H);
    let x = noise(8, keys.len() * H);
    let plain: Vec<Block> = x.iter().enumerate().map(|(n, x)| naive(keys[n / H], *x)).collect();
    for b in Backend::all() {
        for g in lengths(b).into_iter().filter(|g| g * H <= x.len()) {
            let mut got = x[..g * H].to_vec();
            b.rekeyed::<H>(&keys[..g], &mut got);
            assert_eq!(got, plain[..g * H], "{b:?} {g} keys of {H}");
        }
    }
}

#[test]
fn rekeyed_one_block_a_key() {
    keyed::<1>();
}

#[test]
fn rekeyed_two_blocks_a_key() {
    keyed::<2>();
}

#[test]
fn rekeyed_four_and_eight_blocks_a_key() {
    keyed::<4>();
    keyed::<8>();
}

#[test]
fn tree_levels_at_every_length() {
    let k = noise(11, 2);
    let parents = noise(12, 1000);
    let full: Vec<Block> = parents.iter().flat_map(|p| [0, 1].map(|i| naive(k[i], *p) ^ *p)).collect();
    let half: Vec<Block> = parents
        .iter()
        .flat_map(|p| {
            let left = naive(k[0], sigma(*p)) ^ sigma(*p);
            [left, *p ^ left]
        })
        .collect();
    for b in Backend::all() {
        let keys = GgmKeys { left: Aes128::on(b, &k[0].0), right: Aes128::on(b, &k[1].0) };
        for n in lengths(b) {
            let mut got = vec![Block::ZERO; 2 * n];
            b.ggm_level(&keys, &parents[..n], &mut got);
            assert_eq!(got, full[..2 * n], "{b:?} {n} parents");
            b.half_tree_level(&keys.left, &parents[..n], &mut got);
            assert_eq!(got, half[..2 * n], "{b:?} {n} parents, half tree");
        }
    }
}

#[test]
fn sigma_is_a_linear_orthomorphism() {
    for x in noise(13, 100) {
        assert_eq!(x.sigma(), sigma(x));
        // x ⊕ σ(x) = lo‖(hi ⊕ lo) is also a permutation; this undoes it.
        let y = x.sigma() ^ x;
        let (lo, hi_lo) = (y.to_u128() >> 64, y.to_u128() & u128::from(u64::MAX));
        assert_eq!(Block::from_u128((hi_lo ^ lo) << 64 | lo), x);
    }
}

#[test]
fn the_limit_loop_encrypts() {
    for b in Backend::all() {
        let got = b.rounds_only(2);
        assert_eq!(got.blocks, 2 * got.states.len() as u64);
        // All round keys are equal here, so that the portable tier is the oracle.
        let want = Backend::forced(Tier::Portable).unwrap().rounds_only(2);
        assert_eq!(got.states[0], want.states[0], "{b:?}");
        assert_eq!(got.states.last(), want.states.last(), "{b:?}");
    }
}

#[test]
fn backends_are_chosen_by_name_and_errors_name_what_there_is() {
    for b in Backend::all() {
        assert_eq!(Backend::named(b.tier().name()).unwrap().tier(), b.tier());
        assert!(!b.without_gfni().gfni());
    }
    assert!(matches!(Backend::named("sse9"), Err(BackendError::Unknown(name)) if name == "sse9"));
    let missing = if cfg!(target_arch = "aarch64") { Tier::AesNi } else { Tier::Neon };
    let error = Backend::forced(missing).unwrap_err().to_string();
    assert!(error.contains(missing.name()) && error.contains("portable"), "{error}");
    assert_eq!(Backend::all().last(), Some(&Backend::best()));
}

#[test]
fn the_keyed_limit_encrypts_every_block_under_its_key() {
    for b in Backend::all() {
        let (one, two) = (b.keyed_rounds_only::<1>(2), b.keyed_rounds_only::<2>(1));
        let lanes = one.states.len() as u64;
        assert_eq!((one.blocks, two.blocks), (24 * lanes, 16 * lanes), "{b:?}");
        let sum = |keys: u8, blocks: u8| {
            let mut sum = Block::ZERO;
            for k in 1..=keys {
                let key =
                    u64::from_le_bytes([0xa5; 8]).wrapping_add(u64::from(k) * u64::from_le_bytes([1; 8]));
                let key = Block::from_u128(u128::from(key) << 64 | u128::from(key));
                for h in 0..blocks {
                    let x = key ^ Block([h; 16]);
                    let mut y = [x];
                    b.ecb_encrypt(&Aes128::new(&key.0), &mut y);
                    sum = sum ^ y[0] ^ x;
                }
            }
            sum
        };
        assert!(one.states.iter().all(|s| *s == sum(24, 1)), "{b:?}");
        assert!(two.states.iter().all(|s| *s == sum(8, 2)), "{b:?}");
    }
}

#[test]
fn schedules_are_those_of_single_keys() {
    for b in Backend::all() {
        let keys: [Block; 64] =
            std::array::from_fn(|i| Block(std::array::from_fn(|j| (i * 29 + j * 7) as u8)));
        let mut all = [[Block::ONES; 64]; 11];
        b.schedules(&keys, &mut all);
        for (i, key) in keys.iter().enumerate() {
            for (round, expected) in Aes128::new(&key.0).round_keys().iter().enumerate() {
                assert!(all[round][i].0 == *expected, "{b:?}: round {round} of key {i}");
            }
        }
    }
}
