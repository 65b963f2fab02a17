//! Base OTs: random OTs from public-key cryptography, a few at a time.
//!
//! | protocol | withstands | messages | source |
//! |---|---|---|---|
//!
//! Group: ristretto255, of prime order, so that there are no low-order points to reject.

use core::marker::PhantomData;

use hushwire_block::Block;
use hushwire_prg::Seed;
use zeroize::{Zeroize, ZeroizeOnDrop};

use crate::{AtLeast, BaseSecurity, Context, Steps};

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
pub trait SendBase<B: BaseSecurity>: Steps + Send {
    /// The OTs, when there is no tick any more.
    ///
    /// # Panics
    /// If ticks are left (the caller's bug).
    fn finish(self) -> BaseSender<B>;
}

/// The receiver of a base OT protocol of level `B`.
pub trait ReceiveBase<B: BaseSecurity>: Steps + Send {
    /// The OTs, when there is no tick any more.
    ///
    /// # Panics
    /// If ticks are left (the caller's bug).
    fn finish(self) -> BaseReceiver<B>;
}

/// A base OT protocol, as a type, so that an extension can ask for one that is strong enough.
pub trait BaseProtocol: Send + 'static {
    /// What it withstands.
    type Level: BaseSecurity;
    /// Its sender.
    type Sender: SendBase<Self::Level>;
    /// Its receiver.
    type Receiver: ReceiveBase<Self::Level>;

    /// As users write it: lower case.
    const NAME: &'static str;

    /// The end that gets both keys of `count` OTs. `seed` is this party's secret randomness.
    fn sender(context: &Context, count: usize, seed: &Seed) -> Self::Sender;

    /// The end that gets the keys that `choices` name.
    fn receiver(context: &Context, choices: Vec<bool>, seed: &Seed) -> Self::Receiver;
}
