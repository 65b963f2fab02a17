//! The daemon's end of its workers: starts them, talks to them, and ends them.

use crate::{
    failpoint,
    order::{self, AttemptOrder, FromWorker, ToWorker, WorkerOrder},
};
use hushwire_fault::{Fault, code};
use hushwire_session::Peer;
use hushwire_wire::HandOver;
use std::{
    fs::File,
    os::fd::{AsRawFd, OwnedFd},
    process::Stdio,
    sync::{Arc, OnceLock},
    time::Duration,
};
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader},
    net::{UnixStream, unix::OwnedWriteHalf},
    process::{Child, Command},
    sync::mpsc,
};

/// LOCAL: how long a worker may take to read its inputs.
const READY: Duration = Duration::from_secs(60);
/// LOCAL: how long a worker may take to end after its attempt is committed.
const LEAVES: Duration = Duration::from_secs(10);
/// LOCAL: the longest line of a worker, in bytes.
const LONGEST: usize = 1 << 20;

/// This program as it was when it started. After an upgrade, its path leads to another one.
fn program() -> Result<&'static File, Fault> {
    static PROGRAM: OnceLock<File> = OnceLock::new();
    if let Some(file) = PROGRAM.get() {
        return Ok(file);
    }
    let file = File::open("/proc/self/exe").map_err(|e| Fault::internal("starting a worker", e))?;
    Ok(PROGRAM.get_or_init(|| file))
}

/// Opens this program for later workers.
pub(crate) fn remember_program() -> Result<(), Fault> {
    program().map(drop)
}

/// A running worker. It ends when this value is dropped.
pub(crate) struct Worker {
    orders: OwnedWriteHalf,
    events: mpsc::Receiver<FromWorker>,
    child: Child,
    /// Hands connections over to it.
    pub(crate) hand: Arc<HandOver>,
    /// The most memory, in bytes, that it has reported.
    pub(crate) peak_memory: Option<u64>,
    /// The number of attempts so far.
    pub(crate) attempts: u32,
    /// Names the workers of all parties that have links with each other.
    pub(crate) team: String,
}

fn wrong(e: &dyn std::fmt::Display) -> Fault {
    let remedy = "see this party's log, and whether the host has memory and processes left";
    Fault::new(code::WORKER, "starting a worker", e, remedy)
}

impl Worker {
    /// Starts a worker, and does not wait until it is ready.
    pub(crate) async fn start(order: WorkerOrder) -> Result<Self, Fault> {
        failpoint::pass(|| "worker.spawn".to_owned()).map_err(|e| wrong(&e))?;
        let mut command = Command::new(format!("/proc/self/fd/{}", program()?.as_raw_fd()));
        let (hand, handed) = HandOver::pair().map_err(|e| wrong(&e))?;
        let (ours, theirs) = std::os::unix::net::UnixStream::pair().map_err(|e| wrong(&e))?;
        ours.set_nonblocking(true).map_err(|e| wrong(&e))?;
        let (events, mut orders) = UnixStream::from_std(ours).map_err(|e| wrong(&e))?.into_split();
        let spawned = command
            .arg0(format!("hushwire-service worker {}", order.first.label))
            .arg(order::COMMAND)
            .env_clear()
            .envs(std::env::vars_os().filter(|(name, _)| kept(name)))
            .stdin(Stdio::from(handed))
            .stdout(Stdio::from(OwnedFd::from(theirs)))
            .stderr(Stdio::inherit())
            .process_group(0)
            .kill_on_drop(true)
            .spawn();
        let child = spawned.map_err(|e| wrong(&e))?;
        // The command holds the worker's ends of the sockets until it is dropped.
        drop(command);
        let (send, heard) = mpsc::channel(64);
        tokio::spawn(async move {
            let mut lines = BufReader::new(events);
            let mut line = String::new();
            while let Ok(n) = lines.read_line(&mut line).await
                && n > 0
                && n <= LONGEST
            {
                let Ok(event) = order::hear(&line) else { return };
                if send.send(event).await.is_err() {
                    return;
                }
                line.clear();
            }
        });
        let first = order::line(&ToWorker::Order(Box::new(order))).map_err(|e| wrong(&e))?;
        orders.write_all(&first).await.map_err(|e| wrong(&e))?;
        let (hand, team) = (Arc::new(hand), String::new());
        Ok(Self { orders, events: heard, child, hand, peak_memory: None, attempts: 0, team })
    }

    /// Gives a waiting worker another attempt.
    pub(crate) async fn again(&mut self, order: AttemptOrder) {
        self.tell(&ToWorker::Again(order)).await;
    }

    /// Waits until it is ready. Returns how the others know it, and whether it has its links of the
    /// attempt before.
    pub(crate) async fn ready(&mut self) -> Result<(Peer, bool), Fault> {
        let ready = async {
            loop {
                match self.events.recv().await {
                    Some(FromWorker::Ready(peer, kept)) => return Ok((peer, kept)),
                    Some(FromWorker::Failed(fault)) => return Err(fault),
                    Some(_) => {}
                    None => return Err(wrong(&"it ended before it was ready")),
                }
            }
        };
        let late = |_| wrong(&format!("it was not ready within {} s", READY.as_secs()));
        let ready = tokio::time::timeout(READY, ready).await.map_err(late)??;
        failpoint::pass(|| "worker.pins".to_owned()).map_err(|e| wrong(&e))?;
        self.attempts += 1;
        Ok(ready)
    }

    /// Whether the process still runs.
    pub(crate) fn runs(&mut self) -> bool {
        matches!(self.child.try_wait(), Ok(None))
    }

    /// Sends it a message.
    pub(crate) async fn tell(&mut self, message: &ToWorker) {
        if let Ok(line) = order::line(message) {
            // If it has ended, its events end.
            let _ = self.orders.write_all(&line).await;
        }
    }

    /// The next event; an error if the worker has ended.
    pub(crate) async fn event(&mut self) -> Result<FromWorker, Fault> {
        match self.events.recv().await {
            Some(event) => Ok(event),
            None => {
                let how = self.child.wait().await.map_or_else(|e| e.to_string(), |status| status.to_string());
                let cause = format!("the worker ended before its job: {how}");
                let remedy = "the job is tried again; if that fails, too, see this party's log, and raise `memory` in its config";
                Err(Fault::new(code::WORKER, "computing", cause, remedy))
            }
        }
    }

    /// Ends it at once, without waiting.
    pub(crate) fn stop(&mut self) {
        // The worker may have ended by itself.
        let _ = self.child.start_kill();
    }

    /// Tells it that the attempt is committed, and waits until it has ended.
    pub(crate) async fn leave(mut self) {
        self.tell(&ToWorker::Bye).await;
        let _ = tokio::time::timeout(LEAVES, self.child.wait()).await;
        self.end().await;
    }

    /// Ends it, and waits until it has ended.
    pub(crate) async fn end(mut self) {
        let _ = self.child.start_kill();
        let _ = self.child.wait().await;
    }
}

/// Whether a worker keeps an environment variable. It gets nothing that belongs to the daemon
/// alone.
fn kept(name: &std::ffi::OsStr) -> bool {
    let name = name.to_string_lossy();
    matches!(&*name, "PATH" | "TMPDIR" | "LANG" | "RUST_BACKTRACE") || name.starts_with("HUSHWIRE_")
}
