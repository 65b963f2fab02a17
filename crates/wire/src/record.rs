//! Keeps what a party received, so that it can run again alone: to measure it, or to look for a fault.

use std::{
    collections::BTreeMap,
    io::{self, ErrorKind},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use crate::{Net, NetError, PartyId, Rx, Tap, Tx, Wait};

/// AGREEMENT: opens a serialised recording; the digit is the version.
const MAGIC: &[u8; 8] = b"hw-rec-1";
/// Sender, lane, bytes.
const ENTRY_HEAD_BYTES: usize = 1 + 2 + 8;

/// Everything that one party received, by sender and lane.
///
/// It holds the party's view of the protocol: keep it as secret as the party's shares.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Recording {
    /// Messages one after the other: lengths are agreed, so a party that runs again asks for the same ones.
    links: BTreeMap<(PartyId, u16), Vec<u8>>,
}

/// A shared recorder for any number of channels of one party.
#[derive(Clone, Default)]
pub struct Record(Arc<Mutex<Recording>>);

impl Record {
    /// An empty recorder.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// A tap that records here.
    #[must_use]
    pub fn tap(&self) -> Box<dyn Tap> {
        Box::new(self.clone())
    }

    /// A copy of the recording so far.
    #[must_use]
    pub fn recording(&self) -> Recording {
        self.lock().clone()
    }

    fn lock(&self) -> MutexGuard<'_, Recording> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Tap for Record {
    fn outgoing(&mut self, _to: PartyId, _lane: u16, _msg: &[u8]) -> Option<Vec<u8>> {
        None
    }

    fn incoming(&mut self, from: PartyId, lane: u16, msg: &mut [u8]) {
        self.lock().links.entry((from, lane)).or_default().extend_from_slice(msg);
    }
}

impl Recording {
    /// The bytes received from `from` on `lane`, message after message.
    #[must_use]
    pub fn received(&self, from: PartyId, lane: u16) -> &[u8] {
        self.links.get(&(from, lane)).map_or(&[], Vec::as_slice)
    }

    /// One vector: magic, then for each link sender (1), lane (2), bytes (8, all little endian) and the bytes.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = MAGIC.to_vec();
        for ((from, lane), bytes) in &self.links {
            out.push(from.0);
            out.extend_from_slice(&lane.to_le_bytes());
            out.extend_from_slice(&(bytes.len() as u64).to_le_bytes());
            out.extend_from_slice(bytes);
        }
        out
    }

    /// Reads what [`Recording::to_bytes`] wrote.
    ///
    /// # Errors
    /// [`NetError::Malformed`] for anything else.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, NetError> {
        let bad = |what: &str| NetError::Malformed { peer: None, msg: "recording", what: what.to_owned() };
        let mut rest =
            bytes.strip_prefix(MAGIC).ok_or_else(|| bad("it is not a recording of this version"))?;
        let mut links = BTreeMap::new();
        let mut last = None;
        while !rest.is_empty() {
            let (head, tail) = rest
                .split_first_chunk::<ENTRY_HEAD_BYTES>()
                .ok_or_else(|| bad("it is cut off in a link's head"))?;
            let [from, lane_0, lane_1, len @ ..] = *head;
            let len = usize::try_from(u64::from_le_bytes(len)).unwrap_or(usize::MAX);
            let (body, tail) =
                tail.split_at_checked(len).ok_or_else(|| bad("it is cut off in a link's bytes"))?;
            let link = (PartyId(from), u16::from_le_bytes([lane_0, lane_1]));
            if last >= Some(link) {
                return Err(bad("its links are not in order"));
            }
            last = Some(link);
            links.insert(link, body.to_vec());
            rest = tail;
        }
        Ok(Self { links })
    }
}

/// Plays a [`Recording`] to the party that made it.
pub struct Replay {
    recording: Recording,
}

impl Replay {
    /// To play `recording`, any number of times.
    #[must_use]
    pub fn new(recording: Recording) -> Self {
        Self { recording }
    }

    /// The recorded bytes from `from` on `lane`; closed after the last of them.
    #[must_use]
    pub fn rx(&self, from: PartyId, lane: u16) -> Box<dyn Rx> {
        Box::new(Played { bytes: self.recording.received(from, lane).to_vec(), at: 0 })
    }

    /// Takes and forgets what the party sends.
    #[must_use]
    pub fn tx(&self) -> Box<dyn Tx> {
        Box::new(Discard)
    }

    /// All links of party `me` with `peers` on `lanes` lanes, as [`crate::connect`] would give them.
    #[must_use]
    pub fn net(&self, me: PartyId, peers: &[PartyId], lanes: u16) -> Net {
        // Nothing here ever waits.
        let mut net = Net::new(me, lanes, Duration::ZERO);
        for &peer in peers {
            for lane in 0..lanes {
                net.add_tx(peer, lane, self.tx());
                net.add_rx(peer, lane, self.rx(peer, lane));
            }
        }
        net
    }
}

struct Played {
    bytes: Vec<u8>,
    at: usize,
}

impl Rx for Played {
    fn try_recv(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let rest = &self.bytes[self.at..];
        let n = into.len().min(rest.len());
        if n == 0 {
            return Err(ErrorKind::UnexpectedEof.into());
        }
        into[..n].copy_from_slice(&rest[..n]);
        self.at += n;
        Ok(n)
    }

    fn wait_on(&self) -> Wait<'_> {
        Wait::Ready
    }
}

struct Discard;

impl Tx for Discard {
    fn try_send(&mut self, out: &[u8]) -> io::Result<usize> {
        Ok(out.len())
    }

    fn try_flush(&mut self) -> io::Result<bool> {
        Ok(true)
    }

    fn wait_on(&self) -> Wait<'_> {
        Wait::Ready
    }
}
