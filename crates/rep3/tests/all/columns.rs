//! Columns that a party brings and that parties learn: their messages, receivers and masks.

use crate::masks::WORLD;
use hushwire_aes::Backend;
use hushwire_machine::{
    NetError,
    drive::{Lockstep, Machine, Place as At},
};
use hushwire_rep3::{
    Place, Record, Role, ShareError, Shares,
    ring::{
        Bits, Column, Product, Reveal, RevealBits, Sharing, SharingBits, Word,
        test_support::{open_words, share_words},
    },
    share,
    test_support::context,
};
use hushwire_testkit::{noise, prg};
use std::sync::{Arc, Mutex};

/// Runs three machines, and returns the messages that are not empty, with sender and slot.
fn sent<M: Machine<Error = NetError>>(machines: &mut [M; 3]) -> Vec<(usize, usize, Vec<u8>)> {
    let mut sent = vec![];
    let keep = |At { party, slot, .. }, message: &mut Vec<u8>| {
        if !message.is_empty() {
            sent.push((party, slot, message.clone()));
        }
    };
    Lockstep::new().run_edited(machines, keep).unwrap();
    sent
}

fn bytes<W: Word>(words: impl IntoIterator<Item = W>) -> Vec<u8> {
    words.into_iter().flat_map(|word| word.number().to_le_bytes()[..W::BYTES].to_vec()).collect()
}

fn numbers<W: Word>(rows: usize) -> Vec<W> {
    let mut prg = prg(rows as u64, "numbers");
    (0..rows).map(|row| W::of([0, 1, u64::MAX, 1 << (W::BITS - 1), prg.next_u64()][row % 5])).collect()
}

fn sharings<W: Word>(shard: u32) {
    let parties = WORLD.parties(Backend::best());
    for (lane, rows) in [0, 1, 9, 1000, 3001].into_iter().enumerate() {
        for owner in Role::ALL {
            let (p, at) = (owner.index(), (shard, 3 * lane as u32 + owner.index() as u32));
            let v = numbers::<W>(rows);
            let mut machines = Role::ALL.map(|role| {
                let cx = context(&parties[role.index()], at.0, at.1);
                Sharing::new(cx, owner, rows, if role == owner { &v } else { &[] }).unwrap()
            });
            // The mask: words of the key that the owner shares with its left neighbour, to which no
            // party sends anything.
            let mask = WORLD.words((p + 2) % 3, at, 0, rows * W::BYTES);
            let masked = v.iter().zip(mask.chunks_exact(W::BYTES)).map(|(v, mask)| v.minus(W::read(mask)));
            let expected = if rows > 0 { vec![(p, 1, bytes(masked))] } else { vec![] };
            assert!(sent(&mut machines) == expected, "{rows} rows of party {p}");
            let columns = machines.map(Sharing::finish);
            assert!(columns[(p + 2) % 3].own.iter().all(|word| *word == W::default()), "x_(p+2) is zero");
            assert!(open_words(&columns) == v);
        }
    }
}

fn reveals<W: Word>() {
    let mut dealer = prg(4, "dealer");
    for rows in [0, 1, 9, 1000] {
        let v = numbers::<W>(rows);
        let shares = share_words(&mut dealer, &v).map(Arc::new);
        for set in 0..8 {
            let learns = [0, 1, 2].map(|i| set >> i & 1 == 1);
            let mut machines =
                Role::ALL.map(|role| Reveal::new(role, shares[role.index()].clone(), learns).unwrap());
            // A party that learns the column receives the share that it lacks, from its right
            // neighbour. No party receives anything else.
            let to = |party: usize| (party, 0, bytes(shares[party].next.iter().copied()));
            let mut expected: Vec<_> =
                [0, 1, 2].into_iter().filter(|i| learns[(i + 2) % 3]).map(to).collect();
            expected.retain(|(.., message)| !message.is_empty());
            assert!(sent(&mut machines) == expected, "{rows} rows to {learns:?}");
            for (machine, learns) in machines.into_iter().zip(learns) {
                let value = machine.finish();
                assert_eq!(value.is_some(), learns);
                assert!(value.is_none_or(|value| *value == v));
            }
        }
    }
}

#[test]
fn a_column_is_shared_under_words_that_its_receiver_cannot_draw() {
    sharings::<u8>(1);
    sharings::<u16>(2);
    sharings::<u32>(3);
    sharings::<u64>(4);
}

#[test]
fn a_column_is_opened_to_those_who_learn_it() {
    reveals::<u8>();
    reveals::<u16>();
    reveals::<u32>();
    reveals::<u64>();
}

#[test]
fn bits_are_shared_and_opened_as_numbers_are() {
    let parties = WORLD.parties(Backend::best());
    let planes = noise(3, 5 * 13);
    let mut machines = Role::ALL.map(|role| {
        let cx = context(&parties[role.index()], 7, 1);
        SharingBits::new(cx, Role::ALL[2], 65, if role.index() == 2 { &planes } else { &[] }).unwrap()
    });
    let mask = WORLD.words(1, (7, 1), 0, 65);
    let masked: Vec<u8> = planes.iter().zip(mask).map(|(v, mask)| v ^ mask).collect();
    assert!(sent(&mut machines) == [(2, 1, masked)]);
    let mut shares = machines.map(SharingBits::finish).into_iter();
    let mut machines = Role::ALL.map(|role| {
        let bits = Arc::new(Bits::new(5, 100, shares.next().unwrap()).unwrap());
        RevealBits::to_all(role, bits).unwrap()
    });
    assert_eq!(sent(&mut machines).len(), 3);
    for machine in machines {
        assert!(*machine.finish().unwrap() == planes);
    }
}

#[test]
fn what_does_not_fit_is_refused() {
    let parties = WORLD.parties(Backend::best());
    let sharing =
        |me: usize, numbers: &[u32]| Sharing::new(context(&parties[me], 8, 0), Role::ALL[1], 3, numbers);
    let length =
        |expected, found| ShareError::Length { what: "the column that this party brings", expected, found };
    assert_eq!(sharing(1, &[1, 2]).err(), Some(length(12, 8)));
    assert_eq!(sharing(0, &[1, 2, 3]).err(), Some(length(0, 12)), "another's column is not this party's");
    let uneven = Arc::new(Column::<u32> { own: vec![0; 3], next: vec![0; 2] });
    assert!(Reveal::to_all(Role::ALL[0], uneven).is_err());
}

/// A peer's short or long message ends the run, and the machine refuses further calls.
#[test]
fn messages_of_other_lengths_end_the_run() {
    let mut dealer = prg(6, "dealer");
    let parties = WORLD.parties(Backend::best());
    for change in [-1isize, 1] {
        let shares = share_words(&mut dealer, &numbers::<u64>(9)).map(Arc::new);
        let mut machines: [Box<dyn Machine<Error = NetError>>; 3] = Role::ALL.map(|role| {
            let x = shares[role.index()].clone();
            let machine: Box<dyn Machine<Error = NetError>> = match change {
                1 => Box::new(Reveal::to_all(role, x).unwrap()),
                _ => {
                    let cx = context(&parties[role.index()], 8, 1);
                    Box::new(Product::new(cx, x.clone(), x).unwrap())
                }
            };
            machine
        });
        let edit = |at: At, message: &mut Vec<u8>| {
            if at.party == 1 && at.slot == 0 {
                message.resize(message.len().wrapping_add_signed(change), 0);
            }
        };
        let error = Lockstep::new().run_edited(&mut machines, edit).unwrap_err();
        assert!(matches!(error, NetError::Malformed { .. }), "{error}");
        assert!(matches!(machines[0].write(0, &mut [0; 72]), Err(NetError::Misstep(_))), "no way back");
    }
}

#[derive(Clone, Default)]
struct Openings(Arc<Mutex<Vec<Vec<u8>>>>);

impl Record for Openings {
    fn randomness(&mut self, _: usize, _: &[u8]) {
        panic!("nothing is masked");
    }
    fn product(&mut self, _: usize, _: Place, _: [&[u8]; 2], _: [&[u8]; 2]) {
        panic!("nothing is multiplied");
    }
    fn opening(&mut self, _: usize, [own, next]: [&[u8]; 2]) {
        self.0.lock().unwrap().extend([own.to_vec(), next.to_vec()]);
    }
    fn message(&mut self, _: usize, message: &[u8]) {
        self.0.lock().unwrap().push(message.to_vec());
    }
}

#[test]
fn an_opening_is_recorded_by_the_one_who_sends() {
    let shares: [Shares; 3] = share(&mut prg(1, "dealer"), &noise(1, 20));
    let logs = [Openings::default(), Openings::default(), Openings::default()];
    let mut machines = Role::ALL.map(|role| {
        let i = role.index();
        let bits = Arc::new(Bits::new(4, 40, shares[i].clone()).unwrap());
        let mut machine = RevealBits::new(role, bits, [true, false, false]).unwrap();
        machine.record(Box::new(logs[i].clone()));
        machine
    });
    sent(&mut machines);
    let heard = logs.map(|log| log.0.lock().unwrap().clone());
    assert_eq!(heard[1], [shares[1].own.clone(), shares[1].next.clone(), shares[1].next.clone()]);
    assert!(heard[0].is_empty() && heard[2].is_empty(), "they send nothing");
}
