//! The command line.

use crate::{
    bench::BenchArgs,
    circuit_cmd::CircuitArgs,
    completions, compute_cmd, doctor, explain, help_cmd, init_cmd, job_cmd, keys, local_compute, local_files,
    log::LogArgs,
    man, oprf_cmd,
    options::{Between, CommonArgs},
    ot_cmd, psi_cmd, run_args,
    service::ServiceArgs,
    version,
};
use clap::{Args, Parser, Subcommand};
use hushwire::job::size;
use std::path::PathBuf;

const EXIT_CODES: &str = "\
Exit codes:
  0  success
  1  a bug in hushwire, or a benchmark that failed
  2  a wrong command line or job
  3  a party or the network failed
  4  a file could not be used
  5  refused because it would not be safe

Start here, in any directory:
  hushwire local aes-ctr";

/// Multi-party computation: several parties compute on data that none of them sees.
#[derive(Parser)]
#[command(
    name = "hushwire",
    version = version::SHORT,
    long_version = version::long(),
    arg_required_else_help = true,
    disable_help_subcommand = true,
    after_help = EXIT_CODES
)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
    #[command(flatten)]
    pub(crate) log: LogArgs,
}

#[derive(Subcommand)]
pub(crate) enum Command {
    /// Run a job with all parties on this machine, each in a process of its own.
    #[command(
        arg_required_else_help = true,
        after_help = "Examples:\n  hushwire local aes-ctr --in letter.txt\n  hushwire local run --circuit less:32 --inputs 0=0000002a,1=00000063\n  hushwire local examples/jobs/aes-yao.toml                 the same as local run, for a job file\n  hushwire local psi --a mine.csv --b theirs.csv --column email --reveal size\n  hushwire local compute mean.hwc --in alice/salary=alice.csv:salary --in bob/salary=bob.csv:salary"
    )]
    Local {
        #[command(subcommand)]
        job: LocalJob,
    },
    /// Benchmarks against the limits of this machine, and plots of their results.
    #[command(
        disable_help_flag = true,
        after_help = "Example:\n  hushwire bench aes --quick --json aes.json"
    )]
    Bench(BenchArgs),
    /// Be a party that stays up, and runs what its operator approved.
    #[command(disable_help_flag = true, after_help = "Example:\n  hushwire serve --config party0.toml")]
    Serve(ServiceArgs),
    /// Operate a party that stays up, and ask a group: init, doctor, approve, submit, fetch.
    #[command(disable_help_flag = true, after_help = "Example:\n  hushwire service --help")]
    Service(ServiceArgs),
    /// Put data sets at the parties of a group, grant and delete them.
    #[command(disable_help_flag = true, after_help = "Example:\n  hushwire data --help")]
    Data(ServiceArgs),
    /// Show and check the audit log of a party that stays up.
    #[command(disable_help_flag = true, after_help = "Example:\n  hushwire audit --help")]
    Audit(ServiceArgs),
    /// Look at, make, convert and run Boolean circuits as files.
    #[command(
        arg_required_else_help = true,
        after_help = "Examples:\n  hushwire circuit make aes128 --out aes.txt\n  hushwire circuit info aes.txt\n  hushwire circuit list"
    )]
    Circuit(CircuitArgs),
    /// Look at, price and run computations on numbers and tables as files (.hwc).
    #[command(arg_required_else_help = true, after_help = compute_cmd::HELP)]
    Compute(compute_cmd::ComputeArgs),
    /// Look at ONNX models, check them in fixed point, and plan their networks.
    #[cfg(feature = "nn")]
    #[command(arg_required_else_help = true, after_help = crate::model_cmd::HELP)]
    Model(crate::model_cmd::ModelArgs),
    /// Keep a model, and answer clients that ask one time after the other.
    #[cfg(feature = "nn")]
    #[command(arg_required_else_help = true, after_help = crate::serve_cmd::SERVE_HELP)]
    ServeModel(Box<crate::serve_cmd::ServeModelArgs>),
    /// Ask a model that is served for answers.
    #[cfg(feature = "nn")]
    #[command(arg_required_else_help = true, after_help = crate::serve_cmd::ASK_HELP)]
    AskModel(Box<crate::serve_cmd::AskModelArgs>),
    /// Look at the files of a table before a query takes them.
    #[cfg(feature = "sql")]
    #[command(arg_required_else_help = true, after_help = crate::table_cmd::HELP)]
    Table(crate::table_cmd::TableArgs),
    /// Set up this member: its key, a card for the others, and its file once their cards are there.
    #[command(after_help = init_cmd::HELP)]
    Init(init_cmd::InitArgs),
    /// Look at a job before taking part: its terms, and the digest by which an operator allows it.
    #[command(arg_required_else_help = true, after_help = job_cmd::HELP)]
    Job(job_cmd::JobArgs),
    /// Say what a job takes on many machines: bytes, rounds, memory, time and money of each.
    #[command(arg_required_else_help = true, after_help = crate::plan_size::HELP)]
    PlanSize(crate::plan_size::PlanSizeArgs),
    /// Be one party of a job, with the others anywhere.
    #[command(arg_required_else_help = true, after_help = run_args::PARTY_HELP)]
    Party(run_args::PartyArgs),
    /// Bring inputs to a job or take outputs from it, without computing.
    #[command(arg_required_else_help = true, after_help = run_args::CLIENT_HELP)]
    Client(run_args::ClientArgs),
    /// Oblivious transfer between files: a receiver takes one message of each pair, and the sender
    /// does not learn which.
    #[command(arg_required_else_help = true, after_help = ot_cmd::HELP)]
    Ot(ot_cmd::OtArgs),
    /// A few keys against a large published list: who asks learns which of its keys are in the
    /// list, and its owner nothing.
    #[command(arg_required_else_help = true, after_help = oprf_cmd::HELP)]
    Psi(oprf_cmd::OprfArgs),
    /// Make, show and replace a party's key; print the pin that its peers know it by.
    #[command(arg_required_else_help = true, after_help = keys::HELP)]
    Keys(keys::KeysArgs),
    /// Check this host and its peers before a run: addresses, pins, releases, clocks, round trips,
    /// rates.
    #[command(arg_required_else_help = true, after_help = doctor::HELP)]
    Doctor(doctor::DoctorArgs),
    /// Say what the code of an error means, and what to do about it.
    #[command(after_help = explain::HELP)]
    Explain(explain::ExplainArgs),
    /// Show a page of the documentation in the terminal, or the help of a command.
    #[command(after_help = help_cmd::HELP)]
    Help(help_cmd::HelpArgs),
    /// Print the script with which a shell completes this command line.
    #[command(arg_required_else_help = true, after_help = completions::HELP)]
    Completions(completions::CompletionsArgs),
    /// Print the manual page, or write those of all commands into a directory.
    #[command(after_help = man::HELP)]
    Man(man::ManArgs),
    /// One member of a local run; started by it, never by hand.
    #[command(name = "__member", hide = true)]
    Member {
        /// The member's number in the order of starting.
        index: usize,
        /// Its name, for people who look at processes.
        name: String,
    },
}

#[derive(Subcommand)]
pub(crate) enum LocalJob {
    /// Start three parties that stay up, with sample data and an approved query.
    #[command(disable_help_flag = true, after_help = "Example:\n  hushwire local up --parties 3")]
    Up(ServiceArgs),
    /// Encrypt or decrypt a file with AES in counter mode under a key that no party holds.
    AesCtr(Box<AesCtrArgs>),
    /// Compute a circuit, or a job file, on inputs that no party sees.
    Run(Box<run_args::RunArgs>),
    /// Compute on numbers and columns of CSV files that no party sees.
    Compute(Box<local_compute::LocalComputeArgs>),
    /// Write keys and files of all members of a job, to rehearse it in terminals on this machine.
    Files(local_files::FilesArgs),
    /// Find what two CSV files have in common, without showing either to the other party.
    Psi(Box<psi_cmd::PsiArgs>),
    /// Ask a question in SQL of CSV files that no party sees.
    #[cfg(feature = "sql")]
    Query(Box<crate::local_query::LocalQueryArgs>),
    /// Run a neural network on an input; no party sees the input or the weights.
    #[cfg(feature = "nn")]
    Infer(Box<crate::local_infer::LocalInferArgs>),
}

const AES_CTR_HELP: &str = "\
Examples:
  hushwire local aes-ctr                             encrypt a sample text under a fresh key
  hushwire local aes-ctr --in a.txt                  a.txt.enc; the key's shares in a.txt.enc.keys/
  hushwire local aes-ctr --decrypt --in a.txt.enc    a.txt.dec, under that key
  hushwire local aes-ctr --in a.txt --key-file k --iv-hex 000102030405060708090a0b0c0d0e0f
                                                     what `openssl enc -aes-128-ctr -K .. -iv ..` writes
  hushwire local aes-ctr --in a.txt --key-bits 256  the same under a fresh key of AES-256
  hushwire local aes-ctr --in b.txt --key-shares a.txt.enc.keys
                                                     a second file under the first one's key
  hushwire local aes-ctr --in a.txt --backend hdl-sim --hdl-parties 0
                                                     party 0 as simulated hardware, 1 and 2 as software
  hushwire local aes-ctr --in a.txt --backend hdl-sim
                                                     all three as hardware; the output is the same

Hardware parties (--backend hdl-sim) are Verilated sequencers: programs named party-sim that hdl/setup in a checkout \
of the source builds into target/hdl. They are looked for in the folder HUSHWIRE_HDL if it is set, else in hdl beside \
the directory of this program, never in the current one. They run AES-128 as a circuit on round keys (--sbox bp32 or depth4); a key \
that is drawn or kept as shares is expanded by the party's own processor, as in software.

Counter mode hides the data and does not protect it from changes. One counter must never be used twice under one \
key: the key directory's ledger.json records what was used, and a run that would use it again is refused. It also has \
the digest of each encrypted file: --decrypt refuses one that was changed or replaced since. An output that is there \
already is replaced only if this command wrote it under the same key; --force replaces any file but inputs and keys.

The report compares the speed with the PRF bound: how many AES blocks a second the CPU's AES units alone would allow \
(measured in the run, times the cores that the parties can use), divided by the AES calls that the three parties need \
per block for their randomness.

Exit codes: 0 ok, 1 a bug, 2 wrong command line, 3 a party or the network failed, 4 a file could not be used, \
5 refused because it would not be safe.";

/// Encrypt or decrypt a file with AES in counter mode. The file is shared to three party processes
/// on this machine; none of them sees it, or the key. The output equals that of openssl.
#[derive(Args)]
#[command(after_help = AES_CTR_HELP)]
pub(crate) struct AesCtrArgs {
    /// The file to read; - is standard input [default: hushwire-sample.txt, made here if it is not
    /// there]
    #[arg(long = "in", value_name = "FILE")]
    pub(crate) input: Option<PathBuf>,
    /// The file to write, which appears when it is whole; - is standard output [default: IN.enc;
    /// with --decrypt IN less .enc, with .dec]
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// Decrypt: find the counter in the key directory, and record nothing
    #[arg(long)]
    pub(crate) decrypt: bool,
    /// The key as 32, 48 or 64 hexadecimal digits; other users see it in process lists, so prefer
    /// --key-file
    #[arg(long, value_name = "HEX", conflicts_with = "key_file")]
    pub(crate) key_hex: Option<String>,
    /// A file with the key: 16, 24 or 32 bytes, or twice as many hexadecimal digits
    #[arg(long, value_name = "FILE")]
    pub(crate) key_file: Option<PathBuf>,
    /// The directory of the key's shares and of the ledger of counters. The key is drawn on first
    /// use and used again later; a key that is given is imported [default: OUT.keys; with --decrypt
    /// IN.keys]
    #[arg(long, value_name = "DIR")]
    pub(crate) key_shares: Option<PathBuf>,
    /// The length of a key that is drawn: AES-128, AES-192 or AES-256 [default: 128]
    #[arg(long, value_name = "BITS", value_parser = key_bits)]
    pub(crate) key_bits: Option<u16>,
    /// The first counter block as 32 hexadecimal digits [default: drawn and recorded]
    #[arg(long, value_name = "HEX")]
    pub(crate) iv_hex: Option<String>,
    /// Go on with a key whose ledger.json is lost: counters are drawn, and for this key --iv-hex is
    /// refused from then on
    #[arg(long, conflicts_with = "decrypt")]
    pub(crate) history_lost: bool,
    /// The S-box on shares: tower sends least, gf256 has fewer rounds, bp32
    /// and depth4 are Boolean circuits, lut256 prepares a table lookup of one round
    /// [default: tower; with hdl-sim bp32]
    #[arg(long, value_name = "NAME", value_parser = ["tower", "gf256", "bp32", "depth4", "lut256"])]
    pub(crate) sbox: Option<String>,
    /// The computing device: software; or hdl-sim, simulated hardware at the parties of
    /// --hdl-parties, software that sends the same bytes at the others
    #[arg(long, value_name = "NAME", default_value = "software", value_parser = ["software", HDL_SIM])]
    pub(crate) backend: String,
    /// The parties that are hardware, as in 0,2 [default with hdl-sim: 0,1,2]
    #[arg(long, value_name = "LIST", value_parser = hdl_parties)]
    pub(crate) hdl_parties: Option<HdlParties>,
    /// Compute threads of each party's process [default: 2; with hdl-sim 1]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=128))]
    pub(crate) threads: Option<u16>,
    /// Memory that each process may use, as in 64MiB; longer files are streamed
    #[arg(long, value_name = "SIZE", default_value = "256MiB", value_parser = size::parse)]
    pub(crate) memory: u64,
    #[command(flatten)]
    pub(crate) between: Between,
    #[command(flatten)]
    pub(crate) common: CommonArgs,
}

/// The backend with hardware parties.
pub(crate) const HDL_SIM: &str = "hdl-sim";

/// The parties that are hardware, in ascending order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct HdlParties(pub(crate) Vec<u8>);

/// Parses a list of the parties 0, 1 and 2, separated by commas, each at most once.
fn hdl_parties(text: &str) -> Result<HdlParties, String> {
    let known = |word: &str| ["0", "1", "2"].iter().position(|party| *party == word).map(|i| i as u8);
    let parties: Option<Vec<u8>> = text.split(',').map(|word| known(word.trim())).collect();
    let mut parties = parties.ok_or("give some of 0, 1 and 2 with commas between them, as in 0,2")?;
    parties.sort_unstable();
    if parties.windows(2).any(|pair| pair[0] == pair[1]) {
        return Err("name each party once".to_owned());
    }
    Ok(HdlParties(parties))
}

/// Parses the length of a key: 128, 192 or 256 bits.
fn key_bits(text: &str) -> Result<u16, String> {
    text.parse()
        .ok()
        .filter(|bits| [128, 192, 256].contains(bits))
        .ok_or_else(|| "128, 192 or 256".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    /// `--json` is the same option in every command that has it. It takes a file, or `-` for
    /// standard output, and its help text says so.
    #[test]
    fn every_json_takes_a_file_or_standard_output() {
        fn of(command: &clap::Command, path: &str, found: &mut Vec<String>) {
            let path = format!("{path} {}", command.get_name());
            for argument in command.get_arguments().filter(|argument| argument.get_long() == Some("json")) {
                assert!(argument.get_action().takes_values(), "{path}");
                assert_eq!(
                    argument.get_num_args().map_or((1, 1), |n| (n.min_values(), n.max_values())),
                    (1, 1),
                    "{path}"
                );
                assert_eq!(
                    argument.get_value_names().map(|names| names.join(" ")).as_deref(),
                    Some("FILE"),
                    "{path}"
                );
                let help = argument.get_help().map(ToString::to_string).unwrap_or_default();
                assert!(help.contains("for programs to FILE; - is standard output"), "{path}: {help}");
                found.push(path.clone());
            }
            command.get_subcommands().for_each(|inner| of(inner, &path, found));
        }
        let mut command = Cli::command();
        command.build();
        let mut found = vec![];
        of(&command, "", &mut found);
        found.sort_unstable();
        let named = [
            #[cfg(feature = "nn")]
            "ask-model",
            "circuit info",
            "circuit make-microcode",
            "client",
            "compute cost",
            "compute eval",
            "compute explain",
            "doctor",
            "explain",
            "init",
            "job show",
            "keys init",
            "keys rotate",
            "keys show",
            "local aes-ctr",
            "local compute",
            #[cfg(feature = "nn")]
            "local infer",
            "local psi",
            #[cfg(feature = "sql")]
            "local query",
            "local run",
            #[cfg(feature = "nn")]
            "model check",
            #[cfg(feature = "nn")]
            "model plan",
            "ot recv",
            "ot send",
            "party",
            "plan-size",
            #[cfg(feature = "nn")]
            "serve-model",
            #[cfg(feature = "sql")]
            "table describe",
        ];
        assert_eq!(found, named.map(|named| format!(" hushwire {named}")));
    }

    #[test]
    fn hardware_parties_are_a_list_without_repetition() {
        for (text, parties) in [("0", &[0][..]), ("2,1", &[1, 2]), ("0, 1, 2", &[0, 1, 2])] {
            assert_eq!(hdl_parties(text), Ok(HdlParties(parties.to_vec())), "{text}");
        }
        for text in ["", ",", "0,", "3", "0,0", "1,2,1", "a", "00", "-1", "0;1"] {
            assert!(hdl_parties(text).is_err(), "{text}");
        }
    }

    #[test]
    fn every_visible_command_shows_an_example() {
        for mut command in Cli::command().get_subcommands().filter(|c| !c.is_hide_set()).cloned() {
            assert!(command.render_help().to_string().contains("Example"), "{}", command.get_name());
            for mut job in command.get_subcommands().filter(|c| c.get_name() != "help").cloned() {
                assert!(job.render_help().to_string().contains("Example"), "{}", job.get_name());
            }
        }
    }
}
