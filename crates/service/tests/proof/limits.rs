//! Limits that hold from end to end: attempts at the same time, the drain of an ending party, and
//! the values of parameters.

use crate::{
    rig::{Rig, logs},
    support::{LONG, run, told, until, word, write},
};
use hushwire_seal::Person;
use rustix::process::Signal;
use serde_json::{Value, json};
use std::{collections::BTreeMap, fmt::Write as _, time::Duration};

/// The most attempts of these jobs that a party had at the same time.
fn most_at_once(rig: &Rig, party: usize, jobs: &[String]) -> i32 {
    let store = rig.store(party);
    let mut statement = store.prepare("SELECT job, created, ended FROM attempts").expect("SQL");
    let rows = statement.query_map([], |row| {
        Ok((row.get::<_, String>(0)?, row.get::<_, i64>(1)?, row.get::<_, Option<i64>>(2)?))
    });
    let mut moments = vec![];
    for row in rows.expect("rows") {
        let (job, created, ended) = row.expect("a row");
        if jobs.contains(&job) {
            moments.push((created, 1));
            moments.push((ended.expect("it has ended"), -1));
        }
    }
    // At the same moment, ends come before beginnings.
    moments.sort_unstable();
    let (mut now, mut most) = (0, 0);
    for (_, change) in moments {
        now += change;
        most = most.max(now);
    }
    most
}

#[test]
fn a_tenant_has_no_more_attempts_at_once_than_its_quota() {
    let rig = Rig::up();
    let run_some = |parallel: i64, n: usize| {
        for party in 0..3 {
            let quotas = json!({ "jobs": 100, "bytes": 1u64 << 30, "parallel": parallel });
            let set = rig.ask(party, "PUT", "/v1/tenants/demo", &rig.token("operator"), &quotas);
            assert!(set.status.is_success(), "{}", String::from_utf8_lossy(&set.bytes));
        }
        let jobs: Vec<_> = (0..n).map(|_| rig.submit(&Rig::fresh_key())).collect();
        for job in &jobs {
            let seen = rig.wait(job, LONG);
            assert_eq!(rig.one_end(job, &seen), "committed");
        }
        most_at_once(&rig, 0, &jobs)
    };
    assert_eq!(run_some(1, 4), 1);
    assert_eq!(run_some(8, 5), 2, "as many as there are slots");
    // Jobs that have not ended count against the quota, too.
    let quotas = json!({ "jobs": 0, "bytes": 1u64 << 30, "parallel": 1 });
    rig.ask(0, "PUT", "/v1/tenants/demo", &rig.token("operator"), &quotas);
    let refused = rig.submit_to(0, &Rig::fresh_key(), &rig.job()).expect("an answer");
    assert_eq!(refused.status.as_u16(), 429);
}

/// A party that is told to end lets its attempt end first, and takes nothing new.
fn drains(party: usize) {
    let mut rig = Rig::up().apart();
    rig.all_up();
    rig.kill(party);
    // Its worker takes a second longer.
    rig.start(party, "worker.sealed=sleep");
    rig.answers(party);
    let job = rig.submit(&Rig::fresh_key());
    until(&rig, "the attempt has started", LONG, || {
        let sql = "SELECT count(*) FROM attempts WHERE state = 'started'";
        rig.store(party).query_row(sql, [], |row| row.get::<_, i64>(0)).expect("a row") == 1
    });
    let ending = rig.parties[party].as_ref().expect("it runs");
    ending.signal(Signal::TERM);
    until(&rig, "it takes nothing new", LONG, || {
        let refused = rig.submit_to(party, &Rig::fresh_key(), &rig.job());
        refused.is_none_or(|answer| answer.status.as_u16() == 503)
    });
    let mut ending = rig.parties[party].take().expect("it runs");
    assert!(ending.ends_within(Duration::from_secs(20)), "{}", logs(rig.dir.path()));
    rig.start(party, "");
    rig.answers(party);
    let seen = rig.wait(&job, LONG);
    assert_eq!(rig.one_end(&job, &seen), "committed");
    assert_eq!(seen[0]["attempt"].as_u64(), Some(1), "the attempt was not cut: {seen:#?}");
}

#[test]
fn a_party_that_ends_lets_its_attempt_end() {
    drains(1);
}

#[test]
#[ignore = "like the one above: run by --full"]
fn the_decider_that_ends_lets_its_attempt_end() {
    drains(0);
}

/// The plain answer: the number of stays of at least `least` days, by ward.
fn stays_by_ward(rig: &Rig, least: u64) -> Vec<String> {
    let text = std::fs::read_to_string(rig.dir.path().join("stays.csv")).expect("the sample's rows");
    let mut wards: BTreeMap<&str, u64> = BTreeMap::new();
    for line in text.lines().skip(1) {
        let fields: Vec<&str> = line.split(',').collect();
        if fields[2].parse::<u64>().expect("a number") >= least {
            *wards.entry(fields[1]).or_default() += 1;
        }
    }
    wards.into_iter().map(|(ward, n)| format!("{ward},{n}")).collect()
}

#[test]
fn parameters_hold_from_the_terms_to_the_result() {
    let rig = Rig::up();
    let mut job = "kind = \"query\"\nsql = \"SELECT ward, COUNT(*) AS n FROM stays WHERE days >= :least GROUP BY ward\"\n\
                   to = [\"recipient:bob\"]\n\n[parameters]\nleast = { type = \"SMALLINT\", from = 1, to = 12 }\n\n"
        .to_owned();
    let _ = write!(
        job,
        "[[tables]]\nname = \"stays\"\ncolumns = [\"patient INTEGER NOT NULL\", \"ward VARCHAR(8) NOT NULL\", \
         \"days SMALLINT NOT NULL\"]\nparts = [\"data:stays 60\"]\n"
    );
    write(&rig, "job.toml", &job);
    let bob = told(&rig, "key init --keys bob.keys --name bob");
    let proposal = told(&rig, "propose job.toml --to analyst.toml")[0]["id"].clone();
    let (proposal, data) = (word(&proposal).to_owned(), word(&rig.up["sample"]["data"]).to_owned());
    let policy = run(
        &rig,
        &format!(
            "policy draft {proposal} --recipient {} --data stays=id:{data} --param least=2..9 --runs 3 --to operator.toml",
            word(&bob["id"])
        ),
    );
    write(&rig, "policy.toml", &policy);
    run(&rig, &format!("approve {proposal} --policy policy.toml --keys operator.keys --to operator.toml"));
    let seal_to = Person::read(&rig.dir.path().join("bob.keys")).unwrap_or_else(|e| panic!("{e}"));
    let seal_to = serde_json::to_value(seal_to.card("bob").seal_to).expect("text");
    let body = |parameters: Value| json!({ "proposal": proposal, "data": { "stays": data }, "recipients": { "bob": seal_to }, "parameters": parameters });
    // A parameter outside the terms is refused at submission.
    for (parameters, status, says) in [
        (json!({ "least": "13" }), 422, "least"),
        (json!({ "least": "0" }), 422, "least"),
        (json!({ "least": "many" }), 422, "least"),
        (json!({}), 400, "least"),
        (json!({ "least": "3", "most": "4" }), 400, "most"),
    ] {
        let answer = rig.submit_to(0, &Rig::fresh_key(), &body(parameters.clone())).expect("an answer");
        let text = String::from_utf8_lossy(&answer.bytes).into_owned();
        assert_eq!(answer.status.as_u16(), status, "{parameters}: {text}");
        assert!(text.contains(says), "{parameters}: {text}");
    }
    // A run that this policy does not allow is denied, and not counted.
    let submit = |value: &str| {
        let (key, mut id) = (Rig::fresh_key(), String::new());
        for party in 0..3 {
            let answer = rig.submit_to(party, &key, &body(json!({ "least": value }))).expect("an answer");
            assert!(answer.status.is_success(), "{}", String::from_utf8_lossy(&answer.bytes));
            id = word(&answer.json()["id"]).to_owned();
        }
        id
    };
    let denied = submit("12");
    for view in rig.wait(&denied, LONG) {
        assert_eq!(view["state"], "failed");
        assert!(word(&view["cause"]["cause"]).contains("least"), "{view:#}");
    }
    // A run that both allow is done, with its own value.
    for least in [2, 9] {
        let id = submit(&least.to_string());
        for view in rig.wait(&id, LONG) {
            assert_eq!(view["state"], "committed", "{view:#}");
        }
        run(&rig, &format!("fetch {id} --keys bob.keys --out answer{least}.csv --to analyst.toml"));
        let answer =
            std::fs::read_to_string(rig.dir.path().join(format!("answer{least}.csv"))).expect("a file");
        let mut rows: Vec<_> = answer.lines().skip(1).map(str::to_owned).collect();
        rows.sort();
        assert_eq!(rows, stays_by_ward(&rig, least));
    }
    let counted = "SELECT count(*) FROM runs WHERE refunded = 0";
    for party in 0..3 {
        let n: i64 = rig.store(party).query_row(counted, [], |row| row.get(0)).expect("a row");
        assert_eq!(n, 2, "party {party}");
    }
    // Another value under the same key would be another job.
    let key = Rig::fresh_key();
    assert!(rig.submit_to(0, &key, &body(json!({ "least": "3" }))).expect("an answer").status.is_success());
    let other = rig.submit_to(0, &key, &body(json!({ "least": "4" }))).expect("an answer");
    assert_eq!(other.status.as_u16(), 409);
}
