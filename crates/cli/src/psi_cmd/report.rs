//! The result and the cost of `local psi`.

use super::PsiArgs;
use crate::{error::Error, run_report::OfMember, supervisor::OfProcess};
use hushwire::job::{Intersection, PsiReport, PsiTask, Words, size};
use hushwire_aes::Backend;
use hushwire_psi::PsiSide;
use serde::Serialize;

/// Returns the result of `side` in the form in which it is printed, or `None` if it is in a file.
///
/// # Errors
/// No party learned a number of common keys, or both did and the numbers differ.
pub(super) fn result(ended: &[OfProcess<Intersection>], side: PsiSide) -> Result<Option<Vec<u8>>, Error> {
    let differ = || Error::internal("comparing results", "the parties found different things".to_owned());
    let found: Vec<u64> = ended.iter().filter_map(|process| process.outcome.learnt.found).collect();
    let own = ended.get(usize::from(side == PsiSide::B)).ok_or_else(differ)?;
    match found.as_slice() {
        [first, rest @ ..] if rest.iter().all(|found| found == first) => Ok(own.outcome.learnt.text.clone()),
        _ => Err(differ()),
    }
}

/// The report. It has the fields of the JSON.
#[derive(Serialize)]
pub(super) struct IntersectionReport {
    command: &'static str,
    version: &'static str,
    #[serde(flatten)]
    of_kind: PsiReport,
    /// The seconds of the whole command, until the result was complete.
    seconds: f64,
    transport: String,
    aes_tier: &'static str,
    parties: Vec<OfMember>,
    /// Whether the result is about B's rows.
    #[serde(skip)]
    of_b: bool,
}

impl IntersectionReport {
    pub(super) fn new(
        args: &PsiArgs,
        task: &PsiTask,
        backend: Backend,
        ended: &[OfProcess<Intersection>],
        side: PsiSide,
        seconds: f64,
    ) -> Self {
        let parties = ["a", "b"].iter().zip(ended);
        IntersectionReport {
            command: "local psi",
            version: env!("CARGO_PKG_VERSION"),
            of_kind: task.report(&ended[usize::from(side == PsiSide::B)].outcome.learnt),
            of_b: side == PsiSide::B,
            seconds,
            transport: args.between.transport.clone(),
            aes_tier: backend.tier().name(),
            parties: parties.map(|(name, process)| OfMember::of((*name).to_owned(), process)).collect(),
        }
    }

    /// Returns three lines for people: the result, the method with its time, and the cost.
    pub(super) fn for_people(&self) -> String {
        let [what, how] = self.of_kind.lines(self.of_b);
        let [sent_by_a, sent_by_b] = [0, 1].map(|party| size::show(self.parties[party].bytes_sent));
        let memory = self.parties.iter().filter_map(|p| p.peak_memory_bytes).max();
        format!(
            "{what}\n\
             computed with {how}, {:.2} s\n\
             sent: {sent_by_a} by A, {sent_by_b} by B, over {} in {} rounds; memory a process: {}",
            self.seconds,
            self.transport,
            self.parties.iter().map(|p| p.rounds).max().unwrap_or_default(),
            memory.map_or("unknown".to_owned(), size::show)
        )
    }
}
