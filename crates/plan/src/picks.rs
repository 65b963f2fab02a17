//! The places from which elements are taken, as runs.
//!
//! ```text
//! steps   from, from + step, …    slices, broadcasts (step 0), every second row (2), reversal (−1)
//! turns   a, b, a + 1, b + 1, …   two columns whose rows alternate, as in the levels of a scan
//! ```
//!
//! The bits of a run are moved a word at a time.

use hushwire_block::bits::xor_range;
use std::{
    cmp::Ordering,
    hash::{Hash, Hasher},
    ops::Range,
};

/// A sequence of places with one pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PickRun {
    /// `len` places from a first one on, with a constant step.
    Steps {
        /// The first place.
        from: usize,
        /// The step from each place to the next.
        step: isize,
        /// The number of places.
        len: usize,
    },
    /// `len` places that alternate between two runs.
    Turns {
        /// The first place of the first run.
        first: usize,
        /// The first place of the second run.
        second: usize,
        /// The number of places of both runs together.
        len: usize,
    },
}

/// Places that count through the elements of several values in turn.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Picks {
    runs: Vec<PickRun>,
    len: usize,
}

/// A run of steps within one value, or a run of turns with each side within one value.
#[derive(Clone, Copy)]
struct Placed {
    /// The value of a run of steps, twice, or the values of both sides of a run of turns.
    of: [usize; 2],
    /// The run's places within these values.
    run: PickRun,
}

/// The runs of [`Picks`], split where values end.
pub struct Moves(Vec<Placed>);

impl Moves {
    /// Appends the elements. Each slice has the elements of one value.
    pub fn copy<T: Copy>(&self, values: &[&[T]], out: &mut Vec<T>) {
        self.0.iter().for_each(|run| run.copy(values, out));
    }

    /// Copies the bits to a plane of zeros. Each of `planes` has the bits of one value.
    pub fn copy_bits(&self, planes: &[&[u8]], out: &mut [u8]) {
        let mut at = 0;
        for run in &self.0 {
            run.copy_bits(planes, out, at);
            at += run.run.len();
        }
    }
}

/// Runs shorter than this are moved bit by bit.
const SHORT: usize = 16;

/// Lists are long, and usually differ in their length or at an end. So the hash reads only these.
impl Hash for Picks {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (self.len, self.runs.len(), self.runs.first(), self.runs.last()).hash(state);
    }
}

impl Picks {
    /// Makes runs from a list of places. Each run is as long as possible.
    #[must_use]
    pub fn of(places: &[usize]) -> Picks {
        let mut picks = Picks::default();
        let mut rest = places;
        while let [from, behind @ ..] = rest {
            let step = behind.first().map_or(1, |next| next.wrapping_sub(*from) as isize);
            let even = |two: &[usize]| two[1] == two[0].wrapping_add_signed(step);
            let steps = 1 + rest.windows(2).take_while(|two| even(two)).count();
            let turn = |three: &[usize]| three[2] == three[0] + 1;
            let turns = if steps > 2 { 0 } else { 2 + rest.windows(3).take_while(|t| turn(t)).count() };
            let run = if turns > steps + 1 {
                PickRun::Turns { first: *from, second: rest[1], len: turns }
            } else {
                PickRun::Steps { from: *from, step, len: steps }
            };
            rest = &rest[run.len()..];
            picks.push(run);
        }
        picks
    }

    /// Makes picks from runs, one after the other.
    pub fn of_runs(runs: impl IntoIterator<Item = PickRun>) -> Picks {
        let mut picks = Picks::default();
        runs.into_iter().for_each(|run| picks.push(run));
        picks
    }

    /// The same places in each of `parts` parts, which have `each` elements.
    #[must_use]
    pub fn of_each(parts: usize, each: usize, places: &[usize]) -> Picks {
        let first = Picks::of(places);
        Picks::of_runs((0..parts).flat_map(|part| first.runs.iter().map(move |run| run.behind(part * each))))
    }

    /// Appends a run. Steps of 1 that continue the last run lengthen it.
    pub(crate) fn push(&mut self, run: PickRun) {
        self.len += run.len();
        if let (
            Some(PickRun::Steps { from, step: 1, len }),
            PickRun::Steps { from: next, step: 1, len: more },
        ) = (self.runs.last_mut(), run)
            && *from + *len == next
        {
            *len += more;
            return;
        }
        self.runs.push(run);
    }

    /// The number of elements.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there is no element.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The runs.
    pub(crate) fn runs(&self) -> &[PickRun] {
        &self.runs
    }

    /// The runs, split where values of these lengths end: the values of each run, and its places
    /// within them.
    pub(crate) fn runs_within(&self, lengths: &[usize]) -> impl Iterator<Item = ([usize; 2], PickRun)> {
        self.within(lengths).0.into_iter().map(|placed| (placed.of, placed.run))
    }

    /// The place of each element.
    pub fn places(&self) -> impl Iterator<Item = usize> {
        self.runs.iter().flat_map(|run| (0..run.len()).map(|i| run.place(i)))
    }

    /// Whether the places are 0 to `elements` − 1 in order, and there is at least one.
    #[must_use]
    pub fn is_all(&self, elements: usize) -> bool {
        self.runs == [PickRun::Steps { from: 0, step: 1, len: elements }]
    }

    /// The runs, split where values of these lengths end. Places count through the elements of all
    /// values in turn.
    ///
    /// # Panics
    /// If a place is beyond the last value (the caller's bug).
    #[must_use]
    pub fn within(&self, lengths: &[usize]) -> Moves {
        let mut starts = Vec::with_capacity(lengths.len());
        let mut elements = 0;
        for length in lengths {
            starts.push(elements);
            elements += length;
        }
        // The value of a place, and the place within it.
        let find = |place: usize| {
            let k = starts.partition_point(|start| *start <= place) - 1;
            (k, place - starts[k])
        };
        let mut placed = vec![];
        for run in self.runs.iter().copied() {
            let mut rest = run;
            while rest.len() > 0 {
                let first = match rest {
                    PickRun::Steps { from, step, len } => {
                        let (of, at) = find(from);
                        // The number of further steps within the value.
                        let more = match step {
                            0 => len,
                            1.. => (lengths[of] - 1 - at) / step.unsigned_abs(),
                            _ => at / step.unsigned_abs(),
                        };
                        let taken = len.min(more.saturating_add(1));
                        let from = from.wrapping_add_signed(step.wrapping_mul(taken as isize));
                        rest = PickRun::Steps { from, step, len: len - taken };
                        Placed { of: [of; 2], run: PickRun::Steps { from: at, step, len: taken } }
                    }
                    PickRun::Turns { first, second, len } => {
                        let [(a, at_a), (b, at_b)] = [first, second].map(find);
                        let [most_a, most_b] = [lengths[a] - at_a, lengths[b] - at_b];
                        let whole = most_a >= len.div_ceil(2) && most_b >= len / 2;
                        let taken = if whole { len } else { 2 * most_a.min(most_b) };
                        let turns = taken.div_ceil(2);
                        rest =
                            PickRun::Turns { first: first + turns, second: second + turns, len: len - taken };
                        Placed { of: [a, b], run: PickRun::Turns { first: at_a, second: at_b, len: taken } }
                    }
                };
                placed.push(first);
            }
        }
        Moves(placed)
    }
}

impl PickRun {
    /// The same run, moved on by this many elements.
    fn behind(self, elements: usize) -> PickRun {
        match self {
            PickRun::Steps { from, step, len } => PickRun::Steps { from: from + elements, step, len },
            PickRun::Turns { first, second, len } => {
                PickRun::Turns { first: first + elements, second: second + elements, len }
            }
        }
    }

    /// The places at these indices of the run.
    pub(crate) fn part(self, range: Range<usize>) -> PickRun {
        let (from, len) = (range.start, range.len());
        match self {
            _ if len == 1 => PickRun::Steps { from: self.place(from), step: 1, len },
            PickRun::Steps { step, .. } => PickRun::Steps { from: self.place(from), step, len },
            PickRun::Turns { .. } => {
                PickRun::Turns { first: self.place(from), second: self.place(from + 1), len }
            }
        }
    }

    /// The place at index `i` of the run.
    fn place(self, i: usize) -> usize {
        match self {
            PickRun::Steps { from, step, .. } => from.wrapping_add_signed(step.wrapping_mul(i as isize)),
            PickRun::Turns { first, second, .. } => [first, second][i % 2] + i / 2,
        }
    }

    /// The number of places.
    pub(crate) fn len(self) -> usize {
        match self {
            PickRun::Steps { len, .. } | PickRun::Turns { len, .. } => len,
        }
    }
}

impl Placed {
    /// Copies the run's elements. Each slice has the elements of one value.
    fn copy<T: Copy>(self, values: &[&[T]], out: &mut Vec<T>) {
        let [x, y] = self.of.map(|of| values[of]);
        match self.run {
            PickRun::Steps { from, step: 1, len } => out.extend_from_slice(&x[from..][..len]),
            PickRun::Steps { from, step: 0, len } => out.resize(out.len() + len, x[from]),
            PickRun::Steps { from, step, len } if step > 0 => {
                out.extend(x[from..].iter().step_by(step.unsigned_abs()).take(len));
            }
            PickRun::Steps { from, step, len } => {
                out.extend(x[..=from].iter().rev().step_by(step.unsigned_abs()).take(len));
            }
            PickRun::Turns { first, second, len } => {
                let (x, y) = (&x[first..], &y[second..]);
                out.extend(x.iter().zip(y).take(len / 2).flat_map(|(x, y)| [*x, *y]));
                if len % 2 == 1 {
                    out.push(x[len / 2]);
                }
            }
        }
    }

    /// Copies the run's bits to bit `at` and on, which are 0. Each plane has the bits of one value.
    fn copy_bits(self, planes: &[&[u8]], out: &mut [u8], at: usize) {
        let (len, [x, y]) = (self.run.len(), self.of.map(|of| planes[of]));
        // The bit at index i of the run.
        let bit = |i: usize| {
            let (plane, place) = (planes[self.of[i % 2]], self.run.place(i));
            plane[place / 8] >> (place % 8) & 1
        };
        match self.run {
            PickRun::Steps { from, step: 1, .. } if len < SHORT => {
                let bits = (word(x, from) & ((1 << len) - 1)) << (at % 8);
                let out = &mut out[at / 8..(at + len).div_ceil(8)];
                out.iter_mut().zip(bits.to_le_bytes()).for_each(|(out, bits)| *out |= bits);
            }
            _ if len < SHORT => (0..len).for_each(|i| out[(at + i) / 8] |= bit(i) << ((at + i) % 8)),
            PickRun::Steps { from, step: 1, .. } if at.is_multiple_of(8) => {
                xor_range(x, from, len, &mut out[at / 8..]);
            }
            PickRun::Steps { from, step: 1, .. } => put(out, at, len, |i| word(x, from + 64 * i)),
            PickRun::Steps { step: 0, .. } => put(out, at, len, |_| 0u64.wrapping_sub(bit(0).into())),
            PickRun::Steps { from, step: 2, .. } => {
                let even = |place| u64::from(every_second(word(x, place)));
                put(out, at, len, |i| even(from + 128 * i) | even(from + 128 * i + 64) << 32);
            }
            PickRun::Steps { from, step: -1, .. } => put(out, at, len, |i| {
                let last = from - 64 * i;
                match last.checked_sub(63) {
                    Some(first) => word(x, first).reverse_bits(),
                    None => (word(x, 0) << (63 - last)).reverse_bits(),
                }
            }),
            PickRun::Turns { first, second, .. } => put(out, at, len, |i| {
                let half = |plane: &[u8], from: usize| spread(word(plane, from + 32 * i) as u32);
                half(x, first) | half(y, second) << 1
            }),
            PickRun::Steps { .. } => put(out, at, len, |i| {
                (64 * i..len.min(64 * (i + 1))).fold(0, |word, k| word | u64::from(bit(k)) << (k % 64))
            }),
        }
    }
}

/// Writes the first `len` bits of words, in order, to bit `at` and on, which are 0.
fn put(out: &mut [u8], at: usize, len: usize, word: impl Fn(usize) -> u64) {
    let (shift, last) = (at % 8, len / 64);
    let word = |i: usize| match i.cmp(&last) {
        Ordering::Less => word(i),
        Ordering::Equal if !len.is_multiple_of(64) => word(i) & (u64::MAX >> (64 - len % 64)),
        _ => 0,
    };
    let out = &mut out[at / 8..(at + len).div_ceil(8)];
    let mut carry = u64::from(out[0]);
    let (words, rest) = out.as_chunks_mut::<8>();
    for (i, to) in words.iter_mut().enumerate() {
        let word = u128::from(word(i)) << shift;
        *to = (word as u64 | carry).to_le_bytes();
        carry = (word >> 64) as u64;
    }
    let word = word(words.len()) << shift | carry;
    rest.copy_from_slice(&word.to_le_bytes()[..rest.len()]);
}

/// 64 bits from a bit on, with zeros beyond the plane's end.
#[inline]
fn word(plane: &[u8], bit: usize) -> u64 {
    let (from, shift) = (bit / 8, bit % 8);
    if let Some((low, [high, ..])) = plane.get(from..).and_then(|rest| rest.split_first_chunk::<8>()) {
        return ((u128::from(u64::from_le_bytes(*low)) | u128::from(*high) << 64) >> shift) as u64;
    }
    let mut bytes = [0; 16];
    let rest = plane.get(from..).unwrap_or_default();
    let rest = &rest[..rest.len().min(9)];
    bytes[..rest.len()].copy_from_slice(rest);
    (u128::from_le_bytes(bytes) >> shift) as u64
}

/// Bits 0, 2, 4, … of a word, next to each other.
#[inline]
fn every_second(word: u64) -> u32 {
    let word = word & 0x5555_5555_5555_5555;
    let word = (word | word >> 1) & 0x3333_3333_3333_3333;
    let word = (word | word >> 2) & 0x0f0f_0f0f_0f0f_0f0f;
    let word = (word | word >> 4) & 0x00ff_00ff_00ff_00ff;
    let word = (word | word >> 8) & 0x0000_ffff_0000_ffff;
    (word | word >> 16) as u32
}

/// Puts bits at 0, 2, 4, …: the inverse of [`every_second`].
#[inline]
fn spread(half: u32) -> u64 {
    let word = u64::from(half);
    let word = (word | word << 16) & 0x0000_ffff_0000_ffff;
    let word = (word | word << 8) & 0x00ff_00ff_00ff_00ff;
    let word = (word | word << 4) & 0x0f0f_0f0f_0f0f_0f0f;
    let word = (word | word << 2) & 0x3333_3333_3333_3333;
    (word | word << 1) & 0x5555_5555_5555_5555
}

#[cfg(test)]
mod tests {
    use super::*;
    use hushwire_compute::test_support::Dice;

    fn places(picks: &Picks) -> Vec<usize> {
        let all: Vec<usize> = (0..1 << 12).collect();
        let mut out = vec![];
        picks.within(&[all.len()]).copy(&[&all], &mut out);
        out
    }

    /// Concatenated lists of every kind of run, with random offsets and lengths.
    fn lists(dice: &mut Dice) -> Vec<Vec<usize>> {
        let mut all = vec![vec![], vec![7], (0..300).rev().collect()];
        for _ in 0..60 {
            let mut list = vec![];
            for _ in 0..1 + dice.word() % 3 {
                let (from, len) = ((dice.word() % 500) as usize, (dice.word() % 330) as usize);
                match dice.word() % 7 {
                    0 => list.extend(from..from + len),
                    1 => list.extend((0..len).map(|i| from + 2 * i)),
                    2 => list.extend((from..from + len).rev()),
                    3 => list.extend(std::iter::repeat_n(from, len)),
                    4 => list.extend((0..len).map(|i| from + 5 * i)),
                    5 => list.extend((0..len).map(|i| from + i / 2 + i % 2 * 400)),
                    _ => list.extend((0..len).map(|_| (dice.word() % 900) as usize)),
                }
            }
            all.push(list);
        }
        all
    }

    #[test]
    fn runs_have_the_places_of_their_list() {
        for list in lists(&mut Dice(5)) {
            let picks = Picks::of(&list);
            assert_eq!(picks.len(), list.len());
            assert!(picks.places().eq(list.iter().copied()));
            assert_eq!(places(&picks), list);
        }
        assert_eq!(Picks::of(&(3..900).collect::<Vec<_>>()).runs.len(), 1);
        let turns: Vec<usize> = (0..99).map(|i| i / 2 + i % 2 * 400).collect();
        assert_eq!(Picks::of(&turns).runs, [PickRun::Turns { first: 0, second: 400, len: 99 }]);
        assert!(Picks::of(&[0, 1, 2]).is_all(3) && !Picks::of(&[0, 1, 2]).is_all(4));
    }

    /// Moves of bits and elements of several values equal a look-up of each place.
    #[test]
    fn elements_and_bits_are_those_of_their_places() {
        let mut dice = Dice(6);
        for list in lists(&mut dice) {
            // Values end in the middle of runs, and one is empty.
            let lengths: [usize; 5] = [129, 0, 263, 1, 2000];
            let bits: Vec<Vec<u8>> =
                lengths.iter().map(|n| (0..n.div_ceil(8)).map(|_| dice.word() as u8).collect()).collect();
            let planes: Vec<&[u8]> = bits.iter().map(Vec::as_slice).collect();
            let elements: Vec<Vec<u8>> = (0..lengths.len())
                .map(|k| (0..lengths[k]).map(|i| bits[k][i / 8] >> (i % 8) & 1).collect())
                .collect();
            let all: Vec<u8> = elements.concat();
            let expected: Vec<u8> = list.iter().map(|place| all[*place]).collect();
            let (mut found, mut out) = (vec![], vec![0; list.len().div_ceil(8)]);
            let values: Vec<&[u8]> = elements.iter().map(Vec::as_slice).collect();
            let moves = Picks::of(&list).within(&lengths);
            moves.copy(&values, &mut found);
            moves.copy_bits(&planes, &mut out);
            assert_eq!(found, expected);
            let unpacked: Vec<u8> = (0..list.len()).map(|i| out[i / 8] >> (i % 8) & 1).collect();
            assert_eq!(unpacked, expected);
        }
    }

    #[test]
    fn words_of_a_plane_end_with_it() {
        let plane: Vec<u8> = (1..=20).collect();
        for bit in 0..170 {
            let expected = (0..64).fold(0u64, |word, i| {
                let place = bit + i;
                word | u64::from(plane.get(place / 8).map_or(0, |byte| byte >> (place % 8) & 1)) << i
            });
            assert_eq!(word(&plane, bit), expected, "bit {bit}");
        }
        assert_eq!(every_second(spread(0x1234_5678)), 0x1234_5678);
    }
}
