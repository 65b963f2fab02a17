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

/// LOCAL: with fewer OTs than this there is nothing to wait for.
const SOON: u64 = 1 << 18;
/// LOCAL: how long no byte may move while the other side is alive.
const STALL: Duration = Duration::from_secs(120);
/// AGREEMENT: separates the run's name from any other toss.
const DOMAIN: &str = "hushwire 2026 ot command sid v2";

/// The link to the other side.
pub(super) struct Link {
    me: OtParty,
    terms: OtTerms,
    transfer: Transfer,
    channel: Channel,
    meter: Meter,
    /// Last, so that the channel closes before the goodbye.
    net: Net,
}

impl Link {
    /// Finds the other side, compares terms, and names the run.
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
        // Each side's part is fresh, so that the name is, and committed to, so that neither side
        // can choose it.
        let toss = Toss::new(DOMAIN, &terms.tags(), me.id().0);
        let toss = toss.map_err(|e| Error::internal("naming the run", e))?;
        let sid = toss.among("names", std::slice::from_mut(&mut channel)).map_err(explain)?;
        let context = Context { sid: Sid(sid), backend };
        let transfer = Transfer { context, protocol: terms.protocol, level: terms.level };
        Ok(Self { me, terms, transfer, channel, meter, net })
    }

    /// The payload moved so far.
    pub(super) fn reading(&self) -> MeterReading {
        self.meter.reading()
    }

    /// The sender's side of all OTs.
    pub(super) fn send(&mut self, messages: &[[Block; 2]]) -> Result<(), Error> {
        let bar = progress(self.terms.count);
        let sent = self.transfer.send(&mut self.channel, messages, &mut |done| bar.inc(done as u64));
        bar.finish_and_clear();
        sent.map_err(|e| self.failed(e))
    }

    /// The receiver's side of all OTs: the chosen messages, which the checks of its level have
    /// covered.
    pub(super) fn receive(&mut self, choices: &[u8], count: usize) -> Result<SecretBlocks, Error> {
        let bar = progress(self.terms.count);
        let mut chosen = Zeroizing::new(vec![Block::ZERO; count]);
        let received =
            self.transfer.receive(&mut self.channel, choices, &mut chosen, &mut |done| bar.inc(done as u64));
        bar.finish_and_clear();
        received.map_err(|e| self.failed(e))?;
        Ok(chosen)
    }

    /// Both sides say that they have all that they want.
    pub(super) fn confirm(&mut self) -> Result<(), Error> {
        let said = self.channel.exchange("confirmation", &[1], &mut [0]);
        said.map_err(|e| self.terms.explain(self.me, "confirmation", e).into())
    }

    /// Tells the other side that this one failed for a reason of its own.
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

/// What a side needs to meet the other one.
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

/// Reports `e`, with which this side ends, and tells the other side the kind of its cause.
pub(super) fn excuse(me: OtParty, args: &LinkArgs, e: Error) -> Error {
    log::failed(&e);
    let cause = match &e {
        Error::Job(e) => e.tells(),
        _ => Excuse::Inputs,
    };
    // Whoever cannot be met cannot be told.
    if let Ok(Meeting { identity, listener, config }) = Meeting::new(me, args, Error::from) {
        let _ = hushwire_wire::excuse(&config, &identity, listener.as_ref(), Reason::Local(cause));
    }
    e
}

/// This side's identity and the other one's pin. Where nobody is authenticated any will do.
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

/// A bar for people at a terminal.
fn progress(count: u64) -> ProgressBar {
    if count <= SOON {
        return ProgressBar::hidden();
    }
    crate::progress::bar(count, "OTs")
}
