//! Tests of honest runs.

use hushwire_aes::Backend;
use hushwire_block::{Block, Buffer, registry};

use super::nodes::{Copy, LeftSum, Patch};
use super::params::SPARE;
use super::rig::{FOURS, TINY, ends, extend, no_edit, set_up, stream};
use super::{B9, B10, B11, B12, B13, Set};
use crate::{Extension, Level, Malicious, Security, SemiHonest};

#[test]
fn node_kernels_agree_with_loops() {
    let mut all = vec![Block::ZERO; 256];
    stream(3).fill_blocks(&mut all);
    let add = [all[1], all[2]];
    for backend in Backend::all() {
        for len in [2, 4, 8, 16, 32, 64, 128, 256] {
            let nodes = &all[..len];
            let left = nodes.iter().step_by(2).fold(Block::ZERO, |a, b| a ^ *b);
            assert_eq!(backend.run(LeftSum(nodes)), left, "{len} nodes");
            for pair in 0..len / 2 {
                let keep = Block([0xf1; 16]);
                let mut want: Vec<Block> = nodes.iter().map(|n| *n & keep).collect();
                want[2 * pair] ^= add[0];
                want[2 * pair + 1] ^= add[1];
                let mut got = nodes.to_vec();
                backend.run(Patch { nodes: &mut got, pair, add, keep });
                assert_eq!(got, want, "pair {pair} of {len} nodes");
            }
        }
    }
}

#[test]
fn copies_are_the_same_past_the_caches() {
    let mut from = vec![Block::ZERO; 100];
    stream(5).fill_blocks(&mut from);
    for backend in Backend::all() {
        for (at, len) in [(0, 0), (0, 3), (0, 64), (4, 67), (1, 64), (3, 97)] {
            for streamed in [false, true] {
                let mut to = Buffer::new();
                to.set_len(16 * 101);
                backend.run(Copy { from: &from[..len], to: &mut to.blocks_mut()[at..at + len], streamed });
                let mut want = vec![Block::ZERO; 101];
                want[at..at + len].copy_from_slice(&from[..len]);
                assert_eq!(to.blocks(), want, "{len} blocks at {at}, {backend:?}");
            }
        }
    }
}

#[test]
fn outputs_past_the_caches_are_the_same() {
    fn same<S: Security>() {
        let digests = [false, true].map(|on| {
            let mut ends = ends::<S>(Backend::best(), TINY);
            ends.0.stream(on);
            ends.1.stream(on);
            extend(&mut ends, 5000, 4, no_edit).expect("an honest run").digest()
        });
        assert_eq!(digests[0], digests[1]);
    }
    same::<SemiHonest>();
    same::<Malicious>();
}

fn crosses_rounds<S: Security>(set: Set, rounds: usize, segment: usize) {
    let mut ends = ends::<S>(Backend::best(), set);
    let _watch = registry::watch();
    let round = (set.trees() - set.refill_trees()) * set.leaves();
    let run = extend(&mut ends, rounds * round + 1, segment, no_edit).expect("an honest run");
    run.holds();
}

#[test]
fn relation_holds_over_rounds() {
    crosses_rounds::<SemiHonest>(TINY, 3, 16);
    crosses_rounds::<Malicious>(TINY, 3, 3);
    crosses_rounds::<SemiHonest>(FOURS, 3, 16);
    crosses_rounds::<Malicious>(FOURS, 3, 3);
    crosses_rounds::<SemiHonest>(B10, 1, 16);
    crosses_rounds::<Malicious>(B10, 1, 16);
}

#[test]
fn odd_requests_come_from_stock() {
    fn odd<S: Security>(set: Set) {
        let mut ends = ends::<S>(Backend::best(), set);
        let _watch = registry::watch();
        for count in [1, 127, 128, 129, 1000, 3, 255, 256, 257, 895, 896, 897] {
            extend(&mut ends, count, 2, no_edit).expect("an honest run").holds();
        }
    }
    for set in [TINY, FOURS] {
        odd::<SemiHonest>(set);
        odd::<Malicious>(set);
    }
}

/// A party that waits for a chunk's message needs a chunk's work meanwhile, whatever the set.
#[test]
fn a_chunk_is_as_long_in_every_set_and_no_longer_than_what_is_wanted() {
    for set in Set::ALL {
        assert_eq!(set.chunk_trees() * set.leaves(), 8192, "{}", set.name());
        let made = set.trees() - 3;
        for spare in [0, SPARE] {
            let trees = |wanted, made| set.trees_for(wanted, spare, made);
            assert_eq!(trees(usize::MAX, 0), set.chunk_trees());
            assert_eq!(trees(usize::MAX, made), set.chunk_trees().min(3), "no more than the round has");
            assert_eq!([trees(1, made), trees(set.leaves() - spare, made)], [1; 2]);
            assert_eq!(trees(set.leaves() - spare + 1, 0), set.chunk_trees().min(2));
        }
    }
    let (s, _) = ends::<SemiHonest>(Backend::best(), FOURS);
    assert_eq!([1, 256, 257, 1024, 5000].map(|wanted| s.chunk_len(wanted)), [1, 256, 257, 1024, 1024]);
    let share = |trees| FOURS.refill_share(0, trees);
    assert_eq!([1, 256, 257, 1024].map(|len| s.chunk_bytes(len)), [1, 1, 2, 4].map(|t| 128 * (share(t) + t)));
}

/// If a whole refill were in one chunk, the other endpoint would wait for as long as the refill
/// takes.
#[test]
fn a_refill_is_spread_over_its_round() {
    for set in [TINY, FOURS].into_iter().chain(Set::ALL) {
        let (refill, all) = (set.refill_trees(), set.trees() - set.refill_trees());
        for step in [1, set.chunk_trees(), 3] {
            let (mut out, mut refilled) = (0, 0);
            while out < all {
                let trees = step.min(all - out);
                let share = set.refill_share(out, trees);
                assert!(
                    share <= (refill * trees).div_ceil(all),
                    "{}: {share} trees with {trees}",
                    set.name()
                );
                (out, refilled) = (out + trees, refilled + share);
            }
            assert_eq!(refilled, refill, "{}: the next round's base is whole", set.name());
        }
    }
}

#[test]
fn set_up_and_first_chunks_of_every_set() {
    fn first<S: Security>() {
        for set in Set::ALL {
            let (s, r, sent) = set_up::<S>(Backend::best(), set);
            let bytes = set.rows().div_ceil(5000) * 3;
            let (mut said, mut heard) = (set.bootstrap_bytes::<S>(), bytes);
            if S::LEVEL == Level::Malicious {
                // One check of rows for every 16 chunks, and one check of trees.
                let chunks = set.rows() / 5000 * 2 + (set.rows() % 5000).div_ceil(3000);
                heard += 2 * chunks.div_ceil(16);
                if said > 0 {
                    (said, heard) = (said + 32, heard + 16);
                }
            }
            assert_eq!([sent[0].len(), sent[1].len()], [said, heard], "{}", set.name());
            extend(&mut (s, r), 3 * set.leaves() + 5, 16, no_edit).expect("an honest run").holds();
        }
    }
    first::<SemiHonest>();
    first::<Malicious>();
}

#[test]
fn cost_is_what_was_declared() {
    for set in [TINY, FOURS, B10] {
        let round = (set.trees() - set.refill_trees()) * set.leaves();
        let run = extend(&mut ends::<SemiHonest>(Backend::best(), set), round, 16, no_edit).expect("honest");
        let bits = (8 * run.sent[0].len()) as f64 / round as f64;
        assert!((bits - set.bits_per_ot::<SemiHonest>()).abs() < 1e-9 && run.sent[1].is_empty());
    }
    for (set, most) in [(B13, 0.24), (B12, 0.435), (B11, 0.795), (B10, 1.45), (B9, 2.63)] {
        assert!(set.bits_per_ot::<SemiHonest>() < set.bits_per_ot::<Malicious>());
        assert!(set.bits_per_ot::<Malicious>() < most, "{}", set.name());
        let first = set.bootstrap();
        assert!(first.is_none_or(|first| set.bootstrap_trees::<Malicious>(&first) <= first.trees()));
        assert_eq!(Set::named(set.name()), Some(set));
    }
}

#[test]
fn bytes_and_outputs_are_the_same_on_every_backend() {
    fn same<S: Security>(segment: usize) {
        let run = |backend| {
            extend(&mut ends::<S>(backend, TINY), 5000, segment, no_edit).expect("an honest run").digest()
        };
        let best = run(Backend::best());
        for backend in Backend::all() {
            assert_eq!(run(backend), best, "{backend:?}");
        }
    }
    same::<SemiHonest>(16);
    same::<Malicious>(4);
}
