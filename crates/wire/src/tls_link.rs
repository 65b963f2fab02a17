//! One TLS connection over a non-blocking socket, through rustls' unbuffered API.
//!
//! Application data flows one way on it once the hellos are exchanged: the receiver never writes again, so that no
//! unread byte waits at the sender, whose close would else reset the connection and lose what is under way.
//!
//! ```text
//! sender    caller's slice --encrypt--> out[..]  --write--> socket      16 records of 16 KiB at once
//! receiver  socket --read--> incoming[begin..end] --decrypt--> record --copy--> caller's slice (rest: plain)
//! ```
//!
//! **Long sessions.** AES-GCM keys serve 2^24 records (256 GiB in full records). rustls counts them: the encryption
//! that passes the limit queues a key update and changes the sender's key, and the next step writes the update in
//! order; the receiver changes its key when it reads it. Its answer to the update stays unsent, since its own
//! direction carries nothing. A test lowers the limit and sends through many updates.

use std::{
    error::Error,
    io::{self, ErrorKind},
    net::{Shutdown, TcpStream},
    os::fd::{AsFd, BorrowedFd},
    time::Duration,
};

use rustix::event::PollFlags;
use rustls::{
    CommonState,
    client::{ClientConnectionData, UnbufferedClientConnection},
    pki_types::CertificateDer,
    server::{ServerConnectionData, UnbufferedServerConnection},
    unbuffered::{ConnectionState, UnbufferedStatus},
};

use crate::{
    Rx, Tx, Wait,
    tcp::{Guard, try_read, try_write},
};

/// Plain bytes in a full record.
const RECORD_BYTES: usize = 1 << 14;
/// LOCAL: records encrypted, or read, at once: large system calls whose bytes still stay in the cache.
const RECORDS: usize = 16;
/// LOCAL: ciphertext buffer, with room for record overhead (22 bytes each) and a key update.
const BUFFER_BYTES: usize = RECORDS * (RECORD_BYTES + 64) + 1024;
/// The longest record on the wire: header, 2^14 plain bytes, 256 of padding and tag.
const WIRE_RECORD_BYTES: usize = 5 + RECORD_BYTES + 256;

/// LOCAL: how long a refused peer gets to read why.
const FAREWELL: Duration = Duration::from_secs(1);

/// Either side's rustls connection.
pub(crate) trait Session: Send {
    type Data;
    fn process<'c, 'i>(&'c mut self, incoming: &'i mut [u8]) -> UnbufferedStatus<'c, 'i, Self::Data>;
    fn handshaking(&self) -> bool;
    fn wants_write(&self) -> bool;
    fn peer_certificate(&self) -> Option<&CertificateDer<'static>>;
}

impl Session for UnbufferedClientConnection {
    type Data = ClientConnectionData;
    fn process<'c, 'i>(&'c mut self, incoming: &'i mut [u8]) -> UnbufferedStatus<'c, 'i, Self::Data> {
        self.process_tls_records(incoming)
    }
    fn handshaking(&self) -> bool {
        self.is_handshaking()
    }
    fn wants_write(&self) -> bool {
        CommonState::wants_write(self)
    }
    fn peer_certificate(&self) -> Option<&CertificateDer<'static>> {
        self.peer_certificates()?.first()
    }
}

impl Session for UnbufferedServerConnection {
    type Data = ServerConnectionData;
    fn process<'c, 'i>(&'c mut self, incoming: &'i mut [u8]) -> UnbufferedStatus<'c, 'i, Self::Data> {
        self.process_tls_records(incoming)
    }
    fn handshaking(&self) -> bool {
        self.is_handshaking()
    }
    fn wants_write(&self) -> bool {
        CommonState::wants_write(self)
    }
    fn peer_certificate(&self) -> Option<&CertificateDer<'static>> {
        self.peer_certificates()?.first()
    }
}

pub(crate) struct TlsLink<S> {
    session: S,
    socket: TcpStream,
    /// Ciphertext on its way out: `out[out_begin..out_end]` waits for the socket.
    out: Vec<u8>,
    out_begin: usize,
    out_end: usize,
    /// Ciphertext that came: `incoming[begin..end]` is not yet decrypted.
    incoming: Vec<u8>,
    begin: usize,
    end: usize,
    /// Whether `incoming` may hold a whole record.
    fresh: bool,
    /// Decrypted beyond what the caller asked for: `plain[taken..]`.
    plain: Vec<u8>,
    taken: usize,
    /// The peer said that it sends no more.
    closed: bool,
}

/// What one look at the session did.
enum Turn {
    /// Something for the peer went into `out`, or was marked as sent.
    Wrote,
    /// So many plain bytes were encrypted.
    Sent(usize),
    /// A record was decrypted; so many bytes went straight to the caller.
    Received(usize),
    /// There is nothing to do before bytes come or go.
    Idle,
    /// The peer sends no more.
    Closed,
}

impl<S: Session> TlsLink<S> {
    /// Greets with TLS until application data can flow both ways.
    pub(crate) fn handshake(session: S, socket: TcpStream, guard: &Guard<'_>) -> io::Result<Self> {
        let mut link = Self {
            session,
            socket,
            out: vec![0; BUFFER_BYTES],
            out_begin: 0,
            out_end: 0,
            incoming: vec![0; BUFFER_BYTES],
            begin: 0,
            end: 0,
            fresh: false,
            plain: Vec::new(),
            taken: 0,
            closed: false,
        };
        let done = link.greet(guard);
        if done
            .as_ref()
            .is_err_and(|e| e.get_ref().is_some_and(<dyn Error + Send + Sync>::is::<rustls::Error>))
        {
            link.farewell(guard);
        }
        done.map(|()| link)
    }

    pub(crate) fn peer_certificate(&self) -> Option<&CertificateDer<'static>> {
        self.session.peer_certificate()
    }

    fn greet(&mut self, guard: &Guard<'_>) -> io::Result<()> {
        loop {
            match self.turn(&[], &mut [])? {
                Turn::Wrote | Turn::Sent(_) | Turn::Received(_) => {}
                Turn::Closed => return Err(ErrorKind::UnexpectedEof.into()),
                Turn::Idle => {
                    while !self.flush()? {
                        guard.wait(self.socket.as_fd(), PollFlags::OUT)?;
                    }
                    if !self.session.handshaking() {
                        return Ok(());
                    }
                    while self.read()? == 0 {
                        guard.wait(self.socket.as_fd(), PollFlags::IN)?;
                    }
                }
            }
        }
    }

    /// Sends the alert that rustls queued, and lets the peer read it: closing over unread bytes would reset the
    /// connection. Best effort.
    fn farewell(&mut self, guard: &Guard<'_>) {
        let guard = guard.within(FAREWELL);
        // Only while an alert is queued: a session that failed must not see the peer's bytes again, it would panic.
        while self.session.wants_write() && self.turn(&[], &mut []).is_ok() {}
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

    /// One look at the session: it decrypts one record into `into`, or writes what it has for the peer, or encrypts
    /// the front of `plain`.
    fn turn(&mut self, plain: &[u8], into: &mut [u8]) -> io::Result<Turn> {
        let UnbufferedStatus { discard, state, .. } =
            self.session.process(&mut self.incoming[self.begin..self.end]);
        let turn = match state.map_err(io::Error::other)? {
            ConnectionState::ReadTraffic(mut traffic) => {
                let mut copied = 0;
                while let Some(record) = traffic.next_record() {
                    let payload = record.map_err(io::Error::other)?.payload;
                    let n = payload.len().min(into.len() - copied);
                    into[copied..copied + n].copy_from_slice(&payload[..n]);
                    copied += n;
                    self.plain.extend_from_slice(&payload[n..]);
                }
                Turn::Received(copied)
            }
            ConnectionState::EncodeTlsData(mut data) => {
                self.out_end += data.encode(&mut self.out[self.out_end..]).map_err(io::Error::other)?;
                Turn::Wrote
            }
            ConnectionState::TransmitTlsData(data) => {
                // It stands in `out`, before anything that follows.
                data.done();
                Turn::Wrote
            }
            ConnectionState::WriteTraffic(mut traffic) if !plain.is_empty() => {
                let chunk = &plain[..plain.len().min(RECORDS * RECORD_BYTES)];
                let space = &mut self.out[self.out_end..];
                self.out_end += traffic.encrypt(chunk, space).map_err(io::Error::other)?;
                Turn::Sent(chunk.len())
            }
            ConnectionState::WriteTraffic(_) | ConnectionState::BlockedHandshake => Turn::Idle,
            ConnectionState::PeerClosed | ConnectionState::Closed => Turn::Closed,
            _ => return Err(io::Error::other("TLS is in a state that this session never asks for")),
        };
        self.begin += discard;
        if self.begin == self.end {
            (self.begin, self.end) = (0, 0);
        }
        Ok(turn)
    }

    /// Writes what waits in `out`; true when nothing waits any more.
    fn flush(&mut self) -> io::Result<bool> {
        while self.out_begin < self.out_end {
            let n = try_write(&mut self.socket, &self.out[self.out_begin..self.out_end])?;
            if n == 0 {
                return Ok(false);
            }
            self.out_begin += n;
        }
        (self.out_begin, self.out_end) = (0, 0);
        Ok(true)
    }

    /// Reads what the socket has, as far as there is room; 0 means that it would block.
    fn read(&mut self) -> io::Result<usize> {
        if self.incoming.len() - self.end < WIRE_RECORD_BYTES {
            // Less than a record waits at the end of the buffer: a short copy for each full buffer.
            self.incoming.copy_within(self.begin..self.end, 0);
            (self.begin, self.end) = (0, self.end - self.begin);
        }
        let n = try_read(&mut self.socket, &mut self.incoming[self.end..])?;
        self.end += n;
        self.fresh |= n > 0;
        Ok(n)
    }

    fn take_plain(&mut self, into: &mut [u8]) -> usize {
        let n = into.len().min(self.plain.len() - self.taken);
        into[..n].copy_from_slice(&self.plain[self.taken..self.taken + n]);
        self.taken += n;
        if self.taken == self.plain.len() {
            self.plain.clear();
            self.taken = 0;
        }
        n
    }
}

impl<S: Session> Tx for TlsLink<S> {
    fn try_send(&mut self, out: &[u8]) -> io::Result<usize> {
        let mut taken = 0;
        while self.flush()? && taken < out.len() {
            match self.turn(&out[taken..], &mut [])? {
                Turn::Sent(n) => taken += n,
                Turn::Wrote | Turn::Received(_) => {}
                Turn::Idle | Turn::Closed => return Err(ErrorKind::BrokenPipe.into()),
            }
        }
        Ok(taken)
    }

    fn try_flush(&mut self) -> io::Result<bool> {
        self.flush()
    }

    fn wait_on(&self) -> Wait<'_> {
        Wait::Fd(self.socket.as_fd())
    }
}

impl<S: Session> Rx for TlsLink<S> {
    fn try_recv(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let mut got = self.take_plain(into);
        while got < into.len() && !self.closed {
            if !self.fresh {
                match self.read() {
                    Ok(0) => return Ok(got),
                    Ok(_) => {}
                    // It comes again when the caller has what came before.
                    Err(_) if got > 0 => return Ok(got),
                    Err(e) => return Err(e),
                }
            }
            match self.turn(&[], &mut into[got..])? {
                Turn::Received(n) => got += n,
                // Nothing is written back, see above.
                Turn::Wrote | Turn::Sent(_) => (self.out_begin, self.out_end) = (0, 0),
                Turn::Idle => self.fresh = false,
                Turn::Closed => self.closed = true,
            }
        }
        if got == 0 && self.closed {
            return Err(ErrorKind::UnexpectedEof.into());
        }
        Ok(got)
    }

    fn wait_on(&self) -> Wait<'_> {
        Wait::Fd(self.socket.as_fd())
    }
}

impl<S> AsFd for TlsLink<S> {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}
