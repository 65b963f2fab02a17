//! The audit log: a chain of entries, each with the hash of the previous one.
//!
//! ```text
//! entry   canonical JSON on a line: action, actor, at, detail, hash, object, prev, seq
//! hash    BLAKE3 of the entry without its hash, under a key of this format
//! prev    the hash of the previous entry; 64 zeros at the first, whose seq is 1
//! ```
//!
//! An attacker who rewrites a whole log can make a chain that verifies. Therefore the parties
//! record each other's [`AuditHead`] in their own logs, and [`contradiction`] finds the first
//! recorded head that a log no longer has.

use crate::{BlakeName, canonical, from_canonical};
use hushwire_fault::{Fault, code};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::{
    fmt,
    fs::{File, OpenOptions, TryLockError},
    io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write},
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
    str::FromStr,
};

const CONTEXT: &str = "hushwire 2026 audit entry v1";
/// LOCAL: the most bytes of a line.
const LONGEST: u64 = 1 << 20;

/// An entry of a log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AuditEntry {
    /// The entry's number, from 1.
    pub seq: u64,
    /// The time, in milliseconds since 1970.
    pub at: u64,
    /// The actor: a token's label, a peer, or the daemon.
    pub actor: String,
    /// The action, such as `approve`.
    pub action: String,
    /// The object of the action.
    pub object: String,
    /// Details, which never include a value from a member's data.
    pub detail: Map<String, Value>,
    /// The hash of the previous entry.
    pub prev: BlakeName,
    /// The hash of this entry.
    pub hash: BlakeName,
}

/// The end of a log, which identifies all entries before it. Its text is `SEQ:blake3:DIGITS`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AuditHead {
    /// The number of the last entry; 0 for an empty log.
    pub seq: u64,
    /// The hash of the last entry.
    pub hash: BlakeName,
}

impl AuditHead {
    /// The head of an empty log.
    pub const EMPTY: Self = Self { seq: 0, hash: BlakeName([0; 32]) };
}

impl fmt::Display for AuditHead {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.seq, self.hash)
    }
}

impl FromStr for AuditHead {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let read = text
            .split_once(':')
            .and_then(|(seq, hash)| Some(Self { seq: seq.parse().ok()?, hash: hash.parse().ok()? }));
        read.ok_or_else(|| format!("{text:?} is not the head of an audit log"))
    }
}

/// The content of an entry, before it is chained.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditEvent {
    /// The time, in milliseconds since 1970.
    pub at: u64,
    /// The actor.
    pub actor: String,
    /// The action, such as `approve`.
    pub action: String,
    /// The object of the action.
    pub object: String,
    /// Details, which never include a value from a member's data.
    pub detail: Map<String, Value>,
}

/// The first invalid entry of a chain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BrokenChain {
    /// The entry's line, from 1.
    pub line: u64,
    /// The reason why the entry is invalid.
    pub cause: String,
}

impl AuditEntry {
    /// Makes the entry of an event that follows a head.
    ///
    /// # Errors
    /// The details contain a number that is not whole.
    pub fn link(head: &AuditHead, event: AuditEvent) -> Result<Self, Fault> {
        let AuditEvent { at, actor, action, object, detail } = event;
        let (seq, prev) = (head.seq + 1, head.hash);
        let mut entry = Self { seq, at, actor, action, object, detail, prev, hash: AuditHead::EMPTY.hash };
        entry.hash = entry.hashed()?;
        Ok(entry)
    }

    fn hashed(&self) -> Result<BlakeName, crate::SealError> {
        let bare = Self { hash: AuditHead::EMPTY.hash, ..self.clone() };
        Ok(BlakeName(blake3::derive_key(CONTEXT, canonical(&bare)?.as_bytes())))
    }

    /// The head of a log whose last entry is this one.
    #[must_use]
    pub fn head(&self) -> AuditHead {
        AuditHead { seq: self.seq, hash: self.hash }
    }

    /// Checks that this entry follows a head.
    ///
    /// # Errors
    /// It does not; the text is the cause.
    pub fn follows(&self, head: &AuditHead) -> Result<(), String> {
        if self.seq != head.seq + 1 {
            return Err(format!("its number is {}, and {} would be next", self.seq, head.seq + 1));
        }
        if self.prev != head.hash {
            return Err("the entry before it is not the one that it names".to_owned());
        }
        if self.hashed().as_ref() != Ok(&self.hash) {
            return Err("its hash is not the hash of what it says".to_owned());
        }
        Ok(())
    }
}

/// Checks a whole chain, and returns its head.
///
/// # Errors
/// The first invalid entry, or a line that cannot be read.
pub fn verify(lines: impl BufRead) -> Result<AuditHead, BrokenChain> {
    let mut head = AuditHead::EMPTY;
    for_each(lines, |entry| {
        head = entry.head();
        true
    })?;
    Ok(head)
}

/// Checks a chain, and passes its entries to `take` until that returns false.
fn for_each(mut lines: impl BufRead, mut take: impl FnMut(AuditEntry) -> bool) -> Result<(), BrokenChain> {
    let mut head = AuditHead::EMPTY;
    let mut line = vec![];
    for number in 1.. {
        let broken = |cause: &dyn fmt::Display| BrokenChain { line: number, cause: cause.to_string() };
        line.clear();
        let read = lines.by_ref().take(LONGEST).read_until(b'\n', &mut line);
        if read.map_err(|e| broken(&e))? == 0 {
            break;
        }
        let text = line.strip_suffix(b"\n").ok_or_else(|| broken(&"it has no end"))?;
        let entry: AuditEntry = from_canonical("the entry", text).map_err(|e| broken(&e.fault().cause()))?;
        entry.follows(&head).map_err(|cause| broken(&cause))?;
        head = entry.head();
        if !take(entry) {
            break;
        }
    }
    Ok(())
}

/// The first recorded head that a log does not have, which shows that an entry was removed or
/// replaced after it was recorded. `entries` are all entries of the log, from its beginning.
#[must_use]
pub fn contradiction(recorded: &[AuditHead], entries: &[AuditEntry]) -> Option<AuditHead> {
    let has = |head: &AuditHead| match head.seq.checked_sub(1) {
        None => head.hash == AuditHead::EMPTY.hash,
        Some(at) => {
            let entry = usize::try_from(at).ok().and_then(|at| entries.get(at));
            entry.is_some_and(|entry| entry.head() == *head)
        }
    };
    recorded.iter().find(|head| !has(head)).copied()
}

/// A log in a file, open for appending. Only one process has it at a time.
pub struct AuditLog {
    path: PathBuf,
    file: File,
    head: AuditHead,
    /// The number of bytes of whole entries.
    length: u64,
}

impl AuditLog {
    /// Opens a log, or begins one, and checks its chain. A killed process may leave a last line
    /// without an end. That line was never reported as written, and is cut off. Returns the number
    /// of bytes that were cut off as well.
    ///
    /// # Errors
    /// The chain is invalid, another process has the log, or it cannot be read.
    pub fn open(path: &Path) -> Result<(Self, u64), Fault> {
        let io = |e: &io::Error| Fault::io("write", path, e);
        let file = OpenOptions::new().read(true).append(true).create(true).mode(0o600).open(path);
        let file = file.map_err(|e| io(&e))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let remedy = "stop the other daemon of this party";
                return Err(Fault::file("write", path, "another process has this log", remedy));
            }
            Err(TryLockError::Error(e)) => return Err(io(&e)),
        }
        let there = file.metadata().map_err(|e| io(&e))?.len();
        let whole = whole_lines(&file, there).map_err(|e| io(&e))?;
        if whole < there {
            file.set_len(whole).and_then(|()| file.sync_all()).map_err(|e| io(&e))?;
        }
        let mut reader = BufReader::new(&file);
        reader.seek(SeekFrom::Start(0)).map_err(|e| io(&e))?;
        let head = verify(reader).map_err(|broken| broken.fault(path))?;
        if whole == 0 {
            // The log's name must be on disk before anything relies on it.
            let dir = path.parent().filter(|dir| *dir != Path::new("")).unwrap_or(Path::new("."));
            File::open(dir).and_then(|dir| dir.sync_all()).map_err(|e| io(&e))?;
        }
        Ok((Self { path: path.to_path_buf(), file, head, length: whole }, there - whole))
    }

    /// The end of the log.
    #[must_use]
    pub fn head(&self) -> AuditHead {
        self.head
    }

    /// Appends an entry. It is on disk when this returns.
    ///
    /// # Errors
    /// The disk fails. The log is as it was before.
    pub fn append(&mut self, event: AuditEvent) -> Result<AuditEntry, Fault> {
        let entry = AuditEntry::link(&self.head, event)?;
        let mut line = canonical(&entry)?;
        line.push('\n');
        if line.len() as u64 > LONGEST {
            return Err(Fault::internal("writing the audit log", "an entry has more than 1 MiB"));
        }
        let written = (&self.file).write_all(line.as_bytes()).and_then(|()| self.file.sync_data());
        if let Err(e) = written {
            // A part that was written must not form a line with the next entry.
            let cut = self.file.set_len(self.length).and_then(|()| self.file.sync_all());
            let fault = Fault::io("write", &self.path, &e);
            return Err(cut.err().map_or(fault, |e| Fault::io("write", &self.path, &e)));
        }
        self.length += line.len() as u64;
        self.head = entry.head();
        Ok(entry)
    }

    /// Returns entries from number `from` on, at most `most`.
    ///
    /// # Errors
    /// The file cannot be read, or was changed in the meantime.
    pub fn read(&self, from: u64, most: usize) -> Result<Vec<AuditEntry>, Fault> {
        let file = File::open(&self.path).map_err(|e| Fault::io("read", &self.path, &e))?;
        let mut entries = vec![];
        if most > 0 {
            let taken = for_each(BufReader::new(file.take(self.length)), |entry| {
                if entry.seq >= from {
                    entries.push(entry);
                }
                entries.len() < most
            });
            taken.map_err(|broken| broken.fault(&self.path))?;
        }
        Ok(entries)
    }
}

impl BrokenChain {
    /// The error for a file with this chain.
    #[must_use]
    pub fn fault(&self, path: &Path) -> Fault {
        let path = path.display();
        Fault::filled(code::AUDIT_CHAIN, &[("path", &path), ("line", &self.line), ("cause", &self.cause)])
    }
}

/// The number of bytes up to the last end of a line.
fn whole_lines(mut file: &File, length: u64) -> io::Result<u64> {
    let mut end = length;
    let mut piece = [0; 4096];
    while end > 0 {
        let begin = end.saturating_sub(piece.len() as u64);
        let piece = &mut piece[..(end - begin) as usize];
        file.seek(SeekFrom::Start(begin))?;
        file.read_exact(piece)?;
        if let Some(at) = piece.iter().rposition(|byte| *byte == b'\n') {
            return Ok(begin + at as u64 + 1);
        }
        end = begin;
    }
    Ok(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use std::fs;

    fn event(n: u64) -> AuditEvent {
        let detail = [("n".to_owned(), n.into()), ("why".to_owned(), "ü".into())].into_iter().collect();
        AuditEvent {
            at: 1_000 + n,
            actor: "operator".to_owned(),
            action: "approve".to_owned(),
            object: format!("blake3:{n}"),
            detail,
        }
    }

    /// Makes a log of `n` entries, in a directory of its own.
    fn log(n: u64) -> (tempfile::TempDir, PathBuf, Vec<AuditEntry>) {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("audit.log");
        let (mut log, cut) = AuditLog::open(&path).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!((log.head(), cut), (AuditHead::EMPTY, 0));
        let entries = (0..n).map(|n| log.append(event(n)).unwrap_or_else(|e| panic!("{e}")));
        let entries = entries.collect();
        (dir, path, entries)
    }

    #[test]
    fn a_log_goes_on_where_it_ended() {
        let (_dir, path, entries) = log(3);
        let (mut again, cut) = AuditLog::open(&path).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!((again.head(), cut), (entries[2].head(), 0));
        assert_eq!(AuditLog::open(&path).err().map(|e| e.code()), Some(code::WRITE), "one process has it");
        let last = again.append(event(3)).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(last.seq, 4);
        assert_eq!(again.read(2, 2).ok(), Some(entries[1..3].to_vec()));
        assert_eq!(again.read(4, 9).ok(), Some(vec![last.clone()]));
        assert_eq!(again.read(5, 9).ok(), Some(vec![]));
        assert_eq!(again.read(1, 0).ok(), Some(vec![]));
        let head = verify(BufReader::new(File::open(&path).expect("a log")));
        assert_eq!(head, Ok(last.head()));
        assert_eq!(last.head().to_string().parse(), Ok(last.head()));
        assert!("1".parse::<AuditHead>().is_err() && "x:00".parse::<AuditHead>().is_err());
    }

    #[test]
    fn every_changed_byte_is_found_at_its_line() {
        let (_dir, path, _) = log(3);
        let bytes = fs::read(&path).expect("a log");
        let line_of = |at: usize| 1 + bytes[..at].iter().filter(|byte| **byte == b'\n').count() as u64;
        for at in 0..bytes.len() {
            let mut changed = bytes.clone();
            changed[at] ^= 1 << (at % 7);
            let broken = verify(&changed[..]).expect_err("a byte was changed");
            assert_eq!(broken.line, line_of(at), "byte {at}: {}", broken.cause);
        }
        // Lines are removed, moved or doubled.
        let lines: Vec<_> = bytes.split_inclusive(|byte| *byte == b'\n').collect();
        for (order, line) in
            [(&[1, 2][..], 1), (&[0, 2], 2), (&[0, 2, 1], 2), (&[0, 0, 1], 2), (&[0, 1, 1], 3)]
        {
            let moved: Vec<u8> = order.iter().flat_map(|n| lines[*n].to_vec()).collect();
            assert_eq!(verify(&moved[..]).err().map(|broken| broken.line), Some(line), "{order:?}");
        }
        let mut changed = bytes.clone();
        changed[3] ^= 1;
        fs::write(&path, changed).expect("a file");
        let fault = AuditLog::open(&path).err();
        assert_eq!(fault.as_ref().map(Fault::code), Some(code::AUDIT_CHAIN));
        assert!(fault.is_some_and(|e| e.to_string().contains("line 1")));
    }

    #[test]
    fn a_torn_line_is_cut_off_and_nothing_else() {
        let (_dir, path, entries) = log(2);
        let bytes = fs::read(&path).expect("a log");
        for torn in [1, 40] {
            fs::write(&path, [&bytes[..], &bytes[..torn]].concat()).expect("a file");
            let (mut log, cut) = AuditLog::open(&path).unwrap_or_else(|e| panic!("{e}"));
            assert_eq!((cut, log.head()), (torn as u64, entries[1].head()));
            assert!(log.append(event(7)).is_ok());
        }
        fs::write(&path, &bytes[..10]).expect("a file");
        let (log, cut) = AuditLog::open(&path).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!((cut, log.head()), (10, AuditHead::EMPTY));
    }

    #[test]
    fn a_log_that_was_written_anew_contradicts_the_heads_of_others() {
        let (_dir, _, entries) = log(4);
        let heads: Vec<_> = entries.iter().map(AuditEntry::head).collect();
        assert_eq!(contradiction(&[AuditHead::EMPTY, heads[0], heads[3]], &entries), None);
        let mut head = AuditHead::EMPTY;
        let anew = [0, 2, 3, 4].map(|n| {
            let entry = AuditEntry::link(&head, event(n)).unwrap_or_else(|e| panic!("{e}"));
            head = entry.head();
            entry
        });
        assert_eq!(contradiction(&heads, &anew), Some(heads[1]), "its second entry was replaced");
        assert_eq!(contradiction(&heads, &entries[..3]), Some(heads[3]), "its last entry is gone");
    }

    #[test]
    fn an_entry_without_whole_numbers_is_refused_and_leaves_nothing() {
        let (_dir, path, entries) = log(1);
        let (mut log, _) = AuditLog::open(&path).unwrap_or_else(|e| panic!("{e}"));
        let mut wrong = event(1);
        wrong.detail.insert("share".to_owned(), json!(0.5));
        assert!(log.append(wrong).is_err());
        assert_eq!(log.head(), entries[0].head());
        assert!(log.append(event(1)).is_ok());
    }
}
