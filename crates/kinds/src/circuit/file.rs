//! The job file of a circuit: what is computed, on which member's inputs, and who learns it. Every
//! member has the same file.

use hushwire_garble::Scheme;
use hushwire_ot::Protocol as Extension;
use hushwire_session::{
    Fault, Member, Protocol, check_name,
    protocol::{self, by_name},
    suggest::Unknown,
    toml_file::{Section, Source, TomlValue},
};
use serde::{Deserialize, Serialize};
use std::{
    fmt,
    path::{Path, PathBuf},
    str::FromStr,
};

/// The largest number of instances of one job.
pub const MOST_INSTANCES: u64 = 1 << 40;
/// The largest numbers of instances in a batch, of threads, and of lanes on a thread.
pub(super) const MOST_BATCH: u64 = 1 << 20;
pub(super) const MOST_THREADS: u64 = 128;
pub(super) const MOST_LANES: u64 = 16;

/// The source of a circuit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum CircuitSource {
    /// A built-in circuit with its parameters, such as `less:32`.
    Builtin(String),
    /// A Bristol file, in the old format or in Bristol Fashion.
    File(PathBuf),
    /// The text of such a file, with its name.
    Text(String, String),
}

impl fmt::Display for CircuitSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Builtin(name) | Self::Text(name, _) => f.write_str(name),
            Self::File(path) => path.display().fmt(f),
        }
    }
}

/// The end of a hexadecimal value or record at which wire 0 is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum BitOrderChoice {
    /// Least significant for built-ins and Fashion files, most significant for files of the old
    /// format.
    #[default]
    Auto,
    /// Wire 0 is the least significant bit.
    Lsb,
    /// Wire 0 is the most significant bit.
    Msb,
}

impl BitOrderChoice {
    /// The three choices.
    pub const ALL: [Self; 3] = [Self::Auto, Self::Lsb, Self::Msb];

    /// Its name in files and on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Lsb => "lsb",
            Self::Msb => "msb",
        }
    }
}

impl FromStr for BitOrderChoice {
    type Err = Unknown;

    fn from_str(text: &str) -> Result<Self, Unknown> {
        Self::ALL.into_iter().find(|o| o.name() == text).ok_or_else(|| {
            let names = Self::ALL.map(Self::name);
            Unknown::among(format!("{text:?} is no bit order"), text, &names)
        })
    }
}

/// One input of the circuit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CircuitInput {
    /// The name in party files.
    pub name: String,
    /// The member that brings it.
    pub from: Member,
    /// Hexadecimal digits that `local run` uses by default; not a part of the plan.
    pub sample: Option<String>,
}

/// One output of the circuit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CircuitOutput {
    /// The name in party files.
    pub name: String,
    /// The members that learn it.
    pub to: Vec<Member>,
}

/// How the work is cut: the same at every party, whatever its machine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Parameters {
    /// The number of instances in a batch.
    pub batch: Option<u32>,
    /// The number of compute threads of each party.
    pub threads: Option<u16>,
    /// The number of batches in flight on each thread.
    pub lanes: Option<u16>,
}

/// The job file of a circuit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CircuitJob {
    /// The protocol of the parties.
    pub protocol: Protocol,
    /// The scheme of the garbled gates, where the protocol garbles.
    #[serde(default, with = "by_name")]
    pub scheme: Option<Scheme>,
    /// The extension of oblivious transfer, where the protocol uses one.
    #[serde(default, with = "by_name")]
    pub ot: Option<Extension>,
    /// The circuit that they compute.
    pub circuit: CircuitSource,
    /// The bit order of written values.
    pub bit_order: BitOrderChoice,
    /// The number of instances, each on its own inputs.
    pub instances: u64,
    /// One for each of the circuit's inputs, in order.
    pub inputs: Vec<CircuitInput>,
    /// One for each of the circuit's outputs, in order.
    pub outputs: Vec<CircuitOutput>,
    /// The cut of the work.
    pub parameters: Parameters,
}

impl CircuitJob {
    /// Reads a job file.
    ///
    /// # Errors
    /// The file cannot be read, or a line of it is wrong; the message names the line.
    pub fn read(path: &Path) -> Result<Self, Fault> {
        Self::from_section(Source::read(path)?.sections()?)
    }

    /// Reads the text of a job file; `path` is its name in messages, and relative paths in it start
    /// there.
    ///
    /// # Errors
    /// A line is wrong.
    pub fn parse(text: &str, path: &Path) -> Result<Self, Fault> {
        Self::from_section(Source::new(path, text).sections()?)
    }

    pub(crate) fn from_section(mut top: Section<'_>) -> Result<Self, Fault> {
        let protocol = top.need("protocol", "protocol = \"rep3\"")?;
        let protocol: Protocol = protocol.parsed(str::parse, "write protocol = \"rep3\"")?;
        let protocol = among(&mut top, protocol)?;
        let scheme = top.parsed("scheme", protocol::private_scheme, "write scheme = \"mi\"")?;
        let ot = top.parsed("ot", protocol::extension, "write ot = \"softspoken4\"")?;
        let circuit = circuit(&mut top)?;
        let bit_order = top.parsed("bit-order", str::parse, "write \"auto\", \"lsb\" or \"msb\"")?;
        let instances = top.number("instances", 1..=MOST_INSTANCES)?;
        let inputs = named(top.take("inputs"), "input", |section, name| {
            let from = section.need("from", "from = \"party0\"")?;
            let from = from.parsed(member_of(protocol), for_example(protocol))?;
            let sample = section.take("sample").map(|v| v.text().map(str::to_owned)).transpose()?;
            Ok(CircuitInput { name, from, sample })
        })?;
        let outputs = named(top.take("outputs"), "output", |section, name| {
            let to = section.need("to", "to = [\"party0\", \"client:bob\"]")?;
            Ok(CircuitOutput { name, to: recipients(protocol, to)? })
        })?;
        let parameters = top.take("parameters").map(parameters).transpose()?.unwrap_or_default();
        top.finish()?;
        let (bit_order, instances) = (bit_order.unwrap_or_default(), instances.unwrap_or(1));
        Ok(Self { protocol, scheme, ot, circuit, bit_order, instances, inputs, outputs, parameters })
    }

    /// The clients, in order of their first mention.
    #[must_use]
    pub fn clients(&self) -> Vec<String> {
        let mut clients: Vec<String> = vec![];
        let owners = self.inputs.iter().map(|i| &i.from);
        for member in owners.chain(self.outputs.iter().flat_map(|o| &o.to)) {
            if let Member::Client(name) = member
                && !clients.contains(name)
            {
                clients.push(name.clone());
            }
        }
        clients
    }

    /// The parties, then the clients.
    #[must_use]
    pub fn members(&self) -> Vec<Member> {
        let parties = (0..self.parties()).map(Member::Party);
        parties.chain(self.clients().into_iter().map(Member::Client)).collect()
    }

    /// The number of computing parties.
    #[must_use]
    pub fn parties(&self) -> u8 {
        self.protocol.parties()
    }
}

/// The protocol with the number of `parties` and the `variant` that the file names, if it does.
pub(crate) fn among(top: &mut Section<'_>, protocol: Protocol) -> Result<Protocol, Fault> {
    let mut protocol = protocol;
    if let Some(parties) = top.take("parties") {
        let n = parties.number(2..=hushwire_session::MOST_PARTIES.into())? as u8;
        if protocol.authenticated().is_none() && n != protocol.parties() {
            let cause = format!("protocol {protocol} has {} parties", protocol::words(protocol.parties()));
            return Err(parties.error(cause, "leave `parties` out, or take protocol authgarble"));
        }
        protocol = protocol.among(n);
    }
    let variant = top.take("variant");
    let variant = variant.map(|v| v.parsed(|name| protocol.variant(name), "leave `variant` out"));
    Ok(variant.transpose()?.unwrap_or(protocol))
}

/// Reads a member. A party must be one of the protocol's. The plan checks clients, because it knows
/// all of them.
fn member_of(protocol: Protocol) -> impl Fn(&str) -> Result<Member, String> {
    move |text| {
        let member: Member = text.parse()?;
        match (&member, protocol.admits(&member)) {
            (Member::Party(_), Err((cause, _))) => Err(cause),
            _ => Ok(member),
        }
    }
}

fn for_example(protocol: Protocol) -> &'static str {
    if protocol.has_clients() {
        "write \"party0\" or \"client:alice\""
    } else {
        "write \"party0\" or \"party1\""
    }
}

fn circuit(top: &mut Section<'_>) -> Result<CircuitSource, Fault> {
    let file = top.take("circuit-file");
    if let Some(file) = file {
        if let Some(builtin) = top.take("circuit") {
            return Err(builtin.error("stands beside `circuit-file`", "keep one of them"));
        }
        return file.path().map(CircuitSource::File);
    }
    let builtin = top.need("circuit", "circuit = \"less:32\", or circuit-file = \"adder.txt\"")?;
    Ok(CircuitSource::Builtin(builtin.text()?.to_owned()))
}

/// Reads `[[inputs]]` or `[[outputs]]`. Each entry has a name of its own; the default is its place.
fn named<T>(
    list: Option<TomlValue<'_>>,
    what: &str,
    read: impl Fn(&mut Section<'_>, String) -> Result<T, Fault>,
) -> Result<Vec<T>, Fault> {
    let Some(list) = list else { return Ok(vec![]) };
    let mut names: Vec<String> = vec![];
    let mut all = vec![];
    for (i, mut section) in list.sections()?.into_iter().enumerate() {
        let given = section.take("name");
        let name = match &given {
            Some(value) => {
                value.parsed(check_name, "choose a plain name")?;
                value.text()?.to_owned()
            }
            None => i.to_string(),
        };
        if names.contains(&name) {
            let cause = format!("{name:?} is taken by another {what}");
            return Err(match given {
                Some(value) => value.error(cause, "choose another name"),
                None => section.error(cause, "give this one a name"),
            });
        }
        names.push(name.clone());
        all.push(read(&mut section, name)?);
        section.finish()?;
    }
    Ok(all)
}

fn recipients(protocol: Protocol, value: TomlValue<'_>) -> Result<Vec<Member>, Fault> {
    let mut to: Vec<Member> = vec![];
    for item in value.list()? {
        let member = item.parsed(member_of(protocol), for_example(protocol))?;
        if to.contains(&member) {
            return Err(item.error(format!("names {member} twice"), "name each recipient once"));
        }
        to.push(member);
    }
    // The order has no meaning, and plans must compare equal without it.
    to.sort();
    Ok(to)
}

fn parameters(value: TomlValue<'_>) -> Result<Parameters, Fault> {
    let mut section = value.section()?;
    let mut number = |key, most| -> Result<Option<u64>, Fault> {
        section.take(key).map(|v| v.number(1..=most)).transpose()
    };
    let batch = number("batch", MOST_BATCH)?;
    let (threads, lanes) = (number("threads", MOST_THREADS)?, number("lanes", MOST_LANES)?);
    section.finish()?;
    Ok(Parameters {
        batch: batch.map(|n| n as u32),
        threads: threads.map(|n| n as u16),
        lanes: lanes.map(|n| n as u16),
    })
}
