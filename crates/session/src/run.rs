//! Runs one member's part of a job of any kind, from its inputs to its outputs.
//!
//! ```text
//! every member  opens what it reads and starts what it writes; meets the others, which have the
//!               same agreement
//! the kind      computes: each folder of `hushwire-kinds` is a kind
//! every member  writes its outputs to disk without a name; tells all; names its outputs when all
//!               have told the same
//! ```

use crate::{
    Decision, Fault, Forecast, KeptLinks, Kind, Member, MemberConfig, Protocol, Terms,
    agreement::Agreement,
    confirm, kept,
    member_config::{Event, Observer, explain},
    shards::{Shards, as_many, limits},
    ticker::Ticker,
};
use hushwire_fault::{Excuse, code};
use hushwire_machine::{Channel, Meter, Net, PartyId, Reason, SessionId, Turns};
use hushwire_wire::LinkStock;
use serde::{Deserialize, Serialize};
use std::{path::PathBuf, sync::Arc, time::Instant};

/// The step in which a member of a session declines a computation, as the others are told it.
pub const ADMISSION: &str = "admission of the job";
/// The phase between meeting the others and writing outputs, as the others are told it.
pub const COMPUTING: &str = "computing";

/// The phase before computing.
const CONNECTING: &str = "connecting";
/// The phase after computing.
const WRITING: &str = "writing outputs";

/// A job of some kind that was read and planned, with all that a run needs of it.
pub trait Task {
    /// The result that a member learns.
    type Learnt;
    /// One member's part of a run.
    type Part: Part<Learnt = Self::Learnt>;

    /// The agreement, which all members must share.
    fn agreement(&self) -> Agreement;

    /// The terms of the job, whose digest operators allow. They are the agreement's fields except
    /// for sizes, and fields that only say how the work is divided.
    fn terms(&self) -> Terms {
        Terms::of(&self.agreement())
    }

    /// Whether the agreement has digests of files that the job names, other than of the computation
    /// itself. A member that declines the job does not reveal such digests.
    fn tells_of_files(&self) -> bool {
        false
    }

    /// The number of processes of each member over which rows are distributed.
    fn shards(&self) -> u16 {
        1
    }

    /// Remarks for people about how the job was read.
    fn notes(&self) -> &[String] {
        &[]
    }

    /// Files that the job itself names, with their roles, such as `the circuit`. No output replaces
    /// them.
    fn reads(&self) -> Vec<(String, PathBuf)> {
        vec![]
    }

    /// The forecast of a run on a CPU with AES instructions or without, if it is known. For some
    /// jobs it follows from the job alone. For others it needs `extent`, the ANDs or bytes of the
    /// work, which the first [`Event::Progress`](crate::Event) of a run gives.
    fn forecast(&self, aes_instructions: bool, extent: Option<u64>) -> Option<Forecast> {
        let _ = (aes_instructions, extent);
        None
    }

    /// Opens the inputs of the member `config.me` and starts its outputs through `config.files`. It
    /// runs before any peer is dialled, so that unusable files are reported at once.
    ///
    /// # Errors
    /// A file cannot be used, a value is missing, or a value belongs to no member.
    fn open(&self, config: &mut MemberConfig) -> Result<Self::Part, Fault>;
}

/// One member's part of a run.
pub trait Part {
    /// The result that the member learns.
    type Learnt;

    /// Computes, until only the confirmation remains. Returns the links, which stay open until
    /// then.
    ///
    /// # Errors
    /// This member or another one failed.
    fn compute(&mut self, member: &mut MemberSession) -> Result<Links, Fault>;

    /// Does the part that this member's shards do among themselves before they meet the others,
    /// such as reading tables.
    ///
    /// # Errors
    /// A shard cannot take part. All shards of the member end with the same error.
    fn among(&mut self, shards: &Shards) -> Result<(), Fault> {
        let _ = shards;
        Ok(())
    }

    /// Writes all outputs to disk, still without names.
    ///
    /// # Errors
    /// The disk fails.
    fn prepare(&mut self) -> Result<(), Fault>;

    /// Gives the outputs their names. Every member is done.
    ///
    /// # Errors
    /// The disk fails.
    fn commit(self) -> Result<Self::Learnt, Fault>;
}

/// The result of a member's run.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Outcome<L> {
    /// The part of the result that was not written to a file.
    pub learnt: L,
    /// The member's measurements.
    pub stats: Stats,
}

/// A member's measurements of its own run.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Stats {
    /// Seconds from the first connection to the last confirmation.
    pub seconds: f64,
    /// Payload bytes sent to all peers.
    pub bytes_sent: u64,
    /// Payload bytes received from all peers.
    pub bytes_received: u64,
    /// Sequential exchanges among the parties. A stream of messages counts as one exchange between
    /// two parties. 0 for clients.
    pub rounds: u64,
}

/// Runs `config`'s part of a job to its end; outputs are in place when it returns. A member cannot
/// take part if its inputs or outputs cannot be used, or if it does not allow the job. It then
/// tells the others (see [`excuse`]). A member that is told so reports it by [`Event::Failed`], and
/// for a few seconds tells members that are not connected yet. Inputs of a job that is not allowed
/// are not opened.
///
/// # Errors
/// This member or another one failed, or the job is not allowed. No output is in place.
pub fn run<T: Task>(
    task: &T,
    mut config: MemberConfig,
    observer: &Observer,
) -> Result<Outcome<T::Learnt>, Fault> {
    let agreement = task.agreement();
    if let Err(refused) = agreement.admits(&config.me) {
        return Err(excuse(&config, None, observer, refused.telling(Excuse::Job)));
    }
    if let Err(refused) = config.allows(&task.terms()) {
        // The author of the job may have named files of this machine in it. In that case, the
        // others learn nothing about these files.
        let plan = Some(&agreement).filter(|_| !task.tells_of_files());
        return Err(if refused.kind() == Kind::Refused {
            excused(&config, plan, observer, refused, Reason::Declined)
        } else {
            excuse(&config, plan, observer, refused)
        });
    }
    match open(task, &mut config) {
        Ok(part) => run_part(agreement, part, config, observer),
        Err(e) => Err(excuse(&config, Some(&agreement), observer, e)),
    }
}

/// Tells the others that this member ends before it joins. They learn no more of `e` than
/// [`Fault::tells`]; [`Event::Failed`] reports `e` here at once. Returns `e`, in this member's
/// name, once all have been told or after a few seconds. `plan` is `None` if the job cannot be
/// read.
pub fn excuse(config: &MemberConfig, plan: Option<&Agreement>, observer: &Observer, e: Fault) -> Fault {
    // If jobs must be allowed one by one, the job's author does not learn why the job cannot be
    // read here.
    let hides = plan.is_none() && config.allowed.is_some();
    let why = if hides { Reason::Declined } else { Reason::Local(e.tells()) };
    excused(config, plan, observer, e, why)
}

fn excused(
    config: &MemberConfig,
    plan: Option<&Agreement>,
    observer: &Observer,
    e: Fault,
    why: Reason,
) -> Fault {
    let e = e.by(&config.me);
    observer(Event::Failed(e.clone()));
    // A member that cannot be reached cannot be told; the error stays the same.
    drop(config.excuse(plan, why));
    e
}

/// The first half of [`run`]: opens the member's files. No peer is dialled.
///
/// # Errors
/// The member does not allow the job, a file cannot be used, a value is missing, or a value belongs
/// to no member.
pub fn open<T: Task>(task: &T, config: &mut MemberConfig) -> Result<T::Part, Fault> {
    let has = config.shard.as_ref().map_or(1, |place| place.shards);
    let admitted = task.agreement().admits(&config.me).and_then(|()| config.allows(&task.terms()));
    let admitted = admitted.and_then(|()| as_many(task.shards().into(), has));
    let opened = admitted.and_then(|()| {
        config.protect_inputs();
        task.reads().into_iter().for_each(|(role, path)| config.files.reads(role, &path));
        task.open(config)
    });
    opened.map_err(|e| e.by(&config.me))
}

/// The second half of [`run`]: meets the others and computes.
///
/// # Errors
/// This member or another one failed. No output is in place.
pub fn run_part<P: Part>(
    agreement: Agreement,
    part: P,
    config: MemberConfig,
    observer: &Observer,
) -> Result<Outcome<P::Learnt>, Fault> {
    ended(agreement, part, config, observer, None)
}

/// As [`run_part`] of a party, but clients are told that the run ended well only after `decide`
/// returns [`Decision::Commit`]. `decide` sees the result of this party. Until then the links stay
/// open, and clients wait.
///
/// # Errors
/// The errors of [`run_part`]; or the decision is to abort, and no client has its output in place.
pub fn run_part_until<P: Part>(
    agreement: Agreement,
    part: P,
    config: MemberConfig,
    observer: &Observer,
    mut decide: impl FnMut(&Outcome<P::Learnt>) -> Result<Decision, Fault>,
) -> Result<Outcome<P::Learnt>, Fault> {
    ended(agreement, part, config, observer, Some(&mut decide))
}

/// Decides how a run ends, from the party's result.
type Decides<'a, L> = &'a mut dyn FnMut(&Outcome<L>) -> Result<Decision, Fault>;

fn ended<P: Part>(
    agreement: Agreement,
    mut part: P,
    mut config: MemberConfig,
    observer: &Observer,
    decide: Option<Decides<'_, P::Learnt>>,
) -> Result<Outcome<P::Learnt>, Fault> {
    let me = config.me.clone();
    let cancel = config.cancel.clone();
    if let Err(e) = cancel.check() {
        return Err(excuse(&config, Some(&agreement), observer, e));
    }
    if let Err(e) = config.check(&agreement) {
        return Err(excuse(&config, Some(&agreement), observer, e.telling(Excuse::Job)));
    }
    let (agreement, shards) = match config.shard.take() {
        None => (agreement, None),
        Some(place) => {
            let (shard, of) = (place.shard, place.shards);
            let waits = [config.connect_timeout, config.stall];
            let limits = limits(&me, &config.identity, config.session, waits, cancel.flag());
            let met = place.meet(&agreement, limits);
            let agreement = agreement.of_shard(shard, of);
            let met = met.map_err(|e| e.telling(Excuse::Shard)).and_then(|shards| {
                part.among(&shards).map_err(|e| shards.explains(e))?;
                Ok(shards)
            });
            match met {
                Ok(shards) => (agreement, Some(shards)),
                Err(e) => return Err(excuse(&config, Some(&agreement), observer, e)),
            }
        }
    };
    let others = shards.clone();
    let member = MemberSession::of_shard(agreement, config, observer, shards);
    member.and_then(|member| member.run(part, decide)).map_err(|e| match &others {
        None => e.by(&me),
        Some(shards) => {
            shards.end();
            shards.explains(e).by(&me)
        }
    })
}

/// A member's channels once its own part is done. They stay open until the confirmation: closing
/// one could overtake data on it.
pub struct Links {
    /// Channels for the confirmation: together, one to and one from every peer.
    pub word: Vec<Channel>,
    /// All other channels.
    #[allow(dead_code, reason = "kept open, and not used")]
    pub kept: Vec<Channel>,
}

/// A member and its links.
pub struct MemberSession {
    /// The agreement of all members.
    pub agreement: Arc<Agreement>,
    /// The member's own configuration.
    pub config: MemberConfig,
    /// The member's links.
    pub net: Net,
    /// The observer of the member's progress.
    pub observer: Observer,
    /// The stock of the links, if another run may use them.
    stock: Option<LinkStock>,
    /// The member's other shards, if it has any.
    pub shards: Option<Shards>,
    /// The meter of computing, and the meter of everything else.
    meters: [Meter; 2],
    /// The rounds of computing.
    turns: Turns,
    begun: Instant,
    /// The phase in progress, as the others are told it.
    phase: &'static str,
}

impl MemberSession {
    /// The id of this session, which no other session has. It is the same at all members.
    pub fn session(&self) -> SessionId {
        self.net.session().unwrap_or(self.config.session)
    }

    /// Connects to the others.
    ///
    /// # Errors
    /// They did not come, or have another agreement.
    pub fn new(agreement: Agreement, config: MemberConfig, observer: &Observer) -> Result<Self, Fault> {
        Self::of_shard(agreement, config, observer, None)
    }

    /// The same for one of a member's shards, which are already connected.
    fn of_shard(
        agreement: Agreement,
        config: MemberConfig,
        observer: &Observer,
        shards: Option<Shards>,
    ) -> Result<Self, Fault> {
        config.cancel.enter(CONNECTING);
        observer(Event::Phase(CONNECTING.to_owned()));
        let (net, stock) = match config.kept.as_ref().and_then(KeptLinks::take) {
            Some(stock) => {
                let net = kept::renew(&stock, &agreement, config.session, &|e| explain(&agreement, e))?;
                observer(Event::Connected);
                (net, Some(stock))
            }
            None => config.join(&agreement, observer)?,
        };
        config.cancel.attend(net.watch(), net.me())?;
        let (meters, begun) = ([Meter::new(), Meter::new()], Instant::now());
        let (agreement, observer, turns) = (Arc::new(agreement), observer.clone(), Turns::default());
        Ok(Self { agreement, config, net, stock, observer, shards, meters, turns, begun, phase: COMPUTING })
    }

    fn run<P: Part>(
        mut self,
        mut part: P,
        decide: Option<Decides<'_, P::Learnt>>,
    ) -> Result<Outcome<P::Learnt>, Fault> {
        let (watch, me) = (self.net.watch(), self.net.me());
        let ticker = Ticker::start(&self.meters, &self.observer);
        let shards = self.shards.clone();
        let vigil = shards.as_ref().zip(watch.clone()).map(|(shards, watch)| shards.attend(watch, me));
        let finished = self.compute_and_confirm(&mut part).map_err(|e| self.config.cancel.explains(e));
        drop(ticker);
        let finished = finished.map_err(|e| shards.iter().fold(e, |e, shards| shards.explains(e)));
        drop(vigil);
        if let (Err(e), Some(watch)) = (&finished, watch) {
            // The others learn at once who failed, and not only that links closed.
            if e.kind() != Kind::Network || e.code() == code::SHARD {
                watch.abort(me, Reason::Local(e.tells()), self.phase);
            }
        }
        let (rounds, mut links) = finished?;
        let stats = Stats { rounds, ..self.stats() };
        let decided = self.config.decider.is_some() || decide.is_some();
        let outcome = if let Some(decide) = decide {
            let outcome = Outcome { learnt: part.commit()?, stats };
            confirm::follow(decide(&outcome)?)?;
            confirm::tell_clients(&self.agreement, &mut links.word, decided)?;
            outcome
        } else {
            confirm::tell_clients(&self.agreement, &mut links.word, decided)?;
            Outcome { learnt: part.commit()?, stats }
        };
        drop((links, self.net));
        if let Some((kept, stock)) = self.config.kept.zip(self.stock) {
            kept.keep(stock);
        }
        Ok(outcome)
    }

    /// The measurements so far.
    pub fn stats(&self) -> Stats {
        let [ring, other] = self.meters.each_ref().map(Meter::reading);
        Stats {
            seconds: self.begun.elapsed().as_secs_f64(),
            bytes_sent: ring.bytes_sent() + other.bytes_sent(),
            bytes_received: ring.bytes_received() + other.bytes_received(),
            rounds: self.rounds(),
        }
    }

    /// Returns the rounds of computing, without the confirmation.
    fn compute_and_confirm(&mut self, part: &mut impl Part) -> Result<(u64, Links), Fault> {
        self.enter(COMPUTING);
        let mut links = part.compute(self)?;
        let rounds = self.rounds();
        self.phase = WRITING;
        self.enter(WRITING);
        part.prepare()?;
        // A peer that hears that this shard is done knows that all shards of this member are done.
        self.shards.as_ref().map_or(Ok(()), Shards::meet)?;
        self.enter(confirm::STEP);
        self.config.cancel.check()?;
        let decider = self.config.decider.as_deref();
        let is_client = matches!(self.config.me, Member::Client(_));
        let heard = confirm::all_done(&self.agreement, &mut links.word, decider.filter(|_| !is_client));
        match (heard, decider) {
            // The parties' outputs may be in place even so.
            (Err(e), Some(decider)) if is_client => match decider.prepared()? {
                Decision::Commit => {}
                Decision::Abort => return Err(e),
            },
            (heard, _) => heard?,
        }
        self.config.cancel.decide();
        Ok((rounds, links))
    }

    /// Begins another phase of the run.
    pub fn enter(&self, phase: &str) {
        self.config.cancel.enter(phase);
        (self.observer)(Event::Phase(phase.to_owned()));
    }

    /// Counts sequential exchanges. Among three parties, exchanges on the control lane come first,
    /// if that lane is part of computing. The other lanes run concurrently.
    fn rounds(&self) -> u64 {
        if self.agreement.protocol != Protocol::Rep3 {
            return self.turns.rounds();
        }
        let (control, lanes) = (self.agreement.control_lane(), self.meters[0].reading().lanes);
        let others = lanes.iter().filter(|(lane, _)| **lane != control).map(|(_, cost)| cost.rounds);
        lanes.get(&control).map_or(0, |cost| cost.rounds) + others.max().unwrap_or(0)
    }

    /// Opens a channel that is counted, for computing by meter 0 and for everything else by meter
    /// 1.
    ///
    /// # Errors
    /// A link was already taken, or is not part of this session.
    pub fn channel(
        &mut self,
        meter: usize,
        lane: u16,
        to: Option<PartyId>,
        from: Option<PartyId>,
    ) -> Result<Channel, Fault> {
        let channel = self.net.channel(lane, to, from);
        let mut channel = channel.map_err(|e| explain(&self.agreement, e).during("channel set-up"))?;
        channel.tap(self.meters[meter].tap());
        if meter == 0 && self.agreement.protocol != Protocol::Rep3 {
            channel.tap(self.turns.tap());
        }
        Ok(channel)
    }
}

/// Picks from the errors of several members or threads. The first error that is more than a
/// consequence of another member's end is preferred.
///
/// # Errors
/// The error that was picked.
pub fn first_error(errors: Vec<Fault>) -> Result<(), Fault> {
    let mut errors: Vec<_> = errors.into_iter().enumerate().collect();
    // An error of a thread that ended because another thread of this process did is the least
    // informative.
    errors.sort_by_key(|(i, e)| (e.is_consequence(), e.is_consequence() && e.kind() == Kind::Internal, *i));
    errors.into_iter().next().map_or(Ok(()), |(_, e)| Err(e))
}
