//! Rows that are spread over several shards of each party, for the protocols of
//! [`Permute`](super::Permute), [`Sort`](super::Sort), [`FromPlaces`](super::FromPlaces),
//! [`Compact`](super::Compact) and [`Meet`](super::Meet).
//!
//! ```text
//!             shard 0    shard 1    …        `ranges` defines the shard of each of `rows` rows
//! party 0     ───────────────────────        a Mover joins the shards of a party
//! party 1     ───────────────────────
//! party 2     ───────────────────────        a session joins the three shards of the same number
//! ```
//!
//! Every function makes a machine of one shard. The three parties' shards of the same number run it
//! in their session. Its steps call the [`Mover`], and so wait for the other shards of the party.
//! All shards run the same machines in the same order, and a mover serves one machine at a time.
//! Shards without rows take part.
//!
//! **Security.** Semi-honest, one corrupted party, which controls all of its shards. Messages
//! between parties have the lengths of equal ranges of rows, and masks of their shard's own
//! session. The opened values are those that one machine opens: a function of a uniformly random
//! order. A run in which a shard was lost is not resumed; all shards begin again in new sessions,
//! with a new shuffle.
//! **Cost.** Between parties, the cost is the same as without shards. Within a party, drawing a
//! [`Permutation`] takes six exchanges, and permuting columns takes two movements of the party's
//! part.

mod compact;
mod meet;
mod permutation;
mod permute;
mod route;
mod sort;

#[cfg(test)]
mod tests;

pub use compact::compact;
pub use meet::meet;
pub use permutation::Permutation;
pub use permute::{from_places, permute, permute_bits, places};
pub use sort::sort;

use super::{column::Column, word::Word};
use crate::{
    Mover, ShareError,
    mover::{EXCHANGE, ranges},
    pool,
};
use hushwire_machine::NetError;
use std::ops::Range;

/// The rows of `rows` that this shard has.
fn own_rows(mover: &dyn Mover, rows: usize) -> Range<usize> {
    let bounds = ranges(rows, mover.shards());
    bounds[mover.shard()]..bounds[mover.shard() + 1]
}

/// The error for a message whose length is not what another shard should send.
fn other_length(shard: usize, expected: usize, found: usize) -> NetError {
    let cause = format!("it gave {found} bytes instead of {expected}; run the same release on all shards");
    NetError::Shard { shard, step: EXCHANGE.to_owned(), cause: cause.into() }
}

/// The error of a protocol whose shares or places do not match.
fn unfit(msg: &'static str) -> impl Fn(ShareError) -> NetError {
    move |e| NetError::Malformed { peer: None, msg, what: e.to_string() }
}

/// Appends the bytes of words.
fn push_words<W: Word>(words: &[W], bytes: &mut Vec<u8>) {
    let at = bytes.len();
    bytes.resize(at + words.len() * W::BYTES, 0);
    bytes[at..].chunks_exact_mut(W::BYTES).zip(words).for_each(|(to, word)| word.write(to));
}

/// Gives every shard's bytes to every shard of the party, in order.
///
/// # Errors
/// As [`Mover::exchange`].
pub fn tell_all(mover: &mut dyn Mover, own: &[u8]) -> Result<Vec<Vec<u8>>, NetError> {
    let to = (0..mover.shards()).map(|_| own.to_vec()).collect();
    mover.exchange(to)
}

/// Moves rows between a party's shards when columns of `from` rows become columns of `to` rows: the
/// first rows are kept, and zeros follow if there are more. It takes no message between parties.
///
/// # Errors
/// As [`Mover::exchange`]; [`NetError::Malformed`] unless columns have this shard's number of rows.
pub fn realign<W: Word>(
    mover: &mut dyn Mover,
    columns: &[Column<W>],
    from: usize,
    to: usize,
) -> Result<Vec<Column<W>>, NetError> {
    let (me, shards) = (mover.shard(), mover.shards());
    let [old, new] = [from, to].map(|rows| ranges(rows, shards));
    for column in columns {
        column
            .expect_rows("a column to realign", old[me + 1] - old[me])
            .map_err(unfit("rows of another range"))?;
    }
    // The rows that go from shard `s` to shard `t`.
    let both = |s: usize, t: usize| {
        let first = old[s].max(new[t]);
        first..old[s + 1].min(new[t + 1]).max(first)
    };
    let part = |t: usize| {
        let rows = both(me, t);
        let mut bytes = pool::room(2 * columns.len() * rows.len() * W::BYTES);
        if !rows.is_empty() {
            let at = rows.start - old[me]..rows.end - old[me];
            for share in columns.iter().flat_map(|column| [&column.own, &column.next]) {
                push_words(&share[at.clone()], &mut bytes);
            }
        }
        bytes
    };
    let parts = (0..shards).map(part).collect();
    let heard = mover.exchange(parts)?;
    let here = new[me + 1] - new[me];
    let mut out: Vec<Column<W>> = columns.iter().map(|_| Column::zeros(here)).collect();
    for (s, heard) in heard.into_iter().enumerate() {
        let rows = both(s, me);
        let expected = 2 * columns.len() * rows.len() * W::BYTES;
        if heard.len() != expected {
            return Err(other_length(s, expected, heard.len()));
        }
        if expected > 0 {
            let mut words = heard.chunks_exact(W::BYTES).map(W::read);
            let at = rows.start - new[me]..rows.end - new[me];
            for share in out.iter_mut().flat_map(|column| [&mut column.own, &mut column.next]) {
                share[at.clone()].iter_mut().zip(&mut words).for_each(|(to, word)| *to = word);
            }
        }
        pool::give(heard);
    }
    Ok(out)
}
