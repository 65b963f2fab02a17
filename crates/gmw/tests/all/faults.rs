//! Faults give typed errors at both parties, without a hang.

use crate::pair::{IDS, both, context, open, own, plain, random_inputs, roles};
use hushwire_aes::Backend;
use hushwire_circuit::{Planes, Program, TwoParty, named};
use hushwire_gmw::{GmwError, GmwParty};
use hushwire_machine::{Channel, Edit, NetError, PartyId, Tamper, Tap};
use hushwire_ot::{Context, OtError, Protocol, Sid};
use hushwire_prg::Seed;
use std::sync::{Arc, Mutex};

fn program(name: &str) -> Program {
    named::program(name).expect("a circuit of ours")
}

fn run(
    party: &mut GmwParty,
    channel: &mut Channel,
    i: usize,
    program: &Program,
    roles: &TwoParty,
    n: usize,
) -> Result<(), GmwError> {
    party.run(channel, program, roles, &Planes::zeros(roles.input_bits(program, i), n)).map(drop)
}

#[test]
fn both_hear_that_they_run_different_things() {
    let (less, add) = (program("less:8"), program("add:8"));
    let other = |owners: [usize; 2], learns| TwoParty::new(&less, owners.to_vec(), vec![learns]);
    let cases = [
        [(&less, roles(&less), 5), (&add, roles(&add), 5)],
        [(&less, roles(&less), 5), (&less, roles(&less), 6)],
        [(&less, roles(&less), 5), (&less, other([1, 0], [true; 2]), 5)],
        [(&less, roles(&less), 5), (&less, other([0, 1], [true, false]), 5)],
    ];
    for case in &cases {
        both(|i, channel| {
            let mut party = open(channel, i, Backend::best()).expect("a set-up");
            let (program, roles, n) = &case[i];
            let failed = run(&mut party, channel, i, program, roles, *n);
            assert!(
                matches!(failed, Err(GmwError::Mismatch { peer }) if peer == channel.from()),
                "{failed:?}"
            );
            let again = run(&mut party, channel, i, program, roles, *n);
            assert!(matches!(again, Err(GmwError::Lost)), "{again:?}");
        });
    }
}

#[test]
fn parties_of_different_sessions_run_nothing() {
    let program = program("less:8");
    let roles = roles(&program);
    both(|i, channel| {
        let context = Context { sid: Sid([i as u8; 32]), backend: Backend::best() };
        let seed = Seed::from_bytes([i as u8 + 1; 16]);
        let mut party = GmwParty::open(channel, i, &context, Protocol::SoftSpoken4, &seed).expect("a set-up");
        let failed = run(&mut party, channel, i, &program, &roles, 5);
        assert!(matches!(failed, Err(GmwError::Mismatch { peer }) if peer == channel.from()), "{failed:?}");
    });
}

#[test]
fn inputs_of_another_size_are_refused_before_anything_is_sent() {
    let program = program("less:8");
    let roles = roles(&program);
    both(|i, channel| {
        let mut party = open(channel, i, Backend::best()).expect("a set-up");
        let short = party.run(channel, &program, &roles, &Planes::zeros(7, 9));
        assert!(matches!(short, Err(GmwError::Inputs { found: 7, expected: 8 })), "{short:?}");
        run(&mut party, channel, i, &program, &roles, 9).expect("nothing happened");
    });
}

/// The bytes that one party sent in each exchange, and the number that it received.
#[derive(Clone, Default)]
struct Tape(Arc<Mutex<(Vec<Exchange>, Exchange)>>);

type Exchange = (Vec<u8>, usize);

impl Tap for Tape {
    fn outgoing(&mut self, _: PartyId, _: u16, msg: &[u8]) -> Option<Vec<u8>> {
        self.0.lock().expect("one thread").1.0 = msg.to_vec();
        None
    }
    fn incoming(&mut self, _: PartyId, _: u16, msg: &mut [u8]) {
        self.0.lock().expect("one thread").1.1 = msg.len();
    }
    fn finished(&mut self, _: u16) {
        let (all, now) = &mut *self.0.lock().expect("one thread");
        all.push(std::mem::take(now));
    }
}

#[test]
fn a_peer_that_leaves_is_named_wherever_it_does() {
    let program = program("add:8");
    let roles = roles(&program);
    let tape = Tape::default();
    let honest = |i: usize, channel: &mut Channel| {
        let mut party = open(channel, i, Backend::best())?;
        run(&mut party, channel, i, &program, &roles, 3)
    };
    let whole = both(|i, channel| {
        if i == 1 {
            channel.tap(Box::new(tape.clone()));
        }
        honest(i, channel)
    });
    assert!(whole.iter().all(Result::is_ok));
    let exchanges = tape.0.lock().expect("one thread").0.clone();
    assert!(exchanges.len() > program.depth() + 5, "a set-up, triples, layers");
    for left in 0..=exchanges.len() {
        let [failed, _] = both(|i, channel| -> Result<(), GmwError> {
            if i == 0 {
                return honest(i, channel);
            }
            for (out, into) in &exchanges[..left] {
                channel.exchange("the same again", out, &mut vec![0; *into])?;
            }
            Ok(())
        });
        match failed {
            Ok(()) => assert_eq!(left, exchanges.len()),
            Err(GmwError::Net(e) | GmwError::Ot(OtError::Net(e))) => {
                assert!(left < exchanges.len());
                assert!(matches!(e, NetError::Closed { peer: Some(peer), .. } if peer == IDS[1]), "{e}");
            }
            other => panic!("left after {left}: {other:?}"),
        }
    }
}

#[test]
fn changed_messages_end_in_wrong_outputs_or_typed_errors() {
    let program = program("add:8");
    let roles = roles(&program);
    let all = random_inputs(&program, 20, 9);
    for message in 0..60 {
        let results = both(|i, channel| -> Result<bool, GmwError> {
            let tamper = Tamper::new().outgoing(message, Edit::Xor { offset: 0, mask: vec![0xff; 40] });
            let hits = tamper.hits();
            if i == 1 {
                channel.tap(Box::new(tamper));
            }
            let mut party = open(channel, i, Backend::best())?;
            let learnt = party.run(channel, &program, &roles, &own(&program, &roles, i, &all))?;
            Ok(i == 0 && learnt == plain(&program, &roles, i, &all) || i == 1 && hits.count() == 0)
        });
        let [zero, one] = results;
        let typed =
            |e: &GmwError| matches!(e, GmwError::Mismatch { .. } | GmwError::Ot(_) | GmwError::Net(_));
        match (&zero, &one) {
            (Ok(right), Ok(untouched)) => assert_eq!(right, untouched, "message {message}"),
            (Err(e), Err(f)) => assert!(typed(e) && typed(f), "message {message}: {e}; {f}"),
            (Err(e), Ok(_)) | (Ok(_), Err(e)) => assert!(typed(e), "message {message}: {e}"),
        }
        if matches!(one, Ok(true)) {
            assert!(message > 8, "the first messages are changed");
            return;
        }
    }
    panic!("every message of a run was reached");
}

#[test]
fn ots_without_a_semi_honest_form_are_refused() {
    both(|i, channel| {
        let seed = Seed::from_bytes([1; 16]);
        let refused = GmwParty::open(channel, i, &context(Backend::best()), Protocol::Kos, &seed);
        assert!(matches!(refused, Err(GmwError::Ot(OtError::Unsupported { .. }))));
    });
}
