//! Queries whose rows are on several shards of each party.

use super::{
    three::{operators, sales},
    *,
};
use hushwire_aes::Backend;
use hushwire_compute::Computation;
use hushwire_prg::{Prg, Seed};
use hushwire_rep3::Mover;
use hushwire_testkit::{party, run_shards};
use hushwire_three::{
    Cut, Plan, run_sharded,
    test_support::{opened_on_shards, shared_on_shards},
};

/// The outputs of a computation on several shards of each party.
fn on_shards(c: &Computation, inputs: &BTreeMap<String, Tensor>, shards: usize) -> BTreeMap<String, Tensor> {
    let plan = Plan::new(c).unwrap();
    let mut prg = Prg::new(Backend::best(), &Seed::random(), "test");
    let doors = c.inputs().zip(plan.inputs());
    let shares: Vec<_> =
        doors.map(|((name, _), door)| shared_on_shards(&mut prg, &inputs[name], *door, shards)).collect();
    let plainly = |_, mover| -> Box<dyn Mover> { Box::new(mover) };
    let made = run_shards(1, shards, plainly, |role, mut net, mut mover| {
        let shard = mover.shard();
        let (left, right) = (Some(role.left().id()), Some(role.right().id()));
        let lane = [net.channel(0, left, right).unwrap(), net.channel(0, right, left).unwrap()];
        let mut party = party(1 + shard as u64, role, Backend::best());
        let inputs = shares.iter().map(|all| all[shard][role.index()].clone()).collect();
        run_sharded(&mut party, vec![lane], &plan, Cut::whole(), &mut *mover, inputs, &mut |_, _| true)
            .unwrap()
    });
    let outputs = c.outputs().iter().zip(plan.outputs()).enumerate();
    let tensor = |(k, (output, door)): (usize, (&hushwire_compute::Output, _))| {
        let shares: Vec<_> = made.iter().map(|of| of.each_ref().map(|party| &party[k])).collect();
        (output.name.clone(), opened_on_shards(&shares, door, &c.node(output.value).ty))
    };
    outputs.map(tensor).collect()
}

/// The rows of a relation on shards are those in the clear. Except for rows that an order leaves
/// equal, they are those of one machine, bit for bit.
fn compare(relation: &Relation, data: &Data, shards: usize) -> usize {
    let expected = check(relation, data).unwrap();
    for by_tags in [false, true] {
        let make = if by_tags { Query::by_tags } else { Query::new };
        let query = make("q", relation, &["analyst"]).unwrap();
        if by_tags != query.shows_tags() {
            continue;
        }
        let inputs = data.inputs(&query);
        let outputs = on_shards(query.computation(), &inputs, shards);
        if !query.shows_tags() {
            assert_eq!(outputs, evaluate(query.computation(), &inputs).unwrap(), "{}", query.explain(None));
        }
        let mut rows = query.rows(&outputs).unwrap();
        if !matches!(relation.operator(), Operator::OrderBy(..) | Operator::Limit { .. }) {
            rows.sort();
        }
        assert_eq!(rows, expected, "{shards} shards: {}", query.explain(None));
    }
    expected.len()
}

/// Joins of every kind, groups, distinct rows, windows, sets, orders and limits.
#[test]
fn shards_give_the_rows_of_every_operator() {
    let x = |n: i128| if n % 4 == 3 { Value::Null } else { Value::Number(n % 3 - 1) };
    let row = |n: i128| vec![Value::Number(n), x(n)];
    let rows = |all: &[i128]| vec![all.iter().map(|n| row(*n)).collect::<Vec<_>>()];
    let parts = [("l", rows(&[5, 2, 2, 7, 0, 3, 5, 4, 1])), ("r", rows(&[1, 5, 9, 0, 6]))];
    let data = Data { parts: parts.into_iter().map(|(name, parts)| (name.to_owned(), parts)).collect() };
    let mut found = 0;
    for (k, relation) in operators().iter().enumerate() {
        found += compare(relation, &data, 2 + k % 3);
    }
    assert!(found > 60, "{found} rows");
}

/// Tables without rows, with one row, with fewer rows than shards, and with more; NULLs and
/// padding.
#[test]
fn shards_give_the_rows_of_tables_of_all_sizes() {
    for (k, rows) in [0, 1, 2, 3, 40].into_iter().enumerate() {
        let (mut data, dice) = (Data::default(), &mut Dice(rows + 1));
        let left = data.table(dice, "l", columns(), rows);
        let keys = vec![columns()[0].clone(), columns()[6].clone()];
        let right = data.table(dice, "r", keys, rows / 2);
        let joined =
            left.join(&right, JoinKind::Left, vec![(column(0), column(0))], None, Some(400)).unwrap();
        let sums = vec![
            Aggregate::new("sum", &SUM, column(4)),
            Aggregate::new("different", &COUNT, column(2)).distinct(),
        ];
        let grouped = joined.aggregate(named([column(1), column(13)]), sums, 0, None).unwrap();
        compare(&grouped, &data, 2 + k % 3);
    }
    let (data, relation) = sales(&mut Dice(1));
    assert!(compare(&relation, &data, 3) > 0);
}

/// A promise about rows covers the rows of all shards.
#[test]
fn promises_are_checked_over_all_shards() {
    let mut data = Data::default();
    let tables = ["a", "b"].map(|name| {
        data.parts.insert(name.into(), vec![vec![vec![Value::Number(1)]; 4]]);
        let parts = vec![TablePart { owner: "alice".into(), rows: 4 }];
        let schema = Schema(vec![Column::new("k", ColumnType::Integer)]);
        Relation::scan(Table { name: name.into(), schema, parts, padded: false, unique: vec![] }).unwrap()
    });
    for (bound, holds) in [(15, false), (16, true)] {
        let on = vec![(column(0), column(0))];
        let joined = tables[0].join(&tables[1], JoinKind::Inner, on, None, Some(bound)).unwrap();
        let query = Query::new("q", &joined, &["analyst"]).unwrap();
        for shards in [2, 4] {
            let outputs = on_shards(query.computation(), &data.inputs(&query), shards);
            match query.rows(&outputs) {
                Ok(rows) => assert!(holds && rows.len() == 16),
                Err(e) => assert!(!holds && promise_of(&e).contains("at most 15 pairs"), "{e}"),
            }
        }
    }
}
