//! Words made shorter: a bit for every digit, so that two words are equal if and only if the shorter ones are.
//!
//! ```text
//! digit    of k bits: x at the chooser, y at the holder; k random OTs of 16 bits, choice c_j, pads K_j^0 and K_j^1
//! pads     P[v] = ⊕ bit v of K_j^(v_j) for v < 2^k, at the holder; the chooser knows P[c] alone
//! chooser  says d = x ⊕ c
//! holder   says E[v] = P[v] ⊕ r ⊕ (v ⊕ d ≠ y), with r such that E[0] = 0, which is not said; y' = r
//! chooser  x' = E[c] ⊕ P[c] = r ⊕ (x ≠ y)
//! ```

use hushwire_block::pack::{Packer, Unpacker, mask};

/// AGREEMENT: bits of a digit of the first words, and of those made from them. Long digits take fewer OTs and send more bits: 2^k − 1 + k.
const FIRST: usize = 3;
const LATER: usize = 4;

/// The v below 16 of which bit j is set.
const WITH: [u16; 4] = [0xaaaa, 0xcccc, 0xf0f0, 0xff00];

/// Words of `width` bits, cut into digits from the lowest bit on. A last digit of one bit stands for itself.
#[derive(Clone, Copy, Debug)]
pub(super) struct Level {
    width: usize,
    digit: usize,
}

impl Level {
    /// The levels from words of `width` bits to single bits.
    pub(super) fn all(width: usize) -> impl Iterator<Item = Level> {
        core::iter::successors(Some(Level { width, digit: FIRST }), |level| {
            let width = level.width.div_ceil(level.digit);
            (width > 1).then_some(Level { width, digit: LATER })
        })
    }

    /// Bits of the digits that take OTs.
    fn digits(self) -> impl Iterator<Item = usize> {
        (0..self.ots()).step_by(self.digit).map(move |at| self.digit.min(self.ots() - at))
    }

    /// OTs of a word.
    pub(super) fn ots(self) -> usize {
        self.width - usize::from(self.width % self.digit == 1)
    }

    /// Bits that the holder says of a word.
    pub(super) fn table_bits(self) -> usize {
        self.digits().map(|bits| (1 << bits) - 1).sum()
    }

    /// The last bit of a shorter word where a bit of the word stands for itself, and nothing else.
    fn rest(self, word: u64) -> u64 {
        let last = (word & mask(self.width as u32)) >> self.ots();
        last << (self.ots() / self.digit)
    }

    /// The chooser's half of a word, as far as it says d; `choices` are its OTs'.
    #[inline]
    pub(super) fn ask(self, word: u64, choices: &mut Unpacker<'_>, said: &mut Packer) {
        let ots = self.ots() as u32;
        said.push((word & mask(ots)) ^ choices.pull(ots), ots);
    }

    /// The holder's half: says a word's tables, and gives the shorter one.
    #[inline]
    pub(super) fn answer(self, word: u64, asked: u64, mut pads: &[[u16; 2]], said: &mut Packer) -> u64 {
        let (mut places, mut short) = (word ^ asked, self.rest(word));
        for (i, bits) in self.digits().enumerate() {
            let (own, rest) = pads.split_at(bits);
            let pad =
                own.iter().zip(WITH).fold(0, |pad, ([zero, one], with)| pad ^ zero ^ (zero ^ one) & with);
            let (entries, place) = (1 << bits, places & mask(bits as u32));
            let table = pad ^ !(1_u16 << place);
            let r = table & 1;
            let table = u64::from(table ^ 0_u16.wrapping_sub(r)) & mask(entries);
            said.push(table >> 1, entries - 1);
            short |= u64::from(r) << i;
            (pads, places) = (rest, places >> bits);
        }
        short
    }

    /// The chooser's, from those tables.
    #[inline]
    pub(super) fn finish(
        self,
        word: u64,
        choices: &mut Unpacker<'_>,
        mut pads: &[u16],
        tables: &mut Unpacker<'_>,
    ) -> u64 {
        let (mut chosen, mut short) = (choices.pull(self.ots() as u32), self.rest(word));
        for (i, bits) in self.digits().enumerate() {
            let (own, rest) = pads.split_at(bits);
            let pad = own.iter().fold(0, |pad, own| pad ^ own);
            let table = tables.pull((1 << bits) - 1) << 1;
            short |= (table ^ u64::from(pad)) >> (chosen & mask(bits as u32)) << i & 1 << i;
            (pads, chosen) = (rest, chosen >> bits);
        }
        short
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Both shorter words, with OTs of a dealer.
    fn shorten(level: Level, [x, y]: [u64; 2], pads: &[[u16; 2]], choices: u64) -> [u64; 2] {
        let drawn = choices.to_le_bytes();
        let own: Vec<u16> =
            pads.iter().enumerate().map(|(i, pair)| pair[(choices >> i & 1) as usize]).collect();
        let mut asked = Packer::new(8);
        level.ask(x, &mut Unpacker::new(&drawn), &mut asked);
        let asked = Unpacker::new(&asked.finish()).pull(level.ots() as u32);
        assert_eq!(asked, (x ^ choices) & mask(level.ots() as u32));
        let mut tables = Packer::new(0);
        let held = level.answer(y, asked, &pads[..level.ots()], &mut tables);
        let tables = tables.finish();
        assert_eq!(tables.len(), level.table_bits().div_ceil(8));
        let (choices, tables) = (&mut Unpacker::new(&drawn), &mut Unpacker::new(&tables));
        [level.finish(x, choices, &own[..level.ots()], tables), held]
    }

    proptest! {
        /// Shorter words differ in the digits in which the words do, whatever is drawn.
        #[test]
        fn digits_that_differ_become_bits_that_differ(
            [x, y] in any::<[u64; 2]>(),
            // Digits alike and not, in one pair of words.
            alike in any::<[u64; 2]>(),
            width in 2usize..=64,
            pads in prop::collection::vec(any::<[u16; 2]>(), 64),
            choices in any::<u64>(),
        ) {
            let x = x & mask(width as u32);
            let y = (x ^ y & alike[0] & alike[1]) & mask(width as u32);
            for digit in [FIRST, LATER] {
                let level = Level { width, digit };
                let [a, b] = shorten(level, [x, y], &pads, choices);
                let differ = |i: usize| (x ^ y) >> (i * digit) & mask(digit as u32) != 0;
                let expected = (0..width.div_ceil(digit)).fold(0, |bits, i| bits | u64::from(differ(i)) << i);
                prop_assert_eq!(a ^ b, expected, "{:?}", level);
            }
        }
    }

    #[test]
    fn words_become_single_bits() {
        for width in 2..=64 {
            let levels: Vec<Level> = Level::all(width).collect();
            let last = levels.last().expect("one level at least");
            assert_eq!(last.width.div_ceil(last.digit), 1, "{width}");
        }
        // What docs/psi.md counts.
        let [ots, tables] = [Level::ots, Level::table_bits].map(|of| Level::all(61).map(of).sum::<usize>());
        assert_eq!([ots, tables], [88, 236]);
    }
}
