//! Sessions of software and hardware parties in every mix: the same bytes, the same shares.

use crate::common::{Case, HELLO, Party, modelled};
use hushwire_hdl::{Cause, Device, HdlError, Hello};
use hushwire_machine::drive::{Exchanged, Machine};
use hushwire_rep3::{Shares, open};
use hushwire_testkit::lockstep;

/// Runs batch `b` with a device for each party in `hardware`, in the context `context`.
fn run(case: &Case, devices: &[Option<Device>; 3], context: usize, b: u32) -> [Shares; 3] {
    let party = |i: usize| match &devices[i] {
        Some(device) => Party::Hard(case.hard(i, device, context, b).unwrap_or_else(|e| panic!("{e}"))),
        None => Party::Soft(Box::new(case.soft(i, b))),
    };
    lockstep([party(0), party(1), party(2)]).map(Party::output)
}

fn devices(case: &Case, hello: Hello, hardware: &[usize]) -> [Option<Device>; 3] {
    [0, 1, 2].map(|i| {
        hardware.contains(&i).then(|| {
            let device = modelled(hello);
            case.load(i, &device).unwrap_or_else(|e| panic!("{e}"));
            device
        })
    })
}

fn opened([a, b, c]: &[Shares; 3]) -> Vec<u8> {
    open([&a.own, &b.own, &c.own]).unwrap()
}

#[test]
fn every_mix_of_parties_computes_aes_with_the_same_shares() {
    for name in ["aes128-expanded-key", "aes128-expanded-key-depth4"] {
        let case = Case::new(name, true, HELLO.instances());
        let software = run(&case, &[None, None, None], 0, 3);
        assert!(opened(&software) == case.plain(3), "{name}: software alone");
        for hardware in [&[0][..], &[1], &[2], &[1, 2], &[0, 1, 2]] {
            let shares = run(&case, &devices(&case, HELLO, hardware), 1, 3);
            for (i, (found, wanted)) in shares.iter().zip(&software).enumerate() {
                let same = found.own == wanted.own && found.next == wanted.next;
                assert!(same, "{name}: party {i} of hardware {hardware:?}");
            }
        }
    }
}

#[test]
fn a_message_of_another_length_ends_a_batch_and_not_the_device() {
    let case = Case::new("mul:8", false, HELLO.instances());
    let [device, ..] = devices(&case, HELLO, &[0]);
    let device = device.unwrap();
    for (context, change) in [-1, 1].into_iter().enumerate() {
        let mut batch = case.hard(0, &device, context, 0).unwrap();
        let (round, next) = (batch.round(0).unwrap(), batch.upcoming().unwrap());
        batch.write(0, &mut vec![0; round.out]).unwrap();
        for len in [round.into.saturating_add_signed(change), round.into] {
            let went = batch.turn(&[Exchanged::heard(&vec![0; len])], &mut vec![0; next.out]);
            assert!(matches!(went, Err(HdlError { cause: Cause::Misuse(_), .. })), "{went:?}");
        }
        assert!(batch.round(0).is_some() && device.check().is_ok());
    }
}

#[test]
fn other_circuits_and_more_lanes() {
    let wide = Hello { lanes: 3, ..HELLO };
    for (name, common) in [("less:32", false), ("less:32", true), ("mul:8", true)] {
        for hello in [HELLO, wide] {
            let case = Case::new(name, common, hello.instances());
            let shares = run(&case, &devices(&case, hello, &[0, 2]), 0, 1);
            assert!(opened(&shares) == case.plain(1), "{name} {common} {} lanes", hello.lanes);
        }
    }
}

#[test]
fn batches_in_several_contexts_are_under_way_together() {
    let case = Case::new("less:32", true, HELLO.instances());
    let hardware = devices(&case, HELLO, &[0, 1, 2]);
    let begin = |context: usize, b: u32| -> Vec<Party> {
        let party = |i: usize| {
            let device = hardware[i].as_ref().unwrap_or_else(|| panic!("all are hardware"));
            Party::Hard(case.hard(i, device, context, b).unwrap_or_else(|e| panic!("{e}")))
        };
        (0..3).map(party).collect()
    };
    // Contexts take turns layer by layer, and one ends before the others begin their last layers.
    let mut flights: Vec<Vec<Party>> = (0..4).map(|context| begin(context, context as u32)).collect();
    let mut sent: Vec<Option<Vec<Vec<u8>>>> = vec![None; 4];
    while flights.iter().flatten().any(|party| party.round(0).is_some()) {
        for (parties, sent) in flights.iter_mut().zip(&mut sent) {
            let before = sent.take();
            let mut made = vec![];
            for (i, party) in parties.iter_mut().enumerate() {
                let next = if before.is_some() { party.upcoming() } else { party.round(0) };
                let mut message = vec![0xaa; next.map_or(0, |round| round.out)];
                let ran = match &before {
                    None => party.write(0, &mut message),
                    Some(before) => {
                        let arrived = [Exchanged { own: &before[i], heard: &before[(i + 1) % 3] }];
                        if next.is_some() { party.turn(&arrived, &mut message) } else { party.read(&arrived) }
                    }
                };
                ran.unwrap_or_else(|e| panic!("{e}"));
                made.push(message);
            }
            *sent = Some(made);
        }
    }
    for (b, parties) in flights.into_iter().enumerate() {
        let shares: Vec<Shares> = parties.into_iter().map(Party::output).collect();
        let value = open([&shares[0].own, &shares[1].own, &shares[2].own]).unwrap();
        assert!(value == case.plain(b as u32), "batch {b}");
    }
    // A context can be used again.
    assert!(opened(&run(&case, &hardware, 2, 9)) == case.plain(9));
}

#[test]
fn statistics_grow_with_the_work() {
    let case = Case::new("less:32", true, HELLO.instances());
    let hardware = devices(&case, HELLO, &[0, 1, 2]);
    let ands = |i: usize| hardware[i].as_ref().unwrap().statistics().unwrap().ands;
    assert_eq!(ands(0), 0);
    for batches in 1..3 {
        run(&case, &hardware, 0, batches as u32);
        assert_eq!(ands(1), batches * case.code.ands() as u64);
    }
}
