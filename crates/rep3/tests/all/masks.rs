//! Masks are words of the session's randomness. These tests compute them by another crate's AES,
//! and check that none is used twice.

use aes::cipher::{BlockCipherEncrypt, KeyInit};
use hushwire_aes::Backend;
use hushwire_circuit::{named, planes::plane_bytes};
use hushwire_machine::{
    NetError, SessionId,
    drive::{Lockstep, Machine, Place},
};
use hushwire_prg::{PrssKeys, Seed};
use hushwire_rep3::{
    AesBlocks, CircuitBatch, CircuitWorkspace, ExpandedKeys, Field, KeyExpansion, KeySize, Multiply,
    Place as At, Record, Rep3Party, Role, Sbox, Workspace, circuit_zero_words, open, share,
    test_support::{self, context, random},
};
use hushwire_testkit::{Dirty, backends, noise, prg};
use std::{
    collections::HashSet,
    sync::{Arc, Mutex},
};

/// The keys of the three parties, and the session's identifier.
#[derive(Clone, Copy)]
pub(crate) struct World {
    keys: [u8; 3],
    id: u8,
}

pub(crate) const WORLD: World = World { keys: [1, 2, 3], id: 7 };

impl World {
    pub(crate) fn parties(self, backend: Backend) -> [Rep3Party; 3] {
        Role::ALL.map(|role| {
            let key = |role: Role| Seed::from_bytes([self.keys[role.index()]; 16]);
            let keys = PrssKeys { own: key(role), prev: key(role.left()) };
            test_support::party(role, backend, SessionId([self.id; 16]), &keys)
        })
    }

    /// The PRF F_k with party `i`'s key.
    fn prf(self, i: usize) -> aes::Aes128 {
        let context = [&[self.id; 16][..], b"hushwire rep3 v1"].concat();
        let key = Seed::from_bytes([self.keys[i]; 16]).derive("hushwire prss", &context);
        aes::Aes128::new(&(*key.expose()).into())
    }

    /// Words of party `i`'s key from `first` on.
    pub(crate) fn words(self, i: usize, (shard, lane): (u32, u32), first: u64, bytes: usize) -> Vec<u8> {
        let key = self.prf(i);
        let word = |w: u64| {
            let counter = u128::from(shard) << 96 | u128::from(lane) << 64 | u128::from(w);
            let mut block = counter.to_le_bytes().into();
            key.encrypt_block(&mut block);
            <[u8; 16]>::from(block)
        };
        let mut words: Vec<u8> = (first..first + bytes.div_ceil(16) as u64).flat_map(word).collect();
        words.truncate(bytes);
        words
    }

    /// Party `i`'s zero-shares from word `first` on.
    fn zeros(self, i: usize, address: (u32, u32), first: u64, bytes: usize) -> Vec<u8> {
        xor(&self.words(i, address, first, bytes), &self.words((i + 2) % 3, address, first, bytes))
    }
}

fn xor(a: &[u8], b: &[u8]) -> Vec<u8> {
    a.iter().zip(b).map(|(a, b)| a ^ b).collect()
}

/// Masks and messages, layer by layer; an opening has no mask.
type Layers = Vec<(Option<Vec<u8>>, Vec<u8>)>;

/// A party's masks and messages, and its shares of the values that it opened.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Layers>>, Arc<Mutex<Vec<Vec<u8>>>>);

impl Record for Log {
    fn randomness(&mut self, _: usize, mask: &[u8]) {
        self.0.lock().unwrap().push((Some(mask.to_vec()), vec![]));
    }
    fn product(&mut self, _: usize, _: At, _: [&[u8]; 2], _: [&[u8]; 2]) {}
    fn opening(&mut self, _: usize, [own, _]: [&[u8]; 2]) {
        self.0.lock().unwrap().push((None, vec![]));
        self.1.lock().unwrap().push(own.to_vec());
    }
    fn message(&mut self, layer: usize, message: &[u8]) {
        self.0.lock().unwrap()[layer].1 = message.to_vec();
    }
}

/// Runs three parties, and returns every party's messages.
fn messages<M: Machine<Error = NetError>>(parties: &mut [M; 3]) -> [Vec<Vec<u8>>; 3] {
    let mut all = [vec![], vec![], vec![]];
    let keep = |place: Place, message: &mut Vec<u8>| all[place.party].push(message.clone());
    let mut parties = parties.each_mut().map(Dirty::new);
    Lockstep::new().run_edited(&mut parties, keep).unwrap_or_else(|e| panic!("{e}"));
    all
}

/// Runs the same with and without a recorder, and checks the masks: they must be the words of the
/// address from `first` on, in order and without a gap. Returns the next word, and every word that
/// masked something, with its party.
fn check<M: Machine<Error = NetError>>(
    what: &str,
    address: (u32, u32),
    first: u64,
    make: impl Fn(Option<Log>, usize) -> M,
) -> (u64, Vec<(usize, Vec<u8>)>) {
    let logs = [Log::default(), Log::default(), Log::default()];
    let recorded = messages(&mut [0, 1, 2].map(|i| make(Some(logs[i].clone()), i)));
    let silent = messages(&mut [0, 1, 2].map(|i| make(None, i)));
    assert!(recorded == silent, "{what}: who listens changes nothing");
    let (mut ends, mut used) = ([first; 3], vec![]);
    for (i, log) in logs.iter().enumerate() {
        let layers = log.0.lock().unwrap().clone();
        assert_eq!(layers.len(), recorded[i].len());
        for (layer, ((mask, message), sent)) in layers.into_iter().zip(&recorded[i]).enumerate() {
            assert!(message == *sent, "{what}: layer {layer} is recorded as it is sent");
            let Some(mask) = mask else { continue };
            assert_eq!(mask.len(), sent.len());
            assert!(
                mask == WORLD.zeros(i, address, ends[i], mask.len()),
                "{what}: layer {layer} of party {i}"
            );
            ends[i] += mask.len().div_ceil(16) as u64;
            used.extend(mask.chunks_exact(16).map(|word| (i, word.to_vec())));
        }
    }
    assert!(ends.iter().all(|end| *end == ends[0]), "{what}: parties take as many words");
    (ends[0], used)
}

#[test]
fn masks_are_the_words_of_their_address_one_after_the_other() {
    let mut used = vec![];
    // Bytes and bit slices have different kernels. The file of digests shows that all tiers make
    // the same bytes.
    for (b, backend) in [Backend::best(), Backend::best().without_gfni()].into_iter().enumerate() {
        let w = WORLD.parties(backend);
        let address = |k: usize| (k as u32, (b as u32) << 8 | 1);
        for (s, sbox) in Sbox::ALL.into_iter().enumerate() {
            for (k, blocks) in [1, 5, 33, 300].into_iter().enumerate() {
                let keys = share(&mut prg(1, "keys"), &noise(1, 176));
                let input = share(&mut prg(2, "input"), &noise(2, 16 * blocks));
                let at = address(16 * s + k);
                // The prepared bytes of all ten S-box layers take the first words.
                let n = 16 * blocks.next_multiple_of(2);
                let first = if sbox == Sbox::Lut256 { (10 * n / 16) as u64 } else { 0 };
                let made = check(sbox.name(), at, first, |log, i| {
                    let (role, size) = (Role::ALL[i], KeySize::Aes128);
                    let keys = Arc::new(ExpandedKeys::from_shares(role, size, &keys[i], 1).unwrap());
                    let cx = context(&w[i], at.0, at.1);
                    let mut run = AesBlocks::new(sbox, cx, keys, &input[i], Workspace::default());
                    log.into_iter().for_each(|log| run.record(Box::new(log)));
                    run
                });
                used.extend(made.1);
            }
            for (k, size) in KeySize::ALL.into_iter().enumerate() {
                let keys = share(&mut prg(1, "keys"), &noise(1, 3 * size.key_bytes()));
                let at = address(16 * s + 8 + k);
                // Twelve S-boxes of three keys, padded to a multiple of eight.
                let first = if sbox == Sbox::Lut256 { size.expansion_steps() as u64 } else { 0 };
                let made = check("key expansion", at, first, |log, i| {
                    let cx = context(&w[i], at.0, at.1);
                    let mut run = KeyExpansion::new(size, sbox, cx, &keys[i], Workspace::default()).unwrap();
                    log.into_iter().for_each(|log| run.record(Box::new(log)));
                    run
                });
                used.extend(made.1);
            }
        }
        for (k, (name, instances)) in
            [("add:9", 1), ("add:9", 7), ("mul:5", 8), ("sort:5x3", 3), ("sort:5x3", 40), ("less:9", 4200)]
                .into_iter()
                .enumerate()
        {
            let program = Arc::new(named::program(name).unwrap());
            let bytes = program.input_bits() * plane_bytes(instances);
            let input = share(&mut prg(2, "input"), &noise(2, bytes));
            let at = address(256 + k);
            let (end, words) = check(name, at, 0, |log, i| {
                let (cx, ws) = (context(&w[i], at.0, at.1), CircuitWorkspace::default());
                let program = program.clone();
                let mut run = CircuitBatch::new(program, cx, &input[i], instances, ws).unwrap();
                log.into_iter().for_each(|log| run.record(Box::new(log)));
                run
            });
            assert_eq!(end, circuit_zero_words(&program, instances), "{name}: as many as declared");
            used.extend(words);
        }
    }
    // The check covers layers, batches and lanes of a session.
    let total = used.len();
    assert!(used.into_iter().collect::<HashSet<_>>().len() == total && total > 10_000, "a mask serves twice");
}

#[test]
fn every_lookup_is_masked_by_random_bytes_of_its_own() {
    // The opened values are S-box inputs ⊕ random bytes. The same blocks at another address have
    // the same inputs.
    let (blocks, w) = (6, WORLD.parties(Backend::best()));
    let keys = share(&mut prg(1, "keys"), &noise(1, 176));
    let input = share(&mut prg(2, "input"), &noise(2, 16 * blocks));
    let [first, second] = [(3, 4), (3, 5)].map(|at| {
        let logs = [Log::default(), Log::default(), Log::default()];
        let mut runs = [0, 1, 2].map(|i| {
            let shares = ExpandedKeys::from_shares(Role::ALL[i], KeySize::Aes128, &keys[i], 1).unwrap();
            let cx = context(&w[i], at.0, at.1);
            let mut run = AesBlocks::new(Sbox::Lut256, cx, Arc::new(shares), &input[i], Workspace::default());
            run.record(Box::new(logs[i].clone()));
            run
        });
        messages(&mut runs);
        let [a, b, c] = logs.map(|log| log.1.lock().unwrap().clone());
        let opened = a.iter().zip(&b).zip(&c).map(|((a, b), c)| xor(&xor(a, b), c));
        let random = |t: usize| {
            let [a, b, c] = [0, 1, 2].map(|i| WORLD.words(i, at, (t * blocks) as u64, 16 * blocks));
            xor(&xor(&a, &b), &c)
        };
        opened.enumerate().map(|(t, opened)| xor(&opened, &random(t))).collect::<Vec<_>>()
    });
    assert_eq!(first.len(), 10, "an opening for every S-box layer");
    assert!(first == second, "less its random bytes, an opening is the inputs'");
    let distinct: HashSet<_> = first.iter().collect();
    assert_eq!(distinct.len(), 10);
}

/// A plain GF(2^8) product, by shift and add.
fn gf256(a: u8, b: u8) -> u8 {
    let doubled = |a: u8| a << 1 ^ if a >> 7 == 1 { 0x1b } else { 0 };
    (0..8).rev().fold(0, |sum, i| doubled(sum) ^ if b >> i & 1 == 1 { a } else { 0 })
}

#[test]
fn a_products_message_is_its_terms_under_the_words_of_its_address() {
    for backend in backends() {
        let w = WORLD.parties(backend);
        for (field, product) in [(Field::Gf2, (|a, b| a & b) as fn(u8, u8) -> u8), (Field::Gf256, gf256)] {
            // Chunks of 4096 bytes are processed at a time.
            for (k, len) in [1, 15, 16, 17, 4096, 4100, 9000].into_iter().enumerate() {
                let (x, y) =
                    (share(&mut prg(1, "x"), &noise(1, len)), share(&mut prg(1, "y"), &noise(2, len)));
                let at = (k as u32, u32::MAX - k as u32);
                let mut runs = [0, 1, 2].map(|i| {
                    Multiply::new(field, context(&w[i], at.0, at.1), x[i].clone(), y[i].clone()).unwrap()
                });
                for (i, sent) in messages(&mut runs).iter().enumerate() {
                    let terms: Vec<u8> = (0..len)
                        .map(|j| {
                            let (x, y) = (&x[i], &y[i]);
                            product(x.own[j], y.own[j] ^ y.next[j]) ^ product(x.next[j], y.own[j])
                        })
                        .collect();
                    assert!(sent[0] == xor(&terms, &WORLD.zeros(i, at, 0, len)), "{field:?}, {len} bytes");
                }
            }
        }
    }
}

#[test]
fn every_key_name_and_address_has_words_of_its_own() {
    let of = |world: World, shard, lane| {
        let w = world.parties(Backend::best());
        let shares = [0, 1, 2].map(|i| random(&w[i], shard, lane, 64));
        for i in 0..3 {
            assert!(shares[i].next == shares[(i + 1) % 3].own, "replicated");
            assert_eq!(shares[i].next, world.words(i, (shard, lane), 0, 64), "x_{{i+1}} is made with k_i");
        }
        open([&shares[0].own, &shares[1].own, &shares[2].own]).unwrap()
    };
    let worlds = [WORLD, World { id: 8, ..WORLD }, World { keys: [1, 2, 4], ..WORLD }];
    let addresses = [(0, 0), (0, 1), (1, 0), (1, 1), (u32::MAX, 0), (0, u32::MAX)];
    let mut seen = HashSet::new();
    for world in worlds {
        for (shard, lane) in addresses {
            for word in of(world, shard, lane).chunks_exact(16) {
                assert!(seen.insert(word.to_vec()), "a word of {shard}, {lane} came before");
            }
        }
    }
}

/// Within six standard deviations of a fair coin.
fn fair(bytes: &[u8]) -> bool {
    let ones: u32 = bytes.iter().map(|byte| byte.count_ones()).sum();
    let bits = 8.0 * bytes.len() as f64;
    (f64::from(ones) - bits / 2.0).abs() < 3.0 * bits.sqrt()
}

#[test]
fn shares_are_uniform_whatever_the_value_is() {
    let mut prg = prg(5, "shares");
    let mut seen = HashSet::new();
    for value in [vec![0; 4096], vec![0xff; 4096], noise(1, 4096)] {
        for _ in 0..2 {
            let shares = share(&mut prg, &value);
            for (i, mine) in shares.iter().enumerate() {
                // All that one party has: each share alone, and their sum.
                assert!(fair(&mine.own) && fair(&mine.next), "party {i}");
                assert!(fair(&xor(&mine.own, &mine.next)), "party {i}");
                assert!(mine.next == shares[(i + 1) % 3].own, "party {i}");
                for word in mine.own.chunks_exact(16) {
                    assert!(seen.insert(word.to_vec()), "party {i} has a word that came before");
                }
            }
            assert!(open([&shares[0].own, &shares[1].own, &shares[2].own]).unwrap() == value);
        }
    }
}
