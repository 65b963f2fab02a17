//! Makes preprocessing for later runs. It begins as a run does, up to the run's name. Each thread
//! then does the set-up, preprocessing and (for circuits) garbling, and writes to the shelf.

use super::{STEP, Want, Wants, garbled_prefix, prefix, refused, shelf};
use crate::{
    AgreedField, Agreement, Fault, Forecast, MemberConfig, Part, Task, Terms,
    engine::{Failure, Seat},
    run::{Links, MemberSession},
    threads::{COMPUTE, on_threads},
};
use hushwire_machine::Channel;
use std::{path::PathBuf, sync::Arc};

/// The most files that one command makes for each thread.
const MOST_TIMES: u32 = 1000;

/// The last phase that is made ahead.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Phase {
    /// Triples and masks, for any circuit that needs as much.
    #[default]
    FunctionIndependent,
    /// The garbled circuit of this job. A run then has only the online phase.
    FunctionDependent,
}

impl Phase {
    /// The name as users write it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Phase::FunctionIndependent => "function-independent",
            Phase::FunctionDependent => "function-dependent",
        }
    }
}

/// A job whose runs may take preprocessing that was made ahead.
pub trait Preparable: Task {
    /// The preprocessing that a run can take, if its protocol has any.
    ///
    /// # Errors
    /// It depends on something that is known only during a run.
    fn wants(&self) -> Result<Wants, Fault>;
}

/// Makes preprocessing for later runs of a job, without computing the job: members bring no inputs.
#[derive(Clone)]
pub struct Preparation {
    /// The agreement on the job.
    pub job: Agreement,
    /// The number of runs that it serves.
    pub times: u32,
    /// The last phase that is made.
    pub up_to: Phase,
    /// Warnings about the job.
    pub warnings: Vec<String>,
    terms: Terms,
    tells_of_files: bool,
    notes: Vec<String>,
    reads: Vec<(String, PathBuf)>,
    wants: Arc<Result<Wants, Fault>>,
}

impl Preparation {
    /// Prepares `times` runs.
    ///
    /// # Errors
    /// The job's protocol is not authgarble, or one command cannot make that number.
    pub fn new(job: &impl Preparable, times: u32) -> Result<Self, Fault> {
        let agreement = job.agreement();
        let protocol = agreement.protocol;
        if protocol.authenticated().is_none() {
            let cause = format!("protocol {protocol} has no preprocessing");
            return Err(Fault::usage(STEP, cause, "take authgarble, or run the job as it is"));
        }
        if !(1..=MOST_TIMES).contains(&times) {
            let remedy = format!("prepare 1 to {MOST_TIMES} runs at once");
            return Err(Fault::usage(STEP, format!("{times} runs cannot be prepared"), remedy));
        }
        Ok(Self {
            job: agreement,
            times,
            up_to: Phase::default(),
            warnings: vec![],
            terms: job.terms(),
            tells_of_files: job.tells_of_files(),
            notes: job.notes().to_vec(),
            reads: job.reads(),
            // An error in it is reported when files are opened, as for any job.
            wants: Arc::new(job.wants()),
        })
    }

    /// Sets the last phase that is made.
    #[must_use]
    pub fn up_to(self, up_to: Phase) -> Self {
        Self { up_to, ..self }
    }
}

impl Task for Preparation {
    /// The number of files that were made.
    type Learnt = u64;
    type Part = PreparationPart;

    fn agreement(&self) -> Agreement {
        let mut agreement = self.job.clone();
        // A member that runs the job must not meet one that prepares it.
        agreement.kind = "preprocessing";
        agreement.title = format!("preprocessing for {}", agreement.title);
        let ours =
            [AgreedField::new("runs", self.times.to_string()), AgreedField::new("up to", self.up_to.name())];
        // These fields come first, so that they are named if they differ.
        agreement.fields.splice(0..0, ours);
        agreement
    }

    /// The terms of the runs that it serves: a member that allows them allows this.
    fn terms(&self) -> Terms {
        self.terms.clone()
    }

    fn tells_of_files(&self) -> bool {
        self.tells_of_files
    }

    fn notes(&self) -> &[String] {
        &self.notes
    }

    fn reads(&self) -> Vec<(String, PathBuf)> {
        self.reads.clone()
    }

    fn forecast(&self, _: bool, _: Option<u64>) -> Option<Forecast> {
        None
    }

    fn open(&self, config: &mut MemberConfig) -> Result<PreparationPart, Fault> {
        let Some(dir) = &config.shelf else {
            let cause = "this party's file names no directory for it";
            return Err(Fault::usage(STEP, cause, "add a table [authgarble] with shelf = \"DIRECTORY\""));
        };
        // The shelf is opened here, so that an error shows at once.
        shelf(dir, config)?;
        if let Err(e) = &*self.wants {
            return Err(e.clone());
        }
        Ok(PreparationPart {
            wants: self.wants.clone(),
            times: self.times,
            up_to: self.up_to,
            dir: dir.clone(),
        })
    }
}

/// A party's part of making preprocessing.
pub struct PreparationPart {
    wants: Arc<Result<Wants, Fault>>,
    times: u32,
    up_to: Phase,
    dir: PathBuf,
}

impl Part for PreparationPart {
    type Learnt = u64;

    fn compute(&mut self, member: &mut MemberSession) -> Result<Links, Fault> {
        let wants = self.wants.as_ref().as_ref().map_err(Clone::clone)?;
        let ((seat, control), chosen) = (Seat::take(member)?, wants.chosen);
        let lanes = (0..wants.threads()).map(|t| seat.channels(member, t));
        let lanes = lanes.collect::<Result<Vec<_>, _>>()?;
        let (config, index) = (&member.config, usize::from(seat.index));
        let kept = on_threads((0..).zip(lanes).collect(), |(t, mut channels): (u16, Vec<Channel>)| {
            let shelf = shelf(&self.dir, config)?;
            let mut party =
                seat.authenticated(chosen, &seat.context.child("thread", t.into()), wants.beside)?;
            let failed = |e| Failure::from(e).told(&seat, COMPUTE);
            let Want { need, circuits } = &wants.threads[usize::from(t)];
            for _ in 0..self.times {
                let kept = match self.up_to {
                    Phase::FunctionIndependent => {
                        let stock = party.prepare(&mut channels, *need).map_err(failed)?;
                        let name = prefix(chosen, config, index, *need) + &hex::encode(stock.id());
                        shelf.put(&name, stock)
                    }
                    Phase::FunctionDependent => {
                        let all = party.garble(&mut channels, circuits).map_err(failed)?;
                        let id = all.first().map(|first| hex::encode(first.id())).unwrap_or_default();
                        shelf.put_garbled(&(garbled_prefix(chosen, config, index, circuits) + &id), all)
                    }
                };
                kept.map_err(|e| refused(&e))?;
            }
            Ok(channels)
        })?;
        Ok(Links { word: control, kept: kept.into_iter().flatten().collect() })
    }

    fn prepare(&mut self) -> Result<(), Fault> {
        Ok(())
    }

    fn commit(self) -> Result<u64, Fault> {
        let threads = self.wants.as_ref().as_ref().map_or(0, Wants::threads);
        Ok(u64::from(self.times) * u64::from(threads))
    }
}
