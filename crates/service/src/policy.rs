//! Policies from operators: they are signed with a key of the config.

use hushwire_fault::{Fault, code};
use hushwire_policy::PolicyFile;
use hushwire_seal::{Signature, VerifyKey};
use std::{
    collections::BTreeMap,
    path::Path,
    sync::{Arc, Mutex, PoisonError},
};

/// LOCAL: the most checked policies that are remembered.
const KNOWN_POLICIES: usize = 256;
const STEP: &str = "checking a policy";

/// A policy's text and the signature under it.
pub(crate) struct Signed {
    /// The text.
    pub(crate) text: String,
    /// The signature, as hexadecimal digits.
    pub(crate) signature: String,
    /// The operator's public key, as hexadecimal digits.
    pub(crate) signer: String,
}

impl Signed {
    /// As [`check`](Self::check), once for each text: the result follows from text, signature,
    /// signer and operators alone.
    pub(crate) fn checked(&self, name: &str, operators: &[String]) -> Result<Arc<PolicyFile>, Fault> {
        static KNOWN: Mutex<BTreeMap<[u8; 32], Arc<PolicyFile>>> = Mutex::new(BTreeMap::new());
        let mut hash = blake3::Hasher::new_derive_key("hushwire service checked policy v1");
        let own = [name, &self.text, &self.signature, &self.signer];
        for text in own.into_iter().chain(operators.iter().map(String::as_str)) {
            hash.update(&(text.len() as u64).to_le_bytes()).update(text.as_bytes());
        }
        let hash = *hash.finalize().as_bytes();
        let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(file) = known.get(&hash) {
            return Ok(file.clone());
        }
        let file = Arc::new(self.check(name, operators)?);
        if known.len() >= KNOWN_POLICIES {
            known.clear();
        }
        known.insert(hash, file.clone());
        Ok(file)
    }

    /// Reads the policy, after checking that one of these operators has signed it.
    pub(crate) fn check(&self, name: &str, operators: &[String]) -> Result<PolicyFile, Fault> {
        let signer = self.signer.to_ascii_lowercase();
        if !operators.contains(&signer) {
            let cause = format!("the key {signer} is no operator's of this party");
            let remedy = "sign it with a key that is under `operators` in the config of this party";
            return Err(Fault::new(code::NOT_APPROVED, STEP, cause, remedy));
        }
        let digits = |what: &str, cause: String| {
            Fault::usage(STEP, format!("the {what} makes no sense: {cause}"), "send it as hexadecimal digits")
        };
        let key: VerifyKey = signer.parse().map_err(|e| digits("key", format!("{e}")))?;
        let signature: Signature = self.signature.parse().map_err(|e| digits("signature", format!("{e}")))?;
        let file = PolicyFile::parse(Path::new(name), &self.text)?;
        file.verify(&key, &signature).map_err(Fault::from)?;
        Ok(file)
    }
}

/// Checks that a policy allows a job's terms.
pub(crate) fn about(file: &PolicyFile, digest: &str) -> Result<(), Fault> {
    if file.allow.iter().any(|rule| rule.digest.to_string() == digest) {
        return Ok(());
    }
    let cause = format!("no block of the policy has the digest {digest}");
    Err(Fault::new(code::NOT_APPROVED, STEP, cause, "sign a policy that allows the terms of this proposal"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use hushwire_seal::SignKey;

    #[test]
    fn a_policy_counts_with_the_signature_of_an_operator_alone() {
        let (key, other) = (SignKey::generate(), SignKey::generate());
        let digest = format!("blake3:{}", "ab".repeat(32));
        let text = format!(
            "[[allow]]\ndigest = \"{digest}\"\nname = \"mean\"\ntenant = \"heart\"\nrecipients = [\"key:{}\"]\n",
            "ab".repeat(16)
        );
        let operators = [key.public().to_string()];
        let signed = |text: &str, by: &SignKey| {
            let file = PolicyFile::parse(Path::new("p"), text).unwrap_or_else(|e| panic!("{e}"));
            let signature = file.sign(by).to_string();
            Signed { text: text.to_owned(), signature, signer: by.public().to_string() }
        };
        let file = signed(&text, &key).check("p", &operators).unwrap_or_else(|e| panic!("{e}"));
        assert!(about(&file, &digest).is_ok() && about(&file, &digest.replace('a', "c")).is_err());
        assert!(signed(&text, &other).check("p", &operators).is_err(), "another key");
        let edited = Signed { text: text.replace("heart", "lungs"), ..signed(&text, &key) };
        assert!(edited.check("p", &operators).is_err(), "another text");
        let borrowed = Signed { signer: key.public().to_string(), ..signed(&text, &other) };
        assert!(borrowed.check("p", &operators).is_err(), "another's name");
    }
}
