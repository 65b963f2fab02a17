//! One party's part of an intersection.

use super::{
    Common, Intersection, PsiReveal, PsiTask,
    found::{Ended, Find, Learnt, Theirs},
    plan::MethodPlan,
    rows::{Refused, Table},
};
use hushwire_files::{FileError, csv_line, is_parquet};
use hushwire_machine::{PartyId, Reason};
use hushwire_psi::{KeySpec, LeftOut, Normal, PsiError, Sample, TableKeys, amounts, plain::Payloads};
use hushwire_session::{
    Agreement, Event, Fault, Member, MemberConfig, NewFile, OutputPlace, Part,
    engine::{Failure, Seat},
    explain,
    run::{Links, MemberSession},
};
use std::io::Write;
use zeroize::Zeroizing;

/// The name of the step in errors.
const STEP: &str = "the intersection";

/// A party's keys, and the place of its result.
pub struct PsiPart {
    task: PsiTask,
    index: u8,
    table: Table,
    spec: KeySpec,
    /// The keys, until they are digests. If keys are returned to the caller, they stay to the end.
    keys: Option<TableKeys>,
    /// Remarks for the owner on how its files are read.
    of_reading: Vec<String>,
    /// The amount of each row, if amounts are summed.
    amounts: Zeroizing<Vec<i64>>,
    /// The payload of each different key, if the other party learns columns.
    pub(super) payloads: Payloads,
    file: Option<NewFile>,
    /// Whether the result is a Parquet file.
    as_parquet: bool,
    /// Whether the result is returned to the caller.
    shows: bool,
    /// The protocol's findings, once it has ended.
    ended: Option<Ended>,
    /// An error of the result itself. It is reported only when the peer waits for nothing more,
    /// because it would otherwise tell the peer about common rows.
    late: Option<Fault>,
    /// The contents of the result's file, if the caller gets them instead.
    text: Option<Vec<u8>>,
}

impl PsiPart {
    pub(super) fn open(task: &PsiTask, config: &mut MemberConfig) -> Result<Self, Fault> {
        let Member::Party(index) = config.me else {
            return Err(Fault::internal(STEP, "a client cannot take part"));
        };
        let spec = task.job.key(index).map_err(|e| Fault::internal(STEP, e))?;
        let again = task.tells_rows() || task.summed(index).is_some();
        let base = &task.job.dialects[usize::from(index == 1)];
        let table = Table::new(task.csv(config)?, base, again)?;
        let mut rows = table.open().map_err(of_file)?;
        let keys = TableKeys::from_rows(table.path(), &mut rows, &spec).map_err(of_file)?;
        let of_reading = rows.remarks().to_vec();
        drop(rows);
        let amounts = match task.summed(index) {
            None => Zeroizing::default(),
            Some(column) => {
                let read = table.open().and_then(|mut rows| amounts(&mut rows, column));
                read.map_err(of_file)?
            }
        };
        let payloads = match task.carried() {
            None => Payloads::default(),
            Some(carried) if task.learns(&config.me) => {
                table.open().and_then(|rows| carried.check_result(table.path(), &rows)).map_err(of_file)?;
                Payloads::default()
            }
            Some(carried) => carried.read(table.path(), || table.open(), &keys).map_err(of_file)?,
        };
        let place = task.result(config)?;
        let as_parquet = matches!(&place, OutputPlace::File(path) if is_parquet(path));
        if let OutputPlace::File(path) = &place {
            task.check_result(path)?;
        }
        if task.tells_rows() && place != OutputPlace::Discard {
            table.check(&task.job.reveal, as_parquet).map_err(of_file)?;
        }
        let file = match &place {
            OutputPlace::File(path) => {
                Some(config.files.create("for output result", path, &task.writer(), 0o600)?)
            }
            _ => None,
        };
        let shows = matches!(place, OutputPlace::Show | OutputPlace::Memory);
        Ok(Self {
            task: task.clone(),
            index,
            table,
            spec,
            keys: Some(keys),
            of_reading,
            amounts,
            payloads,
            file,
            as_parquet,
            shows,
            ended: None,
            late: None,
            text: None,
        })
    }

    /// Remarks for the owner: how its files are read, how keys are compared if that changes any,
    /// and how many rows are in no set since a field is malformed.
    fn remarks(&self) -> Vec<String> {
        let (Some(keys), columns) = (&self.keys, self.spec.columns()) else { return vec![] };
        let LeftOut { empty, malformed, first_malformed } = keys.left_out();
        let mut remarks = self.of_reading.clone();
        let changed = |sample: &Sample| {
            sample.before.iter().zip(&sample.after).any(|(before, after)| before.trim() != after)
        };
        let formed = columns.iter().any(|column| column.normal != Normal::default());
        // Formats of dates change texts of the default form, too.
        if columns.len() > 1 || formed || keys.samples().iter().any(changed) {
            let forms: Vec<_> = columns.iter().map(|c| format!("{} ({})", c.name.trim(), c.normal)).collect();
            remarks.push(format!(
                "{} rows have a key of {}, {empty} have not; the first ones as they are compared:",
                keys.keyed(),
                forms.join(", ")
            ));
            remarks.extend(keys.samples().iter().map(shown));
        }
        if let Some(place) = first_malformed {
            let rows = if malformed == 1 { "row is" } else { "rows are" };
            remarks.push(format!(
                "{malformed} {rows} in no set, since a field is not what its form is of; the first is in {place}"
            ));
        }
        remarks
    }

    /// This party's result, in the agreed form.
    fn common(&self, learnt: &Learnt) -> Result<Common, PsiError> {
        Ok(match (learnt, &self.task.job.reveal) {
            (Learnt::Nothing, _) => Common::Nothing,
            (Learnt::Size(size), _) => Common::Size(*size),
            (Learnt::Sum { count, sum }, _) => Common::Sum { count: *count, sum: *sum },
            (Learnt::Rows { .. }, _) if !self.shows => Common::Filed,
            (Learnt::Rows { flags, .. }, PsiReveal::Flags) => Common::Flags(flags.clone()),
            (Learnt::Rows { flags, first, theirs, .. }, _) => {
                let rows = self.keys.iter().flat_map(TableKeys::each).zip(flags.iter().zip(first));
                let (mut keys, mut fields) = (vec![], vec![]);
                for (row, (key, (is_common, is_first))) in rows.enumerate() {
                    if *is_common && *is_first {
                        keys.extend(key.map(line).transpose()?);
                        fields.extend(theirs.as_ref().map(|theirs| theirs.fields(row)));
                    }
                }
                if theirs.is_some() { Common::Columns { keys, fields } } else { Common::Items(keys) }
            }
        })
    }
}

/// A key of one field as it is, and one of several fields as a line of CSV.
fn line(key: &[u8]) -> Result<String, FileError> {
    let mut fields = TableKeys::fields(key);
    if fields.len() == 1 {
        return Ok(fields.remove(0));
    }
    csv_line(&fields)
}

/// A key before and after normalization, as a line of a remark.
fn shown(sample: &Sample) -> String {
    let list = |fields: &[String]| fields.iter().map(|f| format!("{f:?}")).collect::<Vec<_>>().join(", ");
    format!("  {} → {}", list(&sample.before), list(&sample.after))
}

impl Part for PsiPart {
    type Learnt = Intersection;

    fn compute(&mut self, member: &mut MemberSession) -> Result<Links, Fault> {
        self.remarks().into_iter().for_each(|remark| (member.observer)(Event::Note(remark)));
        member.enter(STEP);
        let (agreement, peer) = (member.agreement.clone(), PartyId(1 - self.index));
        let (Seat { context, .. }, control) = Seat::take(member)?;
        let mut channel = member.channel(0, 0, Some(peer), Some(peer))?;
        let observer = member.observer.clone();
        let mut hears = |done, of| observer(Event::Progress(done, of));
        let find = Find { task: &self.task, index: self.index, context, observer: &mut hears };
        let keys = self.keys.take().unwrap_or_default();
        let ended = match &self.task.way {
            MethodPlan::Vole => {
                find.by_vole(&mut channel, keys, self.shows, std::mem::take(&mut self.payloads))
            }
            MethodPlan::Bins(reveal) => find.by_bins(&mut channel, keys, self.shows, &self.amounts, *reveal),
            MethodPlan::Circuit(terms) => find.by_circuit(&mut channel, keys, terms),
        };
        let (ended, keys) = ended.map_err(|e| {
            if let (PsiError::Malformed { .. } | PsiError::Abort { .. }, Some(watch)) =
                (&e, member.net.watch())
            {
                // The peer would otherwise only see that links closed.
                watch.abort(peer, Reason::Cheated, STEP);
            }
            failed(&agreement, e)
        })?;
        if let Learnt::Rows { theirs: Some(Theirs { is_damaged: true, .. }), .. } = &ended.learnt {
            let damaged = PsiError::Abort { peer: Some(peer), check: "payload" };
            self.late = Some(failed(&agreement, damaged));
        }
        self.keys = keys.filter(|_| self.shows);
        self.ended = Some(ended);
        Ok(Links { word: control, kept: vec![channel] })
    }

    fn prepare(&mut self) -> Result<(), Fault> {
        let Some(ended) = &self.ended else { return Ok(()) };
        let reveal = &self.task.job.reveal;
        let mut put = |text: String| -> Result<(), Fault> {
            match &self.file {
                Some(file) => file.writer()?.write_all(text.as_bytes()).map_err(|e| file.error(&e)),
                None => {
                    self.text = Some(text.into_bytes());
                    Ok(())
                }
            }
        };
        match &ended.learnt {
            Learnt::Nothing => {}
            Learnt::Size(size) => put(format!("{size}\n"))?,
            Learnt::Sum { count, sum } => put(format!("count,sum\n{count},{sum}\n"))?,
            // An error about common rows comes late, so that the peer does not learn of it.
            Learnt::Rows { flags, theirs, .. } => {
                let beside = theirs.as_ref().map(Theirs::beside);
                if let Some(file) = &self.file {
                    match self.table.write_file(reveal, flags, beside, file, self.as_parquet) {
                        Ok(()) => {}
                        Err(Refused::Disk(e)) => return Err(e),
                        Err(Refused::Rows(e)) => _ = self.late.get_or_insert_with(|| of_file(e)),
                    }
                } else if self.shows {
                    let mut text = vec![];
                    match self.table.write(reveal, flags, beside, &mut text) {
                        Ok(()) => self.text = Some(text),
                        Err(e) => _ = self.late.get_or_insert_with(|| of_file(e)),
                    }
                }
            }
        }
        self.file.as_ref().map_or(Ok(()), NewFile::sync)
    }

    fn commit(mut self) -> Result<Intersection, Fault> {
        if let Some(late) = self.late.take() {
            return Err(late);
        }
        let ended = self.ended.take().ok_or_else(|| Fault::internal(STEP, "there is no result"))?;
        let common = self.common(&ended.learnt).map_err(of_file)?;
        let (found, rows) = match &ended.learnt {
            Learnt::Nothing => (None, None),
            Learnt::Size(size) => (Some(*size), None),
            Learnt::Sum { count, .. } => (Some(*count), None),
            Learnt::Rows { flags, found, .. } => {
                (Some(*found), Some(flags.iter().filter(|flag| **flag).count() as u64))
            }
        };
        let Ended { sizes: keys, method, width, ands, .. } = ended;
        let text = if self.shows { self.text.take() } else { None };
        self.file.take().map_or(Ok(()), NewFile::commit)?;
        Ok(Intersection { common, text, found, rows, keys, method, width, ands })
    }
}

/// The error for a file with wrong contents. If it names no step, it is about the result.
pub(crate) fn of_file(e: impl Into<Fault>) -> Fault {
    e.into().during("writing the result")
}

/// Turns an error of the protocol into a fault of the job.
fn failed(agreement: &Agreement, e: PsiError) -> Fault {
    let failure = match e {
        PsiError::File(e) => return of_file(e),
        PsiError::Net(e) => return explain(agreement, e).during(STEP),
        PsiError::Ot(e) => Failure::from(e),
        PsiError::Yao(e) => Failure::from(e),
        PsiError::Gmw(e) => Failure::from(e),
        e => Failure::of(e.fault()),
    };
    failure.explain(agreement).during(STEP)
}
