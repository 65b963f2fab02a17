//! The result and the cost of `local psi`.

use super::PsiArgs;
use crate::{
    error::Error,
    run_report::OfMember,
    size,
    supervisor::OfProcess,
    told::{PsiReport, Told},
};
use hushwire::job::{Intersection, PsiTask};
use hushwire_aes::Backend;
use hushwire_psi::PsiSide;
use serde::Serialize;

/// The result of `side` as it is printed, `None` where it is in a file. Both parties must have found as many keys.
pub(super) fn result(ended: &[OfProcess<Intersection>], side: PsiSide) -> Result<Option<Vec<u8>>, Error> {
    let differ = || {
        let cause = "the parties found different things".to_owned();
        Error::internal("comparing results", cause)
    };
    let found: Vec<u64> = ended.iter().filter_map(|process| process.outcome.learnt.found).collect();
    let own = ended.get(usize::from(side == PsiSide::B)).ok_or_else(differ)?;
    match found.as_slice() {
        [first, rest @ ..] if rest.iter().all(|found| found == first) => Ok(own.outcome.learnt.text.clone()),
        _ => Err(differ()),
    }
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
    /// Whether it speaks of B's rows.
    #[serde(skip)]
    of_b: bool,
}

impl Report {
    pub(super) fn new(
        args: &PsiArgs,
        task: &PsiTask,
        backend: Backend,
        ended: &[OfProcess<Intersection>],
        side: PsiSide,
        seconds: f64,
    ) -> Self {
        let parties = ["a", "b"].iter().zip(ended);
        Report {
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

    /// A few lines.
    pub(super) fn for_people(&self) -> String {
        let PsiReport {
            reveal,
            method,
            security,
            store,
            protocol,
            scheme,
            keys: [a, b],
            found,
            sum,
            columns,
            value_bits,
            ands,
            ..
        } = &self.of_kind;
        let what = match (reveal.as_str(), found.unwrap_or_default()) {
            ("flags", found) => {
                let side = if self.of_b { "B" } else { "A" };
                format!("{found} of party {side}'s rows have a key that is in both files")
            }
            (_, found) if sum.is_some() => {
                format!("{found} keys are in both files, and their rows come to {}", sum.unwrap_or_default())
            }
            (_, 1) => "1 key is in both files".to_owned(),
            (_, found) => format!("{found} keys are in both files"),
        };
        let what = columns.as_ref().map_or(what.clone(), |columns| {
            let other = if self.of_b { "A" } else { "B" };
            format!("{what}, with party {other}'s {}", columns.join(", "))
        });
        let with = scheme.map_or_else(String::new, |scheme| format!(" ({scheme})"));
        let how = match protocol {
            Some(protocol) => {
                format!(
                    "{protocol}{with} and the circuit {method}: {ands} ANDs on values of {value_bits} bits"
                )
            }
            None => {
                let store = store.map_or_else(String::new, |store| format!(", {store} store"));
                format!("{method} ({security}{store}), values of {value_bits} bits")
            }
        };
        let sent: Vec<_> = self.parties.iter().map(|p| size::show(p.bytes_sent)).collect();
        let memory = self.parties.iter().filter_map(|p| p.peak_memory_bytes).max();
        format!(
            "{what}: {a} different keys at A, {b} at B\n\
             computed with {how}, {:.2} s\n\
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
