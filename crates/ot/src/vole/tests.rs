//! The relation over calls and rounds, from COTs that a dealer made.

use hushwire_aes::{Aes128, Backend};
use hushwire_block::{Block, Gf128};
use hushwire_prg::Seed;
use hushwire_simd::clmul::Clmul;

use super::{Receiver, Sender, code};
use crate::ferret::end::public_key;
use crate::ferret::rig::{DELTA, TINY, context, dealer, stream};
use crate::{Exchanged, Machine, OtError, Role};

fn ends(backend: Backend) -> (Sender, Receiver) {
    let context = context(backend);
    let sender = Sender::new(&context, TINY, dealer(Role::Sender), &Seed::from_bytes([8; 16]));
    (sender, Receiver::new(&context, TINY, dealer(Role::Receiver)))
}

/// Calls `extend`, checks the relation, and adds what was sent and made to `hasher`.
fn extend((s, r): &mut (Sender, Receiver), len: usize, hasher: &mut blake3::Hasher) -> usize {
    let [mut q, mut t, mut u] = [(); 3].map(|()| vec![Gf128::ZERO; len]);
    let mut sent = 0;
    {
        let (mut s, mut r) = (s.extend(&mut q), r.extend(&mut t, &mut u));
        while let (Some(ts), Some(tr)) = (s.round(0), r.round(0)) {
            assert_eq!((ts.out, ts.into, ts.name), (tr.into, tr.out, tr.name));
            let (mut from_s, mut from_r) = (vec![0; ts.out], vec![0; tr.out]);
            s.write(0, &mut from_s).expect("an honest run");
            r.write(0, &mut from_r).expect("an honest run");
            s.read(&[Exchanged::heard(&from_r)]).expect("an honest run");
            r.read(&[Exchanged::heard(&from_s)]).expect("an honest run");
            hasher.update(&from_s);
            sent += from_s.len();
        }
        assert!(s.round(0).is_none() && r.round(0).is_none());
    }
    let delta = s.delta();
    assert_eq!(delta, DELTA.into());
    for (i, ((q, t), u)) in q.iter().zip(&t).zip(&u).enumerate() {
        assert_eq!(*t, *q + u.mul(delta, Clmul::best()), "VOLE {i}");
        hasher.update(&t.0.to_le_bytes()).update(&u.0.to_le_bytes());
    }
    // Random elements do not repeat, and half their bits are set.
    let mut seen: Vec<u128> = u.iter().map(|u| u.0).collect();
    let ones: u32 = seen.iter().map(|u| u.count_ones()).sum();
    let bits = 128.0 * len as f64;
    assert!((f64::from(ones) - bits / 2.0).abs() <= 4.0 * bits.sqrt(), "{ones} ones of {bits}");
    seen.sort_unstable();
    seen.dedup();
    assert_eq!(seen.len(), len);
    sent
}

#[test]
fn relation_holds_over_calls_and_rounds() {
    let mut ends = ends(Backend::best());
    let round = (TINY.trees() - (TINY.secrets() + TINY.trees()).div_ceil(TINY.leaves())) * TINY.leaves();
    let room = |(s, r): &(Sender, Receiver)| [s.vole.room(), r.vole.room()];
    let before = room(&ends);
    for len in [1, 0, 127, 256, 1000, 2 * round, 1] {
        extend(&mut ends, len, &mut blake3::Hasher::new());
    }
    assert_eq!(room(&ends), before, "nothing was moved, and copies left behind");
}

#[test]
fn a_round_sends_what_was_declared() {
    let mut ends = ends(Backend::best());
    let round = (TINY.trees() - (TINY.secrets() + TINY.trees()).div_ceil(TINY.leaves())) * TINY.leaves();
    let sent = extend(&mut ends, round, &mut blake3::Hasher::new());
    assert_eq!(sent, TINY.trees() * 16 * (TINY.depth() + 1));
}

#[test]
fn bytes_and_outputs_are_pinned_on_every_backend() {
    for backend in Backend::all() {
        let (mut ends, mut hasher) = (ends(backend), blake3::Hasher::new());
        extend(&mut ends, 3000, &mut hasher);
        assert_eq!(hasher.finalize().to_hex()[..16], *"90fa971462d2b59c", "{backend:?}");
    }
}

#[test]
fn code_agrees_with_products() {
    let (key, clmul) = (Aes128::new(&[9; 16]), Clmul::best());
    let mut table = vec![Block::ZERO; 32];
    stream(4).fill_blocks(&mut table);
    for len in [1, 63, 64, 65, 200] {
        let (mut once, mut twice) = (table[0], vec![Block::ONES; len]);
        let all = vec![Block::ONES; len];
        code::accumulate(Backend::best(), &key, 5, &[&table], &mut [&mut twice]);
        for (j, (got, start)) in twice.iter().zip(&all).enumerate() {
            let mut blocks = [Block::ZERO; 13];
            Backend::best().counter_blocks(&key, 13 * (5 + j as u128), &mut blocks);
            once = *start;
            for i in 0..10 {
                let word = &blocks[i / 4].0[4 * (i % 4)..][..4];
                let index = u32::from_le_bytes(word.try_into().expect("4 bytes")) as usize % 32;
                once ^= Gf128::from(blocks[3 + i]).mul(table[index].into(), clmul).into();
            }
            assert_eq!(*got, once, "output {j} of {len}");
        }
        assert_ne!(once, Block::ONES);
    }
}

#[test]
fn a_changed_message_breaks_the_relation() {
    // Nothing is checked here: this shows that the other tests could fail.
    let (mut s, mut r) = ends(Backend::best());
    let [mut q, mut t, mut u] = [(); 3].map(|()| vec![Gf128::ZERO; 512]);
    {
        let (mut s, mut r) = (s.extend(&mut q), r.extend(&mut t, &mut u));
        while let (Some(ts), Some(tr)) = (s.round(0), r.round(0)) {
            let (mut from_s, mut from_r) = (vec![0; ts.out], vec![0; tr.out]);
            s.write(0, &mut from_s).expect("an honest run");
            r.write(0, &mut from_r).expect("an honest run");
            if ts.name == "vole: trees" {
                *from_s.last_mut().expect("a message") ^= 1;
            }
            s.read(&[Exchanged::heard(&from_r)]).expect("an honest run");
            r.read(&[Exchanged::heard(&from_s)]).expect("an honest run");
        }
    }
    let wrong = (0..512).filter(|&i| t[i] != q[i] + u[i].mul(DELTA.into(), Clmul::best())).count();
    assert_eq!(wrong, 1, "d of the last tree counts at one leaf");
}

#[test]
fn other_lengths_end_a_call_and_every_later_one() {
    for name in ["vole: COTs", "vole: trees"] {
        for change in [-1, 1, i64::MIN] {
            let (mut s, mut r) = ends(Backend::best());
            let [mut q, mut t, mut u] = [(); 3].map(|()| vec![Gf128::ZERO; 512]);
            let (mut sender, mut receiver) = (s.extend(&mut q), r.extend(&mut t, &mut u));
            let refused = loop {
                let (ts, tr) = (sender.round(0).expect("more"), receiver.round(0).expect("more"));
                let (mut from_s, mut from_r) = (vec![0; ts.out], vec![0; tr.out]);
                sender.write(0, &mut from_s).expect("an honest run");
                receiver.write(0, &mut from_r).expect("an honest run");
                if ts.name == name {
                    let cut = |m: &mut Vec<u8>| m.resize(m.len().saturating_add_signed(change as isize), 0);
                    [&mut from_s, &mut from_r].into_iter().for_each(cut);
                    break [
                        sender.read(&[Exchanged::heard(&from_r)]),
                        receiver.read(&[Exchanged::heard(&from_s)]),
                    ];
                }
                sender.read(&[Exchanged::heard(&from_r)]).expect("an honest run");
                receiver.read(&[Exchanged::heard(&from_s)]).expect("an honest run");
            };
            // Whoever hears nothing in this tick may not notice that a message was cut to nothing.
            let malformed = refused.iter().filter(|r| matches!(r, Err(OtError::Malformed { .. }))).count();
            let hearer = usize::from(name == "vole: trees");
            assert!(matches!(refused[hearer], Err(OtError::Malformed { .. })), "{name} {change}");
            assert!(malformed == 1 + usize::from(change == 1), "{name} {change}");
            drop((sender, receiver));
            let lost = |end: &mut dyn Machine<Error = OtError>| {
                assert!(end.round(0).is_some(), "it does not look done");
                assert!(matches!(end.read(&[Exchanged::heard(&[])]), Err(OtError::Lost { .. })));
            };
            if hearer == 0 {
                lost(&mut s.extend(&mut q));
                lost(&mut s.extend(&mut []));
            } else {
                lost(&mut r.extend(&mut t, &mut u));
                lost(&mut r.extend(&mut [], &mut []));
            }
        }
    }
}

#[test]
fn an_end_whose_call_was_dropped_unfinished_is_lost() {
    let (mut s, _) = ends(Backend::best());
    let mut q = vec![Gf128::ZERO; 5];
    drop(s.extend(&mut q));
    assert!(matches!(s.extend(&mut q).read(&[Exchanged::heard(&[])]), Err(OtError::Lost { .. })));
}

#[test]
fn rounds_go_on_with_their_own_keys() {
    let (mut ends, mut seen) = (ends(Backend::best()), std::collections::HashSet::new());
    let mut round = 0;
    while round < 3 {
        for vole in [ends.0.vole.keys(), ends.1.vole.keys()] {
            assert_eq!(vole.0, round);
            for (label, key) in ["vole code", "vole leaves", "vole tree"].into_iter().zip(vole.1) {
                let wanted = public_key(&context(Backend::best()), &TINY, label, round);
                assert_eq!(key.round_keys(), wanted.round_keys(), "{label} of round {round}");
                seen.insert(*key.round_keys());
            }
        }
        // To the end of the round.
        while ends.0.vole.keys().0 == round {
            extend(&mut ends, TINY.leaves(), &mut blake3::Hasher::new());
        }
        round += 1;
    }
    assert_eq!(seen.len(), 9);
}
