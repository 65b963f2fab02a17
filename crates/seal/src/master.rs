//! A party's own keys at rest. They are sealed under a master key, which is kept outside the store.

use crate::{SealError, aead, envelope::place, keys};
use aws_lc_rs::aead::NONCE_LEN;
use hushwire_block::Wiped;
use hushwire_fault::Fault;
use hushwire_files::NewFile;
use std::{
    fs::File,
    io::{ErrorKind, Read},
    os::unix::fs::PermissionsExt,
    path::Path,
};
use zeroize::{ZeroizeOnDrop, Zeroizing};

const HEAD: &str = "hushwire-master-key-v1 ";
const WRAP: &str = "hushwire 2026 wrapped under a master key v1";
/// LOCAL: no file of keys is longer than this.
pub(crate) const LONGEST: u64 = 1 << 20;

/// 32 secret bytes that open a party's keys. They can be neither printed nor compared.
#[derive(ZeroizeOnDrop)]
pub struct MasterKey([u8; 32]);

impl MasterKey {
    /// Draws a key and writes it to a new file that only its owner may read.
    ///
    /// # Errors
    /// A file with that name exists, or the file cannot be written.
    pub fn create(path: &Path) -> Result<Self, Fault> {
        let key = Self(keys::drawn());
        let text = Zeroizing::new(format!("{HEAD}{}\n", *Zeroizing::new(hex::encode(key.0))));
        write_private(path, text.as_bytes(), false)?;
        Ok(key)
    }

    /// Reads the file that [`create`](Self::create) wrote.
    ///
    /// # Errors
    /// The file cannot be read, other users may read it, or it is not such a file.
    pub fn read(path: &Path) -> Result<Self, Fault> {
        let text = read_private(path)?;
        let digits = text.strip_prefix(HEAD).and_then(|text| text.strip_suffix('\n'));
        let mut key = Self([0; 32]);
        let read = digits.map(|digits| hex::decode_to_slice(digits, &mut key.0));
        match read {
            Some(Ok(())) => Ok(key),
            _ => Err(SealError::Key { what: "the master key", cause: "the file has none".to_owned() }
                .fault()
                .during(format_args!("reading {}", path.display()))),
        }
    }

    fn key(&self, purpose: &str) -> Zeroizing<[u8; 32]> {
        let mut hasher = Zeroizing::new(blake3::Hasher::new_derive_key(WRAP));
        hasher.update(&self.0).update(purpose.as_bytes());
        Zeroizing::new(*hasher.finalize().as_bytes())
    }

    /// Seals a secret for a purpose. The result is a nonce, then the ciphertext.
    #[must_use]
    pub fn wrap(&self, purpose: &str, secret: &[u8]) -> Vec<u8> {
        let nonce: [u8; NONCE_LEN] = keys::drawn();
        let mut plain = Wiped::new(Vec::with_capacity(secret.len() + aead::TAG_BYTES));
        plain.extend_from_slice(secret);
        let aad = place(WRAP, &[purpose.as_bytes()]);
        [&nonce[..], &aead::seal(&self.key(purpose), nonce, &aad, plain)].concat()
    }

    /// Opens the result of [`wrap`](Self::wrap) for the same purpose.
    ///
    /// # Errors
    /// The bytes were changed, or sealed under another master key or for another purpose.
    pub fn unwrap(&self, purpose: &str, wrapped: &[u8]) -> Result<Wiped<Vec<u8>>, SealError> {
        let (nonce, sealed) =
            wrapped.split_first_chunk().ok_or_else(|| SealError::changed(format_args!("the {purpose}")))?;
        let aad = place(WRAP, &[purpose.as_bytes()]);
        aead::open(&self.key(purpose), *nonce, &aad, sealed.to_vec(), format_args!("the {purpose}"))
    }
}

/// Writes a file that only its owner may read. `replaces` says whether an existing file is
/// replaced.
pub(crate) fn write_private(path: &Path, bytes: &[u8], replaces: bool) -> Result<(), Fault> {
    let new = NewFile::create(path, 0o600)?;
    if replaces {
        return new.write(bytes);
    }
    let mut file = new.writer()?;
    std::io::Write::write_all(&mut file, bytes).map_err(|e| new.error(&e))?;
    if new.commit_new()? {
        return Ok(());
    }
    Err(Fault::file("write", path, "there is a file of that name", "name another, or move that one away"))
}

/// The text of a file that only its owner may read.
pub(crate) fn read_private(path: &Path) -> Result<Zeroizing<String>, Fault> {
    let io = |e: std::io::Error| match e.kind() {
        ErrorKind::InvalidData => Fault::file("read", path, "it is not text", "is it the right file?"),
        _ => Fault::io("read", path, &e),
    };
    let file = File::open(path).map_err(io)?;
    // The permissions are those of the opened file, since another file may have its name by now.
    let mode = file.metadata().map_err(io)?.permissions().mode() & 0o777;
    if mode & 0o077 != 0 {
        let cause = format!("its permissions {mode:04o} let other users at the secret in it");
        let remedy =
            format!("run `chmod 600 {}`, and make new keys if somebody may have read them", path.display());
        return Err(Fault::file("use the key", path, cause, remedy).coded(hushwire_fault::code::PRIVATE));
    }
    // The buffer has the whole length at once: one that grows leaves copies of the secret.
    let length = file.metadata().map_err(io)?.len().min(LONGEST) as usize;
    let mut text = Zeroizing::new(String::with_capacity(length + 1));
    file.take(LONGEST).read_to_string(&mut text).map_err(io)?;
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::{self, Permissions};

    #[test]
    fn a_key_at_rest_opens_under_its_master_key_and_purpose_alone() {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("master.key");
        let key = MasterKey::create(&path).unwrap_or_else(|e| panic!("{e}"));
        assert!(MasterKey::create(&path).is_err(), "no key is replaced");
        let wrapped = key.wrap("signing key", b"a secret of ours");
        assert!(!wrapped.windows(8).any(|window| window == b"a secret"));
        assert_ne!(wrapped, key.wrap("signing key", b"a secret of ours"), "nonces are drawn");
        let again = MasterKey::read(&path).unwrap_or_else(|e| panic!("{e}"));
        let opened = again.unwrap("signing key", &wrapped).map(|plain| plain.to_vec());
        assert_eq!(opened, Ok(b"a secret of ours".to_vec()));
        assert!(again.unwrap("opening key", &wrapped).is_err());
        assert!(MasterKey(keys::drawn()).unwrap("signing key", &wrapped).is_err());
        for bit in 0..8 * wrapped.len() {
            let mut changed = wrapped.clone();
            changed[bit / 8] ^= 1 << (bit % 8);
            assert!(again.unwrap("signing key", &changed).is_err(), "bit {bit}");
        }
        assert!(again.unwrap("signing key", &wrapped[..5]).is_err());
    }

    #[test]
    fn a_file_that_others_may_read_is_refused() {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("master.key");
        MasterKey::create(&path).unwrap_or_else(|e| panic!("{e}"));
        let code = |path: &Path| MasterKey::read(path).err().map(|e| e.code());
        fs::set_permissions(&path, Permissions::from_mode(0o640)).expect("it is ours");
        assert_eq!(code(&path), Some(hushwire_fault::code::PRIVATE));
        fs::set_permissions(&path, Permissions::from_mode(0o600)).expect("it is ours");
        assert_eq!(code(&path), None);
        for text in ["", "hushwire-master-key-v1 00\n", "hushwire-master-key-v1 \u{fc}\n", "x"] {
            fs::write(&path, text).expect("a file");
            assert_eq!(code(&path), Some(hushwire_fault::code::SEAL_KEY), "{text:?}");
        }
    }
}
