//! Places one party's values in its tables.

use crate::salt::Salt;
use hushwire_circuit::phasing::PhasingTables;
use zeroize::Zeroizing;

/// The hash index of an empty place, in the two bits above a value's high ones.
const EMPTY: u128 = 3;

/// The values by place, for A. Wiped when dropped.
#[derive(Debug)]
pub(crate) struct Cuckoo {
    /// For each bin, the index of its value in the set.
    pub(crate) bins: Zeroizing<Vec<Option<u32>>>,
    /// The indices of the values that found no bin.
    pub(crate) stash: Zeroizing<Vec<u32>>,
}

/// The number that means no value.
const FREE: u32 = u32::MAX;

/// Places values so that the stash holds as few as possible; `None` if it would have to hold too
/// many.
///
/// Each value in turn takes the shortest path of moves to a free bin: cuckoo hashing as matching in
/// a bipartite graph. The time depends on the values.
pub(crate) fn cuckoo(values: &[u128], salt: &Salt, tables: &PhasingTables) -> Option<Cuckoo> {
    let mut stash = Zeroizing::new(Vec::with_capacity(tables.stash + 1));
    if tables.bins == 0 {
        if values.len() > tables.stash {
            return None;
        }
        stash.extend(0..values.len() as u32);
        return Some(Cuckoo { bins: Zeroizing::default(), stash });
    }
    let mut places = Zeroizing::new(Vec::with_capacity(values.len()));
    places.extend(values.iter().map(|v| salt.places(*v, tables).0));
    let mut owner = Zeroizing::new(vec![FREE; tables.bins]);
    // For search `x`: the value from which a bin was reached. The number of a search distinguishes
    // it from others.
    let mut seen = Zeroizing::new(vec![FREE; tables.bins]);
    let mut from = Zeroizing::new(vec![FREE; tables.bins]);
    // A search visits every bin once.
    let mut queue = Zeroizing::new(Vec::with_capacity(tables.bins + 1));
    for x in 0..values.len() as u32 {
        queue.clear();
        queue.push(x);
        let mut next = 0;
        let free = 'search: loop {
            let Some(value) = queue.get(next).copied() else { break None };
            next += 1;
            for bin in places[value as usize] {
                if seen[bin] != x {
                    (seen[bin], from[bin]) = (x, value);
                    if owner[bin] == FREE {
                        break 'search Some(bin);
                    }
                    queue.push(owner[bin]);
                }
            }
        };
        let Some(mut bin) = free else {
            stash.push(x);
            if stash.len() > tables.stash {
                return None;
            }
            continue;
        };
        // Each value on the path moves to the bin that it reached.
        loop {
            let value = from[bin];
            let left = places[value as usize].into_iter().find(|b| owner[*b] == value && *b != bin);
            owner[bin] = value;
            match left {
                Some(left) if value != x => bin = left,
                _ => break,
            }
        }
    }
    let mut bins = Zeroizing::new(Vec::with_capacity(tables.bins));
    bins.extend(owner.iter().map(|o| (*o != FREE).then_some(*o)));
    Some(Cuckoo { bins, stash })
}

/// A's hash table: an item for every bin.
pub(crate) fn cuckoo_items(
    cuckoo: &Cuckoo,
    values: &[u128],
    salt: &Salt,
    tables: &PhasingTables,
) -> Zeroizing<Vec<u128>> {
    let item = |(bin, value): (usize, &Option<u32>)| {
        let Some(value) = value else { return EMPTY << tables.high() };
        let (places, high) = salt.places(values[*value as usize], tables);
        // Two functions may lead to the same bin; B has an item for each.
        let index = places.iter().position(|place| *place == bin).unwrap_or_default();
        high | (index as u128) << tables.high()
    };
    Zeroizing::new(cuckoo.bins.iter().enumerate().map(item).collect())
}

/// A's stash, one item per place; 0 means an empty place.
pub(crate) fn stash_items(cuckoo: &Cuckoo, values: &[u128], tables: &PhasingTables) -> Zeroizing<Vec<u128>> {
    let mut items = Zeroizing::new(Vec::with_capacity(tables.stash));
    items.extend(cuckoo.stash.iter().map(|v| values[*v as usize]));
    items.resize(tables.stash, 0);
    items
}

/// B's hash table: every value under every function, bin by bin, each bin padded; `None` if one
/// overflows.
pub(crate) fn simple_items(
    values: &[u128],
    salt: &Salt,
    tables: &PhasingTables,
) -> Option<Zeroizing<Vec<u128>>> {
    if tables.bins == 0 {
        return Some(Zeroizing::default());
    }
    let empty = EMPTY << tables.high() | ((1 << tables.high()) - 1);
    let mut items = Zeroizing::new(vec![empty; tables.bins * tables.bin]);
    let mut filled = Zeroizing::new(vec![0; tables.bins]);
    for value in values {
        let (places, high) = salt.places(*value, tables);
        for (index, bin) in places.into_iter().enumerate() {
            if filled[bin] == tables.bin {
                return None;
            }
            items[bin * tables.bin + filled[bin]] = high | (index as u128) << tables.high();
            filled[bin] += 1;
        }
    }
    Some(items)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{stash_of, tables_of};
    use std::collections::HashSet;

    fn values(n: usize, width: usize, salt: &Salt) -> Vec<u128> {
        (0..n).map(|i| salt.value(format!("key {i}").as_bytes(), width)).collect()
    }

    #[test]
    fn every_value_is_in_one_of_its_bins_or_in_the_stash() {
        for n in [1usize, 2, 16, 17, 20, 100, 513, 1500] {
            let tables = tables_of([n, n], 80);
            let salt = Salt::new(&[n as u8; 32], 0);
            let values = values(n, 80, &salt);
            let placed = cuckoo(&values, &salt, &tables).expect("this one fits");
            assert_eq!(placed.bins.len(), tables.bins);
            let mut all: Vec<u32> =
                placed.bins.iter().flatten().chain(placed.stash.iter()).copied().collect();
            all.sort_unstable();
            assert_eq!(all, (0..n as u32).collect::<Vec<_>>());
            for (bin, value) in placed.bins.iter().enumerate() {
                let Some(value) = value else { continue };
                assert!(salt.places(values[*value as usize], &tables).0.contains(&bin));
            }
            if tables.bins > 0 {
                assert!(placed.stash.len() < 4, "few are left over: {}", placed.stash.len());
            }
        }
    }

    /// Bin, high bits and index together determine a value, so equal items mean equal values.
    #[test]
    fn items_are_values() {
        let tables = tables_of([300, 300], 60);
        let salt = Salt::new(&[1; 32], 3);
        let values = values(300, 60, &salt);
        let items = simple_items(&values, &salt, &tables).expect("bins hold");
        let mut found = HashSet::new();
        for (bin, items) in items.chunks(tables.bin).enumerate() {
            let own: HashSet<u128> = items.iter().copied().filter(|i| i >> tables.high() != EMPTY).collect();
            for item in own {
                assert!(found.insert((bin, item)), "no item twice in a bin");
                let (high, index) = (item & ((1 << tables.high()) - 1), (item >> tables.high()) as usize);
                let low = tables.width - tables.high();
                let back = (0..1u128 << low).map(|l| high << low | l);
                let back: Vec<u128> = back.filter(|v| salt.places(*v, &tables).0[index] == bin).collect();
                assert_eq!(back.len(), 1, "one value for a bin, high bits and a function");
                assert!(values.contains(&back[0]));
            }
        }
        assert_eq!(found.len(), 900, "every value under every function");
    }

    #[test]
    fn a_stash_is_filled_up_with_what_nobody_has() {
        let tables = tables_of([40, 40], 60);
        let cuckoo = Cuckoo { bins: Zeroizing::default(), stash: Zeroizing::new(vec![1]) };
        let items = stash_items(&cuckoo, &[5, 6, 7], &tables);
        assert_eq!((items[0], &items[1..]), (6, &[0; 11][..]));
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let mut tables = tables_of([40, 40], 60);
        let salt = Salt::new(&[2; 32], 0);
        let values = values(40, 60, &salt);
        let fits = simple_items(&values, &salt, &tables).expect("bins hold");
        let fullest =
            fits.chunks(tables.bin).map(|b| b.iter().filter(|i| *i >> tables.high() != EMPTY).count());
        let fullest = fullest.max().unwrap_or_default();
        tables.bin = fullest;
        assert!(simple_items(&values, &salt, &tables).is_some());
        tables.bin = fullest - 1;
        assert!(simple_items(&values, &salt, &tables).is_none());
        // With 40 values in 12 bins, 28 always remain.
        (tables.bins, tables.stash) = (12, 27);
        assert!(cuckoo(&values, &salt, &tables).is_none());
        tables.stash = 28;
        assert_eq!(cuckoo(&values, &salt, &tables).map(|c| c.stash.len()), Some(28));
    }

    /// The share of sets of 64 values that do not fit without a stash. It was measured in a million
    /// trials as 2^−6.5.
    #[test]
    fn stashes_are_needed_as_often_as_measured() {
        let mut tables = tables_of([64, 64], 60);
        assert_eq!((tables.bins, tables.stash), (77, stash_of(64)));
        tables.stash = 0;
        let fails = (0..4000u32).filter(|t| {
            let mut sid = [0; 32];
            sid[..4].copy_from_slice(&t.to_le_bytes());
            let salt = Salt::new(&sid, 0);
            cuckoo(&values(64, 60, &salt), &salt, &tables).is_none()
        });
        let fails = fails.count();
        assert!((20..80).contains(&fails), "about 44 of 4000: {fails}");
    }
}
