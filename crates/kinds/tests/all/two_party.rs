//! Jobs of two parties over real links, with a thread for each party. The plain evaluator is the
//! oracle.

use crate::common::{World, blamed, check};
use hushwire_session::{InputPlace, Kind, Member, MemberConfig, OutputPlace};
use std::fs;

const YAO: &str = "protocol = \"yao\"";
const GMW: &str = "protocol = \"gmw\"";

#[test]
fn either_brings_and_learns() {
    for protocol in [YAO, GMW] {
        for instances in [1, 7, 9, 1000] {
            check(protocol, "add:13", instances, &["party0", "party1"], &[&["party1"]], "batch = 128");
        }
        check(protocol, "add:13", 30, &["party1", "party0"], &[&["party0"]], "");
        let both: &[&str] = &["party0", "party1"];
        check(protocol, "mux:5", 300, &["party0", "party1", "party0"], &[both], "batch = 64\nthreads = 3");
        check(protocol, "less:32", 20, &["party0", "party1"], &[&[]], "");
    }
}

#[test]
fn one_owner_of_everything() {
    for protocol in [YAO, GMW] {
        for owner in ["party0", "party1"] {
            check(protocol, "mul:8", 70, &[owner, owner], &[&[owner]], "batch = 32\nthreads = 1");
        }
    }
}

#[test]
fn every_scheme_and_extension() {
    for scheme in ["prp", "mi", "mi4", "circ", "prf", "three-halves"] {
        let protocol = format!("{YAO}\nscheme = \"{scheme}\"");
        check(&protocol, "mul:8", 40, &["party0", "party1"], &[&["party0"]], "batch = 16");
    }
    for ot in ["iknp", "softspoken2", "softspoken8", "ferret-b10"] {
        for protocol in [YAO, GMW] {
            let protocol = format!("{protocol}\not = \"{ot}\"");
            check(&protocol, "less:32", 3, &["party0", "party1"], &[&["party1"]], "threads = 1");
        }
    }
}

/// Bytes and rounds are as the protocols need them: 32 bytes for each AND of half gates, and few
/// rounds for a circuit of any depth.
#[test]
fn bytes_and_rounds() {
    let inputs: &[&str] = &["party0", "party1"];
    let stats = |protocol: &str, instances| {
        check(protocol, "mul:16", instances, inputs, &[inputs], "batch = 4096\nthreads = 1")
    };
    let ands = hushwire_circuit::named::program("mul:16").expect("a circuit").ands();
    let (few, many) = (stats(YAO, 10), stats(YAO, 1010));
    let tables = many[0].bytes_sent - few[0].bytes_sent;
    assert!((32_000 * ands..32_000 * ands + 20_000).contains(&tables), "{tables} bytes for {ands} ANDs");
    assert!(many[1].bytes_sent < many[0].bytes_sent);
    assert_eq!(few[0].bytes_sent, few[1].bytes_received);
    let rounds = |stats: &[hushwire_session::Stats]| stats.iter().map(|s| s.rounds).max();
    assert_eq!(rounds(&few), rounds(&many), "rounds do not grow with instances");
    assert!(rounds(&many) < Some(20), "{:?}", rounds(&many));
    let gmw = stats(GMW, 10);
    let depth = hushwire_circuit::named::program("mul:16").expect("a circuit").depth() as u64;
    assert!(rounds(&gmw) >= Some(depth), "{:?} rounds for depth {depth}", rounds(&gmw));
}

#[test]
fn single_values_are_shown_as_digits() {
    for protocol in [YAO, GMW] {
        let world = World::under(protocol, "add:12", 1, &["party0", "party1"], &[&["party0", "party1"]], "");
        let ended = world.run(|_, member, config| {
            let (name, digits) = if member.key() == "party0" { ("0", "fff") } else { ("1", "002") };
            config.inputs.insert(name.into(), InputPlace::Hex(digits.to_owned().into()));
        });
        for (member, outcome) in &ended {
            let outcome = outcome.as_ref().unwrap_or_else(|e| panic!("{member}: {e}"));
            assert_eq!(outcome.learnt.digits, [(0, "1001".to_owned())], "{member}");
        }
    }
}

#[test]
fn another_scheme_or_extension_is_named_on_both_sides() {
    for (theirs, says) in [
        ("protocol = \"yao\"\nscheme = \"prf\"", "yao, scheme prf, ot softspoken4"),
        ("protocol = \"yao\"\not = \"iknp\"", "yao, scheme mi, ot iknp"),
        ("protocol = \"gmw\"", "gmw, ot softspoken4"),
    ] {
        let under = |protocol| World::under(protocol, "add:12", 1, &["party0", "party1"], &[&["party0"]], "");
        let (world, other) = (under(YAO), under(theirs));
        let ended = world.run_with(
            |member| if member.key() == "party1" { &other } else { &world },
            |_, member, config| {
                let name = if member.key() == "party0" { "0" } else { "1" };
                config.inputs.insert(name.into(), InputPlace::Hex("fff".to_owned().into()));
            },
        );
        let mut named = 0;
        for (member, outcome) in &ended {
            let error = outcome.as_ref().err().unwrap_or_else(|| panic!("{member} went on"));
            let (text, ours) = (
                error.to_string(),
                if member.key() == "party1" { says } else { "yao, scheme mi, ot softspoken4" },
            );
            assert!(error.kind() == Kind::Network && text.starts_with(&member.to_string()), "{text}");
            named += usize::from(text.contains(&format!("protocol (ours: {ours}")));
        }
        assert!(named > 0, "nobody says what differs");
    }
}

#[test]
fn a_record_that_does_not_fit_ends_both_and_names_who() {
    for protocol in [YAO, GMW] {
        let world = World::under(
            protocol,
            "add:12",
            800,
            &["party0", "party1"],
            &[&["party0"]],
            "batch = 8\nthreads = 2",
        );
        let mut bad = vec![0; 1600];
        bad[1201] = 0xff;
        fs::write(world.at("good"), [0; 1600]).and_then(|()| fs::write(world.at("bad"), bad)).expect("files");
        let ended = world.run(|world, member, config| {
            let (input, file) = if member.key() == "party0" { ("0", "good") } else { ("1", "bad") };
            config.inputs.insert(input.into(), InputPlace::File(world.at(file)));
            if member.key() == "party0" {
                config.outputs.insert("0".into(), OutputPlace::File(world.at("out")));
            }
        });
        for (member, outcome) in &ended {
            let error = outcome.as_ref().err().unwrap_or_else(|| panic!("{member} went on"));
            let text = error.to_string();
            if member.key() == "party1" {
                assert_eq!(error.kind(), Kind::File, "{text}");
                assert!(text.contains("record 600 does not fit into 12 bits"), "{text}");
            } else {
                assert_eq!(error.kind(), Kind::Network, "{text}");
                assert_eq!(blamed(error).as_deref(), Some("party 1"), "{member}: {text}");
            }
        }
        assert!(!world.at("out").exists());
    }
}

#[test]
fn who_has_no_place_is_told() {
    let three = World::new("add:12", 1, &["party0", "party1"], &[&["party0"]], "");
    let two = World::under(YAO, "add:12", 1, &["party0", "party1"], &[&["party0"]], "");
    for (me, words) in [
        (Member::Party(2), "party2: protocol yao has parties 0 and 1"),
        (Member::Client("alice".into()), "protocol yao has no clients"),
    ] {
        let (_, config) = three.configs(|_, _, _| {}).pop().expect("party 2");
        let observer: hushwire_session::Observer = std::sync::Arc::new(|_| {});
        let config = MemberConfig { me: me.clone(), ..config };
        let ended = hushwire_session::run(&two.prepared, config, &observer);
        let error = ended.map(drop).expect_err("it has no place");
        let who = error.who().map(ToString::to_string);
        assert_eq!((error.kind(), who), (Kind::Usage, Some(me.to_string())), "{error}");
        assert!(error.cause().contains(words), "{error}");
    }
}
