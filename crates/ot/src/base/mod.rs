//! Base OTs: a few random OTs from public-key cryptography.
//!
//! Functionality: n OTs; the sender gets keys (m_{i,0}, m_{i,1}), 128 bits each, the receiver has
//! bits b_i and gets m_{i,b_i}. Keys are random if the sender is honest.
//!
//! | protocol | messages | bytes from the receiver, from the sender | source |
//! |---|---|---|---|
//! | [`NaorPinkas`] | 2 | 32 n, 64 | Naor–Pinkas, SODA 2001 |
//! | [`ChouOrlandi`] | 2 | 32 n, 32 | Chou–Orlandi, Latincrypt 2015 |
//! | [`ChouOrlandi16`] | 3 | 8 n, 32 + 256 n | the same, out of sixteen |
//! | [`Csw`] | 3 | 64 + 32 N, 64 + 48 N, N = max(n, 80) | Canetti–Sarkar–Wang, PKC 2020 |
//!
//! The first three are secure against semi-honest parties, and [`Csw`] against malicious ones, with
//! selective failure. **Deviations.** The hashes of the first two take the session's name and i.
//! [`ChouOrlandi16`] makes four OTs of one 1-out-of-16 OT, whose keys the sender draws. In [`Csw`],
//! Π binds both messages, short batches are filled up, and z is sent ahead of the rest.
//!
//! Security levels are types: an extension requires base OTs that are strong enough, and no
//! conversion makes weak ones strong.
//!
//! ```compile_fail
//! use hushwire_ot::{Passive, SelectiveFailure, base::BaseSender};
//! fn stronger(weak: BaseSender<Passive>) -> BaseSender<SelectiveFailure> {
//!     weak.weaken()
//! }
//! ```
//!
//! while the converse compiles:
//!
//! ```
//! use hushwire_ot::{Passive, SelectiveFailure, base::BaseSender};
//! fn weaker(strong: BaseSender<SelectiveFailure>) -> BaseSender<Passive> {
//!     strong.weaken()
//! }
//! ```
//!
//! Security: random oracles are BLAKE3, keyed for each domain and session; κ = 128. The group is
//! ristretto255, which has prime order, so that there are no points of low order to reject.
//!
//! Constant time: scalars, choice bits, keys and the values from which they are computed.
//! curve25519-dalek multiplies variable points with AVX2 if the CPU has it.

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

/// The sender's endpoint of random OTs: two keys for each OT.
#[derive(Zeroize, ZeroizeOnDrop)]
pub struct BaseSender<B> {
    keys: Vec<[Block; 2]>,
    #[zeroize(skip)]
    level: PhantomData<B>,
}

/// The receiver's endpoint of random OTs: a choice bit and the key that it selects, for each OT.
#[derive(Zeroize, ZeroizeOnDrop)]
pub struct BaseReceiver<B> {
    choices: Vec<bool>,
    keys: Vec<Block>,
    #[zeroize(skip)]
    level: PhantomData<B>,
}

impl<B: BaseSecurity> BaseSender<B> {
    /// Only base OT protocols of level `B` may call this.
    pub(crate) fn new(keys: Vec<[Block; 2]>) -> Self {
        Self { keys, level: PhantomData }
    }

    /// The keys of OT `i` are `keys()[i]`; secret.
    #[must_use]
    pub fn keys(&self) -> &[[Block; 2]] {
        &self.keys
    }

    /// The same OTs as OTs of a weaker level.
    #[must_use]
    pub fn weaken<W: BaseSecurity>(mut self) -> BaseSender<W>
    where
        B: AtLeast<W>,
    {
        BaseSender::new(core::mem::take(&mut self.keys))
    }
}

impl<B: BaseSecurity> BaseReceiver<B> {
    /// Only base OT protocols of level `B` may call this.
    pub(crate) fn new(choices: Vec<bool>, keys: Vec<Block>) -> Self {
        assert_eq!(choices.len(), keys.len(), "a key for every choice");
        Self { choices, keys, level: PhantomData }
    }

    /// The choice bits; secret.
    #[must_use]
    pub fn choices(&self) -> &[bool] {
        &self.choices
    }

    /// The keys of the OTs, selected by the choice bits; secret.
    #[must_use]
    pub fn keys(&self) -> &[Block] {
        &self.keys
    }

    /// The same OTs as OTs of a weaker level.
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
    /// The OTs, after the last round.
    ///
    /// # Panics
    /// If rounds are left (the caller's bug).
    fn finish(self) -> BaseSender<B>;
}

/// The receiver of a base OT protocol of level `B`.
pub trait ReceiveBase<B: BaseSecurity>: Machine<Error = OtError> + Send {
    /// The OTs, after the last round.
    ///
    /// # Panics
    /// If rounds are left (the caller's bug).
    fn finish(self) -> BaseReceiver<B>;
}

/// A base OT protocol, as a type, so that an extension can require a protocol that is strong
/// enough.
pub trait BaseProtocol: Send + 'static {
    /// The adversary that it withstands.
    type Level: BaseSecurity;
    /// The sender's machine.
    type Sender: SendBase<Self::Level>;
    /// The receiver's machine.
    type Receiver: ReceiveBase<Self::Level>;

    /// The name that users write, in lower case.
    const NAME: &'static str;

    /// The endpoint that gets both keys of `count` OTs. `seed` is this party's secret randomness.
    fn sender(context: &Context, count: usize, seed: &Seed) -> Self::Sender;

    /// The endpoint that gets the keys that `choices` select.
    fn receiver(context: &Context, choices: Vec<bool>, seed: &Seed) -> Self::Receiver;
}
