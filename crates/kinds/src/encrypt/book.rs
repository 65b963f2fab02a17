//! The ledger of a run that uses up counters: reserved before any of them is used, completed before
//! the result has its name.

use super::{
    cut::AesCtrTerms,
    key_dir::{KeyDir, Locked},
    ledger::{CounterRange, GIVEN, Ledger, now},
};
use hushwire_session::Fault;
use hushwire_session::Iv;

/// A ledger, held against other runs until the key and its counters are chosen.
pub(super) struct Book {
    // Let go before the directory, which is tidied then.
    lock: Option<Locked>,
    dir: KeyDir,
    ledger: Ledger,
    /// The absolute name of the output, which identifies the range in the ledger.
    out: String,
}

impl Book {
    /// The `ledger` of `dir`, read under `lock`, for a run that writes the file of absolute name
    /// `out`.
    pub(super) fn new(dir: KeyDir, ledger: Ledger, lock: Locked, out: String) -> Self {
        Self { dir, ledger, lock: Some(lock), out }
    }

    /// Puts the counters of `terms` into the ledger; it is on the disk when this returns.
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

    /// Lets other runs choose.
    pub(super) fn unlock(&mut self) {
        self.lock = None;
    }

    /// Notes the digest of the output just before it gets its name, so that its counter is found
    /// when it is decrypted.
    pub(super) fn written(&self, iv: Iv, digest: Option<String>) -> Result<(), Fault> {
        // Others may have written meanwhile.
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
