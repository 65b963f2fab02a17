//! Addresses that a test can name before a process listens there.

use std::fmt::{self, Display, Formatter};
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::process::id;
use std::sync::atomic::{AtomicU32, Ordering};

use socket2::{Domain, Socket, Type};

/// A TCP port on loopback that is reserved for a test. Code that knows its number can listen there,
/// and the system gives it to no other process.
///
/// A port that is found free and then released can be taken before a test uses it, since concurrent
/// tests open hundreds of connections.
#[derive(Debug)]
pub struct Port {
    address: SocketAddr,
    _held: Socket,
}

impl Port {
    /// Reserves a port that the system chooses.
    ///
    /// # Panics
    /// If no port is free.
    #[must_use]
    pub fn new() -> Self {
        Self::at(0).expect("a port")
    }

    /// Reserves `N` neighbouring ports. They are below those that the system gives to connections,
    /// and no test of this process gets them twice.
    ///
    /// # Panics
    /// If no such ports are free.
    #[must_use]
    pub fn row<const N: usize>() -> [Self; N] {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let row = (0..2000).find_map(|_| {
            let place = id().wrapping_mul(211).wrapping_add(NEXT.fetch_add(1, Ordering::Relaxed)) % 2000;
            let first = 10_000 + place as usize * N;
            let ports = (first..first + N).map_while(|port| Self::at(u16::try_from(port).ok()?).ok());
            ports.collect::<Vec<_>>().try_into().ok()
        });
        row.expect("neighbouring ports")
    }

    /// Reserves the port with this number, or one of the system's choice if it is 0.
    fn at(port: u16) -> io::Result<Self> {
        let held = Socket::new(Domain::IPV4, Type::STREAM, None)?;
        held.bind(&SocketAddr::from((Ipv4Addr::LOCALHOST, port)).into())?;
        // The port is bound exclusively, then shared with sockets that ask for it by number. It
        // never listens, so a connection is refused unless another socket listens there.
        held.set_reuse_address(true)?;
        let address = held.local_addr()?.as_socket().ok_or(io::ErrorKind::Unsupported)?;
        Ok(Self { address, _held: held })
    }

    /// The port's number.
    #[must_use]
    pub fn number(&self) -> u16 {
        self.address.port()
    }
}

/// The text is the address in options and files: `127.0.0.1:PORT`.
impl Display for Port {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.address.fmt(f)
    }
}

impl Default for Port {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::net::{TcpListener, TcpStream};

    use super::*;

    #[test]
    fn a_port_is_kept_for_those_who_name_it() {
        let port = Port::new();
        assert!(TcpStream::connect(port.to_string()).is_err());
        for _ in 0..2 {
            let listener = TcpListener::bind(port.to_string()).expect("the kept port");
            assert!(TcpStream::connect(port.to_string()).is_ok());
            drop(listener);
            assert!(TcpStream::connect(port.to_string()).is_err());
        }
        // The system never chooses it in a thousand attempts.
        let others: Vec<_> =
            (0..1000).filter_map(|_| TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).ok()).collect();
        let numbers: BTreeSet<u16> =
            others.iter().filter_map(|l| l.local_addr().ok()).map(|a| a.port()).collect();
        assert!(numbers.len() > 100 && !numbers.contains(&port.number()));
    }

    #[test]
    fn rows_are_neighbours_that_nobody_else_gets() {
        let rows = [(); 20].map(|()| Port::row::<3>().map(|port| port.number()));
        assert!(rows.iter().all(|[a, b, c]| (a + 1, b + 1) == (*b, *c)), "{rows:?}");
        let held = Port::row::<2>();
        let listener = TcpListener::bind(held[1].to_string()).expect("the kept port");
        assert!(Port::at(held[0].number()).is_err() && Port::at(held[1].number()).is_err());
        drop(listener);
    }
}
