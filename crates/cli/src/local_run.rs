//! `hushwire local run`: all members of a job as processes on this machine, and what comes out.

use crate::{
    control::{FromParty, Given, JobSetup, Kept, Met, Stats, ToParty},
    error::Error,
    files::{Passing, RunFiles, is_stream, json_file},
    log,
    member::arguments,
    member_cmd::{announce, backend, has_aes, progress, unknown_kind},
    run_args::RunArgs,
    run_report::{self, OfMember, RunReport, split},
    supervisor::{Event, Supervisor},
};
use hushwire::Places;
use hushwire_aes::Backend;
use hushwire_garble::Scheme;
use hushwire_job::{
    BitOrderChoice, CircuitJob, CircuitSource, Job, Member, Plan, Prepared, Protocol, nearest,
};
use hushwire_wire::{Identity, NetError, SessionId, Shape};
use indicatif::ProgressBar;
use std::{collections::BTreeMap, path::PathBuf, time::Instant};
use tracing::debug;

/// Runs the job.
pub(crate) fn run(args: &RunArgs) -> Result<(), Error> {
    let begun = Instant::now();
    let backend = backend(args.aes_backend.as_deref())?;
    let shape: Shape = args.net.parse().map_err(|e| match e {
        NetError::Config { what, .. } => Error::Usage(format!("--net: {what}")),
        other => Error::Usage(other.to_string()),
    })?;
    let job = job(args)?;
    let prepared = Prepared::new(&job)?;
    prepared.notes.iter().for_each(|note| log::note!("note: {note}"));
    if args.transport == "tcp-insecure" {
        log::warn("tcp-insecure hides nothing from other programs on this machine; it is for measuring");
    }
    let plan = &prepared.plan;
    let inputs = inputs(args, &job, plan)?;
    let mut files = outputs(args, plan)?;
    let mut run = RunFiles::new(args.replace.force);
    args.job.iter().for_each(|path| run.reads("the job file", path));
    if let CircuitSource::File(path) = &job.circuit {
        run.reads("the circuit", path);
    }
    for (given, (name, _)) in inputs.iter().zip(&plan.inputs) {
        if let Given::File(path) = given {
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
        // Its first recipient writes it, which knows only its own files.
        run.check("with --output", path, &plan.writer(name))?;
    }
    let json = json_file(&mut run, args.json.as_deref(), &format!("local run, {}", plan.circuit), 0o600)?;

    let members = plan.members();
    let bar = progress(plan.instances, "instances");
    let network = if shape == Shape::NONE { "on this machine".to_owned() } else { format!("over {shape}") };
    announce(&Prepared::forecast(&prepared, has_aes(backend)), shape, &network);
    let (transport, force) = (&args.transport, args.replace.force);
    let shares = members.iter().map(|me| {
        let (inputs, outputs) = (brings(plan, &inputs, me), keeps(plan, &files, me));
        Share { member: me.clone(), who: me.to_string(), inputs, outputs }
    });
    let job = Job::Circuit(job.clone());
    let phases = ["start", "the run"];
    let started = Start { transport, job: &job, shares: shares.collect(), phases, force, backend, shape };
    let stats = started.run(&bar, |done, _| bar.set_position(done))?;
    for (member, stats) in members.iter().zip(&stats) {
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
    let shown = run_report::with_names(plan, &gather(&stats)?);
    let report = report(args, &prepared, backend, shape, &shown, members.into_iter().zip(stats), begun);
    log::note!("{}", report.for_people(plan).trim_end());
    if let Some(passing) = streamed {
        let told = passing.show();
        run_report::deliver(None, &report, json, args.json.as_deref())?;
        return told;
    }
    files.iter().for_each(|(name, path)| log::note!("output {name} is in {}", path.display()));
    run_report::deliver(Some(run_report::lines(&shown)), &report, json, args.json.as_deref())
}

/// The job file with what the command line changes, or a job around a circuit.
fn job(args: &RunArgs) -> Result<CircuitJob, Error> {
    let mut job = match (&args.job, &args.circuit) {
        (Some(path), _) => match Job::read(path)? {
            Job::Circuit(job) => job,
            Job::Psi(_) => {
                return Err(Error::Usage(format!(
                    "{} is an intersection's job; run it with `hushwire local psi --a A.csv --b B.csv …`, or rehearse it \
                     with `hushwire local files`",
                    path.display()
                )));
            }
            Job::AesCtr(_) => {
                return Err(Error::Usage(format!(
                    "{} is an encryption's job; run it with `hushwire local aes-ctr --in FILE`, or rehearse it with \
                     `hushwire local files`",
                    path.display()
                )));
            }
            _ => return Err(unknown_kind()),
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

/// `I=TEXT`, `I` being a name or a place among `names`.
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

/// Every input's value, by place.
fn inputs(args: &RunArgs, job: &CircuitJob, plan: &Plan) -> Result<Vec<Given>, Error> {
    let names: Vec<_> = plan.inputs.iter().map(|(name, _)| name.as_str()).collect();
    let digits = pairs("--inputs", &args.inputs, &names)?;
    let files = pairs("--input-file", &args.input_file, &names)?;
    let mut all = vec![];
    for (i, name) in names.iter().enumerate() {
        let width = plan.input_widths[i];
        let given = match (digits.get(&i), files.get(&i), &job.inputs[i].sample) {
            (Some(_), Some(_), _) => {
                return Err(Error::Usage(format!("input {name} is given by --inputs and by --input-file")));
            }
            (Some(digits), None, _) => Given::Hex((*digits).to_owned()),
            (None, Some(&"-"), _) => {
                if files.values().filter(|file| **file == "-").count() > 1 {
                    let what = "--input-file: two inputs are standard input; give one of them a file";
                    return Err(Error::Usage(what.into()));
                }
                Given::from_stream()?
            }
            (None, Some(file), _) => Given::File(PathBuf::from(file)),
            (None, None, Some(sample)) if plan.instances == 1 => Given::Hex(sample.clone()),
            (None, None, _) if width == 0 && plan.instances == 1 => Given::Hex(String::new()),
            (None, None, _) if plan.instances == 1 => {
                let zeros = "0".repeat(width.div_ceil(4).min(64));
                return Err(Error::Usage(format!(
                    "input {name} of {width} bits has no value; give it as in --inputs {name}={zeros}"
                )));
            }
            (None, None, _) => {
                return Err(Error::Usage(format!(
                    "input {name} has no values; give {} bytes for each instance with --input-file {name}=FILE",
                    Plan::record(width)
                )));
            }
        };
        all.push(given);
    }
    Ok(all)
}

/// The files of outputs, by name.
fn outputs(args: &RunArgs, plan: &Plan) -> Result<BTreeMap<String, PathBuf>, Error> {
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
        let other = match (streams.get(1), printed, args.json.as_deref().is_some_and(is_stream)) {
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

/// One member of a local run.
pub(crate) struct Share {
    pub(crate) member: Member,
    /// Its name in messages.
    pub(crate) who: String,
    pub(crate) inputs: BTreeMap<String, Given>,
    /// Others come back in [`Stats`].
    pub(crate) outputs: BTreeMap<String, Kept>,
}

/// The settings with which the processes are started.
pub(crate) struct Start<'a> {
    pub(crate) transport: &'a str,
    pub(crate) job: &'a Job,
    /// All members, in the agreement's order.
    pub(crate) shares: Vec<Share>,
    /// The names of what is under way before members meet, and then.
    pub(crate) phases: [&'static str; 2],
    /// Whether outputs may replace files of others.
    pub(crate) force: bool,
    pub(crate) backend: Backend,
    pub(crate) shape: Shape,
}

impl Start<'_> {
    /// Starts all members, and follows them to their end: what each measured, in order. `progress` hears how much the first
    /// one has done, of how much.
    pub(crate) fn run(self, bar: &ProgressBar, progress: impl Fn(u64, u64)) -> Result<Vec<Stats>, Error> {
        let wrong =
            |e: &dyn std::fmt::Display| Error::Internal { doing: "starting the run", cause: e.to_string() };
        let session = SessionId::fresh().map_err(|e| wrong(&e))?;
        let identities = self.shares.iter().map(|share| Identity::generate(&share.who));
        let identities = identities.collect::<Result<Vec<_>, _>>().map_err(|e| wrong(&e))?;
        let places = Places::of(self.transport.parse()?)?;
        let members = self.shares.iter().enumerate();
        let members = members.map(|(i, share)| (share.who.clone(), arguments(i, &share.member)));
        let mut supervisor = Supervisor::of(members)?;
        supervisor.enter(self.phases[0]);
        let mut met = vec![];
        for (i, (share, identity)) in self.shares.into_iter().zip(&identities).enumerate() {
            let Share { member: me, inputs, outputs, .. } = share;
            met.push(Met { member: me.clone(), address: None, pin: identity.pin().to_string() });
            let listen = matches!(me, Member::Party(_)).then(|| places.address(&me.key()));
            let setup = JobSetup {
                me,
                job: self.job.clone(),
                pem: identity.to_pem().to_string(),
                listen,
                transport: self.transport.to_owned(),
                net: self.shape.to_string(),
                session: session.to_string(),
                aes_backend: self.backend.tier().name().to_owned(),
                inputs,
                outputs,
                force: self.force,
                key_share: None,
            };
            supervisor.tell(i, &ToParty::Job(Box::new(setup)));
        }
        let mut waits = met.len();
        while waits > 0 {
            if let Event::Said(i, FromParty::Ready { address, .. }) = supervisor.next()? {
                met[i].address = Some(address).filter(|address| !address.is_empty());
                waits -= 1;
            }
        }
        supervisor.enter(self.phases[1]);
        supervisor.tell_all(&ToParty::Meet(met));
        loop {
            match supervisor.next()? {
                Event::Said(0, FromParty::Progress(done, of)) => progress(done, of),
                Event::Said(_, FromParty::Note(note)) => bar.suspend(|| log::note!("{note}")),
                _ => {}
            }
            if let Some(stats) = supervisor.stats() {
                supervisor.tell_all(&ToParty::Bye);
                return Ok(stats);
            }
        }
    }
}

fn brings(plan: &Plan, inputs: &[Given], me: &Member) -> BTreeMap<String, Given> {
    plan.inputs_of(me).map(|i| (plan.inputs[i].0.clone(), inputs[i].clone())).collect()
}

/// An output's first recipient writes its file; the others throw it away.
fn keeps(plan: &Plan, files: &BTreeMap<String, PathBuf>, me: &Member) -> BTreeMap<String, Kept> {
    let outputs = plan.outputs_of(me).map(|j| &plan.outputs[j]);
    let placed = outputs.filter_map(|(name, to)| {
        let path = files.get(name)?;
        let first = to.first() == Some(me);
        Some((name.clone(), if first { Kept::File(path.clone()) } else { Kept::Nowhere }))
    });
    placed.collect()
}

/// Outputs by place. All recipients must have found the same.
fn gather(stats: &[Stats]) -> Result<BTreeMap<usize, String>, Error> {
    let mut shown: BTreeMap<usize, String> = BTreeMap::new();
    for (j, digits) in stats.iter().flat_map(|s| &s.outputs) {
        if shown.insert(*j, digits.clone()).is_some_and(|other| other != *digits) {
            let cause = format!("recipients of output {j} found different values");
            return Err(Error::Internal { doing: "comparing outputs", cause });
        }
    }
    Ok(shown)
}

fn report(
    args: &RunArgs,
    prepared: &Prepared,
    backend: Backend,
    shape: Shape,
    shown: &[(String, String)],
    members: impl Iterator<Item = (Member, Stats)>,
    begun: Instant,
) -> RunReport {
    let (plan, program) = (&prepared.plan, &prepared.program);
    let members = members.map(|(member, stats)| {
        let of = OfMember {
            member: member.key(),
            bytes_sent: stats.bytes_sent,
            bytes_received: stats.bytes_received,
            rounds: stats.rounds,
            peak_memory_bytes: stats.peak_memory_bytes,
            seconds: stats.seconds,
        };
        (member, of)
    });
    let (parties, clients) = split(members.collect());
    let run_seconds = parties.iter().map(|p| p.seconds).fold(0.0, f64::max);
    RunReport {
        command: "local run",
        version: env!("CARGO_PKG_VERSION"),
        circuit: plan.circuit.clone(),
        circuit_digest: hex::encode(plan.circuit_digest),
        protocol: plan.protocol,
        scheme: plan.scheme.map(Scheme::name),
        ot: plan.ot.map(hushwire_ot::Protocol::name),
        bit_order: plan.bit_order.name(),
        outputs: shown.iter().cloned().collect(),
        instances: plan.instances,
        ands: program.ands(),
        and_depth: program.depth(),
        rounds: parties.iter().map(|p| p.rounds).max().unwrap_or(0),
        seconds: begun.elapsed().as_secs_f64(),
        run_seconds,
        ands_per_second: program.ands() as f64 * plan.instances as f64 / run_seconds,
        transport: args.transport.clone(),
        net: shape.to_string(),
        aes_tier: backend.tier().name(),
        threads: plan.threads,
        lanes_per_thread: plan.lanes,
        batch: plan.batch,
        parties,
        clients,
    }
}
