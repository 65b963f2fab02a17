//! Moves the rows whose flag is set to the front, in order.
//!
//! ```text
//! A(i)    flagged rows before row i            B(i) = all flagged rows + i − A(i)
//! place   B + f (A − B)                        flagged rows in order, then the others in order:
//!                                              a stable sort by one bit
//! ```
//!
//! Prefix sums are local. The protocol consists of products with the flags, the permutation from
//! the places, and the movement of the rows.

use super::{
    column::Column,
    group::Sum,
    mul::Product,
    permutation::Permutation,
    permute::{Permute, permute_cost},
    places::FromPlaces,
    word::Word,
};
use crate::{Batch, Role, ShareError};
use hushwire_machine::{
    Cost, NetError,
    drive::{Abreast, Line, Machine, Talk},
    passed_on,
};
use std::sync::Arc;

/// One party's endpoint of compacting columns of one width. It returns the first rows whose flag is
/// set, in order, with zeros behind them.
///
/// **Rounds and bytes.** One round of products, with a 32-bit word for each row, and a word for
/// each row and column; then [`FromPlaces`] and a [`Permute`]: [`compact_cost`].
/// **Security.** Semi-honest, one corrupted party. The opened value is a uniform permutation, as
/// for [`FromPlaces`]. The number of flagged rows is not revealed.
pub struct Compact<W: Word>(Line<'static, Compacted<W>, NetError>);

/// The columns, and the permutation that made them; `None` if there are no rows.
type Compacted<W> = (Vec<Column<W>>, Option<Arc<Permutation>>);

impl<W: Word> Compact<W> {
    /// `flags` has a 0 or 1 modulo 2^64 for each row. `rows` is the number of rows of the result.
    /// The run ends with [`NetError::Malformed`] if there are 2^32 rows or more, or if the places
    /// that follow from the flags are not a permutation's.
    ///
    /// # Errors
    /// [`ShareError::Length`] unless all columns have the rows of the flags.
    pub fn new(
        mut batch: Batch,
        flags: &Column<u64>,
        columns: &[Arc<Column<W>>],
        rows: usize,
    ) -> Result<Compact<W>, ShareError> {
        let given = flags.rows();
        flags.expect_rows("the flags of a compaction", given)?;
        columns.iter().try_for_each(|column| column.expect_rows("a column to compact", given))?;
        let role = batch.session().role();
        let narrow = flags_as::<u32>(flags, 1);
        let all = [&narrow.own, &narrow.next].map(|share| total(share));
        let (others, differences) = places(role, &narrow, 0, [0; 2], all);
        let places = Product::new(batch.context(), Arc::new(narrow), Arc::new(differences))?;
        let repeated = flags_as::<W>(flags, columns.len());
        let payload = Product::new(batch.context(), Arc::new(repeated), Arc::new(joined(columns)))?;
        let (cost, columns) = (compact_cost(role, given, columns.len() * W::BYTES), columns.len());
        let line = Line::over(2, move |talk| async move {
            let (mut out, permutation) = if given == 0 {
                ((0..columns).map(|_| Column::zeros(0)).collect(), None)
            } else {
                compact(&talk, batch, places, &others, payload, columns).await?
            };
            for share in out.iter_mut().flat_map(|column| [&mut column.own, &mut column.next]) {
                share.resize(rows, W::default());
            }
            Ok((out, permutation))
        });
        Ok(Compact(line.costing(cost)))
    }

    /// The columns, after the run, with `rows` rows each.
    ///
    /// # Panics
    /// If it has not run (the caller's bug).
    #[must_use]
    pub fn finish(self) -> Vec<Column<W>> {
        self.0.finish().0
    }

    /// The permutation that brings flagged rows to the front, after the run, for more columns.
    /// Those columns are not zero behind the flagged rows. `None` if there are no rows.
    #[must_use]
    pub fn permutation(&self) -> Option<Arc<Permutation>> {
        self.0.result()?.1.clone()
    }
}

passed_on!([W: Word] Compact<W>, NetError, self => self.0);

/// Multiplies the flags by differences of places and by the payload, makes the permutation from the
/// places, and moves the rows.
async fn compact<W: Word>(
    talk: &Talk,
    mut batch: Batch,
    mut places: Product<u32>,
    others: &Column<u32>,
    mut payload: Product<W>,
    columns: usize,
) -> Result<Compacted<W>, NetError> {
    let malformed = |e: ShareError| NetError::Malformed { peer: None, msg: NAME, what: e.to_string() };
    let both: Vec<&mut (dyn Machine<Error = NetError> + Send)> = vec![&mut places, &mut payload];
    talk.run(&mut Abreast::new(both)).await?;
    let places = plus(places.finish(), others);
    let masked = parted(&payload.finish(), columns, places.rows());

    let mut places = FromPlaces::of_narrow(&mut batch, Arc::new(places)).map_err(malformed)?;
    talk.run(&mut places).await?;
    let permutation = places.finish().map_err(malformed)?;
    let mut moved =
        Permute::<Sum<W>>::new(batch.context(), permutation.clone(), masked).map_err(malformed)?;
    talk.run(&mut moved).await?;
    Ok((moved.finish(), Some(permutation)))
}

/// The flags as numbers of another ring, all of them repeated `times` times.
pub(super) fn flags_as<W: Word>(flags: &Column<u64>, times: usize) -> Column<W> {
    let share = |share: &[u64]| {
        let words = share.iter().map(|flag| W::of(*flag)).collect::<Vec<_>>();
        words.repeat(times)
    };
    Column { own: share(&flags.own), next: share(&flags.next) }
}

/// All columns, one after the other.
pub(super) fn joined<W: Word>(columns: &[Arc<Column<W>>]) -> Column<W> {
    let join =
        |share: fn(&Column<W>) -> &Vec<W>| columns.iter().flat_map(|column| share(column)).copied().collect();
    Column { own: join(|column| &column.own), next: join(|column| &column.next) }
}

/// The columns of `rows` rows that [`joined`] has put one after the other.
pub(super) fn parted<W: Word>(joined: &Column<W>, columns: usize, rows: usize) -> Vec<Arc<Column<W>>> {
    let part = |share: &[W], i: usize| share[i * rows..(i + 1) * rows].to_vec();
    (0..columns)
        .map(|i| Arc::new(Column { own: part(&joined.own, i), next: part(&joined.next, i) }))
        .collect()
}

/// The sums of two columns.
pub(super) fn plus(mut sums: Column<u32>, others: &Column<u32>) -> Column<u32> {
    for (share, others) in [(&mut sums.own, &others.own), (&mut sums.next, &others.next)] {
        share.iter_mut().zip(others).for_each(|(word, other)| *word = word.plus(*other));
    }
    sums
}

/// The sum of one share of the flags, modulo 2^32.
pub(super) fn total(flags: &[u32]) -> u32 {
    flags.iter().fold(0, |sum: u32, flag| sum.plus(*flag))
}

/// This party's shares of B and of A − B: the place of every row that is not flagged, and the
/// amount to add if it is. `flags` begins with row `first` of all rows. Each of its two shares adds
/// up to `before` in the rows before `first`, and to `all` in all rows.
pub(super) fn places(
    role: Role,
    flags: &Column<u32>,
    first: usize,
    before: [u32; 2],
    all: [u32; 2],
) -> (Column<u32>, Column<u32>) {
    let rows = flags.own.len();
    let (mut others, mut differences) = (Column::zeros(rows), Column::zeros(rows));
    let shares = [
        (&flags.own, &mut others.own, &mut differences.own),
        (&flags.next, &mut others.next, &mut differences.next),
    ];
    for (held, (flags, others, differences)) in shares.into_iter().enumerate() {
        // A row's number is public, so it is added to x_0 alone.
        let known = u32::from(role.constant_slot() == Some(held));
        let mut before = before[held];
        for (i, flag) in flags.iter().enumerate() {
            others[i] = all[held].plus(known.times((first + i) as u32)).minus(before);
            differences[i] = before.minus(others[i]);
            before = before.plus(*flag);
        }
    }
    (others, differences)
}

/// The name of the step in errors.
pub(super) const NAME: &str = "a compaction";

/// The cost of compacting `rows` rows of `width` bytes, the sum over all columns.
#[must_use]
pub fn compact_cost(role: Role, rows: usize, width: usize) -> Cost {
    let flags = permute_cost(role, false, 4 * rows);
    let moved = permute_cost(role, false, width * rows);
    Cost {
        rounds: u64::from(rows > 0) + flags.rounds + moved.rounds,
        bytes_sent: ((4 + width) * rows) as u64 + flags.bytes_sent + moved.bytes_sent,
    }
}

#[cfg(test)]
#[path = "compact_tests.rs"]
mod tests;
