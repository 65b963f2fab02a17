//! A party that deviates: it has its own keys, and says what it likes to the other daemons.

use crate::{
    rig::{Answer, Rig},
    support::{LONG, configured, word},
};
use http_body_util::{BodyExt, Full};
use hushwire_seal::{
    MasterKey, SignKey,
    vouch::{WorkerPlace, vouch},
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

/// Asks party `of` with the key of party `by`.
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

/// The key with which a party signs: its operator can read it.
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

/// How party 0 names a worker, with a word for it by a key.
fn named(rig: &Rig, job: &str, party: u8, pin: Pin, key: &SignKey) -> Value {
    let group = configured(rig, 0, "group");
    let at = WorkerPlace { group: &group, job, attempt: 1, party };
    let peer = json!({ "member": format!("party{party}"), "address": null, "pin": pin.to_string() });
    json!({ "peer": peer, "word": vouch(key, &at, &pin.0).to_string() })
}

/// Party 0 hands the pins of workers on. If it could name a worker of its own in another party's
/// place, it would hear what the third party tells that one: together with its own shares, that is
/// everything.
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
    // What party 0 alone may ask, another party may not.
    assert_eq!(ask(&rig, 2, 1, &at("reserve"), &reserve).status.as_u16(), 403);
    let [one, two] = [1, 2].map(|party| ask(&rig, 0, party, &at("reserve"), &reserve).json()["yes"].clone());
    assert!(one.is_object() && two.is_object(), "{one} {two}");
    // It is not reserved twice.
    assert!(ask(&rig, 0, 1, &at("reserve"), &reserve).json()["no"].is_object());
    let pin = || Identity::generate("a worker of party 0").expect("a key").pin();
    let (own_key, own_pin, other_pin) = (sign_key(&rig, 0), pin(), pin());
    let own = named(&rig, &job, 0, own_pin, &own_key);
    let start = |named: Value| ask(&rig, 0, 1, &at("start"), &json!([1, named, false]));
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
    // Nothing is committed that this party has not prepared.
    let decide = |commit: bool| {
        let end = (!commit).then_some("failed");
        let decision = json!({ "commit": commit, "go": false, "end": end, "cause": null, "next_try": 0 });
        ask(&rig, 0, 1, &at("decision"), &json!([1, decision])).status.as_u16()
    };
    assert_eq!((decide(true), &*state(&rig, 1, &job)), (500, "started"));
    assert_eq!((decide(false), &*state(&rig, 1, &job)), (200, "aborted"));
    assert_eq!((decide(false), decide(true)), (200, 409));
    assert_eq!(state(&rig, 1, &job), "aborted");
    // It started there, so it counts there, whatever party 0 says.
    let counted = "SELECT count(*) FROM runs WHERE refunded = 0";
    let runs: i64 = rig.store(1).query_row(counted, [], |row| row.get(0)).expect("a row");
    assert_eq!(runs, 1);
    // Neither does the room of the attempt stay taken.
    rig.start(0, "");
    rig.answers(0);
    for _ in 0..3 {
        let job = rig.submit(&Rig::fresh_key());
        let seen = rig.wait(&job, LONG);
        assert!(seen.iter().all(|view| view["state"] == "committed"), "{seen:#?}");
    }
}
