//! One member's part of a computation.

use super::{
    ComputeTask, Computed,
    outputs::{Sink, sinks},
    run,
    values::Values,
};
use hushwire_fault::code;
use hushwire_session::{
    Event, Fault, FromDisk, InputPlace, Member, MemberConfig, Part,
    run::{Links, MemberSession},
    suggest,
};
use std::collections::BTreeMap;

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

impl Part for ComputePart {
    type Learnt = Computed;

    fn compute(&mut self, member: &mut MemberSession) -> Result<Links, Fault> {
        let brings = |member: &Member| self.task.inputs_of(member).next().is_some();
        let mut engine = run::open(member, self.task.chosen(), self.task.threads(), brings)?;
        let own = std::mem::take(&mut self.inputs);
        let observer = member.observer.clone();
        self.remarks.iter().for_each(|remark| observer(Event::Note(remark.clone())));
        let mut hears = |done, whole| {
            observer(Event::Progress(done, whole));
            true
        };
        let ran =
            run::run(&mut *engine, member, &self.task, std::mem::take(&mut self.symbols), own, &mut hears)?;
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
