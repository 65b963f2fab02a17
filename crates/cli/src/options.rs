//! Options that several commands have.

use crate::{
    error::Error,
    files::{NewFile, Replace, RunFiles, json_file},
    log,
};
use clap::Args;
use hushwire_aes::Backend;
use hushwire_machine::NetError;
use hushwire_wire::{Shape, TransportKind};
use std::path::PathBuf;

/// The options of every command that computes with others.
#[derive(Args)]
pub(crate) struct CommonArgs {
    /// Write a report for programs to FILE; - is standard output, in place of results
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) replace: Replace,
    /// The AES instructions to use: portable, neon, aesni, vaes256 or vaes512 [default: the widest
    /// of this CPU]
    #[arg(long, value_name = "TIER", env = hushwire_aes::ENV, hide_env_values = true)]
    aes_backend: Option<String>,
}

impl CommonArgs {
    /// Returns the requested tier, or the widest.
    pub(crate) fn backend(&self) -> Result<Backend, Error> {
        match self.aes_backend.as_deref() {
            Some(name) if !name.is_empty() => Backend::named(name).map_err(|e| Error::Usage(e.to_string())),
            _ => Ok(Backend::best()),
        }
    }

    /// Creates the file of `--json`, if its argument is a file. Runs with the same `job` may
    /// replace each other's report.
    pub(crate) fn json_file(&self, files: &mut RunFiles, job: &str) -> Result<Option<NewFile>, Error> {
        json_file(files, self.json.as_deref(), job, 0o600)
    }
}

/// The transport between processes of this machine.
#[derive(Args)]
pub(crate) struct Between {
    /// The transport between the processes: tcp-tls, unix, shm, or tcp-insecure to measure what TLS
    /// costs
    #[arg(long, value_name = "NAME", default_value = "tcp-tls", value_parser = ["tcp-tls", "tcp-insecure", "unix", "shm"])]
    pub(crate) transport: String,
}

impl Between {
    /// Returns the transport, with a warning if others can read it.
    pub(crate) fn kind(&self) -> Result<TransportKind, Error> {
        if self.transport == "tcp-insecure" {
            log::warn("tcp-insecure hides nothing from other programs on this machine; it is for measuring");
        }
        Ok(self.transport.parse()?)
    }
}

/// Returns the network that `--net` names.
pub(crate) fn net(text: &str) -> Result<Shape, Error> {
    text.parse().map_err(|e| match e {
        NetError::Config { what, .. } => Error::Usage(format!("--net: {what}")),
        other => Error::Usage(other.to_string()),
    })
}
