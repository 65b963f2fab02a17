//! The keys of a party: the keys that data sets are sealed to, and the key that signs the party's
//! statements. At rest they are sealed under the master key.
//!
//! A sealing key is *pending* until every other party knows of it, then *active*, and *expired*
//! once the next one is active. An expired key still opens what was sealed to it.

use crate::{
    audit, clock,
    store::{Store, Stored},
};
use hushwire_block::Wiped;
use hushwire_fault::Fault;
use hushwire_seal::{
    BlakeName, KeyId, Manifest, MasterKey, OpenKey, SealTo, SignKey, Signature, SignedStatement, Statement,
    VerifyKey,
    dataset::OpenedData,
    vouch::{WorkerPlace, promise, vouch},
};
use hushwire_wire::Pin;
use rusqlite::{Connection, params};
use serde::Serialize;
use serde_json::json;
use std::sync::{PoisonError, RwLock, RwLockReadGuard};

/// The purposes for which the master key wraps keys.
const PURPOSE: &str = "party key";
const SIGNS: &str = "party sign key";
const STEP: &str = "opening the party's keys";

/// The state of a key that data sets are sealed to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum KeyState {
    /// Other parties may not know of it yet.
    Pending,
    /// Data sets are sealed to it.
    Active,
    /// It only opens what was sealed to it before.
    Expired,
}

impl KeyState {
    /// The state in a row. Schema 1 calls expired keys "old".
    fn of(text: &str) -> Self {
        match text {
            "pending" => Self::Pending,
            "active" => Self::Active,
            _ => Self::Expired,
        }
    }
}

/// A key without its secret, for people.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct KeyView {
    pub(crate) id: String,
    pub(crate) state: KeyState,
    pub(crate) since: String,
}

/// A key's row.
struct KeyRow {
    kind: String,
    state: KeyState,
    since: i64,
    private: Vec<u8>,
}

/// A party's keys. No `Debug`.
pub(crate) struct PartyKeys {
    sign: SignKey,
    open: RwLock<Vec<(KeyState, i64, OpenKey)>>,
}

/// The sealing keys of a store without their secrets, the newest first.
pub(crate) fn list(c: &Connection) -> Stored<Vec<KeyView>> {
    let mut statement = c.prepare(
        "SELECT id, state, since FROM party_keys WHERE kind = 'seal' ORDER BY since DESC, rowid DESC",
    )?;
    let rows = statement.query_map([], |row| {
        let state: String = row.get(1)?;
        Ok(KeyView { id: row.get(0)?, state: KeyState::of(&state), since: clock::text(row.get(2)?) })
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}

impl PartyKeys {
    /// Reads the keys of a store, or makes the first ones.
    pub(crate) async fn open(store: &Store, master: &MasterKey) -> Result<Self, Fault> {
        let mut rows = rows(store).await?;
        if !rows.iter().any(|row| row.kind == "seal") {
            Self::rotate(store, master).await?;
        }
        if !rows.iter().any(|row| row.kind == "sign") {
            let key = SignKey::generate();
            let (id, wrapped) = (key.public().to_string(), master.wrap(SIGNS, key.expose()));
            let kept = store.run("key", move |c| insert(c, &id, "sign", &wrapped, "active"));
            kept.await?;
        }
        rows = self::rows(store).await?;
        let sign = rows.iter().find(|row| row.kind == "sign");
        let sign = sign.ok_or_else(|| Fault::internal(STEP, "the key that signs is not there"))?;
        let sign = SignKey::from_seed(&*opened(master, SIGNS, &sign.private)?);
        Ok(Self { sign, open: RwLock::new(seal_keys(&rows, master)?) })
    }

    /// Reads the sealing keys again, because a command may have added one.
    pub(crate) async fn reload(&self, store: &Store, master: &MasterKey) -> Result<(), Fault> {
        let keys = seal_keys(&rows(store).await?, master)?;
        *self.open.write().unwrap_or_else(PoisonError::into_inner) = keys;
        Ok(())
    }

    /// Whether the store's sealing keys or their states differ from the ones that were read.
    pub(crate) async fn changed(&self, store: &Store) -> Result<bool, Fault> {
        let there: Vec<_> = rows(store).await?.into_iter().filter(|row| row.kind == "seal").collect();
        let keys = self.keys();
        let same = |(row, (state, since, _)): (&KeyRow, &(KeyState, i64, OpenKey))| {
            (row.state, row.since) == (*state, *since)
        };
        Ok(there.len() != keys.len() || !there.iter().zip(keys.iter()).all(same))
    }

    /// Adds a new sealing key: active if it is the first one, pending otherwise. Returns its name
    /// and state.
    pub(crate) async fn rotate(store: &Store, master: &MasterKey) -> Result<(String, KeyState), Fault> {
        let key = OpenKey::generate();
        let (id, wrapped) = (key.public().id().to_string(), master.wrap(PURPOSE, key.expose()));
        let named = id.clone();
        let kept = store.run("key", move |c| {
            let active: i64 = c.query_row(
                "SELECT count(*) FROM party_keys WHERE kind = 'seal' AND state = 'active'",
                [],
                |row| row.get(0),
            )?;
            // Only the newest pending key comes next.
            c.execute(
                "UPDATE party_keys SET state = 'expired' WHERE kind = 'seal' AND state = 'pending'",
                [],
            )?;
            let state = if active == 0 { "active" } else { "pending" };
            insert(c, &id, "seal", &wrapped, state)?;
            Ok(KeyState::of(state))
        });
        Ok((named, kept.await?))
    }

    /// Makes the pending key active, because every other party knows of it.
    pub(crate) async fn activate(&self, store: &Store, id: KeyId) -> Result<(), Fault> {
        let id = id.to_string();
        let done = store.run("key", move |c| {
            let now = clock::now();
            c.execute(
                "UPDATE party_keys SET state = 'expired' WHERE kind = 'seal' AND state = 'active'",
                [],
            )?;
            c.execute(
                "UPDATE party_keys SET state = 'active', since = max(?2, since + 1) WHERE kind = 'seal' AND id = ?1",
                params![id, now],
            )?;
            audit::append(c, "daemon", "key active", &id, json!({}))
        });
        done.await
    }

    fn keys(&self) -> RwLockReadGuard<'_, Vec<(KeyState, i64, OpenKey)>> {
        self.open.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn in_state(&self, state: KeyState) -> Option<SealTo> {
        self.keys().iter().find(|key| key.0 == state).map(|key| key.2.public())
    }

    /// The key that data sets are sealed to.
    pub(crate) fn seal_to(&self) -> SealTo {
        self.in_state(KeyState::Active).unwrap_or_else(|| self.keys()[0].2.public())
    }

    /// The key that comes next, if other parties do not know of it yet.
    pub(crate) fn pending(&self) -> Option<SealTo> {
        self.in_state(KeyState::Pending)
    }

    /// When the sealing keys last changed, in milliseconds since 1970.
    fn since(&self) -> u64 {
        self.keys().iter().map(|key| key.1.unsigned_abs()).max().unwrap_or_default()
    }

    /// Signs this party's statement about itself. The caller fills in all but the keys.
    pub(crate) fn sign(&self, of: Statement) -> Result<SignedStatement, Fault> {
        let said = Statement {
            seal_to: self.seal_to(),
            next: self.pending(),
            sign: self.sign.public(),
            since: self.since(),
            ..of
        };
        SignedStatement::sign(&said, &self.sign).map_err(Fault::from)
    }

    /// Signs, as this party, for one of its workers.
    pub(crate) fn vouch(&self, at: &WorkerPlace<'_>, pin: Pin) -> Signature {
        vouch(&self.sign, at, &pin.0)
    }

    /// Signs, as party 0, what it tells about an attempt.
    pub(crate) fn promise(&self, of: &str, at: &WorkerPlace<'_>, digest: BlakeName) -> Signature {
        promise(&self.sign, of, at, &digest.0)
    }

    /// The key that verifies this party's signatures.
    pub(crate) fn signs(&self) -> VerifyKey {
        self.sign.public()
    }

    /// Opens this party's envelope of a data set with the key that it is sealed to.
    pub(crate) fn open_data(
        &self,
        manifest: &Manifest,
        party: usize,
        envelope: &[u8],
    ) -> Result<OpenedData, Fault> {
        let mut first = None;
        for (_, _, key) in self.keys().iter() {
            match OpenedData::new(key, manifest, party, envelope) {
                Ok(opened) => return Ok(opened),
                Err(e) => drop(first.get_or_insert(e)),
            }
        }
        Err(first
            .map_or_else(|| Fault::internal("opening an envelope", "this party has no key"), Fault::from))
    }
}

fn insert(c: &Connection, id: &str, kind: &str, wrapped: &[u8], state: &str) -> Stored<()> {
    c.execute(
        "INSERT INTO party_keys(id, kind, public, private, state, since) VALUES (?1, ?2, '', ?3, ?4, ?5)",
        params![id, kind, wrapped, state, clock::now()],
    )?;
    Ok(())
}

async fn rows(store: &Store) -> Result<Vec<KeyRow>, Fault> {
    store.read(read_rows).await
}

fn read_rows(c: &Connection) -> Stored<Vec<KeyRow>> {
    let mut statement =
        c.prepare("SELECT kind, state, since, private FROM party_keys ORDER BY since DESC, rowid DESC")?;
    let rows = statement.query_map([], |row| {
        let state: String = row.get(1)?;
        let state = KeyState::of(&state);
        Ok(KeyRow { kind: row.get(0)?, state, since: row.get(2)?, private: row.get(3)? })
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// Checks that the master key opens all keys of a store. Returns their number.
pub(crate) fn check(c: &Connection, master: &MasterKey) -> Result<usize, Fault> {
    let rows = read_rows(c)?;
    for row in &rows {
        opened(master, if row.kind == "sign" { SIGNS } else { PURPOSE }, &row.private)?;
    }
    Ok(rows.len())
}

fn opened(master: &MasterKey, purpose: &str, wrapped: &[u8]) -> Result<Wiped<[u8; 32]>, Fault> {
    let bytes = master.unwrap(purpose, wrapped).map_err(|e| Fault::from(e).during(STEP))?;
    let mut key = Wiped::new([0; 32]);
    if bytes.len() != key.len() {
        return Err(Fault::internal(STEP, "a key is short"));
    }
    key.copy_from_slice(&bytes);
    Ok(key)
}

fn seal_keys(rows: &[KeyRow], master: &MasterKey) -> Result<Vec<(KeyState, i64, OpenKey)>, Fault> {
    let seal = rows.iter().filter(|row| row.kind == "seal");
    seal.map(|row| {
        let bytes = opened(master, PURPOSE, &row.private)?;
        Ok((row.state, row.since, OpenKey::from_bytes(&bytes)))
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block<T>(of: impl Future<Output = Result<T, Fault>>) -> T {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build();
        runtime.expect("a runtime").block_on(of).unwrap_or_else(|e| panic!("{e}"))
    }

    fn statement(keys: &PartyKeys) -> Statement {
        let of = Statement {
            format: Statement::format(),
            group: "heart".to_owned(),
            parties: 3,
            party: 1,
            pin: String::new(),
            protocol: "rep3".to_owned(),
            seal_to: keys.seal_to(),
            next: None,
            sign: keys.sign.public(),
            since: 0,
        };
        keys.sign(of).unwrap_or_else(|e| panic!("{e}")).statement().clone()
    }

    #[test]
    fn a_new_key_is_pending_then_active_and_the_old_one_still_opens() {
        let dir = tempfile::tempdir().expect("a directory");
        let master = MasterKey::create(&dir.path().join("master")).unwrap_or_else(|e| panic!("{e}"));
        let store = Store::open(&dir.path().join("store.db"), crate::store::Upgrade::Newest)
            .unwrap_or_else(|e| panic!("{e}"));
        block(async {
            let keys = PartyKeys::open(&store, &master).await?;
            let first = keys.seal_to();
            assert!(keys.pending().is_none() && !keys.changed(&store).await?);
            let before = statement(&keys);
            // A command in another process adds one.
            let (id, state) = PartyKeys::rotate(&store, &master).await?;
            assert_eq!(state, KeyState::Pending);
            assert!(keys.changed(&store).await?);
            keys.reload(&store, &master).await?;
            let next = keys.pending().unwrap_or_else(|| panic!("it is pending"));
            assert_eq!((next.id().to_string(), keys.seal_to()), (id, first.clone()));
            let said = statement(&keys);
            assert!(said.since >= before.since && said.next.as_ref() == Some(&next));
            keys.activate(&store, next.id()).await?;
            keys.reload(&store, &master).await?;
            assert_eq!((keys.seal_to(), keys.pending()), (next, None));
            assert!(statement(&keys).since > said.since, "the later statement counts");
            // The same signing key after a restart.
            let again = PartyKeys::open(&store, &master).await?;
            assert_eq!(statement(&again), statement(&keys));
            let listed = store.read(list).await?;
            let states: Vec<_> = listed.iter().map(|key| key.state).collect();
            assert_eq!(states, [KeyState::Active, KeyState::Expired]);
            assert!(again.keys().iter().any(|key| key.2.public() == first), "the old key is kept");
            Ok(())
        });
    }
}
