//! PRG and PRSS give the same bytes for any split and any tier; the bytes are pinned.

use hushwire_aes::{Aes128, Backend, Tier};
use hushwire_block::Block;
use hushwire_prg::{Address, Prg, Prss, PrssKeys, Seed};
use proptest::prelude::*;

fn seed(i: u8) -> Seed {
    Seed::from_bytes(std::array::from_fn(|j| 16 * i + j as u8))
}

/// The parties' PRSS: k_1, k_2, k_3 are seeds 1, 2, 3; P_i holds k_i and k_{i−1}.
fn parties(backend: Backend, session: u8, label: &str) -> [Prss; 3] {
    [(1, 3), (2, 1), (3, 2)].map(|(own, prev)| {
        Prss::new(backend, &PrssKeys { own: seed(own), prev: seed(prev) }, &[session; 16], label)
    })
}

fn zeros(p: &Prss, addr: Address, first: u64, n: usize) -> Vec<u8> {
    let mut out = vec![0xff; n];
    p.zero_words(addr, first, &mut out);
    out
}

const ADDR: Address = Address { shard: 5, lane: 9 };

#[test]
fn blocks_and_words_are_the_streams_next_bytes() {
    let mut bytes = [0; 64];
    Prg::new(Backend::best(), &seed(1), "forms").fill(&mut bytes);
    let (mut prg, mut blocks) = (Prg::new(Backend::best(), &seed(1), "forms"), [Block::ZERO; 2]);
    prg.fill_blocks(&mut blocks);
    let rest = [prg.next_u64(), prg.next_u64()].map(u64::to_le_bytes);
    let read = [&blocks[0].0[..], &blocks[1].0, &rest[0], &rest[1], &prg.next_block().0].concat();
    assert_eq!(read, bytes);
}

#[test]
fn known_answers() {
    let derived = seed(1).derive("label", b"context");
    let mut prg = [0; 32];
    Prg::new(Backend::best(), &seed(1), "test").fill(&mut prg);
    let zero = zeros(&parties(Backend::best(), 7, "test")[0], ADDR, 3, 32);
    let found = [&derived.expose()[..], &prg, &zero].map(hex::encode);
    let pinned = [
        "a2d777be46682dc0effec936d00fb663",
        "e7f00abbe0013d61a10148b2eadb0e873486cf1c93ae3c3e2f799a470b12cf84",
        "d9231812ec4acc728057e21976710fb240a6bdb1359a2fa0b52551528046b52e",
    ];
    assert_eq!(found, pinned);
}

#[test]
fn the_stream_and_the_words_are_what_the_documents_say() {
    let b = Backend::forced(Tier::Portable).unwrap();
    let key = |i, label, context: &[u8]| Aes128::on(b, seed(i).derive(label, context).expose());
    let mut blocks = [0, 1].map(Block::from_u128);
    b.ecb_encrypt(&key(1, "hushwire prg", b"test"), &mut blocks);
    let mut prg = Prg::new(Backend::best(), &seed(1), "test");
    assert_eq!([prg.next_block(), prg.next_block()], blocks);
    let context = [&[7; 16][..], b"test"].concat();
    let [own, prev] = [1, 3].map(|i| {
        let mut word = [Block::from_u128(5 << 96 | 9 << 64 | 3)];
        b.ecb_encrypt(&key(i, "hushwire prss", &context), &mut word);
        word[0]
    });
    let party = &parties(Backend::best(), 7, "test")[0];
    assert_eq!(zeros(party, ADDR, 3, 16), (own ^ prev).0);
    // A device with these keys makes the same words.
    let keys = party.device_keys();
    let [own_word, prev_word] = [0, 1].map(|i| {
        let mut word = [Block::from_u128(ADDR.counter(3))];
        b.ecb_encrypt(&Aes128::on(b, &keys[i]), &mut word);
        word[0]
    });
    assert_eq!([own_word, prev_word], [own, prev]);
}

#[test]
fn every_backend_gives_the_same_bytes() {
    let stream = |b| {
        let mut out = vec![0; 1003];
        Prg::new(b, &seed(1), "tiers").fill(&mut out);
        out
    };
    for b in Backend::all() {
        assert_eq!(stream(b), stream(Backend::best()), "{b:?}");
        for (p, q) in parties(b, 1, "tiers").iter().zip(&parties(Backend::best(), 1, "tiers")) {
            assert_eq!(zeros(p, ADDR, 2, 1003), zeros(q, ADDR, 2, 1003), "{b:?}");
        }
    }
}

#[test]
fn zero_shares_cancel_and_random_shares_are_replicated() {
    for n in [0, 1, 15, 16, 17, 64, 1000, 10_000] {
        let ps = parties(Backend::best(), 1, "cancel");
        let shares = ps.each_ref().map(|p| zeros(p, ADDR, 4, n));
        for i in 0..n {
            assert_eq!(shares.iter().fold(0, |x, s| x ^ s[i]), 0, "byte {i} of {n}");
        }
        let random = ps.each_ref().map(|p| {
            let (mut own, mut prev) = (vec![0; n], vec![0; n]);
            p.random_words(ADDR, 4, &mut own, &mut prev);
            (own, prev)
        });
        for i in 0..3 {
            assert_eq!(random[i].0, random[(i + 1) % 3].1, "party {i}'s own is the next one's previous");
            let alpha: Vec<u8> = random[i].0.iter().zip(&random[i].1).map(|(x, y)| x ^ y).collect();
            assert_eq!(alpha, shares[i]);
        }
    }
}

#[test]
fn every_part_of_an_address_matters() {
    let b = Backend::best();
    let word = |session, label, addr, first| zeros(&parties(b, session, label)[0], addr, first, 16);
    let mut all = vec![
        word(1, "a", ADDR, 0),
        word(2, "a", ADDR, 0),
        word(1, "b", ADDR, 0),
        word(1, "a", Address { shard: 6, ..ADDR }, 0),
        word(1, "a", Address { lane: 10, ..ADDR }, 0),
        word(1, "a", Address { shard: 9, lane: 5 }, 0),
        word(1, "a", ADDR, 1),
    ];
    let n = all.len();
    all.sort();
    all.dedup();
    assert_eq!(all.len(), n);
}

#[test]
fn labels_and_contexts_do_not_run_together() {
    let seeds = [("ab", "c"), ("a", "bc"), ("abc", ""), ("", "abc"), ("ab", "d"), ("ac", "c")];
    let mut all = seeds.map(|(label, context)| *seed(1).derive(label, context.as_bytes()).expose());
    all.sort_unstable();
    assert!(all.windows(2).all(|w| w[0] != w[1]));
    assert_ne!(seed(1).derive("a", b"").expose(), seed(2).derive("a", b"").expose());
    assert_ne!(Seed::random().expose(), Seed::random().expose());
}

#[test]
fn the_last_word_of_a_lane_is_reached_and_not_passed() {
    let p = &parties(Backend::best(), 1, "end")[0];
    let both = zeros(p, ADDR, u64::MAX - 1, 32);
    assert_eq!(zeros(p, ADDR, u64::MAX, 16), both[16..]);
    let past = std::panic::catch_unwind(|| zeros(&parties(Backend::best(), 1, "end")[0], ADDR, u64::MAX, 17));
    assert!(past.is_err());
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_split_gives_the_same_stream(cuts in prop::collection::vec(0usize..200, 1..20)) {
        let n = cuts.iter().sum();
        let mut whole = vec![0; n];
        Prg::new(Backend::best(), &seed(1), "split").fill(&mut whole);
        let mut parts = vec![0; n];
        let mut rest = &mut parts[..];
        let mut prg = Prg::new(Backend::best(), &seed(1), "split");
        for cut in cuts {
            let (part, left) = rest.split_at_mut(cut);
            if cut == 16 { part.copy_from_slice(&prg.next_block().0) } else { prg.fill(part) }
            rest = left;
        }
        prop_assert_eq!(whole, parts);
    }

    #[test]
    fn any_batch_gives_the_same_words(cuts in prop::collection::vec(0u64..40, 1..12)) {
        let p = &parties(Backend::best(), 1, "batch")[1];
        let n = cuts.iter().sum::<u64>();
        let whole = zeros(p, ADDR, 100, 16 * n as usize);
        let mut at = 0;
        for cut in cuts {
            let part = zeros(p, ADDR, 100 + at, 16 * cut as usize);
            prop_assert_eq!(&part[..], &whole[16 * at as usize..][..part.len()]);
            at += cut;
        }
    }
}
