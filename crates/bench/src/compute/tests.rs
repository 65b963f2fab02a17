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
fn operations_on_bits_and_orders_are_right() {
    let ops =
        ["a2b", "b2a", "inject", "less", "less-arith", "equal", "trunc", "select", "shuffle", "permute"];
    for op in ops {
        let op = format!("op={op}");
        let (ran, report) = measured(
            &[&op, "n=1024", "type=u32", "transport=inproc", "transport=shm", "net=none", "threads=1"],
            false,
        );
        ran.unwrap();
        assert_eq!(report.rows.len(), 4, "{op}");
    }
    let strings = ["op=equal", "op=select", "op=less-arith", "type=bits64", "type=u63", "n=1024"];
    let (ran, report) = measured(&[&strings[..], &["transport=inproc", "threads=1"]].concat(), false);
    ran.unwrap();
    assert_eq!(report.rows.len(), 6);
    let sort =
        ["op=sort", "type=u64", "n=16384", "transport=inproc", "transport=shm", "net=none", "threads=1"];
    let (ran, report) = measured(&sort, false);
    ran.unwrap();
    assert_eq!(report.rows.len(), 4);
    assert!(report.rows[0].rounds.unwrap() > 10, "levels of comparisons");
}

#[test]
fn two_threads_share_the_work() {
    let only = ["transport=inproc", "net=none", "type=u32"];
    for (op, n) in [("mul", "n=1048576"), ("less", "n=131072"), ("matmul", "n=256"), ("dot", "n=65536")] {
        let op = format!("op={op}");
        let rows = |threads: &str| {
            let (ran, report) = measured(&[&only[..], &[&op, n, threads]].concat(), false);
            ran.unwrap();
            report
                .rows
                .into_iter()
                .map(|row| (row.metric.clone(), row.rounds, row.bytes_per_unit))
                .collect::<Vec<_>>()
        };
        let (one, two) = (rows("threads=1"), rows("threads=2"));
        assert_eq!((one.len(), two.len()), (2, 2), "{op}");
        for ((metric, rounds, bytes), (_, of_two, bytes_of_two)) in one.into_iter().zip(two) {
            assert_eq!(bytes, bytes_of_two, "{op}, {metric}: the same work");
            let pieces = matches!(op.as_str(), "op=mul" | "op=less");
            assert_eq!(of_two, if pieces { rounds.map(|n| n / 2) } else { rounds }, "{op}, {metric}");
        }
    }
    // An order is made by one thread.
    assert!(
        Point::all(&[1, 2], &NETS)
            .iter()
            .all(|p| p.threads == 1 || !matches!(p.op, Op::Sort | Op::Shuffle | Op::Permute))
    );
}

#[test]
fn words_are_turned_and_turned_back() {
    for kind in ["type=u8", "type=u64"] {
        let only = ["op=transpose", kind, "n=16384"];
        let (ran, report) = measured(&only, false);
        ran.unwrap();
        assert_eq!(report.rows.len(), 4, "a rate and a time of one thread and of two");
        assert!(report.rows.iter().any(|row| row.unit == Unit::BYTES_PER_S && row.limit.is_some()));
        assert!(measured(&only, true).0.is_err());
    }
}

/// Fields of every row, whatever its operation: names, numbers as numbers, units, limits.
#[test]
fn every_row_of_the_json_has_every_field() {
    let names: Vec<&str> = grid::TABLE.iter().map(|line| line.op.name()).collect();
    let mut asked = vec![
        "mul",
        "dot",
        "matmul",
        "conv2d",
        "less",
        "less-arith",
        "equal",
        "a2b",
        "b2a",
        "inject",
        "trunc",
        "select",
        "shuffle",
        "sort",
        "permute",
        "reveal",
    ];
    asked.sort_unstable();
    let mut sorted = names.clone();
    sorted.sort_unstable();
    assert_eq!(sorted, asked);
    let mut rows = vec![];
    for op in names {
        let n = match op {
            "mul" => "n=4096",
            "dot" => "n=65536",
            "matmul" => "n=256",
            "conv2d" => "n=32",
            "sort" => "n=16384",
            "reveal" => "n=1048576",
            _ => "n=1024",
        };
        let only = [&format!("op={op}"), n, "transport=unix", "net=none", "threads=1", "type=u32"];
        let (ran, report) = measured(&only, false);
        ran.unwrap();
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
    assert_eq!(rows.len(), 2 * asked.len());
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
    assert!((150..330).contains(&core.len()), "{} rows", core.len());
    assert!((15..25).contains(&quick.len()), "{} rows", quick.len());
    for line in &grid::TABLE {
        assert!(core.iter().any(|point| point.op == line.op), "{}", line.op.name());
        assert!(quick.iter().any(|point| point.op == line.op), "{}", line.op.name());
        for net in NETS {
            assert!(
                core.iter().any(|point| point.op == line.op && point.net == net),
                "{} {net}",
                line.op.name()
            );
        }
    }
    // What has a figure to reach.
    for (op, n, columns) in [
        ("sort", 100_000, 1),
        ("sort", 1 << 20, 1),
        ("shuffle", 1 << 20, 1),
        ("shuffle", 1 << 20, 6),
        ("less", 1 << 16, 1),
        ("select", 1 << 16, 1),
        ("equal", 1 << 16, 1),
    ] {
        let over = |transport| {
            core.iter().any(|p| {
                (p.op.name(), p.n, p.columns, p.transport) == (op, n, columns, transport)
                    && p.net == Shape::NONE
            })
        };
        assert!(over(Transport::TcpInsecure) && over(Transport::TcpTls), "{op} of {n} × {columns}");
    }
    let far = |p: &&&Point| p.op.name() == "sort" && p.n == 1 << 20 && p.net == Shape::wan();
    assert_eq!(core.iter().filter(far).count(), 1);
    for op in ["mul", "less", "less-arith", "sort"] {
        for n in (2..8).map(|k| 10usize.pow(k)) {
            assert!(points.iter().any(|p| p.op.name() == op && p.n == n), "the curve of {op} at {n}");
        }
    }
}
