//! Ideal functionalities for tests: a trusted dealer's outputs replace a protocol. Protocols above
//! OTs are tested on them alone. Release builds do not contain this module.

use core::marker::PhantomData;

use hushwire_aes::Backend;
use hushwire_block::Block;
use hushwire_machine::Process;
use hushwire_prg::{Prg, Seed};

use crate::{
    BitTriples, Check, CheckStep, Context, Extension, Level, OtError, Receiver, Role, Security, Sender, Sid,
};

/// Δ of [`ends`].
pub const DELTA: Block = Block::from_u128(0x0123_4567_89ab_cdef_0011_2233_4455_6677);
const STEPS: [CheckStep; 2] = [
    CheckStep { name: "first", from: Role::Receiver, bytes: 5 },
    CheckStep { name: "second", from: Role::Sender, bytes: 3 },
];

/// An extension whose endpoints draw from the same stream; the message of a chunk is its number.
struct Ideal<S> {
    role: Role,
    speaker: Role,
    stream: Prg,
    /// The number of OTs that a message makes, and the number of those in stock.
    size: usize,
    stock: usize,
    number: u8,
    open: bool,
    closed: Option<u8>,
    level: PhantomData<S>,
}

/// The generator from which both endpoints draw.
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
    fn process(&self) -> Process {
        Process::here()
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

/// Both endpoints of OTs from a dealer. Messages are numbers that `speaker` sends, one for every
/// `size` OTs.
#[must_use]
pub fn ends<S: Security>(speaker: Role, size: usize) -> (Sender<S>, Receiver<S>) {
    let sender = Sender::new(&context(), ideal(Role::Sender, speaker, size));
    (sender, Receiver::new(&context(), ideal(Role::Receiver, speaker, size)))
}

/// A block with the given bit 0.
fn block(prg: &mut Prg, bit: u8) -> Block {
    let mut block = prg.next_block();
    block.0[0] = block.0[0] & 0xfe | bit;
    block
}

/// A dealt Δ.
pub fn delta(prg: &mut Prg) -> Block {
    block(prg, 1)
}

/// The sender's q and the receiver's t of random correlated OTs: bit 0 of t is the choice.
pub fn cots(prg: &mut Prg, delta: Block, count: usize) -> [Vec<Block>; 2] {
    let q: Vec<Block> = (0..count).map(|_| block(prg, 0)).collect();
    let t = q.iter().map(|q| *q ^ delta.and_bit(prg.next_block().lsb())).collect();
    [q, t]
}

/// Both parties' shares of random bit triples.
pub fn triples(prg: &mut Prg, count: u64) -> [BitTriples; 2] {
    let mut bytes = || {
        let mut bytes = vec![0; count.div_ceil(8) as usize];
        prg.fill(&mut bytes);
        bytes
    };
    let ([a, x], [b, y], c) = ([bytes(), bytes()], [bytes(), bytes()], bytes());
    let product = |i: usize| (a[i] ^ x[i]) & (b[i] ^ y[i]);
    let z = c.iter().enumerate().map(|(i, c)| c ^ product(i)).collect();
    [BitTriples { a, b, c }, BitTriples { a: x, b: y, c: z }]
}
