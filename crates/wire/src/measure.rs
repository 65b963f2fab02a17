//! Measurements of a peer that answers; [`probe`](crate::probe) describes the messages.

use std::{
    io,
    time::{Duration, Instant},
};

use hushwire_fault::IntoText;
use hushwire_machine::{NetError, PartyId};
use rustix::event::PollFlags;
use zeroize::Zeroizing;

use crate::{
    Identity, Pin, Validity,
    probe::{BYE, CHUNK_BYTES, GIVE, PING, STEP, TAKE, guard, now_nanos},
    slot::Duplex,
    tcp::Guard,
    tls::{TlsSide, wrong_pin},
    transport::{self, HostStream},
};

/// LOCAL: the number of chunks that are requested before the first has come.
const MOST_ASKED: usize = 512;

/// A connection to a peer that answers measurements.
pub struct Probe {
    pub(crate) link: Box<dyn Duplex>,
    pub(crate) peer: PartyId,
    pub(crate) validity: Option<Validity>,
}

/// The result of one ping.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Clock {
    /// The time to the peer and back.
    pub round_trip: Duration,
    /// The peer's clock minus this one's, in seconds; accurate to half a round trip.
    pub ahead_seconds: f64,
}

impl Probe {
    /// The validity of the peer's certificate, if it showed one.
    #[must_use]
    pub fn validity(&self) -> Option<Validity> {
        self.validity
    }

    /// Asks for the peer's time.
    ///
    /// # Errors
    /// The connection failed.
    pub fn ping(&mut self) -> Result<Clock, NetError> {
        let (before, begun) = (now_nanos(), Instant::now());
        let mut theirs = [0; 8];
        self.step("measuring round trips", |link, guard| {
            guard.send(link, &[PING])?;
            guard.recv(link, &mut theirs)
        })?;
        let round_trip = begun.elapsed();
        let ours = before as f64 + round_trip.as_nanos() as f64 / 2.0;
        Ok(Clock { round_trip, ahead_seconds: (u64::from_le_bytes(theirs) as f64 - ours) / 1e9 })
    }

    /// Measures bytes per second to the peer, by sending for about `burst`.
    ///
    /// # Errors
    /// The connection failed.
    pub fn send_rate(&mut self, burst: Duration) -> Result<f64, NetError> {
        let round_trip = self.ping()?.round_trip;
        let mut message = vec![0; 1 + CHUNK_BYTES];
        message[0] = TAKE;
        let begun = Instant::now();
        let mut chunks = 0_u64;
        while chunks == 0 || begun.elapsed() < burst {
            self.step("measuring the rate to it", |link, guard| guard.send(link, &message))?;
            chunks += 1;
        }
        self.ping()?;
        Ok(rate(chunks, begun.elapsed().saturating_sub(round_trip)))
    }

    /// Measures bytes per second from the peer, by requesting chunks for about `burst`.
    ///
    /// # Errors
    /// The connection failed.
    pub fn receive_rate(&mut self, burst: Duration) -> Result<f64, NetError> {
        let round_trip = self.ping()?.round_trip;
        let mut chunk = Zeroizing::new(vec![0; CHUNK_BYTES]);
        let begun = Instant::now();
        let (mut asked, mut got) = (0_u64, 0_u64);
        let mut owed = 0;
        loop {
            // Each chunk requests two more. This fills the line, and requests little on a slow
            // line.
            let most = (2 * got + 2).min(got + MOST_ASKED as u64);
            let more = if begun.elapsed() < burst { most.saturating_sub(asked) } else { 0 };
            asked += more;
            owed += usize::try_from(more).unwrap_or(0);
            if asked == got {
                return Ok(rate(got, begun.elapsed().saturating_sub(round_trip)));
            }
            self.step("measuring the rate from it", |link, guard| take(link, guard, &mut owed, &mut chunk))?;
            got += 1;
        }
    }

    /// Tells the peer that this end has finished.
    ///
    /// # Errors
    /// The connection failed.
    pub fn bye(mut self) -> Result<(), NetError> {
        self.step("goodbye", |link, guard| {
            guard.send(link, &[BYE])?;
            guard.recv(link, &mut [0])
        })
    }

    fn step(
        &mut self,
        step: &str,
        run: impl FnOnce(&mut dyn Duplex, &Guard<'_>) -> io::Result<()>,
    ) -> Result<(), NetError> {
        run(&mut *self.link, &guard(STEP)).map_err(|e| match NetError::from_link(Some(self.peer), step, e) {
            // The limit is this end's own.
            NetError::Io { peer, step, source } if source.kind() == io::ErrorKind::TimedOut => {
                NetError::Stalled { peer, step, after: STEP }
            }
            other => other,
        })
    }
}

/// Fills `into` while it requests `owed` chunks. It never waits only to send a request, since the
/// peer may be waiting to send.
fn take(link: &mut dyn Duplex, guard: &Guard<'_>, owed: &mut usize, into: &mut [u8]) -> io::Result<()> {
    let mut got = 0;
    loop {
        let asked = if *owed > 0 { link.try_send(&[GIVE; MOST_ASKED][..*owed])? } else { 0 };
        *owed -= asked;
        let flushed = link.try_flush()? && *owed == 0;
        let more = link.try_recv(&mut into[got..])?;
        got += more;
        if got == into.len() {
            return Ok(());
        }
        if asked + more == 0 {
            let flags = if flushed { PollFlags::IN } else { PollFlags::IN | PollFlags::OUT };
            guard.wait(link.as_fd(), flags)?;
        }
    }
}

fn rate(chunks: u64, time: Duration) -> f64 {
    chunks as f64 * CHUNK_BYTES as f64 / time.as_secs_f64().max(1e-6)
}

/// The pin that the TLS server at `address` shows. It is not proved to be the intended server.
///
/// # Errors
/// No server listens there, or it does not speak TLS 1.3.
pub fn presented(address: &str, limit: Duration) -> Result<Pin, NetError> {
    let guard = guard(limit);
    let stranger =
        Identity::generate("stranger").map_err(|e| NetError::Config { peer: None, what: e.to_string() })?;
    let HostStream::Tcp(stream) = transport::dial(address, &guard, None).map_err(|e| NetError::Connect {
        peer: None,
        address: address.to_owned(),
        cause: e.into_text(),
        seen: false,
    })?
    else {
        let what = format!("{address} is a Unix socket, where nobody shows a certificate");
        return Err(NetError::Config { peer: None, what });
    };
    // No certificate has this pin, so the handshake fails at the peer's certificate.
    let e = match TlsSide::new(&stranger).dial(stream, Pin([0; 32]), &guard) {
        Ok((_, shown)) => return Ok(shown.pin),
        Err(e) => e,
    };
    match NetError::from_link(None, "handshake", e) {
        NetError::Tls { peer, step, source } => match wrong_pin(&source) {
            Some(pin) => Ok(pin),
            None => Err(NetError::Tls { peer, step, source }),
        },
        other => Err(other),
    }
}
