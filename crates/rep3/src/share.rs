//! Replicated shares of byte strings, as data that enters and leaves sessions.
//!
//! `v = x_0 ⊕ x_1 ⊕ x_2`; party `i` holds `(x_i, x_{i+1})`. The same bytes serve GF(2^8) (one
//! element a byte), GF(2^4) (two) and bit-sliced GF(2) (eight): addition is ⊕ in all of them.

use crate::{
    Role,
    pool::{self, Element, Pooled},
};
use hushwire_block::{Wipe, Wiped};
use hushwire_prg::Prg;

/// Party `i`'s two shares of one value: `own = x_i`, `next = x_{i+1}`. They are wiped when dropped,
/// and the [`pool`] keeps their memory.
pub struct Rep3<T: Pooled> {
    /// `x_i`.
    pub own: T,
    /// `x_{i+1}`.
    pub next: T,
}

impl<T: Pooled> Drop for Rep3<T> {
    fn drop(&mut self) {
        self.own.go();
        self.next.go();
    }
}

impl<T: Element> Clone for Rep3<Vec<T>> {
    fn clone(&self) -> Self {
        Rep3 { own: pool::copy(&self.own), next: pool::copy(&self.next) }
    }
}

/// Shares of a byte string.
pub type Shares = Rep3<Vec<u8>>;

/// The reason why bytes are no share, or why shares do not match.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum ShareError {
    /// A share is encoded as `own ‖ next`, two halves of equal length.
    #[error(
        "{what} has {found} bytes where {expected} were expected; the file or message was cut short or is another one"
    )]
    Length {
        /// The share that has the wrong length.
        what: &'static str,
        /// The number of bytes that it should have.
        expected: usize,
        /// The number of bytes that it has.
        found: usize,
    },
    /// The opened places of rows must be a permutation of 0 to rows - 1.
    #[error(
        "the places of {rows} rows are not 0 to {rows} - 1, each once; only what orders rows may be a permutation's places"
    )]
    Places {
        /// The number of rows to place.
        rows: usize,
    },
    /// No shares have the requested shape.
    #[error("{cause}; {remedy}")]
    Shape {
        /// The reason why not.
        cause: &'static str,
        /// The way out.
        remedy: &'static str,
    },
    /// Operands must have the same shape.
    #[error(
        "{what} is {} rows of {} bits where {} of {} were expected; give operands of one width and as many rows",
        .found.1, .found.0, .expected.1, .expected.0
    )]
    Operand {
        /// The operand that has another shape.
        what: &'static str,
        /// The bits and rows that it should have.
        expected: (usize, usize),
        /// The bits and rows that it has.
        found: (usize, usize),
    },
}

impl Shares {
    /// Shares of a public value: `x_0` is the value, the others are zero.
    #[must_use]
    pub fn public(role: Role, value: &[u8]) -> Shares {
        let mut s = Rep3 { own: pool::zeros(value.len()), next: pool::zeros(value.len()) };
        match role.constant_slot() {
            Some(0) => s.own.copy_from_slice(value),
            Some(_) => s.next.copy_from_slice(value),
            None => {}
        }
        s
    }

    /// The length of the shared value in bytes.
    #[must_use]
    pub fn len(&self) -> usize {
        self.own.len()
    }

    /// Whether the shared value is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.own.is_empty()
    }

    /// `own ‖ next`.
    #[must_use]
    pub fn to_bytes(&self) -> Wiped<Vec<u8>> {
        let mut out = Wiped::new(Vec::with_capacity(2 * self.len()));
        out.extend_from_slice(&self.own);
        out.extend_from_slice(&self.next);
        out
    }

    /// The share of a value of `len` bytes from [`Shares::to_bytes`].
    ///
    /// # Errors
    /// [`ShareError::Length`] unless there are `2 · len` bytes.
    pub fn from_bytes(bytes: &[u8], len: usize) -> Result<Shares, ShareError> {
        if bytes.len() != 2 * len {
            return Err(ShareError::Length { what: "the share", expected: 2 * len, found: bytes.len() });
        }
        Ok(Rep3 { own: bytes[..len].to_vec(), next: bytes[len..].to_vec() })
    }

    pub(crate) fn pair(&self) -> [&[u8]; 2] {
        [&self.own, &self.next]
    }
}

/// Computes `a ^= b`; the lengths must be equal.
pub fn xor_into(a: &mut [u8], b: &[u8]) {
    assert_eq!(a.len(), b.len());
    for (a, b) in a.iter_mut().zip(b) {
        *a ^= b;
    }
}

/// A dealer's shares of a value, for tests and benchmarks: the dealer sees all three parties'
/// shares. In a session an input comes through [`Batch::share`](crate::Batch::share) or from an
/// [`Owner`](crate::Owner). Two of the `x_i` come from `prg`; the third is the difference from the
/// value.
#[must_use]
pub fn share(prg: &mut Prg, value: &[u8]) -> [Shares; 3] {
    let (mut x0, mut x1, mut x2) = (vec![0; value.len()], vec![0; value.len()], value.to_vec());
    prg.fill(&mut x0);
    prg.fill(&mut x1);
    xor_into(&mut x2, &x0);
    xor_into(&mut x2, &x1);
    let shares = [
        Rep3 { own: x0.clone(), next: x1.clone() },
        Rep3 { own: x1.clone(), next: x2.clone() },
        Rep3 { own: x2.clone(), next: x0.clone() },
    ];
    for mut x in [x0, x1, x2] {
        x.wipe();
    }
    shares
}

/// The value of the three parties' `own` shares, for a recipient outside the parties.
///
/// # Errors
/// [`ShareError::Length`] if they differ in length.
pub fn open(own: [&[u8]; 3]) -> Result<Vec<u8>, ShareError> {
    let expected = own[0].len();
    let mut value = own[0].to_vec();
    for x in &own[1..] {
        if x.len() != expected {
            return Err(ShareError::Length {
                what: "a party's share of the result",
                expected,
                found: x.len(),
            });
        }
        xor_into(&mut value, x);
    }
    Ok(value)
}
