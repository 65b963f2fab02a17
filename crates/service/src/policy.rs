//! Policies as they come from operators: signed by a key of the config.

use crate::config::Config;
use hushwire_fault::{Fault, code};

/// A policy's text and the signature under it.
pub(crate) struct Signed {
    /// The text.
    pub(crate) text: String,
    /// The signature, as hexadecimal digits.
    pub(crate) signature: String,
    /// The operator's public key, as hexadecimal digits.
    pub(crate) signer: String,
}

/// Checks that an operator of the config has signed it.
pub(crate) fn check(config: &Config, signed: Signed) -> Result<Signed, Fault> {
    let step = "checking a policy";
    if !config.operators.contains(&signed.signer.to_ascii_lowercase()) {
        let cause = format!("the key {} is none of this party's operators", signed.signer);
        let remedy = "sign it with a key that is under `operators` in the config of this party";
        return Err(Fault::new(code::NOT_APPROVED, step, cause, remedy));
    }
    Ok(signed)
}

/// Checks that it allows a job's terms.
pub(crate) fn allows_digest(signed: &Signed, digest: &str) -> Result<(), Fault> {
    if signed.text.contains(digest) {
        return Ok(());
    }
    let cause = format!("the policy does not name {digest}");
    Err(Fault::new(code::NOT_APPROVED, "checking a policy", cause, "sign one that allows this digest"))
}
