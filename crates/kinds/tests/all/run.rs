//! Whole jobs over real links, with parties and clients as threads. The plain evaluator is the
//! oracle.

use crate::common::{self, REP3, World, blamed};
use hushwire_session::{InputPlace, Kind, MemberConfig, OutputPlace, open};
use hushwire_wire::Identity;
use std::fs;

fn check(circuit: &str, instances: u64, inputs: &[&str], outputs: &[&[&str]], parameters: &str) {
    common::check(REP3, circuit, instances, inputs, outputs, parameters);
}

#[test]
fn parties_bring_and_learn() {
    for instances in [1, 7, 9, 1000] {
        check("add:13", instances, &["party0", "party1"], &[&["party2"]], "batch = 128");
    }
    check(
        "mux:5",
        300,
        &["party0", "party1", "party2"],
        &[&["party0", "party1", "party2"]],
        "batch = 64\nthreads = 1",
    );
}

#[test]
fn clients_bring_and_learn() {
    for instances in [1, 1000] {
        let to: &[&str] = &["client:alice", "client:carol", "party1"];
        check(
            "add:13",
            instances,
            &["client:alice", "client:bob"],
            &[to],
            "batch = 100\nthreads = 3\nlanes = 3",
        );
    }
    check("less:32", 50, &["client:alice", "party2"], &[&["client:alice"]], "");
}

#[test]
fn one_owner_of_everything() {
    check("mul:8", 70, &["party1", "party1"], &[&["party1"]], "batch = 32\nlanes = 1");
    check("equal:8", 70, &["client:a", "client:a"], &[&["client:a"]], "batch = 32\nthreads = 1");
}

#[test]
fn what_nobody_may_learn_nobody_learns() {
    check("add:8", 20, &["party0", "client:a"], &[&[]], "");
}

#[test]
fn single_values_are_shown_as_digits() {
    let world = World::new("add:12", 1, &["party0", "client:a"], &[&["party1", "client:a"]], "");
    let ended = world.run(|_, member, config| match member.key().as_str() {
        "party0" => drop(config.inputs.insert("0".into(), InputPlace::Hex("fff".to_owned().into()))),
        "client:a" => drop(config.inputs.insert("1".into(), InputPlace::Hex("002".to_owned().into()))),
        _ => {}
    });
    for (member, outcome) in &ended {
        let outcome = outcome.as_ref().unwrap_or_else(|e| panic!("{member}: {e}"));
        let wanted: &[_] =
            if world.plan.outputs[0].1.contains(member) { &[(0, "1001".to_owned())] } else { &[] };
        assert_eq!(outcome.learnt.digits, wanted, "{member}");
    }
}

#[test]
fn a_member_with_another_plan_is_told_what_differs() {
    let world = World::new("add:12", 8, &["party0", "party1"], &[&["party2"]], "");
    let other = World::new("add:12", 9, &["party0", "party1"], &[&["party2"]], "");
    fs::write(world.at("in"), [0; 16]).and_then(|()| fs::write(world.at("in9"), [0; 18])).expect("files");
    let ended = world.run_with(
        |member| if member.key() == "party1" { &other } else { &world },
        |_, member, config| {
            let name = if member.key() == "party1" { "in9" } else { "in" };
            for i in world.plan.inputs_of(member) {
                config.inputs.insert(i.to_string(), InputPlace::File(world.at(name)));
            }
            if member.key() == "party2" {
                config.outputs.insert("0".into(), OutputPlace::File(world.at("out")));
            }
        },
    );
    for (member, outcome) in &ended {
        let error = outcome.as_ref().err().unwrap_or_else(|| panic!("{member} went on"));
        assert_eq!(error.kind(), Kind::Network);
        let text = error.to_string();
        let ours = if member.key() == "party1" { "9" } else { "8" };
        assert!(text.contains(&format!("instances (ours: {ours})")) || text.contains("party 1"), "{text}");
        assert!(text.starts_with(&member.to_string()), "{text}");
    }
    let named =
        ended.iter().filter(|(_, o)| o.as_ref().is_err_and(|e| e.to_string().contains("instances (ours")));
    assert!(named.count() >= 2, "both sides of a mismatch say what differs");
    assert!(!world.at("out").exists());
}

#[test]
fn a_record_that_does_not_fit_ends_everybody_and_names_who() {
    let world = World::new("add:12", 8, &["party0", "client:a"], &[&["party2"]], "batch = 8");
    fs::write(world.at("good"), [0; 16]).expect("a file");
    fs::write(world.at("bad"), [0xff; 16]).expect("a file");
    let ended = world.run(|world, member, config| match member.key().as_str() {
        "party0" => drop(config.inputs.insert("0".into(), InputPlace::File(world.at("good")))),
        "client:a" => drop(config.inputs.insert("1".into(), InputPlace::File(world.at("bad")))),
        "party2" => drop(config.outputs.insert("0".into(), OutputPlace::File(world.at("out")))),
        _ => {}
    });
    for (member, outcome) in &ended {
        let error = outcome.as_ref().err().unwrap_or_else(|| panic!("{member} went on"));
        let text = error.to_string();
        if member.key() == "client:a" {
            assert_eq!(error.kind(), Kind::File, "{text}");
            assert!(text.contains("record 0 does not fit into 12 bits"), "{text}");
        } else {
            assert_eq!(error.kind(), Kind::Network, "{text}");
            assert_eq!(blamed(error).as_deref(), Some("client a"), "{member}: {text}");
        }
    }
    assert!(!world.at("out").exists());
}

#[test]
fn an_output_never_replaces_what_the_job_itself_reads() {
    let circuit = "1 3\n2 1 1\n1 1\n\n2 1 0 1 2 AND\n";
    let job = "protocol = \"rep3\"\ncircuit-file = \"c.txt\"\ninstances = 8\n[[inputs]]\nfrom = \"party0\"\n\
        [[inputs]]\nfrom = \"party1\"\n[[outputs]]\nto = [\"party2\"]\n";
    let world = World::of(job, &[("c.txt", circuit)]);
    let me = world.plan.outputs[0].1[0].clone();
    let identity = Identity::generate("party2").expect("a key");
    let mut config = MemberConfig::new(me, identity, None);
    // Not even with the permission to replace files of others.
    config.files.set_force(true);
    config.outputs.insert("0".into(), OutputPlace::File(world.at("c.txt")));
    let error = open(&world.prepared, &mut config).err().expect("the circuit is no output");
    assert!(error.kind() == Kind::Refused && error.cause().contains("overwrite the circuit"), "{error}");
    assert_eq!(fs::read_to_string(world.at("c.txt")).expect("it is there"), circuit);
}
