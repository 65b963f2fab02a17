//! Converts a connection into the link that a session asked for.
//!
//! TLS runs over TCP. Plain links run over Unix sockets between processes of one user or, for
//! measurements and tests, over TCP. For shared memory, a ring replaces the Unix socket after the
//! hellos.

#[cfg(unix)]
use std::os::unix::net::UnixStream;
use std::{
    io::{self, ErrorKind, Read, Write},
    net::TcpStream,
};

use hushwire_machine::{Rx, Tx, Wait};
use rustix::fd::{AsFd, BorrowedFd};

use crate::{
    Pin, SessionConfig, TransportKind,
    hello::GreetingRole,
    lobby::Origin,
    slot::Duplex,
    tcp::{self, Guard, try_read, try_write},
    tls::{ShownCertificate, TlsSide},
};

/// A connection of either family, as the system gives it.
pub(crate) enum HostStream {
    Tcp(TcpStream),
    #[cfg(unix)]
    Unix(UnixStream),
}

impl HostStream {
    /// The origin of the connection; this host if its other end is gone.
    pub(crate) fn origin(&self) -> Origin {
        Origin::of(match self {
            Self::Tcp(stream) => stream.peer_addr().ok().map(|addr| addr.ip()),
            #[cfg(unix)]
            Self::Unix(_) => None,
        })
    }
}

impl AsFd for HostStream {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Self::Tcp(stream) => stream.as_fd(),
            #[cfg(unix)]
            Self::Unix(stream) => stream.as_fd(),
        }
    }
}

/// Tries once to connect to `address`, `host:port` or `unix:/path`.
pub(crate) fn dial(address: &str, guard: &Guard<'_>, buffer: Option<usize>) -> io::Result<HostStream> {
    #[cfg(unix)]
    if let Some(path) = address.strip_prefix(crate::session::UNIX_PREFIX) {
        return crate::unix::dial(path, buffer).map(HostStream::Unix);
    }
    tcp::dial(address, guard, buffer).map(HostStream::Tcp)
}

/// The dialler's endpoint of `stream`. The peer must hold the certificate of `pin`, or be a process
/// of this user.
pub(crate) fn dialled(
    stream: HostStream,
    cfg: &SessionConfig,
    tls: &TlsSide,
    pin: Pin,
    guard: &Guard<'_>,
) -> io::Result<(Box<dyn Duplex>, Option<ShownCertificate>)> {
    match (cfg.transport, stream) {
        (TransportKind::TcpTls, HostStream::Tcp(stream)) => {
            let (link, shown) = tls.dial_named(stream, pin, cfg.server_name.as_deref(), guard)?;
            Ok((Box::new(link), Some(shown)))
        }
        (transport, stream) => Ok((plain(transport, stream)?, None)),
    }
}

/// The listener's endpoint of `stream` with `transport`, and the certificate that the peer showed,
/// if any. TLS continues from `first`, the bytes that were already read, with a holder of one of
/// `pins` or with any peer.
pub(crate) fn accepted(
    stream: HostStream,
    cfg: &SessionConfig,
    tls: &TlsSide,
    pins: Option<Vec<Pin>>,
    guard: &Guard<'_>,
    first: &[u8],
) -> io::Result<(Box<dyn Duplex>, Option<ShownCertificate>)> {
    match (cfg.transport, stream) {
        (TransportKind::TcpTls, HostStream::Tcp(stream)) => {
            let (link, shown) = tls.accept(stream, pins, guard, first)?;
            Ok((Box::new(link), Some(shown)))
        }
        (transport, stream) => Ok((plain(transport, stream)?, None)),
    }
}

fn plain(transport: TransportKind, stream: HostStream) -> io::Result<Box<dyn Duplex>> {
    match (transport, stream) {
        #[cfg(feature = "tcp-insecure")]
        (TransportKind::TcpInsecure, HostStream::Tcp(stream)) => Ok(Box::new(PlainLink(stream))),
        #[cfg(unix)]
        (TransportKind::Unix | TransportKind::Shm, HostStream::Unix(stream)) => {
            crate::unix::check_user(&stream)?;
            Ok(Box::new(PlainLink(stream)))
        }
        // The configuration makes this unreachable: addresses and listeners are checked before any
        // peer is dialled.
        _ => Err(io::Error::new(ErrorKind::InvalidInput, "the address is not one of this transport")),
    }
}

/// The link for data after both hellos agree: the connection itself, or a ring that is passed over
/// it.
pub(crate) fn settled(
    link: Box<dyn Duplex>,
    transport: TransportKind,
    sends: bool,
    role: GreetingRole,
    guard: &Guard<'_>,
) -> io::Result<Box<dyn Duplex>> {
    match transport {
        #[cfg(target_os = "linux")]
        TransportKind::Shm => crate::shm_link::settle(&*link, sends, role, guard),
        #[cfg(not(target_os = "linux"))]
        TransportKind::Shm => {
            let _ = (sends, role, guard);
            Err(ErrorKind::Unsupported.into())
        }
        _ => Ok(link),
    }
}

/// Plain bytes, from the caller's slice to the socket and back.
// On systems without Unix sockets and plain TCP, every link is TLS.
#[cfg_attr(not(any(unix, feature = "tcp-insecure")), allow(dead_code))]
pub(crate) struct PlainLink<S>(pub(crate) S);

impl<S: Write + AsFd + Send> Tx for PlainLink<S> {
    fn try_send(&mut self, out: &[u8]) -> io::Result<usize> {
        try_write(&mut self.0, out)
    }

    fn try_flush(&mut self) -> io::Result<bool> {
        Ok(true)
    }

    fn wait_on(&self) -> Wait<'_> {
        Wait::Fd(self.0.as_fd())
    }
}

impl<S: Read + AsFd + Send> Rx for PlainLink<S> {
    fn try_recv(&mut self, into: &mut [u8]) -> io::Result<usize> {
        try_read(&mut self.0, into)
    }

    fn wait_on(&self) -> Wait<'_> {
        Wait::Fd(self.0.as_fd())
    }
}

impl<S: AsFd> AsFd for PlainLink<S> {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}
