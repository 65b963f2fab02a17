//! The waiting room of connections that have not yet sent a whole hello. One thread serves them
//! all, at little cost and for a limited time.
//!
//! Anyone who finds the port can connect. A connection that sends nothing, or sends slowly, costs a
//! descriptor until the time limit or until a newer connection evicts it. A thread and cryptography
//! are spent only on connections that have sent all that a peer sends first: a TLS `ClientHello`,
//! or a hello of this crate. If there are too many, the address with the most connections loses its
//! oldest one. A new connection is never evicted, so peers that share an address with strangers
//! still get in.

use std::{
    collections::BTreeMap,
    io,
    net::IpAddr,
    time::{Duration, Instant},
};

use hushwire_machine::{out_of_descriptors, poll_fds};
use rustix::{
    event::{PollFd, PollFlags},
    fd::AsFd,
};

use crate::{
    Listener,
    bell::Bell,
    hello::HELLO_BYTES,
    tcp::try_read,
    tls_records::{HEADER_BYTES, RECORD_BYTES},
    transport::HostStream,
};

/// LOCAL: the time that a connection may take to send its first bytes. Unless packets are lost,
/// they come with the connection.
const FIRST_WORDS: Duration = Duration::from_secs(3);
/// LOCAL: the number of connections that wait, in total and from one address.
const WAITING: Crowd = Crowd { all: 256, of_one: 128 };
/// LOCAL: the number of connections taken from the system's queue in one turn.
const TAKEN: usize = 64;
/// LOCAL: the time to wait until a thread is free to run the handshake.
const SOON: Duration = Duration::from_millis(1);
/// The first byte of a TLS handshake record.
const HANDSHAKE: u8 = 22;

/// The limits of a crowd of connections.
pub(crate) struct Crowd {
    pub(crate) all: usize,
    pub(crate) of_one: usize,
}

/// The origin of a connection, as precisely as strangers can be told apart: an IPv4 address, the
/// network of an IPv6 address, or this host.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Origin(Option<[u8; 8]>);

impl Origin {
    pub(crate) fn of(address: Option<IpAddr>) -> Self {
        Self(address.map(|address| {
            let mut key = [0; 8];
            match address.to_canonical() {
                IpAddr::V4(ip) => key[..4].copy_from_slice(&ip.octets()),
                // A host can choose addresses from a whole network with a 64-bit prefix.
                IpAddr::V6(ip) => key.copy_from_slice(&ip.octets()[..8]),
            }
            key
        }))
    }
}

impl Crowd {
    /// The index in `those`, oldest first, of the connection to evict before another one of
    /// `origin` is added; `None` if there is space.
    pub(crate) fn evicts(
        &self,
        origin: Origin,
        those: impl Iterator<Item = Origin> + Clone,
    ) -> Option<usize> {
        let mut counts: BTreeMap<Origin, usize> = BTreeMap::new();
        those.clone().for_each(|origin| *counts.entry(origin).or_default() += 1);
        let full = if counts.get(&origin).is_some_and(|&n| n >= self.of_one) {
            origin
        } else if counts.values().sum::<usize>() >= self.all {
            *counts.iter().max_by_key(|(_, n)| **n)?.0
        } else {
            return None;
        };
        those.into_iter().position(|origin| origin == full)
    }
}

/// A connection and its first bytes.
pub(crate) struct Visitor {
    pub(crate) stream: HostStream,
    pub(crate) origin: Origin,
    pub(crate) first: Vec<u8>,
    since: Instant,
}

pub(crate) struct Lobby {
    tls: bool,
    /// The connections that wait, oldest first.
    waiting: Vec<Visitor>,
    /// The connections that have sent all that they send first.
    ready: Vec<Visitor>,
    /// The number of connections that were closed before that: too slow, evicted, or gone.
    lost: u64,
}

/// The result of reading from a connection.
enum FirstWords {
    All,
    Part,
    Gone,
}

impl Lobby {
    pub(crate) fn new(tls: bool) -> Self {
        Self { tls, waiting: Vec::new(), ready: Vec::new(), lost: 0 }
    }

    /// The next connection that has sent enough.
    pub(crate) fn next(&mut self) -> Option<Visitor> {
        (!self.ready.is_empty()).then(|| self.ready.remove(0))
    }

    /// The number of connections that were closed before they had sent enough.
    pub(crate) fn lost(&self) -> u64 {
        self.lost
    }

    /// Waits for connections and for their first bytes, until something comes, `ear` rings or
    /// `limit` has passed.
    ///
    /// # Errors
    /// The system refuses to give connections.
    pub(crate) fn turn(
        &mut self,
        listener: &Listener,
        buffer: Option<usize>,
        ear: &Bell,
        limit: Duration,
    ) -> io::Result<()> {
        let now = Instant::now();
        let waited = self.waiting.len();
        self.waiting.retain(|visitor| now - visitor.since < FIRST_WORDS);
        self.lost += (waited - self.waiting.len()) as u64;
        // Ready connections wait for a thread, and no event signals that one is free.
        let limit = if self.ready.is_empty() { limit } else { SOON };
        let mut fds =
            vec![PollFd::from_borrowed_fd(listener.fd(), PollFlags::IN), PollFd::new(ear, PollFlags::IN)];
        fds.extend(self.waiting.iter().map(|v| PollFd::from_borrowed_fd(v.stream.as_fd(), PollFlags::IN)));
        poll_fds(&mut fds, limit)?;
        let speaks: Vec<_> = fds[2..].iter().map(|fd| !fd.revents().is_empty()).collect();
        let comes = !fds[0].revents().is_empty();
        let mut speaks = speaks.into_iter();
        for mut visitor in core::mem::take(&mut self.waiting) {
            let said = if speaks.next() == Some(true) { visitor.hear(self.tls) } else { FirstWords::Part };
            self.place(visitor, &said);
        }
        for _ in 0..TAKEN {
            if !comes || self.ready.len() >= TAKEN {
                break;
            }
            let (stream, first) = match listener.take(buffer) {
                Ok(Some(accepted)) => accepted,
                Ok(None) => break,
                // A waiting connection is dropped to free a descriptor for the next one.
                Err(e) if out_of_descriptors(&e) && !self.waiting.is_empty() => {
                    self.put_out(Origin(None), &Crowd { all: 0, of_one: usize::MAX });
                    continue;
                }
                Err(e) => return Err(e),
            };
            let origin = stream.origin();
            self.put_out(origin, &WAITING);
            let mut visitor = Visitor { stream, origin, first, since: now };
            let said = visitor.hear(self.tls);
            self.place(visitor, &said);
        }
        Ok(())
    }

    fn place(&mut self, visitor: Visitor, said: &FirstWords) {
        match said {
            FirstWords::All => self.ready.push(visitor),
            FirstWords::Part => self.waiting.push(visitor),
            FirstWords::Gone => self.lost += 1,
        }
    }

    /// Evicts connections that have not sent enough, to make space.
    fn put_out(&mut self, origin: Origin, crowd: &Crowd) {
        if let Some(at) = crowd.evicts(origin, self.waiting.iter().map(|visitor| visitor.origin)) {
            self.waiting.remove(at);
            self.lost += 1;
        }
    }
}

impl Visitor {
    /// Reads a connection's first bytes, and no more.
    fn hear(&mut self, tls: bool) -> FirstWords {
        loop {
            let (have, wanted) = (self.first.len(), first_bytes(tls, &self.first));
            if have >= wanted {
                return FirstWords::All;
            }
            self.first.resize(wanted, 0);
            let read = match &mut self.stream {
                HostStream::Tcp(stream) => try_read(stream, &mut self.first[have..]),
                #[cfg(unix)]
                HostStream::Unix(stream) => try_read(stream, &mut self.first[have..]),
            };
            self.first.truncate(have + *read.as_ref().unwrap_or(&0));
            match read {
                Ok(0) => return FirstWords::Part,
                Ok(_) => {}
                Err(_) => return FirstWords::Gone,
            }
        }
    }
}

/// The number of first bytes to read, given those in `first`: a TLS record, or a hello. Bytes that
/// are not a TLS handshake record count as complete, so that TLS refuses them.
pub(crate) fn first_bytes(tls: bool, first: &[u8]) -> usize {
    match first {
        _ if !tls => HELLO_BYTES,
        [] => 1,
        [kind, ..] if *kind != HANDSHAKE => first.len(),
        [_, _, _, high, low, ..] => match usize::from(u16::from_be_bytes([*high, *low])) {
            bytes @ ..=RECORD_BYTES => HEADER_BYTES + bytes,
            _ => first.len(),
        },
        _ => HEADER_BYTES,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn origin(text: &str) -> Origin {
        Origin::of(Some(text.parse().unwrap_or_else(|e| panic!("{text}: {e}"))))
    }

    #[test]
    fn the_oldest_of_the_fullest_address_goes() {
        let [a, b, c] = ["10.0.0.1", "10.0.0.2", "10.0.0.3"].map(origin);
        let crowd = Crowd { all: 6, of_one: 4 };
        let evicts = |origin, those: &[Origin]| crowd.evicts(origin, those.iter().copied());
        assert_eq!(evicts(a, &[]), None);
        assert_eq!(evicts(a, &[b, a, a, a, b]), None);
        // The address has used its share.
        assert_eq!(evicts(a, &[b, a, a, a, a]), Some(1));
        // All space is taken. The address with the most connections loses its oldest one, and the
        // newcomer is kept.
        assert_eq!(evicts(c, &[b, a, a, b, a, a]), Some(1));
        assert_eq!(evicts(c, &[b, b, a, c, b, a]), Some(0));
        assert_eq!(evicts(a, &[b, b, a, c, b, a]), Some(0));
        assert_eq!(Crowd { all: 0, of_one: 9 }.evicts(a, [b, b].into_iter()), Some(0));
    }

    #[test]
    fn an_address_is_a_host_or_its_network() {
        assert_eq!(origin("10.0.0.1"), origin("::ffff:10.0.0.1"));
        assert_ne!(origin("10.0.0.1"), origin("10.0.0.2"));
        assert_eq!(origin("2001:db8:1:2::1"), origin("2001:db8:1:2:ffff::7"));
        assert_ne!(origin("2001:db8:1:2::1"), origin("2001:db8:1:3::1"));
        assert_ne!(Origin::of(None), origin("0.0.0.0"));
    }

    #[test]
    fn first_words_end_where_the_first_record_does() {
        assert_eq!(first_bytes(false, &[]), HELLO_BYTES);
        assert_eq!(first_bytes(false, &[22; 128]), HELLO_BYTES);
        let record = [22, 3, 1, 2, 5, 9, 9];
        for (have, wanted) in [(0, 1), (1, 5), (4, 5), (5, 5 + 0x205), (7, 5 + 0x205)] {
            assert_eq!(first_bytes(true, &record[..have]), wanted, "{have}");
        }
        // Bytes that are not TLS, and a record that is longer than allowed.
        assert_eq!(first_bytes(true, b"GET"), 3);
        assert_eq!(first_bytes(true, &[22, 3, 1, 0x40, 1]), 5);
        assert_eq!(first_bytes(true, &[22, 3, 1, 0x40, 0]), 5 + RECORD_BYTES);
        assert_eq!(first_bytes(true, &[22, 3, 1, 0, 0]), 5);
    }
}
