//! The parts of a kind of job in addition to its [`Task`]: its job file, texts for people, and
//! fields for programs.

use crate::{ColumnInParts, JobParameters, RunValues};
use hushwire_fault::code;
use hushwire_machine::PartyId;
use hushwire_session::{
    Fault, InputPlace, Member, Preparation, Task,
    sealed::{OPENING, SealedValue},
    toml_file::Section,
};
use serde::{Serialize, de::DeserializeOwned};
use std::collections::BTreeMap;

/// A kind of job. A value is a job of that kind, as its file describes it.
pub trait JobKind: Sized {
    /// The value of `kind` in job files.
    const NAME: &'static str;
    /// The key that marks a file without `kind` as one of this kind.
    const KEY: Option<&'static str> = None;
    /// The phrase for jobs of this kind, such as `a circuit's`.
    const WHOSE: &'static str;

    /// Reads a job file.
    ///
    /// # Errors
    /// A line of it is wrong; the message names the line.
    fn from_section(top: Section<'_>) -> Result<Self, Fault>;

    /// Its parameters, in the order of its file.
    fn parameters(&self) -> &JobParameters {
        const NONE: &JobParameters = &vec![];
        NONE
    }

    /// The job with the values of a run.
    ///
    /// # Errors
    /// A value is not of a parameter or is out of range, or this kind has no parameters.
    fn with(self, values: &RunValues) -> Result<Self, Fault> {
        values.known(self.parameters(), &[])?;
        Ok(self)
    }

    /// The command that runs the job in the file `path` on this machine.
    fn command(path: &str) -> String;

    /// The lines of the tables `[inputs]`, `[outputs]` and others in a member's own file, for a
    /// rehearsal of the job.
    fn lines_for(&self, member: &Member) -> Vec<String>;
}

/// A result, and its CSV files by the names of outputs.
pub type Opened<T> = (<T as Task>::Learnt, BTreeMap<String, Vec<u8>>);

/// The name in errors of the step that reads a data set.
pub(crate) const READING: &str = "reading the data set";

/// A kind of job that this build runs.
pub trait Runs: JobKind {
    /// A job, read and planned.
    type Task: Words;

    /// Reads the files that the job names, and plans it.
    ///
    /// # Errors
    /// A file cannot be read, or the job is wrong.
    fn task(&self) -> Result<Self::Task, Fault>;

    /// The preprocessing for `times` runs in which symbols have these lengths. `None` for a kind
    /// that uses none.
    ///
    /// # Errors
    /// The same as [`Runs::task`], or the protocol has no preprocessing.
    fn ahead(&self, symbols: &BTreeMap<String, u64>, times: u32) -> Result<Option<Preparation>, Fault> {
        let _ = (symbols, times);
        Ok(None)
    }

    /// The members that are not connected: data sets, and recipients for which parties seal
    /// results.
    fn absent(task: &Self::Task) -> Vec<Member> {
        let _ = task;
        vec![]
    }

    /// Reads the contents of a data set of the job from the places of its owner, as columns in
    /// parts.
    ///
    /// # Errors
    /// A place cannot be read, or is not an input of `data`, or this kind has no data sets other
    /// than tables.
    fn stored(
        &self,
        data: &Member,
        inputs: &BTreeMap<String, InputPlace>,
    ) -> Result<Vec<ColumnInParts>, Fault> {
        let _ = (data, inputs);
        let cause = format!("jobs of kind {} take no arrays at rest", Self::NAME);
        let remedy = "put a query's table with its schema (`hushwire data put FILE --schema SCHEMA`)";
        Err(Fault::new(code::DATA_SET, READING, cause, remedy))
    }

    /// The result in these sealed outputs, and its CSV files by the names of outputs.
    ///
    /// # Errors
    /// The outputs belong to another job.
    fn opened(task: &Self::Task, outputs: &[SealedValue]) -> Result<Opened<Self::Task>, Fault> {
        let _ = (task, outputs);
        let cause = format!("jobs of kind {} seal no outputs", Self::NAME);
        Err(Fault::new(code::SEALED_DIFFERS, OPENING, cause, "open it with the job that it is of"))
    }

    /// The key of which a member keeps a share.
    fn key_id(part: &<Self::Task as Task>::Part) -> Option<String> {
        let _ = part;
        None
    }

    /// The name of a member if all are processes of one machine, when users know it by another name
    /// than the job's.
    fn local_name(member: PartyId) -> Option<String> {
        let _ = member;
        None
    }
}

/// The texts and figures of a planned job.
pub trait Words: Task<Learnt: Serialize + DeserializeOwned> + Clone + Send + Sync + 'static {
    /// The fields that this kind adds to a report.
    type Report: Serialize;

    /// The end of the progress bar and its unit; 0 if it is known only during the run.
    fn extent(&self) -> (u64, &'static str);

    /// The parts of a run in order, as text, each with the progress at which it begins. Empty if
    /// this kind has no parts.
    ///
    /// # Errors
    /// The computation is too large to run.
    fn course(&self) -> Result<Vec<(u64, String)>, Fault> {
        Ok(vec![])
    }

    /// Warnings about parts of the job that are probably not meant.
    fn warnings(&self) -> Vec<String> {
        vec![]
    }

    /// The lines that an operator reads in addition to the terms, and the same as fields for
    /// programs.
    fn beside_terms(&self) -> (Vec<String>, serde_json::Map<String, serde_json::Value>) {
        Default::default()
    }

    /// The work of a run, such as `5 instances of less:32`.
    fn work(&self, learnt: &Self::Learnt) -> String;

    /// The results in the form in which they are printed.
    fn printed(&self, learnt: &Self::Learnt) -> Vec<u8> {
        let _ = learnt;
        vec![]
    }

    /// The results, and a description of them, for programs.
    fn report(&self, learnt: &Self::Learnt) -> Self::Report;
}

/// The table `[inputs]`, unless it is empty.
pub(crate) fn inputs(lines: Vec<String>) -> Vec<String> {
    if lines.is_empty() { lines } else { [vec!["\n[inputs]".to_owned()], lines].concat() }
}

/// Quotes a TOML key: names may contain dots.
pub(crate) fn quoted(name: &str) -> String {
    if name.contains('.') { format!("\"{name}\"") } else { name.to_owned() }
}
