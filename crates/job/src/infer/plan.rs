//! The agreement on an inference, and the computation that it is.

use super::{InferJob, InferPart};
use crate::{
    Agreement, Bound, ComputeJob, ComputeTask, Forecast, FromDisk, JobError, Linear, MemberConfig,
    Preparable, Protocol, Task, Wants,
};
use hushwire_compute::Computation;
use hushwire_nn::{Members, NnError, Numbers};
use serde::{Deserialize, Serialize};
use std::{collections::BTreeMap, path::PathBuf, sync::Arc};

/// An inference's job, planned.
#[derive(Clone)]
pub struct InferTask {
    job: InferJob,
    numbers: Numbers,
    compute: ComputeTask,
}

/// The result of an inference at a member.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Inferred {
    /// Lengths of the output, where this member learns it.
    pub lengths: Option<Vec<usize>>,
    /// Its elements, where they are few.
    pub elements: Vec<f32>,
    /// The phases of authenticated garbling that came from this party's shelf, if it has one.
    pub from_disk: Option<FromDisk>,
}

pub(super) fn of_nn(e: &NnError) -> JobError {
    JobError::usage(e.place(), e.cause(), e.remedy())
}

impl InferTask {
    /// Plans the inference.
    ///
    /// # Errors
    /// The network's file cannot be read, or is another computation than a network's.
    pub fn new(job: &InferJob) -> Result<Self, JobError> {
        let computation = Arc::new(job.network.load()?);
        let numbers = Numbers::of_computation(&computation).map_err(|e| of_nn(&e))?;
        if job.owner == job.client {
            let remedy = "let two members be owner and client; one alone needs no other";
            return Err(JobError::usage("planning the job", "the model's owner is the client", remedy));
        }
        let mut compute = ComputeJob::new(job.protocol, job.network.clone());
        let Members { owner, client } = Members::default();
        compute.members = BTreeMap::from([(owner, job.owner.clone()), (client, job.client.clone())]);
        (compute.threads, compute.ot, compute.linear) = (job.threads, job.ot, job.linear);
        if job.protocol == Protocol::Two {
            compute.linear = Some(job.linear.unwrap_or(Linear::He));
        }
        let compute = ComputeTask::of(&compute, computation)?;
        if !compute.agreement().members().contains(&job.owner) {
            let cause =
                "the network has no weights, so that its owner has nothing to bring and takes no part";
            let remedy = "let the client compute it alone: there is nothing to hide from it";
            return Err(JobError::usage("planning the job", cause, remedy));
        }
        Ok(InferTask { job: job.clone(), numbers, compute })
    }

    /// The job.
    #[must_use]
    pub fn job(&self) -> &InferJob {
        &self.job
    }

    /// The network's computation.
    #[must_use]
    pub fn computation(&self) -> &Computation {
        self.compute.computation()
    }

    /// The ring and its numbers.
    #[must_use]
    pub fn numbers(&self) -> Numbers {
        self.numbers
    }

    /// Names the runs that may replace each other's output: those of the same network with the same scales, whatever its weights.
    #[must_use]
    pub fn writer(&self) -> String {
        self.compute.writer("output")
    }

    /// The job of the computation.
    pub(super) fn compute(&self) -> &ComputeTask {
        &self.compute
    }

    /// The run of the computation, bound.
    ///
    /// # Errors
    /// It is too large for this machine.
    pub fn bound(&self) -> Result<Bound, JobError> {
        self.compute.bound(&BTreeMap::new())
    }

    /// The forecast of a run.
    ///
    /// # Errors
    /// It is too large to be run.
    pub fn price(&self, aes_instructions: bool) -> Result<Forecast, JobError> {
        Ok(self.bound()?.forecast(self.compute.chosen(), aes_instructions)?.0)
    }
}

impl Task for InferTask {
    type Learnt = Inferred;
    type Part = InferPart;

    fn agreement(&self) -> Agreement {
        Agreement { kind: "infer", title: "inference".to_owned(), ..self.compute.agreement() }
    }

    fn tells_of_files(&self) -> bool {
        self.compute.tells_of_files()
    }

    fn reads(&self) -> Vec<(String, PathBuf)> {
        self.compute.reads()
    }

    fn open(&self, config: &mut MemberConfig) -> Result<InferPart, JobError> {
        InferPart::open(self, config)
    }
}

impl Preparable for InferTask {
    fn wants(&self) -> Result<Wants, JobError> {
        self.compute.wants()
    }
}
