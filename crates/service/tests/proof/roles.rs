//! Every endpoint of the document is asked for one tenant's things by people of another tenant.

use crate::{
    rig::Rig,
    support::{LONG, word},
};
use serde_json::{Value, json};

/// A path of the document with names of a tenant's things filled in.
fn filled(path: &str, rig: &Rig, job: &str) -> String {
    let sample = &rig.up["sample"];
    let id = match path.split('/').nth(2) {
        Some("datasets") => word(&sample["data"]),
        Some("proposals") => word(&sample["proposal"]),
        Some("jobs") => job,
        _ => "demo",
    };
    let path = path.replace("{id}", id).replace("{n}", "0").replace("{output}", "anna");
    path.replace("{to}", "strangers").replace("{name}", "sample")
}

/// A body that the endpoint accepts, so that only the tenant can be the reason to refuse.
fn body(path: &str, method: &str, rig: &Rig, digest: &Value) -> Value {
    match (method, path) {
        ("PUT", "/v1/datasets/{id}/grants/{to}") => json!({}),
        ("POST", "/v1/jobs") => rig.job(),
        ("POST", path) if path.ends_with("/ack") => json!({ "digest": digest }),
        _ => Value::Null,
    }
}

#[test]
fn no_endpoint_shows_or_changes_what_another_tenant_has() {
    let rig = Rig::up();
    let job = rig.submit(&Rig::fresh_key());
    let seen = rig.wait(&job, LONG);
    let digest = &seen[0]["outputs"][0]["digest"];
    let document = rig.ask(0, "GET", "/v1/openapi.json", "", &Value::Null).json();
    let before =
        rig.ask(0, "GET", "/v1/audit?from=1&limit=10000", &rig.token("auditor"), &Value::Null).json();
    let strangers: Vec<_> = ["owner", "analyst"]
        .into_iter()
        .map(|role| {
            let new = json!({ "role": role, "tenant": "strangers" });
            let given = rig.ask(0, "POST", "/v1/tokens", &rig.token("operator"), &new).json();
            (role, word(&given["token"]).to_owned())
        })
        .collect();
    let names = [word(&rig.up["sample"]["data"]), word(&rig.up["sample"]["proposal"]), &job];
    let (mut tried, mut hidden) = (0, 0);
    for (path, operations) in document["paths"].as_object().expect("paths") {
        for (method, operation) in operations.as_object().expect("operations") {
            let method = method.to_ascii_uppercase();
            if operation.get("security").is_none() {
                continue;
            }
            let described = word(&operation["description"]);
            for (role, token) in &strangers {
                let asked = body(path, &method, &rig, digest).to_string().into_bytes();
                let key = Rig::fresh_key();
                let answer = rig
                    .try_ask(
                        0,
                        &method,
                        &filled(path, &rig, &job),
                        token,
                        &[("idempotency-key", &key)],
                        asked,
                    )
                    .expect("an answer");
                let (status, text) = (answer.status.as_u16(), String::from_utf8_lossy(&answer.bytes));
                let what = format!("{method} {path} as {role}: {status} {text}");
                let may = described.split([' ', ',', '.']).any(|word| word == *role);
                if !may {
                    assert_eq!(status, 403, "{what}");
                } else if path.contains('{') {
                    // The answer is the same as if it did not exist.
                    assert_eq!(status, 404, "{what}");
                    hidden += 1;
                } else if method == "GET" {
                    assert!(names.iter().all(|name| !text.contains(name)), "{what}");
                } else {
                    assert!((400..500).contains(&status), "{what}");
                }
                // A refusal reveals nothing of the job's text.
                assert!(!text.contains("mean_days") && !text.contains("stays WHERE"), "{what}");
                tried += 1;
            }
        }
    }
    assert!(tried > 50 && hidden > 15, "{tried} {hidden}");
    // Nothing has happened: the log has only the new tokens.
    let after = rig.ask(0, "GET", "/v1/audit?from=1&limit=10000", &rig.token("auditor"), &Value::Null).json();
    let (before, after) = (before["entries"].as_array(), after["entries"].as_array());
    let (before, after) = (before.expect("entries").len(), after.expect("entries"));
    let new: Vec<_> = after[before..].iter().filter(|entry| entry["action"] != "token").collect();
    assert!(new.is_empty(), "{new:#?}");
}
