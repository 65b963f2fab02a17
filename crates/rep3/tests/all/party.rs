//! Whole parties: inputs, runs and outputs; owners outside; and a test that no mask is handed out
//! twice.

use hushwire_aes::Backend;
use hushwire_circuit::{Planes, eval, named, planes};
use hushwire_machine::{
    Channel, Net, SessionId,
    drive::{Driver, Exchanged, Lockstep, Machine, Place},
};
use hushwire_prg::Seed;
use hushwire_rep3::{
    Addition, Batch, CircuitBatch, CircuitWorkspace, Comparison, Context, Field, Input, Multiply, Owner,
    OwnerInputs, OwnerSeeds, Rep3Error, Rep3Party, Role, Shares, ThreeParty, open, share,
    test_support::{context, random},
};
use hushwire_testkit::{Transport, noise, prg, run_three};
use proptest::prelude::*;
use std::{collections::HashSet, sync::Arc};

/// The two rings of a party.
fn rings(role: Role, net: &mut Net) -> [Channel; 2] {
    let (left, right) = (Some(role.left().id()), Some(role.right().id()));
    let channel = |r: Result<Channel, _>| r.unwrap_or_else(|e: hushwire_machine::NetError| panic!("{e}"));
    [channel(net.channel(0, left, right)), channel(net.channel(0, right, left))]
}

fn party(role: Role, back: &mut Channel) -> Rep3Party {
    let opened = Rep3Party::open(role, Backend::best(), SessionId([3; 16]), Seed::random(), back);
    opened.unwrap_or_else(|e| panic!("{e}"))
}

/// Three parties of one session, over queues.
fn three() -> [Rep3Party; 3] {
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
                // Two runs in one session.
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
    let input = Input { owner: Some(Role::ALL[0]), bytes: 4, addition: Addition::Xor };
    for values in [&[1, 2, 3][..], &[1, 2, 3, 4, 5]] {
        assert!(batch.share(&[input], values).is_err());
    }
    assert!(batch.share(&[Input { owner: None, ..input }], &[]).is_ok());
}

/// One request to a session: a kind of work for some thread's next batch, or a split.
#[derive(Clone, Copy, Debug)]
enum Ask {
    Products,
    Random,
    Blind,
    Share,
    Tag,
    Batch,
    Split(u32),
}

fn ask() -> impl Strategy<Value = Ask> {
    prop_oneof![
        Just(Ask::Products),
        Just(Ask::Random),
        Just(Ask::Blind),
        Just(Ask::Share),
        Just(Ask::Tag),
        Just(Ask::Batch),
        (0..4u32).prop_map(Ask::Split),
    ]
}

/// A thread of a party: the part that hands out its batches, and the current batch.
struct Thread {
    party: Rep3Party,
    batch: Batch,
}

impl Thread {
    fn new(mut party: Rep3Party) -> Self {
        let batch = party.next_batch().unwrap_or_else(|e| panic!("{e}"));
        Thread { party, batch }
    }

    /// Bytes that are this party's zero-share or its share of a random value, whatever they are
    /// used for.
    fn mask(&mut self, ask: Ask) -> Option<Vec<u8>> {
        let zeros = || Shares { own: vec![0; 32], next: vec![0; 32] };
        match ask {
            Ask::Products => {
                let run = Multiply::new(Field::Gf2, self.batch.context(), zeros(), zeros());
                let mut message = vec![0; 32];
                let wrote = run.unwrap_or_else(|e| panic!("{e}")).write(0, &mut message);
                wrote.unwrap_or_else(|e| panic!("{e}"));
                return Some(message);
            }
            Ask::Random => {
                let shares = self.batch.random(32);
                return Some(shares.own.iter().zip(&shares.next).map(|(a, b)| a ^ b).collect());
            }
            Ask::Blind => {
                let mut own = vec![0; 32];
                self.batch.blind(&mut own, Addition::Xor);
                return Some(own);
            }
            Ask::Share => {
                let inputs =
                    Role::ALL.map(|role| Input { owner: Some(role), bytes: 32, addition: Addition::Xor });
                let sharing = self.batch.share(&inputs, &[0; 32]).unwrap_or_else(|e| panic!("{e}"));
                drop(sharing);
            }
            Ask::Tag => drop(self.batch.tagging()),
            Ask::Batch | Ask::Split(_) => {
                self.batch = self.party.next_batch().unwrap_or_else(|e| panic!("{e}"));
            }
        }
        None
    }
}

/// All masks of a party after these requests, thread by thread. At the end its threads ask at the
/// same time.
fn masks(party: Rep3Party, asked: &[(Ask, usize)]) -> Vec<Vec<u8>> {
    let mut threads = vec![Thread::new(party)];
    let mut masks = vec![];
    for (ask, t) in asked {
        let t = t % threads.len();
        if let Ask::Split(n) = ask {
            let parts = threads.swap_remove(t).party.split(n + 1);
            threads.extend(parts.into_iter().map(Thread::new));
        } else {
            masks.extend(threads[t].mask(*ask));
        }
    }
    std::thread::scope(|scope| {
        let rest = [Ask::Products, Ask::Random, Ask::Batch, Ask::Blind, Ask::Products];
        let running: Vec<_> = threads
            .iter_mut()
            .map(|thread| scope.spawn(move || rest.iter().filter_map(|ask| thread.mask(*ask)).collect()))
            .collect();
        for thread in running {
            let of_thread: Vec<_> = thread.join().unwrap_or_else(|_| panic!("a thread"));
            masks.extend(of_thread);
        }
    });
    masks
}

proptest! {
    /// The attack: a party that asks in every order, in every thread and for every kind of work,
    /// looks for two equal masks. Zero-shares of an address are the sum of its two random shares,
    /// so all of them can be compared.
    #[test]
    fn no_mask_is_handed_out_twice_and_all_parties_agree_on_them(
        asked in prop::collection::vec((ask(), 0..100usize), 0..40),
    ) {
        let all = Rep3Party::three(Backend::best()).map(|party| masks(party, &asked));
        for part in 0..2 {
            // The comparison is word by word, so no two streams overlap.
            let words = all[0].iter().map(|mask| &mask[16 * part..][..16]).collect::<HashSet<_>>();
            prop_assert_eq!(words.len(), all[0].len(), "a mask is handed out twice");
        }
        let [a, b, c] = all;
        for ((a, b), c) in a.iter().zip(&b).zip(&c) {
            prop_assert_eq!(open([a, b, c]), Ok(vec![0; 32]), "the parties' masks cancel");
        }
    }
}

/// The number of secret bits that party 0 finds in party 1's messages of two batches, the second
/// with zeros, and the number that it looked for. If the share that both hold of one factor is 0
/// and that of the other is 1, a product's message minus its mask is the share that party 0 lacks.
fn found(contexts: [[Context; 2]; 3]) -> (u32, u32) {
    let (x, y, zero) = (noise(1, 4096), noise(2, 4096), vec![0; 4096]);
    let (of_x, of_y) = (share(&mut prg(1, "x"), &x), share(&mut prg(1, "y"), &y));
    let of_zero = Role::ALL.map(|role| Shares::public(role, &zero));
    let mut contexts = contexts.map(Vec::from);
    let mut message_of = |x: &[Shares; 3], y: &[Shares; 3]| {
        let mut runs = [0, 1, 2].map(|i: usize| {
            let run = Multiply::new(Field::Gf2, contexts[i].remove(0), x[i].clone(), y[i].clone());
            run.unwrap_or_else(|e| panic!("{e}"))
        });
        let mut message = vec![];
        let keep = |place: Place, sent: &mut Vec<u8>| {
            if place.party == 1 {
                message.clone_from(sent);
            }
        };
        Lockstep::new().run_edited(&mut runs, keep).unwrap_or_else(|e| panic!("{e}"));
        message
    };
    let (first, second) = (message_of(&of_x, &of_y), message_of(&of_zero, &of_zero));
    let (mut right, mut all) = (0, 0);
    for j in 0..x.len() {
        let place = !of_x[0].next[j] & of_y[0].next[j];
        let guess = of_x[0].own[j] ^ of_x[0].next[j] ^ first[j] ^ second[j];
        right += (!(guess ^ x[j]) & place).count_ones();
        all += place.count_ones();
    }
    (right, all)
}

/// The attack on two batches that share masks: the sum of their messages is the sum of the hidden
/// values. It needs an address that is named twice, which only a test can do.
#[test]
fn two_batches_of_one_address_give_a_secret_away_and_two_that_were_handed_out_do_not() {
    let parties = Rep3Party::three(Backend::best());
    let (right, all) = found(parties.each_ref().map(|party| [(); 2].map(|()| context(party, 0, 0))));
    assert!(right == all && all > 8000, "{right} of {all} bits");
    let of = |mut party: Rep3Party| {
        [(); 2].map(|()| party.next_batch().unwrap_or_else(|e| panic!("{e}")).context())
    };
    let streams = |mut party: Rep3Party| {
        let mut batch = party.next_batch().unwrap_or_else(|e| panic!("{e}"));
        [(); 2].map(|()| batch.context())
    };
    let threads = |party: Rep3Party| {
        let [a, b] = <[Rep3Party; 2]>::try_from(party.split(2)).unwrap_or_else(|_| panic!("two threads"));
        [a, b].map(|mut party| party.next_batch().unwrap_or_else(|e| panic!("{e}")).context())
    };
    for handed_out in [
        parties.map(of),
        Rep3Party::three(Backend::best()).map(streams),
        Rep3Party::three(Backend::best()).map(threads),
    ] {
        let (right, all) = found(handed_out);
        // Within eight standard deviations of guessing.
        let off = (f64::from(right) - f64::from(all) / 2.0).abs();
        assert!(off < 4.0 * f64::from(all).sqrt(), "{right} of {all} bits");
    }
}

/// The attack on masks that are used twice: equal inputs would make equal messages, and inputs that
/// differ in one place would make messages that differ there.
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

/// A fresh random value, which the left neighbour also has, hides a party's input from its right
/// neighbour.
#[test]
fn an_input_goes_to_the_right_under_random_words_of_its_own() {
    let (value, mut seen) = (vec![0; 64], HashSet::new());
    let mut parties = Rep3Party::three(Backend::best());
    for _ in 0..2 {
        let mut batches =
            parties.each_mut().map(|party| party.next_batch().unwrap_or_else(|e| panic!("{e}")));
        for (owner, stream) in [(0, 0), (2, 1), (0, 2), (1, 3)] {
            let input = Input { owner: Some(Role::ALL[owner]), bytes: value.len(), addition: Addition::Xor };
            let mut message = vec![];
            let mut runs = [0, 1, 2].map(|i| {
                let mine = if i == owner { &value[..] } else { &[] };
                batches[i].share(&[input], mine).unwrap_or_else(|e| panic!("{e}"))
            });
            let heard = |to: usize| runs[to].round(0).map(|round| (round.out, round.into));
            let [own, right, left] = [0, 1, 2].map(|k| (owner + k) % 3);
            assert_eq!([own, right, left].map(heard), [Some((64, 0)), Some((0, 64)), Some((0, 0))]);
            message.resize(64, 0);
            runs[own].write(0, &mut message).unwrap_or_else(|e| panic!("{e}"));
            let grown = random(&parties[own], batches[own].number(), stream, 64);
            assert!(message.iter().zip(&value).map(|(m, v)| m ^ v).eq(grown.own.iter().copied()));
            assert!(random(&parties[left], batches[left].number(), stream, 64).next == grown.own);
            assert!(message.chunks_exact(16).all(|word| seen.insert(word.to_vec())), "a mask serves twice");
        }
    }
}

#[test]
fn owners_and_sessions_draw_fresh_seeds_and_an_owner_fresh_shares_for_every_batch_and_input() {
    let owners = [(); 2].map(|()| Owner::new(Backend::best()));
    let seeds: HashSet<Vec<u8>> =
        owners.iter().flat_map(|owner| Role::ALL.map(|role| owner.seeds(role)[..16].to_vec())).collect();
    assert_eq!(seeds.len(), 6);
    let mut seen = HashSet::new();
    for (batch, input) in (0..7).flat_map(|batch| (0..7).map(move |input| (batch, input))) {
        let mut messages = [(); 3].map(|()| vec![].into());
        owners[0].share(batch, input, vec![0; 64].into(), Addition::Xor, &mut messages);
        // Two parties hold the share that is sent in full, and receive the same bytes.
        let full: HashSet<Vec<u8>> = messages.iter().filter(|m| !m.is_empty()).map(|m| m.to_vec()).collect();
        assert!(full.len() == 1 && messages.iter().filter(|m| m.is_empty()).count() == 1);
        let words: Vec<_> = full.iter().flat_map(|m| m.chunks_exact(16).map(<[u8]>::to_vec)).collect();
        assert!(words.into_iter().all(|word| seen.insert(word)), "batch {batch}, input {input}");
    }
    let drawn = [(); 2].map(|()| random(&Rep3Party::three(Backend::best())[0], 0, 0, 16));
    assert!(drawn[0].own != drawn[1].own && drawn[0].next != drawn[1].next && drawn[0].own != drawn[0].next);
}

#[test]
fn an_owner_outside_is_heard_and_one_that_lies_is_found() {
    let value = noise(8, 300);
    let lies = [None, Some(0), Some(1), Some(2)];
    let all = [Addition::Xor, Addition::Words(1), Addition::Words(4)];
    for (lie, addition) in all.into_iter().flat_map(|addition| lies.map(|lie| (lie, addition))) {
        let owner = Owner::new(Backend::best());
        let mut parties = three();
        let mut batches =
            parties.each_mut().map(|party| party.next_batch().unwrap_or_else(|e| panic!("{e}")));
        let mut messages = [(); 3].map(|()| vec![].into());
        for input in 0..3 {
            let part = value[100 * input..][..100].to_vec();
            owner.share(0, input, part.into(), addition, &mut messages);
        }
        if let Some(party) = lie {
            messages[party][7] ^= 1;
        }
        let inputs = [(); 3].map(|()| Input { owner: None, bytes: 100, addition });
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
                        let mut given = OwnerInputs::new(batch, &seeds, 0, places, &mut shares);
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
                let mut sum = own[0].to_vec();
                own[1..].iter().for_each(|share| addition.add(&mut sum, share));
                assert_eq!(sum, value);
            }
            Some(_) => assert!(results.iter().all(|(_, verdict)| verdict.is_some_and(|v| v.owner == 0))),
        }
    }
}

#[test]
fn a_session_that_is_spent_says_so() {
    let [party, ..] = three();
    // The last of as many threads as there are batches gets one batch.
    let Some(mut last) = party.split(2).pop().map(|party| {
        (0..31).fold(party, |party, _| party.split(2).pop().unwrap_or_else(|| panic!("two threads")))
    }) else {
        panic!("two threads")
    };
    assert_eq!(last.next_batch().map(|batch| batch.number()).ok(), Some(u32::MAX));
    assert!(matches!(last.next_batch(), Err(Rep3Error::Spent(_))));
}
