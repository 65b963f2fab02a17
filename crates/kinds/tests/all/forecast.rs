//! Forecasts, compared with what runs then take.

use crate::common::{REP3, World, check};
use hushwire_garble::Scheme;
use hushwire_kinds::Job;
use hushwire_ot::{Level, Protocol as Extension};
use hushwire_session::{Forecast, Task};
use hushwire_wire::Shape;
use std::{path::Path, time::Duration};

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

/// A forecast from the number of ANDs alone is close to that of a plan, which adds inputs and
/// outputs.
#[test]
fn ands_alone_are_forecast_alike() {
    let both: &[&str] = &["party0", "party1"];
    for (protocol, scheme) in [("protocol = \"yao\"", Some(Scheme::default())), ("protocol = \"gmw\"", None)]
    {
        let world = World::under(protocol, "mul:32", 10_000, both, &[both], "threads = 1\nbatch = 1000");
        let planned = world.prepared.forecast(true);
        assert_eq!(planned.work, 10_000 * world.prepared.program.ands());
        let alone = Forecast::of_two(scheme, planned.work, true);
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
    let rounds = (many.rounds + many.set_up) as f64;
    assert!((far - 0.1 * rounds).abs() < 1e-6 * far, "half a round trip a round: {far}");
    assert!(of(100_000_000, 4, true).seconds(Shape::NONE) < 0.6 * many.seconds(Shape::NONE));
    assert!(of(100_000_000, 2, false).seconds(Shape::NONE) > 5.0 * many.seconds(Shape::NONE));
}

/// 1 GiB takes half a minute and 27 GB among three processes of one machine (docs/measurements).
#[test]
fn encryptions_are_forecast_from_their_length() {
    let job = |keys: &str| match Job::parse(
        &format!("kind = \"aes-ctr\"\nowner = \"client:o\"\n{keys}"),
        Path::new("j"),
    ) {
        Ok(Job::AesCtr(job)) => job,
        _ => panic!("{keys}"),
    };
    let of =
        |keys: &str, bytes, aes| job(keys).forecast(aes, Some(bytes)).unwrap_or_else(|| panic!("{keys}"));
    let main = of("", 1 << 30, true);
    assert_eq!((main.work, main.unit), (1 << 26, "blocks"));
    assert!((26e9..30e9).contains(&(main.bytes_sent as f64)), "{main:?}");
    assert!((30.0..120.0).contains(&main.seconds(Shape::NONE)), "{main:?}");
    // AES-256 has fourteen rounds instead of ten. Runs take longer without AES instructions or with
    // other S-boxes.
    let rounds = |keys: &str| of(keys, 1 << 30, true).rounds as f64 / main.rounds as f64;
    assert!((rounds("key-bits = 256") - 1.4).abs() < 1e-3 && rounds("sbox = \"bp32\"") > 1.4);
    assert!(of("", 1 << 30, false).seconds(Shape::NONE) > 5.0 * main.seconds(Shape::NONE));
    assert!(of("sbox = \"lut256\"", 1 << 30, true).seconds(Shape::NONE) > 10.0 * main.seconds(Shape::NONE));
    assert_eq!(of("", 0, true).seconds(Shape::NONE), 0.0);
    assert_eq!(job("").forecast(true, None), None, "only the owner knows the length");
    assert_eq!(job("hardware = [\"party1\"]").forecast(true, Some(1 << 30)), None);
}

#[test]
fn transfers_are_forecast_from_their_number() {
    let of = |ot, level| Forecast::of_ots(ot, level, 100_000_000, true);
    let main = of(Extension::SoftSpoken4, Level::Malicious);
    assert_eq!((main.work, main.unit), (100_000_000, "OTs"));
    // The sender sends two messages of 16 bytes each.
    assert!((3.2e9..3.4e9).contains(&(main.bytes_sent as f64)), "{main:?}");
    assert!(
        main.seconds(Shape::NONE) > 10.0
            && of(Extension::Iknp, Level::SemiHonest).bytes_sent >= 3_200_000_000
    );
    assert!(Forecast::of_ots(Extension::FerretB10, Level::Malicious, 1, true).seconds(Shape::lan()) < 1.0);
}
