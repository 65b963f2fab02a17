//! Rows of the smallest runs have every field, and the sets have the required rows.

use super::*;
use crate::{Unit, limits, net::NETS, trial};

#[test]
fn every_row_of_the_json_has_every_field() {
    for (parties, variant, transport, threads) in
        [("2", "krrw18", "unix", "1"), ("3", "wrk17", "inproc", "2"), ("4", "ywz20", "inproc", "1")]
    {
        let only = [
            "circuit=aes128",
            &format!("parties={parties}"),
            &format!("variant={variant}"),
            &format!("transport={transport}"),
            "implementation=batched",
            "net=none",
            &format!("threads={threads}"),
        ];
        let (report, _) = trial::measured("authgarble", &only);
        let phases: Vec<_> = report.rows.iter().map(|row| row.params.text("phase").unwrap()).collect();
        assert_eq!(phases, AuthPhase::ALL.map(AuthPhase::name));
        for row in &report.rows {
            limits::stands(&report, row);
        }
        let json: serde_json::Value = serde_json::from_str(&report.to_json().unwrap()).unwrap();
        for row in json["rows"].as_array().unwrap() {
            let keys: Vec<_> = row["params"].as_object().unwrap().keys().map(String::as_str).collect();
            assert_eq!(
                keys,
                ["circuit", "parties", "variant", "phase", "implementation", "transport", "net", "threads"]
            );
            assert_eq!(row["params"]["parties"].as_u64(), parties.parse().ok());
            assert_eq!((&row["metric"], &row["unit"]), (&"time".into(), &"ms".into()));
            assert!(row["median"].as_f64() > Some(0.0) && row["rounds"].as_u64() > Some(0));
            assert!(row["bytes_per_unit"].as_f64() > Some(0.0) && row["limit"].as_f64() > Some(0.0));
            assert!(row["fraction_of_limit"].is_f64() || row["unjudged"].is_string(), "{row}");
            assert_eq!(row["ands"].as_u64(), Some(6400));
        }
    }
}

#[test]
fn table_6_stands_beside_the_papers() {
    let (report, printed) = trial::measured("table6", &["implementation=batched"]);
    assert_eq!(report.rows.len(), 2 * AuthPhase::ALL.len());
    for (row, phase) in report.rows.iter().zip(AuthPhase::ALL.into_iter().cycle()) {
        let paper = row.paper.value_in(&Unit::MS);
        assert_eq!(paper, [45.4, 453.0, 250.7, 7.0].get(phase as usize).copied());
    }
    for variant in ["ours (wrk17)", "ours (ywz20)"] {
        assert!(printed.contains(variant), "{printed}");
    }
    assert!(printed.contains("| batched | ") && printed.contains(" / 453.0 |"), "{printed}");
    // A CPU without VAES has fewer lines.
    let papers = |point: &&Point| point.is_the_papers();
    assert!(Point::table6(&BenchAsked::default()).iter().filter(papers).count() == 24);
}

/// A given network is measured over plain TCP, and the report names it.
#[test]
fn table_6_is_measured_over_networks_too() {
    let asked = trial::asked(&["implementation=batched", "phase=online", "variant=ywz20"]);
    let lan: Shape = "10Gbps,100us".parse().unwrap();
    let (ran, report, printed) = trial::run("table6", &BenchAsked { net: Some(lan), ..asked });
    ran.unwrap();
    let [row] = &report.rows[..] else { panic!("{} rows", report.rows.len()) };
    assert!(row.is(&[("net", &lan.to_string()), ("transport", "tcp-insecure")]) && row.rounds > Some(0));
    assert!(row.paper.value_in(&Unit::MS).is_none(), "the paper has loopback alone");
    assert!(printed.contains(&format!("over tcp-insecure, net {lan}: ")), "{printed}");
    let all = Point::table6(&BenchAsked::default());
    for transport in Transport::ALL {
        let nets = all.iter().filter(|p| p.transport == transport && p.phase == AuthPhase::Online);
        assert_eq!(nets.count(), if transport == Transport::Inproc { 6 } else { 18 });
    }
}

#[test]
fn the_sets_hold_what_they_must() {
    let [core, quick] = trial::sets("authgarble", &trial::asked(&[]));
    let has = |case: &str| core.iter().filter(|other| trial::has(other, case)).count();
    assert_eq!(quick.len(), 2 * AuthPhase::ALL.len());
    for (parties, circuit) in (2..=8).flat_map(|parties| ["aes128", "sha256"].map(|c| (parties, c))) {
        let there = has(&format!("parties={parties},circuit={circuit}"));
        assert!(there >= AuthPhase::ALL.len(), "{circuit} among {parties}");
    }
    assert!(NETS.iter().all(|net| has(&format!("net={net}")) > 0) && has("circuit=32xaes128") > 0);
    assert_eq!(has("transport=tcp-insecure,threads=1"), core.len());
}

/// The counts of AES calls equal those counted by hand.
#[test]
fn calls_are_counted() {
    let at = |parties, variant: &str, phase| {
        let all = Point::all(&BenchAsked::default());
        let found =
            all.iter().find(|p| (p.parties, p.variant.name(p.parties), p.phase) == (parties, variant, phase));
        limit::calls(found.unwrap(), 22_272)
    };
    // Buckets of 4: for each of 6 pairs, 12 OTs in each direction of 4 calls, and 12 hashes of 2
    // calls.
    assert_eq!(at(3, "wrk17", AuthPhase::Independent), 6 * (24 * 4 + 24));
    assert_eq!(at(3, "wrk17", AuthPhase::Dependent), 2 * 4 * 4);
    assert_eq!(at(3, "wrk17", AuthPhase::Online), 2 * 4);
    assert_eq!(at(3, "ywz20", AuthPhase::Dependent), 2 * 4 * 3);
    assert_eq!(at(3, "ywz20", AuthPhase::Online), 2 * 2 * 3);
    assert_eq!(at(2, "krrw18", AuthPhase::Dependent), 8);
    assert_eq!(at(2, "krrw18", AuthPhase::Online), 4);
    assert_eq!(at(2, "krrw18", AuthPhase::Setup), 0);
}
