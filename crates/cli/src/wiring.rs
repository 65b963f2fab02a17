//! From a start order to a session's configuration, the same way for the owner and the parties.

use crate::{control::Start, error::Error};
use hushwire_job::aes_ctr::Terms;
use hushwire_wire::{PartyId, PeerConfig, SessionConfig, SessionId};
use std::time::Duration;

/// LOCAL: all processes are on this machine and start together; a loaded one may take a while.
const CONNECT: Duration = Duration::from_secs(60);
/// LOCAL: longer than any disk should take.
const STALL: Duration = Duration::from_secs(120);

fn bad(e: impl Into<Box<dyn std::error::Error>>) -> Error {
    Error::Internal { doing: "reading a start order", cause: e.into().to_string() }
}

/// The session's name.
pub(crate) fn session_id(start: &Start) -> Result<SessionId, Error> {
    let mut id = [0; 16];
    hex::decode_to_slice(&start.session, &mut id).map_err(bad)?;
    Ok(SessionId(id))
}

/// The configuration with which `me` joins: parties list all others, the owner lists the parties.
pub(crate) fn session(start: &Start, me: PartyId) -> Result<SessionConfig, Error> {
    let (job_digest, params) = digests(&start.terms)?;
    let pins = start.pins.iter().map(|pin| pin.parse()).collect::<Result<Vec<_>, _>>().map_err(bad)?;
    let ids = [PartyId(0), PartyId(1), PartyId(2), PartyId::OWNER];
    let addresses = start.addresses.iter().cloned().map(Some).chain([None]);
    let all = ids.into_iter().zip(addresses).zip(pins);
    let peers = all.map(|((id, address), pin)| PeerConfig { id, address, pin }).filter(|peer| peer.id != me);
    Ok(SessionConfig {
        me,
        session: session_id(start)?,
        job_digest,
        params,
        lanes: start.terms.key_lane() + 1,
        client_lanes: start.terms.cut.threads,
        peers: peers.collect(),
        transport: start.transport.parse()?,
        connect_timeout: CONNECT,
        stall: STALL,
        liveness: SessionConfig::LIVENESS,
        socket_buffer: None,
    })
}

/// Digests of the terms, and of how the file is cut.
fn digests(terms: &Terms) -> Result<([u8; 32], [u8; 32]), Error> {
    let (all, cut) = (serde_json::to_vec(terms).map_err(bad)?, serde_json::to_vec(&terms.cut).map_err(bad)?);
    Ok((*blake3::hash(&all).as_bytes(), *blake3::hash(&cut).as_bytes()))
}
