//! One member's part of a computation.

use super::{
    ComputeTask, Computed,
    client::Client,
    lengths::Lengths,
    outputs::{Sink, sinks},
    plan::Bound,
    three::Three,
    two::Two,
    values::Values,
};
use crate::{
    Event, JobError, Member, MemberConfig, Part, Protocol,
    run::{Links, MemberSession},
    suggest,
};
use hushwire_circuit::Program;
use std::{collections::BTreeMap, sync::Arc};
use zeroize::Zeroizing;

/// The inputs of one member, read, and its outputs, begun.
pub struct ComputePart {
    task: ComputeTask,
    inputs: Vec<Values>,
    sinks: Vec<(usize, Sink)>,
    /// What its inputs, and the job, say of symbols.
    symbols: BTreeMap<String, u64>,
    ands: u64,
}

/// A member's links.
enum Engine {
    Three(Box<Three>),
    Two(Box<Two>),
    Client(Box<Client>),
}

impl ComputePart {
    pub(super) fn open(task: &ComputeTask, config: &mut MemberConfig) -> Result<Self, JobError> {
        let me = config.me.clone();
        let names: Vec<&str> = task.inputs_of(&me).map(|(_, name, _)| name).collect();
        if let Some(odd) = config.inputs.keys().find(|name| !names.contains(&name.as_str())) {
            let cause = format!("{me} does not bring an input called `{odd}`");
            return Err(JobError::usage("reading inputs", cause, suggest::remedy(odd, &names)));
        }
        let mut symbols = task.job().symbols.clone();
        let (mut inputs, mut lengths) = (vec![], BTreeMap::new());
        for (_, name, ty) in task.inputs_of(&me) {
            let place = config.inputs.get(name).ok_or_else(|| lacks(&me, name))?;
            let values = Values::read(name, ty, place, &symbols)?;
            lengths.insert(name.to_owned(), values.lengths.clone());
            symbols = task
                .computation()
                .symbols_with(&symbols, &lengths)
                .map_err(|e| JobError::usage("reading inputs", e.cause(), e.remedy()))?;
            inputs.push(values);
        }
        if symbols.len() == task.computation().symbols().len() {
            // What these lengths violate shows before anybody is dialled.
            task.bound(&symbols)?;
        }
        let sinks = sinks(task, config)?;
        Ok(Self { task: task.clone(), inputs, sinks, symbols, ands: 0 })
    }

    fn engine(&self, member: &mut MemberSession) -> Result<Engine, JobError> {
        let brings = |member: &Member| self.task.inputs_of(member).next().is_some();
        Ok(match (member.config.me.clone(), self.task.chosen().protocol) {
            (me @ Member::Client(_), _) => Engine::Client(Box::new(Client::open(member, brings(&me))?)),
            (Member::Party(index), Protocol::Rep3) => {
                Engine::Three(Box::new(Three::open(member, index, brings)?))
            }
            (Member::Party(index), Protocol::Yao | Protocol::Gmw) => {
                Engine::Two(Box::new(Two::open(member, index, self.task.chosen())?))
            }
        })
    }
}

fn lacks(me: &Member, name: &str) -> JobError {
    let remedy = format!("add {name} = {{ csv = \"…\", column = \"…\" }} under [inputs]");
    JobError::usage("reading inputs", format!("{me} has no values for input `{name}`"), remedy)
}

impl Engine {
    fn agree(&mut self, member: &MemberSession, lengths: Lengths) -> Result<BTreeMap<String, u64>, JobError> {
        match self {
            Engine::Three(engine) => engine.agree(member, lengths),
            Engine::Two(engine) => engine.agree(member, lengths),
            Engine::Client(engine) => engine.agree(member, lengths),
        }
    }

    /// Records of this member's inputs go in, in order, and those of its outputs come out.
    fn run(
        &mut self,
        member: &MemberSession,
        bound: &Bound,
        program: Option<&Arc<Program>>,
        own: &[Zeroizing<Vec<u8>>],
    ) -> Result<Vec<Zeroizing<Vec<u8>>>, JobError> {
        let missing = || JobError::internal("computing", "there is no circuit");
        match self {
            Engine::Three(engine) => engine.run(member, bound, program.ok_or_else(missing)?, own),
            Engine::Two(engine) => engine.run(member, bound, program.ok_or_else(missing)?, own),
            Engine::Client(engine) => engine.run(member, bound, own),
        }
    }

    fn into_links(self) -> Links {
        match self {
            Engine::Three(engine) => engine.into_links(),
            Engine::Two(engine) => engine.into_links(),
            Engine::Client(engine) => engine.into_links(),
        }
    }
}

impl Part for ComputePart {
    type Learnt = Computed;

    fn compute(&mut self, member: &mut MemberSession) -> Result<Links, JobError> {
        let mut engine = self.engine(member)?;
        let lengths = Lengths::new(self.task.unbound(), &self.symbols, &member.config.me);
        if !lengths.is_empty() {
            self.symbols.extend(engine.agree(member, lengths)?);
        }
        let bound = self.task.bound(&self.symbols)?;
        let program = match member.config.me {
            Member::Party(_) => Some(Arc::new(bound.program()?)),
            Member::Client(_) => None,
        };
        self.ands = program.as_ref().map_or(0, |program| program.ands());
        (member.observer)(Event::Progress(0, self.ands));
        let own: Vec<_> = self.inputs.drain(..).map(|values| values.records).collect();
        let learnt = engine.run(member, &bound, program.as_ref(), &own)?;
        for ((j, sink), records) in self.sinks.iter_mut().zip(learnt) {
            sink.put(&bound.outputs[*j], records);
        }
        (member.observer)(Event::Progress(self.ands, self.ands));
        Ok(engine.into_links())
    }

    fn prepare(&mut self) -> Result<(), JobError> {
        self.sinks.iter().try_for_each(|(_, sink)| sink.prepare())
    }

    fn commit(self) -> Result<Computed, JobError> {
        let mut learnt = Computed { symbols: self.symbols, ands: self.ands, ..Computed::default() };
        self.sinks.into_iter().try_for_each(|(j, sink)| sink.commit(j, &mut learnt))?;
        Ok(learnt)
    }
}
