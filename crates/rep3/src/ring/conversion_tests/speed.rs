//! Measurements: `cargo test --release -p hushwire-rep3 --lib -- --ignored --nocapture speed`. Three parties take turns on one thread,
//! without a network; times are those of one party, of the processor where Linux tells them: others may share the machine.

use super::super::{
    Less, LessBounded, OnBits, ToBits, ToNumbers, Truncate,
    test_support::{share_bits, share_words},
};
use super::*;
use hushwire_circuit::Adder;
use std::time::Duration;

/// Processor time of this thread.
pub(in crate::ring) fn now() -> Duration {
    static START: std::sync::LazyLock<std::time::Instant> = std::sync::LazyLock::new(std::time::Instant::now);
    let told = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let nanos = told.and_then(|text| text.split(' ').next()?.parse().ok());
    nanos.map_or_else(|| START.elapsed(), Duration::from_nanos)
}

fn timed<M: Machine<Error = NetError>>(
    name: &str,
    rows: usize,
    make: impl Fn(&mut Batch, usize) -> M,
) -> [M; 3] {
    let mut parties = parties();
    let mut lockstep = Lockstep::new();
    let mut last = None;
    // The clock ticks in milliseconds. The first run is not counted: its pages are fresh.
    let (times, mut spent) = ((1 << 22) / rows, [Duration::ZERO; 2]);
    for i in 0..=times {
        let start = now();
        let mut machines = parties.each_mut().map(|party| {
            let role = party.role().index();
            make(&mut party.next_batch().unwrap(), role)
        });
        let made = now() - start;
        lockstep.run(&mut machines).unwrap();
        if i > 0 {
            spent = [spent[0] + made, spent[1] + (now() - start)];
        }
        last = Some(machines);
    }
    let machines = last.unwrap();
    let cost = machines[1].cost().unwrap();
    let [made, all] = spent.map(|time| time.as_secs_f64() / (3 * times) as f64);
    println!(
        "{name}, {rows} rows: {:.2} ms ({:.2} ms of it to begin), {:.1} million rows/s, {:.2} GB/s sent, {} rounds",
        1e3 * all,
        1e3 * made,
        rows as f64 / all / 1e6,
        cost.bytes_sent as f64 / all / 1e9,
        cost.rounds,
    );
    machines
}

#[test]
#[ignore = "a measurement"]
fn speed_of_conversions() {
    for rows in [1 << 12, 1 << 16, 1 << 20] {
        let [x, y] = [0; 2].map(|_: u8| numbers::<u64>(&mut random(), rows));
        let [xs, ys] = [&x, &y].map(|v| share_words(&mut random(), v));
        for adder in Adder::ALL {
            println!("{adder:?}");
            let bits =
                timed("u64 to bits", rows, |b, i| ToBits::new(b, &xs[i], adder).unwrap()).map(ToBits::finish);
            timed("bits to u64", rows, |b, i| ToNumbers::<u64>::new(b, &bits[i], adder).unwrap());
            timed("u64 less", rows, |b, i| Less::new(b, &xs[i], &ys[i], false, adder).unwrap());
            timed("u64 less, bounded", rows, |b, i| LessBounded::new(b, &xs[i], &ys[i], adder).unwrap());
            timed("u64 truncated", rows, |b, i| Truncate::new(b, &xs[i], 16, true, adder).unwrap());
            let [xb, yb] = [&x, &y].map(|v| share_bits(&mut random(), 64, v));
            timed("less:64 of bits", rows, |b, i| OnBits::less(b, &xb[i], &yb[i], false, adder).unwrap());
        }
    }
}
