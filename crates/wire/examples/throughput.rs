//! Bytes per second and the time of an exchange, over each transport and with shaped networks.
//!
//! `cargo run --release -p hushwire-wire --example throughput [seconds for each row [shape]]`
//!
//! One way: party 0 sends, party 1 receives. Ring: each of three parties sends to the next party
//! while it receives from the previous one; the bytes of all three count. The parties are threads
//! of this process.
mod common;

use std::{
    env, thread,
    time::{Duration, Instant},
};

use common::{Outcome, nets};
use hushwire_machine::{Net, PartyId, inproc};
use hushwire_wire::{Shape, TransportKind};

/// LOCAL: the number of runs of a row; the best and the median are reported.
const RUNS: usize = 5;

fn main() -> Outcome<()> {
    let mut args = env::args().skip(1);
    let seconds: f64 = args.next().map_or(Ok(1.0), |arg| arg.parse())?;
    let shape: Shape = args.next().map_or(Ok(Shape::NONE), |arg| arg.parse())?;
    println!("shape {shape}; {RUNS} runs of {:.2} s", seconds / RUNS as f64);
    println!("transport     what     KiB/message  GB/s median    best  us/exchange median");
    let transports =
        [TransportKind::TcpInsecure, TransportKind::TcpTls, TransportKind::Unix, TransportKind::Shm];
    for transport in transports.map(Some).into_iter().chain([None]) {
        for (parties, kib) in [(2, 256), (3, 1), (3, 64), (3, 256), (3, 1024)] {
            row(transport, parties, kib << 10, seconds, shape)?;
        }
    }
    Ok(())
}

fn row(
    transport: Option<TransportKind>,
    parties: u8,
    bytes: usize,
    seconds: f64,
    shape: Shape,
) -> Outcome<()> {
    let mut all = match transport {
        Some(transport) => nets(transport, parties, 1)?,
        None => inproc::mesh(&(0..parties).map(PartyId).collect::<Vec<_>>(), 1, Duration::from_secs(10)),
    };
    all.iter_mut().for_each(|net| shape.apply(net));
    let limit = Duration::from_secs_f64(seconds / RUNS as f64);
    let mut times = thread::scope(|scope| {
        let parties: Vec<_> =
            all.into_iter().map(|net| scope.spawn(move || party(net, bytes, limit))).collect();
        let mut times = Vec::new();
        for party in parties {
            times = party.join().map_err(|_| "a party panicked")??;
        }
        Outcome::Ok(times)
    })?;
    times.sort_by(f64::total_cmp);
    let flows = if parties == 2 { 1.0 } else { f64::from(parties) };
    let rate = |each: f64| bytes as f64 * flows / each / 1e9;
    println!(
        "{:13} {:8} {:11} {:12.2} {:7.2} {:19.1}",
        transport.map_or_else(|| "in-process".to_owned(), |t| t.to_string()),
        if parties == 2 { "one way" } else { "ring" },
        bytes >> 10,
        rate(times[RUNS / 2]),
        rate(times[0]),
        times[RUNS / 2] * 1e6
    );
    Ok(())
}

/// Returns the seconds per message of each run. Party 0 announces the number of messages before
/// each run, so that all parties agree.
fn party(mut net: Net, bytes: usize, limit: Duration) -> Outcome<Vec<f64>> {
    let (me, parties) = (net.me().0, net.peers().len() as u8 + 1);
    let (next, previous) = (PartyId((me + 1) % parties), PartyId((me + parties - 1) % parties));
    let mut channel = net.channel(0, Some(next), Some(previous))?;
    let (out, mut into) = (vec![1; bytes], vec![0; bytes]);
    let (sends, hears) = (parties > 2 || me == 0, parties > 2 || me == 1);
    let mut count: u64 = 8;
    let mut times = Vec::new();
    // The first run only determines how many messages fill the time.
    for run in 0..=RUNS {
        let mut agreed = count.to_le_bytes();
        if me > 0 {
            channel.recv("count", &mut agreed)?;
        }
        channel.send("count", &agreed)?;
        if me == 0 {
            channel.recv("count", &mut agreed)?;
        }
        count = u64::from_le_bytes(agreed);
        let start = Instant::now();
        for _ in 0..count {
            channel.exchange(
                "message",
                if sends { &out } else { &[] },
                if hears { &mut into } else { &mut [] },
            )?;
        }
        // All messages have arrived when the end marker has passed around the ring.
        let mut end = [0];
        if me > 0 {
            channel.recv("end", &mut end)?;
        }
        channel.send("end", &end)?;
        if me == 0 {
            channel.recv("end", &mut end)?;
        }
        let each = start.elapsed().as_secs_f64() / count as f64;
        if run > 0 {
            times.push(each);
        }
        count = ((limit.as_secs_f64() / each) as u64).clamp(2, 1 << 20);
    }
    Ok(times)
}
