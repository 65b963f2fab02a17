//! The keys of a session, and the addresses of its zero-shares. No code outside this crate names an
//! address.

use crate::{Context, Role, Shares, consistency::TagKeys, kept::Kept};
use hushwire_aes::Backend;
use hushwire_machine::{Channel, NetError, Process, SessionId};
use hushwire_prg::{Address, Prss, PrssKeys, Seed};
use std::sync::Arc;
use zeroize::Zeroizing;

/// Domain label of the zero-shares that mask products and of shared random values.
const LABEL: &str = "hushwire rep3 v1";

/// One party's keys and its role in a session.
#[derive(Clone)]
pub(crate) struct Session {
    role: Role,
    backend: Backend,
    prss: Arc<Prss>,
    tag_keys: TagKeys,
    kept: Arc<Kept>,
    process: Process,
}

impl Session {
    /// Draws this party's key, sends it to the right neighbour and receives the left neighbour's
    /// key, with one message each way.
    ///
    /// `ring` must lead to the right neighbour and from the left one, against the direction of
    /// products.
    ///
    /// # Errors
    /// As [`Channel::exchange`].
    pub(crate) fn establish(
        role: Role,
        backend: Backend,
        id: SessionId,
        own: Seed,
        ring: &mut Channel,
    ) -> Result<Session, NetError> {
        let mut prev = Zeroizing::new([0; 16]);
        ring.exchange("session keys", own.expose(), &mut prev[..])?;
        Ok(Self::from_keys(role, backend, id, &PrssKeys { own, prev: Seed::from_bytes(*prev) }))
    }

    /// A session whose keys were agreed in another way: `own` = k_i, `prev` = k_{i-1}. Keys must be
    /// fresh for every `id`.
    pub(crate) fn from_keys(role: Role, backend: Backend, id: SessionId, keys: &PrssKeys) -> Session {
        let tag_keys = TagKeys::new(id, &keys.own, &keys.prev);
        let prss = Arc::new(Prss::new(backend, keys, &id.0, LABEL));
        Session { role, backend, prss, tag_keys, kept: Kept::new(), process: Process::here() }
    }

    /// Refuses a step in a fork of the process that opened the session: both processes would use
    /// the same zero-shares.
    pub(crate) fn check(&self, step: &str) -> Result<(), NetError> {
        self.process.check(step)
    }

    pub(crate) fn device_keys(&self) -> Zeroizing<[[u8; 16]; 2]> {
        self.prss.device_keys()
    }

    pub(crate) fn tag_keys(&self) -> &TagKeys {
        &self.tag_keys
    }

    /// The programs and workspaces that the session keeps from batch to batch.
    pub(crate) fn kept(&self) -> &Kept {
        &self.kept
    }

    /// The role of this party.
    pub(crate) fn role(&self) -> Role {
        self.role
    }

    /// The tier for which kernels are built.
    pub(crate) fn backend(&self) -> Backend {
        self.backend
    }

    /// The resources of a batch. No two batches of a session may have the same (`shard`, `lane`).
    pub(crate) fn context(&self, shard: u32, lane: u32) -> Context {
        Context {
            role: self.role,
            backend: self.backend,
            prss: self.prss.clone(),
            kept: self.kept.clone(),
            address: Address { shard, lane },
        }
    }

    /// Shares of `len` random bytes that no party knows; this takes no message. `(shard, lane)` as
    /// in [`Session::context`].
    ///
    /// `x_{i+1} = F_{k_i}(ctr)`: party `i` holds `k_{i-1}` and `k_i`, hence `x_i` and `x_{i+1}`.
    pub(crate) fn random(&self, shard: u32, lane: u32, len: usize) -> Shares {
        let mut shares = Shares { own: vec![0; len], next: vec![0; len] };
        self.prss.random_words(Address { shard, lane }, 0, &mut shares.next, &mut shares.own);
        shares
    }
}
