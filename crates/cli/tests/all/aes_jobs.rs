//! Encryption as a job: three parties and the owner of the file, each a process with its own files,
//! over TLS.

use crate::common::{KEY, noise};
use crate::rehearsal::{Ended, Rehearsal};

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

fn run(world: &Rehearsal) -> Vec<Ended> {
    world.end(world.start_all(&ALL))
}

fn good(world: &Rehearsal) {
    for ended in run(world) {
        ended.good();
        assert!(ended.out.is_empty() && ended.err.contains("is done"), "{}: {}", ended.name, ended.err);
    }
}

fn result(world: &Rehearsal) -> Vec<u8> {
    world.place.get("r/data.bin.enc")
}

#[test]
fn a_given_key_gives_what_openssl_writes() {
    // The counters pass 2^128, chunks run on two threads, and the last block is incomplete.
    let key = KEY.repeat(2);
    let world = world("key = \"given\"\nkey-bits = 256", 300_001);
    world.place.put("r/key.bin", key.as_bytes());
    add(&world, &format!("iv = \"{IV}\""));
    good(&world);
    if let Some(theirs) = world.place.openssl("r/data.bin", &key, IV) {
        assert!(result(&world) == theirs);
    }
    assert!(!world.place.at("r/party0.share").exists(), "a given key is not kept");
    assert_eq!(world.place.mode("r/data.bin.enc"), 0o600);
}

/// A member that allowed the encryption did not allow the decryption, which has the same files.
#[test]
fn a_file_is_encrypted_and_decrypted_by_two_jobs() {
    let world = world("key-bits = 256", 70_001);
    good(&world);
    for party in 0..3 {
        assert_eq!(world.place.mode(&format!("r/party{party}.share")), 0o600);
    }
    world.place.put("r/old.bin", &result(&world));
    world.edit("r/alice.toml", |text| {
        text.replace("data.bin.enc", "plain.bin").replace("data.bin", "old.bin")
    });
    let digest = |world: &Rehearsal| world.place.ran("job digest job.toml").out.trim().to_owned();
    let encrypts = digest(&world);
    world.edit("job.toml", |text| text.replace("[parameters]", "direction = \"decrypt\"\n[parameters]"));
    world.set("party1", &format!("allow = \"{encrypts}\""));
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
    // A file of older releases, in which only the owner sets the direction.
    add(&world, "decrypt = true");
    world.set("alice", "connect-timeout = \"200ms\"");
    let alone = world.end(world.start_all(&["alice"]));
    assert!(alone[0].code == Some(4) || alone[0].code == Some(2), "{}", alone[0].err);
    assert!(alone[0].error().contains("direction = \"decrypt\""), "{}", alone[0].err);
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
