//! Many sessions join on the same ports at the same time, and each has links of its own.

use std::{thread, time::Duration};

use crate::common::{World, err, ok};
use hushwire_machine::NetError;
use hushwire_wire::{SessionConfig, TransportKind, connect};

const JOBS: u8 = 4;

/// Parties whose ports serve many sessions.
fn world(parties: u8, owner: bool, transport: TransportKind) -> World {
    let mut world = World::new(parties, owner, transport, 2, "127.0.0.1");
    for listener in &mut world.listeners {
        *listener = listener.take().map(hushwire_wire::Listener::shared);
    }
    world
}

/// Member `me`'s configuration of job `job`.
fn config(world: &World, me: usize, job: u8) -> SessionConfig {
    let mut cfg = world.configs[me].clone();
    // Half of the jobs differ only in their names.
    cfg.session.0[0] = job / 2;
    cfg.job_digest[0] = job % 2;
    cfg
}

#[test]
fn jobs_at_once_on_one_port_each_meet_their_own() {
    for transport in [TransportKind::TcpTls, TransportKind::Unix, TransportKind::Shm] {
        let world = world(3, true, transport);
        let ids: Vec<_> = world.configs.iter().map(|cfg| cfg.me).collect();
        let run = |me: usize, job: u8| {
            // Some members come long before the others of their session.
            thread::sleep(Duration::from_millis(70 * (u64::from(job) * 7 + 5 * me as u64) % 400));
            let cfg = config(&world, me, job);
            let mut net = ok(connect(&cfg, &world.identities[me], world.listeners[me].as_ref()));
            let id = net.session();
            for &peer in
                ids.iter().filter(|peer| **peer != cfg.me && !(peer.is_client() && cfg.me.is_client()))
            {
                let mut channel = ok(net.channel(0, Some(peer), Some(peer)));
                let (said, mut heard) = ([job, cfg.me.0], [0; 2]);
                ok(channel.exchange("who", &said, &mut heard));
                assert_eq!(heard, [job, peer.0], "{transport}");
            }
            id
        };
        let sessions: Vec<Vec<_>> = thread::scope(|scope| {
            let jobs: Vec<Vec<_>> = (0..JOBS)
                .map(|job| (0..ids.len()).map(|me| scope.spawn(move || run(me, job))).collect())
                .collect();
            let ended = jobs.into_iter().map(|job| {
                job.into_iter().map(|member| member.join().unwrap_or_else(|e| panic!("{e:?}"))).collect()
            });
            ended.collect()
        });
        for (job, ids) in sessions.iter().enumerate() {
            assert!(ids.iter().all(|id| id.is_some() && *id == ids[0]), "{transport}, job {job}");
            assert!(sessions[..job].iter().all(|other| other[0] != ids[0]), "{transport}, job {job}");
        }
    }
}

#[test]
fn one_port_has_one_session_of_a_name_and_one_key() {
    let world = world(2, false, TransportKind::TcpTls);
    let join_within = |me: usize, job, identity: usize, seconds| {
        let mut cfg = config(&world, me, job);
        cfg.connect_timeout = Duration::from_secs(seconds);
        connect(&cfg, &world.identities[identity], world.listeners[me].as_ref())
    };
    let join = |me, job, identity| join_within(me, job, identity, 30);
    thread::scope(|scope| {
        let first = scope.spawn(|| join(0, 0, 0));
        thread::sleep(Duration::from_secs(2));
        for (error, word) in [(err(join(0, 0, 0)), "job and label"), (err(join(0, 1, 1)), "another key")] {
            assert!(matches!(&error, NetError::Config { what, .. } if what.contains(word)), "{error}");
        }
        let second = scope.spawn(|| join(1, 0, 1));
        ok(first.join().unwrap_or_else(|e| panic!("{e:?}")));
        ok(second.join().unwrap_or_else(|e| panic!("{e:?}")));
    });
    // A hello for an unknown session does not end a session that waits for another member.
    thread::scope(|scope| {
        let odd = scope.spawn(|| join_within(1, 3, 1, 3));
        let waits = scope.spawn(|| join_within(0, 0, 0, 3));
        for ended in [odd, waits] {
            let error = err(ended.join().unwrap_or_else(|e| panic!("{e:?}")));
            assert!(matches!(&error, NetError::Absent { .. } | NetError::Connect { .. }), "{error}");
        }
    });
}
