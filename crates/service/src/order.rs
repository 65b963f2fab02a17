//! The messages between the daemon and a worker, one JSON line each. They pass both ways over the
//! worker's stdout, which is a socket. Its stdin is a socket, too, over which it gets connections
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

/// The hidden command that runs a worker.
pub(crate) const COMMAND: &str = "__worker";

/// A message from the daemon to a worker.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum ToWorker {
    /// The first message: what to compute, and from what.
    Order(Box<WorkerOrder>),
    /// After a committed attempt: another one with the same job and data.
    Again(AttemptOrder),
    /// After [`FromWorker::Ready`]: the workers of all parties, the label of their session, and
    /// whether they use the links of the attempt before.
    Meet(Vec<Peer>, String, bool),
    /// The answer to [`FromWorker::Uses`]: why the file may not be used, or `None`.
    Used(Option<Fault>),
    /// The attempt is aborted.
    Cancel,
    /// The decision is taken, and nothing remains to be done.
    Bye,
}

/// Everything that a worker needs, and no more: it gets neither the party's key, nor the master
/// key, nor the store. No `Debug`, because it holds inputs.
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
    /// Its memory limit.
    pub(crate) limit: MemoryLimit,
    /// The party's own inputs.
    pub(crate) inputs: BTreeMap<String, InputPlace>,
    /// The party's settings for encryptions.
    pub(crate) keys: KeyPlaces,
    /// The party's preprocessing, if it keeps any.
    pub(crate) shelf: Option<OrderedShelf>,
    /// The data sets, by their names in the job.
    pub(crate) data: BTreeMap<String, OrderedData>,
    /// The keys that results are sealed to, by the recipients' names in the job.
    pub(crate) recipients: BTreeMap<String, SealTo>,
}

/// The parts of an order that belong to one attempt alone.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct AttemptOrder {
    /// The group, the job and the attempt: the label of the session.
    pub(crate) label: String,
    /// The name in the session's greetings, by which the party port finds the worker.
    pub(crate) greeting: String,
    /// The directory in which the worker leaves its outputs.
    pub(crate) results: PathBuf,
    /// The name of the job and the number of the attempt, to which sealed results are bound.
    pub(crate) attempt: (String, u32),
}

/// The memory limit of a worker.
#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct MemoryLimit {
    /// Bytes.
    pub(crate) most: u64,
    /// Whether a policy sets it; otherwise the party's config does.
    pub(crate) of_policy: bool,
}

/// A directory of preprocessing and the key of its files. The key passes over the socket, and is
/// never on a disk.
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

/// A data set of this party. Its content key and seeds pass over the socket, and are never on a
/// disk.
#[derive(Serialize, Deserialize)]
pub(crate) struct OrderedData {
    /// The manifest.
    pub(crate) manifest: String,
    /// The signature, as hexadecimal digits.
    pub(crate) signature: String,
    /// Content key and seeds, as hexadecimal digits.
    #[serde(with = "hushwire_session::as_text::secret")]
    pub(crate) opened: Wiped<String>,
    /// The sealed parts, in order.
    pub(crate) parts: Vec<PathBuf>,
}

/// A message from a worker to the daemon.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum FromWorker {
    /// It listens with a key of its own, and its inputs are open. The flag says whether it has the
    /// links of the attempt before.
    Ready(Peer, bool),
    /// The operator or step that runs now.
    Phase(String),
    /// The number of instances that are done, and the number of all.
    Progress(u64, u64),
    /// Payload bytes sent and received.
    Traffic(u64, u64),
    /// A note for a person who waits.
    Note(String),
    /// It is about to use this file of preprocessing, and waits for [`ToWorker::Used`].
    Uses(String),
    /// Its outputs are made.
    Prepared(Box<Prepared>),
    /// It has failed.
    Failed(Fault),
}

/// The end of a worker's computation.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Prepared {
    /// Its outputs.
    pub(crate) outputs: Vec<Made>,
    /// Its measurements.
    pub(crate) stats: Stats,
    /// The most memory that it used, in bytes.
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
    /// The key that the output is sealed to, or the party that learns it.
    pub(crate) recipient: String,
}

/// Where the bytes of an output are.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum MadePlace {
    /// In this file in the directory of the order.
    File(String),
    /// In this message as hexadecimal digits: a small, sealed output.
    Here(String),
}

/// Writes a message as one line.
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

/// Reads a message from its line.
pub(crate) fn hear<T: DeserializeOwned>(line: &str) -> Result<T, String> {
    serde_json::from_str(line).map_err(|e| e.to_string())
}
