//! Tests with stores of earlier releases: each is upgraded, and runs as it is where this release
//! supports its schema.

use crate::{
    access, audit,
    config::Config,
    keys::{self, KeyState},
    party::Party,
    peer_api,
    records::{
        admission, attempts, datasets, jobs,
        jobs::{JobRow, Submitted},
        peers, proposals,
    },
    store::{Stored, Upgrade, schema},
};
use hushwire_fault::{Fault, PartyId, code};
use hushwire_seal::{Person, SignKey};
use hushwire_wire::Identity;
use std::{collections::BTreeMap, fs, os::unix::fs::PermissionsExt, path::Path};

/// A store of an earlier release as SQL, and its master key.
const STORES: [(usize, &str, &str); 1] =
    [(1, include_str!("../fixtures/schema1.sql"), include_str!("../fixtures/schema1.master"))];
/// Each store has this token of the analyst, data set, proposal and job.
const TOKEN: &str = "hw_5a0498971ecc40257dc773b9b2ec68abaf76cf4c552359ce75b024df1fae7eb6";
const DATA: &str = "f22f663b0e7e31098c6f825981b1f7c91d6e9ad82a0b66578a93ae3478ef2d84";
const PROPOSAL: &str = "4fd55bc314f0b584c3ef24a005e425e2";
const JOB: &str = "91275057293edf1153aba4ed357250fc";

fn private(path: &Path, text: &str) {
    fs::write(path, text).expect("room");
    fs::set_permissions(path, fs::Permissions::from_mode(0o600)).expect("it is ours");
}

/// The config of the party that the store belongs to.
fn config(dir: &Path, sql: &str, master: &str) -> Config {
    let at = |name: &str| dir.join(name);
    rusqlite::Connection::open(at("store.db")).and_then(|c| c.execute_batch(sql)).expect("a store");
    private(&at("master"), master);
    private(&at("party1.pem"), &Identity::generate("party1").expect("a key").to_pem());
    let pin = "ab".repeat(32);
    let mut text = "group = \"demo\"\nparty = 1\nlisten-api = \"127.0.0.1:0\"\nlisten-party = \"127.0.0.1:0\"\nurl = \
                    \"https://localhost:1\"\nkey = \"party1.pem\"\nmaster-key = \"master\"\nstore = \"store.db\"\nblobs = \
                    \"blobs\"\noperators = [\"8ee173faebf7e2121cc3878b779c666dc183b58dbf4964f24cc4fb3a6a5bce2d\"]\n"
        .to_owned();
    for party in [0, 2] {
        text += &format!(
            "[[peers]]\nparty = {party}\nurl = \"https://localhost:1\"\naddress = \"localhost:1\"\npin = \"sha256:{pin}\"\n"
        );
    }
    private(&at("party1.toml"), &text);
    Config::read(&at("party1.toml")).unwrap_or_else(|e| panic!("{e}"))
}

/// A party works on a store, whatever its schema: it has all that was there, and more can be added.
async fn works(party: &Party) -> Result<(), Fault> {
    let operators = party.config.operators.clone();
    let read = |c: &rusqlite::Connection| -> Stored<_> {
        let (caller, _) = access::caller(c, TOKEN)?.expect("the token holds");
        let job = jobs::known(c, JOB)?;
        let view = jobs::view(c, job.clone())?;
        let data = datasets::need(c, &caller, DATA)?;
        let proposal = proposals::need(c, &caller, PROPOSAL)?;
        let runs = attempts::runs(c, &job.digest, &[line(c)?], 0)?;
        Ok((caller, job, view, data, proposal, runs))
    };
    let (caller, job, view, data, proposal, runs) = party.store.read(read).await?;
    assert_eq!((view.state.as_str(), view.outputs.len(), view.attempts.len()), ("delivered", 1, 1));
    assert_eq!((proposal.state.as_str(), runs), ("approved", 1));
    assert!(proposal.needs.clients.is_empty() && proposal.proposed.expires.is_none());
    // The envelope is sealed to a key that was rotated since.
    let manifest = data.signed()?;
    party.keys.open_data(manifest.manifest(), 1, data.envelope.as_deref().unwrap_or_default())?;
    let states: Vec<_> = party.store.read(keys::list).await?.iter().map(|key| key.state).collect();
    assert_eq!(states, [KeyState::Active, KeyState::Expired]);
    // A job on the old proposal is submitted, and the old policy allows it.
    let recipient = serde_json::to_value(Person::generate().card("").seal_to).expect("JSON");
    let body = Submitted {
        proposal: Some(PROPOSAL.to_owned()),
        data: BTreeMap::from([("stays".to_owned(), DATA.to_owned())]),
        recipients: BTreeMap::from([("anna".to_owned(), recipient.as_str().expect("text").to_owned())]),
        ..Submitted::default()
    };
    let recipients = job.body.recipients.clone();
    let submitted: JobRow =
        party.store.run("job", move |c| Ok(jobs::submit(c, &caller, "again", &body)?.0)).await?;
    assert_eq!((submitted.state.as_str(), &submitted.proposal), ("submitted", &job.proposal));
    let known = JobRow { body: Submitted { recipients, ..submitted.body.clone() }, ..submitted };
    party.store.read(move |c| admission::admit(c, &operators, &known).map(drop)).await?;
    // Another party greets, and the end of its log is kept.
    let said = other(party, &SignKey::generate())?;
    party.hear(0, "0.1.0", said).await?;
    assert_eq!(party.said().len(), 1);
    let kept = party.store.read(peers::heads).await?;
    assert!(kept[&0].seq != 0, "what was kept before stays: {kept:?}");
    party.store.read(audit::verify).await.map(drop)
}

fn line(c: &rusqlite::Connection) -> Stored<String> {
    Ok(c.query_row("SELECT line FROM runs LIMIT 1", [], |row| row.get(0))?)
}

/// A statement of party 0.
fn other(party: &Party, key: &SignKey) -> Result<hushwire_seal::SignedStatement, Fault> {
    let said = party.statement()?.statement().clone();
    let said = hushwire_seal::Statement { party: 0, sign: key.public(), ..said };
    hushwire_seal::SignedStatement::sign(&said, key).map_err(Fault::from)
}

fn block(of: impl Future<Output = Result<(), Fault>>) {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build();
    runtime.expect("a runtime").block_on(of).unwrap_or_else(|e| panic!("{e}"));
}

#[test]
fn stores_of_earlier_releases_are_upgraded_with_all_that_they_have() {
    for (number, sql, master) in STORES {
        let dir = tempfile::tempdir().expect("a directory");
        let config = config(dir.path(), sql, master);
        block(async {
            let party = Party::open(config.clone(), "127.0.0.1:0").await?;
            assert_eq!(party.store.read(|c| Ok(schema(c)?)).await?, 4);
            works(&party).await
        });
        let copy = dir.path().join(format!("store.db.schema{number}"));
        let copy = rusqlite::Connection::open(copy).expect("a copy");
        assert_eq!(schema(&copy).expect("a number"), number, "the copy is as it was");
        // Statements of other parties are still there after a restart.
        block(async {
            let party = Party::open(config, "127.0.0.1:0").await?;
            assert_eq!(party.said().len(), 1);
            Ok(())
        });
    }
}

#[test]
fn this_release_runs_on_the_schema_before_its_own_and_leaves_it() {
    let (number, sql, master) = STORES[STORES.len() - 1];
    let dir = tempfile::tempdir().expect("a directory");
    let config = Config { upgrade: Upgrade::Keep, ..config(dir.path(), sql, master) };
    block(async {
        let party = Party::open(config.clone(), "127.0.0.1:0").await?;
        works(&party).await?;
        assert_eq!(party.store.read(|c| Ok(schema(c)?)).await?, number);
        Ok(())
    });
    assert!(!dir.path().join(format!("store.db.schema{number}")).exists(), "nothing was copied");
    // A schema that is older still is refused.
    let old = rusqlite::Connection::open(dir.path().join("store.db")).expect("a store");
    old.pragma_update(None, "user_version", 0).expect("it is ours");
    drop(old);
    block(async {
        let error = Party::open(config, "127.0.0.1:0").await.err().unwrap_or_else(|| panic!("schema 0"));
        assert!(error.cause().contains("runs on schemas 1 to 4"), "{error}");
        Ok(())
    });
}

/// The greeting may differ in any other way.
#[test]
fn a_greeting_of_another_release_is_refused_with_both_named() {
    let (_, sql, master) = STORES[STORES.len() - 1];
    let dir = tempfile::tempdir().expect("a directory");
    let config = config(dir.path(), sql, master);
    block(async {
        let party = Party::open(config, "127.0.0.1:0").await?;
        let own = env!("CARGO_PKG_VERSION");
        let hello = serde_json::to_value(peer_api::hello(&party).await?).expect("JSON");
        assert!(peer_api::read_hello(2, hello.clone()).is_ok(), "of this release");
        let mut newer = hello;
        newer["release"] = "9.9.9".into();
        let mut older = newer.clone();
        older["release"] = "0.0.1".into();
        older.as_object_mut().expect("an object").retain(|name, _| name == "release" || name == "party");
        for (theirs, text) in [("9.9.9", newer), ("0.0.1", older)] {
            let error = peer_api::read_hello(2, text).err().unwrap_or_else(|| panic!("{theirs} was taken"));
            assert_eq!(error.code(), code::CONFLICT, "{error}");
            assert_eq!(error.who(), Some(&PartyId(2).into()), "{error}");
            assert!(error.cause().contains(theirs) && error.cause().contains(own), "{error}");
            assert!(error.remedy().contains("same release"), "{error}");
        }
        let error = peer_api::read_hello(0, serde_json::json!({ "hello": 1 })).err();
        assert!(error.is_some_and(|e| e.cause().contains("without a name")));
        assert!(party.said().is_empty(), "nothing of them is kept");
        Ok(())
    });
}
