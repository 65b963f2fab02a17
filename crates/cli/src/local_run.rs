//! `hushwire local run`: all members of a job as processes on this machine, and their outputs.

use crate::{
    error::Error,
    files::{Passing, RunFiles, is_stream, stream},
    log,
    member_cmd::{announce, has_aes, other_kind, progress},
    run_args::RunArgs,
    run_report::{KindReport, deliver},
    supervisor::{OfProcess, run_all},
};
use hushwire::LocalJob;
use hushwire::job::{
    BitOrderChoice, CircuitJob, CircuitPlan, CircuitSource, InputPlace, Job, Member, OutputPlace, Outputs,
    Prepared, Protocol, Words, nearest,
};
use hushwire_block::Wiped;
use hushwire_wire::Shape;
use serde::Serialize;
use std::{collections::BTreeMap, path::PathBuf, time::Instant};
use tracing::debug;

/// Runs the job.
pub(crate) fn run(args: &RunArgs) -> Result<(), Error> {
    let begun = Instant::now();
    let backend = args.common.backend()?;
    let shape = crate::options::net(&args.net)?;
    let job = job(args)?;
    let prepared = Prepared::new(&job)?;
    prepared.notes.iter().for_each(|note| log::note!("note: {note}"));
    let transport = args.between.kind()?;
    let plan = &prepared.plan;
    let inputs = inputs(args, &job, plan)?;
    let mut files = outputs(args, plan)?;
    let mut run = RunFiles::new(args.common.replace.force);
    args.job.iter().for_each(|path| run.reads("the job file", path));
    if let CircuitSource::File(path) = &job.circuit {
        run.reads("the circuit", path);
    }
    for (given, (name, _)) in inputs.iter().zip(&plan.inputs) {
        if let InputPlace::File(path) = given {
            run.reads(format!("input {name}"), path);
        }
    }
    let mut streamed = None;
    for (name, path) in &mut files {
        if is_stream(path) {
            let passing = Passing::new()?;
            *path = passing.file();
            streamed = Some(passing);
            continue;
        }
        // The first recipient writes the file, and knows only its own files.
        run.check("with --output", path, &plan.writer(name))?;
    }
    let json = args.common.json_file(&mut run, &format!("local run, {}", plan.circuit))?;

    let members = plan.members();
    let bar = progress(plan.instances, "instances");
    let network = if shape == Shape::NONE { "on this machine".to_owned() } else { format!("over {shape}") };
    announce(&Prepared::forecast(&prepared, has_aes(backend)), shape, &network);
    let mut local = LocalJob::new(&prepared).transport(transport).shape(shape).backend(backend);
    local = local.force(args.common.replace.force);
    for ((name, owner), place) in plan.inputs.iter().zip(inputs) {
        local = local.bring(owner.clone(), name, place);
    }
    for (name, to) in &plan.outputs {
        let Some(path) = files.get(name) else { continue };
        // The first recipient writes the file; the others discard the value.
        for (i, member) in to.iter().enumerate() {
            let place = if i == 0 { OutputPlace::File(path.clone()) } else { OutputPlace::Discard };
            local = local.keep(member.clone(), name, place);
        }
    }
    let (job, phases) = (Job::Circuit(job.clone()), ["start", "the run"]);
    let ended = run_all(local, &job, Member::to_string, phases, &bar, |done, _| bar.set_position(done))?;
    for (member, process) in members.iter().zip(&ended) {
        let stats = &process.outcome.stats;
        debug!(
            member = member.key(),
            bytes_sent = stats.bytes_sent,
            bytes_received = stats.bytes_received,
            rounds = stats.rounds,
            seconds = stats.seconds,
            "done"
        );
    }
    bar.finish_and_clear();
    let outputs = gather(&ended)?;
    let how = (args.between.transport.as_str(), shape, backend);
    let figures = Figures::new(&prepared, &outputs);
    let mut report = KindReport::new("local run", figures, begun, how, members, &ended);
    let ands = prepared.program.ands() as f64 * plan.instances as f64;
    report.of_kind.ands_per_second = ands / report.run_seconds();
    log::note!("{}", for_people(&report, &prepared));
    if let Some(passing) = streamed {
        let told = passing.show();
        deliver(None, &report, json, args.common.json.as_deref())?;
        return told;
    }
    files.iter().for_each(|(name, path)| log::note!("output {name} is in {}", path.display()));
    deliver(Some(prepared.printed(&outputs)), &report, json, args.common.json.as_deref())
}

/// Returns the job of the file with the changes of the command line, or a job around a circuit.
fn job(args: &RunArgs) -> Result<CircuitJob, Error> {
    let mut job = match (&args.job, &args.circuit) {
        (Some(path), _) => match Job::read(path)? {
            Job::Circuit(job) => job,
            other => return Err(other_kind(path, &other)),
        },
        (None, Some(text)) => {
            let source = CircuitSource::guess(text);
            let program = source.load()?.program;
            CircuitJob::around(args.protocol.unwrap_or(Protocol::Rep3), source, &program)
        }
        (None, None) => return Err(Error::Usage("name a job file, or a circuit with --circuit".into())),
    };
    job.protocol = args.protocol.unwrap_or(job.protocol);
    (job.scheme, job.ot) = (args.scheme.or(job.scheme), args.ot.or(job.ot));
    if let Some(order) = &args.bit_order {
        job.bit_order = order.parse().unwrap_or(BitOrderChoice::Auto);
    }
    job.instances = args.instances.unwrap_or(job.instances);
    job.parameters.threads = args.threads.or(job.parameters.threads);
    job.parameters.lanes = args.lanes.or(job.parameters.lanes);
    job.parameters.batch = args.batch.or(job.parameters.batch);
    Ok(job)
}

/// Parses `I=TEXT`, where `I` is a name among `names` or its place.
fn pairs<'a>(option: &str, list: &'a [String], names: &[&str]) -> Result<BTreeMap<usize, &'a str>, Error> {
    let mut all = BTreeMap::new();
    for pair in list {
        let Some((which, value)) = pair.split_once('=') else {
            return Err(Error::Usage(format!("{option} {pair:?}: write place=value, as in 0=0x2a")));
        };
        let named = names.iter().position(|name| *name == which);
        let place = named.or_else(|| which.parse().ok().filter(|i| *i < names.len()));
        let Some(place) = place else {
            let near = nearest(which, names.iter().copied()).map(|n| format!("; did you mean {n}?"));
            let known = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
            return Err(Error::Usage(format!(
                "{option}: there is no {which:?} among {known}{}",
                near.unwrap_or_default()
            )));
        };
        if all.insert(place, value).is_some() {
            return Err(Error::Usage(format!("{option}: {which} is given twice")));
        }
    }
    Ok(all)
}

/// Returns the place of every input's value.
fn inputs(args: &RunArgs, job: &CircuitJob, plan: &CircuitPlan) -> Result<Vec<InputPlace>, Error> {
    let names: Vec<_> = plan.inputs.iter().map(|(name, _)| name.as_str()).collect();
    let digits = pairs("--inputs", &args.inputs, &names)?;
    let files = pairs("--input-file", &args.input_file, &names)?;
    let hex = |digits: &str| InputPlace::Hex(Wiped::new(digits.to_owned()));
    let mut all = vec![];
    for (i, name) in names.iter().enumerate() {
        let width = plan.input_widths[i];
        let given = match (digits.get(&i), files.get(&i), &job.inputs[i].sample) {
            (Some(_), Some(_), _) => {
                return Err(Error::Usage(format!("input {name} is given by --inputs and by --input-file")));
            }
            (Some(digits), None, _) => hex(digits),
            (None, Some(&"-"), _) => {
                if files.values().filter(|file| **file == "-").count() > 1 {
                    let what = "--input-file: two inputs are standard input; give one of them a file";
                    return Err(Error::Usage(what.into()));
                }
                stream()?
            }
            (None, Some(file), _) => InputPlace::File(PathBuf::from(file)),
            (None, None, Some(sample)) if plan.instances == 1 => hex(sample),
            (None, None, _) if width == 0 && plan.instances == 1 => hex(""),
            (None, None, _) if plan.instances == 1 => {
                let zeros = "0".repeat(width.div_ceil(4).min(64));
                return Err(Error::Usage(format!(
                    "input {name} of {width} bits has no value; give it as in --inputs {name}={zeros}"
                )));
            }
            (None, None, _) => {
                return Err(Error::Usage(format!(
                    "input {name} has no values; give {} bytes for each instance with --input-file {name}=FILE",
                    CircuitPlan::record(width)
                )));
            }
        };
        all.push(given);
    }
    Ok(all)
}

/// Returns the files of outputs, by name.
fn outputs(args: &RunArgs, plan: &CircuitPlan) -> Result<BTreeMap<String, PathBuf>, Error> {
    let names: Vec<_> = plan.outputs.iter().map(|(name, _)| name.as_str()).collect();
    let mut files = BTreeMap::new();
    for (j, file) in pairs("--output", &args.output, &names)? {
        let (name, to) = &plan.outputs[j];
        if to.is_empty() {
            return Err(Error::Usage(format!("--output {name}: the job says that nobody learns it")));
        }
        let path = PathBuf::from(file);
        let whole = if is_stream(&path) { Ok(path.clone()) } else { std::path::absolute(file) };
        files.insert(name.clone(), whole.unwrap_or(path));
    }
    let streams: Vec<_> = files.iter().filter(|(_, path)| is_stream(path)).map(|(name, _)| name).collect();
    if let Some(first) = streams.first() {
        let printed = plan.outputs.iter().find(|(name, to)| !to.is_empty() && !files.contains_key(name));
        let other = match (streams.get(1), printed, args.common.json.as_deref().is_some_and(is_stream)) {
            (Some(other), ..) => format!("output {other}"),
            (_, Some((other, _)), _) => format!("output {other}"),
            (.., true) => "the report of --json".to_owned(),
            _ => return Ok(files),
        };
        let what = format!("output {first} and {other} are both standard output; give one of them a file");
        return Err(Error::Usage(what));
    }
    let lacking = plan.outputs.iter().find(|(name, to)| !to.is_empty() && !files.contains_key(name));
    match lacking {
        Some((name, _)) if plan.instances > 1 => Err(Error::Usage(format!(
            "output {name} has {} values; name a file for them with --output {name}=FILE",
            plan.instances
        ))),
        _ => Ok(files),
    }
}

/// Returns outputs by place, after a check that all recipients found the same values.
fn gather(ended: &[OfProcess<Outputs>]) -> Result<Outputs, Error> {
    let mut shown: BTreeMap<usize, String> = BTreeMap::new();
    for (j, digits) in ended.iter().flat_map(|process| &process.outcome.learnt.digits) {
        if shown.insert(*j, digits.clone()).is_some_and(|other| other != *digits) {
            let cause = format!("recipients of output {j} found different values");
            return Err(Error::internal("comparing outputs", cause));
        }
    }
    Ok(Outputs { digits: shown.into_iter().collect(), ..Outputs::default() })
}

/// The fields of the report that only a circuit has.
#[derive(Serialize)]
struct Figures {
    #[serde(flatten)]
    of_member: <Prepared as Words>::Report,
    circuit_digest: String,
    bit_order: &'static str,
    /// Layers of AND gates.
    and_depth: usize,
    ands_per_second: f64,
    threads: u16,
    lanes_per_thread: u16,
    batch: u32,
}

impl Figures {
    fn new(prepared: &Prepared, outputs: &Outputs) -> Self {
        let (plan, program) = (&prepared.plan, &prepared.program);
        Self {
            of_member: prepared.report(outputs),
            circuit_digest: hex::encode(plan.circuit_digest),
            bit_order: plan.bit_order.name(),
            and_depth: program.depth(),
            ands_per_second: 0.0,
            threads: plan.threads * plan.beside,
            lanes_per_thread: plan.lanes,
            batch: plan.batch,
        }
    }
}

/// Returns a few lines about the run, and the outputs that no member learns.
fn for_people(report: &KindReport<Figures>, Prepared { plan, program, .. }: &Prepared) -> String {
    let Figures { and_depth, ands_per_second, threads, .. } = &report.of_kind;
    let times = if plan.instances == 1 { "once".to_owned() } else { format!("{} times", plan.instances) };
    let (circuit, number, with) = (&plan.circuit, report.number(), plan.computing());
    let ands = program.ands();
    let first = format!(
        "computed {circuit} {times} among {number} parties with {with}: {ands} ANDs, depth {and_depth}\n"
    );
    let (rate, threads) =
        (format!(", {ands_per_second:.3e} ANDs/s"), format!(", threads a party: {threads}"));
    let unlearnt = plan.outputs.iter().filter(|(_, to)| to.is_empty());
    let unlearnt =
        unlearnt.map(|(name, _)| format!("\noutput {name} goes to 0 members, so that nobody learns it"));
    report.for_people(&first, &rate, &threads) + &unlearnt.collect::<String>()
}
