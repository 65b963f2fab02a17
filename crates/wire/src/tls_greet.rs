//! The TLS handshake over a non-blocking socket, by the unbuffered API of rustls, up to the
//! hand-over of the keys.
//!
//! The link that follows takes over the keys, and bytes that came early
//! ([`tls_link`](crate::tls_link)). A refused peer gets time to read the alert before the
//! connection closes.

use std::{
    error::Error as StdError,
    io::{self, ErrorKind},
    net::{Shutdown, TcpStream},
    ops::Range,
    time::Duration,
};

use hushwire_machine::TlsError;
use rustix::{event::PollFlags, fd::AsFd};
use rustls::{
    CommonState, ConnectionTrafficSecrets, Error, ExtractedSecrets, SupportedCipherSuite,
    client::{ClientConnectionData, UnbufferedClientConnection},
    kernel::KernelConnection,
    pki_types::CertificateDer,
    server::{ServerConnectionData, UnbufferedServerConnection},
    unbuffered::{ConnectionState, UnbufferedStatus},
};
use zeroize::Zeroizing;

use crate::{
    tcp::{Guard, flush, try_read},
    tls_link::{BUFFER_BYTES, Handover, TlsLink},
    tls_records::{LONGEST_BYTES, tls_error},
};

/// LOCAL: the time that a refused peer has to read the reason.
const FAREWELL: Duration = Duration::from_secs(1);

/// The key schedule; rustls continues it after the handshake.
pub(crate) trait Schedule: Send {
    fn next_tx(&mut self) -> Result<(u64, ConnectionTrafficSecrets), Error>;
    fn next_rx(&mut self) -> Result<(u64, ConnectionTrafficSecrets), Error>;
}

impl<Data: Send> Schedule for KernelConnection<Data> {
    fn next_tx(&mut self) -> Result<(u64, ConnectionTrafficSecrets), Error> {
        self.update_tx_secret()
    }
    fn next_rx(&mut self) -> Result<(u64, ConnectionTrafficSecrets), Error> {
        self.update_rx_secret()
    }
}

type HandedOver = (ExtractedSecrets, SupportedCipherSuite, Box<dyn Schedule>);

/// The rustls connection of a client or a server.
pub(crate) trait Session: Sized {
    type Data;
    fn process<'c, 'i>(&'c mut self, incoming: &'i mut [u8]) -> UnbufferedStatus<'c, 'i, Self::Data>;
    fn common(&self) -> &CommonState;
    fn hand_over(self) -> Result<HandedOver, Error>;
}

macro_rules! session {
    ($connection:ty, $data:ty) => {
        impl Session for $connection {
            type Data = $data;
            fn process<'c, 'i>(&'c mut self, incoming: &'i mut [u8]) -> UnbufferedStatus<'c, 'i, Self::Data> {
                self.process_tls_records(incoming)
            }
            fn common(&self) -> &CommonState {
                self
            }
            fn hand_over(self) -> Result<HandedOver, Error> {
                let (secrets, schedule) = self.dangerous_into_kernel_connection()?;
                Ok((secrets, schedule.negotiated_cipher_suite(), Box::new(schedule)))
            }
        }
    };
}

session!(UnbufferedClientConnection, ClientConnectionData);
session!(UnbufferedServerConnection, ServerConnectionData);

/// Performs the handshake until application data can flow both ways. Returns the link and the
/// certificate that the peer proved. `first` holds the bytes that were already read, at most one
/// record.
pub(crate) fn greet<S: Session>(
    session: S,
    socket: TcpStream,
    guard: &Guard<'_>,
    first: &[u8],
) -> io::Result<(TlsLink, Option<CertificateDer<'static>>)> {
    let mut incoming = Zeroizing::new(vec![0; BUFFER_BYTES]);
    incoming[..first.len()].copy_from_slice(first);
    let mut greeting = Greeting {
        session,
        socket,
        out: vec![0; BUFFER_BYTES],
        waiting: 0..0,
        incoming,
        begin: 0,
        end: first.len(),
        early: Zeroizing::default(),
    };
    match greeting.run(guard) {
        Ok(()) => greeting.hand_over().map_err(tls_error),
        Err(e) => {
            if e.get_ref().is_some_and(<dyn StdError + Send + Sync>::is::<TlsError>) {
                greeting.farewell(guard);
            }
            Err(e)
        }
    }
}

struct Greeting<S> {
    session: S,
    socket: TcpStream,
    /// Bytes for the peer: `out[waiting]` waits for the socket.
    out: Vec<u8>,
    waiting: Range<usize>,
    /// Bytes that rustls has not taken yet: `incoming[begin..end]`.
    incoming: Zeroizing<Vec<u8>>,
    begin: usize,
    end: usize,
    /// The peer's first data, if it came together with the end of its handshake.
    early: Zeroizing<Vec<u8>>,
}

/// The result of one step of the handshake.
enum GreetTurn {
    /// The handshake advanced.
    Moved,
    /// Nothing can be done until bytes are received or sent.
    Idle,
    /// The peer sends no more.
    Closed,
}

impl<S: Session> Greeting<S> {
    fn run(&mut self, guard: &Guard<'_>) -> io::Result<()> {
        loop {
            match self.turn()? {
                GreetTurn::Moved => {}
                GreetTurn::Closed => return Err(ErrorKind::UnexpectedEof.into()),
                GreetTurn::Idle => {
                    while !self.flush()? {
                        guard.wait(self.socket.as_fd(), PollFlags::OUT)?;
                    }
                    if !self.session.common().is_handshaking() {
                        return Ok(());
                    }
                    while self.read()? == 0 {
                        guard.wait(self.socket.as_fd(), PollFlags::IN)?;
                    }
                }
            }
        }
    }

    /// Takes the keys from rustls, and the bytes that came after the handshake.
    fn hand_over(self) -> Result<(TlsLink, Option<CertificateDer<'static>>), Error> {
        let Self { session, socket, out, incoming, begin, end, early, .. } = self;
        let certificate = session.common().peer_certificates().and_then(<[_]>::first).cloned();
        let (secrets, suite, schedule) = session.hand_over()?;
        let link = TlsLink::new(Handover {
            socket,
            secrets,
            suite,
            schedule,
            out,
            plain: &early,
            wire: &incoming[begin..end],
        })?;
        Ok((link, certificate))
    }

    /// Sends the alert that rustls has queued, and gives the peer time to read it, since closing
    /// with unread bytes would reset the connection. Errors are ignored.
    fn farewell(&mut self, guard: &Guard<'_>) {
        let guard = guard.within(FAREWELL);
        // This runs only while an alert is queued: a failed session would panic if it saw the
        // peer's bytes again.
        while self.session.common().wants_write() && self.turn().is_ok() {}
        let mut leave = || -> io::Result<()> {
            while !self.flush()? {
                guard.wait(self.socket.as_fd(), PollFlags::OUT)?;
            }
            self.socket.shutdown(Shutdown::Write)?;
            loop {
                if try_read(&mut self.socket, &mut self.incoming)? == 0 {
                    guard.wait(self.socket.as_fd(), PollFlags::IN)?;
                }
            }
        };
        let _ = leave();
    }

    /// One step of the handshake: processes received bytes, or writes bytes for the peer.
    fn turn(&mut self) -> io::Result<GreetTurn> {
        let UnbufferedStatus { discard, state, .. } =
            self.session.process(&mut self.incoming[self.begin..self.end]);
        let turn = match state.map_err(tls_error)? {
            ConnectionState::ReadTraffic(mut traffic) => {
                while let Some(record) = traffic.next_record() {
                    self.early.extend_from_slice(record.map_err(tls_error)?.payload);
                }
                GreetTurn::Moved
            }
            ConnectionState::EncodeTlsData(mut data) => {
                self.waiting.end +=
                    data.encode(&mut self.out[self.waiting.end..]).map_err(io::Error::other)?;
                GreetTurn::Moved
            }
            ConnectionState::TransmitTlsData(data) => {
                // The bytes are in `out`, before any that follow.
                data.done();
                GreetTurn::Moved
            }
            ConnectionState::WriteTraffic(_) | ConnectionState::BlockedHandshake => GreetTurn::Idle,
            ConnectionState::PeerClosed | ConnectionState::Closed => GreetTurn::Closed,
            _ => return Err(io::Error::other("TLS is in a state that this session never asks for")),
        };
        self.begin += discard;
        if self.begin == self.end {
            (self.begin, self.end) = (0, 0);
        }
        Ok(turn)
    }

    /// Writes bytes from `out`. Returns true when none remain.
    fn flush(&mut self) -> io::Result<bool> {
        flush(&mut self.socket, &self.out, &mut self.waiting)
    }

    /// Reads the bytes that the socket has, as far as there is space; 0 means that it would block.
    fn read(&mut self) -> io::Result<usize> {
        if self.incoming.len() - self.end < LONGEST_BYTES {
            self.incoming.copy_within(self.begin..self.end, 0);
            (self.begin, self.end) = (0, self.end - self.begin);
        }
        let n = try_read(&mut self.socket, &mut self.incoming[self.end..])?;
        self.end += n;
        Ok(n)
    }
}
