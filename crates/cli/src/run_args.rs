//! The command line of jobs: `local run`, `party` and `client`.

use crate::{
    options::{Between, CommonArgs},
    shards::RetryArgs,
};
use clap::{
    Args, ValueEnum,
    builder::{PossibleValuesParser, TypedValueParser},
};
use hushwire::job::{BitOrderChoice, Phase, Protocol, TermsDigest};
use hushwire_garble::Scheme;
use std::path::PathBuf;

pub(crate) const RUN_HELP: &str = "\
Examples:
  hushwire local run --circuit less:32 --inputs 0=0000002a,1=00000063
                                            0=1: input 0 is less than input 1
  hushwire local run --circuit less:32 --inputs 0=dec:42,1=0x63
                                            the same in decimal, and hexadecimal of any length
  hushwire local run --circuit adder64.txt --inputs 0=0000000000000001,1=00000000000000ff
                                            a file in Bristol Fashion or the older format
  hushwire local run --circuit add:32 --instances 1000 --input-file 0=a.bin --input-file 1=b.bin --output 0=sum.bin
                                            a thousand sums, each value 4 bytes in a.bin, 5 in sum.bin
  hushwire local run --circuit aes128 --protocol yao --inputs 0=00…,1=00…
                                            two parties: party 0 garbles, party 1 evaluates; gmw is another way
  hushwire local run examples/jobs/millionaires.toml
                                            a job file: owners, recipients, clients; docs/jobs.md has every key

Without a job file, of n parties party i mod n brings input i, and party 0 learns the outputs. Values are hexadecimal \
numbers with ⌈bits/4⌉ digits, or with any number of them behind 0x, or decimal ones behind dec:; --bit-order says which of \
their bits is wire 0. Each output is printed as NAME=DIGITS, under the job's name for it, else its place.

Exit codes: 0 ok, 1 a bug, 2 wrong command line, 3 a party or the network failed, 4 a file could not be used, \
5 refused because it would not be safe.";

/// Compute a circuit among parties, each a process on this machine that sees nobody else's inputs.
#[derive(Args)]
#[command(arg_required_else_help = true, after_help = RUN_HELP)]
pub(crate) struct RunArgs {
    /// The job file; - is standard input
    #[arg(value_name = "JOB.toml", required_unless_present = "circuit")]
    pub(crate) job: Option<PathBuf>,
    /// In place of a job file: a circuit file, or a built-in such as less:32 (see
    /// `hushwire circuit list`)
    #[arg(long, value_name = "NAME or FILE", conflicts_with = "job")]
    pub(crate) circuit: Option<String>,
    /// Values by the input's place or name, as in 0=0x2a,1=dec:99; other users see them in process
    /// lists
    #[arg(long, value_name = "I=NUMBER,…", value_delimiter = ',')]
    pub(crate) inputs: Vec<String>,
    /// A file with an input's values, ⌈bits/8⌉ bytes for each instance; - is standard input
    #[arg(long, value_name = "I=FILE")]
    pub(crate) input_file: Vec<String>,
    /// The file to write an output's values to, which appears when it is whole; - is standard
    /// output
    #[arg(long, value_name = "J=FILE")]
    pub(crate) output: Vec<String>,
    /// The number of instances, each on its own values [default: the job's, else 1]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=hushwire::job::MOST_INSTANCES))]
    pub(crate) instances: Option<u64>,
    /// The protocol of the parties: rep3 with three parties, yao or gmw with two, authgarble:N with
    /// N of which all but one may cheat, authgarble:N:ywz20 the same in fewer bytes [default: the
    /// job's, else rep3]
    #[arg(long, value_name = "NAME", value_parser = PossibleValuesParser::new(Protocol::WRITTEN).try_map(|s| s.parse::<Protocol>()))]
    pub(crate) protocol: Option<Protocol>,
    /// The scheme of yao's gates: prp, mi, mi4, circ, prf or three-halves [default: the job's, else
    /// mi]
    #[arg(long, value_name = "NAME", value_parser = hushwire::job::private_scheme)]
    pub(crate) scheme: Option<Scheme>,
    /// The OT extension of yao and gmw: iknp, softspoken2, softspoken4, softspoken8, ferret-b9 to
    /// ferret-b13 [default: the job's, else softspoken4]
    #[arg(long, value_name = "NAME", value_parser = hushwire::job::extension)]
    pub(crate) ot: Option<hushwire_ot::Protocol>,
    /// The bit of a value that wire 0 is; auto: least significant, and most significant for files
    /// of the older format
    #[arg(long, value_name = "ORDER", value_parser = BitOrderChoice::ALL.map(BitOrderChoice::name))]
    pub(crate) bit_order: Option<String>,
    /// Compute threads of each party's process [default: the job's, else 2]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=128))]
    pub(crate) threads: Option<u16>,
    /// Batches in flight on each thread, which hide the time of messages; yao and gmw have 1
    /// [default: the job's, else 2]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=16))]
    pub(crate) lanes: Option<u16>,
    /// Instances that are computed at once [default: the job's, else what fits memory, up to 4096]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1 << 20))]
    pub(crate) batch: Option<u32>,
    #[command(flatten)]
    pub(crate) between: Between,
    /// The model of the network between them: none, lan, wan, or rate and round trip as in
    /// 1Gbps,5ms
    #[arg(long, value_name = "NET", default_value = "none")]
    pub(crate) net: String,
    #[command(flatten)]
    pub(crate) common: CommonArgs,
}

pub(crate) const PARTY_HELP: &str = "\
Examples:
  hushwire party job.toml --config party0.toml       in one terminal, or on one machine
  hushwire party job.toml --config party1.toml       in another
  hushwire party job.toml --config party2.toml       in a third
  hushwire party job.toml --config party0.toml --allow-file allowed.txt
                                                     only if this job's digest (`hushwire job digest`) is in that file
  hushwire party job.toml --config party0.toml --prepare 10 --symbol n=500
                                                     preprocessing for ten later runs, of a computation on 500 rows each
  hushwire party job.toml --config party0.toml --shards hosts.toml
                                                     all shards of this party here, for a job with `shards`; docs/shards.md
  hushwire party job.toml --config party0.toml --shards hosts.toml --shard 1 --retries 2
                                                     one of them, each on a host of its own

All members have the same job file. A party file is a party's own: who it is, where it listens, its key, the others' \
addresses and pins, where its inputs lie and its outputs go. docs/jobs.md has every key. Members may start in any order.

Protocols yao and gmw have two parties, 0 and 1, and no clients; everything else is the same.

Outputs for which the party file names no file are printed as NAME=DIGITS. Nothing is written before every member has said that it is done.

Exit codes: 0 ok, 1 a bug, 2 wrong command line, 3 a party or the network failed, 4 a file could not be used, \
5 refused because it would not be safe.";

pub(crate) const CLIENT_HELP: &str = "\
Examples:
  hushwire client job.toml --config alice.toml       brings the inputs of client:alice, takes her outputs
  hushwire client job.toml --config alice.toml --allow-file allowed.txt
                                                     only if this job's digest (`hushwire job digest`) is in that file

A client does not compute: it shares its inputs to the parties, or adds up the outputs that it may learn. It dials the \
parties and listens to nobody. docs/jobs.md has every key of its file.

Exit codes: 0 ok, 1 a bug, 2 wrong command line, 3 a party or the network failed, 4 a file could not be used, \
5 refused because it would not be safe.";

/// The options of `party`.
#[derive(Args)]
pub(crate) struct PartyArgs {
    #[command(flatten)]
    pub(crate) member: MemberArgs,
    /// Make the preprocessing of protocol authgarble for this many runs of this job, a circuit's or
    /// a computation's, and nothing else: it waits, sealed, in the directory that the party's file
    /// names, and each run takes of it once what all parties have
    #[arg(long, value_name = "RUNS")]
    pub(crate) prepare: Option<u32>,
    /// The last phase that --prepare makes
    #[arg(long, value_name = "PHASE", value_enum, default_value_t, requires = "prepare")]
    pub(crate) up_to: UpTo,
    /// With --prepare: the length that a symbol of a computation will stand for, where the job does
    /// not say
    #[arg(long, value_name = "NAME=NUMBER", requires = "prepare")]
    pub(crate) symbol: Vec<String>,
    /// The file of this party's own shards, for a job that runs on several: where each listens, and
    /// where they find each other
    #[arg(long, value_name = "HOSTS.toml", conflicts_with = "prepare")]
    pub(crate) shards: Option<PathBuf>,
    /// The shard that this process is, from 0 on [default: all shards of the file, each a process
    /// of this machine]
    #[arg(long, value_name = "N", requires = "shards")]
    pub(crate) shard: Option<usize>,
    #[command(flatten)]
    pub(crate) retry: RetryArgs,
}

/// The options of `client`.
#[derive(Args)]
pub(crate) struct ClientArgs {
    #[command(flatten)]
    pub(crate) member: MemberArgs,
    #[command(flatten)]
    pub(crate) retry: RetryArgs,
}

/// A phase of protocol authgarble that comes before inputs.
#[derive(Clone, Copy, Default, ValueEnum)]
pub(crate) enum UpTo {
    /// Triples and masks, for this job or any that takes as much
    #[default]
    FunctionIndependent,
    /// The garbled circuit: later runs of this job have the online phase alone
    FunctionDependent,
}

impl From<UpTo> for Phase {
    fn from(up_to: UpTo) -> Self {
        match up_to {
            UpTo::FunctionIndependent => Phase::FunctionIndependent,
            UpTo::FunctionDependent => Phase::FunctionDependent,
        }
    }
}

/// The options of `party` and `client`.
#[derive(Args)]
pub(crate) struct MemberArgs {
    /// The job file, the same at every member; - is standard input
    #[arg(value_name = "JOB.toml")]
    pub(crate) job: PathBuf,
    /// This member's own file; - is standard input
    #[arg(long, value_name = "FILE")]
    pub(crate) config: PathBuf,
    /// The run's label, the same at every member: a run with another one is not joined
    #[arg(long, value_name = "LABEL", default_value = "")]
    pub(crate) run: String,
    /// The value of a parameter of the job, the same at every member
    #[arg(long = "param", value_name = "NAME=VALUE")]
    pub(crate) params: Vec<String>,
    /// The file of one of this member's inputs, in place of the one in its own file
    #[arg(long, value_name = "NAME=FILE")]
    pub(crate) bring: Vec<String>,
    /// Take part over tcp-insecure if the member's file says so: everybody between the hosts reads
    /// and changes everything
    #[arg(long)]
    pub(crate) allow_insecure: bool,
    /// Take part in jobs of this digest, and in others that are named so, here or in the member's
    /// file, and in no more; `hushwire job digest` prints it
    #[arg(long, value_name = "DIGEST")]
    pub(crate) allow: Vec<TermsDigest>,
    /// The same for all digests in a file, one in each line; what follows # is a remark
    #[arg(long, value_name = "FILE")]
    pub(crate) allow_file: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) common: CommonArgs,
}
