//! Shards as threads and over TCP: exchanged data arrives, and other keys and other jobs are
//! refused. A shard that ends early ends the others.

use super::*;
use crate::{AgreedField, Protocol};
use hushwire_machine::SessionId;
use std::{net::TcpListener, path::Path, time::Instant};

fn plan(text: &str) -> Agreement {
    Agreement {
        kind: "query",
        title: "a test".into(),
        protocol: Protocol::Rep3,
        clients: vec![],
        fields: vec![AgreedField::new("sql", text)],
        lanes: 1,
        client_lanes: 1,
    }
}

/// Addresses that are free at the moment.
fn addresses(shards: usize) -> Vec<String> {
    let held: Vec<_> = (0..shards).map(|_| TcpListener::bind("127.0.0.1:0").expect("a port")).collect();
    held.iter().map(|port| port.local_addr().expect("an address").to_string()).collect()
}

/// Runs `work` at each shard, with the shard's key and job.
fn over_tcp<T: Send>(
    shards: usize,
    of: impl Fn(usize) -> (Identity, Agreement),
    work: impl Fn(Result<Shards, Fault>) -> T + Sync,
) -> Vec<T> {
    let (addresses, stop) = (addresses(shards), AtomicBool::new(false));
    let parties: Vec<_> = (0..shards).map(of).collect();
    thread::scope(|scope| {
        let running = parties.iter().enumerate().map(|(shard, (identity, plan))| {
            let (work, stop, addresses) = (&work, &stop, addresses.clone());
            scope.spawn(move || {
                let place =
                    ShardPlace::process(shard, &addresses[shard], addresses.clone(), TransportKind::TcpTls);
                let waits = [Duration::from_secs(3), Duration::from_secs(10)];
                let limits = limits(&Member::Party(0), identity, SessionId([7; 16]), waits, stop);
                work(place.and_then(|place| place.meet(plan, limits)))
            })
        });
        let running: Vec<_> = running.collect();
        running.into_iter().map(|thread| thread.join().expect("no panic")).collect()
    })
}

fn key() -> Identity {
    Identity::generate("party0").expect("a key")
}

fn again(key: &Identity) -> Identity {
    Identity::from_pem(&key.to_pem()).expect("the same key")
}

fn moves(shards: &Shards) {
    let (me, of) = (shards.shard(), shards.shards());
    for turn in 0..4usize {
        // Parts have very different lengths; some exceed the buffers of sockets.
        let length = |from: usize, to: usize| [0, 1, 1000, 1 << 20][(from + 2 * to + turn) % 4];
        let to = (0..of).map(|to| vec![(me * 16 + to) as u8; length(me, to)]).collect();
        let from = shards.mover().exchange(to).unwrap_or_else(|e| panic!("{e}"));
        for (other, part) in from.into_iter().enumerate() {
            assert_eq!(part, vec![(other * 16 + me) as u8; length(other, me)], "turn {turn}");
        }
    }
    let parts = (me == 0).then(|| (0..of).map(|to| vec![to as u8; to]).collect());
    assert_eq!(shards.scatter(parts).unwrap_or_else(|e| panic!("{e}")), vec![me as u8; me]);
    let all = shards.gather(vec![me as u8]).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(all, (me == 0).then(|| (0..of).map(|from| vec![from as u8]).collect()));
    shards.meet().unwrap_or_else(|e| panic!("{e}"));
}

#[test]
fn shards_move_bytes_over_tls_with_one_key() {
    for of in [1, 2, 4] {
        let key = key();
        over_tcp(
            of,
            |_| (again(&key), plan("SELECT 1")),
            |shards| {
                moves(&shards.unwrap_or_else(|e| panic!("{e}")));
            },
        );
    }
}

#[test]
fn shards_that_are_threads_move_bytes() {
    let places = ShardPlace::threads(3).expect("places");
    let (key, stop) = (key(), AtomicBool::new(false));
    thread::scope(|scope| {
        for place in places {
            let waits = [Duration::from_secs(3); 2];
            let limits = limits(&Member::Party(0), &key, SessionId([7; 16]), waits, &stop);
            scope.spawn(move || moves(&place.meet(&plan("SELECT 1"), limits).expect("the others")));
        }
    });
}

/// A process without the party's key is no shard of the party, whatever number it claims.
#[test]
fn another_key_is_no_shard() {
    let errors = over_tcp(2, |_| (key(), plan("SELECT 1")), Result::err);
    for error in errors {
        let error = error.expect("keys differ");
        assert!(error.to_string().contains("shard"), "{error}");
        assert!(!error.to_string().contains("party 1"), "no party is to blame: {error}");
    }
}

#[test]
fn shards_of_another_job_are_refused() {
    let key = key();
    let errors = over_tcp(2, |shard| (again(&key), plan(&format!("SELECT {shard}"))), Result::err);
    for error in errors {
        let error = error.expect("jobs differ");
        assert_eq!(error.code(), code::ANOTHER_PLAN, "{error}");
        assert!(error.to_string().contains("another shard of this party"), "{error}");
    }
}

#[test]
fn a_shard_that_ends_ends_the_others_soon() {
    let (key, begun) = (key(), Instant::now());
    let errors = over_tcp(
        3,
        |_| (again(&key), plan("SELECT 1")),
        |shards| {
            // The last shard may have ended before all others have met.
            let shards = match shards {
                Ok(shards) => shards,
                Err(fault) => return Some(fault),
            };
            if shards.shard() == 2 {
                shards.end();
                return None;
            }
            Some(shards.meet().expect_err("a shard is gone"))
        },
    );
    for error in errors.into_iter().flatten() {
        assert_eq!(error.code(), code::SHARD, "{error}");
        assert!(error.to_string().contains("shard 2"), "{error}");
    }
    assert!(begun.elapsed() < Duration::from_secs(30));
}

/// A shard whose session lost another member ends the member's other shards, and still blames the
/// other member. A shard that had lost another one blames that one.
#[test]
fn a_shard_that_ends_does_not_blame_itself() {
    let key = key();
    let dead =
        || Fault::from(NetError::Dead { peer: Some(PartyId(2)), step: "a product".into(), silent_for: None });
    let blamed = over_tcp(
        2,
        |_| (again(&key), plan("SELECT 1")),
        |shards| {
            let shards = shards.expect("they meet");
            if shards.shard() == 0 {
                // It ends after the other one.
                shards.meet().expect_err("a shard is gone");
            }
            shards.end();
            shards.explains(dead())
        },
    );
    assert_eq!(blamed.iter().map(Fault::code).collect::<Vec<_>>(), [code::SHARD, dead().code()]);
    assert!(blamed[0].to_string().contains("shard 1"), "{}", blamed[0]);
}

#[test]
fn hosts_are_a_list_or_a_pattern() {
    let read = |text: &str| Hosts::parse(text, Path::new("hosts.toml")).map_err(|e| e.to_string());
    let list = read(
        "[[shards]]\nlisten = \"0.0.0.0:7000\"\naddress = \"10.0.0.1:7100\"\n\
         [[shards]]\nlisten = \"0.0.0.0:7000\"\naddress = \"10.0.0.2:7100\"\nbind = \"0.0.0.0:7100\"\n",
    );
    let list = list.expect("a list");
    assert_eq!(list.shards.len(), 2);
    assert_eq!([&list.shards[0].bind, &list.shards[1].bind], ["10.0.0.1:7100", "0.0.0.0:7100"]);
    let pattern = read("count = 3\nlisten = \"0.0.0.0:7000\"\naddress = \"p0-{shard}.p0:7100\"\n");
    let addresses: Vec<_> = pattern.expect("a pattern").shards.into_iter().map(|host| host.address).collect();
    assert_eq!(addresses, ["p0-0.p0:7100", "p0-1.p0:7100", "p0-2.p0:7100"]);
    for (text, word) in [
        ("", "[[shards]]"),
        ("count = 0\nlisten = \"h:1\"\naddress = \"h:2\"\n", "count"),
        ("count = 2\nlisten = \"h:1\"\naddress = \"h:2\"\n", "same address"),
        ("count = 2\nlisten = \"h\"\naddress = \"h-{shard}:2\"\n", "host:port"),
        ("[[shards]]\nlisten = \"h:1\"\n", "address"),
        ("[[shards]]\nlisten = \"h:1\"\naddress = \"h:2\"\nport = 3\n", "port"),
    ] {
        let error = read(text).expect_err("it makes no sense");
        assert!(error.contains(word), "{text}: {error}");
    }
}

#[test]
fn a_member_file_has_addresses_of_shards() {
    let dir = tempfile::tempdir().expect("a directory");
    let pin = key().pin();
    let file = |one: &str, two: &str| {
        let text = format!(
            "index = 0\nlisten = \"0.0.0.0:7000\"\nkey = \"k.pem\"\n[[peers]]\nindex = 1\npin = \"{pin}\"\n{one}\n\
             [[peers]]\nindex = 2\npin = \"{}\"\n{two}\n",
            key().pin()
        );
        crate::PartyFile::parse(&text, &dir.path().join("party0.toml")).map_err(|e| e.to_string())
    };
    let read = file("shards = [\"a:1\", \"b:1\"]", "shards = \"p2-{shard}:1\"").expect("both forms");
    assert_eq!(read.member.peers[0].address.as_deref(), Some("a:1"));
    assert_eq!(read.member.peers[1].address.as_deref(), Some("p2-0:1"));
    let second = read.member.of_shard(1, 2).expect("it is there");
    let addresses: Vec<_> = second.peers.iter().map(|peer| peer.address.as_deref()).collect();
    assert_eq!(addresses, [Some("b:1"), Some("p2-1:1")]);
    let error = read.member.of_shard(1, 3).err().map(|e| e.to_string()).unwrap_or_default();
    assert!(error.contains("2 shards of party 1") && error.contains("runs on 3"), "{error}");
    let plain = file("address = \"a:1\"", "address = \"c:1\"").expect("a file of before");
    assert!(plain.member.of_shard(0, 2).is_err());
    assert!(file("shards = []", "address = \"c:1\"").is_err());
    assert!(file("", "address = \"c:1\"").is_err());
}
