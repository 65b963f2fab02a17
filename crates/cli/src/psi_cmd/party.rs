//! One party's process: hears what to read on stdin, meets the other one, and says what it learned.

use super::{SIDES, name, terms};
use crate::{
    control::{FromParty, Met, PsiFound, PsiSetup, Stats, ToParty, orders, peak_memory, tell, text_to_path},
    error::Failure,
};
use hushwire_aes::Backend;
use hushwire_job::{Member, is_consequence, session_of};
use hushwire_psi::{Column, Found, PsiError, Side, intersect};
use hushwire_wire::{
    Identity, Listener, Meter, Net, PartyId, PeerConfig, Reason, SessionConfig, SessionId, connect,
};
use std::{
    process,
    sync::mpsc::Receiver,
    time::{Duration, Instant},
};

/// The hidden subcommand.
pub(crate) const COMMAND: &str = "__psi";
/// LOCAL: both processes are on this machine; the other one may have a large file to read.
const CONNECT: Duration = Duration::from_secs(60);
/// LOCAL: the dead are noticed long before; this is for those who live and never answer.
const STALL: Duration = Duration::from_secs(3600);
/// LOCAL: how often progress is reported.
const REPORT: Duration = Duration::from_millis(100);

pub(super) fn arguments(index: usize) -> Vec<String> {
    vec![COMMAND.to_owned(), index.to_string()]
}

/// A step that failed, and why.
type Failed = (&'static str, Box<dyn std::error::Error>);

/// Runs party `index` to its end.
pub(crate) fn main(index: usize) -> ! {
    let side = if index == 0 { Side::A } else { Side::B };
    let orders = orders();
    match party(side, &orders) {
        Ok((found, stats, _net)) => {
            tell(&FromParty::Found(Box::new(found)));
            tell(&FromParty::Done(stats));
            // The supervisor closes stdin, or says so.
            drop(orders.recv());
            process::exit(0)
        }
        Err((step, e)) => {
            let failure = failure(index, side, step, &*e);
            let code = failure.code;
            tell(&FromParty::Failed(failure));
            process::exit(code.into())
        }
    }
}

fn failure(party: usize, side: Side, step: &str, e: &(dyn std::error::Error + 'static)) -> Failure {
    let error = e.downcast_ref::<PsiError>();
    let who = name(side).to_owned();
    if let Some(PsiError::File { path, place, cause, remedy }) = error {
        let place = place.map_or_else(String::new, |place| format!(", {place}"));
        let (step, cause) = (format!("cannot read {}{place}", path.display()), cause.clone());
        return Failure { party, who, step, cause, remedy: remedy.clone(), code: 4, consequence: false };
    }
    // The network knows numbers, people know sides.
    let whole =
        SIDES.into_iter().fold(e.to_string(), |text, side| text.replace(&id(side).to_string(), name(side)));
    let (cause, remedy) =
        whole.rsplit_once("; ").unwrap_or((&whole, "please report this with the command line"));
    let (code, consequence) = match error {
        Some(PsiError::Terms { .. } | PsiError::TooLarge { .. }) => (2, false),
        Some(error) => (3, error.net().is_some_and(is_consequence)),
        None => (e.downcast_ref::<hushwire_wire::NetError>().map_or(1, |_| 3), false),
    };
    let (step, cause, remedy) = (step.to_owned(), cause.to_owned(), remedy.to_owned());
    Failure { party, who, step, cause, remedy, code, consequence }
}

fn party(side: Side, orders: &Receiver<ToParty>) -> Result<(PsiFound, Stats, Net), Failed> {
    const START: &str = "start";
    let at = |step: &'static str| move |e| (step, e);
    let Ok(ToParty::Psi(setup)) = orders.recv() else { return Err((START, "an order was missing".into())) };
    let terms = terms(&setup).map_err(|e| (START, e.into()))?;
    let path = text_to_path(&setup.file).map_err(|e| (START, e.into()))?;
    let column = Column::read(&path, &setup.column).map_err(|e| ("reading the file", e.into()))?;
    let listener = Listener::bind(&setup.listen).map_err(|e| ("listening", e.into()))?;
    tell(&FromParty::Ready { address: listener.address(), key_id: None });
    let Ok(ToParty::Meet(others)) = orders.recv() else { return Err((START, "an order was missing".into())) };

    let (config, identity) = config(side, &setup, others).map_err(at(START))?;
    let backend = Backend::named(&setup.aes_backend).map_err(|e| (START, e.into()))?;
    let begun = Instant::now();
    let mut net = connect(&config, &identity, Some(&listener)).map_err(|e| ("connect", e.into()))?;
    tell(&FromParty::Joined);
    let peer = id(other(side));
    let mut channel = net.channel(0, Some(peer), Some(peer)).map_err(|e| ("connect", e.into()))?;
    let meter = Meter::new();
    channel.tap(meter.tap());
    let mut last = None::<Instant>;
    let mut observer = |done, of| {
        if done == of || last.is_none_or(|at| at.elapsed() >= REPORT) {
            last = Some(Instant::now());
            tell(&FromParty::Progress(done, of));
        }
    };
    let outcome = intersect(&mut channel, side, &column.keys, &terms, backend, &mut observer);
    let outcome = outcome.map_err(|e| {
        if let PsiError::Malformed { .. } = e {
            net.abort(peer, Reason::Cheated, "the intersection");
        }
        ("the intersection", e.into())
    })?;
    let reading = meter.reading();
    let mut found = PsiFound {
        sizes: outcome.sizes,
        circuit: outcome.circuit.name().to_owned(),
        width: outcome.width,
        ands: outcome.ands,
        size: None,
        items: None,
        flags: None,
    };
    match (outcome.found, setup.reveal.as_str()) {
        (Found::Size(size), _) => found.size = Some(size),
        (Found::Keys(own), "flags") => {
            found.flags = Some(column.by_row(&own).into_iter().map(|f| if f { '1' } else { '0' }).collect());
        }
        (Found::Keys(own), _) => {
            let items = column.keys.iter().zip(own).filter(|(_, found)| *found).map(|(key, _)| key.clone());
            found.items = Some(items.collect());
        }
        (Found::Nothing, _) => {}
    }
    let stats = Stats {
        bytes_sent: reading.bytes_sent(),
        bytes_received: reading.bytes_received(),
        rounds: reading.rounds(),
        peak_memory_bytes: peak_memory(),
        seconds: begun.elapsed().as_secs_f64(),
        ..Stats::default()
    };
    Ok((found, stats, net))
}

const fn id(side: Side) -> PartyId {
    PartyId(if matches!(side, Side::A) { 0 } else { 1 })
}

fn other(side: Side) -> Side {
    if side == Side::A { Side::B } else { Side::A }
}

fn config(
    side: Side,
    setup: &PsiSetup,
    others: Vec<Met>,
) -> Result<(SessionConfig, Identity), Box<dyn std::error::Error>> {
    let peer = id(other(side));
    let met = others.into_iter().find(|met| met.member == Member::Party(peer.0)).ok_or("nobody to meet")?;
    let mut session = [0; 16];
    hex::decode_to_slice(&setup.session, &mut session)?;
    let config = SessionConfig {
        me: id(side),
        session: SessionId(session),
        // What must be alike is compared by the protocol's first message.
        job_digest: blake3::hash(session_of("hushwire psi").to_string().as_bytes()).into(),
        params: [0; 32],
        lanes: 1,
        client_lanes: 1,
        peers: vec![PeerConfig { id: peer, address: met.address, pin: met.pin.parse()? }],
        transport: setup.transport.parse()?,
        connect_timeout: CONNECT,
        stall: STALL,
        liveness: SessionConfig::LIVENESS,
        socket_buffer: None,
    };
    Ok((config, Identity::from_pem(&setup.pem)?))
}
