//! The texts and report fields of preprocessing that is made ahead of runs.

use crate::kind::Words;
use hushwire_session::{Agreement, Phase, Preparation, Protocol};
use serde::Serialize;

/// Fields of preprocessing in a member's report.
#[derive(Serialize)]
pub struct PreparationReport {
    /// The circuit, of a job of kind circuit.
    #[serde(skip_serializing_if = "Option::is_none")]
    circuit: Option<String>,
    /// The computation, of a job of any other kind.
    #[serde(skip_serializing_if = "Option::is_none")]
    computation: Option<String>,
    protocol: Protocol,
    /// The last phase that was made.
    up_to: &'static str,
    /// The number of runs that it serves.
    runs: u32,
    /// The number of files that were made.
    stocks: u64,
}

impl Words for Preparation {
    type Report = PreparationReport;

    fn extent(&self) -> (u64, &'static str) {
        (1, "stocks")
    }

    fn warnings(&self) -> Vec<String> {
        self.warnings.clone()
    }

    fn work(&self, _: &u64) -> String {
        let plural = if self.times == 1 { "" } else { "s" };
        let (times, what) = (self.times, &self.job.title);
        match self.up_to {
            Phase::FunctionIndependent => format!("preprocessing for {times} run{plural} of {what}"),
            Phase::FunctionDependent => format!("garbled circuits for {times} run{plural} of {what}"),
        }
    }

    fn report(&self, learnt: &u64) -> PreparationReport {
        let Agreement { kind, title, protocol, .. } = self.job.clone();
        let (circuit, computation) =
            if kind == "circuit" { (Some(title), None) } else { (None, Some(title)) };
        let (up_to, runs, stocks) = (self.up_to.name(), self.times, *learnt);
        PreparationReport { circuit, computation, protocol, up_to, runs, stocks }
    }
}
