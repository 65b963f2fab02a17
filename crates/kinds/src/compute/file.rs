//! The job file of a computation.

use super::PublicPlace;
use crate::{JobParameters, RunValues, parameter::read_parameters};
use hushwire_compute::{Computation, ComputeError};
use hushwire_fault::{Excuse, code};
use hushwire_garble::Scheme;
use hushwire_ot::Protocol as Extension;
use hushwire_session::{
    Fault, Linear, MOST_SHARDS, Member, Protocol, open_input,
    protocol::{self, by_name},
    size,
    toml_file::{Section, TomlValue},
};
use serde::{Deserialize, Serialize};
use std::{
    collections::BTreeMap,
    io::Read,
    path::{Path, PathBuf},
};

/// LOCAL: the longest text of a computation, in bytes.
const LONGEST: u64 = 64 << 20;

/// The source of a computation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ComputationSource {
    /// A `.hwc` file; `-` is standard input.
    File(PathBuf),
    /// The text of a computation.
    Text(String),
}

impl ComputationSource {
    /// Reads and checks the computation.
    ///
    /// # Errors
    /// The file cannot be read, or a line of it makes no sense.
    pub fn load(&self) -> Result<Computation, Fault> {
        let (text, path) = match self {
            Self::Text(text) => (text.clone(), None),
            Self::File(path) => (read(path)?, Some(path.as_path())),
        };
        text.parse().map_err(|e| refused(path, &e))
    }
}

fn read(path: &Path) -> Result<String, Fault> {
    let (mut bytes, io) = (vec![], |e| Fault::io("read", path, &e));
    open_input(path).map_err(io)?.take(LONGEST + 1).read_to_end(&mut bytes).map_err(io)?;
    if bytes.len() as u64 > LONGEST {
        return Err(Fault::file("read", path, "it is longer than 64 MiB", "is it the right file?"));
    }
    let text = String::from_utf8(bytes);
    let text = text.map_err(|_| Fault::file("read", path, "it is not text", "is it the right file?"))?;
    Ok(hushwire_files::mark::strip_str(&text).to_owned())
}

/// The error of a computation, with the name of its file if it came from one.
pub(crate) fn refused(path: Option<&Path>, e: &ComputeError) -> Fault {
    let place = e.place().map(|place| format!(", {place}")).unwrap_or_default();
    match path {
        // The elements or lengths are at fault, not the author of the file.
        _ if matches!(e, ComputeError::Input { .. }) => unfit(e),
        Some(path) => in_file(e).during(format_args!("{}{place}", path.display())),
        None => e.fault().during(format_args!("the computation{place}")),
    }
}

/// The error for values that a computation does not accept.
pub(super) fn unfit(e: &ComputeError) -> Fault {
    e.fault().coded(code::VALUES).telling(Excuse::Reading).during("reading inputs")
}

/// The error for a computation whose file is at fault.
fn in_file(e: &ComputeError) -> Fault {
    e.fault().coded(code::COMPUTATION_FILE).telling(Excuse::Reading)
}

/// The job file of a computation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ComputeJob {
    /// The protocol of the parties.
    pub protocol: Protocol,
    /// The scheme of the garbled gates, where the protocol garbles.
    #[serde(default, with = "by_name")]
    pub scheme: Option<Scheme>,
    /// The extension of oblivious transfer, where the protocol uses one.
    #[serde(default, with = "by_name")]
    pub ot: Option<Extension>,
    /// The method of two parties' linear layers.
    #[serde(default)]
    pub linear: Option<Linear>,
    /// Whether two parties make OTs before they need them. `None` leaves it to them: they do so if
    /// they are far from each other, or have spare cores.
    #[serde(default)]
    pub ahead: Option<bool>,
    /// The computation.
    pub computation: ComputationSource,
    /// The members of the job that take the roles in the computation, by the roles' names. A role
    /// that is not listed is the client of that name, or one of the parties `party0`, `party1`,
    /// `party2`.
    pub members: BTreeMap<String, Member>,
    /// Lengths that are agreed on before the run. Owners' inputs give the other lengths.
    pub symbols: BTreeMap<String, u64>,
    /// Upper bounds on lengths that owners' inputs give.
    #[serde(default)]
    pub bounds: BTreeMap<String, u64>,
    /// The values of public inputs, the same at all members.
    #[serde(default)]
    pub public: BTreeMap<String, PublicPlace>,
    /// The owner of each secret input.
    #[serde(default)]
    pub owners: BTreeMap<String, Member>,
    /// The recipient of a role's outputs, if it is not the member that brings the role's inputs.
    #[serde(default)]
    pub learns: BTreeMap<String, Member>,
    /// The number of compute threads of each party, of three or n parties. Two parties have one.
    #[serde(default)]
    pub threads: Option<u16>,
    /// The bytes that values and work on them may take at each party. Three parties shorten pieces
    /// of columns to keep to it, and refuse a computation that takes more even in the shortest
    /// pieces. Other parties refuse a computation whose values, or whose circuit's bits, take more.
    /// `None`: no limit, but 2 GiB if owners' inputs give lengths that have no bound.
    #[serde(default)]
    pub memory: Option<u64>,
    /// The number of processes of each of three parties among which rows are spread. Each process
    /// has a session of its own.
    #[serde(default = "one_shard")]
    pub shards: u16,
    /// Public inputs whose type and range are part of the agreement, and whose value is set for
    /// each run.
    #[serde(default)]
    pub parameters: JobParameters,
    /// The values of a run: its parameters' values, and the data sets that it uses.
    #[serde(default)]
    pub values: RunValues,
}

/// By default a party is one process.
pub(crate) fn one_shard() -> u16 {
    1
}

/// The key `shards` of a job file.
pub(crate) fn shards(top: &mut Section<'_>) -> Result<u16, Fault> {
    Ok(top.number("shards", 1..=MOST_SHARDS as u64)?.map_or_else(one_shard, |shards| shards as u16))
}

impl ComputeJob {
    /// Returns a job with defaults for everything else.
    #[must_use]
    pub fn new(protocol: Protocol, computation: ComputationSource) -> Self {
        Self {
            protocol,
            scheme: None,
            ot: None,
            linear: None,
            ahead: None,
            computation,
            members: BTreeMap::new(),
            symbols: BTreeMap::new(),
            bounds: BTreeMap::new(),
            public: BTreeMap::new(),
            owners: BTreeMap::new(),
            learns: BTreeMap::new(),
            threads: None,
            memory: None,
            shards: one_shard(),
            parameters: vec![],
            values: RunValues::default(),
        }
    }

    pub(crate) fn from_section(mut top: Section<'_>) -> Result<Self, Fault> {
        let protocol = top.parsed("protocol", str::parse, "write protocol = \"rep3\"")?;
        let protocol = crate::circuit::among(&mut top, protocol.unwrap_or(Protocol::Rep3))?;
        let scheme = top.parsed("scheme", protocol::private_scheme, "write scheme = \"mi\"")?;
        let ot = top.parsed("ot", protocol::extension, "write ot = \"softspoken4\"")?;
        let linear = top.parsed("linear", str::parse, "write linear = \"he\" or \"ot\"")?;
        let ahead = top.parsed("ahead", protocol::ahead_or_auto, "write ahead = \"auto\"")?;
        let ahead = ahead.flatten();
        let computation = top.need("computation", "computation = \"bill.hwc\"")?.path()?;
        let who = |value: TomlValue<'_>| value.parsed(str::parse, "write \"party0\" or \"client:alice\"");
        let members = table(&mut top, "members", who)?;
        let (mut symbols, mut bounds) = (BTreeMap::new(), BTreeMap::new());
        for (name, length) in table(&mut top, "symbols", |value| length(&value))? {
            match length {
                Length::Is(n) => symbols.insert(name, n),
                Length::AtMost(n) => bounds.insert(name, n),
            };
        }
        let shards = shards(&mut top)?;
        let public = table(&mut top, "public", PublicPlace::of)?;
        let owners = table(&mut top, "owners", who)?;
        let (threads, memory, parameters) =
            top.take("parameters").map(parameters).transpose()?.unwrap_or_default();
        top.finish()?;
        let computation = ComputationSource::File(computation);
        Ok(Self {
            protocol,
            scheme,
            ot,
            linear,
            ahead,
            computation,
            members,
            symbols,
            bounds,
            public,
            owners,
            learns: BTreeMap::new(),
            threads,
            memory,
            shards,
            parameters,
            values: RunValues::default(),
        })
    }
}

/// A length under `[symbols]`.
enum Length {
    Is(u64),
    AtMost(u64),
}

/// Reads `100`, or `"<= 100"` for a length that inputs give.
fn length(value: &TomlValue<'_>) -> Result<Length, Fault> {
    let Ok(text) = value.text() else { return value.number(0..=1 << 40).map(Length::Is) };
    let most = text.trim().strip_prefix("<=").and_then(|n| n.trim().parse().ok());
    let wrong = || {
        value.error("is no length", "write a number, or as in \"<= 100000\" the most that an input may have")
    };
    most.filter(|n| *n <= 1 << 40).map(Length::AtMost).ok_or_else(wrong)
}

/// Reads the optional compute threads and bytes of memory, and the parameters of a run.
fn parameters(value: TomlValue<'_>) -> Result<(Option<u16>, Option<u64>, JobParameters), Fault> {
    let mut section = value.section()?;
    let threads = section.number("threads", 1..=128)?;
    let memory = section.take("memory").map(|value| match value.text() {
        Ok(_) => value.parsed(size::parse, "write a size, as in \"4GiB\", or a number of bytes"),
        Err(_) => value.number(1..=1 << 50),
    });
    let memory = memory.transpose()?;
    let parameters = read_parameters(section.in_order(), &["threads", "memory"])?;
    Ok((threads.map(|n| n as u16), memory, parameters))
}

/// Reads a table whose keys are names of the computation.
fn table<T>(
    top: &mut Section<'_>,
    key: &'static str,
    read: impl Fn(TomlValue<'_>) -> Result<T, Fault>,
) -> Result<BTreeMap<String, T>, Fault> {
    let Some(section) = top.take(key).map(TomlValue::section).transpose()? else {
        return Ok(BTreeMap::new());
    };
    section.rest().into_iter().map(|(name, value)| Ok((name, read(value)?))).collect()
}
