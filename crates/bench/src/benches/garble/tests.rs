use super::*;
use crate::{Report, trial};

fn report(only: &[&str], circuit: Option<&Path>) -> Report {
    let own = circuit.map(|path| ("circuit", path.into())).into_iter().collect();
    let (ran, report, _) = trial::run("garble", &BenchAsked { own, ..trial::asked(only) });
    ran.unwrap();
    report
}

#[test]
fn rows_have_the_agreed_params_and_say_what_they_did() {
    let only = ["scheme=mi", "width=8", "tier=portable"];
    let report = report(&only, None);
    // Two operations, two orders, three circuits.
    assert_eq!(report.rows.len(), 12);
    for row in &report.rows {
        let keys: Vec<_> = row.params.keys().collect();
        assert_eq!(keys, ["scheme", "op", "tier", "width", "order", "circuit"]);
        assert_eq!((row.metric.as_str(), &row.unit), ("throughput", &Unit::AND_PER_S));
        let garbles = row.params.text("op").unwrap() == "garble";
        assert_eq!(row.more["aes_calls_per_and"], if garbles { 4.0 } else { 2.0 });
        assert_eq!(row.more["key_schedules_per_and"], 2.0);
        assert!((row.more["ns_per_and"].as_f64().unwrap() - 1e9 / row.median).abs() < 1e-6);
        assert_eq!(row.bytes_per_unit, Some(32.0));
        let batch = row.more["mean_batch"].as_f64().unwrap();
        assert!((1.0..=8.0).contains(&batch), "{batch}");
        assert!(row.limit.is_some_and(|limit| limit > 0.0));
    }
}

#[test]
fn a_file_is_measured_beside_the_built_in_circuits() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("half-adder.txt");
    std::fs::write(&path, "2 4\n2 1 1\n1 2\n\n2 1 0 1 2 XOR\n2 1 0 1 3 AND\n").unwrap();
    let only = ["scheme=prp", "width=1", "circuit=half-adder", "tier=portable"];
    let report = report(&only, Some(&path));
    assert_eq!(report.rows.len(), 4);
    assert!(report.rows.iter().all(|row| row.more["ands"] == 1));
}

#[test]
fn a_file_that_is_none_is_named() {
    let own = [("circuit", "no/such.txt".into())].into();
    let error = cases(&BenchAsked { own, ..BenchAsked::default() }).err().unwrap();
    assert!(format!("{error:?}").contains("no/such.txt"), "{error:?}");
}

#[test]
fn every_scheme_is_right_in_every_form() {
    let wide = report(&["width=1024", "tier=portable", "circuit=wide", "order=depth"], None);
    assert_eq!(wide.rows.len(), 2 * Scheme::ALL.len());
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("and.txt");
    std::fs::write(&path, "1 3\n2 1 1\n1 1\n\n2 1 0 1 2 AND\n").unwrap();
    let both = report(&["width=1024", "tier=portable", "circuit=and"], Some(&path));
    assert_eq!(both.rows.len(), 4 * Scheme::ALL.len());
}
