//! `hushwire local psi`: two parties as processes on this machine, each with a table that the other
//! party does not see.

mod report;

use crate::{
    error::Error,
    files::{NewFile, Passing, RunFiles, absolute, is_stream, stream},
    log,
    member_cmd::{announce, has_aes},
    options::{Between, CommonArgs},
    progress,
    read_args::{self, ReadArgs},
    run_report::deliver,
    supervisor::{OfProcess, run_all},
};
use clap::Args;
use hushwire::LocalJob;
use hushwire::job::{InputPlace, Intersection, Job, Member, OutputPlace, PsiJob, PsiReveal, PsiTask, Task};
use hushwire_aes::Backend;
use hushwire_fault::PartyId;
use hushwire_files::matching;
use hushwire_garble::Scheme;
use hushwire_psi::PsiSide;
use hushwire_wire::Shape;
use indicatif::ProgressBar;
use std::{io, path::PathBuf, str::FromStr, time::Instant};

pub(crate) const HELP: &str = "\
Examples:
  hushwire local psi --a examples/psi/shop.csv --b examples/psi/charity.csv --column email --reveal size
                                      4: so many addresses are in both files, and nobody learns which
  hushwire local psi --a shop.csv --b charity.csv --key email --out common.csv
                                      both learn which addresses are in both files: the rows that have them
  hushwire local psi --a shop.csv --b charity.csv --key-a email --key-b mail --normalise email --to a
                                      the same for party A alone, of addresses however they are written
  hushwire local psi --a shop.csv --b charity.csv --key email --reveal sum:given,count
                                      both learn how many addresses are in both files, and what these gave in all
  hushwire local psi --a shop.csv --b charity.csv --key email --reveal columns:since,given --payload-bytes 16
                                      A learns which of its addresses are in both files, and of these since when B has them and what they gave
  hushwire local psi --a a.csv --b b.csv --key first --key last --normalise \"nfc case\" --reveal flags
                                      names of two columns; party A learns it for each of its rows (a column in_both)

The first line of a CSV file names its columns. Files called .parquet are Parquet, in builds with the feature parquet. Keys are compared letter by letter, without the white space around them, or in \
the form that --normalise names; rows with an empty key are in no set, and a key that comes twice counts once. Each party \
learns how many different keys the other one has. docs/psi.md says what is hidden, how, and what it costs.

Exit codes: 0 ok, 1 a bug, 2 wrong command line, 3 a party or the network failed, 4 a file could not be used, \
5 refused because it would not be safe.";

/// Find what two files, CSV or Parquet, have in common, without showing either to the other party.
#[derive(Args)]
#[command(arg_required_else_help = true, after_help = HELP)]
pub(crate) struct PsiArgs {
    /// Party A's file, CSV or other text, also .gz and .zst, or (called .parquet) Parquet; - is
    /// text by standard input; given several times, or with * or ? in its name, files that are one
    /// table
    #[arg(long, value_name = "A.csv", required = true)]
    a: Vec<PathBuf>,
    /// Party B's file, likewise
    #[arg(long, value_name = "B.csv", required = true)]
    b: Vec<PathBuf>,
    /// The column with the keys, in both files; given several times, the columns that make a key
    /// together
    #[arg(long, visible_alias = "column", value_name = "NAME", required_unless_present_all = ["key_a", "key_b"])]
    key: Vec<String>,
    /// The same in A's file [default: --key]
    #[arg(long, visible_alias = "column-a", value_name = "NAME")]
    key_a: Vec<String>,
    /// The same in B's file [default: --key]
    #[arg(long, visible_alias = "column-b", value_name = "NAME")]
    key_b: Vec<String>,
    /// The form in which keys are compared: trim, "nfc case", "accents case", email, phone:+49
    /// (numbers without a code are of +49), date, number, iban, exact; given once, or once for each
    /// column of the key [default: trim]
    #[arg(long, value_name = "FORM")]
    normalise: Vec<String>,
    /// The result: items tells which keys are in both files, by the rows that have them; flags
    /// tells one party all of its rows with a column in_both; size tells both parties how many keys
    /// are in both files; sum:COLUMN,count the same, and the sum of that column of B's file over
    /// the rows with such a key (of A's: sum:COLUMN@a,count); columns:NAME,NAME tells one party the
    /// rows that have such a key, with these columns of the other file behind its own
    #[arg(long, value_name = "WHAT", default_value = "items")]
    reveal: String,
    /// The bytes of text that a row has at most in the columns that --reveal columns:… names, all
    /// together: each row sends as many, so that nobody sees how long its fields are [default: 64]
    #[arg(long, value_name = "N")]
    payload_bytes: Option<usize>,
    /// The party that learns the result: a, b or both [default: both; of flags and columns, a]
    #[arg(long, value_name = "WHO", value_parser = ["a", "b", "both"])]
    to: Option<String>,
    /// The method: vole (an oblivious PRF; items, flags and columns of millions of keys), circuit
    /// (the same with a circuit behind it; flags, sizes and sums), phasing or scs (circuits of hash
    /// tables, or of sorted sets, for thousands) [default: vole; of a size or a sum, circuit]
    #[arg(long, visible_alias = "circuit", value_name = "NAME", value_parser = ["vole", "circuit", "phasing", "scs"])]
    method: Option<String>,
    /// The security: against semi-honest parties, or with vole against malicious ones
    #[arg(long, value_name = "LEVEL", default_value = "semi-honest", value_parser = ["semi-honest", "malicious"])]
    security: String,
    /// The store of vole and circuit: clustered (fast), or band (fewer bytes on a slow link, more
    /// processor time) [default: clustered]
    #[arg(long, value_name = "KIND", value_parser = ["clustered", "band"])]
    store: Option<String>,
    /// The most different keys of either party, or of A and of B, as in 1000000,5000; who brings
    /// more is refused before anything is computed [default: 1048576, or four times the other's]
    #[arg(long, value_name = "N[,N]", value_delimiter = ',', num_args = 1, value_parser = clap::value_parser!(u64).range(1..=1 << 40))]
    most_items: Vec<u64>,
    /// The protocol of phasing and scs: yao (garbled circuits, few rounds) or gmw (shares of bits,
    /// many rounds) [default: yao]
    #[arg(long, value_name = "NAME", value_parser = ["yao", "gmw"])]
    protocol: Option<String>,
    /// The scheme of yao's gates: prp, mi, mi4, circ, prf or three-halves [default: mi]
    #[arg(long, value_name = "NAME", value_parser = Scheme::PRIVATE.map(Scheme::name))]
    scheme: Option<String>,
    /// The file to write the result to, which appears when it is whole: A's where both learn it;
    /// Parquet if it is called .parquet; - is standard output [default: -]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// The file to write B's result to, where both learn it; without it B's is not written
    #[arg(long, value_name = "FILE")]
    out_b: Option<PathBuf>,
    #[command(flatten)]
    between: Between,
    #[command(flatten)]
    common: CommonArgs,
    #[command(flatten)]
    read: ReadArgs,
}

impl PsiArgs {
    fn key(&self, side: PsiSide) -> &[String] {
        let own = if side == PsiSide::A { &self.key_a } else { &self.key_b };
        if own.is_empty() { &self.key } else { own }
    }

    fn files(&self, side: PsiSide) -> &[PathBuf] {
        if side == PsiSide::A { &self.a } else { &self.b }
    }

    /// Returns whether the file of a side is standard input.
    fn is_streamed(&self, side: PsiSide) -> bool {
        self.files(side).iter().any(|path| is_stream(path))
    }

    /// Returns the files of a side in words.
    fn named(&self, side: PsiSide) -> String {
        self.files(side).iter().map(|path| absolute(path)).collect::<Vec<_>>().join(" ")
    }

    /// Returns the job in the form of a job file.
    fn job(&self) -> Result<PsiJob, Error> {
        let reveal: PsiReveal = self.reveal.parse().map_err(|e| Error::Usage(format!("--reveal: {e}")))?;
        let mut job = PsiJob::new(reveal, "");
        job.columns = SIDES.map(|side| self.key(side).to_vec());
        let forms = self
            .normalise
            .iter()
            .map(|form| form.parse().map_err(|e| Error::Usage(format!("--normalise: {e}"))));
        job.forms = forms.collect::<Result<_, Error>>()?;
        job.to = match self.to.as_deref() {
            None => vec![],
            Some("a") => vec![Member::Party(0)],
            Some("b") => vec![Member::Party(1)],
            Some(_) => vec![Member::Party(0), Member::Party(1)],
        };
        job.method = parsed(self.method.as_deref())?;
        job.store = parsed(self.store.as_deref())?;
        job.payload_bytes = self.payload_bytes;
        job.most_items = match self.most_items[..] {
            [] => [None; 2],
            [both] => [Some(both); 2],
            [a, b] => [Some(a), Some(b)],
            _ => {
                return Err(Error::Usage("--most-items: give one number, or that of A and that of B".into()));
            }
        };
        job.security = self.security.parse().map_err(Error::Usage)?;
        job.protocol = parsed(self.protocol.as_deref())?;
        job.scheme = parsed(self.scheme.as_deref())?;
        Ok(job)
    }

    /// Returns a party's rows. Its process opens its file, or receives the content of standard
    /// input.
    fn rows(&self, side: PsiSide) -> Result<InputPlace, Error> {
        let name = if side == PsiSide::A { "a" } else { "b" };
        let dialect = self.read.dialect(name, &["a", "b"])?;
        let files = self.files(side);
        match (self.is_streamed(side), files.len()) {
            (false, _) => read_args::table(files, dialect),
            (true, 1) if dialect.is_default() => stream(),
            (true, 1) => Ok(InputPlace::Table(vec![stream()?], dialect)),
            (true, _) => {
                let what = format!("--{name}: standard input is one of several files; give all as files");
                Err(Error::Usage(what))
            }
        }
    }
}

fn parsed<T: FromStr<Err: std::fmt::Display>>(text: Option<&str>) -> Result<Option<T>, Error> {
    text.map(|text| text.parse().map_err(|e| Error::Usage(format!("{e}")))).transpose()
}

/// The parties, in the order of their processes.
const SIDES: [PsiSide; 2] = [PsiSide::A, PsiSide::B];

/// Returns the name of a side in messages.
fn name(side: PsiSide) -> &'static str {
    if side == PsiSide::A { "party A" } else { "party B" }
}

/// Runs both parties.
pub(crate) fn run(args: &PsiArgs) -> Result<(), Error> {
    let begun = Instant::now();
    let backend = args.common.backend()?;
    if SIDES.iter().all(|side| args.is_streamed(*side)) {
        return Err(Error::Usage("--a and --b are both standard input; give one of them a file".into()));
    }
    if args.out_b.as_deref().is_some_and(is_stream) {
        let what = "--out-b -: standard output is for the result of --out; name a file";
        return Err(Error::Usage(what.into()));
    }
    let mut files = RunFiles::new(args.common.replace.force);
    for (side, role) in SIDES.into_iter().zip(["party A's file", "party B's file"]) {
        for path in args.files(side).iter().filter(|path| !is_stream(path)) {
            for path in matching(path).map_err(|e| Error::Job(e.into()))? {
                files.reads(role, &path);
            }
        }
    }
    let job = format!("local psi of {} and {}", args.named(PsiSide::A), args.named(PsiSide::B));
    let json = args.common.json_file(&mut files, &job)?;
    let task = PsiTask::new(&args.job()?).map_err(|e| of_sides(e.into()))?;
    let learners: Vec<PsiSide> =
        (0..).zip(SIDES).filter(|(i, _)| task.learns(&Member::Party(*i))).map(|(_, s)| s).collect();
    if args.out_b.is_some() && learners.len() < 2 {
        return Err(Error::Usage("--out-b is for a result that both parties learn; use --out".into()));
    }
    let named = [args.out.as_deref().filter(|path| !is_stream(path)), args.out_b.as_deref()];
    let mut outs = vec![];
    for ((side, path), option) in learners.iter().zip(named).zip(["with --out", "with --out-b"]) {
        let Some(path) = path else { continue };
        task.check_result(path)?;
        let of = if outs.is_empty() { job.clone() } else { format!("{job}, B's") };
        outs.push(Out {
            side: *side,
            file: files.create(option, path, &of, 0o600)?,
            passing: Passing::of(path)?,
        });
    }
    let bar = progress::bar(0, if task.protocol().is_some() { "ANDs" } else { "messages" });
    let ended = compute(args, &task, backend, &bar, &outs)?;
    bar.finish_and_clear();
    let first = learners.first().copied().unwrap_or(PsiSide::A);
    let text = report::result(&ended, first)?;
    for out in outs {
        out.deliver()?;
    }
    let report =
        report::IntersectionReport::new(args, &task, backend, &ended, first, begun.elapsed().as_secs_f64());
    log::note!("{}", report.for_people().trim_end());
    for path in named.iter().flatten() {
        log::note!("the result is in {}", path.display());
    }
    deliver(text, &report, json, args.common.json.as_deref())
}

/// A file of a result, and the place where the party's process puts it.
struct Out {
    side: PsiSide,
    file: NewFile,
    passing: Passing,
}

impl Out {
    /// Moves the bytes that the process wrote into the file.
    fn deliver(self) -> Result<(), Error> {
        let mut whole = self.passing.open()?;
        io::copy(&mut whole, &mut self.file.writer()?).map_err(|e| self.file.error(&e))?;
        Ok(self.file.commit()?)
    }
}

/// Runs both parties to their ends.
fn compute(
    args: &PsiArgs,
    task: &PsiTask,
    backend: Backend,
    bar: &ProgressBar,
    outs: &[Out],
) -> Result<Vec<OfProcess<Intersection>>, Error> {
    let rows = [args.rows(PsiSide::A)?, args.rows(PsiSide::B)?];
    let mut local = LocalJob::new(task).transport(args.between.kind()?).backend(backend).rows(rows);
    for (i, side) in (0..).zip(SIDES).filter(|(i, _)| task.learns(&Member::Party(*i))) {
        let place = match outs.iter().find(|out| out.side == side) {
            Some(out) => OutputPlace::File(out.passing.file()),
            // B's result was not requested.
            None if i == 1 && task.learns(&Member::Party(0)) => OutputPlace::Discard,
            None => OutputPlace::Show,
        };
        local = local.keep(Member::Party(i), PsiTask::RESULT, place);
    }
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

/// Names the sides in an error: parties have numbers in a job, but sides in this command.
fn of_sides(e: Error) -> Error {
    let Error::Job(e) = e else { return e };
    let side = |id| SIDES.into_iter().zip(0..).find(|(_, i)| PartyId(*i) == id);
    Error::Job(e.with_names(&|id| side(id).map(|(side, _)| name(side).to_owned())))
}
