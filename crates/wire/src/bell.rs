//! A connection within this process. A byte into one end wakes a thread that polls the other end
//! together with sockets.

use std::io;

/// One end of a pair of sockets that wakes a thread.
#[cfg(unix)]
pub(crate) type Bell = std::os::unix::net::UnixStream;
/// One end of a pair of sockets that wakes a thread. Windows polls only network sockets.
#[cfg(not(unix))]
pub(crate) type Bell = std::net::TcpStream;

/// Makes both ends, which do not block.
pub(crate) fn pair() -> io::Result<(Bell, Bell)> {
    let (one, other) = connected()?;
    one.set_nonblocking(true)?;
    other.set_nonblocking(true)?;
    Ok((one, other))
}

#[cfg(unix)]
fn connected() -> io::Result<(Bell, Bell)> {
    Bell::pair()
}

#[cfg(not(unix))]
fn connected() -> io::Result<(Bell, Bell)> {
    let listener = std::net::TcpListener::bind((std::net::Ipv4Addr::LOCALHOST, 0))?;
    let one = Bell::connect(listener.local_addr()?)?;
    loop {
        let (other, from) = listener.accept()?;
        // Another process may have dialled this port. Its connection is dropped.
        if from == one.local_addr()? {
            one.set_nodelay(true)?;
            return Ok((one, other));
        }
    }
}
