//! The owner's choices before a run: the file, the key and the counter.

use super::{
    book::Book,
    key::AesKey,
    key_dir::KeyDir,
    ledger::{CounterRange, GIVEN, Ledger, NoIv, Wanted},
    owner::{DataInput, Expected, Output, OwnersFiles},
    party::nothing_else,
    spec::{AesCtrJob, KeySource},
};
use hushwire_block::Wiped;
use hushwire_fault::code;
use hushwire_session::{Fault, InputPlace, Iv, MemberConfig, NewFile, OutputPlace, Said, draw, resolve};
use std::{
    fs::File,
    io::{self, Cursor},
    path::{Path, PathBuf},
    sync::Arc,
};

const STEP: &str = "taking part";

fn usage(cause: impl std::fmt::Display, remedy: &str) -> Fault {
    Fault::new(code::ENCRYPTION, STEP, cause, remedy)
}

/// Opens the input, chooses key and counter, and starts the output. The only change on the disk is
/// the directory of a new ledger.
pub(super) fn open(job: &AesCtrJob, config: &mut MemberConfig) -> Result<OwnersFiles, Fault> {
    let names: &[&str] =
        if job.key.is_the_owners() { &[AesCtrJob::DATA, AesCtrJob::KEY] } else { &[AesCtrJob::DATA] };
    nothing_else(&config.me, config, names, &[AesCtrJob::RESULT])?;
    let mut data = data(config)?;
    let to = config.outputs.get(AesCtrJob::RESULT).cloned();
    let out = match &to {
        Some(OutputPlace::File(path)) => resolve(path).to_string_lossy().into_owned(),
        Some(OutputPlace::Unnamed) => "standard output".to_owned(),
        Some(OutputPlace::Memory) => "memory".to_owned(),
        _ => {
            return Err(usage(
                "this member's file names no file for the result",
                "add [outputs] with result = { file = \"…\" }",
            ));
        }
    };
    let key = job.key.is_the_owners().then(|| key(job, config)).transpose()?;
    let places = config.keys.clone();
    if let Some(dir) = &places.ledger {
        config.files.keys_in(dir);
    }
    let said = places.said;
    let counters = match (&places.ledger, job.direction.decrypts()) {
        (Some(dir), false) => {
            let choice = (places.iv, places.history_lost, said);
            Counters::use_up(job, dir, choice, data.bytes, out)?
        }
        (Some(dir), true) => Counters::look_up(job, dir, (places.iv, said), &mut data)?,
        (None, decrypt) => match places.iv {
            Some(iv) if decrypt || job.key == KeySource::Given => {
                Counters { iv, expects: Expected::Some, book: None }
            }
            _ => {
                return Err(usage(
                    "the counters that were used must be recorded, and this member's file names no place for that",
                    "add [aes-ctr] with ledger = \"DIRECTORY\"; with direction = \"decrypt\" or key = \"given\" in the job, iv = \"…\" \
                     will do",
                ));
            }
        },
    };
    let Counters { iv, expects, book } = counters;
    // A ledger belongs to one kept key. A later run of that ledger may replace the file that an
    // earlier one wrote.
    let writer = match (job.direction.decrypts(), job.key, &key, &places.ledger) {
        (true, ..) => format!("aes-ctr, decrypting {}", resolve(&data.path).display()),
        (false, KeySource::Given, Some(key), _) => format!("aes-ctr under key {}", key.fingerprint()),
        (false, .., Some(dir)) => format!("aes-ctr with the ledger {}", resolve(dir).display()),
        (false, .., None) => String::new(),
    };
    let (to, output) = match to {
        Some(OutputPlace::File(path)) => {
            let option = said.choose("for output result", "with --out");
            let new = config.files.create(option, &path, &writer, 0o600)?;
            (path, Output::File(new))
        }
        Some(OutputPlace::Unnamed) => {
            let stream = NewFile::nameless(&std::env::temp_dir())?;
            (PathBuf::from("standard output"), Output::Unnamed(stream))
        }
        _ => (PathBuf::from("memory"), Output::Memory(vec![])),
    };
    output.reserve(data.bytes)?;
    let new_id = draw("naming the key")?;
    let Data { from, path, bytes } = data;
    Ok(OwnersFiles { input: from, from: path, bytes, output, to, iv, key, expects, new_id, book })
}

/// The input file.
struct Data {
    from: Box<dyn DataInput>,
    /// Its name in messages.
    path: PathBuf,
    bytes: u64,
}

/// Bytes in memory that are read like a file.
struct Shared(Arc<Wiped<Vec<u8>>>);

impl AsRef<[u8]> for Shared {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

fn data(config: &MemberConfig) -> Result<Data, Fault> {
    let (file, path) = match config.inputs.get(AesCtrJob::DATA) {
        Some(InputPlace::File(path)) => {
            (File::open(path).map_err(|e| Fault::io("read", path, &e))?, path.clone())
        }
        Some(InputPlace::Open(file, path)) => {
            (file.try_clone().map_err(|e| Fault::io("read", path, &e))?, path.clone())
        }
        Some(InputPlace::Memory(all)) => {
            let (bytes, from) = (all.len() as u64, Box::new(Cursor::new(Shared(all.clone()))));
            return Ok(Data { from, path: PathBuf::from("memory"), bytes });
        }
        _ => {
            return Err(usage(
                "this member's file names no file to encrypt",
                "add [inputs] with data = { file = \"…\" }",
            ));
        }
    };
    let meta = file.metadata().map_err(|e| Fault::io("read", &path, &e))?;
    if meta.is_dir() {
        return Err(Fault::io("read", &path, &io::ErrorKind::IsADirectory.into()));
    }
    if !meta.is_file() {
        return Err(Fault::file("read", &path, "it is no plain file", "copy it into one"));
    }
    Ok(Data { from: Box::new(file), path, bytes: meta.len() })
}

fn key(job: &AesCtrJob, config: &MemberConfig) -> Result<AesKey, Fault> {
    let key = match config.inputs.get(AesCtrJob::KEY) {
        Some(InputPlace::File(path) | InputPlace::HexFile(path)) => AesKey::from_file(path)?,
        Some(InputPlace::Hex(digits)) => AesKey::from_hex(digits)
            .map_err(|e| usage(format!("input key: {e}"), "correct it, or name a file"))?,
        Some(InputPlace::Memory(bytes)) => AesKey::from_reader(&bytes[..], Path::new("input key"))?,
        Some(InputPlace::Open(file, path)) => AesKey::from_reader(&**file, path)?,
        None | Some(InputPlace::Csv(..) | InputPlace::Values(_) | InputPlace::Table(..)) => {
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

impl Counters {
    /// Chooses counters that are unused under the key of the ledger in `dir`.
    fn use_up(
        job: &AesCtrJob,
        dir: &Path,
        (chosen, lost, said): (Option<Iv>, bool, Said),
        bytes: u64,
        out: String,
    ) -> Result<Self, Fault> {
        let dir = KeyDir::create(dir)?;
        let lock = dir.lock()?;
        let ledger = dir.ledger()?.unwrap_or_else(|| Ledger { history_lost: lost, ..Ledger::default() });
        // On the command line, a user has confirmed by options that another key replaces it.
        if let (KeySource::Imported, Some(id), Said::File) = (job.key, &ledger.key_id, said) {
            let cause =
                format!("the ledger {} is of key {id}, and the job brings another one", dir.path().display());
            let remedy = "write key = \"kept\" into the job to use that key, or name another ledger";
            return Err(Fault::new(code::KEY, "refused", cause, remedy).whole());
        }
        let iv = chosen.map_or_else(Iv::draw, Ok)?;
        let refused = |cause: String| {
            let remedy = said.choose(
                "leave out `iv` to draw a fresh counter, or name another ledger for another key",
                "leave out --iv-hex to draw a fresh counter, or use another key directory with --key-shares",
            );
            Err(Fault::new(code::KEY, "refused", cause, remedy).whole())
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

    /// Finds the counter with which a file was encrypted, according to the ledger in `dir`.
    fn look_up(
        job: &AesCtrJob,
        dir: &Path,
        (chosen, said): (Option<Iv>, Said),
        encrypted: &mut Data,
    ) -> Result<Self, Fault> {
        let dir = KeyDir::open(dir)?;
        let path = dir.path().join("ledger.json");
        let ledger = match (dir.ledger()?, chosen) {
            (Some(ledger), _) => ledger,
            (None, Some(_)) => Ledger::default(),
            (None, None) => {
                let remedy = said.choose("give the counter as `iv`", "give the counter with --iv-hex");
                return Err(Fault::file("find the counter in", &path, "it is not there", remedy));
            }
        };
        let expects = ledger.key_id.clone().map_or(Expected::Some, Expected::Key);
        let iv = match chosen {
            Some(iv) => iv,
            None => {
                let kept = ledger.key_id.as_deref().filter(|_| job.key == KeySource::Kept);
                let name = resolve(&encrypted.path).to_string_lossy().into_owned();
                let digest = encrypted.digest()?;
                let found = ledger.find(&Wanted {
                    name: &name,
                    bytes: encrypted.bytes,
                    digest: &digest,
                    key_id: kept.unwrap_or(GIVEN),
                });
                found.map_err(|why| no_iv(&why, &ledger, &path, &encrypted.path, said))?
            }
        };
        Ok(Self { iv, expects, book: None })
    }
}

impl Data {
    /// The BLAKE3 digest of the content. The file is read again afterwards.
    fn digest(&mut self) -> Result<String, Fault> {
        let mut hash = blake3::Hasher::new();
        let read = hash.update_reader(&mut self.from).and_then(|_| self.from.rewind());
        read.map_err(|e| Fault::io("read", &self.path, &e))?;
        Ok(hash.finalize().to_hex().to_string())
    }
}

fn no_iv(why: &NoIv, ledger: &Ledger, path: &Path, input: &Path, said: Said) -> Fault {
    let find = |cause: String, remedy: &str| Fault::file("find the counter in", path, cause, remedy);
    let give = said.choose("give the right counter as `iv`", "give the right counter with --iv-hex");
    let iv = |iv: Iv| match said {
        Said::File => format!("iv = \"{iv}\""),
        Said::Options => format!("--iv-hex {iv}"),
    };
    match why {
        NoIv::Empty => find("nothing was encrypted with this ledger".into(), give),
        NoIv::OtherKey(range) if range.key_id == GIVEN => find(
            format!("{} was encrypted under a key that the parties do not keep", range.out),
            said.choose(
                "write key = \"given\" into the job, and bring that key",
                "give that key with --key-file",
            ),
        ),
        NoIv::OtherKey(range) if ledger.key_id.as_ref() != Some(&range.key_id) => find(
            format!(
                "{} was encrypted under key {}, {}",
                range.out,
                range.key_id,
                said.choose("and the ledger is of another one now", "which is not kept here any more")
            ),
            said.choose(
                "name the ledger of that key, and the shares that belong to it",
                "name the directory that has its shares with --key-shares, and the counter with --iv-hex",
            ),
        ),
        NoIv::OtherKey(range) => find(
            format!("{} was encrypted under key {}, which the parties keep", range.out, range.key_id),
            said.choose("write key = \"kept\" into the job", "leave out --key-file and --key-hex"),
        ),
        NoIv::Changed(range) => Fault::file(
            "decrypt",
            input,
            format!(
                "it is not what was encrypted into that name on {}: it was changed or replaced since",
                range.date
            ),
            format!("restore it; to decrypt it all the same, add {}", iv(range.iv)),
        ),
        NoIv::Unknown => {
            let range = |r: &CounterRange| format!("{} ({}, {} bytes, {})", iv(r.iv), r.out, r.bytes, r.date);
            let all = ledger.ranges.iter().map(range).collect::<Vec<_>>().join(", ");
            let by = said.choose("with it", "here");
            find(format!("{} is none of the files that were encrypted {by}: {all}", input.display()), give)
        }
    }
}
