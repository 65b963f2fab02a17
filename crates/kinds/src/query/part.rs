//! One member's part of a query: it reads its parts of tables, takes part in the computation, and
//! writes the result. An error that depends on the result is reported only when no other member
//! waits for this one any more.

#[cfg(feature = "parquet")]
use super::shards::{PartOnShards, ReadOnShards};
use super::{
    Answer, QueryTask, RESULT,
    plan::of_query,
    rows::{csv, read, shown},
    source::{check_output, is_parquet},
};
use crate::{ComputePart, compute::is_first};
use hushwire_block::Wiped;
use hushwire_compute::Tensor;
use hushwire_fault::code;
use hushwire_session::{
    Event, Fault, InputPlace, Member, MemberConfig, NewFile, OutputPlace, Part, Shards,
    run::{Links, MemberSession},
    suggest,
};
use hushwire_tables::plain::Row;
use std::{collections::BTreeMap, io::Write};

/// A result's rows: fields as text, NULLs as `None`.
type Fields = Vec<Vec<Option<String>>>;

/// A member's rows before the run, and the place of the result.
pub struct QueryPart {
    task: QueryTask,
    inner: ComputePart,
    me: Member,
    /// On several shards: the inputs that the first shard has read, and those that shards read
    /// together after they have met.
    whole: BTreeMap<String, Wiped<Vec<u8>>>,
    #[cfg(feature = "parquet")]
    parts: Vec<PartOnShards>,
    /// Remarks for the owner on how its files are read.
    remarks: Vec<String>,
    /// Whether this member learns the result.
    learns: bool,
    file: Option<NewFile>,
    /// Whether the result is a Parquet file.
    parquet: bool,
    /// Whether the rows are returned to the caller.
    shows: bool,
    rows: Option<Fields>,
    /// An error of the result itself. Only members that learn the result may know of it, so it is
    /// reported when no other member waits for this one any more.
    late: Option<Fault>,
}

/// The error for rows that differ from the agreement, with their file.
pub(super) fn of_file(e: Fault, place: &InputPlace) -> Fault {
    let e = of_query(e);
    match place.path() {
        Some(path) => e.step_and(format_args!(", {}", path.display())),
        None => e,
    }
}

impl QueryPart {
    pub(super) fn open(task: &QueryTask, config: &mut MemberConfig) -> Result<Self, Fault> {
        let (me, query) = (config.me.clone(), task.query());
        let first = is_first(config);
        let learns = task.job().to.contains(&me);
        let mine: Vec<&str> =
            task.parts_of(&me).iter().map(|(table, _)| query.tables()[*table].name.as_str()).collect();
        let declared = |name: &String| {
            let parts = task.job().tables.iter().filter(|table| table.name == *name);
            parts.flat_map(|table| &table.parts).any(|part| part.owner == me)
        };
        if let Some(odd) = config.inputs.keys().find(|name| !declared(name)) {
            let cause = format!("{me} does not bring a table called `{odd}`");
            return Err(Fault::new(code::QUERY, "reading tables", cause, suggest::remedy(odd, &mine)));
        }
        let (mut inputs, mut remarks) = (BTreeMap::new(), vec![]);
        let is_on_shards = config.shard.as_ref().is_some_and(|place| place.shards > 1);
        #[cfg(feature = "parquet")]
        let mut parts = vec![];
        for (at, part) in task.parts_of(&me) {
            let table = &query.tables()[at];
            let base = task.job().tables.iter().find(|known| known.name == table.name);
            let base = base.map(|known| known.dialect.clone()).unwrap_or_default();
            #[cfg(feature = "parquet")]
            if is_on_shards {
                let found = PartOnShards::find(task, (at, part), &base, config)?;
                let is_read_later = found.is_found();
                parts.push(found);
                if is_read_later {
                    continue;
                }
            }
            // The other shards get their rows from the first one.
            if !first {
                continue;
            }
            let place = config.inputs.get(&table.name).ok_or_else(|| {
                let remedy =
                    format!("add {} = {{ file = \"{}.csv\" }} under [inputs]", table.name, table.name);
                Fault::new(
                    code::QUERY,
                    "reading tables",
                    format!("{me} has no rows of table {}", table.name),
                    remedy,
                )
            })?;
            let taken = |e| of_file(e, place);
            let mut incoming = query.incoming(&table.name, part).map_err(of_query)?;
            let letters = query.letters(&table.name);
            let take = |rows: &[Row]| incoming.take(rows).map_err(taken);
            remarks.extend(read(table, (place, &base), &task.digest_key(), &letters, take)?);
            inputs.extend(incoming.finish().map_err(taken)?);
        }
        let inputs: BTreeMap<_, _> =
            inputs.into_iter().map(|(name, records)| (name, Wiped::new(records))).collect();

        let place = config.outputs.remove(RESULT).filter(|_| learns);
        if let Some(odd) = config.outputs.keys().next() {
            let known: &[&str] = if learns { &[RESULT] } else { &[] };
            let cause = format!("{me} does not learn an output called `{odd}`");
            return Err(Fault::new(code::QUERY, "preparing the result", cause, suggest::remedy(odd, known)));
        }
        let place = place.filter(|_| first);
        let learns = learns && first;
        let mut create = |path| config.files.create("for the result", path, &task.writer(), 0o600);
        let mut parquet = false;
        let file = match &place {
            Some(OutputPlace::Csv(path) | OutputPlace::File(path)) => {
                check_output(path)?;
                parquet = is_parquet(path);
                Some(create(path)?)
            }
            Some(OutputPlace::HexFile(_) | OutputPlace::Unnamed) => {
                let remedy = "write result = { csv = \"result.csv\" }";
                return Err(Fault::new(code::QUERY, "preparing the result", "a query gives rows", remedy));
            }
            _ => None,
        };
        let shows = learns && matches!(place, None | Some(OutputPlace::Show | OutputPlace::Memory));
        let (inner, whole) = if is_on_shards {
            (ComputePart::of_shard(task.compute(), config)?, inputs)
        } else {
            (ComputePart::of(task.compute(), config, inputs)?, BTreeMap::new())
        };
        let words = task.clone();
        let words = move |node| words.query().operator_of(node).to_owned();
        let inner = inner.with_words(std::sync::Arc::new(words));
        let task = task.clone();
        Ok(Self {
            task,
            inner,
            me,
            whole,
            #[cfg(feature = "parquet")]
            parts,
            remarks,
            learns,
            file,
            parquet,
            shows,
            rows: None,
            late: None,
        })
    }

    /// The result as text, and the bytes of its file if there is one. Every error here depends on
    /// the result.
    fn formed(&self) -> Result<(Fields, Vec<u8>), Fault> {
        let query = self.task.query();
        let outputs = self.inner.learnt().map(|(j, extent, records)| {
            let tensor = Tensor::from_records(extent.scalar, &extent.lengths, records);
            (query.computation().outputs()[j].name.clone(), tensor)
        });
        let values = query.rows(&outputs.collect()).map_err(of_query)?;
        let rows = shown(query.schema(), &values);
        let mut bytes = vec![];
        if self.file.is_some() {
            if self.parquet {
                #[cfg(feature = "parquet")]
                super::rows::parquet(&mut bytes, query.schema(), &values)?;
            } else {
                bytes = csv(query.schema(), &rows)?;
            }
        }
        Ok((rows, bytes))
    }
}

impl Part for QueryPart {
    type Learnt = Answer;

    fn compute(&mut self, member: &mut MemberSession) -> Result<Links, Fault> {
        self.remarks.drain(..).for_each(|remark| (member.observer)(Event::Note(remark)));
        self.inner.compute(member)
    }

    #[cfg(feature = "parquet")]
    fn among(&mut self, shards: &Shards) -> Result<(), Fault> {
        let mut read = ReadOnShards { whole: std::mem::take(&mut self.whole), ..ReadOnShards::default() };
        self.parts.drain(..).try_for_each(|part| part.read(&self.task, shards, &mut read))?;
        self.remarks.extend(read.remarks);
        self.inner.bring(&self.me, read.whole, read.rows)
    }

    #[cfg(not(feature = "parquet"))]
    fn among(&mut self, _: &Shards) -> Result<(), Fault> {
        self.inner.bring(&self.me, std::mem::take(&mut self.whole), BTreeMap::new())
    }

    fn prepare(&mut self) -> Result<(), Fault> {
        self.inner.prepare()?;
        if !self.learns {
            return Ok(());
        }
        match self.formed() {
            Ok((rows, bytes)) => {
                if let Some(file) = &self.file {
                    file.writer()?.write_all(&bytes).map_err(|e| file.error(&e))?;
                    file.sync()?;
                }
                self.rows = Some(rows);
            }
            // An error now would tell all members that a promise is broken. A member could choose
            // rows to find that out.
            Err(e) => self.late = Some(e),
        }
        Ok(())
    }

    fn commit(mut self) -> Result<Answer, Fault> {
        if let Some(late) = self.late.take() {
            return Err(late);
        }
        self.inner.commit()?;
        self.file.take().map_or(Ok(()), NewFile::commit)?;
        Ok(self.task.answer(self.rows.take(), self.shows))
    }
}
