//! Tests against parties that the test plays.

use crate::{DataFile, PartyPlace, Service, ServiceFile, Submission, put, submit, wait};
use hushwire_fault::{Fault, code};
use hushwire_seal::{
    BlakeName, OpenKey, Person, SealTo, SignKey, SignedStatement, Statement, StoredColumn,
    dataset::{DataDescription, OpenedData},
};
use hushwire_wire::Identity;
use rustls::{
    ServerConfig, ServerConnection, StreamOwned,
    pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject},
};
use serde_json::{Value, json};
use std::{
    collections::BTreeMap,
    fs,
    io::{BufRead, BufReader, Read, Write},
    net::TcpListener,
    path::Path,
    sync::{Arc, Mutex},
    thread,
    time::Duration,
};

/// A request, as a party receives it.
struct Heard {
    line: String,
    headers: String,
    body: Vec<u8>,
}

/// A party's answer: a status and a body, or no answer.
type Says = dyn Fn(&Heard) -> Option<(u16, Vec<u8>)> + Send + Sync;

/// A party that answers over TLS until the test ends, one request for each connection.
fn party(says: Arc<Says>) -> PartyPlace {
    let identity = Identity::generate("party").unwrap_or_else(|e| panic!("{e}"));
    let pem = identity.to_pem();
    let key = PrivateKeyDer::from_pem_slice(pem.as_bytes()).expect("a key");
    let certificate = CertificateDer::from_pem_slice(pem.as_bytes()).expect("a certificate");
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("versions")
        .with_no_client_auth()
        .with_single_cert(vec![certificate], key)
        .expect("a pair");
    let (config, listener) = (Arc::new(config), TcpListener::bind("127.0.0.1:0").expect("a port"));
    let url = format!("https://{}", listener.local_addr().expect("an address"));
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let session = ServerConnection::new(config.clone()).expect("a session");
            // Strangers close the connection.
            let _ = answer(StreamOwned::new(session, stream), &*says);
        }
    });
    PartyPlace { url, pin: identity.pin(), next_pin: None, token: "hw_token".to_owned().into() }
}

fn answer(stream: StreamOwned<ServerConnection, std::net::TcpStream>, says: &Says) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream);
    let (mut line, mut headers, mut length) = (String::new(), String::new(), 0);
    reader.read_line(&mut line)?;
    loop {
        let mut header = String::new();
        if reader.read_line(&mut header)? == 0 || header == "\r\n" {
            break;
        }
        if let Some(bytes) = header.to_ascii_lowercase().strip_prefix("content-length:") {
            length = bytes.trim().parse().unwrap_or(0);
        }
        headers += &header;
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    let Some((status, body)) = says(&Heard { line, headers, body }) else { return Ok(()) };
    let digest = BlakeName::of(&body).digits();
    let mut stream = reader.into_inner();
    write!(
        stream,
        "HTTP/1.1 {status} x\r\nContent-Length: {}\r\nHushwire-Digest: {digest}\r\nConnection: close\r\n\r\n",
        body.len()
    )?;
    stream.write_all(&body)?;
    stream.conn.send_close_notify();
    stream.flush()
}

fn says(value: &Value) -> Option<(u16, Vec<u8>)> {
    Some((200, value.to_string().into_bytes()))
}

fn service(parties: Vec<PartyPlace>) -> Service {
    Service::new(&ServiceFile { group: "demo".to_owned(), parties }).unwrap_or_else(|e| panic!("{e}"))
}

/// Three parties that give the same answers.
fn alike(says: impl Fn(u8, &Heard) -> Option<(u16, Vec<u8>)> + Send + Sync + 'static) -> Service {
    let says = Arc::new(says);
    let one = |i: u8| {
        let says = says.clone();
        party(Arc::new(move |heard: &Heard| says(i, heard)))
    };
    service((0..3).map(one).collect())
}

/// The parties' statements about themselves, under their own keys.
fn statements(keys: &[SealTo; 3], signers: &[SignKey; 3]) -> Vec<Value> {
    let said = |(party, (key, signer)): (u8, (&SealTo, &SignKey))| {
        let said = Statement {
            format: Statement::format(),
            group: "demo".to_owned(),
            parties: 3,
            party,
            pin: String::new(),
            protocol: "rep3".to_owned(),
            seal_to: key.clone(),
            next: None,
            sign: signer.public(),
            since: 1,
        };
        let signed = SignedStatement::sign(&said, signer).unwrap_or_else(|e| panic!("{e}"));
        serde_json::to_value(signed).expect("JSON")
    };
    (0u8..).zip(keys.iter().zip(signers)).map(said).collect()
}

fn refused(result: Result<Value, Fault>) -> Fault {
    result.err().unwrap_or_else(|| panic!("it had to fail"))
}

#[test]
fn a_party_is_asked_with_its_token_and_known_by_its_pin() {
    let asked = alike(|i, heard| {
        assert!(heard.headers.contains("Bearer hw_token"), "{}", heard.headers);
        says(&json!({ "party": i, "asked": heard.line.trim_end() }))
    });
    let answers: Vec<Value> = asked.get("/v1/x").unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(answers[2], json!({ "party": 2, "asked": "GET /v1/x HTTP/1.1" }));
    let mut place = party(Arc::new(|_: &Heard| says(&json!({}))));
    place.pin.0[0] ^= 1;
    let stranger = super::PartyClient::new(1, &place).unwrap_or_else(|e| panic!("{e}"));
    let error = refused(stranger.get("/v1/x"));
    assert_eq!(error.code(), code::SERVICE);
    assert!(error.to_string().starts_with("party 1") && error.remedy().contains("new pin"), "{error}");
    // While the party's key is rotated, either certificate is accepted.
    let mut pin = place.pin;
    pin.0[0] ^= 1;
    let place = PartyPlace { next_pin: Some(pin), ..place };
    let known = super::PartyClient::new(1, &place).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(known.get::<Value>("/v1/x").ok(), Some(json!({})));
}

#[test]
fn errors_of_a_party_keep_their_code_and_name_it() {
    let problem = json!({
        "code": "HW1021", "who": "party 2", "step": "submitting", "cause": "no", "remedy": "ask", "kind": "refused",
        "request": "00ff",
    });
    for (status, body, wanted) in [
        (403, problem.to_string(), code::POLICY_DENIES),
        (500, "<html>".to_owned(), code::SERVICE_ANSWER),
        (200, "<html>".to_owned(), code::SERVICE_ANSWER),
    ] {
        let place = party(Arc::new(move |_: &Heard| Some((status, body.clone().into_bytes()))));
        let client = super::PartyClient::new(2, &place).unwrap_or_else(|e| panic!("{e}"));
        let error = refused(client.get("/v1/x"));
        assert_eq!(error.code(), wanted);
        assert!(error.to_string().starts_with("party 2"), "{error}");
    }
    let nobody = PartyPlace {
        url: "https://127.0.0.1:1".to_owned(),
        pin: hushwire_wire::Pin([0; 32]),
        next_pin: None,
        token: String::new().into(),
    };
    let client = super::PartyClient::new(0, &nobody).unwrap_or_else(|e| panic!("{e}"));
    let error = refused(client.get("/v1/x"));
    assert!(error.code() == code::SERVICE && error.cause().contains("https://127.0.0.1:1"), "{error}");
}

#[test]
fn a_request_is_repeated_and_a_token_is_not_asked_for_twice() {
    let times = Arc::new(Mutex::new(BTreeMap::<String, u32>::new()));
    let counted = times.clone();
    let place = party(Arc::new(move |heard: &Heard| {
        let mut times = counted.lock().expect("a lock");
        let times = times.entry(heard.line.clone()).or_default();
        *times += 1;
        if *times == 1 { None } else { says(&json!({ "time": *times })) }
    }));
    let client = super::PartyClient::new(0, &place).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(client.get::<Value>("/v1/x").ok(), Some(json!({ "time": 2 })));
    assert!(client.post("/v1/tokens", &json!({}), None).is_err());
    assert_eq!(times.lock().expect("a lock").get("POST /v1/tokens HTTP/1.1\r\n"), Some(&1));
}

/// The bytes that parties store, by party and path.
type Kept = Arc<Mutex<BTreeMap<String, Vec<u8>>>>;

/// A group whose parties store what they get, and whose party 1 closes one connection without an
/// answer.
fn keeping(keys: &[SealTo; 3]) -> (Service, Kept) {
    let kept = Arc::new(Mutex::new(BTreeMap::new()));
    let (said, store) = (statements(keys, &[0; 3].map(|_: u8| SignKey::generate())), kept.clone());
    let service = alike(move |i, heard| {
        let mut words = heard.line.split_whitespace();
        let (method, path) = (words.next()?, words.next()?);
        let mut store = store.lock().ok()?;
        let at = format!("{i} {path}");
        match (method, path) {
            ("GET", "/v1/group") => says(&json!({ "group": "demo", "party": i, "statements": said })),
            ("POST", "/v1/datasets") => {
                let new: Value = serde_json::from_slice(&heard.body).ok()?;
                let manifest: Value = serde_json::from_str(new["manifest"].as_str()?).ok()?;
                let id = BlakeName::of(new["manifest"].as_str()?.as_bytes()).digits();
                let parts = manifest["parts"][usize::from(i)].as_array()?.len();
                let has = |part: &usize| store.contains_key(&format!("{i} /v1/datasets/{id}/parts/{part}"));
                let missing: Vec<usize> = (0..parts).filter(|part| !has(part)).collect();
                store.insert(at, hex::decode(new["envelope"].as_str()?).ok()?);
                says(&json!({ "id": id, "state": "uploading", "missing": missing }))
            }
            ("PUT", _) => {
                // The third part of party 1 is lost four times, which is more often than a put
                // tries.
                let lost = store.entry("lost".to_owned()).or_default();
                if i == 1 && path.ends_with("/parts/2") && lost.len() < 4 {
                    lost.push(0);
                    return None;
                }
                // A party compares a part with its name.
                if heard.body == b"changed" {
                    let (code, kind) = (code::CONFLICT.to_string(), "usage");
                    let problem = json!({ "code": code, "step": "putting", "cause": "other bytes", "remedy": "-", "kind": kind });
                    return Some((409, problem.to_string().into_bytes()));
                }
                store.insert(at, heard.body.clone());
                says(&json!({}))
            }
            _ => says(&json!({})),
        }
    });
    (service, kept)
}

#[test]
fn a_put_that_was_cut_goes_on_with_what_is_missing() {
    let keys = [0; 3].map(|_: u8| OpenKey::generate());
    let (service, kept) = keeping(&keys.each_ref().map(OpenKey::public));
    let (dir, owner) = (tempfile::tempdir().expect("a directory"), Person::generate());
    let path = dir.path().join("stays.sealed");
    let rows = 2 * hushwire_seal::PART_ROWS + 8;
    let description = || DataDescription {
        name: "stays".to_owned(),
        line: None,
        version: 1,
        group: "demo".to_owned(),
        schema: vec![],
        keys: vec![],
        inputs: vec![StoredColumn::of_table("days".to_owned(), 1)],
        created: 1,
        expires: None,
    };
    let to = service.keys().unwrap_or_else(|e| panic!("{e}"));
    let seal = |path: &Path| {
        DataFile::seal(path, description(), to.clone(), owner.sign(), |take| {
            for rows in [hushwire_seal::PART_ROWS, hushwire_seal::PART_ROWS, 8] {
                take(rows, vec![vec![0x55; rows as usize / 8].into()])?;
            }
            Ok(rows)
        })
    };
    let data = seal(&path).unwrap_or_else(|e| panic!("{e}"));
    let id = data.signed().id();
    assert_eq!(seal(&path).err().map(|e| e.code()), Some(code::WRITE), "an earlier put is not replaced");
    let error = put(&service, &data, |_, _| {}).err().unwrap_or_else(|| panic!("party 1 hung up"));
    assert!(error.to_string().starts_with("party 1"), "{error}");
    // Another process resumes, and sends only that part.
    let data = DataFile::open(&path).unwrap_or_else(|e| panic!("{e}"));
    let done = put(&service, &data, |_, _| {}).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!((done.id.clone(), done.rows), (id.digits(), rows));
    assert_eq!(done.sent, data.signed().manifest().part_bytes(1, 2));
    // Each party opens what it got.
    for party in 0..3 {
        let kept = kept.lock().expect("a lock");
        let manifest = data.signed().manifest();
        let envelope = &kept[&format!("{party} /v1/datasets")];
        let opened =
            OpenedData::new(&keys[party], manifest, party, envelope).unwrap_or_else(|e| panic!("{e}"));
        for part in 0..3 {
            let sealed = kept[&format!("{party} /v1/datasets/{}/parts/{part}", id.digits())].clone();
            assert!(opened.part(part, sealed).is_ok(), "party {party}, part {part}");
        }
    }
    fs::write(path.join("party0-part0"), b"changed").expect("a file");
    kept.lock().expect("a lock").retain(|at, _| !at.starts_with("0 "));
    assert_eq!(put(&service, &data, |_, _| {}).err().map(|e| e.code()), Some(code::SEAL_CHANGED));
    data.remove().unwrap_or_else(|e| panic!("{e}"));
    assert!(!path.exists());
}

#[test]
fn a_seal_that_fails_leaves_nothing() {
    let keys = [0; 3].map(|_: u8| OpenKey::generate().public());
    let (dir, owner) = (tempfile::tempdir().expect("a directory"), Person::generate());
    let path = dir.path().join("x.sealed");
    let description = DataDescription {
        name: "x".to_owned(),
        line: None,
        version: 1,
        group: "demo".to_owned(),
        schema: vec![],
        keys: vec![],
        inputs: vec![StoredColumn::of_table("a".to_owned(), 1)],
        created: 1,
        expires: None,
    };
    let failed = DataFile::seal(&path, description, keys, owner.sign(), |take| {
        take(8, vec![vec![1].into()])?;
        Err(Fault::usage("reading", "a row makes no sense", "correct it"))
    });
    assert!(failed.is_err() && !path.exists());
    fs::create_dir(&path).expect("a directory");
    assert!(DataFile::open(&path).is_err_and(|e| e.cause().contains("no manifest")));
}

#[test]
fn a_party_that_gives_another_key_for_its_peer_is_named() {
    let keys = [0; 3].map(|_: u8| OpenKey::generate().public());
    let signers = [0; 3].map(|_: u8| SignKey::generate());
    let honest = statements(&keys, &signers);
    let mut forged = statements(
        &[0; 3].map(|_: u8| OpenKey::generate().public()),
        &[0; 3].map(|_: u8| SignKey::generate()),
    );
    forged[1..].clone_from_slice(&honest[1..]);
    let service = alike(move |i, _| {
        let said = if i == 2 { &forged } else { &honest };
        says(&json!({ "group": "demo", "party": i, "statements": said }))
    });
    let error = service.keys().err().unwrap_or_else(|| panic!("the keys differ"));
    assert_eq!(error.code(), code::UNSAFE);
    assert!(error.to_string().starts_with("party 2"), "{error}");
}

#[test]
fn a_job_is_one_at_all_parties_and_awaited_at_all() {
    let times = Arc::new(Mutex::new(0));
    let service = alike(move |i, heard| {
        if heard.line.starts_with("POST") {
            assert!(heard.headers.to_ascii_lowercase().contains("idempotency-key: k1"), "{}", heard.headers);
            return says(&json!({ "id": "7f3a" }));
        }
        if heard.line.contains("/events") {
            // The party sends one event and a sign of life. Then the connection ends.
            let event = json!({ "id": "7f3a", "state": "ready" });
            return Some((200, format!("event: state\ndata: {event}\n\n: still here\n\n").into_bytes()));
        }
        let mut times = times.lock().ok()?;
        *times += 1;
        // Party 2 is the last to learn of the decision.
        let state = match i {
            2 if *times < 12 => "running",
            _ if *times < 6 => "ready",
            _ => "committed",
        };
        says(&json!({ "id": "7f3a", "state": state }))
    });
    let (id, _) = submit(&service, &Submission::default(), "k1").unwrap_or_else(|e| panic!("{e}"));
    let mut heard = vec![];
    let views = wait(&service, &id, Some(Duration::from_secs(20)), |view| heard.push(view["state"].clone()));
    assert!(views.unwrap_or_else(|e| panic!("{e}")).iter().all(|view| view["state"] == "committed"));
    assert_eq!(heard, ["ready", "committed"], "an event, and what was asked for after that");
    let differing = alike(|i, _| says(&json!({ "id": format!("{}", i / 2) })));
    let error = submit(&differing, &Submission::default(), "k1").err().map(|e| e.to_string());
    assert!(error.as_ref().is_some_and(|e| e.starts_with("party 2")), "{error:?}");
    let failing = alike(|i, _| {
        let cause = json!({ "code": "HW0102", "who": "party 1", "step": "computing", "cause": "gone", "remedy": "x" });
        let state = if i == 1 { "failed" } else { "cancelled" };
        says(&json!({ "state": state, "cause": if i == 1 { cause } else { Value::Null } }))
    });
    let error = wait(&failing, "7f3a", None, |_| {}).err().unwrap_or_else(|| panic!("it failed"));
    assert!(error.cause().contains("cancelled"), "party 0 says so: {error}");
    let waits = alike(|_, _| says(&json!({ "state": "running" })));
    let error = wait(&waits, "7f3a", Some(Duration::ZERO), |_| {}).err().unwrap_or_else(|| panic!("it runs"));
    assert!(error.cause().contains("running, running, running"), "{error}");
}
