//! The compute threads of three parties. With a transport, each party has threads with lanes of
//! their own. In lockstep, each thread computes for all three parties. A benchmark gives each
//! thread the runs of its parties as machines.

use hushwire_aes::Backend;
use hushwire_machine::{
    Cost, Meter, NetError, SessionId,
    drive::{Exchanged, Lane, Lockstep, Machine, Round, Work, pipeline},
};
use hushwire_prg::Seed;
use hushwire_rep3::{Rep3Party, Role};
use hushwire_wire::Shape;

use crate::{
    BoxError,
    net::{Transport, each, nets},
    workers::Worker,
};

/// One party's part of a thread's work, as machines.
pub(crate) trait PartyRuns: Send {
    /// Its machines.
    type PartySteps: Machine<Error = NetError> + Send;
    /// The slots of its machines: the ring and, if there are two, the opposite direction.
    const SLOTS: usize = 1;

    /// Begins a repetition. If it returns a run, that run ends before others begin.
    fn begin(&mut self) -> Result<Option<Self::PartySteps>, BoxError>;
    /// Returns the next run of the repetition.
    fn next(&mut self) -> Result<Option<Self::PartySteps>, BoxError>;
    /// Takes back a finished run, in the order in which runs were returned.
    fn done(&mut self, run: Self::PartySteps) -> Result<(), BoxError>;
    /// Called after an error. Releases everything for which other threads wait.
    fn abandon(&mut self) {}
}

/// Either of two machines.
pub(crate) enum Either<A, B> {
    A(A),
    B(B),
}

/// Calls the method of the machine that it is.
macro_rules! of_either {
    ($either:expr, $run:ident => $call:expr) => {
        match $either {
            Either::A($run) => $call,
            Either::B($run) => $call,
        }
    };
}

impl<A: Machine<Error = NetError>, B: Machine<Error = NetError>> Machine for Either<A, B> {
    type Error = NetError;

    fn round(&self, slot: usize) -> Option<Round> {
        of_either!(self, run => run.round(slot))
    }
    fn write(&mut self, slot: usize, out: &mut [u8]) -> Result<(), NetError> {
        of_either!(self, run => run.write(slot, out))
    }
    fn read(&mut self, messages: &[Exchanged<'_>]) -> Result<(), NetError> {
        of_either!(self, run => run.read(messages))
    }
    fn upcoming(&self) -> Option<Round> {
        of_either!(self, run => run.upcoming())
    }
    fn turn(&mut self, messages: &[Exchanged<'_>], out: &mut [u8]) -> Result<(), NetError> {
        of_either!(self, run => run.turn(messages, out))
    }
    fn cost(&self) -> Option<Cost> {
        of_either!(self, run => run.cost())
    }
}

/// A thread of one party, or of all three parties.
pub(crate) struct Thread<P: PartyRuns> {
    parts: Vec<P>,
    links: Links<P::PartySteps>,
}

enum Links<R> {
    Memory(Lockstep),
    Lanes(Vec<Lane<R>>),
}

impl<P: PartyRuns> Worker for Thread<P> {
    fn repeat(&mut self) -> Result<(), BoxError> {
        let parts = &mut self.parts;
        match &mut self.links {
            Links::Memory(lockstep) => {
                together(parts, lockstep, P::begin)?;
                while together(parts, lockstep, P::next)? {}
            }
            Links::Lanes(lanes) => {
                for part in parts {
                    if let Some(run) = part.begin()? {
                        part.done(lanes[0].run(run)?)?;
                    }
                    pipeline(lanes, &mut Batches(part))?;
                }
            }
        }
        Ok(())
    }

    fn abandon(&mut self) {
        if let Links::Lanes(lanes) = &mut self.links {
            lanes.clear();
        }
        self.parts.iter_mut().for_each(P::abandon);
    }
}

/// Runs one machine of each party in lockstep. Returns false if there is none.
fn together<P: PartyRuns>(
    parts: &mut [P],
    lockstep: &mut Lockstep,
    next: impl Fn(&mut P) -> Result<Option<P::PartySteps>, BoxError>,
) -> Result<bool, BoxError> {
    let mut runs = Vec::with_capacity(parts.len());
    for part in parts.iter_mut() {
        runs.extend(next(part)?);
    }
    lockstep.run(&mut runs)?;
    let any = !runs.is_empty();
    parts.iter_mut().zip(runs).try_for_each(|(part, run)| part.done(run))?;
    Ok(any)
}

/// The batches of a part, for the pipeline.
struct Batches<'a, P>(&'a mut P);

impl<P: PartyRuns> Work<P::PartySteps> for Batches<'_, P> {
    type Error = BoxError;

    fn next(&mut self) -> Result<Option<P::PartySteps>, BoxError> {
        self.0.next()
    }
    fn done(&mut self, run: P::PartySteps) -> Result<(), BoxError> {
        self.0.done(run)
    }
}

/// The parts of all threads: those of one party if threads have lanes, else those of three.
pub(crate) fn parts<P: PartyRuns>(threads: &[Thread<P>]) -> impl Iterator<Item = &P> {
    threads.iter().flat_map(|thread| &thread.parts)
}

/// [`parts`], mutable.
pub(crate) fn parts_mut<P: PartyRuns>(threads: &mut [Thread<P>]) -> impl Iterator<Item = &mut P> {
    threads.iter_mut().flat_map(|thread| &mut thread.parts)
}

/// The connections of three parties, and the number of lanes and threads.
pub(crate) struct Links3 {
    pub(crate) transport: Transport,
    pub(crate) net: Shape,
    /// The lanes of a thread.
    pub(crate) lanes: usize,
    /// The threads of a party.
    pub(crate) threads: usize,
}

impl Links3 {
    /// Connects the parties, and returns their threads. `parts` makes the parts of one party, one
    /// for each thread. `meters` count the bytes that each party sends on lanes.
    pub(crate) fn threads<P: PartyRuns>(
        &self,
        backend: Backend,
        meters: Option<&[Meter; 3]>,
        parts: impl Fn(Rep3Party) -> Result<Vec<P>, BoxError> + Sync,
    ) -> Result<Vec<Thread<P>>, BoxError> {
        if self.transport == Transport::Inproc {
            let mut threads: Vec<Vec<P>> = (0..self.threads).map(|_| vec![]).collect();
            for party in Rep3Party::three(backend) {
                threads.iter_mut().zip(parts(party)?).for_each(|(thread, part)| thread.push(part));
            }
            let memory = |parts| Thread { parts, links: Links::Memory(Lockstep::new()) };
            return Ok(threads.into_iter().map(memory).collect());
        }
        // One more lane is for session keys.
        let key_lane = u16::try_from(self.lanes * self.threads)?;
        let id = SessionId::fresh()?;
        let nets = nets::<3>(self.transport, self.net, id, key_lane + 1)?;
        let threads = each(nets, |i, mut net| {
            let role = Role::ALL[i];
            let (left, right) = (Some(role.left().id()), Some(role.right().id()));
            let party =
                Rep3Party::open(role, backend, id, Seed::random(), &mut net.channel(key_lane, right, left)?)?;
            let mut threads = vec![];
            for (thread, part) in parts(party)?.into_iter().enumerate() {
                let mut lanes = vec![];
                for lane in thread * self.lanes..(thread + 1) * self.lanes {
                    let ways = [(left, right), (right, left)].into_iter().take(P::SLOTS);
                    let channel = |(to, from)| -> Result<_, BoxError> {
                        let mut channel = net.channel(u16::try_from(lane)?, to, from)?;
                        if let Some(meters) = meters {
                            channel.tap(meters[i].tap());
                        }
                        Ok(channel)
                    };
                    lanes.push(Lane::over(ways.map(channel).collect::<Result<_, _>>()?));
                }
                threads.push(Thread { parts: vec![part], links: Links::Lanes(lanes) });
            }
            Ok(threads)
        })?;
        Ok(threads.into_iter().flatten().collect())
    }
}
