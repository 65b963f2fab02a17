//! One member's part of a computation: its inputs, its runs, and its outputs.

use super::{
    ComputeTask, Computed,
    bound::BoundComputation,
    outputs::{Sink, sinks},
    run,
    shards::{OwnInputs, is_first},
    values::Values,
};
#[cfg(any(feature = "nn", feature = "sql"))]
use hushwire_block::Wiped;
use hushwire_compute::{Type, Value};
use hushwire_fault::code;
use hushwire_session::{
    Event, Fault, FromDisk, InputPlace, Member, MemberConfig, Part, SealedShare, SealedSink,
    run::{Links, MemberSession},
    suggest,
};
use std::{collections::BTreeMap, sync::Arc};

/// The name in errors of the step that opens inputs.
const READING: &str = "reading inputs";

/// The inputs of one member, read, and its outputs, prepared.
pub struct ComputePart {
    task: ComputeTask,
    inputs: OwnInputs,
    sinks: Vec<(usize, Sink)>,
    /// The numbers that its inputs and the job give to symbols.
    symbols: BTreeMap<String, u64>,
    /// The computation with these lengths, if no other member tells any.
    bound: Option<BoundComputation>,
    ands: u64,
    from_disk: Option<FromDisk>,
    /// Remarks for the owner on its inputs.
    remarks: Vec<String>,
    /// At a party: stores the shares that are sealed for recipients that are not connected.
    sink: Option<Arc<dyn SealedSink>>,
    sealed: Vec<(String, SealedShare)>,
    /// The descriptions of the work under way, if they differ from the computation's.
    words: Option<PhaseWords>,
}

/// Describes the operation that most of a wave belongs to.
pub(crate) type PhaseWords = Arc<dyn Fn(Value) -> String + Send + Sync>;

/// A member's inputs.
pub(super) struct Brought {
    pub(super) inputs: BTreeMap<String, Values>,
    /// The numbers that these inputs and the job give to symbols.
    pub(super) symbols: BTreeMap<String, u64>,
    remarks: Vec<String>,
}

impl Brought {
    /// Reads the inputs at the first of a member's shards; the others bring nothing.
    fn at(
        first: bool,
        task: &ComputeTask,
        me: &Member,
        remedy: impl Fn(&str) -> String,
        value: impl FnMut(&str, &Type, &BTreeMap<String, u64>) -> Option<Result<Values, Fault>>,
    ) -> Result<Self, Fault> {
        if first {
            return Self::new(task, me, remedy, value);
        }
        Ok(Self { inputs: BTreeMap::new(), symbols: task.known().clone(), remarks: vec![] })
    }

    /// The inputs of `me`: `value` returns each by its name and type, with the symbols known so
    /// far.
    pub(super) fn new(
        task: &ComputeTask,
        me: &Member,
        remedy: impl Fn(&str) -> String,
        mut value: impl FnMut(&str, &Type, &BTreeMap<String, u64>) -> Option<Result<Values, Fault>>,
    ) -> Result<Self, Fault> {
        let mut brought = Self { inputs: BTreeMap::new(), symbols: task.known().clone(), remarks: vec![] };
        let mut lengths = BTreeMap::new();
        for (_, name, ty) in task.inputs_of(me) {
            let lacks = || {
                let cause = format!("{me} has no values for input `{name}`");
                Fault::new(code::COMPUTATION, READING, cause, remedy(name))
            };
            let mut values = value(name, ty, &brought.symbols).ok_or_else(lacks)??;
            task.promised(name, &values)?;
            brought.remarks.extend(values.remark.take());
            lengths.insert(name.to_owned(), values.lengths.clone());
            brought.symbols = task.lengths(&brought.symbols, &lengths)?;
            brought.inputs.insert(name.to_owned(), values);
        }
        Ok(brought)
    }

    /// Refuses a name that is not an input of `me`.
    pub(super) fn check<'a>(
        task: &ComputeTask,
        me: &Member,
        mut names: impl Iterator<Item = &'a String>,
    ) -> Result<(), Fault> {
        let own: Vec<&str> = task.inputs_of(me).map(|(_, name, _)| name).collect();
        let odd = names.find(|name| !own.contains(&name.as_str()));
        odd.map_or(Ok(()), |odd| {
            let cause = format!("{me} does not bring an input called `{odd}`");
            Err(Fault::new(code::COMPUTATION, READING, cause, suggest::remedy(odd, &own)))
        })
    }
}

impl ComputePart {
    pub(super) fn open(task: &ComputeTask, config: &mut MemberConfig) -> Result<Self, Fault> {
        let me = config.me.clone();
        task.complete()?;
        let first = is_first(config);
        Brought::check(task, &me, config.inputs.keys())?;
        let remedy = |name: &str| format!("add {name} = {{ csv = \"…\", column = \"…\" }} under [inputs]");
        let brought = Brought::at(first, task, &me, remedy, |name, ty, symbols| {
            Some(match config.inputs.get_mut(name)? {
                // Takes the only copy if nobody else holds one.
                InputPlace::Memory(bytes) => Values::taken(name, ty, std::mem::take(bytes), symbols),
                place => Values::read(name, ty, place, symbols),
            })
        })?;
        let symbols = task.keeps(config, brought.symbols)?;
        let sink = config.sealed.clone();
        let sinks = |_: &ComputeTask| if first { sinks(task, config) } else { Ok(Sink::none(task, &me)) };
        let part = Self::new(task, &me, Brought { symbols, ..brought }, sinks)?;
        Ok(Self { sink, ..part })
    }

    fn new(
        task: &ComputeTask,
        me: &Member,
        Brought { inputs, symbols, remarks }: Brought,
        sinks: impl FnOnce(&ComputeTask) -> Result<Vec<(usize, Sink)>, Fault>,
    ) -> Result<Self, Fault> {
        let (own, open) = (task.own(&symbols, me)?, task.unbound());
        // Lengths that do not fit are refused before any member is dialled. If no other member
        // tells lengths, this computation is the one that runs.
        let all = open.iter().all(|symbol| symbols.contains_key(symbol));
        let bound = all.then(|| task.bound_within(&symbols, &own)).transpose()?;
        let (bound, sinks) = (bound.filter(|_| open.is_empty()), sinks(task)?);
        if let Some(bound) = &bound {
            // Members plan at the same time, before they meet. The run reports an error of it.
            let _ = bound.form_within(task.chosen(), task.most_memory(&own));
        }
        let task = task.clone();
        let (from_disk, sink, sealed, words) = (None, None, vec![], None);
        let inputs = OwnInputs { whole: inputs, ..OwnInputs::default() };
        Ok(Self { task, inputs, sinks, symbols, bound, ands: 0, from_disk, remarks, sink, sealed, words })
    }
}

#[cfg(any(feature = "nn", feature = "sql"))]
impl ComputePart {
    /// The part of another kind of job, which makes the records from its members' files and fetches
    /// the outputs by [`ComputePart::learnt`].
    pub(crate) fn of(
        task: &ComputeTask,
        config: &MemberConfig,
        mut records: BTreeMap<String, Wiped<Vec<u8>>>,
    ) -> Result<Self, Fault> {
        let me = &config.me;
        let brought = Brought::at(
            is_first(config),
            task,
            me,
            |_| "bring them".to_owned(),
            |name, ty, _| {
                let (records, lengths) = (records.remove(name)?, ty.shape.lengths()?);
                Some(Ok(Values { scalar: ty.scalar, lengths, records, remark: None }))
            },
        )?;
        let symbols = task.keeps(config, brought.symbols)?;
        let brought = Brought { symbols, ..brought };
        let kept = |task: &ComputeTask| Ok(Sink::none(task, me));
        Ok(Self { sink: config.sealed.clone(), ..Self::new(task, me, brought, kept)? })
    }

    /// Like [`ComputePart::of`], for a member on several shards. The records follow by
    /// [`ComputePart::bring`].
    #[cfg(feature = "sql")]
    pub(crate) fn of_shard(task: &ComputeTask, config: &MemberConfig) -> Result<Self, Fault> {
        let brought = Brought { inputs: BTreeMap::new(), symbols: task.known().clone(), remarks: vec![] };
        let symbols = task.keeps(config, brought.symbols)?;
        let kept = |task: &ComputeTask| Ok(Sink::none(task, &config.me));
        let part = Self::new(task, &config.me, Brought { symbols, ..brought }, kept)?;
        Ok(Self { sink: config.sealed.clone(), ..part })
    }

    /// Takes the records of inputs that the first shard holds as a whole, and of inputs of which
    /// each shard holds its rows.
    #[cfg(feature = "sql")]
    pub(crate) fn bring(
        &mut self,
        me: &Member,
        mut whole: BTreeMap<String, Wiped<Vec<u8>>>,
        mut rows: BTreeMap<String, Wiped<Vec<u8>>>,
    ) -> Result<(), Fault> {
        for (_, name, ty) in self.task.inputs_of(me) {
            let values = |records: Wiped<Vec<u8>>, lengths| {
                let values = Values { scalar: ty.scalar, lengths, records, remark: None };
                self.task.promised(name, &values)?;
                Ok::<_, Fault>((name.to_owned(), values))
            };
            if let (Some(records), Some(lengths)) = (whole.remove(name), ty.shape.lengths()) {
                self.inputs.whole.extend([values(records, lengths)?]);
            } else if let Some(records) = rows.remove(name) {
                let lengths = vec![records.len() / ty.scalar.record()];
                self.inputs.rows.extend([values(records, lengths)?]);
            }
        }
        Ok(())
    }

    /// Sets the kind's own descriptions of the work under way.
    #[cfg(feature = "sql")]
    pub(crate) fn with_words(self, words: PhaseWords) -> Self {
        Self { words: Some(words), ..self }
    }

    /// The records of the outputs that this member learns, with their places, after the run.
    pub(crate) fn learnt(&self) -> impl Iterator<Item = (usize, &super::bound::Extent, &[u8])> {
        self.sinks
            .iter()
            .filter_map(|(j, sink)| sink.records().map(|(extent, records)| (*j, extent, records)))
    }
}

impl Part for ComputePart {
    type Learnt = Computed;

    fn compute(&mut self, member: &mut MemberSession) -> Result<Links, Fault> {
        let brings = |member: &Member| self.task.inputs_of(member).next().is_some();
        let mut engine = run::open(member, self.task.chosen(), self.task.threads(), brings)?;
        let own = std::mem::take(&mut self.inputs);
        let (observer, cancel) = (member.observer.clone(), member.config.cancel.clone());
        self.remarks.iter().for_each(|remark| observer(Event::Note(remark.clone())));
        let mut hears = |done, whole| {
            observer(Event::Progress(done, whole));
            !cancel.asked()
        };
        let ran = {
            let ready = (std::mem::take(&mut self.symbols), self.bound.take());
            let words = self.words.clone();
            let names = |bound: &BoundComputation, node| {
                words.as_ref().map_or_else(|| bound.computation.operation_of(node), |words| words(node))
            };
            run::run(&mut *engine, member, &self.task, ready, own, Some(&names), &mut hears)?
        };
        self.sealed = engine.sealed();
        (self.symbols, self.ands, self.from_disk) = (ran.symbols, ran.ands, engine.taken());
        for ((j, sink), records) in self.sinks.iter_mut().zip(ran.learnt) {
            sink.put(&ran.bound.outputs[*j], records);
        }
        Ok(engine.into_links())
    }

    fn prepare(&mut self) -> Result<(), Fault> {
        for (recipient, share) in std::mem::take(&mut self.sealed) {
            let missing = || Fault::internal("writing outputs", "nobody takes sealed shares");
            self.sink.as_ref().ok_or_else(missing)?.take(&recipient, share)?;
        }
        self.sinks.iter().try_for_each(|(_, sink)| sink.prepare())
    }

    fn commit(self) -> Result<Computed, Fault> {
        let (symbols, ands, from_disk) = (self.symbols, self.ands, self.from_disk);
        let mut learnt = Computed { symbols, ands, from_disk, remarks: self.remarks, ..Computed::default() };
        self.sinks.into_iter().try_for_each(|(j, sink)| sink.commit(j, &mut learnt))?;
        Ok(learnt)
    }
}
