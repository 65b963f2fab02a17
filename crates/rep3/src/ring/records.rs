//! Shares of rows to compare, with a row's words next to each other, so that reading a row costs
//! one cache miss.

use super::{
    column::Column,
    planes::{TILE, Tiles},
    ranking::RankedPair,
};
use crate::pool::{self, Scratch};
use hushwire_aes::Backend;
use hushwire_circuit::planes::plane_bytes;

/// LOCAL: the most columns whose words lie together: half a cache line.
pub(super) const MOST: usize = 4;

/// Both shares of a few columns, row by row.
pub(super) struct Records {
    columns: usize,
    words: Scratch<[u32; 2]>,
}

/// Makes a call with the number of columns as a constant.
macro_rules! of_columns {
    ($self:ident.$call:ident($($argument:expr),*)) => {
        match $self.columns {
            1 => $self.$call::<1>($($argument),*),
            2 => $self.$call::<2>($($argument),*),
            3 => $self.$call::<3>($($argument),*),
            _ => $self.$call::<MOST>($($argument),*),
        }
    };
}

impl Records {
    /// Records of at most [`MOST`] columns, all with the same number of rows.
    pub(super) fn of(columns: &[Column<u32>]) -> Records {
        let rows = columns.first().map_or(0, Column::rows);
        let mut words = Scratch::room(rows * columns.len());
        for row in 0..rows {
            words.extend(columns.iter().map(|column| [column.own[row], column.next[row]]));
        }
        Records { columns: columns.len(), words }
    }

    /// Tiles for the words of one operand of a tile of pairs.
    pub(super) fn tiles() -> Tiles {
        Tiles::new(2 * MOST)
    }

    /// Reorders rows from `start` on: `from` has the old position of each, counted from `start`.
    pub(super) fn reorder(&mut self, start: usize, from: &[u32], spare: &mut Scratch<[u32; 2]>) {
        of_columns!(self.reordered(start, from, spare));
    }

    fn reordered<const N: usize>(&mut self, start: usize, from: &[u32], spare: &mut Scratch<[u32; 2]>) {
        let rows = &mut self.words[start * N..(start + from.len()) * N];
        let room = rows.len().max(spare.len());
        pool::set_len(spare, room);
        spare[..rows.len()].copy_from_slice(rows);
        let spare = spare.as_chunks::<N>().0;
        for (row, from) in rows.as_chunks_mut::<N>().0.iter_mut().zip(from) {
            *row = spare[*from as usize];
        }
    }

    /// The planes of both shares of one operand of every pair, with bits at the positions of
    /// [`bit_of`](super::ranking::bit_of).
    pub(super) fn planes(
        &self,
        backend: Backend,
        pairs: &[RankedPair],
        side: usize,
        planes: [&mut [u8]; 2],
        tiles: &mut Tiles,
    ) {
        let height = plane_bytes(pairs.len());
        let [mut own, mut next] = planes.map(|share| share.chunks_mut(32 * height).collect::<Vec<_>>());
        for (t, pairs) in pairs.chunks(TILE).enumerate() {
            of_columns!(self.fill(pairs, side, tiles));
            for (c, planes) in own.iter_mut().zip(&mut next).enumerate() {
                for (share, planes) in [planes.0, planes.1].into_iter().enumerate() {
                    tiles.turn(backend, 2 * c + share, planes, height, t * TILE / 8, pairs.len());
                }
            }
        }
    }

    fn fill<const N: usize>(&self, pairs: &[RankedPair], side: usize, tiles: &mut Tiles) {
        let records = self.words.as_chunks::<N>().0;
        let mut words = tiles.words();
        let mut words: [[&mut [[u8; 4]; TILE]; 2]; N] =
            std::array::from_fn(|_| std::array::from_fn(|_| words.next().expect("two tiles a column")));
        if pairs.len() < TILE {
            // The old contents belong to other pairs.
            words.iter_mut().flatten().for_each(|words| words.fill([0; 4]));
        }
        let mut put = |at: usize, pair: &RankedPair| {
            for (words, word) in words.iter_mut().zip(&records[pair[side] as usize]) {
                words[0][at] = word[0].to_le_bytes();
                words[1][at] = word[1].to_le_bytes();
            }
        };
        // The places of a whole tile need no bounds check.
        if let Ok(pairs) = <&[RankedPair; TILE]>::try_from(pairs) {
            (0..TILE).for_each(|i| put(i, &pairs[i]));
            return;
        }
        pairs.iter().enumerate().for_each(|(i, pair)| put(Tiles::place(i, pairs.len()), pair));
    }
}
