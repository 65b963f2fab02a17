//! The number of keys that a deviating party can try in a run.

use super::{PsiSecurity, PsiTask};
use hushwire_psi::{
    Most,
    plain::{LOG_HASHED, Tries, tries},
};
use hushwire_session::Member;
use serde::Serialize;
use std::fmt;

/// The keys that a party can try if it does not follow the protocol. If it learns anything, it
/// learns for each of them whether the other party has it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PsiTries {
    /// The party.
    pub party: String,
    /// The most keys that it may claim to bring.
    pub keys: u64,
    /// The number of keys that it can try with this claim.
    pub tries: u64,
    /// An upper bound on the keys that it can try, whatever it does. The bound holds except with
    /// probability 2^-40, if the party hashes 2^40 keys in the run.
    pub at_most: u64,
}

impl PsiTask {
    /// The keys that either party can try; empty if the job is secure only against parties that
    /// follow the protocol.
    #[must_use]
    pub fn tries(&self) -> Option<[PsiTries; 2]> {
        let store = self.store().filter(|_| self.job().security == PsiSecurity::Malicious)?;
        let most = Most(self.job().most_items);
        Some([0, 1].map(|index: u8| {
            let keys = most.alone(index.into());
            // If both learn the result, the keys of either party may be stored.
            let is_stored = self.recipients().contains(&Member::Party(index));
            let Tries { solved, most } =
                if is_stored { tries(store, keys) } else { Tries { solved: keys, most: keys } };
            PsiTries { party: Member::Party(index).key(), keys, tries: solved, at_most: most }
        }))
    }
}

impl fmt::Display for PsiTries {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { party, keys, tries, at_most } = self;
        write!(f, "{party} may bring {keys} keys, and tries {tries} if it deviates")?;
        if at_most > tries {
            write!(f, " (at most {at_most} if it hashes 2^{LOG_HASHED} keys, but for a chance of 2^-40)")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{PsiJob, PsiReveal};

    #[test]
    fn parties_try_as_many_keys_as_their_store_has_entries() {
        let of = |to: &[u8], most: [Option<u64>; 2], security| {
            let mut job = PsiJob::new(PsiReveal::Items, "email");
            (job.security, job.most_items) = (security, most);
            job.to = to.iter().map(|index| Member::Party(*index)).collect();
            let task = PsiTask::new(&job).unwrap_or_else(|e| panic!("{e}"));
            task.tries().map(|tries| tries.map(|of| [of.keys, of.tries, of.at_most]))
        };
        let few = [Some(30), Some(1000)];
        assert_eq!(of(&[0, 1], few, PsiSecurity::SemiHonest), None);
        let both = of(&[], few, PsiSecurity::Malicious);
        assert_eq!(both, Some([[30, 30, 42], [1000, 1090, 1438]]));
        let one = of(&[1], few, PsiSecurity::Malicious);
        assert_eq!(one, Some([[30, 30, 30], [1000, 1090, 1438]]), "the other one's keys are in no store");
        let [free, _] = of(&[], [None; 2], PsiSecurity::Malicious).unwrap_or_default();
        assert!(free[0] == 1 << 20 && free[1] > free[0] && 10 * free[1] < 13 * free[0], "{free:?}");
    }
}
