//! `hushwire psi`: a list that is published once, and queries to its owner. Each side is a process
//! with its own files.

use crate::common::{Place, Ran};
use hushwire_machine::{Net, PartyId};
use hushwire_psi::oprf::{List, ListTerms};
use hushwire_testkit::Port;
use hushwire_wire::{Identity, PeerConfig, SessionConfig, TransportKind, connect};
use std::{
    fs::Permissions,
    net::TcpListener,
    os::unix::fs::PermissionsExt,
    process::Child,
    time::{Duration, Instant},
};

/// The longest time of a run in any case.
const LONG: Duration = Duration::from_secs(60);
const PUBLISH: &str =
    "psi publish --in all.csv --key email --normalise email --secret all.key --out all.list";

struct World {
    place: Place,
    port: Port,
    pins: [String; 2],
}

impl World {
    /// Makes a published list of 300 addresses, and a query of six, four of which are in the list.
    fn new() -> Self {
        let place = Place::new();
        let pins = ["owner", "asker"].map(|name| place.put_key(&format!("{name}.pem"), name));
        let all: String = (0..300).map(|i| format!("{i},User{i}@x.org\n")).collect();
        place.put("all.csv", format!("id,email\n{all}").as_bytes());
        let mine = "mail,note\nuser7@x.org,a\nuser300@x.org,b\n USER299@X.org ,c\nnone,d\nuser0@x.org,e\nuser7@X.org,f\n";
        place.put("mine.csv", mine.as_bytes());
        let world = Self { place, port: Port::new(), pins };
        let ran = world.place.ran(PUBLISH);
        assert!(ran.code == Some(0) && ran.err.contains("300 keys published"), "{}", ran.err);
        world
    }

    fn answer(&self, options: &str) -> Child {
        let [_, asker] = &self.pins;
        let link = format!("--listen {} --identity owner.pem --pin {asker}", self.port);
        self.place.start(&format!("psi answer --secret all.key {link} --queries 1 {options}"))
    }

    fn query(&self, options: &str) -> Ran {
        let [owner, _] = &self.pins;
        let link = format!("--connect {} --identity asker.pem --pin {owner} --wait 20", self.port);
        let keys = "--in mine.csv --key mail --normalise email --list all.list";
        ended(self.place.start(&format!("psi query {keys} {link} {options}")))
    }
}

fn ended(mut child: Child) -> Ran {
    let begun = Instant::now();
    while child.try_wait().unwrap_or_else(|e| panic!("{e}")).is_none() {
        if begun.elapsed() > LONG {
            let killed = child.kill().and_then(|()| child.wait());
            panic!("a side did not end within {LONG:?} and was killed: {killed:?}");
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    Ran::new(child.wait_with_output().unwrap_or_else(|e| panic!("{e}")))
}

#[test]
fn who_asks_learns_which_of_its_rows_are_in_the_list() {
    let world = World::new();
    let owner = world.answer("");
    let ran = world.query("");
    assert_eq!(
        ran.out, "mail,note\nuser7@x.org,a\n USER299@X.org ,c\nuser0@x.org,e\nuser7@X.org,f\n",
        "{}",
        ran.err
    );
    assert!(ran.err.contains("3 of 4 keys are in the list of 300"), "{}", ran.err);
    let owner = ended(owner);
    assert!(owner.code == Some(0) && owner.err.contains("answered 4 keys"), "{}", owner.err);
    let owner = world.answer("--most 3");
    let ran = world.query("--out known.csv");
    assert_eq!(ran.code, Some(3), "{}", ran.err);
    assert!(ran.err.contains("answers 3 keys at once, and these are 4"), "{}", ran.err);
    assert!(ended(owner).err.contains("refused a query: more keys than --most"));
    assert!(!world.place.at("known.csv").exists(), "nothing is left of a query that was refused");
    let owner = world.answer("--per-hour 2");
    assert!(world.query("").err.contains("answers 2 more keys for now, and these are 4"));
    drop(ended(owner));
}

/// Many askers at the same time all get answers, and share the budget of an hour.
#[test]
fn queries_at_the_same_time_are_all_answered_from_one_budget() {
    const ASKERS: usize = 6;
    let world = World::new();
    let [owner_pin, asker_pin] = &world.pins;
    let ask = || {
        let link = format!("--connect {} --identity asker.pem --pin {owner_pin} --wait 50", world.port);
        let keys = "--in mine.csv --key mail --normalise email --list all.list";
        let all: Vec<_> =
            (0..ASKERS).map(|_| world.place.start(&format!("psi query {keys} {link}"))).collect();
        all.into_iter().map(ended).collect::<Vec<_>>()
    };
    let answer = |per_hour: u64| {
        let link = format!("--listen {} --identity owner.pem --pin {asker_pin}", world.port);
        let limits = format!("--queries {ASKERS} --per-hour {per_hour}");
        world.place.start(&format!("psi answer --secret all.key {link} {limits}"))
    };
    let owner = answer(10_000);
    for ran in ask() {
        assert_eq!(ran.code, Some(0), "{}", ran.err);
        assert_eq!(ran.out, "mail,note\nuser7@x.org,a\n USER299@X.org ,c\nuser0@x.org,e\nuser7@X.org,f\n");
    }
    let owner = ended(owner);
    assert_eq!(
        (owner.code, owner.err.matches("answered 4 keys").count()),
        (Some(0), ASKERS),
        "{}",
        owner.err
    );
    // Two queries of four keys each, and two keys for a third, in any order.
    let owner = answer(10);
    let (answered, refused): (Vec<_>, Vec<_>) = ask().into_iter().partition(|ran| ran.code == Some(0));
    assert_eq!(answered.len(), 2, "{:?}", refused.iter().map(|ran| &ran.err).collect::<Vec<_>>());
    for ran in refused {
        let told = ran.err.contains("answers 2 more keys for now, and these are 4");
        assert!(ran.code == Some(3) && told, "{}", ran.err);
    }
    let owner = ended(owner);
    assert_eq!(owner.err.matches("answered 4 keys").count(), 2, "{}", owner.err);
    assert_eq!(owner.err.matches("2 keys are left of --per-hour").count(), ASKERS - 2, "{}", owner.err);
}

/// Connects to the owner without a query.
fn connected(world: &World) -> Net {
    let list = List::open(&world.place.at("all.list")).unwrap_or_else(|e| panic!("{e}"));
    let terms = ListTerms { public: list.public(), forms: list.forms().to_owned() };
    let pem = String::from_utf8(world.place.get("asker.pem")).unwrap_or_else(|e| panic!("{e}"));
    let identity = Identity::from_pem(&pem).unwrap_or_else(|e| panic!("{e}"));
    let pin = world.pins[0].parse().unwrap_or_else(|e| panic!("{e}"));
    let owner = PeerConfig { id: PartyId(0), address: Some(world.port.to_string()), pin };
    let session = hushwire::job::session_of("hushwire psi query");
    let config = SessionConfig {
        job_digest: terms.digest(),
        connect_timeout: LONG,
        ..SessionConfig::new(PartyId(1), session, vec![owner], TransportKind::TcpTls)
    };
    connect(&config, &identity, None).unwrap_or_else(|e| panic!("{e}"))
}

/// An asker that stops in the middle of its query does not delay the answers to others.
#[test]
fn an_asker_that_stands_still_holds_nobody_up() {
    let world = World::new();
    let [_, asker_pin] = &world.pins;
    let link = format!("--listen {} --identity owner.pem --pin {asker_pin}", world.port);
    let mut owner = world.place.start(&format!("psi answer --secret all.key {link} --queries 2"));
    let still = connected(&world);
    let ran = world.query("");
    assert!(ran.code == Some(0) && ran.err.contains("3 of 4 keys are in the list"), "{}", ran.err);
    drop(still);
    owner.kill().and_then(|()| owner.wait()).map_or_else(|e| panic!("{e}"), drop);
}

/// A failed query once also failed the queries of the next half second.
#[test]
fn a_query_after_a_bad_one_is_answered() {
    let world = World::new();
    let other = PUBLISH.replace("all.key", "other.key").replace("all.list", "other.list");
    assert_eq!(world.place.ran(&other).code, Some(0));
    let owner = world.answer("");
    let [pin, _] = &world.pins;
    let link = format!("--connect {} --identity asker.pem --pin {pin} --wait 20", world.port);
    for _ in 0..3 {
        let keys = "--in mine.csv --key mail --normalise email --list other.list";
        let bad = ended(world.place.start(&format!("psi query {keys} {link}")));
        assert!(bad.code == Some(3) && bad.err.contains("not of the owner's key"), "{}", bad.err);
    }
    let good = world.query("");
    assert!(good.code == Some(0) && good.err.contains("3 of 4 keys are in the list"), "{}", good.err);
    let owner = ended(owner);
    assert!(owner.code == Some(0) && owner.err.contains("answered 4 keys"), "{}", owner.err);
    // The owner learns that the other side's list is of another key, and not that its own list is.
    let told = owner.err.contains("who asks has a list of another key");
    assert!(told && !owner.err.contains("get the list again"), "{}", owner.err);
}

/// Otherwise the rows could differ from the rows whose keys were in the query.
#[test]
fn a_file_that_changes_while_it_is_asked_about_gives_no_result() {
    let world = World::new();
    let wait = TcpListener::bind(world.port.to_string()).unwrap_or_else(|e| panic!("{e}"));
    let [pin, _] = &world.pins;
    let link = format!("--connect {} --identity asker.pem --pin {pin} --wait 20", world.port);
    let keys = "--in mine.csv --key mail --normalise email --list all.list --out known.csv";
    let asker = world.place.start(&format!("psi query {keys} {link}"));
    // The asker has read its keys when it connects.
    drop(wait.accept().unwrap_or_else(|e| panic!("{e}")));
    drop(wait);
    let mut lines: Vec<_> =
        world.place.get("mine.csv").split(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect();
    lines[1..].rotate_left(2);
    world.place.put("mine.csv", &lines.join(&b'\n'));
    let owner = world.answer("");
    let ran = ended(asker);
    drop(ended(owner));
    assert!(
        ran.code == Some(4) && ran.err.contains("changed since the run began"),
        "{:?}: {}",
        ran.code,
        ran.err
    );
    assert!(!world.place.at("known.csv").exists());
}

#[test]
fn results_of_other_lists_and_keys_replace_none_unasked() {
    let world = World::new();
    let other = |from: &str, to: &str| PUBLISH.replace(from, to);
    for other in
        [other("all.key", "other.key"), other("--key email", "--key id"), other("ise email", "ise case")]
    {
        let ran = world.place.ran(&other);
        assert!(ran.code == Some(5) && ran.err.contains("all.list"), "{other}: {}", ran.err);
    }
    assert_eq!(world.place.ran(&other("all.list", "other.list")).code, Some(0));
    let owner = world.answer("");
    let ran = world.query("--out known.csv");
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    drop(ended(owner));
    let [pin, _] = &world.pins;
    let link = format!("--connect {} --identity asker.pem --pin {pin} --wait 1", world.port);
    for of in ["--key mail --list other.list", "--key note --list all.list"] {
        let query = format!("psi query --in mine.csv {of} --normalise email {link} --out known.csv");
        let ran = ended(world.place.start(&query));
        assert!(ran.code == Some(5) && ran.err.contains("known.csv"), "{of}: {}", ran.err);
    }
}

#[test]
fn keys_stay_private_and_lists_fit_them() {
    let world = World::new();
    assert_eq!((world.place.mode("all.key"), world.place.mode("all.list")), (0o600, 0o644));
    let first = world.place.get("all.key");
    // The same list again under the same key. Another form would make another list.
    assert_eq!(world.place.ran(PUBLISH).code, Some(0));
    assert_eq!(world.place.get("all.key"), first);
    let ran = world.place.ran(&PUBLISH.replace("--normalise email", "--normalise case --force"));
    assert!(ran.code == Some(5) && ran.err.contains("is a key of lists in the form email"), "{}", ran.err);
    // No output replaces a secret key, and no key is read that others can read.
    let ran =
        world.place.ran("psi publish --in all.csv --key email --secret other.key --out all.key --force");
    assert!(ran.code == Some(5) && ran.err.contains("a private key"), "{}", ran.err);
    // A list from a pipe is equal to one from a file.
    let published = "psi publish --in - --key email --normalise email --secret all.key --out -";
    let (code, list, err) = world.place.through(published, &world.place.get("all.csv"));
    assert!(code == Some(0) && list.len() == world.place.get("all.list").len(), "{err}");
    let ran = world.place.ran(
        "psi query --in - --key email --list all.list --connect 127.0.0.1:9 --identity asker.pem --pin none",
    );
    assert!(ran.code == Some(2) && ran.err.contains("--in -"), "{}", ran.err);
    let open = std::fs::set_permissions(world.place.at("all.key"), Permissions::from_mode(0o644));
    open.unwrap_or_else(|e| panic!("{e}"));
    let ran = world.place.ran(&format!("{PUBLISH} --force"));
    assert!(ran.code == Some(5) && ran.err.contains("let other users at the private key"), "{}", ran.err);
    let ran = world.query("--normalise trim");
    assert_eq!(ran.code, Some(2), "{}", ran.err);
    world.place.put("all.list", b"nonsense");
    let ran = world.query("");
    assert!(ran.code == Some(4) && ran.err.contains("it is no list"), "{}", ran.err);
}

#[test]
fn an_owner_that_is_not_there_is_waited_for_with_words() {
    let world = World::new();
    // A listener at the address accepts the connection, and sends nothing.
    let silent = TcpListener::bind(world.port.to_string()).unwrap_or_else(|e| panic!("{e}"));
    let [pin, _] = &world.pins;
    let link = format!("--connect {} --identity asker.pem --pin {pin} --wait 4", world.port);
    let keys = "--in mine.csv --key mail --normalise email --list all.list";
    let ran = ended(world.place.start(&format!("psi query {keys} {link}")));
    drop(silent);
    let connecting = format!("connecting to the owner at {}, for at most 4 s", world.port);
    for words in [connecting.as_str(), "still waiting for the owner to join, for "] {
        assert!(ran.code == Some(3) && ran.err.contains(words), "{words}: {}", ran.err);
    }
}

/// The options say how the owner's file and the asker's are read.
#[test]
fn lists_and_queries_are_of_files_in_any_dialect() {
    let world = World::new();
    let all =
        String::from_utf8(world.place.get("all.csv")).expect("text").replace(',', "|").replace("\n", "|x\n");
    world.place.put("bar.csv", all.replace("email|x", "email|c").as_bytes());
    let mine: Vec<u8> = "mail\tnote\n'user7@x.org'\tZürich\n-\tb\n".chars().map(|c| c as u8).collect();
    world.place.put("mine.tsv", &mine);
    let again = PUBLISH.replace("all.csv", "bar.csv").replace("all.list", "again.list");
    let ran = world.place.ran(&format!("{again} --separator bar"));
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert_eq!(world.place.get("again.list"), world.place.get("all.list"));
    let owner = world.answer("");
    let [pin, _] = &world.pins;
    let link = format!("--connect {} --identity asker.pem --pin {pin} --wait 20", world.port);
    let keys = "--in mine.tsv --key mail --normalise email --list all.list";
    let options = "--separator tab --quote ' --null - --encoding latin1";
    let ran = ended(world.place.start(&format!("psi query {keys} {link} {options}")));
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert_eq!(ran.out, "mail,note\nuser7@x.org,Zürich\n");
    assert!(ran.err.contains("1 of 2 rows have no key"), "{}", ran.err);
    assert_eq!(ended(owner).code, Some(0));
    let wrong = world.place.ran(&format!("{again} --decimal x"));
    assert!(wrong.code == Some(2) && wrong.err.contains("--decimal"), "{}", wrong.err);
}

#[cfg(feature = "parquet")]
#[test]
fn lists_and_queries_may_be_of_parquet() {
    let world = World::new();
    for (csv, key) in [("all.csv", "email"), ("mine.csv", "mail")] {
        let parquet = csv.replace("csv", "parquet");
        let ran = world.place.ran(&format!(
            "local psi --a {csv} --b {csv} --key {key} --to a --transport unix --out {parquet}"
        ));
        assert_eq!(ran.code, Some(0), "{}", ran.err);
    }
    // The list is the same, byte for byte, under the same key.
    let again = PUBLISH.replace("all.csv", "all.parquet").replace("all.list", "again.list");
    let ran = world.place.ran(&again);
    assert!(ran.code == Some(0) && ran.err.contains("300 keys published"), "{}", ran.err);
    assert_eq!(world.place.get("again.list"), world.place.get("all.list"));
    let owner = world.answer("");
    let [pin, _] = &world.pins;
    let link = format!("--connect {} --identity asker.pem --pin {pin} --wait 20", world.port);
    let keys = "--in mine.parquet --key mail --normalise email --list all.list --out known.parquet";
    let ran = ended(world.place.start(&format!("psi query {keys} {link}")));
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert_eq!(ended(owner).code, Some(0));
    let read = "local psi --a known.parquet --b mine.csv --key mail --to a --transport unix";
    let known = "mail,note\nuser7@x.org,a\n USER299@X.org ,c\nuser0@x.org,e\nuser7@X.org,f\n";
    assert_eq!(world.place.ran(read).out, known);
}
