//! The batches of a run whose parties keep nothing from one to the next but their engine: planes of own inputs in, planes of what
//! one learns out, on several threads.

use crate::{
    Fault, Member, Plan,
    agreement::Agreement,
    circuit::CircuitPart,
    doors::IN,
    flow::COMPUTE,
    place,
    run::MemberSession,
    threads::{Progress, on_threads},
};
use hushwire_circuit::{Planes, Program};
use hushwire_machine::Watch;
use hushwire_ot::Context;
use std::sync::Arc;

/// The state that all threads share.
pub(crate) struct Batches {
    pub(crate) index: usize,
    pub(crate) plan: Arc<Plan>,
    pub(crate) agreement: Arc<Agreement>,
    pub(crate) program: Arc<Program>,
    pub(crate) watch: Option<Watch>,
    me: Member,
    context: Context,
    sources: Arc<Vec<Option<place::Source>>>,
    sinks: Arc<Vec<Option<place::Sink>>>,
    /// Of all threads, in instances.
    progress: Progress,
}

/// A batch that waits to be computed.
pub(crate) struct Batch<'a> {
    pub(crate) inputs: &'a Planes,
    /// The batch, as errors name it.
    pub(crate) step: &'a str,
    /// Instances of this batch and of those that the thread computes after it.
    pub(crate) left: u64,
}

impl Batches {
    /// Those of party `index`, under the run's name.
    pub(crate) fn new(part: &CircuitPart, member: &MemberSession, index: usize, context: Context) -> Self {
        let plan = part.prepared.plan.clone();
        Batches {
            index,
            agreement: member.agreement.clone(),
            program: part.prepared.program.clone(),
            watch: member.net.watch(),
            me: member.config.me.clone(),
            context,
            sources: part.sources.clone(),
            sinks: part.sinks.clone(),
            progress: Progress::new(plan.instances, &member.observer),
            plan,
        }
    }

    /// Runs `work` with the channels of each thread, which it leaves; the first to fail ends all.
    pub(crate) fn on_threads<C: Send>(
        &self,
        channels: Vec<C>,
        work: impl Fn(&Self, u16, &mut C) -> Result<(), Fault> + Sync,
    ) -> Result<Vec<C>, Fault> {
        on_threads(channels.into_iter().zip(0..).collect(), |(mut channels, t)| {
            work(self, t, &mut channels).inspect_err(|_| self.progress.fail())?;
            Ok(channels)
        })
    }

    /// The name of thread `t` of this run and no other.
    pub(crate) fn context(&self, t: u16) -> Context {
        self.context.child("thread", t.into())
    }

    /// Computes batches `t`, `t + threads`, ….
    pub(crate) fn each(
        &self,
        t: u16,
        mut compute: impl FnMut(Batch<'_>) -> Result<Planes, Fault>,
    ) -> Result<(), Fault> {
        let mine = (u32::from(t)..self.plan.batches()).step_by(self.plan.threads.into());
        let mut left: u64 = mine.clone().map(|b| self.plan.instances_of(b) as u64).sum();
        for b in mine {
            self.progress.go_on()?;
            let n = self.plan.instances_of(b);
            let first = u64::from(b) * u64::from(self.plan.batch);
            let (inputs, step) = (self.inputs(first, n)?, self.step(b));
            let learnt = compute(Batch { inputs: &inputs, step: &step, left })?;
            place::put(&self.plan, &self.sinks, self.plan.outputs_of(&self.me), first, &learnt)?;
            self.progress.add(n as u64);
            left -= n as u64;
        }
        Ok(())
    }

    /// Batch `b`, as errors name it.
    fn step(&self, b: u32) -> String {
        match self.plan.batches() {
            1 => COMPUTE.to_owned(),
            all => format!("{COMPUTE} batch {} of {all}", b + 1),
        }
    }

    /// This party's inputs, in the circuit's order.
    fn inputs(&self, first: u64, n: usize) -> Result<Planes, Fault> {
        let sources = self.plan.inputs_of(&self.me).map(|i| self.sources[i].as_ref());
        let planes = sources.map(|source| {
            source.ok_or_else(|| Fault::internal(IN, "an input was not opened"))?.planes(first, n)
        });
        Ok(Planes::join(n, planes.collect::<Result<Vec<_>, Fault>>()?))
    }
}
