//! The compute threads: all parties in lockstep, or each party's over its lanes.

use std::{collections::VecDeque, thread};

use hushwire_aes::Backend;
use hushwire_prg::{PrssKeys, Seed};
use hushwire_rep3::{Role, Session};
use hushwire_wire::{
    Net, SessionId,
    drive::{Lane, Lockstep, Work, pipeline},
};

use super::{
    grid::{Cut, Point},
    work::{Job, Operands, Run, compare},
};
use crate::{
    BoxError,
    crew::Worker,
    net::{Transport, joined, three},
};

/// A worker whose results can be looked at.
pub(crate) trait Computes: Worker {
    /// The shares of the last result by party: (party, share). One of the worker's lanes stands for all.
    fn results(&self) -> Vec<(usize, &[u8])>;
}

/// The compute threads of all parties.
pub(crate) struct Crew {
    pub(crate) workers: Vec<Box<dyn Computes>>,
    instances: usize,
}

/// The seed of the inputs that all threads and lanes work on.
const SEED: u8 = 7;

impl Crew {
    pub(crate) fn new(backend: Backend, point: &Point, job: &Job, cut: &Cut) -> Result<Self, BoxError> {
        let workers = match point.transport {
            Transport::Inproc => worlds(backend, job, cut)?,
            _ => parties(backend, point, job, cut)?,
        };
        Ok(Self { workers, instances: cut.instances })
    }

    /// Opens the first thread's last result and compares it with plain evaluation.
    pub(crate) fn check(&self, job: &Job, spoiled: bool) -> Result<(), BoxError> {
        let (inputs, _) = job.deal(SEED, self.instances);
        let mut expected = job.expected(&inputs, self.instances, 1)?;
        expected[0] ^= u8::from(spoiled);
        let mut own: [Option<&[u8]>; 3] = [None; 3];
        for (party, share) in self.workers.iter().flat_map(|worker| worker.results()) {
            own[party].get_or_insert(share);
        }
        let [Some(a), Some(b), Some(c)] = own else { return Err("a party has no result".into()) };
        compare([a, b, c], &expected)
    }
}

/// One thread that computes for all three parties.
struct World {
    sessions: [Session; 3],
    operands: [Operands; 3],
    lockstep: Lockstep,
    thread: u32,
    serial: u32,
    batches: usize,
}

impl Worker for World {
    fn repeat(&mut self) -> Result<(), BoxError> {
        for batch in 0..self.batches {
            let mut runs = vec![];
            for (session, operands) in self.sessions.iter().zip(&mut self.operands) {
                runs.push(operands.begin(session.context(self.serial, self.thread))?);
            }
            self.serial += 1;
            self.lockstep.run(&mut runs)?;
            let last = batch + 1 == self.batches;
            self.operands.iter_mut().zip(runs).for_each(|(operands, run)| operands.done(run, last));
        }
        Ok(())
    }

    fn abandon(&mut self) {}
}

impl Computes for World {
    fn results(&self) -> Vec<(usize, &[u8])> {
        self.operands.iter().enumerate().filter_map(|(i, o)| Some((i, o.result()?))).collect()
    }
}

fn worlds(backend: Backend, job: &Job, cut: &Cut) -> Result<Vec<Box<dyn Computes>>, BoxError> {
    let (id, seeds) = (SessionId::fresh()?, [(); 3].map(|()| Seed::random()));
    let mut workers: Vec<Box<dyn Computes>> = vec![];
    for thread in 0..cut.threads {
        let sessions = Role::ALL.map(|role| {
            let (own, prev) = (seeds[role.index()].clone(), seeds[role.left().index()].clone());
            Session::from_keys(role, backend, id, &PrssKeys { own, prev })
        });
        let operands =
            job.deal(SEED, cut.instances).1.map(|inputs| Operands::new(job, cut.instances, inputs));
        let (lockstep, thread) = (Lockstep::new(), u32::try_from(thread)?);
        workers.push(Box::new(World {
            sessions,
            operands,
            lockstep,
            thread,
            serial: 0,
            batches: cut.batches,
        }));
    }
    Ok(workers)
}

/// One thread of one party.
struct PartyThread {
    lanes: Vec<Lane<Run>>,
    stream: Stream,
}

/// The batches of a thread: as many operands as lanes, in turn.
struct Stream {
    session: Session,
    thread: u32,
    serial: u32,
    batches: usize,
    begun: usize,
    ended: usize,
    ready: VecDeque<Operands>,
    in_use: VecDeque<Operands>,
}

impl Work<Run> for Stream {
    type Error = BoxError;

    fn next(&mut self) -> Result<Option<Run>, BoxError> {
        if self.begun == self.batches {
            return Ok(None);
        }
        self.begun += 1;
        let mut operands = self.ready.pop_front().ok_or("more batches in flight than lanes")?;
        let run = operands.begin(self.session.context(self.serial, self.thread))?;
        self.serial += 1;
        self.in_use.push_back(operands);
        Ok(Some(run))
    }

    fn done(&mut self, run: Run) -> Result<(), BoxError> {
        let mut operands = self.in_use.pop_front().ok_or("a batch ended twice")?;
        self.ended += 1;
        operands.done(run, self.ended == self.batches);
        self.ready.push_back(operands);
        Ok(())
    }
}

impl Worker for PartyThread {
    fn repeat(&mut self) -> Result<(), BoxError> {
        (self.stream.begun, self.stream.ended) = (0, 0);
        pipeline(&mut self.lanes, &mut self.stream)
    }

    fn abandon(&mut self) {
        self.lanes.clear();
    }
}

impl Computes for PartyThread {
    fn results(&self) -> Vec<(usize, &[u8])> {
        // The operands used last are at the back.
        let last = self.stream.ready.back().and_then(Operands::result);
        last.map(|share| (self.stream.session.role().index(), share)).into_iter().collect()
    }
}

fn parties(
    backend: Backend,
    point: &Point,
    job: &Job,
    cut: &Cut,
) -> Result<Vec<Box<dyn Computes>>, BoxError> {
    // One lane more, for session keys.
    let key_lane = u16::try_from(cut.lanes * cut.threads)?;
    let id = SessionId::fresh()?;
    let nets = three(point.transport, point.net, id, key_lane + 1, None)?;
    let threads: Result<Vec<Vec<PartyThread>>, BoxError> = thread::scope(|scope| {
        let joining: Vec<_> = Role::ALL
            .into_iter()
            .zip(nets)
            .map(|(role, net)| scope.spawn(move || party(backend, role, net, id, key_lane, job, cut)))
            .collect();
        joining.into_iter().map(|thread| joined(thread.join())?).collect()
    });
    let boxed = |thread| -> Box<dyn Computes> { Box::new(thread) };
    Ok(threads?.into_iter().flatten().map(boxed).collect())
}

fn party(
    backend: Backend,
    role: Role,
    mut net: Net,
    id: SessionId,
    key_lane: u16,
    job: &Job,
    cut: &Cut,
) -> Result<Vec<PartyThread>, BoxError> {
    let (left, right) = (Some(role.left().id()), Some(role.right().id()));
    let mut around = net.channel(key_lane, right, left)?;
    let session = Session::establish(role, backend, id, Seed::random(), &mut around)?;
    let mut threads = vec![];
    for thread in 0..cut.threads {
        let lanes =
            (0..cut.lanes).map(|l| net.channel((thread * cut.lanes + l) as u16, left, right).map(Lane::new));
        let lanes = lanes.collect::<Result<Vec<_>, _>>()?;
        let operands = || {
            let [a, b, c] = job.deal(SEED, cut.instances).1;
            let inputs = match role.index() {
                0 => a,
                1 => b,
                _ => c,
            };
            Operands::new(job, cut.instances, inputs)
        };
        let stream = Stream {
            session: session.clone(),
            thread: u32::try_from(thread)?,
            serial: 0,
            batches: cut.batches,
            begun: 0,
            ended: 0,
            ready: (0..cut.lanes).map(|_| operands()).collect(),
            in_use: VecDeque::new(),
        };
        threads.push(PartyThread { lanes, stream });
    }
    Ok(threads)
}
