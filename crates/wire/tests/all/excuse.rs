//! Members that end before they join: the others hear it from them at once, and from nobody else.

use std::{
    thread,
    time::{Duration, Instant},
};

use crate::common::{World, err, ok};
use hushwire_wire::{
    Cause, Identity, Net, NetError, PartyId, Reason, SessionConfig, TransportKind, connect, excuse,
};

/// Before anybody gives up, with slack for a busy host.
const SOON: Duration = Duration::from_secs(20);
const ALL: [TransportKind; 4] =
    [TransportKind::TcpTls, TransportKind::TcpInsecure, TransportKind::Unix, TransportKind::Shm];
const WHY: Reason = Reason::Local(Cause::Inputs);

fn world(transport: TransportKind) -> World {
    World::new(3, true, transport, 2, "127.0.0.1")
}

fn join(world: &World, me: usize) -> Result<Net, NetError> {
    connect(&world.configs[me], &world.identities[me], world.listeners[me].as_ref())
}

/// All join but member `me`, which ends with this configuration: what they say.
fn others_say(world: &World, me: usize, ends: &SessionConfig) -> Vec<(PartyId, NetError)> {
    let others: Vec<_> = (0..world.configs.len()).filter(|other| *other != me).collect();
    let join = |other: usize| (world.configs[other].me, err(join(world, other)));
    let join = &join;
    thread::scope(|scope| {
        let joining: Vec<_> = others.into_iter().map(|other| scope.spawn(move || join(other))).collect();
        // They wait already, or do not yet.
        thread::sleep(Duration::from_millis(100 * me as u64));
        ok(excuse(ends, &world.identities[me], world.listeners[me].as_ref(), WHY));
        joining.into_iter().map(|thread| thread.join().unwrap_or_else(|_| panic!("it panicked"))).collect()
    })
}

#[test]
fn whoever_ends_before_it_joins_ends_all_and_is_named() {
    for transport in ALL {
        for me in 0..4 {
            let world = world(transport);
            let (begun, ends) = (Instant::now(), &world.configs[me]);
            for (other, e) in others_say(&world, me, ends) {
                let named = matches!(&e, NetError::Aborted { peer, why: WHY, step, .. }
                    if *peer == Some(ends.me) && step == "start-up");
                assert!(named, "{other} of {}, {transport}: {e}", ends.me);
                let text = e.to_string();
                assert!(text.contains(" says: its inputs do not fit the job; see its own output"), "{text}");
            }
            assert!(begun.elapsed() < SOON, "{:?}", begun.elapsed());
        }
    }
}

/// A job file that cannot be read tells neither digests nor the numbers of clients.
#[test]
fn whoever_has_no_job_is_known_by_its_key() {
    for me in [1, 3] {
        let world = world(TransportKind::TcpTls);
        let mut ends = world.configs[me].clone();
        (ends.job_digest, ends.params, ends.lanes) = ([0; 32], [0; 32], 1);
        if me == 3 {
            ends.me = PartyId(250);
        }
        if let Some(owner) = ends.peers.iter_mut().find(|peer| peer.id.is_client()) {
            owner.id = PartyId(251);
        }
        for (other, e) in others_say(&world, me, &ends) {
            let peer = Some(world.configs[me].me);
            assert!(
                matches!(&e, NetError::Aborted { peer: named, why: WHY, .. } if *named == peer),
                "{other}: {e}"
            );
        }
    }
}

#[test]
fn a_stranger_ends_nobody() {
    let mut world = world(TransportKind::TcpTls);
    let _held = world.absent(1);
    world.configs.iter_mut().for_each(|cfg| cfg.connect_timeout = Duration::from_secs(4));
    let stranger = ok(Identity::generate("party 1"));
    thread::scope(|scope| {
        let world = &world;
        let joining = scope.spawn(move || err(join(world, 0)));
        // Nobody can dial it, and it dials those that listen.
        let mut cfg = world.configs[1].clone();
        cfg.peers.retain(|peer| peer.address.is_some());
        ok(excuse(&cfg, &stranger, None, WHY));
        let e = joining.join().unwrap_or_else(|_| panic!("it panicked"));
        assert!(matches!(&e, NetError::Absent { peers, .. } if peers.contains(&PartyId(1))), "{e}");
    });
}

#[test]
fn a_second_process_does_not_end_the_run_of_the_first() {
    let mut world = World::new(3, false, TransportKind::TcpTls, 1, "127.0.0.1");
    let _held = world.absent(2);
    world.configs.iter_mut().for_each(|cfg| cfg.connect_timeout = Duration::from_secs(6));
    thread::scope(|scope| {
        let world = &world;
        let joining: Vec<_> = [0, 1].map(|me| scope.spawn(move || err(join(world, me)))).into();
        thread::sleep(Duration::from_secs(2));
        // The first one holds the port.
        ok(excuse(&world.configs[1], &world.identities[1], None, WHY));
        for thread in joining {
            let e = thread.join().unwrap_or_else(|_| panic!("it panicked"));
            assert_eq!(e.peer(), Some(PartyId(2)), "{e}");
        }
    });
}

#[test]
fn whoever_is_alone_ends_soon() {
    let mut world = world(TransportKind::TcpTls);
    let _held = [0, 2].map(|of| world.absent(of));
    let begun = Instant::now();
    ok(excuse(&world.configs[1], &world.identities[1], world.listeners[1].as_ref(), WHY));
    assert!(begun.elapsed() < SOON, "{:?}", begun.elapsed());
}
