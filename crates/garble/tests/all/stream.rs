//! Streams of garbled tables from a peer that sends arbitrary bytes.

use crate::streams::{HEAD, fed, whole};
use hushwire_testkit::mutated;

#[test]
fn tables_of_any_bytes_and_any_length_are_used_or_refused() {
    let mut good = vec![];
    for scheme in 0..6 {
        for instances in [0, 7, 18, 0x80, 0x88] {
            let head = [scheme, instances, 3];
            let tables = whole(&head) as usize;
            good.push([&head[..], &vec![scheme; tables]].concat());
            good.push([&head[..], &vec![0x5a; tables + 1]].concat());
            good.push([&[scheme, instances, 0][..], &vec![0x5a; tables - 1]].concat());
        }
    }
    let good: Vec<&[u8]> = good.iter().map(Vec::as_slice).collect();
    mutated(1, &good, 4000).for_each(|bytes| fed(&bytes));
    (0..=HEAD).for_each(|n| fed(&[0; HEAD][..n]));
}
