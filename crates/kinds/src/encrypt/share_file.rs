//! One party's share of a key on its own disk, in the format of the module `codec`.

mod codec;
#[cfg(test)]
mod fed;

use codec::{decode, encode, len, size_of};
use hushwire_block::Wiped;
use hushwire_fault::code;
use hushwire_rep3::{KeySize, Role, Shares};
use hushwire_session::{Fault, NewFile};
use std::{fs::File, io::Read, os::unix::fs::PermissionsExt, path::Path};

pub use codec::KeyId;
pub use hushwire_session::share_path as path;

/// The size of the key whose share is at `path`, by the length of the file. A file of an unknown
/// length is refused only when it is read.
#[must_use]
pub fn key_size(path: &Path) -> KeySize {
    let meta = std::fs::metadata(path);
    meta.ok().and_then(|meta| size_of(meta.len())).unwrap_or_default()
}

/// Reads the share of `role` at `path`, and the name of its key.
///
/// # Errors
/// The file cannot be read, other users may read or change it, or it is not what this party wrote.
pub fn read(path: &Path, role: Role) -> Result<(KeyId, Shares), Fault> {
    let io = |e| Fault::io("read the share", path, &e);
    let file = File::open(path).map_err(io)?;
    // The permissions of the opened file, even if another file has its name by now.
    let mode = file.metadata().map_err(io)?.permissions().mode() & 0o777;
    if mode & 0o077 != 0 {
        let shown = path.display();
        let cause =
            format!("its permissions {mode:04o} let other users at it, and two of three shares are the key");
        let remedy = format!(
            "run `chmod 600 {shown}`, and encrypt anew under another key if somebody may have read it"
        );
        return Err(Fault::file("use the share", path, cause, remedy).coded(code::SHARE));
    }
    let most = len(KeySize::Aes256) + 1;
    let mut bytes = Wiped::new(Vec::with_capacity(most));
    file.take(most as u64).read_to_end(&mut bytes).map_err(io)?;
    decode(role, &bytes).map_err(|cause| {
        let remedy = "restore this party's own file from its backup; no other file can stand in for it";
        Fault::file("use the share", path, cause, remedy)
    })
}

/// Writes a share into a file that has no name yet, so that all three may get their names together.
pub(super) fn write(file: &NewFile, role: Role, id: &KeyId, key: &Shares) -> Result<(), Fault> {
    use std::io::Write;
    file.writer()?.write_all(&encode(role, id, key)).map_err(|e| file.error(&e))
}

#[cfg(test)]
mod tests {
    use super::*;

    const LEN: usize = len(KeySize::Aes128);

    fn stored(path: &Path, role: Role, id: &KeyId, key: &Shares) {
        let stored = NewFile::create(path, 0o600).and_then(|file| {
            write(&file, role, id, key)?;
            file.commit()
        });
        stored.unwrap_or_else(|e| panic!("{e}"));
    }

    fn share() -> Shares {
        Shares { own: (0..16).collect(), next: (16..32).collect() }
    }

    #[test]
    fn a_share_is_as_long_as_its_key() {
        for size in KeySize::ALL {
            let (dir, bytes) =
                (tempfile::tempdir().unwrap_or_else(|e| panic!("{e}")), vec![5; size.key_bytes()]);
            let share = Shares { own: bytes.clone(), next: bytes };
            stored(&path(dir.path(), 0), Role::ALL[0], &[1; 16], &share);
            assert_eq!(key_size(&path(dir.path(), 0)), size);
            let (_, read) = read(&path(dir.path(), 0), Role::ALL[0]).unwrap_or_else(|e| panic!("{e}"));
            assert_eq!(read.own, share.own);
        }
    }

    #[test]
    fn what_is_written_is_read() {
        let dir = tempfile::tempdir().unwrap_or_else(|e| panic!("{e}"));
        let id = [7; 16];
        for role in Role::ALL {
            let at = path(dir.path(), role.index());
            stored(&at, role, &id, &share());
            let (read_id, read) = read(&at, role).unwrap_or_else(|e| panic!("{e}"));
            assert_eq!((read_id, &read.own, &read.next), (id, &share().own, &share().next));
        }
    }

    #[test]
    fn a_share_that_others_can_read_or_change_is_refused() {
        use std::fs::{Permissions, set_permissions};
        let dir = tempfile::tempdir().unwrap_or_else(|e| panic!("{e}"));
        let at = path(dir.path(), 0);
        stored(&at, Role::ALL[0], &[7; 16], &share());
        for (mode, refused) in [(0o600, false), (0o400, false), (0o640, true), (0o604, true), (0o620, true)] {
            set_permissions(&at, Permissions::from_mode(mode)).unwrap_or_else(|e| panic!("{e}"));
            match read(&at, Role::ALL[0]) {
                Ok(_) => assert!(!refused, "{mode:o}"),
                Err(e) => {
                    assert!(refused && e.code() == code::SHARE, "{mode:o}: {e}");
                    assert!(e.remedy().contains("chmod 600"), "{e}");
                }
            }
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

    #[test]
    fn files_of_any_bytes_are_one_partys_or_refused() {
        let key = |n: usize| Shares { own: vec![3; n], next: vec![250; n] };
        let good: Vec<_> = Role::ALL
            .into_iter()
            .zip([16, 24, 32])
            .map(|(role, n)| encode(role, &[n as u8; 16], &key(n)).to_vec())
            .collect();
        let good: Vec<&[u8]> = good.iter().map(Vec::as_slice).collect();
        hushwire_testkit::mutated(5, &good, 8000).for_each(|bytes| fed::fed(&bytes));
        // This release refuses bytes that a later one may give a meaning.
        for at in 9..16 {
            let mut bytes = good[0][..good[0].len() - 32].to_vec();
            bytes[at] = 1;
            bytes.extend_from_slice(blake3::hash(&bytes).as_bytes());
            assert!(decode(Role::ALL[0], &bytes).err().unwrap_or_default().contains("zeros"), "byte {at}");
        }
    }
}
