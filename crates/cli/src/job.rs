//! Decides which files a run reads and writes, and what it computes with, before anything is
//! started.

use crate::{
    args::{AesCtrArgs, HDL_SIM},
    error::Error,
    files::{NewFile, appended, is_stream, open_to_others, unnamed},
    log,
};
use hushwire::job::{
    InputPlace,
    aes_ctr::{
        AesCtrJob, AesKey, Direction, FileCut, Holds, Iv, KeyDir, KeyMode, KeySource, Ledger, Unfit,
        share_file,
    },
    size,
};
use hushwire_rep3::Sbox;
use std::{
    fs::File,
    io::{self, Seek, Write},
    path::{Path, PathBuf},
    sync::Arc,
};

/// LOCAL: the number of compute threads of each party.
const THREADS: u16 = 2;
/// A sample that is part of the program, so that the first run needs no input.
const SAMPLE: &[u8] = include_bytes!("sample.txt");
const SAMPLE_NAME: &str = "hushwire-sample.txt";

/// The files of a run.
pub(crate) struct Files {
    pub(crate) input: PathBuf,
    pub(crate) out: PathBuf,
    file: Arc<File>,
    pub(crate) bytes: u64,
    /// The bytes of standard input, for as long as they are read.
    _spool: Option<NewFile>,
}

impl Files {
    /// Returns the input as it is open now.
    pub(crate) fn data(&self) -> InputPlace {
        InputPlace::Open(self.file.clone(), self.input.clone())
    }
}

/// Opens the input, and chooses the output.
pub(crate) fn files(args: &AesCtrArgs) -> Result<Files, Error> {
    let input = match &args.input {
        Some(input) => input.clone(),
        None if args.decrypt => {
            return Err(Error::Usage(
                "--decrypt needs an input; name the encrypted file with --in, as in --in hushwire-sample.txt.enc".into(),
            ));
        }
        None => sample()?,
    };
    let spool = is_stream(&input).then(spooled).transpose()?;
    let file = match &spool {
        Some(spool) => spool.writer()?,
        None => File::open(&input).map_err(|e| Error::io("read", &input, &e))?,
    };
    let meta = file.metadata().map_err(|e| Error::io("read", &input, &e))?;
    if meta.is_dir() {
        return Err(Error::io("read", &input, &io::ErrorKind::IsADirectory.into()));
    }
    if !meta.is_file() {
        return Err(Error::file(
            "read",
            &input,
            "its length is not known beforehand",
            "copy it into a file first, or give it by standard input with --in -",
        ));
    }
    let out = args.out.clone().unwrap_or_else(|| default_out(&input, args.decrypt));
    if is_stream(&out) && args.common.json.as_deref().is_some_and(is_stream) {
        let what = "--out and --json are both standard output; give one of them a file";
        return Err(Error::Usage(what.into()));
    }
    Ok(Files { input, out, file: Arc::new(file), bytes: meta.len(), _spool: spool })
}

/// Stores standard input in a file, because the length must be known before the sharing begins.
fn spooled() -> Result<NewFile, Error> {
    let spool = unnamed()?;
    let mut file = spool.writer()?;
    let read = io::copy(&mut io::stdin().lock(), &mut file).and_then(|_| file.rewind());
    read.map_err(|e| Error::io("keep", Path::new("standard input"), &e))?;
    Ok(spool)
}

fn sample() -> Result<PathBuf, Error> {
    let path = PathBuf::from(SAMPLE_NAME);
    if !path.exists() {
        let new = NewFile::create(&path, 0o644)?;
        new.writer()?.write_all(SAMPLE).map_err(|e| new.error(&e))?;
        if new.commit_new()? {
            log::note!("no --in given: wrote {SAMPLE_NAME}");
        }
    }
    Ok(path)
}

/// Returns `x.enc` for encryption. For decryption of `x.enc` it returns `x.dec`, and never the name
/// of the plaintext.
fn default_out(input: &Path, decrypt: bool) -> PathBuf {
    if is_stream(input) {
        return input.to_path_buf();
    }
    if !decrypt {
        return appended(input, ".enc");
    }
    let stem = if input.extension().is_some_and(|e| e == "enc") { &input.with_extension("") } else { input };
    appended(stem, ".dec")
}

/// Returns the key that the user gives, with a warning if other users can see it.
pub(crate) fn given_key(args: &AesCtrArgs) -> Result<Option<AesKey>, Error> {
    if let Some(digits) = &args.key_hex {
        log::warn(
            "a key on the command line is visible to others in process lists and stays in the shell's history; use \
             --key-file",
        );
        return AesKey::from_hex(digits).map(Some).map_err(|e| Error::Usage(format!("--key-hex: {e}")));
    }
    let Some(path) = &args.key_file else { return Ok(None) };
    if is_stream(path) {
        return Ok(Some(AesKey::from_reader(io::stdin().lock(), path)?));
    }
    let file = File::open(path).map_err(|e| Error::io("read the key file", path, &e))?;
    let meta = file.metadata().map_err(|e| Error::io("read the key file", path, &e))?;
    if meta.is_file() && open_to_others(&meta.permissions()) {
        let path = path.display();
        log::warn(format_args!("other users can read the key file {path}; run `chmod 600 {path}`"));
    }
    Ok(Some(AesKey::from_reader(file, path)?))
}

/// Returns the directory of key and counters, if they are kept. With a given key and counter
/// nothing is kept, as in openssl.
pub(crate) fn key_dir(args: &AesCtrArgs, files: &Files, has_key: bool) -> Result<Option<PathBuf>, Error> {
    let beside = if args.decrypt { &files.input } else { &files.out };
    let kept = args.key_shares.is_some() || !(has_key && args.iv_hex.is_some());
    match &args.key_shares {
        None if kept && is_stream(beside) => Err(Error::Usage(
            "a stream has no directory of key shares beside it; name one with --key-shares, or give the key with \
             --key-file and the counter with --iv-hex"
                .into(),
        )),
        named => Ok(kept.then(|| named.clone().unwrap_or_else(|| appended(beside, ".keys")))),
    }
}

/// The choices of a run besides those of the job.
pub(crate) struct Choice {
    pub(crate) job: AesCtrJob,
    pub(crate) mode: KeyMode,
    /// The id of the key to which the ledger belongs.
    pub(crate) key_id: Option<String>,
    pub(crate) iv: Option<Iv>,
    pub(crate) key: Option<AesKey>,
    pub(crate) dir: Option<PathBuf>,
    /// Whether there is a key whose ledger is lost.
    pub(crate) history_lost: bool,
}

impl Choice {
    /// Chooses the cut and the source of the key. Up to here, nothing is written but an empty key
    /// directory.
    pub(crate) fn new(
        args: &AesCtrArgs,
        files: &Files,
        key: Option<AesKey>,
        path: Option<&Path>,
    ) -> Result<Self, Error> {
        let cut = cut(args, files.bytes)?;
        let iv = args.iv_hex.as_deref().map(Iv::from_hex).transpose();
        let iv = iv.map_err(|e| Error::Usage(format!("--iv-hex: {e}")))?;
        let dir = match (path, args.decrypt) {
            (None, _) => None,
            (Some(path), true) => Some(open_for_reading(path, key.is_some())?),
            (Some(path), false) => Some(KeyDir::create(path)?),
        };
        dir.as_ref().and_then(KeyDir::warning).iter().for_each(log::warn);
        // Another run may be about to store a new key there.
        let lock = dir.as_ref().filter(|_| !args.decrypt).map(KeyDir::lock).transpose()?;
        let mode = key_mode(args, key.is_some(), dir.as_ref())?;
        let ledger = dir.as_ref().map(|dir| ledger(args, dir)).transpose()?.flatten().unwrap_or_default();
        if let (KeyMode::Drawn, Some(id), Some(dir)) = (mode, &ledger.key_id, &dir)
            && ledger.ranges.iter().any(|range| range.written && range.key_id == *id)
        {
            return Err(Error::refused(
                format!("{} has the ledger of key {id} and none of its shares", dir.path().display()),
                "restore the shares from their backup, or name another directory with --key-shares to begin with a new key",
            ));
        }
        let key_id = ledger.key_id;
        let key_bits = key_bits(args, mode, key.as_ref(), dir.as_ref())?;
        drop(lock);
        if cut.hdl.is_some() && key_bits != 128 {
            return Err(Error::Usage(format!(
                "--backend hdl-sim runs AES-128, and the key has {key_bits} bits; use a key of 128 bits, or leave \
                 --backend out"
            )));
        }
        let source = match mode {
            KeyMode::Given => KeySource::Given,
            KeyMode::Imported => KeySource::Imported,
            KeyMode::Drawn | KeyMode::Kept => KeySource::Kept,
        };
        let direction = if args.decrypt { Direction::Decrypt } else { Direction::Encrypt };
        let job = AesCtrJob { owner: AesCtrJob::LOCAL.0.to_owned(), direction, key: source, key_bits, cut };
        let history_lost = args.history_lost && mode == KeyMode::Kept;
        Ok(Self { job, mode, key_id, iv, key, dir: path.map(Path::to_path_buf), history_lost })
    }
}

/// Returns the cut of the file, and the engine that computes.
fn cut(args: &AesCtrArgs, bytes: u64) -> Result<FileCut, Error> {
    let sbox = |default| args.sbox.as_deref().map_or(Ok(default), str::parse).map_err(Error::Usage);
    if args.backend != HDL_SIM {
        if args.hdl_parties.is_some() {
            let remedy = "add --backend hdl-sim, or leave --hdl-parties out";
            return Err(Error::Usage(format!("--hdl-parties names parties that are hardware; {remedy}")));
        }
        let (sbox, threads) = (sbox(Sbox::Tower)?, args.threads.unwrap_or(THREADS));
        return FileCut::fit(sbox, bytes, threads, args.memory).map_err(|why| {
            unfit(
                why,
                args,
                &format!("for {threads} threads with S-box {sbox}"),
                "give more --memory for larger chunks, or split the file",
            )
        });
    }
    if let Some(threads) = args.threads.filter(|n| *n != 1) {
        return Err(Error::Usage(format!(
            "--threads {threads}: a device has one thread at its party; leave --threads out with --backend hdl-sim"
        )));
    }
    let parties = args.hdl_parties.as_ref().map_or(&[0, 1, 2][..], |parties| &parties.0);
    let sbox = sbox(Sbox::Bp32)?;
    let cut = FileCut::for_devices(sbox, parties, bytes, args.memory);
    cut.map_err(|why| match why {
        Unfit::NoCircuit => Error::Usage(format!(
            "--sbox {sbox}: hardware runs AES as a Boolean circuit; give --sbox bp32 or --sbox depth4, or leave it out"
        )),
        _ => unfit(why, args, "for --backend hdl-sim", "split the file"),
    })
}

/// The error of too little memory for `what`, or of a file that is too long; `shorter` is the
/// remedy for the latter.
fn unfit(why: Unfit, args: &AesCtrArgs, what: &str, shorter: &str) -> Error {
    Error::Usage(match why {
        Unfit::TooLong { most, chunk_blocks } => format!(
            "the file is longer than {}, the most for chunks of {chunk_blocks} blocks; {shorter}",
            size::show(most)
        ),
        Unfit::Memory(least) => format!(
            "--memory {} is too small {what}; give at least --memory {}MiB",
            size::show(args.memory),
            least.div_ceil(1 << 20)
        ),
        Unfit::NoCircuit => format!("no circuit has the S-box {what}"),
    })
}

fn open_for_reading(path: &Path, has_key: bool) -> Result<KeyDir, Error> {
    KeyDir::open(path).map_err(|e| {
        let remedy = if has_key {
            "give the counter with --iv-hex, or the directory that has it with --key-shares"
        } else {
            "give the key's directory with --key-shares, or the key with --key-file"
        };
        Error::Job(e.remedied(remedy))
    })
}

fn key_mode(args: &AesCtrArgs, has_key: bool, dir: Option<&KeyDir>) -> Result<KeyMode, Error> {
    let Some(dir) = dir else { return Ok(KeyMode::Given) };
    let named = args.key_shares.is_some();
    match (has_key, dir.holds()?) {
        (true, Holds::Key) if named => Err(Error::refused(
            format!("{} already holds a key, and another one was given", dir.path().display()),
            "leave out --key-hex and --key-file to use the key there, or name a new directory",
        )),
        (true, Holds::Nothing) if named && !args.decrypt => Ok(KeyMode::Imported),
        (true, _) => Ok(KeyMode::Given),
        (false, Holds::Key) => Ok(KeyMode::Kept),
        (false, Holds::Nothing) if args.decrypt => Err(Error::file(
            "decrypt with",
            dir.path(),
            "it holds no key",
            "give the key's directory with --key-shares, or the key with --key-file",
        )),
        (false, Holds::Nothing) => Ok(KeyMode::Drawn),
    }
}

/// Returns the length of the key in bits: that of a given or kept key, or the requested length of a
/// key that is drawn.
fn key_bits(
    args: &AesCtrArgs,
    mode: KeyMode,
    key: Option<&AesKey>,
    dir: Option<&KeyDir>,
) -> Result<usize, Error> {
    let found = match (mode, key, dir) {
        (KeyMode::Given | KeyMode::Imported, Some(key), _) => Some(key.size()),
        (KeyMode::Kept, _, Some(dir)) => Some(share_file::key_size(&share_file::path(dir.path(), 0))),
        _ => None,
    };
    let found = found.map(|size| 8 * size.key_bytes());
    match (args.key_bits.map(usize::from), found) {
        (Some(asked), Some(found)) if asked != found => Err(Error::Usage(format!(
            "--key-bits {asked}: the key has {found} bits; leave the option out, it is for keys that are drawn"
        ))),
        (asked, found) => Ok(found.or(asked).unwrap_or(128)),
    }
}

/// Returns the ledger of a key directory, if there is one. A key without its ledger is an error
/// until the user says that the ledger is lost. Without a ledger, a counter might be used twice.
fn ledger(args: &AesCtrArgs, dir: &KeyDir) -> Result<Option<Ledger>, Error> {
    let path = dir.path().display();
    match dir.ledger()? {
        Some(_) if args.history_lost => {
            let what = format!("--history-lost, and {path} has a ledger");
            Err(Error::Usage(format!("{what}; leave the option out, it is for a ledger that is lost")))
        }
        Some(ledger) => Ok(Some(ledger)),
        None if dir.holds()? == Holds::Nothing || args.history_lost => Ok(None),
        // A given counter for decryption needs no ledger, and nothing is recorded.
        None if args.decrypt && args.iv_hex.is_some() => Ok(None),
        None => Err(Error::refused(
            format!("{path} holds a key and no ledger.json: which counters were used is not known"),
            "restore the ledger from its backup; where it is lost, say so with --history-lost, and counters are drawn \
             for this key from then on",
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outputs_have_names_of_their_own() {
        for (input, decrypt, out) in [
            ("a.txt", false, "a.txt.enc"),
            ("a.enc", false, "a.enc.enc"),
            ("a.txt.enc", true, "a.txt.dec"),
            ("dir.enc/a.txt", true, "dir.enc/a.txt.dec"),
            ("a", true, "a.dec"),
        ] {
            assert_eq!(default_out(Path::new(input), decrypt), Path::new(out));
        }
    }
}
