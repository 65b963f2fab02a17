//! `hushwire model`: shows and checks models, plans their networks, and makes example models.

mod check;

use crate::{
    error::Error,
    files::{NewFile, Replace, RunFiles, is_stream, json_file, one_stream, reads},
    log,
    model_given::{GivenArgs, Named, all_by_name, in_its_way, options_of},
    out,
    run_report::deliver,
};
use check::{CheckArgs, check};
use clap::{Args, Subcommand};
use hushwire::job::{Fault, InputPlace, model, network_given, read_array, samples};
use hushwire_nn::{
    Choice, Distance, Finding, Members, Network, Numbers, SampleRange, Samples, Secure, Wanted, npy, zoo,
};
use serde::Serialize;
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
  hushwire model check m.onnx --data x.npy --labels y.npy
                                      accuracy in both, and the fewest bits that lose none of it
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
    #[command(after_help = "Examples:\n  hushwire model info m.onnx\n  hushwire model info m.onnx --explain")]
    Info(InfoArgs),
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
    /// Bits of every number, 16 to 64, or auto: the fewest of 32 to 64 with which results on sample
    /// inputs are within 1 % of those in floating point. The members of a job learn the choice
    #[arg(long, value_name = "N", default_value = "auto", value_parser = bits_or_auto)]
    bits: Bits,
    /// Fractional bits of inputs and outputs, 4 to 32, and 8 fewer than --bits at most [default:
    /// about a third]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(4..=32))]
    frac: Option<u8>,
    /// Bits that are cut behind each layer with weights, 1 to 58: --bits less --frac less 2 at most
    /// [default: six tenths of what --frac leaves, up to 24]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..=58))]
    cut: Option<u8>,
}

/// `None` chooses the bits that the network needs.
type Bits = Option<u8>;

fn bits_or_auto(text: &str) -> Result<Bits, String> {
    if text == "auto" {
        return Ok(None);
    }
    let bits = text.parse().ok().filter(|bits| (16..=64).contains(bits));
    bits.map(Some).ok_or_else(|| "it is auto, or a number from 16 to 64".to_owned())
}

impl NumbersArgs {
    pub(crate) fn wanted(self) -> Result<Wanted, Error> {
        let wanted = Wanted { bits: self.bits, frac: self.frac, cut: self.cut };
        wanted.usual().check().map_err(|e| Error::Usage(e.to_string()))?;
        Ok(wanted)
    }
}

/// The inputs from which scales and the number of bits come.
#[derive(Args, Clone)]
pub(crate) struct SamplesArgs {
    /// Inputs from which scales and the number of bits come, as a NumPy file; NAME=FILE for one of
    /// several inputs [default: inputs that are made up]
    #[arg(long, value_name = "[NAME=]FILE")]
    pub(crate) calibrate: Vec<Named>,
    /// The range of made-up inputs, as in 0,255 [default: normally distributed, of mean 0 and
    /// deviation 1]
    #[arg(long, value_name = "LOW,HIGH", allow_hyphen_values = true, conflicts_with = "calibrate")]
    pub(crate) range: Option<SampleRange>,
}

impl SamplesArgs {
    fn samples(&self, network: &Network) -> Result<Samples, Error> {
        let calibration = self.files(network)?;
        let calibration =
            calibration.map(|files| files.into_iter().map(read_array).collect::<Result<Vec<_>, _>>());
        Ok(samples(network, calibration.transpose()?.as_deref(), self.range)?)
    }

    /// Returns the files of calibration inputs, in the network's order.
    pub(crate) fn files(&self, network: &Network) -> Result<Option<Vec<&Path>>, Error> {
        if self.calibrate.is_empty() {
            return Ok(None);
        }
        let names: Vec<String> = network.inputs.iter().map(|(name, _)| name.clone()).collect();
        all_by_name("--calibrate", &self.calibrate, &names).map(Some)
    }

    /// Returns all files, as they were given.
    pub(crate) fn paths(&self) -> impl Iterator<Item = &Path> {
        self.calibrate.iter().map(Named::whole)
    }
}

#[derive(Args)]
struct OneArgs {
    /// The model's ONNX file
    model: PathBuf,
    #[command(flatten)]
    given: GivenArgs,
    #[command(flatten)]
    numbers: NumbersArgs,
    #[command(flatten)]
    samples: SamplesArgs,
}

#[derive(Args)]
struct InfoArgs {
    #[command(flatten)]
    one: OneArgs,
    /// Say what is in the model's way line by line: the node, its operator, and what to do
    #[arg(long)]
    explain: bool,
}

#[derive(Args)]
struct PlanArgs {
    #[command(flatten)]
    one: OneArgs,
    /// The file of the network; - is standard output
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    /// Write a report for programs to FILE; - is standard output
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
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

/// The error of a model's file.
pub(crate) fn of_file(path: &Path, e: Fault) -> Error {
    e.within(path.display()).into()
}

/// Returns the computation of the network in a file.
pub(crate) fn planned(path: &Path, network: &Network, numbers: Numbers) -> Result<Secure, Error> {
    Secure::new(network, numbers, &Members::default()).map_err(|e| of_file(path, e))
}

/// Chooses the numbers of a network by the command line, and returns the warnings about them.
fn chosen(args: &OneArgs, network: &Network) -> Result<(Choice, Vec<Warned>), Error> {
    let wanted = args.numbers.wanted()?;
    // A network that cannot be computed is refused before any evaluation.
    planned(&args.model, network, wanted.usual())?;
    let samples = args.samples.samples(network)?;
    let choice = wanted.chosen(network, &samples).map_err(|e| of_file(&args.model, e))?;
    let warnings: Vec<Warned> = choice.finding.iter().map(Warned::of).collect();
    warnings.iter().for_each(Warned::note);
    Ok((choice, warnings))
}

/// A warning of a report.
#[derive(Serialize)]
pub(crate) struct Warned {
    layer: String,
    cause: String,
    remedy: String,
}

impl Warned {
    pub(crate) fn of(finding: &Finding) -> Self {
        let Finding { layer, cause, remedy } = finding.clone();
        Warned { layer, cause, remedy }
    }

    /// Prints the warning on standard error.
    pub(crate) fn note(&self) {
        let Warned { layer, cause, remedy } = self;
        log::warn(format_args!("layer {layer}: {cause}; {remedy}"));
    }
}

/// Returns the warning about layers whose values wrap. `rooms` are all layers with their room in
/// bits; room 0 means that the greatest value is just one too large.
pub(crate) fn wrapped<'a>(rooms: impl Iterator<Item = (&'a str, f32)>) -> Option<Warned> {
    let mut wrapped = rooms.filter(|(_, room)| *room <= 0.0);
    let (name, room) = wrapped.next()?;
    let more = match wrapped.count() {
        0 => String::new(),
        1 => ", as do those of another layer".to_owned(),
        n => format!(", as do those of {n} other layers"),
    };
    let cause =
        format!("its values are {:.1} bits too large and wrap{more}, so that the output is wrong", -room);
    let remedy = "take scales from inputs like these (--calibrate), or more bits (--bits)".into();
    Some(Warned { layer: name.to_owned(), cause, remedy })
}

/// Runs the command.
pub(crate) fn run(args: &ModelArgs) -> Result<(), Error> {
    match &args.command {
        ModelCommand::Info(InfoArgs { one: args, explain }) => {
            let read = model(&args.model)?;
            let found = match Network::assumed(&read, &args.given.given()?) {
                Err(faults) if *explain => return explained(&args.model, &faults),
                found => found.map_err(|faults| in_its_way(&args.model, faults))?,
            };
            planned(&args.model, &found.network, args.numbers.wanted()?.usual())?;
            let options = options_of(&found);
            if !options.is_empty() {
                log::note!("note: the model leaves open what is taken as {}", options.join(" "));
            }
            out::text(info(&found.network, &args.numbers.wanted()?)?)
        }
        ModelCommand::Check(args) => check(args),
        ModelCommand::Explain(args) => {
            let network = network_of(&args.model, &args.given)?;
            let secure = planned(&args.model, &network, chosen(args, &network)?.0.numbers)?;
            let told = secure.computation().explain();
            let weights = "a name that begins with weights, bias, terms, low, high, align, rows, select, bounds, paths, counts or leaves is the owner's; shapes show, values do not\n";
            out::text(told + weights)
        }
        ModelCommand::Plan(args) => plan(args),
        ModelCommand::Make(args) => {
            let made = zoo::make(&args.name, args.seed).map_err(|e| Error::Usage(e.to_string()))?;
            let outs = [("--out", Some(args.out.as_path())), ("--sample", args.sample.as_deref())];
            one_stream("standard output", outs)?;
            let mut run = RunFiles::new(args.replace.force);
            let out = output(&mut run, "with --out", &args.out, "a made model")?;
            // The name of the sample is checked before the first file is written.
            let sample = args.sample.as_deref();
            let sample = sample.map(|path| output(&mut run, "with --sample", path, "a sample input"));
            let sample = sample.transpose()?;
            write(out, &made.to_bytes())?;
            let Some(to) = sample else { return Ok(()) };
            let network = Network::new(made, None)?;
            let sample = zoo::sample(&network.layers[network.inputs[0].1].lengths, args.seed);
            write(to, &npy::write(&sample))
        }
    }
}

/// Prints each fault of a model, and returns an error with their number.
fn explained(path: &Path, faults: &[Fault]) -> Result<(), Error> {
    let lines: String = faults.iter().map(|fault| format!("{fault}\n")).collect();
    out::text(lines)?;
    let cause = match faults.len() {
        1 => "one thing is in its way".to_owned(),
        n => format!("{n} things are in its way"),
    };
    let place = path.display().to_string();
    let remedy = "change each, or export the model with other operators";
    Err(Fault::new(hushwire_fault::code::OPERATOR, place, cause, remedy).into())
}

/// Returns the network of a model's file.
fn network_of(path: &Path, given: &GivenArgs) -> Result<Network, Error> {
    Ok(network_given(&InputPlace::File(path.to_owned()), &given.given()?)?)
}

/// Creates the file of an output; `None` is standard output.
fn output(run: &mut RunFiles, option: &str, path: &Path, what: &str) -> Result<Option<NewFile>, Error> {
    Ok((!is_stream(path)).then(|| run.create(option, path, what, 0o644)).transpose()?)
}

fn write(to: Option<NewFile>, bytes: &[u8]) -> Result<(), Error> {
    match to {
        Some(file) => Ok(file.write(bytes)?),
        None => out::text(bytes),
    }
}

fn info(network: &Network, wanted: &Wanted) -> Result<String, Error> {
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
    let Some(secure) = wanted.mixed(network)?.into_iter().next() else { return Ok(text) };
    let [bits, _] = secure.numbers().told();
    let _ = writeln!(text, "if 32 bits are not enough, --bits auto may take {bits} bits, layer by layer:");
    for (layer, width) in network.layers.iter().zip(secure.widths()) {
        let _ = writeln!(text, "  {:>2} bits  {}: {}", width.bits, layer.name, width.why);
    }
    Ok(text)
}

fn plan(args: &PlanArgs) -> Result<(), Error> {
    let OneArgs { model, given, samples, .. } = &args.one;
    let outs = [("--out", Some(args.out.as_path())), ("--json", args.json.as_deref())];
    one_stream("standard output", outs)?;
    let ins = samples.paths().map(|path| ("--calibrate", Some(path)));
    one_stream("standard input", ins.chain([("the model", Some(model.as_path()))]))?;
    let network = network_of(model, given)?;
    let mut run = RunFiles::new(args.replace.force);
    reads(&mut run, "the model", model);
    let calibration = samples.files(&network)?.unwrap_or_default();
    calibration.into_iter().for_each(|path| reads(&mut run, "the calibration inputs", path));
    let (choice, warnings) = chosen(&args.one, &network)?;
    let secure = planned(model, &network, choice.numbers)?;
    let out = output(&mut run, "with --out", &args.out, "a network")?;
    let json = json_file(&mut run, args.json.as_deref(), "model plan", 0o644)?;
    write(out, secure.computation().to_string().as_bytes())?;
    if !is_stream(&args.out) {
        log::note!("{}", written(args, &network, &secure, &choice));
    }
    let report = Planned::of("model plan", &secure, &choice, warnings);
    deliver(None, &report, json, args.json.as_deref())
}

/// The text that `model plan` prints about the file that it wrote.
fn written(args: &PlanArgs, network: &Network, secure: &Secure, choice: &Choice) -> String {
    let ([bits, cut], frac) = (choice.numbers.told(), choice.numbers.frac);
    let products: u64 = (0..network.layers.len()).map(|at| network.products(at)).sum();
    let near = choice.distance.map_or(String::new(), |Distance { error, range, .. }| {
        format!(" On sample inputs its output is off by up to {error:.2e} where the range is {range:.2e}.")
    });
    format!(
        "{out} is the network of {model}, with the digest {digest}: {layers} layers, {weights} weights, {products} products, numbers of \
         {bits} bits, {frac} of them fractional and {cut} cut.{near}\n\
         It has none of the weights. Name it in the job of all members: network = \"{out}\".",
        out = args.out.display(),
        model = args.one.model.display(),
        digest = hex::encode(secure.computation().digest()),
        layers = network.layers.len(),
        weights = network.weights(),
    )
}

/// The numbers of a network in a report, and the error of results on sample inputs.
#[derive(Serialize)]
pub(crate) struct Ring {
    bits: u8,
    frac: u8,
    cut: u8,
    /// The bits of the wider ring of some layers, if there is one.
    wide_bits: Option<u8>,
    /// `None` if the network is too large to be evaluated before a run.
    error: Option<f32>,
    range: Option<f32>,
}

impl Ring {
    pub(crate) fn of(choice: &Choice) -> Self {
        let Numbers { bits, frac, cut, wide } = choice.numbers;
        let [error, range] = [choice.distance.map(|d| d.error), choice.distance.map(|d| d.range)];
        Ring { bits, frac, cut, wide_bits: wide.map(|wide| wide.bits), error, range }
    }
}

#[derive(Serialize)]
struct Planned {
    command: &'static str,
    version: &'static str,
    network: String,
    #[serde(flatten)]
    numbers: Ring,
    warnings: Vec<Warned>,
}

impl Planned {
    fn of(command: &'static str, secure: &Secure, choice: &Choice, warnings: Vec<Warned>) -> Self {
        Self {
            command,
            version: env!("CARGO_PKG_VERSION"),
            network: hex::encode(secure.computation().digest()),
            numbers: Ring::of(choice),
            warnings,
        }
    }
}
