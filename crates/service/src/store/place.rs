//! The file systems on which a store may be.

use hushwire_fault::{Fault, code};
use std::path::Path;

/// Numbers of network file systems in `statfs`, on which SQLite's locks and shared memory do not
/// work. Source: `statfs(2)`.
const NETWORK: [(i64, &str); 8] = [
    (0x6969, "NFS"),
    (0x517b, "SMB"),
    (0xff53_4d42, "CIFS"),
    (0xfe53_4d42, "SMB2"),
    (0x0102_1997, "9P"),
    (0x5346_414f, "AFS"),
    (0x00c3_6400, "Ceph"),
    (0x7461_636f, "OCFS2"),
];

/// Refuses a store on a network file system.
pub(super) fn check(path: &Path) -> Result<(), Fault> {
    let dir = path.parent().filter(|dir| *dir != Path::new("")).unwrap_or(Path::new("."));
    let found = rustix::fs::statfs(dir).map_err(|e| Fault::io("use the directory", dir, &e.into()))?;
    #[allow(clippy::unnecessary_cast, clippy::cast_lossless, reason = "the type differs between systems")]
    let kind = found.f_type as i64;
    refuse(kind & 0xffff_ffff, path)
}

fn refuse(kind: i64, path: &Path) -> Result<(), Fault> {
    let Some((_, name)) = NETWORK.iter().find(|(number, _)| *number == kind) else { return Ok(()) };
    let cause = format!("{} is on a network file system ({name}), where locks do not hold", path.display());
    let remedy = "name a file on a local disk under `store` in the config";
    Err(Fault::new(code::STORE, "opening the store", cause, remedy))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn network_file_systems_are_refused_and_local_ones_taken() {
        let path = Path::new("/srv/store.db");
        let error = refuse(0x6969, path).err().map(|e| e.to_string()).unwrap_or_default();
        assert!(error.contains("NFS") && error.contains("local disk"), "{error}");
        // ext4.
        assert!(refuse(0xef53, path).is_ok());
        let dir = tempfile::tempdir().expect("a directory");
        assert!(check(&dir.path().join("store.db")).is_ok());
    }
}
