//! The published list: values in order, split at their first bits.
//!
//! ```text
//! magic 8 | public key 32 | items n 8 | prefix bits p 8 | length of forms 8, forms
//! starts (2^p + 1) × 4 | n × 6 | BLAKE3 of all that 32
//! ```
//! A value's first p bits are its bucket; the next 48 bits are stored in the bucket in ascending
//! order. `starts` gives the beginning of each bucket. Numbers are little-endian. p = ⌈log n⌉ − 5,
//! so a bucket has 16 to 32 items and a list has 6.1 to 6.3 bytes per item. Forms describe how keys
//! were normalized, so that the asker does the same. The digest detects damage, which would make a
//! key of the list seem absent; the public key identifies the owner.

use super::{Item, ListKey, PublicKey};
use hushwire_files::FileError;
use std::{
    fs::File,
    io::{self, BufWriter, Read, Seek, Write},
    os::unix::fs::FileExt,
    path::{Path, PathBuf},
    thread,
};

/// AGREEMENT: the first bytes of a list.
const MAGIC: &[u8; 8] = b"HWPSIL\x00\x02";
/// AGREEMENT: the bytes of a value after its bucket.
const REST: usize = 6;
/// AGREEMENT: a bucket's number has ⌈log n⌉ bits minus this number.
const BUCKET: u32 = 5;
/// AGREEMENT: the bytes of the digest at the end.
const DIGEST: u64 = 32;
/// LOCAL: the largest number of bytes of forms.
const FORMS: usize = 1 << 12;
/// LOCAL: the number of items that a thread evaluates between two reports of progress.
const CHUNK: usize = 1 << 10;

fn prefix_bits(items: usize) -> u32 {
    items.next_power_of_two().ilog2().saturating_sub(BUCKET)
}

/// The bucket and the rest of a value.
fn cut(value: u128, bits: u32) -> (u32, u64) {
    let top = value >> (128 - bits - 8 * REST as u32);
    ((top >> (8 * REST)) as u32, (top & ((1 << (8 * REST)) - 1)) as u64)
}

/// Writes the list of `items`, which are all different, under a key, on `threads` threads.
/// `progress` receives the number of items that are done.
///
/// # Errors
/// If writing to `out` fails, or there are more items than 32 bits can count.
pub fn publish(
    key: &ListKey,
    items: &[Item],
    forms: &str,
    threads: usize,
    mut progress: impl FnMut(usize),
    out: impl Write,
) -> Result<(), PublishError> {
    if items.len() >= u32::MAX as usize || forms.len() > FORMS {
        return Err(PublishError::TooLarge);
    }
    let mut values: Vec<u128> = Vec::with_capacity(items.len());
    for chunk in items.chunks(CHUNK * threads.max(1)) {
        thread::scope(|scope| {
            let parts: Vec<_> =
                chunk.chunks(CHUNK).map(|part| scope.spawn(move || key.values(part))).collect();
            for part in parts {
                values.extend(part.join().unwrap_or_default());
            }
        });
        progress(values.len());
    }
    if values.len() != items.len() {
        return Err(PublishError::Thread);
    }
    values.sort_unstable();
    let bits = prefix_bits(items.len());
    let mut out = Sealed { out: BufWriter::with_capacity(1 << 18, out), hash: blake3::Hasher::new() };
    out.write_all(MAGIC)?;
    out.write_all(&key.public())?;
    for number in [values.len() as u64, bits.into(), forms.len() as u64] {
        out.write_all(&number.to_le_bytes())?;
    }
    out.write_all(forms.as_bytes())?;
    let mut next = 0;
    for bucket in 0..=1u64 << bits {
        while next < values.len() && u64::from(cut(values[next], bits).0) < bucket {
            next += 1;
        }
        out.write_all(&(next as u32).to_le_bytes())?;
    }
    for value in &values {
        out.write_all(&cut(*value, bits).1.to_le_bytes()[..REST])?;
    }
    let Sealed { mut out, hash } = out;
    out.write_all(hash.finalize().as_bytes())?;
    Ok(out.flush()?)
}

/// A writer that also hashes its bytes.
struct Sealed<W> {
    out: W,
    hash: blake3::Hasher,
}

impl<W: Write> Write for Sealed<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let n = self.out.write(bytes)?;
        self.hash.update(&bytes[..n]);
        Ok(n)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// The reason why a list could not be written.
#[derive(Debug)]
pub enum PublishError {
    /// The error of the output.
    Io(io::Error),
    /// There are more items, or longer forms, than a list can have.
    TooLarge,
    /// A thread ended early.
    Thread,
}

impl From<io::Error> for PublishError {
    fn from(e: io::Error) -> Self {
        Self::Io(e)
    }
}

/// A list in a file; a query reads one bucket for each item.
pub struct List {
    path: PathBuf,
    file: File,
    public: PublicKey,
    items: u64,
    bits: u32,
    forms: String,
    starts: u64,
}

impl List {
    /// Opens a list and reads it to its end, so that any changed byte is found before a query.
    ///
    /// # Errors
    /// If the file cannot be read, is not a list, or is damaged.
    pub fn open(path: &Path) -> Result<Self, FileError> {
        let wrong =
            |cause: &str| FileError::new(path, None, cause, "name a list that `hushwire psi publish` wrote");
        let refused = |e: io::Error| FileError::io(path, &e);
        let mut file = File::open(path).map_err(refused)?;
        let mut head = [0; 64];
        file.read_exact(&mut head).map_err(|_| wrong("it is no list"))?;
        let number = |at: usize| head[at..].first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes));
        let (items, bits, length) = (number(40), number(48), number(56));
        let expected = usize::try_from(items).ok().filter(|n| *n < u32::MAX as usize).map(prefix_bits);
        if head[..7] == MAGIC[..7] && head[7] != MAGIC[7] {
            let cause = "it is a list of another version of hushwire";
            return Err(FileError::new(path, None, cause, "have its owner publish it anew"));
        }
        if head[..8] != *MAGIC || expected.map(u64::from) != Some(bits) || length > FORMS as u64 {
            return Err(wrong("it is no list"));
        }
        let mut forms = vec![0; length as usize];
        file.read_exact(&mut forms).map_err(|_| wrong("it is cut off"))?;
        let forms = String::from_utf8(forms).map_err(|_| wrong("it is no list"))?;
        let starts = 64 + length;
        let whole = starts + 4 * ((1 << bits) + 1) + REST as u64 * items + DIGEST;
        if file.metadata().map_err(refused)?.len() != whole {
            return Err(wrong("it is cut off, or longer than it says"));
        }
        let mut hash = blake3::Hasher::new();
        file.rewind().map_err(refused)?;
        hash.update_reader((&mut file).take(whole - DIGEST)).map_err(refused)?;
        let mut digest = [0; DIGEST as usize];
        file.read_exact(&mut digest).map_err(refused)?;
        if hash.finalize() != digest {
            return Err(FileError::new(path, None, "it is damaged", "get it again from its owner"));
        }
        let public = head[8..].first_chunk().copied().unwrap_or_default();
        Ok(Self { path: path.to_owned(), file, public, items, bits: bits as u32, forms, starts })
    }

    /// The owner's public key.
    #[must_use]
    pub fn public(&self) -> PublicKey {
        self.public
    }

    /// The number of items.
    #[must_use]
    pub fn items(&self) -> u64 {
        self.items
    }

    /// The normal forms of its keys.
    #[must_use]
    pub fn forms(&self) -> &str {
        &self.forms
    }

    /// Whether the list contains a value.
    ///
    /// # Errors
    /// If the file cannot be read, or its buckets are out of order.
    pub fn contains(&self, value: u128) -> Result<bool, FileError> {
        let refused = |e: io::Error| FileError::io(&self.path, &e);
        let (bucket, rest) = cut(value, self.bits);
        let mut ends = [0; 8];
        self.file.read_exact_at(&mut ends, self.starts + 4 * u64::from(bucket)).map_err(refused)?;
        let [from, to] =
            [&ends[..4], &ends[4..]].map(|end| end.first_chunk().map_or(0, |b| u32::from_le_bytes(*b)));
        if from > to || u64::from(to) > self.items {
            return Err(FileError::new(
                &self.path,
                None,
                "its buckets are out of order",
                "get it again from its owner",
            ));
        }
        let first = self.starts + 4 * ((1 << self.bits) + 1);
        let mut bytes = vec![0; REST * (to - from) as usize];
        self.file.read_exact_at(&mut bytes, first + REST as u64 * u64::from(from)).map_err(refused)?;
        Ok(bytes.chunks_exact(REST).any(|entry| *entry == rest.to_le_bytes()[..REST]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn item(i: u32) -> Item {
        super::super::digest(&i.to_le_bytes())
    }

    fn list(dir: &Path, key: &ListKey, items: &[Item]) -> (List, Vec<u8>) {
        let (path, mut bytes) = (dir.join("list"), vec![]);
        publish(key, items, "trim", 2, |_| {}, &mut bytes).expect("it is small");
        std::fs::write(&path, &bytes).expect("a file");
        (List::open(&path).expect("a list"), bytes)
    }

    #[test]
    fn lists_hold_what_was_published_and_nothing_else() {
        let (dir, key) = (tempfile::tempdir().expect("a directory"), ListKey::draw().expect("random bytes"));
        for n in [0, 1, 31, 33, 200] {
            let items: Vec<Item> = (0..n).map(item).collect();
            let (list, bytes) = list(dir.path(), &key, &items);
            assert_eq!((list.items(), list.public(), list.forms()), (n.into(), key.public(), "trim"));
            assert!(bytes.len() <= 68 + 8 + 7 * n as usize + 32, "{n}: {}", bytes.len());
            let others: Vec<Item> = (n..n + 50).map(item).collect();
            assert!(key.values(&items).into_iter().all(|value| list.contains(value).expect("it is read")));
            assert!(!key.values(&others).into_iter().any(|value| list.contains(value).expect("it is read")));
            // Under another key, no value is found.
            let other = ListKey::draw().expect("random bytes").values(&items);
            assert!(!other.into_iter().any(|value| list.contains(value).expect("it is read")));
        }
    }

    #[test]
    fn what_is_no_list_is_refused() {
        let (dir, key) = (tempfile::tempdir().expect("a directory"), ListKey::draw().expect("random bytes"));
        let items: Vec<Item> = (0..100).map(item).collect();
        let (whole, bytes) = list(dir.path(), &key, &items);
        let path = dir.path().join("changed");
        let opened = |bytes: &[u8]| {
            std::fs::write(&path, bytes).expect("a file");
            List::open(&path)
        };
        for cut in [0, 7, 63, 65, bytes.len() - 1] {
            assert!(opened(&bytes[..cut]).is_err(), "{cut}");
        }
        assert!(opened(&[&bytes[..], b"x"].concat()).is_err());
        // Any changed byte is found, in the digest too. So are contradictory numbers under a digest
        // that matches.
        let sealed = |mut bytes: Vec<u8>| {
            let end = bytes.len() - DIGEST as usize;
            let digest = blake3::hash(&bytes[..end]);
            bytes[end..].copy_from_slice(digest.as_bytes());
            bytes
        };
        for at in 0..bytes.len() {
            let mut changed = bytes.clone();
            changed[at] ^= 0x40;
            assert!(opened(&changed).is_err(), "{at}");
            assert_eq!(opened(&sealed(changed)).is_err(), at < 8 || (40..64).contains(&at), "{at}, sealed");
        }
        // Buckets that go backwards or past the end are found when they are read.
        let mut changed = bytes.clone();
        let starts = whole.starts as usize;
        changed[starts..starts + 4].copy_from_slice(&u32::MAX.to_le_bytes());
        let changed = sealed(changed);
        assert!(opened(&changed).expect("it opens").contains(0).is_err());
    }
}
