//! Finds different keys by sorting digests.

use super::TableKeys;
use zeroize::{Zeroize, Zeroizing};

/// The index of a row without a key.
const NONE: u32 = u32::MAX;

/// The different keys of a table as digests, in the order of their first occurrence, and the key of
/// each row.
///
/// Digests replace the keys: 32 bytes each whatever a key's length, and the text is not kept. They
/// are compared by sorting their first eight bytes, which takes 16 bytes a row for that time. The
/// set is wiped when dropped. Time and addresses depend on the keys, which are the caller's own.
#[derive(Default)]
pub struct Set<D: Zeroize> {
    items: Zeroizing<Vec<D>>,
    /// The number of items, even after they were given away.
    count: usize,
    of_row: Zeroizing<Vec<u32>>,
}

impl<D: Copy + Ord + AsRef<[u8]> + Zeroize> Set<D> {
    /// The set of all keys under a collision-free digest: equal digests mean equal keys.
    pub fn new(keys: TableKeys, mut digest: impl FnMut(&[u8]) -> D) -> Self {
        Self::by(keys, |keys, out| out.extend(keys.map(&mut digest)))
    }

    /// [`Set::new`] that keeps the keys.
    pub fn of(keys: &TableKeys, mut digest: impl FnMut(&[u8]) -> D) -> Self {
        Self::of_by(keys, |keys, out| out.extend(keys.map(&mut digest)))
    }

    /// [`Set::new`] with a function that appends the digests of many keys, in order.
    ///
    /// # Panics
    /// If it does not append one digest for each key (the caller's bug).
    pub fn by(
        keys: TableKeys,
        mut digests: impl FnMut(&mut dyn Iterator<Item = &[u8]>, &mut Vec<D>),
    ) -> Self {
        let mut set = Self::with_room(&keys);
        keys.drain(|rows| set.push(rows, &mut digests));
        set.unify();
        set
    }

    /// [`Set::by`] that keeps the keys.
    ///
    /// # Panics
    /// As [`Set::by`].
    pub fn of_by(
        keys: &TableKeys,
        mut digests: impl FnMut(&mut dyn Iterator<Item = &[u8]>, &mut Vec<D>),
    ) -> Self {
        let mut set = Self::with_room(keys);
        set.push(&mut keys.each(), &mut digests);
        set.unify();
        set
    }

    fn with_room(keys: &TableKeys) -> Self {
        Self { items: room(keys.keyed()), count: 0, of_row: room(keys.rows()) }
    }

    fn push(
        &mut self,
        rows: &mut dyn Iterator<Item = Option<&[u8]>>,
        digests: &mut impl FnMut(&mut dyn Iterator<Item = &[u8]>, &mut Vec<D>),
    ) {
        let (of_row, mut next) = (&mut self.of_row, self.items.len() as u32);
        let mut keyed = rows.filter_map(|key| {
            of_row.push(if key.is_some() { next } else { NONE });
            next += u32::from(key.is_some());
            key
        });
        digests(&mut keyed, &mut self.items);
        // The function may stop after the last key, and rows without a key may follow it.
        assert!(keyed.next().is_none(), "it takes all keys");
        assert_eq!(self.items.len(), next as usize, "a digest of each key");
    }

    /// Keeps the first of equal digests, and counts the different ones.
    fn unify(&mut self) {
        self.drop_equal();
        self.count = self.items.len();
    }

    fn drop_equal(&mut self) {
        let mut order = room(self.items.len());
        order.extend(self.items.iter().zip(0u32..).map(|(item, i)| (start(item), i)));
        order.sort_unstable();
        if order.is_sorted_by(|(a, _), (b, _)| a < b) {
            return;
        }
        // For each item, the index of the first equal one; then that one's index among the items
        // that stay.
        let mut first: Zeroizing<Vec<u32>> = room(self.items.len());
        first.extend(0..self.items.len() as u32);
        for run in order.chunk_by_mut(|a, b| a.0 == b.0).filter(|run| run.len() > 1) {
            run.sort_unstable_by_key(|(_, i)| (self.items[*i as usize], *i));
            for same in run.chunk_by(|a, b| self.items[a.1 as usize] == self.items[b.1 as usize]) {
                same.iter().for_each(|(_, i)| first[*i as usize] = same[0].1);
            }
        }
        drop(order);
        let mut count = 0;
        for i in 0..first.len() {
            let leader = first[i] as usize;
            if leader == i {
                self.items[count as usize] = self.items[i];
                first[i] = count;
                count += 1;
            } else {
                first[i] = first[leader];
            }
        }
        self.items.truncate(count as usize);
        for place in self.of_row.iter_mut().filter(|place| **place != NONE) {
            *place = first[*place as usize];
        }
    }

    /// The digests of the different keys.
    #[must_use]
    pub fn items(&self) -> &[D] {
        &self.items
    }

    /// The number of rows of the table.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.of_row.len()
    }

    /// The index of each row's key among the items, row by row.
    pub fn by_row(&self) -> impl Iterator<Item = Option<usize>> {
        self.of_row.iter().map(|place| (*place != NONE).then_some(*place as usize))
    }

    /// Whether each row's key is found, given whether each item is; false if a row has no key.
    ///
    /// # Panics
    /// If there are fewer flags than items (the caller's bug).
    #[must_use]
    pub fn flags(&self, found: &[bool]) -> Vec<bool> {
        assert_eq!(found.len(), self.count, "a flag for each item");
        self.by_row().map(|item| item.is_some_and(|item| found[item])).collect()
    }

    /// The number of different keys.
    #[must_use]
    pub fn count(&self) -> usize {
        self.count
    }

    /// Gives the digests to a protocol that takes ownership, and must wipe them; the rows stay.
    #[must_use]
    pub fn take_items(&mut self) -> Vec<D> {
        std::mem::take(&mut *self.items)
    }
}

/// A vector with its final capacity, since growing would leave copies behind.
fn room<T: Zeroize>(count: usize) -> Zeroizing<Vec<T>> {
    Zeroizing::new(Vec::with_capacity(count))
}

/// The first eight bytes of a digest.
fn start<D: AsRef<[u8]>>(digest: &D) -> u64 {
    digest.as_ref().first_chunk().map_or(0, |bytes| u64::from_be_bytes(*bytes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashMap;

    /// A digest with few values in its first eight bytes, so that runs of equal ones contain
    /// different keys.
    fn weak(key: &[u8]) -> [u8; 32] {
        let mut digest = *blake3::hash(key).as_bytes();
        let start = digest[8] & 3;
        digest[..8].copy_from_slice(&[0, 0, 0, 0, 0, 0, 0, start]);
        digest
    }

    fn strong(key: &[u8]) -> [u8; 32] {
        *blake3::hash(key).as_bytes()
    }

    proptest! {
        /// Against a hash map: each key once, in the order of first occurrence, and each row's own
        /// key.
        #[test]
        fn sets_are_those_of_a_map(texts in prop::collection::vec("[a-c]{0,3}", 0..60)) {
            let (mut places, mut order, mut rows) = (HashMap::new(), vec![], vec![]);
            for text in &texts {
                rows.push((!text.is_empty()).then(|| {
                    *places.entry(text).or_insert_with(|| { order.push(text); order.len() - 1 })
                }));
            }
            for digest in [weak, strong] {
                let keys = TableKeys::of(&texts);
                prop_assert_eq!(keys.keyed(), texts.iter().filter(|t| !t.is_empty()).count());
                let set = Set::of(&keys, digest);
                prop_assert_eq!(set.by_row().collect::<Vec<_>>(), rows.clone());
                prop_assert_eq!(set.items().len(), order.len());
                let firsts = order.iter().map(|text| {
                    digest(keys.each().flatten().find(|key| TableKeys::fields(key) == [text.as_str()]).expect("it is there"))
                });
                prop_assert_eq!(set.items().to_vec(), firsts.collect::<Vec<_>>());
                let found: Vec<bool> = (0..order.len()).map(|i| i % 2 == 0).collect();
                let flags: Vec<bool> = rows.iter().map(|row| row.is_some_and(|row| row % 2 == 0)).collect();
                prop_assert_eq!(Set::new(keys, digest).flags(&found), flags);
            }
        }
    }

    #[test]
    fn rows_behind_the_last_key_that_is_taken_count() {
        let keys = TableKeys::of(["a", "b", "", "a", "", ""]);
        // It takes the three keys, and never sees the end.
        let set = Set::of_by(&keys, |keys, out| out.extend(keys.take(3).map(strong)));
        assert_eq!(set.by_row().collect::<Vec<_>>(), [Some(0), Some(1), None, Some(0), None, None]);
    }

    #[test]
    #[should_panic(expected = "it takes all keys")]
    fn a_key_without_a_digest_is_a_panic() {
        Set::of_by(&TableKeys::of(["a", "b"]), |keys, out| out.extend(keys.take(1).map(strong)));
    }

    #[test]
    fn keys_longer_than_a_block_and_many_blocks_are_kept() {
        let long = "x".repeat(3 << 20);
        let texts: Vec<String> =
            (0..90_000).map(|i| format!("{i:040}")).chain([long.clone(), long]).collect();
        let keys = TableKeys::of(&texts);
        assert!(
            keys.each()
                .flatten()
                .map(TableKeys::fields)
                .zip(&texts)
                .all(|(fields, text)| fields == [text.as_str()])
        );
        let set = Set::new(keys, strong);
        assert_eq!((set.rows(), set.items().len()), (90_002, 90_001));
    }
}
