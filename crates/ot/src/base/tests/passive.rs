//! Tests of Naor–Pinkas and of Chou–Orlandi, 1-out-of-2 and 1-out-of-16.

use curve25519_dalek::{RistrettoPoint, Scalar, constants::RISTRETTO_BASEPOINT_POINT};
use hushwire_block::Block;

use super::super::{BaseProtocol, ChouOrlandi, ChouOrlandi16, NaorPinkas, ReceiveBase};
use super::{Run, bad_points, choices, honest};
use crate::{Exchanged, Machine, OtError, Role};

#[test]
fn honest_parties_agree() {
    honest::<ChouOrlandi>();
    honest::<ChouOrlandi16>();
    honest::<NaorPinkas>();
}

fn rejects_bad_points<P: BaseProtocol>(first: &str, points: usize, others: usize) {
    let run = Run::new(1, 2, 3, choices(4, 4));
    for (at, from, name, count) in
        [(0, Role::Sender, first, points), (1, Role::Receiver, "base OT points", others)]
    {
        for bad in bad_points() {
            for i in 0..count {
                let touch = |tick, who, message: &mut [u8]| {
                    if (tick, who) == (at, from) {
                        message[32 * i..][..32].copy_from_slice(&bad);
                    }
                };
                let error = run.touched::<P>(touch).map(|_| ()).expect_err("a bad point");
                assert!(matches!(error, OtError::Malformed { message, .. } if message == name), "{error}");
            }
        }
    }
}

#[test]
fn points_that_are_none_are_malformed() {
    rejects_bad_points::<ChouOrlandi>("base OT point", 1, 4);
    rejects_bad_points::<ChouOrlandi16>("base OT point", 1, 1);
    rejects_bad_points::<NaorPinkas>("base OT parameters", 2, 4);
}

/// The receiver's message and keys, if the sender's first message is `first`.
fn received<P: BaseProtocol>(run: &Run, first: &[u8]) -> (Vec<[u8; 32]>, Vec<Block>) {
    let mut receiver = run.receiver::<P>();
    receiver.write(0, &mut []).unwrap();
    receiver.read(&[Exchanged::heard(first)]).unwrap();
    let mut second = vec![0; receiver.round(0).unwrap().out];
    receiver.write(0, &mut second).unwrap();
    receiver.read(&[Exchanged::heard(&[])]).unwrap();
    (second.as_chunks().0.to_vec(), receiver.finish().keys().to_vec())
}

/// The papers' hash, from its definition.
fn key(run: &Run, name: &str, i: usize, parts: &[&[u8]]) -> Block {
    let key = blake3::derive_key(&format!("hushwire 2026 ot {name} key v1"), &run.context().sid.0);
    let mut input = (i as u64).to_le_bytes().to_vec();
    input.extend(parts.concat());
    Block(blake3::keyed_hash(&key, &input).as_bytes()[..16].try_into().unwrap())
}

fn point(bytes: &[u8; 32]) -> RistrettoPoint {
    curve25519_dalek::ristretto::CompressedRistretto(*bytes).decompress().unwrap()
}

#[test]
fn receivers_agree_with_senders_written_from_the_papers() {
    let run = Run::new(5, 6, 7, choices(12, 8));
    let a = Scalar::from(987_654_321u64);
    let big_a = RISTRETTO_BASEPOINT_POINT * a;
    let sent = big_a.compress().to_bytes();
    let c = RistrettoPoint::from_uniform_bytes(&[9; 64]);

    let (points, keys) = received::<ChouOrlandi>(&run, &sent);
    for (i, b) in points.iter().enumerate() {
        let secret = if run.choices[i] { (point(b) - big_a) * a } else { point(b) * a };
        let expected = key(&run, "chou-orlandi", i, &[&sent, b, secret.compress().as_bytes()]);
        assert_eq!(keys[i], expected, "OT {i}");
    }

    let (points, keys) = received::<NaorPinkas>(&run, &[c.compress().to_bytes(), sent].concat());
    for (i, p0) in points.iter().enumerate() {
        let p = if run.choices[i] { c - point(p0) } else { point(p0) };
        let parts: [&[u8]; 3] = [&[u8::from(run.choices[i])], &sent, &(p * a).compress().to_bytes()];
        assert_eq!(keys[i], key(&run, "naor-pinkas", i, &parts), "OT {i}");
    }
}

/// A 1-out-of-16 sender written from the paper. Every choice of four opens its keys, and its point
/// opens none of the other fifteen entries.
#[test]
fn a_group_opens_the_keys_of_its_choices_alone() {
    let a = Scalar::from(1_234_567u64);
    let big_a = RISTRETTO_BASEPOINT_POINT * a;
    let sent = big_a.compress().to_bytes();
    let run = |c: u8| Run::new(5, 6, 7, (0..4).map(|l| c >> l & 1 == 1).collect());
    let mut seen = std::collections::HashSet::new();
    for c in 0..16u8 {
        let run = run(c);
        let mut receiver = run.receiver::<ChouOrlandi16>();
        receiver.write(0, &mut []).unwrap();
        receiver.read(&[Exchanged::heard(&sent)]).unwrap();
        let mut point_sent = [0; 32];
        receiver.write(0, &mut point_sent).unwrap();
        receiver.read(&[Exchanged::heard(&[])]).unwrap();
        assert!(seen.insert(point_sent), "choices {c}");
        let hash = blake3::derive_key("hushwire 2026 ot chou-orlandi16 key v1", &run.context().sid.0);
        let entry = |other: u8| {
            let secret = (point(&point_sent) - big_a * Scalar::from(other)) * a;
            let parts = [sent, point_sent, secret.compress().to_bytes()].concat();
            let half = |number| blake3::keyed_hash(&hash, &[&[0; 8][..], &[number], &parts].concat());
            let mut pad = [*half(0).as_bytes(), *half(1).as_bytes()].concat();
            // Key l of choice b is 2 l + b + 1, repeated sixteen times.
            (0..64).for_each(|i| pad[i] ^= 2 * (i as u8 / 16) + (other >> (i / 16) & 1) + 1);
            pad
        };
        let message: Vec<u8> = (0..16).flat_map(entry).collect();
        let keys = |message: &[u8]| {
            let mut receiver = run.receiver::<ChouOrlandi16>();
            receiver.write(0, &mut []).unwrap();
            receiver.read(&[Exchanged::heard(&sent)]).unwrap();
            receiver.write(0, &mut [0; 32]).unwrap();
            receiver.read(&[Exchanged::heard(&[])]).unwrap();
            receiver.write(0, &mut []).unwrap();
            receiver.read(&[Exchanged::heard(message)]).unwrap();
            receiver.finish().keys().to_vec()
        };
        let wanted: Vec<Block> = (0..4).map(|l| Block([2 * l + (c >> l & 1) + 1; 16])).collect();
        assert_eq!(keys(&message), wanted, "choices {c}");
        // Only the entry of the receiver's choices matters.
        let mut others = message.clone();
        for (at, byte) in others.iter_mut().enumerate() {
            *byte ^= u8::from(at / 64 != usize::from(c)) * 0x55;
        }
        assert_eq!(keys(&others), wanted, "choices {c}");
    }
}
