//! The connection to the other side, and the transfer over it.

use super::{
    LinkArgs,
    terms::{Side, Terms},
    values::Blocks,
};
use crate::{error::Error, keys, log};
use hushwire_aes::Backend;
use hushwire_block::Block;
use hushwire_job::aes_ctr::draw;
use hushwire_job::session_of;
use hushwire_ot::{Context, Driver, OtError, Receiving, Security, Sending, Sid, open_receiver, open_sender};
use hushwire_prg::Seed;
use hushwire_wire::{
    Channel, Identity, Listener, Meter, MeterReading, Net, PeerConfig, Pin, Reason, SessionConfig,
    TransportKind, connect_observed,
};
use indicatif::ProgressBar;
use std::{sync::Arc, time::Duration};
use zeroize::Zeroizing;

/// AGREEMENT: OTs between two steps of the progress bar.
const BATCH: usize = 1 << 18;
/// LOCAL: how long no byte may move while the other side is alive.
const STALL: Duration = Duration::from_secs(120);
/// AGREEMENT: separates the run's name from any other use of BLAKE3.
const DOMAIN: &str = "hushwire 2026 ot command sid v1";

/// The link to the other side.
pub(super) struct Link {
    me: Side,
    terms: Terms,
    context: Context,
    driver: Driver,
    channel: Channel,
    meter: Meter,
    /// Last, so that the channel closes before the goodbye.
    net: Net,
}

impl Link {
    /// Finds the other side, compares terms, and names the run.
    pub(super) fn open(me: Side, args: &LinkArgs, terms: Terms, backend: Backend) -> Result<Self, Error> {
        let explain = |e| terms.explain(me, "connect", e);
        let transport: TransportKind = args.transport.parse().map_err(explain)?;
        let (identity, pin) = who(args, transport)?;
        let listener = args.place.listen.as_deref().map(Listener::bind).transpose().map_err(explain)?;
        let peer = PeerConfig { id: me.other().id(), address: args.place.connect.clone(), pin };
        let config = SessionConfig {
            job_digest: terms.tags(),
            connect_timeout: Duration::from_secs(args.wait),
            stall: STALL,
            ..SessionConfig::new(me.id(), session_of("hushwire ot"), vec![peer], transport)
        };
        match &listener {
            Some(listener) => log::note!("listening on {}, waiting for {}", listener.address(), me.other()),
            None => log::note!("connecting to {}", me.other()),
        }
        let heard = Arc::new(|event: &hushwire_wire::Event| {
            let text = event.to_string();
            let sides = [Side::Sender, Side::Receiver].into_iter();
            let text = sides.fold(text, |text, side| text.replace(&side.id().to_string(), &side.to_string()));
            log::note!("{text}");
        });
        let mut net = connect_observed(&config, &identity, listener.as_ref(), heard).map_err(explain)?;
        let peer = Some(me.other().id());
        let mut channel = net.channel(0, peer, peer).map_err(explain)?;
        let meter = Meter::new();
        channel.tap(meter.tap());
        log::note!("connected");
        // Each side's part is fresh, so that the name is.
        let own: [u8; 32] = draw("naming the run")?;
        let mut theirs = [0; 32];
        channel.exchange("names", &own, &mut theirs).map_err(explain)?;
        let (first, second) = if me == Side::Sender { (own, theirs) } else { (theirs, own) };
        let mut hasher = blake3::Hasher::new_derive_key(DOMAIN);
        hasher.update(&first).update(&second).update(&terms.tags());
        let context = Context { sid: Sid(*hasher.finalize().as_bytes()), backend };
        Ok(Self { me, terms, context, driver: Driver::new(), channel, meter, net })
    }

    /// The payload moved so far.
    pub(super) fn reading(&self) -> MeterReading {
        self.meter.reading()
    }

    /// The sender's side of all OTs.
    pub(super) fn send<S: Security>(&mut self, messages: &[[Block; 2]]) -> Result<(), Error> {
        let sent = self.try_send::<S>(messages);
        sent.map_err(|e| self.failed(e))
    }

    fn try_send<S: Security>(&mut self, messages: &[[Block; 2]]) -> Result<(), OtError> {
        let Self { context, driver, channel, terms, .. } = self;
        let mut sender = open_sender::<S>(driver, channel, context, terms.protocol, &Seed::random())?;
        let bar = progress(terms.count);
        for batch in messages.chunks(BATCH) {
            let mut steps = sender.extend(Sending::Ot(batch));
            driver.run(channel, &mut steps)?;
            let made = steps.finish();
            let mut check = sender.verify();
            driver.run(channel, &mut check)?;
            made.open(&check.finish())?;
            bar.inc(batch.len() as u64);
        }
        bar.finish_and_clear();
        Ok(())
    }

    /// The receiver's side of all OTs: the chosen messages, which the checks of `S` have covered.
    pub(super) fn receive<S: Security>(&mut self, choices: &[u8], count: usize) -> Result<Blocks, Error> {
        let received = self.try_receive::<S>(choices, count);
        received.map_err(|e| self.failed(e))
    }

    fn try_receive<S: Security>(&mut self, choices: &[u8], count: usize) -> Result<Blocks, OtError> {
        let Self { context, driver, channel, terms, .. } = self;
        let mut receiver = open_receiver::<S>(driver, channel, context, terms.protocol, &Seed::random())?;
        let bar = progress(terms.count);
        let mut chosen = Zeroizing::new(vec![Block::ZERO; count]);
        // A batch's choices fill whole bytes.
        for (messages, choices) in chosen.chunks_mut(BATCH).zip(choices.chunks(BATCH / 8)) {
            let done = messages.len();
            let mut steps = receiver.extend(Receiving::Ot { choices, messages });
            driver.run(channel, &mut steps)?;
            let made = steps.finish();
            let mut check = receiver.verify();
            driver.run(channel, &mut check)?;
            made.open(&check.finish())?;
            bar.inc(done as u64);
        }
        bar.finish_and_clear();
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
    if count <= BATCH as u64 {
        return ProgressBar::hidden();
    }
    crate::progress::bar(count, "OTs")
}
