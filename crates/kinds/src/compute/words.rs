//! The texts and report fields of a computation.

use super::{ColumnInParts, ComputeJob, ComputeTask, Computed, Shown, data_set::stored_inputs};
use crate::{
    JobParameters, RunValues,
    kind::{JobKind, Opened, Runs, Words, inputs},
    sealed::tensors,
};
use hushwire_fault::code;
use hushwire_garble::Scheme;
use hushwire_session::{
    Fault, FromDisk, InputPlace, Member, Preparation, Protocol, Task,
    sealed::{OPENING, SealedValue},
    toml_file::Section,
};
use serde::Serialize;
use std::collections::BTreeMap;

impl JobKind for ComputeJob {
    const NAME: &'static str = "compute";
    const KEY: Option<&'static str> = Some("computation");
    const WHOSE: &'static str = "a computation's";

    fn from_section(top: Section<'_>) -> Result<Self, Fault> {
        Self::from_section(top)
    }

    fn command(path: &str) -> String {
        format!("`hushwire local compute {path} --in …`")
    }

    fn parameters(&self) -> &JobParameters {
        &self.parameters
    }

    fn with(self, values: &RunValues) -> Result<Self, Fault> {
        let job = Self { values: values.clone(), ..self };
        let task = job.task()?;
        let absent = task.absent();
        let data: Vec<&str> = absent.iter().filter_map(Member::name).collect();
        values.known(&job.parameters, &data)?;
        Ok(job)
    }

    fn lines_for(&self, me: &Member) -> Vec<String> {
        let Ok(task) = self.task() else { return vec![] };
        let own = task.inputs_of(me);
        inputs(
            own.map(|(_, name, _)| format!("{name} = {{ csv = \"{name}.csv\", column = \"{name}\" }}"))
                .collect(),
        )
    }
}

impl Runs for ComputeJob {
    type Task = ComputeTask;

    fn task(&self) -> Result<ComputeTask, Fault> {
        ComputeTask::new(self)
    }

    fn absent(task: &ComputeTask) -> Vec<Member> {
        task.absent()
    }

    fn stored(
        &self,
        data: &Member,
        inputs: &BTreeMap<String, InputPlace>,
    ) -> Result<Vec<ColumnInParts>, Fault> {
        stored_inputs(&self.task()?, data, inputs)
    }

    fn opened(task: &ComputeTask, outputs: &[SealedValue]) -> Result<Opened<ComputeTask>, Fault> {
        let (mut learnt, mut csv) = (Computed::default(), BTreeMap::new());
        for (name, tensor) in tensors(outputs)? {
            let place = task.computation().outputs().iter().position(|output| output.name == name);
            let scalar = |j: &usize| {
                let value = task.computation().outputs()[*j].value;
                task.computation().node(value).ty.scalar == tensor.scalar()
            };
            let place = place.filter(scalar).ok_or_else(|| {
                let cause = format!("the computation has no output {name} of {}", tensor.scalar());
                Fault::new(code::SEALED_DIFFERS, OPENING, cause, "open it with the job that it is of")
            })?;
            let shown = Shown::new(tensor.scalar(), tensor.lengths(), &tensor.records());
            csv.insert(name.clone(), shown.csv(&name).as_bytes().to_vec());
            learnt.shown.push((place, shown));
        }
        learnt.shown.sort_by_key(|(place, _)| *place);
        Ok((learnt, csv))
    }

    fn ahead(&self, symbols: &BTreeMap<String, u64>, times: u32) -> Result<Option<Preparation>, Fault> {
        let mut job = self.clone();
        job.symbols.extend(symbols.clone());
        let task = job.task()?;
        let mut ahead = Preparation::new(&task, times)?;
        ahead.warnings = task.warnings();
        Ok(Some(ahead))
    }
}

/// Fields of a computation in a member's report.
#[derive(Serialize)]
pub struct ComputeReport {
    computation: String,
    digest: String,
    protocol: Protocol,
    /// The scheme of garbled gates, for protocol yao.
    scheme: Option<&'static str>,
    /// The OT extension of two parties.
    ot: Option<&'static str>,
    /// The numbers of symbols.
    symbols: BTreeMap<String, u64>,
    /// Elements by the output's name. Outputs that went to files are not included.
    outputs: BTreeMap<String, serde_json::Value>,
    /// The number of AND gates, if it ran as a circuit.
    #[serde(skip_serializing_if = "Option::is_none")]
    ands: Option<u64>,
    /// The preprocessing that came from disk, as in a circuit's report.
    #[serde(skip_serializing_if = "Option::is_none")]
    from_disk: Option<FromDisk>,
    /// Remarks on public values and on this member's inputs, such as numbers that were rounded.
    remarks: Vec<String>,
}

impl Words for ComputeTask {
    type Report = ComputeReport;

    fn warnings(&self) -> Vec<String> {
        self.computation().remarks()
    }

    /// The amount of work is known once lengths are: ANDs of two parties, steps of three.
    fn extent(&self) -> (u64, &'static str) {
        (0, "steps")
    }

    fn work(&self, learnt: &Computed) -> String {
        let symbols = learnt.symbols.iter().map(|(name, n)| format!("{name} = {n}"));
        let symbols: Vec<_> = symbols.collect();
        let of = if symbols.is_empty() { String::new() } else { format!(" of {}", symbols.join(", ")) };
        format!("{}{of}", self.computation().name())
    }

    fn printed(&self, learnt: &Computed) -> Vec<u8> {
        let name = |j: usize| &self.computation().outputs()[j].name;
        learnt.shown.iter().map(|(j, shown)| shown.line(name(*j))).collect::<String>().into_bytes()
    }

    fn report(&self, learnt: &Computed) -> ComputeReport {
        let name = |j: usize| self.computation().outputs()[j].name.clone();
        let chosen = self.chosen();
        ComputeReport {
            computation: self.computation().name().to_owned(),
            digest: hex::encode(self.computation().digest()),
            protocol: chosen.protocol,
            scheme: chosen.scheme.map(Scheme::name),
            ot: chosen.ot.map(hushwire_ot::Protocol::name),
            symbols: learnt.symbols.clone(),
            outputs: learnt.shown.iter().map(|(j, shown)| (name(*j), shown.json())).collect(),
            ands: Some(learnt.ands).filter(|ands| *ands > 0),
            from_disk: learnt.from_disk,
            remarks: self.notes().iter().chain(&learnt.remarks).cloned().collect(),
        }
    }
}
