//! The deferred queue: results do not depend on width or order of asking; batches do.

use hushwire_aes::{Backend, Deferred, Job};
use hushwire_block::Block;
use std::cell::Cell;
use zeroize::Zeroize;

/// A multi-instance hash of one label under its own tweak.
#[derive(Zeroize)]
struct Hash {
    tweak: Block,
    label: Block,
}

impl Job for Hash {
    type Out = Block;
    fn run(backend: Backend, jobs: &[Self], out: &mut Vec<Block>) {
        let keys: Vec<Block> = jobs.iter().map(|j| j.tweak).collect();
        let labels: Vec<Block> = jobs.iter().map(|j| j.label).collect();
        let mut hashes = vec![Block::ZERO; jobs.len()];
        backend.cr_rekeyed::<1>(&keys, &labels, &mut hashes);
        out.extend(hashes);
    }
}

fn job(i: u128) -> Hash {
    Hash { tweak: Block::from_u128(i * 3), label: Block::from_u128(i << 64 | 5) }
}

#[test]
fn results_do_not_depend_on_width_or_backend() {
    let mut want = Vec::new();
    Hash::run(Backend::best(), &(0..77).map(job).collect::<Vec<_>>(), &mut want);
    for backend in Backend::all() {
        for width in [1, 2, 4, 8, 16, 32, 100] {
            let mut queue = Deferred::new(backend, width);
            let tickets: Vec<_> = (0..77).map(|i| queue.push(job(i))).collect();
            assert_eq!(queue.batches(), 77 / width, "full queues ran");
            assert!(queue.is_ready(tickets[76]) == 77usize.is_multiple_of(width));
            for (ticket, want) in tickets.iter().zip(&want).rev() {
                assert_eq!(queue.get(*ticket), want);
            }
            assert_eq!(queue.batches(), 77usize.div_ceil(width));
            assert_eq!(queue.clear(), want);
            assert_eq!(queue.clear(), []);
        }
    }
}

#[test]
fn a_reference_runs_what_waits_and_nothing_twice() {
    let mut queue = Deferred::new(Backend::best(), 8);
    let first = queue.push(job(1));
    assert!(!queue.is_ready(first));
    let value = *queue.get(first);
    assert_eq!(queue.batches(), 1);
    let second = queue.push(job(1));
    assert_eq!(*queue.get(first), value, "still there, without running the second");
    assert_eq!(queue.batches(), 1);
    assert_eq!(*queue.get(second), value);
    assert_eq!(queue.batches(), 2);
}

thread_local! {
    static WIPED: Cell<[usize; 2]> = const { Cell::new([0; 2]) };
}

/// A job (0) or a result (1) that counts how often one of its kind was wiped.
struct Seen<const KIND: usize>;

impl<const KIND: usize> Zeroize for Seen<KIND> {
    fn zeroize(&mut self) {
        let mut wiped = WIPED.get();
        wiped[KIND] += 1;
        WIPED.set(wiped);
    }
}

impl Job for Seen<0> {
    type Out = Seen<1>;
    fn run(_: Backend, jobs: &[Self], out: &mut Vec<Seen<1>>) {
        out.extend(jobs.iter().map(|_| Seen));
    }
}

#[test]
fn jobs_are_wiped_when_they_ran_and_all_that_is_left_with_the_queue() {
    let mut queue = Deferred::new(Backend::best(), 4);
    for _ in 0..5 {
        queue.push(Seen::<0>);
    }
    assert_eq!(WIPED.get(), [4, 0], "four ran");
    for _ in 0..5 {
        queue.push(Seen::<0>);
    }
    assert_eq!(WIPED.get(), [8, 0], "results move to a larger buffer and stay");
    drop(queue);
    assert_eq!(WIPED.get(), [10, 8], "two that never ran, and all results");
}
