//! What a kind of job has besides its [`Task`]: its table in a job file, words for people, fields
//! for programs.

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

/// A kind of job; its value is a job of that kind, as its file has it.
pub trait JobKind: Sized {
    /// The name under `kind` in job files.
    const NAME: &'static str;
    /// The key by which a file without `kind` is of this kind.
    const KEY: Option<&'static str> = None;
    /// Its jobs in words, as `a circuit's`.
    const WHOSE: &'static str;

    /// Reads a job file.
    ///
    /// # Errors
    /// A line of it does not make sense; the message names the line.
    fn from_section(top: Section<'_>) -> Result<Self, Fault>;

    /// Its parameters, in the order of its file.
    fn parameters(&self) -> &JobParameters {
        const NONE: &JobParameters = &vec![];
        NONE
    }

    /// The same job with the values of a run.
    ///
    /// # Errors
    /// A value is of no parameter or out of its range; jobs of this kind have none.
    fn with(self, values: &RunValues) -> Result<Self, Fault> {
        values.known(self.parameters(), &[])?;
        Ok(self)
    }

    /// The command that runs the job in the file `path` on this machine.
    fn command(path: &str) -> String;

    /// The lines of the tables `[inputs]`, `[outputs]` and others in a member's own file: to
    /// rehearse the job.
    fn lines_for(&self, member: &Member) -> Vec<String>;
}

/// A result, and its CSV files by the output's name.
pub type Opened<T> = (<T as Task>::Learnt, BTreeMap<String, Vec<u8>>);

/// The step of reading a data set, as errors name it.
pub(crate) const READING: &str = "reading the data set";

/// A kind of job that this build runs.
pub trait Runs: JobKind {
    /// A job, read and planned.
    type Task: Words;

    /// Reads what the job names, and plans it.
    ///
    /// # Errors
    /// A file cannot be read, or the job does not make sense.
    fn task(&self) -> Result<Self::Task, Fault>;

    /// Preprocessing for a number of runs of it, where symbols have these lengths; none for a kind
    /// that takes none.
    ///
    /// # Errors
    /// As [`Runs::task`], or its protocol has no preprocessing.
    fn ahead(&self, symbols: &BTreeMap<String, u64>, times: u32) -> Result<Option<Preparation>, Fault> {
        let _ = (symbols, times);
        Ok(None)
    }

    /// The members that are not connected: data sets, and those for whom parties seal results.
    fn absent(task: &Self::Task) -> Vec<Member> {
        let _ = task;
        vec![]
    }

    /// Reads the contents of a data set of the job from the places of its owner, as columns in
    /// parts.
    ///
    /// # Errors
    /// A place cannot be read, or is no input of `data`; data sets of this kind are tables or none.
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

    /// The result that sealed outputs are, and its CSV files by the output's name.
    ///
    /// # Errors
    /// They are another job's.
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

    /// The name of a member where all are processes of one machine, if people know it by another
    /// than the job's.
    fn local_name(member: PartyId) -> Option<String> {
        let _ = member;
        None
    }
}

/// The words and figures of a planned job.
pub trait Words: Task<Learnt: Serialize + DeserializeOwned> + Clone + Send + Sync + 'static {
    /// Its own fields of a report.
    type Report: Serialize;

    /// The end of the progress bar and its unit; 0 where only the run tells.
    fn extent(&self) -> (u64, &'static str);

    /// The parts of a run, in turn, in words, each with the progress from which on it is under way:
    /// nothing where that has no parts.
    ///
    /// # Errors
    /// It is too large to be run.
    fn course(&self) -> Result<Vec<(u64, String)>, Fault> {
        Ok(vec![])
    }

    /// What the job may not mean.
    fn warnings(&self) -> Vec<String> {
        vec![]
    }

    /// Lines that an operator reads beside the terms, and the same by name for programs.
    fn beside_terms(&self) -> (Vec<String>, serde_json::Map<String, serde_json::Value>) {
        Default::default()
    }

    /// The work of a run, as `5 instances of less:32`.
    fn work(&self, learnt: &Self::Learnt) -> String;

    /// Results as they are printed.
    fn printed(&self, learnt: &Self::Learnt) -> Vec<u8> {
        let _ = learnt;
        vec![]
    }

    /// Results and what they are of, for programs.
    fn report(&self, learnt: &Self::Learnt) -> Self::Report;
}

/// The table `[inputs]`, unless there are none.
pub(crate) fn inputs(lines: Vec<String>) -> Vec<String> {
    if lines.is_empty() { lines } else { [vec!["\n[inputs]".to_owned()], lines].concat() }
}

/// A TOML key; names may hold dots.
pub(crate) fn quoted(name: &str) -> String {
    if name.contains('.') { format!("\"{name}\"") } else { name.to_owned() }
}
