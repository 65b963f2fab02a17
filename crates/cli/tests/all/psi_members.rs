//! An intersection as a job of two parties that each start their own process, with files from
//! `local files`.

use crate::{
    documented::check,
    psi::FIELDS,
    rehearsal::{Ended, Rehearsal},
};
use std::time::{Duration, Instant};

const BOTH: [&str; 2] = ["party0", "party1"];
const A: &str = "id,email\n1,ann@x\n2,bob@x\n3,\n4,eve@x\n";
const B: &str = "mail,since\neve@x,2020\nann@x,2021\nzoe@x,2022\n";

fn world(keys: &str) -> Rehearsal {
    let world = Rehearsal::new(&format!("kind = \"psi\"\ncolumns = [\"email\", \"mail\"]\n{keys}\n"));
    world.place.put("r/party0.csv", A.as_bytes());
    world.place.put("r/party1.csv", B.as_bytes());
    world
}

fn end(world: &Rehearsal, lines: [String; 2]) -> Vec<Ended> {
    let running = BOTH.into_iter().zip(lines);
    let running = running.map(|(name, line)| world.spawn(name, world.place.hushwire(&line))).collect();
    world.end_within(running, Instant::now(), Duration::from_mins(2))
}

fn ended(world: &Rehearsal, options: &str) -> Vec<Ended> {
    end(world, BOTH.map(|name| format!("{} {options}", Rehearsal::line(name))))
}

fn of<'a>(all: &'a [Ended], name: &str) -> &'a Ended {
    all.iter().find(|member| member.name == name).unwrap_or_else(|| panic!("{name}"))
}

#[test]
fn each_party_has_its_own_file_result_and_report() {
    let world = world("reveal = \"items\"");
    world.keep("party1", "result");
    let all = ended(&world, "");
    for member in &all {
        assert_eq!(member.code, Some(0), "{}", member.err);
        assert!(
            member.err.contains("3 different keys at party 0 and 3 at party 1 intersected"),
            "{}",
            member.err
        );
    }
    assert_eq!(of(&all, "party0").out, "id,email\n1,ann@x\n4,eve@x\n");
    assert_eq!(of(&all, "party1").out, "");
    assert_eq!(world.kept("party1").as_deref(), Some(&b"mail,since\neve@x,2020\nann@x,2021\n"[..]));
    // The same job may replace its result.
    let all = ended(&world, "--json -");
    for (name, items) in [("party0", ["ann@x", "eve@x"]), ("party1", ["eve@x", "ann@x"])] {
        let member = of(&all, name);
        assert_eq!(member.code, Some(0), "{}", member.err);
        let report: serde_json::Value = serde_json::from_str(&member.out).unwrap_or_default();
        assert_eq!((&report["command"], &report["member"]), (&"party".into(), &name.into()));
        assert_eq!((&report["reveal"], &report["found"]), (&"items".into(), &2.into()));
        // A result in a file is not in the report.
        let items = if name == "party0" { serde_json::json!(items) } else { serde_json::Value::Null };
        assert_eq!((&report["keys"], &report["items"]), (&serde_json::json!([3, 3]), &items));
        assert_eq!(report["rows"], 2);
    }
}

#[test]
fn every_field_of_a_partys_report_is_documented_and_there() {
    let mut reports = vec![];
    for reveal in ["items", "flags", "sum:since,count", "columns:since"] {
        let all = ended(&world(&format!("reveal = \"{reveal}\"")), "--json -");
        for member in &all {
            member.good();
            reports.push(serde_json::from_str(&member.out).unwrap_or_else(|e| panic!("{reveal}: {e}")));
        }
    }
    check(FIELDS[0], FIELDS[1], "party", &[], &reports.iter().collect::<Vec<_>>());
}

#[test]
fn a_file_that_does_not_do_is_named_by_its_party_alone() {
    let world = world("reveal = \"size\"");
    // No other member is there to be told.
    world.set("party1", "connect-timeout = \"200ms\"");
    world.place.put("r/party1.csv", b"mail,since\nx\n");
    let running = vec![world.start("party1")];
    let all = world.end_within(running, Instant::now(), Duration::from_mins(2));
    let error = "error: party 1 cannot read r/party1.csv, line 2: it has 1 field where the first line has 2; give it as many; \
                 put quotes around a field that has separators in it\n  `hushwire explain HW0301` says more\n";
    assert!(all[0].code == Some(4) && all[0].err.ends_with(error), "{}", all[0].err);
}

/// The files in party configurations are Parquet if their names say so.
#[cfg(feature = "parquet")]
#[test]
fn parties_may_have_parquet() {
    let world = world("reveal = \"items\"");
    let whole =
        "local psi --a r/party1.csv --b r/party1.csv --key mail --to a --transport unix --out r/keys.parquet";
    let ran = world.place.ran(whole);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let config = String::from_utf8(world.place.get("r/party1.toml")).unwrap_or_default();
    let config = config.replace("party1.csv", "keys.parquet");
    let config = format!("{config}\n[outputs]\nresult = {{ file = \"common.parquet\" }}\n");
    world.place.put("r/party1.toml", config.as_bytes());
    for member in ended(&world, "") {
        assert_eq!(member.code, Some(0), "{}", member.err);
    }
    let read = "local psi --a r/common.parquet --b r/party1.csv --key mail --to a --transport unix";
    assert_eq!(world.place.ran(read).out, "mail,since\neve@x,2020\nann@x,2021\n");
}

/// A row that a Parquet result cannot contain is refused before the parties meet, whether it is
/// common or not. So the sender learns nothing about it.
#[cfg(feature = "parquet")]
#[test]
fn a_row_that_is_not_utf8_ends_alike_whether_it_is_common_or_not() {
    let world = world("reveal = \"items\"\nto = \"party0\"");
    world.edit("r/party0.toml", |text| {
        format!("connect-timeout = \"6s\"\n{text}\n[outputs]\nresult = {{ file = \"common.parquet\" }}\n")
    });
    world.set("party1", "connect-timeout = \"6s\"");
    world.place.put("r/party0.csv", b"id,email\n\xfc,ann@x\n2,bob@x\n");
    let mut ends = vec![];
    for keys in ["ann@x", "eve@x"] {
        world.place.put("r/party1.csv", format!("mail,since\n{keys},2020\n").as_bytes());
        let all = ended(&world, "");
        let error = of(&all, "party0").error();
        assert!(of(&all, "party0").code == Some(4) && error.contains("column id is not UTF-8"), "{error}");
        assert!(!world.place.at("r/common.parquet").exists());
        let sender = of(&all, "party1");
        ends.push((sender.code, sender.error().to_owned()));
    }
    assert_eq!(ends[0], ends[1]);
}
