//! Counts cycles by simulation. Verilated models check every result, and run as separate programs.

use std::{fmt, io::Write as _, process::Command};

use hushwire_circuit::{Layered, named};
use hushwire_hdl::Microcode;
use serde::{Deserialize, Serialize, de::DeserializeOwned};

use super::{
    Origin,
    store::{self, Store},
    tools::{self, HdlPlaces, on_file},
};
use crate::BoxError;

/// The words that a bench of lanes streams.
const WORDS: u32 = 2000;
/// The sequencer's circuit. Round keys are common, so the blocks of a batch have one key.
const CIRCUIT: &str = "aes128-expanded-key";

/// The output of `lanes-sim`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct StreamCount {
    pub latency: u64,
    pub words: u64,
    /// The cycles from the first result to the last.
    pub cycles: u64,
    /// The places of a party's queues; 0 for lanes.
    pub depth: u64,
}

impl StreamCount {
    /// The cycles from one result to the next.
    #[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
    pub(super) fn interval(&self) -> f64 {
        self.cycles as f64 / (self.words - 1) as f64
    }
}

/// The output of `sequencer-sim`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Batches {
    pub lanes: u32,
    pub threads: u32,
    pub batches: u32,
    /// The instances of a batch.
    pub instances: u64,
    /// The cycles in which the lanes got operands.
    pub ands: u64,
    /// The clock cycles from the first AND to the last.
    pub cycles: u64,
    /// The cycles including the input and the time until the last results arrive.
    pub total_cycles: u64,
}

impl Batches {
    #[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
    pub(super) fn busy(&self) -> f64 {
        self.ands as f64 / self.cycles as f64
    }

    /// The blocks for each 1000 cycles of the whole run.
    #[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
    pub(super) fn blocks_per_1000(&self) -> f64 {
        let blocks = self.instances as f64 * f64::from(self.threads) * f64::from(self.batches);
        1000.0 * blocks / self.total_cycles as f64
    }
}

/// Runs simulators, and stores their results.
pub(super) struct Simulation {
    places: HdlPlaces,
    store: Store,
    checksum: String,
    microcode: Vec<u8>,
}

impl Simulation {
    pub(super) fn new(places: &HdlPlaces) -> Result<Self, BoxError> {
        let failed = |e: &dyn fmt::Display| format!("microcode of AES-128: {e}");
        let circuit = named::make(CIRCUIT).map_err(|e| failed(&e))?;
        let code = Microcode::compile(CIRCUIT, &Layered::new(&circuit), &[0]).map_err(|e| failed(&e))?;
        let mut microcode = vec![];
        code.write(&mut microcode).map_err(|e| failed(&e))?;
        let sources = ["rtl", "sim"].map(|dir| places.sources.join(dir));
        // Script names have no extension.
        let checksum = store::checksum(&sources, &["sv", "cpp", "hpp", ""], &[&microcode])?;
        Ok(Self { places: places.clone(), store: Store::new(places.out.join("fpga")), checksum, microcode })
    }

    /// Simulates a lane or party with words that arrive without a pause.
    pub(super) fn stream(
        &self,
        design: &str,
        lanes: u32,
        link: u32,
    ) -> Result<(StreamCount, Origin), BoxError> {
        let name = format!("stream-{design}-{lanes}-{link}");
        self.store.get(&name, &self.checksum, || {
            let program = self.places.build("build-lanes", "lanes-sim", lanes)?;
            let mut command = Command::new(program);
            command.args([design, "--words", &WORDS.to_string(), "--link", &link.max(1).to_string()]);
            let stream: StreamCount = figures("lanes-sim", &tools::output(command)?)?;
            if stream.words < 2 || stream.cycles == 0 {
                let problem = format!("{stream:?} has no interval");
                return Err(tools::unusable("lanes-sim", &problem));
            }
            Ok(stream)
        })
    }

    /// Simulates AES-128 on the sequencers of three parties, with `batches` for each thread.
    pub(super) fn batches(
        &self,
        lanes: u32,
        threads: u32,
        link: u32,
        batches: u32,
    ) -> Result<(Batches, Origin), BoxError> {
        let name = format!("sequencer-{lanes}-{threads}-{link}-{batches}");
        self.store.get(&name, &self.checksum, || {
            let program = self.places.build("build", "sequencer-sim", lanes)?;
            let failed = on_file("writing", &std::env::temp_dir());
            let mut file = tempfile::NamedTempFile::new().map_err(&failed)?;
            file.write_all(&self.microcode).and_then(|()| file.flush()).map_err(&failed)?;
            let mut command = Command::new(program);
            command.arg(file.path());
            for (key, value) in [("--threads", threads), ("--latency", link), ("--batches", batches)] {
                command.args([key, &value.to_string()]);
            }
            let counted: Batches = figures("sequencer-sim", &tools::output(command)?)?;
            let asked = (lanes, threads, batches);
            if (counted.lanes, counted.threads, counted.batches) != asked || counted.cycles == 0 {
                let problem = format!("it was asked for {asked:?}, and ran {counted:?}");
                return Err(tools::unusable("sequencer-sim", &problem));
            }
            Ok(counted)
        })
    }
}

/// Parses the object that a simulator prints.
pub(super) fn figures<T: DeserializeOwned>(program: &str, text: &str) -> Result<T, BoxError> {
    serde_json::from_str(text.trim()).map_err(|e| tools::unusable(program, &e.to_string()))
}
