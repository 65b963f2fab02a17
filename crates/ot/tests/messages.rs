//! Messages that a user's own transport may pass on: with other lengths, and in calls that come out
//! of turn.

mod machines;

use std::collections::BTreeSet;

use hushwire_aes::Backend;
use hushwire_ot::{
    Check, Context, Exchanged, Machine, Malicious, OtError, Sid,
    base::{BaseProtocol, Csw},
    ferret, lockstep, rows,
};
use hushwire_prg::{Prg, Seed};
use machines::{CASES, World, assert_lost, edited, fed};

/// Other lengths than `wanted`.
fn others(wanted: usize) -> BTreeSet<usize> {
    let mut lengths = BTreeSet::from([0, 1, wanted / 2, wanted.saturating_sub(1), wanted + 1, wanted + 16]);
    lengths.extend(wanted.checked_sub(16));
    lengths.remove(&wanted);
    lengths
}

#[test]
fn every_machine_refuses_other_lengths_and_everything_after() {
    let mut world = World::new();
    for (name, case) in CASES {
        // The first tick of every name in which an endpoint receives a message, and the first in
        // which it does not.
        let mut ticks = Vec::new();
        case(&mut world, &mut |ends| {
            let mut seen = BTreeSet::new();
            let stop = edited(ends, &mut |at, side, tick, _| {
                if seen.insert((side, tick.name, tick.into > 0)) {
                    ticks.push((at, side, *tick));
                }
                true
            });
            assert!(stop.is_none(), "{name}: an honest run");
        });
        assert!(ticks.iter().any(|(_, _, tick)| tick.into > 0), "{name}: something is heard");
        for (at, side, tick) in ticks {
            for len in others(tick.into) {
                case(&mut world, &mut |ends| {
                    let stop = edited(ends, &mut |now, to, _, message| {
                        if (now, to) == (at, side) {
                            message.resize(len, 7);
                        }
                        true
                    });
                    let what = format!("{name}: {len} bytes for {tick:?} of side {side}");
                    let stop = stop.unwrap_or_else(|| panic!("{what} are taken"));
                    assert_eq!((stop.side, stop.tick.name), (side, tick.name), "{what}: {}", stop.error);
                    let OtError::Malformed { message, what: why, .. } = &stop.error else {
                        panic!("{what}: {}", stop.error)
                    };
                    assert_eq!(*message, tick.name, "{what}");
                    assert_eq!(*why, format!("{len} bytes instead of {}", tick.into), "{what}");
                    assert_lost(ends[side]);
                });
            }
        }
    }
}

#[test]
fn nothing_is_heard_after_the_last_step() {
    let mut world = World::new();
    for (name, case) in &CASES[..11] {
        case(&mut world, &mut |ends| {
            let [a, b] = &mut *ends;
            lockstep(*a, *b).expect("an honest run");
            for end in ends {
                assert!(
                    end.round(0).is_none()
                        && end.read(&[Exchanged::heard(&[])]).is_ok()
                        && end.round(0).is_none(),
                    "{name}"
                );
                assert!(
                    matches!(end.read(&[Exchanged::heard(&[0])]), Err(OtError::Malformed { .. })),
                    "{name}"
                );
                assert_lost(end);
            }
        });
    }
}

/// A driver whose channel failed and that tries again, or that reads before it writes.
#[test]
fn steps_out_of_turn_end_a_machine() {
    let mut world = World::new();
    for (name, case) in CASES {
        let talks = |end: &dyn Machine<Error = OtError>| end.round(0).is_some_and(|tick| tick.out > 0);
        case(&mut world, &mut |ends| {
            let side = usize::from(!talks(ends[0]));
            let end = &mut *ends[side];
            let tick = end.round(0).expect("the first tick");
            assert!(tick.out > 0, "{name}: somebody speaks first");
            end.write(0, &mut vec![0; tick.out]).expect("an honest message");
            assert_eq!(end.round(0), Some(tick), "{name}: the exchange is not over");
            assert!(matches!(end.write(0, &mut vec![0; tick.out]), Err(OtError::Lost { .. })), "{name}");
            assert_lost(end);
        });
        case(&mut world, &mut |ends| {
            let side = usize::from(!talks(ends[0]));
            let end = &mut *ends[side];
            let into = end.round(0).expect("the first tick").into;
            assert!(
                matches!(end.read(&[Exchanged::heard(&vec![0; into])]), Err(OtError::Lost { .. })),
                "{name}"
            );
            assert_lost(end);
        });
    }
}

/// Random rows, and an answer to their check that is complete or truncated. A check that compares
/// only as far as the message goes would pass.
#[test]
fn a_truncated_answer_does_not_pass_ferret_s_check_of_rows() {
    let attempt = |cut: bool| {
        let context = Context { sid: Sid([9; 32]), backend: Backend::best() };
        let kind = rows::RowKind::SoftSpoken4;
        let [a, b, c] = [1, 2, 3].map(|seed| Seed::from_bytes([seed; 16]));
        let mut s = rows::SetupSender::<Malicious>::new::<Csw>(&context, kind, &a).expect("it exists");
        let mut r = rows::SetupReceiver::<Malicious>::new::<Csw>(&context, kind, &b).expect("it exists");
        lockstep(&mut s, &mut r).expect("an honest set-up");
        let (s, r) = (s.finish(), r.finish());
        let part = context.child("ferret", 0);
        let mut s = ferret::SenderBoot::new(&part, ferret::B10, s.fork(0), &c);
        let mut r = ferret::ReceiverBoot::new(&part, ferret::B10, r.fork(0));
        let stop = edited(&mut [&mut s, &mut r], &mut |_, _, tick, message| {
            if tick.name == "row check" && cut && !message.is_empty() {
                message.truncate(16 * 31 + 16);
            } else if tick.name != "row check" {
                message.iter_mut().for_each(|byte| *byte ^= 0xa5);
            }
            true
        });
        assert_lost(&mut s);
        stop.expect("the first check fails").error
    };
    assert!(matches!(attempt(false), OtError::Abort { check: Check::Rows, .. }));
    assert!(matches!(attempt(true), OtError::Malformed { message: "row check", .. }));
}

#[test]
#[should_panic(expected = "finish comes after the last round")]
fn base_ots_that_failed_are_not_finished() {
    use hushwire_ot::base::SendBase;
    let context = Context { sid: Sid([9; 32]), backend: Backend::best() };
    let mut s = Csw::sender(&context, 5, &Seed::from_bytes([1; 16]));
    assert!(s.read(&[Exchanged::heard(&[])]).is_err());
    let _ = s.finish();
}

/// The fuzzer's entry, without the fuzzer: arbitrary messages give an error or change results, and
/// nothing panics.
#[test]
fn arbitrary_messages_stop_nobody_but_the_run() {
    let (mut world, mut prg) =
        (World::new(), Prg::new(Backend::best(), &Seed::from_bytes([7; 16]), "messages"));
    // Ferret's cases, which take long, are left out.
    for case in 0..CASES.len() as u8 - 2 {
        for from in 0..4 {
            for how in 0..8 {
                let mut bytes = vec![case, from, how];
                let content = bytes.len();
                bytes.resize(content + [1, 32, 33, 500][usize::from(from)], 0);
                prg.fill(&mut bytes[content..]);
                fed(&mut world, &bytes);
            }
        }
    }
}
