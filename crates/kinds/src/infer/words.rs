//! The texts and report fields of an inference.

use super::{InferJob, InferTask, Inferred, stored_inference};
use crate::{
    ColumnInParts,
    kind::{Opened, Runs, Words},
    sealed::tensors,
};
use hushwire_compute::{Output, Scalar};
use hushwire_fault::code;
use hushwire_nn::{Array, Labels, decode};
use hushwire_session::{
    Fault, FromDisk, InputPlace, Member, Preparation, Protocol,
    sealed::{OPENING, SealedValue},
};
use serde::Serialize;
use std::collections::BTreeMap;

impl Runs for InferJob {
    type Task = InferTask;

    fn task(&self) -> Result<InferTask, Fault> {
        InferTask::new(self)
    }

    fn absent(task: &InferTask) -> Vec<Member> {
        task.compute().absent()
    }

    fn stored(
        &self,
        data: &Member,
        inputs: &BTreeMap<String, InputPlace>,
    ) -> Result<Vec<ColumnInParts>, Fault> {
        stored_inference(self, data, inputs)
    }

    fn opened(task: &InferTask, outputs: &[SealedValue]) -> Result<Opened<InferTask>, Fault> {
        let tensors = tensors(outputs)?;
        let one = |output: &Output| {
            let missing = || {
                let cause = format!("it has no output {}", output.name);
                Fault::new(code::SEALED_DIFFERS, OPENING, cause, "open it with the job that it is of")
            };
            tensors.get(&output.name).map(decode).ok_or_else(missing)
        };
        let outputs = task.computation().outputs().iter().map(one).collect::<Result<Vec<Array>, _>>()?;
        Ok((Inferred::of(outputs), BTreeMap::new()))
    }

    fn ahead(&self, _: &BTreeMap<String, u64>, times: u32) -> Result<Option<Preparation>, Fault> {
        Preparation::new(&self.task()?, times).map(Some)
    }
}

/// The lines that show the output. For every sample along the first axis they show the places that
/// the network found, or its likeliest classes. Otherwise they show all elements. Empty if this
/// member does not learn the output. The number of labels must be the number of classes, or 0.
#[must_use]
pub fn lines(task: &InferTask, learnt: &Inferred, labels: &Labels) -> String {
    let Some(lengths) = &learnt.lengths else { return String::new() };
    let outputs = task.computation().outputs();
    let mut text = lines_of(task, 0, lengths, &learnt.elements, labels);
    for (k, (lengths, elements)) in learnt.more.iter().enumerate() {
        let name = outputs.get(k + 1).map_or("output", |output| &output.name);
        text += &format!("{name}\n");
        text += &lines_of(task, k + 1, lengths, elements, &Labels::default());
    }
    text
}

/// The lines of one output.
fn lines_of(task: &InferTask, output: usize, lengths: &[usize], elements: &[f32], labels: &Labels) -> String {
    let mut text = String::new();
    let mut line = |line: String| text.extend([&line, "\n"]);
    let count: usize = lengths.iter().product();
    if elements.len() != count {
        line(format!("the output has {count} elements, too many to print; name a file for it"));
        return text;
    }
    if count == 0 {
        return text;
    }
    let c = task.computation();
    let places = !matches!(c.node(c.outputs()[output].value).ty.scalar, Scalar::Fixed { .. });
    if places {
        let samples = lengths.first().copied().unwrap_or(1);
        let across = if lengths.len() > 1 { lengths[lengths.len() - 1] } else { 1 };
        for (i, sample) in elements.chunks(count / samples).enumerate() {
            line(format!("input {i}"));
            if labels.is_empty() {
                let row = |row: &[f32]| row.iter().map(|place| format!(" {place:>5}")).collect::<String>();
                sample.chunks(across).for_each(|places| line(format!(" {}", row(places))));
            } else {
                let label = |place: f32| labels.of(place as usize).unwrap_or_default();
                sample.iter().for_each(|place| line(format!("  {place:>5}  {}", label(*place))));
            }
        }
    } else if lengths.len() < 2 {
        line("output".to_owned());
        elements.iter().enumerate().for_each(|(i, x)| line(format!("  {x:>10.4}  {i:>5}")));
    } else {
        let array = Array::new(lengths, elements.to_vec());
        for (i, likely) in labels.top(&array, 5).iter().enumerate() {
            line(format!("input {i}"));
            for one in likely {
                let label = one.label.as_deref().unwrap_or_default();
                line(format!("  {:>10.4}  {:>5}  {label}", one.output, one.class));
            }
        }
    }
    text
}

/// Fields of an inference in a member's report.
#[derive(Serialize)]
pub struct InferReport {
    network: String,
    protocol: Protocol,
    /// The OT extension of two parties.
    ot: Option<&'static str>,
    /// The lengths of the output, if this member learns it.
    shape: Option<Vec<usize>>,
    /// Its elements, if there are few.
    output: Vec<f32>,
    /// The preprocessing that came from disk, as in a circuit's report.
    #[serde(skip_serializing_if = "Option::is_none")]
    from_disk: Option<FromDisk>,
}

impl Words for InferTask {
    type Report = InferReport;

    fn extent(&self) -> (u64, &'static str) {
        (0, "steps")
    }

    fn work(&self, _: &Inferred) -> String {
        "an inference".to_owned()
    }

    fn printed(&self, learnt: &Inferred) -> Vec<u8> {
        lines(self, learnt, &Labels::default()).into_bytes()
    }

    fn report(&self, learnt: &Inferred) -> InferReport {
        InferReport {
            network: hex::encode(self.computation().digest()),
            protocol: self.job().protocol,
            ot: self.chosen().ot.map(hushwire_ot::Protocol::name),
            shape: learnt.lengths.clone(),
            output: learnt.elements.clone(),
            from_disk: learnt.from_disk,
        }
    }
}
