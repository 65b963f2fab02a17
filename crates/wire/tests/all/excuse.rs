//! Members that end before they join tell the others at once. A client that comes late is told by
//! the parties that another client ended.

use std::{
    sync::{Arc, mpsc},
    thread,
    time::{Duration, Instant},
};

use crate::common::{World, err, ok};
use hushwire_machine::{Excuse, NetError, PartyId, Reason};
use hushwire_wire::{
    Identity, Listener, News, PeerConfig, SessionConfig, TransportKind, connect_or_news, excuse, retell,
};

/// Shorter than every time-out, with slack for a busy host.
const SOON: Duration = Duration::from_secs(20);
const ALL: [TransportKind; 4] =
    [TransportKind::TcpTls, TransportKind::TcpInsecure, TransportKind::Unix, TransportKind::Shm];
const WHY: Reason = Reason::Local(Excuse::Inputs);

fn world(transport: TransportKind) -> World {
    World::new(3, true, transport, 2, "127.0.0.1")
}

/// All members join except `me`, which ends with the configuration `ends`. Returns the errors of
/// the others.
fn others_errors(world: &World, me: usize, ends: &SessionConfig) -> Vec<(PartyId, NetError)> {
    let others: Vec<_> = (0..world.configs.len()).filter(|other| *other != me).collect();
    let join = |other: usize| (world.configs[other].me, err(world.join(other)));
    let join = &join;
    thread::scope(|scope| {
        let joining: Vec<_> = others.into_iter().map(|other| scope.spawn(move || join(other))).collect();
        // The others already wait, or have not yet begun.
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
            for (other, e) in others_errors(&world, me, ends) {
                let named = matches!(&e, NetError::Aborted { peer, why: WHY, step, .. }
                    if *peer == Some(ends.me) && step == "start-up");
                assert!(named, "{other} of {}, {transport}: {e}", ends.me);
                let text = e.to_string();
                assert!(text.contains(" says: its inputs do not fit the job; read its own output"), "{text}");
            }
            assert!(begun.elapsed() < SOON, "{:?}", begun.elapsed());
        }
    }
}

/// A member that cannot read its job file knows neither digests nor the numbers of clients.
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
        for (other, e) in others_errors(&world, me, &ends) {
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
        let joining = scope.spawn(move || err(world.join(0)));
        // No member can dial it, and it dials those that listen.
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
        let joining: Vec<_> = [0, 1].map(|me| scope.spawn(move || err(world.join(me)))).into();
        thread::sleep(Duration::from_secs(2));
        // The first process holds the port.
        ok(excuse(&world.configs[1], &world.identities[1], None, WHY));
        for thread in joining {
            let e = thread.join().unwrap_or_else(|_| panic!("it panicked"));
            assert_eq!(e.peer(), Some(PartyId(2)), "{e}");
        }
    });
}

fn join_or_news(
    cfg: &SessionConfig,
    identity: &Identity,
    listener: Option<&Listener>,
) -> (NetError, Option<Box<News>>) {
    let joined = connect_or_news(cfg, identity, listener, Arc::new(|_| {}), None);
    joined.err().unwrap_or_else(|| panic!("{} joined", cfg.me))
}

/// A session with one more client: its configuration and its identity.
fn with_another(transport: TransportKind) -> (World, SessionConfig, Identity) {
    let (mut world, identity) = (world(transport), ok(Identity::generate("client")));
    let (id, mut second) = (PartyId(PartyId::OWNER.0 + 1), world.configs[3].clone());
    second.me = id;
    for cfg in &mut world.configs[..3] {
        cfg.peers.push(PeerConfig { id, address: None, pin: identity.pin() });
    }
    (world, second, identity)
}

/// The first client ends, and the parties with it. Then `late`, another client, comes. Returns its
/// error, after all parties have ended.
fn late_hears(world: &World, late: &SessionConfig, identity: &Identity) -> (NetError, Option<Box<News>>) {
    let (heard, hears) = mpsc::channel();
    thread::scope(|scope| {
        for me in 0..3 {
            let heard = heard.clone();
            scope.spawn(move || {
                let cfg = &world.configs[me];
                let (e, news) = join_or_news(cfg, &world.identities[me], world.listeners[me].as_ref());
                let first = matches!(e, NetError::Aborted { by: PartyId::OWNER, .. });
                assert_eq!(first, news.is_some(), "{e}");
                ok(heard.send(first).map_err(|e| e.to_string()));
                if let Some(news) = news {
                    ok(retell(cfg, &world.identities[me], world.listeners[me].as_ref(), &news));
                }
            });
        }
        ok(excuse(&world.configs[3], &world.identities[3], None, WHY));
        // Some may have been told by others.
        let first: Vec<_> = (0..3).map(|_| ok(hears.recv_timeout(SOON))).collect();
        assert!(first.contains(&true));
        thread::sleep(Duration::from_secs(1));
        join_or_news(late, identity, None)
    })
}

#[test]
fn a_client_that_comes_late_hears_it_from_the_parties() {
    for transport in ALL {
        let (world, late, identity) = with_another(transport);
        let begun = Instant::now();
        let (e, news) = late_hears(&world, &late, &identity);
        let told = matches!(&e, NetError::Aborted { peer: Some(PartyId::OWNER), by, why: WHY, step }
            if !by.is_client() && step == "start-up");
        assert!(told, "{transport}: {e}");
        assert!(news.is_none(), "{news:?}");
        assert!(begun.elapsed() < SOON, "{:?}", begun.elapsed());
    }
}

/// Members' numbers have a meaning only within one job.
#[test]
fn a_client_that_comes_late_with_another_job_hears_that() {
    let (world, mut late, identity) = with_another(TransportKind::TcpTls);
    late.job_digest = [9; 32];
    let (e, _) = late_hears(&world, &late, &identity);
    assert!(matches!(e, NetError::HandshakeMismatch { field: "job digest", .. }), "{e}");
}

/// A party tells all members itself, so other members do not pass its news on.
#[test]
fn what_a_party_says_is_not_told_on() {
    let world = world(TransportKind::TcpTls);
    thread::scope(|scope| {
        let world = &world;
        let join = move |me: usize| {
            join_or_news(&world.configs[me], &world.identities[me], world.listeners[me].as_ref())
        };
        let joining = [0, 2].map(|me| scope.spawn(move || join(me)));
        ok(excuse(&world.configs[1], &world.identities[1], world.listeners[1].as_ref(), WHY));
        for thread in joining {
            let (e, news) = thread.join().unwrap_or_else(|_| panic!("it panicked"));
            assert!(matches!(e, NetError::Aborted { peer: Some(PartyId(1)), .. }) && news.is_none(), "{e}");
        }
    });
}

/// The parties still pass on news of an earlier process of the client.
#[test]
fn a_client_that_is_started_again_is_not_ended_by_its_own_excuse() {
    let (mut world, ..) = with_another(TransportKind::TcpTls);
    let _held = [1, 2].map(|of| world.absent(of));
    let world = &world;
    let (heard, hears) = mpsc::channel();
    let (e, _) = thread::scope(|scope| {
        scope.spawn(move || {
            let cfg = &world.configs[0];
            let (_, news) = join_or_news(cfg, &world.identities[0], world.listeners[0].as_ref());
            ok(heard.send(()).map_err(|e| e.to_string()));
            let news = news.unwrap_or_else(|| panic!("nobody to tell"));
            ok(retell(cfg, &world.identities[0], world.listeners[0].as_ref(), &news));
        });
        let mut cfg = world.configs[3].clone();
        cfg.peers.retain(|peer| peer.id == PartyId(0));
        ok(excuse(&cfg, &world.identities[3], None, WHY));
        ok(hears.recv_timeout(SOON));
        cfg.connect_timeout = Duration::from_secs(3);
        join_or_news(&cfg, &world.identities[3], None)
    });
    assert!(matches!(e, NetError::Absent { .. } | NetError::Connect { .. }), "{e}");
}

#[test]
fn whoever_is_alone_ends_soon() {
    let mut world = world(TransportKind::TcpTls);
    let _held = [0, 2].map(|of| world.absent(of));
    let begun = Instant::now();
    ok(excuse(&world.configs[1], &world.identities[1], world.listeners[1].as_ref(), WHY));
    assert!(begun.elapsed() < SOON, "{:?}", begun.elapsed());
}
