//! `local run`: circuits and job files among processes, checked against published vectors.

use crate::common::{self, Place, Ran, children, cmdline, noise, prints, runs};
use std::{
    fs::File,
    path::Path,
    process::{Command, Stdio},
    thread::sleep,
    time::{Duration, Instant},
};

/// Runs the command and expects this exit code, and these words in the error.
fn bad(place: &Place, args: &str, code: i32, words: &[&str]) -> Ran {
    let ran = common::bad(place, args, code, words);
    assert!(ran.err.contains("error: ") && ran.out.is_empty(), "{args}: {}", ran.out);
    ran
}

#[test]
fn built_in_circuits_give_what_standards_say() {
    let place = Place::new();
    for (circuit, inputs, output) in
        [("less:32", "0=0000002a,1=00000063", "0=1"), ("add:32", "0=ffffffff,1=00000001", "0=100000000")]
    {
        prints(&place, &format!("local run --circuit {circuit} --inputs {inputs}"), &[output]);
    }
    // FIPS 180-4: one block, "abc".
    let block = format!("61626380{}18", "0".repeat(118));
    let state = "6a09e667bb67ae853c6ef372a54ff53a510e527f9b05688c1f83d9ab5be0cd19";
    let digest = "0=ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
    prints(&place, &format!("local run --circuit sha256 --inputs 0={block},1={state}"), &[digest]);
    assert!(place.names().is_empty());
}

#[test]
fn circuits_from_files_of_both_formats() {
    let place = Place::new();
    place.put("fashion.txt", b"2 4\n2 1 1\n2 1 1\n\n2 1 0 1 2 XOR\n2 1 0 1 3 AND\n");
    prints(&place, "local run --circuit fashion.txt --inputs 0=1,1=1", &["0=0", "1=1"]);
    // (x0 ⊕ y0, x1 ∧ y1)
    place.put("old.txt", b"2 6\n2 2 2\n\n2 1 0 2 4 XOR\n2 1 1 3 5 AND\n");
    let ran = prints(&place, "local run --circuit old.txt --inputs 0=3,1=1", &["0=3"]);
    assert!(ran.err.contains("most significant") && ran.err.contains("old.txt"), "{}", ran.err);
    let ran = prints(&place, "local run --circuit old.txt --inputs 0=3,1=1 --bit-order lsb", &["0=0"]);
    assert!(!ran.err.contains("note:"), "{}", ran.err);
    // Without ANDs, nothing is sent between inputs and outputs.
    place.put("xor.txt", b"1 3\n2 1 1\n1 1\n\n2 1 0 1 2 XOR\n");
    prints(&place, "local run --circuit xor.txt --inputs 0=1,1=0", &["0=1"]);
}

#[test]
fn every_transport_and_a_modelled_network() {
    let place = Place::new();
    for options in [
        "--transport tcp-insecure",
        "--transport unix",
        "--transport shm",
        "--net 1Gbps,1ms",
        "--aes-backend portable",
    ] {
        prints(&place, &format!("local run --circuit less:8 --inputs 0=01,1=02 {options}"), &["0=1"]);
    }
    assert!(place.names().is_empty());
}

#[test]
fn many_instances_from_files_to_a_file() {
    let place = Place::new();
    let (a, b) = (noise(1, 4 * 5000), noise(2, 4 * 5000));
    place.put("a.bin", &a);
    place.put("b.bin", &b);
    let word = |bytes: &[u8]| u32::from_le_bytes(bytes.try_into().unwrap_or_default());
    let sums = a
        .chunks(4)
        .zip(b.chunks(4))
        .flat_map(|(a, b)| (u64::from(word(a)) + u64::from(word(b))).to_le_bytes()[..5].to_vec());
    let sums: Vec<u8> = sums.collect();
    let args = "local run --circuit add:32 --instances 5000 --input-file 0=a.bin --input-file 1=b.bin --output 0=sum \
                --threads 3 --lanes 3 --batch 100";
    prints(&place, args, &[]);
    assert!(place.get("sum") == sums);
    assert_eq!(place.names(), ["a.bin", "b.bin", "sum"]);
}

#[test]
fn a_report_for_programs() {
    let place = Place::new();
    prints(&place, "local run --circuit less:32 --inputs 0=00000001,1=00000002 --json r.json", &["0=1"]);
    let report: serde_json::Value = serde_json::from_slice(&place.get("r.json")).unwrap_or_default();
    assert_eq!(report["outputs"]["0"], "1");
    assert_eq!((&report["instances"], &report["transport"]), (&1.into(), &"tcp-tls".into()));
    assert_eq!(report["parties"].as_array().map(Vec::len), Some(3));
    for party in report["parties"].as_array().into_iter().flatten() {
        for key in ["bytes_sent", "bytes_received", "peak_memory_bytes"] {
            assert!(party[key].as_u64().is_some_and(|n| n > 0), "{key}: {party}");
        }
    }
    assert!(report["seconds"].as_f64().is_some_and(|s| s > 0.0) && report["ands"].as_u64() > Some(0));
    assert_eq!(report["rounds"], report["and_depth"]);
}

#[test]
fn examples_run_as_they_are() {
    let place = Place::new();
    let examples = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/jobs");
    prints(&place, &format!("local run {examples}/millionaires.toml"), &["bob-is-richer=1"]);
    let other = "--inputs bob=00000001 --transport unix";
    prints(&place, &format!("local run {examples}/millionaires.toml {other}"), &["bob-is-richer=0"]);
    prints(
        &place,
        &format!("local run {examples}/aes.toml"),
        &["ciphertext=69c4e0d86a7b0430d8cdb78070b4c55a"],
    );
    place.put("a", &[1; 32]);
    place.put("b", &[2; 32]);
    let files = "--input-file a=a --input-file b=b --output sum=sum";
    prints(&place, &format!("local run {examples}/sums.toml {files}"), &[]);
    assert_eq!(place.get("sum"), [3, 3, 3, 3, 0].repeat(8));
}

#[test]
fn what_does_not_make_sense_is_named() {
    let place = Place::new();
    place.put("short", &[0; 39]);
    place.put("ten", &[0; 40]);
    place.put("wide", &[0xff; 20]);
    for (args, code, words) in [
        (
            "--circuit less:32 --instances 10 --input-file 0=short --input-file 1=ten --output 0=o",
            4,
            &["short", "39", "40"][..],
        ),
        (
            "--circuit less:32 --instances 10 --input-file 0=gone --input-file 1=ten --output 0=o",
            4,
            &["gone", "spelling"],
        ),
        (
            "--circuit less:32 --instances 10 --input-file 0=ten --input-file 1=ten",
            2,
            &["output 0", "--output 0=FILE"],
        ),
        // Either party may be the first to report it.
        (
            "--circuit less:32 --instances 10 --inputs 0=00000001,1=00000001 --output 0=o",
            2,
            &["10 instances", "file"],
        ),
        (
            "--circuit less:12 --instances 10 --input-file 0=wide --input-file 1=wide --output 0=o",
            4,
            &["wide", "record 0", "12 bits"],
        ),
        ("--circuit less:8 --inputs 0=01,1=02 --output 0=no/such", 4, &["no/such"]),
    ] {
        bad(&place, &format!("local run {args}"), code, words);
    }
    assert!(!place.names().contains(&"o".to_owned()));
}

#[test]
fn a_member_that_is_killed_ends_everything() {
    for (victim, name) in [("party1", "party 1"), ("client:alice", "client alice")] {
        let place = Place::new();
        place.put(
            "job.toml",
            b"protocol = \"rep3\"\ncircuit = \"mul:32\"\ninstances = 20000000\n[[inputs]]\nfrom = \"client:alice\"\n\
              [[inputs]]\nfrom = \"party0\"\n[[outputs]]\nto = \"party2\"\n",
        );
        let sparse = File::create(place.at("big")).and_then(|file| file.set_len(80_000_000));
        sparse.unwrap_or_else(|e| panic!("{e}"));
        let mut command =
            place.hushwire("local run job.toml --input-file 0=big --input-file 1=big --output 0=out");
        let run =
            command.stderr(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap_or_else(|e| panic!("{e}"));
        let pids = members(run.id(), 4);
        sleep(Duration::from_millis(700));
        let begun = Instant::now();
        let victim = pids.iter().find(|pid| cmdline(**pid).trim_end().ends_with(victim));
        let pid = victim.unwrap_or_else(|| panic!("no {name}")).to_string();
        assert!(Command::new("kill").args(["-KILL", &pid]).status().is_ok_and(|s| s.success()));
        let ran = Ran::new(run.wait_with_output().unwrap_or_else(|e| panic!("{e}")));
        assert!(begun.elapsed() < Duration::from_mins(1), "took {:?}", begun.elapsed());
        assert_eq!(ran.code, Some(3), "{}", ran.err);
        assert!(ran.err.contains(name) && ran.err.contains("signal 9"), "{}", ran.err);
        assert!(pids.iter().all(|pid| !runs(*pid)), "some still run");
        assert_eq!(place.names(), ["big", "job.toml"]);
    }
}

/// Waits until the members of a run have started.
fn members(parent: u32, count: usize) -> Vec<u32> {
    let begun = Instant::now();
    while begun.elapsed() < Duration::from_secs(30) {
        let pids = children(parent);
        if pids.len() == count && pids.iter().all(|pid| cmdline(*pid).contains("__member")) {
            return pids;
        }
        sleep(Duration::from_millis(5));
    }
    panic!("{count} members did not start within 30 s");
}

#[test]
fn help_teaches() {
    let place = Place::new();
    for (args, words) in [
        (
            "local run --help",
            &["Examples:", "--circuit less:32", "--input-file", "examples/jobs", "Exit codes"][..],
        ),
        ("party --help", &["Examples:", "--config party0.toml", "pins", "Exit codes"]),
        ("client --help", &["Examples:", "--config alice.toml", "Exit codes"]),
    ] {
        let ran = place.ran(args);
        assert_eq!(ran.code, Some(0));
        words.iter().for_each(|word| assert!(ran.out.contains(word), "{args}: no {word:?}"));
    }
    assert!(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/jobs.md")).exists());
}
