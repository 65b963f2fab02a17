//! The messages of a run's tables. Their lengths follow from the program alone. The evaluator works
//! on one message while the garbler makes the next, and neither party holds more.

use super::{Terms, agree::DIGEST, job::Job};
use crate::{Cursor, Engine, GateBackend, Role, Stretch, Transfer};
use hushwire_machine::Cost;
use hushwire_ot::Level;

/// AGREEMENT: the length of the longest message of tables after `sent` bytes were sent. Messages
/// are short at first, so that the evaluator starts early in a small circuit. They are long in a
/// stream, which makes it a tenth faster.
const fn longest(sent: u64) -> usize {
    if sent < 1 << 20 { 1 << 16 } else { 1 << 19 }
}

/// A run's tables, message by message. The last message also has the permute bits of the
/// evaluator's outputs.
#[derive(Clone)]
pub(super) struct Chunks<'p> {
    cursor: Cursor<'p>,
    /// The number of bytes of the earlier messages.
    pub(super) sent: u64,
    /// The number of bytes of tables in this message.
    pub(super) bytes: usize,
    is_last: bool,
    /// The number of bytes of permute bits at the end.
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

    /// The number of bytes of this message.
    pub(super) fn len(&self) -> usize {
        self.bytes + if self.is_last { self.permute } else { 0 }
    }

    /// Continues the run with this message. Returns the permute bits if it is the last one.
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

    /// Moves on to the next message.
    pub(super) fn next(&mut self) {
        self.sent += self.bytes as u64;
        self.plan();
    }
}

/// Everything on which a run's cost depends.
pub(super) struct Declared<'p> {
    pub(super) chunks: Chunks<'p>,
    pub(super) job: Job<'p>,
    pub(super) terms: Terms,
    /// Whether the run repeats the one before it.
    pub(super) repeats: bool,
    /// Whether no run was before it.
    pub(super) is_first: bool,
    pub(super) role: Role,
}

impl Declared<'_> {
    /// The cost; `None` for a later run with OTs, which may use the rest of earlier calls.
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
