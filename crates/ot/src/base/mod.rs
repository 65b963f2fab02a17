//! Base OTs: random OTs from public-key cryptography, a few at a time.
//!
//! | protocol | withstands | messages | source |
//! |---|---|---|---|
//!
//! Group: ristretto255, of prime order, so that there are no low-order points to reject.

use core::marker::PhantomData;

use hushwire_block::Block;
use zeroize::{Zeroize, ZeroizeOnDrop};

use crate::{BaseSecurity, Steps, Weaker};

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
        B: Weaker<W>,
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
        B: Weaker<W>,
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
    fn finish(self: Box<Self>) -> BaseSender<B>;
}

/// The receiver of a base OT protocol of level `B`.
pub trait ReceiveBase<B: BaseSecurity>: Steps + Send {
    /// The OTs, when there is no tick any more.
    ///
    /// # Panics
    /// If ticks are left (the caller's bug).
    fn finish(self: Box<Self>) -> BaseReceiver<B>;
}
