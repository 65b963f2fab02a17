//! An order that brings rows of equal keys together, by tags of the keys: faster than a sort, and telling more.
//!
//! **Functionality.** Of rows with keys an order in which rows of one key come one after the other, those of the first side before those
//! of the second. Which key comes when, and which row of one side and key, is random.
//! **Way.** The oblivious database join of Sharemind (S. Laur, R. Talviste, J. Willemson, "From Oblivious AES to Efficient and Secure
//! Database Join in the Multiparty Setting", ACNS 2013): rows are shuffled, their keys encrypted by AES-128 under a key that exists only as
//! shares, and the tags opened, beside the side of each row. Keys of more than 128 bits are chained as CBC-MAC has it, all of one length.
//!
//! ```text
//! keys, sides ─► shuffle ─► AES under a random shared key ─► open tags and sides to parties 1 and 2 ─► order by (tag, side)
//! ```
//!
//! **Security.** Semi-honest, one party. Unlike a sort it shows something: of every key, under a name that says nothing, how many rows of
//! either side have it; a simulator that is told these numbers draws everything else. One shuffle and one AES key serve one run.
//! Parties 1 and 2 alone learn it: they move rows by the order, and party 0 has no use for it.
//! Different keys of up to 128 bits have different tags; of longer ones two of n have the same with a chance below n² / 2^128.
//! **Rounds and bytes.** [`meet_cost`]: the shuffle, an expansion, ten rounds of S-boxes for every piece of rows and 128 bits, one opening. How
//! many rows are a piece is a parameter ([`Meet::pieces_of`]): few of them stay in the caches, and many take fewer rounds.

use super::{
    column::{Bits, Column},
    group::Xor,
    permutation::{Fresh, Permutation},
    permute::{Permute, permute_cost},
    planes::to_words,
    sort::{nothing, one},
};
use crate::{
    Addition, AesBlocks, Batch, ExpandedKeys, KeyExpansion, KeySize, Output, Rep3, Reveal, Role, Sbox,
    ShareError, Shares, Workspace, cost as aes_cost, expansion_cost, pool,
};
use hushwire_circuit::planes::plane_bytes;
use hushwire_wire::{
    Cost, NetError,
    drive::{Exchanged, Machine, Misstep, Round},
};
use std::sync::Arc;

/// AGREEMENT: rows that are encrypted at a time, at most, unless more are said.
const ROWS: usize = 1 << 14;
/// AGREEMENT: the S-box of fewest bits among those of few rounds.
const SBOX: Sbox = Sbox::Tower;
/// 32-bit words of a block.
const WORDS: usize = 4;
/// The parties that learn tags and sides.
const LEARNS: [bool; 3] = [false, true, true];

enum Step {
    Shuffle(Permute<Xor<u32>>),
    Expand(Box<KeyExpansion>),
    Encrypt(Box<AesBlocks>),
    Open(Reveal),
    Done,
    /// SECURITY: there is no way back from an error.
    Lost,
}

/// One party's half of a meeting. Its batch serves it alone.
pub struct Meet {
    batch: Batch,
    fresh: Fresh,
    rows: usize,
    piece: usize,
    width: usize,
    step: Step,
    /// Words of the keys in shuffled order, and the sides behind them.
    columns: Vec<Column<u32>>,
    keys: Option<Arc<ExpandedKeys>>,
    ws: Workspace,
    /// Tags of rows that are done; of the rows under way what was chained so far.
    tags: Shares,
    chained: Shares,
    /// The block of the key under way.
    block: usize,
    order: Vec<u32>,
}

impl Meet {
    /// Of `rows` rows by all of `keys`; the first `first` rows are the first side.
    ///
    /// # Errors
    /// [`ShareError::Length`] unless every key has as many rows, and there are fewer than 2^31.
    pub fn new(mut batch: Batch, rows: usize, keys: &[Arc<Bits>], first: usize) -> Result<Meet, ShareError> {
        if rows >= 1 << 31 {
            let what = "a meeting, which has 2^31 - 1 rows at most,";
            return Err(ShareError::Length { what, expected: (1 << 31) - 1, found: rows });
        }
        let fresh = Fresh::draw(batch.context(), rows)?;
        let cx = batch.context();
        let width = keys.iter().map(|key| key.width()).sum();
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
            let mut joined = pool::Scratch::<u8>::room(planes.len() * height);
            planes.iter().for_each(|plane| joined.extend_from_slice(plane[share]));
            let mut words = pool::zeros::<u32>(rows);
            to_words(cx.backend, &joined, &mut words);
            words
        };
        let column = |planes: &[[&[u8]; 2]]| Arc::new(Rep3 { own: word(planes, 0), next: word(planes, 1) });
        let mut columns: Vec<Arc<Column<u32>>> = planes.chunks(32).map(column).collect();
        let sides: Vec<u32> = (0..rows).map(|row| u32::from(row >= first)).collect();
        columns.push(Arc::new(Column::known(cx.role, &sides)));
        let step = if rows > 1 { Step::Shuffle(fresh.shuffle(cx, columns)?) } else { Step::Done };
        Ok(Meet {
            batch,
            fresh,
            rows,
            piece: ROWS,
            width,
            step,
            columns: vec![],
            keys: None,
            ws: Workspace::default(),
            tags: Rep3 { own: Vec::with_capacity(20 * rows), next: Vec::with_capacity(20 * rows) },
            chained: none(),
            block: 0,
            order: (0..rows as u32).collect(),
        })
    }

    /// Encrypts so many rows at a time, at least one: more where a round takes longer, 2^14 unless said. AGREEMENT: parties that say different
    /// numbers fail at the first piece, whose messages differ in length.
    #[must_use]
    pub fn pieces_of(mut self, rows: usize) -> Meet {
        self.piece = rows.max(1);
        self
    }

    /// The order, after the run.
    ///
    /// # Panics
    /// If it has not run (the caller's bug).
    #[must_use]
    pub fn finish(self) -> Arc<Permutation> {
        assert!(matches!(self.step, Step::Done), "finish comes after the last round");
        self.fresh.then(&self.order)
    }

    /// Goes on to a step that has a round, or to the end.
    fn settle(&mut self) {
        while self.round(0).is_none() {
            match std::mem::replace(&mut self.step, Step::Done) {
                Step::Shuffle(shuffle) => {
                    self.columns = shuffle.finish();
                    let (key, cx) = (self.batch.random(16), self.batch.context());
                    let ws = std::mem::take(&mut self.ws);
                    let machine = KeyExpansion::new(KeySize::Aes128, SBOX, cx, &key, ws);
                    self.step = Step::Expand(Box::new(machine.expect("a key of sixteen bytes")));
                }
                Step::Expand(machine) => {
                    let (keys, ws) = machine.into_keys();
                    (self.keys, self.ws) = (Some(Arc::new(keys)), ws);
                    self.encrypt();
                }
                Step::Encrypt(machine) => {
                    self.chained = machine.output();
                    self.ws = machine.into_workspace();
                    self.block += 1;
                    if self.block == blocks(self.width) {
                        self.tags.own.extend_from_slice(&self.chained.own);
                        self.tags.next.extend_from_slice(&self.chained.next);
                        self.block = 0;
                    }
                    if self.tags.own.len() < 16 * self.rows { self.encrypt() } else { self.open() }
                }
                Step::Open(reveal) => self.hear(&reveal.finish()),
                Step::Done | Step::Lost => return,
            }
        }
    }

    /// Begins the next block of the rows under way.
    fn encrypt(&mut self) {
        let from = self.tags.own.len() / 16;
        let rows = from..self.rows.min(from.saturating_add(self.piece));
        let keys = self.columns.len() - 1;
        let words =
            &self.columns[..keys][(self.block * WORDS).min(keys)..(self.block * WORDS + WORDS).min(keys)];
        let input = |share: fn(&Column<u32>) -> &[u32], chained: &[u8]| {
            let mut bytes = if self.block == 0 { vec![0; 16 * rows.len()] } else { chained.to_vec() };
            for (at, words) in words.iter().enumerate() {
                for (block, word) in bytes.chunks_exact_mut(16).zip(&share(words)[rows.clone()]) {
                    for (byte, key) in block[4 * at..].iter_mut().zip(word.to_le_bytes()) {
                        *byte ^= key;
                    }
                }
            }
            bytes
        };
        let input = Rep3 {
            own: input(|column| &column.own, &self.chained.own),
            next: input(|column| &column.next, &self.chained.next),
        };
        let (cx, ws) = (self.batch.context(), std::mem::take(&mut self.ws));
        let keys = self.keys.clone().expect("the expansion comes first");
        self.step = Step::Encrypt(Box::new(AesBlocks::new(SBOX, cx, keys, &input, ws)));
    }

    /// Opens tags and sides to the two parties of the last stage, who move rows by them.
    fn open(&mut self) {
        let mut shares = std::mem::replace(&mut self.tags, none());
        let sides = self.columns.pop().expect("the sides are the last");
        shares.own.extend(sides.own.iter().flat_map(|word| word.to_le_bytes()));
        shares.next.extend(sides.next.iter().flat_map(|word| word.to_le_bytes()));
        self.columns.clear();
        let two = Output { learns: LEARNS, bytes: shares.own.len(), addition: Addition::Xor };
        self.step = Step::Open(self.batch.reveal(&[two], &shares));
    }

    /// The order by tag, then side.
    fn hear(&mut self, opened: &[u8]) {
        if !LEARNS[self.batch.role().index()] {
            return;
        }
        let (tags, sides) = opened.split_at(16 * self.rows);
        let named = tags.as_chunks().0.iter().zip(sides.as_chunks().0).zip(0..self.rows as u32);
        let named = named.map(|((tag, [side, ..]), row): ((&[u8; 16], &[u8; 4]), u32)| {
            (u128::from_le_bytes(*tag), u32::from(side & 1) << 31 | row)
        });
        self.order = in_order(named);
    }

    /// Runs a step; lost if it fails.
    fn guarded(&mut self, step: impl FnOnce(&mut Step) -> Result<(), NetError>) -> Result<(), NetError> {
        let done = step(&mut self.step);
        if done.is_err() {
            self.step = Step::Lost;
        }
        done
    }
}

fn none() -> Shares {
    Rep3 { own: vec![], next: vec![] }
}

/// Rows by tag, then side. Tags are as good as random, so that their upper bits part them evenly: what is left to sort lies in the first
/// cache.
fn in_order(named: impl ExactSizeIterator<Item = (u128, u32)> + Clone) -> Vec<u32> {
    let bits = (named.len() / 64).max(1).ilog2().min(16);
    let part = |tag: u128| if bits == 0 { 0 } else { (tag >> (128 - bits)) as usize };
    let mut ends = vec![0usize; (1 << bits) + 1];
    named.clone().for_each(|(tag, _)| ends[part(tag) + 1] += 1);
    (1..ends.len()).for_each(|i| ends[i] += ends[i - 1]);
    let (starts, mut all) = (ends.clone(), vec![(0, 0); named.len()]);
    for (tag, row) in named {
        let end = &mut ends[part(tag)];
        all[*end] = (tag, row);
        *end += 1;
    }
    starts.windows(2).for_each(|part| all[part[0]..part[1]].sort_unstable());
    all.into_iter().map(|(_, row)| row & !(1 << 31)).collect()
}

/// Blocks of a key of so many bits; an empty one has one, too.
fn blocks(width: usize) -> usize {
    width.div_ceil(128).max(1)
}

const LOST: Misstep = Misstep::Lost { step: "a meeting" };

impl Machine for Meet {
    type Error = NetError;

    fn slots(&self) -> usize {
        2
    }

    fn round(&self, slot: usize) -> Option<Round> {
        let on = |its: usize, round: Round| if slot == its { round } else { Round::even(round.name, 0) };
        match &self.step {
            Step::Shuffle(shuffle) => shuffle.round(slot),
            Step::Expand(machine) => machine.round(0).map(|round| on(0, round)),
            Step::Encrypt(machine) => machine.round(0).map(|round| on(0, round)),
            Step::Open(reveal) => reveal.round(0).map(|round| on(1, round)),
            Step::Done => None,
            Step::Lost => Some(Round::even("a meeting", 0)),
        }
    }

    fn write(&mut self, slot: usize, out: &mut [u8]) -> Result<(), NetError> {
        self.guarded(|step| match (step, slot) {
            (Step::Shuffle(shuffle), _) => shuffle.write(slot, out),
            (Step::Expand(machine), 0) => machine.write(0, out),
            (Step::Encrypt(machine), 0) => machine.write(0, out),
            (Step::Open(reveal), 1) => reveal.write(0, out),
            (Step::Expand(_) | Step::Encrypt(_) | Step::Open(_) | Step::Done, _) => nothing(out.len()),
            (Step::Lost, _) => Err(LOST.into()),
        })
    }

    fn read(&mut self, messages: &[Exchanged<'_>]) -> Result<(), NetError> {
        self.guarded(|step| match step {
            Step::Shuffle(shuffle) => shuffle.read(messages),
            Step::Expand(machine) => machine.read(&one(messages, 0)?),
            Step::Encrypt(machine) => machine.read(&one(messages, 0)?),
            Step::Open(reveal) => reveal.read(&one(messages, 1)?),
            Step::Done => Ok(()),
            Step::Lost => Err(LOST.into()),
        })?;
        self.settle();
        Ok(())
    }

    fn upcoming(&self) -> Option<Round> {
        match &self.step {
            Step::Expand(machine) => machine.upcoming(),
            Step::Encrypt(machine) => machine.upcoming(),
            _ => None,
        }
    }

    fn turn(&mut self, messages: &[Exchanged<'_>], out: &mut [u8]) -> Result<(), NetError> {
        self.guarded(|step| match step {
            Step::Expand(machine) => machine.turn(&one(messages, 0)?, out),
            Step::Encrypt(machine) => machine.turn(&one(messages, 0)?, out),
            _ => Err(LOST.into()),
        })
    }

    fn cost(&self) -> Option<Cost> {
        Some(meet_cost(self.batch.role(), self.rows, self.width, self.piece))
    }
}

/// The cost for a party of bringing so many rows together by keys of so many bits in all, of which `piece` are encrypted at a time.
#[must_use]
pub fn meet_cost(role: Role, rows: usize, keys: usize, piece: usize) -> Cost {
    if rows < 2 {
        return Cost::default();
    }
    let shuffle = permute_cost(role, false, 4 * rows * (keys.div_ceil(32) + 1));
    let expansion = expansion_cost(KeySize::Aes128, SBOX, 1);
    // A party says what its right neighbour lacks.
    let opened = if LEARNS[role.right().index()] { 20 * rows as u64 } else { 0 };
    let mut cost = Cost {
        rounds: shuffle.rounds + expansion.rounds + 1,
        bytes_sent: shuffle.bytes_sent + expansion.bytes_sent + opened,
    };
    let piece = piece.clamp(1, rows);
    for (pieces, rows) in [(rows / piece, piece), (usize::from(!rows.is_multiple_of(piece)), rows % piece)] {
        let one = aes_cost(KeySize::Aes128, SBOX, rows);
        let count = (pieces * blocks(keys)) as u64;
        cost.rounds += one.rounds * count;
        cost.bytes_sent += one.bytes_sent * count;
    }
    cost
}

#[cfg(test)]
#[path = "meet_tests.rs"]
mod tests;
