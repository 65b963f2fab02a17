//! The reports of a run, and the help text of the command.

use crate::common::{KEY, Place, noise};
use serde_json::{Value, json};
use std::process::Command;

#[test]
fn the_report_has_its_fields() {
    let place = Place::new();
    place.put("a", &noise(1, 300_000));
    let ran = place.good("--in a --json r.json --aes-backend portable --sbox gf256 --threads 2");
    let report: Value = serde_json::from_slice(&place.get("r.json")).unwrap_or_else(|e| panic!("{e}"));
    for (field, value) in [
        ("command", json!("local aes-ctr")),
        ("in", json!("a")),
        ("out", json!("a.enc")),
        ("bytes", json!(300_000)),
        ("blocks", json!(18_750)),
        ("key", json!("drawn")),
        ("key_dir", json!("a.enc.keys")),
        ("sbox", json!("gf256")),
        ("transport", json!("tcp-tls")),
        ("aes_tier", json!("portable")),
        ("threads", json!(2)),
        ("decrypt", json!(false)),
        ("memory_bytes", json!(256 << 20)),
    ] {
        assert_eq!(report[field], value, "{field}");
    }
    for field in ["seconds", "stream_seconds", "bytes_per_second", "blocks_per_second"] {
        assert!(report[field].as_f64().is_some_and(|x| x > 0.0), "{field}: {}", report[field]);
    }
    let iv = report["iv"].as_str().unwrap_or_default();
    assert!(iv.len() == 32 && ran.err.contains(iv), "{}", ran.err);
    assert!(report["limit"]["fraction_of_limit"].as_f64().is_some_and(|x| x > 0.0 && x.is_finite()));
    assert_eq!(report["limit"]["unit"], "blocks/s");
    let parties = report["parties"].as_array().map_or(&[][..], |parties| parties);
    assert_eq!(parties.len(), 3);
    for party in parties {
        // 160 S-boxes of 32 bits in each block, and the share of the result.
        let sent = party["bytes_sent"].as_u64().unwrap_or_default();
        let least = 18_750 * 160 * 4 + 300_000;
        assert!((least..least + 20_000).contains(&sent), "{sent}, at least {least}");
        assert!(party["peak_memory_bytes"].as_u64().is_some_and(|n| n > 1 << 20 && n < 256 << 20));
        // Two batches on one lane with at most 30 rounds each, 30 rounds for the key, and the
        // session's keys.
        assert!(party["rounds"].as_u64().is_some_and(|n| (61..=91).contains(&n)), "{}", party["rounds"]);
    }
    assert!(ran.err.contains("PRF bound") && ran.err.contains("portable"), "{}", ran.err);
}

#[test]
fn every_process_stays_within_the_memory() {
    // The limit includes `BASE_BYTES` for the program itself, and the peak of a program differs
    // from run to run. The program under test is hardly optimised, and its pages count too. A job
    // of a few bytes shows their number.
    let (program, slack) = (33 << 19, 3 << 20);
    let place = Place::new();
    place.put("a", &noise(1, 1_500_000));
    place.put("few", &noise(1, 100));
    for (memory, options) in [(20, "--threads 2"), (18, "--sbox bp32"), (40, "--sbox gf256 --threads 2")] {
        let peaks = |file: &str| -> Vec<u64> {
            place.good(&format!("--in {file} --json r.json --force --memory {memory}MiB {options}"));
            let report: Value =
                serde_json::from_slice(&place.get("r.json")).unwrap_or_else(|e| panic!("{e}"));
            let parties = report["parties"].as_array().into_iter().flatten();
            let peak = |process: &Value| process["peak_memory_bytes"].as_u64().expect("a peak");
            parties.chain([&report["owner"]]).map(peak).collect()
        };
        let (few, many) = (peaks("few"), peaks("a"));
        assert_eq!((few.len(), many.len()), (4, 4));
        for (few, many) in few.into_iter().zip(many) {
            let most = few + (memory << 20) - program + slack;
            assert!(many <= most, "{memory} MiB {options}: {many} bytes, {few} for a few bytes");
        }
    }
}

#[test]
fn the_report_goes_to_standard_output() {
    let place = Place::new();
    place.put("a", b"");
    place.put("key", KEY.as_bytes());
    let ran = place.good("--in a --key-file key --json -");
    let report: Value = serde_json::from_str(&ran.out).unwrap_or_else(|e| panic!("{e}: {}", ran.out));
    assert_eq!(
        (&report["bytes"], &report["rounds"]),
        (&json!(0), &json!(3)),
        "the session's keys, and tags of the key's shares"
    );
    assert_eq!(place.get("a.enc"), b"");
}

#[test]
fn the_sample_ships() {
    let place = Place::new();
    place.good("");
    place.good("--decrypt --in hushwire-sample.txt.enc");
    assert!(place.get("hushwire-sample.txt") == place.get("hushwire-sample.txt.dec"));
    assert_eq!(
        place.names(),
        [
            "hushwire-sample.txt",
            "hushwire-sample.txt.dec",
            "hushwire-sample.txt.enc",
            "hushwire-sample.txt.enc.keys"
        ]
    );
    place.put("hushwire-sample.txt", b"mine");
    place.good("");
    assert_eq!(place.get("hushwire-sample.txt"), b"mine", "a file of that name is used, not replaced");
}

#[test]
fn warnings_where_something_shows() {
    let place = Place::new();
    place.put("a", b"x");
    let ran = place.good(&format!("--in a --key-hex {KEY}"));
    assert!(ran.err.contains("warning") && ran.err.contains("--key-file"), "{}", ran.err);
    assert!(!ran.err.contains(KEY));
    let ran = place.good("--in a --out b --transport tcp-insecure");
    assert!(ran.err.contains("warning") && ran.err.contains("tcp-insecure"), "{}", ran.err);
    let ran = place.good("--in a --out c");
    assert!(!ran.err.contains("warning"), "{}", ran.err);
}

fn help(args: &[&str]) -> (Option<i32>, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_hushwire")).args(args).output();
    let output = output.unwrap_or_else(|e| panic!("{e}"));
    let text = [output.stdout, output.stderr].concat();
    (output.status.code(), String::from_utf8_lossy(&text).into_owned())
}

#[test]
fn help_teaches() {
    for (args, words) in [
        (&["--help"][..], &["Exit codes", "hushwire local aes-ctr"][..]),
        (&["local"], &["aes-ctr", "Example"]),
        (&["local", "aes-ctr", "--help"], &["openssl", "PRF bound", "ledger.json", "Exit codes"]),
    ] {
        let (_, text) = help(args);
        for word in words {
            assert!(text.contains(word), "{args:?}: no {word:?} in {text}");
        }
        assert!(!text.contains("__member"));
    }
}
