//! `hushwire ot`: chosen oblivious transfer from one file to another, between two machines.

mod link;
mod terms;
mod values;

use crate::{
    control::peak_memory,
    error::Error,
    files::{NewFile, RunFiles, is_stream, unnamed},
    log,
    member_cmd::{ROOM, announce, has_aes},
    options::CommonArgs,
    out,
    run_report::deliver,
};
use clap::{Args, Subcommand};
use hushwire::job::{Forecast, size};
use hushwire_aes::Backend;
use hushwire_ot::{Level, Protocol};
use hushwire_wire::Shape;
use link::{Link, excuse};
use serde::Serialize;
use std::{path::PathBuf, time::Instant};
use terms::{OtParty, OtTerms};

pub(crate) const HELP: &str = "\
Examples:
  hushwire ot send --messages pairs.txt --listen 0.0.0.0:7000 --key sender.pem --pin sha256:…
  hushwire ot recv --choices bits.txt --out chosen.txt --connect 10.0.0.2:7000 --key receiver.pem --pin sha256:…

Line i of pairs.txt holds two messages, numbers of up to 32 hexadecimal digits; line i of bits.txt holds 0 or 1; line i of \
chosen.txt will hold the message that it names, as 32 digits. The receiver does not learn the other one, and the sender \
not which one it was. Both files have the same number of lines. `hushwire keys init` makes a key and prints the pin that the other \
side gives.

Exit codes: 0 ok, 1 a bug, 2 wrong command line, 3 the peer or the network failed, 4 a file could not be used, \
5 refused because it would not be safe.";

/// Chosen oblivious transfer between two files.
#[derive(Args)]
pub(crate) struct OtArgs {
    #[command(subcommand)]
    command: OtCommand,
}

#[derive(Subcommand)]
enum OtCommand {
    /// Offer pairs of messages.
    #[command(
        arg_required_else_help = true,
        after_help = "Example:\n  hushwire ot send --messages pairs.txt --listen 0.0.0.0:7000 --key sender.pem --pin sha256:…"
    )]
    Send(SendArgs),
    /// Take one message of each pair.
    #[command(
        arg_required_else_help = true,
        after_help = "Example:\n  hushwire ot recv --choices bits.txt --out chosen.txt --connect 10.0.0.2:7000 --key receiver.pem --pin sha256:…"
    )]
    Recv(RecvArgs),
}

#[derive(Args)]
struct SendArgs {
    /// Pairs of messages, one pair a line: two numbers of up to 32 hexadecimal digits; - is
    /// standard input
    #[arg(long, value_name = "FILE")]
    messages: PathBuf,
    #[command(flatten)]
    link: LinkArgs,
}

#[derive(Args)]
struct RecvArgs {
    /// The choice from each pair, one line each: 0 or 1; - is standard input
    #[arg(long, value_name = "FILE")]
    choices: PathBuf,
    /// The file to write the chosen messages to, which appears when it is whole; one that is there
    /// stays; - is standard output
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    #[command(flatten)]
    link: LinkArgs,
}

/// The options of both sides.
#[derive(Args)]
struct LinkArgs {
    #[command(flatten)]
    place: PlaceArgs,
    /// This side's key, which `hushwire keys init` made; - is standard input; only tcp-tls needs it
    #[arg(long, value_name = "FILE")]
    key: Option<PathBuf>,
    /// The other side's pin, which `hushwire keys pin` prints there; only tcp-tls needs it
    #[arg(long, value_name = "PIN")]
    pin: Option<String>,
    /// The extension, the same at both sides: iknp, alsz, kos, softspoken2, softspoken4,
    /// softspoken8, ferret-b9 to ferret-b13
    #[arg(long, value_name = "NAME", default_value = "softspoken4", value_parser = protocol)]
    protocol: Protocol,
    /// The security, the same at both sides: against a malicious other side, or a semi-honest one,
    /// which is faster
    #[arg(long, value_name = "LEVEL", default_value = "malicious", value_parser = level)]
    security: Level,
    /// The transport between the processes: tcp-tls; on one host also unix or shm; tcp-insecure to
    /// measure what TLS costs
    #[arg(long, value_name = "NAME", default_value = "tcp-tls", value_parser = ["tcp-tls", "tcp-insecure", "unix", "shm"])]
    transport: String,
    /// The time to wait for the other side, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    wait: u64,
    #[command(flatten)]
    common: CommonArgs,
}

/// The place of one side: it listens, or it connects.
#[derive(Args)]
#[group(required = true, multiple = false)]
struct PlaceArgs {
    /// Wait for the other side here, HOST:PORT or unix:/path; one side listens, the other one
    /// connects
    #[arg(long, value_name = "ADDRESS", value_parser = hushwire::job::address)]
    listen: Option<String>,
    /// The address on which the other side listens
    #[arg(long, value_name = "ADDRESS", value_parser = hushwire::job::address)]
    connect: Option<String>,
}

fn protocol(text: &str) -> Result<Protocol, String> {
    text.parse().map_err(|_| format!("the protocols are {}", Protocol::ALL.map(|p| p.to_string()).join(", ")))
}

fn level(text: &str) -> Result<Level, String> {
    let levels = [Level::Malicious, Level::SemiHonest];
    levels.into_iter().find(|l| l.name() == text).ok_or_else(|| "malicious or semi-honest".to_owned())
}

/// Runs the command.
pub(crate) fn run(args: &OtArgs) -> Result<(), Error> {
    match &args.command {
        OtCommand::Send(args) => send(args),
        OtCommand::Recv(args) => recv(args),
    }
}

/// Everything but the messages and choices that a side has before it connects.
struct Prepared<'a> {
    args: &'a LinkArgs,
    /// They are the same at both sides.
    terms: OtTerms,
    backend: Backend,
    /// The file of the report.
    json: Option<NewFile>,
}

impl<'a> Prepared<'a> {
    /// Checks the options for `count` OTs, opens the report's file, and announces the cost.
    fn new(args: &'a LinkArgs, count: usize, files: &mut RunFiles) -> Result<Self, Error> {
        let LinkArgs { protocol, security, .. } = *args;
        if !protocol.supports(security) {
            let able: Vec<_> =
                Protocol::ALL.iter().filter(|p| p.supports(security)).map(ToString::to_string).collect();
            let security = security.name();
            let what = format!("--protocol {protocol} is not a {security} one; take {}", able.join(", "));
            return Err(Error::Usage(what));
        }
        args.key.iter().for_each(|key| files.reads("this side's private key", key));
        let json = args.common.json_file(files, "ot")?;
        if args.transport == "tcp-insecure" {
            log::warn("tcp-insecure has no secrecy and no authentication; it is for measuring");
        }
        let terms = OtTerms { count: count as u64, protocol, level: security };
        let backend = args.common.backend()?;
        let forecast = Forecast::of_ots(protocol, security, count, has_aes(backend));
        announce(&forecast, Shape::lan(), ROOM);
        Ok(Self { args, terms, backend, json })
    }

    /// Reports a run that began at `begun` and is complete.
    fn report(self, command: &'static str, link: &Link, begun: Instant) -> Result<(), Error> {
        let (reading, seconds) = (link.reading(), begun.elapsed().as_secs_f64());
        let report = OtReport {
            command,
            version: env!("CARGO_PKG_VERSION"),
            ots: self.terms.count,
            protocol: self.terms.protocol.to_string(),
            security: self.terms.level.name(),
            transport: self.args.transport.clone(),
            aes_tier: self.backend.tier().name(),
            seconds,
            bytes_sent: reading.bytes_sent(),
            bytes_received: reading.bytes_received(),
            rounds: reading.rounds(),
            peak_memory_bytes: peak_memory(),
        };
        let OtReport { ots, protocol, security, .. } = &report;
        log::note!(
            "{ots} OTs with {protocol} ({security}) in {seconds:.2} s, {} sent, {} received",
            size::show(report.bytes_sent),
            size::show(report.bytes_received)
        );
        deliver(None, &report, self.json, self.args.common.json.as_deref())
    }
}

/// The report, the content of `--json`.
#[derive(Serialize)]
struct OtReport {
    command: &'static str,
    version: &'static str,
    ots: u64,
    protocol: String,
    security: &'static str,
    transport: String,
    aes_tier: &'static str,
    /// Seconds from the first connection on.
    seconds: f64,
    /// Payload to the other end, without what TLS and TCP add.
    bytes_sent: u64,
    bytes_received: u64,
    rounds: u64,
    peak_memory_bytes: Option<u64>,
}

fn send(args: &SendArgs) -> Result<(), Error> {
    let ready = || {
        let messages = values::messages(&args.messages)?;
        let mut files = RunFiles::new(args.link.common.replace.force);
        files.reads("the messages", &args.messages);
        let prepared = Prepared::new(&args.link, messages.len(), &mut files)?;
        Ok((messages, prepared))
    };
    let (messages, prepared) = ready().map_err(|e| excuse(OtParty::Sender, &args.link, e))?;
    let mut link = Link::open(OtParty::Sender, prepared.args, prepared.terms, prepared.backend)?;
    let begun = Instant::now();
    link.send(&messages)?;
    link.confirm()?;
    prepared.report("ot send", &link, begun)
}

fn recv(args: &RecvArgs) -> Result<(), Error> {
    let stream = is_stream(&args.out);
    let ready = || {
        let choices = values::choices(&args.choices)?;
        let mut files = RunFiles::new(args.link.common.replace.force);
        files.reads("the choices", &args.choices);
        let prepared = Prepared::new(&args.link, choices.count, &mut files)?;
        if stream && args.link.common.json.as_deref().is_some_and(is_stream) {
            let what = "--out and --json are both standard output; give one of them a file";
            return Err(Error::Usage(what.into()));
        }
        let out = match stream {
            true => unnamed()?,
            false => files.create("with --out", &args.out, RunFiles::ONCE, 0o600)?,
        };
        Ok((choices, prepared, out))
    };
    let (choices, prepared, out) = ready().map_err(|e| excuse(OtParty::Receiver, &args.link, e))?;
    let mut link = Link::open(OtParty::Receiver, prepared.args, prepared.terms, prepared.backend)?;
    let begun = Instant::now();
    let chosen = link.receive(&choices.bits, choices.count)?;
    // The confirmation tells the sender that the result is safe. So it comes after the result is on
    // disk, where only its name is missing.
    values::put(&out, &chosen).inspect_err(|_| link.abort())?;
    link.confirm()?;
    let written = if stream { out::file(&out) } else { Ok(out.commit()?) };
    prepared.report("ot recv", &link, begun)?;
    written
}
