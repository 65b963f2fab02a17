//! A party's side: shares come in, the circuit runs on them, shares go out.

use crate::{
    JobError, Member, Plan, place,
    run::{Joined, Links, first_error},
    seat::{Event, Observer, control_lane, explain},
};
use hushwire_circuit::{Program, planes};
use hushwire_prg::{Prg, Seed};
use hushwire_rep3::{CircuitBatch, CircuitWorkspace, Role, Session, Shares, xor_into};
use hushwire_wire::{
    Channel, NetError,
    drive::{Lane, Work, pipeline},
};
use std::{
    ops::Range,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    thread,
};
use zeroize::Zeroizing;

/// Domain of the seeds that clients give.
pub(crate) const INPUT_LABEL: &str = "hushwire job input v1";
const IN: &str = "sharing inputs";
const OUT: &str = "opening outputs";
const COMPUTE: &str = "computing";

/// The share of which a client sends a part of batch `b` in full; the others grow from seeds. AGREEMENT.
pub(crate) fn explicit(b: u32, input: usize) -> usize {
    (b as usize + input) % 3
}

/// A share that grows from a client's seed.
pub(crate) fn grown(backend: hushwire_aes::Backend, seed: &Seed, b: u32, input: usize, out: &mut [u8]) {
    let place = [b.to_le_bytes(), (input as u32).to_le_bytes()].concat();
    Prg::new(backend, &seed.derive(INPUT_LABEL, &place), "planes").fill(out);
}

/// Computes all batches.
pub(crate) fn compute(joined: &mut Joined) -> Result<Links, JobError> {
    let plan = joined.plan().clone();
    let Member::Party(index) = joined.seat.me else {
        return Err(JobError::internal(COMPUTE, "a client cannot compute"));
    };
    let role = Role::new(index).ok_or_else(|| JobError::internal(COMPUTE, "no such party"))?;
    let (left, right) = (Some(role.left().id()), Some(role.right().id()));
    let control = control_lane(&plan);
    let mut forward = joined.channel(1, control, right, left)?;
    let backward = joined.channel(1, control, left, right)?;
    let (backend, id) = (joined.seat.backend, joined.seat.session);
    let session = Session::establish(role, backend, id, Seed::random(), &mut forward)
        .map_err(|e| explain(&plan, e).during("session keys"))?;

    let mut clients = client_channels(joined, &plan)?;
    let seeds = receive_seeds(&plan, &mut clients[0])?;
    let stop = Arc::new(AtomicBool::new(false));
    let done = Arc::new(AtomicU64::new(0));
    let mut threads = vec![];
    for (t, clients) in (0..plan.threads).zip(clients) {
        let first = t * plan.lanes;
        let lanes = (first..first + plan.lanes).map(|l| joined.channel(0, l, left, right).map(Lane::new));
        let lanes = lanes.collect::<Result<Vec<_>, _>>()?;
        let flow = Flow {
            role,
            session: session.clone(),
            plan: plan.clone(),
            program: joined.prepared.program.clone(),
            sources: joined.sources.clone(),
            sinks: joined.sinks.clone(),
            io: joined.channel(1, first, right, left)?,
            clients,
            seeds: seeds.clone(),
            begin: u32::from(t),
            end: u32::from(t),
            spare: vec![],
            stop: stop.clone(),
            done: done.clone(),
            observer: joined.observer.clone(),
        };
        threads.push((lanes, flow));
    }
    let results: Vec<_> = thread::scope(|scope| {
        let running: Vec<_> =
            threads.into_iter().map(|(lanes, flow)| scope.spawn(|| run(lanes, flow))).collect();
        running.into_iter().map(thread::ScopedJoinHandle::join).collect()
    });
    let (mut finished, mut errors) = (vec![], vec![]);
    for result in results {
        match result {
            Ok(Ok(thread)) => finished.push(thread),
            Ok(Err(e)) => errors.push(e),
            Err(_) => errors.push(JobError::internal(COMPUTE, "a thread panicked")),
        }
    }
    first_error(errors)?;
    let mut links = Links { word: vec![forward, backward], kept: vec![] };
    for (t, (lanes, flow)) in finished.into_iter().enumerate() {
        let to = if t == 0 { &mut links.word } else { &mut links.kept };
        to.extend(flow.clients);
        links.kept.push(flow.io);
        links.kept.extend(lanes.into_iter().map(Lane::into_channel));
    }
    Ok(links)
}

type Running = (Vec<Lane<CircuitBatch>>, Flow);

fn run(mut lanes: Vec<Lane<CircuitBatch>>, mut flow: Flow) -> Result<Running, JobError> {
    let ran =
        if flow.program.depth() == 0 { flow.without_messages() } else { pipeline(&mut lanes, &mut flow) };
    match ran {
        Ok(()) => Ok((lanes, flow)),
        Err(e) => {
            flow.stop.store(true, Ordering::SeqCst);
            let e = match e {
                Failed::Net(e) => explain(&flow.plan, e),
                Failed::Job(e) => e,
            };
            Err(e.during(COMPUTE))
        }
    }
}

/// For each thread, a channel to each client.
fn client_channels(joined: &mut Joined, plan: &Plan) -> Result<Vec<Vec<Channel>>, JobError> {
    let ids: Vec<_> = plan.clients.iter().map(|c| Member::Client(c.clone()).id(&plan.clients)).collect();
    let of_thread =
        |t: u16, joined: &mut Joined| ids.iter().map(|id| joined.channel(1, t, *id, *id)).collect();
    (0..plan.threads).map(|t| of_thread(t, joined)).collect()
}

/// Two seeds from every client that brings an input: of this party's share, and of the next.
fn receive_seeds(plan: &Plan, clients: &mut [Channel]) -> Result<Vec<Option<[Seed; 2]>>, JobError> {
    let mut seeds = vec![];
    for (name, channel) in plan.clients.iter().zip(clients) {
        if plan.inputs_of(&Member::Client(name.clone())).next().is_none() {
            seeds.push(None);
            continue;
        }
        let mut bytes = Zeroizing::new([0; 32]);
        channel.recv(IN, &mut bytes[..]).map_err(|e| explain(plan, e).during(IN))?;
        let seed = |at: usize| {
            let mut seed = Zeroizing::new([0; 16]);
            seed.copy_from_slice(&bytes[at..at + 16]);
            Seed::from_bytes(*seed)
        };
        seeds.push(Some([seed(0), seed(16)]));
    }
    Ok(seeds)
}

/// What ends a thread.
enum Failed {
    Net(NetError),
    Job(JobError),
}

impl From<NetError> for Failed {
    fn from(e: NetError) -> Self {
        Self::Net(e)
    }
}

/// The batches of one thread.
struct Flow {
    role: Role,
    session: Session,
    plan: Arc<Plan>,
    program: Arc<Program>,
    sources: Arc<Vec<Option<place::Source>>>,
    sinks: Arc<Vec<Option<place::Sink>>>,
    /// To the right neighbour and from the left one, against the direction of products.
    io: Channel,
    /// In the plan's order.
    clients: Vec<Channel>,
    seeds: Vec<Option<[Seed; 2]>>,
    /// The next batch to begin, and the next to end.
    begin: u32,
    end: u32,
    spare: Vec<CircuitWorkspace>,
    /// Another thread failed.
    stop: Arc<AtomicBool>,
    /// Instances that are done, on all threads.
    done: Arc<AtomicU64>,
    observer: Observer,
}

/// Where each value's planes lie, one after the other.
fn ranges(widths: &[usize], plane: usize) -> Vec<Range<usize>> {
    let mut at = 0;
    let place = |width: &usize| {
        at += width * plane;
        at - width * plane..at
    };
    widths.iter().map(place).collect()
}

impl Flow {
    /// A circuit without ANDs: nothing is exchanged between inputs and outputs.
    fn without_messages(&mut self) -> Result<(), Failed> {
        while let Some(batch) = self.next()? {
            self.done(batch)?;
        }
        Ok(())
    }

    fn party_of(&self, input: usize) -> Option<u8> {
        match self.plan.inputs[input].1 {
            Member::Party(index) => Some(index),
            Member::Client(_) => None,
        }
    }

    /// Shares of all inputs of batch `b`.
    ///
    /// Of party p's input, x_p grows from the key that it shares with its left neighbour, x_{p+2} is zero, and
    /// x_{p+1} = v ⊕ x_p goes to the right one.
    fn inputs(&mut self, b: u32, n: usize) -> Result<Shares, Failed> {
        let places = ranges(&self.plan.input_widths, planes::plane_bytes(n));
        let total = places.last().map_or(0, |r| r.end);
        let mut shares = Shares { own: vec![0; total], next: vec![0; total] };
        let me = self.role.index() as u8;
        let (left, right) = (self.role.left().index() as u8, self.role.right().index() as u8);
        let (mut out, mut from_left) = (Zeroizing::new(vec![]), vec![]);
        for (i, place) in places.iter().enumerate() {
            let Some(owner) = self.party_of(i) else { continue };
            let grown = self.session.random(b, 1 + i as u32, place.len());
            if owner == me {
                let source = self.sources[i].as_ref();
                let source =
                    source.ok_or_else(|| Failed::Job(JobError::internal(IN, "an input was not opened")))?;
                let first = u64::from(b) * u64::from(self.plan.batch);
                let mut value = source.planes(first, n).map_err(Failed::Job)?;
                xor_into(&mut value, &grown.own);
                shares.own[place.clone()].copy_from_slice(&grown.own);
                shares.next[place.clone()].copy_from_slice(&value);
                out.extend_from_slice(&value);
            } else if owner == left {
                from_left.push(place.clone());
            } else if owner == right {
                shares.next[place.clone()].copy_from_slice(&grown.next);
            }
        }
        let mut arrived = Zeroizing::new(vec![0; from_left.iter().map(Range::len).sum()]);
        if !(out.is_empty() && arrived.is_empty()) {
            self.io.exchange(IN, &out, &mut arrived)?;
        }
        scatter(&arrived, &from_left, &mut shares.own);
        self.client_inputs(b, &places, &mut shares)?;
        Ok(shares)
    }

    /// Clients' inputs: two of three shares grow from seeds, the third comes in full.
    fn client_inputs(&mut self, b: u32, places: &[Range<usize>], shares: &mut Shares) -> Result<(), Failed> {
        let (held, backend) = ([self.role.index(), self.role.right().index()], self.session.backend());
        for (c, name) in self.plan.clients.iter().enumerate() {
            let Some(seeds) = &self.seeds[c] else { continue };
            let member = Member::Client(name.clone());
            let mut full = vec![];
            for i in self.plan.inputs_of(&member) {
                for (s, share) in [&mut shares.own, &mut shares.next].into_iter().enumerate() {
                    if held[s] == explicit(b, i) {
                        full.push((s, places[i].clone()));
                    } else {
                        grown(backend, &seeds[s], b, i, &mut share[places[i].clone()]);
                    }
                }
            }
            let mut arrived = Zeroizing::new(vec![0; full.iter().map(|(_, r)| r.len()).sum()]);
            if !arrived.is_empty() {
                self.clients[c].recv(IN, &mut arrived)?;
            }
            let mut at = 0;
            for (s, place) in full {
                let share = if s == 0 { &mut shares.own } else { &mut shares.next };
                let len = place.len();
                share[place].copy_from_slice(&arrived[at..at + len]);
                at += len;
            }
        }
        Ok(())
    }

    /// Gives each recipient what it lacks.
    ///
    /// Party r lacks x_{r+2}, which its left neighbour has as `own`. Clients have nothing, so they hear every party's
    /// own share, masked by a zero-share.
    fn outputs(&mut self, b: u32, n: usize, mut shares: Shares) -> Result<(), Failed> {
        let places = ranges(&self.plan.output_widths, planes::plane_bytes(n));
        let [me, right] = [self.role, self.role.right()].map(|r| Member::Party(r.index() as u8));
        let learns = |j: usize, member: &Member| self.plan.outputs[j].1.contains(member);
        let mut out = Zeroizing::new(vec![]);
        let mut mine = vec![];
        for (j, place) in places.iter().enumerate() {
            if learns(j, &right) {
                out.extend_from_slice(&shares.own[place.clone()]);
            }
            if learns(j, &me) {
                mine.push((j, place.clone()));
            }
        }
        let mut arrived = Zeroizing::new(vec![0; mine.iter().map(|(_, r)| r.len()).sum()]);
        if !(out.is_empty() && arrived.is_empty()) {
            self.io.exchange(OUT, &out, &mut arrived)?;
        }
        let first = u64::from(b) * u64::from(self.plan.batch);
        let mut at = 0;
        for (j, place) in mine {
            let value = &mut arrived[at..at + place.len()];
            at += place.len();
            xor_into(value, &shares.own[place.clone()]);
            xor_into(value, &shares.next[place]);
            if let Some(sink) = &self.sinks[j] {
                sink.put(first, n, value).map_err(Failed::Job)?;
            }
        }
        for (j, place) in places.iter().enumerate() {
            if self.plan.outputs[j].1.iter().any(|m| matches!(m, Member::Client(_))) {
                let lane = (1 + self.plan.inputs.len() + j) as u32;
                let zero = self.session.random(b, lane, place.len());
                let own = &mut shares.own[place.clone()];
                xor_into(own, &zero.own);
                xor_into(own, &zero.next);
            }
        }
        for (name, channel) in self.plan.clients.iter().zip(&mut self.clients) {
            let member = Member::Client(name.clone());
            let parts = self.plan.outputs_of(&member).flat_map(|j| &shares.own[places[j].clone()]);
            let message: Zeroizing<Vec<u8>> = Zeroizing::new(parts.copied().collect());
            if !message.is_empty() {
                channel.send(OUT, &message)?;
            }
        }
        Ok(())
    }
}

fn scatter(bytes: &[u8], places: &[Range<usize>], into: &mut [u8]) {
    let mut at = 0;
    for place in places {
        into[place.clone()].copy_from_slice(&bytes[at..at + place.len()]);
        at += place.len();
    }
}

impl Work<CircuitBatch> for Flow {
    type Error = Failed;

    fn next(&mut self) -> Result<Option<CircuitBatch>, Failed> {
        let b = self.begin;
        if b >= self.plan.batches() {
            return Ok(None);
        }
        if self.stop.load(Ordering::SeqCst) {
            let mut error = JobError::internal(COMPUTE, "another thread failed");
            error.consequence = true;
            return Err(Failed::Job(error));
        }
        self.begin += u32::from(self.plan.threads);
        let n = self.plan.instances_of(b);
        let shares = self.inputs(b, n)?;
        let (cx, ws) = (self.session.context(b, 0), self.spare.pop().unwrap_or_default());
        let batch = CircuitBatch::new(self.role, self.program.clone(), cx, &shares, n, ws);
        batch.map(Some).map_err(|e| Failed::Job(JobError::internal(COMPUTE, e)))
    }

    fn done(&mut self, batch: CircuitBatch) -> Result<(), Failed> {
        let b = self.end;
        self.end += u32::from(self.plan.threads);
        let n = self.plan.instances_of(b);
        let shares = batch.output();
        self.spare.push(batch.into_workspace());
        self.outputs(b, n, shares)?;
        let done = self.done.fetch_add(n as u64, Ordering::SeqCst) + n as u64;
        (self.observer)(Event::Progress(done, self.plan.instances));
        Ok(())
    }
}
