//! The format of a share file. This module uses nothing else of the program, so that the fuzzer can
//! compile the same source.
//!
//! ```text
//! magic "HWSHARE1" │ party, 1 byte │ zeros, 7 │ key id, 16 │ own ‖ next, 2k │ BLAKE3 of all, 32
//! ```
//!
//! A key has k = 16, 24 or 32 bytes. The length of the file gives k.

use hushwire_block::Wiped;
use hushwire_rep3::{KeySize, Role, Shares};

const MAGIC: &[u8; 8] = b"HWSHARE1";
/// The offset of the shares, in bytes.
const SHARES: usize = 32;
/// The bytes of the checksum.
const SUM: usize = 32;

/// Names a key, the same for its three shares. It reveals nothing about the key.
pub type KeyId = [u8; 16];

/// The bytes of the file for a key of this size.
pub(crate) const fn len(size: KeySize) -> usize {
    SHARES + 2 * size.key_bytes() + SUM
}

/// The size of the key whose share has this length.
pub(crate) fn size_of(bytes: u64) -> Option<KeySize> {
    KeySize::ALL.into_iter().find(|size| len(*size) as u64 == bytes)
}

/// Encodes a share file.
pub(crate) fn encode(role: Role, id: &KeyId, key: &Shares) -> Wiped<Vec<u8>> {
    let mut bytes = Wiped::new(Vec::with_capacity(len(KeySize::Aes256)));
    bytes.extend_from_slice(MAGIC);
    bytes.extend_from_slice(&[role.index() as u8, 0, 0, 0, 0, 0, 0, 0]);
    bytes.extend_from_slice(id);
    bytes.extend_from_slice(&key.to_bytes());
    let sum = blake3::hash(&bytes);
    bytes.extend_from_slice(sum.as_bytes());
    bytes
}

/// Decodes a file that `encode` wrote for `role`. The error is a cause.
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
    if bytes[9..16] != [0; 7] {
        return Err("it has bytes where zeros belong: another release wrote it".to_owned());
    }
    if usize::from(bytes[8]) != role.index() {
        return Err(format!("it is the share of party {}: two files were mixed up", bytes[8]));
    }
    let mut id = [0; 16];
    id.copy_from_slice(&bytes[16..32]);
    Ok((id, Shares::from_bytes(&content[SHARES..], size.key_bytes()).map_err(|e| e.to_string())?))
}
