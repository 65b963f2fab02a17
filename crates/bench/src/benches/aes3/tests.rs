use hushwire_machine::Meter;
use hushwire_rep3::Sbox;
use hushwire_wire::Shape;

use super::*;
use crate::{net::Transport, trial};

#[test]
fn every_sbox_key_and_transport_gives_rows_with_params_and_limits() {
    let (report, printed) = trial::measured("aes3", &["blocks=1", "blocks=10", "threads=1", "net=none"]);
    // One block has no key of its own.
    assert_eq!(report.rows.len(), Transport::ALL.len() * Sbox::ALL.len() * (2 + 3));
    for row in &report.rows {
        let keys: Vec<&str> = row.params.keys().collect();
        assert_eq!(keys, ["sbox", "key", "blocks", "transport", "net", "threads"]);
        assert_eq!(row.params.text("net").unwrap(), "none");
        let one = row.params.integer("blocks") == Some(1);
        let (metric, unit) = if one { ("latency", Unit::MS) } else { ("throughput", Unit::BLOCKS_PER_S) };
        assert_eq!((row.metric.as_str(), &row.unit), (metric, &unit));
        crate::limits::stands(&report, row);
        let local = row.params.text("transport").unwrap() == "inproc";
        let around = row.limit_name.as_deref().unwrap().contains("PRF");
        assert_eq!(row.limit_min.is_none(), around, "a link is taken around its rows");
        assert!(!local || around);
        let sbox: Sbox = row.params.text("sbox").unwrap().parse().unwrap();
        let keyed = row.params.text("key").unwrap() == "expand";
        let rounds = (sbox.prepared_rounds() + 10 * sbox.rounds()) as u64 * if keyed { 2 } else { 1 };
        assert_eq!(row.rounds, Some(rounds));
        if !keyed && !one {
            assert_eq!(row.bytes_per_unit, Some(20.0 * f64::from(u32::try_from(sbox.bits()).unwrap())));
        }
    }
    assert!(
        printed.contains("| Damgård, Keller [2009] |") && printed.contains("| tcp-tls, expand, 10 blocks |")
    );
    assert!(printed.contains("| not measured in this run |"), "{printed}");
}

#[test]
fn batches_in_chunks_on_several_threads_are_right_and_stand_in_the_tables() {
    for key in ["pre-expanded", "expand", "per-block"] {
        let only = ["blocks=5000", "sbox=tower", "net=none", &format!("key={key}")];
        let (report, _) = trial::measured("aes3", &only);
        assert_eq!(report.rows.len(), Transport::ALL.len() * 2, "one and two threads on every transport");
    }
    let only = ["blocks=100000", "sbox=tower", "key=pre-expanded", "transport=inproc"];
    let (report, printed) = trial::measured("aes3", &only);
    assert_eq!(report.rows[0].paper.value_in(&Unit::BLOCKS_PER_S), Some(1.3e6));
    assert!(printed.contains("| ours: tower, inproc, 100000 blocks, threads=1 |"), "{printed}");
    assert!(
        printed.contains("| FPGA, one VU9P a party, computed | 60 AND cores | 29.4 | 160 |"),
        "{printed}"
    );
}

#[test]
fn a_modelled_network_slows_what_is_right_and_limits_it() {
    let of = ["sbox=tower", "key=pre-expanded", "net=lan", "transport=unix"];
    let (report, _) = trial::measured("aes3", &[&["blocks=10"], &of[..]].concat());
    assert_eq!(report.rows[0].params.text("net").unwrap(), "lan");
    let (report, _) = trial::measured("aes3", &[&["blocks=1"], &of[..]].concat());
    let row = &report.rows[0];
    assert_eq!((row.limit_name.as_deref(), row.limit), (Some("40 one-way delays of lan"), Some(4.0)));
    assert!(row.median >= 4.0, "{} ms", row.median);
}

#[test]
fn a_wrong_result_is_not_reported() {
    for transport in Transport::ALL {
        let only =
            ["blocks=2", "sbox=tower", "net=none", "key=pre-expanded", &format!("transport={transport}")];
        let error = trial::refused("aes3", &only);
        assert!(error.contains("1 of 2 blocks differ from plain AES"), "{error}");
    }
}

#[test]
fn declared_bytes_and_rounds_are_those_measured() {
    for (key, blocks, threads) in
        [(KeyMode::PreExpanded, 5000, 1), (KeyMode::Expand, 2000, 2), (KeyMode::PerBlock, 7, 1)]
    {
        let transport = Transport::TcpInsecure;
        let point = Point { net: Shape::NONE, sbox: Sbox::Tower, key, blocks, transport, threads };
        let cut = ChunkCut::of(&point);
        let deal = Deal::new(Backend::best(), key, &cut).unwrap();
        let meters = [(); 3].map(|()| Meter::new());
        let mut threads = connected(Backend::best(), &point, &cut, &deal, Some(&meters)).unwrap();
        workers::time(&mut threads, 1).unwrap();
        for meter in &meters {
            let reading = meter.reading();
            let spent = declared(&point, &cut);
            assert_eq!(reading.bytes_sent(), spent.bytes_sent, "{point:?}");
            // The key comes first on the first lane.
            assert_eq!(reading.rounds(), spent.rounds, "{point:?}");
        }
    }
}

#[test]
fn the_sets_hold_what_they_must() {
    let [core, quick] = trial::sets("aes3", &trial::asked(&[]));
    assert!((30..80).contains(&core.len()), "{} rows", core.len());
    assert!((4..9).contains(&quick.len()), "{} rows", quick.len());
    let everywhere = Transport::ALL.into_iter().flat_map(|t| [1, 10_000, 100_000].map(|n| (t, n)));
    let slides = [10, 100, 550, 1000, 5000].map(|n| (Transport::TcpTls, n));
    for (transport, n) in everywhere.chain(slides) {
        let case = format!("net=none,sbox=tower,key=pre-expanded,blocks={n},transport={transport},threads=1");
        assert!(core.iter().any(|other| trial::has(other, &case)), "{case}");
    }
}

#[test]
fn cuts_cover_every_block_once() {
    let three = {
        let mut asked = BenchAsked::default();
        asked.options.threads = Some(3);
        asked
    };
    for point in Point::all(&BenchAsked::default()).into_iter().chain(Point::all(&three)) {
        let cut = ChunkCut::of(&point);
        let ranges = (0..cut.chunks()).map(|c| cut.range(c));
        let end = ranges.fold(0, |at, range| {
            assert!(range.start == at && range.end > at, "{point:?}");
            range.end
        });
        assert_eq!(end, point.blocks);
        let of_threads: usize = (0..cut.threads).map(|t| cut.of_thread(t).count()).sum();
        assert_eq!(of_threads, cut.chunks());
        assert!(
            cut.lanes >= 1 && (0..cut.threads).all(|t| cut.of_thread(t).count() >= 1),
            "{point:?} {cut:?}"
        );
    }
}
