//! `hushwire model`: look at models, check them, plan their networks, and make some to try.

use crate::model_given::{GivenArgs, Named, all_by_name, in_its_way, options_of};
use crate::{
    error::Error,
    files::{NewFile, Replace, RunFiles, is_stream, json_file, one_stream, reads},
    log, out,
    run_report::deliver,
};
use clap::{Args, Subcommand};
use hushwire::job::{Fault, InputPlace, model, network_given, read_array, samples};
use hushwire_nn::{
    Array, Choice, DataReport, DataResult, Distance, Finding, LayerReport, Members, Network, NetworkReport,
    Numbers, SampleRange, Samples, Secure, Wanted, judged, npy, zoo,
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

/// None is as the network needs.
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

    /// The files of calibration inputs, in the network's order.
    pub(crate) fn files(&self, network: &Network) -> Result<Option<Vec<&Path>>, Error> {
        if self.calibrate.is_empty() {
            return Ok(None);
        }
        let names: Vec<String> = network.inputs.iter().map(|(name, _)| name.clone()).collect();
        all_by_name("--calibrate", &self.calibrate, &names).map(Some)
    }

    /// All files, as they were given.
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
struct CheckArgs {
    /// The model's ONNX file
    model: PathBuf,
    /// A sample input as a NumPy file, or several along the first axis; NAME=FILE for one of
    /// several inputs [default: one that is made up]
    #[arg(long, value_name = "[NAME=]FILE")]
    input: Vec<Named>,
    /// Data as a NumPy file, samples along the first axis: accuracy in floating point and in fixed
    /// point, and the fewest bits that lose at most a thousandth of the decisions; NAME=FILE for
    /// one of several inputs. Scales come from it, too, unless --calibrate or --range names others
    #[arg(long, value_name = "[NAME=]FILE", conflicts_with = "input")]
    data: Vec<Named>,
    /// The class of each sample of --data, as a NumPy file
    #[arg(long, value_name = "FILE", requires = "data")]
    labels: Option<PathBuf>,
    #[command(flatten)]
    given: GivenArgs,
    #[command(flatten)]
    numbers: NumbersArgs,
    #[command(flatten)]
    samples: SamplesArgs,
    /// Write a report for programs to FILE; - is standard output, in place of the table
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    #[command(flatten)]
    replace: Replace,
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

/// The error of a file.
pub(crate) fn of_file(path: &Path, e: Fault) -> Error {
    e.within(path.display()).into()
}

/// The computation of the network that a file has.
pub(crate) fn planned(path: &Path, network: &Network, numbers: Numbers) -> Result<Secure, Error> {
    Secure::new(network, numbers, &Members::default()).map_err(|e| of_file(path, e))
}

/// The numbers of a network from what the command line has, and what is told of them.
fn chosen(args: &OneArgs, network: &Network) -> Result<(Choice, Vec<Warned>), Error> {
    let wanted = args.numbers.wanted()?;
    // A network that cannot be computed is refused before anything is evaluated.
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

    /// On standard error.
    pub(crate) fn note(&self) {
        let Warned { layer, cause, remedy } = self;
        log::note!("warning: layer {layer}: {cause}; {remedy}");
    }
}

/// A warning about layers whose values wrap, of all with the room that is left to them: 0 is a
/// value of just one more than fits.
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
            out::text(info(&found.network))
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
            // Its name is looked at before the first file is written.
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

/// Prints each fault of a model, and ends with their number.
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

/// The network of a model's file.
fn network_of(path: &Path, given: &GivenArgs) -> Result<Network, Error> {
    Ok(network_given(&InputPlace::File(path.to_owned()), &given.given()?)?)
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
    let report = Planned {
        command: "model plan",
        version: env!("CARGO_PKG_VERSION"),
        network: hex::encode(secure.computation().digest()),
        numbers: Ring::of(&choice),
        warnings,
    };
    deliver(None, &report, json, args.json.as_deref())
}

/// The text of `model plan` about the file that it wrote.
fn written(args: &PlanArgs, network: &Network, secure: &Secure, choice: &Choice) -> String {
    let Numbers { bits, frac, cut } = choice.numbers;
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

/// The numbers of a network in a report, and how near results on sample inputs are.
#[derive(Serialize)]
pub(crate) struct Ring {
    bits: u8,
    frac: u8,
    cut: u8,
    /// None where the network is too large to be evaluated before a run.
    error: Option<f32>,
    range: Option<f32>,
}

impl Ring {
    pub(crate) fn of(choice: &Choice) -> Self {
        let Numbers { bits, frac, cut } = choice.numbers;
        let [error, range] = [choice.distance.map(|d| d.error), choice.distance.map(|d| d.range)];
        Ring { bits, frac, cut, error, range }
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

#[derive(Serialize)]
struct Checked {
    #[serde(flatten)]
    planned: Planned,
    /// Classes of the input that are compared, and those that are the same.
    classes: usize,
    agree: usize,
    layers: Vec<CheckedLayer>,
    #[serde(skip_serializing_if = "Option::is_none")]
    data: Option<CheckedData>,
}

#[derive(Serialize)]
struct CheckedLayer {
    name: String,
    operator: &'static str,
    greatest: f32,
    error: f32,
    deviation: f32,
    room: f32,
}

/// The result of a check on data.
#[derive(Serialize)]
struct CheckedData {
    samples: usize,
    /// Decisions that are right, if there are labels, in floating point and in fixed point.
    right_clear: Option<usize>,
    right: Option<usize>,
    /// The greatest error of an output, and the range of outputs.
    error: f32,
    range: f32,
    /// The samples on which rings were tried, and the fewest bits that are enough.
    tried_samples: usize,
    enough_bits: Option<u8>,
    tried: Vec<CheckedRing>,
}

#[derive(Serialize)]
struct CheckedRing {
    bits: u8,
    /// Null where the ring has no room for the network's values.
    differ: Option<usize>,
    right: Option<usize>,
    error: Option<f32>,
}

/// The results of a network on data.
fn check_data(args: &CheckArgs) -> Result<(), Error> {
    let read = model(&args.model)?;
    let mut known = args.given.given()?;
    let names = read.secret_inputs(&known);
    let files = all_by_name("--data", &args.data, &names)?;
    let data = files.iter().map(|path| read_array(path)).collect::<Result<Vec<Array>, _>>()?;
    // A model for any number of samples takes one at a time.
    let one = |array: &Array| [&[1][..], array.lengths.get(1..).unwrap_or_default()].concat();
    let set = known.shapes.clone();
    let open = names.iter().zip(&data).filter(|(name, _)| !set.contains_key(*name));
    known.shapes.extend(open.map(|(name, array)| (name.clone(), one(array))));
    let network = Network::with(read, &known).map_err(|faults| in_its_way(&args.model, faults))?;
    let of_model = |e: Fault| of_file(&args.model, e);
    let wanted = args.numbers.wanted()?;
    planned(&args.model, &network, wanted.usual())?;
    let mut run = RunFiles::new(args.replace.force);
    let calibration = args.samples.files(&network)?;
    let others = calibration.iter().flatten().copied().chain(args.labels.as_deref());
    for path in files.iter().copied().chain(others).chain([args.model.as_path()]) {
        reads(&mut run, "a file of the check", path);
    }
    let json = json_file(&mut run, args.json.as_deref(), "model check", 0o644)?;
    let labels = args.labels.as_deref().map(read_array).transpose()?;
    let samples = match (calibration, args.samples.range) {
        (None, None) => samples(&network, Some(&data[..]), None)?,
        _ => args.samples.samples(&network)?,
    };
    let choice = wanted.chosen(&network, &samples).map_err(of_model)?;
    let secure = planned(&args.model, &network, choice.numbers)?;
    let report = DataReport::new(&network, choice.numbers, &wanted, &samples, &data, labels.as_ref());
    let report = report.map_err(of_model)?;
    let rooms = report.layers.iter().map(|layer| (layer.name.as_str(), layer.room));
    let mut warnings: Vec<Warned> = wrapped(rooms).into_iter().collect();
    if warnings.is_empty() {
        warnings.extend(choice.finding.iter().map(Warned::of));
    }
    warnings.iter().for_each(Warned::note);
    let text = data_table(&report, &choice);
    let ring = |(bits, result): &(u8, Option<DataResult>)| CheckedRing {
        bits: *bits,
        differ: result.map(|result| result.differ),
        right: result.and_then(|result| result.right),
        error: result.map(|result| result.error),
    };
    let data = CheckedData {
        samples: report.samples,
        right_clear: report.right,
        right: report.fixed.right,
        error: report.fixed.error,
        range: report.range,
        tried_samples: report.tried.0,
        enough_bits: report.enough,
        tried: report.tried.1.iter().map(ring).collect(),
    };
    let checked = Checked {
        planned: Planned {
            command: "model check",
            version: env!("CARGO_PKG_VERSION"),
            network: hex::encode(secure.computation().digest()),
            numbers: Ring::of(&choice),
            warnings,
        },
        classes: report.fixed.decisions,
        agree: report.fixed.decisions - report.fixed.differ,
        layers: report.layers.iter().map(CheckedLayer::of).collect(),
        data: Some(data),
    };
    deliver(Some(text.into_bytes()), &checked, json, args.json.as_deref())
}

/// A part of all, in percent.
fn percent(part: usize, all: usize) -> String {
    format!("{:.1} %", 100.0 * part as f64 / all.max(1) as f64)
}

/// The layers one by one, the results on data, and the rings that were tried.
fn data_table(report: &DataReport, choice: &Choice) -> String {
    let mut text = layer_table(&report.layers);
    let (all, fixed) = (report.fixed.decisions, &report.fixed);
    let Numbers { bits, frac, cut } = choice.numbers;
    // Writing to a string does not fail.
    let _ = writeln!(
        text,
        "{} samples; numbers of {bits} bits, {frac} behind the point, {cut} cut",
        report.samples
    );
    if let (Some(clear), Some(right)) = (report.right, fixed.right) {
        let _ = writeln!(
            text,
            "accuracy {} in floating point ({clear} of {all}), {} in fixed point ({right})",
            percent(clear, all),
            percent(right, all)
        );
    }
    if all > 0 {
        let _ = writeln!(text, "{} of {all} decisions differ from those in floating point", fixed.differ);
    }
    let _ = writeln!(text, "outputs are off by at most {:.6} of a range of {:.6}", fixed.error, report.range);
    let _ = writeln!(text, "\nbits   differ    right        error  (on {} samples)", report.tried.0);
    for (bits, result) in &report.tried.1 {
        let _ = match result {
            None => writeln!(text, "{bits:>4}  no room for the network's values"),
            Some(DataResult { differ, right, error, .. }) => {
                let right = right.map_or_else(|| "–".to_owned(), |right| right.to_string());
                writeln!(text, "{bits:>4} {differ:>8} {right:>8} {error:>12.6}")
            }
        };
    }
    let what = if all > 0 { "decisions" } else { "range" };
    let _ = match report.enough {
        Some(bits) => writeln!(text, "{bits} bits are enough: they lose at most 0.1 % of the {what}"),
        None => writeln!(text, "no ring up to 64 bits loses at most 0.1 % of the {what}"),
    };
    text
}

fn check(args: &CheckArgs) -> Result<(), Error> {
    if !args.data.is_empty() {
        let data = args.data.iter().map(|data| ("--data", Some(data.whole())));
        let calibrate = args.samples.paths().map(|path| ("--calibrate", Some(path)));
        let rest = [("--labels", args.labels.as_deref()), ("the model", Some(args.model.as_path()))];
        one_stream("standard input", data.chain(calibrate).chain(rest))?;
        return check_data(args);
    }
    let ins = args.input.iter().map(|input| ("--input", Some(input.whole())));
    let calibrate = args.samples.paths().map(|path| ("--calibrate", Some(path)));
    one_stream("standard input", ins.chain(calibrate).chain([("the model", Some(args.model.as_path()))]))?;
    let read = model(&args.model)?;
    let mut known = args.given.given()?;
    let names = read.secret_inputs(&known);
    let files = match args.input[..] {
        [] => vec![],
        _ => all_by_name("--input", &args.input, &names)?,
    };
    let given = files.iter().map(|path| read_array(path)).collect::<Result<Vec<Array>, _>>()?;
    known.shapes.extend(names.iter().cloned().zip(given.iter().map(|input| input.lengths.clone())));
    let network = Network::with(read, &known).map_err(|faults| in_its_way(&args.model, faults))?;
    let of_model = |e: Fault| of_file(&args.model, e);
    let wanted = args.numbers.wanted()?;
    planned(&args.model, &network, wanted.usual())?;
    let mut run = RunFiles::new(args.replace.force);
    let calibration = args.samples.files(&network)?.unwrap_or_default();
    for path in files.iter().copied().chain(calibration).chain([args.model.as_path()]) {
        reads(&mut run, "a file of the check", path);
    }
    let json = json_file(&mut run, args.json.as_deref(), "model check", 0o644)?;
    let samples = args.samples.samples(&network)?;
    let choice = wanted.chosen(&network, &samples).map_err(of_model)?;
    let secure = planned(&args.model, &network, choice.numbers)?;
    let input = if given.is_empty() { samples.first().to_vec() } else { given };
    let inputs = secure.inputs(&network, &input);
    inputs.map_err(|e| of_file(files.first().copied().unwrap_or(&args.model), e))?;
    let greatest = samples.greatest(&network, &secure);
    let report = NetworkReport::new(&network, secure.numbers(), greatest, samples.headroom(), &input);
    let report = report.map_err(of_model)?;
    let rooms = report.layers.iter().map(|layer| (layer.name.as_str(), layer.room));
    // The input itself first: what wraps there is the cause of all else.
    let mut warnings: Vec<Warned> = wrapped(rooms).into_iter().collect();
    if warnings.is_empty() {
        let finding =
            judged(&network, choice.numbers, &samples, &input, &report.outputs).map_err(of_model)?;
        warnings.extend(finding.or_else(|| choice.finding.clone()).iter().map(Warned::of));
    }
    warnings.iter().for_each(Warned::note);
    let text = table(&network, &report, &choice);
    let report = Checked {
        planned: Planned {
            command: "model check",
            version: env!("CARGO_PKG_VERSION"),
            network: hex::encode(secure.computation().digest()),
            numbers: Ring::of(&choice),
            warnings,
        },
        classes: report.places,
        agree: report.agree,
        layers: report.layers.iter().map(CheckedLayer::of).collect(),
        data: None,
    };
    deliver(Some(text.into_bytes()), &report, json, args.json.as_deref())
}

impl CheckedLayer {
    fn of(layer: &LayerReport) -> Self {
        let LayerReport { op, greatest, error, deviation, room, .. } = *layer;
        CheckedLayer { name: layer.name.clone(), operator: op, greatest, error, deviation, room }
    }
}

/// The layers one by one.
fn layer_table(layers: &[LayerReport]) -> String {
    let mut text = format!(
        "{:<20} {:>12} {:>12} {:>12} {:>6}  layer\n",
        "operator", "greatest", "error", "deviation", "room"
    );
    for layer in layers {
        // Writing to a string does not fail.
        let _ = writeln!(
            text,
            "{:<20} {:>12.5} {:>12.6} {:>12.6} {:>6.1}  {}",
            layer.op, layer.greatest, layer.error, layer.deviation, layer.room, layer.name
        );
    }
    text
}

/// The layers one by one, and the result.
fn table(network: &Network, report: &NetworkReport, choice: &Choice) -> String {
    let mut text = layer_table(&report.layers);
    let of_model = network.places(network.outputs[0].1).is_some();
    let what = if of_model { "the place that the model finds" } else { "the first class" };
    if report.places > 0 {
        let _ = writeln!(text, "{what} is the same for {} of {}", report.agree, report.places);
    }
    let Numbers { bits, frac, cut } = choice.numbers;
    let _ = write!(text, "numbers of {bits} bits, {frac} behind the point, {cut} cut");
    let _ = match choice.distance {
        Some(Distance { error, range, .. }) => {
            writeln!(text, "; on sample inputs off by at most {error:.6} of a range of {range:.6}")
        }
        None => writeln!(text),
    };
    text
}
