//! Reads share files of arbitrary bytes, for tests and the fuzzer.

use super::codec::{decode, encode};
use hushwire_rep3::Role;

/// Reads the bytes as every party's file, unchanged and with a correct checksum. A file that is
/// accepted must be equal to the one that would be written.
pub(crate) fn fed(bytes: &[u8]) {
    let mended = bytes.get(..bytes.len().saturating_sub(32)).unwrap_or_default();
    let mended = [mended, blake3::hash(mended).as_bytes()].concat();
    for bytes in [bytes, &mended] {
        let readers = Role::ALL.into_iter().filter(|role| match decode(*role, bytes) {
            Ok((id, shares)) => {
                assert_eq!(encode(*role, &id, &shares)[..], *bytes);
                true
            }
            Err(cause) => {
                assert!(!cause.is_empty() && !cause.chars().any(char::is_control), "{cause:?}");
                false
            }
        });
        assert!(readers.count() <= 1, "a share is one party's");
    }
}
