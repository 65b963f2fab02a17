//! Attacks on the check that each party uses one Δ towards all peers: sums that are chosen late,
//! and bits that the party does not have.

use super::{Schedule, TamperedEnd, edited, messages};
use crate::{
    AuthError, Check, Script, Setup,
    params::TRIALS,
    rig::{context, seed, threads},
    room::{HASH, NONCE},
    setup::NUMBER,
};
use hushwire_block::Block;
use hushwire_machine::drive::{Lockstep, Place, Wiring};
use hushwire_ot::Protocol;

const N: usize = 3;
const COMMIT: &str = "committing to sums of keys";
const MACS: &str = "opening bits and MACs";
const SUMS: &str = "opening sums of keys";
const CONFIRM: &str = "comparing broadcasts";

/// The set-up scripts of honest parties and of party `liar`, which may use another Δ towards its
/// last peer.
fn scripts(liar: usize, twist: u128) -> Vec<Script<'static, Setup>> {
    let open = |me| {
        let twist = Block::from_u128(if me == liar { twist } else { 0 });
        Setup::opening(&context(78), [me, N], threads(me), Protocol::SoftSpoken4, &seed(78, me), twist)
    };
    (0..N).map(open).collect()
}

fn schedules() -> Vec<Schedule> {
    messages(scripts(0, 0)).1
}

/// The name of each round.
fn names() -> Vec<&'static str> {
    schedules()[0].iter().map(|slots| slots[0].name).collect()
}

/// Runs the set-up, where `edit` changes the broadcasts of `liar` and sees those of the others.
/// Each broadcast begins with a hash of the broadcasts that its party received before. A `liar`
/// other than party 0 sends party 0's hash, as a party would that received its own changed
/// messages.
fn run(liar: usize, twist: u128, mut edit: impl FnMut(&'static str, Place, &mut [u8])) -> AuthError {
    let (names, mut echo) = (names(), vec![]);
    let end = edited(scripts(liar, twist), liar, &schedules(), |place, message| {
        let name = names[place.round];
        if ![COMMIT, MACS, SUMS, CONFIRM].contains(&name) {
            return;
        }
        let (heard, own) = message.split_at_mut(HASH);
        if place.party == 0 {
            echo = heard.to_vec();
        } else if place.party == liar {
            heard.copy_from_slice(&echo);
        }
        edit(name, place, own);
    });
    match end {
        TamperedEnd::Failed(e, _) => e,
        TamperedEnd::Done(_) => panic!("a lie of party {liar} passed"),
    }
}

fn assert_caught(e: &AuthError, by: Check, liar: usize) {
    assert_eq!(format!("{e:?}"), format!("{:?}", AuthError::abort_of(by, liar)));
}

/// A party with two keys waits for all MACs, and then chooses the sums that fit them. It would pass
/// if it had not committed to its sums.
#[test]
fn sums_are_not_chosen_after_macs_were_heard() {
    for liar in 0..N {
        let mut sums = vec![0u128; TRIALS];
        let mut heard = [false; N];
        let e = run(liar, 1 << 77, |name, place, message| {
            if name == MACS && place.party != liar && !heard[place.party] {
                heard[place.party] = true;
                let macs = message[NONCE..].as_chunks::<16>().0;
                let at = TRIALS * (liar - usize::from(liar > place.party));
                for (sum, mac) in sums.iter_mut().zip(&macs[at..]) {
                    *sum ^= u128::from_le_bytes(*mac);
                }
            }
            if name == SUMS && place.party == liar {
                for (opening, sum) in message.chunks_exact_mut(NONCE + 16).zip(&sums) {
                    opening[NONCE..].copy_from_slice(&sum.to_le_bytes());
                }
            }
        });
        assert_caught(&e, Check::Commitment, liar);
    }
}

/// Openings must match their commitments, including the nonces.
#[test]
fn openings_are_of_their_commitments() {
    for liar in 0..N {
        for lie in [MACS, SUMS] {
            let e = run(liar, 0, |name, place, message| {
                if name == lie && place.party == liar {
                    message[NONCE - 1] ^= 1;
                }
            });
            assert_caught(&e, Check::Commitment, liar);
        }
    }
}

/// A party commits correctly to a bit that it does not have. If the bit were accepted, honest
/// parties would open their sums with Δ where the MACs do not include it, and so reveal Δ. The
/// party is caught before any party opens a sum.
#[test]
fn a_wrong_bit_opens_nothing() {
    for liar in 1..N {
        // Equal seeds give equal messages, so that an honest run shows which message to commit to.
        let names = names();
        let mut opening = vec![];
        let ran = Lockstep::wired(Wiring::Mesh).run_edited(&mut scripts(liar, 0), |place, message| {
            if names[place.round] == MACS && place.party == liar {
                opening = message[HASH..].to_vec();
            }
        });
        ran.expect("honest parties");
        opening[NONCE] ^= 1;
        let mut opened = false;
        let e = run(liar, 0, |name, place, message| {
            if name == COMMIT && place.party == liar {
                let mut hash = blake3::Hasher::new_derive_key("hushwire authgarble commitment v1");
                hash.update(&context(78).child("authgarble set-up", 0).sid.0);
                hash.update(&NUMBER.to_le_bytes());
                hash.update(&[liar as u8]);
                hash.update(&opening);
                message[..HASH].copy_from_slice(hash.finalize().as_bytes());
            }
            if name == MACS && place.party == liar {
                message.copy_from_slice(&opening);
            }
            opened |= name == SUMS;
        });
        assert_caught(&e, Check::Delta, liar);
        assert!(!opened, "somebody opened a sum");
    }
}
