//! Stores results of earlier runs, under a checksum of everything on which they depend.

use std::{fs, path::PathBuf, process};

use serde::{Serialize, de::DeserializeOwned};

use super::tools::on_file;
use crate::BoxError;

/// The origin of a figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Origin {
    Run,
    Cache,
}

impl Origin {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Run => "run",
            Self::Cache => "cache",
        }
    }
}

/// A directory with results.
#[derive(Clone, Debug)]
pub(super) struct Store {
    dir: PathBuf,
}

impl Store {
    pub(super) fn new(dir: PathBuf) -> Self {
        Self { dir }
    }

    /// The result with this name for inputs with this checksum. A missing result is made by `make`
    /// and stored.
    pub(super) fn get<T: Serialize + DeserializeOwned>(
        &self,
        name: &str,
        checksum: &str,
        make: impl FnOnce() -> Result<T, BoxError>,
    ) -> Result<(T, Origin), BoxError> {
        if let Some(found) = self.look(name, checksum) {
            return Ok((found, Origin::Cache));
        }
        let made = make()?;
        let path = self.path(name, checksum);
        fs::create_dir_all(&self.dir).map_err(on_file("creating", &self.dir))?;
        let text = serde_json::to_string(&made).unwrap_or_default();
        let temporary = path.with_extension(format!("{}.tmp", process::id()));
        fs::write(&temporary, text).map_err(on_file("writing", &temporary))?;
        fs::rename(&temporary, &path).map_err(on_file("replacing", &path))?;
        Ok((made, Origin::Run))
    }

    /// The stored result, if there is one. An unreadable result counts as missing.
    pub(super) fn look<T: DeserializeOwned>(&self, name: &str, checksum: &str) -> Option<T> {
        serde_json::from_str(&fs::read_to_string(self.path(name, checksum)).ok()?).ok()
    }

    fn path(&self, name: &str, checksum: &str) -> PathBuf {
        self.dir.join(format!("{name}-{checksum}.json"))
    }
}

/// The checksum of the files with these extensions in `dirs`, by name, and of `more`.
pub(super) fn checksum(dirs: &[PathBuf], endings: &[&str], more: &[&[u8]]) -> Result<String, BoxError> {
    let mut hash = blake3::Hasher::new();
    let mut add = |bytes: &[u8]| {
        hash.update(&(bytes.len() as u64).to_le_bytes());
        hash.update(bytes);
    };
    for path in files(dirs, endings)? {
        let content = fs::read(&path).map_err(on_file("reading", &path))?;
        add(path.file_name().unwrap_or_default().to_string_lossy().as_bytes());
        add(&content);
    }
    more.iter().for_each(|bytes| add(bytes));
    Ok(hash.finalize().to_hex()[..16].to_owned())
}

/// The files with these extensions, sorted by name within a directory.
pub(super) fn files(dirs: &[PathBuf], endings: &[&str]) -> Result<Vec<PathBuf>, BoxError> {
    let mut all = vec![];
    for dir in dirs {
        let failed = on_file("reading", dir);
        let mut here = vec![];
        for entry in fs::read_dir(dir).map_err(&failed)? {
            let path = entry.map_err(&failed)?.path();
            let ending = path.extension().unwrap_or_default().to_string_lossy().into_owned();
            if endings.contains(&ending.as_str()) {
                here.push(path);
            }
        }
        here.sort();
        all.extend(here);
    }
    Ok(all)
}
