//! Phases of authenticated garbling that `party --prepare` makes ahead, and the runs that take them.

use crate::rehearsal::{Ended, Rehearsal};

const PARTIES: [&str; 2] = ["party0", "party1"];
const JOB: &str = r#"
protocol = "authgarble"
parties = 2
circuit = "less:32"
[[inputs]]
name = "a"
from = "party0"
sample = "0000002a"
[[inputs]]
name = "b"
from = "party1"
sample = "00000063"
[[outputs]]
name = "less"
to = ["party0", "party1"]
[parameters]
threads = 1
"#;

/// Both parties, with a shelf each.
fn world() -> Rehearsal {
    let world = Rehearsal::new(JOB);
    for party in PARTIES {
        world.edit(&format!("r/{party}.toml"), |text| {
            format!("{text}\n[authgarble]\nshelf = \"{party}.shelf\"\n")
        });
    }
    world
}

fn run(world: &Rehearsal, options: &str) -> Vec<Ended> {
    let start = |name: &'static str| {
        world.spawn(name, world.place.hushwire(&format!("{} {options}", Rehearsal::line(name))))
    };
    let all = world.end(PARTIES.into_iter().map(start).collect());
    all.iter().for_each(Ended::good);
    all
}

#[test]
fn a_garbled_circuit_that_waits_on_disk_serves_one_run() {
    let world = world();
    for ended in run(&world, "--prepare 1 --up-to function-dependent") {
        let done = "is done: garbled circuits for 1 run of less:32";
        assert!(ended.out.is_empty() && ended.err.contains(done), "{}: {}", ended.name, ended.err);
    }
    let taken = "the function-dependent phase is taken from disk by 1 of 1 threads";
    // Then there is none left, and the parties make what they need.
    for waits in [true, false] {
        for ended in run(&world, "") {
            assert_eq!(ended.err.contains(taken), waits, "{}: {}", ended.name, ended.err);
            assert_eq!(ended.out, "less=1\n", "{}", ended.name);
        }
    }
    let alone = world.place.ran(&format!("{} --up-to function-dependent", Rehearsal::line("party0")));
    assert!(alone.code == Some(2) && alone.err.contains("--prepare"), "{}", alone.err);
}

/// Who allows a job allows what is made ahead for it, and nothing for another.
#[test]
fn what_is_made_ahead_is_allowed_by_the_digest_of_its_job() {
    let world = world();
    let digest = world.place.ran("job digest job.toml").out.trim().to_owned();
    for ended in run(&world, &format!("--prepare 1 --allow {digest}")) {
        assert!(ended.err.contains("for 1 run of less:32"), "{}: {}", ended.name, ended.err);
    }
    world.edit("job.toml", |text| text.replace("less:32", "add:32").replace("\"less\"", "\"sum\""));
    let start = |name: &'static str| {
        let allow = if name == "party0" { format!(" --allow {digest}") } else { String::new() };
        world.spawn(name, world.place.hushwire(&format!("{} --prepare 1{allow}", Rehearsal::line(name))))
    };
    let all = world.end(PARTIES.into_iter().map(start).collect());
    assert!(all[0].code == Some(5) && all[0].error().contains("--allow"), "{}", all[0].error());
    all[1].blames("party0");
}
