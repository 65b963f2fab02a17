//! Random bit triples: c = a·b, each bit shared by exclusive or, from two random OTs and no message of its own.
//!
//! Party i is sender of one OT and receiver of the other: a_i = m0 ⊕ m1 and u_i = m0 of the OT that it sends, b_i and
//! v_i = m_b of the one that it receives, c_i = a_i b_i ⊕ u_i ⊕ v_i. Then a_0 b_1 = u_0 ⊕ v_1 and a_1 b_0 = u_1 ⊕ v_0
//! (bits are bit 0 of the blocks). The triples carry no MACs: a malicious party cannot make an honest one's wrong, but
//! may later say that its own shares are others.

use zeroize::{Zeroize, ZeroizeOnDrop};

use crate::{
    Duplex, OtError, Receiver, Security, Sender, Steps, Tick,
    bits::{bytes, lsbs},
    owned::{OwnedKeys, OwnedPairs},
    pipeline::Pipeline,
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

/// The machine that makes them, over a sender's and a receiver's end at each party.
#[must_use = "run its steps, then finish"]
pub struct Triples<'e, S: Security> {
    send: Pipeline<'e, OwnedPairs, S>,
    receive: Pipeline<'e, OwnedKeys, S>,
    first: bool,
}

impl<'e, S: Security> Triples<'e, S> {
    /// `count` triples; `first` at one party and not at the other: its sender speaks with the other's receiver first.
    /// Verified when the steps are done.
    pub fn new(sender: &'e mut Sender<S>, receiver: &'e mut Receiver<S>, count: usize, first: bool) -> Self {
        let send = Pipeline::new(sender.end(), OwnedPairs::new(count, false), true);
        let receive = Pipeline::new(receiver.end(), OwnedKeys::random(count), true);
        Self { send, receive, first }
    }

    /// The triples.
    ///
    /// # Panics
    /// If steps are left (the caller's bug).
    #[must_use]
    pub fn finish(self) -> BitTriples {
        let (sent, received) = (self.send.into_verified(), self.receive.into_verified());
        let n = bytes(sent.pairs.len());
        let (mut a, mut u, mut v) = (vec![0; n], vec![0; n], vec![0; n]);
        let sums: Vec<_> = sent.pairs.iter().map(|[zero, one]| *zero ^ *one).collect();
        let zeros: Vec<_> = sent.pairs.iter().map(|[zero, _]| *zero).collect();
        lsbs(&sums, &mut a);
        lsbs(&zeros, &mut u);
        lsbs(&received.messages, &mut v);
        let b = received.choices.clone();
        let c = (0..n).map(|i| a[i] & b[i] ^ u[i] ^ v[i]).collect();
        BitTriples { a, b, c }
    }

    /// Both directions, in the order that both parties see.
    fn both(&mut self) -> Box<dyn Steps + '_> {
        let (send, receive) = (&mut self.send, &mut self.receive);
        if self.first {
            Box::new(Duplex { first: send, second: receive })
        } else {
            Box::new(Duplex { first: receive, second: send })
        }
    }
}

impl<S: Security> Steps for Triples<'_, S> {
    fn tick(&self) -> Option<Tick> {
        match (self.send.tick(), self.receive.tick()) {
            (Some(a), Some(b)) => {
                Some(Tick { name: "bit triples", out: a.out + b.out, into: a.into + b.into })
            }
            (a, b) => a.or(b),
        }
    }
    fn speak(&mut self, out: &mut [u8]) -> Result<(), OtError> {
        self.both().speak(out)
    }
    fn hear(&mut self, message: &[u8]) -> Result<(), OtError> {
        self.both().hear(message)
    }
}
