//! Sums over the elements of all shards. The sharing is additive: a sum of shares is a share of the
//! sum, and no message goes to other parties.
//!
//! ```text
//! an axis    a value is blocks of n lines of `inner` elements, and an axis goes through lines
//! a sum      of a shard's part of each block, to the shard that has that element of the result
//! prefixes   within a shard; and the sums of a block's beginning on the shards before, added
//! ```

use super::moves::{Between, unpack_words};
use crate::{
    ThreeError,
    form::{Held, RingWords},
    runtime::Counts,
};
use hushwire_plan::Axis;
use hushwire_rep3::{pool, ranges, ring::Column};
use std::ops::Range;

/// The elements of a value along an axis, and the part that a shard has.
#[derive(Clone)]
struct Blocks {
    axis: Axis,
    /// The range of elements that the shard has.
    has: Range<usize>,
}

impl Blocks {
    fn block(&self) -> usize {
        self.axis.n * self.axis.inner()
    }

    /// The range of blocks of which the shard has elements.
    fn blocks(&self) -> Range<usize> {
        if self.has.is_empty() {
            return 0..0;
        }
        self.has.start / self.block()..(self.has.end - 1) / self.block() + 1
    }

    /// The range of sums to which the shard contributes.
    fn results(&self) -> Range<usize> {
        let blocks = self.blocks();
        blocks.start * self.axis.inner()..blocks.end * self.axis.inner()
    }

    /// The shard's elements of a block.
    fn of(&self, block: usize) -> Range<usize> {
        let all = block * self.block()..(block + 1) * self.block();
        all.start.max(self.has.start)..all.end.min(self.has.end)
    }

    /// Adds the elements of a part of a block to the sums of its series.
    fn add<W: Held>(&self, share: &[W], part: Range<usize>, sums: &mut [W]) {
        let inner = self.axis.inner();
        let mut k = part.start % inner;
        for word in &share[part.start - self.has.start..part.end - self.has.start] {
            sums[k] = sums[k].plus(*word);
            k = if k + 1 == inner { 0 } else { k + 1 };
        }
    }

    /// The sums of all series of some blocks.
    fn sums<W: Held>(&self, share: &[W], blocks: Range<usize>) -> Vec<W> {
        let inner = self.axis.inner();
        let mut sums = pool::zeros(blocks.len() * inner);
        for (block, sums) in blocks.zip(sums.chunks_exact_mut(inner.max(1))) {
            self.add(share, self.of(block), sums);
        }
        sums
    }

    /// The sums up to and including each element. `carry` has the sums of a block's elements before
    /// this shard.
    fn prefixes<W: Held>(&self, share: &[W], carry: &[W]) -> Vec<W> {
        let inner = self.axis.inner();
        let mut out = pool::room(share.len());
        let first = self.blocks().start;
        for block in self.blocks() {
            let mut sums = if block == first { carry.to_vec() } else { vec![W::default(); inner] };
            let part = self.of(block);
            let mut k = part.start % inner;
            for word in &share[part.start - self.has.start..part.end - self.has.start] {
                sums[k] = sums[k].plus(*word);
                out.push(sums[k]);
                k = if k + 1 == inner { 0 } else { k + 1 };
            }
        }
        out
    }
}

/// The bytes of words.
fn bytes<'w, W: Held>(words: impl Iterator<Item = &'w W>) -> Vec<u8> {
    let mut out = vec![];
    for word in words {
        let at = out.len();
        out.resize(at + W::BYTES, 0);
        word.write(&mut out[at..]);
    }
    out
}

fn meet(a: &Range<usize>, b: &Range<usize>) -> Range<usize> {
    let start = a.start.max(b.start);
    start..a.end.min(b.end).max(start)
}

/// Sums along an axis of a value of `all` elements.
pub(super) fn folded<W: Held>(
    between: &mut Between<'_>,
    words: &RingWords,
    axis: Axis,
    prefix: bool,
    all: usize,
) -> Result<RingWords, ThreeError> {
    let bounds = between.bounds(all);
    let each: Vec<Blocks> = bounds.windows(2).map(|two| Blocks { axis, has: two[0]..two[1] }).collect();
    let column = W::column(words);
    let made = if prefix { prefixes(between, column, &each)? } else { totals(between, column, &each)? };
    Ok(W::words(made))
}

/// The words of a share that a shard sends to others.
pub(super) fn sent(axis: Axis, prefix: bool, all: usize, shard: usize, shards: usize) -> u64 {
    let bounds = ranges(all, shards);
    let each: Vec<Blocks> = bounds.windows(2).map(|two| Blocks { axis, has: two[0]..two[1] }).collect();
    let others = (0..shards).filter(|to| *to != shard);
    let words = |to: usize| match prefix {
        true if goes_on(&each, shard, to) => axis.inner(),
        true => 0,
        false => {
            let results = ranges(axis.series(), shards);
            meet(&each[shard].results(), &(results[to]..results[to + 1])).len()
        }
    };
    others.map(words).sum::<usize>() as u64
}

/// Whether a shard's last block continues on another shard.
fn goes_on(each: &[Blocks], from: usize, to: usize) -> bool {
    let [from_blocks, to_blocks] = [each[from].blocks(), each[to].blocks()];
    from < to && !from_blocks.is_empty() && !to_blocks.is_empty() && from_blocks.end == to_blocks.start + 1
}

fn totals<W: Held>(
    between: &mut Between<'_>,
    column: &Column<W>,
    each: &[Blocks],
) -> Result<Column<W>, ThreeError> {
    let here = between.shard();
    let results = between.bounds(each[0].axis.series());
    let takes = |shard: usize| results[shard]..results[shard + 1];
    let adds = |shard: usize| each[shard].results();
    let own = &each[here];
    let [a, b] = [&column.own, &column.next].map(|share| own.sums(share, own.blocks()));
    let (mut made, start) = (Column::<W>::zeros(takes(here).len()), takes(here).start);
    let mut add = |at: Range<usize>, a: &[W], b: &[W]| {
        for (i, at) in (at.start - start..at.end - start).enumerate() {
            made.own[at] = made.own[at].plus(a[i]);
            made.next[at] = made.next[at].plus(b[i]);
        }
    };
    let shared = |from: usize, to: usize| meet(&adds(from), &takes(to));
    let part = |to: usize| {
        let at = shared(here, to);
        at.start.saturating_sub(adds(here).start)..at.end.saturating_sub(adds(here).start)
    };
    let at = shared(here, here);
    if !at.is_empty() {
        add(at, &a[part(here)], &b[part(here)]);
    }
    let shards = 0..between.shards();
    let crosses = |from: usize| shards.clone().any(|to| from != to && !shared(from, to).is_empty());
    if shards.clone().any(crosses) {
        let goes = |to: usize| {
            if to == here || shared(here, to).is_empty() {
                return vec![];
            }
            bytes(a[part(to)].iter().chain(&b[part(to)]))
        };
        let to = shards.clone().map(goes).collect();
        let comes = |from: usize| if from == here { 0 } else { shared(from, here).len() };
        let from = between.exchange(to, |shard| 2 * W::BYTES * comes(shard))?;
        for (shard, part) in from.iter().enumerate().filter(|(_, part)| !part.is_empty()) {
            let words = unpack_words::<W>(part.split_at(part.len() / 2).into());
            add(shared(shard, here), &W::column(&words).own, &W::column(&words).next);
        }
    }
    Ok(made)
}

fn prefixes<W: Held>(
    between: &mut Between<'_>,
    column: &Column<W>,
    each: &[Blocks],
) -> Result<Column<W>, ThreeError> {
    let (here, inner) = (between.shard(), each[0].axis.inner());
    let goes_on = |from: usize, to: usize| goes_on(each, from, to);
    let own = &each[here];
    let mut carry = [vec![W::default(); inner], vec![W::default(); inner]];
    let shards = 0..between.shards();
    if shards.clone().any(|from| shards.clone().any(|to| goes_on(from, to))) {
        let goes = |to: usize| {
            if !goes_on(here, to) {
                return vec![];
            }
            let last = own.blocks().end - 1..own.blocks().end;
            let sums = [&column.own, &column.next].map(|share| own.sums(share, last.clone()));
            bytes(sums.iter().flatten())
        };
        let to = shards.clone().map(goes).collect();
        let from =
            between.exchange(to, |shard| if goes_on(shard, here) { 2 * W::BYTES * inner } else { 0 })?;
        for part in from.iter().filter(|part| !part.is_empty()) {
            let words = unpack_words::<W>(part.split_at(part.len() / 2).into());
            let sums = W::column(&words);
            for (carry, sums) in carry.iter_mut().zip([&sums.own, &sums.next]) {
                carry.iter_mut().zip(sums).for_each(|(carry, sum)| *carry = carry.plus(*sum));
            }
        }
    }
    let [own_carry, next_carry] = &carry;
    Ok(Column { own: own.prefixes(&column.own, own_carry), next: own.prefixes(&column.next, next_carry) })
}

/// The counts of the flags of all shards, and of the shards before this one.
pub(super) fn counted<W: Held>(
    between: &mut Between<'_>,
    flags: &RingWords,
    all: usize,
) -> Result<Counts, ThreeError> {
    let column = W::column(flags);
    let sum = |share: &[W]| share.iter().fold(W::default(), |sum, flag| sum.plus(*flag));
    let own = [sum(&column.own), sum(&column.next)];
    let to = vec![bytes(own.iter()); between.shards()];
    let from = between.exchange(to, |_| 2 * W::BYTES)?;
    let mut counts = Counts { all: [0; 2], before: [0; 2], rows: all, rows_before: between.own(all).start };
    for (shard, part) in from.iter().enumerate() {
        for (held, word) in part.chunks_exact(W::BYTES).map(W::read).enumerate() {
            counts.all[held] = counts.all[held].wrapping_add(word.number());
            if shard < between.shard() {
                counts.before[held] = counts.before[held].wrapping_add(word.number());
            }
        }
    }
    Ok(counts)
}
