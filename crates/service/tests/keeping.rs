//! Changes of what a party keeps and states are found: statements, proofs, policies, limits, parts
//! and logs.

mod rig;

use hushwire_policy::PolicyFile;
use hushwire_seal::{Person, SignedStatement};
use rig::{Rig, logs};
use serde_json::{Value, json};
use std::{
    path::Path,
    process::Command,
    time::{Duration, Instant},
};

const MINUTE: Duration = Duration::from_secs(60);

/// Runs a command in the rig's directory. Returns its output, or its error.
fn run(rig: &Rig, line: &str) -> Result<String, String> {
    let mut command = Command::new(rig::program());
    command.args(line.split_whitespace()).current_dir(rig.dir.path()).env_remove("HUSHWIRE_SERVICE");
    let output = command.output().unwrap_or_else(|e| panic!("{line}: {e}"));
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    if output.status.success() { Ok(text(&output.stdout)) } else { Err(text(&output.stderr)) }
}

fn json_of(rig: &Rig, line: &str) -> Value {
    let text = run(rig, &format!("{line} --json")).unwrap_or_else(|e| panic!("{line}: {e}"));
    serde_json::from_str(&text).unwrap_or_else(|e| panic!("{line}: {e}: {text}"))
}

fn until(what: &str, most: Duration, rig: &Rig, mut done: impl FnMut() -> bool) {
    let end = Instant::now() + most;
    while !done() {
        assert!(Instant::now() < end, "{what}: {}", logs(rig.dir.path()));
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// An answer's status, and its cause if it has one.
fn told(answer: &rig::Answer) -> (u16, String) {
    let cause = serde_json::from_slice::<Value>(&answer.bytes).unwrap_or_default();
    (answer.status.as_u16(), cause["cause"].as_str().unwrap_or_default().to_owned())
}

/// The sample's policy with these lines replaced, signed by the operator.
fn policy(rig: &Rig, from: &str, to: &str) -> Value {
    let all = rig.ask(0, "GET", "/v1/policies", &rig.token("operator"), &Value::Null).json();
    let sample = all["policies"].as_array().expect("policies").iter().find(|p| p["name"] == "sample");
    let text = sample.expect("the sample's")["policy"].as_str().expect("text").to_owned();
    let changed = text.replacen(from, to, 1);
    assert_ne!(changed, text, "{text}");
    signed(rig, &changed)
}

fn signed(rig: &Rig, text: &str) -> Value {
    let operator = Person::read(&rig.dir.path().join("operator.keys")).unwrap_or_else(|e| panic!("{e}"));
    let file = PolicyFile::parse(Path::new("p"), text).unwrap_or_else(|e| panic!("{e}: {text}"));
    let (signature, signer) = (file.sign(operator.sign()), operator.sign().public());
    json!({ "policy": text, "signature": signature, "signer": signer })
}

/// Puts the sample's policy anew at all parties.
fn put_policy(rig: &Rig, mut body: Value, version: u64) {
    body["version"] = json!(version);
    for party in 0..rig.count() {
        let put = rig.ask(party, "PUT", "/v1/policies/sample", &rig.token("operator"), &body);
        assert_eq!(put.status.as_u16(), 200, "{}", String::from_utf8_lossy(&put.bytes));
    }
}

#[test]
fn a_store_and_its_blobs_have_one_service() {
    let rig = Rig::up_of(2);
    let dir = rig.dir.path();
    let text = std::fs::read_to_string(dir.join("party0.toml")).expect("a config");
    // Other ports, so that they do not stop a second service.
    let mut text: Vec<String> = text.lines().map(str::to_owned).collect();
    for line in text.iter_mut().filter(|line| line.starts_with("listen-")) {
        let key = line.split(' ').next().expect("a key").to_owned();
        *line = format!("{key} = \"127.0.0.1:0\"");
    }
    let text = text.join("\n");
    for (name, changed, says) in [
        ("same.toml", text.clone(), "party0.blobs: another service runs on it"),
        ("store.toml", text.replace("party0.blobs", "other.blobs"), "party0.db: another service runs on it"),
        ("blobs.toml", text.replace("party0.db", "other.db"), "party0.blobs: another service runs on it"),
    ] {
        assert_ne!(changed.contains("other"), name == "same.toml");
        std::fs::write(dir.join(name), changed).expect("a place");
        // A service that starts would end when its stdin closes.
        let error = run(&rig, &format!("serve --config {name} --attended")).expect_err(name);
        assert!(error.contains(says), "{name}: {error}");
    }
    assert!(run(&rig, "status --config party0.toml").is_ok_and(|said| said.contains("running")));
}

#[test]
fn a_host_is_a_name_or_an_address_and_nothing_else() {
    let dir = tempfile::tempdir().expect("a directory");
    let run = |line: &[&str]| {
        let output = Command::new(rig::program()).args(line).current_dir(dir.path()).output();
        let output = output.unwrap_or_else(|e| panic!("{line:?}: {e}"));
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    for host in ["", "h:7443", "https://h", "h\"\nx = 1", "a b", "[h]"] {
        let (code, error) = run(&["init", "bad", "--party", "0", "--group", "g", "--host", host]);
        assert!(code == Some(2) && error.contains("is not a host"), "{host:?}: {code:?} {error}");
        assert!(!dir.path().join("bad").exists(), "{host:?}");
    }
    assert_eq!(run(&["init", "p", "--party", "0", "--group", "g", "--host", "::1"]).0, Some(0));
    let config = dir.path().join("p/party0.toml");
    let before = std::fs::read_to_string(&config).expect("a config");
    assert!(before.contains("url = \"https://[::1]:7443\""), "{before}");
    let pin = format!("sha256:{}", "11".repeat(32));
    let join = |party: &str, host: &str| {
        run(&["join", "--config", "p/party0.toml", "--party", party, "--host", host, "--pin", &pin])
    };
    for (party, host, says) in [("8", "h", "no party 8"), ("1", "h:7443", "is not a host")] {
        let (code, error) = join(party, host);
        assert!(code == Some(2) && error.contains(says), "{code:?} {error}");
    }
    assert_eq!(std::fs::read_to_string(&config).expect("a config"), before);
    assert_eq!(join("1", "party1.example").0, Some(0));
    assert_eq!(join("2", "2001:db8::1").0, Some(0));
    let (_, error) = run(&["doctor", "--config", "p/party0.toml"]);
    assert!(!error.contains("HW0401"), "{error}");
}

/// Three parties that greet each other often.
fn quick() -> Rig {
    let mut rig = Rig::up().apart();
    (0..3).for_each(|party| rig.configure(party, "greet = \"300ms\""));
    rig.start_all();
    rig
}

/// Statements, the proof for a fetch, a rotation while the service runs, events, repeated
/// proposals, forged parts and edited manifests: one group serves all of these cases.
#[test]
fn what_does_not_hold_is_refused_and_named() {
    let rig = quick();
    let (analyst, owner, operator) = (rig.token("analyst"), rig.token("owner"), rig.token("operator"));

    // Each party passes on the signed statements of the others.
    let views = || -> Vec<Value> {
        (0..3).map(|party| rig.ask(party, "GET", "/v1/group", &owner, &Value::Null).json()).collect()
    };
    until("all hear the same", Duration::from_secs(10), &rig, || {
        let views = views();
        views.iter().all(|view| view["statements"] == views[0]["statements"])
    });
    for view in &views() {
        let said: Vec<SignedStatement> = serde_json::from_value(view["statements"].clone()).expect("signed");
        assert_eq!(said.iter().map(|said| said.statement().party).collect::<Vec<_>>(), [0, 1, 2]);
    }

    // Whoever has a token but not the key gets nothing of a result.
    let job = rig.submit(&Rig::fresh_key());
    let path = format!("/v1/jobs/{job}/results/anna");
    rig.wait(&job, MINUTE);
    let stranger = rig.dir.path().join("stranger.keys");
    Person::generate().write(&stranger, false).unwrap_or_else(|e| panic!("{e}"));
    assert!(rig.proof(0, &job, "stranger.keys").expect_err("another key").contains("key:"));
    let proof = rig.proof(0, &job, "anna.keys").expect("anna's");
    let with = |party: usize, token: &str, proof: &str| {
        let headers = [("hushwire-proof", proof)];
        told(&rig.try_ask(party, "GET", &path, token, &headers, vec![]).expect("an answer"))
    };
    for (party, proof) in [(0, ""), (0, "00"), (0, &"00".repeat(32)), (1, proof.as_str())] {
        let (status, cause) = with(party, &analyst, proof);
        assert!(status == 403 && cause.contains("anna"), "{status} {cause}");
    }
    let given = rig.ask(0, "POST", "/v1/tokens", &operator, &json!({ "role": "analyst", "tenant": "demo" }));
    let other = given.json()["token"].as_str().expect("a token").to_owned();
    assert_eq!(with(0, &other, &proof).0, 403, "a proof is of the token that asked");
    assert_eq!(with(0, &analyst, &proof).0, 200);
    rig.check_result(&job, 1);

    // Events are lines of JSON; the last line has the end.
    let second = rig.submit(&Rig::fresh_key());
    let lines = run(&rig, &format!("wait {second} --limit 60 --progress --json --to analyst.toml"));
    let lines = lines.unwrap_or_else(|e| panic!("{e}"));
    let events: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let (last, events) = events.split_last().expect("lines");
    assert!(last.as_array().is_some_and(|all| all.iter().all(|view| view["state"] == "committed")), "{last}");
    assert!(events.len() >= 2 && events.iter().all(|view| view["id"] == second.as_str()), "{lines}");

    // A party's key is rotated while the party runs: pending, then active, without a restart.
    let rotated = json_of(&rig, "keys rotate --config party1.toml");
    assert_eq!(rotated["state"], "pending");
    until("the key becomes active", Duration::from_secs(30), &rig, || {
        json_of(&rig, "keys list --config party1.toml")[0]["state"] == "active"
    });
    let keys = json_of(&rig, "keys list --config party1.toml");
    assert_eq!((&keys[0]["id"], &keys[1]["state"]), (&rotated["key"], &json!("expired")));
    let id = |view: &Value| {
        let said: Vec<SignedStatement> = serde_json::from_value(view["statements"].clone()).expect("signed");
        said[1].statement().seal_to.id().to_string()
    };
    assert_eq!(json!(id(&rig.ask(1, "GET", "/v1/group", &owner, &Value::Null).json())), rotated["key"]);

    // A data set is sealed to the new key. Then the same data set is forged.
    let csv: String = "id,n\n".to_owned() + &(0..20).map(|n| format!("{n},{n}\n")).collect::<String>();
    std::fs::write(rig.dir.path().join("t.csv"), csv).expect("room");
    let schema = "[[tables]]\nname = \"t\"\ncolumns = [\"id INTEGER NOT NULL\", \"n SMALLINT NOT NULL\"]\n";
    std::fs::write(rig.dir.path().join("t.toml"), schema).expect("room");
    let put = "data put t.csv --schema t.toml --keys owner.keys --to owner.toml --range n=0..19";
    let data = json_of(&rig, put);
    let shown = rig.ask(
        0,
        "GET",
        &format!("/v1/datasets/{}", data["id"].as_str().expect("an id")),
        &owner,
        &Value::Null,
    );
    let columns = shown.json()["schema"].clone();
    assert_eq!(
        (&columns[1]["min"], &columns[1]["max"], &columns[0]["min"]),
        (&json!(0), &json!(19), &Value::Null)
    );
    let error = run(&rig, &put.replace("0..19", "1..19")).expect_err("a value is below");
    assert!(error.contains("n") && error.contains("1..19"), "{error}");
    let store = rig.store(0);
    let (manifest, signature, envelope): (String, String, Vec<u8>) = store
        .query_row("SELECT manifest, signature, envelope FROM datasets WHERE name = 't'", [], |row| {
            Ok((row.get(0)?, row.get(1)?, row.get(2)?))
        })
        .expect("a row");
    let begin = |manifest: &str, signature: &str, envelope: &[u8]| {
        let body = json!({ "manifest": manifest, "signature": signature, "envelope": hex::encode(envelope) });
        told(&rig.ask(0, "POST", "/v1/datasets", &owner, &body))
    };
    assert_eq!(begin(&manifest, &signature, &envelope).0, 200, "the same data set again");
    let (status, cause) = begin(&manifest.replacen("\"rows\":20", "\"rows\":19", 1), &signature, &envelope);
    assert!(status == 422 && cause.contains("signature"), "an edited manifest: {status} {cause}");
    let flipped = format!("{}{}", if signature.starts_with('0') { '1' } else { '0' }, &signature[1..]);
    assert_eq!(begin(&manifest, &flipped, &envelope).0, 422);
    let mut bent = envelope.clone();
    bent[7] ^= 1;
    assert_eq!(begin(&manifest, &signature, &bent).0, 403, "an envelope that does not open");
    // A part that the manifest does not name. The data set is new, so its part is missing.
    let next = format!(
        "{} --line {} --version 2",
        put.replace("n=0..19", "n=0..20"),
        data["line"].as_str().expect("a line")
    );
    let next = json_of(&rig, &next);
    let parts = format!("/v1/datasets/{}/parts/0", next["id"].as_str().expect("an id"));
    store
        .execute("UPDATE parts SET stored = 0 WHERE dataset = ?1", [next["id"].as_str()])
        .expect("it is ours");
    let bytes: i64 = store
        .query_row("SELECT bytes FROM parts WHERE dataset = ?1", [next["id"].as_str()], |row| row.get(0))
        .expect("a row");
    let forged = rig.send(0, "PUT", &parts, &owner, vec![7; bytes as usize]);
    assert_eq!(forged.status.as_u16(), 409, "a forged part");

    // A withdrawn proposal does not come back, nor does a replaced policy.
    let text = std::fs::read_to_string(rig.dir.path().join("stays.toml")).expect("a job");
    let propose = |body: &Value| rig.ask(0, "POST", "/v1/proposals", &analyst, body);
    let body = json!({ "job": text.replace("min-group = 5", "min-group = 6") });
    let made = propose(&body).json();
    let id = made["id"].as_str().expect("a name").to_owned();
    assert_eq!(propose(&body).status.as_u16(), 200, "twice is once");
    let path = format!("/v1/proposals/{id}");
    assert_eq!(rig.ask(0, "DELETE", &path, &analyst, &Value::Null).status.as_u16(), 200);
    let (status, cause) = told(&propose(&body));
    assert!(status == 409 && cause.contains("withdrawn"), "{status} {cause}");
    let past = json!({ "job": text, "expires": "2020-01-01T00:00:00Z" });
    assert_eq!(propose(&past).status.as_u16(), 400);
    let soon = hushwire_policy::moment_text(
        std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).expect("now").as_secs() + 2,
    );
    let short = propose(&json!({ "job": text, "expires": soon })).json();
    let path = format!("/v1/proposals/{}", short["id"].as_str().expect("a name"));
    assert_eq!(short["state"], "proposed");
    until("the proposal expires", Duration::from_secs(5), &rig, || {
        rig.ask(0, "GET", &path, &analyst, &Value::Null).json()["state"] == "expired"
    });
    let mut approve = policy(&rig, "mean stay by ward", "mean stay");
    approve["verdict"] = json!("approve");
    let late = rig.ask(0, "POST", &format!("{path}/verdict"), &operator, &approve);
    assert_eq!(told(&late), (409, "it is expired".to_owned()));
    let bad = json!({ "policy": approve["policy"], "signer": approve["signer"], "signature": "00".repeat(64), "version": 2 });
    let put = rig.ask(0, "PUT", "/v1/policies/sample", &operator, &bad);
    assert_eq!(put.status.as_u16(), 422, "a signature that does not hold");
    let old = policy(&rig, "mean stay by ward", "mean stay by ward ");
    let first = signed(&rig, &old["policy"].as_str().expect("text").replacen("by ward ", "by ward", 1));
    put_policy(&rig, old, 2);
    let mut again = first;
    again["version"] = json!(3);
    let (status, cause) = told(&rig.ask(0, "PUT", "/v1/policies/sample", &operator, &again));
    assert!(status == 409 && cause.contains("version 1"), "{status} {cause}");

    // An expired policy allows nothing more.
    put_policy(&rig, policy(&rig, "runs = ", "expires = 2020-01-01\nruns = "), 3);
    let late = rig.submit(&Rig::fresh_key());
    for view in rig.wait(&late, MINUTE) {
        let cause = view["cause"]["cause"].as_str().expect("a cause").to_owned();
        assert!(view["state"] == "failed" && cause.contains("`expires`"), "{view:#}");
    }
    // Each refusal is in the log of the party, with the name of its request.
    assert!(logs(rig.dir.path()).contains("request="), "{}", logs(rig.dir.path()));
}

/// A limit of a policy ends an attempt, and the error names it.
#[test]
fn the_limits_of_a_policy_are_kept() {
    let rig = Rig::up();
    put_policy(&rig, policy(&rig, "runs = ", "max = { memory = \"1MiB\" }\nruns = "), 2);
    let job = rig.submit(&Rig::fresh_key());
    for view in rig.wait(&job, MINUTE) {
        let cause = view["cause"]["cause"].as_str().expect("a cause").to_owned();
        assert!(view["state"] == "failed" && cause.contains("max.memory"), "{view:#}");
        assert!(
            view["attempts"].as_array().is_some_and(|all| all.len() <= 1),
            "it is not tried again: {view:#}"
        );
    }
    let mut rig = rig.apart();
    rig.start_all();
    put_policy(&rig, policy(&rig, "memory = \"1MiB\"", "seconds = 1"), 3);
    // A worker of party 2 is slow: it sleeps for a second before it reads its inputs.
    if cfg!(any(feature = "failpoints", debug_assertions)) {
        rig.end(2);
        rig.start(2, "worker.inputs=sleep");
        rig.answers(2);
        let job = rig.submit(&Rig::fresh_key());
        for view in rig.wait(&job, MINUTE) {
            let cause = view["cause"]["cause"].as_str().expect("a cause").to_owned();
            assert!(view["state"] == "failed" && cause.contains("max.seconds"), "{view:#}");
        }
    }
}

/// Policies in a directory count if they are signed, as long as their files exist.
#[test]
fn a_watched_directory_of_policies_is_strict() {
    let mut rig = Rig::up().apart();
    let dir = rig.dir.path().join("policies");
    std::fs::create_dir(&dir).expect("a directory");
    for party in 0..3 {
        rig.configure(party, "policies = \"policies\"");
        // The sample's own policy ends, so that only policies of the directory count.
        rig.store(party).execute("UPDATE policies SET active = 0", []).expect("it is ours");
    }
    let text: String = rig
        .store(0)
        .query_row("SELECT body FROM policies WHERE name = 'sample'", [], |row| row.get(0))
        .expect("a row");
    rig.start_all();
    let write = |name: &str, text: &str, signer: &Value| {
        let beside = json!({ "signature": signer["signature"], "signer": signer["signer"] });
        std::fs::write(dir.join(format!("{name}.toml.sig")), beside.to_string()).expect("room");
        std::fs::write(dir.join(format!("{name}.toml")), text).expect("room");
    };
    let names = |party: usize| -> Vec<String> {
        let all = rig.ask(party, "GET", "/v1/policies", &rig.token("operator"), &Value::Null).json();
        let all = all["policies"].as_array().expect("policies").clone();
        all.iter().map(|policy| policy["name"].as_str().expect("a name").to_owned()).collect()
    };
    let refused = |party: usize| -> i64 {
        let sql = "SELECT count(*) FROM audit WHERE action = 'policy refused'";
        rig.store(party).query_row(sql, [], |row| row.get(0)).expect("a row")
    };
    // Not signed by an operator; with an unknown key; and a good one.
    let good = signed(&rig, &text);
    write("edited", &text.replace("100000", "200000"), &good);
    std::fs::write(dir.join("bare.toml"), &text).expect("room");
    write("strict", &text.replace("runs", "rums"), &good);
    until("bad policies are refused", Duration::from_secs(10), &rig, || {
        (0..3).all(|party| refused(party) >= 3)
    });
    assert!((0..3).all(|party| names(party).is_empty()), "none counts");
    write("stays", &text, &good);
    until("the policy counts", Duration::from_secs(10), &rig, || {
        (0..3).all(|party| names(party) == ["file.stays"])
    });
    let job = rig.submit(&Rig::fresh_key());
    for view in rig.wait(&job, MINUTE) {
        assert_eq!(view["state"], "committed", "{view:#}");
    }
    // Only its file can change it.
    let mut body = good.clone();
    body["version"] = json!(2);
    let put = rig.ask(0, "PUT", "/v1/policies/file.stays", &rig.token("operator"), &body);
    assert_eq!(put.status.as_u16(), 400);
    let checks = json_of_failing_doctor(&rig);
    assert!(checks.contains("policies") && checks.contains("bare"), "{checks}");
    std::fs::remove_file(dir.join("stays.toml")).expect("it is ours");
    until("the policy ends", Duration::from_secs(10), &rig, || (0..3).all(|party| names(party).is_empty()));
    let job = rig.submit(&Rig::fresh_key());
    for view in rig.wait(&job, MINUTE) {
        assert_eq!(view["state"], "failed", "{view:#}");
    }
}

/// The error of `doctor` if a check fails.
fn json_of_failing_doctor(rig: &Rig) -> String {
    run(rig, "doctor --config party0.toml").expect_err("a check fails")
}

/// A changed bit of a stored share, and a rewritten log of a party, are found and named before
/// anything opens.
#[test]
fn a_changed_share_and_a_rewritten_log_are_found() {
    let mut rig = quick();
    // One bit of party 1's part.
    let blob: String = rig
        .store(1)
        .query_row("SELECT blob FROM parts", [], |row| row.get(0))
        .expect("the sample has one part");
    let path = rig.blobs(1).join(blob);
    let mut bytes = std::fs::read(&path).expect("a part");
    let at = bytes.len() / 2;
    bytes[at] ^= 4;
    std::fs::write(&path, &bytes).expect("room");
    let job = rig.submit(&Rig::fresh_key());
    for (party, view) in rig.wait(&job, MINUTE).iter().enumerate() {
        assert_eq!(
            (view["state"].as_str(), view["cause"]["who"].as_str()),
            (Some("failed"), Some("party 1")),
            "{view:#}"
        );
        assert_eq!(view["cause"]["code"], "HW1002", "{view:#}");
        let results: i64 =
            rig.store(party).query_row("SELECT count(*) FROM results", [], |row| row.get(0)).expect("a row");
        assert_eq!(results, 0, "nothing was kept");
    }
    bytes[at] ^= 4;
    std::fs::write(&path, &bytes).expect("room");
    let job = rig.submit(&Rig::fresh_key());
    for view in rig.wait(&job, MINUTE) {
        assert_eq!(view["state"], "committed", "{view:#}");
    }

    // Party 1's operator rewrites its log: the last entries are missing, and the chain holds.
    let heads = |rig: &Rig| -> i64 {
        let sql = "SELECT audit_seq FROM peers WHERE party = 1";
        rig.store(0).query_row(sql, [], |row| row.get(0)).expect("a row")
    };
    let whole: i64 =
        rig.store(1).query_row("SELECT max(seq) FROM audit", [], |row| row.get(0)).expect("a row");
    until("party 0 hears the end of party 1's log", Duration::from_secs(20), &rig, || heads(&rig) >= whole);
    rig.end(1);
    rig.store(1).execute("DELETE FROM audit WHERE seq > 3", []).expect("it is ours");
    rig.start(1, "");
    rig.answers(1);
    until("party 0 finds it", Duration::from_secs(20), &rig, || {
        rig.ask(0, "GET", "/readyz", "", &Value::Null).json()["checks"]
            .as_array()
            .expect("checks")
            .iter()
            .any(|check| check["cause"].as_str().is_some_and(|cause| cause.contains("audit log of party 1")))
    });
    let noted: i64 = rig
        .store(0)
        .query_row(
            "SELECT count(*) FROM audit WHERE action = 'contradiction' AND object = 'party 1'",
            [],
            |row| row.get(0),
        )
        .expect("a row");
    assert_eq!(noted, 1, "once, however often it is seen");
    assert!(logs(rig.dir.path()).contains("has lost the entry"), "{}", logs(rig.dir.path()));
    let job = rig.submit(&Rig::fresh_key());
    for view in rig.wait(&job, MINUTE) {
        let cause = view["cause"]["cause"].as_str().expect("a cause").to_owned();
        assert!(view["state"] == "failed" && cause.contains("audit log of party 1"), "{view:#}");
    }
    // The auditor also finds it in what the others recorded.
    let error = run(&rig, "audit verify --to auditor.toml").expect_err("an entry is gone");
    assert!(error.contains("party 1"), "{error}");
    // The log was restored from a backup: both others accept it as it is.
    for party in [0, 2] {
        json_of(&rig, &format!("accept-log --config party{party}.toml --party 1"));
    }
    until("the others compare from now on", Duration::from_secs(20), &rig, || {
        (0..3).all(|party| rig.ask(party, "GET", "/readyz", "", &Value::Null).status.is_success())
    });
    let job = rig.submit(&Rig::fresh_key());
    for view in rig.wait(&job, MINUTE) {
        assert_eq!(view["state"], "committed", "{view:#}");
    }
    // The auditor sees who accepted it, and checks what was recorded since then.
    let verified = json_of(&rig, "audit verify --to auditor.toml");
    let by: Vec<_> = verified["accepted"].as_array().expect("a list").iter().map(|one| &one["by"]).collect();
    assert_eq!(by, [0, 2], "{verified}");
    let said = run(&rig, "audit verify --to auditor.toml").unwrap_or_else(|e| panic!("{e}"));
    assert!(said.contains("party 2 accepted the log of party 1"), "{said}");
}
