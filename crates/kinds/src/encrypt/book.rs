//! The ledger of a run that uses up counters. They are reserved before the run uses any, and marked
//! as written before the result gets its name.

use super::{
    cut::AesCtrTerms,
    key_dir::{KeyDir, Locked},
    ledger::{CounterRange, GIVEN, Ledger, now},
};
use hushwire_session::Fault;
use hushwire_session::Iv;

/// A ledger, locked against other runs until the key and its counters are chosen.
pub(super) struct Book {
    // The lock is dropped before the directory, which then tidies up.
    lock: Option<Locked>,
    dir: KeyDir,
    ledger: Ledger,
    /// The absolute name of the output, which identifies the range in the ledger.
    out: String,
}

impl Book {
    /// Opens the `ledger` of `dir`, read under `lock`, for a run that writes the file with the
    /// absolute name `out`.
    pub(super) fn new(dir: KeyDir, ledger: Ledger, lock: Locked, out: String) -> Self {
        Self { dir, ledger, lock: Some(lock), out }
    }

    /// Puts the counters of `terms` into the ledger. It is on the disk when this function returns.
    pub(super) fn reserve(&mut self, terms: &AesCtrTerms) -> Result<(), Fault> {
        let Some(lock) = &self.lock else {
            return Err(Fault::internal("reserving counters", "the ledger is open to others"));
        };
        if let Some(id) = &terms.key_id {
            self.ledger.key_id = Some(id.clone());
        }
        self.ledger.ranges.push(CounterRange {
            iv: terms.iv,
            blocks: terms.blocks(),
            bytes: terms.bytes,
            out: self.out.clone(),
            date: now(),
            key_id: terms.key_id.clone().unwrap_or_else(|| GIVEN.into()),
            written: false,
            digest: None,
        });
        self.dir.write_ledger(&self.ledger, lock)
    }

    /// Lets other runs choose their counters.
    pub(super) fn unlock(&mut self) {
        self.lock = None;
    }

    /// Records the digest of the output just before the file gets its name, so that decryption
    /// finds its counter.
    pub(super) fn written(&self, iv: Iv, digest: Option<String>) -> Result<(), Fault> {
        // Other runs may have written to it since.
        let lock = self.dir.lock()?;
        let mut ledger = self.dir.ledger()?.ok_or_else(|| {
            let cause = "it was there when the run began, and has gone";
            Fault::file("write", &self.dir.path().join("ledger.json"), cause, "restore it, and run again")
        })?;
        let ours = |r: &&mut CounterRange| r.iv == iv && r.out == self.out && !r.written;
        if let Some(range) = ledger.ranges.iter_mut().rev().find(ours) {
            range.written = true;
            range.digest = digest;
        }
        self.dir.write_ledger(&ledger, &lock)
    }
}
