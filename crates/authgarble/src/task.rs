//! The task that parties agree to garble: a circuit and its number of instances, with roles and
//! form. The parties compare the digests of their tasks before they garble.

use crate::{Roles, half, stock::Need, wrk};
use hushwire_circuit::Program;
use hushwire_ot::Context;
use std::ops::Range;

/// AGREEMENT: the number of ANDs whose tables travel in one message. While one message is on its
/// way, the tables of the next are garbled.
const PIECE: usize = 1 << 12;

/// The form of garbled ANDs, for any number of parties.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Form {
    /// Four rows of n blocks from every garbler, each with its MAC (WRK17b).
    Rows,
    /// 3 n − 4 blocks from every garbler and a bit from one, all checked at once: KRRW18 between
    /// two parties, YWZ20 among more.
    HalfGates,
}

impl Form {
    /// Both forms.
    pub const ALL: [Form; 2] = [Form::Rows, Form::HalfGates];

    /// The default form among `n` parties.
    #[must_use]
    pub fn best(n: usize) -> Form {
        if n == 2 { Form::HalfGates } else { Form::Rows }
    }

    /// The number of bytes of `garbler`'s tables of `ands` ANDs among `n` parties.
    #[must_use]
    pub fn table_bytes(self, [garbler, n]: [usize; 2], ands: usize) -> usize {
        match self {
            Form::Rows => ands * wrk::table_bytes(n),
            Form::HalfGates => half::table_bytes([garbler, n], ands),
        }
    }

    /// The name that users write for this form among `n` parties.
    #[must_use]
    pub fn name(self, n: usize) -> &'static str {
        match self {
            Form::Rows => "wrk17",
            Form::HalfGates if n == 2 => "krrw18",
            Form::HalfGates => "ywz20",
        }
    }
}

/// The ANDs whose tables travel in each message.
pub(crate) fn pieces(ands: usize) -> impl Iterator<Item = Range<usize>> {
    (0..ands).step_by(PIECE).map(move |from| from..ands.min(from + PIECE))
}

/// A circuit, its instances and its roles, as parties agree on them.
#[derive(Clone)]
pub struct Task {
    pub(crate) program: Program,
    pub(crate) roles: Roles,
    pub(crate) instances: usize,
    pub(crate) form: Form,
}

impl Task {
    /// # Panics
    /// If `instances` is 0 (the caller's bug).
    #[must_use]
    pub fn new(program: &Program, roles: Roles, instances: usize, form: Form) -> Task {
        assert!(instances > 0, "a run has at least one instance");
        Task { program: program.clone(), roles, instances, form }
    }

    /// The part of a stock that this task takes.
    #[must_use]
    pub fn need(&self) -> Need {
        let triples = self.program.ands() * self.instances as u64;
        Need { triples, masks: triples + (self.program.input_bits() * self.instances) as u64 }
    }

    /// The digest of circuit, roles, instances, form and number of parties. It is equal if and only
    /// if the same task is about to run.
    #[must_use]
    pub fn name(&self) -> [u8; 32] {
        let n = self.roles.learns.first().map_or(0, Vec::len);
        self.hash(blake3::Hasher::new_derive_key("hushwire authgarble task name v1"), n)
    }

    /// The digest of the task in a session.
    pub(crate) fn digest(&self, context: &Context, n: usize) -> [u8; 32] {
        let mut hash = blake3::Hasher::new_derive_key("hushwire authgarble task v1");
        hash.update(&context.sid.0);
        self.hash(hash, n)
    }

    fn hash(&self, mut hash: blake3::Hasher, n: usize) -> [u8; 32] {
        let form = match self.form {
            Form::Rows => 0,
            // 1 and 2 belonged to two-party forms.
            Form::HalfGates => 3,
        };
        for word in [n, self.instances, form] {
            hash.update(&(word as u64).to_le_bytes());
        }
        hash.update(&self.program.digest());
        for owner in &self.roles.owners {
            hash.update(&[*owner as u8]);
        }
        for learns in self.roles.learns.iter().flatten() {
            hash.update(&[u8::from(*learns)]);
        }
        *hash.finalize().as_bytes()
    }
}
