//! The job file of an encryption: the owner of the file, the source of the key, and how the parties
//! compute.

use super::{
    cut::{CHUNK_BLOCKS, DEVICE_CONTEXTS, DEVICE_INSTANCES, FileCut, LANES},
    keystream,
};
use hushwire_rep3::{KeySize, Sbox};
use hushwire_session::{
    AgreedField, Agreement, Fault, Member, Protocol,
    suggest::Unknown,
    toml_file::{Section, TomlValue},
};
use serde::{Deserialize, Serialize};
use std::str::FromStr;

/// AGREEMENT: the version of the fields' meaning and of the bytes that a run sends.
const VERSION: u32 = 3;
/// AGREEMENT: the default number of compute threads.
const THREADS: u16 = 2;
/// The most blocks of a chunk that a job may ask for: 1 MiB of the file.
const MOST_BLOCKS: u64 = 1 << 16;

/// The source of the key.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum KeySource {
    /// The parties draw it in the first run, keep their shares, and use them in later ones.
    #[default]
    Kept,
    /// The owner of the file brings it, and the parties keep their shares of it.
    Imported,
    /// The owner of the file brings it, and the parties forget it.
    Given,
}

impl KeySource {
    /// The names in job files.
    pub const NAMES: [&str; 3] = ["kept", "imported", "given"];

    /// Its name in job files.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Kept => "kept",
            Self::Imported => "imported",
            Self::Given => "given",
        }
    }

    /// Whether the owner of the file brings the key.
    #[must_use]
    pub const fn is_the_owners(self) -> bool {
        matches!(self, Self::Imported | Self::Given)
    }
}

impl FromStr for KeySource {
    type Err = Unknown;

    fn from_str(text: &str) -> Result<Self, Unknown> {
        let all = [Self::Kept, Self::Imported, Self::Given];
        all.into_iter()
            .find(|source| source.name() == text)
            .ok_or_else(|| Unknown::among(format!("no key comes from {text:?}"), text, &Self::NAMES))
    }
}

/// The use of the keystream. Parties compute the same for both. They allow each separately, because
/// its owner chooses counters differently.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Direction {
    /// Uses counters that were never used before.
    #[default]
    Encrypt,
    /// Uses the counter of an earlier encryption, which the owner's ledger knows for the file.
    Decrypt,
}

impl Direction {
    /// The names in job files.
    pub const NAMES: [&str; 2] = ["encrypt", "decrypt"];

    /// Its name in job files.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Encrypt => "encrypt",
            Self::Decrypt => "decrypt",
        }
    }

    /// Tests whether it is decryption.
    #[must_use]
    pub const fn decrypts(self) -> bool {
        matches!(self, Self::Decrypt)
    }
}

impl FromStr for Direction {
    type Err = Unknown;

    fn from_str(text: &str) -> Result<Self, Unknown> {
        let mut all = [Self::Encrypt, Self::Decrypt].into_iter();
        all.find(|direction| direction.name() == text)
            .ok_or_else(|| Unknown::among(format!("there is no direction {text:?}"), text, &Self::NAMES))
    }
}

/// A job that encrypts or decrypts a file of one client.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AesCtrJob {
    /// The client that brings the file and learns the result.
    pub owner: String,
    /// Whether the file is encrypted or decrypted; a term of the job.
    pub direction: Direction,
    /// The source of the key.
    pub key: KeySource,
    /// The size of the key in bits: 128, 192 or 256.
    pub key_bits: usize,
    /// How the file is cut into chunks, and the S-box.
    pub cut: FileCut,
}

impl AesCtrJob {
    /// The key by which job files name this kind.
    pub const KIND: &str = "aes-ctr";
    /// The name of the input in member files.
    pub const DATA: &str = "data";
    /// The name of the key in the owner's file.
    pub const KEY: &str = "key";
    /// The name of the output in the owner's file.
    pub const RESULT: &str = "result";

    /// A job for the file of client `owner`, under a key of AES-128 that the parties draw and keep.
    #[must_use]
    pub fn new(owner: &str) -> Self {
        let cut = FileCut {
            sbox: Sbox::Tower,
            chunk_blocks: CHUNK_BLOCKS,
            threads: THREADS,
            lanes: LANES,
            hdl: None,
        };
        let direction = Direction::Encrypt;
        Self { owner: owner.to_owned(), direction, key: KeySource::Kept, key_bits: 128, cut }
    }

    /// The job that decrypts the files that this job encrypts.
    #[must_use]
    pub fn decrypting(self) -> Self {
        Self { direction: Direction::Decrypt, ..self }
    }

    pub(crate) fn from_section(mut top: Section<'_>) -> Result<Self, Fault> {
        if let Some(protocol) = top.take("protocol") {
            protocol.parsed(three, "write protocol = \"rep3\", or leave it out")?;
        }
        let owner = top.need("owner", "owner = \"client:alice\"")?;
        let owner = owner.parsed(client, "write owner = \"client:alice\"")?;
        let direction = top.parsed("direction", str::parse, "write direction = \"encrypt\"")?;
        let key = top.parsed("key", str::parse, "write key = \"kept\"")?;
        let key_bits = top.take("key-bits").map(|v| key_bits(&v)).transpose()?.unwrap_or(128);
        let sbox = top.parsed("sbox", str::parse, "write sbox = \"tower\"")?;
        let hardware = top.take("hardware").map(|v| hardware(v, sbox, key_bits)).transpose()?;
        let parameters = top.take("parameters").map(|v| parameters(v, hardware.is_some())).transpose()?;
        top.finish()?;
        let (batch, threads, lanes) = parameters.unwrap_or_default();
        let cut = match hardware {
            Some(parties) => FileCut {
                sbox: sbox.unwrap_or(Sbox::Bp32),
                chunk_blocks: DEVICE_INSTANCES,
                threads: 1,
                lanes: DEVICE_CONTEXTS,
                hdl: Some(parties),
            },
            None => FileCut {
                sbox: sbox.unwrap_or(Sbox::Tower),
                chunk_blocks: batch.unwrap_or(CHUNK_BLOCKS),
                threads: threads.unwrap_or(THREADS),
                lanes: lanes.unwrap_or(LANES),
                hdl: None,
            },
        };
        let (direction, key) = (direction.unwrap_or_default(), key.unwrap_or_default());
        Ok(Self { owner, direction, key, key_bits, cut })
    }

    /// The length of the key.
    #[must_use]
    pub fn size(&self) -> KeySize {
        KeySize::of_bytes(self.key_bits / 8).unwrap_or_default()
    }

    /// The agreement of the three parties and the owner.
    #[must_use]
    pub fn agreement(&self) -> Agreement {
        let FileCut { sbox, chunk_blocks, threads, lanes, hdl } = &self.cut;
        let hardware = hdl.iter().flatten().map(|index| Member::Party(*index).key());
        let fields = vec![
            AgreedField::new("protocol", format!("{}, aes-ctr version {VERSION}", Protocol::Rep3))
                .meaning(Protocol::Rep3.to_string()),
            AgreedField::new("owner", self.owner.clone()),
            AgreedField::new("direction", self.direction.name()),
            AgreedField::new("key", self.key.name()),
            AgreedField::new("key bits", self.key_bits.to_string()),
            AgreedField::size("S-box", sbox.name()),
            AgreedField::size("hardware", hardware.collect::<Vec<_>>().join(", ")),
            // One field for all three, because only the first eight fields are named in a
            // difference.
            AgreedField::size("batch, threads and lanes", format!("{chunk_blocks}, {threads} and {lanes}")),
        ];
        Agreement {
            kind: Self::KIND,
            title: format!("aes-{}-ctr", self.key_bits),
            protocol: Protocol::Rep3,
            clients: vec![self.owner.clone()],
            fields,
            lanes: threads * lanes + 1,
            client_lanes: *threads,
        }
    }
}

fn three(name: &str) -> Result<(), Unknown> {
    match name.parse::<Protocol>()? {
        Protocol::Rep3 => Ok(()),
        other => Err(format!("{other} has no shares of three parties, by whom files are encrypted").into()),
    }
}

fn client(text: &str) -> Result<String, String> {
    match text.parse()? {
        Member::Client(name) => Ok(name),
        other => Err(format!("{other} is no client, and the owner of the file must be one")),
    }
}

fn key_bits(value: &TomlValue<'_>) -> Result<usize, Fault> {
    match value.number(0..=u64::from(u16::MAX))? {
        bits @ (128 | 192 | 256) => Ok(bits as usize),
        _ => Err(value.error("is no length of an AES key", "write 128, 192 or 256")),
    }
}

/// The parties that are hardware, in order.
fn hardware(value: TomlValue<'_>, sbox: Option<Sbox>, key_bits: usize) -> Result<Vec<u8>, Fault> {
    if sbox.is_some_and(|sbox| keystream::circuit(sbox).is_none()) || key_bits != 128 {
        return Err(value.error(
            "runs AES-128 as a Boolean circuit",
            "write sbox = \"bp32\" or \"depth4\" and key-bits = 128, or leave these keys out",
        ));
    }
    let mut parties = vec![];
    for item in value.list()? {
        let party = item.parsed(str::parse, "write \"party0\", \"party1\" or \"party2\"")?;
        match party {
            Member::Party(index) if index >= Protocol::Rep3.parties() => {
                return Err(item
                    .error("names a party that there is not", "write \"party0\", \"party1\" or \"party2\""));
            }
            Member::Party(index) if !parties.contains(&index) => parties.push(index),
            Member::Party(_) => return Err(item.error("names a party twice", "name each once")),
            Member::Client(_) => return Err(item.error("names a client", "name parties only")),
            _ => return Err(item.error("names a member that is no party", "name parties only")),
        }
    }
    parties.sort_unstable();
    Ok(parties)
}

/// Blocks of a chunk, threads and lanes.
type Parameters = (Option<u32>, Option<u16>, Option<u16>);

fn parameters(value: TomlValue<'_>, hardware: bool) -> Result<Parameters, Fault> {
    let mut section = value.section()?;
    let mut number = |key, most| {
        let Some(value) = section.take(key) else { return Ok(None) };
        if hardware {
            return Err(value.error("is set by the device in a job with `hardware`", "leave it out"));
        }
        value.number(1..=most).map(Some)
    };
    let (batch, threads, lanes) =
        (number("batch", MOST_BLOCKS)?, number("threads", 128)?, number("lanes", 16)?);
    section.finish()?;
    Ok((batch.map(|n| n as u32), threads.map(|n| n as u16), lanes.map(|n| n as u16)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Job;
    use hushwire_session::{Allowed, Terms};
    use std::path::Path;

    fn job(keys: &str) -> Result<AesCtrJob, String> {
        let text = format!("kind = \"aes-ctr\"\nowner = \"client:alice\"\n{keys}\n");
        match Job::parse(&text, Path::new("job.toml")).map_err(|e| e.to_string())? {
            Job::AesCtr(job) => Ok(job),
            _ => Err("another kind".into()),
        }
    }

    #[test]
    fn hardware_says_how_all_parties_compute() {
        let soft = job("").unwrap_or_else(|e| panic!("{e}"));
        let hard = job("hardware = [\"party2\", \"party0\"]").unwrap_or_else(|e| panic!("{e}"));
        let FileCut { sbox, chunk_blocks, threads, lanes, hdl } = hard.cut.clone();
        assert_eq!((sbox, hdl.as_deref()), (Sbox::Bp32, Some(&[0, 2][..])));
        assert_eq!((chunk_blocks, threads, lanes), (DEVICE_INSTANCES, 1, DEVICE_CONTEXTS));
        assert_eq!([0, 1, 2].map(|party| hard.cut.device(party).is_some()), [true, false, true]);
        let depth = job("hardware = [\"party1\"]\nsbox = \"depth4\"").map(|job| job.cut.sbox);
        assert_eq!(depth, Ok(Sbox::Depth4));
        let other = job("hardware = [\"party1\"]").unwrap_or_else(|e| panic!("{e}"));
        for (theirs, fields) in [(&soft, 3), (&other, 1)] {
            let differences = hard.agreement().differences(&theirs.agreement().tags());
            assert!(
                differences.len() == fields
                    && differences.iter().any(|d| d.contains("hardware (ours: party0, party2)")),
                "{differences:?}"
            );
        }
    }

    #[test]
    fn encryption_and_decryption_are_two_jobs_to_whoever_allows_one() {
        let encrypts = job("").unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(job("direction = \"encrypt\"").as_ref(), Ok(&encrypts));
        let decrypts = job("direction = \"decrypt\"").unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(encrypts.clone().decrypting(), decrypts);
        let terms = [&encrypts, &decrypts].map(|job| Terms::of(&job.agreement()));
        assert_ne!(terms[0].digest(), terms[1].digest());
        let allowed: Allowed = [terms[0].digest()].into_iter().collect();
        assert!(allowed.check(&terms[0]).is_ok() && allowed.check(&terms[1]).is_err());
        assert_eq!(
            encrypts.agreement().differences(&decrypts.agreement().tags()),
            ["direction (ours: encrypt)"]
        );
        let error = job("direction = \"decript\"").err().unwrap_or_default();
        assert!(error.contains("line 3") && error.contains("did you mean `decrypt`"), "{error}");
    }

    #[test]
    fn hardware_that_makes_no_sense_is_named_with_its_line() {
        for (keys, words) in [
            ("hardware = [\"party0\", \"party0\"]", ["line 3", "twice"]),
            ("hardware = [\"client:alice\"]", ["line 3", "names a client"]),
            ("hardware = [\"party3\"]", ["line 3", "party2"]),
            ("hardware = [\"party0\"]\nsbox = \"tower\"", ["line 3", "sbox = \"bp32\""]),
            ("hardware = [\"party0\"]\nkey-bits = 256", ["line 3", "key-bits = 128"]),
            ("hardware = [\"party0\"]\n[parameters]\nbatch = 5", ["line 5", "hardware"]),
        ] {
            let error = job(keys).err().unwrap_or_default();
            assert!(words.iter().all(|word| error.contains(word)), "{keys}: {error}");
        }
    }
}
