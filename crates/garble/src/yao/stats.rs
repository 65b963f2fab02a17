//! The work of a party so far, for reports.

use crate::{Batches, GarbleError, Tables};
use std::time::{Duration, Instant};

/// Counts of a party since it was opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Runs that ended well.
    pub runs: u64,
    /// AND gates, of all instances.
    pub ands: u64,
    /// Bytes of tables that were sent or received.
    pub table_bytes: u64,
    /// Hash batches of ANDs.
    pub batches: Batches,
    /// The time of the set-up, OTs included.
    pub setup: Duration,
    /// In the last run with tables, how long it took until the first were wanted (garbler) or had come (evaluator).
    pub first_gate: Duration,
}

/// Tables that are counted and timed.
pub(super) struct Watched<'s, T> {
    pub(super) tables: T,
    stats: &'s mut Stats,
    begun: Option<Instant>,
}

impl<'s, T: Tables> Watched<'s, T> {
    /// The record of a run that began at `begun`.
    pub(super) fn new(tables: T, begun: Instant, stats: &'s mut Stats) -> Self {
        Watched { tables, stats, begun: Some(begun) }
    }
}

impl<T: Tables> Tables for Watched<'_, T> {
    fn next(&mut self, len: usize) -> Result<&mut [u8], GarbleError> {
        let bytes = self.tables.next(len)?;
        self.stats.table_bytes += len as u64;
        if let Some(begun) = self.begun.take() {
            self.stats.first_gate = begun.elapsed();
        }
        Ok(bytes)
    }
}
