//! The kinds of jobs, by the first key of a job file. A kind is a module: its table in the file, its plan, the files that
//! each member reads and writes, its part of a run, and its forecast ([`Task`](hushwire_session::Task), [`Part`](hushwire_session::Part)).

use crate::{CircuitJob, ComputeJob, InferJob, PsiJob, QueryJob, encrypt::AesCtrJob};
use hushwire_session::{
    Fault, suggest,
    toml_file::{Section, Source},
};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// A job of any kind, as its file has it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Job {
    /// A circuit on members' values.
    Circuit(CircuitJob),
    /// Encryption of a client's file.
    AesCtr(AesCtrJob),
    /// A private set intersection of two parties' CSV columns.
    Psi(PsiJob),
    /// A computation on numbers, columns and tensors.
    Compute(ComputeJob),
    /// SQL over members' tables.
    Query(QueryJob),
    /// A neural network on a client's input.
    Infer(InferJob),
}

/// The key that names the kind, taken from a file's top.
fn kind(top: &mut Section<'_>) -> Result<&'static str, Fault> {
    let parse = |name: &str| {
        let known = Job::KINDS.into_iter().find(|kind| *kind == name);
        known.ok_or_else(|| {
            format!("no kind of job is called {name:?}; {}", suggest::remedy(name, &Job::KINDS))
        })
    };
    let kind = top.take("kind").map(|value| value.parsed(parse, "leave it out for a circuit"));
    // A computation says by its key what it is.
    let unsaid = match (top.has("computation"), top.has("sql"), top.has("network")) {
        (true, ..) => "compute",
        (_, true, _) => "query",
        (_, _, true) => "infer",
        _ => Job::KINDS[0],
    };
    Ok(kind.transpose()?.unwrap_or(unsaid))
}

impl Job {
    /// Names of the kinds; the first one is that of a file that does not say.
    pub const KINDS: [&str; 6] = ["circuit", "psi", AesCtrJob::KIND, "compute", "query", "infer"];

    /// Reads a job file.
    ///
    /// # Errors
    /// The file cannot be read, or a line of it does not make sense; the message names the line.
    pub fn read(path: &Path) -> Result<Self, Fault> {
        Self::from_source(&Source::read(path)?)
    }

    /// Reads the text of a job file; `path` is for messages, and where paths in it start from.
    ///
    /// # Errors
    /// A line does not make sense.
    pub fn parse(text: &str, path: &Path) -> Result<Self, Fault> {
        Self::from_source(&Source::new(path, text))
    }

    fn from_source(source: &Source) -> Result<Self, Fault> {
        let mut top = source.sections()?;
        if top.has("peers") {
            let remedy = "name it with --config, and the job file, which all members have alike, before it";
            return Err(top.error("this is a member's own file", remedy));
        }
        match kind(&mut top)? {
            AesCtrJob::KIND => AesCtrJob::from_section(top).map(Self::AesCtr),
            "psi" => PsiJob::from_section(top).map(Self::Psi),
            "compute" => ComputeJob::from_section(top).map(Self::Compute),
            "query" => QueryJob::from_section(top).map(Self::Query),
            "infer" => InferJob::from_section(top).map(Self::Infer),
            _ => CircuitJob::from_section(top).map(Self::Circuit),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Result<Job, String> {
        Job::parse(text, Path::new("job.toml")).map_err(|e| e.to_string())
    }

    #[test]
    fn a_file_without_a_kind_is_a_circuits() {
        let text = "protocol = \"rep3\"\ncircuit = \"less:32\"\n";
        let without = parsed(text);
        assert!(matches!(without, Ok(Job::Circuit(_))), "{without:?}");
        assert_eq!(without, parsed(&format!("kind = \"circuit\"\n{text}")));
    }

    #[test]
    fn a_kind_that_is_not_known_is_named_with_its_line_and_the_near_one() {
        let error = parsed("protocol = \"rep3\"\nkind = \"circut\"\n").err().unwrap_or_default();
        assert!(error.contains("line 2") && error.contains("did you mean `circuit`?"), "{error}");
    }

    #[cfg(all(feature = "nn", feature = "two"))]
    #[test]
    fn names_of_a_field_that_are_not_known_have_the_near_one_as_remedy() {
        let text = "kind = \"infer\"\nprotocol = \"two\"\not = \"ferret_b11\"\n";
        let error = parsed(text).err().unwrap_or_default();
        assert!(error.ends_with("; did you mean `ferret-b11`?"), "the near one alone: {error}");
        let error = parsed("kind = \"infer\"\not = \"fast\"\n").err().unwrap_or_default();
        assert!(error.ends_with("; write ot = \"auto\""), "{error}");
    }
}
