//! Base OTs of any protocol that is strong enough, behind one type.

use core::marker::PhantomData;

use hushwire_machine::passed_on;
use hushwire_prg::Seed;

use crate::{
    AtLeast, BaseSecurity, Context, Machine, OtError,
    base::{BaseProtocol, BaseReceiver, BaseSender, ReceiveBase, SendBase},
};

/// A sender of base OTs that are secure against `W`.
pub(super) trait AnySender<W: BaseSecurity>: Machine<Error = OtError> + Send {
    fn finish(self: Box<Self>) -> BaseSender<W>;
}

/// A receiver of base OTs that are secure against `W`.
pub(super) trait AnyReceiver<W: BaseSecurity>: Machine<Error = OtError> + Send {
    fn finish(self: Box<Self>) -> BaseReceiver<W>;
}

/// An endpoint of a protocol of level `B`.
struct Of<P, B>(P, PhantomData<B>);

passed_on!([P: Machine<Error = OtError>, B] Of<P, B>, OtError, self => self.0);

impl<W: BaseSecurity, B: AtLeast<W>, P: SendBase<B>> AnySender<W> for Of<P, B> {
    fn finish(self: Box<Self>) -> BaseSender<W> {
        self.0.finish().weaken()
    }
}

impl<W: BaseSecurity, B: AtLeast<W>, P: ReceiveBase<B>> AnyReceiver<W> for Of<P, B> {
    fn finish(self: Box<Self>) -> BaseReceiver<W> {
        self.0.finish().weaken()
    }
}

/// The sender of `count` base OTs.
pub(super) fn sender<W, B>(context: &Context, count: usize, seed: &Seed) -> Box<dyn AnySender<W>>
where
    W: BaseSecurity,
    B: BaseProtocol,
    B::Level: AtLeast<W>,
{
    Box::new(Of::<_, B::Level>(B::sender(context, count, seed), PhantomData))
}

/// The receiver of base OTs with these choices.
pub(super) fn receiver<W, B>(context: &Context, choices: Vec<bool>, seed: &Seed) -> Box<dyn AnyReceiver<W>>
where
    W: BaseSecurity,
    B: BaseProtocol,
    B::Level: AtLeast<W>,
{
    Box::new(Of::<_, B::Level>(B::receiver(context, choices, seed), PhantomData))
}
