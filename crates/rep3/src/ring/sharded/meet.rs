//! An order that brings rows of equal keys together, by tags of the keys, for rows on several
//! shards.
//!
//! The protocol is that of [`Meet`](crate::ring::Meet). The AES key exists as shares at shard 0,
//! which gives them to all shards of its party, so equal keys have equal tags on every shard.
//! Parties 1 and 2, which learn tags and sides of shuffled rows, order them among their own shards;
//! each shard takes a range of tags.
//!
//! **Security.** As for [`Meet`](crate::ring::Meet). If many rows have one key, one shard of
//! parties 1 and 2 holds more tags than others. These two parties know the counts anyway. Messages
//! between parties have the lengths of ranges of rows.

use super::{
    Permutation, other_length, own_rows,
    permutation::Fresh,
    permute::{ResultUse, permuted},
    route::Route,
    tell_all, unfit,
};
use crate::{
    Batch, ExpandedKeys, Mover, Rep3, ShareError,
    pool::Scratch,
    ring::{
        column::Bits,
        group::Xor,
        meet::{KEY_SIZE, Tagging, in_order, key_columns},
    },
};
use hushwire_block::Wiped;
use hushwire_machine::{NetError, drive::Line};
use std::sync::Arc;

/// A machine that brings `rows` rows together by all of `keys`, which cover this shard's rows. The
/// first `first` rows of all shards are the first side. At most `piece` rows of a shard are
/// encrypted at a time.
///
/// # Errors
/// [`ShareError::Length`] unless every key has this shard's rows, and there are fewer than 2^31
/// rows.
pub fn meet<'m>(
    mut batch: Batch,
    mover: &'m mut dyn Mover,
    rows: usize,
    keys: &[Arc<Bits>],
    first: usize,
    piece: usize,
) -> Result<Line<'m, Arc<Permutation>, NetError>, ShareError> {
    let cx = batch.context();
    let columns = key_columns(&cx, own_rows(mover, rows), rows, keys, first)?;
    let width = keys.iter().map(|key| key.width()).sum();
    Ok(Line::over(2, move |talk| async move {
        let fresh = Fresh::draw(batch.context(), mover, rows)?;
        if rows < 2 {
            return Ok(fresh.unopened());
        }
        let ends = (false, ResultUse::Shares);
        let columns = permuted::<Xor<u32>>(&talk, &cx, mover, fresh.shuffle(), columns, ends).await?;
        let mut tagging = Tagging::new(batch, own_rows(mover, rows).len(), width);
        // All shards use one key.
        let own = match mover.shard() {
            0 => {
                let expanded = tagging.expand(&talk).await?.to_shares(cx.role);
                Wiped::new([&expanded.own[..], &expanded.next].concat())
            }
            _ => Wiped::default(),
        };
        let told = Wiped::new(tell_all(mover, &own)?.swap_remove(0));
        let half = KEY_SIZE.expanded_bytes();
        if told.len() != 2 * half {
            return Err(other_length(0, 2 * half, told.len()));
        }
        let expanded = Rep3 { own: told[..half].to_vec(), next: told[half..].to_vec() };
        let expanded =
            ExpandedKeys::from_shares(cx.role, KEY_SIZE, &expanded, 1).map_err(unfit("a meeting"))?;
        let opened = tagging.tags(&talk, columns, Arc::new(expanded), piece).await?;
        if cx.role.index() == 0 {
            return fresh.then_to(mover, &[]);
        }
        let own = own_rows(mover, rows).len();
        let places = placed(mover, &opened, own)?;
        fresh.then_to(mover, &places)
    }))
}

/// The place among all rows of each of this shard's rows, by tag, then side, then earlier place.
/// `opened` holds the tags of all rows, followed by their sides.
fn placed(mover: &mut dyn Mover, opened: &[u8], rows: usize) -> Result<Scratch<u32>, NetError> {
    let (tags, sides) = opened.split_at(16 * rows);
    let (tags, sides) = (tags.as_chunks::<4>().0, sides.as_chunks::<4>().0);
    let word = |i: usize, k: usize| u32::from_le_bytes(tags[4 * i + k]);
    let shards = mover.shards() as u64;
    let mut to = Scratch::room(rows);
    // A tag's highest bits are pseudorandom.
    to.extend((0..rows).map(|i| ((u64::from(word(i, 3)) * shards) >> 32) as u32));
    let (bucket, first) = Route::to_shards(mover, to)?;
    let column = |k: usize| {
        let mut words = Scratch::room(rows);
        words.extend((0..rows).map(|i| match k {
            4 => u32::from_le_bytes(sides[i]) & 1,
            k => word(i, k),
        }));
        words
    };
    let columns: Vec<Scratch<u32>> = (0..5).map(column).collect();
    let came = bucket.there(mover, &columns.iter().map(|words| &words[..]).collect::<Vec<_>>())?;
    let tag = |i: usize| {
        let mut tag = [0; 16];
        tag.as_chunks_mut().0.iter_mut().zip(&came).for_each(|(to, words)| *to = words[i].to_le_bytes());
        tag
    };
    let tags: Vec<[u8; 16]> = (0..bucket.comes()).map(tag).collect();
    let order = in_order(&tags, came[4].iter().map(|side| *side == 1));
    let mut places = Scratch::zeros(bucket.comes());
    (first..).zip(&order).for_each(|(place, row)| places[*row as usize] = place);
    Ok(bucket.back(mover, &[&places[..]])?.swap_remove(0))
}
