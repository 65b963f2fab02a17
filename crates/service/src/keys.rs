//! The keys of a party to which data sets are sealed: at rest they are sealed under the master key.

use crate::{clock, store::Store};
use hushwire_fault::Fault;
use hushwire_seal::{Manifest, MasterKey, OpenKey, SealTo, dataset::OpenedData};
use rusqlite::params;

/// The purpose of what the master key wraps.
const PURPOSE: &str = "party key";

/// A party's keys, the newest first: older ones open what was sealed to them. No `Debug`.
pub(crate) struct PartyKeys(Vec<OpenKey>);

impl PartyKeys {
    /// Reads the keys of a store, or makes the first one.
    pub(crate) async fn open(store: &Store, master: &MasterKey) -> Result<Self, Fault> {
        let mut kept = Self::read(store).await?;
        if kept.is_empty() {
            Self::rotate(store, master).await?;
            kept = Self::read(store).await?;
        }
        let mut keys = vec![];
        for wrapped in kept {
            let bytes = master
                .unwrap(PURPOSE, &wrapped)
                .map_err(|e| Fault::from(e).during("opening the party's keys"))?;
            let bytes: &[u8; 32] = bytes[..]
                .try_into()
                .map_err(|_| Fault::internal("opening the party's keys", "a key is short"))?;
            keys.push(OpenKey::from_bytes(bytes));
        }
        Ok(Self(keys))
    }

    async fn read(store: &Store) -> Result<Vec<Vec<u8>>, Fault> {
        let read = store.run("read", |c| {
            let mut statement = c.prepare(
                "SELECT private FROM party_keys WHERE kind = 'seal' ORDER BY since DESC, rowid DESC",
            )?;
            let rows = statement.query_map([], |row| row.get(0))?;
            Ok(rows.collect::<Result<_, _>>()?)
        });
        read.await
    }

    /// Adds a new key, to which data sets are sealed from now on. Gives its name.
    pub(crate) async fn rotate(store: &Store, master: &MasterKey) -> Result<String, Fault> {
        let key = OpenKey::generate();
        let (id, wrapped) = (key.public().id().to_string(), master.wrap(PURPOSE, key.expose()));
        let named = id.clone();
        let kept = store.run("key", move |c| {
            c.execute("UPDATE party_keys SET state = 'old' WHERE kind = 'seal'", [])?;
            c.execute(
                "INSERT INTO party_keys(id, kind, public, private, state, since) VALUES (?1, 'seal', '', ?2, 'active', ?3)",
                params![id, wrapped, clock::now()],
            )?;
            Ok(())
        });
        kept.await?;
        Ok(named)
    }

    /// The key that data sets are sealed to.
    pub(crate) fn seal_to(&self) -> SealTo {
        self.0[0].public()
    }

    /// Opens this party's envelope of a data set, by whichever key it is sealed to.
    pub(crate) fn open_data(
        &self,
        manifest: &Manifest,
        party: usize,
        envelope: &[u8],
    ) -> Result<OpenedData, Fault> {
        let mut first = None;
        for key in &self.0 {
            match OpenedData::new(key, manifest, party, envelope) {
                Ok(opened) => return Ok(opened),
                Err(e) => drop(first.get_or_insert(e)),
            }
        }
        Err(first
            .map_or_else(|| Fault::internal("opening an envelope", "this party has no key"), Fault::from))
    }
}
