//! The party file and the client file. Each member has its own, which says who the member is, where
//! the others are, and where values are.
//!
//! Both files are TOML and are read strictly. A warning is given if other users can read secrets in
//! a file.

use crate::{
    Allowed, Fault, Member, Warning, as_text,
    keys::KeyPlaces,
    protocol::by_name,
    read_private_key,
    shards::{peer_shards, shard_address},
    toml_file::{Section, Source, TomlValue},
};
use hushwire_block::Wiped;
use hushwire_files::{DIALECT_OPTIONS, Dialect};
use hushwire_wire::{Identity, Pin, TransportKind};
use serde::{Deserialize, Serialize};
use std::{
    collections::BTreeMap,
    fs::{self, File},
    net::Ipv6Addr,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

/// LOCAL: the default for the longest time that all peers together may take to connect.
pub(crate) const CONNECT: Duration = Duration::from_secs(60);
/// LOCAL: the default for the longest time that a step waits for a peer that is alive while no byte
/// moves. Dead peers are detected within seconds whatever this limit is. An owner may have to wait
/// for a long computation to end.
pub(crate) const STALL: Duration = Duration::from_secs(3600);

/// The place of an input's value. No `Debug`: it may hold values.
#[derive(Clone, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum InputPlace {
    /// A file with one record for each instance, one after the other.
    File(#[serde(with = "as_text::path")] PathBuf),
    /// Hexadecimal digits in the party file itself, for one instance.
    Hex(#[serde(with = "as_text::secret")] Wiped<String>),
    /// A file of hexadecimal digits, for one instance.
    HexFile(#[serde(with = "as_text::path")] PathBuf),
    /// Bytes in memory, with the contents of an [`InputPlace::File`].
    Memory(#[serde(with = "as_text::bytes")] Arc<Wiped<Vec<u8>>>),
    /// Columns of the CSV file at a place, which is an [`InputPlace::File`] or an
    /// [`InputPlace::Memory`]. For computations.
    Csv(Box<InputPlace>, Vec<String>),
    /// Elements as text, separated by commas. For computations.
    Values(#[serde(with = "as_text::secret")] Wiped<String>),
    /// A table in files of one dialect, each an [`InputPlace::File`] or an [`InputPlace::Memory`],
    /// one after the other. For queries, intersections and columns of computations.
    Table(Vec<InputPlace>, Dialect),
    /// The contents of an [`InputPlace::File`] in a file that this process has open at its
    /// beginning, with its name for messages.
    #[serde(skip)]
    Open(Arc<File>, PathBuf),
}

impl InputPlace {
    /// A place in memory, with the bytes of an [`InputPlace::File`].
    #[must_use]
    pub fn memory(bytes: impl Into<Vec<u8>>) -> Self {
        Self::Memory(Arc::new(Wiped::new(bytes.into())))
    }

    /// The file that is read, if the place is a single file.
    #[must_use]
    pub fn path(&self) -> Option<&Path> {
        match self {
            Self::File(path) | Self::HexFile(path) | Self::Open(_, path) => Some(path),
            Self::Csv(place, _) => place.path(),
            Self::Table(places, _) => places.first().and_then(Self::path),
            Self::Hex(_) | Self::Memory(_) | Self::Values(_) => None,
        }
    }

    /// All files that are read.
    #[must_use]
    pub fn paths(&self) -> Vec<&Path> {
        match self {
            Self::Table(places, _) => places.iter().filter_map(Self::path).collect(),
            Self::Csv(place, _) => place.paths(),
            place => place.path().into_iter().collect(),
        }
    }

    /// Whether each of a member's shards may read a part of it by itself. That holds if all files
    /// are Parquet files by their names.
    #[must_use]
    pub fn is_read_in_parts(&self) -> bool {
        match self {
            Self::File(path) => hushwire_files::is_parquet(path),
            Self::Table(places, _) => !places.is_empty() && places.iter().all(Self::is_read_in_parts),
            _ => false,
        }
    }

    /// The places of a table's files, and their dialect. Options that the place does not set are
    /// those of `base`.
    #[must_use]
    pub fn as_table(&self, base: &Dialect) -> (Vec<&InputPlace>, Dialect) {
        match self {
            Self::Table(places, dialect) => (places.iter().collect(), dialect.clone().over(base)),
            Self::Csv(place, _) => place.as_table(base),
            place => (vec![place], base.clone()),
        }
    }
}

/// The place of an output's value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OutputPlace {
    /// A file with one record for each instance, one after the other.
    File(#[serde(with = "as_text::path")] PathBuf),
    /// A file of hexadecimal digits, for one instance.
    HexFile(#[serde(with = "as_text::path")] PathBuf),
    /// A CSV file with one or several columns. For computations.
    Csv(#[serde(with = "as_text::path")] PathBuf),
    /// An unnamed file that is returned to the caller. For encryptions.
    Unnamed,
    /// Hexadecimal digits that are returned to the caller, for one instance. Kinds whose outputs
    /// are text return text.
    Show,
    /// Bytes that are returned to the caller, with the contents of an [`OutputPlace::File`].
    Memory,
    /// No place: another recipient keeps the output.
    Discard,
}

/// A peer that this member has links with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Peer {
    /// The peer.
    pub member: Member,
    /// The address on which it listens; `None` for a client, which dials.
    pub address: Option<String>,
    /// The fingerprint of its certificate.
    #[serde(with = "by_name::one")]
    pub pin: Pin,
}

/// The part that a party file and a client file have in common.
#[derive(Clone)]
pub struct MemberFile {
    /// The path of this file.
    pub file: PathBuf,
    /// The member whose file this is.
    pub me: Member,
    /// The PEM file with certificate and private key.
    pub key: PathBuf,
    /// The transport of the links.
    pub transport: TransportKind,
    /// The longest time to wait for all peers together.
    pub connect_timeout: Duration,
    /// The longest time that a step waits while no byte moves.
    pub stall: Duration,
    /// The peers.
    pub peers: Vec<Peer>,
    /// The addresses of other parties' shards, in order. A single address with
    /// [`SHARD_WORD`](crate::shards::SHARD_WORD) stands for all.
    pub shards: BTreeMap<Member, Vec<String>>,
    /// Values of inputs, by name.
    pub inputs: BTreeMap<String, InputPlace>,
    /// Places of outputs, by name.
    pub outputs: BTreeMap<String, OutputPlace>,
    /// The member's settings for encryptions.
    pub keys: KeyPlaces,
    /// The directory of preprocessing that was made ahead, if the member keeps any.
    pub shelf: Option<PathBuf>,
    /// The jobs in which the member takes part; with `None`, all jobs.
    pub allowed: Option<Allowed>,
    /// The file with some of the allowed digests.
    pub allow_file: Option<PathBuf>,
    /// Warnings about settings that are valid, but should be changed.
    pub warnings: Vec<Warning>,
}

/// A party file. No `Debug`: it may hold inputs.
#[derive(Clone)]
pub struct PartyFile {
    /// The address on which this party listens.
    pub listen: String,
    /// The part that party files and client files share.
    pub member: MemberFile,
}

/// A client file. No `Debug`: it may hold inputs.
#[derive(Clone)]
pub struct ClientFile(pub MemberFile);

impl PartyFile {
    /// Reads a party file.
    ///
    /// # Errors
    /// The file cannot be read, or a line of it is invalid; the message names the line.
    pub fn read(path: &Path) -> Result<Self, Fault> {
        let file = Self::from_source(&Source::read(path)?)?;
        Ok(Self { member: file.member.watched(path), ..file })
    }

    /// Reads the text of a party file. Messages name `path`, and paths in the file are relative to
    /// it.
    ///
    /// # Errors
    /// A line is invalid.
    pub fn parse(text: &str, path: &Path) -> Result<Self, Fault> {
        Self::from_source(&Source::new(path, text))
    }

    fn from_source(source: &Source) -> Result<Self, Fault> {
        let mut top = source.sections()?;
        not_a_job(&top)?;
        if top.has("name") && !top.has("index") {
            return Err(top.error("this is a client's file", "run it with `hushwire client`"));
        }
        let index = top.need("index", "index = 0")?.number(0..=u64::from(crate::MOST_PARTIES) - 1)? as u8;
        let listen = top.need("listen", "listen = \"0.0.0.0:7000\"")?;
        let at = listen.parsed(address, "write host:port, as \"0.0.0.0:7000\"")?;
        let member = MemberFile::rest(top, Member::Party(index), true)?;
        fits(&listen, &at, member.transport)?;
        Ok(Self { listen: at, member })
    }
}

impl ClientFile {
    /// Reads a client file.
    ///
    /// # Errors
    /// The file cannot be read, or a line of it is invalid; the message names the line.
    pub fn read(path: &Path) -> Result<Self, Fault> {
        Ok(Self(Self::from_source(&Source::read(path)?)?.0.watched(path)))
    }

    /// Reads the text of a client file. Messages name `path`, and paths in the file are relative to
    /// it.
    ///
    /// # Errors
    /// A line is invalid.
    pub fn parse(text: &str, path: &Path) -> Result<Self, Fault> {
        Self::from_source(&Source::new(path, text))
    }

    /// Reads a client file that may name no peers: the caller knows them from elsewhere.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub fn read_without_peers(path: &Path) -> Result<Self, Fault> {
        Ok(Self(Self::of(&Source::read(path)?, false)?.0.watched(path)))
    }

    fn from_source(source: &Source) -> Result<Self, Fault> {
        Self::of(source, true)
    }

    fn of(source: &Source, needs_peers: bool) -> Result<Self, Fault> {
        let mut top = source.sections()?;
        not_a_job(&top)?;
        if top.has("index") && !top.has("name") {
            return Err(top.error("this is a party's file", "run it with `hushwire party`"));
        }
        let name = top.need("name", "name = \"alice\"")?;
        let me = name
            .parsed(|n| format!("client:{n}").parse(), "write the name that the job has for this client")?;
        MemberFile::rest(top, me, needs_peers).map(Self)
    }
}

/// Refuses keys that only job files have. They show that the two files were confused.
fn not_a_job(top: &Section<'_>) -> Result<(), Fault> {
    match ["kind", "protocol", "circuit", "circuit-file", "computation", "owner"]
        .iter()
        .any(|key| top.has(key))
    {
        true => {
            Err(top.error("this is a job file", "name it first, and this member's own file with --config"))
        }
        false => Ok(()),
    }
}

impl MemberFile {
    /// Reads the file of a party or a client. Returns the address on which a party listens, and the
    /// part that both share.
    ///
    /// # Errors
    /// The file cannot be read, or a line of it is invalid; the message names the line.
    pub fn read(path: &Path) -> Result<(Option<String>, Self), Fault> {
        let source = Source::read(path)?;
        let top = source.sections()?;
        let (listen, file) = if top.has("name") && !top.has("index") {
            (None, ClientFile::from_source(&source)?.0)
        } else {
            let PartyFile { listen, member } = PartyFile::from_source(&source)?;
            (Some(listen), member)
        };
        Ok((listen, file.watched(path)))
    }

    fn rest(mut top: Section<'_>, me: Member, needs_peers: bool) -> Result<Self, Fault> {
        let key = top.need("key", "key = \"party0.pem\"")?.path()?;
        let transport = top.parsed("transport", transport_named, "write \"tcp-tls\"")?;
        let connect_timeout = top.take("connect-timeout").map(|v| v.duration()).transpose()?;
        let stall = top.take("stall").map(|v| v.duration()).transpose()?;
        let (peers, shards) = match top.take("peers") {
            Some(list) => peers(&me, list, transport.unwrap_or(TransportKind::TcpTls))?,
            None if !needs_peers => Default::default(),
            None => {
                return Err(top.error("no peers are listed", "add a [[peers]] table for each of the others"));
            }
        };
        let allow_file = top.take("allow-file").map(|file| file.path()).transpose()?;
        let allowed = allowed(top.take("allow"), allow_file.as_deref())?;
        let file = top.file().to_path_buf();
        let inputs = places(top.take("inputs"), input_place)?;
        let outputs = places(top.take("outputs"), output_place)?;
        let keys = top.take("aes-ctr").map(|v| KeyPlaces::from_section(v.section()?));
        let keys = keys.transpose()?.unwrap_or_default();
        let shelf = top.take("authgarble").map(|v| shelf(v.section()?)).transpose()?;
        top.finish()?;
        Ok(Self {
            file,
            me,
            key,
            transport: transport.unwrap_or(TransportKind::TcpTls),
            connect_timeout: connect_timeout.unwrap_or(CONNECT),
            stall: stall.unwrap_or(STALL),
            peers,
            shards,
            inputs,
            outputs,
            keys,
            shelf,
            allowed,
            allow_file,
            warnings: vec![],
        })
    }

    /// Adds warnings about secrets that other users can read.
    fn watched(mut self, path: &Path) -> Self {
        if self.inputs.values().any(|place| matches!(place, InputPlace::Hex(_) | InputPlace::Values(_)))
            && others_can_read(path)
        {
            self.warnings.push(Warning {
                cause: format!("{} holds an input and other users can read it", path.display()),
                remedy: "run chmod 600 on it, or name a file of the input with `file`".to_owned(),
            });
        }
        self
    }

    /// The certificate and the private key of this member.
    ///
    /// # Errors
    /// The key file cannot be read, holds something else, or can be read or changed by others
    /// ([`read_private_key`]).
    pub fn identity(&self) -> Result<Identity, Fault> {
        Identity::from_pem(&read_private_key(&self.key)?)
            .map_err(|e| Fault::file("use the key", &self.key, e.cause(), e.remedy()))
    }
}

/// Joins the digests under `allow` with those in the file under `allow-file`.
fn allowed(digests: Option<TomlValue<'_>>, file: Option<&Path>) -> Result<Option<Allowed>, Fault> {
    let mut allowed = file.map(Allowed::read).transpose()?;
    if let Some(digests) = digests {
        let remedy = "write what `hushwire job digest JOB.toml` prints, as in [\"blake3:…\"]";
        let digests = digests
            .list()?
            .iter()
            .map(|digest| digest.parsed(str::parse, remedy))
            .collect::<Result<Vec<_>, _>>()?;
        allowed.get_or_insert_default().extend(digests);
    }
    Ok(allowed)
}

/// The table `[authgarble]`.
fn shelf(mut section: Section<'_>) -> Result<PathBuf, Fault> {
    let path = section.need("shelf", "shelf = \"shelf0\"")?.path()?;
    section.finish()?;
    Ok(path)
}

fn others_can_read(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|meta| meta.permissions().mode() & 0o077 != 0)
}

fn transport_named(name: &str) -> Result<TransportKind, String> {
    name.parse().map_err(|e: hushwire_machine::NetError| match e {
        hushwire_machine::NetError::Config { what, .. } => what,
        other => other.to_string(),
    })
}

/// Checks an address: `host:port`, which is not resolved yet, or `unix:/path`. An IPv6 address is
/// in brackets before its port.
///
/// # Errors
/// The text is neither.
pub fn address(text: &str) -> Result<String, String> {
    if text.strip_prefix("unix:").is_some_and(|path| !path.is_empty()) {
        return Ok(text.to_owned());
    }
    // A host that still contains colons is an IPv6 address, in brackets or in a form that std
    // accepts, or one without its port.
    let is_host = |host: &str| {
        !host.is_empty()
            && (!host.contains(':')
                || host.starts_with('[') && host.ends_with(']')
                || host.parse::<Ipv6Addr>().is_ok())
    };
    match text.rsplit_once(':') {
        Some((host, port)) if is_host(host) && port.parse::<u16>().is_ok() => Ok(text.to_owned()),
        _ => Err(format!("{text:?} is not host:port")),
    }
}

/// Refuses an address in the form of another transport.
fn fits(value: &TomlValue<'_>, address: &str, transport: TransportKind) -> Result<(), Fault> {
    match (transport.is_local(), address.starts_with("unix:")) {
        (true, false) => Err(value.error(
            format!("is an address for TCP, and the transport is {transport}"),
            "write \"unix:/PATH\", a socket's file on this host; between hosts write transport = \"tcp-tls\", or leave it out",
        )),
        (false, true) => Err(value.error(
            format!("is a socket's file on this host, and the transport is {transport}"),
            "write host:port, as \"10.0.0.2:7000\"; among processes of this host write transport = \"unix\" or \"shm\"",
        )),
        _ => Ok(()),
    }
}

/// Peers, and the addresses of their shards.
type Peers = (Vec<Peer>, BTreeMap<Member, Vec<String>>);

fn peers(me: &Member, list: TomlValue<'_>, transport: TransportKind) -> Result<Peers, Fault> {
    let (mut peers, mut shards): Peers = Default::default();
    for mut section in list.sections()? {
        let (index, client) = (section.take("index"), section.take("client"));
        let member = match (&index, &client) {
            (Some(index), None) => Member::Party(index.number(0..=u64::from(crate::MOST_PARTIES) - 1)? as u8),
            (None, Some(name)) => {
                name.parsed(|n| format!("client:{n}").parse(), "write the name that the job has for it")?
            }
            (Some(_), Some(client)) => return Err(client.error("stands beside `index`", "keep one of them")),
            (None, None) => return Err(section.lacks("index", "index = 1, or client = \"alice\"")),
        };
        let named = index.or(client);
        let wrong = |cause: &str, remedy: &str| match &named {
            Some(value) => value.error(cause, remedy),
            None => Fault::internal("reading [[peers]]", cause),
        };
        if member == *me {
            return Err(wrong("is this member itself", "list the others only"));
        }
        if peers.iter().any(|p| p.member == member) {
            return Err(wrong("is listed twice", "keep one of them"));
        }
        let address = match &member {
            Member::Party(_) => {
                let of_shards = section.take("shards").map(peer_shards).transpose()?;
                match (section.has("address"), of_shards) {
                    // A job that runs on one shard runs on the first.
                    (false, Some(all)) => {
                        let first = shard_address(&all[0], 0);
                        shards.insert(member.clone(), all);
                        Some(first)
                    }
                    (_, of_shards) => {
                        shards.extend(of_shards.map(|all| (member.clone(), all)));
                        let value = section.need("address", "address = \"10.0.0.2:7000\"")?;
                        let address = value.parsed(address, "write host:port, as \"10.0.0.2:7000\"")?;
                        fits(&value, &address, transport)?;
                        Some(address)
                    }
                }
            }
            Member::Client(_) | Member::Data(_) | Member::Recipient(_) => {
                if let Some(value) = section.take("address").or_else(|| section.take("shards")) {
                    return Err(value.error("is not used: clients dial", "leave it out"));
                }
                None
            }
        };
        let pin = section.need("pin", "pin = \"sha256:…\", as `hushwire keys pin` prints it")?;
        let read = |text: &str| text.parse().map_err(|e: hushwire_wire::IdentityError| e.cause());
        let pin = pin.parsed(read, "copy what `hushwire keys pin` prints at the peer")?;
        section.finish()?;
        peers.push(Peer { member, address, pin });
    }
    Ok((peers, shards))
}

/// Reads `[inputs]` or `[outputs]`, whose keys are names of the job.
fn places<T>(
    value: Option<TomlValue<'_>>,
    read: impl Fn(Section<'_>) -> Result<T, Fault>,
) -> Result<BTreeMap<String, T>, Fault> {
    let Some(value) = value else { return Ok(BTreeMap::new()) };
    let all = value.section()?.rest().into_iter();
    all.map(|(name, value)| Ok((name, read(value.section()?)?))).collect()
}

const TABLE: &str = "name it, as in { file = \"a.csv\", separator = \";\" }";

/// A table in one file, or in several.
fn table(value: TomlValue<'_>, dialect: Dialect) -> Result<InputPlace, Fault> {
    let files = value.list()?;
    let mut places = files.iter().map(|file| Ok(InputPlace::File(file.path()?)));
    match (files.len(), dialect.is_default()) {
        (1, true) => places.next().unwrap_or_else(|| Ok(InputPlace::Table(vec![], dialect))),
        _ => Ok(InputPlace::Table(places.collect::<Result<_, Fault>>()?, dialect)),
    }
}

/// Reads the options of a table's file, whose keys are [`DIALECT_OPTIONS`].
///
/// # Errors
/// An option has an invalid value.
pub fn dialect(section: &mut Section<'_>) -> Result<Dialect, Fault> {
    let mut dialect = Dialect::default();
    for option in DIALECT_OPTIONS {
        let Some(value) = section.take(option.name) else { continue };
        if let Ok(flag) = value.flag() {
            let set = dialect.set(option.name, if flag { "yes" } else { "no" });
            set.map_err(|e| value.error(format!("cannot be used: {e}"), format!("give {}", option.values)))?;
            continue;
        }
        let line = value.error("cannot be used", format!("give {}", option.values));
        let values = value.list()?;
        let texts = values.iter().map(TomlValue::text).collect::<Result<Vec<_>, Fault>>()?;
        let set = dialect.set_list(option.name, &texts);
        set.map_err(|e| line.because(format!("`{}` cannot be used: {e}", option.name)))?;
    }
    Ok(dialect)
}

/// Reads the place of an input from its table.
///
/// # Errors
/// The table names no place or several, or has unknown keys.
pub fn input_place(mut section: Section<'_>) -> Result<InputPlace, Fault> {
    let (file, hex, hex_file) = (section.take("file"), section.take("hex"), section.take("hex-file"));
    let (csv, values) = (section.take("csv"), section.take("values"));
    let dialect = dialect(&mut section)?;
    if !dialect.is_default() && file.is_none() && csv.is_none() {
        return Err(section.error("options of a table's file are set, and no such file is named", TABLE));
    }
    let place = match (file, hex, hex_file, csv, values) {
        (Some(file), None, None, None, None) => table(file, dialect)?,
        (None, Some(hex), None, None, None) => InputPlace::Hex(Wiped::new(hex.text()?.to_owned())),
        (None, None, Some(file), None, None) => InputPlace::HexFile(file.path()?),
        (None, None, None, Some(file), None) => {
            let columns = section.need("column", "column = \"price\"")?.list()?;
            let columns = columns.iter().map(|column| Ok(column.text()?.to_owned()));
            InputPlace::Csv(Box::new(table(file, dialect)?), columns.collect::<Result<_, Fault>>()?)
        }
        (None, None, None, None, Some(values)) => InputPlace::Values(Wiped::new(values.text()?.to_owned())),
        (None, None, None, None, None) => return Err(section.lacks("file", "{ file = \"a.bin\" }")),
        _ => {
            let remedy = "keep one of `file`, `csv`, `values`, `hex` and `hex-file`";
            return Err(section.error("several places are named", remedy));
        }
    };
    section.finish().map(|()| place)
}

fn output_place(mut section: Section<'_>) -> Result<OutputPlace, Fault> {
    let place = match (section.take("file"), section.take("hex-file"), section.take("csv")) {
        (Some(file), None, None) => OutputPlace::File(file.path()?),
        (None, Some(file), None) => OutputPlace::HexFile(file.path()?),
        (None, None, Some(file)) => OutputPlace::Csv(file.path()?),
        (None, None, None) => return Err(section.lacks("file", "{ file = \"sum.bin\" }")),
        _ => {
            let remedy = "keep one of `file`, `csv` and `hex-file`";
            return Err(section.error("several places are named", remedy));
        }
    };
    section.finish().map(|()| place)
}
