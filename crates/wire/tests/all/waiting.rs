//! Parties that are slow, late or end the session: which party waits for which, and which one the
//! others name.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc, Mutex, MutexGuard,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use crate::common::{World, each, err, ok};
use hushwire_machine::{Net, NetError, PartyId, Reason, SessionId, WaitCut, inproc};
use hushwire_wire::{Event, Listener, Observer, SessionConfig, TransportKind, connect, connect_observed};

const TLS: TransportKind = TransportKind::TcpTls;
/// "At once": shorter than every time-out here, with slack for a busy host.
const SOON: Duration = Duration::from_secs(20);

fn world(parties: u8, owner: bool) -> World {
    World::new(parties, owner, TLS, 1, "127.0.0.1")
}

/// An observer and the events that it receives.
fn ears() -> (Observer, Arc<Mutex<Vec<Event>>>) {
    let heard: Arc<Mutex<Vec<Event>>> = Arc::default();
    let keep = heard.clone();
    (Arc::new(move |event: &Event| lock(&keep).push(event.clone())), heard)
}

fn lock(heard: &Mutex<Vec<Event>>) -> MutexGuard<'_, Vec<Event>> {
    heard.lock().unwrap_or_else(|e| panic!("{e}"))
}

fn channel(net: &mut Net, to: Option<u8>, from: Option<u8>) -> hushwire_machine::Channel {
    ok(net.channel(0, to.map(PartyId), from.map(PartyId)))
}

#[test]
fn a_slow_party_that_lives_is_waited_for_and_reported() {
    let mut world = world(3, false);
    for cfg in &mut world.configs {
        // The limit is shorter than the wait: the heartbeats keep the session alive.
        (cfg.liveness, cfg.stall) = (Duration::from_secs(6), Duration::from_secs(60));
        cfg.still = Duration::from_secs(3);
    }
    let (observer, heard) = ears();
    // The heartbeats may be late on a busy host, but they come.
    let alive = |event: &&Event| matches!(event, Event::Waiting { silent: None, behind: Some(_), .. });
    thread::scope(|scope| {
        let (world, observer, heard) = (&world, &observer, &heard);
        for me in 0..3 {
            scope.spawn(move || {
                let (cfg, identity) = (&world.configs[me], &world.identities[me]);
                let listener = world.listeners[me].as_ref();
                let mut byte = [9];
                match me {
                    // Party 2 waits for party 1, which waits for party 0, which computes.
                    0 => {
                        let mut net = ok(connect(cfg, identity, listener));
                        let begun = Instant::now();
                        while begun.elapsed() < Duration::from_secs(7)
                            || !lock(heard).iter().any(|e| alive(&e))
                        {
                            assert!(begun.elapsed() < Duration::from_secs(50), "{:?}", lock(heard));
                            thread::sleep(Duration::from_millis(100));
                        }
                        ok(channel(&mut net, Some(1), None).send("compute", &byte));
                    }
                    1 => {
                        let mut net = ok(connect(cfg, identity, listener));
                        ok(channel(&mut net, None, Some(0)).recv("first half", &mut byte));
                        ok(channel(&mut net, Some(2), None).send("second half", &byte));
                    }
                    _ => {
                        let mut net = ok(connect_observed(cfg, identity, listener, observer.clone()));
                        ok(channel(&mut net, None, Some(1)).recv("second half", &mut byte));
                        assert_eq!(byte, [9]);
                    }
                }
            });
        }
    });
    for event in lock(&heard).iter().filter(alive) {
        let text = event.to_string();
        match event {
            Event::Waiting { peer, step, waited, behind, .. } => {
                assert_eq!((*peer, step.as_str()), (PartyId(1), "second half"));
                assert_eq!(*behind, Some((PartyId(0), "first half".to_owned())));
                assert!(*waited >= Duration::from_secs(2), "{waited:?}");
            }
            other => panic!("{other:?}"),
        }
        assert!(text.starts_with("still waiting for party 1 during second half, for "), "{text}");
        assert!(text.ends_with(" s; it is alive and waits for party 0 during first half"), "{text}");
    }
}

#[test]
fn when_nothing_moves_the_party_at_the_end_of_the_chain_is_named() {
    let mut world = world(3, false);
    world.configs.iter_mut().for_each(|cfg| cfg.stall = Duration::from_secs(4));
    each(world.nets(), |mut net| match net.me().0 {
        0 => {
            let (watch, begun) = (net.watch().unwrap_or_else(|| panic!("nobody watches")), Instant::now());
            while watch.check("idling").is_ok() {
                assert!(begun.elapsed() < SOON, "nobody gives it up");
                thread::sleep(Duration::from_millis(10));
            }
        }
        me => {
            let e = err(channel(&mut net, None, Some(me - 1)).recv("layer", &mut [0]));
            assert_eq!(e.peer(), Some(PartyId(0)), "party {me}: {e}");
            assert!(
                matches!(e, NetError::Stalled { .. } | NetError::Aborted { why: Reason::Stalled, .. }),
                "party {me}: {e}"
            );
        }
    });
}

#[test]
fn a_late_party_is_waited_for_by_name() {
    let mut world = world(3, true);
    world.configs.iter_mut().for_each(|cfg| cfg.connect_timeout = Duration::from_secs(60));
    let (address, _held) = world.absent(2);
    // Each of parties 0 and 1 and the owner reports it.
    let ears: Vec<_> = (0..3).map(|_| ears()).collect();
    let named = |event: &Event| matches!(event, Event::Joining { missing, last: Some(_), .. } if *missing == [PartyId(2)]);
    thread::scope(|scope| {
        let (world, ears, address) = (&world, &ears, &address);
        for (me, ear) in [0, 1, 3].into_iter().zip(ears) {
            scope.spawn(move || {
                let (cfg, identity) = (&world.configs[me], &world.identities[me]);
                let listener = world.listeners[me].as_ref();
                drop(ok(connect_observed(cfg, identity, listener, ear.0.clone())));
            });
        }
        let begun = Instant::now();
        while !ears.iter().all(|(_, heard)| lock(heard).iter().any(named)) {
            assert!(begun.elapsed() < Duration::from_secs(50), "somebody does not say for whom it waits");
            thread::sleep(Duration::from_millis(50));
        }
        let listener = ok(Listener::bind(address));
        drop(ok(connect(&world.configs[2], &world.identities[2], Some(&listener))));
    });
    for (_, heard) in ears {
        for event in lock(&heard).iter().filter(|event| named(event)) {
            let text = event.to_string();
            assert!(text.starts_with("still waiting for party 2 to join, for "), "{text}");
            let last = format!(" s; last: party 2 at {address}: ");
            assert!(text.contains(&last) && text.contains("refused"), "{text}");
        }
    }
}

/// The watcher of a client is delayed, as by a busy host, while a party ends the session and closes
/// its links.
#[test]
fn the_cause_is_heard_and_told_by_a_watcher_that_is_late() {
    for client_ends in [false, true] {
        let world = world(2, true);
        let (held, late) = (AtomicBool::new(false), Arc::new(AtomicBool::new(false)));
        let over = late.clone();
        let slow: Observer = Arc::new(move |event: &Event| {
            if matches!(event, Event::Comes { .. }) {
                thread::sleep(Duration::from_secs(3));
                over.store(true, Ordering::SeqCst);
            }
        });
        thread::scope(|scope| {
            for me in 0..3 {
                let (world, held, late, slow) = (&world, &held, &late, slow.clone());
                scope.spawn(move || {
                    let (cfg, identity) = (&world.configs[me], &world.identities[me]);
                    let observer = if me == 2 { slow } else { ears().0 };
                    let mut net = ok(connect_observed(cfg, identity, world.listeners[me].as_ref(), observer));
                    let told = |e: NetError, told: PartyId| {
                        let expected =
                            matches!(&e, NetError::Aborted { peer: Some(PartyId(1)), by, .. } if *by == told);
                        assert!(expected, "{me}: {e}");
                    };
                    match me {
                        0 => {
                            let watch = net.watch().unwrap_or_else(|| panic!("no watch"));
                            watch.comes(1, 7);
                            // The wait lasts until the client's watcher has it.
                            thread::sleep(Duration::from_millis(1500));
                            held.store(true, Ordering::SeqCst);
                            if client_ends {
                                let mut lane = channel(&mut net, None, Some(PartyId::OWNER.0));
                                told(err(lane.recv("input", &mut [0])), PartyId::OWNER);
                            } else {
                                net.abort(PartyId(1), Reason::Cheated, "a check");
                            }
                        }
                        1 => {
                            let mut lane = channel(&mut net, None, Some(0));
                            // A party is told by its accuser what it is accused of.
                            assert!(matches!(err(lane.recv("idle", &mut [0])), NetError::Blamed { .. }));
                        }
                        _ if client_ends => {
                            while !held.load(Ordering::SeqCst) {
                                thread::sleep(Duration::from_millis(10));
                            }
                            net.abort(PartyId(1), Reason::Cheated, "a check");
                            assert!(
                                late.load(Ordering::SeqCst),
                                "it did not wait until its peers could read it"
                            );
                        }
                        _ => {
                            let mut lane = channel(&mut net, None, Some(0));
                            told(err(lane.recv("result", &mut [0])), PartyId(0));
                        }
                    }
                });
            }
        });
    }
}

/// Party 0 and the owner wait for each other, party 1 runs `end`, and party 2 only computes. The
/// test runs over every transport.
fn ends(end: impl Fn(Net) + Sync, expect: impl Fn(&NetError) -> bool + Sync) {
    for transport in [TLS, TransportKind::TcpInsecure, TransportKind::Unix, TransportKind::Shm] {
        ends_over(transport, &end, &expect);
    }
}

fn ends_over(
    transport: TransportKind,
    end: &(impl Fn(Net) + Sync),
    expect: &(impl Fn(&NetError) -> bool + Sync),
) {
    let world = World::new(3, true, transport, 1, "127.0.0.1");
    each(world.nets(), |mut net| match net.me() {
        PartyId(1) => {
            thread::sleep(Duration::from_millis(300));
            end(net);
        }
        PartyId(2) => {
            let watch = net.watch().unwrap_or_else(|| panic!("nobody watches"));
            let begun = Instant::now();
            let e = loop {
                match watch.check("computing") {
                    Ok(()) => assert!(begun.elapsed() < SOON, "party 2 was not told"),
                    Err(e) => break e,
                }
                thread::sleep(Duration::from_millis(10));
            };
            assert!(expect(&e), "party 2: {e}");
        }
        me => {
            let other = if me == PartyId::OWNER { 0 } else { PartyId::OWNER.0 };
            let begun = Instant::now();
            let e = err(channel(&mut net, Some(other), Some(other)).recv("input", &mut [0]));
            assert!(expect(&e), "{me}: {e}");
            assert!(begun.elapsed() < SOON, "{me}: {:?}", begun.elapsed());
        }
    });
}

#[test]
fn clients_hear_how_far_a_party_is_and_parties_do_not() {
    let world = world(2, true);
    let ears: Vec<_> = (0..3).map(|_| ears()).collect();
    let comes = |done| Event::Comes { peer: PartyId(0), done, of: 7 };
    thread::scope(|scope| {
        let (world, ears) = (&world, &ears);
        for me in 0..3 {
            scope.spawn(move || {
                let (cfg, identity) = (&world.configs[me], &world.identities[me]);
                let (listener, observer) = (world.listeners[me].as_ref(), ears[me].0.clone());
                let mut net = ok(connect_observed(cfg, identity, listener, observer));
                if me == 0 {
                    let watch = net.watch().unwrap_or_else(|| panic!("no watch"));
                    // The last call counts, once it has been sent.
                    watch.comes(2, 7);
                    watch.comes(3, 7);
                    let begun = Instant::now();
                    while !lock(&ears[2].1).contains(&comes(3)) {
                        assert!(begun.elapsed() < SOON, "the client does not hear it");
                        thread::sleep(Duration::from_millis(10));
                    }
                    ok(channel(&mut net, Some(1), None).send("end", &[9]));
                    ok(channel(&mut net, Some(PartyId::OWNER.0), None).send("end", &[9]));
                } else {
                    ok(channel(&mut net, None, Some(0)).recv("end", &mut [0]));
                }
            });
        }
    });
    for (me, (_, heard)) in ears.iter().enumerate() {
        let heard = lock(heard);
        let told = heard.iter().filter(|event| matches!(event, Event::Comes { .. }) && **event != comes(2));
        assert_eq!(told.cloned().collect::<Vec<_>>(), if me == 2 { vec![comes(3)] } else { vec![] }, "{me}");
    }
}

#[test]
fn whom_a_party_blames_is_what_all_hear() {
    ends(
        |net| {
            net.abort(PartyId(1), Reason::Interrupted, "reading\ninput");
            // Once the peers know the verdict, nothing else counts.
            net.abort(PartyId(2), Reason::Cheated, "later");
        },
        |e| {
            matches!(
                e,
                NetError::Aborted { peer: Some(PartyId(1)), by: PartyId(1), why: Reason::Interrupted, step }
                    if step == "reading?input"
            )
        },
    );
    ends(
        |net| net.abort(PartyId(2), Reason::Cheated, "checking shares"),
        |e| match e {
            NetError::Aborted { peer: Some(PartyId(2)), by: PartyId(1), why: Reason::Cheated, step } => {
                step == "checking shares"
            }
            // Party 2 is told who accuses it, and is not told that it accuses itself.
            NetError::Blamed { by: PartyId(1), why: Reason::Cheated, step } => step == "checking shares",
            _ => false,
        },
    );
}

#[test]
fn a_party_that_panics_does_not_look_as_if_it_had_finished() {
    ends(
        |net| {
            let run = catch_unwind(AssertUnwindSafe(move || {
                let _net = net;
                std::panic::panic_any("part of the test");
            }));
            assert!(run.is_err());
        },
        |e| {
            matches!(e, NetError::Aborted { peer: Some(PartyId(1)), by: PartyId(1), why: Reason::Failed, .. })
        },
    );
}

/// The owner and the second client have no link. Only party 0 can tell the client who began.
#[test]
fn the_first_cause_passes_through_those_that_end_second() {
    let mut world = world(1, true);
    let client = PartyId(129);
    let identity = ok(hushwire_wire::Identity::generate("client"));
    let mut cfg = world.configs[1].clone();
    cfg.me = client;
    let as_peer = hushwire_wire::PeerConfig { id: client, address: None, pin: identity.pin() };
    world.configs[0].peers.push(as_peer);
    world.configs.push(cfg);
    world.identities.push(identity);
    world.listeners.push(None);
    each(world.nets(), |mut net| match net.me() {
        PartyId(0) => {
            let e = err(channel(&mut net, None, Some(PartyId::OWNER.0)).recv("input", &mut [0]));
            assert!(matches!(e, NetError::Closed { peer: Some(PartyId::OWNER), .. }), "{e}");
        }
        PartyId::OWNER => thread::sleep(Duration::from_millis(300)),
        _ => {
            let e = err(channel(&mut net, None, Some(0)).recv("result", &mut [0]));
            assert!(
                matches!(&e, NetError::Aborted { peer: Some(PartyId::OWNER), by: PartyId(0), why: Reason::Left, step } if step == "input"),
                "{e}"
            );
        }
    });
}

#[test]
fn who_gives_up_waiting_tells_those_who_still_wait() {
    let mut world = world(3, false);
    world.configs[1].connect_timeout = Duration::from_secs(4);
    world.configs[0].connect_timeout = Duration::from_secs(60);
    let begun = Instant::now();
    thread::scope(|scope| {
        for me in 0..2 {
            let world = &world;
            scope.spawn(move || {
                // Party 2 never comes.
                let listener = world.listeners[me].as_ref();
                let e = err(connect(&world.configs[me], &world.identities[me], listener));
                assert_eq!(e.peer(), Some(PartyId(2)), "party {me}: {e}");
                // Its error has the report, and its own observation.
                let told = e.to_string().contains("party 1 gave up, and at last here ");
                assert_eq!(told, me == 0, "party {me}: {e}");
            });
        }
    });
    assert!(begun.elapsed() < SOON, "{:?}", begun.elapsed());
}

#[test]
fn two_sessions_on_one_port_do_not_meet() {
    let mut world = world(2, false);
    let first = world.nets();
    world.configs.iter_mut().for_each(|cfg| cfg.session = SessionId([8; 16]));
    let second = world.nets();
    let swap = |nets: Vec<Net>, byte: u8| {
        each(nets, |mut net| {
            let other = 1 - net.me().0;
            let mut into = [0];
            ok(channel(&mut net, Some(other), Some(other)).exchange("swap", &[byte], &mut into));
            assert_eq!(into, [byte]);
        });
    };
    // The end of one session is not the end of the other.
    swap(first, 1);
    swap(second, 2);
}

/// A thread that fails ends the wait of another thread's channel, and the peer's wait with it, long
/// before the stall limit.
#[test]
fn a_wait_ends_when_another_thread_cuts_it() {
    let nets = inproc::mesh(&[PartyId(0), PartyId(1)], 1, SessionConfig::PATIENCE);
    let mut ends =
        nets.into_iter().zip([1, 0]).map(|(mut net, peer)| channel(&mut net, Some(peer), Some(peer)));
    let (Some(mut one), Some(mut other)) = (ends.next(), ends.next()) else { panic!("two parties") };
    let (cut, begun) = (WaitCut::default(), Instant::now());
    one.until(Some(&cut));
    thread::scope(|scope| {
        scope.spawn(|| {
            assert!(matches!(
                one.recv("a step", &mut [0]),
                Err(NetError::Dropped { peer: Some(PartyId(1)), .. })
            ));
        });
        scope.spawn(|| assert!(matches!(other.recv("a step", &mut [0]), Err(NetError::Closed { .. }))));
        thread::sleep(Duration::from_millis(300));
        cut.cut();
    });
    assert!(begun.elapsed() < SessionConfig::PATIENCE / 2);
}
