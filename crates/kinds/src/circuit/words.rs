//! The texts and report fields of a circuit's job.

use crate::{
    CircuitJob, CircuitPlan, Outputs, Prepared,
    kind::{JobKind, Runs, Words, inputs, quoted},
};
use hushwire_garble::Scheme;
use hushwire_session::{Fault, FromDisk, Member, Preparation, Protocol, toml_file::Section};
use serde::Serialize;
use std::collections::BTreeMap;

impl JobKind for CircuitJob {
    const NAME: &'static str = "circuit";
    const WHOSE: &'static str = "a circuit's";

    fn from_section(top: Section<'_>) -> Result<Self, Fault> {
        Self::from_section(top)
    }

    fn command(path: &str) -> String {
        format!("`hushwire local run {path}`")
    }

    fn lines_for(&self, me: &Member) -> Vec<String> {
        let own = self.inputs.iter().filter(|input| input.from == *me).map(|input| match &input.sample {
            Some(sample) if self.instances == 1 => {
                let place = format!("{} = {{ hex = \"{sample}\" }}", quoted(&input.name));
                format!("# The job's sample: put your own value here.\n{place}")
            }
            _ => format!("{} = {{ file = \"{}.bin\" }}", quoted(&input.name), input.name),
        });
        inputs(own.collect())
    }
}

impl Runs for CircuitJob {
    type Task = Prepared;

    fn task(&self) -> Result<Prepared, Fault> {
        Prepared::new(self)
    }

    fn ahead(&self, _: &BTreeMap<String, u64>, times: u32) -> Result<Option<Preparation>, Fault> {
        Preparation::new(&self.task()?, times).map(Some)
    }
}

/// The outputs with the names that the job gives them, in the job's order.
fn named(plan: &CircuitPlan, learnt: &Outputs) -> impl Iterator<Item = (String, String)> {
    learnt.digits.iter().map(|(j, digits)| (plan.outputs[*j].0.clone(), digits.clone()))
}

/// Fields of a circuit's job in a member's report.
#[derive(Serialize)]
pub struct CircuitReport {
    circuit: String,
    protocol: Protocol,
    /// The scheme of garbled gates, for protocol yao.
    scheme: Option<&'static str>,
    /// The OT extension of two parties.
    ot: Option<&'static str>,
    instances: u64,
    /// Hexadecimal digits by the output's name. Outputs that went to files are not included.
    outputs: BTreeMap<String, String>,
    /// AND gates of one instance.
    ands: u64,
    /// The number of threads that took phases of authgarble from disk. `None` if this party has no
    /// directory for them.
    #[serde(skip_serializing_if = "Option::is_none")]
    from_disk: Option<FromDisk>,
}

impl Words for Prepared {
    type Report = CircuitReport;

    fn extent(&self) -> (u64, &'static str) {
        (self.plan.instances, "instances")
    }

    fn work(&self, _: &Self::Learnt) -> String {
        let plural = if self.plan.instances == 1 { "" } else { "s" };
        format!("{} instance{plural} of {}", self.plan.instances, self.plan.circuit)
    }

    fn printed(&self, learnt: &Self::Learnt) -> Vec<u8> {
        named(&self.plan, learnt)
            .map(|(name, digits)| format!("{name}={digits}\n"))
            .collect::<String>()
            .into_bytes()
    }

    fn report(&self, learnt: &Self::Learnt) -> CircuitReport {
        let plan = &self.plan;
        CircuitReport {
            circuit: plan.circuit.clone(),
            protocol: plan.protocol,
            scheme: plan.scheme.map(Scheme::name),
            ot: plan.ot.map(hushwire_ot::Protocol::name),
            instances: plan.instances,
            outputs: named(plan, learnt).collect(),
            ands: self.program.ands(),
            from_disk: learnt.from_disk,
        }
    }
}
