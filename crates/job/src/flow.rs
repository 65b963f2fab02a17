//! One thread's batches at a party: shares come in, the circuit runs on them, shares go out.

use crate::{JobError, Kind, Member, Plan, place, threads::Progress};
use hushwire_circuit::{Planes, Program, planes};
use hushwire_rep3::{
    Batch, CircuitBatch, CircuitWorkspace, Comparison, Inconsistent, Input, OwnerInputs, OwnerSeeds, Party,
    Role, Shares,
};
use hushwire_wire::{
    Channel, NetError, Reason, Watch,
    drive::{Driver, Work},
};
use std::{collections::VecDeque, ops::Range, sync::Arc};
use zeroize::Zeroizing;

pub(crate) const IN: &str = "sharing inputs";
const OUT: &str = "opening outputs";
const COMPARE: &str = "comparing shares of inputs";
pub(crate) const COMPUTE: &str = "computing";

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
    pub(crate) party: Party,
    /// Batches under way, in order.
    pub(crate) open: VecDeque<Batch>,
    pub(crate) driver: Driver,
    pub(crate) plan: Arc<Plan>,
    pub(crate) program: Arc<Program>,
    pub(crate) sources: Arc<Vec<Option<place::Source>>>,
    pub(crate) sinks: Arc<Vec<Option<place::Sink>>>,
    /// To the right neighbour and from the left one, against the direction of products.
    pub(crate) io: Channel,
    /// In the plan's order.
    pub(crate) clients: Vec<Channel>,
    pub(crate) seeds: Vec<Option<OwnerSeeds>>,
    /// Of clients' shares of the batch begun last: its verdict is still under way on `io`.
    pub(crate) comparison: Option<Comparison>,
    pub(crate) watch: Option<Watch>,
    /// The next batch to begin.
    pub(crate) begin: u32,
    pub(crate) spare: Vec<CircuitWorkspace>,
    /// Of all threads, in instances.
    pub(crate) progress: Arc<Progress>,
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
    /// Shares of all inputs of a batch.
    fn inputs(&mut self, batch: &mut Batch, n: usize) -> Result<Shares, Failed> {
        self.compared()?;
        let b = batch.number();
        let places = ranges(&self.plan.input_widths, planes::plane_bytes(n));
        let first = u64::from(b) * u64::from(self.plan.batch);
        let (mut inputs, mut values) = (vec![], Zeroizing::new(vec![]));
        for ((_, member), (place, source)) in self.plan.inputs.iter().zip(places.iter().zip(&*self.sources)) {
            let owner = match member {
                Member::Party(index) => Role::new(*index),
                Member::Client(_) => None,
            };
            inputs.push(Input { owner, bytes: place.len() });
            if owner == Some(self.party.role()) {
                let source = source.as_ref();
                let source =
                    source.ok_or_else(|| Failed::Job(JobError::internal(IN, "an input was not opened")))?;
                values.extend_from_slice(&source.planes(first, n).map_err(Failed::Job)?);
            }
        }
        let sharing = batch.share(&inputs, &values);
        let mut sharing = sharing.map_err(|e| Failed::Job(JobError::internal(IN, e)))?;
        self.driver.run(&mut self.io, &mut sharing)?;
        let mut shares = sharing.finish();
        let mut tags = vec![];
        for (c, name) in self.plan.clients.iter().enumerate() {
            let Some(seeds) = &self.seeds[c] else { continue };
            let member = Member::Client(name.clone());
            let inputs = self.plan.inputs_of(&member).map(|i| (i, places[i].clone()));
            let mut given = OwnerInputs::new(batch, seeds, inputs, &mut shares);
            self.driver.run(&mut self.clients[c], &mut given)?;
            tags.push(given.tags());
        }
        if !tags.is_empty() {
            self.comparison = Some(Comparison::begin(self.party.role(), &mut self.io, tags)?);
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

    /// Gives each recipient what it lacks. Clients have nothing, so they hear every party's own share, masked by a
    /// zero-share.
    fn outputs(&mut self, mut batch: Batch, n: usize, mut shares: Shares) -> Result<(), Failed> {
        self.compared()?;
        let places = ranges(&self.plan.output_widths, planes::plane_bytes(n));
        let learns =
            |j: usize, role: Role| self.plan.outputs[j].1.contains(&Member::Party(role.index() as u8));
        let outputs = places.iter().enumerate();
        let outputs: Vec<_> =
            outputs.map(|(j, place)| (Role::ALL.map(|role| learns(j, role)), place.len())).collect();
        let mut reveal = batch.reveal(&outputs, &shares);
        self.driver.run(&mut self.io, &mut reveal)?;
        let first = u64::from(batch.number()) * u64::from(self.plan.batch);
        let mine = (0..places.len()).filter(|j| learns(*j, self.party.role()));
        let width = mine.clone().map(|j| self.plan.output_widths[j]).sum();
        let value = Planes::new(width, n, reveal.finish()).map_err(|e| JobError::internal(OUT, e))?;
        place::put(&self.plan, &self.sinks, mine, first, &value)?;
        for (j, place) in places.iter().enumerate() {
            if self.plan.outputs[j].1.iter().any(|m| matches!(m, Member::Client(_))) {
                batch.blind(&mut shares.own[place.clone()]);
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

impl Work<CircuitBatch> for Flow {
    type Error = Failed;

    fn next(&mut self) -> Result<Option<CircuitBatch>, Failed> {
        let b = self.begin;
        if b >= self.plan.batches() {
            return Ok(None);
        }
        self.progress.go_on()?;
        self.begin += u32::from(self.plan.threads);
        let n = self.plan.instances_of(b);
        let internal = |e: &dyn std::fmt::Display| Failed::Job(JobError::internal(COMPUTE, e));
        let mut batch = self.party.next_batch().map_err(|e| internal(&e))?;
        if batch.number() != b {
            return Err(internal(&"batches are out of step"));
        }
        let shares = self.inputs(&mut batch, n)?;
        let (cx, ws) = (batch.context(), self.spare.pop().unwrap_or_default());
        let run = CircuitBatch::new(self.program.clone(), cx, &shares, n, ws).map_err(|e| internal(&e))?;
        self.open.push_back(batch);
        Ok(Some(run))
    }

    fn done(&mut self, run: CircuitBatch) -> Result<(), Failed> {
        let batch = self.open.pop_front();
        let batch = batch.ok_or_else(|| Failed::Job(JobError::internal(COMPUTE, "a batch ended twice")))?;
        let n = self.plan.instances_of(batch.number());
        let shares = run.output();
        self.spare.push(run.into_workspace());
        self.outputs(batch, n, shares)?;
        self.progress.add(n as u64);
        Ok(())
    }
}
