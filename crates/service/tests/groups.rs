//! Groups of other sizes, with data of the parties' own, and clients that take part while a job
//! runs.

mod rig;

use hushwire_kinds::Job;
use hushwire_policy::{PolicyDraft, PolicyFile, draft};
use hushwire_seal::Person;
use hushwire_session::{Member, MemberConfig, Observer, Peer, Phase, Preparation, run as run_member};
use hushwire_wire::{Identity, Listener};
use rig::{Rig, logs};
use serde_json::{Value, json};
use std::{
    collections::BTreeMap,
    path::Path,
    process::{Child, Command, Stdio},
    sync::Arc,
    time::Duration,
};

const MINUTE: Duration = Duration::from_secs(90);

fn operator(rig: &Rig) -> Person {
    Person::read(&rig.dir.path().join("operator.keys")).unwrap_or_else(|e| panic!("{e}"))
}

/// Proposes a job at all parties, and approves it for these clients. Returns the proposal's name.
fn approved(rig: &Rig, job: &str, files: &Value, clients: &BTreeMap<String, String>) -> String {
    let operator = operator(rig);
    let mut id = None;
    for party in 0..rig.count() {
        let body = json!({ "job": job, "files": files });
        let made = rig.ask(party, "POST", "/v1/proposals", &rig.token("analyst"), &body);
        assert!(made.status.is_success(), "{job}: {}", String::from_utf8_lossy(&made.bytes));
        let made = made.json();
        let text = draft(&PolicyDraft {
            digest: made["digest"].as_str().and_then(|digest| digest.parse().ok()).expect("a digest"),
            name: "a test",
            tenant: "demo",
            data: &BTreeMap::new(),
            recipients: &[],
            clients,
            parameters: &BTreeMap::new(),
            min_group: None,
            runs: 100,
            expires: None,
        });
        let file = PolicyFile::parse(Path::new("p"), &text).unwrap_or_else(|e| panic!("{e}"));
        let verdict = json!({
            "verdict": "approve", "policy": text, "signature": file.sign(operator.sign()),
            "signer": operator.sign().public(),
        });
        let this = made["id"].as_str().expect("a name").to_owned();
        let path = format!("/v1/proposals/{this}/verdict");
        let judged = rig.ask(party, "POST", &path, &rig.token("operator"), &verdict);
        assert!(judged.status.is_success(), "{}", String::from_utf8_lossy(&judged.bytes));
        assert!(id.as_ref().is_none_or(|id| *id == this), "all parties have the same name");
        id = Some(this);
    }
    id.expect("a party")
}

/// The outputs of a job that a party itself learnt.
fn learnt(rig: &Rig, party: usize, job: &str) -> String {
    let path = format!("/v1/jobs/{job}/results/learnt");
    let answer = rig.ask(party, "GET", &path, &rig.token("operator"), &Value::Null);
    let text = String::from_utf8_lossy(&answer.bytes).into_owned();
    assert!(answer.status.is_success(), "{text}");
    text
}

/// Runs an approved proposal until all parties have committed it. Returns the job's name.
fn committed(rig: &Rig, proposal: &str) -> String {
    let job = rig.submit_body(&Rig::fresh_key(), &json!({ "proposal": proposal }));
    for view in rig.wait(&job, MINUTE) {
        assert_eq!(view["state"], "committed", "{view:#} {}", logs(rig.dir.path()));
    }
    job
}

const RICHER: &str = "circuit = \"less:32\"\n[[inputs]]\nname = \"alice\"\nfrom = \"party0\"\n[[inputs]]\nname = \"bob\"\n\
                      from = \"party1\"\n[[outputs]]\nname = \"richer\"\nto = [\"party0\", \"party1\"]\n";

/// Two parties with data of their own: garbling, GMW, authenticated garbling, and an intersection.
/// A file of preprocessing serves once, even if it is restored.
#[test]
fn two_parties_run_what_their_operators_approved_on_their_own_data() {
    let mut rig = Rig::up_of(2).apart();
    let dir = rig.dir.path().to_path_buf();
    std::fs::write(dir.join("a.csv"), "email\nada@example.org\nalan@example.org\ngrace@example.org\n")
        .expect("room");
    std::fs::write(dir.join("b.csv"), "email\ngrace@example.org\ntony@example.org\nada@example.org\n")
        .expect("room");
    for (party, file) in [(0, "a.csv"), (1, "b.csv")] {
        rig.configure(
            party,
            &format!("csv = {{ file = \"{file}\" }}\n\n[authgarble]\nshelf = \"shelf{party}\""),
        );
    }
    rig.start_all();
    let none = BTreeMap::new();
    for protocol in ["yao", "gmw"] {
        let job = format!("protocol = \"{protocol}\"\n{RICHER}");
        let job = committed(&rig, &approved(&rig, &job, &json!({}), &none));
        // 50,000 is less than 70,012.
        assert_eq!(
            (0..2).map(|party| learnt(&rig, party, &job)).collect::<Vec<_>>(),
            ["richer=1\n", "richer=1\n"]
        );
    }
    let psi = "kind = \"psi\"\nkey = \"email\"\n";
    let job = committed(&rig, &approved(&rig, psi, &json!({}), &none));
    let mut common: Vec<String> = learnt(&rig, 0, &job).lines().skip(1).map(str::to_owned).collect();
    common.sort();
    assert_eq!(common, ["ada@example.org", "grace@example.org"]);

    // Preprocessing that was made with the parties' own keys serves their workers.
    let text = format!("protocol = \"authgarble\"\nparties = 2\n{RICHER}");
    let proposal = approved(&rig, &text, &json!({}), &none);
    prepare(&dir, &text);
    let copies: Vec<_> = (0..2).map(|party| files(&dir.join(format!("shelf{party}")))).collect();
    assert!(
        copies.iter().all(|files| files.len() == 1),
        "{:?}",
        copies.iter().map(BTreeMap::len).collect::<Vec<_>>()
    );
    let job = committed(&rig, &proposal);
    assert_eq!(learnt(&rig, 1, &job), "richer=1\n");
    let used = |party: usize| -> Vec<String> {
        let store = rig.store(party);
        let mut statement = store.prepare("SELECT job FROM used_material").expect("SQL");
        let rows = statement.query_map([], |row| row.get(0)).expect("rows");
        rows.collect::<Result<_, _>>().expect("text")
    };
    assert_eq!((used(0), used(1)), (vec![job.clone()], vec![job]), "marked at both");
    // The directories are restored from a backup, together with their lists of used files.
    restored(&dir, &copies);
    let job = rig.submit_body(&Rig::fresh_key(), &json!({ "proposal": proposal }));
    for view in rig.wait(&job, MINUTE) {
        assert_eq!(
            (view["state"].as_str(), view["cause"]["code"].as_str()),
            (Some("failed"), Some("HW0911")),
            "{view:#}"
        );
    }
    assert_eq!(used(0).len(), 1);
}

/// Restores the directories of preprocessing from copies.
fn restored(dir: &Path, copies: &[BTreeMap<String, Vec<u8>>]) {
    for (party, files) in copies.iter().enumerate() {
        let shelf = dir.join(format!("shelf{party}"));
        std::fs::remove_dir_all(&shelf).expect("it is ours");
        std::fs::create_dir(&shelf).expect("it is ours");
        files.iter().for_each(|(name, bytes)| std::fs::write(shelf.join(name), bytes).expect("room"));
    }
}

/// The files of a directory without its list of used files.
fn files(dir: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = std::fs::read_dir(dir).expect("a directory").flatten();
    let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
    let ours = names.filter(|name| name.ends_with(".stock") || name.ends_with(".garbled"));
    ours.map(|name| (name.clone(), std::fs::read(dir.join(name)).expect("a file"))).collect()
}

/// Makes preprocessing for a job under the parties' own keys, as `hushwire party --prepare` does.
fn prepare(dir: &Path, text: &str) {
    let Ok(Job::Circuit(job)) = Job::parse(text, Path::new("job.toml")) else { panic!("it is a circuit's") };
    let prepared = hushwire_kinds::Prepared::new(&job).unwrap_or_else(|e| panic!("{e}"));
    let task =
        Preparation::new(&prepared, 1).unwrap_or_else(|e| panic!("{e}")).up_to(Phase::FunctionDependent);
    let (mut configs, mut peers) = (vec![], vec![]);
    for party in 0..2 {
        let pem = std::fs::read_to_string(dir.join(format!("party{party}.pem"))).expect("a key");
        let identity = Identity::from_pem(&pem).unwrap_or_else(|e| panic!("{e}"));
        let listener = Arc::new(Listener::bind("127.0.0.1:0").unwrap_or_else(|e| panic!("{e}")));
        let member = Member::Party(party);
        peers.push(Peer { member: member.clone(), address: Some(listener.address()), pin: identity.pin() });
        let mut config = MemberConfig::new(member, identity, Some(listener));
        config.shelf = Some(dir.join(format!("shelf{party}")));
        configs.push(config);
    }
    std::thread::scope(|scope| {
        for mut config in configs {
            config.peers = peers.iter().filter(|peer| peer.member != config.me).cloned().collect();
            let task = &task;
            scope.spawn(move || {
                let quiet: Observer = Arc::new(|_| {});
                run_member(task, config, &quiet).unwrap_or_else(|e| panic!("{e}"));
            });
        }
    });
}

/// Runs the commands that `local-up` prints, for parties of which all but one may deviate.
fn compared_by_commands(parties: usize) -> Rig {
    let rig = Rig::up_of(parties);
    let commands = rig.up["commands"].as_array().expect("commands");
    let mut last = String::new();
    for command in commands {
        let line =
            command.as_str().and_then(|line| line.strip_prefix("hushwire service ")).expect("a command");
        let output = Command::new(rig::program()).args(line.split_whitespace()).output().expect("it starts");
        assert!(
            output.status.success(),
            "{line}: {}{}",
            String::from_utf8_lossy(&output.stderr),
            logs(rig.dir.path())
        );
        last = String::from_utf8_lossy(&output.stdout).into_owned();
    }
    assert_eq!(last, "bob-is-richer=1\n");
    rig
}

#[test]
#[ignore = "seconds more: run by --full"]
fn five_and_eight_parties_compare_what_they_have() {
    for parties in [5, 8] {
        let begun = std::time::Instant::now();
        drop(compared_by_commands(parties));
        eprintln!("{parties} parties: {:.1} s", begun.elapsed().as_secs_f64());
    }
}

#[test]
fn more_than_three_parties_compare_what_they_have() {
    let rig = compared_by_commands(4);
    // A data set needs three parties.
    std::fs::write(rig.dir.path().join("t.csv"), "id\n1\n").expect("room");
    std::fs::write(
        rig.dir.path().join("t.toml"),
        "[[tables]]\nname = \"t\"\ncolumns = [\"id INTEGER NOT NULL\"]\n",
    )
    .expect("room");
    let mut put = Command::new(rig::program());
    put.args(["key", "init", "--keys", "owner.keys"]).current_dir(rig.dir.path());
    assert!(put.status().expect("it starts").success());
    let mut put = Command::new(rig::program());
    put.args(["data", "put", "t.csv", "--schema", "t.toml", "--keys", "owner.keys", "--to", "owner.toml"]);
    let output = put.current_dir(rig.dir.path()).output().expect("it starts");
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success() && error.contains("among three"), "{error}");
}

/// Starts a client at a shell, which takes part in a job while it runs.
fn attends(rig: &Rig, job: &str, file: &str) -> Child {
    let mut command = Command::new(rig::program());
    command.args(["attend", job, "--config", file, "--to", "analyst.toml", "--limit", "60"]);
    command.current_dir(rig.dir.path()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().expect("the program starts")
}

/// Makes the key and the file of a client. Returns its pin.
fn client(rig: &Rig, name: &str, lines: &str) -> String {
    let identity = Identity::generate(name).unwrap_or_else(|e| panic!("{e}"));
    let pem = rig.dir.path().join(format!("{name}.pem"));
    std::fs::write(&pem, identity.to_pem()).expect("room");
    let mut permissions = std::fs::metadata(&pem).expect("it").permissions();
    std::os::unix::fs::PermissionsExt::set_mode(&mut permissions, 0o600);
    std::fs::set_permissions(&pem, permissions).expect("it is ours");
    let text = format!("name = \"{name}\"\nkey = \"{name}.pem\"\n{lines}");
    std::fs::write(rig.dir.path().join(format!("{name}.toml")), text).expect("room");
    identity.pin().to_string()
}

/// Clients bring inputs as streams and learn outputs: a circuit of their own, and a file encrypted
/// under a key that they share to the parties.
#[test]
fn clients_take_part_while_a_job_runs() {
    let rig = Rig::up();
    let alice = client(&rig, "alice", "[inputs]\na = { hex = \"1\" }\n");
    let bob = client(&rig, "bob", "[inputs]\nb = { hex = \"1\" }\n");
    let clients = BTreeMap::from([("alice".to_owned(), alice.clone()), ("bob".to_owned(), bob.clone())]);
    // An AND of two bits, as a Bristol file that comes with the job.
    let and = "1 3\n2 1 1\n1 1\n\n2 1 0 1 2 AND\n";
    let job = "protocol = \"rep3\"\ncircuit-file = \"and.txt\"\n[[inputs]]\nname = \"a\"\nfrom = \"client:alice\"\n[[inputs]]\n\
               name = \"b\"\nfrom = \"client:bob\"\n[[outputs]]\nname = \"both\"\nto = [\"client:alice\"]\n";
    let proposal = approved(&rig, job, &json!({ "and.txt": and }), &clients);
    let shown =
        rig.ask(0, "GET", &format!("/v1/proposals/{proposal}"), &rig.token("analyst"), &Value::Null).json();
    assert_eq!(shown["needs"]["clients"], json!(["alice", "bob"]));
    let submit = |clients: &BTreeMap<String, String>| {
        rig.submit_body(&Rig::fresh_key(), &json!({ "proposal": proposal, "clients": clients }))
    };
    // The certificate is not the one in the policy: a token alone does not let anybody bring
    // another one.
    let mallory = client(&rig, "mallory", "");
    let stranger = submit(&BTreeMap::from([("alice".to_owned(), mallory), ("bob".to_owned(), bob)]));
    let mut waiting = attends(&rig, &stranger, "alice.toml");
    let mut second = attends(&rig, &stranger, "bob.toml");
    for view in rig.wait(&stranger, MINUTE) {
        let cause = view["cause"]["cause"].as_str().unwrap_or_default().to_owned();
        assert!(view["state"] == "failed" && cause.contains("`clients`"), "{view:#}");
    }
    assert!(!waiting.wait().expect("it ends").success() && !second.wait().expect("it ends").success());

    // The job waits for its clients.
    let job = submit(&clients);
    let until = std::time::Instant::now() + MINUTE;
    while rig
        .look(0, &job)
        .is_none_or(|view| view["waits"].as_str().is_none_or(|waits| !waits.contains("client")))
    {
        assert!(std::time::Instant::now() < until, "{}", logs(rig.dir.path()));
        std::thread::sleep(Duration::from_millis(50));
    }
    // The label of the session has the digest of what party 0 told, so workers that were told
    // different things never meet.
    let label = |party: usize| {
        let of = ["alice", "bob"].map(|client| {
            let path = format!("/v1/jobs/{job}/meeting?client={client}");
            rig.ask(party, "GET", &path, &rig.token("analyst"), &Value::Null).json()
        });
        of[1]["label"].as_str().expect("text").to_owned()
    };
    while label(0).is_empty() || label(1).is_empty() || label(2).is_empty() {
        assert!(std::time::Instant::now() < until, "{}", logs(rig.dir.path()));
        std::thread::sleep(Duration::from_millis(50));
    }
    assert!(label(0) == label(1) && label(1) == label(2) && label(0).contains(" blake3:"), "{}", label(0));
    let both = [attends(&rig, &job, "alice.toml"), attends(&rig, &job, "bob.toml")];
    let ends = both.map(|child| child.wait_with_output().expect("it ends"));
    for end in &ends {
        assert!(end.status.success(), "{}{}", String::from_utf8_lossy(&end.stderr), logs(rig.dir.path()));
    }
    assert_eq!(String::from_utf8_lossy(&ends[0].stdout), "both=1\n", "alice alone learns it");
    assert!(ends[1].stdout.is_empty());
    for view in rig.wait(&job, MINUTE) {
        assert_eq!(view["state"], "committed", "{view:#}");
    }

    // NIST SP 800-38A, F.5.1: AES-128 in counter mode, its first block.
    let plain = "6bc1bee22e409f96e93d7e117393172a";
    std::fs::write(rig.dir.path().join("plain"), hex::decode(plain).expect("digits")).expect("room");
    let carol = client(
        &rig,
        "carol",
        "[inputs]\ndata = { file = \"plain\" }\nkey = { hex = \"2b7e151628aed2a6abf7158809cf4f3c\" }\n[outputs]\n\
         result = { file = \"sealed\" }\n[aes-ctr]\niv = \"f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff\"\n",
    );
    let clients = BTreeMap::from([("carol".to_owned(), carol)]);
    let job = "kind = \"aes-ctr\"\nowner = \"client:carol\"\nkey = \"given\"\n";
    let proposal = approved(&rig, job, &json!({}), &clients);
    let job = rig.submit_body(&Rig::fresh_key(), &json!({ "proposal": proposal, "clients": clients }));
    let end = attends(&rig, &job, "carol.toml").wait_with_output().expect("it ends");
    assert!(end.status.success(), "{}{}", String::from_utf8_lossy(&end.stderr), logs(rig.dir.path()));
    let sealed = std::fs::read(rig.dir.path().join("sealed")).expect("the output");
    assert_eq!(hex::encode(sealed), "874d6191b620e3261bef6864990db6ce");
}

/// A client has its output exactly if the attempt was committed: not if a party fails after all
/// have computed, but also if a party is killed before it could report the decision.
#[cfg(any(feature = "failpoints", debug_assertions))]
#[test]
fn a_client_has_its_output_where_the_attempt_was_committed() {
    let mut rig = Rig::up().apart();
    rig.all_up();
    let pin =
        client(&rig, "alice", "[inputs]\na = { hex = \"1\" }\n[outputs]\nz = { hex-file = \"z.hex\" }\n");
    let clients = BTreeMap::from([("alice".to_owned(), pin)]);
    let and = "1 3\n2 1 1\n1 1\n\n2 1 0 1 2 AND\n";
    let job = "protocol = \"rep3\"\ncircuit-file = \"and.txt\"\n[[inputs]]\nname = \"a\"\nfrom = \"client:alice\"\n[[inputs]]\n\
               name = \"b\"\nfrom = \"party0\"\n[[outputs]]\nname = \"z\"\nto = [\"client:alice\"]\n";
    for party in 0..3 {
        rig.kill(party);
        rig.edit_config(party, |text| text + "\n[inputs]\nb = { hex = \"1\" }\n");
    }
    rig.all_up();
    let proposal = approved(&rig, job, &json!({ "and.txt": and }), &clients);
    for (failpoint, committed) in [
        ("store.before.prepared=enospc", false),
        ("store.before.committed=kill", true),
        ("store.after.committed=kill", true),
    ] {
        rig.kill(1);
        rig.start(1, failpoint);
        rig.answers(1);
        let output = rig.dir.path().join("z.hex");
        let _ = std::fs::remove_file(&output);
        let body = json!({ "proposal": proposal, "clients": clients });
        let job = rig.submit_body(&Rig::fresh_key(), &body);
        let mut alice = attends(&rig, &job, "alice.toml");
        let until = std::time::Instant::now() + MINUTE;
        let ended = loop {
            rig.revive(1);
            if let Some(ended) = alice.try_wait().expect("it is ours") {
                break ended;
            }
            assert!(std::time::Instant::now() < until, "{failpoint}: {}", logs(rig.dir.path()));
            std::thread::sleep(Duration::from_millis(50));
        };
        rig.revive(1);
        let states: Vec<_> = rig.wait(&job, MINUTE).iter().map(|view| view["state"].clone()).collect();
        let wanted = if committed { "committed" } else { "failed" };
        assert!(
            states.iter().all(|state| *state == wanted),
            "{failpoint}: {states:?}{}",
            logs(rig.dir.path())
        );
        assert_eq!((ended.success(), output.exists()), (committed, committed), "{failpoint}");
    }
}

/// A file of preprocessing is marked before it is used. Whoever is killed around the mark, a marked
/// file serves no other run, even if it is restored from a backup.
#[cfg(any(feature = "failpoints", debug_assertions))]
#[test]
#[ignore = "a minute: run by --full"]
fn material_that_was_marked_serves_no_other_run_whoever_falls() {
    let mut rig = Rig::up_of(2).apart();
    let dir = rig.dir.path().to_path_buf();
    for party in 0..2 {
        rig.configure(party, &format!("[authgarble]\nshelf = \"shelf{party}\""));
    }
    rig.start_all();
    let text = format!("protocol = \"authgarble\"\nparties = 2\n{RICHER}");
    let proposal = approved(&rig, &text, &json!({}), &BTreeMap::new());
    let marked = |rig: &Rig, party: usize| -> Vec<String> {
        let store = rig.store(party);
        let mut statement = store.prepare("SELECT file FROM used_material").expect("SQL");
        let rows = statement.query_map([], |row| row.get(0)).expect("rows");
        rows.collect::<Result<_, _>>().expect("text")
    };
    let mut compared = 0;
    for (point, action) in [("before", "kill"), ("after", "kill"), ("before", "enospc"), ("after", "eio")] {
        for party in 0..2 {
            let name = format!("{action} of party {party} {point} the mark");
            // The rest of the case before is removed.
            for other in 0..2 {
                let _ = std::fs::remove_dir_all(dir.join(format!("shelf{other}")));
            }
            prepare(&dir, &text);
            let copies: Vec<_> = (0..2).map(|party| files(&dir.join(format!("shelf{party}")))).collect();
            let before: Vec<_> = (0..2).map(|party| marked(&rig, party).len()).collect();
            rig.kill(party);
            rig.start(party, &format!("store.{point}.material={action}"));
            rig.answers(party);
            let job = rig.submit_body(&Rig::fresh_key(), &json!({ "proposal": proposal }));
            let until = std::time::Instant::now() + MINUTE;
            let ends = loop {
                rig.revive(party);
                let seen: Vec<_> = (0..2).filter_map(|party| rig.look(party, &job)).collect();
                let ends = |view: &Value| matches!(view["state"].as_str(), Some("committed" | "failed"));
                if seen.len() == 2 && seen.iter().all(ends) {
                    break seen;
                }
                assert!(std::time::Instant::now() < until, "{name}: {seen:#?} {}", logs(&dir));
                std::thread::sleep(Duration::from_millis(50));
            };
            assert_eq!(ends[0]["state"], ends[1]["state"], "{name}");
            if ends[0]["state"] == "committed" {
                assert_eq!(learnt(&rig, 0, &job), "richer=1\n", "{name}");
            }
            let new = (0..2).filter(|party| marked(&rig, *party).len() > before[*party]).count();
            eprintln!("{name}: {} with {new} parties' marks", ends[0]["state"]);
            if new == 0 {
                continue;
            }
            compared += 1;
            restored(&dir, &copies);
            let job = rig.submit_body(&Rig::fresh_key(), &json!({ "proposal": proposal }));
            for view in rig.wait(&job, MINUTE) {
                let code = view["cause"]["code"].as_str();
                assert_eq!(
                    (view["state"].as_str(), code),
                    (Some("failed"), Some("HW0911")),
                    "{name}: {view:#}"
                );
            }
        }
    }
    assert!(compared >= 4, "material was marked in {compared} cases");
}

/// Parties draw a key in one job, keep their shares of it, and decrypt with it in another job,
/// after a restart. No party's share is the key.
#[test]
fn a_key_that_parties_keep_serves_a_later_job() {
    let mut rig = Rig::up().apart();
    let dir = rig.dir.path().to_path_buf();
    for party in 0..3 {
        rig.configure(party, &format!("[aes-ctr]\nkey-share = \"kept{party}.share\""));
    }
    rig.start_all();
    let plain = b"what only its owner knows, more than one block of it".repeat(9);
    std::fs::write(dir.join("secret"), &plain).expect("room");
    for (name, from, to) in [("dora", "secret", "secret.enc"), ("dora-again", "secret.enc", "secret.dec")] {
        let lines = format!(
            "[inputs]\ndata = {{ file = \"{from}\" }}\n[outputs]\nresult = {{ file = \"{to}\" }}\n[aes-ctr]\nledger = \
             \"dora.ledger\"\n"
        );
        let pin = client(&rig, name, &lines);
        let clients = BTreeMap::from([(name.to_owned(), pin)]);
        let direction = if name == "dora" { "encrypt" } else { "decrypt" };
        let job = format!(
            "kind = \"aes-ctr\"\nowner = \"client:{name}\"\nkey = \"kept\"\ndirection = \"{direction}\"\n"
        );
        let proposal = approved(&rig, &job, &json!({}), &clients);
        let job = rig.submit_body(&Rig::fresh_key(), &json!({ "proposal": proposal, "clients": clients }));
        let end = attends(&rig, &job, &format!("{name}.toml")).wait_with_output().expect("it ends");
        assert!(end.status.success(), "{name}: {}{}", String::from_utf8_lossy(&end.stderr), logs(&dir));
        for view in rig.wait(&job, MINUTE) {
            assert_eq!(view["state"], "committed", "{name}: {view:#}");
        }
        (0..3).for_each(|party| rig.end(party));
        rig.start_all();
    }
    let sealed = std::fs::read(dir.join("secret.enc")).expect("the output");
    assert!(sealed.len() == plain.len() && sealed != plain);
    assert!(std::fs::read(dir.join("secret.dec")).expect("the output") == plain);
    // The parties have shares in files that only their owners can read.
    for party in 0..3 {
        let meta = std::fs::metadata(dir.join(format!("kept{party}.share"))).expect("a share");
        assert_eq!(std::os::unix::fs::PermissionsExt::mode(&meta.permissions()) & 0o777, 0o600);
    }
}
