//! The threads of one party over its lanes.

use std::{sync::Arc, thread};

use hushwire_aes::Backend;
use hushwire_prg::Seed;
use hushwire_rep3::{AesBlocks, KeyExpansion, Role, Sbox, Session, Shares, Workspace};
use hushwire_wire::{
    Channel, Meter, Net, NetError, SessionId,
    drive::{Lane, Work, pipeline},
};

use super::{
    crew::{Encrypts, Serial, Shared, bytes_of, expansion, scatter},
    deal::{Deal, Keys, counter},
    grid::{Cut, Point},
    supply::{Expander, Source, Supply},
};
use crate::{
    BoxError,
    crew::Worker,
    net::{joined, three},
};

/// One party expands the key over a lane of its own.
struct Alone {
    session: Session,
    sbox: Sbox,
    key: Shares,
    lane: Lane<KeyExpansion>,
}

impl Expander<Shared> for Alone {
    fn expand(&mut self, serial: u32) -> Result<Shared, BoxError> {
        let run = expansion(&self.session, self.sbox, &self.key, serial)?;
        Ok(Arc::new(self.lane.run(run)?.into_keys().0))
    }
}

/// One thread of one party.
struct PartyThread {
    lanes: Vec<Lane<AesBlocks>>,
    stream: Stream,
}

/// The chunks of a thread.
struct Stream {
    session: Session,
    sbox: Sbox,
    cut: Cut,
    supply: Supply<Shared, Alone>,
    serial: Serial,
    thread: usize,
    /// Chunks of this repetition that are begun, and bytes of the result that are there.
    begun: usize,
    filled: usize,
    own: Vec<u8>,
    spare: Vec<Workspace>,
}

impl Work<AesBlocks> for Stream {
    type Error = NetError;

    fn next(&mut self) -> Result<Option<AesBlocks>, NetError> {
        let c = self.thread + self.begun * self.cut.threads;
        let Some(keys) = self.supply.of(c).filter(|_| c < self.cut.chunks()) else { return Ok(None) };
        self.begun += 1;
        let (shard, lane) = self.serial.take();
        let (cx, range) = (self.session.context(shard, lane), self.cut.range(c));
        let (role, ws) = (self.session.role(), self.spare.pop().unwrap_or_default());
        Ok(Some(AesBlocks::counter(role, self.sbox, cx, keys, counter(range.start), range.len(), ws)))
    }

    fn done(&mut self, run: AesBlocks) -> Result<(), NetError> {
        let own = run.own();
        self.own[self.filled..][..own.len()].copy_from_slice(own);
        self.filled += own.len();
        self.spare.push(run.into_workspace());
        Ok(())
    }
}

impl Worker for PartyThread {
    fn repeat(&mut self) -> Result<(), BoxError> {
        (self.stream.begun, self.stream.filled) = (0, 0);
        self.stream.supply.begin()?;
        Ok(pipeline(&mut self.lanes, &mut self.stream)?)
    }

    fn abandon(&mut self) {
        self.lanes.clear();
        self.stream.supply.abandon();
    }
}

impl Encrypts for PartyThread {
    fn collect(&self, own: &mut [Vec<u8>; 3]) {
        scatter(
            &self.stream.cut,
            self.stream.thread,
            &self.stream.own,
            &mut own[self.stream.session.role().index()],
        );
    }
}

/// Connects the parties and gives all their threads.
pub(super) fn parties(
    backend: Backend,
    point: &Point,
    cut: &Cut,
    deal: &Deal,
    meters: Option<&[Meter; 3]>,
) -> Result<Vec<Box<dyn Encrypts>>, BoxError> {
    // One lane more, for session keys and for key expansion.
    let key_lane = u16::try_from(cut.lanes * cut.threads)?;
    let id = SessionId::fresh()?;
    let nets = three(point.transport, point.net, id, key_lane + 1, None)?;
    let joined: Result<Vec<Vec<PartyThread>>, BoxError> = thread::scope(|scope| {
        let joining: Vec<_> = Role::ALL
            .into_iter()
            .zip(nets)
            .map(|(role, net)| {
                let party = Party { role, backend, sbox: point.sbox, cut, keys: &deal.parties[role.index()] };
                let meter = meters.map(|meters| meters[role.index()].clone());
                scope.spawn(move || party.threads(net, id, key_lane, meter.as_ref()))
            })
            .collect();
        joining.into_iter().map(|thread| joined(thread.join())?).collect()
    });
    let boxed = |thread| -> Box<dyn Encrypts> { Box::new(thread) };
    Ok(joined?.into_iter().flatten().map(boxed).collect())
}

struct Party<'a> {
    role: Role,
    backend: Backend,
    sbox: Sbox,
    cut: &'a Cut,
    keys: &'a Keys,
}

impl Party<'_> {
    fn threads(
        &self,
        mut net: Net,
        id: SessionId,
        key_lane: u16,
        meter: Option<&Meter>,
    ) -> Result<Vec<PartyThread>, BoxError> {
        let (role, cut) = (self.role, *self.cut);
        let (left, right) = (Some(role.left().id()), Some(role.right().id()));
        let mut around = net.channel(key_lane, right, left)?;
        let session = Session::establish(role, self.backend, id, Seed::random(), &mut around)?;
        let mut ring = |lane: usize| -> Result<Channel, BoxError> {
            let mut channel = net.channel(u16::try_from(lane)?, left, right)?;
            if let Some(meter) = meter {
                channel.tap(meter.tap());
            }
            Ok(channel)
        };
        let supplies = match self.keys {
            Keys::Expand(key) => {
                let lane = Lane::new(ring(key_lane.into())?);
                let alone = Alone { session: session.clone(), sbox: self.sbox, key: key.clone(), lane };
                Supply::expanding(alone, cut.threads)
            }
            Keys::One(key) => (0..cut.threads).map(|_| Supply::new(Source::One(key.clone()))).collect(),
            Keys::PerChunk(keys) => {
                (0..cut.threads).map(|_| Supply::new(Source::PerChunk(keys.clone()))).collect()
            }
        };
        let mut threads = Vec::new();
        for (thread, supply) in supplies.into_iter().enumerate() {
            let lanes = (0..cut.lanes).map(|lane| ring(thread * cut.lanes + lane).map(Lane::new));
            let stream = Stream {
                session: session.clone(),
                sbox: self.sbox,
                cut,
                supply,
                serial: Serial::new(thread)?,
                thread,
                begun: 0,
                filled: 0,
                own: vec![0; bytes_of(&cut, thread)],
                spare: Vec::new(),
            };
            threads.push(PartyThread { lanes: lanes.collect::<Result<_, _>>()?, stream });
        }
        Ok(threads)
    }
}
