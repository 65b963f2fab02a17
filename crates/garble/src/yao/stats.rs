//! The work of a party so far, for reports.

use super::{chunks::Chunks, job::Job};
use crate::Batches;
use std::time::{Duration, Instant};

/// Counts of a party since it was opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Runs that succeeded.
    pub runs: u64,
    /// AND gates, of all instances.
    pub ands: u64,
    /// Bytes of tables that were sent or received.
    pub table_bytes: u64,
    /// Hash batches of ANDs.
    pub batches: Batches,
    /// The time of the set-up, OTs included.
    pub setup: Duration,
    /// The time in the last run with tables until the first tables were needed (garbler) or had
    /// arrived (evaluator).
    pub first_gate: Duration,
}

/// The record of a run from its start.
pub(super) struct Clock<'p> {
    stats: &'p mut Stats,
    begun: Instant,
}

impl<'p> Clock<'p> {
    pub(super) fn begin(stats: &'p mut Stats) -> Self {
        Clock { stats, begun: Instant::now() }
    }

    /// Records that a message of tables is needed, or has arrived.
    pub(super) fn tables(&mut self, chunks: &Chunks<'_>) {
        if chunks.sent == 0 && chunks.bytes > 0 {
            self.stats.first_gate = self.begun.elapsed();
        }
        self.stats.table_bytes += chunks.bytes as u64;
    }

    /// Records that the last gate is done; this party's endpoint has run `batches` in its life.
    pub(super) fn done(&mut self, job: &Job<'_>, batches: Batches) {
        self.stats.ands += job.program.ands() * job.instances as u64;
        self.stats.batches = batches;
    }

    /// Records that the run has succeeded.
    pub(super) fn end(&mut self) {
        self.stats.runs += 1;
    }
}
