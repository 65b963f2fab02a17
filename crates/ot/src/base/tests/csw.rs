//! Tests of CSW20 with an independent sender, tampered messages, and a sender that guesses.

use curve25519_dalek::ristretto::CompressedRistretto;
use curve25519_dalek::{RistrettoPoint, Scalar, constants::RISTRETTO_BASEPOINT_POINT};
use hushwire_block::Block;

use super::super::csw::{Csw, CswReceiver, MIN_BATCH};
use super::{Run, bad_points, choices, honest};
use crate::base::ReceiveBase;
use crate::{Check, Exchanged, Machine, OtError, Role};

/// The offset of Π in the rest of the second message, in bytes.
const PROOF: usize = 48 * MIN_BATCH;

fn few() -> Run {
    Run::new(1, 2, 3, choices(MIN_BATCH, 4))
}

#[test]
fn honest_parties_agree() {
    honest::<Csw>();
}

/// The error of a run in which one message is changed.
fn ends_with(at: usize, from: Role, change: impl Fn(&mut [u8])) -> OtError {
    let touch = |tick, who, message: &mut [u8]| {
        if (tick, who) == (at, from) {
            change(message);
        }
    };
    few().touched::<Csw>(touch).map(|_| ()).expect_err("a changed message must end the run")
}

fn assert_ends(error: &OtError, what: &str) {
    let known = matches!(error, OtError::Abort { check: Check::BaseOt, .. } | OtError::Malformed { .. });
    assert!(known, "{what}: {error}");
}

#[test]
fn a_flipped_bit_in_any_field_ends_the_run() {
    // A byte of R's seed, B_0, B_41 and B_79.
    for byte in [0, 31, 32, 63, 32 + 32 * 41 + 7, 32 + 32 * 80 - 1] {
        assert_ends(&ends_with(0, Role::Receiver, |m| m[byte] ^= 1), &format!("message 1, byte {byte}"));
    }
    // z; both c and χ of OTs of either choice; Π.
    let picked = few().choices;
    let either = [false, true].map(|b| picked.iter().position(|&choice| choice == b).unwrap());
    let fields = either.into_iter().flat_map(|i| [0, 16, 32].map(|field| 48 * i + field + 5));
    for byte in [0, 31] {
        assert_ends(&ends_with(1, Role::Sender, |m| m[byte] ^= 1), &format!("z, byte {byte}"));
    }
    for byte in fields.chain([PROOF, PROOF + 31]) {
        assert_ends(&ends_with(2, Role::Sender, |m| m[byte] ^= 0x80), &format!("entries, byte {byte}"));
    }
    for byte in [0, 31] {
        let error = ends_with(3, Role::Receiver, |m| m[byte] ^= 1);
        assert!(matches!(error, OtError::Abort { check: Check::BaseOt, .. }), "{error}");
    }
}

#[test]
fn points_that_are_none_are_malformed() {
    for bad in bad_points() {
        for i in [0, MIN_BATCH - 1] {
            let error = ends_with(0, Role::Receiver, |m| m[32 + 32 * i..][..32].copy_from_slice(&bad));
            assert!(matches!(error, OtError::Malformed { message: "base OT points", .. }), "{error}");
        }
        let error = ends_with(1, Role::Sender, |m| m.copy_from_slice(&bad));
        assert!(matches!(error, OtError::Malformed { message: "base OT point", .. }), "{error}");
    }
}

#[test]
fn zeroed_messages_and_swapped_entries_end_the_run() {
    for (at, from) in [(0, Role::Receiver), (1, Role::Sender), (2, Role::Sender), (3, Role::Receiver)] {
        assert_ends(&ends_with(at, from, |m| m.fill(0)), "zeroes");
    }
    let swap = |skip: usize, unit: usize| {
        move |m: &mut [u8]| {
            let (a, b) = m[skip..].split_at_mut(unit);
            a.swap_with_slice(&mut b[..unit]);
        }
    };
    assert_ends(&ends_with(0, Role::Receiver, swap(32, 32)), "B_0 and B_1");
    assert_ends(&ends_with(2, Role::Sender, swap(0, 48)), "entries 0 and 1");
    assert_ends(&ends_with(2, Role::Sender, swap(0, 16)), "both c of OT 0");
}

#[test]
fn messages_of_other_sessions_end_the_run() {
    let own = few().messages::<Csw>();
    // Another session name, another sender, another receiver.
    for other in [Run { sid: 9, ..few() }, Run { sender: 9, ..few() }, Run { receiver: 9, ..few() }] {
        let old = other.messages::<Csw>();
        for (at, (from, message)) in old.iter().enumerate() {
            // A party's messages before it receives any are the same in both sessions.
            let same = (at, other.sender, other.receiver);
            assert_eq!(own[at].1 == *message, matches!(same, (0, 9, _) | (1, _, 9)), "message {at}");
            if own[at].1 != *message {
                assert_ends(&ends_with(at, *from, |m| m.copy_from_slice(message)), &format!("message {at}"));
            }
        }
        // Changes all messages of the sender.
        let touch = |at: usize, from, message: &mut [u8]| {
            if (from, message.is_empty()) == (Role::Sender, false) {
                message.copy_from_slice(&old[at].1);
            }
        };
        let error = few().touched::<Csw>(touch).map(|_| ()).expect_err("another sender's messages");
        assert_ends(&error, "all of the sender's messages");
    }
}

/// The paper's hashes, from their definition.
struct Oracle(blake3::Hasher);

fn oracle(run: &Run, name: &str) -> Oracle {
    let key = blake3::derive_key(&format!("hushwire 2026 ot csw {name} v1"), &run.context().sid.0);
    Oracle(blake3::Hasher::new_keyed(&key))
}

impl Oracle {
    fn of(&self, parts: &[&[u8]]) -> [u8; 32] {
        let mut hasher = self.0.clone();
        for part in parts {
            hasher.update(part);
        }
        *hasher.finalize().as_bytes()
    }

    fn block(&self, i: usize, part: &[u8]) -> Block {
        Block(self.of(&[&(i as u64).to_le_bytes(), part])[..16].try_into().unwrap())
    }
}

/// T, doubled from half of it.
fn t(run: &Run, seed: &[u8]) -> RistrettoPoint {
    let mut wide = [0; 64];
    oracle(run, "H1").0.update(seed).finalize_xof().fill(&mut wide);
    let half = RistrettoPoint::from_uniform_bytes(&wide);
    half + half
}

/// A sender that follows the paper's formulas, but guesses the choice bits of some OTs: for such an
/// OT the message fits only one choice. Returns the second message, otans and the keys.
fn guessing(run: &Run, first: &[u8], guesses: &[(usize, bool)]) -> (Vec<u8>, [u8; 32], Vec<[Block; 2]>) {
    let (h2, h3) = (oracle(run, "H2"), oracle(run, "H3"));
    let (seed, points) = first.split_at(32);
    let (t, r) = (t(run, seed), Scalar::from(123_456_789u64));
    let z = (RISTRETTO_BASEPOINT_POINT * r).compress().to_bytes();
    let mut message = Vec::new();
    let (mut all, mut keys) = (Vec::new(), Vec::new());
    for (i, b) in points.chunks(32).enumerate() {
        let b = CompressedRistretto::from_slice(b).unwrap().decompress().unwrap();
        let p = [b * r, b * r - t * r].map(|rho| h2.block(i, rho.compress().as_bytes()));
        let m = [Block::from_u128(i as u128), Block::from_u128(!(i as u128))];
        let mut answers = p.map(|p| h3.block(i, &p.0));
        let mut chi = answers[0] ^ answers[1];
        match guesses.iter().find(|(at, _)| *at == i) {
            // A receiver with bit 1 uses χ, and gets another answer.
            Some((_, false)) => chi.0[3] ^= 4,
            // A receiver with bit 0 does not use χ, and gets another answer.
            Some((_, true)) => {
                answers[0].0[3] ^= 4;
                chi.0[3] ^= 4;
            }
            None => {}
        }
        all.extend_from_slice(&answers[0].0);
        keys.push(m);
        for block in [p[0] ^ m[0], p[1] ^ m[1], chi] {
            message.extend_from_slice(&block.0);
        }
    }
    let otans = oracle(run, "H4").of(&[&all]);
    let said = oracle(run, "said");
    let proof = oracle(run, "proof").of(&[&otans, &said.of(&[first]), &z, &said.of(&[&message])]);
    message.extend_from_slice(&proof);
    ([&z, &message[..]].concat(), otans, keys)
}

/// The rest of a run with that sender: the honest receiver, otans and the sender's keys.
type Guessed = (CswReceiver, [u8; 32], Vec<[Block; 2]>);

/// The honest receiver, after it received that sender's message.
fn against(run: &Run, guesses: &[(usize, bool)]) -> Result<Guessed, OtError> {
    let mut receiver = run.receiver::<Csw>();
    let mut first = vec![0; receiver.round(0).unwrap().out];
    receiver.write(0, &mut first)?;
    receiver.read(&[Exchanged::heard(&[])])?;
    let (message, otans, keys) = guessing(run, &first, guesses);
    for part in [&message[..32], &message[32..]] {
        receiver.write(0, &mut [])?;
        receiver.read(&[Exchanged::heard(part)])?;
    }
    Ok((receiver, otans, keys))
}

#[test]
fn the_receiver_agrees_with_a_sender_written_from_the_paper() {
    let run = few();
    let (mut receiver, otans, keys) = against(&run, &[]).unwrap();
    let mut answer = [0; 32];
    receiver.write(0, &mut answer).unwrap();
    receiver.read(&[Exchanged::heard(&[])]).unwrap();
    assert_eq!(answer, otans);
    let received = receiver.finish();
    for (i, keys) in keys.iter().enumerate() {
        assert_eq!(received.keys()[i], keys[usize::from(run.choices[i])], "OT {i}");
    }
}

#[test]
fn a_guess_passes_if_it_is_right() {
    // With one guess against many receivers, about half of them abort: exactly those with the other
    // bit.
    let mut passed = 0;
    for n in 0..16 {
        let run = Run::new(20, 0, n, choices(5, n));
        let guess = (3, n % 2 == 1);
        let outcome = against(&run, &[guess]);
        assert_eq!(outcome.is_ok(), run.choices[guess.0] == guess.1, "receiver {n}");
        if let Err(error) = outcome {
            assert!(matches!(error, OtError::Abort { check: Check::BaseOt, .. }), "{error}");
        } else {
            passed += 1;
        }
    }
    assert!((1..16).contains(&passed), "{passed} of 16 guesses were right");
}

#[test]
fn passing_tells_the_guessed_bits_and_no_more() {
    let run = few();
    let right = |i: usize| (i, run.choices[i]);
    let wrong = |i: usize| (i, !run.choices[i]);
    // If all guesses are right, the check passes, and the answer is one that the sender knew
    // before, whatever the other bits are.
    let guesses = [right(0), right(17), right(79)];
    let (mut receiver, otans, _) = against(&run, &guesses).unwrap();
    let mut answer = [0; 32];
    receiver.write(0, &mut answer).unwrap();
    assert_eq!(answer, otans);
    let mut other = run.clone();
    (0..MIN_BATCH).filter(|i| ![0, 17, 79].contains(i)).for_each(|i| other.choices[i] ^= true);
    assert!(against(&other, &guesses).is_ok(), "bits that were not guessed decide nothing");
    // One wrong guess among right ones causes an abort.
    for guesses in [[wrong(0), right(17), right(79)], [right(0), right(17), wrong(79)]] {
        assert!(matches!(against(&run, &guesses), Err(OtError::Abort { check: Check::BaseOt, .. })));
    }
}

#[test]
fn a_receiver_that_sends_t_changes_no_other_ot() {
    // ρ_{0,1} is then the identity, which must not spoil the encodings in the same batch.
    let run = few();
    let mut sender = run.sender::<Csw>();
    let (seed, alpha) = ([7; 32], Scalar::from(1_234_567u64));
    let mut first = seed.to_vec();
    first.extend_from_slice(t(&run, &seed).compress().as_bytes());
    for _ in 1..MIN_BATCH {
        first.extend_from_slice((RISTRETTO_BASEPOINT_POINT * alpha).compress().as_bytes());
    }
    sender.read(&[Exchanged::heard(&first)]).unwrap();
    let mut said = Vec::new();
    for _ in 0..2 {
        let mut part = vec![0; sender.round(0).unwrap().out];
        sender.write(0, &mut part).unwrap();
        sender.read(&[Exchanged::heard(&[])]).unwrap();
        said.push(part);
    }

    let z = CompressedRistretto::from_slice(&said[0]).unwrap().decompress().unwrap();
    let (h2, h3) = (oracle(&run, "H2"), oracle(&run, "H3"));
    let mut answers = Vec::new();
    for (i, entry) in said[1][..PROOF].chunks(48).enumerate() {
        let (rho, choice) = if i == 0 { (z * Scalar::ZERO, true) } else { (z * alpha, false) };
        let p = h2.block(i, rho.compress().as_bytes());
        let chi = Block(entry[32..].try_into().unwrap()).and_bit(choice);
        answers.extend_from_slice(&(h3.block(i, &p.0) ^ chi).0);
    }
    sender.write(0, &mut []).unwrap();
    sender.read(&[Exchanged::heard(&oracle(&run, "H4").of(&[&answers]))]).unwrap();
    assert!(sender.round(0).is_none());
}
