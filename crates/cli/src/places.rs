//! The addresses of the parties of a local run.

use crate::error::Error;
use hushwire_job::aes_ctr::draw;
use hushwire_wire::TransportKind;
use std::{
    fs::{self, DirBuilder},
    os::unix::fs::DirBuilderExt,
    path::PathBuf,
};

/// Loopback ports that the system chooses, or Unix sockets in a directory that is removed when this is dropped.
pub(crate) struct Places(Option<PathBuf>);

impl Places {
    /// Addresses for a transport.
    pub(crate) fn of(transport: TransportKind) -> Result<Self, Error> {
        if !transport.is_local() {
            return Ok(Self(None));
        }
        let name = hex::encode(draw::<8>("naming a directory")?);
        let path = std::env::temp_dir().join(format!("hushwire-{name}"));
        let made = DirBuilder::new().mode(0o700).create(&path);
        made.map_err(|e| Error::io("make the directory", &path, &e))?;
        Ok(Self(Some(path)))
    }

    /// The address of a party.
    pub(crate) fn address(&self, party: &str) -> String {
        match &self.0 {
            Some(dir) => format!("unix:{}", dir.join(party).display()),
            None => "127.0.0.1:0".to_owned(),
        }
    }
}

impl Drop for Places {
    fn drop(&mut self) {
        if let Some(dir) = &self.0 {
            // Nothing is left to tell of a failure here.
            let _ = fs::remove_dir_all(dir);
        }
    }
}
