//! AES on shares against plain AES, for every S-box, key mode, capability set and batch.

use aes::cipher::{BlockCipherEncrypt, KeyInit};
use hushwire_aes::{Aes128, Aes192, Aes256, Backend};
use hushwire_machine::drive::Machine;
use hushwire_rep3::{
    AesBlocks, EXPANDED_BYTES, ExpandedKeys, KeyExpansion, KeySize, Rep3Party, Role, Sbox, Shares, Workspace,
    cost, expansion_cost, open, share, test_support::context,
};
use hushwire_testkit::{backends, lockstep, noise, prg, world};
use std::sync::Arc;

/// The origin of the round keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Keys {
    /// One key, expanded by its owner.
    PreExpanded,
    /// One key, expanded on shares.
    Expand,
    /// A key per block, expanded by the owner.
    PerBlock,
    /// A key per block, expanded on shares.
    PerBlockExpand,
}

const MODES: [Keys; 4] = [Keys::PreExpanded, Keys::Expand, Keys::PerBlock, Keys::PerBlockExpand];

/// An independent implementation.
fn plain(size: KeySize, keys: &[u8], blocks: &[u8]) -> Vec<u8> {
    let bytes = size.key_bytes();
    let one = keys.len() == bytes;
    let mut out = blocks.to_vec();
    for (i, block) in out.chunks_exact_mut(16).enumerate() {
        let (key, block) = (&keys[if one { 0 } else { bytes * i }..][..bytes], block.try_into().unwrap());
        match size {
            KeySize::Aes128 => aes::Aes128::new_from_slice(key).unwrap().encrypt_block(block),
            KeySize::Aes192 => aes::Aes192::new_from_slice(key).unwrap().encrypt_block(block),
            KeySize::Aes256 => aes::Aes256::new_from_slice(key).unwrap().encrypt_block(block),
        }
    }
    out
}

fn expanded(size: KeySize, keys: &[u8]) -> Vec<u8> {
    let of = |k: &[u8]| match size {
        KeySize::Aes128 => Aes128::new(k.try_into().unwrap()).round_keys().as_flattened().to_vec(),
        KeySize::Aes192 => Aes192::new(k.try_into().unwrap()).round_keys().as_flattened().to_vec(),
        KeySize::Aes256 => Aes256::new(k.try_into().unwrap()).round_keys().as_flattened().to_vec(),
    };
    keys.chunks_exact(size.key_bytes()).flat_map(of).collect()
}

/// Three parties' round keys in mode `mode`.
fn round_keys(
    w: &[Rep3Party; 3],
    size: KeySize,
    sbox: Sbox,
    mode: Keys,
    keys: &[u8],
) -> [Arc<ExpandedKeys>; 3] {
    let n = keys.len() / size.key_bytes();
    let parties: [usize; 3] = [0, 1, 2];
    if matches!(mode, Keys::PreExpanded | Keys::PerBlock) {
        let shares = share(&mut prg(11, "keys"), &expanded(size, keys));
        return parties
            .map(|i| Arc::new(ExpandedKeys::from_shares(Role::ALL[i], size, &shares[i], n).unwrap()));
    }
    let shares = share(&mut prg(12, "keys"), keys);
    let runs = parties.map(|i| {
        KeyExpansion::new(size, sbox, context(&w[i], 0, 1), &shares[i], Workspace::default()).unwrap()
    });
    // `lockstep` compares the declared cost with the bytes that are sent.
    assert_eq!(runs[0].cost(), Some(expansion_cost(size, sbox, n)));
    lockstep(runs).map(|k| Arc::new(k.into_keys().0))
}

fn encrypt(w: &[Rep3Party; 3], sbox: Sbox, keys: &[Arc<ExpandedKeys>; 3], blocks: &[u8]) -> [AesBlocks; 3] {
    let input = share(&mut prg(13, "input"), blocks);
    let runs = [0, 1, 2].map(|i| {
        AesBlocks::new(sbox, context(&w[i], 1, 0), keys[i].clone(), &input[i], Workspace::default())
    });
    assert_eq!(runs[0].cost(), Some(cost(keys[0].size(), sbox, blocks.len() / 16)));
    lockstep(runs)
}

fn opened(parties: &[AesBlocks; 3]) -> Vec<u8> {
    let [a, b, c] = parties;
    let value = open([a.own(), b.own(), c.own()]).unwrap();
    // Replication: every party's second share is its right neighbour's first.
    for (i, p) in parties.iter().enumerate() {
        assert!(p.output().next == parties[(i + 1) % 3].own(), "party {i} holds a foreign share");
    }
    value
}

fn check(backend: Backend, sbox: Sbox, mode: Keys, blocks: usize) {
    check_size(backend, KeySize::Aes128, sbox, mode, blocks);
}

fn check_size(backend: Backend, size: KeySize, sbox: Sbox, mode: Keys, blocks: usize) {
    let keys = if matches!(mode, Keys::PerBlock | Keys::PerBlockExpand) { blocks } else { 1 };
    let keys = noise(blocks as u64, size.key_bytes() * keys);
    let input = noise(1000 + blocks as u64, 16 * blocks);
    let w = world(5, backend);
    let shared = round_keys(&w, size, sbox, mode, &keys);
    let out = opened(&encrypt(&w, sbox, &shared, &input));
    assert!(out == plain(size, &keys, &input), "{backend:?} {size:?} {sbox} {mode:?} {blocks} blocks");
}

#[test]
fn longer_keys_give_aes_192_and_256() {
    for sbox in Sbox::ALL {
        for size in [KeySize::Aes192, KeySize::Aes256] {
            for mode in MODES {
                for blocks in [1, 2, 39] {
                    check_size(Backend::best(), size, sbox, mode, blocks);
                }
            }
        }
    }
}

#[test]
fn every_sbox_key_mode_and_capability_gives_aes() {
    for backend in backends() {
        for sbox in Sbox::ALL {
            for mode in MODES {
                for blocks in [1, 2, 7] {
                    check(backend, sbox, mode, blocks);
                }
            }
        }
    }
}

#[test]
fn longer_batches_give_aes() {
    for backend in backends() {
        for sbox in Sbox::ALL {
            for blocks in [512, 513] {
                check(backend, sbox, Keys::PreExpanded, blocks);
            }
        }
    }
    for sbox in Sbox::ALL {
        check(Backend::best(), sbox, Keys::PerBlockExpand, 513);
        check(Backend::best().without_gfni(), sbox, Keys::PerBlock, 512);
        // The S-box lut256 prepares 10 KiB per block.
        let many = if sbox == Sbox::Lut256 { 1_000 } else { 10_000 };
        check(Backend::best(), sbox, Keys::PreExpanded, many);
        check(Backend::best(), sbox, Keys::PerBlockExpand, many);
    }
}

#[test]
fn round_keys_come_out_as_they_went_in_or_were_expanded() {
    for size in KeySize::ALL {
        for n in [1, 3] {
            let keys = noise(40, size.key_bytes() * n);
            let w = world(5, Backend::best());
            for mode in [Keys::PreExpanded, Keys::Expand] {
                let held = round_keys(&w, size, Sbox::Tower, mode, &keys);
                let shares: [Shares; 3] = [0, 1, 2].map(|i| held[i].to_shares(Role::ALL[i]));
                let value = open([&shares[0].own, &shares[1].own, &shares[2].own]).unwrap();
                assert!(value == expanded(size, &keys), "{size:?} {n} keys, {mode:?}");
                for i in 0..3 {
                    assert!(shares[i].next == shares[(i + 1) % 3].own, "party {i} holds a foreign share");
                }
            }
        }
    }
}

#[test]
fn fips_197_appendix_b_and_c() {
    let cases = [
        (
            "2b7e151628aed2a6abf7158809cf4f3c",
            "3243f6a8885a308d313198a2e0370734",
            "3925841d02dc09fbdc118597196a0b32",
        ),
        (
            "000102030405060708090a0b0c0d0e0f",
            "00112233445566778899aabbccddeeff",
            "69c4e0d86a7b0430d8cdb78070b4c55a",
        ),
    ];
    for (key, input, output) in cases.map(|(k, i, o)| (hex(k), hex(i), hex(o))) {
        for sbox in Sbox::ALL {
            for mode in [Keys::PreExpanded, Keys::Expand] {
                let w = world(6, Backend::best());
                let keys = round_keys(&w, KeySize::Aes128, sbox, mode, &key);
                assert_eq!(opened(&encrypt(&w, sbox, &keys, &input)), output, "{sbox} {mode:?}");
            }
        }
    }
}

fn hex(s: &str) -> Vec<u8> {
    (0..s.len()).step_by(2).map(|i| u8::from_str_radix(&s[i..i + 2], 16).unwrap()).collect()
}

#[test]
fn counters_wrap_and_give_a_keystream() {
    let key = noise(3, 16);
    let w = world(7, Backend::best());
    let keys = round_keys(&w, KeySize::Aes128, Sbox::Tower, Keys::PreExpanded, &key);
    let first = u128::MAX - 2;
    let runs = [0, 1, 2].map(|i| {
        let (cx, ws) = (context(&w[i], 2, 0), Workspace::default());
        AesBlocks::counter(Sbox::Tower, cx, keys[i].clone(), first, 9, ws)
    });
    let counters: Vec<u8> = (0..9).flat_map(|i| first.wrapping_add(i).to_be_bytes()).collect();
    assert!(opened(&lockstep(runs)) == plain(KeySize::Aes128, &key, &counters));
}

#[test]
fn workspaces_serve_batches_of_any_size_in_any_order() {
    let key = noise(3, 16);
    let w = world(8, Backend::best());
    for sbox in Sbox::ALL {
        let keys = round_keys(&w, KeySize::Aes128, sbox, Keys::PreExpanded, &key);
        let mut spare = [Workspace::default(), Workspace::default(), Workspace::default()];
        for (shard, blocks) in [40, 3, 700, 1].into_iter().enumerate() {
            let input = noise(blocks as u64, 16 * blocks);
            let shares = share(&mut prg(1, "input"), &input);
            let runs = [0, 1, 2].map(|i| {
                let cx = context(&w[i], 10 + shard as u32, 0);
                AesBlocks::new(sbox, cx, keys[i].clone(), &shares[i], std::mem::take(&mut spare[i]))
            });
            let done = lockstep(runs);
            assert!(opened(&done) == plain(KeySize::Aes128, &key, &input), "{sbox}, {blocks} blocks");
            spare = done.map(AesBlocks::into_workspace);
        }
    }
}

#[test]
fn shares_of_wrong_lengths_are_refused() {
    let short = Shares { own: vec![0; EXPANDED_BYTES - 1], next: vec![0; EXPANDED_BYTES] };
    let e = ExpandedKeys::from_shares(Role::ALL[0], KeySize::Aes128, &short, 1).err().unwrap();
    assert!(e.to_string().contains("175") && e.to_string().contains("176"), "{e}");
    assert!(Shares::from_bytes(&[0; 31], 16).is_err());
    assert!(open([&[0; 2], &[0; 3], &[0; 2]]).is_err());
    let uneven = Shares { own: vec![0; 16], next: vec![0; 17] };
    let w = world(1, Backend::best());
    assert!(
        KeyExpansion::new(KeySize::Aes128, Sbox::Tower, context(&w[0], 0, 0), &uneven, Workspace::default())
            .is_err()
    );
}
