//! The sample of `local-up`: an approved job that the parties can run at once.

use crate::{
    access::{Caller, OPERATORS, Role},
    party::Party,
    policy::Signed,
    records::{
        policies::{self, NewPolicy},
        proposals::{self, Proposed},
    },
};
use hushwire_fault::Fault;
use hushwire_policy::{PolicyDraft, PolicyFile, draft};
use hushwire_seal::SignKey;
use std::{
    collections::BTreeMap,
    path::Path,
};

/// The tenant of the sample.
pub(crate) const TENANT: &str = "demo";
/// Runs that the sample's policy allows.
const RUNS: u64 = 1000;

/// The sample, once it is in the stores.
pub(crate) struct Sample {
    /// The approved proposal.
    pub(crate) proposal: String,
    /// The digest of its terms.
    pub(crate) digest: String,
}
