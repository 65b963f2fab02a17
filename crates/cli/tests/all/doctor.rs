//! `hushwire doctor`: every member is a process with its own files, as on separate machines.

use crate::common::{Place, Ran};
use hushwire_testkit::Port;
use hushwire_wire::{Identity, Validity};
use serde_json::Value;
use std::{
    net::TcpListener,
    process::Child,
    thread::sleep,
    time::{Duration, SystemTime},
};

const WRONG: &str = "sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";
const JOB: &str = "protocol = \"rep3\"\ncircuit = \"less:32\"\n\
                   [[inputs]]\nname = \"a\"\nfrom = \"party0\"\n[[inputs]]\nname = \"b\"\nfrom = \"party1\"\n\
                   [[outputs]]\nname = \"less\"\nto = [\"party2\"]\n";

/// The keys and files of three parties and a client.
struct World {
    place: Place,
    pins: Vec<String>,
    ports: [Port; 3],
}

impl World {
    fn new() -> Self {
        let (place, mut pins) = (Place::new(), vec![]);
        for i in 0..4 {
            let identity = Identity::generate("a member").unwrap_or_else(|e| panic!("{e}"));
            pins.push(key(&place, i, &identity));
        }
        let ports = [(); 3].map(|()| Port::new());
        let world = Self { place, pins, ports };
        (0..4).for_each(|i| world.file(i, "", |text| text));
        world
    }

    /// Writes a member's file with changes. Parties are 0, 1 and 2, and the client is 3.
    fn file(&self, me: usize, more: &str, change: impl Fn(String) -> String) {
        let mut text = match me {
            3 => "name = \"alice\"\n".to_owned(),
            _ => format!("index = {me}\nlisten = \"{}\"\n", self.ports[me]),
        };
        text += &format!("key = \"{me}.pem\"\nconnect-timeout = \"30s\"\n");
        for peer in (0..3).filter(|peer| *peer != me) {
            let (port, pin) = (self.ports[peer].number(), &self.pins[peer]);
            text += &format!("[[peers]]\nindex = {peer}\naddress = \"127.0.0.1:{port}\"\npin = \"{pin}\"\n");
        }
        self.place.put(&format!("{me}.toml"), change(text + more).as_bytes());
    }

    /// Adds the client's table to a party's file.
    fn with_client(&self, me: usize) {
        self.file(me, &format!("[[peers]]\nclient = \"alice\"\npin = \"{}\"\n", self.pins[3]), |text| text);
    }

    /// Runs the doctors of these members at the same time, and returns their findings.
    fn doctors(&self, members: &[usize], seconds: u32) -> Vec<Found> {
        let children: Vec<_> = members.iter().map(|i| self.doctor(*i, seconds)).collect();
        children.into_iter().map(|child| Found::new(end(child))).collect()
    }

    fn doctor(&self, member: usize, seconds: u32) -> Child {
        self.place.start(&format!("doctor --config {member}.toml --seconds {seconds} --json -"))
    }
}

fn key(place: &Place, i: usize, identity: &Identity) -> String {
    let name = format!("{i}.pem");
    place.put(&name, identity.to_pem().as_bytes());
    identity.pin().to_string()
}

fn end(child: Child) -> Ran {
    Ran::new(child.wait_with_output().unwrap_or_else(|e| panic!("{e}")))
}

struct Found {
    ran: Ran,
    report: Value,
}

impl Found {
    fn new(ran: Ran) -> Self {
        let report =
            serde_json::from_str(&ran.out).unwrap_or_else(|e| panic!("{e}: {} {}", ran.out, ran.err));
        Self { ran, report }
    }

    /// Returns the check of that name whose subject begins like this.
    fn check(&self, subject: &str, check: &str) -> &Value {
        let mut all = self.report["checks"].as_array().unwrap_or_else(|| panic!("{}", self.ran.out)).iter();
        let is =
            |c: &&Value| c["check"] == check && c["subject"].as_str().is_some_and(|s| s.starts_with(subject));
        all.find(is).unwrap_or_else(|| panic!("{subject}: no {check} in {}", self.ran.out))
    }

    fn is(&self, subject: &str, check: &str, verdict: &str) -> String {
        let found = self.check(subject, check);
        assert_eq!(found["verdict"], verdict, "{subject}, {check}: {}", self.ran.out);
        format!("{} | {}", found["found"].as_str().unwrap_or(""), found["remedy"].as_str().unwrap_or(""))
    }
}

#[test]
fn three_doctors_and_a_client_measure_each_other() {
    let world = World::new();
    (0..3).for_each(|i| world.with_client(i));
    for (i, found) in world.doctors(&[0, 1, 2, 3], 30).iter().enumerate() {
        assert_eq!(found.ran.code, Some(0), "{} {}", found.ran.out, found.ran.err);
        assert_eq!(found.report["ok"], true);
        for peer in (0..3).filter(|peer| *peer != i) {
            let peer = format!("party {peer} at");
            for check in [
                "reachable",
                "pin",
                "certificate",
                "version",
                "clock",
                "round trip",
                "rate to it",
                "rate from it",
            ] {
                found.is(&peer, check, "ok");
            }
            for check in ["round trip", "rate to it", "rate from it"] {
                assert!(found.check(&peer, check)["value"].as_f64().is_some_and(|v| v > 0.0), "{check}");
            }
            assert!(found.check(&peer, "clock")["value"].as_f64().is_some_and(|v| v.abs() < 1.0));
            if i < 3 {
                found.is(&peer, "dials us", "ok");
                found.is("client alice", "dials us", "ok");
            }
        }
        for check in ["key", "certificate", "transport", "open files"] {
            found.is(if i < 3 { "party" } else { "client" }, check, "ok");
        }
    }
}

#[test]
fn a_wrong_pin_is_named_on_both_sides_and_spoils_nothing_else() {
    let world = World::new();
    world.file(1, "", |text| text.replace(&world.pins[0], WRONG));
    let found = world.doctors(&[0, 1, 2], 8);
    assert_eq!(found.iter().map(|f| f.ran.code).collect::<Vec<_>>(), [Some(3), Some(3), Some(0)]);
    let theirs = found[1].is("party 0 at", "pin", "fail");
    assert!(
        theirs.contains(&world.pins[0]) && theirs.contains(WRONG) && theirs.contains("1.toml"),
        "{theirs}"
    );
    let ours = found[0].is("party 1 at", "pin", "fail");
    assert!(ours.contains("refuses our certificate") && ours.contains(&world.pins[0]), "{ours}");
    found[0].is("party 2 at", "round trip", "ok");
    found[1].is("party 2 at", "rate to it", "ok");
    assert!(
        found[1].ran.err.starts_with("error: ") || found[1].ran.err.contains("\nerror: party 0"),
        "{}",
        found[1].ran.err
    );
}

#[test]
fn nobody_there_and_names_without_address() {
    let world = World::new();
    world.file(0, "", |text| text.replacen(&world.ports[2].to_string(), "nowhere.invalid:7000", 1));
    let found = &world.doctors(&[0], 1)[0];
    assert_eq!(found.ran.code, Some(3));
    let absent = found.is("party 1 at", "reachable", "fail");
    assert!(
        absent.contains("nobody listens") && absent.contains("start `hushwire doctor` there"),
        "{absent}"
    );
    let unnamed = found.is("party 2 at", "reachable", "fail");
    assert!(unnamed.contains("nowhere.invalid:7000 does not resolve"), "{unnamed}");

    let table = end(world.place.start("-q doctor --config 0.toml --seconds 1"));
    assert_eq!(table.code, Some(3));
    assert!(table.out.contains("FAIL  reachable") && table.out.contains("to do"), "{}", table.out);
    assert_eq!(table.err.lines().count(), 1, "{}", table.err);
    let missing = end(world.place.start("doctor --config nowhere.toml"));
    assert!(missing.code == Some(4) && missing.err.contains("nowhere.toml"), "{}", missing.err);
}

#[test]
fn a_certificate_that_has_ended() {
    let mut world = World::new();
    let day = Duration::from_secs(86_400);
    let now = SystemTime::now();
    let ended = Validity { not_before: now - 10 * day, not_after: now - day };
    let identity = Identity::generate_for("late", ended).unwrap_or_else(|e| panic!("{e}"));
    world.pins[0] = key(&world.place, 0, &identity);
    (1..3).for_each(|i| world.file(i, "", |text| text));
    // The other members start later.
    let first = world.doctor(0, 8);
    sleep(Duration::from_secs(1));
    let mut found = world.doctors(&[1, 2], 8);
    found.insert(0, Found::new(end(first)));
    assert_eq!(found.iter().map(|f| f.ran.code).collect::<Vec<_>>(), [Some(3); 3]);
    let own = found[0].is("party 0, this host", "certificate", "fail");
    assert!(own.contains("keys rotate ") && own.contains("0.pem"), "{own}");
    found[0].is("party 1 at", "pin", "ok");
    let theirs = found[1].is("party 0 at", "certificate", "fail");
    assert!(theirs.contains("keys rotate"), "{theirs}");
    found[1].is("party 2 at", "rate from it", "ok");
}

#[test]
fn a_party_that_waits_is_not_disturbed() {
    let world = World::new();
    world.place.put("job.toml", JOB.as_bytes());
    world.file(0, "[inputs]\na = { hex = \"0000002a\" }\n", |text| text);
    world.file(1, "[inputs]\nb = { hex = \"00000063\" }\n", |text| text);
    let parties: Vec<_> =
        [0, 1].map(|i| world.place.start(&format!("party job.toml --config {i}.toml"))).into();
    // The doctor runs twice, with keys that no other member knows.
    for _ in 0..2 {
        let found = &world.doctors(&[2], 15)[0];
        assert_eq!(found.ran.code, Some(0), "{} {}", found.ran.out, found.ran.err);
        for peer in ["party 0 at", "party 1 at"] {
            found.is(peer, "pin", "ok");
            found.is(peer, "version", "ok");
            assert!(found.is(peer, "round trip", "skipped").contains("waits in a run"));
        }
    }
    let address = world.ports[0].to_string();
    let pin = end(world.place.start(&format!("keys pin {address}")));
    assert_eq!((pin.out.trim(), pin.code), (world.pins[0].as_str(), Some(0)), "{}", pin.err);
    assert!(pin.err.contains("over another channel"), "{}", pin.err);

    let last = end(world.place.start("party job.toml --config 2.toml"));
    assert_eq!((last.out.trim(), last.code), ("less=1", Some(0)), "{}", last.err);
    for party in parties {
        let ran = end(party);
        assert_eq!(ran.code, Some(0), "{}", ran.err);
    }
}

#[test]
fn the_port_in_use_is_a_warning() {
    let world = World::new();
    let held = TcpListener::bind(world.ports[0].to_string()).unwrap_or_else(|e| panic!("{e}"));
    let found = world.doctors(&[0, 1], 3);
    let port = found[0].is("party 0, this host", "port", "warn");
    assert!(port.contains("held by another process"), "{port}");
    // A listener accepts the connection, and sends nothing.
    assert_eq!(found[1].check("party 0 at", "reachable")["verdict"], "fail", "{}", found[1].ran.out);
    drop(held);
}
