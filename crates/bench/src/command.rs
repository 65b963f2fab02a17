//! The command line of the benchmarks: their choice, options, errors and exit codes.

use clap::{
    Arg, ArgAction, ArgMatches, Args, Command, CommandFactory, FromArgMatches, Parser, ValueEnum,
    builder::ValueParser,
};
use hushwire_aes::Backend;
use hushwire_bench::{
    BENCHES, Bench, BenchAsked, BenchError, BenchOptions, OwnOption, RECEIVES, Result, Takes, network,
    receive,
};
use std::{env, fmt, io, path::PathBuf, process::ExitCode};

/// Measure against the limit of this machine, and draw what was measured.
#[derive(Parser)]
#[command(
    name = "hushwire bench",
    bin_name = "hushwire bench",
    version,
    subcommand_required = true,
    arg_required_else_help = true,
    after_help = "Examples:\n  hushwire bench aes --quick --json aes.json\n  hushwire bench aes3 --json aes3.json\n  hushwire bench plot aes.json aes3.json --out bench.svg"
)]
struct Cli {
    #[command(flatten)]
    log: LogArgs,
}

/// The options that every command of `hushwire` takes; a benchmark has little to say on stderr.
#[derive(Args)]
#[command(next_help_heading = "Diagnostics")]
struct LogArgs {
    /// Changes nothing: a benchmark has no more messages
    #[arg(short, long, global = true, action = ArgAction::Count, conflicts_with = "quiet", hide = true)]
    verbose: u8,
    /// Changes nothing: a benchmark has no fewer messages
    #[arg(short, long, global = true, hide = true)]
    quiet: bool,
    /// The format of errors: text for people, json for programs, one object a line
    #[arg(long, global = true, value_name = "FORMAT", value_enum, default_value_t)]
    log_format: LogFormat,
}

/// The format of errors.
#[derive(Clone, Copy, Default, PartialEq, ValueEnum)]
enum LogFormat {
    #[default]
    Text,
    Json,
}

#[derive(Args)]
struct TierArgs {
    /// The AES instructions to use: portable, neon, aesni, vaes256 or vaes512 [default: all, or the
    /// widest]
    #[arg(long, value_name = "TIER", env = hushwire_aes::ENV, hide_env_values = true)]
    aes_backend: Option<String>,
}

#[derive(Args)]
struct NetArgs {
    /// Measure over this modelled network alone: none, lan, wan, or rate and round trip as in
    /// 1Gbps,5ms [default: none, lan and wan]
    #[arg(long, value_name = "NET")]
    net: Option<String>,
}

#[derive(Args)]
struct PlotArgs {
    /// Reports; several are drawn beside each other
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// The picture to write, as SVG
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
}

/// Writes a line to standard error. A failure is ignored, because the exit code reports the same.
fn told(line: fmt::Arguments<'_>) {
    let _ = io::Write::write_all(&mut io::stderr(), format!("{line}\n").as_bytes());
}

/// The command line, with a command for each benchmark, and `plot`.
fn commands() -> Command {
    let measure = benches().map(|bench| {
        let mut command = BenchOptions::augment_args(Command::new(bench.name));
        if bench.takes >= Takes::Tier {
            command = TierArgs::augment_args(command);
        }
        if bench.takes >= Takes::Net {
            command = NetArgs::augment_args(command);
        }
        let command = command.about(bench.about).after_help(bench.examples);
        bench.own.iter().map(option).fold(command, Command::arg)
    });
    let plot = PlotArgs::augment_args(Command::new("plot"))
        .about("Draw reports that `--json` wrote: bars, and lines over what was swept")
        .after_help("Example:\n  hushwire bench plot before.json after.json --out change.svg");
    Cli::command().subcommands(measure).subcommand(plot)
}

fn benches() -> impl Iterator<Item = &'static Bench> {
    BENCHES.iter().copied().flatten()
}

/// An option that only one benchmark has.
fn option(own: &'static OwnOption) -> Arg {
    let arg = Arg::new(own.name).long(own.name).help(own.help);
    let Some(value) = own.value else { return arg.action(ArgAction::SetTrue) };
    arg.value_name(value).value_parser(match own.check {
        Some(check) => ValueParser::new(move |text: &str| check(text).map(|()| text.to_owned())),
        None => ValueParser::path_buf(),
    })
}

/// Parsed options. If they do not fit, the program ends with its usage.
fn read<T: FromArgMatches>(matches: &ArgMatches) -> T {
    T::from_arg_matches(matches).unwrap_or_else(|e| e.exit())
}

/// The options of a benchmark's command line.
fn asked(bench: &'static Bench, matches: &ArgMatches) -> Result<BenchAsked> {
    let mut asked = BenchAsked { options: read(matches), ..BenchAsked::default() };
    if bench.takes >= Takes::Tier {
        let TierArgs { aes_backend } = read(matches);
        let name = aes_backend.filter(|name| !name.is_empty());
        let named = name.as_deref().map(Backend::named).transpose();
        asked.backend = named.map_err(|e| BenchError::Asked(e.to_string()))?;
    }
    if bench.takes >= Takes::Net {
        let NetArgs { net } = read(matches);
        asked.net = net.as_deref().map(network).transpose()?;
    }
    for own in bench.own {
        let given = match own.value {
            Some(_) => matches.get_raw(own.name).and_then(|mut values| values.next().map(Into::into)),
            None => matches.get_flag(own.name).then(Default::default),
        };
        asked.own.extend(given.map(|value| (own.name, value)));
    }
    Ok(asked)
}

/// Runs the command that the process's arguments name.
pub(crate) fn main() -> ExitCode {
    // This is a process of the service's benchmark, and not a command for people.
    if env::args_os().nth(1).is_some_and(|arg| arg == RECEIVES) {
        return receive().map_or_else(
            |e| {
                told(format_args!("error: {e}"));
                ExitCode::FAILURE
            },
            |()| ExitCode::SUCCESS,
        );
    }
    let matches = commands().get_matches();
    let cli: Cli = read(&matches);
    match matches.subcommand().map_or(Ok(()), |(name, matches)| run(name, matches)) {
        Ok(()) => ExitCode::SUCCESS,
        // A reader that stops early (`| head`) is not an error.
        Err(BenchError::Output(e)) if e.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(e) => {
            match cli.log.log_format {
                LogFormat::Text => told(format_args!("error: {e}")),
                LogFormat::Json => {
                    let line = serde_json::json!({"level": "ERROR", "message": e.to_string(), "exit_code": e.exit_code()});
                    told(format_args!("{line}"));
                }
            }
            ExitCode::from(e.exit_code())
        }
    }
}

fn run(name: &str, matches: &ArgMatches) -> Result<()> {
    if let Some(bench) = benches().find(|bench| bench.name == name) {
        bench.run(&asked(bench, matches)?)?;
        return Ok(());
    }
    let plot: PlotArgs = read(matches);
    let picture = hushwire_bench::plot::svg(&plot.files)?;
    hushwire_bench::plot::save(&plot.out, &picture)
}
