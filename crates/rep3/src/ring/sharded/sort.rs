//! Sorts rows on several shards by keys.
//!
//! ```text
//! strings of bits, as on one machine ─► shuffle over all shards
//! a sample of shuffled rows, on shard 0 ─► ranked ─► shards − 1 pivots, to all shards
//! every row is compared with ⌈log2 shards⌉ pivots ─► rows go to the shard of their range
//! each shard ranks its rows, by comparisons of its own session ─► places of shuffled rows
//! ```
//!
//! **Security.** Strings differ, so every opened comparison, on any shard, is a function of one
//! uniformly random order: that of the shuffled rows. The number of rows that a shard gets is also
//! such a function, and has the same distribution for all keys. There is one shuffle, under which
//! nothing else is opened. Shards rank rows in the order in which they arrive, without another
//! shuffle.
//! **Bytes.** A row takes ⌈log2 shards⌉ comparisons with pivots, and as many fewer on its shard.
//! The comparisons of the sample come on top; they are few compared with those of all rows.

use super::{
    Permutation, other_length, own_rows,
    permutation::Fresh,
    permute::{ResultUse, permuted},
    push_words,
    route::Route,
    tell_all,
};
use crate::{
    Batch, Mover, Rep3, ShareError,
    pool::{self, Scratch},
    ring::{
        column::Column,
        group::Xor,
        keys::{SortKey, strings},
        moves::words_in,
        ranking::{Ranking, answer},
        sort::Comparisons,
    },
};
use hushwire_block::Wiped;
use hushwire_machine::{
    NetError,
    drive::{Line, Talk},
};
use std::sync::Arc;

/// AGREEMENT: the most rows to sample for each shard. More samples make the buckets more even: with
/// this many, even the largest of many buckets is hardly more than a fifth above the average.
const SAMPLED: usize = 256;
/// AGREEMENT: at most one in this many of shard 0's rows is sampled.
const SAMPLED_OF: usize = 16;

/// AGREEMENT: whether shard 0 ranks all rows, because there are so few.
fn few(rows: usize, shards: usize) -> bool {
    shards == 1 || rows < (256 * shards).max(64 * shards * shards)
}

/// A machine that sorts `rows` rows by keys, the first most significant; `keys` covers this shard's
/// rows. Rows whose keys are all equal keep their order. Levels of fewer than `wide` pairs over all
/// shards are compared at logarithmic depth, as for
/// [`Sort::wide_from`](crate::ring::Sort::wide_from).
///
/// # Errors
/// [`ShareError::Length`] unless every key has this shard's number of rows.
pub fn sort<'m>(
    mut batch: Batch,
    mover: &'m mut dyn Mover,
    rows: usize,
    keys: &[SortKey],
    wide: usize,
) -> Result<Line<'m, Arc<Permutation>, NetError>, ShareError> {
    let strings = strings(&batch.context(), own_rows(mover, rows), rows, keys)?;
    Ok(Line::over(2, move |talk| async move {
        let fresh = Fresh::draw(batch.context(), mover, rows)?;
        if rows < 2 {
            return Ok(fresh.unopened());
        }
        let cx = batch.context();
        let ends = (false, ResultUse::Shares);
        let shuffled =
            permuted::<Xor<u32>>(&talk, &cx, mover, fresh.shuffle(), strings.columns, ends).await?;
        let mut comparisons = Comparisons::new(batch, strings.width, wide.div_ceil(mover.shards()));
        let to = parted(&talk, &mut comparisons, mover, &shuffled, rows).await?;
        let (bucket, first) = Route::to_shards(mover, to)?;
        let ranking = ranked(&talk, &mut comparisons, mover, shuffled, &bucket).await?;
        if cx.role.index() == 0 {
            return fresh.then_to(mover, &[]);
        }
        let mut places = Scratch::zeros(bucket.comes());
        (first..).zip(ranking.rows()).for_each(|(place, row)| places[*row as usize] = place);
        let places = bucket.back(mover, &[&places[..]])?;
        fresh.then_to(mover, &places[0])
    }))
}

/// The shard that ranks each of this shard's shuffled rows. In the sorted order, the rows of a
/// shard follow those of the shards before it.
pub(super) async fn parted(
    talk: &Talk,
    comparisons: &mut Comparisons,
    mover: &mut dyn Mover,
    shuffled: &[Column<u32>],
    rows: usize,
) -> Result<Scratch<u32>, NetError> {
    if few(rows, mover.shards()) {
        return Ok(Scratch::zeros(own_rows(mover, rows).len()));
    }
    let pivots = pivots(talk, comparisons, mover, shuffled, rows).await?;
    buckets(talk, comparisons, mover.shards(), shuffled.to_vec(), &pivots).await
}

/// Ranks the shuffled rows that come to this shard.
pub(super) async fn ranked(
    talk: &Talk,
    comparisons: &mut Comparisons,
    mover: &mut dyn Mover,
    shuffled: Vec<Column<u32>>,
    bucket: &Route,
) -> Result<Ranking, NetError> {
    let came = bucket.there(mover, &shares(&shuffled))?;
    drop(shuffled);
    comparisons.take(&columns(came));
    comparisons.rank(talk, bucket.comes()).await
}

/// Both shares of each column, in turn.
fn shares(columns: &[Column<u32>]) -> Vec<&[u32]> {
    columns.iter().flat_map(|column| [&column.own[..], &column.next]).collect()
}

/// The inverse of [`shares`].
fn columns(shares: Vec<Scratch<u32>>) -> Vec<Column<u32>> {
    let mut shares = shares.into_iter().map(|mut share| std::mem::take(&mut *share));
    std::iter::from_fn(|| Some(Rep3 { own: shares.next()?, next: shares.next()? })).collect()
}

/// The strings of `shards` − 1 rows that split all rows about evenly, in order, at every shard.
/// Shard 0 ranks a sample: its first rows, which are as random as any others.
async fn pivots(
    talk: &Talk,
    comparisons: &mut Comparisons,
    mover: &mut dyn Mover,
    shuffled: &[Column<u32>],
    rows: usize,
) -> Result<Vec<Column<u32>>, NetError> {
    let shards = mover.shards();
    let mut told = Wiped::new(pool::room(2 * shuffled.len() * (shards - 1) * 4));
    if mover.shard() == 0 {
        let sampled = (SAMPLED * shards).min(own_rows(mover, rows).len() / SAMPLED_OF);
        let first = |share: &Vec<u32>| pool::copy(&share[..sampled]);
        let sample: Vec<_> = shuffled
            .iter()
            .map(|column| Rep3 { own: first(&column.own), next: first(&column.next) })
            .collect();
        comparisons.take(&sample);
        let ranking = comparisons.rank(talk, sampled).await?;
        let order = ranking.rows();
        let pivots: Vec<usize> = (1..shards).map(|i| order[sampled * i / shards] as usize).collect();
        for share in shares(&sample) {
            push_words(&pivots.iter().map(|row| share[*row]).collect::<Vec<_>>(), &mut told);
        }
    }
    let heard = Wiped::new(tell_all(mover, &told)?.swap_remove(0));
    let bytes = (shards - 1) * 4;
    if heard.len() != 2 * shuffled.len() * bytes {
        return Err(other_length(0, 2 * shuffled.len() * bytes, heard.len()));
    }
    let share = |bytes: &[u8]| Scratch::new(words_in(bytes).collect());
    Ok(columns(heard.chunks(bytes).map(share).collect()))
}

/// The bucket of each row: the number of pivots that are not greater. Rows descend a search tree of
/// pivots by opened comparisons.
async fn buckets(
    talk: &Talk,
    comparisons: &mut Comparisons,
    shards: usize,
    mut shuffled: Vec<Column<u32>>,
    pivots: &[Column<u32>],
) -> Result<Scratch<u32>, NetError> {
    let rows = shuffled[0].rows();
    for (column, pivots) in shuffled.iter_mut().zip(pivots) {
        column.own.extend_from_slice(&pivots.own);
        column.next.extend_from_slice(&pivots.next);
    }
    comparisons.take(&shuffled);
    // The buckets that are still possible for a row: the first, and the one behind the last.
    let mut left: Scratch<[u32; 2]> = Scratch::new(vec![[0, shards as u32]; rows]);
    let middle = |[from, to]: [u32; 2]| (to > from + 1).then(|| from.midpoint(to));
    loop {
        comparisons.pairs.clear();
        let pairs = left.iter().zip(0u32..).filter_map(|(left, row)| {
            let pivot = middle(*left)? - 1;
            Some([row, rows as u32 + pivot])
        });
        comparisons.pairs.extend(pairs);
        if comparisons.pairs.is_empty() {
            let mut buckets = Scratch::room(rows);
            buckets.extend(left.iter().map(|[bucket, _]| *bucket));
            return Ok(buckets);
        }
        let answers = comparisons.less(talk, true).await?;
        for (i, [row, _]) in comparisons.pairs.iter().enumerate() {
            let left = &mut left[*row as usize];
            let less = answer(&answers, i, comparisons.pairs.len());
            if let Some(middle) = middle(*left) {
                left[usize::from(less)] = middle;
            }
        }
    }
}
