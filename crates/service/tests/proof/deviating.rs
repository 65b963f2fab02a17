//! A party that deviates: it has its own keys, and tells the other daemons what it likes.

use crate::{
    rig::{Answer, Rig},
    support::{LONG, configured, until, word},
};
use http_body_util::{BodyExt, Full};
use hushwire_seal::{
    MasterKey, SignKey, domain,
    vouch::{WorkerPlace, promise, vouch},
};
use hushwire_session::read_private_key;
use hushwire_wire::{Https, Identity, Pin};
use hyper::{Request, body::Bytes, client::conn::http1};
use hyper_util::rt::TokioIo;
use rustls::pki_types::ServerName;
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

/// The name of the group in greetings.
fn group(rig: &Rig) -> String {
    format!("g{}", configured(rig, 0, "group"))
}

/// Asks party `of` with the TLS key of party `by`.
fn ask(rig: &Rig, by: usize, of: usize, path: &str, body: &Value) -> Answer {
    let key = rig.dir.path().join(configured(rig, by, "key"));
    let pem = read_private_key(&key).unwrap_or_else(|e| panic!("{e}"));
    let identity = Identity::from_pem(&pem).expect("a key");
    let pin: Pin = word(&rig.up["parties"][of]["pin"]).parse().expect("a pin");
    let tls = TlsConnector::from(Https::new(&identity).client(vec![pin]).expect("TLS"));
    let (address, name) = (configured(rig, of, "listen-party"), format!("peer.{}", group(rig)));
    let method = if body.is_null() { "GET" } else { "POST" };
    let request = Request::builder().method(method).uri(path).header("host", &name);
    let request = request.body(Full::new(Bytes::from(body.to_string()))).expect("a request");
    rig.runtime.block_on(async {
        let socket = TcpStream::connect(address).await.expect("it listens");
        let name = ServerName::try_from(name).expect("a name");
        let stream = tls.connect(name, socket).await.expect("it knows the pin");
        let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await.expect("HTTP");
        tokio::spawn(connection);
        let answer = sender.send_request(request).await.expect("an answer");
        let status = answer.status();
        let bytes = answer.into_body().collect().await.expect("a body").to_bytes().to_vec();
        Answer { status, bytes }
    })
}

/// The key with which a party signs, which its operator can read.
fn sign_key(rig: &Rig, party: usize) -> SignKey {
    let master = rig.dir.path().join(configured(rig, party, "master-key"));
    let master = MasterKey::read(&master).unwrap_or_else(|e| panic!("{e}"));
    let sql = "SELECT private FROM party_keys WHERE kind = 'sign'";
    let wrapped: Vec<u8> = rig.store(party).query_row(sql, [], |row| row.get(0)).expect("a key");
    let seed = master.unwrap("party sign key", &wrapped).unwrap_or_else(|e| panic!("{e}"));
    SignKey::from_seed(seed[..].try_into().expect("32 bytes"))
}

fn state(rig: &Rig, party: usize, job: &str) -> String {
    let sql = "SELECT state FROM attempts WHERE job = ?1 AND k = 1";
    rig.store(party).query_row(sql, [job], |row| row.get(0)).expect("a row")
}

/// A worker as party 0 names it, with a signature by `key`.
fn named(rig: &Rig, job: &str, party: u8, pin: Pin, key: &SignKey) -> Value {
    let group = configured(rig, 0, "group");
    let at = WorkerPlace { group: &group, job, attempt: 1, party };
    let peer = json!({ "member": format!("party{party}"), "address": null, "pin": pin.to_string() });
    json!({ "peer": peer, "word": vouch(key, &at, &pin.0).to_string() })
}

/// A signature of `key`, as party 0, about attempt 1 of a job, of these texts under this context.
fn signed(rig: &Rig, job: &str, key: &SignKey, of: &str, context: &str, texts: &[&str]) -> String {
    let group = configured(rig, 0, "group");
    let at = WorkerPlace { group: &group, job, attempt: 1, party: 0 };
    let mut hash = blake3::Hasher::new_derive_key(context);
    for text in texts {
        hash.update(&(text.len() as u64).to_le_bytes()).update(text.as_bytes());
    }
    promise(key, of, &at, hash.finalize().as_bytes()).to_string()
}

/// The start of attempt 1 with these workers, signed by `key`.
fn start(rig: &Rig, job: &str, key: &SignKey, reserve: &Value, workers: &[Value]) -> Value {
    let worker = |worker: &Value| {
        let (peer, word) = (&worker["peer"], &worker["word"]);
        let (member, address, pin) = (&peer["member"], &peer["address"], &peer["pin"]);
        format!(r#"{{"peer":{{"member":{member},"address":{address},"pin":{pin}}},"word":{word}}}"#)
    };
    let all: Vec<String> = workers.iter().map(worker).collect();
    let (hash, heads) = (&reserve["body_hash"], &reserve["heads"]);
    let asked = format!(r#"{{"k":1,"body_hash":{hash},"heads":{heads},"team":null}}"#);
    let texts = [&*asked, &format!("[{}]", all.join(",")), "false"];
    let context = "hushwire service start of an attempt v1";
    json!([1, workers, false, signed(rig, job, key, domain::ATTEMPT, context, &texts)])
}

/// A decision on attempt 1, signed by `key`.
fn decision(rig: &Rig, job: &str, key: &SignKey, commit: bool) -> Value {
    let (end, text) = if commit { (Value::Null, "null") } else { (json!("failed"), "\"failed\"") };
    let text = format!("[{commit},false,{text},null,0]");
    let word = signed(rig, job, key, domain::DECISION, "hushwire service decision v1", &[&text]);
    json!([1, { "commit": commit, "go": false, "end": end, "cause": null, "next_try": 0, "word": word }])
}

/// Submits the sample's job to parties 1 and 2. Returns its name and the hash of its body.
fn submitted(rig: &Rig) -> (String, Value) {
    let (key, body) = (Rig::fresh_key(), rig.job());
    let answers = [1, 2].map(|party| rig.submit_to(party, &key, &body).expect("an answer").json());
    let job = word(&answers[0]["id"]).to_owned();
    let seen = ask(rig, 0, 1, &format!("/peer/v1/jobs/{job}"), &Value::Null).json();
    (job, seen["body_hash"].clone())
}

/// The contradictions about a job in a party's audit log.
fn contradictions(rig: &Rig, party: usize, job: &str) -> Vec<String> {
    let store = rig.store(party);
    let sql = "SELECT detail FROM audit WHERE action = 'contradiction' AND instr(object, ?1) > 0";
    let mut statement = store.prepare(sql).expect("SQL");
    let rows = statement.query_map([job], |row| row.get(0)).expect("rows");
    rows.collect::<Result<_, _>>().expect("text")
}

/// Parties 1 and 2, which greet each other often. The test plays party 0.
fn without_party_0() -> Rig {
    let mut rig = Rig::up().apart();
    (0..3).for_each(|party| rig.configure(party, "greet = \"300ms\""));
    (1..3).for_each(|party| rig.start(party, ""));
    (1..3).for_each(|party| rig.answers(party));
    rig
}

/// Party 0 tells parties 1 and 2 different things before the start: the ends of logs, or its own
/// worker. Their workers never meet, and both parties name party 0.
#[test]
fn party_0_that_tells_two_parties_two_things_is_found_before_anything_is_computed() {
    let rig = without_party_0();
    let key = sign_key(&rig, 0);
    let pin = || Identity::generate("a worker of party 0").expect("a key").pin();
    for (heads, pins) in [
        ([json!({ "0": "1:aa" }), json!({ "0": "1:bb" })], [pin(); 2]),
        ([json!({ "0": "1:aa" }), json!({ "0": "1:aa" })], [pin(), pin()]),
    ] {
        let (job, hash) = submitted(&rig);
        let at = |step: &str| format!("/peer/v1/jobs/{job}/{step}");
        let reserve = heads.map(|heads| json!({ "k": 1, "body_hash": hash, "heads": heads, "team": null }));
        let named_by =
            |party: usize| ask(&rig, 0, party, &at("reserve"), &reserve[party - 1]).json()["yes"].clone();
        let others = [named_by(1), named_by(2)];
        for party in 1..3 {
            let own = named(&rig, &job, 0, pins[party - 1], &key);
            let all = [own, others[0].clone(), others[1].clone()];
            // Party 0's signature must be under what it tells.
            let elsewhere = start(&rig, &job, &key, &reserve[party - 1], &all[..2]);
            let unsigned = json!([1, all, false, elsewhere[3]]);
            let refused = ask(&rig, 0, party, &at("start"), &unsigned);
            assert_eq!((refused.status.as_u16(), word(&refused.json()["who"])), (403, "party 0"));
            assert_eq!(state(&rig, party, &job), "reserved");
            let started =
                ask(&rig, 0, party, &at("start"), &start(&rig, &job, &key, &reserve[party - 1], &all));
            assert!(started.status.is_success(), "{}", String::from_utf8_lossy(&started.bytes));
        }
        until(&rig, "both know", LONG, || (1..3).all(|party| !contradictions(&rig, party, &job).is_empty()));
        for party in 1..3 {
            let found = contradictions(&rig, party, &job);
            assert!(found.len() == 1 && found[0].contains("party 0"), "once, by name: {found:?}");
            assert_eq!(state(&rig, party, &job), "started", "no outputs");
        }
        // A digest that party 0 has not signed convinces nobody.
        let forged = json!([1, { "digest": format!("blake3:{}", "ab".repeat(32)), "word": "cd".repeat(64) }]);
        assert!(ask(&rig, 2, 1, &at("told"), &forged).status.is_success());
        assert_eq!(contradictions(&rig, 1, &job).len(), 1);
        for party in 1..3 {
            let end = decision(&rig, &job, &key, false);
            assert!(ask(&rig, 0, party, &at("decision"), &end).status.is_success());
        }
    }
}

/// Party 0 tells party 1 to commit and party 2 to abort. The result does not open, and both name
/// party 0 when they greet each other.
#[test]
fn two_decisions_on_one_attempt_are_found_and_nothing_opens() {
    let mut rig = without_party_0();
    rig.start(0, "store.before.decision=kill");
    rig.answers(0);
    let job = rig.submit(&Rig::fresh_key());
    until(&rig, "all are prepared", LONG, || {
        let store = [1, 2].map(|party| rig.store(party));
        store.iter().all(|store| {
            let sql = "SELECT count(*) FROM attempts WHERE job = ?1 AND state = 'prepared'";
            store.query_row(sql, [&job], |row| row.get::<_, i64>(0)).is_ok_and(|n| n == 1)
        })
    });
    assert!(rig.parties[0].as_mut().expect("it ran").ends_within(LONG));
    let key = sign_key(&rig, 0);
    let tell = |party: usize, decision: &Value| {
        ask(&rig, 0, party, &format!("/peer/v1/jobs/{job}/decision"), decision).status.as_u16()
    };
    // Nobody follows a decision that party 0 has not signed.
    let mut unsigned = decision(&rig, &job, &key, true);
    unsigned[1]["commit"] = json!(false);
    let by_party_1 = decision(&rig, &job, &sign_key(&rig, 1), true);
    assert_eq!((tell(1, &unsigned), tell(2, &by_party_1)), (403, 403));
    assert_eq!((&*state(&rig, 1, &job), &*state(&rig, 2, &job)), ("prepared", "prepared"));
    assert_eq!(tell(1, &decision(&rig, &job, &key, true)), 200);
    assert_eq!(tell(2, &decision(&rig, &job, &key, false)), 200);
    until(&rig, "both know", LONG, || (1..3).all(|party| !contradictions(&rig, party, &job).is_empty()));
    for party in 1..3 {
        let found = contradictions(&rig, party, &job);
        assert!(found.len() == 1 && found[0].contains("party 0"), "{found:?}");
    }
    assert!(rig.proof(1, &job, "anna.keys").is_ok(), "its share is there");
    assert!(rig.proof(2, &job, "anna.keys").is_err(), "and this one is gone");
}

/// Party 1 knows another end of party 2's log than party 0 does. Party 0 hears of it, too.
#[test]
fn a_log_that_another_party_was_told_otherwise_is_found() {
    let mut rig = Rig::up().apart();
    (0..3).for_each(|party| rig.configure(party, "greet = \"300ms\""));
    let sql = "UPDATE peers SET audit_seq = 1, audit_hash = ?1 WHERE party = 2";
    assert_eq!(rig.store(1).execute(sql, ["ab".repeat(32)]).expect("SQL"), 1);
    (0..3).for_each(|party| rig.start(party, ""));
    let says = "the audit log of party 2 has not the entry 1:";
    until(&rig, "party 0 compares", LONG, || {
        let log = std::fs::read_to_string(rig.dir.path().join("party0.log")).expect("a log");
        log.contains(says) && log.contains("that party 1 says it was told")
    });
}

/// A party cannot fill party 0's memory with long calls about jobs.
#[test]
fn calls_about_new_jobs_are_short() {
    let rig = Rig::up();
    let came = |job: &str, hash: usize| {
        let status = json!({ "state": "submitted", "body_hash": "a".repeat(hash), "cause": null });
        ask(&rig, 1, 0, &format!("/peer/v1/jobs/{job}/came"), &status).status.as_u16()
    };
    let job = "ab".repeat(16);
    assert_eq!((came(&job, 64), came(&job, 16 << 10)), (200, 413));
    assert_eq!(came(&"ab".repeat(4000), 64), 404, "no job has such a name");
}

/// Party 0 passes on the pins of workers. If it could name a worker of its own in another party's
/// place, it would get what the third party sends to that worker. With its own shares, that would
/// reveal everything.
#[test]
fn party_0_can_take_nobodys_place_and_contradict_no_decision() {
    let mut rig = Rig::up().apart();
    (1..3).for_each(|party| rig.start(party, ""));
    (1..3).for_each(|party| rig.answers(party));
    let (key, body) = (Rig::fresh_key(), rig.job());
    let mut job = String::new();
    for party in 1..3 {
        let answer = rig.submit_to(party, &key, &body).expect("an answer");
        word(&answer.json()["id"]).clone_into(&mut job);
    }
    let at = |step: &str| format!("/peer/v1/jobs/{job}/{step}");
    let seen = ask(&rig, 0, 1, &format!("/peer/v1/jobs/{job}"), &Value::Null).json();
    let reserve = json!({ "k": 1, "body_hash": seen["body_hash"], "heads": null, "team": null });
    // Only party 0 may ask for this.
    assert_eq!(ask(&rig, 2, 1, &at("reserve"), &reserve).status.as_u16(), 403);
    let [one, two] = [1, 2].map(|party| ask(&rig, 0, party, &at("reserve"), &reserve).json()["yes"].clone());
    assert!(one.is_object() && two.is_object(), "{one} {two}");
    // The attempt cannot be reserved twice.
    assert!(ask(&rig, 0, 1, &at("reserve"), &reserve).json()["no"].is_object());
    let pin = || Identity::generate("a worker of party 0").expect("a key").pin();
    let (own_key, own_pin, other_pin) = (sign_key(&rig, 0), pin(), pin());
    let own = named(&rig, &job, 0, own_pin, &own_key);
    let start = |named: Value| {
        let named = named.as_array().expect("workers");
        ask(&rig, 0, 1, &at("start"), &start(&rig, &job, &own_key, &reserve, named))
    };
    let mut with_old_word = named(&rig, &job, 2, other_pin, &own_key);
    let by_party_0 = with_old_word.clone();
    with_old_word["word"] = two["word"].clone();
    let mut moved = two.clone();
    moved["peer"]["member"] = json!("party1");
    for wrong in [
        json!([own, one, with_old_word]),
        json!([own, one, by_party_0]),
        json!([own, one, own]),
        json!([own, one]),
        json!([own, two, one]),
        json!([own, moved, two]),
        json!([own, one, two, two]),
        json!([]),
    ] {
        let refused = start(wrong.clone());
        let problem = refused.json();
        assert_eq!(refused.status.as_u16(), 403, "{wrong:#}: {problem}");
        assert_eq!(problem["who"], "party 0", "{problem}");
        assert_eq!(state(&rig, 1, &job), "reserved", "{wrong:#}");
    }
    let started = start(json!([own, one, two]));
    assert!(started.status.is_success(), "{}", String::from_utf8_lossy(&started.bytes));
    assert_eq!(state(&rig, 1, &job), "started");
    // A party commits nothing that it has not prepared.
    let decide = |commit: bool| {
        ask(&rig, 0, 1, &at("decision"), &decision(&rig, &job, &own_key, commit)).status.as_u16()
    };
    assert_eq!((decide(true), &*state(&rig, 1, &job)), (500, "started"));
    assert_eq!((decide(false), &*state(&rig, 1, &job)), (200, "aborted"));
    assert_eq!((decide(false), decide(true)), (200, 409));
    assert_eq!(state(&rig, 1, &job), "aborted");
    // The attempt started there, so it counts there, whatever party 0 decides.
    let counted = "SELECT count(*) FROM runs WHERE refunded = 0";
    let runs: i64 = rig.store(1).query_row(counted, [], |row| row.get(0)).expect("a row");
    assert_eq!(runs, 1);
    // The attempt does not keep its slot.
    rig.start(0, "");
    rig.answers(0);
    for _ in 0..3 {
        let job = rig.submit(&Rig::fresh_key());
        let seen = rig.wait(&job, LONG);
        assert!(seen.iter().all(|view| view["state"] == "committed"), "{seen:#?}");
    }
}
