//! The hosts file: the addresses at which a party's shards listen, and at which they find each
//! other.

use crate::{
    Fault, Member, MemberFile, Peer, address,
    shards::{MOST_SHARDS, ShardPlace},
    toml_file::{Section, Source, TomlValue},
};
use hushwire_fault::code;
use hushwire_wire::TransportKind;
use std::path::{Path, PathBuf};

/// The placeholder in an address for the number of a shard.
pub const SHARD_WORD: &str = "{shard}";

/// The shards of a party, in order.
///
/// ```toml
/// [[shards]]
/// listen = "0.0.0.0:7000"        # other members' processes dial this address
/// address = "10.0.0.10:7100"     # this party's other shards dial this address
/// bind = "0.0.0.0:7100"          # the address at which it listens for them, if it differs
///
/// [[shards]]
/// listen = "0.0.0.0:7000"
/// address = "10.0.0.11:7100"
/// ```
///
/// Hosts whose names contain the number of the shard are one table:
///
/// ```toml
/// count = 16
/// listen = "0.0.0.0:7000"
/// address = "party0-{shard}.party0:7100"
/// bind = "0.0.0.0:7100"
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hosts {
    /// The shards.
    pub shards: Vec<ShardHost>,
    /// The path of the file.
    pub path: PathBuf,
}

/// The addresses of one shard.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShardHost {
    /// The address at which it listens for other members' processes.
    pub listen: String,
    /// The address at which this party's other shards dial it.
    pub address: String,
    /// The address at which it listens for this party's other shards.
    pub bind: String,
}

impl Hosts {
    /// Reads a hosts file.
    ///
    /// # Errors
    /// The file cannot be read, or a line of it is invalid; the message names the line.
    pub fn read(path: &Path) -> Result<Self, Fault> {
        Self::from_source(&Source::read(path)?)
    }

    /// Reads the text of a hosts file; `path` is for messages.
    ///
    /// # Errors
    /// A line is invalid.
    pub fn parse(text: &str, path: &Path) -> Result<Self, Fault> {
        Self::from_source(&Source::new(path, text))
    }

    fn from_source(source: &Source) -> Result<Self, Fault> {
        let mut top = source.sections()?;
        let path = source.path().to_path_buf();
        if let Some(count) = top.take("count") {
            let count = count.number(1..=MOST_SHARDS as u64)? as usize;
            let all = Host::of(&mut top)?;
            top.finish()?;
            let shards: Vec<_> = (0..count).map(|shard| all.of_shard(shard)).collect();
            return Self { shards, path }.checked(source);
        }
        let list = top.need("shards", "[[shards]] with listen and address, or count = 2")?;
        let mut shards = vec![];
        for mut section in list.sections()? {
            let host = Host::of(&mut section)?;
            section.finish()?;
            shards.push(host.of_shard(shards.len()));
        }
        top.finish()?;
        Self { shards, path }.checked(source)
    }

    fn checked(self, source: &Source) -> Result<Self, Fault> {
        let wrong = |cause: String, remedy: &str| {
            let step = format!("reading {}", source.path().display());
            Fault::new(code::JOB_FILE, step, cause, remedy)
        };
        if !(1..=MOST_SHARDS).contains(&self.shards.len()) {
            let cause = format!("it lists {} shards, and a party has 1 to {MOST_SHARDS}", self.shards.len());
            return Err(wrong(cause, "add a [[shards]] table for each"));
        }
        for (at, host) in self.shards.iter().enumerate() {
            if let Some(other) = self.shards[..at].iter().position(|other| other.address == host.address) {
                let cause = format!("shards {other} and {at} have the same address, {}", host.address);
                return Err(wrong(cause, "give each shard an address of its own"));
            }
        }
        Ok(self)
    }

    /// Returns the address at which one shard listens for other members, and its place among the
    /// shards. It begins to listen for the other shards.
    ///
    /// # Errors
    /// There is no such shard, or the address is not available.
    pub fn place(&self, shard: usize, transport: TransportKind) -> Result<(String, ShardPlace), Fault> {
        let (listen, bind) =
            self.shards.get(shard).map_or(("", ""), |host| (host.listen.as_str(), host.bind.as_str()));
        let addresses = self.shards.iter().map(|host| host.address.clone()).collect();
        Ok((listen.to_owned(), ShardPlace::process(shard, bind, addresses, transport)?))
    }
}

/// A table as it is written, before numbers of shards replace the placeholder.
struct Host {
    listen: String,
    address: String,
    bind: Option<String>,
}

impl Host {
    fn of(section: &mut Section<'_>) -> Result<Self, Fault> {
        let of = |value: TomlValue<'_>| value.parsed(address, "write host:port, as \"10.0.0.2:7000\"");
        let listen = of(section.need("listen", "listen = \"0.0.0.0:7000\"")?)?;
        let at = of(section.need("address", "address = \"10.0.0.2:7100\"")?)?;
        let bind = section.take("bind").map(of).transpose()?;
        Ok(Self { listen, address: at, bind })
    }

    fn of_shard(&self, shard: usize) -> ShardHost {
        let [listen, address] = [&self.listen, &self.address].map(|text| shard_address(text, shard));
        let bind = self.bind.as_ref().map_or_else(|| address.clone(), |bind| shard_address(bind, shard));
        ShardHost { listen, address, bind }
    }
}

/// The address with the number of a shard in place of [`SHARD_WORD`].
#[must_use]
pub fn shard_address(address: &str, shard: usize) -> String {
    address.replace(SHARD_WORD, &shard.to_string())
}

/// The addresses of a peer's shards from a key `shards`: a list, or a single text with
/// [`SHARD_WORD`].
pub(crate) fn peer_shards(value: TomlValue<'_>) -> Result<Vec<String>, Fault> {
    let remedy = "write as [\"10.0.1.1:7000\", \"10.0.1.2:7000\"], or \"party1-{shard}:7000\"";
    let empty = value.error("lists no shard", remedy);
    let all: Vec<String> =
        value.list()?.iter().map(|value| value.parsed(address, remedy)).collect::<Result<_, _>>()?;
    if all.is_empty() { Err(empty) } else { Ok(all) }
}

impl MemberFile {
    /// The same file for one shard of this member. Its peers are the other parties' shards of the
    /// same number.
    ///
    /// # Errors
    /// The file has no address of that shard of a party, or has addresses of more shards than there
    /// are.
    pub fn of_shard(&self, shard: usize, shards: usize) -> Result<Self, Fault> {
        let peers = self.peers.iter().map(|peer| match peer.member {
            Member::Party(_) => {
                let known = self.shards.get(&peer.member).map_or(&[][..], Vec::as_slice);
                let address = match known {
                    [all] if all.contains(SHARD_WORD) => shard_address(all, shard),
                    list if list.len() == shards && shard < shards => list[shard].clone(),
                    list => {
                        let step = format!("reading {}", self.file.display());
                        let of = &peer.member;
                        let cause = format!("it has the addresses of {} shards of {of}, and the job runs on {shards}", list.len());
                        let remedy = format!(
                            "write shards = [\"host:port\", …] under [[peers]] of {of}, an address for each shard"
                        );
                        return Err(Fault::new(code::JOB_FILE, step, cause, remedy));
                    }
                };
                Ok(Peer { address: Some(address), ..peer.clone() })
            }
            _ => Ok(peer.clone()),
        });
        Ok(Self { peers: peers.collect::<Result<_, Fault>>()?, ..self.clone() })
    }
}
