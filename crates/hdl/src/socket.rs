//! The socket to a device. It receives while it sends, so neither end waits for the other to read.

use crate::{Cause, inbox::Inbox};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::{
    io::{self, Read, Write},
    os::unix::net::UnixStream,
    time::{Duration, Instant},
};
use zeroize::Zeroizing;

/// LOCAL: the number of bytes read at a time.
const PART: usize = 16 << 10;

/// A stream and the bytes that have arrived on it.
pub(crate) struct Socket {
    stream: UnixStream,
    /// The longest time without progress.
    patience: Duration,
    part: Zeroizing<Vec<u8>>,
    pub(crate) inbox: Inbox,
}

fn failed(e: &io::Error) -> Cause {
    Cause::Io(e.to_string())
}

/// Whether an error means only that the other end is gone.
fn gone(e: &io::Error) -> bool {
    matches!(e.kind(), io::ErrorKind::BrokenPipe | io::ErrorKind::ConnectionReset)
}

impl Socket {
    pub(crate) fn new(stream: UnixStream, patience: Duration) -> Result<Socket, Cause> {
        stream.set_nonblocking(true).map_err(|e| failed(&e))?;
        let part = Zeroizing::new(vec![0; PART]);
        Ok(Socket { stream, patience, part, inbox: Inbox::default() })
    }

    /// Sends all of `parts`, and keeps the bytes that arrive in the meantime.
    ///
    /// # Errors
    /// [`Cause::Died`], [`Cause::Silent`], [`Cause::Io`], and the errors of [`Inbox::feed`].
    pub(crate) fn send(&mut self, parts: &[&[u8]]) -> Result<(), Cause> {
        let mut moved = Instant::now();
        for part in parts {
            let mut rest = *part;
            while !rest.is_empty() {
                match (&self.stream).write(rest) {
                    Ok(n) => {
                        rest = &rest[n..];
                        moved = Instant::now();
                    }
                    Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                    Err(e) if e.kind() == io::ErrorKind::WouldBlock => {
                        self.wait(PollFlags::IN | PollFlags::OUT, moved)?;
                        if self.receive()? {
                            moved = Instant::now();
                        }
                    }
                    // The device may have reported a reason before it went.
                    Err(e) if gone(&e) => return Err(self.last_words()),
                    Err(e) => return Err(failed(&e)),
                }
            }
        }
        Ok(())
    }

    /// Receives until `found` returns something.
    ///
    /// # Errors
    /// As [`Socket::send`].
    pub(crate) fn until<T>(&mut self, mut found: impl FnMut(&mut Inbox) -> Option<T>) -> Result<T, Cause> {
        let mut moved = Instant::now();
        loop {
            if let Some(found) = found(&mut self.inbox) {
                return Ok(found);
            }
            if self.receive()? {
                moved = Instant::now();
            } else {
                self.wait(PollFlags::IN, moved)?;
            }
        }
    }

    /// Ends the connection.
    pub(crate) fn close(&self) {
        // An error means that the connection is closed already.
        let _ = self.stream.shutdown(std::net::Shutdown::Both);
    }

    /// Waits until the stream is ready, at most until `patience` after `moved`.
    fn wait(&self, flags: PollFlags, moved: Instant) -> Result<(), Cause> {
        let left = self.patience.saturating_sub(moved.elapsed());
        if left.is_zero() {
            return Err(Cause::Silent(self.patience));
        }
        let left = Timespec::try_from(left).unwrap_or(Timespec { tv_sec: i32::MAX.into(), tv_nsec: 0 });
        match poll(&mut [PollFd::new(&self.stream, flags)], Some(&left)) {
            Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
            Err(e) => Err(failed(&e.into())),
        }
    }

    /// Takes the available bytes; false if there are none.
    fn receive(&mut self) -> Result<bool, Cause> {
        loop {
            match (&self.stream).read(&mut self.part) {
                Ok(0) => return Err(Cause::Died(None)),
                Ok(n) => return self.inbox.feed(&self.part[..n]).map(|()| true),
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => return Ok(false),
                Err(e) if gone(&e) => return Err(Cause::Died(None)),
                Err(e) => return Err(failed(&e)),
            }
        }
    }

    /// The reason why the other end is gone: its last report, if it sent one.
    fn last_words(&mut self) -> Cause {
        loop {
            match self.receive() {
                Ok(true) => {}
                Ok(false) => return Cause::Died(None),
                Err(cause) => return cause,
            }
        }
    }
}
