//! The upload of data sets to three parties.
//!
//! ```text
//! a table's file ──► sealed parts in a directory, manifest, envelopes ──► party 0, 1, 2
//!                                                   what a party lacks, until it lacks nothing
//! ```
//! The directory has ciphertexts and no key. A put that was interrupted can therefore resume from
//! it with the same bytes, and nothing is sealed twice under one key.

use crate::{PartyClient, Service};
use hushwire_block::Wiped;
use hushwire_fault::{Fault, PartyId, code};
use hushwire_files::NewFile;
use hushwire_seal::{
    BlakeName, SealTo, SignKey, Signature, SignedManifest,
    dataset::{DataDescription, Dealer},
};
use serde::{Deserialize, Serialize};
use std::{
    fs::{self, File},
    io::{self, ErrorKind},
    path::{Path, PathBuf},
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    thread,
};

const MANIFEST: &str = "manifest.json";
const SIGNATURE: &str = "signature";
/// LOCAL: the number of parts in flight to a party. While it syncs one, others are sent.
const CONNECTIONS: usize = 3;

/// A sealed data set in a directory.
pub struct DataFile {
    dir: PathBuf,
    signed: SignedManifest,
}

/// A party's answer about a data set that is being uploaded.
#[derive(Deserialize)]
struct Arriving {
    id: String,
    state: String,
    missing: Vec<u64>,
}

/// The first request of an upload.
#[derive(Serialize)]
struct NewData<'a> {
    manifest: &'a str,
    signature: String,
    envelope: String,
}

/// A data set that all parties have.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Put {
    /// The id of the data set.
    pub id: String,
    /// The line that its versions share.
    pub line: String,
    /// The version in that line.
    pub version: u64,
    /// The number of rows.
    pub rows: u64,
    /// The bytes of sealed parts, at all parties together.
    pub bytes: u64,
    /// The bytes that this call sent.
    pub sent: u64,
}

/// A function that deals planes: it takes the number of rows of the next part and the planes of
/// every input.
type TakePlanes<'a> = &'a mut dyn FnMut(u64, Vec<Wiped<Vec<u8>>>) -> Result<(), Fault>;

impl DataFile {
    /// Seals a data set into a new directory. `read` passes its parts in order and returns the
    /// number of rows.
    ///
    /// # Errors
    /// The directory exists, a part is invalid, or `read` failed. The files that were written are
    /// removed.
    pub fn seal(
        dir: &Path,
        description: DataDescription,
        to: [SealTo; 3],
        key: &SignKey,
        read: impl FnOnce(TakePlanes<'_>) -> Result<u64, Fault>,
    ) -> Result<Self, Fault> {
        fs::create_dir(dir).map_err(|e| match e.kind() {
            ErrorKind::AlreadyExists => {
                let remedy =
                    format!("go on with `hushwire data put --resume {0}`, or remove it", dir.display());
                Fault::file("write", dir, "an earlier put left its parts there", remedy)
            }
            _ => Fault::io("write", dir, &e),
        })?;
        let sealed = Self::sealed(dir, description, to, key, read);
        if sealed.is_err() {
            // The first error is more informative than one of cleaning up.
            let _ = fs::remove_dir_all(dir);
        }
        sealed
    }

    fn sealed(
        dir: &Path,
        description: DataDescription,
        to: [SealTo; 3],
        key: &SignKey,
        read: impl FnOnce(TakePlanes<'_>) -> Result<u64, Fault>,
    ) -> Result<Self, Fault> {
        let mut dealer = Dealer::new(description, to)?;
        let mut number = 0;
        let rows = read(&mut |rows, planes| {
            for (party, sealed) in dealer.part(rows, planes)?.iter().enumerate() {
                NewFile::create(&part_path(dir, party, number), 0o600)?.write(sealed)?;
            }
            number += 1;
            Ok(())
        })?;
        let dealt = dealer.finish(rows, key)?;
        for (party, envelope) in dealt.envelopes.iter().enumerate() {
            NewFile::create(&envelope_path(dir, party), 0o600)?.write(envelope)?;
        }
        let signed = dealt.signed;
        NewFile::create(&dir.join(SIGNATURE), 0o600)?.write(signed.signature().to_string().as_bytes())?;
        // The manifest is written last, so that a directory with a manifest is complete.
        NewFile::create(&dir.join(MANIFEST), 0o600)?.write(signed.text().as_bytes())?;
        Ok(Self { dir: dir.to_path_buf(), signed })
    }

    /// Opens a directory that [`seal`](Self::seal) made.
    ///
    /// # Errors
    /// The directory cannot be read, or is not complete.
    pub fn open(dir: &Path) -> Result<Self, Fault> {
        let path = dir.join(MANIFEST);
        let text = fs::read(&path).map_err(|e| match e.kind() {
            ErrorKind::NotFound => {
                let cause = "it has no manifest: the put ended before everything was sealed";
                Fault::file("read", dir, cause, "remove it, and put the file anew")
            }
            _ => Fault::io("read", &path, &e),
        })?;
        let path = dir.join(SIGNATURE);
        let signature = fs::read_to_string(&path).map_err(|e| Fault::io("read", &path, &e))?;
        let signature: Signature = signature.trim().parse()?;
        Ok(Self { dir: dir.to_path_buf(), signed: SignedManifest::read(&text, signature)? })
    }

    /// The signed manifest.
    #[must_use]
    pub fn signed(&self) -> &SignedManifest {
        &self.signed
    }

    /// Removes the directory. Call it once the parties have everything.
    ///
    /// # Errors
    /// The directory cannot be removed.
    pub fn remove(self) -> Result<(), Fault> {
        fs::remove_dir_all(&self.dir).map_err(|e| Fault::io("write", &self.dir, &e))
    }
}

fn part_path(dir: &Path, party: usize, part: u64) -> PathBuf {
    dir.join(format!("party{party}-part{part}"))
}

fn envelope_path(dir: &Path, party: usize) -> PathBuf {
    dir.join(format!("party{party}-envelope"))
}

/// Sends every party the parts of a data set that it lacks. `progress` gets the bytes that were
/// sent, and the bytes to send in total.
///
/// # Errors
/// The first error of a party, which the error names. The uploads to the other parties continue to
/// their ends.
pub fn put(service: &Service, data: &DataFile, progress: impl Fn(u64, u64) + Sync) -> Result<Put, Fault> {
    let manifest = data.signed.manifest();
    if manifest.group != service.group() {
        let cause = format!(
            "it is sealed to the group {:?}, and the file names {:?}",
            manifest.group,
            service.group()
        );
        return Err(Fault::usage("putting a data set", cause, "put it to its own group, or seal it anew"));
    }
    let bytes = (0..3).flat_map(|party| (0..manifest.part_count()).map(move |part| (party, part)));
    let bytes = bytes.map(|(party, part)| manifest.part_bytes(party, part)).sum();
    let (sent, first) = (AtomicU64::new(0), Mutex::new(None::<Fault>));
    thread::scope(|scope| {
        for party in service.parties() {
            let (sent, first, progress) = (&sent, &first, &progress);
            scope.spawn(move || {
                if let Err(e) =
                    put_at(party, data, |more| progress(more + sent.fetch_add(more, Relaxed), bytes))
                {
                    first.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(e);
                }
            });
        }
    });
    if let Some(e) = first.into_inner().unwrap_or_else(PoisonError::into_inner) {
        return Err(e);
    }
    let (id, line) = (data.signed.id().digits(), manifest.line.digits());
    Ok(Put { id, line, version: manifest.version, rows: manifest.rows, bytes, sent: sent.into_inner() })
}

fn put_at(party: &PartyClient, data: &DataFile, sent: impl Fn(u64) + Sync) -> Result<(), Fault> {
    let at = usize::from(party.party());
    let path = envelope_path(&data.dir, at);
    let envelope = fs::read(&path).map_err(|e| Fault::io("read", &path, &e))?;
    let new = NewData {
        manifest: data.signed.text(),
        signature: data.signed.signature().to_string(),
        envelope: hex::encode(envelope),
    };
    let arriving: Arriving = party.read(&party.post("/v1/datasets", &new, None)?)?;
    let id = data.signed.id();
    if arriving.id != id.digits() {
        return Err(party.odd(format_args!("the data set {} for {}", arriving.id, id.digits())));
    }
    let own = Service::data_path(&id);
    let missing = Mutex::new(arriving.missing.into_iter());
    let some = |party: &PartyClient| -> Result<(), Fault> {
        let next = || missing.lock().unwrap_or_else(PoisonError::into_inner).next();
        while let Some(part) = next() {
            sent(put_part(party, data, &own, part)?);
        }
        Ok(())
    };
    thread::scope(|scope| {
        let others: Vec<_> = (1..CONNECTIONS).map(|_| scope.spawn(|| some(&party.twin()))).collect();
        let ended = some(party);
        let others = others.into_iter().map(|other| {
            other.join().unwrap_or_else(|_| Err(Fault::internal("putting a data set", "a thread panicked")))
        });
        others.fold(ended, Result::and)
    })?;
    if arriving.state != "usable" {
        party
            .post(&format!("{own}/seal"), &serde_json::json!({}), None)
            .map_err(|e| if e.who().is_some() { e } else { e.by(PartyId(party.party())) })?;
    }
    Ok(())
}

/// Sends a party one part. Returns the length of the part.
fn put_part(party: &PartyClient, data: &DataFile, own: &str, part: u64) -> Result<u64, Fault> {
    let at = usize::from(party.party());
    let named = usize::try_from(part).ok().and_then(|part| data.signed.manifest().parts[at].get(part));
    let named = *named.ok_or_else(|| party.odd(format_args!("it lacks part {part}, which there is not")))?;
    let path = part_path(&data.dir, at, part);
    let unread = |e: io::Error| Fault::io("read", &path, &e);
    let file = File::open(&path).map_err(unread)?;
    let bytes = file.metadata().map_err(unread)?.len();
    // The party compares the part with its name. If they differ, this finds out which side is
    // wrong.
    party.put_file(&format!("{own}/parts/{part}"), &file, bytes).map_err(|e| {
        match fs::read(&path) {
            Err(read) => return Fault::io("read", &path, &read),
            Ok(whole) if BlakeName::of(&whole) == named => return e,
            Ok(_) => {}
        }
        let cause = "it is not the part that the manifest names";
        Fault::file("read", &path, cause, "remove the directory, and put the file anew")
            .coded(code::SEAL_CHANGED)
    })?;
    Ok(bytes)
}
