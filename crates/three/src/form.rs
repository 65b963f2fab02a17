//! Forms of a value.

use hushwire_compute::Tensor;
use hushwire_plan::misplaced;
use hushwire_rep3::{
    Role, ShareError, pool,
    ring::{Bits, Column, Permutation, Word},
};
use std::sync::Arc;

/// Shares of numbers in one of the rings.
#[derive(Clone)]
pub(crate) enum Words {
    U8(Arc<Column<u8>>),
    U16(Arc<Column<u16>>),
    U32(Arc<Column<u32>>),
    U64(Arc<Column<u64>>),
}

/// A word whose columns [`Words`] holds.
pub(crate) trait Held: Word {
    fn words(column: Column<Self>) -> Words;
    fn column(words: &Words) -> &Arc<Column<Self>>;
    fn column_mut(words: &mut Words) -> &mut Arc<Column<Self>>;
}

macro_rules! held {
    ($($word:ident $ring:ident)*) => {$(
        impl Held for $word {
            fn words(column: Column<Self>) -> Words {
                Words::$ring(Arc::new(column))
            }
            fn column(words: &Words) -> &Arc<Column<Self>> {
                match words {
                    Words::$ring(column) => column,
                    _ => misplaced(),
                }
            }
            fn column_mut(words: &mut Words) -> &mut Arc<Column<Self>> {
                match words {
                    Words::$ring(column) => column,
                    _ => misplaced(),
                }
            }
        }
    )*};
}

held!(u8 U8 u16 U16 u32 U32 u64 U64);

/// Runs a function of a word's type for a ring of so many bits, chosen at run time.
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

impl Words {
    pub(crate) fn ring(&self) -> u32 {
        match self {
            Words::U8(_) => 8,
            Words::U16(_) => 16,
            Words::U32(_) => 32,
            Words::U64(_) => 64,
        }
    }
}

/// A value in one form.
#[derive(Clone)]
pub(crate) enum Form {
    Known(Arc<Tensor>),
    Bits(Arc<Bits>),
    Words(Words),
    /// Row p(i) comes i-th, or the other way round where it is inverse.
    Order(Arc<Permutation>, bool),
}

impl Form {
    /// Elements, or the rows of an order.
    pub(crate) fn rows(&self) -> usize {
        fn rows<W: Held>(words: &Words) -> usize {
            W::column(words).rows()
        }
        match self {
            Form::Known(tensor) => tensor.len(),
            Form::Bits(bits) => bits.rows(),
            Form::Words(words) => in_ring!(words.ring(), rows(words)),
            Form::Order(order, _) => order.rows(),
        }
    }

    /// Whether this is so many bits of so many rows, and nobody else has them.
    pub(crate) fn is_alone_bits(&mut self, width: usize, rows: usize) -> bool {
        let Form::Bits(bits) = self else { return false };
        (bits.width(), bits.rows()) == (width, rows) && Arc::get_mut(bits).and_then(Bits::alone).is_some()
    }

    /// Whether this is words of so many rows, and nobody else has them.
    pub(crate) fn is_alone_words(&mut self, rows: usize) -> bool {
        fn is_alone<W: Held>(words: &mut Words) -> bool {
            Arc::get_mut(W::column_mut(words)).is_some()
        }
        let all = self.rows();
        let Form::Words(words) = self else { return false };
        all == rows && in_ring!(words.ring(), is_alone(words))
    }

    pub(crate) fn order(&self) -> (&Arc<Permutation>, bool) {
        match self {
            Form::Order(order, inverse) => (order, *inverse),
            _ => misplaced(),
        }
    }

    pub(crate) fn known(&self) -> &Tensor {
        match self {
            Form::Known(tensor) => tensor,
            _ => misplaced(),
        }
    }

    pub(crate) fn bits(&self) -> &Arc<Bits> {
        match self {
            Form::Bits(bits) => bits,
            _ => misplaced(),
        }
    }

    pub(crate) fn words(&self) -> &Words {
        match self {
            Form::Words(words) => words,
            _ => misplaced(),
        }
    }
}

/// Both shares without the bits above a number's. A ring may be wider than its numbers, and above them stands what was carried
/// there: nobody may learn it, so that shares go without.
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

/// A known value's elements, modulo the ring.
pub(crate) fn known_numbers<W: Word>(tensor: &Tensor) -> Vec<W> {
    (0..tensor.len()).map(|i| W::of(tensor.element(i)[0])).collect()
}

/// A known value as shares of numbers.
pub(crate) fn known_words<W: Held>(role: Role, tensor: &Tensor) -> Words {
    W::words(Column::known(role, &known_numbers::<W>(tensor)))
}
