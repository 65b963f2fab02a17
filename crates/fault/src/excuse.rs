//! The part of an error that other members may hear.

use std::fmt;

/// The cause of a member's own failure, as the other members hear it: one of these, so that no
/// name, value or length of a file can be in it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
#[non_exhaustive]
pub enum Excuse {
    /// Its values or their places do not fit the job, or are missing.
    Inputs,
    /// It cannot read or use a file.
    Reading,
    /// It cannot write an output.
    Writing,
    /// It cannot use the job, or its own configuration does not fit the job.
    Job,
    /// It would be unsafe to take part.
    Unsafe,
    /// It has lost another of its own shards.
    Shard,
    /// A bug, or something that no other cause covers.
    #[default]
    Other,
}

/// Reads as a clause after a colon.
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
