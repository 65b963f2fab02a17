//! Parties of one process, joined over any transport.
#![allow(unreachable_pub, dead_code)]

use std::{env, error::Error, process, thread, time::Duration};

use hushwire_wire::{
    Identity, Listener, Net, PartyId, PeerConfig, SessionConfig, SessionId, TransportKind, connect,
};

pub type Outcome<T> = Result<T, Box<dyn Error + Send + Sync>>;

/// One net for each of `parties`.
pub fn nets(transport: TransportKind, parties: u8, lanes: u16) -> Outcome<Vec<Net>> {
    let ids: Vec<_> = (0..parties).map(PartyId).collect();
    let directory = env::temp_dir();
    let bind = |id: &PartyId| {
        let socket = directory.join(format!("hushwire-example-{}-{}.socket", process::id(), id.0));
        let unix = format!("unix:{}", socket.display());
        Listener::bind(if transport.is_local() { &unix } else { "127.0.0.1:0" })
    };
    let listeners = ids.iter().map(bind).collect::<Result<Vec<_>, _>>()?;
    let identities =
        ids.iter().map(|id| Identity::generate(&id.to_string())).collect::<Result<Vec<_>, _>>()?;
    let peers = ids.iter().zip(&listeners).zip(&identities).map(|((&id, listener), identity)| PeerConfig {
        id,
        address: Some(listener.address()),
        pin: identity.pin(),
    });
    let peers: Vec<_> = peers.collect();
    thread::scope(|scope| {
        let joining: Vec<_> = (0..ids.len())
            .map(|i| {
                let cfg = SessionConfig {
                    me: ids[i],
                    session: SessionId([7; 16]),
                    job_digest: [8; 32],
                    params: [9; 32],
                    lanes,
                    client_lanes: 1,
                    peers: peers.iter().filter(|peer| peer.id != ids[i]).cloned().collect(),
                    transport,
                    connect_timeout: Duration::from_secs(10),
                    stall: Duration::from_secs(10),
                    liveness: SessionConfig::LIVENESS,
                    socket_buffer: None,
                };
                let (identity, listener) = (&identities[i], &listeners[i]);
                scope.spawn(move || connect(&cfg, identity, Some(listener)))
            })
            .collect();
        let joined = joining.into_iter().map(|party| match party.join() {
            Ok(net) => Ok(net?),
            Err(_) => Err("a party panicked".into()),
        });
        joined.collect()
    })
}
