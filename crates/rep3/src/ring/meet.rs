//! An order that brings rows of equal keys together, by tags of the keys. It is faster than a sort,
//! and reveals more.
//!
//! **Functionality.** An order of rows with keys in which rows of one key come one after the other,
//! those of the first side before those of the second. The order of the keys, and of the rows of
//! one side and key, is random.
//! **Source.** The oblivious database join of Sharemind (S. Laur, R. Talviste, J. Willemson, "From
//! Oblivious AES to Efficient and Secure Database Join in the Multiparty Setting", ACNS 2013). Rows
//! are shuffled, and their keys are encrypted by AES-128 under a key that exists only as shares.
//! The tags and the side of each row are then opened. Keys of more than 128 bits are chained as in
//! CBC-MAC; all have the same length.
//!
//! ```text
//! keys, sides ─► shuffle ─► AES under a random shared key
//!             ─► open tags and sides to parties 1 and 2 ─► order by (tag, side)
//! ```
//!
//! **Security.** Semi-honest, one party. Unlike a sort, it reveals something: for every key, under
//! a pseudonym, the number of rows of either side that have it. A simulator that is given these
//! numbers draws everything else. One shuffle and one AES key serve one run. Only parties 1 and 2
//! learn the counts: they move rows by the order, and party 0 does not need it. Different keys of
//! up to 128 bits have different tags. Among n longer keys, two have the same tag with a
//! probability below n² / 2^128.
//! **Rounds and bytes.** [`meet_cost`]: the shuffle, a key expansion, ten rounds of S-boxes for
//! every piece of rows and 128 bits, one opening. The number of rows of a piece is a parameter
//! ([`Meet::pieces_of`]): small pieces stay in the caches, and large ones take fewer rounds.

use super::{
    column::{Bits, Column},
    group::Xor,
    permutation::{Fresh, Permutation},
    permute::{Permute, permute_cost},
    planes::to_words,
};
use crate::{
    AesBlocks, Batch, Context, ExpandedKeys, KeyExpansion, KeySize, Rep3, Reveal, Role, Sbox, ShareError,
    Shares, Workspace, cost as aes_cost, expansion_cost,
    pool::{self, Scratch},
};
use hushwire_block::Wiped;
use hushwire_circuit::planes::plane_bytes;
use hushwire_machine::{
    Cost, NetError,
    drive::{Line, Talk},
    passed_on,
};
use std::{ops::Range, sync::Arc};

/// AGREEMENT: the most rows that are encrypted at a time, by default.
const ROWS: usize = 1 << 14;
/// AGREEMENT: the S-box with the fewest bits among those with few rounds.
const SBOX: Sbox = Sbox::Tower;
/// The size of the key of a meeting.
pub(super) const KEY_SIZE: KeySize = KeySize::Aes128;
/// 32-bit words of a block.
const WORDS: usize = 4;
/// The parties that learn tags and sides.
const LEARNS: [bool; 3] = [false, true, true];

/// One party's endpoint of a meeting. Its batch serves nothing else.
pub struct Meet(Line<'static, Met, NetError>);

/// The result of a meeting.
struct Met {
    order: Arc<Permutation>,
    /// The tags and sides that this party learns.
    #[cfg(test)]
    opened: Vec<u8>,
}

impl Meet {
    /// A meeting of `rows` rows by all of `keys`; the first `first` rows are the first side. At
    /// most 2^14 rows are encrypted at a time.
    ///
    /// # Errors
    /// [`ShareError::Length`] unless every key has `rows` rows, and there are fewer than 2^31.
    pub fn new(batch: Batch, rows: usize, keys: &[Arc<Bits>], first: usize) -> Result<Meet, ShareError> {
        Self::pieces_of(batch, rows, keys, first, ROWS)
    }

    /// As [`Meet::new`], with `piece` rows encrypted at a time, at least one: more if a round takes
    /// longer. AGREEMENT: parties that set different numbers fail at the first piece, whose
    /// messages differ in length.
    ///
    /// # Errors
    /// As [`Meet::new`].
    pub fn pieces_of(
        mut batch: Batch,
        rows: usize,
        keys: &[Arc<Bits>],
        first: usize,
        piece: usize,
    ) -> Result<Meet, ShareError> {
        fits(rows)?;
        let fresh = Fresh::draw(batch.context(), rows)?;
        let (role, cx) = (batch.role(), batch.context());
        let width = keys.iter().map(|key| key.width()).sum();
        let columns = key_columns(&cx, 0..rows, rows, keys, first)?;
        let shuffle = fresh.shuffle(cx, columns)?;
        let piece = piece.max(1);
        let state = Tagging::new(batch, rows, width);
        let line = Line::over(2, move |talk| state.run(talk, piece, fresh, shuffle));
        Ok(Meet(line.costing(meet_cost(role, rows, width, piece))))
    }

    /// The order, after the run.
    ///
    /// # Panics
    /// If it has not run (the caller's bug).
    #[must_use]
    pub fn finish(self) -> Arc<Permutation> {
        self.0.finish().order
    }
}

passed_on!([] Meet, NetError, self => self.0);

/// Whether a meeting may have this many rows.
fn fits(rows: usize) -> Result<(), ShareError> {
    if rows >= 1 << 31 {
        let what = "a meeting, which has 2^31 - 1 rows at most,";
        return Err(ShareError::Length { what, expected: (1 << 31) - 1, found: rows });
    }
    Ok(())
}

/// The words of the keys of the rows with these numbers, out of `all` rows, followed by their
/// sides.
///
/// # Errors
/// [`ShareError::Length`] unless every key has the same number of rows, and there are fewer than
/// 2^31.
pub(super) fn key_columns(
    cx: &Context,
    numbers: Range<usize>,
    all: usize,
    keys: &[Arc<Bits>],
    first: usize,
) -> Result<Vec<Arc<Column<u32>>>, ShareError> {
    fits(all)?;
    let rows = numbers.len();
    let height = plane_bytes(rows);
    let mut planes: Vec<[&[u8]; 2]> = vec![];
    for key in keys {
        if key.rows() != rows {
            let what = "a key of the meeting, in rows,";
            return Err(ShareError::Length { what, expected: rows, found: key.rows() });
        }
        let [own, next] = key.shares().pair();
        let plane = |i: usize| [&own[i * height..(i + 1) * height], &next[i * height..(i + 1) * height]];
        planes.extend((0..key.width()).map(plane));
    }
    let word = |planes: &[[&[u8]; 2]], share: usize| {
        let mut joined = Scratch::<u8>::room(planes.len() * height);
        planes.iter().for_each(|plane| joined.extend_from_slice(plane[share]));
        let mut words = pool::zeros::<u32>(rows);
        to_words(cx.backend, &joined, &mut words);
        words
    };
    let column = |planes: &[[&[u8]; 2]]| Arc::new(Rep3 { own: word(planes, 0), next: word(planes, 1) });
    let mut columns: Vec<Arc<Column<u32>>> = planes.chunks(32).map(column).collect();
    let sides: Vec<u32> = numbers.map(|row| u32::from(row >= first)).collect();
    columns.push(Arc::new(Column::known(cx.role, &sides)));
    Ok(columns)
}

/// The tags of shuffled rows, in progress.
pub(super) struct Tagging {
    batch: Batch,
    rows: usize,
    width: usize,
    /// The words of the keys in shuffled order, followed by the sides.
    columns: Vec<Column<u32>>,
    ws: Workspace,
    /// The values to open: the own shares of tags and sides, if the right neighbour learns them,
    /// and the sums of both shares, if this party does.
    said: Scratch<u8>,
    sums: Wiped<Vec<u8>>,
}

impl Tagging {
    /// Prepares the tags of `rows` rows, with keys of `width` bits in all.
    pub(super) fn new(batch: Batch, rows: usize, width: usize) -> Tagging {
        let role = batch.role();
        Tagging {
            batch,
            rows,
            width,
            columns: vec![],
            ws: Workspace::default(),
            said: Scratch::room(if LEARNS[role.right().index()] { 20 * rows } else { 0 }),
            sums: Wiped::new(pool::room(if LEARNS[role.index()] { 20 * rows } else { 0 })),
        }
    }

    async fn run(
        mut self,
        talk: Talk,
        piece: usize,
        fresh: Fresh,
        mut shuffle: Permute<Xor<u32>>,
    ) -> Result<Met, NetError> {
        let mut opened = vec![];
        if self.rows > 1 {
            talk.run(&mut shuffle).await?;
            let keys = Arc::new(self.expand(&talk).await?);
            opened = self.tags(&talk, shuffle.finish(), keys, piece).await?;
        }
        let order = self.order(&opened);
        #[cfg(not(test))]
        pool::give(opened);
        Ok(Met {
            order: fresh.then(&order),
            #[cfg(test)]
            opened,
        })
    }

    /// The tags of the keys in these columns, followed by the sides, at the parties that learn
    /// them; `piece` rows are encrypted at a time.
    pub(super) async fn tags(
        &mut self,
        talk: &Talk,
        columns: Vec<Column<u32>>,
        expanded: Arc<ExpandedKeys>,
        piece: usize,
    ) -> Result<Vec<u8>, NetError> {
        if self.rows == 0 {
            return Ok(vec![]);
        }
        self.columns = columns;
        let (piece, mut done) = (piece.max(1), 0);
        while done < self.rows {
            let rows = done..self.rows.min(done.saturating_add(piece));
            done = rows.end;
            let mut chained = none();
            for block in 0..blocks(self.width) {
                chained = self.encrypt(talk, &expanded, rows.clone(), block, chained).await?;
            }
            self.keep([&chained.own, &chained.next]);
        }
        self.open(talk).await
    }

    /// Draws a random AES key and expands it.
    pub(super) async fn expand(&mut self, talk: &Talk) -> Result<ExpandedKeys, NetError> {
        let (key, cx) = (self.batch.random(16), self.batch.context());
        let machine = KeyExpansion::new(KEY_SIZE, SBOX, cx, &key, std::mem::take(&mut self.ws));
        let mut machine = Box::new(machine.expect("a key of sixteen bytes"));
        talk.run_on(0, &mut *machine).await?;
        let (keys, ws) = machine.into_keys();
        self.ws = ws;
        Ok(keys)
    }

    /// Encrypts a block of these rows' keys, chained to the blocks before.
    async fn encrypt(
        &mut self,
        talk: &Talk,
        expanded: &Arc<ExpandedKeys>,
        rows: Range<usize>,
        block: usize,
        chained: Shares,
    ) -> Result<Shares, NetError> {
        let keys = self.columns.len() - 1;
        let words = &self.columns[..keys][(block * WORDS).min(keys)..(block * WORDS + WORDS).min(keys)];
        let input = |share: fn(&Column<u32>) -> &[u32], chained: &[u8]| {
            let mut bytes = if block == 0 { pool::zeros(16 * rows.len()) } else { pool::copy(chained) };
            for (at, words) in words.iter().enumerate() {
                for (block, word) in bytes.as_chunks_mut::<16>().0.iter_mut().zip(&share(words)[rows.clone()])
                {
                    let part = &mut block.as_chunks_mut::<4>().0[at];
                    *part = (u32::from_le_bytes(*part) ^ word).to_le_bytes();
                }
            }
            bytes
        };
        let input = Rep3 {
            own: input(|column| &column.own, &chained.own),
            next: input(|column| &column.next, &chained.next),
        };
        let (cx, ws) = (self.batch.context(), std::mem::take(&mut self.ws));
        let mut machine = Box::new(AesBlocks::new(SBOX, cx, expanded.clone(), &input, ws));
        talk.run_on(0, &mut *machine).await?;
        let chained = machine.output();
        self.ws = machine.into_workspace();
        Ok(chained)
    }

    /// Keeps shares to be opened: the own share for a neighbour that learns them, and the sum of
    /// both if this party does.
    fn keep(&mut self, [own, next]: [&[u8]; 2]) {
        let role = self.batch.role();
        if LEARNS[role.right().index()] {
            self.said.extend_from_slice(own);
        }
        if LEARNS[role.index()] {
            self.sums.extend(own.iter().zip(next).map(|(own, next)| own ^ next));
        }
    }

    /// Opens tags and sides to the two parties of the last stage, which move rows by them.
    async fn open(&mut self, talk: &Talk) -> Result<Vec<u8>, NetError> {
        let sides = self.columns.pop().expect("the sides are the last");
        let bytes = |share: &[u32]| {
            let mut bytes = Scratch::<u8>::room(4 * share.len());
            bytes.extend(share.iter().flat_map(|word| word.to_le_bytes()));
            bytes
        };
        self.keep([&bytes(&sides.own), &bytes(&sides.next)]);
        self.columns.clear();
        let (said, sums) = (std::mem::take(&mut self.said), std::mem::take(&mut self.sums));
        let mut reveal = Reveal::of_sums(LEARNS, self.batch.role(), said, sums);
        talk.run_on(1, &mut reveal).await?;
        Ok(reveal.finish().into_inner())
    }

    /// The order by tag, then side, at the parties that learn it.
    fn order(&self, opened: &[u8]) -> Vec<u32> {
        if opened.is_empty() {
            return (0..self.rows as u32).collect();
        }
        let (tags, sides) = opened.split_at(16 * self.rows);
        let sides = sides.as_chunks::<4>().0.iter().map(|[side, ..]| side & 1 == 1);
        in_order(tags.as_chunks().0, sides)
    }
}

fn none() -> Shares {
    Rep3 { own: vec![], next: vec![] }
}

/// Sorts rows by tag, then side, then number. Tags are pseudorandom, so their upper bits split them
/// evenly into parts that fit into the first-level cache. Within a part, the upper half of a tag
/// separates nearly all tags that differ.
pub(super) fn in_order(tags: &[[u8; 16]], sides: impl Iterator<Item = bool>) -> Vec<u32> {
    let bits = (tags.len() / 64).max(1).ilog2().min(16);
    let tag = |row: u32| u128::from_le_bytes(tags[row as usize]);
    let upper = |tag: &[u8; 16]| (u128::from_le_bytes(*tag) >> 64) as u64;
    let part = |upper: u64| if bits == 0 { 0 } else { (upper >> (64 - bits)) as usize };
    let mut ends = vec![0usize; (1 << bits) + 1];
    tags.iter().for_each(|tag| ends[part(upper(tag)) + 1] += 1);
    (1..ends.len()).for_each(|i| ends[i] += ends[i - 1]);
    let (starts, mut all) = (ends.clone(), pool::zeros::<[u64; 2]>(tags.len()));
    for ((tag, second), row) in tags.iter().zip(sides).zip(0u64..) {
        let end = &mut ends[part(upper(tag))];
        all[*end] = [upper(tag), u64::from(second) << 32 | row];
        *end += 1;
    }
    for part in starts.windows(2) {
        let part = &mut all[part[0]..part[1]];
        part.sort_unstable();
        // Several tags may have the same upper half.
        for same in part.chunk_by_mut(|a, b| a[0] == b[0]) {
            let first = tag(same[0][1] as u32);
            if same[1..].iter().any(|[_, row]| tag(*row as u32) != first) {
                same.sort_unstable_by_key(|[_, row]| (tag(*row as u32), *row));
            }
        }
    }
    let order = all.iter().map(|[_, row]| *row as u32).collect();
    pool::give(all);
    order
}

/// The number of blocks of a key of `width` bits; an empty key also has one.
fn blocks(width: usize) -> usize {
    width.div_ceil(128).max(1)
}

/// The cost for a party of a meeting by keys of `keys` bits in all; `piece` rows are encrypted at a
/// time.
#[must_use]
pub fn meet_cost(role: Role, rows: usize, keys: usize, piece: usize) -> Cost {
    if rows < 2 {
        return Cost::default();
    }
    let shuffle = permute_cost(role, false, 4 * rows * (keys.div_ceil(32) + 1));
    let expansion = expansion_cost(KEY_SIZE, SBOX, 1);
    // A party sends the shares that its right neighbour lacks.
    let opened = if LEARNS[role.right().index()] { 20 * rows as u64 } else { 0 };
    let mut cost = Cost {
        rounds: shuffle.rounds + expansion.rounds + 1,
        bytes_sent: shuffle.bytes_sent + expansion.bytes_sent + opened,
    };
    let piece = piece.clamp(1, rows);
    for (pieces, rows) in [(rows / piece, piece), (usize::from(!rows.is_multiple_of(piece)), rows % piece)] {
        let one = aes_cost(KEY_SIZE, SBOX, rows);
        let count = (pieces * blocks(keys)) as u64;
        cost.rounds += one.rounds * count;
        cost.bytes_sent += one.bytes_sent * count;
    }
    cost
}

#[cfg(test)]
#[path = "meet_tests.rs"]
mod tests;
