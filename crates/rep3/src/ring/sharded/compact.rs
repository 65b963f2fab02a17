//! Moves flagged rows of several shards to the front.
//!
//! The protocol is that of [`Compact`](crate::ring::Compact). Sums of flags are linear, so each
//! party gives the sums of its shares to its own shards, and to nobody else.

use super::{
    Permutation, other_length, own_rows,
    permute::{ResultUse, permuted, placed},
    realign, tell_all, unfit,
};
use crate::{
    Batch, Mover, ShareError,
    ring::{
        column::Column,
        compact::{NAME, flags_as, joined, parted, places, plus, total},
        group::Sum,
        mul::Product,
        word::Word,
    },
};
use hushwire_machine::{
    NetError,
    drive::{Abreast, Line, Machine},
};
use std::sync::Arc;

/// A machine that compacts columns of one width. It returns the first `kept` of the rows whose flag
/// is set, in order, with zeros behind them. Its result is this shard's range of the `kept` rows,
/// and the permutation of all `rows` rows that brings flagged ones to the front.
///
/// `flags` are 0 or 1 modulo 2^64. They and the columns cover this shard's rows.
///
/// # Errors
/// [`ShareError::Length`] unless all shares have this shard's number of rows.
#[allow(clippy::type_complexity)]
pub fn compact<'m, W: Word>(
    mut batch: Batch,
    mover: &'m mut dyn Mover,
    rows: usize,
    flags: &Column<u64>,
    columns: &[Arc<Column<W>>],
    kept: usize,
) -> Result<Line<'m, (Vec<Column<W>>, Arc<Permutation>), NetError>, ShareError> {
    let own = own_rows(mover, rows);
    flags.expect_rows("the flags of a compaction", own.len())?;
    columns.iter().try_for_each(|column| column.expect_rows("a column to compact", own.len()))?;
    let narrow = flags_as::<u32>(flags, 1);
    let repeated = flags_as::<W>(flags, columns.len());
    let mut payload = Product::new(batch.context(), Arc::new(repeated), Arc::new(joined(columns)))?;
    let columns = columns.len();
    Ok(Line::over(2, move |talk| async move {
        let [before, all] = sums(mover, [&narrow.own, &narrow.next].map(|share| total(share)))?;
        let (others, differences) = places(batch.role(), &narrow, own.start, before, all);
        let mut places =
            Product::new(batch.context(), Arc::new(narrow), Arc::new(differences)).map_err(unfit(NAME))?;
        if !own.is_empty() {
            let both: Vec<&mut (dyn Machine<Error = NetError> + Send)> = vec![&mut places, &mut payload];
            talk.run(&mut Abreast::new(both)).await?;
        }
        let places = plus(places.finish(), &others);
        let masked = parted(&payload.finish(), columns, own.len());

        let permutation = placed(&talk, &mut batch, mover, rows, Arc::new(places)).await?;
        let (cx, ends) = (batch.context(), (false, ResultUse::Shares));
        let moved = permuted::<Sum<W>>(&talk, &cx, mover, &permutation, masked, ends).await?;
        Ok((realign(mover, &moved, rows, kept)?, permutation))
    }))
}

/// The sums of each share of the flags over the shards before this one, and over all.
fn sums(mover: &mut dyn Mover, own: [u32; 2]) -> Result<[[u32; 2]; 2], NetError> {
    let me = mover.shard();
    let [mut before, mut all] = [[0u32; 2]; 2];
    let told = tell_all(mover, &own.map(u32::to_le_bytes).concat())?;
    for (s, told) in told.iter().enumerate() {
        let &[own, next] = told.as_chunks().0 else { return Err(other_length(s, 8, told.len())) };
        let sums = [own, next].map(u32::from_le_bytes);
        for i in 0..2 {
            all[i] = all[i].plus(sums[i]);
            before[i] = if s < me { all[i] } else { before[i] };
        }
    }
    Ok([before, all])
}
