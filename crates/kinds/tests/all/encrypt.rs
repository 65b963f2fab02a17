//! Encryption as a job, with files of all four members: keys that are kept or imported, and
//! counters that never serve twice. AES in counter mode is the oracle.

use crate::{
    common::blamed,
    stored::{Ended, configs, run_all},
};
use hushwire_aes::{Aes128, Aes256, Backend};
use hushwire_kinds::{Job, encrypt::AesCtrJob};
use hushwire_session::{Fault, InputPlace, Iv, Kind, Member, MemberConfig, OutputPlace, Task};
use hushwire_testkit::noise;
use std::{collections::BTreeMap, fs, os::unix::fs::PermissionsExt, path::PathBuf};

/// Counters that begin there pass 2^128 after 256 blocks.
const IV: &str = "ffffffffffffffffffffffffffffff00";
const KEY: [u8; 16] = [0x2b; 16];

/// The job of the owner alice, with these lines.
fn job(lines: &str) -> AesCtrJob {
    let text = format!("kind = \"aes-ctr\"\nowner = \"client:alice\"\n{lines}\n[parameters]\nbatch = 512\n");
    match Job::parse(&text, "job.toml".as_ref()) {
        Ok(Job::AesCtr(job)) => job,
        other => panic!("{other:?}"),
    }
}

fn alice() -> Member {
    Member::Client("alice".to_owned())
}

/// The files of all members.
struct World {
    dir: tempfile::TempDir,
    /// The names of the owner's input and output.
    files: [&'static str; 2],
    iv: Option<&'static str>,
    history_lost: bool,
}

impl World {
    fn new(len: usize) -> Self {
        let dir = tempfile::tempdir().expect("a directory");
        let world = Self { dir, files: ["data", "data.enc"], iv: None, history_lost: false };
        fs::write(world.at("data"), noise(7, len)).expect("a file");
        world
    }

    fn at(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn get(&self, name: &str) -> Vec<u8> {
        fs::read(self.at(name)).unwrap_or_else(|e| panic!("{name}: {e}"))
    }

    /// Writes a file that only its owner can read, as shares of keys must be.
    fn put(&self, name: &str, bytes: &[u8]) {
        fs::write(self.at(name), bytes).expect("a file");
        fs::set_permissions(self.at(name), PermissionsExt::from_mode(0o600)).expect("permissions");
    }

    fn configs(&self, job: &AesCtrJob) -> BTreeMap<Member, MemberConfig> {
        let mut all = configs(job);
        for (me, config) in &mut all {
            if let Member::Party(_) = me {
                config.keys.key_share = Some(self.at(&format!("{}.share", me.key())));
                continue;
            }
            let [from, to] = self.files.map(|name| self.at(name));
            config.inputs.insert(AesCtrJob::DATA.to_owned(), InputPlace::File(from));
            config.outputs.insert(AesCtrJob::RESULT.to_owned(), OutputPlace::File(to));
            if job.key.is_the_owners() {
                config.inputs.insert(AesCtrJob::KEY.to_owned(), InputPlace::File(self.at("key")));
            }
            config.keys.ledger = Some(self.at("ledger"));
            config.keys.iv = self.iv.map(|iv| Iv::from_hex(iv).expect("a counter"));
            config.keys.history_lost = self.history_lost;
        }
        all
    }

    fn run(&self, job: &AesCtrJob) -> Ended<AesCtrJob> {
        run_all(job, self.configs(job))
    }

    fn good(&self, job: &AesCtrJob) -> Vec<u8> {
        for (member, ended) in self.run(job) {
            if let Err(e) = ended {
                panic!("{member}: {e}");
            }
        }
        self.get(self.files[1])
    }

    /// Checks that all members end with an error, which the owner explains.
    fn refused(&self, job: &AesCtrJob, words: &[&str]) {
        for (member, ended) in self.run(job) {
            let error = ended.map(drop).expect_err("it is refused");
            if member == alice() {
                assert_eq!(error.kind(), Kind::Refused, "{error}");
                assert!(words.iter().all(|word| error.to_string().contains(word)), "{error}");
            } else {
                assert_eq!(blamed(&error).as_deref(), Some("client alice"), "{member}: {error}");
            }
        }
    }

    /// The error of a member that fails before it dials.
    fn alone(&self, job: &AesCtrJob, me: &Member) -> Fault {
        let mut config = self.configs(job).remove(me).expect("a member");
        job.open(&mut config).err().unwrap_or_else(|| panic!("{me} was taken"))
    }

    fn ledger(&self) -> serde_json::Value {
        serde_json::from_slice(&self.get("ledger/ledger.json")).unwrap_or_else(|e| panic!("{e}"))
    }

    /// The key from the three share files.
    fn key(&self, len: usize) -> Vec<u8> {
        let shares = [0, 1, 2].map(|party| self.get(&format!("party{party}.share")));
        (32..32 + len).map(|i| shares[0][i] ^ shares[1][i] ^ shares[2][i]).collect()
    }
}

#[test]
fn a_difference_in_any_field_is_named() {
    let ours = job("");
    let mut named = vec!["protocol", "owner"];
    let differs = |theirs: &AesCtrJob| ours.agreement().differences(&theirs.agreement().tags());
    assert_eq!(differs(&AesCtrJob { owner: "bob".to_owned(), ..ours.clone() }), ["owner (ours: alice)"]);
    for (lines, field, shown) in [
        ("direction = \"decrypt\"", "direction", "encrypt"),
        ("key = \"given\"", "key", "kept"),
        ("key-bits = 256", "key bits", "128"),
        ("sbox = \"gf256\"", "S-box", "tower"),
    ] {
        assert_eq!(differs(&job(lines)), [format!("{field} (ours: {shown})")], "{lines}");
        named.push(field);
    }
    let differences = differs(&AesCtrJob::new("alice"));
    assert!(
        differences.len() == 1 && differences[0].starts_with("batch, threads and lanes"),
        "{differences:?}"
    );
    // A test of the module has hardware.
    named.extend(["batch, threads and lanes", "hardware"]);
    let fields = ours.agreement().fields;
    assert!(fields.iter().all(|field| named.contains(&field.name)), "a field is not covered here");
}

fn counter(digits: &str) -> [u8; 16] {
    Iv::from_hex(digits).expect("a counter").0.to_be_bytes()
}

#[test]
fn a_drawn_key_is_kept_for_later_runs_and_no_counter_serves_twice() {
    let (mut world, job) = (World::new(70_001), job("key-bits = 256"));
    let first = world.good(&job);
    let key = world.key(32);
    for party in 0..3 {
        let share = fs::metadata(world.at(&format!("party{party}.share"))).expect("a share");
        assert_eq!(share.permissions().mode() & 0o777, 0o600);
    }
    let second = world.good(&job);
    assert_eq!(world.key(32), key, "the same key");
    let ranges = world.ledger()["ranges"].as_array().cloned().unwrap_or_default();
    assert_eq!(ranges.len(), 2);
    for (range, ours) in ranges.iter().zip([&first, &second]) {
        assert!(range["written"] == true && range["key_id"] == world.ledger()["key_id"], "{range}");
        let mut theirs = world.get("data");
        let cipher = Aes256::new(key[..].try_into().expect("32 bytes"));
        let iv = counter(range["iv"].as_str().unwrap_or_default());
        Backend::best().ctr_xor(&cipher, iv, &mut theirs);
        assert!(theirs == *ours, "another counter than that of the ledger");
    }
    assert!(first != second, "another counter");
    // An encrypted file is recognized by its content under any name. Decryption records nothing.
    fs::write(world.at("old"), &first).expect("a file");
    world.files = ["old", "plain"];
    let decrypts = job.decrypting();
    assert!(world.good(&decrypts) == world.get("data"));
    assert_eq!(world.ledger()["ranges"].as_array().map(Vec::len), Some(2));
    // A file that the ledger does not know is not decrypted, and its owner never dials.
    fs::write(world.at("old"), &first[1..]).expect("a file");
    let error = world.alone(&decrypts, &alice());
    assert!(error.kind() == Kind::File && error.to_string().contains("none of the files"), "{error}");
}

#[test]
fn counters_are_refused_a_second_time() {
    let (mut world, job) = (World::new(1000), job(""));
    world.iv = Some(IV);
    let before = (world.good(&job), world.get("ledger/ledger.json"));
    // The 63 blocks that begin at …ff00.
    for iv in [IV, "ffffffffffffffffffffffffffffff3e", "fffffffffffffffffffffffffffffec2"] {
        world.iv = Some(iv);
        let error = world.alone(&job, &alice());
        assert_eq!(error.kind(), Kind::Refused, "{error}");
        assert!(["overlap", "data.enc"].iter().all(|word| error.to_string().contains(word)), "{error}");
        assert!((world.get("data.enc"), world.get("ledger/ledger.json")) == before);
    }
    // An owner without its history draws counters, and cannot choose them.
    fs::remove_dir_all(world.at("ledger")).expect("a ledger");
    world.refused(&job, &["key set-up", "the parties keep a key", "history-lost"]);
    world.history_lost = true;
    let error = world.alone(&job, &alice());
    assert!(error.kind() == Kind::Refused && error.to_string().contains("was lost once"), "{error}");
    world.iv = None;
    world.good(&job);
    assert_eq!(world.ledger()["history_lost"], true);
}

#[test]
fn an_imported_key_is_kept_as_shares() {
    let (mut world, imports) = (World::new(40_000), job("key = \"imported\""));
    world.put("key", &KEY);
    world.iv = Some(IV);
    let first = world.good(&imports);
    assert_eq!(world.key(16), KEY);
    let mut theirs = world.get("data");
    Backend::best().ctr_xor(&Aes128::new(&KEY), counter(IV), &mut theirs);
    assert!(first == theirs, "the counters pass 2^128");
    // A party that has a key takes no other key, and the owner's ledger names the key, too.
    for (me, words) in [(Member::Party(1), "already holds a share"), (alice(), "is of key")] {
        let error = world.alone(&imports, &me);
        assert!(error.kind() == Kind::Refused && error.to_string().contains(words), "{error}");
    }
    // From now on the parties keep the key.
    world.iv = None;
    assert!(world.good(&job("key = \"kept\"")) != first);
}

#[test]
fn shares_that_do_not_belong_together_are_named_and_nothing_is_computed() {
    let (world, job) = (World::new(1000), job(""));
    let (before, name) = (world.good(&job), "party1.share");
    let kept = world.get(name);
    let forge = |at: usize| {
        let mut share = kept[..kept.len() - 32].to_vec();
        share[at] ^= 1;
        share.extend_from_slice(blake3::hash(&share).as_bytes());
        world.put(name, &share);
    };
    // A share of another key, according to its own file, and a share that only the comparison of
    // tags can find.
    forge(16);
    world.refused(&job, &["party 1's share belongs to another key"]);
    forge(32);
    for (member, ended) in world.run(&job) {
        let error = ended.map(drop).expect_err("a forged share");
        let told =
            error.kind() == Kind::Refused && error.to_string().contains("key shares of party 0 and party 1");
        assert!(told || member == alice(), "{member}: {error}");
    }
    fs::remove_file(world.at(name)).expect("a share");
    world.refused(&job, &["party 1 keeps no share"]);
    assert!(!world.at(name).exists(), "no share of a key that nobody else has");
    world.put(name, b"HWSHARE1, damaged");
    let error = world.alone(&job, &Member::Party(1));
    assert!(error.kind() == Kind::File && error.to_string().contains(name), "{error}");
    world.put(name, &kept);
    assert!(world.get("data.enc") == before, "a run that fails writes nothing");
    world.good(&job);
}
