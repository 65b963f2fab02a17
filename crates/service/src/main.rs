//! The program `hushwire-service`: a party that stays up, and runs what its operator approved.
#![forbid(unsafe_code)]
#![deny(clippy::print_stdout, clippy::print_stderr)]

mod access;
mod admin;
mod api;
mod attempt;
mod audit;
mod blobs;
mod calls;
mod claim;
mod clock;
mod compare;
mod config;
mod durable;
mod failpoint;
mod http;
mod jobfile;
mod keys;
mod listeners;
mod local_up;
mod openapi;
mod order;
mod party;
mod peer_api;
mod peers;
mod policy;
mod policy_dir;
mod pool;
mod promise;
mod records;
#[cfg(test)]
mod releases;
mod reporter;
mod sample;
mod scheduler;
mod serve;
mod server;
mod store;
mod worker;
mod workers;

use clap::{Parser, Subcommand};
use hushwire_fault::{Fault, code};
use hushwire_remote::command::ClientCommand;
use std::{
    io::Write,
    path::PathBuf,
    process::ExitCode,
    sync::atomic::{AtomicBool, Ordering},
};

/// Whether a result was printed.
static WRITTEN: AtomicBool = AtomicBool::new(false);

/// A party that stays up, and runs what its operator approved.
#[derive(Parser)]
#[command(name = "hushwire-service", version, arg_required_else_help = true)]
struct ServiceCli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Be a party, until SIGTERM.
    Serve {
        /// The config of this party
        #[arg(long, value_name = "FILE")]
        config: PathBuf,
        /// Leave the store at the schema before this release's, so that the release before can
        /// still be started
        #[arg(long)]
        keep_schema: bool,
        /// Log as lines of JSON
        #[arg(long)]
        json: bool,
        /// End when stdin closes
        #[arg(long, hide = true)]
        attended: bool,
    },
    /// Start all parties of a group on this machine, to try the service.
    LocalUp {
        /// The number of parties
        #[arg(long, default_value_t = 3)]
        parties: u8,
        /// Keep their files in this directory [default: one that is removed at the end]
        #[arg(long, value_name = "DIR")]
        dir: Option<PathBuf>,
        /// Say how to reach them as one line of JSON
        #[arg(long)]
        json: bool,
    },
    /// Make a party: its key, its master key, its config, and the first operator's token.
    Init {
        /// The directory of its files
        dir: PathBuf,
        /// Its number, from 0
        #[arg(long)]
        party: u8,
        /// The name of the group
        #[arg(long)]
        group: String,
        /// The host by which clients and the other parties reach it
        #[arg(long)]
        host: String,
        /// Answer as JSON
        #[arg(long)]
        json: bool,
    },
    /// Add another party to a config.
    Join {
        /// The config of this party
        #[arg(long, value_name = "FILE")]
        config: PathBuf,
        /// The other's number
        #[arg(long)]
        party: u8,
        /// The other's host
        #[arg(long)]
        host: String,
        /// The other's pin, given over a channel that nobody can change
        #[arg(long)]
        pin: String,
        /// Answer as JSON
        #[arg(long)]
        json: bool,
    },
    /// Check the files of a party, and its peers.
    Doctor {
        /// The config of this party
        #[arg(long, value_name = "FILE")]
        config: PathBuf,
        /// Answer as JSON
        #[arg(long)]
        json: bool,
    },
    /// Say what a party has.
    Status {
        /// The config of this party
        #[arg(long, value_name = "FILE")]
        config: PathBuf,
        /// Answer as JSON
        #[arg(long)]
        json: bool,
    },
    /// Copy the store and its blobs into a new directory, while the service runs.
    Backup {
        /// The config of this party
        #[arg(long, value_name = "FILE")]
        config: PathBuf,
        /// The directory that is made
        to: PathBuf,
        /// Answer as JSON
        #[arg(long)]
        json: bool,
    },
    /// Put a backup in the place of a store that is not there.
    Restore {
        /// The config of this party
        #[arg(long, value_name = "FILE")]
        config: PathBuf,
        /// A directory that `backup` made
        from: PathBuf,
        /// Answer as JSON
        #[arg(long)]
        json: bool,
    },
    /// Take another party's audit log as it is from now on, after that party was restored from a
    /// backup.
    AcceptLog {
        /// The config of this party
        #[arg(long, value_name = "FILE")]
        config: PathBuf,
        /// The other's number
        #[arg(long)]
        party: u8,
        /// Answer as JSON
        #[arg(long)]
        json: bool,
    },
    /// The keys that data sets are sealed to.
    Keys {
        #[command(subcommand)]
        what: KeysCommand,
    },
    /// Print the OpenAPI document of the endpoints for clients.
    Openapi,
    #[command(flatten)]
    Client(Box<ClientCommand>),
    /// One attempt; started by the service, never by hand.
    #[command(name = "__worker", hide = true)]
    Worker,
}

#[derive(Subcommand)]
enum KeysCommand {
    /// The keys with their states: pending, active, expired.
    List {
        /// The config of this party
        #[arg(long, value_name = "FILE")]
        config: PathBuf,
        /// Answer as JSON
        #[arg(long)]
        json: bool,
    },
    /// Make a new key; old data sets stay readable.
    Rotate {
        /// The config of this party
        #[arg(long, value_name = "FILE")]
        config: PathBuf,
        /// Answer as JSON
        #[arg(long)]
        json: bool,
    },
}

fn main() -> ExitCode {
    if std::env::args().nth(1).as_deref() == Some(order::COMMAND) {
        worker::main();
    }
    let command = match ServiceCli::try_parse() {
        Ok(cli) => cli.command,
        Err(e) => {
            if e.use_stderr() {
                // A program that asked for JSON gets the error as JSON, too.
                failed(&Fault::of(code::COMMAND_LINE, &[("cause", e.to_string().trim_end().into())]));
            }
            e.exit();
        }
    };
    let ended = match command {
        Command::Serve { config, keep_schema, json, attended } => serve(&config, keep_schema, json, attended),
        Command::LocalUp { parties, dir, json } => local_up::run(parties, dir.as_deref(), json),
        Command::Init { dir, party, group, host, json } => {
            admin::init(&dir, party, &group, &host).and_then(|made| told(&made, json))
        }
        Command::Join { config, party, host, pin, json } => {
            admin::join(&config, party, &host, &pin).and_then(|made| told(&made, json))
        }
        Command::Doctor { config, json } => admin::doctor(&config).and_then(|checks| {
            told(&checks, json)?;
            match checks.iter().find(|check| !check.ok) {
                None => Ok(()),
                Some(check) => {
                    let (cause, remedy) = (format!("{}: {}", check.name, check.says), "see the checks above");
                    Err(Fault::new(code::CHECK, "checking the party", cause, remedy))
                }
            }
        }),
        Command::Status { config, json } => admin::status(&config).and_then(|found| told(&found, json)),
        Command::Backup { config, to, json } => {
            admin::backup(&config, &to).and_then(|made| told(&made, json))
        }
        Command::Restore { config, from, json } => {
            admin::restore(&config, &from).and_then(|made| told(&made, json))
        }
        Command::Keys { what: KeysCommand::Rotate { config, json } } => {
            admin::rotate(&config).and_then(|made| told(&made, json))
        }
        Command::Keys { what: KeysCommand::List { config, json } } => {
            admin::list_keys(&config).and_then(|keys| told(&keys, json))
        }
        Command::AcceptLog { config, party, json } => {
            admin::accept_log(&config, party).and_then(|done| told(&done, json))
        }
        Command::Client(command) => command.run(),
        Command::Openapi => print(&openapi::text()),
        Command::Worker => worker::main(),
    };
    match ended {
        Ok(()) => ExitCode::SUCCESS,
        Err(e) => {
            // If stderr cannot be written either, nothing more can be done.
            let _ = writeln!(std::io::stderr(), "hushwire-service: {e} [{}]", e.code());
            failed(&e);
            ExitCode::from(e.kind().exit_code())
        }
    }
}

/// Prints the fault as JSON for a program that asked for JSON, as `hushwire` does.
fn failed(e: &Fault) {
    let asked = std::env::args().any(|arg| arg == "--json");
    if !asked || WRITTEN.load(Ordering::Relaxed) || hushwire_remote::command::has_written() {
        return;
    }
    let error = serde_json::json!({ "error": {
        "exit_code": e.kind().exit_code(),
        "message": format!("{e} [{}]", e.code()),
        "code": e.code(),
        "kind": e.kind(),
        "who": e.who().map(ToString::to_string),
        "peer": e.peer().map(ToString::to_string),
        "step": e.step(),
        "cause": e.cause(),
        "remedy": e.remedy(),
    }});
    // The error is on stderr as well, so a failure to print it here loses nothing.
    let _ = print(&format!("{error}\n"));
}

fn serve(config: &std::path::Path, keep_schema: bool, json: bool, attended: bool) -> Result<(), Fault> {
    log(json);
    let upgrade = if keep_schema { store::Upgrade::Keep } else { store::Upgrade::Newest };
    serve::run(config::Config { upgrade, ..config::Config::read(config)? }, attended)
}

/// Sends the daemon's log to stderr, one line for each event.
fn log(json: bool) {
    let level = std::env::var("HUSHWIRE_LOG").ok().and_then(|level| level.parse().ok());
    let format = tracing_subscriber::fmt()
        .with_writer(std::io::stderr)
        .with_max_level(level.unwrap_or(tracing::Level::INFO))
        .with_target(false)
        .with_ansi(false);
    if json {
        format.json().flatten_event(true).init();
    } else {
        format.init();
    }
}

/// Prints an answer, as JSON on one line or as lines of names and values.
fn told(answer: &impl serde::Serialize, json: bool) -> Result<(), Fault> {
    let value = serde_json::to_value(answer).map_err(|e| Fault::internal("answering", e))?;
    print(&if json { format!("{value}\n") } else { lines(&value) })
}

/// Names and values, a line each.
fn lines(value: &serde_json::Value) -> String {
    use serde_json::Value;
    let plain = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    match value {
        Value::Object(map) => map.iter().map(|(name, value)| format!("{name}: {}\n", plain(value))).collect(),
        Value::Array(all) => all
            .iter()
            .map(|one| match one {
                Value::Object(map) => map.values().map(plain).collect::<Vec<_>>().join("  ") + "\n",
                other => plain(other) + "\n",
            })
            .collect(),
        other => plain(other) + "\n",
    }
}

/// Prints a result on stdout.
fn print(text: &str) -> Result<(), Fault> {
    WRITTEN.store(true, Ordering::Relaxed);
    let path = std::path::Path::new("standard output");
    std::io::stdout().write_all(text.as_bytes()).map_err(|e| Fault::io("write", path, &e))
}
