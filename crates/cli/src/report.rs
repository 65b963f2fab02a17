//! The cost of a run, for people and for programs.

use crate::{args::AesCtrArgs, control::peak_memory, error::Error, job::Files, out, supervisor::OfProcess};
use hushwire::job::aes_ctr::{AesCtrTerms, DeviceUse, Iv, KeyMode, Learnt};
use hushwire::job::size;
use hushwire_aes::Backend;
use hushwire_rep3::zero_words;
use serde::Serialize;
use std::{
    fmt::Write,
    path::PathBuf,
    time::{Duration, Instant},
};

/// LOCAL: the time for which the limit is measured.
const MEASURE: Duration = Duration::from_millis(50);

/// The measurements of a run.
pub(crate) struct Measurements {
    pub(crate) backend: Backend,
    /// Seconds since the start of the program.
    pub(crate) seconds: f64,
    /// The measurements of the owner; seconds are from the first connection on.
    pub(crate) streamed: hushwire::job::Stats,
    pub(crate) terms: AesCtrTerms,
    /// The directory of the key and its ledger.
    pub(crate) key_dir: Option<PathBuf>,
    pub(crate) parties: Vec<OfProcess<Learnt>>,
}

/// The report; its fields are those of the JSON.
#[derive(Serialize)]
pub(crate) struct EncryptionReport {
    command: &'static str,
    version: &'static str,
    decrypt: bool,
    r#in: String,
    out: String,
    bytes: u64,
    blocks: u64,
    iv: Iv,
    key: KeyMode,
    key_id: Option<String>,
    key_dir: Option<String>,
    /// The back end: software, or hdl-sim.
    backend: String,
    /// The hardware parties.
    hdl_parties: Vec<u8>,
    sbox: String,
    transport: String,
    aes_tier: &'static str,
    /// Compute threads of each party.
    threads: u16,
    lanes_per_thread: u16,
    chunk_blocks: u32,
    memory_bytes: u64,
    /// The seconds of the whole command, until the result was complete.
    seconds: f64,
    /// The seconds from the first connection on, to which the rates refer.
    stream_seconds: f64,
    bytes_per_second: f64,
    blocks_per_second: f64,
    /// The number of rounds one after the other, including key set-up.
    rounds: u64,
    parties: Vec<OfParty>,
    owner: OfOwner,
    /// `None` for a simulation, whose speed says nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    limit: Option<Limit>,
}

#[derive(Serialize)]
struct OfParty {
    party: usize,
    /// Payload in bytes to both other parties and the owner, without the overhead of TLS and TCP.
    bytes_sent: u64,
    bytes_received: u64,
    rounds: u64,
    peak_memory_bytes: Option<u64>,
    /// The counters of a hardware party.
    #[serde(skip_serializing_if = "Option::is_none")]
    device: Option<DeviceUse>,
}

#[derive(Serialize)]
struct OfOwner {
    /// Payload in bytes to all parties, without the overhead of TLS and TCP.
    bytes_sent: u64,
    bytes_received: u64,
    peak_memory_bytes: Option<u64>,
}

#[derive(Serialize)]
struct Limit {
    name: &'static str,
    unit: &'static str,
    value: f64,
    fraction_of_limit: f64,
    /// The rate of AES rounds in registers of one core, from which the bound is computed.
    aes_blocks_per_second_per_core: f64,
    cores: usize,
    prf_blocks_per_block: f64,
}

impl EncryptionReport {
    /// Collects the figures, and measures the limit.
    pub(crate) fn new(args: &AesCtrArgs, files: &Files, run: Measurements) -> Self {
        let terms = &run.terms;
        let rate = terms.blocks() as f64 / run.streamed.seconds;
        let parties = run.parties.into_iter().enumerate().map(|(party, process)| OfParty {
            party,
            bytes_sent: process.outcome.stats.bytes_sent,
            bytes_received: process.outcome.stats.bytes_received,
            rounds: process.outcome.stats.rounds,
            peak_memory_bytes: process.peak_memory_bytes,
            device: process.outcome.learnt.device,
        });
        let parties: Vec<_> = parties.collect();
        Self {
            command: "local aes-ctr",
            version: env!("CARGO_PKG_VERSION"),
            decrypt: args.decrypt,
            r#in: files.input.display().to_string(),
            out: files.out.display().to_string(),
            bytes: terms.bytes,
            blocks: terms.blocks(),
            iv: terms.iv,
            key: terms.key,
            key_id: terms.key_id.clone(),
            key_dir: run.key_dir.as_ref().map(|dir| dir.display().to_string()),
            backend: args.backend.clone(),
            hdl_parties: terms.cut.hdl.clone().unwrap_or_default(),
            sbox: terms.cut.sbox.name().to_owned(),
            transport: args.between.transport.clone(),
            aes_tier: run.backend.tier().name(),
            threads: terms.cut.threads,
            lanes_per_thread: terms.cut.lanes,
            chunk_blocks: terms.cut.chunk_blocks,
            memory_bytes: args.memory,
            seconds: run.seconds,
            stream_seconds: run.streamed.seconds,
            bytes_per_second: terms.bytes as f64 / run.streamed.seconds,
            blocks_per_second: rate,
            rounds: parties.iter().map(|p| p.rounds).max().unwrap_or(0),
            parties,
            owner: OfOwner {
                bytes_sent: run.streamed.bytes_sent,
                bytes_received: run.streamed.bytes_received,
                peak_memory_bytes: peak_memory(),
            },
            limit: terms.cut.hdl.is_none().then(|| Limit::measure(run.backend, terms, rate)),
        }
    }

    /// Returns a few lines for people.
    pub(crate) fn for_people(&self) -> String {
        let mut text = String::new();
        let done = if self.decrypt { "decrypted" } else { "encrypted" };
        let sent: Vec<_> = self.parties.iter().map(|p| size::show(p.bytes_sent)).collect();
        let sent = if sent.windows(2).all(|w| w[0] == w[1]) { sent[..1].concat() } else { sent.join(", ") };
        let memory =
            self.parties.iter().filter_map(|p| p.peak_memory_bytes).chain(self.owner.peak_memory_bytes).max();
        let key = match (self.key, &self.key_dir) {
            (KeyMode::Given, _) => "given; not kept".to_owned(),
            (KeyMode::Imported, Some(dir)) => format!("given, and its shares kept in {dir}"),
            (KeyMode::Drawn, Some(dir)) => format!("drawn by the parties, its shares kept in {dir}"),
            (_, Some(dir)) => format!("from the shares in {dir}"),
            (_, None) => "from shares".to_owned(),
        };
        let lines = [
            format!("{done} {} into {}", size::show(self.bytes), self.out),
            format!("iv: {}", self.iv),
            format!("key: {key}"),
            format!(
                "time: {:.2} s; {}/s, {:.0} blocks/s while it streamed",
                self.seconds,
                size::show(self.bytes_per_second as u64),
                self.blocks_per_second
            ),
            format!("sent by each party: {sent} in {} rounds", self.rounds),
            format!(
                "with: {}, S-box {}, AES {}, threads a party: {}, memory a process: {}",
                self.transport,
                self.sbox,
                self.aes_tier,
                self.threads,
                memory.map_or("unknown".to_owned(), size::show)
            ),
            self.speed(),
        ];
        for line in lines {
            // Writing to a string does not fail.
            let _ = writeln!(text, "{line}");
        }
        text
    }

    /// Compares the speed with the limit. The speed of a simulation says nothing, so its cycles are
    /// shown instead.
    fn speed(&self) -> String {
        let of = |p: &OfParty| {
            let device = p.device.as_ref()?;
            Some(format!("party {}: {} cycles, {} ANDs", p.party, device.cycles, device.ands))
        };
        let Some(Limit { fraction_of_limit, value, .. }) = self.limit else {
            let devices: Vec<_> = self.parties.iter().filter_map(of).collect();
            return format!("simulated hardware: {}", devices.join("; "));
        };
        format!("{:.1} % of the PRF bound, {:.2} M blocks/s", 100.0 * fraction_of_limit, value / 1e6)
    }

    /// Returns the report as JSON.
    pub(crate) fn for_programs(&self) -> Result<String, Error> {
        out::pretty(self)
    }
}

impl Limit {
    /// Measures the PRF bound: the rate that the AES units alone would allow.
    fn measure(backend: Backend, terms: &AesCtrTerms, rate: f64) -> Self {
        let one_core = aes_rate(backend);
        let available = std::thread::available_parallelism().map_or(1, usize::from);
        let cores = available.min(3 * usize::from(terms.cut.threads));
        let chunk = terms.cut.chunk_blocks as usize;
        // Each word of a zero-share takes two calls at each of three parties.
        let calls = zero_words(terms.size(), terms.cut.sbox, chunk) as f64 * 2.0 * 3.0 / chunk as f64;
        let value = one_core * cores as f64 / calls;
        Self {
            name: "PRF bound",
            unit: "blocks/s",
            value,
            fraction_of_limit: rate / value,
            aes_blocks_per_second_per_core: one_core,
            cores,
            prf_blocks_per_block: calls,
        }
    }
}

/// Measures the AES blocks a second of one core, in registers.
fn aes_rate(backend: Backend) -> f64 {
    let begun = Instant::now();
    let (mut blocks, mut iterations) = (0, 1);
    loop {
        blocks += std::hint::black_box(backend.rounds_only(iterations)).blocks;
        let spent = begun.elapsed();
        if spent >= MEASURE {
            return blocks as f64 / spent.as_secs_f64();
        }
        iterations = (2 * iterations).min(1 << 16);
    }
}
