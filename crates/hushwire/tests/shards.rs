//! Members on several shards, each of which reads its own rows from Parquet files. Rows, results
//! and errors are those of one machine.

use hushwire::{
    fault::code,
    files::parquet::{ParquetColumn, ParquetField, ParquetType, Writer},
    job::{
        Dialect, Event, Fault, InputPlace, Member, MemberConfig, Observer, Peer, QueryJob, QueryPartOf,
        QueryTable, QueryTask, RunValues, ShardPlace, Task, run,
    },
    wire::{Identity, Listener, TransportKind},
};
use std::{
    collections::BTreeMap,
    fs::{self, File},
    path::{Path, PathBuf},
    sync::{Arc, Mutex},
    thread,
};

fn ok<T>(result: Result<T, Fault>) -> T {
    result.unwrap_or_else(|e| panic!("{e}"))
}

fn member(name: &str) -> Member {
    name.parse().unwrap_or_else(|e| panic!("{e}"))
}

/// A table of payments, which may repeat persons and lack amounts.
type Pay = (i128, Option<i128>, &'static str);
/// A table of people, whose cities may be NULL.
type Person = (i128, Option<&'static str>);

/// Rows in files with row groups of these lengths.
fn write<R>(
    dir: &Path,
    name: &str,
    columns: &[ParquetColumn],
    rows: &[R],
    files: &[&[usize]],
    field: impl for<'r> Fn(&'r R, usize) -> ParquetField<'r>,
) -> InputPlace {
    let (mut begin, mut paths) = (0, vec![]);
    for (k, groups) in files.iter().enumerate() {
        let path = dir.join(format!("{name}{k}.parquet"));
        let file = File::create(&path).expect("a file");
        let mut writer = Writer::new(file, columns).expect("a writer");
        for rows_of_group in *groups {
            writer.group(*rows_of_group, |row, column| field(&rows[begin + row], column)).expect("written");
            begin += rows_of_group;
        }
        writer.finish().expect("written");
        paths.push(InputPlace::File(path));
    }
    assert_eq!(begin, rows.len(), "row groups have all rows");
    InputPlace::Table(paths, Dialect::default())
}

fn pay(dir: &Path, rows: &[Pay], files: &[&[usize]]) -> InputPlace {
    let columns = [
        ParquetColumn::new("person", ParquetType::Integer { bits: 32 }, true),
        ParquetColumn::new("cents", ParquetType::Decimal { precision: 9, scale: 2 }, true),
        ParquetColumn::new("what", ParquetType::Text, false),
    ];
    let number = |n: Option<i128>| n.map_or(ParquetField::Null, ParquetField::Number);
    write(dir, "pay", &columns, rows, files, |(person, cents, what), column| match column {
        // A person below 0 is NULL in the file.
        0 => number(Some(*person).filter(|person| *person >= 0)),
        1 => number(*cents),
        _ => ParquetField::Text(what.as_bytes()),
    })
}

fn people(dir: &Path, rows: &[Person], files: &[&[usize]]) -> InputPlace {
    let columns = [
        ParquetColumn::new("id", ParquetType::Integer { bits: 32 }, false),
        ParquetColumn::new("city", ParquetType::Text, true),
    ];
    write(dir, "people", &columns, rows, files, |(id, city), column| match column {
        0 => ParquetField::Number(*id),
        _ => city.map_or(ParquetField::Null, |city| ParquetField::Text(city.as_bytes())),
    })
}

/// A query over payments of alice and people of party 1. Its rows go to party 0 and to bob.
fn task(sql: &str, shards: u16, [paid, people]: [u64; 2], padded: bool) -> QueryTask {
    let table = |name: &str, columns: &[&str], key: &[&str], owner: &str, rows| QueryTable {
        name: name.into(),
        columns: columns.iter().map(|column| (*column).to_owned()).collect(),
        key: key.iter().map(|column| (*column).to_owned()).collect(),
        parts: vec![QueryPartOf { owner: member(owner), rows }],
        padded,
        dialect: Dialect::default(),
    };
    let pay = ["person INTEGER NOT NULL", "cents DECIMAL(9, 2)", "what VARCHAR(6) NOT NULL"];
    let who = ["id INTEGER NOT NULL", "city VARCHAR(8)"];
    ok(QueryTask::new(&QueryJob {
        sql: sql.into(),
        to: vec![member("party0"), member("client:bob")],
        min_group: 0,
        join_bound: None,
        tag_joins: false,
        now: None,
        shards,
        tables: vec![
            table("pay", &pay, &[], "client:alice", paid),
            table("people", &who, &["id"], "party1", people),
        ],
        parameters: vec![],
        values: RunValues::default(),
    }))
}

type Rows = Vec<Vec<Option<String>>>;

/// The result of each shard of each member, and the remarks of all.
struct Ended {
    by_shard: Vec<Vec<(Member, Result<Rows, Fault>)>>,
    notes: Vec<String>,
}

impl Ended {
    /// The rows at the first shard of each recipient. Other shards have none.
    fn rows(self) -> Rows {
        let mut learnt = vec![];
        for (shard, members) in self.by_shard.into_iter().enumerate() {
            for (me, ended) in members {
                let rows = ended.unwrap_or_else(|e| panic!("{me}, shard {shard}: {e}"));
                match (me.key().as_str(), shard) {
                    ("party0" | "client:bob", 0) => learnt.push(rows),
                    _ => assert!(rows.is_empty(), "{me}, shard {shard}"),
                }
            }
        }
        assert_eq!(learnt[0], learnt[1]);
        learnt.remove(0)
    }

    /// The error of an owner, which must be the same at all its shards. All other members end as
    /// well.
    fn error(self, owner: &str, about: &str) -> Fault {
        let mut errors = vec![];
        for (shard, members) in self.by_shard.into_iter().enumerate() {
            for (me, ended) in members {
                let e = ended.err().unwrap_or_else(|| panic!("{me}, shard {shard} ended well: {about}"));
                if me.key() == owner {
                    errors.push(e);
                } else {
                    assert!(e.to_string().contains(&me.to_string()), "{e}");
                }
            }
        }
        assert!(errors.iter().all(|e| *e == errors[0]), "{errors:?}");
        errors.remove(0)
    }
}

/// Runs all members of all shards, each on a thread; `place` gives the place of a shard's table.
fn all(task: &QueryTask, place: impl Fn(&str, usize) -> Option<InputPlace>) -> Ended {
    let (shards, notes) = (usize::from(task.shards()), Arc::new(Mutex::new(vec![])));
    let members = task.agreement().members();
    let keys: Vec<String> = members
        .iter()
        .map(|me| Identity::generate(&me.to_string()).unwrap_or_else(|e| panic!("{e}")).to_pem().to_string())
        .collect();
    let mut movers: Vec<_> = members
        .iter()
        .map(|_| if shards > 1 { ok(ShardPlace::threads(shards)) } else { vec![] }.into_iter())
        .collect();
    let mut configs = vec![];
    for shard in 0..shards {
        let mut of_shard = vec![];
        for ((me, pem), movers) in members.iter().zip(&keys).zip(&mut movers) {
            let identity = Identity::from_pem(pem).unwrap_or_else(|e| panic!("{e}"));
            let is_party = matches!(me, Member::Party(_));
            let listener = is_party.then(|| Listener::bind("127.0.0.1:0").unwrap_or_else(|e| panic!("{e}")));
            let mut config = MemberConfig::new(me.clone(), identity, listener.map(Arc::new));
            config.transport = TransportKind::TcpTls;
            config.shard = movers.next();
            let name = match me.key().as_str() {
                "client:alice" => Some("pay"),
                "party1" => Some("people"),
                _ => None,
            };
            config.inputs = name
                .and_then(|name| Some((name.to_owned(), place(name, shard)?)))
                .into_iter()
                .collect::<BTreeMap<_, _>>();
            of_shard.push(config);
        }
        let peers: Vec<Peer> = of_shard
            .iter()
            .map(|config| Peer {
                member: config.me.clone(),
                address: config.listener.as_ref().map(|listener| listener.address()),
                pin: config.identity.pin(),
            })
            .collect();
        for config in &mut of_shard {
            config.peers = peers.iter().filter(|peer| peer.member != config.me).cloned().collect();
        }
        configs.push(of_shard);
    }
    let by_shard = thread::scope(|scope| {
        let running: Vec<Vec<_>> = configs
            .into_iter()
            .map(|of_shard| {
                let start = |config: MemberConfig| {
                    let heard = notes.clone();
                    let observer: Observer = Arc::new(move |event| {
                        if let Event::Note(note) = event {
                            heard.lock().expect("no panic").push(note);
                        }
                    });
                    let me = config.me.clone();
                    (me, scope.spawn(move || run(task, config, &observer).map(|outcome| outcome.learnt.rows)))
                };
                of_shard.into_iter().map(start).collect()
            })
            .collect();
        let end = |(me, thread): (Member, thread::ScopedJoinHandle<'_, Result<Rows, Fault>>)| {
            (me, thread.join().unwrap_or_else(|_| panic!("a member panicked")))
        };
        running.into_iter().map(|of_shard| of_shard.into_iter().map(end).collect()).collect()
    });
    let notes = notes.lock().expect("no panic").clone();
    Ended { by_shard, notes }
}

const PAY: [Pay; 11] = [
    (3, Some(250), "tea"),
    (1, Some(100), "bread"),
    (2, None, "tea"),
    (3, Some(-7), "Salz"),
    (9, Some(1000), "tea"),
    (1, None, "bread"),
    (5, Some(0), ""),
    (4, Some(99_999), "wine"),
    (2, Some(12_345), "wine"),
    (4, Some(1), "tea"),
    (7, Some(700), "ham"),
];
const PEOPLE: [Person; 6] =
    [(1, Some("Oslo")), (2, Some("Tartu")), (3, None), (4, Some("Zürich")), (5, Some("Oslo")), (8, Some(""))];

/// Row groups that cross the boundaries between shards, in one file and in two.
const GROUPS: [&[&[usize]]; 3] = [&[&[11]], &[&[1, 5, 2], &[2, 1]], &[&[1, 1, 1, 1, 1, 1], &[], &[5]]];

#[test]
fn shards_read_their_rows_as_one_machine_reads_all() {
    let dir = tempfile::tempdir().expect("a directory");
    for (k, sql) in [
        "SELECT city, COUNT(*) AS n, SUM(cents) AS total FROM pay JOIN people ON person = id GROUP BY city ORDER BY city",
        // The owner computes columns and filters of each row.
        "SELECT UPPER(what) AS what, COUNT(cents) AS n, MIN(id) AS first FROM pay JOIN people ON person = id WHERE cents * 2 > 1 OR what = 'tea' GROUP BY UPPER(what) ORDER BY what",
        // The owner needs all of its rows for these values.
        "SELECT id, city, (SELECT SUM(cents) FROM pay) AS whole FROM people WHERE id > (SELECT MIN(person) FROM pay WHERE cents > 50) ORDER BY id",
    ]
    .into_iter()
    .enumerate()
    {
        let whole = task(sql, 1, [11, 6], false);
        let places = [pay(dir.path(), &PAY, GROUPS[0]), people(dir.path(), &PEOPLE, &[&[6]])];
        let of = |places: &[InputPlace; 2], name: &str| Some(places[usize::from(name == "people")].clone());
        let expected = all(&whole, |name, _| of(&places, name)).rows();
        assert!(expected.len() > 2, "{expected:?}");
        for (shards, groups) in [(2, GROUPS[1]), (3, GROUPS[2]), (4, GROUPS[(k + 1) % 3])] {
            let places = [pay(dir.path(), &PAY, groups), people(dir.path(), &PEOPLE, &[&[2, 1, 3]])];
            let ended = all(&task(sql, shards, [11, 6], false), |name, _| of(&places, name));
            assert!(ended.notes.iter().all(|note| !note.contains("shard")), "{:?}", ended.notes);
            assert_eq!(ended.rows(), expected, "{shards} shards: {sql}");
        }
    }
}

/// Tables that have fewer rows than shards, no rows, or fewer rows than were agreed on.
#[test]
fn shards_without_rows_read_nothing() {
    let dir = tempfile::tempdir().expect("a directory");
    let sql = "SELECT city, SUM(cents) AS total FROM people LEFT JOIN pay ON person = id GROUP BY city ORDER BY city";
    for (paid, known, agreed, padded) in [(0, 1, [0, 1], false), (1, 2, [1, 2], false), (2, 3, [5, 9], true)]
    {
        let places = [
            pay(dir.path(), &PAY[..paid], &[&[paid]]),
            people(dir.path(), &PEOPLE[..known], &[&[1], &vec![1; known - 1]]),
        ];
        let place = |name: &str, _| Some(places[usize::from(name == "people")].clone());
        let expected = all(&task(sql, 1, agreed, padded), place).rows();
        assert_eq!(expected.len(), known);
        for shards in [2, 4] {
            assert_eq!(all(&task(sql, shards, agreed, padded), place).rows(), expected, "{shards} shards");
        }
    }
}

/// Text on the first shard with Parquet on all shards, and Parquet that one shard lacks.
#[test]
fn tables_that_some_shards_lack_are_read_by_the_first() {
    let dir = tempfile::tempdir().expect("a directory");
    let sql =
        "SELECT city, SUM(cents) AS total FROM pay JOIN people ON person = id GROUP BY city ORDER BY city";
    let places = [pay(dir.path(), &PAY, GROUPS[1]), people(dir.path(), &PEOPLE, &[&[6]])];
    let expected =
        all(&task(sql, 1, [11, 6], false), |name, _| Some(places[usize::from(name == "people")].clone()));
    let (expected, nowhere) = (expected.rows(), InputPlace::File(PathBuf::from("nowhere/people.parquet")));
    let two = task(sql, 3, [11, 6], false);
    let ended = all(&two, |name, shard| match (name, shard) {
        ("people", 1) => Some(nowhere.clone()),
        ("people", _) => Some(places[1].clone()),
        (_, 2) => None,
        _ => Some(places[0].clone()),
    });
    for words in ["shard 1 has no file for table people", "shard 2 has no file for table pay"] {
        assert!(ended.notes.iter().any(|note| note.contains(words)), "{words}: {:?}", ended.notes);
    }
    assert_eq!(ended.rows(), expected);
    let text = InputPlace::memory("id,city\n1,Oslo\n2,Tartu\n3,\n4,Zürich\n5,Oslo\n8,\"\"\n");
    let ended = all(&two, |name, shard| match (name, shard) {
        ("people", 0) => Some(text.clone()),
        ("people", _) => Some(places[1].clone()),
        _ => Some(places[0].clone()),
    });
    assert_eq!(ended.rows(), expected);
}

/// All shards name a row that does not fit, with the words of one machine.
#[test]
fn rows_that_do_not_fit_are_named_by_all_shards() {
    let dir = tempfile::tempdir().expect("a directory");
    let sql = "SELECT what, SUM(cents) AS total, MIN(city) AS first FROM pay JOIN people ON person = id GROUP BY what ORDER BY what";
    let good = [pay(dir.path(), &PAY, GROUPS[1]), people(dir.path(), &PEOPLE, &[&[2, 1, 3]])];
    let other = tempfile::tempdir().expect("a directory");
    let mut wrong = vec![];
    let mut rows = PAY;
    rows[9].0 = -1;
    wrong.push(("client:alice", pay(other.path(), &rows, GROUPS[1]), "row 2: column person is NULL"));
    rows = PAY;
    rows[5].2 = "longest";
    let longer = other.path().join("longer");
    fs::create_dir(&longer).expect("a directory");
    wrong.push(("client:alice", pay(&longer, &rows, GROUPS[1]), "row 6: column what"));
    // Keys that occur on two shards: the error names the later row, and the first such row of
    // several.
    for (name, rows, row) in [
        ("first", [(1, None), (2, None), (3, None), (4, None), (1, Some("Oslo")), (4, None)], "row 5"),
        ("last", [(1, None), (2, None), (3, None), (4, None), (5, None), (2, Some("Oslo"))], "row 6"),
        ("next", [(1, None), (1, None), (3, None), (4, None), (5, None), (3, Some("Oslo"))], "row 2"),
    ] {
        let place = other.path().join(name);
        fs::create_dir(&place).expect("a directory");
        wrong.push(("party1", people(&place, &rows, &[&[2, 1, 3]]), row));
    }
    for (owner, place, words) in wrong {
        let of = |name: &str, _| {
            let is_wrong = (name == "pay") == (owner == "client:alice");
            Some(if is_wrong { place.clone() } else { good[usize::from(name == "people")].clone() })
        };
        let one = all(&task(sql, 1, [11, 6], false), of).error(owner, words);
        assert!(one.to_string().contains(words), "{one}");
        for shards in [2, 3, 4] {
            let e = all(&task(sql, shards, [11, 6], false), of).error(owner, words);
            let shown = e.to_string();
            assert_eq!((e.code(), e.cause(), e.remedy()), (one.code(), one.cause(), one.remedy()), "{shown}");
            let step = one.step();
            assert!(e.step().starts_with(&step), "{shown}, and on one machine {step}");
        }
    }
    // The number of rows differs from the agreed one.
    for rows in [5, 7] {
        let place = |name: &str, _: usize| Some(good[usize::from(name == "people")].clone());
        let one = all(&task(sql, 1, [11, rows], false), place).error("party1", "other rows");
        let mut ends = all(&task(sql, 3, [11, rows], false), place).by_shard.remove(0).into_iter();
        let (_, two) = ends.find(|(me, _)| me.key() == "party1").expect("it takes part");
        assert_eq!(two.expect_err("other rows"), one);
    }
}

/// A file that differs on one host is detected by its footer before a row is read.
#[test]
fn files_that_differ_between_shards_are_refused() {
    let (dir, other) = (tempfile::tempdir().expect("a directory"), tempfile::tempdir().expect("a directory"));
    let sql =
        "SELECT city, SUM(cents) AS total FROM pay JOIN people ON person = id GROUP BY city ORDER BY city";
    let paid = pay(dir.path(), &PAY, GROUPS[1]);
    let here = people(dir.path(), &PEOPLE, &[&[2, 1, 3]]);
    let mut changed = PEOPLE;
    changed[0].1 = Some("Bergen");
    let there = people(other.path(), &changed, &[&[2, 1, 3]]);
    let place = |name: &str, shard| match (name, shard) {
        ("pay", _) => Some(paid.clone()),
        (_, 2) => Some(there.clone()),
        _ => Some(here.clone()),
    };
    let e = all(&task(sql, 3, [11, 6], false), place).error("party1", "other files");
    assert_eq!(e.code(), code::ROWS, "{e}");
    assert!(e.to_string().contains("shard 2") && e.to_string().contains("table people"), "{e}");
    // The error names a broken file on one shard, and the shard.
    let InputPlace::Table(places, _) = &there else { panic!("a table") };
    let broken = places[0].path().expect("a file");
    let bytes = fs::read(broken).expect("read");
    fs::write(broken, &bytes[..bytes.len() - 3]).expect("written");
    let e = all(&task(sql, 3, [11, 6], false), place).error("party1", "a broken file").to_string();
    assert!(e.contains("no good Parquet") && e.contains("on shard 2"), "{e}");
}
