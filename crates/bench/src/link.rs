//! Limits of this host's own links: what flows carry, and how long a byte is on its way.

use std::{
    io::{self, Read, Write},
    net::{TcpListener, TcpStream},
    os::unix::net::UnixStream,
    thread,
    time::{Duration, Instant},
};

use crate::{
    BoxError, Context, Unit,
    bounds::{self, count},
    net::{Transport, joined},
};

/// Bytes per second of three flows at once over a transport's bare links, and their name. Shared memory is bound by
/// copies: one into the ring and one out of it.
pub(crate) fn three_flows(
    ctx: &mut Context<'_>,
    transport: Transport,
) -> Result<(f64, &'static str), BoxError> {
    match transport {
        Transport::Inproc | Transport::Shm => {
            let copied = bounds::copies(ctx, "copy of 1 MiB", 1 << 20)?;
            Ok((copied / 2.0, "copies in and out"))
        }
        Transport::Unix => measured(ctx, "three Unix flows", 3, UnixStream::pair),
        Transport::TcpTls | Transport::TcpInsecure => measured(ctx, "three loopback TCP flows", 3, pair),
    }
}

/// As [`three_flows`], of one flow, whose ends are two threads that have a core each where there are two.
pub(crate) fn one_flow(ctx: &mut Context<'_>, transport: Transport) -> Result<(f64, &'static str), BoxError> {
    match transport {
        Transport::Inproc | Transport::Shm => {
            let copied = bounds::copies(ctx, "copy of 1 MiB", 1 << 20)?;
            if thread::available_parallelism()?.get() > 1 {
                return Ok((copied, "a copy in beside a copy out"));
            }
            Ok((copied / 2.0, "copies in and out"))
        }
        Transport::Unix => measured(ctx, "a Unix flow", 1, UnixStream::pair),
        Transport::TcpTls | Transport::TcpInsecure => measured(ctx, "a loopback TCP flow", 1, pair),
    }
}

fn measured<S: Read + Write + Send>(
    ctx: &mut Context<'_>,
    name: &'static str,
    at_once: usize,
    pair: impl Fn() -> io::Result<(S, S)>,
) -> Result<(f64, &'static str), BoxError> {
    let bytes_per_s = ctx.limit(name, Unit::BYTES_PER_S, |timer| {
        let seconds = timer.durations(|n| flows(&pair, at_once, n))?;
        Ok(count((at_once * WRITE) as u64) / least(&seconds))
    })?;
    Ok((bytes_per_s, name))
}

/// Milliseconds that a byte takes to a peer over a transport's bare link, half of its round trip, and the link's name.
/// Messages of a round cross, so that a round costs no more than this. Shared memory wakes through the kernel as Unix
/// sockets do.
pub(crate) fn one_way_ms(
    ctx: &mut Context<'_>,
    transport: Transport,
) -> Result<(f64, &'static str), BoxError> {
    match transport {
        Transport::Inproc | Transport::Shm | Transport::Unix => {
            bounced(ctx, "a Unix socket", UnixStream::pair)
        }
        Transport::TcpTls | Transport::TcpInsecure => bounced(ctx, "loopback TCP", pair),
    }
}

fn bounced<S: Read + Write + Send + 'static>(
    ctx: &mut Context<'_>,
    name: &'static str,
    pair: impl Fn() -> io::Result<(S, S)>,
) -> Result<(f64, &'static str), BoxError> {
    let round_trip = ctx.limit(&format!("{name}, round trip of a byte"), Unit::MS, |timer| {
        let mut echo = Echo::start(pair()?);
        let seconds = timer.durations(|n| echo.round_trips(n))?;
        Ok(1e3 * least(&seconds))
    })?;
    Ok((round_trip / 2.0, name))
}

fn least(seconds: &[f64]) -> f64 {
    seconds.iter().copied().fold(f64::INFINITY, f64::min)
}

/// Bytes of one write on a flow.
const WRITE: usize = 1 << 20;

/// A connection over loopback without delay: the ends that dialled and accepted.
fn pair() -> io::Result<(TcpStream, TcpStream)> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let dialled = TcpStream::connect(listener.local_addr()?)?;
    let (accepted, _) = listener.accept()?;
    dialled.set_nodelay(true)?;
    accepted.set_nodelay(true)?;
    Ok((dialled, accepted))
}

/// `n` writes on each of so many flows at once.
fn flows<S: Read + Write + Send>(
    pair: &impl Fn() -> io::Result<(S, S)>,
    at_once: usize,
    n: u64,
) -> Result<Duration, BoxError> {
    let pairs: Vec<_> = (0..at_once).map(|_| pair()).collect::<io::Result<_>>()?;
    let buffers: Vec<_> = (0..at_once).map(|_| (vec![1u8; WRITE], vec![2u8; WRITE])).collect();
    let begin = Instant::now();
    thread::scope(|scope| {
        let mut running = Vec::new();
        for ((mut tx, mut rx), (out, mut into)) in pairs.into_iter().zip(buffers) {
            running.push(scope.spawn(move || (0..n).try_for_each(|_| tx.write_all(&out))));
            running.push(scope.spawn(move || (0..n).try_for_each(|_| rx.read_exact(&mut into))));
        }
        running.into_iter().try_for_each(|thread| Ok::<_, BoxError>(joined(thread.join())??))
    })?;
    Ok(begin.elapsed())
}

/// A thread that sends every byte back, until its peer closes.
struct Echo<S>(S);

impl<S: Read + Write + Send + 'static> Echo<S> {
    fn start((ours, mut theirs): (S, S)) -> Self {
        thread::spawn(move || {
            let mut byte = [0];
            while theirs.read_exact(&mut byte).and_then(|()| theirs.write_all(&byte)).is_ok() {}
        });
        Self(ours)
    }

    fn round_trips(&mut self, n: u64) -> Result<Duration, BoxError> {
        let mut byte = [7];
        let begin = Instant::now();
        for _ in 0..n {
            self.0.write_all(&byte)?;
            self.0.read_exact(&mut byte)?;
        }
        Ok(begin.elapsed())
    }
}
