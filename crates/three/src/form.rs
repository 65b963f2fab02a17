//! The shares of three parties. Each party holds two of the three shares of each value. Numbers are
//! words of 8, 16, 32 or 64 bits in a [`RingWords`], bits are planes, and an order is a permutation
//! of `rep3`. The ring of a value is chosen at run time, and the macro `in_ring` selects the code
//! for its word type.

use crate::prim::Three;
use hushwire_compute::Tensor;
use hushwire_plan::{Residue, Sharing, WordMap, misplaced};
use hushwire_rep3::{
    Rep3, Role, ShareError, pool,
    ring::{Bits, Column, Permutation, Word, sharded},
};
use std::{ops::Range, sync::Arc};

/// A value in one form.
pub(crate) type StepValue = hushwire_plan::StepValue<Three>;

/// A party's part of an order of rows.
#[derive(Clone)]
pub(crate) enum Stages {
    /// All rows are here.
    Here(Arc<Permutation>),
    /// The rows lie on all shards of the party; this is the shard's part.
    Spread(Arc<sharded::Permutation>),
}

impl Stages {
    /// The stages of an order, if all its rows are here.
    pub(crate) fn here(&self) -> &Arc<Permutation> {
        if let Stages::Here(order) = self { order } else { misplaced() }
    }

    /// This shard's part of the stages of an order, if its rows lie on all shards.
    pub(crate) fn spread(&self) -> &Arc<sharded::Permutation> {
        if let Stages::Spread(order) = self { order } else { misplaced() }
    }
}

/// The value of an order whose rows are here.
pub(crate) fn order(stages: Arc<Permutation>) -> StepValue {
    StepValue::Order((Stages::Here(stages), false))
}

/// Shares of numbers in one of the rings.
#[derive(Clone)]
pub(crate) enum RingWords {
    U8(Arc<Column<u8>>),
    U16(Arc<Column<u16>>),
    U32(Arc<Column<u32>>),
    U64(Arc<Column<u64>>),
}

/// A word type whose columns [`RingWords`] can hold.
pub(crate) trait Held: Word + Residue {
    fn words(column: Column<Self>) -> RingWords;
    fn column(words: &RingWords) -> &Arc<Column<Self>>;
    fn column_mut(words: &mut RingWords) -> &mut Arc<Column<Self>>;
}

macro_rules! held {
    ($($word:ident $ring:ident)*) => {$(
        impl Held for $word {
            fn words(column: Column<Self>) -> RingWords {
                RingWords::$ring(Arc::new(column))
            }
            fn column(words: &RingWords) -> &Arc<Column<Self>> {
                if let RingWords::$ring(column) = words { column } else { misplaced() }
            }
            fn column_mut(words: &mut RingWords) -> &mut Arc<Column<Self>> {
                if let RingWords::$ring(column) = words { column } else { misplaced() }
            }
        }
    )*};
}

held!(u8 U8 u16 U16 u32 U32 u64 U64);

/// Runs a function that is generic in the word type, for a ring chosen at run time.
macro_rules! in_ring {
    ($ring:expr, $function:ident($($argument:expr),* $(,)?)) => {
        match $ring {
            8 => $function::<u8>($($argument),*),
            16 => $function::<u16>($($argument),*),
            32 => $function::<u32>($($argument),*),
            _ => $function::<u64>($($argument),*),
        }
    };
}

pub(crate) use in_ring;

impl RingWords {
    pub(crate) fn ring(&self) -> u32 {
        match self {
            RingWords::U8(_) => 8,
            RingWords::U16(_) => 16,
            RingWords::U32(_) => 32,
            RingWords::U64(_) => 64,
        }
    }
}

fn zeros<W: Held>(rows: usize) -> RingWords {
    W::words(Column::zeros(rows))
}

fn rows<W: Held>(words: &RingWords) -> usize {
    W::column(words).rows()
}

fn mapped<W: Held>(reads: &[&RingWords], map: &WordMap<'_>, rows: usize) -> RingWords {
    let columns: Vec<&Column<W>> = reads.iter().map(|words| &**W::column(words)).collect();
    let share = |of: fn(&Column<W>) -> &[W]| {
        let mut out = pool::room(rows);
        map.apply(&columns.iter().map(|column| of(column)).collect::<Vec<_>>(), &mut out);
        out
    };
    W::words(Rep3 { own: share(|column| &column.own), next: share(|column| &column.next) })
}

fn narrowed<W: Held>(words: &RingWords) -> RingWords {
    fn from<V: Held, W: Held>(words: &RingWords) -> RingWords {
        let column = V::column(words);
        let cut = |share: &[V]| pool::collect(share.iter().map(|x| W::of(x.number())));
        W::words(Rep3 { own: cut(&column.own), next: cut(&column.next) })
    }
    match words {
        RingWords::U8(_) => from::<u8, W>(words),
        RingWords::U16(_) => from::<u16, W>(words),
        RingWords::U32(_) => from::<u32, W>(words),
        RingWords::U64(_) => from::<u64, W>(words),
    }
}

fn put<W: Held>(to: &mut RingWords, rows: &Range<usize>, from: &RingWords) {
    let (to, from) = (W::column_mut(to), W::column(from));
    let to = Arc::get_mut(to).expect("nobody else has it");
    to.own[rows.clone()].copy_from_slice(&from.own);
    to.next[rows.clone()].copy_from_slice(&from.next);
}

fn is_alone<W: Held>(words: &mut RingWords) -> bool {
    Arc::get_mut(W::column_mut(words)).is_some()
}

impl Sharing for Three {
    type BitShares = Bits;
    type WordShares = RingWords;
    /// The stages of a permutation p, and whether it is inverted. Row p(i) comes at place i, or the
    /// reverse if inverted.
    type RowOrder = (Stages, bool);

    fn size_of_bits(bits: &Bits) -> [usize; 2] {
        [bits.width(), bits.rows()]
    }

    fn zero_bits(width: usize, rows: usize) -> Bits {
        let zeros = || pool::zeros(width * rows.div_ceil(8));
        Bits::new(width, rows, Rep3 { own: zeros(), next: zeros() }).expect("planes of that size")
    }

    fn planes(bits: &Bits) -> impl Iterator<Item = &[u8]> {
        [&bits.shares().own[..], &bits.shares().next].into_iter()
    }

    fn planes_mut(bits: &mut Bits) -> Option<impl Iterator<Item = &mut [u8]>> {
        bits.alone().map(|shares| [&mut shares.own[..], &mut shares.next].into_iter())
    }

    fn size_of_words(words: &RingWords) -> (u32, usize) {
        (words.ring(), in_ring!(words.ring(), rows(words)))
    }

    fn zero_words(ring: u32, rows: usize) -> RingWords {
        in_ring!(ring, zeros(rows))
    }

    fn mapped(reads: &[&RingWords], map: &WordMap<'_>, rows: usize) -> RingWords {
        in_ring!(reads[0].ring(), mapped(reads, map, rows))
    }

    fn narrowed(words: &RingWords, ring: u32) -> RingWords {
        in_ring!(ring, narrowed(words))
    }

    fn put_words(words: &mut RingWords, rows: &Range<usize>, piece: &RingWords) {
        in_ring!(words.ring(), put(words, rows, piece));
    }

    fn is_alone(words: &mut RingWords) -> bool {
        in_ring!(words.ring(), is_alone(words))
    }

    fn inverted((order, inverse): &(Stages, bool)) -> (Stages, bool) {
        (order.clone(), !inverse)
    }
}

/// Clears in both shares the bits above a number's width. If a ring is wider than its numbers,
/// these bits hold carries that no party may learn. So shares are sent without them.
pub(crate) fn lowered<W: Held>(column: &Arc<Column<W>>, bits: usize) -> Arc<Column<W>> {
    if bits >= W::BITS {
        return column.clone();
    }
    let mask = (1 << bits) - 1;
    let all = |share: &[W]| pool::collect(share.iter().map(|word| W::of(word.number() & mask)));
    Arc::new(Column { own: all(&column.own), next: all(&column.next) })
}

/// A known value as shares of bits.
pub(crate) fn known_bits(role: Role, tensor: &Tensor) -> Result<Bits, ShareError> {
    let planes = tensor.to_planes();
    let shares = hushwire_rep3::Shares::public(role, &planes);
    Bits::new(planes.width(), planes.instances(), shares)
}

/// The elements of a known value, modulo the ring.
pub(crate) fn known_numbers<W: Word>(tensor: &Tensor) -> Vec<W> {
    (0..tensor.len()).map(|i| W::of(tensor.element(i)[0])).collect()
}
