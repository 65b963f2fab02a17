//! `hushwire local psi`: two parties as processes on this machine, each with a CSV file that the other does not see.

mod report;

use crate::{
    error::Error,
    files::{RunFiles, absolute, is_stream, stream},
    log,
    member_cmd::{announce, has_aes},
    options::{Between, Common},
    progress,
    run_report::deliver,
    supervisor::{OfProcess, run_all},
};
use clap::Args;
use hushwire::Local;
use hushwire_aes::Backend;
use hushwire_garble::Scheme;
use hushwire_job::{InputPlace, Intersection, Job, JobError, Member, PsiJob, PsiTask, Task};
use hushwire_psi::{Reveal, Side};
use hushwire_wire::Shape;
use indicatif::ProgressBar;
use std::{
    path::{Path, PathBuf},
    time::Instant,
};

pub(crate) const HELP: &str = "\
Examples:
  hushwire local psi --a examples/psi/shop.csv --b examples/psi/charity.csv --column email --reveal size
                                      4: so many addresses are in both files, and nobody learns which
  hushwire local psi --a shop.csv --b charity.csv --column email --reveal items --out common.csv
                                      both learn which addresses are in both files
  hushwire local psi --a shop.csv --b charity.csv --column-a email --column-b mail --reveal flags
                                      party A learns it for each of its rows (a column in_both), party B nothing

The first line of a file names its columns. Keys are compared letter by letter, without the white space around them; \
rows with an empty key are in no set, and a key that comes twice counts once. Each party learns how many different keys \
the other one has. docs/psi.md says what is hidden, how, and what it costs.

Exit codes: 0 ok, 1 a bug, 2 wrong command line, 3 a party or the network failed, 4 a file could not be used, \
5 refused because it would not be safe.";

/// Find what two CSV files have in common, without showing either to the other party.
#[derive(Args)]
#[command(arg_required_else_help = true, after_help = HELP)]
pub(crate) struct PsiArgs {
    /// Party A's CSV file; - is standard input
    #[arg(long, value_name = "A.csv")]
    a: PathBuf,
    /// Party B's CSV file; - is standard input
    #[arg(long, value_name = "B.csv")]
    b: PathBuf,
    /// The column with the keys, in both files
    #[arg(long, value_name = "NAME", required_unless_present_all = ["column_a", "column_b"])]
    column: Option<String>,
    /// The column with the keys in A's file [default: --column]
    #[arg(long, value_name = "NAME")]
    column_a: Option<String>,
    /// The column with the keys in B's file [default: --column]
    #[arg(long, value_name = "NAME")]
    column_b: Option<String>,
    /// The result: size tells both parties how many keys are in both files, items tells both which keys, flags tells A alone
    /// which of its rows
    #[arg(long, value_name = "WHAT", value_parser = ["size", "items", "flags"])]
    reveal: String,
    /// The method of comparing sets: scs (sort, compare, shuffle) or phasing (hash tables) [default: the one with fewer ANDs]
    #[arg(long, value_name = "NAME", value_parser = ["scs", "phasing"])]
    circuit: Option<String>,
    /// The protocol of the parties: yao (garbled circuits, few rounds) or gmw (shares of bits, many rounds)
    #[arg(long, value_name = "NAME", default_value = "yao", value_parser = ["yao", "gmw"])]
    protocol: String,
    /// The scheme of yao's gates: prp, mi, mi4, circ, prf or three-halves
    #[arg(long, value_name = "NAME", default_value = "mi", value_parser = Scheme::PRIVATE.map(Scheme::name))]
    scheme: String,
    /// The file to write the result to, which appears when it is whole; - is standard output [default: -]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    #[command(flatten)]
    between: Between,
    #[command(flatten)]
    common: Common,
}

impl PsiArgs {
    fn column(&self, side: Side) -> &str {
        let own = if side == Side::A { &self.column_a } else { &self.column_b };
        own.as_ref().or(self.column.as_ref()).map_or("", String::as_str)
    }

    fn file(&self, side: Side) -> &Path {
        if side == Side::A { &self.a } else { &self.b }
    }

    /// The job, as its file would have it.
    fn job(&self) -> Result<PsiJob, Error> {
        let reveal: Reveal = self.reveal.parse().map_err(Error::Usage)?;
        let mut job = PsiJob::new(reveal, "");
        job.columns = SIDES.map(|side| self.column(side).to_owned());
        job.protocol = self.protocol.parse().map_err(Error::Usage)?;
        job.circuit = self.circuit.as_deref().map(str::parse).transpose().map_err(Error::Usage)?;
        let scheme =
            self.scheme.parse().map_err(|e: hushwire_garble::GarbleError| Error::Usage(e.to_string()))?;
        job.scheme = (self.protocol == "yao").then_some(scheme);
        Ok(job)
    }

    /// A party's rows: its process opens its file, and is given what came by standard input.
    fn rows(&self, side: Side) -> Result<InputPlace, Error> {
        let path = self.file(side);
        if !is_stream(path) {
            return Ok(InputPlace::File(path.to_owned()));
        }
        stream()
    }
}

/// The parties, in the order of their processes.
const SIDES: [Side; 2] = [Side::A, Side::B];

/// As messages name it.
fn name(side: Side) -> &'static str {
    if side == Side::A { "party A" } else { "party B" }
}

/// Runs both.
pub(crate) fn run(args: &PsiArgs) -> Result<(), Error> {
    let begun = Instant::now();
    let backend = args.common.backend()?;
    if SIDES.iter().all(|side| is_stream(args.file(*side))) {
        return Err(Error::Usage("--a and --b are both standard input; give one of them a file".into()));
    }
    let mut files = RunFiles::new(args.common.replace.force);
    for (side, role) in SIDES.into_iter().zip(["party A's file", "party B's file"]) {
        if !is_stream(args.file(side)) {
            files.reads(role, args.file(side));
        }
    }
    let job = format!("local psi of {} and {}", absolute(&args.a), absolute(&args.b));
    let json = args.common.json_file(&mut files, &job)?;
    let out = args.out.as_deref().filter(|path| *path != Path::new("-"));
    let out = out.map(|path| files.create("with --out", path, &job, 0o600)).transpose()?;
    let named = out.is_some();
    let bar = progress::bar(0, "ANDs");
    let task = PsiTask::new(&args.job()?)?;
    let ended = compute(args, &task, backend, &bar)?;
    bar.finish_and_clear();
    let text = report::result(&ended)?;
    let shown = match out {
        Some(out) => out.write(&text).map(|()| None)?,
        None => Some(text),
    };
    let report = report::Report::new(args, &task, backend, &ended, begun.elapsed().as_secs_f64());
    log::note!("{}", report.for_people().trim_end());
    if let Some(path) = args.out.as_ref().filter(|_| named) {
        log::note!("the result is in {}", path.display());
    }
    deliver(shown, &report, json, args.common.json.as_deref())
}

/// Runs both parties to their ends.
fn compute(
    args: &PsiArgs,
    task: &PsiTask,
    backend: Backend,
    bar: &ProgressBar,
) -> Result<Vec<OfProcess<Intersection>>, Error> {
    let rows = [args.rows(Side::A)?, args.rows(Side::B)?];
    let local = Local::new(task).transport(args.between.kind()?).backend(backend).rows(rows);
    let who = |member: &Member| {
        let side = SIDES.into_iter().zip(0..).find(|(_, i)| *member == Member::Party(*i));
        side.map_or_else(|| member.to_string(), |(side, _)| name(side).to_owned())
    };
    let (job, phases) = (Job::Psi(task.job().clone()), ["reading the files", "the intersection"]);
    let ended = run_all(local, &job, who, phases, bar, |done, of| {
        bar.set_length(of);
        bar.set_position(done);
        if let (0, Some(forecast)) = (done, task.forecast(has_aes(backend), Some(of))) {
            bar.suspend(|| announce(&forecast, Shape::NONE, "on this machine"));
        }
    });
    ended.map_err(of_sides)
}

/// The parties have numbers in a job, and people know sides here.
fn of_sides(e: Error) -> Error {
    let Error::Job(JobError { who, step, cause, remedy, kind, consequence }) = e else { return e };
    let [who, step, cause, remedy] = [who, step, cause, remedy].map(|text| {
        (0..).zip(SIDES).fold(text, |text, (i, side)| text.replace(&Member::Party(i).to_string(), name(side)))
    });
    Error::Job(JobError { who, step, cause, remedy, kind, consequence })
}
