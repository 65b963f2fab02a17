//! Queries as jobs of members that each start their own process: members that disagree, leave, or
//! are killed.

use crate::{
    documented::check,
    query::FIELDS,
    rehearsal::{Ended, Rehearsal, Running},
};
use std::{
    fmt::Write,
    thread::sleep,
    time::{Duration, Instant},
};

pub(crate) const ALL: [&str; 6] = ["party0", "party1", "party2", "alice", "bob", "analyst"];

fn job(rows: usize) -> String {
    format!(
        "kind = \"query\"\nto = [\"client:analyst\"]\n\
         sql = \"SELECT city, SUM(salary) AS total FROM salaries JOIN people ON person = id GROUP BY city ORDER BY city\"\n\
         [[tables]]\nname = \"salaries\"\ncolumns = [\"person INTEGER NOT NULL\", \"salary DECIMAL(10, 2) NOT NULL\"]\n\
         parts = [\"client:alice {rows}\"]\n\
         [[tables]]\nname = \"people\"\ncolumns = [\"id INTEGER NOT NULL\", \"city VARCHAR(6) NOT NULL\"]\nkey = [\"id\"]\n\
         parts = [\"client:bob {rows}\"]\n"
    )
}

/// Writes the files of all members for a query of `rows` salaries, each of a person in one of three
/// cities.
pub(crate) fn world(rows: usize) -> Rehearsal {
    let world = Rehearsal::new(&job(rows));
    let (mut salaries, mut people) = ("person,salary\n".to_owned(), "id,city\n".to_owned());
    for i in 0..rows {
        // Writing to a string does not fail.
        let _ = writeln!(salaries, "{},{}.50", (i * 7 + 3) % rows, i);
        let _ = writeln!(people, "{i},{}", ["Bern", "Basel", "Genf"][i % 3]);
    }
    world.place.put("r/salaries.csv", salaries.as_bytes());
    world.place.put("r/people.csv", people.as_bytes());
    world.edit("r/analyst.toml", |text| format!("{text}\n[outputs]\nresult = {{ csv = \"result.csv\" }}\n"));
    ALL.iter().for_each(|name| world.set(name, "connect-timeout = \"30s\""));
    world
}

/// Returns the answer, computed from the same rows in the open.
pub(crate) fn expected(rows: usize) -> String {
    let mut cents = [0; 3];
    (0..rows).for_each(|i| cents[(i * 7 + 3) % rows % 3] += 100 * i + 50);
    let line = |city: &str, cents: usize| format!("{city},{}.{:02}\n", cents / 100, cents % 100);
    format!("city,total\n{}{}{}", line("Basel", cents[1]), line("Bern", cents[0]), line("Genf", cents[2]))
}

pub(crate) fn of<'a>(all: &'a [Ended], name: &str) -> &'a Ended {
    all.iter().find(|member| member.name == name).unwrap_or_else(|| panic!("{name}"))
}

/// Checks that no part of a result is in the analyst's place for it.
pub(crate) fn no_result(world: &Rehearsal) {
    let left: Vec<String> = world.left().into_iter().filter(|name| !name.ends_with(".csv")).collect();
    assert!(left.is_empty() && !world.place.at("r/result.csv").exists(), "{left:?}");
}

fn take(running: &mut Vec<Running>, name: &str) -> Running {
    let at = running.iter().position(|member| member.name == name).unwrap_or_else(|| panic!("{name}"));
    running.remove(at)
}

/// Reports of members have the documented fields, and a party's log names the operator under way.
#[test]
fn members_report_each_documented_field_and_parties_each_operator() {
    let world = world(9);
    let line = |name: &&'static str| {
        let line = format!("{} --json - -vv --log-format json", Rehearsal::line(name));
        world.spawn(name, world.place.hushwire(&line))
    };
    let all = world.end(ALL.iter().map(line).collect());
    all.iter().for_each(Ended::good);
    assert_eq!(String::from_utf8(world.place.get("r/result.csv")).unwrap_or_default(), expected(9));
    let report = |name: &str| -> serde_json::Value {
        serde_json::from_str(&of(&all, name).out).unwrap_or_else(|e| panic!("{name}: {e}"))
    };
    let reports: Vec<_> = ALL.iter().map(|name| report(name)).collect();
    check(FIELDS[0], FIELDS[1], "party", &[], &reports[..3].iter().collect::<Vec<_>>());
    check(FIELDS[0], FIELDS[1], "client", &[], &reports[3..].iter().collect::<Vec<_>>());
    // Only the analyst learns the result, which is in its file.
    let learnt = |report: &serde_json::Value| (report["count"].clone(), report["rows"].clone());
    for report in &reports[..5] {
        assert_eq!(learnt(report), (serde_json::Value::Null, serde_json::json!([])), "{report}");
    }
    assert_eq!(learnt(&reports[5]), (3.into(), serde_json::json!([])), "{}", reports[5]);
    for name in ALL {
        let said = &of(&all, name).err;
        let operators = ["inner join on", "groups by"];
        let told = operators.iter().all(|words| said.contains(&format!("\"operator\":\"{words}")));
        // Parties tell clients the progress once a second, but this run ends sooner.
        assert!(told || !name.starts_with("party"), "{name}: {said}");
    }
}

#[test]
fn rows_that_are_not_those_agreed_are_named_by_their_owner() {
    let world = world(9);
    // No other member is there to be told.
    world.edit("r/bob.toml", |text| text.replace("30s", "200ms"));
    world.place.put("r/people.csv", b"id,city\n1,Bern\n");
    let all = world.end(world.start_all(&["bob"]));
    let error = of(&all, "bob").error();
    assert_eq!(of(&all, "bob").code, Some(4), "{error}");
    assert!(
        error.contains("table people, ")
            && error.contains(".csv: part 0 has 1 of the 9 rows that were agreed"),
        "{error}"
    );
    world.place.put("r/people.csv", b"id,town\n1,Bern\n");
    let all = world.end(world.start_all(&["bob"]));
    let error = of(&all, "bob").error();
    assert_eq!(of(&all, "bob").code, Some(4), "{error}");
    assert!(error.contains("people.csv") && error.contains("city"), "{error}");
}

/// The party is killed during the query. A run that had ended before has the whole result.
#[test]
fn a_party_that_is_killed_in_the_midst_of_a_query_is_named_by_all() {
    const ROWS: usize = 4000;
    let world = world(ROWS);
    let mut in_time = 0;
    for (victim, wait) in [("party1", 1), ("bob", 150), ("party0", 600)] {
        let _ = std::fs::remove_file(world.place.at("r/result.csv"));
        let mut running = world.start_all(&ALL);
        world.until_said(&["party0", "party1", "party2"], "all members are connected");
        sleep(Duration::from_millis(wait));
        let begun = Instant::now();
        if take(&mut running, victim).kill().is_some() {
            let all = world.end_within(running, begun, Duration::from_mins(2));
            all.iter().for_each(Ended::good);
            continue;
        }
        let all = world.end_within(running, begun, Duration::from_mins(2));
        if all.iter().all(|member| member.code == Some(0)) {
            let result = String::from_utf8(world.place.get("r/result.csv")).unwrap_or_default();
            assert_eq!(result, expected(ROWS));
            continue;
        }
        in_time += 1;
        all.iter().filter(|member| member.code != Some(0)).for_each(|member| member.blames(victim));
        no_result(&world);
    }
    assert!(in_time > 0, "every kill came after the end of the query");
}

/// Only the member that learns the result learns of a broken promise. An owner that learns nothing
/// has the same end in both cases. Otherwise it could find out another owner's keys.
#[test]
fn a_broken_promise_is_told_to_none_but_who_learns_the_result() {
    let table = |name: &str, key: &str, parts: &str| {
        format!(
            "[[tables]]\nname = \"{name}\"\ncolumns = [\"id INTEGER NOT NULL\", \"x INTEGER NOT NULL\"]\n{key}parts = [{parts}]\n"
        )
    };
    let head = "kind = \"query\"\nto = [\"client:analyst\"]\n";
    let both = "\"client:alice 1\", \"client:bob 2\"";
    // A key that two owners have; in the second job, more pairs than were agreed.
    let sql = "SELECT SUM(people.x) AS total FROM visits JOIN people ON visits.id = people.id";
    let (people, visits) =
        (table("people", "key = [\"id\"]\n", both), table("visits", "", "\"client:analyst 1\""));
    let key = format!("{head}sql = \"{sql}\"\n{people}{visits}");
    let sql = "SELECT SUM(people.x) AS total FROM people JOIN others ON people.id = others.id";
    let (ours, theirs) = (table("people", "", "\"client:alice 1\""), table("others", "", "\"client:bob 2\""));
    let pairs = format!("{head}join-bound = 1\nsql = \"{sql}\"\n{ours}{theirs}");
    for (job, files, promise) in
        [(key, ["people", "people"], "is unique"), (pairs, ["people", "others"], "at most 1 pairs")]
    {
        let world = Rehearsal::new(&job);
        world.edit("r/analyst.toml", |text| {
            format!("{text}\n[outputs]\nresult = {{ csv = \"result.csv\" }}\n")
        });
        world.place.put("r/visits.csv", b"id,x\n2,1\n");
        let [alices, bobs] = ["alice", "bob"].map(|name| format!("r/{name}-rows.csv"));
        for (name, table) in ["alice", "bob"].into_iter().zip(files) {
            world.edit(&format!("r/{name}.toml"), |text| {
                let (rest, _) = text.split_once("[inputs]").unwrap_or((text, ""));
                format!("{rest}[inputs]\n{table} = {{ file = \"{name}-rows.csv\" }}\n")
            });
        }
        // In the second job, both of bob's rows match alice's row.
        let rest = if files[1] == "others" { "2,6\n2,7\n" } else { "2,6\n3,7\n" };
        world.place.put(&bobs, format!("id,x\n{rest}").as_bytes());
        let mut ends = vec![];
        for id in [7, 2] {
            let _ = std::fs::remove_file(world.place.at("r/result.csv"));
            world.place.put(&alices, format!("id,x\n{id},5\n").as_bytes());
            let all = world.end(world.start_all(&ALL));
            let analyst = of(&all, "analyst");
            if id == 2 {
                let error = analyst.error();
                assert!(
                    analyst.code == Some(2)
                        && error.contains("a promise is broken")
                        && error.contains(promise),
                    "{error}"
                );
                no_result(&world);
            } else {
                analyst.good();
            }
            let others = ALL[..5].iter().map(|name| {
                let member = of(&all, name);
                let errors = member
                    .err
                    .lines()
                    .filter(|line| line.starts_with("error"))
                    .map(str::to_owned)
                    .collect::<Vec<_>>();
                (*name, member.code, member.out.clone(), errors)
            });
            ends.push(others.collect::<Vec<_>>());
        }
        assert_eq!(ends[0], ends[1]);
        assert!(ends[1].iter().all(|(_, code, ..)| *code == Some(0)), "{ends:?}");
    }
}
