//! A mover between processes: a session of one member's shards, which all have the member's key.

use super::{Fault, MOVING};
use crate::Agreement;
use hushwire_fault::code;
use hushwire_machine::{Channel, NetError, PartyId, SessionId, Watch};
use hushwire_rep3::Mover;
use hushwire_wire::{self as wire, Identity, Listener, PeerConfig, SessionConfig, TransportKind};
use std::{
    sync::{Arc, atomic::AtomicBool},
    time::Duration,
};

/// AGREEMENT: the domain of this digest.
const DOMAIN: &str = "hushwire shards of one member v1";
/// LOCAL: the longest part that one shard sends another at once, 64 GiB. A larger number is not a
/// valid length.
const LONGEST: u64 = 1 << 36;

/// The settings with which a shard meets the others of its member.
pub(crate) struct ShardWaits<'a> {
    /// The member's name in job files.
    pub(crate) me: String,
    /// The member's key.
    pub(crate) identity: &'a Identity,
    /// The session's name.
    pub(crate) session: SessionId,
    /// The longest time to wait for all shards together, and for a byte.
    pub(crate) connect: Duration,
    pub(crate) stall: Duration,
    /// The flag that ends the wait.
    pub(crate) stop: &'a AtomicBool,
}

/// The mover of a shard whose others are processes.
pub(super) struct NetMover {
    shard: usize,
    shards: usize,
    /// For each distance from 1 on: the channel to the shard that far after this one, and from the
    /// shard that far before it.
    channels: Vec<Channel>,
    watch: Option<Watch>,
}

impl NetMover {
    /// Connects to the other shards. They must have the same member's key and run the same job,
    /// whose agreement names no shard.
    pub(super) fn connect(
        shard: usize,
        plan: &Agreement,
        limits: ShardWaits<'_>,
        listener: &Listener,
        addresses: &[String],
        transport: TransportKind,
    ) -> Result<Self, Fault> {
        let shards = addresses.len();
        let ShardWaits { me, identity, session, connect, stall, stop } = limits;
        let id = |shard: usize| PartyId(shard as u8);
        let others = (0..shards).filter(|other| *other != shard);
        let peers = others.map(|other| PeerConfig {
            id: id(other),
            address: Some(addresses[other].clone()),
            pin: identity.pin(),
        });
        let mut digest = blake3::Hasher::new_derive_key(DOMAIN);
        digest.update(&(shards as u64).to_le_bytes()).update(&(me.len() as u64).to_le_bytes());
        digest.update(me.as_bytes()).update(&plan.digest());
        let config = SessionConfig {
            params: *digest.finalize().as_bytes(),
            connect_timeout: connect,
            stall,
            kin: true,
            ..SessionConfig::new(id(shard), session, peers.collect(), transport)
        };
        let silent: wire::Observer = Arc::new(|_| {});
        let net = wire::connect_or_news(&config, identity, Some(listener), silent, Some(stop));
        let mut net = net.map_err(|(e, _)| not_met(&e))?;
        let channels = (1..shards).map(|by| {
            let (to, from) = ((shard + by) % shards, (shard + shards - by) % shards);
            net.channel(0, Some(id(to)), Some(id(from))).map_err(of_shard)
        });
        let channels = channels.collect::<Result<_, _>>()?;
        Ok(Self { shard, shards, channels, watch: net.watch() })
    }

    pub(super) fn watch(&self) -> Option<Watch> {
        self.watch.clone()
    }
}

/// The error of shards that did not meet; it names shards in place of parties.
fn not_met(e: &NetError) -> Fault {
    let named = |id: PartyId| Some(format!("shard {}", id.0));
    let fault = match e {
        NetError::HandshakeMismatch { .. } => {
            let (peer, fields) =
                ("another shard of this party", "the job, the number of shards or the label");
            Fault::of(code::ANOTHER_PLAN, &[("peer", peer.into()), ("fields", fields.into())])
        }
        _ => e.fault().with_names(&named),
    };
    fault.during("meeting the other shards of this party")
}

/// An error between shards, which names a shard in place of a party.
pub(super) fn of_shard(e: NetError) -> NetError {
    if let NetError::Shard { .. } = e {
        return e;
    }
    let shard = e.peer().map_or(0, |peer| usize::from(peer.0));
    let fault = e.fault().with_names(&|id: PartyId| Some(format!("shard {}", id.0)));
    NetError::Shard { shard, step: MOVING.to_owned(), cause: fault.cause_text().clone() }
}

impl Mover for NetMover {
    fn shard(&self) -> usize {
        self.shard
    }

    fn shards(&self) -> usize {
        self.shards
    }

    fn exchange(&mut self, mut to: Vec<Vec<u8>>) -> Result<Vec<Vec<u8>>, NetError> {
        assert_eq!(to.len(), self.shards, "a part for each shard");
        let (shard, shards) = (self.shard, self.shards);
        let mut from: Vec<Vec<u8>> = vec![vec![]; shards];
        from[shard] = std::mem::take(&mut to[shard]);
        let places = |by: usize| ((shard + by) % shards, (shard + shards - by) % shards);
        // All messages are in flight before the first is awaited.
        let lengths: Vec<[u8; 8]> =
            (1..shards).map(|by| (to[places(by).0].len() as u64).to_le_bytes()).collect();
        for (channel, length) in self.channels.iter_mut().zip(&lengths) {
            channel.start(MOVING, length).map_err(of_shard)?;
        }
        for (by, (channel, length)) in (1..).zip(self.channels.iter_mut().zip(&lengths)) {
            let mut comes = [0; 8];
            channel.finish(MOVING, length, &mut comes).map_err(of_shard)?;
            let (other, comes) = (places(by).1, u64::from_le_bytes(comes));
            if comes > LONGEST {
                let cause = format!("it gives {comes} bytes at once").into();
                return Err(NetError::Shard { shard: other, step: MOVING.to_owned(), cause });
            }
            from[other] = vec![0; comes as usize];
        }
        for (by, channel) in (1..).zip(&mut self.channels) {
            channel.start(MOVING, &to[places(by).0]).map_err(of_shard)?;
        }
        for (by, channel) in (1..).zip(&mut self.channels) {
            let (next, before) = places(by);
            channel.finish(MOVING, &to[next], &mut from[before]).map_err(of_shard)?;
        }
        Ok(from)
    }
}
