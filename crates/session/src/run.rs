//! Runs one member's side of a job of any kind, from its inputs to its outputs.
//!
//! ```text
//! everybody  opens what it reads and starts what it writes; meets the others, who have the same
//!            agreement
//! kind       computes: each folder of `hushwire-kinds` is a kind
//! everybody  writes its outputs to disk without a name; tells all; names them when all have told
//!            the same
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

/// The step in which a member of a session takes no part in a computation, as the others hear it.
pub const ADMISSION: &str = "admission of the job";
/// What a member does between meeting the others and writing its outputs, as the others hear it.
pub const COMPUTING: &str = "computing";

/// The phase of a member before it computes.
const CONNECTING: &str = "connecting";
/// The phase of a member after it has computed.
const WRITING: &str = "writing outputs";

/// A job of some kind, read and planned: all that a run needs of it.
pub trait Task {
    /// The result that a member learns.
    type Learnt;
    /// One member's part of a run.
    type Part: Part<Learnt = Self::Learnt>;

    /// The terms that all members must have alike.
    fn agreement(&self) -> Agreement;

    /// The terms of the job, whose digest operators allow: of an agreement's fields those that are
    /// neither sizes nor how the work is cut.
    fn terms(&self) -> Terms {
        Terms::of(&self.agreement())
    }

    /// Whether the agreement has digests of files that the job names, other than of what it
    /// computes: a member that declines keeps them to itself.
    fn tells_of_files(&self) -> bool {
        false
    }

    /// The number of processes of each member among which rows are spread.
    fn shards(&self) -> u16 {
        1
    }

    /// Remarks for people on how the job was read.
    fn notes(&self) -> &[String] {
        &[]
    }

    /// Files that the job itself names, with their roles, as `the circuit`: no output replaces
    /// them.
    fn reads(&self) -> Vec<(String, PathBuf)> {
        vec![]
    }

    /// The forecast of a run on a CPU with AES instructions or without, as soon as it can be told:
    /// from the job alone, or from the `extent` of the work, ANDs or bytes, of which the first
    /// [`Event::Progress`](crate::Event) of a run tells.
    fn forecast(&self, aes_instructions: bool, extent: Option<u64>) -> Option<Forecast> {
        let _ = (aes_instructions, extent);
        None
    }

    /// Opens the inputs of the member `config.me` and starts its outputs through `config.files`. It
    /// comes before anybody is dialled, so that files that do not do show at once.
    ///
    /// # Errors
    /// A file cannot be used, a value is missing, or is nobody's.
    fn open(&self, config: &mut MemberConfig) -> Result<Self::Part, Fault>;
}

/// One member's part of a run.
pub trait Part {
    /// The result that the member learns.
    type Learnt;

    /// Computes, until nothing but the last word is left to say. The links come back, and stay open
    /// until then.
    ///
    /// # Errors
    /// Something failed here or elsewhere.
    fn compute(&mut self, member: &mut MemberSession) -> Result<Links, Fault>;

    /// Takes part in what this member's shards do among themselves before they meet the others, as
    /// reading its tables.
    ///
    /// # Errors
    /// A shard cannot take part; all shards of the member end with the same error.
    fn among(&mut self, shards: &Shards) -> Result<(), Fault> {
        let _ = shards;
        Ok(())
    }

    /// Puts all outputs on the disk, still without names.
    ///
    /// # Errors
    /// The disk refused.
    fn prepare(&mut self) -> Result<(), Fault>;

    /// Names the outputs: every member is done.
    ///
    /// # Errors
    /// The disk refused.
    fn commit(self) -> Result<Self::Learnt, Fault>;
}

/// The end of a member's run.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Outcome<L> {
    /// The part of the result that went to no file.
    pub learnt: L,
    /// The member's measurements.
    pub stats: Stats,
}

/// A member's measurements of itself.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Stats {
    /// From the first connection to the last confirmation.
    pub seconds: f64,
    /// Payload bytes to all peers.
    pub bytes_sent: u64,
    /// Payload bytes from all peers.
    pub bytes_received: u64,
    /// Exchanges among the parties one after the other; a stream of messages is one of two parties.
    /// 0 for clients.
    pub rounds: u64,
}

/// Runs `config`'s side of a job to its end: outputs are in place when it returns. A member cannot
/// take part if its inputs or outputs cannot be used, or if it does not allow the job; it then
/// tells the others (see [`excuse`]). A member that hears so reports it by [`Event::Failed`] and
/// tells for a few seconds those who are not connected yet. Inputs of a job that is not allowed are
/// not opened.
///
/// # Errors
/// Something failed here or elsewhere, or the job is not allowed; no output is in place.
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
        // Whoever wrote the job may have named files of this machine in it: then nothing of them is
        // in what is told.
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
/// name, once all have been told or after a few seconds. `plan` is missing where the job cannot be
/// read.
pub fn excuse(config: &MemberConfig, plan: Option<&Agreement>, observer: &Observer, e: Fault) -> Fault {
    // Where jobs are allowed one by one, whoever wrote this one hears nothing of why it cannot be
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
    // Whoever cannot be met cannot be told: the error stays this one.
    drop(config.excuse(plan, why));
    e
}

/// The first half of [`run`]: opens the member's files. Nobody is dialled.
///
/// # Errors
/// The member does not allow the job; a file cannot be used, a value is missing, or is nobody's.
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
/// Something failed here or elsewhere; no output is in place.
pub fn run_part<P: Part>(
    agreement: Agreement,
    part: P,
    config: MemberConfig,
    observer: &Observer,
) -> Result<Outcome<P::Learnt>, Fault> {
    ended(agreement, part, config, observer, None)
}

/// As [`run_part`] of a party, where clients hear that the run ended well only after `decide` gives
/// [`Decision::Commit`]. It sees what this party learnt. Until then the links stay open, and
/// clients wait.
///
/// # Errors
/// As [`run_part`], or the decision is to abort: then no client has its output in place.
pub fn run_part_until<P: Part>(
    agreement: Agreement,
    part: P,
    config: MemberConfig,
    observer: &Observer,
    mut decide: impl FnMut(&Outcome<P::Learnt>) -> Result<Decision, Fault>,
) -> Result<Outcome<P::Learnt>, Fault> {
    ended(agreement, part, config, observer, Some(&mut decide))
}

/// Decides how a run ends, by what a party learnt.
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

/// A member's channels once its own part is done. They stay open until the last word: closing one
/// could overtake data on it.
pub struct Links {
    /// Between them, one to and one from every peer.
    pub word: Vec<Channel>,
    /// The channels to all others.
    #[allow(dead_code, reason = "kept open, and not used")]
    pub kept: Vec<Channel>,
}

/// A member with its links.
pub struct MemberSession {
    /// What all have agreed on.
    pub agreement: Arc<Agreement>,
    /// The member's own configuration.
    pub config: MemberConfig,
    /// Its links.
    pub net: Net,
    /// Who hears of its progress.
    pub observer: Observer,
    /// Keeps the links, where they may serve another run.
    stock: Option<LinkStock>,
    /// The way to the member's other shards, where it has any.
    pub shards: Option<Shards>,
    /// The meters of computing, and of everything else.
    meters: [Meter; 2],
    /// Rounds of computing.
    turns: Turns,
    begun: Instant,
    /// What is under way, as the others hear it.
    phase: &'static str,
}

impl MemberSession {
    /// The id of this session and of no other, the same for all members.
    pub fn session(&self) -> SessionId {
        self.net.session().unwrap_or(self.config.session)
    }

    /// Meets the others.
    ///
    /// # Errors
    /// They did not come, or have another agreement.
    pub fn new(agreement: Agreement, config: MemberConfig, observer: &Observer) -> Result<Self, Fault> {
        Self::of_shard(agreement, config, observer, None)
    }

    /// The same for one of a member's shards, which have met.
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
            // Others learn at once who failed, and not only that links closed.
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

    /// Measurements so far.
    pub fn stats(&self) -> Stats {
        let [ring, other] = self.meters.each_ref().map(Meter::reading);
        Stats {
            seconds: self.begun.elapsed().as_secs_f64(),
            bytes_sent: ring.bytes_sent() + other.bytes_sent(),
            bytes_received: ring.bytes_received() + other.bytes_received(),
            rounds: self.rounds(),
        }
    }

    /// The rounds of computing come back: the confirmation is not counted.
    fn compute_and_confirm(&mut self, part: &mut impl Part) -> Result<(u64, Links), Fault> {
        self.enter(COMPUTING);
        let mut links = part.compute(self)?;
        let rounds = self.rounds();
        self.phase = WRITING;
        self.enter(WRITING);
        part.prepare()?;
        // Whoever hears that this shard is done knows that all shards of this member are.
        self.shards.as_ref().map_or(Ok(()), Shards::meet)?;
        self.enter(confirm::STEP);
        self.config.cancel.check()?;
        let decider = self.config.decider.as_deref();
        let is_client = matches!(self.config.me, Member::Client(_));
        let heard = confirm::all_done(&self.agreement, &mut links.word, decider.filter(|_| !is_client));
        match (heard, decider) {
            // The parties' outputs may be in place all the same.
            (Err(e), Some(decider)) if is_client => match decider.prepared()? {
                Decision::Commit => {}
                Decision::Abort => return Err(e),
            },
            (heard, _) => heard?,
        }
        self.config.cancel.decide();
        Ok((rounds, links))
    }

    /// Another part of the run is under way.
    pub fn enter(&self, phase: &str) {
        self.config.cancel.enter(phase);
        (self.observer)(Event::Phase(phase.to_owned()));
    }

    /// Exchanges one after the other. Among three parties those of the control lane come first,
    /// where it is part of computing; the others run beside each other.
    fn rounds(&self) -> u64 {
        if self.agreement.protocol != Protocol::Rep3 {
            return self.turns.rounds();
        }
        let (control, lanes) = (self.agreement.control_lane(), self.meters[0].reading().lanes);
        let others = lanes.iter().filter(|(lane, _)| **lane != control).map(|(_, cost)| cost.rounds);
        lanes.get(&control).map_or(0, |cost| cost.rounds) + others.max().unwrap_or(0)
    }

    /// A channel that counts, for computing with meter 0 and for everything else with meter 1.
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

/// The first of several members' or threads' errors that says more than that others ended, if there
/// is one.
///
/// # Errors
/// That one.
pub fn first_error(errors: Vec<Fault>) -> Result<(), Fault> {
    let mut errors: Vec<_> = errors.into_iter().enumerate().collect();
    // Least of all says a thread that ended because another one of this process did.
    errors.sort_by_key(|(i, e)| (e.is_consequence(), e.is_consequence() && e.kind() == Kind::Internal, *i));
    errors.into_iter().next().map_or(Ok(()), |(_, e)| Err(e))
}
