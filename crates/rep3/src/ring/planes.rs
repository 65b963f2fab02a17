//! Converts words to bit planes and back, on each share alone, without messages or secret-dependent
//! steps.
//!
//! ```text
//! words → planes   128 rows of 64 bytes: row r has words r, 128 + r, …; its transpose has 16 bytes
//!                  of a plane in a row
//! planes → words   128 rows of 64 bytes: row g k + b has bytes 64 g … of plane b;
//!                  row c of its transpose has words c, 512 + c, …
//! ```
//!
//! A tile is 8 KiB for every word size, and is copied into one place before it is transposed. So
//! the kernel sees neither the stride of the planes nor that of the rows, and powers of two do not
//! fall into one set of the L1 cache. Every line of a plane is written whole.

use super::{
    column::{Bits, Column},
    summand::rows,
    word::Word,
};
use crate::{Rep3, ShareError, pool};
use hushwire_aes::Backend;
use hushwire_block::{Wiped, transpose};
use hushwire_circuit::planes::plane_bytes;

/// LOCAL: the bytes of a row of a tile, one vector of the widest tier.
const ROW: usize = 64;
/// The rows of a tile.
const ROWS: usize = 128;

/// The number of 32-bit words of a tile.
pub(super) const TILE: usize = ROWS * ROW / 4;

/// Tiles of 32-bit words, which the caller fills, and one transposed tile; they hold shares.
pub(super) struct Tiles {
    words: Vec<Wiped<Vec<u8>>>,
    turned: Wiped<Vec<u8>>,
}

impl Tiles {
    /// Memory of `tiles` tiles.
    pub(super) fn new(tiles: usize) -> Tiles {
        let tile = || Wiped::new(vec![0; ROWS * ROW]);
        Tiles { words: (0..tiles).map(|_| tile()).collect(), turned: tile() }
    }

    /// The words of all tiles, in the order in which they are written. In the transposed tile, 16
    /// neighbours are 128 bits apart.
    pub(super) fn words(&mut self) -> impl Iterator<Item = &mut [[u8; 4]; TILE]> {
        self.words.iter_mut().filter_map(|tile| tile.as_chunks_mut().0.first_chunk_mut())
    }

    /// The place of word `i` of `words` in its tile. A tile that is not full has bits in the words'
    /// order, followed by zeros.
    pub(super) fn place(i: usize, words: usize) -> usize {
        if words == TILE { i } else { i % ROWS * (ROW / 4) + i / ROWS }
    }

    /// Transposes the tile of this number: bit b of its `words` words goes to plane b, from byte
    /// `at` on, for planes of `height` bytes.
    pub(super) fn turn(
        &mut self,
        backend: Backend,
        tile: usize,
        planes: &mut [u8],
        height: usize,
        at: usize,
        words: usize,
    ) {
        transpose::bits_with(
            backend.tier(),
            backend.gfni(),
            &self.words[tile],
            ROWS,
            8 * ROW,
            &mut self.turned,
        );
        let turned: &[[u8; 16]] = self.turned.as_chunks().0;
        for (b, plane) in planes.chunks_exact_mut(height).enumerate() {
            let mut rows = turned[b..].iter().step_by(32);
            let (pieces, rest) = plane[at..at + plane_bytes(words)].as_chunks_mut();
            pieces.iter_mut().zip(&mut rows).for_each(|(piece, row)| *piece = *row);
            if let Some(row) = rows.next() {
                rest.copy_from_slice(&row[..rest.len()]);
            }
        }
    }
}

/// A tile before and after it is transposed; it holds shares.
struct Tile([Wiped<Vec<u8>>; 2]);

impl Tile {
    /// Room for rows of `width` bytes.
    fn new(width: usize) -> Tile {
        Tile([0; 2].map(|_: u8| Wiped::new(vec![0; ROWS * width])))
    }

    /// Transposes 128 rows of `width` bytes to `8 width` rows of 16.
    fn turn(&mut self, backend: Backend, width: usize) -> &[[u8; 16]] {
        let [from, to] = &mut self.0;
        let (from, to) = (&from[..ROWS * width], &mut to[..ROWS * width]);
        transpose::bits_with(backend.tier(), backend.gfni(), from, ROWS, 8 * width, to);
        to.as_chunks().0
    }
}

/// Writes bit `i` of every word to plane `i`, for as many planes of ⌈words/8⌉ bytes as there are.
/// Bits past the last word are 0.
///
/// # Panics
/// If `planes` is not whole planes, or has more planes than a word has bits (the caller's bug).
pub(crate) fn to_planes<W: Word>(backend: Backend, words: &[W], planes: &mut [u8]) {
    let height = plane_bytes(words.len());
    if planes.is_empty() {
        return;
    }
    assert!(planes.len().is_multiple_of(height) && planes.len() <= W::BITS * height, "planes of these words");
    let most = ROWS * ROW / W::BYTES;
    let mut tile = Tile::new(words.len().min(most).div_ceil(ROWS) * W::BYTES);
    for (t, words) in words.chunks(most).enumerate() {
        let runs = words.len().div_ceil(ROWS);
        let width = runs * W::BYTES;
        let from = &mut tile.0[0][..ROWS * width];
        if words.len() < runs * ROWS {
            from.fill(0);
        }
        for (q, run) in words.chunks(ROWS).enumerate() {
            for (row, word) in from.chunks_exact_mut(width).zip(run) {
                word.write(&mut row[q * W::BYTES..(q + 1) * W::BYTES]);
            }
        }
        let turned = tile.turn(backend, width);
        for (b, plane) in planes.chunks_exact_mut(height).enumerate() {
            let at = t * most / 8;
            let (pieces, rest) = plane[at..height.min(at + 16 * runs)].as_chunks_mut();
            for (q, piece) in pieces.iter_mut().enumerate() {
                *piece = turned[q * W::BITS + b];
            }
            if !rest.is_empty() {
                rest.copy_from_slice(&turned[pieces.len() * W::BITS + b][..rest.len()]);
            }
        }
    }
}

/// Writes plane `i` to bit `i` of every word; the bits of missing planes are 0.
///
/// # Panics
/// As [`to_planes`].
pub(crate) fn to_words<W: Word>(backend: Backend, planes: &[u8], words: &mut [W]) {
    let height = plane_bytes(words.len());
    if words.is_empty() {
        return;
    }
    assert!(planes.len().is_multiple_of(height) && planes.len() <= W::BITS * height, "planes of these words");
    let groups = ROWS / W::BITS;
    let most = 8 * ROW * groups;
    let mut tile = Tile::new(plane_bytes(words.len().min(most)).div_ceil(groups));
    let narrow = planes.len() < W::BITS * height;
    for (t, words) in words.chunks_mut(most).enumerate() {
        let bytes = plane_bytes(words.len());
        let width = bytes.div_ceil(groups);
        let from = &mut tile.0[0][..ROWS * width];
        if narrow || bytes < groups * width {
            from.fill(0);
        }
        for (b, plane) in planes.chunks_exact(height).enumerate() {
            let plane = &plane[t * most / 8..][..bytes];
            if width == ROW {
                let (pieces, rows) = (plane.as_chunks::<ROW>().0, from.as_chunks_mut::<ROW>().0);
                for (g, piece) in pieces.iter().enumerate() {
                    rows[g * W::BITS + b] = *piece;
                }
            }
            let done = if width == ROW { bytes / ROW } else { 0 };
            for (g, piece) in plane.chunks(width).enumerate().skip(done) {
                from[(g * W::BITS + b) * width..][..piece.len()].copy_from_slice(piece);
            }
        }
        let turned = tile.turn(backend, width);
        for (g, words) in words.chunks_mut(8 * width).enumerate() {
            for (word, row) in words.iter_mut().zip(turned) {
                *word = W::read(&row[g * W::BYTES..(g + 1) * W::BYTES]);
            }
        }
    }
}

/// The planes of words, in a new vector.
#[cfg(test)]
pub(crate) fn planes_of<W: Word>(backend: Backend, words: &[W]) -> Vec<u8> {
    let mut planes = pool::zeros(W::BITS * plane_bytes(words.len()));
    to_planes(backend, words, &mut planes);
    planes
}

impl Bits {
    /// Strings of [`Word::BITS`] bits that are shared by ⊕, one word per row. Numbers, whose shares
    /// add up, become bits by [`OnNumbers::to_bits`](super::OnNumbers::to_bits) instead.
    ///
    /// # Errors
    /// [`ShareError::Operand`] unless both shares have the same number of rows.
    pub fn of_words<W: Word>(backend: Backend, words: &Column<W>) -> Result<Bits, ShareError> {
        Self::of_lower(backend, words, W::BITS)
    }

    /// Strings of the lower `width` bits.
    ///
    /// # Errors
    /// As [`Bits::of_words`].
    ///
    /// # Panics
    /// If words have fewer bits (the caller's bug).
    pub fn of_lower<W: Word>(backend: Backend, words: &Column<W>, width: usize) -> Result<Bits, ShareError> {
        let rows = rows(&[words])?;
        let of = |share: &[W]| {
            let mut planes = pool::zeros(width * plane_bytes(rows));
            to_planes(backend, share, &mut planes);
            planes
        };
        Bits::new(width, rows, Rep3 { own: of(&words.own), next: of(&words.next) })
    }

    /// The words, shared by ⊕: the inverse of [`Bits::of_words`]. Bits that a row lacks are 0.
    ///
    /// # Errors
    /// [`ShareError::Operand`] if a row has more bits than a word.
    pub fn to_words<W: Word>(&self, backend: Backend) -> Result<Column<W>, ShareError> {
        fits::<W>(self)?;
        let of = |planes: &[u8]| {
            let mut words = pool::zeros(self.rows());
            to_words(backend, planes, &mut words);
            words
        };
        let [own, next] = self.shares().pair();
        Ok(Rep3 { own: of(own), next: of(next) })
    }
}

/// Checks that a row has no more bits than a word.
pub(crate) fn fits<W: Word>(bits: &Bits) -> Result<(), ShareError> {
    let found = (bits.width(), bits.rows());
    if bits.width() > W::BITS {
        return Err(ShareError::Operand { what: "a string", expected: (W::BITS, bits.rows()), found });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use hushwire_prg::{Prg, Seed};

    /// The planes, computed bit by bit.
    fn oracle<W: Word>(words: &[W], width: usize) -> Vec<u8> {
        let height = plane_bytes(words.len());
        let mut planes = vec![0; width * height];
        for (j, word) in words.iter().enumerate() {
            for i in 0..width {
                planes[i * height + j / 8] |= ((word.number() >> i & 1) as u8) << (j % 8);
            }
        }
        planes
    }

    fn both_ways<W: Word>() {
        let mut prg = Prg::new(Backend::best(), &Seed::random(), "test");
        for backend in Backend::all().into_iter().flat_map(|b| [b, b.without_gfni()]) {
            let sizes =
                [0, 1, 7, 8, 9, 63, 64, 65, 127, 128, 129, 511, 513, 1000, 1024, 1025, 4099, 8193, 20_000];
            for rows in sizes {
                let words: Vec<W> = (0..rows).map(|_| W::of(prg.next_u64())).collect();
                for width in [W::BITS, W::BITS - 1, 5, 1, 0] {
                    let mut planes = vec![0xaa; width * plane_bytes(rows)];
                    to_planes(backend, &words, &mut planes);
                    assert_eq!(planes, oracle(&words, width), "{rows} rows, {width} planes");
                    // Bits past the last row are ignored.
                    if rows % 8 > 0 {
                        let height = plane_bytes(rows);
                        planes.chunks_mut(height).for_each(|plane| plane[height - 1] |= 0xff << (rows % 8));
                    }
                    let mut back = vec![W::of(7); rows];
                    to_words(backend, &planes, &mut back);
                    let mask = if width == 64 { u64::MAX } else { (1 << width) - 1 };
                    let low: Vec<W> = words.iter().map(|w| W::of(w.number() & mask)).collect();
                    assert_eq!(back, low, "{rows} rows, {width} planes");
                }
            }
        }
    }

    #[test]
    fn planes_have_the_bits_of_words_on_every_tier() {
        both_ways::<u8>();
        both_ways::<u16>();
        both_ways::<u32>();
        both_ways::<u64>();
    }

    #[test]
    fn bits_of_words_are_words_again_and_lengths_are_checked() {
        let words = Rep3 { own: vec![1u16, 0x8000, 77], next: vec![5, 6, 7] };
        let bits = Bits::of_words(Backend::best(), &words).unwrap();
        assert_eq!((bits.width(), bits.rows()), (16, 3));
        let back = bits.to_words::<u32>(Backend::best()).unwrap();
        assert_eq!((&back.own, &back.next), (&vec![1, 0x8000, 77], &vec![5, 6, 7]));
        let narrow = bits.to_words::<u8>(Backend::best()).err();
        assert_eq!(narrow, Some(ShareError::Operand { what: "a string", expected: (8, 3), found: (16, 3) }));
        let uneven = Rep3 { own: vec![1u16], next: vec![] };
        assert!(Bits::of_words(Backend::best(), &uneven).is_err());
    }
}
