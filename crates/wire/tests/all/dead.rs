//! Party 1 of three is killed or stopped. The others end soon, and both name it, even the party
//! whose link ended only because the other party had ended.

#![cfg(unix)]

use std::{
    sync::{Arc, Mutex},
    thread,
    time::{Duration, Instant, SystemTime},
};

use crate::child::{self, Party1, Phase};
use crate::common::ok;
use hushwire_machine::{NetError, PartyId};
use hushwire_wire::{Event, Identity, Listener, Observer, PeerConfig, TransportKind, connect_observed};
use rustix::process::{Pid, Signal, kill_process};

/// The longest time in which a death may go unnoticed, with slack for a busy host. All other
/// time-outs are longer.
const LIMIT: Duration = Duration::from_secs(30);
const CULPRIT: PartyId = PartyId(1);

#[test]
fn child() {
    child::run();
}

/// Parties 0 and 2 run here; party 1 gets `signal` in `phase`. Returns their errors and the time
/// until each.
fn lose(phase: Phase, transport: TransportKind, signal: Signal) -> Vec<(NetError, Duration)> {
    observed(phase, transport, signal, &(Arc::new(|_: &Event| {}) as Observer))
}

/// [`lose`] with an observer of both parties.
fn observed(
    phase: Phase,
    transport: TransportKind,
    signal: Signal,
    observer: &Observer,
) -> Vec<(NetError, Duration)> {
    let mut party1 = Party1::start();
    let here: Vec<_> = [0, 2].map(|id: u8| (PartyId(id), ok(Identity::generate("p")))).into();
    let listeners = [(); 2].map(|()| ok(Listener::bind("127.0.0.1:0")));
    let mut all = vec![party1.peer.clone()];
    for ((id, identity), listener) in here.iter().zip(&listeners) {
        let address = Some(ok(listener.local_addr()).to_string());
        all.push(PeerConfig { id: *id, address, pin: identity.pin() });
    }
    let parties = if phase == Phase::Join { 1 } else { 2 };
    thread::scope(|scope| {
        let running: Vec<_> = here
            .iter()
            .zip(&listeners)
            .take(parties)
            .map(|((me, identity), listener)| {
                let peers = all.iter().filter(|peer| peer.id != *me).cloned().collect();
                let cfg = child::config(*me, peers, transport);
                scope.spawn(move || {
                    let e = match connect_observed(&cfg, identity, Some(listener), observer.clone()) {
                        Ok(mut net) => child::stream(&mut net),
                        Err(e) => e,
                    };
                    (e, Instant::now())
                })
            })
            .collect();
        party1.reach(phase, transport, &all[1..]);
        if phase == Phase::Join {
            // The time is long enough for its handshake with party 0.
            thread::sleep(Duration::from_secs(2));
        }
        let random = ok(SystemTime::now().duration_since(SystemTime::UNIX_EPOCH)).subsec_micros() % 200;
        thread::sleep(Duration::from_millis(random.into()));
        assert!(running.iter().all(|party| !party.is_finished()), "{phase:?}: a party ended too early");
        let pid = Pid::from_child(&party1.process);
        let lost = Instant::now();
        ok(kill_process(pid, signal));
        let ended =
            running.into_iter().map(|party| party.join().unwrap_or_else(|_| panic!("a party panicked")));
        ended.map(|(e, at)| (e, at.saturating_duration_since(lost))).collect()
    })
}

fn killed(transport: TransportKind) {
    thread::scope(|scope| {
        // Until all have joined, it may be restarted.
        for phase in Phase::ALL.into_iter().filter(|phase| *phase != Phase::Join) {
            scope.spawn(move || {
                for (i, (e, took)) in lose(phase, transport, Signal::KILL).into_iter().enumerate() {
                    let what = format!("{phase:?} over {transport}, survivor {i}, {took:?}: {e}");
                    assert_eq!(e.peer(), Some(CULPRIT), "{what}");
                    assert!(
                        matches!(e, NetError::Dead { silent_for: None, .. } | NetError::Aborted { .. }),
                        "{what}"
                    );
                    let named = !e.to_string().contains("during ,");
                    assert!(named && took < LIMIT, "{what}");
                }
            });
        }
    });
}

#[test]
fn a_killed_party_is_named_in_every_phase_over_tls() {
    killed(TransportKind::TcpTls);
}

#[test]
fn a_killed_party_is_named_in_every_phase_over_tcp() {
    killed(TransportKind::TcpInsecure);
}

#[test]
fn a_stopped_party_is_named() {
    let heard: Arc<Mutex<Vec<Event>>> = Arc::default();
    let keep = heard.clone();
    let observer: Observer = Arc::new(move |event: &Event| {
        keep.lock().unwrap_or_else(|e| panic!("{e}")).push(event.clone());
    });
    let lost = observed(Phase::Stream, TransportKind::TcpTls, Signal::STOP, &observer);
    // Meanwhile no event reports it as alive.
    let heard = heard.lock().unwrap_or_else(|e| panic!("{e}")).clone();
    let of_it = heard.iter().filter(|e| matches!(e, Event::Waiting { peer: CULPRIT, .. }));
    let texts: Vec<_> = of_it.map(Event::to_string).collect();
    assert!(!texts.is_empty(), "{heard:?}");
    for text in texts {
        assert!(text.starts_with("still waiting for party 1 during stream, for "), "{text}");
        assert!(text.contains(" s; nothing was heard of it for ") && !text.contains("alive"), "{text}");
    }
    for (e, took) in lost {
        let what = format!("{took:?}: {e}");
        assert_eq!(e.peer(), Some(CULPRIT), "{what}");
        let silent = matches!(e, NetError::Dead { silent_for: Some(_), .. })
            || matches!(e, NetError::Aborted { why: hushwire_machine::Reason::Silent, .. });
        assert!(silent, "{what}");
        assert!(took < LIMIT, "{what}");
        assert!(took > Duration::from_secs(5), "{what}: a stopped party was given no time");
    }
}

/// The others wait for it, since it may continue or be restarted.
#[test]
fn a_party_that_is_lost_while_others_join_is_named_in_the_end() {
    for signal in [Signal::STOP, Signal::KILL] {
        for (e, took) in lose(Phase::Join, TransportKind::TcpInsecure, signal) {
            let named = matches!(&e, NetError::Absent { peers, .. } if *peers == [CULPRIT, PartyId(2)]);
            assert!(named && took > Duration::from_secs(8), "{signal:?}, {took:?}: {e}");
            assert!(e.to_string().contains("party 1: had joined, and its links closed "), "{e}");
        }
    }
}
