//! Private keys on disk. They are read only from files that no other user can read.

use crate::{mark, open_input};
use hushwire_fault::{Fault, code};
use std::{io::Read, os::unix::fs::PermissionsExt, path::Path};
use zeroize::Zeroizing;

/// LOCAL: the largest length of a key file.
const LONGEST: u64 = 64 << 10;
const DOING: &str = "use the key";

/// Reads the PEM text of a private key, with its certificate; `-` is standard input.
///
/// # Errors
/// The file cannot be read or is not text. [`Kind::Refused`](hushwire_fault::Kind::Refused) if its
/// permissions let others read or change it.
pub fn read_private_key(path: &Path) -> Result<Zeroizing<String>, Fault> {
    let file = open_input(path).map_err(|e| match e.kind() {
        std::io::ErrorKind::NotFound => {
            let remedy = "make one with `hushwire keys init`, or correct the name";
            Fault::file("read the key", path, "there is no such file", remedy)
        }
        _ => Fault::io("read the key", path, &e),
    })?;
    // The permissions of the open file count, not those of the file that has its name by now.
    let meta = file.metadata().map_err(|e| Fault::io("read the key", path, &e))?;
    let mut text = Zeroizing::new(String::new());
    file.take(LONGEST).read_to_string(&mut text).map_err(|e| match e.kind() {
        std::io::ErrorKind::InvalidData => {
            let remedy = "name a file that `hushwire keys init` wrote";
            Fault::file(DOING, path, "it is not PEM text", remedy)
        }
        _ => Fault::io("read the key", path, &e),
    })?;
    let mode = meta.permissions().mode() & 0o777;
    if meta.is_file() && mode & 0o077 != 0 && text.contains("PRIVATE KEY-----") {
        let shown = path.display();
        let cause = format!("its permissions {mode:04o} let other users at the private key");
        let then = if text.contains("HUSHWIRE PSI PRIVATE KEY-----") {
            "publish the list anew under another key".to_owned()
        } else {
            format!("`hushwire keys rotate {shown}`")
        };
        let remedy = format!("run `chmod 600 {shown}`, and {then} if somebody may have read it");
        return Err(Fault::file(DOING, path, cause, remedy).coded(code::PRIVATE));
    }
    Ok(match mark::strip_str(&text) {
        whole if whole.len() == text.len() => text,
        rest => Zeroizing::new(rest.to_owned()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::{self, Permissions};

    #[test]
    fn a_key_that_others_can_read_or_change_is_refused() {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("key.pem");
        let pem = "-----BEGIN PRIVATE KEY-----";
        fs::write(&path, pem).expect("a file");
        for (mode, good) in [
            (0o600, true),
            (0o400, true),
            (0o700, true),
            (0o640, false),
            (0o604, false),
            (0o620, false),
            (0o602, false),
            (0o644, false),
        ] {
            fs::set_permissions(&path, Permissions::from_mode(mode)).expect("it is ours");
            match read_private_key(&path) {
                Ok(text) => assert!(good && *text == pem, "{mode:o} was taken"),
                Err(e) => {
                    assert!(!good && e.code() == code::PRIVATE, "{mode:o}: {e}");
                    let text = e.to_string();
                    assert!(text.contains("chmod 600") && text.contains(&format!("{mode:04o}")), "{text}");
                }
            }
        }
        // The file has no key. Another defect in it makes a better error.
        fs::write(&path, "-----BEGIN CERTIFICATE-----").expect("a file");
        assert!(read_private_key(&path).is_ok());
    }
}
