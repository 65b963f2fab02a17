//! Limits of this host's own links: the bytes that flows carry, and the time that a byte takes. The
//! host's other work changes them severalfold within minutes. So they are measured before and after
//! each row, in messages of the row's length.

use std::{
    io::{self, Read, Write},
    net::{TcpListener, TcpStream},
    os::unix::net::UnixStream,
    thread,
    time::{Duration, Instant},
};

use hushwire_wire::Shape;

use crate::{
    BoxError, CaseContext, LimitBound, Spread, Timer, Unit,
    bounds::{self, count},
    human::memory,
    net::{Transport, joined},
};

/// The link of a row: a transport's bare link, and the kind of limit that is measured around the
/// row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct RowLink {
    transport: Transport,
    kind: LinkKind,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum LinkKind {
    /// Messages of this many bytes on several flows at once. The limit is the bytes per second of
    /// all flows.
    Flows { at_once: usize, message: usize },
    /// Half of the round trip of a byte, in milliseconds. The messages of a round cross, so a round
    /// costs no more.
    Delay,
}

/// A link's limit as it was measured around a row.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Taken {
    /// The link, and the length of its messages, as text.
    pub(crate) name: String,
    pub(crate) spread: Spread,
}

/// LOCAL: the part of a row's time for each of the two measurements. Both together lengthen a run
/// by a quarter.
const SHARE: u32 = 8;
/// The runs of a measurement.
const RUNS: u32 = 3;

impl RowLink {
    /// Three flows at once in messages of about this many bytes, as between three parties in a
    /// ring. `None` without a transport.
    pub(crate) fn three_flows(transport: Transport, message: u64) -> Option<Self> {
        let kind = LinkKind::Flows { at_once: 3, message: rounded(message) };
        (transport != Transport::Inproc).then_some(Self { transport, kind })
    }

    /// One flow in messages of about this many bytes. Its endpoints are two threads, which have a
    /// core each if there are two.
    pub(crate) fn one_flow(transport: Transport, message: u64) -> Self {
        Self { transport, kind: LinkKind::Flows { at_once: 1, message: rounded(message) } }
    }

    /// The time of a byte to a peer.
    pub(crate) fn delay(transport: Transport) -> Self {
        Self { transport, kind: LinkKind::Delay }
    }

    fn unit(&self) -> Unit {
        match self.kind {
            LinkKind::Flows { .. } => Unit::BYTES_PER_S,
            LinkKind::Delay => Unit::MS,
        }
    }

    /// Runs `work` between two measurements of this link, and adds them to the report.
    pub(crate) fn around<T>(
        self,
        ctx: &mut CaseContext<'_>,
        work: impl FnOnce() -> Result<T, BoxError>,
    ) -> Result<(T, Taken), BoxError> {
        let timer = ctx.timer();
        let timer = Timer { budget: timer.budget / SHARE, runs: RUNS };
        let (mut figures, name) = self.take(timer)?;
        let done = work()?;
        figures.extend(self.take(timer)?.0);
        let spread = Spread::of(&self.unit(), &figures).ok_or("no link was timed")?;
        ctx.taken(&name, &self.unit(), spread)?;
        Ok((done, Taken { name, spread }))
    }

    /// The figures of some runs, and the name of the measured link.
    fn take(self, timer: Timer) -> Result<(Vec<f64>, String), BoxError> {
        let unix = UnixStream::pair;
        let LinkKind::Flows { at_once, message } = self.kind else {
            return match self.transport {
                // Shared memory wakes a peer through the kernel, as Unix sockets do.
                Transport::Inproc | Transport::Shm | Transport::Unix => {
                    Ok((bounced(timer, unix)?, "a Unix socket".to_owned()))
                }
                Transport::TcpTls | Transport::TcpInsecure => {
                    Ok((bounced(timer, pair)?, "loopback TCP".to_owned()))
                }
            };
        };
        let ends = Ends { at_once, message };
        let (figures, flows) = match self.transport {
            // The bound of shared memory is that of copies: one into the ring and one out of it.
            // They run in parallel if there are two cores for one flow.
            Transport::Inproc | Transport::Shm => {
                let beside = at_once == 1 && thread::available_parallelism()?.get() > 1;
                let (halves, name) =
                    if beside { (1.0, "a copy in beside a copy out") } else { (2.0, "copies in and out") };
                let copies = bounds::copy_rates(timer, message).into_iter().map(|rate| rate / halves);
                (copies.collect(), name)
            }
            Transport::Unix => (ends.rates(timer, unix)?, ends.name("a Unix flow", "three Unix flows")),
            Transport::TcpTls | Transport::TcpInsecure => {
                (ends.rates(timer, pair)?, ends.name("a loopback TCP flow", "three loopback TCP flows"))
            }
        };
        Ok((figures, format!("{flows}, messages of {}", memory(message as u64))))
    }
}

/// Runs `work` between two measurements of its link, if it has one.
pub(crate) fn around<T>(
    ctx: &mut CaseContext<'_>,
    link: Option<RowLink>,
    work: impl FnOnce() -> Result<T, BoxError>,
) -> Result<(T, Option<Taken>), BoxError> {
    match link {
        Some(link) => link.around(ctx, work).map(|(done, taken)| (done, Some(taken))),
        None => Ok((work()?, None)),
    }
}

impl Taken {
    /// The bound of a row in its own unit. `name` describes the bytes on the link.
    pub(crate) fn bound(
        &self,
        ctx: &mut CaseContext<'_>,
        name: &str,
        unit: &Unit,
        of: impl Fn(f64) -> f64,
    ) -> Result<LimitBound, BoxError> {
        ctx.taken(&format!("{name} {}", self.name), unit, self.spread.map(of))
    }
}

/// The tightest bound of `least` and the links that carry a unit's bytes. These are this host's own
/// link as it was measured, with `flows` at once, and the modelled network's. `name` describes the
/// bytes.
pub(crate) fn tightened(
    ctx: &mut CaseContext<'_>,
    least: LimitBound,
    links: (Option<&Taken>, Shape),
    name: &str,
    unit: &Unit,
    moved: (f64, f64),
) -> Result<LimitBound, BoxError> {
    let other = of_links(ctx, links, name, unit, moved)?;
    Ok(other.into_iter().fold(least, |least, other| least.tighter(other, unit)))
}

/// The tightest bound of `least`, a time, and the links that carry the bytes. This host's own link,
/// as it was measured, carries those of all parties. The modelled network's link carries those of
/// the busiest one.
pub(crate) fn lengthened(
    ctx: &mut CaseContext<'_>,
    least: LimitBound,
    (taken, net): (Option<&Taken>, Shape),
    name: &str,
    [all, busiest]: [f64; 2],
) -> Result<LimitBound, BoxError> {
    let mut limit = least;
    if let Some(taken) = taken {
        limit = limit.tighter(taken.bound(ctx, name, &Unit::MS, |rate| 1e3 * all / rate)?, &Unit::MS);
    }
    if let Some(rate) = net.bits_per_second {
        let line = ctx.bound(&format!("{name} {net}"), Unit::MS, |_| Ok(8e3 * busiest / count(rate)))?;
        limit = limit.tighter(line, &Unit::MS);
    }
    Ok(limit)
}

/// The tightest bound of these links alone; `None` if no link carries bytes.
pub(crate) fn of_links(
    ctx: &mut CaseContext<'_>,
    (taken, net): (Option<&Taken>, Shape),
    name: &str,
    unit: &Unit,
    (flows, bytes): (f64, f64),
) -> Result<Option<LimitBound>, BoxError> {
    let mut all = vec![];
    if let Some(taken) = taken {
        all.push(taken.bound(ctx, name, unit, |rate| rate / (flows * bytes))?);
    }
    if let Some(rate) = net.bits_per_second {
        all.push(ctx.bound(&format!("{name} {net}"), unit.clone(), |_| Ok(count(rate) / 8.0 / bytes))?);
    }
    Ok(all.into_iter().reduce(|a, b| a.tighter(b, unit)))
}

/// The lengths of a link's messages are powers of two, so that rows with similar messages share the
/// name of a limit. Messages longer than 1 MiB are sent in pieces anyway.
fn rounded(message: u64) -> usize {
    const LONGEST: u64 = 1 << 20;
    message.clamp(64, LONGEST).next_power_of_two() as usize
}

/// The flows at once, and the bytes of each write on them.
#[derive(Clone, Copy)]
struct Ends {
    at_once: usize,
    message: usize,
}

impl Ends {
    fn name(self, one: &'static str, three: &'static str) -> &'static str {
        if self.at_once == 1 { one } else { three }
    }

    fn rates<S: Read + Write + Send>(
        self,
        timer: Timer,
        pair: impl Fn() -> io::Result<(S, S)>,
    ) -> Result<Vec<f64>, BoxError> {
        let seconds = timer.durations(|n| flows(&pair, self, n))?;
        let bytes = count((self.at_once * self.message) as u64);
        Ok(seconds.into_iter().map(|seconds| bytes / seconds).collect())
    }
}

fn bounced<S: Read + Write + Send + 'static>(
    timer: Timer,
    pair: impl Fn() -> io::Result<(S, S)>,
) -> Result<Vec<f64>, BoxError> {
    let mut echo = Echo::start(pair()?);
    let seconds = timer.durations(|n| echo.round_trips(n))?;
    Ok(seconds.into_iter().map(|seconds| 1e3 * seconds / 2.0).collect())
}

/// A connection over loopback without delay: the endpoints that dialled and accepted.
fn pair() -> io::Result<(TcpStream, TcpStream)> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let dialled = TcpStream::connect(listener.local_addr()?)?;
    let (accepted, _) = listener.accept()?;
    dialled.set_nodelay(true)?;
    accepted.set_nodelay(true)?;
    Ok((dialled, accepted))
}

/// The time of `n` writes on each of several flows at once.
fn flows<S: Read + Write + Send>(
    pair: &impl Fn() -> io::Result<(S, S)>,
    Ends { at_once, message }: Ends,
    n: u64,
) -> Result<Duration, BoxError> {
    let pairs: Vec<_> = (0..at_once).map(|_| pair()).collect::<io::Result<_>>()?;
    let buffers: Vec<_> = (0..at_once).map(|_| (vec![1u8; message], vec![2u8; message])).collect();
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_as_long_as_the_rows() {
        assert_eq!(
            [0, 64, 65, 12_000, 1 << 20, u64::MAX].map(rounded),
            [64, 64, 128, 1 << 14, 1 << 20, 1 << 20]
        );
        assert_eq!(RowLink::three_flows(Transport::Inproc, 1000), None);
        let timer = Timer { budget: Duration::from_millis(3), runs: 2 };
        for (transport, flow) in [
            (Transport::Shm, "copies in and out"),
            (Transport::Unix, "three Unix flows"),
            (Transport::TcpTls, "three loopback TCP flows"),
        ] {
            let link = RowLink::three_flows(transport, 3000).unwrap();
            let (figures, name) = link.take(timer).unwrap();
            assert_eq!(name, format!("{flow}, messages of 4.00 KiB"));
            assert!(!figures.is_empty() && figures.iter().all(|rate| *rate > 0.0));
        }
        let (delays, name) = RowLink::delay(Transport::TcpInsecure).take(timer).unwrap();
        assert!(name == "loopback TCP" && delays.iter().all(|ms| *ms > 0.0));
    }
}
