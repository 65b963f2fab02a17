//! Cuts long columns into pieces, and assigns the pieces of a wave to lanes and threads.
//!
//! ```text
//! a wave       step a: ████████  step b: ████  step c: ▏
//! groups       a0 b0 c   a1 b1   a2 b2   a3 b3        the pieces of a group share rounds
//! lanes        t0 t1 t2 t3: group g on lane g mod lanes, one behind the other
//! ```
//!
//! A piece stays in the cache for all of its rounds, while a whole column would pass through memory
//! in each round. Consecutive pieces on a lane take separate rounds, so pieces are longer if the
//! parties are farther apart. If there are no more groups than lanes, they take no more rounds than
//! one group. The total bytes of all parties are the same for every cut. The bytes of one party
//! differ by a few rows of each piece, if each party deals a third of the rows.

use hushwire_plan::{Extent, StepPiece};
use std::{ops::Range, time::Duration};

/// AGREEMENT: the rows of one bit each that keep a lane busy for a nanosecond. A piece has this
/// many for each nanosecond of a message's delay.
const ROWS_A_NANOSECOND: u64 = 1;
/// AGREEMENT: the most rows of a piece if parties are close to each other. Its working set then
/// stays in the second-level cache.
const NEAR: usize = 1 << 15;
/// AGREEMENT: the fewest rows of a piece.
const LEAST: usize = 1 << 13;
/// AGREEMENT: the fewest rows of a piece if memory is short.
const SHORTEST: usize = 1 << 10;
/// AGREEMENT: if parties are close to each other, the rows up to which fewer rounds are worth more
/// ANDs.
const FEW: usize = 1 << 14;
/// AGREEMENT: the nanoseconds of a message's delay that raise this limit by one row. A tree instead
/// of a ripple of 64 to 84 bits saves about that many rounds, and costs about twice that many ANDs
/// for each row. An AND takes about a nanosecond, for three parties that compute it and send on a
/// line of 10 Gb/s.
const NANOSECONDS_A_ROW: u64 = 2;
/// AGREEMENT: the rows beyond which bytes outweigh rounds at any distance. The bytes of a tree then
/// take seconds on a line of 100 Mb/s.
const MANY: usize = 1 << 21;
/// AGREEMENT: the lanes of a thread. While one lane waits for peers, the other computes.
const LANES: usize = 2;
/// AGREEMENT: the rows of a permuted column in one message, in pieces. It is long enough for system
/// calls and short enough for the second-level cache.
const IN_MESSAGE: usize = 4;
/// AGREEMENT: the rows, in pieces, beyond which whole steps run one after the other. Their memory
/// outweighs the benefit of computing one while another waits.
const ALONE: usize = 64;
/// Pieces begin at whole bytes of bit planes, and have at least as many rows as circuits take
/// without packing bits.
const UNIT: usize = 64;

/// The cut of a run. All of it is AGREEMENT: masks depend on pieces, and messages are cut by lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cut {
    threads: usize,
    lanes: usize,
    /// The rows of a piece if there are lanes for all pieces, and if there are more pieces than
    /// lanes.
    least: usize,
    most: usize,
    /// Rows up to which fewer rounds are worth more ANDs.
    few: usize,
}

impl Cut {
    /// A cut with one thread, one lane and no pieces, which has the fewest rounds.
    #[must_use]
    pub const fn whole() -> Cut {
        Cut { threads: 1, lanes: 1, least: usize::MAX, most: usize::MAX, few: FEW }
    }

    /// A cut for `threads` compute threads of each party, at least one. `delay` is the time that a
    /// message takes: half of the round trip, which parties measure and announce when they meet.
    /// The cut also determines which comparisons and conversions use a tree instead of a ripple,
    /// including those in the levels of a sort.
    #[must_use]
    pub fn new(threads: u16, delay: Duration) -> Cut {
        let nanoseconds = u64::try_from(delay.as_nanos()).unwrap_or(u64::MAX);
        let far = nanoseconds.saturating_mul(ROWS_A_NANOSECOND).min(1 << 40);
        let most = NEAR.max((far as usize).next_power_of_two());
        let few = (nanoseconds / NANOSECONDS_A_ROW).clamp(FEW as u64, MANY as u64) as usize;
        Cut { threads: usize::from(threads.max(1)), lanes: LANES, least: LEAST, most, few }
    }

    /// The same cut with pieces of `rows` rows, for any number of lanes.
    #[must_use]
    pub fn with_rows(self, rows: usize) -> Cut {
        let rows = rows.max(UNIT);
        Cut { least: rows, most: rows, ..self }
    }

    /// A cut with shorter pieces, which take less memory and more rounds. No piece is shorter than
    /// [`SHORTEST`].
    pub(crate) fn shorter(self) -> Option<Cut> {
        let most = self.most.min(1 << 40) / 2;
        (most >= SHORTEST).then(|| Cut { most, least: self.least.min(most), ..self })
    }

    /// The number of threads.
    #[must_use]
    pub fn threads(&self) -> usize {
        self.threads
    }

    /// The number of lanes of all threads.
    #[must_use]
    pub fn lanes(&self) -> usize {
        self.threads * self.lanes
    }

    /// The rows up to which fewer rounds are worth more ANDs. Steps and levels of a sort with no
    /// more rows compare and add by a tree.
    #[must_use]
    pub fn few(&self) -> usize {
        self.few
    }

    /// The rows of a column in one message, for whole moves of rows.
    pub(crate) fn rows_of_message(&self) -> usize {
        self.most.saturating_mul(IN_MESSAGE)
    }

    /// The same cut with trees up to `few` rows, for any delay. It serves predictions.
    #[must_use]
    pub fn with_few(self, few: usize) -> Cut {
        Cut { few, ..self }
    }

    /// The number of lanes of one thread.
    pub(crate) fn lanes_of_thread(&self) -> usize {
        self.lanes
    }

    /// The lane of a group. The lanes of a thread are consecutive.
    pub(crate) fn lane(&self, group: usize) -> usize {
        let (thread, turn) = (group % self.threads, group / self.threads);
        thread * self.lanes + turn % self.lanes
    }

    fn pieces(&self, rows: usize) -> usize {
        (rows / self.least).min(self.lanes()).max(rows / self.most).max(1)
    }

    /// The rows of each piece of a step whose rows are computed independently, if it is alone in a
    /// wave.
    #[must_use]
    pub fn pieces_of(&self, rows: usize) -> Vec<Range<usize>> {
        let groups = self.groups(&[Extent { at: 0, rows, cuts: true }]);
        groups.into_iter().flatten().map(|(_, rows)| rows).collect()
    }

    /// The groups of a wave. Some are empty if long steps run one after the other.
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
                // Each long step has a lane of its own. They are not more than the lanes, so they
                // take no more rounds.
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
        // The groups have every row of every step once, in order.
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
        // One lane of each thread has the longest steps, one after the other.
        let long = ALONE * NEAR + 1;
        let groups = lengths(near, &[(long, false), (long, false), (long, false), (9, false)]);
        let steps = [vec![(0, long), (3, 9)], vec![(1, long)], vec![], vec![], vec![(2, long)]];
        assert_eq!(groups, steps);
        assert_eq!([0, 1, 4].map(|group| near.lane(group)), [0, 2, 0]);
    }
}
