//! The comparison of the parties' terms before they compute.

use super::{Terms, job::Job};
use crate::{GarbleError, Role};
use hushwire_machine::drive::Talk;
use hushwire_ot::Context;

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

/// Refuses another digest than was expected.
pub(super) fn compare(expected: &Digest, heard: &[u8], what: &'static str) -> Result<(), GarbleError> {
    if heard == expected { Ok(()) } else { Err(mismatch(what)) }
}

/// The error of parties that are not given the same.
pub(super) const fn mismatch(what: &'static str) -> GarbleError {
    GarbleError::Mismatch { peer: None, what }
}

/// The terms, in errors of [`compare`].
pub(super) const TERMS: &str =
    "the terms: session, scheme or its revision (its release), OT protocol, or who garbles";
/// A run, in errors of [`compare`].
pub(super) const COMPUTATION: &str =
    "the computation: circuit, owners of inputs, recipients of outputs, or instances";

/// Bytes of a digest's message.
pub(super) const DIGEST: usize = 32;
const STEP: &str = "Yao circuit digest";

/// A party's run, and the one before, from which it may follow.
#[derive(Default)]
pub(super) struct Agreed {
    last: Option<Digest>,
    /// OTs of that run.
    pub(super) choices: usize,
}

impl Agreed {
    /// Whether this is the run before once more: then the evaluator's choices follow its digest at
    /// once, and the garbler's comes with the tables.
    pub(super) fn repeats(&self, digest: &[u8]) -> bool {
        self.last.is_some_and(|last| last == digest)
    }

    /// Whether no run was before.
    pub(super) fn is_first(&self) -> bool {
        self.last.is_none()
    }

    /// Both have this digest.
    pub(super) fn remember(&mut self, digest: Digest, job: &Job<'_>) {
        (self.last, self.choices) = (Some(digest), job.input_wires(Role::Evaluator));
    }

    /// The digests, at this role. Before a run as the one before, the garbler waits until the
    /// evaluator has done that one.
    pub(super) async fn exchange(&self, talk: &Talk, digest: &Digest, role: Role) -> Vec<u8> {
        let own = digest.to_vec();
        match (self.repeats(digest), role) {
            (false, _) => talk.exchange(STEP, own, DIGEST).await,
            (true, Role::Garbler) => talk.exchange("evaluation of garbled tables", vec![], DIGEST).await,
            (true, Role::Evaluator) => talk.exchange(STEP, own, 0).await,
        }
    }

    /// The garbler's digest, where the evaluator asked for another run and did not wait.
    pub(super) async fn tell(talk: &Talk, digest: &Digest) {
        talk.exchange(STEP, digest.to_vec(), 0).await;
    }
}
