//! The shards of one member. Each shard is a session of its own, and a mover exchanges the member's
//! data between shards.
//!
//! ```text
//! party 0, shard 0 ── session 0 ── party 1, shard 0
//!        │ mover                          │ mover        a mover has two ends of one member,
//! party 0, shard 1 ── session 1 ── party 1, shard 1      and a session those of all members
//! ```
//!
//! Shard 0 of a member reads its files, and gives each shard its rows. Files that store rows in
//! groups are read by every shard, each its own rows only. The results of all shards go back to
//! shard 0, which writes them. No shard reports that it is done before all shards of its member
//! have put their outputs on disk. So outputs appear only if all shards of all members are done.
//!
//! A member that loses a shard ends in all its sessions, and each session is told the reason. Such
//! a run is not resumed: a second attempt has new sessions, with new seeds.

mod hosts;
mod net;

pub(crate) use hosts::peer_shards;
pub use hosts::{Hosts, SHARD_WORD, ShardHost, shard_address};

use crate::{Agreement, Fault, Member};
use hushwire_fault::{Excuse, code};
use hushwire_machine::{NetError, PartyId, Reason, Watch, lock};
use hushwire_rep3::{MemoryMover, Mover, gone, in_memory, ranges};
use hushwire_wire::{Identity, Listener, TransportKind};
use std::{
    ops::Range,
    sync::{
        Arc, Condvar, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    thread::{self, JoinHandle},
    time::Duration,
};

/// The most shards of a member; a shard is a number in a handshake.
pub const MOST_SHARDS: usize = 64;
/// LOCAL: the interval at which a shard checks that the others are alive.
const LOOK: Duration = Duration::from_millis(200);
/// The step in which shards exchange rows, as errors name it.
const MOVING: &str = "moving rows between shards";

/// The place of a process among the shards of its member, before they meet.
pub struct ShardPlace {
    /// The number of this shard.
    pub shard: usize,
    /// The number of shards.
    pub shards: usize,
    way: Way,
}

enum Way {
    /// All shards are threads of this process.
    Threads(Mutex<MemoryMover>, Arc<Vec<AtomicBool>>),
    /// Each shard is a process. The addresses are those of all shards, in order.
    Processes { listener: Listener, addresses: Vec<String>, transport: TransportKind },
}

impl ShardPlace {
    /// Makes all shards of a member that is a single process.
    ///
    /// # Errors
    /// The number is zero, or more than [`MOST_SHARDS`].
    pub fn threads(shards: usize) -> Result<Vec<Self>, Fault> {
        counted(shards)?;
        let ended = Arc::new((0..shards).map(|_| AtomicBool::new(false)).collect::<Vec<_>>());
        let movers = in_memory(shards).into_iter().enumerate();
        let place =
            |(shard, mover)| Self { shard, shards, way: Way::Threads(Mutex::new(mover), ended.clone()) };
        Ok(movers.map(place).collect())
    }

    /// Makes the place of a shard that is a process, and begins to listen at `listen`. The shards
    /// find each other at `addresses`, in order.
    ///
    /// # Errors
    /// There is no such shard, or the address is not available.
    pub fn process(
        shard: usize,
        listen: &str,
        addresses: Vec<String>,
        transport: TransportKind,
    ) -> Result<Self, Fault> {
        let shards = addresses.len();
        counted(shards)?;
        if shard >= shards {
            let cause = format!("there is no shard {shard}: their numbers are 0 to {}", shards - 1);
            return Err(Fault::usage("starting a shard", cause, "name one of these"));
        }
        let listener = Listener::bind(listen);
        let listener = listener.map_err(|e| Fault::from(e).during("listening for other shards"))?;
        Ok(Self { shard, shards, way: Way::Processes { listener, addresses, transport } })
    }

    /// The range of this shard's rows, of a value with `rows` elements.
    #[must_use]
    pub fn range(&self, rows: usize) -> Range<usize> {
        range(self.shard, self.shards, rows)
    }

    /// Connects to the member's other shards, which run the same job.
    pub(crate) fn meet(self, plan: &Agreement, limits: ShardWaits<'_>) -> Result<Shards, Fault> {
        let Self { shard, shards, way } = self;
        let (mover, ward): (Box<dyn Mover>, Ward) = match way {
            Way::Threads(mover, ended) => {
                let mover = mover.into_inner().unwrap_or_else(PoisonError::into_inner);
                (Box::new(mover), Ward::Flags(ended))
            }
            Way::Processes { listener, addresses, transport } => {
                let mover = net::NetMover::connect(shard, plan, limits, &listener, &addresses, transport)?;
                let watch = mover.watch();
                (Box::new(mover), watch.map_or(Ward::None, Ward::Watch))
            }
        };
        let (mover, ward) = (Arc::new(Mutex::new(mover)), Arc::new(ward));
        Ok(Shards { shard, shards, mover, ward, lost: Arc::default(), ended: Arc::default() })
    }
}

pub(crate) use net::ShardWaits;

/// Refuses a member whose number of shards differs from the number that its job asks for.
///
/// # Errors
/// The numbers differ.
pub fn as_many(asked: usize, has: usize) -> Result<(), Fault> {
    let cause = match [asked, has] {
        [asked, has] if asked == has => return Ok(()),
        [1, has] => format!("this member has {has} shards, and the job runs on one"),
        [asked, 1] => format!("the job runs on {asked} shards, and this member has one"),
        [asked, has] => format!("the job runs on {asked} shards, and this member has {has}"),
    };
    let remedy = "let `shards` of the job be the number in each party's hosts file; docs/shards.md says how";
    Err(Fault::new(code::MEMBER, "planning the job", cause, remedy))
}

/// Refuses an impossible number of shards.
fn counted(shards: usize) -> Result<(), Fault> {
    if (1..=MOST_SHARDS).contains(&shards) {
        return Ok(());
    }
    let cause = format!("{shards} shards are asked for, and a member has 1 to {MOST_SHARDS}");
    Err(Fault::usage("starting shards", cause, "take as many"))
}

/// The range of a shard's rows, of a value with `rows` elements.
#[must_use]
pub fn range(shard: usize, shards: usize, rows: usize) -> Range<usize> {
    let starts = ranges(rows, shards);
    starts[shard]..starts[shard + 1]
}

/// The object that tells a shard that another one ended, and is told that this one ends.
enum Ward {
    None,
    Watch(Watch),
    Flags(Arc<Vec<AtomicBool>>),
}

impl Ward {
    fn check(&self, shard: usize) -> Result<(), NetError> {
        match self {
            Ward::None => Ok(()),
            Ward::Watch(watch) => watch.check(MOVING).map_err(net::of_shard),
            Ward::Flags(ended) => {
                let mut others = ended.iter().enumerate().filter(|(other, _)| *other != shard);
                let lost = others.find(|(_, ended)| ended.load(Ordering::SeqCst));
                lost.map_or(Ok(()), |(other, _)| Err(gone(other)))
            }
        }
    }

    fn end(&self, shard: usize) {
        match self {
            Ward::None => {}
            Ward::Watch(watch) => watch.abort(PartyId(shard as u8), Reason::Failed, MOVING),
            Ward::Flags(ended) => ended[shard].store(true, Ordering::SeqCst),
        }
    }
}

/// One shard of a member, connected to the others.
#[derive(Clone)]
pub struct Shards {
    shard: usize,
    shards: usize,
    mover: Arc<Mutex<Box<dyn Mover>>>,
    ward: Arc<Ward>,
    /// The error of the first shard that was lost.
    lost: Arc<Mutex<Option<Fault>>>,
    /// Set when this shard ends early: whether it had lost another shard before.
    ended: Arc<Mutex<Option<Result<(), Fault>>>>,
}

impl Shards {
    /// The number of this shard.
    #[must_use]
    pub fn shard(&self) -> usize {
        self.shard
    }

    /// The number of shards.
    #[must_use]
    pub fn shards(&self) -> usize {
        self.shards
    }

    /// The mover, for a plan that runs on all shards.
    pub fn mover(&self) -> MutexGuard<'_, Box<dyn Mover>> {
        lock(&self.mover)
    }

    /// Sends a part to each shard, this one included. Returns the parts that all shards sent to
    /// this one, in order.
    ///
    /// # Errors
    /// Another shard is lost.
    pub fn exchange(&self, to: Vec<Vec<u8>>) -> Result<Vec<Vec<u8>>, Fault> {
        Ok(self.mover().exchange(to)?)
    }

    /// Sends each shard its part of shard 0's data. Only shard 0 passes `parts`.
    ///
    /// # Errors
    /// Another shard is lost.
    pub fn scatter(&self, parts: Option<Vec<Vec<u8>>>) -> Result<Vec<u8>, Fault> {
        let to = parts.unwrap_or_else(|| vec![vec![]; self.shards]);
        let mut from = self.mover().exchange(to)?;
        Ok(std::mem::take(&mut from[0]))
    }

    /// Sends each shard's data to shard 0, which gets them in order; the other shards get `None`.
    ///
    /// # Errors
    /// Another shard is lost.
    pub fn gather(&self, own: Vec<u8>) -> Result<Option<Vec<Vec<u8>>>, Fault> {
        let mut to = vec![vec![]; self.shards];
        to[0] = own;
        let from = self.mover().exchange(to)?;
        Ok((self.shard == 0).then_some(from))
    }

    /// Waits until all shards of this member have reached this point.
    ///
    /// # Errors
    /// Another shard is lost.
    pub fn meet(&self) -> Result<(), Fault> {
        self.mover().exchange(vec![vec![]; self.shards]).map(drop).map_err(Fault::from)
    }

    /// Tells the other shards that this one ends early.
    pub fn end(&self) {
        let mut ended = lock(&self.ended);
        if ended.is_none() {
            *ended = Some(self.ward.check(self.shard).map_err(Fault::from));
            self.ward.end(self.shard);
        }
    }

    /// Whether another shard was lost before this one ended.
    fn check(&self) -> Result<(), Fault> {
        let ended = lock(&self.ended).clone();
        ended.unwrap_or_else(|| self.ward.check(self.shard).map_err(Fault::from))
    }

    /// Returns the error of the first lost shard if there is one, since it caused every other
    /// failure here. Else returns `e`.
    #[must_use]
    pub fn explains(&self, e: Fault) -> Fault {
        if e.code() == code::SHARD {
            return e.telling(Excuse::Shard);
        }
        // The session was ended here for that reason.
        if let Some(lost) = lock(&self.lost).clone() {
            return lost;
        }
        match self.check() {
            Err(lost) if e.is_consequence() => lost.telling(Excuse::Shard),
            _ => e,
        }
    }

    /// Starts a thread that ends this member's session if another shard is lost, and tells the
    /// other shards if the session ends early. It runs until the result is dropped.
    pub(crate) fn attend(&self, session: Watch, me: PartyId) -> Vigil {
        let over = Arc::new((Mutex::new(false), Condvar::new()));
        let (ends, shards) = (over.clone(), self.clone());
        let looks = move || {
            let (flag, rings) = &*ends;
            let mut over = lock(flag);
            while !*over {
                over = rings.wait_timeout(over, LOOK).unwrap_or_else(PoisonError::into_inner).0;
                if *over {
                    return;
                }
                if let Err(lost) = shards.check() {
                    *lock(&shards.lost) = Some(lost.telling(Excuse::Shard));
                    session.abort(me, Reason::Local(Excuse::Shard), MOVING);
                    return;
                }
                if session.check(MOVING).is_err() {
                    shards.end();
                    return;
                }
            }
        };
        // Without this thread, a lost shard is detected at the next exchange.
        let thread = thread::Builder::new().name("shards".into()).spawn(looks).ok();
        Vigil { over, thread }
    }
}

/// A thread that watches the other shards.
pub(crate) struct Vigil {
    over: Arc<(Mutex<bool>, Condvar)>,
    thread: Option<JoinHandle<()>>,
}

impl Drop for Vigil {
    fn drop(&mut self) {
        *lock(&self.over.0) = true;
        self.over.1.notify_all();
        if let Some(thread) = self.thread.take() {
            drop(thread.join());
        }
    }
}

/// The settings with which a shard meets the others of its member.
pub(crate) fn limits<'a>(
    me: &Member,
    identity: &'a Identity,
    session: hushwire_machine::SessionId,
    [connect, stall]: [Duration; 2],
    stop: &'a AtomicBool,
) -> ShardWaits<'a> {
    ShardWaits { me: me.key(), identity, session, connect, stall, stop }
}

#[cfg(test)]
mod tests;
