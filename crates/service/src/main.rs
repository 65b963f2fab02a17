//! The program `hushwire-service`: a party that stays up, and runs what its operator approved.
#![forbid(unsafe_code)]
#![deny(clippy::print_stdout, clippy::print_stderr)]

mod access;
mod api;
mod attempt;
mod audit;
mod blobs;
mod clock;
mod config;
mod failpoint;
mod http;
mod jobfile;
mod keys;
mod local_up;
mod openapi;
mod order;
mod party;
mod peer_api;
mod peers;
mod policy;
mod records;
mod sample;
mod scheduler;
mod serve;
mod server;
mod store;
mod worker;
mod workers;

use clap::{Parser, Subcommand};
use hushwire_fault::Fault;
use std::{io::Write, path::PathBuf, process::ExitCode};

/// A party that stays up, and runs what its operator approved.
#[derive(Parser)]
#[command(name = "hushwire-service", version, arg_required_else_help = true)]
struct Cli {
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
    /// Print the OpenAPI document of the endpoints for clients.
    Openapi,
    /// One attempt; started by the service, never by hand.
    #[command(name = "__worker", hide = true)]
    Worker,
}

fn main() -> ExitCode {
    if std::env::args().nth(1).as_deref() == Some(order::COMMAND) {
        worker::main();
    }
    let ended = match Cli::parse().command {
        Command::Serve { config, attended } => serve(&config, attended),
        Command::LocalUp { parties, dir, json } => local_up::run(parties, dir.as_deref(), json),
        Command::Openapi => print(&openapi::text()),
        Command::Worker => worker::main(),
    };
    match ended {
        Ok(()) => ExitCode::SUCCESS,
        Err(e) => {
            // There is nothing to do where it cannot be told.
            let _ = writeln!(std::io::stderr(), "hushwire-service: {e} [{}]", e.code());
            ExitCode::from(e.kind().exit_code())
        }
    }
}

fn serve(config: &std::path::Path, attended: bool) -> Result<(), Fault> {
    log();
    serve::run(config::Config::read(config)?, attended)
}

/// The log of a daemon goes to stderr, a line an event.
fn log() {
    let level = std::env::var("HUSHWIRE_LOG").ok().and_then(|level| level.parse().ok());
    tracing_subscriber::fmt()
        .with_writer(std::io::stderr)
        .with_max_level(level.unwrap_or(tracing::Level::INFO))
        .with_target(false)
        .with_ansi(false)
        .init();
}

/// Results leave by stdout.
fn print(text: &str) -> Result<(), Fault> {
    let path = std::path::Path::new("standard output");
    std::io::stdout().write_all(text.as_bytes()).map_err(|e| Fault::io("write", path, &e))
}
