//! The number of items that a deviating receiver can try in the malicious mode.
//!
//! Its message A' is u + P for a vector P of its choice, which has an element of B = GF(2^128) for
//! each of the store's m entries. An item x of the sender is found iff row(x) · P = h(x), where h
//! is a random oracle. The simulator takes as the receiver's set all items that were hashed and
//! fulfil this equation (Rindal and Schoppmann, "VOLE-PSI", EUROCRYPT 2021, section 4; Garimella et
//! al., CRYPTO 2021, section 6, call it overfitting).
//!
//! ```text
//! solved   m: the number of equations that can be solved at will
//! most     k such that among q = 2^40 hashed items no k + 1 fulfil theirs, except with
//!          probability 2^−40: rows of k + 1 items have rank at most m, and h hits the image with
//!          probability 2^(−128 (k + 1 − m)); the union over the sets gives
//!          C(q, k + 1) · 2^(−128 (k + 1 − m)) ≤ 2^−40
//! ```
//! More than m items fulfil their equations only by coincidences among hashes, and no faster way is
//! known than to search for them. The second number needs no such assumption. The receiver hashes
//! under the session's name, so it can search only while the run waits for A'.

use super::MOST_ITEMS;
use crate::{Store, okvs::Layout};

/// log2 of the number of items that the receiver hashes in a session.
pub const LOG_HASHED: u32 = 40;
/// SECURITY: the number of bits of h.
const BITS: f64 = 128.0;
/// SECURITY: the failure probability is 2^−STATISTICAL.
const STATISTICAL: f64 = 40.0;

/// The numbers of items that a deviating receiver can try.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Tries {
    /// The items that it brings by solving equations.
    pub solved: u64,
    /// The largest number of items, except with probability 2^−40, if it hashes 2^40 items.
    pub most: u64,
}

/// The numbers for a receiver that agreed on `items`, in an intersection that withstands malicious
/// parties.
#[must_use]
pub fn tries(store: Store, items: u64) -> Tries {
    if items == 0 {
        return Tries { solved: 0, most: 0 };
    }
    let solved = Layout::new(store, items.min(MOST_ITEMS as u64) as usize).entries() as u64;
    // Whether chance fails to give k + 1 items.
    let is_bound = |k: u64| {
        let (sets, more) = ((k + 1) as f64, (k + 1 - solved) as f64);
        f64::from(LOG_HASHED) * sets - log2_factorial(sets) - BITS * more <= -STATISTICAL
    };
    let (mut low, mut high) = (solved, 2 * solved + 1);
    while low < high {
        let middle = low.midpoint(high);
        if is_bound(middle) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    Tries { solved, most: low }
}

/// A lower bound on log2 n!.
fn log2_factorial(n: f64) -> f64 {
    if n < 2.0 { 0.0 } else { n * (n / core::f64::consts::E).log2() }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The table in `docs/internals/security-intersections.md` has the numbers that the code
    /// computes.
    #[test]
    fn the_table_of_security_is_computed() {
        let mut table = String::new();
        for items in
            [1, 2, 5, 10, 30, 100, 191, 192, 300, 1000, 8191, 8192, 100_000, 1 << 20, 10_000_000, 1 << 28]
        {
            let [clustered, band] = [Store::Clustered, Store::Band].map(|store| tries(store, items));
            let (a, b, c, d) = (clustered.solved, clustered.most, band.solved, band.most);
            table += &format!("  | {items} | {a} | {b} | {c} | {d} |\n");
        }
        let page = include_str!("../../../../docs/internals/security-intersections.md");
        assert!(page.contains(&table), "the page is to have:\n{table}");
    }

    #[test]
    fn the_bound_holds_at_its_edge_and_not_before() {
        let chance = |solved: u64, count: u64| {
            let factorial: f64 = (2..=count).map(|i| (i as f64).log2()).sum();
            f64::from(LOG_HASHED) * count as f64 - factorial - BITS * (count - solved) as f64
        };
        for store in Store::ALL {
            for items in [1, 2, 3, 10, 100, 191, 192, 1000, 10_000] {
                let Tries { solved, most } = tries(store, items);
                assert!(chance(solved, most + 1) <= -STATISTICAL, "{store}, {items}: {most}");
                // Stirling's formula is a little less than the factorial, by at most one item.
                assert!(
                    most == solved || chance(solved, most - 1) > -STATISTICAL,
                    "{store}, {items}: {most}"
                );
            }
        }
        assert_eq!(tries(Store::Clustered, 0), Tries { solved: 0, most: 0 });
        assert_eq!(tries(Store::Band, u64::MAX), tries(Store::Band, MOST_ITEMS as u64));
    }

    #[test]
    fn few_items_are_as_many_as_agreed_and_others_at_most_1_3_times_as_many() {
        for store in Store::ALL {
            assert_eq!(tries(store, 1), Tries { solved: 1, most: 1 });
            for items in (1..300).chain((1..100).map(|i| 1000 * i)).chain([1 << 28]) {
                let Tries { solved, most } = tries(store, items);
                assert!(solved == items || items >= 192, "{store}, {items}: {solved}");
                assert!(10 * solved <= 13 * items, "{store}, {items}: {solved}");
                assert!(solved <= most && 10 * most <= 18 * items.max(2), "{store}, {items}: {most}");
            }
        }
    }
}
