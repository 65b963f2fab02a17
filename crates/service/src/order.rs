//! The messages between the daemon and a worker, one JSON line each. They pass both ways over the
//! socket that is the worker's stdout. Its stdin is the socket over which it is handed connections
//! of the party port.

use hushwire_block::Wiped;
use hushwire_fault::Fault;
use hushwire_kinds::Job;
use hushwire_seal::SealTo;
use hushwire_session::{InputPlace, KeyPlaces, Peer, Stats};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use std::{
    collections::BTreeMap,
    io::{self, Write},
    path::PathBuf,
};

/// The hidden command that is a worker.
pub(crate) const COMMAND: &str = "__worker";

/// The daemon to a worker.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum ToWorker {
    /// First: what is computed, and from what.
    Order(Box<WorkerOrder>),
    /// After an attempt that was committed: another one of the same job and data.
    Again(AttemptOrder),
    /// Then: where all parties' workers are, the label of their session, and whether they meet on
    /// the links of the attempt before.
    Meet(Vec<Peer>, String, bool),
    /// A file of preprocessing may be used, or why not.
    Used(Option<Fault>),
    /// The attempt ends.
    Cancel,
    /// The decision is taken: nothing is left to do.
    Bye,
}

/// Everything that a worker needs, and no more: neither the party's key, nor the master key, nor
/// the store. No `Debug`: it holds inputs.
#[derive(Serialize, Deserialize)]
pub(crate) struct WorkerOrder {
    /// The job.
    pub(crate) job: Job,
    /// The party's number.
    pub(crate) party: u8,
    /// The first attempt.
    pub(crate) first: AttemptOrder,
    /// Whether it may wait for another attempt.
    pub(crate) stays: bool,
    /// Its memory.
    pub(crate) limit: MemoryLimit,
    /// The party's own inputs.
    pub(crate) inputs: BTreeMap<String, InputPlace>,
    /// The party's settings for encryptions.
    pub(crate) keys: KeyPlaces,
    /// The party's preprocessing, where it keeps any.
    pub(crate) shelf: Option<OrderedShelf>,
    /// The data sets, by their names in the job.
    pub(crate) data: BTreeMap<String, OrderedData>,
    /// The keys that results are sealed to, by the recipients' names in the job.
    pub(crate) recipients: BTreeMap<String, SealTo>,
}

/// The parts of an order that are of one attempt alone.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct AttemptOrder {
    /// The group, the job and the attempt, for people.
    pub(crate) label: String,
    /// The name in the greetings of the session, by which the party ports tell it from others.
    pub(crate) greeting: String,
    /// The directory in which it leaves its outputs.
    pub(crate) results: PathBuf,
    /// The name of the job, and the number of the attempt: sealed results are bound to them.
    pub(crate) attempt: (String, u32),
}

/// The memory that a worker may have.
#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct MemoryLimit {
    /// Bytes.
    pub(crate) most: u64,
    /// Whether a policy says so; else it is the party's config.
    pub(crate) of_policy: bool,
}

/// A directory of preprocessing, and the key of its files, which goes through the pipe and to no
/// disk.
#[derive(Serialize, Deserialize)]
pub(crate) struct OrderedShelf {
    /// The directory.
    pub(crate) dir: PathBuf,
    /// The key, as hexadecimal digits.
    #[serde(with = "hushwire_session::as_text::secret")]
    pub(crate) key: Wiped<String>,
    /// The pins of all parties' own keys.
    pub(crate) pins: Vec<String>,
}

/// A data set of this party: its content key and seeds go through the pipe, and to no disk.
#[derive(Serialize, Deserialize)]
pub(crate) struct OrderedData {
    /// The manifest and the signature under it.
    pub(crate) manifest: String,
    /// The signature, as hexadecimal digits.
    pub(crate) signature: String,
    /// Content key and seeds, as hexadecimal digits.
    #[serde(with = "hushwire_session::as_text::secret")]
    pub(crate) opened: Wiped<String>,
    /// The sealed parts, in order.
    pub(crate) parts: Vec<PathBuf>,
}

/// A worker to the daemon.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum FromWorker {
    /// It listens, with a key of its own, and its inputs are open. Its links of the attempt before
    /// are there, or not.
    Ready(Peer, bool),
    /// The operator or step under way.
    Phase(String),
    /// The number of instances that are done, and of all.
    Progress(u64, u64),
    /// Payload bytes sent and received.
    Traffic(u64, u64),
    /// Something for a person who waits.
    Note(String),
    /// It is about to use this file of preprocessing, and waits for an answer.
    Uses(String),
    /// Its outputs are on the disk.
    Prepared(Box<Prepared>),
    /// It gives up.
    Failed(Fault),
}

/// A worker's end.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Prepared {
    /// Its outputs.
    pub(crate) outputs: Vec<Made>,
    /// Its measurements.
    pub(crate) stats: Stats,
    /// The most memory that it had.
    pub(crate) peak_memory: Option<u64>,
    /// Whether it can serve another attempt.
    pub(crate) stays: bool,
}

/// An output that a worker has made.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Made {
    /// Its name.
    pub(crate) output: String,
    /// Where its bytes are.
    pub(crate) place: MadePlace,
    /// The key that it is sealed to, or the party that learns it.
    pub(crate) recipient: String,
}

/// Where the bytes of an output are.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum MadePlace {
    /// In this file, in the directory of the order.
    File(String),
    /// Here, as hexadecimal digits: it is small, and sealed.
    Here(String),
}

/// Writes one line.
pub(crate) fn say<T: Serialize>(mut to: impl Write, message: &T) -> io::Result<()> {
    let line = line(message)?;
    to.write_all(&line)?;
    to.flush()
}

/// A message as its line.
pub(crate) fn line<T: Serialize>(message: &T) -> io::Result<Wiped<Vec<u8>>> {
    let mut line = Wiped::new(serde_json::to_vec(message)?);
    line.push(b'\n');
    Ok(line)
}

/// The message of a line.
pub(crate) fn hear<T: DeserializeOwned>(line: &str) -> Result<T, String> {
    serde_json::from_str(line).map_err(|e| e.to_string())
}
