//! The connection between an asker and the owner of a list.

use crate::{error::Error, files::RunFiles, keys, log};
use clap::Args;
use hushwire::job::{Fault, session_of};
use hushwire_machine::{Channel, Net, NetError, PartyId, Reason};
use hushwire_psi::{PsiError, oprf::ListTerms};
use hushwire_wire::{Identity, Listener, PeerConfig, Pin, SessionConfig, TransportKind, connect_observed};
use std::{
    path::PathBuf,
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

/// LOCAL: the longest time without a byte while the other side is alive.
const STALL: Duration = Duration::from_secs(120);
/// LOCAL: the time for which an owner waits for an asker before it begins to wait again.
const IDLE: Duration = Duration::from_secs(3600);
/// LOCAL: an asker's wait while the owner runs a handshake with another one, doubled up to the
/// second number.
const AGAIN: (Duration, Duration) = (Duration::from_millis(20), Duration::from_millis(320));
const STEP: &str = "the query";

/// Who both sides are.
#[derive(Args)]
pub(super) struct LinkArgs {
    /// This side's own key, which `hushwire keys init` made
    #[arg(long, value_name = "FILE")]
    identity: PathBuf,
    /// The other side's pin, which `hushwire keys pin` prints there
    #[arg(long, value_name = "PIN")]
    pin: String,
}

/// A side, and its place in the network.
pub(super) enum OprfSide {
    Owner(Listener),
    /// The owner's address, and the time to wait for it.
    Asker(String, Duration),
}

impl OprfSide {
    fn id(&self) -> PartyId {
        PartyId(u8::from(matches!(self, Self::Asker(..))))
    }
}

/// The settings that a connection needs.
pub(super) struct Prepared {
    side: OprfSide,
    identity: Identity,
    pin: Pin,
    digest: [u8; 32],
}

/// A connection.
pub(super) struct Link<'a> {
    prepared: &'a Prepared,
    pub(super) channel: Channel,
    /// Must be the last field, so that the channel closes before the goodbye.
    net: Net,
}

impl LinkArgs {
    pub(super) fn reads(&self, files: &mut RunFiles) {
        files.reads("this side's private key", &self.identity);
    }

    pub(super) fn prepare(&self, side: OprfSide, terms: &ListTerms) -> Result<Prepared, Error> {
        let pin = self.pin.parse().map_err(|e| Error::Usage(format!("--pin: {e}")))?;
        let identity = keys::identity(&self.identity)?;
        if let OprfSide::Owner(listener) = &side {
            log::note!("listening on {}", listener.address());
        }
        Ok(Prepared { side, identity, pin, digest: terms.digest() })
    }
}

/// Returns the name of a side by its number on the wire.
fn name(id: PartyId) -> Option<String> {
    ["the owner", "who asks"].get(usize::from(id.0)).map(|name| (*name).to_owned())
}

impl Prepared {
    /// Meets the other side; `None` if an owner has waited and nobody came.
    ///
    /// An owner runs one handshake at a time, but answers many askers. An asker tries again if it
    /// comes during a handshake with another asker that has the same key.
    pub(super) fn open(&self) -> Result<Option<Link<'_>>, Error> {
        if let OprfSide::Asker(address, wait) = &self.side {
            log::note!("connecting to the owner at {address}, for at most {} s", wait.as_secs());
        }
        let (begun, mut pause) = (Instant::now(), AGAIN.0);
        loop {
            let rest = match &self.side {
                OprfSide::Owner(_) => IDLE,
                OprfSide::Asker(_, wait) => wait.saturating_sub(begun.elapsed()),
            };
            match self.meet(rest) {
                Err(NetError::Duplicate { .. }) if rest > pause => {
                    thread::sleep(pause);
                    pause = (2 * pause).min(AGAIN.1);
                }
                Err(NetError::Absent { .. }) if matches!(self.side, OprfSide::Owner(_)) => return Ok(None),
                met => return met.map(Some).map_err(|e| self.explain("connect", e)),
            }
        }
    }

    fn meet(&self, wait: Duration) -> Result<Link<'_>, NetError> {
        let other = PartyId(1 - self.side.id().0);
        let (listener, address) = match &self.side {
            OprfSide::Owner(listener) => (Some(listener), None),
            OprfSide::Asker(address, _) => (None, Some(address.clone())),
        };
        let peer = PeerConfig { id: other, address, pin: self.pin };
        let config = SessionConfig {
            job_digest: self.digest,
            connect_timeout: wait,
            stall: STALL,
            ..SessionConfig::new(
                self.side.id(),
                session_of("hushwire psi query"),
                vec![peer],
                TransportKind::TcpTls,
            )
        };
        // An owner always waits for askers, so this is not worth a note.
        let waits = listener.is_none();
        let heard = Arc::new(move |event: &hushwire_wire::Event| {
            if waits || !matches!(event, hushwire_wire::Event::Joining { .. }) {
                log::note!("{}", event.text().with_names(&name).written());
            }
        });
        let mut net = connect_observed(&config, &self.identity, listener, heard)?;
        let channel = net.channel(0, Some(other), Some(other))?;
        Ok(Link { prepared: self, channel, net })
    }

    pub(super) fn nobody(&self) -> Error {
        Error::internal("asking", "nobody came")
    }

    /// Describes a network error in the words of this command.
    fn explain(&self, step: &str, e: NetError) -> Error {
        let differs = matches!(e, NetError::HandshakeMismatch { field: "job digest", .. });
        let error = Fault::from(e);
        let error = match self.side {
            _ if !differs => error,
            OprfSide::Owner(_) => error.because("who asks has a list of another key").remedied(
                "give it the list that was published under --secret; other queries are answered meanwhile",
            ),
            OprfSide::Asker(..) => error
                .because("the list is not of the owner's key")
                .remedied("get the list again from its owner, who names the --secret it was published under"),
        };
        self.says(error.during(step))
    }

    /// Completes an error of this side with the names of both sides.
    fn says(&self, error: Fault) -> Error {
        error.by(self.side.id()).with_names(&name).into()
    }
}

impl Link<'_> {
    /// Exchanges confirmations: each side says that it has received everything.
    pub(super) fn confirm(&mut self) -> Result<(), Error> {
        let said = self.channel.exchange("confirmation", &[1], &mut [0]);
        said.map_err(|e| self.prepared.explain("confirmation", e))
    }

    pub(super) fn failed(&self, e: PsiError) -> Error {
        match e {
            PsiError::Net(e) => self.prepared.explain(STEP, e),
            e => {
                if let PsiError::Malformed { .. } = e {
                    self.net.abort(PartyId(1 - self.prepared.side.id().0), Reason::Cheated, STEP);
                }
                self.prepared.says(e.fault().during(STEP))
            }
        }
    }
}
