//! A thread that makes OTs ahead and a thread that uses them: limits, failures, and ends of either.

use super::session::links;
use crate::{
    Distance, Tally, TwoError,
    ahead::{AHEAD, Shelf},
    supply::Supply,
};
use hushwire_aes::Backend;
use hushwire_machine::{Channel, NetError};
use hushwire_ot::{Context, Protocol, Sid};
use hushwire_prg::Seed;
use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::mpsc::{Receiver, Sender, channel as queue},
    thread,
    time::{Duration, Instant},
};

/// Lots of a quarter of the limit for OTs made ahead.
fn lots() -> impl Iterator<Item = Vec<Tally>> + Send {
    let quarter = || vec![Tally { cots: [AHEAD / 8; 2], ..Tally::default() }];
    (0..12).map(move |_| quarter())
}

/// One party's channel of steps and its supply.
type Side = (Channel, Supply);

/// Runs `first` in parallel with `second`, which is notified when `first` is done. Checks that
/// neither waits for the other as long as links would.
fn both<T: Send>(first: impl FnOnce(Side) -> T + Send, second: impl FnOnce(Side, Receiver<()>) + Send) -> T {
    let ([a, b], begun) = (links(), Instant::now());
    let open = |index: usize, [channel, ots]: [Channel; 2]| {
        let context = Context { sid: Sid([7; 32]), backend: Backend::best() };
        let seed = Seed::from_bytes([index as u8 + 1; 16]);
        (channel, Supply::open(ots, index, &context, Protocol::SoftSpoken2, &seed).expect("a set-up"))
    };
    let (done, hears): (Sender<()>, Receiver<()>) = queue();
    let made = thread::scope(|scope| {
        scope.spawn(move || second(open(1, b), hears));
        let made = first(open(0, a));
        drop(done);
        made
    });
    assert!(begun.elapsed() < Duration::from_secs(60), "somebody waited until links gave up");
    made
}

#[test]
fn a_run_that_fails_ends_the_maker() {
    // The peer makes no OTs, so the maker waits.
    let made: Result<(), TwoError> = both(
        |(mut channel, mut supply)| {
            Shelf::beside(&mut supply, &mut channel, Distance::Near, lots(), |_, _| {
                thread::sleep(Duration::from_millis(300));
                Err(TwoError::Cancelled)
            })
        },
        |_side, done| assert!(done.recv().is_err()),
    );
    assert!(matches!(made, Err(TwoError::Cancelled)));
}

#[test]
fn a_maker_that_fails_ends_the_run() {
    // The peer is connected, but sends nothing and makes no further OTs.
    let made = both(
        |(mut channel, mut supply)| {
            Shelf::beside(&mut supply, &mut channel, Distance::Near, lots(), |channel, _| {
                Ok(channel.recv("a step", &mut [0])?)
            })
        },
        |(channel, supply), done| {
            drop(supply);
            assert!(done.recv().is_err());
            drop(channel);
        },
    );
    let of_ots = |e: &NetError| e.to_string().contains("OTs ahead of their use");
    assert!(matches!(&made, Err(TwoError::Net(e)) if of_ots(e)), "{made:?}");
}

#[test]
fn a_maker_that_fails_ends_a_run_that_waits_for_ots() {
    let made = both(
        |(mut channel, mut supply)| {
            let take = |_: &mut Channel, shelf: &Shelf| shelf.take().map(drop);
            Shelf::beside(&mut supply, &mut channel, Distance::Near, lots(), take)
        },
        |(channel, supply), done| {
            drop(supply);
            assert!(done.recv().is_err());
            drop(channel);
        },
    );
    assert!(matches!(made, Err(TwoError::Net(_))), "{made:?}");
}

/// If either thread panics, the other ends and the caller gets the panic.
#[test]
fn a_panic_of_either_ends_the_other() {
    type User = fn(&mut Channel, &Shelf) -> Result<(), TwoError>;
    let waits: User = |channel, _| Ok(channel.recv("a step", &mut [0])?);
    let panics: User = |_, _| panic!("a user that fails");
    for (user, of_user) in [(panics, true), (waits, false)] {
        let made = both(
            |(mut channel, mut supply)| {
                let lots = lots().inspect(|_| assert!(of_user, "a maker that fails"));
                let beside =
                    || Shelf::beside(&mut supply, &mut channel, Distance::Near, lots, user).map_err(drop);
                catch_unwind(AssertUnwindSafe(beside))
            },
            |_side, done| assert!(done.recv().is_err()),
        );
        assert!(made.is_err(), "a panic of a user: {of_user}");
    }
}

/// A maker stops when this many OTs are waiting, and continues after some are taken.
#[test]
fn a_maker_is_not_ahead_without_bound() {
    let side = |(mut channel, mut supply): Side| {
        Shelf::beside(&mut supply, &mut channel, Distance::Near, lots(), |_, shelf| {
            while shelf.held() < AHEAD {
                thread::yield_now();
            }
            thread::sleep(Duration::from_millis(100));
            assert_eq!(shelf.held(), AHEAD);
            for _ in lots() {
                assert_eq!(shelf.take()?.pieces[0].0.q.len(), AHEAD / 8);
            }
            Ok(())
        })
    };
    both(side, |other, _done| side(other).expect("an honest run")).expect("an honest run");
}
