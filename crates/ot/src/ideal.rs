//! An ideal extension: one that a dealer could have made, with either side speaking.

use core::marker::PhantomData;

use hushwire_aes::Backend;
use hushwire_block::Block;
use hushwire_prg::{Prg, Seed};

use crate::{Check, CheckStep, Context, Extension, Level, OtError, Receiver, Role, Security, Sender, Sid};

pub(crate) const DELTA: Block = Block::from_u128(0x0123_4567_89ab_cdef_0011_2233_4455_6677);
const STEPS: [CheckStep; 2] = [
    CheckStep { name: "first", from: Role::Receiver, bytes: 5 },
    CheckStep { name: "second", from: Role::Sender, bytes: 3 },
];

/// Both ends draw the same stream; the message of a chunk is its number.
struct Ideal<S> {
    role: Role,
    speaker: Role,
    stream: Prg,
    /// OTs that a message makes, and how many of them are in stock.
    size: usize,
    stock: usize,
    number: u8,
    open: bool,
    closed: Option<u8>,
    level: PhantomData<S>,
}

/// The generator that both ends draw from.
pub(crate) fn stream() -> Prg {
    Prg::new(Backend::best(), &Seed::from_bytes([3; 16]), "ideal")
}

/// The next OT: q and the random choice.
pub(crate) fn deal(stream: &mut Prg) -> (Block, bool) {
    let (mut q, choice) = (stream.next_block(), stream.next_u64() & 1 == 1);
    q.0[0] &= 0xfe;
    (q, choice)
}

pub(crate) fn ideal<S: Security>(role: Role, speaker: Role, size: usize) -> Box<dyn Extension<S>> {
    let stream = stream();
    let (level, closed) = (PhantomData, None);
    Box::new(Ideal { role, speaker, stream, size, stock: 0, number: 0, open: false, closed, level })
}

impl<S: Security> Extension<S> for Ideal<S> {
    fn role(&self) -> Role {
        self.role
    }
    fn speaker(&self) -> Role {
        self.speaker
    }
    fn delta(&self) -> Option<Block> {
        (self.role == Role::Sender).then_some(DELTA)
    }
    fn chunk_len(&self, wanted: usize) -> usize {
        wanted.min(if self.stock > 0 { self.stock } else { self.size })
    }
    fn chunk_bytes(&self, _: usize) -> usize {
        if self.stock > 0 { 0 } else { 1 }
    }
    fn chunk(&mut self, heard: &[u8], said: &mut [u8], blocks: &mut [Block]) -> Result<(), OtError> {
        if self.stock == 0 {
            assert_eq!([heard.len(), said.len()].iter().sum::<usize>(), 1);
            said.fill(self.number);
            if !heard.iter().all(|heard| *heard == self.number) {
                return Err(OtError::malformed("chunk", "it has another number"));
            }
            (self.number, self.stock, self.open) = (self.number.wrapping_add(1), self.size, true);
        }
        self.stock -= blocks.len();
        for block in blocks {
            let (q, choice) = deal(&mut self.stream);
            *block = if self.role == Role::Sender { q } else { q ^ DELTA.and_bit(choice) };
        }
        Ok(())
    }
    fn check_steps(&self) -> &[CheckStep] {
        if S::LEVEL == Level::Malicious { &STEPS } else { &[] }
    }
    fn is_open(&self) -> bool {
        self.open
    }
    fn close_segment(&mut self) {
        assert!(self.closed.is_none(), "the check before must be done");
        (self.open, self.closed) = (false, Some(self.number));
    }
    fn check(&mut self, step: usize, heard: &[u8], said: &mut [u8]) -> Result<(), OtError> {
        let number = self.closed.expect("a segment was closed");
        said.fill(number);
        if step == 1 {
            self.closed = None;
        }
        if heard.iter().all(|heard| *heard == number) { Ok(()) } else { Err(OtError::abort(Check::Rows)) }
    }
}

pub(crate) fn context() -> Context {
    Context { sid: Sid([9; 32]), backend: Backend::best() }
}

pub(crate) fn ends<S: Security>(speaker: Role, size: usize) -> (Sender<S>, Receiver<S>) {
    let sender = Sender::new(&context(), ideal(Role::Sender, speaker, size));
    (sender, Receiver::new(&context(), ideal(Role::Receiver, speaker, size)))
}
