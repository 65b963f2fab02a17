//! `hushwire party` and `hushwire client`: one member of a job, in a run with members on other
//! hosts.

use crate::{
    control::peak_memory,
    error::Error,
    log,
    places::symbols,
    progress,
    run_args::{ClientArgs, MemberArgs, PartyArgs},
    run_report::{self, OfMember},
    shards::AllShards,
};
use hushwire::Member;
use hushwire::job::{
    Agreement, Allowed, ClientFile, Event, Fault, Forecast, Hosts, InputPlace, Job, MemberConfig, MemberFile,
    Observer, PartyFile, Phase, RunValues, Runs, Task, Visitor, Words, excuse, size,
};
use hushwire_aes::{Backend, Tier};
use hushwire_machine::Excuse;
use hushwire_wire::{Shape, TransportKind};
use indicatif::ProgressBar;
use serde::Serialize;
use std::{path::Path, sync::Arc, time::Instant};
use tracing::{debug, trace};

/// The name for people of the network that is assumed between hosts of which nothing is known.
pub(crate) const ROOM: &str = "if the network is as in one room (10 Gbit/s, 0.2 ms)";
/// LOCAL: the seconds from which on the forecast of a run is printed before it begins.
const LONG: f64 = 10.0;

/// `hushwire party`
pub(crate) fn party(args: &PartyArgs) -> Result<(), Error> {
    let PartyArgs { member: args, prepare, up_to, symbol, shards, shard, retry } = args;
    let backend = args.common.backend()?;
    let mut file = PartyFile::read(&args.config)?;
    bring(args, &mut file.member)?;
    let member = checked(args, &file.member)?;
    let hosts = shards.as_deref().map(Hosts::read).transpose()?;
    let ahead = prepare.map(|times| Ahead { times, up_to: (*up_to).into(), symbol });
    let all = AllShards { file: &file.member, hosts: hosts.as_ref() };
    retry.run(|| {
        let config = match &hosts {
            None => MemberConfig::of_party(file.clone(), &args.run, backend),
            // The first shard acts for all shards until they run.
            Some(hosts) => {
                let place = hosts.place(shard.unwrap_or_default(), file.member.transport);
                place.and_then(|place| {
                    let mut config = MemberConfig::of_party_shard(&file, place, &args.run, backend)?;
                    config.files.reads("the hosts of this party's shards", &hosts.path);
                    Ok(config)
                })
            }
        };
        let config = allowing(args, config.map_err(|e| e.by(&member))?)?;
        let all = Some(&all).filter(|_| hosts.is_some() && shard.is_none());
        run_job(args, ahead.as_ref(), all, config)
    })
}

/// `hushwire client`
pub(crate) fn client(args: &ClientArgs) -> Result<(), Error> {
    let ClientArgs { member: args, retry } = args;
    let backend = args.common.backend()?;
    let mut file = ClientFile::read(&args.config)?;
    bring(args, &mut file.0)?;
    let member = checked(args, &file.0)?;
    let all = AllShards { file: &file.0, hosts: None };
    retry.run(|| {
        let config = MemberConfig::of_client(file.clone(), &args.run, backend).map_err(|e| e.by(&member))?;
        run_job(args, None, Some(&all), allowing(args, config)?)
    })
}

/// Replaces files of a member's own file by those of the command line. The dialect in which they
/// are read stays.
fn bring(args: &MemberArgs, file: &mut MemberFile) -> Result<(), Error> {
    for text in &args.bring {
        let (name, path) =
            text.split_once('=').filter(|(name, path)| !name.is_empty() && !path.is_empty()).ok_or_else(
                || Error::Usage(format!("--bring {text}: write the input and its file, as NAME=FILE")),
            )?;
        let path = InputPlace::File(path.into());
        let place = match file.inputs.remove(name) {
            Some(InputPlace::Csv(_, columns)) => InputPlace::Csv(Box::new(path), columns),
            Some(InputPlace::Table(_, dialect)) => InputPlace::Table(vec![path], dialect),
            _ => path,
        };
        file.inputs.insert(name.to_owned(), place);
    }
    Ok(())
}

/// Returns the member to which a file belongs, after a check of its transport, and prints the
/// file's warnings.
pub(crate) fn checked(args: &MemberArgs, file: &MemberFile) -> Result<hushwire::job::Member, Error> {
    check_transport(args, file.transport)?;
    file.warnings.iter().for_each(log::warn);
    Ok(file.me.clone())
}

/// Returns what this member read or planned. After an error, the others receive the message that
/// this member cannot take part, before it ends.
pub(crate) fn or_excuse<T>(
    ready: Result<T, Error>,
    config: &MemberConfig,
    plan: Option<&Agreement>,
) -> Result<T, Error> {
    ready.map_err(|e| {
        let (told, hears) = match e {
            Error::Job(ref e) if plan.is_some() => (e.clone(), said(&ProgressBar::hidden())),
            Error::Job(ref e) => (e.clone().telling(Excuse::Job), said(&ProgressBar::hidden())),
            ref other => {
                log::failed(other);
                let silent: Observer = Arc::new(|_| {});
                (Fault::usage("start-up", other, "").telling(Excuse::Job), silent)
            }
        };
        let told = excuse(config, plan, &hears, told);
        if matches!(e, Error::Job(_)) { told.into() } else { e }
    })
}

/// The options of `--prepare`.
struct Ahead<'a> {
    times: u32,
    up_to: Phase,
    symbol: &'a [String],
}

/// Plans a job of any kind, and runs it or makes its preprocessing. `all` are the shards of a
/// member that may have several here.
fn run_job(
    args: &MemberArgs,
    ahead: Option<&Ahead<'_>>,
    all: Option<&AllShards<'_>>,
    config: MemberConfig,
) -> Result<(), Error> {
    let read = RunValues::of_texts(&args.params).and_then(|values| Job::read(&args.job)?.with(&values));
    let job = or_excuse(read.map_err(Error::Job), &config, None)?;
    job.visit(Planned { args, ahead, whole: all.map(|all| (all, &job)), config })?
}

struct Planned<'a> {
    args: &'a MemberArgs,
    ahead: Option<&'a Ahead<'a>>,
    /// All shards of the member, and the job.
    whole: Option<(&'a AllShards<'a>, &'a Job)>,
    config: MemberConfig,
}

impl Visitor for Planned<'_> {
    type Out = Result<(), Error>;

    fn visit<K: Runs>(self, job: &K) -> Self::Out {
        let Self { args, ahead, whole, config } = self;
        let Some(Ahead { times, up_to, symbol }) = ahead else {
            let task = or_excuse(job.task().map_err(Error::Job), &config, None)?;
            return match whole.filter(|_| task.shards() > 1 || config.shard.is_some()) {
                Some((all, job)) => all.run(args, job, &task, config),
                None => member(args, &task, config),
            };
        };
        if !symbol.is_empty() && K::KEY != Some("computation") {
            let what = "--symbol: only computations have lengths; leave it out";
            return Err(Error::Usage(what.to_owned()));
        }
        let symbols = or_excuse(symbols(symbol, None), &config, None)?;
        let Some(task) = or_excuse(job.ahead(&symbols, *times).map_err(Error::Job), &config, None)? else {
            let what = "only jobs of circuits, computations and inferences can be prepared";
            let remedy = "name one of these with protocol authgarble, or run this one as it is";
            return Err(Error::Usage(format!("{what}; {remedy}")));
        };
        member(args, &task.up_to(*up_to), config)
    }
}

/// Adds the jobs that the command line allows.
pub(crate) fn allowing(args: &MemberArgs, mut config: MemberConfig) -> Result<MemberConfig, Error> {
    for path in &args.allow_file {
        let allowed = Allowed::read(path).map_err(Error::Job);
        config.allow(or_excuse(allowed, &config, None)?);
        config.files.reads("the digests that are allowed", path);
    }
    if !args.allow.is_empty() {
        config.allow(args.allow.iter().copied());
    }
    Ok(config)
}

/// The error of a job whose kind this command does not run.
pub(crate) fn other_kind(path: &Path, job: &Job) -> Error {
    let path = path.display();
    let (what, run) = job.in_words(&path.to_string());
    let rehearse =
        if run.contains("local files") { "" } else { ", or rehearse it with `hushwire local files`" };
    Error::Usage(format!("{path} is {what} job; run it with {run}{rehearse}"))
}

/// Refuses tcp-insecure without the option for it: a file from somebody else must not turn off all
/// protection.
fn check_transport(args: &MemberArgs, transport: TransportKind) -> Result<(), Error> {
    if transport != TransportKind::TcpInsecure || args.allow_insecure {
        return Ok(());
    }
    let what = format!(
        "{} asks for transport tcp-insecure, over which everybody between the hosts reads and changes everything",
        args.config.display()
    );
    let remedy = "write transport = \"tcp-tls\" in every member's file, or add --allow-insecure to measure without TLS";
    Err(Error::refused(what, remedy))
}

/// The report of a member, the content of `--json`.
#[derive(Serialize)]
pub(crate) struct MemberReport<R> {
    pub(crate) command: &'static str,
    pub(crate) version: &'static str,
    #[serde(flatten)]
    pub(crate) of_kind: R,
    pub(crate) transport: String,
    pub(crate) aes_tier: &'static str,
    /// The number of its processes, if it has several. Bytes are the sum over all processes,
    /// everything else is the largest value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) shards: Option<usize>,
    #[serde(flatten)]
    pub(crate) measured: OfMember,
}

fn member<T: Words>(args: &MemberArgs, task: &T, mut config: MemberConfig) -> Result<(), Error> {
    task.warnings().iter().for_each(log::warn);
    task.notes().iter().for_each(|note| log::note!("note: {note}"));
    config.files.set_force(args.common.replace.force);
    config.files.reads("the job file", &args.job);
    task.reads().into_iter().for_each(|(role, path)| config.files.reads(role, &path));
    let plan = task.agreement();
    let report = format!("{}, {}", config.me, plan.title);
    // If the job is not allowed, `run` returns that error, and no report is begun.
    let json = if config.allows(&task.terms()).is_ok() {
        let json = args.common.json_file(&mut config.files, &report);
        or_excuse(json, &config, Some(&plan))?
    } else {
        None
    };
    let (me, transport, tier) =
        (config.me.clone(), config.transport.to_string(), config.backend.tier().name());
    if config.transport == TransportKind::TcpInsecure {
        log::warn("tcp-insecure has no secrecy and no authentication; it is for measuring");
    }
    let others: Vec<_> = plan.members().into_iter().filter(|m| *m != me).map(|m| m.to_string()).collect();
    if let Some(listener) = &config.listener {
        log::note!("{me} listens on {}", listener.address());
    }
    log::note!("{me} waits for {}", others.join(", "));
    let (extent, unit) = task.extent();
    let bar = progress(extent, unit);
    let aes = has_aes(config.backend);
    let announced = |forecast: Option<Forecast>| {
        if let Some(forecast) = forecast {
            announce(&forecast, Shape::lan(), ROOM);
        }
    };
    announced(task.forecast(aes, None));
    let later = task.clone();
    let forecast = move |extent| announced(later.forecast(aes, Some(extent)));
    let is_party = matches!(me, hushwire::job::Member::Party(_));
    // The plan is only made a second time if somebody watches.
    let is_watched = !bar.is_hidden() || tracing::enabled!(tracing::Level::TRACE);
    let course = if is_watched { task.course()? } else { vec![] };
    let begun = Instant::now();
    debug!(member = me.key(), transport, tier, circuit = plan.title, "joining");
    let outcome = Member::new(config).observer(observer(&bar, begun, course, forecast)).run(task)?;
    bar.finish_and_clear();
    let stats = &outcome.stats;
    debug!(
        bytes_sent = stats.bytes_sent,
        bytes_received = stats.bytes_received,
        rounds = stats.rounds,
        after_seconds = begun.elapsed().as_secs_f64(),
        "confirmed by all"
    );
    log::note!(
        "{me} is done: {} in {:.2} s, {} sent",
        task.work(&outcome.learnt),
        stats.seconds,
        size::show(stats.bytes_sent)
    );
    let report = MemberReport {
        command: if is_party { "party" } else { "client" },
        version: env!("CARGO_PKG_VERSION"),
        of_kind: task.report(&outcome.learnt),
        transport,
        aes_tier: tier,
        shards: None,
        measured: OfMember::new(me.key(), stats, peak_memory()),
    };
    run_report::deliver(Some(task.printed(&outcome.learnt)), &report, json, args.common.json.as_deref())
}

/// Returns a progress bar for people at a terminal.
pub(crate) fn progress(extent: u64, unit: &'static str) -> ProgressBar {
    // A single instance has no progress to show.
    if extent == 1 {
        return ProgressBar::hidden();
    }
    progress::bar(extent, unit)
}

/// Prints the forecast of a long run over such a network before it begins. `network` is the
/// network's name for people.
pub(crate) fn announce(forecast: &Forecast, net: Shape, network: &str) {
    let seconds = forecast.seconds(net);
    if seconds < LONG {
        return;
    }
    let cost = forecast.over(net);
    let rounds = if cost.rounds == 0 { String::new() } else { format!("{} rounds, ", cost.rounds) };
    log::note!(
        "{} {}, {rounds}{} from each party: about {} {network}",
        progress::short(forecast.work as f64),
        forecast.unit,
        size::show(cost.bytes_sent),
        progress::duration(seconds),
    );
}

/// Returns whether AES is fast with this backend.
pub(crate) fn has_aes(backend: Backend) -> bool {
    backend.tier() != Tier::Portable
}

/// Prints an error before the command ends, and nothing else.
fn said(bar: &ProgressBar) -> Observer {
    let bar = bar.clone();
    Arc::new(move |event| {
        if let Event::Failed(e) = event {
            bar.suspend(|| log::failed(&e.into()));
        }
    })
}

/// Prints events for a person, and with `-v` their times. If the run has a `course`, the bar shows
/// the step under way. `forecast` receives the extent of the work before any of it is done.
fn observer(
    bar: &ProgressBar,
    begun: Instant,
    course: Vec<(u64, String)>,
    forecast: impl Fn(u64) + Send + Sync + 'static,
) -> Observer {
    let (bar, said) = (bar.clone(), said(bar));
    Arc::new(move |event| match event {
        Event::Failed(_) => said(event),
        Event::Note(note) => bar.suspend(|| log::note!("{note}")),
        Event::Connected => bar.suspend(|| {
            log::note!("all members are connected");
            debug!(after_seconds = begun.elapsed().as_secs_f64(), "joined");
        }),
        Event::Progress(0, of) => {
            bar.set_length(of);
            bar.suspend(|| forecast(of));
        }
        Event::Progress(done, of) => {
            bar.set_length(of);
            bar.set_position(done);
            let after_seconds = begun.elapsed().as_secs_f64();
            match progress::under_way(&course, done) {
                Some(operator) => {
                    bar.set_message(progress::cut(operator));
                    trace!(done, of, after_seconds, operator, "computing");
                }
                None => trace!(done, of, after_seconds, "computing"),
            }
            if done == of {
                debug!(instances = of, after_seconds = begun.elapsed().as_secs_f64(), "computed");
            }
        }
        _ => {}
    })
}
