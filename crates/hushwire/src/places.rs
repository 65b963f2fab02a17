//! Addresses at which the parties of a run on one machine listen.

use crate::job::Fault;
use hushwire_machine::{Process, SessionId};
use hushwire_wire::TransportKind;
use std::{
    fs::{self, DirBuilder},
    os::unix::fs::DirBuilderExt,
    path::PathBuf,
};

/// Loopback ports that the system chooses, or Unix sockets in a directory that is removed when this
/// is dropped.
#[derive(Debug)]
pub struct LocalPlaces {
    /// The directory of sockets.
    dir: Option<PathBuf>,
    /// Whether parties listen in that directory.
    is_local: bool,
    process: Process,
}

/// LOCAL: the longest path of a directory in which a party's socket has a valid name. A name has
/// at most 108 bytes including a final zero, and `/hushwire-0123456789abcdef/party7` is part of it.
const LONGEST: usize = 107 - 33;

/// The directory for temporary files, or `/tmp` if that directory's path is too long for sockets.
fn short_enough(temporary: PathBuf) -> PathBuf {
    if temporary.as_os_str().len() <= LONGEST { temporary } else { PathBuf::from("/tmp") }
}

impl LocalPlaces {
    /// Makes addresses for a transport.
    ///
    /// # Errors
    /// The directory cannot be made.
    pub fn of(transport: TransportKind) -> Result<Self, Fault> {
        if transport.is_local() { Self::with_sockets(true) } else { Ok(Self::at(None, false)) }
    }

    /// Makes addresses for a transport, and for sockets between the shards of each party.
    ///
    /// # Errors
    /// The directory cannot be made.
    pub fn of_shards(transport: TransportKind) -> Result<Self, Fault> {
        Self::with_sockets(transport.is_local())
    }

    fn at(dir: Option<PathBuf>, is_local: bool) -> Self {
        Self { dir, is_local, process: Process::here() }
    }

    fn with_sockets(is_local: bool) -> Result<Self, Fault> {
        // The name is random and not secret.
        let name = SessionId::fresh().map_err(|e| Fault::internal("naming a directory", e))?;
        let path = short_enough(std::env::temp_dir()).join(format!("hushwire-{}", &name.to_string()[..16]));
        let made = DirBuilder::new().mode(0o700).create(&path);
        made.map_err(|e| Fault::io("make the directory", &path, &e))?;
        Ok(Self::at(Some(path), is_local))
    }

    /// The address of a party.
    #[must_use]
    pub fn address(&self, party: &str) -> String {
        match self.is_local {
            true => self.socket(party),
            false => "127.0.0.1:0".to_owned(),
        }
    }

    /// The address of a socket between processes of this machine, if there is a directory for them.
    #[must_use]
    pub fn socket(&self, name: &str) -> String {
        let dir = self.dir.clone().unwrap_or_else(std::env::temp_dir);
        format!("unix:{}", dir.join(name).display())
    }
}

impl Drop for LocalPlaces {
    fn drop(&mut self) {
        // A fork leaves the directory to the process that made it.
        if let Some(dir) = self.dir.as_ref().filter(|_| self.process.is_here()) {
            // A failure cannot be reported here.
            let _ = fs::remove_dir_all(dir);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hushwire_wire::Listener;

    /// The longest accepted path has space for every party's socket. A longer one is avoided.
    #[test]
    fn sockets_have_names_under_long_paths() {
        let dir = tempfile::tempdir().unwrap();
        let fill = LONGEST - dir.path().as_os_str().len() - 1;
        let path = dir.path().join("d".repeat(fill));
        assert_eq!(short_enough(path.clone()), path);
        assert_eq!(short_enough(dir.path().join("d".repeat(fill + 1))), PathBuf::from("/tmp"));
        let inner = path.join("hushwire-0123456789abcdef");
        fs::create_dir_all(&inner).unwrap();
        let places = LocalPlaces::at(Some(inner), true);
        Listener::bind(&places.address("party7")).unwrap_or_else(|e| panic!("{e}"));
    }
}
