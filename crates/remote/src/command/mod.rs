//! The commands that people call: `hushwire data`, `hushwire service`, `hushwire audit`.

mod audit;
mod data;
mod jobs;
mod key;
mod out;
mod policy;
mod proposals;
mod ranges;
mod tokens;

use crate::Service;
use clap::{Args, Subcommand};
use hushwire_fault::Fault;
use std::path::PathBuf;

/// A command of the service's client.
#[derive(Subcommand)]
pub enum ClientCommand {
    /// Data sets: put, list, describe, grant, revoke, delete
    Data {
        /// The command
        #[command(subcommand)]
        command: data::DataCommand,
    },
    /// Keys of a person, in a file: make, rotate, show
    Key {
        /// The command
        #[command(subcommand)]
        command: key::KeyCommand,
    },
    /// Propose a job to all parties
    Propose(proposals::ProposeArgs),
    /// Proposals, newest first
    Proposals(ListArgs),
    /// A proposal in words: what it computes, and what each party decided
    Explain(proposals::ProposalArgs),
    /// Take a proposal back
    Withdraw(proposals::ProposalArgs),
    /// Approve a proposal with a policy, which is signed here
    Approve(proposals::ApproveArgs),
    /// Deny a proposal
    Deny(proposals::DenyArgs),
    /// Policies: draft, check, sign, put, list
    Policy {
        /// The command
        #[command(subcommand)]
        command: policy::PolicyCommand,
    },
    /// Tokens: give, list, revoke
    Token {
        /// The command
        #[command(subcommand)]
        command: tokens::TokenCommand,
    },
    /// Submit a job to all parties
    Submit(jobs::SubmitArgs),
    /// Wait until a job has ended
    Wait(jobs::WaitArgs),
    /// Fetch a result: three sealed shares, opened here
    Fetch(jobs::FetchArgs),
    /// Take part in a job as a client of it, while it runs
    Attend(jobs::AttendArgs),
    /// Show the outputs of a job that the party itself learnt, for its operator
    Learnt(jobs::LearntArgs),
    /// Cancel a job
    Cancel(jobs::JobArgs),
    /// Jobs, newest first
    Jobs(jobs::JobsArgs),
    /// Audit logs: show, verify
    Audit {
        /// The command
        #[command(subcommand)]
        command: audit::AuditCommand,
    },
}

impl ClientCommand {
    /// Runs it.
    ///
    /// # Errors
    /// The command failed.
    pub fn run(self) -> Result<(), Fault> {
        match self {
            Self::Data { command } => command.run(),
            Self::Key { command } => command.run(),
            Self::Propose(args) => args.run(),
            Self::Proposals(args) => proposals::list(&args.reach),
            Self::Explain(args) => args.explain(),
            Self::Withdraw(args) => args.withdraw(),
            Self::Approve(args) => args.run(),
            Self::Deny(args) => args.run(),
            Self::Policy { command } => command.run(),
            Self::Token { command } => command.run(),
            Self::Submit(args) => args.run(),
            Self::Wait(args) => args.run(),
            Self::Fetch(args) => args.run(),
            Self::Attend(args) => args.run(),
            Self::Learnt(args) => args.run(),
            Self::Cancel(args) => args.cancel(),
            Self::Jobs(args) => args.run(),
            Self::Audit { command } => command.run(),
        }
    }
}

/// Whether a command has printed a result.
#[must_use]
pub fn has_written() -> bool {
    out::has_written()
}

/// How every command reaches the group, and answers.
#[derive(Args)]
pub struct Reach {
    /// The file of the service: its parties, their pins, and your tokens
    #[arg(long = "to", env = "HUSHWIRE_SERVICE", value_name = "FILE")]
    to: PathBuf,
    /// Answer in JSON
    #[arg(long)]
    json: bool,
}

/// Everything that is asked of a list.
#[derive(Args)]
pub struct ListArgs {
    #[command(flatten)]
    reach: Reach,
}

impl Reach {
    fn service(&self) -> Result<Service, Fault> {
        Service::read(&self.to)
    }

    /// Reports that something was done.
    fn done(&self, words: impl std::fmt::Display) -> Result<(), Fault> {
        if self.json {
            return out::json(&serde_json::json!({ "done": words.to_string() }));
        }
        out::line(words)
    }
}

/// Parses `NAME=VALUE`.
fn pair(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or("it is not NAME=VALUE")?;
    if name.is_empty() || value.is_empty() {
        return Err("a name or a value is missing".to_owned());
    }
    Ok((name.to_owned(), value.to_owned()))
}

/// Parses `NAME=ID` of a data set, whose id is a hash.
fn data_pair(text: &str) -> Result<(String, String), String> {
    let (name, id) = pair(text)?;
    let digits = id.strip_prefix("blake3:").unwrap_or(&id);
    let is_digit = |c: char| c.is_ascii_digit() || ('a'..='f').contains(&c);
    if digits.len() != 64 || !digits.chars().all(is_digit) {
        return Err(format!(
            "{id:?} is no id of a data set: it has 64 hexadecimal digits, as `hushwire data list` prints it"
        ));
    }
    Ok((name, id))
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::{CommandFactory, Parser};

    #[derive(Parser)]
    struct Cli {
        #[command(subcommand)]
        command: ClientCommand,
    }

    #[test]
    fn options_do_not_contradict_each_other() {
        Cli::command().debug_assert();
    }

    #[test]
    fn pairs_have_a_name_and_a_value() {
        assert_eq!(pair("a=b=c"), Ok(("a".to_owned(), "b=c".to_owned())));
        assert!(pair("a").is_err() && pair("=b").is_err() && pair("a=").is_err());
        let id = "0a".repeat(32);
        assert_eq!(data_pair(&format!("stays={id}")), Ok(("stays".to_owned(), id.clone())));
        assert!(data_pair(&format!("stays=blake3:{id}")).is_ok());
        for wrong in
            ["stays", "stays=00", "stays=", &format!("stays={id}0"), &format!("stays={}", id.to_uppercase())]
        {
            assert!(data_pair(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn command_lines_are_read() {
        for line in [
            "x submit --to s.toml --proposal p1 --data stays=abababababababababababababababababababababababababababababababab --param since=2020-01-01 --recipient anna=a.keys --json",
            "x data put stays.csv --schema s.toml --keys o.keys --to s.toml --padded 1000",
            "x data put --resume stays.csv.sealed --to s.toml",
            "x audit verify --file audit.log",
            "x submit --to s.toml --proposal p1 --client alice=sha256:00",
            "x attend j1 --config alice.toml --to s.toml --limit 60",
            "x learnt j1 --to s.toml --party 1 --out learnt.txt",
            "x wait j1 --to s.toml --json --progress",
            "x data put a.csv --schema s.toml --keys o.keys --to s.toml --range days=1..365",
            "x data put m.onnx --job infer.toml --data model --keys o.keys --to s.toml --value range=-1,1",
            "x data put --job sum.toml --data series --input x=x.csv --keys o.keys --to s.toml",
            "x propose job.toml --to s.toml --expires 2026-12-31",
            "x policy draft p1 --to s.toml --client alice=sha256:00",
            "x policy draft p1 --recipient key:00112233445566778899aabbccddeeff --to s.toml",
        ] {
            assert!(Cli::try_parse_from(line.split(' ')).is_ok(), "{line}");
        }
        for line in [
            "x data put --to s.toml",
            "x data put a.csv --to s.toml",
            "x data put a.csv --resume d --to s.toml",
            "x data put m.onnx --job infer.toml --keys o.keys --to s.toml",
            "x data put a.csv --job infer.toml --data m --schema s.toml --keys o.keys --to s.toml",
            "x data put m.onnx --job infer.toml --data m --padded 9 --keys o.keys --to s.toml",
            "x data put a.csv --schema s.toml --input x=a.csv --keys o.keys --to s.toml",
            "x submit --to s.toml",
            "x audit verify",
            "x wait j1 --to s.toml --progress",
        ] {
            assert!(Cli::try_parse_from(line.split(' ')).is_err(), "{line}");
        }
    }
}
