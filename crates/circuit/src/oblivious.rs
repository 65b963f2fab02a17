//! Sorts secret values on one machine with the network of [`crate::sort`]: steps and memory
//! accesses depend only on the number of values.

use crate::sort::merge_exchange;
use subtle::{Choice, ConditionallySelectable};

/// Values that can be sorted this way. Comparisons become flags, never branches.
pub trait Sortable {
    /// Puts the smaller one first.
    fn exchange(first: &mut Self, second: &mut Self);
}

macro_rules! numbers {
    ($($type:ty),+) => {$(
        impl Sortable for $type {
            fn exchange(first: &mut Self, second: &mut Self) {
                let swap = Choice::from(u8::from(*second < *first));
                Self::conditional_swap(first, second, swap);
            }
        }
    )+};
}
numbers!(u64, u128);

/// Ordered by the first number; the second number moves with it.
impl Sortable for (u128, u128) {
    fn exchange(first: &mut Self, second: &mut Self) {
        let swap = Choice::from(u8::from(second.0 < first.0));
        u128::conditional_swap(&mut first.0, &mut second.0, swap);
        u128::conditional_swap(&mut first.1, &mut second.1, swap);
    }
}

/// Sorts in ascending order with about n log²(n) / 4 exchanges.
pub fn sort<T: Sortable>(values: &mut [T]) {
    merge_exchange(values.len(), |column| {
        for (low, high) in column.pairs() {
            // `low < high` in every exchange.
            let (left, right) = values.split_at_mut(high);
            T::exchange(&mut left[low], &mut right[0]);
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::cell::Cell;

    thread_local!(static EXCHANGES: Cell<u64> = const { Cell::new(0) });

    /// A number that counts its comparisons.
    struct Counted(u64);

    impl Sortable for Counted {
        fn exchange(first: &mut Self, second: &mut Self) {
            EXCHANGES.set(EXCHANGES.get() + 1);
            u64::exchange(&mut first.0, &mut second.0);
        }
    }

    proptest! {
        #[test]
        fn values_are_sorted(mut values in proptest::collection::vec(any::<u64>(), 0..80)) {
            let mut pairs: Vec<(u128, u128)> = values.iter().map(|v| ((*v).into(), (!v).into())).collect();
            let mut long: Vec<u128> = values.iter().map(|v| u128::from(*v) << 64 | 7).collect();
            let mut found = values.clone();
            sort(&mut found);
            sort(&mut pairs);
            sort(&mut long);
            values.sort_unstable();
            prop_assert_eq!(&found, &values);
            prop_assert!(long.iter().map(|v| (v >> 64) as u64).eq(values.iter().copied()));
            prop_assert!(pairs.iter().map(|(_, v)| !(*v as u64)).eq(values));
        }

        #[test]
        fn work_depends_on_the_number_alone(n in 0usize..50, seed: u64) {
            let count = |value: &dyn Fn(u64) -> u64| {
                EXCHANGES.set(0);
                let mut values: Vec<Counted> = (0..n as u64).map(|i| Counted(value(i))).collect();
                sort(&mut values);
                EXCHANGES.get()
            };
            let sorted = count(&|i| i);
            prop_assert_eq!(count(&|i| !i), sorted);
            prop_assert_eq!(count(&|i| i.wrapping_mul(seed)), sorted);
        }
    }
}
