use super::*;
use crate::trial;

fn measured(only: &[&str], spoiled: bool) -> (Result<()>, Report) {
    let options = trial::options(only);
    let cases = cases(&options, Backend::best(), None, spoiled).unwrap();
    let (ran, report, _) = trial::run("tables", cases, &options, |_| String::new());
    (ran, report)
}

/// The smallest size of each.
const SMALL: [(&str, &str); 8] = [
    ("sort", "n=1024"),
    ("flags", "n=4096"),
    ("filter", "n=4096"),
    ("compact", "n=4096"),
    ("group-by", "n=1024"),
    ("join", "n=512"),
    ("tag-join", "n=512"),
    ("join-group-order", "n=512"),
];

#[test]
fn every_operator_is_right_and_its_row_has_every_field() {
    for (op, n) in SMALL {
        let op = format!("op={op}");
        let (ran, report) = measured(&[&op, n, "transport=unix", "net=none"], false);
        ran.unwrap();
        let [row] = &report.rows[..] else { panic!("a row: {}", report.rows.len()) };
        let keys: Vec<&str> = row.params.keys().collect();
        assert_eq!(keys, ["op", "n", "columns", "groups", "protocol", "transport", "net"]);
        assert_eq!((row.metric.as_str(), &row.unit), ("time", &crate::Unit::MS));
        assert!(row.rounds > Some(0) && row.bytes_per_unit > Some(0.0), "{row:?}");
        assert!(!cfg!(target_os = "linux") || row.peak_memory_bytes > Some(0));
        let sorts = match op.as_str() {
            "op=sort" | "op=group-by" | "op=join" | "op=join-group-order" => 1,
            _ => 0,
        };
        assert_eq!(row.more["sorts"], sorts, "{op}");
        crate::limits::stands(&report, row);
    }
    let names: Vec<&str> = Op::ALL.iter().map(|op| op.name()).collect();
    assert_eq!(names, SMALL.map(|(name, _)| name));
}

#[test]
fn a_wrong_result_is_not_reported() {
    for (op, n) in [SMALL[1], SMALL[5], SMALL[6]] {
        let op = format!("op={op}");
        let (ran, report) = measured(&[&op, n, "transport=inproc"], true);
        let error = ran.unwrap_err().to_string();
        assert!(error.contains("rows differ from what they must be"), "{error}");
        assert!(report.rows.is_empty());
    }
}

#[test]
fn the_sets_hold_what_they_must() {
    let points = Point::all(&NETS);
    let core: Vec<_> = points.iter().filter(|point| point.is_core(false)).collect();
    for (op, n) in [
        (Op::Sort, 100_000),
        (Op::Sort, 1 << 20),
        (Op::Flags, 10_000_000),
        (Op::Filter, 10_000_000),
        (Op::GroupBy, 1 << 20),
        (Op::Join, 1 << 16),
        (Op::Join, 1 << 18),
        (Op::Join, 1 << 20),
        (Op::TagJoin, 1 << 16),
        (Op::TagJoin, 1 << 18),
        (Op::TagJoin, 1 << 20),
    ] {
        let over = |transport| core.iter().any(|p| (p.op, p.n, p.transport) == (op, n, transport));
        assert!(over(Transport::TcpInsecure), "{op:?} of {n}");
    }
    for op in Op::ALL {
        assert_eq!(points.iter().filter(|p| p.op == op && p.is_quick()).count(), 1);
        for net in [Shape::lan(), Shape::wan()] {
            assert!(
                core.iter().any(|p| p.op == op && p.net == net)
                    || op == Op::Flags
                    || op == Op::Filter
                    || op == Op::Compact
            );
        }
    }
}
