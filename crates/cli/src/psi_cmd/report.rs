//! The result and the cost of `local psi`.

use super::PsiArgs;
use crate::{
    error::Error,
    run_report::OfMember,
    size,
    supervisor::OfProcess,
    told::{PsiReport, Told},
};
use hushwire_aes::Backend;
use hushwire_job::{Common, Intersection, PsiTask};
use serde::Serialize;

/// The result as a file: a number, the items, or A's rows with a flag each. Both parties must have found the same.
pub(super) fn result(ended: &[OfProcess<Intersection>]) -> Result<Vec<u8>, Error> {
    let differ = || {
        let cause = "the parties found different things".to_owned();
        Error::internal("comparing results", cause)
    };
    let [a, b] = ended else { return Err(differ()) };
    let sorted = |items: &[String]| {
        let mut items = items.to_vec();
        items.sort_unstable();
        items
    };
    let [a, b] = [a, b].map(|process| &process.outcome.learnt);
    let same = match (&a.common, &b.common) {
        (Common::Items(a), Common::Items(b)) => sorted(a) == sorted(b),
        (Common::Flags(_), Common::Nothing) => true,
        (a, b) => a == b,
    };
    a.text.clone().filter(|_| same).ok_or_else(differ)
}

/// The report; its fields are the JSON's.
#[derive(Serialize)]
pub(super) struct Report {
    command: &'static str,
    version: &'static str,
    #[serde(flatten)]
    of_kind: PsiReport,
    /// The whole command, until the result was there.
    seconds: f64,
    transport: String,
    aes_tier: &'static str,
    parties: Vec<OfMember>,
}

impl Report {
    pub(super) fn new(
        args: &PsiArgs,
        task: &PsiTask,
        backend: Backend,
        ended: &[OfProcess<Intersection>],
        seconds: f64,
    ) -> Self {
        let parties = ["a", "b"].iter().zip(ended);
        Report {
            command: "local psi",
            version: env!("CARGO_PKG_VERSION"),
            of_kind: task.report(&ended[0].outcome.learnt),
            seconds,
            transport: args.between.transport.clone(),
            aes_tier: backend.tier().name(),
            parties: parties.map(|(name, process)| OfMember::of((*name).to_owned(), process)).collect(),
        }
    }

    /// A few lines.
    pub(super) fn for_people(&self) -> String {
        let PsiReport { reveal, circuit, protocol, scheme, keys: [a, b], found, value_bits, ands, .. } =
            &self.of_kind;
        let what = match (*reveal, found.unwrap_or_default()) {
            ("flags", found) => format!("{found} of party A's rows have a key that is in both files"),
            (_, 1) => "1 key is in both files".to_owned(),
            (_, found) => format!("{found} keys are in both files"),
        };
        let with = scheme.map_or_else(String::new, |scheme| format!(" ({scheme})"));
        let sent: Vec<_> = self.parties.iter().map(|p| size::show(p.bytes_sent)).collect();
        let memory = self.parties.iter().filter_map(|p| p.peak_memory_bytes).max();
        format!(
            "{what}: {a} different keys at A, {b} at B\n\
             computed with {protocol}{with} and the circuit {circuit}: {ands} ANDs on values of {value_bits} bits, {:.2} s\n\
             sent: {} by A, {} by B, over {} in {} rounds; memory a process: {}",
            self.seconds,
            sent[0],
            sent[1],
            self.transport,
            self.parties.iter().map(|p| p.rounds).max().unwrap_or_default(),
            memory.map_or("unknown".to_owned(), size::show)
        )
    }
}
