//! Tests of the registry: repeated uses panic, and keys, kinds, parties and records are separate.

use super::{HASH, STREAM, as_end, here, named, once, strand, used, watch};
use crate::{Block, abreast};
use std::panic::{AssertUnwindSafe, catch_unwind};

const KEY: [u8; 16] = [7; 16];

fn refused(f: impl FnOnce()) -> String {
    let panic = catch_unwind(AssertUnwindSafe(f)).expect_err("a repetition is refused");
    *panic.downcast().expect("a text")
}

#[test]
fn a_repetition_is_refused_and_both_uses_are_named() {
    let _watch = watch();
    named(&[1; 16], &KEY, "pads", 3);
    as_end(1, || {
        used(HASH, &KEY, 10, 5);
        used(HASH, &KEY, 15, 5);
        used(HASH, &KEY, 0, 10);
        used(HASH, &KEY, 30, 1);
        used(HASH, &KEY, 5, 0);
        let text = refused(|| used(HASH, &KEY, 19, 4));
        for part in ["end 1", "pads 3", "0..20", "19..23", "tweak of the hash"] {
            assert!(text.contains(part), "{part}: {text}");
        }
        for [first, count] in [[0, 1], [29, 3], [20, 11], [0, 100]] {
            refused(|| used(HASH, &KEY, first, count as usize));
        }
        used(HASH, &KEY, 20, 10);
        used(HASH, &KEY, 31, 1);
    });
}

#[test]
fn ends_strands_kinds_and_keys_are_told_apart() {
    let _watch = watch();
    for end in 0..3 {
        as_end(end, || {
            used(HASH, &KEY, 0, 8);
            used(STREAM, &KEY, 0, 8);
            used(HASH, &[8; 16], 0, 8);
            strand(1, || used(HASH, &KEY, 0, 8));
            refused(|| strand(1, || used(HASH, &KEY, 0, 8)));
            once("block", &[Block::from_u128(5), Block::from_u128(6)]);
            once("other block", &[Block::from_u128(5)]);
            assert!(refused(|| once("block", &[Block::from_u128(7), Block::from_u128(6)])).contains("block"));
        });
    }
}

#[test]
fn threads_record_for_the_end_that_started_them() {
    let watch = watch();
    as_end(2, || abreast(3, vec![0, 10, 20], |first| used(HASH, &KEY, first, 10)));
    let all = here();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            let _end = all.end(2).enter();
            refused(|| used(HASH, &KEY, 25, 1));
        });
    });
    assert_eq!(watch.uses(), 4);
}

#[test]
fn a_record_ends_and_another_begins() {
    used(HASH, &KEY, 0, 1);
    used(HASH, &KEY, 0, 1);
    for _ in 0..2 {
        let outer = watch();
        used(HASH, &KEY, 0, 1);
        {
            let _inner = watch();
            used(HASH, &KEY, 0, 1);
        }
        refused(|| used(HASH, &KEY, 0, 1));
        assert_eq!(outer.uses(), 2);
    }
}
