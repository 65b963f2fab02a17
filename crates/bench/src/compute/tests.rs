use super::*;
use crate::trial;

fn measured(only: &[&str], spoiled: bool) -> (Result<()>, Report) {
    let options = trial::options(only);
    let cases = cases(&options, Backend::best(), None, spoiled);
    let (ran, report, _) = trial::run("compute", cases, &options, |_| String::new());
    (ran, report)
}

/// Every operation in its smallest size, one of them over all transports and of all types.
const SMALL: [&[&str]; 5] = [
    &["op=mul", "n=4096"],
    &["op=dot", "n=65536", "type=u64", "transport=inproc"],
    &["op=matmul", "columns=1", "n=1024", "type=u32", "transport=unix"],
    &["op=conv2d", "n=32", "type=u32", "transport=inproc"],
    &["op=reveal", "type=u8", "transport=shm"],
];

#[test]
fn every_operation_is_right_and_has_its_params_and_limit() {
    let mut rows = 0;
    for only in SMALL {
        let (ran, report) = measured(&[only, &["net=none", "threads=1"]].concat(), false);
        ran.unwrap();
        for row in &report.rows {
            let keys: Vec<&str> = row.params.keys().collect();
            assert_eq!(keys, ["op", "type", "n", "columns", "protocol", "transport", "net", "threads"]);
            assert_eq!(row.rounds, Some(1), "all of these take one round");
            match row.metric.as_str() {
                "throughput" => {
                    crate::limits::stands(&report, row);
                    let bytes = row.bytes_per_unit.unwrap();
                    assert!(bytes > 0.0 && bytes <= 8.0, "at most a word an element: {bytes}");
                }
                metric => assert_eq!((metric, &row.unit), ("time", &Unit::MS)),
            }
        }
        rows += report.rows.len();
    }
    assert_eq!(rows, 2 * (4 * Transport::ALL.len() + 4));
}

#[test]
fn operations_on_bits_and_orders_are_right() {
    for op in ["a2b", "b2a", "inject", "less", "less-arith", "equal", "trunc", "select", "shuffle"] {
        let op = format!("op={op}");
        let (ran, report) = measured(
            &[&op, "n=1024", "type=u32", "transport=inproc", "transport=shm", "net=none", "threads=1"],
            false,
        );
        ran.unwrap();
        assert_eq!(report.rows.len(), 4, "{op}");
    }
    let sort = ["op=sort", "type=u64", "transport=inproc", "transport=shm", "net=none", "threads=1"];
    let (ran, report) = measured(&sort, false);
    ran.unwrap();
    assert_eq!(report.rows.len(), 4);
    assert!(report.rows[0].rounds.unwrap() > 10, "levels of comparisons");
}

#[test]
fn a_wrong_result_is_not_reported() {
    for only in [["op=mul", "n=4096"], ["op=reveal", "type=u8"]] {
        let only = [&only[..], &["transport=inproc", "threads=1"]].concat();
        let (ran, report) = measured(&only, true);
        let error = ran.unwrap_err().to_string();
        assert!(error.contains("differ from plain arithmetic"), "{error}");
        assert!(report.rows.is_empty());
    }
}

#[test]
fn the_sets_hold_what_they_must() {
    let points = Point::all(&[1, 2], &NETS);
    let core: Vec<_> = points.iter().filter(|point| point.is_core(1)).collect();
    let quick: Vec<_> = points.iter().filter(|point| point.is_quick(1)).collect();
    assert!((100..300).contains(&core.len()), "{} rows", core.len());
    assert!((15..25).contains(&quick.len()), "{} rows", quick.len());
    for line in &grid::TABLE {
        assert!(core.iter().any(|point| point.op == line.op), "{}", line.op.name());
        assert!(quick.iter().any(|point| point.op == line.op), "{}", line.op.name());
    }
}
