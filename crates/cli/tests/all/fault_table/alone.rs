//! Members that end before they have joined, for every kind of job. All others end soon, name the
//! member and the kind of cause, and learn of no file. A process that cannot prove its identity
//! ends no other member.

use crate::rehearsal::{Ended, Rehearsal, sums, title};
use hushwire_wire::{Identity, Validity};
use std::{
    fs,
    net::TcpListener,
    thread::{self, sleep},
    time::{Duration, Instant, SystemTime},
};

/// A wait that would be far too long for the test.
const PATIENT: &str = "5m";
/// The longest time until all members have ended. It takes one or two seconds, but a busy host may
/// take longer to start this many processes.
const LIMIT: Duration = Duration::from_secs(45);
/// The time for which all wait for a member that cannot prove its identity.
const WAIT: &str = "10s";

const INPUTS: &str = "its inputs do not fit the job";
const READING: &str = "it cannot use a file that it reads";
const WRITING: &str = "it cannot write an output";
const JOB: &str = "it cannot use the job, or its own file does not fit the job";

/// A job, and the fault of one member.
#[derive(Clone, Copy)]
struct Row {
    kind: &'static str,
    members: &'static [&'static str],
    victim: &'static str,
    fault: &'static str,
    /// The exit code of the member itself.
    code: i32,
    /// The cause that the others report.
    cause: &'static str,
    world: fn() -> Rehearsal,
    spoil: fn(&Rehearsal),
    /// Whether it is a part of the ordinary run.
    ordinary: bool,
}

const FIVE: &[&str] = &["party0", "party1", "party2", "alice", "bob"];
const FOUR: &[&str] = &["party0", "party1", "party2", "alice"];
const THREE: &[&str] = &["party0", "party1", "party2"];
const TWO: &[&str] = &["party0", "party1"];
const SHOP: &[&str] = &["party0", "party1", "party2", "ann", "bob"];

fn row(
    (kind, members, world): (&'static str, &'static [&'static str], fn() -> Rehearsal),
    (victim, fault): (&'static str, &'static str),
    (code, cause): (i32, &'static str),
    spoil: fn(&Rehearsal),
) -> Row {
    Row { kind, members, victim, fault, code, cause, world, spoil, ordinary: false }
}

fn ordinary(row: Row) -> Row {
    Row { ordinary: true, ..row }
}

fn circuit(protocol: &str) -> Rehearsal {
    let job = sums("add:32", 1).replace("rep3", protocol);
    let job = job.replace("client:alice", "party0").replace(", \"client:bob\"", "");
    Rehearsal::new(&if protocol == "authgarble:3" { job } else { job.replace("party2", "party0") })
}

fn bill(protocol: &str) -> Rehearsal {
    let world = Rehearsal::bare();
    world.place.put(
        "bill.hwc",
        b"computation bill\nmembers shop, ann, bank\nsymbols n\n\
        input price: u32[n] from shop\ninput amount: u32[n] from ann\ninput most: u64 from bank\n\
        total = sum(cast(price, u64) * cast(amount, u64))\n\
        output total to shop, ann\noutput paid = total <= most to bank, ann\n",
    );
    let members = match protocol {
        "rep3" => "shop = \"party1\"\nbank = \"client:bob\"\n",
        _ => "shop = \"party0\"\nann = \"party1\"\nbank = \"party0\"\n",
    };
    let job = format!("protocol = \"{protocol}\"\ncomputation = \"bill.hwc\"\n[members]\n{members}");
    world.place.put("job.toml", job.as_bytes());
    fs::remove_dir(world.place.at("r")).unwrap_or_else(|e| panic!("{e}"));
    let ran = world.place.ran(&format!("local files job.toml --dir r --port {}", world.port));
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    world.place.put("r/price.csv", b"price\n3000000000\n4\n");
    world.place.put("r/amount.csv", b"amount\n2\n1\n");
    world.place.put("r/most.csv", b"most\n6000000000\n");
    world
}

fn psi() -> Rehearsal {
    let world = Rehearsal::new("kind = \"psi\"\ncolumn = \"email\"\nreveal = \"size\"\n");
    TWO.iter().for_each(|name| world.place.put(&format!("r/{name}.csv"), b"email\nann@x\nbob@x\n"));
    world
}

fn encryption() -> Rehearsal {
    let world = Rehearsal::new("kind = \"aes-ctr\"\nowner = \"client:alice\"\n");
    world.place.put("r/data.bin", &[7; 999]);
    world
}

fn remove(world: &Rehearsal, file: &str) {
    fs::remove_file(world.place.at(file)).unwrap_or_else(|e| panic!("{file}: {e}"));
}

/// Renames a file; its permissions stay.
fn moved(world: &Rehearsal, from: &str, to: &str) {
    fs::rename(world.place.at(from), world.place.at(to)).unwrap_or_else(|e| panic!("{from}: {e}"));
}

/// Makes the sample of an input in its owner's file an invalid number.
fn wrong_digits(world: &Rehearsal, name: &str) {
    world.edit(&format!("r/{name}.toml"), |text| text.replace("0000000", "zzzzzzz"));
}

fn nowhere(world: &Rehearsal, name: &str, output: &str) {
    let table = format!("\n[outputs]\n{output} = {{ file = \"secret/directory/out\" }}\n");
    world.edit(&format!("r/{name}.toml"), |text| text.to_owned() + &table);
}

fn in_the_way(world: &Rehearsal, name: &str, output: &str) {
    world.keep(name, output);
    world.place.put(&format!("r/{name}.out"), b"of another job");
}

fn rows() -> Vec<Row> {
    let rep3: (_, _, fn() -> _) = ("rep3", FIVE, || Rehearsal::new(&sums("add:32", 1)));
    let yao: (_, _, fn() -> _) = ("yao", TWO, || circuit("yao"));
    let gmw: (_, _, fn() -> _) = ("gmw", TWO, || circuit("gmw"));
    let many: (_, _, fn() -> _) = ("authgarble", THREE, || circuit("authgarble:3"));
    let compute: (_, _, fn() -> _) = ("compute", SHOP, || bill("rep3"));
    let pair: (_, _, fn() -> _) = ("compute of two", TWO, || bill("gmw"));
    let items: (_, _, fn() -> _) = ("psi", TWO, psi);
    let file: (_, _, fn() -> _) = ("aes-ctr", FOUR, encryption);
    let mut rows = vec![
        ordinary(row(rep3, ("alice", "wrong digits"), (2, INPUTS), |w| wrong_digits(w, "alice"))),
        row(rep3, ("party1", "wrong digits"), (2, INPUTS), |w| wrong_digits(w, "party1")),
        row(rep3, ("party1", "an input under another name"), (2, INPUTS), |w| {
            w.edit("r/party1.toml", |text| text.replace("b = {", "c = {"));
        }),
        ordinary(row(rep3, ("party2", "no such directory"), (4, WRITING), |w| nowhere(w, "party2", "sum"))),
        ordinary(row(rep3, ("bob", "a file in the way"), (5, WRITING), |w| in_the_way(w, "bob", "sum"))),
        row(rep3, ("bob", "no such directory"), (4, WRITING), |w| nowhere(w, "bob", "sum")),
        ordinary(row(rep3, ("party0", "an output that is not its own"), (2, INPUTS), |w| {
            nowhere(w, "party0", "sum");
        })),
        row(yao, ("party0", "wrong digits"), (2, INPUTS), |w| wrong_digits(w, "party0")),
        ordinary(row(yao, ("party1", "wrong digits"), (2, INPUTS), |w| wrong_digits(w, "party1"))),
        row(gmw, ("party0", "no such directory"), (4, WRITING), |w| nowhere(w, "party0", "sum")),
        ordinary(row(many, ("party1", "wrong digits"), (2, INPUTS), |w| wrong_digits(w, "party1"))),
        row(many, ("party2", "a file in the way"), (5, WRITING), |w| in_the_way(w, "party2", "sum")),
        ordinary(row(compute, ("ann", "no such file"), (4, READING), |w| remove(w, "r/amount.csv"))),
        row(compute, ("bob", "no number"), (4, READING), |w| w.place.put("r/most.csv", b"most\nmuch\n")),
        row(compute, ("party1", "no such column"), (4, READING), |w| {
            w.place.put("r/price.csv", b"cost\n1\n");
        }),
        row(pair, ("party1", "no such file"), (4, READING), |w| remove(w, "r/amount.csv")),
        ordinary(row(items, ("party1", "no such file"), (4, READING), |w| remove(w, "r/party1.csv"))),
        row(items, ("party0", "no such column"), (4, READING), |w| w.place.put("r/party0.csv", b"mail\nx\n")),
        ordinary(row(file, ("alice", "no such file"), (4, READING), |w| remove(w, "r/data.bin"))),
        row(file, ("party1", "no such directory"), (4, WRITING), |w| {
            w.edit("r/party1.toml", |text| text.replace("party1.share", "secret/party1.share"));
        }),
    ];
    #[cfg(feature = "sql")]
    {
        use crate::query_members::{ALL, world};
        let query: (_, _, fn() -> _) = ("query", &ALL[..], || world(9));
        rows.extend([
            ordinary(row(query, ("bob", "no such file"), (4, READING), |w| remove(w, "r/people.csv"))),
            row(query, ("alice", "no number"), (4, READING), |w| {
                w.place.put("r/salaries.csv", b"person,salary\n1,much\n");
            }),
            row(query, ("analyst", "no such directory"), (4, WRITING), |w| {
                w.edit("r/analyst.toml", |text| text.replace("result.csv", "secret/result.csv"));
            }),
        ]);
    }
    #[cfg(feature = "nn")]
    {
        use crate::infer_members::{THREE, broken};
        let infer: (_, _, fn() -> _) = ("infer", &THREE[..], || broken(&THREE));
        rows.push(row(infer, ("lab", "no such model"), (4, READING), |w| remove(w, "r/model.onnx")));
        // The lab has no link with the client, and may still read its model when the client has
        // ended.
        rows.push(ordinary(row(infer, ("ann", "no such file"), (4, READING), |w| remove(w, "r/input.npy"))));
    }
    rows
}

/// Runs all cases on a few threads, since members mostly wait.
fn at_once<T: Sync>(cases: &[T], run: impl Fn(&T) + Sync) {
    for some in cases.chunks(4) {
        thread::scope(|scope| {
            some.iter().for_each(|case| drop(scope.spawn(|| run(case))));
        });
    }
}

/// Sets the time for which a member waits for the others.
fn waits(world: &Rehearsal, name: &str, time: &str) {
    world.edit(&format!("r/{name}.toml"), |text| {
        let lines = text.lines().filter(|line| !line.starts_with("connect-timeout"));
        format!("connect-timeout = \"{time}\"\n{}\n", lines.collect::<Vec<_>>().join("\n"))
    });
}

fn run(row: &Row) {
    let Row { kind, members, victim, fault, code, cause, world, spoil, .. } = row;
    let (what, world) = (format!("{kind}, {victim}: {fault}"), world());
    members.iter().for_each(|name| waits(&world, name, PATIENT));
    spoil(&world);
    let begun = Instant::now();
    let ended = world.end_within(world.start_all(members), begun, LIMIT);
    eprintln!("{what}: all ended after {:?}", begun.elapsed());
    for member in ended {
        if member.name == *victim {
            assert_eq!(member.code, Some(*code), "{what}: {}", member.err);
            assert!(!member.error().contains("during connect"), "{what}: {}", member.err);
            continue;
        }
        let says = |by: &&str| {
            let (me, whom, by) = (title(member.name), title(victim), title(by));
            format!(
                "error: {me} failed during connect: {whom}: failed during start-up, as {by} says: {cause}; read its own \
                 output, which says more, or ask its operator"
            )
        };
        let told = members.iter().any(|by| says(by) == member.error());
        assert!(told && member.code == Some(3), "{what}: {}: {}", member.name, member.err);
    }
}

#[test]
fn a_member_that_ends_alone_ends_all() {
    let rows: Vec<_> = rows().into_iter().filter(|row| row.ordinary).collect();
    at_once(&rows, run);
}

#[test]
#[ignore = "takes minutes: scripts/test --full"]
fn a_member_that_ends_alone_ends_all_in_every_kind() {
    at_once(&rows(), run);
}

/// One member lacks the circuit's file, so that it knows neither the digests nor the clients of the
/// job.
#[test]
fn a_member_without_the_job_ends_all() {
    for victim in ["party1", "alice"] {
        let world = Rehearsal::new(&sums("add:32", 1));
        FIVE.iter().for_each(|name| waits(&world, name, PATIENT));
        let job = String::from_utf8(world.place.get("job.toml")).unwrap_or_default();
        world
            .place
            .put("other.toml", job.replace("circuit = \"add:32\"", "circuit-file = \"gone.txt\"").as_bytes());
        let begun = Instant::now();
        let running = FIVE.iter().map(|name| {
            let line = Rehearsal::line(name);
            let line = if *name == victim { line.replace("job.toml", "other.toml") } else { line };
            world.spawn(name, world.place.hushwire(&line))
        });
        for member in world.end_within(running.collect(), begun, LIMIT) {
            if member.name == victim {
                assert_eq!(member.code, Some(4), "{}", member.err);
            } else {
                member.blames(victim);
                assert!(member.error().contains(JOB) && !member.err.contains("gone"), "{}", member.err);
            }
        }
    }
}

/// The reason why party 1 cannot prove its identity.
#[derive(Clone, Copy, Debug)]
enum Unproven {
    NoKey,
    OtherKey,
    Expired,
    TakenPort,
}

/// The other members go on waiting, report what they see, and report it again at the end.
#[test]
fn whoever_cannot_prove_who_it_is_ends_nobody() {
    let (refused, greets) = ("onnection refused", "it takes the connection and does not greet");
    let stranger = "presents another key than the pinned one";
    let dates = expired().to_string();
    at_once(
        &[
            (Unproven::NoKey, &[refused][..], 4, &["party1.pem"][..]),
            // Members may meet the process with the other key before it ends.
            (Unproven::OtherKey, &[refused, stranger], 3, &["pin"]),
            (Unproven::Expired, &[refused], 3, &["certificate", &dates, "hushwire keys rotate"]),
            (Unproven::TakenPort, &[greets], 3, &["in use", "or choose another port"]),
        ],
        |(fault, seen, code, own_words)| unproven(*fault, seen, *code, own_words),
    );
}

/// The dates of a certificate that has expired.
fn expired() -> Validity {
    let past = |days: u64| SystemTime::UNIX_EPOCH + Duration::from_secs(86_400 * days);
    Validity { not_before: past(19_000), not_after: past(20_000) }
}

/// Checks that party 1 ends with `code` and `own_words`, and that the others see `seen` and wait.
fn unproven(fault: Unproven, seen: &[&str], code: i32, own_words: &[&str]) {
    let world = Rehearsal::new(&sums("add:32", 1));
    FIVE.iter().for_each(|name| waits(&world, name, WAIT));
    let key = world.place.get("r/party1.pem");
    let taken = match fault {
        Unproven::NoKey => {
            moved(&world, "r/party1.pem", "party1.pem");
            None
        }
        Unproven::OtherKey => {
            let other = Identity::generate("party 1").unwrap_or_else(|e| panic!("{e}"));
            world.place.put("r/party1.pem", other.to_pem().as_bytes());
            None
        }
        Unproven::Expired => {
            let old = Identity::generate_for("party 1", expired()).unwrap_or_else(|e| panic!("{e}"));
            world.place.put("r/party1.pem", old.to_pem().as_bytes());
            None
        }
        Unproven::TakenPort => {
            Some(TcpListener::bind(("127.0.0.1", world.port + 1)).unwrap_or_else(|e| panic!("{e}")))
        }
    };
    let others = ["party0", "party2", "alice", "bob"];
    let mut running = world.start_all(&others);
    let own = world.end(vec![world.start("party1")]);
    assert_eq!(own[0].code, Some(code), "{fault:?}: {}", own[0].err);
    for words in own_words {
        assert!(own[0].error().contains(words), "{fault:?}: no {words:?} in {}", own[0].err);
    }
    world.until_said(&others, "still waiting for ");
    world.until_any_said(&["party0", "party2"], seen);
    assert!(running.iter_mut().all(super::super::rehearsal::Running::lives), "{fault:?} ended somebody");
    for member in world.end(running) {
        member.blames("party1");
        assert!(!member.error().contains("firewall"), "{fault:?}: {}", member.err);
    }
    // The others still wait for party 1, which then joins with its own key and port.
    if let Unproven::NoKey = fault {
        moved(&world, "party1.pem", "r/party1.pem");
    }
    world.place.put("r/party1.pem", &key);
    drop(taken);
    world.end(world.start_all(FIVE)).iter().for_each(Ended::good);
}

/// A member is killed while `missing` is absent, and is started again.
fn again(world: &Rehearsal, members: &'static [&'static str], victim: &'static str, missing: &'static str) {
    members.iter().for_each(|name| waits(world, name, PATIENT));
    let first: Vec<_> = members.iter().copied().filter(|name| *name != missing).collect();
    let mut running = world.start_all(&first);
    // All other members are connected with it.
    let alone = format!("still waiting for {} to join", title(missing));
    world.until_said(&first, &alone);
    let at = running.iter().position(|member| member.name == victim).unwrap_or(0);
    assert!(running.remove(at).kill().is_none(), "{victim} ended by itself");
    running.push(world.start(victim));
    sleep(Duration::from_millis(500));
    running.push(world.start(missing));
    for member in world.end(running) {
        member.good();
    }
}

#[test]
fn a_member_that_was_killed_and_started_again_joins() {
    let rep3: fn() -> Rehearsal = || Rehearsal::new(&sums("add:32", 1));
    at_once(
        &[
            (rep3, FIVE, "party1", "party2"),
            (rep3, FIVE, "alice", "party2"),
            // The others have all their connections, and wait for the message that everybody has.
            (rep3, FIVE, "party1", "bob"),
            (|| circuit("authgarble:3"), THREE, "party1", "party2"),
        ],
        |(world, members, victim, missing)| again(&world(), members, victim, missing),
    );
}

#[test]
#[ignore = "takes minutes: scripts/test --full"]
fn a_member_of_any_kind_that_was_killed_and_started_again_joins() {
    for victim in ["party0", "party1", "ann"] {
        again(&bill("rep3"), SHOP, victim, "party2");
        again(&bill("rep3"), SHOP, victim, "bob");
    }
    for victim in ["party0", "alice"] {
        again(&encryption(), FOUR, victim, "party1");
    }
    #[cfg(feature = "sql")]
    for victim in ["party1", "bob"] {
        let world = crate::query_members::world(9);
        again(&world, &crate::query_members::ALL, victim, "party2");
    }
}
