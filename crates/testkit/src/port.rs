//! Addresses that a test can name before somebody listens there.

use std::fmt::{self, Display, Formatter};
use std::net::{Ipv4Addr, SocketAddr};

use socket2::{Domain, Socket, Type};

/// A TCP port on loopback that is kept for a test: whoever names it can listen there, and the system gives it to nobody else.
///
/// A port that is found free and let go can be anybody's before a test comes to use it: tests that run meanwhile open hundreds
/// of connections.
#[derive(Debug)]
pub struct Port {
    address: SocketAddr,
    _held: Socket,
}

impl Port {
    /// Takes a port of the system's choice.
    ///
    /// # Panics
    /// If there is none: it is for tests.
    #[must_use]
    pub fn new() -> Self {
        let held = Socket::new(Domain::IPV4, Type::STREAM, None).expect("a socket");
        held.bind(&SocketAddr::from((Ipv4Addr::LOCALHOST, 0)).into()).expect("a port");
        // Chosen without sharing, and shared from now on with those who ask for it by number. It never listens: whoever
        // dials while nobody else does is refused.
        held.set_reuse_address(true).expect("a port that others can listen at");
        let address = held.local_addr().expect("an address").as_socket().expect("an address of IPv4");
        Self { address, _held: held }
    }

    /// The number of the port.
    #[must_use]
    pub fn number(&self) -> u16 {
        self.address.port()
    }
}

/// The address, as options and files have it: `127.0.0.1:PORT`.
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
        // Of a thousand that the system chooses it is none.
        let others: Vec<_> =
            (0..1000).filter_map(|_| TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).ok()).collect();
        let numbers: BTreeSet<u16> =
            others.iter().filter_map(|l| l.local_addr().ok()).map(|a| a.port()).collect();
        assert!(numbers.len() > 100 && !numbers.contains(&port.number()));
    }
}
