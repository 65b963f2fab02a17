//! A dealer's shares and their openings, for tests and benchmarks. A process that holds all three
//! shares hides nothing.

use super::{Bits, Column, Word};
use crate::{Rep3, Rep3Party, share};
use hushwire_aes::Backend;
use hushwire_prg::Prg;

/// Three parties of one session.
#[must_use]
pub fn parties() -> [Rep3Party; 3] {
    Rep3Party::three(Backend::best())
}

/// A dealer's shares of numbers.
#[must_use]
pub fn share_words<W: Word>(prg: &mut Prg, numbers: &[W]) -> [Column<W>; 3] {
    let x0: Vec<W> = numbers.iter().map(|_| W::of(prg.next_u64())).collect();
    let x1: Vec<W> = numbers.iter().map(|_| W::of(prg.next_u64())).collect();
    let x2: Vec<W> =
        numbers.iter().zip(x0.iter().zip(&x1)).map(|(v, (a, b))| v.minus(*a).minus(*b)).collect();
    [
        Rep3 { own: x0.clone(), next: x1.clone() },
        Rep3 { own: x1, next: x2.clone() },
        Rep3 { own: x2, next: x0 },
    ]
}

/// The numbers that three parties' shares open to.
///
/// # Panics
/// If a share that two parties hold differs between them.
#[must_use]
pub fn open_words<W: Word>(columns: &[Column<W>; 3]) -> Vec<W> {
    for i in 0..3 {
        assert_eq!(columns[i].next, columns[(i + 1) % 3].own, "share {} at both holders", (i + 1) % 3);
    }
    let rows = columns[0].rows();
    (0..rows).map(|r| columns.iter().fold(W::default(), |sum, c| sum.plus(c.own[r]))).collect()
}

/// A dealer's shares of strings of `width` bits, one number per row.
///
/// # Panics
/// If there are more bits than a number has (the caller's bug).
#[must_use]
pub fn share_bits(prg: &mut Prg, width: usize, numbers: &[u64]) -> [Bits; 3] {
    let height = numbers.len().div_ceil(8);
    let mut planes = vec![0; width * height];
    for (j, number) in numbers.iter().enumerate() {
        for i in 0..width {
            planes[i * height + j / 8] |= ((number >> i & 1) as u8) << (j % 8);
        }
    }
    share(prg, &planes).map(|shares| Bits::new(width, numbers.len(), shares).expect("planes of these bits"))
}

/// The strings of bits that three parties' shares open to, one number per row.
///
/// # Panics
/// As [`open_words`]; bits past the last row are ignored.
#[must_use]
pub fn open_bits(bits: &[Bits; 3]) -> Vec<u64> {
    let (width, rows) = (bits[0].width(), bits[0].rows());
    let bit =
        |share: &[u8], i: usize, j: usize| u64::from(share[i * rows.div_ceil(8) + j / 8] >> (j % 8) & 1);
    let row = |j: usize| {
        let value = |i: usize| {
            for p in 0..3 {
                let (here, there) = (&bits[p].shares().next, &bits[(p + 1) % 3].shares().own);
                assert_eq!(bit(here, i, j), bit(there, i, j), "share {} at both holders", (p + 1) % 3);
            }
            bits.iter().fold(0, |sum, bits| sum ^ bit(&bits.shares().own, i, j))
        };
        (0..width).map(|i| value(i) << i).sum()
    };
    (0..rows).map(row).collect()
}
