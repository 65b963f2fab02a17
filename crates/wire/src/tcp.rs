//! TCP: the listening port, and connections with a deadline.
//!
//! All sockets are non-blocking. A [`Guard`] bounds every wait of a handshake by a deadline, and
//! ends it when the session is given up. A thread resolves names, since the system's resolver has
//! no deadline.

use std::{
    io::{self, ErrorKind, Read, Write},
    net::{SocketAddr, TcpListener, TcpStream, ToSocketAddrs},
    ops::Range,
    sync::{
        atomic::{AtomicBool, Ordering},
        mpsc::{self, RecvTimeoutError},
    },
    thread,
    time::{Duration, Instant},
};

use rustix::{
    event::{PollFd, PollFlags},
    fd::{AsFd, BorrowedFd},
};
use socket2::{Domain, Protocol, SockAddr, Socket, Type};

use hushwire_machine::{Rx, Tx, poll_fds};

/// LOCAL: the length of the system's queue of connections that were not accepted yet, including
/// those between two sessions. If it is full, a member tries again after a second. The system may
/// allow fewer.
const BACKLOG: i32 = 4096;

/// LOCAL: the longest time that the system may take to resolve a name on which this process
/// listens.
const NAME: Duration = Duration::from_secs(20);

/// Listens on `addr`, without blocking, on the first of a name's addresses that works.
pub(crate) fn bind(addr: &str) -> io::Result<TcpListener> {
    let mut last = io::Error::new(ErrorKind::NotFound, "the name has no address");
    for addr in resolve(addr, NAME)? {
        match bind_one(addr) {
            Ok(socket) => return Ok(socket),
            Err(e) => last = e,
        }
    }
    Err(last)
}

fn bind_one(addr: SocketAddr) -> io::Result<TcpListener> {
    let socket = Socket::new(Domain::for_address(addr), Type::STREAM, Some(Protocol::TCP))?;
    // Without this, the port stays in use for a minute after a session. On Windows it would let
    // others take over the port.
    #[cfg(unix)]
    socket.set_reuse_address(true)?;
    socket.set_nonblocking(true)?;
    socket.bind(&SockAddr::from(addr))?;
    socket.listen(BACKLOG)?;
    Ok(socket.into())
}

/// The next waiting connection.
pub(crate) fn take(listener: &TcpListener, socket_buffer: Option<usize>) -> io::Result<Option<TcpStream>> {
    match listener.accept() {
        Ok((stream, _)) => tuned(stream, socket_buffer).map(Some),
        Err(e) if e.kind() == ErrorKind::WouldBlock => Ok(None),
        Err(e) => Err(e),
    }
}

/// An accepted connection as sessions use it.
pub(crate) fn tuned(stream: TcpStream, socket_buffer: Option<usize>) -> io::Result<TcpStream> {
    stream.set_nonblocking(true)?;
    let socket = Socket::from(stream);
    // If the other end is already gone, tuning may fail. Reading reports that.
    let _ = tune(&socket, socket_buffer);
    Ok(socket.into())
}

/// The interval at which a wait checks whether the session was given up.
const LOOK: Duration = Duration::from_millis(20);

/// Ends the waits of a handshake: at a deadline, or when another thread gives the session up.
#[derive(Clone, Copy)]
pub(crate) struct Guard<'a> {
    pub(crate) deadline: Instant,
    pub(crate) given_up: &'a AtomicBool,
    /// A flag that ends the waits of one connection.
    pub(crate) out: Option<&'a AtomicBool>,
    /// A flag by which the program that joins ends all waits.
    pub(crate) stop: Option<&'a AtomicBool>,
}

impl Guard<'_> {
    /// The same guard with an earlier deadline.
    pub(crate) fn within(self, limit: Duration) -> Self {
        Self { deadline: self.deadline.min(Instant::now() + limit), ..self }
    }

    /// The remaining time; `TimedOut` if the wait is over.
    pub(crate) fn check(&self) -> io::Result<Duration> {
        let left = self.deadline.saturating_duration_since(Instant::now());
        let ends = |flag: &AtomicBool| flag.load(Ordering::Relaxed);
        if left.is_zero() || ends(self.given_up) || self.out.is_some_and(ends) || self.stop.is_some_and(ends)
        {
            return Err(ErrorKind::TimedOut.into());
        }
        Ok(left)
    }

    /// Waits for `fd`. It may return early.
    pub(crate) fn wait(&self, fd: BorrowedFd<'_>, flags: PollFlags) -> io::Result<()> {
        let left = self.check()?;
        poll_fds(&mut [PollFd::from_borrowed_fd(fd, flags)], left.min(LOOK))
    }

    /// Sends all of `out` and flushes it.
    pub(crate) fn send<L: Tx + AsFd + ?Sized>(&self, link: &mut L, out: &[u8]) -> io::Result<()> {
        let mut taken = 0;
        loop {
            if taken < out.len() {
                taken += link.try_send(&out[taken..])?;
            }
            if link.try_flush()? && taken == out.len() {
                return Ok(());
            }
            self.wait(link.as_fd(), PollFlags::OUT)?;
        }
    }

    /// Fills `into`.
    pub(crate) fn recv<L: Rx + AsFd + ?Sized>(&self, link: &mut L, into: &mut [u8]) -> io::Result<()> {
        let mut got = 0;
        while got < into.len() {
            match link.try_recv(&mut into[got..])? {
                0 => self.wait(link.as_fd(), PollFlags::IN)?,
                n => got += n,
            }
        }
        Ok(())
    }
}

/// The addresses of a host and port.
///
/// # Errors
/// `TimedOut` after `limit`; the system's error if it does not know the name.
pub fn resolve(address: &str, limit: Duration) -> io::Result<Vec<SocketAddr>> {
    let goes_on = AtomicBool::new(false);
    resolve_under(
        address,
        &Guard { deadline: Instant::now() + limit, given_up: &goes_on, out: None, stop: None },
    )
}

/// The addresses of a host and port. The system's resolver has no deadline, so a thread asks it and
/// is abandoned when the time is over.
fn resolve_under(address: &str, guard: &Guard<'_>) -> io::Result<Vec<SocketAddr>> {
    if let Ok(addr) = address.parse() {
        return Ok(vec![addr]);
    }
    let name = address.to_owned();
    looked_up(guard, move || Ok(name.to_socket_addrs()?.collect()))
}

fn looked_up(
    guard: &Guard<'_>,
    ask: impl FnOnce() -> io::Result<Vec<SocketAddr>> + Send + 'static,
) -> io::Result<Vec<SocketAddr>> {
    let (tell, told) = mpsc::channel();
    // The receiver may be gone.
    let asks = move || drop(tell.send(ask()));
    thread::Builder::new().name("hushwire-name".to_owned()).spawn(asks)?;
    loop {
        let late = |_| io::Error::new(ErrorKind::TimedOut, "its name was not resolved in time");
        match told.recv_timeout(guard.check().map_err(late)?.min(LOOK)) {
            Ok(found) => return found,
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => {
                return Err(io::Error::other("the system's resolver did not come back"));
            }
        }
    }
}

/// Tries once to connect to `address`, over each address that it resolves to.
pub(crate) fn dial(address: &str, guard: &Guard<'_>, socket_buffer: Option<usize>) -> io::Result<TcpStream> {
    let mut last = io::Error::new(ErrorKind::NotFound, "the name has no address");
    for addr in resolve_under(address, guard)? {
        match dial_one(addr, guard, socket_buffer) {
            Ok(stream) => return Ok(stream),
            Err(e) => last = e,
        }
        guard.check()?;
    }
    Err(last)
}

/// The time that one address may be silent before the next is tried.
const SILENT: Duration = Duration::from_secs(5);

fn dial_one(addr: SocketAddr, guard: &Guard<'_>, socket_buffer: Option<usize>) -> io::Result<TcpStream> {
    let socket = Socket::new(Domain::for_address(addr), Type::STREAM, Some(Protocol::TCP))?;
    socket.set_nonblocking(true)?;
    tune(&socket, socket_buffer)?;
    match socket.connect(&SockAddr::from(addr)) {
        Ok(()) => {}
        Err(e) if is_under_way(&e) => {
            let guard = guard.within(SILENT);
            loop {
                guard.wait(socket.as_fd(), PollFlags::OUT)?;
                if let Some(e) = socket.take_error()? {
                    return Err(e);
                }
                if socket.peer_addr().is_ok() {
                    break;
                }
            }
        }
        Err(e) => return Err(e),
    }
    // Dialling a port of this host can hit the socket's own source port. The socket is then
    // connected to itself.
    if socket.local_addr()?.as_socket() == Some(addr) {
        return Err(ErrorKind::ConnectionRefused.into());
    }
    Ok(socket.into())
}

/// Whether a non-blocking connect is in progress. Windows reports that it would block.
fn is_under_way(e: &io::Error) -> bool {
    e.raw_os_error() == Some(rustix::io::Errno::INPROGRESS.raw_os_error())
        || (cfg!(windows) && e.kind() == ErrorKind::WouldBlock)
}

/// LOCAL: the number of segments that must fit in a small socket buffer.
#[cfg(unix)]
const SEGMENTS: usize = 8;
#[cfg(unix)]
const LOOPBACK_SEGMENT_BYTES: usize = 1 << 16;
/// The segment length that every host must accept (RFC 9293), in bytes.
#[cfg(unix)]
const LEAST_SEGMENT_BYTES: usize = 536;

fn tune(socket: &Socket, buffer: Option<usize>) -> io::Result<()> {
    socket.set_tcp_nodelay(true)?;
    if let Some(bytes) = buffer {
        socket.set_send_buffer_size(bytes)?;
        socket.set_recv_buffer_size(bytes)?;
        // With a window shorter than two segments, each segment waits for a delayed
        // acknowledgement, and loopback segments are 64 KiB long. Windows chooses by itself.
        #[cfg(unix)]
        if bytes < SEGMENTS * LOOPBACK_SEGMENT_BYTES {
            let segment = (bytes / SEGMENTS).max(LEAST_SEGMENT_BYTES);
            socket.set_tcp_mss(u32::try_from(segment).unwrap_or(u32::MAX))?;
        }
    }
    Ok(())
}

/// Writes as many bytes as the socket takes; 0 means that it would block.
pub(crate) fn try_write(socket: &mut impl Write, out: &[u8]) -> io::Result<usize> {
    loop {
        match socket.write(out) {
            Err(e) if e.kind() == ErrorKind::WouldBlock => return Ok(0),
            Err(e) if e.kind() == ErrorKind::Interrupted => {}
            written => return written,
        }
    }
}

/// Writes `out[waiting]`, which then is what still waits. Returns true when nothing does.
pub(crate) fn flush(socket: &mut impl Write, out: &[u8], waiting: &mut Range<usize>) -> io::Result<bool> {
    while waiting.start < waiting.end {
        let n = try_write(socket, &out[waiting.clone()])?;
        if n == 0 {
            return Ok(false);
        }
        waiting.start += n;
    }
    *waiting = 0..0;
    Ok(true)
}

/// Reads the bytes that the socket has; 0 means that it would block.
pub(crate) fn try_read(socket: &mut impl Read, into: &mut [u8]) -> io::Result<usize> {
    loop {
        match socket.read(into) {
            Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
            Err(e) if e.kind() == ErrorKind::WouldBlock => return Ok(0),
            Err(e) if e.kind() == ErrorKind::Interrupted => {}
            read => return read,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_nobody_resolves_is_waited_for_until_the_deadline_alone() {
        let given_up = AtomicBool::new(false);
        let guard = |limit| Guard {
            deadline: Instant::now() + limit,
            given_up: &given_up,
            out: None::<&AtomicBool>,
            stop: None,
        };
        let (_open, never) = mpsc::channel();
        let late =
            looked_up(&guard(Duration::from_millis(50)), move || never.recv().map_err(io::Error::other));
        let late = late.err().map(|e| (e.kind(), e.to_string()));
        assert_eq!(late, Some((ErrorKind::TimedOut, "its name was not resolved in time".to_owned())));
        let patient = guard(Duration::from_secs(60));
        let address = SocketAddr::from(([127, 0, 0, 1], 7000));
        assert_eq!(looked_up(&patient, move || Ok(vec![address])).ok(), Some(vec![address]));
        assert_eq!(resolve_under("127.0.0.1:7000", &patient).ok(), Some(vec![address]));
        assert_eq!(resolve("127.0.0.1:7000", Duration::ZERO).ok(), Some(vec![address]));
        // Without time, no answer can come.
        let error = resolve("localhost:7000", Duration::ZERO).err().map(|e| e.kind());
        assert_eq!(error, Some(ErrorKind::TimedOut));
    }
}
