use super::Workload;
use crate::{Unit, limits, net::Transport, trial};

#[test]
fn every_workload_and_transport_is_right_and_has_its_params_and_limit() {
    let (report, _) = trial::measured("rep3", &["net=none", "threads=1"]);
    assert_eq!(report.rows.len(), Workload::ALL.len() * Transport::ALL.len());
    for row in &report.rows {
        let keys: Vec<&str> = row.params.keys().collect();
        assert_eq!(keys, ["workload", "transport", "net", "threads"]);
        assert_eq!(row.unit, Unit::AND_PER_S);
        limits::stands(&report, row);
        assert_eq!(row.bytes_per_unit, Some(0.125), "one bit an AND");
    }
}

#[test]
fn a_wrong_result_is_not_reported() {
    for transport in ["transport=inproc", "transport=unix"] {
        let error = trial::refused("rep3", &["workload=and", "net=none", "threads=1", transport]);
        assert!(error.contains("differ from plain evaluation"), "{error}");
    }
}

#[test]
fn the_sets_hold_what_they_must() {
    let [core, quick] = trial::sets("rep3", &trial::asked(&[]));
    assert!((20..60).contains(&core.len()), "{} rows", core.len());
    assert!((4..10).contains(&quick.len()), "{} rows", quick.len());
    for (workload, transport) in Workload::ALL.iter().flat_map(|w| Transport::ALL.map(|t| (w.name(), t))) {
        let near = format!("workload={workload},transport={transport},net=none,threads=1");
        assert!(core.iter().any(|case| trial::has(case, &near)), "{near}");
    }
}
