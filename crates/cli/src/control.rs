//! The messages between the supervisor and a member's process over the member's stdin and stdout:
//! one JSON line each.

use crate::{error::Error, log};
use hushwire::LocalMember;
use hushwire::job::{Fault, Job, Outcome, Peer};
use hushwire_block::Wiped;
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use std::{
    io::{self, Write},
    process,
    sync::mpsc::{self, Receiver},
    thread,
};

/// The supervisor to a member.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum ToMember {
    /// First: what is computed, and who it is.
    Job(Box<(Job, LocalMember)>),
    /// Then: where all are.
    Meet(Vec<Peer>),
    /// The result is complete.
    Bye,
}

/// A member to the supervisor.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum FromMember {
    /// It listens, if it is a party, and its files are open.
    Ready(Ready),
    /// It has met all others.
    Joined,
    /// The number of a job's instances that are done, and the number of all its instances.
    Progress(u64, u64),
    /// Something for a person who waits.
    Note(String),
    /// It has sent everything.
    Done(Box<Ended>),
    /// It gives up.
    Failed(Fault),
}

/// A member before it meets the others.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Ready {
    pub(crate) peer: Peer,
    /// The key that its share file belongs to.
    pub(crate) key_id: Option<String>,
}

/// A member's end: what it learns, as JSON, and what it measured.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Ended {
    pub(crate) outcome: Outcome<serde_json::Value>,
    pub(crate) peak_memory_bytes: Option<u64>,
}

/// Writes one line.
pub(crate) fn say<T: Serialize>(mut to: impl Write, message: &T) -> io::Result<()> {
    let mut line = Wiped::new(serde_json::to_vec(message)?);
    line.push(b'\n');
    to.write_all(&line)?;
    to.flush()
}

/// Reads one line's message.
pub(crate) fn hear<T: DeserializeOwned>(line: &str) -> Result<T, String> {
    serde_json::from_str(line).map_err(|e| e.to_string())
}

/// A member's own line to its supervisor.
pub(crate) fn tell(message: &FromMember) {
    // The process ends when stdin closes; a lost line shows there.
    let _ = say(io::stdout().lock(), message);
}

/// Orders from stdin. The process ends as soon as the supervisor's is gone.
pub(crate) fn orders() -> Receiver<ToMember> {
    let (sender, orders) = mpsc::channel();
    thread::spawn(move || {
        let mut line = Wiped::new(String::new());
        loop {
            line.clear();
            match io::stdin().read_line(&mut line) {
                Ok(n) if n > 0 => {}
                _ => process::exit(3),
            }
            match hear(&line) {
                Ok(order) => drop(sender.send(order)),
                Err(e) => {
                    let what = format!("a party process is started by `hushwire local`, not by hand ({e})");
                    log::failed(&Error::Usage(what));
                    process::exit(2);
                }
            }
        }
    });
    orders
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
        let note = FromMember::Note("a line\nand another".into());
        say(&mut line, &note).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(line.iter().filter(|b| **b == b'\n').count(), 1);
        let heard = hear(std::str::from_utf8(&line).unwrap_or_default());
        assert!(matches!(heard, Ok(FromMember::Note(_))), "{heard:?}");
        assert!(hear::<FromMember>("{\"ready\":1}").is_err());
    }
}
