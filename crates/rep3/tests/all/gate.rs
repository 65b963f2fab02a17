//! A caller's own transport delivers messages of other lengths: every machine refuses them, names
//! the step, and is lost.

use hushwire_aes::Backend;
use hushwire_circuit::{named, planes::plane_bytes};
use hushwire_machine::{
    NetError,
    drive::{Exchanged, Machine, Misstep},
};
use hushwire_rep3::{
    Addition, AesBlocks, Batch, CircuitBatch, CircuitWorkspace, ExpandedKeys, Field, Input, KeyExpansion,
    KeySize, Multiply, Output, Owner, OwnerInputs, OwnerSeeds, Rep3Party, Role, Sbox, Shares, Workspace,
    share,
};
use hushwire_testkit::{noise, prg};
use std::sync::Arc;

/// The neighbour from which a machine receives: products come from the right, everything else from
/// the left.
#[derive(Clone, Copy)]
enum From {
    Right = 1,
    Left = 2,
}

/// The transport: delivers every message as `edit` leaves it. Returns the number of rounds, or the
/// party that failed.
fn run<M: Machine<Error = NetError>>(
    parties: &mut [M; 3],
    from: From,
    mut edit: impl FnMut(usize, usize, &mut Vec<u8>),
) -> Result<usize, (usize, NetError)> {
    let mut sent: [Vec<u8>; 3] = Default::default();
    for (i, (party, sent)) in parties.iter_mut().zip(&mut sent).enumerate() {
        sent.resize(party.round(0).map_or(0, |round| round.out), 0);
        party.write(0, sent).map_err(|e| (i, e))?;
    }
    for round in 0.. {
        let mut next: [Vec<u8>; 3] = Default::default();
        for (i, (party, next)) in parties.iter_mut().zip(&mut next).enumerate() {
            let mut heard = sent[(i + from as usize) % 3].clone();
            edit(round, i, &mut heard);
            let messages = [Exchanged { own: &sent[i], heard: &heard }];
            let went = match party.upcoming() {
                Some(upcoming) => {
                    next.resize(upcoming.out, 0);
                    party.turn(&messages, next)
                }
                None => party.read(&messages),
            };
            went.map_err(|e| (i, e))?;
        }
        if parties.iter().all(|party| party.round(0).is_none()) {
            return Ok(round + 1);
        }
        sent = next;
    }
    unreachable!("a protocol ends")
}

/// Shortens and lengthens a message of the first, the second and the last round to every party.
fn attack<M: Machine<Error = NetError>>(what: &str, from: From, make: impl Fn() -> [M; 3]) {
    let rounds =
        run(&mut make(), from, |_, _, _| {}).unwrap_or_else(|(i, e)| panic!("{what}, party {i}: {e}"));
    for at in [0, 1, rounds - 1].into_iter().filter(|at| *at < rounds) {
        for party in 0..3 {
            for change in [
                (|message: &mut Vec<u8>| message.truncate(message.len().saturating_sub(1)))
                    as fn(&mut Vec<u8>),
                |message| message.truncate(16),
                Vec::clear,
                |message| message.push(0),
                |message| message.extend_from_within(..),
            ] {
                let (mut parties, mut lengths) = (make(), (0, 0));
                let ran = run(&mut parties, from, |round, i, message| {
                    if (round, i) == (at, party) {
                        lengths.1 = message.len();
                        change(message);
                        lengths.0 = message.len();
                    }
                });
                let (found, expected) = lengths;
                if found == expected {
                    assert!(ran.is_ok(), "{what}: nothing changed");
                    continue;
                }
                let Err((liar, NetError::Malformed { peer: None, msg, what: cause })) = ran else {
                    panic!("{what}, round {at}: {found} of {expected} bytes passed, or another error")
                };
                assert_eq!((liar, cause), (party, format!("{found} bytes instead of {expected}")));
                // The whole message comes too late, and the machine never looks done.
                let lost = &mut parties[party];
                assert_eq!(lost.round(0).map(|round| round.name), Some(msg), "{what}");
                let whole = vec![0; expected];
                let again = [
                    lost.read(&[Exchanged { own: &whole, heard: &whole }]),
                    lost.turn(&[Exchanged { own: &whole, heard: &whole }], &mut []),
                    lost.write(0, &mut vec![0; expected]),
                ];
                let is_lost = |e: &Result<_, _>| matches!(e, Err(NetError::Misstep(Misstep::Lost { step })) if *step == msg);
                assert!(again.iter().all(is_lost), "{what}: {again:?}");
            }
        }
    }
}

fn batches() -> [Batch; 3] {
    Rep3Party::three(Backend::best()).map(|mut party| party.next_batch().unwrap())
}

#[test]
fn aes_and_its_key_expansion() {
    for sbox in Sbox::ALL {
        let (keys, input) =
            (share(&mut prg(1, "keys"), &noise(1, 176)), share(&mut prg(2, "in"), &noise(2, 80)));
        attack(sbox.name(), From::Right, || {
            let mut all = batches().into_iter().zip(Role::ALL);
            [(); 3].map(|()| {
                let (mut batch, role) = all.next().unwrap();
                let keys = ExpandedKeys::from_shares(role, KeySize::Aes128, &keys[role.index()], 1).unwrap();
                let input = &input[role.index()];
                AesBlocks::new(sbox, batch.context(), Arc::new(keys), input, Workspace::default())
            })
        });
        let keys = share(&mut prg(1, "keys"), &noise(1, 48));
        attack("key expansion", From::Right, || {
            let mut all = batches().into_iter().zip(&keys);
            [(); 3].map(|()| {
                let (mut batch, keys) = all.next().unwrap();
                KeyExpansion::new(KeySize::Aes192, sbox, batch.context(), keys, Workspace::default()).unwrap()
            })
        });
    }
}

#[test]
fn circuits_and_products() {
    for instances in [3, 200] {
        let program = Arc::new(named::program("mul:5").unwrap());
        let input = share(&mut prg(2, "in"), &noise(2, program.input_bits() * plane_bytes(instances)));
        attack("mul:5", From::Right, || {
            let mut all = batches().into_iter().zip(&input);
            [(); 3].map(|()| {
                let (mut batch, input) = all.next().unwrap();
                let ws = CircuitWorkspace::default();
                CircuitBatch::new(program.clone(), batch.context(), input, instances, ws).unwrap()
            })
        });
    }
    for field in Field::ALL {
        let [x, y] = [1, 2].map(|n| share(&mut prg(n, "factor"), &noise(n, 100)));
        attack("products", From::Right, || {
            let mut all = batches().into_iter().zip(x.iter().zip(&y));
            [(); 3].map(|()| {
                let (mut batch, (x, y)) = all.next().unwrap();
                Multiply::new(field, batch.context(), x.clone(), y.clone()).unwrap()
            })
        });
    }
}

#[test]
fn inputs_and_outputs() {
    let inputs =
        [0, 1, 2, 1].map(|i| Input { owner: Some(Role::ALL[i]), bytes: 20 + i, addition: Addition::Xor });
    let values = |role| noise(1, inputs.iter().filter(|i| i.owner == Some(role)).map(|i| i.bytes).sum());
    attack("inputs", From::Left, || {
        let mut all = batches().into_iter().zip(Role::ALL);
        [(); 3].map(|()| {
            let (mut batch, role) = all.next().unwrap();
            batch.share(&inputs, &values(role)).unwrap()
        })
    });
    let shares = share(&mut prg(1, "value"), &noise(1, 60));
    let outputs = [([true, false, false], 10), ([true; 3], 20), ([false, true, true], 30)];
    let outputs = outputs.map(|(learns, bytes)| Output { learns, bytes, addition: Addition::Words(2) });
    attack("outputs", From::Left, || {
        let mut all = batches().into_iter().zip(&shares);
        [(); 3].map(|()| all.next().map(|(batch, shares)| batch.reveal(&outputs, shares)).unwrap())
    });
}

#[test]
fn inputs_of_owners_outside() {
    for (party, mut batch) in batches().into_iter().enumerate() {
        let (owner, mut messages) = (Owner::new(Backend::best()), [(); 3].map(|()| vec![].into()));
        (0..3).for_each(|input| owner.share(0, input, vec![7; 10].into(), Addition::Xor, &mut messages));
        let seeds = OwnerSeeds::from_bytes(&owner.seeds(Role::ALL[party]));
        let mut given = |message: &[u8]| {
            let mut shares = Shares { own: vec![0; 30], next: vec![0; 30] };
            let places = (0..3).map(|i| (i, 10 * i..10 * (i + 1)));
            let mut given = OwnerInputs::new(&mut batch, &seeds, 0, places, &mut shares);
            let first = given.read(&[Exchanged::heard(message)]);
            let again = given.read(&[Exchanged::heard(&messages[party])]);
            (first, again, given.round(0).is_none())
        };
        let whole = &messages[party][..];
        assert!(matches!(given(whole), (Ok(()), Err(_), _)), "once");
        for message in [&whole[..whole.len() - 1], &[], &[whole, &[0]].concat()] {
            let (first, again, done) = given(message);
            assert!(matches!(first, Err(NetError::Malformed { msg: "sharing inputs", .. })) && !done);
            assert!(matches!(again, Err(NetError::Misstep(Misstep::Lost { step: "sharing inputs" }))));
        }
    }
}
