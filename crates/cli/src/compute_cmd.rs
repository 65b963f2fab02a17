//! `hushwire compute`: computations as files, without any parties.

mod cost;

use crate::{
    error::Error,
    files::{Replace, RunFiles, json_file},
    local_compute::protocols,
    log, out,
    places::ValueArgs,
    price::seconds,
    run_report::word,
};
use clap::{
    Args, Subcommand,
    builder::{PossibleValuesParser, TypedValueParser as _},
};
use cost::{Figures, Refusal, costs};
use hushwire::job::{ComputationSource, OutputForm, OutputPlace, Protocol, Shown, fits, read_input, size};
use hushwire_compute::{Computation, ComputeError, Explanation, MembersPart, Tensor, evaluate};
use hushwire_fault::code;
use serde::Serialize;
use std::{
    collections::BTreeMap,
    fmt::Write,
    path::{Path, PathBuf},
};

pub(crate) const HELP: &str = "\
Examples:
  hushwire compute check bill.hwc                   whether it is right; if not, which line is not, and why
  hushwire compute explain bill.hwc                 what each member brings and learns, and what it costs
  hushwire compute cost bill.hwc --symbol n=100000  ANDs, rounds, bytes and times with rep3, yao and gmw
  hushwire compute cost bill.hwc --protocol authgarble:3
                                                    the same with another, among three parties of whom two may cheat
  hushwire compute eval bill.hwc --in price=shop.csv --in amount=order.csv
                                                    the result in the open, to compare with
  hushwire compute format bill.hwc                  the same in canonical form

`hushwire local compute` runs one among parties on this machine, `hushwire party` and `client` for real.";

/// Look at, price and run computations as files: numbers, columns of tables and tensors, as
/// docs/jobs.md has them.
#[derive(Args)]
pub(crate) struct ComputeArgs {
    #[command(subcommand)]
    command: ComputeCommand,
}

#[derive(Subcommand)]
enum ComputeCommand {
    /// Read and check a computation.
    #[command(after_help = "Example:\n  hushwire compute check bill.hwc")]
    Check(FileArgs),
    /// Say in words what each member brings and learns, and what a run costs.
    #[command(after_help = "Example:\n  hushwire compute explain bill.hwc --symbol n=5000")]
    Explain(CostArgs),
    /// Show ANDs, rounds, bytes and times with each protocol.
    #[command(after_help = "Example:\n  hushwire compute cost bill.hwc --symbol n=5000 --json -")]
    Cost(CostArgs),
    /// Write the canonical form; comments are no part of it.
    #[command(after_help = "Example:\n  hushwire compute format bill.hwc --out formatted.hwc")]
    Format(FormatArgs),
    /// Compute in the open, on everybody's values.
    #[command(
        after_help = "Example:\n  hushwire compute eval bill.hwc --in price=shop.csv:price --value amount=1,2,3"
    )]
    Eval(EvalArgs),
}

#[derive(Args)]
struct FileArgs {
    /// The computation; - is standard input
    file: PathBuf,
}

#[derive(Args)]
struct LengthArgs {
    /// The computation; - is standard input
    file: PathBuf,
    /// The length that a symbol stands for [default: 1000]
    #[arg(long, value_name = "NAME=NUMBER")]
    symbol: Vec<String>,
}

#[derive(Args)]
struct CostArgs {
    #[command(flatten)]
    of: LengthArgs,
    /// A protocol to price, once for each: rep3, yao, gmw, authgarble:N, authgarble:N:ywz20 or,
    /// where it is built in, two [default: rep3, yao and gmw]
    #[arg(long, value_name = "NAME", value_parser = PossibleValuesParser::new(protocols()).try_map(|s| s.parse::<Protocol>()))]
    protocol: Vec<Protocol>,
    /// Write the figures for programs to FILE; - is standard output, in place of the text
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    #[command(flatten)]
    replace: Replace,
}

#[derive(Args)]
struct FormatArgs {
    /// The computation; - is standard input
    file: PathBuf,
    /// The file to write [default: standard output]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    #[command(flatten)]
    replace: Replace,
}

#[derive(Args)]
struct EvalArgs {
    /// The computation; - is standard input
    file: PathBuf,
    #[command(flatten)]
    values: ValueArgs,
    /// Write the outputs for programs to FILE; - is standard output, in place of the text
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    #[command(flatten)]
    replace: Replace,
}

/// Runs the command.
pub(crate) fn run(args: &ComputeArgs) -> Result<(), Error> {
    match &args.command {
        ComputeCommand::Check(args) => check(&args.file),
        ComputeCommand::Explain(args) => explain(args),
        ComputeCommand::Cost(args) => cost(args),
        ComputeCommand::Format(args) => format(args),
        ComputeCommand::Eval(args) => eval(args),
    }
}

fn load(file: &Path) -> Result<Computation, Error> {
    let computation = ComputationSource::File(file.to_owned()).load()?;
    remark(&computation);
    Ok(computation)
}

/// Warns of parts of the computation that may not mean what its author intended.
pub(crate) fn remark(computation: &Computation) {
    computation.remarks().iter().for_each(log::warn);
}

fn check(file: &Path) -> Result<(), Error> {
    let c = load(file)?;
    let inputs = c.inputs().count();
    let count = |n: usize, what: &str| format!("{n} {what}{}", if n == 1 { "" } else { "s" });
    out::line(format_args!(
        "{}: {}, {}, {}, {}; digest {}",
        c.name(),
        count(c.members().len(), "member"),
        count(inputs, "input"),
        count(c.nodes().len() - inputs, "operation"),
        count(c.outputs().len(), "output"),
        hex::encode(c.digest())
    ))
}

fn format(args: &FormatArgs) -> Result<(), Error> {
    let text = load(&args.file)?.to_string();
    let Some(path) = args.out.as_deref().filter(|path| *path != Path::new("-")) else {
        return out::text(text);
    };
    let mut files = RunFiles::new(args.replace.force);
    files.reads("the computation", &args.file);
    // Any computation may replace the file of another one, because the canonical form can be made
    // again.
    Ok(files.create("with --out", path, "a computation", 0o644)?.write(text.as_bytes())?)
}

/// Formats the lengths of symbols as `n = 1000, m = 3`; empty if there are none.
fn lengths(symbols: &BTreeMap<String, u64>) -> String {
    symbols.iter().map(|(name, n)| format!("{name} = {n}")).collect::<Vec<_>>().join(", ")
}

/// The content of `explain --json`: values as `name: type`.
#[derive(Serialize)]
struct Explained {
    computation: String,
    digest: String,
    symbols: BTreeMap<String, u64>,
    members: Vec<ExplainedMember>,
    /// The inputs that all members know.
    public: Vec<String>,
    /// The inputs that come from the members that the job names.
    secret: Vec<String>,
    /// The values that are opened to all members during the run.
    opened: Vec<String>,
    /// Further values that three parties see, in words.
    leaks: Vec<String>,
    protocols: Vec<Figures>,
    refused: Vec<Refusal>,
}

/// The part of one member.
#[derive(Serialize)]
struct ExplainedMember {
    name: String,
    brings: Vec<String>,
    learns: Vec<String>,
}

fn explain(args: &CostArgs) -> Result<(), Error> {
    let c = load(&args.of.file)?;
    let costs = costs(args, &c)?;
    let mut files = RunFiles::new(args.replace.force);
    files.reads("the computation", &args.of.file);
    let file = json_file(&mut files, args.json.as_deref(), &format!("compute explain, {}", c.name()), 0o644)?;
    let mut text = c.explain();
    if !costs.symbols.is_empty() {
        let _ = writeln!(text, "with {}:", lengths(&costs.symbols));
    }
    for of in &costs.protocols {
        let _ = writeln!(
            text,
            "  {} takes {} parties {} round{}{}{}, and none sends more than {}: about {} on one machine, {} \
             in one room (10 Gbit/s, 0.2 ms), {} across a continent (100 Mbit/s, 40 ms){}",
            of.protocol,
            word(of.parties.into()),
            of.rounds,
            if of.rounds == 1 { "" } else { "s" },
            if of.wan_rounds == of.rounds {
                String::new()
            } else {
                format!(" ({} where they are far apart)", of.wan_rounds)
            },
            of.ands.map_or(String::new(), |ands| format!(" and {ands} ANDs")),
            size::show(of.bytes_sent),
            seconds(of.loopback_seconds),
            seconds(of.lan_seconds),
            seconds(of.wan_seconds),
            of.memory_bytes
                .map_or(String::new(), |bytes| format!("; up to {} of memory a party", size::show(bytes)))
        );
    }
    for Refusal { protocol, cause, remedy } in &costs.refused {
        let _ = writeln!(text, "  {protocol} cannot run it: {cause}; {remedy}");
    }
    let Explanation { members, public, secret, opened, leaks, lengths: _ } = c.explained();
    let part = |MembersPart { name, brings, learns }| ExplainedMember { name, brings, learns };
    let explained = Explained {
        computation: costs.computation,
        digest: hex::encode(c.digest()),
        symbols: costs.symbols,
        members: members.into_iter().map(part).collect(),
        public,
        secret,
        opened,
        leaks,
        protocols: costs.protocols,
        refused: costs.refused,
    };
    crate::run_report::deliver(Some(text.into_bytes()), &explained, file, args.json.as_deref())
}

fn cost(args: &CostArgs) -> Result<(), Error> {
    let c = load(&args.of.file)?;
    let costs = costs(args, &c)?;
    let mut files = RunFiles::new(args.replace.force);
    files.reads("the computation", &args.of.file);
    let file = json_file(&mut files, args.json.as_deref(), &format!("compute cost, {}", c.name()), 0o644)?;
    let mut text = String::new();
    let of = lengths(&costs.symbols);
    let _ = writeln!(text, "{}{}{of}", c.name(), if of.is_empty() { "" } else { " with " });
    let _ = writeln!(
        text,
        "{:<12} {:>12} {:>8} {:>12} {:>12} {:>12} {:>12}",
        "", "ANDs", "rounds", "sent", "loopback", "lan", "wan"
    );
    for of in &costs.protocols {
        let [here, lan, wan] = [of.loopback_seconds, of.lan_seconds, of.wan_seconds].map(seconds);
        let (sent, ands) =
            (size::show(of.bytes_sent), of.ands.map_or("-".to_owned(), |ands| ands.to_string()));
        let _ = writeln!(
            text,
            "{:<12} {:>12} {:>8} {sent:>12} {here:>12} {lan:>12} {wan:>12}",
            of.protocol, ands, of.rounds
        );
    }
    for Refusal { protocol, cause, remedy } in &costs.refused {
        let _ = writeln!(text, "{protocol:<12} cannot run it: {cause}; {remedy}");
    }
    crate::run_report::deliver(Some(text.into_bytes()), &costs, file, args.json.as_deref())
}

fn eval(args: &EvalArgs) -> Result<(), Error> {
    args.values.streams(&args.file)?;
    let c = load(&args.file)?;
    let mut lengths = args.values.symbols(&c)?;
    let (places, outputs) = (args.values.inputs(&c, &BTreeMap::new())?, args.values.outputs(&c)?);
    let mut files = RunFiles::new(args.replace.force);
    files.reads("the computation", &args.file);
    for (name, place) in &places {
        place.paths().into_iter().for_each(|path| files.reads(format!("input {name}"), path));
    }
    let mut begun = vec![];
    for (name, place) in &outputs {
        if let OutputPlace::Csv(path) | OutputPlace::File(path) = place {
            let job = format!("output {name} of {}", c.name());
            begun.push((name.as_str(), place, files.create("with --out", path, &job, 0o600)?));
        }
    }
    let report = json_file(&mut files, args.json.as_deref(), &format!("compute eval, {}", c.name()), 0o600)?;
    let (mut inputs, mut known, mut remarks) = (BTreeMap::new(), BTreeMap::new(), vec![]);
    let wrong = |e: ComputeError| Error::Job(e.fault().coded(code::COMPUTATION).during("the computation"));
    // The error is the same as for a member's values in a run.
    let unfit = |e: ComputeError| match e {
        ComputeError::Input { .. } => Error::Job(e.fault().during("reading inputs")),
        e => wrong(e),
    };
    for (name, ty) in c.inputs() {
        let (tensor, remark) = read_input(name, ty, &places[name], &lengths)?;
        remark.iter().for_each(|remark| log::note!("note: {remark}"));
        remarks.extend(remark);
        known.insert(name.to_owned(), tensor.lengths().to_vec());
        lengths = c.symbols_with(&lengths, &known).map_err(unfit)?;
        inputs.insert(name.to_owned(), tensor);
    }
    let bound = c.bind(&lengths).map_err(unfit)?;
    fits(&bound)?;
    let results = evaluate(&bound, &inputs).map_err(unfit)?;
    let shown = |tensor: &Tensor| Shown::new(tensor.scalar(), tensor.lengths(), &tensor.records());
    for (name, place, file) in begun {
        let tensor = &results[name];
        match place {
            OutputPlace::Csv(_) => file.write(shown(tensor).csv(name).as_bytes())?,
            OutputPlace::File(path) => {
                let form = OutputForm::of(name, tensor.scalar(), path)?;
                file.write(&form.bytes(tensor.scalar(), tensor.lengths(), &tensor.records()))?;
            }
            _ => {}
        }
    }
    let printed: Vec<_> = c.outputs().iter().filter(|output| !outputs.contains_key(&output.name)).collect();
    let printed: Vec<_> =
        printed.iter().map(|output| (&output.name, shown(&results[&output.name]))).collect();
    let text: String = printed.iter().map(|(name, shown)| shown.line(name)).collect();
    let found = printed.iter().map(|(name, shown)| ((*name).clone(), shown.json())).collect();
    let evaluated = Evaluated { computation: c.name().to_owned(), symbols: lengths, outputs: found, remarks };
    crate::run_report::deliver(Some(text.into_bytes()), &evaluated, report, args.json.as_deref())
}

/// The content of `eval --json`.
#[derive(Serialize)]
struct Evaluated {
    computation: String,
    symbols: BTreeMap<String, u64>,
    /// Elements by the output's name; outputs that were written to files are not included.
    outputs: BTreeMap<String, serde_json::Value>,
    /// Remarks on inputs, such as numbers that were rounded.
    remarks: Vec<String>,
}
