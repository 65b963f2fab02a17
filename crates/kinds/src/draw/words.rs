//! The texts and report fields of a draw.

use super::{DrawJob, DrawTask, Drawn, part::lines};
use crate::kind::{Runs, Words};
use hushwire_session::Fault;
use serde::Serialize;

impl Runs for DrawJob {
    type Task = DrawTask;

    fn task(&self) -> Result<DrawTask, Fault> {
        Ok(DrawTask::new(self))
    }
}

/// Fields of a draw in a member's report.
#[derive(Serialize)]
pub struct DrawReport {
    from: u64,
    to: u64,
    /// The numbers in the order in which they were drawn, if they did not go to a file.
    #[serde(skip_serializing_if = "Option::is_none")]
    numbers: Option<Vec<u64>>,
}

impl Words for DrawTask {
    type Report = DrawReport;

    fn extent(&self) -> (u64, &'static str) {
        (0, "numbers")
    }

    fn work(&self, _: &Drawn) -> String {
        format!("{} drawn", self.title())
    }

    fn printed(&self, learnt: &Drawn) -> Vec<u8> {
        learnt.numbers.as_deref().map(lines).unwrap_or_default()
    }

    fn report(&self, learnt: &Drawn) -> DrawReport {
        DrawReport { from: self.job().from, to: self.job().to, numbers: learnt.numbers.clone() }
    }
}
