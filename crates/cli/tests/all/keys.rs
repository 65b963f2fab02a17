//! Keys that are kept as shares, and the counters that were used under them.

use crate::common::{KEY, Place, noise};
use std::{fs, process::Stdio, thread};

const IV: &str = "00000000000000000000000000000100";
const FILES: [&str; 5] = ["ledger.json", "lock", "party-0.share", "party-1.share", "party-2.share"];

fn place(len: usize) -> Place {
    let place = Place::new();
    place.put("a", &noise(1, len));
    place
}

fn ledger(place: &Place, dir: &str) -> serde_json::Value {
    serde_json::from_slice(&place.get(&format!("{dir}/ledger.json"))).unwrap_or_else(|e| panic!("{e}"))
}

fn ranges(place: &Place, dir: &str) -> usize {
    ledger(place, dir)["ranges"].as_array().map_or(0, Vec::len)
}

#[test]
fn a_drawn_key_is_kept_and_taken_up_again() {
    let place = place(40_001);
    let ran = place.good("--in a");
    let first = place.get("a.enc");
    assert_eq!(first.len(), 40_001);
    assert!(first != place.get("a"));
    let iv = ledger(&place, "a.enc.keys")["ranges"][0]["iv"].as_str().unwrap_or_default().to_owned();
    assert!(ran.err.contains(&format!("iv: {iv}")), "{}", ran.err);
    assert_eq!(place.mode("a.enc.keys"), 0o700);
    for name in FILES {
        assert_eq!(place.mode(&format!("a.enc.keys/{name}")), 0o600, "{name}");
    }
    let share = place.get("a.enc.keys/party-1.share");

    place.good("--decrypt --in a.enc");
    assert!(place.get("a.dec") == place.get("a"));
    assert_eq!(ranges(&place, "a.enc.keys"), 1, "decrypting records nothing");

    place.good("--in a");
    assert!(place.get("a.enc") != first, "another counter");
    assert_eq!(place.get("a.enc.keys/party-1.share"), share, "the same key");
    assert_eq!(ranges(&place, "a.enc.keys"), 2);
    place.good("--decrypt --in a.enc --out again");
    assert!(place.get("again") == place.get("a"));

    place.put("b", &noise(2, 77));
    place.good("--in b --key-shares a.enc.keys");
    assert!(!place.at("b.enc.keys").exists());
    place.good("--decrypt --in b.enc --key-shares a.enc.keys");
    assert!(place.get("b.dec") == place.get("b"));
    // The two files of one key are recognized by their content; a part of one is not.
    fs::copy(place.at("b.enc"), place.at("c")).unwrap_or_else(|e| panic!("{e}"));
    place.good("--decrypt --in c --key-shares a.enc.keys");
    assert!(place.get("c.dec") == place.get("b"));
    place.put("d", &place.get("b.enc")[16..]);
    place.bad("--decrypt --in d --key-shares a.enc.keys", 4, &["--iv-hex", "a.enc", "b.enc"]);
}

#[test]
fn a_longer_key_is_drawn_kept_and_imported() {
    let place = place(5000);
    place.good("--in a --key-bits 256 --key-shares k");
    assert_eq!(place.get("k/party-2.share").len(), 64 + 2 * 256 / 8);
    // The kept key determines the length.
    place.good("--decrypt --in a.enc --key-shares k");
    assert!(place.get("a.dec") == place.get("a"));
    place.bad("--in a --key-bits 128 --key-shares k", 2, &["--key-bits", "256"]);
    let digits = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff";
    place.good(&format!("--in a --key-hex {digits} --key-shares given --force"));
    place.good("--decrypt --in a.enc --key-shares given");
    assert!(place.get("a.dec") == place.get("a"));
}

/// A share with a valid hash does not match the other two: it is from another day's backup, or the
/// giver of the key has altered it.
#[test]
fn key_shares_that_do_not_fit_together_are_named_before_anything_is_computed() {
    let place = place(1000);
    place.good("--in a --key-shares k");
    let names = [0, 1, 2].map(|party| format!("k/party-{party}.share"));
    for (party, byte, pair) in
        [(0, 32, "party 0 and party 2"), (0, 63, "party 0 and party 1"), (1, 48, "party 1 and party 2")]
    {
        let good = place.get(&names[party]);
        let mut bad = good.clone();
        bad[byte] ^= 1;
        let content = bad.len() - 32;
        let sum = blake3::hash(&bad[..content]);
        bad[content..].copy_from_slice(sum.as_bytes());
        place.put(&names[party], &bad);
        place.bad("--in a --out b --key-shares k", 5, &[pair, "share", "backup"]);
        assert!(!place.at("b").exists());
        place.put(&names[party], &good);
    }
    place.good("--in a --out b --key-shares k");
}

#[test]
fn used_counters_are_refused() {
    let place = place(1000);
    place.good(&format!("--in a --iv-hex {IV} --key-shares k"));
    let before = place.get("k/ledger.json");
    // 63 blocks: 0x100 to 0x13e.
    for iv in ["013e", "00c2"] {
        let args = format!("--in a --out b --key-shares k --iv-hex {iv:0>32}");
        place.bad(&args, 5, &["overlap", "a.enc", "--iv-hex", "--key-shares"]);
    }
    assert!(!place.at("b").exists());
    assert_eq!(place.get("k/ledger.json"), before);
    for iv in ["013f", "00c1"] {
        place.good(&format!("--in a --out b --key-shares k --iv-hex {iv:0>32}"));
    }
    place.good(&format!("--in a.enc --decrypt --key-shares k --iv-hex {IV}"));
    assert!(place.get("a.dec") == place.get("a"));
    assert_eq!(ranges(&place, "k"), 3);
}

#[test]
fn two_runs_at_once_share_one_key_and_no_counter() {
    let place = place(5000);
    let start =
        |out| place.command(&format!("--in a --out {out} --key-shares k")).stderr(Stdio::null()).spawn();
    let runs = ["x", "y", "z"].map(start);
    for run in runs {
        let status = run.and_then(|mut run| run.wait()).unwrap_or_else(|e| panic!("{e}"));
        assert!(status.success());
    }
    assert_eq!(ranges(&place, "k"), 3);
    for name in ["x", "y", "z"] {
        place.good(&format!("--decrypt --in {name} --out {name}.dec --key-shares k"));
        assert!(place.get(&format!("{name}.dec")) == place.get("a"), "{name}");
    }
    // Two runs that want the same counter at the same time: only one gets it.
    let codes: Vec<_> = thread::scope(|scope| {
        let run = |out| place.run(&format!("--in a --out {out} --key-shares k --iv-hex {IV}")).code;
        let runs = ["v", "w"].map(|out| scope.spawn(move || run(out)));
        runs.into_iter().map(|run| run.join().unwrap_or_default()).collect()
    });
    assert!(codes.contains(&Some(0)) && codes.contains(&Some(5)), "{codes:?}");
}

#[test]
fn a_given_key_is_imported() {
    let place = place(12_345);
    place.put("key", &hex::decode(KEY).unwrap_or_default());
    place.good(&format!("--in a --key-file key --key-shares k --iv-hex {IV}"));
    if let Some(theirs) = place.openssl("a", KEY, IV) {
        assert!(place.get("a.enc") == theirs);
    }
    let raw = place.get("key");
    for name in FILES {
        let kept = place.get(&format!("k/{name}"));
        assert!(!kept.windows(16).any(|w| w == raw), "{name} holds the key");
    }
    // The key is taken from the shares only, and expanded within the computation.
    place.good("--decrypt --in a.enc --key-shares k");
    assert!(place.get("a.dec") == place.get("a"));
    place.bad("--in a --key-file key --key-shares k", 5, &["already holds a key", "leave out"]);
}

#[test]
fn a_given_key_without_a_counter_leaves_only_the_counter() {
    let place = place(99);
    place.put("key", KEY.as_bytes());
    place.good("--in a --key-file key");
    let iv = ledger(&place, "a.enc.keys")["ranges"][0]["iv"].as_str().unwrap_or_default().to_owned();
    if let Some(theirs) = place.openssl("a", KEY, &iv) {
        assert!(place.get("a.enc") == theirs);
    }
    assert!(!place.at("a.enc.keys/party-0.share").exists());
    place.good("--decrypt --in a.enc --key-file key");
    assert!(place.get("a.dec") == place.get("a"));
    place.bad("--decrypt --in a.enc", 4, &["holds no key", "--key-file"]);
}

#[test]
fn wrong_share_files_are_named() {
    let place = place(50);
    place.good("--in a --key-shares k");
    place.good("--in a --out other --key-shares l");
    let good = place.get("k/party-1.share");
    let run = "--in a --out no --key-shares k";
    let mut damaged = good.clone();
    damaged[40] ^= 1;
    for (file, bytes, cause) in [
        ("k/party-1.share", place.get("k/party-2.share"), "share of party 2"),
        ("k/party-1.share", place.get("l/party-1.share"), "another key"),
        ("k/party-1.share", good[..50].to_vec(), "cut short"),
        ("k/party-1.share", vec![], "not a share"),
        ("k/party-1.share", damaged, "checksum"),
    ] {
        place.put(file, &bytes);
        place.bad(run, 4, &["party 1", "party-1.share", cause, "backup"]);
    }
    fs::remove_file(place.at("k/party-1.share")).unwrap_or_else(|e| panic!("{e}"));
    place.bad(run, 4, &["party 1", "missing", "backup"]);
    place.put("k/party-1.share", &good);
    place.put("k/ledger.json", b"{");
    place.bad(run, 4, &["ledger.json"]);
    place.put("k/ledger.json", &place.get("l/ledger.json"));
    place.bad(run, 4, &["another key than the ledger"]);
    assert!(!place.at("no").exists());
    assert!(!place.names().iter().any(|name| name.contains("part")), "{:?}", place.names());
}

#[test]
fn a_key_whose_shares_are_lost_is_not_replaced_unasked() {
    let place = place(99);
    place.good("--in a --key-shares k");
    let kept = ["party-0.share", "party-1.share", "party-2.share"].map(|name| {
        let (name, bytes) = (format!("k/{name}"), place.get(&format!("k/{name}")));
        fs::remove_file(place.at(&name)).unwrap_or_else(|e| panic!("{e}"));
        (name, bytes)
    });
    // A new key would take the place of the old key's backup.
    place.bad("--in a --out b --key-shares k", 5, &["ledger of key", "none of its shares", "backup"]);
    assert!(!place.at("b").exists() && !place.at("k/party-0.share").exists());
    kept.iter().for_each(|(name, bytes)| place.put(name, bytes));
    place.good("--decrypt --in a.enc --key-shares k");
    assert!(place.get("a.dec") == place.get("a"));
    // The user sets another key in place of the old one. Earlier files are not encrypted under the
    // new key.
    kept.iter().for_each(|(name, _)| fs::remove_file(place.at(name)).unwrap_or_else(|e| panic!("{e}")));
    place.put("key", KEY.as_bytes());
    place.good("--in a --out b --key-shares k --key-file key");
    place.bad(
        "--decrypt --in a.enc --out c --key-shares k",
        4,
        &["which is not kept here any more", "--key-shares"],
    );
}
