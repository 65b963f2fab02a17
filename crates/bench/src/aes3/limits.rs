//! What bounds the benchmark: the PRF of the zero-shares, the loopback link, and its round trip.

use std::{
    io::{self, Read, Write},
    net::{TcpListener, TcpStream},
    thread,
    time::{Duration, Instant},
};

use hushwire_aes::Backend;
use hushwire_rep3::{KeySize, Sbox, cost, expansion_cost, zero_words};

use super::grid::{KeyMode, Point};
use crate::{
    BoxError, Context, Unit,
    bounds::{self, count},
    net::{Transport, joined},
};

/// Blocks of a batch so long that its padding does not count.
const MANY: usize = 4096;

/// Measures the limits of a point and gives the name of the one that binds.
pub(super) fn of(
    ctx: &mut Context<'_>,
    backend: Backend,
    point: &Point,
    rounds: u64,
) -> Result<String, BoxError> {
    if point.blocks == 1 {
        return one_block(ctx, backend, point, rounds);
    }
    let sbox = point.sbox;
    let threads = if point.transport == Transport::Inproc { point.threads } else { 3 * point.threads };
    let cores = threads.min(thread::available_parallelism()?.get());
    let peak = bounds::rounds(ctx, backend)?;
    let prf = format!("PRF of {sbox} on {cores} {}", if cores == 1 { "core" } else { "cores" });
    let bound = ctx.limit(&prf, Unit::BLOCKS_PER_S, |_| {
        Ok(peak * count(cores as u64) / (count(prf_blocks(sbox, MANY)) / count(MANY as u64)))
    })?;
    if point.transport == Transport::Inproc {
        return Ok(prf);
    }
    let bytes_per_s = ctx.limit("loopback TCP, three flows", Unit::BYTES_PER_S, |timer| {
        let seconds = timer.durations(flows)?;
        Ok(3.0 * count(WRITE as u64) / least(&seconds))
    })?;
    let link = format!("{sbox} over three flows");
    let link_bound = ctx.limit(&link, Unit::BLOCKS_PER_S, |_| {
        let all_parties = count(3 * cost(KeySize::Aes128, sbox, MANY).bytes_sent) / count(MANY as u64);
        Ok(bytes_per_s / all_parties)
    })?;
    Ok(if link_bound < bound { link } else { prf })
}

/// PRF calls of all three parties for a batch: two for every word that each of them draws.
fn prf_blocks(sbox: Sbox, blocks: usize) -> u64 {
    3 * 2 * zero_words(KeySize::Aes128, sbox, blocks)
}

/// The time of one block: over TCP its round trips, in one process its PRF.
fn one_block(
    ctx: &mut Context<'_>,
    backend: Backend,
    point: &Point,
    rounds: u64,
) -> Result<String, BoxError> {
    if point.transport == Transport::Inproc {
        let peak = bounds::rounds(ctx, backend)?;
        let mut calls = prf_blocks(point.sbox, 1);
        let mut name = format!("PRF of one block with {}", point.sbox);
        if point.key == KeyMode::Expand {
            // A message of the expansion of one key fits in a word.
            calls += 3 * 2 * expansion_cost(KeySize::Aes128, point.sbox, 1).rounds;
            name += " and its key";
        }
        ctx.limit(&name, Unit::MS, |_| Ok(1e3 * count(calls) / peak))?;
        return Ok(name);
    }
    let round_trip = ctx.limit("loopback TCP, round trip of a byte", Unit::MS, |timer| {
        let echo = Echo::start()?;
        let seconds = timer.durations(|n| echo.round_trips(n))?;
        Ok(1e3 * least(&seconds))
    })?;
    let name = format!("{rounds} round trips");
    ctx.limit(&name, Unit::MS, |_| Ok(count(rounds) * round_trip))?;
    Ok(name)
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

/// `n` writes on each of three flows at once.
fn flows(n: u64) -> Result<Duration, BoxError> {
    let pairs: Vec<_> = (0..3).map(|_| pair()).collect::<io::Result<_>>()?;
    let buffers: Vec<_> = (0..3).map(|_| (vec![1u8; WRITE], vec![2u8; WRITE])).collect();
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
struct Echo(TcpStream);

impl Echo {
    fn start() -> io::Result<Self> {
        let (ours, mut theirs) = pair()?;
        thread::spawn(move || {
            let mut byte = [0];
            while theirs.read_exact(&mut byte).and_then(|()| theirs.write_all(&byte)).is_ok() {}
        });
        Ok(Self(ours))
    }

    fn round_trips(&self, n: u64) -> Result<Duration, BoxError> {
        let (mut stream, mut byte) = (&self.0, [7]);
        let begin = Instant::now();
        for _ in 0..n {
            stream.write_all(&byte)?;
            stream.read_exact(&mut byte)?;
        }
        Ok(begin.elapsed())
    }
}
