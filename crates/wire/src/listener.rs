//! The endpoint at which a party accepts its peers: a TCP port or a Unix socket.
//!
//! A [`Listener`] outlives sessions. It serves one session at a time, or many if it is shared. Its
//! connections may also come from another process, which hands them over.

use std::{
    io::{self, ErrorKind},
    net::{SocketAddr, TcpListener},
};

use rustix::{
    event::PollFlags,
    fd::{AsFd, BorrowedFd},
};

#[cfg(unix)]
use crate::unix::UnixPath;
use hushwire_machine::NetError;

use crate::{TransportKind, port::Port, session::UNIX_PREFIX, tcp, tcp::Guard, transport::HostStream};

/// The TCP port or Unix socket at which a party accepts all its peers. It outlives sessions and
/// serves one at a time, or many if it is [shared](Listener::shared).
pub struct Listener {
    socket: Socket,
    address: String,
    /// The sessions of a shared listener.
    port: Option<Port>,
}

enum Socket {
    Tcp(TcpListener),
    #[cfg(unix)]
    Unix(UnixPath),
    /// Connections that another process accepted.
    #[cfg(target_os = "linux")]
    Handed(crate::handed::Handed),
}

impl Listener {
    /// Listens on `addr`: `host:port`, `1.2.3.4:port`, `[::1]:port` or `unix:/path`.
    ///
    /// For port 0 the system chooses a port. It takes the first of a host name's addresses that
    /// works. A Unix socket's file has mode 0600 and is removed when the listener is dropped. Its
    /// directory should be writable only by its owner. The file of a process that has ended is
    /// replaced, the file of a living process is not.
    ///
    /// # Errors
    /// [`NetError::Listen`] if the name does not resolve, or the port or path is not available.
    pub fn bind(addr: &str) -> Result<Self, NetError> {
        let bound = match addr.strip_prefix(UNIX_PREFIX) {
            Some(path) => bind_unix(path),
            None => tcp::bind(addr).and_then(|socket| {
                let address = socket.local_addr()?.to_string();
                Ok(Self { socket: Socket::Tcp(socket), address, port: None })
            }),
        };
        bound.map_err(|source| NetError::Listen { address: addr.to_owned(), source })
    }

    /// Takes connections that another process accepts and hands over with
    /// [`HandOver`](crate::HandOver), whose other end is `from`. Peers dial `address`.
    ///
    /// # Errors
    /// `from` is not such a socket.
    #[cfg(target_os = "linux")]
    pub fn handed(from: std::os::fd::OwnedFd, address: &str) -> io::Result<Self> {
        let socket = Socket::Handed(crate::handed::Handed::new(from)?);
        Ok(Self { socket, address: address.to_owned(), port: None })
    }

    /// Lets many sessions with one key and transport join at the same time. Hellos tell them apart
    /// by member, session, job and parameters. A hello that fits no session is not answered, since
    /// its session may begin here later. A peer with another job therefore waits in vain. Without
    /// sharing, both ends would name the difference.
    #[must_use]
    pub fn shared(self) -> Self {
        Self { port: Some(Port::default()), ..self }
    }

    pub(crate) fn port(&self) -> Option<&Port> {
        self.port.as_ref()
    }

    /// The address that peers dial: `1.2.3.4:port`, `[::1]:port` or `unix:/path`.
    #[must_use]
    pub fn address(&self) -> String {
        self.address.clone()
    }

    /// The address and port on which it listens.
    ///
    /// # Errors
    /// The operating system's error; `Unsupported` for a Unix socket or handed connections, which
    /// have no port.
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        match &self.socket {
            Socket::Tcp(socket) => socket.local_addr(),
            #[cfg(unix)]
            Socket::Unix(_) => Err(ErrorKind::Unsupported.into()),
            #[cfg(target_os = "linux")]
            Socket::Handed(_) => Err(ErrorKind::Unsupported.into()),
        }
    }

    /// Refuses a `transport` that this listener cannot serve, before any peer waits for it.
    pub(crate) fn check(&self, transport: TransportKind) -> Result<(), NetError> {
        if self.address.starts_with(UNIX_PREFIX) == transport.is_local() {
            return Ok(());
        }
        let wanted = if transport.is_local() { "unix:/path" } else { "host:port" };
        let what = format!("transport {transport} listens on {wanted}, not on {}", self.address);
        Err(NetError::Config { peer: None, what })
    }

    /// Accepts the next connection; `TimedOut` when `guard` ends the wait.
    pub(crate) fn accept(&self, guard: &Guard<'_>, socket_buffer: Option<usize>) -> io::Result<Accepted> {
        loop {
            if let Some(accepted) = self.take(socket_buffer)? {
                return Ok(accepted);
            }
            guard.wait(self.fd(), PollFlags::IN)?;
        }
    }

    /// Accepts a waiting connection; `None` if there is none.
    pub(crate) fn take(&self, socket_buffer: Option<usize>) -> io::Result<Option<Accepted>> {
        loop {
            let fresh = |stream: HostStream| (stream, Vec::new());
            let taken = match &self.socket {
                Socket::Tcp(socket) => {
                    tcp::take(socket, socket_buffer).map(|s| s.map(HostStream::Tcp).map(fresh))
                }
                #[cfg(unix)]
                Socket::Unix(socket) => {
                    socket.take(socket_buffer).map(|s| s.map(HostStream::Unix).map(fresh))
                }
                #[cfg(target_os = "linux")]
                Socket::Handed(socket) => socket
                    .take(socket_buffer)
                    .map(|taken| taken.map(|(stream, first)| (HostStream::Tcp(stream), first))),
            };
            match taken {
                // The peer left the queue before it was accepted.
                Err(e) if matches!(e.kind(), ErrorKind::ConnectionAborted | ErrorKind::Interrupted) => {}
                other => return other,
            }
        }
    }

    /// The descriptor to poll for connections.
    pub(crate) fn fd(&self) -> BorrowedFd<'_> {
        match &self.socket {
            Socket::Tcp(socket) => socket.as_fd(),
            #[cfg(unix)]
            Socket::Unix(socket) => socket.fd(),
            #[cfg(target_os = "linux")]
            Socket::Handed(socket) => socket.fd(),
        }
    }
}

/// A connection, and the bytes that were already read from it.
pub(crate) type Accepted = (HostStream, Vec<u8>);

#[cfg(unix)]
fn bind_unix(path: &str) -> io::Result<Listener> {
    let socket = UnixPath::bind(path.as_ref())?;
    let address = format!("{UNIX_PREFIX}{path}");
    Ok(Listener { socket: Socket::Unix(socket), address, port: None })
}

#[cfg(not(unix))]
fn bind_unix(_: &str) -> io::Result<Listener> {
    Err(io::Error::new(ErrorKind::Unsupported, "this system has no Unix sockets"))
}
