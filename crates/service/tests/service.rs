//! Three parties in processes, from `local-up` to an opened result.

mod rig;

use rig::Rig;
use rustix::process::Signal;
use serde_json::{Value, json};
use std::time::{Duration, Instant};

const MINUTE: Duration = Duration::from_secs(60);

#[test]
fn a_query_runs_from_submission_to_a_result_that_opens() {
    let mut rig = Rig::up();
    let anybody = rig.ask(0, "GET", "/healthz", "", &Value::Null);
    assert_eq!((anybody.status.as_u16(), anybody.json()), (200, json!({ "status": "ok" })));
    assert_eq!(rig.ask(1, "GET", "/readyz", "", &Value::Null).status.as_u16(), 200);

    let (key, begun) = (Rig::fresh_key(), Instant::now());
    let job = rig.submit(&key);
    let seen = rig.wait(&job, MINUTE);
    eprintln!("from submission to commit: {:.2} s", begun.elapsed().as_secs_f64());
    for view in &seen {
        assert_eq!(
            (view["state"].as_str(), view["attempt"].as_u64()),
            (Some("committed"), Some(1)),
            "{view:#}"
        );
    }
    rig.check_result(&job, 1);

    // The same request gives the same job. Another body under its key is refused.
    let again = rig.submit_to(0, &key, &rig.job()).expect("an answer");
    assert_eq!((again.status.as_u16(), again.json()["id"].as_str()), (200, Some(job.as_str())));
    let mut other = rig.job();
    other["priority"] = json!(7);
    assert_eq!(rig.submit_to(0, &key, &other).expect("an answer").status.as_u16(), 409);

    // An altered share is found.
    let mut shares = rig.fetch(&job);
    let last = shares[1].len() - 1;
    shares[1][last] ^= 1;
    assert!(rig.open(&job, 1, &shares).is_err());

    // The recipient acknowledges the results.
    for party in 0..3 {
        let digest = seen[party]["outputs"][0]["digest"].clone();
        let path = format!("/v1/jobs/{job}/results/anna/ack");
        let wrong = rig.ask(party, "POST", &path, &rig.token("analyst"), &json!({ "digest": "00" }));
        assert_eq!(wrong.status.as_u16(), 409);
        let right = rig.ask(party, "POST", &path, &rig.token("analyst"), &json!({ "digest": digest }));
        assert_eq!((right.status.as_u16(), right.json()["state"].as_str()), (200, Some("delivered")));
    }

    // Every party has counted one run, and its log holds.
    for party in 0..3 {
        let store = rig.store(party);
        let runs: i64 = store
            .query_row("SELECT count(*) FROM runs WHERE refunded = 0", [], |row| row.get(0))
            .expect("a row");
        assert_eq!(runs, 1);
        let log = rig.ask(party, "GET", "/v1/audit", &rig.token("auditor"), &Value::Null).json();
        let actions: Vec<&str> = log["entries"]
            .as_array()
            .expect("entries")
            .iter()
            .filter_map(|entry| entry["action"].as_str())
            .collect();
        for action in ["approve", "submit", "reserve", "commit", "fetch", "acknowledge"] {
            assert!(actions.contains(&action), "{action} of {actions:?}");
        }
    }

    // Ctrl-C ends all parties.
    let mut together = rig.together.take().expect("it runs");
    together.signal(Signal::INT);
    assert!(together.ends_within(Duration::from_secs(10)));
    assert!(
        std::net::TcpStream::connect(rig.up["url"].as_str().expect("a url").trim_start_matches("https://"))
            .is_err()
    );
}

/// The commands that `local-up` prints work as they are, one after the other.
#[test]
fn the_printed_commands_lead_to_the_plain_answer() {
    let rig = Rig::up();
    let mut last = (String::new(), String::new());
    let run = |args: &str| {
        let output = std::process::Command::new(rig::program()).args(args.split_whitespace()).output();
        let output = output.expect("it starts");
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{args}: {error}{}", rig::logs(rig.dir.path()));
        String::from_utf8(output.stdout).expect("text")
    };
    for command in rig.up["commands"].as_array().expect("commands") {
        let line = command.as_str().expect("text");
        let args = line.strip_prefix("hushwire service ").expect("a command of the service");
        last = (args.to_owned(), run(args));
    }
    // The last command prints a table: a head, a rule, and rows.
    let (fetch, table) = last;
    let rows = table.lines().filter(|line| !line.starts_with('-'));
    let rows: Vec<_> = rows.map(|line| line.split_whitespace().collect::<Vec<_>>().join(",")).collect();
    rig.check_csv(&rows.join("\n"));
    let file = rig.dir.path().join("answer.csv");
    run(&format!("{fetch} --out {}", file.display()));
    rig.check_csv(&std::fs::read_to_string(file).expect("a file"));
}

/// Each endpoint of the document is tried without a token, and with a token of each role.
#[test]
fn every_endpoint_is_for_its_roles_and_tenants_alone() {
    let rig = Rig::up();
    let document = rig.ask(0, "GET", "/v1/openapi.json", "", &Value::Null).json();
    let (operator, mut tried) = (rig.token("operator"), 0);
    for (path, operations) in document["paths"].as_object().expect("paths") {
        for (method, operation) in operations.as_object().expect("operations") {
            let method = method.to_ascii_uppercase();
            let named = path.replace("{id}", "nothing").replace("{n}", "0").replace("{to}", "nobody");
            let named = named.replace("{name}", "nothing").replace("{output}", "nothing");
            let roles = operation["description"].as_str().unwrap_or_default();
            let open = operation.get("security").is_none();
            // No endpoint accepts this body: whoever may use the endpoint is told so, and nothing
            // changes.
            let odd = json!({ "odd": 1 });
            let status = |token: &str| rig.ask(0, &method, &named, token, &odd).status.as_u16();
            if !open {
                for token in ["", "hw_00", "x"] {
                    assert_eq!(status(token), 401, "{method} {path} with {token:?}");
                    tried += 1;
                }
            }
            for role in ["owner", "analyst", "operator", "auditor"] {
                let found = status(&rig.token(role));
                let allowed = open || roles.split([' ', ',', '.']).any(|word| word == role);
                assert_eq!(found != 403, allowed, "{method} {path} as {role}: {found}");
                assert!(found != 401 && found < 500, "{method} {path} as {role}: {found}");
                tried += 1;
            }
        }
    }
    assert!(tried > 150, "{tried}");

    // A tenant's things do not exist for another tenant.
    let key = Rig::fresh_key();
    let job = rig.submit(&key);
    let sample = rig.up["sample"].clone();
    for role in ["owner", "analyst"] {
        let new = json!({ "role": role, "tenant": "strangers" });
        let given = rig.ask(0, "POST", "/v1/tokens", &operator, &new);
        assert_eq!(given.status.as_u16(), 201);
        let token = given.json()["token"].as_str().expect("a token").to_owned();
        let status =
            |method: &str, path: &str, body: &Value| rig.ask(0, method, path, &token, body).status.as_u16();
        let (data, proposal) =
            (sample["data"].as_str().expect("a name"), sample["proposal"].as_str().expect("a name"));
        for path in [
            format!("/v1/jobs/{job}"),
            format!("/v1/jobs/{job}/events"),
            format!("/v1/datasets/{data}"),
            format!("/v1/proposals/{proposal}"),
        ] {
            assert_eq!(status("GET", &path, &Value::Null), 404, "{role} {path}");
        }
        if role == "analyst" {
            assert_eq!(status("POST", &format!("/v1/jobs/{job}/cancel"), &json!({})), 404);
            assert_eq!(status("GET", &format!("/v1/jobs/{job}/results/anna"), &Value::Null), 404);
        } else {
            assert_eq!(status("DELETE", &format!("/v1/datasets/{data}"), &Value::Null), 404);
            assert_eq!(status("PUT", &format!("/v1/datasets/{data}/grants/strangers"), &json!({})), 404);
            assert_eq!(status("DELETE", &format!("/v1/proposals/{proposal}"), &Value::Null), 404);
        }
        let jobs = rig.ask(0, "GET", "/v1/jobs", &token, &Value::Null).json();
        assert_eq!(jobs["jobs"].as_array().map(Vec::len), Some(0));
        // A revoked token is refused.
        let id = given.json()["id"].as_str().expect("a name").to_owned();
        assert_eq!(
            rig.ask(0, "DELETE", &format!("/v1/tokens/{id}"), &operator, &Value::Null).status.as_u16(),
            204
        );
        assert_eq!(status("GET", "/v1/jobs", &Value::Null), 401);
    }
    rig.wait(&job, MINUTE);
}

/// A run that no policy allows is refused, and the error names the party that refuses.
#[test]
fn a_run_that_no_policy_allows_ends_with_its_reason() {
    let rig = Rig::up();
    let key = Rig::fresh_key();
    let mut body = rig.job();
    // Another recipient: a fresh key that the policy does not have.
    let stranger = hushwire_seal::Person::generate().card("anna").seal_to;
    body["recipients"]["anna"] = serde_json::to_value(stranger).expect("text");
    let ids: Vec<String> = (0..3)
        .map(|party| {
            rig.submit_to(party, &key, &body).expect("an answer").json()["id"]
                .as_str()
                .expect("a name")
                .to_owned()
        })
        .collect();
    for view in rig.wait(&ids[0], MINUTE) {
        assert_eq!(view["state"], "failed", "{view:#}");
        let cause = &view["cause"];
        assert!(cause["cause"].as_str().expect("a cause").contains("recipients"), "{view:#}");
        assert_eq!(cause["who"], "party 0");
    }
    for party in 0..3 {
        let runs: i64 =
            rig.store(party).query_row("SELECT count(*) FROM runs", [], |row| row.get(0)).expect("a row");
        assert_eq!(runs, 0, "nothing ran");
    }
}

/// Requests that make no sense get an error, and valid ones still work.
#[test]
fn odd_requests_are_refused_with_a_cause() {
    let rig = Rig::up();
    let analyst = rig.token("analyst");
    let refused = |status: u16, answer: &rig::Answer| {
        assert_eq!(answer.status.as_u16(), status, "{}", String::from_utf8_lossy(&answer.bytes));
        let problem = answer.json();
        for field in ["code", "step", "cause", "kind", "request"] {
            assert!(problem[field].as_str().is_some_and(|text| !text.is_empty()), "{field}: {problem}");
        }
        problem["cause"].as_str().expect("a cause").to_owned()
    };
    let send = |path: &str, body: Vec<u8>| rig.send(0, "POST", path, &analyst, body);
    refused(400, &send("/v1/proposals", b"{".to_vec()));
    refused(400, &send("/v1/proposals", b"[[[[[[[[[[[[[[[[".to_vec()));
    refused(400, &send("/v1/proposals", br#"{"job":"kind = \"query\"","more":1}"#.to_vec()));
    refused(413, &send("/v1/proposals", vec![b' '; (1 << 20) + 1]));
    refused(404, &rig.ask(0, "GET", "/v1/nothing", &analyst, &Value::Null));
    refused(404, &rig.ask(0, "GET", "/v1/jobs/..%2f..%2fetc", &analyst, &Value::Null));
    refused(405, &rig.ask(0, "PATCH", "/v1/jobs", &analyst, &Value::Null));
    let reaches =
        json!({ "job": "kind = \"compute\"\nprotocol = \"rep3\"\ncomputation = \"/etc/passwd\"\n" });
    let cause = refused(400, &rig.ask(0, "POST", "/v1/proposals", &analyst, &reaches));
    assert!(cause.contains("did not come with it"), "{cause}");
    // A job is submitted with exactly what its proposal needs.
    for (field, value, says) in [
        ("data", json!({}), "stays"),
        ("data", json!({ "stays": rig.up["sample"]["data"], "more": "00" }), "more"),
        ("recipients", json!({}), "anna"),
        ("recipients", json!({ "anna": "00" }), "the key of recipient anna makes no sense"),
        ("parameters", json!({ "since": "2020-01-01" }), "since"),
    ] {
        let mut body = rig.job();
        body[field] = value;
        let cause = refused(400, &rig.submit_to(0, &Rig::fresh_key(), &body).expect("an answer"));
        assert!(cause.contains(says), "{cause}");
    }
    // An unknown data set is refused at submission, and the error lists the known ones.
    let mut body = rig.job();
    body["data"]["stays"] = json!("00".repeat(32));
    let answer = rig.submit_to(0, &Rig::fresh_key(), &body).expect("an answer");
    refused(404, &answer);
    let there = rig.up["sample"]["data"].as_str().expect("a name");
    assert!(answer.json()["remedy"].as_str().is_some_and(|remedy| remedy.contains(there)));
    refused(400, &rig.submit_to(0, "a key with blanks", &rig.job()).expect("an answer"));
    assert_eq!(rig.ask(0, "GET", "/healthz", "", &Value::Null).status.as_u16(), 200);
}

/// Runs a command of an operator. Returns its answer as JSON, or its exit code and error.
fn operate(args: &[&str]) -> Result<Value, (i32, String)> {
    let output = std::process::Command::new(rig::program()).args(args).output().expect("the program starts");
    if output.status.success() {
        return Ok(serde_json::from_slice(&output.stdout).unwrap_or(Value::Null));
    }
    Err((output.status.code().unwrap_or(-1), String::from_utf8_lossy(&output.stderr).into_owned()))
}

#[test]
fn a_backup_brings_back_results_and_keys_rotate() {
    let rig = Rig::up();
    let job = rig.submit(&Rig::fresh_key());
    rig.wait(&job, MINUTE);
    let config = rig.dir.path().join("party1.toml");
    let config = config.to_str().expect("text").to_owned();
    let (to, missing) = (rig.dir.path().join("backup"), rig.dir.path().join("nothing"));
    let (to, missing) = (to.to_str().expect("text").to_owned(), missing.to_str().expect("text").to_owned());
    // While it runs, the data set's part is a file, and the small result is in the store.
    let made = operate(&["backup", "--config", &config, &to, "--json"]).unwrap_or_else(|e| panic!("{e:?}"));
    assert_eq!((made["missing"].as_u64(), made["blobs"].as_u64()), (Some(0), Some(1)), "{made}");
    assert_eq!(
        operate(&["restore", "--config", &config, &to]).err().map(|e| e.0),
        Some(4),
        "its store is there"
    );
    let again = operate(&["backup", "--config", &config, &to]).expect_err("a backup is there");
    assert!(again.0 == 4 && again.1.contains("name a new directory"), "{again:?}");
    let checks = operate(&["doctor", "--config", &config, "--json"]).unwrap_or_else(|e| panic!("{e:?}"));
    assert!(
        checks.as_array().is_some_and(|all| all.len() == 9 && all.iter().all(|check| check["ok"] == true)),
        "{checks}"
    );
    let status = operate(&["status", "--config", &config, "--json"]).unwrap_or_else(|e| panic!("{e:?}"));
    assert_eq!(status["jobs"]["committed"], 1, "{status}");

    let mut rig = rig.apart();
    for name in ["party1.db", "party1.db-wal", "party1.db-shm"] {
        let _ = std::fs::remove_file(rig.dir.path().join(name));
    }
    std::fs::remove_dir_all(rig.blobs(1)).expect("it is ours");
    assert_eq!(operate(&["restore", "--config", &config, &missing]).err().map(|e| e.0), Some(4));
    operate(&["restore", "--config", &config, &to, "--json"]).unwrap_or_else(|e| panic!("{e:?}"));
    let rotated =
        operate(&["keys", "rotate", "--config", &config, "--json"]).unwrap_or_else(|e| panic!("{e:?}"));
    assert!(rotated["key"].as_str().is_some_and(|key| key.starts_with("key:")), "{rotated}");
    for party in 0..3 {
        rig.start(party, "");
    }
    (0..3).for_each(|party| rig.answers(party));
    // Old results still open, and data sets sealed to the old key can be read.
    rig.check_result(&job, 1);
    let job = rig.submit(&Rig::fresh_key());
    for view in rig.wait(&job, MINUTE) {
        assert_eq!(view["state"], "committed", "{view:#}");
    }
    let attempt = rig.look(0, &job).expect("a job")["attempt"].as_u64().expect("a number");
    rig.check_result(&job, attempt as u32);
}

#[test]
fn a_party_is_made_and_knows_its_peers() {
    let dir = tempfile::tempdir().expect("a directory");
    let path = |name: &str| dir.path().join(name).to_str().expect("text").to_owned();
    let init = |party: &str| {
        operate(&["init", &path("p"), "--party", party, "--group", "heart", "--host", "localhost", "--json"])
    };
    let made = init("0").unwrap_or_else(|e| panic!("{e:?}"));
    assert!(
        made["token"].as_str().is_some_and(|token| token.starts_with("hw_")) && made["pin"].is_string(),
        "{made}"
    );
    assert_eq!(init("0").err().map(|e| e.0), Some(4), "nothing is overwritten");
    let config = path("p/party0.toml");
    // No other party is listed yet.
    let error = operate(&["serve", "--config", &config]).expect_err("it has no peers");
    assert!(error.0 == 4 && error.1.contains("peers"), "{error:?}");
    for party in ["1", "2"] {
        let other = init(party).unwrap_or_else(|e| panic!("{e:?}"));
        let pin = other["pin"].as_str().expect("a pin");
        let join =
            || operate(&["join", "--config", &config, "--party", party, "--host", "localhost", "--pin", pin]);
        join().unwrap_or_else(|e| panic!("{e:?}"));
        assert!(join().is_err(), "it is listed once");
    }
    let error = operate(&["doctor", "--config", &config]).expect_err("nobody answers");
    assert!(error.1.contains("party 1"), "{error:?}");
}
