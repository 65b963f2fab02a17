//! The messages of a run's tables: their lengths follow from the program alone, so that the
//! evaluator works on one while the garbler makes the next, and neither holds more.

use super::{Terms, agree::DIGEST, job::Job};
use crate::{Cursor, Engine, GateBackend, Role, Stretch, Transfer};
use hushwire_machine::Cost;
use hushwire_ot::Level;

/// AGREEMENT: the longest message of tables when `sent` bytes were sent. Short ones at first, so
/// that the evaluator is at work early in a small circuit; long ones in a stream, for which they
/// are a tenth faster.
const fn longest(sent: u64) -> usize {
    if sent < 1 << 20 { 1 << 16 } else { 1 << 19 }
}

/// A run's tables, message by message. The last one brings the permute bits of the evaluator's
/// outputs.
#[derive(Clone)]
pub(super) struct Chunks<'p> {
    cursor: Cursor<'p>,
    /// Bytes of the messages before.
    pub(super) sent: u64,
    /// Bytes of tables in this message.
    pub(super) bytes: usize,
    is_last: bool,
    /// Bytes of permute bits at the end.
    permute: usize,
}

impl<'p> Chunks<'p> {
    pub(super) fn new<E: GateBackend>(job: &Job<'p>) -> Self {
        let cursor = Cursor::new::<E>(job.program, job.instances);
        let permute = job.output_bytes(Role::Evaluator);
        let mut chunks = Chunks { cursor, sent: 0, bytes: 0, is_last: false, permute };
        chunks.plan();
        chunks
    }

    fn plan(&mut self) {
        (self.bytes, self.is_last) = self.cursor.upcoming(longest(self.sent));
    }

    /// Bytes of this message.
    pub(super) fn len(&self) -> usize {
        self.bytes + if self.is_last { self.permute } else { 0 }
    }

    /// Runs on with this message. After the last one, the permute bits.
    pub(super) fn advance<'t, E: GateBackend>(
        &mut self,
        engine: &mut Engine<E>,
        wires: &mut [E::Wire],
        message: E::Bytes<'t>,
    ) -> Option<E::Bytes<'t>> {
        let (tables, permute) = message.split(self.bytes);
        engine.advance(&mut self.cursor, wires, tables);
        self.is_last.then_some(permute)
    }

    /// Goes on to the next message.
    pub(super) fn next(&mut self) {
        self.sent += self.bytes as u64;
        self.plan();
    }
}

/// All that a run's cost depends on.
pub(super) struct Declared<'p> {
    pub(super) chunks: Chunks<'p>,
    pub(super) job: Job<'p>,
    pub(super) terms: Terms,
    /// Whether the run before is run again, and whether there was none.
    pub(super) repeats: bool,
    pub(super) is_first: bool,
    pub(super) role: Role,
}

impl Declared<'_> {
    /// Unknown where its OTs draw on what is left of calls before.
    pub(super) fn cost<T: Transfer>(&self) -> Option<Cost> {
        let Declared { job, role, .. } = self;
        let choices = job.input_wires(Role::Evaluator);
        let digests = Cost { rounds: 1 + u64::from(self.repeats), bytes_sent: DIGEST as u64 };
        let ots = match choices {
            0 => Cost::default(),
            _ if self.is_first => {
                self.terms.ot.cost(Level::SemiHonest, T::FUNCTIONALITY, choices)[*role as usize]
            }
            _ => return None,
        };
        let outputs = job.output_bytes(Role::Garbler) as u64;
        let outputs = Cost { rounds: u64::from(outputs > 0), bytes_sent: outputs };
        let (mut tables, mut chunks) = (Cost::default(), self.chunks.clone());
        loop {
            let bytes = chunks.len() as u64;
            tables.rounds += u64::from(bytes > 0);
            tables.bytes_sent += bytes;
            if chunks.is_last {
                break;
            }
            chunks.cursor.skip(chunks.bytes);
            chunks.next();
        }
        let sent = if *role == Role::Garbler { tables.bytes_sent } else { outputs.bytes_sent };
        Some(Cost {
            rounds: digests.rounds + ots.rounds + tables.rounds + outputs.rounds,
            bytes_sent: digests.bytes_sent + ots.bytes_sent + sent,
        })
    }
}
