use super::*;
use crate::trial;

/// The smallest size of each operator.
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
        let (report, _) = trial::measured("tables", &[&op, n, "transport=unix", "net=none"]);
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
    let names: Vec<&str> = Operator::ALL.iter().map(|op| op.name()).collect();
    assert_eq!(names, SMALL.map(|(name, _)| name));
}

#[test]
fn a_wrong_result_is_not_reported() {
    for (op, n) in [SMALL[1], SMALL[5], SMALL[6]] {
        let op = format!("op={op}");
        let error = trial::refused("tables", &[&op, n, "transport=inproc"]);
        assert!(error.contains("rows differ from what they must be"), "{error}");
    }
}

#[test]
fn the_sets_hold_what_they_must() {
    let [core, quick] = trial::sets("tables", &trial::asked(&[]));
    let has = |case: &str| core.iter().any(|other| trial::has(other, case));
    for case in [
        "op=sort,n=100000",
        "op=sort,n=1048576",
        "op=flags,n=10000000",
        "op=filter,n=10000000",
        "op=group-by,n=1048576",
        "op=join,n=65536",
        "op=join,n=262144",
        "op=join,n=1048576",
        "op=tag-join,n=65536",
        "op=tag-join,n=262144",
        "op=tag-join,n=1048576",
    ] {
        assert!(has(&format!("{case},transport=tcp-insecure")), "{case}");
    }
    for op in Operator::ALL {
        let name = format!("op={}", op.name());
        assert_eq!(quick.iter().filter(|case| trial::has(case, &name)).count(), 1);
        let far = ["net=lan", "net=wan"].iter().all(|net| has(&format!("{name},{net}")));
        assert!(far || matches!(op, Operator::Flags | Operator::Filter | Operator::Compact), "{name}");
    }
}
