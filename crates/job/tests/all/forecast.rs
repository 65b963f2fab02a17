//! Forecasts beside what runs then take.

use crate::common::{REP3, World, check};
use hushwire_garble::Scheme;
use hushwire_job::Forecast;
use hushwire_wire::Shape;
use std::time::Duration;

#[test]
fn bytes_and_rounds_are_as_forecast() {
    let both: &[&str] = &["party0", "party1"];
    for (protocol, circuit) in [
        (REP3, "mul:16"),
        ("protocol = \"gmw\"", "mul:16"),
        ("protocol = \"yao\"", "mul:16"),
        ("protocol = \"yao\"\nscheme = \"prf\"", "mul:16"),
        ("protocol = \"yao\"\nscheme = \"three-halves\"", "sort:16x8"),
    ] {
        let outputs: &[&[&str]] = &[both];
        let inputs = if circuit == "mul:16" { both } else { &both[..1] };
        let parameters = "batch = 1000\nthreads = 1";
        let world = World::under(protocol, circuit, 3000, inputs, outputs, parameters);
        let forecast = world.prepared.forecast(true);
        let stats = check(protocol, circuit, 3000, inputs, outputs, parameters);
        let sent = stats.iter().map(|s| s.bytes_sent).max().unwrap_or_default() as f64;
        let ratio = sent / forecast.bytes_sent as f64;
        assert!((0.85..1.3).contains(&ratio), "{protocol}: {forecast:?}, and {sent} were sent");
        let rounds = stats.iter().map(|s| s.rounds).max().unwrap_or_default();
        assert!(
            (forecast.rounds..=forecast.rounds + 40).contains(&rounds),
            "{protocol}: {forecast:?}, and there were {rounds} rounds"
        );
    }
}

/// Without a plan it is nearly that of a plan, whose ends come on top.
#[test]
fn ands_alone_are_forecast_alike() {
    let both: &[&str] = &["party0", "party1"];
    for (protocol, scheme) in [("protocol = \"yao\"", Some(Scheme::default())), ("protocol = \"gmw\"", None)]
    {
        let world = World::under(protocol, "mul:32", 10_000, both, &[both], "threads = 1\nbatch = 1000");
        let planned = world.prepared.forecast(true);
        assert_eq!(planned.ands, 10_000 * world.prepared.program.ands());
        let alone = Forecast::of_two(scheme, planned.ands, true);
        let ratio = planned.bytes_sent as f64 / alone.bytes_sent as f64;
        assert!((0.9..1.3).contains(&ratio), "{planned:?} {alone:?}");
        assert!((planned.seconds(Shape::NONE) - alone.seconds(Shape::NONE)).abs() < 1e-9);
    }
}

#[test]
fn time_follows_network_threads_and_instructions() {
    let of = |instances, threads, aes| {
        let parameters = format!("threads = {threads}\nbatch = 4096");
        let world = World::new("mul:32", instances, &["party0", "party1"], &[&["party0"]], &parameters);
        world.prepared.forecast(aes)
    };
    let shape = |rate: u64, ms| Shape { bits_per_second: Some(rate), rtt: Duration::from_millis(ms) };
    let (many, once) = (of(100_000_000, 2, true), of(1, 2, true));
    assert!(many.seconds(Shape::NONE) > 10.0 && once.seconds(Shape::lan()) < 1.0, "{many:?} {once:?}");
    assert!(many.seconds(shape(1_000_000_000, 0)) > many.bytes_sent as f64 * 7.9e-9);
    let far = many.seconds(shape(1_000_000_000_000, 200)) - many.seconds(shape(1_000_000_000_000, 0));
    assert!((far - 0.1 * many.rounds as f64).abs() < 1e-6 * far, "half a round trip a round: {far}");
    assert!(of(100_000_000, 4, true).seconds(Shape::NONE) < 0.6 * many.seconds(Shape::NONE));
    assert!(of(100_000_000, 2, false).seconds(Shape::NONE) > 5.0 * many.seconds(Shape::NONE));
}
