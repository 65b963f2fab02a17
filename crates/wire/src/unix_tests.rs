//! Socket files: which process may take a path, which files remain, and which peers are accepted.

use std::{
    fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
};

use super::{UnixPath, same_user};
use hushwire_machine::{NetError, PartyId};

use crate::Listener;

/// A directory of this test alone, removed at the end.
struct Dir(PathBuf);

impl Dir {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("hushwire-unix-{}-{name}", std::process::id()));
        fs::create_dir_all(&path).unwrap_or_else(|e| panic!("{e}"));
        Self(path)
    }

    fn file(&self) -> PathBuf {
        self.0.join("socket")
    }
}

impl Drop for Dir {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn bind(path: &Path) -> UnixPath {
    UnixPath::bind(path).unwrap_or_else(|e| panic!("{e}"))
}

#[test]
fn the_file_is_private_and_goes_with_its_listener() {
    let dir = Dir::new("private");
    let listener = bind(&dir.file());
    let mode = fs::metadata(dir.file()).map(|file| file.permissions().mode() & 0o777);
    assert_eq!(mode.unwrap_or_else(|e| panic!("{e}")), 0o600);
    drop(listener);
    assert!(!dir.file().exists());
}

#[test]
fn a_living_listener_keeps_its_path() {
    let dir = Dir::new("living");
    let _listener = bind(&dir.file());
    let Err(NetError::Listen { source, .. }) = Listener::bind(&format!("unix:{}", dir.file().display()))
    else {
        panic!("two listeners on one path")
    };
    assert_eq!(source.kind(), std::io::ErrorKind::AddrInUse);
}

#[test]
fn the_file_of_an_ended_process_is_replaced() {
    let dir = Dir::new("stale");
    // This simulates a killed process: the socket closes and its file remains.
    drop(std::os::unix::net::UnixListener::bind(dir.file()));
    assert!(dir.file().exists());
    drop(bind(&dir.file()));
    assert!(!dir.file().exists());
}

#[test]
fn what_is_not_a_socket_stays() {
    let dir = Dir::new("file");
    fs::write(dir.file(), b"kept").unwrap_or_else(|e| panic!("{e}"));
    assert!(UnixPath::bind(&dir.file()).is_err());
    assert_eq!(fs::read(dir.file()).unwrap_or_default(), b"kept");
}

#[test]
fn a_successors_file_is_left_alone() {
    let dir = Dir::new("successor");
    let first = bind(&dir.file());
    fs::remove_file(dir.file()).unwrap_or_else(|e| panic!("{e}"));
    let second = bind(&dir.file());
    drop(first);
    assert!(dir.file().exists());
    drop(second);
    assert!(!dir.file().exists());
}

#[test]
fn another_user_is_refused_by_name() {
    let ours = rustix::process::geteuid().as_raw();
    assert!(same_user(ours).is_ok());
    let Err(refused) = same_user(ours + 1) else { panic!("heard another user") };
    let error = NetError::from_link(Some(PartyId(1)), "handshake", refused);
    assert!(matches!(error, NetError::OtherUser { .. }));
    assert!(error.to_string().contains("party 1"), "{error}");
}
