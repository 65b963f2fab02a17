use super::*;
use crate::trial;

fn measured(only: &[&str], spoiled: bool) -> (Result<()>, Report) {
    let options = trial::options(only);
    let cases = cases(&options, Backend::best(), None, spoiled).unwrap();
    let (ran, report, _) = trial::run("tpch", cases, &options, |_| String::new());
    (ran, report)
}

#[test]
fn a_query_is_right_and_its_row_has_every_field() {
    let (ran, report) = measured(&["query=6", "scale=0.001", "transport=unix", "net=none"], false);
    ran.unwrap();
    let [row] = &report.rows[..] else { panic!("a row: {}", report.rows.len()) };
    let keys: Vec<&str> = row.params.keys().collect();
    assert_eq!(keys, ["query", "scale", "protocol", "transport", "net"]);
    assert!(row.rounds > Some(0) && row.bytes_per_unit > Some(0.0), "{row:?}");
    assert_eq!(row.more["sorts"], 0);
    crate::limits::stands(&report, row);
    let (ran, report) = measured(&["query=6", "scale=0.001", "transport=inproc"], true);
    let error = ran.unwrap_err().to_string();
    assert!(error.contains("which are not the") && report.rows.is_empty(), "{error}");
}

#[test]
fn the_sets_hold_what_they_must() {
    let points = Point::all(&NETS);
    assert_eq!(points.iter().filter(|p| p.is_core(false)).count(), 22);
    assert_eq!(points.iter().filter(|p| p.is_quick()).count(), 3);
}
