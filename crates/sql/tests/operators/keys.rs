//! Joins whose rows stay in the order of their keys. The right rows among them belong to no group.

use super::{check, common::three, owned};
use crate::common::Oracle;
use hushwire_sql::test_support::World;
use hushwire_tables::algebra::{Column, ColumnType};

/// Rows of `e` that name departments, and the departments, of one owner or of two. Names have
/// `bytes` bytes.
fn departments(e: &[&str], d: &[&str], shared: bool, bytes: u16) -> World {
    let columns_e = vec![
        Column::new("dept", ColumnType::Integer),
        Column::new("note", ColumnType::Varchar(bytes)).nullable(),
    ];
    let columns_d =
        vec![Column::new("id", ColumnType::Integer), Column::new("name", ColumnType::Varchar(bytes))];
    World::new(vec![owned("e", columns_e, None, true, e), owned("d", columns_d, Some(0), shared, d)])
        .expect("two tables")
}

const QUERIES: [&str; 8] = [
    "SELECT e.dept, d.name, COUNT(*) FROM e JOIN d ON e.dept = d.id GROUP BY e.dept, d.name",
    "SELECT e.dept, MIN(e.note), MAX(e.note), COUNT(*) FROM e JOIN d ON e.dept = d.id GROUP BY e.dept",
    "SELECT e.dept, MIN(e.note), MAX(d.name) FROM e JOIN d ON e.dept = d.id WHERE e.note <> 'x' GROUP BY e.dept",
    "SELECT e.dept, d.name, COUNT(*) FROM e JOIN d ON e.dept = d.id WHERE d.name <> 'one' GROUP BY e.dept, d.name",
    "SELECT e.dept, d.name, MIN(e.note) FROM e LEFT JOIN d ON e.dept = d.id GROUP BY e.dept, d.name",
    "SELECT e.dept, MIN(e.note), COUNT(*) FROM e WHERE dept IN (SELECT id FROM d WHERE name <> 'two') GROUP BY e.dept",
    "SELECT e.dept, MAX(e.note), COUNT(*) FROM e WHERE dept NOT IN (SELECT id FROM d WHERE name = 'two') GROUP BY e.dept",
    "SELECT e.dept, d.name, COUNT(*) FROM e JOIN d ON e.dept = d.id GROUP BY e.dept, d.name ORDER BY e.dept DESC",
];

fn worlds() -> Vec<World> {
    let mut all = vec![];
    let some: [(&[&str], &[&str]); 4] = [
        (&["1|", "2|x", "3|y"], &["1|alpha", "2|beta", "3|gamma"]),
        (&["0|z"], &["0|zero", "1|one"]),
        (&["0|a", "0|x", "1|b", "-1|", "2|''", "2|m"], &["-1|none", "0|zero", "1|one", "2|two", "5|''"]),
        (&["0|a", "7|b"], &["1|one", "2|two"]),
    ];
    for (e, d) in some {
        for shared in [false, true] {
            all.extend([8, 20].map(|bytes| departments(e, d, shared, bytes)));
        }
    }
    all
}

#[test]
fn groups_of_a_join_left_in_the_order_of_keys_are_those_of_sqlite() {
    for world in worlds() {
        check(&world, &QUERIES);
    }
}

/// A key of the right side that does not fit the left side's narrower type matches no row.
#[test]
fn keys_of_the_wider_side_are_none_of_the_narrower() {
    let narrow = Column::new("k", ColumnType::Integer).within(0, 100);
    let note = Column::new("note", ColumnType::Varchar(20));
    let wide = [Column::new("id", ColumnType::Integer), Column::new("name", ColumnType::Varchar(8))];
    for shared in [false, true] {
        let e = owned("e", vec![narrow.clone(), note.clone()], None, true, &["0|z", "5|y", "0|a"]);
        let d = owned("d", wide.to_vec(), Some(0), shared, &["0|zero", "5|five", "256|far", "261|away"]);
        let world = World::new(vec![e, d]).expect("two tables");
        check(
            &world,
            &["SELECT k, name, MIN(note), COUNT(*) FROM e JOIN d ON k = id WHERE id < 256 GROUP BY k, name"],
        );
    }
}

/// Rows of a first join without a partner have the key 0 of a second join. No group may take a
/// column of them.
#[test]
fn groups_take_what_follows_from_their_key_of_rows_that_are_there() {
    let int = |name| Column::new(name, ColumnType::Integer);
    for shared in [false, true] {
        let l = owned("l", vec![int("k")], None, true, &["1", "2", "3", "9", "8"]);
        let r = owned("r", vec![int("k"), int("a")], Some(0), shared, &["1|0", "2|1", "3|1", "4|7"]);
        let columns = vec![int("a"), Column::new("b", ColumnType::Varchar(8))];
        let s = owned("s", columns, Some(0), shared, &["0|nil", "1|one", "2|two"]);
        let world = World::new(vec![l, r, s]).expect("three tables");
        check(
            &world,
            &[
                "SELECT q.a, q.b, COUNT(*) FROM l JOIN (SELECT r.k, r.a, s.b FROM r JOIN s ON r.a = s.a) q ON l.k = q.k GROUP BY q.a, q.b",
                "SELECT q.a, q.b, COUNT(*) FROM l LEFT JOIN (SELECT r.k, r.a, s.b FROM r JOIN s ON r.a = s.a) q ON l.k = q.k GROUP BY q.a, q.b",
                "SELECT r.a, s.b, COUNT(*) FROM l JOIN r ON l.k = r.k JOIN s ON r.a = s.a GROUP BY r.a, s.b",
            ],
        );
    }
}

#[test]
fn among_three_parties_they_are_the_same() {
    for world in worlds().iter().take(4) {
        for sql in &QUERIES[..2] {
            let (plan, mut rows) = world.run(sql);
            let mut among = three::rows(world, &plan, 1);
            rows.sort();
            among.sort();
            assert_eq!(among, rows, "{sql}");
        }
    }
}
