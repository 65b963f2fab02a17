//! One party's part of an intersection.

use super::{CSV, Common, Intersection, PsiTask};
use crate::{
    Event, InputPlace, JobError, Kind, Member, MemberConfig, NewFile, OutputPlace, Part,
    agreement::Agreement,
    member_config::explain,
    run::{Links, MemberSession},
    two_party_engine::Failure,
};
use hushwire_psi::{
    Column, Found, Outcome, PsiError, Reveal, intersect, write_flags, write_flags_of, write_items,
};
use hushwire_wire::{PartyId, Reason};
use std::{io::Write, path::PathBuf, sync::Arc};
use zeroize::Zeroizing;

/// The step, as errors name it.
const STEP: &str = "the intersection";

/// A party's rows.
enum Rows {
    File(PathBuf),
    Memory(Arc<Zeroizing<Vec<u8>>>),
}

/// A party's keys, and the place of its result.
pub struct PsiPart {
    task: PsiTask,
    index: u8,
    rows: Rows,
    column: Column,
    file: Option<NewFile>,
    /// Whether the text goes back to the caller.
    shows: bool,
    outcome: Option<Outcome>,
    text: Option<Vec<u8>>,
}

impl PsiPart {
    pub(super) fn open(task: &PsiTask, config: &mut MemberConfig) -> Result<Self, JobError> {
        let Member::Party(index) = config.me else {
            return Err(JobError::internal(STEP, "a client cannot take part"));
        };
        let name = &task.job.columns[usize::from(index)];
        let (rows, column) = match task.csv(config)? {
            InputPlace::Memory(bytes) => {
                let column = Column::from_csv(&memory(), &bytes[..], name);
                (Rows::Memory(bytes.clone()), column)
            }
            InputPlace::File(path) => (Rows::File(path.clone()), Column::read(path, name)),
            _ => {
                return Err(JobError::internal(STEP, "rows are text"));
            }
        };
        let column = column.map_err(of_file)?;
        let place = task.result(config)?;
        let mut create = |path| config.files.create("for output result", path, &task.writer(), 0o600);
        let file = if let OutputPlace::File(path) = &place { Some(create(path)?) } else { None };
        let shows = matches!(place, OutputPlace::Show | OutputPlace::Memory);
        Ok(Self { task: task.clone(), index, rows, column, file, shows, outcome: None, text: None })
    }

    /// The result as a file has it; nothing where nothing is learnt.
    fn text(&self, common: &Common) -> Result<Option<Vec<u8>>, PsiError> {
        let mut text = vec![];
        match common {
            Common::Nothing => return Ok(None),
            Common::Size(size) => text = format!("{size}\n").into_bytes(),
            Common::Items(items) => {
                write_items(&self.task.job.columns[usize::from(self.index)], items, &mut text)?;
            }
            Common::Flags(flags) => match &self.rows {
                Rows::File(path) => write_flags(path, flags, &mut text)?,
                Rows::Memory(bytes) => write_flags_of(&memory(), &bytes[..], flags, &mut text)?,
            },
        }
        Ok(Some(text))
    }

    /// This party's result, in the form that was agreed.
    fn common(&self, outcome: &Outcome) -> Common {
        match (&outcome.found, self.task.job.reveal) {
            (Found::Nothing, _) => Common::Nothing,
            (Found::Size(size), _) => Common::Size(*size),
            (Found::Keys(own), Reveal::Flags) => Common::Flags(self.column.by_row(own)),
            (Found::Keys(own), _) => {
                let common = self.column.keys.iter().zip(own).filter(|(_, found)| **found);
                Common::Items(common.map(|(key, _)| key.clone()).collect())
            }
        }
    }
}

/// The name of rows that are in no file.
fn memory() -> PathBuf {
    PathBuf::from(format!("input {CSV}"))
}

impl Part for PsiPart {
    type Learnt = Intersection;

    fn compute(&mut self, member: &mut MemberSession) -> Result<Links, JobError> {
        let (agreement, peer) = (member.agreement.clone(), PartyId(1 - self.index));
        let control = member.channel(1, agreement.control_lane(), Some(peer), Some(peer))?;
        let mut channel = member.channel(0, 0, Some(peer), Some(peer))?;
        let observer = member.observer.clone();
        let mut hears = |done, of| observer(Event::Progress(done, of));
        let (side, backend) = (self.task.side(self.index), member.config.backend);
        let keys = &self.column.keys;
        let outcome = intersect(&mut channel, side, keys, &self.task.terms, backend, &mut hears);
        self.outcome = Some(outcome.map_err(|e| {
            if let (PsiError::Malformed { .. }, Some(watch)) = (&e, member.net.watch()) {
                // It would otherwise learn only that links closed.
                watch.abort(peer, Reason::Cheated, STEP);
            }
            failed(&agreement, e)
        })?);
        Ok(Links { word: vec![control], kept: vec![channel] })
    }

    fn prepare(&mut self) -> Result<(), JobError> {
        let Some(outcome) = &self.outcome else { return Ok(()) };
        let text = self.text(&self.common(outcome)).map_err(of_file)?;
        if let (Some(file), Some(text)) = (&self.file, &text) {
            file.writer()?.write_all(text).map_err(|e| file.error(&e))?;
            file.sync()?;
        }
        self.text = text;
        Ok(())
    }

    fn commit(mut self) -> Result<Intersection, JobError> {
        let missing = || JobError::internal(STEP, "there is no result");
        let outcome = self.outcome.take().ok_or_else(missing)?;
        let common = self.common(&outcome);
        let [a, b] = outcome.sizes;
        let keys = if self.task.side(0) == hushwire_psi::Side::A { [a, b] } else { [b, a] };
        let text = if self.shows { self.text.take() } else { None };
        self.file.take().map_or(Ok(()), NewFile::commit)?;
        let Outcome { circuit, width, ands, .. } = outcome;
        Ok(Intersection { common, text, keys, circuit, width, ands })
    }
}

/// A file, or the result, that is not as it should be.
pub(crate) fn of_file(e: PsiError) -> JobError {
    match e {
        PsiError::File { path, place, cause, remedy } => {
            let place = place.map_or_else(String::new, |place| format!(", {place}"));
            JobError::new(Kind::File, format!("cannot read {}{place}", path.display()), cause, remedy)
        }
        other => JobError::new(Kind::Internal, "writing the result", other.cause(), other.remedy()),
    }
}

/// A failure of the protocol, in the words of the job.
fn failed(agreement: &Agreement, e: PsiError) -> JobError {
    let failure = match e {
        e @ PsiError::File { .. } => return of_file(e),
        PsiError::Net(e) => return explain(agreement, e).during(STEP),
        PsiError::Yao(e) => Failure::from(e),
        PsiError::Gmw(e) => Failure::from(e),
        PsiError::Terms { .. } | PsiError::TooLarge { .. } => {
            Failure::ours(Kind::Usage, e.cause(), e.remedy())
        }
        e => Failure::peer(e.cause(), e.remedy()),
    };
    failure.explain(agreement).during(STEP)
}
