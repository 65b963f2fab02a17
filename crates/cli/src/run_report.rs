//! The cost of a job's run, for programs and for people.

use crate::{error::Error, files::NewFile, out, size, supervisor::OfProcess, told::CircuitReport};
use hushwire::job::{Member, Plan, Stats};
use hushwire_aes::Backend;
use hushwire_wire::Shape;
use serde::Serialize;
use std::{fmt::Write, path::Path, time::Instant};

/// One member's measurements.
#[derive(Serialize)]
pub(crate) struct OfMember {
    /// `party0`, `client:alice`.
    pub(crate) member: String,
    /// Payload to all others, without what TLS and TCP add.
    pub(crate) bytes_sent: u64,
    pub(crate) bytes_received: u64,
    /// Exchanges one after the other on the busiest lane.
    pub(crate) rounds: u64,
    pub(crate) peak_memory_bytes: Option<u64>,
    /// Seconds from the first connection on.
    pub(crate) seconds: f64,
}

impl OfMember {
    pub(crate) fn new(member: String, stats: &Stats, peak_memory_bytes: Option<u64>) -> Self {
        let Stats { seconds, bytes_sent, bytes_received, rounds } = *stats;
        Self { member, bytes_sent, bytes_received, rounds, peak_memory_bytes, seconds }
    }

    /// Of a member that was a process.
    pub(crate) fn of<L>(member: String, process: &OfProcess<L>) -> Self {
        Self::new(member, &process.outcome.stats, process.peak_memory_bytes)
    }
}

/// The report of `local run`; its fields are the JSON's.
#[derive(Serialize)]
pub(crate) struct RunReport {
    pub(crate) command: &'static str,
    pub(crate) version: &'static str,
    #[serde(flatten)]
    pub(crate) of_kind: CircuitReport,
    pub(crate) circuit_digest: String,
    pub(crate) bit_order: &'static str,
    /// Layers of AND gates.
    pub(crate) and_depth: usize,
    /// Exchanges one after the other, of the busiest party.
    pub(crate) rounds: u64,
    /// The whole command, until the outputs were there.
    pub(crate) seconds: f64,
    /// From the first connection on, of the slowest member: what the rate is for.
    pub(crate) run_seconds: f64,
    pub(crate) ands_per_second: f64,
    pub(crate) transport: String,
    pub(crate) net: String,
    pub(crate) aes_tier: &'static str,
    pub(crate) threads: u16,
    pub(crate) lanes_per_thread: u16,
    pub(crate) batch: u32,
    pub(crate) parties: Vec<OfMember>,
    pub(crate) clients: Vec<OfMember>,
}

/// A number of parties.
pub(crate) fn word(parties: usize) -> &'static str {
    const WORDS: [&str; 9] = ["no", "one", "two", "three", "four", "five", "six", "seven", "eight"];
    WORDS.get(parties).unwrap_or(&"many")
}

impl RunReport {
    /// A few lines.
    pub(crate) fn for_people(&self, plan: &Plan) -> String {
        let mut text = String::new();
        let sent: Vec<_> = self.parties.iter().map(|p| size::show(p.bytes_sent)).collect();
        let memory = self.parties.iter().chain(&self.clients).filter_map(|p| p.peak_memory_bytes).max();
        let CircuitReport { circuit, instances, ands, .. } = &self.of_kind;
        let times = if *instances == 1 { "once".to_owned() } else { format!("{instances} times") };
        let lines = [
            format!(
                "computed {circuit} {times} among {} parties with {}: {ands} ANDs, depth {}",
                word(self.parties.len()),
                plan.computing(),
                self.and_depth
            ),
            format!(
                "time: {:.2} s; {:.2} s while connected, {:.3e} ANDs/s",
                self.seconds, self.run_seconds, self.ands_per_second
            ),
            format!("sent by each party: {} in {} rounds", sent.join(", "), self.rounds),
            format!(
                "with: {}, AES {}, threads a party: {}, memory a process: {}",
                self.transport,
                self.aes_tier,
                self.threads,
                memory.map_or("unknown".to_owned(), size::show)
            ),
        ];
        for line in lines {
            // Writing to a string does not fail.
            let _ = writeln!(text, "{line}");
        }
        for (name, to) in plan.outputs.iter().filter(|(_, to)| to.is_empty()) {
            let _ = writeln!(text, "output {name} goes to {} members, so that nobody learns it", to.len());
        }
        text
    }
}

/// The report of a run of any kind whose members are processes; its fields are the JSON's.
#[derive(Serialize)]
pub(crate) struct KindReport<K> {
    command: &'static str,
    version: &'static str,
    #[serde(flatten)]
    of_kind: K,
    /// Exchanges one after the other, of the busiest party.
    rounds: u64,
    /// The whole command, until the outputs were there.
    seconds: f64,
    /// From the first connection on, of the slowest party.
    run_seconds: f64,
    transport: String,
    net: String,
    aes_tier: &'static str,
    parties: Vec<OfMember>,
    clients: Vec<OfMember>,
}

impl<K> KindReport<K> {
    /// Of a run that has ended.
    pub(crate) fn new<L>(
        command: &'static str,
        of_kind: K,
        begun: Instant,
        (transport, shape, backend): (&str, Shape, Backend),
        members: Vec<Member>,
        ended: &[OfProcess<L>],
    ) -> Self {
        let members = members.into_iter().zip(ended);
        let members = members.map(|(member, process)| (member.clone(), OfMember::of(member.key(), process)));
        let (parties, clients) = split(members.collect());
        Self {
            command,
            version: env!("CARGO_PKG_VERSION"),
            of_kind,
            rounds: parties.iter().map(|p| p.rounds).max().unwrap_or(0),
            seconds: begun.elapsed().as_secs_f64(),
            run_seconds: parties.iter().map(|p| p.seconds).fold(0.0, f64::max),
            transport: transport.to_owned(),
            net: shape.to_string(),
            aes_tier: backend.tier().name(),
            parties,
            clients,
        }
    }

    /// The number of its parties, as a word.
    pub(crate) fn number(&self) -> &'static str {
        word(self.parties.len())
    }

    /// A few lines, the first of which begins with `first`.
    pub(crate) fn for_people(&self, first: &str) -> String {
        let sent: Vec<_> = self.parties.iter().map(|p| size::show(p.bytes_sent)).collect();
        let memory = self.parties.iter().chain(&self.clients).filter_map(|p| p.peak_memory_bytes).max();
        format!(
            "{first}time: {:.2} s; {:.2} s while connected\nsent by each party: {} in {} rounds\nwith: {}, AES {}, memory a process: {}",
            self.seconds,
            self.run_seconds,
            sent.join(", "),
            self.rounds,
            self.transport,
            self.aes_tier,
            memory.map_or("unknown".to_owned(), size::show)
        )
    }
}

/// Outputs by place, with the names that the job gives them, in the job's order.
pub(crate) fn with_names<'a>(
    plan: &Plan,
    shown: impl IntoIterator<Item = (&'a usize, &'a String)>,
) -> Vec<(String, String)> {
    let named = shown.into_iter().map(|(j, digits)| (plan.outputs[*j].0.clone(), digits.clone()));
    named.collect()
}

/// Outputs as they are printed.
pub(crate) fn lines(shown: &[(String, String)]) -> Vec<u8> {
    shown.iter().map(|(name, digits)| format!("{name}={digits}\n")).collect::<String>().into_bytes()
}

/// Writes what a run computed to standard output, and its report to `file`. With `--json -` the report stands on
/// standard output, in place of the results. A report is written even if standard output takes nothing.
pub(crate) fn deliver(
    results: Option<Vec<u8>>,
    report: &impl Serialize,
    file: Option<NewFile>,
    json: Option<&Path>,
) -> Result<(), Error> {
    if json == Some(Path::new("-")) {
        return out::text(out::pretty(report)?);
    }
    let told = results.map_or(Ok(()), out::text);
    if let Some(file) = file {
        file.write(out::pretty(report)?.as_bytes())?;
    }
    told
}

/// Parties apart from clients.
pub(crate) fn split(all: Vec<(Member, OfMember)>) -> (Vec<OfMember>, Vec<OfMember>) {
    let (parties, clients): (Vec<_>, Vec<_>) =
        all.into_iter().partition(|(m, _)| matches!(m, Member::Party(_)));
    let strip = |list: Vec<(Member, OfMember)>| list.into_iter().map(|(_, of)| of).collect();
    (strip(parties), strip(clients))
}
