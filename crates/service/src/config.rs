//! The config file of a party, read strictly.

use crate::store::Upgrade;
use hushwire_fault::Fault;
use hushwire_session::{
    InputPlace, KeyPlaces, address, input_place, size,
    toml_file::{Section, Source, TomlValue},
};
use hushwire_wire::Pin;
use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    time::Duration,
};

/// LOCAL: how long results are kept, by default.
const KEEP: Duration = Duration::from_secs(30 * 86_400);
/// LOCAL: how often parties greet each other, by default.
const GREET: Duration = Duration::from_secs(5);
/// LOCAL: the memory limit of a worker by default, in bytes.
const MEMORY: u64 = 2 << 30;

/// The config of a party. No `Debug`: values of the party's own inputs may be in it.
#[derive(Clone)]
pub(crate) struct Config {
    /// The name of the group, the same at all its parties.
    pub(crate) group: String,
    /// This party's number.
    pub(crate) party: u8,
    /// Where clients dial.
    pub(crate) listen_api: String,
    /// Where the other parties dial.
    pub(crate) listen_party: String,
    /// How clients reach this party, as `https://host:port`.
    pub(crate) url: String,
    /// The PEM file with the certificate and the private key.
    pub(crate) key: PathBuf,
    /// The file of the master key, under which keys at rest are sealed.
    pub(crate) master_key: PathBuf,
    /// The SQLite file.
    pub(crate) store: PathBuf,
    /// The directory of sealed parts and results.
    pub(crate) blobs: PathBuf,
    /// How long results are kept.
    pub(crate) keep: Duration,
    /// The most attempts at the same time.
    pub(crate) slots: u32,
    /// The most workers that wait for another run of their job.
    pub(crate) warm: u32,
    /// The memory limit of a worker, in bytes.
    pub(crate) memory: u64,
    /// The most attempts of a job.
    pub(crate) attempts: u32,
    /// How long attempts may go on after SIGTERM.
    pub(crate) drain: Duration,
    /// How often parties greet each other.
    pub(crate) greet: Duration,
    /// The keys of operators, whose signatures under policies count.
    pub(crate) operators: Vec<String>,
    /// The party's own inputs, by name.
    pub(crate) inputs: BTreeMap<String, InputPlace>,
    /// The party's settings for encryptions.
    pub(crate) keys: KeyPlaces,
    /// The directory of preprocessing for authenticated garbling, if the party keeps any.
    pub(crate) shelf: Option<PathBuf>,
    /// The directory of signed policies that is watched, if there is one.
    pub(crate) policies: Option<PathBuf>,
    /// Whether the store is brought to the newest schema. The file does not set it.
    pub(crate) upgrade: Upgrade,
    /// The other parties.
    pub(crate) peers: Vec<PeerParty>,
}

/// Another party of the group.
#[derive(Clone, Debug)]
pub(crate) struct PeerParty {
    /// Its number.
    pub(crate) party: u8,
    /// How clients reach it.
    pub(crate) url: String,
    /// Its party port.
    pub(crate) address: String,
    /// The pins of its certificate: two while its key is rotated.
    pub(crate) pins: Vec<Pin>,
}

impl Config {
    /// Reads a config file.
    pub(crate) fn read(path: &Path) -> Result<Self, Fault> {
        Self::from_source(&Source::read(path)?)
    }

    fn from_source(source: &Source) -> Result<Self, Fault> {
        let mut top = source.sections()?;
        let name = "write 1 to 64 letters, digits, '-', '_' and '.'";
        let check = |text: &str| hushwire_session::check_name(text).map(|()| text.to_owned());
        let group = top.need("group", "group = \"demo\"")?.parsed(check, name)?;
        let party = top.need("party", "party = 0")?.number(0..=7)? as u8;
        let host_port = "write host:port, as \"0.0.0.0:7443\"";
        let listen_api =
            top.need("listen-api", "listen-api = \"0.0.0.0:7443\"")?.parsed(address, host_port)?;
        let listen_party =
            top.need("listen-party", "listen-party = \"0.0.0.0:7400\"")?.parsed(address, host_port)?;
        let url = top.need("url", "url = \"https://party0.example:7443\"")?.parsed(url, URL)?;
        let key = top.need("key", "key = \"party0.pem\"")?.path()?;
        let master_key = top.need("master-key", "master-key = \"master.key\"")?.path()?;
        let store = top.need("store", "store = \"store.db\"")?.path()?;
        let blobs = top.need("blobs", "blobs = \"blobs\"")?.path()?;
        let keep = top.take("keep").map(|v| v.parsed(days, "write days, as in \"30d\"")).transpose()?;
        let slots = top.number("slots", 1..=8)?.unwrap_or(2) as u32;
        let warm = top.number("warm", 0..=64)?.map_or(slots, |warm| warm as u32);
        let memory = top.take("memory").map(|v| v.parsed(size::parse, "write a size, as in \"1GiB\""));
        let memory = memory.transpose()?.unwrap_or(MEMORY);
        let attempts = top.number("attempts", 1..=20)?.unwrap_or(3) as u32;
        let drain = top.take("drain").map(|v| v.duration()).transpose()?.unwrap_or(Duration::from_secs(600));
        let greet = top.take("greet").map(|v| v.duration()).transpose()?.unwrap_or(GREET);
        let operators = match top.take("operators") {
            Some(list) => list.list()?.iter().map(|v| v.parsed(hex_key, HEX)).collect::<Result<_, _>>()?,
            None => vec![],
        };
        let inputs = top.take("inputs").map_or(Ok(BTreeMap::new()), places)?;
        let keys = top.take("aes-ctr").map(|value| KeyPlaces::from_section(value.section()?)).transpose()?;
        let shelf = top.take("authgarble").map(shelf).transpose()?;
        let policies = top.take("policies").map(|value| value.path()).transpose()?;
        let peers = match top.take("peers") {
            Some(list) => list.sections()?.into_iter().map(peer).collect::<Result<Vec<_>, _>>()?,
            None => return Err(top.lacks("peers", "[[peers]] with party, url, address and pin")),
        };
        let count = peers.len();
        for (i, one) in peers.iter().enumerate() {
            if one.party == party || peers[..i].iter().any(|other| other.party == one.party) {
                return Err(top.error(
                    format!("party {} is listed twice", one.party),
                    "give this party and each of [[peers]] a number of its own",
                ));
            }
            if usize::from(one.party) > count {
                return Err(top.error(
                    format!("there is a party {} of {} parties", one.party, count + 1),
                    "number the parties from 0",
                ));
            }
        }
        if usize::from(party) > count {
            return Err(top.error("`party` is larger than the group", "number the parties from 0"));
        }
        top.finish()?;
        Ok(Self {
            group,
            party,
            listen_api,
            listen_party,
            url,
            key,
            master_key,
            store,
            blobs,
            keep: keep.unwrap_or(KEEP),
            slots,
            warm,
            memory,
            attempts,
            drain,
            greet,
            operators,
            inputs,
            keys: keys.unwrap_or_default(),
            shelf,
            policies,
            upgrade: Upgrade::Newest,
            peers,
        })
    }

    /// The number of parties.
    pub(crate) fn parties(&self) -> u8 {
        self.peers.len() as u8 + 1
    }

    /// The digest of what all parties of the group must have alike: its name and the number of
    /// parties. Pins are left out, so that a key can be rotated.
    pub(crate) fn group_digest(&self) -> String {
        let mut hash = blake3::Hasher::new_derive_key("hushwire service group v1");
        hash.update(&(self.group.len() as u64).to_le_bytes()).update(self.group.as_bytes());
        hash.update(&[self.parties()]);
        hash.finalize().to_hex().to_string()
    }

    /// The protocol of the group, as job files name it.
    pub(crate) fn protocol(&self) -> &'static str {
        match self.parties() {
            2 => "two",
            3 => "rep3",
            _ => "authgarble",
        }
    }
}

const URL: &str = "write it as clients dial it, as \"https://party0.example:7443\"";
const HEX: &str = "write the 64 hexadecimal digits of an operator's public key";

fn url(text: &str) -> Result<String, String> {
    let rest = text.strip_prefix("https://").ok_or("it does not begin with https://")?;
    let rest = rest.trim_end_matches('/');
    address(rest)?;
    Ok(format!("https://{rest}"))
}

fn hex_key(text: &str) -> Result<String, String> {
    let mut key = [0; 32];
    hex::decode_to_slice(text, &mut key).map_err(|e| e.to_string())?;
    Ok(text.to_ascii_lowercase())
}

/// Reads a number of days, such as `30d`.
fn days(text: &str) -> Result<Duration, String> {
    let number = text.strip_suffix('d').and_then(|n| n.trim().parse::<u64>().ok());
    let number = number.filter(|n| (1..=36_500).contains(n)).ok_or("it is no number of days")?;
    Ok(Duration::from_secs(number * 86_400))
}

fn places(value: TomlValue<'_>) -> Result<BTreeMap<String, InputPlace>, Fault> {
    let all = value.section()?.rest().into_iter();
    all.map(|(name, value)| Ok((name, input_place(value.section()?)?))).collect()
}

/// The table `[authgarble]`.
fn shelf(value: TomlValue<'_>) -> Result<PathBuf, Fault> {
    let mut section = value.section()?;
    let path = section.need("shelf", "shelf = \"shelf0\"")?.path()?;
    section.finish()?;
    Ok(path)
}

fn peer(mut section: Section<'_>) -> Result<PeerParty, Fault> {
    let party = section.need("party", "party = 1")?.number(0..=7)? as u8;
    let address =
        section.need("address", "address = \"party1.example:7400\"")?.parsed(address, "write host:port")?;
    let url = section.need("url", "url = \"https://party1.example:7443\"")?.parsed(url, URL)?;
    let remedy = "write what `hushwire keys pin` prints at that party";
    let parse = |text: &str| text.parse::<Pin>().map_err(|e| e.cause());
    let mut pins = vec![section.need("pin", "pin = \"sha256:…\"")?.parsed(parse, remedy)?];
    pins.extend(section.parsed("next-pin", parse, remedy)?);
    section.finish()?;
    Ok(PeerParty { party, url, address, pins })
}

#[cfg(test)]
mod tests {
    use super::*;

    const PIN: &str = "sha256:abababababababababababababababababababababababababababababababab";

    fn text() -> String {
        let mut text =
            "group = \"demo\"\nparty = 0\nlisten-api = \"127.0.0.1:0\"\nlisten-party = \"127.0.0.1:0\"\n\
             url = \"https://localhost:7443/\"\nkey = \"party0.pem\"\nmaster-key = \"master.key\"\n\
             store = \"store.db\"\nblobs = \"blobs\"\nkeep = \"7d\"\n"
                .to_owned();
        for party in [1, 2] {
            text += &format!(
                "[[peers]]\nparty = {party}\nurl = \"https://h{party}:7443\"\naddress = \"h{party}:7400\"\npin = \"{PIN}\"\n"
            );
        }
        text
    }

    fn read(text: &str) -> Result<Config, String> {
        Config::from_source(&Source::new(Path::new("/etc/hushwire/party0.toml"), text))
            .map_err(|e| e.to_string())
    }

    #[test]
    fn a_config_is_read_with_paths_from_where_it_is() {
        let config = read(&text()).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!((config.parties(), config.protocol(), config.slots), (3, "rep3", 2));
        assert_eq!(config.store, Path::new("/etc/hushwire/store.db"));
        assert_eq!(config.keep, Duration::from_secs(7 * 86_400));
        assert_eq!(config.url, "https://localhost:7443");
        assert_eq!(config.peers[1].pins.len(), 1);
    }

    #[test]
    fn what_is_wrong_is_named_with_its_line() {
        for (from, to, says) in [
            ("slots", "slots", ""),
            ("keep = \"7d\"", "keep = \"7\"", "line 10"),
            ("keep = \"7d\"", "kepe = \"7d\"", "did you mean `keep`?"),
            ("https://localhost", "http://localhost", "https://"),
            ("party = 1\n", "party = 0\n", "listed twice"),
            ("party = 2\n", "party = 4\n", "number the parties from 0"),
            ("store = \"store.db\"\n", "", "`store` is missing"),
        ] {
            let error = read(&text().replacen(from, to, 1)).err().unwrap_or_default();
            assert!(error.contains(says) && (says.is_empty() == error.is_empty()), "{from} {to}: {error}");
        }
    }

    #[test]
    fn the_group_is_the_same_whoever_reads_it_and_whatever_the_pins() {
        let one = read(&text()).unwrap_or_else(|e| panic!("{e}"));
        let other = text().replace("ab", "cd");
        let other = read(&other).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(one.group_digest(), other.group_digest());
        let renamed = read(&text().replace("demo", "other")).unwrap_or_else(|e| panic!("{e}"));
        assert_ne!(one.group_digest(), renamed.group_digest());
    }
}
