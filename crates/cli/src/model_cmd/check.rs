//! `hushwire model check`: compares the fixed-point result with floating point, layer by layer and
//! on data.

use super::{NumbersArgs, Planned, SamplesArgs, Warned, of_file, planned, wrapped};
use crate::{
    error::Error,
    files::{Replace, RunFiles, json_file, one_stream, reads},
    model_given::{GivenArgs, Named, all_by_name, in_its_way},
    run_report::deliver,
};
use clap::Args;
use hushwire::job::{Fault, model, read_array, samples};
use hushwire_nn::{
    Array, Choice, DataReport, DataResult, Distance, LayerReport, LayerWidth, Network, NetworkReport,
    Numbers, judged,
};
use serde::Serialize;
use std::{fmt::Write, path::PathBuf};

#[derive(Args)]
pub(super) struct CheckArgs {
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

#[derive(Serialize)]
struct Checked {
    #[serde(flatten)]
    planned: Planned,
    /// The number of classes of the input that are compared, and below it the number that are
    /// equal.
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
    bits: u8,
    why: &'static str,
}

/// The result of a check on data.
#[derive(Serialize)]
struct CheckedData {
    samples: usize,
    /// The number of correct decisions in floating point, if there are labels. The next field has
    /// it for fixed point.
    right_clear: Option<usize>,
    right: Option<usize>,
    /// The greatest error of an output, and the range of outputs.
    error: f32,
    range: f32,
    /// The number of samples on which rings were tried, and below it the fewest bits that are
    /// enough.
    tried_samples: usize,
    enough_bits: Option<u8>,
    /// The wider ring of some layers, if it has one.
    enough_wide_bits: Option<u8>,
    tried: Vec<CheckedRing>,
}

#[derive(Serialize)]
struct CheckedRing {
    bits: u8,
    wide_bits: Option<u8>,
    /// Null if the ring has no room for the network's values.
    differ: Option<usize>,
    right: Option<usize>,
    error: Option<f32>,
}

/// Checks a network on data.
fn check_data(args: &CheckArgs) -> Result<(), Error> {
    let read = model(&args.model)?;
    let mut known = args.given.given()?;
    let names = read.secret_inputs(&known);
    let files = all_by_name("--data", &args.data, &names)?;
    let data = files.iter().map(|path| read_array(path)).collect::<Result<Vec<Array>, _>>()?;
    // A model for any number of samples takes one sample at a time.
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
    let wide_bits = |numbers: &Numbers| numbers.wide.map(|wide| wide.bits);
    let ring = |(numbers, result): &(Numbers, Option<DataResult>)| CheckedRing {
        bits: numbers.bits,
        wide_bits: wide_bits(numbers),
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
        enough_bits: report.enough.map(|numbers| numbers.bits),
        enough_wide_bits: report.enough.as_ref().and_then(wide_bits),
        tried: report.tried.1.iter().map(ring).collect(),
    };
    let checked = Checked {
        planned: Planned::of("model check", &secure, &choice, warnings),
        classes: report.fixed.decisions,
        agree: report.fixed.decisions - report.fixed.differ,
        layers: report.layers.iter().map(CheckedLayer::of).collect(),
        data: Some(data),
    };
    deliver(Some(text.into_bytes()), &checked, json, args.json.as_deref())
}

/// Formats a part of the whole in percent.
fn percent(part: usize, all: usize) -> String {
    format!("{:.1} %", 100.0 * part as f64 / all.max(1) as f64)
}

/// The bits of a ring, or of two.
fn ring_of(Numbers { bits, wide, .. }: Numbers) -> String {
    wide.map_or_else(|| bits.to_string(), |wide| format!("{bits}+{}", wide.bits))
}

/// Formats the layers one by one, the results on data, and the rings that were tried.
fn data_table(report: &DataReport, choice: &Choice) -> String {
    let mut text = layer_table(&report.layers);
    let (all, fixed) = (report.fixed.decisions, &report.fixed);
    let ([bits, cut], frac) = (choice.numbers.told(), choice.numbers.frac);
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
    for (numbers, result) in &report.tried.1 {
        let bits = ring_of(*numbers);
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
        Some(numbers) => {
            writeln!(text, "{} bits are enough: they lose at most 0.1 % of the {what}", ring_of(numbers))
        }
        None => writeln!(text, "no ring up to 64 bits loses at most 0.1 % of the {what}"),
    };
    text
}

/// Runs the command.
pub(super) fn check(args: &CheckArgs) -> Result<(), Error> {
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
    // Warnings about the input come first: values that wrap there cause all further differences.
    let finding = judged(&network, choice.numbers, &samples, &input, &report.outputs).map_err(of_model)?;
    let found = finding.map(|finding| wrapped(rooms).unwrap_or_else(|| Warned::of(&finding)));
    let warnings: Vec<Warned> = found.or(choice.finding.as_ref().map(Warned::of)).into_iter().collect();
    warnings.iter().for_each(Warned::note);
    let text = table(&network, &report, &choice);
    let report = Checked {
        planned: Planned::of("model check", &secure, &choice, warnings),
        classes: report.places,
        agree: report.agree,
        layers: report.layers.iter().map(CheckedLayer::of).collect(),
        data: None,
    };
    deliver(Some(text.into_bytes()), &report, json, args.json.as_deref())
}

impl CheckedLayer {
    fn of(layer: &LayerReport) -> Self {
        let LayerReport { op, greatest, error, deviation, room, width: LayerWidth { bits, why }, .. } =
            *layer;
        CheckedLayer { name: layer.name.clone(), operator: op, greatest, error, deviation, room, bits, why }
    }
}

/// Formats the layers one by one.
fn layer_table(layers: &[LayerReport]) -> String {
    let mut text = format!(
        "{:<20} {:>12} {:>12} {:>12} {:>6} {:>5}  layer\n",
        "operator", "greatest", "error", "deviation", "room", "bits"
    );
    let is_mixed = layers.iter().any(|layer| layer.width.bits != layers[0].width.bits);
    for layer in layers {
        // The reason is told where there is another ring.
        let why = if is_mixed { format!(": {}", layer.width.why) } else { String::new() };
        // Writing to a string does not fail.
        let _ = writeln!(
            text,
            "{:<20} {:>12.5} {:>12.6} {:>12.6} {:>6.1} {:>5}  {}{why}",
            layer.op, layer.greatest, layer.error, layer.deviation, layer.room, layer.width.bits, layer.name
        );
    }
    text
}

/// Formats the layers one by one, and the result.
fn table(network: &Network, report: &NetworkReport, choice: &Choice) -> String {
    let mut text = layer_table(&report.layers);
    let of_model = network.places(network.outputs[0].1).is_some();
    let what = if of_model { "the place that the model finds" } else { "the first class" };
    if report.places > 0 {
        let _ = writeln!(text, "{what} is the same for {} of {}", report.agree, report.places);
    }
    let ([bits, cut], frac) = (choice.numbers.told(), choice.numbers.frac);
    let _ = write!(text, "numbers of {bits} bits, {frac} behind the point, {cut} cut");
    let _ = match choice.distance {
        Some(Distance { error, range, .. }) => {
            writeln!(text, "; on sample inputs off by at most {error:.6} of a range of {range:.6}")
        }
        None => writeln!(text),
    };
    text
}
