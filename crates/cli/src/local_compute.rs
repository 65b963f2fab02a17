//! `hushwire local compute`: a computation among processes on this machine, each with the files of
//! its owner.

use crate::{
    compute_cmd::remark,
    error::Error,
    files::RunFiles,
    log,
    member_cmd::{announce, has_aes, other_kind},
    options::{Between, CommonArgs},
    places::ValueArgs,
    progress,
    run_report::{KindReport, deliver},
    shards::ShardArgs,
    supervisor::{OfProcess, run_all},
};
use clap::{
    Args,
    builder::{PossibleValuesParser, TypedValueParser as _},
};
use hushwire::LocalJob;
use hushwire::job::{
    ComputationSource, ComputeJob, ComputeTask, Computed, InputPlace, Job, Member, OutputPlace, Protocol,
    PublicPlace, Shown, Task, Words, read_input, size,
};
use hushwire_compute::{Computation, Visibility};
use hushwire_fault::code;
use hushwire_garble::Scheme;
use hushwire_wire::Shape;
use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    time::Instant,
};

pub(crate) const HELP: &str = "\
Examples:
  hushwire local compute examples/compute/bill.hwc --in price=examples/compute/shop.csv:price --in amount=examples/compute/order.csv:amount
                                      total=…: the shop's prices times the client's amounts; neither sees the other's
  hushwire local compute bill.hwc --in price=shop.csv --in amount=order.csv --out total=total.csv --json -
                                      the columns of the inputs' names; the total in a file, a report for programs
  hushwire local compute bill.hwc --protocol yao --in price=shop.csv --value amount=1,2,3
                                      between two parties; amounts on the command line

With rep3 three parties compute, and each member of the computation is a client of its own, unless it is called party0, party1 \
or party2. With yao, gmw and two members are the two parties, in turn. `hushwire compute explain` says what each of them learns, and \
what it costs.

Exit codes: 0 ok, 1 a bug, 2 wrong command line, 3 a party or the network failed, 4 a file could not be used, \
5 refused because it would not be safe.";

/// Compute on numbers and columns of CSV files. Each owner's process reads its own file; no other
/// one sees it.
#[derive(Args)]
#[command(arg_required_else_help = true, after_help = HELP)]
pub(crate) struct LocalComputeArgs {
    /// The computation (.hwc), or the job file of one (.toml); - is a computation on standard input
    #[arg(value_name = "FILE.hwc or JOB.toml")]
    file: PathBuf,
    #[command(flatten)]
    values: ValueArgs,
    /// The protocol of the parties: rep3 (three), yao, gmw or, where it is built in, two (two),
    /// authgarble:N (N, of which all but one may cheat), authgarble:N:ywz20 (the same in fewer
    /// bytes) [default: the job's, else rep3]
    #[arg(long, value_name = "NAME", value_parser = PossibleValuesParser::new(protocols()).try_map(|s| s.parse::<Protocol>()))]
    protocol: Option<Protocol>,
    /// The scheme of yao's gates [default: the job's, else mi]
    #[arg(long, value_name = "NAME", value_parser = hushwire::job::private_scheme)]
    scheme: Option<Scheme>,
    /// The OT extension of yao and gmw [default: the job's, else softspoken4]
    #[arg(long, value_name = "NAME", value_parser = hushwire::job::extension)]
    ot: Option<hushwire_ot::Protocol>,
    /// Compute threads of each of three or n parties' processes [default: the job's, else 2 of
    /// three and 1 of n]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=128))]
    threads: Option<u16>,
    /// Memory that values and work on them may take at each of three parties, as in 2GiB: pieces of
    /// columns are shortened to keep to it, and a computation that takes more in any pieces is
    /// refused [default: the job's, else no limit]
    #[arg(long, value_name = "SIZE", value_parser = size::parse)]
    memory: Option<u64>,
    #[command(flatten)]
    between: Between,
    /// The model of the network between them: none, lan, wan, or rate and round trip as in
    /// 1Gbps,5ms
    #[arg(long, value_name = "NET", default_value = "none")]
    net: String,
    #[command(flatten)]
    shards: ShardArgs,
    #[command(flatten)]
    common: CommonArgs,
}

/// The names of protocols in the form of this command line.
pub(crate) fn protocols() -> Vec<&'static str> {
    let two = Protocol::NAMES.iter().filter(|name| **name == Protocol::Two.name());
    Protocol::WRITTEN.iter().chain(two).copied().collect()
}

/// Assigns the members of the computation to the parties in turn, if there are more members than
/// parties.
pub(crate) fn in_turn(job: &mut ComputeJob, computation: &Computation) -> bool {
    let (names, parties) = (computation.members(), job.protocol.parties());
    if job.protocol.has_clients() || names.len() <= usize::from(parties) || !job.members.is_empty() {
        return false;
    }
    let turns = names.iter().zip((0..parties).cycle());
    job.members = turns.map(|(name, i)| (name.clone(), Member::Party(i))).collect();
    true
}

impl LocalComputeArgs {
    fn job(&self) -> Result<ComputeJob, Error> {
        let protocol = self.protocol;
        let mut job = if self.file.extension().is_some_and(|end| end == "toml") {
            match Job::read(&self.file)? {
                Job::Compute(job) => job,
                other => return Err(other_kind(&self.file, &other)),
            }
        } else {
            ComputeJob::new(protocol.unwrap_or(Protocol::Rep3), ComputationSource::File(self.file.clone()))
        };
        job.protocol = protocol.unwrap_or(job.protocol);
        (job.scheme, job.ot) = (self.scheme.or(job.scheme), self.ot.or(job.ot));
        (job.threads, job.memory) = (self.threads.or(job.threads), self.memory.or(job.memory));
        job.shards = self.shards.shards.unwrap_or(job.shards);
        // Processes receive the text. They need not read the file again, which may be a pipe.
        let computation = job.computation.load()?;
        remark(&computation);
        job.computation = ComputationSource::Text(computation.to_string());
        job.symbols.extend(self.values.symbols(&computation)?);
        self.values.owners(&computation, &mut job)?;
        if in_turn(&mut job, &computation) {
            let who = job.members.iter().map(|(name, member)| format!("{name} is {member}"));
            log::note!(
                "note: protocol {} has {} parties: {}",
                job.protocol,
                job.protocol.parties(),
                who.collect::<Vec<_>>().join(", ")
            );
        }
        Ok(job)
    }
}

/// Runs the computation.
pub(crate) fn run(args: &LocalComputeArgs) -> Result<(), Error> {
    let begun = Instant::now();
    let backend = args.common.backend()?;
    let shape = crate::options::net(&args.net)?;
    args.values.streams(&args.file)?;
    let mut job = args.job()?;
    let computation = job.computation.load()?;
    let inputs = args.values.inputs(&computation, &job.public)?;
    let outputs = args.values.outputs(&computation)?;
    let public = publish(&mut job, &computation, &inputs)?;
    let task = ComputeTask::new(&job)?;
    task.notes().iter().for_each(|note| log::note!("note: {note}"));
    let mut run = RunFiles::new(args.common.replace.force);
    if args.file != Path::new("-") {
        run.reads("the computation", &args.file);
    }
    task.reads().into_iter().for_each(|(role, path)| run.reads(role, &path));
    for (name, place) in &inputs {
        place.paths().into_iter().for_each(|path| run.reads(format!("input {name}"), path));
    }
    for (name, place) in &outputs {
        let (OutputPlace::Csv(path) | OutputPlace::File(path)) = place else { continue };
        // The first recipient writes the file, and knows only its own files.
        run.check("with --out", path, &task.writer(name))?;
    }
    let json = args.common.json_file(&mut run, &format!("local compute, {}", computation.name()))?;
    let transport = args.between.kind()?;
    let members = || {
        let mut local = LocalJob::new(&task).transport(transport).shape(shape).backend(backend);
        local = local.force(args.common.replace.force).shards(job.shards);
        for (i, (name, _)) in computation.inputs().enumerate() {
            let Some(owner) = task.owner(i) else { continue };
            local = local.bring(owner.clone(), name, inputs[name].clone());
        }
        for (j, output) in computation.outputs().iter().enumerate() {
            let Some(file) = outputs.get(&output.name) else { continue };
            // The first recipient writes the file; the others discard the value.
            for (i, member) in task.recipients(j).iter().enumerate() {
                let place = if i == 0 { file.clone() } else { OutputPlace::Discard };
                local = local.keep(member.clone(), &output.name, place);
            }
        }
        local
    };
    let bar = progress::bar(0, "steps");
    let phases = ["reading the files", "the computation"];
    let whole = Job::Compute(job.clone());
    let network = if shape == Shape::NONE { "on this machine".to_owned() } else { format!("over {shape}") };
    let ended = args.shards.retry.run(|| {
        run_all(members(), &whole, Member::to_string, phases, &bar, |done, of| {
            bar.set_length(of);
            bar.set_position(done);
            if let (0, Some(forecast)) = (done, task.forecast(has_aes(backend), Some(of))) {
                bar.suspend(|| announce(&forecast, shape, &network));
            }
        })
    })?;
    bar.finish_and_clear();
    let mut learnt = gather(&ended)?;
    learnt.remarks.splice(0..0, public);
    let ands = if learnt.ands > 0 { format!(": {} ANDs", learnt.ands) } else { String::new() };
    let how = (args.between.transport.as_str(), shape, backend);
    let report = KindReport::new(
        "local compute",
        task.report(&learnt),
        begun,
        how,
        task.agreement().members(),
        &ended,
    );
    let (work, chosen, number) = (task.work(&learnt), task.chosen(), report.number());
    let first = format!("computed {work} among {number} parties with {chosen}{ands}\n");
    log::note!("{}", report.for_people(&first, "", ""));
    for (name, place) in &outputs {
        if let OutputPlace::Csv(path) | OutputPlace::File(path) = place {
            log::note!("output {name} is in {}", path.display());
        }
    }
    deliver(Some(task.printed(&learnt)), &report, json, args.common.json.as_deref())
}

/// Reads the values of public inputs and returns the remarks on them. Processes receive the values:
/// they need not read a file again, which may be a pipe.
fn publish(
    job: &mut ComputeJob,
    computation: &Computation,
    inputs: &BTreeMap<String, InputPlace>,
) -> Result<Vec<String>, Error> {
    let (mut lengths, mut remarks) = (BTreeMap::new(), vec![]);
    for (name, ty) in computation.inputs().filter(|(_, ty)| ty.visibility == Visibility::Public) {
        let Some(place) = inputs.get(name) else { continue };
        let symbols = computation.symbols_with(&job.symbols, &lengths);
        let symbols = symbols.map_err(|e| e.fault().coded(code::PLACES).during("reading inputs"))?;
        let (tensor, remark) = read_input(name, ty, place, &symbols)?;
        remark.iter().for_each(|remark| log::note!("note: {remark}"));
        remarks.extend(remark);
        lengths.insert(name.to_owned(), tensor.lengths().to_vec());
        job.public.insert(name.to_owned(), PublicPlace::from(&tensor));
    }
    Ok(remarks)
}

/// Returns outputs by place, after a check that all recipients found the same values.
fn gather(ended: &[OfProcess<Computed>]) -> Result<Computed, Error> {
    let mut shown: BTreeMap<usize, Shown> = BTreeMap::new();
    let mut all = Computed::default();
    for learnt in ended.iter().map(|process| &process.outcome.learnt) {
        (all.symbols, all.ands) = (learnt.symbols.clone(), all.ands.max(learnt.ands));
        all.remarks.extend(learnt.remarks.iter().cloned());
        for (j, one) in &learnt.shown {
            if shown.insert(*j, one.clone()).is_some_and(|other| other != *one) {
                let cause = format!("recipients of output {j} found different values");
                return Err(Error::internal("comparing outputs", cause));
            }
        }
    }
    all.shown = shown.into_iter().collect();
    Ok(all)
}
