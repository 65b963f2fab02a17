//! Plans with several promises. Each is broken alone, and both the plain evaluator and the
//! computation name it.

use super::*;
use crate::promises::Promises;
use hushwire_fault::code;
use std::collections::BTreeSet;

/// The number of rows of a part, padding included.
const PART: u64 = 12;
/// The value that marks a row that breaks a promise. Such rows are dropped after that promise's
/// operator.
const SPOILER: i128 = 1000;

/// The number of kinds of promises, and of ways to make them.
const WAYS: u64 = 9;

/// The columns of the tables that plans read. A stage of a plan uses the rows with its tag.
fn wide() -> Vec<Column> {
    ["tag", "k", "id", "v"].map(|name| Column::new(name, ColumnType::Integer)).to_vec()
}

fn row(numbers: [i128; 4]) -> Row {
    numbers.map(Value::Number).to_vec()
}

/// A promise: its operator, and the table and row that break it.
struct Breach {
    operator: Relation,
    table: &'static str,
    row: Row,
}

/// A plan under construction.
struct Plans {
    data: Data,
    tables: [Relation; 2],
    breaches: Vec<Breach>,
    stages: i128,
}

fn plus(expr: Expr, n: i128) -> Expr {
    expr.arithmetic(Arithmetic::Add, int(n))
}

/// The rows of a relation that break no promise, according to the value in this column.
fn unspoilt(relation: &Relation, at: usize) -> Relation {
    let small = column(at).compare(Comparison::Less, int(SPOILER));
    relation.filter(small.or(column(at).is_null())).unwrap()
}

impl Plans {
    fn new() -> Plans {
        let mut data = Data::default();
        let tables = ["t", "u"].map(|name| {
            data.parts.insert(name.into(), vec![vec![], vec![]]);
            let part = |k: usize| TablePart { owner: format!("owner{k}"), rows: PART };
            let (schema, unique) = (Schema(wide()), vec![vec![2]]);
            let parts = vec![part(0), part(1)];
            Relation::scan(Table { name: name.into(), schema, parts, padded: true, unique }).unwrap()
        });
        Plans { data, tables, breaches: vec![], stages: 0 }
    }

    fn add(&mut self, dice: &mut Dice, table: &str, row: Row) {
        let parts = self.data.parts.get_mut(table).unwrap();
        let first = pick(dice, 2) as usize;
        let at = if (parts[first].len() as u64) < PART { first } else { 1 - first };
        parts[at].push(row);
    }

    /// Rows of keys 0 and 1, from which a plan grows. Neither column is unique.
    fn start(&self) -> Relation {
        let column = |name| Column::new(name, ColumnType::Integer).within(0, 1 << 20);
        let rows = [0, 0, 1].map(|k| vec![Value::Number(k), Value::Number(k + 1)]).to_vec();
        Relation::values(Schema(vec![column("k"), column("w")]), rows).unwrap()
    }

    /// Adds an operator that relies on a promise, on rows of `k` and `w`.
    fn stage(&mut self, dice: &mut Dice, cur: &Relation) -> Relation {
        self.stages += 1;
        let i = self.stages;
        let name = ["t", "u"][pick(dice, 2) as usize];
        let table = self.tables[usize::from(name == "u")].clone();
        for k in 0..2 {
            let v = pick(dice, 9);
            self.add(dice, name, row([i, k, 10 * i + k, v]));
        }
        let side = table.filter(column(0).equals(int(i))).unwrap().select(&[1, 2, 3]).unwrap();
        let (by_key, by_id) = (vec![(column(0), column(0))], vec![(plus(column(0), 10 * i), column(1))]);
        let turned = vec![(column(1), plus(column(0), 10 * i))];
        let kinds = [JoinKind::Inner, JoinKind::Left, JoinKind::Semi, JoinKind::Anti];
        let kind = kinds[pick(dice, 4) as usize];
        let alone = matches!(kind, JoinKind::Semi | JoinKind::Anti);
        // The rows of joins that keep only the left columns are added to `cur`.
        let joined = |operator: &Relation, first: usize| {
            let made = if alone { operator.clone() } else { unspoilt(operator, first + 2) };
            let made = made.select(&[0, 1]).unwrap();
            if alone { cur.set(SetOperation::Union, true, &made).unwrap() } else { made }
        };
        let again = row([i, 0, 10 * i, SPOILER]);
        let (operator, broken, made) = match pick(dice, WAYS) {
            0..3 => {
                let all = cur.join(&side, JoinKind::Inner, by_key.clone(), None, Some(1 << 10)).unwrap();
                let bound = plain::evaluate(&all, &self.data.tables()).unwrap().len() as u64;
                // The condition is more than one comparison, so that finding partners is not
                // enough.
                let besides = alone.then(|| greater(column(1), column(4)).or(column(4).is_null()));
                let join = cur.join(&side, kind, by_key, besides, Some(bound)).unwrap();
                (join.clone(), row([i, 1, 10 * i + 9, SPOILER]), joined(&join, 2))
            }
            3 => {
                let join = cur.join(&side, kind, by_id, None, None).unwrap();
                (join.clone(), again, joined(&join, 2))
            }
            4 => {
                let side = side.distinct().unwrap();
                let join = cur.join(&side, kind, by_id, None, None).unwrap();
                (join.clone(), again, joined(&join, 2))
            }
            5 => {
                let kind = [JoinKind::Inner, JoinKind::Right][pick(dice, 2) as usize];
                let join = side.join(cur, kind, turned, None, None).unwrap();
                (join.clone(), again, unspoilt(&join, 2).select(&[3, 4]).unwrap())
            }
            6 => {
                let most = vec![Aggregate::new("v", &MAX, column(2))];
                let groups = side.aggregate(named([column(1)]), most, pick(dice, 2) as u64, Some(2)).unwrap();
                let on = vec![(plus(column(0), 10 * i), column(0))];
                let join = unspoilt(&groups, 1);
                let join = cur.join(&join, JoinKind::Inner, on, None, None).unwrap();
                (groups, row([i, 9, 10 * i + 9, SPOILER]), join.select(&[0, 1]).unwrap())
            }
            7 => {
                let one = cur.join_one(&side, by_key).unwrap();
                (one.clone(), row([i, 1, 10 * i + 9, SPOILER]), one.select(&[0, 1]).unwrap())
            }
            _ => {
                // Several rows instead of the single one of a scalar subquery.
                let first = side.filter(column(0).equals(int(0))).unwrap();
                let one = cur.join_one(&first, vec![(int(1), int(1))]).unwrap();
                (one.clone(), row([i, 0, 10 * i + 9, SPOILER]), one.select(&[0, 1]).unwrap())
            }
        };
        self.breaches.push(Breach { operator, table: name, row: broken });
        made
    }

    /// A chain of operators, each of which takes the rows of the one before.
    fn chain(&mut self, dice: &mut Dice) -> Relation {
        let stages = 1 + pick(dice, 3);
        (0..stages).fold(self.start(), |cur, _| self.stage(dice, &cur))
    }

    fn plan(&mut self, dice: &mut Dice) -> Relation {
        let (one, other) = (self.chain(dice), self.chain(dice));
        let count = |of: &Relation| of.aggregate(vec![], vec![Aggregate::count_rows("n")], 0, None).unwrap();
        match pick(dice, 4) {
            0 => one.set(SetOperation::Union, true, &other).unwrap(),
            // A cloned relation is computed once, and promised once.
            1 => {
                let both = one.set(SetOperation::Union, false, &other).unwrap();
                both.set(SetOperation::Union, true, &one).unwrap()
            }
            2 => one.cross(&count(&other)).unwrap(),
            _ => count(&one).cross(&count(&other)).unwrap(),
        }
    }
}

/// The promises of a computation that do not hold.
fn broken(query: &Query, data: &Data) -> Vec<String> {
    let outputs = evaluate(query.computation(), &data.inputs(query)).unwrap();
    let named = query.promises().iter().enumerate();
    let broken = named.filter(|(k, _)| !outputs[&format!("promise{k}")].truth(0));
    let broken: Vec<String> = broken.map(|(_, name)| name.clone()).collect();
    match query.rows(&outputs) {
        Ok(_) => assert_eq!(broken, [""; 0]),
        Err(e) => assert_eq!(promise_of(&e), broken[0]),
    }
    broken
}

#[test]
fn each_promise_is_checked_and_named_however_equal_it_looks() {
    let mut alike = 0;
    for seed in 0..60 {
        let dice = &mut Dice(seed);
        let mut plans = Plans::new();
        let plan = plans.plan(dice);
        let promises = Promises::of(&plan);
        let names: BTreeSet<&str> = promises.names().collect();
        assert_eq!(names.len(), plans.breaches.len(), "{names:?}");
        alike += names.iter().filter(|name| name.contains(" such)")).count();
        check(&plan, &plans.data).unwrap();
        for make in [Query::new, Query::by_tags] {
            let query = make("query", &plan, &["analyst"]).unwrap();
            let (explained, told) = (query.explain(None), query.promises().iter().map(String::as_str));
            assert_eq!(told.collect::<BTreeSet<_>>(), names, "seed {seed}");
            for name in &names {
                assert!(explained.contains(&format!("checks {name}")), "{name}: {explained}");
                assert!(explained.contains(&format!("whether it holds {name}\n")), "{name}: {explained}");
            }
            assert_eq!(broken(&query, &plans.data), [""; 0], "seed {seed}: {explained}");
            for at in 0..plans.breaches.len() {
                let Breach { operator, table, row } = &plans.breaches[at];
                let name = promises.of_operator(operator).expect("it is promised").to_owned();
                let (table, before) = (*table, plans.data.parts.clone());
                let row = row.clone();
                plans.add(dice, table, row);
                assert_eq!(
                    broken(&query, &plans.data),
                    std::slice::from_ref(&name),
                    "seed {seed}: {explained}"
                );
                let Err(e) = plain::evaluate(&plan, &plans.data.tables()) else {
                    panic!("seed {seed}: {name} holds in the open")
                };
                assert_eq!(promise_of(&e), name, "seed {seed}");
                plans.data.parts = before;
            }
        }
    }
    assert!(alike > 10, "{alike} promises look like another one");
}

/// Two joins whose bounds look equal, the first of which cannot be broken.
#[test]
fn the_second_of_two_equal_bounds_is_checked() {
    let mut data = Data::default();
    let tables = ["a", "b", "c"].map(|name| {
        let rows = vec![vec![Value::Number(1)], vec![Value::Number(1)]];
        data.parts.insert(name.into(), vec![rows]);
        let parts = vec![TablePart { owner: "alice".into(), rows: 2 }];
        let schema = Schema(vec![Column::new("k", ColumnType::Integer)]);
        Relation::scan(Table { name: name.into(), schema, parts, padded: false, unique: vec![] }).unwrap()
    });
    let on = || vec![(column(0), column(0))];
    let join =
        |l: &Relation, r: &Relation, bound| l.join(r, JoinKind::Inner, on(), None, Some(bound)).unwrap();
    let both = join(&join(&tables[0], &tables[1], 4), &tables[2], 4);
    let promise = promise_of(&check(&both, &data).expect_err("8 pairs are not 4"));
    assert_eq!(promise, "that there are at most 4 pairs in the join of a and b with c on k = k");
    check(&join(&join(&tables[0], &tables[1], 4), &tables[2], 8), &data).unwrap();
    // One table three times, or arms of a union: the names distinguish the inputs.
    let three = join(&join(&tables[0], &tables[0], 4), &tables[0], 4);
    let promise = promise_of(&check(&three, &data).expect_err("8 pairs are not 4"));
    assert_eq!(promise, "that there are at most 4 pairs in the join of a and a with a on k = k");
    let some = tables[1].filter(column(0).equals(int(1))).unwrap();
    let one = join(&tables[0], &tables[1], 4).select(&[0]).unwrap();
    let other = join(&tables[0], &some, 3).select(&[0]).unwrap();
    let union = one.set(SetOperation::Union, true, &other).unwrap();
    let promise = promise_of(&check(&union, &data).expect_err("4 pairs are not 3"));
    assert_eq!(promise, "that there are at most 3 pairs in the join of a with b on k = k");
    let other = join(&tables[0], &some.filter(column(0).equals(int(1))).unwrap(), 3).select(&[0]).unwrap();
    let again = union.set(SetOperation::Union, true, &other).unwrap();
    let query = Query::new("q", &again, &["analyst"]).unwrap();
    let numbered = "that there are at most 3 pairs in the join of a with b on k = k (number 2 of 2 such)";
    assert!(query.promises().iter().any(|name| name == numbered), "{:?}", query.promises());
}

/// Tables bring their rows by name, so two tables of one name are refused.
#[test]
fn two_tables_of_one_name_are_refused() {
    let table = |rows| {
        let parts = vec![TablePart { owner: "alice".into(), rows }];
        let schema = Schema(vec![Column::new("k", ColumnType::Integer)]);
        Relation::scan(Table { name: "t".into(), schema, parts, padded: false, unique: vec![] }).unwrap()
    };
    let query = |a: &Relation, b: &Relation| Query::new("q", &a.cross(b).unwrap(), &["analyst"]).map(drop);
    query(&table(2), &table(2)).unwrap();
    let refused = query(&table(2), &table(3)).unwrap_err();
    assert_eq!((refused.code(), refused.field("name")), (code::NAME_TWICE, Some("t".into())));
}

/// Pairs are counted in 64 bits, so more pairs are refused.
#[test]
fn more_pairs_than_can_be_counted_are_refused() {
    let table = |name: &str, rows| {
        let parts = vec![TablePart { owner: "alice".into(), rows }];
        let schema = Schema(vec![Column::new("k", ColumnType::Integer)]);
        Relation::scan(Table { name: name.into(), schema, parts, padded: false, unique: vec![] }).unwrap()
    };
    let join = |rows| {
        let (a, b) = (table("a", rows), table("b", rows));
        a.join(&b, JoinKind::Inner, vec![(column(0), column(0))], None, Some(5)).map(drop)
    };
    join(1 << 31).unwrap();
    assert_eq!(join(1 << 32).unwrap_err().code(), code::PAIRS_UNCOUNTABLE);
}
