//! `hushwire serve-model` and `hushwire ask-model`: a model that stays with the members that serve
//! it, and clients that ask for one answer after the other.

use crate::{
    control::peak_memory,
    error::Error,
    files::{self, NewFile},
    log,
    member_cmd::{allowing, checked, or_excuse, other_kind},
    run_args::MemberArgs,
    run_report::{OfMember, deliver},
};
use clap::Args;
use hushwire::job::{
    AHEAD, Answered, Cancel, ClientFile, Fault, InferJob, InferTask, Inferred, InputPlace, Job, Member,
    MemberConfig, MemberFile, OutputPlace, PartyFile, Requests, ServeEvent, ServeObserver, ServeTerms, Task,
    ask_model, inferred_lines, serve_model, size,
};
use hushwire_nn::Labels;
use serde::Serialize;
use std::{
    collections::{BTreeMap, VecDeque},
    io::BufRead,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
        mpsc::{self, Receiver, TryRecvError},
    },
    thread,
    time::Duration,
};

pub(crate) const SERVE_HELP: &str = "\
Examples:
  hushwire serve-model infer.toml --config lab.toml
                                      the owner of the model shares its weights to three parties, once
  hushwire serve-model infer.toml --config party0.toml
                                      a party of three, which answers the client of the job from then on
  hushwire serve-model infer.toml --config party0.toml --client client:ann --client client:bob --answers 1000 --ledger answers.json
                                      two clients, who may have a thousand answers each, whenever they ask
  hushwire ask-model infer.toml --config ann.toml --input x.npy --output y.npy
                                      a client's request

Between two parties the owner serves alone. docs/serving.md says what is kept, and what is fresh in each session.

Exit codes: 0 ok, 1 a bug, 2 wrong command line, 3 a party or the network failed, 4 a file could not be used, \
5 refused because it would not be safe.";

pub(crate) const ASK_HELP: &str = "\
Examples:
  hushwire ask-model infer.toml --config ann.toml --input x.npy --output y.npy
                                      one answer of a model that is served
  hushwire ask-model infer.toml --config ann.toml --input a.npy --output a.out.npy --input b.npy --output b.out.npy
                                      one after the other, in one session
  hushwire ask-model infer.toml --config ann.toml --requests
                                      requests by standard input, a line with INPUT.npy OUTPUT.npy for each

Exit codes: 0 ok, 1 a bug, 2 wrong command line, 3 a party or the network failed, 4 a file could not be used, \
5 refused because it would not be safe.";

/// Serve a model to clients that ask for one answer after the other: be a party, or share the
/// weights of a model that you own.
#[derive(Args)]
#[command(arg_required_else_help = true, after_help = SERVE_HELP)]
pub(crate) struct ServeModelArgs {
    #[command(flatten)]
    member: MemberArgs,
    /// A client that may ask, as in client:ann. Repeat it for others [default: the client of the
    /// job]
    #[arg(long = "client", value_name = "MEMBER")]
    clients: Vec<Member>,
    /// The most answers that each client gets; an answer is that to one input along the first axis
    /// [default: any number]
    #[arg(long, value_name = "N")]
    answers: Option<u64>,
    /// The file that counts answers, so that --answers holds over several runs of this command
    #[arg(long, value_name = "FILE", requires = "answers")]
    ledger: Option<PathBuf>,
    /// Requests that are computed at the same time; others wait in the order in which they came
    #[arg(long, value_name = "N", default_value = "1", value_parser = clap::value_parser!(u16).range(1..=64))]
    at_once: u16,
    /// End after this number of requests of all clients [default: at a signal]
    #[arg(long = "requests", value_name = "N")]
    requests: Option<u64>,
    #[command(flatten)]
    ahead: AheadArgs,
}

/// The option that servers and clients have alike.
#[derive(Args)]
struct AheadArgs {
    /// Memory for OTs that two parties make between requests, the same at both, as in 256MiB; 0 for
    /// none
    #[arg(long, value_name = "SIZE", value_parser = size::parse, default_value_t = AHEAD)]
    ots_ahead: u64,
}

/// Ask a model that is served for answers.
#[derive(Args)]
#[command(arg_required_else_help = true, after_help = ASK_HELP)]
pub(crate) struct AskModelArgs {
    #[command(flatten)]
    member: MemberArgs,
    /// The NumPy file of a request's input. Repeat it for the next request; for a model with
    /// several inputs give each once, as NAME=FILE [default: those of the member's file]
    #[arg(long, value_name = "[NAME=]FILE")]
    input: Vec<String>,
    /// The NumPy file of a request's output, in the order of the inputs [default: that of the
    /// member's file, else the output is printed]
    #[arg(long, value_name = "FILE")]
    output: Vec<PathBuf>,
    /// Read requests from standard input: a line with an input's file, and behind a space an
    /// output's, for each
    #[arg(long, conflicts_with_all = ["input", "output"])]
    requests: bool,
    /// The file of the classes' names, one a line
    #[arg(long, value_name = "FILE")]
    labels: Option<PathBuf>,
    #[command(flatten)]
    ahead: AheadArgs,
}

/// Returns the job of the command, which must be an inference.
fn job(args: &MemberArgs, config: &MemberConfig) -> Result<InferJob, Error> {
    let read = Job::read(&args.job).map_err(Error::Job);
    match or_excuse(read, config, None)? {
        Job::Infer(job) => Ok(job),
        other => or_excuse(Err(other_kind(&args.job, &other)), config, None),
    }
}

/// Returns the member of a file, whether it listens or not.
fn member(args: &MemberArgs, listens: bool) -> Result<MemberConfig, Error> {
    let backend = args.common.backend()?;
    let (listen, file) = MemberFile::read(&args.config)?;
    let member = checked(args, &file)?;
    let config = match listen.filter(|_| listens) {
        Some(listen) => MemberConfig::of_party(PartyFile { listen, member: file }, &args.run, backend),
        None => MemberConfig::of_client(ClientFile(file), &args.run, backend),
    };
    let mut config = allowing(args, config.map_err(|e| e.by(&member))?)?;
    config.files.set_force(args.common.replace.force);
    config.files.reads("the job file", &args.job);
    Ok(config)
}

/// The report of a member that has served.
#[derive(Serialize)]
struct ServedReport {
    command: &'static str,
    version: &'static str,
    member: String,
    network: String,
    /// The number of requests that were answered.
    requests: u64,
    /// The seconds of answering these requests.
    answer_seconds: f64,
    bytes_sent: u64,
    bytes_received: u64,
    peak_memory_bytes: Option<u64>,
}

/// Serves a model until a signal, or until the given number of requests has been answered.
pub(crate) fn serve(args: &ServeModelArgs) -> Result<(), Error> {
    let ServeModelArgs { member: of_member, clients, answers, ledger, at_once, requests, ahead } = args;
    let mut config = member(of_member, true)?;
    let job = job(of_member, &config)?;
    let task = or_excuse(InferTask::new(&job).map_err(Error::Job), &config, None)?;
    let report = format!("{}, serving {}", config.me, task.agreement().title);
    let json = of_member.common.json_file(&mut config.files, &report)?;
    let me = config.me.clone();
    let terms = ServeTerms {
        clients: clients.clone(),
        answers: *answers,
        ledger: ledger.clone(),
        at_once: (*at_once).into(),
        requests: *requests,
        ahead: ahead.ots_ahead,
    };
    if let Some(listener) = &config.listener {
        log::note!("{me} listens on {}", listener.address());
    }
    let stop = stopped_by_signals()?;
    let observer: ServeObserver = Arc::new(|event| match event {
        ServeEvent::Ready => log::note!("the model is ready"),
        ServeEvent::Joined(client) => log::note!("{client} has joined"),
        ServeEvent::Answered(client, time) => {
            log::note!("{client} has an answer, in {:.3} s", time.as_secs_f64());
        }
        ServeEvent::Refused(client, e) => log::note!("{client} gets no answer: {}", e.cause()),
        ServeEvent::Left(client) => log::note!("{client} has left"),
        ServeEvent::Failed(client, e) => log::warn(format!("the session of {client} ended: {e}")),
        _ => {}
    });
    let ended = serve_model(&job, config, &terms, &stop, &observer)?;
    log::note!("{me} is done: {} requests answered in {:.2} s", ended.requests, ended.seconds);
    let report = ServedReport {
        command: "serve-model",
        version: env!("CARGO_PKG_VERSION"),
        member: me.key(),
        network: hex::encode(task.computation().digest()),
        requests: ended.requests,
        answer_seconds: ended.seconds,
        bytes_sent: ended.bytes_sent,
        bytes_received: ended.bytes_received,
        peak_memory_bytes: peak_memory(),
    };
    deliver(None, &report, json, of_member.common.json.as_deref())
}

/// Returns a handle that SIGINT and SIGTERM cancel.
fn stopped_by_signals() -> Result<Cancel, Error> {
    let (stop, asked) = (Cancel::new(), Arc::new(AtomicBool::new(false)));
    for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM] {
        let set = signal_hook::flag::register(signal, Arc::clone(&asked));
        set.map_err(|e| Error::internal("waiting for signals", e))?;
    }
    let told = stop.clone();
    thread::spawn(move || {
        while !asked.load(Ordering::Relaxed) {
            thread::sleep(Duration::from_millis(50));
        }
        told.cancel();
    });
    Ok(stop)
}

/// The inputs of a request by name, and the file of its output.
struct Request {
    inputs: BTreeMap<String, InputPlace>,
    output: Option<PathBuf>,
}

/// The requests of a command line, or of standard input.
struct Asks<'a> {
    queue: VecDeque<Request>,
    /// The lines of standard input, if requests come from it.
    lines: Option<Receiver<String>>,
    /// The file of the output that is being written.
    output: Option<NewFile>,
    config: hushwire::job::RunFiles,
    task: &'a InferTask,
    labels: &'a Labels,
    /// Whether standard output is for the report.
    silent: bool,
    answers: Vec<AnswerReport>,
}

/// An answer in the report.
#[derive(Serialize)]
struct AnswerReport {
    seconds: f64,
    shape: Option<Vec<usize>>,
    output: Vec<f32>,
}

/// The step of reading requests, as errors name it.
const ASKING: &str = "reading requests";

impl Asks<'_> {
    /// Takes a line of standard input as a request.
    fn line(&mut self, line: &str) {
        let mut words = line.split_whitespace();
        let Some(input) = words.next() else { return };
        let inputs = BTreeMap::from([("input".to_owned(), InputPlace::File(input.into()))]);
        self.queue.push_back(Request { inputs, output: words.next().map(PathBuf::from) });
    }
}

impl Requests for Asks<'_> {
    fn is_there(&mut self) -> bool {
        while self.queue.is_empty() {
            match self.lines.as_ref().map(Receiver::try_recv) {
                Some(Ok(line)) => self.line(&line),
                Some(Err(TryRecvError::Empty)) => return false,
                None | Some(Err(TryRecvError::Disconnected)) => return true,
            }
        }
        true
    }

    fn next(&mut self) -> Result<Option<BTreeMap<String, InputPlace>>, Fault> {
        while self.queue.is_empty() {
            match self.lines.as_ref().map(Receiver::recv) {
                Some(Ok(line)) => self.line(&line),
                _ => return Ok(None),
            }
        }
        let Some(Request { inputs, output }) = self.queue.pop_front() else { return Ok(None) };
        for path in inputs.values().filter_map(InputPlace::path) {
            self.config.reads("the input", path);
        }
        let file = |path: PathBuf| self.config.create("with --output", &path, &self.task.writer(), 0o600);
        self.output = output.map(file).transpose()?;
        Ok(Some(inputs))
    }

    fn answered(&mut self, answer: Answered) -> Result<(), Fault> {
        let seconds = answer.time.as_secs_f64();
        log::note!("an answer, in {seconds:.3} s");
        let bytes = answer.npy(0);
        let learnt = Inferred::of(answer.arrays);
        match self.output.take() {
            Some(file) => file.write(&bytes)?,
            None if self.silent => {}
            None => {
                let told = crate::out::text(inferred_lines(self.task, &learnt, self.labels));
                told.map_err(|e| Fault::usage("printing an output", e, "name a file with --output"))?;
            }
        }
        self.answers.push(AnswerReport { seconds, shape: learnt.lengths, output: learnt.elements });
        Ok(())
    }
}

/// The report of a client that has asked.
#[derive(Serialize)]
struct AskedReport {
    command: &'static str,
    version: &'static str,
    network: String,
    protocol: hushwire::job::Protocol,
    ot: Option<&'static str>,
    transport: String,
    aes_tier: &'static str,
    answers: Vec<AnswerReport>,
    #[serde(flatten)]
    measured: OfMember,
}

/// Returns the requests of the command line.
fn requests(args: &AskModelArgs, config: &MemberConfig) -> Result<VecDeque<Request>, Error> {
    let named = |text: &String| match text.split_once('=') {
        Some((name, file)) => (name.to_owned(), PathBuf::from(file)),
        None => ("input".to_owned(), PathBuf::from(text)),
    };
    let place = |path: &Path| files::input(path);
    if args.requests {
        return Ok(VecDeque::new());
    }
    if args.input.is_empty() {
        let output = args.output.first().cloned().or_else(|| match config.outputs.get("output") {
            Some(OutputPlace::File(path)) => Some(path.clone()),
            _ => None,
        });
        return Ok([Request { inputs: config.inputs.clone(), output }].into());
    }
    let all: Vec<_> = args.input.iter().map(named).collect();
    let mut outputs = args.output.iter().cloned();
    // Files with different names are inputs of one request.
    if all.iter().any(|(name, _)| *name != all[0].0) {
        let inputs = all.iter().map(|(name, path)| Ok((name.clone(), place(path)?)));
        let inputs = inputs.collect::<Result<BTreeMap<_, _>, Error>>()?;
        if inputs.len() < all.len() {
            return Err(Error::Usage("--input has two files for one name; give each name once".to_owned()));
        }
        return Ok([Request { inputs, output: outputs.next() }].into());
    }
    if !args.output.is_empty() && args.output.len() != all.len() {
        let what = format!("{} inputs have {} outputs", all.len(), args.output.len());
        return Err(Error::Usage(format!("{what}; give each --input its --output, or none")));
    }
    let one = |(name, path): (String, PathBuf)| {
        Ok(Request { inputs: BTreeMap::from([(name, place(&path)?)]), output: outputs.next() })
    };
    all.into_iter().map(one).collect()
}

/// Sends requests to a model that is served.
pub(crate) fn ask(args: &AskModelArgs) -> Result<(), Error> {
    let of_member = &args.member;
    let mut config = member(of_member, false)?;
    let job = job(of_member, &config)?;
    let task = or_excuse(InferTask::new(&job).map_err(Error::Job), &config, None)?;
    let labels = args.labels.as_deref().map(files::text).transpose()?;
    let labels = labels.map_or_else(Labels::default, |text| Labels::parse(&text));
    let report = format!("{}, asking {}", config.me, task.agreement().title);
    let json = of_member.common.json_file(&mut config.files, &report)?;
    let me = config.me.clone();
    let (transport, tier) = (config.transport.to_string(), config.backend.tier().name());
    let queue = requests(args, &config)?;
    let lines = args.requests.then(lines_of_standard_input);
    let mut asks = Asks {
        queue,
        lines,
        output: None,
        config: std::mem::take(&mut config.files),
        task: &task,
        labels: &labels,
        silent: of_member.common.json.as_deref() == Some(Path::new("-")),
        answers: vec![],
    };
    let stats = ask_model(&job, config, args.ahead.ots_ahead, &mut asks)?;
    log::note!(
        "{me} is done: {} answers in {:.2} s, {} sent",
        asks.answers.len(),
        stats.seconds,
        size::show(stats.bytes_sent)
    );
    let report = AskedReport {
        command: "ask-model",
        version: env!("CARGO_PKG_VERSION"),
        network: hex::encode(task.computation().digest()),
        protocol: job.protocol,
        ot: task.chosen().ot.map(hushwire_ot::Protocol::name),
        transport,
        aes_tier: tier,
        answers: asks.answers,
        measured: OfMember::new(me.key(), &stats, peak_memory()),
    };
    deliver(None, &report, json, of_member.common.json.as_deref())
}

/// Returns the lines of standard input, as they come.
fn lines_of_standard_input() -> Receiver<String> {
    let (to, lines) = mpsc::channel();
    thread::spawn(move || {
        for line in std::io::stdin().lock().lines() {
            // The thread ends when nobody takes lines, or when there are no more.
            let Ok(line) = line.map_err(|e| log::warn(format!("{ASKING}: {e}"))) else { return };
            if to.send(line).is_err() {
                return;
            }
        }
    });
    lines
}
