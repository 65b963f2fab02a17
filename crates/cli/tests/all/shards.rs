//! Runs on several shards of each member, as processes. They give the same rows as on one shard,
//! all members name a lost shard, and another try succeeds.

use crate::common::{self, Place, Ran, children, cmdline, good};
use hushwire_testkit::Port;
use std::{
    fmt::Write as _,
    io::{BufRead, BufReader, Read},
    process::{Child, ChildStderr, Command, Stdio},
    thread::sleep,
    time::{Duration, Instant},
};

const LONG: Duration = Duration::from_secs(120);
const JOIN: &str = "SELECT city, COUNT(*) AS n, SUM(salary) AS total FROM salaries JOIN people ON person = id GROUP BY city ORDER BY total DESC, city";

/// Runs the command and expects the error of a wrong command line or job, with these words.
fn bad(place: &Place, args: &str, words: &[&str]) {
    common::bad(place, args, 2, words);
}

/// Writes the tables of two owners, with `rows` rows each.
fn tables(place: &Place, rows: usize) {
    let (mut pay, mut people) = ("person,salary\n".to_owned(), "id,city\n".to_owned());
    for i in 0..rows {
        let _ = writeln!(pay, "{},{}", (i * 7) % (rows + 3), 100 + (i * 37) % 991);
        let _ = writeln!(people, "{},{}", i, ["Bern", "Basel", "Genf", "Zug", "Chur"][i * i % 5]);
    }
    place.put("a.csv", pay.as_bytes());
    place.put("b.csv", people.as_bytes());
}

fn local(place: &Place, more: &str) -> Ran {
    place.put("query.sql", JOIN.as_bytes());
    place.ran(&format!(
        "local query --table salaries=a.csv@alice --table people=b.csv@bob --key people=id --sql-file query.sql {more}"
    ))
}

#[test]
fn shards_answer_as_one_machine_does() {
    let place = Place::new();
    for rows in [1, 40] {
        tables(&place, rows);
        let one = local(&place, "--transport unix --out one.csv --force");
        assert_eq!(one.code, Some(0), "{}", one.err);
        for (shards, transport) in [(2, "unix"), (3, "tcp-tls")] {
            let how = format!("--shards {shards} --transport {transport} --json - --out many.csv --force");
            let many = local(&place, &how);
            assert_eq!(many.code, Some(0), "{shards}: {}", many.err);
            assert_eq!(place.get("many.csv"), place.get("one.csv"), "{shards} shards, {rows} rows");
            let report: serde_json::Value = serde_json::from_str(&many.out).expect("a report");
            assert_eq!(report["parties"].as_array().map(Vec::len), Some(3), "{report}");
        }
    }
    // The same table in Parquet, of which the process of each shard reads its own rows.
    place.put("copy.sql", b"SELECT person, salary FROM salaries ORDER BY person, salary");
    good(
        &place,
        "local query --table salaries=a.csv@alice --sql-file copy.sql --transport unix --out a.parquet",
    );
    let line = "local query --table salaries=a.parquet@alice --table people=b.csv@bob --key people=id --sql-file query.sql --transport unix";
    let ran = good(&place, &format!("{line} --shards 3 --out many.csv --force"));
    assert_eq!(place.get("many.csv"), place.get("one.csv"), "{}", ran.err);
    assert!(!ran.err.contains("reads all of it"), "{}", ran.err);
}

#[test]
fn a_computation_is_spread_with_the_lengths_of_its_inputs() {
    let place = Place::new();
    let text = "computation bill\nmembers shop, client\nsymbols n\n\ninput price: u32[n] from shop\ninput amount: u32[n] from client\n\n\
                each = price * amount\noutput total = sum(each) to client\noutput each = each to shop\n";
    place.put("bill.hwc", text.as_bytes());
    place.put("p.csv", b"price\n3\n5\n7\n11\n13\n");
    place.put("q.csv", b"amount\n1\n2\n3\n4\n5\n");
    let line = "local compute bill.hwc --transport unix --in price=p.csv --in amount=q.csv";
    let one = place.ran(line);
    let two = place.ran(&format!("{line} --shards 2"));
    assert_eq!((one.code, two.code), (Some(0), Some(0)), "{}\n{}", one.err, two.err);
    assert_eq!(one.out, two.out);
    assert!(two.out.contains("total=143"), "{}", two.out);
    bad(&place, &format!("{line} --shards 2 --protocol yao"), &["2 shards", "yao"]);
    bad(&place, &format!("{line} --shards 65"), &["65"]);
}

/// A job file, and the files of all members.
struct Group {
    place: Place,
    _ports: [Port; 12],
}

impl Group {
    fn new(rows: usize) -> Self {
        let (place, ports) = (Place::new(), Port::row());
        tables(&place, rows);
        let job = format!(
            "kind = \"query\"\nshards = 2\nsql = \"{JOIN}\"\nto = [\"party0\", \"client:carol\"]\n\
             [[tables]]\nname = \"salaries\"\ncolumns = [\"person INTEGER NOT NULL\", \"salary INTEGER NOT NULL\"]\nparts = [\"client:alice {rows}\"]\n\
             [[tables]]\nname = \"people\"\ncolumns = [\"id INTEGER NOT NULL\", \"city VARCHAR(5) NOT NULL\"]\nkey = [\"id\"]\nparts = [\"party1 {rows}\"]\n"
        );
        place.put("job.toml", job.as_bytes());
        let ran = place.ran(&format!("local files job.toml --dir r --port {}", ports[0].number()));
        assert_eq!(ran.code, Some(0), "{}", ran.err);
        assert!(ran.out.contains("--shards r/party1.hosts.toml"), "{}", ran.out);
        for (name, table, file) in [("alice", "salaries", "a.csv"), ("party1", "people", "b.csv")] {
            place.put(&format!("r/{table}.csv"), &place.get(file));
            let text = String::from_utf8(place.get(&format!("r/{name}.toml"))).expect("text");
            assert!(text.contains(&format!("{table} = ")), "{text}");
        }
        Self { place, _ports: ports }
    }

    fn start(&self, line: &str) -> Child {
        let mut command = self.place.hushwire(line);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.spawn().unwrap_or_else(|e| panic!("{line}: {e}"))
    }

    /// Starts party 2 as two separate processes, and each other member as one command.
    fn start_all(&self, more: &str) -> Vec<(&'static str, Child)> {
        let party = |index: u8| {
            format!("party job.toml --config r/party{index}.toml --shards r/party{index}.hosts.toml {more}")
        };
        let client = |name: &str| format!("client job.toml --config r/{name}.toml {more}");
        vec![
            ("party 0", self.start(&party(0))),
            ("party 1", self.start(&party(1))),
            ("party 2.0", self.start(&format!("{} --shard 0", party(2)))),
            ("party 2.1", self.start(&format!("{} --shard 1", party(2)))),
            ("alice", self.start(&client("alice"))),
            ("carol", self.start(&client("carol"))),
        ]
    }
}

fn ended((name, child): (&'static str, Child)) -> (&'static str, Ran) {
    (name, Ran::new(child.wait_with_output().unwrap_or_else(|e| panic!("{name}: {e}"))))
}

#[test]
fn members_with_files_run_on_shards_over_tls() {
    let group = Group::new(30);
    let one = local(&group.place, "--transport unix");
    for (name, ran) in group.start_all("").into_iter().map(ended) {
        assert_eq!(ran.code, Some(0), "{name}: {}", ran.err);
        let learns = matches!(name, "party 0" | "carol");
        assert_eq!(ran.out, if learns { one.out.as_str() } else { "" }, "{name}");
    }
    // A shard that does not exist, and a member whose file has no shards.
    let party = "party job.toml --config r/party0.toml";
    bad(&group.place, &format!("{party} --shards r/party0.hosts.toml --shard 2"), &["no shard 2"]);
    let shards = "the job runs on 2 shards, and this member has one";
    let text = String::from_utf8(group.place.get("r/party0.toml")).expect("text");
    group.place.put("r/party0.toml", format!("connect-timeout = \"200ms\"\n{text}").as_bytes());
    bad(&group.place, party, &[shards]);
}

/// Returns the process of a party's shard, once it computes.
fn shard_of(parent: u32, shard: &str) -> u32 {
    let begun = Instant::now();
    loop {
        let mut all = children(parent).into_iter();
        if let Some(pid) = all.find(|pid| cmdline(*pid).trim_end().ends_with(shard)) {
            return pid;
        }
        assert!(begun.elapsed() < LONG, "no process of {shard} starts");
        sleep(Duration::from_millis(5));
    }
}

fn kill(pid: u32) {
    let status = Command::new("kill").args(["-KILL", &pid.to_string()]).status();
    assert!(status.is_ok_and(|status| status.success()), "{pid}");
}

#[test]
fn a_lost_shard_ends_all_members_with_a_named_cause() {
    let group = Group::new(30_000);
    let mut running = group.start_all("");
    let parent = running[0].1.id();
    let lost = shard_of(parent, "party0.1");
    // During the run, after all have met.
    let party2 = running.iter_mut().filter(|(name, _)| name.starts_with("party 2"));
    let rest: Vec<_> = party2.map(|(_, child)| connected(child)).collect();
    sleep(Duration::from_millis(500));
    let begun = Instant::now();
    kill(lost);
    let mut errors = vec![];
    for (name, ran) in running.into_iter().map(ended) {
        assert_eq!((ran.code, ran.out.as_str()), (Some(3), ""), "{name}: {}", ran.err);
        errors.push((name, ran.err));
    }
    let party2 = errors.iter_mut().filter(|(name, _)| name.starts_with("party 2"));
    for ((_, text), mut rest) in party2.zip(rest) {
        rest.read_to_string(text).unwrap_or_else(|e| panic!("{e}"));
    }
    // The party itself names the shard. The others' shards of the same session name party 0, and
    // their other shards may have ended because of these.
    let says = |text: &str, words: &str| {
        text.lines().any(|line| line.starts_with("error: ") && line.contains(words))
    };
    for party in ["party 1", "party 2.1"] {
        let (name, text) = errors.iter().find(|(name, _)| *name == party).expect("it was started");
        assert!(says(text, "party 0"), "{name}: {text}");
    }
    for (name, text) in &errors {
        let named = says(text, "party 0") || says(text, "read the error of that shard");
        assert!(named, "{name} names who failed: {text}");
    }
    assert!(says(&errors[0].1, "party 0, shard 1 failed during the run"), "{errors:?}");
    assert!(begun.elapsed() < LONG);
}

#[test]
fn a_run_begins_again_after_a_shard_was_lost() {
    let place = Place::new();
    tables(&place, 25_000);
    let one = local(&place, "--transport unix");
    place.put("query.sql", JOIN.as_bytes());
    let line = "local query --table salaries=a.csv@alice --table people=b.csv@bob --key people=id --sql-file query.sql --transport unix --shards 2 --retries 1";
    let mut command = place.hushwire(line);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let run = command.spawn().unwrap_or_else(|e| panic!("{e}"));
    let lost = shard_of(run.id(), "party1.1");
    sleep(Duration::from_millis(700));
    kill(lost);
    let ran = Ran::new(run.wait_with_output().unwrap_or_else(|e| panic!("{e}")));
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert_eq!(ran.out, one.out);
    assert!(ran.err.contains("retry 1 of 1 begins anew") && ran.err.contains("party 1"), "{}", ran.err);
}

/// Waits until a process reports that it has met all others. Returns its other messages.
fn connected(child: &mut Child) -> BufReader<ChildStderr> {
    let mut errors = BufReader::new(child.stderr.take().expect("it is piped"));
    let mut line = String::new();
    while !line.contains("are connected") {
        line.clear();
        assert!(errors.read_line(&mut line).is_ok_and(|len| len > 0), "it ended before");
    }
    errors
}

/// A party's cluster is lost during a run and comes back. Its processes know nothing of the earlier
/// run, and all parties begin again with them.
#[test]
fn a_party_whose_shards_are_started_again_takes_part_in_the_next_try() {
    let group = Group::new(30_000);
    let one = local(&group.place, "--transport unix");
    let mut running = group.start_all("--retries 1");
    running
        .iter_mut()
        .filter(|(name, _)| name.starts_with("party 2"))
        .for_each(|(_, child)| drop(connected(child)));
    // During the run.
    sleep(Duration::from_millis(500));
    let (lost, rest): (Vec<_>, Vec<_>) = running.drain(..).partition(|(name, _)| name.starts_with("party 2"));
    lost.iter().for_each(|(_, child)| kill(child.id()));
    for (name, ran) in lost.into_iter().map(ended) {
        assert_eq!((ran.code, ran.out.as_str()), (None, ""), "{name}: {}", ran.err);
    }
    let party = "party job.toml --config r/party2.toml --shards r/party2.hosts.toml";
    let again = [0, 1].map(|shard| ("party 2 again", group.start(&format!("{party} --shard {shard}"))));
    for (name, ran) in rest.into_iter().chain(again).map(ended) {
        assert_eq!(ran.code, Some(0), "{name}: {}", ran.err);
        let is_again = name == "party 2 again";
        assert_eq!(ran.err.contains("retry 1 of 1 begins anew"), !is_again, "{name}: {}", ran.err);
        let learns = matches!(name, "party 0" | "carol");
        assert_eq!(ran.out, if learns { one.out.as_str() } else { "" }, "{name}");
    }
}

/// Queries that mostly consist of one operator: a sort, a join, groups, windows, distinct rows, a
/// limit and a filter. They include the shuffles and compactions of these operators.
const OPERATORS: [&str; 7] = [
    "SELECT person, salary FROM salaries ORDER BY salary DESC, person",
    "SELECT person, city FROM salaries JOIN people ON person = id ORDER BY person, city",
    "SELECT salary, COUNT(*) AS n, SUM(person) AS total FROM salaries GROUP BY salary ORDER BY salary",
    "SELECT person, salary, RANK() OVER (PARTITION BY salary ORDER BY person) AS place FROM salaries ORDER BY salary, person",
    "SELECT DISTINCT salary FROM salaries ORDER BY salary",
    "SELECT person, salary FROM salaries ORDER BY salary, person LIMIT 10",
    "SELECT city, COUNT(*) AS n FROM people WHERE id > 100 AND city <> 'Bern' GROUP BY city ORDER BY city",
];

/// One shard, or all shards of a party as with their host, are killed at several stages of each
/// operator. The second try gives the rows.
#[test]
#[ignore = "minutes: scripts/test --full"]
fn a_shard_or_a_host_killed_in_each_stage_of_each_operator_is_made_good() {
    const STAGES: u32 = 5;
    let place = Place::new();
    tables(&place, 30_000);
    let start = |line: &str| {
        let mut command = place.hushwire(line);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.spawn().unwrap_or_else(|e| panic!("{e}"))
    };
    let end = |run: Child| Ran::new(run.wait_with_output().unwrap_or_else(|e| panic!("{e}")));
    let mut tried_again = 0;
    for sql in OPERATORS {
        place.put("one.sql", sql.as_bytes());
        let line = "local query --table salaries=a.csv@alice --table people=b.csv@bob --key people=id --sql-file one.sql --transport unix";
        let one = good(&place, line);
        let many = format!("{line} --shards 2 --retries 1");
        // The time of a run without losses, from the start of its processes.
        let run = start(&many);
        shard_of(run.id(), "party1.1");
        let begun = Instant::now();
        let ran = end(run);
        assert_eq!((ran.code, ran.out), (Some(0), one.out.clone()), "{sql}: {}", ran.err);
        let whole = begun.elapsed();
        for stage in 0..STAGES {
            for victims in [&["party1.1"][..], &["party2.0", "party2.1"]] {
                let run = start(&many);
                let lost: Vec<u32> = victims.iter().map(|shard| shard_of(run.id(), shard)).collect();
                sleep(whole * (2 * stage + 1) / (2 * STAGES));
                // Some processes have ended already.
                for pid in lost {
                    drop(
                        Command::new("kill").args(["-KILL", &pid.to_string()]).stderr(Stdio::null()).status(),
                    );
                }
                let ran = end(run);
                assert_eq!(ran.code, Some(0), "{victims:?} in stage {stage}: {sql}: {}", ran.err);
                assert_eq!(ran.out, one.out, "{victims:?} in stage {stage}: {sql}");
                tried_again += u32::from(ran.err.contains("retry 1 of 1 begins anew"));
            }
        }
    }
    let most = STAGES * 2 * OPERATORS.len() as u32;
    assert!(2 * tried_again > most, "{tried_again} of {most} runs were hit");
}

/// The plan of a size that can run predicts the cost of the run.
#[test]
fn the_size_of_a_plan_is_that_of_its_run() {
    let place = Place::new();
    tables(&place, 300);
    let job = format!(
        "kind = \"query\"\nsql = \"{JOIN}\"\nto = [\"client:analyst\"]\n\
         [[tables]]\nname = \"salaries\"\ncolumns = [\"person SMALLINT NOT NULL\", \"salary SMALLINT NOT NULL\"]\nparts = [\"client:alice 1\"]\n\
         [[tables]]\nname = \"people\"\ncolumns = [\"id SMALLINT NOT NULL\", \"city VARCHAR(5) NOT NULL\"]\nkey = [\"id\"]\nparts = [\"client:bob 1\"]\n"
    );
    place.put("job.toml", job.as_bytes());
    let size = |more: &str| -> serde_json::Value {
        serde_json::from_str(&good(&place, &format!("plan-size job.toml --json - {more}")).out)
            .expect("a report")
    };
    let two = size("--rows 300 --shards 2 --net 10gbit --machine-hour 2");
    assert_eq!((&two["is_exact"], &two["machines"]), (&true.into(), &6.into()));
    let ran = local(&place, "--transport unix --shards 2 --json -");
    let run: serde_json::Value = serde_json::from_str(&ran.out).expect("a report");
    let sent =
        run["parties"].as_array().into_iter().flatten().filter_map(|party| party["bytes_sent"].as_f64());
    let (sent, told) = (sent.fold(0.0, f64::max), two["bytes_to_parties"].as_f64().expect("bytes"));
    // The bytes of the busiest shard, without set-ups and shares of inputs.
    assert!(told > 0.4 * sent && told < 1.1 * sent, "{told} of {sent}");
    let [small, large] = ["--rows 1e6", "--rows 1e9"].map(|rows| size(&format!("{rows} --shards 4")));
    assert_eq!(large["is_exact"], false);
    for field in ["bytes_to_parties", "memory_bytes", "rounds"] {
        assert!(large[field].as_u64() > small[field].as_u64(), "{field}: {small} {large}");
    }
    let people = good(&place, "plan-size job.toml --rows salaries=1e7 --rows people=1e5 --shards 8").out;
    for words in ["machines: 24 (8 a party)", "machine-hours", "measured on"] {
        assert!(people.contains(words), "{people}");
    }
    // The query as a text, with the columns of files, or with declared tables without files.
    let declared = job.split_once("[[tables]]").map_or("", |(_, tables)| tables);
    let declared = declared.lines().filter(|line| !line.starts_with("parts")).collect::<Vec<_>>().join("\n");
    place.put("schema.toml", format!("[[tables]]{declared}\n").as_bytes());
    let files = "--table salaries=a.csv@alice --table people=b.csv@bob --key people=id";
    let types: String = ["salaries.person", "salaries.salary", "people.id"]
        .map(|column| format!(" --type {column}=SMALLINT"))
        .concat();
    for tables in [&format!("{files}{types}"), "--schema schema.toml"] {
        let args = format!("plan-size query.sql {tables} --rows 300 --shards 2 --json - --net 10gbit");
        let text: serde_json::Value = serde_json::from_str(&good(&place, &args).out).expect("a report");
        for field in ["bytes_to_parties", "bytes_to_shards", "rounds", "memory_bytes", "lengths"] {
            assert_eq!(text[field], two[field], "{tables}: {field}");
        }
    }
    bad(&place, "plan-size query.sql --rows 300", &["--table", "--schema"]);
    bad(&place, &format!("plan-size job.toml {files} --rows 3"), &["--table", "leave out"]);
    bad(&place, "plan-size job.toml --rows x=3", &["the job has no x"]);
    bad(&place, "plan-size job.toml --rows salaries=3", &["says nothing of people"]);
    bad(&place, "plan-size job.toml --rows many", &["1e9"]);
}
