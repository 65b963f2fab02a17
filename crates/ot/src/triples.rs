//! Random bit triples: c = a·b, each bit shared by XOR, from two random OTs and without messages of
//! their own.
//!
//! Party i is the sender of one OT and the receiver of the other. a_i = m0 ⊕ m1 and u_i = m0 come
//! from the OT that it sends, b_i and v_i = m_b from the one that it receives, and c_i = a_i b_i ⊕
//! u_i ⊕ v_i. Then a_0 b_1 = u_0 ⊕ v_1 and a_1 b_0 = u_1 ⊕ v_0 (bits are bit 0 of the blocks). The
//! triples carry no MACs: a malicious party cannot make an honest party's triples wrong, but may
//! later claim other shares of its own.

use zeroize::{Zeroize, ZeroizeOnDrop};

use crate::{
    Machine, OtError, Receiver, Round, Security, Sender,
    bits::{bytes, lsbs, put_range},
    end::ChunkOts,
    hasher::OtHasher,
    machine::{Guarded, Latch, guarded},
    pipeline::Pipeline,
    secret::refit,
    steps::{both, read_both, write_both},
    work::Work,
};

/// One party's shares of random bit triples, packed; secret.
#[derive(Zeroize, ZeroizeOnDrop)]
pub struct BitTriples {
    /// First factors.
    pub a: Vec<u8>,
    /// Second factors.
    pub b: Vec<u8>,
    /// Products.
    pub c: Vec<u8>,
}

/// The sender's part of its OTs, as bits, so that a call of any length fits in memory.
#[derive(Zeroize, ZeroizeOnDrop)]
struct Sent {
    count: usize,
    a: Vec<u8>,
    u: Vec<u8>,
    column: [Vec<u8>; 2],
}

/// The receiver's part of its OTs, as bits.
#[derive(Zeroize, ZeroizeOnDrop)]
struct Received {
    count: usize,
    b: Vec<u8>,
    v: Vec<u8>,
    column: Vec<u8>,
}

impl Work for Sent {
    fn count(&self) -> usize {
        self.count
    }
    fn is_chosen(&self) -> bool {
        false
    }
    fn take(&mut self, hasher: &mut OtHasher, chunk: &mut ChunkOts, _: Option<&[u8]>) {
        let [zeros, sums] = &mut self.column;
        refit(zeros, bytes(chunk.len));
        refit(sums, bytes(chunk.len));
        hasher.pair_bits(chunk.first, &chunk.blocks, zeros, sums);
        sums.iter_mut().zip(&*zeros).for_each(|(sum, zero)| *sum ^= zero);
        put_range(zeros, chunk.len, &mut self.u, chunk.start);
        put_range(sums, chunk.len, &mut self.a, chunk.start);
    }
}

impl Work for Received {
    fn count(&self) -> usize {
        self.count
    }
    fn is_chosen(&self) -> bool {
        false
    }
    fn take(&mut self, hasher: &mut OtHasher, chunk: &mut ChunkOts, _: Option<&[u8]>) {
        refit(&mut self.column, bytes(chunk.len));
        lsbs(&chunk.blocks, &mut self.column);
        put_range(&self.column, chunk.len, &mut self.b, chunk.start);
        hasher.hash_here(chunk.first, &mut chunk.blocks);
        lsbs(&chunk.blocks, &mut self.column);
        put_range(&self.column, chunk.len, &mut self.v, chunk.start);
    }
}

/// The machine that makes triples, over a sender's and a receiver's endpoint at each party.
#[must_use = "run its steps, then finish"]
pub struct Triples<'e, S: Security> {
    send: Pipeline<'e, Sent, S>,
    receive: Pipeline<'e, Received, S>,
    first: bool,
    latch: Latch,
}

impl<'e, S: Security> Triples<'e, S> {
    /// A machine for `count` triples. `first` is true at one party and false at the other: this
    /// party's sender comes first in messages, with the peer's receiver. The triples are verified
    /// after the last step.
    pub fn new(sender: &'e mut Sender<S>, receiver: &'e mut Receiver<S>, count: usize, first: bool) -> Self {
        let zeros = || vec![0; bytes(count)];
        let sent = Sent { count, a: zeros(), u: zeros(), column: [Vec::new(), Vec::new()] };
        let received = Received { count, b: zeros(), v: zeros(), column: Vec::new() };
        let send = Pipeline::new(sender.end(), sent, true);
        let receive = Pipeline::new(receiver.end(), received, true);
        Self { send, receive, first, latch: Latch::new() }
    }

    /// The triples.
    ///
    /// # Panics
    /// If steps are left (the caller's bug).
    #[must_use]
    pub fn finish(self) -> BitTriples {
        let (mut sent, mut received) = (self.send.into_verified(), self.receive.into_verified());
        let (a, b) = (core::mem::take(&mut sent.a), core::mem::take(&mut received.b));
        let mut c = core::mem::take(&mut sent.u);
        for (i, c) in c.iter_mut().enumerate() {
            *c ^= a[i] & b[i] ^ received.v[i];
        }
        BitTriples { a, b, c }
    }

    /// The OTs in which this party speaks, and those in which the peer speaks, as separate
    /// machines. In semi-honest mode every tick of the first only sends and every tick of the
    /// second only receives, so that a driver may run one ahead of the other. Both directions have
    /// the same number of OTs, and their endpoints made the same number before. Therefore this
    /// party's messages have the same lengths as those that it receives in the other machine.
    pub fn ways(&mut self) -> (&mut dyn Machine<Error = OtError>, &mut dyn Machine<Error = OtError>) {
        if self.send.speaks() {
            (&mut self.send, &mut self.receive)
        } else {
            (&mut self.receive, &mut self.send)
        }
    }

    /// Both directions, in the order that both parties use.
    fn both(&mut self) -> [&mut dyn Machine<Error = OtError>; 2] {
        let (send, receive) = (&mut self.send, &mut self.receive);
        if self.first { [send, receive] } else { [receive, send] }
    }
}

guarded!([S: Security] Triples<'_, S>);

impl<S: Security> Guarded for Triples<'_, S> {
    fn exchange(&self) -> Option<Round> {
        both("bit triples", self.send.round(0), self.receive.round(0))
    }
    fn say(&mut self, out: &mut [u8]) -> Result<(), OtError> {
        let [first, second] = self.both();
        write_both(first, second, out)
    }
    fn take(&mut self, message: &[u8]) -> Result<(), OtError> {
        let [first, second] = self.both();
        read_both(first, second, message)
    }
    fn latch(&self) -> &Latch {
        &self.latch
    }
}
