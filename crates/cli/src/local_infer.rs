//! `hushwire local infer`: a network on an input array among processes on this machine. The model's
//! owner and the client are separate processes.

use crate::{
    error::Error,
    files::{self, Passing, RunFiles, is_stream, one_stream, reads},
    log,
    member_cmd::has_aes,
    model_cmd::{NumbersArgs, Ring, SamplesArgs, Warned, of_file, planned, wrapped},
    model_given::{Named, PublicArgs, all_by_name, by_name, in_its_way},
    options::{Between, CommonArgs},
    out, price, progress,
    run_report::{KindReport, deliver},
    supervisor::run_all,
};
use clap::Args;
use hushwire::LocalJob;
use hushwire::job::{
    ComputationSource, Fault, InferJob, InferTask, Inferred, InputPlace, Job, Linear, Link, Member,
    OutputPlace, Protocol, RunValues, SIZES, Task, Words, array_in, inferred_lines, model_in, read_array,
    samples,
};
use hushwire_block::Wiped;
use hushwire_nn::{Array, Floats, Labels, Network, Numbers, OUTPUT, Samples, Secure, judged_by};
use serde::Serialize;
use std::{
    fmt::Write,
    path::{Path, PathBuf},
    sync::Arc,
    thread,
    time::Instant,
};

pub(crate) const HELP: &str = "\
Examples:
  hushwire model make squeezenet-cifar --out m.onnx --sample x.npy
                                      a network with random weights, and an input, to try it with
  hushwire local infer --model m.onnx --input x.npy --output y.npy
                                      the output, which the client alone learns
  hushwire local infer --model m.onnx --input x.npy --labels classes.txt
                                      the five likeliest classes of each image
  hushwire local infer --model m.onnx --input x.npy --protocol two
                                      owner and client alone, with each other
  hushwire local infer --model m.onnx --input x.npy --explain
                                      what each member learns, and the price; nothing runs

The owner's process reads the model, the client's the input; three parties compute on shares of both, or the two with each other. Scales come from --calibrate, or \
from inputs that are made up. Members of a job file have it written down: see docs/models.md.

Exit codes: 0 ok, 1 a bug, 2 wrong command line, 3 a party or the network failed, 4 a file could not be used, \
5 refused because it would not be safe.";

/// Run a neural network on an input. The model's owner shows no weights, the client no input; three
/// parties compute on shares, or the two themselves.
#[derive(Args)]
#[command(arg_required_else_help = true, after_help = HELP)]
pub(crate) struct LocalInferArgs {
    /// The model's ONNX file; - is standard input
    #[arg(long, value_name = "FILE")]
    model: PathBuf,
    /// The input's NumPy file, or -: one input or several along the first axis. A model with
    /// several inputs takes NAME=FILE for each
    #[arg(long, value_name = "[NAME=]FILE", required = true)]
    input: Vec<Named>,
    /// The NumPy file of the output, which appears when it is whole; - is standard output.
    /// NAME=FILE is for one of several outputs, and FILE for the first
    #[arg(long, value_name = "[NAME=]FILE")]
    output: Vec<Named>,
    #[command(flatten)]
    public: PublicArgs,
    /// The file of the classes' names, one a line, or -
    #[arg(long, value_name = "FILE")]
    labels: Option<PathBuf>,
    /// The protocol: rep3, three parties between owner and client, or two, the owner and the client
    /// alone
    #[arg(long, value_name = "NAME", default_value = "rep3", value_parser = ["rep3", "two"])]
    protocol: String,
    /// Linear layers of protocol two: he, under encryption, or ot
    #[arg(long, value_name = "KIND")]
    linear: Option<Linear>,
    /// The extension of oblivious transfer of protocol two: softspoken2 sends most, ferret-b11
    /// least, and auto is the quickest over --net
    #[arg(long, value_name = "NAME", default_value = "auto", value_parser = hushwire::job::extension_or_auto)]
    ot: Extension,
    /// OTs of protocol two made ahead of their use, beside it: yes, no, or auto, which is where
    /// rounds take long or cores are to spare
    #[arg(long, value_name = "WHEN", default_value = "auto", value_parser = hushwire::job::ahead_or_auto)]
    ahead: Ahead,
    #[command(flatten)]
    numbers: NumbersArgs,
    #[command(flatten)]
    samples: SamplesArgs,
    /// Compute threads of each party
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=128))]
    threads: Option<u16>,
    /// Show what each member learns, and the price, and run nothing
    #[arg(long)]
    explain: bool,
    #[command(flatten)]
    between: Between,
    /// The model of the network between them: none, lan, wan, or rate and round trip as in
    /// 1Gbps,5ms
    #[arg(long, value_name = "NET", default_value = "none")]
    net: String,
    #[command(flatten)]
    common: CommonArgs,
}

/// `None` chooses the extension that is fastest over the link.
type Extension = Option<hushwire_ot::Protocol>;

/// `None` decides by the round trip and the number of cores.
type Ahead = Option<bool>;

/// The owner and the client of a run with three parties. The next constant has them for two
/// parties, which are the owner and the client themselves.
const APART: [&str; 2] = ["client:owner", "client:client"];
const THEMSELVES: [&str; 2] = ["party0", "party1"];

/// Runs the network.
pub(crate) fn run(args: &LocalInferArgs) -> Result<(), Error> {
    let begun = Instant::now();
    let backend = args.common.backend()?;
    let shape = crate::options::net(&args.net)?;
    streams(args)?;
    let model = files::input(&args.model)?;
    let read = model_in(&model)?;
    let mut given = args.public.given()?;
    let names = read.secret_inputs(&given);
    let input_files = all_by_name("--input", &args.input, &names)?;
    let inputs = input_files.iter().map(|path| files::input(path)).collect::<Result<Vec<_>, _>>()?;
    let arrays = inputs.iter().map(array_in).collect::<Result<Vec<Array>, _>>()?;
    given.shapes = names.into_iter().zip(arrays.iter().map(|array| array.lengths.clone())).collect();
    let network = Network::with(read, &given).map_err(|faults| in_its_way(&args.model, faults))?;
    let (network, arrays) = (Arc::new(network), Arc::new(arrays));
    // Needed at the end alone: evaluated while one thread chooses numbers.
    let floats = {
        let (network, arrays) = (Arc::clone(&network), Arc::clone(&arrays));
        thread::spawn(move || Floats::new(&network, &*arrays, false))
    };
    let outputs: Vec<String> = network.outputs.iter().map(|(name, _)| name.clone()).collect();
    let output_files = by_name("--output", &args.output, &outputs)?;
    let calibration_files = args.samples.files(&network)?.unwrap_or_default();
    let calibration =
        calibration_files.iter().map(|path| files::input(path)).collect::<Result<Vec<_>, _>>()?;
    let given = calibration.iter().map(array_in).collect::<Result<Vec<Array>, _>>()?;
    let samples = samples(&network, (!given.is_empty()).then_some(&given[..]), args.samples.range)?;
    let wanted = args.numbers.wanted()?;
    // A network that cannot be computed is refused before any evaluation.
    planned(&args.model, &network, wanted.usual())?;
    let choice = wanted.chosen(&network, &samples).map_err(|e| of_file(&args.model, e))?;
    let off_on_samples = choice.finding.as_ref().map(Warned::of);
    let secure = planned(&args.model, &network, choice.numbers)?;
    let member = |name: &str| name.parse::<Member>().map_err(|e| Error::internal("naming members", e));
    let protocol = args.protocol.parse::<Protocol>().map_err(|e| Error::Usage(e.to_string()))?;
    let [owner, client] = if protocol == Protocol::Two { THEMSELVES } else { APART };
    let job = InferJob {
        protocol,
        ot: args.ot,
        link: (protocol == Protocol::Two && args.ot.is_none()).then_some(Link(shape)),
        linear: args.linear,
        ahead: args.ahead,
        network: ComputationSource::Text(secure.computation().to_string()),
        bits: None,
        owner: member(owner)?,
        client: member(client)?,
        to: None,
        threads: args.threads,
        values: RunValues::default(),
    };
    let task = InferTask::new(&job)?;
    if args.explain {
        off_on_samples.iter().for_each(Warned::note);
        return out::text(explained(&task, &network, &secure, has_aes(backend))?);
    }
    let labels = labels(args.labels.as_deref(), &network)?;
    secure.inputs(&network, &*arrays).map_err(|e| of_file(input_files[0], e))?;
    let mut run = RunFiles::new(args.common.replace.force);
    let roles = [("the model", Some(args.model.as_path())), ("the labels", args.labels.as_deref())];
    let ins = input_files.iter().map(|path| ("the input", Some(*path)));
    let calibrated = calibration_files.iter().map(|path| ("the calibration inputs", Some(*path)));
    for (role, path) in roles.into_iter().chain(ins).chain(calibrated) {
        path.into_iter().for_each(|path| reads(&mut run, role, path));
    }
    let plain = network.output_names();
    let (mut passing, mut kept) = (None, vec![]);
    for (name, path) in plain.iter().zip(&output_files) {
        let Some(path) = path else { continue };
        if is_stream(path) {
            let through = Passing::new()?;
            kept.push((name, through.file()));
            passing = Some(through);
        } else {
            run.check("with --output", path, &task.writer_of(name))?;
            kept.push((name, path.to_path_buf()));
        }
    }
    let json = args.common.json_file(&mut run, "local infer")?;
    let mut local = LocalJob::new(&task).transport(args.between.kind()?).shape(shape).backend(backend);
    local = local.force(args.common.replace.force);
    local = local.bring(job.owner.clone(), "model", model);
    if !args.public.text().is_empty() {
        let place = InputPlace::Values(Wiped::new(args.public.text()));
        local = local.bring(job.owner.clone(), "public", place);
    }
    let input_names = network.input_names();
    if calibration.is_empty() {
        log::note!("note: scales come from inputs that are made up; --calibrate takes real ones");
    }
    // The owner's process takes the sizes of values from here, and evaluates no inputs again.
    let sizes = samples.sizes(&network, &secure).to_string();
    local = local.bring(job.owner.clone(), SIZES, InputPlace::Values(Wiped::new(sizes)));
    for (name, place) in input_names.iter().zip(inputs) {
        local = local.bring(job.client.clone(), name, place);
    }
    let written = kept.first().filter(|(name, _)| *name == OUTPUT).map(|(_, path)| path.clone());
    for (name, path) in kept {
        local = local.keep(job.client.clone(), name, OutputPlace::File(path));
    }
    let bar = progress::bar(0, "layers");
    // Only here does one process have both files. A run that fails does not wait for this thread.
    let (numbers, aside) = (choice.numbers, (args.model.clone(), Arc::clone(&network), samples, arrays));
    let aside = Arc::new(aside);
    let room = {
        let aside = Arc::clone(&aside);
        thread::spawn(move || {
            let (model, network, samples, _) = &*aside;
            let floats =
                floats.join().map_err(|_| Error::internal("evaluating the network", "it panicked"))?;
            overflow(model, network, &secure, floats, samples)
        })
    };
    let ended = run_all(
        local,
        &Job::Infer(job.clone()),
        Member::to_string,
        ["reading the files", "the network"],
        &bar,
        |done, of| {
            bar.set_length(of);
            bar.set_position(done);
            bar.set_message(layer_at(&network, done, of));
        },
    )?;
    bar.finish_and_clear();
    let room = room.join().map_err(|_| Error::internal("looking for values that wrap", "it panicked"))?;
    let learnt = ended.iter().map(|process| &process.outcome.learnt).find(|learnt| learnt.lengths.is_some());
    let learnt = learnt.cloned().unwrap_or_default();
    let (told, floats) = room?;
    let (compared, found) = off(&aside, numbers, &learnt, &floats, written.as_deref())?;
    // Values may wrap where the output does not depend on them: 1 / (1 + e^x) of a large x is 0.
    let found = if compared && found.is_none() { None } else { told.or(found) };
    // A finding on the input itself is more important than a finding on samples.
    let warnings: Vec<Warned> = found.or(off_on_samples).into_iter().collect();
    warnings.iter().for_each(Warned::note);
    let of_kind = Figures { of_member: task.report(&learnt), numbers: Ring::of(&choice), warnings };
    let how = (args.between.transport.as_str(), shape, backend);
    let members = task.agreement().members();
    let report = KindReport::new("local infer", of_kind, begun, how, members, &ended);
    log::note!("{}", report.for_people("", "", ""));
    if let Some(passing) = passing {
        let told = passing.show();
        deliver(None, &report, json, args.common.json.as_deref())?;
        return told;
    }
    for (name, path) in outputs.iter().zip(output_files).filter_map(|(name, path)| Some((name, path?))) {
        match outputs.len() {
            1 => log::note!("the output is in {}", path.display()),
            _ => log::note!("the output {name} is in {}", path.display()),
        }
    }
    let printed = args.output.is_empty() || args.labels.is_some();
    let printed = if printed { inferred_lines(&task, &learnt, &labels) } else { String::new() };
    deliver(Some(printed.into_bytes()), &report, json, args.common.json.as_deref())
}

/// A model's file, its network, the inputs from which scales come, and the inputs.
type Aside = (PathBuf, Arc<Network>, Samples, Arc<Vec<Array>>);

/// Returns the warning about values that wrap on this input, and the values in floating point.
fn overflow(
    model: &Path,
    network: &Network,
    secure: &Secure,
    floats: Result<Floats, Fault>,
    samples: &Samples,
) -> Result<(Option<Warned>, Floats), Error> {
    let of_model = |e: Fault| of_file(model, e);
    let floats = floats.map_err(of_model)?;
    let greatest = samples.greatest(network, secure);
    let rooms = secure.rooms(network, greatest, samples.headroom(), &floats).map_err(of_model)?;
    Ok((wrapped(network.layers.iter().map(|layer| layer.name.as_str()).zip(rooms)), floats))
}

/// Returns whether all outputs are compared with the results in floating point, and the warning if
/// one is not near. An output that is too large to be in the report is read from its file.
fn off(
    aside: &Aside,
    numbers: Numbers,
    learnt: &Inferred,
    floats: &Floats,
    file: Option<&Path>,
) -> Result<(bool, Option<Warned>), Error> {
    let (model, network, samples, arrays) = aside;
    let found = match (&learnt.lengths, file) {
        (Some(lengths), _) if !learnt.elements.is_empty() => Array::new(lengths, learnt.elements.clone()),
        // Only a regular file can be read again.
        (Some(_), Some(path)) if path.is_file() => read_array(path)?,
        _ => return Ok((false, None)),
    };
    // The further outputs, up to the first that is not in the report.
    let more = learnt.more.iter().take_while(|(_, elements)| !elements.is_empty());
    let mut all = vec![found];
    all.extend(more.map(|(lengths, elements)| Array::new(lengths, elements.clone())));
    let finding =
        judged_by(network, numbers, samples, &**arrays, &all, Some(floats)).map_err(|e| of_file(model, e))?;
    Ok((all.len() == network.outputs.len(), finding.as_ref().map(Warned::of)))
}

/// Refuses standard input or output for more than one file.
fn streams(args: &LocalInferArgs) -> Result<(), Error> {
    let labels = args.labels.as_deref();
    let ins = [("--model", Some(args.model.as_path())), ("--labels", labels)].into_iter();
    let ins = ins.chain(args.input.iter().map(|input| ("--input", Some(input.whole()))));
    one_stream("standard input", ins.chain(args.samples.paths().map(|path| ("--calibrate", Some(path)))))?;
    let outs = args.output.iter().map(|output| ("--output", Some(output.whole())));
    one_stream("standard output", outs.chain([("--json", args.common.json.as_deref())]))?;
    if labels.is_some() && args.output.iter().any(|output| is_stream(output.whole())) {
        let what = "--output and the classes of --labels are both standard output; give --output a file";
        return Err(Error::Usage(what.into()));
    }
    Ok(())
}

/// Returns the layer that is probably under way when `done` of `of` steps are done, by the layers'
/// shares of the steps.
fn layer_at(network: &Network, done: u64, of: u64) -> String {
    let at = network.layers.len() as u64 * done / of.max(1);
    let layer = network.layers.get(at as usize);
    layer.map_or(String::new(), |layer| format!("{} {}", layer.kind.name(), layer.name))
}

/// Reads the names of the output's classes, one for each class.
fn labels(path: Option<&Path>, network: &Network) -> Result<Labels, Error> {
    let Some(path) = path else { return Ok(Labels::default()) };
    let refused = |cause: &str, remedy: &str| Err(Error::file("use", path, cause, remedy));
    let labels = Labels::parse(&files::text(path)?);
    let Some(classes) = network.classes() else {
        return refused("the model's output has one axis, and no classes along it", "leave --labels out");
    };
    if labels.is_empty() {
        return refused("it has no names", "write one a line, in the model's order");
    }
    labels.check(classes).map_err(|e| of_file(path, e))?;
    Ok(labels)
}

/// Returns the parts of members, the price over three networks, and what the client learns of the
/// model.
fn explained(task: &InferTask, network: &Network, secure: &Secure, aes: bool) -> Result<String, Error> {
    let price = task.price(aes)?;
    let products: u64 = (0..network.layers.len()).map(|at| network.products(at)).sum();
    let ([bits, cut], frac) = (secure.numbers().told(), secure.numbers().frac);
    let mut text = format!(
        "{} layers, {} weights, {} products; numbers of {bits} bits, {frac} behind the point, {cut} cut\n",
        network.layers.len() - 1,
        network.weights(),
        products,
    );
    let mut line = |s: String| {
        // Writing to a string does not fail.
        let _ = writeln!(text, "{s}");
    };
    price::everywhere(&price).into_iter().for_each(&mut line);
    if let (Some(ot), Some(link)) = (task.chosen().ot, task.chosen().link) {
        let prices = task.by_link().iter();
        let prices: Vec<_> = prices.map(|(ot, seconds)| format!("{ot} {seconds:.2} s")).collect();
        line(format!("oblivious transfer by {ot}, the quickest over link {link}: {}", prices.join(", ")));
    }
    line("the client learns the output, and of the model its architecture: operators, shapes, and these numbers".into());
    line("the client learns no weight, no bias, no bound of a clip, and no scale".into());
    line("the model's owner learns nothing of the input or the output but their shapes".into());
    if task.job().protocol == Protocol::Two {
        line("there is nobody else: owner and client compute with each other".into());
        return Ok(text);
    }
    line("three parties learn what both learn of the architecture; two of them together would learn everything".into());
    Ok(text)
}

/// The fields of the report that only an inference has.
#[derive(Serialize)]
struct Figures {
    #[serde(flatten)]
    of_member: <InferTask as Words>::Report,
    #[serde(flatten)]
    numbers: Ring,
    /// Warnings about the numbers, on sample inputs and on this input.
    warnings: Vec<Warned>,
}
