//! The comparison of the parties' terms and computations, as BLAKE3 digests, before they compute.
//! Terms are compared once, in the set-up; the computation is compared before each run. A run that
//! repeats the last one saves a round trip.

use super::{Terms, job::Job};
use crate::{GarbleError, Role};
use hushwire_machine::drive::Talk;
use hushwire_ot::Context;

/// A hash of everything that both parties must have in common.
pub(super) type Digest = [u8; 32];

/// AGREEMENT: everything on which an opening depends, and the role of the sender.
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

/// AGREEMENT: everything on which a run depends.
pub(super) fn run_digest(job: &Job<'_>, terms: Terms) -> Digest {
    let mut hash = blake3::Hasher::new_derive_key("hushwire yao run v1");
    hash.update(&job.program.digest());
    hash.update(&(job.instances as u64).to_le_bytes());
    for name in [terms.scheme.agreed(), terms.ot.name()] {
        hash.update(&(name.len() as u64).to_le_bytes());
        hash.update(name.as_bytes());
    }
    // One byte for each input and each output; their numbers are in the program's digest.
    for owner in &job.roles.owners {
        hash.update(&[*owner as u8]);
    }
    for learns in &job.roles.learns {
        hash.update(&learns.map(u8::from));
    }
    *hash.finalize().as_bytes()
}

/// Refuses a digest that differs from the expected one.
pub(super) fn compare(expected: &Digest, heard: &[u8], what: &'static str) -> Result<(), GarbleError> {
    if heard == expected { Ok(()) } else { Err(mismatch(what)) }
}

/// The error for parties with different terms or computations.
pub(super) const fn mismatch(what: &'static str) -> GarbleError {
    GarbleError::Mismatch { peer: None, what }
}

/// The name of the terms in errors of [`compare`].
pub(super) const TERMS: &str =
    "the terms: session, scheme or its revision (its release), OT protocol, or who garbles";
/// The name of a computation in errors of [`compare`].
pub(super) const COMPUTATION: &str =
    "the computation: circuit, owners of inputs, recipients of outputs, or instances";

/// The number of bytes of a digest's message.
pub(super) const DIGEST: usize = 32;
const STEP: &str = "Yao circuit digest";

/// The agreement on the last run, which the next run may repeat.
#[derive(Default)]
pub(super) struct Agreed {
    last: Option<Digest>,
    /// The number of OTs of the last run.
    pub(super) choices: usize,
}

impl Agreed {
    /// Whether a run with this digest repeats the last one. If so, the evaluator's choices follow
    /// its digest at once, and the garbler's digest comes with the tables.
    pub(super) fn repeats(&self, digest: &[u8]) -> bool {
        self.last.is_some_and(|last| last == digest)
    }

    /// Whether there was no run yet.
    pub(super) fn is_first(&self) -> bool {
        self.last.is_none()
    }

    /// Remembers the digest on which both parties agree.
    pub(super) fn remember(&mut self, digest: Digest, job: &Job<'_>) {
        (self.last, self.choices) = (Some(digest), job.input_wires(Role::Evaluator));
    }

    /// Exchanges the digests, in this role. Before a repeated run, the garbler waits until the
    /// evaluator has finished the last one.
    pub(super) async fn exchange(&self, talk: &Talk, digest: &Digest, role: Role) -> Vec<u8> {
        let own = digest.to_vec();
        match (self.repeats(digest), role) {
            (false, _) => talk.exchange(STEP, own, DIGEST).await,
            (true, Role::Garbler) => talk.exchange("evaluation of garbled tables", vec![], DIGEST).await,
            (true, Role::Evaluator) => talk.exchange(STEP, own, 0).await,
        }
    }

    /// Sends the garbler's digest if the evaluator requested a different run and did not wait.
    pub(super) async fn tell(talk: &Talk, digest: &Digest) {
        talk.exchange(STEP, digest.to_vec(), 0).await;
    }
}
