//! Tests of parties that do not follow the protocol, and of messages that are changed on their way.

use super::super::receiver::Receiver;
use super::*;
use crate::{Check, Exchanged, Malicious, OtError};

/// A named change of a message, which can use another message.
type Change<'a> = (&'a str, Box<dyn FnMut(&mut [u8], &[u8])>);

type Tamper = Box<dyn Fn(&mut [u8])>;
type Field<'a> = dyn Fn(&mut [u8]) + 'a;
type Cheater = Pump<Malicious, Receiver>;

/// Two endpoints; the receiver's messages go through `deviate` before either endpoint hashes them.
fn cheater(kind: RowKind, number: u64, deviate: impl FnMut(&mut [Block]) + Send + 'static) -> Cheater {
    let (s, r) = roots::<Malicious>(kind, Backend::best(), number);
    let mut receiver = r.receiver(0);
    receiver.deviate = Some(Box::new(deviate));
    Pump::new(&s, 0, receiver)
}

/// α of a tree.
fn alpha(pump: &Cheater, kind: RowKind, tree: usize) -> u128 {
    let k = kind.bits();
    pump.delta.to_u128() >> (tree * k) & ((1 << k) - 1)
}

/// Makes and checks a segment of one chunk.
fn segment(pump: &mut Cheater) -> Result<(), OtError> {
    pump.extend(512, &mut |_| ())?;
    pump.close();
    pump.check(&mut |_, _| ())
}

fn check_of(kind: RowKind) -> Check {
    if kind == RowKind::Alsz { Check::Pairs } else { Check::Rows }
}

fn is_abort(result: &Result<(), OtError>, wanted: Check) -> bool {
    matches!(result, Err(OtError::Abort { check, .. }) if *check == wanted)
}

fn assert_abort(result: &Result<(), OtError>, wanted: Check, what: &str) {
    assert!(is_abort(result, wanted), "{what}: {result:?}");
}

/// Runs a set-up whose last message is changed on its way.
fn set_up(kind: RowKind, number: u64, tamper: &dyn Fn(&mut [u8])) -> Result<(), OtError> {
    let (mut s, mut r) = setups::<Malicious>(kind, Backend::best(), number)?;
    let mut message = vec![0; r.round(0).expect("trees").out];
    r.write(0, &mut message)?;
    tamper(&mut message);
    s.write(0, &mut [])?;
    s.read(&[Exchanged::heard(&message)])
}

#[test]
fn the_message_that_makes_trees_is_checked() {
    for kind in [RowKind::SoftSpoken2, RowKind::SoftSpoken4] {
        let (trees, corrections) = (kind.trees(), 16 * kind.corrections());
        let sums = trees * corrections;
        let digest = sums + 32 * trees;
        let mut other = Vec::new();
        let mut first = setups::<Malicious>(kind, Backend::best(), 99).expect("the kind exists").1;
        other.resize(first.round(0).expect("trees").out, 0);
        first.write(0, &mut other).expect("an honest receiver");
        let tampers: [(&str, Tamper); 8] = [
            ("both sides of a level", Box::new(move |m| [0, 16].into_iter().for_each(|at| m[at] ^= 1))),
            (
                "both sides, last tree",
                Box::new(move |m| [1, 17].into_iter().for_each(|at| m[sums - at] ^= 8)),
            ),
            ("two trees swapped", Box::new(move |m| m[..2 * corrections].rotate_left(corrections))),
            ("a sum", Box::new(move |m| m[sums + 35] ^= 128)),
            ("two sums swapped", Box::new(move |m| m[sums..sums + 64].rotate_left(32))),
            ("the digest", Box::new(move |m| m[digest + 31] ^= 1)),
            ("zeros", Box::new(|m| m.fill(0))),
            ("another session's", Box::new(move |m| m.copy_from_slice(&other))),
        ];
        for number in 0..3 {
            set_up(kind, number, &|_| ()).expect("an honest set-up");
            for (what, tamper) in &tampers {
                assert_abort(&set_up(kind, number, tamper), Check::Trees, what);
            }
        }
    }
}

/// One wrong correction is a guess of one bit of Δ: it is detected exactly if that bit makes the
/// sender use the wrong side.
#[test]
fn one_side_of_a_correction_is_a_guess_of_one_bit() {
    let kind = RowKind::SoftSpoken4;
    for (tree, level) in [(0, 1), (3, 1), (3, 2), (31, 3)] {
        let mut seen = [0; 2];
        for number in 0..24 {
            let (s, _) = roots::<Malicious>(kind, Backend::best(), number);
            let bit = s.delta().bit(tree * 4 + 3 - level);
            for side in [0, 1] {
                let at = 16 * (kind.corrections() * tree + 2 * (level - 1) + side) + 5;
                let result = set_up(kind, number, &|m| m[at] ^= 4);
                assert_eq!(result.is_err(), bit == (side == 0), "tree {tree}, level {level}");
                seen[side] += usize::from(is_abort(&result, Check::Trees));
            }
        }
        assert_eq!(seen.iter().sum::<usize>(), 24);
        // Bit 0 of Δ is not secret.
        assert!(tree == 0 && level == 3 || seen.iter().all(|seen| (4..=20).contains(seen)), "{seen:?}");
    }
}

#[test]
fn chunks_that_are_changed_on_their_way_are_caught() {
    for kind in kinds::<Malicious>() {
        let row = 16 * 4;
        let tampers: [Change<'_>; 6] = [
            ("the first bit", Box::new(|m, _| m[0] ^= 1)),
            ("the last bit", Box::new(|m, _| *m.last_mut().expect("bytes") ^= 128)),
            ("zeros", Box::new(|m, _| m.fill(0))),
            ("a row of zeros", Box::new(move |m, _| m[row..2 * row].fill(0))),
            ("two rows swapped", Box::new(move |m, _| m[..2 * row].rotate_left(row))),
            ("the message before", Box::new(|m, before| m.copy_from_slice(before))),
        ];
        for (what, mut tamper) in tampers {
            let mut pump = cheater(kind, 1, |_| ());
            let mut before = Vec::new();
            pump.extend(512, &mut |m| before = m.to_vec()).expect("sent");
            pump.extend(512, &mut |m| tamper(m, &before)).expect("sent");
            pump.close();
            assert_abort(&pump.check(&mut |_, _| ()), check_of(kind), what);
        }
    }
}

/// Changes the answer of a check, field by field; each field has its start and the length of its
/// parts.
fn answers_are_checked(kind: RowKind, fields: &[(&str, usize, usize)]) {
    let answer = kind.cost(Level::Malicious).check_bytes[1];
    let honest = |pump: &mut Cheater, tamper: &mut dyn FnMut(&mut [u8])| {
        pump.extend(512, &mut |_| ()).expect("sent");
        pump.close();
        pump.check(&mut |_, m| {
            if m.len() == answer {
                tamper(m);
            }
        })
    };
    let mut before = Vec::new();
    let mut pump = cheater(kind, 2, |_| ());
    honest(&mut pump, &mut |m| before = m.to_vec()).expect("an honest segment");
    assert_abort(
        &honest(&mut pump, &mut |m| m.copy_from_slice(&before)),
        check_of(kind),
        "the answer before",
    );
    for &(what, at, part) in fields {
        let tampers: [(&str, &Field<'_>); 3] = [
            ("flipped", &|m| m[at..at + part].iter_mut().for_each(|byte| *byte ^= 64)),
            ("zero", &|m| m[at..at + part].fill(0)),
            ("swapped", &|m| m[at..at + 2 * part].rotate_left(part)),
        ];
        for (how, tamper) in tampers {
            let mut pump = cheater(kind, 2, |_| ());
            let result = honest(&mut pump, &mut |m| tamper(m));
            assert_abort(&result, check_of(kind), &format!("{kind}: {what} {how}"));
        }
    }
}

#[test]
fn answers_of_row_checks_are_checked() {
    for kind in [RowKind::Kos, RowKind::SoftSpoken2, RowKind::SoftSpoken4, RowKind::SoftSpoken8] {
        let x = 16 * (kind.trees() - 1);
        let fields = [
            ("the last column", 0, 16),
            ("x and row 0", x, 32),
            ("a fold", x + 32, 16),
            ("folds", x + 16 * 65, 16),
        ];
        answers_are_checked(kind, &fields);
        // First x, then one fold for each row.
        for at in [0, 1, 2, 128] {
            one_bit_is_seen(kind, x + 16 * at);
        }
    }
}

fn one_bit_is_seen(kind: RowKind, at: usize) {
    let mut pump = cheater(kind, 3, |_| ());
    pump.extend(512, &mut |_| ()).expect("sent");
    pump.close();
    assert_abort(&pump.check(&mut |_, m| m[at] ^= 1), Check::Rows, "one bit of a fold");
}

#[test]
fn answers_of_pair_checks_are_checked() {
    let hashes = 16 * (RowKind::Alsz.trees() - 1);
    let last = hashes + 64 * (RowKind::Alsz.pairs() - 2);
    answers_are_checked(
        RowKind::Alsz,
        &[("the last column", 0, 16), ("four hashes", hashes, 64), ("the last four", last, 64)],
    );
    let mut pump = cheater(RowKind::Alsz, 3, |_| ());
    pump.extend(512, &mut |_| ()).expect("sent");
    pump.close();
    let result = pump.check(&mut |step, m| m[0] ^= u8::from(step == 0));
    assert_abort(&result, Check::Pairs, "the challenge");
}

/// The sender checks two of a pair's four hashes, and which two depends on a bit that the receiver
/// does not know.
#[test]
fn one_hash_of_a_pair_is_seen_half_of_the_time() {
    let mut seen = 0;
    for number in 0..60 {
        let mut pump = cheater(RowKind::Alsz, number, |_| ());
        pump.extend(512, &mut |_| ()).expect("sent");
        pump.close();
        let result = pump.check(&mut |step, m| {
            if step == 1 {
                m[16 * 191] ^= 1;
            }
        });
        seen += u32::from(is_abort(&result, Check::Pairs));
    }
    assert!((15..=45).contains(&seen), "{seen} of 60");
}

/// A deviation in a tree's row passes exactly if its whole α is 0: with probability 2^-c for c
/// bits. The other bits of Δ stay hidden.
#[test]
fn a_guess_of_bits_of_delta_passes_exactly_if_it_is_right() {
    for (kind, trees, rate, runs) in [
        (RowKind::Kos, vec![5], 2, 200),
        (RowKind::Kos, vec![5, 120], 4, 200),
        (RowKind::Alsz, vec![7], 2, 60),
        (RowKind::Alsz, vec![7, 90], 4, 60),
        (RowKind::SoftSpoken2, vec![9], 4, 120),
        (RowKind::SoftSpoken4, vec![30], 16, 120),
    ] {
        let (mut passed, mut others) = (0, 0);
        for number in 0..runs {
            let rows = trees.clone();
            let mut pump = cheater(kind, number, move |said| {
                let width = said.len() / (kind.trees() - 1);
                for (i, tree) in rows.iter().enumerate() {
                    said[(tree - 1) * width + i].0[3] ^= 0x55;
                }
            });
            let result = segment(&mut pump);
            // The long Δ of ALSZ is not in any block, so that its row shows only in the rate.
            if kind != RowKind::Alsz {
                let right = trees.iter().all(|tree| alpha(&pump, kind, *tree) == 0);
                assert_eq!(result.is_ok(), right, "{kind}, seed {number}");
            }
            assert!(result.is_ok() || is_abort(&result, check_of(kind)));
            if result.is_ok() {
                passed += 1;
                others += (pump.delta.to_u128() >> 64 & 0xffff).count_ones();
            }
        }
        let expected = runs / rate;
        assert!(passed >= expected / 3 && passed <= 2 * expected, "{kind} {trees:?}: {passed} of {runs}");
        // Sixteen other bits of each Δ that passed: half of them are ones, within five standard
        // deviations.
        let bits = 16 * u32::try_from(passed).expect("few");
        assert!(others.abs_diff(bits / 2) <= 5 * bits.isqrt() / 2 + 1, "{kind}: {others} of {bits} bits");
    }
}

/// The last column's coefficient must be drawn after its message. With coefficient 1, a receiver
/// that knows every χ could make its deviations cancel in that column, and learn all bits of Δ.
#[test]
fn the_last_column_cannot_cancel_deviations() {
    for kind in [RowKind::Kos, RowKind::SoftSpoken2, RowKind::SoftSpoken4] {
        let mut caught = 0;
        for number in 0..20 {
            let mut pump = cheater(kind, number, move |said| {
                let width = said.len() / (kind.trees() - 1);
                said[0] ^= Block::ONES;
                said[width] ^= Block::ONES;
            });
            pump.extend(512, &mut |_| ()).expect("sent");
            let chi = pump.r.segment.chi[0];
            let fold = Block::from(chi.mul(Block::ONES.into(), hushwire_simd::clmul::Clmul::best()));
            pump.close();
            let closed = pump.r.closed.as_mut().expect("a segment was closed");
            closed.message[0] ^= fold;
            closed.message[1] ^= fold;
            let result = pump.check(&mut |_, _| ());
            let right = [1, 2].iter().all(|tree| alpha(&pump, kind, *tree) == 0);
            assert_eq!(result.is_ok(), right, "{kind}, seed {number}");
            caught += usize::from(!right);
        }
        assert!(caught >= 8, "{kind}: {caught} of 20");
    }
}

/// All lanes have one Δ. If the other lanes continued, a receiver could spend a lane on every bit,
/// and learn the bit in either case.
#[test]
fn a_failed_check_ends_every_lane() {
    for kind in [RowKind::Kos, RowKind::Alsz, RowKind::SoftSpoken4] {
        let (s, r) = roots::<Malicious>(kind, Backend::best(), 8);
        let mut other = Pump::new(&s, 1, r.fork(1));
        other.extend(512, &mut |_| ()).expect("sent");
        other.close();
        let mut pump = Pump::new(&s, 0, r.fork(0));
        pump.extend(512, &mut |m| m.fill(0)).expect("sent");
        pump.close();
        assert_abort(&pump.check(&mut |_, _| ()), check_of(kind), "zeros");
        let is_lost = |result| matches!(result, Err(OtError::Lost { .. }));
        assert!(is_lost(other.check(&mut |_, _| ())), "{kind}: a lane before its check");
        assert!(is_lost(other.extend(1, &mut |_| ()).map(|_| ())), "{kind}: a lane before a chunk");
        let mut later = Pump::new(&s, 2, r.fork(2));
        assert!(is_lost(later.extend(512, &mut |_| ()).map(|_| ())), "{kind}: a lane that is forked later");
        assert!(is_lost(pump.extend(1, &mut |_| ()).map(|_| ())), "{kind}: the lane itself");
    }
}

/// The other lane's check fails while this lane compares.
#[test]
fn a_lane_that_passes_beside_one_that_fails_is_lost() {
    use subtle::Choice;
    let (mut s, mut r) = setups::<Malicious>(RowKind::Kos, Backend::best(), 12).expect("the kind exists");
    lockstep(&mut s, &mut r).expect("an honest set-up");
    let s = s.finish();
    let keys = s.keys();
    assert!(keys.verdict(Choice::from(1), Check::Rows, "this lane").is_ok());
    assert_abort(&keys.verdict(Choice::from(0), Check::Rows, "the other lane"), Check::Rows, "it fails");
    let passed = keys.verdict(Choice::from(1), Check::Rows, "this lane");
    assert!(matches!(passed, Err(OtError::Lost { step: "this lane" })), "{passed:?}");
}

#[test]
fn extensions_themselves_refuse_other_lengths() {
    let malformed = |result: Result<(), OtError>| {
        assert!(matches!(result, Err(OtError::Malformed { .. })), "{result:?}");
    };
    for kind in kinds::<Malicious>() {
        let (s, r) = roots::<Malicious>(kind, Backend::best(), 13);
        let mut pump = Pump::new(&s, 0, r.fork(0));
        let chunk = pump.s.chunk_bytes(512);
        for len in [0, 16, chunk - 16, chunk + 16] {
            malformed(pump.s.chunk(&vec![0; len], &mut [], &mut [Block::ZERO; 512]));
        }
        pump.extend(512, &mut |_| ()).expect("sent");
        pump.close();
        for (step, at) in pump.s.check_steps().to_vec().into_iter().enumerate() {
            for len in [0, at.bytes - 1, at.bytes - 16, at.bytes + 16] {
                if at.from == crate::Role::Receiver {
                    malformed(pump.s.check(step, &vec![0; len], &mut []));
                } else {
                    malformed(pump.r.check(step, &vec![0; len], &mut []));
                }
            }
        }
        pump.check(&mut |_, _| ()).expect("what was refused left no trace");
    }
}

#[test]
fn set_ups_refuse_other_lengths() {
    let tree_bytes = RowKind::SoftSpoken2.cost(Level::Malicious).setup_bytes;
    for len in [0, tree_bytes - 1, tree_bytes + 1] {
        let (mut s, mut r) =
            setups::<Malicious>(RowKind::SoftSpoken2, Backend::best(), 9).expect("the kind exists");
        let mut message = vec![0; tree_bytes];
        r.write(0, &mut message).expect("an honest receiver");
        message.resize(len, 0);
        let result = s.read(&[Exchanged::heard(&message)]);
        assert!(matches!(result, Err(OtError::Malformed { .. })), "{len} bytes: {result:?}");
    }
}

/// A second attempt with the same Δ would be a second guess.
#[test]
fn a_set_up_that_failed_takes_no_other_message() {
    let context = context(Backend::best(), 10);
    let new = SetupSender::<Malicious>::new::<crate::base::Csw>(&context, RowKind::Kos, &seed(10, 1));
    let mut s = new.expect("the kind exists");
    let points = s.round(0).expect("base OTs");
    s.write(0, &mut vec![0; points.out]).expect("points");
    s.read(&[Exchanged::heard(&[])]).expect("nothing yet");
    s.write(0, &mut []).expect("nothing to say");
    assert!(matches!(s.read(&[Exchanged::heard(&[0xff; 32])]), Err(OtError::Malformed { .. })));
    assert!(s.round(0).is_some(), "it is not done");
    assert!(matches!(s.write(0, &mut []), Err(OtError::Lost { .. })));
    assert!(matches!(s.read(&[Exchanged::heard(&[])]), Err(OtError::Lost { .. })));
    let (mut s, mut r) =
        setups::<Malicious>(RowKind::SoftSpoken2, Backend::best(), 11).expect("the kind exists");
    let mut message = vec![0; r.round(0).expect("trees").out];
    r.write(0, &mut message).expect("an honest receiver");
    assert_abort(&s.read(&[Exchanged::heard(&vec![0; message.len()])]), Check::Trees, "zeros");
    assert!(s.round(0).is_some() && matches!(s.write(0, &mut []), Err(OtError::Lost { .. })));
}
