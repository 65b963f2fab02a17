//! Tests that change every field of every message, and tests of what a guessing sender learns.

use hushwire_aes::{Aes128, Backend};
use hushwire_block::Block;
use hushwire_prg::Seed;
use hushwire_simd::clmul::Clmul;

use super::check::LeafCheck;
use super::params::SPARE;
use super::rig::{DELTA, FOURS, TINY, WIDE, context, deal, ends, extend, set_up_edited, stream};
use super::tree::{Grower, SpcotEnd, SpcotReceiver, SpcotSender, Tree};
use super::weights::Weights;
use super::{B11, Set};
use crate::{Check, Extension, Malicious, OtError, Role, SemiHonest, Transcript};

/// A run over two rounds in which one message is changed, given by the number of its chunk or
/// check, and its step.
fn changed(set: Set, number: usize, step: usize, change: impl Fn(&mut Vec<u8>)) -> Result<(), OtError> {
    let mut ends = ends::<Malicious>(Backend::best(), set);
    let edit = |n: usize, s: usize, message: &mut Vec<u8>| {
        if (n, s) == (number, step) {
            change(message);
        }
    };
    let round = (set.trees() - set.refill_trees()) * set.leaves();
    extend(&mut ends, 2 * round - 100, 3, edit).map(drop)
}

fn caught(result: &Result<(), OtError>, what: &str) {
    assert!(matches!(result, Err(OtError::Abort { check: Check::Leaves, .. })), "{what}: {result:?}");
}

#[test]
fn any_flip_in_a_tree_is_caught() {
    // The first and fifth chunk of a round have a tree of the refill before their own trees; the
    // tenth is in the second round. A wide tree has four pieces, and a refill of one tree. Each of
    // the four trees in a chunk must count, and so must the last three of a round.
    let cases = [
        (TINY, 0, 2),
        (TINY, 1, 1),
        (TINY, 4, 2),
        (TINY, 9, 1),
        (WIDE, 0, 2),
        (WIDE, 10, 1),
        (FOURS, 0, 5),
        (FOURS, 1, 4),
        (FOURS, 2, 5),
        (FOURS, 4, 3),
        (FOURS, 6, 4),
    ];
    for (set, chunk, trees) in cases {
        for c in 0..trees * set.depth() {
            for bit in [1, 64, 127] {
                let flip = |m: &mut Vec<u8>| m[16 * c + bit / 8] ^= 1 << (bit % 8);
                caught(&changed(set, chunk, 0, flip), &format!("bit {bit} of c {c} of chunk {chunk}"));
            }
            // On the last level bit 0 affects no leaf, because both endpoints clear it, but it
            // affects all coefficients.
            caught(&changed(set, chunk, 0, |m| m[16 * c] ^= 1), "bit 0");
        }
    }
}

#[test]
fn zeroed_swapped_and_replayed_trees_are_caught() {
    // Swaps trees of one chunk.
    for (chunk, with) in [(0, 384), (1, 128), (1, 384), (4, 256)] {
        let swap = |m: &mut Vec<u8>| (0..128).for_each(|i| m.swap(i, with + i));
        caught(&changed(FOURS, chunk, 0, swap), "trees that change places");
    }
    for (set, chunk) in
        [(TINY, 0), (TINY, 1), (TINY, 5), (WIDE, 0), (WIDE, 1), (WIDE, 10), (FOURS, 1), (FOURS, 4)]
    {
        let last = 16 * (set.depth() - 1);
        caught(&changed(set, chunk, 0, |m| m.fill(0)), "zeroed");
        caught(&changed(set, chunk, 0, |m| m[..16].fill(0)), "a zeroed c");
        caught(&changed(set, chunk, 0, |m| m.rotate_left(16)), "rotated");
        caught(&changed(set, chunk, 0, |m| (0..16).for_each(|i| m.swap(i, last + i))), "swapped");
    }
    let mut before = vec![];
    let replay = |n: usize, step: usize, message: &mut Vec<u8>| match (n, step) {
        (2, 0) => before.clone_from(message),
        (3, 0) => message.clone_from(&before),
        _ => {}
    };
    let mut ends = ends::<Malicious>(Backend::best(), TINY);
    caught(&extend(&mut ends, 4000, 3, replay).map(drop), "replayed");
}

#[test]
fn changed_checks_are_caught() {
    for check in [0, 2] {
        for (step, bytes) in [(1, 16), (2, 32)] {
            for byte in 0..bytes {
                caught(&changed(TINY, check, step, |m| m[byte] ^= 0x10), "a flipped byte of a check");
            }
            caught(&changed(TINY, check, step, |m| m.fill(0)), "a zeroed check");
            caught(&changed(TINY, check, step, |m| m.reverse()), "a reversed check");
            let mut before = vec![];
            let replay = |n: usize, s: usize, message: &mut Vec<u8>| {
                if s == step && n + 1 == check {
                    before.clone_from(message);
                } else if s == step && n == check {
                    message.clone_from(&before);
                }
            };
            if check > 0 {
                let mut ends = ends::<Malicious>(Backend::best(), TINY);
                caught(&extend(&mut ends, 4000, 3, replay).map(drop), "a replayed check");
            }
        }
    }
}

#[test]
fn changed_set_ups_are_caught() {
    for name in ["ferret set-up: trees", "ferret: places", "ferret: digest of leaves"] {
        let mut once = true;
        let flip = |step: &str, message: &mut Vec<u8>| {
            if step == name && core::mem::take(&mut once) {
                *message.last_mut().expect("a message") ^= 0x80;
            }
        };
        caught(&set_up_edited::<Malicious>(Backend::best(), B11, flip).map(drop), name);
    }
}

#[test]
fn other_lengths_are_malformed() {
    fn malformed<T>(result: &Result<T, OtError>) {
        assert!(matches!(result, Err(OtError::Malformed { .. })));
    }
    for len in [0, 15, 16 * 2 * 8 - 1, 16 * 2 * 8 + 16] {
        let (_, mut r) = ends::<SemiHonest>(Backend::best(), TINY);
        malformed(&r.chunk(&vec![0; len], &mut [], &mut [Block::ZERO]));
    }
    let (mut s, mut r) = ends::<Malicious>(Backend::best(), TINY);
    malformed(&s.check(0, &[0; 15], &mut []));
    malformed(&r.check(1, &[0; 33], &mut []));
}

/// A sender changes c on the last level by `e`, which changes the receiver's values of the pair of
/// leaves that contains α. It corrects its own sum for a guess of that pair, all of whose bits it
/// knows except `unknown`. Returns whether the guess was right, and whether the check passed.
fn guess(set: Set, round: u8, unknown: usize, stray: usize) -> (bool, bool) {
    let context = context(Backend::best());
    let e = Block::from_u128(0x55aa << 40);
    let (h, mut both) = (set.depth(), vec![]);
    let mut place = 0;
    for role in [Role::Sender, Role::Receiver] {
        let mut cots = vec![Block::ZERO; h + SPARE];
        deal(&mut stream(round), role, &mut cots);
        both.push(cots);
    }
    let mut grower = Grower::new(context.backend, set.leaves(), Aes128::new(&[1; 16]));
    let (mut leaves, mut message) = (vec![Block::ZERO; set.leaves()], vec![0; 16 * h]);
    let mut ends = [LeafCheck::new(&context, &set), LeafCheck::new(&context, &set)];
    let mut trees = SpcotSender::new(&context, DELTA, &Seed::from_bytes([round; 16]));
    for (role, (cots, check)) in both.iter().zip(&mut ends).enumerate() {
        let (heard, said) = (message.clone(), &mut message[..]);
        let (cots, spare) = cots.split_at(h);
        let (grower, leaves) = (&mut grower, &mut leaves[..]);
        if role == 0 {
            trees.tree(Tree { grower, cots, heard: &[], said: &mut *said, leaves: &mut *leaves });
            for (byte, e) in said[16 * (h - 1)..].iter_mut().zip(e.0) {
                *byte ^= e;
            }
        } else {
            place =
                SpcotReceiver.tree(Tree { grower, cots, heard: &heard, said: &mut [], leaves: &mut *leaves });
        }
        check.trees(&message, leaves, &[place]);
        check.give_spare(spare);
        check.close();
    }
    let pair = place / 2;
    let guess = pair & !unknown | stray & unknown;
    let mut transcript = Transcript::new(&context.sid, set.name());
    transcript.absorb(Role::Sender, &message);
    let weights = Weights::new(context.backend, &transcript.challenge("leaves"), set.leaves());
    let chi = weights.at(2 * guess) + weights.at(2 * guess + 1);

    let [s, r] = &mut ends;
    let (mut masked, mut digest) = ([0; 16], [0; 32]);
    r.step(0, None, &[], &mut masked).expect("nothing to see yet");
    s.step(0, Some(DELTA), &masked, &mut []).expect("nothing to see yet");
    s.shift(chi.mul(e.into(), Clmul::best()));
    s.step(1, Some(DELTA), &[], &mut digest).expect("nothing to see yet");
    (guess == pair, r.step(1, None, &digest, &mut []).is_ok())
}

#[test]
fn a_guessing_sender_learns_what_it_guessed_and_no_more() {
    // The lowest bits of the pair, and the two bits that select the piece of the tree.
    for (set, unknown) in
        [(TINY, 0), (TINY, 0b1), (TINY, 0b11), (TINY, 0b111), (WIDE, 0b11 << 7), (WIDE, 0b1001)]
    {
        let mut unseen = 0;
        for round in 0..200 {
            let stray = u32::from(round).wrapping_mul(0x9e37_79b9) >> 16;
            let (right, passed) = guess(set, round, unknown, stray as usize);
            assert_eq!(right, passed, "a wrong guess is always seen, a right one never");
            unseen += u32::from(passed);
        }
        // The expectation is 200 / 2^bits, within four standard deviations.
        let p = 1.0 / f64::from(1 << unknown.count_ones());
        let mean = 200.0 * p;
        assert!((f64::from(unseen) - mean).abs() <= 4.0 * (mean * (1.0 - p)).sqrt(), "{unseen} of 200");
    }
}
