//! One party's device: its size, its program, and its first error.

use crate::frame::header;
use crate::socket::Socket;
use crate::{Cause, HdlBatch, HdlError, Hello, Microcode, Statistics};
use hushwire_rep3::{Context, Rep3Party, Shares};
use std::{
    os::{fd::OwnedFd, unix::net::UnixStream},
    path::Path,
    process::{Child, Command, Stdio},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    thread,
    time::{Duration, Instant},
};
use zeroize::Zeroizing;

/// LOCAL: the longest time that a device may be silent while the engine waits for it.
const PATIENCE: Duration = Duration::from_secs(60);
/// LOCAL: the longest time that a device's process may run after its connection has ended.
const FAREWELL: Duration = Duration::from_secs(1);

/// A device, shared by the batches that run on it. Dropping the last clone ends its process.
#[derive(Clone)]
pub struct Device(Arc<Mutex<Inner>>);

/// The sizes of the loaded program.
struct Program {
    rows: [usize; 2],
    messages: Arc<[usize]>,
}

struct Inner {
    name: String,
    socket: Socket,
    child: Option<Child>,
    hello: Hello,
    program: Option<Program>,
    /// The first error; the device does nothing after it.
    error: Option<HdlError>,
}

impl Device {
    /// Starts a device's program, with the other end of a socket as its standard input.
    ///
    /// # Errors
    /// [`Cause::NotStarted`], and the errors of [`Device::over`].
    pub fn start(program: &Path) -> Result<Device, HdlError> {
        let name = format!("the simulated party {}", program.display());
        let start = || {
            let (ours, theirs) = UnixStream::pair()?;
            // Standard output belongs to the engine; standard error is for users.
            let mut command = Command::new(program);
            command.stdin(Stdio::from(OwnedFd::from(theirs))).stdout(Stdio::null());
            Ok((ours, command.spawn()?))
        };
        let started = start().map_err(|e: std::io::Error| HdlError {
            device: name.clone(),
            step: "start",
            cause: Cause::NotStarted(e.to_string()),
        });
        let (stream, child) = started?;
        Self::new(name, stream, Some(child), PATIENCE)
    }

    /// A device at the other end of `stream`, which may be silent for `patience` while the engine
    /// waits for it. `name` is for messages to users.
    ///
    /// # Errors
    /// Any cause except those of programs and batches.
    pub fn over(name: &str, stream: UnixStream, patience: Duration) -> Result<Device, HdlError> {
        Self::new(name.to_owned(), stream, None, patience)
    }

    fn new(
        name: String,
        stream: UnixStream,
        child: Option<Child>,
        patience: Duration,
    ) -> Result<Device, HdlError> {
        let step = "start";
        let socket = Socket::new(stream, patience);
        let socket = socket.map_err(|cause| HdlError { device: name.clone(), step, cause })?;
        let mut inner = Inner { name, socket, child, hello: Hello::default(), program: None, error: None };
        inner.run(step, |inner| {
            inner.hello = inner.socket.until(|inbox| inbox.hello)?;
            Ok(())
        })?;
        Ok(Device(Arc::new(Mutex::new(inner))))
    }

    /// The size that the device reported in its greeting.
    #[must_use]
    pub fn hello(&self) -> Hello {
        self.lock().hello
    }

    /// Refuses a device whose batches do not have `instances` instances, the number that the
    /// parties agreed on.
    ///
    /// # Errors
    /// [`Cause::Instances`].
    pub fn expect_instances(&self, instances: usize) -> Result<(), HdlError> {
        self.lock().run("start", |inner| match inner.hello.instances() {
            found if found == instances => Ok(()),
            found => Err(Cause::Instances { found, expected: instances }),
        })
    }

    /// Gives the device the keys of `party`'s session, a circuit, and this party's shares of the
    /// bits that all instances have in common: bit `i` is bit `i % 8` of byte `i / 8`. Each device
    /// must be loaded once.
    ///
    /// # Errors
    /// [`Cause::Capacity`] if the circuit does not fit; [`Cause::Misuse`] for a second program, a
    /// circuit without ANDs or outputs, or too few common bits; any cause that ends the device.
    pub fn load(&self, party: &Rep3Party, code: &Microcode, common: &Shares) -> Result<(), HdlError> {
        self.lock().run("loading the circuit", |inner| inner.load(party, code, common))
    }

    /// Begins a batch in `context`. `inputs` are this party's shares of the planes of all bits that
    /// are not common, one after the other. `cx` is the batch's place in the session whose keys
    /// were loaded.
    ///
    /// # Errors
    /// [`Cause::Misuse`] before a program is loaded, for a context that is busy or does not exist,
    /// or for shares of another length; any cause that ends the device.
    #[expect(clippy::needless_pass_by_value, reason = "a context serves one batch, which takes it")]
    pub fn batch(&self, context: usize, cx: Context, inputs: &Shares) -> Result<HdlBatch, HdlError> {
        let messages = self.lock().run("beginning a batch", |inner| inner.begin(context, &cx, inputs))?;
        Ok(HdlBatch::new(self.clone(), context, messages))
    }

    /// Returns the device's first error.
    ///
    /// # Errors
    /// The first error, if there was one.
    pub fn check(&self) -> Result<(), HdlError> {
        self.lock().error.clone().map_or(Ok(()), Err)
    }

    /// Asks the device for its counters.
    ///
    /// # Errors
    /// Any cause that ends the device.
    pub fn statistics(&self) -> Result<Statistics, HdlError> {
        self.lock().run("its statistics", |inner| {
            inner.socket.inbox.asked = true;
            inner.frame(b'Z', 0, &[])?;
            inner.socket.until(|inbox| inbox.statistics.take())
        })
    }

    /// Makes a batch's message: passes on the bytes from the right neighbour, and fills `message`
    /// for the left one.
    pub(crate) fn layer(&self, context: usize, arrived: &[u8], message: &mut [u8]) -> Result<(), HdlError> {
        self.lock().run("a circuit layer", |inner| {
            inner.link(context, arrived)?;
            inner.socket.until(|inbox| inbox.take(context, message).then_some(()))
        })
    }

    /// Ends a batch and returns its output.
    pub(crate) fn end(&self, context: usize, arrived: &[u8]) -> Result<Shares, HdlError> {
        self.lock().run("the end of a batch", |inner| {
            inner.link(context, arrived)?;
            let rows = inner.socket.until(|inbox| inbox.end(context))?;
            Ok(from_rows(&rows, inner.hello.plane_bytes()))
        })
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    /// Runs `work` unless the device has failed, and keeps the first error.
    fn run<T>(
        &mut self,
        step: &'static str,
        work: impl FnOnce(&mut Self) -> Result<T, Cause>,
    ) -> Result<T, HdlError> {
        if let Some(error) = &self.error {
            return Err(error.clone());
        }
        work(self).map_err(|cause| {
            let cause = if let Cause::Died(None) = cause { Cause::Died(self.status()) } else { cause };
            self.kill();
            let error = HdlError { device: self.name.clone(), step, cause };
            self.error = Some(error.clone());
            error
        })
    }

    fn frame(&mut self, kind: u8, context: usize, parts: &[&[u8]]) -> Result<(), Cause> {
        let length = parts.iter().map(|part| part.len()).sum();
        let context =
            u8::try_from(context).map_err(|_| Cause::Misuse(format!("no device has a context {context}")))?;
        let header = header(kind, context, length)?;
        let parts: Vec<&[u8]> = [&header[..]].into_iter().chain(parts.iter().copied()).collect();
        self.socket.send(&parts)
    }

    fn link(&mut self, context: usize, arrived: &[u8]) -> Result<(), Cause> {
        if arrived.is_empty() { Ok(()) } else { self.frame(b'R', context, &[arrived]) }
    }

    fn load(&mut self, party: &Rep3Party, code: &Microcode, common: &Shares) -> Result<(), Cause> {
        let room = self.hello;
        for (what, needed, room) in [
            ("slots", code.slots(), room.slots),
            ("instructions", code.instructions().len(), room.instructions),
            ("scalars", code.scalars().len(), room.scalars),
            (
                "ANDs of one layer under way",
                code.layer_ands().iter().copied().max().unwrap_or(0),
                room.flight,
            ),
        ] {
            if needed > room {
                return Err(Cause::Capacity { what, needed, room });
            }
        }
        let few = [&common.own, &common.next].iter().any(|share| 8 * share.len() < code.common_bits());
        for (wrong, what) in [
            (self.program.is_some(), "a device takes one circuit"),
            (code.ands() == 0 || code.rows_out() == 0, "a circuit must multiply, and have outputs"),
            (few, "the circuit has more common bits than were given"),
        ] {
            if wrong {
                return Err(Cause::Misuse(what.to_owned()));
            }
        }
        let keys = party.device_keys();
        self.frame(b'K', 0, &[&keys[0], &keys[1]])?;
        let words: Vec<u8> = code.words().flat_map(u64::to_le_bytes).collect();
        self.frame(b'M', 0, &[&words])?;
        let holds_one = [Some(0), Some(1)].map(|slot| party.role().constant_slot() == slot);
        let shares = Zeroizing::new(code.scalar_shares([&common.own, &common.next], holds_one));
        let mut bytes = Zeroizing::new(Vec::with_capacity(shares.len()));
        bytes.extend(shares.iter().map(|[own, next]| u8::from(*own) | u8::from(*next) << 1));
        self.frame(b'S', 0, &[&bytes])?;
        let rows = [code.rows_in(), code.rows_out()];
        self.frame(b'P', 0, &[&(rows[0] as u32).to_le_bytes(), &(rows[1] as u32).to_le_bytes()])?;
        let plane = self.hello.plane_bytes();
        let messages = code.layer_ands().iter().filter(|ands| **ands > 0).map(|ands| ands * plane).collect();
        self.program = Some(Program { rows, messages });
        Ok(())
    }

    fn begin(&mut self, context: usize, cx: &Context, inputs: &Shares) -> Result<Arc<[usize]>, Cause> {
        let plane = self.hello.plane_bytes();
        let Some(Program { rows: [rows_in, rows_out], messages }) = &self.program else {
            return Err(Cause::Misuse("a batch before its circuit".to_owned()));
        };
        let expected = rows_in * plane;
        if [&inputs.own, &inputs.next].iter().any(|share| share.len() != expected) {
            return Err(Cause::Misuse(format!("a batch's inputs are not {expected} bytes of each share")));
        }
        let (messages, largest) = (messages.clone(), messages.iter().copied().max().unwrap_or(0));
        let whole = 2 * rows_out * plane;
        self.socket.inbox.begin(context, messages.iter().sum(), largest, whole)?;
        let counter = cx.counter().to_le_bytes();
        self.frame(b'J', context, &[&counter, &to_rows(inputs, plane)])?;
        Ok(messages)
    }

    /// Ends the device's process if this engine started it. The process has no further use: it may
    /// be stopped, and a caller that reports the error may exit without dropping the device.
    fn kill(&mut self) {
        if let Some(child) = &mut self.child {
            // An error means that the process has ended already.
            let _ = child.kill();
            let _ = child.wait();
        }
    }

    /// The exit status of the process, if this engine started it and it has ended.
    fn status(&mut self) -> Option<String> {
        let child = self.child.as_mut()?;
        let begun = Instant::now();
        while begun.elapsed() < FAREWELL {
            if let Ok(Some(status)) = child.try_wait() {
                return Some(status.to_string());
            }
            thread::sleep(Duration::from_millis(2));
        }
        None
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        self.socket.close();
        if self.child.is_some() && self.status().is_none() {
            self.kill();
        }
    }
}

/// Interleaves the planes of both shares, row by row.
fn to_rows(shares: &Shares, plane: usize) -> Zeroizing<Vec<u8>> {
    let mut rows = Zeroizing::new(Vec::with_capacity(2 * shares.len()));
    for (own, next) in shares.own.chunks_exact(plane).zip(shares.next.chunks_exact(plane)) {
        rows.extend_from_slice(own);
        rows.extend_from_slice(next);
    }
    rows
}

/// The inverse of [`to_rows`]: planes of `plane` bytes.
fn from_rows(rows: &[u8], plane: usize) -> Shares {
    let mut shares =
        Shares { own: Vec::with_capacity(rows.len() / 2), next: Vec::with_capacity(rows.len() / 2) };
    for row in rows.chunks_exact(2 * plane) {
        let (own, next) = row.split_at(plane);
        shares.own.extend_from_slice(own);
        shares.next.extend_from_slice(next);
    }
    shares
}
