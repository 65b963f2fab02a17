//! Encryption as a job: three parties and the owner of the file, each a process with its own files,
//! over TLS.

use crate::common::{KEY, noise};
use crate::rehearsal::{Ended, Rehearsal};
use std::{
    fs,
    os::unix::fs::PermissionsExt,
    time::{Duration, Instant},
};

const ALL: [&str; 4] = ["party0", "party1", "party2", "alice"];
const IV: &str = "ffffffffffffffffffffffffffffff00";

/// Writes the files of all members for a job of `alice`, and a file of `len` bytes to encrypt.
fn world(lines: &str, len: usize) -> Rehearsal {
    let world = Rehearsal::new(&format!(
        "kind = \"aes-ctr\"\nowner = \"client:alice\"\n{lines}\n[parameters]\nbatch = 512\n"
    ));
    world.place.put("r/data.bin", &noise(7, len));
    world
}

/// Adds a line to the table `[aes-ctr]`, which is the last of the owner's file.
fn add(world: &Rehearsal, line: &str) {
    world.edit("r/alice.toml", |text| format!("{text}{line}\n"));
}

fn remove(world: &Rehearsal, line: &str) {
    world.edit("r/alice.toml", |text| text.replace(&format!("{line}\n"), ""));
}

fn run(world: &Rehearsal) -> Vec<Ended> {
    world.end(world.start_all(&ALL))
}

fn good(world: &Rehearsal) {
    for ended in run(world) {
        ended.good();
        assert!(ended.out.is_empty() && ended.err.contains("is done"), "{}: {}", ended.name, ended.err);
    }
}

/// Checks that all members end with an error, and the exit code and error of the owner.
fn refused(world: &Rehearsal, code: i32, words: &[&str]) {
    for ended in run(world) {
        if ended.name == "alice" {
            assert_eq!(ended.code, Some(code), "{}", ended.err);
            assert!(words.iter().all(|word| ended.error().contains(word)), "{}", ended.err);
        } else {
            ended.blames("alice");
        }
    }
}

fn result(world: &Rehearsal) -> Vec<u8> {
    world.place.get("r/data.bin.enc")
}

fn ledger(world: &Rehearsal) -> serde_json::Value {
    serde_json::from_slice(&world.place.get("r/alice.ledger/ledger.json")).unwrap_or_else(|e| panic!("{e}"))
}

/// Returns the key from the three share files. Only the test knows it.
fn key_of(world: &Rehearsal, len: usize) -> String {
    let shares = [0, 1, 2].map(|party| world.place.get(&format!("r/party{party}.share")));
    hex::encode((32..32 + len).map(|i| shares[0][i] ^ shares[1][i] ^ shares[2][i]).collect::<Vec<_>>())
}

#[test]
fn a_given_key_gives_what_openssl_writes() {
    // The counters pass 2^128, chunks run on two threads, and the last block is incomplete.
    for (key, len) in [(KEY.to_owned(), 300_001), (KEY.repeat(2), 5000), (format!("{KEY}{}", &KEY[..16]), 1)]
    {
        let world = world(&format!("key = \"given\"\nkey-bits = {}", 4 * key.len()), len);
        world.place.put("r/key.bin", key.as_bytes());
        add(&world, &format!("iv = \"{IV}\""));
        good(&world);
        if let Some(theirs) = world.place.openssl("r/data.bin", &key, IV) {
            assert!(result(&world) == theirs, "{} bits, {len} bytes", 4 * key.len());
        }
        assert!(!world.place.at("r/party0.share").exists(), "a given key is not kept");
        let mode =
            fs::metadata(world.place.at("r/data.bin.enc")).unwrap_or_else(|e| panic!("{e}")).permissions();
        assert_eq!(mode.mode() & 0o777, 0o600);
    }
}

#[test]
fn a_drawn_key_is_kept_for_later_runs_and_no_counter_serves_twice() {
    let world = world("key-bits = 256", 70_001);
    good(&world);
    let (first, key) = (result(&world), key_of(&world, 32));
    for party in 0..3 {
        let share =
            fs::metadata(world.place.at(&format!("r/party{party}.share"))).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(share.permissions().mode() & 0o777, 0o600);
    }
    good(&world);
    assert_eq!(key_of(&world, 32), key, "the same key");
    let second = result(&world);
    assert!(first != second, "another counter");
    let ranges = ledger(&world)["ranges"].as_array().cloned().unwrap_or_default();
    assert_eq!(ranges.len(), 2);
    for (range, ours) in ranges.iter().zip([&first, &second]) {
        assert!(range["written"] == true && range["key_id"] == ledger(&world)["key_id"], "{range}");
        if let Some(theirs) =
            world.place.openssl("r/data.bin", &key, range["iv"].as_str().unwrap_or_default())
        {
            assert!(theirs == *ours);
        }
    }
    // An encrypted file is recognized by its content under any name. Decryption records nothing.
    world.place.put("r/old.bin", &first);
    world.edit("r/alice.toml", |text| {
        text.replace("data.bin.enc", "plain.bin").replace("data.bin", "old.bin")
    });
    // A member that allowed the encryption did not allow the decryption.
    let digest = |world: &Rehearsal| world.place.ran("job digest job.toml").out.trim().to_owned();
    let encrypts = digest(&world);
    world.edit("job.toml", |text| text.replace("[parameters]", "direction = \"decrypt\"\n[parameters]"));
    let allow = |digest: &str| world.set("party1", &format!("allow = \"{digest}\""));
    allow(&encrypts);
    for ended in run(&world) {
        match ended.name {
            "party1" => {
                assert!(ended.code == Some(5) && ended.error().contains(&digest(&world)), "{}", ended.err);
            }
            _ => ended.blames("party1"),
        }
    }
    world.edit("r/party1.toml", |text| text.replace(&encrypts, &digest(&world)));
    good(&world);
    assert!(world.place.get("r/plain.bin") == world.place.get("r/data.bin"));
    assert_eq!(ledger(&world)["ranges"].as_array().map(Vec::len), Some(2));
    // A file of older releases, in which only the owner sets the direction.
    add(&world, "decrypt = true");
    let alone = world.end(world.start_all(&["alice"]));
    assert!(alone[0].code == Some(4) || alone[0].code == Some(2), "{}", alone[0].err);
    assert!(alone[0].error().contains("direction = \"decrypt\""), "{}", alone[0].err);
    remove(&world, "decrypt = true");
    // A file that the ledger does not know is not decrypted, and its owner never dials.
    world.place.put("r/old.bin", &first[1..]);
    let alone = world.end(world.start_all(&["alice"]));
    assert_eq!(alone[0].code, Some(4), "{}", alone[0].err);
    assert!(alone[0].error().contains("none of the files"), "{}", alone[0].err);
}

#[test]
fn counters_are_refused_a_second_time() {
    let world = world("", 1000);
    add(&world, &format!("iv = \"{IV}\""));
    good(&world);
    let before = (result(&world), world.place.get("r/alice.ledger/ledger.json"));
    // The 63 blocks that begin at …ff00.
    for iv in [IV, "ffffffffffffffffffffffffffffff3e", "fffffffffffffffffffffffffffffec2"] {
        world.edit("r/alice.toml", |text| {
            let lines = text.lines().filter(|line| !line.starts_with("iv")).map(|line| format!("{line}\n"));
            format!("{}iv = \"{iv}\" # again\n", lines.collect::<String>())
        });
        let alone = world.end(world.start_all(&["alice"]));
        assert_eq!(alone[0].code, Some(5), "{}", alone[0].err);
        let error = alone[0].error();
        assert!(error.contains("overlap") && error.contains("data.bin.enc"), "{error}");
        assert!((result(&world), world.place.get("r/alice.ledger/ledger.json")) == before);
    }
    // An owner without its history draws counters, and cannot choose them.
    fs::remove_dir_all(world.place.at("r/alice.ledger")).unwrap_or_else(|e| panic!("{e}"));
    world.edit("r/alice.toml", |text| text.replace("# again", ""));
    refused(&world, 5, &["key set-up", "the parties keep a key", "history-lost"]);
    add(&world, "history-lost = true");
    let alone = world.end(world.start_all(&["alice"]));
    assert!(alone[0].code == Some(5) && alone[0].error().contains("was lost once"), "{}", alone[0].err);
    let iv = "iv = \"fffffffffffffffffffffffffffffec2\" ";
    remove(&world, iv);
    good(&world);
    assert_eq!(ledger(&world)["history_lost"], true);
}

#[test]
fn an_imported_key_is_kept_as_shares() {
    let world = world("key = \"imported\"", 40_000);
    world.place.put("r/key.bin", &hex::decode(KEY).unwrap_or_default());
    add(&world, &format!("iv = \"{IV}\""));
    good(&world);
    assert_eq!(key_of(&world, 16), KEY);
    let first = result(&world);
    // A party that has a key takes no other key, and the owner's ledger names the key, too.
    let alone = world.end(world.start_all(&["party1"]));
    assert_eq!(alone[0].code, Some(5), "{}", alone[0].err);
    assert!(alone[0].error().contains("already holds a share"), "{}", alone[0].err);
    let alone = world.end(world.start_all(&["alice"]));
    assert!(alone[0].code == Some(5) && alone[0].error().contains("is of key"), "{}", alone[0].err);
    // From now on the parties keep the key.
    world.edit("job.toml", |text| text.replace("\"imported\"", "\"kept\""));
    world.edit("r/alice.toml", |text| {
        let key = text.lines().filter(|line| !line.starts_with("key = {") && !line.starts_with("iv"));
        key.map(|line| format!("{line}\n")).collect()
    });
    good(&world);
    assert!(result(&world) != first);
}

#[test]
fn shares_that_do_not_belong_together_are_named_and_nothing_is_computed() {
    let world = world("", 1000);
    good(&world);
    let (before, name) = (result(&world), "r/party1.share");
    let kept = world.place.get(name);
    let forge = |change: &dyn Fn(&mut Vec<u8>)| {
        let mut share = kept[..kept.len() - 32].to_vec();
        change(&mut share);
        share.extend_from_slice(blake3::hash(&share).as_bytes());
        world.place.put(name, &share);
    };
    // A share of another key, according to its own file, and a share that only the comparison of
    // tags can find.
    forge(&|share| share[16] ^= 1);
    refused(&world, 5, &["party 1's share belongs to another key"]);
    forge(&|share| share[32] ^= 1);
    for ended in run(&world).iter().filter(|ended| ended.name != "alice") {
        assert_eq!(ended.code, Some(5), "{}: {}", ended.name, ended.err);
        assert!(ended.error().contains("key shares of party 0 and party 1"), "{}", ended.err);
    }
    fs::remove_file(world.place.at(name)).unwrap_or_else(|e| panic!("{e}"));
    refused(&world, 5, &["party 1 keeps no share"]);
    assert!(!world.place.at(name).exists(), "no share of a key that nobody else has");
    world.place.put(name, b"HWSHARE1, damaged");
    let alone = world.end(world.start_all(&["party1"]));
    assert!(alone[0].code == Some(4) && alone[0].error().contains("party1.share"), "{}", alone[0].err);
    world.place.put(name, &kept);
    assert!(result(&world) == before, "a run that fails writes nothing");
    good(&world);
}

#[test]
fn whoever_has_another_job_is_told_what_differs() {
    let world = world("", 100);
    for name in ALL {
        world.set(name, "connect-timeout = \"8s\"");
    }
    world.place.put(
        "other.toml",
        b"kind = \"aes-ctr\"\nowner = \"client:alice\"\nsbox = \"gf256\"\n[parameters]\nbatch = 512\n",
    );
    let mut running = world.start_all(&["party0", "party1", "party2"]);
    running.push(world.spawn("alice", world.place.hushwire("client other.toml --config r/alice.toml")));
    let ended = world.end(running);
    let told = ended.iter().filter(|e| e.error().contains("differs in S-box (ours: ")).count();
    assert!(told >= 2 && ended.iter().all(|e| e.code == Some(3)), "{ended:?}");
}

#[test]
fn whoever_is_absent_is_named() {
    for absent in ALL {
        let world = world("", 100);
        for name in ALL {
            world.set(name, "connect-timeout = \"8s\"");
        }
        let others: Vec<_> = ALL.into_iter().filter(|name| *name != absent).collect();
        for ended in world.end(world.start_all(&others)) {
            ended.blames(absent);
        }
        let mut left = world.left();
        left.retain(|name| name != "alice.ledger");
        assert!(left.is_empty(), "{left:?}");
    }
}

#[test]
fn whoever_is_killed_is_named() {
    for victim in ALL {
        let world = world("", 0);
        // A file that is long enough, but takes no space on disk.
        let sparse = fs::File::create(world.place.at("r/data.bin")).and_then(|file| file.set_len(1 << 30));
        sparse.unwrap_or_else(|e| panic!("{e}"));
        let start = |name: &'static str| {
            world.spawn(name, world.place.hushwire(&format!("{} -vv", Rehearsal::line(name))))
        };
        let mut running: Vec<_> = ALL.into_iter().map(start).collect();
        world.until_said(&ALL, "computing done=");
        let at = ALL.iter().position(|name| *name == victim).unwrap_or(0);
        let killed = running.remove(at);
        let begun = Instant::now();
        assert!(killed.kill().is_none(), "it was done too soon");
        for ended in world.end_within(running, begun, Duration::from_mins(1)) {
            ended.blames(victim);
        }
        let mut left = world.left();
        // The shares of the key stay. They are useful and not a result.
        left.retain(|name| name != "alice.ledger" && !name.ends_with(".share"));
        assert!(left.is_empty(), "{left:?}");
    }
}

#[test]
fn doctor_looks_at_its_members() {
    let world = world("", 1);
    let start = |name: &'static str| {
        world.spawn(name, world.place.hushwire(&format!("doctor --config r/{name}.toml --seconds 20")))
    };
    for ended in world.end(ALL.into_iter().map(start).collect()) {
        ended.good();
    }
}
