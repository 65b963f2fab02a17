//! Sealed results at their recipient, which has the job and three shares.

use crate::{
    compute::Extent,
    job::{Job, Visitor},
    kind::{Runs, Words},
};
use hushwire_compute::{Scalar, Tensor};
use hushwire_fault::code;
use hushwire_session::{
    Fault, Member, SealedOutput, SealedShare, open_shares,
    sealed::{OPENING, SealedValue},
};
use std::collections::BTreeMap;

/// A result that was opened from three sealed shares.
pub struct OpenedResult {
    /// The text that the command line prints.
    pub text: Vec<u8>,
    /// The result as CSV files, by the name of the output; a query's output is `result`.
    pub csv: BTreeMap<String, Vec<u8>>,
    /// The result for programs, as in a member's report.
    pub json: serde_json::Value,
}

/// The outputs of a computation by name.
///
/// # Errors
/// The values do not have the declared form.
pub(crate) fn tensors(values: &[SealedValue]) -> Result<BTreeMap<String, Tensor>, Fault> {
    let one = |(output, value): &SealedValue| {
        let SealedOutput { name, scalar, lengths, bytes, .. } = output;
        let odd = || {
            let cause =
                format!("output {name} is of {scalar} along {lengths:?} in {bytes} bytes, which is none");
            Fault::new(code::SEALED_DIFFERS, OPENING, cause, "open it with the release that made it")
        };
        let scalar = Scalar::parse(scalar).ok_or_else(odd)?;
        let extent = Extent::sealed(scalar, lengths, output.addition()).ok_or_else(odd)?;
        if extent.bytes() != *bytes {
            return Err(odd());
        }
        Ok((name.clone(), Tensor::from_records(scalar, lengths, &extent.opened(value))))
    };
    values.iter().map(one).collect()
}

impl Job {
    /// Opens a recipient's result; `shares` come from parties 0, 1 and 2.
    ///
    /// # Errors
    /// A share does not belong to the run, and the error names the party that changed it. Or the
    /// result is another job's, or a promise of a query is broken.
    pub fn open_sealed(&self, recipient: &str, shares: &[SealedShare; 3]) -> Result<OpenedResult, Fault> {
        struct SealedOpening<'s>(&'s [SealedValue]);
        impl Visitor for SealedOpening<'_> {
            type Out = Result<OpenedResult, Fault>;
            fn visit<K: Runs>(self, job: &K) -> Self::Out {
                let task = job.task()?;
                let (learnt, csv) = K::opened(&task, self.0)?;
                let json = serde_json::to_value(task.report(&learnt));
                let json = json.map_err(|e| Fault::internal(OPENING, e))?;
                Ok(OpenedResult { text: task.printed(&learnt), csv, json })
            }
        }
        self.visit(SealedOpening(&open_shares(recipient, shares)?))?
    }

    /// The names of the data sets whose shares the parties must hold.
    ///
    /// # Errors
    /// The job cannot be planned.
    pub fn data_sets(&self) -> Result<Vec<String>, Fault> {
        self.absent(|member| matches!(member, Member::Data(_)))
    }

    /// The names of the recipients that are not connected.
    ///
    /// # Errors
    /// The job cannot be planned.
    pub fn recipients(&self) -> Result<Vec<String>, Fault> {
        self.absent(|member| matches!(member, Member::Recipient(_)))
    }

    fn absent(&self, is: fn(&Member) -> bool) -> Result<Vec<String>, Fault> {
        struct Absent;
        impl Visitor for Absent {
            type Out = Result<Vec<Member>, Fault>;
            fn visit<K: Runs>(self, job: &K) -> Self::Out {
                Ok(K::absent(&job.task()?))
            }
        }
        let mut names: Vec<String> = self
            .visit(Absent)??
            .iter()
            .filter(|m| is(m))
            .filter_map(|m| Some(m.name()?.to_owned()))
            .collect();
        names.sort();
        names.dedup();
        Ok(names)
    }
}
