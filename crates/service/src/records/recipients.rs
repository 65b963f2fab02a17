//! The keys of recipients, with which jobs are submitted.

use hushwire_fault::Fault;
use hushwire_seal::SealTo;
use std::{
    collections::BTreeMap,
    sync::{Mutex, PoisonError},
};

/// LOCAL: the most keys of recipients that are remembered.
const KNOWN_KEYS: usize = 256;

/// Reads the key of a recipient.
pub(crate) fn seal_to(name: &str, text: &str) -> Result<SealTo, Fault> {
    // Reading a key expands a matrix, which takes as long as checking a policy.
    static KNOWN: Mutex<BTreeMap<String, SealTo>> = Mutex::new(BTreeMap::new());
    let known = || KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(key) = known().get(text) {
        return Ok(key.clone());
    }
    let key: SealTo = serde_json::from_value(serde_json::Value::String(text.to_owned())).map_err(|e| {
        let cause = format!("the key of recipient {name} makes no sense: {e}");
        Fault::usage("reading the job", cause, "send `seal_to` of the recipient's card")
    })?;
    let mut known = known();
    if known.len() >= KNOWN_KEYS {
        known.clear();
    }
    known.insert(text.to_owned(), key.clone());
    Ok(key)
}
