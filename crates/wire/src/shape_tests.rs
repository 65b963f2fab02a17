//! Shapes as text, and schedules in simulated time.

use std::time::{Duration, Instant};

use proptest::prelude::{any, prop_assert, prop_assert_eq, proptest};

use super::{Schedule, Shape};

fn shape(text: &str) -> Shape {
    text.parse().unwrap_or_else(|e| panic!("{e}"))
}

#[test]
fn text_names_what_it_says() {
    assert_eq!(shape("none"), Shape::NONE);
    assert_eq!(
        shape("lan"),
        Shape { bits_per_second: Some(10_000_000_000), rtt: Duration::from_micros(200) }
    );
    assert_eq!(shape("wan"), Shape { bits_per_second: Some(100_000_000), rtt: Duration::from_millis(40) });
    assert_eq!(shape("100Mbps,40ms"), Shape::wan());
    assert_eq!(
        shape("1Gbps,5ms"),
        Shape { bits_per_second: Some(1_000_000_000), rtt: Duration::from_millis(5) }
    );
    assert_eq!(
        shape("2.5kbps, 0.2us"),
        Shape { bits_per_second: Some(2500), rtt: Duration::from_nanos(200) }
    );
    assert_eq!(shape("max,1s"), Shape { bits_per_second: None, rtt: Duration::from_secs(1) });
    assert_eq!(shape("9bps,0s"), Shape { bits_per_second: Some(9), rtt: Duration::ZERO });
    assert_eq!(Shape::wan().to_string(), "wan");
    assert_eq!(shape("1500Mbps,5000us").to_string(), "1500Mbps,5ms");
    for bad in [
        "",
        "lan,",
        "1Gbps",
        "1Gb,1ms",
        "0bps,1ms",
        "1Gbps,1",
        "-1bps,1s",
        "1.bps,1s",
        ".5bps,1s",
        "0.1bps,1s",
    ] {
        let e = bad.parse::<Shape>();
        assert!(e.is_err(), "{bad} is {e:?}");
    }
    assert!("18446744073709551615Gbps,1s".parse::<Shape>().is_err());
}

#[test]
fn a_message_takes_its_sending_and_half_a_round_trip() {
    let now = Instant::now();
    let mut wan = Schedule::new(Shape::wan());
    // 12,500 bytes take 1 ms at 100 Mbit/s.
    assert_eq!(wan.due(12_500, now) - now, Duration::from_millis(21));
    assert_eq!(wan.due(12_500, now) - now, Duration::from_millis(22), "behind the one before");
    let later = now + Duration::from_secs(1);
    assert_eq!(wan.due(0, later) - later, Duration::from_millis(20), "an idle line owes nothing");
    let mut far = Schedule::new(shape("max,1s"));
    assert_eq!(far.due(usize::MAX, now) - now, Duration::from_millis(500));
}

proptest! {
    #[test]
    fn display_reads_back(rate in any::<Option<u64>>(), rtt in 0u64..1 << 50) {
        let shape = Shape { bits_per_second: rate.map(|rate| rate.max(1)), rtt: Duration::from_nanos(rtt) };
        prop_assert_eq!(shape.to_string().parse::<Shape>().unwrap_or_default(), shape);
    }

    /// However messages are divided and spaced, they arrive in order and never faster than the
    /// rate.
    #[test]
    fn the_rate_is_exact(
        sizes in proptest::collection::vec((0usize..100_000, 0u64..3_000), 1..60),
        rate in 1_000u64..20_000_000_000,
    ) {
        let shape = Shape { bits_per_second: Some(rate), rtt: Duration::from_micros(10) };
        let (mut schedule, start) = (Schedule::new(shape), Instant::now());
        let (mut now, mut last, mut bits) = (start, start, 0u128);
        for (bytes, pause) in sizes {
            now += Duration::from_nanos(pause);
            let due = schedule.due(bytes, now);
            bits += bytes as u128 * 8;
            prop_assert!(due >= last && due >= now + shape.one_way());
            let least = bits * 1_000_000_000 / u128::from(rate);
            prop_assert!((due - start - shape.one_way()).as_nanos() >= least);
            last = due;
        }
    }

    /// A message that is sent at once arrives at the same nanosecond, whole or in pieces.
    #[test]
    fn pieces_end_with_the_whole(sizes in proptest::collection::vec(0usize..3000, 1..60), rate in 1u64..1 << 40) {
        let shape = Shape { bits_per_second: Some(rate), rtt: Duration::ZERO };
        let now = Instant::now();
        let whole = Schedule::new(shape).due(sizes.iter().sum(), now);
        let mut schedule = Schedule::new(shape);
        let mut last = now;
        for bytes in sizes {
            last = schedule.due(bytes, now);
        }
        prop_assert_eq!(last, whole);
    }
}
