//! The part of an error that other members are told.

use std::fmt;

/// The cause of a member's own failure, as the other members are told it. The set is closed, so
/// that no name, value or length of a file can be in it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
#[non_exhaustive]
pub enum Excuse {
    /// Its values or their places do not match the job, or are missing.
    Inputs,
    /// It cannot read or use a file.
    Reading,
    /// It cannot write an output.
    Writing,
    /// It cannot use the job, or its own configuration does not match the job.
    Job,
    /// Taking part would be unsafe.
    Unsafe,
    /// It has lost another of its own shards.
    Shard,
    /// A bug, or something that no other cause covers.
    #[default]
    Other,
}

/// The text follows a colon, as a clause.
impl fmt::Display for Excuse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Inputs => "its inputs do not fit the job",
            Self::Reading => "it cannot use a file that it reads",
            Self::Writing => "it cannot write an output",
            Self::Job => "it cannot use the job, or its own file does not fit the job",
            Self::Unsafe => "it refuses a run that would not be safe for it",
            Self::Shard => "another of its own shards is lost",
            Self::Other => "an error of its own",
        })
    }
}
