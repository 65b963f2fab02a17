//! Addresses of zero-shares by name, for tests that compare masks with a formula, and keys that
//! repeat. SECURITY: code that handles real data must not use this. Two batches at one address, or
//! in two sessions of the same keys, have the same masks. The sum of their messages is then the sum
//! of the hidden values.

use crate::{Context, Rep3Party, Role, Shares, session::Session};
use hushwire_aes::Backend;
use hushwire_machine::SessionId;
use hushwire_prg::PrssKeys;

/// A party with the given keys: `own` = k_i, `prev` = k_{i-1}.
#[must_use]
pub fn party(role: Role, backend: Backend, id: SessionId, keys: &PrssKeys) -> Rep3Party {
    Rep3Party::of(Session::from_keys(role, backend, id, keys))
}

/// The zero-shares at an address.
#[must_use]
pub fn context(party: &Rep3Party, shard: u32, lane: u32) -> Context {
    party.session().context(shard, lane)
}

/// The random shares at an address.
#[must_use]
pub fn random(party: &Rep3Party, shard: u32, lane: u32, len: usize) -> Shares {
    party.session().random(shard, lane, len)
}
