//! From nothing to a run: `hushwire init` at each member in its own directory, cards that members
//! send to each other, and `hushwire job new`.

use crate::{
    common::{Place, Ran, bad, good},
    rehearsal::{Ended, Rehearsal},
};
use hushwire_testkit::Port;
use serde_json::Value;
use std::{fs, process::Stdio};

const MEMBERS: [&str; 5] = ["party0", "party1", "party2", "alice", "bob"];

/// A directory for each member with its key and card, and the job of a query.
struct World {
    place: Place,
    _ports: [Port; 3],
}

impl World {
    fn new() -> Self {
        let (place, ports) = (Place::new(), Port::row::<3>());
        place.put("t.csv", b"id,n\n1,5\n2,7\n");
        place.put("u.csv", b"id,city\n1,Bern\n2,Basel\n");
        place.put("q.sql", b"SELECT city, n\nFROM t JOIN u ON t.id = u.id\nORDER BY city\n");
        good(&place, "table describe u.csv --schema u.toml");
        let tables = "--table t=t.csv@alice --table u=2@bob --schema u.toml --key t=id --key u=id";
        let ran = good(&place, &format!("job new query --sql-file q.sql {tables} --to alice --out job.toml"));
        let told = "a job of kind query for party 0, party 1, party 2, client alice, client bob, with the digest blake3:";
        assert!(ran.err.contains(told), "{}", ran.err);
        for (at, name) in MEMBERS.iter().enumerate() {
            let address = ports.get(at).map(|port| format!("--address 127.0.0.1:{}", port.number()));
            let listen = ports.get(at).map(|port| format!("--listen 127.0.0.1:{}", port.number()));
            let (address, listen) = (address.unwrap_or_default(), listen.unwrap_or_default());
            let ran = good(&place, &format!("init --member {name} {address} {listen} --dir {name}"));
            assert!(ran.out.is_empty() && ran.err.contains("send it to the other members"), "{}", ran.err);
        }
        Self { place, _ports: ports }
    }

    /// Sends a member's card to another member.
    fn send(&self, from: &str, to: &str) {
        self.place.put(&format!("{to}/{from}.card"), &self.place.get(&format!("{from}/{from}.card")));
    }

    fn send_all(&self) {
        for from in MEMBERS {
            MEMBERS.iter().filter(|to| **to != from).for_each(|to| self.send(from, to));
        }
    }

    fn init(&self, name: &str, options: &str) -> String {
        format!("init --dir {name} --job job.toml {options}")
    }
}

#[test]
fn members_set_themselves_up_and_run() {
    let world = World::new();
    let place = &world.place;
    // One card is missing, so nothing is written, and the output names its member.
    for from in ["party1", "party2", "alice"] {
        world.send(from, "party0");
    }
    let report = good(place, &world.init("party0", "--json -")).out;
    let report: Value = serde_json::from_str(&report).unwrap_or_else(|e| panic!("{e}: {report}"));
    assert_eq!((&report["missing"][0], &report["file"]), (&"client:bob".into(), &Value::Null));
    assert!(!place.at("party0/party0.toml").exists());
    world.send_all();
    let codes: Vec<String> = MEMBERS.iter().map(|name| good(place, &world.init(name, "")).out).collect();
    assert!(codes.iter().all(|code| *code == codes[0]), "{codes:?}");
    let digits = codes[0].trim().split(' ').map(str::len).collect::<Vec<_>>();
    assert_eq!(digits, [5; 8], "{codes:?}");
    for name in MEMBERS {
        assert_eq!(place.mode(&format!("{name}/{name}.toml")), 0o600);
        // Running it again changes nothing.
        let report = good(place, &world.init(name, "--json -")).out;
        let report: Value = serde_json::from_str(&report).unwrap_or_else(|e| panic!("{e}: {report}"));
        assert_eq!(report["code"], codes[0].trim());
    }
    fs::copy(place.at("t.csv"), place.at("alice/t.csv")).unwrap_or_else(|e| panic!("{e}"));
    fs::copy(place.at("u.csv"), place.at("bob/u.csv")).unwrap_or_else(|e| panic!("{e}"));
    let start = |name: &str| {
        let command = if name.starts_with("party") { "party" } else { "client" };
        let mut command = place.hushwire(&format!("{command} job.toml --config {name}/{name}.toml"));
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap_or_else(|e| panic!("{e}"))
    };
    let children: Vec<_> = MEMBERS.iter().map(|name| (*name, start(name))).collect();
    for (name, child) in children {
        let ran = Ran::new(child.wait_with_output().unwrap_or_else(|e| panic!("{e}")));
        assert_eq!(ran.code, Some(0), "{name}: {}", ran.err);
        if name == "alice" {
            assert!(ran.out.contains("Basel") && ran.out.contains('7'), "{}", ran.out);
        }
    }
}

/// A party that replaces party 1's card by its own is noticed, because the code differs.
#[test]
fn a_card_that_was_exchanged_shows_in_the_code() {
    let world = World::new();
    let place = &world.place;
    world.send_all();
    good(place, "init --member party1 --address 127.0.0.1:9 --dir mallory");
    place.put("alice/party1.card", &place.get("mallory/party1.card"));
    let honest = good(place, &world.init("party0", "")).out;
    let deceived = good(place, &world.init("alice", "")).out;
    assert_ne!(honest, deceived);
    // Party 1 notices it at once. Two different cards of one member are refused anywhere.
    place.put("party1/other.card", &place.get("mallory/party1.card"));
    bad(place, &world.init("party1", ""), 5, &["is a card of this member, with another key or address"]);
    place.put("party2/other.card", &place.get("mallory/party1.card"));
    bad(place, &world.init("party2", ""), 5, &["two cards are of party 1"]);
}

#[test]
fn what_init_cannot_do_is_said() {
    let place = Place::new();
    place.put("job.toml", b"kind = \"psi\"\nkey = \"email\"\n");
    for (args, code, words) in [
        ("init", 2, "--member"),
        ("init --member party0", 2, "--address"),
        ("init --member alice --address h:1", 2, "dials, and needs none"),
        ("init --member data:x --address h:1", 2, "has no file"),
        ("init --member party0 --address h", 2, "host:port"),
        ("init --member alice --job job.toml", 2, "is no member of job.toml"),
        ("init --member party0 --address h:1 nowhere.card", 4, "nowhere.card"),
        ("init --member party0 --address h:1 party0.pem", 4, "party0.pem"),
    ] {
        bad(&place, args, code, &[words]);
    }
    // A file that its owner has changed is only replaced with --force, and a key is never replaced.
    good(&place, "init --member party1 --address h:2 --dir other");
    let key = place.get("party0.pem");
    let code = good(&place, "init --member party0 --address h:1 other/party1.card").out;
    assert!(String::from_utf8_lossy(&place.get("party0.toml")).contains("listen = \"0.0.0.0:1\""));
    place.put("party0.toml", b"mine");
    bad(&place, "init --member party0 other/party1.card", 5, &["party0.toml"]);
    assert_eq!(good(&place, "init --member party0 other/party1.card --force").out, code);
    assert_eq!(place.get("party0.pem"), key);
}

#[test]
fn jobs_are_written_from_computations_and_keys() {
    let place = Place::new();
    let bill = fs::read(concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/compute/bill.hwc"));
    place.put("bill.hwc", &bill.unwrap_or_else(|e| panic!("{e}")));
    good(&place, "job new compute bill.hwc --member shop=party1 --member client=ann --out bill.toml");
    let shown = good(&place, "job show bill.toml").out;
    assert!(shown.contains("client ann") || shown.contains("client:ann"), "{shown}");
    let text = good(&place, "job new psi --key email --key-b mail --normalise email --to party0").out;
    place.put("psi.toml", text.as_bytes());
    assert!(good(&place, "job show psi.toml").out.contains("mail"));
    for (args, code, words) in [
        ("job new compute bill.hwc --member nobody=ann", 2, "the computation has"),
        ("job new compute - ", 2, "name one"),
        ("job new psi --key email --reveal all", 4, "reveal"),
        ("job new query --sql SELECT --table t=5@a", 2, "no --schema declares its columns"),
    ] {
        bad(&place, args, code, &[words]);
    }
    // A job file is only replaced with --force.
    let again = "job new psi --key email --out bill.toml";
    bad(&place, again, 5, &["bill.toml"]);
    good(&place, &format!("{again} --force"));
}

/// Each job file can be read and says who learns what. A job that can run on one machine gives the
/// result.
#[test]
fn jobs_of_other_kinds_are_written() {
    let place = Place::new();
    let less = "job new circuit less:32 --input a=party0 --input b=ann --output less=party1,bob";
    good(&place, &format!("{less} --out less.toml"));
    let shown = good(&place, "job show less.toml").out;
    assert!(shown.contains("ann") && shown.contains("bob"), "{shown}");
    let ran = good(&place, "local run -q less.toml --inputs a=00000002,b=00000003");
    assert_eq!(ran.out.trim(), "less=1");
    // Without names, the job takes the names of the circuit. Each party brings one input, and all
    // learn the outputs.
    good(&place, "job new circuit add:8 --protocol authgarble:4 --out add.toml");
    assert!(good(&place, "job show add.toml").out.contains("party3"));
    good(&place, "job new draw --parties 2 --numbers 3 --from 7 --to 9 --out draw.toml");
    assert!(good(&place, "job show draw.toml").out.contains('9'));
    good(&place, "job new aes-ctr --owner ann --decrypt --out file.toml");
    let text = String::from_utf8_lossy(&place.get("file.toml")).into_owned();
    assert!(
        text.contains("owner = \"client:ann\"\ndirection = \"decrypt\"") && text.contains("key = \"kept\"")
    );
    good(&place, "job show file.toml");
    good(&place, "circuit make less:8 --out own.txt");
    for (args, code, words) in [
        ("job new circuit less:32 --input a=party0", 2, "the circuit has 2"),
        ("job new circuit less:32 --input a=party0 --input b=party7", 4, "party7"),
        ("job new circuit less:32 --protocol yao --input a=party0 --input b=ann", 2, "has no clients"),
        ("job new draw --numbers 3 --to 2", 4, "numbers"),
        ("job new circuit own.txt --out absent/job.toml", 4, "cannot write absent/job.toml"),
        ("job new aes-ctr --owner party0", 4, "owner"),
    ] {
        bad(&place, args, code, &[words]);
    }
}

#[test]
fn a_draw_is_rehearsed_in_one_directory() {
    let world = Rehearsal::new("kind = \"draw\"\nparties = 3\nnumbers = 4\nfrom = 10\nto = 99\n");
    let all = world.end(world.start_all(&["party0", "party1", "party2"]));
    all.iter().for_each(Ended::good);
    // Each party writes a file of its own.
    let drawn: Vec<Vec<u8>> =
        (0..3).map(|party| world.place.get(&format!("r/party{party}-drawn.txt"))).collect();
    assert_eq!(drawn[0].iter().filter(|byte| **byte == b'\n').count(), 4);
    assert!(drawn.iter().all(|numbers| *numbers == drawn[0]));
    let ran = world.place.ran("local run job.toml");
    assert_eq!(ran.code, Some(2), "{}", ran.err);
    assert_eq!(ran.err.matches("local files").count(), 1, "{}", ran.err);
}
