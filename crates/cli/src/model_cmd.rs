//! `hushwire model`: look at models, check them, plan their networks, and make some to try.

use crate::{
    error::Error,
    files::{NewFile, Replace, RunFiles, is_stream, one_stream, reads},
    log, out,
};
use clap::{Args, Subcommand};
use hushwire_job::{JobError, Kind, network_of, read_array, sizes};
use hushwire_nn::{Array, Members, Network, NnError, Numbers, Report, Secure, npy, zoo};
use std::{
    fmt::Write,
    path::{Path, PathBuf},
};

pub(crate) const HELP: &str = "\
Examples:
  hushwire model make squeezenet-cifar --out m.onnx --sample x.npy
                                      a network with random weights, and an input
  hushwire model info m.onnx          layers, shapes, weights and products
  hushwire model check m.onnx         every operator is known, and what fixed point costs on an input made up
  hushwire model check m.onnx --input x.npy
                                      the fixed-point result against floating point, layer by layer
  hushwire model plan m.onnx --out network.hwc
                                      the network without weights: what members of a job agree on
  hushwire model explain m.onnx       what members bring and learn";

/// Look at ONNX models, check them in fixed point, and plan their networks.
#[derive(Args)]
pub(crate) struct ModelArgs {
    #[command(subcommand)]
    command: ModelCommand,
}

#[derive(Subcommand)]
enum ModelCommand {
    /// Show a model's layers, shapes, weights and products.
    #[command(after_help = "Example:\n  hushwire model info m.onnx")]
    Info(OneArgs),
    /// Compare the fixed-point result with floating point on an input, layer by layer.
    #[command(after_help = "Example:\n  hushwire model check m.onnx --input x.npy")]
    Check(CheckArgs),
    /// Show what members of an inference bring and learn.
    #[command(after_help = "Example:\n  hushwire model explain m.onnx")]
    Explain(OneArgs),
    /// Write a model's network without its weights: what members of a job agree on.
    #[command(after_help = "Example:\n  hushwire model plan m.onnx --out network.hwc")]
    Plan(PlanArgs),
    /// Write a network of a published architecture with random weights.
    #[command(after_help = "Example:\n  hushwire model make squeezenet-cifar --out m.onnx --sample x.npy")]
    Make(MakeArgs),
}

/// The ring and its numbers.
#[derive(Args, Clone, Copy)]
pub(crate) struct NumbersArgs {
    /// Bits of every number, 16 to 64; 32 and 64 are fastest, and more of them leave more room
    #[arg(long, value_name = "N", default_value_t = 32, value_parser = clap::value_parser!(u8).range(16..=64))]
    bits: u8,
    /// Fractional bits of inputs and outputs, 4 to 32, and 8 fewer than --bits at most [default: about a third]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(4..=32))]
    frac: Option<u8>,
    /// Bits that are cut behind each layer with weights, 1 to 58: --bits less --frac less 2 at most [default: six tenths of what --frac leaves, up to 24]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..=58))]
    cut: Option<u8>,
}

impl NumbersArgs {
    fn numbers(self) -> Result<Numbers, Error> {
        let usual = Numbers::with_frac(self.bits, self.frac.unwrap_or(Numbers::of(self.bits).frac));
        let numbers = Numbers { cut: self.cut.unwrap_or(usual.cut), ..usual };
        numbers.check().map_err(|e| Error::Usage(e.to_string()))?;
        Ok(numbers)
    }
}

#[derive(Args)]
struct OneArgs {
    /// The model's ONNX file
    model: PathBuf,
    /// The shape of its input, where the model leaves it open
    #[arg(long, value_name = "N,…", value_delimiter = ',')]
    shape: Option<Vec<usize>>,
    #[command(flatten)]
    numbers: NumbersArgs,
}

#[derive(Args)]
struct CheckArgs {
    /// The model's ONNX file
    model: PathBuf,
    /// A sample input as a NumPy file, or several along the first axis [default: one that is made up]
    #[arg(long, value_name = "FILE")]
    input: Option<PathBuf>,
    /// Inputs from which scales come, as a NumPy file [default: inputs that are made up]
    #[arg(long, value_name = "FILE")]
    calibrate: Option<PathBuf>,
    #[command(flatten)]
    numbers: NumbersArgs,
}

#[derive(Args)]
struct PlanArgs {
    #[command(flatten)]
    one: OneArgs,
    /// The file of the network; - is standard output
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    #[command(flatten)]
    replace: Replace,
}

#[derive(Args)]
struct MakeArgs {
    /// The network's name: squeezenet, squeezenet-cifar, resnet50 or densenet121
    name: String,
    /// The ONNX file; - is standard output
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    /// A NumPy file of a random input
    #[arg(long, value_name = "FILE")]
    sample: Option<PathBuf>,
    /// The seed of the weights
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    #[command(flatten)]
    replace: Replace,
}

/// The error of a model as commands have theirs.
pub(crate) fn of_nn(e: &NnError) -> Error {
    JobError::new(Kind::File, e.place(), e.cause(), e.remedy()).into()
}

/// The error of a file.
pub(crate) fn of_file(path: &Path, e: &NnError) -> Error {
    JobError::new(Kind::File, format!("{}, {}", path.display(), e.place()), e.cause(), e.remedy()).into()
}

/// The computation of the network that a file has.
pub(crate) fn planned(path: &Path, network: &Network, numbers: &NumbersArgs) -> Result<Secure, Error> {
    Secure::new(network, numbers.numbers()?, &Members::default()).map_err(|e| of_file(path, &e))
}

/// A warning about layers whose values wrap, of all with the room that is left to them: 0 is a value of just one more than fits.
pub(crate) fn wrapped<'a>(rooms: impl Iterator<Item = (&'a str, f32)>) -> Option<String> {
    let mut wrapped = rooms.filter(|(_, room)| *room <= 0.0);
    let (name, room) = wrapped.next()?;
    let more = match wrapped.count() {
        0 => String::new(),
        1 => ", as do those of another layer".to_owned(),
        n => format!(", as do those of {n} other layers"),
    };
    let remedy = "take scales from inputs like these (--calibrate), or more bits (--bits)";
    Some(format!(
        "warning: values of layer {name} are {:.1} bits too large and wrap{more}, so that the output is wrong; {remedy}",
        -room
    ))
}

/// Runs the command.
pub(crate) fn run(args: &ModelArgs) -> Result<(), Error> {
    match &args.command {
        ModelCommand::Info(args) => {
            let network = network_of(&args.model, args.shape.as_deref())?;
            planned(&args.model, &network, &args.numbers)?;
            out::text(info(&network))
        }
        ModelCommand::Check(args) => check(args),
        ModelCommand::Explain(args) => {
            let network = network_of(&args.model, args.shape.as_deref())?;
            let secure = planned(&args.model, &network, &args.numbers)?;
            let told = secure.computation().explain();
            let weights = "a name that begins with weights, bias, terms, low, high or align is the owner's; shapes show, values do not\n";
            out::text(told + weights)
        }
        ModelCommand::Plan(args) => {
            let network = network_of(&args.one.model, args.one.shape.as_deref())?;
            let secure = planned(&args.one.model, &network, &args.one.numbers)?;
            let mut run = RunFiles::new(args.replace.force);
            reads(&mut run, "the model", &args.one.model);
            let out = output(&mut run, "with --out", &args.out, "a network")?;
            write(out, secure.computation().to_string().as_bytes())
        }
        ModelCommand::Make(args) => {
            let made = zoo::make(&args.name, args.seed).map_err(|e| Error::Usage(e.to_string()))?;
            let outs = [("--out", Some(args.out.as_path())), ("--sample", args.sample.as_deref())];
            one_stream("standard output", outs)?;
            let mut run = RunFiles::new(args.replace.force);
            let out = output(&mut run, "with --out", &args.out, "a made model")?;
            // Its name is looked at before the first file is written.
            let sample = args.sample.as_deref();
            let sample = sample.map(|path| output(&mut run, "with --sample", path, "a sample input"));
            let sample = sample.transpose()?;
            write(out, &made.to_bytes())?;
            let Some(to) = sample else { return Ok(()) };
            let network = Network::new(made, None).map_err(|e| of_nn(&e))?;
            let sample = zoo::sample(&network.layers[network.inputs[0].1].lengths, args.seed);
            write(to, &npy::write(&sample))
        }
    }
}

/// Starts an output; none is standard output.
fn output(run: &mut RunFiles, option: &str, path: &Path, what: &str) -> Result<Option<NewFile>, Error> {
    Ok((!is_stream(path)).then(|| run.create(option, path, what, 0o644)).transpose()?)
}

fn write(to: Option<NewFile>, bytes: &[u8]) -> Result<(), Error> {
    match to {
        Some(file) => Ok(file.write(bytes)?),
        None => out::text(bytes),
    }
}

fn info(network: &Network) -> String {
    let mut text = format!("network {}\n", network.name);
    let mut products = 0;
    for (at, layer) in network.layers.iter().enumerate() {
        let own = network.products(at);
        products += own;
        // Writing to a string does not fail.
        let _ = writeln!(
            text,
            "  {:<20} {:<22} {:>10} weights {:>12} products  {}",
            layer.kind.name(),
            format!("{:?}", layer.lengths),
            layer.kind.weights(),
            own,
            layer.name
        );
    }
    let _ = writeln!(text, "{} weights, {products} products", network.weights());
    text
}

fn check(args: &CheckArgs) -> Result<(), Error> {
    let [input, calibrate] = [args.input.as_deref(), args.calibrate.as_deref()];
    let ins = [("the model", Some(args.model.as_path())), ("--input", input), ("--calibrate", calibrate)];
    one_stream("standard input", ins)?;
    let given = args.input.as_deref().map(read_array).transpose()?;
    let lengths = given.as_ref().map(|input: &Array| input.lengths.as_slice());
    let network = network_of(&args.model, lengths)?;
    let secure = planned(&args.model, &network, &args.numbers)?;
    let input = given.unwrap_or_else(|| zoo::sample(&network.layers[network.inputs[0].1].lengths, 0));
    secure.input(&input).map_err(|e| of_file(args.input.as_deref().unwrap_or(&args.model), &e))?;
    let calibration = args.calibrate.as_deref().map(read_array).transpose()?;
    let (greatest, headroom) = sizes(&network, calibration.as_ref())?;
    let report = Report::new(&network, secure.numbers(), &greatest, headroom, &input);
    let report = report.map_err(|e| of_file(&args.model, &e))?;
    let mut text = format!(
        "{:<20} {:>12} {:>12} {:>12} {:>6}  layer\n",
        "operator", "greatest", "error", "deviation", "room"
    );
    for layer in &report.layers {
        let _ = writeln!(
            text,
            "{:<20} {:>12.5} {:>12.6} {:>12.6} {:>6.1}  {}",
            layer.op, layer.greatest, layer.error, layer.deviation, layer.room, layer.name
        );
    }
    let of_model = network.places(network.outputs[0].1).is_some();
    let what = if of_model { "the place that the model finds" } else { "the first class" };
    if report.places > 0 {
        let _ = writeln!(text, "{what} is the same for {} of {}", report.agree, report.places);
    }
    let rooms = report.layers.iter().map(|layer| (layer.name.as_str(), layer.room));
    if let Some(warning) = wrapped(rooms) {
        log::note!("{warning}");
    }
    out::text(text)
}
