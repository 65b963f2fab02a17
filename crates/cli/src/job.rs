//! Decides, before anything is started, what a run reads, writes and computes with.

use crate::{
    args::{AesCtrArgs, HDL_SIM},
    error::Error,
    files::{absolute, appended, same_file},
    key::{Iv, Key, draw},
    key_dir::{Holds, KeyDir, Locked},
    ledger::{GIVEN, Ledger, NoIv, Range, now},
    log,
    plan::{Cut, KeyMode, Plan},
    share_file, size,
};
use hushwire_rep3::Sbox;
use std::{
    fs::{self, File},
    io,
    path::{Path, PathBuf},
};

/// LOCAL: compute threads of each party.
const THREADS: u16 = 2;
/// What ships, so that the first run needs no input.
const SAMPLE: &[u8] = include_bytes!("sample.txt");
const SAMPLE_NAME: &str = "hushwire-sample.txt";

/// The files of a run.
pub(crate) struct Files {
    pub(crate) input: PathBuf,
    pub(crate) out: PathBuf,
    pub(crate) file: File,
    pub(crate) bytes: u64,
}

/// Opens the input and names the output.
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
    let file = File::open(&input).map_err(|e| Error::io("read", &input, &e))?;
    let meta = file.metadata().map_err(|e| Error::io("read", &input, &e))?;
    if meta.is_dir() {
        return Err(Error::io("read", &input, &io::ErrorKind::IsADirectory.into()));
    }
    if !meta.is_file() {
        return Err(Error::file(
            "read",
            &input,
            "its length is not known beforehand",
            "copy it into a file first",
        ));
    }
    let out = args.out.clone().unwrap_or_else(|| default_out(&input, args.decrypt));
    let precious = [Some(&input), args.key_file.as_ref(), args.json.as_ref()];
    if let Some(other) = precious.into_iter().flatten().find(|other| same_file(other, &out)) {
        let what = format!("--out would overwrite {}, which this run also uses", other.display());
        return Err(Error::Refused { what, remedy: "name another file with --out".into() });
    }
    Ok(Files { input, out, file, bytes: meta.len() })
}

fn sample() -> Result<PathBuf, Error> {
    let path = PathBuf::from(SAMPLE_NAME);
    if !path.exists() {
        fs::write(&path, SAMPLE).map_err(|e| Error::io("write", &path, &e))?;
        log::note!("no --in given: wrote {SAMPLE_NAME}");
    }
    Ok(path)
}

/// `x.enc` for encrypting; for decrypting `x.dec` from `x.enc`, never the plaintext's own name.
fn default_out(input: &Path, decrypt: bool) -> PathBuf {
    if !decrypt {
        return appended(input, ".enc");
    }
    let stem = if input.extension().is_some_and(|e| e == "enc") { &input.with_extension("") } else { input };
    appended(stem, ".dec")
}

/// The user's key, with a warning where others can see it.
pub(crate) fn given_key(args: &AesCtrArgs) -> Result<Option<Key>, Error> {
    if let Some(digits) = &args.key_hex {
        log::warn(
            "a key on the command line is visible to others in process lists and stays in the shell's history; use \
             --key-file",
        );
        return Key::from_hex(digits).map(Some).map_err(|e| Error::Usage(format!("--key-hex: {e}")));
    }
    args.key_file.as_deref().map(Key::from_file).transpose()
}

/// What a run computes with. While `lock` is held, no other run chooses counters or a key.
pub(crate) struct Job {
    pub(crate) plan: Plan,
    pub(crate) key: Option<Key>,
    pub(crate) dir: Option<KeyDir>,
    pub(crate) ledger: Ledger,
    pub(crate) lock: Option<Locked>,
    /// The absolute name of the output, which identifies the range in the ledger.
    out: String,
    /// Whether the range goes into the ledger.
    records: bool,
}

impl Job {
    /// Chooses key, counter and cut. Nothing but an empty key directory is written yet.
    pub(crate) fn choose(args: &AesCtrArgs, files: &Files, key: Option<Key>) -> Result<Self, Error> {
        let cut = cut(args, files.bytes)?;
        let iv = args.iv_hex.as_deref().map(Iv::from_hex).transpose();
        let iv = iv.map_err(|e| Error::Usage(format!("--iv-hex: {e}")))?;
        // A key and a counter: everything is said, as for openssl.
        let no_dir = key.is_some() && iv.is_some() && args.key_shares.is_none();
        let beside = if args.decrypt { &files.input } else { &files.out };
        let path = args.key_shares.clone().unwrap_or_else(|| appended(beside, ".keys"));
        let dir = match (no_dir, args.decrypt) {
            (true, _) => None,
            (false, true) => Some(open_for_reading(&path, key.is_some())?),
            (false, false) => Some(KeyDir::create(&path)?),
        };
        let lock = dir.as_ref().filter(|_| !args.decrypt).map(KeyDir::lock).transpose()?;
        let ledger = dir.as_ref().map(KeyDir::ledger).transpose()?.unwrap_or_default();
        let mode = key_mode(args, key.is_some(), dir.as_ref())?;
        let key_id = match mode {
            KeyMode::Given => None,
            KeyMode::Kept => ledger.key_id.clone(),
            KeyMode::Imported | KeyMode::Drawn => Some(hex::encode(draw::<16>("naming the key")?)),
        };
        let (bytes, out) = (files.bytes, absolute(&files.out));
        let blocks = bytes.div_ceil(16);
        let iv = match (iv, &dir) {
            (Some(iv), _) => iv,
            (None, Some(dir)) if args.decrypt => {
                let id = key_id.as_deref().unwrap_or(GIVEN);
                let found = ledger.find(&absolute(&files.input), bytes, id);
                found.map_err(|why| no_iv(&why, &ledger, dir, files))?
            }
            (None, _) => Iv::draw()?,
        };
        if let (Some(dir), false) = (&dir, args.decrypt) {
            check_counters(&ledger, dir, iv, blocks, mode, args.iv_hex.is_some())?;
        }
        let key_bits = key_bits(args, mode, key.as_ref(), dir.as_ref())?;
        if cut.hdl.is_some() && key_bits != 128 {
            return Err(Error::Usage(format!(
                "--backend hdl-sim runs AES-128, and the key has {key_bits} bits; use a key of 128 bits, or leave \
                 --backend out"
            )));
        }
        let plan = Plan { job: format!("aes-{key_bits}-ctr"), iv, bytes, key: mode, key_bits, key_id, cut };
        let records = dir.is_some() && !args.decrypt;
        Ok(Self { plan, key, dir, ledger, lock, out, records })
    }

    /// Puts the counters into the ledger before any of them is used.
    pub(crate) fn reserve(&mut self) -> Result<(), Error> {
        let (Some(dir), Some(lock), true) = (&self.dir, &self.lock, self.records) else { return Ok(()) };
        if let Some(id) = &self.plan.key_id {
            self.ledger.key_id = Some(id.clone());
        }
        self.ledger.ranges.push(Range {
            iv: self.plan.iv,
            blocks: self.plan.blocks(),
            bytes: self.plan.bytes,
            out: self.out.clone(),
            date: now(),
            key_id: self.plan.key_id.clone().unwrap_or_else(|| GIVEN.into()),
            written: false,
        });
        dir.write_ledger(&self.ledger, lock)
    }

    /// Lets other runs choose.
    pub(crate) fn unlock(&mut self) {
        self.lock = None;
    }

    /// Notes that the output is in place, so that `--decrypt` finds its counter.
    pub(crate) fn written(&self) -> Result<(), Error> {
        let (Some(dir), true) = (&self.dir, self.records) else { return Ok(()) };
        // Others may have written meanwhile.
        let lock = dir.lock()?;
        let mut ledger = dir.ledger()?;
        let ours = |r: &&mut Range| r.iv == self.plan.iv && r.out == self.out && !r.written;
        if let Some(range) = ledger.ranges.iter_mut().rev().find(ours) {
            range.written = true;
        }
        dir.write_ledger(&ledger, &lock)
    }
}

/// How the file is cut, and what computes.
fn cut(args: &AesCtrArgs, bytes: u64) -> Result<Cut, Error> {
    let sbox = |default| args.sbox.as_deref().map_or(Ok(default), str::parse).map_err(Error::Usage);
    if args.backend != HDL_SIM {
        if args.hdl_parties.is_some() {
            let remedy = "add --backend hdl-sim, or leave --hdl-parties out";
            return Err(Error::Usage(format!("--hdl-parties names parties that are hardware; {remedy}")));
        }
        return Cut::fit(sbox(Sbox::Tower)?, bytes, args.threads.unwrap_or(THREADS), args.memory);
    }
    if let Some(threads) = args.threads.filter(|n| *n != 1) {
        return Err(Error::Usage(format!(
            "--threads {threads}: a device has one thread at its party; leave --threads out with --backend hdl-sim"
        )));
    }
    let parties = args.hdl_parties.as_ref().map_or(&[0, 1, 2][..], |parties| &parties.0);
    Cut::for_devices(sbox(Sbox::Bp32)?, parties, bytes, args.memory)
}

fn open_for_reading(path: &Path, has_key: bool) -> Result<KeyDir, Error> {
    KeyDir::open(path).map_err(|e| match e {
        Error::File { doing, path, cause, .. } => {
            let remedy = if has_key {
                "give the counter with --iv-hex, or the directory that has it with --key-shares"
            } else {
                "give the key's directory with --key-shares, or the key with --key-file"
            };
            Error::File { doing, path, cause, remedy: remedy.into() }
        }
        other => other,
    })
}

fn key_mode(args: &AesCtrArgs, has_key: bool, dir: Option<&KeyDir>) -> Result<KeyMode, Error> {
    let Some(dir) = dir else { return Ok(KeyMode::Given) };
    let named = args.key_shares.is_some();
    match (has_key, dir.holds()?) {
        (true, Holds::Key) if named => Err(Error::Refused {
            what: format!("{} already holds a key, and another one was given", dir.path().display()),
            remedy: "leave out --key-hex and --key-file to use the key there, or name a new directory".into(),
        }),
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

/// How long the key is: the given or kept one is as long as it is, a drawn one as long as was asked for.
fn key_bits(
    args: &AesCtrArgs,
    mode: KeyMode,
    key: Option<&Key>,
    dir: Option<&KeyDir>,
) -> Result<usize, Error> {
    let found = match (mode, key, dir) {
        (KeyMode::Given | KeyMode::Imported, Some(key), _) => Some(key.size()),
        (KeyMode::Kept, _, Some(dir)) => Some(share_file::key_size(dir.path())),
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

/// Refuses counters that were used, or of which that is not known.
fn check_counters(
    ledger: &Ledger,
    dir: &KeyDir,
    iv: Iv,
    blocks: u64,
    mode: KeyMode,
    chosen: bool,
) -> Result<(), Error> {
    let remedy = "leave out --iv-hex to draw a fresh counter, or use another key directory with --key-shares";
    if let Some(range) = ledger.clash(iv, blocks) {
        return Err(Error::Refused {
            what: format!(
                "counters from {iv} on overlap those of {} ({} from {} on, {}): under one key that gives both \
                 plaintexts away",
                range.out,
                size::show(range.bytes),
                range.iv,
                range.date
            ),
            remedy: remedy.into(),
        });
    }
    if mode == KeyMode::Kept && ledger.key_id.is_none() && chosen {
        let what = format!("{} has a key and no ledger: used counters are not known", dir.path().display());
        return Err(Error::Refused { what, remedy: remedy.into() });
    }
    Ok(())
}

fn no_iv(why: &NoIv, ledger: &Ledger, dir: &KeyDir, files: &Files) -> Error {
    let path = dir.path().join("ledger.json");
    let (cause, remedy) = match why {
        NoIv::Empty => {
            ("nothing was encrypted with this directory".to_owned(), "give the counter with --iv-hex")
        }
        NoIv::OtherKey(range) if range.key_id == GIVEN => (
            format!("{} was encrypted under a key that is not kept here", range.out),
            "give that key with --key-file",
        ),
        NoIv::OtherKey(range) => (
            format!("{} was encrypted under the key that is kept here", range.out),
            "leave out --key-file and --key-hex",
        ),
        NoIv::Several => (
            format!("{} is not in it, and several others are:{}\n", files.input.display(), ledger.list()),
            "give the right counter with --iv-hex",
        ),
    };
    Error::file("find the counter in", &path, cause, remedy)
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
