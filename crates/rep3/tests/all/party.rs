//! Whole parties: inputs, runs and outputs; owners outside; and that no mask is handed out twice.

use hushwire_aes::Backend;
use hushwire_circuit::{Planes, eval, named, planes};
use hushwire_prg::Seed;
use hushwire_rep3::{
    CircuitBatch, CircuitWorkspace, Comparison, Input, Owner, OwnerInputs, OwnerSeeds, Party, Rep3Error,
    Role, Shares, ThreeParty, open,
};
use hushwire_testkit::{Transport, noise, run_three};
use hushwire_wire::{
    Channel, Net, SessionId,
    drive::{Driver, Lockstep, Place},
};
use std::{collections::HashSet, sync::Arc};

/// The two rings of a party.
fn rings(role: Role, net: &mut Net) -> [Channel; 2] {
    let (left, right) = (Some(role.left().id()), Some(role.right().id()));
    let channel = |r: Result<Channel, _>| r.unwrap_or_else(|e: hushwire_wire::NetError| panic!("{e}"));
    [channel(net.channel(0, left, right)), channel(net.channel(0, right, left))]
}

fn party(role: Role, back: &mut Channel) -> Party {
    let opened = Party::open(role, Backend::best(), SessionId([3; 16]), Seed::random(), back);
    opened.unwrap_or_else(|e| panic!("{e}"))
}

/// Three parties of one session, over queues.
fn three() -> [Party; 3] {
    run_three(Transport::Inproc, 1, None, |role, mut net| party(role, &mut rings(role, &mut net)[1]))
}

#[test]
fn parties_share_run_and_reveal_to_those_who_learn() {
    for (name, instances) in [("mul:8", 9), ("less:16", 3), ("add:5", 200)] {
        let program = Arc::new(named::program(name).unwrap_or_else(|e| panic!("{e}")));
        let bits = program.input_bits();
        let noise = noise(7, bits * planes::plane_bytes(instances));
        let all = Planes::new(bits, instances, noise).unwrap_or_else(|e| panic!("{e}"));
        let plain = eval::eval(&program, &all).unwrap_or_else(|e| panic!("{e}"));
        for (owners, learns) in
            [([0, 1], [true; 3]), ([2, 0], [false, true, false]), ([1, 1], [true, false, true])]
        {
            let owners = owners.map(|i: usize| Role::ALL[i]);
            let who = ThreeParty { owners: owners.to_vec(), learns: vec![learns] };
            let came = run_three(Transport::Inproc, 1, None, |role, mut net| {
                let [mut ring, mut back] = rings(role, &mut net);
                let mut party = party(role, &mut back);
                let inputs = all.select(program.inputs(), |i| owners[i] == role);
                // Twice in one session.
                [0, 1].map(|_| {
                    let ran = party.run([&mut ring, &mut back], &program, &who, &inputs);
                    ran.unwrap_or_else(|e| panic!("{e}"))
                })
            });
            for (role, came) in Role::ALL.into_iter().zip(came) {
                for learnt in came {
                    let expected = plain.select(program.outputs(), |_| learns[role.index()]);
                    assert!(learnt == expected, "{name} at {role}");
                }
            }
        }
    }
}

#[test]
fn inputs_of_another_length_are_refused() {
    let [mut party, ..] = three();
    let mut batch = party.next_batch().unwrap_or_else(|e| panic!("{e}"));
    let input = Input { owner: Some(Role::ALL[0]), bytes: 4 };
    for values in [&[1, 2, 3][..], &[1, 2, 3, 4, 5]] {
        assert!(batch.share(&[input], values).is_err());
    }
    assert!(batch.share(&[Input { owner: None, ..input }], &[]).is_ok());
}

/// The attack: a party that asks in every way for batches, threads and streams looks for two of the same masks.
#[test]
fn no_mask_is_handed_out_twice_and_all_parties_agree_on_them() {
    let all = three().map(|mut party| {
        let mut counters = vec![];
        let mut words = vec![];
        let mut draw = |party: &mut Party| {
            let mut batch = party.next_batch().unwrap_or_else(|e| panic!("{e}"));
            for _ in 0..3 {
                counters.push(batch.context().counter());
                words.push(batch.random(16));
            }
        };
        draw(&mut party);
        draw(&mut party);
        let mut threads = party.split(3);
        for _ in 0..4 {
            threads.iter_mut().for_each(&mut draw);
        }
        let last = threads.pop().unwrap_or_else(|| panic!("three threads"));
        let mut again = last.split(2);
        for _ in 0..4 {
            again.iter_mut().chain(&mut threads).for_each(&mut draw);
        }
        (counters, words)
    });
    let [(counters, words), (second, of_second), (third, of_third)] = &all;
    assert!(counters == second && counters == third);
    assert_eq!(counters.iter().collect::<HashSet<_>>().len(), counters.len(), "streams are handed out once");
    let values: HashSet<Vec<u8>> = words
        .iter()
        .zip(of_second)
        .zip(of_third)
        .map(|((a, b), c)| {
            assert!(a.next == b.own && b.next == c.own && c.next == a.own);
            open([&a.own, &b.own, &c.own]).unwrap_or_else(|e| panic!("{e}"))
        })
        .collect();
    assert_eq!(values.len(), words.len(), "random values are drawn once");
}

/// The attack on masks that serve twice: the same inputs would make the same messages, and inputs that differ in one place
/// messages that differ there.
#[test]
fn the_same_inputs_in_two_batches_make_messages_that_have_nothing_in_common() {
    let program = Arc::new(named::program("mul:8").unwrap_or_else(|e| panic!("{e}")));
    let bytes = program.input_bits() * planes::plane_bytes(800);
    let mut parties = three();
    let mut messages = || {
        let mut runs = parties.each_mut().map(|party| {
            let mut batch = party.next_batch().unwrap_or_else(|e| panic!("{e}"));
            let inputs = Shares { own: vec![0; bytes], next: vec![0; bytes] };
            let ws = CircuitWorkspace::default();
            CircuitBatch::new(program.clone(), batch.context(), &inputs, 800, ws)
                .unwrap_or_else(|e| panic!("{e}"))
        });
        let mut sent = HashSet::new();
        let keep = |place: Place, message: &mut Vec<u8>| {
            sent.extend(message.chunks_exact(16).map(|word| (place.party, word.to_vec())));
        };
        Lockstep::new().run_edited(&mut runs, keep).unwrap_or_else(|e| panic!("{e}"));
        sent
    };
    let (first, second) = (messages(), messages());
    assert!(first.len() > 300 && first.is_disjoint(&second));
}

#[test]
fn an_owner_outside_is_heard_and_one_that_lies_is_found() {
    let value = noise(8, 300);
    for lie in [None, Some(0), Some(1), Some(2)] {
        let owner = Owner::new(Backend::best());
        let mut parties = three();
        let mut batches =
            parties.each_mut().map(|party| party.next_batch().unwrap_or_else(|e| panic!("{e}")));
        let mut messages = [(); 3].map(|()| vec![].into());
        for input in 0..3 {
            let part = value[100 * input..][..100].to_vec();
            owner.share(batches[0].number(), input, part.into(), &mut messages);
        }
        if let Some(party) = lie {
            messages[party][7] ^= 1;
        }
        let inputs = [(); 3].map(|()| Input { owner: None, bytes: 100 });
        let came = run_three(Transport::Inproc, 1, None, |_, net| net);
        let results = std::thread::scope(|scope| {
            let threads: Vec<_> = batches
                .iter_mut()
                .zip(came)
                .zip(Role::ALL)
                .map(|((batch, mut net), role)| {
                    let (owner, messages) = (&owner, &messages);
                    scope.spawn(move || {
                        let [_, mut back] = rings(role, &mut net);
                        let sharing = batch.share(&inputs, &[]).unwrap_or_else(|e| panic!("{e}"));
                        let mut sharing = sharing;
                        Driver::new().run(&mut back, &mut sharing).unwrap_or_else(|e| panic!("{e}"));
                        let mut shares = sharing.finish();
                        let seeds = OwnerSeeds::from_bytes(&owner.seeds(role));
                        let places = (0..3).map(|i| (i, 100 * i..100 * (i + 1)));
                        let mut given = OwnerInputs::new(batch, 0, &seeds, places, &mut shares);
                        use hushwire_wire::drive::{Exchanged, Machine};
                        assert_eq!(
                            given.round(0).map(|round| round.into),
                            Some(messages[role.index()].len())
                        );
                        given
                            .read(&[Exchanged::heard(&messages[role.index()])])
                            .unwrap_or_else(|e| panic!("{e}"));
                        let tags = vec![given.tags()];
                        let verdict = Comparison::begin(role, &mut back, tags).and_then(|c| c.end(&mut back));
                        (shares, verdict.unwrap_or_else(|e| panic!("{e}")))
                    })
                })
                .collect();
            threads.into_iter().map(|t| t.join().unwrap_or_else(|_| panic!("a party"))).collect::<Vec<_>>()
        });
        match lie {
            None => {
                assert!(results.iter().all(|(_, verdict)| verdict.is_none()));
                let own: Vec<&[u8]> = results.iter().map(|(shares, _)| &shares.own[..]).collect();
                assert_eq!(open([own[0], own[1], own[2]]).unwrap_or_else(|e| panic!("{e}")), value);
            }
            Some(_) => assert!(results.iter().all(|(_, verdict)| verdict.is_some_and(|v| v.owner == 0))),
        }
    }
}

#[test]
fn a_session_that_is_spent_says_so() {
    let [party, ..] = three();
    // The last of as many threads as there are batches has one batch.
    let Some(mut last) = party.split(2).pop().map(|party| {
        (0..31).fold(party, |party, _| party.split(2).pop().unwrap_or_else(|| panic!("two threads")))
    }) else {
        panic!("two threads")
    };
    assert_eq!(last.next_batch().map(|batch| batch.number()).ok(), Some(u32::MAX));
    assert!(matches!(last.next_batch(), Err(Rep3Error::Spent(_))));
}
