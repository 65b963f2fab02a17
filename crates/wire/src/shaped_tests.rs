//! Shaped links deliver the same bytes later, and end as their inner links end.

use std::{
    io,
    sync::{Arc, Mutex},
    thread,
    time::{Duration, Instant},
};

use proptest::prelude::{any, prop_assert, prop_assert_eq, proptest};

use super::{queue_bytes, shape_with};
use hushwire_machine::{Net, PartyId, Tx, Wait, inproc};

use crate::Shape;

const IDS: [PartyId; 2] = [PartyId(0), PartyId(1)];
const STALL: Duration = Duration::from_secs(20);
const FAST: Shape = Shape { bits_per_second: Some(4_000_000_000), rtt: Duration::from_micros(40) };

fn ok<T, E: std::fmt::Display>(result: Result<T, E>) -> T {
    result.unwrap_or_else(|e| panic!("{e}"))
}

fn two(shape: Shape) -> (Net, Net) {
    let mut nets = inproc::mesh(&IDS, 1, STALL);
    nets.iter_mut().for_each(|net| shape.apply(net));
    let (Some(second), Some(first)) = (nets.pop(), nets.pop()) else { panic!("two nets") };
    (first, second)
}

/// A link that accepts up to `step` bytes at every second call, holds them back until flushed, and
/// breaks after `limit`.
struct Slow {
    out: Arc<Mutex<Vec<u8>>>,
    held: Vec<u8>,
    step: usize,
    limit: usize,
    calls: usize,
}

impl Tx for Slow {
    fn try_send(&mut self, out: &[u8]) -> io::Result<usize> {
        self.calls += 1;
        if self.limit == 0 {
            return Err(io::Error::new(io::ErrorKind::BrokenPipe, "the peer left"));
        }
        let n = if self.calls.is_multiple_of(2) { out.len().min(self.step).min(self.limit) } else { 0 };
        self.held.extend_from_slice(&out[..n]);
        self.limit -= n;
        Ok(n)
    }

    fn try_flush(&mut self) -> io::Result<bool> {
        self.calls += 1;
        if self.calls.is_multiple_of(3) {
            return Ok(false);
        }
        self.out.lock().unwrap_or_else(|e| panic!("{e}")).append(&mut self.held);
        Ok(true)
    }

    fn wait_on(&self) -> Wait<'_> {
        Wait::Ready
    }
}

fn slow(step: usize, limit: usize) -> (Box<dyn Tx>, Arc<Mutex<Vec<u8>>>) {
    let out = Arc::default();
    (Box::new(Slow { out: Arc::clone(&out), held: Vec::new(), step, limit, calls: 0 }), out)
}

fn send_all(link: &mut dyn Tx, message: &[u8]) -> io::Result<()> {
    let (mut sent, start) = (0, Instant::now());
    while sent < message.len() {
        let epoch = link.wait_on().epoch();
        match link.try_send(&message[sent..])? {
            0 => {
                link.wait_on().wait(epoch, rustix::event::PollFlags::OUT, Duration::from_secs(5))?;
                assert!(start.elapsed() < STALL, "nobody woke the sender");
            }
            n => sent += n,
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(proptest::test_runner::Config::with_cases(40))]

    /// Over queues and links of a few bytes, each of a party's two links delivers all its bytes in
    /// order. These include bytes sent just before the end.
    #[test]
    fn bytes_arrive_in_order_and_whole(
        messages in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..700), 1..12),
        queue in 1usize..300,
        step in 1usize..500,
    ) {
        let (links, outs): (Vec<_>, Vec<_>) = [slow(step, usize::MAX), slow(step + 7, usize::MAX)].into_iter().unzip();
        let mut links = shape_with(FAST, STALL, links, queue);
        for message in &messages {
            for link in &mut links {
                ok(send_all(&mut **link, message));
                ok(link.try_flush());
            }
        }
        drop(links);
        let sent = messages.concat();
        for out in outs {
            let came = out.lock().map(|bytes| bytes.clone()).unwrap_or_default();
            prop_assert!(came == sent);
        }
    }

    #[test]
    fn a_queue_holds_the_pipe_and_a_buffer(rate in any::<Option<u64>>(), ms in 0u64..10_000) {
        let queue = queue_bytes(Shape { bits_per_second: rate, rtt: Duration::from_millis(ms) });
        prop_assert!((512 << 10..=64 << 20).contains(&queue));
        prop_assert_eq!(queue_bytes(Shape::wan()), 500_000 + (512 << 10));
    }
}

#[test]
fn what_the_link_says_comes_at_the_next_call() {
    let (link, out) = slow(10, 25);
    let mut links = shape_with(FAST, STALL, vec![link], 8);
    let message = [7; 60];
    let e = send_all(&mut *links[0], &message).map_err(|e| (e.kind(), e.to_string()));
    assert_eq!(e, Err((io::ErrorKind::BrokenPipe, "the peer left".to_owned())));
    let again = links[0].try_flush().map_err(|e| e.kind());
    assert_eq!(again, Err(io::ErrorKind::BrokenPipe));
    drop(links);
    assert!(out.lock().unwrap_or_else(|e| panic!("{e}")).len() <= 25);
}

#[test]
fn half_a_round_trip_and_no_less() {
    let shape = Shape { bits_per_second: Some(80_000_000), rtt: Duration::from_millis(60) };
    let (mut first, mut second) = two(shape);
    let start = Instant::now();
    let sender = thread::spawn(move || {
        let mut channel = ok(first.channel(0, Some(IDS[1]), None));
        ok(channel.send("one", &[1; 100_000]));
    });
    let mut channel = ok(second.channel(0, None, Some(IDS[0])));
    let mut came = vec![0; 100_000];
    ok(channel.recv("one", &mut came));
    // 100,000 bytes take 10 ms to leave, and the last of them takes 30 ms to arrive.
    assert!(start.elapsed() >= Duration::from_millis(40), "{:?}", start.elapsed());
    assert!(came.iter().all(|&b| b == 1));
    ok(sender.join().map_err(|_| "the sender panicked"));
}

#[test]
fn a_close_delivers_what_was_sent_and_then_ends() {
    let (mut first, mut second) = two(Shape { bits_per_second: None, rtt: Duration::from_millis(20) });
    let mut sender = ok(first.channel(0, Some(IDS[1]), None));
    ok(sender.send("last words", b"goodbye"));
    drop(sender);
    let mut receiver = ok(second.channel(0, None, Some(IDS[0])));
    let mut came = [0; 7];
    ok(receiver.recv("last words", &mut came));
    assert_eq!(&came, b"goodbye");
    assert!(receiver.recv("more", &mut came).is_err(), "the link is closed");
}

#[test]
fn nothing_is_wrapped_without_a_shape() {
    let (link, _) = slow(1, 1);
    let mut net = Net::new(IDS[0], 1, STALL);
    net.add_tx(IDS[1], 0, link);
    Shape::NONE.apply(&mut net);
    assert!(ok(net.channel(0, Some(IDS[1]), None)).start("one", &[]).is_ok());
    let mut links = shape_with(Shape::NONE, STALL, Vec::new(), 1);
    assert!(links.pop().is_none());
}
