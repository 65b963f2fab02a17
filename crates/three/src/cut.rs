//! Cuts: long columns in pieces, and the pieces of a wave over lanes and threads.
//!
//! ```text
//! a wave       step a: ████████  step b: ████  step c: ▏
//! groups       a0 b0 c   a1 b1   a2 b2   a3 b3        what is in a group shares rounds
//! lanes        t0 t1 t2 t3: group g on lane g mod lanes, one behind the other
//! ```
//!
//! A piece goes through all of its rounds while it is in the cache, where a whole column would go
//! through memory at each. Pieces behind each other on a lane take rounds of their own, so that the
//! farther the parties are from each other, the longer pieces are; as many groups as there are
//! lanes take no more rounds than one. Bytes of all parties together are the same for every cut;
//! a party's differ by a few rows of each piece, where parties deal a third of the rows each.

use hushwire_plan::{Extent, StepPiece};
use std::{ops::Range, time::Duration};

/// AGREEMENT: rows that a message of a bit each keeps a lane busy for, a nanosecond that it is
/// under way.
const ROWS_A_NANOSECOND: u64 = 1;
/// AGREEMENT: rows of a piece at most, where parties are close to each other: what it works on
/// stays in the second cache.
const NEAR: usize = 1 << 15;
/// AGREEMENT: rows of a piece at least.
const LEAST: usize = 1 << 13;
/// AGREEMENT: rows of a piece at least, where memory is short.
const SHORTEST: usize = 1 << 10;
/// AGREEMENT: rows up to which fewer rounds are worth more ANDs, where parties are close to each
/// other.
const FEW: usize = 1 << 14;
/// AGREEMENT: nanoseconds that a message is under way, a row more of those. A tree in place of a
/// ripple of 64 to 84 bits saves about that many rounds and costs as many ANDs twice, a row: about
/// a nanosecond each, computed by three parties and on a line of 10 Gb/s.
const NANOSECONDS_A_ROW: u64 = 2;
/// AGREEMENT: rows beyond which bytes outweigh rounds wherever parties are: those of a tree take
/// seconds on a line of 100 Mb/s.
const MANY: usize = 1 << 21;
/// AGREEMENT: lanes of a thread. While one waits for the others, the other computes.
const LANES: usize = 2;
/// AGREEMENT: pieces' rows in a message of a column that is permuted: long enough for the system's
/// calls, short enough for the second cache.
const IN_MESSAGE: usize = 4;
/// AGREEMENT: pieces' rows beyond which steps that run whole take turns: their memory outweighs
/// what one computes while another waits.
const ALONE: usize = 64;
/// Pieces begin on whole bytes of bit planes, and have no fewer rows than circuits take without
/// packing bits.
const UNIT: usize = 64;

/// The way in which a run is cut. All of it is AGREEMENT: masks depend on pieces, and messages are
/// cut as lanes are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cut {
    threads: usize,
    lanes: usize,
    /// Rows of a piece, where there are lanes for all pieces, and where there are more.
    least: usize,
    most: usize,
    /// Rows up to which fewer rounds are worth more ANDs.
    few: usize,
}

impl Cut {
    /// One thread, one lane and no pieces: the fewest rounds.
    #[must_use]
    pub const fn whole() -> Cut {
        Cut { threads: 1, lanes: 1, least: usize::MAX, most: usize::MAX, few: FEW }
    }

    /// For `threads` compute threads of each party, at least one, whose messages are under way for
    /// `delay`: half of the round trip, which parties measure and announce when they meet. It also
    /// says where comparisons and conversions take a tree in place of a ripple, in the levels of a
    /// sort as elsewhere.
    #[must_use]
    pub fn new(threads: u16, delay: Duration) -> Cut {
        let nanoseconds = u64::try_from(delay.as_nanos()).unwrap_or(u64::MAX);
        let far = nanoseconds.saturating_mul(ROWS_A_NANOSECOND).min(1 << 40);
        let most = NEAR.max((far as usize).next_power_of_two());
        let few = (nanoseconds / NANOSECONDS_A_ROW).clamp(FEW as u64, MANY as u64) as usize;
        Cut { threads: usize::from(threads.max(1)), lanes: LANES, least: LEAST, most, few }
    }

    /// With pieces of `rows` rows, whatever the lanes.
    #[must_use]
    pub fn with_rows(self, rows: usize) -> Cut {
        let rows = rows.max(UNIT);
        Cut { least: rows, most: rows, ..self }
    }

    /// Shorter pieces, which take less memory and more rounds; none shorter than [`SHORTEST`].
    pub(crate) fn shorter(self) -> Option<Cut> {
        let most = self.most.min(1 << 40) / 2;
        (most >= SHORTEST).then(|| Cut { most, least: self.least.min(most), ..self })
    }

    /// Threads.
    #[must_use]
    pub fn threads(&self) -> usize {
        self.threads
    }

    /// Lanes of all threads.
    #[must_use]
    pub fn lanes(&self) -> usize {
        self.threads * self.lanes
    }

    /// Rows up to which fewer rounds are worth more ANDs: such steps, and levels of a sort, compare
    /// and add by a tree.
    #[must_use]
    pub fn few(&self) -> usize {
        self.few
    }

    /// Rows of a column in one message, where rows are moved whole.
    pub(crate) fn rows_of_message(&self) -> usize {
        self.most.saturating_mul(IN_MESSAGE)
    }

    /// With trees up to `few` rows, whatever the delay: for predictions.
    #[must_use]
    pub fn with_few(self, few: usize) -> Cut {
        Cut { few, ..self }
    }

    /// Lanes of one thread.
    pub(crate) fn lanes_of_thread(&self) -> usize {
        self.lanes
    }

    /// The lane of a group; a thread's lanes follow each other.
    pub(crate) fn lane(&self, group: usize) -> usize {
        let (thread, turn) = (group % self.threads, group / self.threads);
        thread * self.lanes + turn % self.lanes
    }

    fn pieces(&self, rows: usize) -> usize {
        (rows / self.least).min(self.lanes()).max(rows / self.most).max(1)
    }

    /// The rows of each piece of a step that alone has a wave, and whose rows are computed each for
    /// itself.
    #[must_use]
    pub fn pieces_of(&self, rows: usize) -> Vec<Range<usize>> {
        let groups = self.groups(&[Extent { at: 0, rows, cuts: true }]);
        groups.into_iter().flatten().map(|(_, rows)| rows).collect()
    }

    /// The groups of a wave. Some are empty where long steps take turns.
    pub(crate) fn groups(&self, steps: &[Extent]) -> Vec<Vec<StepPiece>> {
        let mut groups = vec![];
        let mut put = |group: usize, piece: StepPiece| {
            if groups.len() <= group {
                groups.resize_with(group + 1, Vec::new);
            }
            groups[group].push(piece);
        };
        let (mut whole, mut alone) = (0, 0);
        for Extent { at, rows, cuts } in steps.iter().copied() {
            if !cuts {
                // Long ones have a lane each; there are no more of them than lanes, and so no more
                // rounds.
                let group = if rows > self.most.saturating_mul(ALONE) {
                    alone += 1;
                    let turn = (alone - 1) / self.threads;
                    (alone - 1) % self.threads + turn * self.lanes()
                } else if rows >= self.least {
                    whole += 1;
                    (whole - 1) % self.lanes()
                } else {
                    0
                };
                put(group, (at, 0..rows));
                continue;
            }
            let pieces = self.pieces(rows);
            let each = (rows / pieces / UNIT * UNIT).max(1);
            for piece in 0..pieces {
                let end = if piece + 1 == pieces { rows } else { (piece + 1) * each };
                put(piece, (at, piece * each..end));
            }
        }
        groups
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lengths(cut: Cut, steps: &[(usize, bool)]) -> Vec<Vec<(usize, usize)>> {
        let extent = |(at, &(rows, cuts)): (usize, &(usize, bool))| Extent { at, rows, cuts };
        let steps: Vec<Extent> = steps.iter().enumerate().map(extent).collect();
        let groups = cut.groups(&steps);
        // Every row of every step once, in order.
        for (step, extent) in steps.iter().enumerate() {
            let mut at = 0;
            for (_, rows) in groups.iter().flatten().filter(|(of, _)| *of == step) {
                assert!(rows.start == at && rows.start.is_multiple_of(8));
                at = rows.end;
            }
            assert_eq!(at, extent.rows);
        }
        groups.iter().map(|group| group.iter().map(|(step, rows)| (*step, rows.len())).collect()).collect()
    }

    #[test]
    fn pieces_of_a_wave_share_groups() {
        let cut = Cut::whole().with_rows(64);
        assert_eq!(lengths(cut, &[(63, true), (0, true)]), [[(0, 63), (1, 0)]]);
        assert_eq!(lengths(cut, &[(127, true)]), [[(0, 127)]]);
        let four =
            [vec![(0, 64), (1, 5), (2, 64)], vec![(0, 64), (2, 64)], vec![(0, 70), (2, 64)], vec![(2, 65)]];
        assert_eq!(lengths(cut, &[(198, true), (5, false), (257, true)]), four);
        assert_eq!(Cut::whole().lanes(), 1);
        assert_eq!(lengths(Cut::whole(), &[(1 << 30, true), (1 << 30, false)]).len(), 1);
    }

    #[test]
    fn trees_are_for_rows_whose_rounds_take_longer_than_their_bytes() {
        let few = |delay: Duration| Cut::new(1, delay).few();
        assert_eq!(few(Duration::ZERO), FEW);
        assert_eq!(few(Duration::from_micros(30)), FEW);
        assert_eq!(few(Duration::from_micros(100)), 50_000);
        assert!(few(Duration::from_millis(20)) >= 1 << 20, "a whole level of 2^20 rows at 40 ms");
        assert_eq!(few(Duration::MAX), MANY);
        assert_eq!(Cut::whole().with_rows(64).few(), FEW);
        assert_eq!(Cut::new(3, Duration::MAX).with_rows(64).few(), MANY);
    }

    #[test]
    fn as_many_groups_as_lanes_where_parties_are_far() {
        let far = Cut::new(2, Duration::from_millis(20));
        assert_eq!(far.lanes(), 4);
        assert_eq!(lengths(far, &[(1 << 20, true)]).len(), 4);
        assert_eq!(lengths(far, &[(1 << 20, false), (1 << 20, false), (9, false)]).len(), 2);
        let near = Cut::new(2, Duration::from_micros(10));
        assert_eq!(lengths(near, &[(1 << 20, true)]).len(), (1 << 20) / NEAR);
        assert_eq!(lengths(near, &[(1000, true), (1000, true)]).len(), 1);
        let lanes: Vec<usize> = (0..6).map(|group| near.lane(group)).collect();
        assert_eq!(lanes, [0, 2, 1, 3, 0, 2], "threads first");
        // A lane of each thread has the longest steps, one behind the other.
        let long = ALONE * NEAR + 1;
        let groups = lengths(near, &[(long, false), (long, false), (long, false), (9, false)]);
        let steps = [vec![(0, long), (3, 9)], vec![(1, long)], vec![], vec![], vec![(2, long)]];
        assert_eq!(groups, steps);
        assert_eq!([0, 1, 4].map(|group| near.lane(group)), [0, 2, 0]);
    }
}
