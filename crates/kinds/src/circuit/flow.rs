//! The batches of one thread at a party: shares come in, the circuit runs on them, shares go out.
//! Thread `t` of `n` runs batches `t`, `t + n` and so on. The number of a batch also selects its
//! part of the session's randomness.

use crate::{CircuitPlan, circuit::place};
use hushwire_block::Wiped;
use hushwire_circuit::{Planes, Program, planes};
use hushwire_machine::drive::Work;
use hushwire_rep3::{Batch, CircuitBatch, CircuitWorkspace, Rep3Party, Shares};
use hushwire_session::{
    Fault, Member,
    doors::{Doors, IN, SharedValue},
    threads::{COMPUTE, Failed, Progress},
};
use std::{collections::VecDeque, sync::Arc};

const OUT: &str = "opening outputs";

/// The batches of one thread.
pub(crate) struct Flow {
    pub(crate) party: Rep3Party,
    /// Batches under way, in order.
    pub(crate) open: VecDeque<Batch>,
    pub(crate) plan: Arc<CircuitPlan>,
    pub(crate) program: Arc<Program>,
    pub(crate) sources: Arc<Vec<Option<place::InputSource>>>,
    pub(crate) sinks: Arc<Vec<Option<place::Sink>>>,
    pub(crate) doors: Doors,
    /// The next batch to begin.
    pub(crate) begin: u32,
    pub(crate) spare: Vec<CircuitWorkspace>,
    /// The progress of all threads, in instances.
    pub(crate) progress: Arc<Progress>,
}

impl Flow {
    fn me(&self) -> Member {
        Member::Party(self.party.role().index() as u8)
    }

    /// Shares of all inputs of a batch.
    fn inputs(&mut self, batch: &mut Batch, n: usize) -> Result<Shares, Failed> {
        let first = u64::from(batch.number()) * u64::from(self.plan.batch);
        let mut values = Wiped::new(vec![]);
        for i in self.plan.inputs_of(&self.me()) {
            let source = self.sources[i].as_ref();
            let source = source.ok_or_else(|| Failed::Job(Fault::internal(IN, "an input was not opened")))?;
            values.extend_from_slice(&source.planes(first, n).map_err(Failed::Job)?);
        }
        let plane = planes::plane_bytes(n);
        let inputs = self.plan.inputs.iter().zip(&self.plan.input_widths);
        let inputs: Vec<_> =
            inputs.map(|((_, from), width)| SharedValue::of_planes(from, width * plane)).collect();
        let turn = batch.number();
        self.doors.share(batch, turn, &inputs, &values, &[])
    }

    /// Sends each recipient the share that it lacks.
    fn outputs(&mut self, mut batch: Batch, n: usize, shares: Shares) -> Result<(), Failed> {
        let (plan, plane) = (self.plan.clone(), planes::plane_bytes(n));
        let outputs = plan.outputs.iter().zip(&plan.output_widths);
        let outputs: Vec<_> =
            outputs.map(|((_, to), width)| SharedValue::of_planes(&to[..], width * plane)).collect();
        let (value, _) = self.doors.open(&mut batch, &outputs, &[], shares)?;
        let first = u64::from(batch.number()) * u64::from(plan.batch);
        let me = self.me();
        let width = plan.outputs_of(&me).map(|j| plan.output_widths[j]).sum();
        let value = Planes::new(width, n, value).map_err(|e| Fault::internal(OUT, e))?;
        Ok(place::put(&plan, &self.sinks, plan.outputs_of(&me), first, &value)?)
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
        let internal = |e: &dyn std::fmt::Display| Failed::Job(Fault::internal(COMPUTE, e));
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
        let batch = batch.ok_or_else(|| Failed::Job(Fault::internal(COMPUTE, "a batch ended twice")))?;
        let n = self.plan.instances_of(batch.number());
        let shares = run.output();
        self.spare.push(run.into_workspace());
        self.outputs(batch, n, shares)?;
        self.progress.add(n as u64);
        Ok(())
    }
}
