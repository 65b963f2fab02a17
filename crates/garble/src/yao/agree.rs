//! The comparison of the parties' terms before they compute.

use super::{Terms, job::Job};
use crate::{GarbleError, Role};
use hushwire_ot::Context;
use hushwire_wire::Channel;

/// A hash of what both parties must have alike.
pub(super) type Digest = [u8; 32];

/// AGREEMENT: everything that an opening depends on, and who speaks.
pub(super) fn terms_digest(context: &Context, terms: Terms, role: Role) -> Digest {
    let mut hash = blake3::Hasher::new_derive_key("hushwire yao terms v1");
    hash.update(&context.sid.0);
    for name in [terms.scheme.agreed(), terms.ot.name()] {
        hash.update(&(name.len() as u64).to_le_bytes());
        hash.update(name.as_bytes());
    }
    hash.update(&[super::job::party(role) as u8]);
    *hash.finalize().as_bytes()
}

/// AGREEMENT: everything that a run depends on.
pub(super) fn run_digest(job: &Job<'_>, terms: Terms) -> Digest {
    let mut hash = blake3::Hasher::new_derive_key("hushwire yao run v1");
    hash.update(&job.program.digest());
    hash.update(&(job.instances as u64).to_le_bytes());
    for name in [terms.scheme.agreed(), terms.ot.name()] {
        hash.update(&(name.len() as u64).to_le_bytes());
        hash.update(name.as_bytes());
    }
    // One byte an input and one an output; how many there are is in the program's digest.
    for owner in &job.roles.owners {
        hash.update(&[*owner as u8]);
    }
    for learns in &job.roles.learns {
        hash.update(&learns.map(u8::from));
    }
    *hash.finalize().as_bytes()
}

/// Parties that open: terms alike, roles not.
pub(super) fn greet(
    channel: &mut Channel,
    role: Role,
    digest: impl Fn(Role) -> Digest,
) -> Result<(), GarbleError> {
    let other = match role {
        Role::Garbler => Role::Evaluator,
        Role::Evaluator => Role::Garbler,
    };
    let mut theirs = [0; 32];
    channel.exchange("Yao terms", &digest(role), &mut theirs)?;
    compare(
        channel,
        &digest(other),
        &theirs,
        "the terms: session, scheme or its revision (its release), OT protocol, or who garbles",
    )
}

/// The record of a party's runs, from which the next one follows.
#[derive(Default)]
pub(super) struct Agreed {
    last: Option<Digest>,
    /// Bytes of tables of that run.
    pub(super) tables: u64,
    /// OTs of that run.
    pub(super) choices: usize,
}

/// The meaning of the evaluator's digest.
pub(super) enum Heard {
    /// It is ours; whether the evaluator has ours, or waits for it before the tables.
    Same { owes: bool },
    /// It is another; whether it is that of the run before, so that choices follow it.
    Other { repeats: bool },
}

const STEP: &str = "Yao circuit digest";
/// The garbler's wait for the digest of a run as the one before: the evaluator sends it when it has done that one.
const EVALUATION: &str = "evaluation of garbled tables";
/// The evaluator's wait for the garbler's digest of such a run, which comes with the tables.
const TABLES: &str = "garbled tables";
const WHAT: &str = "the computation: circuit, owners of inputs, recipients of outputs, or instances";

impl Agreed {
    /// The garbler's side, before the OTs.
    pub(super) fn hear(&self, channel: &mut Channel, ours: &Digest) -> Result<Heard, GarbleError> {
        let mut theirs = [0; 32];
        let owes = self.is_known(ours);
        if owes {
            channel.recv(EVALUATION, &mut theirs)?;
        } else {
            channel.exchange(STEP, ours, &mut theirs)?;
        }
        if theirs == *ours {
            return Ok(Heard::Same { owes });
        }
        if owes {
            channel.send(STEP, ours)?;
        }
        Ok(Heard::Other { repeats: self.is_known(&theirs) })
    }

    /// The error of parties that run different things.
    pub(super) fn mismatch(channel: &Channel) -> GarbleError {
        GarbleError::Mismatch { peer: channel.from().or(channel.to()), what: WHAT }
    }

    /// The garbler's side, before the tables.
    pub(super) fn answer(channel: &mut Channel, ours: &Digest) -> Result<(), GarbleError> {
        Ok(channel.send(TABLES, ours)?)
    }

    /// The evaluator's side, before the OTs. True if the garbler's digest comes before the tables.
    pub(super) fn ask(&self, channel: &mut Channel, ours: &Digest) -> Result<bool, GarbleError> {
        if self.is_known(ours) {
            channel.send(STEP, ours)?;
            return Ok(true);
        }
        let mut theirs = [0; 32];
        channel.exchange(STEP, ours, &mut theirs)?;
        compare(channel, ours, &theirs, WHAT)?;
        Ok(false)
    }

    /// The evaluator's side, before the tables.
    pub(super) fn hear_answer(channel: &mut Channel, ours: &Digest) -> Result<(), GarbleError> {
        let mut theirs = [0; 32];
        channel.recv(TABLES, &mut theirs)?;
        compare(channel, ours, &theirs, WHAT)
    }

    pub(super) fn is_known(&self, digest: &Digest) -> bool {
        self.last.as_ref() == Some(digest)
    }

    /// Both have this digest; its tables have so many bytes.
    pub(super) fn remember(&mut self, digest: Digest, job: &Job<'_>, tables: impl FnOnce() -> u64) {
        if !self.is_known(&digest) {
            (self.last, self.tables) = (Some(digest), tables());
            self.choices = job.input_wires(Role::Evaluator);
        }
    }
}

fn compare(channel: &Channel, ours: &Digest, theirs: &Digest, what: &'static str) -> Result<(), GarbleError> {
    if ours == theirs {
        return Ok(());
    }
    Err(GarbleError::Mismatch { peer: channel.from().or(channel.to()), what })
}
