//! Dealing: a value that one party knows becomes shares of all three, by one message to its right
//! neighbour.
//!
//! ```text
//! dealer p        x_p from the key that p shares with its left neighbour, x_{p+2} = 0
//!                 x_{p+1} = v − x_p goes to the right (bits: ⊕)             ── slot 1
//! message         planes of bits, then words of numbers
//! ```
//!
//! **Security.** The message is uniform to the right neighbour, which lacks that key. SECURITY: a
//! mask must be used once. Two dealings under one mask would reveal the difference of their values
//! to the neighbour. A [`Context`] therefore serves one dealing, whose bits and numbers use
//! different words.

use super::{
    column::Column,
    gate::{TwoWayGate, two_way},
    word::Word,
};
use crate::{
    Context, Rep3, Role, Shares,
    pool::{self, Scratch},
    xor_into,
};
use hushwire_machine::{
    Cost,
    drive::{Exchanged, Round},
};

/// The contents of a dealing, planes of bits and numbers. At parties other than the dealer only
/// their size matters.
pub(super) struct Dealt<W: Word> {
    pub(super) bits: Scratch<u8>,
    pub(super) numbers: Scratch<W>,
}

/// One party's endpoint of a dealing.
pub(super) struct Deal<W: Word> {
    role: Role,
    dealer: Role,
    bits: Shares,
    numbers: Column<W>,
    done: bool,
    gate: TwoWayGate,
}

impl<W: Word> Deal<W> {
    /// The lengths must be the same at all parties.
    pub(super) fn new(cx: &Context, dealer: Role, dealt: &Dealt<W>) -> Self {
        let (bytes, rows) = (dealt.bits.len(), dealt.numbers.len());
        let mut bits = Rep3 { own: pool::zeros(bytes), next: pool::zeros(bytes) };
        let mut numbers = Column::zeros(rows);
        let mask = |of: usize, out: &mut [u8], first: u64| {
            cx.backend.counter_bytes(cx.prss.keys()[of], cx.address.counter(first), out);
        };
        let first = bytes.div_ceil(16) as u64;
        let words = |of: usize, out: &mut [W]| {
            let mut keyed = Scratch::zeros(rows * W::BYTES);
            mask(of, &mut keyed, first);
            out.iter_mut().zip(keyed.chunks_exact(W::BYTES)).for_each(|(out, word)| *out = W::read(word));
        };
        if cx.role == dealer {
            mask(1, &mut bits.own, 0);
            bits.next.copy_from_slice(&dealt.bits);
            let Rep3 { own, next } = &mut bits;
            xor_into(next, own);
            words(1, &mut numbers.own);
            let Rep3 { own, next } = &mut numbers;
            for (x, (number, mask)) in next.iter_mut().zip(dealt.numbers.iter().zip(own)) {
                *x = number.minus(*mask);
            }
        } else if cx.role == dealer.left() {
            mask(0, &mut bits.next, 0);
            words(0, &mut numbers.next);
        }
        let done = bytes + rows == 0;
        Deal { role: cx.role, dealer, bits, numbers, done, gate: TwoWayGate::default() }
    }

    /// The cost for a party, from the bytes of planes and the count of numbers.
    pub(super) fn cost(role: Role, dealer: Role, bytes: usize, rows: usize) -> Cost {
        let total = bytes + rows * W::BYTES;
        let sent = if role == dealer { total } else { 0 };
        Cost { rounds: u64::from(total > 0), bytes_sent: sent as u64 }
    }

    /// Shares of the bits and of the numbers, after the run.
    pub(super) fn finish(self) -> (Shares, Column<W>) {
        (self.bits, self.numbers)
    }

    fn bytes(&self) -> usize {
        self.bits.own.len() + self.numbers.rows() * W::BYTES
    }

    fn gate(&mut self) -> &mut TwoWayGate {
        &mut self.gate
    }

    fn exchange(&self) -> Option<[Round; 2]> {
        let bytes = self.bytes();
        let at = |role: Role| if self.role == role { bytes } else { 0 };
        let back = Round { name: "dealing", out: at(self.dealer), into: at(self.dealer.right()) };
        (!self.done).then_some([Round::even(back.name, 0), back])
    }

    fn say(&mut self, slot: usize, out: &mut [u8]) {
        if slot == 1 && self.role == self.dealer {
            let (bits, words) = out.split_at_mut(self.bits.next.len());
            bits.copy_from_slice(&self.bits.next);
            let words = words.chunks_exact_mut(W::BYTES);
            words.zip(&self.numbers.next).for_each(|(out, word)| word.write(out));
        }
    }

    fn hear(&mut self, [_, back]: [Exchanged<'_>; 2]) {
        if self.role == self.dealer.right() {
            let (bits, words) = back.heard.split_at(self.bits.own.len());
            self.bits.own.copy_from_slice(bits);
            let words = words.chunks_exact(W::BYTES);
            self.numbers.own.iter_mut().zip(words).for_each(|(own, word)| *own = W::read(word));
        }
        self.done = true;
    }
}

two_way!([W: Word] Deal<W>;
    fn cost(&self) -> Option<Cost> {
        Some(Deal::<W>::cost(self.role, self.dealer, self.bits.own.len(), self.numbers.rows()))
    }
);
