//! Parties that disagree, streams that end early, and messages that are changed give typed errors
//! at both parties, and no hang.

use crate::common::{
    IDS, ROLES, brought, context, due, inproc_nets, open, parties, run, tcp_nets, terms, values,
};
use hushwire_circuit::{Planes, Program, TwoParty, named};
use hushwire_garble::{
    GarbleError, Role, Scheme,
    yao::{Terms, YaoParty},
};
use hushwire_machine::{Channel, Edit, NetError, PartyId, Record, Recording, Replay, Tamper};
use hushwire_ot::{Driver, OtError, Protocol, SemiHonest, open_receiver, open_sender};
use hushwire_prg::Seed;

fn less() -> (Program, TwoParty) {
    let program = named::program("less:16").expect("a circuit of ours");
    let roles = TwoParty::new(&program, vec![0, 1], vec![[true; 2]]);
    (program, roles)
}

fn peer_of(role: Role) -> PartyId {
    IDS[1 - role as usize]
}

/// The party that an error blames.
fn blamed(e: &GarbleError) -> Option<PartyId> {
    match e {
        GarbleError::Mismatch { peer, .. }
        | GarbleError::Malformed { peer, .. }
        | GarbleError::Ot(OtError::Malformed { peer, .. }) => *peer,
        GarbleError::Net(e) | GarbleError::Ot(OtError::Net(e)) => e.peer(),
        _ => None,
    }
}

#[test]
fn terms_that_differ_are_refused_by_both() {
    let mi = terms(Scheme::Mi);
    let others = [terms(Scheme::Prp), Terms { ot: Protocol::SoftSpoken2, ..mi }];
    for other in others {
        let errors = parties(inproc_nets(), |role, channel| {
            open(role, channel, if role == Role::Garbler { mi } else { other }).err()
        });
        for (role, e) in ROLES.into_iter().zip(errors) {
            assert!(matches!(e, Some(GarbleError::Mismatch { peer, .. }) if peer == Some(peer_of(role))));
        }
    }
    for same in ROLES {
        let errors = parties(inproc_nets(), |_, channel| open(same, channel, mi).err());
        assert!(errors.iter().all(|e| matches!(e, Some(GarbleError::Mismatch { .. }))), "two of one role");
    }
    let errors = parties(inproc_nets(), |role, channel| {
        let context = context().child("one of two", role as u64);
        YaoParty::open(channel, role, &context, mi, &Seed::from_bytes([1; 16])).err()
    });
    assert!(errors.iter().all(|e| matches!(e, Some(GarbleError::Mismatch { .. }))), "two sessions");
}

/// The digest of terms from the time when no scheme had a second revision.
fn first_terms(terms: Terms, role: Role) -> [u8; 32] {
    let mut hash = blake3::Hasher::new_derive_key("hushwire yao terms v1");
    hash.update(&context().sid.0);
    for name in [terms.scheme.name(), terms.ot.name()] {
        hash.update(&(name.len() as u64).to_le_bytes()).update(name.as_bytes());
    }
    hash.update(&[role as u8]);
    *hash.finalize().as_bytes()
}

#[test]
fn the_first_three_halves_and_these_refuse_each_other() {
    // The hash of the first revision left 64 bits of security for Δ. Schemes with one revision are
    // compatible with earlier releases.
    for scheme in Scheme::PRIVATE {
        let terms = terms(scheme);
        for old in ROLES {
            let agreed = parties(inproc_nets(), |role, channel| {
                if role != old {
                    return open(role, channel, terms).map(drop);
                }
                let mut theirs = [0; 32];
                channel.exchange("Yao terms", &first_terms(terms, role), &mut theirs)?;
                if theirs == first_terms(terms, ROLES[1 - role as usize]) {
                    return open_ot(role, channel, terms);
                }
                Err(GarbleError::Mismatch { peer: None, what: "terms" })
            });
            for (role, result) in ROLES.into_iter().zip(agreed) {
                let Some(e) = result.err() else {
                    assert_ne!(scheme, Scheme::ThreeHalves, "{role:?} speaks with the first revision");
                    continue;
                };
                assert!(matches!(e, GarbleError::Mismatch { .. }) && scheme == Scheme::ThreeHalves, "{e}");
                assert!(role == old || blamed(&e) == Some(peer_of(role)), "{e}");
                assert!(role == old || e.to_string().contains("scheme or its revision"), "{e}");
            }
        }
    }
}

/// The set-up of OTs after the comparison of terms, when a party opens.
fn open_ot(role: Role, channel: &mut Channel, terms: Terms) -> Result<(), GarbleError> {
    let (mut driver, seed) = (Driver::new(), Seed::from_bytes([9; 16]));
    let part = context().child("yao inputs", 0);
    if role == Role::Garbler {
        open_sender::<SemiHonest>(&mut driver, channel, &part, terms.ot, &seed)?;
        return Ok(channel.send("Yao start point", &[5; 16])?);
    }
    open_receiver::<SemiHonest>(&mut driver, channel, &part, terms.ot, &seed)?;
    Ok(channel.recv("Yao start point", &mut [0; 16])?)
}

#[test]
fn garbling_without_privacy_is_refused() {
    let errors =
        parties(inproc_nets(), |role, channel| open(role, channel, terms(Scheme::PrivacyFree)).err());
    for e in errors {
        let e = e.expect("it is refused");
        assert!(matches!(e, GarbleError::Unsupported { .. }));
        assert!(e.to_string().contains("three-halves"), "it says what to take instead: {e}");
    }
}

#[test]
fn programs_that_differ_are_refused_by_both() {
    let (program, roles) = less();
    let other = named::program("add:16").expect("a circuit of ours");
    let other_roles = |owners, learns| TwoParty::new(&program, owners, vec![learns]);
    let cases = [
        (other.clone(), TwoParty::new(&other, vec![0, 1], vec![[true; 2]]), 3),
        (program.clone(), other_roles(vec![1, 0], [true; 2]), 3),
        (program.clone(), other_roles(vec![0, 1], [true, false]), 3),
        (program.clone(), roles.clone(), 4),
    ];
    // The choices that the evaluator sends before it learns of the difference belong to either kind
    // of OT, or there are none.
    let (mi, prf) = (terms(Scheme::Mi), terms(Scheme::Prf));
    let ferret = Terms { ot: Protocol::FerretB10, ..mi };
    let none = other_roles(vec![0, 0], [true; 2]);
    let sessions = [(mi, &roles), (prf, &roles), (ferret, &roles), (mi, &none)];
    for (wrong, (terms, roles)) in ROLES.into_iter().flat_map(|r| sessions.map(|s| (r, s))) {
        // The difference comes after `before` runs on which both agree.
        for (before, (program_2, roles_2, n_2)) in (0..3).flat_map(|b| cases.iter().map(move |c| (b, c))) {
            let results = parties(inproc_nets(), |role, channel| {
                let mut party = open(role, channel, terms).expect("set up");
                let first = values(&program, 3, 1);
                for _ in 0..before {
                    run(&mut party, channel, &program, roles, 3, &first).expect("they agree");
                }
                let e = if role == wrong {
                    let values = values(program_2, *n_2, 1);
                    run(&mut party, channel, program_2, roles_2, *n_2, &values)
                } else {
                    run(&mut party, channel, &program, roles, 3, &first)
                };
                let again = run(&mut party, channel, &program, roles, 3, &first).expect_err("it is lost");
                assert!(matches!(again, GarbleError::Ot(OtError::Lost { .. })));
                e.expect_err("they disagree")
            });
            for (role, e) in ROLES.into_iter().zip(&results) {
                assert_eq!(blamed(e), Some(peer_of(role)), "{e}");
                assert!(matches!(e, GarbleError::Mismatch { .. }), "{terms:?} {wrong:?} {before}: {e}");
            }
        }
    }
}

/// One session of one party: set-up and two runs.
fn session(role: Role, channel: &mut Channel, scheme: Scheme) -> Result<Vec<u8>, GarbleError> {
    let (program, roles) = less();
    let mut party = open(role, channel, terms(scheme))?;
    let mut outputs = vec![];
    for seed in [1, 2] {
        outputs.extend(run(&mut party, channel, &program, &roles, 3, &values(&program, 3, seed))?);
    }
    Ok(outputs)
}

#[test]
fn streams_that_end_early_are_errors_that_name_the_peer() {
    for scheme in [Scheme::Mi, Scheme::Prf, Scheme::ThreeHalves] {
        let records = [Record::new(), Record::new()];
        let whole = parties(inproc_nets(), |role, channel| {
            channel.tap(records[role as usize].tap());
            session(role, channel, scheme).expect("an honest run")
        });
        for (role, record) in ROLES.into_iter().zip(&records) {
            let (me, peer) = (IDS[role as usize], peer_of(role));
            let alone = |recording: Recording| {
                let mut net = Replay::new(recording).net(me, &[peer], 1);
                let mut channel = net.channel(0, Some(peer), Some(peer)).expect("the lane is there");
                session(role, &mut channel, scheme)
            };
            let recording = record.recording();
            let len = recording.received(peer, 0).len();
            assert_eq!(alone(recording.clone()).expect("it runs again"), whole[role as usize]);
            for k in (0..len).step_by(1 + len / 23).chain([len - 1]) {
                let mut cut = recording.clone();
                cut.truncate(peer, 0, k);
                let e = alone(cut).expect_err("bytes are missing");
                assert_eq!(blamed(&e), Some(peer), "{role:?} after {k} of {len}: {e}");
            }
        }
    }
}

#[test]
fn a_peer_that_goes_away_is_named() {
    let (program, roles) = less();
    for nets in [inproc_nets, tcp_nets] {
        for gone in ROLES {
            let results = parties(nets(), |role, channel| {
                let mut party = open(role, channel, terms(Scheme::Mi)).expect("set up");
                if role == gone {
                    return None;
                }
                run(&mut party, channel, &program, &roles, 3, &values(&program, 3, 1)).err()
            });
            let e = results[1 - gone as usize].as_ref().expect("nobody is there");
            assert!(matches!(e, GarbleError::Net(NetError::Closed { .. } | NetError::Aborted { .. })), "{e}");
            assert_eq!(blamed(e), Some(IDS[gone as usize]));
        }
    }
}

/// Changes message `index` to `victim`, and returns both parties' results; `None` if there is no
/// such message.
fn tampered(victim: Role, index: usize, edit: &Edit) -> Option<[Result<Vec<u8>, GarbleError>; 2]> {
    let tamper = Tamper::new().incoming(index, edit.clone());
    let (hits, tamper) = (tamper.hits(), std::sync::Mutex::new(Some(tamper)));
    let results = parties(inproc_nets(), |role, channel| {
        if role == victim {
            channel.tap(Box::new(tamper.lock().expect("once").take().expect("once")));
        }
        session(role, channel, Scheme::Mi)
    });
    (hits.count() > 0).then_some(results)
}

#[test]
fn changed_messages_give_errors_or_results_but_no_panic() {
    let (program, roles) = less();
    for victim in ROLES {
        let mut seen = 0;
        let mut refused = 0;
        for index in 0.. {
            let flip = |offset| Edit::Xor { offset, mask: vec![0x80] };
            let Some(results) = tampered(victim, index, &flip(0)) else { break };
            seen += 1;
            for (role, result) in ROLES.into_iter().zip(results) {
                match result {
                    Ok(outputs) => {
                        let planes: Vec<u8> = [1, 2]
                            .iter()
                            .flat_map(|s| due(&program, &roles, role, 3, &values(&program, 3, *s)))
                            .collect();
                        assert_eq!(outputs.len(), planes.len());
                    }
                    Err(e) => {
                        refused += 1;
                        assert_eq!(blamed(&e), Some(peer_of(role)), "message {index}: {e}");
                    }
                }
            }
        }
        assert!(seen >= 6 && refused >= 4, "{victim:?}: {seen} messages, {refused} errors");
    }
}

#[test]
fn bits_past_the_last_one_are_malformed() {
    // The last message to the garbler has three signals in a byte.
    let flip = Edit::Xor { offset: 0, mask: vec![0x08] };
    let last = (0..).find(|i| tampered(Role::Garbler, *i, &flip).is_none()).expect("messages end") - 1;
    let results = tampered(Role::Garbler, last, &flip);
    let [garbler, evaluator] = results.expect("there is one");
    assert!(matches!(garbler, Err(GarbleError::Malformed { peer, .. }) if peer == Some(IDS[1])));
    assert!(evaluator.is_ok(), "it was done");
}

#[test]
#[should_panic(expected = "planes of this party's inputs")]
fn inputs_of_another_length_are_the_callers_bug() {
    let (program, roles) = less();
    let mut nets = inproc_nets().into_iter();
    let (mut zero, one) = (nets.next().expect("two"), nets.next().expect("two"));
    std::thread::scope(|scope| {
        scope.spawn(move || {
            let mut net = one;
            let mut channel = net.channel(0, Some(IDS[0]), Some(IDS[0])).expect("the lane is there");
            open(Role::Evaluator, &mut channel, terms(Scheme::Mi)).map(|_| ()).expect("set up");
        });
        let mut channel = zero.channel(0, Some(IDS[1]), Some(IDS[1])).expect("the lane is there");
        let mut party = open(Role::Garbler, &mut channel, terms(Scheme::Mi)).expect("set up");
        let inputs = brought(&program, &roles, Role::Garbler, 3, &values(&program, 3, 1));
        let _ = party.run(&mut channel, &program, &roles, &Planes::zeros(inputs.width() - 1, 3));
    });
}
