//! A job of any kind, and the table of kinds.

use crate::{
    CircuitJob, ColumnInParts, ComputeJob, DrawJob, InferJob, JobParameters, PsiJob, QueryJob, RunValues,
    encrypt::AesCtrJob,
    kind::{JobKind, READING, Runs, Words},
};
use hushwire_fault::code;
use hushwire_session::{
    Agreement, Fault, InputPlace, Member, Task, Terms,
    suggest::{self, Unknown},
    toml_file::{Section, Source},
};
use serde::{Deserialize, Serialize};
use std::{collections::BTreeMap, path::Path};

/// An operation on a planned job of any kind.
pub trait Visitor {
    /// The result of the operation.
    type Out;

    /// Performs it on a job of one kind.
    fn visit<K: Runs>(self, job: &K) -> Self::Out;
}

macro_rules! kinds {
    ($($(#[$doc:meta])* $kind:ident($job:ty) $(in $feature:literal)?),+ $(,)?) => {
        /// A job of any kind, as its file describes it.
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
        #[serde(rename_all = "kebab-case")]
        #[non_exhaustive]
        pub enum Job {
            $($(#[$doc])* $kind($job),)+
        }

        impl Job {
            /// The names of the kinds. A file that names no kind is of the first one.
            pub const KINDS: &[&str] = &[$(<$job as JobKind>::NAME),+];

            /// For each kind, the key that marks a file without `kind` as one of this kind.
            const KEYS: &[Option<&str>] = &[$(<$job as JobKind>::KEY),+];

            fn of_kind(name: &str, top: Section<'_>) -> Result<Self, Fault> {
                $(if name == <$job as JobKind>::NAME {
                    return <$job as JobKind>::from_section(top).map(Self::$kind);
                })+
                Err(Fault::internal("reading the job", "its kind is none of the table"))
            }

            /// Calls the visitor with the job as one of its kind.
            ///
            /// # Errors
            /// This build does not run that kind.
            pub fn visit<V: Visitor>(&self, visitor: V) -> Result<V::Out, Fault> {
                match self {
                    $($(#[cfg(feature = $feature)])? Self::$kind(job) => Ok(visitor.visit(job)),)+
                    #[allow(unreachable_patterns, reason = "not of a build with all features")]
                    _ => Err(self.missing()),
                }
            }

            /// The error that names the feature that this build lacks.
            fn missing(&self) -> Fault {
                let feature = match self {
                    $(Self::$kind(_) => [$($feature,)? ""][0],)+
                };
                let how = format!("cargo build --release -p hushwire-cli --features {feature}");
                let cause = format!("this hushwire was built without jobs of {}: build it with `{how}`", self.kind());
                Fault::of(code::COMMAND_LINE, &[("cause", cause.into())])
            }

            /// Its parameters, in the order of its file.
            #[must_use]
            pub fn parameters(&self) -> &JobParameters {
                match self {
                    $(Self::$kind(job) => job.parameters(),)+
                }
            }

            /// The job with the values of a run, which must be the same at all members.
            ///
            /// # Errors
            /// A value is not of a parameter or data set of the job, or is out of range.
            pub fn with(self, values: &RunValues) -> Result<Self, Fault> {
                match self {
                    $(Self::$kind(job) => job.with(values).map(Self::$kind),)+
                }
            }

            /// The name of its kind.
            #[must_use]
            pub fn kind(&self) -> &'static str {
                match self {
                    $(Self::$kind(_) => <$job as JobKind>::NAME,)+
                }
            }

            /// The phrase for jobs of its kind, such as `a circuit's`, and the command that runs
            /// the job in the file `path` on this machine.
            #[must_use]
            pub fn in_words(&self, path: &str) -> (&'static str, String) {
                match self {
                    $(Self::$kind(_) => (<$job as JobKind>::WHOSE, <$job as JobKind>::command(path)),)+
                }
            }

            /// The lines of a member's own file for this kind, for a rehearsal of the job.
            #[must_use]
            pub fn lines_for(&self, member: &Member) -> Vec<String> {
                match self {
                    $(Self::$kind(job) => job.lines_for(member),)+
                }
            }
        }
    };
}

kinds! {
    /// A circuit on members' values.
    Circuit(CircuitJob),
    /// A private set intersection of two parties' CSV columns.
    Psi(PsiJob),
    /// Encryption of a client's file.
    AesCtr(AesCtrJob),
    /// A computation on numbers, columns and tensors.
    Compute(ComputeJob),
    /// SQL over members' tables.
    Query(QueryJob) in "sql",
    /// A neural network on a client's input.
    Infer(InferJob) in "nn",
    /// Numbers that nobody can choose.
    Draw(DrawJob),
}

/// The kind that a file without `kind` means by keys that no other kind has.
fn meant(top: &Section<'_>) -> Option<&'static str> {
    const KINDS: [(&str, &[&str]); 4] = [
        ("psi", &["key", "keys", "column", "columns", "normalise", "reveal"]),
        ("query", &["tables", "min-group"]),
        ("aes-ctr", &["key-bits", "sbox", "direction"]),
        ("draw", &["numbers"]),
    ];
    let is_named =
        ["circuit", "circuit-file", "computation", "sql", "network"].iter().any(|key| top.has(key));
    let by_key = KINDS.into_iter().find(|(_, keys)| keys.iter().any(|key| top.has(key)));
    by_key.map(|(kind, _)| kind).filter(|_| !is_named)
}

impl Job {
    /// Reads a job file.
    ///
    /// # Errors
    /// The file cannot be read, or a line of it is wrong; the message names the line.
    pub fn read(path: &Path) -> Result<Self, Fault> {
        Self::from_source(&Source::read(path)?)
    }

    /// Reads the text of a job file; `path` is its name in messages, and relative paths in it start
    /// there.
    ///
    /// # Errors
    /// A line is wrong.
    pub fn parse(text: &str, path: &Path) -> Result<Self, Fault> {
        Self::from_source(&Source::new(path, text))
    }

    fn from_source(source: &Source) -> Result<Self, Fault> {
        let mut top = source.sections()?;
        if top.has("peers") {
            let remedy = "name it with --config, and the job file, which all members have alike, before it";
            return Err(top.error("this is a member's own file", remedy));
        }
        let parse = |name: &str| {
            let known = Self::KINDS.iter().find(|kind| **kind == name);
            let unknown = || format!("no kind of job is called {name:?}");
            known.copied().ok_or_else(|| Unknown::among(unknown(), name, Self::KINDS))
        };
        let named = top.parsed("kind", parse, "leave it out for a circuit")?;
        if named.is_none()
            && let Some(kind) = meant(&top)
        {
            return Err(top.error("`kind` is missing", format!("add it, as in kind = \"{kind}\"")));
        }
        let by_key = Self::KEYS.iter().position(|key| key.is_some_and(|key| top.has(key)));
        Self::of_kind(named.unwrap_or(Self::KINDS[by_key.unwrap_or(0)]), top)
    }

    /// The number of processes of each member among which rows are spread.
    #[must_use]
    pub fn shards(&self) -> u16 {
        match self {
            Self::Compute(job) => job.shards,
            Self::Query(job) => job.shards,
            _ => 1,
        }
    }

    /// The agreement of its members.
    ///
    /// # Errors
    /// The job cannot be planned.
    pub fn agreement(&self) -> Result<Agreement, Fault> {
        struct OfMembers;
        impl Visitor for OfMembers {
            type Out = Result<Agreement, Fault>;
            fn visit<K: Runs>(self, job: &K) -> Self::Out {
                Ok(job.task()?.agreement())
            }
        }
        self.visit(OfMembers)?
    }

    /// The data set of this name as a member of the job.
    ///
    /// # Errors
    /// The job has no such data set.
    pub fn data_set(&self, name: &str) -> Result<Member, Fault> {
        let names = self.data_sets()?;
        if names.iter().any(|other| other == name) {
            return Ok(Member::Data(name.to_owned()));
        }
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let cause = format!("the job has no data set {name}");
        Err(Fault::new(code::DATA_SET, READING, cause, suggest::remedy(name, &names)))
    }

    /// Reads the contents of the job's data set `data` from the places of its owner, as columns in
    /// parts. These are a model, an input of a network, or inputs of a computation.
    ///
    /// # Errors
    /// The job has no such data set, or its data sets are tables; a place cannot be read, or is not
    /// an input of the data set.
    pub fn stored(
        &self,
        data: &str,
        inputs: &BTreeMap<String, InputPlace>,
    ) -> Result<Vec<ColumnInParts>, Fault> {
        struct OfOwner<'a>(Member, &'a BTreeMap<String, InputPlace>);
        impl Visitor for OfOwner<'_> {
            type Out = Result<Vec<ColumnInParts>, Fault>;
            fn visit<K: Runs>(self, job: &K) -> Self::Out {
                job.stored(&self.0, self.1)
            }
        }
        self.visit(OfOwner(self.data_set(data)?, inputs))?
    }

    /// The job's terms, and the lines and fields that an operator reads in addition.
    ///
    /// # Errors
    /// The job cannot be planned.
    #[expect(clippy::type_complexity, reason = "as `Words::beside_terms` has it")]
    pub fn terms(&self) -> Result<(Terms, (Vec<String>, serde_json::Map<String, serde_json::Value>)), Fault> {
        struct OfOperators;
        impl Visitor for OfOperators {
            type Out = Result<(Terms, (Vec<String>, serde_json::Map<String, serde_json::Value>)), Fault>;
            fn visit<K: Runs>(self, job: &K) -> Self::Out {
                let task = job.task()?;
                Ok((task.terms(), task.beside_terms()))
            }
        }
        self.visit(OfOperators)?
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
