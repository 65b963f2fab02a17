//! One party's share of a key, on its own disk.
//!
//! ```text
//! magic "HWSHARE1" │ party, 1 byte │ zeros, 7 │ key id, 16 │ own ‖ next, 2k │ BLAKE3 of all before, 32
//! ```
//!
//! A key has k = 16, 24 or 32 bytes; the length of the file says which.

use crate::{error::Error, files::NewFile};
use hushwire_rep3::{KeySize, Role, Shares};
use std::{
    fs::File,
    io::Read,
    path::{Path, PathBuf},
};
use zeroize::Zeroizing;

const MAGIC: &[u8; 8] = b"HWSHARE1";
/// Where the shares begin.
const SHARES: usize = 32;
/// The checksum's bytes.
const SUM: usize = 32;

/// Bytes of the file for a key of this size.
const fn len(size: KeySize) -> usize {
    SHARES + 2 * size.key_bytes() + SUM
}

/// The size of the key whose share has so many bytes.
fn size_of(bytes: u64) -> Option<KeySize> {
    KeySize::ALL.into_iter().find(|size| len(*size) as u64 == bytes)
}

/// The size of the key of which `dir` holds party 0's share. A file of another length is judged when it is read.
pub(crate) fn key_size(dir: &Path) -> KeySize {
    let meta = std::fs::metadata(path(dir, 0));
    meta.ok().and_then(|meta| size_of(meta.len())).unwrap_or_default()
}

/// Names a key, the same for its three shares. It says nothing about the key.
pub(crate) type KeyId = [u8; 16];

/// Where party `party` keeps its share in `dir`.
pub(crate) fn path(dir: &Path, party: usize) -> PathBuf {
    dir.join(format!("party-{party}.share"))
}

/// Starts a share file; it is kept when it is committed.
pub(crate) fn encode(role: Role, id: &KeyId, key: &Shares) -> Zeroizing<Vec<u8>> {
    let mut bytes = Zeroizing::new(Vec::with_capacity(len(KeySize::Aes256)));
    bytes.extend_from_slice(MAGIC);
    bytes.extend_from_slice(&[role.index() as u8, 0, 0, 0, 0, 0, 0, 0]);
    bytes.extend_from_slice(id);
    bytes.extend_from_slice(&key.to_bytes());
    let sum = blake3::hash(&bytes);
    bytes.extend_from_slice(sum.as_bytes());
    bytes
}

/// What `encode` wrote for `role`; the error is a cause.
pub(crate) fn decode(role: Role, bytes: &[u8]) -> Result<(KeyId, Shares), String> {
    if bytes.get(..8).is_none_or(|magic| magic != MAGIC) {
        return Err("it is not a share of a key".to_owned());
    }
    let Some(size) = size_of(bytes.len() as u64) else {
        let known = KeySize::ALL.map(|size| len(size).to_string()).join(", ");
        return Err(format!(
            "it has {} bytes instead of one of {known}: it was cut short or grew",
            bytes.len()
        ));
    };
    let (content, sum) = bytes.split_at(bytes.len() - SUM);
    if blake3::hash(content) != *<&[u8; SUM]>::try_from(sum).map_err(|e| e.to_string())? {
        return Err("its checksum is wrong: it was damaged".to_owned());
    }
    if usize::from(bytes[8]) != role.index() {
        return Err(format!("it is the share of party {}: two files were mixed up", bytes[8]));
    }
    let mut id = [0; 16];
    id.copy_from_slice(&bytes[16..32]);
    Ok((id, Shares::from_bytes(&content[SHARES..], size.key_bytes()).map_err(|e| e.to_string())?))
}

/// Reads a share.
pub(crate) fn read(dir: &Path, role: Role) -> Result<(KeyId, Shares), Error> {
    let path = path(dir, role.index());
    let most = len(KeySize::Aes256) + 1;
    let mut bytes = Zeroizing::new(Vec::with_capacity(most));
    let read = File::open(&path).and_then(|file| file.take(most as u64).read_to_end(&mut bytes));
    read.map_err(|e| Error::io("read the share", &path, &e))?;
    decode(role, &bytes).map_err(|cause| {
        let remedy = "restore this party's own file from its backup; no other file can stand in for it";
        Error::file("use the share", &path, cause, remedy)
    })
}

/// Starts to write a share. It stays without a name until it is committed, so that the three appear together.
pub(crate) fn prepare(dir: &Path, role: Role, id: &KeyId, key: &Shares) -> Result<NewFile, Error> {
    use std::io::Write;
    let file = NewFile::create(&path(dir, role.index()), 0o600)?;
    file.writer()?.write_all(&encode(role, id, key)).map_err(|e| file.error(&e))?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LEN: usize = len(KeySize::Aes128);

    fn share() -> Shares {
        Shares { own: (0..16).collect(), next: (16..32).collect() }
    }

    #[test]
    fn a_share_is_as_long_as_its_key() {
        for size in KeySize::ALL {
            let (dir, bytes) =
                (tempfile::tempdir().unwrap_or_else(|e| panic!("{e}")), vec![5; size.key_bytes()]);
            let share = Shares { own: bytes.clone(), next: bytes };
            prepare(dir.path(), Role::ALL[0], &[1; 16], &share)
                .and_then(|new| Ok(new.commit()?))
                .unwrap_or_else(|e| panic!("{e}"));
            assert_eq!(key_size(dir.path()), size);
            let (_, read) = read(dir.path(), Role::ALL[0]).unwrap_or_else(|e| panic!("{e}"));
            assert_eq!(read.own, share.own);
        }
    }

    #[test]
    fn what_is_written_is_read() {
        let dir = tempfile::tempdir().unwrap_or_else(|e| panic!("{e}"));
        let id = [7; 16];
        for role in Role::ALL {
            prepare(dir.path(), role, &id, &share())
                .and_then(|new| Ok(new.commit()?))
                .unwrap_or_else(|e| panic!("{e}"));
            let (read_id, read) = read(dir.path(), role).unwrap_or_else(|e| panic!("{e}"));
            assert_eq!((read_id, &read.own, &read.next), (id, &share().own, &share().next));
        }
    }

    #[test]
    fn every_change_is_noticed() {
        let good = encode(Role::ALL[1], &[7; 16], &share());
        let cause = |bytes: &[u8]| decode(Role::ALL[1], bytes).err().unwrap_or_default();
        assert_eq!(cause(&good), "");
        for i in 0..LEN {
            let mut bad = good.clone();
            bad[i] ^= 1;
            assert_ne!(cause(&bad), "", "byte {i}");
        }
        for len in [0, 7, 8, 50, LEN - 1] {
            assert_ne!(cause(&good[..len]), "", "{len} bytes");
        }
        assert!(cause(&[&good[..], b"x"].concat()).contains("97"));
        assert!(decode(Role::ALL[0], &good).err().unwrap_or_default().contains("share of party 1"));
    }
}
