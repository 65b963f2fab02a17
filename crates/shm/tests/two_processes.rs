//! Two processes share a ring: all bytes come in order while both sleep and wake, and a killed
//! writer is detected.
#![cfg(target_os = "linux")]

use std::{
    env,
    os::{
        fd::AsFd,
        unix::net::{UnixListener, UnixStream},
    },
    process::{Child, Command},
    time::{Duration, Instant},
};

use hushwire_shm::{Consumer, Producer, Ring, RingError};
use rustix::event::{PollFd, PollFlags, Timespec, poll};

const CHILD: &str = "HUSHWIRE_SHM_TEST_SOCKET";
const BYTES: usize = 8 << 20;

fn ok<T, E: std::fmt::Display>(result: Result<T, E>) -> T {
    result.unwrap_or_else(|e| panic!("{e}"))
}

fn byte(at: usize) -> u8 {
    (at % 251) as u8
}

fn sleep(wakers: [std::os::fd::BorrowedFd<'_>; 2]) {
    let mut fds = wakers.map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::IN));
    assert!(ok(poll(&mut fds, Some(&Timespec { tv_sec: 20, tv_nsec: 0 }))) > 0, "nobody woke this side");
}

/// The part of the other process, which is not a test of its own.
#[test]
fn child() {
    let Ok(path) = env::var(CHILD) else { return };
    let socket = ok(UnixStream::connect(path));
    let ring = loop {
        if let Some(ring) = ok(Ring::take(socket.as_fd())) {
            break ring;
        }
        std::thread::sleep(Duration::from_millis(1));
    };
    let mut producer: Producer = ok(ring.producer(socket.as_fd()));
    let message: Vec<u8> = (0..BYTES).map(byte).collect();
    let mut sent = 0;
    while sent < BYTES {
        // Odd lengths let pieces end anywhere.
        match ok(producer.write(&message[sent..BYTES.min(sent + 10_007)])) {
            0 if producer.doze() => {
                sleep(producer.wakers());
                producer.wake();
            }
            0 => producer.wake(),
            n => sent += n,
        }
    }
    // The process waits here until it is killed, which leaves no mark in the memory.
    loop {
        std::thread::park();
    }
}

fn start() -> (Child, Consumer) {
    let path = env::temp_dir().join(format!("hushwire-shm-{}.socket", std::process::id()));
    let listener = ok(UnixListener::bind(&path));
    let mut command = Command::new(ok(env::current_exe()));
    let child = ok(command.args(["--exact", "child", "--nocapture"]).env(CHILD, &path).spawn());
    let (socket, _) = ok(listener.accept());
    ok(std::fs::remove_file(&path));
    let ring = ok(Ring::create(16 << 10));
    assert!(ok(ring.give(socket.as_fd())));
    (child, ok(ring.consumer(socket.as_fd())))
}

#[test]
fn all_bytes_come_and_then_the_end() {
    let (mut child, mut consumer) = start();
    let mut into = vec![0; 5003];
    let (mut came, mut killed) = (0, false);
    let began = Instant::now();
    loop {
        match consumer.read(&mut into) {
            Ok(0) => {
                if came == BYTES && !killed {
                    ok(child.kill());
                    killed = true;
                }
                if consumer.doze() {
                    sleep(consumer.wakers());
                }
                consumer.wake();
            }
            Ok(n) => {
                assert!(
                    into[..n].iter().enumerate().all(|(i, &b)| b == byte(came + i)),
                    "after {came} bytes"
                );
                came += n;
            }
            Err(RingError::Gone) => break,
            Err(e) => panic!("{e}"),
        }
        assert!(began.elapsed() < Duration::from_secs(60));
    }
    assert!(killed && came == BYTES);
    ok(child.wait());
}
