//! Every protocol by name, at every level, is set up and run over channels. The tests check the
//! relations of every OT, and the declared bytes.

mod wire;

use std::{thread, time::Duration};

use hushwire_aes::Backend;
use hushwire_block::{Block, registry};
use hushwire_machine::{Channel, Cost, Meter, PartyId, inproc};
use hushwire_ot::{
    Chunks, Context, Driver, Functionality, Level, Malicious, Opening, OtError, Protocol, Receiving, Role,
    Security, SemiHonest, Sending, Sid, drive, open_receiver, open_sender,
};
use hushwire_prg::{Prg, Seed};

const IDS: [PartyId; 2] = [PartyId(0), PartyId(1)];

fn context(sid: u8) -> Context {
    Context { sid: Sid([sid; 32]), backend: Backend::best() }
}

/// Runs both parties on threads, and returns their results.
fn parties<A: Send, B: Send>(
    send: impl FnOnce(&mut Channel) -> A + Send,
    receive: impl FnOnce(&mut Channel) -> B + Send,
) -> (A, B) {
    let [mut zero, mut one] =
        inproc::mesh(&IDS, 1, Duration::from_secs(60)).try_into().ok().expect("two parties");
    let _watch = registry::watch();
    thread::scope(|scope| {
        let of_sender = registry::here().end(0);
        let sender = scope.spawn(move || {
            let _end = of_sender.enter();
            let mut channel = zero.channel(0, Some(IDS[1]), Some(IDS[1])).expect("the lane is there");
            send(&mut channel)
        });
        let mut channel = one.channel(0, Some(IDS[0]), Some(IDS[0])).expect("the lane is there");
        let received = registry::as_end(1, || receive(&mut channel));
        (sender.join().expect("the sender ends"), received)
    })
}

fn bits(len: usize) -> Vec<u8> {
    let mut out = vec![0; len.div_ceil(8)];
    Prg::new(Backend::best(), &Seed::from_bytes([8; 16]), "choices").fill(&mut out);
    out
}

/// Random correlated, correlated, random and chosen OT, `count` of each.
fn every_functionality<S: Security>(protocol: Protocol, count: usize) {
    let choices = bits(count);
    let chosen = |i: usize| choices[i / 8] >> (i % 8) & 1 == 1;
    let messages: Vec<[Block; 2]> =
        (0..count as u128).map(|i| [Block::from_u128(i), Block::from_u128(!i)]).collect();
    let (sent, received) = parties(
        |channel| -> Result<_, OtError> {
            let driver = &mut Driver::new();
            let mut sender =
                open_sender::<S>(driver, channel, &context(1), protocol, &Seed::from_bytes([1; 16]))?;
            let (mut q, mut p) = (vec![Block::ZERO; count], vec![Block::ZERO; count]);
            let mut pairs = vec![[Block::ZERO; 2]; count];
            let mut work = sender.extend(Sending::Rcot(&mut q));
            driver.run(channel, &mut work)?;
            let first = work.finish();
            let mut work = sender.extend(Sending::Cot(&mut p));
            driver.run(channel, &mut work)?;
            let second = work.finish();
            let mut work = sender.extend(Sending::Rot { pairs: &mut pairs, chosen: true });
            driver.run(channel, &mut work)?;
            let third = work.finish();
            driver.run(channel, &mut sender.extend(Sending::Ot(&messages)))?;
            let mut check = sender.verify();
            driver.run(channel, &mut check)?;
            let proof = check.finish();
            first.open(&proof)?;
            second.open(&proof)?;
            third.open(&proof)?;
            Ok((sender.delta(), q, p, pairs))
        },
        |channel| -> Result<_, OtError> {
            let driver = &mut Driver::new();
            let mut receiver =
                open_receiver::<S>(driver, channel, &context(1), protocol, &Seed::from_bytes([2; 16]))?;
            let [mut t, mut u, mut m, mut got] = [(); 4].map(|()| vec![Block::ZERO; count]);
            let mut work = receiver.extend(Receiving::Rcot(&mut t));
            driver.run(channel, &mut work)?;
            let first = work.finish();
            let mut work = receiver.extend(Receiving::Cot { choices: &choices, t: &mut u });
            driver.run(channel, &mut work)?;
            let second = work.finish();
            let mut work = receiver.extend(Receiving::RotChosen { choices: &choices, messages: &mut m });
            driver.run(channel, &mut work)?;
            let third = work.finish();
            let mut work = receiver.extend(Receiving::Ot { choices: &choices, messages: &mut got });
            driver.run(channel, &mut work)?;
            let fourth = work.finish();
            let mut check = receiver.verify();
            driver.run(channel, &mut check)?;
            let proof = check.finish();
            first.open(&proof)?;
            second.open(&proof)?;
            third.open(&proof)?;
            fourth.open(&proof)?;
            Ok((t, u, m, got))
        },
    );
    let (delta, q, p, pairs) = sent.expect("an honest sender");
    let (t, u, m, got) = received.expect("an honest receiver");
    assert!(delta.lsb());
    for i in 0..count {
        assert_eq!(t[i], q[i] ^ delta.and_bit(t[i].lsb()), "random COT {i} of {protocol}");
        assert_eq!(u[i], p[i] ^ delta.and_bit(chosen(i)), "COT {i} of {protocol}");
        assert_eq!(m[i], pairs[i][usize::from(chosen(i))], "random OT {i} of {protocol}");
        assert_ne!(pairs[i][0], pairs[i][1]);
        assert_eq!(got[i], messages[i][usize::from(chosen(i))], "chosen OT {i} of {protocol}");
    }
    let ones = t.iter().filter(|t| t.lsb()).count();
    assert!(count < 1000 || (2 * ones).abs_diff(count) < count / 4, "choices are balanced");
}

fn every_protocol(counts: &[usize]) {
    for protocol in Protocol::ALL {
        for count in counts {
            if protocol.supports(Level::SemiHonest) {
                every_functionality::<SemiHonest>(protocol, *count);
            }
            if protocol.supports(Level::Malicious) {
                every_functionality::<Malicious>(protocol, *count);
            }
        }
    }
}

#[test]
fn few_ots() {
    every_protocol(&[1, 129]);
}

#[test]
fn several_chunks() {
    every_protocol(&[10_000]);
}

/// `cargo test --release -p hushwire-ot --test protocols -- --ignored`
#[test]
#[ignore = "ten million OTs of every kind: minutes without optimisation"]
fn ten_million() {
    every_protocol(&[127, 128, 10_000_000]);
}

#[test]
fn names_are_read_as_written() {
    for protocol in Protocol::ALL {
        assert_eq!(protocol.to_string().parse::<Protocol>().expect("it is known"), protocol);
    }
    assert!(matches!("softspoken3".parse::<Protocol>(), Err(OtError::Unknown { .. })));
}

#[test]
fn levels_that_a_protocol_lacks_are_refused() {
    fn refused<S: Security>(protocol: Protocol) {
        let result = parties(
            |channel| {
                open_sender::<S>(&mut Driver::new(), channel, &context(2), protocol, &Seed::random()).err()
            },
            |channel| {
                open_receiver::<S>(&mut Driver::new(), channel, &context(2), protocol, &Seed::random()).err()
            },
        );
        assert!(matches!(result, (Some(OtError::Unsupported { .. }), Some(OtError::Unsupported { .. }))));
    }
    refused::<Malicious>(Protocol::Iknp);
    refused::<SemiHonest>(Protocol::Alsz);
    refused::<SemiHonest>(Protocol::Kos);
}

/// The costs of both parties for one call and the check after it.
fn measured<S: Security>(protocol: Protocol, what: Functionality, count: usize) -> [Cost; 2] {
    let (choices, zero) = (bits(count), vec![0; count.div_ceil(8)]);
    let (sent, received) = parties(
        |channel| {
            let driver = &mut Driver::new();
            let mut sender =
                open_sender::<S>(driver, channel, &context(3), protocol, &Seed::random()).expect("set up");
            let meter = Meter::new();
            channel.tap(meter.tap());
            let (mut q, mut pairs) = (vec![Block::ZERO; count], vec![[Block::ZERO; 2]; count]);
            let messages = pairs.clone();
            let work = match what {
                Functionality::Rcot => Sending::Rcot(&mut q),
                Functionality::Cot => Sending::Cot(&mut q),
                Functionality::Rot => Sending::Rot { pairs: &mut pairs, chosen: false },
                Functionality::RotChosen => Sending::Rot { pairs: &mut pairs, chosen: true },
                Functionality::Ot => Sending::Ot(&messages),
                Functionality::BitOt => Sending::BitOt { messages: [&zero, &zero], count },
            };
            driver.run(channel, &mut sender.extend(work)).expect("an honest run");
            driver.run(channel, &mut sender.verify()).expect("an honest run");
            meter.reading().cost()
        },
        |channel| {
            let driver = &mut Driver::new();
            let mut receiver =
                open_receiver::<S>(driver, channel, &context(3), protocol, &Seed::random()).expect("set up");
            let meter = Meter::new();
            channel.tap(meter.tap());
            let (mut t, mut packed) = (vec![Block::ZERO; count], vec![0; count.div_ceil(8)]);
            let choices = &choices[..];
            let work = match what {
                Functionality::Rcot => Receiving::Rcot(&mut t),
                Functionality::Cot => Receiving::Cot { choices, t: &mut t },
                Functionality::Rot => Receiving::Rot { choices: &mut packed, messages: &mut t },
                Functionality::RotChosen => Receiving::RotChosen { choices, messages: &mut t },
                Functionality::Ot => Receiving::Ot { choices, messages: &mut t },
                Functionality::BitOt => Receiving::BitOt { choices, messages: &mut packed, count },
            };
            driver.run(channel, &mut receiver.extend(work)).expect("an honest run");
            driver.run(channel, &mut receiver.verify()).expect("an honest run");
            meter.reading().cost()
        },
    );
    [sent, received]
}

#[test]
fn the_meter_shows_what_is_declared() {
    use Functionality::{BitOt, Cot, Ot, Rcot, Rot, RotChosen};
    let protocols =
        [Protocol::Iknp, Protocol::Alsz, Protocol::Kos, Protocol::SoftSpoken4, Protocol::FerretB10];
    for protocol in protocols {
        for what in [Rcot, Cot, Rot, RotChosen, Ot, BitOt] {
            // Ferret also has calls whose last segment has 16 chunks, 1, 2 and 3.
            let turns = [700, 140_001, 16_256, 16_300, 17_200, 18_200];
            for &count in if protocol == Protocol::FerretB10 { &turns[..] } else { &turns[..2] } {
                if protocol.supports(Level::SemiHonest) {
                    let declared = protocol.cost(Level::SemiHonest, what, count);
                    assert_eq!(
                        measured::<SemiHonest>(protocol, what, count),
                        declared,
                        "{protocol} {what:?} {count}"
                    );
                }
                if protocol.supports(Level::Malicious) {
                    let declared = protocol.cost(Level::Malicious, what, count);
                    assert_eq!(
                        measured::<Malicious>(protocol, what, count),
                        declared,
                        "{protocol} {what:?} {count}"
                    );
                }
            }
        }
    }
}

/// The lengths of a call follow from the counts of earlier calls: OTs that those left over need no
/// message.
#[test]
fn chunks_of_calls_that_follow_each_other() {
    let counts = [700, 1, 511, 8_192, 8_193, 0, 30_000, 5];
    for protocol in [Protocol::Iknp, Protocol::SoftSpoken4, Protocol::SoftSpoken8, Protocol::FerretB10] {
        let said = |channel: &mut Channel, run: &mut dyn FnMut(&mut Channel, usize)| {
            counts.map(|count| {
                let meter = Meter::new();
                channel.tap(meter.tap());
                run(channel, count);
                meter.reading().cost()
            })
        };
        let (sent, received) = parties(
            |channel| {
                let driver = &mut Driver::new();
                let mut sender =
                    open_sender::<SemiHonest>(driver, channel, &context(6), protocol, &Seed::random())
                        .unwrap();
                said(channel, &mut |channel, count| {
                    let mut q = vec![Block::ZERO; count];
                    driver.run(channel, &mut sender.extend(Sending::Rcot(&mut q))).expect("an honest run");
                })
            },
            |channel| {
                let driver = &mut Driver::new();
                let mut receiver =
                    open_receiver::<SemiHonest>(driver, channel, &context(6), protocol, &Seed::random())
                        .unwrap();
                said(channel, &mut |channel, count| {
                    let mut t = vec![Block::ZERO; count];
                    driver
                        .run(channel, &mut receiver.extend(Receiving::Rcot(&mut t)))
                        .expect("an honest run");
                })
            },
        );
        let mut chunks = Chunks::new(protocol);
        for (k, count) in counts.into_iter().enumerate() {
            let bytes = chunks.call(count);
            let rounds = bytes.iter().filter(|bytes| **bytes > 0).count() as u64;
            let cost = |bytes_sent: usize| Cost { rounds, bytes_sent: bytes_sent as u64 };
            let spoken = cost(bytes.iter().sum());
            let declared =
                if chunks.speaker() == Role::Sender { [spoken, cost(0)] } else { [cost(0), spoken] };
            assert_eq!([sent[k], received[k]], declared, "{protocol}, call {k} of {count}");
        }
    }
}

/// A sender that brings its Δ uses it, except for bit 0, and the OTs use it, too.
#[test]
fn a_sender_brings_its_delta() {
    let delta = Block::from_u128(0x0f1e_2d3c_4b5a_6978_8796_a5b4_c3d2_e1f0);
    for protocol in [Protocol::Kos, Protocol::SoftSpoken4, Protocol::FerretB10] {
        let (sent, received) = parties(
            |channel| -> Result<_, OtError> {
                let mut opening = Opening::<Malicious>::sender_with(
                    &context(5),
                    protocol,
                    &Seed::from_bytes([1; 16]),
                    delta,
                )?;
                drive(channel, &mut opening)?;
                let mut sender = opening.into_sender();
                let mut q = vec![Block::ZERO; 300];
                drive(channel, &mut sender.extend(Sending::Rcot(&mut q)))?;
                Ok((sender.delta(), q))
            },
            |channel| -> Result<_, OtError> {
                let mut opening =
                    Opening::<Malicious>::receiver(&context(5), protocol, &Seed::from_bytes([2; 16]))?;
                drive(channel, &mut opening)?;
                let (mut receiver, mut t) = (opening.into_receiver(), vec![Block::ZERO; 300]);
                drive(channel, &mut receiver.extend(Receiving::Rcot(&mut t)))?;
                Ok(t)
            },
        );
        let ((made, q), t) = (sent.expect("honest parties"), received.expect("honest parties"));
        assert_eq!(made, delta ^ Block::from_u128(1), "{protocol}");
        assert!(q.iter().zip(&t).all(|(q, t)| *t == *q ^ made.and_bit(t.lsb())), "{protocol}");
        assert!(t.iter().any(|t| t.lsb()) && t.iter().any(|t| !t.lsb()));
    }
    let alsz =
        Opening::<Malicious>::sender_with(&context(5), Protocol::Alsz, &Seed::from_bytes([1; 16]), delta);
    assert!(matches!(alsz, Err(OtError::Unsupported { .. })));
}
