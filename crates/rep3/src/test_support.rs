//! Addresses of zero-shares by name, for tests that compare masks with a formula, and keys that
//! repeat. SECURITY: nothing that runs with anybody's data may use this: two batches at one
//! address, or in two sessions of the same keys, have the same masks, and the sum of their messages
//! is the sum of what they hide.

use crate::{Context, Rep3Party, Role, Shares, session::Session};
use hushwire_aes::Backend;
use hushwire_machine::SessionId;
use hushwire_prg::PrssKeys;

/// A party whose keys were chosen: `own` = k_i, `prev` = k_{i-1}.
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
