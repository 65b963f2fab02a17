//! Inference as a job of members that each start their own process: an agreed network, and a member
//! that is killed during a layer.

use crate::{
    common::Place,
    documented::check,
    infer::{FIELDS, places, wrapping},
    rehearsal::{Ended, Rehearsal, Running},
};
use hushwire_nn::{Array, Floats, Network, npy, onnx::Model, zoo};
use std::{
    thread::sleep,
    time::{Duration, Instant},
};

pub(crate) const THREE: [&str; 5] = ["party0", "party1", "party2", "lab", "ann"];
pub(crate) const TWO: [&str; 2] = ["party0", "party1"];

/// Writes the files of all members for a published network, and returns its output in floating
/// point. `members` are [`THREE`] or [`TWO`], the last two of which are owner and client. `terms`
/// are further lines of the job.
pub(crate) fn world(members: &[&str], terms: &str) -> (Rehearsal, Array) {
    world_of(zoo::make("squeezenet-cifar", 1).expect("a network"), members, terms)
}

/// Like [`world`], for a network of images of 32 by 32 pixels.
pub(crate) fn world_of(made: Model, members: &[&str], terms: &str) -> (Rehearsal, Array) {
    let input = zoo::sample(&[1, 3, 32, 32], 2);
    let place = Place::new();
    place.put("m.onnx", &made.to_bytes());
    let ran = place.ran("model plan m.onnx --out network.hwc");
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let who = if members.len() == 2 {
        "--protocol two --owner party0 --client party1"
    } else {
        "--owner lab --client ann"
    };
    let ran = place.ran(&format!("job new infer network.hwc {who}"));
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let job = ran.out + terms;
    let world = Rehearsal::within(place, &job);
    world.place.put("r/model.onnx", &made.to_bytes());
    world.place.put("r/input.npy", &npy::write(&input));
    members.iter().for_each(|name| world.set(name, "connect-timeout = \"30s\""));
    let network = Network::new(made, Some(&input.lengths)).expect("a network");
    let floats = Floats::new(&network, &input, true).expect("values");
    let expected = floats.value(network.outputs[0].1).clone();
    (world, expected)
}

/// Writes the files of all members for a run in which one will be missing.
pub(crate) fn broken(members: &[&str]) -> Rehearsal {
    world(members, "").0
}

/// Checks that the client's output is near the network's, up to the rounding of fixed point.
fn right(world: &Rehearsal, expected: &Array) {
    near(&world.place.get("r/output.npy"), expected);
}

/// Checks the same for the file of an output.
pub(crate) fn near(file: &[u8], expected: &Array) {
    let found = npy::read(file).expect("an array");
    assert_eq!(found.lengths, expected.lengths);
    let greatest = expected.data.iter().fold(0f32, |most, x| most.max(x.abs()));
    for (x, y) in found.data.iter().zip(&expected.data) {
        assert!((x - y).abs() < 0.05 * greatest, "{x} for {y} of {greatest}");
    }
}

fn take(running: &mut Vec<Running>, name: &str) -> Running {
    let at = running.iter().position(|member| member.name == name).unwrap_or_else(|| panic!("{name}"));
    running.remove(at)
}

/// Returns whether a process has a thread that makes OTs ahead of their use; `None` if the system
/// does not tell.
fn makes_ots_ahead(pid: u32) -> Option<bool> {
    let tasks = std::fs::read_dir(format!("/proc/{pid}/task")).ok()?.flatten();
    // A thread may end meanwhile.
    let name = |task: std::fs::DirEntry| std::fs::read_to_string(task.path().join("comm")).ok();
    Some(tasks.filter_map(name).any(|name| name.trim_end() == "ots ahead"))
}

/// Kills each of `victims` some time after all have met. With `ahead`, the victim has a thread that
/// makes OTs, and the kill comes after its start. The survivors name the victim and have no output.
/// A run that had ended has its whole output.
fn killed(members: &[&'static str], terms: &str, ahead: bool, victims: &[(&str, u64)]) {
    let (world, expected) = world(members, terms);
    let mut in_time = 0;
    for (victim, wait) in victims {
        let _ = std::fs::remove_file(world.place.at("r/output.npy"));
        let mut running = world.start_all(members);
        let parties: Vec<&str> = members.iter().copied().filter(|name| name.starts_with("party")).collect();
        world.until_said(&parties, "all members are connected");
        let member = running.iter_mut().find(|member| member.name == *victim).expect("it runs");
        let (pid, met) = (member.pid(), Instant::now());
        while ahead && makes_ots_ahead(pid) == Some(false) && member.lives() {
            assert!(met.elapsed() < Duration::from_mins(2), "{victim} makes no OTs ahead");
            sleep(Duration::from_millis(1));
        }
        sleep(Duration::from_millis(*wait));
        assert!(ahead || makes_ots_ahead(pid) != Some(true), "{victim} makes OTs ahead");
        let begun = Instant::now();
        let ended = take(&mut running, victim).kill().is_some();
        let all = world.end_within(running, begun, Duration::from_mins(2));
        if ended || all.iter().all(|member| member.code == Some(0)) {
            all.iter().for_each(Ended::good);
            right(&world, &expected);
            continue;
        }
        in_time += 1;
        all.iter().filter(|member| member.code != Some(0)).for_each(|member| member.blames(victim));
        let learns = members[members.len() - 1];
        let whole = all.iter().any(|member| member.name == learns && member.code == Some(0));
        assert!(whole || !world.place.at("r/output.npy").exists(), "an output of a run without {victim}");
    }
    assert!(in_time > 0, "every kill came after the end of the inference");
}

#[test]
fn members_of_an_inference_end_well_with_three_parties_and_without() {
    for members in [&THREE[..], &TWO] {
        let (world, expected) = world(members, "");
        let line = |name: &&'static str| {
            world.spawn(name, world.place.hushwire(&format!("{} --json -", Rehearsal::line(name))))
        };
        let all = world.end(members.iter().map(line).collect());
        all.iter().for_each(Ended::good);
        right(&world, &expected);
        for command in ["party", "client"] {
            let of = all.iter().filter(|member| member.name.starts_with("party") == (command == "party"));
            let reports: Vec<serde_json::Value> =
                of.map(|member| serde_json::from_str(&member.out).expect(member.name)).collect();
            if !reports.is_empty() {
                check(FIELDS[0], FIELDS[1], command, &[], &reports.iter().collect::<Vec<_>>());
            }
        }
    }
}

#[test]
fn a_member_that_is_killed_in_the_midst_of_a_layer_is_named_by_all_three_parties() {
    killed(&THREE, "", false, &[("party1", 100), ("lab", 1), ("party0", 600)]);
}

#[test]
fn an_owner_or_a_client_that_is_killed_in_the_midst_of_a_layer_is_named_by_the_other() {
    killed(&TWO, "ahead = \"no\"\n", false, &[("party0", 700), ("party1", 1500)]);
}

#[test]
fn an_owner_or_a_client_that_is_killed_while_it_makes_ots_ahead_is_named_by_the_other() {
    killed(&TWO, "ahead = \"yes\"\n", true, &[("party0", 1), ("party1", 100), ("party0", 700)]);
}

/// Runs a model on an input with all members. The client names no file for the output.
fn shown(model: &[u8], shape: &str, input: &[u8], calibration: &[u8]) -> Vec<Ended> {
    let place = Place::new();
    place.put("m.onnx", model);
    let ran = place.ran(&format!("model plan m.onnx --out network.hwc --shape {shape}"));
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let job =
        "kind = \"infer\"\nnetwork = \"network.hwc\"\nowner = \"client:lab\"\nclient = \"client:ann\"\n";
    let world = Rehearsal::within(place, job);
    world.place.put("r/model.onnx", model);
    world.place.put("r/input.npy", input);
    world.place.put("r/calibration.npy", calibration);
    world.edit("r/lab.toml", |old| {
        old.replace("[inputs]", "[inputs]\ncalibration = { file = \"calibration.npy\" }")
    });
    world.edit("r/ann.toml", |old| old.replace("[outputs]\noutput = { file = \"output.npy\" }\n", ""));
    let all = world.end(world.start_all(&THREE));
    all.iter().for_each(Ended::good);
    all
}

fn out_of<'a>(all: &'a [Ended], name: &str) -> &'a str {
    &all.iter().find(|member| member.name == name).expect(name).out
}

#[test]
fn a_client_without_a_file_is_shown_the_classes_that_a_model_finds() {
    let (model, input) = places(false);
    let all = shown(&model, "3,3", &input, &input);
    assert_eq!(out_of(&all, "ann"), "input 0\n      2\ninput 1\n      0\ninput 2\n      1\n");
    assert_eq!(out_of(&all, "lab"), "");
}

/// A wrap of values depends on both the model and the input, so no member learns of it.
#[test]
fn members_are_not_told_that_values_wrap() {
    let (model, [small, large]) = wrapping();
    let all = shown(&model, "1,4", &large, &small);
    assert!(out_of(&all, "ann").starts_with("input 0\n"));
    all.iter().for_each(|member| assert!(!member.err.contains("wrap"), "{}: {}", member.name, member.err));
}
