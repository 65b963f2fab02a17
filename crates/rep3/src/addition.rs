//! The group in which shares of a byte string are added.

use crate::{ring::Word, xor_into};

/// The group in which a value is shared. All holders of its shares, and an owner outside the
/// parties, use the same one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Addition {
    /// Bit by bit: v = x_0 ⊕ x_1 ⊕ x_2.
    #[default]
    Xor,
    /// Words of 1, 2, 4 or 8 bytes, least significant byte first: v = x_0 + x_1 + x_2 modulo 2^8 to
    /// 2^64, one word at a time.
    Words(u8),
}

impl Addition {
    /// Adds `other` to `to`.
    ///
    /// # Panics
    /// If their lengths differ, or are not a multiple of the word's size, or there are no words of
    /// this size (the caller's bug).
    pub fn add(self, to: &mut [u8], other: &[u8]) {
        self.combine(to, other, false);
    }

    /// Subtracts `other` from `from`.
    ///
    /// # Panics
    /// As [`Addition::add`].
    pub fn take(self, from: &mut [u8], other: &[u8]) {
        self.combine(from, other, true);
    }

    fn combine(self, to: &mut [u8], other: &[u8], minus: bool) {
        match self {
            Addition::Xor => xor_into(to, other),
            Addition::Words(1) => words::<u8>(to, other, minus),
            Addition::Words(2) => words::<u16>(to, other, minus),
            Addition::Words(4) => words::<u32>(to, other, minus),
            Addition::Words(8) => words::<u64>(to, other, minus),
            Addition::Words(bytes) => panic!("there are no words of {bytes} bytes"),
        }
    }
}

fn words<W: Word>(to: &mut [u8], other: &[u8], minus: bool) {
    assert!(to.len() == other.len() && to.len().is_multiple_of(W::BYTES), "whole words of both");
    for (to, other) in to.chunks_exact_mut(W::BYTES).zip(other.chunks_exact(W::BYTES)) {
        let (left, right) = (W::read(to), W::read(other));
        if minus { left.minus(right) } else { left.plus(right) }.write(to);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_added_is_taken_away_and_carries_stay_in_their_word() {
        let (a, b) = ([0xff, 0xff, 1, 0, 0xff, 0xff, 0xff, 0xff], [1, 0, 0xff, 0xff, 1, 0, 0, 0]);
        for (addition, sum) in [
            (Addition::Xor, [0xfe, 0xff, 0xfe, 0xff, 0xfe, 0xff, 0xff, 0xff]),
            (Addition::Words(1), [0, 0xff, 0, 0xff, 0, 0xff, 0xff, 0xff]),
            (Addition::Words(2), [0, 0, 0, 0, 0, 0, 0xff, 0xff]),
            (Addition::Words(4), [0, 0, 1, 0, 0, 0, 0, 0]),
            (Addition::Words(8), (u64::from_le_bytes(a).wrapping_add(u64::from_le_bytes(b))).to_le_bytes()),
        ] {
            let mut to = a;
            addition.add(&mut to, &b);
            assert_eq!(to, sum, "{addition:?}");
            addition.take(&mut to, &b);
            assert_eq!(to, a, "{addition:?}");
        }
    }

    #[test]
    #[should_panic(expected = "no words of 3 bytes")]
    fn other_words_are_the_callers_bug() {
        Addition::Words(3).add(&mut [0; 6], &[0; 6]);
    }
}
