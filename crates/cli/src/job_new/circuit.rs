//! `hushwire job new circuit`.

use super::{JobLines, OutArgs, beside, deliver, list, member, pair, protocol, quoted};
use crate::{error::Error, files::RunFiles};
use clap::Args;
use hushwire::job::{CircuitInput, CircuitJob, CircuitOutput, CircuitSource, Member, Protocol};

#[derive(Args)]
pub(super) struct CircuitArgs {
    /// A built-in circuit with its numbers, as less:32, or a file in Bristol Fashion
    #[arg(value_name = "CIRCUIT")]
    circuit: String,
    /// The protocol of the parties: rep3 (three parties), yao or gmw (two), authgarble:N (N
    /// parties, of which all but one may cheat)
    #[arg(long, value_name = "NAME", default_value = "rep3", value_parser = protocol)]
    protocol: Protocol,
    /// The name of an input, and who brings it; given once for each input, in the circuit's order
    /// [default: party 0 the first, party 1 the second, and so on]
    #[arg(long, value_name = "NAME=MEMBER")]
    input: Vec<String>,
    /// The name of an output, and who learns it; given once for each output, in the circuit's order
    /// [default: all parties]
    #[arg(long, value_name = "NAME=MEMBER,…")]
    output: Vec<String>,
    /// How many times the circuit is computed, each time on values of its own
    #[arg(long, value_name = "N", default_value_t = 1)]
    instances: u64,
    #[command(flatten)]
    out: OutArgs,
}

/// Refuses options whose number differs from the circuit's number of values.
fn all_of(option: &str, given: usize, has: usize) -> Result<(), Error> {
    if given == has {
        return Ok(());
    }
    Err(Error::Usage(format!(
        "{option} is given {given} times: the circuit has {has}; give it for each, or for none"
    )))
}

pub(super) fn run(args: &CircuitArgs) -> Result<(), Error> {
    let mut run = RunFiles::new(args.out.replace.force);
    let source = CircuitSource::guess(&args.circuit);
    let key = match &source {
        CircuitSource::File(path) => {
            run.reads("the circuit", path);
            format!("circuit-file = {}", quoted(&beside(&args.out, path)?))
        }
        _ => format!("circuit = {}", quoted(&args.circuit)),
    };
    let program = source.load()?.program;
    let mut job = CircuitJob::around(args.protocol, source, &program);
    if !args.input.is_empty() {
        all_of("--input", args.input.len(), job.inputs.len())?;
        let named = |text: &String| {
            let (name, who) = pair("--input", text, "name=party0, or name=alice")?;
            Ok(CircuitInput { name: name.to_owned(), from: member("--input", who)?, sample: None })
        };
        job.inputs = args.input.iter().map(named).collect::<Result<_, Error>>()?;
    }
    if args.output.is_empty() {
        let all: Vec<Member> = (0..args.protocol.parties()).map(Member::Party).collect();
        job.outputs.iter_mut().for_each(|output| output.to.clone_from(&all));
    } else {
        all_of("--output", args.output.len(), job.outputs.len())?;
        let named = |text: &String| {
            let (name, who) = pair("--output", text, "name=party0,alice")?;
            let to = who.split(',').map(|who| member("--output", who)).collect::<Result<_, _>>()?;
            Ok(CircuitOutput { name: name.to_owned(), to })
        };
        job.outputs = args.output.iter().map(named).collect::<Result<_, Error>>()?;
    }
    let mut lines = JobLines::new("circuit", "the circuit");
    lines.put(&format!("protocol = {}", quoted(&args.protocol.to_string())));
    lines.put(&key);
    if args.instances != 1 {
        lines.put(&format!("instances = {}", args.instances));
    }
    for input in &job.inputs {
        lines.put(&format!("\n[[inputs]]\nname = {}", quoted(&input.name)));
        lines.put(&format!("from = {}", quoted(&input.from.key())));
    }
    for output in &job.outputs {
        lines.put(&format!("\n[[outputs]]\nname = {}", quoted(&output.name)));
        let to: Vec<String> = output.to.iter().map(Member::key).collect();
        lines.put(&format!("to = {}", list(&to)));
    }
    deliver(lines, &args.out, run)
}
