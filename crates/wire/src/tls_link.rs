//! A TLS connection after the handshake: records move straight between the callers' slices and a
//! non-blocking socket.
//!
//! After the hellos, application data flows in one direction only. The receiver never writes again,
//! so that no unread byte waits at the sender: closing over it would reset the connection and lose
//! bytes in flight. Therefore a receiver that refuses a record sends no alert. It closes, and its
//! own error gives the reason. A sender that ends in good order sends close_notify ([`Tx::close`]).
//!
//! ```text
//! sender    caller's slice --seal--> out[..]  --write--> socket    a few records of 16 KiB at once
//! receiver  socket --read--> incoming[begin..end] --open--> caller's slice
//!           a record that does not fit there is opened in its place and copied: incoming[plain]
//! ```
//!
//! **Long sessions.** An AES-GCM key serves 2^24 records (256 GiB in full records). The last record
//! of a key is the key update that ends it; rustls derives the next key, at both ends. If the peer
//! asks for an update of this endpoint's key, it happens before the next byte that this endpoint
//! sends. A test lowers the limit and sends through many updates.

use std::{
    io::{self, ErrorKind, Read, Write},
    net::TcpStream,
    ops::Range,
};

use hushwire_machine::{Rx, Tx, Wait};
use rustix::fd::{AsFd, BorrowedFd};
use rustls::{
    AlertDescription, ContentType, Error, ExtractedSecrets, HandshakeType, InvalidMessage, PeerMisbehaved,
    SupportedCipherSuite,
};
use zeroize::Zeroizing;

use crate::{
    tcp::{flush, try_read},
    tls_greet::Schedule,
    tls_records::{
        HEADER_BYTES, LONGEST_BYTES, OVERHEAD_BYTES, RECORD_BYTES, RecordKey, record_bytes, tls_error,
    },
};

/// LOCAL: the number of full records that are sealed or read at once. System calls are then large,
/// and their bytes still stay in the cache.
const RECORDS: usize = 8;
/// LOCAL: space for these records, and for a key update before each.
pub(crate) const BUFFER_BYTES: usize =
    RECORDS * (RECORD_BYTES + OVERHEAD_BYTES + KEY_UPDATE.len() + OVERHEAD_BYTES);
const _: () = assert!(BUFFER_BYTES >= LONGEST_BYTES, "a record of any peer has room");

/// SECURITY: the number of records under one key, whatever the cipher would allow.
const KEY_RECORDS: u64 = 1 << 24;
/// The number of records without data that a peer may send in a row: key updates, empty records,
/// and alerts that do not end the connection.
const IDLE_RECORDS: u8 = 32;
/// LOCAL: the number of these records that are processed at once, before the caller checks its own
/// limits.
const IDLE_AT_ONCE: u8 = 4;

/// The message KeyUpdate (§4.6.3) that requests none in return.
const KEY_UPDATE: [u8; 5] = [24, 0, 0, 1, UPDATE_NOT_REQUESTED];
const UPDATE_NOT_REQUESTED: u8 = 0;
const UPDATE_REQUESTED: u8 = 1;
/// The alert close_notify (§6.1), a warning.
const CLOSE_NOTIFY: [u8; 2] = [1, 0];

/// The state that a finished handshake hands over to the record layer.
pub(crate) struct Handover<'a, S> {
    pub(crate) socket: S,
    pub(crate) secrets: ExtractedSecrets,
    pub(crate) suite: SupportedCipherSuite,
    pub(crate) schedule: Box<dyn Schedule>,
    /// A buffer of [`BUFFER_BYTES`] for the link.
    pub(crate) out: Vec<u8>,
    /// Data that rustls has decrypted.
    pub(crate) plain: &'a [u8],
    /// Bytes after that data that are not a whole record yet.
    pub(crate) wire: &'a [u8],
}

pub(crate) struct TlsLink<S = TcpStream> {
    socket: S,
    schedule: Box<dyn Schedule>,
    /// The number of records that one sending key serves.
    key_records: u64,
    tx: RecordKey,
    rx: RecordKey,
    /// Outgoing records: `out[waiting]` waits for the socket.
    out: Vec<u8>,
    waiting: Range<usize>,
    /// Received bytes: `incoming[begin..end]` is not opened yet.
    incoming: Zeroizing<Vec<u8>>,
    begin: usize,
    end: usize,
    /// Bytes that were opened in place and not yet taken, before `begin`.
    plain: Range<usize>,
    /// Whether the peer asked for an update of the sending key.
    owes_update: bool,
    /// The number of records from the peer since its last data.
    idle_records: u8,
    /// Whether the last call returned before it had opened all received records.
    more: bool,
    /// Whether the peer announced that it sends no more.
    closed: bool,
    /// The reason why nothing more is opened or sealed.
    dead: Option<Error>,
}

impl<S: Read + Write> TlsLink<S> {
    pub(crate) fn new(from: Handover<'_, S>) -> Result<Self, Error> {
        let Handover { socket, secrets, suite, schedule, out, plain, wire } = from;
        let end = plain.len() + wire.len();
        let mut incoming = Zeroizing::new(vec![0; BUFFER_BYTES.max(end)]);
        incoming[..plain.len()].copy_from_slice(plain);
        incoming[plain.len()..end].copy_from_slice(wire);
        let limit = suite.tls13().map_or(0, |suite| suite.common.confidentiality_limit);
        Ok(Self {
            socket,
            schedule,
            key_records: limit.min(KEY_RECORDS),
            tx: RecordKey::new(secrets.tx)?,
            rx: RecordKey::new(secrets.rx)?,
            out,
            waiting: 0..0,
            incoming,
            begin: plain.len(),
            end,
            plain: 0..plain.len(),
            owes_update: false,
            idle_records: 0,
            more: false,
            closed: false,
            dead: None,
        })
    }

    /// Seals bytes from the front of `plain` into the empty `out`; returns their number.
    fn fill(&mut self, plain: &[u8]) -> Result<usize, Error> {
        let mut taken = 0;
        for chunk in plain.chunks(RECORD_BYTES).take(RECORDS) {
            if self.owes_update || self.tx.served() + 1 >= self.key_records {
                self.update()?;
            }
            self.put(ContentType::ApplicationData, chunk)?;
            taken += chunk.len();
        }
        Ok(taken)
    }

    /// Ends the sending key and takes the next one.
    fn update(&mut self) -> Result<(), Error> {
        self.put(ContentType::Handshake, &KEY_UPDATE)?;
        self.tx = RecordKey::new(self.schedule.next_tx()?)?;
        self.owes_update = false;
        Ok(())
    }

    fn put(&mut self, content: ContentType, plain: &[u8]) -> Result<(), Error> {
        self.waiting.end += self.tx.seal(content, plain, &mut self.out[self.waiting.end..])?;
        Ok(())
    }

    /// Writes bytes from `out`. Returns true when none remain.
    fn flush(&mut self) -> io::Result<bool> {
        flush(&mut self.socket, &self.out, &mut self.waiting)
    }

    /// Opens the next record and returns the number of plain bytes in `into`; `None` if the record
    /// is not whole yet.
    fn open(&mut self, into: &mut [u8]) -> Result<Option<usize>, Error> {
        let waiting = &mut self.incoming[self.begin..self.end];
        let Some(record) = record_bytes(waiting)?.and_then(|bytes| waiting.get_mut(..bytes)) else {
            return Ok(None);
        };
        let opened = self.rx.open(record, into)?;
        let at = self.begin + HEADER_BYTES;
        self.begin += record.len();
        let in_place = at..at + opened.bytes;
        if opened.content == ContentType::ApplicationData {
            if opened.bytes > 0 {
                self.idle_records = 0;
            } else {
                self.idle(PeerMisbehaved::TooManyEmptyFragments)?;
            }
            if opened.direct {
                return Ok(Some(opened.bytes));
            }
            self.plain = in_place;
            return Ok(Some(self.take_plain(into)));
        }
        let message: &[u8] = if opened.direct { &into[..opened.bytes] } else { &self.incoming[in_place] };
        match opened.content {
            ContentType::Handshake => {
                let asks = key_update(message)?;
                self.updated(asks)?;
            }
            ContentType::Alert => match closes(message)? {
                true => self.closed = true,
                false => self.idle(PeerMisbehaved::TooManyWarningAlertsReceived)?,
            },
            got_type => {
                let expect_types =
                    vec![ContentType::ApplicationData, ContentType::Handshake, ContentType::Alert];
                return Err(Error::InappropriateMessage { expect_types, got_type });
            }
        }
        Ok(Some(0))
    }

    /// Handles the end of the peer's key.
    fn updated(&mut self, asks: bool) -> Result<(), Error> {
        self.idle(PeerMisbehaved::TooManyKeyUpdateRequests)?;
        self.rx = RecordKey::new(self.schedule.next_rx()?)?;
        self.owes_update |= asks;
        Ok(())
    }

    /// Counts a record without data.
    fn idle(&mut self, too_many: PeerMisbehaved) -> Result<(), Error> {
        self.idle_records += 1;
        if self.idle_records > IDLE_RECORDS { Err(too_many.into()) } else { Ok(()) }
    }

    /// Reads from the socket if neither a whole record nor plain bytes wait. The caller wants
    /// `wanted` more bytes; 0 means that it would block.
    fn read(&mut self, wanted: usize) -> io::Result<usize> {
        let waiting = self.end - self.begin;
        let room = self.incoming.len() - waiting;
        // A long message is read to its end and no further, so that the next one begins at the
        // front of the buffer. For short messages, all available bytes are read.
        let limit = if wanted < RECORD_BYTES {
            room
        } else {
            let rest = match record_bytes(&self.incoming[self.begin..self.end]) {
                Ok(Some(bytes)) => bytes.saturating_sub(waiting),
                _ => HEADER_BYTES,
            };
            let message = wanted + wanted.div_ceil(RECORD_BYTES) * OVERHEAD_BYTES;
            message.saturating_sub(waiting).max(rest).min(room)
        };
        if self.incoming.len() - self.end < limit {
            self.incoming.copy_within(self.begin..self.end, 0);
            (self.begin, self.end) = (0, waiting);
        }
        let n = try_read(&mut self.socket, &mut self.incoming[self.end..self.end + limit])?;
        self.end += n;
        Ok(n)
    }

    fn take_plain(&mut self, into: &mut [u8]) -> usize {
        let n = into.len().min(self.plain.len());
        let from = self.plain.start;
        into[..n].copy_from_slice(&self.incoming[from..from + n]);
        self.plain.start += n;
        n
    }

    fn alive(&self) -> io::Result<()> {
        self.dead.clone().map_or(Ok(()), |e| Err(tls_error(e)))
    }

    /// Ends the link: nothing after the error can be trusted.
    fn die(&mut self, e: Error) -> io::Error {
        self.dead = Some(e.clone());
        tls_error(e)
    }
}

/// Whether the peer requests a key update in return. No other handshake message is allowed: this
/// session issues no tickets and asks for no certificates afterwards.
fn key_update(message: &[u8]) -> Result<bool, Error> {
    match *message {
        [24, 0, 0, 1, UPDATE_NOT_REQUESTED] => Ok(false),
        [24, 0, 0, 1, UPDATE_REQUESTED] => Ok(true),
        [24, ..] => Err(Error::InvalidMessage(InvalidMessage::InvalidKeyUpdate)),
        [other, ..] => Err(Error::InappropriateHandshakeMessage {
            expect_types: vec![HandshakeType::KeyUpdate],
            got_type: HandshakeType::from(other),
        }),
        [] => Err(Error::InvalidMessage(InvalidMessage::InvalidEmptyPayload)),
    }
}

/// Whether an alert means that the peer ends in good order.
fn closes(message: &[u8]) -> Result<bool, Error> {
    let &[_, description] = message else {
        return Err(Error::InvalidMessage(InvalidMessage::MessageTooShort));
    };
    match AlertDescription::from(description) {
        AlertDescription::CloseNotify => Ok(true),
        // A close_notify follows it (§6.1).
        AlertDescription::UserCanceled => Ok(false),
        other => Err(Error::AlertReceived(other)),
    }
}

impl<S: Read + Write + AsFd + Send> Tx for TlsLink<S> {
    fn try_send(&mut self, out: &[u8]) -> io::Result<usize> {
        self.alive()?;
        let mut taken = 0;
        while taken < out.len() && self.flush()? {
            taken += self.fill(&out[taken..]).map_err(|e| self.die(e))?;
        }
        Ok(taken)
    }

    fn try_flush(&mut self) -> io::Result<bool> {
        self.flush()
    }

    fn close(&mut self) {
        // A peer that does not read would not read this either.
        if self.dead.is_none()
            && self.flush().is_ok_and(|flushed| flushed)
            && self.put(ContentType::Alert, &CLOSE_NOTIFY).is_ok()
        {
            let _ = self.flush();
            self.dead = Some(Error::AlertReceived(AlertDescription::CloseNotify));
        }
    }

    fn wait_on(&self) -> Wait<'_> {
        Wait::Fd(self.socket.as_fd())
    }
}

impl<S: Read + Write + AsFd + Send> Rx for TlsLink<S> {
    fn try_recv(&mut self, into: &mut [u8]) -> io::Result<usize> {
        self.alive()?;
        let mut got = self.take_plain(into);
        let mut idle = 0;
        self.more = false;
        while got < into.len() && !self.closed {
            if let Some(n) = self.open(&mut into[got..]).map_err(|e| self.die(e))? {
                got += n;
                idle = if n == 0 { idle + 1 } else { 0 };
                if idle == IDLE_AT_ONCE {
                    self.more = true;
                    return Ok(got);
                }
                continue;
            }
            match self.read(into.len() - got) {
                Ok(0) => return Ok(got),
                Ok(_) => {}
                // The error is reported again after the caller has taken the bytes before it.
                Err(_) if got > 0 => return Ok(got),
                Err(e) => return Err(e),
            }
        }
        if got == 0 && self.closed {
            return Err(ErrorKind::UnexpectedEof.into());
        }
        Ok(got)
    }

    fn wait_on(&self) -> Wait<'_> {
        // The socket does not signal bytes that were already read.
        if self.more { Wait::Ready } else { Wait::Fd(self.socket.as_fd()) }
    }
}

impl<S: AsFd> AsFd for TlsLink<S> {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

#[cfg(test)]
#[path = "tls_link_tests.rs"]
mod tests;
