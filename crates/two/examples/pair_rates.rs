//! Measures operations on shares between two parties of this process, with one thread each: `rates
//! [rows] [ring] [ot]`.

use hushwire_aes::Backend;
use hushwire_machine::{Meter, PartyId, inproc};
use hushwire_ot::{Context, Protocol, Sid};
use hushwire_prg::{Prg, Seed};
use hushwire_two::{ArithmeticParty, Operation, Sign};
use std::{
    thread,
    time::{Duration, Instant},
};

const IDS: [PartyId; 2] = [PartyId(0), PartyId(1)];

/// The operations, each with its number of elements for `rows` rows.
fn operations(rows: usize) -> Vec<(&'static str, Operation, usize)> {
    let shape = [rows.min(1 << 12), 16, 16];
    vec![
        ("relu", Operation::Relu, rows),
        ("max", Operation::Max, rows),
        ("trunc 12, sign unknown", Operation::Truncate { by: 12, sign: Sign::Any }, rows),
        ("trunc 12, sign known", Operation::Truncate { by: 12, sign: Sign::Short }, rows),
        ("trunc 12, to one below", Operation::TruncateBelow { by: 12, sign: Sign::Short }, rows),
        ("multiply", Operation::Multiply, rows / 4),
        (
            "matmul, private factor, MAC",
            Operation::MatMul { shape, holders: [[true, true], [true, false]] },
            shape.iter().product(),
        ),
    ]
}

fn main() {
    let mut args = std::env::args().skip(1);
    let rows: usize = args.next().and_then(|n| n.parse().ok()).unwrap_or(1 << 18);
    let ring: u32 = args.next().and_then(|n| n.parse().ok()).unwrap_or(32);
    let ot: Protocol = args.next().and_then(|n| n.parse().ok()).unwrap_or(Protocol::SoftSpoken2);
    println!("{rows} rows modulo 2^{ring}, {ot}, {:?}", Backend::best());
    let nets = inproc::mesh_capped(&IDS, 2, Duration::from_secs(600), usize::MAX);
    thread::scope(|scope| {
        for (i, mut net) in nets.into_iter().enumerate() {
            scope.spawn(move || {
                let peer = Some(IDS[1 - i]);
                let [mut channel, mut ots] =
                    [0, 1].map(|lane| net.channel(lane, peer, peer).expect("the lane is there"));
                let context = Context { sid: Sid([4; 32]), backend: Backend::best() };
                let mut prg = Prg::new(Backend::best(), &Seed::random(), "shares");
                let meter = Meter::new();
                [&mut channel, &mut ots].into_iter().for_each(|channel| channel.tap(meter.tap()));
                let mut party =
                    ArithmeticParty::open(ots, i, &context, ot, &Seed::random()).expect("a set-up");
                for (name, operation, elements) in operations(rows) {
                    let lengths = match operation {
                        Operation::MatMul { shape: [r, k, c], .. } => vec![r * k, k * c],
                        Operation::Multiply => vec![rows / 4; 2],
                        _ => vec![rows; operation.columns()],
                    };
                    // The numbers are small, but their shares are not.
                    let columns: Vec<Vec<u64>> = lengths
                        .iter()
                        .map(|n| (0..*n).map(|_| prg.next_u64() >> (64 - ring)).collect())
                        .collect();
                    let columns: Vec<&[u64]> = columns.iter().map(Vec::as_slice).collect();
                    let before = meter.reading().bytes_sent();
                    let start = Instant::now();
                    party.apply(&mut channel, &operation, ring, &columns).expect("an honest run");
                    let seconds = start.elapsed().as_secs_f64();
                    let bytes = (meter.reading().bytes_sent() - before) as f64 / elements as f64;
                    if i == 0 {
                        println!(
                            "{name:30} {:9.3} M/s  {bytes:8.1} bytes each sent by a party",
                            elements as f64 / seconds / 1e6
                        );
                    }
                }
            });
        }
    });
}
