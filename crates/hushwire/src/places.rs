//! Places where the parties of a run on one machine listen.

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
pub struct LocalPlaces(Option<PathBuf>, Process);

impl LocalPlaces {
    /// Places for a transport.
    ///
    /// # Errors
    /// The directory cannot be made.
    pub fn of(transport: TransportKind) -> Result<Self, Fault> {
        if !transport.is_local() {
            return Ok(Self(None, Process::here()));
        }
        // Random, and nothing that is secret.
        let name = SessionId::fresh().map_err(|e| Fault::internal("naming a directory", e))?;
        let path = std::env::temp_dir().join(format!("hushwire-{}", &name.to_string()[..16]));
        let made = DirBuilder::new().mode(0o700).create(&path);
        made.map_err(|e| Fault::io("make the directory", &path, &e))?;
        Ok(Self(Some(path), Process::here()))
    }

    /// The address of a party.
    #[must_use]
    pub fn address(&self, party: &str) -> String {
        match &self.0 {
            Some(dir) => format!("unix:{}", dir.join(party).display()),
            None => "127.0.0.1:0".to_owned(),
        }
    }
}

impl Drop for LocalPlaces {
    fn drop(&mut self) {
        // A fork leaves the directory to the process that made it.
        if let Some(dir) = self.0.as_ref().filter(|_| self.1.is_here()) {
            // Nothing is left to tell of a failure here.
            let _ = fs::remove_dir_all(dir);
        }
    }
}
