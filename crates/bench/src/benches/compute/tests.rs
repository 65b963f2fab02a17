use super::{grid::*, *};
use crate::{Report, net::NETS, trial};

fn measured(only: &[&str]) -> Report {
    trial::measured("compute", only).0
}

/// Every operation in its smallest size. One operation is measured over all transports and types.
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
        let report = measured(&[only, &["net=none", "threads=1"]].concat());
        for row in &report.rows {
            let keys: Vec<&str> = row.params.keys().collect();
            assert_eq!(keys, ["op", "type", "n", "columns", "protocol", "transport", "net", "threads"]);
            // One round, or one for each of 32 pieces on two lanes.
            let revealed = only.contains(&"op=reveal");
            assert_eq!(row.rounds, Some(if revealed { 16 } else { 1 }), "{}", row.params);
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
fn strings_and_long_sorts_are_right() {
    let strings = ["op=equal", "op=select", "op=less-arith", "type=bits64", "type=u63", "n=1024"];
    let report = measured(&[&strings[..], &["transport=inproc", "threads=1"]].concat());
    assert_eq!(report.rows.len(), 6);
    let links = ["transport=inproc", "transport=shm", "net=none", "threads=1"];
    let sort = measured(&[&["op=sort", "type=u64", "n=16384"], &links[..]].concat());
    assert_eq!(sort.rows.len(), 4);
    assert!(sort.rows[0].rounds.unwrap() > 10, "levels of comparisons");
}

#[test]
fn two_threads_share_the_work() {
    let only = ["transport=inproc", "net=none", "type=u32"];
    for (op, n) in [("mul", "n=1048576"), ("less", "n=131072"), ("matmul", "n=256"), ("dot", "n=65536")] {
        let op = format!("op={op}");
        let rows = |threads: &str| {
            let rows = measured(&[&only[..], &[&op, n, threads]].concat()).rows.into_iter();
            rows.map(|row| (row.metric, row.rounds, row.bytes_per_unit)).collect::<Vec<_>>()
        };
        let (one, two) = (rows("threads=1"), rows("threads=2"));
        assert_eq!((one.len(), two.len()), (2, 2), "{op}");
        for ((metric, rounds, bytes), (_, of_two, bytes_of_two)) in one.into_iter().zip(two) {
            assert_eq!(bytes, bytes_of_two, "{op}, {metric}: the same work");
            let pieces = matches!(op.as_str(), "op=mul" | "op=less");
            assert_eq!(of_two, if pieces { rounds.map(|n| n / 2) } else { rounds }, "{op}, {metric}");
        }
    }
    // One thread makes an order.
    assert!(
        Point::all(&BenchAsked::default()).iter().all(
            |p| p.threads == 1 || !matches!(p.op, ColumnOp::Sort | ColumnOp::Shuffle | ColumnOp::Permute)
        )
    );
}

#[test]
fn words_are_turned_and_turned_back() {
    for kind in ["type=u8", "type=u64"] {
        let only = ["op=transpose", kind, "n=16384"];
        let report = measured(&only);
        assert_eq!(report.rows.len(), 4, "a rate and a time of one thread and of two");
        assert!(report.rows.iter().any(|row| row.unit == Unit::BYTES_PER_S && row.limit.is_some()));
        assert!(trial::refused("compute", &only).contains("words differ"));
    }
}

/// The fields of every row, for any operation: names, numbers, units, and limits.
#[test]
fn every_row_of_the_json_has_every_field() {
    let asked = [
        "mul",
        "dot",
        "matmul",
        "conv2d",
        "reveal",
        "a2b",
        "b2a",
        "inject",
        "less",
        "less-arith",
        "equal",
        "trunc",
        "select",
        "shuffle",
        "sort",
        "permute",
    ];
    assert_eq!(TABLE.map(|line| line.op.name()), asked);
    assert_eq!(ColumnOp::ALL.map(ColumnOp::name), asked);
    let mut rows = vec![];
    for op in asked {
        let n = match op {
            "mul" => "n=4096",
            "dot" => "n=65536",
            "matmul" => "n=256",
            "conv2d" => "n=32",
            "sort" => "n=16384",
            "reveal" => "n=1048576",
            _ => "n=1024",
        };
        let links = ["transport=inproc", "transport=shm", "transport=unix", "net=none"];
        let op_is = format!("op={op}");
        let only = [&links[..], &[&op_is, n, "threads=1", "type=u32"]].concat();
        let report = measured(&only);
        let json: serde_json::Value = serde_json::from_str(&report.to_json().unwrap()).unwrap();
        let memory = |limit: &serde_json::Value| limit["name"].as_str().unwrap().starts_with("copies of");
        assert!(json["limits"].as_array().unwrap().iter().any(memory), "{op}: memory's limit");
        let named = |what: &str| {
            json["limits"].as_array().unwrap().iter().any(|l| l["name"].as_str().unwrap().contains(what))
        };
        assert!(named(" over "), "{op}: the link's limit");
        assert!(op == "reveal" || named("PRF of"), "{op}: the PRF's limit");
        rows.extend(json["rows"].as_array().unwrap().clone());
    }
    for row in &rows {
        for key in ["op", "type", "protocol", "transport", "net"] {
            assert!(row["params"][key].is_string(), "{key}: {row}");
        }
        for key in ["n", "columns", "threads"] {
            assert!(row["params"][key].as_u64() > Some(0), "{key}: {row}");
        }
        let op = row["params"]["op"].as_str().unwrap();
        assert!(row["rounds"].as_u64() > Some(0) && row["median"].as_f64() > Some(0.0));
        assert!(!cfg!(target_os = "linux") || row["peak_memory_bytes"].as_u64() > Some(0));
        let unit = if matches!(op, "matmul" | "conv2d") { "MAC/s" } else { "elements/s" };
        if row["metric"] == "time" {
            assert_eq!(row["unit"], "ms");
            continue;
        }
        assert_eq!((&row["metric"], &row["unit"]), (&"throughput".into(), &unit.into()), "{op}");
        assert!(
            row["limit"].as_f64() > Some(0.0)
                && row["limit_name"].is_string()
                && row["bytes_per_unit"].as_f64() > Some(0.0)
        );
        assert!(row["fraction_of_limit"].is_f64() || row["unjudged"].is_string(), "{row}");
    }
    assert_eq!(rows.len(), 3 * 2 * asked.len());
}

#[test]
fn a_wrong_result_is_not_reported() {
    for only in [["op=mul", "n=4096"], ["op=reveal", "type=u8"]] {
        let only = [&only[..], &["transport=inproc", "threads=1"]].concat();
        let error = trial::refused("compute", &only);
        assert!(error.contains("differ from plain arithmetic"), "{error}");
    }
}

#[test]
fn the_sets_hold_what_they_must() {
    let [core, quick] = trial::sets("compute", &trial::asked(&[]));
    assert!((150..330).contains(&core.len()), "{} rows", core.len());
    assert!((15..25).contains(&quick.len()), "{} rows", quick.len());
    let has = |case: &str| core.iter().any(|other| trial::has(other, case));
    for op in ColumnOp::ALL.map(ColumnOp::name) {
        assert!(quick.iter().any(|case| trial::has(case, &format!("op={op}"))), "{op}");
        for net in NETS {
            assert!(has(&format!("op={op},net={net}")), "{op} {net}");
        }
    }
    // The sizes with required figures.
    for size in [
        "op=sort,n=100000,columns=1",
        "op=sort,n=1048576,columns=1",
        "op=shuffle,n=1048576,columns=1",
        "op=shuffle,n=1048576,columns=6",
        "op=less,n=65536,columns=1",
        "op=select,n=65536,columns=1",
        "op=equal,n=65536,columns=1",
    ] {
        for transport in ["tcp-insecure", "tcp-tls"] {
            assert!(has(&format!("{size},net=none,transport={transport}")), "{size} over {transport}");
        }
    }
    assert_eq!(core.iter().filter(|case| trial::has(case, "op=sort,n=1048576,net=wan")).count(), 1);
    let points = Point::all(&BenchAsked::default());
    for op in [ColumnOp::Mul, ColumnOp::Less, ColumnOp::LessArith, ColumnOp::Sort] {
        for n in (2..8).map(|k| 10usize.pow(k)) {
            assert!(points.iter().any(|p| p.op == op && p.n == n), "the curve of {op:?} at {n}");
        }
    }
}
