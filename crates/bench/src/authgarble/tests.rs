//! Rows of the smallest runs have every field; the sets hold what they must.

use super::*;
use crate::implementation::Implementation;
use crate::{limits, trial};

fn report(only: &[&str]) -> Report {
    let options = trial::options(only);
    let (ran, report, _) =
        trial::run("authgarble", cases(&options, Backend::best(), None).unwrap(), &options, |_| {
            String::new()
        });
    ran.unwrap();
    report
}

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
        let report = report(&only);
        let phases: Vec<_> = report.rows.iter().map(|row| row.params.text("phase").unwrap()).collect();
        assert_eq!(phases, Phase::ALL.map(Phase::name));
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
    let options = trial::options(&["implementation=batched"]);
    let cases = table6_cases(&options, Backend::best(), None).unwrap();
    let (ran, report, printed) = trial::run("table6", cases, &options, paper::print);
    ran.unwrap();
    assert_eq!(report.rows.len(), 2 * Phase::ALL.len());
    for (row, phase) in report.rows.iter().zip(Phase::ALL.into_iter().cycle()) {
        let paper = row.paper.value_in(&Unit::MS);
        assert!(paper.is_some_and(|ms| ms.to_bits() == paper::ms(Implementation::Batched, phase).to_bits()));
    }
    for variant in ["ours (wrk17)", "ours (ywz20)"] {
        assert!(printed.contains(variant), "{printed}");
    }
    assert!(printed.contains("| batched | ") && printed.contains(" / 453.0 |"), "{printed}");
    // A CPU without VAES has fewer lines.
    let papers = |point: &&Point| point.is_the_papers();
    assert!(Point::table6(1, &NETS).iter().filter(papers).count() == 24);
}

/// A network that is given is the one that is measured, over plain TCP, and says so.
#[test]
fn table_6_is_measured_over_networks_too() {
    let options = trial::options(&["implementation=batched", "phase=online", "variant=ywz20"]);
    let lan = "10Gbps,100us".parse().unwrap();
    let cases = table6_cases(&options, Backend::best(), Some(lan)).unwrap();
    let (ran, report, printed) = trial::run("table6", cases, &options, paper::print);
    ran.unwrap();
    let [row] = &report.rows[..] else { panic!("{} rows", report.rows.len()) };
    assert!(row.is(&[("net", &lan.to_string()), ("transport", "tcp-insecure")]) && row.rounds > Some(0));
    assert!(row.paper.value_in(&Unit::MS).is_none(), "the paper has loopback alone");
    assert!(printed.contains(&format!("over tcp-insecure, net {lan}: ")), "{printed}");
    let all = Point::table6(1, &NETS);
    for transport in Transport::ALL {
        let nets = all.iter().filter(|p| p.transport == transport && p.phase == Phase::Online);
        assert_eq!(nets.count(), if transport == Transport::Inproc { 6 } else { 18 });
    }
}

#[test]
fn the_sets_hold_what_they_must() {
    let points = Point::all(&[1, 2], &NETS);
    let core: Vec<_> = points.iter().filter(|point| point.is_core(false, 1)).collect();
    let quick: Vec<_> = points.iter().filter(|point| point.is_quick(1)).collect();
    assert_eq!(quick.len(), 2 * Phase::ALL.len());
    for parties in 2..=8 {
        for circuit in ["aes128", "sha256"] {
            let there =
                |p: &&&Point| p.parties == parties && p.circuit.name == circuit && p.circuit.copies == 1;
            assert!(core.iter().filter(there).count() >= Phase::ALL.len(), "{circuit} among {parties}");
        }
    }
    for net in NETS {
        assert!(core.iter().any(|p| p.net == net));
    }
    assert!(core.iter().any(|p| p.circuit.copies > 1));
    assert!(core.iter().all(|p| p.transport == Transport::TcpInsecure && p.threads == 1));
}

/// The counts of AES calls, by hand.
#[test]
fn calls_are_counted() {
    let at = |parties, variant: &str, phase| {
        let all = Point::all(&[1], &NETS);
        let found =
            all.iter().find(|p| (p.parties, p.variant.name(p.parties), p.phase) == (parties, variant, phase));
        limit::calls(found.unwrap(), 22_272)
    };
    // Buckets of 4: 12 OTs each way of 4 calls, 12 hashes of 2, for each of 6 pairs.
    assert_eq!(at(3, "wrk17", Phase::Independent), 6 * (24 * 4 + 24));
    assert_eq!(at(3, "wrk17", Phase::Dependent), 2 * 4 * 4);
    assert_eq!(at(3, "wrk17", Phase::Online), 2 * 4);
    assert_eq!(at(3, "ywz20", Phase::Dependent), 2 * 4 * 3);
    assert_eq!(at(3, "ywz20", Phase::Online), 2 * 2 * 3);
    assert_eq!(at(2, "krrw18", Phase::Dependent), 8);
    assert_eq!(at(2, "krrw18", Phase::Online), 4);
    assert_eq!(at(2, "krrw18", Phase::Setup), 0);
}
