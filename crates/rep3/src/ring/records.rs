//! Shares of rows that are compared, a row's words together, so that taking a row is one miss of the cache.

use super::{column::Column, ranking::Pair};
use crate::pool::Scratch;

/// LOCAL: columns whose words lie together: half a cache line.
pub(super) const MOST: usize = 4;

/// Of every column, both shares of one side of all pairs.
pub(super) type Gathered = [[Scratch<u32>; 2]; MOST];

/// Both shares of a few columns, row by row.
pub(super) struct Records {
    columns: usize,
    words: Scratch<[u32; 2]>,
}

impl Records {
    /// Of [`MOST`] columns at most, all of as many rows.
    pub(super) fn of(columns: &[Column<u32>]) -> Records {
        let rows = columns.first().map_or(0, Column::rows);
        let mut words = Scratch::room(rows * columns.len());
        for row in 0..rows {
            words.extend(columns.iter().map(|column| [column.own[row], column.next[row]]));
        }
        Records { columns: columns.len(), words }
    }

    /// The words of one side of every pair.
    pub(super) fn gather(&self, pairs: &[Pair], side: usize, out: &mut Gathered) {
        for words in out.iter_mut().take(self.columns).flatten() {
            words.set_len(pairs.len());
        }
        match self.columns {
            1 => self.gather_of::<1>(pairs, side, out),
            2 => self.gather_of::<2>(pairs, side, out),
            3 => self.gather_of::<3>(pairs, side, out),
            _ => self.gather_of::<MOST>(pairs, side, out),
        }
    }

    fn gather_of<const N: usize>(&self, pairs: &[Pair], side: usize, out: &mut Gathered) {
        let records = self.words.as_chunks::<N>().0;
        let mut columns = out.iter_mut();
        let mut out: [[&mut [u32]; 2]; N] = std::array::from_fn(|_| {
            let [own, next] = columns.next().expect("as many buffers as columns");
            [&mut own[..pairs.len()], &mut next[..pairs.len()]]
        });
        for (i, pair) in pairs.iter().enumerate() {
            for (out, word) in out.iter_mut().zip(&records[pair[side] as usize]) {
                [out[0][i], out[1][i]] = *word;
            }
        }
    }
}
