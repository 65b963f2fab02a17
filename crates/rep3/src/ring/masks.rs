//! Words that a pair of parties draws alike and the third party cannot draw: masks, and
//! permutations.

use super::{word::Word, zeros::PIECE};
use crate::Context;
use hushwire_block::Wiped;

/// The neighbour with which a pair's words are drawn. With the left one a party holds x_i, its
/// `own` share, and the key k_{i−1}; with the right one x_{i+1}, its `next` share, and the key k_i.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Neighbour {
    Left,
    Right,
}

impl Neighbour {
    pub(super) fn other(self) -> Neighbour {
        match self {
            Neighbour::Left => Neighbour::Right,
            Neighbour::Right => Neighbour::Left,
        }
    }
}

impl Context {
    /// A pair's bytes from the stream's word `first` on: a component of [`Context::random_column`],
    /// which both of its holders make.
    fn pair_bytes(&self, side: Neighbour, first: u64, out: &mut [u8]) {
        let [own, prev] = self.prss.keys();
        let key = if side == Neighbour::Right { own } else { prev };
        self.backend.counter_bytes(key, self.address.counter(first), out);
    }
}

/// A pair's words, one after the other. Each word of the stream is used once.
pub(super) struct PairWords<'c> {
    cx: &'c Context,
    side: Neighbour,
    /// The stream's next 128-bit word.
    next: u64,
    piece: Wiped<[u8; PIECE]>,
    used: usize,
}

impl<'c> PairWords<'c> {
    /// Begins at the stream's word `first`.
    pub(super) fn new(cx: &'c Context, side: Neighbour, first: u64) -> Self {
        PairWords { cx, side, next: first, piece: Wiped::new([0; PIECE]), used: PIECE }
    }

    fn refill(&mut self) {
        self.cx.pair_bytes(self.side, self.next, &mut self.piece[..]);
        self.next += (PIECE / 16) as u64;
        self.used = 0;
    }

    /// The next word.
    pub(super) fn draw<W: Word>(&mut self) -> W {
        if self.used + W::BYTES > PIECE {
            self.refill();
        }
        self.used += W::BYTES;
        W::read(&self.piece[self.used - W::BYTES..])
    }

    /// A uniform number below `bound`, as in D. Lemire, "Fast random integer generation in an
    /// interval", 2019.
    ///
    /// ```text
    /// r · bound = high · 2^32 + low; each high has the same number of r,
    /// if r with low < 2^32 mod bound is drawn again
    /// ```
    pub(super) fn below(&mut self, bound: u32) -> u32 {
        let product = |r: u32| u64::from(r) * u64::from(bound);
        let mut drawn = product(self.draw());
        if (drawn as u32) < bound {
            let surplus = bound.wrapping_neg() % bound;
            while (drawn as u32) < surplus {
                drawn = product(self.draw());
            }
        }
        (drawn >> 32) as u32
    }

    /// Calls `take` with consecutive runs of `0..words` and the words for each, in order.
    pub(super) fn runs<W: Word>(
        &mut self,
        words: usize,
        mut take: impl FnMut(std::ops::Range<usize>, &[u8]),
    ) {
        let most = PIECE / W::BYTES;
        for from in (0..words).step_by(most) {
            let to = words.min(from + most);
            let bytes = (to - from) * W::BYTES;
            self.cx.pair_bytes(self.side, self.next, &mut self.piece[..bytes]);
            self.next += bytes.div_ceil(16) as u64;
            take(from..to, &self.piece[..bytes]);
        }
        self.used = PIECE;
    }
}
