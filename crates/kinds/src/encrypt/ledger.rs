//! The counter ranges that were used under a key. In counter mode, using a counter twice reveals
//! both plaintexts.

use hushwire_session::Iv;
use serde::{Deserialize, Serialize};
use time::{OffsetDateTime, format_description::well_known::Rfc3339};

/// The key id of a key that is not kept in the directory.
pub(super) const GIVEN: &str = "given";

/// Everything that was encrypted with the key of one directory.
#[derive(Clone, Default, Debug, PartialEq, Serialize, Deserialize)]
pub struct Ledger {
    /// The key that the directory keeps, if it keeps one.
    pub key_id: Option<String>,
    /// Whether counters were used that are not known any more.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub history_lost: bool,
    /// The ranges that were used, oldest first.
    pub ranges: Vec<CounterRange>,
}

/// The counters `iv`, `iv + 1`, …, `iv + blocks - 1`, modulo 2^128.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CounterRange {
    /// The first counter.
    pub iv: Iv,
    /// The number of blocks.
    pub blocks: u64,
    /// The length of the input.
    pub bytes: u64,
    /// The ciphertext's absolute path.
    pub out: String,
    /// The time of the entry, in UTC.
    pub date: String,
    /// The key: an id, or `given` for one that the directory does not keep.
    pub key_id: String,
    /// Whether `out` was written. Ranges are reserved before they are used.
    pub written: bool,
    /// The BLAKE3 digest of the ciphertext, once it is written. Ledgers of earlier versions have
    /// none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
}

/// A ciphertext whose initial counter is looked up.
pub(super) struct Wanted<'a> {
    /// The absolute path of the file.
    pub(super) name: &'a str,
    /// The length of the file in bytes.
    pub(super) bytes: u64,
    /// BLAKE3 of its content, as hexadecimal digits.
    pub(super) digest: &'a str,
    /// The key at hand, by the name that ranges use.
    pub(super) key_id: &'a str,
}

/// Tests whether `n` counters from `a` and `m` counters from `b` have one in common, modulo 2^128.
fn overlap(a: u128, n: u64, b: u128, m: u64) -> bool {
    n > 0 && m > 0 && (b.wrapping_sub(a) < u128::from(n) || a.wrapping_sub(b) < u128::from(m))
}

/// The reason why a file's initial counter was not found.
#[derive(Debug, PartialEq)]
pub(super) enum NoIv {
    /// The ledger is empty.
    Empty,
    /// The file was encrypted under another key than the one at hand.
    OtherKey(Box<CounterRange>),
    /// The file of this name was written by a run, and has changed since.
    Changed(Box<CounterRange>),
    /// No encrypted file had this content.
    Unknown,
}

impl Ledger {
    /// The first range that overlaps `blocks` counters from `iv`. Ranges under other keys count as
    /// well: an imported key may be one that was given earlier.
    pub(super) fn clash(&self, iv: Iv, blocks: u64) -> Option<&CounterRange> {
        self.ranges.iter().find(|range| overlap(range.iv.0, range.blocks, iv.0, blocks))
    }

    /// The initial counter of a ciphertext. A ciphertext is found by its content, whatever its
    /// name. If an earlier version recorded no digest, it is found by name and length.
    ///
    /// # Errors
    /// No range belongs to the file, or only one under another key.
    pub(super) fn find(&self, file: &Wanted<'_>) -> Result<Iv, NoIv> {
        let written = || self.ranges.iter().rev().filter(|range| range.written && range.bytes == file.bytes);
        let same = written().find(|range| range.digest.as_deref() == Some(file.digest));
        let named = || written().find(|range| range.out == file.name);
        match same.or_else(|| named().filter(|range| range.digest.is_none())) {
            Some(range) if range.key_id == file.key_id => return Ok(range.iv),
            Some(range) => return Err(NoIv::OtherKey(Box::new(range.clone()))),
            None => {}
        }
        let named = self.ranges.iter().rev().find(|range| range.written && range.out == file.name);
        match named {
            Some(range) => Err(NoIv::Changed(Box::new(range.clone()))),
            None if self.ranges.is_empty() => Err(NoIv::Empty),
            None => Err(NoIv::Unknown),
        }
    }
}

/// The time now, such as `2026-01-31T23:59:59Z`.
pub(super) fn now() -> String {
    OffsetDateTime::now_utc().truncate_to_second().format(&Rfc3339).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashSet;

    fn range(iv: u128, blocks: u64, out: &str, key_id: &str) -> CounterRange {
        let (out, key_id) = (out.to_owned(), key_id.to_owned());
        CounterRange {
            iv: Iv(iv),
            blocks,
            bytes: 16 * blocks,
            out,
            date: now(),
            key_id,
            written: true,
            digest: None,
        }
    }

    fn counters(a: u128, n: u64) -> HashSet<u128> {
        (0..n).map(|i| a.wrapping_add(u128::from(i))).collect()
    }

    #[test]
    fn edges() {
        assert!(!overlap(0, 0, 0, 5) && !overlap(0, 5, 0, 0));
        assert!(overlap(7, 1, 7, 1));
        assert!(!overlap(0, 5, 5, 5) && overlap(0, 6, 5, 5));
        assert!(overlap(u128::MAX, 2, 0, 1) && !overlap(u128::MAX, 1, 0, 1));
        assert!(overlap(5, u64::MAX, 5 + u128::from(u64::MAX) - 1, 1));
        assert!(!overlap(5, u64::MAX, 5 + u128::from(u64::MAX), 1));
    }

    proptest! {
        #[test]
        fn agrees_with_counting(base: u128, da in 0u128..40, n in 0u64..20, db in 0u128..40, m in 0u64..20) {
            for base in [base, 0, u128::MAX - 20] {
                let (a, b) = (base.wrapping_add(da), base.wrapping_add(db));
                let naive = !counters(a, n).is_disjoint(&counters(b, m));
                prop_assert_eq!(overlap(a, n, b, m), naive);
                prop_assert_eq!(overlap(b, m, a, n), naive);
            }
        }
    }

    #[test]
    fn clashes_are_found_in_any_range() {
        let ranges = vec![range(0, 4, "a", "k"), range(100, 4, "b", GIVEN)];
        let ledger = Ledger { ranges, ..Ledger::default() };
        assert_eq!(ledger.clash(Iv(103), 1).map(|r| r.out.as_str()), Some("b"));
        assert!(ledger.clash(Iv(4), 96).is_none());
        assert!(ledger.clash(Iv(u128::MAX), 2).is_some());
    }

    #[test]
    fn the_counter_of_a_file_is_found_by_its_content() {
        let mut ledger = Ledger::default();
        let find =
            |ledger: &Ledger, name, digest, key_id| ledger.find(&Wanted { name, bytes: 64, digest, key_id });
        let with =
            |iv, out, digest: &str| CounterRange { digest: Some(digest.into()), ..range(iv, 4, out, "k") };
        assert_eq!(find(&ledger, "a", "1", "k"), Err(NoIv::Empty));
        ledger.ranges.push(with(1, "a", "1"));
        ledger.ranges.push(with(90, "a", "2"));
        assert_eq!(find(&ledger, "a", "2", "k"), Ok(Iv(90)));
        assert_eq!(find(&ledger, "a", "1", "k"), Ok(Iv(1)), "put back after it was replaced");
        assert_eq!(find(&ledger, "moved", "1", "k"), Ok(Iv(1)));
        assert!(matches!(find(&ledger, "a", "1", GIVEN), Err(NoIv::OtherKey(_))));
        assert!(matches!(find(&ledger, "a", "3", "k"), Err(NoIv::Changed(range)) if range.iv == Iv(90)));
        assert_eq!(find(&ledger, "b", "3", "k"), Err(NoIv::Unknown));
        ledger.ranges.push(CounterRange { written: false, ..with(130, "a", "4") });
        assert_eq!(find(&ledger, "a", "2", "k"), Ok(Iv(90)), "a run that failed replaced nothing");
    }

    #[test]
    fn ranges_of_earlier_versions_are_found_by_name_and_length() {
        let old = r#"{"key_id":"k","ranges":[{"iv":"00000000000000000000000000000001","blocks":4,"bytes":64,
            "out":"a","date":"","key_id":"k","written":true}]}"#;
        let ledger: Ledger = serde_json::from_str(old).unwrap_or_else(|e| panic!("{e}"));
        let find = |name, bytes| ledger.find(&Wanted { name, bytes, digest: "1", key_id: "k" });
        assert_eq!(find("a", 64), Ok(Iv(1)));
        assert!(matches!(find("a", 63), Err(NoIv::Changed(_))));
        assert_eq!(find("b", 64), Err(NoIv::Unknown));
        assert!(!serde_json::to_string(&ledger).unwrap_or_default().contains("history_lost"));
    }
}
