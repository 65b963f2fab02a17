//! One member's part of a computation.

#[cfg(feature = "two")]
use super::pair::Pair;
use super::{
    ComputeTask, Computed,
    bound::{Bound, Form, says},
    client::Client,
    lengths::{Lengths, Told},
    many::Many,
    outputs::{Sink, sinks},
    threads::within,
    three::Three,
    two::Two,
    values::Values,
};
use crate::{
    Event, Fault, FromDisk, InputPlace, Member, MemberConfig, Part, Protocol,
    flow::COMPUTE,
    run::{self, MemberSession},
    suggest,
};
use hushwire_fault::code;
use hushwire_machine::Channel;
use std::collections::BTreeMap;
use zeroize::Zeroizing;

/// Hears what is done, of how much, and says whether to go on.
pub(super) type GoOn<'a> = &'a mut dyn FnMut(u64, u64) -> bool;

/// The end of a run that its program cancelled.
pub(super) fn cancelled() -> Fault {
    Fault::new(code::CANCELLED, COMPUTE, "the program cancelled the run", "connect anew to compute again")
}

/// The inputs of one member, read, and its outputs, begun.
pub struct ComputePart {
    task: ComputeTask,
    inputs: BTreeMap<String, Values>,
    sinks: Vec<(usize, Sink)>,
    /// The numbers that its inputs, and the job, give symbols.
    symbols: BTreeMap<String, u64>,
    ands: u64,
    from_disk: Option<FromDisk>,
    /// Remarks on its inputs for their owner.
    remarks: Vec<String>,
}

impl ComputePart {
    pub(super) fn open(task: &ComputeTask, config: &mut MemberConfig) -> Result<Self, Fault> {
        let me = config.me.clone();
        task.complete()?;
        let names: Vec<&str> = task.inputs_of(&me).map(|(_, name, _)| name).collect();
        if let Some(odd) = config.inputs.keys().find(|name| !names.contains(&name.as_str())) {
            let cause = format!("{me} does not bring an input called `{odd}`");
            return Err(Fault::new(code::COMPUTATION, "reading inputs", cause, suggest::remedy(odd, &names)));
        }
        let mut symbols = task.known().clone();
        let (mut inputs, mut lengths, mut remarks) = (BTreeMap::new(), BTreeMap::new(), vec![]);
        for (_, name, ty) in task.inputs_of(&me) {
            let place = config.inputs.get_mut(name).ok_or_else(|| lacks(&me, name))?;
            let mut values = match place {
                // The only copy, where nobody else has one.
                InputPlace::Memory(bytes) => Values::taken(name, ty, std::mem::take(bytes), &symbols)?,
                place => Values::read(name, ty, place, &symbols)?,
            };
            task.promised(name, &values)?;
            remarks.extend(values.remark.take());
            lengths.insert(name.to_owned(), values.lengths.clone());
            symbols = task.lengths(&symbols, &lengths)?;
            inputs.insert(name.to_owned(), values);
        }
        let own = task.own(&symbols, &me)?;
        if task.unbound().iter().all(|symbol| symbols.contains_key(symbol)) {
            // What these lengths violate shows before anybody is dialled.
            task.bound_within(&symbols, &own)?;
        }
        let sinks = sinks(task, config)?;
        Ok(Self { task: task.clone(), inputs, sinks, symbols, ands: 0, from_disk: None, remarks })
    }
}

#[cfg(any(feature = "nn", feature = "sql"))]
impl ComputePart {
    /// The records of what this member learns, by the output's place, once they are computed.
    pub(crate) fn learnt(&self) -> impl Iterator<Item = (usize, &super::bound::Extent, &[u8])> {
        self.sinks
            .iter()
            .filter_map(|(j, sink)| sink.records().map(|(extent, records)| (*j, extent, records)))
    }
}

fn lacks(me: &Member, name: &str) -> Fault {
    let remedy = format!("add {name} = {{ csv = \"…\", column = \"…\" }} under [inputs]");
    Fault::new(code::COMPUTATION, "reading inputs", format!("{me} has no values for input `{name}`"), remedy)
}

/// A member's links, set up once; computations run on them one after the other.
pub(super) enum Engine {
    Three(Box<Three>),
    Two(Box<Two>),
    Many(Box<Many>),
    #[cfg(feature = "two")]
    Pair(Box<Pair>),
    Client(Box<Client>),
}

/// Links to other members: at a party each leads to somebody and from somebody, at a client one way.
#[derive(Default)]
pub(super) struct Links<'e> {
    pub(super) both: Vec<&'e mut Channel>,
    pub(super) to: Vec<&'e mut Channel>,
    pub(super) from: Vec<&'e mut Channel>,
}

/// A computation's outputs at a member: lengths, and the records of those that it learns.
pub(super) struct Ran {
    pub(super) symbols: BTreeMap<String, u64>,
    pub(super) bound: Bound,
    pub(super) ands: u64,
    pub(super) learnt: Vec<Zeroizing<Vec<u8>>>,
}

impl Engine {
    /// Meets the others. `brings` tells who owns an input.
    pub(super) fn open(
        member: &mut MemberSession,
        chosen: crate::Chosen,
        threads: u16,
        brings: impl Fn(&Member) -> bool,
    ) -> Result<Self, Fault> {
        Ok(match (member.config.me.clone(), chosen.protocol) {
            (me @ Member::Client(_), _) => Engine::Client(Box::new(Client::open(member, brings(&me))?)),
            (Member::Party(index), Protocol::Rep3) => {
                Engine::Three(Box::new(Three::open(member, index, threads, brings)?))
            }
            (Member::Party(index), Protocol::Yao | Protocol::Gmw) => {
                Engine::Two(Box::new(Two::open(member, index, chosen)?))
            }
            #[cfg(feature = "two")]
            (Member::Party(index), Protocol::Two) => {
                Engine::Pair(Box::new(Pair::open(member, index, chosen)?))
            }
            #[cfg(not(feature = "two"))]
            (Member::Party(_), Protocol::Two) => {
                return Err(Fault::internal(COMPUTE, "this build has no protocol two"));
            }
            (Member::Party(index), Protocol::Authgarble(_) | Protocol::Ywz20(_)) => {
                Engine::Many(Box::new(Many::open(member, index, chosen, threads)?))
            }
        })
    }

    /// Agrees on lengths, of which this member knows `symbols`, and runs a computation: this member's inputs go in, and records of
    /// its outputs come out.
    pub(super) fn run(
        &mut self,
        member: &MemberSession,
        task: &ComputeTask,
        mut symbols: BTreeMap<String, u64>,
        own: BTreeMap<String, Values>,
        go_on: GoOn<'_>,
    ) -> Result<Ran, Fault> {
        let lengths = Lengths::new(task.open_symbols(), &symbols, &member.config.me);
        let mut told = Told::new();
        if !lengths.is_empty() {
            told = match self {
                Engine::Three(engine) => engine.agree(member, lengths),
                Engine::Two(engine) => engine.agree(member, lengths),
                Engine::Many(engine) => engine.agree(member, lengths),
                #[cfg(feature = "two")]
                Engine::Pair(engine) => engine.agree(member, lengths),
                Engine::Client(engine) => engine.agree(member, lengths),
            }?;
            symbols.extend(told.iter().map(|(symbol, (n, _))| (symbol.clone(), *n)));
        }
        let bound = task.bound_within(&symbols, &told)?;
        let own = bound.brought(&member.config.me, own)?;
        // Clients take it for the form in which values come and go.
        let form = bound.form_within(task.chosen(), task.most_memory(&told)).map_err(|e| says(&told, e))?;
        let bound = bound.through(&form);
        let ands = match self {
            Engine::Client(_) => 0,
            _ => form.ands(),
        };
        if let (Engine::Three(engine), Form::Steps(plan)) = (&mut *self, &form) {
            engine.cut(|cut| within(plan, cut, task.job().memory))?;
        }
        #[cfg(feature = "two")]
        if let (Engine::Pair(engine), Form::Pair(plan)) = (&mut *self, &form) {
            engine.keep_to(plan, task.most_memory(&told)).map_err(|e| says(&told, e))?;
        }
        if !go_on(0, ands) {
            return Err(cancelled());
        }
        let learnt = match self {
            Engine::Three(engine) => engine.run(member, &bound, &form, &own, go_on)?,
            Engine::Two(engine) => engine.run(member, &bound, &form, &own)?,
            Engine::Many(engine) => engine.run(member, &bound, &form, &own)?,
            #[cfg(feature = "two")]
            Engine::Pair(engine) => engine.run(member, &bound, &form, &own, go_on)?,
            Engine::Client(engine) => engine.run(member, &bound, own)?,
        };
        if ands > 0 {
            go_on(ands, ands);
        }
        Ok(Ran { symbols, bound, ands, learnt })
    }

    /// The links to other members besides those of computing.
    pub(super) fn links(&mut self) -> Links<'_> {
        match self {
            Engine::Three(engine) => engine.links(),
            Engine::Two(engine) => Links { both: vec![&mut engine.control], ..Links::default() },
            Engine::Many(engine) => Links { both: engine.control.iter_mut().collect(), ..Links::default() },
            #[cfg(feature = "two")]
            Engine::Pair(engine) => Links { both: vec![&mut engine.control], ..Links::default() },
            Engine::Client(engine) => engine.links(),
        }
    }

    /// The phases of the last run that came from this party's shelf, where there is one.
    fn taken(&self) -> Option<FromDisk> {
        match self {
            Engine::Many(engine) => engine.from_disk,
            _ => None,
        }
    }

    fn into_links(self) -> run::Links {
        match self {
            Engine::Three(engine) => engine.into_links(),
            Engine::Two(engine) => engine.into_links(),
            Engine::Many(engine) => engine.into_links(),
            #[cfg(feature = "two")]
            Engine::Pair(engine) => engine.into_links(),
            Engine::Client(engine) => engine.into_links(),
        }
    }
}

impl Part for ComputePart {
    type Learnt = Computed;

    fn compute(&mut self, member: &mut MemberSession) -> Result<run::Links, Fault> {
        let brings = |member: &Member| self.task.inputs_of(member).next().is_some();
        let mut engine = Engine::open(member, self.task.chosen(), self.task.threads(), brings)?;
        let own = std::mem::take(&mut self.inputs);
        let observer = member.observer.clone();
        self.remarks.iter().for_each(|remark| observer(Event::Note(remark.clone())));
        let mut hears = |done, whole| {
            observer(Event::Progress(done, whole));
            true
        };
        let ran = engine.run(member, &self.task, std::mem::take(&mut self.symbols), own, &mut hears)?;
        (self.symbols, self.ands, self.from_disk) = (ran.symbols, ran.ands, engine.taken());
        for ((j, sink), records) in self.sinks.iter_mut().zip(ran.learnt) {
            sink.put(&ran.bound.outputs[*j], records);
        }
        Ok(engine.into_links())
    }

    fn prepare(&mut self) -> Result<(), Fault> {
        self.sinks.iter().try_for_each(|(_, sink)| sink.prepare())
    }

    fn commit(self) -> Result<Computed, Fault> {
        let (symbols, ands, from_disk) = (self.symbols, self.ands, self.from_disk);
        let mut learnt = Computed { symbols, ands, from_disk, remarks: self.remarks, ..Computed::default() };
        self.sinks.into_iter().try_for_each(|(j, sink)| sink.commit(j, &mut learnt))?;
        Ok(learnt)
    }
}
