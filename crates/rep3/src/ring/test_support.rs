//! A dealer's shares and what they open to, for tests and benchmarks: whoever has all three hides nothing.

use super::{Column, Word};
use crate::{Party, Rep3};
use hushwire_aes::Backend;
use hushwire_prg::Prg;

/// Three parties of one session.
#[must_use]
pub fn parties() -> [Party; 3] {
    Party::three(Backend::best())
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

/// The numbers behind three parties' shares.
///
/// # Panics
/// If they do not fit together: a share that two parties hold must be the same at both.
#[must_use]
pub fn open_words<W: Word>(columns: &[Column<W>; 3]) -> Vec<W> {
    for i in 0..3 {
        assert_eq!(columns[i].next, columns[(i + 1) % 3].own, "share {} at both holders", (i + 1) % 3);
    }
    let rows = columns[0].rows();
    (0..rows).map(|r| columns.iter().fold(W::default(), |sum, c| sum.plus(c.own[r]))).collect()
}
