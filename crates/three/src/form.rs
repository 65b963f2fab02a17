//! Forms of a value.

use hushwire_compute::{Scalar, Tensor};
use hushwire_rep3::{
    Role, ShareError, pool,
    ring::{Bits, Column, Permutation, Word},
};
use std::sync::Arc;

/// The ring that a number's shares are in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ring {
    U8,
    U16,
    U32,
    U64,
}

impl Ring {
    /// The narrowest that holds a number; none for what is no number, or wider than 64 bits.
    pub(crate) fn of(scalar: Scalar) -> Option<Ring> {
        let bits = scalar.bits();
        [(8, Ring::U8), (16, Ring::U16), (32, Ring::U32), (64, Ring::U64)]
            .into_iter()
            .find(|(most, _)| scalar.is_number() && bits <= *most)
            .map(|(_, ring)| ring)
    }

    /// Bits of the modulus.
    pub(crate) fn bits(self) -> usize {
        8 << self as usize
    }
}

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
                    _ => unreachable!("a plan keeps to one ring"),
                }
            }
            fn column_mut(words: &mut Words) -> &mut Arc<Column<Self>> {
                match words {
                    Words::$ring(column) => column,
                    _ => unreachable!("a plan keeps to one ring"),
                }
            }
        }
    )*};
}

held!(u8 U8 u16 U16 u32 U32 u64 U64);

/// Runs a function of a word's type for a ring chosen at run time.
macro_rules! in_ring {
    ($ring:expr, $function:ident($($argument:expr),* $(,)?)) => {
        match $ring {
            $crate::form::Ring::U8 => $function::<u8>($($argument),*),
            $crate::form::Ring::U16 => $function::<u16>($($argument),*),
            $crate::form::Ring::U32 => $function::<u32>($($argument),*),
            $crate::form::Ring::U64 => $function::<u64>($($argument),*),
        }
    };
}

pub(crate) use in_ring;

impl Words {
    pub(crate) fn ring(&self) -> Ring {
        match self {
            Words::U8(_) => Ring::U8,
            Words::U16(_) => Ring::U16,
            Words::U32(_) => Ring::U32,
            Words::U64(_) => Ring::U64,
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
            _ => unreachable!("a plan knows the forms of its values"),
        }
    }

    pub(crate) fn known(&self) -> &Tensor {
        match self {
            Form::Known(tensor) => tensor,
            _ => unreachable!("a plan knows the forms of its values"),
        }
    }

    pub(crate) fn bits(&self) -> &Arc<Bits> {
        match self {
            Form::Bits(bits) => bits,
            _ => unreachable!("a plan knows the forms of its values"),
        }
    }

    pub(crate) fn words(&self) -> &Words {
        match self {
            Form::Words(words) => words,
            _ => unreachable!("a plan knows the forms of its values"),
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
