//! `hushwire local psi`: two parties as processes on this machine, each with a CSV file that the other does not see.

mod report;

use crate::{
    control::{Given, PsiFound, Stats},
    error::{Error, Failure},
    files::{Replace, RunFiles, absolute, is_stream, json_file},
    local_run::{Share, Start},
    log,
    member_cmd::{announce, backend, has_aes},
    progress,
    run_report::deliver,
};
use clap::Args;
use hushwire_aes::Backend;
use hushwire_garble::Scheme;
use hushwire_job::{Job, Member, PsiJob, PsiTask, Task};
use hushwire_psi::{Reveal, Side};
use hushwire_wire::Shape;
use indicatif::ProgressBar;
use std::{
    collections::BTreeMap,
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

The first line of a file names its columns. Keys are compared letter by letter, without the white space around them;
rows with an empty key are in no set, and a key that comes twice counts once. Each party learns how many different keys
the other one has. docs/psi.md says what is hidden, how, and what it costs.

Exit codes: 0 ok, 1 a bug, 2 wrong command line, 3 a party or the network failed, 4 a file could not be used,
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
    /// The result to reveal: size, to both, how many keys are in both files; items, to both, which; flags, to A alone, which of
    /// its rows
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
    /// The transport between the processes: tcp-tls, unix, shm, or tcp-insecure to measure what TLS costs
    #[arg(long, value_name = "NAME", default_value = "tcp-tls", value_parser = ["tcp-tls", "tcp-insecure", "unix", "shm"])]
    transport: String,
    /// Write a report for programs to FILE; - is standard output, in place of the result
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    #[command(flatten)]
    replace: Replace,
    /// The AES instructions to use: portable, neon, aesni, vaes256 or vaes512 [default: the widest of this CPU]
    #[arg(long, value_name = "TIER", env = hushwire_aes::ENV, hide_env_values = true)]
    aes_backend: Option<String>,
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
    fn rows(&self, side: Side) -> Result<Given, Error> {
        let path = self.file(side);
        if !is_stream(path) {
            return Ok(Given::File(path.to_owned()));
        }
        Given::from_stream()
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
    let backend = backend(args.aes_backend.as_deref())?;
    if args.transport == "tcp-insecure" {
        log::warn("tcp-insecure hides nothing from other programs on this machine; it is for measuring");
    }
    if SIDES.iter().all(|side| is_stream(args.file(*side))) {
        return Err(Error::Usage("--a and --b are both standard input; give one of them a file".into()));
    }
    let mut files = RunFiles::new(args.replace.force);
    for (side, role) in SIDES.into_iter().zip(["party A's file", "party B's file"]) {
        if !is_stream(args.file(side)) {
            files.reads(role, args.file(side));
        }
    }
    let job = format!("local psi of {} and {}", absolute(&args.a), absolute(&args.b));
    let json = json_file(&mut files, args.json.as_deref(), &job, 0o600)?;
    let out = args.out.as_deref().filter(|path| *path != Path::new("-"));
    let out = out.map(|path| files.create("with --out", path, &job, 0o600)).transpose()?;
    let named = out.is_some();
    let bar = progress::bar(0, "ANDs");
    let (found, stats) = compute(args, backend, &bar)?;
    bar.finish_and_clear();
    let text = report::result(&found)?;
    let shown = match out {
        Some(out) => out.write(&text).map(|()| None)?,
        None => Some(text),
    };
    let report = report::Report::new(args, backend, &found, &stats, begun.elapsed().as_secs_f64());
    log::note!("{}", report.for_people().trim_end());
    if let Some(path) = args.out.as_ref().filter(|_| named) {
        log::note!("the result is in {}", path.display());
    }
    deliver(shown, &report, json, args.json.as_deref())
}

/// Runs both parties to their end: what they found, and what each measured.
fn compute(
    args: &PsiArgs,
    backend: Backend,
    bar: &ProgressBar,
) -> Result<(Vec<PsiFound>, Vec<Stats>), Error> {
    let job = args.job()?;
    let task = PsiTask::new(&job)?;
    let share = |(index, side): (u8, Side)| {
        let inputs = BTreeMap::from([("csv".to_owned(), args.rows(side)?)]);
        let (member, who) = (Member::Party(index), name(side).to_owned());
        Ok(Share { member, who, inputs, outputs: BTreeMap::new() })
    };
    let shares = (0..).zip(SIDES).map(share).collect::<Result<_, Error>>()?;
    let (job, phases) = (Job::Psi(job), ["reading the files", "the intersection"]);
    let (transport, force, shape) = (&args.transport, args.replace.force, Shape::NONE);
    let start = Start { transport, job: &job, shares, phases, force, backend, shape };
    let stats = start.run(bar, |done, of| {
        bar.set_length(of);
        bar.set_position(done);
        if let (0, Some(forecast)) = (done, task.forecast(has_aes(backend), Some(of))) {
            bar.suspend(|| announce(&forecast, Shape::NONE, "on this machine"));
        }
    });
    let stats = stats.map_err(of_sides)?;
    let found: Vec<PsiFound> = stats.iter().filter_map(|stats| stats.found.clone()).collect();
    if found.len() != SIDES.len() {
        let cause = "a party ended without a result".to_owned();
        return Err(Error::Internal { doing: "starting the run", cause });
    }
    Ok((found, stats))
}

/// The parties have numbers in a job, and people know sides here.
fn of_sides(e: Error) -> Error {
    let Error::Party(Failure { party, who, step, cause, remedy, code, consequence }) = e else { return e };
    let [who, step, cause, remedy] = [who, step, cause, remedy].map(|text| {
        (0..).zip(SIDES).fold(text, |text, (i, side)| text.replace(&Member::Party(i).to_string(), name(side)))
    });
    Error::Party(Failure { party, who, step, cause, remedy, code, consequence })
}
