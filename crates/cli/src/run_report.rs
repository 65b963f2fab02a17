//! The cost of a job's run, for programs and for people.

use crate::{error::Error, files::NewFile, out, supervisor::OfProcess};
use hushwire::job::{Member, Stats, size};
use hushwire_aes::Backend;
use hushwire_wire::Shape;
use serde::Serialize;
use std::{path::Path, time::Instant};

/// The measurements of one member.
#[derive(Serialize)]
pub(crate) struct OfMember {
    /// The member's name, such as `party0` or `client:alice`.
    pub(crate) member: String,
    /// Payload in bytes to all others, without the overhead of TLS and TCP.
    pub(crate) bytes_sent: u64,
    pub(crate) bytes_received: u64,
    /// The number of rounds one after the other on the busiest lane.
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

    /// Returns the figures of a member that was a process.
    pub(crate) fn of<L>(member: String, process: &OfProcess<L>) -> Self {
        Self::new(member, &process.outcome.stats, process.peak_memory_bytes)
    }
}

/// Returns the number of parties as a word.
pub(crate) fn word(parties: usize) -> &'static str {
    const WORDS: [&str; 9] = ["no", "one", "two", "three", "four", "five", "six", "seven", "eight"];
    WORDS.get(parties).unwrap_or(&"many")
}

/// The report of a run of any kind whose members are processes; its fields are those of the JSON.
#[derive(Serialize)]
pub(crate) struct KindReport<K> {
    command: &'static str,
    version: &'static str,
    #[serde(flatten)]
    pub(crate) of_kind: K,
    /// The number of rounds one after the other, at the busiest party.
    rounds: u64,
    /// The seconds of the whole command, until the outputs were complete.
    seconds: f64,
    /// The seconds from the first connection on, at the slowest party.
    run_seconds: f64,
    transport: String,
    net: String,
    aes_tier: &'static str,
    parties: Vec<OfMember>,
    clients: Vec<OfMember>,
}

impl<K> KindReport<K> {
    /// Returns the report of a run that has ended.
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

    /// Returns the number of its parties, as a word.
    pub(crate) fn number(&self) -> &'static str {
        word(self.parties.len())
    }

    /// The seconds from the first connection on, at the slowest party, to which rates refer.
    pub(crate) fn run_seconds(&self) -> f64 {
        self.run_seconds
    }

    /// Returns a few lines. The first line begins with `first`; `rate` and `threads` follow the
    /// time and the transport.
    pub(crate) fn for_people(&self, first: &str, rate: &str, threads: &str) -> String {
        let sent: Vec<_> = self.parties.iter().map(|p| size::show(p.bytes_sent)).collect();
        let memory = self.parties.iter().chain(&self.clients).filter_map(|p| p.peak_memory_bytes).max();
        format!(
            "{first}time: {:.2} s; {:.2} s while connected{rate}\nsent by each party: {} in {} rounds\nwith: {}, AES {}{threads}, memory a process: {}",
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

/// Writes the results of a run to standard output, and its report to `file`. With `--json -` the
/// report replaces the results on standard output. The report is written even if standard output
/// fails.
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

/// Separates parties from clients.
fn split(all: Vec<(Member, OfMember)>) -> (Vec<OfMember>, Vec<OfMember>) {
    let (parties, clients): (Vec<_>, Vec<_>) =
        all.into_iter().partition(|(m, _)| matches!(m, Member::Party(_)));
    let strip = |list: Vec<(Member, OfMember)>| list.into_iter().map(|(_, of)| of).collect();
    (strip(parties), strip(clients))
}
