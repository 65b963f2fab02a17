//! Attacks by files of other people, by directories in which others write, and by loose
//! permissions.

use crate::common::{self, Place, Ran, bad};
use hushwire_testkit::executable;
use std::{
    fs::{self, Permissions},
    os::unix::fs::PermissionsExt,
    thread,
};

const JOB: &str = "protocol = \"yao\"\ncircuit = \"add:8\"\n[[inputs]]\nfrom = \"party0\"\n[[inputs]]\n\
                   from = \"party1\"\n[[outputs]]\nto = \"party0\"\n";

fn set_mode(place: &Place, name: &str, mode: u32) {
    fs::set_permissions(place.at(name), Permissions::from_mode(mode)).unwrap_or_else(|e| panic!("{e}"));
}

/// Writes a job, and the files of party 0 and of a client; `extra` is a part of both.
fn world(extra: &str) -> Place {
    let place = Place::new();
    place.put("job.toml", JOB.as_bytes());
    let pin = place.put_key("key.pem", "party0");
    let peer = format!("[[peers]]\nindex = 1\naddress = \"127.0.0.1:1\"\npin = \"{pin}\"\n");
    let rest = format!("key = \"key.pem\"\nconnect-timeout = 1\n{extra}\n{peer}");
    place.put("party.toml", format!("index = 0\nlisten = \"127.0.0.1:0\"\n{rest}").as_bytes());
    place.put("client.toml", format!("name = \"alice\"\n{rest}").as_bytes());
    place
}

#[test]
fn a_file_alone_does_not_turn_off_tls() {
    let place = world("transport = \"tcp-insecure\"");
    for member in ["party", "client"] {
        let args = format!("{member} job.toml --config {member}.toml");
        bad(&place, &args, 5, &[&format!("{member}.toml"), "tcp-insecure", "tcp-tls", "--allow-insecure"]);
        // With the option the run begins. It fails because peers, or places for clients, are
        // missing.
        let ran = place.ran(&format!("{args} --allow-insecure"));
        assert!(ran.code != Some(5) && !ran.err.contains("--allow-insecure"), "{}", ran.err);
    }
    assert!(
        bad(&place, "party job.toml --config party.toml --allow-insecure", 2, &[]).err.contains("warning")
    );
}

#[test]
fn a_private_key_that_others_can_read_is_refused() {
    let place = world("");
    set_mode(&place, "key.pem", 0o644);
    let ot = format!("--listen 127.0.0.1:0 --key key.pem --pin sha256:{}", "0".repeat(64));
    place.put("messages", b"0 1\n");
    for args in [
        "party job.toml --config party.toml".to_owned(),
        "client job.toml --config client.toml".to_owned(),
        "doctor --config party.toml".to_owned(),
        format!("ot send --messages messages {ot}"),
    ] {
        bad(&place, &args, 5, &["key.pem", "0644", "chmod 600", "keys rotate"]);
    }
    // A key of lists is not a member's key. It is not rotated; its owner publishes the list again.
    place.put("list.key", b"-----BEGIN HUSHWIRE PSI PRIVATE KEY-----\n");
    set_mode(&place, "list.key", 0o644);
    place.put("a.csv", b"k\n1\n");
    let publish = "psi publish --in a.csv --key k --secret list.key --out list";
    let ran = bad(&place, publish, 5, &["list.key", "chmod 600", "publish the list anew"]);
    assert!(!ran.err.contains("rotate"), "{}", ran.err);
}

#[test]
fn a_key_file_that_others_can_read_draws_a_warning() {
    let place = Place::new();
    place.put("a", b"text");
    place.put("key", common::KEY.as_bytes());
    let args = "--in a --key-file key --iv-hex 00000000000000000000000000000000";
    for (mode, warned) in [(0o644, true), (0o600, false)] {
        set_mode(&place, "key", mode);
        let ran = place.good(&format!("{args} --out out{mode}"));
        assert_eq!(ran.err.contains("warning") && ran.err.contains("chmod 600 key"), warned, "{}", ran.err);
    }
}

/// A program of that name in the user's working directory would receive a party's keys.
#[test]
fn simulated_hardware_is_not_taken_from_the_current_directory() {
    let place = Place::new();
    place.put("a", b"text");
    let planted = "target/hdl/party-sim";
    fs::create_dir_all(place.at("target/hdl")).unwrap_or_else(|e| panic!("{e}"));
    executable(&place.at(planted), b"#!/bin/sh\ntouch taken\n");
    // A copy of the program, with no other program beside it.
    fs::create_dir_all(place.at("elsewhere/bin")).unwrap_or_else(|e| panic!("{e}"));
    let program = place.at("elsewhere/bin/hushwire");
    executable(&program, &fs::read(env!("CARGO_BIN_EXE_hushwire")).unwrap_or_else(|e| panic!("{e}")));
    let mut command = std::process::Command::new(&program);
    command.current_dir(place.at("")).env_remove("HUSHWIRE_HDL");
    command.args(["local", "aes-ctr", "--in", "a", "--backend", "hdl-sim"]);
    let ran = Ran::new(command.output().unwrap_or_else(|e| panic!("{e}")));
    assert_eq!(ran.code, Some(4), "{}", ran.err);
    assert!(ran.err.contains("elsewhere/hdl/party-sim") && ran.err.contains("HUSHWIRE_HDL"), "{}", ran.err);
    assert!(!place.at("taken").exists());
}

/// Files that would clear a terminal, hide earlier output, or write messages in the program's name.
#[test]
fn control_characters_of_files_do_not_reach_the_terminal() {
    const EVIL: &str = "\\u001b[2J\\u001b]0;t\\u0007\\nerror: all is well\\u009b\\u202e";
    let keys = format!("circuit = \"{EVIL}\"\nprotocol = \"yao\"");
    let mut runs = vec![];
    for (name, job) in [
        ("circuit", JOB.replace("add:8", EVIL)),
        ("file", JOB.replace("circuit = \"add:8\"", &format!("circuit-file = \"{EVIL}.txt\""))),
        ("protocol", JOB.replace("yao", EVIL)),
        ("member", JOB.replace("party1", EVIL)),
        ("key", format!("\"{EVIL}\" = 1\n{JOB}")),
        ("twice", format!("{keys}\n{keys}")),
        ("raw", "protocol = \u{1b}[2J".to_owned()),
    ] {
        for command in ["party job.toml --config party.toml", "local run job.toml"] {
            let place = world("");
            place.put("job.toml", job.as_bytes());
            runs.push((name, place, command));
        }
    }
    for (name, extra) in [
        ("transport", format!("transport = \"{EVIL}\"")),
        ("time-out", format!("stall = \"{EVIL}\"")),
        ("unknown", format!("\"{EVIL}\" = 1")),
        ("input", format!("inputs = {{ 0 = {{ file = \"{EVIL}\" }} }}")),
        (
            "output",
            format!("inputs = {{ 0 = {{ hex = \"00\" }} }}\noutputs = {{ 0 = {{ file = \"{EVIL}/x\" }} }}"),
        ),
        ("digits", format!("inputs = {{ 0 = {{ hex = \"{EVIL}\" }} }}")),
    ] {
        for command in ["party job.toml --config party.toml", "doctor --config party.toml --seconds 1"] {
            runs.push((name, world(&extra), command));
        }
    }
    // The commands mostly wait for others, so they run at the same time.
    let mut said: Vec<_> = thread::scope(|scope| {
        let run = |(name, place, command): (&'static str, Place, &'static str)| {
            scope.spawn(move || (name, place.ran(command)))
        };
        let running: Vec<_> = runs.into_iter().map(run).collect();
        running.into_iter().map(|run| run.join().unwrap_or_else(|_| panic!("a run"))).collect()
    });
    let place = world("");
    place.put("circuit.txt", b"1 3\n2 1 1\n1 1\n\n2 1 0 1 2 \x1b[2J\x07\n");
    said.push(("gate", place.ran("local run --circuit circuit.txt")));
    said.push(("gate", place.ran("circuit info circuit.txt")));
    let named = "\u{1b}[2J\nerror: all is well";
    let mut command = place.hushwire("keys show");
    let output = command.arg(place.at(named)).output().unwrap_or_else(|e| panic!("{e}"));
    said.push(("a name", Ran::new(output)));
    for (name, Ran { out, err, .. }) in &said {
        for text in [out, err] {
            assert!(
                text.chars().all(|c| c == '\n' || (!c.is_control() && c != '\u{202e}')),
                "{name}: {text:?}"
            );
            assert!(!text.lines().any(|line| line.starts_with("error: all is well")), "{name}: {text}");
        }
    }
    // Most of them end with an error that shows the text.
    let shown = said.iter().filter(|(_, ran)| ran.code != Some(0) && ran.err.contains("u{1b}[2J"));
    assert!(shown.count() >= 12, "{:?}", said.iter().map(|(name, ran)| (name, &ran.err)).collect::<Vec<_>>());
}
