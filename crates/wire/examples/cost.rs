//! The cost of a byte between parties: CPU time of this process, for both ends and the kernel's
//! share, for each byte delivered. CPU time, unlike wall time, does not depend on other work of the
//! host.
//!
//! `cargo run --release -p hushwire-wire --example cost [MiB for each row]`
mod common;

use std::{env, fs, thread};

use common::{Outcome, nets};
use hushwire_machine::{Channel, Net, NetError, PartyId};
use hushwire_wire::TransportKind;
use rustix::time::{ClockId, clock_gettime};

const TRANSPORTS: [TransportKind; 4] =
    [TransportKind::TcpInsecure, TransportKind::TcpTls, TransportKind::Unix, TransportKind::Shm];

fn main() -> Outcome<()> {
    let mib: usize = env::args().nth(1).map_or(Ok(1024), |arg| arg.parse())?;
    println!("transport     shape          KiB/message  ns/byte  of it kernel  GB per CPU s");
    for transport in TRANSPORTS {
        for kib in [4, 64, 128, 1024] {
            row(transport, "one flow", kib, mib, 2, 1)?;
        }
        for kib in [64, 128] {
            row(transport, "ring of 3 x 4", kib, mib, 3, 4)?;
        }
    }
    Ok(())
}

fn row(
    transport: TransportKind,
    shape: &str,
    kib: usize,
    mib: usize,
    parties: u8,
    lanes: u16,
) -> Outcome<()> {
    let bytes = kib << 10;
    let flows = if parties == 2 { 1 } else { usize::from(parties) * usize::from(lanes) };
    let rounds = ((mib << 20) / bytes / flows).max(1);
    let nets = nets(transport, parties, lanes)?;
    let before = (cpu_ns(), kernel_ns()?);
    thread::scope(|scope| {
        let parties: Vec<_> = nets
            .into_iter()
            .map(|net| {
                scope.spawn(
                    move || if flows == 1 { flow(net, bytes, rounds) } else { ring(net, bytes, rounds) },
                )
            })
            .collect();
        parties
            .into_iter()
            .try_for_each(|party| party.join().unwrap_or_else(|_| Err("a party panicked".into())))
    })?;
    let moved = (bytes * flows * rounds) as f64;
    let (all, kernel) = ((cpu_ns() - before.0) as f64, (kernel_ns()? - before.1) as f64);
    println!(
        "{:13} {shape:14} {kib:11} {:8.3} {:13.3} {:13.2}",
        transport.to_string(),
        all / moved,
        kernel / moved,
        moved / all
    );
    Ok(())
}

/// Party 0 sends to party 1.
fn flow(mut net: Net, bytes: usize, rounds: usize) -> Outcome<()> {
    let mut message = vec![1; bytes];
    if net.me() == PartyId(0) {
        let mut channel = net.channel(0, Some(PartyId(1)), None)?;
        (0..rounds).try_for_each(|_| channel.send("flow", &message))?;
    } else {
        let mut channel = net.channel(0, None, Some(PartyId(0)))?;
        (0..rounds).try_for_each(|_| channel.recv("flow", &mut message))?;
    }
    Ok(())
}

/// Each of three parties sends to the next party and receives from the previous one, on all lanes
/// in turn.
fn ring(mut net: Net, bytes: usize, rounds: usize) -> Outcome<()> {
    let me = net.me().0;
    let (to, from) = (PartyId((me + 1) % 3), PartyId((me + 2) % 3));
    let mut lanes = (0..net.lanes())
        .map(|lane| Ok((net.channel(lane, Some(to), Some(from))?, vec![1; bytes], vec![0; bytes])))
        .collect::<Result<Vec<(Channel, Vec<u8>, Vec<u8>)>, NetError>>()?;
    for (channel, out, _) in &mut lanes {
        channel.start("ring", out)?;
    }
    for round in 1..=rounds {
        for (channel, out, into) in &mut lanes {
            channel.finish("ring", out, into)?;
            if round < rounds {
                channel.start("ring", out)?;
            }
        }
    }
    Ok(())
}

/// The CPU time of all threads of this process.
fn cpu_ns() -> u64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// The kernel's share of the CPU time, in ticks of 10 ms.
fn kernel_ns() -> Outcome<u64> {
    let stat = fs::read_to_string("/proc/self/stat")?;
    // After the name in parentheses, the state is field 3 and the kernel's time field 15.
    let ticks = stat.rsplit(')').next().and_then(|rest| rest.split_whitespace().nth(12));
    Ok(ticks.ok_or("no stime in /proc/self/stat")?.parse::<u64>()? * 10_000_000)
}
