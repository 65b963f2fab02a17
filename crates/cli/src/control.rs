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

/// A message of the supervisor to a member.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum ToMember {
    /// The first message: the job, and the member that the process is.
    Job(Box<(Job, LocalMember)>),
    /// The second message: the addresses of all members.
    Meet(Vec<Peer>),
    /// The result is complete.
    Bye,
}

/// A message of a member to the supervisor.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum FromMember {
    /// The member listens, if it is a party, and its files are open.
    Ready(Ready),
    /// The member has met all others.
    Joined,
    /// The number of a job's instances that are done, and the number of all its instances.
    Progress(u64, u64),
    /// A note for the person who started the run.
    Note(String),
    /// The member has sent everything.
    Done(Box<Ended>),
    /// The member gives up.
    Failed(Fault),
}

/// The state of a member before it meets the others.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Ready {
    pub(crate) peer: Peer,
    /// The id of the key to which its share file belongs.
    pub(crate) key_id: Option<String>,
}

/// The end of a member's run: its result as JSON, and its measurements.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Ended {
    pub(crate) outcome: Outcome<serde_json::Value>,
    pub(crate) peak_memory_bytes: Option<u64>,
}

/// Writes a message as one line.
pub(crate) fn say<T: Serialize>(mut to: impl Write, message: &T) -> io::Result<()> {
    let mut line = Wiped::new(serde_json::to_vec(message)?);
    line.push(b'\n');
    to.write_all(&line)?;
    to.flush()
}

/// Reads a message from one line.
pub(crate) fn hear<T: DeserializeOwned>(line: &str) -> Result<T, String> {
    serde_json::from_str(line).map_err(|e| e.to_string())
}

/// Writes a member's message to its supervisor.
pub(crate) fn tell(message: &FromMember) {
    // An error is ignored: the process ends when stdin closes, and a lost line shows there.
    let _ = say(io::stdout().lock(), message);
}

/// Receives the supervisor's messages from stdin. This process ends as soon as the supervisor's
/// process is gone.
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

/// The largest resident memory that this process has had so far, in bytes.
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
