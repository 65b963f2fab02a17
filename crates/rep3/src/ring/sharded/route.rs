//! Movements of rows to places on the shards of one party, which knows the places.
//!
//! ```text
//! shard s   row i ── into ──► stream by stream, the rows for shards 0, 1, …
//! shard t   rows from shards 0, 1, … ── place ──► row
//! ```
//!
//! The streams that a shard sends are ranges of places, so the receiver writes within one range of
//! its memory at a time. Both movements stay in the caches, like those of a stage on one machine.

use super::{other_length, own_rows, push_words, tell_all};
use crate::{
    Mover, ShareError,
    mover::ranges,
    pool::{self, Scratch},
    ring::{
        permutation::{BUCKETS, buckets},
        word::Word,
    },
};
use hushwire_machine::NetError;

/// Places of rows on the shards, as seen by one shard of a party that knows them.
pub(super) struct Route {
    /// The position of each row among the rows that this shard sends.
    into: Scratch<u32>,
    /// The number of rows that it sends to each shard.
    gives: Vec<usize>,
    /// The place on this shard of each row that it receives.
    place: Scratch<u32>,
    /// The number of rows that it receives from each shard.
    comes: Vec<usize>,
}

/// Groups rows by stream: replaces each row's stream by its position. Returns the number of rows of
/// each stream.
fn together(into: &mut [u32], streams: usize) -> Vec<usize> {
    let mut counts = vec![0; streams];
    into.iter().for_each(|stream| counts[*stream as usize] += 1);
    let mut start = 0u32;
    let starts = counts.iter().map(|count| {
        start += *count as u32;
        start - *count as u32
    });
    let mut next: Vec<u32> = starts.collect();
    for place in into {
        let next = &mut next[*place as usize];
        *place = *next;
        *next += 1;
    }
    counts
}

impl Route {
    /// Sends row i to shard `to[i]`. There, rows lie by the shard from which they came, then in its
    /// order. Also returns the number of rows that go to the shards before this one.
    ///
    /// # Errors
    /// As [`Mover::exchange`].
    pub(super) fn to_shards(mover: &mut dyn Mover, mut to: Scratch<u32>) -> Result<(Route, u32), NetError> {
        let (me, shards) = (mover.shard(), mover.shards());
        let gives = together(&mut to, shards);
        let own: Vec<u8> = gives.iter().flat_map(|rows| (*rows as u64).to_le_bytes()).collect();
        let (mut comes, mut before) = (vec![], vec![]);
        for (s, told) in tell_all(mover, &own)?.into_iter().enumerate() {
            if told.len() != own.len() {
                return Err(other_length(s, own.len(), told.len()));
            }
            let counts = told.as_chunks::<8>().0.iter().map(|count| u64::from_le_bytes(*count) as usize);
            let counts: Vec<usize> = counts.collect();
            comes.push(counts[me]);
            before.extend_from_slice(&counts[..me]);
        }
        let first = rows_in(&before)?;
        let place = Scratch::new(pool::collect(0..rows_in(&comes)?));
        Ok((Route { into: to, gives, place, comes }, first))
    }

    /// Sends row i to place `places[i]` of `rows` rows.
    ///
    /// # Errors
    /// An error with [`ShareError::Places`] in it, unless the places of all shards are each place
    /// exactly once; otherwise as [`Mover::exchange`].
    pub(super) fn to_places(mover: &mut dyn Mover, rows: usize, places: &[u32]) -> Result<Route, NetError> {
        let (shards, bounds) = (mover.shards(), ranges(rows, mover.shards()));
        let widest = bounds.windows(2).map(|range| range[1] - range[0]).max().unwrap_or(0);
        let most = buckets(widest).min(BUCKETS / shards).max(1);
        let shift = widest.div_ceil(most).max(1).next_power_of_two().ilog2();
        let streams = widest.div_ceil(1 << shift).max(1);
        // An invalid place is replaced by the last one. All shards go through the exchange before
        // they refuse.
        let last = rows.saturating_sub(1) as u32;
        let mut is_wrong = places.iter().any(|place| *place > last);
        // The last shard whose first row is at or before this place.
        let shard = |place: u32| {
            let behind = (u64::from(place) + 1) * shards as u64;
            behind.div_ceil(rows.max(1) as u64) as usize - 1
        };
        let mut into = Scratch::room(places.len());
        into.extend(places.iter().map(|place| {
            let (place, shard) = (last.min(*place), shard(last.min(*place)));
            (shard * streams + ((place as usize - bounds[shard]) >> shift)) as u32
        }));
        let gives: Vec<usize> =
            together(&mut into, shards * streams).chunks(streams).map(|counts| counts.iter().sum()).collect();
        let mut said = Scratch::zeros(places.len());
        for (at, place) in into.iter().zip(places) {
            let place = last.min(*place);
            said[*at as usize] = place - bounds[shard(place)] as u32;
        }
        let here = own_rows(mover, rows).len();
        let (mut place, mut comes) = (Scratch::room(here), vec![]);
        let mut taken = vec![false; here];
        for heard in mover.exchange(parts(&[said], &gives))? {
            let words = heard.as_chunks::<4>().0.iter().map(|word| u32::from_le_bytes(*word));
            comes.push(words.len());
            for word in words {
                match taken.get_mut(word as usize) {
                    Some(taken) if !*taken => *taken = true,
                    _ => is_wrong = true,
                }
                place.push(word);
            }
            pool::give(heard);
        }
        if is_wrong || place.len() != here {
            return Err(super::unfit("places of rows")(ShareError::Places { rows }));
        }
        Ok(Route { into, gives, place, comes })
    }

    /// The number of this shard's rows after the movement.
    pub(super) fn comes(&self) -> usize {
        self.place.len()
    }

    /// Moves columns: row i of all shards goes to its place.
    ///
    /// # Errors
    /// As [`Mover::exchange`].
    pub(super) fn there<W: Word>(
        &self,
        mover: &mut dyn Mover,
        columns: &[impl AsRef<[W]>],
    ) -> Result<Vec<Scratch<W>>, NetError> {
        let given = columns.iter().map(|column| scattered(&self.into, column.as_ref()));
        let carried = carry(mover, &given.collect::<Vec<_>>(), &self.gives, &self.comes)?;
        Ok(carried.iter().map(|words| scattered(&self.place, words)).collect())
    }

    /// Moves columns back: the row at a row's place goes to that row.
    ///
    /// # Errors
    /// As [`Mover::exchange`].
    pub(super) fn back<W: Word>(
        &self,
        mover: &mut dyn Mover,
        columns: &[impl AsRef<[W]>],
    ) -> Result<Vec<Scratch<W>>, NetError> {
        let given = columns.iter().map(|column| gathered(&self.place, column.as_ref()));
        let carried = carry(mover, &given.collect::<Vec<_>>(), &self.comes, &self.gives)?;
        Ok(carried.iter().map(|words| gathered(&self.into, words)).collect())
    }
}

/// Computes `out[places[i]] = words[i]`.
fn scattered<W: Word>(places: &[u32], words: &[W]) -> Scratch<W> {
    assert_eq!(places.len(), words.len(), "a place for each row");
    let mut out = Scratch::zeros(words.len());
    places.iter().zip(words).for_each(|(place, word)| out[*place as usize] = *word);
    out
}

/// Computes `out[i] = words[places[i]]`.
fn gathered<W: Word>(places: &[u32], words: &[W]) -> Scratch<W> {
    assert_eq!(places.len(), words.len(), "a place for each row");
    Scratch::new(pool::collect(places.iter().map(|place| words[*place as usize])))
}

/// The bytes for each shard: its rows of each column, one column behind the other.
fn parts<W: Word>(columns: &[Scratch<W>], gives: &[usize]) -> Vec<Vec<u8>> {
    let mut at = 0;
    let part = |rows: &usize| {
        let mut bytes = pool::room(columns.len() * rows * W::BYTES);
        columns.iter().for_each(|column| push_words(&column[at..at + rows], &mut bytes));
        at += rows;
        bytes
    };
    gives.iter().map(part).collect()
}

/// Exchanges columns whose rows are grouped by receiving shard, and returns the received columns.
fn carry<W: Word>(
    mover: &mut dyn Mover,
    columns: &[Scratch<W>],
    gives: &[usize],
    comes: &[usize],
) -> Result<Vec<Scratch<W>>, NetError> {
    let heard = mover.exchange(parts(columns, gives))?;
    let rows = comes.iter().sum();
    let mut out: Vec<Scratch<W>> = columns.iter().map(|_| Scratch::room(rows)).collect();
    for (shard, (heard, rows)) in heard.into_iter().zip(comes).enumerate() {
        let bytes = rows * W::BYTES;
        if heard.len() != columns.len() * bytes {
            return Err(other_length(shard, columns.len() * bytes, heard.len()));
        }
        for (i, out) in out.iter_mut().enumerate() {
            out.extend(heard[i * bytes..(i + 1) * bytes].chunks_exact(W::BYTES).map(W::read));
        }
        pool::give(heard);
    }
    Ok(out)
}

/// The total number of rows, if a 32-bit place can hold it.
fn rows_in(counts: &[usize]) -> Result<u32, NetError> {
    let rows = counts.iter().try_fold(0usize, |sum, count| sum.checked_add(*count));
    let wrong = ShareError::Places { rows: rows.unwrap_or(usize::MAX) };
    rows.and_then(|rows| u32::try_from(rows).ok()).ok_or_else(|| super::unfit("rows of a shard")(wrong))
}
