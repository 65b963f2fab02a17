//! The owner's choices from its own file: which file, which key, which counter.

use super::{
    book::Book,
    key::{Iv, Key, draw},
    key_dir::KeyDir,
    ledger::{GIVEN, Ledger, NoIv, Wanted},
    owner::{Expected, OwnersFiles},
    party::nothing_else,
    spec::{AesCtrJob, KeySource},
};
use crate::{InputPlace, JobError, Kind, MemberConfig, OutputPlace, run_files::resolve};
use std::{
    fs::File,
    io::{self, Seek},
    path::{Path, PathBuf},
};

const STEP: &str = "taking part";

fn usage(cause: impl std::fmt::Display, remedy: &str) -> JobError {
    JobError::usage(STEP, cause, remedy)
}

/// Opens the input, chooses key and counter, and starts the output. Nothing but an empty ledger's directory is written.
pub(super) fn open(job: &AesCtrJob, config: &mut MemberConfig) -> Result<OwnersFiles, JobError> {
    let names: &[&str] =
        if job.key.is_the_owners() { &[AesCtrJob::DATA, AesCtrJob::KEY] } else { &[AesCtrJob::DATA] };
    nothing_else(&config.me, config, names, &[AesCtrJob::RESULT])?;
    let (input, from, bytes) = data(config)?;
    let Some(OutputPlace::File(to)) = config.outputs.get(AesCtrJob::RESULT).cloned() else {
        return Err(usage(
            "this member's file names no file for the result",
            "add [outputs] with result = { file = \"…\" }",
        ));
    };
    let key = job.key.is_the_owners().then(|| key(job, config)).transpose()?;
    let places = config.aes_ctr.clone();
    let out = resolve(&to).to_string_lossy().into_owned();
    if let Some(dir) = &places.ledger {
        config.files.keys_in(dir);
    }
    let counters = match (&places.ledger, places.decrypt) {
        (Some(dir), false) => Counters::use_up(job, dir, places.iv, bytes, places.history_lost, out)?,
        (Some(dir), true) => {
            Counters::look_up(job, dir, places.iv, &Encrypted { file: &input, path: &from, bytes })?
        }
        (None, decrypt) => match places.iv {
            Some(iv) if decrypt || job.key == KeySource::Given => {
                Counters { iv, expects: Expected::Some, book: None }
            }
            _ => {
                return Err(usage(
                    "which counters were used must be kept, and this member's file names no place for that",
                    "add [aes-ctr] with ledger = \"DIRECTORY\"; to decrypt, or with key = \"given\" in the job, iv = \"…\" \
                     will do",
                ));
            }
        },
    };
    let Counters { iv, expects, book } = counters;
    // A ledger is of one key, so that what it wrote last may be replaced by what it writes next.
    let writer = match (places.decrypt, &places.ledger, &key) {
        (true, ..) => format!("aes-ctr, decrypting {}", resolve(&from).display()),
        (false, Some(dir), _) => format!("aes-ctr with the ledger {}", resolve(dir).display()),
        (false, None, key) => {
            format!("aes-ctr under key {}", key.as_ref().map(Key::fingerprint).unwrap_or_default())
        }
    };
    let output = config.files.create("for output result", &to, &writer, 0o600)?;
    output.reserve(bytes)?;
    let new_id = draw("naming the key")?;
    Ok(OwnersFiles { input, from, bytes, output, to, named: true, iv, key, expects, new_id, book })
}

fn data(config: &MemberConfig) -> Result<(File, PathBuf, u64), JobError> {
    let Some(InputPlace::File(path)) = config.inputs.get(AesCtrJob::DATA) else {
        return Err(usage(
            "this member's file names no file to encrypt",
            "add [inputs] with data = { file = \"…\" }",
        ));
    };
    let file = File::open(path).map_err(|e| JobError::io("read", path, &e))?;
    let meta = file.metadata().map_err(|e| JobError::io("read", path, &e))?;
    if meta.is_dir() {
        return Err(JobError::io("read", path, &io::ErrorKind::IsADirectory.into()));
    }
    if !meta.is_file() {
        return Err(JobError::file("read", path, "it is no plain file", "copy it into one"));
    }
    Ok((file, path.clone(), meta.len()))
}

fn key(job: &AesCtrJob, config: &MemberConfig) -> Result<Key, JobError> {
    let key = match config.inputs.get(AesCtrJob::KEY) {
        Some(InputPlace::File(path) | InputPlace::HexFile(path)) => Key::from_file(path)?,
        Some(InputPlace::Hex(digits)) => Key::from_hex(digits)
            .map_err(|e| usage(format!("input key: {e}"), "correct it, or name a file"))?,
        Some(InputPlace::Memory(bytes)) => Key::from_reader(&bytes[..], Path::new("input key"))?,
        None => {
            return Err(usage(
                "the job's key comes from its owner, and this member's file names none",
                "add [inputs] with key = { file = \"…\" }",
            ));
        }
    };
    if key.size() == job.size() {
        return Ok(key);
    }
    Err(usage(
        format!("the key has {} bits, and the job is for {}", 8 * key.size().key_bytes(), job.key_bits),
        "write its length into the job as `key-bits`",
    ))
}

/// The counters of a run.
struct Counters {
    iv: Iv,
    expects: Expected,
    book: Option<Book>,
}

/// The file that is decrypted.
struct Encrypted<'a> {
    file: &'a File,
    path: &'a Path,
    bytes: u64,
}

impl Counters {
    /// Counters that nobody used under the key of the ledger in `dir`.
    fn use_up(
        job: &AesCtrJob,
        dir: &Path,
        chosen: Option<Iv>,
        bytes: u64,
        lost: bool,
        out: String,
    ) -> Result<Self, JobError> {
        let dir = KeyDir::create(dir)?;
        let lock = dir.lock()?;
        let ledger = dir.ledger()?.unwrap_or_else(|| Ledger { history_lost: lost, ..Ledger::default() });
        if let (KeySource::Imported, Some(id)) = (job.key, &ledger.key_id) {
            let cause =
                format!("the ledger {} is of key {id}, and the job brings another one", dir.path().display());
            let remedy = "write key = \"kept\" into the job to use that key, or name another ledger";
            return Err(JobError::new(Kind::Refused, "refused", cause, remedy));
        }
        let iv = chosen.map_or_else(Iv::draw, Ok)?;
        let refused = |cause: String| {
            let remedy = "leave out `iv` to draw a fresh counter, or name another ledger for another key";
            Err(JobError::new(Kind::Refused, "refused", cause, remedy))
        };
        if let Some(range) = ledger.clash(iv, bytes.div_ceil(16)) {
            return refused(format!(
                "counters from {iv} on overlap those of {} ({} bytes from {} on, {}): under one key that gives both \
                 plaintexts away",
                range.out, range.bytes, range.iv, range.date
            ));
        }
        if ledger.history_lost && chosen.is_some() {
            return refused(format!(
                "the ledger of {} was lost once: which counters were used under its key is not known",
                dir.path().display()
            ));
        }
        let written = |id: &String| ledger.ranges.iter().any(|range| range.written && range.key_id == *id);
        let expects = match &ledger.key_id {
            Some(id) if written(id) || ledger.history_lost => Expected::Key(id.clone()),
            id @ Some(_) => Expected::New(id.clone()),
            None if ledger.history_lost => Expected::Any,
            None => Expected::New(None),
        };
        Ok(Self { iv, expects, book: Some(Book::new(dir, ledger, lock, out)) })
    }

    /// The counter with which the ledger in `dir` says that a file was encrypted.
    fn look_up(
        job: &AesCtrJob,
        dir: &Path,
        chosen: Option<Iv>,
        encrypted: &Encrypted<'_>,
    ) -> Result<Self, JobError> {
        let dir = KeyDir::open(dir)?;
        let path = dir.path().join("ledger.json");
        let ledger = match (dir.ledger()?, chosen) {
            (Some(ledger), _) => ledger,
            (None, Some(_)) => Ledger::default(),
            (None, None) => {
                let cause = "it is not there";
                return Err(JobError::file("find the counter in", &path, cause, "give the counter as `iv`"));
            }
        };
        let expects = ledger.key_id.clone().map_or(Expected::Some, Expected::Key);
        let iv = match chosen {
            Some(iv) => iv,
            None => {
                let kept = ledger.key_id.as_deref().filter(|_| job.key == KeySource::Kept);
                let name = resolve(encrypted.path).to_string_lossy().into_owned();
                let digest = encrypted.digest()?;
                let found = ledger.find(&Wanted {
                    name: &name,
                    bytes: encrypted.bytes,
                    digest: &digest,
                    key_id: kept.unwrap_or(GIVEN),
                });
                found.map_err(|why| no_iv(&why, &ledger, &path, encrypted.path))?
            }
        };
        Ok(Self { iv, expects, book: None })
    }
}

impl Encrypted<'_> {
    /// BLAKE3 of the file, which is read again afterwards.
    fn digest(&self) -> Result<String, JobError> {
        let (mut hash, mut file) = (blake3::Hasher::new(), self.file);
        let read = hash.update_reader(file).and_then(|_| file.rewind());
        read.map_err(|e| JobError::io("read", self.path, &e))?;
        Ok(hash.finalize().to_hex().to_string())
    }
}

fn no_iv(why: &NoIv, ledger: &Ledger, path: &Path, input: &Path) -> JobError {
    let find = |cause: String, remedy: &str| JobError::file("find the counter in", path, cause, remedy);
    let give = "give the right counter as `iv`";
    match why {
        NoIv::Empty => find("nothing was encrypted with this ledger".into(), give),
        NoIv::OtherKey(range) if range.key_id == GIVEN => find(
            format!("{} was encrypted under a key that the parties do not keep", range.out),
            "write key = \"given\" into the job, and bring that key",
        ),
        NoIv::OtherKey(range) if ledger.key_id.as_ref() != Some(&range.key_id) => find(
            format!(
                "{} was encrypted under key {}, and the ledger is of another one now",
                range.out, range.key_id
            ),
            "name the ledger of that key, and the shares that belong to it",
        ),
        NoIv::OtherKey(range) => find(
            format!("{} was encrypted under key {}, which the parties keep", range.out, range.key_id),
            "write key = \"kept\" into the job",
        ),
        NoIv::Changed(range) => JobError::file(
            "decrypt",
            input,
            format!(
                "it is not what was encrypted into that name on {}: it was changed or replaced since",
                range.date
            ),
            format!("restore it; to decrypt it all the same, add iv = \"{}\"", range.iv),
        ),
        NoIv::Unknown => {
            let range = |r: &super::ledger::Range| {
                format!("iv = \"{}\" ({}, {} bytes, {})", r.iv, r.out, r.bytes, r.date)
            };
            let all = ledger.ranges.iter().map(range).collect::<Vec<_>>().join(", ");
            find(format!("{} is none of the files that were encrypted with it: {all}", input.display()), give)
        }
    }
}
