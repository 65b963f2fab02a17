//! The messages between the owner's process and a party's over the party's stdin and stdout: one JSON line each.

use crate::error::{Error, Failure};
use hushwire_job::{Job, Member};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use std::{
    collections::BTreeMap,
    ffi::OsString,
    io::{self, Read, Write},
    os::unix::ffi::{OsStrExt, OsStringExt},
    path::{Path, PathBuf},
    process,
    sync::mpsc::{self, Receiver},
    thread,
};
use zeroize::{Zeroize, Zeroizing};

/// The owner to a party.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum ToParty {
    /// First, to a member of a job: what it is and what it brings.
    Job(Box<JobSetup>),
    /// Then: where the others are.
    Meet(Vec<Met>),
    /// The result is complete.
    Bye,
}

/// The message to a member of a job before it listens. No `Debug`: it holds a private key and inputs.
#[derive(Serialize, Deserialize)]
pub(crate) struct JobSetup {
    pub(crate) me: Member,
    pub(crate) job: Job,
    /// Certificate and private key of this run.
    pub(crate) pem: String,
    /// The address on which it listens, if it is a party.
    pub(crate) listen: Option<String>,
    pub(crate) transport: String,
    /// The network's model, as `--net` has it.
    pub(crate) net: String,
    /// 32 hexadecimal digits.
    pub(crate) session: String,
    pub(crate) aes_backend: String,
    pub(crate) inputs: BTreeMap<String, Given>,
    pub(crate) outputs: BTreeMap<String, Kept>,
    /// Whether outputs may replace files of others.
    pub(crate) force: bool,
    /// Of a party that keeps its share of a key: the share's file, as [`path_to_text`] has it.
    pub(crate) key_share: Option<String>,
}

impl Drop for JobSetup {
    fn drop(&mut self) {
        self.pem.zeroize();
        for given in self.inputs.values_mut() {
            if let Given::Hex(digits) | Given::Bytes(digits) = given {
                digits.zeroize();
            }
        }
    }
}

/// The result of a party of an intersection.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct PsiFound {
    /// The result as a file has it, as hexadecimal digits.
    pub(crate) text: String,
    /// Different keys of A and of B.
    pub(crate) sizes: [usize; 2],
    pub(crate) circuit: String,
    /// Bits of a value.
    pub(crate) width: usize,
    pub(crate) ands: u64,
    pub(crate) size: Option<u64>,
    pub(crate) items: Option<Vec<String>>,
    /// One for each row.
    pub(crate) flags: Option<Vec<bool>>,
}

/// An input of a local run. No `Debug`: it is secret.
#[derive(Clone, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Given {
    Hex(String),
    /// The bytes that a file would hold, as hexadecimal digits.
    Bytes(String),
    #[serde(with = "any_path")]
    File(PathBuf),
}

impl Given {
    /// All of standard input.
    pub(crate) fn from_stream() -> Result<Self, Error> {
        let mut bytes = Zeroizing::new(vec![]);
        let read = io::stdin().lock().read_to_end(&mut bytes);
        read.map_err(|e| Error::io("read", Path::new("standard input"), &e))?;
        Ok(Self::Bytes(hex::encode(&bytes[..])))
    }
}

/// The place of an output at a member of a local run; an output without a place goes to the supervisor.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Kept {
    #[serde(with = "any_path")]
    File(PathBuf),
    Nowhere,
}

/// Another member of a job.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct Met {
    pub(crate) member: Member,
    pub(crate) address: Option<String>,
    pub(crate) pin: String,
}

/// A party to the owner.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum FromParty {
    /// It listens.
    Ready {
        /// The address on which it listens.
        address: String,
        /// The key that its share file belongs to.
        key_id: Option<String>,
    },
    /// It has met all others.
    Joined,
    /// So many instances of a job are done, of so many.
    Progress(u64, u64),
    /// Something for a person who waits.
    Note(String),
    /// It has sent everything.
    Done(Stats),
    /// It gives up.
    Failed(Failure),
}

/// A party's measurements of itself; bytes are payload.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Stats {
    pub(crate) bytes_sent: u64,
    pub(crate) bytes_received: u64,
    pub(crate) rounds: u64,
    pub(crate) peak_memory_bytes: Option<u64>,
    /// From the first connection on; of a job's members.
    #[serde(default)]
    pub(crate) seconds: f64,
    /// The counters of a hardware party.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) device: Option<DeviceStats>,
    /// Outputs of a job that went to no file: place, and hexadecimal digits.
    #[serde(default)]
    pub(crate) outputs: Vec<(usize, String)>,
    /// Of an intersection.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) found: Option<PsiFound>,
}

/// The counters of a party's device.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct DeviceStats {
    /// Clock cycles.
    pub(crate) cycles: u64,
    /// AND instructions, each for one bit of a whole batch.
    pub(crate) ands: u64,
}

/// Writes one line.
pub(crate) fn say<T: Serialize>(mut to: impl Write, message: &T) -> io::Result<()> {
    let mut line = Zeroizing::new(serde_json::to_vec(message)?);
    line.push(b'\n');
    to.write_all(&line)?;
    to.flush()
}

/// Reads one line's message.
pub(crate) fn hear<T: DeserializeOwned>(line: &str) -> Result<T, String> {
    serde_json::from_str(line).map_err(|e| e.to_string())
}

/// A member's own line to its supervisor.
pub(crate) fn tell(message: &FromParty) {
    // The process ends when stdin closes; a lost line shows there.
    let _ = say(io::stdout().lock(), message);
}

/// Orders from stdin. The process ends as soon as the supervisor's is gone.
pub(crate) fn orders() -> Receiver<ToParty> {
    let (sender, orders) = mpsc::channel();
    thread::spawn(move || {
        let mut line = Zeroizing::new(String::new());
        loop {
            line.clear();
            match io::stdin().read_line(&mut line) {
                Ok(n) if n > 0 => {}
                _ => process::exit(3),
            }
            match hear(&line) {
                Ok(order) => drop(sender.send(order)),
                Err(e) => {
                    eprintln!("error: a party process is started by `hushwire local`, not by hand ({e})");
                    process::exit(2);
                }
            }
        }
    });
    orders
}

/// A path as text, whatever its bytes.
pub(crate) fn path_to_text(path: &Path) -> String {
    hex::encode(path.as_os_str().as_bytes())
}

/// Paths in messages, whatever their bytes.
mod any_path {
    use super::{path_to_text, text_to_path};
    use serde::{Deserialize, Deserializer, Serializer, de::Error};
    use std::path::{Path, PathBuf};

    pub(super) fn serialize<S: Serializer>(path: &Path, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(&path_to_text(path))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<PathBuf, D::Error> {
        text_to_path(&String::deserialize(from)?).map_err(D::Error::custom)
    }
}

/// The reverse of [`path_to_text`].
pub(crate) fn text_to_path(text: &str) -> Result<PathBuf, String> {
    Ok(PathBuf::from(OsString::from_vec(hex::decode(text).map_err(|e| e.to_string())?)))
}

/// The most memory that this process ever had resident.
pub(crate) fn peak_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok().map(|kib| kib << 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_survive() {
        let mut line = vec![];
        let ready = FromParty::Ready { address: "127.0.0.1:1".into(), key_id: None };
        say(&mut line, &ready).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(line.iter().filter(|b| **b == b'\n').count(), 1);
        let heard = hear(std::str::from_utf8(&line).unwrap_or_default());
        assert!(matches!(heard, Ok(FromParty::Ready { .. })), "{heard:?}");
        assert!(hear::<FromParty>("{\"ready\":1}").is_err());
    }

    #[test]
    fn any_path_survives() {
        let path = PathBuf::from(OsString::from_vec(vec![b'/', 0xff, b' ', b'\n']));
        assert_eq!(text_to_path(&path_to_text(&path)), Ok(path));
    }
}
