//! Certificates that are wrong, swapped, expired or not yet valid are refused, and the error names
//! them. Both ends report them if both can know.

use std::{
    sync::{Arc, Mutex},
    thread,
    time::{Duration, SystemTime},
};

use crate::common::{World, err, ok};
use hushwire_machine::{NetError, PartyId};
use hushwire_wire::{Event, Identity, TransportKind, Validity, connect_observed};

const DAY: Duration = Duration::from_secs(86_400);

fn world(parties: u8, owner: bool) -> World {
    let mut world = World::new(parties, owner, TransportKind::TcpTls, 1, "127.0.0.1");
    world.configs.iter_mut().for_each(|cfg| cfg.connect_timeout = Duration::from_secs(4));
    world
}

/// Gives party `of` another certificate, which all others list.
fn replace(world: &mut World, of: usize, validity: Validity) {
    let identity = ok(Identity::generate_for("replaced", validity));
    let id = world.configs[of].me;
    for peer in world.configs.iter_mut().flat_map(|cfg| &mut cfg.peers).filter(|peer| peer.id == id) {
        peer.pin = identity.pin();
    }
    world.identities[of] = identity;
}

/// Whether the error is `Expired` about `peer`, with the remedy in its message.
fn is_expired(e: &NetError, peer: PartyId) -> bool {
    e.to_string().contains("`hushwire keys rotate`")
        && matches!(e, NetError::Expired { peer: Some(p), .. } if *p == peer)
}

#[test]
fn swapped_certificates_are_unknown_peers() {
    let mut world = world(3, false);
    // Party 0 has swapped the pins of 1 and 2.
    let [one, two] = &mut world.configs[0].peers[..] else { panic!("two peers") };
    std::mem::swap(&mut one.pin, &mut two.pin);
    let results: Vec<_> = world.connect().into_iter().map(err).collect();
    let named = match &results[0] {
        NetError::UnknownPeer { peer: Some(peer), presented, .. } => {
            let pin = world.identities[usize::from(peer.0)].pin().to_string();
            assert_eq!(*presented, hushwire_machine::Presented::Pin(pin));
            true
        }
        // One of the two may have dialled first. Its certificate is listed for the other number.
        NetError::HandshakeMismatch { field, .. } => *field == "party ids",
        _ => false,
    };
    assert!(named, "{}", results[0]);
    for e in &results[1..] {
        assert!(matches!(e.peer(), Some(PartyId(0..=2))), "{e}");
    }
}

#[test]
fn our_own_certificate_is_looked_at_first() {
    let now = SystemTime::now();
    for dates in [
        Validity { not_before: now - DAY * 9, not_after: now - DAY },
        Validity { not_before: now + DAY, not_after: now + DAY * 9 },
    ] {
        let mut world = world(2, false);
        replace(&mut world, 0, dates);
        let e = err(world.join(0));
        assert!(is_expired(&e, PartyId(0)), "{e}");
        assert!(e.to_string().contains(&dates.to_string()), "{e}");
    }
}

/// The certificate of `late` expires between its own check and the handshake.
fn expires_meanwhile(mut world: World, late: usize, judge: usize) {
    replace(&mut world, late, Validity::lasting(Duration::from_secs(6)));
    world.configs[judge].connect_timeout = Duration::from_secs(5);
    let (world, id) = (&world, world.configs[late].me);
    thread::scope(|scope| {
        scope.spawn(move || {
            let e = err(world.join(late));
            assert!(is_expired(&e, id), "its holder: {e}");
            assert!(e.to_string().contains("says that it does not hold today"), "{e}");
        });
        thread::sleep(Duration::from_millis(6300));
        let e = err(world.join(judge));
        assert!(is_expired(&e, id), "its peer: {e}");
        assert!(e.to_string().contains("not by our clock"), "{e}");
    });
}

#[test]
fn a_peer_s_expired_certificate_is_named_on_both_sides() {
    // The time-outs are longer than the certificate's validity.
    let mut parties = world(2, false);
    parties.configs.iter_mut().for_each(|cfg| cfg.connect_timeout = Duration::from_secs(30));
    expires_meanwhile(parties, 1, 0);
}

#[test]
fn an_owner_s_expired_certificate_is_named_on_both_sides() {
    let mut parties = world(1, true);
    parties.configs.iter_mut().for_each(|cfg| cfg.connect_timeout = Duration::from_secs(30));
    expires_meanwhile(parties, 1, 0);
}

/// The events about certificates that both parties of `world` receive while they join.
fn heard_of_certificates(world: &World) -> Vec<Event> {
    let heard: Arc<Mutex<Vec<Event>>> = Arc::default();
    thread::scope(|scope| {
        for me in 0..2 {
            let heard = heard.clone();
            scope.spawn(move || {
                let (cfg, identity) = (&world.configs[me], &world.identities[me]);
                let keep = move |event: &Event| {
                    heard.lock().unwrap_or_else(|e| panic!("{e}")).push(event.clone());
                };
                ok(connect_observed(cfg, identity, world.listeners[me].as_ref(), Arc::new(keep)));
            });
        }
    });
    let mut heard = heard.lock().unwrap_or_else(|e| panic!("{e}")).clone();
    // On a busy host they may have to wait for each other.
    heard.retain(|event| !matches!(event, Event::Joining { .. }));
    heard
}

#[test]
fn certificates_that_end_soon_are_reported() {
    let mut world = world(2, false);
    replace(&mut world, 1, Validity::lasting(DAY * 20));
    let soon = world.identities[1].validity();
    let expiring = Event::Expiring { party: PartyId(1), validity: soon };
    assert_eq!(heard_of_certificates(&world), [expiring.clone(), expiring.clone()]);
    assert!(expiring.to_string().contains(&soon.to_string()), "{expiring}");
}

#[test]
fn fresh_certificates_are_not_reported() {
    assert_eq!(heard_of_certificates(&world(2, false)), []);
}
