//! Queries on open sessions, with rows that come as columns.

use hushwire::{
    Local, Party,
    compute::Computation,
    job::{
        Chosen, Dialect, Fault, Kind, Member, MemberConfig, Observer, Peer, Protocol, QueryJob, QueryPartOf,
        QueryTable, QueryTask, RunValues, Task, Value,
    },
    tables::{BitSlice, ColumnSlice, ColumnValues, algebra::Value as Cell},
    wire::{Identity, Listener, TransportKind},
};
use std::{collections::BTreeMap, sync::Arc, thread};

fn ok<T>(result: Result<T, Fault>) -> T {
    result.unwrap_or_else(|e| panic!("{e}"))
}

fn task(sql: &str, owners: [&str; 2], to: &str, cents: &str) -> QueryTask {
    let member = |name: &str| name.parse::<Member>().unwrap_or_else(|e| panic!("{e}"));
    let table = |name: &str, columns: &[&str], key: &[&str], owner: &str, rows| QueryTable {
        name: name.into(),
        columns: columns.iter().map(|column| (*column).to_owned()).collect(),
        key: key.iter().map(|column| (*column).to_owned()).collect(),
        parts: vec![QueryPartOf { owner: member(owner), rows }],
        padded: false,
        dialect: Dialect::default(),
    };
    let pay = ["person INTEGER NOT NULL", cents];
    let who = ["id INTEGER NOT NULL", "city VARCHAR(8)"];
    ok(QueryTask::new(&QueryJob {
        sql: sql.into(),
        to: vec![member(to)],
        min_group: 0,
        join_bound: None,
        tag_joins: false,
        now: None,
        shards: 1,
        tables: vec![table("pay", &pay, &[], owners[0], 4), table("who", &who, &["id"], owners[1], 3)],
        parameters: vec![],
        values: RunValues::default(),
    }))
}

const JOIN: &str =
    "SELECT city, SUM(cents) AS total FROM pay JOIN who ON person = id GROUP BY city ORDER BY total";
const CENTS: &str = "cents DECIMAL(9, 2)";

fn bytes(numbers: &[i64]) -> Vec<u8> {
    numbers.iter().flat_map(|n| n.to_le_bytes()).collect()
}

fn numbers(bytes: &[u8]) -> ColumnSlice<'_> {
    ColumnSlice { values: ColumnValues::Numbers { bytes, width: 8, signed: true }, valid: None }
}

/// The rows of `pay`, one of which has no value.
fn pay(task: &QueryTask, owner: &str, people: &[i64]) -> Result<BTreeMap<String, Value>, Fault> {
    let (person, cents) = (bytes(people), bytes(&[250, 100, 7, 1000]));
    let nullable = task.job().tables[0].columns[1].ends_with(')');
    let valid = nullable.then(|| BitSlice::new(&[0b1011], 0, 4)).flatten();
    let columns =
        BTreeMap::from([("person", numbers(&person)), ("cents", ColumnSlice { valid, ..numbers(&cents) })]);
    task.columns((&owner.parse().unwrap_or_else(|e: String| panic!("{e}")), "pay"), 4, &columns)
}

fn who(task: &QueryTask, owner: &str, ids: &[i64]) -> Result<BTreeMap<String, Value>, Fault> {
    let (id, city) = (bytes(ids), [&b"Oslo"[..], b"Tartu", b"Oslo"]);
    let city = ColumnSlice { values: ColumnValues::Texts(&city), valid: None };
    let columns = BTreeMap::from([("id", numbers(&id)), ("city", city)]);
    task.columns((&owner.parse().unwrap_or_else(|e: String| panic!("{e}")), "who"), 3, &columns)
}

fn wanted() -> Vec<Vec<Cell>> {
    [("Oslo", 250), ("Tartu", 1100)].map(|(city, n)| vec![Cell::text(city), Cell::Number(n)]).to_vec()
}

#[test]
fn a_session_answers_many_queries() {
    let mut three = ok(Local::three());
    let task = task(JOIN, ["client:alice", "client:bob"], "client:ann", CENTS);
    for _ in 0..2 {
        let mut inputs = ok(pay(&task, "client:alice", &[1, 2, 3, 2]));
        inputs.extend(ok(who(&task, "client:bob", &[1, 2, 3])));
        let learnt = ok(three.ask(&task, inputs));
        assert_eq!(ok(task.result(&learnt)), wanted());
    }
}

#[test]
fn columns_of_a_result_have_the_values_of_its_rows() {
    let mut three = ok(Local::three());
    let sql = "SELECT person, cents, cents IS NULL AS gone, city, cents * cents AS squared FROM pay LEFT JOIN who \
               ON person = id WHERE person <> 2 ORDER BY person";
    let task = task(sql, ["client:alice", "client:bob"], "client:ann", CENTS);
    let mut inputs = ok(pay(&task, "client:alice", &[1, 2, 3, 7]));
    inputs.extend(ok(who(&task, "client:bob", &[1, 2, 3])));
    let learnt = ok(three.ask(&task, inputs));
    let (rows, columns) = (ok(task.result(&learnt)), ok(task.result_columns(&learnt)));
    assert_eq!(rows.len(), 3);
    assert!(rows.iter().flatten().any(Cell::is_null));
    let row = |i| columns.columns.iter().map(|column| column.value(i)).collect();
    let again: Vec<Vec<Cell>> = (0..columns.rows).map(row).collect();
    assert_eq!(again, rows);
}

#[test]
fn rows_that_break_a_promise_are_named_by_place() {
    let task = task(JOIN, ["client:alice", "client:bob"], "client:ann", CENTS);
    let refused =
        |e: Result<BTreeMap<String, Value>, Fault>| e.err().map(|e| e.to_string()).unwrap_or_default();
    let e = refused(who(&task, "client:bob", &[7_654_321, 2, 7_654_321]));
    assert!(e.contains("row 2") && e.contains("the table's key") && !e.contains("7654321"), "{e}");
    let e = refused(pay(&task, "client:alice", &[1, 2, 3, 1 << 40]));
    assert!(e.contains("row 3") && e.contains("person") && !e.contains("1099511627776"), "{e}");
    let e = refused(pay(&task, "client:bob", &[1, 2, 3, 4]));
    assert!(e.contains("does not bring"), "{e}");
    let e = task.columns((&Member::Client("bob".into()), "who"), 3, &BTreeMap::new());
    assert!(refused(e).contains("no column id"));
}

/// Three parties that are connected, each on a thread.
fn met<T: Send>(
    furnish: impl Fn(&mut MemberConfig),
    work: impl Fn(u8, &mut Party) -> Result<T, Fault> + Sync,
) -> Vec<Result<T, Fault>> {
    let (mut configs, mut peers) = (vec![], vec![]);
    for index in 0..3 {
        let me = Member::Party(index);
        let identity = Identity::generate(&me.to_string()).unwrap_or_else(|e| panic!("{e}"));
        let listener = Arc::new(Listener::bind("127.0.0.1:0").unwrap_or_else(|e| panic!("{e}")));
        peers.push(Peer { member: me.clone(), address: Some(listener.address()), pin: identity.pin() });
        let config = MemberConfig::new(me, identity, Some(listener));
        configs.push(MemberConfig { transport: TransportKind::TcpTls, ..config });
    }
    for config in &mut configs {
        config.peers = peers.iter().filter(|peer| peer.member != config.me).cloned().collect();
        furnish(config);
    }
    let silent: Observer = Arc::new(|_| {});
    let chosen = ok(Chosen::new(Protocol::Rep3, None, None));
    thread::scope(|scope| {
        let running: Vec<_> = (0..)
            .zip(configs)
            .map(|(index, config)| {
                let (work, silent) = (&work, &silent);
                scope.spawn(move || work(index, &mut Party::connect_with(config, chosen, None, silent)?))
            })
            .collect();
        running.into_iter().map(|one| one.join().unwrap_or_else(|_| panic!("a party panicked"))).collect()
    })
}

fn ask(index: u8, party: &mut Party, task: &QueryTask) -> Result<Option<Vec<Vec<Cell>>>, Fault> {
    let inputs = match index {
        0 => pay(task, "party0", &[1, 2, 3, 2])?,
        1 => who(task, "party1", &[1, 2, 3])?,
        _ => BTreeMap::new(),
    };
    let learnt = party.ask(task, &inputs)?;
    if learnt.is_empty() { Ok(None) } else { task.result(&learnt).map(Some) }
}

fn of_parties(cents: &str) -> QueryTask {
    task(JOIN, ["party0", "party1"], "party2", cents)
}

#[test]
fn parties_ask_together_and_one_learns() {
    let task = of_parties(CENTS);
    let learnt = met(|_| {}, |index, party| ask(index, party, &task));
    let learnt: Vec<_> = learnt.into_iter().map(ok).collect();
    assert_eq!(learnt, [None, None, Some(wanted())]);
}

/// Types that lead to the same computation may differ: the scale of a decimal is in no share.
#[test]
fn a_party_that_declares_other_columns_is_found_out() {
    let tasks = ["cents DECIMAL(9, 2)", "cents DECIMAL(9, 3)"].map(of_parties);
    assert_eq!(tasks[0].query().computation().digest(), tasks[1].query().computation().digest());
    let ended = met(|_| {}, |index, party| ask(index, party, &tasks[usize::from(index == 1)]));
    let errors: Vec<_> = ended.into_iter().filter_map(Result::err).collect();
    assert_eq!(errors.len(), 3);
    assert!(errors.iter().any(|e| e.cause().contains("runs another computation")), "{errors:?}");
}

#[test]
fn a_party_answers_the_queries_that_it_allows() {
    let (task, other) = (of_parties(CENTS), of_parties("cents DECIMAL(9, 3)"));
    let allowed = task.terms().digest();
    let furnish = |config: &mut MemberConfig| {
        if config.me == Member::Party(1) {
            config.allow([allowed]);
        }
    };
    let ended = met(furnish, |index, party| {
        ask(index, party, &task)?;
        Ok(ask(index, party, &other).err())
    });
    let errors: Vec<_> = ended.into_iter().map(ok).collect();
    let refusal = errors[1].as_ref().unwrap_or_else(|| panic!("it is refused"));
    assert_eq!(refusal.kind(), Kind::Refused, "{refusal}");
    assert!(errors.iter().all(Option::is_some));
}

#[test]
fn a_party_runs_the_computations_that_it_allows() {
    let text = |op: &str| {
        let text = format!(
            "computation c\nmembers party0, party1\nsymbols n\ninput x: u8[n] from party0\n\
             input y: u8[n] from party1\noutput z = x {op} y to party1"
        );
        text.parse::<Computation>().unwrap_or_else(|e| panic!("{e}"))
    };
    let (sum, product) = (text("+"), text("*"));
    let allowed = ok(Party::terms_digest(ok(Chosen::new(Protocol::Rep3, None, None)), &sum));
    let furnish = |config: &mut MemberConfig| {
        if config.me == Member::Party(1) {
            config.allow([allowed]);
        }
    };
    let ended = met(furnish, |index, party| {
        let inputs = || [("x", [5u8, 1]), ("y", [2, 3])].into_iter().skip(index.into()).take(1);
        let mine = |party: &mut Party, of: &Computation| match index {
            2 => party.run(of, std::iter::empty::<(&str, u8)>()),
            _ => party.run(of, inputs()),
        };
        let learnt = mine(party, &sum)?;
        if index == 1 {
            assert_eq!([0, 1].map(|i| learnt["z"].number(i)), [Some(7), Some(4)]);
        }
        Ok(mine(party, &product).err())
    });
    let errors: Vec<_> = ended.into_iter().map(ok).collect();
    assert_eq!(errors[1].as_ref().map(Fault::kind), Some(Kind::Refused), "{errors:?}");
    assert!(errors.iter().all(Option::is_some));
}
