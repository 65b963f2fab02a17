//! The shards of one member: each a session of its own, and a way by which they move what is the
//! member's.
//!
//! ```text
//! party 0, shard 0 ── session 0 ── party 1, shard 0
//!        │ mover                          │ mover        a mover has two ends of one member,
//! party 0, shard 1 ── session 1 ── party 1, shard 1      and a session those of all members
//! ```
//!
//! Shard 0 of a member reads its files and gives each shard its rows; files that have their rows in
//! groups are read by every shard, its own rows of them alone. What the shards learn comes back to
//! shard 0, which writes it. No shard says that it is done before all shards of its member
//! have put their outputs on the disk, so outputs appear only if all shards of all members are
//! done.
//!
//! A member that loses a shard ends in all its sessions, and each of them hears the reason. Nothing
//! of such a run is resumed: a second try is new sessions, with new seeds.

mod hosts;
mod net;

pub(crate) use hosts::peer_shards;
pub use hosts::{Hosts, SHARD_WORD, ShardHost, shard_address};

use crate::{Agreement, Fault, Member};
use hushwire_fault::{Excuse, code};
use hushwire_machine::{NetError, PartyId, Reason, Watch};
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

/// The most shards of a member: a shard is a number in a handshake.
pub const MOST_SHARDS: usize = 64;
/// LOCAL: how often a shard looks whether the others are there.
const LOOK: Duration = Duration::from_millis(200);
/// The step in which shards give each other rows, as errors name it.
const MOVING: &str = "moving rows between shards";

/// The place of a process among the shards of its member, before it meets the others.
pub struct ShardPlace {
    /// The number of this shard.
    pub shard: usize,
    /// How many there are.
    pub shards: usize,
    way: Way,
}

enum Way {
    /// All are threads of this process.
    Threads(Mutex<MemoryMover>, Arc<Vec<AtomicBool>>),
    /// Each is a process. The addresses are of all shards, in order.
    Processes { listener: Listener, addresses: Vec<String>, transport: TransportKind },
}

impl ShardPlace {
    /// All shards of a member that is one process.
    ///
    /// # Errors
    /// There are none, or more than [`MOST_SHARDS`].
    pub fn threads(shards: usize) -> Result<Vec<Self>, Fault> {
        counted(shards)?;
        let ended = Arc::new((0..shards).map(|_| AtomicBool::new(false)).collect::<Vec<_>>());
        let movers = in_memory(shards).into_iter().enumerate();
        let place =
            |(shard, mover)| Self { shard, shards, way: Way::Threads(Mutex::new(mover), ended.clone()) };
        Ok(movers.map(place).collect())
    }

    /// A shard that is a process. It listens from now on at `listen`; `addresses` are where the
    /// shards find each other, in order.
    ///
    /// # Errors
    /// There is no such shard; the address cannot be had.
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

    /// The rows of a value of `rows` elements that this shard has.
    #[must_use]
    pub fn range(&self, rows: usize) -> Range<usize> {
        range(self.shard, self.shards, rows)
    }

    /// Meets the member's other shards, which run the same job.
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
        let (mover, ward, lost) = (Arc::new(Mutex::new(mover)), Arc::new(ward), Arc::default());
        Ok(Shards { shard, shards, mover, ward, lost })
    }
}

pub(crate) use net::ShardWaits;

/// Refuses a member that has another number of shards than its job asks for.
///
/// # Errors
/// It has.
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

/// Refuses a number of shards that no member has.
fn counted(shards: usize) -> Result<(), Fault> {
    if (1..=MOST_SHARDS).contains(&shards) {
        return Ok(());
    }
    let cause = format!("{shards} shards are asked for, and a member has 1 to {MOST_SHARDS}");
    Err(Fault::usage("starting shards", cause, "take as many"))
}

/// The elements of a value of `rows` elements that a shard has.
#[must_use]
pub fn range(shard: usize, shards: usize, rows: usize) -> Range<usize> {
    let starts = ranges(rows, shards);
    starts[shard]..starts[shard + 1]
}

/// Who tells a shard that another one ended, and hears that this one does.
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

/// One shard of a member, which has met the others.
#[derive(Clone)]
pub struct Shards {
    shard: usize,
    shards: usize,
    mover: Arc<Mutex<Box<dyn Mover>>>,
    ward: Arc<Ward>,
    /// The error of the first shard that was seen to be lost.
    lost: Arc<Mutex<Option<Fault>>>,
}

impl Shards {
    /// The number of this shard.
    #[must_use]
    pub fn shard(&self) -> usize {
        self.shard
    }

    /// How many there are.
    #[must_use]
    pub fn shards(&self) -> usize {
        self.shards
    }

    /// The mover, for a plan that runs on all shards.
    pub fn mover(&self) -> MutexGuard<'_, Box<dyn Mover>> {
        lock(&self.mover)
    }

    /// Gives each shard a part, this one included, and returns what each gave to this one, in
    /// order.
    ///
    /// # Errors
    /// Another shard is gone.
    pub fn exchange(&self, to: Vec<Vec<u8>>) -> Result<Vec<Vec<u8>>, Fault> {
        Ok(self.mover().exchange(to)?)
    }

    /// Gives each shard its part of what shard 0 has, which alone names the parts.
    ///
    /// # Errors
    /// Another shard is gone.
    pub fn scatter(&self, parts: Option<Vec<Vec<u8>>>) -> Result<Vec<u8>, Fault> {
        let to = parts.unwrap_or_else(|| vec![vec![]; self.shards]);
        let mut from = self.mover().exchange(to)?;
        Ok(std::mem::take(&mut from[0]))
    }

    /// Gives shard 0 what each shard has, which it has in order; the others have nothing.
    ///
    /// # Errors
    /// Another shard is gone.
    pub fn gather(&self, own: Vec<u8>) -> Result<Option<Vec<Vec<u8>>>, Fault> {
        let mut to = vec![vec![]; self.shards];
        to[0] = own;
        let from = self.mover().exchange(to)?;
        Ok((self.shard == 0).then_some(from))
    }

    /// Waits until all shards of this member are here.
    ///
    /// # Errors
    /// Another shard is gone.
    pub fn meet(&self) -> Result<(), Fault> {
        self.mover().exchange(vec![vec![]; self.shards]).map(drop).map_err(Fault::from)
    }

    /// Lets the other shards hear that this one ends early.
    pub fn end(&self) {
        self.ward.end(self.shard);
    }

    /// The error of a run in which another shard was lost, if one was: the cause of everything that
    /// failed here because of it.
    #[must_use]
    pub fn explains(&self, e: Fault) -> Fault {
        if e.code() == code::SHARD {
            return e.telling(Excuse::Shard);
        }
        // The session was ended here for that reason.
        if let Some(lost) = lock(&self.lost).clone() {
            return lost;
        }
        match self.ward.check(self.shard) {
            Err(lost) if e.is_consequence() => Fault::from(lost).telling(Excuse::Shard),
            _ => e,
        }
    }

    /// Ends this member's session when another shard is lost, and tells the other shards when the
    /// session ends early, until it is dropped.
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
                if let Err(lost) = shards.ward.check(shards.shard) {
                    *lock(&shards.lost) = Some(Fault::from(lost).telling(Excuse::Shard));
                    session.abort(me, Reason::Local(Excuse::Shard), MOVING);
                    return;
                }
                if session.check(MOVING).is_err() {
                    shards.end();
                    return;
                }
            }
        };
        // Without a thread a lost shard shows at the next exchange.
        let thread = thread::Builder::new().name("shards".into()).spawn(looks).ok();
        Vigil { over, thread }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A thread that looks after a shard.
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

/// What a shard needs to meet the others of its member.
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
