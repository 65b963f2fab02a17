//! Queries among three parties in one process.

use super::*;
use hushwire_aes::Backend;
use hushwire_compute::Computation;
use hushwire_prg::{Prg, Seed};
use hushwire_rep3::{Party, open, ring::Bits, share};
use hushwire_testkit::{Transport, run_three};
use hushwire_three::{Plan, run};
use hushwire_wire::SessionId;

/// The outputs of a computation that three parties run.
fn three(c: &Computation, inputs: &BTreeMap<String, Tensor>) -> BTreeMap<String, Tensor> {
    let plan = Plan::new(c).unwrap();
    let mut prg = Prg::new(Backend::best(), &Seed::random(), "test");
    let shares: Vec<[Bits; 3]> = c
        .inputs()
        .map(|(name, _)| {
            let planes = inputs[name].to_planes();
            share(&mut prg, &planes).map(|s| Bits::new(planes.width(), planes.instances(), s).unwrap())
        })
        .collect();
    let made = run_three(Transport::Inproc, 1, None, |role, mut net| {
        let (left, right) = (Some(role.left().id()), Some(role.right().id()));
        let mut ring = net.channel(0, left, right).unwrap();
        let mut back = net.channel(0, right, left).unwrap();
        let session = SessionId([3; 16]);
        let mut party = Party::open(role, Backend::best(), session, Seed::random(), &mut back).unwrap();
        let inputs = shares.iter().map(|s| s[role.index()].clone()).collect();
        run(&mut party, [&mut ring, &mut back], &plan, inputs, &mut |_, _| true).unwrap()
    });
    let tensor = |(k, output): (usize, &hushwire_compute::Output)| {
        let ty = &c.node(output.value).ty;
        let own = [0, 1, 2].map(|p| &*made[p][k].shares().own);
        let (width, rows) = (made[0][k].width(), made[0][k].rows());
        let planes = hushwire_circuit::Planes::new(width, rows, open(own).unwrap()).unwrap().trimmed();
        (output.name.clone(), Tensor::from_planes(ty.scalar, &ty.shape.lengths().unwrap(), &planes))
    };
    c.outputs().iter().enumerate().map(tensor).collect()
}

fn sales(dice: &mut Dice) -> (Data, Relation) {
    let mut data = Data::default();
    let lines = data.table(dice, "lines", columns(), 11);
    let orders = vec![Column::new("key", ColumnType::Integer), columns()[2].clone(), columns()[5].clone()];
    let orders = data.unique_table(dice, "orders", orders, 7, vec![vec![0]]);
    let on = vec![(column(0), column(0))];
    let joined = lines.join(&orders, JoinKind::Left, on, None, None).unwrap();
    let sums = vec![
        Aggregate::new("sum", Function::Sum, column(4)),
        Aggregate::new("least", Function::Min, column(1)),
        Aggregate::new("different", Function::Count, column(2)).distinct(),
    ];
    let year = Expr::Extract(DatePart::Year, Box::new(column(13)));
    let kept = joined.filter(column(6).like("%a%").or(column(3))).unwrap();
    let grouped = kept.aggregate(named([column(11), year]), sums, 0, None).unwrap();
    let by = [0, 1].map(|at| SortKey { expr: column(at), descending: at == 0, nulls_first: true });
    (data, grouped.order_by(by.to_vec()).unwrap().limit(0, Some(5)).unwrap())
}

#[test]
fn three_parties_give_the_same_rows() {
    for seed in 0..2 {
        let (data, relation) = sales(&mut Dice(seed));
        let expected = check(&relation, &data).unwrap();
        let query = Query::new("sales", &relation, &["analyst"]).unwrap();
        let outputs = three(query.computation(), &data.inputs(&query));
        assert_eq!(query.rows(&outputs).unwrap(), expected);
    }
}
