//! The hashes that break the correlation of OTs: they turn q and q ⊕ Δ, or t, into pads. Their keys
//! are public, derived from the session's name, and change every 2^20 OTs.

use hushwire_aes::{Aes128, Backend};
use hushwire_block::{Block, registry};
use zeroize::ZeroizeOnDrop;

use crate::{
    Context, Extension, Level, Role, Security,
    bits::pair_lsbs,
    secret::{SecretBlocks, refit},
};

/// SECURITY: the number of OTs that are hashed under one fixed AES key, as a power of two.
const KEY_SPAN: u32 = 20;

/// The name under which tests record the uses of a key by the numbers of OTs, where these are not
/// tweaks.
const PADS: &str = "OT under pads";

/// H(i, x) of OT `i`, under public keys of the session that change every 2^20 OTs.
///
/// Semi-honest rows use π(σ(x)) ⊕ σ(x). Malicious modes and silent extensions use π(π(x) ⊕ i) ⊕
/// π(x), with i as the tweak. Both are circular correlation robust for a random permutation π
/// (GKWY, ePrint 2019/074, sections 7.3 and 7.4).
#[derive(ZeroizeOnDrop)]
pub struct OtHasher {
    #[zeroize(skip)]
    context: Context,
    #[zeroize(skip)]
    tweaked: bool,
    /// The sender's Δ.
    delta: Block,
    /// The current key, with the number of its first OT; public.
    #[zeroize(skip)]
    key: Option<(u64, Aes128)>,
    /// LOCAL: whether the outputs of a call are written past the caches.
    #[zeroize(skip)]
    pub(crate) streamed: bool,
    scratch: SecretBlocks,
    pairs: Vec<[Block; 2]>,
}

impl OtHasher {
    pub(crate) fn new<S: Security>(context: &Context, extension: &dyn Extension<S>) -> Self {
        let tweaked = S::LEVEL == Level::Malicious || extension.speaker() == Role::Sender;
        let delta = extension.delta().unwrap_or_default();
        let (scratch, pairs) = (SecretBlocks::default(), Vec::new());
        Self { context: *context, tweaked, delta, key: None, streamed: false, scratch, pairs }
    }

    /// The sender's Δ; zero at the receiver.
    pub(crate) fn delta(&self) -> Block {
        self.delta
    }

    pub(crate) fn backend(&self) -> Backend {
        self.context.backend
    }

    /// The backend for outputs that the caller reads after the call.
    pub(crate) fn outputs(&self) -> Backend {
        self.context.backend.streamed(self.streamed)
    }

    /// The key for a chunk that starts with OT `first`.
    fn key(&mut self, first: u64) -> (Backend, &Aes128) {
        let span = first >> KEY_SPAN;
        if self.key.as_ref().is_none_or(|(of, _)| *of != span) {
            let name = self.context.sid.child("pads", span);
            let bytes = *name.0.first_chunk().expect("32 bytes hold 16");
            self.key = Some((span, Aes128::on(self.context.backend, &bytes)));
        }
        let (_, key) = self.key.as_ref().expect("it was just made");
        (self.context.backend, key)
    }

    /// Replaces `x[n]` by H(first + n, x\[n\]), for use soon after.
    pub(crate) fn hash_here(&mut self, first: u64, x: &mut SecretBlocks) {
        let mut out = core::mem::take(&mut self.scratch);
        out.refit(x.len());
        let streamed = core::mem::replace(&mut self.streamed, false);
        self.hash(first, x, &mut out);
        self.streamed = streamed;
        core::mem::swap(x, &mut out);
        self.scratch = out;
    }

    /// Sets `out[n]` to H(first + n, x\[n\]); all of one chunk.
    pub(crate) fn hash(&mut self, first: u64, x: &[Block], out: &mut [Block]) {
        let (tweaked, backend) = (self.tweaked, self.outputs());
        let (_, key) = self.key(first);
        if tweaked {
            backend.tccr::<1>(key, u128::from(first), x, out);
        } else {
            registry::used(PADS, &key.round_keys()[0], first.into(), x.len());
            backend.ccr(key, x, out);
        }
    }

    /// Sets `out[n]` to (H(first + n, q\[n\]), H(first + n, q\[n\] ⊕ Δ)).
    pub(crate) fn pairs(&mut self, first: u64, q: &[Block], out: &mut [[Block; 2]]) {
        let (tweaked, delta, backend) = (self.tweaked, self.delta, self.outputs());
        let (_, key) = self.key(first);
        if tweaked {
            backend.pads_tccr(key, u128::from(first), delta, q, out);
        } else {
            registry::used(PADS, &key.round_keys()[0], first.into(), q.len());
            backend.pads_ccr(key, delta, q, out);
        }
    }

    /// Bit 0 of both blocks of [`OtHasher::pairs`], packed.
    pub(crate) fn pair_bits(&mut self, first: u64, q: &[Block], zero: &mut [u8], one: &mut [u8]) {
        let mut pairs = core::mem::take(&mut self.pairs);
        refit(&mut pairs, q.len());
        let streamed = core::mem::replace(&mut self.streamed, false);
        self.pairs(first, q, &mut pairs);
        self.streamed = streamed;
        pair_lsbs(&pairs, zero, one);
        self.pairs = pairs;
    }

    /// [`OtHasher::pairs`], XORed with `messages`.
    pub(crate) fn encrypt(
        &mut self,
        first: u64,
        q: &[Block],
        messages: &[[Block; 2]],
        out: &mut [[Block; 2]],
    ) {
        let (tweaked, delta) = (self.tweaked, self.delta);
        let (backend, key) = self.key(first);
        if tweaked {
            backend.pads_tccr_xor(key, u128::from(first), delta, q, messages, out);
        } else {
            registry::used(PADS, &key.round_keys()[0], first.into(), q.len());
            backend.pads_ccr_xor(key, delta, q, messages, out);
        }
    }
}
