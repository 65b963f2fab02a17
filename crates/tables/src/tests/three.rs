//! Queries among three parties in one process.

use super::*;
use crate::functions::{self, precise::tests as precise};
use hushwire_aes::Backend;
use hushwire_compute::{Computation, Op, back_end};
use hushwire_machine::{PartyId, Tap};
use hushwire_prg::{Prg, Seed};
use hushwire_testkit::{Transport, party, run_three};
use hushwire_three::{
    Cut, Plan, run,
    test_support::{opened, shared},
};
use std::sync::{Arc, Mutex};

/// Messages, and their receivers.
type Messages = Vec<(u8, Vec<u8>)>;

/// All messages that a party sends, in order, with their receivers.
#[derive(Clone, Default)]
struct Sent(Arc<Mutex<Messages>>);

impl Tap for Sent {
    fn outgoing(&mut self, to: PartyId, _lane: u16, msg: &[u8]) -> Option<Vec<u8>> {
        self.0.lock().unwrap().push((to.0, msg.to_vec()));
        None
    }
    fn incoming(&mut self, _from: PartyId, _lane: u16, _msg: &mut [u8]) {}
}

type Outputs = BTreeMap<String, Tensor>;

type Said = [Vec<(u8, usize)>; 3];

/// The outputs of a computation that three parties run, and the lengths of each party's messages.
/// Their randomness comes from a seed, so that equal ranks are shuffled alike.
fn three(c: &Computation, inputs: &BTreeMap<String, Tensor>) -> (BTreeMap<String, Tensor>, Said) {
    let (outputs, sent) = overheard(c, inputs);
    (outputs, sent.map(|sent| sent.into_iter().map(|(to, message)| (to, message.len())).collect()))
}

/// As [`three`], with the messages themselves.
fn overheard(c: &Computation, inputs: &BTreeMap<String, Tensor>) -> (Outputs, [Messages; 3]) {
    let plan = Plan::new(c).unwrap();
    let mut prg = Prg::new(Backend::best(), &Seed::random(), "test");
    let doors = c.inputs().zip(plan.inputs());
    let shares: Vec<_> = doors.map(|((name, _), door)| shared(&mut prg, &inputs[name], *door)).collect();
    let sent: [Sent; 3] = Default::default();
    let made = run_three(Transport::Inproc, 1, None, |role, mut net| {
        let (left, right) = (Some(role.left().id()), Some(role.right().id()));
        let mut ring = net.channel(0, left, right).unwrap();
        let mut back = net.channel(0, right, left).unwrap();
        for channel in [&mut ring, &mut back] {
            channel.tap(Box::new(sent[role.index()].clone()));
        }
        let mut party = party(1, role, Backend::best());
        let inputs = shares.iter().map(|s| s[role.index()].clone()).collect();
        run(&mut party, vec![[&mut ring, &mut back]], &plan, Cut::whole(), inputs, &mut |_, _| true).unwrap()
    });
    let tensor = |(k, (output, door)): (usize, (&hushwire_compute::Output, _))| {
        let shares = [0, 1, 2].map(|p| &made[p][k]);
        (output.name.clone(), opened(shares, door, &c.node(output.value).ty))
    };
    let outputs = c.outputs().iter().zip(plan.outputs()).enumerate().map(tensor).collect();
    let sent = sent.map(|sent| sent.0.lock().unwrap().clone());
    for (p, sent) in sent.iter().enumerate() {
        // The predicted bytes were sent. A sort, which opens a random order, only has a bound.
        let bytes = sent.iter().map(|(_, message)| message.len() as u64).sum();
        let plan = plan.cost(p, Cut::whole()).unwrap();
        let fits = plan.cost.bytes_sent == bytes || (!plan.exact && plan.cost.bytes_sent > bytes);
        assert!(fits, "{plan:?}, {bytes} bytes sent");
    }
    (outputs, sent)
}

pub(super) fn sales(dice: &mut Dice) -> (Data, Relation) {
    let mut data = Data::default();
    let lines = data.table(dice, "lines", columns(), 11);
    let orders = vec![Column::new("key", ColumnType::Integer), columns()[2].clone(), columns()[5].clone()];
    let orders = data.unique_table(dice, "orders", orders, 7, vec![vec![0]]);
    let on = vec![(column(0), column(0))];
    let joined = lines.join(&orders, JoinKind::Left, on, None, None).unwrap();
    let sums = vec![
        Aggregate::new("sum", &SUM, column(4)),
        Aggregate::new("least", &MIN, column(1)),
        Aggregate::new("different", &COUNT, column(2)).distinct(),
    ];
    let year = called("year", vec![column(14)]);
    let kept = joined.filter(column(6).like("%a%").or(column(3))).unwrap();
    let grouped = kept.aggregate(named([column(12), year]), sums, 0, None).unwrap();
    let by = [0, 1].map(|at| SortKey { expr: column(at), descending: at == 0, nulls_first: true });
    (data, grouped.order_by(by.to_vec()).unwrap().limit(0, Some(5)).unwrap())
}

#[test]
fn three_parties_give_the_same_rows() {
    for seed in 0..2 {
        let (data, relation) = sales(&mut Dice(seed));
        let expected = check(&relation, &data).unwrap();
        let query = Query::new("sales", &relation, &["analyst"]).unwrap();
        let (outputs, _) = three(query.computation(), &data.inputs(&query));
        assert_eq!(query.rows(&outputs).unwrap(), expected);
    }
}

#[test]
fn three_parties_choose_the_same_values() {
    let mut data = Data::default();
    let table = data.table(&mut Dice(5), "t", columns(), 13);
    let relation = table.project(named(expressions::chosen())).unwrap();
    let mut expected = check(&relation, &data).unwrap();
    let query = Query::new("chosen", &relation, &["analyst"]).unwrap();
    let (outputs, _) = three(query.computation(), &data.inputs(&query));
    let mut rows = query.rows(&outputs).unwrap();
    rows.sort();
    expected.sort();
    assert!(!rows.is_empty() && rows == expected);
}

/// Distances on a sphere, whose sines and cosines have more bits than DOUBLEs.
#[test]
fn three_parties_measure_the_same_distances() {
    let columns = precise::schema();
    let ways = precise::ways();
    let ways = [&ways[0], &ways[4]].map(|way| functions::precise(way, &columns));
    let rows: Vec<Row> =
        precise::points()[40..52].iter().map(|point| point.map(precise::value).to_vec()).collect();
    let parts = vec![TablePart { owner: "a".into(), rows: rows.len() as u64 }];
    let table = Table { name: "t".into(), schema: columns, parts, padded: false, unique: vec![] };
    let relation = Relation::scan(table).unwrap().project(named(ways)).unwrap();
    let data = Data { parts: [("t".to_owned(), vec![rows])].into() };
    let expected = check(&relation, &data).unwrap();
    let query = Query::new("distances", &relation, &["analyst"]).unwrap();
    let (outputs, _) = three(query.computation(), &data.inputs(&query));
    let mut rows = query.rows(&outputs).unwrap();
    rows.sort();
    assert!(rows.len() == 12 && rows == expected);
}

/// Keys of several columns and of more than a block; NULLs, filters and padding on both sides.
#[test]
fn joins_by_tags_give_the_same_rows() {
    let mut joined_rows = 0;
    for seed in 0..3 {
        let (mut data, dice) = (Data::default(), &mut Dice(seed));
        let left = data.table(dice, "l", columns(), 12);
        let keys = vec![columns()[0].clone(), columns()[6].clone(), columns()[2].clone()];
        let right = data.table(dice, "r", keys, 20);
        let right = right.distinct().unwrap().filter(greater(column(0), int(-2))).unwrap();
        let left = left.filter(greater(column(1), int(-3))).unwrap();
        for on in [vec![(0, 0), (6, 1), (2, 2)], vec![(6, 1), (2, 2), (0, 0)]] {
            let on: Vec<_> = on.into_iter().map(|(a, b)| (column(a), column(b))).collect();
            for kind in [JoinKind::Inner, JoinKind::Full, JoinKind::Anti] {
                let joined = left.join(&right, kind, on.clone(), None, None).unwrap();
                let expected = check(&joined, &data).unwrap();
                let query = Query::by_tags("joined", &joined, &["analyst"]).unwrap();
                assert!(query.shows_tags() && query.explain(None).contains("by tags, which show"));
                let (outputs, _) = three(query.computation(), &data.inputs(&query));
                let mut rows = query.rows(&outputs).unwrap();
                rows.sort();
                assert_eq!(rows, expected);
                joined_rows += rows.len();
            }
        }
    }
    assert!(joined_rows > 20, "{joined_rows} rows were joined");
}

/// The keys of the rows that are matched, in the clear, and whether they belong to the second side.
fn met(c: &Computation, inputs: &BTreeMap<String, Tensor>) -> Vec<(Vec<u128>, bool)> {
    let mut values: Vec<Tensor> = vec![];
    for node in c.nodes() {
        let operands: Vec<&Tensor> = node.arguments.iter().map(|v| &values[v.0 as usize]).collect();
        match &node.op {
            Op::Meet { first } => {
                let key = |row| operands.iter().map(|key| key.get(row)).collect();
                return (0..operands[0].len()).map(|row| (key(row), row as u64 >= *first)).collect();
            }
            Op::Input(name) => values.push(inputs[name].clone()),
            Op::Constant(tensor) => values.push(tensor.clone()),
            op => {
                let lengths = node.ty.shape.lengths().unwrap();
                values.push(back_end::apply(op, &operands, node.ty.scalar, &lengths).unwrap());
            }
        }
    }
    panic!("nothing meets")
}

/// Padding, NULLs and rows that a filter leaves out look like keys that occur once.
#[test]
fn tags_tell_only_of_rows_that_are_there() {
    let side = |name: &str, rows: u64, unique: Vec<Vec<usize>>| {
        let key = Column::new("key", ColumnType::Integer);
        let columns =
            vec![if unique.is_empty() { key.nullable() } else { key }, Column::new("x", ColumnType::Integer)];
        let parts = vec![TablePart { owner: "a".into(), rows }];
        let table = Table { name: name.into(), schema: Schema(columns), parts, padded: true, unique };
        Relation::scan(table).unwrap()
    };
    let row = |key: Option<i128>, x: i128| vec![key.map_or(Value::Null, Value::Number), Value::Number(x)];
    let left = [(Some(1), 1), (Some(1), 1), (Some(2), 1), (None, 1), (None, 1), (Some(1), 0)];
    let rows =
        |all: &[(Option<i128>, i128)]| vec![all.iter().map(|(key, x)| row(*key, *x)).collect::<Vec<_>>()];
    let parts = [("l", rows(&left)), ("r", rows(&[(Some(1), 7), (Some(5), 8)]))];
    let data = Data { parts: parts.into_iter().map(|(name, parts)| (name.to_owned(), parts)).collect() };
    let kept = side("l", 8, vec![]).filter(greater(column(1), int(0))).unwrap();
    let right = side("r", 4, vec![vec![0]]);
    let joined = kept.join(&right, JoinKind::Inner, vec![(column(0), column(0))], None, None).unwrap();
    let query = Query::by_tags("q", &joined, &["analyst"]).unwrap();
    let (outputs, sent) = overheard(query.computation(), &data.inputs(&query));
    assert_eq!(query.rows(&outputs).unwrap().len(), 2);
    // A tag of sixteen bytes and a side of four for each of twelve rows: party 0 sends its share to
    // party 1, and party 1 to party 2.
    for (party, sent) in sent.iter().enumerate() {
        let to: Vec<u8> =
            sent.iter().filter(|(_, message)| message.len() == 240).map(|(to, _)| *to).collect();
        assert_eq!(to, [vec![1], vec![2], vec![]][party], "party {party}");
    }
    // Tags are equal if keys are.
    let mut counts = BTreeMap::<Vec<u128>, [u32; 2]>::new();
    for (key, second) in met(query.computation(), &data.inputs(&query)) {
        counts.entry(key).or_default()[usize::from(second)] += 1;
    }
    let mut counts: Vec<[u32; 2]> = counts.into_values().collect();
    counts.sort_unstable();
    // Key 1 is in one row on the right and two on the left. Keys 2 and 5 cannot be distinguished
    // from missing rows.
    assert_eq!(counts, [vec![[0, 1]; 6], vec![[1, 0]; 3], vec![[1, 2]]].concat());
}

fn table(name: &str, unique: Vec<Vec<usize>>, rows: u64) -> Relation {
    let columns =
        vec![Column::new("key", ColumnType::Integer), Column::new("x", ColumnType::Integer).nullable()];
    let parts = vec![TablePart { owner: "a".into(), rows }];
    Relation::scan(Table { name: name.into(), schema: Schema(columns), parts, padded: false, unique })
        .unwrap()
}

/// Every operator on two tables, with filters where no sort depends on the rows that they leave
/// out.
pub(super) fn operators() -> Vec<Relation> {
    use JoinKind::{Anti, Full, Inner, Left, Right, Semi};
    let (l, r) = (table("l", vec![], 9), table("r", vec![vec![0]], 5));
    let kept = l.filter(greater(column(1), int(0))).unwrap();
    let by = |at| SortKey { expr: column(at), descending: true, nulls_first: false };
    let on = || vec![(column(0), column(0))];
    let figures = vec![
        Aggregate::new("sum", &SUM, column(1)),
        Aggregate::new("different", &COUNT, column(1)).distinct(),
    ];
    let window = Window {
        partition: vec![column(0)],
        order: vec![by(1)],
        functions: vec![
            ("n".into(), WindowFunction::Rank),
            ("d".into(), WindowFunction::DenseRank),
            ("least".into(), WindowFunction::Extreme { of: column(1), greatest: false, frame: Frame::Peers }),
            ("before".into(), WindowFunction::Lag(column(1), 1)),
        ],
    };
    let mut all = vec![
        kept.clone(),
        kept.project(named([column(1).arithmetic(Arithmetic::Divide, column(0))])).unwrap(),
        kept.aggregate(named([column(0)]), figures.clone(), 2, None).unwrap(),
        kept.aggregate(vec![], figures, 0, None).unwrap(),
        kept.distinct().unwrap(),
        kept.limit(1, Some(3)).unwrap(),
        l.order_by(vec![by(1), by(0)]).unwrap(),
        l.window(window).unwrap(),
        kept.cross(&r).unwrap(),
        l.join(&l, Inner, on(), None, Some(40)).unwrap(),
    ];
    for kind in [Inner, Left, Right, Full, Semi, Anti] {
        all.push(kept.join(&r, kind, on(), None, None).unwrap());
        if matches!(kind, Right | Full) {
            // The unique side is the left one, or no side is unique.
            all.push(r.join(&kept, kind, on(), None, None).unwrap());
            all.push(l.join(&l, kind, on(), None, Some(40)).unwrap());
        }
    }
    for operation in [SetOperation::Union, SetOperation::Intersect, SetOperation::Except] {
        all.push(kept.set(operation, false, &r).unwrap());
        all.push(kept.set(operation, true, &r).unwrap());
    }
    all
}

/// Messages depend on public sizes, and in a sort on ranks, which are uniform. The test uses two
/// sets of data whose keys have equal ranks, and for which filters leave different rows.
#[test]
fn lengths_of_messages_tell_nothing() {
    let data = |times: i128, more: i128| {
        let x = |n: i128| if n % 4 == 3 { Value::Null } else { Value::Number(n % 3 - 1 + more) };
        let row = |n: i128| vec![Value::Number(n * times % 1000 + more), x(n)];
        let rows = |all: &[i128]| vec![all.iter().map(|n| row(*n)).collect::<Vec<_>>()];
        let parts = [("l", rows(&[5, 2, 2, 7, 0, 3, 5, 4, 1])), ("r", rows(&[1, 5, 9, 0, 6]))];
        Data { parts: parts.into_iter().map(|(name, parts)| (name.to_owned(), parts)).collect() }
    };
    let (first, second) = (data(1, 0), data(20, 2));
    let mut different = 0;
    let mut tagged = 0;
    for (relation, by_tags) in
        operators().into_iter().flat_map(|relation| [(relation.clone(), false), (relation, true)])
    {
        let plan = if by_tags { Query::by_tags } else { Query::new };
        let query = plan("q", &relation, &["analyst"]).unwrap();
        if by_tags && !query.shows_tags() {
            continue;
        }
        tagged += usize::from(by_tags);
        let [a, b] = [&first, &second].map(|data| {
            let expected = check(&relation, data).unwrap();
            let (outputs, said) = three(query.computation(), &data.inputs(&query));
            let mut rows = query.rows(&outputs).unwrap();
            let ordered = matches!(relation.operator(), Operator::OrderBy(..) | Operator::Limit { .. });
            if !ordered {
                rows.sort();
            }
            assert_eq!(rows, expected);
            (expected.len(), said)
        });
        different += usize::from(a.0 != b.0);
        assert_eq!(a.1, b.1, "{}", query.explain(None));
    }
    assert!(tagged > 5, "{tagged} joins by tags");
    assert!(different > 5, "results differ in size, and nothing tells it: {different}");
}
