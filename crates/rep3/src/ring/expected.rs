//! The likely cost of a sort, for predictions. A sort opens the order of a random permutation, so
//! the cost for one such permutation is a good estimate.

use super::{keys::string_bits, permute::permute_cost, ranking::likely_levels, sort::narrow_rounds};
use crate::Role;
use hushwire_machine::Cost;

/// The likely cost of a sort of `rows` rows by keys of `keys` bits in all, with levels that are
/// wide from `wide` pairs on. [`sort_bound`](super::sort_bound) is a bound that hardly any run
/// exceeds.
#[must_use]
pub fn sort_expected(role: Role, rows: usize, keys: usize, wide: usize) -> Cost {
    if rows < 2 {
        return Cost::default();
    }
    let width = string_bits(rows, keys);
    let mut cost = permute_cost(role, false, rows * 4 * width.div_ceil(32));
    for pairs in likely_levels(rows) {
        // The costs of wide and of narrow levels are those that the module `sort` states.
        let (rounds, bits) =
            if pairs < wide { (narrow_rounds(width), 3 * width + 1) } else { (width as u64 + 1, width + 1) };
        cost.rounds += rounds;
        cost.bytes_sent += (bits as u64 * pairs as u64).div_ceil(8);
    }
    cost
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ring::{Sort, WIDE, sort_bound, test_support::parties};
    use hushwire_machine::drive::Lockstep;

    /// Rows without keys are sorted by their numbers, in shuffled order, which is as good as any
    /// order.
    #[test]
    fn a_sort_costs_about_what_is_expected() {
        let mut parties = parties();
        for (rows, wide) in
            [(2, WIDE), (9, WIDE), (100, WIDE), (3000, WIDE), (40_000, WIDE), (40_000, 1 << 20), (3000, 9)]
        {
            let mut machines = parties
                .each_mut()
                .map(|party| Sort::wide_from(party.next_batch().unwrap(), rows, &[], wide).unwrap());
            let mut spent = Cost::default();
            Lockstep::new()
                .run_edited(&mut machines, |place, message| {
                    spent.rounds = spent.rounds.max(place.round as u64 + 1);
                    spent.bytes_sent += if place.party == 0 { message.len() as u64 } else { 0 };
                })
                .unwrap();
            let (likely, bound) =
                (sort_expected(Role::ALL[0], rows, 0, wide), sort_bound(Role::ALL[0], rows, 0, wide));
            for (spent, likely, bound) in [
                (spent.rounds, likely.rounds, bound.rounds),
                (spent.bytes_sent, likely.bytes_sent, bound.bytes_sent),
            ] {
                assert!(spent <= 2 * likely + 16 && likely <= 2 * spent + 16, "{rows}: {likely} for {spent}");
                assert!(likely <= bound, "{rows}: {likely} beyond {bound}");
            }
        }
    }
}
