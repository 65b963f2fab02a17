//! Permutes columns of rows on several shards, and makes permutations from places.
//!
//! The protocol is that of [`Permute`](crate::ring::Permute), but each movement of rows spans the
//! shards of the party. Masks are drawn after each movement, from the session of the shard that has
//! the row by then.

use super::{Permutation, own_rows, permutation::Fresh, unfit};
use crate::{
    Batch, Context, Mover, Rep3, ShareError,
    pool::{self, Scratch},
    ring::{
        column::{Bits, Column},
        group::{Group, Sum, Xor},
        masks::{Neighbour, PairWords},
        moves::{PermutePart, part, words_in},
        word::Word,
    },
};
use hushwire_block::registry;
use hushwire_machine::{
    NetError,
    drive::{Line, Talk},
};
use std::sync::Arc;

/// The use of the result.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum ResultUse {
    /// It is shared again.
    Shares,
    /// Parties 1 and 2 learn it: it is the sum that they compute, in `next` and in `own`.
    Open,
}

/// A machine that moves row p(i) of every column to place i, or row i to place p(i) if `inverse`.
/// Columns cover this shard's rows.
///
/// # Errors
/// [`ShareError::Length`] unless all shares have the permutation's number of rows on this shard.
///
/// # Panics
/// If the permutation belongs to another party (the caller's bug).
#[allow(clippy::type_complexity)]
pub fn permute<'m, G: Group>(
    cx: Context,
    mover: &'m mut dyn Mover,
    by: Arc<Permutation>,
    columns: Vec<Arc<Column<G::Word>>>,
    inverse: bool,
) -> Result<Line<'m, Vec<Column<G::Word>>, NetError>, ShareError> {
    assert_eq!(cx.role, by.role());
    let rows = by.own_rows().len();
    columns.iter().try_for_each(|column| column.expect_rows("a column to permute", rows))?;
    Ok(Line::over(2, move |talk| async move {
        permuted::<G>(&talk, &cx, mover, &by, columns, (inverse, ResultUse::Shares)).await
    }))
}

/// As [`permute`], for strings with at most as many bits as `W` has, which move as its words.
///
/// # Errors
/// [`ShareError`] if a row has more bits than a word, or the number of rows is not the
/// permutation's on this shard.
///
/// # Panics
/// As [`permute`].
pub fn permute_bits<'m, W: Word>(
    cx: Context,
    mover: &'m mut dyn Mover,
    by: Arc<Permutation>,
    bits: &Bits,
    inverse: bool,
) -> Result<Line<'m, Bits, NetError>, ShareError> {
    assert_eq!(cx.role, by.role());
    let (backend, width) = (cx.backend, bits.width());
    let words = bits.to_words::<W>(backend)?;
    words.expect_rows("strings to permute", by.own_rows().len())?;
    Ok(Line::over(2, move |talk| async move {
        let ends = (inverse, ResultUse::Shares);
        let moved = permuted::<Xor<W>>(&talk, &cx, mover, &by, vec![Arc::new(words)], ends).await?;
        Bits::of_lower(backend, &moved[0], width).map_err(unfit("strings to permute"))
    }))
}

/// A machine that permutes the numbers of all rows, from 0 on.
///
/// # Errors
/// None when it is made; a run fails as that of [`permute`].
///
/// # Panics
/// As [`permute`].
pub fn places<'m>(
    cx: Context,
    mover: &'m mut dyn Mover,
    by: Arc<Permutation>,
    inverse: bool,
) -> Result<Line<'m, Column<u64>, NetError>, ShareError> {
    let numbers: Vec<u64> = by.own_rows().map(|row| row as u64).collect();
    let numbers = Arc::new(Column::known(cx.role, &numbers));
    assert_eq!(cx.role, by.role());
    Ok(Line::over(2, move |talk| async move {
        let ends = (inverse, ResultUse::Shares);
        let moved = permuted::<Sum<u64>>(&talk, &cx, mover, &by, vec![numbers], ends).await?;
        Ok(moved.into_iter().next().expect("one column"))
    }))
}

/// A machine that makes a permutation from the shared places of `rows` rows. It moves row i to
/// place `places[i]`; the places are 0 to rows − 1, each exactly once. `places` covers this shard's
/// rows.
///
/// Otherwise a run ends with an error that contains [`ShareError::Places`] at parties 1 and 2.
///
/// # Errors
/// [`ShareError::Length`] unless the shares have this shard's number of rows.
pub fn from_places<'m>(
    mut batch: Batch,
    mover: &'m mut dyn Mover,
    rows: usize,
    places: Arc<Column<u32>>,
) -> Result<Line<'m, Arc<Permutation>, NetError>, ShareError> {
    places.expect_rows("places of rows", own_rows(mover, rows).len())?;
    Ok(Line::over(2, move |talk| async move { placed(&talk, &mut batch, mover, rows, places).await }))
}

/// [`from_places`], as a part of a protocol.
pub(super) async fn placed(
    talk: &Talk,
    batch: &mut Batch,
    mover: &mut dyn Mover,
    rows: usize,
    places: Arc<Column<u32>>,
) -> Result<Arc<Permutation>, NetError> {
    let (fresh, cx) = (Fresh::draw(batch.context(), mover, rows)?, batch.context());
    let role = cx.role;
    let ends = (false, ResultUse::Open);
    let opened = permuted::<Sum<u32>>(talk, &cx, mover, fresh.shuffle(), vec![places], ends).await?;
    let places = match role.index() {
        1 => &opened[0].next[..],
        2 => &opened[0].own,
        _ => &[],
    };
    fresh.then_to(mover, places)
}

/// Applies the masks of this party and a neighbour to the words of a column, from the stream's word
/// `first` on.
fn masked<W: Word>(cx: &Context, side: Neighbour, first: u64, words: &mut [W], mask: impl Fn(W, W) -> W) {
    let mut masks = PairWords::new(cx, side, first);
    masks.runs::<W>(words.len(), |run, masks| {
        words[run].iter_mut().zip(words_in(masks)).for_each(|(word, m)| *word = mask(*word, m));
    });
}

/// The protocol, on shares of this shard's rows.
pub(super) async fn permuted<G: Group>(
    talk: &Talk,
    cx: &Context,
    mover: &mut dyn Mover,
    by: &Permutation,
    columns: Vec<Arc<Column<G::Word>>>,
    (inverse, ends): (bool, ResultUse),
) -> Result<Vec<Column<G::Word>>, NetError> {
    let (rows, count, part) = (by.own_rows().len(), columns.len(), part(cx.role, inverse));
    if count == 0 {
        return Ok(vec![]);
    }
    let side = |side: Neighbour| if inverse { side.other() } else { side };
    let (left, right) = (side(Neighbour::Left), side(Neighbour::Right));
    // The first words of the masks of a column, and of its new summands, which lie behind all
    // masks.
    let words = (rows * G::Word::BYTES).div_ceil(16);
    let mask = |column: usize| (column * words) as u64;
    let fresh = |column: usize| ((count + column) * words) as u64;
    let on =
        |side, first: &dyn Fn(usize) -> u64, all: &mut Moved<G>, how: fn(G::Word, G::Word) -> G::Word| {
            all.iter_mut().enumerate().for_each(|(i, words)| masked(cx, side, first(i), words, how));
        };

    let given: Moved<G> = match part {
        PermutePart::X => {
            let sum = |column: &Arc<Column<G::Word>>| {
                let words = column.own.iter().zip(&column.next);
                Scratch::new(pool::collect(words.map(|(x, y)| G::plus(*x, *y))))
            };
            let sums: Moved<G> = columns.iter().map(sum).collect();
            let mut moved = by.moved((right, inverse), mover, &sums)?;
            on(right, &mask, &mut moved, G::plus);
            moved = by.moved((left, inverse), mover, &moved)?;
            on(left, &mask, &mut moved, G::plus);
            moved
        }
        PermutePart::Y => {
            let third = |column: &'_ Arc<Column<G::Word>>| match right {
                Neighbour::Right => Scratch::new(pool::copy(&column.next)),
                Neighbour::Left => Scratch::new(pool::copy(&column.own)),
            };
            let third: Moved<G> = columns.iter().map(third).collect();
            let mut moved = by.moved((left, inverse), mover, &third)?;
            on(left, &mask, &mut moved, G::minus);
            moved
        }
        PermutePart::Z => vec![],
    };
    drop(columns);
    let slots = Slots { ahead: usize::from(!inverse), bytes: rows * count * G::Word::BYTES };
    let comes = match part {
        PermutePart::X => [0, 0],
        PermutePart::Y | PermutePart::Z => slots.on(slots.ahead, slots.bytes),
    };
    let heard = slots.exchange(talk, slots.ahead, bytes_of::<G>(&given), comes).await;
    drop(given);

    let own: Moved<G> = match part {
        PermutePart::X => vec![],
        PermutePart::Y => {
            let heard = words_of::<G>(&heard[slots.ahead], rows, count);
            let mut moved = by.moved((right, inverse), mover, &heard)?;
            if ends == ResultUse::Shares {
                on(left, &fresh, &mut moved, G::minus);
            }
            moved
        }
        PermutePart::Z => {
            let heard = words_of::<G>(&heard[slots.ahead], rows, count);
            let mut moved = by.moved((right, inverse), mover, &heard)?;
            on(right, &mask, &mut moved, G::minus);
            moved = by.moved((left, inverse), mover, &moved)?;
            if ends == ResultUse::Shares {
                on(right, &fresh, &mut moved, G::minus);
            }
            moved
        }
    };
    let (goes, comes) = match part {
        PermutePart::X => (slots.ahead, None),
        PermutePart::Y => (slots.ahead, Some(1 - slots.ahead)),
        PermutePart::Z => (1 - slots.ahead, Some(slots.ahead)),
    };
    let into = comes.map_or([0, 0], |slot| slots.on(slot, slots.bytes));
    let heard = slots.exchange(talk, goes, bytes_of::<G>(&own), into).await;
    let sums = comes.map(|slot| words_of::<G>(&heard[slot], rows, count));
    heard.into_iter().for_each(pool::give);

    let end = |column: usize| {
        let drawn = |side| {
            if ends == ResultUse::Open {
                return vec![];
            }
            let mut words = pool::zeros(rows);
            let mut draw = || masked(cx, side, fresh(column), &mut words, |_, mask| mask);
            // Y and Z have drawn these words already for their messages, and keep the same words as
            // summands.
            if part == PermutePart::X {
                draw();
            } else {
                registry::silent(draw);
            }
            words
        };
        let sum = || {
            let heard = sums.iter().flat_map(|heard| heard[column].iter());
            let mut sum = pool::room(rows);
            sum.extend(own[column].iter().zip(heard).map(|(u, v)| G::plus(*u, *v)));
            sum
        };
        // A mask of two parties is their summand: `own` with the left neighbour, `next` with the
        // right one.
        match (part, inverse) {
            (PermutePart::X, _) => Rep3 { own: drawn(Neighbour::Left), next: drawn(Neighbour::Right) },
            (PermutePart::Y, false) | (PermutePart::Z, true) => {
                Rep3 { own: drawn(Neighbour::Left), next: sum() }
            }
            (PermutePart::Y, true) | (PermutePart::Z, false) => {
                Rep3 { own: sum(), next: drawn(Neighbour::Right) }
            }
        }
    };
    Ok((0..count).map(end).collect())
}

/// Columns between two movements.
type Moved<G> = Vec<Scratch<<G as Group>::Word>>;

/// The messages of a round.
struct Slots {
    /// The slot that leads from X to Y and from Y to Z.
    ahead: usize,
    /// The bytes of all columns.
    bytes: usize,
}

impl Slots {
    fn on<T: Default>(&self, slot: usize, value: T) -> [T; 2] {
        let mut both = [T::default(), T::default()];
        both[slot] = value;
        both
    }

    /// Runs a round, unless this shard has no rows; then the other parties' shards have none
    /// either.
    async fn exchange(&self, talk: &Talk, slot: usize, out: Vec<u8>, into: [usize; 2]) -> Vec<Vec<u8>> {
        if self.bytes == 0 {
            return vec![vec![], vec![]];
        }
        talk.exchange_all("permutation of rows", self.on(slot, out).into(), &into).await
    }
}

fn bytes_of<G: Group>(columns: &Moved<G>) -> Vec<u8> {
    let mut bytes = pool::room(columns.iter().map(|words| words.len() * G::Word::BYTES).sum());
    columns.iter().for_each(|words| super::push_words(words, &mut bytes));
    bytes
}

fn words_of<G: Group>(bytes: &[u8], rows: usize, count: usize) -> Moved<G> {
    let column = |i: usize| {
        let bytes = &bytes[i * rows * G::Word::BYTES..(i + 1) * rows * G::Word::BYTES];
        let mut words = Scratch::room(rows);
        words.extend(words_in::<G::Word>(bytes));
        words
    };
    (0..count).map(column).collect()
}
