//! Base OTs: random OTs from public-key cryptography, a few at a time.
//!
//! Functionality: n OTs; the sender gets keys (m_{i,0}, m_{i,1}), 128 bits each, the receiver has
//! bits b_i and gets m_{i,b_i}. Keys are random where the sender is honest.
//!
//! | protocol | messages | bytes from the receiver, from the sender | source |
//! |---|---|---|---|
//! | [`NaorPinkas`] | 2 | 32 n, 64 | Naor–Pinkas, SODA 2001 |
//! | [`ChouOrlandi`] | 2 | 32 n, 32 | Chou–Orlandi, Latincrypt 2015 |
//! | [`ChouOrlandi16`] | 3 | 8 n, 32 + 256 n | the same, out of sixteen |
//! | [`Csw`] | 3 | 64 + 32 N, 64 + 48 N, N = max(n, 80) | Canetti–Sarkar–Wang, PKC 2020 |
//!
//! The first three withstand semi-honest parties, and [`Csw`] malicious ones, with selective
//! failure.
//! **Deviations.** Hashes of the first two take session and i. [`ChouOrlandi16`] makes four OTs of
//! one, whose keys the sender draws. In [`Csw`] Π binds both messages, short batches are filled up,
//! and z goes ahead of the rest.
//!
//! Levels are types: an extension asks for base OTs that are strong enough, and nothing makes weak
//! ones strong.
//!
//! ```compile_fail
//! use hushwire_ot::{Passive, SelectiveFailure, base::BaseSender};
//! fn stronger(weak: BaseSender<Passive>) -> BaseSender<SelectiveFailure> {
//!     weak.weaken()
//! }
//! ```
//!
//! while the other way round is fine:
//!
//! ```
//! use hushwire_ot::{Passive, SelectiveFailure, base::BaseSender};
//! fn weaker(strong: BaseSender<SelectiveFailure>) -> BaseSender<Passive> {
//!     strong.weaken()
//! }
//! ```
//!
//! Security: random oracles are BLAKE3, keyed per domain and session; κ = 128. Group: ristretto255,
//! of prime order, so that there are no low-order points to reject.
//!
//! Constant time: scalars, choice bits, keys and what leads to them. curve25519-dalek multiplies
//! variable points with AVX2 where the CPU has it.

mod chou_orlandi;
mod chou_orlandi16;
mod csw;
mod group;
mod naor_pinkas;
mod passive;
#[cfg(test)]
mod tests;

use core::marker::PhantomData;

use hushwire_block::Block;
use hushwire_prg::Seed;
use zeroize::{Zeroize, ZeroizeOnDrop};

pub use chou_orlandi::ChouOrlandi;
pub use chou_orlandi16::{ChouOrlandi16, Receiver16, Sender16};
pub use csw::{Csw, CswReceiver, CswSender, MIN_BATCH};
pub use naor_pinkas::NaorPinkas;
pub use passive::{PassiveReceiver, PassiveSender};

use crate::{AtLeast, BaseSecurity, Context, Machine, OtError};

/// The sender's end of random OTs: two keys each.
#[derive(Zeroize, ZeroizeOnDrop)]
pub struct BaseSender<B> {
    keys: Vec<[Block; 2]>,
    #[zeroize(skip)]
    level: PhantomData<B>,
}

/// The receiver's end of random OTs: a choice bit and the key it names.
#[derive(Zeroize, ZeroizeOnDrop)]
pub struct BaseReceiver<B> {
    choices: Vec<bool>,
    keys: Vec<Block>,
    #[zeroize(skip)]
    level: PhantomData<B>,
}

impl<B: BaseSecurity> BaseSender<B> {
    /// Only base OT protocols of level `B` call this.
    pub(crate) fn new(keys: Vec<[Block; 2]>) -> Self {
        Self { keys, level: PhantomData }
    }

    /// The keys of OT `i` are `keys()[i]`; secret.
    #[must_use]
    pub fn keys(&self) -> &[[Block; 2]] {
        &self.keys
    }

    /// The same OTs where less is asked for.
    #[must_use]
    pub fn weaken<W: BaseSecurity>(mut self) -> BaseSender<W>
    where
        B: AtLeast<W>,
    {
        BaseSender::new(core::mem::take(&mut self.keys))
    }
}

impl<B: BaseSecurity> BaseReceiver<B> {
    /// Only base OT protocols of level `B` call this.
    pub(crate) fn new(choices: Vec<bool>, keys: Vec<Block>) -> Self {
        assert_eq!(choices.len(), keys.len(), "a key for every choice");
        Self { choices, keys, level: PhantomData }
    }

    /// The choice bits; secret.
    #[must_use]
    pub fn choices(&self) -> &[bool] {
        &self.choices
    }

    /// The key of OT `i` that choice `i` names; secret.
    #[must_use]
    pub fn keys(&self) -> &[Block] {
        &self.keys
    }

    /// The same OTs where less is asked for.
    #[must_use]
    pub fn weaken<W: BaseSecurity>(mut self) -> BaseReceiver<W>
    where
        B: AtLeast<W>,
    {
        BaseReceiver::new(core::mem::take(&mut self.choices), core::mem::take(&mut self.keys))
    }
}

/// The sender of a base OT protocol of level `B`.
pub trait SendBase<B: BaseSecurity>: Machine<Error = OtError> + Send {
    /// The OTs, when there is no tick any more.
    ///
    /// # Panics
    /// If ticks are left (the caller's bug).
    fn finish(self) -> BaseSender<B>;
}

/// The receiver of a base OT protocol of level `B`.
pub trait ReceiveBase<B: BaseSecurity>: Machine<Error = OtError> + Send {
    /// The OTs, when there is no tick any more.
    ///
    /// # Panics
    /// If ticks are left (the caller's bug).
    fn finish(self) -> BaseReceiver<B>;
}

/// A base OT protocol, as a type, so that an extension can ask for one that is strong enough.
pub trait BaseProtocol: Send + 'static {
    /// The adversary that it withstands.
    type Level: BaseSecurity;
    /// The sender's machine.
    type Sender: SendBase<Self::Level>;
    /// The receiver's machine.
    type Receiver: ReceiveBase<Self::Level>;

    /// As users write it: lower case.
    const NAME: &'static str;

    /// The end that gets both keys of `count` OTs. `seed` is this party's secret randomness.
    fn sender(context: &Context, count: usize, seed: &Seed) -> Self::Sender;

    /// The end that gets the keys that `choices` name.
    fn receiver(context: &Context, choices: Vec<bool>, seed: &Seed) -> Self::Receiver;
}
