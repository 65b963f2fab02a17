//! Tests of the functionalities against formulas with another AES: at every level, with either
//! endpoint as the speaker, and with OT numbers on both sides of a change of keys.
//!
//! Two endpoints that agree may still use no tweak, one key forever, or no hash at all. These
//! formulas share nothing with the tested code but the blocks q and the choices of an ideal
//! extension.

use aes::cipher::{BlockCipherEncrypt, KeyInit};
use hushwire_block::Block;
use hushwire_prg::Prg;

use crate::{
    Exchanged, Level, Machine, Malicious, OtError, Receiver, Receiving, Role, Security, SemiHonest, Sender,
    Sending, Triples,
    bits::bit,
    ideal::{DELTA, deal, ends, stream},
    lockstep,
};

/// The number of OTs in a call, all in one chunk.
const COUNT: usize = 40;
/// The number of the first OT. Three calls then lie under the first key, at its end, and under the
/// second.
const FIRST: u64 = (1 << 20) - 60;

/// The permutation of a session's public key, from the definition of derived names.
fn permutation(label: &str, index: u64) -> impl Fn(Block) -> Block {
    let mut name = blake3::Hasher::new_derive_key("hushwire 2026 ot sid v1");
    name.update(&[9; 32]).update(&index.to_le_bytes()).update(label.as_bytes());
    let key: [u8; 16] = *name.finalize().as_bytes().first_chunk().expect("32 bytes hold 16");
    let cipher = aes::Aes128::new(&key.into());
    move |x| {
        let mut block = x.0.into();
        cipher.encrypt_block(&mut block);
        Block(block.into())
    }
}

/// π(π(x) ⊕ i) ⊕ π(x).
fn tweaked(pi: &impl Fn(Block) -> Block, i: u128, x: Block) -> Block {
    pi(pi(x) ^ Block::from_u128(i)) ^ pi(x)
}

/// H of the OTs of a call whose first OT has the number `first`.
fn hash<S: Security>(speaker: Role, first: u64) -> impl Fn(usize, Block) -> Block {
    let pi = permutation("pads", first >> 20);
    move |i, x| {
        if S::LEVEL == Level::Malicious || speaker == Role::Sender {
            tweaked(&pi, u128::from(first) + i as u128, x)
        } else {
            let word = x.to_u128();
            let (low, high) = (word & u128::from(u64::MAX), word >> 64);
            let sigma = Block::from_u128((low ^ high) << 64 | high);
            pi(sigma) ^ sigma
        }
    }
}

/// One OT by the formulas: both pads, and the choice.
struct Ot {
    pads: [Block; 2],
    choice: bool,
}

/// The dealer's next `count` OTs; `choices` if the receiver has its own.
fn ots(
    dealer: &mut Prg,
    hash: impl Fn(usize, Block) -> Block,
    count: usize,
    choices: Option<&[u8]>,
) -> Vec<Ot> {
    let ot = |i| {
        let (q, random) = deal(dealer);
        let choice = choices.map_or(random, |choices| bit(choices, i) == 1);
        // The sender adds d(Δ ⊕ 1), where d is the bit that turns the random choice into the chosen
        // one.
        let q = q ^ (DELTA ^ Block::from_u128(1)).and_bit(choice != random);
        Ot { pads: [hash(i, q), hash(i, q ^ DELTA)], choice }
    };
    (0..count).map(ot).collect()
}

/// Runs both endpoints, and returns the sender's last message.
fn last_message(s: &mut impl Machine<Error = OtError>, r: &mut impl Machine<Error = OtError>) -> Vec<u8> {
    let mut last = Vec::new();
    while let (Some(a), Some(b)) = (s.round(0), r.round(0)) {
        let (mut from_s, mut from_r) = (vec![0; a.out], vec![0; b.out]);
        s.write(0, &mut from_s).expect("an honest run");
        r.write(0, &mut from_r).expect("an honest run");
        s.read(&[Exchanged::heard(&from_r)]).expect("an honest run");
        r.read(&[Exchanged::heard(&from_s)]).expect("an honest run");
        if !from_s.is_empty() {
            last = from_s;
        }
    }
    assert!(s.round(0).is_none() && r.round(0).is_none());
    last
}

/// Both endpoints and their dealer, with OTs from number `first` on.
fn at<S: Security>(speaker: Role, size: usize, first: u64) -> (Sender<S>, Receiver<S>, Prg) {
    let (mut s, mut r) = ends::<S>(speaker, size);
    (s.end().next, r.end().next) = (first, first);
    (s, r, stream())
}

/// Runs the test at both levels and with each role as the speaker.
fn everywhere(semi_honest: impl Fn(Role), malicious: impl Fn(Role)) {
    for speaker in [Role::Sender, Role::Receiver] {
        semi_honest(speaker);
        malicious(speaker);
    }
}

/// The choices of a call.
fn choices(call: u64) -> Vec<u8> {
    (0..COUNT as u8 / 8).map(|i| (i + 1).wrapping_mul(0x5b) ^ call as u8).collect()
}

fn random_ots<S: Security>(speaker: Role) {
    let (mut s, mut r, mut dealer) = at::<S>(speaker, COUNT, FIRST);
    for call in 0..6 {
        let chosen = call % 2 == 1;
        let (mut pairs, mut messages) = ([[Block::ZERO; 2]; COUNT], [Block::ZERO; COUNT]);
        let (own, mut drawn) = (choices(call), vec![0; COUNT / 8]);
        let mut send = s.extend(Sending::Rot { pairs: &mut pairs, chosen });
        let receive = if chosen {
            Receiving::RotChosen { choices: &own, messages: &mut messages }
        } else {
            Receiving::Rot { choices: &mut drawn, messages: &mut messages }
        };
        let mut receive = r.extend(receive);
        last_message(&mut send, &mut receive);
        drop((send, receive));
        let hash = hash::<S>(speaker, FIRST + call * COUNT as u64);
        for (i, ot) in ots(&mut dealer, hash, COUNT, chosen.then_some(&own)).iter().enumerate() {
            assert_eq!(pairs[i], ot.pads, "the sender's OT {i} of call {call}, {speaker} speaks");
            assert_eq!(messages[i], ot.pads[usize::from(ot.choice)], "the receiver's");
            assert_eq!(bit(if chosen { &own } else { &drawn }, i) == 1, ot.choice);
        }
    }
}

#[test]
fn random_ots_are_hashes_of_correlated_ones() {
    everywhere(random_ots::<SemiHonest>, random_ots::<Malicious>);
}

fn chosen_ots<S: Security>(speaker: Role) {
    let (mut s, mut r, mut dealer) = at::<S>(speaker, COUNT, FIRST);
    for call in 0..3 {
        let own = choices(call);
        let plain: Vec<[Block; 2]> = (0..COUNT as u128).map(|i| [i.into(), (!i).into()]).collect();
        let mut got = [Block::ZERO; COUNT];
        let mut send = s.extend(Sending::Ot(&plain));
        let mut receive = r.extend(Receiving::Ot { choices: &own, messages: &mut got });
        let payload = last_message(&mut send, &mut receive);
        drop((send, receive));
        let hash = hash::<S>(speaker, FIRST + call * COUNT as u64);
        let ots = ots(&mut dealer, hash, COUNT, Some(&own));
        let wanted = ots.iter().zip(&plain).flat_map(|(ot, plain)| [0, 1].map(|b| ot.pads[b] ^ plain[b]));
        assert_eq!(hushwire_block::from_bytes(&payload), wanted.collect::<Vec<_>>(), "{speaker} speaks");
        for (i, ot) in ots.iter().enumerate() {
            assert_eq!(got[i], plain[i][usize::from(ot.choice)]);
        }
    }
}

#[test]
fn chosen_ots_are_under_the_pads_of_random_ones() {
    everywhere(chosen_ots::<SemiHonest>, chosen_ots::<Malicious>);
}

fn bit_ots<S: Security>(speaker: Role) {
    let (mut s, mut r, mut dealer) = at::<S>(speaker, COUNT, FIRST);
    for call in 0..3 {
        let (own, plain) = (choices(call), [choices(call + 50), choices(call + 77)]);
        let mut got = vec![0; COUNT / 8];
        let mut send = s.extend(Sending::BitOt { messages: [&plain[0], &plain[1]], count: COUNT });
        let mut receive = r.extend(Receiving::BitOt { choices: &own, messages: &mut got, count: COUNT });
        let payload = last_message(&mut send, &mut receive);
        drop((send, receive));
        let hash = hash::<S>(speaker, FIRST + call * COUNT as u64);
        for (i, ot) in ots(&mut dealer, hash, COUNT, Some(&own)).iter().enumerate() {
            for b in [0, 1] {
                let pad = u8::from(ot.pads[b].lsb());
                assert_eq!(bit(&payload[b * COUNT / 8..], i), bit(&plain[b], i) ^ pad, "bit OT {i}");
            }
            assert_eq!(bit(&got, i), bit(&plain[usize::from(ot.choice)], i));
        }
    }
}

#[test]
fn bit_ots_are_under_bit_0_of_the_pads() {
    everywhere(bit_ots::<SemiHonest>, bit_ots::<Malicious>);
}

fn triples<S: Security>(speaker: Role) {
    let (mut s0, mut r1, dealer) = at::<S>(speaker, COUNT, FIRST);
    let (mut s1, mut r0, _) = at::<S>(speaker, COUNT, FIRST);
    let mut dealer = dealer;
    for call in 0..3 {
        let mut zero = Triples::new(&mut s0, &mut r0, COUNT, true);
        let mut one = Triples::new(&mut s1, &mut r1, COUNT, false);
        lockstep(&mut zero, &mut one).expect("an honest run");
        let hash = hash::<S>(speaker, FIRST + call * COUNT as u64);
        // Both directions have the same dealer, so that both parties hold the same shares.
        let ots = ots(&mut dealer, hash, COUNT, None);
        for party in [zero.finish(), one.finish()] {
            for (i, ot) in ots.iter().enumerate() {
                let [m0, m1] = ot.pads.map(|pad| u8::from(pad.lsb()));
                let (a, b) = (m0 ^ m1, u8::from(ot.choice));
                let v = if ot.choice { m1 } else { m0 };
                let got = [bit(&party.a, i), bit(&party.b, i), bit(&party.c, i)];
                assert_eq!(got, [a, b, a & b ^ m0 ^ v], "triple {i} of call {call}, {speaker} speaks");
            }
        }
    }
}

#[test]
fn triples_are_bits_of_random_ots() {
    everywhere(triples::<SemiHonest>, triples::<Malicious>);
}

/// No two messages on the wire use the same pad: numbers grow over calls, and keys change with
/// numbers.
#[test]
fn no_pad_comes_twice() {
    let mut seen = std::collections::HashSet::new();
    // The dealer starts again each time, so that only number and key distinguish the calls.
    for first in [0, 40, 1 << 20, (1 << 20) + 40, 5 << 20] {
        let (mut s, mut r, _) = at::<Malicious>(Role::Sender, COUNT, first);
        let (mut pairs, mut messages) = ([[Block::ZERO; 2]; COUNT], [Block::ZERO; COUNT]);
        let own = vec![0; COUNT / 8];
        let mut send = s.extend(Sending::Rot { pairs: &mut pairs, chosen: true });
        let mut receive = r.extend(Receiving::RotChosen { choices: &own, messages: &mut messages });
        lockstep(&mut send, &mut receive).expect("an honest run");
        drop((send, receive));
        assert_eq!([s.end().next, r.end().next], [first + COUNT as u64; 2]);
        assert!(pairs.as_flattened().iter().all(|pad| seen.insert(*pad)), "from {first}");
    }
}
