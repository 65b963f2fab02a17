//! One thread's batches at a party: shares come in, the circuit runs on them, shares go out.

use crate::{
    JobError, Kind, Member, Plan,
    agreement::Agreement,
    member_config::{Event, Observer},
    place,
};
use hushwire_aes::Backend;
use hushwire_circuit::{Program, planes};
use hushwire_prg::{Prg, Seed};
use hushwire_rep3::{
    CircuitBatch, CircuitWorkspace, Comparison, Inconsistent, Role, Session, Shares, Tags, xor_into,
};
use hushwire_wire::{Channel, NetError, Reason, Watch, drive::Work};
use std::{
    ops::Range,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
};
use zeroize::Zeroizing;

/// Domain of the seeds that clients give.
const INPUT_LABEL: &str = "hushwire job input v1";
pub(crate) const IN: &str = "sharing inputs";
const OUT: &str = "opening outputs";
const COMPARE: &str = "comparing shares of inputs";
pub(crate) const COMPUTE: &str = "computing";

/// The share of which a client sends a part of batch `b` in full; the others grow from seeds. AGREEMENT.
pub(crate) fn explicit(b: u32, input: usize) -> usize {
    (b as usize + input) % 3
}

/// A share that grows from a client's seed.
pub(crate) fn grown(backend: Backend, seed: &Seed, b: u32, input: usize, out: &mut [u8]) {
    let place = [b.to_le_bytes(), (input as u32).to_le_bytes()].concat();
    Prg::new(backend, &seed.derive(INPUT_LABEL, &place), "planes").fill(out);
}

/// The error that ends a thread.
pub(crate) enum Failed {
    Net(NetError),
    Job(JobError),
}

impl From<NetError> for Failed {
    fn from(e: NetError) -> Self {
        Self::Net(e)
    }
}

impl From<JobError> for Failed {
    fn from(e: JobError) -> Self {
        Self::Job(e)
    }
}

/// The batches of one thread.
pub(crate) struct Flow {
    pub(crate) role: Role,
    pub(crate) session: Session,
    pub(crate) plan: Arc<Plan>,
    pub(crate) agreement: Arc<Agreement>,
    pub(crate) program: Arc<Program>,
    pub(crate) sources: Arc<Vec<Option<place::Source>>>,
    pub(crate) sinks: Arc<Vec<Option<place::Sink>>>,
    /// To the right neighbour and from the left one, against the direction of products.
    pub(crate) io: Channel,
    /// In the plan's order.
    pub(crate) clients: Vec<Channel>,
    pub(crate) seeds: Vec<Option<[Seed; 2]>>,
    /// Of clients' shares of the batch begun last: its verdict is still under way on `io`.
    pub(crate) comparison: Option<Comparison>,
    pub(crate) watch: Option<Watch>,
    /// The next batch to begin, and the next to end.
    pub(crate) begin: u32,
    pub(crate) end: u32,
    pub(crate) spare: Vec<CircuitWorkspace>,
    /// Another thread failed.
    pub(crate) stop: Arc<AtomicBool>,
    /// Instances that are done, on all threads.
    pub(crate) done: Arc<AtomicU64>,
    pub(crate) observer: Observer,
}

/// The range of each value's planes, one after the other.
fn ranges(widths: &[usize], plane: usize) -> Vec<Range<usize>> {
    let mut at = 0;
    let place = |width: &usize| {
        at += width * plane;
        at - width * plane..at
    };
    widths.iter().map(place).collect()
}

impl Flow {
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
        self.compared()?;
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
        let tags = self.client_inputs(b, &places, &mut shares)?;
        if !tags.is_empty() {
            self.comparison = Some(Comparison::begin(self.role, &mut self.io, tags)?);
        }
        Ok(shares)
    }

    /// Takes the verdict on clients' shares of all batches begun so far. No output is opened, and `io` serves nothing
    /// else, before.
    fn compared(&mut self) -> Result<(), Failed> {
        let Some(comparison) = self.comparison.take() else { return Ok(()) };
        comparison.end(&mut self.io)?.map_or(Ok(()), |found| Err(Failed::Job(self.deviates(found))))
    }

    /// Ends the session because of the client who gave such shares.
    fn deviates(&self, Inconsistent { owner, holders: [a, b] }: Inconsistent) -> JobError {
        let owners = self.plan.clients.iter().zip(&self.seeds).filter(|(_, seeds)| seeds.is_some());
        let client = owners.map(|(name, _)| Member::Client(name.clone())).nth(owner);
        let id = client.as_ref().and_then(|client| client.id(&self.plan.clients));
        let (Some(client), Some(id)) = (client, id) else {
            return JobError::internal(COMPARE, "no client gave these shares");
        };
        if let Some(watch) = &self.watch {
            watch.abort(id, Reason::Cheated, COMPARE);
        }
        let [a, b] = [a.index().min(b.index()), a.index().max(b.index())];
        JobError::new(
            Kind::Network,
            COMPARE,
            format!(
                "{client} gave party {a} and party {b} different shares of the same inputs; no output of them was opened"
            ),
            format!("let {client} run this release unchanged, or plan the job without it"),
        )
    }

    /// Clients' inputs: two of three shares grow from seeds, the third comes in full. Tags of each client's shares come
    /// back, in the order of clients.
    fn client_inputs(
        &mut self,
        b: u32,
        places: &[Range<usize>],
        shares: &mut Shares,
    ) -> Result<Vec<Tags>, Failed> {
        let mut tags = vec![];
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
            let mut tagging = self.session.tagging(c as u32, b);
            for place in self.plan.inputs_of(&member).map(|i| places[i].clone()) {
                tagging.part(&shares.own[place.clone()], &shares.next[place]);
            }
            tags.push(tagging.finish());
        }
        Ok(tags)
    }

    /// Gives each recipient what it lacks.
    ///
    /// Party r lacks x_{r+2}, which its left neighbour has as `own`. Clients have nothing, so they hear every party's
    /// own share, masked by a zero-share.
    fn outputs(&mut self, b: u32, n: usize, mut shares: Shares) -> Result<(), Failed> {
        self.compared()?;
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
