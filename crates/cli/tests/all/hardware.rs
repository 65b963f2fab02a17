//! Hardware parties in a whole run: the output equals openssl's for any choice of hardware parties,
//! and errors name missing or failed devices.
//!
//! The hardware is a stand-in: the model of `hushwire-hdl` in its own process, and simulated
//! hardware if it has been built.

use crate::common::{KEY, Place, Ran, noise};
use crate::rehearsal::{Ended, Rehearsal};
use hushwire_hdl::{Hello, PROGRAM, model};
use hushwire_testkit::executable;
use serde_json::{Value, json};
use std::{
    fs,
    io::{self, Read, Write},
    os::{fd::AsFd, unix::fs::PermissionsExt, unix::net::UnixStream},
    path::{Path, PathBuf},
};

const IV: &str = "fffffffffffffffffffffffffffffff0";
/// The length of two whole batches and an incomplete block.
const LEN: usize = 2 * 10_240 + 5;
/// The variable that tells a process to be the stand-in, and after how many bytes it must die.
const STAND_IN: &str = "HUSHWIRE_TEST_STAND_IN";

/// The device of the stand-in.
const HELLO: Hello = Hello {
    lanes: 1,
    cores: 5,
    contexts: 16,
    slots: 512,
    instructions: 1 << 15,
    scalars: 1 << 12,
    flight: 512,
};

/// A stream that dies after this many bytes are written.
struct Mortal(UnixStream, usize);

impl Read for Mortal {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        self.0.read(buf)
    }
}

impl Write for Mortal {
    fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        let n = buf.len().min(self.1);
        if n == 0 && !buf.is_empty() {
            return Err(io::ErrorKind::BrokenPipe.into());
        }
        self.1 -= n;
        self.0.write(&buf[..n])
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
#[ignore = "the process of a stand-in, which other tests start"]
fn stand_in() {
    let Ok(lanes_and_life) = std::env::var(STAND_IN) else { return };
    let (lanes, life) = lanes_and_life.split_once(' ').unwrap_or_else(|| panic!("{lanes_and_life}"));
    let [lanes, life] = [lanes, life].map(|n| n.parse().unwrap_or_else(|e| panic!("{lanes_and_life}: {e}")));
    let socket = io::stdin().as_fd().try_clone_to_owned().unwrap_or_else(|e| panic!("{e}"));
    // Some tests make it die, or make the engine end first.
    let _ = model::serve(Mortal(socket.into(), life), Hello { lanes, ..HELLO });
}

/// Makes a folder whose `party-sim` runs `script`.
fn folder(place: &Place, script: &str) -> PathBuf {
    let (folder, program) = (place.at("hdl"), place.at("hdl").join(PROGRAM));
    fs::create_dir_all(&folder).unwrap_or_else(|e| panic!("{e}"));
    executable(&program, format!("#!/bin/sh\n{script}\n").as_bytes());
    folder
}

/// Makes a folder whose `party-sim` is the stand-in. It has this many lanes, and dies after `life`
/// bytes.
fn standing_in(place: &Place, lanes: usize, life: usize) -> PathBuf {
    let me = std::env::current_exe().unwrap_or_else(|e| panic!("{e}"));
    let run = format!("exec '{}' --ignored --exact hardware::stand_in", me.display());
    folder(place, &format!("{STAND_IN}='{lanes} {life}' {run}"))
}

/// Returns the simulated hardware next to the program's directory, if it has been built.
fn simulated() -> Option<PathBuf> {
    let beside = Path::new(env!("CARGO_BIN_EXE_hushwire")).parent()?.parent()?.join("hdl");
    let folder = std::env::var_os(hushwire_hdl::ENV).map_or(beside, PathBuf::from);
    let there = folder.join(PROGRAM).is_file();
    if !there {
        // Written around the test harness, which keeps the output of a passing test to itself.
        let _ = writeln!(
            io::stderr(),
            "NOT RUN with simulated hardware: there is no {PROGRAM} in {}; run hdl/setup",
            folder.display()
        );
    }
    there.then_some(folder)
}

fn run(place: &Place, folder: &Path, args: &str) -> Ran {
    let mut command = place.command(args);
    let output = command.env(hushwire_hdl::ENV, folder).output();
    Ran::new(output.unwrap_or_else(|e| panic!("{args}: {e}")))
}

fn good(place: &Place, folder: &Path, args: &str) -> Ran {
    run(place, folder, args).good(args)
}

fn bad(place: &Place, folder: &Path, args: &str, code: i32, words: &[&str]) {
    run(place, folder, args).bad(args, code, words);
}

/// Encrypts with hardware parties, and compares with openssl and with software. Each case has a
/// length and options. All have one key and counter, so each input and output begins like the
/// longest.
fn check(place: &Place, folder: &Path, cases: &[(usize, &str)]) {
    let most = cases.iter().map(|(len, _)| *len).max().unwrap_or_default();
    let data = noise(3, most);
    place.put("key", KEY.as_bytes());
    let common = format!("--in in --key-file key --iv-hex {IV}");
    place.put("in", &data);
    place.good(&format!("{common} --out soft"));
    let soft = place.get("soft");
    if let Some(theirs) = place.openssl("in", KEY, IV) {
        assert!(soft == theirs, "not what openssl writes");
    }
    for (len, options) in cases {
        place.put("in", &data[..*len]);
        good(place, folder, &format!("{common} --out hard --force --backend hdl-sim {options}"));
        assert!(place.get("hard") == soft[..*len], "{len} bytes {options}: not what software writes");
    }
}

#[test]
fn every_mix_of_stand_ins_writes_what_openssl_writes() {
    let place = Place::new();
    let folder = standing_in(&place, 1, usize::MAX);
    let cases = [
        (LEN, "--hdl-parties 0"),
        (LEN, "--hdl-parties 1,2"),
        (LEN, "--hdl-parties 0,1,2"),
        (1, "--sbox depth4 --transport unix"),
        (0, "--hdl-parties 2"),
        // More batches than the device has contexts.
        (6 * 10_240 + 1, "--hdl-parties 1 --sbox depth4"),
    ];
    check(&place, &folder, &cases);
}

#[test]
fn simulated_hardware_writes_what_openssl_writes() {
    let (place, Some(folder)) = (Place::new(), simulated()) else { return };
    let cases = ["0", "1,2"].map(|parties| format!("--hdl-parties {parties}"));
    check(&place, &folder, &cases.each_ref().map(|options| (LEN, options.as_str())));
}

#[test]
fn kept_keys_serve_software_and_hardware() {
    let place = Place::new();
    let folder = standing_in(&place, 1, usize::MAX);
    place.put("in", &noise(4, 700));
    good(&place, &folder, "--in in --out a --key-shares k --backend hdl-sim --hdl-parties 0,2");
    place.good("--decrypt --in a --out a.back --key-shares k");
    assert!(place.get("a.back") == place.get("in"));
    place.good("--in in --out b --key-shares k");
    good(&place, &folder, "--decrypt --in b --out b.back --key-shares k --backend hdl-sim --hdl-parties 1");
    assert!(place.get("b.back") == place.get("in"));
}

#[test]
fn the_report_says_who_was_hardware() {
    let place = Place::new();
    let folder = standing_in(&place, 1, usize::MAX);
    place.put("in", &noise(4, LEN));
    let ran = good(&place, &folder, "--in in --json r.json --backend hdl-sim --hdl-parties 2,0");
    let report: Value = serde_json::from_slice(&place.get("r.json")).unwrap_or_else(|e| panic!("{e}"));
    for (field, value) in [
        ("backend", json!("hdl-sim")),
        ("hdl_parties", json!([0, 2])),
        ("sbox", json!("bp32")),
        ("threads", json!(1)),
        ("chunk_blocks", json!(640)),
    ] {
        assert_eq!(report[field], value, "{field}");
    }
    for party in [0, 2] {
        // Three batches.
        assert_eq!(report["parties"][party]["device"]["ands"], json!(3 * 5120), "party {party}");
        assert!(report["parties"][party]["device"]["cycles"].as_u64().is_some_and(|n| n > 0));
    }
    assert_eq!(report["parties"][1]["device"], Value::Null);
    assert!(ran.err.contains("simulated hardware") && !ran.err.contains("PRF bound"), "{}", ran.err);
    for process in report["parties"].as_array().into_iter().flatten().chain([&report["owner"]]) {
        let peak = process["peak_memory_bytes"].as_u64();
        assert!(peak.is_some_and(|n| n <= 48 << 20), "the least --memory of such a run: {peak:?}");
    }
    place.good("--in in --out soft --json r.json");
    let report: Value = serde_json::from_slice(&place.get("r.json")).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!((&report["backend"], &report["hdl_parties"]), (&json!("software"), &json!([])));
}

#[test]
fn what_does_not_go_together_is_refused() {
    let place = Place::new();
    let folder = standing_in(&place, 1, usize::MAX);
    place.put("in", &noise(4, 100));
    for (args, words) in [
        ("--hdl-parties 0", &["--backend hdl-sim"][..]),
        ("--backend software --hdl-parties 0", &["--backend hdl-sim"]),
        ("--backend fpga", &["software", "hdl-sim"]),
        ("--backend hdl-sim --hdl-parties 0,0", &["each party once"]),
        ("--backend hdl-sim --hdl-parties 3", &["0, 1 and 2"]),
        ("--backend hdl-sim --hdl-parties=", &["--hdl-parties"]),
        ("--backend hdl-sim --sbox tower", &["--sbox bp32", "--sbox depth4"]),
        ("--backend hdl-sim --sbox gf256", &["--sbox bp32"]),
        ("--backend hdl-sim --sbox lut256", &["--sbox bp32"]),
        ("--backend hdl-sim --threads 2", &["--threads"]),
        ("--backend hdl-sim --memory 16MiB", &["--memory 48"]),
        ("--backend hdl-sim --key-bits 256", &["128 bits"]),
    ] {
        bad(&place, &folder, &format!("--in in {args}"), 2, words);
    }
    assert!(!place.at("in.enc").exists());
}

#[test]
fn a_program_that_is_not_there_is_named_with_the_remedy() {
    let place = Place::new();
    place.put("in", &noise(4, 100));
    let nowhere = place.at("nowhere");
    let tried = nowhere.join(PROGRAM).display().to_string();
    let words = ["party 1", &tried, "hdl/setup", "HUSHWIRE_HDL"];
    bad(&place, &nowhere, "--in in --backend hdl-sim --hdl-parties 1", 4, &words);
    let not_a_program = folder(&place, "");
    fs::set_permissions(not_a_program.join(PROGRAM), PermissionsExt::from_mode(0o644))
        .unwrap_or_else(|e| panic!("{e}"));
    bad(&place, &not_a_program, "--in in --backend hdl-sim", 4, &["party-sim", "hdl/setup"]);
    assert!(!place.at("in.enc").exists());
}

#[test]
fn a_device_that_fails_is_named_and_nothing_is_written() {
    let place = Place::new();
    place.put("in", &noise(4, LEN));
    let args = "--in in --backend hdl-sim --hdl-parties 1";
    // In its greeting, at its first message, in the middle of a batch, and at an output.
    for life in [10, 40, 300_000, 430_000, 900_000] {
        bad(&place, &standing_in(&place, 1, life), args, 3, &["party 1", "simulated party", "it is gone"]);
    }
    bad(&place, &standing_in(&place, 2, usize::MAX), args, 3, &["party 1", "1280", "640", "lanes"]);
    bad(&place, &folder(&place, "exit 7"), args, 3, &["party 1", "it is gone", "7"]);
    let words = "printf 'X\\000\\000\\000\\011\\000\\000\\000no memory' >&0; exit 1";
    bad(&place, &folder(&place, words), args, 3, &["party 1", "it reports: no memory"]);
    bad(
        &place,
        &folder(&place, "echo hello, world >&0; cat <&0"),
        args,
        3,
        &["party 1", "broke the protocol"],
    );
    assert!(!place.at("in.enc").exists());
}

#[test]
fn a_job_names_its_hardware_and_each_party_starts_its_own() {
    let job = "kind = \"aes-ctr\"\nowner = \"client:alice\"\nkey = \"given\"\nhardware = [\"party2\", \"party0\"]\n";
    let world = Rehearsal::new(job);
    let here = standing_in(&world.place, 1, usize::MAX);
    world.place.put("r/data.bin", &noise(3, LEN));
    world.place.put("r/key.bin", KEY.as_bytes());
    world.edit("r/alice.toml", |text| format!("{text}iv = \"{IV}\"\n"));
    for name in ["party0", "party1", "party2", "alice"] {
        world.set(name, "connect-timeout = \"8s\"");
    }
    // A party without hardware does not look for a device.
    let run = |first: &Path| {
        let start = |name: &'static str| {
            let folder = if name == "party0" { first } else { &here };
            let nowhere = name == "party1" || name == "alice";
            let mut command = world.place.hushwire(&Rehearsal::line(name));
            command.env(hushwire_hdl::ENV, if nowhere { Path::new("nowhere") } else { folder });
            world.spawn(name, command)
        };
        world.end(["party0", "party1", "party2", "alice"].map(start).into())
    };
    for member in run(&world.place.at("none")) {
        if member.name == "party0" {
            let words = ["party 0 failed during the simulated party, start", "none/party-sim", "hdl/setup"];
            assert!(
                member.code == Some(4) && words.iter().all(|word| member.err.contains(word)),
                "{}",
                member.err
            );
        } else {
            member.blames("party0");
        }
    }
    assert!(!world.place.at("r/data.bin.enc").exists());
    run(&here).iter().for_each(Ended::good);
    if let Some(theirs) = world.place.openssl("r/data.bin", KEY, IV) {
        assert!(world.place.get("r/data.bin.enc") == theirs, "not what openssl writes");
    }
}
