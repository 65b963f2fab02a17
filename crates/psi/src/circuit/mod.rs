//! Intersection whose items stay hidden: its size, or the sum of a number that the receiver has for
//! each item.
//!
//! **Functionality.** Receiver and sender bring sets of items as digests; for sums, the receiver
//! also brings a number for each → the result that [`Reveal`] names, and nothing else.
//!
//! **Paper.** Pinkas, Schneider, Tkachenko, Yanai, "Efficient circuit-based PSI with linear
//! communication", EUROCRYPT 2019, Fig. 3, with the programmable oblivious PRF of Rindal and
//! Schoppmann, "VOLE-PSI", EUROCRYPT 2021, section 6: a store of masked values in the clear.
//!
//! ```text
//! R         a cuckoo table: each item x is in one of three bins, by the hash function j that
//!           put it there
//! R ──► S   as in a plain intersection (`crate::plain`) of items (x, j): R gets F(x, j), S gets F
//! S         for each bin i a random r_i; a store of (y, j) → F(y, j) ⊕ r_i, i = h_j(y), for
//!           j = 1, 2, 3
//! S ──► R   the store; its free entries are random
//! R         for bin i the store's value of (x, j), ⊕ F(x, j): r_i if S has x, otherwise random
//! GMW       compares it with r_i in every bin: flags, or their number; to add up numbers v, also
//!           shares of flags
//! OT        Σ flag · v, from shares of flags: the receiver knows the number v of each bin
//!           (`sum.rs`)
//! ```
//!
//! **Deviations.** There is no stash: a table has 1.27 bins an item (for at least 4096 items). If
//! the items do not fit, it is tried again with other evictions. It fails with probability at most
//! 2^−40, according to the experiments of that paper. Counts of bins are opened under masks, and
//! only their sum is unmasked.
//!
//! **Security.** Semi-honest, one corrupted party: the security of the VOLE, of [`hushwire_gmw`]
//! and of the hash as in [`crate::plain`]. S sees only A'. The store's values are masked by F at
//! places that R cannot evaluate except for common items. There it gets r_i, which is random, once
//! a bin. A bin whose item S does not have matches with probability 2^−(40 + log bins). Both
//! parties learn the sizes of both sets.
//!
//! **Notation.** r: 64 bits, of which ℓ = 40 + ⌈log bins⌉ are compared; v: 64 bits; bins: β.
//!
//! **Rounds and bytes.** A' of a plain intersection, 8 bytes for each of 1.25 n_R entries; the
//! store, 8 bytes for each of 3.8 n_S entries; ANDs by GMW, ℓ a bin
//! ([`hushwire_gmw::circuit_cost`]); for sums, an OT and 8 more bytes a bin.
//!
//! **Constant time.** As for [`crate::plain`]; the table's evictions depend on digests.

mod opprf;
mod program;
mod session;
mod sum;
mod table;
#[cfg(test)]
mod tests;

pub use session::{Outcome, receive, send};

use crate::okvs::Layout;
use crate::{PsiError, Store};

/// The result, and the parties that learn it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Reveal {
    /// Both learn the number of common items.
    Size,
    /// The receiver learns which of its items are common.
    Flags,
    /// Both learn the number of common items, and the sum of the receiver's numbers for them modulo
    /// 2^64.
    Sum,
}

/// The terms of one intersection. AGREEMENT.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Parameters {
    /// The number of the receiver's items, or a bound on it.
    pub receiver_items: usize,
    /// The number of the sender's items, or a bound on it.
    pub sender_items: usize,
    /// The result.
    pub reveal: Reveal,
    /// The kind of both stores.
    pub store: Store,
}

/// SECURITY: the largest number of a party's items. Each is evaluated at three places in a 64-bit
/// field. The probability of 3 · 2^−64 for each stays below 2^−40 in total.
pub const MOST_ITEMS: usize = 5_500_000;
/// SECURITY: a smaller set of the receiver gets a table for this number of items.
const FEWEST: usize = 4096;

impl Parameters {
    fn is_empty(&self) -> bool {
        self.receiver_items == 0 || self.sender_items == 0
    }

    /// β, the number of bins, a multiple of the bins of one instance.
    fn bins(&self) -> usize {
        let items = self.receiver_items.max(FEWEST);
        (items + items.div_ceil(100) * 27).next_multiple_of(program::GROUP)
    }

    /// ℓ, the number of bits that are compared in a bin.
    #[must_use]
    pub fn width(&self) -> usize {
        40 + self.bins().next_power_of_two().ilog2() as usize
    }

    /// The number of AND gates of the comparison.
    #[must_use]
    pub fn ands(&self) -> u64 {
        if self.is_empty() {
            0
        } else {
            program::program(self).0.ands() * (self.bins() / program::GROUP) as u64
        }
    }

    /// The store of the receiver's items.
    fn asked(&self) -> Layout {
        Layout::new(self.store, self.receiver_items)
    }

    /// The store of the sender's values.
    fn told(&self) -> Layout {
        Layout::new(self.store, table::HASHES * self.sender_items)
    }

    fn check(&self, own: usize, agreed: usize) -> Result<(), PsiError> {
        let most = self.receiver_items.max(self.sender_items);
        let (whose, count, most, remedy) = if own > agreed {
            ("this party has", own, agreed, "agree on a larger number")
        } else if most > MOST_ITEMS {
            let remedy = "split the sets by a first letter or another public rule, and intersect the parts";
            ("a party has", most, MOST_ITEMS, remedy)
        } else {
            return Ok(());
        };
        let what = "this intersection";
        Err(PsiError::TooLarge { whose: whose.into(), count: count as u64, what, most: most as u64, remedy })
    }
}
