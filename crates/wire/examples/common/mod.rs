//! Parties in one process, connected over any transport.
#![allow(unreachable_pub, dead_code)]

use std::error::Error;

use hushwire_machine::{Net, PartyId, SessionId};
use hushwire_wire::{LocalParties, TransportKind};

pub type Outcome<T> = Result<T, Box<dyn Error + Send + Sync>>;

/// Makes a net for each of `parties`.
pub fn nets(transport: TransportKind, parties: u8, lanes: u16) -> Outcome<Vec<Net>> {
    let ids: Vec<_> = (0..parties).map(PartyId).collect();
    let mut parties = LocalParties::bind(&ids, transport, SessionId([7; 16]))?;
    parties.configs.iter_mut().for_each(|config| config.lanes = lanes);
    parties.connect().into_iter().map(|net| Ok(net?)).collect()
}
