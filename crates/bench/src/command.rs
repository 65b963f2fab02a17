//! The command line of the benchmarks: which one, its options, its errors and exit codes.

use clap::{ArgAction, Args, Parser, Subcommand, ValueEnum};
use hushwire_aes::Backend;
use hushwire_bench::{BenchOptions, Error as BenchError};
use hushwire_wire::Shape;
use std::{fmt, io, path::PathBuf, process::ExitCode};

/// Measure against the limit of this machine, and draw what was measured.
#[derive(Parser)]
#[command(
    name = "hushwire bench",
    bin_name = "hushwire bench",
    version,
    arg_required_else_help = true,
    after_help = "Examples:\n  hushwire bench aes --quick --json aes.json\n  hushwire bench aes3 --json aes3.json\n  hushwire bench plot aes.json aes3.json --out bench.svg"
)]
struct Cli {
    #[command(subcommand)]
    bench: Bench,
    #[command(flatten)]
    log: LogArgs,
}

/// The options that every command of `hushwire` takes; a benchmark has little to say on stderr.
#[derive(Args)]
#[command(next_help_heading = "Diagnostics")]
struct LogArgs {
    /// Nothing more is said than without it
    #[arg(short, long, global = true, action = ArgAction::Count, conflicts_with = "quiet", hide = true)]
    verbose: u8,
    /// Nothing less is said than without it
    #[arg(short, long, global = true, hide = true)]
    quiet: bool,
    /// The format of errors: text for people, json for programs, one object a line
    #[arg(long, global = true, value_name = "FORMAT", value_enum, default_value_t)]
    log_format: Format,
}

/// The format of errors.
#[derive(Clone, Copy, Default, PartialEq, ValueEnum)]
enum Format {
    #[default]
    Text,
    Json,
}

/// The reason why there is no result.
enum Error {
    /// The command line does not make sense.
    Usage(String),
    /// The benchmark failed.
    Failed(BenchError),
}

impl Error {
    fn code(&self) -> u8 {
        match self {
            Self::Failed(BenchError::Output(_) | BenchError::File { .. } | BenchError::NotAReport { .. }) => {
                4
            }
            Self::Failed(BenchError::Taken { .. }) => 5,
            Self::Usage(_)
            | Self::Failed(
                BenchError::SelectionForm(_)
                | BenchError::UnknownKey { .. }
                | BenchError::UnknownValue { .. }
                | BenchError::NoRow(_)
                | BenchError::EmptySet(_)
                | BenchError::NothingToPlot(_),
            ) => 2,
            Self::Failed(_) => 1,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Usage(why) => f.write_str(why),
            Self::Failed(e) => e.fmt(f),
        }
    }
}

impl From<BenchError> for Error {
    fn from(e: BenchError) -> Self {
        Self::Failed(e)
    }
}

#[derive(Subcommand)]
enum Bench {
    /// AES, hashes and transposition on one core, on every tier of this CPU.
    #[command(after_help = "Example:\n  hushwire bench aes --only mode=ctr,resident=l1 --json aes.json")]
    Aes(MeasureArgs),
    /// AES-128 among three parties on shares: S-boxes, keys, batches and transports, beside the papers' figures.
    #[command(
        after_help = "Example:\n  hushwire bench aes3 --only sbox=tower,blocks=100000 --json aes3.json"
    )]
    Aes3(NetArgs),
    /// AND gates among three parties on shares: bare products and circuits, over every transport and modelled networks.
    #[command(
        after_help = "Example:\n  hushwire bench rep3 --only workload=aes128,net=none --json rep3.json"
    )]
    Rep3(NetArgs),
    /// Operations on columns of numbers among three parties: products, matrices, convolutions and what else there is.
    #[command(
        after_help = "Example:\n  hushwire bench compute --only op=matmul,type=u32,net=none --json compute.json"
    )]
    Compute(NetArgs),
    /// Oblivious transfers between two parties: protocols, security, kinds and transports, beside the VASA paper's.
    #[command(
        after_help = "Examples:\n  hushwire bench ot --only protocol=softspoken4,net=none,threads=1 --json ot.json\n  hushwire bench ot --paper                          Table 5 of the VASA paper, ours beside"
    )]
    Ot(OtArgs),
    /// Garbled circuits on one core: schemes, tiers, batch widths, file order against depth order.
    #[command(
        after_help = "Examples:\n  hushwire bench garble --only scheme=mi,circuit=aes128,tier=vaes512 --json garble.json\n  hushwire bench garble --circuit adder.txt --only circuit=adder,width=1024"
    )]
    Garble(GarbleArgs),
    /// Table 8 of the VASA paper: four circuits, four schemes, with batching and wider AES or without.
    #[command(after_help = "Example:\n  hushwire bench table8 --only circuit=aes --json table8.json")]
    Table8(OptionsArgs),
    /// Table 4 of the VASA paper: geometric means of Table 8.
    #[command(after_help = "Example:\n  hushwire bench table4 --only scheme=mi --json table4.json")]
    Table4(OptionsArgs),
    /// Yao's protocol end to end: circuits one at a time and streamed, over every transport and modelled networks.
    #[command(
        after_help = "Example:\n  hushwire bench yao --only circuit=aes128,transport=tcp-insecure --json yao.json"
    )]
    Yao(NetArgs),
    /// Authenticated garbling among n parties of which all but one may cheat: every phase, 2 to 8 parties, every transport.
    #[command(
        after_help = "Example:\n  hushwire bench authgarble --only circuit=aes128,parties=3,transport=inproc --json authgarble.json"
    )]
    Authgarble(NetArgs),
    /// Table 6 of the VASA paper: SHA-256 among three parties of which two may cheat, phase by phase.
    #[command(
        after_help = "Example:\n  hushwire bench table6 --only phase=online,transport=tcp-tls --net lan --json table6.json"
    )]
    Table6(NetArgs),
    /// Private set intersection of items in memory: methods, results and sizes from 2^12 to 10^7.
    #[command(
        after_help = "Example:\n  hushwire bench psi --only method=vole,n=1048576,net=none --json psi.json"
    )]
    Psi(NetArgs),
    /// Neural networks with secret weights and inputs, whole and layer by layer.
    #[command(
        after_help = "Example:\n  hushwire bench infer --only network=squeezenet,ring=32,net=none --json infer.json"
    )]
    Infer(NetArgs),
    /// Table 9 of the VASA paper: networks between two parties, operation by operation, with batching and wider AES or without.
    #[command(
        after_help = "Example:\n  hushwire bench table9 --only network=squeezenet-cifar,linear=he,ot=softspoken4,ring=37,net=lan --json table9.json"
    )]
    Table9(NetArgs),
    /// Table 7 of the VASA paper: geometric means of Table 9.
    #[command(
        after_help = "Example:\n  hushwire bench table7 --only networks=squeezenets,linear=he,ring=32,transport=tcp-tls --net 1Gbps,5ms --json table7.json"
    )]
    Table7(NetArgs),
    /// Relational operators among three parties on tables that nobody sees: sorts, filters, groups and joins.
    #[command(after_help = "Example:\n  hushwire bench tables --only op=join,net=none --json tables.json")]
    Tables(NetArgs),
    /// The 22 queries of TPC-H among three parties on tables that nobody sees.
    #[command(after_help = "Example:\n  hushwire bench tpch --only query=6,scale=0.01 --json tpch.json")]
    Tpch(NetArgs),
    /// The hardware party in cycles and fabric, by simulation and synthesis, beside the FPGA paper's Table II.
    #[command(
        after_help = "Example:\n  hushwire bench fpga --only design=party --json fpga.json\nNeeds verilator and yosys: hdl/setup"
    )]
    Fpga(OptionsArgs),
    /// Draw reports that `--json` wrote: bars, and lines over what was swept.
    #[command(after_help = "Example:\n  hushwire bench plot before.json after.json --out change.svg")]
    Plot(PlotArgs),
}

#[derive(Args)]
struct MeasureArgs {
    #[command(flatten)]
    options: BenchOptions,
    /// The AES instructions to use: portable, neon, aesni, vaes256 or vaes512 [default: all, or the widest]
    #[arg(long, value_name = "TIER", env = hushwire_aes::ENV, hide_env_values = true)]
    aes_backend: Option<String>,
}

#[derive(Args)]
struct OptionsArgs {
    #[command(flatten)]
    options: BenchOptions,
}

#[derive(Args)]
struct GarbleArgs {
    #[command(flatten)]
    measure: MeasureArgs,
    /// Measure this Bristol file too; rows have its name, without its ending
    #[arg(long, value_name = "FILE")]
    circuit: Option<PathBuf>,
}

#[derive(Args)]
struct NetArgs {
    #[command(flatten)]
    measure: MeasureArgs,
    /// Measure over this modelled network alone: none, lan, wan, or rate and round trip as in 1Gbps,5ms
    /// [default: none, lan and wan]
    #[arg(long, value_name = "NET")]
    net: Option<String>,
}

impl NetArgs {
    /// The tier, and the network that was asked for.
    fn given(&self) -> Result<(Backend, Option<Shape>), Error> {
        let net = self.net.as_deref().map(str::parse).transpose();
        let net = net.map_err(|e: hushwire_machine::NetError| Error::Usage(format!("--net: {e}")))?;
        Ok((self.measure.backend()?.unwrap_or_default(), net))
    }
}

#[derive(Args)]
struct OtArgs {
    #[command(flatten)]
    net: NetArgs,
    /// OTs of a row; portable rows make a 64th of them, rows that encrypt block by block an eighth
    /// [default: 10000000, with --quick 1000000]
    #[arg(long, value_name = "N", value_parser = count)]
    count: Option<usize>,
    /// Measure what stands in the VASA paper's Table 5, and print that table with ours beside
    #[arg(long)]
    paper: bool,
}

/// A number of OTs, as in 10_000_000.
fn count(text: &str) -> Result<usize, String> {
    match text.replace('_', "").parse() {
        Ok(n) if (1..=1 << 32).contains(&n) => Ok(n),
        _ => Err("expected a number of OTs, at least 1 and at most 2^32".to_owned()),
    }
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

impl MeasureArgs {
    /// The tier that was asked for.
    fn backend(&self) -> Result<Option<Backend>, Error> {
        let name = self.aes_backend.as_deref().filter(|name| !name.is_empty());
        name.map(Backend::named).transpose().map_err(|e| Error::Usage(e.to_string()))
    }
}

/// A line on standard error, if that takes it: the exit code says as much.
fn told(line: fmt::Arguments<'_>) {
    let _ = io::Write::write_all(&mut io::stderr(), format!("{line}\n").as_bytes());
}

/// Runs what the process's arguments ask for.
pub(crate) fn main() -> ExitCode {
    let cli = Cli::parse();
    match run(&cli.bench) {
        Ok(()) => ExitCode::SUCCESS,
        // A reader that has seen enough (`| head`) is no error.
        Err(Error::Failed(BenchError::Output(e))) if e.kind() == io::ErrorKind::BrokenPipe => {
            ExitCode::SUCCESS
        }
        Err(e) => {
            match cli.log.log_format {
                Format::Text => told(format_args!("error: {e}")),
                Format::Json => {
                    let line = serde_json::json!({"level": "ERROR", "message": e.to_string(), "exit_code": e.code()});
                    told(format_args!("{line}"));
                }
            }
            ExitCode::from(e.code())
        }
    }
}

fn run(bench: &Bench) -> Result<(), Error> {
    match bench {
        Bench::Aes(args) => {
            let tier = args.backend()?.map(Backend::tier);
            hushwire_bench::aes::run(&args.options, tier)?;
        }
        Bench::Aes3(args) => {
            let (backend, net) = args.given()?;
            hushwire_bench::aes3::run(&args.measure.options, backend, net)?;
        }
        Bench::Rep3(args) => {
            let (backend, net) = args.given()?;
            hushwire_bench::rep3::run(&args.measure.options, backend, net)?;
        }
        Bench::Compute(args) => {
            let (backend, net) = args.given()?;
            hushwire_bench::compute::run(&args.measure.options, backend, net)?;
        }
        Bench::Ot(args) => {
            let (backend, net) = (args.net.measure.backend()?, args.net.given()?.1);
            let wanted = hushwire_bench::ot::Wanted { backend, net, count: args.count, paper: args.paper };
            hushwire_bench::ot::run(&args.net.measure.options, &wanted)?;
        }
        Bench::Garble(args) => {
            let (backend, circuit) = (args.measure.backend()?, args.circuit.clone());
            let wanted = hushwire_bench::garble::Wanted { backend, circuit };
            hushwire_bench::garble::run(&args.measure.options, &wanted)?;
        }
        Bench::Table8(args) => {
            hushwire_bench::table8::run(&args.options)?;
        }
        Bench::Table4(args) => {
            hushwire_bench::table8::means(&args.options)?;
        }
        Bench::Fpga(args) => {
            hushwire_bench::fpga::run(&args.options)?;
        }
        Bench::Yao(args) => {
            let (backend, net) = (args.measure.backend()?, args.given()?.1);
            let wanted = hushwire_bench::yao::Wanted { backend, net };
            hushwire_bench::yao::run(&args.measure.options, &wanted)?;
        }
        Bench::Authgarble(args) => {
            let (backend, net) = args.given()?;
            hushwire_bench::authgarble::run(&args.measure.options, backend, net)?;
        }
        Bench::Table6(args) => {
            let (backend, net) = args.given()?;
            hushwire_bench::authgarble::table6(&args.measure.options, backend, net)?;
        }
        Bench::Infer(args) => {
            let (backend, net) = args.given()?;
            hushwire_bench::infer::run(&args.measure.options, backend, net)?;
        }
        Bench::Table9(args) => {
            let (backend, net) = args.given()?;
            hushwire_bench::infer::table9(&args.measure.options, backend, net)?;
        }
        Bench::Table7(args) => {
            let (backend, net) = args.given()?;
            hushwire_bench::infer::table7(&args.measure.options, backend, net)?;
        }
        Bench::Psi(args) => {
            let (backend, net) = (args.measure.backend()?, args.given()?.1);
            hushwire_bench::psi::run(&args.measure.options, backend.unwrap_or_default(), net)?;
        }
        Bench::Tables(args) => {
            let (backend, net) = args.given()?;
            hushwire_bench::tables::run(&args.measure.options, backend, net)?;
        }
        Bench::Tpch(args) => {
            let (backend, net) = args.given()?;
            hushwire_bench::tpch::run(&args.measure.options, backend, net)?;
        }
        Bench::Plot(plot) => {
            let picture = hushwire_bench::plot::svg(&plot.files)?;
            hushwire_bench::plot::save(&plot.out, &picture)?;
        }
    }
    Ok(())
}
