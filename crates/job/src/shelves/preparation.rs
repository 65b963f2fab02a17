//! Preprocessing for runs that are still to come: as a run as far as the run's name; then on every thread set-up, preprocessing and, of
//! circuits, garbling, and to the shelf.

use super::{STEP, circuits, garbled_prefix, need, prefix, refused, shelf};
use crate::{
    Agreement, Field, Forecast, JobError, Member, MemberConfig, Part, Prepared, Task, Terms,
    flow::COMPUTE,
    n_party,
    run::{Links, MemberSession},
    threads::on_threads,
};
use hushwire_wire::Channel;
use std::path::PathBuf;

/// Files for each thread that one command makes.
const MOST_TIMES: u32 = 1000;

/// The last phase that is made ahead.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Phase {
    /// Triples and masks, for any circuit that takes as much.
    #[default]
    FunctionIndependent,
    /// The garbled circuit of this job: a run has the online phase alone.
    FunctionDependent,
}

impl Phase {
    /// As users write it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Phase::FunctionIndependent => "function-independent",
            Phase::FunctionDependent => "function-dependent",
        }
    }
}

/// Preprocessing for runs of a circuit's job that are still to come, and nothing of the job itself: members bring no inputs.
#[derive(Clone)]
pub struct Preparation {
    /// The job.
    pub prepared: Prepared,
    /// Runs that it is for.
    pub times: u32,
    /// The last phase that is made.
    pub up_to: Phase,
}

impl Preparation {
    /// For `times` runs.
    ///
    /// # Errors
    /// The job has another protocol than authgarble, or the number is none that one command makes.
    pub fn new(prepared: Prepared, times: u32) -> Result<Self, JobError> {
        if prepared.plan.protocol.authenticated().is_none() {
            let cause = format!("protocol {} has no preprocessing", prepared.plan.protocol);
            return Err(JobError::usage(STEP, cause, "take authgarble, or run the job as it is"));
        }
        if !(1..=MOST_TIMES).contains(&times) {
            let remedy = format!("prepare 1 to {MOST_TIMES} runs at once");
            return Err(JobError::usage(STEP, format!("{times} runs cannot be prepared"), remedy));
        }
        Ok(Self { prepared, times, up_to: Phase::default() })
    }

    /// The same as far as another phase.
    #[must_use]
    pub fn up_to(self, up_to: Phase) -> Self {
        Self { up_to, ..self }
    }
}

impl Task for Preparation {
    /// Files that were made.
    type Learnt = u64;
    type Part = PreparationPart;

    fn agreement(&self) -> Agreement {
        let mut agreement = self.prepared.plan.agreement();
        // Whoever runs the job meets nobody who prepares it.
        agreement.kind = "preprocessing";
        agreement.title = format!("preprocessing for {}", agreement.title);
        agreement.fields.push(Field::new("times", self.times.to_string()));
        agreement.fields.push(Field::new("up to", self.up_to.name()));
        agreement
    }

    /// Those of the runs that it serves: who allows them allows this.
    fn terms(&self) -> Terms {
        self.prepared.terms()
    }

    fn reads(&self) -> Vec<(String, PathBuf)> {
        self.prepared.reads()
    }

    fn forecast(&self, _: bool, _: Option<u64>) -> Option<Forecast> {
        None
    }

    fn open(&self, config: &mut MemberConfig) -> Result<PreparationPart, JobError> {
        let Some(dir) = &config.shelf else {
            let cause = "this party's file names no directory for it";
            return Err(JobError::usage(STEP, cause, "add a table [authgarble] with shelf = \"DIRECTORY\""));
        };
        // It is made here, and shows at once if it cannot be.
        shelf(dir, &config.identity)?;
        Ok(PreparationPart { preparation: self.clone(), dir: dir.clone() })
    }
}

/// A party's part of preprocessing.
pub struct PreparationPart {
    preparation: Preparation,
    dir: PathBuf,
}

impl Part for PreparationPart {
    type Learnt = u64;

    fn compute(&mut self, member: &mut MemberSession) -> Result<Links, JobError> {
        let Member::Party(index) = member.config.me else {
            return Err(JobError::internal(STEP, "a client prepares nothing"));
        };
        let (index, plan) = (usize::from(index), &self.preparation.prepared.plan);
        let mut control = n_party::channels(member, 1, member.agreement.control_lane(), index)?;
        let context = n_party::name(member, index, &mut control)?;
        let lanes = (0..plan.threads).map(|t| n_party::channels(member, 0, t, index));
        let lanes = lanes.collect::<Result<Vec<_>, _>>()?;
        let program = &self.preparation.prepared.program;
        let each = n_party::need(program, &plan.among(program), 1);
        let (agreement, watch, config) = (&member.agreement, member.net.watch(), &member.config);
        let kept = on_threads((0..).zip(lanes).collect(), |(t, mut channels): (u16, Vec<Channel>)| {
            let shelf = shelf(&self.dir, &config.identity)?;
            let context = context.child("thread", t.into());
            let mut party = n_party::party(plan.chosen(), &context, index, plan.beside)?;
            let failed = |e| n_party::failed(agreement, watch.as_ref(), index, COMPUTE, e);
            let (need, tasks) = (need(plan, t, each), circuits(&self.preparation.prepared, t));
            for _ in 0..self.preparation.times {
                let kept = match self.preparation.up_to {
                    Phase::FunctionIndependent => {
                        let stock = party.prepare(&mut channels, need).map_err(failed)?;
                        let name = prefix(plan, config, index, need) + &hex::encode(stock.id());
                        shelf.put(&name, stock)
                    }
                    Phase::FunctionDependent => {
                        let all = party.garble(&mut channels, &tasks).map_err(failed)?;
                        let id = all.first().map(|first| hex::encode(first.id())).unwrap_or_default();
                        shelf.put_garbled(&(garbled_prefix(plan, config, index, &tasks) + &id), all)
                    }
                };
                kept.map_err(|e| refused(&e))?;
            }
            Ok(channels)
        })?;
        Ok(Links { word: control, kept: kept.into_iter().flatten().collect() })
    }

    fn prepare(&mut self) -> Result<(), JobError> {
        Ok(())
    }

    fn commit(self) -> Result<u64, JobError> {
        Ok(u64::from(self.preparation.times) * u64::from(self.preparation.prepared.plan.threads))
    }
}
