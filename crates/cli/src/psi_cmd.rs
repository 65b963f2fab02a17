//! `hushwire local psi`: two parties as processes on this machine, each with a CSV file that the other does not see.

mod party;
mod report;

pub(crate) use party::{COMMAND, main};

use crate::{
    control::{FromParty, Met, PsiFound, PsiSetup, Stats, ToParty, path_to_text},
    error::Error,
    files::{Replace, RunFiles, absolute, json_file},
    log,
    member_cmd::{announce, backend, has_aes},
    places::Places,
    progress,
    run_report::deliver,
    supervisor::{Event, Supervisor},
};
use clap::Args;
use hushwire_aes::Backend;
use hushwire_garble::Scheme;
use hushwire_job::{Forecast, Member};
use hushwire_psi::{Method, Protocol, Reveal, Side};
use hushwire_wire::{Identity, SessionId, Shape};
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

The first line of a file names its columns. Keys are compared letter by letter, without the white space around them;
rows with an empty key are in no set, and a key that comes twice counts once. Each party learns how many different keys
the other one has. docs/psi.md says what is hidden, how, and what it costs.

Exit codes: 0 ok, 1 a bug, 2 wrong command line, 3 a party or the network failed, 4 a file could not be used,
5 refused because it would not be safe.";

/// Find what two CSV files have in common, without showing either to the other party.
#[derive(Args)]
#[command(arg_required_else_help = true, after_help = HELP)]
pub(crate) struct PsiArgs {
    /// Party A's CSV file
    #[arg(long, value_name = "A.csv")]
    a: PathBuf,
    /// Party B's CSV file
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
    let mut files = RunFiles::new(args.replace.force);
    files.reads("party A's file", &args.a);
    files.reads("party B's file", &args.b);
    let job = format!("local psi of {} and {}", absolute(&args.a), absolute(&args.b));
    let json = json_file(&mut files, args.json.as_deref(), &job, 0o600)?;
    let out = args.out.as_deref().filter(|path| *path != Path::new("-"));
    let out = out.map(|path| files.create("with --out", path, &job, 0o600)).transpose()?;
    let named = out.is_some();
    let bar = progress::bar(0, "ANDs");
    let (found, stats) = compute(args, backend, &bar)?;
    bar.finish_and_clear();
    let text = report::result(args, &found)?;
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

/// Starts both parties, and follows them to their end: what they found, and what each measured.
fn compute(
    args: &PsiArgs,
    backend: Backend,
    bar: &ProgressBar,
) -> Result<(Vec<PsiFound>, Vec<Stats>), Error> {
    let wrong =
        |e: &dyn std::fmt::Display| Error::Internal { doing: "starting the run", cause: e.to_string() };
    let session = SessionId::fresh().map_err(|e| wrong(&e))?;
    let identities = SIDES.map(|side| Identity::generate(name(side)));
    let identities = identities.into_iter().collect::<Result<Vec<_>, _>>().map_err(|e| wrong(&e))?;
    let places = Places::of(args.transport.parse()?)?;
    let members = SIDES.iter().enumerate();
    let mut supervisor =
        Supervisor::of(members.map(|(i, side)| (name(*side).to_owned(), party::arguments(i))))?;
    supervisor.enter("reading the files");
    for (i, (side, identity)) in SIDES.into_iter().zip(&identities).enumerate() {
        let setup = PsiSetup {
            pem: identity.to_pem().to_string(),
            listen: places.address(&format!("party{i}")),
            transport: args.transport.clone(),
            session: session.to_string(),
            aes_backend: backend.tier().name().to_owned(),
            file: path_to_text(args.file(side)),
            column: args.column(side).to_owned(),
            reveal: args.reveal.clone(),
            circuit: args.circuit.clone(),
            protocol: args.protocol.clone(),
            scheme: args.scheme.clone(),
        };
        supervisor.tell(i, &ToParty::Psi(Box::new(setup)));
    }
    let mut ready = [const { None }; 2];
    while ready.iter().any(Option::is_none) {
        if let Event::Said(i, FromParty::Ready { address, .. }) = supervisor.next()? {
            ready[i] = Some(address);
        }
    }
    let met = ready.into_iter().zip(&identities).enumerate().map(|(i, (address, identity))| Met {
        member: Member::Party(i as u8),
        address,
        pin: identity.pin().to_string(),
    });
    supervisor.enter("the intersection");
    supervisor.tell_all(&ToParty::Meet(met.collect()));
    let mut found = [const { None }; 2];
    loop {
        match supervisor.next()? {
            Event::Said(0, FromParty::Progress(0, of)) => {
                bar.set_length(of);
                let scheme = (args.protocol == "yao").then(|| args.scheme.parse().ok()).flatten();
                let forecast = Forecast::of_two(scheme, of, has_aes(backend));
                bar.suspend(|| announce(&forecast, Shape::NONE, "on this machine"));
            }
            Event::Said(0, FromParty::Progress(done, _)) => {
                bar.set_position(done);
            }
            Event::Said(i, FromParty::Found(of)) => found[i] = Some(*of),
            _ => {}
        }
        if let Some(stats) = supervisor.stats() {
            supervisor.tell_all(&ToParty::Bye);
            let found: Vec<PsiFound> = found.into_iter().flatten().collect();
            if found.len() != SIDES.len() {
                return Err(wrong(&"a party ended without a result"));
            }
            return Ok((found, stats));
        }
    }
}

/// The options as the parties have them.
fn terms(setup: &PsiSetup) -> Result<hushwire_psi::Terms, String> {
    let mut terms = hushwire_psi::Terms::new(setup.reveal.parse::<Reveal>()?);
    terms.circuit = setup.circuit.as_deref().map(str::parse::<Method>).transpose()?;
    terms.protocol = setup.protocol.parse::<Protocol>()?;
    terms.scheme = setup.scheme.parse().map_err(|e: hushwire_garble::GarbleError| e.to_string())?;
    Ok(terms)
}
