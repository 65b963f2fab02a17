//! Rings with both ends in one process: any lengths at any position, ends that claim false
//! positions, and ends that leave.

use std::{
    io::ErrorKind,
    os::{fd::AsFd, unix::net::UnixStream},
    sync::atomic::Ordering,
};

use proptest::prelude::{Just, any, prop_assert_eq, prop_oneof, proptest};
use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    fs::{MemfdFlags, SealFlags, fcntl_add_seals, ftruncate, memfd_create},
};

use super::{Consumer, Producer, Ring, RingError};
use crate::{map::DATA_AT, pass};

const CAPACITY: usize = 4096;

fn ok<T, E: std::fmt::Display>(result: Result<T, E>) -> T {
    result.unwrap_or_else(|e| panic!("{e}"))
}

/// Makes both ends and their sockets.
fn pair() -> (Producer, Consumer, UnixStream, UnixStream) {
    let (ours, theirs) = ok(UnixStream::pair());
    let ring = ok(Ring::create(CAPACITY));
    assert!(ok(ring.give(ours.as_fd())));
    let Some(taken) = ok(Ring::take(theirs.as_fd())) else { panic!("nothing came") };
    (ok(ring.producer(ours.as_fd())), ok(taken.consumer(theirs.as_fd())), ours, theirs)
}

/// Whether a sleep on `wakers` would end now.
fn rung(wakers: [std::os::fd::BorrowedFd<'_>; 2]) -> bool {
    let mut fds = wakers.map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::IN));
    ok(poll(&mut fds, Some(&Timespec { tv_sec: 0, tv_nsec: 0 }))) > 0
}

proptest! {
    #[test]
    fn bytes_come_as_they_went(
        start in any::<u64>(),
        moves in proptest::collection::vec((0usize..6000, 0usize..6000), 1..60),
    ) {
        let (mut producer, mut consumer, _ours, _theirs) = pair();
        // The indices are set as if this many bytes had passed, so that indices wrap, and the ring
        // wraps at any place.
        (producer.head, producer.tail, consumer.head, consumer.tail) = (start, start, start, start);
        let header = producer.side.map.header();
        header.head.0.store(start, Ordering::SeqCst);
        header.tail.0.store(start, Ordering::SeqCst);
        let (mut sent, mut came) = (0usize, 0usize);
        let byte = |at: usize| (at % 251) as u8;
        for (out, into) in moves {
            let out: Vec<u8> = (sent..sent + out).map(byte).collect();
            let taken = ok(producer.write(&out));
            prop_assert_eq!(taken, out.len().min(CAPACITY - (sent - came)));
            sent += taken;
            let mut into = vec![0; into];
            let n = ok(consumer.read(&mut into));
            prop_assert_eq!(n, into.len().min(sent - came));
            let expected: Vec<u8> = (came..came + n).map(byte).collect();
            prop_assert_eq!(&into[..n], &expected[..]);
            came += n;
        }
    }

    #[test]
    fn lying_indices_are_errors(
        theirs in prop_oneof![any::<u64>(), 0..2 * CAPACITY as u64],
        written in prop_oneof![Just(0), 0..CAPACITY],
    ) {
        let (mut producer, mut consumer, _ours, _theirs) = pair();
        ok(producer.write(&vec![1; written]));
        let mut into = [0; CAPACITY];
        producer.side.map.header().head.0.store(theirs, Ordering::SeqCst);
        match consumer.read(&mut into) {
            Ok(n) => prop_assert_eq!(n as u64, theirs),
            Err(e) => prop_assert_eq!(e, RingError::Position { ours: 0, theirs }),
        }
        let claimed = theirs.wrapping_add(1);
        consumer.side.map.header().tail.0.store(claimed, Ordering::SeqCst);
        // The bytes exceed the ring, so that the producer must read the reader's position.
        match producer.write(&[2; CAPACITY + 1]) {
            Ok(_) => assert!(claimed <= written as u64),
            Err(e) => prop_assert_eq!(e, RingError::Position { ours: written as u64, theirs: claimed }),
        }
    }
}

#[test]
fn sleepers_are_woken_and_nobody_else() {
    let (mut producer, mut consumer, _ours, _theirs) = pair();
    let mut into = [0; CAPACITY];
    ok(producer.write(b"awake"));
    assert!(!rung(consumer.wakers()), "nobody slept");
    assert!(!consumer.doze(), "there is something to read");
    assert_eq!(ok(consumer.read(&mut into)), 5);
    assert!(consumer.doze());
    ok(producer.write(b"up"));
    assert!(rung(consumer.wakers()));
    consumer.wake();
    assert!(!rung(consumer.wakers()));
    assert_eq!(ok(consumer.read(&mut into)), 2);

    assert!(!producer.doze(), "there is room");
    assert_eq!(ok(producer.write(&[3; 5000])), CAPACITY);
    assert!(producer.doze());
    assert_eq!(ok(consumer.read(&mut into[..1])), 1);
    assert!(!rung(producer.wakers()), "not for one byte");
    assert_eq!(ok(consumer.read(&mut into)), CAPACITY - 1);
    assert!(rung(producer.wakers()));
    producer.wake();
    assert_eq!(ok(producer.write(&[4; 9])), 9);
    // A signal after the end of the sleep costs one short sleep, not a loop.
    producer.side.ring_bell();
    assert_eq!(ok(consumer.read(&mut into)), 9);
    for end in [true, false] {
        assert!(consumer.doze());
        assert_eq!(rung(consumer.wakers()), end);
        consumer.wake();
    }
}

#[test]
fn a_writer_that_leaves_is_read_to_its_end() {
    let (mut producer, mut consumer, _ours, _theirs) = pair();
    ok(producer.write(b"last"));
    assert!(!rung(consumer.wakers()));
    drop(producer);
    assert!(rung(consumer.wakers()));
    let mut into = [0; 3];
    assert_eq!(consumer.read(&mut into), Ok(3));
    assert_eq!(consumer.read(&mut into), Ok(1));
    assert!(!consumer.doze());
    assert_eq!(consumer.read(&mut into), Err(RingError::Gone));
}

#[test]
fn a_reader_that_leaves_stops_the_writer() {
    let (mut producer, consumer, _ours, _theirs) = pair();
    drop(consumer);
    assert_eq!(producer.write(b"to nobody"), Err(RingError::Gone));
}

#[test]
fn the_end_of_the_socket_is_the_end_of_its_process() {
    let (mut producer, mut consumer, ours, theirs) = pair();
    ok(producer.write(b"left"));
    // The sockets close and the memory has no mark, as when the kernel kills a process.
    ok(ours.shutdown(std::net::Shutdown::Both));
    drop(theirs);
    let mut into = [0; 8];
    assert_eq!(consumer.read(&mut into), Ok(4));
    assert!(consumer.doze());
    assert!(rung(consumer.wakers()));
    consumer.wake();
    assert_eq!(consumer.read(&mut into), Err(RingError::Gone));
    assert_eq!(producer.write(&[0; 5000]), Ok(CAPACITY));
    assert!(producer.doze());
    producer.wake();
    assert_eq!(producer.write(b"more"), Err(RingError::Gone));
}

#[test]
fn only_sealed_memory_of_a_rings_size_is_mapped() {
    let refused = |bytes: usize, seals: SealFlags| {
        let (ours, theirs) = ok(UnixStream::pair());
        let memory = ok(memfd_create("test", MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING));
        ok(ftruncate(&memory, bytes as u64));
        ok(fcntl_add_seals(&memory, seals));
        assert!(ok(pass::give(ours.as_fd(), [memory.as_fd(), ours.as_fd(), ours.as_fd()])));
        let Err(e) = Ring::take(theirs.as_fd()) else { panic!("{bytes} bytes with {seals:?}") };
        assert_eq!(e.kind(), ErrorKind::InvalidData);
    };
    let both = SealFlags::SHRINK | SealFlags::GROW;
    refused(DATA_AT + CAPACITY, SealFlags::empty());
    refused(DATA_AT + CAPACITY, SealFlags::GROW);
    refused(DATA_AT + CAPACITY, SealFlags::SHRINK);
    for bytes in [0, DATA_AT, DATA_AT + 2048, DATA_AT + CAPACITY + 1, DATA_AT + (128 << 20)] {
        refused(bytes, both);
    }
    let (ours, theirs) = ok(UnixStream::pair());
    assert!(ok(pass::give(ours.as_fd(), [ours.as_fd()])));
    assert!(Ring::take(theirs.as_fd()).is_err(), "too few");
    assert!(ok(pass::give(ours.as_fd(), [ours.as_fd(); 4])));
    assert!(Ring::take(theirs.as_fd()).is_err(), "too many");
    ok(std::io::Write::write_all(&mut &ours, b"x"));
    assert!(Ring::take(theirs.as_fd()).is_err(), "other bytes");
    assert!(ok(Ring::take(theirs.as_fd())).is_none(), "nothing yet");
    drop(ours);
    assert!(Ring::take(theirs.as_fd()).is_err(), "the end");
}

#[test]
fn capacities_are_powers_of_two_within_limits() {
    for capacity in [0, 1, 2048, 4097, 12_288, 128 << 20] {
        assert!(Ring::create(capacity).is_err(), "{capacity}");
    }
}
