//! Modes: ECB, CTR as in SP 800-38A, and the counter streams of PRG and PRSS.

use crate::batch::{BatchOp, Counter, InPlace, runs};
use crate::{Aes128, Backend, RoundKeys};
use hushwire_block::{
    Block, as_bytes_mut,
    registry::{self, STREAM},
};
use hushwire_simd::Lanes;

struct Ecb<'a, const R: usize>(&'a RoundKeys<R>);

impl<const R: usize> BatchOp<8> for Ecb<'_, R> {
    type InRegisters<L: Lanes> = [L::V; R];
    #[inline(always)]
    fn ready<L: Lanes>(&self, l: L) -> [L::V; R] {
        self.0.vectors(l)
    }
    #[inline(always)]
    fn step<L: Lanes>(l: L, keys: &mut [L::V; R], v: &mut [L::V; 8]) {
        l.encrypt(keys, v);
    }
}

struct Ctr<'a, const R: usize>(&'a RoundKeys<R>, u128);

impl<const R: usize> BatchOp<8> for Ctr<'_, R> {
    type InRegisters<L: Lanes> = ([L::V; R], Counter<L, 8>);
    #[inline(always)]
    fn ready<L: Lanes>(&self, l: L) -> Self::InRegisters<L> {
        (self.0.vectors(l), Counter::new(l, self.1, 1))
    }
    #[inline(always)]
    fn step<L: Lanes>(l: L, (keys, counter): &mut Self::InRegisters<L>, v: &mut [L::V; 8]) {
        let reverse = l.splat(&[15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0]);
        let mut c = counter.next(l);
        for c in &mut c {
            *c = l.shuffle(*c, reverse);
        }
        l.encrypt_xor(keys, v, &mut c);
        *v = c;
    }
}

struct CounterStream<'a>(&'a Aes128, u128);

impl BatchOp<8> for CounterStream<'_> {
    type InRegisters<L: Lanes> = ([L::V; 11], Counter<L, 8>);
    #[inline(always)]
    fn ready<L: Lanes>(&self, l: L) -> Self::InRegisters<L> {
        (self.0.vectors(l), Counter::new(l, self.1, 1))
    }
    #[inline(always)]
    fn step<L: Lanes>(l: L, (keys, counter): &mut Self::InRegisters<L>, v: &mut [L::V; 8]) {
        *v = counter.next(l);
        l.encrypt(keys, v);
    }
}

struct CounterSum<'a>(&'a Aes128, &'a Aes128, u128);

impl BatchOp<4> for CounterSum<'_> {
    type InRegisters<L: Lanes> = ([L::V; 11], [L::V; 11], Counter<L, 4>);
    #[inline(always)]
    fn ready<L: Lanes>(&self, l: L) -> Self::InRegisters<L> {
        (self.0.vectors(l), self.1.vectors(l), Counter::new(l, self.2, 1))
    }
    #[inline(always)]
    fn step<L: Lanes>(l: L, (k0, k1, counter): &mut Self::InRegisters<L>, v: &mut [L::V; 4]) {
        *v = counter.next(l);
        l.encrypt_sum(k0, k1, v);
    }
}

/// The bytes of blocks `start..end`; the last block may be incomplete.
fn span(data: &mut [u8], start: usize, end: usize) -> &mut [u8] {
    let end = data.len().min(16 * end);
    &mut data[16 * start..end]
}

impl Backend {
    /// Encrypts every block in place (SP 800-38A, ECB).
    pub fn ecb_encrypt<const R: usize>(&self, key: &RoundKeys<R>, blocks: &mut [Block]) {
        self.run(InPlace(Ecb(key), as_bytes_mut(blocks)));
    }

    /// XORs the key stream of SP 800-38A's CTR mode into `data`. Block `i` of the stream encrypts
    /// `counter + i`, big-endian and modulo 2^128, as in OpenSSL.
    pub fn ctr_xor<const R: usize>(&self, key: &RoundKeys<R>, counter: [u8; 16], data: &mut [u8]) {
        for (first, start, end) in runs(u128::from_be_bytes(counter), data.len().div_ceil(16)) {
            self.run(InPlace(Ctr(key, first), span(data, start, end)));
        }
    }

    /// `out[i] = AES_k(LE128(first + i))`, counting modulo 2^128.
    pub fn counter_blocks(&self, key: &Aes128, first: u128, out: &mut [Block]) {
        self.counter_bytes(key, first, as_bytes_mut(out));
    }

    /// [`Backend::counter_blocks`] as bytes; the last block may be incomplete.
    pub fn counter_bytes(&self, key: &Aes128, first: u128, out: &mut [u8]) {
        registry::used(STREAM, key.bytes(), first, out.len().div_ceil(16));
        for (first, start, end) in runs(first, out.len().div_ceil(16)) {
            self.run_batch(InPlace(CounterStream(key, first), span(out, start, end)));
        }
    }

    /// `out[16 i ..] = AES_k0(LE128(first + i)) ^ AES_k1(LE128(first + i))`, counting modulo 2^128;
    /// the last block may be incomplete.
    pub fn counter_xor2(&self, k0: &Aes128, k1: &Aes128, first: u128, out: &mut [u8]) {
        for key in [k0, k1] {
            registry::used(STREAM, key.bytes(), first, out.len().div_ceil(16));
        }
        for (first, start, end) in runs(first, out.len().div_ceil(16)) {
            self.run(InPlace(CounterSum(k0, k1, first), span(out, start, end)));
        }
    }
}
