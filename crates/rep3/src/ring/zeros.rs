//! Zero-shares and random shares of words.
//!
//! ```text
//! zero share     α_i = F_{k_i}(ctr) − F_{k_{i−1}}(ctr)       α_0 + α_1 + α_2 = 0
//! random share   (F_{k_{i−1}}(ctr), F_{k_i}(ctr)) = (x_i, x_{i+1})
//! ```
//!
//! Word `j` of a column lies at byte `j · BYTES` of the stream (Araki et al. 2016, section 2.2,
//! with − in place of ⊕).

use super::Word;
use crate::{Context, Rep3, pool, ring::Column};
use hushwire_block::Wiped;
use hushwire_simd::{Kernel, Lanes};

/// LOCAL: the bytes of each key's stream that are made at a time, so that they stay in the L1
/// cache. A multiple of 16.
pub(super) const PIECE: usize = 4096;

/// Both keys' streams of a computation, one piece at a time.
pub(super) struct Streams<'a> {
    cx: &'a Context,
    keyed: [Wiped<[u8; PIECE]>; 2],
}

impl<'a> Streams<'a> {
    pub(super) fn new(cx: &'a Context) -> Self {
        Streams { cx, keyed: [0; 2].map(|_: u8| Wiped::new([0; PIECE])) }
    }

    /// The outputs of F_{k_i} and F_{k_{i−1}} from a word of the stream on, at most [`PIECE`]
    /// bytes.
    pub(super) fn at(&mut self, word: u64, bytes: usize) -> [&[u8]; 2] {
        let [own, prev] = &mut self.keyed;
        let (own, prev) = (&mut own[..bytes], &mut prev[..bytes]);
        self.cx.prss.random_words(self.cx.address, word, own, prev);
        [own, prev]
    }
}

/// The stream's word where piece `i` begins.
pub(super) fn word_of(first: u64, i: usize) -> u64 {
    first + (i * PIECE / 16) as u64
}

/// Computes `out += own − prev`.
struct Add<'a, W> {
    keyed: [&'a [u8]; 2],
    out: &'a mut [W],
}

impl<W: Word> Kernel for Add<'_, W> {
    type Out = ();
    #[inline(always)]
    fn run<L: Lanes>(self, _: L) {
        let [own, prev] = self.keyed.map(|bytes| bytes.chunks_exact(W::BYTES));
        for (out, (own, prev)) in self.out.iter_mut().zip(own.zip(prev)) {
            *out = out.plus(W::read(own)).minus(W::read(prev));
        }
    }
}

impl Context {
    /// Adds this party's zero-shares to `out`, from the stream's word `first` on. Uses ⌈bytes/16⌉
    /// words of the stream, each of which must be used once.
    pub(crate) fn add_zeros<W: Word>(&self, first: u64, out: &mut [W]) {
        let mut streams = Streams::new(self);
        for (i, out) in out.chunks_mut(PIECE / W::BYTES).enumerate() {
            let keyed = streams.at(word_of(first, i), out.len() * W::BYTES);
            self.backend.run(Add { keyed, out });
        }
    }

    /// Shares of random numbers that no party knows, from the stream's word `first` on. This takes
    /// no message.
    pub(crate) fn random_column<W: Word>(&self, first: u64, rows: usize) -> Column<W> {
        let mut column = Rep3 { own: pool::room(rows), next: pool::room(rows) };
        let mut streams = Streams::new(self);
        let mut i = 0;
        while column.own.len() < rows {
            let bytes = ((rows - column.own.len()) * W::BYTES).min(PIECE);
            let [own, prev] = streams.at(word_of(first, i), bytes);
            column.next.extend(own.chunks_exact(W::BYTES).map(W::read));
            column.own.extend(prev.chunks_exact(W::BYTES).map(W::read));
            i += 1;
        }
        column
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Rep3Party;
    use hushwire_aes::Backend;
    use hushwire_testkit::backends;

    fn zeros_of<W: Word>(backend: Backend) {
        let contexts = Rep3Party::three(backend).map(|mut p| p.next_batch().unwrap().context());
        for rows in [0, 1, 5, 511, 513, 1025, 5000] {
            let shares = contexts.each_ref().map(|cx| {
                let mut out = vec![W::default(); rows];
                cx.add_zeros(7, &mut out);
                out
            });
            for row in 0..rows {
                let sum = shares.iter().fold(W::default(), |sum, share| sum.plus(share[row]));
                assert_eq!(sum, W::default());
            }
            assert!(rows < 100 || shares[0].iter().filter(|w| **w == W::default()).count() < rows / 10);
            // The zero-share is the difference of the two parts of a random share from the same
            // words.
            let random = contexts[1].random_column::<W>(7, rows);
            let zero: Vec<W> =
                random.next.iter().zip(&random.own).map(|(own, prev)| own.minus(*prev)).collect();
            assert_eq!(zero, shares[1]);
        }
    }

    #[test]
    fn zero_shares_sum_to_zero_and_are_none() {
        for backend in backends() {
            zeros_of::<u8>(backend);
            zeros_of::<u16>(backend);
            zeros_of::<u32>(backend);
            zeros_of::<u64>(backend);
        }
    }

    #[test]
    fn random_columns_are_replicated() {
        let columns =
            Rep3Party::three(Backend::best()).map(|mut p| p.next_batch().unwrap().random_column::<u32>(3000));
        for i in 0..3 {
            assert_eq!(columns[i].next, columns[(i + 1) % 3].own);
        }
    }
}
