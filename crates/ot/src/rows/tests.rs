//! Tests with both endpoints in lockstep, over base OTs from a dealer.

mod binding;
mod cheat;
mod honest;

use core::marker::PhantomData;

use hushwire_aes::Backend;
use hushwire_block::{Block, registry};
use hushwire_prg::{Prg, Seed};

use crate::{
    Context, Exchanged, Extension, Full, Level, Machine, OtError, Round, Security, Sid,
    base::{BaseProtocol, BaseReceiver, BaseSender, ReceiveBase, SendBase},
    lockstep,
};

use super::{RootReceiver, RootSender, RowKind, SetupReceiver, SetupSender};

/// See [`super::receiver::Receiver::deviate`].
pub(super) type Deviate = Box<dyn FnMut(&mut [Block]) + Send>;

/// Ideal base OTs: both endpoints draw them from the session's name, and no message is sent.
struct Dealer;

struct Dealt<T>(T);

impl<T> Machine for Dealt<T> {
    type Error = OtError;
    fn round(&self, _slot: usize) -> Option<Round> {
        None
    }
    fn write(&mut self, _slot: usize, _: &mut [u8]) -> Result<(), OtError> {
        Ok(())
    }
    fn read(&mut self, _: &[Exchanged<'_>]) -> Result<(), OtError> {
        Ok(())
    }
}

impl SendBase<Full> for Dealt<BaseSender<Full>> {
    fn finish(self) -> BaseSender<Full> {
        self.0
    }
}

impl ReceiveBase<Full> for Dealt<BaseReceiver<Full>> {
    fn finish(self) -> BaseReceiver<Full> {
        self.0
    }
}

fn dealt(context: &Context, count: usize) -> Vec<[Block; 2]> {
    let (first, _) = context.sid.0.split_first_chunk().expect("32 bytes");
    let mut keys = vec![[Block::ZERO; 2]; count];
    // Both endpoints draw the same keys, so that the draws are not recorded.
    registry::silent(|| {
        Prg::new(context.backend, &Seed::from_bytes(*first), "dealer").fill_blocks(keys.as_flattened_mut());
    });
    keys
}

impl BaseProtocol for Dealer {
    type Level = Full;
    type Sender = Dealt<BaseSender<Full>>;
    type Receiver = Dealt<BaseReceiver<Full>>;
    const NAME: &'static str = "dealer";

    fn sender(context: &Context, count: usize, _: &Seed) -> Self::Sender {
        Dealt(BaseSender::new(dealt(context, count)))
    }
    fn receiver(context: &Context, choices: Vec<bool>, _: &Seed) -> Self::Receiver {
        let keys = dealt(context, choices.len());
        let keys = keys.iter().zip(&choices).map(|(keys, choice)| keys[usize::from(*choice)]).collect();
        Dealt(BaseReceiver::new(choices, keys))
    }
}

fn context(backend: Backend, seed: u64) -> Context {
    Context { sid: Sid([5; 32]).child("test", seed), backend }
}

fn seed(seed: u64, end: u8) -> Seed {
    let mut bytes = [end; 16];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    Seed::from_bytes(bytes)
}

type Setups<S> = (SetupSender<S>, SetupReceiver<S>);

fn setups<S: Security>(kind: RowKind, backend: Backend, number: u64) -> Result<Setups<S>, OtError>
where
    Full: crate::AtLeast<S::Base>,
{
    let context = context(backend, number);
    let s = SetupSender::new::<Dealer>(&context, kind, &seed(number, 1))?;
    Ok((s, SetupReceiver::new::<Dealer>(&context, kind, &seed(number, 2))?))
}

fn roots<S: Security>(kind: RowKind, backend: Backend, number: u64) -> (RootSender<S>, RootReceiver<S>)
where
    Full: crate::AtLeast<S::Base>,
{
    let (mut s, mut r) = setups::<S>(kind, backend, number).expect("the kind exists");
    lockstep(&mut s, &mut r).expect("an honest set-up");
    (s.finish(), r.finish())
}

/// The kinds that exist at a level.
fn kinds<S: Security>() -> impl Iterator<Item = RowKind> {
    RowKind::ALL.into_iter().filter(|kind| kind.supports(S::LEVEL).is_ok())
}

/// Both endpoints, and a hash of all their messages.
struct Pump<S, R> {
    s: Box<dyn Extension<S>>,
    r: R,
    delta: Block,
    moved: usize,
    hash: blake3::Hasher,
    level: PhantomData<S>,
}

impl<S: Security, R: Extension<S>> Pump<S, R> {
    fn new(root: &RootSender<S>, lane: u16, r: R) -> Self {
        let s = root.fork(lane);
        let (hash, level) = (blake3::Hasher::new(), PhantomData);
        Pump { delta: root.delta(), s, r, moved: 0, hash, level }
    }

    /// Makes `count` OTs; `tamper` may change every message on its way.
    fn extend(
        &mut self,
        count: usize,
        tamper: &mut dyn FnMut(&mut [u8]),
    ) -> Result<(Vec<Block>, Vec<Block>), OtError> {
        let (mut q, mut t) = (vec![Block::ZERO; count], vec![Block::ZERO; count]);
        let mut next = 0;
        while next < count {
            let len = self.s.chunk_len(count - next);
            assert_eq!(len, self.r.chunk_len(count - next));
            let mut message = vec![0; self.r.chunk_bytes(len)];
            assert_eq!(message.len(), self.s.chunk_bytes(len));
            registry::as_end(1, || self.r.chunk(&[], &mut message, &mut t[next..next + len]))?;
            self.moved += message.len();
            self.hash.update(&message);
            if !message.is_empty() {
                tamper(&mut message);
            }
            registry::as_end(0, || self.s.chunk(&message, &mut [], &mut q[next..next + len]))?;
            next += len;
        }
        Ok((q, t))
    }

    fn close(&mut self) {
        registry::as_end(0, || self.s.close_segment());
        registry::as_end(1, || self.r.close_segment());
    }

    /// Runs the check of the closed segment.
    fn check(&mut self, tamper: &mut dyn FnMut(usize, &mut [u8])) -> Result<(), OtError> {
        for step in 0..self.s.check_steps().len() {
            let at = self.s.check_steps()[step];
            assert_eq!(at, self.r.check_steps()[step]);
            let mut message = vec![0; at.bytes];
            if at.from == crate::Role::Receiver {
                registry::as_end(1, || self.r.check(step, &[], &mut message))?;
            } else {
                registry::as_end(0, || self.s.check(step, &[], &mut message))?;
            }
            self.hash.update(&message);
            tamper(step, &mut message);
            if at.from == crate::Role::Receiver {
                registry::as_end(0, || self.s.check(step, &message, &mut []))?;
            } else {
                registry::as_end(1, || self.r.check(step, &message, &mut []))?;
            }
        }
        Ok(())
    }

    fn assert_related(&self, q: &[Block], t: &[Block]) {
        assert!(self.delta.lsb());
        for (i, (q, t)) in q.iter().zip(t).enumerate() {
            assert!(!q.lsb(), "bit 0 of q {i}");
            assert_eq!(*t, *q ^ self.delta.and_bit(t.lsb()), "OT {i}");
        }
    }
}

impl<S: Security> Extension<S> for Box<dyn Extension<S>> {
    fn role(&self) -> crate::Role {
        (**self).role()
    }
    fn speaker(&self) -> crate::Role {
        (**self).speaker()
    }
    fn process(&self) -> hushwire_machine::Process {
        (**self).process()
    }
    fn delta(&self) -> Option<Block> {
        (**self).delta()
    }
    fn chunk_len(&self, wanted: usize) -> usize {
        (**self).chunk_len(wanted)
    }
    fn chunk_bytes(&self, len: usize) -> usize {
        (**self).chunk_bytes(len)
    }
    fn chunk(&mut self, heard: &[u8], said: &mut [u8], blocks: &mut [Block]) -> Result<(), OtError> {
        (**self).chunk(heard, said, blocks)
    }
    fn limit(&mut self, count: usize) {
        (**self).limit(count);
    }
    fn check_steps(&self) -> &[crate::CheckStep] {
        (**self).check_steps()
    }
    fn is_open(&self) -> bool {
        (**self).is_open()
    }
    fn close_segment(&mut self) {
        (**self).close_segment();
    }
    fn check(&mut self, step: usize, heard: &[u8], said: &mut [u8]) -> Result<(), OtError> {
        (**self).check(step, heard, said)
    }
}

/// Whether a level is the malicious one.
fn malicious<S: Security>() -> bool {
    S::LEVEL == Level::Malicious
}
