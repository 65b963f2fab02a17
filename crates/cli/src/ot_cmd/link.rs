//! The connection to the other side, and the transfer over it.

use super::{
    LinkArgs,
    terms::{OtParty, OtTerms},
    values::SecretBlocks,
};
use crate::{error::Error, keys, log};
use hushwire::job::session_of;
use hushwire_aes::Backend;
use hushwire_block::Block;
use hushwire_machine::{Channel, Excuse, Meter, MeterReading, Net, NetError, Reason, Toss};
use hushwire_ot::{Context, OtError, Sid, Transfer};
use hushwire_wire::{Identity, Listener, PeerConfig, Pin, SessionConfig, TransportKind, connect_observed};
use indicatif::ProgressBar;
use std::{sync::Arc, time::Duration};
use zeroize::Zeroizing;

/// LOCAL: up to this number of OTs, there is no progress bar.
const SOON: u64 = 1 << 18;
/// LOCAL: the longest time without a byte while the other side is alive.
const STALL: Duration = Duration::from_secs(120);
/// AGREEMENT: separates the coin toss for the run's name from any other toss.
const DOMAIN: &str = "hushwire 2026 ot command sid v2";

/// The link to the other side.
pub(super) struct Link {
    me: OtParty,
    terms: OtTerms,
    transfer: Transfer,
    channel: Channel,
    meter: Meter,
    /// Must be the last field, so that the channel closes before the goodbye.
    net: Net,
}

impl Link {
    /// Connects to the other side, compares the terms, and agrees on the run's name.
    pub(super) fn open(
        me: OtParty,
        args: &LinkArgs,
        terms: OtTerms,
        backend: Backend,
    ) -> Result<Self, Error> {
        let explain = |e| terms.explain(me, "connect", e);
        let Meeting { identity, listener, config } = Meeting::new(me, args, explain)?;
        let config = SessionConfig { job_digest: terms.tags(), ..config };
        match &listener {
            Some(listener) => log::note!("listening on {}, waiting for {}", listener.address(), me.other()),
            None => log::note!("connecting to {}", me.other()),
        }
        let heard = Arc::new(|event: &hushwire_wire::Event| {
            log::note!("{}", event.text().with_names(&OtParty::name).written());
        });
        let mut net = connect_observed(&config, &identity, listener.as_ref(), heard).map_err(explain)?;
        let peer = Some(me.other().id());
        let mut channel = net.channel(0, peer, peer).map_err(explain)?;
        let meter = Meter::new();
        channel.tap(meter.tap());
        log::note!("connected");
        // Each side's part is fresh, so the name is fresh too. Each side commits to its part, so
        // that neither side can choose the name.
        let toss = Toss::new(DOMAIN, &terms.tags(), me.id().0);
        let toss = toss.map_err(|e| Error::internal("naming the run", e))?;
        let sid = toss.among("names", std::slice::from_mut(&mut channel)).map_err(explain)?;
        let context = Context { sid: Sid(sid), backend };
        let transfer = Transfer { context, protocol: terms.protocol, level: terms.level };
        Ok(Self { me, terms, transfer, channel, meter, net })
    }

    /// Returns the payload so far.
    pub(super) fn reading(&self) -> MeterReading {
        self.meter.reading()
    }

    /// Runs the sender of all OTs.
    pub(super) fn send(&mut self, messages: &[[Block; 2]]) -> Result<(), Error> {
        let bar = progress(self.terms.count);
        let sent = self.transfer.send(&mut self.channel, messages, &mut |done| bar.inc(done as u64));
        bar.finish_and_clear();
        sent.map_err(|e| self.failed(e))
    }

    /// Runs the receiver of all OTs. Returns the chosen messages, which have passed the checks of
    /// its security level.
    pub(super) fn receive(&mut self, choices: &[u8], count: usize) -> Result<SecretBlocks, Error> {
        let bar = progress(self.terms.count);
        let mut chosen = Zeroizing::new(vec![Block::ZERO; count]);
        let received =
            self.transfer.receive(&mut self.channel, choices, &mut chosen, &mut |done| bar.inc(done as u64));
        bar.finish_and_clear();
        received.map_err(|e| self.failed(e))?;
        Ok(chosen)
    }

    /// Exchanges confirmations: each side says that it has received everything.
    pub(super) fn confirm(&mut self) -> Result<(), Error> {
        let said = self.channel.exchange("confirmation", &[1], &mut [0]);
        said.map_err(|e| self.terms.explain(self.me, "confirmation", e).into())
    }

    /// Tells the other side that this side failed for a local reason.
    pub(super) fn abort(&self) {
        self.net.abort(self.me.id(), Reason::Failed, "the use of a file");
    }

    fn failed(&self, e: OtError) -> Error {
        if let OtError::Abort { .. } | OtError::Malformed { .. } = e {
            self.net.abort(self.me.other().id(), Reason::Cheated, "oblivious transfer");
        }
        self.terms.failed(self.me, e).into()
    }
}

/// The settings that a side needs to meet the other side.
struct Meeting {
    identity: Identity,
    listener: Option<Listener>,
    config: SessionConfig,
}

impl Meeting {
    fn new<E: Into<Error>>(
        me: OtParty,
        args: &LinkArgs,
        explain: impl Fn(NetError) -> E,
    ) -> Result<Self, Error> {
        let transport: TransportKind = args.transport.parse().map_err(|e| -> Error { explain(e).into() })?;
        let (identity, pin) = who(args, transport)?;
        let listener = args.place.listen.as_deref().map(Listener::bind).transpose();
        let listener = listener.map_err(|e| -> Error { explain(e).into() })?;
        let peer = PeerConfig { id: me.other().id(), address: args.place.connect.clone(), pin };
        let config = SessionConfig {
            connect_timeout: Duration::from_secs(args.wait),
            stall: STALL,
            ..SessionConfig::new(me.id(), session_of("hushwire ot"), vec![peer], transport)
        };
        Ok(Self { identity, listener, config })
    }
}

/// Reports the error `e` that ends this side, and tells the other side the kind of its cause.
pub(super) fn excuse(me: OtParty, args: &LinkArgs, e: Error) -> Error {
    log::failed(&e);
    let cause = match &e {
        Error::Job(e) => e.tells(),
        _ => Excuse::Inputs,
    };
    // A side that cannot be reached cannot be told.
    if let Ok(Meeting { identity, listener, config }) = Meeting::new(me, args, Error::from) {
        let _ = hushwire_wire::excuse(&config, &identity, listener.as_ref(), Reason::Local(cause));
    }
    e
}

/// Returns this side's identity and the other side's pin. A transport without authentication takes
/// any identity.
fn who(args: &LinkArgs, transport: TransportKind) -> Result<(Identity, Pin), Error> {
    let internal = |doing| move |e: hushwire_wire::IdentityError| Error::internal(doing, e);
    if transport != TransportKind::TcpTls {
        let identity = Identity::generate("ot").map_err(internal("making a key"))?;
        let pin = identity.pin();
        return Ok((identity, pin));
    }
    let (Some(key), Some(pin)) = (&args.key, &args.pin) else {
        let what = "--transport tcp-tls needs --key, which `hushwire keys init` makes, and --pin, which it prints at the \
                    other side";
        return Err(Error::Usage(what.to_owned()));
    };
    let pin = pin.parse().map_err(|e| Error::Usage(format!("--pin: {e}")))?;
    Ok((keys::identity(key)?, pin))
}

/// Returns a progress bar for people at a terminal.
fn progress(count: u64) -> ProgressBar {
    if count <= SOON {
        return ProgressBar::hidden();
    }
    crate::progress::bar(count, "OTs")
}
