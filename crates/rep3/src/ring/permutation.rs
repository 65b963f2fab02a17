//! Permutations that no party knows: three stages, each drawn by two parties and secret from the
//! third.
//!
//! ```text
//! out = C(B(A(in)))        A: parties 0 and 1      B: parties 0 and 2      C: parties 1 and 2
//! a stage                  room[into[i]] = in[i],  out[k] = room[from[k]]
//! ```
//!
//! A stage is uniform among all permutations of its rows. Every row falls into a random bucket, and
//! each bucket is shuffled (C. R. Rao, 1961; M. Sandelius, 1962: for given numbers of rows per
//! bucket, all orders of all rows are equally likely). A stage is kept as the two movements of its
//! construction, both of which stay in the caches: `into` writes one stream per bucket, `from`
//! reads within one bucket.

use super::{
    column::Column,
    group::Group,
    masks::{Neighbour, PairWords},
    permute::Permute,
};
use crate::{Batch, Context, Role, ShareError, pool::Scratch};
use std::sync::Arc;

/// AGREEMENT: the most rows that a bucket has on average, while there are fewer than [`BUCKETS`]:
/// 32 KiB of 64-bit words.
const BUCKET: usize = 4096;
/// AGREEMENT: the most buckets, a power of two. Each has a cache line and a page that are written
/// in turn.
pub(super) const BUCKETS: usize = 2048;

/// The number of buckets of a stage of `rows` rows, a power of two.
pub(super) fn buckets(rows: usize) -> usize {
    rows.div_ceil(BUCKET).next_power_of_two().min(BUCKETS)
}

/// One stage, as both parties that drew it hold it.
#[derive(Clone)]
pub(super) struct Stage {
    into: Arc<Scratch<u32>>,
    from: Arc<Scratch<u32>>,
}

/// The two movements of a stage, or of its inverse: `room[into[i]] = in[i]`, then
/// `out[k] = room[from[k]]`.
#[derive(Clone, Copy)]
pub(super) struct Moves<'s> {
    pub(super) into: &'s [u32],
    pub(super) from: &'s [u32],
}

impl Stage {
    pub(super) fn draw(rows: u32, buckets: u32, words: &mut PairWords<'_>) -> Stage {
        let mut counts = vec![0u32; buckets as usize];
        let mut into = Scratch::room(rows as usize);
        into.extend((0..rows).map(|_| {
            let bucket = if buckets > 1 { words.draw::<u32>() & (buckets - 1) } else { 0 };
            counts[bucket as usize] += 1;
            bucket
        }));
        let mut start = 0;
        let mut ends = Vec::with_capacity(counts.len());
        for count in &mut counts {
            let rows = std::mem::replace(count, start);
            start += rows;
            ends.push(start);
        }
        for place in into.iter_mut() {
            let next = &mut counts[*place as usize];
            *place = *next;
            *next += 1;
        }
        let mut from = Scratch::room(rows as usize);
        from.extend(0..rows);
        let mut rest = &mut from[..];
        let mut at = 0;
        for end in ends {
            let (bucket, others) = rest.split_at_mut((end - at) as usize);
            // Fisher–Yates: the last of the remaining rows changes places with any of them.
            for last in (1..bucket.len()).rev() {
                bucket.swap(last, words.below(last as u32 + 1) as usize);
            }
            (rest, at) = (others, end);
        }
        Stage { into: Arc::new(into), from: Arc::new(from) }
    }

    /// This stage followed by moving row `j` to place `places[j]`; `None` unless the places are
    /// each place exactly once. Both movements of the result stay in the caches as well: a bucket
    /// consists of consecutive places.
    fn then(&self, places: &[u32]) -> Option<Stage> {
        let rows = self.from.len();
        let shift = rows.div_ceil(buckets(rows)).max(1).next_power_of_two().ilog2();
        // The final place of the row at each place of the room.
        let mut goes = Scratch::zeros(rows);
        self.from.iter().zip(places).for_each(|(at, place)| goes[*at as usize] = *place);
        let mut next: Vec<u32> = (0..rows).step_by(1 << shift).map(|first| first as u32).collect();
        let (mut into, mut room) = (Scratch::room(rows), Scratch::zeros(rows));
        for at in self.into.iter() {
            let place = goes[*at as usize];
            let bucket = (place >> shift) as usize;
            let next = next.get_mut(bucket)?;
            // A bucket has no more rows than places.
            if *next as usize >= rows.min((bucket + 1) << shift) {
                return None;
            }
            into.push(*next);
            room[*next as usize] = place;
            *next += 1;
        }
        let mut from = goes;
        from.fill(u32::MAX);
        for (at, place) in (0..).zip(room.iter()) {
            match from.get_mut(*place as usize) {
                Some(free) if *free == u32::MAX => *free = at,
                _ => return None,
            }
        }
        Some(Stage { into: Arc::new(into), from: Arc::new(from) })
    }

    /// The place to which each row goes, counted from `first` on.
    pub(super) fn places(&self, first: u32) -> Scratch<u32> {
        let mut goes = Scratch::zeros(self.from.len());
        (first..).zip(self.from.iter()).for_each(|(place, at)| goes[*at as usize] = place);
        let mut places = Scratch::room(goes.len());
        places.extend(self.into.iter().map(|at| goes[*at as usize]));
        places
    }

    fn moves(&self, inverse: bool) -> Moves<'_> {
        let (into, from) = (&self.into[..], &self.from[..]);
        if inverse { Moves { into: from, from: into } } else { Moves { into, from } }
    }
}

/// A permutation of rows that no party knows alone; any two parties together know it.
///
/// Applying it moves row p(i) to place i, where p(i) is the row that comes i-th. A
/// [`Permute`](super::Permute) applies it any number of times: to several columns at once, later to
/// more, forward or inverse.
///
/// **Security.** Each stage is uniform, drawn from a pair's key, and the third party learns nothing
/// about it. The stages determine memory addresses at the parties that know them, so a process that
/// shares a party's caches may learn them.
#[derive(Clone)]
pub struct Permutation {
    role: Role,
    rows: usize,
    left: Stage,
    right: Stage,
}

impl Permutation {
    /// A uniform permutation, without a message; applying it is a shuffle.
    ///
    /// # Errors
    /// [`ShareError::Length`] for more than 2^32 − 1 rows.
    pub fn random(batch: &mut Batch, rows: usize) -> Result<Arc<Permutation>, ShareError> {
        Ok(Fresh::draw(batch.context(), rows)?.0)
    }

    /// The number of rows.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The party that holds these stages.
    #[must_use]
    pub fn role(&self) -> Role {
        self.role
    }

    /// The stage that was drawn with a neighbour.
    pub(super) fn stage(&self, side: Neighbour, inverse: bool) -> Moves<'_> {
        match side {
            Neighbour::Left => &self.left,
            Neighbour::Right => &self.right,
        }
        .moves(inverse)
    }
}

/// A permutation under which nothing has been opened yet. It cannot be copied, and opening
/// something under it consumes it.
///
/// SECURITY: two columns must not be opened under the same permutation. Both results would be in
/// the same hidden order of rows, and would reveal which values belong together.
pub(super) struct Fresh(Arc<Permutation>);

impl Fresh {
    /// Draws both of this party's stages, from a context of their own.
    #[allow(clippy::needless_pass_by_value)]
    pub(super) fn draw(cx: Context, rows: usize) -> Result<Fresh, ShareError> {
        let Ok(count) = u32::try_from(rows) else {
            let what = "a column to permute, which has 2^32 - 1 rows at most,";
            return Err(ShareError::Length { what, expected: u32::MAX as usize, found: rows });
        };
        let buckets = buckets(rows) as u32;
        let [left, right] = [Neighbour::Left, Neighbour::Right]
            .map(|side| Stage::draw(count, buckets, &mut PairWords::new(&cx, side, 0)));
        Ok(Fresh(Arc::new(Permutation { role: cx.role, rows, left, right })))
    }

    /// Shuffles these columns; the result is opened in whole or in part.
    pub(super) fn shuffle<G: Group>(
        &self,
        cx: Context,
        columns: Vec<Arc<Column<G::Word>>>,
    ) -> Result<Permute<G>, ShareError> {
        Permute::new(cx, self.0.clone(), columns)
    }

    /// The permutation that shuffles first and then moves row `order[i]` to place `i`. The order
    /// was opened under this shuffle, so the result is as uniform as the order. Parties 1 and 2
    /// keep it in the last stage; party 0 does not need it.
    ///
    /// # Panics
    /// If `order` is no permutation (the caller's bug).
    pub(super) fn then(self, order: &[u32]) -> Arc<Permutation> {
        if self.0.role.index() == 0 {
            return self.0;
        }
        let mut places = Scratch::zeros(order.len());
        (0..).zip(order).for_each(|(place, row)| places[*row as usize] = place);
        self.then_to(&places).expect("every row once")
    }

    /// As [`Fresh::then`], given the place to which each row goes.
    ///
    /// # Errors
    /// [`ShareError::Places`] at parties 1 and 2 unless `places` has each place exactly once. Party
    /// 0 cannot check this.
    pub(super) fn then_to(self, places: &[u32]) -> Result<Arc<Permutation>, ShareError> {
        let Permutation { role, rows, mut left, mut right } = Permutation::clone(&self.0);
        let last = match role.index() {
            1 => &mut right,
            2 => &mut left,
            _ => return Ok(self.0),
        };
        *last = last.then(places).filter(|_| places.len() == rows).ok_or(ShareError::Places { rows })?;
        Ok(Arc::new(Permutation { role, rows, left, right }))
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::ring::test_support::parties;

    fn rows_of(stage: &Stage) -> Vec<u32> {
        let mut row_at = vec![0; stage.into.len()];
        stage.into.iter().enumerate().for_each(|(row, place)| row_at[*place as usize] = row as u32);
        stage.from.iter().map(|place| row_at[*place as usize]).collect()
    }

    /// The rows that come first, second and so on, from all parties' stages.
    pub(in crate::ring) fn row_order(permutations: [&Permutation; 3]) -> Vec<u32> {
        let [a, b, c] = [&permutations[0].right, &permutations[0].left, &permutations[1].right].map(rows_of);
        let also = [&permutations[1].left, &permutations[2].right, &permutations[2].left].map(rows_of);
        assert_eq!([&a, &b, &c], also.each_ref(), "both holders have the same stage");
        c.iter().map(|i| a[b[*i as usize] as usize]).collect()
    }

    /// Asserts that counts of equally likely cases fit: χ² within five deviations.
    pub(in crate::ring) fn assert_even(counts: &[u32]) {
        let (cases, total) = (counts.len() as f64, f64::from(counts.iter().sum::<u32>()));
        let expected = total / cases;
        let chi: f64 = counts.iter().map(|n| (f64::from(*n) - expected).powi(2) / expected).sum();
        let freedom = cases - 1.0;
        assert!((chi - freedom).abs() < 5.0 * (2.0 * freedom).sqrt() + 8.0, "χ² = {chi}, {counts:?}");
    }

    #[test]
    fn stages_are_uniform_whatever_the_buckets() {
        let [mut party, ..] = parties();
        for buckets in [1, 2, 4] {
            let cx = party.next_batch().unwrap().context();
            let mut words = PairWords::new(&cx, Neighbour::Left, 0);
            let mut counts = [0; 256];
            for _ in 0..24_000 {
                let order = rows_of(&Stage::draw(4, buckets, &mut words));
                counts[order.iter().fold(0, |code, row| 4 * code + *row as usize)] += 1;
            }
            let seen: Vec<u32> = counts.into_iter().filter(|n| *n > 0).collect();
            assert_eq!(seen.len(), 24, "all orders of four");
            assert_even(&seen);
        }
    }

    #[test]
    fn stages_are_permutations_that_two_parties_share() {
        let mut parties = parties();
        for rows in [0, 1, 2, 3, 1000, 4097, 30_000] {
            let permutations = parties.each_mut().map(|party| {
                Permutation::random(&mut party.next_batch().unwrap(), rows).unwrap_or_else(|e| panic!("{e}"))
            });
            let mut order = row_order(permutations.each_ref().map(|p| &**p));
            let moved = order.iter().zip(0..).filter(|(row, i)| **row != *i).count();
            assert!(moved + 20 > rows, "a uniform permutation leaves one row where it was, on average");
            order.sort_unstable();
            assert!(order.into_iter().eq(0..rows as u32));
        }
    }

    #[test]
    fn a_stage_followed_by_places_is_one_stage() {
        let [mut party, ..] = parties();
        let cx = party.next_batch().unwrap().context();
        let mut words = PairWords::new(&cx, Neighbour::Left, 0);
        for rows in [0, 1, 2, 4096, 4097, 20_000] {
            let [first, second] =
                [0; 2].map(|_| Stage::draw(rows, buckets(rows as usize) as u32, &mut words));
            let (first_rows, order) = (rows_of(&first), rows_of(&second));
            let mut places = vec![0; rows as usize];
            (0..).zip(&order).for_each(|(place, row)| places[*row as usize] = place);
            let both = first.then(&places).unwrap_or_else(|| panic!("{rows} places"));
            let expected: Vec<u32> = order.iter().map(|row| first_rows[*row as usize]).collect();
            assert_eq!(rows_of(&both), expected);
            // Buckets of places: the second movement stays in one of them.
            let span = (rows as usize).div_ceil(buckets(rows as usize)).max(1).next_power_of_two();
            assert!(both.from.iter().enumerate().all(|(place, at)| place / span == *at as usize / span));
        }
    }

    #[test]
    fn numbers_below_a_bound_are_even() {
        let [mut party, ..] = parties();
        let cx = party.next_batch().unwrap().context();
        let mut words = PairWords::new(&cx, Neighbour::Right, 3);
        for bound in [1, 2, 3, 7, 100] {
            let mut counts = vec![0; bound as usize];
            (0..20_000).for_each(|_| counts[words.below(bound) as usize] += 1);
            assert_even(&counts);
        }
        // With a bound of three quarters of 2^32, a quarter of all draws is refused. Without that,
        // every third number would come up twice as often as the others.
        let bound = 3 << 30;
        let mut counts = [0; 3];
        (0..30_000).for_each(|_| counts[(words.below(bound) >> 30) as usize] += 1);
        assert_even(&counts);
    }
}
