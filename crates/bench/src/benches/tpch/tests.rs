use crate::{limits, trial};

#[test]
fn a_query_is_right_and_its_row_has_every_field() {
    let (report, _) = trial::measured("tpch", &["query=6", "scale=0.001", "transport=unix", "net=none"]);
    let [row] = &report.rows[..] else { panic!("a row: {}", report.rows.len()) };
    let keys: Vec<&str> = row.params.keys().collect();
    assert_eq!(keys, ["query", "scale", "protocol", "transport", "net"]);
    assert!(row.rounds > Some(0) && row.bytes_per_unit > Some(0.0), "{row:?}");
    assert_eq!(row.more["sorts"], 0);
    limits::stands(&report, row);
    let error = trial::refused("tpch", &["query=6", "scale=0.001", "transport=inproc"]);
    assert!(error.contains("which are not the"), "{error}");
}

#[test]
fn the_sets_hold_what_they_must() {
    assert_eq!(trial::sets("tpch", &trial::asked(&[])).map(|set| set.len()), [22, 3]);
}
