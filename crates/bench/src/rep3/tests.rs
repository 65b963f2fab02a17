use super::{grid::Workload, *};
use crate::{net::Transport, trial};

fn measured(only: &[&str], spoiled: bool) -> (Result<()>, Report) {
    let options = trial::options(only);
    let cases = cases(&options, Backend::best(), None, spoiled);
    let (ran, report, _) = trial::run("rep3", cases, &options, |_| String::new());
    (ran, report)
}

#[test]
fn every_workload_and_transport_is_right_and_has_its_params_and_limit() {
    let (ran, report) = measured(&["net=none", "threads=1"], false);
    ran.unwrap();
    assert_eq!(report.rows.len(), Workload::ALL.len() * Transport::ALL.len());
    for row in &report.rows {
        let keys: Vec<&str> = row.params.keys().collect();
        assert_eq!(keys, ["workload", "transport", "net", "threads"]);
        assert_eq!(row.unit, Unit::AND_PER_S);
        crate::limits::stands(&report, row);
        assert_eq!(row.bytes_per_unit, Some(0.125), "one bit an AND");
    }
}

#[test]
fn a_wrong_result_is_not_reported() {
    for transport in ["inproc", "unix"] {
        let only = ["workload=and", "net=none", "threads=1", &format!("transport={transport}")];
        let (ran, report) = measured(&only, true);
        let error = ran.unwrap_err().to_string();
        assert!(error.contains("differ from plain evaluation"), "{error}");
        assert!(report.rows.is_empty());
    }
}

#[test]
fn the_sets_hold_what_they_must() {
    let points = Point::all(&[1, 2], &NETS);
    let core: Vec<_> = points.iter().filter(|point| point.is_core(1)).collect();
    let quick = points.iter().filter(|point| point.is_quick(1)).count();
    assert!((20..60).contains(&core.len()), "{} rows", core.len());
    assert!((4..10).contains(&quick), "{quick} rows");
    for workload in Workload::ALL {
        for transport in Transport::ALL {
            let point = Point { workload, transport, net: Shape::NONE, threads: 1 };
            assert!(core.contains(&&point), "{point:?}");
        }
    }
}
