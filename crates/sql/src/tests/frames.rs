//! Divided intervals, frames by a distance, and columns by name.

use super::reference::{answered, planned};

fn value(of: &str) -> String {
    let (rows, _) = answered(&format!("SELECT {of} AS v FROM e WHERE id = 1"));
    rows[0][0].clone()
}

/// Days and time are divided together, as in PostgreSQL; months stay whole.
#[test]
fn intervals_are_divided() {
    for (interval, text) in [
        ("INTERVAL '1' DAY / 2", "12:00:00"),
        ("INTERVAL '7 days' / 2", "3 days 12:00:00"),
        ("INTERVAL '-90' MINUTE / 4", "-00:22:30"),
        ("INTERVAL '1' HOUR / 7", "00:08:34.285714"),
        ("INTERVAL '1' HOUR / 0", "NULL"),
        ("(at - TIMESTAMP '2024-02-28 13:45:10') / 3", "08:00:00"),
        ("(at - TIMESTAMP '2024-02-19 13:45:10') / n", "1 day 10:17:08.571428"),
    ] {
        assert_eq!(value(&format!("CAST({interval} AS VARCHAR)")), text, "{interval}");
    }
    for (day, text) in [
        ("day + INTERVAL '14' DAY / 2", "2024-03-07"),
        ("day - INTERVAL '7' MONTH / 2", "2023-11-29"),
        ("day + INTERVAL '1' DAY / 2", "2024-02-29 12:00:00"),
    ] {
        assert_eq!(value(day), text, "{day}");
    }
}

/// The least and the greatest value of a frame equal those of a join on the distance.
#[test]
fn extremes_over_a_distance_are_those_of_a_join() {
    for (key, order, frame, join) in [
        ("k", "k", "2 PRECEDING AND 1 FOLLOWING", "b.k BETWEEN a.k - 2 AND a.k + 1"),
        ("k", "k DESC", "2 PRECEDING AND 1 FOLLOWING", "b.k BETWEEN a.k - 1 AND a.k + 2"),
        ("k", "k", "UNBOUNDED PRECEDING AND 3 FOLLOWING", "b.k <= a.k + 3"),
        ("k", "k", "1 PRECEDING AND UNBOUNDED FOLLOWING", "b.k >= a.k - 1"),
        ("n", "n", "CURRENT ROW AND 3 FOLLOWING", "b.n BETWEEN a.n AND a.n + 3"),
        ("n", "n", "3 PRECEDING AND CURRENT ROW", "b.n BETWEEN a.n - 3 AND a.n"),
        ("n", "n", "3 FOLLOWING AND 8 FOLLOWING", "b.n BETWEEN a.n + 3 AND a.n + 8"),
        ("n", "n", "1 FOLLOWING AND 1 PRECEDING", "FALSE"),
        (
            "price",
            "price",
            "10.5 PRECEDING AND 90 FOLLOWING",
            "b.price BETWEEN a.price - 10.5 AND a.price + 90",
        ),
    ] {
        for value in ["n", "price", "team", "day"] {
            let over = format!("OVER (ORDER BY {order} RANGE BETWEEN {frame})");
            let windows = format!(
                "SELECT id, MIN({value}) {over} AS least, MAX({value}) {over} AS most FROM e WHERE {key} IS NOT NULL ORDER BY id"
            );
            let joined = format!(
                "SELECT a.id, MIN(b.{value}) AS least, MAX(b.{value}) AS most FROM e AS a LEFT JOIN \
                 (SELECT x.id AS own, y.{value} FROM e AS x CROSS JOIN e AS y WHERE {}) AS b ON b.own = a.id \
                 WHERE a.{key} IS NOT NULL GROUP BY a.id ORDER BY a.id",
                join.replace("a.", "x.").replace("b.", "y.")
            );
            assert_eq!(answered(&windows).0, answered(&joined).0, "{windows}");
        }
    }
}

/// Some figures of few rows are products below one step of a DOUBLE.
#[test]
fn figures_of_few_rows_are_planned() {
    for rows in [0, 1, 2] {
        for figures in [
            "CORR(n, k), REGR_R2(n, k)",
            "STDDEV_SAMP(n) * STDDEV_POP(k)",
            "REGR_SLOPE(n, k), VAR_POP(price)",
        ] {
            let sql = format!("SELECT team, {figures} FROM e GROUP BY team");
            assert!(planned(&sql, rows).is_ok(), "{sql} of {rows} rows: {:?}", planned(&sql, rows).err());
        }
    }
}

/// DuckDB 0.10.3 gives these results, also for ends of months in both directions.
#[test]
fn months_are_whole_from_the_earlier_time_on() {
    for (first, last, months, years) in [
        ("2019-02-28 01:02:03", "2019-01-31 00:00:00", -1, 0),
        ("2019-02-28 00:00:00", "2019-01-31 00:00:00", -1, 0),
        ("2019-02-28 01:02:03", "2019-01-31 05:00:00", 0, 0),
        ("2019-02-28 01:02:03", "2019-01-28 01:02:04", 0, 0),
        ("2019-02-28 01:02:03", "2019-01-28 01:02:02", -1, 0),
        ("2019-01-31 00:00:00", "2019-02-28 01:02:03", 1, 0),
        ("2019-01-31 05:00:00", "2019-02-28 01:02:03", 0, 0),
        ("2020-02-29 05:00:00", "2019-02-28 06:00:00", -12, -1),
        ("2019-02-28 06:00:00", "2020-02-29 05:00:00", 12, 1),
        ("2019-02-28 05:00:00", "2020-02-28 05:00:00", 12, 1),
    ] {
        let whole =
            |unit: &str| value(&format!("DATE_SUB('{unit}', TIMESTAMP '{first}', TIMESTAMP '{last}')"));
        assert_eq!([whole("month"), whole("year")], [months, years].map(|n| n.to_string()), "{first} {last}");
    }
    assert_eq!(value("DATE_SUB('month', DATE '2019-02-28', DATE '2019-01-31')"), "-1");
    assert_eq!(value("DATE_SUB('month', CAST(NULL AS DATE), day)"), "NULL");
}

/// The first and last values of a frame are those of its rows in order, with NULLs counted or not.
#[test]
fn ends_of_a_distance_are_those_of_its_rows() {
    let values = [("1", "Room 12, east"), ("2", "x-y-z"), ("3", "NULL"), ("4", "42")];
    let of = |frame: &[usize]| frame.iter().map(|at| values[*at].1).collect::<Vec<_>>();
    for (frame, rows) in [
        ("1 PRECEDING AND 1 FOLLOWING", [&[0, 1][..], &[0, 1, 2], &[1, 2, 3], &[2, 3]]),
        ("2 PRECEDING AND 1 PRECEDING", [&[], &[0], &[0, 1], &[1, 2]]),
        ("1 FOLLOWING AND UNBOUNDED FOLLOWING", [&[1, 2, 3], &[2, 3], &[3], &[]]),
        ("UNBOUNDED PRECEDING AND 1 FOLLOWING", [&[0, 1], &[0, 1, 2], &[0, 1, 2, 3], &[0, 1, 2, 3]]),
        ("CURRENT ROW AND 2 FOLLOWING", [&[0, 1, 2], &[1, 2, 3], &[2, 3], &[3]]),
    ] {
        for units in ["RANGE", "ROWS"] {
            let over = format!("OVER (ORDER BY id {units} BETWEEN {frame})");
            let sql = format!(
                "SELECT FIRST_VALUE(note) {over}, LAST_VALUE(note) {over}, NTH_VALUE(note, 2) {over}, \
                 FIRST_VALUE(note IGNORE NULLS) {over}, LAST_VALUE(note IGNORE NULLS) {over}, \
                 NTH_VALUE(note, 2 IGNORE NULLS) {over} FROM e ORDER BY id"
            );
            let made = answered(&sql).0;
            for (found, frame) in made.iter().zip(rows) {
                let all = of(frame);
                let some: Vec<&str> = all.iter().copied().filter(|value| *value != "NULL").collect();
                let wanted = [&all, &some].map(|of| [of.first(), of.last(), of.get(1)]);
                let wanted = wanted.concat().into_iter().map(|value| value.copied().unwrap_or("NULL"));
                assert_eq!(*found, wanted.collect::<Vec<_>>(), "{units} {frame:?}");
            }
            assert_eq!(made.len(), 4);
        }
    }
}

/// Rows and markers have the same numbers, even if they read different columns. Here another window
/// moves the rows, and only rows read its column.
#[test]
fn a_distance_over_rows_that_another_window_moved() {
    let (rows, _) = answered(
        "SELECT id, SUM(b) OVER (ORDER BY id RANGE BETWEEN 1 PRECEDING AND CURRENT ROW) AS s, FIRST_VALUE(b) OVER (ORDER BY id RANGE BETWEEN 1 PRECEDING AND CURRENT ROW) AS f \
         FROM (SELECT id, LAG(k, 1, 100) OVER (PARTITION BY team ORDER BY id DESC) AS b FROM e) AS x ORDER BY id",
    );
    assert_eq!(rows, [["1", "1", "1"], ["2", "1", "1"], ["3", "100", "0"], ["4", "200", "100"]]);
}

#[test]
fn columns_of_a_union_meet_by_name() {
    let (rows, types) = answered(
        "SELECT id, n AS x FROM e WHERE id < 3 UNION ALL BY NAME SELECT 1.5 AS X, team, id + 10 AS ID FROM e WHERE id = 4 ORDER BY id",
    );
    assert_eq!(types, ["BIGINT", "DECIMAL(11, 1)", "VARCHAR(4)"]);
    let expected = [["1", "7.0", "NULL"], ["2", "2.0", "NULL"], ["14", "1.5", "blue"]];
    assert_eq!(rows, expected);
    let (rows, _) = answered("SELECT k, n FROM e WHERE id = 1 UNION BY NAME SELECT n, k FROM e WHERE id = 1");
    assert_eq!(rows, [["-3", "7"]]);
}

/// Points that are a metre apart, wherever a query measures the distance. With the 32 fractional
/// bits of DOUBLEs, their angle would be 0 or a hundred times too large.
#[test]
fn distances_of_near_points_have_their_digits() {
    let there = "price / 10 + 0.00001";
    let distance = |x: &str| {
        format!(
            "6371000 * ACOS(SIN(RADIANS(price / 10)) * SIN(RADIANS({x})) + COS(RADIANS(price / 10)) * COS(RADIANS({x})))"
        )
    };
    let metres = distance(there);
    let half = format!("POWER(SIN(RADIANS({there} - price / 10) / 2), 2)");
    let by_root = format!("2 * 6371000 * ASIN(SQRT({half}))");
    for sql in [
        format!("SELECT {metres} AS m FROM e WHERE id = 1"),
        format!("SELECT {by_root} AS m FROM e WHERE id = 1"),
        format!("SELECT MAX({metres}) AS m FROM e"),
        format!("SELECT LAG({metres}, 0) OVER (ORDER BY id) AS m FROM e WHERE id = 1"),
        format!("SELECT {} AS m FROM e WHERE id = 1 AND {metres} > 1.1", distance("price / 10 + 0.00001")),
        format!(
            "SELECT 1.112 AS m FROM e AS a JOIN (SELECT id AS own FROM e) AS b ON own = id AND {metres} BETWEEN 1.11 AND 1.115 WHERE id = 1"
        ),
        format!("SELECT {metres} AS m FROM e WHERE id = 1 GROUP BY price"),
    ] {
        let (rows, types) = answered(&sql);
        let found: f64 = rows[0][0].parse().unwrap_or_else(|e| panic!("{sql}: {rows:?}: {e}"));
        assert!((found - 1.1119).abs() < 0.01, "{sql}: {found} {types:?}");
    }
    // A key that is a sine has 32 of these bits, and is still a key.
    let sql = "SELECT ACOS(SIN(price)) AS a, SIN(price) AS s FROM e WHERE id = 1 GROUP BY SIN(price)";
    assert_eq!(answered(sql).0.len(), 1);
}
