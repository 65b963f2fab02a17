//! `party` and `client`: every member is a process with its own files, as on separate machines.

use crate::common::{Place, Ran};
use hushwire_testkit::Port;
use std::{
    collections::BTreeMap,
    process::{Child, Command},
};

const JOB: &str = r#"
protocol = "rep3"
circuit = "add:16"
[[inputs]]
name = "a"
from = "client:alice"
[[inputs]]
name = "b"
from = "party1"
[[outputs]]
name = "sum"
to = ["party2", "client:bob"]
"#;
const ALL: [&str; 5] = ["party0", "party1", "party2", "alice", "bob"];

/// The keys and files of all members.
struct World {
    place: Place,
    pins: BTreeMap<&'static str, String>,
    ports: [Port; 3],
}

impl World {
    fn new(job: &str) -> Self {
        let place = Place::new();
        place.put("job.toml", job.as_bytes());
        let mut pins = BTreeMap::new();
        for name in ALL {
            pins.insert(name, place.put_key(&format!("{name}.pem"), name));
        }
        let ports = [(); 3].map(|()| Port::new());
        let world = Self { place, pins, ports };
        for name in ALL {
            world.file(name, |text| text);
        }
        world
    }

    /// Writes a member's file with changes.
    fn file(&self, name: &str, change: impl Fn(String) -> String) {
        let mut text = match name.strip_prefix("party") {
            Some(index) => {
                let port = self.ports[index.parse::<usize>().unwrap_or(0)].number();
                format!("index = {index}\nlisten = \"127.0.0.1:{port}\"\n")
            }
            None => format!("name = \"{name}\"\n"),
        };
        text += &format!("key = \"{name}.pem\"\nconnect-timeout = \"20s\"\n");
        for (peer, pin) in self.pins.iter().filter(|(peer, _)| **peer != name) {
            match peer.strip_prefix("party") {
                Some(index) => {
                    let port = self.ports[index.parse::<usize>().unwrap_or(0)].number();
                    text += &format!(
                        "[[peers]]\nindex = {index}\naddress = \"127.0.0.1:{port}\"\npin = \"{pin}\"\n"
                    );
                }
                None if name.starts_with("party") => {
                    text += &format!("[[peers]]\nclient = \"{peer}\"\npin = \"{pin}\"\n");
                }
                None => {}
            }
        }
        match name {
            "alice" => text += "[inputs]\na = { hex = \"ffff\" }\n",
            "party1" => text += "[inputs]\nb = { hex-file = \"b.hex\" }\n",
            "party2" => text += "[outputs]\nsum = { hex-file = \"sum.hex\" }\n",
            _ => {}
        }
        self.place.put("b.hex", b"0002\n");
        self.place.put(&format!("{name}.toml"), change(text).as_bytes());
    }

    fn start(&self, name: &str, options: &str) -> Child {
        let command = if name.starts_with("party") { "party" } else { "client" };
        self.place.start(&format!("{command} job.toml --config {name}.toml {options}"))
    }

    /// Runs all members to their ends.
    fn run(&self, names: &[&'static str], options: impl Fn(&str) -> String) -> BTreeMap<&'static str, Ran> {
        let running: Vec<_> = names.iter().map(|name| (*name, self.start(name, &options(name)))).collect();
        let ended = running.into_iter().map(|(name, child)| {
            (name, Ran::new(child.wait_with_output().unwrap_or_else(|e| panic!("{e}"))))
        });
        ended.collect()
    }
}

#[test]
fn three_parties_and_two_clients() {
    let world = World::new(JOB);
    // Two runs one after the other. Every session draws fresh keys.
    for options in ["--run monday", "--run monday --json -"] {
        let ended = world.run(&ALL, |_| options.to_owned());
        for (name, ran) in &ended {
            assert_eq!(ran.code, Some(0), "{name}: {}", ran.err);
            if options.contains("json") {
                let report: serde_json::Value = serde_json::from_str(&ran.out).unwrap_or_default();
                let sum = if *name == "bob" { "10001".into() } else { serde_json::Value::Null };
                assert_eq!(report["outputs"]["sum"], sum, "{name}: {report}");
                assert!(report["bytes_sent"].as_u64() > Some(0), "{name}: {report}");
                let [command, member] = if name.starts_with("party") {
                    ["party".to_owned(), (*name).to_owned()]
                } else {
                    ["client".to_owned(), format!("client:{name}")]
                };
                assert_eq!((&report["command"], &report["member"]), (&command.into(), &member.into()));
            } else {
                assert_eq!(ran.out, if *name == "bob" { "sum=10001\n" } else { "" }, "{name}");
            }
            assert!(ran.err.contains("waits for") && ran.err.contains("is done"), "{}", ran.err);
        }
        assert_eq!(world.place.get("sum.hex"), b"10001\n");
        assert_eq!(world.place.mode("sum.hex"), 0o600);
        // Alice's file contains her input, and everybody can read it.
        assert!(ended["alice"].err.contains("chmod 600"), "{}", ended["alice"].err);
        assert!(!ended["bob"].err.contains("chmod"), "{}", ended["bob"].err);
    }
}

/// Party 0's file has two addresses in the wrong order. No other member is blamed, and no remedy
/// leads in a circle.
#[test]
fn addresses_that_are_swapped_are_said_to_be() {
    let world = World::new(JOB);
    for name in ALL {
        world.file(name, |text| text.replace("20s", "8s"));
    }
    let [one, two] = [1, 2].map(|i: usize| world.ports[i].to_string());
    world.file("party0", |text| text.replace(&one, "ONE").replace(&two, &one).replace("ONE", &two));
    let ended = world.run(&ALL, |_| String::new());
    for (name, ran) in &ended {
        assert_eq!(ran.code, Some(3), "{name}: {}", ran.err);
        assert!(!ran.err.contains("was refused during"), "{name}: {}", ran.err);
    }
    let error = &ended["party0"].err;
    let words = ["came with the key of party", "addresses", "party 1", "party 2", "this member's file"];
    words.iter().for_each(|word| assert!(error.contains(word), "no {word:?} in {error}"));
}

#[test]
fn runs_with_other_labels_do_not_mix() {
    let world = World::new(JOB);
    let ended = world.run(&ALL, |name| format!("--run {}", if name == "party1" { "b" } else { "a" }));
    for (name, ran) in &ended {
        assert_eq!(ran.code, Some(3), "{name}: {}", ran.err);
    }
    assert!(ended["party1"].err.contains("--run"), "{}", ended["party1"].err);
}

#[test]
fn files_that_do_not_fit_are_named() {
    let world = World::new(JOB);
    let run = |name: &str| {
        let ran = Ran::new(world.start(name, "").wait_with_output().unwrap_or_else(|e| panic!("{e}")));
        assert!(ran.out.is_empty());
        ran
    };
    for (name, from, to, code, words) in [
        ("alice", "a = {", "aa = {", 2, &["`aa`", "`a`", "client alice"][..]),
        ("alice", "[inputs]", "[input]", 4, &["alice.toml, line", "`input`", "`inputs`"]),
        ("alice", "hex = \"ffff\"", "file = \"gone\"", 4, &["gone", "client alice"]),
        ("alice", "hex = \"ffff\"", "hex = \"ff\"", 2, &["input a", "4"]),
        ("alice", "name = \"alice\"", "name = \"carol\"", 2, &["carol"]),
        ("party1", "b.hex", "gone.hex", 4, &["gone.hex", "party 1"]),
        ("party1", "party1.pem", "gone.pem", 4, &["gone.pem", "hushwire keys init"]),
        ("party1", "party1.pem", "job.toml", 4, &["job.toml", "PEM"]),
        ("party2", "sum = {", "sun = {", 2, &["`sun`", "`sum`"]),
        ("party2", "sum.hex", "no/such", 4, &["no/such", "party 2"]),
        ("party2", "client = \"bob\"", "client = \"rob\"", 2, &["client bob", "[[peers]]"]),
        ("party2", "index = 2", "index = 1", 4, &["itself"]),
    ] {
        // No other member is there to be told.
        world.file(name, |text| text.replacen(from, to, 1).replace("20s", "200ms"));
        let ran = run(name);
        assert_eq!(ran.code, Some(code), "{to}: {}", ran.err);
        words.iter().for_each(|word| assert!(ran.err.contains(word), "{to}: no {word:?} in: {}", ran.err));
        world.file(name, |text| text);
    }
    let ran = Ran::new(
        Command::new(env!("CARGO_BIN_EXE_hushwire"))
            .args(["party", "x.toml"])
            .output()
            .unwrap_or_else(|e| panic!("{e}")),
    );
    assert_eq!(ran.code, Some(2));
    assert!(ran.err.contains("--config"), "{}", ran.err);
}
