//! Party 0 signs the start of each attempt and its decision, and must tell all parties the same.
//! The digest of a start is in the name of the workers' session: workers that were told different
//! things never meet, and nothing is computed.

use crate::records::{attempts::Decision, packed};
use hushwire_seal::{BlakeName, Signature};
use hushwire_session::Peer;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// LOCAL: the number of last promises that are kept.
const KEPT: usize = 256;

/// Party 0's request that a party takes part in an attempt.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Reserve {
    /// The number of the attempt.
    pub(crate) k: u32,
    /// The hash of the job's body, which all parties have alike.
    pub(crate) body_hash: String,
    /// The ends of the audit logs that party 0 knows; `None` until it has reserved itself.
    pub(crate) heads: Option<serde_json::Value>,
    /// The team of party 0's worker for this attempt, if that worker waited in the pool.
    #[serde(default)]
    pub(crate) team: Option<String>,
}

/// A worker with the signature of the party that runs it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct VouchedWorker {
    /// How the others reach and know it.
    pub(crate) peer: Peer,
    /// The party's signature.
    pub(crate) word: Signature,
}

/// The digest of everything that party 0 told about an attempt, and party 0's signature under it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Promise {
    pub(crate) digest: BlakeName,
    pub(crate) word: Signature,
}

/// A job, the number of its attempt, and party 0's promise about it.
pub(crate) type Promised = (String, u32, Promise);

/// The promises about attempts that started here, the oldest first.
#[derive(Default)]
pub(crate) struct Promises(VecDeque<Promised>);

impl Promises {
    /// Keeps a promise. Returns false if a different one was kept for the attempt, which stays.
    pub(crate) fn keep(&mut self, job: &str, k: u32, promise: Promise) -> bool {
        if let Some(had) = self.of(job, k) {
            return had == promise;
        }
        self.0.push_back((job.to_owned(), k, promise));
        let over = self.0.len().saturating_sub(KEPT);
        self.0.drain(..over);
        true
    }

    pub(crate) fn of(&self, job: &str, k: u32) -> Option<Promise> {
        self.0.iter().rev().find(|kept| kept.0 == job && kept.1 == k).map(|kept| kept.2.clone())
    }
}

/// A digest of texts, each preceded by its length.
fn digest(context: &str, texts: &[&str]) -> BlakeName {
    let mut hash = blake3::Hasher::new_derive_key(context);
    for text in texts {
        hash.update(&(text.len() as u64).to_le_bytes()).update(text.as_bytes());
    }
    BlakeName(*hash.finalize().as_bytes())
}

/// The digest of everything that party 0 tells all parties before an attempt starts: the job's
/// body, the ends of audit logs, all workers, and whether they use kept links.
pub(crate) fn of_start(asked: &Reserve, workers: &[VouchedWorker], on_kept: bool) -> BlakeName {
    digest("hushwire service start of an attempt v1", &[&packed(asked), &packed(&workers), &packed(&on_kept)])
}

/// The digest of a decision, without its signature.
pub(crate) fn of_decision(decision: &Decision) -> BlakeName {
    let Decision { commit, go, end, cause, next_try, word: _ } = decision;
    let cause = cause.as_ref().map(ToString::to_string);
    digest("hushwire service decision v1", &[&packed(&(commit, go, end, cause, next_try))])
}

/// A decision as party 0 signed it. Decisions of earlier releases have no signature, and prove
/// nothing.
pub(crate) fn of_signed(decision: &Decision) -> Option<Promise> {
    decision.word.map(|word| Promise { digest: of_decision(decision), word })
}

#[cfg(test)]
mod tests {
    use super::*;
    use hushwire_fault::Fault;
    use serde_json::json;

    fn reserve() -> Reserve {
        Reserve { k: 1, body_hash: "aa".to_owned(), heads: Some(json!({ "0": "1:bb" })), team: None }
    }

    /// A change of anything that party 0 tells changes the digest.
    #[test]
    fn each_word_of_party_0_is_in_the_digest() {
        let start = of_start(&reserve(), &[], false);
        let decision = Decision { commit: true, go: true, end: None, cause: None, next_try: 0, word: None };
        for other in [
            Reserve { k: 2, ..reserve() },
            Reserve { body_hash: "ab".to_owned(), ..reserve() },
            Reserve { heads: Some(json!({ "0": "1:bc" })), ..reserve() },
            Reserve { team: Some("t".to_owned()), ..reserve() },
        ] {
            assert_ne!(of_start(&other, &[], false), start, "{other:?}");
        }
        assert_ne!(of_start(&reserve(), &[], true), start);
        let fault = Fault::usage("a", "b", "c");
        for other in [
            Decision { commit: false, ..decision.clone() },
            Decision { go: false, ..decision.clone() },
            Decision { end: Some("failed".to_owned()), ..decision.clone() },
            Decision { cause: Some(fault), ..decision.clone() },
            Decision { next_try: 1, ..decision.clone() },
        ] {
            assert_ne!(of_decision(&other), of_decision(&decision), "{other:?}");
        }
    }

    #[test]
    fn the_promises_of_the_last_attempts_are_kept() {
        let mut kept = Promises::default();
        let promise = |n: u32| Promise { digest: BlakeName([n as u8; 32]), word: Signature([0; 64]) };
        assert!((0..300).all(|n| kept.keep("job", n, promise(n))));
        // The first promise of an attempt stays: party 0 cannot replace it before it is compared.
        assert!(kept.keep("job", 299, promise(299)) && !kept.keep("job", 299, promise(1)));
        assert_eq!((kept.0.len(), kept.of("job", 299), kept.of("job", 3)), (KEPT, Some(promise(299)), None));
    }
}
