//! Clocks that a test sets: an hour without the decider, jumps both ways, and expired results.

use crate::{
    rig::{Rig, logs},
    support::{LONG, until},
};
use serde_json::{Value, json};

const HOUR: i64 = 3_600_000;
const DAY: i64 = 24 * HOUR;

fn state(rig: &Rig, party: usize, job: &str) -> String {
    let view = rig.look(party, job).unwrap_or_default();
    view["state"].as_str().unwrap_or_default().to_owned()
}

fn submit_to(rig: &Rig, parties: &[usize], key: &str) -> String {
    let mut id = String::new();
    for party in parties {
        let answer = rig.submit_to(*party, key, &rig.job()).expect("an answer");
        assert!(answer.status.is_success(), "{}", String::from_utf8_lossy(&answer.bytes));
        answer.json()["id"].as_str().expect("a name").clone_into(&mut id);
    }
    id
}

/// Party 0 is killed before or after its decision was written, and is back an hour later.
fn an_hour_without_the_decider(point: &str) {
    let mut rig = Rig::up().apart();
    rig.all_up();
    rig.kill(0);
    rig.start(0, &format!("{point}=kill"));
    rig.answers(0);
    let job = rig.submit(&Rig::fresh_key());
    let doubt = "waits for party 0's decision";
    until(&rig, "both others are in doubt", LONG, || {
        let waits = |party| rig.look(party, &job).is_some_and(|view| view["waits"].as_str() == Some(doubt));
        waits(1) && waits(2)
    });
    until(&rig, "party 0 is gone", LONG, || rig.try_ask(0, "GET", "/healthz", "", &[], vec![]).is_none());
    for party in [1, 2] {
        rig.set_clock(party, HOUR);
    }
    // Nothing is handed out, but the others take new jobs.
    for party in [1, 2] {
        let path = format!("/v1/jobs/{job}/results/anna");
        let answer = rig.ask(party, "GET", &path, &rig.token("analyst"), &Value::Null);
        assert_eq!(answer.status.as_u16(), 409);
        assert!(answer.json()["cause"].as_str().is_some_and(|cause| cause.contains(doubt)));
        assert_eq!(state(&rig, party, &job), "running");
    }
    let later = Rig::fresh_key();
    submit_to(&rig, &[1, 2], &later);
    rig.set_clock(0, HOUR);
    rig.parties[0] = None;
    rig.start(0, "");
    rig.answers(0);
    let seen = rig.wait(&job, LONG);
    assert_eq!(rig.one_end(&job, &seen), "committed");
    // A decided attempt holds; others are tried again.
    let attempts = if point == "store.after.decision" { 1 } else { 2 };
    assert_eq!(seen[0]["attempt"].as_u64(), Some(attempts), "{seen:#?}");
    let next = submit_to(&rig, &[0], &later);
    let seen = rig.wait(&next, LONG);
    assert_eq!(rig.one_end(&next, &seen), "committed");
}

#[test]
fn an_hour_without_the_decider_loses_no_decision() {
    an_hour_without_the_decider("store.after.decision");
}

#[test]
#[ignore = "like the one above: run by --full"]
fn an_hour_without_the_decider_decides_what_was_open() {
    an_hour_without_the_decider("store.before.decision");
}

#[test]
fn clocks_that_jump_stop_no_job_and_results_end_by_the_clock() {
    let mut rig = Rig::up().apart();
    rig.edit_config(1, |text| format!("keep = \"3d\"\n{text}"));
    rig.all_up();
    let first = rig.submit(&Rig::fresh_key());
    rig.wait(&first, LONG);
    // The parties' clocks differ by two days.
    rig.set_clock(1, -DAY);
    rig.set_clock(2, DAY);
    let job = rig.submit(&Rig::fresh_key());
    let seen = rig.wait(&job, LONG);
    assert_eq!(rig.one_end(&job, &seen), "committed");
    // The scheduler's clock is set back while a job waits for the others.
    let key = Rig::fresh_key();
    let job = submit_to(&rig, &[0], &key);
    until(&rig, "it says that it waits", LONG, || {
        let view = rig.look(0, &job).unwrap_or_default();
        view["waits"].as_str().is_some_and(|waits| waits.contains("waits for party"))
    });
    rig.set_clock(0, -2 * DAY);
    submit_to(&rig, &[1, 2], &key);
    let seen = rig.wait(&job, LONG);
    assert_eq!(rig.one_end(&job, &seen), "committed");
    // The clock is set forward again: tokens and results expire by it, and nothing else does.
    let new = json!({ "role": "auditor", "tenant": "operators", "days": 3000 });
    let given = rig.ask(1, "POST", "/v1/tokens", &rig.token("operator"), &new);
    assert_eq!(given.status.as_u16(), 201, "{}", String::from_utf8_lossy(&given.bytes));
    let token = given.json()["token"].as_str().expect("a token").to_owned();
    // Whoever gets a challenge about a result can fetch the result.
    let path = format!("/v1/jobs/{first}/results/anna/challenge");
    let fetch = |party| rig.ask(party, "POST", &path, &rig.token("analyst"), &json!({})).status.as_u16();
    assert_eq!((fetch(0), fetch(1), fetch(2)), (200, 200, 200));
    rig.set_clock(1, 4 * DAY);
    assert_eq!((fetch(0), fetch(1), fetch(2)), (200, 410, 200), "party 1 keeps results for three days");
    let audit = |token: &str| rig.ask(1, "GET", "/v1/audit", token, &Value::Null).status.as_u16();
    assert_eq!(audit(&token), 200);
    rig.set_clock(1, 100 * 366 * DAY);
    assert_eq!(audit(&token), 401, "the token has ended");
    rig.set_clock(1, 4 * DAY);
    let job = rig.submit(&Rig::fresh_key());
    let seen = rig.wait(&job, LONG);
    assert_eq!(rig.one_end(&job, &seen), "committed");
    // The sweep of the next start removes expired results.
    rig.restart_and_compare_blobs();
    let rows = |party: usize| -> i64 {
        let sql = "SELECT count(*) FROM results WHERE job = ?1";
        rig.store(party).query_row(sql, [&first], |row| row.get(0)).expect("a row")
    };
    assert_eq!((rows(0), rows(1), rows(2)), (1, 0, 1), "{}", logs(rig.dir.path()));
}
